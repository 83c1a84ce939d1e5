//! Data that controllers and ground planners request in addition to their rows: own motion, own
//! vehicle, the path ahead, nearby objects and the map.

use roadwright_plugin_api::abi::RwPoint;
use roadwright_plugin_api::{GridData, HitchData, NearData, ObjectData, PathPoint, VehicleData};

/// Data that a controller or ground planner requests in addition to its row. It receives no other
/// data.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Needs {
    /// Whether rows contain the motion of the vehicle.
    pub motion: bool,
    /// Whether the list of vehicles is provided.
    pub vehicles: bool,
    /// The requested part of the path ahead; `None` if it is not needed.
    pub path: Option<PathNeeds>,
    /// The requested nearby objects; `None` if they are not needed.
    pub near: Option<NearNeeds>,
    /// Cell size of the map for ground planners, m; `None` if no map is needed.
    pub grid: Option<f64>,
}

/// Nearby objects that a controller requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearNeeds {
    /// Objects are listed if they are within this distance of the vehicle's box, m.
    pub radius: f64,
    /// Maximum number of objects per agent.
    pub most: u32,
    /// Whether the list includes trees.
    pub trees: bool,
}

/// The part of the path ahead that a controller requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathNeeds {
    /// Minimum reach, m.
    pub distance: f64,
    /// Reach as a time, s. Multiplied by the speed, it gives a second distance. The larger distance
    /// applies.
    pub time: f64,
    /// Distance between two points, m.
    pub spacing: f64,
    /// Maximum number of points.
    pub most: u32,
}

impl PathNeeds {
    /// Returns the number of points that cover the reach at the given speed, m/s. The first point
    /// is at most one spacing behind the vehicle.
    pub fn points(&self, speed: f64) -> usize {
        let reach = self.distance.max(self.time * speed.abs());
        // One additional point at each end, because the vehicle is between two points.
        let wanted = (reach / self.spacing).ceil() + 2.0;
        (wanted as usize).min(self.most as usize)
    }
}

/// Lists to which the rows of a batch refer by index.
#[derive(Debug, Clone, Copy, Default)]
pub struct Views<'a> {
    /// Vehicle types, each at a dynamics level.
    pub vehicles: &'a [VehicleData],
    /// Trailers of all vehicles.
    pub hitches: &'a [HitchData],
    /// Version of the lists of vehicles and trailers, which changes whenever their contents change.
    pub vehicles_version: u64,
    /// Path points of all rows.
    pub path: &'a [PathPoint],
    /// Objects of the world.
    pub objects: Objects<'a>,
    /// Nearby objects of all rows.
    pub near: &'a [NearData],
    /// Angles of the hitches of all rows, rad.
    pub hitch_angles: &'a [f64],
    /// Maps of all rows.
    pub grids: &'a [GridData],
    /// Cells of the maps.
    pub cells: &'a [u16],
}

/// Objects of the world, each listed once. The first ones change only when the scenario is edited.
#[derive(Debug, Clone, Copy, Default)]
pub struct Objects<'a> {
    /// All objects.
    pub all: &'a [ObjectData],
    /// Corners of their outlines.
    pub outlines: &'a [RwPoint],
    /// Number of objects at the start of the list that change only with the scenario.
    pub fixed: usize,
    /// Number of corners at the start of the list that change only with the scenario.
    pub fixed_outlines: usize,
    /// Version of the objects and corners that change only with the scenario. It changes whenever they
    /// change.
    pub version: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_reach_counts_up_to_the_most_points() {
        let needs = PathNeeds {
            distance: 10.0,
            time: 2.0,
            spacing: 0.5,
            most: 100,
        };
        // 20 pieces of half a metre, then 48, then more than the permitted maximum.
        let counts = [0.0, -3.0, 12.0, 40.0].map(|speed| needs.points(speed));
        assert_eq!(counts, [22, 22, 50, 100]);
    }
}
