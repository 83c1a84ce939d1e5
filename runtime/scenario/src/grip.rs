//! Grip of the ground: the fraction of tyre friction that is available on and off roads.

use crate::quantity::{GripShare, Quantity, Validate, check_keys};
use crate::road::RoadClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tyre friction by type of ground, relative to dry asphalt: 1 is dry asphalt, 0.7 gravel, 0.15 ice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroundGrip {
    /// Grip on ground away from roads.
    #[serde(skip_serializing_if = "is_whole")]
    pub open_ground: Quantity<GripShare>,
    /// Grip on footways and in pedestrian zones.
    #[serde(skip_serializing_if = "is_whole")]
    pub path: Quantity<GripShare>,
    /// Grip on driveways, alleys and tracks.
    #[serde(skip_serializing_if = "is_whole")]
    pub service: Quantity<GripShare>,
    /// Grip on streets that give access to houses.
    #[serde(skip_serializing_if = "is_whole")]
    pub residential: Quantity<GripShare>,
    /// Grip on streets that collect traffic from residential streets.
    #[serde(skip_serializing_if = "is_whole")]
    pub collector: Quantity<GripShare>,
    /// Grip on main streets.
    #[serde(skip_serializing_if = "is_whole")]
    pub arterial: Quantity<GripShare>,
    /// Grip on slip roads.
    #[serde(skip_serializing_if = "is_whole")]
    pub ramp: Quantity<GripShare>,
    /// Grip on roads without crossing traffic.
    #[serde(skip_serializing_if = "is_whole")]
    pub motorway: Quantity<GripShare>,
    /// Whether drivers do not notice reduced grip and drive as if on dry asphalt, for example on black ice.
    #[serde(skip_serializing_if = "is_seen")]
    pub hidden: bool,
}

fn is_seen(hidden: &bool) -> bool {
    !hidden
}

/// Full grip.
const WHOLE: Quantity<GripShare> = Quantity::new(1.0);

fn is_whole(share: &f64) -> bool {
    *share == WHOLE
}

impl Default for GroundGrip {
    fn default() -> Self {
        Self {
            open_ground: WHOLE,
            path: WHOLE,
            service: WHOLE,
            residential: WHOLE,
            collector: WHOLE,
            arterial: WHOLE,
            ramp: WHOLE,
            motorway: WHOLE,
            hidden: false,
        }
    }
}

impl GroundGrip {
    /// Whether all types of ground have full grip.
    pub fn is_whole(&self) -> bool {
        let Self { hidden, .. } = Self::default();
        Self { hidden, ..*self } == Self::default()
    }

    /// Returns the grip of all types of ground: first roads by class, from paths to motorways, and
    /// then open ground.
    pub fn shares(&self) -> [f64; 8] {
        // Destructured completely, so that a key that is missing here causes a compile error.
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
            path.get(),
            service.get(),
            residential.get(),
            collector.get(),
            arterial.get(),
            ramp.get(),
            motorway.get(),
            open_ground.get(),
        ]
    }

    /// Returns the lowest grip of all types of ground.
    pub fn lowest(&self) -> f64 {
        self.shares().into_iter().fold(f64::INFINITY, f64::min)
    }

    /// Returns the grip of the roads of the given class.
    pub fn of(&self, class: RoadClass) -> f64 {
        match class {
            RoadClass::Path => self.path.get(),
            RoadClass::Service => self.service.get(),
            RoadClass::Residential => self.residential.get(),
            RoadClass::Collector => self.collector.get(),
            RoadClass::Arterial => self.arterial.get(),
            RoadClass::Ramp => self.ramp.get(),
            RoadClass::Motorway => self.motorway.get(),
        }
    }
}

impl Validate for GroundGrip {
    fn validate(&self) -> Result<(), String> {
        check_keys!(self => open_ground, path, service, residential, collector, arterial, ramp, motorway)
    }
}
