//! When signals let people on foot walk, and how those who wait call for it.

use super::{Phase, SignalStates};
use crate::ground::Ground;
use roadwright_scenario::junction::WALK_WINDOW;
use roadwright_scenario::{JunctionIndex, SignalMode};

/// Signals that let people walk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    /// For how long they have, s.
    pub(crate) elapsed: f64,
    /// How long what they cross stays red at least, s.
    pub(crate) left: f64,
    /// Whether somebody waits for another stage.
    pub(crate) is_opposed: bool,
}

impl SignalStates {
    /// Lets people who wait call the stages of a junction in which they would walk, in the next update;
    /// not while they may set off.
    pub(crate) fn call_walk(
        &mut self,
        ground: &Ground,
        junction: JunctionIndex,
        stages: u32,
        time: f64,
    ) {
        let Some((group, _)) = ground.signals(junction) else {
            return;
        };
        let walk = self.walk(ground, junction, stages, time);
        if walk.is_none_or(|walk| walk.elapsed > WALK_WINDOW) {
            self.walks.push((group, stages));
        }
    }

    /// Whether the signals of a junction show one of some stages, one bit each, in which people walk.
    pub(in crate::traffic) fn walk(
        &self,
        ground: &Ground,
        junction: JunctionIndex,
        stages: u32,
        time: f64,
    ) -> Option<Walk> {
        let (group, _) = ground.signals(junction)?;
        let (state, programme) = (&self.states[group], ground.programme(group));
        if state.phase != Phase::Green || stages & (1 << state.stage) == 0 {
            return None;
        }
        let stage = state.stage as usize;
        // The least that comes between it and any other stage.
        let others = (0..programme.stages.len()).filter(|next| *next != stage);
        let between = others.map(|next| programme.intergreen(stage, next).duration());
        let between = between.reduce(f64::min).unwrap_or(0.0);
        let elapsed = time - state.since;
        let is_fixed = programme.mode == SignalMode::Fixed;
        Some(Walk {
            elapsed,
            left: if is_fixed || elapsed <= WALK_WINDOW {
                self.states[group].remaining(programme, &self.desks[group], time) + between
            } else {
                // Nobody can say; while nobody waits for another stage it stays.
                f64::INFINITY
            },
            is_opposed: state.opposed.is_finite(),
        })
    }
}
