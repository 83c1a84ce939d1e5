//! What roads are drawn with: a picture or the triangles of an interactive map.

use glam::DVec2;
use tiny_skia::Color;

/// A layer of paint within one level of roads; later ones cover earlier ones, also those of
/// neighbouring parts of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// What lies under everything: shadows, the rims of paved areas.
    Ground,
    /// Paved areas and paths.
    Paving,
    /// Pavements beside carriageways.
    Pavement,
    /// Kerbs between pavements and carriageways.
    Kerb,
    /// Carriageways and junctions.
    Surface,
    /// Lanes that are not plain carriageway.
    Lane,
    /// Lines, arrows, stop lines.
    Marking,
}

/// Something that shapes in world coordinates can be drawn with, in the order of the calls.
pub trait Painter {
    /// Pixels per metre.
    fn scale(&self) -> f64;

    /// Pixels per metre at the nearest from which it is looked at. What fades in as one comes nearer is drawn
    /// as strong as it is there; who shows it from farther away fades it.
    fn nearest_scale(&self) -> f64 {
        self.scale()
    }

    /// Largest distance between a curve and its chords, m: a sixth of a pixel.
    fn tolerance(&self) -> f64 {
        0.15 / self.scale()
    }

    /// What follows belongs to this pass.
    fn begin(&mut self, _pass: Pass) {}

    /// Fills a polygon.
    fn polygon(&mut self, points: &[DVec2], color: Color);

    /// Fills what lies inside of an odd number of rings: an outline with holes.
    fn area(&mut self, rings: &[&[DVec2]], color: Color);

    /// Fills a polygon that fades out within `fade` metres outside of its edge.
    fn soft_polygon(&mut self, points: &[DVec2], fade: f64, color: Color);

    /// Draws the edge of a polygon, width in metres but at least `least` pixels.
    fn edge(&mut self, points: &[DVec2], width: f64, least: f32, color: Color);

    /// Draws a line, width in metres but at least `least` pixels; dashes in metres (on, off).
    fn line(
        &mut self,
        points: &[DVec2],
        width: f64,
        least: f32,
        dash: Option<(f64, f64)>,
        color: Color,
    );

    /// Fills a circle, radius in metres but at least `least` pixels.
    fn circle(&mut self, centre: DVec2, radius: f64, least: f32, color: Color);
}
