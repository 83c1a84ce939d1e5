use super::*;
use crate::math::{Stream, sin_cos};
use proptest::prelude::*;

/// Creates a drawn shape, given by its segments.
fn shape(segments: &[Segment]) -> ReferenceLine {
    ReferenceLine::new(Pose::new(3.0, -2.0, 0.3), segments.to_vec()).unwrap()
}

fn straight(length: f64) -> Segment {
    Segment::Line { length }
}

fn arc(radius: f64, turn: f64) -> Segment {
    Segment::Arc {
        length: radius * turn.abs(),
        curvature: turn.signum() / radius,
    }
}

fn spiral(length: f64, from: f64, to: f64) -> Segment {
    Segment::Spiral {
        length,
        curvature_start: from,
        curvature_end: to,
    }
}

fn s_bend() -> ReferenceLine {
    shape(&[
        straight(40.0),
        arc(50.0, 1.0),
        arc(50.0, -1.0),
        straight(40.0),
    ])
}

/// Simulates a hand with a mouse that follows a line. It has steps of about `step` metres, jitter
/// and a slow wobble of `noise` metres, and coordinates rounded to whole pixels.
fn drawn(line: &ReferenceLine, step: f64, noise: f64, pixel: f64, seed: u64) -> Vec<DVec2> {
    let mut stream = Stream::new(seed, "stroke", 0);
    let phase = stream.next_in(0.0, 6.0);
    let count = (line.length() / step) as usize;
    (0..=count)
        .map(|i| {
            let s = line.length() * i as f64 / count as f64;
            let pose = line.pose(s);
            let wobble = 0.6 * noise * sin_cos(0.05 * s + phase).0;
            let jitter = DVec2::new(stream.next_in(-1.0, 1.0), stream.next_in(-1.0, 1.0));
            let p = pose.position + wobble * pose.left() + 0.5 * noise * jitter;
            (p / pixel).round() * pixel
        })
        .collect()
}

fn options() -> StrokeOptions {
    StrokeOptions::at_scale(0.25, 8.0)
}

fn inflections(line: &ReferenceLine) -> usize {
    let mut signs: Vec<f64> = Vec::new();
    for segment in line.segments() {
        let sign = match *segment {
            Segment::Arc { curvature, .. } => curvature.signum(),
            _ => continue,
        };
        if signs.last() != Some(&sign) {
            signs.push(sign);
        }
    }
    signs.len().saturating_sub(1)
}

/// Returns the largest distance between the fitted line and the true one, except in the last
/// metres.
fn miss(fitted: &ReferenceLine, truth: &ReferenceLine) -> f64 {
    let points: Vec<DVec2> = (0..200)
        .map(|i| {
            fitted
                .pose(4.0 + (fitted.length() - 8.0) * f64::from(i) / 199.0)
                .position
        })
        .collect();
    sampling::deviation(truth, &points)
}

/// Checks the fit of a shape. `median` and `worst` are fractions of the tolerance.
fn check_shape(truth: &ReferenceLine, elements: usize, bends: usize, (median, worst): (f64, f64)) {
    let mut misses = Vec::new();
    let mut chains = 0;
    for seed in 0..24 {
        let points = drawn(truth, 1.7, 0.25, 0.25, seed);
        let fit = fit(&points, &options()).unwrap();
        if fit.is_chain {
            chains += 1;
            continue;
        }
        assert!(
            fit.line.segments().len() <= elements,
            "seed {seed}: {:?}",
            fit.line.segments()
        );
        assert_eq!(
            inflections(&fit.line),
            bends,
            "seed {seed}: {:?}",
            fit.line.segments()
        );
        assert!((fit.line.start().position - points[0]).length() < 1e-9);
        assert!((fit.line.end().position - points[points.len() - 1]).length() < 1e-6);
        misses.push(miss(&fit.line, truth));
    }
    assert!(chains <= 1, "{chains} strokes of 24 are not understood");
    misses.sort_by(f64::total_cmp);
    let (middle, largest) = (misses[misses.len() / 2], misses[misses.len() - 1]);
    let tolerance = options().tolerance;
    assert!(middle <= median * tolerance, "median {middle}");
    assert!(largest <= worst * tolerance, "worst {largest}");
}

#[test]
fn a_straight_stroke_is_one_line() {
    check_shape(&shape(&[straight(200.0)]), 1, 0, (0.5, 1.0));
}

#[test]
fn an_arc_is_an_arc() {
    check_shape(&shape(&[arc(60.0, 2.1)]), 3, 0, (0.5, 1.0));
}

#[test]
fn an_s_bend_has_one_inflection() {
    check_shape(&s_bend(), 7, 1, (0.5, 1.5));
}

#[test]
fn a_hairpin_turns_one_way() {
    let truth = shape(&[
        straight(40.0),
        arc(12.0, std::f64::consts::PI),
        straight(40.0),
    ]);
    check_shape(&truth, 5, 0, (0.8, 1.6));
}

