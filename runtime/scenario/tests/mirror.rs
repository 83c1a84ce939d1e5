//! Tests the effects of mirroring on roads, lanes, trips and rules, and that mirroring twice
//! restores the original.

use crate::common::{crate_at, crossroads, draw, pond_at, street, west_to_east};
use proptest::prelude::*;
use roadwright_geometry::DVec2;
use roadwright_scenario::check::check;
use roadwright_scenario::junction::{self, Turn};
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::operation::mirror::{Mirror, middle, mirrored};
use roadwright_scenario::operation::{Objects, draw};
use roadwright_scenario::*;
use serde_json::Value;

fn everything(scenario: &Scenario) -> Objects {
    let network = scenario.network();
    let mut all: Objects = network.roads().map(|(id, _)| ObjectId::Road(id)).collect();
    all.extend(network.nodes().map(|(id, _)| ObjectId::Node(id)));
    all.extend(
        scenario
            .obstacles()
            .keys()
            .map(|id| ObjectId::Obstacle(*id)),
    );
    all.extend(scenario.forests().keys().map(|id| ObjectId::Forest(*id)));
    all.extend(scenario.land().keys().map(|id| ObjectId::Land(*id)));
    let points = scenario.points_of_interest().keys();
    all.extend(points.map(|id| ObjectId::PointOfInterest(*id)));
    all.extend(scenario.agents().keys().map(|id| ObjectId::Agent(*id)));
    all.extend(scenario.flows().keys().map(|id| ObjectId::Flow(*id)));
    all
}

/// Mirrors a whole scenario and checks that the edit can be undone.
fn image(scenario: &Scenario, mirror: Mirror) -> (Scenario, usize) {
    let result = mirrored(scenario, &everything(scenario), mirror).unwrap();
    let mut changed = scenario.clone();
    let inverse = changed.apply(result.edit).unwrap();
    let mut back = changed.clone();
    back.apply(inverse).unwrap();
    assert_eq!(&back, scenario);
    (changed, result.changed_rules.len())
}

/// Returns the first difference between two files, ignoring rounding errors. Headings may differ by
/// a full turn.
fn difference(path: &str, a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            let gap = (x.as_f64()? - y.as_f64()?).abs();
            let is_same = gap < 1e-6 || (gap - std::f64::consts::TAU).abs() < 1e-6;
            (!is_same).then(|| format!("{path}: {x} and {y}"))
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            (0..x.len()).find_map(|i| difference(&format!("{path}.{i}"), &x[i], &y[i]))
        }
        (Value::Object(x), Value::Object(y)) if x.keys().eq(y.keys()) => x
            .iter()
            .find_map(|(key, value)| difference(&format!("{path}.{key}"), value, &y[key])),
        _ => (a != b).then(|| format!("{path}: {a} and {b}")),
    }
}

fn differences(a: &Scenario, b: &Scenario) -> Option<String> {
    let value = |scenario| serde_json::from_str::<Value>(&file::to_text(scenario)).unwrap();
    difference("", &value(a), &value(b))
}

fn assert_same(a: &Scenario, b: &Scenario) {
    assert_eq!(differences(a, b), None);
}

fn town() -> Scenario {
    let mut scenario = crossroads();
    let bay = PointOfInterest {
        name: "Bay 1".into(),
        x: 12.0.into(),
        y: (-9.0).into(),
        heading: Some(0.4).into(),
    };
    let flow = Flow {
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        origin: Place::lane(RoadId(2), -1, 5.0),
        destination: Place::ground(40.0, 50.0, 0.2),
        rate_per_hour: 100.0.into(),
        begin: 0.0.into(),
        end: 60.0.into(),
    };
    for edit in [
        Edit::Agent(AgentId(1), Some(Box::new(west_to_east()))),
        Edit::Obstacle(ObstacleId(1), Some(Box::new(crate_at(30.0, 30.0)))),
        Edit::Land(LandId(1), Some(Box::new(pond_at(50.0, -40.0)))),
        Edit::PointOfInterest(PointOfInterestId(1), Some(Box::new(bay))),
        Edit::Flow(FlowId(1), Some(Box::new(flow))),
    ] {
        scenario.apply(edit).unwrap();
    }
    scenario
}

/// Returns the world positions of both edges of the carriageway.
fn edges(road: &Road, s: f64) -> [DVec2; 2] {
    let (right, left) = road.carriageway(s);
    [right, left].map(|t| road.reference_line.point(s, t))
}

fn shipped() -> Vec<(String, Scenario)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "json") {
            found.push((path.display().to_string(), file::load(&path).unwrap()));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(found.len() > 10);
    found
}

