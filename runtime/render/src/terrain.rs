//! Draws the ground with tints by height, hill shading and contour lines.

use crate::palette::{CONTOUR, TERRAIN_BY_DAY, TERRAIN_BY_NIGHT, faded, rgb};
use crate::{Painter, Pass};
use contour::ContourBuilder;
use glam::{DVec2, DVec3};
use roadwright_geometry::HeightField;
use tiny_skia::Color;

/// Maximum number of samples along a side for contours. Heights between samples are interpolated.
const MOST_SAMPLES: f64 = 512.0;
/// Number of contour lines per index contour. Index contours are bolder, and are labelled with
/// their height.
const STRONG: i64 = 5;

/// A contour line.
#[derive(Debug, Clone, PartialEq)]
pub struct Contour {
    /// Height of the contour, m.
    pub height: f64,
    /// Whether the contour is an index contour.
    pub is_strong: bool,
    /// Points of the contour, m.
    pub points: Vec<DVec2>,
}

/// Returns a height interval that is a round number and gives about a dozen contour lines, m.
pub fn contour_interval(field: &HeightField) -> f64 {
    let (lowest, highest) = range(field);
    let steps = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];
    let fits = steps
        .into_iter()
        .find(|step| (highest - lowest) / step <= 14.0);
    fits.unwrap_or(1000.0)
}

/// Returns the lowest and highest height of a field, m.
pub(crate) fn range(field: &HeightField) -> (f64, f64) {
    let heights = field.heights().iter().copied();
    heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| {
        (low.min(h), high.max(h))
    })
}

/// Number of corner-cutting passes that smooth the contours.
const CUTS: usize = 2;

/// Returns the contour lines of a height field, by marching squares, with their corners cut. O(samples x lines),
/// with at most 512 samples along a side.
pub fn contours(field: &HeightField) -> Vec<Contour> {
    let interval = contour_interval(field);
    let (lowest, highest) = range(field);
    // There is no contour at the lowest height, because on level ground the line would follow the edge.
    let (from, to) = (
        (lowest / interval).floor() as i64 + 1,
        (highest / interval).floor() as i64,
    );
    let (low, size) = (field.origin(), field.far_corner() - field.origin());
    let step = field.spacing().max(size.max_element() / MOST_SAMPLES);
    let columns = (size.x / step).floor() as usize + 1;
    let rows = (size.y / step).floor() as usize + 1;
    let places = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
    let at = |(x, y): (usize, usize)| low + step * DVec2::new(x as f64, y as f64);
    let heights: Vec<f64> = places.map(|place| field.height(at(place))).collect();
    // Raised by a tiny amount, because a line at exactly the height of level ground would cover it
    // completely.
    let numbers: Vec<i64> = (from..=to).collect();
    let levels: Vec<f64> = numbers
        .iter()
        .map(|&n| n as f64 * interval + 1e-6 * interval)
        .collect();
    // The builder assumes that values are in the middle of its cells.
    let builder = ContourBuilder::new(columns, rows, true)
        .x_step(step)
        .y_step(step)
        .x_origin(low.x - 0.5 * step)
        .y_origin(low.y - 0.5 * step);
    let Ok(lines) = builder.lines(&heights, &levels) else {
        return Vec::new();
    };
    let (inner_low, inner_high) = (
        low + 1e-3 * step,
        low + step * DVec2::new(columns as f64 - 1.0, rows as f64 - 1.0) - 1e-3 * step,
    );
    let mut contours = Vec::new();
    for (line, number) in lines.iter().zip(numbers) {
        for ring in line.geometry() {
            let points: Vec<DVec2> = ring.coords().map(|c| DVec2::new(c.x, c.y)).collect();
            contours.extend(
                inner_pieces(&points, inner_low, inner_high)
                    .into_iter()
                    .map(|points| Contour {
                        height: number as f64 * interval,
                        is_strong: number % STRONG == 0,
                        points: smoothed(points),
                    }),
            );
        }
    }
    contours
}

/// Returns the pieces of a ring inside the field. They are needed because marching squares closes rings along
/// the field's edge.
fn inner_pieces(ring: &[DVec2], low: DVec2, high: DVec2) -> Vec<Vec<DVec2>> {
    let is_inside = |p: &DVec2| p.cmpgt(low).all() && p.cmplt(high).all();
    let pieces = ring.split(|p| !is_inside(p));
    pieces
        .filter(|piece| piece.len() > 1)
        .map(<[DVec2]>::to_vec)
        .collect()
}

/// Cuts the corners of a line (Chaikin 1974): each side of the line keeps its middle half, and these halves are
/// joined. The ends of open lines stay; a closed line, whose last point is its first, stays closed.
fn smoothed(mut line: Vec<DVec2>) -> Vec<DVec2> {
    for _ in 0..CUTS {
        let (first, last) = (line[0], line[line.len() - 1]);
        let is_closed = line.len() > 3 && first == last;
        let mut cut = Vec::with_capacity(2 * line.len());
        for pair in line.windows(2) {
            cut.push(pair[0].lerp(pair[1], 0.25));
            cut.push(pair[0].lerp(pair[1], 0.75));
        }
        if is_closed {
            cut.push(cut[0]);
        } else {
            cut.insert(0, first);
            cut.push(last);
        }
        line = cut;
    }
    line
}

/// Draws contour lines. Their widths are in pixels at any scale.
pub fn draw_contours(painter: &mut impl Painter, contours: &[Contour]) {
    painter.begin(Pass::Ground);
    for contour in contours {
        let (width, opacity) = if contour.is_strong {
            (1.6, 0.85)
        } else {
            (0.9, 0.42)
        };
        painter.line(&contour.points, 0.0, width, faded(CONTOUR, opacity));
    }
}

