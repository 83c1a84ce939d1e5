//! Shows the effect of strokes and deletions until the map shows it. The map is drawn by workers, which may
//! take a second in a large city.

use crate::model::Model;
use crate::scene::Scene;
use crate::tools::Mark;
use roadwright_geometry::{DVec2, polyline};
use roadwright_scenario::RoadId;
use std::sync::Arc;

/// Number of frames after the end of a stroke within which its edit reaches the document.
const FRAMES: u32 = 2;
/// Longest mitre of the outline of a deleted road, in half widths.
const MITRE: f64 = 2.0;

/// Areas of a stroke, and the revision in which the stroke became part of the scenario.
struct Stroke {
    areas: Vec<Mark>,
    revision: u64,
}

/// New parts of the scenario that the map does not show yet, and deleted parts that it still shows.
#[derive(Default)]
pub(crate) struct Afterimage {
    strokes: Vec<Stroke>,
    /// The areas of the stroke in progress, or of the one that ended a few frames ago.
    last: Vec<Mark>,
    /// Number of frames since the last stroke ended.
    age: u32,
    /// Revision of the document and number of its undo steps in the previous frame.
    before: (u64, usize),
    /// Outlines of deleted roads that the map still shows, m.
    deleted: Vec<Vec<DVec2>>,
}

impl Afterimage {
    /// Forgets everything, because another document is shown.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Takes the marks of the tool in this frame; `None` unless a stroke is in progress. `drawn` is the scene
    /// that the map shows.
    pub(crate) fn follow(&mut self, model: &Model, stroke: Option<&[Mark]>, drawn: &Arc<Scene>) {
        match stroke {
            Some(marks) => {
                let areas = marks
                    .iter()
                    .filter(|mark| matches!(mark, Mark::Area { .. }));
                self.last = areas.cloned().collect();
                self.age = 0;
            }
            None if self.age < FRAMES => self.age += 1,
            None => self.last.clear(),
        }
        let revision = model.document.revision();
        if revision != self.before.0 {
            let steps = model.document.history().undo_labels().count();
            if steps < self.before.1 {
                self.strokes.clear();
            } else if stroke.is_none() && steps > self.before.1 && !self.last.is_empty() {
                let areas = std::mem::take(&mut self.last);
                self.strokes.push(Stroke { areas, revision });
            }
            self.before = (revision, steps);
            self.deleted = deleted(model, drawn);
        }
        self.strokes
            .retain(|stroke| stroke.revision > drawn.revision);
        if drawn.revision == revision {
            self.deleted.clear();
        }
    }

    /// The areas of finished strokes.
    pub(crate) fn areas(&self) -> impl Iterator<Item = &Mark> {
        let ending = self.last.iter().filter(|_| self.age > 0);
        self.strokes
            .iter()
            .flat_map(|stroke| &stroke.areas)
            .chain(ending)
    }

    /// Outlines of deleted roads between their junctions, m.
    pub(crate) fn deleted(&self) -> &[Vec<DVec2>] {
        &self.deleted
    }
}

/// Outlines of roads that the map still shows although they have been deleted from the scenario. Empty if
/// there are also new roads, because these may be in the same places: splitting or joining a road replaces it
/// by other roads.
fn deleted(model: &Model, drawn: &Scene) -> Vec<Vec<DVec2>> {
    let network = model.document.scenario().network();
    // Roads of a scene are in the order of their ids.
    let is_drawn = |id| {
        let roads = &drawn.roads;
        roads.binary_search_by_key(&id, |shape| shape.id).is_ok()
    };
    if !network.roads().all(|(id, _)| is_drawn(id)) {
        return Vec::new();
    }
    let is_gone = |id: &RoadId| network.road(*id).is_none();
    let gone = drawn.roads.iter().filter(|shape| is_gone(&shape.id));
    let outline = |shape: &crate::scene::RoadShape| {
        let trim = drawn.layout.trims.get(&shape.id).copied();
        let trim = trim.unwrap_or_default();
        let line = between(&shape.line, trim.start, shape.road.length() - trim.end);
        let normals = polyline::mitres(&line, MITRE);
        let side = |t: f64| line.iter().zip(&normals).map(move |(p, n)| *p + t * *n);
        let mut outline: Vec<DVec2> = side(shape.reach).collect();
        outline.extend(side(-shape.reach).collect::<Vec<_>>().into_iter().rev());
        outline
    };
    gone.map(outline)
        .filter(|outline| outline.len() > 3)
        .collect()
}

/// The part of a line between two distances from its start, m.
fn between(line: &[DVec2], from: f64, to: f64) -> Vec<DVec2> {
    let mut part = Vec::new();
    let mut start = 0.0;
    for pair in line.windows(2) {
        let length = (pair[1] - pair[0]).length();
        let end = start + length;
        if length > 0.0 && end > from && start < to {
            let at = |s: f64| pair[0].lerp(pair[1], ((s - start) / length).clamp(0.0, 1.0));
            if part.is_empty() {
                part.push(at(from));
            }
            part.push(at(to));
        }
        start = end;
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_line_has_the_given_length() {
        let line = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)].map(DVec2::from);
        for (from, to, length) in [(0.0, 20.0, 20.0), (2.0, 15.0, 13.0), (3.0, 4.0, 1.0)] {
            let part = between(&line, from, to);
            assert!((polyline::length(&part) - length).abs() < 1e-9, "{part:?}");
        }
        assert!(between(&line, 30.0, 40.0).is_empty());
    }
}
