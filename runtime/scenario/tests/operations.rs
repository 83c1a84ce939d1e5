//! Operations on objects: their effects, and whether their edits can be undone.

use crate::common::{crate_at, crossroads, draw, pond_at, street, west_to_east};
use proptest::prelude::*;
use roadwright_geometry::{DVec2, Pose, ReferenceLine};
use roadwright_scenario::check::check;
use roadwright_scenario::junction::Turn;
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::operation::draw;
use roadwright_scenario::operation::{
    Motion, Objects, copied, deleted, merged, moved, pasted, reshaped, reversed, reversed_traffic,
    simplified, with_lanes,
};
use roadwright_scenario::*;

fn town() -> Scenario {
    let mut scenario = crossroads();
    for edit in [
        Edit::Agent(AgentId(1), Some(Box::new(west_to_east()))),
        Edit::Obstacle(ObstacleId(1), Some(Box::new(crate_at(30.0, 30.0)))),
        Edit::Forest(
            ForestId(1),
            Some(Box::new(Forest {
                area: vec![
                    DVec2::new(-60.0, 20.0),
                    DVec2::new(-20.0, 20.0),
                    DVec2::new(-40.0, 60.0),
                ]
                .into(),
                density: 300.0.into(),
                spacing: 3.0.into(),
                trunk_radius: 0.2.into(),
                seed: 1,
            })),
        ),
        Edit::Land(LandId(1), Some(Box::new(pond_at(50.0, -40.0)))),
        Edit::PointOfInterest(
            PointOfInterestId(1),
            Some(Box::new(PointOfInterest {
                name: "Bay 1".into(),
                x: 12.0.into(),
                y: (-9.0).into(),
                heading: Some(0.4).into(),
            })),
        ),
        Edit::Flow(
            FlowId(1),
            Some(Box::new(Flow {
                vehicle: "car".into(),
                stack: "idm".into(),
                dynamics: None,
                origin: Place::lane(RoadId(2), -1, 5.0),
                destination: Place::lane(RoadId(3), -1, 80.0),
                rate_per_hour: 100.0.into(),
                begin: 0.0.into(),
                end: 60.0.into(),
            })),
        ),
    ] {
        scenario.apply(edit).unwrap();
    }
    scenario
}

fn all(scenario: &Scenario) -> Objects {
    let roads = scenario.network().roads().map(|(id, _)| ObjectId::Road(id));
    let mut objects: Objects = roads.collect();
    objects.extend([
        ObjectId::Agent(AgentId(1)),
        ObjectId::Obstacle(ObstacleId(1)),
        ObjectId::Forest(ForestId(1)),
        ObjectId::Land(LandId(1)),
        ObjectId::PointOfInterest(PointOfInterestId(1)),
        ObjectId::Flow(FlowId(1)),
    ]);
    objects
}

/// Applies an edit and checks that its inverse restores the scenario.
fn applied(scenario: &Scenario, edit: Edit) -> Scenario {
    let mut changed = scenario.clone();
    let inverse = changed.apply(edit).unwrap();
    let mut back = changed.clone();
    back.apply(inverse).unwrap();
    assert_eq!(&back, scenario);
    changed
}

#[test]
fn everything_moves_and_turns_together() {
    let scenario = town();
    let motion = Motion {
        centre: DVec2::new(10.0, 5.0),
        angle: 0.7,
        shift: DVec2::new(100.0, -40.0),
    };
    let after = applied(
        &scenario,
        moved(&scenario, &all(&scenario), &motion).unwrap(),
    );
    for (id, node) in scenario.network().nodes() {
        let there = after.network().node(id).unwrap().position();
        assert!((there - motion.point(node.position())).length() < 1e-9);
    }
    for (id, road) in scenario.network().roads() {
        let there = after.network().road(id).unwrap();
        assert!((there.length() - road.length()).abs() < 1e-9);
        let (a, b) = (
            road.reference_line.pose(20.0),
            there.reference_line.pose(20.0),
        );
        assert!((b.position - motion.point(a.position)).length() < 1e-9);
    }
    assert_eq!(check(&scenario).len(), check(&after).len());
}

#[test]
fn a_moved_node_bends_its_roads_and_keeps_their_far_ends() {
    let scenario = crossroads();
    let (middle, _) = scenario
        .network()
        .nodes()
        .find(|(_, node)| node.position().length() < 1e-6)
        .unwrap();
    let objects = Objects::from([ObjectId::Node(middle)]);
    let edit = moved(&scenario, &objects, &Motion::shift(DVec2::new(8.0, 12.0))).unwrap();
    let after = applied(&scenario, edit);
    assert!(
        check(&after)
            .iter()
            .all(|f| f.code != check::Code::JointGap),
        "{:?}",
        check(&after)
    );
    for (id, road) in after.network().roads() {
        let before = scenario.network().road(id).unwrap();
        let far = |road: &Road| {
            let (start, end) = (road.reference_line.start(), road.reference_line.end());
            if road.from == middle {
                end.position
            } else {
                start.position
            }
        };
        assert!((far(road) - far(before)).length() < 1e-6);
    }
}

#[test]
fn a_road_takes_who_stands_on_it_along_when_it_is_deleted() {
    let scenario = town();
    let after = applied(
        &scenario,
        deleted(&scenario, &Objects::from([ObjectId::Road(RoadId(1))])),
    );
    assert!(after.agents().is_empty());
    assert_eq!(after.network().road_count(), 3);
    // The western end no longer has roads and is deleted. The crossing still has three roads.
    assert_eq!(after.network().node_count(), 4);
    let after = applied(
        &scenario,
        deleted(&scenario, &Objects::from([ObjectId::Road(RoadId(4))])),
    );
    assert_eq!(after.agents()[&AgentId(1)].destination, None);
    let nothing = applied(&scenario, deleted(&scenario, &all(&scenario)));
    assert_eq!(nothing.network().node_count(), 0);
    assert!(nothing.flows().is_empty() && nothing.forests().is_empty());
}

