//! Hashes of the simulation state, for comparing runs.

use serde::Serialize;
use std::hash::Hasher;

/// A hasher for values of any type. It hashes field by field, in the order in which fields are saved.
pub(crate) struct StateHasher(twox_hash::XxHash3_64);

impl StateHasher {
    pub(crate) fn new() -> Self {
        Self(twox_hash::XxHash3_64::with_seed(0))
    }

    /// Adds all fields of a value.
    pub(crate) fn add(&mut self, value: &impl Serialize) {
        // Hashed values have known lengths and sorted maps, so that they can always be serialised,
        // in exactly one form.
        let bytes = postcard::to_allocvec(value).expect("the state can be serialized");
        // The length is included, so that ("ab", "c") and ("a", "bc") differ.
        self.0.write_usize(bytes.len());
        self.0.write(&bytes);
    }

    pub(crate) fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// Hash of the debug output of values, for data that is compared but never saved.
pub(crate) fn of_words(values: impl Iterator<Item = impl std::fmt::Debug>) -> u64 {
    let mut hasher = StateHasher::new();
    for value in values {
        hasher.add(&format!("{value:?}"));
    }
    hasher.finish()
}

/// Hash of one value.
#[cfg(test)]
pub(crate) fn of(value: &impl Serialize) -> u64 {
    let mut hasher = StateHasher::new();
    hasher.add(value);
    hasher.finish()
}
