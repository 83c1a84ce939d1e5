//! Maps and problems of the Moving AI benchmarks ([Sturtevant 2012]).
//!
//! The files are untrusted text, so every fault is reported as an error with its line.

use super::cell::Cell;
use super::grid::{GridError, GridMap};
use super::search::CellPath;
use thiserror::Error;

/// Maximum number of columns or rows in a file.
const MOST_COLUMNS: u32 = 65_536;

/// Reason why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MovingAiError {
    /// A line of the header is missing or wrong.
    #[error("line {line}: expected `{expected}`, found `{found}`")]
    Head {
        /// Line, from 1.
        line: usize,
        /// Expected text.
        expected: &'static str,
        /// Text that was found.
        found: String,
    },
    /// A row does not have the number of cells that the header states.
    #[error("line {line}: expected {expected} cells, found {found}")]
    Row {
        /// Line, from 1.
        line: usize,
        /// Expected number of cells.
        expected: u32,
        /// Number of cells found.
        found: usize,
    },
    /// A character does not represent any kind of cell.
    #[error("line {line}: `{found}` is not a cell type; expected one of . G S @ O T W")]
    Kind {
        /// Line, from 1.
        line: usize,
        /// Character that was found.
        found: char,
    },
    /// There are fewer rows than the header states.
    #[error("the map ends after {found} of {expected} rows")]
    Rows {
        /// Number of rows that the header states.
        expected: u32,
        /// Number of rows found.
        found: u32,
    },
    /// A problem cannot be read.
    #[error(
        "line {line}: {what}; expected bucket, map, width, height, start x, start y, goal x, goal y and length"
    )]
    Problem {
        /// Line, from 1.
        line: usize,
        /// Description of the fault.
        what: &'static str,
    },
    /// The map cannot be created.
    #[error(transparent)]
    Grid(#[from] GridError),
}

/// A problem in a `.scen` file. Rows are counted from the north, as in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Name of the map, as in the file.
    pub map: String,
    /// Number of columns of the map.
    pub columns: u32,
    /// Number of rows of the map.
    pub rows: u32,
    /// Start of the path.
    pub start: Cell,
    /// Goal of the path.
    pub goal: Cell,
    /// Length of the shortest path, in cell widths.
    pub length: f64,
}

impl Problem {
    /// Whether a path has the optimal length that the file states. A difference of one unit in the sixth
    /// digit is tolerated, because files have no more digits.
    pub fn is_optimal(&self, path: &CellPath) -> bool {
        let mut unit = 1e-6;
        while unit * 1e6 <= self.length.abs() {
            unit *= 10.0;
        }
        // Up to rounding, `unit` is 10^-5 times the power of ten at or below the length.
        (path.length() - self.length).abs() <= unit * 1.000_001
    }
}

/// Reads a `.map` file. Row 0 is the first row of the file, and the map's origin is (0, 0).
///
/// # Errors
/// If the file is not valid. The error contains the line.
pub fn read_map(bytes: &[u8]) -> Result<GridMap, MovingAiError> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines().enumerate();
    let mut head = |expected: &'static str| {
        let (at, found) = lines.next().unwrap_or((0, ""));
        let found = found.trim_end();
        let value = found.strip_prefix(expected.split(' ').next().unwrap_or(expected));
        value.map(str::trim).ok_or_else(|| MovingAiError::Head {
            line: at + 1,
            expected,
            found: shortened(found),
        })
    };
    let wrong = |line, expected, found: &str| MovingAiError::Head {
        line,
        expected,
        found: shortened(found),
    };
    head("type octile")?;
    let rows = head("height ROWS")?;
    let rows = number(rows).ok_or_else(|| wrong(2, "height ROWS", rows))?;
    let columns = head("width COLUMNS")?;
    let columns = number(columns).ok_or_else(|| wrong(3, "width COLUMNS", columns))?;
    head("map")?;
    // The header may state more cells than the file has, so it does not determine the allocated memory.
    if u64::from(columns) * u64::from(rows) > bytes.len() as u64 {
        return Err(MovingAiError::Rows {
            expected: rows,
            found: lines.count() as u32,
        });
    }
    let mut map = GridMap::new(Cell::default(), columns, rows)?;
    for row in 0..rows {
        let Some((at, line)) = lines.next() else {
            return Err(MovingAiError::Rows {
                expected: rows,
                found: row,
            });
        };
        let found = line.chars().count();
        if found != columns as usize {
            return Err(MovingAiError::Row {
                line: at + 1,
                expected: columns,
                found,
            });
        }
        for (column, kind) in line.chars().enumerate() {
            match kind {
                '.' | 'G' | 'S' => {}
                // Water can be reached only from water.
                '@' | 'O' | 'T' | 'W' => {
                    map.set(Cell::new(column as i32, row as i32), 0);
                }
                found => {
                    return Err(MovingAiError::Kind {
                        line: at + 1,
                        found,
                    });
                }
            }
        }
    }
    Ok(map)
}

