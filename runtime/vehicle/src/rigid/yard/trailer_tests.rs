//! Tests of trailers as rigid bodies against closed-form solutions.

use super::tests::wish;
use super::*;
use crate::drive_train::tests::shipped;
use crate::rigid::Flat;
use crate::trailer::{Train, off_tracking};
use roadwright_geometry::Pose as Place;
use roadwright_geometry::math::{atan, atan2, wrap_angle};
use roadwright_scenario::vehicle_file::{TrailerJoint, VehicleFile};

/// A vehicle and its trailers on the ground.
struct Road<'a, S> {
    model: RigidModel,
    train: Train,
    car: CarState,
    towed: Vec<CarState>,
    surface: &'a S,
}

impl<'a, S: Surface> Road<'a, S> {
    /// Creates a straight train at rest.
    fn new(file: &VehicleFile, surface: &'a S) -> Self {
        let model = RigidModel::of_file(file).unwrap();
        let train = Train::of_file(file);
        let car = CarState::at_rest(&model, Place::default(), surface);
        let mut road = Self {
            model,
            train,
            car,
            towed: Vec::new(),
            surface,
        };
        road.join_on();
        road
    }

    fn join_on(&mut self) {
        let states = self.train.straight(self.car.pose(&self.model));
        let (car, towed) = (&self.car, &mut self.towed);
        car.join_on(&self.model, towed, &states, self.surface);
    }

    /// Gives the whole train a speed.
    fn roll(&mut self, speed: f64) {
        self.car.roll(speed);
        self.towed.iter_mut().for_each(|car| car.roll(speed));
    }

    fn drive(&mut self, seconds: f64, controls: impl Fn(&CarState) -> Controls) {
        self.drive_seen(seconds, controls, |_| {});
    }

    fn drive_seen(
        &mut self,
        seconds: f64,
        controls: impl Fn(&CarState) -> Controls,
        mut see: impl FnMut(&Self),
    ) {
        for _ in 0..(seconds / 0.02).round() as u32 {
            let entry = CarEntry {
                model: &self.model,
                controls: controls(&self.car),
                state: &mut self.car,
                layers: ALL_LAYERS,
                towed: &mut self.towed,
            };
            let lost = Yard::new(self.surface, 200.0).step(vec![entry], Vec::new(), 0.02);
            assert!(lost.is_empty());
            see(self);
        }
    }

    /// Yaw angle of a trailer relative to the body ahead of it, rad.
    fn angle(&self, number: usize) -> f64 {
        let heading = |car: &CarState| atan2(car.forward().y, car.forward().x);
        let ahead = number.checked_sub(1).map_or(&self.car, |n| &self.towed[n]);
        wrap_angle(heading(&self.towed[number]) - heading(ahead))
    }

    /// Maximum distance between two couplings that are joined, m.
    fn gap(&self) -> f64 {
        let mut ahead = &self.car;
        let gaps = self.model.trailers.iter().zip(&self.towed);
        gaps.fold(0.0, |widest: f64, (trailer, car)| {
            let at = |car: &CarState, arm: DVec3| car.body.position + car.body.rotation * arm;
            let gap = at(ahead, trailer.joint.ahead) - at(car, trailer.joint.behind);
            ahead = car;
            widest.max(gap.length())
        })
    }
}

/// A car with several identical caravans.
fn caravans(count: usize) -> VehicleFile {
    let mut file = shipped("escort-caravan");
    file.trailers = vec![file.trailers[0].clone(); count];
    file
}

/// A single-axle semi-trailer whose tractor carries most of its weight.
fn semi_trailer() -> VehicleFile {
    let mut file = shipped("semi-trailer-truck");
    file.body.centre_height = Some(1.1).into();
    file.wheels.friction = Some(0.8).into();
    file.wheels.cornering_stiffness = Some(6.0).into();
    file.suspension = shipped("articulated-bus").suspension;
    file.suspension.as_mut().unwrap().spring = 500_000.0.into();
    file.suspension.as_mut().unwrap().damping = 40_000.0.into();
    file.trailers[0].ground_clearance = Some(1.15).into();
    file.trailers[0].axles.clear();
    (file.trailers[0].wheels, file.trailers[0].suspension) = (None, None);
    file
}

