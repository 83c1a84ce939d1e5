//! Invariants of random junctions with 2 to 9 arms that are 5 to 355 degrees apart and 3 to 30 m
//! wide, in left-hand and right-hand traffic.
//!
//! `ROADWRIGHT_JUNCTIONS=10000 cargo test -p roadwright-scenario --test all random_junctions` tests
//! more junctions, and `ROADWRIGHT_SEED=8` different ones.

use crate::common::Star;
use roadwright_geometry::math::{Stream, wrap_angle};
use roadwright_geometry::{DVec2, polygon};
use roadwright_scenario::ConnectionIndex;
use roadwright_scenario::junction::{
    Conflicts, Flag, Junction, Layout, RightOfWay, Signals, layout,
};
use roadwright_scenario::*;
use roadwright_testing::{scaled, seed};
use std::f64::consts::TAU;

/// Default number of junctions.
const COUNT: u64 = 250;
/// Default seed.
const SEED: u64 = 7;

/// A random junction, with its star, scenario and layout.
struct Case {
    number: u64,
    star: Star,
    scenario: Scenario,
    roads: Vec<RoadId>,
    layout: Layout,
}

impl Case {
    fn junction(&self) -> &Junction {
        let legs = self.star.legs.len();
        let mut junctions = self.layout.junctions.iter();
        junctions
            .find(|junction| junction.arms.len() == legs)
            .unwrap()
    }

    /// Returns the centre of a lane at the cut of its arm, and the driving direction there.
    fn cut_of(&self, lane: junction::LaneEnd, enters: bool) -> (DVec2, f64) {
        let road = self.scenario.network().road(lane.road).unwrap();
        let arm = self
            .junction()
            .arms
            .iter()
            .find(|arm| arm.road == lane.road);
        let trim = arm.unwrap().trim;
        let s = match lane.end {
            RoadEnd::Start => trim,
            RoadEnd::End => road.length() - trim,
        };
        let band = road.lane_band(lane.lane, s).unwrap();
        let pose = road.reference_line.offset_pose(s, band.centre);
        let goes_up = (lane.end == RoadEnd::End) == enters;
        let pose = if goes_up { pose } else { pose.reversed() };
        (pose.position, pose.heading)
    }

    fn meeting(&self, from: junction::LaneEnd, to: junction::LaneEnd) -> f64 {
        (self.cut_of(from, true).0 - self.cut_of(to, false).0).length()
    }
}

/// Returns random junctions whose arms are at least `least_gap` degrees apart.
fn cases(least_gap: f64) -> impl Iterator<Item = Case> {
    let wanted = std::env::var("ROADWRIGHT_JUNCTIONS").ok();
    let count = wanted.map_or_else(|| scaled(COUNT), |text| text.parse().unwrap());
    let seed = seed(SEED);
    (0..count).map(move |number| {
        let star = Star::random(
            &mut Stream::new(seed, "random junctions", number),
            least_gap,
        );
        let (scenario, roads) = star.plain();
        let layout = layout(scenario.network(), scenario.about());
        Case {
            number,
            star,
            scenario,
            roads,
            layout,
        }
    })
}

fn is_degraded(junction: &Junction) -> bool {
    let makeshift = |flag: &Flag| matches!(flag, Flag::Degraded | Flag::Squeezed(_));
    junction.flags().iter().any(makeshift)
}

#[test]
fn outlines_are_simple_and_hold_the_cuts_of_all_arms() {
    let (mut whole, mut all) = (0, 0);
    for case in cases(5.0) {
        let junction = case.junction();
        let points = junction.polygon();
        if points.is_empty() {
            continue;
        }
        all += 1;
        assert!(polygon::is_simple(&points), "{}", case.number);
        assert!(polygon::signed_area(&points) > 0.0, "{}", case.number);
        if is_degraded(junction) {
            continue;
        }
        whole += 1;
        for arm in &junction.arms {
            for cut in [arm.left_cut, arm.right_cut] {
                let off = polygon::boundary_distance(&points, cut);
                assert!(off < 1e-6, "{}: {off} m, {arm:?}", case.number);
            }
        }
    }
    println!("{whole} of {all} are as their corners say");
    assert!(10 * whole > 8 * all, "{whole} of {all}");
}

#[test]
fn arms_are_cut_within_their_roads() {
    for case in cases(5.0) {
        for (id, trims) in &case.layout.trims {
            let length = case.scenario.network().road(*id).unwrap().length();
            assert!(trims.start >= 0.0 && trims.end >= 0.0, "{}", case.number);
            assert!(trims.start + trims.end <= length, "{}", case.number);
        }
    }
}

