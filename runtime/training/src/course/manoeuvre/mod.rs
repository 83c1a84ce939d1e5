//! Manoeuvres: courses that simulate their vehicle themselves.
//!
//! The simulation's level `one_track` has neither a pole on a roof nor a trailer behind a car, and the inputs
//! of controllers have no fields for their state. These courses therefore move their vehicle with the
//! kinematic one-track model of `car.rs`, call the controller of the stack once per time step, and pass the
//! state of the manoeuvre in input fields that otherwise describe lanes:
//!
//! | course | `lane_offset` | `heading_error` | `stop_distance` | `path_curvature` |
//! | --- | --- | --- | --- | --- |
//! | `pendulum` | distance from the mark, m | lean of the pole, rad | - | rate of its fall, rad/s |
//! | `parking` | left of the bay's line, m | relative to the bay, rad | along the line, m | - |
//! | `trailer-reverse` | as for `parking`, of the trailer | of the trailer | of the trailer | hitch angle, rad |
//!
//! The stack, fitness and time step come from a scenario that contains all objects. A world is created from
//! this scenario as for any other course, so that errors are reported in the same words.

mod car;
pub(super) mod parking;
pub(super) mod pendulum;
pub(super) mod trailer_reverse;

use super::{Course, CourseError, End, Kind};
use crate::measure::{DriveRow, Measured, in_words, summarize};
use roadwright_agent::{
    Choosable, Conduct, Controller, Failure, Fitness, Module, Registry, Step, StepBoundary,
};
use roadwright_geometry::math::{cos, mix64, wrap_angle};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose, heading_of};
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, FitnessInput, FitnessOutput, NOTHING,
};
use roadwright_scenario::{Agent, ModuleSetting, Place, Scenario, Shape, Stack, VehicleType};
use roadwright_simulation::World;
use std::f64::consts::FRAC_PI_2;

/// Number of substeps per time step. The driver's command stays constant during a time step, but a pole falls
/// or a trailer swings in the meantime.
const PARTS: u32 = 4;
/// Interval at which observers decide whether the drive continues and the visible state is hashed, s.
const GLANCE: f64 = 1.0;
/// Speed limit reported to controllers that expect a road, m/s.
const ALLOWED: f64 = 3.0;

/// A manoeuvre in progress, advanced in substeps.
trait Manoeuvre {
    /// Returns the input of the driver.
    fn perceive(&self) -> ControllerInput;

    /// Advances by one substep of `dt` seconds.
    fn advance(&mut self, command: ControllerOutput, dt: f64);

    /// Returns how the manoeuvre ends; `None` if it continues. `is_last` is set after the last step.
    fn end(&self, is_last: bool) -> Option<End>;

    /// Returns the vehicle in its current state.
    fn car(&self) -> &car::Car;

    /// Returns the straight-line distance to the intended final position, m.
    fn goal_distance(&self) -> f64 {
        0.0
    }

    /// Returns the angle between the pole and the vertical, rad.
    fn lean(&self) -> f64 {
        0.0
    }

    /// Returns all state variables, for the hash of the run.
    fn state(&self) -> Vec<f64>;
}

/// Returns a controller input that contains the state of the car, but no lanes, leaders or obstacles.
fn row(car: &car::Car) -> ControllerInput {
    ControllerInput {
        speed: car.speed,
        road_speed: ALLOWED,
        wheelbase: car.kind.wheelbase.get(),
        length: car.kind.length.get(),
        waypoint_distance: NOTHING,
        obstacle_distance: NOTHING,
        leader_gap: NOTHING,
        stop_distance: NOTHING,
        steering: car.steering,
        ..ControllerInput::default()
    }
}

/// Initial state of a manoeuvre.
pub(super) struct Beginning<'a> {
    scenario: &'a Scenario,
    agent: &'a Agent,
    kind: &'a VehicleType,
    seed: u64,
}

