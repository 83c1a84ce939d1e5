//! Courses: scenarios generated from a seed, with end conditions and a fitness function.

mod arena;
mod bays;
mod draft;
mod ends;
mod follow_path;
mod forest;
mod manoeuvre;
mod obstacle_stream;
mod old_town;
mod open_ground;
mod setup;
mod track;

pub(crate) use bays::Parked;
pub(crate) use draft::driver_of;
pub use ends::{End, Ends, Stuck};
pub(crate) use ends::{LOOK, Moment, passes_through};
pub(crate) use manoeuvre::{builds as manoeuvre_builds, drive as drive_manoeuvre};
pub use setup::Setup;

use draft::Draft;
use manoeuvre::{parking, pendulum, trailer_reverse};
use roadwright_moves::Track;
use roadwright_scenario::{DynamicsLevel, Edit, Scenario, Stack, file};
use roadwright_simulation::{Ground, SimulationError};
use std::sync::Arc;
use thiserror::Error;

/// First seed for evaluation. Built-in values were never chosen on courses with this seed or a
/// larger one. Hand-made rules were chosen on seeds starting at 1, which experiments also use for
/// breeding.
pub const UNSEEN_SEED: u64 = 300_001;

/// A course: a scenario, end conditions and a fitness function.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// Name on the command line.
    pub name: String,
    /// Description in one sentence.
    pub doc: String,
    /// Default vehicle type of the course's drivers.
    pub vehicle: &'static str,
    /// Default controller of the course's drivers.
    pub driver: &'static str,
    /// Default fitness function of a drive.
    pub fitness: &'static str,
    /// End conditions of a drive.
    pub ends: Ends,
    kind: Kind,
}

/// Source of a course's scenario.
#[derive(Debug, Clone, PartialEq)]
enum Kind {
    ObstacleStream,
    Arena,
    OldTown,
    Forest,
    Parking,
    Pendulum,
    TrailerReverse,
    FollowPath,
    OpenGround(open_ground::Site),
    Bay(bays::Bay),
    Track(Track),
    /// A user's scenario. It is the same for all seeds, apart from random draws during its run.
    Own(Box<Scenario>),
}

/// Reason why a course cannot be driven.
#[derive(Debug, Error)]
pub enum CourseError {
    /// There is no course with this name.
    #[error("unknown course \"{name}\"; expected one of: {known}")]
    Unknown {
        /// The name that was not found.
        name: String,
        /// Names of the built-in courses.
        known: String,
    },
    /// The scenario has no such vehicle type.
    #[error("course {course}: unknown vehicle type \"{vehicle}\"; expected one of: {known}")]
    NoSuchVehicle {
        /// Name of the course.
        course: String,
        /// Requested key of a vehicle type.
        vehicle: String,
        /// Keys of the available vehicle types.
        known: String,
    },
    /// The setup does not fit the course.
    #[error("course {course}: {what}")]
    Setup {
        /// Name of the course.
        course: String,
        /// Description of the problem.
        what: &'static str,
    },
    /// The scenario of the course cannot be created.
    #[error("course {course}: {error}")]
    Scenario {
        /// Name of the course.
        course: String,
        /// Description of the problem.
        error: String,
    },
    /// The scenario cannot be run.
    #[error("course {course}, seed {seed}: {error}")]
    Simulation {
        /// Name of the course.
        course: String,
        /// Seed of the course.
        seed: u64,
        /// Reason why the scenario cannot be run.
        error: Box<SimulationError>,
    },
    /// A score is not a finite number.
    #[error(
        "course {course}, seed {seed}: the fitness \"{fitness}\" returns {score}, which is not a finite number"
    )]
    NoNumber {
        /// Name of the course.
        course: String,
        /// Seed of the course.
        seed: u64,
        /// Id of the fitness module.
        fitness: String,
        /// The score that is not a finite number.
        score: f64,
    },
    /// A module failed in a run whose result was needed.
    #[error("course {course}, seed {seed}: {reason}; no result")]
    Failed {
        /// Name of the course.
        course: String,
        /// Seed of the course.
        seed: u64,
        /// The module that failed, the time, and the reason.
        reason: String,
    },
    /// No agent drove on the course.
    #[error("course {course}, seed {seed}: no agent has driven, so there is nothing to rate")]
    NobodyDrove {
        /// Name of the course.
        course: String,
        /// Seed of the course.
        seed: u64,
    },
}

