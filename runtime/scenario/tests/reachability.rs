//! Checks that the results for many pairs of lanelets equal the result of a separate search for
//! each pair.

use crate::common::*;
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::junction::layout;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, Reachability};
use roadwright_scenario::*;

/// Compares random pairs of lanelets. Returns the number of starts that lead to their goal, and the
/// number of other starts.
fn hold(graph: &LaneGraph, class: VehicleClass, stream: &mut Stream) -> [usize; 2] {
    let mut reachability = Reachability::new(graph, class);
    let mut counts = [0; 2];
    let count = graph.lanelets().len();
    for _ in 0..40 {
        let from = LaneletIndex::from_index(stream.next_index(count));
        let (reached, ahead) = (
            graph.reachable_from(from, class),
            graph.reachable_straight_on(from, class),
        );
        assert_eq!(
            reachability.leads_round(from),
            graph.leads_round(from, class),
            "{from}"
        );
        let goal = LaneletIndex::from_index(stream.next_index(count));
        assert_eq!(
            graph.reaching(goal, class)[from.index()],
            reached[goal.index()],
            "{from} {goal}"
        );
        for _ in 0..10 {
            let to = LaneletIndex::from_index(stream.next_index(count));
            assert_eq!(
                reachability.leads(from, to),
                reached[to.index()],
                "{from} {to}"
            );
            let straight = reachability.leads_straight_on(from, to);
            assert_eq!(straight, ahead[to.index()], "{from} {to}");
            counts[usize::from(!reached[to.index()])] += 1;
        }
    }
    counts
}

#[test]
fn the_main_streets_decide_as_a_search_would() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let town = file::load(&folder.join("old-town.scenario.json")).unwrap();
    let mut stream = Stream::new(roadwright_testing::seed(5), "reachability", 0);
    let (mut counts, mut via_rules) = ([0; 2], 0);
    for round in 0..roadwright_testing::scaled(40) {
        let mut town = town.clone();
        let roads: Vec<RoadId> = town.network().roads().map(|(id, _)| id).collect();
        // Over six rounds, the fraction of roads with a random access value grows from 0 to a half.
        // In addition, some roads lose all lanes of one direction.
        for id in roads {
            let mut road = town.network().road(id).unwrap().clone();
            if stream.next_unit() < 0.1 * (round % 6) as f64 {
                road.access = RoadAccess::ALL[stream.next_index(RoadAccess::ALL.len())];
            }
            if stream.next_unit() < 0.2 {
                for section in &mut road.lane_sections {
                    section.lanes.retain(|lane| lane.id < 0);
                }
            }
            // A road that would have no lanes remains unchanged.
            drop(town.apply(Edit::Road(id, Some(Box::new(road)))));
        }
        via_rules += restrict_by_way_of_roads(&mut town, &mut stream);
        let layout = layout(town.network(), town.about());
        let graph = LaneGraph::new(&town, &layout);
        for class in [VehicleClass::Car, VehicleClass::Bus] {
            let found = hold(&graph, class, &mut stream);
            counts = [counts[0] + found[0], counts[1] + found[1]];
        }
    }
    assert!(counts[0] > 100 && counts[1] > 100, "{counts:?}");
    assert!(via_rules > 100, "{via_rules}");
}

/// Prohibits some turns for vehicles that come from certain roads. Returns the number of
/// restrictions.
fn restrict_by_way_of_roads(town: &mut Scenario, stream: &mut Stream) -> usize {
    let nodes: Vec<NodeId> = town.network().nodes().map(|(id, _)| id).collect();
    let mut count = 0;
    for at in nodes {
        let network = town.network();
        let mut pick = |at: NodeId, but: Option<RoadId>| {
            let ends = network.ends_at(at).into_iter().map(|(id, _)| id);
            let others: Vec<RoadId> = ends.filter(|id| Some(*id) != but).collect();
            (!others.is_empty()).then(|| others[stream.next_index(others.len())])
        };
        let Some(from) = pick(at, None) else {
            continue;
        };
        let Some(via) = pick(at, Some(from)) else {
            continue;
        };
        let road = network.road(via).unwrap();
        let far = if road.from == at { road.to } else { road.from };
        let Some(to) = pick(far, Some(via)) else {
            continue;
        };
        let mut node = network.node(at).unwrap().clone();
        node.rules.via_restrictions.push(ViaRestriction {
            kind: RestrictionKind::No,
            from,
            via: vec![via],
            to,
        });
        count += usize::from(town.apply(Edit::Node(at, Some(node))).is_ok());
    }
    count
}

#[test]
fn without_main_streets_each_question_is_searched() {
    let mut scenario = Scenario::new("bus lane");
    draw(&mut scenario, (0.0, 0.0), (200.0, 0.0), &street("Street"));
    let mut road = scenario.network().roads().next().unwrap().1.clone();
    road.access = RoadAccess::Private;
    scenario
        .apply(Edit::Road(RoadId(1), Some(Box::new(road))))
        .unwrap();
    let layout = layout(scenario.network(), scenario.about());
    let graph = LaneGraph::new(&scenario, &layout);
    assert!(graph.main_component().is_empty());
    let mut stream = Stream::new(1, "reachability", 0);
    hold(&graph, VehicleClass::Car, &mut stream);
}

/// Creates a straight street of many roads in a row.
fn long_street(count: u32) -> Scenario {
    let mut scenario = Scenario::new("long street");
    let at = |i: u32| DVec2::new(30.0 * f64::from(i), 0.0);
    let mut edits: Vec<Edit> = (0..=count)
        .map(|i| Edit::Node(NodeId(i + 1), Some(Node::at(at(i)))))
        .collect();
    let (lane_offset, lanes) =
        CrossSection::driving(1, 1, 3.25).lanes(scenario.about().driving_side);
    for i in 0..count {
        let road = Road {
            from: NodeId(i + 1),
            to: NodeId(i + 2),
            name: "Street".into(),
            class: RoadClass::Residential,
            layer: 0,
            access: RoadAccess::All,
            speed_limit: 13.9.into(),
            reference_line: ReferenceLine::straight(at(i), at(i + 1)).unwrap(),
            lane_offset: lane_offset.clone(),
            lane_sections: vec![lanes.clone()],
        };
        edits.push(Edit::Road(RoadId(i + 1), Some(Box::new(road))));
    }
    scenario.apply(Edit::Batch(edits)).unwrap();
    scenario
}

/// Checks that the search along a long street needs little stack. A recursive search would need
/// more than a megabyte.
#[test]
fn the_main_streets_of_a_large_network_need_little_stack() {
    let scenario = long_street(4_000);
    let layout = layout(scenario.network(), scenario.about());
    let graph = LaneGraph::new(&scenario, &layout);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 * 1024);
        let found = thread.spawn_scoped(scope, || graph.main_component().len());
        assert!(found.unwrap().join().unwrap() > 0);
    });
}
