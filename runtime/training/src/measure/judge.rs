//! Decides when the drives of a run on a course have ended, and how.

use super::watch::Watch;
use super::{DriveRow, in_steps, row_of};
use crate::course::{Course, End, Ends, LOOK};
use roadwright_geometry::DVec2;
use roadwright_scenario::{DynamicsLevel, Scenario};
use roadwright_simulation::{Status, World};
use std::collections::{BTreeMap, BTreeSet};

/// Radius within which a person has to pass a goal, m, unless the course has its own radius. Vehicles under
/// manual control do not arrive automatically.
const PERSON_RADIUS: f64 = 6.0;

/// Judge of the drives in a run: decides when they have ended, and how.
pub struct Judge {
    ends: Ends,
    pub(super) watch: Watch,
    /// Drives that have ended, by agent.
    pub(super) ended: BTreeMap<u64, DriveRow>,
    /// Number of despawned agents whose drives have been recorded.
    gone: usize,
    /// The agent that a person drives.
    person: Option<Person>,
    /// How a drive ends when its time runs out.
    end_of_time: End,
    /// Number of agents of the scenario whose drives are scored.
    scored: usize,
    /// Agents of the scenario whose drives are not scored.
    unscored: BTreeSet<u64>,
}

/// An agent that a person drives.
struct Person {
    agent: u64,
    /// Goals that have not been passed, except the destination. The next goal is last.
    ahead: Vec<DVec2>,
}

impl Judge {
    /// Creates a judge for a scenario of a course at a dynamics level.
    pub fn new(course: &Course, level: DynamicsLevel, scenario: &Scenario) -> Self {
        let agents = scenario.agents().iter();
        let unscored = agents.filter(|(_, agent)| !course.scores(&agent.stack));
        let unscored: BTreeSet<u64> = unscored.map(|(id, _)| u64::from(id.0)).collect();
        Self {
            ends: course.ends,
            watch: Watch::new(course, level, scenario),
            ended: BTreeMap::new(),
            gone: 0,
            person: None,
            end_of_time: course.end_of_time(),
            scored: scenario.agents().len() - unscored.len(),
            unscored,
        }
    }

    /// Creates a judge for a scenario whose first agent is driven by a person.
    pub fn of_person(course: &Course, level: DynamicsLevel, scenario: &Scenario) -> Self {
        let mut course = course.clone();
        course.ends.goal_radius.get_or_insert(PERSON_RADIUS);
        let first = scenario.agents().iter().next();
        let person = first.map(|(id, agent)| {
            let via = agent.via.iter().rev();
            let goals = via.filter_map(|place| Some(scenario.pose_of(place)?.position));
            Person {
                agent: u64::from(id.0),
                ahead: goals.collect(),
            }
        });
        Self {
            person,
            ..Self::new(&course, level, scenario)
        }
    }

    /// Returns the agent that a person drives.
    pub fn driven_by_person(&self) -> Option<u64> {
        self.person.as_ref().map(|person| person.agent)
    }

    /// Returns the drive of the person, once it has ended.
    pub fn person_drive(&self) -> Option<&DriveRow> {
        self.ended.get(&self.person.as_ref()?.agent)
    }

    /// Whether a person drives and this drive has ended.
    pub(super) fn has_person_ended(&self) -> bool {
        self.person_drive().is_some()
    }

    /// Returns the number of the last step of a run, for a time step of `dt` seconds.
    pub(super) fn last_step(&self, dt: f64) -> u64 {
        in_steps(self.ends.time, dt)
    }

    /// Whether drives must be checked after the current step.
    pub(super) fn is_due(&self, world: &World) -> bool {
        let (step, dt) = (world.steps(), world.dt());
        step.is_multiple_of(in_steps(LOOK, dt)) || step == self.last_step(dt)
    }

    /// Checks the drives after a step. Returns whether all drives have ended.
    pub fn after_step(&mut self, world: &World) -> bool {
        let is_last = world.steps() >= self.last_step(world.dt());
        self.is_due(world) && self.look(world, is_last)
    }

    /// Records the drives that have ended. Returns whether all drives have ended.
    pub(super) fn look(&mut self, world: &World, is_last: bool) -> bool {
        self.note_gone(world);
        let now = world.time();
        let mut under_way = 0;
        let mut ending = Vec::new();
        self.watch.look(world);
        self.pass_goals(world);
        for (agent, started, distance) in world.odometers() {
            if self.ended.contains_key(&agent) || self.unscored.contains(&agent) {
                continue;
            }
            let mut moment = self.watch.moment(agent, distance, now - started);
            let person = self.person.as_ref().filter(|person| person.agent == agent);
            if person.is_some_and(|person| !person.ahead.is_empty()) {
                moment.to_goal = f64::INFINITY;
            }
            let is_parked = self.watch.is_parked(agent) == Some(true);
            let end = self.ends.end_of(&moment);
            let end = end.or(is_parked.then_some(End::Arrived));
            match end.or(is_last.then_some(End::Time)) {
                Some(End::Time) => ending.push((agent, self.end_of_time)),
                Some(end) => ending.push((agent, end)),
                None => under_way += 1,
            }
        }
        for (agent, end) in ending {
            let drive = world.drive_so_far(agent);
            let row = drive.map(|drive| DriveRow {
                gear_changes: self.watch.gear_changes(agent),
                ..row_of(&drive, end)
            });
            self.ended.extend(row.map(|row| (agent, row)));
        }
        // Vehicles that continue after their drives have ended keep the world running, but there is nothing
        // left to measure.
        let all_have_come = || match self.unscored.is_empty() {
            true => world.counts().waiting == 0,
            // The other agents may spawn later.
            false => self.ended.len() >= self.scored,
        };
        let goes_on = self.ends.leaves_vehicles();
        is_last || world.is_over() || (goes_on && under_way == 0 && all_have_come())
    }

    /// Records the goals that the person passes before the destination.
    fn pass_goals(&mut self, world: &World) {
        let Some(person) = self
            .person
            .as_mut()
            .filter(|person| !person.ahead.is_empty())
        else {
            return;
        };
        let snapshot = world.snapshot();
        let Some(vehicle) = snapshot.vehicle(person.agent) else {
            return;
        };
        let radius = self.ends.goal_radius.unwrap_or(PERSON_RADIUS);
        while let Some(&goal) = person.ahead.last()
            && (vehicle.body.position - goal).length() < radius
        {
            person.ahead.pop();
        }
    }

    /// Records the drives of vehicles that despawned since the last check.
    fn note_gone(&mut self, world: &World) {
        for drive in world.finished().skip(self.gone) {
            if self.unscored.contains(&drive.id) {
                continue;
            }
            let end = match drive.status {
                // The vehicle has arrived, but not in its bay.
                Status::Arrived if self.watch.was_in_place(drive.id) == Some(false) => End::Removed,
                Status::Arrived => End::Arrived,
                Status::Removed | Status::Active => End::Removed,
                Status::Refused => continue,
            };
            // If a vehicle continued after the end of its drive, the drive has already been recorded.
            let row = || DriveRow {
                gear_changes: self.watch.gear_changes(drive.id),
                ..row_of(&drive, end)
            };
            // A vehicle that despawned before it moved has not driven, so it is not scored.
            if drive.distance > 0.0 {
                self.ended.entry(drive.id).or_insert_with(row);
            }
        }
        self.gone = world.finished().len();
    }
}