#[test]
fn paths_begin_and_end_in_the_middles_of_lanes_and_along_them() {
    for case in cases(5.0) {
        let junction = case.junction();
        for path in &junction.paths {
            let Some(curve) = &path.curve else {
                let is_told = |flag: &Flag| *flag == Flag::NoCurve(path.from, path.to);
                let meets = case.meeting(path.from, path.to) < 1e-6;
                assert!(
                    meets || junction.flags().iter().any(is_told),
                    "{}",
                    case.number
                );
                continue;
            };
            for (lane, pose, enters) in [
                (path.from, curve.start(), true),
                (path.to, curve.end(), false),
            ] {
                let (place, heading) = case.cut_of(lane, enters);
                assert!(
                    (place - pose.position).length() < 1e-6,
                    "{}: {lane:?}",
                    case.number
                );
                let turn = wrap_angle(heading - pose.heading).abs();
                assert!(turn < 1e-6, "{}: {turn} rad, {lane:?}", case.number);
            }
        }
    }
}

#[test]
fn every_lane_leads_somewhere_and_is_led_to_or_is_told_of() {
    let (mut used, mut told) = (0, 0);
    for case in cases(5.0) {
        let junction = case.junction();
        // The junction has more lanes than any real junction. `check` reports this.
        if junction.flags().contains(&Flag::TooManyLanes) {
            continue;
        }
        let side = case.star.side;
        // Lanes that enter and leave, by road.
        let mut lanes: Vec<(RoadId, i8, bool)> = Vec::new();
        for &id in &case.roads {
            let road = case.scenario.network().road(id).unwrap();
            let arm = junction.arms.iter().find(|arm| arm.road == id).unwrap();
            let at_end = arm.end == RoadEnd::End;
            let of_road = road.lane_sections[0].lanes.iter();
            lanes.extend(of_road.map(|lane| (id, lane.id, lane.is_forward(side) == at_end)));
        }
        for &(road, lane, enters) in &lanes {
            let of_others = |&&(other, _, enters_too): &&(RoadId, i8, bool)| {
                other != road && enters_too != enters
            };
            let others = lanes.iter().filter(of_others).count();
            let own = |path: &&junction::ConnectingPath| {
                let end = if enters { path.from } else { path.to };
                (end.road, end.lane) == (road, lane)
            };
            let is_used = junction.paths.iter().any(|path| own(&path));
            let same = lanes
                .iter()
                .filter(|(other, _, same)| *other == road && *same == enters);
            // If more lanes leave than enter from other roads, some have no connection.
            let has_partner = match enters {
                true => others > 0,
                false => others >= same.count(),
            };
            let is_told = junction.flags().iter().any(|flag| match *flag {
                // The lane without an exit may be the one that leads to this lane.
                Flag::NoExit(end) => !enters || (end.road, end.lane) == (road, lane),
                Flag::NoCurve(from, to) => [from, to].map(|end| end.road).contains(&road),
                _ => false,
            });
            let is_fine = is_used || is_told || !has_partner;
            assert!(
                is_fine,
                "{}: {road} lane {lane}, {enters}: {:?} {lanes:?}",
                case.number,
                junction.flags()
            );
            used += usize::from(is_used);
            told += usize::from(is_told);
        }
    }
    assert!(used > 50 * told, "{used} lanes lead on, {told} do not");
}

#[test]
fn nobody_gives_way_to_who_gives_way_to_it() {
    // All conflicts are recomputed for each control, so a fifth of the cases is enough.
    for case in cases(5.0).step_by(5) {
        for control in Control::ALL {
            let mut scenario = case.scenario.clone();
            let node = case.junction().nodes[0];
            let mut rules = scenario.network().node(node).unwrap().clone();
            rules.rules.control = Some(control);
            scenario.apply(Edit::Node(node, Some(rules))).unwrap();
            let layout = layout(scenario.network(), scenario.about());
            let junction = layout.junction_at(node).unwrap();
            let conflicts = Conflicts::of(junction);
            let order = RightOfWay::of(junction, &conflicts);
            let paths = ConnectionIndex::up_to(junction.paths.len());
            for (a, b) in paths
                .clone()
                .flat_map(|a| paths.clone().take(a.index()).map(move |b| (a, b)))
            {
                let swapped = conflicts.between(b, a).map(|(own, other)| (other, own));
                assert_eq!(conflicts.between(a, b), swapped, "{}", case.number);
                assert_eq!(
                    conflicts.are_in_conflict(a, b),
                    conflicts.are_in_conflict(b, a)
                );
                let both = order.gives_way(a, b) && order.gives_way(b, a);
                assert!(!both, "{} {control:?}: {a} and {b}", case.number);
            }
            let Some(signals) = Signals::of(junction, &conflicts) else {
                continue;
            };
            for stage in 0..signals.greens.len() {
                for (a, b) in signals.unsettled(junction, &conflicts, stage) {
                    let [one, other] = [a, b].map(|path| &junction.paths[path.index()]);
                    // Vehicles from the same arm follow each other.
                    let is_one_arm = one.from.road == other.from.road;
                    assert!(
                        is_one_arm,
                        "{} stage {stage}: {one:?} {other:?}",
                        case.number
                    );
                }
            }
        }
    }
}

