//! The grants of junctions. A grant allows an agent to use a connection, and its ticket gives the
//! agent's place in the order.

use super::request::{Need, Request};
use super::situation::Situation;
use crate::records::{AgentIndex, are_distinct};
use roadwright_ground::Ground;
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{Connection, ConnectionIndex, JunctionIndex};
use serde::{Deserialize, Serialize};

/// First regular ticket. Lower numbers are for vehicles that are already inside a junction and hold
/// no ticket.
const FIRST_TICKET: u64 = 1 << 32;
/// Difference between consecutive tickets. The numbers in between are for vehicles that are let in
/// later but pass first.
const TICKET_STEP: u64 = 1 << 20;

/// Maximum ticket that is accepted from a save. From this number on, 2^42 more vehicles can be let
/// in before tickets overflow.
const LAST_TICKET: u64 = 1 << 62;

/// Permission for an agent to use a connection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Grant {
    pub(super) agent: AgentIndex,
    /// Index of the connection within its junction.
    pub(super) path: ConnectionIndex,
    /// Index of the connection in the agent's route. It is needed because a route can lead through
    /// a junction twice.
    pub(super) at: u32,
    /// Lanelet beyond the junction.
    pub(super) exit: LaneletIndex,
    /// Position in the order of passing. On conflicting connections, the vehicle with the lower
    /// ticket passes first.
    pub(super) ticket: u64,
    /// Expected delay of the agent because of other vehicles, s.
    pub(super) delay: f32,
    /// Whether the agent's front has reached the connection.
    pub(super) has_entered: bool,
    /// Whether the junction let the agent in. Otherwise, the agent was already inside when its
    /// grant was created.
    pub(super) is_invited: bool,
    /// Whether this is the first grant of a chain of junctions. Signals apply only to the first
    /// grant, and to grants after narrow bends.
    pub(super) is_first: bool,
    /// Whether the agent was let in together with the other vehicles of a ring of full lanes, to
    /// resolve a gridlock.
    pub(super) is_in_ring: bool,
    /// Whether the agent was let in to turn at a red light.
    pub(super) is_on_red: bool,
    /// Position of the agent's front at the time when an edit moved the stop line behind it, m; 0
    /// if this did not happen. The agent may wait at this position for other vehicles, even if the
    /// conflict begins earlier.
    pub(super) stands_at: f32,
    #[serde(skip)]
    pub(super) noted: Noted,
}

/// Cached position of the rear axle of a grant's holder along its connection, m. It is read often,
/// and vehicles do not move during an update. NaN outside updates. It is not part of the state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noted(f64);

impl Noted {
    const NOTHING: Self = Self(f64::NAN);

    /// Distance along the connection, m; `None` outside an update.
    pub(super) fn along(self) -> Option<f64> {
        (!self.0.is_nan()).then_some(self.0)
    }
}

impl Default for Noted {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl PartialEq for Noted {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A connection on the route of an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteConnection {
    pub(crate) agent: AgentIndex,
    pub(crate) path: Connection,
    /// Index of the connection in the agent's route.
    pub(crate) at: u32,
    /// Lane after the connection.
    pub(crate) exit: LaneletIndex,
}

impl Grant {
    /// Creates the grant of a vehicle that is let in alone and has not entered yet.
    fn new(route: RouteConnection, ticket: u64) -> Self {
        Self {
            agent: route.agent,
            path: route.path.number,
            at: route.at,
            exit: route.exit,
            ticket,
            delay: 0.0,
            has_entered: false,
            is_invited: true,
            is_first: true,
            is_in_ring: false,
            is_on_red: false,
            stands_at: 0.0,
            noted: Noted::NOTHING,
        }
    }
}

/// Conditions of a grant. By default, its ticket comes after all others, and entry at a red light
/// is not allowed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Terms {
    /// The new grant is inserted before this ticket; `None` to append it after all others.
    pub(super) before: Option<u64>,
    /// Whether the vehicle enters the first junction at a red light.
    pub(super) is_on_red: bool,
}

/// The grants of all junctions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Grants {
    /// Grants of each junction, in the order of tickets.
    granted: Vec<Vec<Grant>>,
    /// Junctions that have grants. There are few of them, and only these are visited in each step.
    busy: Vec<JunctionIndex>,
    /// Ticket that will be drawn next.
    next_ticket: u64,
}

