//! Room beyond junctions that has been promised: who is let in counts on it, so nobody else may take it.
//!
//! ```text
//!     junction |            a lane beyond it
//!   -----------+-------------------------------------
//!     A   B    |   C     D  .                  E        A and B have been let in and count on room behind D,
//!   -----------+---------- '.--------------------      which waits for a gap beside E's lane: what is ahead
//!              |             ' -> F                    of D nobody reaches.
//! ```

use super::grants::{Grant, Grants};
use super::room::FAR_ENOUGH;
use crate::agents::AgentsRef;
use crate::records::{AgentIndex, LaneSpot};
use crate::traffic::{LaneEntry, Lanes};
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{Connection, JunctionIndex};

impl Grants {
    /// Whether a vehicle of a length in a queue, m, may appear on a lane, beside others that appear there in
    /// the same step: those who have been promised room there find it still.
    pub(crate) fn may_appear(
        &self,
        lanes: Lanes<'_>,
        lanelet: LaneletIndex,
        appeared: impl Iterator<Item = AgentIndex>,
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
        agent: AgentIndex,
        spot: LaneSpot,
    ) -> bool {
        let LaneSpot { lanelet, s } = spot;
        let Some(promised) = self.promised_length(lanes, lanelet) else {
            return true;
        };
        let own = LaneEntry { s, lanelet, agent };
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
    fn promised_length(&self, lanes: Lanes<'_>, lanelet: LaneletIndex) -> Option<f64> {
        let promised = self.promised_from(lanes, lanelet, FAR_ENOUGH);
        (promised > 0.0).then_some(promised)
    }

    /// The same, 0 if there are none. Where one comes onto a lane from a short one without asking anybody,
    /// those come on who do not fit there; so far, m, is looked back.
    fn promised_from(&self, lanes: Lanes<'_>, lanelet: LaneletIndex, far: f64) -> f64 {
        let ground = lanes.ground;
        let connections = ground.graph().predecessors(lanelet);
        // All connections that end where a lane begins are those of one junction.
        if let Some(Connection { junction, .. }) = connections
            .iter()
            .find_map(|&connection| ground.contested(connection))
        {
            let coming = self.promised(lanes.agents, junction, lanelet);
            return coming.map(|grant| lanes.space(grant.agent)).sum();
        }
        let &[connection] = connections else {
            return 0.0;
        };
        let (mut length, mut taken) = (0.0, 0.0);
        let mut count = |lane: LaneletIndex| {
            length += ground.length(lane);
            let there = lanes.index.on_lanelet(lane).iter();
            taken += there.map(|entry| lanes.space(entry.agent)).sum::<f64>();
        };
        count(connection);
        let before = match ground.lanelet(connection).is_connection() {
            // Where roads join without a bend, lanes follow each other with nothing in between.
            false => connection,
            true => {
                let &[before] = ground.graph().predecessors(connection) else {
                    return 0.0;
                };
                count(before);
                before
            }
        };
        if length >= far {
            return 0.0;
        }
        let coming = self.promised_from(lanes, before, far - length);
        // Mostly nobody is promised anything there, and who drives there already is no promise.
        if coming == 0.0 {
            return 0.0;
        }
        (coming + taken - length).max(0.0)
    }

    /// What is held by those who are still in a junction or before it, and have been promised room on a lane
    /// beyond it.
    pub(super) fn promised<'s>(
        &'s self,
        agents: AgentsRef<'s>,
        junction: JunctionIndex,
        exit: LaneletIndex,
    ) -> impl Iterator<Item = &'s Grant> {
        let grants = self.of(junction).iter();
        grants.filter(move |grant| {
            grant.exit == exit && agents.progress[grant.agent.index()].at <= grant.at
        })
    }
}

/// Who has changed to a lane since the index was made: it is known only on the lane that it came from.
fn just_changed(lanes: Lanes<'_>, target: LaneletIndex) -> impl Iterator<Item = AgentIndex> {
    let beside = lanes.ground.graph().changing_onto(target);
    let others = beside.flat_map(move |lane| lanes.index.on_lanelet(lane));
    let is_known = move |agent: AgentIndex| {
        let mut known = lanes.index.on_lanelet(target).iter();
        known.any(|entry| entry.agent == agent)
    };
    let has_changed = move |agent: &AgentIndex| {
        lanes.agents.position[agent.index()].lanelet == target && !is_known(*agent)
    };
    others.map(|entry| entry.agent).filter(has_changed)
}
