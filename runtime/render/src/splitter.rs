//! The paint of splitter islands of roundabouts.
//!
//! ```text
//!     lane | lane          A line surrounds the island. The inside is raised with a kerb
//!         /|\              (`median.rs`), or hatched if there is no room for that.
//!        /_|_\
//! ```

use crate::marking::opacity;
use crate::median;
use crate::painter::Painter;
use crate::palette::{MARKING, faded};
use glam::DVec2;
use roadwright_geometry::polygon;
use roadwright_scenario::junction::{Junction, Splitter};
use roadwright_scenario::{DrivingSide, Scenario};

/// Lane width that determines how paint on splitter islands fades with the zoom, m.
const LANE: f64 = 3.25;
/// Width of the line around an island, m.
const LINE: f64 = 0.12;
/// Width of a bar across a painted island, m.
const BAR: f64 = 0.4;
/// Distance between bars, m.
const APART: f64 = 1.4;
/// Minimum length of a bar, m.
const LEAST_BAR: f64 = 0.3;

fn islands<'a>(junctions: &'a [&Junction]) -> impl Iterator<Item = (&'a Splitter, &'a Junction)> {
    let of_one = |junction: &&'a Junction| {
        let junction: &Junction = junction;
        junction
            .splitters()
            .iter()
            .map(move |island| (island, junction))
    };
    junctions.iter().flat_map(of_one)
}

/// Draws the line around each island, and bars across islands without a raised part.
pub(crate) fn painted(painter: &mut impl Painter, scenario: &Scenario, junctions: &[&Junction]) {
    let alpha = opacity(painter.scale(), LANE);
    if alpha == 0.0 {
        return;
    }
    let color = faded(MARKING, 0.95 * alpha);
    for (island, junction) in islands(junctions) {
        // The outline of the island begins and ends at the cut of the arm.
        match median::comes_to(scenario, junction, island) {
            true => painter.line(&island.paint, LINE, 0.8, color),
            false => painter.edge(&island.paint, LINE, 0.8, color),
        }
        if island.raised.is_empty() {
            for bar in bars(&island.paint, junction.side) {
                painter.polygon(&bar, color);
            }
        }
    }
}

/// Returns the bars across an area. They slant relative to its middle line, which starts at the cut, where
/// the outline begins and ends. In left-hand traffic, they are mirrored.
fn bars(area: &[DVec2], side: DrivingSide) -> Vec<[DVec2; 4]> {
    let (Some((low, high)), Some(&last)) = (polygon::bounds(area), area.last()) else {
        return Vec::new();
    };
    let middle = 0.5 * (low + high);
    let along = (middle - 0.5 * (area[0] + last)).normalize_or_zero();
    // Half a right angle, so that the bars have the same angle to both directions.
    let normal = (along + side.around() * along.perp()).normalize_or_zero();
    let across = normal.perp();
    let reach = (high - low).length();
    let count = (reach / APART).ceil() as i32;
    let mut bars = Vec::new();
    for i in -count..=count {
        let on = middle + normal * (APART * f64::from(i));
        let edges = [-0.5 * BAR, 0.5 * BAR].map(|side| inside(area, on + side * normal, across));
        if let [Some((a, b)), Some((c, d))] = edges
            && (b - a).length().min((d - c).length()) >= LEAST_BAR
        {
            bars.push([a, b, d, c]);
        }
    }
    bars
}

/// Returns the first and last point where a line crosses the edge of an area.
fn inside(area: &[DVec2], on: DVec2, direction: DVec2) -> Option<(DVec2, DVec2)> {
    let mut crossed: Option<(f64, f64)> = None;
    for (i, &a) in area.iter().enumerate() {
        let b = area[(i + 1) % area.len()];
        let (from, to) = (direction.perp_dot(a - on), direction.perp_dot(b - on));
        if (from > 0.0) == (to > 0.0) {
            continue;
        }
        let at = direction.dot(a.lerp(b, from / (from - to)) - on);
        let (low, high) = crossed.unwrap_or((at, at));
        crossed = Some((low.min(at), high.max(at)));
    }
    crossed.map(|(low, high)| (on + low * direction, on + high * direction))
}
