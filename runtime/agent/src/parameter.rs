//! Self-describing parameters: one list serves sliders, validation, documentation and genes.

use thiserror::Error;

/// Type of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Any number in the range.
    Number,
    /// An integer in the range.
    Integer,
    /// One of a list of words; the value is its index.
    Choice(&'static [&'static str]),
}

/// One parameter of a module.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterInfo {
    /// Stable key.
    pub key: &'static str,
    /// Unit, such as `m/s`; empty for a dimensionless number.
    pub unit: &'static str,
    /// Type of the parameter's value.
    pub kind: ParameterKind,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Default value.
    pub default: f64,
    /// Description of the parameter, in one sentence.
    pub doc: &'static str,
}

impl ParameterInfo {
    /// A number with a range.
    pub const fn number(
        key: &'static str,
        unit: &'static str,
        (min, max): (f64, f64),
        default: f64,
        doc: &'static str,
    ) -> Self {
        Self {
            key,
            unit,
            kind: ParameterKind::Number,
            min,
            max,
            default,
            doc,
        }
    }

    /// A choice between words; the first is the default.
    pub const fn choice(
        key: &'static str,
        words: &'static [&'static str],
        doc: &'static str,
    ) -> Self {
        Self {
            key,
            unit: "",
            kind: ParameterKind::Choice(words),
            min: 0.0,
            max: words.len() as f64 - 1.0,
            default: 0.0,
            doc,
        }
    }
}

/// Reason why a parameter cannot be set.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ParameterError {
    /// The module has no such parameter.
    #[error("unknown parameter \"{key}\"; the module has: {known}")]
    Unknown {
        /// The requested key.
        key: String,
        /// The known keys, separated by commas.
        known: String,
    },
    /// The value is outside the range.
    #[error("{key} = {value} is out of range: expected {min} to {max} {unit}")]
    Range {
        /// The key.
        key: &'static str,
        /// The requested value.
        value: f64,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Unit.
        unit: &'static str,
    },
}

/// The values of a module's parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterSet {
    infos: &'static [ParameterInfo],
    values: Vec<f64>,
}

impl ParameterSet {
    /// Creates a set with all parameters at their defaults.
    pub fn new(infos: &'static [ParameterInfo]) -> Self {
        Self {
            infos,
            values: infos.iter().map(|info| info.default).collect(),
        }
    }

    /// Descriptions of the parameters.
    pub fn infos(&self) -> &'static [ParameterInfo] {
        self.infos
    }

    /// Returns the value of a parameter by its index in the list.
    pub fn at(&self, index: usize) -> f64 {
        self.values[index]
    }

    /// Returns the value of one of the module's own parameters. O(parameters), so modules call it once per
    /// batch.
    ///
    /// # Panics
    /// If the module has no such parameter. The first step of the module reveals this.
    pub fn value(&self, key: &'static str) -> f64 {
        self.get(key).expect("a module knows its own parameters")
    }

    /// Returns the value of a parameter; `None` if the module has no such parameter.
    pub fn get(&self, key: &str) -> Option<f64> {
        let index = self.infos.iter().position(|info| info.key == key)?;
        Some(self.values[index])
    }

    /// Sets a parameter. Integers and choices are rounded.
    ///
    /// # Errors
    /// If there is no such parameter or the value is out of range; in that case, the value is unchanged.
    pub fn set(&mut self, key: &str, value: f64) -> Result<(), ParameterError> {
        let Some(index) = self.infos.iter().position(|info| info.key == key) else {
            let keys: Vec<_> = self.infos.iter().map(|info| info.key).collect();
            return Err(ParameterError::Unknown {
                key: key.into(),
                known: if keys.is_empty() {
                    "none".into()
                } else {
                    keys.join(", ")
                },
            });
        };
        let info = &self.infos[index];
        // Written so that NaN is out of range too.
        if !(info.min..=info.max).contains(&value) {
            return Err(ParameterError::Range {
                key: info.key,
                value,
                min: info.min,
                max: info.max,
                unit: info.unit,
            });
        }
        // Sliders and genes are continuous, so integers are rounded here, in one place.
        self.values[index] = match info.kind {
            ParameterKind::Number => value,
            ParameterKind::Integer | ParameterKind::Choice(_) => value.round(),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static INFOS: [ParameterInfo; 2] = [
        ParameterInfo::number("gain", "1/s", (0.0, 10.0), 2.0, "Strength of the pull."),
        ParameterInfo::choice("rule", &["max", "sum"], "Rule of addition."),
    ];

    #[test]
    fn values_stay_in_range_and_unknown_keys_name_the_known_ones() {
        let mut set = ParameterSet::new(&INFOS);
        assert_eq!(set.get("gain"), Some(2.0));
        set.set("gain", 3.5).unwrap();
        assert_eq!(set.at(0), 3.5);
        let error = set.set("gain", f64::NAN).unwrap_err().to_string();
        assert_eq!(error, "gain = NaN is out of range: expected 0 to 10 1/s");
        let error = set.set("gian", 1.0).unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown parameter \"gian\"; the module has: gain, rule"
        );
        set.set("rule", 0.9).unwrap();
        assert_eq!(set.get("rule"), Some(1.0));
    }
}
