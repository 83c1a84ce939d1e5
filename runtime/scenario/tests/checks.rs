//! Scenarios that provoke each kind of finding.

use crate::common::*;
use roadwright_geometry::{DVec2, Pose, ReferenceLine, Segment};
use roadwright_scenario::check::{Code, Finding, Severity, check, repair, repair_all};
use roadwright_scenario::operation::draw;
use roadwright_scenario::*;

fn codes(scenario: &Scenario) -> Vec<Code> {
    check(scenario)
        .into_iter()
        .map(|finding| finding.code)
        .collect()
}

fn with(edit: Edit) -> Scenario {
    let mut scenario = crossroads();
    scenario.apply(edit).unwrap();
    scenario
}

/// Returns the crossroads scenario with the line of road 1 replaced.
fn with_line(line: ReferenceLine) -> Scenario {
    let scenario = crossroads();
    let road = Road {
        reference_line: line,
        ..scenario.network().road(RoadId(1)).unwrap().clone()
    };
    with(Edit::Road(RoadId(1), Some(Box::new(road))))
}

fn with_agent(change: impl FnOnce(&mut Agent)) -> Scenario {
    let mut agent = west_to_east();
    change(&mut agent);
    with(Edit::Agent(AgentId(1), Some(Box::new(agent))))
}

#[test]
fn a_sound_scenario_has_no_findings() {
    assert_eq!(codes(&with_agent(|_| ())), []);
}

#[test]
fn gaps_at_nodes_are_found_from_a_centimetre() {
    let line = |x| ReferenceLine::straight(DVec2::new(-100.0, 0.0), DVec2::new(x, 0.0)).unwrap();
    assert_eq!(codes(&with_line(line(-0.02))), [Code::JointGap]);
    assert_eq!(codes(&with_line(line(-0.005))), []);
}

#[test]
fn kinks_and_self_crossings_are_found() {
    let bend = |curvature: f64, turn: f64| {
        let start = Pose::new(-100.0, 0.0, 0.0);
        let segments = vec![
            Segment::Line { length: 40.0 },
            Segment::Arc {
                length: turn / curvature,
                curvature,
            },
            Segment::Line { length: 40.0 },
        ];
        ReferenceLine::new(start, segments).unwrap()
    };
    assert!(codes(&with_line(bend(0.5, 1.5))).contains(&Code::Kink));
    assert!(codes(&with_line(bend(0.1, 5.0))).contains(&Code::SelfIntersection));
    assert!(!codes(&with_line(bend(0.1, 1.0))).contains(&Code::SelfIntersection));
}

#[test]
fn trips_that_head_straight_into_an_obstacle_are_found() {
    let scenario = |planner: &str, x: f64, y: f64| {
        let mut scenario = crossroads();
        let mut stack = scenario.stacks()["idm"].clone();
        assert!(stack.set(Slot::GroundPlanner, vec![ModuleSetting::new(planner)]));
        let agent = Agent {
            start: Place::ground(0.0, 40.0, 0.0),
            via: vec![],
            destination: Some(Place::ground(60.0, 40.0, 0.0)),
            stack: "idm".into(),
            ..west_to_east()
        };
        let edits = vec![
            Edit::Stack("idm".into(), Some(Box::new(stack))),
            Edit::Agent(AgentId(1), Some(Box::new(agent))),
            Edit::Obstacle(ObstacleId(1), Some(Box::new(crate_at(x, y)))),
        ];
        scenario.apply(Edit::Batch(edits)).unwrap();
        scenario
    };
    let straight = scenario("straight", 30.0, 40.0);
    assert_eq!(codes(&straight), [Code::StraightIntoObstacle]);
    // There is no finding if the obstacle is beside the path, or if the stack has a ground planner
    // that avoids it.
    assert_eq!(codes(&scenario("straight", 30.0, 45.0)), []);
    assert_eq!(codes(&scenario("hybrid_fuzzy_path", 30.0, 40.0)), []);
}

/// Creates a road with lanes that are 3.5 m wide and a bend.
fn with_bend(radius: f64, turn: f64) -> Scenario {
    let segments = vec![
        Segment::Line { length: 40.0 },
        Segment::Arc {
            length: turn * radius,
            curvature: 1.0 / radius,
        },
        Segment::Line { length: 40.0 },
    ];
    with_line(ReferenceLine::new(Pose::new(-100.0, 0.0, 0.0), segments).unwrap())
}

fn kinks(scenario: &Scenario) -> Vec<Finding> {
    let findings = check(scenario).into_iter();
    findings
        .filter(|finding| finding.code == Code::Kink)
        .collect()
}

#[test]
fn a_bend_is_a_kink_where_its_inner_edge_runs_half_a_metre_backwards() {
    let road = |scenario: &Scenario| scenario.network().roads().next().unwrap().1.clone();
    let (_, inner) = road(&with_bend(10.0, 0.5)).edges(45.0);
    // The length over which the inner edge runs backwards is (inner - radius) * turn.
    let radius = |backwards: f64| inner - backwards / 0.5;
    assert_eq!(kinks(&with_bend(radius(0.49), 0.5)).len(), 0);
    assert_eq!(kinks(&with_bend(radius(0.51), 0.5)).len(), 1);
}

#[test]
fn kinks_are_rounded_within_one_and_a_half_metres_or_left_alone() {
    let kinked = with_bend(1.0, 0.6);
    let finding = &kinks(&kinked)[0];
    let mut mended = kinked.clone();
    mended.apply(repair(&kinked, finding).unwrap()).unwrap();
    assert_eq!(kinks(&mended), []);
    let road = |scenario: &Scenario| scenario.network().roads().next().unwrap().1.clone();
    let (before, after) = (road(&kinked), road(&mended));
    let ends = |road: &Road| [road.reference_line.start(), road.reference_line.end()];
    for (old, new) in ends(&before).into_iter().zip(ends(&after)) {
        assert!((old.position - new.position).length() < 1e-6);
    }
    let inner = before.edges(40.2).1;
    assert!((1.0 / after.reference_line.max_curvature() - (inner + 1.0)).abs() < 1e-6);
    // The line of a hairpin would have to be moved too far.
    let hairpin = with_bend(0.5, 1.8);
    assert_eq!(repair(&hairpin, &kinks(&hairpin)[0]), None);
}

