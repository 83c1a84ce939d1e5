//! Self-describing parameters: a single list defines the sliders, validation, documentation and genes.
//!
//! A table of numbers, such as the weights of a neural network, is stored as consecutive parameters in that
//! list, one per cell, row by row. The key of a cell is `key[row][column]`; see
//! [`roadwright_scenario::cell_key`].

use roadwright_scenario::{TableShape, parse_cell_key};
use std::collections::BTreeMap;
use thiserror::Error;

/// Type of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Any number in the range.
    Number,
    /// An integer in the range.
    Integer,
    /// One of a fixed set of words. The value is the index of the word.
    Choice(&'static [&'static str]),
}

/// A table of numbers among the parameters of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterTable {
    /// Stable key of the table.
    pub key: &'static str,
    /// Number of rows, at least one.
    pub rows: u32,
    /// Number of columns, at least one.
    pub columns: u32,
    /// Names of the rows; empty if they have none.
    pub row_names: &'static [&'static str],
    /// Names of the columns; empty if they have none.
    pub column_names: &'static [&'static str],
}

impl ParameterTable {
    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.rows as usize * self.columns as usize
    }

    /// Shape of the table.
    pub fn shape(&self) -> TableShape {
        TableShape {
            rows: self.rows,
            columns: self.columns,
        }
    }
}

/// Position of a parameter in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableCell {
    /// The table.
    pub table: &'static ParameterTable,
    /// Row, from 0.
    pub row: u32,
    /// Column, from 0.
    pub column: u32,
}

impl TableCell {
    /// Whether this is the first cell of its table.
    pub fn is_first(&self) -> bool {
        (self.row, self.column) == (0, 0)
    }
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
    /// Smallest permitted value.
    pub min: f64,
    /// Largest permitted value.
    pub max: f64,
    /// Default value.
    pub default: f64,
    /// Description of the parameter, in one sentence.
    pub doc: &'static str,
    /// Position in the table, if the parameter is a cell of one. The cells of a table are
    /// consecutive, row by row.
    pub cell: Option<TableCell>,
}

impl ParameterInfo {
    /// Returns the number of consecutive parameters that belong together, starting with this one:
    /// for the first cell of a table, all cells of the table, otherwise 1.
    pub fn span(&self) -> usize {
        match self.cell {
            Some(cell) if cell.is_first() => cell.table.cells(),
            _ => 1,
        }
    }

    /// Describes a number with a range.
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
            cell: None,
        }
    }

    /// Describes a choice between words. The first word is the default.
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
            cell: None,
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
        /// Smallest permitted value.
        min: f64,
        /// Largest permitted value.
        max: f64,
        /// Unit of the values.
        unit: &'static str,
    },
    /// The shape of a table is wrong, or only some of its cells are given.
    #[error("{key} has {found}, but the module's table has {expected}; specify all rows")]
    Shape {
        /// Key of the table.
        key: String,
        /// Description of the given values.
        found: String,
        /// Shape of the module's table.
        expected: TableShape,
    },
}

/// Lists the keys of parameters, separated by commas. A table is listed once.
fn known_keys(infos: &[ParameterInfo]) -> String {
    let keys = infos.iter().filter_map(|info| match info.cell {
        None => Some(info.key.to_owned()),
        Some(cell) if cell.is_first() => {
            Some(format!("{} ({})", cell.table.key, cell.table.shape()))
        }
        Some(_) => None,
    });
    let keys: Vec<String> = keys.collect();
    if keys.is_empty() {
        "none".into()
    } else {
        keys.join(", ")
    }
}

/// Cells of a table for which a setting contains values.
#[derive(Default)]
struct Given {
    rows: u32,
    columns: u32,
    count: usize,
}

