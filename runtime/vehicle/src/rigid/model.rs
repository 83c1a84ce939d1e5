//! The rigid-body model of a vehicle.

use super::Solid;
use super::brush::{HELD_STIFFNESS, RELAXATION};
use super::sphere::Spheres;
use super::towed::Towed;
use super::tracks::Tracks;
use crate::drive_train::DriveTrain;
use crate::dynamic::{GRAVITY, SingleTrack, Tyre};
use crate::one_track::OneTrackLimits;
use glam::{DMat3, DVec3};
use roadwright_scenario::VehicleType;
use roadwright_scenario::vehicle_file::{Differential, Suspension, VehicleFile};
use std::f64::consts::TAU;

/// Maximum longitudinal distance between wheels of the same axle, m.
const ONE_AXLE: f64 = 0.2;
/// Minimum static load of a wheel as a fraction of the mean load, for files with a wheel that
/// carries no load.
pub(super) const LEAST_LOAD: f64 = 0.02;
/// Default natural frequency (Hz) and damping ratio of the springs. Passenger cars have 1 to 1.5 Hz
/// and 0.2 to 0.4 ([Gillespie 1992], chapter 5).
const COMMON_SPRING: (f64, f64) = (1.5, 0.3);
/// Default stiffness of the anti-sway bars divided by that of the springs.
pub(super) const COMMON_ANTI_SWAY: f64 = 0.5;
/// Default track width as a fraction of the vehicle width.
pub(super) const COMMON_TRACK: f64 = 0.82;
/// Inertia of a wheel divided by mass x radius^2. The value is that of a disc.
pub(super) const DISC: f64 = 0.5;
/// Default mass of a wheel, kg.
const COMMON_WHEEL: f64 = 20.0;
/// Default friction coefficient of hulls, which is that of painted sheet metal.
pub(super) const HULL_FRICTION: f64 = 0.2;
/// Distance by which hulls are shrunk on each side for contacts, m. Touching bodies therefore
/// overlap slightly on the map, so that their collisions are counted as at the other dynamics
/// levels.
pub(super) const SKIN: f64 = 0.02;
/// Size of the cut-off corners of a hull in plan view, as a fraction of its width. Without the cut,
/// vehicles that scrape along each other would catch at their corners.
const CORNER: f64 = 0.15;
/// Number of solver steps per radian of the fastest oscillation of springs and tyres.
const STEPS_PER_RADIAN: f64 = 2.0;
/// Maximum rate of the force computation, Hz. Vehicles that need a higher rate are too slow to simulate.
/// Shipped vehicles need a few hundred.
const MOST_RATE: f64 = 20_000.0;

/// A wheel at rest under load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wheel {
    /// Contact point on level ground relative to the centre of gravity, m.
    pub contact: DVec3,
    /// Static load, N.
    pub load: f64,
    /// Load on the wheel's spring, N: the static load less the weight of the wheel if it is a
    /// sphere.
    pub sprung: f64,
    /// Spring stiffness, N/m.
    pub spring: f64,
    /// Damping, N s/m.
    pub damping: f64,
    /// Factor on the steering angle: 1 for steered wheels, -1 for wheels that are steered in the opposite
    /// direction, and 0 for all others.
    pub steers: f64,
    /// Whether the hand brake acts on the wheel.
    pub hand_brake: bool,
    /// Index of the wheel on the other side of its axle.
    pub partner: Option<usize>,
}

impl Wheel {
    /// Centre of the wheel at rest relative to the centre of gravity, m.
    pub fn hub(&self, radius: f64) -> DVec3 {
        self.contact + DVec3::Z * radius
    }

    /// Spring compression of a wheel that hangs free at the end of its travel, m. It is negative.
    pub(crate) fn longest(&self) -> f64 {
        -self.sprung / self.spring
    }
}

