//! Tests that compare the heat map with an independent count of vehicles, with heat maps for other
//! numbers of threads, and with unobserved runs.

use crate::scenarios::{crate_at, crossroads, draw, street, west_to_east};
use roadwright_scenario::*;
use roadwright_simulation::{
    Ending, HandControls, HeatCell, HeatMap, HeatPlace, Observer, RunOptions, Session, World,
    builtin_modules, heat_as_csv,
};
use std::collections::BTreeMap;
use std::path::Path;

fn world(scenario: &Scenario, options: &RunOptions) -> World {
    World::new(scenario, &builtin_modules(), options).unwrap()
}

fn watched(scenario: &Scenario, options: &RunOptions, seconds: f64) -> (HeatMap, Session) {
    let (mut session, mut heat) = (Session::new(world(scenario, options)), HeatMap::default());
    session.run(Ending::AtTime(seconds), &mut [&mut heat], |_| true);
    (heat, session)
}

/// Creates a car on a straight street with an obstacle just ahead.
fn blocked(start: f64) -> Scenario {
    let mut scenario = Scenario::new("street");
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &street("East"));
    let agent = Agent {
        start: Place::lane(RoadId(1), -1, start),
        destination: Some(Place::lane(RoadId(1), -1, 190.0)),
        ..west_to_east()
    };
    let block = crate_at(start - 100.0 + 5.6, -1.6);
    scenario
        .apply(Edit::Batch(vec![
            Edit::Agent(AgentId(1), Some(Box::new(agent))),
            Edit::Obstacle(ObstacleId(1), Some(Box::new(block))),
        ]))
        .unwrap();
    scenario
}

#[test]
fn a_car_that_stands_for_ten_seconds_colours_its_stretch_and_no_other() {
    // Half a second is a whole number of steps for the first time step but not for the second.
    for dt in [0.01, 0.03] {
        let options = RunOptions {
            dt: Some(dt),
            ..RunOptions::default()
        };
        let (heat, session) = watched(&blocked(43.0), &options, 10.0);
        let car = session.world().snapshot().vehicles[0];
        assert!(car.pose.position.x.abs() > 54.0, "it stands: {car:?}");
        let cells: Vec<(HeatPlace, HeatCell)> = heat.cells().collect();
        let [(place, cell)] = cells[..] else {
            panic!("{cells:?}");
        };
        assert_eq!(place, HeatPlace::Lane((RoadId(1), -1), 4));
        let samples = if dt == 0.01 { 20 } else { 19 };
        assert!((samples..=20).contains(&cell.seen), "{cell:?} at {dt}");
        assert_eq!(cell.standing, cell.seen);
        assert!((9.5..=10.0).contains(&cell.vehicle_seconds()));
        assert_eq!(cell.standing_share(), Some(1.0));
        assert!(cell.mean_speed().unwrap() < 0.3 && cell.share_of_limit().unwrap() < 0.02);
        assert_eq!(cell.collisions, 0);
    }
    // Positive control: other places stay empty.
    let (heat, _) = watched(&blocked(53.0), &RunOptions::default(), 10.0);
    let places: Vec<HeatPlace> = heat.cells().map(|(place, _)| place).collect();
    assert_eq!(places, [HeatPlace::Lane((RoadId(1), -1), 5)]);
}

