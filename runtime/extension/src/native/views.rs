//! Requests of controllers for data in addition to their rows (extension `roadwright.needs/1`), and
//! test data for trials.

use super::backend::Fault;
use super::kind::{AsGroundPlanner, Kind};
use roadwright_agent::{ModuleKind, NearNeeds, Needs, Objects, PathNeeds, Views};
use roadwright_geometry::math::{cos, sin};
use roadwright_plugin_api::abi::{
    NEED_GRID, NEED_MOTION, NEED_NEAR, NEED_PATH, NEED_TREES, NEED_VEHICLES, NEEDS_EXTENSION,
    NO_LANELET, RwNeeds, RwPoint,
};
use roadwright_plugin_api::{
    GridData, GroundPlannerInput, LANE_UNKNOWN, MotionInput, NO_INDEX, NOTHING, NearData,
    NeedsInput, OBJECT_IS_AGENT, OBJECT_IS_ROUND, OBJECT_OBSTACLE, OBJECT_PERSON, OBJECT_VEHICLE,
    ObjectData, PathPoint, VehicleData,
};

/// Group of data that a module can request through the extension.
struct Group {
    bit: u64,
    name: &'static str,
    /// Minor version of the interface in which the group appeared.
    since: u16,
}

const fn group(bit: u64, name: &'static str, since: u16) -> Group {
    Group { bit, name, since }
}

/// Groups that can be requested.
const GROUPS: [Group; 6] = [
    group(NEED_MOTION, "RW_NEED_MOTION", 3),
    group(NEED_VEHICLES, "RW_NEED_VEHICLES", 3),
    group(NEED_PATH, "RW_NEED_PATH", 3),
    group(NEED_NEAR, "RW_NEED_NEAR", 4),
    group(NEED_TREES, "RW_NEED_TREES", 4),
    group(NEED_GRID, "RW_NEED_GRID", 5),
];
/// Groups that ground planners may request.
const FOR_GROUND_PLANNERS: u64 = NEED_VEHICLES | NEED_NEAR | NEED_TREES | NEED_GRID;
/// Smallest and largest cells of a map, m.
const CELLS: (f64, f64) = (0.2, 4.0);
/// Maximum number of points of a path.
const MOST_POINTS: u32 = 1000;
/// Maximum requested length of a path, m.
const FARTHEST: f64 = 1000.0;
/// Maximum requested duration of a path, s.
const LONGEST: f64 = 60.0;
/// Maximum number of nearby objects.
const MOST_NEAR: u32 = 1000;
/// Maximum radius within which objects are listed, m.
const WIDEST: f64 = 500.0;
/// Smallest and largest distance between the points of a path, m.
const SPACINGS: (f64, f64) = (0.1, 50.0);

/// Empty needs, to be filled in by a plugin.
pub(crate) const NOTHING_NEEDED: RwNeeds = RwNeeds {
    size: size_of::<RwNeeds>() as u32,
    path_most: 0,
    groups: 0,
    path_distance: 0.0,
    path_time: 0.0,
    path_spacing: 0.0,
    near_radius: 0.0,
    near_most: 0,
    reserved: 0,
    grid_cell: 0.0,
};

