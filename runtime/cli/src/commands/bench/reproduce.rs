//! `roadwright bench reproduce`: recreates the figures and tables of [Gerdelan 2011], chapters 9, 10 and 12, and the
//! tables of [Adam 2007], as data, pictures and a report that compares our results with the source.

use super::course::threads;
use super::course_arguments::Reproduce;
use super::move_trees;
use super::results_of;
use crate::commands::plot::{Figure, Line, Point, study_figure};
use crate::commands::print_json;
use crate::outputs::{Inputs, Kind, Outputs};
use crate::{Outcome, progress, terminal};
use anyhow::{Context, bail};
use roadwright_agent::Registry;
use roadwright_scenario::{ModuleSetting, Stack};
use roadwright_simulation::builtin_modules;
use roadwright_training::experiment::Results;
use roadwright_training::genetic::study::{Statement, StudyResult, chromosomes, studies};
use roadwright_training::statistics::{Accumulated, Moments, accumulate, separation, student_t};
use roadwright_training::{Course, Setup};
use roadwright_vehicle::proving::Look;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;

/// Studies that correspond to a figure or table in the source, with the names of their files.
const STUDIES: [(&str, &str); 6] = [
    ("learning-curve", "figure-10-7"),
    ("mutation-probability", "figure-10-9"),
    ("mutation-range", "figure-10-10"),
    ("population-size", "figure-10-11"),
    ("parents", "figure-10-12"),
    ("guidelines", "table-10-4"),
];

/// A recreated figure or table.
#[derive(Serialize)]
struct Part {
    /// Number of the figure or table in the source.
    of: String,
    /// Method of creating the part, and interpretation of the source.
    reading: String,
    figure: Option<Figure>,
    /// Results in lines of text.
    found: Vec<String>,
    statements: Vec<Statement>,
}

pub(super) fn reproduce(arguments: &Reproduce) -> anyhow::Result<Outcome> {
    let mut outputs = Outputs::of(Inputs::none());
    // An unwritable path is detected now, not after hours.
    outputs.folder("--out", &arguments.out)?;
    let modules = builtin_modules();
    let mut parts = vec![figure_9_3(arguments, &modules)?, table_10_3()];
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads(arguments.threads))
        .build()
        .context("cannot start threads")?;
    for study in studies() {
        // Our own studies have no counterpart in the source.
        let Some((_, file)) = STUDIES.iter().find(|(name, _)| *name == study.name) else {
            continue;
        };
        let result = pool.install(|| study.run(arguments.seeds));
        if progress::interrupted() {
            bail!("interrupted");
        }
        parts.push(of_study(&result, file));
    }
    parts.push(figure_12_5(arguments, &modules)?);
    parts.extend(pool.install(|| move_tables(arguments.starts))?);
    for part in &parts {
        if let Some(figure) = &part.figure {
            figure.write(&mut outputs, "--out", &arguments.out)?;
        }
    }
    let report = report(arguments, &parts)?;
    write_report(arguments, &mut outputs, &report, &parts)?;
    outputs.commit()?;
    if arguments.json {
        print_json(&parts)?;
    } else {
        write!(terminal::out(), "{report}")?;
    }
    // A difference from the source is a result, not a fault.
    Ok(Outcome::Fine)
}

fn write_report(
    arguments: &Reproduce,
    outputs: &mut Outputs,
    report: &str,
    parts: &[Part],
) -> anyhow::Result<()> {
    let json = serde_json::to_string_pretty(parts)?;
    for (name, kind, text) in [
        ("report.md", Kind::Report, report),
        ("report.json", Kind::Document, &json),
    ] {
        let place = outputs.file("--out", &arguments.out.join(name), kind)?;
        outputs.write(&place, text.as_bytes())?;
    }
    Ok(())
}

/// Runs a course with the given number of seeds.
fn run(
    arguments: &Reproduce,
    modules: &Registry,
    course: &str,
    setup: &Setup,
) -> anyhow::Result<Results> {
    let course = Course::named(course)?;
    let results = results_of(&course, setup, modules, arguments.runs, arguments.threads)?;
    if let Some(failed) = results.failures().first() {
        bail!("{}, {failed}", course.name);
    }
    Ok(results)
}

