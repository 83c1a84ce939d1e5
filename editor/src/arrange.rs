//! Arranging the selection: nudging, aligning, distributing, and selecting similar objects.

use crate::app::Editor;
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

/// An arrangement of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Aligns western edges.
    West,
    /// Aligns eastern edges.
    East,
    /// Aligns southern edges.
    South,
    /// Aligns northern edges.
    North,
    /// Distributes centres evenly from west to east.
    SpreadEast,
    /// Distributes centres evenly from south to north.
    SpreadNorth,
}

impl Arrangement {
    /// All arrangements, in the order of menus.
    pub const ALL: [Self; 6] = [
        Self::West,
        Self::East,
        Self::South,
        Self::North,
        Self::SpreadEast,
        Self::SpreadNorth,
    ];

    /// Name in menus and in the history.
    pub fn title(self) -> &'static str {
        match self {
            Self::West => "Align west edges",
            Self::East => "Align east edges",
            Self::South => "Align south edges",
            Self::North => "Align north edges",
            Self::SpreadEast => "Distribute from west to east",
            Self::SpreadNorth => "Distribute from south to north",
        }
    }

    /// The displacement of each bounding box, m.
    fn shifts(self, boxes: &[(DVec2, DVec2)]) -> Vec<DVec2> {
        let low = |axis: usize| {
            boxes
                .iter()
                .map(|b| b.0[axis])
                .fold(f64::INFINITY, f64::min)
        };
        let high = |axis: usize| {
            boxes
                .iter()
                .map(|b| b.1[axis])
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let to = |axis: usize, by: f64| {
            if axis == 0 {
                DVec2::new(by, 0.0)
            } else {
                DVec2::new(0.0, by)
            }
        };
        let low_edges = |axis: usize| {
            let line = low(axis);
            boxes.iter().map(|b| to(axis, line - b.0[axis])).collect()
        };
        let high_edges = |axis: usize| {
            let line = high(axis);
            boxes.iter().map(|b| to(axis, line - b.1[axis])).collect()
        };
        match self {
            Self::West => low_edges(0),
            Self::East => high_edges(0),
            Self::South => low_edges(1),
            Self::North => high_edges(1),
            Self::SpreadEast => spread(boxes, 0, to),
            Self::SpreadNorth => spread(boxes, 1, to),
        }
    }
}

/// Displacements that space the centres evenly between the first and the last.
fn spread(boxes: &[(DVec2, DVec2)], axis: usize, to: impl Fn(usize, f64) -> DVec2) -> Vec<DVec2> {
    let middle = |i: usize| 0.5 * (boxes[i].0[axis] + boxes[i].1[axis]);
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by(|a, b| middle(*a).total_cmp(&middle(*b)));
    let (Some(first), Some(last)) = (order.first(), order.last()) else {
        return Vec::new();
    };
    let (start, end) = (middle(*first), middle(*last));
    // There are n - 1 gaps between n centres. The bound avoids a division by zero for a single box.
    let gaps = (boxes.len().max(2) - 1) as f64;
    let mut shifts = vec![DVec2::ZERO; boxes.len()];
    for (place, index) in order.iter().enumerate() {
        let goal = start + (end - start) * place as f64 / gaps;
        shifts[*index] = to(axis, goal - middle(*index));
    }
    shifts
}

/// The edit that arranges objects.
fn arranged(
    scenario: &Scenario,
    scene: &Scene,
    objects: &Objects,
    arrangement: Arrangement,
) -> Result<Edit, String> {
    let placed: Vec<(ObjectId, (DVec2, DVec2))> = objects
        .iter()
        // Boxes of the scene as drawn, all taken before the first move, so that each displacement starts from
        // where the object was seen.
        .filter_map(|object| Some((*object, scene.bounds_of(*object)?)))
        .collect();
    let boxes: Vec<(DVec2, DVec2)> = placed.iter().map(|(_, b)| *b).collect();
    let mut work = scenario.clone();
    let mut edits = Vec::new();
    for ((object, _), shift) in placed.iter().zip(arrangement.shifts(&boxes)) {
        if shift == DVec2::ZERO {
            continue;
        }
        // One after the other, because connected roads change together.
        let edit = operation::moved(&work, &Objects::from([*object]), &Motion::shift(shift))
            .map_err(|error| error.to_string())?;
        work.apply(edit.clone())
            .map_err(|error| error.to_string())?;
        edits.push(edit);
    }
    Ok(Edit::Batch(edits))
}

