//! Heat map of how often and how fast vehicles pass each stretch of lane, and where they collide.

use crate::records::AgentIndex;
use crate::session::Observer;
use crate::world::World;
use roadwright_scenario::RoadId;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind, NO_LANELET};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Time between samples, in seconds of simulated time.
const SAMPLE_TIME: f64 = 0.5;
/// Speed below which a vehicle counts as stationary, m/s.
const STANDING: f64 = 1.0;
/// Reference speed for open ground, m/s: the limit of most town roads. Open ground itself has no
/// limit.
const GROUND_SPEED: f64 = 50.0 / 3.6;

/// A lane, given by its road and its id within the road.
pub type HeatLane = (RoadId, i8);

/// A place in a [`HeatMap`]. Roads and lanes are identified by their ids, so that counts stay at
/// their places when an edit changes other roads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeatPlace {
    /// A cell of open ground, given by its column and row, for vehicles off the lanes. Cell (0, 0)
    /// has its south-western corner at the origin.
    Ground(i32, i32),
    /// A stretch of a lane: stretch 0 covers 0 to 10 m along the reference line of the road.
    Lane(HeatLane, u32),
    /// A stretch of a connection through a junction, from the end of a lane to the start of another: stretch
    /// 0 covers 0 to 10 m along the connection.
    Connection(HeatLane, HeatLane, u32),
}

/// Statistics of a place.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HeatCell {
    /// Number of observations of vehicles at the place. Each vehicle is observed twice a second.
    pub seen: u32,
    /// Number of these observations in which the vehicle was stationary.
    pub standing: u32,
    /// Number of collisions that began at the place.
    pub collisions: u32,
    /// Sum of the observed speeds, m/s.
    pub speed: f64,
    /// Sum of the allowed speeds at the times of observation, m/s. On open ground, the allowed
    /// speed is taken as 50 km/h.
    pub allowed: f64,
}

impl HeatCell {
    /// Total time of all vehicles at the place, s.
    pub fn vehicle_seconds(&self) -> f64 {
        f64::from(self.seen) * SAMPLE_TIME
    }

    /// Mean speed, m/s; `None` if no vehicle was seen.
    pub fn mean_speed(&self) -> Option<f64> {
        (self.seen > 0).then(|| self.speed / f64::from(self.seen))
    }

    /// Mean speed relative to the allowed speed: 0 for stationary vehicles, above 1 for speeding.
    /// `None` if no vehicle was seen.
    pub fn share_of_limit(&self) -> Option<f64> {
        (self.seen > 0 && self.allowed > 0.0).then(|| self.speed / self.allowed)
    }

    /// Fraction of the observed time during which vehicles were stationary, 0 to 1; `None` if no
    /// vehicle was seen.
    pub fn standing_share(&self) -> Option<f64> {
        (self.seen > 0).then(|| f64::from(self.standing) / f64::from(self.seen))
    }
}

/// Counts the vehicles on each stretch of a lane, twice a second. A heat map is an observer of a
/// [`Session`](crate::Session), and [`begin`](Observer::begin) resets it.
///
/// A vehicle is counted at its rear axle, on the lane that it follows. A vehicle that follows no
/// lane, such as one on open ground or under manual control, is counted in the square cell that
/// contains the centre of its rear axle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatMap {
    cells: BTreeMap<HeatPlace, HeatCell>,
    /// Number of samples taken so far.
    samples: u64,
    /// Number of collisions counted so far.
    collisions: usize,
}

impl HeatMap {
    /// Length of a stretch of lane, m. The last stretch of a road or connection is shorter.
    pub const STRETCH: f64 = 10.0;
    /// Size of a cell of open ground, m.
    pub const CELL: f64 = 8.0;

    /// Places with observations, sorted by place.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = (HeatPlace, HeatCell)> + '_ {
        self.cells.iter().map(|(&place, &cell)| (place, cell))
    }

    /// Number of samples taken so far. While it is unchanged, the map can only have changed by
    /// added collisions.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    fn take_sample(&mut self, world: &World) {
        self.samples += 1;
        let graph = world.lane_graph();
        // In the order of ids, because the result of a sum depends on the order, and ids are the
        // same in a restored run.
        for agent in world.agents.census().by_growing_id() {
            let index = agent.index();
            let lanelet = world.agents.position[index].lanelet;
            let allowed = if lanelet == NO_LANELET {
                GROUND_SPEED
            } else {
                graph.lanelet(lanelet).free_speed
            };
            let speed = world.agents.motion[index].speed.abs();
            let heat = self.cells.entry(place_of(world, agent)).or_default();
            heat.seen += 1;
            heat.standing += u32::from(speed < STANDING);
            heat.speed += speed;
            heat.allowed += allowed;
        }
    }

    fn take_collisions(&mut self, world: &World) {
        let all = world.collisions();
        for collision in all.get(self.collisions..).unwrap_or_default() {
            // An agent that was removed because of the collision is no longer on a lane.
            let place = match world.agents.census().find(collision.agent) {
                Some(agent) => place_of(world, agent),
                None => ground_cell(collision.x, collision.y),
            };
            self.cells.entry(place).or_default().collisions += 1;
        }
        self.collisions = all.len();
    }
}

