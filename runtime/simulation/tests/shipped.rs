//! Checks that the shipped files equal the output of the program that writes them.

use roadwright_scenario::file;
use std::path::PathBuf;

#[test]
fn files_are_up_to_date() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let scenarios = crate::shipped_scenarios::all();
    for (name, scenario) in &scenarios {
        let path = folder.join(format!("{name}.scenario.json"));
        let text = std::fs::read_to_string(&path).unwrap();
        // If the folder is unknown, a text contains all data of vehicles that have files of their
        // own.
        let kept = match text.contains(".vehicle.json") {
            true => file::to_text(&file::load(&path).unwrap()),
            false => text,
        };
        assert!(
            kept == file::to_text(scenario),
            "scenarios/{name}.scenario.json is out of date; renew with: \
             cargo run --release -p roadwright-simulation --example shipped_scenarios -- scenarios"
        );
    }
    // The folder contains no files that the program does not write.
    let files = std::fs::read_dir(folder).unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.ends_with(".scenario.json").then_some(name)
    });
    assert_eq!(files.count(), scenarios.len());
}
