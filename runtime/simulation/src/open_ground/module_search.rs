//! Searches that a module carries out itself, and the conversion of their paths to runs that a
//! vehicle can drive.
//!
//! A search takes several steps. In each step, the module is asked the same question with another
//! budget. The map in the question is read only once, so a change within its bounds ends the
//! search.

use super::plans::Planner;
use super::verdict::{NoPath, NoPathKind};
use roadwright_agent::{GroundReason, Searcher};
use roadwright_geometry::math::{mix64, wrap_angle};
use roadwright_geometry::{DVec2, Pose};
use roadwright_planning::open_ground::{
    Bounds, CellSize, Change, DrivableTrailer, DrivenRun, OpenGround, Owner, PLAIN, Reading, Stamp,
    Window,
};
use roadwright_plugin_api::abi::{GROUND_ANY_HEADING, GROUND_NO_REVERSE};
use roadwright_plugin_api::{GridData, GroundPlannerInput, NO_INDEX, NOTHING, PlanPose};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Margin of the bounds around start and goal, as a fraction of the distance between them. It is at
/// least `LEAST_BEYOND`, in m.
const BEYOND: f64 = 0.3;
const LEAST_BEYOND: f64 = 40.0;
/// Maximum number of cells of a map. Larger areas get larger cells.
const MOST_CELLS: f64 = 4e6;
/// A path reaches a goal with a heading if its end is within this distance (m) and heading
/// difference (rad) of the goal.
const AT_POSE: (f64, f64) = (0.1, 0.05);
/// A path reaches a goal without a heading if its end is within this distance of the goal, m.
const AT_PLACE: f64 = 0.5;
/// Minimum speed of a vehicle between the ends of a path, m/s, even if a planner requests less.
const LEAST_SPEED: f64 = 0.3;
/// Runs shorter than this are dropped, m.
const SHORTEST: f64 = 1e-3;

/// A search by a module, in saved form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ModuleSearch {
    /// Number of the search: the step in which it began.
    pub(super) number: u64,
    /// Whether the built-in search is used, because the module has not answered.
    pub(super) by_host: bool,
}

/// Start and vehicle of a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchStart {
    pub(super) from: Pose,
    pub(super) gear: i8,
    pub(super) curvature: f64,
    pub(super) reverses: bool,
}

/// Question to a module. The stage that asks it adds the further inputs that the module has
/// requested.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchQuestion<'a> {
    pub(crate) row: GroundPlannerInput,
    pub(crate) map: Option<&'a ReadMap>,
    /// Hitch angle of the first trailer at the start of the path, rad.
    pub(crate) hitch: f64,
}

/// A map in the form in which a module receives it.
#[derive(Debug, Clone)]
pub(crate) struct ReadMap {
    pub(crate) data: GridData,
    pub(crate) cells: Vec<u16>,
}

/// Area of a search with its map.
#[derive(Debug, Clone)]
pub(super) struct SearchArea {
    bounds: Bounds,
    owner: Owner,
    stamp: Stamp,
    pub(super) map: Option<ReadMap>,
}

impl SearchArea {
    /// Reads the map around a search from a place to the agent's goal.
    pub(super) fn read(map: &mut OpenGround, agent: &Planner<'_>, from: DVec2) -> Self {
        let to = agent.goal;
        let beyond = (BEYOND * (to - from).length()).max(LEAST_BEYOND);
        let bounds = Bounds {
            low: from.min(to),
            high: from.max(to),
        };
        let bounds = bounds.grown(beyond);
        let grid = match agent.planning.searcher {
            Searcher::Host => None,
            Searcher::Module { grid } => grid,
        };
        Self {
            bounds,
            owner: agent.owner(),
            stamp: map.stamp(),
            map: grid.and_then(|cell| read_map(map, agent, bounds, cell)),
        }
    }

    /// Whether the map has changed within the area.
    pub(super) fn is_outdated(&self, map: &OpenGround) -> bool {
        let change = map.change_for(
            Some(self.owner),
            self.stamp,
            &self.bounds,
            Reading::Standing,
        );
        change != Change::Unchanged
    }

