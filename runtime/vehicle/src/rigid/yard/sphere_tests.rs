//! Tests of spherical wheels that stand on obstacles, hit them and roll over them.

use super::tests::{drive, on_spheres, wish};
use super::*;
use crate::drive_train::tests::shipped;
use crate::rigid::{Flat, Wheel};
use rapier3d_f64::parry::shape::HeightFieldFlags;
use rapier3d_f64::parry::utils::Array2;
use rapier3d_f64::prelude::{HeightField as RapierField, SharedShape};
use roadwright_geometry::{HeightField, Pose as Place};

const ALL: [&str; 5] = [
    "willys-mb",
    "enviro-400",
    "articulated-bus",
    "soapbox-kart",
    "t-28",
];

/// Maximum distance of a wheel from its spring axis, m.
fn shed(model: &RigidModel, state: &CarState) -> f64 {
    let beside = |(wheel, sphere): (&Wheel, &SphereState)| {
        let hub = state.body.position + state.body.rotation * wheel.hub(model.radius);
        let apart = sphere.position - hub;
        (apart - state.up() * apart.dot(state.up())).length()
    };
    let wheels = model.wheels.iter().zip(&state.spheres);
    wheels.map(beside).fold(0.0, f64::max)
}

/// Lowers a heavy hull onto light wheels, as in [Gerdelan 2011], section 11.8.
#[test]
fn a_hull_let_down_on_free_springs_sags_as_the_closed_form_says() {
    for name in ALL {
        let model = on_spheres(name);
        let mut state = CarState::at_rest(&model, Place::default(), &Flat);
        let sags: Vec<f64> = (0..model.wheels.len())
            .map(|wheel| model.static_sag(wheel))
            .collect();
        // At first, the springs carry no load.
        let lifted = sags.iter().copied().fold(0.0, f64::max);
        state.body.position.z += lifted;
        drive(&model, &mut state, &Flat, 30.0, 0.02, |_| wish(0.0, 0.0));
        for ((wheel, turns), sag) in model.wheels.iter().zip(&state.wheels).zip(sags) {
            let sagged = turns.travel - wheel.longest();
            assert!(
                (sagged / sag - 1.0).abs() < 0.05,
                "{name}: {sagged} of {sag}"
            );
        }
        assert!(shed(&model, &state) < 1e-4, "{name}");
    }
}

/// Reproduces the situation in [Gerdelan 2011] in which wheels come off under full braking at full
/// lock.
#[test]
fn full_brake_and_full_lock_shed_no_wheel() {
    for name in ALL {
        let model = on_spheres(name);
        for lock in [1.5, -1.5, 0.0] {
            let mut state = CarState::at_rest(&model, Place::default(), &Flat);
            state.roll(20.0);
            let mut worst = 0.0f64;
            for _ in 0..200 {
                drive(&model, &mut state, &Flat, 0.02, 0.02, |_| {
                    wish(f64::NAN, lock)
                });
                worst = worst.max(shed(&model, &state));
            }
            println!("{name} {lock}: {worst}");
            assert!(worst < 0.005, "{name} {lock}: {worst}");
            assert!(state.tilt() < 0.3, "{name} {lock}: {}", state.tilt());
        }
    }
}

/// Drives against a kerb of the given height at 5 m/s for a few seconds.
fn over_a_kerb(model: &RigidModel, height: f64) -> (CarState, f64) {
    let mut state = CarState::at_rest(model, Place::default(), &Flat);
    state.roll(5.0);
    let mut worst = 0.0f64;
    for _ in 0..200 {
        let mut yard = Yard::new(&Flat, 200.0);
        yard.add_still(Still {
            solid: Solid::cuboid(DVec3::new(50.0, 20.0, 0.5 * height)),
            middle: DVec3::new(56.0, 0.0, 0.5 * height),
            heading: 0.0,
        });
        let controls = wish(2.0 * (5.0 - state.speed(model)), 0.0);
        let entry = CarEntry {
            model,
            state: &mut state,
            controls,
            layers: ALL_LAYERS,
            towed: &mut [],
        };
        assert!(yard.step(vec![entry], Vec::new(), 0.02).is_empty());
        worst = worst.max(shed(model, &state));
    }
    (state, worst)
}

