//! Tests of the effects of the ground's grip on braking, climbing and turning, at every level that
//! models tyres.

use crate::scenarios::*;
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterSet, Registry, Step,
};
use roadwright_geometry::math::tan;
use roadwright_geometry::{DVec2, HeightField};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::*;
use roadwright_simulation::{
    Ground, RunOptions, SavedWorld, VehicleRecord, World, builtin_modules,
};

/// Friction coefficient of the tyres of a car without a vehicle file, times gravity, m/s^2.
const MU_G: f64 = 1.0489 * 9.81;

/// A controller that always commands the same acceleration with straight wheels.
struct Pedal(f64);

static STOMPS: ModuleInfo = ModuleInfo {
    id: "stomps",
    name: "Stomps",
    doc: "Brakes as hard as it can.",
};

static CLIMBS: ModuleInfo = ModuleInfo {
    id: "climbs",
    name: "Climbs",
    doc: "Accelerates gently.",
};

impl Logic for Pedal {}

impl Controller for Pedal {
    fn step(
        &self,
        _: &ParameterSet,
        _: &Step<'_>,
        _: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        for output in outputs {
            (output.acceleration, output.steering) = (self.0, 0.0);
        }
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        Lookahead {
            distance: 5.0,
            time: 0.0,
        }
    }
}

fn registry() -> Registry {
    let mut registry = builtin_modules();
    for (info, pedal) in [(&STOMPS, -50.0), (&CLIMBS, 1.0)] {
        let make = move || -> Box<dyn Controller> { Box::new(Pedal(pedal)) };
        registry.add(ModuleEntry::<dyn Controller>::new(*info, &[], make));
    }
    registry
}

/// Creates a road of one lane along x, 2 km long, on ground with the given grip.
fn road(grip: GroundGrip) -> Scenario {
    let mut scenario = Scenario::new("grip");
    let style = RoadStyle {
        section: CrossSection::driving(1, 0, 4.0),
        ..street("Runway")
    };
    draw(&mut scenario, (0.0, 0.0), (2000.0, 0.0), &style);
    for stack in ["stomps", "climbs"] {
        let edit = Edit::Stack(stack.into(), Some(Box::new(Stack::with_controller(stack))));
        scenario.apply(edit).unwrap();
    }
    with_grip(scenario, grip)
}

fn with_grip(mut scenario: Scenario, grip: GroundGrip) -> Scenario {
    let settings = Settings {
        grip,
        ..scenario.settings()
    };
    scenario.apply(Edit::Settings(settings)).unwrap();
    scenario
}

fn driving(mut scenario: Scenario, stack: &str, start: Place, speed: f64) -> Scenario {
    let agent = Agent {
        stack: stack.into(),
        start,
        destination: Some(Place::lane(RoadId(1), -1, 1990.0)),
        speed: speed.into(),
        ..west_to_east()
    };
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    scenario.apply(edit).unwrap();
    scenario
}

fn world(scenario: &Scenario, level: DynamicsLevel) -> World {
    let options = RunOptions {
        dynamics: Some(level),
        dt: Some(0.01),
        ..RunOptions::default()
    };
    World::new(scenario, &registry(), &options).unwrap()
}

fn only(world: &World) -> VehicleRecord {
    world.snapshot().vehicles[0]
}

/// Returns the deceleration in a step, m/s^2.
fn braking(world: &mut World) -> f64 {
    let before = only(world).speed;
    world.step();
    (before - only(world).speed) / 0.01
}

/// Returns the braking distance from 15 m/s, m.
fn braking_distance(level: DynamicsLevel, residential: f64) -> f64 {
    let grip = GroundGrip {
        residential: residential.into(),
        ..GroundGrip::default()
    };
    let start = Place::lane(RoadId(1), -1, 100.0);
    let mut world = world(&driving(road(grip), "stomps", start, 15.0), level);
    world.step();
    let first = only(&world);
    assert!(first.speed > 14.8, "{level}: {first:?}");
    for _ in 0..4000 {
        world.step();
    }
    let last = only(&world);
    assert!(last.speed.abs() < 1e-6, "{level}: {last:?}");
    last.pose.position.x - first.pose.position.x + 0.01 * first.speed
}

