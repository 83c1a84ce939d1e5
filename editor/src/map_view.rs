//! The camera on the screen. The core uses offsets from the centre of the map, and this module adds the
//! rectangle of the map in the window.

use crate::camera::Camera;
use egui::{Pos2, Rect, Vec2};
use roadwright_geometry::DVec2;

/// The view of a camera in a rectangle of the window.
pub trait MapView {
    /// Converts a world point to a screen point.
    fn screen(&self, rect: Rect, point: DVec2) -> Pos2;
    /// Converts a screen point to a world point.
    fn world(&self, rect: Rect, at: Pos2) -> DVec2;
    /// Zooms by a factor and keeps the world point at `at` in place.
    fn zoom(&mut self, rect: Rect, at: Pos2, factor: f64);
    /// Returns the box of the world that a rectangle shows.
    fn view(&self, rect: Rect) -> (DVec2, DVec2);
}

impl MapView for Camera {
    fn screen(&self, rect: Rect, point: DVec2) -> Pos2 {
        let offset = self.offset(point);
        rect.center() + Vec2::new(offset.x as f32, offset.y as f32)
    }

    fn world(&self, rect: Rect, at: Pos2) -> DVec2 {
        self.at_offset(in_points(at - rect.center()))
    }

    fn zoom(&mut self, rect: Rect, at: Pos2, factor: f64) {
        self.zoom_at(in_points(at - rect.center()), factor);
    }

    fn view(&self, rect: Rect) -> (DVec2, DVec2) {
        let (a, b) = (self.world(rect, rect.min), self.world(rect, rect.max));
        (a.min(b), a.max(b))
    }
}

/// Converts a vector on the screen, in points, to the vector type of the camera.
pub(crate) fn in_points(by: Vec2) -> DVec2 {
    DVec2::new(f64::from(by.x), f64::from(by.y))
}
