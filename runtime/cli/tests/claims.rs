//! Checks that the commands named before tables of measurements in the documentation still give the same
//! figures. [contributing.md](../../../docs/contributing.md) explains how a table is marked.

use crate::common::root;
use crate::measurements::{missing, words};
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant};

/// The checked pages and their names.
const PAGES: [(&str, &str); 2] = [
    (
        "docs/measurements.md",
        include_str!("../../../docs/measurements.md"),
    ),
    (
        "docs/benchmarks.md",
        include_str!("../../../docs/benchmarks.md"),
    ),
];

/// A table, with the comment before it.
struct Table<'a> {
    /// First line, counted from 1.
    line: usize,
    mark: Option<&'a str>,
    /// Cells as written, header first.
    rows: Vec<Vec<&'a str>>,
}

/// The comment before a table.
enum Mark<'a> {
    /// The table is produced by commands, and its figures are compared.
    Compared(Vec<Claims<'a>>),
    /// The table is produced by commands that take a long time or need data that are not available
    /// here.
    Named(Vec<&'a str>),
    /// The table contains no measurement of this version, for the given reason.
    Exempt(&'a str),
}

/// A command, with the figures that it produces.
struct Claims<'a> {
    command: &'a str,
    figures: Vec<Figure<'a>>,
}

/// A figure of a table, with its position in the output of the command.
struct Figure<'a> {
    /// Text of the claim as written.
    words: &'a str,
    /// Whether all digits have to match. Otherwise the figure has to be within a factor of [`TIMING`].
    is_exact: bool,
    claimed: Claimed<'a>,
    source: &'a str,
    /// Factor by which the number in the output is multiplied.
    factor: f64,
}

/// The text of a number in a cell.
#[derive(Clone, Copy)]
struct Claimed<'a>(&'a str);

/// Largest permitted deviation of a timing, as a factor in either direction.
const TIMING: f64 = 2.0;

fn tables(page: &str) -> Vec<Table<'_>> {
    let lines: Vec<&str> = page.lines().collect();
    let is_row = |line: &&str| line.starts_with('|');
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if !is_row(&lines[at]) {
            at += 1;
            continue;
        }
        let rows: Vec<&str> = lines[at..].iter().copied().take_while(is_row).collect();
        let head = &page[..offset(page, lines[at])];
        found.push(Table {
            line: at + 1,
            mark: comment_at_end(head),
            rows: rows
                .iter()
                .filter(|row| !row.starts_with("| ---"))
                .map(|row| cells(row))
                .collect(),
        });
        at += rows.len();
    }
    found
}

/// Returns the byte offset of a part of a string.
fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

fn cells(row: &str) -> Vec<&str> {
    let row = row.trim().trim_start_matches('|');
    let row = row.strip_suffix('|').unwrap_or(row);
    row.split('|').map(str::trim).collect()
}

/// Returns the comment at the end of a text. A comment of a single word is ignored, because it only marks a
/// place.
fn comment_at_end(text: &str) -> Option<&str> {
    let text = text.trim_end().strip_suffix("-->")?;
    let begin = text.rfind("<!--")?;
    let comment = text[begin + 4..].trim();
    if comment.contains(char::is_whitespace) {
        Some(comment)
    } else {
        comment_at_end(&text[..begin])
    }
}

