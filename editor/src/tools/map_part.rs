//! Kinds of objects and layers of roads, which can be locked (the mouse does not take them) and hidden.

use roadwright_scenario::{ObjectId, Scenario};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What is locked or hidden together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MapPart {
    /// Roads and their junctions.
    Roads,
    /// Obstacles.
    Obstacles,
    /// Forests.
    Forests,
    /// Areas of land.
    Land,
    /// Points of interest and parking bays.
    Places,
    /// Agents and flows.
    Vehicles,
    /// Roads of this layer.
    Layer(i8),
}

impl MapPart {
    /// All kinds of objects.
    pub const KINDS: [Self; 6] = [
        Self::Roads,
        Self::Obstacles,
        Self::Forests,
        Self::Land,
        Self::Places,
        Self::Vehicles,
    ];

    /// Name on the screen, in the middle of a sentence.
    pub fn name(self) -> String {
        match self {
            Self::Roads => "roads".into(),
            Self::Obstacles => "obstacles".into(),
            Self::Forests => "forests".into(),
            Self::Land => "land".into(),
            Self::Places => "places".into(),
            Self::Vehicles => "vehicles and flows".into(),
            Self::Layer(layer) => format!("layer {layer}"),
        }
    }

    /// All parts of the map of a scenario: kinds, and layers if there are several.
    pub fn all(scenario: &Scenario) -> Vec<Self> {
        let layers = layers(scenario);
        let layers = layers.iter().filter(|_| layers.len() > 1);
        let layers = layers.map(|layer| Self::Layer(*layer));
        Self::KINDS.into_iter().chain(layers).collect()
    }

    /// Whether it holds an object.
    pub fn holds(self, scenario: &Scenario, object: ObjectId) -> bool {
        match (self, object) {
            (Self::Roads, ObjectId::Road(_) | ObjectId::Node(_))
            | (Self::Obstacles, ObjectId::Obstacle(_))
            | (Self::Forests, ObjectId::Forest(_))
            | (Self::Land, ObjectId::Land(_))
            | (Self::Places, ObjectId::PointOfInterest(_))
            | (Self::Vehicles, ObjectId::Agent(_) | ObjectId::Flow(_)) => true,
            (Self::Layer(layer), ObjectId::Road(id)) => {
                let road = scenario.network().road(id);
                road.is_some_and(|road| road.layer == layer)
            }
            _ => false,
        }
    }
}

/// The layers that roads of a scenario are on.
pub fn layers(scenario: &Scenario) -> BTreeSet<i8> {
    let roads = scenario.network().roads();
    roads.map(|(_, road)| road.layer).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn layers_hold_their_roads_and_kinds_all_of_their_own() {
        let all = crate::shipped::ALL.iter();
        let figure = all.into_iter().find(|one| one.name == "figure-eight");
        let scenario = figure.unwrap().scenario();
        let layers = layers(&scenario);
        assert!(layers.len() > 1, "{layers:?}");
        for (id, road) in scenario.network().roads() {
            let object = ObjectId::Road(id);
            assert!(MapPart::Roads.holds(&scenario, object));
            assert!(!MapPart::Vehicles.holds(&scenario, object));
            for layer in &layers {
                let holds = MapPart::Layer(*layer).holds(&scenario, object);
                assert_eq!(holds, road.layer == *layer);
            }
        }
    }
}
