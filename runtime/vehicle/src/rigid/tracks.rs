//! Continuous tracks: the wheels on each side turn at the same speed, and the speed difference
//! between the sides steers the vehicle.
//!
//! The ground below a wheel deflects like a bristle, in the direction in which the track slides.
//! The resulting force acts like a spring for small displacements, so that a parked vehicle stays
//! in place, and like friction for large displacements ([Wong 2008], chapter 6: turning requires
//! the force that slides the tracks sideways). A rolling track continuously moves onto new ground,
//! so that small slips give proportional forces, as for a tyre.

use super::brush::{Brush, Grip, HELD_STIFFNESS};
use super::car::{CarState, Controls};
use super::model::{RigidModel, Wheel};
use super::moment::{Contact, Moment};
use super::surface::Surface;
use crate::dynamic::{GRAVITY, Push};
use glam::DVec2;
use roadwright_geometry::math::tan;
use roadwright_scenario::vehicle_file::VehicleFile;

/// Time constant with which the requested turn rate is reached, s.
const RESPONSE: f64 = 0.006;
/// Time constant with which the vehicle's centre is brought to rest in a turn on the spot, s.
const SETTLING: f64 = 0.3;
/// Speed below which a vehicle does not turn if its driver does not request motion, m/s.
const STANDING: f64 = 0.3;
/// Maximum fraction of the grip that the driver uses in bends.
const CAREFUL: f64 = 0.8;
/// Holding force of the hand brake, N. It exceeds any grip.
const HELD: f64 = 1e9;
/// Speed above which a track no longer damps the deflection of the ground, m/s.
const ROLLING: f64 = 2.0;
/// Number of bisection steps in the search for the speed of a track.
const HALVINGS: u32 = 44;

/// The tracks of a vehicle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tracks {
    /// Maximum force with which the steering drives one track against the other, N.
    pub force: f64,
    /// Speed at which the tracks run in opposite directions in a turn on the spot, m/s.
    pub pivot_speed: f64,
    /// Distance between the centre lines of the tracks, m.
    pub tread: f64,
}

/// A requested turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// Turn rate to the left, rad/s.
    rate: f64,
    /// Whether this is a turn on the spot, during which the vehicle's centre stays in place.
    pub(super) is_pivot: bool,
}

impl Tracks {
    /// Creates the tracks of a vehicle file around the given wheels; `None` if the file has no
    /// tracks.
    pub(super) fn of_file(file: &VehicleFile, wheels: &[Wheel]) -> Option<Self> {
        let tracks = file.tracks.as_ref()?;
        let sides = wheels.iter().map(|wheel| wheel.contact.y.abs());
        Some(Self {
            force: tracks.torque_nm / file.wheels.radius,
            pivot_speed: tracks.pivot_speed.get(),
            tread: 2.0 * sides.sum::<f64>() / wheels.len() as f64,
        })
    }

    /// Converts a steering angle to the turn rate of a car with this angle, or to a turn on the
    /// spot if the inner track would have to run backwards.
    pub(super) fn turn(
        &self,
        model: &RigidModel,
        controls: &Controls,
        steering: f64,
        speed: f64,
    ) -> Turn {
        let goes = controls.acceleration > 0.0 || speed.abs() > STANDING;
        if !goes {
            return Turn {
                rate: 0.0,
                is_pivot: false,
            };
        }
        let curvature = tan(steering) / model.limits.wheelbase;
        let is_tight = 0.5 * self.tread * curvature.abs() >= 1.0;
        if is_tight && speed.abs() < self.pivot_speed && controls.acceleration > 0.0 {
            let direction = if controls.is_reversing { -1.0 } else { 1.0 };
            let rate = 2.0 * self.pivot_speed / self.tread;
            return Turn {
                rate: rate.copysign(curvature) * direction,
                is_pivot: true,
            };
        }
        let most = CAREFUL * model.friction * GRAVITY / speed.abs().max(STANDING);
        Turn {
            rate: (curvature * speed).clamp(-most, most),
            is_pivot: false,
        }
    }

