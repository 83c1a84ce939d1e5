//! The part of the world that the map shows.

use egui::{Pos2, Rect, Vec2};
use roadwright_geometry::DVec2;

/// Closest and farthest view, metres per point.
const MIN_SCALE: f64 = 0.002;
const MAX_SCALE: f64 = 400.0;

/// Where the map looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// World point in the middle, m.
    pub centre: DVec2,
    /// Metres per screen point.
    pub scale: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            centre: DVec2::ZERO,
            scale: 0.25,
        }
    }
}

impl Camera {
    /// Screen point of a world point.
    pub fn screen(&self, rect: Rect, point: DVec2) -> Pos2 {
        let offset = (point - self.centre) / self.scale;
        rect.center() + Vec2::new(offset.x as f32, -offset.y as f32)
    }

    /// World point of a screen point.
    pub fn world(&self, rect: Rect, at: Pos2) -> DVec2 {
        let offset = at - rect.center();
        self.centre + self.scale * DVec2::new(f64::from(offset.x), -f64::from(offset.y))
    }

    /// Moves the view with the pointer.
    pub fn pan(&mut self, by: Vec2) {
        self.centre -= self.scale * DVec2::new(f64::from(by.x), -f64::from(by.y));
    }

    /// Zooms by a factor and keeps the world point under `at` where it is.
    pub fn zoom(&mut self, rect: Rect, at: Pos2, factor: f64) {
        let fixed = self.world(rect, at);
        self.scale = (self.scale / factor).clamp(MIN_SCALE, MAX_SCALE);
        let moved = self.world(rect, at);
        self.centre += fixed - moved;
    }

    /// Shows a box of the world with some space around it.
    pub fn frame(&mut self, rect: Rect, (low, high): (DVec2, DVec2)) {
        // A single point has no size; 20 m around it is what people want to see.
        let size = (high - low).max(DVec2::splat(20.0));
        let room = DVec2::new(f64::from(rect.width()), f64::from(rect.height())).max(DVec2::ONE);
        self.centre = 0.5 * (low + high);
        // A tenth more than needed: nothing touches the border.
        self.scale = (size * 1.1 / room)
            .max_element()
            .clamp(MIN_SCALE, MAX_SCALE);
    }

    /// The box of the world that a rectangle shows.
    pub fn view(&self, rect: Rect) -> (DVec2, DVec2) {
        let (a, b) = (self.world(rect, rect.min), self.world(rect, rect.max));
        (a.min(b), a.max(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect() -> Rect {
        Rect::from_min_size(Pos2::new(100.0, 50.0), Vec2::new(800.0, 600.0))
    }

    #[test]
    fn screen_and_world_are_inverse() {
        let camera = Camera {
            centre: DVec2::new(1234.5, -99.0),
            scale: 0.37,
        };
        let point = DVec2::new(1300.0, -150.0);
        let back = camera.world(rect(), camera.screen(rect(), point));
        assert!((back - point).length() < 1e-4);
    }

    #[test]
    fn zooming_keeps_the_point_under_the_pointer() {
        let mut camera = Camera::default();
        let at = Pos2::new(300.0, 200.0);
        let before = camera.world(rect(), at);
        camera.zoom(rect(), at, 3.0);
        assert!((camera.world(rect(), at) - before).length() < 1e-9);
    }

    #[test]
    fn a_framed_box_is_in_view() {
        let mut camera = Camera::default();
        let (low, high) = (DVec2::new(-50.0, 20.0), DVec2::new(900.0, 400.0));
        camera.frame(rect(), (low, high));
        let (seen_low, seen_high) = camera.view(rect());
        assert!(seen_low.cmple(low).all() && seen_high.cmpge(high).all());
    }
}
