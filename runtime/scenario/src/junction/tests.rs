mod mini;
mod setback;
mod splitter;

use super::*;
use crate::access::RoadAccess;
use crate::junction_rules::{CrossingRule, SignalMode};
use crate::road::{CrossSection, LaneType, Road, RoadClass};
use proptest::prelude::*;
use roadwright_geometry::math::{cos, sin, tan, wrap_angle};
use roadwright_geometry::{Pose, Segment, polygon, unit};
use std::collections::BTreeSet;

const RIGHT: DrivingSide = DrivingSide::Right;
/// Radius of the ways around corners that cars drive, as they are made, m, less what is rounded away.
const LEAST_RADIUS: f64 = U_TURN_RADIUS - 1e-3;

/// A straight road outward from the origin.
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
        speed_limit: 10.0,
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

fn decided(roads: &[Road], side: DrivingSide, control: Option<Control>) -> Junction {
    let arms = roads
        .iter()
        .zip(1..)
        .map(|(road, id)| Arm::new(RoadId(id), road, RoadEnd::Start))
        .collect();
    let site = Site {
        nodes: vec![NodeId(0)],
        centre: DVec2::ZERO,
        side,
        rules: JunctionRules {
            control,
            ..JunctionRules::default()
        },
        law: RoadLaw::default(),
        is_ring: &|_| false,
        allows: &|_, _| Some(LaneAccess::All),
        limits: &|_, _| None,
    };
    build(&site, arms)
}

#[test]
fn trims_are_those_of_the_corner_formula() {
    // t = (b + a cos) / sin and fillet r cot(phi / 2), for a = b = 3.5. Streets have r = 4.5 g(phi), but
    // at sharp corners the way around the corner asks for more.
    for (angle, radius) in [
        (90.0f64, Some(4.5)),
        (120.0, Some(4.5 * 1.375)),
        (60.0, None),
    ] {
        let roads = [two_way(0.0), two_way(angle), two_way(angle + 140.0)];
        let junction = junction_of(&roads, RIGHT);
        let phi = angle.to_radians();
        let meeting = 3.5 * (1.0 + cos(phi)) / sin(phi);
        let arm = |road| {
            let mut arms = junction.arms.iter();
            arms.position(|arm| arm.road == RoadId(road)).unwrap()
        };
        let corner = &junction.corners[arm(1)];
        assert!(
            radius.is_none_or(|radius| (corner.radius - radius).abs() < 1e-9),
            "{corner:?}"
        );
        let expected = meeting + corner.radius / tan(0.5 * phi);
        assert!((corner.foot - expected).abs() < 1e-5, "{angle}: {corner:?}");
        assert!(junction.arms[arm(1)].trim >= corner.foot - 1e-6);
        // Who turns there has the lane's width more than the kerb, and no less than a car needs.
        let around = path(&junction, 1, 2) as usize;
        let least = junction.paths[around].min_radius();
        assert!(least > 4.49, "{angle}: {least}");
    }
}

#[test]
fn a_gore_is_capped() {
    // D1: below 35 degrees the corner formula would explode. Arms of 100 m that part so slowly would be used up.
    let junction = junction_of(&[two_way(0.0), two_way(5.0), two_way(180.0)], RIGHT);
    assert!(
        junction.arms.iter().all(|arm| arm.trim <= 25.0),
        "{junction:?}"
    );
}

#[test]
fn a_gore_reaches_as_far_as_its_arms_lie_on_each_other() {
    let one_way = |bearing, length| arm(bearing, length, CrossSection::driving(2, 0, 3.5), RIGHT);
    for degrees in [5.0f64, 8.0, 10.0, 15.0, 25.0] {
        let roads = [one_way(0.0, 200.0), one_way(degrees, 200.0), two_way(180.0)];
        let junction = junction_of(&roads, RIGHT);
        // Two strips, each 7 m wide and centred on its line, have parted 3.5 / tan(half the angle) out.
        let parted = 3.5 / tan(0.5 * degrees.to_radians());
        for road in [1, 2] {
            let mut arms = junction.arms.iter();
            let trim = arms.find(|arm| arm.road == RoadId(road)).unwrap().trim;
            assert!(
                trim >= parted - 1e-6 && trim < parted + 15.0,
                "{degrees}: {trim}"
            );
        }
    }
}

#[test]
fn a_gore_reaches_as_far_as_its_arms_change_places() {
    // The lanes of the first arm lie 3.5 to 10.5 m to the left of its line; the second one leads from the node
    // under them to their left.
    let mut aside = arm(0.0, 200.0, CrossSection::driving(2, 0, 3.5), RIGHT);
    for offset in &mut aside.lane_offset {
        offset.a += 7.0;
    }
    let under = arm(15.0, 200.0, CrossSection::driving(1, 0, 3.5), RIGHT);
    let junction = junction_of(&[aside, under, two_way(180.0)], RIGHT);
    // It has come out on the other side where its right edge is as far to the left as their left one.
    let angle = 15f64.to_radians();
    let out = (10.5 + 1.75 / cos(angle)) / tan(angle);
    for arm in junction.arms.iter().filter(|arm| arm.road != RoadId(3)) {
        assert!(
            arm.trim > out - 1.0 && arm.trim < out + 12.0,
            "{out}: {arm:?}"
        );
    }
}

/// Straight roads between nodes (their places by id): of each its id, its nodes, and its lanes forward and
/// backward.
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

#[test]
fn a_road_between_two_bends_stays() {
    let z = |between: f64| {
        let nodes = [(-80.0, 0.0), (0.0, 0.0), (0.0, between), (80.0, between)];
        let network = network_of(&nodes, 3.0, &[0, 1, 2].map(|id| (id, id, id + 1, (1, 1))));
        layout(&network, RIGHT)
    };
    for between in [8.5, 12.0, 14.0] {
        let layout = z(between);
        assert!(layout.internal.is_empty(), "{between}");
        // One right angle after the other, each of which can be driven.
        let paths = layout.junctions.iter().flat_map(|junction| &junction.paths);
        let curves: Vec<_> = paths.filter_map(|path| path.curve.as_ref()).collect();
        assert_eq!(curves.len(), 4, "{between}");
        for curve in curves {
            let turned = wrap_angle(curve.pose(curve.length()).heading - curve.start().heading);
            assert!(
                (turned.abs().to_degrees() - 90.0).abs() < 5.0,
                "{between}: {turned}"
            );
        }
    }
    // A step of the line is one bend.
    assert!(!z(3.0).internal.is_empty());
}

/// A street along the x axis with so many lanes each way, over nodes at some places, and one to the south from the
/// origin, so long, m.
fn street_with_branch(at: &[f64], lanes: usize, length: f64) -> crate::RoadNetwork {
    let mut nodes: Vec<(f64, f64)> = at.iter().map(|&x| (x, 0.0)).collect();
    nodes.push((0.0, -length));
    let last = at.len() as u32;
    let origin = at.iter().position(|&x| x == 0.0).unwrap() as u32;
    let along = (0..last - 1).map(|id| (id, id, id + 1, (lanes, lanes)));
    let branch = (last, origin, last, (1, 1));
    let streets: Vec<Street> = along.chain([branch]).collect();
    network_of(&nodes, 3.0, &streets)
}

/// The smallest radius of the ways through the junction at the origin, m.
fn sharpest_turn(layout: &Layout, origin: u32) -> f64 {
    let junction = layout.junction_at(NodeId(origin)).unwrap();
    let curves = junction.paths.iter().filter_map(|path| path.curve.as_ref());
    let radii = curves.map(|curve| 1.0 / curve.max_curvature());
    radii.fold(f64::INFINITY, f64::min)
}

