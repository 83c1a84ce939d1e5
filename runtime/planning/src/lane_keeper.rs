//! Changes lanes if the route requires it and the gap is large enough.
//!
//! The required gap is a minimum length plus the distance by which the gap shrinks in `gap_time` while the
//! other vehicle closes in. Example with the defaults (3 m, 1.5 s), at 10 m/s:
//!
//! | vehicle on the other lane | closes with | needs |
//! | --- | --- | --- |
//! | ahead, 10 m/s | 0 | 3 m |
//! | ahead, 6 m/s | 4 m/s | 3 + 1.5 * 4 = 9 m |
//! | behind, 14 m/s | 4 m/s | 9 m |
//! | behind, 6 m/s | 0: it falls back | 3 m |
//!
//! No change begins farther than `change_distance` from the end of the lane, because the current lane may be
//! faster up to that point. Closer to the end than `urgent_distance`, half of the gap suffices. A vehicle
//! that rejects a tight gap there has to stop, and then needs a much larger gap to start from rest.

use roadwright_agent::{
    Behaviour, Effects, Logic, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
    Surroundings,
};
use roadwright_plugin_api::{BehaviourInput, BehaviourOutput, NOTHING};
use std::sync::Arc;

static INFO: ModuleInfo = ModuleInfo {
    id: "lane_keeper",
    name: "Lane keeper",
    doc: "Changes lanes only if the route requires it.",
};

static PARAMETERS: [ParameterInfo; 5] = [
    ParameterInfo::number(
        "gap",
        "m",
        (0.5, 50.0),
        3.0,
        "Minimum gap ahead and behind for a lane change.",
    ),
    ParameterInfo::number(
        "gap_time",
        "s",
        (0.0, 10.0),
        1.5,
        "Additional gap per unit of closing speed.",
    ),
    ParameterInfo::number(
        "urgent_distance",
        "m",
        (0.0, 500.0),
        40.0,
        "Distance to the end of the lane below which half of the gap suffices.",
    ),
    ParameterInfo::number(
        "change_distance",
        "m",
        (0.0, 2000.0),
        200.0,
        "Distance to the end of the lane above which no lane change begins.",
    ),
    ParameterInfo::number(
        "speed_factor",
        "",
        (0.1, 2.0),
        1.0,
        "Desired speed as a multiple of the speed that the road allows.",
    ),
];

/// A behaviour that keeps its lane, and changes lanes only if the route requires it.
pub struct LaneKeeper;

/// Fraction of the usual gap that suffices near the end of the lane.
const URGENT_SHARE: f64 = 0.5;

/// Requirements for a gap in the other lane.
struct GapRule {
    gap: f64,
    gap_time: f64,
    urgent_distance: f64,
    change_distance: f64,
}

impl GapRule {
    /// Whether the gaps in the other lane permit a lane change.
    fn allows(&self, input: &BehaviourInput) -> bool {
        if input.lane_remaining > self.change_distance {
            return false;
        }
        let share = if input.lane_remaining < self.urgent_distance {
            URGENT_SHARE
        } else {
            1.0
        };
        // For a vehicle that drives away, only the plain gap is required.
        let needed = |closing: f64| share * (self.gap + self.gap_time * closing.max(0.0));
        input.target_gap_ahead >= needed(input.speed - input.target_speed_ahead)
            && input.target_gap_behind >= needed(input.target_speed_behind - input.speed)
    }
}

impl LaneKeeper {
    /// Registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Behaviour> {
        ModuleEntry::<dyn Behaviour>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for LaneKeeper {}

impl Behaviour for LaneKeeper {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        _: Option<&Arc<Surroundings>>,
        inputs: &[BehaviourInput],
        outputs: &mut [BehaviourOutput],
        _: &mut Effects,
    ) {
        let rule = GapRule {
            gap: parameters.value("gap"),
            gap_time: parameters.value("gap_time"),
            urgent_distance: parameters.value("urgent_distance"),
            change_distance: parameters.value("change_distance"),
        };
        let speed_factor = parameters.value("speed_factor");
        for (input, output) in inputs.iter().zip(outputs) {
            // The input states which change the route requires here. The lane keeper only decides when to
            // make it.
            let changes = input.lane_change_needed != 0.0 && rule.allows(input);
            *output = BehaviourOutput {
                lane_change: if changes {
                    input.lane_change_needed
                } else {
                    0.0
                },
                speed_factor,
                top_speed: NOTHING,
            };
        }
    }

    fn only_changes_lanes(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(change: impl FnOnce(&mut BehaviourInput)) -> f64 {
        let mut input = BehaviourInput {
            speed: 10.0,
            lane_change_needed: 1.0,
            lane_remaining: 100.0,
            target_gap_ahead: 20.0,
            target_speed_ahead: 10.0,
            target_gap_behind: 20.0,
            target_speed_behind: 10.0,
            ..BehaviourInput::default()
        };
        change(&mut input);
        let mut outputs = [BehaviourOutput::default()];
        LaneKeeper.step(
            &ParameterSet::new(&PARAMETERS),
            &Step::default(),
            None,
            &[input],
            &mut outputs,
            &mut Effects::default(),
        );
        outputs[0].lane_change
    }

    #[test]
    fn it_changes_when_asked_and_safe() {
        assert_eq!(decide(|_| ()), 1.0);
        assert_eq!(decide(|i| i.lane_change_needed = 0.0), 0.0);
        assert_eq!(decide(|i| i.target_gap_behind = 1.0), 0.0);
        assert_eq!(decide(|i| i.target_speed_behind = 30.0), 0.0);
        assert_eq!(decide(|i| i.target_gap_ahead = 2.0), 0.0);
        // Far from the end of the lane, the full gap is required.
        assert_eq!(decide(|i| i.lane_remaining = 200.0), 1.0);
        assert_eq!(decide(|i| i.lane_remaining = 201.0), 0.0);
        // Near the end of the lane, a smaller gap suffices.
        assert_eq!(
            decide(|i| (i.target_gap_ahead, i.lane_remaining) = (2.0, 20.0)),
            1.0
        );
    }
}