#[test]
fn braking_takes_twice_as_far_on_half_the_grip_at_every_level() {
    for level in DynamicsLevel::FOR_VEHICLES {
        // In the source of this model, the maximum tyre force is 3 times the load, and gravity is
        // 9.8 m/s^2.
        let whole = if level == DynamicsLevel::Sliding {
            3.0 * 9.8
        } else {
            MU_G
        };
        // At level `lane`, the first command takes effect only at the start of a stride of a fifth of a
        // second. The car drives at 15 m/s.
        let late = if level == DynamicsLevel::Lane {
            3.1
        } else {
            0.0
        };
        let braked = [0.2, 0.1].map(|grip| {
            let (distance, exact) = (braking_distance(level, grip), 225.0 / (2.0 * grip * whole));
            println!("{level}: {distance:.2} m on {grip}, v^2 / 2 mu g is {exact:.2}");
            assert!(
                (distance - exact).abs() < 0.03 * exact + late,
                "{level}: {distance} {exact}"
            );
            distance
        });
        let ratio = braked[1] / braked[0];
        assert!((ratio - 2.0).abs() < 0.06, "{level}: {ratio}");
        // With full grip, the brakes are the limit, at 8 m/s^2.
        let brakes = braking_distance(level, 1.0);
        assert!((brakes - 225.0 / 16.0).abs() < late.max(1.6), "{brakes}");
    }
}

/// Returns the distance that a car climbs on a slope in 8 s from rest, in gear, m.
fn climbed(grip: f64, slope: f64) -> f64 {
    let (low, high) = (DVec2::new(-100.0, -100.0), DVec2::new(2100.0, 100.0));
    let flat = HeightField::level(low, high, 50.0).unwrap();
    let columns = flat.columns();
    let rise = tan(slope) * flat.spacing();
    let heights = (0..flat.heights().len()).map(|sample| rise * (sample % columns) as f64);
    let land = flat.with_heights(heights.collect()).unwrap();
    let grip = GroundGrip {
        residential: grip.into(),
        ..GroundGrip::default()
    };
    let mut scenario = road(grip);
    let edit = Edit::Terrain(Some(Box::new(land)));
    scenario.apply(edit).unwrap();
    let start = Place::lane(RoadId(1), -1, 100.0);
    let scenario = driving(scenario, "climbs", start, 0.0);
    let mut world = world(&scenario, DynamicsLevel::Rigid);
    world.step();
    let first = only(&world).pose.position.x;
    (0..800).for_each(|_| world.step());
    only(&world).pose.position.x - first
}

#[test]
fn the_limiting_grade_follows_the_grip() {
    // The limit is tan a = mu, because all four wheels are driven.
    let slope = 0.2;
    let limit = tan(slope) / 1.0489;
    let (up, down) = (climbed(1.15 * limit, slope), climbed(0.85 * limit, slope));
    println!("{up:.2} m up, {down:.2} m down at a limit of {limit:.4}");
    assert!(up > 2.0, "{up}");
    assert!(down < -2.0, "{down}");
}

/// Returns the heading after braking from 15 m/s for 1.5 s, with the car's centre line above the
/// left or right edge of the road, rad.
fn split(grip: GroundGrip, is_left: bool) -> f64 {
    let edge = if is_left { 2.0 } else { -2.0 };
    let empty = road(grip);
    let middle = empty.pose_of(&Place::lane(RoadId(1), -1, 100.0)).unwrap();
    let start = Place::Ground(GroundPlace {
        x: 100.0.into(),
        y: (middle.position.y + edge).into(),
        heading: 0.0.into(),
    });
    let mut world = world(&driving(empty, "stomps", start, 15.0), DynamicsLevel::Rigid);
    (0..150).for_each(|_| world.step());
    let seen = only(&world);
    assert!(seen.speed < 14.0, "it brakes: {seen:?}");
    seen.pose.heading
}

