//! Signals for pedestrians: when pedestrians may walk, and how waiting pedestrians call their stages.

use super::{Phase, SignalStates};
use roadwright_ground::Ground;
use roadwright_scenario::junction::WALK_WINDOW;
use roadwright_scenario::{JunctionIndex, SignalMode};

/// Signal state that lets pedestrians walk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    /// Time since pedestrians have been allowed to walk, s.
    pub(crate) elapsed: f64,
    /// The crossed lanes stay red for at least this time from now, s.
    pub(crate) left: f64,
    /// Whether a vehicle or pedestrian waits for another stage.
    pub(crate) is_opposed: bool,
}

impl SignalStates {
    /// Makes waiting pedestrians call the stages of a junction that let them walk. The calls take
    /// effect in the next update. Pedestrians who may start now do not call.
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

    /// Returns the state of a junction's signals for pedestrians who may walk in `stages` (bit
    /// mask); `None` if the current stage is not one of these stages.
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
        // The shortest transition to any other stage.
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
                // The time is unknown, because the stage stays until another stage is wanted.
                f64::INFINITY
            },
            is_opposed: state.opposed.is_finite(),
        })
    }
}