#[test]
fn a_turn_may_take_all_of_a_road_that_only_goes_on() {
    // 6 m beside the junction the street is cut into two roads.
    let network = street_with_branch(&[-100.0, -6.0, 0.0, 100.0], 1, 80.0);
    let short = layout(&network, RIGHT);
    assert_eq!(short.internal, BTreeSet::from([RoadId(1)]));
    assert!(sharpest_turn(&short, 2) >= LEAST_RADIUS);
    // Whoever decides about a junction decides at one of its nodes: all of them stay in it.
    for node in [1, 2] {
        let mut ruled = network.clone();
        let mut place = ruled.node(NodeId(node)).unwrap().clone();
        place.rules.control = Some(Control::Signals);
        ruled.put_node(NodeId(node), place);
        let ruled = layout(&ruled, RIGHT);
        assert_eq!(ruled.internal, short.internal, "{node}");
        assert_eq!(
            ruled.junction_at(NodeId(2)).unwrap().control,
            Control::Signals
        );
    }
    // 40 m beside it that does not matter.
    let far = layout(
        &street_with_branch(&[-100.0, -40.0, 0.0, 100.0], 1, 80.0),
        RIGHT,
    );
    assert!(far.internal.is_empty() && sharpest_turn(&far, 2) >= LEAST_RADIUS);
    // Once something else joins there, an edit or not, half of the road has to do.
    let joined = with_road_to(&network, NodeId(1), (-6.0, 60.0));
    lays_out_again_what_an_edit_reaches(&network, &joined);
}

#[test]
fn a_turn_may_take_more_of_a_dead_end() {
    let radius = |length| {
        let network = street_with_branch(&[-100.0, 0.0, 100.0], 3, length);
        let layout = layout(&network, RIGHT);
        let (start, end) = layout
            .remaining(RoadId(3), network.road(RoadId(3)).unwrap())
            .unwrap();
        assert!(end - start >= 4.0, "{length}: a car has room");
        sharpest_turn(&layout, 1)
    };
    assert!(radius(24.0) >= LEAST_RADIUS);
    // No turn fits into what is left of this one.
    assert!(radius(13.5) < 2.0);
    // Once it does not end there any more, half of it has to do.
    let network = street_with_branch(&[-100.0, 0.0, 100.0], 3, 24.0);
    let longer = with_road_to(&network, NodeId(3), (60.0, -24.0));
    let radius = sharpest_turn(&layout(&longer, RIGHT), 1);
    assert!(radius < LEAST_RADIUS, "{radius}");
    lays_out_again_what_an_edit_reaches(&network, &longer);
}

/// A network with a straight road more, from a node to a place.
fn with_road_to(network: &crate::RoadNetwork, from: NodeId, to: (f64, f64)) -> crate::RoadNetwork {
    let mut longer = network.clone();
    longer.put_node(NodeId(9), crate::Node::at(to.into()));
    let mut road = arm(0.0, 1.0, CrossSection::driving(1, 1, 3.0), RIGHT);
    let start = network.node(from).unwrap().position();
    road.reference_line = ReferenceLine::straight(start, to.into()).unwrap();
    (road.from, road.to) = (from, NodeId(9));
    longer.put_road(RoadId(9), road);
    longer
}

/// An edit and its undoing lead to the layouts that are made from nothing.
fn lays_out_again_what_an_edit_reaches(network: &crate::RoadNetwork, edited: &crate::RoadNetwork) {
    for (before, after) in [(network, edited), (edited, network)] {
        let edited = layout_after_edit((before, &layout(before, RIGHT)), after, RIGHT);
        assert_eq!(edited, layout(after, RIGHT));
    }
}

#[test]
fn no_way_runs_back_where_carriageways_bend_that_a_short_link_joins() {
    // Two carriageways 11 m apart with a bend of 14 degrees, and a link between the bends that is taken into
    // their junction. Sorted by bearing its arms are not neighbours where they bend.
    let (c, s) = (cos(14f64.to_radians()), sin(14f64.to_radians()));
    let nodes = [
        (-80.0, 0.0),
        (0.0, 0.0),
        (80.0 * c, -80.0 * s),
        (-80.0, 11.0),
        (0.0, 11.0),
        (80.0 * c, 11.0 - 80.0 * s),
    ];
    let streets = [(0, 1), (1, 2), (5, 4), (4, 3), (1, 4)];
    let one_way = |(id, (from, to))| (id, from, to, (2, 0));
    let streets: Vec<Street> = (0..).zip(streets).map(one_way).collect();
    let layout = layout(&network_of(&nodes, 3.0, &streets), RIGHT);
    let junction = &layout.junctions[layout.junction_of[&NodeId(1)]];
    assert_eq!(junction.nodes, [NodeId(1), NodeId(4)]);
    assert!(junction.paths.len() >= 4);
    for path in &junction.paths {
        let curve = path.curve.as_ref().unwrap();
        let eastward = path.from.road.0 < 2;
        assert_eq!(curve.start().forward().x > 0.0, eastward, "{path:?}");
    }
}

#[test]
fn arms_in_line_taper() {
    // D2: the corner formula divides by sin(180 degrees).
    let wide = arm(178.0, 100.0, CrossSection::driving(2, 2, 3.5), RIGHT);
    let junction = junction_of(&[two_way(0.0), wide], RIGHT);
    assert!(
        junction
            .arms
            .iter()
            .all(|arm| arm.trim > 1.0 && arm.trim < 40.0)
    );
    assert!(!junction.paths.is_empty());
}

#[test]
fn two_equal_arms_in_line_are_no_junction() {
    // Two roads of one cross-section that go on in each other need no area of their own.
    let junction = junction_of(&[two_way(0.0), two_way(180.0)], RIGHT);
    assert!(junction.arms.iter().all(|arm| arm.trim == 0.0) && junction.outline.is_empty());
    assert_eq!(junction.paths.len(), 2);
    assert!(junction.paths.iter().all(|path| path.curve.is_none()));
}

#[test]
fn a_dead_end_has_no_way_back_on_a_narrow_road() {
    // A U-turn needs the radius of a car.
    let narrow = junction_of(&[two_way(0.0)], RIGHT);
    assert!(narrow.paths.is_empty() && narrow.arms[0].trim == 0.0);
    let wide = junction_of(
        &[arm(0.0, 100.0, CrossSection::driving(1, 1, 10.0), RIGHT)],
        RIGHT,
    );
    assert_eq!(wide.paths[0].turn, Turn::UTurn);
    let place = wide.polygon();
    for point in wide.paths[0].curve.as_ref().unwrap().sample(0.1, 0.0) {
        assert!(
            polygon::distance(&place, point) < 1e-6,
            "vehicles turn on the road, not beyond it"
        );
    }
}

#[test]
fn a_crossroads_of_single_lanes_has_twelve_links() {
    let roads = [0.0, 90.0, 180.0, 270.0].map(two_way);
    let junction = junction_of(&roads, RIGHT);
    assert_eq!(junction.paths.len(), 12);
    let count = |turn| junction.paths.iter().filter(|p| p.turn == turn).count();
    assert_eq!(
        (count(Turn::Left), count(Turn::Straight), count(Turn::Right)),
        (4, 4, 4)
    );
    assert!(junction.flags.is_empty());
}

#[test]
fn two_lanes_turn_from_their_own_side() {
    let two = |bearing| arm(bearing, 100.0, CrossSection::driving(2, 2, 3.5), RIGHT);
    let junction = junction_of(&[0.0, 90.0, 180.0, 270.0].map(two), RIGHT);
    let normal = |turn| {
        junction
            .paths
            .iter()
            .filter(move |p| p.turn == turn && p.kind == LinkKind::Normal)
    };
    // Lane -1 / +1 is next to the middle, -2 / +2 next to the kerb.
    assert!(normal(Turn::Left).all(|p| p.from.lane.abs() == 1 && p.to.lane.abs() == 1));
    assert!(normal(Turn::Right).all(|p| p.from.lane.abs() == 2 && p.to.lane.abs() == 2));
    assert!(normal(Turn::Straight).all(|p| p.from.lane.abs() == p.to.lane.abs()));
    assert_eq!(normal(Turn::Straight).count(), 8);
}

/// Turns of a left lane and of the right one beside it.
type OfLanes<'a> = [&'a [Turn]; 2];

