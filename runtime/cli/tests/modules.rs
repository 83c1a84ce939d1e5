//! Checks that the modules of a crate form layers, as crates do.

use crate::common::{files_below, root};
use crate::tidy::code_of;
use crate::world_access::without_tests;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A crate whose top-level modules may use only modules of lower layers.
struct Layered {
    /// Folder of the crate, relative to the root of the project.
    folder: &'static str,
    /// Modules from the bottom up. A module may use modules of earlier lines, but no other module in its own
    /// line.
    layers: &'static [&'static [&'static str]],
}

const CRATES: &[Layered] = &[SCENARIO, SIMULATION, EDITOR_CORE, EDITOR];

const SCENARIO: Layered = Layered {
    folder: "runtime/scenario",
    layers: &[
        // Vocabulary of files.
        &[
            "defaults",
            "driving_side",
            "ids",
            "index",
            "json_text",
            "lane_type",
            "named",
            "quantity",
            "unique_map",
        ],
        &["body_kind", "gait", "parameter_values", "week_times"],
        &[
            "access",
            "country",
            "dynamics",
            "group",
            "land",
            "list_order",
            "objects",
            "off_road",
            "paint",
            "restriction",
            "stack",
            "turn",
        ],
        // Records of files.
        &["agents", "junction_rules", "road", "vehicle_file"],
        &["move_library"],
        &["grip", "lane_rules", "network", "vehicle_type"],
        &["road_boxes", "scenario", "vertical_span", "via_rules"],
        // Derived data, and changes of a scenario.
        &["edit", "junction", "map_part"],
        &[
            "file",
            "green_wave",
            "grip_map",
            "history",
            "lane_graph",
            "operation",
        ],
        &["alleys"],
        &["check"],
    ],
};

const SIMULATION: Layered = Layered {
    folder: "runtime/simulation",
    layers: &[
        // Records known to all modules.
        &["options"],
        &["records"],
        &["hash", "slope_cost"],
        &["vehicle_type"],
        &["route"],
        &["agents"],
        &["clock"],
        &["snapshot"],
        &["channels", "hands"],
        &["dynamics"],
        &["coupling"],
        &["summary"],
        &["fixed"],
        &["modules"],
        &["traffic"],
        &["demand"],
        &["messages"],
        &["open_ground"],
        &["move_trees"],
        &["setup"],
        &["perception"],
        &["stages"],
        &["standing"],
        &["edit"],
        &["fitness"],
        &["stage"],
        &["world"],
        // Modules that only read a world.
        &["session"],
        &["heat_map"],
        &["inspect"],
        &["junction_watch"],
        &["lamps"],
        &["planned_route"],
        &["lane_choice", "trip_finder"],
        &["report"],
        &["save"],
        &["statistics"],
        &["check", "unmet"],
    ],
};

const EDITOR_CORE: Layered = Layered {
    folder: "editor/core",
    layers: &[
        &[
            "camera",
            "damaged",
            "document",
            "gamepad",
            "import_report",
            "input",
            "live",
            "lookout",
            "panel",
            "route_source",
            "scene",
            "trusted_folders",
            "worker",
            "workshop",
        ],
        &[
            "autosave",
            "experiment",
            "moves",
            "race",
            "shipped",
            "tools",
        ],
        &["command", "kind_edits"],
        &["settings"],
        &["extensions", "map"],
    ],
};

const EDITOR: Layered = Layered {
    folder: "editor",
    layers: &[
        &["tone"],
        // Modules that need nothing of the editor.
        &[
            "arrangement",
            "clock",
            "drawn_route",
            "folder_list",
            "icons",
            "kept_runs",
            "map_view",
            "paths",
            "theme",
            "window_keys",
        ],
        // Drawing of the map.
        &["background", "map", "marks"],
        // The state that panels read, and their actions.
        &[
            "ground_marks",
            "labels",
            "model",
            "move_marks",
            "race_marks",
        ],
        &["command_button"],
        // Widgets.
        &[
            "afterimage",
            "hand",
            "hidden_chip",
            "jobs",
            "messages",
            "minimap",
            "object_menu",
            "problem_marks",
            "requests",
            "selection_bar",
            "vehicle_menu",
        ],
        &["canvas"],
        &["panels"],
        &["coordinator_marks", "view"],
        &["context", "input_order", "keyboard"],
        // Subjects.
        &[
            "edit_commands",
            "folder_reader",
            "module_actions",
            "move_desk",
            "planned_routes",
            "playing",
            "racing",
            "run_keeping",
            "shop",
            "showing",
            "view_actions",
        ],
        &[
            "arrange",
            "derived",
            "group_edits",
            "laboratory",
            "left_document",
            "random_trips",
            "selection",
            "sharing",
        ],
        &["document_flow"],
        // The application.
        &["app"],
        &["actions", "outcomes"],
    ],
};

/// Returns the code of a source without comments, strings and tests.
fn code(source: &str) -> String {
    code_of(&without_tests(source).join("\n"))
}

/// Returns the first word of a string.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Returns the names after `crate::` in code, including those in braces.
fn used(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            names.insert(word(rest));
            continue;
        };
        // Only the first word of each part of a group is a name in the crate.
        let mut depth = 0;
        let mut is_first = true;
        for (place, sign) in group.char_indices() {
            match sign {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => is_first = true,
                sign if is_first && depth == 0 && !sign.is_whitespace() => {
                    names.insert(word(&group[place..]));
                    is_first = false;
                }
                _ => {}
            }
        }
    }
    names
}