#[test]
fn a_copy_is_a_scenario_and_pastes_under_new_ids() {
    let scenario = town();
    let piece = copied(&scenario, &all(&scenario));
    let text = file::to_text(&piece);
    let piece = file::from_text(&text).unwrap();
    let (edit, objects) =
        pasted(&scenario, &piece, &Motion::shift(DVec2::new(500.0, 0.0))).unwrap();
    let after = applied(&scenario, edit);
    assert_eq!(after.network().road_count(), 8);
    assert_eq!((after.agents().len(), after.flows().len()), (2, 2));
    assert_eq!(objects.len(), all(&scenario).len());
    assert!(
        check(&after)
            .iter()
            .all(|f| f.severity != check::Severity::Error)
    );
    // The piece is pasted into an empty world.
    let empty = Scenario::default();
    let (edit, _) = pasted(&empty, &piece, &Motion::default()).unwrap();
    assert_eq!(applied(&empty, edit).network().road_count(), 4);
}

#[test]
fn a_road_that_is_turned_round_is_driven_as_before() {
    let scenario = town();
    let after = applied(&scenario, reversed(&scenario, RoadId(1)).unwrap());
    let pose = |s: &Scenario| s.pose_of(&s.agents()[&AgentId(1)].start).unwrap();
    let (a, b): (Pose, Pose) = (pose(&scenario), pose(&after));
    assert!((a.position - b.position).length() < 1e-9);
    assert!(roadwright_geometry::math::wrap_angle(a.heading - b.heading).abs() < 1e-9);
    let twice = applied(&after, reversed(&after, RoadId(1)).unwrap());
    let (first, last) = (
        scenario.network().road(RoadId(1)),
        twice.network().road(RoadId(1)),
    );
    assert_eq!(first.unwrap().lane_sections, last.unwrap().lane_sections);
}

