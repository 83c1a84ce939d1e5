//! The terms of a control law at one moment, for display.

use roadwright_agent::{ParameterInfo, ParameterSet};
use std::collections::BTreeMap;

/// A term of a controller's law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// Name of the term.
    pub name: &'static str,
    /// Value; infinite if there is nothing to keep clear of.
    pub value: f64,
    /// Unit of the value.
    pub unit: &'static str,
    /// Whether the term determines the command.
    pub decides: bool,
}

impl Term {
    /// Creates a term that does not determine the command.
    pub(crate) fn new(name: &'static str, value: f64, unit: &'static str) -> Self {
        Self {
            name,
            value,
            unit,
            decides: false,
        }
    }

    /// Returns the term with `decides` set.
    pub(crate) fn deciding(self, decides: bool) -> Self {
        Self { decides, ..self }
    }
}

/// Creates the parameter set of a module from the given values; all other parameters have their defaults.
/// Unknown keys are ignored.
pub(crate) fn parameters(
    infos: &'static [ParameterInfo],
    values: &BTreeMap<String, f64>,
) -> ParameterSet {
    let mut set = ParameterSet::new(infos);
    for (key, value) in values {
        // Unknown keys and values out of range were reported when the scenario was read.
        let _ = set.set(key, *value);
    }
    set
}
