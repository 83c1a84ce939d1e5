//! Counts habits that may only become rarer in each crate: tuple parameters, and plain numbers in
//! place of index types.

use crate::common::{files_below, root};
use std::collections::BTreeMap;

/// Number of remaining occurrences of each habit in a crate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Left {
    /// Functions with a parameter whose pattern or type is a tuple.
    tuples: usize,
    /// Parameters and fields that have a plain number type although their names refer to an object with an
    /// index type.
    raw: usize,
}

/// Crates with remaining occurrences. When a count falls, lower it here, so that it cannot rise again. If it
/// rises, use a struct or an index type in the new code.
// The records of the plugin interface consist of plain numbers, so plugins and their SDK have no index types.
const LEFT: [(&str, Left); 11] = [
    ("editor/core", left(1, 0)),
    ("plugins/api", left(0, 2)),
    ("plugins/lattice_planner", left(0, 3)),
    ("plugins/sdk", left(0, 3)),
    ("runtime/agent", left(1, 0)),
    ("runtime/extension", left(1, 0)),
    ("runtime/geometry", left(2, 0)),
    ("runtime/render", left(10, 0)),
    ("runtime/scenario", left(3, 0)),
    ("runtime/simulation", left(0, 1)),
    ("runtime/training", left(1, 0)),
];

const fn left(tuples: usize, raw: usize) -> Left {
    Left { tuples, raw }
}

/// Returns a source without comments and strings, but with the same number of lines.
pub(crate) fn code_of(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(length) = length_of_raw_string(rest) {
            length
        } else if rest.starts_with('"') {
            length_of_string(rest)
        } else if let Some(length) = length_of_character(rest) {
            length
        } else {
            let next = rest.chars().next().map_or(1, char::len_utf8);
            code.push_str(&rest[..next]);
            at += next;
            continue;
        };
        let lines = rest[..end].matches('\n').count();
        code.push('_');
        code.extend(std::iter::repeat_n('\n', lines));
        at += end;
    }
    code
}

fn length_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

fn length_of_raw_string(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('r')?;
    let marks = rest.len() - rest.trim_start_matches('#').len();
    let body = rest[marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    let found = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(1 + marks + 1 + found)
}

/// Returns the length of a character literal; `None` for a lifetime.
fn length_of_character(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\'')?;
    if let Some(escaped) = rest.strip_prefix('\\') {
        return escaped.find('\'').map(|at| at + 3);
    }
    let first = rest.chars().next()?;
    rest[first.len_utf8()..]
        .starts_with('\'')
        .then_some(2 + first.len_utf8())
}

/// Returns the comma-separated parts of a list, ignoring commas in brackets of any kind.
fn separated(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin, mut before) = (Vec::new(), 0i32, 0, ' ');
    for (at, c) in list.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if before != '-' && before != '=' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    parts.push(list[begin..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the position of the bracket that closes the one at the start of a text.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let (mut depth, mut before) = (0i32, ' ');
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && !(c == '>' && (before == '-' || before == '=')) {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
        before = c;
    }
    None
}

/// Returns the parameters of all functions in a source.
fn parameters(code: &str) -> Vec<Vec<&str>> {
    let mut all = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let name = code[at + 3..].trim_start();
        let end = name
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(name.len());
        let mut rest = &name[end..];
        if end > 0 && rest.starts_with('<') {
            rest = closing(rest, '<', '>').map_or("", |close| &rest[close + 1..]);
        }
        if end > 0 && rest.starts_with('(') {
            all.extend(closing(rest, '(', ')').map(|close| separated(&rest[1..close])));
        }
    }
    all
}

fn is_tuple(parameter: &str) -> bool {
    if parameter.starts_with('(') {
        return true;
    }
    let Some((_, kind)) = parameter.split_once(':') else {
        return false;
    };
    let mut kind = kind.trim_start();
    while let Some(rest) = kind.strip_prefix('&') {
        kind = rest.trim_start();
        if kind.starts_with('\'') {
            kind = kind.split_once(' ').map_or("", |(_, rest)| rest);
        }
        kind = kind.strip_prefix("mut ").unwrap_or(kind).trim_start();
    }
    // References to `dyn` and `impl` types with bounds have brackets as well.
    let is_other = ["()", "(dyn ", "(impl "]
        .iter()
        .any(|start| kind.starts_with(start));
    kind.starts_with('(') && !is_other
}

/// Returns the number of parameters and fields with a plain number type where an index type exists.
fn raw_indices(code: &str) -> usize {
    let names = ["agent", "junction", "lanelet", "connection"];
    let is_named = |before: &str, name: &str| {
        let before = before.strip_suffix(name);
        before.is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let places = code.match_indices(": u32");
    places
        .filter(|(at, _)| names.iter().any(|name| is_named(&code[..*at], name)))
        .count()
}

fn left_in(text: &str) -> Left {
    let code = code_of(text);
    let functions = parameters(&code);
    let with_tuples = functions
        .iter()
        .filter(|own| own.iter().any(|parameter| is_tuple(parameter)));
    Left {
        tuples: with_tuples.count(),
        raw: raw_indices(&code),
    }
}

#[test]
fn tuples_and_plain_numbers_only_become_fewer() {
    let mut found: BTreeMap<String, Left> = BTreeMap::new();
    for folder in ["editor", "plugins", "runtime"] {
        let mut files = Vec::new();
        files_below(root().join(folder), &["rs"], &mut files);
        for file in files {
            let path = file.strip_prefix(root()).unwrap().display().to_string();
            let parts: Vec<&str> = path.split('/').collect();
            let folders = ["src", "tests", "benches", "examples"];
            let end = parts.iter().position(|part| folders.contains(part));
            let Some(end) = end else { continue };
            let left = left_in(&std::fs::read_to_string(&file).unwrap());
            let own = found.entry(parts[..end].join("/")).or_default();
            own.tuples += left.tuples;
            own.raw += left.raw;
        }
    }
    assert!(found.len() > 15, "only {} crates found", found.len());
    found.retain(|_, left| *left != Left::default());
    let known: BTreeMap<String, Left> = LEFT.map(|(name, left)| (name.to_owned(), left)).into();
    assert_eq!(found, known, "found beside what this file says");
}

#[test]
fn the_search_finds_tuples_and_plain_numbers_in_code_alone() {
    let sample = r##"
        // fn no((a, b): (u32, u32)) {}
        fn one((a, b): (u32, f64), c: &str) -> u32 { "fn no((a, b): (u8, u8))"; 'x' }
        fn two<'a, F: Fn(u32) -> f64>(&self, pair: &'a mut (u32, u32)) {}
        fn no(list: &[(u32, u32)], nothing: (), call: impl Fn((u32, u32)) -> u8) {}
        fn no(note: &(dyn Fn() + Sync), call: &(impl Fn(u32) + Sync)) {}
        fn three(
            self,
            path: (u32, Vec<(u8, u8)>),
        ) {}
        struct Raw { agent: u32, my_agent: u32, junction: u32, junctions: u32 }
        const TEXT: &str = r#"fn no((a, b): (u8, u8)) "quoted" lanelet: u32"#;
    "##;
    assert_eq!(left_in(sample), Left { tuples: 3, raw: 2 });
}