/// Creates a one-way road of two lanes from west to east with a pavement, and an agent on the left
/// lane.
fn one_way() -> (Scenario, RoadId) {
    let section = CrossSection {
        forward: vec![
            (LaneType::Driving, 3.5),
            (LaneType::Driving, 3.5),
            (LaneType::Sidewalk, 2.0),
        ],
        backward: Vec::new(),
    };
    let style = draw::RoadStyle {
        name: String::new(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 10.0,
        section,
    };
    let line = ReferenceLine::straight(DVec2::ZERO, DVec2::new(100.0, 0.0)).unwrap();
    let scenario = Scenario::new("one-way");
    let mut scenario = applied(&scenario, draw::road(&scenario, &line, &style).unwrap());
    let (id, road) = scenario.network().roads().next().unwrap();
    let (road, mut changed) = (id, road.clone());
    changed.lane_sections[0].lanes[0].lane_change = LaneChange::Right;
    scenario
        .apply(Edit::Road(road, Some(Box::new(changed))))
        .unwrap();
    let agent = Agent {
        start: Place::lane(road, -1, 30.0),
        destination: Some(Place::lane(road, -1, 60.0)),
        ..west_to_east()
    };
    scenario
        .apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
        .unwrap();
    (scenario, road)
}

#[test]
fn the_traffic_of_a_one_way_road_is_reversed_in_its_place() {
    let (before, road) = one_way();
    let edit = reversed_traffic(&before, road).unwrap().unwrap();
    let after = applied(&before, edit);
    let pose = |s: &Scenario| s.pose_of(&s.agents()[&AgentId(1)].start).unwrap();
    let (old, new): (Pose, Pose) = (pose(&before), pose(&after));
    assert!(
        (old.position - new.position).length() < 1e-9,
        "{old:?} {new:?}"
    );
    let turn =
        roadwright_geometry::math::wrap_angle(old.heading + std::f64::consts::PI - new.heading);
    assert!(turn.abs() < 1e-9, "{old:?} {new:?}");
    let line = after.network().road(road).unwrap();
    assert_eq!(
        (
            line.lanes_forward(0.0, DrivingSide::Right),
            line.lanes_backward(0.0, DrivingSide::Right)
        ),
        (2, 0)
    );
    // The former left lane, from which only changes to the right are permitted, is the right lane now.
    let lanes = &line.lane_sections[0].lanes;
    let changes: Vec<_> = lanes
        .iter()
        .map(|lane| (lane.id, lane.lane_change))
        .collect();
    assert_eq!(
        changes,
        [
            (3, LaneChange::Both),
            (2, LaneChange::Both),
            (1, LaneChange::Left)
        ]
    );
    let errors = check(&after)
        .into_iter()
        .filter(|f| f.severity == check::Severity::Error);
    assert_eq!(errors.collect::<Vec<_>>(), []);
    // Twice gives the original traffic.
    let twice = applied(&after, reversed_traffic(&after, road).unwrap().unwrap());
    let lanes_of = |s: &Scenario| s.network().road(road).unwrap().lane_sections.clone();
    assert_eq!(lanes_of(&twice), lanes_of(&before));
    // A street with traffic in both directions is not changed.
    let town = town();
    assert_eq!(reversed_traffic(&town, RoadId(1)).unwrap(), None);
}

/// Returns the roads with crossings at a node.
fn crossed(scenario: &Scenario, node: NodeId) -> Vec<u32> {
    let rules = &scenario.network().node(node).unwrap().rules;
    rules.crossings.iter().map(|rule| rule.road.0).collect()
}

#[test]
fn crossings_follow_their_roads() {
    let plain = crossroads();
    let network = plain.network();
    let middle = network
        .nodes()
        .find(|(id, _)| network.ends_at(*id).len() == 4);
    let (middle, node) = middle.map(|(id, node)| (id, node.clone())).unwrap();
    let roads = network.ends_at(middle).into_iter().map(|(road, _)| road);
    let rules = JunctionRules {
        crossings: roads.map(CrossingRule::over).collect(),
        ..JunctionRules::default()
    };
    let road = rules.crossings[0].road;
    let scenario = applied(&plain, Edit::Node(middle, Some(Node { rules, ..node })));
    assert_eq!(crossed(&scenario, middle).len(), 4);
    // The crossing is on whichever piece leads to the junction.
    let length = scenario.network().road(road).unwrap().length();
    let cut = applied(
        &scenario,
        draw::split(&scenario, road, 0.5 * length).unwrap(),
    );
    let ends: Vec<RoadId> = cut
        .network()
        .ends_at(middle)
        .into_iter()
        .map(|end| end.0)
        .collect();
    let over = crossed(&cut, middle);
    assert_eq!(over.len(), 4);
    assert!(
        over.iter().all(|road| ends.contains(&RoadId(*road))),
        "{over:?} {ends:?}"
    );
    let (seam, _) = cut
        .network()
        .nodes()
        .find(|(id, _)| cut.network().ends_at(*id).len() == 2)
        .unwrap();
    let whole = applied(&cut, merged(&cut, seam).unwrap());
    let mut again = crossed(&whole, middle);
    again.sort_unstable();
    let mut before = crossed(&scenario, middle);
    before.sort_unstable();
    assert_eq!(again, before);
    let turned = applied(&scenario, reversed(&scenario, road).unwrap());
    assert_eq!(crossed(&turned, middle).len(), 4);
    let layout = junction::layout(turned.network(), turned.about().driving_side);
    assert_eq!(layout.junction_at(middle).unwrap().crossings.len(), 4);
    let objects: Objects = [ObjectId::Road(road)].into_iter().collect();
    let less = applied(&scenario, deleted(&scenario, &objects));
    assert!(!crossed(&less, middle).contains(&road.0));
}

#[test]
fn crossings_that_cannot_be_are_refused() {
    let scenario = crossroads();
    let (id, node) = scenario.network().nodes().next().unwrap();
    let refused = |crossings: Vec<CrossingRule>| {
        let mut node = node.clone();
        node.rules.crossings = crossings;
        let mut changed = scenario.clone();
        let error = changed.apply(Edit::Node(id, Some(node))).unwrap_err();
        assert_eq!(changed, scenario);
        error.to_string()
    };
    let over = || CrossingRule::over(RoadId(1));
    let wide = |width| CrossingRule {
        width: Some(width).into(),
        ..over()
    };
    let busy = |people| CrossingRule {
        people: Some(people).into(),
        ..over()
    };
    for width in [0.0, -3.0, 1.9, 20.1, f64::NAN, f64::INFINITY] {
        assert!(refused(vec![wide(width)]).contains("crossings.0.width"));
    }
    for people in [-1.0, 3600.5, f64::NAN] {
        assert!(refused(vec![busy(people)]).contains("crossings.0.people"));
    }
    assert!(refused(vec![over(), over()]).contains("crossings.1.road"));
    let many = (0..65)
        .map(|road| CrossingRule::over(RoadId(road)))
        .collect();
    assert!(refused(many).contains("at most 64"));
}

#[test]
fn what_was_split_can_be_merged() {
    let mut scenario = Scenario::new("one");
    draw(
        &mut scenario,
        (0.0, 0.0),
        (200.0, 0.0),
        &street("Long Street"),
    );
    let agent = Agent {
        start: Place::lane(RoadId(1), -1, 150.0),
        destination: Some(Place::lane(RoadId(1), -1, 190.0)),
        ..west_to_east()
    };
    scenario
        .apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
        .unwrap();
    for turn in [false, true] {
        let mut cut = applied(&scenario, draw::split(&scenario, RoadId(1), 80.0).unwrap());
        if turn {
            cut = applied(&cut, reversed(&cut, RoadId(2)).unwrap());
        }
        let (seam, _) = cut
            .network()
            .nodes()
            .find(|(id, _)| cut.network().ends_at(*id).len() == 2)
            .unwrap();
        let whole = applied(&cut, merged(&cut, seam).unwrap());
        let road = whole.network().road(RoadId(1)).unwrap();
        assert!((road.length() - 200.0).abs() < 1e-9);
        assert_eq!(road.lane_sections.len(), 1);
        let pose = |s: &Scenario| s.pose_of(&s.agents()[&AgentId(1)].start).unwrap().position;
        assert!((pose(&whole) - pose(&scenario)).length() < 1e-9);
    }
    let crossing = crossroads();
    let (middle, _) = crossing
        .network()
        .nodes()
        .find(|(id, _)| crossing.network().ends_at(*id).len() == 4)
        .unwrap();
    assert!(merged(&crossing, middle).is_err());
}

#[test]
fn arrows_stay_with_the_junction_that_they_are_about() {
    let mut scenario = Scenario::new("one");
    draw(
        &mut scenario,
        (0.0, 0.0),
        (200.0, 0.0),
        &street("Long Street"),
    );
    let side = scenario.about().driving_side;
    let mut road = scenario.network().road(RoadId(1)).unwrap().clone();
    for lane in &mut road.lane_sections[0].lanes {
        let turn = if lane.is_forward(side) {
            Turn::Left
        } else {
            Turn::Right
        };
        lane.turns = [turn].into_iter().collect();
    }
    scenario
        .apply(Edit::Road(RoadId(1), Some(Box::new(road.clone()))))
        .unwrap();
    let arrows = |scenario: &Scenario, id: u32, forward: bool| -> Vec<Turn> {
        let road = scenario.network().road(RoadId(id)).unwrap();
        let lanes = road.lane_sections.iter().flat_map(|section| &section.lanes);
        let lanes = lanes.filter(|lane| lane.is_forward(side) == forward);
        lanes.flat_map(|lane| lane.turns.iter()).collect()
    };
    let cut = applied(&scenario, draw::split(&scenario, RoadId(1), 80.0).unwrap());
    assert_eq!(arrows(&cut, 1, true), []);
    assert_eq!(arrows(&cut, 1, false), [Turn::Right]);
    assert_eq!(arrows(&cut, 2, true), [Turn::Left]);
    assert_eq!(arrows(&cut, 2, false), []);
    let nodes = cut.network().nodes();
    let mut seams = nodes.filter(|(id, _)| cut.network().ends_at(*id).len() == 2);
    let (seam, _) = seams.next().unwrap();
    let whole = applied(&cut, merged(&cut, seam).unwrap());
    let merged = whole.network().road(RoadId(1)).unwrap();
    assert_eq!(merged.lane_sections, road.lane_sections);
    // Reversing a road twice restores it.
    let turned = applied(&whole, reversed(&whole, RoadId(1)).unwrap());
    assert_eq!(arrows(&turned, 1, true), [Turn::Right]);
    assert_eq!(arrows(&turned, 1, false), [Turn::Left]);
}

#[test]
fn roads_keep_their_access_whatever_is_done_to_them() {
    let accesses = |scenario: &Scenario| -> Vec<RoadAccess> {
        let roads = scenario.network().roads();
        roads.map(|(_, road)| road.access).collect()
    };
    let with_access = |scenario: &Scenario, id: u32, access: RoadAccess| {
        let mut road = scenario.network().road(RoadId(id)).unwrap().clone();
        road.access = access;
        applied(scenario, Edit::Road(RoadId(id), Some(Box::new(road))))
    };
    use RoadAccess::{All, Customers, Private};
    let mut scenario = Scenario::new("yard");
    let yard = street("yard");
    draw(&mut scenario, (0.0, 0.0), (200.0, 0.0), &yard);
    let scenario = with_access(&scenario, 1, Private);
    let cut = applied(&scenario, draw::split(&scenario, RoadId(1), 80.0).unwrap());
    assert_eq!(accesses(&cut), [Private, Private]);
    let seam = cut.network().road(RoadId(1)).unwrap().to;
    let whole = applied(&cut, merged(&cut, seam).unwrap());
    assert_eq!(accesses(&whole), [Private]);
    // A road cannot have two different kinds of access.
    let mixed = with_access(&cut, 2, Customers);
    assert!(merged(&mixed, seam).is_err());
    let turned = applied(&mixed, reversed(&mixed, RoadId(2)).unwrap());
    assert_eq!(accesses(&turned), [Private, Customers]);
    let copy = copied(&mixed, &all(&mixed));
    let (paste, _) = pasted(&mixed, &copy, &Motion::shift(DVec2::new(0.0, 90.0))).unwrap();
    let both = applied(&mixed, paste);
    assert_eq!(accesses(&both), [Private, Customers, Private, Customers]);
    // A street that is drawn across the road cuts it. The street itself is open to all traffic.
    let mut crossed = scenario.clone();
    draw(&mut crossed, (100.0, -50.0), (100.0, 50.0), &street("new"));
    let mut drawn = accesses(&crossed);
    drawn.sort_by_key(|access| *access == All);
    assert_eq!(drawn, [Private, Private, All, All]);
    let again = file::from_text(&file::to_text(&both)).unwrap();
    assert_eq!(accesses(&again), accesses(&both));
    assert!(!file::to_text(&crossed).contains("\"access\":\"all\""));
}

#[test]
fn a_traced_line_becomes_simple() {
    let mut scenario = Scenario::new("traced");
    let points: Vec<DVec2> = (0..=60)
        .map(|i| {
            DVec2::new(
                f64::from(i) * 4.0,
                30.0 * roadwright_geometry::math::sin(f64::from(i) / 12.0),
            )
        })
        .collect();
    let line = roadwright_geometry::fillet::fillet(
        &points,
        roadwright_geometry::fillet::FilletOptions {
            radius: 3.0,
            miss: 0.5,
        },
    )
    .unwrap();
    scenario
        .apply(draw::road(&scenario, &line, &street("Winding Road")).unwrap())
        .unwrap();
    let before = scenario
        .network()
        .road(RoadId(1))
        .unwrap()
        .reference_line
        .segments()
        .len();
    let after = applied(&scenario, simplified(&scenario, RoadId(1), 0.5).unwrap());
    let road = after.network().road(RoadId(1)).unwrap();
    assert!(
        road.reference_line.segments().len() * 3 < before,
        "{before}"
    );
    let projector = roadwright_geometry::projection::Projector::new(road.reference_line.clone());
    for point in points {
        let foot = projector.closest(point);
        assert!((road.reference_line.pose(foot.s).position - point).length() < 1.5);
    }
}

#[test]
fn lanes_are_numbered_anew_and_keep_their_direction() {
    let scenario = town();
    let side = scenario.about().driving_side;
    let lanes = scenario.network().road(RoadId(1)).unwrap().lane_sections[0]
        .lanes
        .clone();
    // The left lane moves to the right of the line and keeps its direction, which is against the
    // line.
    let edit = with_lanes(&scenario, RoadId(1), 0, lanes.clone(), 0).unwrap();
    let after = applied(&scenario, edit);
    let road = after.network().road(RoadId(1)).unwrap();
    let ids: Vec<i8> = road.lane_sections[0]
        .lanes
        .iter()
        .map(|lane| lane.id)
        .collect();
    assert_eq!(ids, [-1, -2]);
    for (before, now) in lanes.iter().zip(&road.lane_sections[0].lanes) {
        assert_eq!(before.is_forward(side), now.is_forward(side));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn reshaping_keeps_the_network_together(x in -60.0..60.0f64, y in -60.0..60.0f64) {
        let scenario = town();
        let to = DVec2::new(x, y);
        let start = scenario.network().road(RoadId(1)).unwrap().reference_line.start().position;
        prop_assume!((to - start).length() > 30.0);
        let line = roadwright_geometry::ReferenceLine::straight(start, to).unwrap();
        if let Ok(edit) = reshaped(&scenario, RoadId(1), line) {
            let after = applied(&scenario, edit);
            prop_assert!(check(&after).iter().all(|f| f.code != check::Code::JointGap), "{:?}", check(&after));
        }
    }
}

#[test]
fn a_merge_next_to_a_full_node_needs_no_room_there() {
    // 32 roads end at a node. The merged road replaces one of them.
    let mut scenario = Scenario::new("full");
    let far = |i: u32| {
        let pose = Pose::new(0.0, 0.0, f64::from(i) * std::f64::consts::TAU / 32.0);
        let point = pose.position + pose.forward() * 300.0;
        (point.x, point.y)
    };
    for i in 0..32 {
        draw(&mut scenario, (0.0, 0.0), far(i), &street("ray"));
    }
    let cut = applied(&scenario, draw::split(&scenario, RoadId(5), 150.0).unwrap());
    let two_ends = |id: &NodeId| cut.network().ends_at(*id).len() == 2;
    let (seam, _) = cut.network().nodes().find(|(id, _)| two_ends(id)).unwrap();
    for turned in [false, true] {
        let id = RoadId(if turned { 5 } else { 33 });
        let cut = applied(&cut, reversed(&cut, id).unwrap());
        let whole = applied(&cut, merged(&cut, seam).unwrap());
        assert_eq!(whole.network().road_count(), 32);
    }
    // There is no room for another road, and certainly none for a loop, which has both of its ends
    // at this node.
    let full = scenario.network().nodes().next().unwrap().0;
    let mut road = scenario.network().road(RoadId(1)).unwrap().clone();
    road.to = road.from;
    assert_eq!(road.from, full);
    let error = scenario
        .apply(Edit::Road(RoadId(1), Some(Box::new(road))))
        .unwrap_err();
    assert!(
        error.to_string().contains("already has 32 road ends"),
        "{error}"
    );
}

/// Returns the crossroads with a roundabout around their centre.
fn with_roundabout(side: DrivingSide, radius: f64) -> (Scenario, Edit) {
    let mut scenario = crossroads();
    let about = About {
        driving_side: side,
        ..scenario.about().clone()
    };
    scenario.apply(Edit::About(Box::new(about))).unwrap();
    let ring = draw::roundabout(&scenario, DVec2::ZERO, radius, 0).unwrap();
    (scenario, ring)
}

#[test]
fn a_roundabout_takes_the_place_of_a_crossing() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        let (before, ring) = with_roundabout(side, 15.0);
        let mut after = before.clone();
        let inverse = after.apply(ring).unwrap();
        let network = after.network();
        assert_eq!(network.roads().count(), 8, "four arms, four arcs");
        let arcs: Vec<&Road> = network
            .roads()
            .map(|(_, road)| road)
            .filter(|road| (road.length() - 15.0 * std::f64::consts::FRAC_PI_2).abs() < 1e-6)
            .collect();
        assert_eq!(arcs.len(), 4);
        // Each of the four nodes is a roundabout junction where three roads meet: an arm, an arc
        // that ends and an arc that begins.
        let layout = junction::layout(network, after.about());
        let rings = layout.junctions.iter().filter(|j| j.arms.len() == 3);
        let rings: Vec<_> = rings.collect();
        assert_eq!(rings.len(), 4);
        assert!(rings.iter().all(|j| j.control == Control::Roundabout));
        let problems = check(&after);
        assert!(problems.is_empty(), "{side:?}: {problems:?}");
        after.apply(inverse).unwrap();
        assert_eq!(after, before);
    }
}

