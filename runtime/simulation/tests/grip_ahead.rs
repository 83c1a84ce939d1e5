//! Tests that compare drivers who know the grip of the ground ahead with drivers who do not.

use crate::scenarios::*;
use roadwright_geometry::{DVec2, HeightField, Pose, ReferenceLine, Segment};
use roadwright_scenario::operation::draw::{self as drawing, RoadStyle};
use roadwright_scenario::*;
use roadwright_simulation::{RunOptions, World, builtin_modules};

const DRIVERS: [&str; 3] = ["idm", "pursuit", "fuzzy_driver"];

fn lane() -> RoadStyle {
    RoadStyle {
        section: CrossSection::driving(1, 0, 4.0),
        ..street("Ice Road")
    }
}

fn with_grip(mut scenario: Scenario, residential: f64, hidden: bool) -> Scenario {
    let grip = GroundGrip {
        residential: residential.into(),
        hidden,
        ..GroundGrip::default()
    };
    let settings = Settings {
        grip,
        ..scenario.settings()
    };
    scenario.apply(Edit::Settings(settings)).unwrap();
    for driver in DRIVERS {
        let edit = Edit::Stack(
            driver.into(),
            Some(Box::new(Stack::with_controller(driver))),
        );
        scenario.apply(edit).unwrap();
    }
    scenario
}

fn add(scenario: &mut Scenario, id: u32, driver: &str, from: f64, to: f64, speed: f64) {
    let agent = Agent {
        stack: driver.into(),
        start: Place::lane(RoadId(1), -1, from),
        destination: Some(Place::lane(RoadId(1), -1, to)),
        speed: speed.into(),
        ..west_to_east()
    };
    let edit = Edit::Agent(AgentId(id), Some(Box::new(agent)));
    scenario.apply(edit).unwrap();
}

/// Creates a queue of five stationary cars, and a car that approaches at 50 km/h from 300 m behind.
fn queue(driver: &str, grip: f64, hidden: bool) -> Scenario {
    let mut scenario = Scenario::new("queue");
    draw(&mut scenario, (0.0, 0.0), (1000.0, 0.0), &lane());
    let mut scenario = with_grip(scenario, grip, hidden);
    for number in 0..5u32 {
        let place = 600.0 + 7.0 * f64::from(number);
        add(&mut scenario, number + 1, "idm", place, 990.0, 0.0);
    }
    // A wall across the road stops the first car.
    let wall = Obstacle {
        name: "wall".into(),
        shape: Shape::Box {
            x: 640.0.into(),
            y: 0.0.into(),
            heading: 0.0.into(),
            length: 1.0.into(),
            width: 12.0.into(),
        },
        base: 0.0.into(),
        height: 2.0.into(),
        mass: None.into(),
    };
    let edit = Edit::Obstacle(ObstacleId(1), Some(Box::new(wall)));
    scenario.apply(edit).unwrap();
    add(&mut scenario, 6, driver, 300.0, 990.0, 13.0);
    scenario
}

/// Returns the gap to the last car in the queue after a minute (m), and whether any bodies have
/// touched.
fn arrival(scenario: &Scenario, level: DynamicsLevel) -> (f64, bool) {
    let options = RunOptions {
        dynamics: Some(level),
        dt: Some(0.02),
        ..RunOptions::default()
    };
    let mut world = World::new(scenario, &builtin_modules(), &options).unwrap();
    let (mut gap, mut touched, mut speed) = (0.0, false, 0.0);
    for _ in 0..6000 {
        world.step();
        let vehicles = world.snapshot().vehicles;
        let at = |id: u64| vehicles.iter().find(|seen| seen.agent == id).unwrap();
        let (last, own) = (at(1), at(6));
        gap = last.body.position.x - own.body.position.x - own.length;
        touched |= gap < 0.0;
        speed = own.speed;
    }
    assert!(speed.abs() < 0.05, "{level}: it stands, {speed}");
    (gap, touched)
}

