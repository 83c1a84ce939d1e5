//! Arranging the selection: nudging, aligning, distributing, and selecting similar objects.

use crate::arrangement::{Arrangement, MirrorAxis};
use crate::context::Context;
use crate::edit_commands::Editing;
use crate::model::Tone;
use crate::scene::Scene;
use crate::tools::{grid_spacing, named};
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::mirror::{self, Mirror};
use roadwright_scenario::operation::{self, Motion, Objects};
use roadwright_scenario::{Edit, NodeId, ObjectId, Scenario};
use std::collections::BTreeSet;
use std::f64::consts::FRAC_PI_2;

/// Distance of a nudge without grid snapping, m.
const NUDGE: f64 = 1.0;

/// Returns the edit that aligns or distributes objects.
fn arranged(
    scenario: &Scenario,
    scene: &Scene,
    objects: &Objects,
    arrangement: Arrangement,
) -> Result<Edit, String> {
    let placed: Vec<(ObjectId, (DVec2, DVec2))> = objects
        .iter()
        // The boxes are taken before the first move, so that each displacement starts from where the object
        // was drawn.
        .filter_map(|object| Some((*object, scene.bounds_of(*object)?)))
        .collect();
    let boxes: Vec<(DVec2, DVec2)> = placed.iter().map(|(_, b)| *b).collect();
    let mut work = scenario.clone();
    let mut edits = Vec::new();
    for ((object, _), shift) in placed.iter().zip(arrangement.shifts(&boxes)) {
        if shift == DVec2::ZERO {
            continue;
        }
        // Moved one by one, because connected roads change together.
        let edit = operation::moved(&work, &Objects::from([*object]), &Motion::shift(shift))
            .map_err(|error| error.to_string())?;
        work.apply(edit.clone())
            .map_err(|error| error.to_string())?;
        edits.push(edit);
    }
    Ok(Edit::Batch(edits))
}

/// Returns all objects similar to the object `to`. For a road, these are the roads of its class. For an
/// agent or a flow, these are the agents and flows with its stack.
pub(crate) fn similar(scenario: &Scenario, to: ObjectId) -> Objects {
    match to {
        ObjectId::Road(id) => {
            let class = scenario.network().road(id).map(|road| road.class);
            let roads = scenario.network().roads();
            let alike = roads.filter(|(_, road)| Some(road.class) == class);
            alike.map(|(id, _)| ObjectId::Road(id)).collect()
        }
        ObjectId::Node(_) => {
            let nodes = scenario.network().nodes();
            nodes.map(|(id, _)| ObjectId::Node(id)).collect()
        }
        ObjectId::Agent(id) => {
            let stack = scenario.agents().get(&id).map(|agent| &agent.stack);
            let agents = scenario.agents().iter();
            let alike = agents.filter(|(_, agent)| Some(&agent.stack) == stack);
            alike.map(|(id, _)| ObjectId::Agent(*id)).collect()
        }
        ObjectId::Flow(_) => scenario
            .flows()
            .keys()
            .map(|id| ObjectId::Flow(*id))
            .collect(),
        ObjectId::Obstacle(_) => {
            let ids = scenario.obstacles().keys();
            ids.map(|id| ObjectId::Obstacle(*id)).collect()
        }
        ObjectId::Forest(_) => {
            let ids = scenario.forests().keys();
            ids.map(|id| ObjectId::Forest(*id)).collect()
        }
        ObjectId::Land(id) => {
            let usage = scenario.land().get(&id).map(|land| land.usage);
            let land = scenario.land().iter();
            let alike = land.filter(|(_, land)| Some(land.usage) == usage);
            alike.map(|(id, _)| ObjectId::Land(*id)).collect()
        }
        ObjectId::PointOfInterest(_) => {
            let ids = scenario.points_of_interest().keys();
            ids.map(|id| ObjectId::PointOfInterest(*id)).collect()
        }
    }
}

impl Editing {
    /// Moves the selection by one grid step if the grid snaps, otherwise by a metre.
    pub(crate) fn nudge(&mut self, cx: &mut Context, by: DVec2) {
        if cx.model.selection.is_empty() {
            return;
        }
        let step = if cx.model.settings.tools.snap.grid {
            grid_spacing(cx.model.camera.scale)
        } else {
            NUDGE
        };
        let motion = Motion::shift(step * by);
        let scenario = cx.model.document.scenario();
        match operation::moved(scenario, &cx.model.selection, &motion) {
            Ok(edit) => {
                let label = format!("Nudge {}", named(&cx.model.selection));
                cx.apply(&label, edit);
            }
            Err(error) => cx.say(Tone::Refused, &format!("{error}.")),
        }
    }

