//! Requests to planners, and routes built from their answers.

use super::{Goal, Leg, Route};
use crate::records::{AgentIndex, Claim, LanePosition, LaneSpot, Progress};
use roadwright_agent::{Module, Planner, PlannerView, Step};
use roadwright_plugin_api::{PlannerInput, PlannerOutput};
use roadwright_scenario::VehicleClass;
use roadwright_scenario::lane_graph::{LaneletIndex, ROOM_TO_CHANGE};

/// Context for requests to the planner of one agent.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) planner: &'a Module<dyn Planner>,
    pub(crate) view: PlannerView<'a>,
    pub(crate) step: Step<'a>,
    pub(crate) agent: AgentIndex,
    pub(crate) id: u64,
    /// Vehicle class, which determines the reserved lanes that may be used.
    pub(crate) class: VehicleClass,
}

impl Asking<'_> {
    /// Plans the lanelets between two places; `None` if there is no route.
    pub(crate) fn route(&self, input: PlannerInput) -> Option<Vec<LaneletIndex>> {
        self.all(&[input])?.pop()
    }

    /// Returns the answers to all requests; `None` if any request has no answer.
    fn all(&self, inputs: &[PlannerInput]) -> Option<Vec<Vec<LaneletIndex>>> {
        let question = |&input: &PlannerInput| Question {
            agent: self.agent,
            id: self.id,
            input,
        };
        let questions: Vec<Question> = inputs.iter().map(question).collect();
        let answers = ask_all(self.planner, &self.view, &self.step, &questions);
        answers.into_iter().collect()
    }

    /// Replans a route from position `s` on its lanelet `from` to the goals after the first `reached` ones.
    pub(crate) fn replanned(
        &self,
        route: &Route,
        reached: u32,
        from: u32,
        s: f64,
    ) -> Option<Route> {
        let start = route.lanelet(from)?;
        let goals = &route.goals[reached as usize..];
        let inputs = questions(LaneSpot { lanelet: start, s }, goals, self.class)?;
        let answers = self.all(&inputs)?;
        Some(route.with_plan(reached, from, &answers))
    }

    /// Plans a route to new goals that continues after the granted lanelets. If the next goal is
    /// before their end, or if no route leads on from there, the route starts at the agent instead.
    /// Returns the route, and whether the agent has to give up its grants for it.
    pub(crate) fn turned(
        &self,
        route: &Route,
        position: &LanePosition,
        progress: &Progress,
        claim: &Claim,
    ) -> Option<(Route, bool)> {
        let (at, reached) = (progress.at, progress.reached);
        let granted = claim.granted_to.clamp(at, route.lanelets.len() as u32 - 1);
        let s = position.s.max(0.0);
        // The agent should keep to the granted lanelets, because it may be too fast to stop before
        // them, and others wait for it. However, it must not drive past a goal before their end.
        let is_near = match route.next_goal(reached) {
            Some(Goal::Lane { lanelet, s } | Goal::Leave { lanelet, s }) => {
                let ahead = &route.lanelets[at as usize..granted as usize];
                let found = ahead.iter().position(|on| *on == lanelet);
                found.is_some_and(|found| found > 0 || s > position.s)
            }
            _ => false,
        };
        // The granted lanelets end at index `granted`. The plan begins at the start of this
        // lanelet, or at the agent if the agent is already on it.
        let start = if granted == at { s } else { 0.0 };
        if !is_near && let Some(route) = self.replanned(route, reached, granted, start) {
            return Some((route, false));
        }
        Some((self.replanned(route, reached, at, s)?, true))
    }
}

impl Route {
    /// Returns the route up to lanelet `from`, followed by one sequence of lanelets for each remaining goal.
    /// Each sequence begins with the last lanelet of the previous one.
    fn with_plan(&self, reached: u32, from: u32, runs: &[Vec<LaneletIndex>]) -> Self {
        let mut lanelets = self.lanelets[..from as usize].to_vec();
        let mut legs: Vec<Leg> = self.legs.iter().take(reached as usize).cloned().collect();
        legs.resize(reached as usize, Leg::Straight);
        for (number, run) in runs.iter().enumerate() {
            // The lanelet that two runs share appears only once in the route.
            lanelets.extend_from_slice(if number == 0 { run } else { &run[1..] });
            legs.push(Leg::Lanes {
                end: lanelets.len() as u32 - 1,
            });
        }
        Self {
            goals: self.goals.clone(),
            legs: legs.into(),
            lanelets: lanelets.into(),
        }
    }
}