#[test]
fn all_problems_of_a_kind_are_repaired_by_one_edit() {
    let put = |id, x| Edit::Obstacle(ObstacleId(id), Some(Box::new(crate_at(x, 2.0))));
    let before = with(Edit::Batch(vec![put(1, 30.0), put(2, 50.0), put(3, 70.0)]));
    let found = check(&before);
    assert_eq!(found.len(), 3);
    let repairs = repair_all(&before, Code::ObstacleOnRoad, &found).unwrap();
    assert_eq!(repairs.count, 3);
    let mut mended = before.clone();
    let undo = mended.apply(repairs.edit).unwrap();
    assert_eq!(check(&mended), []);
    mended.apply(undo).unwrap();
    assert_eq!(mended, before);
    assert_eq!(repair_all(&before, Code::Kink, &found), None);
    assert_eq!(repair_all(&before, Code::Alley, &found), None);
}

#[test]
fn obstacles_on_roads_and_on_each_other_are_found() {
    let put = |id, x, y| Edit::Obstacle(ObstacleId(id), Some(Box::new(crate_at(x, y))));
    assert_eq!(codes(&with(put(1, 50.0, 2.0))), [Code::ObstacleOnRoad]);
    assert_eq!(codes(&with(put(1, 50.0, 20.0))), []);
    let two = with(Edit::Batch(vec![put(1, 50.0, 20.0), put(2, 51.0, 20.0)]));
    assert_eq!(codes(&two), [Code::ObstaclesOverlap]);
}

#[test]
fn obstacles_that_hang_are_judged_by_their_heights() {
    let bar = |base: f64, height: f64| Obstacle {
        base: base.into(),
        height: height.into(),
        mass: None.into(),
        ..crate_at(50.0, 2.0)
    };
    let put = |id, obstacle| Edit::Obstacle(ObstacleId(id), Some(Box::new(obstacle)));
    let found = |obstacle| codes(&with(put(1, obstacle)));
    let scenario = with(Edit::Batch(Vec::new()));
    let kinds = || scenario.vehicle_types().values();
    let tallest = kinds().map(|kind| kind.whole_span().high);
    let tallest = tallest.fold(0.0, f64::max);
    let lowest = kinds().map(VehicleType::ground_clearance);
    let lowest = lowest.fold(f64::INFINITY, f64::min);
    assert_eq!(found(bar(tallest, tallest + 1.0)), []);
    let gate = bar(tallest - 0.01, tallest + 1.0);
    assert_eq!(found(gate), [Code::ObstacleOnRoad]);
    assert_eq!(found(bar(0.0, lowest)), []);
    assert_eq!(found(bar(0.0, lowest + 0.01)), [Code::ObstacleOnRoad]);
    assert_eq!(found(bar(2.0, 2.0)), [Code::ObstacleWithoutHeight]);
    let loose = Obstacle {
        mass: Some(5.0).into(),
        ..bar(tallest, tallest + 1.0)
    };
    assert_eq!(found(loose), [Code::HangingMass]);
    // A roof above a wall does not overlap the wall, and an agent below the roof is not inside it.
    let aside = |base: f64, height: f64| Obstacle {
        shape: crate_at(50.0, 20.0).shape,
        ..bar(base, height)
    };
    let two = |roof| Edit::Batch(vec![put(1, aside(0.0, 3.0)), put(2, roof)]);
    assert_eq!(codes(&with(two(aside(3.0, 4.0)))), []);
    let low = with(two(aside(2.9, 4.0)));
    assert_eq!(codes(&low), [Code::ObstaclesOverlap]);
    let mut below = with_agent(|agent| agent.start = Place::ground(49.0, 20.0, 0.0));
    below.apply(put(1, aside(tallest, 9.0))).unwrap();
    assert_eq!(codes(&below), []);
    below.apply(put(1, aside(1.0, 9.0))).unwrap();
    assert_eq!(codes(&below), [Code::AgentInObstacle]);
}

#[test]
fn agents_in_wrong_places_are_found() {
    assert_eq!(
        codes(&with_agent(|a| a.start = Place::lane(RoadId(1), -3, 5.0))),
        [Code::NoSuchLane]
    );
    assert_eq!(
        codes(&with_agent(|a| a.start = Place::lane(RoadId(1), -1, 5e3))),
        [Code::NoSuchLane]
    );
    let mut scenario = with_agent(|a| a.start = Place::ground(40.0, 40.0, 0.0));
    scenario
        .apply(Edit::Obstacle(
            ObstacleId(1),
            Some(Box::new(crate_at(41.0, 40.0))),
        ))
        .unwrap();
    assert_eq!(codes(&scenario), [Code::AgentInObstacle]);
    let mut twins = with_agent(|_| ());
    twins
        .apply(Edit::Agent(AgentId(2), Some(Box::new(west_to_east()))))
        .unwrap();
    assert_eq!(codes(&twins), [Code::AgentsOverlap]);
}

