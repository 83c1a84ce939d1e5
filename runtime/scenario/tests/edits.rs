//! Undoes random sequences of edits.

use crate::common::*;
use proptest::prelude::*;
use roadwright_geometry::{DVec2, HeightField, ReferenceLine};
use roadwright_scenario::file::to_text;
use roadwright_scenario::operation::draw;
use roadwright_scenario::*;

/// Returns a random edit, selected by numbers.
fn edit_for(scenario: &Scenario, kind: u8, a: f64, b: f64, n: u32) -> Option<Edit> {
    let id = n % 4 + 1;
    let point = DVec2::new(a, b);
    Some(match kind % 22 {
        0 => Edit::Node(NodeId(100 + id), Some(Node::at(point))),
        1 => Edit::Node(NodeId(100 + id), None),
        2 => {
            let line = ReferenceLine::straight(DVec2::new(a, -90.0), DVec2::new(b, 90.0)).ok()?;
            draw::road(scenario, &line, &street("drawn")).ok()?
        }
        3 => Edit::Road(RoadId(id), None),
        4 => draw::split(scenario, RoadId(id), a.abs() + 2.0).ok()?,
        5 => Edit::Obstacle(ObstacleId(id), Some(Box::new(crate_at(a, b)))),
        6 => Edit::Obstacle(ObstacleId(id), None),
        7 => {
            let agent = Agent {
                start: Place::lane(RoadId(id), -1, a.abs()),
                ..west_to_east()
            };
            Edit::Agent(AgentId(id), Some(Box::new(agent)))
        }
        8 => Edit::Agent(AgentId(id), None),
        9 => Edit::Settings(Settings {
            seed: u64::from(n),
            ..scenario.settings()
        }),
        10 => {
            let level = HeightField::level(DVec2::ZERO, DVec2::splat(30.0), 10.0).ok()?;
            Edit::Terrain(Some(Box::new(level)))
        }
        11 => Edit::TerrainSamples(vec![(n as usize % 20, a), (n as usize % 7, b)]),
        12 => Edit::Stack(
            "idm".into(),
            n.is_multiple_of(2)
                .then(|| Box::new(Stack::with_controller("pursuit"))),
        ),
        14 => Edit::Land(LandId(id), Some(Box::new(pond_at(a, b)))),
        15 => Edit::Land(LandId(id), None),
        13 => {
            let mut road = scenario.network().road(RoadId(id))?.clone();
            road.access = RoadAccess::ALL[n as usize % RoadAccess::ALL.len()];
            Edit::Road(RoadId(id), Some(Box::new(road)))
        }
        16 => {
            // The rules are those of the junction in the middle, or of any node at the end of a
            // road.
            let nodes = scenario.network().nodes();
            let (node, old) = nodes.max_by_key(|(id, _)| scenario.network().ends_at(*id).len())?;
            let rules = rules_for(scenario, node, a, b, n);
            Edit::Node(
                node,
                Some(Node {
                    rules,
                    ..old.clone()
                }),
            )
        }
        17 => draw::roundabout(scenario, point, 8.0 + a.abs(), 0).ok()?,
        18 => {
            let nodes: Vec<NodeId> = scenario.network().nodes().map(|(id, _)| id).collect();
            operation::turn_lanes(scenario, nodes[n as usize % nodes.len()], 5.0 + a.abs()).ok()?
        }
        19 => {
            let nodes: Vec<NodeId> = scenario.network().nodes().map(|(id, _)| id).collect();
            let node = nodes[n as usize % nodes.len()];
            match n.is_multiple_of(3) {
                true => operation::parted_junctions(scenario, node)?,
                false => operation::merged_junctions(scenario, &[node].into()).ok()?,
            }
        }
        20 => {
            let nodes = scenario.network().nodes();
            let (node, _) = nodes.max_by_key(|(id, _)| scenario.network().ends_at(*id).len())?;
            let ends = scenario.network().ends_at(node);
            let road = |i: usize| ends[(n as usize / 7 + i) % ends.len()].0;
            let connections = [(road(0), road(1)), (road(1), road(0)), (road(0), road(2))];
            let mut lanes = connections
                .into_iter()
                .map(|(from, to)| operation::slip_lane(scenario, node, from, to));
            lanes.find_map(Result::ok)?
        }
        _ => Edit::Batch(vec![
            Edit::Node(NodeId(200 + id), Some(Node::at(point))),
            Edit::Flow(
                FlowId(id),
                Some(Box::new(Flow {
                    vehicle: "car".into(),
                    stack: "fuzzy_driver".into(),
                    dynamics: None,
                    origin: Place::lane(RoadId(id), -1, 3.0),
                    destination: Place::lane(RoadId(2), -1, 50.0),
                    rate_per_hour: a.abs().into(),
                    begin: 0.0.into(),
                    end: 600.0.into(),
                })),
            ),
        ]),
    })
}

