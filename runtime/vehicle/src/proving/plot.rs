//! Plots of manoeuvres.
//!
//! A manoeuvre is recorded while it is measured, so that the plot shows the drive that gave the
//! value. If no plot is needed, the recorder stores nothing.

use serde::Serialize;

/// Maximum number of points in a series. The picture does not have more columns of pixels.
const MOST_POINTS: usize = 1000;

/// A plot of a manoeuvre: series over two axes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plot {
    /// Name of the manoeuvre, one of [`MANOEUVRES`](super::MANOEUVRES).
    pub name: &'static str,
    /// Vehicle, manoeuvre, value and limit.
    pub title: String,
    /// Quantity and unit of the horizontal axis.
    pub x: &'static str,
    /// Quantity and unit of the vertical axis.
    pub y: &'static str,
    /// Lines and dots. Series with the same label share an entry in the legend.
    pub series: Vec<Series>,
    /// Limits and other values that are drawn as lines across the whole plot.
    pub marks: Vec<Mark>,
}

/// A line or a set of dots.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Label of the series.
    pub label: String,
    /// Style of drawing.
    pub look: Look,
    /// Points in the units of the axes, in the order of measurement. All are finite, and there is
    /// at least one.
    pub points: Vec<[f64; 2]>,
}

/// Drawing style of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// A line, for measurements.
    Line,
    /// A thin line, for context.
    Thin,
    /// A dashed line, for a closed-form result.
    Dashed,
    /// Points drawn as separate dots.
    Dots,
}

/// A value that is marked by a dashed line across the plot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// Label of the mark.
    pub label: String,
    /// Axis of the value.
    pub axis: MarkAxis,
    /// Value in the unit of the axis; finite.
    pub at: f64,
}

/// Axis of a mark's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkAxis {
    /// Horizontal axis. The mark is a vertical line.
    X,
    /// Vertical axis. The mark is a horizontal line.
    Y,
}

/// Records a manoeuvre while it is measured, or does nothing.
pub(super) struct Recorder {
    plot: Option<Plot>,
}

impl Recorder {
    /// Creates a recorder that does nothing.
    pub(super) fn off() -> Self {
        Self { plot: None }
    }

    /// Creates a recorder for a manoeuvre.
    pub(super) fn on(name: &'static str) -> Self {
        Self {
            plot: Some(Plot {
                name,
                title: String::new(),
                x: "",
                y: "",
                series: Vec::new(),
                marks: Vec::new(),
            }),
        }
    }

    /// Sets the labels of the axes.
    pub(super) fn axes(&mut self, x: &'static str, y: &'static str) {
        if let Some(plot) = &mut self.plot {
            (plot.x, plot.y) = (x, y);
        }
    }

    /// Adds a point to the line with the given label. The first point creates the line.
    pub(super) fn sample(&mut self, label: &str, point: [f64; 2]) {
        let Some(plot) = &mut self.plot else { return };
        if !point.iter().all(|number| number.is_finite()) {
            return;
        }
        // A manoeuvre samples a few lines in turn, so the line is near the end of the list.
        let known = plot.series.iter_mut().rev();
        match known.into_iter().find(|series| series.label == label) {
            Some(series) => series.points.push(point),
            None => plot.series.push(Series {
                label: label.into(),
                look: Look::Line,
                points: vec![point],
            }),
        }
    }

    /// Adds a whole series. The iterator is not used if recording is off. Non-finite points are left out, and
    /// an empty series is not added.
    pub(super) fn series(
        &mut self,
        label: impl Into<String>,
        look: Look,
        points: impl IntoIterator<Item = [f64; 2]>,
    ) {
        let Some(plot) = &mut self.plot else { return };
        let points = points.into_iter();
        let points: Vec<_> = points.filter(|[x, y]| (x + y).is_finite()).collect();
        if !points.is_empty() {
            plot.series.push(Series {
                label: label.into(),
                look,
                points,
            });
        }
    }

    /// Adds a dashed line across the plot at the given value, unless the value is not finite.
    pub(super) fn mark(&mut self, axis: MarkAxis, at: f64, label: impl Into<String>) {
        if let Some(plot) = self.plot.as_mut().filter(|_| at.is_finite()) {
            let label = label.into();
            plot.marks.push(Mark { label, axis, at });
        }
    }