#[test]
fn a_bend_with_spirals_keeps_its_radius() {
    let k = 1.0 / 120.0;
    let truth = shape(&[
        straight(60.0),
        spiral(30.0, 0.0, k),
        arc(120.0, 0.6),
        spiral(30.0, k, 0.0),
        straight(60.0),
    ]);
    check_shape(&truth, 5, 0, (0.5, 1.0));
    let fitted = fit(&drawn(&truth, 1.7, 0.25, 0.25, 1), &options())
        .unwrap()
        .line;
    assert!(
        fitted.max_curvature() < 1.15 * k,
        "{}",
        1.0 / fitted.max_curvature()
    );
}

#[test]
fn curvature_is_continuous_and_never_too_tight() {
    for seed in 0..10 {
        let line = fit(&drawn(&s_bend(), 1.7, 0.25, 0.25, seed), &options())
            .unwrap()
            .line;
        let starts: Vec<f64> = line.segment_starts().skip(1).collect();
        for s in starts {
            let jump = line.curvature(s + 1e-9) - line.curvature(s - 1e-9);
            assert!(jump.abs() < 1e-6, "seed {seed}: {jump}");
        }
        assert!(line.max_curvature() <= 1.0 / 8.0 + 1e-9);
    }
}

#[test]
fn corners_are_kept_and_rounded_with_the_asked_radius() {
    let corners = [
        (0.0, 0.0),
        (80.0, 0.0),
        (80.0, 60.0),
        (0.0, 60.0),
        (0.0, 15.0),
    ]
    .map(DVec2::from);
    let mut points = Vec::new();
    for pair in corners.windows(2) {
        let line = ReferenceLine::straight(pair[0], pair[1]).unwrap();
        points.extend(drawn(&line, 1.7, 0.2, 0.25, 5));
    }
    let fit = fit(&points, &options()).unwrap();
    let kinds: Vec<bool> = fit
        .line
        .segments()
        .iter()
        .map(|segment| matches!(segment, Segment::Line { .. }))
        .collect();
    assert_eq!(
        kinds.iter().filter(|line| **line).count(),
        4,
        "{:?}",
        fit.line.segments()
    );
    // A right-angle bend with a radius of 8 m misses its corner by 3.3 m.
    let projector = crate::projection::Projector::new(fit.line.clone());
    for corner in &corners[1..4] {
        let foot = projector.closest(*corner);
        let gap = (fit.line.pose(foot.s).position - *corner).length();
        assert!((2.5..4.5).contains(&gap), "{gap}");
    }
}

#[test]
fn the_pace_of_the_hand_does_not_matter() {
    let truth = s_bend();
    let slow = fit(&drawn(&truth, 0.2, 0.0, 0.01, 1), &options())
        .unwrap()
        .line;
    let fast = fit(&drawn(&truth, 6.0, 0.0, 0.01, 1), &options())
        .unwrap()
        .line;
    assert!(miss(&slow, &fast) < 0.25 * options().tolerance);
}

#[test]
fn far_from_the_origin_and_turned_it_is_the_same() {
    let points = drawn(&s_bend(), 1.7, 0.25, 0.25, 3);
    let here = fit(&points, &options()).unwrap().line;
    let far: Vec<DVec2> = points
        .iter()
        .map(|p| p.perp() + DVec2::new(1e5, -3e4))
        .collect();
    let there = fit(&far, &options()).unwrap().line;
    assert_eq!(here.segments().len(), there.segments().len());
    for i in 0..50 {
        let share = f64::from(i) / 49.0;
        let p = here.pose(share * here.length()).position.perp() + DVec2::new(1e5, -3e4);
        assert!((p - there.pose(share * there.length()).position).length() < 1e-3);
    }
}

#[test]
fn nothing_is_drawn_by_a_click() {
    assert!(fit(&[], &options()).is_err());
    assert!(fit(&[DVec2::ZERO; 5], &options()).is_err());
    assert!(fit(&[DVec2::ZERO, DVec2::new(0.4, 0.0)], &options()).is_err());
    assert!(fit(&[DVec2::NAN, DVec2::NAN], &options()).is_err());
}

#[test]
fn a_long_scribble_takes_no_time() {
    let mut at = DVec2::ZERO;
    let mut stream = Stream::new(9, "scribble", 0);
    let points: Vec<DVec2> = (0..1500)
        .map(|_| {
            at += DVec2::new(stream.next_in(-9.0, 9.0), stream.next_in(-9.0, 9.0));
            at
        })
        .collect();
    // Tests only that the fit terminates, whatever its result.
    let _ = fit(&points, &options());
}

#[test]
fn a_circle_closes_on_itself() {
    let truth = shape(&[arc(30.0, 6.2)]);
    let fit = fit(&drawn(&truth, 1.5, 0.1, 0.1, 2), &options()).unwrap();
    assert!(miss(&fit.line, &truth) < 1.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn scribbles_never_panic(
        steps in prop::collection::vec((-30.0..30.0f64, -30.0..30.0f64), 0..60),
    ) {
        let mut at = DVec2::ZERO;
        let points: Vec<DVec2> = steps.into_iter().map(|(x, y)| { at += DVec2::new(x, y); at }).collect();
        if let Ok(fit) = fit(&points, &options()) {
            prop_assert!(fit.line.length().is_finite());
            prop_assert!((fit.line.start().position - points[0]).length() < 1e-6);
        }
    }
}