/// Checks the request of a plugin of a kind that was built for a minor version of the interface.
pub(crate) fn checked(raw: &RwNeeds, kind: ModuleKind, minor: u16) -> Result<Needs, Fault> {
    let refused = |what: String| {
        Fault::fatal(format!(
            "it requests {what} through {NEEDS_EXTENSION}; correct the request in its function `needs`"
        ))
    };
    let known = || GROUPS.iter().filter(|group| group.since <= minor);
    let unknown = raw.groups & !known().fold(0, |bits, group| bits | group.bit);
    if unknown != 0 {
        let bits = (0..64).filter(|bit| (unknown >> bit) & 1 == 1);
        let bits: Vec<String> = bits.map(|bit| (1u64 << bit).to_string()).collect();
        let known: Vec<String> = known()
            .map(|group| format!("{} ({})", group.name, group.bit))
            .collect();
        return Err(Fault::fatal(format!(
            "it requests the groups {} through {NEEDS_EXTENSION}, but this version knows only {}; update Roadwright or \
             build the plugin with this version's header",
            bits.join(", "),
            known.join(", ")
        )));
    }
    let (fitting, others) = match kind {
        ModuleKind::Controller => (!NEED_GRID, "ground planners"),
        ModuleKind::GroundPlanner => (FOR_GROUND_PLANNERS, "controllers"),
        _ => (0, "controllers and ground planners"),
    };
    let unfit = GROUPS
        .iter()
        .filter(|group| raw.groups & !fitting & group.bit != 0);
    let names: Vec<&str> = unfit.map(|group| group.name).collect();
    if !names.is_empty() {
        return Err(refused(format!(
            "{}, which is only for {others},",
            names.join(" and ")
        )));
    }
    if raw.groups & NEED_TREES != 0 && raw.groups & NEED_NEAR == 0 {
        return Err(refused("RW_NEED_TREES without RW_NEED_NEAR".into()));
    }
    let path = (raw.groups & NEED_PATH != 0).then_some(PathNeeds {
        distance: raw.path_distance,
        time: raw.path_time,
        spacing: raw.path_spacing,
        most: raw.path_most,
    });
    let near = (raw.groups & NEED_NEAR != 0).then_some(NearNeeds {
        radius: raw.near_radius,
        most: raw.near_most,
        trees: raw.groups & NEED_TREES != 0,
    });
    let mut numbers = Vec::new();
    if let Some(path) = &path {
        let most = (2.0, f64::from(MOST_POINTS));
        numbers.extend([
            ("PATH with path_distance", path.distance, (0.0, FARTHEST)),
            ("PATH with path_time", path.time, (0.0, LONGEST)),
            ("PATH with path_spacing", path.spacing, SPACINGS),
            ("PATH with path_most", f64::from(path.most), most),
        ]);
    }
    if let Some(near) = &near {
        let most = (1.0, f64::from(MOST_NEAR));
        numbers.extend([
            ("NEAR with near_radius", near.radius, (0.0, WIDEST)),
            ("NEAR with near_most", f64::from(near.most), most),
        ]);
    }
    let grid = (raw.groups & NEED_GRID != 0).then_some(raw.grid_cell);
    numbers.extend(grid.map(|cell| ("GRID with grid_cell", cell, CELLS)));
    for (name, value, (low, high)) in numbers {
        // NaN is in no range.
        if !(low..=high).contains(&value) {
            return Err(refused(format!(
                "RW_NEED_{name} = {value}, which is outside {low} to {high},"
            )));
        }
    }
    Ok(Needs {
        motion: raw.groups & NEED_MOTION != 0,
        vehicles: raw.groups & NEED_VEHICLES != 0,
        path,
        near,
        grid,
    })
}

/// Distance of the post on trial maps to the left of the straight line from start to goal, m.
const POST_ASIDE: f64 = 4.0;
/// Radius of the post on trial maps, m.
const POST_RADIUS: f64 = 2.0;
/// Value of plain ground on maps for trials.
const PLAIN: u16 = 16;
/// Number of roads in lists for trials.
const ROADS: usize = 8;

/// Lists for trials and examinations: a car, roads with different bends, and a number of nearby
/// objects that increases from road to road.
pub(crate) struct TrialViews {
    needs: Needs,
    vehicles: Vec<VehicleData>,
    path: Vec<PathPoint>,
    /// Number of points of a road.
    count: u32,
    objects: Vec<ObjectData>,
    outlines: Vec<RwPoint>,
    near: Vec<NearData>,
    /// Maps of plain ground with one post.
    grids: Vec<GridData>,
    cells: Vec<u16>,
}

