//! Parameter values of a module in files: numbers, or tables of numbers as lists of rows.
//!
//! In memory, each cell of a table is a separate value with the key `key[row][column]`, because
//! training and scripts need single numbers.

use crate::UniqueMap;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Maximum number of cells of a table.
// The same limit applies to plugins. It bounds the memory that a file from an untrusted source can
// use.
const MOST_CELLS: usize = 4096;

/// Number of rows and columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableShape {
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
}

impl TableShape {
    /// Number of cells.
    pub fn cells(self) -> usize {
        self.rows as usize * self.columns as usize
    }
}

impl fmt::Display for TableShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = if self.rows == 1 { "row" } else { "rows" };
        write!(f, "{} {rows} of {}", self.rows, self.columns)
    }
}

/// Returns the key of a cell, `key[row][column]`. Rows and columns start at 0.
pub fn cell_key(table: &str, row: u32, column: u32) -> String {
    format!("{table}[{row}][{column}]")
}

/// Splits the key of a cell into the key of the table, the row and the column. Returns `None` for
/// the key of a single number.
pub fn parse_cell_key(key: &str) -> Option<(&str, u32, u32)> {
    let (rest, column) = key.strip_suffix(']')?.rsplit_once('[')?;
    let (table, row) = rest.strip_suffix(']')?.rsplit_once('[')?;
    let number = |text: &str| {
        // Other spellings, such as `+1` or `01`, would be additional keys for the same cell.
        let number: u32 = text.parse().ok()?;
        (number.to_string() == text).then_some(number)
    };
    Some((table, number(row)?, number(column)?))
}

/// A value in a file.
enum Given {
    Number(f64),
    Table(Vec<Vec<f64>>),
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyGiven)
    }
}

struct AnyGiven;