#[test]
fn shipped_scenarios_come_back_and_are_as_sound_in_the_mirror() {
    for (name, scenario) in shipped() {
        let at = middle(&scenario, &everything(&scenario)).unwrap();
        for mirror in [Mirror::LeftRight(at.x), Mirror::UpDown(at.y)] {
            let (once, changed) = image(&scenario, mirror);
            let graph = |scenario: &Scenario| {
                let side = scenario.about().driving_side;
                let layout = junction::layout(scenario.network(), side);
                LaneGraph::new(scenario, &layout)
            };
            let (before, after) = (check(&scenario), check(&once));
            let new: Vec<_> = after.iter().skip(before.len()).collect();
            assert!(after.len() <= before.len(), "{name}: {new:?}");
            let (before, after) = (graph(&scenario), graph(&once));
            let lanelets = (before.lanelets().len(), after.lanelets().len());
            assert_eq!(
                lanelets.0, lanelets.1,
                "{name} {mirror:?}: connections are missing"
            );
            let (twice, _) = image(&once, mirror);
            for (id, road) in scenario.network().roads() {
                let (there, back) = (once.network().road(id).unwrap(), twice.network().road(id));
                for share in [0.1, 0.5, 0.9] {
                    let s = share * road.length();
                    let [a, b] = edges(road, s).map(|p| mirror.point(p));
                    let [right, left] = edges(there, s);
                    // The right edge becomes the left edge.
                    let miss = (a - left).length().max((b - right).length());
                    assert!(miss < 1e-6, "{name} {id}: {miss} m beside the mirror image");
                    let miss = (edges(back.unwrap(), s)[0] - edges(road, s)[0]).length();
                    assert!(miss < 1e-6, "{name} {id}: {miss} m beside after twice");
                }
            }
            if changed == 0 {
                assert_arrows_aside(&scenario, &twice, &name);
            }
        }
    }
}

/// Asserts that mirroring twice restores everything except for the arrows of one-way roads.
fn assert_arrows_aside(scenario: &Scenario, twice: &Scenario, name: &str) {
    let plain = |scenario: &Scenario| {
        let mut plain = scenario.clone();
        for (id, road) in scenario.network().roads() {
            let mut road = road.clone();
            let sections = road.lane_sections.iter_mut();
            for lane in sections.flat_map(|section| &mut section.lanes) {
                lane.turns = junction::Turns::NONE;
            }
            plain.apply(Edit::Road(id, Some(Box::new(road)))).unwrap();
        }
        plain
    };
    let difference = differences(&plain(scenario), &plain(twice));
    assert_eq!(difference, None, "{name}");
}

#[test]
fn everything_is_where_the_mirror_shows_it() {
    let scenario = town();
    let mirror = Mirror::LeftRight(10.0);
    let (after, changed) = image(&scenario, mirror);
    assert_eq!(changed, 0);
    for (id, node) in scenario.network().nodes() {
        let there = after.network().node(id).unwrap().position();
        assert_eq!(there, mirror.point(node.position()));
    }
    let bay = &after.points_of_interest()[&PointOfInterestId(1)];
    assert_eq!((*bay.x, *bay.y), (8.0, -9.0));
    assert!((bay.heading.unwrap() - (std::f64::consts::PI - 0.4)).abs() < 1e-12);
    // Land keeps its holes, and outlines keep their winding direction.
    let (pond, there) = (&scenario.land()[&LandId(1)], &after.land()[&LandId(1)]);
    assert!((pond.area() - there.area()).abs() < 1e-9);
    let turn = |land: &Land| roadwright_geometry::polygon::signed_area(&land.outline).signum();
    assert_eq!(turn(pond), turn(there));
    // A vehicle that drove on the right from west to east now drives on the right from east to west.
    let agent = &after.agents()[&AgentId(1)];
    assert_eq!(agent, &scenario.agents()[&AgentId(1)]);
    let pose = |scenario: &Scenario| scenario.pose_of(&agent.start).unwrap();
    let (before, now) = (pose(&scenario), pose(&after));
    let turned = mirror.heading(before.heading) - now.heading;
    assert!(turned.abs() < 1e-9, "{turned}");
    assert!(now.position.y > 0.0 && before.position.y < 0.0);
    assert!(check(&after).is_empty(), "{:?}", check(&after));
}

fn one_way(section: CrossSection) -> draw::RoadStyle {
    draw::RoadStyle {
        section,
        ..street("One Way")
    }
}