/// A grant, as other parts of traffic see it.
#[derive(Debug, Clone, Copy)]
pub(in crate::traffic) struct Held {
    pub(in crate::traffic) junction: JunctionIndex,
    pub(in crate::traffic) agent: AgentIndex,
    pub(in crate::traffic) path: ConnectionIndex,
    /// Index of the connection in the agent's route.
    pub(in crate::traffic) at: u32,
}

impl Grants {
    pub(super) fn new(junctions: usize) -> Self {
        Self {
            granted: vec![Vec::new(); junctions],
            busy: Vec::new(),
            next_ticket: FIRST_TICKET,
        }
    }

    /// Grants of one junction, in the order of their tickets.
    pub(super) fn of(&self, junction: JunctionIndex) -> &[Grant] {
        &self.granted[junction.index()]
    }

    pub(super) fn of_mut(&mut self, junction: JunctionIndex) -> &mut [Grant] {
        &mut self.granted[junction.index()]
    }

    /// Junctions that have grants.
    pub(super) fn busy(&self) -> &[JunctionIndex] {
        &self.busy
    }

    /// Calls a function with the grants of each busy junction.
    pub(super) fn for_each_busy(&mut self, mut act: impl FnMut(JunctionIndex, &mut [Grant])) {
        for &junction in &self.busy {
            act(junction, &mut self.granted[junction.index()]);
        }
    }

    /// Number of grants in all junctions.
    pub(super) fn count(&self) -> usize {
        let busy = self.busy.iter();
        busy.map(|&junction| self.of(junction).len()).sum()
    }

