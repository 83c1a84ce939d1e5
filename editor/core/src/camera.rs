//! The part of the world that the map shows.

use roadwright_geometry::DVec2;

/// Smallest scale of the view, in metres per point.
const MIN_SCALE: f64 = 0.002;
/// Largest scale of the view, in metres per point.
const MAX_SCALE: f64 = 400.0;

/// The view of the map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// World point at the centre of the view, m.
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
    /// Converts a world point to an offset from the centre of the map, in points to the right and
    /// down.
    pub fn offset(&self, point: DVec2) -> DVec2 {
        let offset = (point - self.centre) / self.scale;
        DVec2::new(offset.x, -offset.y)
    }

    /// Converts an offset from the centre of the map, in points to the right and down, to a world
    /// point.
    pub fn at_offset(&self, offset: DVec2) -> DVec2 {
        self.centre + self.scale * DVec2::new(offset.x, -offset.y)
    }

    /// Moves the view with the pointer. `by` is in points to the right and down.
    pub fn pan(&mut self, by: DVec2) {
        self.centre -= self.scale * DVec2::new(by.x, -by.y);
    }

    /// Zooms by a factor about the world point at `offset` from the centre of the map, in points to the right
    /// and down. That point stays where it is on the screen.
    pub fn zoom_at(&mut self, offset: DVec2, factor: f64) {
        let fixed = self.at_offset(offset);
        self.scale = (self.scale / factor).clamp(MIN_SCALE, MAX_SCALE);
        let moved = self.at_offset(offset);
        self.centre += fixed - moved;
    }

    /// Fits a box of the world, with a margin, into a map of the given size in points.
    pub fn frame(&mut self, size: DVec2, low: DVec2, high: DVec2) {
        // A single point has no size, so show 20 m around it.
        let wanted = (high - low).max(DVec2::splat(20.0));
        self.centre = 0.5 * (low + high);
        // A margin of 10 %, so that nothing touches the border.
        self.scale = (wanted * 1.1 / size.max(DVec2::ONE))
            .max_element()
            .clamp(MIN_SCALE, MAX_SCALE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: DVec2 = DVec2::new(800.0, 600.0);

    #[test]
    fn screen_and_world_are_inverse() {
        let camera = Camera {
            centre: DVec2::new(1234.5, -99.0),
            scale: 0.37,
        };
        let point = DVec2::new(1300.0, -150.0);
        let back = camera.at_offset(camera.offset(point));
        assert!((back - point).length() < 1e-9);
    }

    #[test]
    fn zooming_keeps_the_point_under_the_pointer() {
        let mut camera = Camera::default();
        let at = DVec2::new(-200.0, -150.0);
        let before = camera.at_offset(at);
        camera.zoom_at(at, 3.0);
        assert!((camera.at_offset(at) - before).length() < 1e-9);
    }

    #[test]
    fn a_framed_box_is_in_view() {
        let mut camera = Camera::default();
        let (low, high) = (DVec2::new(-50.0, 20.0), DVec2::new(900.0, 400.0));
        camera.frame(SIZE, low, high);
        let (seen_low, seen_high) = (
            camera.at_offset(DVec2::new(-0.5, 0.5) * SIZE),
            camera.at_offset(DVec2::new(0.5, -0.5) * SIZE),
        );
        assert!(seen_low.cmple(low).all() && seen_high.cmpge(high).all());
    }
}
