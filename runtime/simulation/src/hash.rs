//! Hashes over state, for comparing runs.

use serde::Serialize;
use std::hash::Hasher;

/// A hasher that takes values of any kind, field by field, as they are written to a save.
pub(crate) struct StateHasher(twox_hash::XxHash3_64);

impl StateHasher {
    pub(crate) fn new() -> Self {
        Self(twox_hash::XxHash3_64::with_seed(0))
    }

    /// Adds all fields of a value.
    pub(crate) fn add(&mut self, value: &impl Serialize) {
        // What is hashed has known lengths and, where it has maps, ordered ones: it can always be written, and
        // the same way.
        let bytes = postcard::to_allocvec(value).expect("plain state can be written");
        // With its length: ("ab", "c") and ("a", "bc") are different.
        self.0.write_usize(bytes.len());
        self.0.write(&bytes);
    }

    pub(crate) fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// A hash of values by what they look like in full: of what is compared, and never written.
pub(crate) fn of_words(values: impl Iterator<Item = impl std::fmt::Debug>) -> u64 {
    let mut hasher = StateHasher::new();
    for value in values {
        hasher.add(&format!("{value:?}"));
    }
    hasher.finish()
}

/// The hash of one value.
#[cfg(test)]
pub(crate) fn of(value: &impl Serialize) -> u64 {
    let mut hasher = StateHasher::new();
    hasher.add(value);
    hasher.finish()
}