    /// Arranges the selection.
    pub(crate) fn arrange(&mut self, cx: &mut Context, arrangement: Arrangement) {
        if cx.model.selection.len() < 2 {
            cx.say(Tone::Refused, "Select several objects first.");
            return;
        }
        let scenario = cx.model.document.scenario();
        let edit = arranged(scenario, &cx.model.scene, &cx.model.selection, arrangement);
        match edit {
            Ok(edit) => cx.apply(arrangement.title(), edit),
            Err(error) => cx.say(Tone::Refused, &format!("{error}.")),
        }
    }

    /// Mirrors the selection about the centre of its bounding box: left to right, or top to bottom.
    pub(crate) fn mirror(&mut self, cx: &mut Context, axis: MirrorAxis) {
        let Some(middle) = self.middle_to_turn_about(cx) else {
            return;
        };
        let scenario = cx.model.document.scenario();
        let mirror = match axis {
            MirrorAxis::LeftRight => Mirror::LeftRight(middle.x),
            MirrorAxis::UpDown => Mirror::UpDown(middle.y),
        };
        match mirror::mirrored(scenario, &cx.model.selection, mirror) {
            Ok(mirrored) => {
                let label = format!("Mirror {}", named(&cx.model.selection));
                cx.apply(&label, mirrored.edit);
                self.say_changed_rules(cx, &mirrored.changed_rules);
            }
            Err(error) => cx.say(Tone::Refused, &format!("{error}.")),
        }
    }

    fn say_changed_rules(&mut self, cx: &mut Context, nodes: &BTreeSet<NodeId>) {
        let Some(first) = nodes.first() else {
            return;
        };
        let which = match nodes.len() {
            1 => first.to_string(),
            more => format!("{first} and {} more", more - 1),
        };
        let text = format!(
            "Turn rules that cannot be mirrored were removed at {which}; check the signals there."
        );
        cx.say(Tone::Refused, &text);
    }

    /// Rotates the selection by quarter turns counter-clockwise about the centre of its bounding
    /// box.
    pub(crate) fn turn(&mut self, cx: &mut Context, quarters: i32) {
        let Some(middle) = self.middle_to_turn_about(cx) else {
            return;
        };
        let scenario = cx.model.document.scenario();
        let motion = Motion::turn(middle, f64::from(quarters) * FRAC_PI_2);
        match operation::moved(scenario, &cx.model.selection, &motion) {
            Ok(edit) => {
                let label = format!("Rotate {}", named(&cx.model.selection));
                cx.apply(&label, edit);
            }
            Err(error) => cx.say(Tone::Refused, &format!("{error}.")),
        }
    }

    /// Returns the centre of the selection. If nothing in it can be rotated, shows a message and
    /// returns `None`.
    fn middle_to_turn_about(&mut self, cx: &mut Context) -> Option<DVec2> {
        let middle = mirror::middle(cx.model.document.scenario(), &cx.model.selection);
        if middle.is_none() {
            let text = if cx.model.selection.is_empty() {
                "Nothing is selected."
            } else {
                "Vehicles on lanes follow their road; select the road as well."
            };
            cx.say(Tone::Refused, text);
        }
        middle
    }

    /// Selects all objects similar to the selected ones.
    pub(crate) fn select_similar(&mut self, cx: &mut Context) {
        let scenario = cx.model.document.scenario();
        let selected = cx.model.selection.iter();
        let all: Objects = selected
            .flat_map(|object| similar(scenario, *object))
            .collect();
        if all.is_empty() {
            cx.say(Tone::Refused, "Nothing is selected.");
        } else {
            cx.model.selection = all;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes() -> Vec<(DVec2, DVec2)> {
        let at = |x: f64, y: f64, size: f64| (DVec2::new(x, y), DVec2::new(x + size, y + size));
        vec![at(0.0, 5.0, 2.0), at(10.0, 0.0, 4.0), at(3.0, 9.0, 2.0)]
    }

    #[test]
    fn edges_come_into_one_line() {
        for (arrangement, axis, edge) in [(Arrangement::West, 0, 0.0), (Arrangement::South, 1, 0.0)]
        {
            for (shift, b) in arrangement.shifts(&boxes()).iter().zip(boxes()) {
                assert_eq!(b.0[axis] + shift[axis], edge);
                assert_eq!(shift[1 - axis], 0.0);
            }
        }
        for (arrangement, axis, edge) in
            [(Arrangement::East, 0, 14.0), (Arrangement::North, 1, 11.0)]
        {
            for (shift, b) in arrangement.shifts(&boxes()).iter().zip(boxes()) {
                assert_eq!(b.1[axis] + shift[axis], edge);
            }
        }
    }

    #[test]
    fn middles_come_to_equal_distances_and_the_outer_ones_stay() {
        let shifts = Arrangement::SpreadEast.shifts(&boxes());
        assert_eq!(shifts, [DVec2::ZERO, DVec2::ZERO, DVec2::new(2.5, 0.0)]);
        assert!(Arrangement::SpreadNorth.shifts(&[]).is_empty());
    }
}
