//! Edits of roads in a running world. An agent whose lanes still exist keeps its route.
//!
//! First, the lanelets of both grounds are matched (`LaneGraph::counterparts`). Then each agent
//! gets the first of these options that is possible:
//!
//! 1. the same route with the new numbers of its lanelets, at the same place on its lane;
//! 2. another route to its goals from a lane under it, preferably the lane that it follows;
//! 3. removal.
//!
//! Grants follow the routes. They stay valid at unchanged junctions and are issued again at changed
//! ones.

use super::Editing;
use crate::agents::AgentsRef;
use crate::demand::{RunningFlow, Start};
use crate::messages::LogLine;
use crate::open_ground::MixedTrips;
use crate::records::{AgentIndex, LanePosition, Phase, Progress};
use crate::route::{Goal, Route};
use crate::setup::trip;
use crate::traffic::{Claims, Encroachment, Index, RouteConnection};
use roadwright_geometry::DVec2;
use roadwright_ground::{Ground, LANE_REACH, Spot};
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use roadwright_scenario::{AgentId, Connection, JunctionIndex, Scenario};
use std::collections::BTreeSet;

/// A place counts as being on a lane if it is at most this far beyond the end of the lane, m.
const END_REACH: f64 = 0.5;

/// Maps places on the ground before an edit to the ground after it.
struct Moves<'a> {
    before: &'a Ground,
    after: &'a Ground,
    /// New lanelet of each old lanelet, indexed by the old one.
    lanelets: Vec<LaneletIndex>,
}

/// Extent to which an agent keeps its route.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Keeps {
    /// Nothing, because the agent needs a new route.
    Nothing,
    /// The agent keeps its route, but not its current lane, because the lane has moved.
    Route,
    /// The agent keeps its route and its current lane. The shape of the lane is unchanged.
    Line,
}

impl<'a> Moves<'a> {
    fn new(before: &'a Ground, after: &'a Ground) -> Self {
        Self {
            before,
            after,
            lanelets: before.graph().counterparts(after.graph()),
        }
    }

    fn lanelet(&self, id: LaneletIndex) -> Option<LaneletIndex> {
        let moved = *self.lanelets.get(id.index())?;
        (moved != NO_LANELET).then_some(moved)
    }

    /// Maps a place on or beside a lanelet to the new ground. `None` if the lane was deleted, has
    /// moved away, or ends before the place.
    fn spot(&self, lanelet: LaneletIndex, s: f64, place: DVec2) -> Option<Spot> {
        let moved = self.lanelet(lanelet)?;
        let (old, new) = (self.before.line(lanelet), self.after.line(moved));
        let guess = (s / old.length() * new.length()).clamp(0.0, new.length());
        let (s, t) = new.project(place, guess);
        let is_there = (-END_REACH..=new.length() + END_REACH).contains(&s) && t.abs() < LANE_REACH;
        is_there.then(|| (moved, s.clamp(0.0, new.length()), t))
    }

    fn has_same_shape(&self, lanelet: LaneletIndex, moved: LaneletIndex) -> bool {
        self.before
            .line(lanelet)
            .points()
            .eq(self.after.line(moved).points())
    }

    /// Maps a position along a lanelet to the new ground, even if another lane has replaced the old
    /// one.
    fn place_on_lane(&self, lanelet: LaneletIndex, s: f64) -> Option<(LaneletIndex, f64)> {
        if let Some(moved) = self.lanelet(lanelet)
            && self.has_same_shape(lanelet, moved)
        {
            return Some((moved, s));
        }
        let pose = self.before.line(lanelet).pose(s);
        let near = || {
            let spots = self.after.finder().under(self.after.graph(), pose);
            spots.first().copied()
        };
        let spot = self.spot(lanelet, s, pose.position).or_else(near);
        spot.map(|(lanelet, s, _)| (lanelet, s))
    }

    fn goal(&self, goal: &Goal) -> Option<Goal> {
        match *goal {
            Goal::Lane { lanelet, s } => {
                let (lanelet, s) = self.place_on_lane(lanelet, s)?;
                Some(Goal::Lane { lanelet, s })
            }
            Goal::Leave { lanelet, s } => {
                let (lanelet, s) = self.place_on_lane(lanelet, s)?;
                Some(Goal::Leave { lanelet, s })
            }
            Goal::Join { lanelet, s } => {
                let (lanelet, s) = self.place_on_lane(lanelet, s)?;
                Some(Goal::Join { lanelet, s })
            }
            ground @ Goal::Ground(_) => Some(ground),
        }
    }

