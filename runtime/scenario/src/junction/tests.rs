mod conflicts;
mod control;
mod crossings;
mod invariants;
mod mini;
mod progress;
mod rings;
mod setback;
mod shape;
mod short_roads;
mod splitter;
mod stages;
mod trims;
mod turns;

use super::*;
use crate::access::RoadAccess;
use crate::index::ConnectionIndex;
use crate::junction_rules::{CrossingRule, SignalMode};
use crate::lane_type::LaneType;
use crate::road::{CrossSection, Road, RoadClass};
use proptest::prelude::*;
use roadwright_geometry::math::{cos, sin, tan, wrap_angle};
use roadwright_geometry::{Pose, Segment, polygon, unit};
use std::collections::BTreeSet;

const RIGHT: DrivingSide = DrivingSide::Right;
/// Minimum radius of the paths around corners for cars, with a tolerance for rounding, m.
const LEAST_RADIUS: f64 = U_TURN_RADIUS - 1e-3;

/// Creates a straight road outward from the origin.
fn arm(bearing_deg: f64, length: f64, section: CrossSection, side: DrivingSide) -> Road {
    let far = unit(bearing_deg.to_radians()) * length;
    let (lane_offset, lanes) = section.lanes(side);
    Road {
        from: NodeId(0),
        to: NodeId(1),
        name: String::new(),
        class: RoadClass::Residential,
        layer: 0,
        access: RoadAccess::All,
        speed_limit: 10.0.into(),
        reference_line: ReferenceLine::straight(DVec2::ZERO, far).unwrap(),
        lane_offset,
        lane_sections: vec![lanes],
    }
}

fn two_way(bearing_deg: f64) -> Road {
    arm(bearing_deg, 100.0, CrossSection::driving(1, 1, 3.5), RIGHT)
}

fn junction_of(roads: &[Road], side: DrivingSide) -> Junction {
    decided(roads, side, None)
}

/// Creates a site without rules that permits all turns.
fn site(side: DrivingSide) -> Site<'static> {
    Site {
        nodes: vec![NodeId(0)],
        centre: DVec2::ZERO,
        side,
        rules: JunctionRules::default(),
        law: RoadLaw::default(),
        is_ring: &|_| false,
        allows: &|_, _| Some(LaneAccess::All),
        limits: &|_, _| None,
    }
}

/// Returns the arms at the starts of roads. Roads are numbered from 1.
fn arms_of(roads: &[Road]) -> Vec<Arm<'_>> {
    let arm = |(road, id)| Arm::new(RoadId(id), road, RoadEnd::Start);
    roads.iter().zip(1..).map(arm).collect()
}

/// Returns the junction at the starts of roads, with the given rules.
fn built(roads: &[Road], side: DrivingSide, rules: JunctionRules) -> Junction {
    let site = Site {
        rules,
        ..site(side)
    };
    build(&site, arms_of(roads))
}

fn decided(roads: &[Road], side: DrivingSide, control: Option<Control>) -> Junction {
    let rules = JunctionRules {
        control,
        ..JunctionRules::default()
    };
    built(roads, side, rules)
}

/// A straight road between nodes: its id, its two nodes, and its numbers of forward and backward lanes.
type Street = (u32, u32, u32, (usize, usize));

fn network_of(nodes: &[(f64, f64)], width: f64, streets: &[Street]) -> crate::RoadNetwork {
    let mut network = crate::RoadNetwork::default();
    for (&place, id) in nodes.iter().zip(0..) {
        network.put_node(NodeId(id), crate::Node::at(place.into()));
    }
    for &(id, from, to, (forward, backward)) in streets {
        let section = CrossSection::driving(forward, backward, width);
        let mut road = arm(0.0, 1.0, section, RIGHT);
        let place = |node: u32| nodes[node as usize].into();
        road.reference_line = ReferenceLine::straight(place(from), place(to)).unwrap();
        (road.from, road.to) = (NodeId(from), NodeId(to));
        network.put_road(RoadId(id), road);
    }
    network
}

/// Returns the roads from the origin. The angles between neighbouring roads are proportional to
/// `gaps`.
fn random_roads(gaps: &[f64], lanes: &[(usize, usize, f64)], side: DrivingSide) -> Vec<Road> {
    let total: f64 = gaps.iter().sum();
    let mut bearing = 13.0;
    gaps.iter()
        .zip(lanes)
        .map(|(gap, &(forward, backward, width))| {
            bearing += 360.0 * gap / total;
            let section = CrossSection::driving(forward, backward, width);
            // Half of the roads have pavements of various widths.
            let section = if width > 3.4 {
                section.with_border(crate::LaneType::Sidewalk, 5.0 * (width - 3.3))
            } else {
                section
            };
            arm(bearing, 150.0, section, side)
        })
        .collect()
}