    /// Creates the input row for a search with the usual settings of an agent.
    pub(super) fn row(&self, agent: &Planner<'_>, start: SearchStart) -> GroundPlannerInput {
        let heading = agent.heading_at_goal();
        let planning = &agent.planning;
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let (goal_distance, goal_turn) = match heading {
            Some(_) => AT_POSE,
            None => (AT_PLACE, PI),
        };
        GroundPlannerInput {
            start_x: start.from.position.x,
            start_y: start.from.position.y,
            start_heading: start.from.heading,
            speed: agent.speed,
            goal_x: agent.goal.x,
            goal_y: agent.goal.y,
            goal_heading: heading.unwrap_or(0.0),
            goal_distance,
            goal_turn,
            min_x: self.bounds.low.x,
            min_y: self.bounds.low.y,
            max_x: self.bounds.high.x,
            max_y: self.bounds.high.y,
            curvature: start.curvature,
            clearance: planning.tracking_margin,
            least_clearance: planning.least_margin.min(planning.tracking_margin),
            reverse: planning.reverse,
            start_gear: i32::from(start.gear),
            flags: flag(heading.is_none(), GROUND_ANY_HEADING)
                | flag(!start.reverses, GROUND_NO_REVERSE),
            vehicle: NO_INDEX,
            object: NO_INDEX,
            grid: NO_INDEX,
            ..GroundPlannerInput::default()
        }
    }
}

/// Reads the cells within bounds. Doubles the cell size until their number is within the limit.
fn read_map(
    map: &mut OpenGround,
    agent: &Planner<'_>,
    bounds: Bounds,
    cell: f64,
) -> Option<ReadMap> {
    let extent = bounds.high - bounds.low;
    let mut metres = cell;
    while (extent.x / metres + 2.0) * (extent.y / metres + 2.0) > MOST_CELLS {
        metres *= 2.0;
    }
    let size = CellSize::new(metres)?;
    let profile = map.add_profile(agent.profile(metres));
    let (low, high) = (size.cell_of(bounds.low)?, size.cell_of(bounds.high)?);
    let window = Window {
        origin: low,
        columns: low.x.abs_diff(high.x) + 1,
        rows: low.y.abs_diff(high.y) + 1,
    };
    let read = map.window(profile, Some(agent.owner()), Reading::Standing, window);
    let read = read.ok()?;
    let factors = read.cells().map(|cell| read.factor_at(cell));
    let cells: Vec<u16> = factors
        .map(|factor| u16::try_from(factor).unwrap_or(u16::MAX))
        .collect();
    let corner = size.centre(low) - 0.5 * metres;
    let mut data = GridData {
        x: corner.x,
        y: corner.y,
        cell: metres,
        version: 0,
        columns: window.columns,
        rows: window.rows,
        first: 0,
        plain: PLAIN as u32,
    };
    data.version = version_of(&data, &cells);
    Some(ReadMap { data, cells })
}

/// Hash that identifies a map; never 0.
fn version_of(data: &GridData, cells: &[u16]) -> u64 {
    let shape = [data.x.to_bits(), data.y.to_bits(), data.cell.to_bits()];
    let shape = shape.into_iter().chain([u64::from(data.columns)]);
    let words = cells.chunks(4).map(|cells| {
        let cells = cells.iter();
        cells.fold(0, |word, &cell| word << 16 | u64::from(cell))
    });
    let hash = shape
        .chain(words)
        .fold(0, |hash, word| mix64(hash ^ mix64(word)));
    hash.max(1)
}

impl From<GroundReason> for NoPath {
    fn from(reason: GroundReason) -> Self {
        let (kind, text) = match reason {
            GroundReason::StartBlocked => (NoPathKind::StartBlocked, "the start is blocked"),
            GroundReason::GoalBlocked => (NoPathKind::GoalBlocked, "the goal is blocked"),
            GroundReason::StartWalledIn => (NoPathKind::StartWalledIn, "the start is walled in"),
            GroundReason::GoalWalledIn => (NoPathKind::GoalWalledIn, "the goal is walled in"),
        };
        Self {
            kind,
            text: format!("the ground planner reports that {text}"),
            gap: None,
        }
    }
}

/// Part of a path driven in one gear, with the speeds that a planner allows at its poses.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) driven: DrivenRun,
    /// Maximum speed at each pose, m/s; empty if the planner leaves the choice of speeds to the
    /// host.
    pub(super) speeds: Vec<f64>,
}

/// Divides the poses of a planner into runs, each in one gear, and resamples them at equal
/// distances of at most `step` metres. `hitch` is the hitch angle at the start (rad), if there is
/// exactly one trailer.
pub(super) fn runs_of(
    poses: &[PlanPose],
    step: f64,
    trailer: Option<&DrivableTrailer>,
    mut hitch: f64,
) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut begin = 0;
    while begin + 1 < poses.len() {
        let gear = poses[begin + 1].gear;
        let same = poses[begin + 1..].iter();
        let end = begin + same.take_while(|pose| pose.gear == gear).count();
        let run = run_of(&poses[begin..=end], step, trailer, &mut hitch);
        runs.extend(run);
        begin = end;
    }
    runs
}

