//! Tests of the effects of terrain slopes on vehicles at every level, compared with closed-form
//! solutions.

use crate::common::{plane, restored};
use crate::scenarios::*;
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Registry,
    Step,
};
use roadwright_geometry::math::{atan, cos, sin, tan};
use roadwright_geometry::{DVec2, HeightField};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::vehicle_file::{FileReference, VehicleFile};
use roadwright_scenario::*;
use roadwright_simulation::{Ground, RunOptions, VehicleRecord, World, builtin_modules};
use roadwright_vehicle::DriveTrain;
use std::path::PathBuf;
use std::sync::Arc;

const G: f64 = 9.81;
/// Friction coefficient of the tyres of a car without a vehicle file.
const MU: f64 = 1.0489;
/// Position at which the drives start, m.
const START: f64 = 1000.0;

/// A controller that always commands the same acceleration with straight wheels.
struct Pedal;

static PEDAL: ModuleInfo = ModuleInfo {
    id: "pedal",
    name: "Pedal",
    doc: "Holds an acceleration.",
};

static PARAMETERS: [ParameterInfo; 1] = [ParameterInfo::number(
    "acceleration",
    "m/s^2",
    (-50.0, 50.0),
    0.0,
    "Wanted acceleration.",
)];

impl Logic for Pedal {}

impl Controller for Pedal {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        _: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        for output in outputs {
            output.acceleration = parameters.value("acceleration");
            output.steering = 0.0;
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
    let make = || -> Box<dyn Controller> { Box::new(Pedal) };
    registry.add(ModuleEntry::<dyn Controller>::new(PEDAL, &PARAMETERS, make));
    registry
}

/// A drive along a straight road of 2 km.
#[derive(Clone, Copy)]
struct Drive {
    /// Slope of the terrain along the road, as rise over run; 0 for no terrain.
    rise: f64,
    /// Grip relative to dry asphalt.
    grip: f64,
    /// Acceleration that the driver wants, m/s^2.
    wish: f64,
    /// Initial speed, m/s.
    speed: f64,
    dt: f64,
}

impl Default for Drive {
    fn default() -> Self {
        Self {
            rise: 0.1,
            grip: 1.0,
            wish: 0.0,
            speed: 0.0,
            dt: 0.01,
        }
    }
}

impl Drive {
    fn scenario(&self) -> Scenario {
        let mut scenario = Scenario::new("slope");
        let style = RoadStyle {
            section: CrossSection::driving(1, 0, 4.0),
            ..street("Hill Road")
        };
        draw(&mut scenario, (0.0, 0.0), (2000.0, 0.0), &style);
        let mut stack = Stack::with_controller("pedal");
        stack.controller = ModuleSetting::new("pedal").with("acceleration", self.wish);
        let edit = Edit::Stack("pedal".into(), Some(Box::new(stack)));
        scenario.apply(edit).unwrap();
        let grip = GroundGrip {
            residential: self.grip.into(),
            ..GroundGrip::default()
        };
        let settings = Settings {
            grip,
            ..scenario.settings()
        };
        scenario.apply(Edit::Settings(settings)).unwrap();
        if self.rise != 0.0 {
            scenario
                .apply(Edit::Terrain(Some(Box::new(plane(self.rise)))))
                .unwrap();
        }
        let agent = Agent {
            stack: "pedal".into(),
            start: Place::lane(RoadId(1), -1, START),
            destination: Some(Place::lane(RoadId(1), -1, 1990.0)),
            speed: self.speed.into(),
            ..west_to_east()
        };
        let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
        scenario
    }

    fn world(&self, level: DynamicsLevel) -> World {
        self.world_of(&self.scenario(), level)
    }

    fn world_of(&self, scenario: &Scenario, level: DynamicsLevel) -> World {
        let options = RunOptions {
            dynamics: Some(level),
            dt: Some(self.dt),
            ..RunOptions::default()
        };
        World::new(scenario, &registry(), &options).unwrap()
    }

    /// Returns the distance (m) and speed (m/s) after a number of seconds.
    fn after(&self, level: DynamicsLevel, seconds: f64) -> (f64, f64) {
        let mut world = self.world(level);
        while world.time() < seconds - 1e-9 {
            world.step();
        }
        let seen = only(&world);
        (seen.pose.position.x - START, seen.speed)
    }

