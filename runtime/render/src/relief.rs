//! Heights shown on a terrain: labels on index contours, and peaks.

use crate::canvas::Canvas;
use crate::palette::{CONTOUR, INK, rgb};
use crate::terrain::{Contour, contour_interval, contours, ground_color, range};
use crate::text::Align;
use glam::DVec2;
use roadwright_geometry::{HeightField, Pose};
use tiny_skia::Color;

/// Distance between two labels on one contour, pixels.
const AGAIN: f64 = 520.0;
/// Minimum distance between any two labels, pixels.
const APART: f64 = 90.0;
/// Maximum number of labels in a view.
const MOST_LABELS: usize = 100;
/// Minimum visible length of a contour with a label, pixels. Shorter ones would be hidden by their label.
const LEAST_LENGTH: f64 = 150.0;
/// Half the length of a contour hidden by a label, pixels.
const HALF_LABEL: f64 = 18.0;
/// Maximum bend of a contour under its label, rad (25 degrees).
const MOST_BEND: f64 = 0.44;
/// Positions tried for a label, as fractions of its share of the contour, best first.
const TRIED: [f64; 5] = [0.5, 0.35, 0.65, 0.2, 0.8];
/// Radius within which a peak must be the highest point, as a fraction of the terrain's longer
/// side.
const PEAK_RADIUS: f64 = 0.06;
/// Size of the text of a label, pixels.
pub const LABEL_SIZE: f32 = 11.0;
/// Half the width of the triangle of a peak, pixels.
pub const PEAK_SIZE: f32 = 6.0;

/// A height label along a contour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeightLabel {
    /// Position of its middle, and heading of the contour there.
    pub pose: Pose,
    /// Height of the contour, m.
    pub height: f64,
}

/// The highest point of a hill.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Position of the peak, m.
    pub at: DVec2,
    /// Height of the peak, m.
    pub height: f64,
}

/// The part of the world that a picture shows.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Lower left corner, m.
    pub low: DVec2,
    /// Upper right corner, m.
    pub high: DVec2,
    /// Scale, m per pixel.
    pub scale: f64,
}

impl View {
    fn shows(&self, at: DVec2) -> bool {
        at.cmpge(self.low).all() && at.cmple(self.high).all()
    }
}

/// Contours and peaks of a terrain.
#[derive(Debug, Clone)]
pub struct Relief {
    /// Contour lines of the terrain.
    pub contours: Vec<Contour>,
    /// Peaks of the terrain, highest first.
    pub peaks: Vec<Peak>,
    lowest: f64,
    highest: f64,
}

impl Relief {
    /// Finds contours and peaks. O(samples x contours).
    pub fn new(field: &HeightField) -> Self {
        let (lowest, highest) = range(field);
        Self {
            contours: contours(field),
            peaks: peaks(field),
            lowest,
            highest,
        }
    }

    /// Returns the colour of level ground at a height, m.
    pub fn ground(&self, height: f64, dark: bool) -> Color {
        let share = (height - self.lowest) / (self.highest - self.lowest).max(1.0);
        ground_color(share, DVec2::ZERO, dark)
    }

    /// Returns the labels of the index contours in a view: one for each visible piece that is long
    /// enough, and more along very long pieces. Labels are placed where the contour is nearly
    /// straight, at a minimum distance from each other.
    pub fn labels(&self, view: &View) -> Vec<HeightLabel> {
        let mut labels: Vec<HeightLabel> = Vec::new();
        for contour in self.contours.iter().filter(|contour| contour.is_strong) {
            let pieces = contour.points.split(|point| !view.shows(*point));
            for pose in pieces.flat_map(|piece| along(piece, view.scale)) {
                let apart = APART * view.scale;
                let is_near =
                    |label: &HeightLabel| label.pose.position.distance(pose.position) < apart;
                if labels.len() < MOST_LABELS && !labels.iter().any(is_near) {
                    let height = contour.height;
                    labels.push(HeightLabel { pose, height });
                }
            }
        }
        labels
    }

    /// Returns the peaks in a view.
    pub fn seen_peaks(&self, view: &View) -> impl Iterator<Item = &Peak> {
        let is_seen = |peak: &&Peak| view.shows(peak.at);
        self.peaks.iter().filter(is_seen)
    }
}

