//! Contacts of clips with fixed outlines.

use crate::body::{BodyOutline, Convex};
use crate::frame::Frame;
use crate::sweep::{Sweep, SweepKind};

/// First contact of a vehicle that drives along the frames of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClipTouch {
    /// Frame before the contact.
    pub frame: usize,
    /// Index of the outline that is touched; the lowest one if several are touched.
    pub outline: usize,
}

/// Returns the first contact of a body with fixed outlines, both in world coordinates; `None` if it touches nothing.
/// The swept area differs from the true sweep by at most [`TOLERANCE`](crate::TOLERANCE).
pub fn first_touch(frames: &[Frame], body: &BodyOutline, outlines: &[Convex]) -> Option<ClipTouch> {
    let first = frames.first()?;
    let place = first.placement();
    let sweep = Sweep::of(frames, body, SweepKind::Exact);
    let seen: Vec<Convex> = outlines
        .iter()
        .map(|outline| outline.to_local(&place))
        .collect();
    let near: Vec<usize> = (0..seen.len())
        .filter(|&number| seen[number].bounds().meets(&sweep.bounds))
        .collect();
    sweep.pieces.iter().find_map(|piece| {
        let touched = near.iter().find(|&&number| piece.hull.meets(&seen[number]));
        touched.map(|&outline| ClipTouch {
            frame: piece.begin as usize,
            outline,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clips::file_of_car;
    use roadwright_geometry::{DVec2, Pose};

    #[test]
    fn the_first_piece_that_touches_a_wall_is_found() {
        // East at 10 m/s from (100, 50), 25 frames a second.
        let frames: Vec<Frame> = (0..=50)
            .map(|frame| Frame {
                pose: Pose::new(100.0 + 0.4 * f64::from(frame), 50.0, 0.0),
                forward: 10.0,
                ..Frame::default()
            })
            .collect();
        let body = file_of_car(Vec::new()).body;
        let wall = |x: f64, low: f64| Convex::line(DVec2::new(x, low), DVec2::new(x, low + 5.0));
        let beside = body.half_width + 0.1;
        assert_eq!(first_touch(&frames, &body, &[]), None);
        assert_eq!(
            first_touch(&frames, &body, &[wall(110.0, 50.0 + beside)]),
            None
        );
        let beyond = 120.0 + body.front + 0.1;
        assert_eq!(first_touch(&frames, &body, &[wall(beyond, 48.0)]), None);
        let found = first_touch(&frames, &body, &[wall(beyond, 48.0), wall(115.0, 48.0)]);
        assert_eq!(found.map(|touch| touch.outline), Some(1));
    }
}
