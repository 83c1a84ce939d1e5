//! Common properties of agents and flows: vehicle, stack, level of dynamics, places.

use super::super::property::fact;
use crate::model::Model;
use crate::tools::Tone;
use egui::Ui;
use roadwright_scenario::{BodyKind, DynamicsLevel, ObjectId, Place};

/// Values with their displayed names.
pub(super) type Choices<V> = Vec<(V, String)>;

pub(super) fn vehicle_types(model: &Model) -> Choices<String> {
    super::super::kinds::vehicle_types(model.document.scenario())
}

pub(super) fn stacks(model: &Model) -> Choices<String> {
    super::super::kinds::stacks(model.document.scenario())
}

/// Returns the levels of dynamics of vehicles. The first entry is the default from the settings. It
/// applies to agents and flows without a level.
pub(super) fn levels(model: &Model) -> Choices<Option<DynamicsLevel>> {
    let settings = model.document.scenario().settings().dynamics.traits().title;
    let mut all = vec![(None, format!("Default: {settings}"))];
    let vehicles = DynamicsLevel::FOR_VEHICLES;
    all.extend(vehicles.map(|level| (Some(level), level.traits().title.to_owned())));
    all
}

/// Returns the levels of dynamics that a vehicle type can have. Characters can only walk.
pub(super) fn levels_of(model: &Model, vehicle: &str) -> Choices<Option<DynamicsLevel>> {
    let kind = model.document.scenario().vehicle_types().get(vehicle);
    match kind.map(|kind| kind.body) {
        Some(BodyKind::Character) => {
            let walker = DynamicsLevel::Walker.traits().title;
            vec![(None, walker.to_owned())]
        }
        Some(BodyKind::Vehicle) | None => levels(model),
    }
}

/// The hint of the choice between levels.
pub(super) const LEVEL_HINT: &str = "Model of the vehicle's motion.";

/// Describes a place by its road, lane and position on it, or by its coordinates on open ground.
pub(super) fn place_text(place: &Place) -> String {
    match place {
        Place::Lane(at) => format!("{}, lane {}, {:.1} m", at.road, at.lane, at.s),
        Place::Ground(at) => format!("ground at {:.1}, {:.1}", at.x, at.y),
    }
}

/// Shows the length of a trip's planned route, once it is known.
pub(super) fn route(ui: &mut Ui, model: &Model, trip: ObjectId) {
    let hint = "Planned by the built-in planner for empty roads.";
    match model.route_of(trip) {
        None => fact(ui, "Route", "…"),
        Some(Some(route)) => {
            ui.label("Route");
            ui.label(route_text(route.length, route.time))
                .on_hover_text(hint);
            ui.end_row();
        }
        Some(None) => {
            ui.label("Route");
            ui.colored_label(model.theme().tone(Tone::Warning), "no route");
            ui.end_row();
        }
    }
}

/// Formats a length in metres or kilometres.
pub(super) fn length_text(length: f64) -> String {
    if length < 1000.0 {
        format!("{length:.0} m")
    } else {
        format!("{:.2} km", length / 1000.0)
    }
}

/// Formats the length and the duration of a route.
fn route_text(length: f64, time: f64) -> String {
    let length = length_text(length);
    let seconds = time.round();
    let time = if seconds < 60.0 {
        format!("{seconds:.0} s")
    } else {
        format!(
            "{:.0} min {:02.0} s",
            (seconds / 60.0).floor(),
            seconds % 60.0
        )
    };
    format!("{length}, {time}")
}

#[cfg(test)]
mod tests {
    use super::route_text;

    #[test]
    fn routes_are_told_in_round_numbers() {
        assert_eq!(route_text(84.6, 7.4), "85 m, 7 s");
        assert_eq!(route_text(1237.0, 119.6), "1.24 km, 2 min 00 s");
        assert_eq!(route_text(999.0, 59.6), "999 m, 1 min 00 s");
    }
}
