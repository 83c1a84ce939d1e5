//! Adding vehicles on random trips to the scenario as agents.

use crate::context::Context;
use crate::edit_commands::Editing;
use crate::model::Tone;
use crate::tools::{ToolOptions, TripGround};
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Agent, AgentId, Edit, ObjectId, Scenario};
use roadwright_simulation::{Ground, Population, random_trips};

/// Delay before a vehicle restarts after its arrival, s. It is also the headway between vehicles
/// that start at the same place.
const PAUSE: f64 = 5.0;
/// Distance below which two starts count as the same place, m.
const ONE_PLACE: f64 = 12.0;

impl Editing {
    /// Adds vehicles on random trips in one step, and selects them.
    pub(crate) fn add_random_trips(&mut self, cx: &mut Context) {
        let options = &cx.model.settings.tools;
        let scenario = cx.model.document.scenario();
        if !scenario.vehicle_types().contains_key(&options.vehicle)
            || options.stack.key(scenario, TripGround::Lanes).is_err()
        {
            let text = "First choose a vehicle type and a stack of this scenario.";
            return cx.say(Tone::Refused, text);
        }
        let (agents, population) = drawn(scenario, options);
        if agents.is_empty() {
            let text = "No trips are possible here. Draw roads with connected lanes first.";
            return cx.say(Tone::Refused, text);
        }
        let added: Objects = agents.iter().map(|(id, _)| ObjectId::Agent(*id)).collect();
        let edits = agents.into_iter();
        let edits = edits.map(|(id, agent)| Edit::Agent(id, Some(Box::new(agent))));
        let label = format!("Add {} random trips", population.made);
        cx.apply(&label, Edit::Batch(edits.collect()));
        cx.model.selection = added;
        if population.made < population.wanted {
            let text = format!(
                "Added {} of {} trips: no remaining start has a route to a destination.",
                population.made, population.wanted
            );
            cx.say(Tone::Done, &text);
        }
    }
}

/// Returns agents on random trips. The same scenario always gives the same trips, and a scenario with more
/// agents gives different trips.
fn drawn(scenario: &Scenario, options: &ToolOptions) -> (Vec<(AgentId, Agent)>, Population) {
    let first = scenario.next_agent_id().0;
    let seed = scenario.settings().seed.wrapping_add(u64::from(first));
    let (count, from) = (options.random.count as usize, options.random.from);
    let (trips, population) = random_trips(scenario, &Ground::new(scenario), count, from, seed);
    let mut queues = Queues::of(scenario);
    let agents = (first..).zip(trips).filter_map(|(id, trip)| {
        let ground = TripGround::of([&trip.start, &trip.destination]);
        let agent = Agent {
            name: String::new(),
            vehicle: options.vehicle.clone(),
            stack: options.stack.key(scenario, ground).ok()?,
            dynamics: None,
            start: trip.start,
            via: Vec::new(),
            destination: Some(trip.destination),
            depart: queues.next(scenario.pose_of(&trip.start)).into(),
            repeat: options.random.repeats.then_some(PAUSE).into(),
            speed: 0.0.into(),
        };
        Some((AgentId(id), agent))
    });
    (agents.collect(), population)
}

/// Start places, with the latest start time at each.
struct Queues(Vec<(DVec2, f64)>);

impl Queues {
    fn of(scenario: &Scenario) -> Self {
        let agents = scenario.agents().values();
        let starts = agents.filter_map(|agent| {
            let pose = scenario.pose_of(&agent.start)?;
            Some((pose.position, agent.depart.get()))
        });
        Self(starts.collect())
    }

    /// Returns the earliest possible start time at a place. It is later than the times of all
    /// vehicles that already start there.
    fn next(&mut self, place: Option<Pose>) -> f64 {
        let Some(Pose { position, .. }) = place else {
            return 0.0;
        };
        let there = self.0.iter();
        let there = there.filter(|(start, _)| start.distance(position) < ONE_PLACE);
        let depart = there.fold(0.0, |time: f64, (_, depart)| time.max(depart + PAUSE));
        self.0.push((position, depart));
        depart
    }
}
