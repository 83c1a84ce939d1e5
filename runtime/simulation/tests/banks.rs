//! Tests of the effects of lateral slopes on planar vehicles, compared with closed-form solutions.

use roadwright_geometry::math::{atan, cos, sin};
use roadwright_geometry::{DVec2, HeightField};
use roadwright_scenario::*;
use roadwright_simulation::{HandControls, RunOptions, VehicleRecord, World, builtin_modules};

const G: f64 = 9.81;
/// Friction coefficient of the tyres of a car without a vehicle file.
const MU: f64 = 1.0489;
/// Cornering stiffness of the tyres of a car without a vehicle file, divided by the wheel load,
/// 1/rad.
const STIFFNESS: f64 = 21.92;
/// Levels of dynamics that are tested.
const LEVELS: [DynamicsLevel; 3] = [
    DynamicsLevel::OneTrack,
    DynamicsLevel::DynamicOneTrack,
    DynamicsLevel::Sliding,
];

/// Returns the ratio of maximum tyre force to load on dry asphalt, and gravity (m/s^2), at a
/// dynamics level.
fn tyres(level: DynamicsLevel) -> (f64, f64) {
    match level {
        DynamicsLevel::Sliding => (3.0, 9.8),
        _ => (MU, G),
    }
}

/// Creates a car that heads east on open ground. The ground rises by `rise` per metre to the north.
fn hillside(rise: f64, grip: f64, speed: f64) -> Scenario {
    let mut scenario = Scenario::new("hillside");
    let stack = Stack::with_controller("pursuit");
    scenario
        .apply(Edit::Stack("pursuit".into(), Some(Box::new(stack))))
        .unwrap();
    let car = VehicleType::car();
    scenario
        .apply(Edit::VehicleType("car".into(), Some(Box::new(car))))
        .unwrap();
    let (low, high) = (DVec2::new(-200.0, -200.0), DVec2::new(600.0, 200.0));
    let flat = HeightField::level(low, high, 50.0).unwrap();
    let columns = flat.columns();
    let heights = (0..flat.heights().len()).map(|at| rise * 50.0 * (at / columns) as f64);
    let land = flat.with_heights(heights.collect()).unwrap();
    scenario.apply(Edit::Terrain(Some(Box::new(land)))).unwrap();
    let grip = GroundGrip {
        open_ground: grip.into(),
        ..GroundGrip::default()
    };
    let settings = Settings {
        grip,
        dt: 0.01.into(),
        ..scenario.settings()
    };
    scenario.apply(Edit::Settings(settings)).unwrap();
    let agent = Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "pursuit".into(),
        dynamics: None,
        start: Place::ground(0.0, 0.0, 0.0),
        via: Vec::new(),
        destination: Some(Place::ground(500.0, 0.0, 0.0)),
        depart: 0.0.into(),
        speed: speed.into(),
        repeat: None.into(),
    };
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    scenario.apply(edit).unwrap();
    scenario
}

/// Creates a world in which the car is under manual control, without steering.
fn world(scenario: &Scenario, level: DynamicsLevel, pedals: f64) -> World {
    let options = RunOptions {
        dynamics: Some(level),
        ..RunOptions::default()
    };
    let mut world = World::new(scenario, &builtin_modules(), &options).unwrap();
    world.step();
    let controls = HandControls {
        pedals,
        steering: 0.0,
        ..HandControls::default()
    };
    assert!(world.drive_by_hand(1, controls));
    world
}

fn car(world: &World) -> VehicleRecord {
    world.snapshot().vehicles[0]
}

fn steps(world: &mut World, seconds: f64) {
    (0..(seconds / 0.01).round() as u32).for_each(|_| world.step());
}

#[test]
fn who_is_parked_across_a_slope_stays_as_long_as_the_tyres_hold() {
    for level in LEVELS {
        for (grip, share) in [(1.0, 0.9), (0.2, 0.9), (0.05, 0.9)] {
            let rise = share * grip * tyres(level).0;
            let mut world = world(&hillside(rise, grip, 0.0), level, 0.0);
            steps(&mut world, 0.5);
            let before = car(&world).pose;
            steps(&mut world, 20.0);
            assert_eq!(car(&world).pose, before, "{level} at {grip}");
        }
    }
}

