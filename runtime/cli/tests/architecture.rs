//! Checks that dependencies between crates point one way, and that ARCHITECTURE.md names existing crates and
//! paths.

use crate::common::{files_below, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Returns the platform of this test. Crates for other platforms are not downloaded.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.expect("rustc names its host").to_owned()
}

fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .args(["--filter-platform", &host()])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the direct dependencies that one of our crates may have.
fn allowed(name: &str) -> &'static [&'static str] {
    match name {
        "roadwright-files"
        | "roadwright-geometry"
        | "roadwright-plugin-api"
        | "roadwright-testing" => &[],
        "roadwright-plugin-sdk" => &["plugin-api"],
        // Example plugins may use the same crates as plugin authors.
        "pure-pursuit" | "orca" | "lattice-planner" | "comfort-fitness" | "rw-chaos" => {
            &["plugin-sdk"]
        }
        // The tests step worlds, and compare the built-in modules with their replacements.
        "roadwright-extension" => &[
            "files",
            "geometry",
            "scenario",
            "plugin-api",
            "agent",
            "control",
            "simulation",
            "plugin-sdk",
        ],
        "roadwright-scenario" => &["files", "geometry"],
        // The tests know the built-in modules.
        "roadwright-bundle" => &["files", "scenario", "agent", "extension", "simulation"],
        "roadwright-interchange" => &["files", "geometry", "scenario"],
        "roadwright-agent" => &["geometry", "scenario", "plugin-api"],
        "roadwright-vehicle" | "roadwright-control" | "roadwright-planning" => {
            &["geometry", "scenario", "plugin-api", "agent"]
        }
        "roadwright-moves" => &["geometry", "scenario", "vehicle"],
        "roadwright-ground" => &["geometry", "scenario", "agent", "vehicle", "planning"],
        // A bench imports a city.
        "roadwright-simulation" => &[
            "geometry",
            "ground",
            "interchange",
            "scenario",
            "plugin-api",
            "agent",
            "vehicle",
            "control",
            "planning",
            "moves",
        ],
        "roadwright-recording" => &["scenario", "agent", "simulation"],
        "roadwright-training" => &[
            "files",
            "geometry",
            "scenario",
            "plugin-api",
            "agent",
            "control",
            "planning",
            "moves",
            "simulation",
        ],
        "roadwright-render" => &["geometry", "scenario", "simulation"],
        "roadwright-editor-core" => &[
            "bundle",
            "files",
            "geometry",
            "scenario",
            "interchange",
            "agent",
            "vehicle",
            "moves",
            "simulation",
            "recording",
            "training",
            "extension",
            "render",
        ],
        "roadwright-editor" => &[
            "editor-core",
            "bundle",
            "files",
            "geometry",
            "scenario",
            "plugin-api",
            "interchange",
            "agent",
            "vehicle",
            "control",
            "moves",
            "simulation",
            "recording",
            "training",
            "extension",
            "render",
        ],
        // The library: everything below the editor, without drawing.
        "roadwright" => &[
            "extension",
            "geometry",
            "scenario",
            "plugin-api",
            "agent",
            "simulation",
        ],
        "roadwright-cli" => &[
            "bundle",
            "editor",
            "extension",
            "files",
            "geometry",
            "scenario",
            "plugin-api",
            "interchange",
            "agent",
            "vehicle",
            "control",
            "moves",
            "planning",
            "simulation",
            "training",
            "render",
        ],
        // Parsers of untrusted bytes, and their fuzz targets.
        "roadwright-fuzz" => &[
            "bundle",
            "extension",
            "interchange",
            "scenario",
            "simulation",
            "training",
            "vehicle",
        ],
        other => {
            panic!("{other} has no place in the layers: give it one here and in ARCHITECTURE.md")
        }
    }
}

