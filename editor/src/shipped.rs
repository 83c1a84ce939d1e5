//! The scenarios that ship, built in so that the editor needs no files to start with.

use crate::document::Document;
use roadwright_scenario::vehicle_file::SHIPPED;
use roadwright_scenario::{Scenario, file};

/// A scenario that ships.
pub struct Shipped {
    /// Name of its file.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    text: &'static str,
}

/// All of them; the first one is shown at the start.
pub const ALL: [Shipped; 18] = [
    Shipped {
        name: "old-town",
        about: "A small town with 150 drivers of three kinds",
        text: include_str!("../../scenarios/old-town.scenario.json"),
    },
    Shipped {
        name: "rush-hour",
        about: "Commuters, learners, a bus line and an ambulance, driven by scripts",
        text: include_str!("../../scenarios/rush-hour.scenario.json"),
    },
    Shipped {
        name: "chase",
        about: "Two pursuers hunt an evader, driven by scripts",
        text: include_str!("../../scenarios/chase.scenario.json"),
    },
    Shipped {
        name: "convoy",
        about: "Six cars keep together, driven by a script",
        text: include_str!("../../scenarios/convoy.scenario.json"),
    },
    Shipped {
        name: "crossroads",
        about: "One junction, traffic from four sides",
        text: include_str!("../../scenarios/crossroads.scenario.json"),
    },
    Shipped {
        name: "linden-street",
        about: "A street corner: signals, turn lanes, cycle lanes, people",
        text: include_str!("../../scenarios/linden-street.scenario.json"),
    },
    Shipped {
        name: "motorway-m4",
        about: "Slip roads join a motorway and leave it",
        text: include_str!("../../scenarios/motorway-m4.scenario.json"),
    },
    Shipped {
        name: "station-road",
        about: "A roundabout with zebras",
        text: include_str!("../../scenarios/station-road.scenario.json"),
    },
    Shipped {
        name: "crossings",
        about: "People on foot cross at zebras and at signals",
        text: include_str!("../../scenarios/crossings.scenario.json"),
    },
    Shipped {
        name: "all-junctions",
        about: "A junction of every kind, each under traffic",
        text: include_str!("../../scenarios/all-junctions.scenario.json"),
    },
    Shipped {
        name: "roundabouts",
        about: "Roundabouts of three sizes",
        text: include_str!("../../scenarios/roundabouts.scenario.json"),
    },
    Shipped {
        name: "signal-corridor",
        about: "An avenue with a wave of green",
        text: include_str!("../../scenarios/signal-corridor.scenario.json"),
    },
    Shipped {
        name: "figure-eight",
        about: "A course with a bridge over itself",
        text: include_str!("../../scenarios/figure-eight.scenario.json"),
    },
    Shipped {
        name: "obstacle-field",
        about: "Open ground with obstacles, trees and hills",
        text: include_str!("../../scenarios/obstacle-field.scenario.json"),
    },
    Shipped {
        name: "hill-country",
        about: "A jeep and a bus with engines among hills, houses and posts",
        text: include_str!("../../scenarios/hill-country.scenario.json"),
    },
    Shipped {
        name: "proving-ground",
        about: "An oval, a skid pad, cones, gravel, ice, ridges and a hill",
        text: include_str!("../../scenarios/proving-ground.scenario.json"),
    },
    Shipped {
        name: "kart-track",
        about: "Racers slide round a track and chase soapbox karts",
        text: include_str!("../../scenarios/kart-track.scenario.json"),
    },
    Shipped {
        name: "trailer-yard",
        about: "Trucks, articulated buses and caravans in streets and slaloms",
        text: include_str!("../../scenarios/trailer-yard.scenario.json"),
    },
];

impl Shipped {
    /// The scenario.
    pub fn scenario(&self) -> Scenario {
        let vehicles: Vec<_> = SHIPPED.iter().map(|v| (v.path, v.text)).collect();
        file::from_text_with(self.text, &vehicles).expect("a shipped scenario is a scenario")
    }
}

/// A document of a shipped scenario: it belongs to no file, so that saving asks for one.
pub fn document(index: usize) -> Document {
    Document::new(ALL[index.min(ALL.len() - 1)].scenario())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shipped_scenarios_open() {
        for index in 0..ALL.len() {
            assert!(document(index).scenario().bounds().is_some());
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios");
        let files = std::fs::read_dir(folder).expect("scenarios ship with the program");
        let paths = files.filter_map(|entry| Some(entry.ok()?.path()));
        let scenarios = paths.filter(|path| path.to_string_lossy().ends_with(".scenario.json"));
        assert_eq!(
            scenarios.count(),
            ALL.len(),
            "the welcome panel shows them all"
        );
    }
}