impl<'a> Table<'a> {
    fn mark(&self) -> Result<Mark<'a>, String> {
        let mark = self.mark.ok_or("no comment says where it comes from")?;
        if let Some(reason) = mark.strip_prefix("not measured here:") {
            return Ok(Mark::Exempt(reason.trim()));
        }
        let lines = mark.strip_prefix("measured\n");
        let lines = lines.ok_or("its comment is neither `measured` nor `not measured here:`")?;
        let mut all: Vec<Claims> = Vec::new();
        let mut why = None;
        for line in lines.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                all.push(Claims {
                    command,
                    figures: Vec::new(),
                });
            } else if let Some(reason) = line.strip_prefix("by hand:") {
                why = Some(reason.trim());
            } else {
                let claims = all.last_mut().ok_or("its comment names no command first")?;
                claims.figures.push(self.figure(line)?);
            }
        }
        if all.is_empty() {
            return Err("its comment names no command".into());
        }
        let compares = all.iter().any(|claims| !claims.figures.is_empty());
        match (compares, why) {
            (true, _) => Ok(Mark::Compared(all)),
            (false, Some(why)) if !why.is_empty() => Ok(Mark::Named(
                all.iter().map(|claims| claims.command).collect(),
            )),
            _ => Err("it compares no figure, and does not say `by hand:` and why".into()),
        }
    }

    /// Parses `exact ROW | COLUMN | NUMBER = SOURCE * FACTOR`, where number and factor default to 1. For a
    /// timing, the first word is `about`.
    fn figure(&self, line: &'a str) -> Result<Figure<'a>, String> {
        let at = |what: &str| format!("`{line}`: {what}");
        let (is_exact, rest) = match (line.strip_prefix("exact "), line.strip_prefix("about ")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => return Err(at("expected `exact` or `about`")),
        };
        let (place, source) = rest.split_once(" = ").ok_or_else(|| at("expected ` = `"))?;
        let (source, factor) = match source.split_once(" * ") {
            Some((source, factor)) => (source, factor.parse().map_err(|_| at("no factor"))?),
            None => (source, 1.0),
        };
        let place: Vec<&str> = place.split(" | ").collect();
        let number = match place.get(2) {
            Some(number) => number.parse().map_err(|_| at("no number"))?,
            None => 1,
        };
        let [row, column] = [0, 1].map(|i| place.get(i).copied().unwrap_or_default());
        let claimed = self
            .claimed(row, column, number)
            .map_err(|what| at(&what))?;
        Ok(Figure {
            words: line,
            is_exact,
            claimed,
            source,
            factor,
        })
    }

    /// Returns the n-th number in the cell whose row and column headings begin with the given texts.
    fn claimed(&self, row: &str, column: &str, n: usize) -> Result<Claimed<'a>, String> {
        let plain = |cell: &str| cell.replace('`', "");
        let (head, rows) = self.rows.split_first().ok_or("the table is empty")?;
        let column = head.iter().position(|cell| plain(cell).starts_with(column));
        let column = column.ok_or("no column begins so")?;
        let mut rows = rows.iter();
        // Compares the whole row, because several rows may begin with the same cell.
        let row = rows.find(|cells| plain(&cells.join(" ")).starts_with(row));
        let cell = row.ok_or("no row begins so")?.get(column);
        let numbers = numbers(cell.ok_or("the row has no such column")?);
        let number = n.checked_sub(1).and_then(|at| numbers.get(at));
        number
            .copied()
            .map(Claimed)
            .ok_or("the cell has no such number".into())
    }
}

/// Returns the numbers in a text as they are written.
fn numbers(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[begin..].find(|c| !is_part(c));
        let end = end.map_or(rest.len(), |end| begin + end);
        // A full stop or comma after a number belongs to the sentence.
        found.push(rest[begin..end].trim_end_matches(['.', ',']));
        rest = &rest[end..];
    }
    found
}

impl Claimed<'_> {
    fn value(self) -> f64 {
        self.0.replace(',', "").parse().unwrap()
    }

    fn decimals(self) -> usize {
        self.0
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len())
    }

    /// Whether a measured number has the same digits when it is printed.
    fn is(self, measured: f64) -> bool {
        format!("{measured:.*}", self.decimals()) == self.0.replace(',', "")
    }

    /// Whether a measured number is within a factor of [`TIMING`].
    fn is_about(self, measured: f64) -> bool {
        let ratio = measured / self.value();
        (1.0 / TIMING..=TIMING).contains(&ratio)
    }
}

/// Finds a number in the output of a command. The source is a JSON pointer, where `count` is the length of an
/// array, `largest` the maximum of a field in it, and `mean` the mean of several numbers; or `line BEGIN N`,
/// the n-th number after the beginning of a line; or `bench NAME UNIT`, the middle value that Criterion
/// prints for a name.
fn number_in(output: &str, source: &str) -> Result<f64, String> {
    let none = || format!("the output has no {source}");
    if let Some(rest) = source.strip_prefix("line ") {
        let (begin, n) = rest.rsplit_once(' ').ok_or_else(none)?;
        let n: usize = n.parse().map_err(|_| none())?;
        let mut lines = output
            .lines()
            .filter_map(|line| line.trim().strip_prefix(begin));
        let numbers = numbers(lines.next().ok_or_else(none)?);
        let number = numbers.get(n - 1).ok_or_else(none)?;
        return number.replace(',', "").parse().map_err(|_| none());
    }
    if let Some(rest) = source.strip_prefix("bench ") {
        let (name, unit) = rest.rsplit_once(' ').ok_or_else(none)?;
        return criterion(output, name, unit).ok_or_else(none);
    }
    let document: Value = serde_json::from_str(output).map_err(|error| error.to_string())?;
    let number = |pointer: &str| document.pointer(pointer).and_then(Value::as_f64);
    if let Some(rest) = source.strip_prefix("mean ") {
        let numbers: Option<Vec<f64>> = rest.split(' ').map(number).collect();
        let numbers = numbers.ok_or_else(none)?;
        return Ok(numbers.iter().sum::<f64>() / numbers.len() as f64);
    }
    if let Some(pointer) = source.strip_prefix("count ") {
        let array = document.pointer(pointer).and_then(Value::as_array);
        return array.map(|array| array.len() as f64).ok_or_else(none);
    }
    if let Some(rest) = source.strip_prefix("largest ") {
        let (pointer, field) = rest.split_once(' ').ok_or_else(none)?;
        let array = document.pointer(pointer).and_then(Value::as_array);
        let values = array.ok_or_else(none)?.iter();
        let values = values.filter_map(|value| value[field].as_f64());
        return Ok(values.fold(0.0, f64::max));
    }
    number(source).ok_or_else(none)
}

