//! Paint inside junctions: cycle lanes from arm to arm, and guide lines for turns across oncoming
//! traffic.
//!
//! ```text
//!   ------+ #   # +------      # crosswalks: paint through the junction stops before them
//!    ==>  | #===# |  ==>       = a cycle lane, between squares where other traffic crosses it
//!   ------+ #\  # +------      \ the path of a turn across oncoming traffic
//!            : \ :
//! ```

use crate::marking::{CYCLE_LINE, LINE, opacity};
use crate::painter::{Painter, Pass};
use crate::palette::{CYCLE_LANE, MARKING, faded};
use glam::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, ReferenceLine, heading_of};
use roadwright_scenario::junction::{ArmEnd, Crossing, Junction, LinkKind, Turn, connecting_curve};
use roadwright_scenario::{Control, DrivingSide, LaneType, RoadEnd, Scenario};
use std::f64::consts::PI;

/// Largest change of direction between two arms that a cycle lane connects, rad.
const MOST_BEND: f64 = 0.6;
/// Distance between points along the paint, m.
const STEP: f64 = 0.25;
/// Distance between a crosswalk and the end of the paint before it, m.
const CLEAR: f64 = 0.3;
/// Minimum length of a painted piece, m.
const LEAST: f64 = 2.0;
/// Lengths (on, off) and width of the squares beside a cycle lane where other traffic crosses it at a signal,
/// m.
const SQUARES: ((f64, f64), f64) = ((0.4, 0.4), 0.4);
/// Lengths (on, off) and width of the blocks beside a cycle lane across the mouth of a side road, m.
const BLOCKS: ((f64, f64), f64) = ((0.5, 0.5), 0.3);
/// Dashes of guide lines (on, off), m.
const DASH: (f64, f64) = (1.0, 1.0);
/// Opacity of a cycle lane's colour where other traffic crosses the lane.
const CROSSED: f32 = 0.55;

/// A cycle lane through a junction.
struct CyclePath {
    /// The left and right edges, in the driving direction.
    edges: [Vec<DVec2>; 2],
    /// Whether other traffic crosses the cycle lane.
    is_crossed: bool,
    has_signals: bool,
}

/// Draws the surfaces of cycle lanes through junctions.
pub(crate) fn cycle_surfaces(
    painter: &mut impl Painter,
    scenario: &Scenario,
    junctions: &[&Junction],
) {
    painter.begin(Pass::Lane);
    for junction in junctions {
        for path in cycle_paths(scenario, junction) {
            let strength = if path.is_crossed { CROSSED } else { 1.0 };
            let [left, right] = &path.edges;
            let outline: Vec<DVec2> = left.iter().chain(right.iter().rev()).copied().collect();
            painter.polygon(&outline, faded(CYCLE_LANE, strength));
        }
    }
}

/// Draws the lines beside cycle lanes, and guide lines.
pub(crate) fn lines(painter: &mut impl Painter, scenario: &Scenario, junctions: &[&Junction]) {
    let alpha = opacity(painter.scale(), 3.25);
    if alpha == 0.0 {
        return;
    }
    let color = faded(MARKING, 0.95 * alpha);
    let faint = faded(MARKING, 0.6 * alpha);
    for junction in junctions {
        for path in cycle_paths(scenario, junction) {
            let (dash, width) = match (path.is_crossed, path.has_signals) {
                (false, _) => (None, CYCLE_LINE),
                (true, true) => (Some(SQUARES.0), SQUARES.1),
                (true, false) => (Some(BLOCKS.0), BLOCKS.1),
            };
            // There is no line at the kerb on the near side, unless other traffic enters there.
            let nearer = usize::from(junction.side == DrivingSide::Right);
            for (edge, points) in path.edges.iter().enumerate() {
                if path.is_crossed || edge != nearer {
                    painter.dashed_line(points, width, 0.8, dash, color);
                }
            }
        }
        for points in guide_lines(junction) {
            painter.dashed_line(&points, LINE, 0.8, Some(DASH), faint);
        }
    }
}

/// Returns the cycle lanes that continue straight through a junction.
fn cycle_paths(scenario: &Scenario, junction: &Junction) -> Vec<CyclePath> {
    let arms = &junction.arms;
    let is_round = matches!(
        junction.control,
        Control::Roundabout | Control::MiniRoundabout
    );
    if is_round || !junction.is_crossing() {
        return Vec::new();
    }
    let lanes: Vec<ArmCycleLanes> = arms
        .iter()
        .map(|arm| ArmCycleLanes::at(scenario, arm))
        .collect();
    let mut paths = Vec::new();
    for (from, lane) in lanes.iter().enumerate() {
        let Some(into) = lane.entering else { continue };
        let straight = straight_on(junction, from).and_then(|to| Some((to, lanes[to].leaving?)));
        let Some((to, out)) = straight else { continue };
        let Some(curve) = connecting_curve(into.pose, out.pose) else {
            continue;
        };
        let edge = |share: f64| {
            let (start, end) = (share * into.width, share * out.width);
            beside(&curve, start, end, &junction.crossings)
        };
        let edges = [edge(0.5), edge(-0.5)];
        if edges.iter().all(|edge| edge.len() > 1) {
            paths.push(CyclePath {
                edges,
                is_crossed: others_come_in(junction, from, to),
                has_signals: junction.control == Control::Signals,
            });
        }
    }
    paths
}

