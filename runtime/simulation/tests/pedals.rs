//! Tests of controllers that use pedals, at every level.

use crate::common::{plane, restored};
use crate::scenarios::*;
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Registry,
    Step,
};
use roadwright_geometry::math::{atan, sin};
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, DriveInput, PedalsInput, PedalsOutput,
};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::vehicle_file::{FileReference, VehicleFile};
use roadwright_scenario::*;
use roadwright_simulation::{RunOptions, Status, VehicleRecord, World, builtin_modules};
use roadwright_vehicle::DriveTrain;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

const G: f64 = 9.81;

/// A controller that holds the pedals at the positions given by its parameters, and records its
/// last input. If `asks` is 0, it instead commands the acceleration that these pedals give on level
/// ground.
struct Foot(Told);

/// The last input row.
type Told = Arc<Mutex<Option<PedalsInput>>>;

static FOOT: ModuleInfo = ModuleInfo {
    id: "foot",
    name: "Foot",
    doc: "Holds pedals.",
};

const fn share(key: &'static str) -> ParameterInfo {
    ParameterInfo::number(key, "", (-1.0, 9.0), 0.0, "As it is held.")
}

static PARAMETERS: [ParameterInfo; 7] = [
    share("throttle"),
    share("brake"),
    share("hand_brake"),
    share("gear"),
    share("steering"),
    share("asks"),
    ParameterInfo::number(
        "acceleration",
        "m/s^2",
        (-50.0, 50.0),
        0.0,
        "Wanted acceleration.",
    ),
];

impl Logic for Foot {}

impl Controller for Foot {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        _: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        for output in outputs {
            output.acceleration = parameters.value("acceleration");
            output.steering = parameters.value("steering");
        }
    }

    fn wants_pedals(&self, parameters: &ParameterSet) -> bool {
        parameters.value("asks") != 0.0
    }

    fn drive(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[PedalsInput],
        outputs: &mut [PedalsOutput],
    ) {
        for (input, output) in inputs.iter().zip(outputs) {
            *self.0.lock().unwrap() = Some(*input);
            *output = PedalsOutput {
                throttle: parameters.value("throttle"),
                brake: parameters.value("brake"),
                hand_brake: parameters.value("hand_brake"),
                gear: parameters.value("gear"),
                steering: parameters.value("steering"),
            };
        }
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        Lookahead {
            distance: 5.0,
            time: 0.0,
        }
    }
}

fn registry(told: &Told) -> Registry {
    let mut registry = builtin_modules();
    let told = told.clone();
    let make = move || -> Box<dyn Controller> { Box::new(Foot(told.clone())) };
    registry.add(ModuleEntry::<dyn Controller>::new(FOOT, &PARAMETERS, make));
    registry
}

fn shipped_vehicle(name: &str) -> VehicleFile {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/vehicles");
    VehicleFile::load(&folder.join(format!("{name}.vehicle.json"))).unwrap()
}