/// Returns the middle value of `NAME  time:   [1.2 ns 1.3 ns 1.4 ns]` in a unit.
fn criterion(output: &str, name: &str, unit: &str) -> Option<f64> {
    let (_, rest) = output.split_once(name)?;
    let (_, rest) = rest.split_once("time:")?;
    let (interval, _) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    let words: Vec<&str> = interval.split_whitespace().collect();
    let seconds = |unit: &str| match unit {
        "ns" => Some(1e-9),
        "us" | "µs" => Some(1e-6),
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        _ => None,
    };
    let middle: f64 = words.get(2)?.parse().ok()?;
    Some(middle * seconds(words.get(3)?)? / seconds(unit)?)
}

/// Runs a command and returns its output.
fn run(command: &str) -> Result<String, String> {
    let words = words(command);
    let program = match words[0].as_str() {
        "roadwright" => env!("CARGO_BIN_EXE_roadwright"),
        program => program,
    };
    let run = Command::new(program)
        .args(&words[1..])
        .current_dir(root())
        .output();
    let output = run.map_err(|error| format!("{program}: {error}"))?;
    // With exit code 1 (findings), the output still has figures.
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Compares the claimed figures of a command with its output. Returns a message for each difference.
fn compare(place: &str, claims: &Claims<'_>, output: &Result<String, String>) -> Vec<String> {
    // Timings of a development build are meaningless. Benches run by cargo have their own profile.
    let is_timed = !cfg!(debug_assertions) || claims.command.starts_with("cargo");
    let mut differ = Vec::new();
    for figure in &claims.figures {
        let output = output.as_ref().map_err(String::clone);
        let measured = output.and_then(|output| number_in(output, figure.source));
        let (shown, verdict) = match measured {
            Err(why) => (why, Some("cannot be told")),
            Ok(measured) => {
                let measured = measured * figure.factor;
                let verdict = match figure.is_exact {
                    true => (!figure.claimed.is(measured)).then_some("differs"),
                    false if !is_timed => None,
                    false => (!figure.claimed.is_about(measured)).then_some("is off"),
                };
                let decimals = figure.claimed.decimals();
                (format!("{measured:.decimals$}"), verdict)
            }
        };
        let line = format!(
            "{place}: {} claimed {}, measured {shown}",
            figure.words, figure.claimed.0
        );
        println!(
            "  {} {line}",
            if verdict.is_some() { "FAIL" } else { "ok  " }
        );
        differ.extend(verdict.map(|verdict| format!("{line}: {verdict}")));
    }
    differ
}

/// Returns the errors in the marks of a page.
fn faults(page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for table in tables(page) {
        let mut commands = Vec::new();
        match table.mark() {
            Err(why) => faults.push(format!("line {}: {why}", table.line)),
            Ok(Mark::Exempt("")) => faults.push(format!("line {}: no reason", table.line)),
            Ok(Mark::Exempt(_)) => {}
            Ok(Mark::Named(named)) => commands = named,
            Ok(Mark::Compared(all)) => commands = all.iter().map(|claims| claims.command).collect(),
        }
        let missing = commands.iter().filter_map(|command| missing(command));
        faults.extend(missing.map(|why| format!("line {}: {why}", table.line)));
    }
    faults
}

#[test]
fn every_table_of_measurements_names_its_command() {
    for (name, page) in PAGES {
        assert_eq!(faults(page), Vec::<String>::new(), "{name}");
        assert!(tables(page).len() >= 5, "{name}");
    }
    let compared = |page| {
        let tables = tables(page).into_iter();
        let marks = tables.filter_map(|table| table.mark().ok());
        marks
            .filter(|mark| matches!(mark, Mark::Compared(_)))
            .count()
    };
    assert!(PAGES.iter().map(|(_, page)| compared(page)).sum::<usize>() >= 8);
    // Each error is found.
    let table = "| a | time |\n| --- | --- |\n| one | 1,234.5 s of 7 |\n";
    let command = "$ roadwright bench saturation --json\n";
    for (mark, why) in [
        ("", "no comment"),
        ("<!-- a remark -->\n", "neither"),
        ("<!-- measured\nby hand: long\n-->\n", "no command"),
        ("<!-- not measured here: -->\n", "no reason"),
        (&*format!("<!-- measured\n{command}-->\n"), "by hand"),
        (
            &format!("<!-- measured\n{command}exact two | time = /0\n-->\n"),
            "no row",
        ),
        (
            &format!("<!-- measured\n{command}exact one | speed = /0\n-->\n"),
            "no column",
        ),
        (
            &format!("<!-- measured\n{command}exact one | time | 3 = /0\n-->\n"),
            "no such number",
        ),
        (
            "<!-- measured\n$ roadwright bench magic\nexact one | time = /0\n-->\n",
            "magic",
        ),
    ] {
        let found = faults(&format!("text\n\n{mark}\n{table}"));
        assert!(
            found.iter().any(|found| found.contains(why)),
            "{mark}: {found:?}"
        );
    }
    for mark in [
        &*format!("<!-- measured\n{command}exact one | time | 2 = /0/headway\n-->\n"),
        &format!("<!-- measured\n{command}by hand: it takes a day\n-->\n"),
        "<!-- not measured here: another program -->\n",
    ] {
        assert_eq!(
            faults(&format!("{mark}\n{table}")),
            Vec::<String>::new(),
            "{mark}"
        );
    }
}

#[test]
fn figures_are_found_and_judged() {
    let claimed = Claimed("1,234.5");
    assert!(claimed.is(1234.46) && claimed.is(1234.54));
    assert!(!claimed.is(1234.56) && !claimed.is(1234.44));
    assert!(claimed.is_about(2400.0) && claimed.is_about(700.0));
    assert!(!claimed.is_about(2500.0) && !claimed.is_about(600.0));
    assert_eq!(
        numbers("14 of 9 cm, 1,204 (0.5)."),
        ["14", "9", "1,204", "0.5"]
    );
    let json = r#"{"a": [{"d": 0.5}, {"d": 0.25}], "n": 3}"#;
    assert_eq!(number_in(json, "/n"), Ok(3.0));
    assert_eq!(number_in(json, "/a/1/d"), Ok(0.25));
    assert_eq!(number_in(json, "count /a"), Ok(2.0));
    assert_eq!(number_in(json, "largest /a d"), Ok(0.5));
    assert_eq!(number_in(json, "mean /n /a/0/d"), Ok(1.75));
    assert!(number_in(json, "/m").is_err() && number_in(json, "mean /n /m").is_err());
    let text = "x\n  pass braking   38.577 m\n";
    assert_eq!(number_in(text, "line pass braking 1"), Ok(38.577));
    assert!(number_in(text, "line pass turning 1").is_err());
    let bench = "one rule\n       table  time:   [9.71 ns 9.80 ns 9.91 ns]\n";
    let microseconds = number_in(bench, "bench one rule us").unwrap();
    assert!((microseconds - 0.0098).abs() < 1e-12);
    assert!(number_in(bench, "bench two ns").is_err());
}

/// Checks that measurements give the claimed figures. Run by `.ci/nightly`, because it takes minutes and
/// timings need a release build.
#[test]
#[ignore = "runs all commands of the tables"]
fn measurements_come_out_as_they_are_claimed() {
    let mut differ = Vec::new();
    for (name, page) in PAGES {
        for table in tables(page) {
            let place = format!("{name}:{}", table.line);
            match table.mark().unwrap() {
                Mark::Exempt(why) => println!("{place}: not measured here: {why}"),
                Mark::Named(commands) => println!("{place}: by hand: {}", commands.join("; ")),
                Mark::Compared(all) => {
                    for claims in &all {
                        let (output, time) = timed(|| run(claims.command));
                        println!("{place}: {} ({:.1} s)", claims.command, time.as_secs_f64());
                        differ.extend(compare(&place, claims, &output));
                    }
                }
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[expect(
    clippy::disallowed_methods,
    reason = "tells how long commands take; nothing depends on it"
)]
fn timed<T>(what: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    let result = what();
    (result, begin.elapsed())
}