#[test]
fn a_drive_across_a_junction_is_seen_on_its_lanes_and_between_them() {
    let mut scenario = crossroads();
    let agent = Edit::Agent(AgentId(1), Some(Box::new(west_to_east())));
    scenario.apply(agent).unwrap();
    let (heat, session) = watched(&scenario, &RunOptions::default(), 60.0);
    let drive = session.world().finished().next().expect("it arrives");
    let cells: BTreeMap<HeatPlace, HeatCell> = heat.cells().collect();
    let total: f64 = cells.values().map(HeatCell::vehicle_seconds).sum();
    assert!(
        (total - drive.ended).abs() < 0.5 + 1e-6,
        "{total} {}",
        drive.ended
    );
    let lanes: Vec<(RoadId, i8)> = cells
        .keys()
        .filter_map(|place| match place {
            HeatPlace::Lane(lane, _) => Some(*lane),
            _ => None,
        })
        .collect();
    assert!(lanes.iter().all(|(_, lane)| *lane == -1), "{lanes:?}");
    let between = cells.iter().filter_map(|(place, cell)| match place {
        HeatPlace::Connection(from, to, stretch) => Some(((from.0, to.0, *stretch), cell)),
        _ => None,
    });
    let between: Vec<_> = between.collect();
    assert!(!between.is_empty(), "{cells:?}");
    for ((from, to, stretch), cell) in between {
        assert_ne!(from, to);
        assert!(lanes.contains(&(from, -1)) && lanes.contains(&(to, -1)));
        assert!(stretch < 3 && cell.mean_speed().unwrap() > 1.0, "{cell:?}");
    }
    // The car reached about the allowed speed somewhere, and was much faster nowhere.
    let shares = cells.values().filter_map(HeatCell::share_of_limit);
    let fastest = shares.fold(0.0, f64::max);
    assert!((0.7..1.1).contains(&fastest), "{fastest}");
}

#[test]
fn who_drives_off_the_lanes_is_seen_in_cells_of_the_ground() {
    let mut session = Session::new(world(&blocked(43.0), &RunOptions::default()));
    let mut heat = HeatMap::default();
    session.step(&mut [&mut heat]);
    let hands = HandControls {
        pedals: 1.0,
        steering: 1.0,
        ..HandControls::default()
    };
    assert!(session.world_mut().drive_by_hand(1, hands));
    for _ in 0..300 {
        session.step(&mut [&mut heat]);
    }
    let at = session.world().snapshot().vehicles[0].pose.position;
    let cell = |at: f64| (at / HeatMap::CELL).floor() as i32;
    let here = HeatPlace::Ground(cell(at.x), cell(at.y));
    assert!(heat.cells().any(|(place, _)| place == here), "{at}");
    let is_ground = |place: &HeatPlace| matches!(place, HeatPlace::Ground(..));
    assert!(heat.cells().filter(|(place, _)| is_ground(place)).count() >= 1);
}

#[test]
fn it_is_the_same_on_any_number_of_threads_and_changes_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let scenario = file::load(&folder.join("old-town.scenario.json")).unwrap();
    let options = |threads| RunOptions {
        threads,
        populate: 20,
        ..RunOptions::default()
    };
    let (one, session) = watched(&scenario, &options(1), 20.0);
    let (three, _) = watched(&scenario, &options(3), 20.0);
    assert_eq!(one, three);
    assert!(one.cells().len() > 50);
    let mut alone = world(&scenario, &options(1));
    while alone.steps() < session.world().steps() {
        alone.step();
    }
    assert_eq!(alone.state_hash(), session.world().state_hash());
    // Another run starts with an empty heat map.
    let mut again = one.clone();
    again.begin(&alone);
    assert_eq!((again.cells().len(), again.samples()), (0, 0));
}

#[test]
fn the_table_has_a_column_for_each_title() {
    let cell = HeatCell {
        seen: 4,
        standing: 1,
        collisions: 2,
        speed: 20.0,
        allowed: 40.0,
    };
    let places = [
        HeatPlace::Ground(-1, 2),
        HeatPlace::Lane((RoadId(7), -1), 3),
        HeatPlace::Connection((RoadId(7), -1), (RoadId(8), 1), 0),
    ];
    let table = heat_as_csv(places.map(|place| (place, cell)));
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[1..],
        [
            ",,,,,,-8,16,2,5.0000,0.5000,0.2500,2",
            "7,-1,,,30,40,,,2,5.0000,0.5000,0.2500,2",
            "7,-1,8,1,0,10,,,2,5.0000,0.5000,0.2500,2",
        ]
    );
    let columns = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == columns));
    // A cell with only a collision has no mean speed.
    let crash = HeatCell {
        collisions: 1,
        ..HeatCell::default()
    };
    let table = heat_as_csv([(places[1], crash)]);
    assert!(table.ends_with("\n7,-1,,,30,40,,,0,,,,1\n"), "{table}");
}