/// Returns the mean fitness after each run.
fn accumulated(results: &Results) -> Vec<Accumulated> {
    accumulate(&results.fitnesses())
}

/// Returns the curve of mean fitness against number of runs. The first point is omitted because it has no
/// error bar.
pub(super) fn line_of(label: &str, points: &[Accumulated]) -> Line {
    let point = |at: &Accumulated| Point {
        x: at.runs as f64,
        mean: at.mean,
        standard_error: Some(at.standard_error),
    };
    Line {
        label: label.into(),
        look: Look::Line,
        points: points.iter().skip(1).map(point).collect(),
    }
}

/// Describes the runs in one line: their number, how many were completed, and their mean fitness with its
/// interval and errors.
fn words(label: &str, results: &Results) -> String {
    let fitness = results.fitnesses();
    let moments = Moments::of(&fitness);
    let interval = student_t(&moments, 0.95).map_or("n = 1: no interval".into(), |interval| {
        format!("95 % interval {:.2} to {:.2}", interval.low, interval.high)
    });
    let completed = results.rows.iter().filter(|row| row.completed > 0).count();
    format!(
        "{label}: {} runs, {completed} completed, mean {:.2}, {interval} (student_t), deviation {:.2}, \
         standard error {:.2}",
        fitness.len(),
        moments.mean(),
        moments.standard_deviation(),
        moments.standard_error()
    )
}

fn figure_9_3(arguments: &Reproduce, modules: &Registry) -> anyhow::Result<Part> {
    let of = |fitness: &str| {
        let setup = Setup {
            fitness: Some(vec![ModuleSetting::new(fitness)]),
            ..Setup::with_driver(Stack::with_controller("fuzzy_driver"))
        };
        run(arguments, modules, "arena", &setup)
    };
    let (plain, penalised) = (of("arena_score")?, of("arena_score_or_failed")?);
    let (upper, lower) = (accumulated(&plain), accumulated(&penalised));
    let error = |points: &[Accumulated]| points.last().map_or(0.0, |last| last.standard_error);
    let says = "the plot with failed runs at -1 is lower and has the larger error";
    let lies_lower = upper.last().map(|p| p.mean) >= lower.last().map(|p| p.mean);
    Ok(Part {
        of: "figure 9.3".into(),
        reading: "Course arena with fuzzy_driver and its published rules; one vehicle per run, with random \
                  start and heading; equation 9.1 with weights of 1, and with -1 for runs that do not arrive. \
                  The source drove a T-28E at 1x time compression."
            .into(),
        found: vec![
            words("original score", &plain),
            words("failed runs at -1", &penalised),
        ],
        statements: vec![Statement {
            says: says.into(),
            // Both conditions, because the statement in the source makes both claims.
            holds: lies_lower && error(&lower) > error(&upper),
            found: format!(
                "standard errors {:.2} and {:.2}",
                error(&upper),
                error(&lower)
            ),
        }],
        figure: Some(Figure {
            name: "figure-9-3".into(),
            title: "Score against number of runs (figure 9.3)".into(),
            x_label: "runs".into(),
            y_label: "score, higher is better".into(),
            lines: vec![
                line_of("original score", &upper),
                line_of("failed runs at -1", &lower),
            ],
            marks: Vec::new(),
        }),
    })
}

fn table_10_3() -> Part {
    let rows = chromosomes(1).into_iter().map(|row| {
        format!(
            "generation {}: {} sum {}",
            row.generation, row.chromosome, row.fitness
        )
    });
    Part {
        of: "table 10.3".into(),
        reading: "The fittest chromosome of each generation, not of the pool, because the published sums rise and fall. \
                  Controlled benchmark, breeding with seed 1."
            .into(),
        figure: None,
        found: rows.collect(),
        statements: Vec::new(),
    }
}

fn of_study(result: &StudyResult, file: &str) -> Part {
    Part {
        of: result.of.into(),
        reading: format!(
            "Controlled benchmark, the sum of 36 genes, {} seeds per line; the source does not print \
             its data, so only its statements are compared. Its figures 10.9 to 10.11 are from real drives.",
            result.seeds
        ),
        found: Vec::new(),
        statements: result.statements.clone(),
        figure: Some(study_figure(result, file)),
    }
}

