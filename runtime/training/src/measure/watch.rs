//! What is seen of vehicles at each look, for courses whose drives end by more than time and distance.

use super::Handling;
use crate::course::{Ends, LOOK, Moment, passes_through};
use roadwright_geometry::DVec2;
use roadwright_scenario::{DynamicsLevel, Scenario};
use roadwright_simulation::{Party, World};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Where vehicles are and have been. Empty where a course does not ask.
pub(super) struct Watch {
    /// Whether there is anything to see.
    looks: bool,
    /// Looks that being stuck takes.
    memory: usize,
    /// Last goals, by agent.
    goals: BTreeMap<u64, DVec2>,
    seen: BTreeMap<u64, VecDeque<DVec2>>,
    /// How far vehicles lean now, rad; only of levels whose bodies can.
    rolls: BTreeMap<u64, f64>,
    /// How far one of them has leaned at most, to either side.
    most_roll: f64,
    /// From where on it has tipped over.
    roll_limit: Option<f64>,
    /// Whether bodies pass through what they touch.
    passes_through: bool,
    /// Collisions that have been looked at.
    collisions: usize,
    struck: BTreeSet<u64>,
}

impl Watch {
    /// For agents that move with a level.
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

    /// Looks at all vehicles that drive.
    pub(super) fn look(&mut self, world: &World) {
        if !self.looks {
            return;
        }
        for vehicle in world.snapshot().vehicles {
            let places = self.seen.entry(vehicle.agent).or_default();
            // So many places span the time that one has to be stuck for: until they are full, nobody
            // is.
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
        // The list of the world only grows: each look takes what is new since the last one.
        for collision in &world.collisions()[self.collisions..] {
            self.struck.insert(collision.agent);
            if let Party::Agent(other) = collision.with {
                self.struck.insert(other);
            }
        }
        self.collisions = world.collisions().len();
    }

    /// How vehicles leaned and what they felled; `None` where bodies cannot, or the course does not ask.
    pub(super) fn handling(&self, world: &World) -> Option<Handling> {
        let limit = self.roll_limit.filter(|_| !self.passes_through)?;
        Some(Handling {
            roll_margin: limit - self.most_roll,
            felled: world.loose_counts().felled,
        })
    }

    /// What is known of a drive. Bodies of levels without an attitude stay upright.
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