/// The turns of the lanes of road 1, from left to right, at a crossing with two lanes each way, whose
/// arrows are given.
fn turns_with(arrows: OfLanes<'_>, side: DrivingSide) -> (Vec<Vec<Turn>>, Vec<Flag>) {
    let mut roads = [0.0, 90.0, 180.0, 270.0]
        .map(|bearing| arm(bearing, 100.0, CrossSection::driving(2, 2, 3.5), side));
    // Roads begin at the junction, so the lanes that enter it are those against the road; from left to
    // right as their drivers see them they are listed from the right.
    let lanes = &mut roads[0].lane_sections[0].lanes;
    let entering = lanes.iter_mut().rev().filter(|lane| !lane.is_forward(side));
    let mut ids = Vec::new();
    for (lane, turns) in entering.zip(arrows) {
        lane.turns = turns.iter().copied().collect();
        ids.push(lane.id);
    }
    let junction = junction_of(&roads, side);
    let of_lane = |id: i8| {
        let own = junction.paths.iter();
        let own = own.filter(|path| path.from.road == RoadId(1) && path.from.lane == id);
        own.map(|path| path.turn)
            .collect::<Turns>()
            .iter()
            .collect()
    };
    (ids.into_iter().map(of_lane).collect(), junction.flags)
}

#[test]
fn lanes_with_arrows_turn_as_those_say() {
    use Turn::{Left, Right, Straight, UTurn};
    // (arrows of the left lane and of the right one, what they lead to)
    let cases: [(OfLanes, OfLanes); 5] = [
        ([&[], &[]], [&[Left, Straight], &[Straight, Right]]),
        ([&[Left], &[]], [&[Left], &[Straight, Right]]),
        ([&[Left], &[Straight, Right]], [&[Left], &[Straight, Right]]),
        ([&[Left, Straight], &[Right]], [&[Left, Straight], &[Right]]),
        // An arrow to nowhere says nothing.
        ([&[UTurn], &[Right]], [&[Left, Straight], &[Right]]),
    ];
    for side in [DrivingSide::Right, DrivingSide::Left] {
        for (arrows, expected) in cases {
            let (turns, flags) = turns_with(arrows, side);
            assert_eq!(turns, expected, "{side:?} {arrows:?}");
            let to_nowhere = |flag: &&Flag| matches!(flag, Flag::NoSuchTurn(_, UTurn));
            let told = flags.iter().filter(to_nowhere).count();
            assert_eq!(told, usize::from(arrows[0] == [UTurn]), "{arrows:?}");
        }
    }
}

#[test]
fn a_narrowing_road_merges_its_lanes() {
    let wide = arm(180.0, 100.0, CrossSection::driving(2, 2, 3.5), RIGHT);
    let junction = junction_of(&[two_way(0.0), wide], RIGHT);
    // Two lanes into one, one lane into two.
    assert_eq!(junction.paths.len(), 4);
    assert!(junction.flags.is_empty(), "{:?}", junction.flags);
}

#[test]
fn forbidden_turns_have_no_path() {
    let roads = [0.0, 90.0, 180.0].map(two_way);
    let arms = roads
        .iter()
        .zip(1..)
        .map(|(road, id)| Arm::new(RoadId(id), road, RoadEnd::Start))
        .collect();
    let site = Site {
        nodes: vec![NodeId(0)],
        centre: DVec2::ZERO,
        side: RIGHT,
        rules: JunctionRules::default(),
        law: RoadLaw::default(),
        is_ring: &|_| false,
        allows: &|from, to| {
            let is_forbidden = from.0 == RoadId(1) && to.0 == RoadId(2);
            (!is_forbidden).then_some(LaneAccess::All)
        },
        limits: &|_, _| None,
    };
    let junction = build(&site, arms);
    let has = |from, to| {
        junction
            .paths
            .iter()
            .any(|p| p.from.road == RoadId(from) && p.to.road == RoadId(to))
    };
    assert!(!has(1, 2) && has(1, 3) && has(2, 1));
}

/// Roads with bearings at least `gap` degrees apart.
fn random_roads(gaps: &[f64], lanes: &[(usize, usize, f64)], side: DrivingSide) -> Vec<Road> {
    let total: f64 = gaps.iter().sum();
    let mut bearing = 13.0;
    gaps.iter()
        .zip(lanes)
        .map(|(gap, &(forward, backward, width))| {
            bearing += 360.0 * gap / total;
            let section = CrossSection::driving(forward, backward, width);
            // Half of them have pavements of many widths.
            let section = if width > 3.4 {
                section.with_border(crate::LaneType::Sidewalk, 5.0 * (width - 3.3))
            } else {
                section
            };
            arm(bearing, 150.0, section, side)
        })
        .collect()
}

fn road_strategy() -> impl Strategy<Value = (Vec<f64>, Vec<(usize, usize, f64)>)> {
    (2usize..9).prop_flat_map(|count| {
        (
            proptest::collection::vec(0.15..1.0f64, count),
            proptest::collection::vec((1usize..4, 0usize..4, 2.75..4.0f64), count),
        )
    })
}

/// The mirror image of a road (y to -y), lanes and all.
fn mirrored(road: &Road) -> Road {
    let end = road.reference_line.end().position;
    let line = ReferenceLine::straight(DVec2::ZERO, DVec2::new(end.x, -end.y)).unwrap();
    let mut mirrored = Road {
        reference_line: line,
        ..road.clone()
    };
    for offset in &mut mirrored.lane_offset {
        offset.a = -offset.a;
    }
    for section in &mut mirrored.lane_sections {
        for lane in &mut section.lanes {
            lane.id = -lane.id;
        }
        section.lanes.reverse();
    }
    mirrored
}

