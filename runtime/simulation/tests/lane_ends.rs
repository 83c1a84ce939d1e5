//! Tests of ramps with acceleration lanes, and of roads that lose a lane.
//!
//! An ordinary test run uses some of the seeds that `.ci/nightly` uses.

use crate::common::{add_flow, cars, equip};
use glam::DVec2;
use roadwright_geometry::heading_of;
use roadwright_ground::Ground;
use roadwright_scenario::junction::{Sign, layout};
use roadwright_scenario::lane_graph::LaneletKind;
use roadwright_scenario::{
    Agent, AgentId, Control, Edit, Flow, LanePlace, NodeId, Place, RoadId, Scenario, file,
};
use roadwright_simulation::{RunOptions, Status, World, builtin_modules};
use roadwright_testing::is_slow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Time during which vehicles spawn, and duration of a run, s.
const INPUT: f64 = 540.0;
const RUN: f64 = 600.0;
/// Time after which a queue is measured, s.
const SETTLED: f64 = 300.0;
/// Speed below which vehicles form a queue, m/s: `queue_speed` of the lane keeper at 120 km/h.
const QUEUED: f64 = 0.4 * 120.0 / 3.6;

/// A straight one-way road with lanes of 3.5 m. The lanes are on the right of its reference line,
/// or centred on it.
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

/// Creates a road with two lanes and a ramp. Together they form three lanes for 200 m, and then two
/// again. `main` is the number of vehicles per hour on both lanes of the main road together.
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

