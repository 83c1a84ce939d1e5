//! Parts of the map that can be hidden: all objects of one kind, or all roads on one layer.

use crate::ids::ObjectId;
use crate::scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::str::FromStr;
use thiserror::Error;

/// A part of a scenario that can be hidden on maps and pictures. In the editor, it can also be
/// locked against the mouse.
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
    /// Roads on this layer.
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

    /// Returns the name of the part, for use within a sentence.
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

    /// Returns all parts of a scenario's map: the kinds of objects and, if there are several, the
    /// layers.
    pub fn all(scenario: &Scenario) -> Vec<Self> {
        let layers = layers(scenario);
        let layers = layers.iter().filter(|_| layers.len() > 1);
        let layers = layers.map(|layer| Self::Layer(*layer));
        Self::KINDS.into_iter().chain(layers).collect()
    }

    /// Whether the part contains an object.
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

/// Whether the roads of a layer are hidden, either together with all roads or separately.
pub fn hides_layer(hidden: &BTreeSet<MapPart>, layer: i8) -> bool {
    hidden.contains(&MapPart::Roads) || hidden.contains(&MapPart::Layer(layer))
}

/// Error for a word that is not the name of a part.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "\"{0}\" is not a part of a map; use roads, obstacles, forests, land, places, vehicles, or \
     layer:N for the roads of layer N, -128 to 127"
)]
pub struct NoSuchPart(String);

impl FromStr for MapPart {
    type Err = NoSuchPart;

    /// Reads `roads`, `obstacles`, `forests`, `land`, `places`, `vehicles` or `layer:N`.
    ///
    /// # Errors
    /// If the word is none of these.
    fn from_str(text: &str) -> Result<Self, NoSuchPart> {
        let none = || NoSuchPart(text.to_owned());
        match text {
            "roads" => Ok(Self::Roads),
            "obstacles" => Ok(Self::Obstacles),
            "forests" => Ok(Self::Forests),
            "land" => Ok(Self::Land),
            "places" => Ok(Self::Places),
            "vehicles" => Ok(Self::Vehicles),
            _ => {
                let layer = text.strip_prefix("layer:").ok_or_else(none)?;
                layer.parse().map(Self::Layer).map_err(|_| none())
            }
        }
    }
}

/// Returns the layers on which a scenario has roads.
pub fn layers(scenario: &Scenario) -> BTreeSet<i8> {
    let roads = scenario.network().roads();
    roads.map(|(_, road)| road.layer).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn layers_hold_their_roads_and_kinds_all_of_their_own() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let scenario = crate::file::load(&folder.join("figure-eight.scenario.json")).unwrap();
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

    #[test]
    fn parts_are_read_by_their_words_and_nothing_else_is() {
        let read = |text: &str| text.parse::<MapPart>();
        assert_eq!(read("forests"), Ok(MapPart::Forests));
        assert_eq!(read("layer:-2"), Ok(MapPart::Layer(-2)));
        for wrong in [
            "",
            "Roads",
            "layer",
            "layer:",
            "layer:300",
            "layer:1.5",
            "cars",
        ] {
            let why = read(wrong).unwrap_err().to_string();
            assert!(why.contains("use roads"), "{why}");
        }
        // The names of all kinds can be parsed.
        let words = [
            "roads",
            "obstacles",
            "forests",
            "land",
            "places",
            "vehicles",
        ];
        assert_eq!(words.map(|word| read(word).unwrap()), MapPart::KINDS);
    }
}