    /// Yaw rate of a turn on the spot, rad/s. At this rate, the moment of the friction along the tracks
    /// balances the moment of the friction across them. The tracks run at `pivot_speed` in opposite
    /// directions, and the friction is uniform. Without slip, the rate would be 2 v / B.
    pub fn pivot_rate(&self, model: &RigidModel) -> f64 {
        let moment = |rate: f64| {
            let wheels = model.wheels.iter().map(|wheel| {
                let (x, y) = (wheel.contact.x, wheel.contact.y.abs());
                let slip = DVec2::new(self.pivot_speed - rate * y, rate * x);
                wheel.load * (y * slip.x - x * slip.y) / slip.length().max(1e-9)
            });
            wheels.sum::<f64>()
        };
        let (mut low, mut high) = (0.0, 2.0 * self.pivot_speed / self.tread);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if moment(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
}

/// A track within a solver step.
struct Side {
    /// Drive force at the circumference, N.
    drive: f64,
    /// Maximum holding force of the track's brake, N.
    brake: f64,
    /// Inertia of the rotating parts, kg.
    mass: f64,
    /// Speed before the step, m/s. `range` contains the lowest and highest permitted speed.
    before: f64,
    range: [f64; 2],
}

impl<S: Surface> Moment<'_, S> {
    /// Returns the engine force that keeps the vehicle's centre in place during a turn on the spot.
    pub(super) fn hold_middle(&self, state: &mut CarState, speed: f64) -> Push {
        (state.drive.throttle, state.drive.brake) = (0.0, 0.0);
        Push {
            drive: -speed / SETTLING,
            ..Push::default()
        }
    }

    /// Advances the rotation of the tracks. Returns the longitudinal and lateral force of the ground on each
    /// wheel, N.
    pub(super) fn run_tracks(
        &self,
        tracks: &Tracks,
        controls: &Controls,
        turn: Turn,
        push: &Push,
        state: &mut CarState,
        contacts: &[Contact],
    ) -> Vec<DVec2> {
        let model = self.model;
        let speed = state.speed(model);
        let spin = state.body.spin.dot(state.up());
        let gain = model.inertia.z / (tracks.tread * RESPONSE);
        let steer = (gain * (turn.rate - spin)).clamp(-tracks.force, tracks.force);
        // In a turn on the spot, the track speeds are symmetric about zero, so that friction also
        // stops the motion of the centre.
        let (middle, reach) = if turn.is_pivot {
            (0.0, tracks.pivot_speed)
        } else {
            (speed, tracks.pivot_speed.max(speed.abs()))
        };
        let mut forces = vec![DVec2::ZERO; contacts.len()];
        for side in [1.0, -1.0] {
            let wheels = model.wheels.iter().enumerate();
            let wheels = wheels.filter(|(_, wheel)| wheel.contact.y * side > 0.0);
            let wheels: Vec<usize> = wheels.map(|(number, _)| number).collect();
            let is_held = controls.hand_brake && wheels.iter().any(|&i| model.wheels[i].hand_brake);
            let engine = self.engine_share(state);
            let track = Side {
                drive: 0.5 * push.drive * model.mass - side * steer,
                brake: if is_held {
                    HELD
                } else {
                    0.5 * push.brake * model.mass
                },
                mass: model.turning_mass * wheels.len() as f64 + engine,
                before: state.wheels[wheels[0]].rim(model.radius),
                range: [middle - reach, middle + reach],
            };
            let rim = self.track_speed(&track, &wheels, state, contacts);
            for number in wheels {
                forces[number] = self.lay(number, rim, state, &contacts[number]);
            }
        }
        forces
    }

    /// Inertia of the engine per track, kg.
    fn engine_share(&self, state: &CarState) -> f64 {
        let train = self.model.train.as_ref();
        train.map_or(0.0, |train| {
            let ratio = state.drive.shifting.gear_of(train).ratio;
            0.5 * self.model.engine_mass(ratio)
        })
    }

    /// Returns the speed of a track after the step, m/s. It is computed implicitly, so that drive,
    /// brake, inertia and ground forces balance.
    fn track_speed(
        &self,
        track: &Side,
        wheels: &[usize],
        state: &CarState,
        contacts: &[Contact],
    ) -> f64 {
        let left = |rim: f64| {
            let ground = wheels.iter().map(|&number| {
                let (contact, brush) = (&contacts[number], state.brushes[number]);
                let grip = self.grip(contact);
                give_way(brush, &grip, contact.velocity, rim, self.dt).1.x
            });
            let ground: f64 = ground.sum();
            track.drive - ground - track.mass * (rim - track.before) / self.dt
        };
        if left(0.0).abs() <= track.brake {
            return 0.0;
        }
        let [mut low, mut high] = track.range;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if left(middle) > track.brake.copysign(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Returns the force of the ground on a wheel whose track runs at speed `rim`, m/s.
    fn lay(&self, number: usize, rim: f64, state: &mut CarState, contact: &Contact) -> DVec2 {
        let (model, grip) = (self.model, self.grip(contact));
        let brush = state.brushes[number];
        let (brush, force) = give_way(brush, &grip, contact.velocity, rim, self.dt);
        state.brushes[number] = brush;
        state.loads[number] = contact.load;
        let (wheel, spring) = (&mut state.wheels[number], &model.wheels[number]);
        wheel.travel = contact.compression.max(spring.longest());
        (wheel.spin, wheel.slides) = (rim / model.radius, false);
        wheel.read_slip(contact.velocity, model.radius, contact.load);
        force
    }
}

/// Returns the ground deflection after a step, and the longitudinal and lateral force that it
/// causes, N. `rim` is the speed of the track at this wheel, and `velocity` is the velocity of the
/// wheel over the ground, both in m/s.
fn give_way(brush: Brush, grip: &Grip, velocity: DVec2, rim: f64, dt: f64) -> (Brush, DVec2) {
    if grip.load <= 0.0 {
        return (Brush::default(), DVec2::ZERO);
    }
    let slides = DVec2::new(velocity.x - rim, velocity.y);
    let most = grip.friction / HELD_STIFFNESS;
    // The deflection is limited by friction and decays as the track rolls onto new ground.
    let rate = slides.length() / most + rim.abs() * HELD_STIFFNESS / grip.stiffness;
    let before = DVec2::new(brush.along, brush.across);
    let after = (before + slides * dt) / (1.0 + rate * dt);
    // Critical damping for the mass that corresponds to the load, as long as the ground holds.
    let holds = (1.0 - after.length() / most).max(0.0) * (1.0 - rim.abs() / ROLLING).max(0.0);
    let damping = 2.0 * (HELD_STIFFNESS / GRAVITY).sqrt() * holds;
    let wanted = -(after * HELD_STIFFNESS + slides * damping);
    let force = wanted.clamp_length_max(grip.friction) * grip.load;
    let brush = Brush {
        along: after.x,
        across: after.y,
    };
    (brush, force)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::drive_train::tests::shipped;
    use crate::rigid::{ALL_LAYERS, CarEntry, Flat, Yard};
    use roadwright_geometry::math::wrap_angle;

    fn t_28() -> RigidModel {
        RigidModel::of_file(&shipped("t-28")).expect("it has a suspension")
    }

    /// Drives for the given number of seconds in steps of `dt`. Returns the angle by which the
    /// vehicle has turned, rad.
    fn drive(
        model: &RigidModel,
        state: &mut CarState,
        controls: Controls,
        seconds: f64,
        dt: f64,
    ) -> f64 {
        let yard = Yard::new(&Flat, 200.0);
        let (mut turned, mut heading) = (0.0, state.pose(model).heading);
        for _ in 0..(seconds / dt).round() as u32 {
            let entry = CarEntry {
                model,
                state,
                controls,
                layers: ALL_LAYERS,
                towed: &mut [],
            };
            assert!(yard.step(vec![entry], Vec::new(), dt).is_empty());
            let now = state.pose(model).heading;
            turned += wrap_angle(now - heading);
            heading = now;
        }
        turned
    }

    fn at(speed: f64) -> CarState {
        let mut state = CarState::at_rest(&t_28(), Default::default(), &Flat);
        state.roll(speed);
        state
    }

    #[test]
    fn it_turns_on_the_spot_to_both_sides_and_the_same_at_any_step() {
        let model = t_28();
        let exact = model.tracks.map(|tracks| tracks.pivot_rate(&model));
        let exact = exact.expect("it has tracks");
        for (lock, is_reversing, sign) in
            [(1.3, false, 1.0), (-1.3, false, -1.0), (1.3, true, -1.0)]
        {
            for dt in [0.01, 0.02] {
                let controls = Controls {
                    acceleration: 1.0,
                    steering: lock,
                    is_reversing,
                    ..Controls::default()
                };
                let mut state = at(0.0);
                drive(&model, &mut state, controls, 4.0, dt);
                let rate = drive(&model, &mut state, controls, 4.0, dt) / 4.0;
                assert!((sign * rate / exact - 1.0).abs() < 0.05, "{rate} {exact}");
            }
        }
        // Without slip, the yaw rate would be 2 v / B. The friction across the tracks reduces it by
        // more than half.
        assert!(exact < 0.5);
    }

    #[test]
    fn it_drives_the_bends_that_a_car_with_its_steering_angle_would() {
        let model = t_28();
        for speed in [2.0, 5.0, 8.0] {
            let radius = 40.0;
            let steering = roadwright_geometry::math::atan(model.limits.wheelbase / radius);
            let controls = Controls {
                acceleration: 0.1,
                steering,
                ..Controls::default()
            };
            let mut state = at(speed);
            drive(&model, &mut state, controls, 2.0, 0.02);
            let turned = drive(&model, &mut state, controls, 1.0, 0.02);
            let wanted = state.speed(&model) / radius;
            assert!((turned / wanted - 1.0).abs() < 0.15, "{turned} {wanted}");
            let inner = state.wheels[0].spin * model.radius;
            let outer = state.wheels[1].spin * model.radius;
            assert!(outer > inner + 0.05, "{inner} {outer}");
        }
    }

    #[test]
    fn who_does_not_want_to_go_is_not_turned_and_stops_where_brakes_or_friction_say() {
        let model = t_28();
        let mut state = at(0.0);
        let parked = Controls {
            acceleration: 0.0,
            steering: 1.3,
            ..Controls::default()
        };
        let turned = drive(&model, &mut state, parked, 3.0, 0.02);
        assert!(turned.abs() < 1e-6, "{turned}");
        let stop = Controls {
            acceleration: -50.0,
            ..Controls::default()
        };
        let mut state = at(10.0);
        drive(&model, &mut state, stop, 6.0, 0.01);
        assert!(state.speed(&model).abs() < 1e-3);
        let train = model.train.as_ref().expect("it has an engine");
        // The brakes also stop the rotating parts.
        let turns = model.turning_mass * model.wheels.len() as f64 / model.mass;
        let exact = 100.0 / (2.0 * train.hardest_braking()) * (1.0 + turns);
        let travelled = state.pose(&model).position.x + model.rear;
        // Drag and rolling resistance also slow the vehicle slightly.
        assert!(
            travelled < 1.01 * exact && travelled > 0.93 * exact,
            "{travelled} {exact}"
        );
    }

    #[test]
    fn legal_but_absurd_tracks_neither_hang_nor_panic() {
        type Change = fn(&mut VehicleFile);
        let changes: [Change; 6] = [
            |file| file.body.mass = 1e6.into(),
            |file| file.body.mass = 1.0.into(),
            |file| file.wheels.friction = Some(1e-6).into(),
            |file| (*file.wheels.friction, *file.wheels.mass) = (Some(5.0), 1e-3),
            |file| {
                if let Some(tracks) = &mut file.tracks {
                    (*tracks.torque_nm, *tracks.pivot_speed) = (1e8, 150.0);
                }
            },
            |file| {
                if let Some(tracks) = &mut file.tracks {
                    (*tracks.torque_nm, *tracks.pivot_speed) = (0.0, 1e-9);
                }
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut file = shipped("t-28");
            change(&mut file);
            let model = RigidModel::of_file(&file).unwrap();
            assert!(model.tracks.unwrap().pivot_rate(&model).is_finite());
            let mut state = CarState::at_rest(&model, Default::default(), &Flat);
            for (acceleration, steering) in [(1.0, 1.3), (5.0, -0.4), (f64::NAN, f64::NAN)] {
                let controls = Controls {
                    acceleration,
                    steering,
                    ..Controls::default()
                };
                let yard = Yard::new(&Flat, 200.0);
                for _ in 0..50 {
                    let entry = CarEntry {
                        model: &model,
                        state: &mut state,
                        controls,
                        layers: ALL_LAYERS,
                        towed: &mut [],
                    };
                    yard.step(vec![entry], Vec::new(), 0.02);
                    assert!(state.body.is_sound() && state.fits(&model), "{number}");
                }
            }
        }
    }

    #[test]
    fn files_whose_tracks_cannot_be_are_refused() {
        let text = roadwright_scenario::vehicle_file::SHIPPED
            .iter()
            .find(|one| one.name == "t-28")
            .map(|one| one.text)
            .expect("it comes with the program");
        for (from, to, says) in [
            (
                "\"torque_nm\": 45000.0",
                "\"torque_nm\": -1.0",
                "tracks.torque_nm",
            ),
            (
                "\"pivot_speed\": 1.2",
                "\"pivot_speed\": 0.0",
                "tracks.pivot_speed",
            ),
            (
                "[-2.34, 1.2, -1.2]",
                "[-2.34, 0.0, -1.2]",
                "wheels.positions.0",
            ),
        ] {
            assert!(text.contains(from), "{from}");
            let error = VehicleFile::from_text(&text.replace(from, to)).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}