/// Creates the requests for the routes to all goals before the first goal off the lanes. Each route
/// starts at the previous goal. `None` if the next goal is off the lanes.
fn questions(start: LaneSpot, goals: &[Goal], class: VehicleClass) -> Option<Vec<PlannerInput>> {
    let mut from = start;
    let question = |goal: &Goal| {
        let input = goal_input(*goal, from, class)?;
        from = LaneSpot {
            lanelet: input.goal_lanelet.into(),
            s: input.goal_s,
        };
        Some(input)
    };
    let questions: Vec<PlannerInput> = goals.iter().map_while(question).collect();
    (!questions.is_empty() || goals.is_empty()).then_some(questions)
}

/// Creates the request for the route to a goal; `None` if the goal is off the lanes.
pub(crate) fn goal_input(goal: Goal, from: LaneSpot, class: VehicleClass) -> Option<PlannerInput> {
    let LaneSpot { lanelet, s } = goal.on_lane()?;
    Some(PlannerInput {
        lanelet: from.lanelet.number(),
        s: from.s,
        goal_lanelet: lanelet.number(),
        goal_s: s,
        bus: class.number(),
        may_change_first: 1,
    })
}

/// One agent of a batch, which needs a route to all its goals.
pub(crate) struct Trip {
    pub(crate) agent: AgentIndex,
    pub(crate) id: u64,
    pub(crate) start: LaneSpot,
    pub(crate) class: VehicleClass,
}

/// Plans all legs of several agents with one request to their planner. The result for an agent without a
/// route is `None`.
pub(crate) fn plan_legs(
    planner: &Module<dyn Planner>,
    view: &PlannerView<'_>,
    step: &Step<'_>,
    trips: &[(Trip, &Route)],
) -> Vec<Option<Route>> {
    let mut asked = Vec::new();
    let counts: Vec<Option<usize>> = trips
        .iter()
        .map(|(trip, route)| {
            // An agent whose next goal is off the lanes makes no requests and takes no answers below.
            let mut own = questions(trip.start, &route.goals, trip.class)?;
            let LaneSpot { lanelet, s } = trip.start;
            let remaining = view.graph.lanelet(lanelet).length() - s;
            if let Some(first) = own.first_mut() {
                first.may_change_first = u32::from(remaining >= ROOM_TO_CHANGE);
            }
            asked.extend(own.iter().map(|&input| Question {
                agent: trip.agent,
                id: trip.id,
                input,
            }));
            Some(own.len())
        })
        .collect();
    // All agents and goals are in one batch, so that a plugin is called once rather than for each leg.
    let mut answers = ask_all(planner, view, step, &asked).into_iter();
    let mut planned = |((trip, route), count): (&(Trip, &Route), Option<usize>)| {
        // All answers for this agent are consumed, so that the iterator is at the answers for the next agent.
        let own: Vec<_> = answers.by_ref().take(count?).collect();
        let runs: Vec<Vec<LaneletIndex>> = own.into_iter().collect::<Option<_>>()?;
        let start = Route {
            lanelets: [trip.start.lanelet].into(),
            ..(*route).clone()
        };
        Some(start.with_plan(0, 0, &runs))
    };
    trips.iter().zip(counts).map(&mut planned).collect()
}

/// One request of a batch: the route to an agent's next goal.
pub(crate) struct Question {
    pub(crate) agent: AgentIndex,
    pub(crate) id: u64,
    pub(crate) input: PlannerInput,
}

/// Sends a batch of requests to a planner. An answer is `None` if there is no route.
pub(crate) fn ask_all(
    planner: &Module<dyn Planner>,
    view: &PlannerView<'_>,
    step: &Step<'_>,
    questions: &[Question],
) -> Vec<Option<Vec<LaneletIndex>>> {
    let indices: Vec<u32> = questions
        .iter()
        .map(|question| question.agent.number())
        .collect();
    let ids: Vec<u64> = questions.iter().map(|question| question.id).collect();
    let inputs: Vec<PlannerInput> = questions.iter().map(|question| question.input).collect();
    let (mut lanelets, mut outputs) = (Vec::new(), vec![PlannerOutput::default(); inputs.len()]);
    let step = Step {
        indices: &indices,
        ids: &ids,
        ..*step
    };
    planner.step(&step, view, &inputs, &mut lanelets, &mut outputs);
    let answer = |output: PlannerOutput| {
        let (start, count) = (output.start as usize, output.count as usize);
        // Answers of planners are validated. If a range extends beyond the end of the list, there
        // is no route.
        let run = lanelets.get(start..start + count).filter(|_| count > 0);
        run.map(<[LaneletIndex]>::to_vec)
    };
    outputs.into_iter().map(answer).collect()
}
