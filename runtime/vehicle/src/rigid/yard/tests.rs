//! Tests of vehicles and loose bodies on the ground against closed-form solutions.

use super::*;
use crate::drive_train::tests::shipped;
use crate::rigid::Flat;
use roadwright_geometry::Pose as Place;
use roadwright_geometry::math::{atan, cos, sin};
use roadwright_scenario::VehicleType;
use roadwright_scenario::vehicle_file::WheelShape;
use std::f64::consts::{FRAC_PI_2, PI};

/// A plane that rises at an angle to the east.
struct Slope(f64);

impl Surface for Slope {
    fn at(&self, place: DVec2) -> (f64, DVec3) {
        let (sin, cos) = (sin(self.0), cos(self.0));
        (place.x * sin / cos, DVec3::new(-sin, 0.0, cos))
    }
}

fn models() -> Vec<(&'static str, RigidModel)> {
    let mut models = vec![("car", RigidModel::from(&VehicleType::car()))];
    for name in ["willys-mb", "enviro-400"] {
        models.push((name, RigidModel::of_file(&shipped(name)).unwrap()));
    }
    models.push(("willys-mb on spheres", on_spheres("willys-mb")));
    models.push(("enviro-400 on spheres", on_spheres("enviro-400")));
    models
}

/// A shipped vehicle, with spherical wheels.
pub(super) fn on_spheres(name: &str) -> RigidModel {
    let mut file = shipped(name);
    file.wheels.shape = WheelShape::Sphere;
    RigidModel::of_file(&file).unwrap()
}

pub(super) fn drive(
    model: &RigidModel,
    state: &mut CarState,
    surface: &impl Surface,
    seconds: f64,
    dt: f64,
    controls: impl Fn(&CarState) -> Controls,
) {
    drive_at(200.0, model, state, surface, seconds, dt, controls);
}

fn drive_at(
    rate_hz: f64,
    model: &RigidModel,
    state: &mut CarState,
    surface: &impl Surface,
    seconds: f64,
    dt: f64,
    controls: impl Fn(&CarState) -> Controls,
) {
    for _ in 0..(seconds / dt).round() as u32 {
        let controls = controls(state);
        let entry = CarEntry {
            model,
            state: &mut *state,
            controls,
            layers: ALL_LAYERS,
            towed: &mut [],
        };
        let lost = Yard::new(surface, rate_hz).step(vec![entry], Vec::new(), dt);
        assert!(lost.is_empty());
    }
}

pub(super) fn wish(acceleration: f64, steering: f64) -> Controls {
    Controls {
        acceleration,
        steering,
        ..Controls::default()
    }
}

#[test]
fn at_rest_it_stands_at_its_static_loads() {
    for (name, model) in models() {
        let mut state = CarState::at_rest(&model, Place::default(), &Flat);
        let before = state.clone();
        drive(&model, &mut state, &Flat, 5.0, 0.02, |_| wish(0.0, 0.0));
        let whole: f64 = state.loads.iter().sum();
        assert!(
            (whole / (model.mass * GRAVITY) - 1.0).abs() < 1e-6,
            "{name}"
        );
        for (wheel, load) in model.wheels.iter().zip(&state.loads) {
            assert!((load / wheel.load - 1.0).abs() < 1e-6, "{name}: {load}");
        }
        let moved = (state.body.position - before.body.position).length();
        assert!(moved < 1e-6, "{name}: {moved}");
    }
}

/// Level ground without grip.
struct Frictionless;

impl Surface for Frictionless {
    fn at(&self, place: DVec2) -> (f64, DVec3) {
        Flat.at(place)
    }

    fn friction(&self, _place: DVec2) -> f64 {
        0.0
    }
}

#[test]
fn a_vehicle_on_frictionless_ground_slides_on() {
    for (name, model) in models() {
        let model = RigidModel {
            train: None,
            ..model
        };
        let mut state = CarState::at_rest(&model, Place::default(), &Frictionless);
        state.roll(8.0);
        let brakes = |_: &CarState| wish(-3.0, 0.2);
        drive(&model, &mut state, &Frictionless, 5.0, 0.02, brakes);
        let speed = state.body.velocity.x;
        assert!((speed - 8.0).abs() < 0.05, "{name}: {speed}");
    }
}

