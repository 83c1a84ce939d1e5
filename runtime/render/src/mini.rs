//! Mini roundabouts: the painted island, and the arrows around it.
//!
//! ```text
//!        .-->          Three arrows point around the ring, between the island and the paths of
//!       (  o  )        vehicles. The island is a white dome that long vehicles can drive over.
//!        <--'
//! ```

use crate::marking::opacity;
use crate::painter::Painter;
use crate::palette::{MARKING, faded};
use glam::DVec2;
use roadwright_geometry::unit;
use roadwright_scenario::DrivingSide;
use roadwright_scenario::junction::{Junction, MiniRing};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Lane width that determines how paint on mini roundabouts fades with the zoom, m.
const LANE: f64 = 3.25;
/// Number of arrows around the island.
const ARROWS: u32 = 3;
/// Angle (rad) and width (m) of an arrow's shaft.
const SHAFT: (f64, f64) = (50.0 * PI / 180.0, 0.2);
/// Length and half width of an arrow's head, m.
const HEAD: (f64, f64) = (1.1, 0.4);
/// Distance of arrows from the island, m.
const BESIDE: f64 = 0.9;

/// Draws the islands of the given junctions, with arrows.
pub(crate) fn islands(painter: &mut impl Painter, junctions: &[&Junction]) {
    let alpha = opacity(painter.scale(), LANE);
    if alpha == 0.0 {
        return;
    }
    for junction in junctions {
        if let Some(ring) = junction.ring {
            let color = faded(MARKING, 0.95 * alpha);
            painter.circle(ring.centre, ring.island, 0.8, color);
            arrows(painter, &ring, junction.side, color);
        }
    }
}

fn arrows(painter: &mut impl Painter, ring: &MiniRing, side: DrivingSide, color: tiny_skia::Color) {
    let turn = side.around();
    let radius = ring.island + BESIDE;
    let on = |angle: f64| ring.centre + radius * unit(angle);
    for i in 0..ARROWS {
        // The first arrow begins in the south, where the arrows of right-hand and left-hand traffic are
        // mirror images.
        let start = turn * TAU * f64::from(i) / f64::from(ARROWS) - FRAC_PI_2;
        let shaft: Vec<DVec2> = (0..=8)
            .map(|k| on(start + turn * SHAFT.0 * f64::from(k) / 8.0))
            .collect();
        painter.line(&shaft, SHAFT.1, 0.8, color);
        let end = start + turn * SHAFT.0;
        let (base, out) = (on(end), unit(end));
        let tip = on(end + turn * HEAD.0 / radius);
        painter.polygon(&[base + HEAD.1 * out, tip, base - HEAD.1 * out], color);
    }
}
