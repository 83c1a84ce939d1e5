//! Planned routes of selected vehicles and flows, found in the background before a run.

use crate::context::Context;
use crate::model::{Model, PlannedRoutes};
use crate::worker::Worker;
use roadwright_scenario::{ObjectId, Scenario};
use roadwright_simulation::{PlannedRoute, RouteFinder};
use std::sync::Arc;

/// Maximum number of routes that are found and drawn. More would be indistinguishable.
const MOST: usize = 20;

/// A request for the routes of selected trips, in a revision of the scenario.
#[derive(Clone)]
struct RouteQuestion {
    /// Number of the request, returned with its answer.
    number: u64,
    scenario: Arc<Scenario>,
    revision: u64,
    trips: Vec<ObjectId>,
}

/// The last request and the last answer.
#[derive(Default)]
struct Asked {
    question: Option<RouteQuestion>,
    count: u64,
    answered: u64,
}

impl Asked {
    fn is_answered(&self) -> bool {
        self.question
            .as_ref()
            .is_none_or(|asked| asked.number == self.answered)
    }
}

impl RouteQuestion {
    /// Returns the request for a model's current state; `None` if no trip is selected.
    fn of(model: &Model) -> Option<Self> {
        let is_trip = |id: &&ObjectId| matches!(id, ObjectId::Agent(_) | ObjectId::Flow(_));
        let trips: Vec<ObjectId> = model
            .selection
            .iter()
            .filter(is_trip)
            .take(MOST)
            .copied()
            .collect();
        (!trips.is_empty()).then(|| Self {
            number: 0,
            scenario: model.document.scenario().clone(),
            revision: model.document.revision(),
            trips,
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.revision == other.revision
            && self.trips == other.trips
            // The revisions of another document start from the same number.
            && Arc::ptr_eq(&self.scenario, &other.scenario)
    }
}

/// Returns the function that answers requests. It keeps the prepared scenario for the next request.
fn answers() -> impl FnMut(RouteQuestion) -> (u64, PlannedRoutes) + Send + 'static {
    let mut kept: Option<RouteFinder> = None;
    move |question| {
        let scenario = question.scenario;
        match &mut kept {
            Some(finder) => finder.follow(scenario.clone()),
            None => kept = Some(RouteFinder::new(scenario.clone())),
        }
        let finder = kept.as_ref().expect("just created");
        let route = |id: ObjectId| {
            let route = match id {
                ObjectId::Agent(agent) => finder.route(scenario.agents().get(&agent)?),
                ObjectId::Flow(flow) => finder.route_of_flow(scenario.flows().get(&flow)?),
                _ => return None,
            };
            Some((id, route))
        };
        let routes = question.trips.into_iter().filter_map(route).collect();
        (question.number, routes)
    }
}

/// Finds the routes of the selected trips in the background.
pub(crate) struct RoutePlanner {
    worker: Worker<RouteQuestion, (u64, PlannedRoutes)>,
    asked: Asked,
}

impl RoutePlanner {
    /// Creates a planner that calls `wake` after each answer.
    pub(crate) fn new(wake: impl Fn() + Send + 'static) -> Self {
        Self {
            worker: Worker::new(answers(), wake),
            asked: Asked::default(),
        }
    }

    /// Whether the newest request has been answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.asked.is_answered()
    }

    /// Requests the routes of the selected trips if they may have changed.
    pub(crate) fn plan(&mut self, cx: &mut Context) {
        let mut question = RouteQuestion::of(&cx.model);
        let asked = &mut self.asked;
        let is_same = match (&question, &asked.question) {
            (Some(question), Some(asked)) => question.is_same(asked),
            (question, asked) => question.is_none() && asked.is_none(),
        };
        if is_same {
            return;
        }
        match &mut question {
            Some(question) => {
                asked.count += 1;
                question.number = asked.count;
                self.worker.ask(question.clone());
            }
            None => cx.model.routes = PlannedRoutes::new(),
        }
        asked.question = question;
    }

    /// Stores the newest answer.
    pub(crate) fn take(&mut self, cx: &mut Context) {
        if let Some((number, routes)) = self.worker.take() {
            let asked = &mut self.asked;
            asked.answered = number;
            // The selection may have become empty since the request.
            if asked.question.is_some() {
                cx.model.routes = routes;
            }
        }
    }
}

impl Model {
    /// Route of a selected trip. `None` until it is known, and `Some(None)` if there is no route.
    pub(crate) fn route_of(&self, id: ObjectId) -> Option<Option<&PlannedRoute>> {
        self.routes.get(&id).map(Option::as_ref)
    }

    /// The routes that are drawn. These are the routes of selected trips. Routes of driving
    /// vehicles are left out, because their actual routes are known.
    pub(crate) fn shown_routes(&self) -> impl Iterator<Item = &PlannedRoute> {
        let drives = |id: &ObjectId| match (id, &self.live) {
            (ObjectId::Agent(id), Some(live)) => live.snapshot.vehicle(u64::from(id.0)).is_some(),
            _ => false,
        };
        let routes = self.routes.iter();
        let shown = routes.filter(move |(id, _)| self.selection.contains(id) && !drives(id));
        shown.filter_map(|(_, route)| route.as_ref())
    }
}
