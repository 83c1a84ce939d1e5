//! Arrows on the road. They are painted only where a driver has to choose a lane, and at the start of one-way
//! streets.

use crate::painter::Painter;
use crate::palette::{MARKING, faded};
use glam::DVec2;
use roadwright_geometry::{Pose, unit};
use roadwright_scenario::junction::{Arm, ArmEnd, Junction, Layout, Turn};
use roadwright_scenario::{Lane, LaneType, Road, RoadClass, RoadEnd, RoadId, Scenario};
use std::collections::BTreeSet;
use std::f64::consts::FRAC_PI_2;

/// Scales between which arrows fade in, pixels per metre. Below the first they are invisible, and above the
/// second they are fully visible.
const FADE: (f64, f64) = (1.0 / 0.35, 1.0 / 0.25);
/// Distances from the cut of a lane to the tips of its two arrows, m. The tips are 2 m and 20 m before the
/// stop line.
const BEFORE_CUT: [f64; 2] = [2.2, 20.2];
/// Length of an arrow, m.
const LENGTH: f64 = 5.0;
/// Width of the shaft of an arrow, m.
const SHAFT: f64 = 0.2;
/// Length and half-width of the head of a straight arrow, m.
const HEAD: (f64, f64) = (1.5, 0.4);
/// Length and half-width of the head of a turn arrow, m.
const SIDE_HEAD: (f64, f64) = (0.75, 0.5);
/// Radius of the bend of a turn arrow, m.
const BEND: f64 = 0.55;
/// Distance from a junction to the arrow of a one-way street that begins there, m.
const AFTER_JUNCTION: f64 = 4.0;
/// Minimum length of a one-way street that gets arrows, m.
const LEAST_ONE_WAY: f64 = 15.0;

fn opacity(scale: f64) -> f32 {
    (0.9 * ((scale - FADE.0) / (FADE.1 - FADE.0)).clamp(0.0, 1.0)) as f32
}

/// Draws the arrows of approaches whose lanes lead to different exits.
pub(crate) fn turns(
    canvas: &mut impl Painter,
    scenario: &Scenario,
    layout: &Layout,
    junctions: &[&Junction],
) {
    let alpha = opacity(canvas.scale());
    if alpha == 0.0 {
        return;
    }
    for junction in junctions.iter().filter(|junction| junction.is_crossing()) {
        for end in &junction.arms {
            let Some(road) = scenario.network().road(end.road) else {
                continue;
            };
            let lanes = choices(scenario, junction, end, road);
            if lanes.len() < 2 || lanes.iter().all(|(_, turns)| *turns == lanes[0].1) {
                continue;
            }
            let Some((from, to)) = layout.remaining(end.road, road) else {
                continue;
            };
            for before in BEFORE_CUT {
                // The arrow must fit on the road.
                if before + LENGTH > to - from {
                    continue;
                }
                let s = Arm::new(end.road, road, end.end).road_s(end.trim + before);
                for (lane, turns) in &lanes {
                    if let Some(tip) = lane_pose(road, *lane, s, end.end == RoadEnd::End) {
                        arrow(canvas, tip, turns, alpha);
                    }
                }
            }
        }
    }
}

/// Returns the turns of each general lane that leads from an arm into the junction, by lane id.
fn choices(
    scenario: &Scenario,
    junction: &Junction,
    end: &ArmEnd,
    road: &Road,
) -> Vec<(i8, BTreeSet<Turn>)> {
    let side = scenario.about().driving_side;
    let lanes = Arm::new(end.road, road, end.end).entering_lanes(end.trim, side);
    let s = match end.end {
        RoadEnd::Start => 0.0,
        RoadEnd::End => road.length(),
    };
    let is_general = |id: i8| {
        let kind = road.lane(id, s).map(|lane| lane.kind);
        kind == Some(LaneType::Driving)
    };
    let turns = |id: i8| -> BTreeSet<Turn> {
        let own = junction.paths.iter().filter(|path| {
            (path.from.road, path.from.end, path.from.lane) == (end.road, end.end, id)
        });
        own.map(|path| path.turn).collect()
    };
    lanes
        .iter()
        .filter(|lane| is_general(lane.id))
        .map(|lane| (lane.id, turns(lane.id)))
        .filter(|(_, turns)| !turns.is_empty())
        .collect()
}

