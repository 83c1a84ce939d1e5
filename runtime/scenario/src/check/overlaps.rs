//! Finds lanes of two roads that overlap although no junction joins the roads.
//!
//! Vehicles react only to other vehicles on their own lanes and at junctions. Where lanes of two
//! roads overlap, vehicles would therefore drive through each other.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use crate::ids::RoadId;
use crate::lane_graph::{LaneGraph, Lanelet, LaneletIndex};
use crate::road::RoadEnd;
use glam::DVec2;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::math::{cos, sin};
use std::collections::{BTreeMap, BTreeSet};

/// Distance between samples along a lane, m.
const STEP: f64 = 2.0;
/// Lengths of the lane pieces in the first, coarse comparison, m. The first length is used for up
/// to [`LONG`] metres of lanes, the second for more. Both are multiples of [`STEP`].
const PIECES: (f64, f64) = (16.0, 64.0);
/// Total length of all lanes above which longer pieces are used to save memory, m.
const LONG: f64 = 5e6;
/// Size of a grid cell, m. It is at least the width of two lanes.
const CELL: f64 = 8.0;
/// Minimum width of an overlap that is reported, m. Smaller overlaps affect only markings and gutters.
const LEAST_WIDTH: f64 = 0.3;
/// Minimum length of an overlap that is reported, m.
const LEAST_LENGTH: f64 = 5.0;
/// Longest overlap that is accepted at a common junction of the roads or at a loose end, m. At a
/// junction, the stop lines are before the overlap; loose ends have a separate finding.
const AT_END: f64 = 15.0;

/// A point on the centre line of a lane.
struct Sample {
    lanelet: LaneletIndex,
    road: RoadId,
    layer: i8,
    s: f64,
    position: DVec2,
    along: DVec2,
    half_width: f64,
}

/// A point of a lane that is covered by a lane of another road.
#[derive(Clone, Copy)]
struct Overlapped {
    lanelet: LaneletIndex,
    s: f64,
    width: f64,
}

/// A stretch of a lane that is covered by lanes of another road.
#[derive(Clone, Copy)]
struct Stretch {
    lanelet: LaneletIndex,
    from: f64,
    to: f64,
    width: f64,
}

impl Stretch {
    fn length(self) -> f64 {
        self.to - self.from + STEP
    }
}

/// Reports each pair of roads with overlapping lanes once, where the overlap is longest. The cost
/// is nearly linear in the total length of all lanes.
pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let graph = subjects.graph;
    let loose = findings
        .iter()
        .filter(|finding| finding.code == Code::EndsOnRoad);
    let loose: BTreeSet<ObjectId> = loose.map(|finding| finding.object).collect();
    let is_loose = |road: RoadId| loose.contains(&ObjectId::Road(road));
    for (&(one, other), points) in &mut overlapped(&samples(graph)) {
        let meet = meet(subjects, one, other);
        let is_fault = |stretch: &Stretch| {
            let is_at_end =
                stretch.from < STEP || stretch.to > graph.lanelet(stretch.lanelet).length() - STEP;
            let is_explained = meet && is_at_end || is_loose(one) || is_loose(other);
            let least = match is_explained {
                true => AT_END,
                false => LEAST_LENGTH,
            };
            stretch.length() > least
        };
        let found: Vec<Stretch> = stretches(points).into_iter().filter(is_fault).collect();
        let by_length = |a: &&Stretch, b: &&Stretch| a.length().total_cmp(&b.length());
        let Some(longest) = found.iter().max_by(by_length) else {
            continue;
        };
        // Of lanes beside each other, the longest overlap is often the narrowest.
        let width = found.iter().map(|one| one.width).fold(0.0, f64::max);
        let middle = 0.5 * (longest.from + longest.to);
        findings.push(Finding {
            severity: Severity::Warning,
            code: Code::LanesOverlap,
            object: ObjectId::Road(one),
            place: graph.line(longest.lanelet).position(middle),
            message: format!(
                "its lanes overlap those of {other} over {:.0} m, by up to {:.1} m, and no junction joins \
                 them, so vehicles drive through each other; move the roads apart, join them, or move one \
                 to another layer",
                longest.length(),
                width
            ),
        });
    }
}

/// A piece of a lane. It is listed in every cell of the coarse grid that it may reach.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    cell: (i64, i64),
    layer: i8,
    road: RoadId,
    lanelet: LaneletIndex,
    number: usize,
}

