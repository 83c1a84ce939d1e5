//! Parameters of a plugin. A single function of the plugin lists them and binds each to a field. It
//! is called to describe, read and set the parameters.

use roadwright_plugin_api::abi::{
    PARAM_BOOL, PARAM_CHOICE, PARAM_INTEGER, PARAM_NUMBER, PARAM_TABLE, RwParamInfo, RwParameter,
    TEXT_CHOICE, TEXT_COLUMN, TEXT_DOC, TEXT_ROW, text,
};
use std::ops::RangeInclusive;

/// Description of a parameter.
pub(crate) struct Description {
    key: String,
    unit: String,
    doc: String,
    group: String,
    /// Kind of the parameter, `PARAM_*`.
    kind: u32,
    min: f64,
    max: f64,
    words: Vec<String>,
    shape: Shape,
    row_names: Vec<String>,
    column_names: Vec<String>,
    /// Values of the fields: one for each cell of a table, otherwise one.
    pub(crate) values: Vec<f64>,
}

/// Number of rows and columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of rows, at least one.
    pub rows: usize,
    /// Number of columns, at least one.
    pub columns: usize,
}

impl Description {
    /// Whether the parameter is a table. Only hosts of version 1.2 or later support tables.
    pub(crate) fn is_table(&self) -> bool {
        self.kind == PARAM_TABLE
    }

    /// Returns the parameter's description in the layout of interface version 1.0.
    pub(crate) fn old(&self) -> RwParamInfo {
        RwParamInfo {
            key: text(&self.key),
            label: text(&self.key.replace('_', " ")),
            group: text(&self.group),
            unit: text(&self.unit),
            kind: self.kind,
            flags: 0,
            min: self.min,
            max: self.max,
            default: self.values.first().copied().unwrap_or_default(),
            step: 0.0,
            doc: text(&self.doc),
            choices: text(&self.words.join("|")),
        }
    }

    /// Fills in the parameter's description in the layout of interface version 1.2.
    pub(crate) fn fill(&self, out: &mut RwParameter) {
        *out = RwParameter {
            size: out.size,
            kind: self.kind,
            flags: 0,
            choices: self.words.len() as u32,
            rows: self.shape.rows as u32,
            columns: self.shape.columns as u32,
            min: self.min,
            max: self.max,
            key: text(&self.key),
            unit: text(&self.unit),
        };
    }

    /// Returns the string that `what` (`TEXT_*`) and `item` select; empty if it does not exist.
    pub(crate) fn text(&self, what: u32, item: usize) -> &str {
        let names = match what {
            TEXT_DOC => return &self.doc,
            TEXT_CHOICE => &self.words,
            TEXT_ROW => &self.row_names,
            TEXT_COLUMN => &self.column_names,
            _ => return "",
        };
        names.get(item).map_or("", String::as_str)
    }
}

/// Purpose of a pass through the list.
enum Task {
    Describe(Vec<Description>),
    Set { index: usize, values: Vec<f64> },
}

/// The list of a plugin's parameters.
pub struct Parameters<'a> {
    task: &'a mut Task,
    /// Number of parameters listed so far.
    count: usize,
}

/// The parameter that was listed last. Details can be added to it.
pub struct Parameter<'a>(Option<&'a mut Description>);

