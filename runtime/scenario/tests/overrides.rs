//! Tests of lane turns and corners set by the user: their effects, and that edits and files
//! preserve them.

use crate::common::{applied, crossroads, draw, street};
use roadwright_scenario::check::{Code, check};
use roadwright_scenario::junction::{Junction, LaneEnd, Turn, layout, layout_after_edit};
use roadwright_scenario::operation::draw::split;
use roadwright_scenario::operation::{
    OperationError, deleted, merged, merged_junctions, parted_junctions, reversed, with_lanes,
};
use roadwright_scenario::*;
use std::sync::Arc;

fn middle(scenario: &Scenario) -> NodeId {
    let network = scenario.network();
    let mut nodes = network.nodes();
    nodes
        .find(|(id, _)| network.ends_at(*id).len() > 2)
        .unwrap()
        .0
}

fn rules(scenario: &Scenario) -> &JunctionRules {
    &scenario.network().node(middle(scenario)).unwrap().rules
}

fn with_rules(scenario: &Scenario, change: impl FnOnce(&mut JunctionRules)) -> Scenario {
    let id = middle(scenario);
    let mut node = scenario.network().node(id).unwrap().clone();
    change(&mut node.rules);
    applied(scenario, Edit::Node(id, Some(node)))
}

fn junction(scenario: &Scenario) -> Arc<Junction> {
    let layout = layout(scenario.network(), scenario.about());
    layout.junction_at(middle(scenario)).unwrap().clone()
}

fn turn(from: LaneEnd, to: LaneEnd) -> LaneTurn {
    let lane = |end: LaneEnd| RoadLane {
        road: end.road,
        lane: end.lane,
    };
    LaneTurn {
        from: lane(from),
        to: lane(to),
    }
}

fn turns(scenario: &Scenario) -> Vec<LaneTurn> {
    let junction = junction(scenario);
    let paths = junction.paths.iter();
    let mut turns: Vec<LaneTurn> = paths.map(|path| turn(path.from, path.to)).collect();
    turns.sort_unstable();
    turns
}

/// Returns a left turn of a junction.
fn left(scenario: &Scenario) -> LaneTurn {
    let junction = junction(scenario);
    let mut paths = junction.paths.iter();
    let path = paths.find(|path| path.turn == Turn::Left).unwrap();
    turn(path.from, path.to)
}

fn codes(scenario: &Scenario) -> Vec<Code> {
    check(scenario)
        .into_iter()
        .map(|found| found.code)
        .collect()
}

/// Creates two crossing streets with two lanes in each direction.
fn wide_crossing() -> Scenario {
    let mut scenario = Scenario::new("wide");
    let style = |name| operation::draw::RoadStyle {
        section: CrossSection::driving(2, 2, 3.25),
        ..street(name)
    };
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &style("East"));
    draw(&mut scenario, (0.0, -100.0), (0.0, 100.0), &style("North"));
    scenario
}

#[test]
fn paths_from_lane_to_lane_are_taken_out_and_added() {
    let plain = wide_crossing();
    let before = turns(&plain);
    let gone = left(&plain);
    let without = with_rules(&plain, |rules| rules.turns.remove(gone));
    let expected: Vec<LaneTurn> = before.iter().copied().filter(|t| *t != gone).collect();
    assert_eq!(turns(&without), expected);
    // The adjacent lane does not have this turn by the rules.
    assert_eq!(gone.from.lane.abs(), 1);
    let outer = 2 * gone.from.lane;
    let beside = RoadLane {
        lane: outer,
        ..gone.from
    };
    let new = LaneTurn {
        from: beside,
        ..gone
    };
    assert!(!before.contains(&new));
    let with = with_rules(&without, |rules| rules.turns.add(new));
    assert!(turns(&with).contains(&new) && !turns(&with).contains(&gone));
    assert!(codes(&with).is_empty(), "{:?}", check(&with));
    // Adding the turn again has no effect. If both entries are missing, the rules decide.
    let again = with_rules(&with, |rules| rules.turns.add(new));
    assert!(again == with);
    let plain_again = with_rules(&with, |rules| {
        rules.turns.forget(new);
        rules.turns.forget(gone);
    });
    assert!(plain_again == plain);
    // A turn added by the user overrides a restriction.
    let no = Restriction {
        kind: RestrictionKind::No,
        from: gone.from.road,
        to: gone.to.road,
    };
    let forbidden = with_rules(&with, |rules| rules.restrictions.push(no));
    let into = |scenario: &Scenario| -> Vec<LaneTurn> {
        let all = turns(scenario).into_iter();
        all.filter(|t| (t.from.road, t.to.road) == (no.from, no.to))
            .collect()
    };
    assert_eq!(into(&forbidden), [new]);
    // A turn back into the same road, for which the road is wide enough.
    let back = LaneTurn {
        from: beside,
        to: RoadLane {
            lane: -outer,
            ..beside
        },
    };
    let turned = with_rules(&plain, |rules| rules.turns.add(back));
    let junction = junction(&turned);
    let back_path = junction.paths.iter().find(|p| turn(p.from, p.to) == back);
    assert_eq!(
        back_path.map(|path| path.turn),
        Some(Turn::UTurn),
        "{back:?}"
    );
}