/// Returns the poses of labels along a line.
fn along(line: &[DVec2], scale: f64) -> Vec<Pose> {
    if line.len() < 2 {
        return Vec::new();
    }
    let mut lengths = vec![0.0];
    for pair in line.windows(2) {
        lengths.push(lengths[lengths.len() - 1] + pair[0].distance(pair[1]));
    }
    let length = lengths[lengths.len() - 1];
    if length < LEAST_LENGTH * scale {
        return Vec::new();
    }
    let at = |s: f64| {
        let s = s.clamp(0.0, length);
        let next = lengths.partition_point(|l| *l < s).clamp(1, line.len() - 1);
        let share = (s - lengths[next - 1]) / (lengths[next] - lengths[next - 1]).max(1e-12);
        line[next - 1].lerp(line[next], share)
    };
    let half = HALF_LABEL * scale;
    let pose = |s: f64| {
        let [before, middle, after] = [s - half, s, s + half].map(at);
        let bend = (middle - before).angle_to(after - middle).abs();
        let place = Pose {
            // Between the line and the chord, so that the label is in the middle of a slight bend.
            position: 0.5 * middle + 0.25 * (before + after),
            heading: (after - before).to_angle(),
        };
        (bend <= MOST_BEND).then_some(place)
    };
    let count = (length / (AGAIN * scale)).floor().max(1.0);
    let share = length / count;
    let place = |i: usize| {
        let mut tried = TRIED.iter().map(|part| (i as f64 + part) * share);
        tried.find_map(pose)
    };
    (0..count as usize).filter_map(place).collect()
}

/// Returns the highest points of hills: each is the highest within a radius, and rises above the lowest point
/// within that radius by more than one contour interval. Points at the edge of the terrain are left out, because
/// the ground may rise beyond it.
fn peaks(field: &HeightField) -> Vec<Peak> {
    let (columns, rows) = (field.columns(), field.rows());
    let interval = contour_interval(field);
    let reach = ((columns.max(rows) as f64 * PEAK_RADIUS).ceil() as usize).max(1);
    let heights = field.heights();
    let mut peaks = Vec::new();
    // Only the highest sample of each square is compared with its surroundings, so that each sample is visited a
    // limited number of times.
    for top in (0..rows).step_by(reach) {
        for left in (0..columns).step_by(reach) {
            let square = Samples {
                columns: left..(left + reach).min(columns),
                rows: top..(top + reach).min(rows),
            };
            let highest =
                |index: &usize, other: &usize| heights[*index].total_cmp(&heights[*other]);
            let Some(index) = square.indices(columns).max_by(highest) else {
                continue;
            };
            let (column, row) = (index % columns, index / columns);
            if column == 0 || row == 0 || column + 1 == columns || row + 1 == rows {
                continue;
            }
            let around = Samples {
                columns: column.saturating_sub(reach)..(column + reach + 1).min(columns),
                rows: row.saturating_sub(reach)..(row + reach + 1).min(rows),
            };
            let height = heights[index];
            let mut lowest = height;
            // Of several equally high samples, the first is the peak.
            let is_peak = around.indices(columns).all(|other| {
                lowest = lowest.min(heights[other]);
                heights[other] < height || (heights[other] == height && other >= index)
            });
            if is_peak && height - lowest > interval {
                let at = field.position(column, row);
                peaks.push(Peak { at, height });
            }
        }
    }
    peaks.sort_by(|a, b| b.height.total_cmp(&a.height));
    peaks
}

/// A rectangle of samples in a height field.
struct Samples {
    columns: std::ops::Range<usize>,
    rows: std::ops::Range<usize>,
}

impl Samples {
    /// Returns the indices of the samples in a field with `columns` columns, row by row.
    fn indices(&self, columns: usize) -> impl Iterator<Item = usize> + use<> {
        let own = self.columns.clone();
        let rows = self.rows.clone();
        rows.flat_map(move |row| own.clone().map(move |column| row * columns + column))
    }
}

/// Formats a height in metres with at most one decimal.
pub fn height_text(height: f64) -> String {
    // Contours may be half a metre apart.
    let rounded = (10.0 * height).round() / 10.0;
    format!("{rounded} m")
}

