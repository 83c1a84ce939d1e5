//! Paint on reserved lanes: bays of parking lanes, bicycles on cycle lanes, and the word on bus lanes.

use crate::painter::Painter;
use crate::palette::{MARKING, faded};
use crate::road::Stretch;
use glam::DVec2;
use roadwright_geometry::{Pose, unit};
use roadwright_scenario::{LaneType, RoadClass, Scenario};
use std::f64::consts::TAU;

/// Scales between which symbols fade in, pixels per metre. Below the first they are invisible, and above the
/// second they are fully visible.
const FADE: (f64, f64) = (1.0 / 0.35, 1.0 / 0.25);
/// Minimum length of a parking bay, m.
const BAY: f64 = 5.3;
/// Width of the lines between bays, m.
const LINE: f64 = 0.12;
/// Minimum width of parking lanes with bays, m.
const LEAST_WIDTH: f64 = 1.6;
/// Distance from the beginning of a lane to its first bicycle, m.
const FIRST_BICYCLE: f64 = 10.0;
/// Distance between bicycles, m.
const BETWEEN_BICYCLES: f64 = 40.0;
/// Radius of a wheel, m.
const WHEEL: f64 = 0.31;
/// Distance between the wheels, m.
const WHEEL_BASE: f64 = 0.98;
/// Width of the strokes of a bicycle, m.
const STROKE: f64 = 0.08;

/// Distance from the beginning of a bus lane to its first word, m.
const FIRST_WORD: f64 = 10.0;
/// Distance between words, m.
const BETWEEN_WORDS: f64 = 60.0;
/// Distance from the last word to the end of the lane, m. It leaves room for arrows.
const AFTER_WORD: f64 = 30.0;
/// Width of a letter on the road, its length, and the gap to the next letter, m. Letters are elongated,
/// because drivers see them at a shallow angle.
const LETTER: (f64, f64, f64) = (0.5, 2.2, 0.22);
/// Width of the strokes of a letter, m.
const LETTER_STROKE: f64 = 0.16;
/// The strokes of a letter. Points are given across the letter (from the left) and along it, as fractions of
/// its width and length.
type Letter = &'static [&'static [(f64, f64)]];
const BUS: [Letter; 3] = [
    &[
        &[
            (0.7, 0.53),
            (0.0, 0.53),
            (0.0, 1.0),
            (0.7, 1.0),
            (1.0, 0.9),
            (1.0, 0.63),
            (0.7, 0.53),
        ],
        &[
            (0.0, 0.53),
            (0.0, 0.0),
            (0.7, 0.0),
            (1.0, 0.1),
            (1.0, 0.43),
            (0.7, 0.53),
        ],
    ],
    &[&[
        (0.0, 1.0),
        (0.0, 0.1),
        (0.3, 0.0),
        (0.7, 0.0),
        (1.0, 0.1),
        (1.0, 1.0),
    ]],
    &[&[
        (1.0, 0.85),
        (1.0, 0.9),
        (0.7, 1.0),
        (0.3, 1.0),
        (0.0, 0.9),
        (0.0, 0.64),
        (0.3, 0.55),
        (0.7, 0.47),
        (1.0, 0.38),
        (1.0, 0.1),
        (0.7, 0.0),
        (0.3, 0.0),
        (0.0, 0.1),
        (0.0, 0.15),
    ]],
];