impl TrialViews {
    pub(crate) fn new(needs: Needs) -> Self {
        let mut all = Self {
            needs,
            vehicles: Vec::new(),
            path: Vec::new(),
            count: 0,
            objects: Vec::new(),
            outlines: Vec::new(),
            near: Vec::new(),
            grids: Vec::new(),
            cells: Vec::new(),
        };
        if let Some(wanted) = &needs.near {
            all.list_objects(wanted);
        }
        if let Some(cell) = needs.grid {
            all.list_map(cell);
        }
        if needs.vehicles {
            all.vehicles.push(VehicleData {
                length: 4.5,
                width: 1.8,
                height: 1.5,
                wheelbase: 2.7,
                axle_to_front: 3.6,
                axle_to_rear: 0.9,
                max_speed: 50.0,
                max_acceleration: 3.0,
                max_braking: 8.0,
                max_steering: 0.6,
                max_steering_rate: 0.9,
                ..VehicleData::default()
            });
        }
        if let Some(wanted) = &needs.path {
            all.count = wanted.points(30.0) as u32;
            for road in 0..ROADS {
                // The first road is straight; the others bend to either side.
                let curvature = [0.0, 0.01, -0.01, 0.03, -0.03, 0.08, -0.08, 0.002][road];
                // The last two are off the lanes.
                let lanelet = if road < ROADS - 2 { 0 } else { NO_LANELET };
                let points = arc(curvature, wanted.spacing, all.count as usize);
                let point = |point: PathPoint| PathPoint { lanelet, ..point };
                all.path.extend(points.map(point));
            }
        }
        all
    }

