//! Tests of ramps with acceleration lanes, and of roads that lose a lane.
//!
//! An ordinary test run uses some of the seeds that `.ci/nightly` uses.

use crate::common::{add_flow, cars, equip};
use glam::DVec2;
use roadwright_geometry::heading_of;
use roadwright_ground::Ground;
use roadwright_scenario::lane_graph::LaneletKind;
use roadwright_scenario::{Flow, LanePlace, Place, RoadId, Scenario, file};
use roadwright_simulation::{RunOptions, Status, World, builtin_modules};
use roadwright_testing::is_slow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Time during which vehicles spawn, and duration of a run, s.
const INPUT: f64 = 540.0;
const RUN: f64 = 600.0;

/// A straight one-way road with lanes of 3.5 m. The lanes are to the right of its line, or centred on it.
struct Road {
    from: (f64, f64),
    to: (f64, f64),
    lanes: usize,
    class: &'static str,
    limit: f64,
    is_centred: bool,
}

impl Road {
    fn motorway(from: f64, to: f64, lanes: usize) -> Self {
        Self {
            from: (from, 0.0),
            to: (to, 0.0),
            lanes,
            class: "motorway",
            limit: 120.0 / 3.6,
            is_centred: false,
        }
    }

    fn centred(self) -> Self {
        Self {
            is_centred: true,
            ..self
        }
    }
}

/// Creates a network of roads with ids from 1. Road ends at the same position share a node.
fn network(roads: &[Road]) -> Scenario {
    let (mut nodes, mut places) = (String::new(), Vec::new());
    let mut node = |place: (f64, f64)| {
        let known = places.iter().position(|&other| other == place);
        known.unwrap_or_else(|| {
            places.push(place);
            let comma = if places.len() > 1 { "," } else { "" };
            let (number, (x, y)) = (places.len(), place);
            write!(nodes, r#"{comma}"{number}":{{"x":{x},"y":{y}}}"#).unwrap();
            places.len() - 1
        }) + 1
    };
    let roads = roads.iter().enumerate().map(|(i, road)| {
        let along = DVec2::from(road.to) - DVec2::from(road.from);
        let (length, heading) = (along.length(), heading_of(along));
        let lanes = (1..=road.lanes)
            .map(|lane| format!(r#"{{"id":-{lane},"type":"driving","width":[{{"a":3.5}}]}}"#));
        let lanes = lanes.collect::<Vec<_>>().join(",");
        let offset = if road.is_centred {
            1.75 * road.lanes as f64
        } else {
            0.0
        };
        let (class, limit, (start_x, start_y)) = (road.class, road.limit, road.from);
        let (from, to) = (node(road.from), node(road.to));
        format!(
            r#""{}":{{"from":{from},"to":{to},"class":"{class}","speed_limit":{limit},
            "reference_line":{{"x":{start_x},"y":{start_y},"heading":{heading},
              "segments":[{{"type":"line","length":{length}}}]}},
            "lane_offset":[{{"a":{offset}}}],"lane_sections":[{{"lanes":[{lanes}]}}]}}"#,
            i + 1
        )
    });
    let roads = roads.collect::<Vec<_>>().join(",");
    let text = format!(
        r#"{{"format":"roadwright-scenario","version":2,"about":{{"name":"lanes","driving_side":"right"}},"settings":{{"dt":0.01,"seed":1,"duration":600}},
        "nodes":{{{nodes}}},"roads":{{{roads}}}}}"#
    );
    let mut scenario = file::from_text(&text).unwrap();
    equip(&mut scenario, "crossroads");
    scenario
}

fn on(road: u32, lane: i8, s: f64) -> Place {
    Place::Lane(LanePlace {
        road: RoadId(road),
        lane,
        s: s.into(),
    })
}

fn flow(origin: Place, destination: Place, rate: f64) -> Flow {
    Flow {
        end: INPUT.into(),
        ..cars(origin, destination, rate)
    }
}