#[test]
fn ice_below_the_wheels_of_one_side_turns_a_braking_vehicle_to_the_other() {
    let ice = GroundGrip {
        open_ground: 0.15.into(),
        ..GroundGrip::default()
    };
    // At the left edge, the road is on the right of the car, so the right wheels have grip.
    let (right, left) = (split(ice, true), split(ice, false));
    println!("{right:.3} rad, {left:.3} rad");
    assert!(right < -0.05, "{right}");
    assert!((left + right).abs() < 0.02, "{left} {right}");
    // Comparison: the same grip on both sides.
    let even = GroundGrip {
        open_ground: 0.6.into(),
        residential: 0.6.into(),
        ..GroundGrip::default()
    };
    assert!(split(even, true).abs() < 1e-3);
}

#[test]
fn the_ground_answers_by_road_class_and_place() {
    let mut scenario = road(GroundGrip::default());
    let bridge = RoadStyle {
        class: RoadClass::Motorway,
        layer: 1,
        section: CrossSection::driving(1, 0, 10.0),
        ..street("Bridge")
    };
    draw(&mut scenario, (500.0, -100.0), (500.0, 100.0), &bridge);
    let on_road = scenario.pose_of(&Place::lane(RoadId(1), -1, 50.0)).unwrap();
    let middle = on_road.position;
    let whole = Ground::new(&scenario);
    assert_eq!(
        (whole.grip(middle), whole.grip(DVec2::splat(1e6))),
        (1.0, 1.0)
    );
    let grip = GroundGrip {
        open_ground: 0.6.into(),
        residential: 0.7.into(),
        motorway: 0.3.into(),
        ..GroundGrip::default()
    };
    let ground = Ground::new(&with_grip(scenario.clone(), grip));
    assert_eq!(ground.grip(middle), 0.7);
    assert_eq!(ground.grip(middle + DVec2::Y * 1.99), 0.7);
    assert_eq!(ground.grip(middle + DVec2::Y * 2.01), 0.6);
    for x in [450.5, 453.0, 454.5] {
        assert_eq!(
            ground.grip(middle + DVec2::X * x),
            0.3,
            "the bridge spans the road"
        );
    }
    for far in [DVec2::splat(1e9), DVec2::splat(-1e9), DVec2::NAN] {
        assert_eq!(ground.grip(far), 0.6);
    }
    assert_ne!(ground.hash(), whole.hash());
    // A vehicle on the road below the bridge has the grip of this lower road.
    let start = Place::lane(RoadId(1), -1, 488.0);
    let mut below = world(
        &driving(with_grip(scenario, grip), "stomps", start, 15.0),
        DynamicsLevel::OneTrack,
    );
    (0..150).for_each(|_| below.step());
    let under = only(&below);
    assert!((under.pose.position.x - 502.5).abs() < 1.5, "{under:?}");
    assert!((braking(&mut below) - 0.7 * MU_G).abs() < 0.01);
}

#[test]
fn junctions_have_the_grip_of_their_most_important_road() {
    let mut scenario = Scenario::new("junction");
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &street("East"));
    let main = RoadStyle {
        class: RoadClass::Arterial,
        ..street("North")
    };
    draw(&mut scenario, (0.0, -100.0), (0.0, 100.0), &main);
    let grip = GroundGrip {
        open_ground: 0.5.into(),
        residential: 0.8.into(),
        arterial: 0.9.into(),
        ..GroundGrip::default()
    };
    let ground = Ground::new(&with_grip(scenario, grip));
    assert_eq!(ground.grip(DVec2::ZERO), 0.9);
    assert_eq!(ground.grip(DVec2::new(50.0, 1.0)), 0.8);
    assert_eq!(ground.grip(DVec2::new(1.0, 50.0)), 0.9);
    assert_eq!(ground.grip(DVec2::splat(40.0)), 0.5);
}