proptest! {
    #[test]
    fn junctions_hold_their_invariants((gaps, lanes) in road_strategy()) {
        let roads = random_roads(&gaps, &lanes, RIGHT);
        let junction = junction_of(&roads, RIGHT);
        prop_assert_eq!(&junction, &junction_of(&roads, RIGHT));
        for arm in &junction.arms {
            prop_assert!(arm.trim >= 0.0 && arm.trim <= 150.0);
        }
        if !junction.outline.is_empty() {
            let points = junction.polygon();
            prop_assert!(polygon::is_simple(&points) && polygon::signed_area(&points) > 0.0);
            for arm in &junction.arms {
                prop_assert!(polygon::boundary_distance(&points, arm.left_cut) < 1e-6
                    || junction.flags.contains(&Flag::Degraded));
            }
        }
        for border in &junction.borders {
            let pavement = border.pavement_polygon(0.01);
            prop_assert!(pavement.is_empty()
                || (polygon::is_simple(&pavement) && polygon::signed_area(&pavement) > 0.0));
        }
        for path in junction.paths.iter().filter_map(|p| p.curve.as_ref().map(|c| (p, c))) {
            let (path, curve) = path;
            for (at, pose) in [(path.from, curve.start()), (path.to, curve.end())] {
                let road = &roads[at.road.0 as usize - 1];
                let trim = junction.arms.iter().find(|l| l.road == at.road).unwrap().trim;
                let band = road.lane_band(at.lane, trim).unwrap();
                let lane = road.reference_line.point(trim, band.centre);
                prop_assert!((lane - pose.position).length() < 1e-6);
                let line = wrap_angle(road.reference_line.heading(trim) - pose.heading);
                prop_assert!(line.abs() < 1e-6 || (line.abs() - std::f64::consts::PI).abs() < 1e-6);
            }
        }
        // Every lane that enters has a way on, if there is a lane to go to.
        let leaving = |except: u32| roads.iter().zip(1..)
            .any(|(r, id)| id != except && r.lanes_driven(0.0, true, RIGHT) > 0);
        for flag in &junction.flags {
            if let Flag::NoExit(lane) = flag {
                prop_assert!(!leaving(lane.road.0), "{:?}", flag);
            }
        }
    }

    /// Where streets of one lane each way have room, no way through bends more than a car can.
    #[test]
    fn cars_can_drive_all_ways_of_streets_with_one_lane_each_way(
        gaps in proptest::collection::vec(0.5..1.0f64, 2usize..6), width in 2.75..4.0f64, is_right in any::<bool>()
    ) {
        let side = if is_right { RIGHT } else { DrivingSide::Left };
        let lanes = vec![(1, 1, width); gaps.len()];
        let junction = junction_of(&random_roads(&gaps, &lanes, side), side);
        for path in &junction.paths {
            prop_assert!(path.min_radius() > LEAST_RADIUS, "{} m: {:?}", path.min_radius(), path);
        }
    }

    #[test]
    fn arms_may_come_in_any_order((gaps, lanes) in road_strategy(), turn in 0usize..8) {
        let roads = random_roads(&gaps, &lanes, RIGHT);
        let ends = |order: &[usize]| {
            let arms = order.iter()
                .map(|&i| Arm::new(RoadId(i as u32 + 1), &roads[i], RoadEnd::Start)).collect();
            build(&Site { nodes: vec![NodeId(0)], centre: DVec2::ZERO, side: RIGHT, rules: JunctionRules::default(), law: RoadLaw::default(), is_ring: &|_| false,
                allows: &|_, _| Some(LaneAccess::All), limits: &|_, _| None }, arms)
        };
        let order: Vec<_> = (0..roads.len()).collect();
        let mut rotated = order.clone();
        rotated.rotate_left(turn % roads.len());
        prop_assert_eq!(ends(&order), ends(&rotated));
    }

    #[test]
    fn left_hand_junctions_mirror_right_hand_ones((gaps, lanes) in road_strategy(), is_mini in any::<bool>()) {
        let roads = random_roads(&gaps, &lanes, RIGHT);
        let control = is_mini.then_some(Control::MiniRoundabout);
        let right = decided(&roads, RIGHT, control);
        let mirrored: Vec<_> = roads.iter().map(mirrored).collect();
        let left = decided(&mirrored, DrivingSide::Left, control);
        let mut a: Vec<_> = right.paths.iter()
            .map(|p| (p.from.road, -p.from.lane, p.to.road, -p.to.lane)).collect();
        let mut b: Vec<_> = left.paths.iter()
            .map(|p| (p.from.road, p.from.lane, p.to.road, p.to.lane)).collect();
        a.sort_unstable();
        b.sort_unstable();
        prop_assert_eq!(a, b);
        // So do the shapes: the same trims, and areas to the square centimetre.
        for arm in &right.arms {
            let other = left.arms.iter().find(|other| other.road == arm.road).unwrap();
            prop_assert!((arm.trim - other.trim).abs() < 1e-5);
        }
        prop_assert_eq!(right.ring.is_some(), left.ring.is_some());
        if let (Some(ring), Some(image)) = (right.ring, left.ring) {
            let there = DVec2::new(ring.centre.x, -ring.centre.y);
            prop_assert!((there - image.centre).length() < 1e-3);
            prop_assert!((ring.radius - image.radius).abs() < 1e-3);
        }
        let area = |points: &[DVec2]| polygon::signed_area(points);
        let pavements = |junction: &Junction| -> f64 {
            junction.borders.iter().map(|border| area(&border.pavement_polygon(0.01))).sum()
        };
        prop_assert!((area(&right.polygon()) - area(&left.polygon())).abs() < 1e-2);
        prop_assert!((pavements(&right) - pavements(&left)).abs() < 1e-2);
    }
}

#[test]
fn plain_junctions_hold_the_lanes_of_all_their_paths() {
    // Crossroads, T-junctions and bends at angles from 60 degrees on, one and two lanes each way.
    for (bearings, lanes) in [
        (vec![0.0, 90.0, 180.0, 270.0], 1),
        (vec![0.0, 90.0, 180.0, 270.0], 2),
        (vec![0.0, 70.0, 180.0, 250.0], 1),
        (vec![0.0, 90.0, 180.0], 1),
        (vec![0.0, 60.0, 180.0], 2),
        (vec![0.0, 120.0, 240.0], 1),
        (vec![0.0, 100.0], 1),
        (vec![0.0, 150.0], 2),
    ] {
        let section = CrossSection::driving(lanes, lanes, 3.25);
        let roads: Vec<_> = bearings
            .iter()
            .map(|&b| arm(b, 100.0, section.clone(), RIGHT))
            .collect();
        let junction = junction_of(&roads, RIGHT);
        let place = junction.polygon();
        for path in junction.paths.iter().filter_map(|path| path.curve.as_ref()) {
            for t in [-1.0, 0.0, 1.0] {
                for point in path.sample(0.05, t) {
                    let out = polygon::distance(&place, point);
                    assert!(
                        out < 0.2,
                        "{bearings:?} with {lanes} lanes: {out} m outside"
                    );
                }
            }
        }
    }
}

#[test]
fn connections_conflict_where_they_cross() {
    let roads = [0.0, 90.0, 180.0, 270.0].map(two_way);
    let junction = junction_of(&roads, RIGHT);
    let conflicts = Conflicts::of(&junction);
    let paths = &junction.paths;
    let straight = |from: RoadId| {
        let found = paths
            .iter()
            .position(|p| p.turn == Turn::Straight && p.from.road == from);
        found.unwrap() as u32
    };
    let length = |path: u32| paths[path as usize].curve.as_ref().unwrap().length();
    let [east, north, west, _] = [0, 1, 2, 3].map(|arm| straight(junction.arms[arm].road));
    // Opposite ways pass each other; crossing ones meet in the middle of both.
    assert!(!conflicts.are_in_conflict(east, west));
    let (on_east, on_north) = conflicts.between(east, north).unwrap();
    for (interval, path) in [(on_east, east), (on_north, north)] {
        assert!(0.0 < interval.from && interval.from < interval.to && interval.to < length(path));
        assert!(interval.to - interval.from > 3.0, "{interval:?}");
    }
    assert_eq!(conflicts.between(north, east), Some((on_north, on_east)));
    for (i, a) in paths.iter().enumerate() {
        for (j, b) in paths.iter().enumerate() {
            let conflict = conflicts.are_in_conflict(i as u32, j as u32);
            assert_eq!(conflict, conflicts.are_in_conflict(j as u32, i as u32));
            // From one lane they follow each other, into one lane they take turns.
            assert!(!(conflict && a.from == b.from));
            assert!(conflict || a.from == b.from || a.to != b.to || i == j);
        }
        assert!(
            conflicts.is_contested(i as u32),
            "every path of a crossroads meets another"
        );
    }
}

/// A junction of residential streets with one lane each way at some bearings.
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
    let arms = roads
        .iter()
        .zip(1..)
        .map(|(road, id)| Arm::new(RoadId(id), road, RoadEnd::Start));
    let site = Site {
        nodes: vec![NodeId(0)],
        centre: DVec2::ZERO,
        side,
        rules,
        law: RoadLaw::default(),
        is_ring: &|_| false,
        allows: &|_, _| Some(LaneAccess::All),
        limits: &|_, _| None,
    };
    build(&site, arms.collect())
}

#[test]
fn who_turns_tightly_meets_who_comes_out_of_the_lane_beside() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        // From the south around the near corner, while somebody comes straight out of that street.
        let (near, far) = match side {
            DrivingSide::Right => (1, 3),
            DrivingSide::Left => (3, 1),
        };
        let met = |radius: f64| {
            let junction = ruled(&CROSS, side, |roads, rules| {
                for (road, bearing) in roads.iter_mut().zip(CROSS) {
                    *road = arm(bearing, 100.0, CrossSection::driving(1, 1, 2.5), side);
                }
                for (road, next) in [(1, 2), (2, 3), (3, 4), (4, 1)] {
                    rules.set_corner(RoadId(road), RoadId(next), Some(radius));
                }
            });
            let (turning, coming) = (path(&junction, 4, near), path(&junction, near, far));
            let length = |path: u32| {
                let curve = junction.paths[path as usize].curve.as_ref();
                curve.unwrap().length()
            };
            let met = Conflicts::of(&junction).between(turning, coming);
            met.map(|(own, theirs)| (own.from / length(turning), theirs.to / length(coming)))
        };
        // The front swings out where the bend ends, over who has just come in.
        let (from, to) = met(3.0).unwrap();
        assert!(from > 0.6 && to < 0.4, "{from} {to}");
        assert_eq!(met(10.0), None);
    }
}

