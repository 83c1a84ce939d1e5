//! Interaction of junctions and pedestrians: which vehicles have to wait for pedestrians, and which parts of
//! crossings are occupied by admitted vehicles.

use super::Claims;
use super::grants::{Grant, Grants};
use super::request::{Need, Request};
use super::situation::{Given, Situation};
use crate::agents::ClaimColumns;
use crate::records::{AgentIndex, Refusal};
use crate::traffic::people::{Over, People};
use roadwright_scenario::{Connection, ConnectionIndex, JunctionIndex};

/// Minimum time between a vehicle and a pedestrian in each lane of a crossing, s. A vehicle is let
/// in only if it leaves the lane at least this long before a pedestrian arrives there.
const TIME_BEFORE_PEOPLE: f64 = 1.0;
/// A vehicle that would have to brake harder than this for pedestrians continues instead, m/s^2.
/// The same applies to amber lights.
const STOPPING_FOR_PEOPLE: f64 = 3.0;

impl Situation<'_> {
    /// Whether a vehicle has to wait for pedestrians before it drives along the connection at index `at` of
    /// its route. `slack` is the required time between the vehicle and pedestrians, s.
    fn is_kept_by_people(
        &self,
        agent: AgentIndex,
        at: u32,
        connection: Connection,
        slack: f64,
    ) -> bool {
        let (junction, path) = (connection.junction, connection.number);
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
            let distance = taken.along.to - self.rear(agent, at);
            let over = Over {
                across: taken.across,
                leaves: self.time_for(distance, agent, at),
            };
            distance > 0.0 && self.people.are_in_the_way(number, site, over, slack)
        })
    }

    /// Whether a pedestrian is, or soon will be, in the way of vehicles on a connection of a junction.
    pub(super) fn is_walked(&self, connection: Connection) -> bool {
        let (junction, path) = (connection.junction, connection.number);
        let crossings = self.ground.crossings();
        let mut numbers = crossings.of_junction(junction);
        numbers.any(|number| {
            let site = &crossings.sites()[number as usize];
            let taken = site.taken_by_car(path);
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

    /// Whether a requesting vehicle has to wait before a junction because of pedestrians.
    pub(super) fn waits_for_people(&self, request: &Request, need: &Need) -> bool {
        self.is_kept_by_people(
            request.agent,
            need.at,
            Connection::new(need.junction, need.path),
            TIME_BEFORE_PEOPLE,
        )
    }

    /// Whether the holder of a grant has to give the grant back because of pedestrians. This
    /// applies only if the holder has not entered and can still stop. `distance` is the distance
    /// from the holder's front to the stop line, m.
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
    /// Lets pedestrians decide whether to walk. Revokes the grants of vehicles that have to wait for
    /// pedestrians and can still stop.
    pub(super) fn heed_people(
        &mut self,
        given: Given<'_>,
        people: &mut People,
        agents: &mut ClaimColumns<'_>,
    ) {
        // Pedestrians let vehicles go first after a while, so they need the waiting times of
        // vehicles to decide. The grants to revoke follow from their decisions.
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
    /// Parts of a crossing that are occupied by admitted vehicles that have not left the crossing.
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

    /// Finds vehicles that have to give back their grants because of pedestrians. These vehicles
    /// were let in over a busy crossing but have not entered yet.
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
                // Vehicles cannot stand between the junctions of a chain, so only the grant of the first
                // junction is given back.
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

    /// Longest time that a vehicle has waited for pedestrians at a crossing, s. Includes vehicles
    /// that were let in after a long wait and have not entered.
    pub(super) fn kept_by_people(
        &self,
        crossing: u32,
        requests: &[Request],
        situation: &Situation<'_>,
    ) -> f64 {
        let site = &situation.ground.crossings().sites()[crossing as usize];
        let leads_over = |path: ConnectionIndex| site.taken_by_car(path).is_some();
        // Time at a red light does not count as waiting for pedestrians.
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