#[test]
fn a_junction_becomes_a_roundabout_once() {
    let before = crossroads();
    let network = before.network();
    let middle = network
        .nodes()
        .find(|(id, _)| network.ends_at(*id).len() == 4);
    let (middle, _) = middle.unwrap();
    let after = applied(&before, draw::roundabout_at(&before, &[middle]).unwrap());
    assert_eq!(after.network().roads().count(), 8, "four arms, four arcs");
    assert_eq!(check(&after), []);
    let layout = junction::layout(after.network(), after.about());
    let on_ring = layout
        .junctions
        .iter()
        .filter(|j| j.control == Control::Roundabout);
    let on_ring: Vec<NodeId> = on_ring.flat_map(|j| j.nodes.clone()).collect();
    assert_eq!(on_ring.len(), 4);
    let again = draw::roundabout_at(&after, &on_ring[..1]);
    assert!(
        matches!(again, Err(draw::DrawError::AlreadyRing)),
        "{again:?}"
    );
}

#[test]
fn a_ring_that_meets_the_end_of_a_road_gets_another_radius() {
    let before = crossroads();
    let network = before.network();
    let (middle, _) = network
        .nodes()
        .find(|(id, _)| network.ends_at(*id).len() == 4)
        .unwrap();
    let (arm, end) = network.ends_at(middle)[0];
    let length = network.road(arm).unwrap().length();
    let s = match end {
        RoadEnd::Start => 15.3,
        RoadEnd::End => length - 15.3,
    };
    let cut = applied(&before, draw::split(&before, arm, s).unwrap());
    let at_15 = draw::roundabout(&cut, DVec2::ZERO, draw::DEFAULT_RADIUS, 0);
    assert!(
        matches!(at_15, Err(draw::DrawError::RingMeetsEnd(_))),
        "{at_15:?}"
    );
    let after = applied(&cut, draw::roundabout_at(&cut, &[middle]).unwrap());
    assert_eq!(check(&after), []);
}