fn members(metadata: &Value) -> BTreeMap<String, &Value> {
    let ids: BTreeSet<&str> = metadata["workspace_members"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .filter(|package| ids.contains(package["id"].as_str().unwrap()))
        .map(|package| (package["name"].as_str().unwrap().to_owned(), package))
        .collect()
}

#[test]
fn arrows_point_one_way() {
    let metadata = metadata();
    for (name, package) in members(&metadata) {
        let allowed = allowed(&name);
        for dependency in package["dependencies"].as_array().unwrap() {
            let on = dependency["name"].as_str().unwrap();
            // None of our crates builds on the library, which is for other projects.
            assert_ne!(on, "roadwright", "{name} must not build on {on}");
            // Any test may use shared test code and the fuzzed readers, which use nothing but tests.
            if ["roadwright-testing", "roadwright-fuzz"].contains(&on) {
                assert_eq!(dependency["kind"], "dev", "{name} must not build on {on}");
                continue;
            }
            if let Some(short) = on.strip_prefix("roadwright-") {
                assert!(allowed.contains(&short), "{name} must not build on {on}");
            }
        }
    }
}

#[test]
fn nothing_below_the_editor_reaches_egui() {
    let metadata = metadata();
    let nodes: BTreeMap<&str, Vec<&str>> = metadata["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| {
            let dependencies = node["dependencies"].as_array().unwrap().iter();
            (
                node["id"].as_str().unwrap(),
                dependencies.filter_map(Value::as_str).collect(),
            )
        })
        .collect();
    let reached = |package: &Value| -> Option<String> {
        let mut open = vec![package["id"].as_str().unwrap()];
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                let is_ui = ["egui", "eframe", "epaint", "wgpu"]
                    .iter()
                    .any(|ui| id.contains(&format!("#{ui}@")));
                if is_ui {
                    return Some(id.to_owned());
                }
                open.extend(&nodes[id]);
            }
        }
        None
    };
    for (name, package) in members(&metadata) {
        // Only the program may open the editor. Both are found to reach it, which shows that the search
        // works.
        let may = ["roadwright-editor", "roadwright-cli"].contains(&name.as_str());
        assert_eq!(
            reached(package).is_some(),
            may,
            "{name}: {:?}",
            reached(package)
        );
    }
}

/// Returns the paths that a document names in code spans.
fn paths_named(document: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(document)).unwrap();
    let words = text.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let stops = [" ", "*", "::", "<"];
        word.contains('/') && !stops.iter().any(|stop| word.contains(stop))
    };
    words.filter(is_path).map(str::to_owned).collect()
}

#[test]
fn documents_name_what_there_is() {
    for (document, at_least) in [
        ("ARCHITECTURE.md", 25),
        ("docs/glossary.md", 80),
        ("docs/sources.md", 30),
        ("docs/contributing.md", 30),
    ] {
        let named = paths_named(document);
        for path in &named {
            let exists = root().join(path).exists();
            assert!(exists, "{document} names {path}, which does not exist");
        }
        let count = named.len();
        assert!(count >= at_least, "{document}: only {count} paths found");
    }
}

#[test]
fn the_architecture_document_names_all_crates() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for name in members(&metadata()).keys() {
        let is_named = [format!("**{name}**"), format!("`{name}`")]
            .iter()
            .any(|written| text.contains(written));
        assert!(is_named, "{name} has no paragraph in ARCHITECTURE.md");
    }
}

/// Returns the keys of works that a text cites, such as `[Gerdelan 2011]`: a name and a year or version in
/// brackets.
fn citations(text: &str) -> BTreeSet<&str> {
    let spans = text.split('[').skip(1).filter_map(|rest| {
        let (inside, _) = rest.split_once(']')?;
        let (name, number) = inside.split_once(' ')?;
        let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(char::is_alphanumeric);
        let is_number = number.starts_with(|c: char| c.is_ascii_digit())
            && number
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, '.' | '-'));
        (is_name && is_number).then_some(inside)
    });
    spans.collect()
}

/// Returns the files in a test folder that are neither named in its `main.rs` nor separate test
/// binaries.
fn tests_left_out(tests: &Path) -> Vec<String> {
    let program = std::fs::read_to_string(tests.join("main.rs")).unwrap();
    let manifest = std::fs::read_to_string(tests.join("../Cargo.toml")).unwrap();
    let files = std::fs::read_dir(tests).unwrap();
    let names = files.filter_map(|file| {
        let name = file.unwrap().file_name().into_string().unwrap();
        Some(name.strip_suffix(".rs")?.to_owned())
    });
    names
        .filter(|name| {
            name != "main"
                && !program.contains(&format!("\nmod {name};\n"))
                && !manifest.contains(&format!("\npath = \"tests/{name}.rs\"\n"))
        })
        .collect()
}

#[test]
fn no_file_of_tests_is_left_out() {
    let mut programs = 0;
    let crates = std::fs::read_dir(root().join("runtime")).unwrap();
    let crates = crates.map(|folder| folder.unwrap().path());
    for folder in crates.chain([root().join("editor")]) {
        let tests = folder.join("tests");
        if tests.join("main.rs").exists() {
            let left_out = tests_left_out(&tests);
            assert!(left_out.is_empty(), "{}: {left_out:?}", tests.display());
            programs += 1;
        }
    }
    assert_eq!(programs, 9);
    // An omitted file is found.
    let folder = tempfile::tempdir().unwrap();
    let tests = folder.path().join("tests");
    std::fs::create_dir(&tests).unwrap();
    for (name, text) in [
        ("main.rs", "//! All.\n\nmod a;\n"),
        ("a.rs", ""),
        ("b.rs", ""),
        ("c.rs", ""),
        (
            "../Cargo.toml",
            "[[test]]\nname = \"c\"\npath = \"tests/c.rs\"\n",
        ),
    ] {
        std::fs::write(tests.join(name), text).unwrap();
    }
    assert_eq!(tests_left_out(&tests), ["b"]);
}

