//! Handles of trips: the trip that results from dragging a handle, and the lanes that it takes.

use super::handles::HandleKind;
use super::{DrawnTrip, LaneRule};
use roadwright_geometry::DVec2;
use roadwright_scenario::{Agent, Edit, Flow, Place};
use roadwright_simulation::DrawnStop;

/// Returns the index of a stop among the start, waypoints and destination of a trip.
pub(super) fn stop_of(handle: HandleKind, edit: &Edit) -> Option<usize> {
    match (handle, edit) {
        (HandleKind::Start(_) | HandleKind::Origin(_), _) => Some(0),
        (HandleKind::WayPoint(_, index) | HandleKind::NewWayPoint(_, index), _) => Some(index + 1),
        (HandleKind::Destination(_), Edit::Agent(_, Some(agent))) => Some(agent.via.len() + 1),
        (HandleKind::FlowDestination(_), _) => Some(1),
        _ => None,
    }
}

/// Returns the trip that results from the edit of a dragged handle; `None` for handles of other
/// objects, and for an agent without a destination.
pub(super) fn trip_of(
    handle: HandleKind,
    edit: &Edit,
    pointer: DVec2,
    lanes: LaneRule,
) -> Option<DrawnTrip> {
    let dragged = stop_of(handle, edit)?;
    let trip = |vehicle: &str, stack: &str, places: Vec<Place>| {
        let stop = |(index, place): (usize, Place)| match index == dragged {
            true => lanes.stop(place, pointer),
            false => DrawnStop::Fixed(place),
        };
        DrawnTrip {
            vehicle: vehicle.into(),
            stack: stack.into(),
            stops: places.into_iter().enumerate().map(stop).collect(),
            pointer,
        }
    };
    match edit {
        Edit::Agent(_, Some(agent)) if agent.destination.is_some() => {
            let Agent { vehicle, stack, .. } = &**agent;
            Some(trip(vehicle, stack, agent.places().copied().collect()))
        }
        Edit::Flow(_, Some(flow)) => {
            let Flow { vehicle, stack, .. } = &**flow;
            Some(trip(vehicle, stack, vec![flow.origin, flow.destination]))
        }
        _ => None,
    }
}

/// Moves one stop of the trip in an edit to a place.
pub(super) fn with_stop(edit: &mut Edit, stop: usize, place: Place) {
    match edit {
        Edit::Agent(_, Some(agent)) => {
            let waypoints = agent.via.len();
            match stop {
                0 => agent.start = place,
                _ if stop <= waypoints => agent.via[stop - 1] = place,
                _ => agent.destination = Some(place),
            }
        }
        Edit::Flow(_, Some(flow)) => match stop {
            0 => flow.origin = place,
            _ => flow.destination = place,
        },
        _ => {}
    }
}
