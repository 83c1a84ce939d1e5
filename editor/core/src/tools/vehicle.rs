//! The vehicle tool, which places vehicles with their destinations.

use super::bays::{is_in_bay, stack_for_bay};
use super::trip::{Ends, Progress, Trip, missing, places, stack_for, whereabouts};
use super::{DrawnTrip, Effect, Mark, StackChoice, Tool, ToolContext, ToolEvent};
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Agent, AgentId, Edit, ObjectId, Place};

/// Places a vehicle and its destination, with a drag or two clicks.
#[derive(Default)]
pub(super) struct VehicleTool {
    trip: Trip,
    /// The vehicle placed by a click, which waits for its destination.
    placed: Option<AgentId>,
}

impl VehicleTool {
    fn add(
        &self,
        start: Place,
        destination: Option<Place>,
        context: &ToolContext<'_>,
    ) -> Vec<Effect> {
        let options = context.options;
        if !context
            .scenario
            .vehicle_types()
            .contains_key(&options.vehicle)
        {
            return missing("vehicle type", &options.vehicle);
        }
        let places: Vec<Place> = [Some(start), destination].into_iter().flatten().collect();
        let stack = match stack_for(&places, context) {
            Ok(stack) => stack,
            Err(refusal) => return refusal,
        };
        let (stack, added) = suited(stack, &options.vehicle, destination.as_ref(), context);
        let id = context.scenario.next_agent_id();
        let mut label = format!("Place vehicle on {}", whereabouts(&start, context));
        if let Some(destination) = &destination {
            label += &format!(", to {}", whereabouts(destination, context));
        }
        let agent = Agent {
            name: String::new(),
            vehicle: options.vehicle.clone(),
            stack,
            dynamics: None,
            start,
            via: Vec::new(),
            destination,
            depart: 0.0.into(),
            repeat: None.into(),
            speed: 0.0.into(),
        };
        let edit = Edit::Agent(id, Some(Box::new(agent)));
        vec![
            Effect::Apply(label, after(added, edit)),
            Effect::Select(Objects::from([ObjectId::Agent(id)])),
        ]
    }

    fn set_destination(&self, id: AgentId, ends: &Ends, context: &ToolContext<'_>) -> Vec<Effect> {
        let Some(agent) = context.scenario.agents().get(&id) else {
            return Vec::new();
        };
        let mut agent = agent.clone();
        let trip = match ends.finished(context) {
            Ok(trip) => trip,
            Err(refusal) => return refusal,
        };
        let (start, goal) = (trip.start, trip.destination);
        // A vehicle on open ground was placed heading east; now it faces its destination. A vehicle
        // on a lane may need another lane for its route.
        let is_same_ground = matches!(
            (&agent.start, &start),
            (Place::Ground(_), Place::Ground(_)) | (Place::Lane(_), Place::Lane(_))
        );
        if is_same_ground {
            agent.start = start;
        }
        agent.destination = Some(goal);
        // A destination off the lanes may require another stack.
        if context.options.stack == StackChoice::Automatic
            && let Ok(stack) = stack_for(&[agent.start, goal], context)
        {
            agent.stack = stack;
        }
        let (stack, added) = suited(agent.stack, &agent.vehicle, Some(&goal), context);
        agent.stack = stack;
        let edit = Edit::Agent(id, Some(Box::new(agent)));
        vec![Effect::Apply("Set destination".into(), after(added, edit))]
    }
}

/// Returns the stack for a trip: the given stack, or a parking stack if the destination is a bay
/// and the stack is chosen automatically. The edit adds the parking stack if the scenario does not
/// contain it.
fn suited(
    stack: String,
    vehicle: &str,
    destination: Option<&Place>,
    context: &ToolContext<'_>,
) -> (String, Option<Edit>) {
    let parks = destination.is_some_and(|place| is_in_bay(place, vehicle, context.scenario));
    match parks && context.options.stack == StackChoice::Automatic {
        true => stack_for_bay(&stack, context.scenario),
        false => (stack, None),
    }
}

/// Returns the edit, preceded by `first` if there is one.
fn after(first: Option<Edit>, edit: Edit) -> Edit {
    match first {
        Some(first) => Edit::Batch(vec![first, edit]),
        None => edit,
    }
}

impl Tool for VehicleTool {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        match self.trip.event(event) {
            Progress::Open => Vec::new(),
            Progress::Started(at) => {
                // The vehicle is placed at the first click, so that it is visible while its destination is
                // chosen. Its id is the next one that `add` uses.
                self.placed = Some(context.scenario.next_agent_id());
                let (start, _) = places(at, at + DVec2::X, context);
                self.add(start, None, context)
            }
            Progress::Done(ends) => match self.placed.take() {
                Some(id) => self.set_destination(id, &ends, context),
                None => match ends.finished(context) {
                    Ok(trip) => self.add(trip.start, Some(trip.destination), context),
                    Err(refusal) => refusal,
                },
            },
            Progress::Escaped => {
                self.placed = None;
                Vec::new()
            }
        }
    }

    fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark> {
        self.trip.marks(context)
    }

    fn status(&self, _: &ToolContext<'_>) -> String {
        if self.trip.waits_for_destination() {
            "Click: set its destination. Esc: no destination.".into()
        } else {
            "Drag from the start to the destination; or click one, then the other. Alt: use exactly the lanes under the pointer."
                .into()
        }
    }

    fn is_busy(&self) -> bool {
        self.trip.is_busy()
    }

    fn trip(&self, context: &ToolContext<'_>) -> Option<DrawnTrip> {
        self.trip.drawn(context)
    }
}
