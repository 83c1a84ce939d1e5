//! A scenario of a course under construction, which is changed only by edits.

use super::{Course, CourseError, Setup};
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, unit};
use roadwright_scenario::{
    About, Agent, AgentId, Edit, EditError, Obstacle, Place, Scenario, Settings, Shape, Stack,
};

/// Time step of courses on open ground, s. The controllers run at the same rate of 30 Hz.
const TIME_STEP: f64 = 1.0 / 30.0;

/// A trip of an agent. Its vehicle and driver are assigned later.
pub(super) struct Trip {
    pub(super) start: Place,
    /// Whether the start is the position of the vehicle's centre rather than its rear axle.
    pub(super) starts_by_middle: bool,
    pub(super) via: Vec<Place>,
    pub(super) destination: Place,
    /// Speed at the start, m/s.
    pub(super) speed: f64,
}

/// A scenario under construction.
pub(super) struct Draft {
    pub(super) scenario: Scenario,
    trips: Vec<Trip>,
    /// The first edit that failed.
    error: Option<EditError>,
}

impl Draft {
    /// Creates an empty world. Its runs last `duration` seconds.
    pub(super) fn new(name: &str, seed: u64, duration: f64) -> Self {
        let mut draft = Self::of(Scenario::new(name));
        draft.apply(Edit::About(Box::new(About {
            name: name.into(),
            ..About::default()
        })));
        draft.apply(Edit::Settings(Settings {
            dt: TIME_STEP.into(),
            seed,
            duration: duration.into(),
            ..Settings::default()
        }));
        draft
    }

    /// Creates a draft from an existing scenario.
    pub(super) fn of(scenario: Scenario) -> Self {
        Self {
            scenario,
            trips: Vec::new(),
            error: None,
        }
    }

    /// Creates a draft from a new scenario, or from the error that prevented it.
    pub(super) fn of_result(name: &str, scenario: Result<Scenario, EditError>) -> Self {
        match scenario {
            Ok(scenario) => Self::of(scenario),
            Err(error) => Self {
                error: Some(error),
                ..Self::of(Scenario::new(name))
            },
        }
    }

    pub(super) fn apply(&mut self, edit: Edit) {
        if let Err(error) = self.scenario.apply(edit) {
            self.error.get_or_insert(error);
        }
    }

    pub(super) fn obstacle(&mut self, name: &str, shape: Shape, height: f64) {
        self.add_obstacle(name, shape, height, None);
    }

    /// Adds a loose obstacle with a mass in kg. It can be pushed.
    pub(super) fn loose_obstacle(&mut self, name: &str, shape: Shape, height: f64, mass: f64) {
        self.add_obstacle(name, shape, height, Some(mass));
    }

    fn add_obstacle(&mut self, name: &str, shape: Shape, height: f64, mass: Option<f64>) {
        let obstacle = Obstacle {
            name: name.into(),
            shape,
            base: 0.0.into(),
            height: height.into(),
            mass: mass.into(),
        };
        let id = self.scenario.next_obstacle_id();
        self.apply(Edit::Obstacle(id, Some(Box::new(obstacle))));
    }

    pub(super) fn trip(&mut self, trip: Trip) {
        self.trips.push(trip);
    }

    pub(super) fn set_seed(&mut self, seed: u64) {
        let settings = self.scenario.settings();
        self.apply(Edit::Settings(Settings { seed, ..settings }));
    }

    /// Applies the run settings of a setup to the scenario. They apply to all agents, like the
    /// command-line options of a run.
    pub(super) fn set_run(&mut self, seed: u64, setup: &Setup) {
        let settings = self.scenario.settings();
        let dt = setup.dt.unwrap_or(settings.dt.get());
        let dynamics = setup.dynamics.unwrap_or(settings.dynamics);
        self.apply(Edit::Settings(Settings {
            seed,
            dt: dt.into(),
            dynamics,
            ..settings
        }));
        // Agents and flows may have their own levels, which would override the level in the
        // settings. If the setup has a level, these levels are removed.
        if setup.dynamics.is_none() {
            return;
        }
        for (id, mut agent) in self.scenario.agents().clone() {
            agent.dynamics = None;
            self.apply(Edit::Agent(id, Some(Box::new(agent))));
        }
        for (id, mut flow) in self.scenario.flows().clone() {
            flow.dynamics = None;
            self.apply(Edit::Flow(id, Some(Box::new(flow))));
        }
    }