/// With the hand brake applied, a vehicle stays in place on a slope, whether it points up, down or
/// across.
#[test]
fn a_parked_car_stays_on_a_slope() {
    for (name, model) in models() {
        // The rear wheels hold as much force as their load allows.
        for (heading, grade) in [(0.0, 0.15), (PI, 0.15), (FRAC_PI_2, 0.15)] {
            let slope = Slope(grade);
            let place = Place::new(0.0, 0.0, heading);
            let mut state = CarState::at_rest(&model, place, &slope);
            let parked = |_: &CarState| Controls {
                acceleration: 0.0,
                hand_brake: true,
                ..Controls::default()
            };
            // A bus that leans on its tyres needs time to settle.
            drive(&model, &mut state, &slope, 25.0, 0.02, parked);
            let settled = state.body.position;
            drive(&model, &mut state, &slope, 60.0, 0.02, parked);
            let moved = (state.body.position - settled).length();
            assert!(moved < 1e-3, "{name} {heading}: {moved}");
        }
    }
    // If the slope exceeds the grip, the vehicle slides.
    let model = &models()[1].1;
    let slope = Slope(atan(1.2 * model.friction));
    let mut state = CarState::at_rest(model, Place::default(), &slope);
    drive(model, &mut state, &slope, 10.0, 0.02, |_| wish(0.0, 0.0));
    assert!(state.body.position.x < -1.0, "{}", state.body.position);
}

/// Distance that a vehicle moves on a slope of the given angle in 5 s after it has settled for 5 s, m.
fn moved_on_slope(
    model: &RigidModel,
    degrees: f64,
    heading: f64,
    controls: impl Fn() -> Controls,
) -> f64 {
    let slope = Slope(degrees.to_radians());
    let place = Place::new(0.0, 0.0, heading);
    let mut state = CarState::at_rest(model, place, &slope);
    drive(model, &mut state, &slope, 5.0, 0.02, |_| controls());
    let settled = state.body.position;
    drive(model, &mut state, &slope, 5.0, 0.02, |_| controls());
    (state.body.position - settled).length()
}

#[test]
fn hand_brake_and_foot_brake_hold_what_the_foot_brake_holds() {
    let mut standing = 0;
    for (name, model) in models() {
        for degrees in [10.0, 22.0] {
            for heading in [0.0, PI] {
                let braked = Controls {
                    acceleration: f64::NAN,
                    ..Controls::default()
                };
                let held = Controls {
                    hand_brake: true,
                    ..braked
                };
                let foot = moved_on_slope(&model, degrees, heading, || braked);
                let both = moved_on_slope(&model, degrees, heading, || held);
                println!("{name} {degrees} degrees, {heading:.1}: {foot:.4} m, both {both:.4} m");
                assert!(
                    both < foot + 0.01,
                    "{name} {degrees} {heading}: {foot} {both}"
                );
                standing += u32::from(foot < 0.01);
            }
        }
    }
    assert!(standing > 10, "{standing}");
}

#[test]
fn a_wish_of_zero_stands_on_a_slope_either_way_round() {
    for (name, model) in models() {
        for degrees in [10.0, 20.0] {
            for heading in [0.0, PI] {
                let moved = moved_on_slope(&model, degrees, heading, || wish(0.0, 0.0));
                println!("{name} {degrees} degrees, {heading:.1}: {moved:.4} m");
                assert!(moved < 0.01, "{name} {degrees} {heading}: {moved}");
            }
        }
    }
}

