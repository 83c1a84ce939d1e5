//! Compares inspections of junctions and roads with independent observations.

use roadwright_scenario::junction::Light;
use roadwright_scenario::{Control, NodeId, RoadId, SignalMode, file};
use roadwright_simulation::{
    ApproachLane, JunctionInspection, RunOptions, StagePhase, StopReason, Why, World,
    builtin_modules,
};
use std::path::PathBuf;

/// Speed below which a vehicle counts as standing, m/s.
const STANDING: f64 = 0.5;

fn world(name: &str) -> World {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let scenario = file::load(&folder.join(format!("{name}.scenario.json"))).unwrap();
    World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap()
}

/// Runs a world for the given time, and calls `look` once per second of simulated time.
fn look_on(world: &mut World, seconds: u32, mut look: impl FnMut(&World)) {
    let steps = (1.0 / world.dt()).round() as u32;
    for _ in 0..seconds {
        (0..steps).for_each(|_| world.step());
        look(world);
    }
}

/// Returns the agents that stand on a lane of a road, and all agents on this lane.
fn on_lane(world: &World, approach: &ApproachLane) -> (Vec<u64>, Vec<u64>) {
    let vehicles = world.snapshot().vehicles;
    let lane = (approach.lane.road, approach.lane.lane);
    let on: Vec<_> = vehicles.iter().filter(|v| v.lane == Some(lane)).collect();
    let standing = on.iter().filter(|v| v.speed.abs() < STANDING);
    let ids = standing.map(|v| v.agent).collect();
    (ids, on.iter().map(|v| v.agent).collect())
}

#[test]
fn a_junction_with_signals_tells_its_queues_lights_and_times() {
    let mut world = world("crossroads");
    let (mut queues, mut reds, mut tickets, mut ambers) = (0, 0, 0, 0);
    let mut before: Option<JunctionInspection> = None;
    look_on(&mut world, 120, |world| {
        let seen = world.inspect_junction(NodeId(5)).unwrap();
        assert_eq!((seen.node, seen.control), (NodeId(5), Control::Signals));
        let heads: Vec<_> = world.signals().collect();
        for approach in &seen.approaches {
            let (standing, on) = on_lane(world, approach);
            assert_eq!(
                (approach.queue, approach.vehicles),
                (standing.len(), on.len())
            );
            // Compares the signals of the lane, and checks that no vehicle passes them at red.
            let lane = (approach.lane.road, approach.lane.lane);
            let head = heads.iter().find(|head| (head.road, head.lane) == lane);
            assert_eq!(approach.light, Some(head.unwrap().light));
            assert!(approach.light == Some(Light::Green) || !approach.goes);
            if !standing.is_empty() {
                assert!(approach.queue_length > 4.0, "{approach:?}");
                queues += 1;
            }
            let first = approach.head.as_ref();
            assert_eq!(first.is_some(), !on.is_empty());
            if let Some(first) = first.filter(|_| approach.light == Some(Light::Red)) {
                let stands = first.speed < STANDING && first.distance < 5.0;
                let why = first.waits.as_ref().map(|waits| waits.why);
                assert!(!stands || why == Some(Why::Red), "{first:?}");
                reds += usize::from(stands);
            }
        }
        tickets += seen.tickets.len();
        let programme = seen.programme.clone().unwrap();
        assert_eq!((programme.mode, programme.stages), (SignalMode::Fixed, 2));
        assert!(programme.elapsed >= 0.0 && programme.remaining.unwrap() > 0.0);
        ambers += usize::from(programme.phase == StagePhase::Amber);
        // Within a phase, the elapsed and remaining times change by one second from call to call.
        if let Some(before) = before.replace(seen).and_then(|seen| seen.programme)
            && (before.stage, before.phase) == (programme.stage, programme.phase)
        {
            assert!((programme.elapsed - before.elapsed - 1.0).abs() < 1e-6);
            let remaining = before.remaining.unwrap() - programme.remaining.unwrap();
            assert!((remaining - 1.0).abs() < 1e-6);
        }
    });
    assert!(
        queues > 20 && reds > 5 && tickets > 20,
        "{queues} {reds} {tickets}"
    );
    assert!(ambers > 2, "{ambers}");
    assert!(world.inspect_junction(NodeId(999)).is_none());
}

