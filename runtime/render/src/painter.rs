//! The interface for drawing roads, either on a picture or as the triangles of an interactive map.

use glam::DVec2;
use tiny_skia::Color;

/// A drawing pass within one layer of roads. Later passes cover earlier ones, including those of neighbouring
/// parts of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// Shadows and the rims of paved areas, below everything else.
    Ground,
    /// Paved areas and paths.
    Paving,
    /// Pavements beside carriageways.
    Pavement,
    /// Kerbs between pavements and carriageways.
    Kerb,
    /// Carriageways and junctions.
    Surface,
    /// Lanes that differ from plain carriageway.
    Lane,
    /// Lines, arrows, stop lines.
    Marking,
}

/// A target on which shapes in world coordinates are drawn in the order of the calls.
pub trait Painter {
    /// Returns the scale of the picture, pixels per metre.
    fn scale(&self) -> f64;

    /// Returns the largest scale at which the result will be viewed, pixels per metre. Details that
    /// fade in with the zoom are drawn with their opacity at this scale. A viewer that shows a
    /// smaller scale has to fade them itself.
    fn nearest_scale(&self) -> f64 {
        self.scale()
    }

    /// Returns the largest distance between a curve and its chords, m: a sixth of a pixel.
    fn tolerance(&self) -> f64 {
        0.15 / self.scale()
    }

    /// Starts a pass. All following shapes belong to it.
    fn begin(&mut self, _pass: Pass) {}

    /// Fills a polygon.
    fn polygon(&mut self, points: &[DVec2], color: Color);

    /// Fills the area that is inside an odd number of rings, such as an outline with holes.
    fn area(&mut self, rings: &[&[DVec2]], color: Color);

    /// Fills a polygon that fades out within `fade` metres outside its edge.
    fn soft_polygon(&mut self, points: &[DVec2], fade: f64, color: Color);

    /// Draws the edge of a polygon with a width in metres, but at least `least` pixels wide.
    fn edge(&mut self, points: &[DVec2], width: f64, least: f32, color: Color);

    /// Draws a line with a width in metres, but at least `least` pixels wide.
    fn line(&mut self, points: &[DVec2], width: f64, least: f32, color: Color) {
        self.dashed_line(points, width, least, None, color);
    }

    /// As [`Painter::line`], with dashes in metres (on, off); `None` for a continuous line.
    fn dashed_line(
        &mut self,
        points: &[DVec2],
        width: f64,
        least: f32,
        dash: Option<(f64, f64)>,
        color: Color,
    );

    /// Fills a circle with a radius in metres, but with a radius of at least `least` pixels.
    fn circle(&mut self, centre: DVec2, radius: f64, least: f32, color: Color);
}