/// Finds the lane pieces of the given length that may be near lanes of another road, in ascending
/// order of lanelet and number. This needs less memory than sampling all lanes.
fn pieces_near_others(graph: &LaneGraph, length: f64) -> Vec<(LaneletIndex, usize)> {
    let mut pieces = Vec::new();
    for (id, lanelet) in lanes(graph) {
        let Some(road) = lanelet.road() else {
            continue;
        };
        let line = graph.line(id);
        for number in 0..=(line.length() / length) as usize {
            let middle = line.position((number as f64 + 0.5) * length);
            let reach = DVec2::splat(0.5 * length + CELL);
            let cell = |place: f64| (place / (2.0 * length)).floor() as i64;
            let (low, high) = (middle - reach, middle + reach);
            let (columns, rows) = (cell(low.x)..=cell(high.x), cell(low.y)..=cell(high.y));
            pieces.extend(
                columns
                    .flat_map(|x| rows.clone().map(move |y| (x, y)))
                    .map(|cell| Piece {
                        cell,
                        layer: lanelet.layer,
                        road,
                        lanelet: id,
                        number,
                    }),
            );
        }
    }
    pieces.sort_unstable();
    let same_place = |a: &Piece, b: &Piece| (a.cell, a.layer) == (b.cell, b.layer);
    let shared = pieces.chunk_by(same_place).filter(|group| {
        let roads = (group.first(), group.last());
        matches!(roads, (Some(first), Some(last)) if first.road != last.road)
    });
    let mut near: Vec<_> = shared
        .flatten()
        .map(|piece| (piece.lanelet, piece.number))
        .collect();
    near.sort_unstable();
    near.dedup();
    near
}

/// Returns the lanelets of roads, without connections.
fn lanes(graph: &LaneGraph) -> impl Iterator<Item = (LaneletIndex, &Lanelet)> {
    graph
        .numbered()
        .filter(|(_, lanelet)| !lanelet.is_connection())
}

/// Returns the length of the pieces of lanes for the comparison, m.
fn piece_length(graph: &LaneGraph) -> f64 {
    let total: f64 = lanes(graph).map(|(id, _)| graph.line(id).length()).sum();
    match total > LONG {
        true => PIECES.1,
        false => PIECES.0,
    }
}

/// Samples the centre lines of lanes wherever another road may be near.
fn samples(graph: &LaneGraph) -> Vec<Sample> {
    let length = piece_length(graph);
    let per_piece = (length / STEP) as usize;
    let mut samples = Vec::new();
    for (id, number) in pieces_near_others(graph, length) {
        let lanelet = graph.lanelet(id);
        let Some(road) = lanelet.road() else {
            continue;
        };
        let line = graph.line(id);
        let places = (number * per_piece..(number + 1) * per_piece).map(|at| at as f64 * STEP);
        samples.extend(places.take_while(|s| *s <= line.length()).map(|s| {
            let pose = line.pose(s);
            Sample {
                lanelet: id,
                road,
                layer: lanelet.layer,
                s,
                position: pose.position,
                along: DVec2::new(cos(pose.heading), sin(pose.heading)),
                half_width: 0.5 * lanelet.width,
            }
        }));
    }
    samples
}

/// Returns, for each pair of overlapping roads, the points of the road with the smaller id that are
/// covered by the other road.
fn overlapped(samples: &[Sample]) -> BTreeMap<(RoadId, RoadId), Vec<Overlapped>> {
    let positions: Vec<DVec2> = samples.iter().map(|sample| sample.position).collect();
    let mut grid = GridIndex::new();
    grid.rebuild(&positions, CELL);
    let widest = samples.iter().map(|sample| sample.half_width);
    let widest = widest.fold(0.0, f64::max);
    let mut pairs: BTreeMap<(RoadId, RoadId), Vec<Overlapped>> = BTreeMap::new();
    for sample in samples {
        // Lanes overlap only if their centre lines are closer than this.
        let reach = STEP + sample.half_width + widest;
        grid.for_each_within(sample.position, reach, |number, position| {
            let other = &samples[number as usize];
            if other.road <= sample.road || other.layer != sample.layer {
                return;
            }
            let between = position - sample.position;
            // Only lanes that run in about the same direction overlap over their whole width.
            let beside = other.half_width * sample.along.dot(other.along).abs();
            let width = sample.half_width + beside - sample.along.perp_dot(between).abs();
            if between.dot(sample.along).abs() <= STEP && width > LEAST_WIDTH {
                let pair = pairs.entry((sample.road, other.road)).or_default();
                pair.push(Overlapped {
                    lanelet: sample.lanelet,
                    s: sample.s,
                    width,
                });
            }
        });
    }
    pairs
}

/// Joins consecutive overlapped points on a lane into stretches.
fn stretches(points: &mut [Overlapped]) -> Vec<Stretch> {
    points.sort_by(|a, b| a.lanelet.cmp(&b.lanelet).then(a.s.total_cmp(&b.s)));
    let mut stretches: Vec<Stretch> = Vec::new();
    for point in points {
        match stretches.last_mut() {
            Some(last) if last.lanelet == point.lanelet && point.s - last.to < 1.5 * STEP => {
                last.to = point.s;
                last.width = last.width.max(point.width);
            }
            _ => stretches.push(Stretch {
                lanelet: point.lanelet,
                from: point.s,
                to: point.s,
                width: point.width,
            }),
        }
    }
    stretches
}

/// Whether two roads share a junction at their ends.
fn meet(subjects: &Subjects<'_>, one: RoadId, other: RoadId) -> bool {
    let network = subjects.scenario.network();
    let junctions = |id: RoadId| {
        let ends = network.road(id).into_iter();
        let nodes =
            ends.flat_map(|road| [RoadEnd::Start, RoadEnd::End].map(|end| road.node_at(end)));
        let junctions = nodes.filter_map(|node| subjects.layout.junction_at(node));
        junctions.map(|junction| junction.nodes[0])
    };
    junctions(one).any(|own| junctions(other).any(|theirs| theirs == own))
}