    pub(crate) fn views(&self) -> Views<'_> {
        Views {
            vehicles: &self.vehicles,
            hitches: &[],
            vehicles_version: 1,
            path: &self.path,
            objects: Objects {
                all: &self.objects,
                outlines: &self.outlines,
                ..Objects::default()
            },
            near: &self.near,
            hitch_angles: &[],
            grids: &self.grids,
            cells: &self.cells,
        }
    }

    /// Adds a map of plain ground around the trip of a trial, with a post beside the straight line
    /// from start to goal.
    fn list_map(&mut self, cell: f64) {
        let row = AsGroundPlanner::neutral();
        let [columns, rows] = [row.max_x - row.min_x, row.max_y - row.min_y]
            .map(|extent| (extent / cell).ceil().max(1.0) as u32);
        let is_post = |column: u32, line: u32| {
            let x = row.min_x + (f64::from(column) + 0.5) * cell - 0.5 * row.goal_x;
            let y = row.min_y + (f64::from(line) + 0.5) * cell - POST_ASIDE;
            x * x + y * y < POST_RADIUS * POST_RADIUS
        };
        let value = |line: u32, column: u32| if is_post(column, line) { 0 } else { PLAIN };
        let cells = (0..rows).flat_map(|line| (0..columns).map(move |column| value(line, column)));
        self.cells = cells.collect();
        self.grids = vec![GridData {
            x: row.min_x,
            y: row.min_y,
            cell,
            version: 1,
            columns,
            rows,
            first: 0,
            plain: u32::from(PLAIN),
        }];
    }

    /// Makes a row of a ground planner refer to the lists, and omits the data that were not requested.
    pub(crate) fn place_planner(&self, input: &mut GroundPlannerInput) {
        if self.needs.vehicles {
            input.vehicle = 0;
        }
        if self.needs.grid.is_some() {
            input.grid = 0;
        }
        if self.needs.near.is_some() {
            input.object = 0;
            input.near_count = self.near.len() as u32;
        }
    }

    /// Lists the agent's own vehicle (at the origin, heading east), other vehicles in front and
    /// beside, a person and a wall, and the entries for objects near the agent.
    fn list_objects(&mut self, wanted: &NearNeeds) {
        let body = |kind: u32, flags: u32, x: f64, y: f64| ObjectData {
            id: 100,
            kind,
            flags,
            x,
            y,
            length: 4.5,
            width: 1.8,
            height: 1.5,
            ..ObjectData::default()
        };
        let own = body(OBJECT_VEHICLE, OBJECT_IS_AGENT, 1.35, 0.0);
        let beside = ObjectData {
            velocity_x: 12.0,
            ..body(OBJECT_VEHICLE, OBJECT_IS_AGENT, 5.0, 3.5)
        };
        let oncoming = ObjectData {
            heading: std::f64::consts::PI,
            velocity_x: -10.0,
            ..body(OBJECT_VEHICLE, OBJECT_IS_AGENT, 40.0, 3.5)
        };
        let person = ObjectData {
            velocity_y: 1.2,
            length: 0.6,
            width: 0.6,
            ..body(OBJECT_PERSON, OBJECT_IS_ROUND, 20.0, -4.0)
        };
        let wall = ObjectData {
            length: 30.0,
            width: 0.2,
            outline_count: 4,
            ..body(OBJECT_OBSTACLE, 0, 15.0, -6.0)
        };
        self.objects = vec![own, beside, person, wall, oncoming];
        let corner = |x: f64, y: f64| RwPoint { x, y };
        self.outlines = vec![
            corner(0.0, -6.1),
            corner(30.0, -6.1),
            corner(30.0, -5.9),
            corner(0.0, -5.9),
        ];
        let pairs = (1u32..).zip(&self.objects[1..]).map(|(object, other)| {
            let (ahead, left) = (other.x, other.y);
            let has_outline = other.outline_count > 0;
            // `f64::hypot` would make the host need libm, and plugins that lack it would pass their trial.
            let gap: [f64; 2] = [(ahead - 6.0).max(0.0), (left.abs() - 1.8).max(0.0)];
            NearData {
                distance: match has_outline {
                    true => left.abs() - 1.0,
                    false => (gap[0] * gap[0] + gap[1] * gap[1]).sqrt(),
                },
                ahead,
                left,
                velocity_ahead: other.velocity_x - 8.0,
                velocity_left: other.velocity_y,
                path_distance: if self.needs.path.is_some() {
                    ahead
                } else {
                    NOTHING
                },
                path_offset: if self.needs.path.is_some() { left } else { 0.0 },
                object,
                lane: LANE_UNKNOWN,
                ..NearData::default()
            }
        });
        let mut pairs: Vec<NearData> = pairs.collect();
        pairs.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        let fits = |pair: &NearData| pair.distance <= wanted.radius;
        self.near = pairs
            .into_iter()
            .filter(fits)
            .take(wanted.most as usize)
            .collect();
    }

    /// Makes a row refer to a road, and omits the data that were not requested.
    pub(crate) fn place(&self, input: &mut NeedsInput, road: u32) {
        if !self.needs.motion {
            input.motion = MotionInput::default();
        }
        input.vehicle = NO_INDEX;
        if let Some(vehicle) = self.vehicles.first() {
            input.vehicle = 0;
            (input.seen.wheelbase, input.seen.length) = (vehicle.wheelbase, vehicle.length);
        }
        input.path_count = self.count;
        if self.needs.path.is_some() {
            input.path = road % ROADS as u32 * self.count;
        } else {
            (input.path, input.path_s, input.route_version) = (0, 0.0, 0);
        }
        if self.needs.near.is_some() {
            // None on the first road, one on the next, and so on.
            input.object = 0;
            input.near_count = (road % ROADS as u32).min(self.near.len() as u32);
        }
    }
}

