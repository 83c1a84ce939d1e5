//! Forces on a vehicle in a step of the solver: from the ground, its engine and its driver.

use super::body::{BodyState, Scrape, Wrench};
use super::brush::{Grip, Torque};
use super::car::{CarState, Controls};
use super::model::{RigidModel, Wheel};
use super::surface::Surface;
use super::tracks::Turn;
use super::wheels::{Locked, Turning};
use crate::drive_train::{Driver, PedalCommand};
use crate::dynamic::{GRAVITY, Propulsion, Push, Wish};
use crate::grade::{Ask, Climb, Grade};
use glam::{DVec2, DVec3};
use roadwright_geometry::math::{atan, sin_cos, tan};

/// Speed below which the brake is applied if the driver does not request any motion, m/s.
const STANDING: f64 = 0.05;
/// Increase of `STANDING` per unit of the sine of the slope, m/s. A vehicle that is placed on a
/// slope moves while its springs and tyres settle. A request of zero acceleration would then keep
/// that speed, and the vehicle would creep downhill.
const SETTLING: f64 = 3.0;
/// Cosine of the hull's tilt below which all corners of the hull are checked for ground contact. It
/// corresponds to 60 degrees.
const LEANING: f64 = 0.5;
/// Minimum cosine of the angle between a wheel's spring axis and the ground normal at which the
/// wheel has contact.
const FLAT: f64 = 0.2;

/// Contact of a wheel with the ground.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Contact {
    /// Position relative to the centre of gravity, m.
    pub(super) arm: DVec3,
    pub(super) normal: DVec3,
    /// Compression of the spring from its rest position, m.
    pub(super) compression: f64,
    /// Load, N; 0 in the air.
    pub(super) load: f64,
    /// Force of the damper, N; negative in rebound.
    damper: f64,
    /// Forces on a spherical wheel.
    pub(super) sphere: SphereForces,
    friction: f64,
    /// Longitudinal and lateral directions of the wheel on the ground.
    axes: [DVec3; 2],
    /// Steering angle of the wheel, rad.
    angle: f64,
    /// Velocity over the ground along `axes`, m/s.
    pub(super) velocity: DVec2,
    /// Whether the engine drives the wheel.
    is_driven: bool,
}

/// Forces on a sphere along the axis of its spring.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SphereForces {
    /// Distance above the ground or the body below, m; negative if the tyre is compressed.
    pub(super) gap: f64,
    /// Force with which rapier presses the sphere and a body below it against each other, N; 0 on
    /// the ground.
    pub(super) borne: f64,
    /// Force of the spring, upwards on the hull and downwards on the sphere, N.
    pub(super) spring: f64,
    /// Sum of the forces of spring and tyre, upwards along the spring, N.
    pub(super) lift: f64,
}

/// A vehicle within a solver step.
pub(super) struct Moment<'a, S> {
    pub(super) model: &'a RigidModel,
    pub(super) surface: &'a S,
    /// Road layers that the vehicle is on (bit mask).
    pub(super) layers: u32,
    /// Time step, s.
    pub(super) dt: f64,
}

/// Braking of a vehicle, which is also applied to its trailers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Braking {
    /// Braking force divided by the mass, m/s^2.
    foot: f64,
    hand: bool,
}