/// A vehicle as a rigid body on springs.
#[derive(Debug, Clone, PartialEq)]
pub struct RigidModel {
    /// Mass of hull and wheels, kg.
    pub mass: f64,
    /// Moments of inertia about the axes of the hull through the centre of gravity, kg m^2.
    pub inertia: DVec3,
    /// Half the length, width and height of the hull, m.
    pub half_size: DVec3,
    /// Collision shape of the hull.
    pub(super) shell: Solid,
    /// Centre of the hull relative to the centre of gravity, m.
    pub hull: DVec3,
    /// Height of the centre of gravity above level ground at rest, m.
    pub height: f64,
    /// Distance from the rear axle to the centre of gravity, m.
    pub rear: f64,
    /// Radius of the wheels, m.
    pub radius: f64,
    /// Rotational inertia of a wheel, expressed as a mass at its circumference, kg.
    pub turning_mass: f64,
    /// Inertia of crankshaft and flywheel, kg m^2.
    pub engine_inertia: f64,
    /// Wheels, in file order.
    pub wheels: Vec<Wheel>,
    /// Data of the spheres if the wheels are spheres; `None` for rays.
    pub spheres: Option<Spheres>,
    /// Whether the wheels on each side share their load equally, as on the axles of a trailer.
    pub shares_load: bool,
    /// Force of the anti-sway bars on a wheel, divided by the difference in compression between left and
    /// right, N/m.
    pub anti_sway: f64,
    /// Friction coefficient of the tyres on asphalt.
    pub friction: f64,
    /// Cornering stiffness divided by the load, 1/rad.
    pub stiffness: f64,
    /// Relation between lateral tyre force and slip.
    pub tyre: Tyre,
    /// Maximum deceleration that a trailer's service brakes provide, m/s^2; infinite if the trailer
    /// brakes as hard as the towing vehicle.
    pub most_braking: f64,
    /// Friction coefficient of the hull.
    pub hull_friction: f64,
    /// Whether the differential is locked.
    pub is_locked: bool,
    /// Tracks, if the vehicle has them instead of steered wheels.
    pub tracks: Option<Tracks>,
    /// Limits that a driver has to respect, including wheelbase, steering lock and steering rate.
    pub limits: OneTrackLimits,
    /// Drive train. Without it, the vehicle is driven within `limits`.
    pub train: Option<DriveTrain>,
    /// Trailers, from front to back.
    pub trailers: Vec<Towed>,
}

/// Creates the model from the dimensions and limits of a vehicle type. It has four wheels, the
/// springs of a passenger car, and a hull with evenly distributed mass. All other values are those
/// of the dynamic one-track model.
impl From<&VehicleType> for RigidModel {
    fn from(kind: &VehicleType) -> Self {
        if let Some(model) = kind
            .file
            .as_ref()
            .and_then(|file| Self::of_file(&file.vehicle))
        {
            return model;
        }
        let single = SingleTrack::from(kind);
        let half_track = 0.5 * COMMON_TRACK * kind.width;
        let places = [-single.rear, single.front]
            .into_iter()
            .flat_map(|x| [half_track, -half_track].map(|y| DVec3::new(x, y, -single.height)));
        let places: Vec<DVec3> = places.collect();
        let clearance = VehicleType::COMMON_CLEARANCE * kind.height;
        let size = DVec3::new(kind.length.get(), kind.width.get(), kind.height - clearance);
        let middle = clearance + 0.5 * size.z - single.height;
        let wheels = axles(&places, kind.mass.get(), common_spring);
        let square = size * size;
        let anti_sway = COMMON_ANTI_SWAY * wheels[0].spring;
        Self {
            mass: kind.mass.get(),
            inertia: DVec3::new(
                kind.mass * (square.y + square.z) / 12.0,
                kind.mass * (square.x + square.z) / 12.0,
                single.yaw_inertia,
            ),
            half_size: 0.5 * size,
            shell: shell(0.5 * size),
            hull: DVec3::new(kind.body_centre() - single.rear, 0.0, middle),
            height: single.height,
            rear: single.rear,
            radius: clearance.max(0.3),
            turning_mass: DISC * COMMON_WHEEL,
            engine_inertia: 0.0,
            wheels: marked(wheels, &[2, 3], &[], &[0, 1]),
            spheres: None,
            shares_load: false,
            anti_sway,
            friction: single.friction,
            stiffness: single.stiffness[0],
            tyre: single.tyre,
            most_braking: f64::INFINITY,
            hull_friction: HULL_FRICTION,
            is_locked: false,
            tracks: None,
            limits: OneTrackLimits::from(kind),
            train: None,
            trailers: Vec::new(),
        }
    }
}