/// Returns the maximum distance from the points of one shape to the edge of another, m.
fn apart(shape: &[DVec2], other: &[DVec2]) -> f64 {
    let off = |point: &DVec2| polygon::boundary_distance(other, *point);
    shape.iter().map(off).fold(0.0, f64::max)
}

#[test]
fn a_junction_that_is_moved_turned_and_drawn_in_another_order_is_the_same() {
    for case in cases(5.0) {
        let mut random = Stream::new(8, "motions", case.number);
        let place = DVec2::new(random.next_in(-1e6, 1e6), random.next_in(-1e6, 1e6));
        let turn = random.next_in(0.0, TAU);
        let count = case.star.legs.len();
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            order.swap(i, random.next_index(i + 1));
        }
        let (scenario, roads) = case.star.scenario(place, turn, &order);
        let layout = layout(scenario.network(), scenario.about());
        let moved = layout
            .junctions
            .iter()
            .find(|j| j.arms.len() == count)
            .unwrap();
        let junction = case.junction();
        for (own, other) in case.roads.iter().zip(&roads) {
            let trim = |junction: &Junction, road: RoadId| {
                let arm = junction.arms.iter().find(|arm| arm.road == road);
                arm.unwrap().trim
            };
            let off = (trim(junction, *own) - trim(moved, *other)).abs();
            // Trims are stored in micrometres.
            assert!(off < 3e-6, "{}: {off} m", case.number);
        }
        let back = |point: &DVec2| DVec2::from_angle(-turn).rotate(*point - place);
        let outline: Vec<DVec2> = moved.polygon().iter().map(back).collect();
        let own = junction.polygon();
        assert_eq!(own.is_empty(), outline.is_empty(), "{}", case.number);
        if !own.is_empty() {
            let off = apart(&own, &outline).max(apart(&outline, &own));
            assert!(off < 1e-4, "{}: {off} m", case.number);
        }
        let name =
            |roads: &[RoadId], road: RoadId| roads.iter().position(|&id| id == road).unwrap();
        let paths = |junction: &Junction, roads: &[RoadId]| {
            let ends = junction.paths.iter().map(|path| {
                let end = |lane: junction::LaneEnd| (name(roads, lane.road), lane.lane);
                let radius = path.min_radius().min(1e4);
                (end(path.from), end(path.to), path.turn, radius)
            });
            let mut ends: Vec<_> = ends.collect();
            ends.sort_by_key(|end| (end.0, end.1));
            ends
        };
        let (paths, others) = (paths(junction, &case.roads), paths(moved, &roads));
        assert_eq!(paths.len(), others.len(), "{}", case.number);
        for (one, other) in paths.iter().zip(&others) {
            assert_eq!(
                (one.0, one.1, one.2),
                (other.0, other.1, other.2),
                "{}",
                case.number
            );
            assert!(
                (one.3 - other.3).abs() < 1e-3 * one.3,
                "{}: {one:?} {other:?}",
                case.number
            );
        }
    }
}

#[test]
fn paths_lie_on_the_carriageway() {
    let (mut beyond, mut paths) = (0, 0);
    for case in cases(5.0) {
        let junction = case.junction();
        let outline = junction.polygon();
        if outline.is_empty() {
            continue;
        }
        for path in &junction.paths {
            let Some(curve) = &path.curve else { continue };
            paths += 1;
            let is_held = |point: &DVec2| polygon::distance(&outline, *point) < 0.2;
            let is_paved = |point: &DVec2| {
                let mut strips = junction.strips().iter();
                is_held(point) || strips.any(|strip| polygon::distance(strip, *point) < 0.2)
            };
            let points = curve.sample(0.05, 0.0);
            assert!(points.iter().all(is_paved), "{}: {path:?}", case.number);
            beyond += usize::from(!points.iter().all(is_held));
        }
    }
    // As a control: where many arms meet at acute angles, the outlines alone do not contain all
    // paths.
    assert!(beyond > 0 && 4 * beyond < paths, "{beyond} of {paths}");
}