impl<S: Surface> Moment<'_, S> {
    /// Returns the force and torque on the hull for the next solver step, and the braking of the vehicle.
    /// `towed` is the mass of its trailers, kg. Also advances the wheels, the gearbox and the tyre
    /// deflections.
    pub(super) fn forces(
        &self,
        state: &mut CarState,
        controls: &Controls,
        towed: f64,
        contacts: &mut Vec<Contact>,
    ) -> (Wrench, Braking) {
        let model = self.model;
        let limits = &model.limits;
        state.steering = limits.turn_wheels(state.steering, controls.steering, self.dt);
        let speed = state.speed(model);
        let turn = model
            .tracks
            .map(|tracks| tracks.turn(model, controls, state.steering, speed));
        let push = if turn.is_some_and(|turn| turn.is_pivot) {
            self.hold_middle(state, speed)
        } else {
            self.push(state, controls, speed)
        };
        // Trailers brake on their own. All other forces on them come from the towing vehicle.
        let whole = 1.0 + towed / model.mass;
        let pulling = Push {
            drive: push.drive * whole,
            resistance: push.resistance * whole,
            ..push
        };
        let wrench = self.roll(state, controls, turn, &pulling, contacts);
        let braking = Braking {
            foot: push.brake,
            hand: controls.hand_brake,
        };
        (wrench, braking)
    }

    /// Like `forces`, but for a trailer, whose brakes follow those of the towing vehicle.
    pub(super) fn towed_forces(
        &self,
        state: &mut CarState,
        braking: Braking,
        contacts: &mut Vec<Contact>,
    ) -> Wrench {
        let controls = Controls {
            hand_brake: braking.hand,
            ..Controls::default()
        };
        let push = Push {
            brake: braking.foot.min(self.model.most_braking),
            ..Push::default()
        };
        self.roll(state, &controls, None, &push, contacts)
    }

    /// Returns the forces of the ground and the air on a vehicle for the given drive and braking.
    fn roll(
        &self,
        state: &mut CarState,
        controls: &Controls,
        turn: Option<Turn>,
        push: &Push,
        contacts: &mut Vec<Contact>,
    ) -> Wrench {
        let model = self.model;
        let mut wrench = Wrench::default();
        let speed = state.speed(model);
        match &model.spheres {
            Some(spheres) => self.touch_spheres(spheres, state, contacts),
            None => {
                self.touch_down(state, contacts);
                self.sway(contacts);
            }
        }
        let forces = match model.tracks.zip(turn) {
            Some((tracks, turn)) => self.run_tracks(&tracks, controls, turn, push, state, contacts),
            None => self.turn_wheels(state, controls, contacts, push),
        };
        for (number, (force, contact)) in forces.into_iter().zip(&mut *contacts).enumerate() {
            let [along, across] = contact.axes;
            let tyre = along * force.x + across * force.y;
            if model.spheres.is_some() {
                self.hand_on(state, number, contact, tyre, &mut wrench);
            } else {
                wrench.add(contact.normal * contact.load + tyre, contact.arm);
            }
        }
        wrench.force -= state.forward() * (push.resistance * model.mass).copysign(speed);
        self.scrape(&state.body, &mut wrench);
        wrench
    }

    /// Advances the rotation of the wheels. Returns the longitudinal and lateral force of the ground on each
    /// wheel, N.
    fn turn_wheels(
        &self,
        state: &mut CarState,
        controls: &Controls,
        contacts: &mut [Contact],
        push: &Push,
    ) -> Vec<DVec2> {
        let engaged = self.engage(state, contacts, push);
        let numbers = 0..contacts.len();
        let forces = numbers.map(|number| {
            let torque = self.torque(number, contacts, push, controls, &engaged);
            self.wheel_force(number, &contacts[number], torque, &engaged, state)
        });
        forces.collect()
    }

    /// Returns the forces of engine and brakes that result from the driver's inputs, divided by the
    /// mass.
    fn push(&self, state: &mut CarState, controls: &Controls, speed: f64) -> Push {
        let direction = if controls.is_reversing { -1.0 } else { 1.0 };
        // On a slope, the engine also has to overcome gravity.
        let sine = state.slope(self.model) * direction;
        let slope = GRAVITY * sine;
        let standing = STANDING + SETTLING * sine.abs();
        let stands = speed.abs() < standing && controls.acceleration <= 0.0;
        let acceleration = if stands {
            f64::NAN
        } else {
            controls.acceleration + slope
        };
        let is_reversing = controls.is_reversing;
        if let Some(held) = controls.pedals {
            return self.pressed(state, held, is_reversing, speed);
        }
        if let Some(train) = &self.model.train {
            let mut driver = Driver {
                train,
                state: &mut state.drive,
                acceleration,
                is_reversing,
                pull: 0.0,
                pedals: None,
            };
            let push = driver.push(speed, self.dt);
            return self.spun(push, state, speed);
        }
        let mut wish = Wish {
            acceleration,
            is_reversing,
            limits: self.model.limits,
        };
        wish.push(speed, self.dt)
    }

    /// Returns the effect of the given pedals on the engine and brakes. Gravity acts on the body separately.
    fn pressed(
        &self,
        state: &mut CarState,
        held: PedalCommand,
        is_reversing: bool,
        speed: f64,
    ) -> Push {
        let limits = &self.model.limits;
        if let Some(train) = &self.model.train {
            let mut driver = Driver {
                train,
                state: &mut state.drive,
                acceleration: f64::NAN,
                is_reversing,
                pull: 0.0,
                pedals: Some(held),
            };
            let push = driver.push(speed, self.dt);
            return self.spun(push, state, speed);
        }
        let mut foot = Climb {
            grade: Grade::between(0.0, 1.0).with(limits.max_acceleration, f64::INFINITY),
            ask: Ask {
                acceleration: f64::NAN,
                is_reversing,
                max_braking: limits.max_braking,
                pedals: Some(held),
            },
            max_speed: limits.max_speed,
        };
        foot.push(speed, self.dt)
    }

    /// Returns the force of the engine while the wheels spin. The engine speed follows the wheels
    /// up to the rev limit. Gears are selected by the speed over the ground, so that spinning
    /// wheels do not cause an upshift.
    fn spun(&self, push: Push, state: &CarState, speed: f64) -> Push {
        let faster = state.spinning(self.model, speed);
        let Some(train) = self.model.train.as_ref().filter(|_| faster != 0.0) else {
            return push;
        };
        let gear = state.drive.shifting.gear_of(train);
        let force = train.full_force(gear, speed + faster);
        Push {
            drive: state.drive.throttle * force / train.mass,
            ..push
        }
    }

    /// Returns the longitudinal and lateral force of a tyre, N. Also advances the rotation of the wheel.
    fn wheel_force(
        &self,
        number: usize,
        contact: &Contact,
        torque: Torque,
        engaged: &Engaged,
        state: &mut CarState,
    ) -> DVec2 {
        let (model, grip) = (self.model, self.grip(contact));
        let turning = Turning {
            mass: engaged.turning.mass
                + if contact.is_driven {
                    engaged.engine
                } else {
                    0.0
                },
            is_engine: engaged.turning.is_engine && contact.is_driven,
            ..engaged.turning
        };
        let wheel = &mut state.wheels[number];
        state.loads[number] = contact.load;
        let spring = &model.wheels[number];
        wheel.steering = contact.angle;
        wheel.travel = contact.compression.max(spring.longest());
        let brush = &mut state.brushes[number];
        let locked = engaged
            .locked
            .filter(|_| contact.is_driven && torque.brake == 0.0);
        if let Some(locked) = locked {
            wheel.slides = true;
            wheel.spin = locked.rim / model.radius;
        } else if engaged.locked.is_some() && contact.is_driven {
            wheel.slides = false;
        }
        let pulled = if locked.is_some() {
            torque
        } else {
            wheel.pull(torque, &grip, contact.velocity, &turning)
        };
        let (force, wanted) = brush.force(&grip, pulled, contact.velocity, self.dt);
        wheel.roll(pulled, force.x, wanted, &grip, contact.velocity.x, &turning);
        wheel.read_slip(contact.velocity, model.radius, contact.load);
        force
    }

    pub(super) fn grip(&self, contact: &Contact) -> Grip {
        Grip {
            load: contact.load,
            friction: contact.friction,
            stiffness: self.model.stiffness,
            tyre: self.model.tyre,
        }
    }

    /// Finds the ground contacts of the wheels and the forces of their springs.
    fn touch_down(&self, state: &CarState, contacts: &mut Vec<Contact>) {
        let up = state.up();
        let turn = self.turn_of_wheels(state);
        contacts.clear();
        contacts.extend(self.model.wheels.iter().map(|wheel| {
            let arm = state.body.rotation * wheel.contact;
            let place = state.body.position + arm;
            let (height, normal) = self.surface.at(place.truncate());
            let facing = up.dot(normal);
            if facing < FLAT {
                return Contact {
                    angle: wheel_angle(wheel, turn, self.model.rear),
                    ..Contact::default()
                };
            }
            // Distance along the axis of the spring from the wheel's rest position to the ground.
            let compression = (height - place.z) * normal.z / facing;
            let arm = arm + up * compression;
            let velocity = state.body.velocity_at(arm);
            let rate = -velocity.dot(normal) / facing;
            // The damper is integrated implicitly, so that it can stop the wheel but not reverse
            // its motion.
            let damping = wheel.damping / (1.0 + wheel.damping * self.dt * GRAVITY / wheel.load);
            Contact {
                compression,
                damper: damping * rate,
                ..self.contact(wheel, turn, state, arm, normal)
            }
        }));
        for number in 0..contacts.len() {
            contacts[number].load = self.load(number, contacts);
        }
    }

    /// Force of a wheel's spring and damper against the ground, N.
    fn load(&self, number: usize, contacts: &[Contact]) -> f64 {
        let (wheel, contact) = (&self.model.wheels[number], &contacts[number]);
        let own = wheel.sprung + wheel.spring * contact.compression;
        // The wheel is in the air, or its axis is parallel to the ground.
        if own <= 0.0 || contact.normal == DVec3::ZERO {
            return 0.0;
        }
        let spring = if self.model.shares_load {
            wheel.sprung + wheel.spring * self.mean_compression(wheel, contacts)
        } else {
            own
        };
        (spring + contact.damper).max(0.0)
    }

    /// Mean compression of the wheels on the same side as `wheel`. Connected air springs have equal
    /// pressure, so this mean determines their force.
    fn mean_compression(&self, wheel: &Wheel, contacts: &[Contact]) -> f64 {
        let all = self.model.wheels.iter().zip(contacts);
        let side = all.filter(|(other, _)| other.contact.y * wheel.contact.y > 0.0);
        let (sum, count) = side.fold((0.0, 0.0), |(sum, count), (other, contact)| {
            (sum + contact.compression.max(other.longest()), count + 1.0)
        });
        sum / count
    }

    /// Curvature of the path for the current angle of the steered wheels, 1/m.
    pub(super) fn turn_of_wheels(&self, state: &CarState) -> f64 {
        tan(state.steering) / self.model.limits.wheelbase
    }

    /// Creates the contact of a wheel at `arm` from the centre of gravity with ground of the given
    /// normal. The load is not set yet.
    pub(super) fn contact(
        &self,
        wheel: &Wheel,
        turn: f64,
        state: &CarState,
        arm: DVec3,
        normal: DVec3,
    ) -> Contact {
        let angle = wheel_angle(wheel, turn, self.model.rear);
        let ahead = state.body.rotation * wheel_axis(angle);
        let along = (ahead - normal * ahead.dot(normal)).normalize_or(DVec3::X);
        let across = normal.cross(along);
        let velocity = state.body.velocity_at(arm);
        let place = (state.body.position + arm).truncate();
        Contact {
            arm,
            normal,
            friction: self.model.friction * self.surface.friction_on(place, self.layers),
            axes: [along, across],
            angle,
            velocity: DVec2::new(velocity.dot(along), velocity.dot(across)),
            ..Contact::default()
        }
    }

    /// Applies the anti-sway bars, which push down the wheel that is compressed more than its
    /// partner.
    fn sway(&self, contacts: &mut [Contact]) {
        if self.model.anti_sway == 0.0 {
            return;
        }
        for (number, wheel) in self.model.wheels.iter().enumerate() {
            let Some(partner) = wheel.partner else {
                continue;
            };
            let pressed = [number, partner].map(|wheel| contacts[wheel].compression);
            let bar = self.model.bar_force(number, partner, pressed);
            let contact = &mut contacts[number];
            if contact.load > 0.0 {
                contact.load = (contact.load + bar).max(0.0);
            }
        }
    }

    /// Marks the wheels that the engine drives. Returns the data that these wheels share.
    fn engage(&self, state: &CarState, contacts: &mut [Contact], push: &Push) -> Engaged {
        let model = self.model;
        let gear = model
            .train
            .as_ref()
            .map(|train| (train, state.drive.shifting.gear_of(train)));
        let count = gear.map_or(contacts.len(), |(_, gear)| usize::from(gear.wheels));
        let count = count.min(contacts.len());
        let driven = &mut contacts[..count];
        driven
            .iter_mut()
            .for_each(|contact| contact.is_driven = true);
        let turning = Turning {
            radius: model.radius,
            mass: model.turning_mass,
            is_engine: gear.is_some(),
            fastest: gear.map_or(f64::INFINITY, |(train, gear)| {
                count as f64 * train.speed(gear, train.curve.limit_rpm()).abs()
            }),
            dt: self.dt,
        };
        let locked = gear
            .filter(|_| model.is_locked && count > 0)
            .map(|(_, gear)| {
                let wheels: Vec<(Grip, f64)> = driven
                    .iter()
                    .map(|contact| (self.grip(contact), contact.velocity.x))
                    .collect();
                let rims = state.wheels[..count]
                    .iter()
                    .map(|wheel| wheel.rim(model.radius));
                let before = rims.sum::<f64>() / count as f64;
                let turning = Turning {
                    mass: turning.mass + model.engine_mass(gear.ratio) / count as f64,
                    ..turning
                };
                Locked::turn(before, push.drive * model.mass, &wheels, &turning)
            });
        let load = driven.iter().map(|contact| contact.load).sum();
        Engaged {
            count: count as f64,
            load,
            whole: contacts.iter().map(|contact| contact.load).sum(),
            engine: gear.map_or(0.0, |(_, gear)| {
                model.engine_mass(gear.ratio) / count.max(1) as f64
            }),
            locked,
            turning,
        }
    }

    /// Returns the drive and brake forces of a wheel at its circumference.
    fn torque(
        &self,
        number: usize,
        contacts: &[Contact],
        push: &Push,
        controls: &Controls,
        engaged: &Engaged,
    ) -> Torque {
        let (model, contact) = (self.model, &contacts[number]);
        let share = |whole: f64| {
            if whole > 0.0 {
                contact.load / whole
            } else {
                0.0
            }
        };
        let mut torque = Torque {
            drive: 0.0,
            // Distributed in proportion to load, so that all brakes hold until all wheels slide.
            brake: push.brake * model.mass * share(engaged.whole),
        };
        if controls.hand_brake && model.wheels[number].hand_brake {
            torque.brake = f64::INFINITY;
        }
        if contact.is_driven {
            let whole = push.drive * model.mass;
            torque.drive = match engaged.locked {
                Some(locked) => locked.force(&self.grip(contact), contact.velocity.x),
                None if model.train.is_none() => whole * share(engaged.load),
                // An open differential gives the same torque to all driven wheels, whatever their grip.
                None => whole / engaged.count,
            };
        }
        torque
    }

    /// Adds the contact forces between hull and ground. They act on the lower corners and, if the
    /// hull is tilted, also on the upper corners.
    fn scrape(&self, body: &BodyState, wrench: &mut Wrench) {
        let model = self.model;
        let (half, middle) = (model.half_size, model.hull);
        let up = body.rotation * DVec3::Z;
        let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)];
        let at = |(x, y): (f64, f64), z: f64| middle + half * DVec3::new(x, y, z);
        let scrape = Scrape {
            mass: model.mass,
            friction: model.hull_friction,
            dt: self.dt,
        };
        let below = corners.map(|corner| at(corner, -1.0));
        scrape.add(&below, body, self.surface, wrench);
        scrape.add(&[at((0.0, 0.0), -1.0)], body, self.surface, wrench);
        if up.z < LEANING {
            let above = corners.map(|corner| at(corner, 1.0));
            scrape.add(&above, body, self.surface, wrench);
        }
    }
}

/// Data that is common to all driven wheels.
#[derive(Debug, Clone, Copy)]
struct Engaged {
    count: f64,
    /// Total load of the driven wheels, N.
    load: f64,
    /// Total load of all wheels, N.
    whole: f64,
    /// Inertia of the engine at the circumference of each driven wheel, kg.
    engine: f64,
    /// Common rotation of the wheels, if the differential is locked.
    locked: Option<Locked>,
    turning: Turning,
}

/// Returns the steering angle of a wheel, rad. All steered wheels turn about a common centre on the
/// line of the rear axle, at `1 / turn` to the left (Ackermann).
fn wheel_angle(wheel: &Wheel, turn: f64, rear: f64) -> f64 {
    if wheel.steers == 0.0 || turn == 0.0 {
        return 0.0;
    }
    let ahead = wheel.contact.x + rear;
    wheel.steers * atan(ahead * turn / (1.0 - wheel.contact.y * turn))
}

/// Rolling direction of a wheel, in the hull frame.
fn wheel_axis(angle: f64) -> DVec3 {
    if angle == 0.0 {
        return DVec3::X;
    }
    let (sin, cos) = sin_cos(angle);
    DVec3::new(cos, sin, 0.0)
}
