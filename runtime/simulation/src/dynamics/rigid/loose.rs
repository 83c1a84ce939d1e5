//! Loose obstacles: who is awake, who has been pushed where.

use super::surroundings::Nearby;
use super::{Land, RigidBodies};
use crate::ground::{Displaced, Ground, LooseKind};
use crate::records::LooseRecord;
use glam::DVec2;
use roadwright_scenario::{Obstacle, ObstacleId, Scenario};
use roadwright_vehicle::rigid::LooseState;
use serde::Serialize;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_4;

/// A base that has been pushed farther has been moved, m.
const MOVED: f64 = 0.5;
/// Bodies that are closer may push each other, m.
const CLOSE: f64 = 1.0;

/// How many loose obstacles have been pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LooseCounts {
    /// Their base is more than 0.5 m from where it stood.
    pub moved: usize,
    /// They lean by more than 45 degrees.
    pub felled: usize,
}

impl RigidBodies {
    /// Loose obstacles that take part in a step, in the order of ids: those that a
    /// vehicle may come to, those that move, and those close to one that moves.
    pub(super) fn awake_among<'a>(
        &self,
        ground: &'a Ground,
        near: &Nearby,
        land: &Land<'_>,
    ) -> Vec<(&'a LooseKind, LooseState)> {
        let obstacles = &ground.obstacles;
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
        // Those that have been pushed are not where the scenario has them.
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

    /// Keeps those that are not as they stood.
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
            if let Some(number) = ground.obstacles.number_of(kind.id) {
                self.displaced.put(number, kind.outline(&state));
            }
        }
    }

    /// What displaced obstacles cover.
    #[inline]
    pub(crate) fn displaced(&self) -> &Displaced {
        &self.displaced
    }

    /// Finds out what displaced obstacles cover: after loading, and on another ground.
    pub(crate) fn find_displaced(&mut self, ground: &Ground) {
        self.displaced = Displaced::default();
        for (kind, state) in self.pushed(ground) {
            if let Some(number) = ground.obstacles.number_of(kind.id) {
                self.displaced.put(number, kind.outline(&state));
            }
        }
    }

    /// The obstacles that have been pushed, in the order of ids.
    pub(crate) fn pushed<'a>(&self, ground: &'a Ground) -> Vec<(&'a LooseKind, LooseState)> {
        let obstacles = &ground.obstacles;
        let known = self.loose.iter().filter_map(|(&id, &state)| {
            let number = obstacles.number_of(id)?;
            Some((obstacles.loose(number)?, state))
        });
        known.collect()
    }

    /// Obstacles that a person has changed are where the scenario has them.
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

    /// How many have been moved and felled, if any has been pushed.
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

    /// What is carried of obstacles from step to step.
    pub(crate) fn hashed_loose(&self) -> Option<&BTreeMap<ObstacleId, LooseState>> {
        (!self.loose.is_empty()).then_some(&self.loose)
    }

    /// Whether a save is of obstacles that are there.
    pub(crate) fn loose_fit(&self, ground: &Ground) -> bool {
        self.loose
            .iter()
            .all(|(&id, state)| ground.obstacles.number_of(id).is_some() && state.is_sound())
    }
}

/// The record of a loose obstacle that has been pushed.
pub(crate) fn record_of(kind: &LooseKind, state: &LooseState) -> LooseRecord {
    LooseRecord {
        obstacle: kind.id,
        outline: kind.outline(state),
        tilt: state.tilt(),
    }
}