#[test]
fn it_speeds_up_and_stops_as_asked_whatever_the_step() {
    for (name, model) in models() {
        let distances = [100.0, 200.0, 400.0, 800.0].map(|rate| {
            let mut state = CarState::at_rest(&model, Place::default(), &Flat);
            let (seconds, dt) = (12.0, 0.02);
            drive_at(rate, &model, &mut state, &Flat, seconds, dt, |_| {
                wish(1.0, 0.0)
            });
            let speed = state.speed(&model);
            let from = state.body.position.x;
            drive_at(rate, &model, &mut state, &Flat, seconds, dt, |_| {
                wish(-3.0, 0.0)
            });
            println!("{name} {rate}: {speed} {from} {}", state.body.position.x);
            assert!(state.speed(&model).abs() < 1e-3, "{name}");
            (speed, state.body.position.x - from)
        });
        for (speed, distance) in distances {
            assert!(
                (distance / distances[3].1 - 1.0).abs() < 0.02,
                "{name}: {distances:?}"
            );
            assert!(
                (speed / distances[3].0 - 1.0).abs() < 0.02,
                "{name}: {distances:?}"
            );
            let exact = speed * speed / 6.0;
            assert!(
                (distance / exact - 1.0).abs() < 0.1,
                "{name}: {distance} {exact}"
            );
        }
    }
}

/// A body that rolls downhill without resistance converts the potential energy that it loses
/// entirely to kinetic energy.
#[test]
fn energy_is_kept_on_a_slope() {
    let model = RigidModel {
        train: None,
        ..RigidModel::of_file(&shipped("willys-mb")).unwrap()
    };
    let slope = Slope(-0.1);
    let mut state = CarState::at_rest(&model, Place::default(), &slope);
    state.roll(1.0);
    let energy = |state: &CarState| {
        let speed = state.body.velocity.length();
        0.5 * speed * speed + GRAVITY * state.body.position.z
    };
    let before = energy(&state);
    // The driver's request compensates for the slope.
    let coasts = wish(GRAVITY * sin(0.1) * 0.999, 0.0);
    drive(&model, &mut state, &slope, 10.0, 0.02, |_| coasts);
    let kinetic = 0.5 * state.body.velocity.length_squared();
    assert!(kinetic > 50.0, "{kinetic}");
    assert!(((energy(&state) - before) / kinetic).abs() < 0.01);
}

#[test]
fn a_circle_is_that_of_its_wheels_and_it_leans_as_the_closed_form_says() {
    for (name, model) in models() {
        let mut state = CarState::at_rest(&model, Place::default(), &Flat);
        let speed = 6.0;
        state.roll(speed);
        let limits = model.limits;
        let lateral = 1.5;
        let wheels = atan(limits.wheelbase * lateral / (speed * speed));
        drive(&model, &mut state, &Flat, 12.0, 0.02, |state| {
            wish(2.0 * (speed - state.speed(&model)), wheels)
        });
        let yaw = state.body.spin.z;
        let lateral = yaw * state.speed(&model);
        println!(
            "{name}: yaw {yaw} of {}, roll {} of {}",
            1.5 / speed,
            state.roll_angle(),
            model.roll_gradient() * lateral
        );
        assert!((yaw * speed / 1.5 - 1.0).abs() < 0.15, "{name}: {yaw}");
        // In a left turn, the vehicle leans to the right, so its left side is raised.
        let roll = state.roll_angle() / (model.roll_gradient() * lateral);
        assert!((roll - 1.0).abs() < 0.1, "{name}: {roll}");
    }
}

/// Ground with ice on the left and asphalt on the right.
struct Ice;

impl Surface for Ice {
    fn at(&self, _: DVec2) -> (f64, DVec3) {
        (0.0, DVec3::Z)
    }
    fn friction(&self, place: DVec2) -> f64 {
        if place.y > 0.0 { 0.1 } else { 1.0 }
    }
}

/// The jeep after 3 s with a constant request. It has rear-wheel drive in all gears, and wheel 0 is on ice.
fn on_ice(is_locked: bool) -> (RigidModel, CarState) {
    let mut model = RigidModel {
        is_locked,
        ..RigidModel::of_file(&shipped("willys-mb")).unwrap()
    };
    let train = model.train.as_mut().unwrap();
    train.gears.iter_mut().for_each(|gear| gear.wheels = 2);
    let mut state = CarState::at_rest(&model, Place::default(), &Ice);
    drive(&model, &mut state, &Ice, 3.0, 0.02, |_| wish(3.0, 0.0));
    (model, state)
}