#[test]
fn a_one_way_road_and_its_trips_go_the_other_way() {
    let mut scenario = Scenario::new("one way");
    let section = CrossSection::driving(2, 0, 3.5).with_border(LaneType::Sidewalk, 2.0);
    draw(&mut scenario, (0.0, 0.0), (200.0, 0.0), &one_way(section));
    let agent = Agent {
        start: Place::lane(RoadId(1), -1, 10.0),
        via: vec![Place::lane(RoadId(1), -2, 60.0)],
        destination: Some(Place::lane(RoadId(1), -1, 190.0)),
        ..west_to_east()
    };
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent.clone())));
    scenario.apply(edit).unwrap();
    assert!(check(&scenario).is_empty(), "{:?}", check(&scenario));
    let (after, _) = image(&scenario, Mirror::UpDown(5.0));
    let road = after.network().road(RoadId(1)).unwrap();
    let side = after.about().driving_side;
    assert_eq!(road.lanes_backward(50.0, side), 2);
    assert_eq!(road.lanes_forward(50.0, side), 0);
    let there = &after.agents()[&AgentId(1)];
    assert_eq!(there.start, Place::lane(RoadId(1), 1, 190.0));
    assert_eq!(there.via, [Place::lane(RoadId(1), 2, 60.0)]);
    assert_eq!(there.destination, Some(Place::lane(RoadId(1), 1, 10.0)));
    assert!(check(&after).is_empty(), "{:?}", check(&after));
    assert_same(&image(&after, Mirror::UpDown(5.0)).0, &scenario);
    // Without a destination, the agent drives to its last waypoint, both before and after
    // mirroring.
    let edit = Edit::Agent(
        AgentId(1),
        Some(Box::new(Agent {
            destination: None,
            ..agent
        })),
    );
    scenario.apply(edit).unwrap();
    let (after, _) = image(&scenario, Mirror::UpDown(5.0));
    let there = &after.agents()[&AgentId(1)];
    assert_eq!(there.start, Place::lane(RoadId(1), 2, 60.0));
    assert_eq!(there.via, [Place::lane(RoadId(1), 1, 10.0)]);
    assert_eq!(there.destination, None);
}

#[test]
fn an_uneven_two_way_road_keeps_its_lanes_and_its_footprint() {
    let mut scenario = Scenario::new("uneven");
    let mut section = CrossSection::driving(2, 1, 3.5);
    section.forward.push((LaneType::Parking, 2.5));
    draw(&mut scenario, (0.0, 0.0), (200.0, 0.0), &one_way(section));
    let parked = Agent {
        start: Place::lane(RoadId(1), -3, 10.0),
        destination: None,
        ..west_to_east()
    };
    let edit = Edit::Agent(AgentId(1), Some(Box::new(parked)));
    scenario.apply(edit).unwrap();
    let (after, _) = image(&scenario, Mirror::LeftRight(0.0));
    let road = after.network().road(RoadId(1)).unwrap();
    let side = after.about().driving_side;
    assert_eq!(road.lanes_forward(50.0, side), 2);
    assert_eq!(road.lanes_backward(50.0, side), 1);
    let before = scenario.network().road(RoadId(1)).unwrap();
    let (right, left) = before.edges(50.0);
    assert_eq!(road.edges(50.0), (-left, -right));
    // Parking lanes change sides, and so do the agents that start on them.
    assert_eq!(
        after.agents()[&AgentId(1)].start,
        Place::lane(RoadId(1), 2, 10.0)
    );
    assert_eq!(road.lane(2, 10.0).unwrap().kind, LaneType::Parking);
    assert_same(&image(&after, Mirror::LeftRight(0.0)).0, &scenario);
}

