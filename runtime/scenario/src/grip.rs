//! Grip of the ground: how much of the friction of tyres is left on roads and beside them.

mod map;

pub use map::GripMap;

use crate::quantity::{GripShare, Quantity, Validate, at};
use crate::road::RoadClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shares of the friction that tyres have on dry asphalt, by what they stand on: 1 is dry asphalt, 0.7
/// gravel, 0.15 ice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroundGrip {
    /// Beside all roads.
    #[serde(
        default = "whole",
        deserialize_with = "GripShare::read",
        skip_serializing_if = "is_whole"
    )]
    #[schemars(with = "GripShare")]
    pub open_ground: f64,
    /// Footways, pedestrian streets.
    #[serde(
        default = "whole",
        deserialize_with = "GripShare::read",
        skip_serializing_if = "is_whole"
    )]
    #[schemars(with = "GripShare")]
    pub path: f64,
    /// Driveways, alleys, tracks.
    #[serde(
        default = "whole",
        deserialize_with = "GripShare::read",
        skip_serializing_if = "is_whole"
    )]
    #[schemars(with = "GripShare")]
    pub service: f64,
    /// Streets that serve their houses.
    #[serde(
        default = "whole",
        deserialize_with = "GripShare::read",
        skip_serializing_if = "is_whole"
    )]
    #[schemars(with = "GripShare")]
    pub residential: f64,
    /// Streets that collect from residential ones.
    #[serde(
        default = "whole",
        deserialize_with = "GripShare::read",
        skip_serializing_if = "is_whole"
    )]
    #[schemars(with = "GripShare")]
    pub collector: f64,
    /// Main streets.
    #[serde(
        default = "whole",
        deserialize_with = "GripShare::read",
        skip_serializing_if = "is_whole"
    )]
    #[schemars(with = "GripShare")]
    pub arterial: f64,
    /// Slip roads.
    #[serde(
        default = "whole",
        deserialize_with = "GripShare::read",
        skip_serializing_if = "is_whole"
    )]
    #[schemars(with = "GripShare")]
    pub ramp: f64,
    /// Roads without crossing traffic.
    #[serde(
        default = "whole",
        deserialize_with = "GripShare::read",
        skip_serializing_if = "is_whole"
    )]
    #[schemars(with = "GripShare")]
    pub motorway: f64,
    /// Whether drivers do not see it, and drive as on dry asphalt: black ice.
    #[serde(default, skip_serializing_if = "is_seen")]
    pub hidden: bool,
}

fn is_seen(hidden: &bool) -> bool {
    !hidden
}

fn whole() -> f64 {
    1.0
}

fn is_whole(share: &f64) -> bool {
    *share == whole()
}

impl Default for GroundGrip {
    fn default() -> Self {
        Self {
            open_ground: 1.0,
            path: 1.0,
            service: 1.0,
            residential: 1.0,
            collector: 1.0,
            arterial: 1.0,
            ramp: 1.0,
            motorway: 1.0,
            hidden: false,
        }
    }
}

impl GroundGrip {
    /// Whether all ground has all the grip.
    pub fn is_whole(&self) -> bool {
        let Self { hidden, .. } = Self::default();
        Self { hidden, ..*self } == Self::default()
    }

    /// The shares of all kinds of ground: of roads by class, from paths to motorways, and of open ground.
    pub fn shares(&self) -> [f64; 8] {
        // Taken apart whole: a key that is added and left out here does not compile.
        let Self {
            open_ground,
            path,
            service,
            residential,
            collector,
            arterial,
            ramp,
            motorway,
            hidden: _,
        } = *self;
        [
            path,
            service,
            residential,
            collector,
            arterial,
            ramp,
            motorway,
            open_ground,
        ]
    }

    /// The lowest share of all kinds of ground.
    pub fn lowest(&self) -> f64 {
        self.shares().into_iter().fold(f64::INFINITY, f64::min)
    }

    /// The grip of the roads of a class.
    pub fn of(&self, class: RoadClass) -> f64 {
        match class {
            RoadClass::Path => self.path,
            RoadClass::Service => self.service,
            RoadClass::Residential => self.residential,
            RoadClass::Collector => self.collector,
            RoadClass::Arterial => self.arterial,
            RoadClass::Ramp => self.ramp,
            RoadClass::Motorway => self.motorway,
        }
    }
}

impl Validate for GroundGrip {
    fn validate(&self) -> Result<(), String> {
        at("open_ground", GripShare::check(self.open_ground))?;
        at("path", GripShare::check(self.path))?;
        at("service", GripShare::check(self.service))?;
        at("residential", GripShare::check(self.residential))?;
        at("collector", GripShare::check(self.collector))?;
        at("arterial", GripShare::check(self.arterial))?;
        at("ramp", GripShare::check(self.ramp))?;
        at("motorway", GripShare::check(self.motorway))
    }
}
