//! Promised room beyond junctions. Vehicles that have been let in rely on this room, so no other vehicle may
//! take it.
//!
//! ```text
//!     junction |            a lane beyond it
//!   -----------+-------------------------------------
//!     A   B    |   C     D  .                  E        A and B have been let in and count on room behind D,
//!   -----------+---------- '.--------------------      which waits for a gap in F's lane. No vehicle
//!              |             ' -> F                    can reach the room ahead of D.
//! ```

use super::grants::{Grant, Grants};
use super::room::FAR_ENOUGH;
use crate::agents::AgentsRef;
use crate::records::{AgentIndex, LaneSpot};
use crate::traffic::{LaneEntry, Lanes};
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{Connection, JunctionIndex};

impl Grants {
    /// Whether a vehicle with a queue length of `own` metres can spawn on a lane without taking
    /// room that has been promised to other vehicles. Vehicles that spawn on the lane in the same
    /// step are included.
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

    /// Whether vehicles that have been promised room on a lane still fit behind a vehicle at the
    /// given position on the lane (m). This vehicle is about to change to or from the lane, and may
    /// have to wait at this position between the two lanes.
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
        // If another vehicle already keeps them from getting that far, nothing changes for them.
        tail.reach < s || promised + taken <= lanes.rear(&own)
    }

    /// Queue length of the vehicles that have been promised room on a lane beyond a junction and have not
    /// arrived there yet, m; `None` if there are no such vehicles.
    fn promised_length(&self, lanes: Lanes<'_>, lanelet: LaneletIndex) -> Option<f64> {
        let promised = self.promised_from(lanes, lanelet, FAR_ENOUGH);
        (promised > 0.0).then_some(promised)
    }

    /// Like `promised_length`, but 0 if there are no such vehicles. Also includes vehicles for
    /// which a short lane has no room, if they continue from it onto this lane without a request.
    /// `far` is the distance that is searched backwards, m.
    fn promised_from(&self, lanes: Lanes<'_>, lanelet: LaneletIndex, far: f64) -> f64 {
        let ground = lanes.ground;
        let connections = ground.graph().predecessors(lanelet);
        // All connections to the start of a lane belong to one junction.
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
            // If roads join without a bend, their lanes are connected directly.
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
        // Usually no vehicle has been promised room there. Vehicles that are already there need no promise.
        if coming == 0.0 {
            return 0.0;
        }
        (coming + taken - length).max(0.0)
    }

    /// Grants of vehicles that have been promised room on a lane and have not left the junction
    /// before it.
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

/// Vehicles that have changed to a lane after the index was built. The index still lists them only
/// on their old lane.
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
