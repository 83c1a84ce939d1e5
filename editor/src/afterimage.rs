//! Shows new strokes and changes of roads until the map shows them. The map is drawn by workers,
//! which may take a second in a large city. Land and obstacles are drawn immediately
//! (`map::interim`).

use crate::model::Model;
use crate::scene::{RoadShape, Scene};
use crate::tools::{Mark, road_ribbon};
use roadwright_geometry::{DVec2, polygon, polyline};
use roadwright_scenario::{Road, RoadId, RoadNetwork};
use std::sync::Arc;

/// Maximum number of frames from the end of a stroke until its edit reaches the document.
const FRAMES: u32 = 2;
/// Longest mitre of the outline of a deleted road, in half widths.
const MITRE: f64 = 2.0;

/// Maximum number of new or changed roads that are shown before the map shows them. Only pasting or
/// importing a large part of a map changes more.
const MOST_ROADS: usize = 64;
/// Largest distance between a line and a road that runs along it, m.
const BESIDE: f64 = 0.05;
/// Spacing of the points at which lines are compared, m.
const SPACING: f64 = 2.0;

/// New parts of the scenario that the map does not show yet, and old parts that it still shows.
#[derive(Default)]
pub(crate) struct Afterimage {
    /// Areas of the stroke in progress, or of the stroke that has just ended.
    last: Vec<Mark>,
    /// Number of frames since the last stroke ended.
    age: u32,
    /// Revision of the document in the previous frame.
    before: u64,
    /// Revisions of the document and of the map when roads were last compared.
    compared: (u64, u64),
    roads: Roads,
}

impl Afterimage {
    /// Forgets everything, because another document is shown.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Updates the afterimage. `stroke` contains the tool's marks in this frame; `None` unless a
    /// stroke is in progress. `drawn` is the scene that the map shows.
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
        if revision != self.before {
            // From now on, the new parts of the scenario are shown.
            if stroke.is_none() {
                self.last.clear();
            }
            self.before = revision;
        }
        let compared = (revision, drawn.revision);
        if compared != self.compared {
            self.compared = compared;
            self.roads = match revision == drawn.revision {
                true => Roads::default(),
                false => Roads::between(drawn, model.document.scenario().network()),
            };
        }
    }

    /// Returns the areas of the stroke that has just ended, and the lanes of roads that the map
    /// does not show yet.
    pub(crate) fn areas(&self) -> impl Iterator<Item = &Mark> {
        let ending = self.last.iter().filter(|_| self.age > 0);
        self.roads.missing.iter().chain(ending)
    }

    /// Returns the outlines of deleted or moved roads that are still drawn on the map, without
    /// their junctions, m.
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
    /// Compares the roads on the map with those of the scenario. The pieces of a split road cover
    /// the old road, so they are neither missing nor gone.
    fn between(drawn: &Scene, network: &RoadNetwork) -> Self {
        let differing = network.differing_roads(drawn.scenario.network());
        // Roads of a scene are in the order of their ids.
        let shape_of = |id: &RoadId| {
            let roads = &drawn.roads;
            let index = roads.binary_search_by_key(id, |shape| shape.id);
            index.ok().map(|index| &roads[index])
        };
        let new: Vec<&Road> = differing
            .iter()
            .filter_map(|id| network.road(*id))
            .collect();
        if new.len() > MOST_ROADS {
            return Self::default();
        }
        let old: Vec<&RoadShape> = differing.iter().filter_map(shape_of).collect();
        let old_lines: Vec<Line> = old.iter().map(|shape| Line::of(&shape.line)).collect();
        let new_lines = new
            .iter()
            .map(|road| Line::of(&road.reference_line.sample(0.1, 0.0)));
        let new_lines: Vec<Line> = new_lines.collect();
        let missing = new.iter().zip(&new_lines);
        let missing = missing.filter(|(_, line)| !line.runs_along(&old_lines));
        let gone = old.iter().zip(&old_lines);
        let gone = gone.filter(|(_, line)| !line.runs_along(&new_lines));
        Self {
            missing: missing.flat_map(|(road, _)| road_ribbon(road)).collect(),
            gone: gone
                .map(|(shape, _)| outline(shape, drawn))
                .filter(|outline| outline.len() > 3)
                .collect(),
        }
    }
}

/// The reference line of a road as closely spaced points, with its bounding box, m.
struct Line {
    points: Vec<DVec2>,
    low: DVec2,
    high: DVec2,
}

impl Line {
    fn of(line: &[DVec2]) -> Self {
        let mut points: Vec<DVec2> = line.first().copied().into_iter().collect();
        for pair in line.windows(2) {
            let count = ((pair[1] - pair[0]).length() / SPACING)
                .ceil()
                .clamp(1.0, 1e4) as u32;
            let at = |i: u32| pair[0].lerp(pair[1], f64::from(i) / f64::from(count));
            points.extend((1..=count).map(at));
        }
        let (low, high) = polygon::bounds(&points).unwrap_or_default();
        Self { points, low, high }
    }

    fn is_on(&self, point: DVec2) -> bool {
        let is_near = point.cmpge(self.low - BESIDE).all() && point.cmple(self.high + BESIDE).all();
        is_near && polyline::distance(&self.points, point) <= BESIDE
    }

    /// Whether each point of this line is on one of the other lines.
    fn runs_along(&self, others: &[Self]) -> bool {
        let is_on = |point: &DVec2| others.iter().any(|other| other.is_on(*point));
        self.points.iter().all(is_on)
    }
}

/// Returns the outline of a road on the map between its junctions, m.
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

/// Returns the part of a line between two distances from its start, m.
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
    fn a_bent_line_does_not_run_along_a_straight_one_between_the_same_ends() {
        let lines = [
            vec![(0.0, 0.0), (100.0, 0.0)],
            vec![(0.0, 0.0), (50.0, 30.0), (100.0, 0.0)],
            vec![(0.0, 0.0), (40.0, 0.0)],
            vec![(40.0, 0.0), (100.0, 0.0)],
        ];
        let points = |line: Vec<(f64, f64)>| line.into_iter().map(DVec2::from).collect::<Vec<_>>();
        let [straight, bent, first, rest] = lines.map(|line| Line::of(&points(line)));
        let bent = [bent];
        assert!(!straight.runs_along(&bent));
        let parts = [first, rest];
        assert!(straight.runs_along(&parts));
        assert!(!parts[0].runs_along(&parts[1..]));
        let straight = [straight];
        assert!(parts.iter().all(|part| part.runs_along(&straight)));
        assert!(!bent[0].runs_along(&straight));
    }

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