#[test]
fn on_ice_a_car_stands_behind_a_queue_without_contact() {
    for driver in DRIVERS {
        for level in DynamicsLevel::FOR_VEHICLES {
            let (gap, touched) = arrival(&queue(driver, 0.2, false), level);
            println!("{driver}, {level}: {gap:.2} m left");
            assert!(
                !touched && (0.5..12.0).contains(&gap),
                "{driver} {level}: {gap}"
            );
        }
    }
    // Comparison: half of this grip is less than drivers rely on on asphalt, and here they do not
    // know it.
    for driver in ["idm", "pursuit"] {
        let (gap, touched) = arrival(&queue(driver, 0.1, true), DynamicsLevel::OneTrack);
        println!("{driver}, unseen: {gap:.2} m left");
        assert!(touched, "{driver}: {gap}");
        let (gap, touched) = arrival(&queue(driver, 0.1, false), DynamicsLevel::OneTrack);
        assert!(!touched && gap > 0.5, "{driver}: {gap}");
    }
}

/// Like `arrival`, but down a slope of 6 %.
#[test]
fn on_ice_a_car_comes_down_to_a_queue_without_contact() {
    let downhill = |driver: &str, hidden: bool| {
        let mut scenario = queue(driver, 0.2, hidden);
        let (low, high) = (DVec2::new(-100.0, -100.0), DVec2::new(1100.0, 100.0));
        let flat = HeightField::level(low, high, 50.0).unwrap();
        let columns = flat.columns();
        let heights = (0..flat.heights().len()).map(|at| -3.0 * (at % columns) as f64);
        let land = flat.with_heights(heights.collect()).unwrap();
        scenario.apply(Edit::Terrain(Some(Box::new(land)))).unwrap();
        arrival(&scenario, DynamicsLevel::OneTrack)
    };
    for driver in DRIVERS {
        let (gap, touched) = downhill(driver, false);
        let (unseen, touched_unseen) = downhill(driver, true);
        println!("{driver}: {gap:.2} m left, {unseen:.2} m on black ice");
        assert!(!touched && gap > 0.5, "{driver}: {gap}");
        assert!(touched_unseen, "control, {driver}: {unseen}");
    }
}

/// Returns the maximum offset from the centre line, m, on a road that consists of a straight, a
/// quarter circle with a radius of 25 m, and another straight.
fn bend(driver: &str, grip: f64, hidden: bool, level: DynamicsLevel) -> f64 {
    let straight = |length: f64| Segment::Line { length };
    let quarter = Segment::Arc {
        length: 25.0 * std::f64::consts::FRAC_PI_2,
        curvature: 1.0 / 25.0,
    };
    let line = vec![straight(200.0), quarter, straight(120.0)];
    let line = ReferenceLine::new(Pose::default(), line).unwrap();
    let mut scenario = Scenario::new("bend");
    let edit = drawing::road(&scenario, &line, &lane()).unwrap();
    scenario.apply(edit).unwrap();
    let mut scenario = with_grip(scenario, grip, hidden);
    add(&mut scenario, 1, driver, 10.0, 300.0, 13.0);
    let options = RunOptions {
        dynamics: Some(level),
        dt: Some(0.02),
        ..RunOptions::default()
    };
    let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    let mut widest = 0.0f64;
    for _ in 0..6000 {
        world.step();
        if let Some(seen) = world.snapshot().vehicles.first() {
            widest = widest.max(seen.t.abs());
        }
    }
    widest
}

#[test]
fn a_bend_on_ice_is_driven_as_slowly_as_it_asks_for() {
    for level in [DynamicsLevel::OneTrack, DynamicsLevel::Rigid] {
        let [known, unseen, dry] = [(0.15, false), (0.15, true), (1.0, false)]
            .map(|(grip, hidden)| bend("idm", grip, hidden, level));
        println!("{level}: {known:.2} m beside the middle, {unseen:.2} unseen, {dry:.2} dry");
        assert!(known < 1.2, "{level}: {known}");
        assert!(unseen > 2.0, "control, {level}: {unseen}");
    }
}

#[test]
fn drivers_on_dry_ground_do_not_change_whether_they_would_see_it_or_not() {
    let hash = |hidden: bool| {
        let scenario = with_grip(crossroads(), 1.0, hidden);
        let mut scenario = scenario;
        let edit = Edit::Agent(AgentId(1), Some(Box::new(west_to_east())));
        scenario.apply(edit).unwrap();
        let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
        (0..1500).for_each(|_| world.step());
        world.state_hash()
    };
    assert_eq!(hash(false), hash(true));
    // Files contain this setting only if it is set.
    let text = file::to_text(&with_grip(crossroads(), 0.3, true));
    assert!(text.contains("\"hidden\": true"));
    assert!(file::from_text(&text).unwrap().settings().grip.hidden);
    assert!(!file::to_text(&with_grip(crossroads(), 0.3, false)).contains("hidden"));
}
