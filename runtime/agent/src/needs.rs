//! Requests of controllers and ground planners for more than their rows: own motion, own vehicle, the path ahead, the
//! objects around and the map.

use roadwright_plugin_api::abi::RwPoint;
use roadwright_plugin_api::{GridData, HitchData, NearData, ObjectData, PathPoint, VehicleData};

/// Data that a controller or ground planner needs in addition to its row. It gets no data beyond this request.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Needs {
    /// Whether rows contain the motion of the vehicle.
    pub motion: bool,
    /// Whether there is a list of vehicles.
    pub vehicles: bool,
    /// The path ahead; `None` if there is none.
    pub path: Option<PathNeeds>,
    /// The objects around; `None` if there are none.
    pub near: Option<NearNeeds>,
    /// Size of the cells of the map, m, for ground planners; `None` if there is no map.
    pub grid: Option<f64>,
}

/// Objects around that a controller asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearNeeds {
    /// Distance from the box of the vehicle within which objects are listed, m.
    pub radius: f64,
    /// Maximum number of objects of an agent.
    pub most: u32,
    /// Whether trees are listed too.
    pub trees: bool,
}

/// Part of the path ahead that a controller asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathNeeds {
    /// Minimum reach, m.
    pub distance: f64,
    /// Reach as a time, s. Multiplied by the speed, it gives a second distance; the larger one counts.
    pub time: f64,
    /// Distance between two points, m.
    pub spacing: f64,
    /// Maximum number of points.
    pub most: u32,
}

impl PathNeeds {
    /// Returns the number of points that reach far enough at the given speed in m/s, if the first one lies at
    /// most one spacing behind the vehicle.
    pub fn points(&self, speed: f64) -> usize {
        let reach = self.distance.max(self.time * speed.abs());
        // One more at either end, because the vehicle is between two points.
        let wanted = (reach / self.spacing).ceil() + 2.0;
        (wanted as usize).min(self.most as usize)
    }
}

/// Lists to which the rows of a batch refer by index.
#[derive(Debug, Clone, Copy, Default)]
pub struct Views<'a> {
    /// Vehicle types at their levels of dynamics.
    pub vehicles: &'a [VehicleData],
    /// Trailers of all vehicles.
    pub hitches: &'a [HitchData],
    /// Version of the lists of vehicles and trailers; changes whenever their contents change.
    pub vehicles_version: u64,
    /// Points of the paths of all rows.
    pub path: &'a [PathPoint],
    /// Objects of the world.
    pub objects: Objects<'a>,
    /// Pairs of all rows with the objects around them.
    pub near: &'a [NearData],
    /// Angles of the hitches of all rows, rad.
    pub hitch_angles: &'a [f64],
    /// Maps of all rows.
    pub grids: &'a [GridData],
    /// Cells of the maps.
    pub cells: &'a [u16],
}

/// Objects of the world, each once. The first ones do not change while the scenario is not edited.
#[derive(Debug, Clone, Copy, Default)]
pub struct Objects<'a> {
    /// All objects.
    pub all: &'a [ObjectData],
    /// Corners of their outlines.
    pub outlines: &'a [RwPoint],
    /// Number of objects that do not change, at the beginning of the list.
    pub fixed: usize,
    /// Number of corners that do not change, at the beginning of the list.
    pub fixed_outlines: usize,
    /// Number that is different for other objects and corners that do not change.
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
        // 20 pieces of half a metre, then 48, then more than there may be.
        let counts = [0.0, -3.0, 12.0, 40.0].map(|speed| needs.points(speed));
        assert_eq!(counts, [22, 22, 50, 100]);
    }
}
