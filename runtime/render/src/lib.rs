//! Pictures: anti-aliased maps of scenarios and control surfaces, as PNG, without a screen.

mod canvas;
mod furniture;
mod map;
mod marking;
mod painter;
pub mod palette;
mod places;
mod plot;
mod road;
mod text;

pub use map::{Picture, Trail, indicator_lamps, junction_layer, map, roads_and_junctions};
pub use painter::{Painter, Pass};
pub use places::{BAY, bay, points_of_interest, reach_of_mark};
pub use plot::{SurfacePlot, surface};
pub use tiny_skia::Color;

use thiserror::Error;

/// Why a picture cannot be drawn.
#[derive(Debug, Error)]
pub enum RenderError {
    /// No memory for a picture of this size, or no size at all.
    #[error("a picture of {0} x {1} pixels cannot be made")]
    Size(u32, u32),
    /// There is nothing to draw.
    #[error("the scenario is empty: there is nothing to draw")]
    Empty,
    /// The picture cannot be written as PNG.
    #[error("cannot write PNG: {0}")]
    Png(String),
}