/// The sign of each road, by road.
fn signs(junction: &Junction) -> Vec<Sign> {
    let mut signs: Vec<_> = junction
        .arms
        .iter()
        .map(|arm| (arm.road, arm.sign))
        .collect();
    signs.sort_unstable();
    signs.into_iter().map(|(_, sign)| sign).collect()
}

/// Index of the path from one road into another.
fn path(junction: &Junction, from: u32, to: u32) -> u32 {
    let is = |p: &ConnectingPath| (p.from.road, p.to.road) == (RoadId(from), RoadId(to));
    junction.paths.iter().position(is).unwrap() as u32
}

const CROSS: [f64; 4] = [0.0, 90.0, 180.0, 270.0];

#[test]
fn control_follows_from_the_roads_unless_it_is_decided() {
    let equal = ruled(&CROSS, RIGHT, |_, _| ());
    assert_eq!(equal.control, Control::Uncontrolled);
    // Roads 1 and 3 in line and of a higher class go first.
    let avenue = ruled(&CROSS, RIGHT, |roads, _| {
        roads[0].class = RoadClass::Arterial;
        roads[2].class = RoadClass::Arterial;
    });
    assert_eq!(avenue.control, Control::Priority);
    let expected = [Sign::None, Sign::Yield, Sign::None, Sign::Yield];
    assert_eq!(signs(&avenue), expected);
    // One arm of a higher class goes on in the one opposite.
    let ending = ruled(&CROSS, RIGHT, |roads, _| {
        roads[0].class = RoadClass::Arterial
    });
    assert_eq!(signs(&ending), expected);
    // A decision of a person goes before that, and may name the roads.
    let decided = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Stop);
        rules.major = vec![RoadId(1), RoadId(2)];
    });
    let expected = [Sign::None, Sign::None, Sign::Stop, Sign::Stop];
    assert_eq!(signs(&decided), expected);
    let lit = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Signals)
    });
    assert_eq!(signs(&lit), [Sign::Signal; 4]);
    // A T of main streets: the through road goes first; of residential ones nobody does.
    let t = |class: RoadClass| {
        ruled(&[0.0, 180.0, 270.0], RIGHT, |roads, _| {
            roads.iter_mut().for_each(|road| road.class = class);
        })
    };
    assert_eq!(
        signs(&t(RoadClass::Collector)),
        [Sign::None, Sign::None, Sign::Yield]
    );
    assert_eq!(t(RoadClass::Residential).control, Control::Uncontrolled);
}

#[test]
fn who_gives_way_follows_the_rules_in_their_order() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        // Road 1 in the east, 2 in the north, 3 in the west, 4 in the south.
        let equal = ruled(&CROSS, side, |_, _| ());
        let conflicts = Conflicts::of(&equal);
        let right = RightOfWay::of(&equal, &conflicts);
        let (from_south, from_east) = (path(&equal, 4, 2), path(&equal, 1, 3));
        // The east is on the right of who comes from the south.
        let nearer = side == DrivingSide::Right;
        assert_eq!(right.gives_way(from_south, from_east), nearer);
        assert_eq!(right.gives_way(from_east, from_south), !nearer);
        // Across the oncoming traffic.
        let far = if nearer { 3 } else { 1 };
        let (turning, oncoming) = (path(&equal, 4, far), path(&equal, 2, 4));
        assert!(right.gives_way(turning, oncoming) && !right.gives_way(oncoming, turning));
        // No two give way to each other, under any control.
        for control in Control::ALL {
            let junction = ruled(&CROSS, side, |_, rules| rules.control = Some(control));
            let conflicts = Conflicts::of(&junction);
            let right = RightOfWay::of(&junction, &conflicts);
            for conflict in conflicts.list() {
                let (a, b) = conflict.paths;
                assert!(
                    !(right.gives_way(a, b) && right.gives_way(b, a)),
                    "{control:?}"
                );
            }
            let anybody = (0..junction.paths.len() as u32).any(|p| right.gives_way_to_any(p));
            let in_turns = matches!(control, Control::AllWayStop | Control::Zipper);
            assert_eq!(anybody, !in_turns, "{control:?}");
        }
        // A sign goes before the side.
        let signed = ruled(&CROSS, side, |_, rules| {
            rules.control = Some(Control::Priority);
            rules.major = vec![RoadId(2), RoadId(4)];
        });
        let right = RightOfWay::of(&signed, &Conflicts::of(&signed));
        assert!(right.gives_way(path(&signed, 1, 3), path(&signed, 4, 2)));
        assert!(right.gives_way(path(&signed, 3, 1), path(&signed, 4, 2)));
    }
}

#[test]
fn who_follows_at_a_sign_takes_the_time_of_the_handbook() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        let follow_up = |control: Control, from: u32, to: u32| {
            let junction = ruled(&CROSS, side, |_, rules| {
                rules.control = Some(control);
                rules.major = vec![RoadId(1), RoadId(3)];
            });
            let right = RightOfWay::of(&junction, &Conflicts::of(&junction));
            right.follow_up(path(&junction, from, to))
        };
        let (near, far) = match side {
            DrivingSide::Right => (1, 3),
            DrivingSide::Left => (3, 1),
        };
        for control in [Control::Priority, Control::Stop] {
            assert_eq!(follow_up(control, 4, near), 3.3);
            assert_eq!(follow_up(control, 4, 2), 4.0);
            assert_eq!(follow_up(control, 4, far), 3.5);
            assert_eq!(follow_up(control, 1, 3), 0.0);
        }
        assert_eq!(follow_up(Control::Signals, 4, 2), 0.0);
        assert_eq!(follow_up(Control::Roundabout, 4, 2), 0.0);
    }
}

/// A junction of a street in the east with a one-way road that comes along an arc from the south and goes
/// on along the same arc to the north.
fn street_at_an_arc(radius: f64, is_ring: bool) -> Junction {
    let quarter = |start: Pose| {
        let bend = Segment::Arc {
            length: radius * std::f64::consts::FRAC_PI_2,
            curvature: 1.0 / radius,
        };
        ReferenceLine::new(start, vec![bend]).unwrap()
    };
    let one_way = |line: ReferenceLine| Road {
        reference_line: line,
        ..arm(0.0, 10.0, CrossSection::driving(1, 0, 3.5), RIGHT)
    };
    let node = Pose::new(0.0, 0.0, 90f64.to_radians());
    let [before, after] = [quarter(Pose::new(-radius, -radius, 0.0)), quarter(node)].map(one_way);
    let street = two_way(0.0);
    let arms = vec![
        Arm::new(RoadId(1), &street, RoadEnd::Start),
        Arm::new(RoadId(2), &after, RoadEnd::Start),
        Arm::new(RoadId(3), &before, RoadEnd::End),
    ];
    let site = Site {
        nodes: vec![NodeId(0)],
        centre: DVec2::ZERO,
        side: RIGHT,
        rules: JunctionRules::default(),
        law: RoadLaw::default(),
        is_ring: &|road| is_ring && road != RoadId(1),
        allows: &|_, _| Some(LaneAccess::All),
        limits: &|_, _| None,
    };
    build(&site, arms)
}

#[test]
fn a_ring_stays_round_through_its_junctions() {
    for is_ring in [true, false] {
        let junction = street_at_an_arc(18.0, is_ring);
        let through = &junction.paths[path(&junction, 3, 2) as usize];
        let curve = through.curve.as_ref().unwrap();
        assert!((curve.max_curvature() * 18.0 - 1.0).abs() < 1e-6);
    }
}

#[test]
fn corners_are_wider_where_a_street_meets_a_ring() {
    // 11 m, or three quarters of a smaller ring; a right angle keeps its radius.
    for (radius, corner) in [(18.0, 11.0), (12.0, 9.0)] {
        let wanted = |is_ring| {
            let junction = street_at_an_arc(radius, is_ring);
            let radii = junction.corners.iter().map(|corner| corner.wanted_radius);
            radii.fold(0.0, f64::max)
        };
        assert!(wanted(true) >= corner && wanted(true) < 1.5 * corner);
        assert!(wanted(false) < wanted(true));
    }
}