/// Draws bays, bicycles and words on the given stretches.
pub(crate) fn draw(painter: &mut impl Painter, scenario: &Scenario, stretches: &[Stretch<'_>]) {
    let share = (painter.scale() - FADE.0) / (FADE.1 - FADE.0);
    let alpha = (0.95 * share.clamp(0.0, 1.0)) as f32;
    if alpha == 0.0 {
        return;
    }
    let color = faded(MARKING, alpha);
    let side = scenario.about().driving_side;
    for stretch in stretches.iter().filter(|s| s.road.class != RoadClass::Path) {
        for (place, lane) in stretch.section.lanes.iter().enumerate() {
            match lane.kind {
                LaneType::Parking => bays(painter, stretch, place, color),
                LaneType::Biking => bicycles(painter, stretch, place, lane.is_forward(side), color),
                LaneType::Bus => words(painter, stretch, place, lane.is_forward(side), color),
                _ => {}
            }
        }
    }
}

/// Draws lines across a parking lane at both ends and between bays of equal length.
fn bays(painter: &mut impl Painter, stretch: &Stretch<'_>, place: usize, color: tiny_skia::Color) {
    let (from, to) = stretch.range();
    let count = ((to - from) / BAY).floor();
    if count < 1.0 {
        return;
    }
    let length = (to - from) / count;
    // At the ends, the line is entirely inside the lane.
    let inset = 0.5 * LINE;
    for i in 0..=count as u32 {
        let s = (from + length * f64::from(i)).clamp(from + inset, to - inset);
        let band = stretch.road.lane_bands(stretch.section, s)[place];
        if band.width < LEAST_WIDTH {
            continue;
        }
        let at = |share: f64| {
            stretch
                .road
                .reference_line
                .point(s, band.centre + share * band.width)
        };
        painter.line(&[at(-0.5), at(0.5)], LINE, 0.8, color);
    }
}

/// Draws bicycles along a cycle lane so that cyclists see them upright.
fn bicycles(
    painter: &mut impl Painter,
    stretch: &Stretch<'_>,
    place: usize,
    forward: bool,
    color: tiny_skia::Color,
) {
    let (from, to) = stretch.range();
    let count = ((to - from - FIRST_BICYCLE) / BETWEEN_BICYCLES)
        .ceil()
        .max(0.0) as u32;
    for i in 0..count {
        let along = FIRST_BICYCLE + BETWEEN_BICYCLES * f64::from(i);
        let s = if forward { from + along } else { to - along };
        let band = stretch.road.lane_bands(stretch.section, s)[place];
        let pose = stretch.road.reference_line.offset_pose(s, band.centre);
        bicycle(painter, if forward { pose } else { pose.reversed() }, color);
    }
}

/// Draws a bicycle in side view, with its front to the right.
fn bicycle(painter: &mut impl Painter, at: Pose, color: tiny_skia::Color) {
    // Measured from the midpoint between the wheels: x to the right and y ahead, as the cyclist sees it.
    let place = |x: f64, y: f64| at.point(y, -x);
    let wheel = |x: f64| -> Vec<DVec2> {
        let corner = |i: u32| {
            let on = WHEEL * unit(TAU * f64::from(i) / 16.0);
            place(x + on.x, on.y)
        };
        (0..16).map(corner).collect()
    };
    let half = 0.5 * WHEEL_BASE;
    let (rear, front, pedals) = ((-half, 0.0), (half, 0.0), (-0.06, -0.02));
    let (saddle, bar) = ((-0.2, 0.48), (0.32, 0.5));
    for x in [-half, half] {
        painter.edge(&wheel(x), STROKE, 0.8, color);
    }
    for stroke in [
        &[rear, saddle, pedals, rear][..],
        &[pedals, bar, saddle],
        &[front, bar],
    ] {
        let points: Vec<DVec2> = stroke.iter().map(|&(x, y)| place(x, y)).collect();
        painter.line(&points, STROKE, 0.8, color);
    }
}

/// Draws the word along a bus lane so that drivers see it upright.
fn words(
    painter: &mut impl Painter,
    stretch: &Stretch<'_>,
    place: usize,
    forward: bool,
    color: tiny_skia::Color,
) {
    let (from, to) = stretch.range();
    let room = to - from - FIRST_WORD - AFTER_WORD;
    let count = (room / BETWEEN_WORDS).floor() as i64 + 1;
    for i in 0..count {
        let along = FIRST_WORD + BETWEEN_WORDS * i as f64;
        let s = if forward { from + along } else { to - along };
        let band = stretch.road.lane_bands(stretch.section, s)[place];
        if band.width < LEAST_WIDTH {
            continue;
        }
        let pose = stretch.road.reference_line.offset_pose(s, band.centre);
        let pose = if forward { pose } else { pose.reversed() };
        word(painter, pose, &BUS, color);
    }
}

/// Draws letters side by side, with their lower ends on a line across the lane.
fn word(painter: &mut impl Painter, at: Pose, letters: &[Letter], color: tiny_skia::Color) {
    let (width, length, gap) = LETTER;
    let count = letters.len() as f64;
    let whole = count * width + (count - 1.0) * gap;
    for (i, letter) in letters.iter().enumerate() {
        let left = i as f64 * (width + gap) - 0.5 * whole;
        for stroke in letter.iter() {
            let points = stroke.iter();
            let points = points.map(|&(x, y)| at.point(y * length, -(left + x * width)));
            let points: Vec<DVec2> = points.collect();
            painter.line(&points, LETTER_STROKE, 0.8, color);
        }
    }
}
