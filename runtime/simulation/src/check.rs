//! Findings about a scenario that need its ground.

use crate::move_trees::blocked_moves;
use crate::open_ground::unreachable_over_ground;
use roadwright_scenario::Scenario;
use roadwright_scenario::check::Finding;

/// Returns findings about trips for which neither lanes nor open ground lead to the destination, and about agents
/// whose moves are all blocked at the start.
///
/// They complete [`check`](fn@roadwright_scenario::check::check), which knows no ground.
pub fn check_on_ground(scenario: &Scenario) -> Vec<Finding> {
    let mut findings = unreachable_over_ground(scenario);
    findings.extend(blocked_moves(scenario));
    findings
}
