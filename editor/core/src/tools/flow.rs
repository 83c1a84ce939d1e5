//! The flow tool, which draws flows of vehicles.

use super::trip::{Progress, Trip, missing, whereabouts};
use super::{DrawnTrip, Effect, Mark, Tool, ToolContext, ToolEvent};
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Edit, Flow, ObjectId};

/// Adds a flow once its origin and destination have been placed.
#[derive(Default)]
pub(super) struct FlowTool {
    trip: Trip,
}

impl Tool for FlowTool {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        // Unlike a vehicle, a flow cannot exist without a destination.
        let Progress::Done(ends) = self.trip.event(event) else {
            return Vec::new();
        };
        let (scenario, options) = (context.scenario, context.options);
        if !scenario.vehicle_types().contains_key(&options.vehicle) {
            return missing("vehicle type", &options.vehicle);
        }
        let trip = match ends.finished(context) {
            Ok(trip) => trip,
            Err(refusal) => return refusal,
        };
        let (origin, destination) = (trip.start, trip.destination);
        let id = scenario.next_flow_id();
        let label = format!(
            "Draw flow from {} to {}",
            whereabouts(&origin, context),
            whereabouts(&destination, context)
        );
        let flow = Flow {
            vehicle: options.vehicle.clone(),
            stack: trip.stack,
            dynamics: None,
            origin,
            destination,
            rate_per_hour: options.rate_per_hour.into(),
            begin: 0.0.into(),
            end: scenario.settings().duration,
        };
        vec![
            Effect::Apply(label, Edit::Flow(id, Some(Box::new(flow)))),
            Effect::Select(Objects::from([ObjectId::Flow(id)])),
        ]
    }

    fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark> {
        self.trip.marks(context)
    }

    fn status(&self, context: &ToolContext<'_>) -> String {
        let rate = context.options.rate_per_hour;
        if self.trip.waits_for_destination() {
            return "Click: destination of the flow. Esc: cancel.".into();
        }
        format!(
            "Drag from the origin to the destination of a flow of {rate:.0} vehicles per hour. Alt: use exactly the lanes under the pointer."
        )
    }

    fn is_busy(&self) -> bool {
        self.trip.is_busy()
    }

    fn trip(&self, context: &ToolContext<'_>) -> Option<DrawnTrip> {
        self.trip.drawn(context)
    }
}