fn pose_of(pose: &PlanPose) -> Pose {
    Pose::new(pose.x, pose.y, pose.heading)
}

/// Creates a run through the given poses, and updates `hitch` along it. `None` if the run is too
/// short.
fn run_of(
    poses: &[PlanPose],
    step: f64,
    trailer: Option<&DrivableTrailer>,
    hitch: &mut f64,
) -> Option<Run> {
    let gear = if poses[1].gear < 0 { -1 } else { 1 };
    let pieces = poses
        .windows(2)
        .map(|pair| Piece::new(&pair[0], &pair[1], gear));
    let pieces: Vec<Piece> = pieces.filter(|piece| piece.length > 1e-9).collect();
    let whole: f64 = pieces.iter().map(|piece| piece.length).sum();
    if whole < SHORTEST {
        return None;
    }
    let count = (whole / step).ceil().max(1.0) as usize;
    let spacing = whole / count as f64;
    let mut driven = DrivenRun {
        gear,
        spacing,
        poses: Vec::with_capacity(count + 1),
        hitches: vec![*hitch],
    };
    let mut speeds = Vec::with_capacity(count + 1);
    let (mut at, mut before) = (0, 0.0);
    for number in 0..=count {
        let s = spacing * number as f64;
        while at + 1 < pieces.len() && s > before + pieces[at].length {
            before += pieces[at].length;
            at += 1;
        }
        let share = ((s - before) / pieces[at].length).clamp(0.0, 1.0);
        let pose = pieces[at].pose(share);
        if let (Some(trailer), Some(last)) = (trailer, driven.poses.last()) {
            let length = f64::from(gear) * (pose.position - last.position).length();
            let turn = wrap_angle(pose.heading - last.heading);
            *hitch = trailer.hitch_after_arc(*hitch, turn / length, length);
        }
        if number > 0 {
            driven.hitches.push(*hitch);
        }
        driven.poses.push(pose);
        speeds.push(pieces[at].speed(share));
    }
    if speeds.iter().all(|speed| *speed >= NOTHING) {
        speeds.clear();
    }
    Some(Run { driven, speeds })
}

/// The movement between two successive poses.
struct Piece {
    from: Pose,
    to: Pose,
    length: f64,
    /// Driving direction: 1 forwards, -1 in reverse.
    sign: f64,
    speeds: [f64; 2],
}

impl Piece {
    fn new(from: &PlanPose, to: &PlanPose, gear: i8) -> Self {
        let poses = [from, to].map(pose_of);
        let turn = wrap_angle(to.heading - from.heading);
        let chord = (poses[1].position - poses[0].position).length();
        // Length of the arc between the poses.
        let length = chord * (1.0 + turn * turn / 24.0);
        let time = to.time - from.time;
        let timed = match to.time < NOTHING && from.time < NOTHING && time > 0.0 {
            true => length / time,
            false => NOTHING,
        };
        Self {
            from: poses[0],
            to: poses[1],
            length,
            sign: f64::from(gear),
            speeds: [from, to].map(|pose| pose.speed.min(timed).max(LEAST_SPEED)),
        }
    }

    /// Pose at a fraction of the piece, on a curve that has the headings of both poses at its ends.
    fn pose(&self, share: f64) -> Pose {
        let t = share;
        let tangent = |pose: &Pose| pose.forward() * (self.sign * self.length);
        let (a, b) = (self.from.position, self.to.position);
        let position = a * ((1.0 + 2.0 * t) * (1.0 - t) * (1.0 - t))
            + tangent(&self.from) * (t * (1.0 - t) * (1.0 - t))
            + b * (t * t * (3.0 - 2.0 * t))
            + tangent(&self.to) * (t * t * (t - 1.0));
        let turn = wrap_angle(self.to.heading - self.from.heading);
        Pose {
            position,
            heading: wrap_angle(self.from.heading + t * turn),
        }
    }

    /// Maximum speed at a fraction of the piece, m/s. If the speed at one end is left to the host,
    /// the speed at the other end is used.
    fn speed(&self, share: f64) -> f64 {
        let [from, to] = self.speeds;
        match from.max(to) >= NOTHING {
            true => from.min(to),
            false => from + share * (to - from),
        }
    }
}