#[test]
fn agents_that_face_each_other_in_an_alley_are_found() {
    let found = |width: f64, change: &dyn Fn(&mut Agent)| {
        let mut scenario = Scenario::new("alley");
        let narrow = draw::RoadStyle {
            section: CrossSection::driving(1, 1, width),
            ..street("alley")
        };
        draw(&mut scenario, (0.0, 0.0), (200.0, 0.0), &narrow);
        let mut along = west_to_east();
        along.start = Place::lane(RoadId(1), -1, 40.0);
        along.destination = Some(Place::lane(RoadId(1), -1, 190.0));
        let mut against = along.clone();
        against.start = Place::lane(RoadId(1), 1, 160.0);
        against.destination = Some(Place::lane(RoadId(1), 1, 10.0));
        change(&mut against);
        for (id, agent) in [(1, along), (2, against)] {
            let edit = Edit::Agent(AgentId(id), Some(Box::new(agent)));
            scenario.apply(edit).unwrap();
        }
        let findings = check(&scenario).into_iter();
        findings
            .filter(|finding| finding.code == Code::FacingInAlley)
            .collect::<Vec<_>>()
    };
    let facing = found(1.65, &|_| ());
    assert_eq!(facing.len(), 1, "{facing:?}");
    assert_eq!(facing[0].object, ObjectId::Agent(AgentId(2)));
    assert!(facing[0].message.contains("agent 1"), "{facing:?}");
    // There is no finding if the vehicles can pass each other, if one departs later, or if both
    // drive in the same direction.
    assert_eq!(found(3.25, &|_| ()), []);
    assert_eq!(found(1.65, &|agent| agent.depart = 60.0.into()), []);
    let same_direction = |agent: &mut Agent| {
        agent.start = Place::lane(RoadId(1), -1, 160.0);
        agent.destination = Some(Place::lane(RoadId(1), -1, 190.0));
    };
    assert_eq!(found(1.65, &same_direction), []);
}

#[test]
fn unreachable_destinations_are_found() {
    // From the crossroads, no lane of a one-way street that leads to them can be reached.
    let mut scenario = with_agent(|a| {
        a.start = Place::lane(RoadId(2), -1, 50.0);
        a.destination = Some(Place::lane(RoadId(1), -1, 5.0));
    });
    let mut road = scenario.network().road(RoadId(1)).unwrap().clone();
    road.lane_sections[0].lanes.retain(|lane| lane.id < 0);
    scenario
        .apply(Edit::Road(RoadId(1), Some(Box::new(road))))
        .unwrap();
    let findings = check(&scenario);
    assert_eq!(findings[0].code, Code::UnreachableDestination);
    assert_eq!(findings[0].severity, Severity::Error);
    assert_eq!(findings[0].object, ObjectId::Agent(AgentId(1)));
}

#[test]
fn lanes_that_lead_away_are_found_and_exchanged_for_those_beside_them() {
    // The goal is on a dead-end street whose only lane leads in the opposite direction.
    let goal = with_agent(|a| a.destination = Some(Place::lane(RoadId(1), 1, 90.0)));
    let both = with_agent(|a| {
        a.start = Place::lane(RoadId(2), 1, 50.0);
        a.destination = Some(Place::lane(RoadId(1), -1, 5.0));
    });
    let start = with_agent(|a| {
        a.start = Place::lane(RoadId(2), 1, 50.0);
        a.destination = Some(Place::lane(RoadId(1), 1, 5.0));
    });
    let told = |scenario: &Scenario| {
        let finding = check(scenario).remove(0);
        assert_eq!(finding.code, Code::WrongLane, "{finding}");
        assert_eq!(finding.severity, Severity::Error);
        assert_eq!(finding.object, ObjectId::Agent(AgentId(1)));
        finding.message
    };
    let message = told(&goal);
    assert!(message.contains("end on lane -1"), "{message}");
    let message = told(&start);
    assert!(
        message.contains("leads away from the destination; start on lane -1"),
        "{message}"
    );
    assert!(told(&both).contains("there. In addition, no route leads to lane"));
    for scenario in [goal, both, start] {
        is_repaired(&scenario, Code::WrongLane);
    }
}

#[test]
fn random_trips_are_repaired_where_any_pair_of_lanes_has_a_route() {
    use roadwright_geometry::math::Stream;
    use roadwright_scenario::lane_graph::{LaneGraph, Reachability};
    let mut stream = Stream::new(roadwright_testing::seed(7), "lanes", 0);
    let mut repaired = 0;
    for _ in 0..roadwright_testing::scaled(1000) {
        let mut place = || {
            let road = RoadId(stream.next_index(4) as u32 + 1);
            let lane = if stream.next_index(2) == 0 { -1 } else { 1 };
            Place::lane(road, lane, stream.next_in(20.0, 80.0))
        };
        let (from, to) = (place(), place());
        let mut scenario = with_agent(|a| {
            a.start = from;
            a.destination = Some(to);
        });
        // Some arms are one-way streets.
        for id in 1..=4 {
            let side = stream.next_index(5);
            let mut road = scenario.network().road(RoadId(id)).unwrap().clone();
            if side < 2 {
                let sign = if side == 0 { 1 } else { -1 };
                road.lane_sections[0]
                    .lanes
                    .retain(|lane| lane.id.signum() == sign);
                let edit = Edit::Road(RoadId(id), Some(Box::new(road)));
                scenario.apply(edit).unwrap();
            }
        }
        let derived = junction::layout(scenario.network(), DrivingSide::Right);
        let graph = LaneGraph::new(&scenario, &derived);
        let mut reach = Reachability::new(&graph, VehicleClass::default());
        let lanes = |place: &Place| {
            let Place::Lane(at) = *place else {
                return Vec::new();
            };
            let places = [-1, 1].map(|lane| LanePlace { lane, ..at });
            let spots = places.into_iter().filter_map(|place| graph.locate(&place));
            spots.collect::<Vec<_>>()
        };
        let mut leads = |from: &[(LaneletIndex, f64)], to: &[(LaneletIndex, f64)]| {
            from.iter().any(|a| {
                to.iter().any(|b| {
                    reach.leads(a.0, b.0) && (a.0 != b.0 || b.1 >= a.1 || reach.leads_round(a.0))
                })
            })
        };
        let any = leads(&lanes(&from), &lanes(&to));
        let trips = |scenario: &Scenario| {
            let trip = |code| matches!(code, Code::WrongLane | Code::UnreachableDestination);
            let findings = check(scenario).into_iter();
            findings
                .filter(|finding| trip(finding.code))
                .collect::<Vec<_>>()
        };
        // If the lane does not exist, the finding is different.
        let exists = |place: &Place| scenario.pose_of(place).is_some();
        if !exists(&from) || !exists(&to) {
            continue;
        }
        match trips(&scenario).first() {
            None => assert!(any),
            Some(finding) => {
                assert_eq!(finding.code == Code::WrongLane, any, "{finding}");
                if any {
                    let edit = repair(&scenario, finding).unwrap();
                    scenario.apply(edit).unwrap();
                    assert_eq!(trips(&scenario), []);
                    repaired += 1;
                }
            }
        }
    }
    assert!(repaired > 10, "{repaired}");
}