    /// Returns the plot with a title; `None` if nothing was recorded.
    pub(super) fn finish(self, title: impl FnOnce() -> String) -> Option<Plot> {
        let mut plot = self.plot.filter(|plot| !plot.series.is_empty())?;
        plot.title = title();
        for series in &mut plot.series {
            series.thin_out();
        }
        Some(plot)
    }
}

impl Series {
    /// Drops evenly spaced points until there are few enough. The last point is kept.
    fn thin_out(&mut self) {
        let Some(last) = self.points.last().copied() else {
            return;
        };
        let every = self.points.len().div_ceil(MOST_POINTS);
        if every > 1 {
            self.points = self.points.iter().step_by(every).copied().collect();
            if self.points.last() != Some(&last) {
                self.points.push(last);
            }
        }
    }
}

/// Lines that belong to one trial.
type Lines = Vec<(Look, Vec<[f64; 2]>)>;

/// Among trials of increasing difficulty, the hardest trial that passed and the easiest that
/// failed.
#[derive(Default)]
pub(super) struct Trials {
    passed: Option<(f64, Lines)>,
    failed: Option<(f64, Lines)>,
}

impl Trials {
    /// Adds the lines of a trial at the given value, unless an easier trial has already failed.
    pub(super) fn add(&mut self, value: f64, lines: Lines, passed: bool) {
        if self.failed.is_some() {
            return;
        }
        let kept = if passed {
            &mut self.passed
        } else {
            &mut self.failed
        };
        *kept = Some((value, lines));
    }

    /// Whether no trial was added.
    pub(super) fn is_empty(&self) -> bool {
        self.passed.is_none() && self.failed.is_none()
    }

    /// Draws both trials. Their labels contain the value in the given unit.
    pub(super) fn record(self, unit: &str, recorder: &mut Recorder) {
        let kinds = [
            (self.passed, "hardest passed"),
            (self.failed, "easiest failed"),
        ];
        for (trial, kind) in kinds {
            let Some((value, lines)) = trial else {
                continue;
            };
            for (look, points) in lines {
                recorder.series(format!("{value:.3} {unit}, {kind}"), look, points);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn a_recorder_keeps_what_is_finite_and_the_ends_of_long_lines() {
        let mut recorder = Recorder::on("gap");
        recorder.axes("time, s", "speed, m/s");
        for number in 0..5_555u32 {
            recorder.sample("a", [f64::from(number), 1.0]);
            recorder.sample("b", [f64::from(number), f64::NAN]);
        }
        recorder.series("c", Look::Dots, [[f64::INFINITY, 0.0]]);
        recorder.mark(MarkAxis::X, f64::NAN, "nowhere");
        recorder.mark(MarkAxis::Y, 2.0, "limit");
        let plot = recorder.finish(|| "T".into()).unwrap();
        assert_eq!((plot.series.len(), plot.marks.len()), (1, 1));
        let points = &plot.series[0].points;
        assert!(points.len() <= MOST_POINTS + 1 && points.len() > MOST_POINTS / 2);
        assert_eq!((points[0][0], points[points.len() - 1][0]), (0.0, 5_554.0));
    }

    #[test]
    fn who_wants_no_pictures_computes_none() {
        let mut recorder = Recorder::off();
        let asked = std::iter::from_fn(|| -> Option<[f64; 2]> { panic!("asked for a point") });
        recorder.series("a", Look::Line, asked);
        recorder.sample("b", [0.0, 0.0]);
        assert_eq!(recorder.finish(|| panic!("asked for a title")), None);
        assert_eq!(Recorder::on("gap").finish(String::new), None);
    }

    #[test]
    fn of_trials_the_last_passed_and_the_first_failed_are_drawn() {
        let mut trials = Trials::default();
        for (value, passed) in [(1.0, true), (2.0, true), (3.0, false), (4.0, true)] {
            trials.add(value, vec![(Look::Line, vec![[0.0, value]])], passed);
        }
        let mut recorder = Recorder::on("gap");
        trials.record("m", &mut recorder);
        let plot = recorder.finish(String::new).unwrap();
        let labels: Vec<_> = plot.series.iter().map(|one| one.label.as_str()).collect();
        let expected = ["2.000 m, hardest passed", "3.000 m, easiest failed"];
        assert_eq!(labels, expected);
    }
}