fn all() -> Vec<(&'static str, VehicleFile)> {
    vec![
        ("bus", shipped("articulated-bus")),
        ("caravan", shipped("escort-caravan")),
        ("semi-trailer", semi_trailer()),
        ("three caravans", caravans(3)),
    ]
}

#[test]
fn the_coupling_carries_its_share_of_the_weight() {
    for (name, file) in all().into_iter().take(3) {
        let mut road = Road::new(&file, &Flat);
        // The train rolls because, at a standstill, the brakes of the vehicles would press against
        // each other.
        road.roll(1.0);
        road.drive(15.0, |_| wish(0.0, 0.0));
        let trailer = &file.trailers[0];
        let carried = 1.0 + trailer.centre() / trailer.coupling_to_axle;
        assert!((0.0..0.5).contains(&carried), "{name}: {carried}");
        let weight = trailer.mass * GRAVITY;
        let own: f64 = road.towed[0].loads.iter().sum();
        let ahead: f64 = road.car.loads.iter().sum();
        let share = own / ((1.0 - carried) * weight);
        assert!((share - 1.0).abs() < 0.01, "{name}: {share}");
        let whole = ahead / (file.mass() * GRAVITY + carried * weight);
        assert!((whole - 1.0).abs() < 0.005, "{name}: {whole}");
        // A load on a coupling behind the rear axle reduces the load on the front axle.
        let front = |loads: &[f64]| loads[2] + loads[3];
        let alone = front(&road.model.wheels.iter().map(|w| w.load).collect::<Vec<_>>());
        let (axle, rear) = file.axles();
        let lever = (rear - file.coupling().unwrap()) / (axle - rear);
        let expected = alone - carried * weight * lever;
        let shown = front(&road.car.loads);
        assert!(
            (shown / expected - 1.0).abs() < 0.05,
            "{name}: {shown} {expected}"
        );
    }
}

#[test]
fn couplings_stay_together_whatever_the_driver_does() {
    for (name, file) in all() {
        let mut road = Road::new(&file, &Flat);
        road.roll(12.0);
        let mut widest = 0.0f64;
        // A slalom, followed by full braking at full lock.
        for (seconds, steering, acceleration) in
            [(1.0, 0.1, 0.0), (1.0, -0.1, 1.0), (4.0, 0.5, -8.0)]
        {
            road.drive_seen(
                seconds,
                |_| wish(acceleration, steering),
                |road| {
                    widest = widest.max(road.gap());
                },
            );
        }
        assert!(widest < 5e-3, "{name}: {widest}");
        let speed = road.car.speed(&road.model);
        assert!(speed.abs() < 0.1, "{name}: {speed}");
        let tilts: Vec<f64> = road.towed.iter().map(CarState::tilt).collect();
        assert!(tilts.iter().all(|tilt| *tilt < 0.2), "{name}: {tilts:?}");
        assert!(road.car.tilt() < 0.2, "{name}");
    }
}

#[test]
fn in_a_slow_bend_it_cuts_the_corner_as_the_closed_form_says() {
    for (name, file) in all() {
        let mut road = Road::new(&file, &Flat);
        let radius = 25.0;
        let steering = atan(road.model.limits.wheelbase / radius);
        let model = road.model.clone();
        road.drive(150.0, |car| wish(0.5 * (1.5 - car.speed(&model)), steering));
        // The rear axle of the car and the axles of its trailers move on circles around the same centre.
        let pose = road.car.pose(&road.model);
        let turning = road.car.body.spin.z / road.car.speed(&road.model);
        let driven = 1.0 / turning;
        let middle = pose.point(0.0, driven);
        let mut ahead = driven;
        for (number, hitched) in road.train.trailers().iter().enumerate() {
            let trailer = &road.towed[number];
            let axle = trailer.pose(&road.model.trailers[number].model).position;
            let shown = (axle - middle).length();
            // Distance of the coupling behind the axle of the vehicle ahead.
            let behind = match number {
                0 => -hitched.coupling,
                _ => -hitched.coupling - road.train.trailers()[number - 1].to_axle,
            };
            let exact = off_tracking(ahead, behind, hitched.to_axle).unwrap();
            assert!(
                (shown / exact - 1.0).abs() < 0.01,
                "{name} {number}: {shown} {exact}"
            );
            ahead = exact;
        }
        assert!((driven / radius - 1.0).abs() < 0.03, "{name}: {driven}");
    }
}