impl Beginning<'_> {
    /// Returns the vehicle at its start in the scenario.
    fn car(&self) -> car::Car {
        let pose = match self.agent.start {
            Place::Ground(at) => Pose::new(at.x.get(), at.y.get(), at.heading.get()),
            // Cannot occur, because manoeuvres start on open ground.
            Place::Lane(_) => Pose::default(),
        };
        car::Car::new(self.kind, pose)
    }

    /// Returns the outlines of the obstacles.
    fn boxes(&self) -> Vec<OrientedBox> {
        let shapes = self.scenario.obstacles().values();
        let boxes = shapes.filter_map(|obstacle| match obstacle.shape {
            Shape::Box {
                x,
                y,
                heading,
                length,
                width,
            } => Some(OrientedBox::new(
                Pose::new(x.get(), y.get(), heading.get()),
                length.get(),
                width.get(),
            )),
            _ => None,
        });
        boxes.collect()
    }
}

/// Whether a body touches any of the other bodies.
fn touches(body: &OrientedBox, others: &[OrientedBox]) -> bool {
    others.iter().any(|other| body.penetration(other) > 0.0)
}

/// Sets the distance and angle of the nearest point of the obstacles ahead, as seen from the centre of the
/// front.
fn see(car: &car::Car, boxes: &[OrientedBox], row: &mut ControllerInput) {
    let front = car.pose.point(car.kind.front(), 0.0);
    for place in boxes.iter().map(|other| other.closest_point(front)) {
        let offset = place - front;
        let angle = wrap_angle(heading_of(offset) - car.pose.heading);
        let distance = offset.length();
        if angle.abs() < FRAC_PI_2 && distance < row.obstacle_distance {
            row.obstacle_distance = distance;
            row.obstacle_angle = angle;
            row.obstacle_closing_speed = car.speed * cos(angle);
        }
    }
}

/// Sets the input fields of a waypoint to the distance and angle of a point, as seen from the rear axle.
fn point_at(place: DVec2, car: &car::Car, row: &mut ControllerInput) {
    let offset = place - car.pose.position;
    row.waypoint_distance = offset.length();
    row.waypoint_angle = wrap_angle(heading_of(offset) - car.pose.heading);
}

impl Course {
    /// Whether the course simulates its vehicle itself.
    pub fn is_manoeuvre(&self) -> bool {
        matches!(
            self.kind,
            Kind::Parking | Kind::Pendulum | Kind::TrailerReverse
        )
    }

    fn begin(&self, beginning: &Beginning<'_>) -> Option<Box<dyn Manoeuvre>> {
        match &self.kind {
            Kind::Parking => Some(Box::new(parking::begin(beginning))),
            Kind::Pendulum => Some(Box::new(pendulum::begin(beginning))),
            Kind::TrailerReverse => Some(Box::new(trailer_reverse::begin(beginning))),
            Kind::ObstacleStream
            | Kind::Arena
            | Kind::OldTown
            | Kind::Forest
            | Kind::FollowPath
            | Kind::OpenGround(_)
            | Kind::Bay(_)
            | Kind::Track(_)
            | Kind::Own(_) => None,
        }
    }
}

/// Drives a manoeuvre until it ends, or until `goes_on` returns `false`. `world` determines the time step but
/// does not advance. It has been created from the scenario and has accepted the stack.
pub(crate) fn drive(
    course: &Course,
    seed: u64,
    scenario: &Scenario,
    modules: &Registry,
    world: &World,
    goes_on: &mut dyn FnMut(&World) -> bool,
) -> Result<Measured, CourseError> {
    let nobody = || CourseError::NobodyDrove {
        course: course.name.clone(),
        seed,
    };
    let (id, agent) = scenario.agents().iter().next().ok_or_else(nobody)?;
    let stack = scenario.stacks().get(&agent.stack).ok_or_else(nobody)?;
    let kind = &scenario.vehicle_types()[&agent.vehicle];
    let beginning = Beginning {
        scenario,
        agent,
        kind,
        seed,
    };
    let manoeuvre = course.begin(&beginning).ok_or_else(nobody)?;
    let driver = make::<dyn Controller>(modules, &stack.controller).ok_or_else(nobody)?;
    let modules_in_use = builds_of(&driver, stack);
    let mut run = ManoeuvreRun {
        manoeuvre,
        driver,
        seed,
        dt: world.dt(),
        sums: Sums::default(),
        hash: mix64(seed),
        failure: None,
    };
    let id = u64::from(id.0);
    let end = run.finish(course.ends.time, id, &mut || goes_on(world));
    let drive = DriveRow {
        driver: super::driver_of(&agent.stack),
        ..run.drive_row(id, end, stack, modules)
    };
    let steps = (drive.time / run.dt).round() as u64;
    if let Some(reason) = run.failure {
        return Ok(Measured::failed(seed, reason, modules_in_use, steps));
    }
    let drives = vec![drive];
    crate::measure::check_scores(course, seed, &drives)?;
    Ok(Measured {
        row: summarize(seed, &drives, run.hash).ok_or_else(nobody)?,
        drives,
        modules: modules_in_use,
        steps,
        handling: None,
    })
}