/// One driven wheel is on ice. With an open differential, it spins, and its grip limits the
/// vehicle. With a locked differential, both wheels turn at the same speed.
#[test]
fn a_locked_differential_gets_off_the_ice() {
    let (model, open) = on_ice(false);
    let (_, locked) = on_ice(true);
    let rims = |state: &CarState| [0, 1].map(|wheel: usize| state.wheels[wheel].spin * 0.41);
    println!("{:?} {:?}", open.wheels, locked.wheels);
    let (slow, fast) = (open.speed(&model), locked.speed(&model));
    assert!(fast > 1.8 * slow && slow > 0.3, "{slow} {fast}");
    // The wheel on ice spins, and the other wheel rolls.
    let [on_ice, on_asphalt] = rims(&open);
    assert!(on_ice > 3.0 * slow, "{on_ice} {slow}");
    assert!(
        (on_asphalt / slow - 1.0).abs() < 0.05,
        "{on_asphalt} {slow}"
    );
    assert!(open.wheels[0].slip_ratio > 0.5 && open.wheels[1].slip_ratio < 0.1);
    // The engine turns with the mean speed of both wheels.
    let mean = 0.5 * (on_ice + on_asphalt);
    let driven = open.driven_speed(&model);
    assert!((driven / mean - 1.0).abs() < 0.02, "{driven} {mean}");
    let [left, right] = rims(&locked);
    assert!((left - right).abs() < 1e-9, "{left} {right}");
    // Undriven wheels roll.
    for wheel in [2, 3] {
        assert!((open.wheels[wheel].spin * 0.41 / slow - 1.0).abs() < 0.01);
    }
}

#[test]
fn spinning_wheels_do_not_outrun_their_engine() {
    struct AllIce;
    impl Surface for AllIce {
        fn at(&self, _: DVec2) -> (f64, DVec3) {
            (0.0, DVec3::Z)
        }
        fn friction(&self, _: DVec2) -> f64 {
            0.05
        }
    }
    for is_locked in [false, true] {
        let model = RigidModel {
            is_locked,
            ..RigidModel::of_file(&shipped("willys-mb")).unwrap()
        };
        let train = model.train.as_ref().unwrap();
        let mut state = CarState::at_rest(&model, Place::default(), &AllIce);
        let mut highest = 0.0f64;
        for _ in 0..100 {
            drive(&model, &mut state, &AllIce, 0.05, 0.01, |_| wish(9.0, 0.0));
            let reading = train.reading(&state.drive, state.driven_speed(&model));
            highest = highest.max(reading.rpm);
            assert_eq!(reading.gear, 1);
        }
        let limit = train.curve.limit_rpm();
        assert!(highest > 0.9 * limit && highest < 1.05 * limit, "{highest}");
        assert!(
            state.wheels.iter().all(|wheel| wheel.spin > 10.0),
            "{state:?}"
        );
        // Without throttle, the speed of the wheels returns to that of the ground.
        drive(&model, &mut state, &AllIce, 3.0, 0.01, |_| wish(0.0, 0.0));
        let speed = state.speed(&model);
        for wheel in &state.wheels {
            assert!(
                (wheel.spin * model.radius - speed).abs() < 0.1 + 0.05 * speed,
                "{wheel:?}"
            );
        }
    }
}

