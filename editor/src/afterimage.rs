//! Shows strokes, moved roads and deletions until the map shows them. The map is drawn by workers, which may take a
//! second in a large city.

use crate::model::Model;
use crate::scene::{RoadShape, Scene};
use crate::tools::{Mark, ToolKind, road_ribbon};
use roadwright_geometry::{DVec2, polyline};
use roadwright_scenario::{Road, RoadId, RoadNetwork};
use std::sync::Arc;

/// Number of frames after the end of a stroke within which its edit reaches the document.
const FRAMES: u32 = 2;
/// Longest mitre of the outline of a deleted road, in half widths.
const MITRE: f64 = 2.0;

/// Largest number of roads that are shown before the map shows them. More change at once only when a whole part of a
/// map is pasted, imported or deleted.
const MOST_ROADS: usize = 64;
/// Largest distance between a line and a road that runs along it, m.
const BESIDE: f64 = 0.05;

/// Areas of a stroke, and the revision in which the stroke became part of the scenario.
struct Stroke {
    areas: Vec<Mark>,
    revision: u64,
}

/// New parts of the scenario that the map does not show yet, and old parts that it still shows.
#[derive(Default)]
pub(crate) struct Afterimage {
    /// Strokes of obstacles and land. Roads are compared with those on the map.
    strokes: Vec<Stroke>,
    /// The areas of the stroke in progress, or of the one that ended a few frames ago.
    last: Vec<Mark>,
    /// Number of frames since the last stroke ended.
    age: u32,
    /// Revision of the document and number of its undo steps in the previous frame.
    before: (u64, usize),
    /// Revisions of the document and of the map for which roads were compared.
    compared: (u64, u64),
    roads: Roads,
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
                if matches!(model.tool, ToolKind::Obstacle | ToolKind::Land) {
                    self.strokes.push(Stroke { areas, revision });
                }
            }
            self.before = (revision, steps);
        }
        self.strokes
            .retain(|stroke| stroke.revision > drawn.revision);
        let compared = (revision, drawn.revision);
        if compared != self.compared {
            self.compared = compared;
            self.roads = match revision == drawn.revision {
                true => Roads::default(),
                false => Roads::between(drawn, model.document.scenario().network()),
            };
        }
    }

    /// The areas of finished strokes, and the lanes of roads that the map does not show yet.
    pub(crate) fn areas(&self) -> impl Iterator<Item = &Mark> {
        let ending = self.last.iter().filter(|_| self.age > 0);
        self.roads
            .missing
            .iter()
            .chain(self.strokes.iter().flat_map(|stroke| &stroke.areas))
            .chain(ending)
    }

    /// Outlines of the roads between their junctions that the map still shows where they no longer are, m.
    pub(crate) fn deleted(&self) -> &[Vec<DVec2>] {
        &self.roads.gone
    }
}

/// Differences between the roads of the scenario and those on the map.
#[derive(Default)]
struct Roads {
    /// Lanes of roads that the map does not show.
    missing: Vec<Mark>,
    /// Outlines of roads that only the map shows, m.
    gone: Vec<Vec<DVec2>>,
}

impl Roads {
    /// Compares the roads on the map with those of the scenario. Pieces of a road that was split are where the road
    /// was, so they are neither missing nor gone.
    fn between(drawn: &Scene, network: &RoadNetwork) -> Self {
        let differing = network.differing_roads(drawn.scenario.network());
        if differing.len() > MOST_ROADS {
            return Self::default();
        }
        // Roads of a scene are in the order of their ids.
        let shape_of = |id: &RoadId| {
            let roads = &drawn.roads;
            let index = roads.binary_search_by_key(id, |shape| shape.id);
            index.ok().map(|index| &roads[index])
        };
        let old: Vec<&RoadShape> = differing.iter().filter_map(shape_of).collect();
        let new = differing.iter().filter_map(|id| network.road(*id));
        let new: Vec<(&Road, Vec<DVec2>)> = new
            .map(|road| (road, road.reference_line.sample(0.1, 0.0)))
            .collect();
        let old_lines: Vec<&[DVec2]> = old.iter().map(|shape| &*shape.line).collect();
        let new_lines: Vec<&[DVec2]> = new.iter().map(|(_, line)| &**line).collect();
        let missing = new.iter().filter(|(_, line)| !runs_along(line, &old_lines));
        let gone = old
            .iter()
            .filter(|shape| !runs_along(&shape.line, &new_lines));
        Self {
            missing: missing.flat_map(|(road, _)| road_ribbon(road)).collect(),
            gone: gone
                .map(|shape| outline(shape, drawn))
                .filter(|outline| outline.len() > 3)
                .collect(),
        }
    }
}

/// Whether each point of a line is on one of the other lines.
fn runs_along(line: &[DVec2], others: &[&[DVec2]]) -> bool {
    let is_on = |point: &DVec2| {
        let mut others = others.iter();
        others.any(|other| polyline::distance(other, *point) <= BESIDE)
    };
    line.iter().all(is_on)
}

/// Outline of a road on the map between its junctions, m.
fn outline(shape: &RoadShape, drawn: &Scene) -> Vec<DVec2> {
    let trim = drawn.layout.trims.get(&shape.id).copied();
    let trim = trim.unwrap_or_default();
    let line = between(&shape.line, trim.start, shape.road.length() - trim.end);
    let normals = polyline::mitres(&line, MITRE);
    let side = |t: f64| line.iter().zip(&normals).map(move |(p, n)| *p + t * *n);
    let mut outline: Vec<DVec2> = side(shape.reach).collect();
    outline.extend(side(-shape.reach).collect::<Vec<_>>().into_iter().rev());
    outline
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
