//! Tests of random trips: their starts and ends, and whether each of them can be driven.

use super::populate::{Trip, random_trips, trips};
use crate::options::{PopulateFrom, Population};
use crate::records::LaneSpot;
use roadwright_agent::{PlannerView, Step};
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_ground::Ground;
use roadwright_planning::RoutePlanner;
use roadwright_plugin_api::{PlannerInput, PlannerOutput};
use roadwright_scenario::junction::layout;
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::{CrossSection, Edit, RoadAccess, RoadClass, RoadId, Scenario, file};
use std::path::PathBuf;

const MODES: [PopulateFrom; 3] = [
    PopulateFrom::Inside,
    PopulateFrom::Edges,
    PopulateFrom::Both,
];

fn shipped(name: &str) -> Scenario {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    file::load(&folder.join(format!("{name}.scenario.json"))).unwrap()
}

/// A straight road: its end points (m), and its numbers of forward and backward lanes.
type Straight = ((f64, f64), (f64, f64), usize, usize);

fn drawn(roads: &[Straight]) -> Scenario {
    let mut scenario = Scenario::new("drawn");
    for &(from, to, forward, backward) in roads {
        let style = RoadStyle {
            name: String::new(),
            class: RoadClass::Residential,
            layer: 0,
            speed_limit: 14.0,
            section: CrossSection::driving(forward, backward, 3.25),
        };
        let line = ReferenceLine::straight(DVec2::from(from), DVec2::from(to)).unwrap();
        let edit = draw::road(&scenario, &line, &style).unwrap();
        scenario.apply(edit).unwrap();
    }
    scenario
}

/// Two crossing streets of 400 m, and a dead end of 40 m inside the map.
fn crossroads() -> Scenario {
    drawn(&[
        ((-200.0, 0.0), (200.0, 0.0), 1, 1),
        ((0.0, -200.0), (0.0, 200.0), 1, 1),
        ((40.0, 0.0), (40.0, 40.0), 1, 1),
    ])
}

fn graph_of(scenario: &Scenario) -> LaneGraph {
    let layout = layout(scenario.network(), scenario.about().driving_side);
    LaneGraph::new(scenario, &layout)
}

fn populated(
    scenario: &Scenario,
    from: PopulateFrom,
    count: usize,
    seed: u64,
) -> (LaneGraph, Vec<Trip>, Population) {
    let graph = graph_of(scenario);
    let (trips, population) = trips(scenario, &graph, count, from, seed);
    assert_eq!((population.wanted, population.made), (count, trips.len()));
    (graph, trips, population)
}

/// Trips for which the planner finds no route.
fn impossible(graph: &LaneGraph, trips: &[Trip]) -> Vec<Trip> {
    let question = |trip: &Trip| PlannerInput {
        lanelet: trip.from.lanelet.number(),
        s: trip.from.s,
        goal_lanelet: trip.to.lanelet.number(),
        goal_s: trip.to.s,
        bus: 0,
        may_change_first: 1,
    };
    let inputs: Vec<PlannerInput> = trips.iter().map(question).collect();
    let view = PlannerView { graph, delays: &[] };
    let mut outputs = vec![PlannerOutput::default(); trips.len()];
    let planner = RoutePlanner::entry().make();
    planner.step(
        &Step::default(),
        &view,
        &inputs,
        &mut Vec::new(),
        &mut outputs,
    );
    let pairs = trips.iter().zip(outputs);
    let none = pairs.filter(|(_, output)| output.count == 0);
    none.map(|(trip, _)| *trip).collect()
}

#[test]
fn trips_between_edges_begin_and_end_where_the_map_does() {
    let (graph, trips, population) = populated(&crossroads(), PopulateFrom::Edges, 60, 1);
    assert_eq!((population.from_edges, population.to_edges), (60, 60));
    // All vehicles except the first one at each of the four entries have to wait.
    assert_eq!(population.queued, 56);
    for trip in &trips {
        for LaneSpot { lanelet: lane, s } in [trip.from, trip.to] {
            let place = graph.line(lane).position(s);
            assert!(place.length() > 190.0, "{place}");
        }
        let [from, to] =
            [trip.from, trip.to].map(|LaneSpot { lanelet: lane, s }| graph.line(lane).position(s));
        assert!((to - from).length() > 200.0, "{from} {to}");
    }
}