    fn start(&self, start: Start) -> Option<Start> {
        match start {
            Start::Lane { lanelet, s } => {
                let (lanelet, s) = self.place_on_lane(lanelet, s)?;
                Some(Start::Lane { lanelet, s })
            }
            ground @ Start::Ground(_) => Some(ground),
        }
    }

    /// Converts a route to the new ground: along the same lanes to goals on the same lanes. `None`
    /// if a lane was deleted, no longer leads to the next one, or has stricter access. Lanelets
    /// before `first` and goals that have been reached are not checked. Deleted lanelets before
    /// `first` are replaced by `first`.
    fn route(&self, route: &Route, goals: &[Goal], first: u32, reached: u32) -> Option<Route> {
        let (first, reached) = (first as usize, reached as usize);
        let ahead = route.lanelets[first..].iter().map(|&id| self.lanelet(id));
        let ahead: Vec<LaneletIndex> = ahead.collect::<Option<_>>()?;
        let stand_in = *ahead.first()?;
        let behind = route.lanelets[..first].iter();
        let behind = behind.map(|&id| self.lanelet(id).unwrap_or(stand_in));
        let lanelets: Vec<LaneletIndex> = behind.chain(ahead.iter().copied()).collect();
        let leads_on = |pair: &[LaneletIndex]| {
            let lanelet = self.after.lanelet(pair[0]);
            let is_beside = pair[1] == lanelet.left || pair[1] == lanelet.right;
            is_beside || self.after.leads_to(pair[0], pair[1])
        };
        let is_open = |(&old, &new): (&LaneletIndex, &LaneletIndex)| {
            let (before, after) = (self.before.lanelet(old), self.after.lanelet(new));
            after.access.includes(before.access)
                && after.road_access.strictness() <= before.road_access.strictness()
        };
        let goals_ahead = route.goals.iter().zip(goals).skip(reached);
        let has_same_goals = goals_ahead.into_iter().all(|pair| match pair {
            (&Goal::Lane { lanelet, .. }, &Goal::Lane { lanelet: new, .. })
            | (&Goal::Leave { lanelet, .. }, &Goal::Leave { lanelet: new, .. })
            | (&Goal::Join { lanelet, .. }, &Goal::Join { lanelet: new, .. }) => {
                self.lanelet(lanelet) == Some(new)
            }
            (old, new) => old == new,
        });
        let is_same = has_same_goals
            && ahead.windows(2).all(leads_on)
            // The lanelets already driven are included, because via rules depend on where the agent
            // came from.
            && self.after.graph().keeps_via_rules(&lanelets)
            && route.lanelets[first..].iter().zip(&ahead).all(is_open);
        is_same.then(|| Route {
            goals: goals.into(),
            legs: route.legs.clone(),
            lanelets: lanelets.into(),
        })
    }
}

