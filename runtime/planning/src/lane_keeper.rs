//! A behaviour that changes lanes if the route requires it or the lane ends, provided that the gap is large
//! enough.
//!
//! The required gap is a minimum length plus the distance by which the gap shrinks in `gap_time`
//! while the other vehicle closes in. Example with the defaults (3 m, 1.5 s), at 10 m/s:
//!
//! | vehicle on the other lane | closing speed | required gap |
//! | --- | --- | --- |
//! | ahead, 10 m/s | 0 | 3 m |
//! | ahead, 6 m/s | 4 m/s | 3 + 1.5 * 4 = 9 m |
//! | behind, 14 m/s | 4 m/s | 9 m |
//! | behind, 6 m/s | 0: it falls back | 3 m |
//!
//! No change begins farther than `change_distance` from the end of the lane, because the current
//! lane may be faster up to that point. Closer to the end than `urgent_distance`, half of the gap
//! suffices. A vehicle that rejects a tight gap there has to stop, and then needs a much larger gap
//! to start from rest.
//!
//! # Lanes that end
//!
//! If a lane merges into an adjacent one, the lane change is not mandatory: vehicles alternate at
//! the end, or the joining vehicle yields. In free flow, a driver takes the first sufficient gap
//! within the distance at which the end of the lane is announced. Because the change is optional,
//! no vehicle should have to brake hard for it. The required gap is therefore `end_headway` seconds
//! of the rear vehicle's speed, plus the distance that it needs to slow down to the front vehicle's
//! speed at `end_braking`. If the front vehicle is faster, `end_gap_time` seconds of the difference
//! in speed are subtracted. Example with the defaults (3 m, 0.8 s, 2.5 m/s^2, 4 s), for a vehicle
//! at 26 m/s: a vehicle behind at 31 m/s has to be 3 + 0.8 * 31 + 5^2 / (2 * 2.5) = 33 m away, and
//! one ahead at 31 m/s 3 + 0.8 * 26 - 4 * 5 = 4 m. In a queue, the driver stays in the lane: if the
//! vehicle ahead on the other lane is slower than `queue_speed` times the speed limit, both lanes
//! are used up to the end.

use roadwright_agent::{
    Behaviour, Effects, LANE_ENDS, LaneEndSight, Logic, ModuleEntry, ModuleInfo, ParameterInfo,
    ParameterSet, Step, Surroundings,
};
use roadwright_plugin_api::{BehaviourInput, BehaviourOutput, NOTHING};
use std::sync::Arc;

static INFO: ModuleInfo = ModuleInfo {
    id: "lane_keeper",
    name: "Lane keeper",
    doc: "Changes lanes only if the route requires it or the lane ends.",
};

static PARAMETERS: [ParameterInfo; 11] = [
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
        "Distance to the end of the lane below which half of the minimum gap suffices.",
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
    // The default is that of `LaneEndSight::default`, which names the source.
    ParameterInfo::number(
        "end_distance",
        "m",
        (0.0, 500.0),
        400.0,
        "Distance at which the end of a lane is announced where the limit is 120 km/h or more.",
    ),
    ParameterInfo::number(
        "town_end_distance",
        "m",
        (0.0, 500.0),
        100.0,
        "Distance at which the end of a lane is announced where the limit is 50 km/h or less.",
    ),
    ParameterInfo::number(
        "end_headway",
        "s",
        (0.0, 5.0),
        0.8,
        "Minimum time gap ahead and behind for leaving a lane whose end is announced.",
    ),
    ParameterInfo::number(
        "end_gap_time",
        "s",
        (0.0, 20.0),
        4.0,
        "Reduction of the required gap per unit of speed by which the front vehicle is faster.",
    ),
    // The comfortable deceleration of the intelligent driver model.
    ParameterInfo::number(
        "end_braking",
        "m/s^2",
        (0.5, 9.0),
        2.5,
        "Deceleration at which the rear vehicle must be able to slow down to the speed of the \
         front vehicle where a lane ends.",
    ),
    ParameterInfo::number(
        "queue_speed",
        "",
        (0.0, 1.0),
        0.4,
        "Fraction of the speed limit below which traffic in the other lane counts as a queue. \
         Vehicles then use the lane up to its end.",
    ),
];

/// A behaviour that keeps its lane, and changes lanes only if the route requires it or the lane ends.
pub struct LaneKeeper;

/// Fraction of the usual gap that suffices near the end of the lane.
const URGENT_SHARE: f64 = 0.5;
/// Maximum gap to the vehicle ahead in the other lane at which its speed shows whether that lane is a queue,
/// m.
const SEEN_AHEAD: f64 = 80.0;

/// Requirements for a gap in the other lane.
struct GapRule {
    gap: f64,
    gap_time: f64,
    urgent_distance: f64,
    change_distance: f64,
    end_headway: f64,
    end_gap_time: f64,
    end_braking: f64,
    queue_speed: f64,
}

