//! Tram tracks in streets. Trams are not supported, so the import warns about them.

use super::Warnings;
use super::elements::{Elements, OsmNode};
use super::projection::LocalProjection;
use super::roads::Piece;
use glam::DVec2;
use roadwright_geometry::grid_index::GridIndex;
use std::collections::{BTreeMap, BTreeSet};

const REASON: &str = "tram tracks in streets (the street is imported, the rails are left out)";
/// Largest distance between tram tracks and the middle of the street that they run in, m. It is half the
/// width of a street with four lanes.
const REACH: f64 = 6.0;
/// Cosine of 20 degrees. Tracks at a greater angle to a street count as crossing it.
const ALONG: f64 = 0.94;
/// Distance between the points of tracks at which streets are searched for, m.
const SPACING: f64 = 4.0;

/// Adds a warning for each tram track that shares a stretch of street with cars.
pub(super) fn warn(
    elements: &Elements,
    runs: &[Piece],
    places: &BTreeMap<i64, OsmNode>,
    warnings: &mut Warnings,
) {
    let drivable: BTreeSet<i64> = runs.iter().map(|run| run.way).collect();
    let streets = elements.ways.iter().filter(|way| way.is_tram());
    for way in streets.filter(|way| drivable.contains(&way.id)) {
        warnings.add(REASON, format!("way {}", way.id));
    }
    if elements.trams.is_empty() {
        return;
    }
    // The projection may be centred on any point of the data, because only distances are needed.
    let Some(origin) = places.values().next() else {
        return;
    };
    let projection = LocalProjection::new(origin.latitude, origin.longitude);
    let point = |node: &OsmNode| projection.to_world(node.latitude, node.longitude);
    let lines = runs.iter().map(|run| -> Vec<DVec2> {
        let nodes = run.nodes.iter();
        nodes.map(|node| point(&places[node])).collect()
    });
    let streets = Streets::of(lines);
    for way in &elements.trams {
        let nodes = way.nodes.iter().filter_map(|node| elements.nodes.get(node));
        let line: Vec<DVec2> = nodes.map(point).collect();
        if streets.hold(&line) {
            warnings.add(REASON, format!("way {}", way.id));
        }
    }
}

/// Points along the middle of streets, each with the direction of the street.
struct Streets {
    grid: GridIndex,
    directions: Vec<DVec2>,
}

impl Streets {
    fn of(lines: impl Iterator<Item = Vec<DVec2>>) -> Self {
        let (points, directions): (Vec<DVec2>, Vec<DVec2>) =
            lines.flat_map(|line| along(&line)).unzip();
        let mut grid = GridIndex::new();
        grid.rebuild(&points, REACH);
        Self { grid, directions }
    }

    /// Whether a part of the line runs along a street.
    fn hold(&self, line: &[DVec2]) -> bool {
        along(line).into_iter().any(|(point, direction)| {
            let mut is_in = false;
            self.grid.for_each_within(point, REACH, |id, _| {
                is_in |= self.directions[id as usize].dot(direction).abs() > ALONG;
            });
            is_in
        })
    }
}

/// Returns points in the middle of equal parts of each segment, each with its direction.
fn along(line: &[DVec2]) -> Vec<(DVec2, DVec2)> {
    let pairs = line.windows(2).filter(|pair| pair[0] != pair[1]);
    let parts = pairs.flat_map(|pair| {
        let (from, step) = (pair[0], pair[1] - pair[0]);
        let count = (step.length() / SPACING).ceil().clamp(1.0, 1e5);
        let share = move |i: u32| (f64::from(i) + 0.5) / count;
        (0..count as u32).map(move |i| (from + share(i) * step, step.normalize()))
    });
    parts.collect()
}