#[test]
fn destinations_behind_gates_and_on_closed_roads_are_told_apart() {
    // A trip from road 1 straight across the junction to road 4.
    let with_access = |id: u32, access: RoadAccess| {
        let mut scenario = with_agent(|_| ());
        let mut road = scenario.network().road(RoadId(id)).unwrap().clone();
        road.access = access;
        scenario
            .apply(Edit::Road(RoadId(id), Some(Box::new(road))))
            .unwrap();
        scenario
    };
    let end = |scenario: &Scenario| match scenario.agents()[&AgentId(1)].destination {
        Some(Place::Lane(at)) => at.road.0,
        _ => 0,
    };
    let goal = end(&with_agent(|_| ()));
    // Trips may start and end on roads with any access.
    for access in RoadAccess::ALL {
        let expected: &[Code] = match access {
            RoadAccess::No => &[Code::ClosedRoad],
            _ => &[],
        };
        assert_eq!(codes(&with_access(goal, access)), expected, "{access:?}");
        assert_eq!(codes(&with_access(1, access)), [], "{access:?}");
    }
    let findings = check(&with_access(goal, RoadAccess::No));
    assert!(findings[0].message.contains("access `no`"), "{findings:?}");
    assert_eq!(findings[0].object, ObjectId::Agent(AgentId(1)));
    // Through traffic does not use a yard between two streets.
    let mut row = Scenario::new("row");
    for at in 0..3 {
        let x = 100.0 * f64::from(at);
        draw(&mut row, (x, 0.0), (x + 100.0, 0.0), &street("row"));
    }
    let agent = Agent {
        destination: Some(Place::lane(RoadId(3), -1, 50.0)),
        ..west_to_east()
    };
    row.apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
        .unwrap();
    assert_eq!(codes(&row), []);
    let mut yard = row.network().road(RoadId(2)).unwrap().clone();
    yard.access = RoadAccess::Destination;
    row.apply(Edit::Road(RoadId(2), Some(Box::new(yard))))
        .unwrap();
    assert_eq!(codes(&row), [Code::UnreachableDestination]);
}

/// Creates a road with two lanes, of which only one continues, and an agent on one of the lanes.
fn narrowing(lane: i8, s: f64) -> Scenario {
    let mut scenario = Scenario::new("narrowing");
    for (lanes, from, to) in [(2, 0.0, 100.0), (1, 100.0, 200.0)] {
        let style = draw::RoadStyle {
            section: CrossSection::driving(lanes, 0, 3.25),
            ..street("road")
        };
        draw(&mut scenario, (from, 0.0), (to, 0.0), &style);
    }
    let agent = Agent {
        start: Place::lane(RoadId(1), lane, s),
        destination: Some(Place::lane(RoadId(2), -1, 50.0)),
        ..west_to_east()
    };
    end_lane(&mut scenario, 1, -2, 2, -1);
    for (key, kind) in crossroads().vehicle_types() {
        let edit = Edit::VehicleType(key.clone(), Some(Box::new(kind.clone())));
        scenario.apply(edit).unwrap();
    }
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    scenario.apply(edit).unwrap();
    scenario
}

#[test]
fn who_begins_too_near_to_the_end_of_a_lane_that_leads_nowhere_is_found() {
    let ends = |s: f64| {
        let scenarios = [-1, -2].map(|lane| narrowing(lane, s));
        let findings = scenarios.map(|scenario| check(&scenario));
        let found = findings.map(|all| {
            let mut all = all.iter();
            all.any(|f| {
                f.code == Code::UnreachableDestination && f.message.contains("move the start back")
            })
        });
        found.iter().filter(|found| **found).count()
    };
    assert_eq!((ends(50.0), ends(80.0), ends(97.0)), (0, 0, 1));
}

#[test]
fn dangling_restrictions_are_found() {
    let mut scenario = crossroads();
    let centre = scenario.network().road(RoadId(1)).unwrap().to;
    let mut node = scenario.network().node(centre).unwrap().clone();
    let kind = RestrictionKind::No;
    node.rules.restrictions.push(Restriction {
        kind,
        from: RoadId(1),
        to: RoadId(88),
    });
    scenario.apply(Edit::Node(centre, Some(node))).unwrap();
    assert_eq!(codes(&scenario), [Code::DanglingRestriction]);
}

#[test]
fn lanes_that_lead_nowhere_are_found() {
    // A one-way street that is drawn head-on towards another one.
    let mut scenario = Scenario::new("head-on");
    let one_way = draw::RoadStyle {
        section: CrossSection::driving(1, 0, 3.0),
        ..street("one")
    };
    draw(&mut scenario, (0.0, 0.0), (100.0, 0.0), &one_way);
    draw(&mut scenario, (200.0, 0.0), (100.0, 0.0), &one_way);
    assert_eq!(codes(&scenario), [Code::LaneWithoutSuccessor; 2]);
}

