//! What agents and flows have in common: vehicle, stack, level of dynamics, places.

use super::super::widgets::level_title;
use crate::model::Model;
use roadwright_scenario::{DynamicsLevel, Place};

/// Values with the names that are shown for them.
pub(super) type Choices<V> = Vec<(V, String)>;

pub(super) fn vehicle_types(model: &Model) -> Choices<String> {
    super::super::kinds::vehicle_types(model.document.scenario())
}

pub(super) fn stacks(model: &Model) -> Choices<String> {
    super::super::kinds::stacks(model.document.scenario())
}

/// Levels of dynamics, and that of the settings, which an agent or flow has if it says nothing.
pub(super) fn levels(model: &Model) -> Choices<Option<DynamicsLevel>> {
    let settings = level_title(model.document.scenario().settings().dynamics);
    let mut all = vec![(None, format!("As in settings: {settings}"))];
    all.extend(DynamicsLevel::ALL.map(|level| (Some(level), level_title(level).to_owned())));
    all
}

/// The hint of the choice between levels.
pub(super) const LEVEL_HINT: &str = "With which model the body moves.";

/// A place, for people.
pub(super) fn place_text(place: &Place) -> String {
    match place {
        Place::Lane(at) => format!("{}, lane {}, {:.1} m", at.road, at.lane, at.s),
        Place::Ground(at) => format!("ground at {:.1}, {:.1}", at.x, at.y),
    }
}
