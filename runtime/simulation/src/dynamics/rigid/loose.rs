//! Selects the loose obstacles that take part in a step, and stores where they have been pushed.

use super::surroundings::Nearby;
use super::{Land, RigidBodies};
use crate::records::LooseRecord;
use glam::DVec2;
use roadwright_ground::{Displaced, Ground, LooseKind};
use roadwright_scenario::{Obstacle, ObstacleId, Scenario};
use roadwright_vehicle::rigid::LooseState;
use serde::Serialize;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_4;

/// An obstacle counts as moved if its base is farther than this from its original place, m.
const MOVED: f64 = 0.5;
/// Bodies within this distance may push each other, m.
const CLOSE: f64 = 1.0;

/// Numbers of loose obstacles that have been moved and felled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LooseCounts {
    /// Obstacles whose base is more than 0.5 m from its original place.
    pub moved: usize,
    /// Obstacles that lean by more than 45 degrees.
    pub felled: usize,
}

impl RigidBodies {
    /// Returns the loose obstacles that take part in a step, in the order of ids. These are
    /// obstacles within reach of a vehicle, moving obstacles, and obstacles close to a moving one.
    pub(super) fn awake_among<'a>(
        &self,
        ground: &'a Ground,
        near: &Nearby,
        land: &Land<'_>,
    ) -> Vec<(&'a LooseKind, LooseState)> {
        let obstacles = ground.obstacles();
        let moving: Vec<(DVec2, f64)> = self
            .pushed(ground)
            .into_iter()
            .filter(|(_, state)| !state.rests)
            .map(|(kind, state)| (state.body.position.truncate(), kind.radius + CLOSE))
            .collect();
        let mut awake = near.loose.clone();
        for &(place, reach) in &moving {
            obstacles.for_each_near(place, reach, |number| {
                awake.insert(number);
            });
        }
        // Pushed obstacles are no longer at their place in the scenario.
        for (id, state) in &self.loose {
            let Some(number) = obstacles.number_of(*id) else {
                continue;
            };
            let radius = obstacles.loose(number).map_or(0.0, |kind| kind.radius);
            let place = state.body.position.truncate();
            let is_close =
                |(other, reach): &(DVec2, f64)| (*other - place).length() <= reach + radius;
            if !state.rests || near.reaches(place, radius) || moving.iter().any(is_close) {
                awake.insert(number);
            } else {
                awake.remove(&number);
            }
        }
        let kinds = awake.into_iter();
        let kinds = kinds.filter_map(|number| obstacles.loose(number));
        let states = kinds.map(|kind| {
            let kept = self.loose.get(&kind.id).copied();
            (kind, kept.unwrap_or_else(|| kind.standing(land)))
        });
        states.collect()
    }

    /// Stores the states of obstacles that have left their original place.
    pub(super) fn keep(
        &mut self,
        ground: &Ground,
        pushed: Vec<(&LooseKind, LooseState)>,
        land: &Land<'_>,
    ) {
        for (kind, state) in pushed {
            let known = self.loose.get(&kind.id);
            if known == Some(&state) || known.is_none() && state == kind.standing(land) {
                continue;
            }
            self.loose.insert(kind.id, state);
            if let Some(number) = ground.obstacles().number_of(kind.id) {
                self.displaced.put(number, kind.outline(&state));
            }
        }
    }

    /// Footprints of obstacles that have been moved.
    #[inline]
    pub(crate) fn displaced(&self) -> &Displaced {
        &self.displaced
    }

    /// Sets the state of an obstacle.
    #[cfg(test)]
    pub(crate) fn push(&mut self, ground: &Ground, id: ObstacleId, state: LooseState) {
        self.loose.insert(id, state);
        self.find_displaced(ground);
    }

    /// Velocity of an obstacle at a place, m/s; 0 if the obstacle is at rest or was never pushed.
    /// `number` is the number of the obstacle's body. The velocity is computed at the height of the
    /// obstacle's centre of gravity.
    pub(crate) fn pushed_velocity(&self, ground: &Ground, number: u32, place: DVec2) -> DVec2 {
        let kind = ground.obstacles().loose(number);
        let state = kind.and_then(|kind| self.loose.get(&kind.id));
        let Some(LooseState { body, .. }) = state.filter(|state| !state.rests) else {
            return DVec2::ZERO;
        };
        let arm = (place - body.position.truncate()).extend(0.0);
        (body.velocity + body.spin.cross(arm)).truncate()
    }

    /// Recomputes the footprints of moved obstacles after loading or a change of the ground.
    pub(crate) fn find_displaced(&mut self, ground: &Ground) {
        self.displaced = Displaced::default();
        for (kind, state) in self.pushed(ground) {
            if let Some(number) = ground.obstacles().number_of(kind.id) {
                self.displaced.put(number, kind.outline(&state));
            }
        }
    }

    /// Obstacles that have been pushed, in the order of ids.
    pub(crate) fn pushed<'a>(&self, ground: &'a Ground) -> Vec<(&'a LooseKind, LooseState)> {
        let obstacles = ground.obstacles();
        let known = self.loose.iter().filter_map(|(&id, &state)| {
            let number = obstacles.number_of(id)?;
            Some((obstacles.loose(number)?, state))
        });
        known.collect()
    }

    /// Moves edited obstacles back to their places in the scenario.
    pub(crate) fn take_obstacles(&mut self, old: &Scenario, new: &Scenario, ground: &Ground) {
        if self.loose.is_empty() {
            return;
        }
        let find = |scenario: &'_ Scenario, id: ObstacleId| -> Option<Obstacle> {
            scenario.obstacles().get(&id).cloned()
        };
        self.loose.retain(|&id, _| find(old, id) == find(new, id));
        self.find_displaced(ground);
    }

    /// Number of obstacles moved and felled; `None` if no obstacle has been pushed.
    pub(crate) fn counts(&self, ground: &Ground) -> Option<LooseCounts> {
        if self.loose.is_empty() {
            return None;
        }
        let pushed = self.pushed(ground);
        let count = |of: &dyn Fn(&LooseKind, &LooseState) -> bool| {
            pushed
                .iter()
                .filter(|(kind, state)| of(kind, state))
                .count()
        };
        Some(LooseCounts {
            moved: count(&|kind, state| kind.shift(state) > MOVED),
            felled: count(&|_, state| state.tilt() > FRAC_PI_4),
        })
    }

    /// States of the pushed obstacles, for hashing; `None` if no obstacle has been pushed.
    pub(crate) fn hashed_loose(&self) -> Option<&BTreeMap<ObstacleId, LooseState>> {
        (!self.loose.is_empty()).then_some(&self.loose)
    }

    /// Whether all loose obstacles in a save exist in the scenario.
    pub(crate) fn loose_fit(&self, ground: &Ground) -> bool {
        self.loose
            .iter()
            .all(|(&id, state)| ground.obstacles().number_of(id).is_some() && state.is_sound())
    }
}

/// Creates the record of a loose obstacle that has been pushed.
pub(crate) fn record_of(kind: &LooseKind, state: &LooseState) -> LooseRecord {
    LooseRecord {
        obstacle: kind.id,
        outline: kind.outline(state),
        tilt: state.tilt(),
    }
}