/// Spheres roll up a kerb and continue on it. Rays pass through it. A wall stops both.
#[test]
fn spheres_climb_a_kerb_and_drive_on_it() {
    let height = 0.12;
    for name in ["willys-mb", "enviro-400"] {
        let model = on_spheres(name);
        let (state, worst) = over_a_kerb(&model, height);
        let risen = state.body.position.z - model.height;
        println!("{name}: {state:?} {risen} {worst}");
        assert!((risen - height).abs() < 0.03, "{name}: {risen}");
        let speed = state.speed(&model);
        assert!(
            state.body.position.x > 12.0 && (speed - 5.0).abs() < 0.5,
            "{name}: {speed}"
        );
        let whole: f64 = state.loads.iter().sum();
        assert!(
            (whole / (model.mass * GRAVITY) - 1.0).abs() < 0.1,
            "{name}: {whole}"
        );
        assert!(worst < 0.05, "{name}: {worst}");
        let rays = RigidModel::of_file(&shipped(name)).unwrap();
        let (through, _) = over_a_kerb(&rays, height);
        assert!(
            (through.body.position.z - rays.height).abs() < 0.03,
            "{name}"
        );
        let (stopped, worst) = over_a_kerb(&model, 3.0);
        assert!(
            stopped.body.position.x < 6.0 && stopped.speed(&model) < 0.5,
            "{name}"
        );
        assert!(worst < 0.05, "{name}: {worst}");
    }
}

/// Tyres have grip on an obstacle that the wheels have climbed, so the vehicle brakes there as it
/// does on the ground.
#[test]
fn tyres_hold_on_what_spheres_stand_on() {
    let model = on_spheres("willys-mb");
    let stop = |height: f64| {
        let mut state = CarState::at_rest(&model, Place::default(), &Flat);
        state.body.position.z += height;
        for sphere in &mut state.spheres {
            sphere.position.z += height;
        }
        state.roll(10.0);
        let mut settled = 0.0;
        for step in 0..250 {
            let mut yard = Yard::new(&Flat, 200.0);
            yard.add_still(Still {
                solid: Solid::cuboid(DVec3::new(60.0, 20.0, 0.5)),
                middle: DVec3::new(0.0, 0.0, height - 0.5),
                heading: 0.0,
            });
            if step == 50 {
                settled = state.body.position.x;
            }
            let controls = wish(if step < 50 { 0.0 } else { -3.0 }, 0.0);
            let entry = CarEntry {
                model: &model,
                state: &mut state,
                controls,
                layers: ALL_LAYERS,
                towed: &mut [],
            };
            assert!(yard.step(vec![entry], Vec::new(), 0.02).is_empty());
        }
        assert!(
            state.speed(&model).abs() < 0.05,
            "{height}: {}",
            state.speed(&model)
        );
        state.body.position.x - settled
    };
    // With a height of 0, the block is below the ground and has no effect.
    let (ground, block) = (stop(0.0), stop(1.0));
    assert!((block / ground - 1.0).abs() < 0.05, "{block} {ground}");
}

/// An obstacle that a wheel runs into does not support the wheel, which stays on the ground and
/// does not sink in.
#[test]
fn a_wheel_against_a_block_stays_on_the_ground() {
    let model = on_spheres("willys-mb");
    let mut state = CarState::at_rest(&model, Place::default(), &Flat);
    let front = model.wheels[2].contact;
    let mut lowest = f64::INFINITY;
    let mut touched = 0.0f64;
    for _ in 0..150 {
        let mut yard = Yard::new(&Flat, 200.0);
        // The block is lower than the hull and in front of one wheel.
        yard.add_still(Still {
            solid: Solid::cuboid(DVec3::new(0.3, 0.2, 0.11)),
            middle: DVec3::new(model.rear + front.x + 1.5, front.y, 0.11),
            heading: 0.0,
        });
        let entry = CarEntry {
            model: &model,
            state: &mut state,
            controls: wish(0.3, 0.0),
            layers: ALL_LAYERS,
            towed: &mut [],
        };
        assert!(yard.step(vec![entry], Vec::new(), 0.02).is_empty());
        for sphere in &state.spheres {
            lowest = lowest.min(sphere.position.z);
            touched = touched.max(sphere.bearing.length());
        }
    }
    assert!(touched > 100.0, "nothing was in its way: {touched}");
    assert!(lowest > model.radius - 0.02, "{lowest} of {}", model.radius);
}