/// Checks that random trips that are stored in a scenario equal the random trips of a run.
#[test]
fn trips_as_places_are_those_of_a_run() {
    for scenario in [crossroads(), shipped("old-town")] {
        let ground = Ground::new(&scenario);
        let graph = ground.graph();
        let (own, _) = trips(&scenario, graph, 50, PopulateFrom::Both, 7);
        let (kept, population) = random_trips(&scenario, &ground, 50, PopulateFrom::Both, 7);
        assert_eq!((kept.len(), population.made), (50, 50));
        for (trip, kept) in own.iter().zip(&kept) {
            for (LaneSpot { lanelet: lane, s }, place) in
                [(trip.from, kept.start), (trip.to, kept.destination)]
            {
                let pose = scenario.pose_of(&place).unwrap();
                let apart = graph.line(lane).position(s) - pose.position;
                assert!(apart.length() < 0.3, "{place:?}: {apart}");
            }
        }
        let (other, _) = random_trips(&scenario, &ground, 50, PopulateFrom::Both, 8);
        assert_ne!(other, kept);
    }
}

#[test]
fn both_mixes_edges_and_places_inside() {
    let (_, _, population) = populated(&crossroads(), PopulateFrom::Both, 400, 3);
    for edges in [population.from_edges, population.to_edges] {
        assert!((150..250).contains(&edges), "{population:?}");
    }
    let (_, _, inside) = populated(&crossroads(), PopulateFrom::Inside, 400, 3);
    assert_eq!((inside.from_edges, inside.to_edges), (0, 0));
}

#[test]
fn equal_seeds_give_equal_trips_and_more_begin_with_the_same() {
    for mode in MODES {
        let few = populated(&crossroads(), mode, 20, 7).1;
        let more = populated(&crossroads(), mode, 50, 7).1;
        assert_eq!(few[..], more[..20]);
        assert_ne!(few, populated(&crossroads(), mode, 20, 8).1);
    }
}

#[test]
fn roads_that_lead_nowhere_else_are_populated_as_well() {
    // A street with one lane in each direction and no place to turn around, so that no route leads
    // back to its start.
    let street = drawn(&[((0.0, 0.0), (300.0, 0.0), 1, 1)]);
    for mode in MODES {
        let (graph, trips, population) = populated(&street, mode, 30, 1);
        assert_eq!(population.made, 30, "{mode:?}");
        assert_eq!(impossible(&graph, &trips), []);
    }
    // A one-way street that ends inside the map is an entry.
    let cut = drawn(&[
        ((-500.0, -500.0), (500.0, -500.0), 1, 1),
        ((500.0, -500.0), (500.0, 500.0), 1, 1),
        ((-500.0, -500.0), (-500.0, 500.0), 1, 1),
        ((0.0, 0.0), (0.0, -500.0), 1, 0),
    ]);
    let (graph, trips, _) = populated(&cut, PopulateFrom::Edges, 60, 1);
    let begins = |trip: &Trip| graph.line(trip.from.lanelet).position(trip.from.s);
    let inside = trips.iter().filter(|trip| begins(trip).length() < 20.0);
    assert!(inside.count() > 5);
}

#[test]
fn what_leads_from_nowhere_to_nowhere_is_not_populated() {
    let stub = drawn(&[((0.0, 0.0), (15.0, 0.0), 1, 0)]);
    assert_eq!(populated(&stub, PopulateFrom::Both, 5, 1).2.made, 0);
    // All roads except one are private.
    let mut yards = crossroads();
    let roads: Vec<RoadId> = yards.network().roads().map(|(id, _)| id).collect();
    for id in roads {
        let mut road = yards.network().road(id).unwrap().clone();
        road.access = RoadAccess::Private;
        yards.apply(Edit::Road(id, Some(Box::new(road)))).unwrap();
    }
    for mode in MODES {
        assert_eq!(populated(&yards, mode, 5, 1).2.made, 0);
    }
}

#[test]
fn every_trip_can_be_driven_whatever_roads_are_closed() {
    let mut stream = Stream::new(5, "access", 0);
    for name in ["old-town", "crossroads", "rush-hour", "figure-eight"] {
        let mut scenario = shipped(name);
        for round in 0..4 {
            for mode in MODES {
                let (graph, trips, _) = populated(&scenario, mode, 40, round);
                assert_eq!(impossible(&graph, &trips), [], "{name} {mode:?}");
                for trip in &trips {
                    for LaneSpot { lanelet: lane, .. } in [trip.from, trip.to] {
                        let access = graph.lanelet(lane).road_access;
                        let is_open = matches!(access, RoadAccess::All | RoadAccess::Destination);
                        assert!(is_open, "{access:?}");
                    }
                }
            }
            let roads: Vec<RoadId> = scenario.network().roads().map(|(id, _)| id).collect();
            for id in roads {
                let mut road = scenario.network().road(id).unwrap().clone();
                let access = stream.next_in(-14.0, 7.0).max(0.0) as usize;
                road.access = RoadAccess::ALL[access];
                scenario
                    .apply(Edit::Road(id, Some(Box::new(road))))
                    .unwrap();
            }
        }
    }
}
