//! Random problems for benchmarking the planner.

use super::super::cell::{Cell, CellSize};
use super::super::grid_path::{GridPath, Guide};
use super::super::ground::{OpenGround, ProfileId, Reading, Window};
use super::super::profile::{Body, Profile};
use super::super::samples::{tilted_boxes, walls_around};
use super::super::shape::ShapeError;
use super::search::DrivableTrip;
use super::vehicle::DrivableVehicle;
use crate::open_ground::Rules;
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, Pose};
use std::f64::consts::PI;

/// Edge length of the maps, in cells of 0.5 m.
const COLUMNS: u32 = 384;
/// Edge length of the maps, m.
const EDGE: f64 = 192.0;
/// Fraction of the ground that obstacles cover.
const COVERED: f64 = 0.15;
/// Side lengths of the rectangles, m.
const SIDES: std::ops::Range<f64> = 2.0..12.0;
/// Minimum distance between start and goal, m.
const APART: f64 = 100.0;
/// Minimum distance between obstacles and the vehicle at start and goal, m.
const MARGIN: f64 = 0.3;

/// Maps of 384 x 384 cells with randomly oriented rectangles, and trips across them.
///
/// Rectangles with sides of 2 to 12 m cover 15 % of the ground. Starts and goals are free, at least 100 m apart, and
/// connected by cells on the map with obstacles grown by half of the vehicle's width. Headings are drawn uniformly.
#[derive(Debug, Clone)]
pub struct DrivableProblems {
    ground: OpenGround,
    profile: ProfileId,
    vehicle: DrivableVehicle,
    stream: Stream,
}

impl DrivableProblems {
    /// Generates a map.
    ///
    /// # Errors
    /// If the vehicle has no size.
    pub fn new(body: Body, vehicle: DrivableVehicle, seed: u64) -> Result<Self, ShapeError> {
        let mut stream = Stream::new(seed, "drivable problems", 0);
        let mut ground = OpenGround::new();
        let profile = ground.add_profile(Profile::new(body, CellSize::HEADINGS));
        let world = tilted_boxes(EDGE, COVERED, SIDES, &mut stream);
        for wall in world.boxes.iter().chain(&walls_around(EDGE)) {
            ground.insert(wall.item())?;
        }
        Ok(Self {
            ground,
            profile,
            vehicle,
            stream,
        })
    }

    /// Returns the map with its obstacles.
    pub fn ground(&mut self) -> &mut OpenGround {
        &mut self.ground
    }

    /// Draws a trip; `None` if 1,000 attempts find none.
    pub fn draw(&mut self) -> Option<DrivableTrip> {
        let window = Window {
            origin: Cell::default(),
            columns: COLUMNS,
            rows: COLUMNS,
        };
        let read = (self.ground).window(self.profile, None, Reading::Everything, window);
        let mut map = read.ok()?;
        let mut planner = GridPath::new(Rules::default(), Guide::AStar);
        for _ in 0..1000 {
            let (Some(from), Some(to)) = (self.pose(), self.pose()) else {
                continue;
            };
            if (to.position - from.position).length() < APART {
                continue;
            }
            let centre = |axle: Pose| axle.point(self.vehicle.centre, 0.0);
            let [start, goal] =
                [from, to].map(|pose| CellSize::HEADINGS.nearest_cell(centre(pose)));
            if planner.find(&mut map, start, goal).path().is_some() {
                return Some(DrivableTrip {
                    profile: self.profile,
                    owner: None,
                    vehicle: self.vehicle,
                    from,
                    gear: 1,
                    to: to.position,
                    heading: Some(to.heading),
                    hitch: 0.0,
                    hitch_at_end: 0.0,
                });
            }
        }
        None
    }

    fn pose(&mut self) -> Option<Pose> {
        (0..1000).find_map(|_| {
            let mut along = || self.stream.next_in(0.0, EDGE);
            let position = DVec2::new(along(), along());
            let pose = Pose {
                position,
                heading: self.stream.next_in(-PI, PI),
            };
            let body = self.vehicle.footprint(pose, MARGIN);
            (self.ground.is_free(self.profile, None, &body)).then_some(pose)
        })
    }
}