/// Returns the loss of speed and the maximum vertical speed in the last part of ten seconds at 20 m/s.
fn rolled(mut step: impl FnMut() -> (DVec3, f64)) -> (f64, f64) {
    let (mut hop, mut speed) = (0.0f64, 0.0);
    for number in 0..2000 {
        let (velocity, along) = step();
        if number > 100 {
            hop = hop.max(velocity.z.abs());
        }
        speed = along;
    }
    (hop, 20.0 - speed)
}

#[test]
fn wheels_do_not_hop_over_flat_ground() {
    let edge = DVec2::splat(300.0);
    let field = HeightField::level(-edge, edge, 1.0).unwrap();
    let model = RigidModel {
        train: None,
        ..on_spheres("willys-mb")
    };
    let mut state = CarState::at_rest(&model, Place::new(-100.0, 0.37, 0.0), &field);
    state.roll(20.0);
    let (hop, lost) = rolled(|| {
        drive(&model, &mut state, &field, 0.005, 0.005, |_| wish(0.0, 0.0));
        let fastest = state.spheres.iter().map(|sphere| sphere.velocity);
        let fastest = fastest.max_by(|a, b| a.z.abs().total_cmp(&b.z.abs()));
        (fastest.unwrap(), state.speed(&model))
    });
    println!("hop {hop}, lost {lost}");
    assert!(hop < 0.1 && lost.abs() < 0.1, "{hop} {lost}");
}

/// Shows why heights are looked up without rapier: a rapier ball on rapier's height field hops over
/// the edges between the triangles unless a flag is set.
#[test]
fn rapiers_own_ball_hops_without_its_flag() {
    let hop = |flags: HeightFieldFlags| {
        let mut physics = PhysicsWorld {
            gravity: Vector::new(0.0, -GRAVITY, 0.0),
            ..PhysicsWorld::default()
        };
        physics.integration_parameters.dt = 0.005;
        let heights = Array2::repeat(601, 601, 0.0);
        let field = RapierField::with_flags(heights, Vector::new(600.0, 1.0, 600.0), flags);
        let ground = ColliderBuilder::new(SharedShape::new(field)).friction(1.0);
        physics.insert(RigidBodyBuilder::fixed(), ground);
        let radius = 0.38;
        let ball = RigidBodyBuilder::dynamic()
            .translation(Vector::new(-100.0, radius, 0.37))
            .linvel(Vector::new(20.0, 0.0, 0.0))
            .angvel(Vector::new(0.0, 0.0, -20.0 / radius))
            .allow_fast_rotation(true);
        let mass = 400.0 / (4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius);
        let wheel = ColliderBuilder::ball(radius).friction(1.0).density(mass);
        let (ball, _) = physics.insert(ball, wheel);
        rolled(|| {
            physics.step();
            let velocity = from_rapier(physics.bodies[ball].linvel());
            (DVec3::new(velocity.x, velocity.z, velocity.y), velocity.x)
        })
    };
    let (with, without) = (
        hop(HeightFieldFlags::FIX_INTERNAL_EDGES),
        hop(HeightFieldFlags::empty()),
    );
    println!("{with:?} {without:?}");
    assert!(with.0 < 0.1 && with.1.abs() < 0.1, "{with:?}");
    assert!(without.0 > 0.1, "{without:?}");
}

/// A state without some of its wheels, as in a damaged save, does not match the model.
#[test]
fn spheres_that_are_missing_or_nowhere_do_not_fit() {
    let model = on_spheres("willys-mb");
    let mut state = CarState::at_rest(&model, Place::default(), &Flat);
    let mut again = state.clone();
    assert!(state.fits(&model));
    let rays = RigidModel::of_file(&shipped("willys-mb")).unwrap();
    assert!(!state.fits(&rays));
    again.spheres.pop();
    assert!(!again.fits(&model));
    state.spheres[1].velocity.y = f64::NAN;
    assert!(!state.fits(&model));
}

#[test]
fn the_same_bits_again() {
    let run = || {
        let model = on_spheres("t-28");
        let mut state = CarState::at_rest(&model, Place::default(), &Flat);
        drive(&model, &mut state, &Flat, 3.0, 0.02, |_| wish(1.0, 1.3));
        state
    };
    assert_eq!(run(), run());
}
