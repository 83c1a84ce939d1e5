//! Generates the table of the stages that read and write each column, in `docs/stages.md`. The table is
//! derived from the source and checked against runs.

use super::*;
use crate::agents::{
    AdvanceColumns, Agents, ClaimColumns, ContactColumns, ControlColumns, GroundColumns,
    PlanColumns,
};
use crate::builtin_modules;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Columns of agents, and data stored next to them.
const COLUMNS: [&str; 11] = [
    "identity",
    "motion",
    "position",
    "progress",
    "claim",
    "wish",
    "aside",
    "command",
    "statistics",
    "pedals",
    "accounts",
];

/// Stages in order, each with its files or folders.
const STAGES: [(&str, &[&str]); 16] = [
    ("appear", &["stages/appear.rs"]),
    ("claims", &["traffic/claims"]),
    ("delays", &["traffic/delays.rs"]),
    ("plan", &["stages/plan.rs"]),
    ("detour", &["stages/detour.rs"]),
    ("behave", &["stages/behave.rs", "stages/scene.rs"]),
    (
        "effects",
        &[
            "stages/effects.rs",
            "stages/rerouting.rs",
            "stages/excursions.rs",
            "stages/parking.rs",
            "stages/company.rs",
            "coupling.rs",
        ],
    ),
    ("ground plan", &["stages/ground_plan.rs"]),
    ("play", &["stages/play.rs"]),
    ("aside", &["stages/aside.rs"]),
    (
        "control",
        &[
            "stages/control.rs",
            "stages/exact_drive.rs",
            "stages/pivot.rs",
            "hands.rs",
        ],
    ),
    ("advance", &["stages/advance.rs", "stages/trailers.rs"]),
    ("encroachment", &["traffic/encroachment.rs"]),
    (
        "collide",
        &[
            "stages/collide.rs",
            "traffic/contacts.rs",
            "traffic/neighbours.rs",
        ],
    ),
    ("accounts", &["traffic/accounts.rs", "world.rs"]),
    ("retire", &["stages/retire.rs"]),
];

/// Methods that write to columns of agents, with the columns that they write.
const VERBS: [(&str, &[&str]); 4] = [
    ("agents.give(", &["command", "pedals"]),
    ("agents.insert(", &COLUMNS),
    ("agents.remove(", &["identity"]),
    ("agents.set_level(", &["identity"]),
];

/// Names of methods that write to rows and columns.
const WRITING: [&str; 5] = ["put", "add", "note_kept", "note_free", "iter_mut"];

/// Columns that are only read, and columns that are written.
#[derive(Debug, Default, Clone)]
struct Access {
    read: BTreeSet<&'static str>,
    written: BTreeSet<&'static str>,
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Text of a file, or of all files in a folder, without comments and tests.
fn text_of(place: &str) -> String {
    let path = source().join(place);
    let files: Vec<PathBuf> = if path.is_dir() {
        let entries = std::fs::read_dir(&path).unwrap();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.is_file() && !file.ends_with("tests.rs"));
        files.sort();
        files
    } else {
        vec![path]
    };
    let mut all = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next();
        let code = code.unwrap_or_default();
        for line in code.lines() {
            all += line.split("//").next().unwrap_or_default();
            all.push('\n');
        }
    }
    all
}

/// Skips an index in brackets and returns the text that follows.
fn behind_index(text: &str) -> &str {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        if depth == 0 {
            return if letter == ']' { &text[at + 1..] } else { text };
        }
    }
    text
}

fn is_part_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Whether the text after the name of a column writes to the column, either by setting a field or by calling
/// a writing method.
fn is_written(behind: &str) -> bool {
    let mut rest = behind_index(behind).trim_start();
    while let Some(field) = rest.strip_prefix('.') {
        let field = field.trim_start();
        let end = field.find(|letter| !is_part_of_word(letter));
        let (name, after) = field.split_at(end.unwrap_or(field.len()));
        if after.starts_with('(') {
            return WRITING.contains(&name);
        }
        rest = after.trim_start();
    }
    let mut letters = rest.chars();
    match (letters.next(), letters.next()) {
        (Some('='), Some(next)) => next != '=' && next != '>',
        (Some(sign), Some('=')) => "+-*/|&^".contains(sign),
        _ => false,
    }
}

/// Columns that a source text reads or writes.
fn access(text: &str) -> Access {
    let mut found = Access::default();
    let mut seen = BTreeSet::new();
    for (at, name) in text.match_indices("agents.") {
        let behind = &text[at + name.len()..];
        let is_column = |column: &&str| {
            let rest = behind.strip_prefix(*column);
            rest.is_some_and(|rest| !rest.starts_with(is_part_of_word))
        };
        let Some(column) = COLUMNS.into_iter().find(is_column) else {
            continue;
        };
        seen.insert(column);
        let path = |letter: char| is_part_of_word(letter) || letter == '.' || letter == '*';
        let is_lent = text[..at].trim_end_matches(path).ends_with("&mut ");
        if is_lent || is_written(&behind[column.len()..]) {
            found.written.insert(column);
        }
    }
    for (verb, columns) in VERBS {
        if text.contains(verb) {
            found.written.extend(columns.iter());
        }
    }
    found.read = &seen - &found.written;
    found
}

fn table() -> BTreeMap<&'static str, Access> {
    let rows = STAGES.iter().map(|(stage, places)| {
        let text: String = places.iter().map(|place| text_of(place)).collect();
        (*stage, access(&text))
    });
    rows.collect()
}