impl Editing<'_> {
    /// Moves all agents to the new roads. Agents whose lanes all still exist keep their routes. The
    /// others are rerouted from their places. Starts and goals are taken from the scenario; those
    /// of random trips stay in place.
    pub(super) fn take_roads(&mut self, before: &Ground, new: &Scenario, flows: &[RunningFlow]) {
        let ground = self.ground.clone();
        let moves = Moves::new(before, &ground);
        let trips = MixedTrips::new(&ground);
        let told = |id: u64| told_places(id, new, flows, &trips);
        self.move_departures(&moves, told);
        let claims = Claims::new(ground.junction_count());
        let held = std::mem::replace(&mut self.traffic.claims, claims);
        let time = self.clock.time();
        self.traffic.signals.take_over(before, &ground, time);
        let registry = self.modules.registry.clone();
        let faults = self.modules.signals.take_over(before, &ground, &registry);
        for (module, text) in faults {
            self.messages.log.write_fault(LogLine {
                time,
                agent: 0,
                module,
                text,
                is_fault: true,
            });
        }
        // The new graph has other numbers for conflicts and lanelets. The index is refilled when
        // all agents have their places.
        self.traffic.encroachment = Encroachment::default();
        self.traffic.index = Index::new(ground.graph().lanelets().len());
        self.traffic.delays.move_to(&moves.lanelets, ground.graph());
        let firsts = held.grants.firsts(self.agents.census().capacity());
        let mut keeps = vec![Keeps::Nothing; self.agents.census().capacity()];
        let mut lost = Vec::new();
        for agent in self.agents.census().by_growing_id() {
            let index = agent.index();
            let Some(goals) = self.goals_after(agent, &moves, told) else {
                self.remove(agent);
                continue;
            };
            if !self.agents.position[index].is_on_lane() {
                self.travel(agent).move_goals(&goals);
                continue;
            }
            keeps[index] = self.move_along(agent, &goals, &moves, firsts[index]);
            if keeps[index] == Keeps::Nothing {
                self.travel(agent).move_goals(&goals);
                lost.push(agent);
            }
        }
        let ahead = self.take_over_claims(&held, &firsts, &moves, &keeps);
        // Places of the rerouted agents on their old routes, where their new routes begin.
        let mut passed = vec![None; keeps.len()];
        for agent in lost {
            let position = &self.agents.position[agent.index()];
            let old = OldPlace {
                at: self.agents.progress[agent.index()].at,
                lanelet: position.lanelet,
                s: position.s,
            };
            passed[agent.index()] = Some(old);
            self.start_anew(agent, &moves);
            // An agent that is inside a junction gets its claim back by its position and not by its
            // id.
            self.traffic.claims.forget(agent);
            self.keep_inside(agent, old, &held, &moves);
        }
        self.take_over_alleys(&held, &moves, &keeps, &passed);
        self.hold_over_lines();
        self.let_in_again(ahead);
    }

    /// Goals of an agent on the new roads; `None` if a goal that it has not reached was deleted.
    fn goals_after(
        &self,
        agent: AgentIndex,
        moves: &Moves<'_>,
        told: impl Fn(u64) -> Option<(Start, Vec<Goal>)>,
    ) -> Option<Vec<Goal>> {
        let index = agent.index();
        let progress = &self.agents.progress[index];
        let route = self.routes.get(progress.route);
        let told = (!progress.has_own_goals)
            .then(|| told(self.agents.identity[index].id))
            .flatten();
        if let Some((_, goals)) = told.filter(|places| places.1.len() == route.goals.len()) {
            return Some(goals);
        }
        let goals = (0u32..).zip(&*route.goals).map(|(number, goal)| {
            // A reached goal only has to be counted, so a goal on the ground at its position can
            // replace it.
            let behind = || Goal::Ground(goal.position(moves.before.graph()));
            let is_behind = number < progress.reached;
            moves.goal(goal).or_else(|| is_behind.then(behind))
        });
        goals.collect()
    }

    /// Moves starts and goals of waiting agents to the new roads. An agent whose start or goals no longer
    /// exist is cancelled.
    fn move_departures(
        &mut self,
        moves: &Moves<'_>,
        told: impl Fn(u64) -> Option<(Start, Vec<Goal>)>,
    ) {
        let mut lost = BTreeSet::new();
        for departure in self.demand.departures.iter_mut() {
            let places = told(departure.id).or_else(|| {
                let goals = departure.goals.iter().map(|goal| moves.goal(goal));
                moves.start(departure.start).zip(goals.collect())
            });
            match places {
                Some((start, goals)) => (departure.start, departure.goals) = (start, goals),
                None => {
                    lost.insert(departure.id);
                }
            }
        }
        self.cancel(&lost);
    }

    /// Keeps an agent on its route, whose lanelets may have new numbers and shapes. `held` is the
    /// index of the first lanelet for which the agent holds a grant. Returns to what extent the
    /// agent keeps the route.
    fn move_along(
        &mut self,
        agent: AgentIndex,
        goals: &[Goal],
        moves: &Moves<'_>,
        held: u32,
    ) -> Keeps {
        let index = agent.index();
        let LanePosition {
            lanelet,
            leaving,
            s,
            t,
        } = self.agents.position[index];
        let progress = &self.agents.progress[index];
        let route = self.routes.get(progress.route);
        // The rear of the vehicle may still be on a connection that it was granted.
        let first = held.min(progress.at);
        let Some(moved) = moves.route(route, goals, first, progress.reached) else {
            return Keeps::Nothing;
        };
        let same = moves.lanelet(lanelet);
        let same = same.filter(|&moved| moves.has_same_shape(lanelet, moved));
        let spot = match same {
            Some(moved) => Some((moved, s, t)),
            None => {
                let place = self.bodies(moves.before).pose(agent).position;
                moves.spot(lanelet, s, place)
            }
        };
        let Some((lanelet, s, t)) = spot else {
            return Keeps::Nothing;
        };
        let goal_moves = match (route.goals.last(), moved.goals.last()) {
            (Some(Goal::Lane { s: before, .. }), Some(Goal::Lane { s, .. })) => s != before,
            _ => false,
        };
        if goal_moves {
            // An agent that waits at its goal checks again whether it is still there.
            self.agents.identity[index].phase = Phase::Driving;
        }
        self.travel(agent).move_to(moved);
        self.agents.position[index] = LanePosition {
            lanelet,
            leaving: moves.lanelet(leaving).unwrap_or(NO_LANELET),
            s,
            t,
        };
        match same {
            Some(_) => Keeps::Line,
            None => Keeps::Route,
        }
    }

    /// Carries grants over an edit. At unchanged junctions, agents that keep their routes keep their grants; at
    /// changed junctions, only agents inside keep them. Returns the other claims, which `let_in_again` tries to
    /// restore.
    fn take_over_claims(
        &mut self,
        held: &Claims,
        firsts: &[u32],
        moves: &Moves<'_>,
        keeps: &[Keeps],
    ) -> Vec<Wanted> {
        let routes = &*self.routes;
        let agents = &mut *self.agents;
        let lanelet = |progress: &[Progress], agent: AgentIndex, at: u32| {
            let route = routes.get(progress[agent.index()].route);
            (keeps[agent.index()] != Keeps::Nothing)
                .then(|| route.lanelet(at))
                .flatten()
        };
        let claims = &mut self.traffic.claims;
        let moved = |id| moves.lanelet(id);
        claims.take_over(held, moved, |agent, junction, at| {
            let path = moves
                .after
                .contested(lanelet(&agents.progress, agent, at)?)?;
            let exit = lanelet(&agents.progress, agent, at + 1)?;
            let is_same = moves
                .after
                .has_law_of(path.junction, moves.before, junction);
            is_same.then_some((path, exit))
        });
        // Agents inside come first, by their old tickets. The others follow by the time of their
        // requests, which is the order in which the junction would have admitted them.
        let tickets = held.grants.tickets(agents.census().capacity());
        let mut wanted = wanted_claims(agents.lent(), claims, firsts, &tickets, moves, lanelet);
        wanted.sort_unstable_by_key(|wanted| (wanted.order, wanted.place));
        let ahead = wanted.partition_point(|wanted| !wanted.is_ahead());
        let ahead = wanted.split_off(ahead);
        // The grant was for the old shape of the connection. If the shape has changed,
        // `hold_over_lines` issues tickets by the places of all agents in the junction. With the
        // old tickets, an agent could be let ahead of another agent that it stands behind.
        let is_under = |one: &Wanted| one.place == agents.progress[one.agent.index()].at;
        let is_moved = |one: &&Wanted| is_under(one) && keeps[one.agent.index()] != Keeps::Line;
        let moved: BTreeSet<JunctionIndex> = (wanted.iter().filter(is_moved))
            .map(|one| one.path.junction)
            .collect();
        for one in &wanted {
            if !is_under(one) || !moved.contains(&one.path.junction) {
                one.hold(claims);
            }
        }
        ahead
    }

    /// Carries alleys over an edit. A rerouted agent keeps the alleys that it is inside. It also
    /// keeps the alleys that its new route reaches along the same lanes, unless it has to request a
    /// junction before these alleys again. `passed` is the place of each rerouted agent on its old
    /// route.
    fn take_over_alleys(
        &mut self,
        held: &Claims,
        moves: &Moves<'_>,
        keeps: &[Keeps],
        passed: &[Option<OldPlace>],
    ) {
        let (agents, routes) = (self.agents.lent(), &*self.routes);
        let place = |agent: AgentIndex, at: u32| {
            let index = agent.index();
            if !agents.drives(agent) {
                return None;
            }
            let (progress, claim) = (&agents.progress[index], &agents.claim[index]);
            let at = at.checked_sub(passed[index].map_or(0, |old| old.at))?;
            let route = routes.get(progress.route);
            let is_open = |place: u32| {
                let lanelet = route.lanelet(place);
                place < claim.granted_to
                    || lanelet.is_some_and(|id| moves.after.contested(id).is_none())
            };
            let is_kept = keeps[index] != Keeps::Nothing || (progress.at + 1..=at).all(is_open);
            Some((at, route.lanelet(at).filter(|_| is_kept)?))
        };
        let grounds = [moves.before, moves.after];
        let alleys = &mut self.traffic.claims.alleys;
        alleys.take_over(&held.alleys, grounds, |id| moves.lanelet(id), place);
        for agent in agents.by_growing_id() {
            let index = agent.index();
            let position = &agents.position[index];
            let Some(old) = passed[index].filter(|_| agents.drives(agent) && position.is_on_lane())
            else {
                continue;
            };
            let inside = held.alleys.inside_up_to(agent, old.at, moves.before);
            let Some(remaining) = inside.map(|to| to - old.s) else {
                continue;
            };
            let (route, at) = (
                routes.get(agents.progress[index].route),
                agents.progress[index].at,
            );
            let mut begin = -position.s;
            for at in at.. {
                let Some(lanelet) = route.lanelet(at).filter(|_| begin < remaining) else {
                    break;
                };
                alleys.hold_inside(agent, at, lanelet, remaining - begin, moves.after);
                begin += moves.after.length(lanelet);
            }
        }
    }

    /// Restores the old ticket of a rerouted agent that is still on the same connection of an
    /// unchanged junction.
    fn keep_inside(&mut self, agent: AgentIndex, old: OldPlace, held: &Claims, moves: &Moves<'_>) {
        let progress = &self.agents.progress[agent.index()];
        let position = &self.agents.position[agent.index()];
        if !self.agents.census().drives(agent)
            || moves.lanelet(old.lanelet) != Some(position.lanelet)
        {
            return;
        }
        let before = moves.before.contested(old.lanelet);
        let paths = before.zip(moves.after.contested(position.lanelet));
        let exit = self.routes.get(progress.route).lanelet(progress.at + 1);
        let Some(((before, path), exit)) = paths.zip(exit) else {
            return;
        };
        if moves
            .after
            .has_law_of(path.junction, moves.before, before.junction)
        {
            let route = RouteConnection {
                agent,
                path,
                at: progress.at,
                exit,
            };
            let grants = &mut self.traffic.claims.grants;
            grants.keep_inside(&held.grants, before.junction, old.at, route);
        }
    }

    /// Restores the claims of agents that are not inside a junction, unless they conflict with another claim.
    /// The other agents have to request again.
    fn let_in_again(&mut self, wanted: Vec<Wanted>) {
        let claims = &mut self.traffic.claims;
        for one in wanted {
            let claim = &mut self.agents.claim[one.agent.index()];
            // An earlier connection of this agent was refused, so it cannot get to this one.
            if one.place >= claim.granted_to
                || claims.grants.has(one.agent, one.path.junction, one.place)
            {
                continue;
            }
            if claims
                .grants
                .are_in_conflict(one.agent, one.path, self.ground)
            {
                claim.granted_to = one.place;
                claims.forget_from(one.agent, one.place);
            } else {
                one.hold(claims);
            }
        }
    }

    /// Reroutes an agent from a lane at its position. The lane that it follows is preferred.
    fn start_anew(&mut self, agent: AgentIndex, moves: &Moves<'_>) {
        let index = agent.index();
        let LanePosition { lanelet, s, .. } = self.agents.position[index];
        // The agent's lanelet index still refers to the old lane graph, so its pose is computed on
        // the old ground.
        let pose = self.bodies(moves.before).pose(agent);
        let own = moves.spot(lanelet, s, pose.position);
        // If the junction has grown, its connections replace the end of the agent's lane, so the
        // agent may be on a connection now.
        let route = self.routes.get(self.agents.progress[index].route);
        let next = route.lanelet(self.agents.progress[index].at + 1);
        let ahead = || next.and_then(|next| moves.spot(next, 0.0, pose.position));
        let own = own.or_else(ahead);
        if !own.is_some_and(|spot| self.start_over(agent, &[spot])) {
            let (graph, finder) = (moves.after.graph(), moves.after.finder());
            if !self.start_over(agent, &finder.under(graph, pose)) {
                self.remove(agent);
            }
        }
    }

    /// Gives the agent a new route to its goals from the first suitable lanelet under it, without any grants.
    /// Returns whether a route was found.
    pub(super) fn start_over(&mut self, agent: AgentIndex, spots: &[Spot]) -> bool {
        let index = agent.index();
        let progress = self.agents.progress[index];
        let goals = self.routes.get(progress.route).goals.clone();
        let found = spots.iter().find_map(|&(lanelet, s, t)| {
            let start = Route {
                goals: goals.clone(),
                lanelets: [lanelet].into(),
                ..Route::default()
            };
            let asking = self.asking(agent);
            let route = asking.replanned(&start, progress.reached, 0, s.max(0.0))?;
            Some((
                route,
                LanePosition {
                    lanelet,
                    s,
                    t,
                    ..LanePosition::default()
                },
            ))
        });
        let Some((route, position)) = found else {
            return false;
        };
        let exit = route.lanelet(1);
        let step = self.clock.step;
        self.travel(agent).start_over(route, step);
        self.agents.position[index] = position;
        self.agents.identity[index].phase = Phase::Driving;
        let inside = self.ground.contested(position.lanelet);
        if let (Some(path), Some(exit)) = (inside, exit) {
            self.agents.claim[index].granted_to = 1;
            self.traffic.claims.grants.hold_inside(RouteConnection {
                agent,
                path,
                at: 0,
                exit,
            });
        }
        true
    }
}

