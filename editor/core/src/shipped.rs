//! The shipped scenarios, which are built in so that the editor needs no files to start.

use crate::document::Document;
use roadwright_scenario::vehicle_file::SHIPPED;
use roadwright_scenario::{Scenario, file};

/// A shipped scenario.
pub struct Shipped {
    /// Name of the scenario's file.
    pub name: &'static str,
    /// Description for the list of scenarios.
    pub about: &'static str,
    /// Width of the map area in the scenario's picture, m. The area is centred where most vehicles
    /// are. `None` for the whole map.
    pub close_up: Option<f64>,
    text: &'static str,
}

/// All shipped scenarios; the first is shown at startup.
pub const ALL: [Shipped; 21] = [
    Shipped {
        name: "old-town",
        about: "A small town with 150 drivers of three kinds",
        close_up: None,
        text: include_str!("../../../scenarios/old-town.scenario.json"),
    },
    Shipped {
        name: "rush-hour",
        about: "Commuters, learners, a bus line and an ambulance, driven by scripts",
        close_up: Some(160.0),
        text: include_str!("../../../scenarios/rush-hour.scenario.json"),
    },
    Shipped {
        name: "chase",
        about: "Two pursuers hunt an evader, driven by scripts",
        close_up: Some(160.0),
        text: include_str!("../../../scenarios/chase.scenario.json"),
    },
    Shipped {
        name: "convoy",
        about: "Six cars in a convoy, driven by a script",
        close_up: Some(110.0),
        text: include_str!("../../../scenarios/convoy.scenario.json"),
    },
    Shipped {
        name: "crossroads",
        about: "One junction with traffic from four sides",
        close_up: None,
        text: include_str!("../../../scenarios/crossroads.scenario.json"),
    },
    Shipped {
        name: "linden-street",
        about: "A street corner: signals, turn lanes, cycle lanes, pedestrians",
        close_up: None,
        text: include_str!("../../../scenarios/linden-street.scenario.json"),
    },
    Shipped {
        name: "motorway-m4",
        about: "A motorway with slip roads that join and leave it",
        close_up: None,
        text: include_str!("../../../scenarios/motorway-m4.scenario.json"),
    },
    Shipped {
        name: "station-road",
        about: "A roundabout with zebra crossings",
        close_up: None,
        text: include_str!("../../../scenarios/station-road.scenario.json"),
    },
    Shipped {
        name: "crossings",
        about: "Pedestrians at zebra crossings and signals",
        close_up: None,
        text: include_str!("../../../scenarios/crossings.scenario.json"),
    },
    Shipped {
        name: "all-junctions",
        about: "Every kind of junction, with traffic",
        close_up: None,
        text: include_str!("../../../scenarios/all-junctions.scenario.json"),
    },
    Shipped {
        name: "all-junctions-left",
        about: "Every kind of junction, in left-hand traffic",
        close_up: None,
        text: include_str!("../../../scenarios/all-junctions-left.scenario.json"),
    },
    Shipped {
        name: "roundabouts",
        about: "Roundabouts of three sizes",
        close_up: None,
        text: include_str!("../../../scenarios/roundabouts.scenario.json"),
    },
    Shipped {
        name: "signal-corridor",
        about: "An avenue with a green wave",
        close_up: None,
        text: include_str!("../../../scenarios/signal-corridor.scenario.json"),
    },
    Shipped {
        name: "figure-eight",
        about: "A figure-of-eight course with a bridge",
        close_up: None,
        text: include_str!("../../../scenarios/figure-eight.scenario.json"),
    },
    Shipped {
        name: "obstacle-field",
        about: "Open ground with obstacles, trees and hills",
        close_up: None,
        text: include_str!("../../../scenarios/obstacle-field.scenario.json"),
    },
    Shipped {
        name: "short-cut",
        about: "One jeep crosses a field, another keeps to the road",
        close_up: None,
        text: include_str!("../../../scenarios/short-cut.scenario.json"),
    },
    Shipped {
        name: "hill-country",
        about: "A jeep and a bus among hills, houses and posts",
        close_up: None,
        text: include_str!("../../../scenarios/hill-country.scenario.json"),
    },
    Shipped {
        name: "proving-ground",
        about: "An oval, a skid pad, cones, gravel, ice, ridges and a hill",
        close_up: None,
        text: include_str!("../../../scenarios/proving-ground.scenario.json"),
    },
    Shipped {
        name: "kart-track",
        about: "Racers drift round a track and chase soapbox karts",
        close_up: None,
        text: include_str!("../../../scenarios/kart-track.scenario.json"),
    },
    Shipped {
        name: "trailer-yard",
        about: "Lorries, articulated buses and caravans in streets and slaloms",
        close_up: None,
        text: include_str!("../../../scenarios/trailer-yard.scenario.json"),
    },
    Shipped {
        name: "car-park",
        about: "Cars park in free bays and leave when their drivers return on foot",
        close_up: Some(110.0),
        text: include_str!("../../../scenarios/car-park.scenario.json"),
    },
];

impl Shipped {
    /// Reads the scenario.
    pub fn scenario(&self) -> Scenario {
        let vehicles: Vec<_> = SHIPPED.iter().map(|v| (v.path, v.text)).collect();
        file::from_text_with(self.text, &vehicles).expect("shipped scenarios are valid")
    }
}

/// Creates a document of a shipped scenario. It has no file, so saving asks for one.
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
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
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