impl RigidModel {
    /// Creates the model of a vehicle file; `None` if the file lacks any of the keys that
    /// [`missing`](VehicleFile::missing) lists.
    pub fn of_file(file: &VehicleFile) -> Option<Self> {
        let suspension: &Suspension = file.suspension.as_ref()?;
        let single = SingleTrack::from(file);
        let body = &file.body;
        let size = DVec3::new(body.length.get(), body.width.get(), body.height.get());
        // Positions in the file are relative to the centre of the body.
        let middle = body.ground_clearance + 0.5 * body.height - single.height;
        let down = middle - file.wheels.radius;
        let places = file.wheels.positions.iter();
        let places: Vec<DVec3> = places
            .map(|&[x, y, z]| DVec3::new(x, y, z + down))
            .collect();
        let mut wheels = axles(&places, file.mass(), |_| {
            (suspension.spring.get(), suspension.damping.get())
        });
        let inertia = inertia(file, &places);
        let spheres = Spheres::of_file(file, &mut wheels, inertia);
        let held = file
            .brakes
            .as_ref()
            .map_or(&[][..], |brakes| &brakes.hand_wheels);
        let gearbox = file.gearbox.as_ref();
        let tracks = Tracks::of_file(file, &wheels);
        // Other levels treat a tracked vehicle as a car. Here, none of its wheels is steered.
        let (steered, inverted) = match tracks {
            Some(_) => (&[][..], &[][..]),
            None => (&file.steering.wheels[..], &file.steering.inverted[..]),
        };
        let mut model = Self {
            mass: file.mass(),
            inertia,
            half_size: 0.5 * size,
            shell: shell(0.5 * size),
            hull: DVec3::new(0.0, 0.0, middle),
            height: single.height,
            rear: single.rear,
            radius: file.wheels.radius.get(),
            turning_mass: DISC * file.wheels.mass,
            engine_inertia: file
                .engine
                .as_ref()
                .and_then(|engine| engine.inertia.get())
                .unwrap_or(0.0),
            wheels: marked(wheels, steered, inverted, held),
            spheres,
            shares_load: false,
            anti_sway: suspension.anti_sway.get(),
            friction: single.friction,
            stiffness: single.stiffness[0],
            tyre: single.tyre,
            most_braking: f64::INFINITY,
            hull_friction: body.friction.unwrap_or(HULL_FRICTION),
            is_locked: gearbox.is_some_and(|gearbox| gearbox.differential == Differential::Locked),
            tracks,
            limits: OneTrackLimits::from(&file.vehicle_type()),
            train: DriveTrain::new(file),
            trailers: Vec::new(),
        };
        model.trailers = model.trailers_of(file);
        Some(model)
    }

    /// Corners of the convex parts of the collision hull, relative to the centre of gravity, m.
    pub fn hull_parts(&self) -> Vec<Vec<DVec3>> {
        let corners = self.shell.corners().iter();
        vec![corners.map(|&corner| self.hull + corner).collect()]
    }

    /// Inertia of the engine in a gear with the given ratio, expressed as a mass at the
    /// circumference of the wheels, kg.
    pub(super) fn engine_mass(&self, ratio: f64) -> f64 {
        self.engine_inertia * ratio * ratio / (self.radius * self.radius)
    }

