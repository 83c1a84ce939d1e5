//! Parameters of a plugin. A single function lists them with their fields, and is used to describe, read and
//! set them.

use roadwright_plugin_api::abi::{
    PARAM_BOOL, PARAM_CHOICE, PARAM_INTEGER, PARAM_NUMBER, RwParamInfo, text,
};
use std::ops::RangeInclusive;

/// Purpose of a pass through the list.
enum Task {
    Describe(Vec<RwParamInfo>),
    Set { index: usize, value: f64 },
}

/// The list of a plugin's parameters.
pub struct Parameters<'a> {
    task: &'a mut Task,
    /// Number of parameters listed so far.
    count: usize,
}

/// The parameter that was listed last. Details can be added to it.
pub struct Parameter<'a>(Option<&'a mut RwParamInfo>);

impl Parameters<'_> {
    /// Adds a number with a range. Its default is the value of the field in the plugin's `Default`.
    pub fn number(
        &mut self,
        key: &str,
        field: &mut f64,
        range: RangeInclusive<f64>,
    ) -> Parameter<'_> {
        self.add(key, PARAM_NUMBER, *range.start(), *range.end(), *field)
            .unwrap_or_else(|value| *field = value)
            .listed(self)
    }

    /// Adds an integer with a range.
    pub fn integer(
        &mut self,
        key: &str,
        field: &mut i64,
        range: RangeInclusive<i64>,
    ) -> Parameter<'_> {
        let (min, max) = (*range.start() as f64, *range.end() as f64);
        self.add(key, PARAM_INTEGER, min, max, *field as f64)
            .unwrap_or_else(|value| *field = value.round() as i64)
            .listed(self)
    }

    /// Adds a switch.
    pub fn switch(&mut self, key: &str, field: &mut bool) -> Parameter<'_> {
        self.add(key, PARAM_BOOL, 0.0, 1.0, f64::from(u8::from(*field)))
            .unwrap_or_else(|value| *field = value > 0.5)
            .listed(self)
    }

    /// Adds a choice between words. The field contains the index of the word.
    pub fn choice(&mut self, key: &str, field: &mut usize, words: &[&str]) -> Parameter<'_> {
        let max = words.len().saturating_sub(1) as f64;
        let added = self.add(key, PARAM_CHOICE, 0.0, max, *field as f64);
        let mut parameter = added
            .unwrap_or_else(|value| *field = value.round() as usize)
            .listed(self);
        if let Some(info) = &mut parameter.0 {
            info.choices = text(&words.join("|"));
        }
        parameter
    }

    /// Describes a parameter, or returns the value that it is set to.
    fn add(&mut self, key: &str, kind: u32, min: f64, max: f64, value: f64) -> Added {
        // The position in the list is the index, for describing and for setting, because the same list is
        // used for both.
        let index = self.count;
        self.count += 1;
        match self.task {
            Task::Describe(infos) => {
                infos.push(RwParamInfo {
                    key: text(key),
                    label: text(&key.replace('_', " ")),
                    group: [0; 48],
                    unit: [0; 16],
                    kind,
                    flags: 0,
                    min,
                    max,
                    default: value,
                    step: 0.0,
                    doc: [0; 160],
                    choices: [0; 256],
                });
                Added::Described
            }
            Task::Set { index: at, value } if *at == index => Added::Value(value.clamp(min, max)),
            Task::Set { .. } => Added::Other,
        }
    }
}

/// Result of listing a parameter.
enum Added {
    Described,
    Value(f64),
    Other,
}

impl Added {
    fn unwrap_or_else(self, set: impl FnOnce(f64)) -> Self {
        if let Self::Value(value) = self {
            set(value);
        }
        self
    }

    fn listed<'a>(self, list: &'a mut Parameters<'_>) -> Parameter<'a> {
        Parameter(match (self, &mut *list.task) {
            (Self::Described, Task::Describe(infos)) => infos.last_mut(),
            _ => None,
        })
    }
}

impl Parameter<'_> {
    /// Sets the unit, such as `m/s`.
    pub fn unit(mut self, unit: &str) -> Self {
        if let Some(info) = &mut self.0 {
            info.unit = text(unit);
        }
        self
    }

    /// Sets the description, in one sentence.
    pub fn doc(mut self, doc: &str) -> Self {
        if let Some(info) = &mut self.0 {
            info.doc = text(doc);
        }
        self
    }

    /// Sets the group, with `/` between the levels of a tree.
    pub fn group(mut self, group: &str) -> Self {
        if let Some(info) = &mut self.0 {
            info.group = text(group);
        }
        self
    }
}

/// Describes the parameters of a plugin. Their current values become the defaults.
pub(crate) fn describe(list: impl FnOnce(&mut Parameters<'_>)) -> Vec<RwParamInfo> {
    let mut task = Task::Describe(Vec::new());
    list(&mut Parameters {
        task: &mut task,
        count: 0,
    });
    match task {
        Task::Describe(infos) => infos,
        Task::Set { .. } => Vec::new(),
    }
}

/// Sets the parameter at an index. Returns its new value, clamped to the range and rounded if it is an
/// integer; `None` if there is no such parameter.
pub(crate) fn set(
    index: usize,
    value: f64,
    mut list: impl FnMut(&mut Parameters<'_>),
) -> Option<f64> {
    let mut task = Task::Set { index, value };
    list(&mut Parameters {
        task: &mut task,
        count: 0,
    });
    describe(list).get(index).map(|info| info.default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_plugin_api::abi::text_of;

    #[derive(Default)]
    struct Fields {
        gain: f64,
        count: i64,
        on: bool,
        rule: usize,
    }

    impl Fields {
        fn list(&mut self, list: &mut Parameters<'_>) {
            list.number("gain", &mut self.gain, 0.0..=2.0).unit("1/s");
            list.integer("count", &mut self.count, 1..=9)
                .doc("How many.");
            list.switch("on", &mut self.on);
            list.choice("rule", &mut self.rule, &["max", "sum"]);
        }
    }

    #[test]
    fn one_list_describes_and_sets() {
        let mut fields = Fields {
            gain: 0.5,
            ..Fields::default()
        };
        let infos = describe(|list| fields.list(list));
        let keys: Vec<_> = infos.iter().map(|info| text_of(&info.key)).collect();
        assert_eq!(keys, ["gain", "count", "on", "rule"]);
        assert_eq!((infos[0].default, infos[0].max), (0.5, 2.0));
        assert_eq!(text_of(&infos[0].unit), "1/s");
        assert_eq!(text_of(&infos[1].doc), "How many.");
        assert_eq!(text_of(&infos[3].choices), "max|sum");
        for (index, value, kept) in [(0, 7.0, 2.0), (1, 3.4, 3.0), (2, 1.0, 1.0), (3, 1.0, 1.0)] {
            assert_eq!(set(index, value, |list| fields.list(list)), Some(kept));
        }
        // Values are clamped to their range and rounded.
        let Fields {
            gain,
            count,
            on,
            rule,
        } = fields;
        assert_eq!((gain, count, on, rule), (2.0, 3, true, 1));
        assert_eq!(set(4, 0.0, |list| Fields::default().list(list)), None);
    }
}