/// Place of an agent on its old route.
#[derive(Debug, Clone, Copy)]
struct OldPlace {
    /// Index of the lanelet in the route.
    at: u32,
    lanelet: LaneletIndex,
    /// Distance along the lanelet, m.
    s: f64,
}

/// A connection that an agent does not yet hold on the new roads, although it was granted to the
/// agent or lies under the agent.
struct Wanted {
    /// Sorting key: whether the connection is ahead of the agent, the agent's old ticket, the time
    /// of the request, and the agent's id.
    order: (bool, u64, u64, u64),
    /// Index of the connection in the agent's route.
    place: u32,
    agent: AgentIndex,
    /// Junction and connection on the new ground.
    path: Connection,
    exit: LaneletIndex,
}

impl Wanted {
    fn is_ahead(&self) -> bool {
        self.order.0
    }

    fn hold(&self, claims: &mut Claims) {
        let route = RouteConnection {
            agent: self.agent,
            path: self.path,
            at: self.place,
            exit: self.exit,
        };
        claims.grants.hold(route, !self.is_ahead());
    }
}

/// Returns all claims that were granted on the old roads but are not yet held on the new ones.
/// `lanelet` returns the lanelet at an index of an agent's route, if the agent keeps the route.
fn wanted_claims(
    agents: AgentsRef<'_>,
    claims: &Claims,
    firsts: &[u32],
    tickets: &[u64],
    moves: &Moves<'_>,
    lanelet: impl Fn(&[Progress], AgentIndex, u32) -> Option<LaneletIndex>,
) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for agent in agents.by_growing_id() {
        let index = agent.index();
        let (at, claim) = (agents.progress[index].at, &agents.claim[index]);
        // The vehicle's rear may still be on the first connection that the agent held, so the
        // search starts there.
        let first = firsts[index].min(at);
        for place in first..claim.granted_to.max(at + 1) {
            let Some(id) = lanelet(agents.progress, agent, place) else {
                continue;
            };
            let exit = lanelet(agents.progress, agent, place + 1);
            if let (Some(path), Some(exit)) = (moves.after.contested(id), exit)
                && !claims.grants.has(agent, path.junction, place)
            {
                let id = agents.identity[index].id;
                wanted.push(Wanted {
                    order: (place > at, tickets[index], claim.asked_since(), id),
                    place,
                    agent,
                    path,
                    exit,
                });
            }
        }
    }
    wanted
}

/// Start and goals of an agent or flow in the scenario; `None` for random trips.
fn told_places(
    id: u64,
    new: &Scenario,
    flows: &[RunningFlow],
    trips: &MixedTrips<'_>,
) -> Option<(Start, Vec<Goal>)> {
    if let Some(flow) = flows.iter().find(|flow| flow.owns(id)) {
        return Some((flow.start, flow.goals.clone()));
    }
    let id = AgentId(u32::try_from(id).ok()?);
    trip(new, trips, id, new.agents().get(&id)?).ok()
}