#[test]
fn slippery_worlds_are_the_same_with_two_threads_and_after_a_save() {
    let grip = GroundGrip {
        open_ground: 0.4.into(),
        residential: 0.3.into(),
        ..GroundGrip::default()
    };
    let mut scenario = with_grip(crossroads(), grip);
    for (id, level) in (1u64..).zip(DynamicsLevel::FOR_VEHICLES) {
        let agent = Agent {
            dynamics: Some(level),
            depart: (4.0 * id as f64).into(),
            ..west_to_east()
        };
        let edit = Edit::Agent(AgentId(id as u32), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    let with = |threads: usize| RunOptions {
        threads,
        ..RunOptions::default()
    };
    let make = |scenario: &Scenario, threads: usize| {
        World::new(scenario, &builtin_modules(), &with(threads)).unwrap()
    };
    let (mut one, mut two) = (make(&scenario, 1), make(&scenario, 2));
    let mut dry = make(&with_grip(scenario.clone(), GroundGrip::default()), 1);
    for _ in 0..2200 {
        one.step();
        two.step();
        dry.step();
    }
    assert_eq!(one.state_hash(), two.state_hash());
    assert_ne!(one.state_hash(), dry.state_hash(), "control: grip matters");
    assert!(one.snapshot().vehicles.len() > 1);
    let bytes = one.save().unwrap().to_bytes();
    let saved = SavedWorld::from_bytes(&bytes).unwrap();
    let restore = |scenario: &Scenario| {
        let ground = Ground::new(scenario);
        World::restore(ground, scenario, &builtin_modules(), &with(1), &saved)
    };
    let (mut again, _) = restore(&scenario).unwrap();
    for _ in 0..1000 {
        one.step();
        again.step();
    }
    assert_eq!(one.state_hash(), again.state_hash());
    // On ground with another grip, the run would continue differently.
    assert!(restore(&with_grip(scenario, GroundGrip::default())).is_err());
}

#[test]
fn grip_that_is_edited_counts_at_once() {
    let start = Place::lane(RoadId(1), -1, 100.0);
    let dry = driving(road(GroundGrip::default()), "stomps", start, 15.0);
    let ice = GroundGrip {
        residential: 0.15.into(),
        ..GroundGrip::default()
    };
    let icy = with_grip(dry.clone(), ice);
    let mut world = world(&dry, DynamicsLevel::OneTrack);
    (0..50).for_each(|_| world.step());
    assert!((braking(&mut world) - 8.0).abs() < 1e-6);
    world.update(&dry, &icy, &registry()).unwrap();
    (0..5).for_each(|_| world.step());
    assert!((braking(&mut world) - 0.15 * MU_G).abs() < 1e-6);
}

#[test]
fn files_keep_what_differs_and_refuse_what_is_no_grip() {
    let text = file::to_text(&road(GroundGrip::default()));
    assert!(!text.contains("grip\":"), "defaults are not written");
    let grip = GroundGrip {
        service: 0.7.into(),
        ..GroundGrip::default()
    };
    let text = file::to_text(&road(grip));
    assert_eq!(file::from_text(&text).unwrap().settings().grip, grip);
    assert!(!text.contains("open_ground"), "{text}");
    for (wrong, word) in [("0.0", "more than 0"), ("1.6", "at most 1.5"), ("-1", "-1")] {
        let wrong = text.replace("\"service\": 0.7", &format!("\"service\": {wrong}"));
        let error = file::from_text(&wrong).unwrap_err().to_string();
        assert!(error.contains("settings.grip.service"), "{error}");
        assert!(error.contains(word), "{error}");
    }
    let unknown = text.replace("\"service\": 0.7", "\"gravel\": 0.7");
    let error = file::from_text(&unknown).unwrap_err().to_string();
    assert!(error.contains("gravel"), "{error}");
}
