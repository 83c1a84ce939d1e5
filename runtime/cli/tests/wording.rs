//! Counts habits that make comments, messages and documents hard to read, and limits the length of documents.
//!
//! A hit is a place to look at, not a verdict. Each crate, and all documents together, have a ceiling in
//! `wording.txt` that can only fall. With `ROADWRIGHT_WRITE_TABLES=1` this test lowers the ceilings there; it
//! never raises one, and a new crate starts at zero.

use crate::common::{files_below, root};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A habit, with the recommended wording.
struct Habit {
    patterns: &'static [Pattern],
    instead: &'static str,
}

/// A sequence of words, where each place has a list of alternatives.
struct Pattern {
    words: &'static [&'static [&'static str]],
    /// Whether the first word must start the line with a capital letter. Questions and headings are exempt.
    opens: bool,
    /// Words that exempt the sequence if they precede it.
    unless_after: &'static [&'static str],
    /// Words that exempt the sequence if they follow it.
    unless_before: &'static [&'static str],
}

const fn row(words: &'static [&'static [&'static str]]) -> Pattern {
    Pattern {
        words,
        opens: false,
        unless_after: &[],
        unless_before: &[],
    }
}

const HABITS: &[Habit] = &[
    Habit {
        patterns: &[Pattern {
            opens: true,
            ..row(&[&["who", "whom", "what", "whose", "whoever"]])
        }],
        instead: "start with a noun or a verb that says what the item is or does",
    },
    Habit {
        patterns: &[row(&[&["nobody", "somebody", "everybody", "anybody"]])],
        instead: "name the vehicle, driver, pedestrian, module or user",
    },
    Habit {
        patterns: &[
            row(&[&["those"], &["who", "whom", "that", "which"]]),
            row(&[
                &[
                    "of", "for", "to", "by", "with", "from", "behind", "beside", "at", "than",
                    "where", "that", "if", "when", "as",
                ],
                &["who", "whom"],
            ]),
        ],
        instead: "put the noun first, such as \"vehicles that\"",
    },
    Habit {
        patterns: &[row(&[
            &["one"],
            &[
                "drives", "sees", "has", "may", "can", "comes", "clicks", "gets", "goes", "wants",
                "knows", "looks", "stands", "needs", "must",
            ],
        ])],
        instead: "name the driver, vehicle or user, or use the passive",
    },
    Habit {
        // Except right of way and idioms. For OpenStreetMap, `way` is allowed in the folder of the import and
        // before or after these words.
        patterns: &[Pattern {
            unless_after: &[
                "of", "give", "gives", "giving", "by", "same", "this", "either", "no", "osm",
                "via", "only", "half", "a", "drivable", "such", "one", "each", "that",
            ],
            ..row(&[&["way", "ways"]])
        }],
        instead: "say route (lanelets), path (curve), connection, approach or distance",
    },
    Habit {
        patterns: &[
            row(&[&["is", "are", "was", "were"], &["said", "told"]]),
            row(&[&["tell", "tells"], &["of"]]),
        ],
        instead: "say states, reports, notifies",
    },
    Habit {
        patterns: &[
            row(&[&["of"], &["before", "today", "yesterday"]]),
            row(&[&["as", "for"], &["ever"]]),
        ],
        instead: "name the version or the time",
    },
    Habit {
        patterns: &[Pattern {
            unless_before: &["to"],
            ..row(&[&["go", "goes", "went", "going", "gone"], &["on"]])
        }],
        instead: "say continues, resumes",
    },
    Habit {
        patterns: &[row(&[&["is", "are"], &["not"], &["there"]])],
        instead: "say is missing, does not exist",
    },
];

/// Pages that other tests generate from texts in the source.
const GENERATED: [&str; 2] = ["docs/controllers.md", "docs/script-api.md"];

/// Maximum size of a document in bytes. Sections of the changelog have separate limits.
const LENGTHS: [Length; 3] = [
    Length {
        document: "ARCHITECTURE.md",
        bytes: 16_000,
    },
    Length {
        document: "README.md",
        bytes: 13_000,
    },
    Length {
        document: "docs/measurements.md",
        bytes: 60_000,
    },
];

/// Maximum size of all other pages in `docs`, bytes.
const PAGE: usize = 46_000;

/// Maximum size of one release in the changelog, bytes.
const RELEASE: usize = 12_000;

struct Length {
    document: &'static str,
    bytes: usize,
}

/// A line of prose with one of the habits.
struct Hit {
    path: PathBuf,
    line: usize,
    text: String,
    instead: &'static str,
}

/// Returns the words of a line without code spans; hyphens and underscores are part of words.
fn words(line: &str) -> Vec<&str> {
    let outside = line.split('`').step_by(2);
    let parts = outside.flat_map(|part| {
        part.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '\'')))
    });
    parts.filter(|word| !word.is_empty()).collect()
}