    /// All grants of vehicles that were let in.
    pub(in crate::traffic) fn held(&self) -> impl Iterator<Item = Held> + '_ {
        let busy = self.busy.iter();
        busy.flat_map(|&junction| {
            let grants = self.granted[junction.index()].iter();
            let invited = grants.filter(|grant| grant.is_invited);
            invited.map(move |grant| Held {
                junction,
                agent: grant.agent,
                path: grant.path,
                at: grant.at,
            })
        })
    }

    /// The grants of all junctions.
    fn by_junction(&self) -> impl Iterator<Item = (JunctionIndex, &Vec<Grant>)> {
        JunctionIndex::up_to(self.granted.len()).zip(&self.granted)
    }

    /// Returns the contents to be hashed, with ids instead of indices, so that the hash does not
    /// depend on where agents are stored.
    pub(super) fn hashed(&self, id_of: impl Fn(AgentIndex) -> u64) -> impl Serialize {
        let mut granted = Vec::new();
        for (junction, grants) in self.by_junction() {
            // The order of tickets is part of the state, so it is hashed as well.
            granted.extend(grants.iter().map(|grant| {
                let id = id_of(grant.agent);
                let agent = AgentIndex::default();
                (id, junction, Grant { agent, ..*grant })
            }));
        }
        (granted, self.next_ticket)
    }

    /// Whether all grants refer to junctions of this ground and to agents with indices below `agents`.
    pub(super) fn fits(&self, ground: &Ground, agents: usize) -> bool {
        let junctions = ground.junction_count();
        let lanelets = ground.graph().lanelets().len();
        let is_sound = |(junction, grants): (JunctionIndex, &Vec<Grant>)| {
            let paths = ground.law(junction).path_count();
            let exists = |grant: &Grant| {
                (grant.path.index()) < paths
                    && (grant.agent.index()) < agents
                    && grant.exit.index() < lanelets
            };
            grants.is_sorted_by_key(|grant| grant.ticket) && grants.iter().all(exists)
        };
        let mut busy = self.busy.iter();
        self.granted.len() == junctions
            && self.next_ticket <= LAST_TICKET
            && are_distinct(&self.busy)
            && self.by_junction().all(is_sound)
            && busy.all(|&junction| (junction.index()) < junctions)
    }

    /// Grants a vehicle the connection in `route`. The vehicle may already be inside.
    pub(crate) fn hold(&mut self, route: RouteConnection, is_inside: bool) {
        let ticket = self.draw_ticket();
        let grant = Grant {
            has_entered: is_inside,
            ..Grant::new(route, ticket)
        };
        self.add(route.path.junction, grant);
    }

    /// Gives the last ticket to an agent that is on a connection because of an edit. The agent's front is
    /// `front` metres beyond the start of the connection.
    pub(crate) fn hold_standing(&mut self, route: RouteConnection, front: f64) {
        let ticket = self.draw_ticket();
        let grant = Grant {
            has_entered: true,
            is_invited: false,
            stands_at: front as f32,
            ..Grant::new(route, ticket)
        };
        self.add(route.path.junction, grant);
    }

    /// Carries the grant of a vehicle that is inside a junction over an edit that changes the rest
    /// of its route. `at` is the index of the connection in its old route, and `route` the same
    /// connection in its new one. If the vehicle lost its old ticket, it would have to let vehicles
    /// behind it pass first.
    pub(crate) fn keep_inside(
        &mut self,
        held: &Self,
        junction: JunctionIndex,
        at: u32,
        route: RouteConnection,
    ) {
        let mut grants = held.of(junction).iter();
        let own = grants.find(|grant| grant.agent == route.agent && grant.at == at);
        if let Some(grant) = own {
            let grant = Grant {
                path: route.path.number,
                at: route.at,
                exit: route.exit,
                ..*grant
            };
            self.add(route.path.junction, grant);
        }
    }

    fn draw_ticket(&mut self) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += TICKET_STEP;
        ticket
    }

    fn add(&mut self, junction: JunctionIndex, grant: Grant) {
        let list = &mut self.granted[junction.index()];
        if list.is_empty() {
            self.busy.push(junction);
        }
        // The grant is inserted after older grants with the same ticket.
        let place = list.partition_point(|other| other.ticket <= grant.ticket);
        list.insert(place, grant);
    }

    /// Returns a free ticket of a junction just before `ticket` and after all lower tickets.
    fn ticket_before(&self, junction: JunctionIndex, ticket: u64) -> u64 {
        let list = &self.granted[junction.index()];
        let place = list.partition_point(|grant| grant.ticket < ticket);
        let lower = place.checked_sub(1).map(|i| list[i].ticket);
        // Each insertion halves the gap. After twenty insertions, two tickets are equal, and then
        // the order of the list decides.
        let lower = lower.unwrap_or(ticket.saturating_sub(TICKET_STEP));
        lower + (ticket - lower) / 2
    }

    /// Gives the lowest ticket to an agent that is inside a junction without a ticket, so that others keep
    /// clear.
    pub(crate) fn hold_inside(&mut self, route: RouteConnection) {
        let next = self.draw_ticket();
        // The ticket is one below the lowest, because a vehicle that is already inside does not
        // wait for others, and all others wait for it.
        let first = self.granted[route.path.junction.index()].first();
        let ticket = first.map_or(next, |first| first.ticket.saturating_sub(1));
        let grant = Grant {
            has_entered: true,
            is_invited: false,
            ..Grant::new(route, ticket)
        };
        self.add(route.path.junction, grant);
    }

    /// The lowest ticket of each agent; `u64::MAX` for agents without a ticket.
    pub(crate) fn tickets(&self, agents: usize) -> Vec<u64> {
        let mut tickets = vec![u64::MAX; agents];
        for grant in self.granted.iter().flatten() {
            let ticket = &mut tickets[grant.agent.index()];
            *ticket = grant.ticket.min(*ticket);
        }
        tickets
    }

    /// Grants all connections that a request needs, with tickets after all others and without entry
    /// at a red light. Returns the same value as [`Self::grant`].
    pub(super) fn grant_last(&mut self, request: &Request, needs: &[Need]) -> u32 {
        self.grant(request, needs, Terms::default())
    }

    /// Grants all connections that a request needs. Returns the route index before which the agent
    /// may now enter connections.
    pub(super) fn grant(
        &mut self,
        request: &Request,
        needs: &[Need],
        Terms { before, is_on_red }: Terms,
    ) -> u32 {
        // Only a vehicle that needs a single junction may pass before a vehicle that was let in
        // earlier. A chain of junctions always gets a ticket after all others.
        let between = before.zip(needs.first());
        let ticket = match between {
            Some((before, need)) => self.ticket_before(need.junction, before),
            None => self.draw_ticket(),
        };
        for need in needs {
            let is_first = need.at == request.at;
            let route = RouteConnection {
                agent: request.agent,
                path: Connection::new(need.junction, need.path),
                at: need.at,
                exit: need.exit,
            };
            let grant = Grant {
                is_first,
                is_on_red: is_first && is_on_red,
                ..Grant::new(route, ticket)
            };
            self.add(need.junction, grant);
        }
        needs.last().map_or(0, |last| last.at + 1)
    }

    /// Whether a vehicle holds the connection at index `at` of its route.
    pub(crate) fn has(&self, agent: AgentIndex, junction: JunctionIndex, at: u32) -> bool {
        let list = &self.granted[junction.index()];
        list.iter()
            .any(|grant| grant.agent == agent && grant.at == at)
    }

    /// Carries grants over an edit of the roads. For an agent, a junction and a route index,
    /// `moved` returns the new connection and exit, or `None` if the grant is dropped.
    pub(super) fn take_over(
        &mut self,
        held: &Self,
        moved: impl Fn(AgentIndex, JunctionIndex, u32) -> Option<(Connection, LaneletIndex)>,
    ) {
        self.next_ticket = held.next_ticket;
        // Grants are moved one by one, because an edit can split a junction or renumber its connections.
        for (junction, grants) in held.by_junction() {
            for grant in grants {
                if let Some((
                    Connection {
                        junction,
                        number: path,
                    },
                    exit,
                )) = moved(grant.agent, junction, grant.at)
                {
                    self.add(
                        junction,
                        Grant {
                            path,
                            exit,
                            ..*grant
                        },
                    );
                }
            }
        }
        // If an edit merges two junctions, a vehicle may hold two connections with the same ticket.
        // These are sorted by the order in its route.
        for grants in &mut self.granted {
            grants.sort_unstable_by_key(|grant| (grant.ticket, grant.at));
        }
    }

    /// Smallest route index with a grant, for each agent; `u32::MAX` for agents without grants.
    pub(crate) fn firsts(&self, agents: usize) -> Vec<u32> {
        let mut firsts = vec![u32::MAX; agents];
        for grant in self.granted.iter().flatten() {
            let first = &mut firsts[grant.agent.index()];
            *first = grant.at.min(*first);
        }
        firsts
    }

    /// Whether another vehicle holds a connection that conflicts with the given connection of a junction.
    pub(crate) fn are_in_conflict(
        &self,
        agent: AgentIndex,
        connection: Connection,
        ground: &Ground,
    ) -> bool {
        let (junction, path) = (connection.junction, connection.number);
        let mut others = self.granted[junction.index()].iter();
        others.any(|grant| grant.agent != agent && ground.in_conflict(junction, path, grant.path))
    }

    /// Releases the grants of a vehicle from index `at` of its route onwards.
    pub(super) fn forget_from(&mut self, agent: AgentIndex, at: u32) {
        self.keep(|grant| grant.agent != agent || grant.at < at);
    }

    /// Releases all grants of a vehicle.
    pub(super) fn forget(&mut self, agent: AgentIndex) {
        self.keep(|grant| grant.agent != agent);
    }

    /// Keeps the grants for which `stays` returns `true`. A junction without grants is no longer busy.
    pub(super) fn keep(&mut self, stays: impl Fn(&Grant) -> bool) {
        // A junction without grants is removed from the list of busy junctions. `hold` adds it again.
        let granted = &mut self.granted;
        self.busy.retain(|&junction| {
            let list = &mut granted[junction.index()];
            list.retain(&stays);
            !list.is_empty()
        });
    }

    /// Caches the positions of the holders of grants. The cache is valid as long as vehicles do not
    /// move.
    pub(super) fn note_places(&mut self, situation: &Situation<'_>) {
        self.for_each_busy(|_, grants| {
            for grant in grants {
                if situation.agents.drives(grant.agent) {
                    grant.noted = Noted(situation.along(grant.agent, grant.at));
                }
            }
        });
    }

    pub(super) fn forget_places(&mut self) {
        self.for_each_busy(|_, grants| {
            for grant in grants {
                grant.noted = Noted::NOTHING;
            }
        });
    }
}
