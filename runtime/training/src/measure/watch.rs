//! Observation of vehicles at each check, for courses whose drives do not end only by time and distance.

use super::Handling;
use crate::course::{Ends, LOOK, Moment, passes_through};
use roadwright_geometry::DVec2;
use roadwright_scenario::{DynamicsLevel, Scenario};
use roadwright_simulation::{Party, World};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Current and earlier positions of vehicles. Empty if a course does not need them.
pub(super) struct Watch {
    /// Whether anything is observed.
    looks: bool,
    /// Number of checks within the time after which a vehicle counts as stuck.
    memory: usize,
    /// Last goals of vehicles, by agent.
    goals: BTreeMap<u64, DVec2>,
    seen: BTreeMap<u64, VecDeque<DVec2>>,
    /// Current roll of vehicles, rad. Only available at levels at which bodies can roll.
    rolls: BTreeMap<u64, f64>,
    /// Largest roll of any vehicle so far in either direction, rad.
    most_roll: f64,
    /// Roll at which a vehicle has tipped over, rad; `None` if the roll is not limited.
    roll_limit: Option<f64>,
    /// Whether bodies pass through objects that they touch.
    passes_through: bool,
    /// Number of collisions that have been processed.
    collisions: usize,
    struck: BTreeSet<u64>,
}

impl Watch {
    /// Creates the observation of agents at a level of dynamics.
    pub(super) fn new(ends: Ends, level: DynamicsLevel, scenario: &Scenario) -> Self {
        let looks = ends.looks_closely();
        let goal = |place| scenario.pose_of(place).map(|pose| pose.position);
        let goals = scenario.agents().iter().filter_map(|(id, agent)| {
            let goal = agent.destination.as_ref().and_then(goal)?;
            Some((u64::from(id.0), goal))
        });
        Self {
            looks,
            memory: ends
                .stuck
                .map_or(1, |stuck| (stuck.time / LOOK).round() as usize + 1),
            goals: if looks {
                goals.collect()
            } else {
                BTreeMap::new()
            },
            seen: BTreeMap::new(),
            rolls: BTreeMap::new(),
            most_roll: 0.0,
            roll_limit: ends.roll,
            passes_through: passes_through(level),
            collisions: 0,
            struck: BTreeSet::new(),
        }
    }

    /// Observes all active vehicles.
    pub(super) fn look(&mut self, world: &World) {
        if !self.looks {
            return;
        }
        for vehicle in world.snapshot().vehicles {
            let places = self.seen.entry(vehicle.agent).or_default();
            // Until this number of positions is known, which span the time for being stuck, no vehicle counts
            // as stuck.
            if places.len() == self.memory {
                places.pop_front();
            }
            places.push_back(vehicle.body.position);
            if let Some(attitude) = vehicle.attitude {
                self.rolls.insert(vehicle.agent, attitude.roll);
                self.most_roll = self.most_roll.max(attitude.roll.abs());
            }
        }
        if !self.passes_through {
            return;
        }
        // The list in the world only grows, so each check processes only the new entries.
        for collision in &world.collisions()[self.collisions..] {
            self.struck.insert(collision.agent);
            if let Party::Agent(other) = collision.with {
                self.struck.insert(other);
            }
        }
        self.collisions = world.collisions().len();
    }

    /// Roll margin and felled obstacles; `None` if bodies cannot roll or the course does not need them.
    pub(super) fn handling(&self, world: &World) -> Option<Handling> {
        let limit = self.roll_limit.filter(|_| !self.passes_through)?;
        Some(Handling {
            roll_margin: limit - self.most_roll,
            felled: world.loose_counts().felled,
        })
    }

    /// Returns the state of a drive. At levels without roll, bodies stay upright.
    pub(super) fn moment(&self, agent: u64, mileage: f64, time: f64) -> Moment {
        let seen = self.seen.get(&agent);
        let here = seen.and_then(|places| places.back());
        let then = seen
            .filter(|places| places.len() == self.memory)
            .and_then(|places| places.front());
        let to = |place: Option<&DVec2>| Some((*here? - *place?).length());
        Moment {
            mileage,
            time,
            to_goal: to(self.goals.get(&agent)).unwrap_or(f64::INFINITY),
            roll: self.rolls.get(&agent).copied().unwrap_or(0.0),
            moved: to(then),
            struck: self.struck.contains(&agent),
        }
    }
}
