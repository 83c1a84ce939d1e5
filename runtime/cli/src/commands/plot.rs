//! Figures of lines with error bars: as a picture (SVG) and as a table (CSV).

use anyhow::{Context, anyhow};
use plotters::prelude::*;
use roadwright_training::genetic::study::{LineResult, StudyResult};
use serde::Serialize;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Size of pictures, pixels.
const SIZE: (u32, u32) = (900, 560);
/// Error bars that a line gets at most; more would be a smear.
const BARS: usize = 30;

/// A figure with a name that becomes that of its files.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) lines: Vec<Line>,
}

/// A line of a figure.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) points: Vec<Point>,
}

/// A point with its error bar: one standard error to either side.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) mean: f64,
    pub(crate) standard_error: f64,
}

impl Figure {
    /// Writes picture and table into a folder, which is made if it is not there. Returns their paths.
    pub(crate) fn write(&self, folder: &Path) -> anyhow::Result<[PathBuf; 2]> {
        let at = |path: &Path| format!("cannot write {}", path.display());
        std::fs::create_dir_all(folder).with_context(|| at(folder))?;
        let paths = ["svg", "csv"].map(|ending| folder.join(format!("{}.{ending}", self.name)));
        let texts = [self.svg()?, self.csv()?];
        for (path, text) in paths.iter().zip(&texts) {
            roadwright_files::write(path, text.as_bytes()).with_context(|| at(path))?;
        }
        Ok(paths)
    }

    fn csv(&self) -> anyhow::Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["line", "x", "mean", "standard_error"])?;
        for line in &self.lines {
            for point in &line.points {
                let numbers = [point.x, point.mean, point.standard_error].map(|n| n.to_string());
                let [x, mean, error] = &numbers;
                writer.write_record([&line.label, x, mean, error])?;
            }
        }
        let bytes = writer.into_inner().map_err(|error| anyhow!("{error}"))?;
        Ok(String::from_utf8(bytes)?)
    }

    fn svg(&self) -> anyhow::Result<String> {
        let mut text = String::new();
        let drawn = self.draw(&mut text);
        drawn.with_context(|| format!("cannot draw {}", self.name))?;
        Ok(text)
    }

    fn draw(&self, text: &mut String) -> anyhow::Result<()> {
        let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (x, y) = self.ranges();
        let mut chart = ChartBuilder::on(&root)
            .caption(&self.title, ("sans-serif", 20))
            .margin(14)
            .x_label_area_size(48)
            .y_label_area_size(68)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .light_line_style(WHITE)
            .draw()?;
        for (number, line) in self.lines.iter().enumerate() {
            let color = Palette99::pick(number).to_rgba();
            // Drawn twice, as a line and as bars: an iterator for each.
            let points = || line.points.iter().filter(|point| point.is_finite());
            let way = points().map(|point| (point.x, point.mean));
            chart
                .draw_series(LineSeries::new(way, color.stroke_width(2)))?
                .label(&line.label)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2))
                });
            // At least 1: a line without points takes no steps of 0.
            let every = line.points.len().div_ceil(BARS).max(1);
            chart.draw_series(points().step_by(every).map(|point| {
                let (low, high) = point.bar();
                ErrorBar::new_vertical(point.x, low, point.mean, high, color.filled(), 6)
            }))?;
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        root.present()?;
        Ok(())
    }

    /// What the axes show: all points with their bars, and a little more.
    fn ranges(&self) -> (Range<f64>, Range<f64>) {
        let points = || {
            let all = self.lines.iter().flat_map(|line| &line.points);
            all.filter(|point| point.is_finite())
        };
        let x = span(points().flat_map(|point| [point.x, point.x]));
        let y = span(points().flat_map(|point| [point.bar().0, point.bar().1]));
        // A twentieth, so that the outermost bars do not end on the frame.
        let room = 0.05 * (y.end - y.start);
        (x, y.start - room..y.end + room)
    }
}

impl Point {
    fn bar(&self) -> (f64, f64) {
        (
            self.mean - self.standard_error,
            self.mean + self.standard_error,
        )
    }

    fn is_finite(&self) -> bool {
        let (low, high) = self.bar();
        self.x.is_finite() && low.is_finite() && high.is_finite()
    }
}

/// The learning curves of a study.
pub(crate) fn study_figure(result: &StudyResult, name: &str) -> Figure {
    let line = |line: &LineResult| Line {
        label: line.label.clone(),
        points: line
            .points
            .iter()
            .map(|point| Point {
                x: point.evaluations as f64,
                mean: point.fitness.mean,
                standard_error: point.fitness.standard_error,
            })
            .collect(),
    };
    let of = if result.of.is_empty() {
        "ours"
    } else {
        result.of
    };
    Figure {
        name: name.into(),
        title: format!("{} ({of})", result.study),
        x_label: "individuals judged".into(),
        y_label: "best fitness of the pool, lower is better".into(),
        lines: result.lines.iter().map(line).collect(),
    }
}

/// From the smallest to the largest, and never empty.
fn span(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    match high - low {
        width if width > 0.0 && width.is_finite() => low..high,
        // One value, or a span too wide for a number: an axis needs a width.
        _ if low.is_finite() => low - 0.5..low + 0.5,
        _ => 0.0..1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(points: &[(f64, f64, f64)]) -> Figure {
        let point = |&(x, mean, standard_error): &(f64, f64, f64)| Point {
            x,
            mean,
            standard_error,
        };
        Figure {
            name: "f".into(),
            title: "T <&> \"t\"".into(),
            x_label: "runs".into(),
            y_label: "fitness".into(),
            lines: vec![Line {
                label: "a, b".into(),
                points: points.iter().map(point).collect(),
            }],
        }
    }

    #[test]
    fn a_figure_is_written_as_picture_and_table() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("made/here");
        let figure = figure(&[(1.0, 2.0, 0.5), (2.0, 3.0, 0.25)]);
        let [svg, csv] = figure.write(&inner).unwrap();
        let table = std::fs::read_to_string(csv).unwrap();
        assert_eq!(
            table,
            "line,x,mean,standard_error\n\"a, b\",1,2,0.5\n\"a, b\",2,3,0.25\n"
        );
        let picture = std::fs::read_to_string(svg).unwrap();
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        assert!(picture.contains("polyline") && picture.contains("runs"));
        // The same figure is the same picture.
        assert_eq!(picture, figure.svg().unwrap());
    }

    #[test]
    fn what_cannot_be_drawn_is_left_out_and_nothing_breaks() {
        for points in [
            &[][..],
            &[(1.0, 2.0, 0.0)],
            &[(1.0, f64::NAN, 0.0), (2.0, f64::INFINITY, 1.0)],
            &[(1.0, 5.0, 0.0), (1.0, 5.0, 0.0)],
            &[(0.0, -1e300, 1e300), (1e9, 1e300, 1e300)],
        ] {
            assert!(
                figure(points).svg().unwrap().starts_with("<svg"),
                "{points:?}"
            );
        }
    }
}