/// Returns the mirror image of a road (y to -y), including its lanes.
fn mirrored(road: &Road) -> Road {
    let end = road.reference_line.end().position;
    let line = ReferenceLine::straight(DVec2::ZERO, DVec2::new(end.x, -end.y)).unwrap();
    let mut mirrored = Road {
        reference_line: line,
        ..road.clone()
    };
    for offset in &mut mirrored.lane_offset {
        offset.a = (-offset.a).into();
    }
    for section in &mut mirrored.lane_sections {
        for lane in &mut section.lanes {
            lane.id = -lane.id;
        }
        section.lanes.reverse();
    }
    mirrored
}

/// Creates a junction of residential streets at the given bearings, with one lane in each
/// direction.
fn ruled(
    bearings: &[f64],
    side: DrivingSide,
    change: impl FnOnce(&mut [Road], &mut JunctionRules),
) -> Junction {
    let section = || CrossSection::driving(1, 1, 3.5);
    let mut roads: Vec<Road> = bearings
        .iter()
        .map(|&b| arm(b, 100.0, section(), side))
        .collect();
    let mut rules = JunctionRules::default();
    change(&mut roads, &mut rules);
    built(&roads, side, rules)
}

/// Returns the sign of each road, in the order of road ids.
fn signs(junction: &Junction) -> Vec<Sign> {
    let mut signs: Vec<_> = junction
        .arms
        .iter()
        .map(|arm| (arm.road, arm.sign))
        .collect();
    signs.sort_unstable();
    signs.into_iter().map(|(_, sign)| sign).collect()
}

/// Returns the index of the path from one road into another.
fn path(junction: &Junction, from: u32, to: u32) -> ConnectionIndex {
    let is = |p: &ConnectingPath| (p.from.road, p.to.road) == (RoadId(from), RoadId(to));
    ConnectionIndex::from_index(junction.paths.iter().position(is).unwrap())
}

const CROSS: [f64; 4] = [0.0, 90.0, 180.0, 270.0];

/// Returns the signals of a crossing.
fn signals(junction: &Junction, speed: f64) -> Signals {
    let mut junction = junction.clone();
    for arm in &mut junction.arms {
        arm.speed_limit = speed;
    }
    Signals::of(&junction, &Conflicts::of(&junction)).unwrap()
}

/// Creates a network of one-way roads along a ring with an arm at each node. `sense` is +1 for
/// counter-clockwise.
fn ring(radius: f64, arms: u32, sense: f64, side: DrivingSide) -> crate::RoadNetwork {
    let mut network = crate::RoadNetwork::default();
    let step = sense * std::f64::consts::TAU / f64::from(arms);
    let at = |i: u32, r: f64| unit(step * f64::from(i)) * r;
    let section = |forward: usize, backward: usize| CrossSection::driving(forward, backward, 4.0);
    let road = |from: u32, to: u32, line: ReferenceLine, section: CrossSection, side| {
        let (lane_offset, lanes) = section.lanes(side);
        Road {
            from: NodeId(from),
            to: NodeId(to),
            name: String::new(),
            class: RoadClass::Residential,
            layer: 0,
            access: RoadAccess::All,
            speed_limit: 10.0.into(),
            reference_line: line,
            lane_offset,
            lane_sections: vec![lanes],
        }
    };
    for i in 0..arms {
        network.put_node(NodeId(i), crate::Node::at(at(i, radius)));
        network.put_node(NodeId(100 + i), crate::Node::at(at(i, radius + 80.0)));
    }
    for i in 0..arms {
        let next = (i + 1) % arms;
        let heading = step * f64::from(i) + sense * std::f64::consts::FRAC_PI_2;
        let start = roadwright_geometry::Pose {
            position: at(i, radius),
            heading,
        };
        let bend = roadwright_geometry::Segment::Arc {
            length: radius * step.abs(),
            curvature: sense / radius,
        };
        let line = ReferenceLine::new(start, vec![bend]).unwrap();
        network.put_road(RoadId(i), road(i, next, line, section(1, 0), side));
        let out = ReferenceLine::straight(at(i, radius), at(i, radius + 80.0)).unwrap();
        network.put_road(RoadId(100 + i), road(i, 100 + i, out, section(1, 1), side));
    }
    network
}
