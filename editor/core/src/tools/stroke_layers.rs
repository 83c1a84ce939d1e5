//! Layers along a road being drawn: at its start, and wherever the layer changes.

use super::{HandleShape, Mark, ToolContext, join};
use roadwright_geometry::{DVec2, ReferenceLine, polyline};
use roadwright_scenario::operation::draw::{Catch, LayerChange};

/// Search range for a change of layer around its expected position, as a share of the road's
/// length. The range is limited because a road that crosses itself passes the same place twice.
const SEARCHED: f64 = 0.1;
/// Minimum search range for a change of layer, m.
const LEAST_SEARCHED: f64 = 20.0;

/// A point of a stroke where the layer changes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Change {
    /// Index of the point.
    point: usize,
    layer: i8,
}

/// Layers of a stroke in progress.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StrokeLayers {
    /// Layer of the start.
    start: i8,
    changes: Vec<Change>,
}

impl StrokeLayers {
    /// Creates the layers of a stroke that starts at a point.
    pub(super) fn from(start: DVec2, catch: Catch, context: &ToolContext<'_>) -> Self {
        Self {
            start: layer_at(start, catch, context),
            changes: Vec::new(),
        }
    }

    /// Returns the layer of the start.
    pub(super) fn start(&self) -> i8 {
        self.start
    }

    /// Returns the layers of both ends for a stroke that ends at the last point.
    pub(super) fn placed_ends(&self) -> [i8; 2] {
        [self.start, self.last()]
    }

    /// Returns the layer at the last point.
    fn last(&self) -> i8 {
        let last = self.changes.last();
        last.map_or(self.start, |change| change.layer)
    }

    /// Returns the layer at the pointer: the chosen layer, or else the layer of the last point.
    pub(super) fn at_pointer(&self, context: &ToolContext<'_>) -> i8 {
        context.options.layer.unwrap_or(self.last())
    }

    /// Returns the layers of both ends for a stroke that ends at the pointer.
    pub(super) fn ends(&self, context: &ToolContext<'_>) -> [i8; 2] {
        [self.start, self.at_pointer(context)]
    }

    /// Changes to the chosen layer at the point with this index. Later changes are dropped.
    pub(super) fn follow(&mut self, point: usize, context: &ToolContext<'_>) {
        let layer = self.at_pointer(context);
        if layer == self.last() {
            return;
        }
        self.changes.retain(|change| change.point < point);
        if layer != self.last() {
            self.changes.push(Change { point, layer });
        }
    }

    /// Keeps only the layer changes before the last of `count` points.
    pub(super) fn shorten(&mut self, count: usize) {
        self.changes.retain(|change| change.point + 1 < count);
    }

    /// Returns the changes of layer along the road that was fitted to the points of the stroke.
    pub(super) fn along(&self, points: &[DVec2], line: &ReferenceLine) -> Vec<LayerChange> {
        let length = line.length();
        let reach = (SEARCHED * length).max(LEAST_SEARCHED);
        let whole = polyline::length(points).max(1e-9);
        let mut last = 0.0_f64;
        let changes = self.changes.iter().filter_map(|change| {
            let at = *points.get(change.point)?;
            let before = polyline::length(&points[..=change.point]);
            let guess = length * before / whole;
            let samples = line.sample_distances(0.05, 0.0).into_iter();
            let near = samples.filter(|s| (s - guess).abs() <= reach);
            let distance = |s: &f64| (line.pose(*s).position - at).length();
            let s = near.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            last = last.max(s.unwrap_or(guess));
            Some(LayerChange {
                s: last,
                layer: change.layer,
            })
        });
        changes.collect()
    }

    /// Returns the layers along a stroke through its points and the pointer. Each layer starts at a
    /// fraction of the length, 0 to 1.
    pub(super) fn shares(
        &self,
        points: &[DVec2],
        pointer: DVec2,
        context: &ToolContext<'_>,
    ) -> Vec<(f64, i8)> {
        let whole = |points: &[DVec2]| polyline::length(points);
        let last = points.last().map_or(0.0, |last| (pointer - *last).length());
        let length = (whole(points) + last).max(1e-9);
        let share = |point: usize| whole(points.get(..=point).unwrap_or(points)) / length;
        let changes = self.changes.iter();
        let changes = changes.map(|change| (share(change.point), change.layer));
        std::iter::once((0.0, self.start))
            .chain(changes)
            .chain([(whole(points) / length, self.at_pointer(context))])
            .collect()
    }

    /// Returns handles at the points where the layer changes.
    pub(super) fn marks<'a>(&'a self, points: &'a [DVec2]) -> impl Iterator<Item = Mark> + 'a {
        let at = self.changes.iter();
        let at = at.filter_map(|change| points.get(change.point));
        at.map(|&at| Mark::Handle {
            at,
            shape: HandleShape::Square,
            hot: false,
        })
    }
}

/// Returns the layer for a stroke that starts at a point: the chosen layer, or else the layer of
/// the topmost road within snapping range, or else 0.
pub(super) fn layer_at(start: DVec2, catch: Catch, context: &ToolContext<'_>) -> i8 {
    let caught = || join::caught_layer(start, catch, context).unwrap_or(0);
    context.options.layer.unwrap_or_else(caught)
}