#[test]
fn arrows_and_rules_follow_and_stages_of_single_turns_are_made_anew() {
    let mut scenario = crossroads();
    let (middle, node) = scenario
        .network()
        .nodes()
        .find(|(_, node)| node.position().length() < 1e-6)
        .map(|(id, node)| (id, node.clone()))
        .unwrap();
    let mut road = scenario.network().road(RoadId(1)).unwrap().clone();
    for lane in &mut road.lane_sections[0].lanes {
        if lane.id == -1 {
            lane.turns = [Turn::Left, Turn::Straight].into_iter().collect();
        }
    }
    let edit = Edit::Road(RoadId(1), Some(Box::new(road)));
    scenario.apply(edit).unwrap();
    let stage = |turns: Vec<Turn>| SignalStage {
        green: vec![Movement {
            road: RoadId(1),
            turns,
        }],
        permitted: Vec::new(),
        time: 20.0.into(),
        min: None.into(),
        max: None.into(),
        amber: None.into(),
        all_red: None.into(),
    };
    let mut rules = JunctionRules {
        control: Some(Control::Signals),
        restrictions: vec![Restriction {
            kind: RestrictionKind::No,
            from: RoadId(1),
            to: RoadId(2),
        }],
        plan: Some(SignalPlan {
            stages: vec![stage(Vec::new())],
            ..SignalPlan::default()
        }),
        ..JunctionRules::default()
    };
    rules.set_corner(RoadId(1), RoadId(3), Some(7.0));
    let with = |scenario: &mut Scenario, rules: JunctionRules| {
        let node = Node {
            rules,
            ..node.clone()
        };
        scenario.apply(Edit::Node(middle, Some(node))).unwrap();
    };
    with(&mut scenario, rules.clone());
    let (after, changed) = image(&scenario, Mirror::LeftRight(0.0));
    assert_eq!(changed, 0);
    let there = &after.network().node(middle).unwrap().rules;
    assert_eq!(there.restrictions, rules.restrictions);
    assert_eq!(there.corner(RoadId(3), RoadId(1)), Some(7.0));
    assert_eq!(there.plan, rules.plan);
    let lane = after
        .network()
        .road(RoadId(1))
        .unwrap()
        .lane(-1, 5.0)
        .unwrap()
        .clone();
    assert_eq!(
        lane.turns,
        [Turn::Right, Turn::Straight].into_iter().collect()
    );
    assert_same(&image(&after, Mirror::LeftRight(0.0)).0, &scenario);
    // A stage of only left turns would become a stage of only right turns, so the stages are
    // derived instead, and the node is reported.
    rules.plan.as_mut().unwrap().stages = vec![stage(vec![Turn::Left])];
    with(&mut scenario, rules);
    let (after, changed) = image(&scenario, Mirror::LeftRight(0.0));
    assert_eq!(changed, 1);
    let plan = after.network().node(middle).unwrap().rules.plan.clone();
    assert!(plan.unwrap().stages.is_empty());
}

#[test]
fn what_is_not_chosen_stays_and_what_only_follows_has_no_middle() {
    let scenario = town();
    assert_eq!(middle(&scenario, &Objects::new()), None);
    let agent = Objects::from([ObjectId::Agent(AgentId(1))]);
    assert_eq!(middle(&scenario, &agent), None, "it follows its road");
    let gone = Objects::from([ObjectId::Road(RoadId(99)), ObjectId::Land(LandId(99))]);
    let nothing = mirrored(&scenario, &gone, Mirror::LeftRight(0.0)).unwrap();
    let mut same = scenario.clone();
    same.apply(nothing.edit).unwrap();
    assert_eq!(same, scenario);
    // Only one arm is mirrored. The other arms follow with their ends.
    let arm = Objects::from([ObjectId::Road(RoadId(1))]);
    let at = middle(&scenario, &arm).unwrap();
    let result = mirrored(&scenario, &arm, Mirror::LeftRight(at.x)).unwrap();
    let mut after = scenario.clone();
    let back = after.apply(result.edit).unwrap();
    assert_eq!(after.obstacles(), scenario.obstacles());
    after.apply(back).unwrap();
    assert_eq!(after, scenario);
    // The mirror line is too far away for any road. This must be an error rather than a panic.
    assert!(mirrored(&scenario, &arm, Mirror::LeftRight(1e9)).is_err());
    assert!(mirrored(&scenario, &arm, Mirror::UpDown(f64::NAN)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn twice_is_nothing_whatever_is_drawn(
        strokes in prop::collection::vec(((-200..200i32, -200..200i32), (-200..200i32, -200..200i32), 0..5usize), 1..6),
        left_right in any::<bool>(),
        at in -300.0..300.0f64,
    ) {
        let mut scenario = Scenario::new("drawn");
        let sections = [
            CrossSection::driving(1, 1, 3.25),
            CrossSection::driving(2, 1, 3.5).with_border(LaneType::Sidewalk, 2.0),
            CrossSection::driving(2, 0, 3.5),
            CrossSection { forward: vec![(LaneType::Driving, 3.0), (LaneType::Biking, 1.5)], backward: vec![(LaneType::Driving, 3.0)] },
            CrossSection { forward: vec![(LaneType::Sidewalk, 3.0)], backward: vec![] },
        ];
        for ((x, y), (u, v), section) in strokes {
            let ends = [DVec2::new(x.into(), y.into()), DVec2::new(u.into(), v.into())];
            let Ok(line) = roadwright_geometry::ReferenceLine::straight(ends[0], ends[1]) else { continue };
            let style = one_way(sections[section].clone());
            if let Ok(edit) = draw::road(&scenario, &line, &style) {
                let _ = scenario.apply(edit);
            }
        }
        let mirror = if left_right { Mirror::LeftRight(at) } else { Mirror::UpDown(at) };
        let (once, _) = image(&scenario, mirror);
        let (twice, _) = image(&once, mirror);
        assert_same(&scenario, &twice);
        prop_assert!(check(&once).len() <= check(&scenario).len(), "{:?}", check(&once));
    }
}