#[test]
fn a_lane_without_any_way_is_found() {
    let plain = crossroads();
    let from = left(&plain).from;
    let lost = with_rules(&plain, |rules| {
        for turn in turns(&plain).into_iter().filter(|t| t.from == from) {
            rules.turns.remove(turn);
        }
    });
    assert_eq!(codes(&lost), [Code::LaneWithoutSuccessor]);
}

#[test]
fn turns_of_lanes_that_are_not_there_are_found() {
    let plain = crossroads();
    let LaneTurn { from, to } = left(&plain);
    let wrong = [
        // A reversed turn, a turn from a lane that does not exist, and a turn from a road that does not
        // exist.
        LaneTurn { from: to, to: from },
        LaneTurn {
            from,
            to: RoadLane { lane: 7, ..to },
        },
        LaneTurn {
            from: RoadLane {
                road: RoadId(77),
                lane: -1,
            },
            to,
        },
    ];
    for turn in wrong {
        for is_added in [true, false] {
            let scenario = with_rules(&plain, |rules| match is_added {
                true => rules.turns.add(turn),
                false => rules.turns.remove(turn),
            });
            let found = codes(&scenario);
            assert!(found.contains(&Code::DanglingTurn), "{turn:?}: {found:?}");
            assert_eq!(turns(&scenario), turns(&plain));
        }
    }
}

/// Returns the corners of the junction in the middle, as (road, next road, preferred radius, actual
/// radius).
fn corners(scenario: &Scenario) -> Vec<(RoadId, RoadId, f64, f64)> {
    let junction = junction(scenario);
    let arms = &junction.arms;
    let corners = junction.corners.iter().enumerate();
    corners
        .map(|(i, corner)| {
            let next = arms[(i + 1) % arms.len()].road;
            (arms[i].road, next, corner.wanted_radius, corner.radius)
        })
        .collect()
}

#[test]
fn a_corner_has_the_radius_that_is_decided() {
    let plain = crossroads();
    let (road, next, by_class, _) = corners(&plain)[0];
    let wide = with_rules(&plain, |rules| rules.set_corner(road, next, Some(9.0)));
    for (a, b, wanted, achieved) in corners(&wide) {
        let expected = if (a, b) == (road, next) {
            9.0
        } else {
            by_class
        };
        assert!((wanted - expected).abs() < 1e-9 && (achieved - expected).abs() < 1e-6);
    }
    // Both roads beside the corner are cut back farther, and the others are not.
    let trims = |scenario: &Scenario| -> Vec<(RoadId, f64)> {
        let junction = junction(scenario);
        let arms = junction.arms.iter();
        arms.map(|arm| (arm.road, arm.trim)).collect()
    };
    for ((arm, before), (_, now)) in trims(&plain).into_iter().zip(trims(&wide)) {
        let is_beside = arm == road || arm == next;
        assert_eq!(now > before + 1.0, is_beside, "{arm}: {before} {now}");
    }
    assert!(codes(&wide).is_empty());
    let back = with_rules(&wide, |rules| rules.set_corner(road, next, None));
    assert!(back == plain);
    // There is no room for a radius of 100 m. The corner gets the largest possible radius, and
    // there is a finding.
    let huge = with_rules(&plain, |rules| rules.set_corner(road, next, Some(100.0)));
    let (.., wanted, achieved) = corners(&huge)[0];
    assert!(
        wanted == 100.0 && (20.0..99.0).contains(&achieved),
        "{achieved}"
    );
    assert!(codes(&huge).contains(&Code::CornerSqueezed));
    let tiny = with_rules(&plain, |rules| rules.set_corner(road, next, Some(0.5)));
    assert!((corners(&tiny)[0].3 - 0.5).abs() < 1e-6);
}

