//! Writes the shipped scenarios: `cargo run --example shipped_scenarios -- scenarios`.
//!
//! The scenarios are drawn with the functions that the editor's tools use, so most changes take only a line
//! of code. A test checks that the files equal the output of this program.

#[path = "shipped_scenarios/builder.rs"]
mod builder;
#[path = "shipped_scenarios/car_park.rs"]
mod car_park;
#[path = "shipped_scenarios/hills.rs"]
mod hills;
#[path = "shipped_scenarios/houses.rs"]
mod houses;
#[path = "shipped_scenarios/junctions.rs"]
mod junctions;
#[path = "shipped_scenarios/karts.rs"]
mod karts;
#[path = "shipped_scenarios/old_town.rs"]
mod old_town;
#[path = "shipped_scenarios/proving.rs"]
mod proving;
#[path = "shipped_scenarios/scripted.rs"]
mod scripted;
#[path = "shipped_scenarios/short_cut.rs"]
mod short_cut;
#[path = "shipped_scenarios/small.rs"]
mod small;
#[path = "shipped_scenarios/streets.rs"]
mod streets;
#[path = "shipped_scenarios/trailers.rs"]
mod trailers;

use roadwright_scenario::{DrivingSide, Scenario, file};
use std::path::PathBuf;

/// All shipped scenarios with their file names.
pub(crate) fn all() -> Vec<(&'static str, Scenario)> {
    vec![
        (
            "all-junctions",
            junctions::all_junctions(DrivingSide::Right),
        ),
        (
            "all-junctions-left",
            junctions::all_junctions(DrivingSide::Left),
        ),
        ("car-park", car_park::car_park()),
        ("chase", scripted::chase()),
        ("convoy", scripted::convoy()),
        ("crossings", junctions::crossings()),
        ("crossroads", small::crossroads()),
        ("figure-eight", small::figure_eight()),
        ("kart-track", karts::kart_track()),
        ("linden-street", streets::linden_street()),
        ("motorway-m4", streets::motorway_m4()),
        ("hill-country", hills::hill_country()),
        ("obstacle-field", small::obstacle_field()),
        ("old-town", old_town::old_town()),
        ("proving-ground", proving::proving_ground()),
        ("roundabouts", junctions::roundabouts()),
        ("rush-hour", scripted::rush_hour()),
        ("short-cut", short_cut::short_cut()),
        ("signal-corridor", junctions::signal_corridor()),
        ("station-road", streets::station_road()),
        ("trailer-yard", trailers::trailer_yard()),
    ]
}

fn main() -> Result<(), file::FileError> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .unwrap_or_else(|| "scenarios".into()),
    );
    for (name, scenario) in all() {
        file::save(&scenario, &folder.join(format!("{name}.scenario.json")))?;
    }
    Ok(())
}