impl Pattern {
    fn is_in(&self, line: &str, words: &[&str]) -> bool {
        let last = words.len().saturating_sub(self.words.len() - 1);
        let is = |word: &str, any: &[&str]| any.iter().any(|each| word.eq_ignore_ascii_case(each));
        (0..last).any(|at| {
            let matches = self
                .words
                .iter()
                .zip(&words[at..])
                .all(|(any, word)| is(word, any));
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            let behind = words.get(at + self.words.len());
            let is_excused = before.is_some_and(|word| is(word, self.unless_after))
                || behind.is_some_and(|word| is(word, self.unless_before));
            let is_opening =
                at == 0 && words[0].starts_with(char::is_uppercase) && !line.contains(['?', '#']);
            matches && !is_excused && (!self.opens || is_opening)
        })
    }
}

/// Returns the advice for the first habit found in a line.
fn advice(line: &str) -> Option<&'static str> {
    let words = words(line);
    let has = |habit: &&Habit| {
        let mut patterns = habit.patterns.iter();
        patterns.any(|pattern| pattern.is_in(line, &words))
    };
    Some(HABITS.iter().find(has)?.instead)
}

/// Returns the prose in a line of source: a whole-line comment, or its string literals.
fn prose_of_source<'a>(line: &'a str, comments: &[&str]) -> Vec<&'a str> {
    let trimmed = line.trim();
    if let Some(comment) = comments.iter().find_map(|mark| trimmed.strip_prefix(mark)) {
        return vec![comment.trim_start_matches(['/', '!']).trim()];
    }
    let literals = trimmed.split('"').skip(1).step_by(2);
    literals.filter(|text| text.contains(' ')).collect()
}

/// Returns the hits of a file.
fn hits(path: &Path, text: &str) -> Vec<Hit> {
    let extension = path.extension().and_then(|e| e.to_str());
    let mut is_fenced = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let prose = match extension {
            Some("md") => {
                is_fenced ^= line.trim_start().starts_with("```");
                let is_text = !is_fenced && !line.starts_with("    ");
                is_text.then_some(line).into_iter().collect()
            }
            Some("toml" | "py") => prose_of_source(line, &["#"]),
            _ => prose_of_source(line, &["//", "/*", "* "]),
        };
        let with_advice = prose
            .into_iter()
            .filter_map(|text| Some((text, advice(text)?)));
        found.extend(with_advice.map(|(text, instead)| Hit {
            path: path.to_owned(),
            line: number + 1,
            text: text.to_owned(),
            instead,
        }));
    }
    found
}

/// Returns the group of a file: its crate, its folder, or the documents.
fn group(path: &Path) -> String {
    let shown = path.to_string_lossy();
    if path.extension().is_some_and(|e| e == "md") {
        let is_generated = GENERATED.contains(&&*shown);
        let group = if is_generated {
            "generated-pages"
        } else {
            "documents"
        };
        return group.to_owned();
    }
    let mut parts = shown.split('/');
    match (parts.next(), parts.next()) {
        (Some("runtime"), Some(name)) => format!("runtime/{name}"),
        (Some(folder), Some(_)) => folder.to_owned(),
        _ => "root".to_owned(),
    }
}