#[test]
fn backwards_it_folds_up_to_its_lock_and_no_farther() {
    for (name, file) in all().into_iter().take(3) {
        let mut road = Road::new(&file, &Flat);
        let model = road.model.clone();
        let back = |car: &CarState| Controls {
            acceleration: 1.0 + car.speed(&model),
            is_reversing: true,
            ..wish(0.0, 0.05)
        };
        let mut widest = 0.0f64;
        road.drive_seen(40.0, back, |road| widest = widest.max(road.angle(0).abs()));
        let lock = file.trailers[0].lock;
        // The angle is limited by the grip, or by the joint, which yields slightly.
        assert!(widest > 0.9 * lock, "{name}: {widest}");
        assert!(widest < lock + 0.05, "{name}: {widest}");
        assert!(road.gap() < 5e-3, "{name}");
    }
}

/// Ground that is raised only to the left of a line and behind a position.
struct Kerb;

impl Surface for Kerb {
    fn at(&self, place: DVec2) -> (f64, DVec3) {
        let raised = place.x < -4.0 && place.y > 0.0;
        (if raised { 0.1 } else { 0.0 }, DVec3::Z)
    }
}

/// If the left wheel of a trailer is 10 cm higher, the trailer leans alone on a ball joint, but
/// makes the towing vehicle lean on a universal joint.
#[test]
fn a_universal_joint_rolls_with_what_tows() {
    let lean = |joint: TrailerJoint| {
        let mut file = shipped("escort-caravan");
        file.trailers[0].joint = joint;
        let mut road = Road::new(&file, &Kerb);
        road.drive(15.0, |_| wish(0.0, 0.0));
        (road.car.roll_angle(), road.towed[0].roll_angle())
    };
    let (car, caravan) = lean(TrailerJoint::Ball);
    assert!(car.abs() < 2e-3, "{car}");
    assert!(caravan > 0.03, "{caravan}");
    let (car, caravan) = lean(TrailerJoint::Universal);
    assert!(car > 5e-3, "{car}");
    assert!((car - caravan).abs() < 2e-3, "{car} {caravan}");
}

/// Trailers have their own brakes, but the towing vehicle has to pull the whole train.
#[test]
fn with_its_trailer_it_speeds_up_and_stops_as_asked() {
    for (name, file) in all() {
        let mut road = Road::new(&file, &Flat);
        let wanted = 0.6;
        road.drive(10.0, |_| wish(wanted, 0.0));
        let speed = road.car.speed(&road.model);
        let share = speed / (10.0 * wanted);
        assert!((share - 1.0).abs() < 0.03, "{name}: {speed}");
        let from = road.car.body.position.x;
        road.drive(6.0, |_| wish(-3.0, 0.0));
        let travelled = road.car.body.position.x - from;
        let exact = speed * speed / 6.0;
        // The brakes take a step to build up, and the bodies pitch.
        assert!(
            (travelled / exact - 1.0).abs() < 0.06,
            "{name}: {travelled} {exact}"
        );
        let stands = road
            .towed
            .iter()
            .all(|car| car.body.velocity.length() < 0.02);
        assert!(stands, "{name}");
    }
}

/// A caravan whose load is ahead of its axle settles after a gust of wind. If the load is behind
/// the axle, the caravan starts to sway.
#[test]
fn a_caravan_that_is_loaded_behind_its_axle_sways() {
    let sway = |centre: f64| {
        let mut file = shipped("escort-caravan");
        file.trailers[0].centre = Some(centre).into();
        let mut road = Road::new(&file, &Flat);
        road.roll(27.0);
        road.towed[0].body.spin.z += 0.1;
        let model = road.model.clone();
        let keep = |car: &CarState| wish(0.5 * (27.0 - car.speed(&model)), 0.0);
        road.drive(4.0, keep);
        let mut late = 0.0f64;
        road.drive_seen(3.0, keep, |road| late = late.max(road.angle(0).abs()));
        late
    };
    let (ahead, behind) = (sway(-3.6), sway(-4.9));
    assert!(ahead < 2e-3, "{ahead}");
    assert!(behind > 10.0 * ahead && behind > 0.02, "{behind}");
}

