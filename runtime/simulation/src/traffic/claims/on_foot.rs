//! How junctions look at people on foot: whom vehicles are kept from driving over, and what vehicles
//! that have been let in take of crossings.

use super::Claims;
use super::grants::{Grant, Grants};
use super::request::{Need, Request};
use super::situation::{Given, Situation};
use crate::agents::ClaimColumns;
use crate::records::{AgentIndex, Refusal};
use crate::traffic::people::{Over, People};
use roadwright_scenario::{Connection, ConnectionIndex, JunctionIndex};

/// A vehicle is let in if it has left a lane of a crossing so long before somebody comes there, s.
const TIME_BEFORE_PEOPLE: f64 = 1.0;
/// Who needs harder braking than this to stop for people goes on, m/s^2: as at amber.
const STOPPING_FOR_PEOPLE: f64 = 3.0;

impl Situation<'_> {
    /// Whether people keep a vehicle from driving along a path of a junction, which is at an index of
    /// its route. `slack`: the time between it and them that is wanted, s.
    fn is_kept_by_people(
        &self,
        agent: AgentIndex,
        at: u32,
        Connection {
            junction,
            number: path,
        }: Connection,
        slack: f64,
    ) -> bool {
        let crossings = self.ground.crossings();
        let mut numbers = crossings.of_junction(junction);
        numbers.any(|number| {
            if !self.people.are_at(number) {
                return false;
            }
            let site = &crossings.sites()[number as usize];
            let Some(taken) = site.taken(path, self.is_long(agent)) else {
                return false;
            };
            let way = taken.along.to - self.rear(agent, at);
            let over = Over {
                across: taken.across,
                leaves: self.time_for(way, agent, at),
            };
            way > 0.0 && self.people.are_in_the_way(number, site, over, slack)
        })
    }

    /// Whether somebody on foot is, or within a moment will be, where one drives along a path of a
    /// junction.
    pub(super) fn is_walked(
        &self,
        Connection {
            junction,
            number: path,
        }: Connection,
    ) -> bool {
        let crossings = self.ground.crossings();
        let mut numbers = crossings.of_junction(junction);
        numbers.any(|number| {
            let site = &crossings.sites()[number as usize];
            let taken = site.taken(path, false);
            let over = taken.map(|taken| Over {
                across: taken.across,
                leaves: 0.0,
            });
            let is_walked = |over| {
                let people = self.people;
                people.are_in_the_way(number, site, over, TIME_BEFORE_PEOPLE)
            };
            self.people.are_at(number) && over.is_some_and(is_walked)
        })
    }

    /// Whether people keep a vehicle that asks out of a junction.
    pub(super) fn waits_for_people(&self, request: &Request, need: &Need) -> bool {
        self.is_kept_by_people(
            request.agent,
            need.at,
            Connection::new(need.junction, need.path),
            TIME_BEFORE_PEOPLE,
        )
    }

    /// Whether the holder of a grant that has not entered, and whose front is so far before the stop
    /// line, m, has to give it back to people: it can still stop.
    pub(super) fn is_stopped_by_people(
        &self,
        junction: JunctionIndex,
        grant: &Grant,
        distance: f64,
    ) -> bool {
        let speed = self.speed(grant.agent);
        let braking = self.braking(grant.agent, STOPPING_FOR_PEOPLE);
        let can_stop = speed * speed <= 2.0 * braking * (distance - speed * self.period).max(0.0);
        can_stop
            && self.is_kept_by_people(
                grant.agent,
                grant.at,
                Connection::new(junction, grant.path),
                0.0,
            )
    }
}

