//! Drive of `roadwright plugin check` with a ground planner: a car turns round on open ground and passes two walls,
//! compared with the built-in planner `drivable_path`.

use super::course::{BUILT_IN, DRIVER};
use anyhow::Context;
use glam::DVec2;
use roadwright_agent::Registry;
use roadwright_scenario::{
    Agent, Edit, ModuleSetting, Obstacle, ObstacleId, Place, Scenario, Shape, Slot, Stack,
};
use roadwright_simulation::{Observer, RunOptions, Session, Status, World};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// The planner for comparison.
pub(super) const BUILT_IN_PLANNER: &str = "drivable_path";
/// Time limit, as a multiple of the time taken with the built-in planner.
const MOST_TIMES: f64 = 3.0;
/// Maximum simulated time with the built-in planner, s. It needs less time than this.
const LONGEST: f64 = 120.0;
/// Number of steps between two points of a trail.
const TRAIL_STEPS: u64 = 10;
/// Goal of the car.
const GOAL: DVec2 = DVec2::new(70.0, 0.0);

/// Result of a drive over open ground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GroundDrive {
    /// The tested module.
    module: String,
    /// Whether the car has reached its goal.
    arrived: bool,
    /// Driving time, s.
    seconds: f64,
    /// Driven distance, m.
    distance: f64,
    /// Number of changes between forwards and reverse.
    gear_changes: u32,
    /// Number of collisions.
    collisions: u64,
    /// Faults of the module, if any.
    trouble: Option<String>,
}

/// A drive and its trail.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct GroundTrip {
    pub(super) drive: GroundDrive,
    trail: Vec<[f64; 2]>,
}

/// Observes the car: its trail, and its changes between forwards and reverse.
#[derive(Default)]
struct Watch {
    trail: Vec<[f64; 2]>,
    gear: i8,
    gear_changes: u32,
}

impl Observer for Watch {
    fn after_step(&mut self, world: &World) {
        let snapshot = world.snapshot();
        let id = u64::from(DRIVER.0);
        let Some(car) = snapshot.vehicles.iter().find(|car| car.agent == id) else {
            return;
        };
        let gear = match car.speed {
            speed if speed > 0.1 => 1,
            speed if speed < -0.1 => -1,
            _ => self.gear,
        };
        self.gear_changes += u32::from(self.gear != 0 && gear != self.gear);
        self.gear = gear;
        if world.steps() % TRAIL_STEPS == 1 {
            self.trail.push(car.pose.position.to_array());
        }
    }
}

/// Creates two walls between a car and its goal. The car faces away from the goal.
///
/// # Errors
/// If the scenario cannot be created.
pub(super) fn ground(planner: &str) -> anyhow::Result<Scenario> {
    let mut scenario = Scenario::new("Drive over open ground");
    let mut stack = Stack::with_controller(BUILT_IN);
    anyhow::ensure!(
        stack.set(Slot::GroundPlanner, vec![ModuleSetting::new(planner)]),
        "a stack can have one ground planner"
    );
    scenario.apply(Edit::Stack("driver".into(), Some(Box::new(stack))))?;
    for (id, x, y) in [(1, 20.0, 8.0), (2, 45.0, -8.0)] {
        let wall = Obstacle {
            name: "wall".into(),
            shape: Shape::Box {
                x: f64::into(x),
                y: f64::into(y),
                heading: 0.0.into(),
                length: 1.0.into(),
                width: 36.0.into(),
            },
            base: 0.0.into(),
            height: 3.0.into(),
            mass: None.into(),
        };
        scenario.apply(Edit::Obstacle(ObstacleId(id), Some(Box::new(wall))))?;
    }
    let agent = Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "driver".into(),
        dynamics: None,
        start: Place::ground(0.0, 0.0, PI),
        via: Vec::new(),
        destination: Some(Place::ground(GOAL.x, GOAL.y, 0.0)),
        depart: 0.0.into(),
        repeat: None.into(),
        speed: 0.0.into(),
    };
    scenario.apply(Edit::Agent(DRIVER, Some(Box::new(agent))))?;
    Ok(scenario)
}