#[test]
fn turns_that_nobody_can_drive_are_found() {
    let mut scenario = Scenario::new("hairpin");
    let alley = draw::RoadStyle {
        class: RoadClass::Path,
        section: CrossSection::driving(1, 0, 2.0),
        ..street("alley")
    };
    draw(&mut scenario, (0.0, 0.0), (60.0, 0.0), &alley);
    draw(&mut scenario, (60.0, 0.0), (2.0, 12.0), &alley);
    let mut agent = west_to_east();
    agent.start = Place::lane(RoadId(1), -1, 5.0);
    agent.destination = Some(Place::lane(RoadId(2), -1, 30.0));
    scenario
        .apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
        .unwrap();
    assert!(
        codes(&scenario).contains(&Code::ImpossibleTurn),
        "{:?}",
        check(&scenario)
    );
}

#[test]
fn agents_that_go_nowhere_are_found() {
    assert_eq!(
        codes(&with_agent(|agent| agent.destination = None)),
        [Code::NoDestination]
    );
}

#[test]
fn the_notch_of_an_obstacle_is_free() {
    // A separating-axis test of the whole outline would fill the notch of an L.
    let points = [
        (30.0, 30.0),
        (60.0, 30.0),
        (60.0, 35.0),
        (35.0, 35.0),
        (35.0, 60.0),
        (30.0, 60.0),
    ];
    let shape = Shape::Polygon {
        points: points.map(DVec2::from).to_vec().into(),
    };
    let mut scenario = with_agent(|agent| agent.start = Place::ground(45.0, 45.0, 0.0));
    let wall = Obstacle {
        shape,
        ..crate_at(0.0, 0.0)
    };
    scenario
        .apply(Edit::Obstacle(ObstacleId(1), Some(Box::new(wall))))
        .unwrap();
    assert_eq!(codes(&scenario), []);
}

/// Returns the findings about land in a scenario with one area of land.
fn about_land(change: impl FnOnce(&mut Land)) -> Vec<(Code, String)> {
    let mut scenario = crossroads();
    let mut land = pond_at(50.0, 50.0);
    change(&mut land);
    let edit = Edit::Land(LandId(1), Some(Box::new(land)));
    scenario.apply(edit).unwrap();
    let findings = check(&scenario).into_iter();
    let findings = findings.filter(|finding| finding.object == ObjectId::Land(LandId(1)));
    findings
        .map(|finding| (finding.code, finding.message))
        .collect()
}

#[test]
fn outlines_of_land_that_are_none_are_found() {
    assert_eq!(about_land(|_| {}), []);
    let found = |change: fn(&mut Land), word: &str| {
        let findings = about_land(change);
        assert_eq!(findings.len(), 1, "{word}: {findings:?}");
        assert_eq!(findings[0].0, Code::LandOutline);
        assert!(findings[0].1.contains(word), "{word}: {findings:?}");
    };
    found(|land| land.outline.swap(1, 2), "crosses itself");
    // The hole extends beyond the outline.
    found(|land| land.holes[0][0].x -= 30.0, "crosses");
    let all_in_one = |land: &mut Land| land.holes[0] = vec![DVec2::splat(50.0); 3];
    found(all_in_one, "");
    found(
        |land| land.holes[0].iter_mut().for_each(|p| *p += 100.0),
        "outside its outline",
    );
}

#[test]
fn the_check_of_land_compares_no_more_edges_than_it_may() {
    // Outlines whose edges all overlap, so that every pair of edges would have to be compared, followed by an
    // invalid outline.
    let with_combs = |count: u32| {
        let mut scenario = crossroads();
        let mut add = |id: u32, outline: Vec<DVec2>| {
            let land = Land {
                outline: outline.into(),
                holes: Vec::new().into(),
                ..pond_at(0.0, 0.0)
            };
            let edit = Edit::Land(LandId(id), Some(Box::new(land)));
            scenario.apply(edit).unwrap();
        };
        for id in 1..=count {
            let comb = (0..5_000u32).map(|i| DVec2::new(f64::from(i % 2) * 1e3, f64::from(i)));
            let around = [(1e3, 5_001.0), (-1.0, 5_001.0), (-1.0, -1.0)];
            add(id, comb.chain(around.map(DVec2::from)).collect());
        }
        let tie = [(0.0, 0.0), (6.0, 4.0), (6.0, 0.0), (0.0, 9.0)];
        add(count + 1, tie.map(DVec2::from).to_vec());
        let last = ObjectId::Land(LandId(count + 1));
        check(&scenario).iter().any(|f| f.object == last)
    };
    assert!(with_combs(1), "there is room for some");
    assert!(!with_combs(6), "its crossing is no longer searched for");
}

#[test]
fn points_of_interest_have_names_of_their_own() {
    let mut scenario = crossroads();
    for (id, name) in [(1, "Bakery"), (2, "School"), (3, "Bakery"), (4, " ")] {
        let point = PointOfInterest {
            name: name.into(),
            x: f64::from(id).into(),
            y: 0.0.into(),
            heading: None.into(),
        };
        let edit = Edit::PointOfInterest(PointOfInterestId(id), Some(Box::new(point)));
        scenario.apply(edit).unwrap();
    }
    let findings = check(&scenario);
    let unclear: Vec<(ObjectId, &str)> = findings
        .iter()
        .filter(|finding| finding.code == Code::NameUnclear)
        .map(|finding| (finding.object, finding.message.as_str()))
        .collect();
    let point = |id| ObjectId::PointOfInterest(PointOfInterestId(id));
    assert_eq!(unclear.len(), 2, "{unclear:?}");
    assert!(unclear.contains(&(point(4), "has no name, so scripts cannot find it")));
    let twin = unclear
        .iter()
        .find(|(object, _)| *object == point(3))
        .unwrap();
    assert!(twin.1.contains("as point of interest 1"), "{twin:?}");
}

