//! Planned routes of selected vehicles and flows, found in the background before a run.

use crate::context::Context;
use crate::drawn_route::DrawnRoute;
use crate::model::{Model, PlannedRoutes};
use crate::route_source::RouteSource;
use crate::tools::DrawnTrip;
use crate::worker::Worker;
use roadwright_geometry::DVec2;
use roadwright_scenario::{ObjectId, Place, Scenario};
use roadwright_simulation::{ChosenLanes, DrawnStop, PlannedRoute, RouteFinder};
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
    /// The trip being drawn.
    drawn: Option<DrawnTrip>,
}

/// The answer to a request.
struct RouteAnswer {
    /// Number of the request.
    number: u64,
    routes: PlannedRoutes,
    drawn: Option<DrawnRoute>,
}

/// Distance that an end of a trip must move before its route is searched again, m.
const SEARCH_STEP: f64 = 10.0;

/// Whether two trips are so similar that the route of one can be reused for the other.
fn is_near(one: &DrawnTrip, other: &DrawnTrip) -> bool {
    let near = |a: &Place, b: &Place| match (a, b) {
        (Place::Lane(a), Place::Lane(b)) => {
            (a.road, a.lane) == (b.road, b.lane) && (a.s.get() - b.s.get()).abs() < SEARCH_STEP
        }
        (Place::Ground(a), Place::Ground(b)) => {
            DVec2::new(a.x - b.x, a.y - b.y).length() < SEARCH_STEP
        }
        _ => false,
    };
    let is_same = |(a, b): (&DrawnStop, &DrawnStop)| {
        std::mem::discriminant(a) == std::mem::discriminant(b) && near(&a.place(), &b.place())
    };
    (&one.vehicle, &one.stack) == (&other.vehicle, &other.stack)
        && one.stops.len() == other.stops.len()
        && one.stops.iter().zip(&other.stops).all(is_same)
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
    /// Returns the request for a model's current state; `None` if no trip is selected or being drawn.
    fn of(model: &Model, drawn: Option<DrawnTrip>) -> Option<Self> {
        let is_trip = |id: &&ObjectId| matches!(id, ObjectId::Agent(_) | ObjectId::Flow(_));
        let trips: Vec<ObjectId> = model
            .selection
            .iter()
            .filter(is_trip)
            .take(MOST)
            .copied()
            .collect();
        (!trips.is_empty() || drawn.is_some()).then(|| Self {
            number: 0,
            scenario: model.document.scenario().clone(),
            revision: model.document.revision(),
            trips,
            drawn,
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.revision == other.revision
            && self.trips == other.trips
            && match (&self.drawn, &other.drawn) {
                (Some(one), Some(other)) => is_near(one, other),
                (one, other) => one.is_none() && other.is_none(),
            }
            // The revisions of another document start from the same number.
            && Arc::ptr_eq(&self.scenario, &other.scenario)
    }
}

/// Returns the closure that answers requests.
fn answers(source: RouteSource) -> impl FnMut(RouteQuestion) -> RouteAnswer + Send + 'static {
    move |question| {
        let scenario = question.scenario.clone();
        source.with(&scenario, |finder| answer(question, finder))
    }
}

fn answer(question: RouteQuestion, finder: &RouteFinder) -> RouteAnswer {
    let scenario = &question.scenario;
    let route = |id: ObjectId| {
        let route = match id {
            ObjectId::Agent(agent) => finder.route(scenario.agents().get(&agent)?),
            ObjectId::Flow(flow) => finder.route_of_flow(scenario.flows().get(&flow)?),
            _ => return None,
        };
        Some((id, route))
    };
    let routes = question.trips.into_iter().filter_map(route).collect();
    RouteAnswer {
        number: question.number,
        routes,
        drawn: question.drawn.map(|trip| route_of_drawn(finder, trip)),
    }
}

fn route_of_drawn(finder: &RouteFinder, trip: DrawnTrip) -> DrawnRoute {
    let ChosenLanes { stops, route } = finder.choose_lanes(&trip.vehicle, &trip.stack, &trip.stops);
    DrawnRoute { trip, stops, route }
}

/// Finds the routes of the selected trips in the background.
pub(crate) struct RoutePlanner {
    worker: Worker<RouteQuestion, RouteAnswer>,
    asked: Asked,
}

impl RoutePlanner {
    /// Creates a planner that calls `wake` after each answer.
    pub(crate) fn new(source: RouteSource, wake: impl Fn() + Send + 'static) -> Self {
        Self {
            worker: Worker::new(answers(source), wake),
            asked: Asked::default(),
        }
    }

    /// Whether the newest request has been answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.asked.is_answered()
    }

    /// Requests the routes of the selected trips if they may have changed.
    pub(crate) fn plan(&mut self, cx: &mut Context) {
        let tool = cx.view.canvas.hand.tool();
        let drawn = tool.trip(&crate::hand::context(&cx.model, &cx.model.camera));
        // A trip that is entirely on open ground has no route on lanes.
        let on_lanes = |trip: &DrawnTrip| {
            let is_on_lane = |stop: &DrawnStop| matches!(stop.place(), Place::Lane(_));
            trip.stops.iter().any(is_on_lane)
        };
        let drawn = drawn.filter(on_lanes);
        if drawn.is_none() {
            cx.model.drawn_route = None;
        }
        let mut question = RouteQuestion::of(&cx.model, drawn);
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
        if let Some(answer) = self.worker.take() {
            let asked = &mut self.asked;
            asked.answered = answer.number;
            // The selection may have become empty since the request, and the stroke may have ended.
            if let Some(question) = &asked.question {
                cx.model.routes = answer.routes;
                cx.model.drawn_route = answer.drawn.filter(|_| question.drawn.is_some());
            }
        }
    }
}

impl Model {
    /// Returns the route of a selected trip. `None` until it is known, and `Some(None)` if there is
    /// no route.
    pub(crate) fn route_of(&self, id: ObjectId) -> Option<Option<&PlannedRoute>> {
        self.routes.get(&id).map(Option::as_ref)
    }

    /// Returns the routes to draw: the routes of selected trips, except for driving vehicles,
    /// because their actual routes are known.
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