    /// Returns the stopping distance, m.
    fn stopping(&self, level: DynamicsLevel) -> f64 {
        let mut world = self.world(level);
        for _ in 0..(60.0 / self.dt) as u32 {
            world.step();
            if only(&world).speed.abs() < 1e-3 {
                break;
            }
        }
        let seen = only(&world);
        assert!(seen.speed.abs() < 1e-3, "{level}: it stands: {seen:?}");
        seen.pose.position.x - START
    }
}

fn only(world: &World) -> VehicleRecord {
    world.snapshot().vehicles[0]
}

/// Levels with planar vehicles.
const PLANAR: [DynamicsLevel; 4] = [
    DynamicsLevel::Lane,
    DynamicsLevel::OneTrack,
    DynamicsLevel::DynamicOneTrack,
    DynamicsLevel::Sliding,
];

/// Returns the acceleration and braking limits of the car without a vehicle file, m/s^2.
fn limits() -> (f64, f64) {
    let car = VehicleType::car();
    (car.max_acceleration.get(), car.max_braking.get())
}

/// Returns the maximum tyre acceleration of a vehicle at the given level on dry asphalt, m/s^2.
fn grip_of(level: DynamicsLevel) -> f64 {
    if level == DynamicsLevel::Sliding {
        // [Adam 2007], appendix A.
        3.0 * 9.8
    } else {
        MU * G
    }
}

/// Returns the maximum delay of the first command, s. At level `lane`, the command takes effect
/// when the next stride begins.
fn late(level: DynamicsLevel) -> f64 {
    if level == DynamicsLevel::Lane {
        0.2
    } else {
        0.1
    }
}

#[test]
fn braking_takes_farther_down_a_slope_than_up_at_every_level() {
    let (angle, (_, brakes)) = (atan(0.1), limits());
    for level in DynamicsLevel::FOR_VEHICLES {
        for grip in [1.0, 0.2] {
            let gives = brakes.min(grip * grip_of(level) * cos(angle));
            for (rise, sign) in [(0.1, 1.0), (-0.1, -1.0)] {
                let drive = Drive {
                    rise,
                    grip,
                    wish: -50.0,
                    speed: 12.0,
                    ..Drive::default()
                };
                let exact = 144.0 / (2.0 * (gives + sign * G * sin(angle)));
                let distance = drive.stopping(level);
                println!(
                    "{level}, grip {grip}, rise {rise}: {distance:.2} m, closed form {exact:.2}"
                );
                let room = 0.03 * exact + 12.0 * late(level);
                assert!(
                    (distance - exact).abs() < room,
                    "{level} {grip} {rise}: {distance} {exact}"
                );
            }
        }
    }
}

#[test]
fn the_limiting_grade_is_that_of_the_engine_or_of_the_grip() {
    let (engine, _) = limits();
    for level in PLANAR {
        // The limit is sin a = a_max / g with sufficient grip, and tan a = mu otherwise, both from
        // rest.
        let by_engine = {
            let sin = engine / G;
            sin / (1.0 - sin * sin).sqrt()
        };
        let ice = if level == DynamicsLevel::Sliding {
            0.05
        } else {
            0.1
        };
        let by_grip = ice * grip_of(level) / G;
        assert!(by_grip < by_engine);
        for (limit, grip) in [(by_engine, 1.0), (by_grip, ice)] {
            let climbed = |share: f64| {
                let drive = Drive {
                    rise: share * limit,
                    grip,
                    wish: 50.0,
                    ..Drive::default()
                };
                drive.after(level, 20.0).0
            };
            let (below, above) = (climbed(0.97), climbed(1.03));
            println!("{level}, limit {limit:.3}: {below:.2} m below it, {above:.2} m above");
            assert!(below > 1.0, "{level} {grip}: {below}");
            if level == DynamicsLevel::Lane {
                assert_eq!(above, 0.0, "{level}: it stands");
            } else {
                assert!(above < -1.0, "{level} {grip}: {above}");
            }
        }
    }
}

#[test]
fn a_drive_train_climbs_what_its_first_gear_can() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/vehicles");
    let file = VehicleFile::load(&folder.join("willys-mb.vehicle.json")).unwrap();
    let train = DriveTrain::new(&file).unwrap();
    let jeep = Arc::new(FileReference {
        path: "willys-mb.vehicle.json".into(),
        hash: String::new(),
        was: None,
        vehicle: file.clone(),
    });
    let limit = tan(train.limiting_grade());
    for level in [
        DynamicsLevel::Lane,
        DynamicsLevel::OneTrack,
        DynamicsLevel::DynamicOneTrack,
    ] {
        let climbed = |share: f64| {
            let drive = Drive {
                rise: share * limit,
                wish: 2.0,
                ..Drive::default()
            };
            let mut scenario = drive.scenario();
            let kind = VehicleType {
                file: Some(jeep.clone()),
                ..file.vehicle_type()
            };
            let edit = Edit::VehicleType("car".into(), Some(Box::new(kind)));
            scenario.apply(edit).unwrap();
            let mut world = drive.world_of(&scenario, level);
            (0..2000).for_each(|_| world.step());
            only(&world).pose.position.x - START
        };
        let (below, above) = (climbed(0.95), climbed(1.05));
        println!("{level}, limit {limit:.3}: {below:.2} m below it, {above:.2} m above");
        assert!(below > 1.0, "{level}: {below}");
        assert!(above <= 0.0, "{level}: {above}");
    }
}