#[test]
fn corners_that_are_not_there_are_found() {
    let plain = crossroads();
    let (road, next, ..) = corners(&plain)[0];
    let opposite = corners(&plain)[1].1;
    for (a, b) in [(next, road), (road, opposite), (road, RoadId(99))] {
        let wrong = with_rules(&plain, |rules| rules.set_corner(a, b, Some(5.0)));
        assert_eq!(codes(&wrong), [Code::DanglingCorner], "{a} {b}");
        assert_eq!(corners(&wrong), corners(&plain));
    }
    // The far side of a T-junction is straight.
    let mut tee = Scenario::new("tee");
    draw(&mut tee, (-100.0, 0.0), (100.0, 0.0), &street("East"));
    draw(&mut tee, (0.0, -100.0), (0.0, 0.0), &street("South"));
    let flat = corners(&tee).into_iter().find(|corner| corner.2 == 0.0);
    let (road, next, ..) = flat.unwrap();
    let wrong = with_rules(&tee, |rules| rules.set_corner(road, next, Some(5.0)));
    assert_eq!(codes(&wrong), [Code::DanglingCorner]);
}

/// Creates a crossing with a removed turn, an added turn and a corner.
fn decided() -> (Scenario, LaneTurn) {
    let plain = wide_crossing();
    let gone = left(&plain);
    let (road, next, ..) = corners(&plain)[0];
    let scenario = with_rules(&plain, |rules| {
        rules.turns.remove(gone);
        rules.set_corner(road, next, Some(11.0));
    });
    (scenario, gone)
}

/// Returns the number of connections, and the corner radii in order of size.
fn shape(scenario: &Scenario) -> (usize, Vec<f64>) {
    let mut radii: Vec<f64> = corners(scenario).iter().map(|corner| corner.3).collect();
    radii.sort_by(f64::total_cmp);
    let radii = radii.into_iter().map(|radius| (radius * 1e6).round());
    (turns(scenario).len(), radii.collect())
}

#[test]
fn what_is_decided_follows_its_roads() {
    let (scenario, gone) = decided();
    let before = shape(&scenario);
    for road in [gone.from.road, gone.to.road] {
        let turned = applied(&scenario, reversed(&scenario, road).unwrap());
        assert_eq!(shape(&turned), before, "turned round");
        assert!(codes(&turned).is_empty());
        let twice = applied(&turned, reversed(&turned, road).unwrap());
        assert_eq!(rules(&twice), rules(&scenario));
        let length = scenario.network().road(road).unwrap().length();
        let cut = applied(&scenario, split(&scenario, road, 0.5 * length).unwrap());
        assert_eq!(shape(&cut), before, "cut");
        assert!(codes(&cut).is_empty());
        let network = cut.network();
        let mut nodes = network.nodes();
        let seam = nodes.find(|(id, _)| network.ends_at(*id).len() == 2);
        let seam = seam.unwrap().0;
        // The merged road has the same turns, whichever piece is reversed.
        for end in [0, 1] {
            let piece = network.ends_at(seam)[end].0;
            let mixed = applied(&cut, reversed(&cut, piece).unwrap());
            let whole = applied(&mixed, merged(&mixed, seam).unwrap());
            assert_eq!(shape(&whole), before, "one road again");
            assert!(codes(&whole).is_empty(), "{:?}", check(&whole));
        }
    }
}

#[test]
fn turns_follow_lanes_that_get_other_ids() {
    let (scenario, gone) = decided();
    let road = scenario.network().road(gone.from.road).unwrap();
    let lanes = road.lane_sections[0].lanes.clone();
    let left = lanes.iter().filter(|lane| lane.id > 0).count();
    // An additional lane on the far right does not change the ids on the left, and one on the far
    // left does not change the ids on the right. Finally, the reference line moves by one lane.
    let mut more = lanes.clone();
    let mut new = lanes[0].clone();
    new.id = 0;
    new.kind = LaneType::Shoulder;
    more.insert(left, new);
    let changed = applied(
        &scenario,
        with_lanes(&scenario, gone.from.road, 0, more, left).unwrap(),
    );
    let kept = &rules(&changed).turns.remove;
    let expected = if gone.from.lane < 0 {
        gone.from.lane - 1
    } else {
        gone.from.lane
    };
    assert_eq!(kept[0].from.lane, expected);
    assert!(codes(&changed).is_empty(), "{:?}", check(&changed));
    // A turn is deleted with its lane.
    let less: Vec<Lane> = lanes
        .iter()
        .filter(|lane| lane.id != gone.from.lane)
        .cloned()
        .collect();
    let left = less.iter().filter(|lane| lane.id > 0).count();
    let changed = applied(
        &scenario,
        with_lanes(&scenario, gone.from.road, 0, less, left).unwrap(),
    );
    assert!(rules(&changed).turns.is_empty());
    // All rules that name a road are deleted with it.
    let objects = [ObjectId::Road(gone.from.road)].into();
    let less = applied(&scenario, deleted(&scenario, &objects));
    assert!(rules(&less).turns.is_empty());
}

