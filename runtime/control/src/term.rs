//! What a law is made of at one moment, for people.

use roadwright_agent::{ParameterInfo, ParameterSet};
use std::collections::BTreeMap;

/// A part of what a controller computes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// What it is.
    pub name: &'static str,
    /// How much of it there is; infinite where there is nothing to keep from.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Whether it is what the command follows from.
    pub decides: bool,
}

impl Term {
    /// A term that does not decide by itself.
    pub(crate) fn new(name: &'static str, value: f64, unit: &'static str) -> Self {
        Self {
            name,
            value,
            unit,
            decides: false,
        }
    }

    /// The same, where it decides.
    pub(crate) fn deciding(self, decides: bool) -> Self {
        Self { decides, ..self }
    }
}

/// The parameters of a module with some of them set. Unknown keys are left aside.
pub(crate) fn parameters(
    infos: &'static [ParameterInfo],
    values: &BTreeMap<String, f64>,
) -> ParameterSet {
    let mut set = ParameterSet::new(infos);
    for (key, value) in values {
        // What a module does not know or allow was told when the scenario was read.
        let _ = set.set(key, *value);
    }
    set
}