#[test]
fn on_ice_it_slides_down_as_the_closed_form_says() {
    for level in [DynamicsLevel::DynamicOneTrack, DynamicsLevel::Sliding] {
        let (friction, gravity) = tyres(level);
        let grip = 0.1 / friction;
        let (rise, time) = (0.3, 3.0);
        let mut world = world(&hillside(rise, grip, 0.0), level, 0.0);
        let start = car(&world).pose;
        steps(&mut world, time);
        let angle = atan(rise);
        let down = G * sin(angle) - 0.1 * gravity * cos(angle);
        let seen = car(&world).pose;
        let moved = start.position.y - seen.position.y;
        let exact = 0.5 * down * time * time;
        assert!(
            (moved / exact - 1.0).abs() < 0.03,
            "{level}: {moved} {exact}"
        );
        assert!(
            (seen.position.x - start.position.x).abs() < 0.2 * moved,
            "{level}"
        );
    }
    // The kinematic model has no slip, so the car does not move sideways.
    let mut world = world(&hillside(0.3, 0.1, 0.0), DynamicsLevel::OneTrack, 0.0);
    let start = car(&world).pose;
    steps(&mut world, 5.0);
    assert_eq!(car(&world).pose, start);
}

/// Returns the slip at which the force of a brush tyre is the given fraction of its load, as the
/// tangent of the slip angle.
fn slip_for(force: f64, friction: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let share: f64 = 0.5 * (low + high);
        let given = friction * (1.0 - (1.0 - share) * (1.0 - share) * (1.0 - share));
        if given < force {
            low = share;
        } else {
            high = share;
        }
    }
    3.0 * friction * low / STIFFNESS
}

#[test]
fn it_drifts_across_a_slope_at_the_angle_at_which_its_tyres_hold_it() {
    for rise in [0.0, 0.05, 0.1, 0.2] {
        let level = DynamicsLevel::DynamicOneTrack;
        let mut world = world(&hillside(rise, 1.0, 20.0), level, 0.1);
        steps(&mut world, 2.0);
        let before = car(&world).pose;
        steps(&mut world, 0.1);
        let after = car(&world).pose;
        let moved = before.to_local(after.position);
        // Both axles carry the lateral component of the weight at the same slip.
        let angle = atan(rise);
        let exact = slip_for(sin(angle), MU * cos(angle));
        let seen = -moved.y / moved.x;
        assert!(
            (seen - exact).abs() < 0.03 * exact + 1e-5,
            "{rise}: {seen} {exact}"
        );
        assert!(after.heading.abs() < 0.02, "{rise}: {after:?}");
    }
}

#[test]
fn brakes_and_bank_share_the_grip() {
    let grip = 0.3 / MU;
    let braking = 2.4;
    // The required totals are 2.45 and 3.07 m/s^2, and 3.03 m/s^2 are available.
    let aside = [0.0, 0.05, 0.2].map(|rise| {
        let level = DynamicsLevel::DynamicOneTrack;
        let mut world = world(&hillside(rise, grip, 20.0), level, -braking / 8.0);
        let (start, speed) = (car(&world).pose.position, car(&world).speed);
        steps(&mut world, 7.0);
        let end = car(&world).pose.position - start;
        let exact =
            speed * speed / (2.0 * braking) - 0.5 * braking * (speed / braking - 7.0).powi(2);
        let asked = (braking * braking + (G * sin(atan(rise))).powi(2)).sqrt();
        if asked < 0.3 * G * cos(atan(rise)) {
            assert!((end.x / exact - 1.0).abs() < 0.02, "{rise}: {end} {exact}");
        }
        -end.y
    });
    println!("{aside:?}");
    assert!(aside[0].abs() < 1e-6 && aside[1] < 1.0, "{aside:?}");
    assert!(aside[2] > 5.0 * aside[1], "{aside:?}");
}

#[test]
fn steep_and_broken_sides_break_nothing() {
    for rise in [1e4, -1e4, 1e-12, 3.0] {
        for level in LEVELS {
            for pedals in [1.0, -1.0, 0.0] {
                let mut world = world(&hillside(rise, 1.0, 10.0), level, pedals);
                for _ in 0..500 {
                    world.step();
                    let seen = car(&world);
                    let is_sane = seen.pose.position.is_finite() && seen.speed.abs() < 300.0;
                    assert!(is_sane, "{rise} {level}: {seen:?}");
                }
            }
        }
    }
}

#[test]
fn without_slopes_a_bank_does_nothing() {
    let banked = hillside(0.2, 1.0, 20.0);
    let mut off = banked.clone();
    let settings = Settings {
        slopes: false,
        ..banked.settings()
    };
    off.apply(Edit::Settings(settings)).unwrap();
    for level in LEVELS {
        let ends = [&banked, &off, &hillside(0.0, 1.0, 20.0)].map(|scenario| {
            let mut world = world(scenario, level, 0.1);
            steps(&mut world, 3.0);
            car(&world).pose
        });
        assert_eq!(ends[1], ends[2], "{level}");
        let slips = level != DynamicsLevel::OneTrack;
        assert_eq!(
            ends[0].position.y < ends[1].position.y - 0.1,
            slips,
            "{level}"
        );
    }
}