#[test]
fn wheels_roll_with_the_ground_lock_under_the_brake_and_feel_their_springs() {
    for (name, model) in models() {
        let mut state = CarState::at_rest(&model, Place::default(), &Flat);
        state.roll(12.0);
        drive(&model, &mut state, &Flat, 2.0, 0.02, |_| wish(0.5, 0.0));
        let speed = state.speed(&model);
        for wheel in &state.wheels {
            let rim = wheel.spin * model.radius;
            assert!((rim / speed - 1.0).abs() < 0.02, "{name}: {rim} {speed}");
            assert!(
                wheel.slip_ratio.abs() < 0.02 && !wheel.slides,
                "{name}: {wheel:?}"
            );
        }
        drive(&model, &mut state, &Flat, 0.5, 0.02, |_| {
            wish(f64::NAN, 0.0)
        });
        let front: Vec<_> = (0..4).filter(|&i| model.wheels[i].steers != 0.0).collect();
        // The nose dives when braking.
        assert!(state.wheels[front[0]].travel > 0.001, "{name}: {state:?}");
        // The hand brake locks the wheels on which it acts.
        let mut held = state.clone();
        drive(&model, &mut held, &Flat, 0.3, 0.02, |_| Controls {
            hand_brake: true,
            ..Controls::default()
        });
        for (wheel, turns) in model.wheels.iter().zip(&held.wheels) {
            if wheel.hand_brake && held.speed(&model) > 1.0 {
                assert_eq!((turns.spin, turns.slip_ratio), (0.0, -1.0), "{name}");
            } else if held.speed(&model) > 1.0 {
                assert!(
                    turns.spin * model.radius > 0.9 * held.speed(&model),
                    "{name}"
                );
            }
        }
        // In a bend, the front wheels are steered and the wheels have slip angles.
        drive(&model, &mut state, &Flat, 1.0, 0.02, |_| wish(0.0, 0.1));
        let steering = front.iter().map(|&i| state.wheels[i].steering);
        assert!(steering.fold(0.0f64, f64::max) > 0.05, "{name}");
    }
}

#[test]
fn a_wall_stops_it_and_a_post_is_pushed() {
    let model = RigidModel::of_file(&shipped("enviro-400")).unwrap();
    let solid = Solid::cuboid(DVec3::new(0.5, 0.5, 1.0));
    let post = LooseModel {
        solid: solid.clone(),
        mass: 200.0,
        inertia: 200.0 / 12.0 * DVec3::new(5.0, 5.0, 2.0),
        friction: 0.5,
        height: 1.0,
    };
    let mut loose = post.standing(DVec2::new(20.0, 0.2), 0.0, &Flat);
    let far = post.standing(DVec2::new(20.0, 9.0), 0.0, &Flat);
    let mut other = far;
    let mut state = CarState::at_rest(&model, Place::default(), &Flat);
    state.roll(8.0);
    for _ in 0..500 {
        let mut yard = Yard::new(&Flat, 200.0);
        yard.add_still(Still {
            solid: Solid::cuboid(DVec3::new(0.5, 20.0, 2.0)),
            middle: DVec3::new(45.0, 0.0, 2.0),
            heading: 0.0,
        });
        let cars = vec![CarEntry {
            model: &model,
            state: &mut state,
            controls: wish(1.0, 0.0),
            layers: ALL_LAYERS,
            towed: &mut [],
        }];
        let loose = vec![
            LooseEntry {
                model: &post,
                state: &mut loose,
            },
            LooseEntry {
                model: &post,
                state: &mut other,
            },
        ];
        assert!(yard.step(cars, loose, 0.02).is_empty());
    }
    // An untouched body stays exactly where it was.
    assert_eq!(other, far);
    assert!(loose.body.position.x > 25.0, "{:?}", loose.body);
    assert!(loose.body.position.x < 46.0, "{:?}", loose.body);
    let front = state.body.position.x + model.hull.x + model.half_size.x;
    assert!(front < 45.0 && front > 30.0, "{front}");
}