#[test]
fn absurd_rules_are_refused() {
    let scenario = crossroads();
    let id = middle(&scenario);
    let node = scenario.network().node(id).unwrap();
    let refused = |change: &dyn Fn(&mut JunctionRules)| {
        let mut node = node.clone();
        change(&mut node.rules);
        let mut changed = scenario.clone();
        let error = changed.apply(Edit::Node(id, Some(node))).unwrap_err();
        assert!(changed == scenario);
        error.to_string()
    };
    for radius in [0.0, -4.0, 0.49, 100.1, f64::NAN, f64::INFINITY] {
        let error = refused(&|rules| rules.set_corner(RoadId(1), RoadId(2), Some(radius)));
        assert!(error.contains("corners.0.radius"), "{error}");
    }
    let corner = |road| CornerRule {
        road: RoadId(road),
        next: RoadId(2),
        radius: 5.0.into(),
    };
    let twice = refused(&|rules| rules.corners = vec![corner(1), corner(1)]);
    assert!(twice.contains("listed twice"), "{twice}");
    let many = refused(&|rules| rules.corners = (0..65).map(corner).collect());
    assert!(many.contains("at most 64"), "{many}");
    let turn = left(&scenario);
    let both = refused(&|rules| {
        rules.turns.add = vec![turn];
        rules.turns.remove = vec![turn];
    });
    assert!(both.contains("also in turns.remove"), "{both}");
    let many = refused(&|rules| rules.turns.add = vec![turn; 1001]);
    assert!(many.contains("at most 1000"), "{many}");
}

#[test]
fn files_hold_what_is_decided() {
    let (scenario, _) = decided();
    let text = file::to_text(&scenario);
    assert!(text.contains("\"turns\": {\"remove\": [{\"from\": {\"road\": "));
    assert!(text.contains("\"corners\": [{\"road\": "));
    let read = file::from_text(&text).unwrap();
    assert!(read == scenario);
    let wrong = text.replace("\"radius\": 11.0", "\"radius\": 0.0");
    let error = file::from_text(&wrong).unwrap_err();
    assert!(error.to_string().contains("0.5 to 100 m"), "{error}");
    assert!(error.line > 0);
}

#[test]
fn stages_in_which_two_meet_and_neither_gives_way_are_found() {
    let plain = crossroads();
    let roads: Vec<RoadId> = junction(&plain).arms.iter().map(|arm| arm.road).collect();
    let all = |road: RoadId| Movement {
        road,
        turns: Vec::new(),
    };
    let stage = |green: Vec<Movement>, permitted: Vec<Movement>| SignalStage {
        green,
        permitted,
        time: 20.0.into(),
        min: None.into(),
        max: None.into(),
        amber: None.into(),
        all_red: None.into(),
    };
    let with = |stages: Vec<SignalStage>| {
        with_rules(&plain, |rules| {
            rules.control = Some(Control::Signals);
            rules.plan = Some(SignalPlan {
                stages,
                ..SignalPlan::default()
            });
        })
    };
    // The roads are opposite each other. Turns across oncoming traffic yield in any case.
    let street = |i: usize| stage(vec![all(roads[i]), all(roads[i + 2])], Vec::new());
    let sound = with(vec![street(0), street(1)]);
    assert!(codes(&sound).is_empty(), "{:?}", check(&sound));
    // The paths of traffic from adjacent roads cross.
    let crossing = with(vec![stage(vec![all(roads[0]), all(roads[1])], Vec::new())]);
    let found = check(&crossing);
    assert!(
        found.iter().any(|f| f.code == Code::StageConflict),
        "{found:?} {roads:?}"
    );
    // This is permitted if one of them yields.
    let settled = with(vec![stage(vec![all(roads[0])], vec![all(roads[1])])]);
    assert!(!codes(&settled).contains(&Code::StageConflict));
    let text = file::to_text(&settled);
    assert!(text.contains("\"permitted\": [{\"road\": "));
    assert!(file::from_text(&text).unwrap() == settled);
}

/// Returns two crossings `apart` metres apart, and their nodes from west to east.
fn two_crossings(apart: f64) -> (Scenario, [NodeId; 2]) {
    let mut scenario = Scenario::new("near");
    draw(&mut scenario, (-120.0, 0.0), (160.0, 0.0), &street("East"));
    draw(&mut scenario, (0.0, -100.0), (0.0, 100.0), &street("North"));
    let other = [(apart, -100.0), (apart, 100.0)];
    draw(&mut scenario, other[0], other[1], &street("Other"));
    let network = scenario.network();
    let crossings = network.nodes();
    let crossings = crossings.filter(|(id, _)| network.ends_at(*id).len() > 2);
    let mut crossings: Vec<_> = crossings.map(|(id, node)| (node.x, id)).collect();
    crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
    let nodes = [crossings[0].1, crossings[1].1];
    (scenario, nodes)
}