impl Parameters<'_> {
    /// Adds a number with a range. Its default is the value of the field in the plugin's `Default`.
    pub fn number(
        &mut self,
        key: &str,
        field: &mut f64,
        range: RangeInclusive<f64>,
    ) -> Parameter<'_> {
        if let Some(value) = self.new_value(&range) {
            *field = value;
        }
        self.listed(key, PARAM_NUMBER, range, &[*field])
    }

    /// Adds an integer with a range.
    pub fn integer(
        &mut self,
        key: &str,
        field: &mut i64,
        range: RangeInclusive<i64>,
    ) -> Parameter<'_> {
        let range = *range.start() as f64..=*range.end() as f64;
        if let Some(value) = self.new_value(&range) {
            *field = value.round() as i64;
        }
        self.listed(key, PARAM_INTEGER, range, &[*field as f64])
    }

    /// Adds a parameter that can be switched on or off.
    pub fn switch(&mut self, key: &str, field: &mut bool) -> Parameter<'_> {
        let range = 0.0..=1.0;
        if let Some(value) = self.new_value(&range) {
            *field = value > 0.5;
        }
        self.listed(key, PARAM_BOOL, range, &[f64::from(u8::from(*field))])
    }

    /// Adds a choice between words. The field contains the index of the word.
    pub fn choice(&mut self, key: &str, field: &mut usize, words: &[&str]) -> Parameter<'_> {
        let range = 0.0..=words.len().saturating_sub(1) as f64;
        if let Some(value) = self.new_value(&range) {
            *field = value.round() as usize;
        }
        let mut parameter = self.listed(key, PARAM_CHOICE, range, &[*field as f64]);
        if let Some(description) = &mut parameter.0 {
            description.words = owned(words);
        }
        parameter
    }

    /// Adds a table of numbers with a range, such as the weights of a neural network. `cells`
    /// contains all numbers of the table, row by row. A host shows the table as a grid, and trains
    /// each number. Hosts of 1.0 and 1.1 do not support tables, so the cells keep their defaults
    /// with these hosts.
    ///
    /// # Panics
    /// If the number of cells does not fit the shape. In that case, the instance is not created.
    pub fn table(
        &mut self,
        key: &str,
        cells: &mut [f64],
        shape: Shape,
        range: RangeInclusive<f64>,
    ) -> Parameter<'_> {
        assert!(
            cells.len() == shape.rows * shape.columns,
            "{key} has {} cells, which do not form {} rows of {}",
            cells.len(),
            shape.rows,
            shape.columns
        );
        if let Some(values) = self.new_values() {
            for (cell, value) in cells.iter_mut().zip(values) {
                *cell = value.clamp(*range.start(), *range.end());
            }
        }
        let mut parameter = self.listed(key, PARAM_TABLE, range, cells);
        if let Some(description) = &mut parameter.0 {
            description.shape = shape;
        }
        parameter
    }

    /// Returns the new values of the next parameter; `None` if this pass does not set it.
    fn new_values(&self) -> Option<&[f64]> {
        match &*self.task {
            Task::Set { index, values } if *index == self.count => Some(values),
            _ => None,
        }
    }

    /// Returns the new value of the next parameter, clamped to the range; `None` if this pass does not set
    /// it.
    fn new_value(&self, range: &RangeInclusive<f64>) -> Option<f64> {
        let value = self.new_values()?.first()?;
        Some(value.clamp(*range.start(), *range.end()))
    }

    /// Counts a parameter, and describes it if that is the purpose of this pass.
    fn listed(
        &mut self,
        key: &str,
        kind: u32,
        range: RangeInclusive<f64>,
        values: &[f64],
    ) -> Parameter<'_> {
        // The position in the list is the index, for describing and for setting, because the same list is
        // used for both.
        self.count += 1;
        let Task::Describe(descriptions) = &mut *self.task else {
            return Parameter(None);
        };
        descriptions.push(Description {
            key: key.into(),
            unit: String::new(),
            doc: String::new(),
            group: String::new(),
            kind,
            min: *range.start(),
            max: *range.end(),
            words: Vec::new(),
            shape: Shape {
                rows: 1,
                columns: 1,
            },
            row_names: Vec::new(),
            column_names: Vec::new(),
            values: values.to_vec(),
        });
        Parameter(descriptions.last_mut())
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

impl Parameter<'_> {
    /// Sets the unit, such as `m/s`.
    pub fn unit(mut self, unit: &str) -> Self {
        if let Some(description) = &mut self.0 {
            description.unit = unit.into();
        }
        self
    }

    /// Sets the description, in one sentence.
    pub fn doc(mut self, doc: &str) -> Self {
        if let Some(description) = &mut self.0 {
            description.doc = doc.into();
        }
        self
    }

    /// Sets the group, with `/` between the levels of a tree.
    pub fn group(mut self, group: &str) -> Self {
        if let Some(description) = &mut self.0 {
            description.group = group.into();
        }
        self
    }

    /// Names the rows of a table.
    pub fn rows(mut self, names: &[&str]) -> Self {
        if let Some(description) = &mut self.0 {
            description.row_names = owned(names);
        }
        self
    }

    /// Names the columns of a table.
    pub fn columns(mut self, names: &[&str]) -> Self {
        if let Some(description) = &mut self.0 {
            description.column_names = owned(names);
        }
        self
    }
}