impl Claims {
    /// Lets people say whether they want to walk, and takes back what they do not leave to drivers who
    /// can still stop.
    pub(super) fn heed_people(
        &mut self,
        given: Given<'_>,
        people: &mut People,
        agents: &mut ClaimColumns<'_>,
    ) {
        // How long vehicles have been kept is needed before people decide: after a while people let
        // them go first. What people take back is found after that, with what they want.
        let situation = given.beside(people).with(agents.lent());
        let busy = people.busy().iter();
        let (grants, requests) = (&self.grants, self.requests.all());
        let kept = busy.map(|&number| grants.kept_by_people(number, requests, &situation));
        self.scratch.kept.clear();
        self.scratch.kept.extend(kept);
        people.decide(
            given.clock,
            given.fixed.ground,
            given.signals,
            &self.scratch.kept,
        );
        let situation = given.beside(people).with(agents.lent());
        let (grants, revoked) = (&self.grants, &mut self.scratch.revoked);
        grants.find_kept_by_people(people.busy(), &situation, revoked);
        self.take_back(agents);
    }
}

impl Grants {
    /// What vehicles that have been let in, and have not left a crossing, take of it.
    pub(super) fn over(&self, crossing: u32, situation: &Situation<'_>) -> Vec<Over> {
        let site = &situation.ground.crossings().sites()[crossing as usize];
        let grants = self.of(site.junction).iter();
        let over = grants.filter_map(|grant| {
            let taken = site.taken(grant.path, situation.is_long(grant.agent))?;
            let distance = taken.along.to - situation.rear_of(grant);
            (distance > 0.0).then(|| Over {
                across: taken.across,
                leaves: situation.time_for(distance, grant.agent, grant.at)
                    + f64::from(grant.delay),
            })
        });
        over.collect()
    }

    /// Who has been let in over a busy crossing, has not entered, and has to give its grants back to
    /// people.
    pub(super) fn find_kept_by_people(
        &self,
        busy: &[u32],
        situation: &Situation<'_>,
        out: &mut Vec<(AgentIndex, u32)>,
    ) {
        out.clear();
        for &crossing in busy {
            let junction = situation.ground.crossings().sites()[crossing as usize].junction;
            for grant in self.of(junction) {
                // Between the junctions of a chain nobody can stand: only the first one is given back.
                let may_stop = grant.is_invited && grant.is_first;
                let distance = situation.before_line(junction, grant);
                if may_stop
                    && distance >= 0.0
                    && situation.is_stopped_by_people(junction, grant, distance)
                {
                    out.push((grant.agent, grant.at));
                }
            }
        }
    }

    /// For how long the vehicle that people keep longest from driving over a crossing has waited, s; one
    /// that has been let in after a long wait, and has not entered, counts as well.
    pub(super) fn kept_by_people(
        &self,
        crossing: u32,
        requests: &[Request],
        situation: &Situation<'_>,
    ) -> f64 {
        let site = &situation.ground.crossings().sites()[crossing as usize];
        let leads_over = |path: ConnectionIndex| site.taken(path, false).is_some();
        // Time at a red light is no wait for people.
        let with_green = |age: f64| match situation.ground.signals(site.junction) {
            Some(_) => age.min(situation.signals.time_in_stage(
                situation.ground,
                site.junction,
                situation.time(),
            )),
            None => age,
        };
        let asking = requests.iter().filter(|request| {
            let Connection {
                junction,
                number: path,
            } = request.path;
            let refused = situation.agents.claim[request.agent.index()].refused;
            junction == site.junction && refused == Refusal::People && leads_over(path)
        });
        let asking = asking.map(|request| request.age(situation));
        let grants = self.of(site.junction).iter();
        let let_in =
            grants.filter(|grant| grant.is_invited && !grant.has_entered && leads_over(grant.path));
        let let_in = let_in.map(|grant| {
            let claim = &situation.agents.claim[grant.agent.index()];
            let since = if claim.asked_for == grant.at {
                claim.asked_since()
            } else {
                situation.step
            };
            situation.step.saturating_sub(since) as f64 * situation.dt
        });
        asking.chain(let_in).map(with_green).fold(0.0, f64::max)
    }
}
