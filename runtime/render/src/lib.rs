//! Draws anti-aliased maps of scenarios and control surfaces as PNG, without a screen.
//!
//! [`map`] draws a scenario, with the vehicles of a snapshot if there is one; [`surface`] draws a
//! function of two variables. [`Film`] combines pictures of a run into an animation. Roads are
//! painted through the [`Painter`] trait in [`Pass`]es, so the editor paints the same map with
//! triangles. Colours are named in [`palette`].
//!
//! A *stretch* is a part of a road with the same lanes, between its junctions. A *layer* is a level
//! of roads (0 on the ground), a *pass* a coat of paint within a layer, and a *trail* a driven
//! path. World coordinates are in metres with y to the north. Picture coordinates are in pixels
//! with y down.
//!
//! ```
//! use roadwright_render::{Picture, map};
//!
//! let file = "../../scenarios/crossroads.scenario.json";
//! let scenario = roadwright_scenario::file::load(file.as_ref())?;
//! let picture = Picture {
//!     size: (320, 240),
//!     ..Picture::default()
//! };
//! let png = map(&scenario, None, &picture)?;
//! assert!(png.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrow;
pub mod bodies;
mod bridge;
pub mod canopy;
mod canvas;
mod cells;
mod crossing;
pub mod figure;
mod film;
mod furniture;
mod gore;
pub mod ground;
mod guide;
pub mod hint;
mod island;
pub mod land;
mod map;
mod marking;
mod median;
mod mini;
mod names;
mod painted;
mod painter;
pub mod palette;
mod places;
mod plot;
pub mod relief;
mod rim;
mod road;
pub mod signal;
mod splitter;
pub mod street_name;
mod symbol;
pub mod terrain;
mod text;
mod timeline;
mod verge;

pub use bridge::{Bridges, RoadLine, Span, SpanKind};
pub use cells::cells;
pub use film::Film;
pub use map::{Picture, Trail, junction_layer, map, over_traffic, roads_and_junctions};
pub use painter::{Painter, Pass};
pub use places::{bay, points_of_interest, reach_of_mark};
pub use plot::{SurfacePlot, surface};
pub use timeline::timeline;
pub use tiny_skia::Color;
pub use verge::verges;

use thiserror::Error;

/// Reason why a picture cannot be drawn.
#[derive(Debug, Error)]
pub enum RenderError {
    /// The picture has no size, or there is not enough memory for it.
    #[error("cannot render a picture of {0} x {1} pixels")]
    Size(u32, u32),
    /// There is nothing to draw.
    #[error("the scenario is empty: there is nothing to draw")]
    Empty,
    /// The picture cannot be written as PNG.
    #[error("cannot write PNG: {0}")]
    Png(String),
    /// The frames cannot be written as GIF.
    #[error("cannot encode the animation: {0}")]
    Film(String),
}