/// Draws labels and peaks.
pub(crate) fn draw(canvas: &mut Canvas, relief: &Relief) {
    let (low, high) = canvas.view();
    let view = View {
        low,
        high,
        scale: 1.0 / canvas.scale,
    };
    for label in relief.labels(&view) {
        let text = height_text(label.height);
        let ground = relief.ground(label.height, canvas.is_dark());
        canvas.text_along(&text, label.pose, LABEL_SIZE, rgb(CONTOUR), ground);
    }
    for peak in relief.seen_peaks(&view) {
        let size = f64::from(PEAK_SIZE) / canvas.scale;
        let corners = [(-1.0, -0.8), (1.0, -0.8), (0.0, 0.9)];
        let corners = corners.map(|(x, y)| peak.at + size * DVec2::new(x, y));
        canvas.plain_polygon(&corners, canvas.shown(rgb(INK)));
        let (x, y) = canvas.pixel(peak.at);
        let text = height_text(peak.height);
        let below = y + PEAK_SIZE + LABEL_SIZE + 2.0;
        canvas.text(&text, x, below, LABEL_SIZE, Align::Centre, INK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::math;
    use std::f64::consts::PI;

    /// Creates ground of 400 m by 400 m with a height for each position.
    fn ground(height: impl Fn(DVec2) -> f64) -> HeightField {
        let level = HeightField::level(DVec2::splat(-200.0), DVec2::splat(200.0), 4.0);
        let level = level.expect("a field of 400 m");
        let (columns, rows) = (level.columns(), level.rows());
        let samples = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
        let heights = samples.map(|(column, row)| height(level.position(column, row)));
        level
            .with_heights(heights.collect())
            .expect("as many heights")
    }

    fn hill(at: DVec2, height: f64) -> impl Fn(DVec2) -> f64 {
        move |point| (height - 0.5 * point.distance(at)).max(0.0)
    }

    #[test]
    fn hills_have_one_peak_each_and_edges_and_level_ground_none() {
        let (a, b) = (DVec2::new(-80.0, -60.0), DVec2::new(96.0, 100.0));
        let first = hill(a, 50.0);
        let second = hill(b, 30.0);
        let field = ground(|at| first(at).max(second(at)));
        let peaks = peaks(&field);
        let found: Vec<(DVec2, f64)> = peaks.iter().map(|peak| (peak.at, peak.height)).collect();
        assert_eq!(found, [(a, 50.0), (b, 30.0)]);
        assert!(super::peaks(&ground(|_| 7.0)).is_empty());
        // A slope that rises to the eastern edge.
        assert!(super::peaks(&ground(|at| 0.2 * at.x)).is_empty());
        // A bump lower than one contour interval.
        let slope = |at: DVec2| 0.2 * at.x + if at.length() < 9.0 { 3.0 } else { 0.0 };
        assert!(super::peaks(&ground(slope)).is_empty());
    }

    #[test]
    fn index_contours_are_labelled_along_the_line_where_it_is_in_view() {
        let field = ground(|at| 0.2 * (at.x + 200.0));
        let relief = Relief::new(&field);
        let strong: Vec<f64> = relief
            .contours
            .iter()
            .filter(|c| c.is_strong)
            .map(|c| c.height)
            .collect();
        assert!(!strong.is_empty());
        let whole = View {
            low: DVec2::splat(-200.0),
            high: DVec2::splat(200.0),
            scale: 1.0,
        };
        let labels = relief.labels(&whole);
        assert_eq!(labels.iter().map(|l| l.height).collect::<Vec<_>>(), strong);
        for label in &labels {
            // The line runs from south to north where the ground has the label's height.
            assert!((label.pose.position.x - (5.0 * label.height - 200.0)).abs() < 0.1);
            assert!(label.pose.forward().y.abs() > 0.999);
        }
        // At twice the scale, only labels in the view are returned.
        let part = View {
            high: DVec2::new(200.0, -80.0),
            scale: 0.5,
            ..whole
        };
        let labels = relief.labels(&part);
        assert!(!labels.is_empty());
        assert!(labels.iter().all(|l| part.shows(l.pose.position)));
        // At a small scale the lines are too short.
        let far = View {
            scale: 10.0,
            ..whole
        };
        assert!(relief.labels(&far).is_empty());
    }

    #[test]
    fn labels_keep_apart() {
        // Contours only 2 m apart.
        let field = ground(|at| 25.0 * math::sin(at.x / 2.0 * PI / 10.0));
        let relief = Relief::new(&field);
        let view = View {
            low: DVec2::splat(-200.0),
            high: DVec2::splat(200.0),
            scale: 0.5,
        };
        let labels = relief.labels(&view);
        assert!(labels.len() > 3);
        for (i, a) in labels.iter().enumerate() {
            let others = labels[i + 1..].iter();
            let nearest = others.map(|b| a.pose.position.distance(b.pose.position));
            assert!(nearest.fold(f64::INFINITY, f64::min) >= 45.0);
        }
    }

    #[test]
    fn labels_avoid_sharp_bends() {
        // A line with a corner in the middle, at the position tried first.
        let line: Vec<DVec2> = (0..=100)
            .map(|i| {
                let i = f64::from(i);
                DVec2::new(i, if i < 50.0 { 0.0 } else { 2.0 * (i - 50.0) })
            })
            .collect();
        let poses = along(&line, 0.5);
        assert_eq!(poses.len(), 1);
        let bend = poses[0]
            .heading
            .abs()
            .min((poses[0].heading - math::atan(2.0)).abs());
        assert!(bend < 1e-9, "{:?}", poses[0]);
    }
}