/// Creates a road with two lanes and a ramp, which form three lanes for 200 m and then two again. `main` is
/// the number of vehicles per hour on both lanes of the main road together.
fn ramp(main: f64, joining: f64) -> Scenario {
    let ramp = Road {
        from: (-400.0, -65.0),
        to: (-150.0, 0.0),
        lanes: 1,
        class: "ramp",
        limit: 80.0 / 3.6,
        is_centred: true,
    };
    let mut scenario = network(&[
        Road::motorway(-750.0, -150.0, 2).centred(),
        Road::motorway(-150.0, 50.0, 3).centred(),
        Road::motorway(50.0, 750.0, 2).centred(),
        ramp,
    ]);
    for lane in [-1, -2] {
        if main > 0.0 {
            add_flow(
                &mut scenario,
                flow(on(1, lane, 5.0), on(3, lane, 650.0), 0.5 * main),
            );
        }
    }
    if joining > 0.0 {
        add_flow(
            &mut scenario,
            flow(on(4, -1, 5.0), on(3, -2, 650.0), joining),
        );
    }
    scenario
}

/// Creates a road with three lanes that lead into a road with two lanes after 400 m.
fn drop(rate: f64) -> Scenario {
    let mut scenario = network(&[
        Road::motorway(-400.0, 0.0, 3),
        Road::motorway(0.0, 400.0, 2),
    ]);
    for lane in [-1i8, -2, -3] {
        let to = on(2, lane.max(-2), 380.0);
        add_flow(&mut scenario, flow(on(1, lane, 5.0), to, rate / 3.0));
    }
    scenario
}

/// Results of a run.
struct Outcome {
    /// Travel times of the vehicles that arrived, by the number of their flow, starting at 0, s.
    times: BTreeMap<u64, Vec<f64>>,
    spawned: usize,
    arrived: usize,
    contacts: usize,
    /// Mean numbers of vehicles slower than 5 m/s before x = 0 in the middle lane and in the right lane, from
    /// 180 s onwards.
    queues: [f64; 2],
}

impl Outcome {
    fn mean(&self, flows: &[u64]) -> f64 {
        let own = flows
            .iter()
            .filter_map(|flow| self.times.get(flow))
            .flatten();
        let (sum, count) = own.fold((0.0, 0.0), |(sum, count), time| (sum + time, count + 1.0));
        sum / count
    }

    fn count(&self, flow: u64) -> f64 {
        self.times.get(&flow).map_or(0, Vec::len) as f64
    }
}

fn drive(scenario: &Scenario, seed: u64, seconds: f64) -> Outcome {
    let options = RunOptions {
        seed: Some(seed),
        verify: true,
        ..RunOptions::default()
    };
    let mut world = World::new(scenario, &builtin_modules(), &options).unwrap();
    let (mut queues, mut looks) = ([0.0; 2], 0.0);
    while world.time() < seconds {
        world.step();
        if world.time() >= 180.0 && world.steps().is_multiple_of(1000) {
            looks += 1.0;
            for vehicle in &world.snapshot().vehicles {
                let place = vehicle.pose.position;
                if vehicle.speed < 5.0 && place.x < 0.0 && place.y < -3.5 {
                    queues[usize::from(place.y < -7.0)] += 1.0;
                }
            }
        }
    }
    let mut times: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for drive in world
        .finished()
        .filter(|drive| drive.status == Status::Arrived)
    {
        // The upper half of the id of a flow's vehicle contains the number of the flow, counted from 1.
        let flow = ((drive.id >> 32) & 0xff) - 1;
        times
            .entry(flow)
            .or_default()
            .push(drive.ended - drive.started);
    }
    let summary = world.summary();
    Outcome {
        times,
        spawned: summary.agents.spawned,
        arrived: summary.agents.arrived,
        contacts: summary.collisions.len(),
        queues: queues.map(|queue| queue / looks),
    }
}

fn seeds() -> std::ops::RangeInclusive<u64> {
    if is_slow() { 1..=5 } else { 1..=1 }
}

