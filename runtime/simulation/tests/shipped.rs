//! The shipped files are what their program writes.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "../examples/shipped_scenarios/builder.rs"]
mod builder;
#[path = "../examples/shipped_scenarios/hills.rs"]
mod hills;
#[path = "../examples/shipped_scenarios/junctions.rs"]
mod junctions;
#[path = "../examples/shipped_scenarios/old_town.rs"]
mod old_town;
#[path = "../examples/shipped_scenarios/scripted.rs"]
mod scripted;
#[path = "../examples/shipped_scenarios/small.rs"]
mod small;

use roadwright_scenario::{Scenario, file};
use std::path::PathBuf;

#[test]
fn files_are_up_to_date() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let scenarios: [(&str, Scenario); 11] = [
        ("all-junctions", junctions::all_junctions()),
        ("roundabouts", junctions::roundabouts()),
        ("signal-corridor", junctions::signal_corridor()),
        ("crossings", junctions::crossings()),
        ("chase", scripted::chase()),
        ("convoy", scripted::convoy()),
        ("rush-hour", scripted::rush_hour()),
        ("crossroads", small::crossroads()),
        ("figure-eight", small::figure_eight()),
        ("obstacle-field", small::obstacle_field()),
        ("old-town", old_town::old_town()),
    ];
    for (name, scenario) in scenarios {
        let text = std::fs::read_to_string(folder.join(format!("{name}.scenario.json"))).unwrap();
        assert!(
            text == file::to_text(&scenario),
            "scenarios/{name}.scenario.json is out of date; renew with: \
             cargo run --release -p roadwright-simulation --example shipped_scenarios -- scenarios"
        );
    }
    // Its vehicles stand in files of their own, which a text without a folder holds whole.
    let hills = file::load(&folder.join("hill-country.scenario.json")).unwrap();
    assert!(
        file::to_text(&hills) == file::to_text(&hills::hill_country()),
        "scenarios/hill-country.scenario.json is out of date"
    );
}