#[test]
fn a_wish_is_given_uphill_as_far_as_the_power_goes() {
    let (engine, _) = limits();
    let pull = G * sin(atan(0.1));
    for level in PLANAR {
        for (wish, given) in [(1.0, 1.0), (engine, engine - pull)] {
            let drive = Drive {
                wish,
                ..Drive::default()
            };
            let (_, speed) = drive.after(level, 4.0);
            // The car at level `sliding` has air drag.
            assert!(
                (speed - 4.0 * given).abs() < (0.02 + late(level)) * given + 0.05,
                "{level} {wish}: {speed}"
            );
        }
    }
}

#[test]
fn what_neither_engine_nor_brakes_hold_slides_down() {
    // On ice with a grip of 0.05, a slope of 30 % exceeds the force of locked wheels: g (sin a - mu cos a).
    let (rise, grip) = (0.3, 0.05);
    let angle = atan(rise);
    for level in [
        DynamicsLevel::OneTrack,
        DynamicsLevel::DynamicOneTrack,
        DynamicsLevel::Rigid,
    ] {
        let drive = Drive {
            rise,
            grip,
            wish: -8.0,
            ..Drive::default()
        };
        let (_, speed) = drive.after(level, 3.0);
        let exact = -3.0 * G * (sin(angle) - grip * MU * cos(angle));
        println!("{level}: {speed:.3} m/s after 3 s, closed form {exact:.3}");
        assert!(
            (speed / exact - 1.0).abs() < 0.05,
            "{level}: {speed} {exact}"
        );
    }
    // If there is enough grip, the vehicle does not move at all.
    for level in PLANAR {
        let drive = Drive {
            rise,
            wish: -8.0,
            ..Drive::default()
        };
        assert_eq!(drive.after(level, 3.0), (0.0, 0.0), "{level}");
    }
}

#[test]
fn who_coasts_down_gains_what_the_slope_gives() {
    // A command that equals the downhill pull of the slope needs neither engine nor brakes.
    let pull = G * sin(atan(0.1));
    for level in PLANAR {
        let drive = Drive {
            rise: -0.1,
            wish: pull,
            speed: 2.0,
            ..Drive::default()
        };
        let (distance, speed) = drive.after(level, 5.0);
        let late = late(level);
        assert!(
            (speed - 2.0 - 5.0 * pull).abs() < 0.05 + late,
            "{level}: {speed}"
        );
        assert!(
            (distance - 10.0 - 12.5 * pull).abs() < 0.1 + 5.0 * late,
            "{level}: {distance}"
        );
    }
}

#[test]
fn results_do_not_depend_on_the_step() {
    for level in PLANAR {
        let distances = [0.02, 0.01, 0.005].map(|dt| {
            let drive = Drive {
                rise: 0.4,
                wish: 1.5,
                speed: 12.0,
                dt,
                ..Drive::default()
            };
            drive.after(level, 8.0).0
        });
        println!("{level}: {distances:?}");
        for distance in distances {
            assert!(
                (distance - distances[2]).abs() < 0.02 * distances[2].abs() + 0.05,
                "{level}: {distances:?}"
            );
        }
    }
}

#[test]
fn level_land_drives_as_no_land_to_the_bit() {
    for level in DynamicsLevel::FOR_VEHICLES {
        let drive = Drive {
            rise: 0.0,
            wish: 1.0,
            speed: 3.0,
            ..Drive::default()
        };
        let scenario = drive.scenario();
        let mut level_land = scenario.clone();
        let (low, high) = (DVec2::new(-100.0, -100.0), DVec2::new(2100.0, 100.0));
        let land = HeightField::level(low, high, 50.0).unwrap();
        let count = land.heights().len();
        let land = land.with_heights(vec![3.7; count]).unwrap();
        level_land
            .apply(Edit::Terrain(Some(Box::new(land))))
            .unwrap();
        let drives = [scenario, level_land].map(|scenario| {
            let mut world = drive.world_of(&scenario, level);
            (0..500).for_each(|_| world.step());
            let seen = only(&world);
            (seen.pose, seen.speed)
        });
        if level != DynamicsLevel::Rigid {
            assert_eq!(drives[0], drives[1], "{level}");
        }
    }
}

