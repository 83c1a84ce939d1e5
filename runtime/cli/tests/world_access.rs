//! Code that may change a world, enforced by a search of the source.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        // Tests may do anything, in separate files as well as at the end of a file.
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !path.ends_with("tests.rs")
        {
            found.push(path);
        }
    }
}

/// Returns the lines of a source without its test modules. A test module ends with a brace at the
/// indent of its first line.
pub(crate) fn without_tests(text: &str) -> Vec<&str> {
    let mut code = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            code.push(line);
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let item = lines.by_ref().find(|line| !line.trim().starts_with("#["));
        let end = format!("{}}}", " ".repeat(indent));
        if item.is_some_and(|item| item.trim_end().ends_with('{')) {
            lines.by_ref().find(|line| *line == end);
        }
    }
    code
}

#[test]
fn only_tests_are_left_out() {
    let text = "a\n    #[cfg(test)]\n    field: bool,\nb\n#[cfg(test)]\nmod tests;\nc\n#[cfg(test)]\n\
                mod tests {\n    fn x() {\n    }\n}\nd";
    assert_eq!(without_tests(text), ["a", "b", "c", "d"]);
}

/// Returns the files of library and program code with the lines that contain one of the given
/// texts.
fn lines_with(texts: &[&str]) -> Vec<(String, String)> {
    let root = crate::common::root();
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root.join("runtime")).unwrap() {
        let source = folder.unwrap().path().join("src");
        if source.is_dir() {
            sources(&source, &mut files);
        }
    }
    for source in ["editor/core/src", "editor/src"] {
        sources(&root.join(source), &mut files);
    }
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        // Test modules in separate files are tests too.
        if name.ends_with("tests.rs") {
            continue;
        }
        for line in without_tests(&text) {
            if texts.iter().any(|text| line.contains(text)) {
                found.push((name.clone(), line.trim().to_owned()));
            }
        }
    }
    found
}

#[test]
fn nobody_but_the_world_takes_the_whole_world_mutably() {
    let takes = lines_with(&["&mut World", "impl World {"]);
    let allowed = [
        "runtime/simulation/src/world.rs",
        // That file only reads it.
        "runtime/simulation/src/inspect.rs",
        "runtime/simulation/src/report.rs",
        "runtime/simulation/src/world/reads.rs",
        "runtime/simulation/src/world/told.rs",
        // Restoring fills a world that it has just created.
        "runtime/simulation/src/save.rs",
        // The entry point for edits between two steps.
        "runtime/simulation/src/session.rs",
    ];
    for (file, line) in &takes {
        assert!(allowed.contains(&file.as_str()), "{file}: {line}");
    }
    // Positive control: the search finds existing uses.
    assert!(takes.iter().any(|(file, _)| file.ends_with("world.rs")));
}

#[test]
fn worlds_are_stepped_in_one_place() {
    let steps = lines_with(&["world.step()", "world.step_watched(", "World::step("]);
    let calls: Vec<_> = steps
        .iter()
        .filter(|(_, line)| !line.starts_with("//"))
        .collect();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(calls[0].0, "runtime/simulation/src/session.rs");
}

#[test]
fn poses_are_asked_of_the_level_of_dynamics() {
    // The column contains only some levels; `Bodies::pose` covers all of them.
    let reads = lines_with(&["motion"]);
    let is_pose = |line: &str| {
        line.contains("motion.pose") || line.contains(").pose") || {
            line.contains(".motion[") && line.contains(".pose")
        }
    };
    let poses: Vec<_> = reads.iter().filter(|(_, line)| is_pose(line)).collect();
    let may = [
        "runtime/simulation/src/dynamics/",
        // There, `one_track` has just placed the body.
        "runtime/simulation/src/stages/advance.rs",
        // Uses `Bodies::motion_at`.
        "runtime/simulation/src/report.rs",
    ];
    for (file, line) in &poses {
        let is_level = may.iter().any(|known| file.starts_with(known));
        assert!(is_level, "{file}: {line}");
    }
    assert!(!poses.is_empty());
}