/// Returns the streets that lead to a ring, each with a function that converts a distance from its
/// node on the ring to the position along the street.
fn arms_of_ring(scenario: &Scenario, radius: f64) -> Vec<(RoadId, impl Fn(f64) -> f64 + use<>)> {
    let mut arms = Vec::new();
    for (id, road) in scenario.network().roads() {
        let on_ring = |at: Pose| (at.position.length() - radius).abs() < 1e-6;
        let line = &road.reference_line;
        let (length, ends) = (road.length(), [on_ring(line.start()), on_ring(line.end())]);
        if ends[0] != ends[1] {
            let at_start = ends[0];
            arms.push((id, move |d: f64| if at_start { d } else { length - d }));
        }
    }
    arms
}

#[test]
fn streets_widen_towards_a_roundabout_around_an_island() {
    for (radius, island) in [(15.0, 4.2), (10.0, 3.0)] {
        for side in [DrivingSide::Right, DrivingSide::Left] {
            let (mut scenario, ring) = with_roundabout(side, radius);
            scenario.apply(ring).unwrap();
            let arms = arms_of_ring(&scenario, radius);
            assert_eq!(arms.len(), 4);
            for (id, from_ring) in &arms {
                let road = scenario.network().road(*id).unwrap();
                let median = |d: f64| {
                    let lanes = road.section_at(from_ring(d)).lanes.iter();
                    let bands = road.lane_bands(road.section_at(from_ring(d)), from_ring(d));
                    let medians = lanes
                        .zip(bands)
                        .filter(|(lane, _)| lane.kind == LaneType::Median);
                    medians.map(|(_, band)| band.width).sum::<f64>()
                };
                for d in [0.5, 6.0, 11.9] {
                    assert!((median(d) - island).abs() < 1e-9, "{d}: {}", median(d));
                }
                assert!((median(20.0) - 0.5 * island).abs() < 1e-9);
                assert!(median(27.999) < 1e-3 && median(30.0) == 0.0);
                // Lanes keep their widths and are beside the island.
                for d in [0.5, 15.0, 20.0, 27.9, 30.0] {
                    let (right, left) = road.carriageway(from_ring(d));
                    let wanted = 6.5 + median(d);
                    assert!((left - right - wanted).abs() < 1e-9, "{d}");
                }
            }
            // Each street can be reached from every other one over lanes that continue each other.
            let layout = junction::layout(scenario.network(), scenario.about());
            let graph = LaneGraph::new(&scenario, &layout);
            let outer = |id: RoadId, from_ring: &dyn Fn(f64) -> f64, enters: bool| {
                let road = scenario.network().road(id).unwrap();
                let s = from_ring(60.0);
                let forward = (from_ring(1.0) > from_ring(0.0)) != enters;
                let lanes = road.section_at(s).lanes.iter();
                let lane = lanes.filter(|lane| lane.is_forward(side) == forward);
                let lane = lane.min_by_key(|lane| lane.id.abs()).unwrap().id;
                let Place::Lane(place) = Place::lane(id, lane, s) else {
                    unreachable!()
                };
                graph.locate(&place).unwrap().0
            };
            for (from, from_ring) in &arms {
                let start = outer(*from, from_ring, true);
                let reached = graph.reachable_from(start, VehicleClass::Car);
                for (to, to_ring) in &arms {
                    assert!(
                        reached[outer(*to, to_ring, false).index()],
                        "{from:?} to {to:?}"
                    );
                }
            }
            for id in graph.indices() {
                let line = graph.line(id);
                let end = line.pose(line.length());
                for &next in graph.successors(id) {
                    let start = graph.line(next).pose(0.0);
                    let gap = (start.position - end.position).length();
                    assert!(gap < 0.02, "{gap} m between {id} and {next}");
                }
            }
            // Curves start in the direction of the lane, which deviates from the direction of the
            // street while the island opens.
            for path in layout.junctions.iter().flat_map(|junction| &junction.paths) {
                let road = scenario.network().road(path.from.road).unwrap();
                let cut = path.curve.as_ref().unwrap().start();
                let lane = |s: f64| {
                    let band = road.lane_band(path.from.lane, s).unwrap();
                    road.reference_line.point(s, band.centre)
                };
                let junction = layout.junction_at(road.node_at(path.from.end)).unwrap();
                let arm = junction.arms.iter().find(|arm| arm.road == path.from.road);
                let trim = arm.filter(|arm| arm.end == path.from.end).unwrap().trim;
                let (s, before) = match path.from.end {
                    RoadEnd::Start => (trim, trim + 1e-4),
                    RoadEnd::End => (road.length() - trim, road.length() - trim - 1e-4),
                };
                let along = (lane(s) - lane(before)).normalize();
                assert!(along.perp_dot(cut.forward()).abs() < 1e-3, "{path:?}");
            }
        }
    }
}