/// Creates a road with three lanes that loses one of them after `before` metres and continues with
/// two lanes for 400 m.
fn drop(before: f64, rate: f64) -> Scenario {
    let mut scenario = network(&[
        Road::motorway(-before, 0.0, 3),
        Road::motorway(0.0, 400.0, 2),
    ]);
    for lane in [-1i8, -2, -3].into_iter().filter(|_| rate > 0.0) {
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
    /// Number of vehicles that departed before the last 60 s of the input and have not arrived.
    late: usize,
    /// Number of vehicles that arrived after [`SETTLED`].
    discharged: usize,
    /// Mean lengths of the queues in the middle lane and in the right lane before x = 0, measured
    /// after [`SETTLED`], m.
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
        if world.time() >= SETTLED && world.steps().is_multiple_of(1000) {
            looks += 1.0;
            let mut farthest = [0.0f64; 2];
            for vehicle in &world.snapshot().vehicles {
                let place = vehicle.pose.position;
                // Vehicles near the start have just departed.
                let is_moving = place.x > -DROP + 200.0;
                if vehicle.speed < QUEUED && is_moving && place.x < 0.0 && place.y < -3.5 {
                    let lane = usize::from(place.y < -7.0);
                    farthest[lane] = farthest[lane].max(-place.x);
                }
            }
            for (queue, farthest) in queues.iter_mut().zip(farthest) {
                *queue += farthest;
            }
        }
    }
    let mut times: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let mut discharged = 0;
    for drive in world
        .finished()
        .filter(|drive| drive.status == Status::Arrived)
    {
        // The upper half of a vehicle's id is the number of its flow, starting at 1. Vehicles of
        // `full` have other ids.
        let flow = match drive.id >> 32 {
            0 => drive.id % 3,
            flow => (flow & 0xff) - 1,
        };
        discharged += usize::from(drive.ended > SETTLED);
        times
            .entry(flow)
            .or_default()
            .push(drive.ended - drive.started);
    }
    let late = world
        .odometers()
        .filter(|(_, started, _)| *started < INPUT - 60.0);
    let late = late.count();
    let summary = world.summary();
    Outcome {
        times,
        spawned: summary.agents.spawned,
        arrived: summary.agents.arrived,
        contacts: summary.collisions.len(),
        late,
        discharged,
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
    let layout = layout(scenario.network(), scenario.about());
    let joint = (layout.junctions.iter())
        .find(|junction| junction.nodes == [NodeId(2)])
        .expect("the junction at the ramp");
    assert_eq!(joint.control, Control::Uncontrolled);
    assert!(joint.arms.iter().all(|arm| arm.sign == Sign::None));
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

/// There are 2,400 vehicles per hour on the main road and 500 on the ramp. Before ramps had
/// acceleration lanes, their vehicles lost 85 s here.
#[test]
fn vehicles_from_a_ramp_join_in_free_flow() {
    let alone = drive(&ramp(0.0, 10.0), 2, 600.0).mean(&[0]);
    // 253 m at 80 km/h and 850 m at 120 km/h.
    let at_limits = 253.0 / (80.0 / 3.6) + 850.0 / (120.0 / 3.6);
    for seed in seeds() {
        let (with, without) = (
            drive(&ramp(2400.0, 500.0), seed, RUN),
            drive(&ramp(2400.0, 0.0), seed, RUN),
        );
        let joining = with.mean(&[2]);
        let main = with.mean(&[0, 1]) - without.mean(&[0, 1]);
        println!(
            "seed {seed}: ramp {joining:.1} s, alone {alone:.1} s, at the limits {at_limits:.1} s; main line +{main:.2} s; {} of {}",
            with.arrived, with.spawned
        );
        assert!(joining < alone + 6.0, "seed {seed}: {joining} {alone}");
        assert!(main < 2.0, "seed {seed}: {main}");
        assert_eq!((with.contacts, with.late), (0, 0), "seed {seed}");
    }
}

/// Three lanes become two lanes, with 2,400 vehicles per hour.
#[test]
fn a_lane_drop_costs_little_in_free_flow() {
    let free = drive(&drop(400.0, 300.0), 1, RUN).mean(&[0, 1, 2]);
    for seed in seeds() {
        let outcome = drive(&drop(400.0, 2400.0), seed, RUN);
        let lost = outcome.mean(&[0, 1, 2]) - free;
        println!("seed {seed}: {lost:.2} s more than {free:.1} s");
        assert!(lost < 3.0, "seed {seed}: {lost}");
        assert_eq!(outcome.contacts, 0, "seed {seed}");
    }
}

/// Length of the road with three lanes before the lane drop in the tests with a queue, m.
const DROP: f64 = 1600.0;

/// Headway on each of these lanes, s. It gives 5,400 vehicles per hour on three lanes.
const FULL_HEADWAY: f64 = 2.0;
/// Headway on two lanes without a merge, s. It gives 4,500 vehicles per hour, which is more than
/// the intelligent driver model carries in equilibrium (4,450).
const PLAIN_HEADWAY: f64 = 1.6;
/// Initial speed of these vehicles, m/s.
const FULL_SPEED: f64 = 25.0;

/// Creates a road of `lanes` lanes that continues with two lanes after [`DROP`], with a vehicle
/// every `headway` seconds on each lane. The vehicles depart at speed. A flow, whose vehicles start
/// from rest, could only add one every 3 s per lane, which is less than two lanes can carry.
fn full(lanes: u32, headway: f64) -> Scenario {
    let mut scenario = network(&[
        Road::motorway(-DROP, 0.0, lanes as usize),
        Road::motorway(0.0, 400.0, 2),
    ]);
    let per_lane = (INPUT / headway) as u32;
    for number in 0..lanes * per_lane {
        let (lane, turn) = (number % lanes, number / lanes);
        let lane = -1 - lane as i8;
        let agent = Agent {
            name: String::new(),
            vehicle: "car".into(),
            stack: "idm".into(),
            dynamics: None,
            start: on(1, lane, 5.0),
            via: Vec::new(),
            destination: Some(on(2, lane.max(-2), 380.0)),
            depart: (headway * f64::from(turn)).into(),
            repeat: None.into(),
            speed: FULL_SPEED.into(),
        };
        // The remainder of the id after division by 3 is the number of the lane.
        let id = 3 * (turn + 1) + number % lanes;
        let edit = Edit::Agent(AgentId(id), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    scenario
}

/// Three lanes become two, with more vehicles than can pass. At least 0.9 times as many vehicles
/// pass as on two lanes without a merge where more vehicles depart than can pass. When gaps were
/// only opened at the merge, the factor was 0.78.
#[test]
fn in_a_queue_vehicles_alternate_at_the_end_of_the_lane() {
    for seed in seeds() {
        let plain = drive(&full(2, PLAIN_HEADWAY), seed, RUN).discharged;
        let outcome = drive(&full(3, FULL_HEADWAY), seed, RUN);
        let from_end = outcome.count(2) / (outcome.count(1) + outcome.count(2));
        let discharge = outcome.discharged as f64 / plain as f64;
        let [middle, right] = outcome.queues;
        println!(
            "seed {seed}: {} of {plain} on two plain lanes ({discharge:.3}), {from_end:.2} from the lane that ends, \
             queues {middle:.0} m and {right:.0} m, {} of {}",
            outcome.discharged, outcome.arrived, outcome.spawned
        );
        assert!(discharge >= 0.9, "seed {seed}: {discharge}");
        assert!((0.4..0.6).contains(&from_end), "seed {seed}: {from_end}");
        assert!(middle.min(right) > 50.0, "seed {seed}: {middle} {right}");
        let apart = (middle - right).abs() / middle.max(right);
        assert!(apart < 0.3, "seed {seed}: {middle} {right}");
        assert_eq!(outcome.contacts, 0, "seed {seed}");
    }
}
