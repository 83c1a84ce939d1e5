//! Line figures with or without error bars, written as a picture (SVG) and as a table (CSV).

mod picture;

use crate::outputs::{Kind, Outputs};
use anyhow::{Context, anyhow};
use roadwright_training::genetic::study::{LineResult, StudyResult};
use roadwright_vehicle::proving::{Look, Mark, Plot, Series};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Beginning of the table of a figure.
const TABLE_BEGINS: &str = "line,x";

/// A figure. Its name is also the name of its files.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) lines: Vec<Line>,
    /// Dashed lines across the figure.
    #[serde(skip)]
    pub(crate) marks: Vec<Mark>,
}

/// A line of a figure. Lines with the same label share a colour and a legend entry.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    pub(crate) label: String,
    #[serde(skip)]
    pub(crate) look: Look,
    pub(crate) points: Vec<Point>,
}

/// A point of a line. If it is a mean, its error bar extends one standard error in each direction.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) mean: f64,
    pub(crate) standard_error: Option<f64>,
}

impl Figure {
    /// Writes the picture and the table into the folder given by the option `asks`. Returns the path of the
    /// picture.
    pub(crate) fn write(
        &self,
        outputs: &mut Outputs,
        asks: &str,
        folder: &Path,
    ) -> anyhow::Result<PathBuf> {
        let [picture, table] =
            ["svg", "csv"].map(|ending| folder.join(format!("{}.{ending}", self.name)));
        let to_picture = outputs.file(asks, &picture, Kind::Drawing)?;
        let to_table = outputs.own_table(asks, &table, TABLE_BEGINS)?;
        outputs.write(&to_picture, self.svg()?.as_bytes())?;
        outputs.write(&to_table, self.csv()?.as_bytes())?;
        Ok(picture)
    }

    fn csv(&self) -> anyhow::Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        // The figure has no points if its means have no standard error yet.
        let is_empty = self.lines.iter().all(|line| line.points.is_empty());
        let has_errors = is_empty || self.lines.iter().any(Line::has_errors);
        if has_errors {
            writer.write_record(["line", "x", "mean", "standard_error"])?;
        } else {
            writer.write_record(["line", "x", "y"])?;
        }
        for line in &self.lines {
            for point in &line.points {
                let mut record = vec![line.label.clone()];
                record.extend([point.x, point.mean].map(|number| number.to_string()));
                if has_errors {
                    let error = point.standard_error;
                    record.push(error.map_or_else(String::new, |error| error.to_string()));
                }
                writer.write_record(&record)?;
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
}

/// Converts the record of a manoeuvre.
impl From<Plot> for Figure {
    fn from(plot: Plot) -> Self {
        let line = |series: Series| Line {
            label: series.label,
            look: series.look,
            points: series.points.into_iter().map(Point::exact).collect(),
        };
        Self {
            name: plot.name.into(),
            title: plot.title,
            x_label: plot.x.into(),
            y_label: plot.y.into(),
            lines: plot.series.into_iter().map(line).collect(),
            marks: plot.marks,
        }
    }
}

impl Line {
    fn has_errors(&self) -> bool {
        self.points
            .iter()
            .any(|point| point.standard_error.is_some())
    }
}

impl Point {
    /// Creates a point without an error bar.
    fn exact([x, mean]: [f64; 2]) -> Self {
        Self {
            x,
            mean,
            standard_error: None,
        }
    }

    fn bar(&self) -> (f64, f64) {
        let error = self.standard_error.unwrap_or(0.0);
        (self.mean - error, self.mean + error)
    }

    fn is_finite(&self) -> bool {
        let (low, high) = self.bar();
        self.x.is_finite() && low.is_finite() && high.is_finite()
    }
}

/// Returns the learning curves of a study.
pub(crate) fn study_figure(result: &StudyResult, name: &str) -> Figure {
    let line = |line: &LineResult| Line {
        label: line.label.clone(),
        look: Look::Line,
        points: line
            .points
            .iter()
            .map(|point| Point {
                x: point.evaluations as f64,
                mean: point.fitness.mean,
                standard_error: Some(point.fitness.standard_error),
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
        marks: Vec::new(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::outputs::Inputs;

    pub(super) fn figure(points: &[(f64, f64, f64)]) -> Figure {
        let point = |&(x, mean, standard_error): &(f64, f64, f64)| Point {
            x,
            mean,
            standard_error: Some(standard_error),
        };
        Figure {
            name: "f".into(),
            title: "T <&> \"t\"".into(),
            x_label: "runs".into(),
            y_label: "fitness".into(),
            lines: vec![Line {
                label: "a, b".into(),
                look: Look::Line,
                points: points.iter().map(point).collect(),
            }],
            marks: Vec::new(),
        }
    }

    #[test]
    fn a_figure_is_written_as_picture_and_table() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("made/here");
        let figure = figure(&[(1.0, 2.0, 0.5), (2.0, 3.0, 0.25)]);
        let mut outputs = Outputs::of(Inputs::none());
        outputs.folder("--plots", &inner).unwrap();
        let svg = figure.write(&mut outputs, "--plots", &inner).unwrap();
        outputs.commit().unwrap();
        let table = std::fs::read_to_string(svg.with_extension("csv")).unwrap();
        assert_eq!(
            table,
            "line,x,mean,standard_error\n\"a, b\",1,2,0.5\n\"a, b\",2,3,0.25\n"
        );
        let picture = std::fs::read_to_string(svg).unwrap();
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        assert!(picture.contains("polyline") && picture.contains("runs"));
        // The same figure gives the same picture.
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

    #[test]
    fn a_figure_of_exact_points_has_no_errors_in_its_table() {
        let plot = Plot {
            name: "gap",
            title: "T".into(),
            x: "distance, m",
            y: "height, m",
            series: vec![Series {
                label: "a".into(),
                look: Look::Dots,
                points: vec![[1.0, 2.0], [3.0, 4.5]],
            }],
            marks: Vec::new(),
        };
        let figure = Figure::from(plot);
        assert_eq!(figure.csv().unwrap(), "line,x,y\na,1,2\na,3,4.5\n");
        let dots = figure.svg().unwrap().matches("<circle").count();
        assert_eq!(dots, 2 + 1, "and one in the legend");
    }
}