/// Reads a `.scen` file.
///
/// # Errors
/// If the file is not valid. The error contains the line.
pub fn read_problems(bytes: &[u8]) -> Result<Vec<Problem>, MovingAiError> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines().enumerate();
    let first = lines.next().map_or("", |(_, line)| line.trim_end());
    if !matches!(
        first.strip_prefix("version").map(str::trim),
        Some("1" | "1.0")
    ) {
        return Err(MovingAiError::Head {
            line: 1,
            expected: "version 1",
            found: shortened(first),
        });
    }
    let full = lines.filter(|(_, line)| !line.trim().is_empty());
    full.map(|(at, line)| {
        read_problem(line).map_err(|what| MovingAiError::Problem { line: at + 1, what })
    })
    .collect()
}

fn read_problem(line: &str) -> Result<Problem, &'static str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_bucket, map, columns, rows, numbers @ .., length] = &words[..] else {
        return Err("too few words");
    };
    let [start_x, start_y, goal_x, goal_y] = numbers else {
        return Err("expected nine words");
    };
    let coordinate = |word: &str| {
        let value = word.parse().ok();
        value.filter(|value| (0..MOST_COLUMNS as i32).contains(value))
    };
    let cell = |x: &str, y: &str| Some(Cell::new(coordinate(x)?, coordinate(y)?));
    let length: f64 = length.parse().map_err(|_| "the length is not a number")?;
    if !(0.0..=1e12).contains(&length) {
        return Err("the length is out of range");
    }
    Ok(Problem {
        map: (*map).to_owned(),
        columns: number(columns).ok_or("the width must be 1 to 65,536")?,
        rows: number(rows).ok_or("the height must be 1 to 65,536")?,
        start: cell(start_x, start_y).ok_or("the start is not a valid cell")?,
        goal: cell(goal_x, goal_y).ok_or("the goal is not a valid cell")?,
        length,
    })
}

fn number(word: &str) -> Option<u32> {
    let value = word.parse().ok();
    value.filter(|value| (1..=MOST_COLUMNS).contains(value))
}

/// Returns the beginning of a line, shortened for a message.
fn shortened(line: &str) -> String {
    const MOST: usize = 40;
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAP: &str = "type octile\nheight 2\nwidth 3\nmap\n.@G\nSTW\n";

    #[test]
    fn kinds_of_cells_are_free_or_blocked() {
        let map = read_map(MAP.as_bytes()).unwrap();
        let factors: Vec<u32> = map.cells().map(|cell| map.factor_at(cell)).collect();
        assert_eq!(factors, [16, 0, 16, 16, 0, 0]);
        assert!(read_map(MAP.replace('\n', "\r\n").as_bytes()).is_ok());
    }

    #[test]
    fn what_is_wrong_is_said_in_words() {
        let message = |text: &str| read_map(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            message("type tile"),
            "line 2: expected `height ROWS`, found ``".replace("line 2", "line 1")
        );
        assert_eq!(
            message(&MAP.replace("STW", "ST")),
            "line 6: expected 3 cells, found 2"
        );
        assert_eq!(
            message(&MAP.replace("STW", "STx")),
            "line 6: `x` is not a cell type; expected one of . G S @ O T W"
        );
        assert_eq!(
            message("type octile\nheight 9\nwidth 3\nmap\n...\n"),
            "the map ends after 1 of 9 rows"
        );
        let error = read_problems(b"version 1\n0 a.map 3 2 0 0 2\n").unwrap_err();
        assert!(error.to_string().starts_with("line 2: "), "{error}");
    }

    #[test]
    fn lengths_are_held_to_their_sixth_digit() {
        let path = CellPath {
            cells: vec![Cell::new(0, 0), Cell::new(1, 1), Cell::new(2, 1)],
            cost: 0,
        };
        let mut problem = read_problems(b"version 1\n0\ta\t3\t2\t0\t0\t2\t1\t2.41421\n").unwrap();
        assert!(problem[0].is_optimal(&path));
        problem[0].length = 2.4143;
        assert!(!problem[0].is_optimal(&path));
        let long = CellPath {
            cells: (0..=1000).map(|x| Cell::new(x, 0)).collect(),
            cost: 0,
        };
        for (length, is_optimal) in [(1000.01, true), (1000.02, false), (999.999, true)] {
            problem[0].length = length;
            assert_eq!(problem[0].is_optimal(&long), is_optimal, "{length}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_readers_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read_map(&bytes);
            let _ = read_problems(&bytes);
        }

        #[test]
        fn damaged_files_are_read_or_refused(
            at in 0..60usize, byte in any::<u8>(), cut in 0..60usize,
        ) {
            for text in [MAP, "version 1\n0\ta.map\t3\t2\t0\t0\t2\t1\t2.41421\n"] {
                let mut bytes = text.as_bytes().to_vec();
                let at = at % bytes.len();
                bytes[at] = byte;
                let _ = (read_map(&bytes), read_problems(&bytes));
                bytes.truncate(cut);
                let _ = (read_map(&bytes), read_problems(&bytes));
            }
        }
    }
}