    /// Assigns vehicles of a type and drivers to the trips, and returns the finished scenario.
    pub(super) fn finish(
        mut self,
        course: &Course,
        seed: u64,
        vehicle: &str,
        drivers: &[Stack],
    ) -> Result<Scenario, CourseError> {
        self.check_vehicle(course, vehicle)?;
        self.add_stacks(drivers);
        let body_centre = self.scenario.vehicle_types()[vehicle].body_centre();
        let chosen = deal(seed, self.trips.len(), drivers.len());
        for (number, (trip, driver)) in
            (1..).zip(std::mem::take(&mut self.trips).into_iter().zip(chosen))
        {
            let agent = Agent {
                name: String::new(),
                vehicle: vehicle.into(),
                stack: driver_key(driver),
                dynamics: None,
                start: if trip.starts_by_middle {
                    moved_back(trip.start, body_centre)
                } else {
                    trip.start
                },
                via: trip.via,
                destination: Some(trip.destination),
                depart: 0.0.into(),
                repeat: None.into(),
                speed: trip.speed.into(),
            };
            self.apply(Edit::Agent(AgentId(number), Some(Box::new(agent))));
        }
        self.sound(course)
    }

    /// Assigns a vehicle of a type and a driver to the first agent, and returns the finished scenario. All
    /// other agents keep theirs. A vehicle of another type drives at the level of the scenario.
    pub(super) fn finish_first(
        mut self,
        course: &Course,
        vehicle: &str,
        drivers: &[Stack],
    ) -> Result<Scenario, CourseError> {
        self.check(course)?;
        self.check_vehicle(course, vehicle)?;
        self.add_stacks(drivers);
        let first = self.scenario.agents().iter().next();
        if let Some((id, mut agent)) = first.map(|(id, agent)| (*id, agent.clone())) {
            if agent.vehicle != vehicle {
                agent.vehicle = vehicle.into();
                agent.dynamics = None;
            }
            let before = std::mem::replace(&mut agent.stack, driver_key(0));
            self.apply(Edit::Agent(id, Some(Box::new(agent))));
            self.apply(Edit::Stack(before, None));
        }
        self.sound(course)
    }

    /// Replaces the first driver.
    pub(super) fn set_first_driver(&mut self, driver: &Stack) {
        self.add_stacks(std::slice::from_ref(driver));
    }

    /// Sets the vehicle type of all agents and flows.
    pub(super) fn give_vehicle(
        &mut self,
        course: &Course,
        vehicle: &str,
    ) -> Result<(), CourseError> {
        self.check_vehicle(course, vehicle)?;
        for (id, mut agent) in self.scenario.agents().clone() {
            agent.vehicle = vehicle.into();
            self.apply(Edit::Agent(id, Some(Box::new(agent))));
        }
        for (id, mut flow) in self.scenario.flows().clone() {
            flow.vehicle = vehicle.into();
            self.apply(Edit::Flow(id, Some(Box::new(flow))));
        }
        Ok(())
    }

    /// Distributes drivers over the existing agents and flows.
    pub(super) fn give_drivers(
        &mut self,
        course: &Course,
        seed: u64,
        drivers: &[Stack],
    ) -> Result<(), CourseError> {
        self.add_stacks(drivers);
        let (agents, flows) = (
            self.scenario.agents().clone(),
            self.scenario.flows().clone(),
        );
        let mut chosen = deal(seed, agents.len() + flows.len(), drivers.len()).into_iter();
        for (id, mut agent) in agents {
            agent.stack = driver_key(chosen.next().unwrap_or_default());
            self.apply(Edit::Agent(id, Some(Box::new(agent))));
        }
        for (id, mut flow) in flows {
            flow.stack = driver_key(chosen.next().unwrap_or_default());
            self.apply(Edit::Flow(id, Some(Box::new(flow))));
        }
        self.check(course)
    }

    /// Replaces all drivers by a plain one, so that the scenario describes only the course and not its
    /// drivers.
    pub(super) fn forget_drivers(&mut self, course: &Course) -> Result<(), CourseError> {
        let stacks: Vec<_> = self.scenario.stacks().keys().cloned().collect();
        // All agents get this stack first, because a stack in use cannot be deleted.
        let plain = [Stack::default()];
        self.give_drivers(course, 0, &plain)?;
        for key in stacks.into_iter().filter(|key| *key != driver_key(0)) {
            self.apply(Edit::Stack(key, None));
        }
        self.check(course)
    }