/// Returns rules of a junction in which every value is set.
fn rules_for(scenario: &Scenario, node: NodeId, a: f64, b: f64, n: u32) -> JunctionRules {
    let ends = scenario.network().ends_at(node);
    let road = |i: u32| ends[(n / 7 + i) as usize % ends.len().max(1)].0;
    if ends.is_empty() {
        return JunctionRules::default();
    }
    let lane = |road, lane| RoadLane { road, lane };
    let turn = LaneTurn {
        from: lane(road(0), 1),
        to: lane(road(1), -1),
    };
    let mut rules = JunctionRules {
        control: Some(Control::ALL[n as usize % Control::ALL.len()]),
        major: vec![road(0)],
        restrictions: vec![Restriction {
            kind: RestrictionKind::No,
            from: road(1),
            to: road(2),
        }],
        plan: n.is_multiple_of(3).then(|| SignalPlan {
            mode: SignalMode::Fixed,
            cycle: (Some(60.0 + a.abs())).into(),
            offset: b.abs().into(),
            protected_turns: n.is_multiple_of(2),
            ..SignalPlan::default()
        }),
        crossings: vec![CrossingRule::over(road(0))],
        ..JunctionRules::default()
    };
    rules.turns.add.push(turn);
    rules.set_corner(road(0), road(1), Some(1.0 + a.abs() / 10.0));
    rules
}

fn steps() -> impl Strategy<Value = Vec<(u8, f64, f64, u32)>> {
    proptest::collection::vec(
        (any::<u8>(), -80.0..80.0f64, -80.0..80.0f64, any::<u32>()),
        1..25,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn undo_restores_the_first_bytes_and_redo_the_last(steps in steps()) {
        let mut scenario = crossroads();
        let first = to_text(&scenario);
        let mut history = History::default();
        for (kind, a, b, n) in steps {
            if let Some(edit) = edit_for(&scenario, kind, a, b, n) {
                let before = to_text(&scenario);
                if history.apply(&mut scenario, "edit", edit).is_err() {
                    prop_assert_eq!(to_text(&scenario), before, "a refused edit changes nothing");
                }
            }
        }
        let last = to_text(&scenario);
        while history.undo(&mut scenario) {}
        prop_assert_eq!(to_text(&scenario), first);
        while history.redo(&mut scenario) {}
        prop_assert_eq!(to_text(&scenario), last);
    }

    #[test]
    fn edited_scenarios_survive_a_file(steps in steps()) {
        let mut scenario = crossroads();
        for (kind, a, b, n) in steps {
            if let Some(edit) = edit_for(&scenario, kind, a, b, n) {
                let _ = scenario.apply(edit);
            }
        }
        let text = to_text(&scenario);
        let back = file::from_text(&text).unwrap();
        prop_assert_eq!(to_text(&back), text);
        prop_assert!(back == scenario);
    }
}

#[test]
fn a_gesture_is_one_step() {
    let mut scenario = crossroads();
    let mut history = History::default();
    history.begin("drag crate");
    for i in 0..30 {
        let edit = Edit::Obstacle(
            ObstacleId(1),
            Some(Box::new(crate_at(20.0 + f64::from(i), 20.0))),
        );
        history.apply(&mut scenario, "ignored", edit).unwrap();
    }
    history.end();
    assert_eq!(history.undo_labels().collect::<Vec<_>>(), ["drag crate"]);
    assert!(history.undo(&mut scenario) && scenario.obstacles().is_empty());
    assert!(history.redo(&mut scenario) && scenario.obstacles().len() == 1);
}

#[test]
fn an_aborted_gesture_leaves_nothing() {
    let mut scenario = crossroads();
    let before = to_text(&scenario);
    let mut history = History::default();
    history.begin("drag");
    let edit = Edit::Obstacle(ObstacleId(1), Some(Box::new(crate_at(1.0, 2.0))));
    history.apply(&mut scenario, "", edit).unwrap();
    history.abort(&mut scenario);
    assert_eq!(to_text(&scenario), before);
    assert_eq!(history.undo_labels().count(), 0);
}

#[test]
fn what_is_in_use_cannot_be_deleted() {
    let mut scenario = crossroads();
    scenario
        .apply(Edit::Agent(AgentId(1), Some(Box::new(west_to_east()))))
        .unwrap();
    let error = |scenario: &mut Scenario, edit| scenario.apply(edit).unwrap_err().to_string();
    assert_eq!(
        error(&mut scenario, Edit::Road(RoadId(1), None)),
        "cannot delete road 1: agent 1 uses it"
    );
    assert!(error(&mut scenario, Edit::VehicleType("car".into(), None)).contains("agent 1"));
    assert!(error(&mut scenario, Edit::Stack("idm".into(), None)).contains("agent 1"));
    assert!(error(&mut scenario, Edit::Node(NodeId(1), None)).contains("ends there"));
    assert!(error(&mut scenario, Edit::Road(RoadId(77), None)).contains("does not exist"));
}

#[test]
fn crossing_a_road_makes_a_junction() {
    let scenario = crossroads();
    assert_eq!(
        (
            scenario.network().road_count(),
            scenario.network().node_count()
        ),
        (4, 5)
    );
    let side = scenario.about().driving_side;
    let layout = junction::layout(scenario.network(), side);
    let crossing: Vec<_> = layout
        .junctions
        .iter()
        .filter(|j| j.is_crossing())
        .collect();
    assert_eq!(crossing.len(), 1);
    assert!(crossing[0].centre.length() < 1e-9);
    assert_eq!(crossing[0].paths.len(), 12);
}

#[test]
fn ending_on_a_road_makes_a_junction_and_moves_what_stands_there() {
    let mut scenario = Scenario::new("t");
    draw(&mut scenario, (0.0, 0.0), (200.0, 0.0), &street("main"));
    let mut agent = west_to_east();
    agent.start = Place::lane(RoadId(1), -1, 150.0);
    agent.destination = Some(Place::lane(RoadId(1), -1, 50.0));
    scenario
        .apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
        .unwrap();
    let place = scenario
        .pose_of(&scenario.agents()[&AgentId(1)].start)
        .unwrap();
    draw(&mut scenario, (100.0, 80.0), (100.0, 0.2), &street("side"));
    assert_eq!(scenario.network().road_count(), 3);
    let moved = &scenario.agents()[&AgentId(1)];
    assert!(matches!(moved.start, Place::Lane(at) if at.road != RoadId(1) && at.s == 50.0));
    let after = scenario.pose_of(&moved.start).unwrap();
    assert!((after.position - place.position).length() < 1e-9);
    assert!(
        check::check(&scenario)
            .iter()
            .all(|f| f.code != check::Code::JointGap)
    );
}

#[test]
fn roads_on_other_layers_are_passed_over() {
    let mut scenario = Scenario::new("bridge");
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &street("below"));
    let bridge = draw::RoadStyle {
        layer: 1,
        ..street("above")
    };
    draw(&mut scenario, (0.0, -100.0), (0.0, 100.0), &bridge);
    assert_eq!(scenario.network().road_count(), 2);
}

