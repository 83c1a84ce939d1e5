//! Follow-up times: minimum headways between vehicles that cross a stop line with a sign, where
//! each driver has to look for traffic.
//!
//! ```text
//!                    | line
//!   -----------------|~~~~~~       B may enter one follow-up time after A, so
//!       [C]  [B]     |  [A]        one gap in the traffic with priority lets in fewer
//!   -----------------|~~~~~~       vehicles than would fit into it.
//! ```

use super::grants::{Grant, Grants};
use super::request::{Need, Request};
use super::rule::is_locked;
use super::situation::Situation;

use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{Connection, JunctionIndex};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Entries are dropped at this age, s. It exceeds every follow-up time.
const FORGOTTEN_AFTER: f64 = 10.0;

/// For each stop line with a sign, the step in which a vehicle last crossed it. A stop line is
/// identified by the lanelet that ends there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Entries(BTreeMap<LaneletIndex, u64>);

impl Entries {
    /// Returns the entries for the roads after an edit. `lanelet` maps old lanelets to new ones.
    pub(super) fn moved(&self, lanelet: impl Fn(LaneletIndex) -> Option<LaneletIndex>) -> Self {
        let entries = self.0.iter();
        Self(
            entries
                .filter_map(|(&line, &step)| Some((lanelet(line)?, step)))
                .collect(),
        )
    }

    /// Records that the holder of a grant is crossing its stop line.
    pub(super) fn note(
        &mut self,
        junction: JunctionIndex,
        grant: &Grant,
        situation: &Situation<'_>,
    ) {
        if !situation
            .ground
            .connection_gist(Connection::new(junction, grant.path))
            .has_follow_up
        {
            return;
        }
        if let Some(line) = situation.lane_before(grant.agent, grant.at) {
            // Old entries are removed here and not in each step, so that the map contains only
            // recently crossed lines.
            let kept = (FORGOTTEN_AFTER / situation.dt) as u64;
            self.0.retain(|_, step| *step + kept > situation.step);
            self.0.insert(line, situation.step);
        }
    }
}

impl Entries {
    /// Whether a vehicle would follow the preceding one sooner than the follow-up time allows.
    pub(super) fn still_looks(
        &self,
        request: &Request,
        need: &Need,
        grants: &Grants,
        situation: &Situation<'_>,
    ) -> bool {
        let gist = situation
            .ground
            .connection_gist(Connection::new(need.junction, need.path));
        let is_free = !gist.has_follow_up
            || need.at != request.at
            || !gist.gives_way_to_any
            || is_locked(request, need.junction, situation);
        if is_free {
            return false;
        }
        let Some(line) = situation.lane_before(request.agent, need.at) else {
            return false;
        };
        // Vehicles that have been let in but have not reached the line have not been recorded yet.
        let grants = grants.of(need.junction).iter();
        let coming = grants.filter(|grant| {
            !grant.has_entered
                && grant.agent != request.agent
                && situation.lane_before(grant.agent, grant.at) == Some(line)
        });
        let enters = coming.map(|grant| {
            situation.time_for(
                situation.before_line(need.junction, grant),
                grant.agent,
                grant.at,
            )
        });
        let entered = self.0.get(&line);
        // Time relative to the current step, s. It is negative for a vehicle that has already
        // crossed the line.
        let entered =
            entered.map(|&step| situation.dt * -(situation.step.saturating_sub(step) as f64));
        let before = enters.chain(entered).reduce(f64::max);
        let to_line = -situation.front(request.agent, need.at);
        let own = situation.time_for(to_line, request.agent, need.at);
        let right = situation.ground.law(need.junction).right_of_way();
        before.is_some_and(|before| own < before + right.follow_up(need.path))
    }
}