#[test]
fn every_work_that_is_cited_has_its_data_in_the_bibliography() {
    let sources = std::fs::read_to_string(root().join("docs/sources.md")).unwrap();
    let mut files = Vec::new();
    for folder in ["docs", "editor", "plugins", "runtime"] {
        let extensions = ["rs", "md", "c", "cpp", "h"];
        files_below(root().join(folder), &extensions, &mut files);
    }
    files.extend(["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|file| root().join(file)));
    let mut cited = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for key in citations(&text) {
            cited += 1;
            assert!(
                sources.contains(&format!("**[{key}]**")),
                "{} cites [{key}], which is not in docs/sources.md",
                file.display()
            );
        }
    }
    assert!(cited > 20, "only {cited} citations found");
}

#[test]
fn citations_are_recognised() {
    let text = "as in [Gerdelan 2011], table 8.3; [OpenDRIVE 1.8]; [ISO 3166-1]; [u8; 8], [a 1], \
                [docs](x), [Vec 3x]";
    let expected = ["Gerdelan 2011", "ISO 3166-1", "OpenDRIVE 1.8"];
    assert_eq!(citations(text), BTreeSet::from(expected));
}

/// Returns the enabled features of an external package.
fn features<'a>(metadata: &'a Value, package: &str) -> Vec<&'a str> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let own = nodes.iter().find(|node| {
        let id = node["id"].as_str().unwrap();
        id.contains(&format!("#{package}@")) || id.contains(&format!("/{package}#"))
    });
    let features = own.expect(package)["features"].as_array().unwrap();
    features.iter().filter_map(Value::as_str).collect()
}

#[test]
fn the_window_has_the_systems_clipboard() {
    let metadata = metadata();
    // Without this feature, copying between programs silently does nothing.
    assert!(features(&metadata, "egui-winit").contains(&"clipboard"));
    // The check itself works, because a feature that is off is not found. Links are never opened.
    assert!(!features(&metadata, "egui-winit").contains(&"links"));
}

/// Returns the lines of a source outside its tests that open or read a file directly.
fn reads_by_itself(text: &str) -> Vec<&str> {
    let own = text.split("#[cfg(test)]").next().unwrap_or_default();
    let calls = [
        "fs::read(",
        "fs::read_to_string(",
        "File::open(",
        "OpenOptions::new()",
    ];
    let lines = own.lines().map(str::trim);
    let code = lines.filter(|line| !line.starts_with("//"));
    code.filter(|line| calls.iter().any(|call| line.contains(call)))
        .collect()
}

/// Sources that may open files directly, because they limit the amount that they read.
const READERS: [(&str, &str); 6] = [
    (
        "runtime/files/src/",
        "the crate that does it for all others",
    ),
    (
        "runtime/simulation/src/world/stage_table_tests.rs",
        "a test",
    ),
    ("runtime/extension/src/native/examine/costs.rs", "/proc"),
    ("runtime/extension/src/native/limits.rs", "/proc"),
    (
        "runtime/extension/src/native/ends.rs",
        "a lock; it is a file",
    ),
    (
        "runtime/extension/src/quarantine.rs",
        "a lock; it is a file",
    ),
];

#[test]
fn files_from_outside_are_read_in_one_place() {
    let mut files = Vec::new();
    let crates = std::fs::read_dir(root().join("runtime")).unwrap();
    let crates = crates.map(|folder| folder.unwrap().path());
    for folder in crates.chain([root().join("editor"), root().join("editor/core")]) {
        files_below(folder.join("src"), &["rs"], &mut files);
    }
    assert!(files.len() > 300, "only {} sources", files.len());
    let mut needed = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let found = reads_by_itself(&text);
        let path = file.strip_prefix(root()).unwrap().display().to_string();
        if found.is_empty() {
            continue;
        }
        let reader = READERS.iter().find(|(reader, _)| path.starts_with(reader));
        needed.extend(reader);
        assert!(
            reader.is_some(),
            "{path} reads a file by itself; a pipe there would hang it, so call roadwright-files: \
             {found:?}"
        );
    }
    let all: BTreeSet<_> = READERS.iter().collect();
    assert_eq!(needed, all, "some need no exception any more");
    // The search finds a call in code, and skips comments and tests.
    let sample = "let a = std::fs::read(path);\n// fs::read(b)\n#[cfg(test)]\nFile::open(c)";
    assert_eq!(reads_by_itself(sample), ["let a = std::fs::read(path);"]);
}
