//! Headings at destinations on open ground.

use roadwright_geometry::DVec2;
use roadwright_scenario::{Place, Scenario};
use std::collections::BTreeMap;

/// Headings at the destinations and intermediate goals of all agents. The keys are the bits of the
/// coordinates.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Arrivals(BTreeMap<(u64, u64), f64>);

impl Arrivals {
    pub(super) fn of(scenario: &Scenario) -> Self {
        let goals = (scenario.agents().values())
            .flat_map(|agent| agent.via.iter().chain(agent.destination.as_ref()));
        let on_ground = goals.filter_map(|place| match place {
            Place::Ground(ground) => Some((bits(ground.position()), ground.heading.get())),
            Place::Lane(_) => None,
        });
        Self(on_ground.collect())
    }

    pub(super) fn heading(&self, place: DVec2) -> Option<f64> {
        self.0.get(&bits(place)).copied()
    }
}

fn bits(place: DVec2) -> (u64, u64) {
    (place.x.to_bits(), place.y.to_bits())
}