fn figure_12_5(arguments: &Reproduce, modules: &Registry) -> anyhow::Result<Part> {
    let of = |vehicle: &str| {
        let setup = Setup {
            vehicle: Some(vehicle.into()),
            dynamics: arguments.dynamics,
            ..Setup::with_driver(Stack::with_controller("fuzzy_mechanic"))
        };
        run(arguments, modules, "forest", &setup)
    };
    let (jeep, bus) = (of("willys_mb")?, of("enviro_400")?);
    let (first, second) = (accumulated(&jeep), accumulated(&bus));
    let apart = separation(&first, &second);
    let apart_text = apart.map_or("their error bars overlap throughout".into(), |runs| {
        format!("their error bars are separate from run {runs} onwards")
    });
    let error = |points: &[Accumulated]| points.last().map_or(0.0, |last| last.standard_error);
    let level = arguments.dynamics.map_or("one_track", |level| level.name());
    Ok(Part {
        of: "figure 12.5".into(),
        reading: format!(
            "Course forest with fuzzy_mechanic at level {level}, seeds from 300001 upwards, which \
             were not used to choose any rule. The source's spread of 5 at about 150 runs is read \
             as the standard error; it falls with the square root of the number of runs, without a \
             floor. Where bodies pass through each other, touching a post counts as getting stuck."
        ),
        found: vec![words("willys_mb", &jeep), words("enviro_400", &bus)],
        statements: vec![
            Statement {
                says: "the means of the two vehicles are separated after 150 runs".into(),
                holds: apart.is_some_and(|runs| runs <= 150),
                found: apart_text,
            },
            Statement {
                says: "the error does not fall below 5".into(),
                // The smaller of the two, because both have to exceed the limit.
                holds: error(&first).min(error(&second)) >= 5.0,
                found: format!(
                    "{:.2} and {:.2} after {} runs",
                    error(&first),
                    error(&second),
                    first.len()
                ),
            },
        ],
        figure: Some(Figure {
            name: "figure-12-5".into(),
            title: "Mean fitness in the forest against number of runs (figure 12.5)".into(),
            x_label: "runs".into(),
            y_label: "fitness, lower is better".into(),
            lines: vec![line_of("willys_mb", &first), line_of("enviro_400", &second)],
            marks: Vec::new(),
        }),
    })
}

/// Drives the tables of move trees as `bench move-trees` does.
fn move_tables(starts: u32) -> anyhow::Result<Vec<Part>> {
    if starts == 0 {
        return Ok(Vec::new());
    }
    let tables = move_trees::tables(starts)?;
    let parts = tables.into_iter().map(|table| Part {
        of: format!("table {} of [Adam 2007]", table.number),
        reading: format!(
            "Drives from {starts} starts, which differ in lateral position and in the phase of the \
             cars; the source drove each row once. Rows for which the source gives no result are \
             additional."
        ),
        figure: None,
        found: table.rows,
        statements: table.statements,
    });
    Ok(parts.collect())
}

/// Returns the whole report as one page.
fn report(arguments: &Reproduce, parts: &[Part]) -> anyhow::Result<String> {
    let mut page = format!(
        "# Figures and tables of [Gerdelan 2011] and [Adam 2007], recreated\n\n\
         Roadwright {}, {} runs of each drive, {} seeds of each study. Bars are one standard error.\n",
        env!("CARGO_PKG_VERSION"),
        arguments.runs,
        arguments.seeds
    );
    for part in parts {
        write!(page, "\n## {}\n\n{}\n\n", part.of, part.reading)?;
        if let Some(figure) = &part.figure {
            writeln!(page, "![{0}]({0}.svg), data in {0}.csv\n", figure.name)?;
        }
        for line in &part.found {
            writeln!(page, "- {line}")?;
        }
        for statement in &part.statements {
            let verdict = if statement.holds { "yes" } else { "no" };
            let Statement { says, found, .. } = statement;
            writeln!(page, "- The source says: {says}. Ours: {verdict}; {found}.")?;
        }
    }
    Ok(page)
}