/// The signals of a crossing.
fn signals(junction: &Junction, speed: f64) -> Signals {
    let mut junction = junction.clone();
    for arm in &mut junction.arms {
        arm.speed_limit = speed;
    }
    Signals::of(&junction, &Conflicts::of(&junction)).unwrap()
}

#[test]
fn a_plain_crossing_has_two_stages_and_nobody_crosses_green() {
    let junction = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Signals)
    });
    let conflicts = Conflicts::of(&junction);
    let right = RightOfWay::of(&junction, &conflicts);
    let signals = signals(&junction, 50.0 / 3.6);
    assert_eq!(signals.greens.len(), 2);
    assert!((signals.programme.cycle() - DEFAULT_CYCLE).abs() < 1e-9);
    // y = 1 + 13.9 / 6.1, [ITE 1999].
    let change = signals.programme.intergreen(0, 1);
    assert!((change.amber - 3.277).abs() < 1e-3, "{signals:?}");
    assert!(change.all_red > 0.5 && change.all_red <= 5.0);
    for green in &signals.greens {
        for conflict in conflicts.list() {
            let (a, b) = conflict.paths;
            let both = green[a as usize] && green[b as usize];
            assert!(
                !both
                    || right.gives_way(a, b)
                    || right.gives_way(b, a)
                    || junction.paths[a as usize].turn == junction.paths[b as usize].turn
            );
        }
    }
    // Everybody has green once in a cycle, amber after it, and red in between.
    for path in 0..junction.paths.len() {
        let lights: Vec<_> = (0..600)
            .map(|i| signals.light(path, f64::from(i) * 0.1))
            .collect();
        for light in [Light::Red, Light::Amber, Light::Green] {
            assert!(lights.contains(&light), "path {path} never shows {light:?}");
        }
        for pair in lights.windows(2) {
            let is_order = !matches!(
                pair,
                [Light::Green, Light::Red] | [Light::Amber, Light::Green]
            );
            assert!(is_order, "{pair:?}");
        }
    }
    // An offset moves all of it, also back from time 0.
    let mut later = signals.clone();
    later.programme.offset = 17.0;
    for i in 0..700 {
        let time = f64::from(i) * 0.1;
        assert_eq!(later.light(0, time + 17.0), signals.light(0, time));
    }
}

#[test]
fn lanes_that_turn_across_several_lanes_get_a_stage_of_their_own() {
    let wide = |roads: &mut [Road], rules: &mut JunctionRules| {
        rules.control = Some(Control::Signals);
        for (road, bearing) in roads.iter_mut().zip(CROSS) {
            *road = arm(bearing, 100.0, CrossSection::driving(3, 3, 3.25), RIGHT);
        }
    };
    let junction = ruled(&CROSS, RIGHT, wide);
    let signals = signals(&junction, 50.0 / 3.6);
    // The innermost of three lanes turns left and goes straight on: no lane turns only.
    assert_eq!(signals.greens.len(), 2);
    // Fast oncoming traffic is not turned across: the arms have green one after the other.
    let fast = self::signals(&junction, 25.0);
    assert_eq!(fast.greens.len(), 4);
}

#[test]
fn given_stages_and_flashing_are_obeyed() {
    let given = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Signals);
        let movement = |road: u32, turns: Vec<Turn>| crate::Movement {
            road: RoadId(road),
            turns,
        };
        let stage = |green, time| crate::SignalStage {
            green,
            permitted: Vec::new(),
            time,
            min: None,
            max: None,
            amber: Some(4.0),
            all_red: None,
        };
        rules.plan = Some(SignalPlan {
            stages: vec![
                stage(
                    vec![movement(1, vec![]), movement(3, vec![Turn::Straight])],
                    20.0,
                ),
                stage(vec![movement(2, vec![])], 10.0),
            ],
            offset: 5.0,
            ..SignalPlan::default()
        });
    });
    let signals = signals(&given, 13.9);
    assert_eq!(signals.programme.stages[0].green, 20.0);
    assert_eq!(signals.programme.intergreen(0, 1).amber, 4.0);
    assert_eq!(
        signals.light(path(&given, 3, 1) as usize, 6.0),
        Light::Green
    );
    // The left turn of road 3 is in no stage: it has red for ever.
    assert_eq!(signals.light(path(&given, 3, 2) as usize, 6.0), Light::Red);
    assert_eq!(signals.light(path(&given, 2, 4) as usize, 6.0), Light::Red);
    let flashing = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Signals);
        rules.major = vec![RoadId(1), RoadId(3)];
        rules.plan = Some(SignalPlan {
            mode: SignalMode::Flashing,
            ..SignalPlan::default()
        });
    });
    assert!(Signals::of(&flashing, &Conflicts::of(&flashing)).is_none());
    assert_eq!(
        signs(&flashing),
        [Sign::None, Sign::Yield, Sign::None, Sign::Yield]
    );
}

#[test]
fn signals_on_a_road_that_goes_on_have_stop_lines() {
    let bearings = [0.0, 180.0];
    let plain = ruled(&bearings, RIGHT, |_, _| {});
    assert!(plain.paths.iter().all(|path| path.curve.is_none()));
    let lit = ruled(&bearings, RIGHT, |_, rules| {
        rules.control = Some(Control::Signals)
    });
    assert!(lit.arms.iter().all(|arm| (arm.trim - 2.5).abs() < 1e-9));
    assert!(lit.paths.iter().all(|path| path.curve.is_some()));
    assert_eq!(signs(&lit), [Sign::Signal; 2]);
    let signals = Signals::of(&lit, &Conflicts::of(&lit)).unwrap();
    // Both ways have green together, then people cross.
    assert_eq!(signals.greens.len(), 2);
    assert!(signals.greens.contains(&vec![true; 2]) && signals.greens.contains(&vec![false; 2]));
}

/// A network of one-way roads along a ring, with an arm at each node; `way` is +1 for
/// counter-clockwise.
fn ring(radius: f64, arms: u32, way: f64, side: DrivingSide) -> crate::RoadNetwork {
    let mut network = crate::RoadNetwork::default();
    let step = way * std::f64::consts::TAU / f64::from(arms);
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
            speed_limit: 10.0,
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
        let heading = step * f64::from(i) + way * std::f64::consts::FRAC_PI_2;
        let start = roadwright_geometry::Pose {
            position: at(i, radius),
            heading,
        };
        let bend = roadwright_geometry::Segment::Arc {
            length: radius * step.abs(),
            curvature: way / radius,
        };
        let line = ReferenceLine::new(start, vec![bend]).unwrap();
        network.put_road(RoadId(i), road(i, next, line, section(1, 0), side));
        let out = ReferenceLine::straight(at(i, radius), at(i, radius + 80.0)).unwrap();
        network.put_road(RoadId(100 + i), road(i, 100 + i, out, section(1, 1), side));
    }
    network
}

#[test]
fn a_ring_stays_a_ring_and_goes_first() {
    for (way, side) in [(1.0, DrivingSide::Right), (-1.0, DrivingSide::Left)] {
        for radius in [6.5, 15.0, 40.0] {
            let network = ring(radius, 4, way, side);
            let layout = layout(&network, side);
            assert_eq!(
                layout.rings,
                (0..4).map(RoadId).collect(),
                "radius {radius}"
            );
            // No road of it is swallowed, and at each of its nodes it has the right of way.
            assert!(
                layout.internal.is_empty(),
                "radius {radius}: {:?}",
                layout.internal
            );
            for node in 0..4 {
                let junction = &layout.junctions[layout.junction_of[&NodeId(node)]];
                assert_eq!(junction.control, Control::Roundabout);
                for end in &junction.arms {
                    let expected = if end.road.0 >= 100 {
                        Sign::Yield
                    } else {
                        Sign::None
                    };
                    assert_eq!(end.sign, expected);
                }
            }
        }
        // Driven the other way round it is no roundabout; nor is a block of streets.
        let wrong = ring(15.0, 4, -way, side);
        assert!(layout(&wrong, side).rings.is_empty());
    }
}