/// Returns the points of a road that starts at the origin, heads east, and has a constant
/// curvature, 1/m.
fn arc(curvature: f64, spacing: f64, count: usize) -> impl Iterator<Item = PathPoint> {
    (0..count).map(move |number| {
        let s = number as f64 * spacing;
        let heading = curvature * s;
        let (x, y) = match curvature == 0.0 {
            true => (s, 0.0),
            false => (sin(heading) / curvature, (1.0 - cos(heading)) / curvature),
        };
        PathPoint {
            s,
            x,
            y,
            heading,
            curvature,
            speed: 13.0,
            left: 1.75,
            right: 1.75,
            ..PathPoint::default()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(groups: u64) -> RwNeeds {
        RwNeeds {
            groups,
            path_most: 50,
            path_distance: 20.0,
            path_spacing: 0.5,
            near_radius: 30.0,
            near_most: 8,
            ..NOTHING_NEEDED
        }
    }

    #[test]
    fn groups_that_are_not_known_or_make_no_sense_are_refused_by_name() {
        let controller = ModuleKind::Controller;
        assert!(checked(&asked(31), controller, 4).is_ok());
        assert_eq!(
            checked(&asked(0), ModuleKind::Fitness, 4),
            Ok(Needs::default())
        );
        let said = |raw: &RwNeeds, kind| checked(raw, kind, 4).map_err(|fault| fault.message);
        let unknown = said(&asked(1 | 32 | 128), controller).unwrap_err();
        assert!(
            unknown.contains("the groups 32, 128 through roadwright.needs/1"),
            "{unknown}"
        );
        assert!(unknown.contains("RW_NEED_TREES (16)"), "{unknown}");
        // A group that the header of the plugin does not have is a mistake.
        let old = checked(&asked(8), controller, 3).unwrap_err().message;
        assert!(old.contains("the groups 8 through"), "{old}");
        assert!(!old.contains("RW_NEED_NEAR"), "{old}");
        assert!(checked(&asked(7), controller, 3).is_ok());
        let trees = said(&asked(16), controller).unwrap_err();
        assert!(
            trees.contains("RW_NEED_TREES without RW_NEED_NEAR"),
            "{trees}"
        );
        let planner = said(&asked(6), ModuleKind::Planner).unwrap_err();
        assert!(
            planner.contains(
                "RW_NEED_VEHICLES and RW_NEED_PATH, which is only for controllers and ground planners"
            ),
            "{planner}"
        );
        let over_ground = said(&asked(7), ModuleKind::GroundPlanner).unwrap_err();
        assert!(
            over_ground.contains("RW_NEED_MOTION and RW_NEED_PATH, which is only for controllers"),
            "{over_ground}"
        );
        let grid = RwNeeds {
            grid_cell: 0.5,
            ..asked(58)
        };
        let planner = checked(&grid, ModuleKind::GroundPlanner, 5).unwrap();
        assert_eq!(planner.grid, Some(0.5));
        let why = checked(&grid, controller, 5).unwrap_err().message;
        assert!(
            why.contains("RW_NEED_GRID, which is only for ground planners"),
            "{why}"
        );
        let coarse = RwNeeds {
            grid_cell: 5.0,
            ..grid
        };
        let why = checked(&coarse, ModuleKind::GroundPlanner, 5).unwrap_err();
        assert!(why.message.contains("grid_cell = 5"), "{}", why.message);
        for (raw, what) in [
            (
                RwNeeds {
                    path_most: 1,
                    ..asked(4)
                },
                "path_most = 1",
            ),
            (
                RwNeeds {
                    path_most: u32::MAX,
                    ..asked(4)
                },
                "path_most",
            ),
            (
                RwNeeds {
                    path_spacing: 0.0,
                    ..asked(4)
                },
                "path_spacing = 0",
            ),
            (
                RwNeeds {
                    path_spacing: f64::NAN,
                    ..asked(4)
                },
                "path_spacing = NaN",
            ),
            (
                RwNeeds {
                    path_distance: 1e300,
                    ..asked(4)
                },
                "path_distance",
            ),
            (
                RwNeeds {
                    path_time: -1.0,
                    ..asked(4)
                },
                "path_time = -1",
            ),
            (
                RwNeeds {
                    near_most: 0,
                    ..asked(8)
                },
                "near_most = 0",
            ),
            (
                RwNeeds {
                    near_radius: 501.0,
                    ..asked(8)
                },
                "near_radius = 501",
            ),
        ] {
            let why = said(&raw, controller).unwrap_err();
            assert!(why.contains(what), "{why}");
            // Without the group these numbers have no meaning.
            assert!(checked(&RwNeeds { groups: 3, ..raw }, controller, 4).is_ok());
        }
    }
}