#[test]
fn a_ramp_gets_the_new_lane_and_nobody_yields() {
    let scenario = ramp(0.0, 0.0);
    let ground = Ground::new(&scenario);
    let graph = ground.graph();
    let lane = |road: u32, lane: i8| {
        let lanelets = graph.lanes_of(RoadId(road)).find(|(id, _)| *id == lane);
        lanelets.expect("the lane").1[0]
    };
    for (from, to) in [((1, -1), (2, -1)), ((1, -2), (2, -2)), ((4, -1), (2, -3))] {
        let (from, to) = (lane(from.0, from.1), lane(to.0, to.1));
        let &[connection] = graph.successors(from) else {
            panic!("{:?}", graph.successors(from));
        };
        assert_eq!(graph.successors(connection), [to]);
        assert_eq!(ground.contested(connection), None);
    }
    // The lane ends. Its vehicles merge to the left and yield.
    let end = ground.lane_end(lane(2, -3)).expect("it ends");
    assert_eq!((end.beside, end.joins), (lane(2, -2), true));
    let connection = graph.successors(lane(2, -3))[0];
    let LaneletKind::Connection { junction, path, .. } = graph.lanelet(connection).kind else {
        panic!("a connection");
    };
    let joins = roadwright_scenario::Connection::new(junction, path);
    assert!(ground.joins_by(joins));
}

/// 2,400 vehicles per hour on the main road and 500 on the ramp. Vehicles from the ramp join without long
/// delays. Those that find no gap wait at the end of the acceleration lane, for up to 35 s.
#[test]
fn vehicles_from_a_ramp_join_in_free_flow() {
    let alone = drive(&ramp(0.0, 10.0), 2, 600.0).mean(&[0]);
    for seed in seeds() {
        let (with, without) = (
            drive(&ramp(2400.0, 500.0), seed, RUN),
            drive(&ramp(2400.0, 0.0), seed, RUN),
        );
        let joining = with.mean(&[2]);
        let main = with.mean(&[0, 1]) - without.mean(&[0, 1]);
        println!(
            "seed {seed}: ramp {joining:.1} s, alone {alone:.1} s; main line +{main:.2} s; {} of {}",
            with.arrived, with.spawned
        );
        assert!(joining < alone + 30.0, "seed {seed}: {joining} {alone}");
        assert!(main < 5.0, "seed {seed}: {main}");
        assert_eq!(with.contacts, 0, "seed {seed}");
        // All vehicles except those of the last 60 s have arrived, because a vehicle needs this time.
        assert!(
            with.arrived as f64 > 0.87 * with.spawned as f64,
            "seed {seed}"
        );
    }
}

/// Three lanes become two lanes, with 2,400 vehicles per hour.
#[test]
fn a_lane_drop_costs_little_in_free_flow() {
    let free = drive(&drop(300.0), 1, RUN).mean(&[0, 1, 2]);
    for seed in seeds() {
        let outcome = drive(&drop(2400.0), seed, RUN);
        let lost = outcome.mean(&[0, 1, 2]) - free;
        println!("seed {seed}: {lost:.2} s more than {free:.1} s");
        assert!(lost < 3.0, "seed {seed}: {lost}");
        assert_eq!(outcome.contacts, 0, "seed {seed}");
    }
}

/// Three lanes become two lanes, with more vehicles than can pass.
#[test]
fn in_a_queue_vehicles_alternate_at_the_end_of_the_lane() {
    let plain = {
        let mut scenario = network(&[Road::motorway(-400.0, 400.0, 2)]);
        for lane in [-1, -2] {
            add_flow(
                &mut scenario,
                flow(on(1, lane, 5.0), on(1, lane, 780.0), 2700.0),
            );
        }
        drive(&scenario, 1, RUN).arrived as f64
    };
    for seed in seeds() {
        let outcome = drive(&drop(5400.0), seed, RUN);
        let from_end = outcome.count(2) / (outcome.count(1) + outcome.count(2));
        let discharge = outcome.arrived as f64 / plain;
        let [middle, right] = outcome.queues;
        println!(
            "seed {seed}: {discharge:.2} of two plain lanes, {from_end:.2} from the lane that ends, \
             queues {middle:.1} and {right:.1}"
        );
        assert!(discharge > 0.9, "seed {seed}: {discharge}");
        assert!((0.4..0.6).contains(&from_end), "seed {seed}: {from_end}");
        let apart = (middle - right).abs() / middle.max(right).max(1.0);
        assert!(apart < 0.3, "seed {seed}: {middle} {right}");
        assert_eq!(outcome.contacts, 0, "seed {seed}");
    }
}