#[test]
fn who_stands_where_a_street_widens_keeps_the_lane() {
    let mut scenario = crossroads();
    // Both agents are on the west arm: one where the island opens, and one farther away.
    let at = |s: f64| Agent {
        start: Place::lane(RoadId(1), -1, s),
        ..west_to_east()
    };
    for (id, s) in [(1, 70.0), (2, 40.0)] {
        let agent = Some(Box::new(at(s)));
        scenario.apply(Edit::Agent(AgentId(id), agent)).unwrap();
    }
    let ring = draw::roundabout(&scenario, DVec2::ZERO, 15.0, 0).unwrap();
    scenario.apply(ring).unwrap();
    let start = |id: u32| scenario.agents()[&AgentId(id)].start;
    assert_eq!(start(1), Place::lane(RoadId(1), -2, 70.0));
    assert_eq!(start(2), Place::lane(RoadId(1), -1, 40.0));
    assert!(check(&scenario).is_empty(), "{:?}", check(&scenario));
}

#[test]
fn streets_that_are_short_or_one_way_come_to_a_roundabout_as_they_are() {
    let mut scenario = Scenario::new("arms");
    let one_way = draw::RoadStyle {
        section: CrossSection::driving(1, 0, 3.25),
        ..street("One-Way")
    };
    let far = 15.0 + 37.9;
    draw(&mut scenario, (-far, 0.0), (far, 0.0), &street("Short"));
    draw(&mut scenario, (0.0, -100.0), (0.0, 100.0), &one_way);
    let flares = |mut scenario: Scenario| {
        let ring = draw::roundabout(&scenario, DVec2::ZERO, 15.0, 0).unwrap();
        scenario.apply(ring).unwrap();
        let roads = scenario.network().roads();
        roads
            .filter(|(_, road)| road.lane_sections.len() > 1)
            .count()
    };
    assert_eq!(flares(scenario), 0);
    // As a control, the arms are 20 cm longer.
    let mut wider = Scenario::new("arms");
    let far = far + 0.2;
    draw(&mut wider, (-far, 0.0), (far, 0.0), &street("Short"));
    assert_eq!(flares(wider), 2);
}