/// Returns the driver's module and its build if the module is external.
fn builds_of(driver: &Module<dyn Controller>, stack: &Stack) -> Vec<String> {
    let build = driver.logic.version();
    if build.is_empty() {
        return Vec::new();
    }
    vec![format!("controller {} {build}", stack.controller.module)]
}

/// Returns the external modules that drive in the scenario of a manoeuvre, with their builds.
pub(crate) fn builds(scenario: &Scenario, modules: &Registry) -> Vec<String> {
    let agent = scenario.agents().values().next();
    let stack = agent.and_then(|agent| scenario.stacks().get(&agent.stack));
    let driver = stack.and_then(|stack| {
        let driver = make::<dyn Controller>(modules, &stack.controller)?;
        Some(builds_of(&driver, stack))
    });
    driver.unwrap_or_default()
}

/// Creates a module with the parameters of a stack, which the world has already accepted.
fn make<L: ?Sized + Choosable>(modules: &Registry, setting: &ModuleSetting) -> Option<Module<L>> {
    let entries = modules.of::<L>().iter();
    let entry = entries.into_iter().find(|e| e.info.id == setting.module)?;
    let mut module = entry.make();
    for (key, value) in &setting.parameters {
        // The world has already rejected invalid parameters.
        let _ = module.parameters.set(key, *value);
    }
    Some(module)
}

/// The run of a manoeuvre.
struct ManoeuvreRun {
    manoeuvre: Box<dyn Manoeuvre>,
    driver: Module<dyn Controller>,
    seed: u64,
    dt: f64,
    sums: Sums,
    hash: u64,
    /// The first failure of a module, as a message.
    failure: Option<String>,
}

/// Sums over all steps, from which the inputs of the fitness functions are computed.
#[derive(Default)]
struct Sums {
    steps: u64,
    lean: f64,
    squared_acceleration: f64,
    squared_jerk: f64,
    squared_lateral: f64,
    energy: f64,
    acceleration: f64,
}

impl ManoeuvreRun {
    /// Takes steps until the manoeuvre ends or the observer stops it.
    fn finish(&mut self, time: f64, id: u64, goes_on: &mut dyn FnMut() -> bool) -> End {
        let in_steps = |time: f64| ((time / self.dt).round() as u64).max(1);
        let (last, glance) = (in_steps(time), in_steps(GLANCE));
        for step in 1..=last {
            self.step(step - 1, id);
            // If a module has failed, the drive has no result, so the rest of it is not simulated.
            if self.failure.is_some() {
                break;
            }
            if step.is_multiple_of(glance) {
                self.glance();
                if !goes_on() {
                    break;
                }
            }
            if let Some(end) = self.manoeuvre.end(step == last) {
                self.glance();
                return end;
            }
        }
        self.glance();
        End::Time
    }

    /// Calls the driver and applies its command.
    fn step(&mut self, index: u64, id: u64) {
        self.tell_boundary(index);
        let inputs = [self.manoeuvre.perceive()];
        let mut outputs = [ControllerOutput::default()];
        let step = Step {
            time: index as f64 * self.dt,
            period: self.dt,
            index,
            seed: self.seed,
            indices: &[0],
            ids: &[id],
        };
        self.driver.step(&step, &inputs, &mut outputs);
        let failure = self.driver.logic.take_failure();
        self.note(self.driver.info.id, step.time, failure);
        let before = self.manoeuvre.car().speed;
        for _ in 0..PARTS {
            self.manoeuvre
                .advance(outputs[0], self.dt / f64::from(PARTS));
        }
        self.sum_up(before);
    }