impl<'de> Visitor<'de> for AnyGiven {
    type Value = Given;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a table as a list of rows of numbers")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Given, E> {
        Ok(Given::Number(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Given, E> {
        Ok(Given::Number(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Given, E> {
        Ok(Given::Number(value as f64))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Given, A::Error> {
        let mut table: Vec<Vec<f64>> = Vec::new();
        let mut cells = 0;
        while let Some(row) = rows.next_element::<Vec<f64>>()? {
            cells += row.len();
            if cells > MOST_CELLS {
                return Err(A::Error::custom(format!(
                    "a table can have at most {MOST_CELLS} numbers"
                )));
            }
            table.push(row);
        }
        Ok(Given::Table(table))
    }
}

/// Checks that all rows have the same number of cells, and at least one.
fn check_rows(key: &str, rows: &[Vec<f64>]) -> Result<(), String> {
    let columns = rows.first().map_or(0, Vec::len);
    if columns == 0 {
        return Err(format!(
            "{key}: a table needs at least one row of at least one number"
        ));
    }
    match rows.iter().position(|row| row.len() != columns) {
        Some(row) => Err(format!(
            "{key}: row {} has {} numbers, but the first row has {columns}; give all rows the same length",
            row + 1,
            rows[row].len()
        )),
        None => Ok(()),
    }
}

/// Reads parameter values. A table becomes one value per cell.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<UniqueMap<String, f64>, D::Error> {
    let given: UniqueMap<String, Given> = Deserialize::deserialize(deserializer)?;
    let mut values = BTreeMap::new();
    let mut put = |key: String, value: f64| match values.insert(key.clone(), value) {
        Some(_) => Err(D::Error::custom(format!("{key} is given twice"))),
        None => Ok(()),
    };
    for (key, given) in given {
        match given {
            Given::Number(value) => put(key, value)?,
            Given::Table(rows) => {
                check_rows(&key, &rows).map_err(D::Error::custom)?;
                for (row, cells) in rows.iter().enumerate() {
                    for (column, &value) in cells.iter().enumerate() {
                        put(cell_key(&key, row as u32, column as u32), value)?;
                    }
                }
            }
        }
    }
    Ok(values.into_iter().collect())
}

/// Writes parameter values. The cells of a complete table become a list of rows.
pub(crate) fn serialize<S: Serializer>(
    values: &UniqueMap<String, f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let tables = whole_tables(values);
    let mut map = serializer.serialize_map(None)?;
    let mut written = BTreeSet::new();
    for (key, value) in values {
        let cell = parse_cell_key(key);
        let table = cell.and_then(|(table, ..)| tables.get_key_value(table));
        match table {
            Some((table, rows)) => {
                if written.insert(*table) {
                    map.serialize_entry(table, rows)?;
                }
            }
            None => map.serialize_entry(key, value)?,
        }
    }
    map.end()
}

/// A row that is written as a list.
#[derive(Default, Serialize)]
#[serde(transparent)]
struct Row(Vec<f64>);

/// Returns the tables whose cells are all given.
fn whole_tables(values: &UniqueMap<String, f64>) -> BTreeMap<&str, Vec<Row>> {
    let mut shapes: BTreeMap<&str, (TableShape, usize)> = BTreeMap::new();
    for key in values.keys() {
        if let Some((table, row, column)) = parse_cell_key(key) {
            let none = TableShape {
                rows: 0,
                columns: 0,
            };
            let (shape, count) = shapes.entry(table).or_insert((none, 0));
            shape.rows = shape.rows.max(row.saturating_add(1));
            shape.columns = shape.columns.max(column.saturating_add(1));
            *count += 1;
        }
    }
    shapes.retain(|_, (shape, count)| shape.cells() == *count);
    let whole = shapes.into_iter().map(|(table, (shape, _))| {
        let row = |row: u32| {
            let cells = (0..shape.columns).map(|column| values[&cell_key(table, row, column)]);
            Row(cells.collect())
        };
        (table, (0..shape.rows).map(row).collect())
    });
    whole.collect()
}

/// Returns the JSON Schema of parameter values: numbers and tables of numbers.
pub(crate) fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {
            "anyOf": [
                {"type": "number", "format": "double"},
                {
                    "description": "A table: rows of equal length.",
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "array",
                        "minItems": 1,
                        "items": {"type": "number", "format": "double"}
                    }
                }
            ]
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModuleSetting;

    fn read(parameters: &str) -> Result<ModuleSetting, String> {
        let text = format!("{{\"module\":\"net\",\"parameters\":{parameters}}}");
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_comes_back_as_a_list_of_rows() {
        let text = r#"{"gain":2.0,"w":[[0.5,-1.0],[3.0,0.0],[1e-9,7.0]],"x":1.0}"#;
        let setting = read(text).unwrap();
        assert_eq!(setting.parameters.len(), 8);
        assert_eq!(setting.parameters["w[2][1]"], 7.0);
        let written = serde_json::to_string(&setting).unwrap();
        assert_eq!(
            written,
            format!("{{\"module\":\"net\",\"parameters\":{text}}}")
        );
        // With more than ten rows and columns, the keys are not sorted in the order of the cells.
        let row = |first: u32| (first..first + 12).map(f64::from).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = (0..11).map(|n| row(12 * n)).collect();
        let text = format!("{{\"w\":{}}}", serde_json::to_string(&rows).unwrap());
        let setting = read(&text).unwrap();
        let written = serde_json::to_value(&setting).unwrap();
        assert_eq!(written["parameters"]["w"], serde_json::json!(rows));
    }

    #[test]
    fn some_cells_of_a_table_stay_numbers() {
        let text = r#"{"w[0][1]":2.0,"w[1][1]":3.0}"#;
        let written = serde_json::to_string(&read(text).unwrap()).unwrap();
        assert!(written.contains(text), "{written}");
    }

    #[test]
    fn a_table_that_is_none_says_why() {
        for (text, expected) in [
            (
                r#"{"w":[[1,2],[3]]}"#,
                "w: row 2 has 1 numbers, but the first row has 2",
            ),
            (r#"{"w":[]}"#, "w: a table needs at least one row"),
            (r#"{"w":[[]]}"#, "w: a table needs at least one row"),
            (
                r#"{"w":"x"}"#,
                "expected a number, or a table as a list of rows of numbers",
            ),
            (r#"{"w":[1,2]}"#, "expected a sequence"),
            (r#"{"w":1,"w":2}"#, "w is given twice"),
            (r#"{"w":[[1]],"w[0][0]":2}"#, "w[0][0] is given twice"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let long = format!("{{\"w\":[{}]}}", vec!["[0]"; MOST_CELLS + 1].join(","));
        assert!(read(&long).unwrap_err().contains("at most 4096 numbers"));
    }

    #[test]
    fn keys_of_cells_have_one_spelling() {
        assert_eq!(parse_cell_key(&cell_key("w", 3, 12)), Some(("w", 3, 12)));
        for key in [
            "w", "w[1]", "w[1][]", "w[+1][2]", "w[01][2]", "w[1][2] ", "[1",
        ] {
            assert_eq!(parse_cell_key(key), None, "{key}");
        }
    }
}