    /// Minimum rate of the force computation, Hz. Springs, bars and tyres are oscillators, and
    /// steps have to be short compared with the period of the fastest oscillator.
    pub fn least_rate(&self) -> f64 {
        let sum = |of: &dyn Fn(&Wheel) -> f64| self.wheels.iter().map(of).sum::<f64>();
        let roll = |wheel: &Wheel| {
            (wheel.spring + 2.0 * self.anti_sway) * wheel.contact.y * wheel.contact.y
        };
        let pitch = |wheel: &Wheel| wheel.spring * wheel.contact.x * wheel.contact.x;
        let springs = (sum(&|wheel| wheel.spring) / self.mass)
            .max(sum(&roll) / self.inertia.x)
            .max(sum(&pitch) / self.inertia.y);
        // Tyre forces act below the centre of gravity, so they also rotate the hull.
        let lever = self.mass * self.height * self.height;
        let tilting = 1.0 + lever / self.inertia.x.min(self.inertia.y);
        let (rear, base) = (self.rear, self.limits.wheelbase);
        let yawing = 1.0 + self.mass * rear * (base - rear).max(rear) / self.inertia.z;
        let bristle = HELD_STIFFNESS.max(self.stiffness / RELAXATION);
        let tyres = bristle * GRAVITY * tilting.max(yawing);
        STEPS_PER_RADIAN * springs.max(tyres).sqrt()
    }

    /// Whether springs or tyres are so stiff relative to the mass that forces would have to be computed more
    /// than 20,000 times per second. Simulating one minute would then take hours.
    pub fn is_too_stiff(&self) -> bool {
        // NaN also counts as too stiff.
        !self.least_rate().is_finite() || self.least_rate() > MOST_RATE
    }

    /// Static sag of a wheel's spring under the hull, m.
    pub fn static_sag(&self, wheel: usize) -> f64 {
        self.wheels[wheel].sprung / self.wheels[wheel].spring
    }

    /// Compliance of a tyre, m/N; 0 for rays.
    pub(crate) fn tyre_give(&self, wheel: usize) -> f64 {
        self.spheres
            .as_ref()
            .map_or(0.0, |spheres| spheres.tyre_give(wheel))
    }

    /// Force of the anti-sway bar on a wheel, N. `pressed` contains the compressions of the wheel's
    /// own spring and of its partner's spring, m. A wheel in the air at the end of its spring
    /// travel hangs on the bar.
    pub(crate) fn bar_force(&self, number: usize, partner: usize, pressed: [f64; 2]) -> f64 {
        let hanging =
            |number: usize, compression: f64| compression.max(self.wheels[number].longest());
        let difference = hanging(number, pressed[0]) - hanging(partner, pressed[1]);
        self.anti_sway * difference
    }

    /// Roll gradient, rad s^2/m: roll angle divided by lateral acceleration on level ground. It is the
    /// overturning moment divided by the stiffness of springs, bars and tyres, where the stiffness is reduced
    /// by the effect of the leaning weight ([Gillespie 1992], chapter 6).
    pub fn roll_gradient(&self) -> f64 {
        let stiffness = self.wheels.iter().enumerate().map(|(number, wheel)| {
            let bars = if wheel.partner.is_some() {
                2.0 * self.anti_sway
            } else {
                0.0
            };
            let alone = wheel.spring + bars;
            let stiffness = alone / (1.0 + alone * self.tyre_give(number));
            stiffness * wheel.contact.y * wheel.contact.y
        });
        let moment = self.mass * self.height;
        moment / (stiffness.sum::<f64>() - moment * GRAVITY)
    }

    /// Lateral acceleration at which the inner wheels would lift on rigid springs, m/s^2: g T / 2 h.
    pub fn tip_acceleration(&self) -> f64 {
        let widths = self.wheels.iter().map(|wheel| wheel.contact.y.abs());
        let narrowest = widths.filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min);
        let half_track = if narrowest.is_finite() {
            narrowest
        } else {
            0.0
        };
        GRAVITY * half_track / self.height
    }
}