    /// Applies the modules and fitness functions of a setup to all existing stacks.
    pub(super) fn dress_stacks(
        &mut self,
        course: &Course,
        setup: &Setup,
    ) -> Result<(), CourseError> {
        for (key, stack) in self.scenario.stacks().clone() {
            let dressed = setup.dress(course, &stack)?;
            self.apply(Edit::Stack(key, Some(Box::new(dressed))));
        }
        self.check(course)
    }

    fn add_stacks(&mut self, drivers: &[Stack]) {
        for (number, driver) in drivers.iter().enumerate() {
            let edit = Edit::Stack(driver_key(number), Some(Box::new(driver.clone())));
            self.apply(edit);
        }
    }

    fn check_vehicle(&self, course: &Course, vehicle: &str) -> Result<(), CourseError> {
        let types = self.scenario.vehicle_types();
        if types.contains_key(vehicle) {
            return Ok(());
        }
        let known: Vec<&str> = types.keys().map(String::as_str).collect();
        Err(CourseError::NoSuchVehicle {
            course: course.name.clone(),
            vehicle: vehicle.into(),
            known: known.join(", "),
        })
    }

    fn check(&self, course: &Course) -> Result<(), CourseError> {
        match &self.error {
            None => Ok(()),
            Some(error) => Err(CourseError::Scenario {
                course: course.name.clone(),
                error: error.to_string(),
            }),
        }
    }

    /// Returns the finished scenario, or the error of the first edit that failed.
    pub(super) fn sound(self, course: &Course) -> Result<Scenario, CourseError> {
        self.check(course)?;
        Ok(self.scenario)
    }
}

/// Moves a place on open ground back along its heading by `distance` metres.
fn moved_back(place: Place, distance: f64) -> Place {
    match place {
        Place::Ground(at) => {
            let moved = DVec2::new(at.x.get(), at.y.get()) - distance * unit(at.heading.get());
            Place::ground(moved.x, moved.y, at.heading.get())
        }
        Place::Lane(_) => place,
    }
}

/// Prefix of the key of a driver's stack.
const DRIVER: &str = "driver_";

/// Returns the key of the stack of a driver.
fn driver_key(number: usize) -> String {
    format!("{DRIVER}{number}")
}

/// Returns the number of the driver that uses the stack with this key; 0 for other stacks.
pub(crate) fn driver_of(stack: &str) -> usize {
    let number = stack.strip_prefix(DRIVER);
    number.and_then(|n| n.parse().ok()).unwrap_or_default()
}

/// Whether the stack with this key belongs to a driver.
pub(super) fn is_driver(stack: &str) -> bool {
    let number = stack.strip_prefix(DRIVER);
    number.is_some_and(|number| number.parse::<usize>().is_ok())
}

/// Assigns one of the drivers to each agent. The numbers of agents per driver differ by at most one, and the
/// order is random, depending on the seed.
fn deal(seed: u64, agents: usize, drivers: usize) -> Vec<usize> {
    // Dealt in turn and then shuffled, so the numbers differ by at most one and the order is random.
    let mut dealt: Vec<usize> = (0..agents).map(|agent| agent % drivers.max(1)).collect();
    let mut stream = Stream::new(seed, "drivers", 0);
    // Fisher-Yates shuffle: from the end, each element is swapped with itself or one before it.
    for place in (1..agents).rev() {
        dealt.swap(place, stream.next_index(place + 1));
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_dealt_evenly_and_by_seed() {
        let dealt = deal(3, 40, 4);
        for driver in 0..4 {
            assert_eq!(dealt.iter().filter(|&&d| d == driver).count(), 10);
        }
        assert_eq!(dealt, deal(3, 40, 4));
        assert_ne!(dealt, deal(4, 40, 4));
        assert_eq!(deal(1, 3, 0), [0, 0, 0]);
        assert!(deal(1, 0, 2).is_empty());
        for number in [0, 7, 123] {
            assert_eq!(driver_of(&driver_key(number)), number);
        }
        assert_eq!(driver_of("idm"), 0);
    }
}