impl Observer for HeatMap {
    fn begin(&mut self, world: &World) {
        *self = Self {
            collisions: world.collisions().len(),
            ..Self::default()
        };
    }

    fn after_step(&mut self, world: &World) {
        self.take_collisions(world);
        // Counted from the start and not from the previous sample. Thus a vehicle that stands for
        // 10 s is counted 20 times even if half a second is not a whole number of steps.
        let samples = |steps: u64| (steps as f64 * world.dt() / SAMPLE_TIME + 1e-9).floor();
        if samples(world.steps()) > samples(world.steps() - 1) {
            self.take_sample(world);
        }
    }
}

fn ground_cell(x: f64, y: f64) -> HeatPlace {
    let number = |at: f64| (at / HeatMap::CELL).floor() as i32;
    HeatPlace::Ground(number(x), number(y))
}

/// Place at which an agent is counted.
fn place_of(world: &World, agent: AgentIndex) -> HeatPlace {
    let position = &world.agents.position[agent.index()];
    let on_lane = || lane_place(world.lane_graph(), position.lanelet, position.s);
    let place = position.is_on_lane().then(on_lane).flatten();
    place.unwrap_or_else(|| {
        let at = world.bodies().pose(agent).position;
        ground_cell(at.x, at.y)
    })
}

/// Stretch at the given distance along a lanelet; `None` for a connection without a lane at either end.
fn lane_place(graph: &LaneGraph, id: LaneletIndex, s: f64) -> Option<HeatPlace> {
    let lanelet = graph.lanelet(id);
    let stretch = |s: f64| (s / HeatMap::STRETCH).floor().max(0.0) as u32;
    if let LaneletKind::Lane { road, lane, .. } = lanelet.kind {
        return Some(HeatPlace::Lane((road, lane), stretch(lanelet.road_s(s))));
    }
    let lane_of = |ids: &[LaneletIndex]| match graph.lanelet(*ids.first()?).kind {
        LaneletKind::Lane { road, lane, .. } => Some((road, lane)),
        LaneletKind::Connection { .. } => None,
    };
    let (from, to) = (graph.predecessors(id), graph.successors(id));
    let at = stretch(s.clamp(0.0, lanelet.length()));
    Some(HeatPlace::Connection(lane_of(from)?, lane_of(to)?, at))
}

/// Formats places with their statistics as CSV, with a header and units. A lane has `road`, `lane`,
/// and the start and end of the stretch along the road. A connection also has `to_road` and
/// `to_lane`, and its start and end are along the connection. A cell of open ground has its
/// south-western corner instead. The mean is empty for places without vehicles.
pub fn heat_as_csv(cells: impl IntoIterator<Item = (HeatPlace, HeatCell)>) -> String {
    let mut text = String::from(
        "road,lane,to_road,to_lane,from_m,to_m,x_m,y_m,vehicle_seconds,mean_speed_mps,\
         share_of_limit,standing_share,collisions\n",
    );
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.4}"));
    for (place, cell) in cells {
        let place = match place {
            HeatPlace::Ground(column, row) => {
                let [x, y] = [column, row].map(|at| f64::from(at) * HeatMap::CELL);
                format!(",,,,,,{x},{y}")
            }
            HeatPlace::Lane((road, lane), stretch) => {
                format!("{},{lane},,,{},,", road.0, between(stretch))
            }
            HeatPlace::Connection(from, to, stretch) => {
                let lanes = format!("{},{},{},{}", from.0.0, from.1, to.0.0, to.1);
                format!("{lanes},{},,", between(stretch))
            }
        };
        let written = writeln!(
            text,
            "{place},{},{},{},{},{}",
            cell.vehicle_seconds(),
            number(cell.mean_speed()),
            number(cell.share_of_limit()),
            number(cell.standing_share()),
            cell.collisions,
        );
        written.expect("writing to a String cannot fail");
    }
    text
}

fn between(stretch: u32) -> String {
    let from = f64::from(stretch) * HeatMap::STRETCH;
    format!("{from},{}", from + HeatMap::STRETCH)
}