/// Drives for at most the given time with a planner.
fn drive(modules: &Registry, module: &str, longest: f64) -> anyhow::Result<GroundTrip> {
    let options = RunOptions {
        verify: true,
        ..RunOptions::default()
    };
    let world = World::new(&ground(module)?, modules, &options)?;
    let mut session = Session::new(world);
    let mut watch = Watch::default();
    let id = u64::from(DRIVER.0);
    while session.world().time() < longest && session.world().finished().all(|row| row.id != id) {
        session.step(&mut [&mut watch]);
    }
    let world = session.world();
    let row = world.drives().into_iter().find(|row| row.id == id);
    let row = row.context("the car is missing")?;
    let faults: u64 = world.faults().values().sum();
    let first = world.faults().keys().next();
    let drive = GroundDrive {
        module: module.to_owned(),
        arrived: row.status == Status::Arrived,
        seconds: row.ended - row.started,
        distance: row.distance,
        gear_changes: watch.gear_changes,
        collisions: world.collisions().len() as u64,
        trouble: first.map(|first| format!("{faults} faults; the first: {first}")),
    };
    Ok(GroundTrip {
        drive,
        trail: watch.trail,
    })
}

/// Tests a planner, and drives with the built-in planner for comparison.
pub(super) fn beside_built_in(modules: &Registry, module: &str) -> anyhow::Result<[GroundTrip; 2]> {
    let built_in = drive(modules, BUILT_IN_PLANNER, LONGEST)?;
    let own = drive(modules, module, MOST_TIMES * built_in.drive.seconds)?;
    Ok([own, built_in])
}

impl GroundTrip {
    /// Returns the name of the module and the positions of the car.
    pub(super) fn trail(&self) -> (String, Vec<DVec2>) {
        let points = self.trail.iter().copied().map(DVec2::from_array);
        (self.drive.module.clone(), points.collect())
    }
}

impl GroundDrive {
    /// Whether the paths of this drive come from the built-in planner, because the module left the
    /// searches to it.
    fn is_by(&self, built_in: &Self) -> bool {
        let figures = |drive: &Self| [drive.seconds, drive.distance].map(f64::to_bits);
        figures(self) == figures(built_in)
    }

    /// Returns the reason why the drive is not acceptable, if there is one.
    pub(super) fn problem(&self, built_in: &Self) -> Option<String> {
        let mut problems = Vec::new();
        problems.extend(self.trouble.clone());
        if self.collisions > 0 {
            problems.push(format!("the vehicle collides {} times", self.collisions));
        }
        if !self.arrived {
            problems.push(format!(
                "the vehicle does not arrive within {:.0} s, which is {MOST_TIMES} times the time of {}",
                MOST_TIMES * built_in.seconds,
                built_in.module
            ));
        }
        (!problems.is_empty()).then(|| problems.join("; "))
    }

    /// Returns all figures, each followed by that of the built-in planner in brackets.
    pub(super) fn numbers(&self, built_in: &Self) -> String {
        let arrives = if self.arrived {
            "arrives after"
        } else {
            "not arrived after"
        };
        let by_built_in = if self.is_by(built_in) {
            format!("; {} planned, because the plugin did not", built_in.module)
        } else {
            String::new()
        };
        format!(
            "{arrives} {:.1} s ({} {:.1} s), {:.1} m ({:.1}), {} gear changes ({}), {} collisions ({}){by_built_in}",
            self.seconds,
            built_in.module,
            built_in.seconds,
            self.distance,
            built_in.distance,
            self.gear_changes,
            built_in.gear_changes,
            self.collisions,
            built_in.collisions,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_simulation::builtin_modules;

    #[test]
    fn built_in_planners_turn_round_and_pass_the_walls() {
        let modules = builtin_modules();
        let trips = beside_built_in(&modules, "hybrid_fuzzy_path").unwrap();
        let [own, built_in] = trips.map(|trip| {
            let (_, points) = trip.trail();
            assert!(points.last().unwrap().distance(GOAL) < 10.0);
            trip.drive
        });
        assert_eq!(built_in.problem(&built_in), None, "{built_in:?}");
        assert_eq!(own.problem(&built_in), None, "{own:?}");
        let text = own.numbers(&built_in);
        assert!(!text.contains(" planned, because"), "{text}");
        let text = built_in.numbers(&built_in);
        assert!(text.contains("drivable_path planned, because"), "{text}");
        let late = GroundDrive {
            arrived: false,
            collisions: 2,
            ..own
        };
        let problem = late.problem(&built_in).unwrap();
        assert!(problem.contains("collides 2 times"), "{problem}");
        assert!(problem.contains("does not arrive within"), "{problem}");
    }
}
