//! Lane markings, arrows, stop lines.

use crate::canvas::Canvas;
use crate::painter::Painter;
use crate::palette::{MARKING, QUIET_INK, SIGNAL, faded, rgb};
use crate::road::Stretch;
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_scenario::junction::{Arm, Junction, Layout, Sign};
use roadwright_scenario::{DrivingSide, Lane, LaneType, RoadClass, Scenario};

/// Fewer pixels per metre show no markings.
const MIN_SCALE: f64 = 1.6;
/// Fewer pixels per metre show no arrows.
const MIN_ARROW_SCALE: f64 = 2.2;
/// Width of a line on the road, m.
const LINE: f64 = 0.14;
/// Distance between two arrows of a lane, m.
const ARROW_DISTANCE: f64 = 45.0;

/// Lines along lanes.
pub(crate) fn lines(canvas: &mut impl Painter, stretches: &[Stretch<'_>], side: DrivingSide) {
    if canvas.scale() < MIN_SCALE {
        return;
    }
    for stretch in stretches.iter().filter(|s| s.road.class != RoadClass::Path) {
        for (place, pair) in stretch.section.lanes.windows(2).enumerate() {
            // Lanes run from left to right; the border is the right edge of the left one.
            let border = |s: f64| {
                let band = stretch.road.lane_bands(stretch.section, s)[place];
                band.centre - 0.5 * band.width
            };
            if let Some((dash, hex)) = border_style(&pair[0], &pair[1], side) {
                canvas.line(&stretch.line(border), LINE, 0.8, dash, faded(hex, 0.9));
            }
        }
    }
}

/// Dashes (on, off) in metres; none for a solid line.
type Dash = Option<(f64, f64)>;

/// How the border between two lanes is marked, if at all.
fn border_style(left: &Lane, right: &Lane, side: DrivingSide) -> Option<(Dash, u32)> {
    let drivable = (left.kind.is_drivable(), right.kind.is_drivable());
    match drivable {
        // Against each other: long dashes. Between lanes of one direction short ones; a solid line
        // guards a bus lane. Beside what is not driven on, short dashes where vehicles may cross, and
        // nothing where a kerb shows anyway.
        (true, true) if left.is_forward(side) != right.is_forward(side) => {
            Some((Some((4.0, 2.0)), MARKING))
        }
        (true, true) if left.kind != right.kind => Some((None, MARKING)),
        (true, true) => Some((Some((2.0, 4.0)), MARKING)),
        (true, false) | (false, true) => {
            let other = if drivable.0 { right.kind } else { left.kind };
            let marked = matches!(
                other,
                LaneType::Parking | LaneType::Biking | LaneType::Shoulder
            );
            marked.then_some((Some((1.0, 1.0)), MARKING))
        }
        (false, false) => None,
    }
}

/// Arrows that show which way lanes are driven.
pub(crate) fn arrows(canvas: &mut impl Painter, stretches: &[Stretch<'_>], side: DrivingSide) {
    if canvas.scale() < MIN_ARROW_SCALE {
        return;
    }
    for stretch in stretches {
        let (from, to) = (
            stretch.distances[0],
            stretch.distances[stretch.distances.len() - 1],
        );
        // One in the middle of a short stretch, none on a very short one.
        let count = ((to - from) / ARROW_DISTANCE).round().max(1.0) as usize;
        if to - from < 12.0 {
            continue;
        }
        for i in 0..count {
            let s = from + (to - from) * (i as f64 + 0.5) / count as f64;
            let bands = stretch.road.lane_bands(stretch.section, s);
            for (lane, band) in stretch.section.lanes.iter().zip(bands) {
                if lane.kind.is_drivable() {
                    let pose = stretch.road.reference_line.offset_pose(s, band.centre);
                    let pose = if lane.is_forward(side) {
                        pose
                    } else {
                        pose.reversed()
                    };
                    arrow(canvas, pose, (0.28 * band.width).min(0.9));
                }
            }
        }
    }
}

/// An arrow with its tip ahead of the pose.
fn arrow(canvas: &mut impl Painter, pose: Pose, half: f64) {
    let shape = [
        (1.9, 0.0),
        (0.5, half),
        (0.5, 0.25 * half),
        (-1.9, 0.25 * half),
        (-1.9, -0.25 * half),
        (0.5, -0.25 * half),
        (0.5, -half),
    ];
    let points = shape.map(|(ahead, left)| pose.point(ahead, left));
    canvas.polygon(&points, faded(MARKING, 0.85));
}

/// Length of a dash of a line at which one gives way, and of the gap after it, m.
const YIELD_DASH: (f64, f64) = (0.5, 0.35);

/// Lines before junctions where the control asks for them, and signals.
pub(crate) fn stop_lines(canvas: &mut impl Painter, scenario: &Scenario, junctions: &[&Junction]) {
    if canvas.scale() < MIN_SCALE {
        return;
    }
    let side = scenario.about().driving_side;
    for junction in junctions.iter().filter(|junction| junction.is_crossing()) {
        for end in junction.arms.iter().filter(|end| end.sign != Sign::None) {
            let Some(road) = scenario.network().road(end.road) else {
                continue;
            };
            let lanes = Arm::new(end.road, road, end.end).lanes(end.trim, side, true);
            for lane in lanes {
                // A little before the cut, and not quite as wide as the lane.
                let at = |left: f64| lane.pose.point(-0.4, left * (0.5 * lane.width - 0.15));
                let dashes = (end.sign == Sign::Yield).then_some(YIELD_DASH);
                canvas.line(
                    &[at(1.0), at(-1.0)],
                    0.35,
                    1.0,
                    dashes,
                    faded(MARKING, 0.95),
                );
                if end.sign == Sign::Signal {
                    let post = lane.pose.point(-0.4, 0.0);
                    canvas.circle(post, 0.55, 2.0, rgb(QUIET_INK));
                    canvas.circle(post, 0.38, 1.4, rgb(SIGNAL));
                }
            }
        }
    }
}

/// Names of points of interest, beside them.
pub(crate) fn place_names(canvas: &mut Canvas, scenario: &Scenario) {
    if canvas.scale < MIN_SCALE {
        return;
    }
    let mut written: Vec<(f32, f32, f32)> = Vec::new();
    for point in scenario.points_of_interest().values() {
        let (x, y) = canvas.pixel(point.position());
        let mark = (crate::reach_of_mark(point) * canvas.scale) as f32;
        let beside = x + (mark + 4.0).max(8.0);
        let (size, ink) = (11.0, crate::palette::INK);
        let width = crate::text::width(&point.name, size);
        // No name over another one.
        let is_taken = written.iter().any(|&(from, other_y, length)| {
            beside < from + length && from < beside + width && (y - other_y).abs() < 14.0
        });
        if is_taken {
            continue;
        }
        written.push((beside, y, width));
        canvas.text(
            &point.name,
            beside,
            y + 4.0,
            size,
            crate::text::Align::Left,
            ink,
        );
    }
}

/// Street names along their roads, each name where its longest stretch is.
pub(crate) fn names(canvas: &mut Canvas, scenario: &Scenario, layout: &Layout) {
    if canvas.scale < MIN_SCALE {
        return;
    }
    // A street is many roads of one name, cut at every junction: one name is enough. In the order of
    // names, so that it does not depend on ids which of two that collide is written.
    let mut longest: std::collections::BTreeMap<&str, (f64, DVec2)> =
        std::collections::BTreeMap::new();
    for (id, road) in scenario
        .network()
        .roads()
        .filter(|(_, road)| !road.name.is_empty())
    {
        let Some((from, to)) = layout.remaining(id, road) else {
            continue;
        };
        let middle = road.reference_line.pose(0.5 * (from + to)).position;
        let known = longest.entry(&road.name).or_insert((0.0, middle));
        if to - from > known.0 {
            *known = (to - from, middle);
        }
    }
    let mut written: Vec<(f32, f32, f32)> = Vec::new();
    for (name, (length, middle)) in longest {
        let width = crate::text::width(name, 11.0);
        let (x, y) = canvas.pixel(middle);
        // No name over another one.
        let taken = written.iter().any(|&(other_x, other_y, other_width)| {
            (x - other_x).abs() < 0.5 * (width + other_width) + 6.0 && (y - other_y).abs() < 16.0
        });
        if width < 1.2 * (length * canvas.scale) as f32 && !taken {
            written.push((x, y, width));
            canvas.text(
                name,
                x,
                y + 4.0,
                11.0,
                crate::text::Align::Centre,
                crate::palette::INK,
            );
        }
    }
}