/// Returns the default stiffness (N/m) and damping (N s/m) of a spring for the given load, N.
pub(super) fn common_spring(load: f64) -> (f64, f64) {
    let (frequency, ratio) = COMMON_SPRING;
    let (mass, pulse) = (load / GRAVITY, TAU * frequency);
    (mass * pulse * pulse, 2.0 * ratio * mass * pulse)
}

/// Returns the collision shape of the hull, which is slightly smaller than the hull and has its
/// corners cut off.
pub(super) fn shell(half: DVec3) -> Solid {
    let inner = (half - SKIN).max(0.5 * half);
    Solid::hull(inner, CORNER * 2.0 * half.y.min(half.x))
}

/// Returns the moments of inertia of a box with evenly distributed mass, plus the wheels as point masses.
fn inertia(file: &VehicleFile, places: &[DVec3]) -> DVec3 {
    let body = &file.body;
    let [x, y, z] =
        body.mass_box
            .unwrap_or([body.length.get(), body.width.get(), body.height.get()]);
    let box_part = body.mass / 12.0 * DVec3::new(y * y + z * z, x * x + z * z, 0.0);
    let points = places.iter().map(|place| {
        let hub = *place + DVec3::Z * file.wheels.radius.get();
        let square = hub * hub;
        file.wheels.mass.get() * DVec3::new(square.y + square.z, square.x + square.z, 0.0)
    });
    let whole = box_part + points.sum::<DVec3>();
    whole.with_z(file.yaw_inertia())
}

/// Creates wheels at the given positions with their static loads. `spring` returns the stiffness and damping
/// for a load.
fn axles(places: &[DVec3], mass: f64, spring: impl Fn(f64) -> (f64, f64)) -> Vec<Wheel> {
    let loads = static_loads(places, mass);
    let wheels = places.iter().zip(loads).map(|(&contact, load)| {
        let (spring, damping) = spring(load);
        let is_partner =
            |other: &&DVec3| (other.x - contact.x).abs() < ONE_AXLE && other.y * contact.y < 0.0;
        Wheel {
            contact,
            load,
            sprung: load,
            spring,
            damping,
            steers: 0.0,
            hand_brake: false,
            partner: places
                .iter()
                .find(is_partner)
                .and_then(|partner| places.iter().position(|place| place == partner)),
        }
    });
    wheels.collect()
}

/// Returns wheel loads that support the weight without tilting the hull. With more than three
/// wheels, the loads are a linear function of the positions.
fn static_loads(places: &[DVec3], mass: f64) -> Vec<f64> {
    let one = |place: &DVec3| DVec3::new(1.0, place.x, place.y);
    let matrix = places.iter().fold(DMat3::ZERO, |sum, place| {
        let row = one(place);
        sum + DMat3::from_cols(row * row.x, row * row.y, row * row.z)
    });
    let weight = mass * GRAVITY;
    let mean = weight / places.len() as f64;
    let plane = if matrix.determinant().abs() > 1e-9 {
        matrix.inverse() * DVec3::new(weight, 0.0, 0.0)
    } else {
        DVec3::new(mean, 0.0, 0.0)
    };
    let loads = places
        .iter()
        .map(|place| plane.dot(one(place)).max(LEAST_LOAD * mean));
    loads.collect()
}

/// Marks the wheels that are steered and the wheels that the hand brake holds.
fn marked(mut wheels: Vec<Wheel>, steered: &[u8], inverted: &[u8], held: &[u8]) -> Vec<Wheel> {
    for (number, wheel) in (0u8..).zip(&mut wheels) {
        if steered.contains(&number) {
            wheel.steers = 1.0;
        }
        if inverted.contains(&number) {
            wheel.steers = -1.0;
        }
        wheel.hand_brake = held.contains(&number);
    }
    wheels
}