/// Describes the parameters of a plugin. Their current values become the defaults.
pub(crate) fn describe(list: impl FnOnce(&mut Parameters<'_>)) -> Vec<Description> {
    let mut task = Task::Describe(Vec::new());
    run(&mut task, list);
    match task {
        Task::Describe(descriptions) => descriptions,
        Task::Set { .. } => Vec::new(),
    }
}

fn run(task: &mut Task, list: impl FnOnce(&mut Parameters<'_>)) {
    list(&mut Parameters { task, count: 0 });
}

/// Sets the parameter at an index. Returns its new values, clamped to the range and rounded if it is an integer;
/// `None` if there is no such parameter or the number of values does not fit.
pub(crate) fn set(
    index: usize,
    values: &[f64],
    mut list: impl FnMut(&mut Parameters<'_>),
) -> Option<Vec<f64>> {
    let length = describe(&mut list).get(index)?.values.len();
    if length != values.len() {
        return None;
    }
    let values = values.to_vec();
    run(&mut Task::Set { index, values }, &mut list);
    let mut descriptions = describe(list);
    Some(std::mem::take(&mut descriptions.get_mut(index)?.values))
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
        weights: [f64; 6],
    }

    impl Fields {
        fn list(&mut self, list: &mut Parameters<'_>) {
            list.number("gain", &mut self.gain, 0.0..=2.0).unit("1/s");
            list.integer("count", &mut self.count, 1..=9)
                .doc("How many.");
            list.switch("on", &mut self.on);
            list.choice("rule", &mut self.rule, &["max", "sum"]);
            let shape = Shape {
                rows: 2,
                columns: 3,
            };
            list.table("weights", &mut self.weights, shape, -1.0..=1.0)
                .rows(&["low", "high"]);
        }
    }

    #[test]
    fn one_list_describes_and_sets() {
        let mut fields = Fields {
            gain: 0.5,
            ..Fields::default()
        };
        let infos = describe(|list| fields.list(list));
        let old: Vec<RwParamInfo> = infos.iter().map(Description::old).collect();
        let keys: Vec<_> = old.iter().map(|info| text_of(&info.key)).collect();
        assert_eq!(keys, ["gain", "count", "on", "rule", "weights"]);
        assert_eq!((old[0].default, old[0].max), (0.5, 2.0));
        assert_eq!(text_of(&old[0].unit), "1/s");
        assert_eq!(text_of(&old[1].doc), "How many.");
        assert_eq!(text_of(&old[3].choices), "max|sum");
        for (index, value, kept) in [(0, 7.0, 2.0), (1, 3.4, 3.0), (2, 1.0, 1.0), (3, 1.0, 1.0)] {
            let kept = Some(vec![kept]);
            assert_eq!(set(index, &[value], |list| fields.list(list)), kept);
        }
        // Values are clamped to their range and rounded.
        let Fields {
            gain,
            count,
            on,
            rule,
            ..
        } = fields;
        assert_eq!((gain, count, on, rule), (2.0, 3, true, 1));
        assert_eq!(set(5, &[0.0], |list| Fields::default().list(list)), None);
    }

    #[test]
    fn a_table_is_set_as_a_whole() {
        let mut fields = Fields::default();
        let infos = describe(|list| fields.list(list));
        let table = &infos[4];
        assert!(table.is_table() && infos[..4].iter().all(|info| !info.is_table()));
        assert_eq!(table.values, [0.0; 6]);
        assert_eq!(
            (table.text(TEXT_ROW, 1), table.text(TEXT_ROW, 2)),
            ("high", "")
        );
        assert_eq!(table.text(TEXT_COLUMN, 0), "");
        let values = [0.5, -3.0, 0.25, 0.0, 1.0, 2.0];
        let kept = vec![0.5, -1.0, 0.25, 0.0, 1.0, 1.0];
        assert_eq!(
            set(4, &values, |list| fields.list(list)),
            Some(kept.clone())
        );
        assert_eq!(fields.weights[..], kept);
        // Too few values change nothing.
        assert_eq!(set(4, &values[..5], |list| fields.list(list)), None);
        assert_eq!(fields.weights[..], kept);
    }
}
