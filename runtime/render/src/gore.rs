//! Gores: the paved triangles between roads that diverge slowly, with their chevrons.
//!
//! ```text
//!    ------------------------------
//!    \  \  \  \  `._                   Chevrons point at the tip. Where the roads have separated, the
//!   ( )  )  )  )    >----------        verge begins with a round nose.
//!    /  /  /  /  .-'
//!    ------------------------------
//! ```

use crate::marking::opacity;
use crate::painter::Painter;
use crate::palette::{ASPHALT, MARKING, faded, rgb};
use glam::DVec2;
use roadwright_geometry::math::{cos, sin};
use roadwright_scenario::junction::{Gore, Junction};
use std::f64::consts::PI;

/// Width of a bar, m.
const BAR: f64 = 0.9;
/// Distance between bars, m.
const APART: f64 = 3.4;
/// Distance between bars and the edges of the gore, m.
const INSET: f64 = 0.5;
/// Minimum width at which a gore has bars, m.
const LEAST: f64 = 1.2;
/// Lane width that determines how paint on gores fades with the zoom, m.
const LANE: f64 = 3.6;
/// Number of points along the round nose of a gore.
const NOSE: u32 = 12;

/// Draws the asphalt of the gores of the given junctions.
pub(crate) fn surfaces(painter: &mut impl Painter, junctions: &[&Junction]) {
    for gore in junctions.iter().flat_map(|junction| junction.gores()) {
        painter.polygon(&surface(gore), rgb(ASPHALT));
    }
}

/// Returns the outline of a gore: from the tip along the right edge, around the nose, and back
/// along the left edge.
fn surface(gore: &Gore) -> Vec<DVec2> {
    let (left, right) = (gore.left[0], gore.right[0]);
    let middle = 0.5 * (left + right);
    let (half, tip) = (left - middle, gore.left[gore.left.len() - 1]);
    let towards = (tip - middle).normalize_or_zero() * half.length();
    // The verge bulges towards the tip.
    let nose = (1..NOSE).map(|i| {
        let angle = PI * f64::from(i) / f64::from(NOSE);
        middle - cos(angle) * half + sin(angle) * towards
    });
    gore.right
        .iter()
        .rev()
        .copied()
        .chain(nose)
        .chain(gore.left.iter().copied())
        .collect()
}

/// Draws chevrons across the gores of the given junctions.
pub(crate) fn chevrons(painter: &mut impl Painter, junctions: &[&Junction]) {
    let alpha = opacity(painter.scale(), LANE);
    if alpha == 0.0 {
        return;
    }
    let color = faded(MARKING, 0.95 * alpha);
    for gore in junctions.iter().flat_map(|junction| junction.gores()) {
        for bar in bars(gore) {
            painter.polygon(&bar, color);
        }
    }
}

/// Returns the bars of a gore as chevrons with six corners.
fn bars(gore: &Gore) -> Vec<[DVec2; 6]> {
    let last = gore.left.len() - 1;
    let length: f64 = gore
        .left
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).length())
        .sum();
    let step = length / last.max(1) as f64;
    // Points on both edges at a distance from the nose, moved inwards by the inset.
    let at = |s: f64| {
        let place = (s / step.max(1e-9)).clamp(0.0, last as f64);
        let (i, u) = (place.floor() as usize, place.fract());
        let on = |edge: &[DVec2]| edge[i].lerp(edge[(i + 1).min(last)], u);
        let (left, right) = (on(&gore.left), on(&gore.right));
        let inward = (right - left).normalize_or_zero() * INSET;
        (left + inward, right - inward)
    };
    let width = |s: f64| {
        let (left, right) = at(s);
        (right - left).length()
    };
    // The first bar keeps clear of the nose.
    let first = 0.5 * width(0.0) + 2.0;
    let count = ((length - first) / APART).max(0.0) as u32;
    (0..=count)
        .map(|i| first + APART * f64::from(i))
        .take_while(|&s| width(s) + 2.0 * INSET > LEAST && s + BAR < length)
        .map(|s| {
            // The apex is ahead by half the width, so that bars slant by 45 degrees.
            let ahead = 0.5 * width(s);
            let ((left, right), (far_left, far_right)) = (at(s), at(s + BAR));
            let apex = |s: f64| {
                let (left, right) = at(s);
                0.5 * (left + right)
            };
            [
                left,
                apex(s + ahead),
                right,
                far_right,
                apex(s + ahead + BAR),
                far_left,
            ]
        })
        .collect()
}