#[test]
fn junctions_tell_who_gives_way_to_whom_and_in_which_order_they_pass() {
    let mut world = world("all-junctions");
    let nodes: Vec<NodeId> = (1..200).map(NodeId).collect();
    let (mut giving, mut inside) = (0, 0);
    look_on(&mut world, 60, |world| {
        let driving: Vec<u64> = world.snapshot().vehicles.iter().map(|v| v.agent).collect();
        for seen in nodes
            .iter()
            .filter_map(|&node| world.inspect_junction(node))
        {
            let numbers: Vec<u32> = seen.tickets.iter().map(|ticket| ticket.number).collect();
            assert_eq!(numbers, (1..=seen.tickets.len() as u32).collect::<Vec<_>>());
            for ticket in &seen.tickets {
                assert!(ticket.path.index() < seen.turns.len());
                // A vehicle that waits inside waits only for lower tickets.
                let order = |agent| seen.tickets.iter().position(|t| t.agent == agent).unwrap();
                let own = ticket.number as usize - 1;
                assert!(ticket.behind.iter().all(|&other| order(other) < own));
                inside += ticket.behind.len();
            }
            assert!(seen.waits.is_sorted_by_key(|waiting| waiting.agent));
            for waiting in &seen.waits {
                assert_eq!(waiting.waits.node, seen.node);
                assert!(driving.contains(&waiting.agent));
                assert_eq!(
                    Some(&waiting.waits),
                    world.inspect(waiting.agent).unwrap().waits.as_ref()
                );
                giving += usize::from(waiting.waits.why == Why::GivesWay);
            }
        }
    });
    assert!(giving > 10 && inside > 0, "{giving} {inside}");
}

#[test]
fn a_road_tells_its_cells_who_is_on_it_and_what_stops_them() {
    let mut world = world("crossroads");
    let (mut reds, mut free, mut occupied, mut planned) = (0, 0, 0, 0);
    look_on(&mut world, 90, |world| {
        let junction = world.inspect_junction(NodeId(5)).unwrap();
        let vehicles = world.snapshot().vehicles;
        for approach in &junction.approaches {
            let road = world.inspect_road(approach.lane.road).unwrap();
            let mut lanes = road.lanes.iter();
            let lane = lanes.find(|lane| lane.lane == approach.lane.lane).unwrap();
            assert_eq!(lane.leads_to, Some(NodeId(5)));
            assert_eq!((lane.goes, lane.light), (approach.goes, approach.light));
            // The lane has as many cells as there is room for cars with their gaps.
            assert_eq!(lane.cells.len(), (lane.length / 6.5).floor() as usize);
            let cells: f64 = lane.cells.iter().map(|cell| cell.length).sum();
            assert!((cells - lane.length).abs() < 1e-6);
            for vehicle in &lane.vehicles {
                let record = vehicles.iter().find(|v| v.agent == vehicle.agent).unwrap();
                assert!((record.s - vehicle.s).abs() < 1e-9 && record.speed == vehicle.speed);
                // The vehicle's centre is in a cell occupied by itself or by the vehicle ahead.
                let cell = ((vehicle.s + 1.2) / lane.cells[0].length) as usize;
                assert!(
                    lane.cells[cell.min(lane.cells.len() - 1)]
                        .occupant
                        .is_some()
                );
                assert!(vehicle.path.len() > 1);
                planned += usize::from(vehicle.next.is_some_and(|next| next.turn.is_some()));
                if let Some(stop) = &vehicle.stop
                    && let StopReason::Junction(waits) = &stop.reason
                    && waits.why == Why::Red
                {
                    // The vehicle stops at the end of its lane.
                    let to_line = (stop.at - lane.end.position).length();
                    assert!(to_line < 0.5, "{to_line} {stop:?}");
                    reds += 1;
                }
            }
            free += lane
                .cells
                .iter()
                .filter(|cell| cell.occupant.is_none())
                .count();
            occupied += lane
                .cells
                .iter()
                .filter(|cell| cell.occupant.is_some())
                .count();
            // The occupant of a cell has its body there, possibly during a change to the adjacent lane.
            for cell in &lane.cells {
                let Some(occupant) = cell.occupant else {
                    continue;
                };
                let record = vehicles.iter().find(|v| v.agent == occupant).unwrap();
                let away = (record.body.position - cell.middle.position).length();
                let reach = 0.5 * (cell.length + record.length) + 3.5;
                assert!(away < reach, "{away} {reach} {cell:?}");
            }
        }
    });
    assert!(reds > 5 && planned > 20, "{reds} {planned}");
    assert!(occupied > 20 && free > 20, "{occupied} {free}");
    assert!(world.inspect_road(RoadId(999)).is_none());
}