/// Returns all hits of the project, by group.
fn all_hits() -> BTreeMap<String, Vec<Hit>> {
    let mut files = Vec::new();
    let extensions = ["rs", "md", "rhai", "h", "c", "cpp", "toml", "py"];
    files_below(root(), &extensions, &mut files);
    assert!(files.len() > 500, "only {} files", files.len());
    let mut by_group: BTreeMap<String, Vec<Hit>> = BTreeMap::new();
    for file in files {
        let path = file.strip_prefix(root()).unwrap();
        // This file contains the words that it searches for.
        if path.ends_with("cli/tests/wording.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let mut hits = hits(path, &text);
        if path.starts_with("runtime/interchange/src/osm")
            || path.starts_with("runtime/interchange/tests")
        {
            hits.retain(|hit| !hit.instead.starts_with("say route"));
        }
        by_group.entry(group(path)).or_default().extend(hits);
    }
    by_group
}

/// Returns the ceilings by group, from the file.
fn ceilings(text: &str) -> BTreeMap<String, usize> {
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines
        .map(|(group, ceiling)| (group.to_owned(), ceiling.parse().unwrap()))
        .collect()
}

/// Returns the amount by which a count may be below its ceiling before the ceiling has to be
/// lowered.
fn slack(ceiling: usize) -> usize {
    (ceiling / 10).max(10)
}

/// Returns the message for a group above its ceiling. Hits in recently changed files are listed first,
/// because they are most likely to be new.
fn too_many(group: &str, ceiling: usize, hits: &[Hit]) -> String {
    let changed = |hit: &Hit| {
        std::fs::metadata(root().join(&hit.path))
            .unwrap()
            .modified()
    };
    let mut newest: Vec<&Hit> = hits.iter().collect();
    newest.sort_by_key(|hit| std::cmp::Reverse(changed(hit).unwrap()));
    let mut message = format!(
        "{group}: {} lines to rewrite, at most {ceiling} are allowed:\n",
        hits.len()
    );
    for hit in newest.iter().take(30) {
        let Hit {
            path,
            line,
            text,
            instead,
        } = hit;
        let place = path.display();
        writeln!(message, "  {place}:{line}: {instead}\n      {text}").unwrap();
    }
    message
}

#[test]
fn texts_are_in_plain_english() {
    let file = root().join("runtime/cli/tests/wording.txt");
    let old = ceilings(&std::fs::read_to_string(&file).unwrap());
    let found = all_hits();
    let count = |group: &String| found.get(group).map_or(0, Vec::len);
    if std::env::var_os("ROADWRIGHT_WRITE_TABLES").is_some() {
        let lowered = old
            .iter()
            .map(|(group, ceiling)| (group, count(group).min(*ceiling)));
        let lines: String = lowered
            .filter(|(_, ceiling)| *ceiling > 0)
            .map(|(group, ceiling)| format!("{group} {ceiling}\n"))
            .collect();
        std::fs::write(&file, lines).unwrap();
    }
    let now = ceilings(&std::fs::read_to_string(&file).unwrap());
    let mut faults = Vec::new();
    for (group, hits) in &found {
        let ceiling = now.get(group).copied().unwrap_or(0);
        if hits.len() > ceiling {
            faults.push(too_many(group, ceiling, hits));
        }
    }
    for (group, ceiling) in &now {
        let count = count(group);
        if count + slack(*ceiling) < *ceiling {
            faults.push(format!(
                "{group}: {count} lines to rewrite are left and {ceiling} are allowed; lower the ceiling with \
                 ROADWRIGHT_WRITE_TABLES=1"
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn habits_are_found_and_excused() {
    for line in [
        "Who is let in.",
        "What one sees.",
        "so that nobody waits",
        "left to those who wait",
        "the place for who comes",
        "as far as one can drive",
        "the ways through a junction",
        "which is told once",
        "as ever",
        "a run that goes on",
        "a module that is not there",
    ] {
        assert!(advice(line).is_some(), "{line}");
    }
    for line in [
        "What does it cost?",
        "Returns the vehicle who `nobody` names, on a one-way road.",
        "The right of way, a way-point, `all_way_stop` and OSM ways.",
        "## What was measured",
        "The driver who gives way goes on to the next junction.",
        "Longest time an unsigned approach yields, in seconds.",
    ] {
        assert_eq!(advice(line), None, "{line}");
    }
    let source = "/// Who waits.\nlet a = \"ways to go\"; // nobody\nlet b = \"way\";\n";
    let lines: Vec<usize> = hits(Path::new("a.rs"), source)
        .iter()
        .map(|hit| hit.line)
        .collect();
    assert_eq!(lines, [1, 2]);
    let page = "Somebody.\n```sh\nnobody\n```\n";
    assert_eq!(hits(Path::new("a.md"), page).len(), 1);
    assert_eq!(group(Path::new("runtime/cli/src/main.rs")), "runtime/cli");
    assert_eq!(group(Path::new("docs/editor.md")), "documents");
    assert_eq!(ceilings("a 3\nb 10\n")["b"], 10);
}

#[test]
fn documents_are_short() {
    let mut pages = Vec::new();
    files_below(root().join("docs"), &["md"], &mut pages);
    pages.extend(["ARCHITECTURE.md", "README.md"].map(|name| root().join(name)));
    for page in pages {
        let path = page.strip_prefix(root()).unwrap().display().to_string();
        let own = LENGTHS.iter().find(|length| length.document == path);
        let most = own.map_or(PAGE, |length| length.bytes);
        let bytes = std::fs::metadata(&page).unwrap().len();
        assert!(
            bytes <= most as u64,
            "{path} has {bytes} bytes, at most {most} are allowed: shorten it or move details to the sources"
        );
    }
    let changelog = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    for release in changelog.split("\n## ").skip(1) {
        let title = release.lines().next().unwrap_or_default();
        let bytes = release.len();
        assert!(
            bytes <= RELEASE,
            "{title} has {bytes} bytes in CHANGELOG.md, at most {RELEASE} are allowed"
        );
    }
}