/// Sets a parameter in a setting of a module. Default values are omitted, which keeps files short
/// and makes them follow later changes of the default. A table is written as a whole, or omitted if
/// all its cells have their defaults. `infos` contains all parameters of the module.
pub fn write_value(
    values: &mut BTreeMap<String, f64>,
    infos: &[ParameterInfo],
    info: &ParameterInfo,
    value: f64,
) {
    let Some(cell) = info.cell else {
        if value == info.default {
            values.remove(info.key);
        } else {
            values.insert(info.key.to_owned(), value);
        }
        return;
    };
    let is_own = |other: &&ParameterInfo| other.cell.is_some_and(|own| own.table == cell.table);
    for other in infos.iter().filter(is_own) {
        values.entry(other.key.to_owned()).or_insert(other.default);
    }
    values.insert(info.key.to_owned(), value);
    let mut own = infos.iter().filter(is_own);
    if own.all(|other| values.get(other.key) == Some(&other.default)) {
        for other in infos.iter().filter(is_own) {
            values.remove(other.key);
        }
    }
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

    /// Returns all values, in the order of [`Self::infos`].
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the value of a parameter, given its index in [`Self::infos`].
    pub fn at(&self, index: usize) -> f64 {
        self.values[index]
    }

    /// Returns the value of one of the module's own parameters. O(parameters), so modules call it
    /// once per batch.
    ///
    /// # Panics
    /// If the module has no such parameter. Such an error shows up in the module's first step.
    pub fn value(&self, key: &'static str) -> f64 {
        self.get(key)
            .expect("the key is one of the module's parameters")
    }

    /// Returns the value of a parameter; `None` if the module has no such parameter.
    pub fn get(&self, key: &str) -> Option<f64> {
        Some(self.values[self.index_of(key)?])
    }

    /// Returns the index of a parameter in [`Self::infos`]; `None` if the module has no such parameter.
    fn index_of(&self, key: &str) -> Option<usize> {
        let Some((table, row, column)) = parse_cell_key(key) else {
            return self.infos.iter().position(|info| info.key == key);
        };
        // The position of a cell is computed, because a table may have thousands of cells.
        let (first, table) = self.table(table)?;
        let is_there = row < table.rows && column < table.columns;
        is_there.then_some(first + row as usize * table.columns as usize + column as usize)
    }

    /// Sets several parameters. A table can only be set as a whole.
    ///
    /// # Errors
    /// If there is no such parameter, a value is out of range, or a table has another shape. In that case,
    /// some of the parameters may already have been set.
    pub fn set_all<'a>(
        &mut self,
        values: impl IntoIterator<Item = (&'a str, f64)>,
    ) -> Result<(), ParameterError> {
        let mut given: BTreeMap<&'static str, (TableShape, Given)> = BTreeMap::new();
        let mut later = Vec::new();
        for (key, value) in values {
            let cell = parse_cell_key(key);
            let table = cell.and_then(|(key, ..)| self.table(key));
            match (cell, table) {
                (Some((_, row, column)), Some((_, table))) => {
                    let (_, given) = given
                        .entry(table.key)
                        .or_insert((table.shape(), Given::default()));
                    given.rows = given.rows.max(row.saturating_add(1));
                    given.columns = given.columns.max(column.saturating_add(1));
                    given.count += 1;
                    later.push((key, value));
                }
                _ => self.set(key, value)?,
            }
        }
        for (key, (expected, given)) in given {
            let shape = TableShape {
                rows: given.rows,
                columns: given.columns,
            };
            if shape == expected && given.count == expected.cells() {
                continue;
            }
            let found = if given.count == shape.cells() {
                shape.to_string()
            } else {
                format!("{} of {} cells", given.count, expected.cells())
            };
            return Err(ParameterError::Shape {
                key: key.to_owned(),
                found,
                expected,
            });
        }
        // Set only after the shapes are known to match, so that the error is about the shape rather
        // than a cell.
        later
            .into_iter()
            .try_for_each(|(key, value)| self.set(key, value))
    }

    /// Returns the table with the given key, and the index of its first cell; `None` if there is no
    /// such table.
    fn table(&self, key: &str) -> Option<(usize, &'static ParameterTable)> {
        let mut index = 0;
        while let Some(info) = self.infos.get(index) {
            match info.cell {
                Some(cell) if cell.table.key == key => return Some((index, cell.table)),
                _ => index += info.span(),
            }
        }
        None
    }

    /// Sets a parameter. Integers and choices are rounded.
    ///
    /// # Errors
    /// If there is no such parameter or the value is out of range; in that case, the value is unchanged.
    pub fn set(&mut self, key: &str, value: f64) -> Result<(), ParameterError> {
        let Some(index) = self.index_of(key) else {
            return Err(ParameterError::Unknown {
                key: key.into(),
                known: known_keys(self.infos),
            });
        };
        let info = &self.infos[index];
        // Written so that NaN also counts as out of range.
        if !(info.min..=info.max).contains(&value) {
            return Err(ParameterError::Range {
                key: info.key,
                value,
                min: info.min,
                max: info.max,
                unit: info.unit,
            });
        }
        // Sliders and genes are continuous, so integers are rounded here, in a single place.
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

    /// Returns parameters with a table of two rows and three columns between two numbers.
    fn with_table() -> &'static [ParameterInfo] {
        let table: &'static ParameterTable = Box::leak(Box::new(ParameterTable {
            key: "weights",
            rows: 2,
            columns: 3,
            row_names: &[],
            column_names: &[],
        }));
        let mut infos = vec![INFOS[0]];
        for (row, column) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
            let key = roadwright_scenario::cell_key(table.key, row, column);
            let doc = "Weight.";
            let number = ParameterInfo::number(key.leak(), "", (-1.0, 1.0), 0.5, doc);
            let cell = Some(TableCell { table, row, column });
            infos.push(ParameterInfo { cell, ..number });
        }
        infos.push(INFOS[1]);
        infos.leak()
    }

    #[test]
    fn a_table_is_set_as_a_whole() {
        let mut set = ParameterSet::new(with_table());
        let cells = |rows: u32, columns: u32| {
            let cells = (0..rows).flat_map(move |row| (0..columns).map(move |c| (row, c)));
            let cells = cells.map(|(row, c)| roadwright_scenario::cell_key("weights", row, c));
            cells.collect::<Vec<String>>()
        };
        let mut all = |keys: &[String], value: f64| {
            let others = [("rule", 1.0), ("gain", 3.0)];
            let cells = keys.iter().map(|key| (key.as_str(), value));
            set.set_all(cells.chain(others))
                .map_err(|error| error.to_string())
        };
        assert_eq!(all(&cells(2, 3), 0.25), Ok(()));
        let error = all(&cells(2, 4), 0.0).unwrap_err();
        assert_eq!(
            error,
            "weights has 2 rows of 4, but the module's table has 2 rows of 3; specify all rows"
        );
        let error = all(&cells(1, 3), 0.0).unwrap_err();
        assert!(error.contains("weights has 1 row of 3, but"), "{error}");
        let error = all(&["weights[1][2]".into()], 0.0).unwrap_err();
        assert!(error.contains("weights has 1 of 6 cells, but"), "{error}");
        let error = all(&cells(2, 3), 2.0).unwrap_err();
        assert_eq!(
            error,
            "weights[0][0] = 2 is out of range: expected -1 to 1 "
        );
        // The failed attempts did not change the table.
        assert_eq!(set.get("weights[1][2]"), Some(0.25));
        assert_eq!(
            (set.at(6), set.at(7), set.get("rule")),
            (0.25, 1.0, Some(1.0))
        );
        assert_eq!(set.get("weights[2][0]"), None);
        // If one cell differs from its default, the file contains the whole table. If the cell is
        // reset to its default, the file contains no table.
        let mut values = BTreeMap::new();
        write_value(&mut values, set.infos(), &set.infos()[2], 0.75);
        assert_eq!((values.len(), values["weights[0][1]"]), (6, 0.75));
        write_value(&mut values, set.infos(), &set.infos()[2], 0.5);
        assert!(values.is_empty());
        let error = set.set("weights", 1.0).unwrap_err().to_string();
        assert!(
            error.ends_with("the module has: gain, weights (2 rows of 3), rule"),
            "{error}"
        );
    }
}