/// Returns the codes and messages of the findings about bays at poses (x, y, heading) beside the
/// streets of `crossroads`, which run along both axes.
fn findings_about_bays(bays: &[(f64, f64, f64)], obstacle: Option<Shape>) -> Vec<(Code, String)> {
    let mut scenario = crossroads();
    for (number, &(x, y, heading)) in (1..).zip(bays) {
        let bay = PointOfInterest {
            name: format!("Bay {number}"),
            x: x.into(),
            y: y.into(),
            heading: Some(heading).into(),
        };
        let edit = Edit::PointOfInterest(PointOfInterestId(number), Some(Box::new(bay)));
        scenario.apply(edit).unwrap();
    }
    if let Some(shape) = obstacle {
        let obstacle = Obstacle {
            name: String::new(),
            shape,
            base: 0.0.into(),
            height: 1.0.into(),
            mass: None.into(),
        };
        let edit = Edit::Obstacle(ObstacleId(1), Some(Box::new(obstacle)));
        scenario.apply(edit).unwrap();
    }
    let findings = check(&scenario).into_iter();
    let about = findings.filter(|finding| matches!(finding.object, ObjectId::PointOfInterest(_)));
    about
        .map(|finding| (finding.code, finding.message))
        .collect()
}

#[test]
fn parking_bays_are_free() {
    let quarter = std::f64::consts::FRAC_PI_2;
    // At the edge of the carriageway, a bay is allowed beside it.
    let scenario = crossroads();
    let (_, road) = scenario.network().roads().next().unwrap();
    let edge = road.edges(40.0).1;
    let side = |t: f64| {
        let at = road.reference_line.point(40.0, t);
        let heading = road.reference_line.pose(40.0).heading;
        (at.x, at.y, heading)
    };
    let beside = edge + 0.5 * BAY.1;
    let codes = |bays: &[(f64, f64, f64)], obstacle| {
        let findings = findings_about_bays(bays, obstacle).into_iter();
        findings.map(|(code, _)| code).collect::<Vec<_>>()
    };
    assert_eq!(codes(&[side(beside)], None), []);
    assert_eq!(codes(&[side(beside - 0.4)], None), [Code::BayOnRoad]);
    let far = |x: f64| (x, 70.0, quarter);
    // Two bays side by side touch each other.
    assert_eq!(codes(&[far(60.0), far(60.0 + BAY.1)], None), []);
    let overlapping = findings_about_bays(&[far(60.0), far(62.0)], None);
    assert_eq!(overlapping.len(), 1, "{overlapping:?}");
    assert_eq!(overlapping[0].0, Code::BaysOverlap);
    assert!(
        overlapping[0].1.contains("point of interest 1"),
        "{overlapping:?}"
    );
    let post = |y: f64| Shape::Circle {
        x: 60.0.into(),
        y: y.into(),
        radius: 0.3.into(),
    };
    // The bay extends from 67.5 to 72.5 m.
    assert_eq!(codes(&[far(60.0)], Some(post(67.2))), []);
    let blocked = findings_about_bays(&[far(60.0)], Some(post(67.6)));
    assert_eq!(blocked.len(), 1, "{blocked:?}");
    assert_eq!(blocked[0].0, Code::BayBlocked);
    assert!(blocked[0].1.contains("obstacle 1"), "{blocked:?}");
}

/// Repairs the first finding of a kind. Checks that the object is then valid and that the inverse
/// edit restores it.
fn is_repaired(scenario: &Scenario, code: Code) {
    let finding = check(scenario)
        .into_iter()
        .find(|finding| finding.code == code)
        .unwrap_or_else(|| panic!("{code:?} was not provoked"));
    assert!(code.repair().is_some());
    let edit = repair(scenario, &finding).unwrap_or_else(|| panic!("{code:?} has a repair"));
    let mut repaired = scenario.clone();
    let back = repaired.apply(edit).unwrap();
    assert!(!check(&repaired).contains(&finding), "{code:?}: {finding}");
    // Once the object is valid, there is nothing to repair.
    let again = repair(&repaired, &finding);
    let is_deleted = matches!(
        code,
        Code::ObstacleOnRoad | Code::AgentsOverlap | Code::NameUnclear
    );
    assert!(
        is_deleted || again.is_none_or(|edit| edit == Edit::Batch(Vec::new())),
        "{code:?}"
    );
    repaired.apply(back).unwrap();
    assert_eq!(&repaired, scenario, "{code:?}");
}

#[test]
fn findings_are_repaired_by_one_edit() {
    is_repaired(
        &with(Edit::Obstacle(
            ObstacleId(1),
            Some(Box::new(crate_at(50.0, 2.0))),
        )),
        Code::ObstacleOnRoad,
    );
    let mut twins = with_agent(|_| ());
    twins
        .apply(Edit::Agent(AgentId(2), Some(Box::new(west_to_east()))))
        .unwrap();
    is_repaired(&twins, Code::AgentsOverlap);
    let mut named = crossroads();
    for (id, name) in [(1, "Bakery"), (2, "Bakery 2"), (3, "Bakery")] {
        let point = PointOfInterest {
            name: name.into(),
            x: f64::from(id).into(),
            y: 0.0.into(),
            heading: None.into(),
        };
        let edit = Edit::PointOfInterest(PointOfInterestId(id), Some(Box::new(point)));
        named.apply(edit).unwrap();
    }
    is_repaired(&named, Code::NameUnclear);
    let mut grouped = crossroads();
    for id in [1, 2] {
        let members = [ObjectId::Road(RoadId(1)), ObjectId::Road(RoadId(2))];
        let edit = Edit::Group(GroupId(id), Some(Box::new(Group::new("g", members))));
        grouped.apply(edit).unwrap();
    }
    is_repaired(&grouped, Code::GroupMember);
}