impl Course {
    /// Returns the built-in courses.
    pub fn all() -> Vec<Self> {
        let own = [
            obstacle_stream::course(),
            arena::course(),
            old_town::course(),
            forest::course(),
            parking::course(),
            pendulum::course(),
            trailer_reverse::course(),
            follow_path::course(),
        ];
        let in_bays = bays::Bay::ALL.map(bays::course);
        let without_lanes = open_ground::Site::ALL.map(open_ground::course);
        let tracks = Track::ALL.map(track::course);
        own.into_iter()
            .chain(in_bays)
            .chain(without_lanes)
            .chain(tracks)
            .collect()
    }

    /// Returns the built-in course with the given name.
    ///
    /// # Errors
    /// If there is no such course.
    pub fn named(name: &str) -> Result<Self, CourseError> {
        let all = Self::all();
        let known: Vec<String> = all.iter().map(|course| course.name.clone()).collect();
        let found = all.into_iter().find(|course| course.name == name);
        found.ok_or_else(|| CourseError::Unknown {
            name: name.into(),
            known: known.join(", "),
        })
    }

    /// The fitness function of shipped courses without a specific score ([Gerdelan 2011], equation
    /// 10.1).
    pub const GENERAL_FITNESS: &'static str = "crash_and_speed";
    /// The fitness function of users' scenarios, which is also the default of stacks.
    pub const ARRIVAL_FITNESS: &'static str = "safe_arrival";

    /// Whether the course has a destination that its drivers can reach. If not, drives end only after a
    /// distance or a time.
    pub fn has_arrival(&self) -> bool {
        match self.kind {
            Kind::ObstacleStream => false,
            Kind::Track(track) => track::has_arrival(track),
            _ => true,
        }
    }

    /// Creates a course from a user's scenario, whose agents drive until they arrive or the time runs out.
    /// The seed is the seed of the run, so it only affects random draws, such as the vehicles of flows.
    pub fn own(name: &str, scenario: Scenario) -> Self {
        Self {
            name: name.into(),
            doc: scenario.about().description.clone(),
            vehicle: "",
            driver: "",
            fitness: Self::ARRIVAL_FITNESS,
            ends: Ends::after(scenario.settings().duration.get()),
            kind: Kind::Own(Box::new(scenario)),
        }
    }

    /// Returns the scenario for a seed, with the vehicles and drivers of a setup. The same arguments always
    /// give the same scenario.
    ///
    /// # Errors
    /// If the setup does not fit the course.
    pub fn scenario(&self, seed: u64, setup: &Setup) -> Result<Scenario, CourseError> {
        let draft = match &self.kind {
            Kind::ObstacleStream => obstacle_stream::draft(seed),
            Kind::Arena => arena::draft(seed),
            Kind::OldTown => old_town::draft(seed),
            Kind::Forest => forest::draft(seed),
            Kind::Parking => parking::draft(seed),
            Kind::Pendulum => pendulum::draft(seed),
            Kind::TrailerReverse => trailer_reverse::draft(seed),
            Kind::FollowPath => follow_path::draft(seed),
            Kind::OpenGround(site) => open_ground::draft(*site, seed),
            Kind::Bay(bay) => bays::draft(*bay, seed),
            Kind::Track(track) => track::draft(self, *track, seed),
            Kind::Own(scenario) => return self.own_scenario(scenario, seed, setup),
        };
        self.check_dynamics(setup)?;
        let drivers = self.drivers(setup)?;
        let vehicle = setup.vehicle.as_deref().unwrap_or(self.vehicle);
        match self.is_track() {
            true => draft.finish_first(self, vehicle, &drivers),
            false => draft.finish(self, seed, vehicle, &drivers),
        }
    }

    /// Returns [`Course::scenario`] with the time step and dynamics level of the setup. Running
    /// this scenario without further options is the same as running the course.
    ///
    /// # Errors
    /// As [`Course::scenario`], and if the course simulates its vehicle itself.
    pub fn whole_scenario(&self, seed: u64, setup: &Setup) -> Result<Scenario, CourseError> {
        if self.is_manoeuvre() {
            return Err(CourseError::Setup {
                course: self.name.clone(),
                what: "it simulates its own vehicle, so there is no world to show",
            });
        }
        let mut draft = Draft::of(self.scenario(seed, setup)?);
        draft.set_run(seed, setup);
        draft.sound(self)
    }

