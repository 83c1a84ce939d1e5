//! Room beyond junctions that has been promised: who is let in counts on it, so nobody else may take it.
//!
//! ```text
//!     junction |            a lane beyond it
//!   -----------+-------------------------------------
//!     A   B    |   C     D  .                  E        A and B have been let in and count on room behind D,
//!   -----------+---------- '.--------------------      which waits for a gap beside E's lane: what is ahead
//!              |             ' -> F                    of D nobody reaches.
//! ```

use super::{Claims, Grant};
use crate::agents::Agents;
use crate::traffic::{Entry, Lanes};
use roadwright_scenario::lane_graph::LaneletId;

impl Claims {
    /// Whether a vehicle of a length in a queue, m, may appear on a lane, beside others that appear there in
    /// the same step: those who have been promised room there find it still.
    pub(crate) fn may_appear(
        &self,
        lanes: Lanes<'_>,
        lanelet: LaneletId,
        appeared: impl Iterator<Item = u32>,
        own: f64,
    ) -> bool {
        let Some(promised) = self.promised_length(lanes, lanelet) else {
            return true;
        };
        let tail = lanes.tail(lanelet);
        let there = tail.there.iter().map(|entry| entry.agent);
        let taken: f64 = there.chain(appeared).map(|agent| lanes.space(agent)).sum();
        promised + taken + own <= tail.reach
    }

    /// Whether those who have been promised room on a lane fit behind a vehicle at a place of it, m: one that
    /// begins to change to or from it may have to wait there between two lanes.
    pub(crate) fn leaves_promised(
        &self,
        lanes: Lanes<'_>,
        agent: u32,
        (lanelet, s): (LaneletId, f64),
    ) -> bool {
        let Some(promised) = self.promised_length(lanes, lanelet) else {
            return true;
        };
        let own = Entry { s, lanelet, agent };
        let tail = lanes.tail(lanelet);
        let behind = tail.there.iter().filter(|entry| entry.s < s);
        let behind = behind
            .map(|entry| entry.agent)
            .chain(just_changed(lanes, lanelet));
        let taken: f64 = behind.map(|agent| lanes.space(agent)).sum();
        // Where another one keeps them from coming so far already, nothing changes for them.
        tail.reach < s || promised + taken <= lanes.rear(&own)
    }

    /// Length that those take in a queue who have been promised room on a lane beyond a junction and are
    /// not there yet, m; `None` if there are none.
    fn promised_length(&self, lanes: Lanes<'_>, lanelet: LaneletId) -> Option<f64> {
        // All connections that end where a lane begins are those of one junction.
        let mut ways = lanes.ground.graph().predecessors(lanelet).iter();
        let (junction, _) = ways.find_map(|&way| lanes.ground.contested(way))?;
        let mut coming = self.promised(lanes.agents, junction, lanelet).peekable();
        coming.peek()?;
        Some(coming.map(|grant| lanes.space(grant.agent)).sum())
    }

    /// What is held by those who are still in a junction or before it, and have been promised room on a lane
    /// beyond it.
    pub(super) fn promised<'s>(
        &'s self,
        agents: &'s Agents,
        junction: u32,
        exit: LaneletId,
    ) -> impl Iterator<Item = &'s Grant> {
        let grants = self.granted[junction as usize].iter();
        grants.filter(move |grant| {
            grant.exit == exit && agents.progress[grant.agent as usize].at <= grant.at
        })
    }
}

/// Who has changed to a lane since the index was made: it is known only on the lane that it came from.
fn just_changed(lanes: Lanes<'_>, target: LaneletId) -> impl Iterator<Item = u32> {
    let beside = lanes.ground.graph().changing_onto(target);
    let others = beside.flat_map(move |lane| lanes.index.on_lanelet(lane));
    let is_known = move |agent: u32| {
        let mut known = lanes.index.on_lanelet(target).iter();
        known.any(|entry| entry.agent == agent)
    };
    let has_changed = move |agent: &u32| {
        lanes.agents.position[*agent as usize].lanelet == target && !is_known(*agent)
    };
    others.map(|entry| entry.agent).filter(has_changed)
}
