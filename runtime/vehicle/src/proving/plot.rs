//! What manoeuvres were like, as numbers that can be drawn.
//!
//! A manoeuvre records while it measures, so that a picture shows the drive that gave the value and no
//! second one. Who does not want pictures has a recorder that keeps nothing.

use serde::Serialize;

/// Points that a series keeps at most: more than a picture has columns are a waste.
const MOST_POINTS: usize = 1000;

/// A picture of a manoeuvre: series over two axes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plot {
    /// Name of the manoeuvre, one of [`MANOEUVRES`](super::MANOEUVRES).
    pub name: &'static str,
    /// Vehicle, manoeuvre, value and limit.
    pub title: String,
    /// What goes to the right, with its unit.
    pub x: &'static str,
    /// What goes up, with its unit.
    pub y: &'static str,
    /// Lines and dots; those that have the same label belong together.
    pub series: Vec<Series>,
    /// Limits and other values that go across the whole picture.
    pub marks: Vec<Mark>,
}

/// A line or a cloud of dots.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// What it is.
    pub label: String,
    /// How it is to be drawn.
    pub look: Look,
    /// Finite, in the units of the axes and in the order in which they were measured; at least one.
    pub points: Vec<[f64; 2]>,
}

/// How a series is to be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// As a line: what was measured.
    Line,
    /// As a thin line: what helps to read the others.
    Thin,
    /// As dashes: a closed form.
    Dashed,
    /// As dots.
    Dots,
}

/// A value that goes across a picture as a dashed line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// What it is.
    pub label: String,
    /// On which axis the value is.
    pub axis: MarkAxis,
    /// In the unit of the axis; finite.
    pub at: f64,
}

/// The axis on which a mark has its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkAxis {
    /// The line goes up.
    X,
    /// The line goes across.
    Y,
}

/// Keeps what a manoeuvre is like while it measures, or nothing.
pub(super) struct Recorder {
    plot: Option<Plot>,
}

impl Recorder {
    /// One that keeps nothing.
    pub(super) fn off() -> Self {
        Self { plot: None }
    }

    /// One for a manoeuvre.
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

    /// Says what the axes are.
    pub(super) fn axes(&mut self, x: &'static str, y: &'static str) {
        if let Some(plot) = &mut self.plot {
            (plot.x, plot.y) = (x, y);
        }
    }

    /// Adds a point to the line of a label, which begins with the first one.
    pub(super) fn sample(&mut self, label: &str, point: [f64; 2]) {
        let Some(plot) = &mut self.plot else { return };
        if !point.iter().all(|number| number.is_finite()) {
            return;
        }
        // Manoeuvres sample few lines in turn: the one that is meant is among the last.
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

    /// Adds a whole series. Points are not asked for if nobody wants them; those that are not finite are
    /// left out, and a series without any is none.
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

    /// Adds a dashed line across the picture at a value; none for one that is not finite.
    pub(super) fn mark(&mut self, axis: MarkAxis, at: f64, label: impl Into<String>) {
        if let Some(plot) = self.plot.as_mut().filter(|_| at.is_finite()) {
            let label = label.into();
            plot.marks.push(Mark { label, axis, at });
        }
    }

    /// What was kept, under a title; nothing where the manoeuvre recorded nothing.
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
    /// Leaves out points, evenly, until there are few enough; the last one stays.
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

/// Lines of a trial.
type Lines = Vec<(Look, Vec<[f64; 2]>)>;

/// Of trials that become harder: the last one that was passed and the first one that was not.
#[derive(Default)]
pub(super) struct Trials {
    passed: Option<(f64, Lines)>,
    failed: Option<(f64, Lines)>,
}

impl Trials {
    /// Keeps the lines of a trial at a value, unless an easier one has failed already.
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

    /// Whether no trial was kept.
    pub(super) fn is_empty(&self) -> bool {
        self.passed.is_none() && self.failed.is_none()
    }

    /// Draws both, under labels that say the value in a unit.
    pub(super) fn record(self, unit: &str, recorder: &mut Recorder) {
        let kinds = [
            (self.passed, "the most that it passes"),
            (self.failed, "the first that it fails"),
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
        let expected = [
            "2.000 m, the most that it passes",
            "3.000 m, the first that it fails",
        ];
        assert_eq!(labels, expected);
    }
}