#[test]
fn what_is_decided_at_nodes_is_repaired_by_one_edit() {
    let decided = |rules: JunctionRules| {
        let mut scenario = crossroads();
        let centre = scenario.network().road(RoadId(1)).unwrap().to;
        let node = scenario.network().node(centre).unwrap().clone();
        let edit = Edit::Node(centre, Some(Node { rules, ..node }));
        scenario.apply(edit).unwrap();
        scenario
    };
    let none = JunctionRules::default;
    let restriction = |to| Restriction {
        kind: RestrictionKind::No,
        from: RoadId(1),
        to: RoadId(to),
    };
    let restrictions = vec![restriction(2), restriction(88)];
    let scenario = decided(JunctionRules {
        restrictions,
        ..none()
    });
    is_repaired(&scenario, Code::DanglingRestriction);
    let crossings = vec![
        CrossingRule::over(RoadId(1)),
        CrossingRule::over(RoadId(88)),
    ];
    let scenario = decided(JunctionRules {
        crossings,
        ..none()
    });
    is_repaired(&scenario, Code::DanglingCrossing);
    let lane = |road, lane| RoadLane {
        road: RoadId(road),
        lane,
    };
    let turns = TurnRules {
        add: vec![LaneTurn {
            from: lane(1, 9),
            to: lane(2, 1),
        }],
        remove: Vec::new(),
    };
    is_repaired(
        &decided(JunctionRules { turns, ..none() }),
        Code::DanglingTurn,
    );
    let corner = |road, next, radius| CornerRule {
        road: RoadId(road),
        next: RoadId(next),
        radius,
    };
    let corners = vec![corner(1, 88, 5.0.into())];
    is_repaired(
        &decided(JunctionRules { corners, ..none() }),
        Code::DanglingCorner,
    );
    let internal_roads = vec![RoadId(88)];
    let scenario = decided(JunctionRules {
        internal_roads,
        ..none()
    });
    is_repaired(&scenario, Code::DanglingInternalRoad);
    let major = vec![RoadId(1), RoadId(88)];
    is_repaired(
        &decided(JunctionRules { major, ..none() }),
        Code::DanglingMajor,
    );
    let movement = |road| Movement {
        road: RoadId(road),
        turns: Vec::new(),
    };
    let stages = vec![SignalStage {
        green: vec![movement(1), movement(88)],
        permitted: vec![movement(88)],
        time: 20.0.into(),
        min: None.into(),
        max: None.into(),
        amber: None.into(),
        all_red: None.into(),
    }];
    let plan = Some(SignalPlan {
        stages,
        ..SignalPlan::default()
    });
    is_repaired(
        &decided(JunctionRules { plan, ..none() }),
        Code::DanglingStage,
    );
}

/// Creates one-way streets that lead to two nodes 20 m apart, equally many to each node, and one
/// street that leads away.
fn star(streets: u32) -> Scenario {
    let mut scenario = Scenario::new("star");
    let mut street = |from: DVec2, to: DVec2, back: usize| {
        let style = draw::RoadStyle {
            name: String::new(),
            class: RoadClass::Arterial,
            layer: 0,
            speed_limit: 14.0,
            section: CrossSection::driving(1, back, 3.25),
        };
        let line = ReferenceLine::straight(from, to).unwrap();
        let edit = draw::road(&scenario, &line, &style).unwrap();
        scenario.apply(edit).unwrap();
    };
    let middles = [DVec2::ZERO, DVec2::new(20.0, 0.0)];
    street(middles[0], middles[1], 1);
    for (middle, first) in middles.into_iter().zip([90.0, 270.0f64]) {
        for i in 0..streets {
            let bearing = first + 180.0 * (f64::from(i) + 0.5) / f64::from(streets);
            let from = middle + 600.0 * DVec2::from_angle(bearing.to_radians());
            street(
                from,
                middle,
                usize::from(i == streets / 2 && middle.x > 0.0),
            );
        }
    }
    let node = scenario.network().road(RoadId(1)).unwrap().from;
    let mut ruled = scenario.network().node(node).unwrap().clone();
    ruled.rules.control = Some(Control::Signals);
    scenario.apply(Edit::Node(node, Some(ruled))).unwrap();
    scenario
}

#[test]
fn signals_of_more_stages_than_there_may_be_are_found() {
    let told = |streets: u32| {
        let findings = check(&star(streets)).into_iter();
        let mut of_signals = findings.filter(|finding| finding.message.contains("stages"));
        of_signals
            .next()
            .map(|finding| (finding.code, finding.message))
    };
    assert_eq!(told(24), None);
    let (code, message) = told(28).unwrap();
    assert_eq!(code, Code::TooMuch);
    assert!(
        message.starts_with("the signals here would need 3"),
        "{message}"
    );
    // Such signals cannot exist, because a set of stages has only 32 bits.
    let has_signals = |streets: u32| {
        let layout = junction::layout(star(streets).network(), DrivingSide::Right);
        let mut junctions = layout.junctions.iter();
        junctions.any(|one| junction::Signals::of(one, &junction::Conflicts::of(one)).is_some())
    };
    assert!(has_signals(24) && !has_signals(28));
}

/// A street that forks around an island, into an entry and an exit that meet two other streets at
/// a mini roundabout. `beyond` is the distance between the fork and the roundabout, m.
fn split_arm(beyond: f64, control: Option<Control>) -> Scenario {
    let mut scenario = Scenario::new("split");
    let mut street = |from: DVec2, to: DVec2, back: usize| {
        let style = draw::RoadStyle {
            section: CrossSection::driving(1, back, 3.0),
            ..street("Street")
        };
        let line = ReferenceLine::straight(from, to).unwrap();
        let edit = draw::road(&scenario, &line, &style).unwrap();
        scenario.apply(edit).unwrap();
    };
    let (fork, middle) = (DVec2::new(-beyond, 0.0), DVec2::ZERO);
    let beside = |y: f64| DVec2::new(-0.5 * beyond, y);
    street(DVec2::new(-300.0, 0.0), fork, 1);
    for (from, to) in [(fork, beside(-5.0)), (beside(-5.0), middle)] {
        street(from, to, 0);
    }
    for (from, to) in [(middle, beside(5.0)), (beside(5.0), fork)] {
        street(from, to, 0);
    }
    street(middle, DVec2::new(200.0, 80.0), 1);
    street(middle, DVec2::new(200.0, -80.0), 1);
    let nodes = scenario.network().nodes();
    let mut at_middle = nodes.filter(|(_, node)| node.position().length() < 0.1);
    let (id, node) = at_middle.next().unwrap();
    let (id, mut ruled) = (id, node.clone());
    drop(at_middle);
    ruled.rules.control = control;
    scenario.apply(Edit::Node(id, Some(ruled))).unwrap();
    scenario
}