/// The end of a cycle lane at the cut of an arm. The pose has the driving direction.
#[derive(Clone, Copy)]
struct CycleLane {
    pose: Pose,
    width: f64,
}

/// The cycle lanes of an arm.
#[derive(Default)]
struct ArmCycleLanes {
    entering: Option<CycleLane>,
    leaving: Option<CycleLane>,
}

impl ArmCycleLanes {
    fn at(scenario: &Scenario, arm: &ArmEnd) -> Self {
        let Some(road) = scenario.network().road(arm.road) else {
            return Self::default();
        };
        let s = match arm.end {
            RoadEnd::Start => arm.trim,
            RoadEnd::End => road.length() - arm.trim,
        };
        let section = road.section_at(s);
        let bands = road.lane_bands(section, s);
        let mut lanes = Self::default();
        for (lane, band) in section.lanes.iter().zip(bands) {
            if lane.kind != LaneType::Biking {
                continue;
            }
            let is_forward = lane.is_forward(scenario.about().driving_side);
            let along = road.reference_line.offset_pose(s, band.centre);
            let cycle_lane = CycleLane {
                pose: if is_forward { along } else { along.reversed() },
                width: band.width,
            };
            // Cyclists who ride in the direction of the road enter the junction at the end of the road.
            if is_forward == (arm.end == RoadEnd::End) {
                lanes.entering = Some(cycle_lane);
            } else {
                lanes.leaving = Some(cycle_lane);
            }
        }
        lanes
    }
}

/// Returns the arm that continues another arm most nearly straight on; `None` if all arms bend by
/// [`MOST_BEND`] or more.
fn straight_on(junction: &Junction, from: usize) -> Option<usize> {
    let bearing = |arm: &ArmEnd| {
        let middle = 0.5 * (arm.left_cut + arm.right_cut);
        heading_of(middle - junction.centre)
    };
    let own = bearing(&junction.arms[from]);
    let bend = |to: &usize| PI - wrap_angle(bearing(&junction.arms[*to]) - own).abs();
    let others = (0..junction.arms.len()).filter(|to| *to != from);
    let best = others.min_by(|a, b| bend(a).total_cmp(&bend(b)));
    best.filter(|to| bend(to) < MOST_BEND)
}

/// Whether another arm joins on the near side of traffic from arm `from` to arm `to`. Arms are ordered
/// counter-clockwise, so the arms after the first one are to its right.
fn others_come_in(junction: &Junction, from: usize, to: usize) -> bool {
    let count = junction.arms.len();
    let (first, last) = match junction.side {
        DrivingSide::Right => (from, to),
        DrivingSide::Left => (to, from),
    };
    (first + 1) % count != last
}

/// Returns the guide lines for turns across oncoming traffic at signals. They are drawn only for lanes that
/// permit no other turn. In right-hand traffic, they are the left edges of the paths.
fn guide_lines(junction: &Junction) -> Vec<Vec<DVec2>> {
    if junction.control != Control::Signals {
        return Vec::new();
    }
    let across = Turn::far(junction.side);
    let share = 0.5 * junction.side.around();
    let leads_elsewhere = |from| {
        let mut paths = junction.paths.iter();
        paths.any(|path| path.from == from && path.turn != across)
    };
    let turns = junction.paths.iter();
    // An extra lane that opens beyond the junction has no guide line.
    let turns = turns.filter(|path| {
        path.turn == across && path.kind == LinkKind::Normal && !leads_elsewhere(path.from)
    });
    let lines = turns.filter_map(|path| {
        let (start, end) = (share * path.width.0, share * path.width.1);
        let line = beside(path.curve.as_ref()?, start, end, &junction.crossings);
        (line.len() > 1).then_some(line)
    });
    lines.collect()
}

/// Returns a line to the left of a curve, between its crosswalks. The distance from the curve changes from
/// `start` to `end`. The line is empty if it would be too short.
fn beside(curve: &ReferenceLine, start: f64, end: f64, crossings: &[Crossing]) -> Vec<DVec2> {
    let length = curve.length();
    let count = (length / STEP).ceil().max(1.0);
    let is_free = |middle: DVec2| {
        !crossings.iter().any(|crossing| {
            let at = crossing.right_kerb.to_local(middle);
            let is_beside = at.y < 0.0 || at.y > crossing.length;
            !is_beside && at.x.abs() < 0.5 * crossing.width + CLEAR
        })
    };
    let mut longest: Vec<DVec2> = Vec::new();
    let mut run: Vec<DVec2> = Vec::new();
    for i in 0..=count as u32 {
        let share = f64::from(i) / count;
        let s = share * length;
        if is_free(curve.point(s, 0.0)) {
            run.push(curve.point(s, start + share * (end - start)));
        } else if run.len() > longest.len() {
            longest = std::mem::take(&mut run);
        } else {
            run.clear();
        }
    }
    if run.len() > longest.len() {
        longest = run;
    }
    let is_too_short = longest.len() as f64 * length / count < LEAST;
    if is_too_short { Vec::new() } else { longest }
}
