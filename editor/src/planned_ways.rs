//! Planned routes of selected vehicles and flows, found in the background before a run.

use crate::app::Editor;
use crate::model::Model;
use roadwright_scenario::{ObjectId, Scenario};
use roadwright_simulation::{PlannedRoute, RouteFinder};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of routes found and drawn, because more could not be told apart.
const MOST: usize = 20;

/// The routes of trips; `None` for trips without a route.
pub(crate) type PlannedWays = BTreeMap<ObjectId, Option<PlannedRoute>>;

/// Trips of a revision of the scenario.
#[derive(Clone)]
pub(crate) struct WayQuestion {
    /// Number of the request, returned with its answer.
    number: u64,
    scenario: Arc<Scenario>,
    revision: u64,
    trips: Vec<ObjectId>,
}

/// The last request and the last answer.
#[derive(Default)]
pub(crate) struct Asked {
    question: Option<WayQuestion>,
    count: u64,
    answered: u64,
}

impl Asked {
    /// Whether the newest request is answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.question
            .as_ref()
            .is_none_or(|asked| asked.number == self.answered)
    }
}

impl WayQuestion {
    /// The request for a model's present state; `None` while no trip is selected.
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
            // Revisions of another document start at the same number.
            && Arc::ptr_eq(&self.scenario, &other.scenario)
    }
}

/// Answers requests; preparations for one scenario are kept for the next request.
pub(crate) fn answers() -> impl FnMut(WayQuestion) -> (u64, PlannedWays) + Send + 'static {
    let mut kept: Option<RouteFinder> = None;
    move |question| {
        let scenario = question.scenario;
        match &mut kept {
            Some(finder) => finder.follow(scenario.clone()),
            None => kept = Some(RouteFinder::new(scenario.clone())),
        }
        let finder = kept.as_ref().expect("just created");
        let way = |id: ObjectId| {
            let way = match id {
                ObjectId::Agent(agent) => finder.way(scenario.agents().get(&agent)?),
                ObjectId::Flow(flow) => finder.way_of_flow(scenario.flows().get(&flow)?),
                _ => return None,
            };
            Some((id, way))
        };
        let ways = question.trips.into_iter().filter_map(way).collect();
        (question.number, ways)
    }
}

impl Editor {
    /// Requests the routes of the selected trips if they may have changed.
    pub(crate) fn plan_ways(&mut self) {
        let mut question = WayQuestion::of(&self.model);
        let asked = &mut self.derived.asked_ways;
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
                self.derived.ways.ask(question.clone());
            }
            None => self.model.ways = PlannedWays::new(),
        }
        asked.question = question;
    }

    /// Takes the newest answer.
    pub(crate) fn take_ways(&mut self) {
        if let Some((number, ways)) = self.derived.ways.take() {
            let asked = &mut self.derived.asked_ways;
            asked.answered = number;
            // The selection may be empty by now.
            if asked.question.is_some() {
                self.model.ways = ways;
            }
        }
    }
}

impl Model {
    /// The route of a selected trip, once known; the inner `None` means that there is no route.
    pub(crate) fn way_of(&self, id: ObjectId) -> Option<Option<&PlannedRoute>> {
        self.ways.get(&id).map(Option::as_ref)
    }

    /// The drawn routes: of selected trips, except vehicles that are driving, whose own routes are known
    /// better.
    pub(crate) fn shown_ways(&self) -> impl Iterator<Item = &PlannedRoute> {
        let drives = |id: &ObjectId| match (id, &self.live) {
            (ObjectId::Agent(id), Some(live)) => live.snapshot.vehicle(u64::from(id.0)).is_some(),
            _ => false,
        };
        let ways = self.ways.iter();
        let shown = ways.filter(move |(id, _)| self.selection.contains(id) && !drives(id));
        shown.filter_map(|(_, way)| way.as_ref())
    }
}
