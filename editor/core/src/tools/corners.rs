//! The corners of an outline, placed by clicks.

use super::{HandleShape, Mark};
use roadwright_geometry::{DVec2, polygon};

/// Distance below which corners are merged, m. A double-click places the last corner twice.
const SAME: f64 = 0.05;

/// The corners placed until now.
#[derive(Default)]
pub(super) struct Corners(Vec<DVec2>);

impl Corners {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the corners as a polyline.
    pub(super) fn line(&self) -> Vec<DVec2> {
        self.0.clone()
    }

    /// Places a corner, unless the click is within `reach` metres of the first corner and therefore closes
    /// the outline. Returns whether the outline is closed.
    pub(super) fn click(&mut self, at: DVec2, reach: f64) -> bool {
        // With two corners, a click on the first one does not close the outline.
        let closes = self.0.len() > 2 && (self.0[0] - at).length() < reach;
        if !closes {
            self.0.push(at);
        }
        closes
    }

    /// Appends corners to the outline.
    pub(super) fn extend(&mut self, corners: impl IntoIterator<Item = DVec2>) {
        self.0.extend(corners);
    }

    /// Removes the last corner.
    pub(super) fn take_back(&mut self) {
        self.0.pop();
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the outline without repeated corners, and clears the corners.
    pub(super) fn take(&mut self) -> Vec<DVec2> {
        let mut outline = std::mem::take(&mut self.0);
        outline.dedup_by(|a, b| (*a - *b).length() < SAME);
        outline
    }

    /// Returns a handle for each corner.
    pub(super) fn marks(&self) -> impl Iterator<Item = Mark> + '_ {
        self.0.iter().map(|&at| Mark::Handle {
            at,
            shape: HandleShape::Square,
            hot: false,
        })
    }
}

/// Returns an outline in counter-clockwise order, regardless of how it was drawn.
pub(super) fn counter_clockwise(mut outline: Vec<DVec2>) -> Vec<DVec2> {
    if polygon::signed_area(&outline) < 0.0 {
        outline.reverse();
    }
    outline
}
