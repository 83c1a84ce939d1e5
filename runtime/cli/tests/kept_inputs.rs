//! Regression tests for fuzzing: each kept input goes through its reader again.

use crate::common::root;
use roadwright_fuzz as readers;
use std::path::{Path, PathBuf};

/// A reader, and the folders that contain its inputs.
type Target = (fn(&[u8]), &'static [&'static str]);

const TARGETS: [Target; 12] = [
    (readers::scenario, &["fuzz/corpus/scenario", "scenarios"]),
    (readers::osm_xml, &["fuzz/corpus/osm_xml"]),
    (readers::osm_pbf, &["fuzz/corpus/osm_pbf"]),
    (readers::script, &["fuzz/corpus/script", "scripts"]),
    (readers::plugin_file, &["runtime/extension/tests/abi"]),
    (readers::save, &["fuzz/corpus/save"]),
    (readers::bundle, &["fuzz/corpus/bundle"]),
    (
        readers::vehicle,
        &["fuzz/corpus/vehicle", "scenarios/vehicles"],
    ),
    (readers::bvh, &["scenarios/gaits"]),
    (readers::experiment, &["experiments"]),
    (readers::record, &["fuzz/corpus/record"]),
    (readers::results, &["fuzz/corpus/results"]),
];

fn inputs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    files.filter(|path| path.is_file()).collect()
}

#[test]
fn every_input_is_refused_or_holds() {
    for (reader, folders) in TARGETS {
        for folder in folders {
            let inputs = inputs(&root().join(folder));
            assert!(!inputs.is_empty(), "{folder} holds nothing");
            for input in inputs {
                // Printed so that the input is known if the reader panics.
                println!("{}", input.display());
                reader(&std::fs::read(input).unwrap());
            }
        }
    }
}

#[test]
fn no_folder_of_inputs_is_left_out() {
    let entries = std::fs::read_dir(root().join("fuzz/corpus")).unwrap();
    for entry in entries {
        let name = format!("fuzz/corpus/{}", entry.unwrap().file_name().display());
        let is_read = |(_, folders): &Target| folders.contains(&name.as_str());
        assert!(TARGETS.iter().any(is_read), "{name} goes through no reader");
    }
}