impl GapRule {
    fn new(parameters: &ParameterSet) -> Self {
        Self {
            gap: parameters.value("gap"),
            gap_time: parameters.value("gap_time"),
            urgent_distance: parameters.value("urgent_distance"),
            change_distance: parameters.value("change_distance"),
            end_headway: parameters.value("end_headway"),
            end_gap_time: parameters.value("end_gap_time"),
            end_braking: parameters.value("end_braking"),
            queue_speed: parameters.value("queue_speed"),
        }
    }

    /// Whether the gaps in the other lane permit the lane change that the route requires.
    fn allows(&self, input: &BehaviourInput) -> bool {
        if input.lane_remaining > self.change_distance {
            return false;
        }
        let share = if input.lane_remaining < self.urgent_distance {
            URGENT_SHARE
        } else {
            1.0
        };
        let [ahead, behind] = self.needed(input);
        input.target_gap_ahead >= share * ahead && input.target_gap_behind >= share * behind
    }

    /// Whether a vehicle may leave a lane that ends: the other lane is not a queue, and the gaps
    /// are large enough.
    fn leaves(&self, input: &BehaviourInput) -> bool {
        let is_queue = input.target_gap_ahead < SEEN_AHEAD
            && input.target_speed_ahead < self.queue_speed * input.road_speed;
        // Gap that the rear vehicle needs to the front vehicle, m.
        let kept = |speed: f64, closing: f64| {
            let slowing = closing.max(0.0).powi(2) / (2.0 * self.end_braking);
            let opening = self.end_gap_time * (-closing).max(0.0);
            (self.gap + self.end_headway * speed + slowing - opening).max(self.gap)
        };
        let (speed, ahead, behind) = (
            input.speed,
            input.target_speed_ahead,
            input.target_speed_behind,
        );
        !is_queue
            && input.target_gap_ahead >= kept(speed, speed - ahead)
            && input.target_gap_behind >= kept(behind, behind - speed)
    }

    /// Returns the minimum gaps ahead and behind for a lane change, m. If a gap is growing, only the minimum
    /// length is required.
    fn needed(&self, input: &BehaviourInput) -> [f64; 2] {
        let needed = |closing: f64| self.gap + self.gap_time * closing.max(0.0);
        [
            needed(input.speed - input.target_speed_ahead),
            needed(input.target_speed_behind - input.speed),
        ]
    }
}

/// Distances before the end of a lane at which the end is announced.
fn sight(parameters: &ParameterSet) -> LaneEndSight {
    LaneEndSight {
        motorway: parameters.value("end_distance"),
        town: parameters.value("town_end_distance"),
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
        let rule = GapRule::new(parameters);
        let speed_factor = parameters.value("speed_factor");
        for (input, output) in inputs.iter().zip(outputs) {
            // The input states which change the route requires here, or that the lane ends. The lane keeper
            // only decides when to make it.
            let needed = input.lane_change_needed;
            let changes = match needed.abs() {
                0.0 => false,
                LANE_ENDS => rule.leaves(input),
                _ => rule.allows(input),
            };
            *output = BehaviourOutput {
                lane_change: if changes { needed.signum() } else { 0.0 },
                speed_factor,
                top_speed: NOTHING,
            };
        }
    }

    fn only_changes_lanes(&self) -> bool {
        true
    }

    fn lane_end_sight(&self, parameters: &ParameterSet) -> Option<LaneEndSight> {
        Some(sight(parameters))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(change: impl FnOnce(&mut BehaviourInput)) -> f64 {
        let mut input = BehaviourInput {
            speed: 10.0,
            road_speed: 10.0,
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

    #[test]
    fn a_lane_that_ends_is_left_in_free_flow_and_used_to_its_end_in_a_queue() {
        // Each case: gap ahead and behind (m), own speed and speed on the other lane (m/s), and
        // whether the vehicle changes lanes. At 33 m/s, 3 m and 0.8 s are required.
        let cases = [
            (40.0, 33.0, 33.0, true),
            (29.0, 33.0, 33.0, false),
            // A vehicle behind that is 5 m/s faster needs 5 m more, and one that is 10 m/s faster 20 m.
            (32.0, 26.0, 31.0, false),
            (33.0, 26.0, 31.0, true),
            (49.0, 23.0, 33.0, false),
            (50.0, 23.0, 33.0, true),
            // The other lane is a queue, even if there is room.
            (60.0, 14.0, 12.0, false),
            (90.0, 14.0, 12.0, true),
        ];
        for (gap, own, speed, expected) in cases {
            for side in [1.0, -1.0] {
                let changed = decide(|i| {
                    (i.speed, i.road_speed) = (own, 120.0 / 3.6);
                    i.lane_change_needed = side * LANE_ENDS;
                    i.lane_remaining = 300.0;
                    (i.target_gap_ahead, i.target_gap_behind) = (gap, gap);
                    (i.target_speed_ahead, i.target_speed_behind) = (speed, speed);
                });
                let expected = if expected { side } else { 0.0 };
                assert_eq!(changed, expected, "{gap} m, {own} and {speed} m/s");
            }
        }
    }
}