/// Returns the modules of a crate and, for each name at its root, the module that defines it.
fn modules(lib: &str) -> (BTreeSet<String>, BTreeMap<String, String>) {
    let code = code(lib);
    let mut modules = BTreeSet::new();
    let mut names = BTreeMap::new();
    // A comment before a statement leaves a `_`.
    let is_filler = |c: char| c == '_' || c.is_whitespace();
    for statement in code.split(';') {
        let statement = statement.trim_start_matches(is_filler).trim_end();
        let statement = statement.trim_start_matches("pub ");
        if let Some(module) = statement.strip_prefix("mod ") {
            modules.insert(word(module).to_owned());
        } else if let Some(path) = statement.strip_prefix("use ") {
            let (module, rest) = path.split_once("::").unwrap_or((path, ""));
            let separators = |c: char| !c.is_alphanumeric() && c != '_';
            let all = rest.split(separators).filter(|name| !name.is_empty());
            names.extend(all.map(|name| (name.to_owned(), module.to_owned())));
        }
    }
    (modules, names)
}

/// Returns the top-level module to which a source belongs; `None` for the root of the crate and for tests.
fn module_of(source: &Path, src: &Path) -> Option<String> {
    let inside = source.strip_prefix(src).unwrap();
    let parts: Vec<_> = inside.iter().map(|part| part.to_str().unwrap()).collect();
    let is_test = |part: &&str| part.trim_end_matches(".rs").ends_with("tests");
    let module = parts[0].trim_end_matches(".rs");
    let is_left_out = ["lib", "testing"].contains(&module) || parts.iter().any(is_test);
    (!is_left_out).then(|| module.to_owned())
}

/// Returns the violations of the layers between the modules of a crate.
fn faults(src: &Path, layers: &[&[&str]]) -> Vec<String> {
    let (modules, names) = modules(&std::fs::read_to_string(src.join("lib.rs")).unwrap());
    let layer = |module: &str| layers.iter().position(|layer| layer.contains(&module));
    let mut faults = Vec::new();
    for module in &modules {
        if layer(module).is_none() {
            faults.push(format!("{module} has no place in the layers"));
        }
    }
    for module in layers.iter().copied().flatten() {
        if !modules.contains(*module) {
            faults.push(format!("{module} is in the layers and not there"));
        }
    }
    let mut files: Vec<PathBuf> = Vec::new();
    files_below(src.to_owned(), &["rs"], &mut files);
    for file in files {
        let Some(own) = module_of(&file, src) else {
            continue;
        };
        let code = code(&std::fs::read_to_string(&file).unwrap());
        for name in used(&code) {
            let module = names.get(name).map_or(name, String::as_str);
            if module == own || !modules.contains(module) {
                continue;
            }
            if layer(module) >= layer(&own) {
                let file = file.strip_prefix(src).unwrap().display();
                faults.push(format!(
                    "{own} must not build on {module} ({name} in {file})"
                ));
            }
        }
    }
    faults
}

#[test]
fn arrows_between_modules_point_one_way() {
    for layered in CRATES {
        let faults = faults(&root().join(layered.folder).join("src"), layered.layers);
        assert!(faults.is_empty(), "{}: {faults:#?}", layered.folder);
    }
}

#[test]
fn an_order_that_is_turned_round_is_seen() {
    let mut turned = SIMULATION.layers.to_vec();
    turned.swap(1, 4);
    let src = root().join(SIMULATION.folder).join("src");
    assert!(!faults(&src, &turned).is_empty());
}

#[test]
fn an_arrow_that_points_up_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "lib.rs",
        "mod high;\npub mod low;\npub use high::{Thing, Other};\n",
    );
    write("high.rs", "use crate::low::Least;\n");
    write(
        "low.rs",
        "// crate::high\nconst A: &str = \"crate::high\";\n#[cfg(test)]\nmod tests {\n    use crate::high;\n}\n",
    );
    assert_eq!(faults(folder.path(), &[&["low"], &["high"]]), [""; 0]);
    write("low.rs", "use crate::{std_like::X, Other};\n");
    assert_eq!(
        faults(folder.path(), &[&["low"], &["high"]]),
        ["low must not build on high (Other in low.rs)"]
    );
    assert_eq!(
        faults(folder.path(), &[&["low"]])[0],
        "high has no place in the layers"
    );
}