#[test]
fn a_ring_has_a_pavement_outside_if_a_street_has_one() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        let mut scenario = Scenario::new("paved");
        let about = About {
            driving_side: side,
            ..scenario.about().clone()
        };
        scenario.apply(Edit::About(Box::new(about))).unwrap();
        let paved = draw::RoadStyle {
            section: CrossSection::driving(1, 1, 3.25).with_border(LaneType::Sidewalk, 2.5),
            ..street("Paved")
        };
        draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &paved);
        draw(&mut scenario, (0.0, -100.0), (0.0, 100.0), &street("Plain"));
        let ring = draw::roundabout(&scenario, DVec2::ZERO, 15.0, 0).unwrap();
        scenario.apply(ring).unwrap();
        let arcs = scenario
            .network()
            .roads()
            .filter(|(_, road)| road.name.is_empty());
        let arcs: Vec<&Road> = arcs.map(|(_, road)| road).collect();
        assert_eq!(arcs.len(), 4);
        for road in arcs {
            let middle = 0.5 * road.length();
            let pose = road.reference_line.pose(middle);
            // The centre of the lane is on the circle.
            let lane = road.lane_sections[0]
                .lanes
                .iter()
                .find(|lane| lane.kind.is_drivable());
            let band = road.lane_band(lane.unwrap().id, middle).unwrap();
            assert!((pose.point(0.0, band.centre).length() - 15.0).abs() < 1e-9);
            let (outer, inner) = (road.edges(middle), road.carriageway(middle));
            let pavement = [outer.0, outer.1].map(|t| pose.point(0.0, t).length());
            let carriageway = [inner.0, inner.1].map(|t| pose.point(0.0, t).length());
            let out = |ends: [f64; 2]| ends[0].max(ends[1]);
            let inside = |ends: [f64; 2]| ends[0].min(ends[1]);
            assert!(
                (out(pavement) - out(carriageway) - 2.5).abs() < 1e-9,
                "{side:?}"
            );
            assert!((inside(pavement) - inside(carriageway)).abs() < 1e-9);
        }
    }
}

#[test]
fn a_roundabout_on_open_ground_is_a_ring_of_two_and_takes_nobody_with_it() {
    let scenario = town();
    let ring = draw::roundabout(&scenario, DVec2::new(300.0, 300.0), 20.0, 0).unwrap();
    let mut after = scenario.clone();
    after.apply(ring).unwrap();
    let roads = |scenario: &Scenario| scenario.network().roads().count();
    assert_eq!(roads(&after), roads(&scenario) + 2);
    assert_eq!(after.agents(), scenario.agents());
}

#[test]
fn a_roundabout_says_why_it_cannot_be() {
    let scenario = crossroads();
    let at = |radius: f64| draw::roundabout(&scenario, DVec2::ZERO, radius, 0);
    for radius in [0.0, 3.0, 101.0, f64::NAN, f64::INFINITY] {
        let said = at(radius).unwrap_err().to_string();
        assert!(said.contains("expected 8 to 100 m"), "{said}");
    }
    let arm = scenario.network().road(RoadId(1)).unwrap().length();
    let said = at(arm.min(100.0) - 0.5)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(said.contains("ends on the ring"), "{said}");
}

proptest! {
    #[test]
    fn a_roundabout_anywhere_is_taken_back_by_its_inverse(
        x in -120.0..120.0f64, y in -120.0..120.0f64, radius in 8.0..100.0f64,
    ) {
        let scenario = town();
        if let Ok(ring) = draw::roundabout(&scenario, DVec2::new(x, y), radius, 0) {
            let mut after = scenario.clone();
            let inverse = after.apply(ring).unwrap();
            prop_assert!(after.network().roads().count() > 1);
            after.apply(inverse).unwrap();
            prop_assert_eq!(after, scenario);
        }
    }
}

#[test]
fn turn_lanes_open_before_a_junction_and_arrows_say_for_whom() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        let mut scenario = town();
        let about = About {
            driving_side: side,
            ..scenario.about().clone()
        };
        scenario.apply(Edit::About(Box::new(about))).unwrap();
        let before = scenario.clone();
        let network = scenario.network();
        let middle = network
            .nodes()
            .find(|(id, _)| network.ends_at(*id).len() == 4);
        let middle = middle.unwrap().0;
        let edit = operation::turn_lanes(&scenario, middle, 30.0).unwrap();
        let inverse = scenario.apply(edit).unwrap();
        let (far, near) = match side {
            DrivingSide::Right => (Turn::Left, Turn::Right),
            DrivingSide::Left => (Turn::Right, Turn::Left),
        };
        let layout = junction::layout(scenario.network(), scenario.about());
        let junction = layout.junction_at(middle).unwrap();
        for arm in &junction.arms {
            let paths = junction.paths.iter();
            let paths = paths.filter(|path| (path.from.road, path.from.end) == (arm.road, arm.end));
            let by_lane: std::collections::BTreeSet<(i8, Turn)> = paths
                .map(|path| (path.from.lane.abs(), path.turn))
                .collect();
            let expected = [(1, far), (2, Turn::Straight), (2, near)];
            assert_eq!(
                by_lane,
                expected.into_iter().collect(),
                "{side:?}: {}",
                arm.road
            );
            // Over this length before the stop line, the turn lane is as wide as the lane beside
            // it.
            let road = scenario.network().road(arm.road).unwrap();
            let driven = |along: f64| match arm.end {
                RoadEnd::Start => road.lanes_backward(along, side),
                RoadEnd::End => road.lanes_forward(road.length() - along, side),
            };
            assert_eq!((driven(arm.trim + 30.0), driven(arm.trim + 65.0)), (2, 1));
        }
        assert_eq!(check(&scenario), check(&before), "{side:?}");
        // Each arm already has a turn lane, so a second call has no effect.
        let again = operation::turn_lanes(&scenario, middle, 30.0).unwrap_err();
        assert!(
            again.to_string().contains("can have a turn lane"),
            "{again}"
        );
        scenario.apply(inverse).unwrap();
        assert_eq!(scenario, before);
        // There is no room for a turn lane of 200 m on any arm.
        assert!(operation::turn_lanes(&scenario, middle, 200.0).is_err());
    }
}

#[test]
fn who_is_on_a_lane_that_makes_room_for_a_turn_lane_stays_on_it() {
    let mut scenario = Scenario::new("pavements");
    let style = draw::RoadStyle {
        section: CrossSection::driving(1, 1, 3.25).with_border(LaneType::Biking, 1.8),
        ..street("Mill Lane")
    };
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &style);
    draw(&mut scenario, (0.0, -100.0), (0.0, 100.0), &style);
    // The positions are on the cycle lanes, near the junction and far from it.
    let road = scenario.network().road(RoadId(1)).unwrap();
    let (near, far) = (road.length() - 30.0, 10.0);
    for (id, s) in [(1, near), (2, far)] {
        let agent = Agent {
            start: Place::lane(RoadId(1), -2, s),
            ..west_to_east()
        };
        scenario
            .apply(Edit::Agent(AgentId(id), Some(Box::new(agent))))
            .unwrap();
    }
    let end = scenario.network().road(RoadId(1)).unwrap().to;
    let edit = operation::turn_lanes(&scenario, end, 30.0).unwrap();
    scenario.apply(edit).unwrap();
    let starts: Vec<Place> = scenario
        .agents()
        .values()
        .map(|agent| agent.start)
        .collect();
    let expected = [(-3, near), (-2, far)];
    assert_eq!(
        starts,
        expected.map(|(lane, s)| Place::lane(RoadId(1), lane, s))
    );
}