#[test]
fn split_arms_of_mini_roundabouts_are_found() {
    let told = |beyond: f64, control: Option<Control>| {
        let findings = check(&split_arm(beyond, control)).into_iter();
        findings
            .filter(|finding| finding.code == Code::SplitArm)
            .map(|finding| finding.message)
            .collect::<Vec<_>>()
    };
    let mini = Some(Control::MiniRoundabout);
    let found = told(30.0, mini);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("import them again"), "{found:?}");
    // Entry and exit of a street with a median, and a node of another kind.
    assert_eq!(told(80.0, mini), [""; 0]);
    assert_eq!(told(30.0, None), [""; 0]);
}

#[test]
fn lanes_that_overlap_without_a_junction_are_found() {
    let overlaps = |from: DVec2, to: DVec2, layer: i8| {
        let mut scenario = Scenario::new("overlap");
        draw(
            &mut scenario,
            DVec2::ZERO,
            DVec2::new(200.0, 0.0),
            &street("Long Street"),
        );
        // The road is drawn on the layer above, so that no junction is created, and then moved to
        // the lower layer.
        let above = draw::RoadStyle {
            layer: 1,
            ..street("Short Street")
        };
        draw(&mut scenario, from, to, &above);
        let road = Road {
            layer,
            ..scenario.network().road(RoadId(2)).unwrap().clone()
        };
        let edit = Edit::Road(RoadId(2), Some(Box::new(road)));
        scenario.apply(edit).unwrap();
        let found = check(&scenario).into_iter();
        found
            .filter(|finding| finding.code == Code::LanesOverlap)
            .collect::<Vec<_>>()
    };
    let beside = |y: f64| (DVec2::new(40.0, y), DVec2::new(120.0, y));
    let (from, to) = beside(2.0);
    let found = overlaps(from, to, 0);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].object, ObjectId::Road(RoadId(1)));
    assert!(
        (45.0..115.0).contains(&found[0].place.x),
        "{:?}",
        found[0].place
    );
    // Of both lanes of the long street, the one that is covered farther counts.
    for y in [-2.0, 2.0] {
        let (from, to) = beside(y);
        let found = overlaps(from, to, 0);
        assert!(found[0].message.contains("by up to 2.0 m"), "{found:?}");
    }
    // A bridge is not an overlap, and neither are roads 6.5 m wide that run side by side.
    assert_eq!(overlaps(from, to, 1), []);
    let (from, to) = beside(6.3);
    assert_eq!(overlaps(from, to, 0), []);
    let (from, to) = beside(6.1);
    assert_eq!(overlaps(from, to, 0).len(), 1);
    // The roads cross without a common node.
    let (from, to) = (DVec2::new(100.0, -50.0), DVec2::new(100.0, 50.0));
    assert_eq!(overlaps(from, to, 0).len(), 1);
    assert_eq!(overlaps(from, to, 1), []);
}

#[test]
fn lanes_may_overlap_at_the_junction_of_their_roads() {
    let mut scenario = crossroads();
    draw(
        &mut scenario,
        DVec2::ZERO,
        DVec2::new(100.0, 40.0),
        &street("Acute Street"),
    );
    assert!(!codes(&scenario).contains(&Code::LanesOverlap));
}

#[test]
fn levels_that_cannot_move_a_body_are_found() {
    let found = |kind: VehicleType, level: DynamicsLevel| {
        let mut scenario = with_agent(|agent| {
            agent.dynamics = Some(level);
        });
        let vehicle = scenario.agents()[&AgentId(1)].vehicle.clone();
        let edit = Edit::VehicleType(vehicle, Some(Box::new(kind)));
        scenario.apply(edit).unwrap();
        let found = check(&scenario).into_iter();
        let found = found.filter(|finding| finding.code == Code::WrongLevel);
        found.map(|finding| finding.message).collect::<Vec<_>>()
    };
    for level in DynamicsLevel::FOR_VEHICLES {
        assert_eq!(found(VehicleType::car(), level), Vec::<String>::new());
        let person = found(VehicleType::person(), level);
        assert!(person[0].contains("use level \"walker\""), "{person:?}");
    }
    let car = found(VehicleType::car(), DynamicsLevel::Walker);
    assert!(car[0].contains("moves characters only"), "{car:?}");
    assert!(found(VehicleType::person(), DynamicsLevel::Walker).is_empty());
}

#[test]
fn a_character_is_a_disc() {
    let refused = |change: &dyn Fn(&mut VehicleType)| {
        let mut person = VehicleType::person();
        change(&mut person);
        let edit = Edit::VehicleType("person".into(), Some(Box::new(person)));
        crossroads().apply(edit).unwrap_err().to_string()
    };
    let error = refused(&|person| person.width = 0.6.into());
    assert!(error.contains("a character is a disc"), "{error}");
    let error = refused(&|person| person.rear_overhang = 0.1.into());
    assert!(error.contains("half of length"), "{error}");
    let text = serde_json::to_string(&VehicleType::person()).unwrap();
    assert!(text.contains("\"body\":\"character\""), "{text}");
    let read: VehicleType = serde_json::from_str(&text).unwrap();
    assert_eq!(read, VehicleType::person());
    let car = serde_json::to_string(&VehicleType::car()).unwrap();
    assert!(!car.contains("\"body\"") && !car.contains("gaits"), "{car}");
}