/// Returns the colour of the ground for a height (as a fraction of the field's range) and a slope,
/// with light from the north-west. Level ground keeps its tint.
pub fn ground_color(share: f64, slope: DVec2, dark: bool) -> Color {
    let ramp = if dark {
        TERRAIN_BY_NIGHT
    } else {
        TERRAIN_BY_DAY
    };
    let place = share.clamp(0.0, 1.0) * (ramp.len() - 1) as f64;
    let index = (place as usize).min(ramp.len() - 2);
    let tint = mixed(rgb(ramp[index]), rgb(ramp[index + 1]), place - index as f64);
    let light = DVec3::new(-0.5, 0.5, 0.7).normalize();
    let brightness = DVec3::new(-slope.x, -slope.y, 1.0).normalize().dot(light) / light.z - 1.0;
    let (lit, shaded) = if dark {
        (0x5A6468, 0x05080C)
    } else {
        (0xFFFCF0, 0x4A546E)
    };
    if brightness > 0.0 {
        mixed(tint, rgb(lit), (1.2 * brightness).min(0.45))
    } else {
        mixed(tint, rgb(shaded), (-0.6 * brightness).min(0.30))
    }
}

fn mixed(a: Color, b: Color, share: f64) -> Color {
    let share = share as f32;
    let mut color = a;
    color.set_red(a.red() + share * (b.red() - a.red()));
    color.set_green(a.green() + share * (b.green() - a.green()));
    color.set_blue(a.blue() + share * (b.blue() - a.blue()));
    color
}

/// Returns a function that converts heights to fractions of the field's range. The range is at least one
/// metre, so that nearly level ground has almost the same tint everywhere.
pub fn height_share(field: &HeightField) -> impl Fn(f64) -> f64 + use<> {
    let (lowest, highest) = range(field);
    move |height| (height - lowest) / (highest - lowest).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cone() -> HeightField {
        let level = HeightField::level(DVec2::splat(-100.0), DVec2::splat(200.0), 2.0);
        let level = level.expect("a field of 200 m");
        let at = |i: usize| {
            let (x, y) = (i % level.columns(), i / level.columns());
            level.origin() + 2.0 * DVec2::new(x as f64, y as f64)
        };
        let heights = (0..level.heights().len()).map(|i| (60.0 - at(i).length()).max(0.0));
        level
            .with_heights(heights.collect())
            .expect("as many heights")
    }

    #[test]
    fn cut_corners_keep_ends_and_rings() {
        let corner = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0)].map(|(x, y)| DVec2::new(x, y));
        let open = smoothed(corner.to_vec());
        assert_eq!((open[0], open[open.len() - 1]), (corner[0], corner[2]));
        let turn = |p: &[DVec2]| (p[1] - p[0]).angle_to(p[2] - p[1]).abs();
        let sharpest = open.windows(3).map(turn).fold(0.0, f64::max);
        assert!(
            sharpest < 0.9,
            "a right angle becomes several smaller ones: {sharpest}"
        );
        let ring = [corner[0], corner[1], corner[2], corner[0]];
        let ring = smoothed(ring.to_vec());
        assert_eq!(ring[0], ring[ring.len() - 1]);
        assert!(!ring.contains(&corner[0]));
    }

    #[test]
    fn contours_of_a_cone_are_circles_and_level_ground_has_none() {
        let contours = contours(&cone());
        assert_eq!(contour_interval(&cone()), 5.0);
        let heights: Vec<f64> = contours.iter().map(|c| c.height).collect();
        // One ring for each height from 5 to 55 m. At the top, the ring is a point.
        assert!((10..=14).contains(&contours.len()), "{heights:?}");
        for contour in contours
            .iter()
            .filter(|c| c.height > 0.0 && c.height < 58.0)
        {
            for point in &contour.points {
                let radius = point.length();
                assert!(
                    (radius - (60.0 - contour.height)).abs() < 0.6,
                    "{radius} m at {} m",
                    contour.height
                );
            }
            assert_eq!(contour.is_strong, contour.height % 25.0 == 0.0);
        }
        let level = HeightField::level(DVec2::ZERO, DVec2::splat(50.0), 1.0).expect("a field");
        assert!(super::contours(&level).is_empty());
    }

    #[test]
    fn no_line_runs_along_the_edge_of_the_field() {
        // On ground that rises to the east, contours run from south to north and end at the edges.
        let level = HeightField::level(DVec2::ZERO, DVec2::splat(100.0), 2.0).expect("a field");
        let heights = (0..level.heights().len()).map(|i| (i % level.columns()) as f64);
        let field = level
            .with_heights(heights.collect())
            .expect("as many heights");
        let all = contours(&field);
        assert!(all.len() >= 9, "{}", all.len());
        for contour in &all {
            let spread = contour.points.iter().map(|p| p.x);
            let (low, high) =
                spread.fold((f64::INFINITY, 0.0f64), |(a, b), x| (a.min(x), b.max(x)));
            assert!(high - low < 0.1, "{} m: {low} to {high}", contour.height);
        }
    }

    #[test]
    fn ground_that_faces_the_light_is_brighter_and_level_ground_keeps_its_tint() {
        let sum = |c: Color| c.red() + c.green() + c.blue();
        for dark in [false, true] {
            let at = |slope: DVec2| ground_color(0.5, slope, dark);
            let level = at(DVec2::ZERO);
            // Ground that rises to the east faces west, towards the light.
            assert!(sum(at(DVec2::new(0.3, 0.0))) > sum(level));
            assert!(sum(at(DVec2::new(-0.3, 0.0))) < sum(level));
            let ramp = if dark {
                TERRAIN_BY_NIGHT
            } else {
                TERRAIN_BY_DAY
            };
            assert_eq!(level, rgb(ramp[2]));
        }
    }
}
