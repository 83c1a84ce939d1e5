//! Observation of vehicles at each check, for courses with end conditions other than time and distance.

use super::Handling;
use crate::course::{Course, LOOK, Moment, Parked, passes_through};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::{DynamicsLevel, Scenario};
use roadwright_simulation::{Party, TrailerRecord, VehicleRecord, World};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Current and earlier observations of vehicles. Nothing is observed if the course does not need it.
pub(super) struct Watch {
    /// Whether anything is observed.
    looks: bool,
    /// Number of positions kept of each vehicle, enough to tell whether the vehicle is stuck.
    memory: usize,
    /// Last goal of each vehicle, by agent.
    goals: BTreeMap<u64, Pose>,
    /// Maximum deviations of a parked vehicle; `None` if the course does not end in a bay.
    parked: Option<Parked>,
    /// Latest observations of vehicles on a course that ends in a bay, by agent.
    moves: BTreeMap<u64, Moves>,
    seen: BTreeMap<u64, VecDeque<DVec2>>,
    /// Current roll of each vehicle, rad. Only available at dynamics levels with roll.
    rolls: BTreeMap<u64, f64>,
    /// Maximum roll that any vehicle has reached in either direction, rad.
    most_roll: f64,
    /// Roll angle at which a vehicle counts as tipped over, rad; `None` if the roll is not limited.
    roll_limit: Option<f64>,
    /// Whether contacts are recorded, because bodies either pass through objects that they touch or must not
    /// touch any.
    records_contacts: bool,
    /// Number of collisions that have been processed.
    collisions: usize,
    struck: BTreeSet<u64>,
}

/// Observations of a vehicle that parks.
#[derive(Debug, Clone, Copy, Default)]
struct Moves {
    /// Whether the vehicle is in its target position, at any speed.
    is_in_place: bool,
    /// Whether the vehicle is stationary in its target position.
    is_parked: bool,
    /// Number of changes between forwards and reverse.
    gear_changes: u32,
    /// Direction of the last motion: 1 forwards, -1 in reverse, 0 before the first motion.
    direction: i8,
}

impl Moves {
    /// Speed above which a vehicle counts as moving, m/s.
    const MOVING: f64 = 0.1;

    /// Updates the observations of a vehicle. Trailers have to stand straight behind the goal.
    fn look<'a>(
        &mut self,
        vehicle: &VehicleRecord,
        mut trailers: impl Iterator<Item = &'a TrailerRecord>,
        goal: Pose,
        parked: &Parked,
    ) {
        let is_straight = trailers.all(|trailer| {
            let aside = goal.to_local(trailer.body.position).y;
            let turned = wrap_angle(trailer.body.heading - goal.heading);
            aside.abs() <= parked.distance && turned.abs() <= parked.angle
        });
        let turned = wrap_angle(vehicle.pose.heading - goal.heading).abs();
        let offset = (vehicle.pose.position - goal.position).length();
        self.is_in_place = offset <= parked.distance && turned <= parked.angle && is_straight;
        self.is_parked = self.is_in_place && vehicle.speed.abs() < parked.speed;
        let direction = match vehicle.speed {
            speed if speed > Self::MOVING => 1,
            speed if speed < -Self::MOVING => -1,
            _ => return,
        };
        self.gear_changes += u32::from(self.direction == -direction);
        self.direction = direction;
    }
}

impl Watch {
    /// Starts observing the agents of a course at a dynamics level.
    pub(super) fn new(course: &Course, level: DynamicsLevel, scenario: &Scenario) -> Self {
        let ends = course.ends;
        let looks = ends.looks_closely();
        let goal = |place| scenario.pose_of(place);
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
            parked: course.parked(),
            moves: BTreeMap::new(),
            records_contacts: passes_through(level) || course.is_in_bay() || course.is_track(),
            collisions: 0,
            struck: BTreeSet::new(),
        }
    }

    /// Observes all active vehicles.
    pub(super) fn look(&mut self, world: &World) {
        if !self.looks {
            return;
        }
        let snapshot = world.snapshot();
        for vehicle in snapshot.vehicles {
            let places = self.seen.entry(vehicle.agent).or_default();
            // No vehicle counts as stuck until this many positions are known, which span the time
            // limit for being stuck.
            if places.len() == self.memory {
                places.pop_front();
            }
            places.push_back(vehicle.body.position);
            if let (Some(parked), Some(goal)) = (&self.parked, self.goals.get(&vehicle.agent)) {
                let moves = self.moves.entry(vehicle.agent).or_default();
                let trailers = snapshot.trailers.iter();
                let own = trailers.filter(|trailer| trailer.agent == vehicle.agent);
                moves.look(&vehicle, own, *goal, parked);
            }
            if let Some(attitude) = vehicle.attitude {
                self.rolls.insert(vehicle.agent, attitude.roll);
                self.most_roll = self.most_roll.max(attitude.roll.abs());
            }
        }
        if !self.records_contacts {
            return;
        }
        // The world's list only grows, so each check only processes the new entries.
        for collision in &world.collisions()[self.collisions..] {
            self.struck.insert(collision.agent);
            if let Party::Agent(other) = collision.with {
                self.struck.insert(other);
            }
        }
        self.collisions = world.collisions().len();
    }

    /// Returns the roll margin and felled obstacles; `None` if bodies cannot roll or the course
    /// does not need them.
    pub(super) fn handling(&self, world: &World) -> Option<Handling> {
        let limit = self.roll_limit.filter(|_| !self.records_contacts)?;
        Some(Handling {
            roll_margin: limit - self.most_roll,
            felled: world.loose_counts().felled,
        })
    }

    /// Whether a vehicle is parked; `None` if the course does not end in a bay.
    pub(super) fn is_parked(&self, agent: u64) -> Option<bool> {
        self.parked?;
        Some(self.moves.get(&agent).is_some_and(|moves| moves.is_parked))
    }

    /// Whether a vehicle was in its target position when it was last seen, at most 0.1 s before it despawned;
    /// `None` if the course does not end in a bay.
    pub(super) fn was_in_place(&self, agent: u64) -> Option<bool> {
        self.parked?;
        let moves = self.moves.get(&agent);
        Some(moves.is_some_and(|moves| moves.is_in_place))
    }

    /// Returns the number of changes between forwards and reverse; `None` if the course does not
    /// end in a bay.
    pub(super) fn gear_changes(&self, agent: u64) -> Option<u32> {
        self.parked?;
        Some(self.moves.get(&agent).map_or(0, |moves| moves.gear_changes))
    }

    /// Returns the state of a drive. At levels without roll, bodies stay upright.
    pub(super) fn moment(&self, agent: u64, mileage: f64, time: f64) -> Moment {
        let seen = self.seen.get(&agent);
        let here = seen.and_then(|places| places.back());
        let then = seen
            .filter(|places| places.len() == self.memory)
            .and_then(|places| places.front());
        let to = |place: Option<DVec2>| Some((*here? - place?).length());
        let goal = self.goals.get(&agent).map(|goal| goal.position);
        Moment {
            mileage,
            time,
            to_goal: to(goal).unwrap_or(f64::INFINITY),
            roll: self.rolls.get(&agent).copied().unwrap_or(0.0),
            moved: to(then.copied()),
            struck: self.struck.contains(&agent),
        }
    }
}