#[test]
fn a_solver_that_loses_its_mind_is_put_to_rest() {
    let model = RigidModel::of_file(&shipped("willys-mb")).unwrap();
    let mut state = CarState::at_rest(&model, Place::default(), &Flat);
    let before = state.body;
    let mut mad = model.clone();
    mad.wheels[1].spring = 1e300;
    mad.wheels[1].contact.z = -1.5;
    let entry = CarEntry {
        model: &mad,
        state: &mut state,
        controls: wish(1.0, 0.1),
        layers: ALL_LAYERS,
        towed: &mut [],
    };
    assert_eq!(
        Yard::new(&Flat, 200.0).step(vec![entry], Vec::new(), 0.02),
        [0]
    );
    assert_eq!((state.body, state.fits(&model)), (before, true));
    // The vehicle continues from its new position.
    drive(&model, &mut state, &Flat, 1.0, 0.02, |_| wish(1.0, 0.0));
    assert!(state.speed(&model) > 0.5);
}

#[test]
fn it_climbs_what_its_engine_can_and_no_more() {
    let model = RigidModel::of_file(&shipped("willys-mb")).unwrap();
    let limit = model.train.as_ref().unwrap().limiting_grade();
    let climbed = [0.95, 1.05].map(|share| {
        let slope = Slope(share * limit);
        let mut state = CarState::at_rest(&model, Place::default(), &slope);
        drive(&model, &mut state, &slope, 20.0, 0.02, |_| wish(9.0, 0.0));
        state.body.position.x - model.rear
    });
    assert!(climbed[0] > 10.0 && climbed[1] < 1.0, "{climbed:?}");
}

/// A vehicle at another level has infinite mass and pushes everything in its path.
#[test]
fn what_nothing_stops_shoves() {
    let model = RigidModel::of_file(&shipped("willys-mb")).unwrap();
    let mut state = CarState::at_rest(&model, Place::default(), &Flat);
    let before = state.body.position;
    let half_size = DVec3::new(2.0, 1.0, 0.8);
    for step in 0..150 {
        let mut yard = Yard::new(&Flat, 200.0);
        yard.add_kinematic_body(KinematicBody {
            half_size,
            middle: DVec3::new(-6.0 + 0.04 * f64::from(step + 1), 0.0, 1.0),
            heading: 0.0,
            velocity: DVec2::new(2.0, 0.0),
            yaw_rate: 0.0,
            layers: ALL_LAYERS,
        });
        let entry = CarEntry {
            model: &model,
            state: &mut state,
            controls: wish(0.0, 0.0),
            layers: ALL_LAYERS,
            towed: &mut [],
        };
        assert!(yard.step(vec![entry], Vec::new(), 0.02).is_empty());
    }
    // The front of the kinematic body is at 2 m, and the vehicle is ahead of it.
    let rear = state.body.position.x - model.half_size.x;
    assert!(rear > 1.9 && rear < 2.5, "{rear} from {before}");
    assert!(state.tilt() < 0.2);
}

/// Posts that are partly inside a slope stay in place until they are pushed, and are not thrown
/// into the air even then.
#[test]
fn a_post_in_a_slope_is_not_thrown_out_of_it() {
    let slope = Slope(0.25);
    let post = LooseModel {
        solid: Solid::cuboid(DVec3::new(1.0, 1.0, 1.0)),
        mass: 500.0,
        inertia: DVec3::splat(500.0 * 8.0 / 12.0),
        friction: 0.5,
        height: 1.0,
    };
    let before = post.standing(DVec2::ZERO, 0.3, &slope);
    let mut state = before;
    let step = |state: &mut LooseState| {
        let loose = vec![LooseEntry {
            model: &post,
            state,
        }];
        assert!(
            Yard::new(&slope, 200.0)
                .step(Vec::new(), loose, 0.02)
                .is_empty()
        );
    };
    (0..50).for_each(|_| step(&mut state));
    assert_eq!(state, before);
    state.body.velocity.x = -0.5;
    let mut highest = f64::NEG_INFINITY;
    for _ in 0..500 {
        step(&mut state);
        highest = highest.max(state.body.position.z);
    }
    // The foot of the post rises out of the slope by a quarter of a metre, and the post slides or
    // falls downhill.
    assert!(highest < before.body.position.z + 0.5, "{highest}");
    assert!(state.rests && state.body.position.x < 0.0, "{state:?}");
}