/// Draws an arrow in each lane at the start of a one-way street.
pub(crate) fn one_ways(
    canvas: &mut impl Painter,
    scenario: &Scenario,
    layout: &Layout,
    roads: &[RoadId],
) {
    let alpha = opacity(canvas.scale());
    if alpha == 0.0 {
        return;
    }
    let side = scenario.about().driving_side;
    for &id in roads.iter().filter(|id| !layout.rings.contains(id)) {
        let Some(road) = scenario.network().road(id) else {
            continue;
        };
        let is_street = (RoadClass::Service..=RoadClass::Arterial).contains(&road.class);
        let Some((from, to)) = layout.remaining(id, road).filter(|_| is_street) else {
            continue;
        };
        let forward = road.lanes_forward(from, side) > 0;
        if forward == (road.lanes_backward(from, side) > 0) {
            continue;
        }
        let node = if forward { road.from } else { road.to };
        let begins_there = layout.junction_at(node).is_some_and(|j| j.is_crossing());
        if !begins_there || to - from < LEAST_ONE_WAY {
            continue;
        }
        let tip = AFTER_JUNCTION + LENGTH;
        let s = if forward { from + tip } else { to - tip };
        let is_driven = |lane: &&Lane| lane.kind.is_drivable();
        for lane in road.section_at(s).lanes.iter().filter(is_driven) {
            if let Some(tip) = lane_pose(road, lane.id, s, forward) {
                arrow(canvas, tip, &BTreeSet::from([Turn::Straight]), alpha);
            }
        }
    }
}

/// Returns the pose of a lane's centre in the driving direction; `None` if the road has no such
/// lane at `s`.
fn lane_pose(road: &Road, lane: i8, s: f64, forward: bool) -> Option<Pose> {
    let pose = road
        .reference_line
        .offset_pose(s, road.lane_band(lane, s)?.centre);
    Some(if forward { pose } else { pose.reversed() })
}

/// Draws an arrow with its tip at a pose: a shaft, and a head for each turn.
///
/// ```text
///          .-> left: a bend and a head across the lane
///   -------+----->  ahead
/// ```
fn arrow(canvas: &mut impl Painter, tip: Pose, turns: &BTreeSet<Turn>, alpha: f32) {
    let color = faded(MARKING, alpha);
    let at = |x: f64, y: f64| tip.point(x - LENGTH, y);
    let ahead = turns.contains(&Turn::Straight);
    // The branch of a turn is at the end of the shaft or, if there is also a straight arrow, halfway along
    // it.
    let branch = if ahead { 0.3 * LENGTH } else { 0.6 * LENGTH };
    let shaft = if ahead { LENGTH - HEAD.0 } else { branch };
    canvas.line(&[at(0.0, 0.0), at(shaft, 0.0)], SHAFT, 0.8, color);
    if ahead {
        let head = [at(LENGTH, 0.0), at(shaft, HEAD.1), at(shaft, -HEAD.1)];
        canvas.polygon(&head, color);
    }
    for (turn, left) in [(Turn::Left, 1.0), (Turn::Right, -1.0)] {
        if !turns.contains(&turn) {
            continue;
        }
        let bend = (0..=6).map(|i| {
            let on = BEND * (unit(-FRAC_PI_2 + FRAC_PI_2 * f64::from(i) / 6.0) + DVec2::Y);
            at(branch + on.x, left * on.y)
        });
        canvas.line(&bend.collect::<Vec<_>>(), SHAFT, 0.8, color);
        let (x, y) = (branch + BEND, BEND);
        let head = [
            at(x, left * (y + SIDE_HEAD.0)),
            at(x + SIDE_HEAD.1, left * y),
            at(x - SIDE_HEAD.1, left * y),
        ];
        canvas.polygon(&head, color);
    }
}
