//! Paint that leads through junctions: cycle lanes from arm to arm, and guide lines for who turns across the
//! oncoming traffic.
//!
//! ```text
//!   ------+ #   # +------      # crosswalks: what leads through ends before them
//!    ==>  | #===# |  ==>       = a cycle lane, between squares where others cross it
//!   ------+ #\  # +------      \ the way of who turns across
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

/// Arms that bend more from one to the other are not straight on for a cycle lane, rad.
const MOST_BEND: f64 = 0.6;
/// Distance of the points along what leads through, m.
const STEP: f64 = 0.25;
/// What leads through ends this far before a crosswalk, m.
const CLEAR: f64 = 0.3;
/// What would be shorter is not painted, m.
const LEAST: f64 = 2.0;
/// Squares beside a cycle lane where others cross it at a signal (on, off), and their width, m.
const SQUARES: ((f64, f64), f64) = ((0.4, 0.4), 0.4);
/// Blocks beside it across the mouth of a side road (on, off), and their width, m.
const BLOCKS: ((f64, f64), f64) = ((0.5, 0.5), 0.3);
/// Dashes of guide lines (on, off), m.
const DASH: (f64, f64) = (1.0, 1.0);
/// How strong the colour of a cycle lane is where others cross it.
const CROSSED: f32 = 0.55;

/// A cycle lane through a junction.
struct CyclePath {
    /// Left edge, right edge, in the direction of travel.
    edges: [Vec<DVec2>; 2],
    /// Whether others cross it.
    is_crossed: bool,
    has_signals: bool,
}

/// The colour of cycle lanes that lead through junctions.
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

/// The lines beside them, and guide lines.
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
            // Beside a kerb there is no line: on the nearer side, unless others come in there.
            let nearer = usize::from(junction.side == DrivingSide::Right);
            for (edge, points) in path.edges.iter().enumerate() {
                if path.is_crossed || edge != nearer {
                    painter.line(points, width, 0.8, dash, color);
                }
            }
        }
        for points in guide_lines(junction) {
            painter.line(&points, LINE, 0.8, Some(DASH), faint);
        }
    }
}

/// The cycle lanes that go on straight through a junction.
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

/// A cycle lane at the cut of an arm, in the direction of travel.
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
            // Who rides along the road comes in at its end.
            if is_forward == (arm.end == RoadEnd::End) {
                lanes.entering = Some(cycle_lane);
            } else {
                lanes.leaving = Some(cycle_lane);
            }
        }
        lanes
    }
}

/// The arm that goes on most nearly straight from another one.
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

/// Whether an arm lies on the nearer side of who goes from one arm to another: arms stand
/// counter-clockwise, so those after the first one lie to its right.
fn others_come_in(junction: &Junction, from: usize, to: usize) -> bool {
    let count = junction.arms.len();
    let (first, last) = match junction.side {
        DrivingSide::Right => (from, to),
        DrivingSide::Left => (to, from),
    };
    (first + 1) % count != last
}

/// The left edges, seen in right-hand traffic, of the ways of who turns across the oncoming traffic at
/// signals, from lanes that lead nowhere else.
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
    // Into an extra lane that opens beyond, there is no line of its own.
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

/// Points to the left of a curve, as far as it is from its start to its end, between the crosswalks that it
/// leads over; nothing where that is too short.
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