#[test]
fn a_train_that_loses_its_mind_is_put_to_rest_whole() {
    let file = caravans(2);
    let mut road = Road::new(&file, &Flat);
    road.towed[1].body.velocity = DVec3::new(f64::NAN, 0.0, 0.0);
    let before = road.car.body.position;
    let entry = CarEntry {
        model: &road.model,
        controls: wish(1.0, 0.0),
        state: &mut road.car,
        layers: ALL_LAYERS,
        towed: &mut road.towed,
    };
    let lost = Yard::new(&Flat, 200.0).step(vec![entry], Vec::new(), 0.02);
    assert_eq!(lost, [0]);
    assert_eq!(road.car.body.position, before);
    let all = std::iter::once(&road.car).chain(&road.towed);
    assert!(all.into_iter().all(|car| car.body.velocity == DVec3::ZERO));
    road.drive(1.0, |_| wish(0.5, 0.0));
    assert!(road.car.speed(&road.model) > 0.3);
}

/// Trailers are added and removed between steps: first fewer, then more, then none.
#[test]
fn trailers_are_joined_on_where_they_stand() {
    let file = caravans(3);
    let mut road = Road::new(&file, &Flat);
    road.drive(2.0, |_| wish(0.5, 0.1));
    let second = road.towed[1].clone();
    road.towed.truncate(2);
    let states = road.train.straight(road.car.pose(&road.model));
    road.car
        .join_on(&road.model, &mut road.towed, &states, &Flat);
    // Existing trailers stay exactly as they are. A new trailer is aligned with its coupling.
    assert_eq!(road.towed.len(), 3);
    assert_eq!(road.towed[1], second);
    assert!(road.gap() < 1e-3, "{}", road.gap());
    road.towed[0].loads.clear();
    road.join_on();
    assert_eq!(road.towed.len(), 3);
    assert!(road.towed.iter().all(|car| car.loads.len() == 2));
    let alone = RigidModel::of_file(&VehicleFile {
        trailers: Vec::new(),
        ..file
    });
    road.car
        .join_on(&alone.unwrap(), &mut road.towed, &[], &Flat);
    assert!(road.towed.is_empty());
}

/// A semi-trailer with several axles, its own springs and its own brakes.
fn several_axles(axles: &[f64]) -> VehicleFile {
    let mut file = semi_trailer();
    let trailer = &mut file.trailers[0];
    trailer.axles = axles.to_vec().into();
    trailer.coupling_to_axle = (-axles.iter().sum::<f64>() / axles.len() as f64).into();
    let suspension = file.suspension.clone().unwrap();
    trailer.suspension = Some(roadwright_scenario::vehicle_file::Suspension {
        spring: 300_000.0.into(),
        damping: 25_000.0.into(),
        anti_sway: 100_000.0.into(),
    });
    assert_ne!(trailer.suspension, Some(suspension));
    file
}

const TWO: [f64; 2] = [-7.4, -8.8];
const THREE: [f64; 3] = [-6.79, -8.1, -9.41];

#[test]
fn several_axles_share_what_the_coupling_does_not_carry_and_stand_at_their_sag() {
    for axles in [&TWO[..], &THREE[..]] {
        let file = several_axles(axles);
        let mut road = Road::new(&file, &Flat);
        let trailer = &file.trailers[0];
        let count = 2 * axles.len();
        assert_eq!(road.towed[0].loads.len(), count);
        // The load on all of its wheels is W c / d, from the moment about the coupling.
        let carried = trailer.mass * GRAVITY * trailer.centre() / -trailer.coupling_to_axle;
        let each = carried / count as f64;
        let model = &road.model.trailers[0].model;
        let sag = each / 300_000.0;
        for wheel in 0..count {
            assert!((model.static_sag(wheel) / sag - 1.0).abs() < 1e-9);
        }
        // The trailer is released at the height at which its springs carry no load, and settles
        // where they carry this load.
        road.towed[0].body.position.z += sag;
        road.roll(1.0);
        road.drive(0.02, |_| wish(0.0, 0.0));
        let dropped: f64 = road.towed[0].loads.iter().sum();
        assert!(dropped < 0.5 * carried, "{dropped} {carried}");
        road.drive(15.0, |_| wish(0.0, 0.0));
        // The trailer leans forward onto its tractor, which sinks under it. The centre of its axles does not
        // sink.
        let travels = road.towed[0].wheels.iter().map(|wheel| wheel.travel);
        let mean = travels.sum::<f64>() / count as f64;
        assert!(mean.abs() < 0.03 * sag, "{mean} of {sag}");
        for &load in &road.towed[0].loads {
            assert!((load / each - 1.0).abs() < 0.03, "{load} {each}");
        }
        let whole: f64 = road.towed[0].loads.iter().sum();
        assert!((whole / carried - 1.0).abs() < 0.02, "{whole} {carried}");
    }
}