#[test]
fn short_roads_are_taken_into_one_junction() {
    // Two T-junctions 6 m apart on a main street.
    let mut scenario = Scenario::new("dog-leg");
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &street("main"));
    draw(&mut scenario, (-3.0, 0.0), (-3.0, 100.0), &street("north"));
    draw(&mut scenario, (3.0, 0.0), (3.0, -100.0), &street("south"));
    let layout = junction::layout(scenario.network(), scenario.about().driving_side);
    assert_eq!(layout.internal.len(), 1);
    let merged = layout
        .junctions
        .iter()
        .find(|j| j.nodes.len() == 2)
        .unwrap();
    assert_eq!((merged.arms.len(), merged.paths.len()), (4, 12));
    for (id, trim) in &layout.trims {
        let length = scenario.network().road(*id).unwrap().length();
        assert!(trim.start + trim.end <= length, "{id}");
    }
}

#[test]
fn an_agent_on_two_cut_roads_follows_both() {
    // The changes of both cut roads have to be kept, rather than only those of the road that was
    // cut last.
    let mut scenario = Scenario::new("two");
    draw(&mut scenario, (0.0, 0.0), (200.0, 0.0), &street("south"));
    draw(&mut scenario, (0.0, 50.0), (200.0, 50.0), &street("north"));
    let mut agent = west_to_east();
    agent.start = Place::lane(RoadId(1), -1, 150.0);
    agent.destination = Some(Place::lane(RoadId(2), -1, 160.0));
    scenario
        .apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
        .unwrap();
    let places = |scenario: &Scenario| {
        let agent = &scenario.agents()[&AgentId(1)];
        [agent.start, agent.destination.unwrap()].map(|p| scenario.pose_of(&p).unwrap().position)
    };
    let before = places(&scenario);
    draw(
        &mut scenario,
        (100.0, -50.0),
        (100.0, 100.0),
        &street("across"),
    );
    let after = places(&scenario);
    assert!((before[0] - after[0]).length() < 1e-9 && (before[1] - after[1]).length() < 1e-9);
}

#[test]
fn numbers_that_no_file_may_hold_are_refused() {
    let mut scenario = crossroads();
    let mut refused = |edit| scenario.apply(edit).unwrap_err().to_string();
    assert!(
        refused(Edit::Node(
            NodeId(9),
            Some(Node::at(DVec2::new(f64::NAN, 0.0)))
        ))
        .contains("node 9")
    );
    assert!(
        refused(Edit::Node(NodeId(u32::MAX), Some(Node::at(DVec2::ZERO))))
            .contains("ids must not exceed")
    );
    let settings = Settings {
        dt: 0.0.into(),
        ..Settings::default()
    };
    assert!(refused(Edit::Settings(settings)).contains("expected 0.0001 to 1 s"));
    let wide = |width: Poly3| {
        let mut road = crossroads().network().road(RoadId(1)).unwrap().clone();
        road.lane_sections[0].lanes[0].width = vec![width];
        Edit::Road(RoadId(1), Some(Box::new(road)))
    };
    assert!(
        refused(wide(Poly3 {
            a: 3.0.into(),
            d: 1.0.into(),
            ..Poly3::default()
        }))
        .contains("width is not between")
    );
    assert!(
        refused(wide(Poly3 {
            s: 5.0.into(),
            a: 3.0.into(),
            ..Poly3::default()
        }))
        .contains("start at s = 0")
    );
}
