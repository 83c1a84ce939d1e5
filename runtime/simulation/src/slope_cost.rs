//! Costs of slopes and water for planners over open ground.

use roadwright_planning::open_ground::PLAIN;
use roadwright_vehicle::dynamic::GRAVITY;

/// Width of a slope class, as rise over run. Slopes below this width add no cost.
const STEP: f64 = 0.1;
/// Added cost per class. Ground with a slope of 20 % costs twice as much as level ground.
const STEP_COST: i32 = 8;
/// Slope above which ground costs as much as water, as rise over run.
const STEEPEST: f64 = 1.0;
/// Added cost of water. A path crosses water only if every detour is longer than 64 times the
/// distance in water.
pub(crate) const WATER_COST: i32 = 63 * PLAIN;

/// Added cost of the steepest slope class that a vehicle can climb with the given maximum
/// acceleration (m/s^2). A class counts as climbable if the vehicle can climb the middle of the
/// class.
pub(crate) fn climbable_cost(acceleration: f64) -> i32 {
    let steepest = acceleration / GRAVITY;
    slope_cost((steepest - 0.5 * STEP).clamp(0.0, STEEPEST))
}

/// Added cost of a slope, given as rise over run.
pub(crate) fn slope_cost(steepness: f64) -> i32 {
    if steepness > STEEPEST {
        WATER_COST
    } else {
        STEP_COST * (steepness / STEP) as i32
    }
}