/// Unsteered axles turn about the point at which their tyre forces balance. With equal loads and
/// linear tyres, its distance behind the coupling is the sum of x^2 divided by the sum of x, so it
/// is farther back than the centre of the axles.
#[test]
fn several_axles_turn_about_the_point_where_their_tyres_balance() {
    let spread = [-5.1, -8.1, -11.1];
    for axles in [&TWO[..], &THREE[..], &spread[..]] {
        let file = several_axles(axles);
        let mut road = Road::new(&file, &Flat);
        let steering = atan(road.model.limits.wheelbase / 60.0);
        let model = road.model.clone();
        road.drive(150.0, |car| wish(0.5 * (1.5 - car.speed(&model)), steering));
        let squares: f64 = axles.iter().map(|x| x * x).sum();
        let balance = -squares / axles.iter().sum::<f64>();
        // At that point, the trailer is perpendicular to the direction of the common centre of all
        // circles. This gives the distance of the point from the coupling. The centre is computed
        // from the car's hull, because the tyres of the car also slip.
        let (velocity, turning) = (road.car.body.velocity, road.car.body.spin.z);
        let middle = road.car.body.position.truncate() + velocity.truncate().perp() / turning;
        let joint = road.model.trailers[0].joint;
        let at = road.towed[0].body.position + road.towed[0].body.rotation * joint.behind;
        let to_coupling = at.truncate() - middle;
        let along = road.towed[0].forward().truncate().normalize();
        // Distance along the trailer's centre line from the foot of the perpendicular to the coupling.
        let shown = to_coupling.dot(along);
        assert!(
            (shown / balance - 1.0).abs() < 0.015,
            "{axles:?}: {shown} {balance}"
        );
        // The point is not the centre of the axles, which is half a metre away for widely spaced
        // axles.
        if axles == spread {
            assert!(shown - 8.1 > 0.5, "{shown}");
        }
    }
}

#[test]
fn a_trailer_brakes_as_hard_as_its_file_says() {
    let stop = |brakes: Option<f64>| {
        let mut file = shipped("escort-caravan");
        file.trailers[0].brakes = brakes.into();
        let mut road = Road::new(&file, &Flat);
        road.roll(15.0);
        let start = road.car.body.position.x;
        road.drive(12.0, |_| wish(-3.0, 0.0));
        assert!(road.car.speed(&road.model).abs() < 0.1, "{brakes:?}");
        road.car.body.position.x - start
    };
    let (own, none, weak) = (stop(None), stop(Some(0.0)), stop(Some(700.0)));
    // A trailer that brakes as hard as its car stops in 15^2 / 2 x 3 m.
    assert!((own / 37.5 - 1.0).abs() < 0.05, "{own}");
    // Without trailer brakes, the car brakes for both: its braking force of 3 m/s^2 times its own
    // mass acts on both masses.
    let file = shipped("escort-caravan");
    let (car, caravan) = (file.mass(), file.trailers[0].mass);
    let exact = 37.5 * (car + caravan) / car;
    assert!((none / exact - 1.0).abs() < 0.05, "{none} {exact}");
    // With 700 N per wheel, the distance is in between.
    let exact = 37.5 * (car + caravan) / (car + 1400.0 / 3.0);
    assert!((weak / exact - 1.0).abs() < 0.05, "{weak} {exact}");
}