fn as_markdown(table: &BTreeMap<&'static str, Access>) -> String {
    let list = |columns: &BTreeSet<&str>| {
        let in_order = COLUMNS.iter().filter(|column| columns.contains(*column));
        let names: Vec<&str> = in_order.copied().collect();
        names.join(", ")
    };
    let mut text = String::from("| stage | files | reads | writes |\n| --- | --- | --- | --- |\n");
    for (stage, places) in STAGES {
        let files: Vec<String> = places.iter().map(|place| format!("`{place}`")).collect();
        let Access { read, written } = &table[stage];
        text += &format!(
            "| {stage} | {} | {} | {} |\n",
            files.join(", "),
            list(read),
            list(written)
        );
    }
    text
}

#[test]
fn the_table_in_the_documents_is_that_of_the_source() {
    let file = source().join("../../../docs/stages.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let (begin, end) = ("<!-- columns -->\n", "<!-- end of columns -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (found, after) = rest.split_once(end).unwrap();
    let made = as_markdown(&table());
    if std::env::var_os("ROADWRIGHT_WRITE_TABLES").is_some() {
        std::fs::write(&file, format!("{before}{begin}{made}{end}{after}")).unwrap();
    } else {
        assert_eq!(
            found, made,
            "docs/stages.md is old; with ROADWRIGHT_WRITE_TABLES=1 this test writes it again"
        );
    }
}

#[test]
fn columns_are_found_in_the_source() {
    let found = access(
        "let a = &self.agents.motion[at as usize]; agents.claim[of[0]].asked = 3;\n\
         f(&mut *self.agents.progress); agents.wish.put(1, wish);\n\
         if agents.position[0].s == 1.0 {} agents.statistics[agent.index()].add(sample);\n\
         agents.identity[0].drives() += 1; agents.motions = 0; other.command[0] = 1;",
    );
    let list = |columns: &BTreeSet<&'static str>| columns.iter().copied().collect::<Vec<_>>();
    assert_eq!(list(&found.read), ["identity", "motion", "position"]);
    assert_eq!(
        list(&found.written),
        ["claim", "progress", "statistics", "wish"]
    );
}

/// Columns that stages borrow, and the stages that borrow them.
const BORROWED: [(&[&str], &[&str]); 6] = [
    (ClaimColumns::WRITES, &["claims"]),
    (PlanColumns::WRITES, &["plan", "detour"]),
    (GroundColumns::WRITES, &["ground plan"]),
    (ControlColumns::WRITES, &["aside", "control"]),
    (AdvanceColumns::WRITES, &["advance"]),
    (ContactColumns::WRITES, &["encroachment", "collide"]),
];

#[test]
fn stages_write_all_that_they_borrow_for_it() {
    let table = table();
    for (borrowed, stages) in BORROWED {
        let written = stages.iter().flat_map(|stage| &table[stage].written);
        let written: BTreeSet<&str> = written.copied().collect();
        let borrowed: BTreeSet<&str> = borrowed.iter().copied().collect();
        let idle: Vec<_> = borrowed.difference(&written).collect();
        assert!(
            idle.is_empty(),
            "{stages:?} borrow {idle:?} and do not write"
        );
    }
}

/// Columns in which two states differ.
fn changed(before: &Agents, after: &Agents) -> BTreeSet<&'static str> {
    let differ = [
        before.identity != after.identity,
        before.motion != after.motion,
        before.position != after.position,
        before.progress != after.progress,
        before.claim != after.claim,
        before.wish != after.wish,
        before.aside != after.aside,
        before.command != after.command,
        before.statistics != after.statistics,
        before.pedals != after.pedals,
        before.accounts != after.accounts,
    ];
    let columns = COLUMNS.iter().zip(differ);
    columns
        .filter_map(|(column, differs)| differs.then_some(*column))
        .collect()
}

/// Rows of the table, with the part of a step that they describe.
type Part = (&'static [&'static str], fn(&mut World));

#[test]
fn no_stage_writes_a_column_that_the_table_does_not_say() {
    let table = table();
    let parts: [Part; 7] = [
        (&["appear", "retire"], |world| world.appear(&mut |_| ())),
        (&["claims", "delays"], World::give_way),
        (&["plan", "detour"], World::plan),
        (&["behave", "effects", "retire"], World::behave),
        (&["aside", "control"], World::control),
        (&["advance", "retire"], World::advance),
        (&["encroachment", "collide", "accounts"], World::collide),
    ];
    let folder = source().join("../../../scenarios");
    let mut written = BTreeSet::new();
    for (name, populate) in [("old-town", 40), ("figure-eight", 10), ("crossroads", 0)] {
        let file = folder.join(format!("{name}.scenario.json"));
        let scenario = roadwright_scenario::file::load(&file).unwrap();
        let options = RunOptions {
            populate,
            dt: Some(0.05),
            ..RunOptions::default()
        };
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        for _ in 0..800 {
            world.agents.release();
            world.modules.pass_boundary(&world.clock, &mut world.agents);
            for (stages, part) in parts {
                let before = world.agents.clone();
                part(&mut world);
                let allowed = stages.iter().flat_map(|stage| &table[stage].written);
                let allowed: BTreeSet<&str> = allowed.copied().collect();
                let changed = changed(&before, &world.agents);
                let hidden: Vec<_> = changed.difference(&allowed).collect();
                assert!(hidden.is_empty(), "{name}: {stages:?} writes {hidden:?}");
                written.extend(changed);
            }
            world.clock.step += 1;
        }
    }
    // Completeness check: these runs write to most columns.
    assert!(written.len() >= 7, "{written:?}");
}