/// Creates two streets of 2 x 140 m that cross at the given angle, rad, for a driving side.
fn slanted(angle: f64, side: DrivingSide) -> Scenario {
    let mut scenario = Scenario::new("slanted");
    let about = About {
        driving_side: side,
        ..scenario.about().clone()
    };
    scenario.apply(Edit::About(Box::new(about))).unwrap();
    let slant = roadwright_geometry::unit(angle) * 140.0;
    let (x, y) = (slant.x, slant.y);
    draw(&mut scenario, (-140.0, 0.0), (140.0, 0.0), &street("East"));
    draw(&mut scenario, (-x, -y), (x, y), &street("Slant"));
    scenario
}

#[test]
fn a_slip_lane_takes_the_turn_to_the_near_side_out_of_a_junction() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        for angle in [1.1, 1.3, 1.57, 1.9] {
            let plain = slanted(angle, side);
            let network = plain.network();
            let mut nodes = network.nodes();
            let (node, _) = nodes
                .find(|(id, _)| network.ends_at(*id).len() == 4)
                .unwrap();
            let layout =
                |scenario: &Scenario| junction::layout(scenario.network(), scenario.about());
            let before = layout(&plain);
            let paths = &before.junction_at(node).unwrap().paths;
            let near: Vec<(RoadId, RoadId)> = paths
                .iter()
                .filter(|path| path.turn == Turn::near(side))
                .map(|path| (path.from.road, path.to.road))
                .collect();
            assert_eq!(near.len(), 4);
            for (from, to) in near {
                let mut scenario = plain.clone();
                let edit = operation::slip_lane(&scenario, node, from, to).unwrap();
                let inverse = scenario.apply(edit).unwrap();
                assert_eq!(check(&scenario), [], "{side:?} {angle} {from} {to}");
                let after = layout(&scenario);
                let paths = &after.junction_at(node).unwrap().paths;
                let turns = paths.iter().filter(|path| path.turn == Turn::near(side));
                assert_eq!(turns.count(), 3);
                // A vehicle can still drive from one road to the other, and yields at the end.
                let roads = scenario.network().roads();
                let (slip, lane) = roads.max_by_key(|(id, _)| *id).unwrap();
                assert!(lane.lane_sections[0].lanes.len() == 1);
                let start = after.junction_at(lane.from).unwrap();
                let end = after.junction_at(lane.to).unwrap();
                let paths_to: Vec<_> = start
                    .paths
                    .iter()
                    .filter(|path| path.to.road == slip)
                    .collect();
                let paths_on: Vec<_> = end
                    .paths
                    .iter()
                    .filter(|path| path.from.road == slip)
                    .collect();
                assert_eq!(
                    (paths_to.len(), paths_on.len()),
                    (1, 1),
                    "no U-turn leads over it"
                );
                let arm = end.arms.iter().find(|arm| arm.road == slip).unwrap();
                assert_eq!(arm.sign, junction::Sign::Yield);
                scenario.apply(inverse).unwrap();
                assert_eq!(scenario, plain);
            }
        }
    }
}

#[test]
fn all_corners_of_a_junction_get_slip_lanes() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        let mut scenario = slanted(1.57, side);
        let network = scenario.network();
        let mut nodes = network.nodes();
        let (node, _) = nodes
            .find(|(id, _)| network.ends_at(*id).len() == 4)
            .unwrap();
        drop(nodes);
        let layout = |scenario: &Scenario| junction::layout(scenario.network(), scenario.about());
        let turns = |scenario: &Scenario| -> Vec<(RoadId, RoadId)> {
            let layout = layout(scenario);
            let paths = layout.junction_at(node).unwrap().paths.iter();
            let near = paths.filter(|path| path.turn == Turn::near(side));
            near.map(|path| (path.from.road, path.to.road)).collect()
        };
        for left in (0..4).rev() {
            let (from, to) = turns(&scenario)[0];
            let edit = operation::slip_lane(&scenario, node, from, to).unwrap();
            scenario.apply(edit).unwrap();
            assert_eq!(turns(&scenario).len(), left, "{side:?} {from} {to}");
            assert_eq!(check(&scenario), [], "{side:?} {from} {to}");
        }
        // Each street has one node at which one slip lane ends and another begins.
        let after = layout(&scenario);
        let cuts = after
            .junctions
            .iter()
            .filter(|junction| junction.arms.len() == 4 && !junction.nodes.contains(&node));
        assert_eq!(cuts.count(), 4);
    }
}

#[test]
fn slip_lanes_without_room_are_refused() {
    let refused = |scenario: &Scenario, from, to| {
        let network = scenario.network();
        let mut nodes = network.nodes();
        let (node, _) = nodes
            .find(|(id, _)| network.ends_at(*id).len() == 4)
            .unwrap();
        operation::slip_lane(scenario, node, from, to)
            .unwrap_err()
            .to_string()
    };
    let plain = slanted(1.57, DrivingSide::Right);
    let [a, b] = [RoadId(1), RoadId(77)];
    for (from, to) in [(a, a), (a, b), (b, a)] {
        assert!(refused(&plain, from, to).contains("no room for a slip lane"));
    }
    // Roads of 24 m on all sides.
    let mut short = Scenario::new("short");
    draw(&mut short, (-24.0, 0.0), (24.0, 0.0), &street("East"));
    draw(&mut short, (0.0, -24.0), (0.0, 24.0), &street("North"));
    let ids: Vec<RoadId> = short.network().roads().map(|(id, _)| id).collect();
    for &from in &ids {
        for &to in &ids {
            assert!(refused(&short, from, to).contains("no room for a slip lane"));
        }
    }
}
