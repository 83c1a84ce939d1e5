//! Checks of a scenario for which its ground has to be built.

use crate::move_trees::blocked_moves;
use crate::open_ground::unreachable_over_ground;
use roadwright_scenario::Scenario;
use roadwright_scenario::check::Finding;

/// Returns findings about trips whose destination cannot be reached by lanes or over open ground,
/// and about agents whose moves are all blocked at the start.
///
/// They complement the findings of [`check`](fn@roadwright_scenario::check::check), which works
/// without a ground.
pub fn check_on_ground(scenario: &Scenario) -> Vec<Finding> {
    let mut findings = unreachable_over_ground(scenario);
    findings.extend(blocked_moves(scenario));
    findings
}