    /// Notifies external modules at the start of a step, and tells them which agent they drive.
    fn tell_boundary(&mut self, index: u64) {
        if !self.driver.logic.has_step_boundary() {
            return;
        }
        let added: &[u32] = if index == 0 { &[0] } else { &[] };
        let moment = StepBoundary {
            step: index,
            time: index as f64 * self.dt,
            capacity: 1,
            added,
            removed: &[],
        };
        let Module {
            parameters, logic, ..
        } = &mut self.driver;
        // Files are not reloaded during a drive on a course, so the result is ignored.
        let _ = logic.at_step_boundary(parameters, &moment);
    }

    /// Records that a module failed after `at` seconds.
    fn note(&mut self, module: &str, at: f64, failure: Option<Failure>) {
        if let Some(failure) = failure {
            self.failure
                .get_or_insert_with(|| in_words(module, at, &failure.reason));
        }
    }

    fn sum_up(&mut self, before: f64) {
        let (car, sums) = (self.manoeuvre.car(), &mut self.sums);
        let acceleration = (car.speed - before) / self.dt;
        let jerk = (acceleration - sums.acceleration) / self.dt;
        let lateral = car.speed * car.yaw_rate;
        sums.steps += 1;
        sums.lean += self.manoeuvre.lean().abs();
        sums.squared_acceleration += acceleration * acceleration;
        sums.squared_jerk += jerk * jerk;
        sums.squared_lateral += lateral * lateral;
        sums.energy += 0.5 * car.speed * car.speed * self.dt;
        sums.acceleration = acceleration;
    }

    /// Adds the visible state to the hash.
    fn glance(&mut self) {
        for value in self.manoeuvre.state() {
            self.hash = mix64(self.hash ^ value.to_bits());
        }
    }

    /// Returns the report on the drive, with the scores of the fitness functions of the driver's
    /// stack.
    fn drive_row(&mut self, id: u64, end: End, stack: &Stack, modules: &Registry) -> DriveRow {
        let (car, sums) = (self.manoeuvre.car(), &self.sums);
        let distance = car.distance;
        let (steps, time) = (sums.steps as f64, sums.steps as f64 * self.dt);
        let conduct = Conduct {
            has_arrived: f64::from(u8::from(end.is_complete())),
            goal_distance: self.manoeuvre.goal_distance(),
            collisions: f64::from(u8::from(end == End::Struck)),
            kinetic_energy: sums.energy,
            shunts: f64::from(car.shunts),
            mean_lean: sums.lean / steps,
            ..Conduct::default()
        };
        let input = FitnessInput {
            conduct,
            mean_speed: car.distance / time,
            mean_road_speed: ALLOWED,
            distance: car.distance,
            time,
            mean_squared_acceleration: sums.squared_acceleration / steps,
            mean_squared_jerk: sums.squared_jerk / steps,
            mean_squared_lateral_acceleration: sums.squared_lateral / steps,
            ..FitnessInput::default()
        };
        // The fitness functions are called once for the whole drive, without intermediate inputs.
        let step = Step {
            indices: &[0],
            ids: &[id],
            ..Step::default()
        };
        let mut scores = Vec::new();
        for setting in &stack.fitness.0 {
            let Some(mut module) = make::<dyn Fitness>(modules, setting) else {
                continue;
            };
            let mut outputs = [FitnessOutput::default()];
            module.step(&step, &[input], &mut outputs);
            let failure = module.logic.take_failure();
            self.note(&setting.module, time, failure);
            scores.push((setting.module.clone(), outputs[0].score));
        }
        DriveRow {
            agent: id,
            driver: 0,
            end,
            time,
            distance,
            gear_changes: None,
            scores,
        }
    }
}
