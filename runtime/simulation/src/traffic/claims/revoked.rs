//! Revocation of grants of vehicles that have not entered the junction yet.

use super::closing::Closing;
use super::grants::{Grant, Grants};
use super::gridlock::AT_LINE;
use super::situation::Situation;
use crate::records::AgentIndex;
use roadwright_scenario::junction::Light;
use roadwright_scenario::{Connection, JunctionIndex};

impl Grants {
    /// Finds vehicles that have to give back their grants because their signal has turned red or another
    /// vehicle has cut in ahead of them. Only vehicles that have not entered are considered.
    pub(super) fn find_revoked(
        &self,
        closing: &Closing,
        situation: &Situation<'_>,
        out: &mut Vec<(AgentIndex, u32)>,
    ) {
        out.clear();
        for &junction in self.busy() {
            for grant in self.of(junction) {
                // A vehicle in the junction has passed its stop line, wherever an edit may have
                // moved the line.
                if situation.front_of(grant) > 0.0 {
                    continue;
                }
                let distance = situation.before_line(junction, grant);
                if distance < 0.0 {
                    continue;
                }
                let path = Connection::new(junction, grant.path);
                let light = situation.light(path);
                // At amber, a vehicle continues if others rely on it and it will cross the line before red.
                let is_near = distance <= AT_LINE;
                let is_kept =
                    || grant.is_in_ring || is_near && self.is_counted_on(grant, situation);
                let goes_on = grant.is_on_red || light == Light::Amber && is_kept();
                let stopped_at = match goes_on || light == Light::Green {
                    true => None,
                    false => stopped_by_light(junction, grant, distance, situation),
                };
                let is_closed = grant.is_first
                    && closing.is_closed(junction)
                    && situation.can_stop(grant.agent, distance)
                    && !self.is_counted_on(grant, situation);
                let is_held = grant.is_first
                    && closing.is_called_back(grant, situation)
                    && !self.is_counted_on(grant, situation);
                if let Some(at) = stopped_at {
                    out.push((grant.agent, at));
                } else if is_closed || is_held || !situation.has_turn(grant.agent, grant.at) {
                    out.push((grant.agent, grant.at));
                }
            }
        }
    }

    /// Whether other vehicles have been let onto the lane of a grant's holder, or onto a lane that
    /// the holder uses before it enters. These vehicles may rely on the holder to drive on.
    fn is_counted_on(&self, grant: &Grant, situation: &Situation<'_>) -> bool {
        let from = situation.agents.progress[grant.agent.index()].at;
        let mut lanes = (from..grant.at).filter_map(|at| situation.route(grant.agent).lanelet(at));
        lanes.any(|lane| {
            let mut connections = situation.ground.graph().predecessors(lane).iter();
            let before = connections.find_map(|&connection| situation.ground.contested(connection));
            before.is_some_and(|Connection { junction, .. }| {
                let mut others = self.of(junction).iter();
                others.any(|other| other.exit == lane && other.agent != grant.agent)
            })
        })
    }
}

/// Returns the first route index from which a grant's holder must release its grants because it has
/// to stop at the signal of the granted junction. `distance` is the distance from the holder's
/// front to the stop line, m. If there are narrow bends before the junction, the vehicle stops
/// before them. A vehicle that is already in a bend continues. Otherwise it would block the bend,
/// and vehicles that wait for the bend might in turn block it.
fn stopped_by_light(
    junction: JunctionIndex,
    grant: &Grant,
    distance: f64,
    situation: &Situation<'_>,
) -> Option<u32> {
    let first = situation.law_from(grant)?;
    let distance = match first == grant.at {
        true => distance,
        false => {
            let path = situation
                .ground
                .contested(situation.route(grant.agent).lanelet(first)?)?;
            -situation.front(grant.agent, first) - situation.setback(path)
        }
    };
    let path = Connection::new(junction, grant.path);
    let is_stopped = || situation.is_called_back_by_light(path, grant.agent, distance);
    (distance >= 0.0 && is_stopped()).then_some(first)
}