/// All objects similar to one: roads of its class, agents and flows of its stack.
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

impl Editor {
    /// Moves the selection by one grid step if the grid snaps, otherwise by a metre.
    pub(crate) fn nudge(&mut self, x: f64, y: f64) {
        if self.model.selection.is_empty() {
            return;
        }
        let step = if self.model.settings.tools.snap.grid {
            grid_spacing(self.model.camera.scale)
        } else {
            NUDGE
        };
        let motion = Motion::shift(step * DVec2::new(x, y));
        let scenario = self.model.document.scenario();
        match operation::moved(scenario, &self.model.selection, &motion) {
            Ok(edit) => {
                let label = format!("Nudge {}", named(&self.model.selection));
                self.apply(&label, edit);
            }
            Err(error) => self.say(Tone::Refused, &format!("{error}.")),
        }
    }

    /// Arranges the selection.
    pub(crate) fn arrange(&mut self, arrangement: Arrangement) {
        if self.model.selection.len() < 2 {
            self.say(Tone::Refused, "Select several objects first.");
            return;
        }
        let scenario = self.model.document.scenario();
        let edit = arranged(
            scenario,
            &self.model.scene,
            &self.model.selection,
            arrangement,
        );
        match edit {
            Ok(edit) => self.apply(arrangement.title(), edit),
            Err(error) => self.say(Tone::Refused, &format!("{error}.")),
        }
    }

    /// Mirrors the selection about the centre of its box: left to right, or top to bottom.
    pub(crate) fn mirror(&mut self, left_right: bool) {
        let Some(middle) = self.middle_to_turn_about() else {
            return;
        };
        let scenario = self.model.document.scenario();
        let mirror = if left_right {
            Mirror::LeftRight(middle.x)
        } else {
            Mirror::UpDown(middle.y)
        };
        match mirror::mirrored(scenario, &self.model.selection, mirror) {
            Ok(mirrored) => {
                let label = format!("Mirror {}", named(&self.model.selection));
                self.apply(&label, mirrored.edit);
                self.say_changed_rules(&mirrored.changed_rules);
            }
            Err(error) => self.say(Tone::Refused, &format!("{error}.")),
        }
    }

    fn say_changed_rules(&mut self, nodes: &BTreeSet<NodeId>) {
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
        self.say(Tone::Refused, &text);
    }

    /// Rotates the selection by quarter turns, counter-clockwise, about the centre of its box.
    pub(crate) fn turn(&mut self, quarters: i32) {
        let Some(middle) = self.middle_to_turn_about() else {
            return;
        };
        let scenario = self.model.document.scenario();
        let motion = Motion::turn(middle, f64::from(quarters) * FRAC_PI_2);
        match operation::moved(scenario, &self.model.selection, &motion) {
            Ok(edit) => {
                let label = format!("Rotate {}", named(&self.model.selection));
                self.apply(&label, edit);
            }
            Err(error) => self.say(Tone::Refused, &format!("{error}.")),
        }
    }

    /// The centre of the selection; reports a message if there is none.
    fn middle_to_turn_about(&mut self) -> Option<DVec2> {
        let middle = mirror::middle(self.model.document.scenario(), &self.model.selection);
        if middle.is_none() {
            let text = if self.model.selection.is_empty() {
                "Nothing is selected."
            } else {
                "Vehicles on lanes follow their road; select the road as well."
            };
            self.say(Tone::Refused, text);
        }
        middle
    }

    /// Selects all objects similar to the selected ones.
    pub(crate) fn select_similar(&mut self) {
        let scenario = self.model.document.scenario();
        let selected = self.model.selection.iter();
        let all: Objects = selected
            .flat_map(|object| similar(scenario, *object))
            .collect();
        if all.is_empty() {
            self.say(Tone::Refused, "Nothing is selected.");
        } else {
            self.model.selection = all;
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