#[test]
fn near_junctions_are_made_one_and_taken_apart() {
    let (plain, [west, east]) = two_crossings(40.0);
    let apart = layout(plain.network(), plain.about());
    assert!(apart.internal.is_empty());
    let both = merged_junctions(&plain, &[west, east].into()).unwrap();
    // A single junction is merged with the neighbouring one.
    assert_eq!(merged_junctions(&plain, &[east].into()), Ok(both.clone()));
    let one = applied(&plain, both);
    assert!(codes(&one).is_empty(), "{:?}", check(&one));
    let merged = layout(one.network(), one.about());
    let junction = merged.junction_at(west).unwrap();
    assert_eq!((junction.nodes.len(), junction.arms.len()), (2, 6));
    assert_eq!(merged.internal.len(), 1);
    // From each arm, vehicles may drive into all other arms, but only on connections that the two
    // crossings permit.
    let paths: std::collections::BTreeSet<_> = junction
        .paths
        .iter()
        .map(|path| (path.from.road, path.to.road))
        .collect();
    assert_eq!(paths.len(), 6 * 5);
    let after = layout_after_edit(plain.network(), &apart, one.network(), one.about());
    assert!(after == merged, "equal to a layout from scratch");
    let back = parted_junctions(&one, east).unwrap();
    assert!(applied(&one, back) == plain);
    assert_eq!(parted_junctions(&plain, east), None);
}

#[test]
fn junctions_that_cannot_be_one_are_refused() {
    let laid_out = |scenario: &Scenario| layout(scenario.network(), scenario.about());
    let refused = |scenario: &Scenario, nodes: &[NodeId]| {
        let nodes = nodes.iter().copied().collect();
        merged_junctions(scenario, &nodes).unwrap_err()
    };
    let (far, [west, east]) = two_crossings(80.0);
    let error = refused(&far, &[west, east]);
    assert!(error.to_string().contains("60 m"), "{error}");
    assert_eq!(refused(&far, &[west]), error);
    // If a file declares the road internal nevertheless, this is reported and has no other effect.
    let both = |road: &Road| road.from.min(road.to) == west.min(east) && road.length() < 81.0;
    let mut roads = far.network().roads();
    let (between, _) = roads.find(|(_, road)| both(road)).unwrap();
    let mut node = far.network().node(west).unwrap().clone();
    node.rules.internal_roads = vec![between];
    let wrong = applied(&far, Edit::Node(west, Some(node)));
    assert_eq!(codes(&wrong), [Code::DanglingInternalRoad]);
    assert!(laid_out(&wrong) == laid_out(&far));

    // An agent starts on the road between the crossings.
    let (mut used, [west, east]) = two_crossings(40.0);
    let between = used.network().roads().find(|(_, road)| {
        [road.from, road.to].contains(&west) && [road.from, road.to].contains(&east)
    });
    let between = between.unwrap().0;
    let agent = Agent {
        start: Place::lane(between, -1, 20.0),
        ..crate::common::west_to_east()
    };
    used.apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
        .unwrap();
    for nodes in [&[west, east][..], &[west][..]] {
        assert_eq!(refused(&used, nodes), OperationError::RoadIsUsed(between));
    }

    let mut lone = crossroads();
    draw(&mut lone, (500.0, 0.0), (600.0, 0.0), &street("Alone"));
    let end = lone.network().roads().last().unwrap().1.from;
    assert_eq!(refused(&lone, &[end]), OperationError::NoJunctionNear);
    assert_eq!(refused(&lone, &[]), OperationError::NoJunctionNear);

    // The two nodes are on the same ring.
    let plain = crossroads();
    let at = plain.network().node(middle(&plain)).unwrap().position();
    let ring = operation::draw::roundabout(&plain, at, 15.0, 0).unwrap();
    let ring = applied(&plain, ring);
    let nodes = ring.network().nodes().map(|(id, _)| id);
    let on_ring: Vec<NodeId> = nodes
        .filter(|&id| ring.network().ends_at(id).len() > 2)
        .collect();
    assert_eq!(on_ring.len(), 4);
    let error = refused(&ring, &on_ring[..2]);
    assert!(error.to_string().contains("ring"), "{error}");
}
