//! Monitors compliance by finding vehicles that enter without a grant or at a red light. Also finds
//! vehicles that approach signals.

use super::grants::{Grants, RouteConnection};
use super::request::{Need, Requests};
use super::situation::Situation;
use super::{Claims, Scratch};
use crate::records::{AgentIndex, Refusal, Statistics};
use crate::traffic::signals::Arrival;
use roadwright_scenario::junction::Sign;
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{Connection, JunctionIndex};

/// An agent that is in a junction without having been let in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Intruder {
    pub(super) agent: AgentIndex,
    pub(super) path: Connection,
    /// Index of the connection in the agent's route.
    pub(super) at: u32,
}

impl Claims {
    /// Counts vehicles that have entered since the last step. Issues grants to vehicles that are inside
    /// without having been let in, so that others keep clear. These vehicles pass first because they are
    /// already inside.
    pub(super) fn watch(&mut self, statistics: &[Statistics], situation: &Situation<'_>) {
        let (entries, counts) = (&mut self.entries, &mut self.counts);
        self.grants.for_each_busy(|junction, grants| {
            for grant in grants {
                if grant.has_entered || situation.before_line(junction, grant) >= 0.0 {
                    continue;
                }
                grant.has_entered = true;
                entries.note(junction, grant, situation);
                let is_red = !grant.is_on_red
                    && situation.light(Connection::new(junction, grant.path)).is_red()
                    // A vehicle that stops before a narrow bend has no other stop line after it.
                    && situation.law_from(grant) == Some(grant.at);
                counts.red_passed += u64::from(is_red);
            }
        });
        // Sorted by id, so that they get consecutive tickets in this order.
        let intruders = self.requests.intruders_mut();
        intruders
            .sort_unstable_by_key(|intruder| situation.agents.identity[intruder.agent.index()].id);
        for intruder in intruders {
            let junction = intruder.path.junction;
            if self.grants.has(intruder.agent, junction, intruder.at) {
                continue;
            }
            // A vehicle that spawned in the junction, or with its front in it, has not entered it.
            // Such a vehicle is recognised because its rear axle reaches the junction before the
            // vehicle has driven the distance between front and rear axle.
            let agent = intruder.agent;
            let driven = statistics[agent.index()].distance;
            if intruder.at > 0 && driven >= situation.vehicle_type(agent).front {
                self.counts.breaches += 1;
                let sign = situation.sign(intruder.path);
                self.counts.stops_missed += u64::from(sign == Sign::Stop);
                let is_red = situation.light(intruder.path).is_red();
                self.counts.red_passed += u64::from(is_red);
            }
            let route = situation.route(intruder.agent);
            // If the route ends in the junction, there is no lane beyond, so the connection itself is used as
            // the exit.
            let beyond = route.lanelet(intruder.at + 1);
            let Some(exit) = beyond.or_else(|| route.lanelet(intruder.at)) else {
                continue;
            };
            self.grants.hold_inside(RouteConnection {
                agent: intruder.agent,
                path: intruder.path,
                at: intruder.at,
                exit,
            });
        }
    }
}

/// Agents that approach signals, as input for the signals.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Arrivals {
    found: Scratch<Finding>,
}

#[derive(Debug, Clone, Default)]
struct Finding {
    /// Whether junctions have made decisions in this step.
    are_new: bool,
    arrivals: Vec<Arrival>,
    /// Lanes before signals whose first vehicle has no room beyond the junction.
    blocked: Vec<LaneletIndex>,
    needs: Vec<Need>,
}

impl Arrivals {
    /// Records whether junctions make decisions in this step.
    pub(super) fn note_decision(&mut self, decides: bool) {
        self.found.are_new = decides;
    }

    /// Arrivals in this step; `None` if junctions make no decisions in this step.
    pub(super) fn of_this_step(&self) -> Option<&[Arrival]> {
        self.found.are_new.then_some(&self.found.arrivals)
    }

    /// Finds the vehicles that approach signals, including vehicles that have been let in but have not
    /// entered.
    pub(super) fn find(&mut self, requests: &Requests, grants: &Grants, situation: &Situation<'_>) {
        let Finding {
            arrivals,
            blocked,
            needs,
            ..
        } = &mut *self.found;
        let approaches = requests.approaches();
        arrivals.clear();
        let has_signals =
            |junction: JunctionIndex| situation.ground.signal_group_of(junction).is_some();
        let near = || {
            let all = approaches.iter();
            all.filter(|other| has_signals(other.path.junction))
        };
        blocked.clear();
        let heads = near().filter(|head| situation.lacks_room(head.agent));
        blocked.extend(heads.filter_map(|head| situation.lane_before(head.agent, head.at)));
        blocked.sort_unstable();
        let waiting = |(agent, at): (AgentIndex, u32), path, before_cut: f64, setback| Arrival {
            path,
            distance: before_cut - setback,
            speed: situation.speed(agent),
            has_room: !situation.lacks_room(agent)
                && !situation.is_behind_one_of(agent, at, blocked),
        };
        arrivals.extend(near().map(|other| {
            let setback = situation.setback(other.path);
            waiting((other.agent, other.at), other.path, other.distance, setback)
        }));
        // If there is a narrow bend before the signals, vehicles wait before the bend.
        for request in requests.all() {
            if situation.ground.is_ruled(request.path.junction) {
                continue;
            }
            situation.needs(request, needs);
            let path = needs
                .iter()
                .find(|need| need.has_law && has_signals(need.junction));
            let before_cut = -situation.front(request.agent, request.at);
            let setback = situation.setback(request.path);
            arrivals.extend(path.map(|need| {
                waiting(
                    (request.agent, request.at),
                    Connection::new(need.junction, need.path),
                    before_cut,
                    setback,
                )
            }));
        }
        for &junction in (grants.busy().iter()).filter(|&&junction| has_signals(junction)) {
            let outside = grants.of(junction).iter();
            let outside = outside.filter(|grant| !grant.has_entered && grant.is_invited);
            arrivals.extend(outside.map(|grant| Arrival {
                path: Connection::new(junction, grant.path),
                distance: situation.before_line(junction, grant),
                speed: situation.speed(grant.agent),
                has_room: true,
            }));
        }
    }
}

impl Situation<'_> {
    /// Whether an agent cannot enter because there is no room beyond the junction.
    fn lacks_room(&self, agent: AgentIndex) -> bool {
        let refused = self.agents.claim[agent.index()].refused;
        matches!(refused, Refusal::NoRoom | Refusal::OffLanes)
    }

    /// Whether an agent stands behind the first vehicle on one of `lanes`, so that it can only
    /// drive on when that vehicle does. `lanes` is sorted.
    fn is_behind_one_of(&self, agent: AgentIndex, at: u32, lanes: &[LaneletIndex]) -> bool {
        let is_there = |lane| lanes.binary_search(&lane).is_ok();
        let is_behind = self.agents.claim[agent.index()].refused == Refusal::NotFirst;
        is_behind && self.lane_before(agent, at).is_some_and(is_there)
    }
}