#[test]
fn slopes_can_be_switched_off() {
    let drive = Drive {
        rise: 0.5,
        wish: 1.0,
        ..Drive::default()
    };
    let scenario = drive.scenario();
    let mut seen_only = scenario.clone();
    let settings = Settings {
        slopes: false,
        ..scenario.settings()
    };
    seen_only.apply(Edit::Settings(settings)).unwrap();
    let text = file::to_text(&seen_only);
    assert!(text.contains("\"slopes\": false"));
    assert_eq!(file::from_text(&text).unwrap().settings(), settings);
    assert!(!file::to_text(&scenario).contains("slopes"));
    let level = DynamicsLevel::OneTrack;
    let mut world = drive.world_of(&seen_only, level);
    (0..200).for_each(|_| world.step());
    let flat = only(&world);
    // The first step has no command yet.
    assert!((flat.speed - 2.0).abs() < 0.03, "{flat:?}");
    // An edit of a running world takes effect immediately.
    world.update(&seen_only, &scenario, &registry()).unwrap();
    (0..300).for_each(|_| world.step());
    assert!(only(&world).speed < 0.0, "{:?}", only(&world));
    assert_ne!(
        Ground::new(&scenario).hash(),
        Ground::new(&seen_only).hash()
    );
}

#[test]
fn who_cannot_climb_a_lane_stands_and_is_told_once() {
    let drive = Drive {
        rise: 0.5,
        wish: 1.0,
        speed: 5.0,
        ..Drive::default()
    };
    let mut world = drive.world(DynamicsLevel::Lane);
    (0..1500).for_each(|_| world.step());
    assert_eq!(only(&world).speed, 0.0);
    let (words, count) = world.faults().iter().next().unwrap();
    assert!(words.contains("too steep"), "{words}");
    assert_eq!(*count, 1);
    // Comparison: a vehicle that intends to stand is not reported.
    let parked = Drive {
        wish: -1.0,
        ..drive
    };
    let mut world = parked.world(DynamicsLevel::Lane);
    (0..1500).for_each(|_| world.step());
    assert!(world.faults().is_empty());
}

#[test]
fn cliffs_and_bottomless_pits_break_nothing() {
    for (number, rise) in [1e4, -1e4, 1e-12].into_iter().enumerate() {
        let drive = Drive {
            wish: 50.0,
            speed: 10.0,
            ..Drive::default()
        };
        let mut scenario = drive.scenario();
        let flat = plane(0.0);
        let columns = flat.columns();
        // The terrain is a sawtooth of cliffs, one in each cell.
        let heights = (0..flat.heights().len()).map(|at| rise * ((at % columns) % 2) as f64);
        let land = flat.with_heights(heights.collect()).unwrap();
        scenario.apply(Edit::Terrain(Some(Box::new(land)))).unwrap();
        for level in PLANAR {
            let mut world = drive.world_of(&scenario, level);
            for _ in 0..1500 {
                world.step();
                let Some(seen) = world.snapshot().vehicles.first().copied() else {
                    break;
                };
                let is_sane = seen.pose.position.is_finite() && seen.speed.abs() < 200.0;
                assert!(is_sane, "{number} {level}: {seen:?}");
            }
        }
    }
}

#[test]
fn hilly_worlds_are_the_same_with_two_threads_and_after_a_save() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let scenario = file::load(&folder.join("hill-country.scenario.json")).unwrap();
    for level in [DynamicsLevel::OneTrack, DynamicsLevel::DynamicOneTrack] {
        let with = |threads: usize| RunOptions {
            threads,
            dynamics: Some(level),
            ..RunOptions::default()
        };
        let make = |threads| World::new(&scenario, &builtin_modules(), &with(threads)).unwrap();
        let (mut one, mut two) = (make(1), make(2));
        for _ in 0..1000 {
            one.step();
            two.step();
        }
        assert_eq!(one.state_hash(), two.state_hash());
        let mut again = restored(&one, &scenario, &with(1));
        for _ in 0..500 {
            one.step();
            again.step();
        }
        assert_eq!(one.state_hash(), again.state_hash());
        // Comparison: on level terrain, the vehicles are in other places.
        let mut flat = scenario.clone();
        let settings = Settings {
            slopes: false,
            ..scenario.settings()
        };
        flat.apply(Edit::Settings(settings)).unwrap();
        let mut flat = World::new(&flat, &builtin_modules(), &with(1)).unwrap();
        (0..1500).for_each(|_| flat.step());
        assert_ne!(flat.state_hash(), one.state_hash());
    }
}