/// The same with a crossroads on the first arm, so far beyond the ring, m.
fn ring_beside_crossroads(distance: f64) -> crate::RoadNetwork {
    let mut network = ring(13.0, 4, 1.0, RIGHT);
    let arm = network.road(RoadId(100)).unwrap().clone();
    let middle = DVec2::new(13.0 + distance, 0.0);
    let ends = [
        (100, DVec2::new(93.0, 0.0)),
        (200, DVec2::new(middle.x, 70.0)),
        (201, DVec2::new(middle.x, -70.0)),
    ];
    network.put_node(NodeId(202), crate::Node::at(middle));
    let between = (NodeId(0), DVec2::new(13.0, 0.0), NodeId(202), middle);
    let beyond = ends.map(|(id, end)| (NodeId(202), middle, NodeId(id), end));
    for (id, (from, start, to, end)) in (100..)
        .step_by(100)
        .zip([between].into_iter().chain(beyond))
    {
        network.put_node(to, crate::Node::at(end));
        network.put_road(
            RoadId(id),
            Road {
                from,
                to,
                reference_line: ReferenceLine::straight(start, end).unwrap(),
                ..arm.clone()
            },
        );
    }
    network
}

#[test]
fn a_ring_and_the_crossroads_beside_it_are_two_junctions() {
    for distance in [8.0, 14.0, 20.0, 40.0] {
        let network = ring_beside_crossroads(distance);
        let layout = layout(&network, RIGHT);
        assert!(
            layout.internal.is_empty(),
            "{distance} m: {:?}",
            layout.internal
        );
        let of_node = |node| &layout.junctions[layout.junction_of[&NodeId(node)]];
        assert_eq!(of_node(0).control, Control::Roundabout);
        assert_eq!((of_node(0).arms.len(), of_node(202).arms.len()), (3, 4));
        for (node, ways) in [(0, 3), (202, 12)] {
            let driven = of_node(node)
                .paths
                .iter()
                .filter(|path| path.curve.is_some());
            assert_eq!(driven.count(), ways, "{distance} m, node {node}");
        }
    }
    // As short a road between crossroads is taken in.
    let mut network = ring_beside_crossroads(8.0);
    network.remove_road(RoadId(3));
    assert!(!layout(&network, RIGHT).internal.is_empty());
}

#[test]
fn a_block_of_one_way_streets_is_no_roundabout() {
    let corners = [(0.0, 0.0), (60.0, 0.0), (60.0, 60.0), (0.0, 60.0)];
    let network = network_of(
        &corners,
        3.5,
        &[0, 1, 2, 3].map(|id| (id, id, (id + 1) % 4, (1, 0))),
    );
    assert!(layout(&network, RIGHT).rings.is_empty());
}

#[test]
fn an_edit_of_a_ring_reaches_all_around_it() {
    let side = DrivingSide::Right;
    let network = ring(25.0, 5, 1.0, side);
    let before = layout(&network, side);
    let mut edited = network.clone();
    let mut road = network.road(RoadId(2)).unwrap().clone();
    let (lane_offset, lanes) = CrossSection::driving(1, 1, 4.0).lanes(side);
    (road.lane_offset, road.lane_sections) = (lane_offset, vec![lanes]);
    edited.put_road(RoadId(2), road);
    let after = layout_after_edit((&network, &before), &edited, side);
    assert!(after == layout(&edited, side) && after.rings.is_empty());
    let back = layout_after_edit((&edited, &after), &network, side);
    assert!(back == before && !back.rings.is_empty());
}

#[test]
fn nodes_of_one_junction_decide_together() {
    // Two nodes 4 m apart become one junction; roads 10 and 11 end at the first, 12 and 13 at the other.
    let places = [
        (0.0, 0.0),
        (4.0, 0.0),
        (-90.0, 0.0),
        (0.0, 90.0),
        (94.0, 0.0),
        (4.0, -90.0),
    ];
    let streets = [(1, 0, 1), (10, 2, 0), (11, 3, 0), (12, 4, 1), (13, 5, 1)];
    let network = network_of(
        &places,
        3.5,
        &streets.map(|(id, from, to)| (id, from, to, (1, 1))),
    );
    let decided = |rules: [JunctionRules; 2]| {
        let mut network = network.clone();
        for (id, rules) in (0..).zip(rules) {
            let node = network.node(NodeId(id)).unwrap().clone();
            network.put_node(NodeId(id), crate::Node { rules, ..node });
        }
        let layout = layout(&network, RIGHT);
        let junction = layout.junctions[layout.junction_of[&NodeId(0)]].clone();
        assert_eq!(junction.nodes.len(), 2);
        junction
    };
    let rules = |control: Option<Control>, major: &[u32]| JunctionRules {
        control,
        major: major.iter().copied().map(RoadId).collect(),
        ..JunctionRules::default()
    };
    let give_way = || rules(Some(Control::Priority), &[10]);
    // Signals at any node rule it all.
    let lit = decided([give_way(), rules(Some(Control::Signals), &[])]);
    assert_eq!(lit.control, Control::Signals);
    // Nodes that say the same name their major roads together.
    let both = decided([give_way(), rules(Some(Control::Priority), &[12])]);
    assert_eq!(
        signs(&both),
        [Sign::None, Sign::Yield, Sign::None, Sign::Yield]
    );
}

#[test]
fn major_roads_alone_are_a_decision() {
    let junction = ruled(&CROSS, RIGHT, |roads, rules| {
        roads[0].class = RoadClass::Arterial;
        roads[2].class = RoadClass::Arterial;
        rules.major = vec![RoadId(2), RoadId(4)];
    });
    let expected = [Sign::Yield, Sign::None, Sign::Yield, Sign::None];
    assert_eq!(signs(&junction), expected);
}

/// A junction with crossings over all of its arms.
fn crossed(bearings: &[f64], side: DrivingSide, control: Option<Control>) -> Junction {
    ruled(bearings, side, |roads, rules| {
        rules.control = control;
        rules.crossings = (1..=roads.len() as u32)
            .map(|road| CrossingRule::over(RoadId(road)))
            .collect();
    })
}

#[test]
fn a_crossing_lies_between_the_corners_and_the_stop_line() {
    let plain = ruled(&CROSS, RIGHT, |_, _| ());
    for side in [RIGHT, DrivingSide::Left] {
        let junction = crossed(&CROSS, side, None);
        assert_eq!(junction.crossings.len(), 4);
        for (crossing, arm) in junction.crossings.iter().zip(&junction.arms) {
            assert_eq!((crossing.road, crossing.end), (arm.road, arm.end));
            // Strip, space to the corner and space to the stop line: 3.6 + 0.4 + 1.
            assert!((arm.trim - plain.arms[0].trim - 5.0).abs() < 1e-5);
            assert!((crossing.length - 7.0).abs() < 1e-9 && crossing.islands.is_empty());
            // Its middle is 2.8 m before the stop line, which runs from cut to cut.
            let cut = 0.5 * (arm.left_cut + arm.right_cut);
            let middle = crossing.place(0.5 * crossing.length);
            assert!(((cut - middle).length() - 2.8).abs() < 1e-6);
            // Three ways lead away from the arm and three into it.
            assert_eq!(crossing.covered.len(), 6, "{:?}", crossing.covered);
            for covered in &crossing.covered {
                let path = &junction.paths[covered.path as usize];
                let Taken { across, along } = covered.car;
                let length = path.curve.as_ref().unwrap().length();
                if path.from.road == crossing.road {
                    // The front comes to the strip a metre beyond the stop line.
                    assert!((along.from - 1.0).abs() < 0.51, "{along:?}");
                    assert!((along.to - 4.6).abs() < 1.1, "{along:?}");
                } else {
                    assert!((along.to - (length - 1.0)).abs() < 1.1, "{along:?}");
                    assert!(along.from < length - 4.1, "{along:?}");
                }
                // Each takes about its own lane, and the lane is where its side of the road is.
                assert!(across.to - across.from < 4.2, "{across:?}");
                let comes = path.from.road == crossing.road;
                let is_right_half = comes != (side == RIGHT);
                let middle = 0.5 * (across.from + across.to);
                assert_eq!(middle < 3.5, is_right_half, "{across:?} {comes} {side:?}");
            }
        }
    }
}