/// A drive with the pedal controller on a straight road of 2 km.
#[derive(Clone)]
struct Drive {
    /// Slope of the terrain along the road, as rise over run; 0 for no terrain.
    rise: f64,
    /// A shipped vehicle; `None` for a car without a vehicle file.
    vehicle: Option<&'static str>,
    /// Initial speed, m/s.
    speed: f64,
    held: Vec<(&'static str, f64)>,
}

impl Drive {
    fn new(speed: f64, held: &[(&'static str, f64)]) -> Self {
        let mut held = held.to_vec();
        held.push(("asks", 1.0));
        Self {
            rise: 0.0,
            vehicle: None,
            speed,
            held,
        }
    }

    fn scenario(&self) -> Scenario {
        let mut scenario = Scenario::new("pedals");
        let style = RoadStyle {
            section: CrossSection::driving(1, 0, 4.0),
            ..street("Long Road")
        };
        draw(&mut scenario, (0.0, 0.0), (2000.0, 0.0), &style);
        let mut setting = ModuleSetting::new("foot");
        for (key, value) in &self.held {
            setting = setting.with(key, *value);
        }
        let mut stack = Stack::with_controller("foot");
        stack.controller = setting;
        scenario
            .apply(Edit::Stack("foot".into(), Some(Box::new(stack))))
            .unwrap();
        if self.rise != 0.0 {
            scenario
                .apply(Edit::Terrain(Some(Box::new(plane(self.rise)))))
                .unwrap();
        }
        if let Some(name) = self.vehicle {
            let vehicle = shipped_vehicle(name);
            let kind = VehicleType {
                file: Some(Arc::new(FileReference {
                    path: format!("{name}.vehicle.json"),
                    hash: String::new(),
                    was: None,
                    vehicle: vehicle.clone(),
                })),
                ..vehicle.vehicle_type()
            };
            scenario
                .apply(Edit::VehicleType("car".into(), Some(Box::new(kind))))
                .unwrap();
        }
        let agent = Agent {
            stack: "foot".into(),
            start: Place::lane(RoadId(1), -1, 100.0),
            destination: Some(Place::lane(RoadId(1), -1, 1990.0)),
            speed: self.speed.into(),
            ..west_to_east()
        };
        scenario
            .apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
            .unwrap();
        scenario
    }

    fn world(&self, level: DynamicsLevel, told: &Told) -> World {
        let options = RunOptions {
            dynamics: Some(level),
            dt: Some(0.01),
            ..RunOptions::default()
        };
        World::new(&self.scenario(), &registry(told), &options).unwrap()
    }

    /// Returns the state of the vehicle the given number of seconds after it spawned, and the last
    /// input of its controller.
    fn after(&self, level: DynamicsLevel, seconds: f64) -> (VehicleRecord, DriveInput) {
        let told = Told::default();
        let mut world = self.world(level, &told);
        while world.snapshot().vehicles.is_empty() {
            world.step();
        }
        (0..(seconds / 0.01).round() as u32).for_each(|_| world.step());
        let drive = told.lock().unwrap().map(|told| told.drive);
        (car(&world), drive.unwrap_or_default())
    }
}

fn car(world: &World) -> VehicleRecord {
    world.snapshot().vehicles[0]
}

#[test]
fn without_a_drive_train_pedals_are_shares_of_what_the_vehicle_gives() {
    let limits = VehicleType::car();
    let (most, hardest) = (limits.max_acceleration, limits.max_braking);
    for level in DynamicsLevel::FOR_VEHICLES {
        // Level `lane` takes a command every fifth of a second.
        let (share, late) = if level == DynamicsLevel::Lane {
            (0.03, 0.9)
        } else {
            (0.02, 0.15)
        };
        // Half throttle is half of the available force.
        let (seen, told) = Drive::new(5.0, &[("throttle", 0.5)]).after(level, 4.0);
        let exact = 5.0 + 4.0 * 0.5 * most;
        assert!(
            (seen.speed / exact - 1.0).abs() < share,
            "{level}: {} {exact}",
            seen.speed
        );
        assert!(
            (told.full_throttle - most).abs() < 0.01,
            "{level}: {told:?}"
        );
        assert!(told.coasting.abs() < 0.01, "{level}: {told:?}");
        assert!(
            (told.full_brake + hardest).abs() < 0.01,
            "{level}: {told:?}"
        );
        assert_eq!(
            (told.rpm, told.gear, told.gears),
            (0.0, 0.0, 0.0),
            "{level}"
        );
        // Without a pedal, the vehicle keeps its speed. With half the brake pedal, it brakes half as hard.
        let (seen, _) = Drive::new(10.0, &[]).after(level, 5.0);
        assert!((seen.speed - 10.0).abs() < 0.05, "{level}: {}", seen.speed);
        let (seen, _) = Drive::new(15.0, &[("brake", 0.5)]).after(level, 2.0);
        let exact = 15.0 - 2.0 * 0.5 * hardest;
        assert!(
            (seen.speed - exact).abs() < late,
            "{level}: {} {exact}",
            seen.speed
        );
        // The vehicle stops by braking and then does not move at all.
        let drive = Drive::new(5.0, &[("brake", 0.3)]);
        let (first, second) = (drive.after(level, 6.0).0, drive.after(level, 9.0).0);
        assert_eq!(first.speed, 0.0, "{level}");
        let moved = (first.pose.position - second.pose.position).length();
        assert!(moved < 1e-3, "{level}: {moved}");
        // Steering works as for all other controllers.
        if level != DynamicsLevel::Lane {
            let (seen, _) =
                Drive::new(5.0, &[("throttle", 0.3), ("steering", 0.1)]).after(level, 1.0);
            assert!(seen.pose.heading > 0.05, "{level}: {seen:?}");
        }
    }
}

/// Checks that pedals and the equivalent acceleration lead to the same motion.
#[test]
fn a_controller_by_pedals_and_one_by_accelerations_drive_alike() {
    let limits = VehicleType::car();
    for level in DynamicsLevel::FOR_VEHICLES {
        for (throttle, brake) in [(0.7, 0.0), (0.2, 0.0), (0.0, 0.25), (0.0, 0.0)] {
            let pressed = throttle * limits.max_acceleration - brake * limits.max_braking;
            let pedals = Drive::new(12.0, &[("throttle", throttle), ("brake", brake)]);
            let mut wish = Drive::new(12.0, &[("acceleration", pressed)]);
            wish.held.retain(|(key, _)| *key != "asks");
            let (a, b) = (pedals.after(level, 3.0).0, wish.after(level, 3.0).0);
            let apart = (a.pose.position - b.pose.position).length();
            // Equal up to rounding at levels that compute accelerations. Wheels at level `rigid` have a
            // little slip.
            let within = if level == DynamicsLevel::Rigid {
                0.05
            } else {
                1e-9
            };
            assert!(
                apart < within,
                "{level} {throttle} {brake}: {apart} m apart"
            );
            assert!(
                (a.speed - b.speed).abs() < within,
                "{level}: {} {}",
                a.speed,
                b.speed
            );
        }
    }
}

#[test]
fn a_drive_train_takes_them_as_they_are() {
    let train = DriveTrain::new(&shipped_vehicle("willys-mb")).unwrap();
    for level in [DynamicsLevel::DynamicOneTrack, DynamicsLevel::Rigid] {
        let drive = |speed: f64, held: &[(&'static str, f64)]| Drive {
            vehicle: Some("willys-mb"),
            ..Drive::new(speed, held)
        };
        // From rest in first gear with half throttle, the engine idles and the clutch slips.
        let (seen, told) = drive(0.0, &[("throttle", 0.5), ("gear", 1.0)]).after(level, 1.0);
        let force = 0.5 * train.full_force(&train.gears[0], 0.0) / train.mass;
        assert!(
            (seen.speed / force - 1.0).abs() < 0.05,
            "{level}: {} {force}",
            seen.speed
        );
        assert_eq!((told.gear, told.gears), (1.0, 3.0), "{level}");
        assert!((told.throttle - 0.5).abs() < 1e-12, "{level}");
        assert_eq!((told.idle_rpm, told.limit_rpm), (600.0, 4000.0));
        // The input matches the engine's values at this speed and in this gear.
        let speed = seen.speed;
        let full = train.full_acceleration(&train.gears[0], speed);
        assert!(
            (told.full_throttle - full).abs() < 0.2,
            "{level}: {told:?} {full}"
        );
        let braked = train.foot_brake / train.mass;
        assert!(
            (told.full_brake + braked).abs() < 0.1,
            "{level}: {told:?} {braked}"
        );
        // Without a pedal, only air drag and rolling resistance act.
        let (seen, told) = drive(10.0, &[("gear", 3.0)]).after(level, 4.0);
        let coasted = 10.0 - 4.0 * train.resistance(9.6) / train.mass;
        assert!(
            (seen.speed - coasted).abs() < 0.05,
            "{level}: {} {coasted}",
            seen.speed
        );
        assert!((told.coasting + train.resistance(seen.speed) / train.mass).abs() < 0.01);
        // The requested gear stays engaged up to the engine's speed limit. The automatic gearbox shifts up.
        let held = drive(0.0, &[("throttle", 1.0), ("gear", 1.0)]).after(level, 12.0);
        assert_eq!(held.1.gear, 1.0, "{level}");
        let limit = train.speed(&train.gears[0], 4000.0);
        assert!(
            held.0.speed < 1.02 * limit,
            "{level}: {} {limit}",
            held.0.speed
        );
        let automatic = drive(0.0, &[("throttle", 1.0)]).after(level, 12.0);
        assert!(
            automatic.1.gear > 1.0 && automatic.0.speed > limit,
            "{level}: {automatic:?}"
        );
        // A low gear is delayed until the speed is low enough for it. At 14 m/s, first gear would exceed the
        // engine's speed limit.
        let waits = drive(14.0, &[("gear", 1.0)]).after(level, 1.0);
        assert!(waits.1.gear > 1.0, "{level}: {waits:?}");
        let slow = drive(14.0, &[("gear", 1.0), ("brake", 0.5)]).after(level, 4.0);
        assert_eq!(slow.1.gear, 1.0, "{level}");
        // The foot brake and the hand brake each stop and hold the vehicle.
        for held in [("brake", 1.0), ("hand_brake", 1.0)] {
            let (stopped, _) = drive(8.0, &[held]).after(level, 8.0);
            assert!(
                stopped.speed.abs() < 0.01,
                "{level} {held:?}: {}",
                stopped.speed
            );
        }
    }
}

#[test]
fn a_slope_acts_against_pedals_and_is_told() {
    let rise = 0.1;
    let pull = -G * sin(atan(rise));
    for level in DynamicsLevel::FOR_VEHICLES {
        let drive = |speed: f64, held: &[(&'static str, f64)]| Drive {
            rise,
            ..Drive::new(speed, held)
        };
        let most = VehicleType::car().max_acceleration;
        let (seen, told) = drive(5.0, &[("throttle", 1.0)]).after(level, 3.0);
        let exact = 5.0 + 3.0 * (most + pull);
        assert!(
            (seen.speed / exact - 1.0).abs() < 0.04,
            "{level}: {} {exact}",
            seen.speed
        );
        assert!((told.slope - pull).abs() < 0.1, "{level}: {told:?}");
        assert!(
            (told.full_throttle - (most + pull)).abs() < 0.15,
            "{level}: {told:?}"
        );
        // Without a pedal, the vehicle rolls back, except at level `lane`, where it stands.
        let (seen, _) = drive(0.0, &[]).after(level, 3.0);
        if level == DynamicsLevel::Lane {
            assert_eq!(seen.speed, 0.0);
        } else {
            let exact = 3.0 * pull;
            assert!(
                (seen.speed / exact - 1.0).abs() < 0.1,
                "{level}: {} {exact}",
                seen.speed
            );
        }
        // The brakes hold the vehicle.
        for held in [("brake", 0.5), ("hand_brake", 1.0)] {
            let (seen, _) = drive(0.0, &[held]).after(level, 3.0);
            assert!(seen.speed.abs() < 2e-3, "{level} {held:?}: {}", seen.speed);
        }
    }
    // The same test with an engine.
    for level in [DynamicsLevel::DynamicOneTrack, DynamicsLevel::Rigid] {
        let jeep = Drive {
            rise,
            vehicle: Some("willys-mb"),
            ..Drive::new(0.0, &[])
        };
        let (seen, told) = jeep.after(level, 3.0);
        assert!(seen.speed < -2.0, "{level}: {}", seen.speed);
        // In reverse, air drag and rolling resistance act uphill.
        assert!(
            told.coasting > pull && told.coasting < 0.8 * pull,
            "{level}: {told:?}"
        );
    }
}

/// Checks that braking by the host overrides pedals: a vehicle with full throttle stops at a red
/// light.
#[test]
fn the_law_of_the_road_goes_before_pedals() {
    for level in DynamicsLevel::FOR_VEHICLES {
        let mut scenario = crossroads();
        let network = scenario.network();
        let crossing = network
            .nodes()
            .find(|(id, _)| network.ends_at(*id).len() > 2);
        let (id, node) = crossing.map(|(id, node)| (id, node.clone())).unwrap();
        let rules = JunctionRules {
            control: Some(Control::Signals),
            ..JunctionRules::default()
        };
        let edit = Edit::Node(id, Some(Node { rules, ..node }));
        scenario.apply(edit).unwrap();
        let mut stack = Stack::with_controller("foot");
        stack.controller = ModuleSetting::new("foot")
            .with("asks", 1.0)
            .with("throttle", 0.5);
        let edit = Edit::Stack("foot".into(), Some(Box::new(stack)));
        scenario.apply(edit).unwrap();
        // The vehicles start one after another at the same place, so that some of them arrive at
        // red.
        let mut held = 0;
        let mut deepest = f64::NEG_INFINITY;
        for number in 0..6u32 {
            let agent = Agent {
                stack: "foot".into(),
                depart: (f64::from(number) * 11.0).into(),
                speed: 8.0.into(),
                ..west_to_east()
            };
            let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
            scenario.apply(edit).unwrap();
            let mut world =
                World::new(&scenario, &registry(&Told::default()), &options(level, 1)).unwrap();
            let mut stood = None;
            while world.time() < 11.0 * f64::from(number) + 60.0 && !world.is_over() {
                world.step();
                let vehicles = world.snapshot().vehicles;
                // The vehicle creeps up to the line in steps of a few decimetres.
                let stands = vehicles.iter().find(|one| one.speed.abs() < 0.2);
                if let Some(stands) = stands.filter(|_| stood.is_none()) {
                    stood = Some(stands.pose.position.x + 0.5 * stands.length);
                }
            }
            // Some vehicles only slow down, because the signal turns green before they stop.
            if let Some(front) = stood.filter(|_| world.summary().law.held_by_law > 0) {
                held += 1;
                deepest = deepest.max(front);
            }
            let ended: Vec<_> = world.finished().map(|drive| drive.status).collect();
            assert_eq!(ended, [Status::Arrived], "{level} {number}");
        }
        assert!(held >= 1, "{level}: no vehicle was held back");
        // The vehicle stands before the crossing, whose centre is at 0.
        assert!(deepest < -3.0, "{level}: it stood at {deepest}");
    }
}

/// Returns a shipped scenario in which all agents use the fuzzy mechanic, with or without pedals.
fn mechanics(name: &str, pedals: bool) -> Scenario {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut scenario = file::load(&folder.join(format!("{name}.scenario.json"))).unwrap();
    for (key, mut stack) in scenario.stacks().clone() {
        stack.controller =
            ModuleSetting::new("fuzzy_mechanic").with("pedals", f64::from(u8::from(pedals)));
        scenario
            .apply(Edit::Stack(key, Some(Box::new(stack))))
            .unwrap();
    }
    scenario
}

fn options(level: DynamicsLevel, threads: usize) -> RunOptions {
    RunOptions {
        threads,
        dynamics: Some(level),
        ..RunOptions::default()
    }
}

#[test]
fn the_fuzzy_mechanic_drives_by_pedals_at_every_level_with_any_number_of_threads() {
    for level in DynamicsLevel::FOR_VEHICLES {
        let ends = [(true, 1), (true, 2), (false, 1)].map(|(pedals, threads)| {
            let scenario = mechanics("obstacle-field", pedals);
            let options = options(level, threads);
            let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
            for _ in 0..(60.0 / world.dt()) as u32 {
                world.step();
            }
            let distances = world.finished().map(|drive| drive.distance).sum::<f64>();
            (world.state_hash(), distances, world.counts().arrived)
        });
        assert_eq!(ends[0], ends[1], "{level}: with two threads");
        assert_ne!(ends[0].0, ends[2].0, "{level}: pedals make no difference");
        assert!(ends[0].2 >= 1 && ends[2].2 >= 1, "{level}: {ends:?}");
    }
}

#[test]
fn pedals_are_saved_and_a_restored_world_goes_on_bit_for_bit() {
    for level in [
        DynamicsLevel::DynamicOneTrack,
        DynamicsLevel::Rigid,
        DynamicsLevel::Lane,
    ] {
        let scenario = mechanics("hill-country", true);
        let mut whole = World::new(&scenario, &builtin_modules(), &options(level, 1)).unwrap();
        // This is between two updates of the controller, when the bodies depend only on the stored pedals.
        (0..401).for_each(|_| whole.step());
        let mut again = restored(&whole, &scenario, &options(level, 2));
        assert_eq!(whole.state_hash(), again.state_hash(), "{level}");
        for world in [&mut whole, &mut again] {
            (0..600).for_each(|_| world.step());
        }
        assert_eq!(whole.state_hash(), again.state_hash(), "{level}");
    }
}

#[test]
fn pedals_that_are_no_numbers_are_the_whole_brake() {
    struct Broken;
    impl Logic for Broken {}
    impl Controller for Broken {
        fn step(
            &self,
            _: &ParameterSet,
            _: &Step<'_>,
            _: &[ControllerInput],
            _: &mut [ControllerOutput],
        ) {
        }

        fn wants_pedals(&self, _: &ParameterSet) -> bool {
            true
        }

        fn drive(
            &self,
            _: &ParameterSet,
            step: &Step<'_>,
            _: &[PedalsInput],
            outputs: &mut [PedalsOutput],
        ) {
            for output in outputs {
                output.throttle = 1.0;
                output.gear = f64::NAN;
                if step.time > 3.0 {
                    output.throttle = f64::NAN;
                    output.steering = f64::INFINITY;
                }
            }
        }

        fn lookahead(&self, _: &ParameterSet) -> Lookahead {
            Lookahead {
                distance: 5.0,
                time: 0.0,
            }
        }
    }
    static INFO: ModuleInfo = ModuleInfo {
        id: "foot",
        name: "Broken",
        doc: "Gives no numbers.",
    };
    for level in DynamicsLevel::FOR_VEHICLES {
        let mut registry = builtin_modules();
        let make = || -> Box<dyn Controller> { Box::new(Broken) };
        registry.add(ModuleEntry::<dyn Controller>::new(INFO, &[], make));
        let mut scenario = Drive::new(0.0, &[]).scenario();
        scenario
            .apply(Edit::Stack(
                "foot".into(),
                Some(Box::new(Stack::with_controller("foot"))),
            ))
            .unwrap();
        let mut world = World::new(&scenario, &registry, &options(level, 1)).unwrap();
        let mut fastest = 0.0f64;
        for _ in 0..(8.0 / world.dt()) as u32 {
            world.step();
            let vehicles = world.snapshot().vehicles;
            fastest = vehicles.iter().map(|v| v.speed).fold(fastest, f64::max);
        }
        let stopped = car(&world);
        assert!(
            fastest > 3.0 && stopped.speed.abs() < 1e-2,
            "{level}: {fastest} {stopped:?}"
        );
        assert!(stopped.pose.position.is_finite() && stopped.pose.heading.is_finite());
    }
}
