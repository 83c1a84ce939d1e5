//! Routes on networks that are drawn for the test.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use roadwright_agent::{PlannerView, Step};
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_planning::RoutePlanner;
use roadwright_plugin_api::{PlannerInput, PlannerOutput};
use roadwright_scenario::junction::layout;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, Reachability};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::*;

/// Creates a grid of streets, 100 m apart, with `lanes` lanes in each direction.
fn grid(count: i32, lanes: usize) -> (Scenario, LaneGraph) {
    let mut scenario = Scenario::new("grid");
    let style = RoadStyle {
        name: "street".into(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 10.0,
        section: CrossSection::driving(lanes, lanes, 3.25),
    };
    let far = f64::from(count) * 100.0;
    let mut draw = |a: (f64, f64), b: (f64, f64)| {
        let line = ReferenceLine::straight(DVec2::from(a), DVec2::from(b)).unwrap();
        let edit = draw::road(&scenario, &line, &style).unwrap();
        scenario.apply(edit).unwrap();
    };
    for i in 1..count {
        let at = f64::from(i) * 100.0;
        draw((0.0, at), (far, at));
        draw((at, 0.0), (at, far));
    }
    let graph = graph_of(&scenario);
    (scenario, graph)
}

fn graph_of(scenario: &Scenario) -> LaneGraph {
    let layout = layout(scenario.network(), scenario.about().driving_side);
    LaneGraph::new(scenario, &layout)
}

fn plan(graph: &LaneGraph, delays: &[f32], input: PlannerInput) -> (Vec<LaneletIndex>, f64) {
    let mut routes = Vec::new();
    let mut outputs = [PlannerOutput::default()];
    let view = PlannerView { graph, delays };
    RoutePlanner::entry()
        .make()
        .step(&Step::default(), &view, &[input], &mut routes, &mut outputs);
    let range = outputs[0].start as usize..(outputs[0].start + outputs[0].count) as usize;
    (routes[range].to_vec(), outputs[0].travel_time)
}

/// Position of the goal on its lane, m. It leaves enough room to change to that lane.
const GOAL_S: f64 = 20.0;

fn ask(lanelet: LaneletIndex, goal: LaneletIndex) -> PlannerInput {
    PlannerInput {
        lanelet: lanelet.number(),
        s: 0.0,
        goal_lanelet: goal.number(),
        goal_s: GOAL_S,
        bus: 0,
        may_change_first: 1,
    }
}

/// Returns the shortest travel times to all lanelets by relaxation until nothing changes (Bellman and Ford).
/// For each lanelet, the shorter of the times on the outward and the inward part is used.
fn all_times(graph: &LaneGraph, start: LaneletIndex, delays: &[f32]) -> Vec<f64> {
    let strictness = |id: LaneletIndex| match graph.lanelet(id).road_access {
        RoadAccess::All => 0,
        RoadAccess::Destination => 1,
        RoadAccess::No => 3,
        _ => 2,
    };
    let mut out = vec![f64::INFINITY; graph.lanelets().len()];
    out[start.index()] = 0.0;
    relax(graph, delays, &mut out, |from, to| {
        strictness(to) <= strictness(from)
    });
    // An inward part may begin wherever the outward part has been.
    let mut inward = out.clone();
    relax(graph, delays, &mut inward, |from, to| {
        strictness(to) >= strictness(from) && strictness(to) < 3
    });
    out.iter().zip(&inward).map(|(a, b)| a.min(*b)).collect()
}

/// Propagates times to all lanelets onto which a vehicle may drive.
fn relax(
    graph: &LaneGraph,
    delays: &[f32],
    times: &mut [f64],
    may: impl Fn(LaneletIndex, LaneletIndex) -> bool,
) {
    loop {
        let mut changed = false;
        for (id, lanelet) in graph.lanelets().iter().enumerate() {
            let turning = match lanelet.kind {
                lane_graph::LaneletKind::Connection { turn, .. } => match turn {
                    junction::Turn::Straight => 0.0,
                    junction::Turn::UTurn => 6.0,
                    _ => 1.5,
                },
                lane_graph::LaneletKind::Lane { .. } => 0.0,
            };
            let delay = delays.get(id).copied().map_or(0.0, f64::from);
            let through = times[id] + lanelet.free_time(lanelet.length()) + turning + delay;
            let side = times[id] + 3.0 + if lanelet.length() < 25.0 { 10.0 } else { 0.0 };
            let next = graph
                .successors(LaneletIndex::from_index(id))
                .iter()
                .map(|&n| (n, through));
            let sides = [lanelet.left, lanelet.right].map(|n| (n, side));
            for (n, time) in next.chain(sides).filter(|(n, _)| {
                *n != lane_graph::NO_LANELET && may(LaneletIndex::from_index(id), *n)
            }) {
                if time < times[n.index()] - 1e-12 {
                    times[n.index()] = time;
                    changed = true;
                }
            }
        }
        if !changed {
            return;
        }
    }
}

#[test]
fn routes_are_the_fastest_ones() {
    let (_, graph) = grid(4, 2);
    hold_to_the_fastest(&graph, &[]);
}

#[test]
fn routes_through_traffic_are_the_fastest_ones() {
    let (_, graph) = grid(5, 2);
    let mut stream = Stream::new(7, "delays", 0);
    let mut delay = || (stream.next_in(-60.0, 30.0).max(0.0)) as f32;
    let delays: Vec<f32> = graph.lanelets().iter().map(|_| delay()).collect();
    hold_to_the_fastest(&graph, &delays);
}

#[test]
fn routes_past_roads_that_are_not_for_all_are_the_fastest_ones() {
    let (scenario, _) = grid(5, 2);
    let mut stream = Stream::new(3, "access", 0);
    let accesses: Vec<RoadAccess> = RoadAccess::ALL.into();
    let (mut reached, mut closed) = (0, 0);
    for _ in 0..4 {
        let mut town = scenario.clone();
        for (id, road) in scenario.network().roads() {
            let mut road = road.clone();
            // Half of the streets are unrestricted.
            let at = stream.next_in(-7.0, 7.0).max(0.0) as usize;
            road.access = accesses[at];
            town.apply(Edit::Road(id, Some(Box::new(road)))).unwrap();
        }
        let graph = graph_of(&town);
        let counts = hold_to_the_fastest(&graph, &[]);
        (reached, closed) = (reached + counts.0, closed + counts.1);
    }
    // Both cases must be frequent. Otherwise the comparison would be meaningless.
    assert!(reached > 100 && closed > 100, "{reached} {closed}");
}

#[test]
fn a_large_batch_gets_the_routes_of_single_questions() {
    let (_, graph) = grid(5, 2);
    let mut stream = Stream::new(9, "batch", 0);
    let count = graph.lanelets().len();
    let mut lanelet = || LaneletIndex::from_index(stream.next_index(count));
    // Enough for several threads.
    let inputs: Vec<PlannerInput> = (0..700).map(|_| ask(lanelet(), lanelet())).collect();
    // Routes that are already in the list are kept.
    let mut routes = vec![LaneletIndex::new(7)];
    let mut outputs = vec![PlannerOutput::default(); inputs.len()];
    let view = PlannerView {
        graph: &graph,
        delays: &[],
    };
    let planner = RoutePlanner::entry().make();
    planner.step(&Step::default(), &view, &inputs, &mut routes, &mut outputs);
    assert_eq!(routes[0], LaneletIndex::new(7));
    for (input, output) in inputs.iter().zip(&outputs) {
        let range = output.start as usize..(output.start + output.count) as usize;
        let (route, time) = plan(&graph, &[], *input);
        assert_eq!(routes[range], route);
        assert_eq!(output.travel_time.to_bits(), time.to_bits());
    }
    assert!(outputs.iter().filter(|output| output.count > 0).count() > 600);
}

#[test]
fn routes_across_lines_that_must_not_be_crossed_are_the_fastest_ones() {
    let (scenario, before) = grid(4, 3);
    let mut stream = Stream::new(5, "lines", 0);
    let mut lanes = 0;
    for _ in 0..2 {
        let mut town = scenario.clone();
        for (id, road) in scenario.network().roads() {
            let mut road = road.clone();
            for lane in &mut road.lane_sections[0].lanes {
                lane.lane_change = LaneChange::ALL[stream.next_index(4)];
                lanes += usize::from(lane.lane_change != LaneChange::Both);
            }
            town.apply(Edit::Road(id, Some(Box::new(road)))).unwrap();
        }
        let graph = graph_of(&town);
        assert_eq!(graph.lanelets().len(), before.lanelets().len());
        let (reached, _) = hold_to_the_fastest(&graph, &[]);
        assert!(reached > 100, "{reached}");
        // The backward search from a goal agrees with the forward search.
        let class = VehicleClass::from_number(0);
        let all = LaneletIndex::up_to(graph.lanelets().len());
        for goal in all.clone().step_by(41) {
            let back = graph.reaching(goal, class);
            for start in all.clone().step_by(37) {
                let ahead = graph.reachable_from(start, class);
                assert_eq!(back[start.index()], ahead[goal.index()], "{start} {goal}");
            }
        }
    }
    assert!(lanes > 100, "{lanes}");
}

/// Returns the shortest travel times to all lanelets when the history matters, by relaxing each pair of a
/// lanelet and the via ways followed.
fn times_along_ways(graph: &LaneGraph, start: LaneletIndex) -> Vec<f64> {
    let mut best = std::collections::BTreeMap::new();
    let mut open = std::collections::VecDeque::new();
    let begun = graph.followed_on(start);
    best.insert((start, begun.clone()), 0.0);
    open.push_back((start, begun));
    while let Some((id, followed)) = open.pop_front() {
        let time = best[&(id, followed.clone())];
        let lanelet = graph.lanelet(id);
        let turning = match lanelet.kind {
            lane_graph::LaneletKind::Connection { turn, .. } => match turn {
                junction::Turn::Straight => 0.0,
                junction::Turn::UTurn => 6.0,
                _ => 1.5,
            },
            lane_graph::LaneletKind::Lane { .. } => 0.0,
        };
        let through = time + lanelet.free_time(lanelet.length()) + turning;
        let side = time + 3.0 + if lanelet.length() < 25.0 { 10.0 } else { 0.0 };
        let next = graph.successors(id).iter().map(|&n| (n, through));
        let sides = [lanelet.left, lanelet.right].map(|n| (n, side));
        for (next, time) in next.chain(sides) {
            if next == lane_graph::NO_LANELET {
                continue;
            }
            let Some(after) = graph.followed_onto(&followed, id, next) else {
                continue;
            };
            let known = best.entry((next, after.clone())).or_insert(f64::INFINITY);
            if time < *known - 1e-12 {
                *known = time;
                open.push_back((next, after));
            }
        }
    }
    let mut times = vec![f64::INFINITY; graph.lanelets().len()];
    for ((id, _), time) in best {
        times[id.index()] = times[id.index()].min(time);
    }
    times
}

#[test]
fn routes_past_restrictions_by_way_of_roads_are_the_fastest_ones() {
    let (scenario, plain) = grid(5, 2);
    let network = scenario.network();
    let mut stream = Stream::new(11, "ways", 0);
    let nodes: Vec<NodeId> = network
        .nodes()
        .map(|(id, _)| id)
        .filter(|&id| network.ends_at(id).len() == 4)
        .collect();
    let (mut town, mut vias) = (scenario.clone(), std::collections::BTreeSet::new());
    let mut pick = |at: NodeId, but: RoadId| {
        let ends = network.ends_at(at);
        let all: Vec<RoadId> = ends.iter().map(|(id, _)| *id).collect();
        let others: Vec<RoadId> = all.into_iter().filter(|id| *id != but).collect();
        others[stream.next_index(others.len())]
    };
    for i in 0..24 {
        let at = nodes[i % nodes.len()];
        let from = pick(at, RoadId(0));
        let via = pick(at, from);
        let road = network.road(via).unwrap();
        let far = if road.from == at { road.to } else { road.from };
        if network.ends_at(far).len() < 4 {
            continue;
        }
        let to = pick(far, via);
        let mut node = town.network().node(at).unwrap().clone();
        node.rules.via_restrictions.push(ViaRestriction {
            kind: [RestrictionKind::No, RestrictionKind::Only][i % 3 / 2],
            from,
            via: vec![via],
            to,
        });
        vias.insert(via);
        town.apply(Edit::Node(at, Some(node))).unwrap();
    }
    let graph = graph_of(&town);
    assert!(graph.via_rules().len() > 8, "{}", graph.via_rules().len());
    assert_eq!(graph.lanelets(), plain.lanelets());
    let (mut reached, mut longer) = (0, 0);
    let mut reachability = Reachability::new(&graph, VehicleClass::Car);
    for start in graph.indices().step_by(5) {
        let road = graph.lanelet(start).road();
        if road.is_none_or(|road| vias.contains(&road)) {
            continue;
        }
        let (times, before) = (
            times_along_ways(&graph, start),
            all_times(&plain, start, &[]),
        );
        for goal in graph.indices().step_by(3) {
            if goal == start || graph.lanelet(goal).is_connection() {
                continue;
            }
            let (route, time) = plan(&graph, &[], ask(start, goal));
            assert_eq!(route.is_empty(), times[goal.index()].is_infinite());
            assert_eq!(reachability.leads(start, goal), !route.is_empty());
            if route.is_empty() {
                continue;
            }
            let expected = times[goal.index()] + graph.lanelet(goal).free_time(GOAL_S);
            assert!(
                (time - expected).abs() < 1e-9,
                "{start} to {goal}: {time} {expected}"
            );
            assert!(
                graph.keeps_via_rules(&route),
                "{start} to {goal}: {route:?}"
            );
            reached += 1;
            if times[goal.index()] > before[goal.index()] + 1e-9 {
                let (shorter, _) = plan(&plain, &[], ask(start, goal));
                // The route that ignores restrictions violates one of them.
                assert!(!graph.keeps_via_rules(&shorter), "{start} to {goal}");
                longer += 1;
            }
        }
    }
    assert!(reached > 500 && longer > 20, "{reached} {longer}");
}

#[test]
fn who_is_planned_anew_on_the_way_keeps_it_too_and_nobody_is_left_without_a_route() {
    let (scenario, _) = grid(4, 1);
    let network = scenario.network();
    let at = network
        .nodes()
        .map(|(id, _)| id)
        .find(|&id| network.ends_at(id).len() == 4)
        .unwrap();
    let ends = network.ends_at(at);
    let (from, via) = (ends[0].0, ends[2].0);
    let road = network.road(via).unwrap();
    let far = if road.from == at { road.to } else { road.from };
    let exits: Vec<RoadId> = network.ends_at(far).iter().map(|(id, _)| *id).collect();
    let with = |rules: &[(RestrictionKind, RoadId)]| {
        let mut town = scenario.clone();
        let mut node = network.node(at).unwrap().clone();
        let rules = rules.iter().map(|&(kind, to)| ViaRestriction {
            kind,
            from,
            via: vec![via],
            to,
        });
        node.rules.via_restrictions = rules.collect();
        town.apply(Edit::Node(at, Some(node))).unwrap();
        graph_of(&town)
    };
    let to = *exits.iter().find(|id| **id != via).unwrap();
    let leads = |graph: &LaneGraph, start: LaneletIndex| {
        let after = graph
            .successors(start)
            .iter()
            .map(|&id| graph.successors(id)[0]);
        let mut after = after.filter(|&id| graph.lanelet(id).road() == Some(to));
        after.next()
    };
    let plain = with(&[]);
    // The lane of `via` that leads to `to`, and the lane of `to` that it leads to.
    let on_via = plain.lanes_of(via).map(|(_, ids)| ids[0]);
    let (start, goal) = on_via
        .filter_map(|id| Some((id, leads(&plain, id)?)))
        .next()
        .unwrap();
    let (direct, _) = plan(&plain, &[], ask(start, goal));
    assert_eq!(direct.len(), 3);
    let forbidden = with(&[(RestrictionKind::No, to)]);
    let (around, _) = plan(&forbidden, &[], ask(start, goal));
    assert!(around.len() > 3, "{around:?}");
    // If all continuations are forbidden, the vehicle cannot have come from `from`.
    let all: Vec<_> = exits.iter().map(|&to| (RestrictionKind::No, to)).collect();
    let (route, _) = plan(&with(&all), &[], ask(start, goal));
    assert_eq!(route, direct);
}

/// Creates a street with two side streets.
///
/// ```text
///              C         D
///   0 ---A---- 1 ---V--- 2 ---B--- 3        not from A by way of V into B
/// ```
fn side_streets() -> (LaneGraph, [RoadId; 4]) {
    let mut scenario = Scenario::new("side streets");
    let style = RoadStyle {
        name: "street".into(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 10.0,
        section: CrossSection::driving(1, 1, 3.25),
    };
    for (a, b) in [
        ((0.0, 0.0), (300.0, 0.0)),
        ((100.0, 0.0), (100.0, 100.0)),
        ((200.0, 0.0), (200.0, 100.0)),
    ] {
        let line = ReferenceLine::straight(DVec2::from(a), DVec2::from(b)).unwrap();
        let edit = draw::road(&scenario, &line, &style).unwrap();
        scenario.apply(edit).unwrap();
    }
    let at = |x: f64, y: f64| {
        let mut roads = scenario.network().roads();
        let middle = |road: &Road| road.reference_line.pose(0.5 * road.length()).position;
        let near = |road: &Road| (middle(road) - DVec2::new(x, y)).length() < 1.0;
        roads.find(|(_, road)| near(road)).unwrap().0
    };
    let [from, via, to, side] =
        [(50.0, 0.0), (150.0, 0.0), (250.0, 0.0), (100.0, 50.0)].map(|(x, y)| at(x, y));
    let is_at = |node: &Node| (node.position() - DVec2::new(100.0, 0.0)).length() < 0.1;
    let (node, _) = scenario
        .network()
        .nodes()
        .find(|(_, node)| is_at(node))
        .unwrap();
    let mut changed = scenario.network().node(node).unwrap().clone();
    changed.rules.via_restrictions.push(ViaRestriction {
        kind: RestrictionKind::No,
        from,
        via: vec![via],
        to,
    });
    scenario.apply(Edit::Node(node, Some(changed))).unwrap();
    (graph_of(&scenario), [from, via, to, side])
}

#[test]
fn a_restriction_over_a_road_also_decides_whether_a_trip_is_possible() {
    let (graph, [from, via, to, side]) = side_streets();
    let mut reachability = Reachability::new(&graph, VehicleClass::Car);
    let mut leads = |start: RoadId| {
        let lanes = |road: RoadId| {
            graph
                .numbered()
                .filter(move |(_, one)| one.road() == Some(road))
        };
        let mut found = false;
        for (start, _) in lanes(start) {
            for (goal, _) in lanes(to) {
                let (route, _) = plan(&graph, &[], ask(start, goal));
                let leads = reachability.leads(start, goal);
                assert_eq!(leads, !route.is_empty(), "{start} to {goal}");
                assert_eq!(
                    leads,
                    graph.reaching(goal, VehicleClass::Car)[start.index()]
                );
                let straight = reachability.leads_straight_on(start, goal);
                assert_eq!(straight, leads, "there is one lane");
                found |= leads;
            }
        }
        found
    };
    assert!(!leads(from), "forbidden");
    assert!(leads(side), "from the side street");
    assert!(leads(via), "it may have come from the side street");
}

/// Creates two public streets, which are connected by a yard in the middle and by a long detour. A
/// second yard is connected to the far street.
///
/// ```text
///   1 ---A---+---B--- 2        C: the yard, private
///            C        |        D: the other yard
///   3 ---E---+---F--- 4
///            D
/// ```
fn yards(access: RoadAccess) -> (Scenario, [RoadId; 6]) {
    let mut scenario = Scenario::new("yards");
    let style = RoadStyle {
        name: "street".into(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 10.0,
        section: CrossSection::driving(1, 1, 3.25),
    };
    let lines = [
        ((-200.0, 100.0), (0.0, 100.0)),
        ((0.0, 100.0), (300.0, 100.0)),
        ((0.0, 100.0), (0.0, 0.0)),
        ((0.0, 0.0), (0.0, -100.0)),
        ((-200.0, 0.0), (0.0, 0.0)),
        ((0.0, 0.0), (300.0, 0.0)),
        ((300.0, 100.0), (300.0, 0.0)),
    ];
    for (from, to) in lines {
        let line = ReferenceLine::straight(DVec2::from(from), DVec2::from(to)).unwrap();
        let edit = draw::road(&scenario, &line, &style).unwrap();
        scenario.apply(edit).unwrap();
    }
    let near = |point: DVec2| {
        let roads = scenario.network().roads();
        let middle = |road: &Road| road.reference_line.pose(0.5 * road.length()).position;
        let mut found = roads.filter(|(_, road)| (middle(road) - point).length() < 1.0);
        found.next().unwrap().0
    };
    let ids = lines[..6].iter().map(|(from, to)| {
        let (from, to) = (DVec2::from(*from), DVec2::from(*to));
        near(0.5 * (from + to))
    });
    let ids: Vec<RoadId> = ids.collect();
    for id in [ids[2], ids[3]] {
        let mut road = scenario.network().road(id).unwrap().clone();
        road.access = access;
        scenario
            .apply(Edit::Road(id, Some(Box::new(road))))
            .unwrap();
    }
    (scenario, ids.try_into().unwrap())
}

#[test]
fn nobody_drives_through_a_yard_but_everybody_to_a_goal_in_it() {
    let roads_of = |access: RoadAccess, from: (usize, i8), to: (usize, i8)| -> Vec<usize> {
        let (scenario, ids) = yards(access);
        let graph = graph_of(&scenario);
        let at = |(road, lane): (usize, i8)| {
            let place = LanePlace {
                road: ids[road],
                lane,
                s: 50.0.into(),
            };
            graph.locate(&place).unwrap().0
        };
        let (route, _) = plan(&graph, &[], ask(at(from), at(to)));
        let roads = route.iter().filter_map(|&id| graph.lanelet(id).road());
        roads
            .filter_map(|road| ids.iter().position(|id| *id == road))
            .collect()
    };
    const A: usize = 0;
    const B: usize = 1;
    const C: usize = 2;
    const D: usize = 3;
    const E: usize = 4;
    const F: usize = 5;
    // From the upper street to the lower one: through C if it is public, and otherwise by the detour.
    assert_eq!(roads_of(RoadAccess::All, (A, -1), (E, 1)), [A, C, E]);
    for access in &RoadAccess::ALL[1..] {
        let round = roads_of(*access, (A, -1), (E, 1));
        assert_eq!(round, [A, B, F, E], "{access:?}");
    }
    for access in &RoadAccess::ALL[1..6] {
        // A goal in the yard is reached through the nearest gate, and the yard may be left through any gate.
        assert_eq!(roads_of(*access, (A, -1), (C, -1)), [A, C]);
        assert_eq!(roads_of(*access, (C, -1), (E, 1)), [C, E]);
        // Two yards with a street between them: a route leads from one to the other, but not through the
        // first one.
        assert_eq!(roads_of(*access, (C, -1), (D, -1)), [C, D]);
        assert_eq!(roads_of(*access, (A, -1), (D, -1)), [A, B, F, D]);
    }
    // No route leads onto a closed road, but a vehicle that was placed on it may leave.
    assert_eq!(roads_of(RoadAccess::No, (A, -1), (C, -1)), [0; 0]);
    assert_eq!(roads_of(RoadAccess::No, (C, -1), (E, 1)), [C, E]);
}

/// Compares routes between many pairs of lanelets with the times of a plain search. Returns the number of
/// routes, and the number of pairs without a route.
fn hold_to_the_fastest(graph: &LaneGraph, delays: &[f32]) -> (usize, usize) {
    let mut counts = (0, 0);
    let mut reachability = Reachability::new(graph, VehicleClass::Car);
    for start in graph
        .indices()
        .step_by(17)
        .filter(|&s| !graph.lanelet(s).is_connection())
    {
        let times = all_times(graph, start, delays);
        for goal in graph
            .indices()
            .step_by(11)
            .filter(|&g| g != start && !graph.lanelet(g).is_connection())
        {
            let (route, time) = plan(graph, delays, ask(start, goal));
            let is_closed = graph.lanelet(goal).road_access == RoadAccess::No;
            let leads = reachability.leads(start, goal) && !is_closed;
            assert_eq!(leads, !route.is_empty(), "{start} to {goal}");
            if route.is_empty() {
                assert!(times[goal.index()].is_infinite() || is_closed);
                counts.1 += 1;
                continue;
            }
            counts.0 += 1;
            assert_eq!((route[0], route[route.len() - 1]), (start, goal));
            let expected = times[goal.index()] + graph.lanelet(goal).free_time(GOAL_S);
            assert!(
                (time - expected).abs() < 1e-9,
                "{start} to {goal}: {time} {expected}"
            );
            for pair in route.windows(2) {
                let lanelet = graph.lanelet(pair[0]);
                let linked = graph.successors(pair[0]).contains(&pair[1]);
                assert!(linked || lanelet.left == pair[1] || lanelet.right == pair[1]);
            }
        }
    }
    counts
}

#[test]
fn standing_traffic_is_driven_around() {
    let (_, graph) = grid(4, 1);
    let start = graph
        .locate(&LanePlace {
            road: RoadId(1),
            lane: -1,
            s: 10.0.into(),
        })
        .unwrap()
        .0;
    let mut lanelets = graph.numbered();
    let goal = lanelets.position(|(id, lanelet)| {
        lanelet.road().is_some()
            && (graph.line(id).position(5.0) - DVec2::new(310.0, 98.4)).length() < 8.0
    });
    let input = ask(start, LaneletIndex::from_index(goal.unwrap()));
    let (free, _) = plan(&graph, &[], input);
    let mut delays = vec![0.0; graph.lanelets().len()];
    delays[free[free.len() / 2].index()] = 500.0;
    let (round, _) = plan(&graph, &delays, input);
    assert!(!round.is_empty() && !round.contains(&free[free.len() / 2]));
}

#[test]
fn a_goal_behind_on_the_same_lane_is_reached_by_going_round() {
    let (_, graph) = grid(4, 1);
    let mut lanelets = graph.numbered();
    let inner = lanelets.position(|(id, lanelet)| {
        lanelet.road().is_some()
            && (graph.line(id).position(50.0) - DVec2::new(150.0, 98.4)).length() < 12.0
    });
    let lanelet = LaneletIndex::from_index(inner.unwrap());
    let input = PlannerInput {
        s: 60.0,
        goal_s: 20.0,
        ..ask(lanelet, lanelet)
    };
    let (route, _) = plan(&graph, &[], input);
    assert!(route.len() > 4);
    assert_eq!((route[0], route[route.len() - 1]), (lanelet, lanelet));
    let ahead = PlannerInput {
        s: 20.0,
        goal_s: 60.0,
        ..ask(lanelet, lanelet)
    };
    assert_eq!(plan(&graph, &[], ahead).0, [lanelet]);
}

#[test]
fn a_goal_behind_is_not_reached_by_changing_lanes() {
    let (_, graph) = grid(4, 2);
    let mut lanelets = graph.numbered();
    let inner = lanelets.position(|(id, lanelet)| {
        let middle = graph.line(id).position(0.5 * lanelet.length());
        lanelet.road().is_some()
            && lanelet.left != lane_graph::NO_LANELET
            && (middle - DVec2::new(150.0, 95.0)).length() < 8.0
    });
    let lane = LaneletIndex::from_index(inner.unwrap());
    let beside = graph.lanelet(lane).left;
    let from = PlannerInput {
        s: 60.0,
        goal_s: 20.0,
        ..ask(lane, beside)
    };
    let (route, _) = plan(&graph, &[], from);
    assert!(route.len() > 6, "{route:?}");
    let ahead = PlannerInput {
        s: 20.0,
        goal_s: 60.0,
        ..ask(lane, beside)
    };
    assert_eq!(plan(&graph, &[], ahead).0, [lane, beside]);
    let forbidden = PlannerInput {
        may_change_first: 0,
        ..ahead
    };
    assert!(plan(&graph, &[], forbidden).0.get(1) != Some(&beside));
}

#[test]
fn a_goal_at_the_start_of_a_lane_is_not_changed_to_from_beside() {
    let (_, graph) = grid(4, 2);
    // Trips from the end of a right lane, where a lane change is not possible, over a junction to the right
    // lane beyond it. The lane of the goal is beside that lane.
    let over = (LaneletIndex::up_to(graph.lanelets().len())).filter_map(|start| {
        let here = graph.lanelet(start);
        let is_right = !here.is_connection() && here.right == lane_graph::NO_LANELET;
        let heading = |id: LaneletIndex| graph.line(id).heading(0.0);
        let connection = graph.successors(start).iter().copied().find(|&id| {
            let after = graph.successors(id).first();
            after.is_some_and(|&after| (heading(after) - heading(start)).abs() < 0.01)
        });
        let beyond = graph.successors(connection.filter(|_| is_right)?)[0];
        Some((start, beyond, graph.lanelet(beyond).left))
    });
    let (mut count, mut others) = (0, 0);
    for (start, beyond, goal) in over {
        let last_step = |goal_s: f64| {
            let input = PlannerInput {
                s: graph.lanelet(start).length() - 5.0,
                goal_s,
                may_change_first: 0,
                ..ask(start, goal)
            };
            let (route, _) = plan(&graph, &[], input);
            route.len().checked_sub(2).map(|last| route[last])
        };
        // If there is enough room, the vehicle changes lanes. Otherwise, it reaches the lane on another
        // route, if there is one.
        assert_eq!(last_step(60.0), Some(beyond));
        count += 1;
        others += usize::from(last_step(6.0) != Some(beyond));
    }
    assert!(count > 10 && others == count, "{others} of {count}");
}

#[test]
fn lane_changes_are_planned_where_there_is_room_for_them() {
    // A street with two lanes in each direction and a side street every 60 m. It ends at a junction where the
    // route turns left.
    let mut scenario = Scenario::new("street");
    let mut draw = |a: (f64, f64), b: (f64, f64), lanes| {
        let style = RoadStyle {
            name: String::new(),
            class: RoadClass::Residential,
            layer: 0,
            speed_limit: 10.0,
            section: CrossSection::driving(lanes, lanes, 3.25),
        };
        let line = ReferenceLine::straight(DVec2::from(a), DVec2::from(b)).unwrap();
        let edit = draw::road(&scenario, &line, &style).unwrap();
        scenario.apply(edit).unwrap();
    };
    draw((0.0, 0.0), (480.0, 0.0), 2);
    for x in 1..8 {
        draw((60.0 * f64::from(x), 0.0), (60.0 * f64::from(x), -50.0), 1);
    }
    draw((480.0, 0.0), (480.0, 100.0), 1);
    draw((480.0, 0.0), (480.0, -100.0), 1);
    let graph = graph_of(&scenario);
    let at = |x: f64, y: f64| {
        let near = |id: &LaneletIndex| (graph.line(*id).position(0.0) - DVec2::new(x, y)).length();
        let all = LaneletIndex::up_to(graph.lanelets().len());
        all.min_by(|a, b| near(a).total_cmp(&near(b))).unwrap()
    };
    // From the right lane into the street to the left.
    let (start, goal) = (at(0.0, -4.9), at(481.6, 10.0));
    assert!(graph.lanelet(start).right == lane_graph::NO_LANELET);
    let (route, _) = plan(&graph, &[], ask(start, goal));
    let change = route
        .windows(2)
        .position(|pair| graph.lanelet(pair[0]).left == pair[1]);
    let change = change.expect("the lane has to be changed");
    let room: f64 = route[change + 1..]
        .iter()
        .map(|&id| graph.lanelet(id).length())
        .sum();
    let room = room - graph.lanelet(goal).length();
    assert!((200.0..320.0).contains(&room), "{room} m before the turn");
    // The route is continuous.
    for pair in route.windows(2) {
        let lanelet = graph.lanelet(pair[0]);
        let is_beside = [lanelet.left, lanelet.right].contains(&pair[1]);
        assert!(is_beside || graph.successors(pair[0]).contains(&pair[1]));
    }
}