#[test]
fn a_crossing_over_a_road_that_goes_on_lies_around_its_node() {
    let junction = ruled(&[0.0, 180.0], RIGHT, |_, rules| {
        rules.crossings = vec![CrossingRule::over(RoadId(1)), CrossingRule::over(RoadId(2))];
    });
    let [crossing] = &junction.crossings[..] else {
        panic!("{:?}", junction.crossings);
    };
    assert!(crossing.place(3.5).length() < 1e-9);
    assert!(
        junction
            .arms
            .iter()
            .all(|arm| (arm.trim - 2.8).abs() < 1e-9)
    );
    assert_eq!(crossing.covered.len(), 2);
    // Where nobody crosses, nobody stops.
    let plain = ruled(&[0.0, 180.0], RIGHT, |_, _| ());
    assert!(plain.crossings.is_empty() && plain.arms.iter().all(|arm| arm.trim == 0.0));
}

#[test]
fn crossings_of_fast_roads_are_wider_unless_a_person_decides() {
    let width = |limit_kmh: f64, decided: Option<f64>| {
        let junction = ruled(&CROSS, RIGHT, |roads, rules| {
            roads[0].speed_limit = (limit_kmh / 3.6 * 100.0_f64).round() / 100.0;
            let over = CrossingRule::over(RoadId(1));
            rules.crossings = vec![CrossingRule {
                width: decided,
                ..over
            }];
        });
        junction.crossings[0].width
    };
    assert_eq!((width(50.0, None), width(60.0, None)), (3.6, 3.6));
    assert_eq!((width(70.0, None), width(70.0, Some(2.5))), (4.0, 2.5));
}

#[test]
fn people_wait_on_wide_medians_only() {
    for (median, islands) in [(2.0, 1), (1.0, 0)] {
        let half = || vec![(LaneType::Median, 0.5 * median), (LaneType::Driving, 3.5)];
        let section = CrossSection {
            forward: half(),
            backward: half(),
        };
        let roads: Vec<Road> = (0..4)
            .map(|i| arm(90.0 * f64::from(i), 100.0, section.clone(), RIGHT))
            .collect();
        let arms = roads.iter().zip(1..);
        let arms = arms.map(|(road, id)| Arm::new(RoadId(id), road, RoadEnd::Start));
        let site = Site {
            nodes: vec![NodeId(0)],
            centre: DVec2::ZERO,
            side: RIGHT,
            rules: JunctionRules {
                crossings: vec![CrossingRule::over(RoadId(1))],
                ..JunctionRules::default()
            },
            law: RoadLaw::default(),
            is_ring: &|_| false,
            allows: &|_, _| Some(LaneAccess::All),
            limits: &|_, _| None,
        };
        let junction = build(&site, arms.collect());
        let crossing = &junction.crossings[0];
        assert_eq!(crossing.islands.len(), islands, "{median} m");
        assert_eq!(crossing.stretches().count(), islands + 1);
        let longest = if islands == 1 { 3.5 } else { 8.0 };
        assert!((crossing.longest_stretch() - longest).abs() < 1e-9);
    }
}

#[test]
fn a_crossing_without_room_is_left_out_and_told() {
    let road = |length| arm(0.0, length, CrossSection::driving(1, 1, 3.5), RIGHT);
    let roads = [road(15.0), two_way(90.0), two_way(200.0)];
    let arms = roads.iter().zip(1..);
    let site = Site {
        nodes: vec![NodeId(0)],
        centre: DVec2::ZERO,
        side: RIGHT,
        rules: JunctionRules {
            crossings: vec![CrossingRule::over(RoadId(1)), CrossingRule::over(RoadId(2))],
            ..JunctionRules::default()
        },
        law: RoadLaw::default(),
        is_ring: &|_| false,
        allows: &|_, _| Some(LaneAccess::All),
        limits: &|_, _| None,
    };
    let arms = arms.map(|(road, id)| Arm::new(RoadId(id), road, RoadEnd::Start));
    let junction = build(&site, arms.collect());
    assert!(junction.flags.contains(&Flag::NoRoomForCrossing(RoadId(1))));
    let roads: Vec<_> = junction.crossings.iter().map(|c| c.road).collect();
    assert_eq!(roads, [RoadId(2)]);
}

#[test]
fn people_walk_while_what_they_cross_is_red() {
    let junction = crossed(&CROSS, RIGHT, Some(Control::Signals));
    let conflicts = Conflicts::of(&junction);
    let mut signals = Signals::of(&junction, &conflicts).unwrap();
    assert_eq!(signals.greens.len(), 2);
    let mut all = 0;
    for crossing in &junction.crossings {
        let stages = junction.walk_stages(crossing, &signals.greens);
        assert_eq!(stages.count_ones(), 1, "{stages:b}");
        let green = &signals.greens[stages.trailing_zeros() as usize];
        let from_there = |path: &&ConnectingPath| path.from.road == crossing.road;
        for (path, green) in junction.paths.iter().zip(green) {
            assert!(!(*green && from_there(&path)));
        }
        all |= stages;
    }
    assert_eq!(all, 0b11);
    // Four seconds to step on it, and 7 m at 1.2 m/s.
    let greens = signals.greens.clone();
    super::signals::lengthen(&mut signals.programme, &greens, &junction);
    let needed = 4.0 + 7.0 / 1.2;
    assert!(
        signals
            .programme
            .stages
            .iter()
            .all(|stage| stage.min >= needed - 1e-9)
    );
    // Where an arm has green in all stages there is none in which people could walk.
    let always = vec![vec![true; junction.paths.len()]; 2];
    assert_eq!(junction.walk_stages(&junction.crossings[0], &always), 0);
}

#[test]
fn a_narrow_pavement_and_one_as_wide_as_the_corner_meet_beside_the_carriageway() {
    let arms = |lanes: &[f64]| -> Vec<_> { lanes.iter().map(|&width| (1, 0, width)).collect() };
    for (gaps, lanes) in [
        (
            vec![0.454, 0.542, 0.497, 0.961, 0.561, 0.687],
            arms(&[2.75, 3.424, 3.988, 2.75, 2.75, 2.75]),
        ),
        (
            vec![0.582, 0.502, 0.320, 0.261, 0.656],
            arms(&[2.75, 3.798, 3.402, 2.75, 2.75]),
        ),
    ] {
        let junction = junction_of(&random_roads(&gaps, &lanes, RIGHT), RIGHT);
        // Between the two roads with pavements: 0.6 m and 3.4 m wide, 2.5 m and 0.5 m.
        let wide = junction.arms.iter().position(|arm| arm.road == RoadId(2));
        let border = &junction.borders[wide.unwrap()];
        for tolerance in [0.05, 0.01, 0.001] {
            let pavement = border.pavement_polygon(tolerance);
            assert!(polygon::is_simple(&pavement), "{tolerance}: {pavement:?}");
            assert!(polygon::signed_area(&pavement) > 1.0);
            // Nothing of it lies on the carriageway.
            let carriageway = junction.polygon_within(tolerance);
            for point in &pavement {
                let depth = polygon::boundary_distance(&carriageway, *point);
                assert!(!polygon::contains(&carriageway, *point) || depth < 0.01);
            }
        }
    }
}

#[test]
fn a_taper_has_the_length_of_the_road_with_more_lanes_whichever_comes_first() {
    let gaps = [0.705, 0.704, 0.15];
    let lanes = [(2, 0, 3.86), (1, 1, 3.75), (2, 1, 3.57)];
    let roads = random_roads(&gaps, &lanes, RIGHT);
    let right = junction_of(&roads, RIGHT);
    let left = junction_of(
        &roads.iter().map(mirrored).collect::<Vec<_>>(),
        DrivingSide::Left,
    );
    for arm in &right.arms {
        let same = |other: &&ArmEnd| other.road == arm.road;
        let other = left.arms.iter().find(same).unwrap();
        assert!((arm.trim - other.trim).abs() < 1e-5, "{:?}", arm.road);
    }
}