    /// Rejects a setup with another dynamics level if the course simulates its vehicle itself.
    fn check_dynamics(&self, setup: &Setup) -> Result<(), CourseError> {
        let level = setup.dynamics.unwrap_or(DynamicsLevel::OneTrack);
        if !self.is_manoeuvre() || level == DynamicsLevel::OneTrack {
            return Ok(());
        }
        Err(CourseError::Setup {
            course: self.name.clone(),
            what: "it simulates its own vehicle with the kinematic one-track model; use --dynamics one_track, \
                   or none",
        })
    }

    /// Returns the stacks of a setup, or the default stack of the course if the setup has none.
    fn drivers(&self, setup: &Setup) -> Result<Vec<Stack>, CourseError> {
        let default = [self.driver_stack()];
        let stacks: &[Stack] = if setup.drivers.is_empty() {
            &default
        } else {
            &setup.drivers
        };
        let dressed = stacks.iter().map(|stack| setup.dress(self, stack));
        dressed.collect()
    }

    /// Returns the ground that all runs of the course share; `None` if it depends on the seed or
    /// the setup.
    pub(crate) fn shared_ground(&self) -> Option<Arc<Ground>> {
        matches!(self.kind, Kind::OldTown).then(old_town::ground)
    }

    /// Returns the hash of the scenario and end conditions of the course, without the drivers, as
    /// 16 hexadecimal digits. Results of two drivers can be compared if their hashes are equal.
    ///
    /// # Errors
    /// If the scenario cannot be generated.
    pub fn hash(&self) -> Result<String, CourseError> {
        // For generated courses, this is the scenario of the first seed, which changes whenever the generator
        // changes.
        let mut draft = Draft::of(match &self.kind {
            Kind::Own(scenario) => (**scenario).clone(),
            _ => self.scenario(0, &Setup::default())?,
        });
        // Names, texts, seeds and drivers are not part of the course.
        draft.set_seed(0);
        draft.apply(Edit::About(Box::default()));
        match self.is_track() {
            // The other cars and their drivers are part of the course.
            true => draft.set_first_driver(&Stack::default()),
            false => draft.forget_drivers(self)?,
        }
        let text = format!("{:?}\n{}", self.ends, file::to_text(&draft.scenario));
        Ok(crate::experiment::digits(text.as_bytes()))
    }

    /// Whether drivers on this course head straight for their goals unless a setup specifies a planner. This
    /// is the case on courses where the source measures controllers without a planner ([Gerdelan 2011],
    /// chapters 8 to 10 and 12).
    fn is_without_planner(&self) -> bool {
        matches!(self.kind, Kind::ObstacleStream | Kind::Arena | Kind::Forest)
    }

    /// Whether a controller can be compared with others on this course. Controllers made for a manoeuvre do
    /// not use lanes and goals, so each of them only drives on the course of its manoeuvre.
    pub fn is_for(&self, controller: &str) -> bool {
        let special = |course: &Self| course.is_manoeuvre() && course.driver == controller;
        self.driver == controller || !Self::all().iter().any(special)
    }

    /// Whether the drives of agents with the given stack are scored. On tracks, only the racer's
    /// drive is.
    pub(crate) fn scores(&self, stack: &str) -> bool {
        !self.is_track() || draft::is_driver(stack)
    }

    /// Whether the course is a user's scenario.
    pub fn is_own(&self) -> bool {
        matches!(self.kind, Kind::Own(_))
    }

    /// Returns a user's scenario, in which vehicles and drivers of the setup, if any, replace those of the
    /// scenario.
    fn own_scenario(
        &self,
        scenario: &Scenario,
        seed: u64,
        setup: &Setup,
    ) -> Result<Scenario, CourseError> {
        let mut draft = Draft::of(scenario.clone());
        draft.set_seed(seed);
        if let Some(vehicle) = &setup.vehicle {
            draft.give_vehicle(self, vehicle)?;
        }
        // If the setup has no drivers, the scenario keeps its own drivers, with the setup's modules and
        // fitness functions.
        if setup.drivers.is_empty() {
            draft.dress_stacks(self, setup)?;
        } else {
            draft.give_drivers(self, seed, &self.drivers(setup)?)?;
        }
        Ok(draft.scenario)
    }
}

#[cfg(test)]
mod tests;
