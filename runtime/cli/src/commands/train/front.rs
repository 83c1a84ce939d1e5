//! `roadwright train front`: compares trained drivers by conflicting objectives.

use super::arguments::Front as Arguments;
use super::compare::check_comparable;
use super::preset::champion;
use super::run::problem_of_record;
use super::{load_record, threads};
use crate::commands::plot::{Figure, Line, Point};
use crate::commands::{keep_stdout, write_json};
use crate::outputs::{Inputs, Outputs};
use crate::terminal::{self, say};
use crate::{Outcome, progress};
use anyhow::{Context, bail};
use roadwright_training::CourseError;
use roadwright_training::experiment::Estimate;
use roadwright_training::genetic::record::{Generation, Record};
use roadwright_training::genetic::{
    Chromosome, Failed, Front, Genome, Objective, Problem, Standing,
};
use roadwright_vehicle::proving::Look;
use std::io::Write;
use std::path::Path;

pub(super) fn front(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let document = arguments.json.then(keep_stdout).transpose()?;
    let record = load(&arguments.record, arguments)?;
    let read = Inputs::none().file("a record", &arguments.record);
    let mut outputs = Outputs::of(read.files_of("a record", &arguments.others));
    if let Some(folder) = &arguments.plots {
        outputs.folder("--plots", folder)?;
    }
    let problem = problem_of_record(
        &arguments.extensions,
        &arguments.record,
        arguments.folder.as_deref(),
        &record.experiment,
    )?;
    let mut drivers = vec![("before training".to_owned(), problem.genome().start())];
    add(
        &mut drivers,
        &record,
        &arguments.record,
        arguments,
        problem.genome(),
    )?;
    for path in &arguments.others {
        let other = load(path, arguments)?;
        check_comparable(&record, &other, path)?;
        if other.genes != record.genes {
            bail!(
                "{}: the genes of this record differ from those of the first record",
                path.display()
            );
        }
        add(&mut drivers, &other, path, arguments, problem.genome())?;
    }
    let front = drive(arguments, &problem, &record, &drivers)?;
    if let Some(folder) = &arguments.plots {
        for figure in figures(&front) {
            figure.write(&mut outputs, "--plots", folder)?;
        }
        outputs.commit()?;
    }
    match document {
        Some(mut out) => write_json(&mut out, &front)?,
        None => print(&front)?,
    }
    Ok(Outcome::Fine)
}

/// Loads a record whose experiment will be driven at the requested level of dynamics.
fn load(path: &Path, arguments: &Arguments) -> anyhow::Result<Record> {
    let mut record = load_record(path)?;
    record.experiment.dynamics = arguments.dynamics.or(record.experiment.dynamics);
    Ok(record)
}

/// Adds the champion of a record and the best individuals of its last generations, without repetitions.
fn add(
    drivers: &mut Vec<(String, Chromosome)>,
    record: &Record,
    path: &Path,
    arguments: &Arguments,
    genome: &Genome,
) -> anyhow::Result<()> {
    let of = match arguments.others.is_empty() {
        true => String::new(),
        false => format!(
            "{}: ",
            path.file_stem().unwrap_or_default().to_string_lossy()
        ),
    };
    let mut chosen = vec![(
        "champion".to_owned(),
        champion(record, path)?.genes.as_str(),
    )];
    let last = record.generations.len().saturating_sub(arguments.last);
    for (number, generation) in record.generations.iter().enumerate().skip(last) {
        chosen.extend(best(generation).map(|genes| (format!("generation {}", number + 1), genes)));
    }
    for (name, genes) in chosen {
        let genes = genome.read(genes);
        let genes = genes.with_context(|| format!("{}: {name}", path.display()))?;
        if drivers.iter().all(|(_, known)| *known != genes) {
            drivers.push((format!("{of}{name}"), genes));
        }
    }
    Ok(())
}

/// Returns the genes of the best individual of a generation. On a tie, it is the first one.
fn best(generation: &Generation) -> Option<&str> {
    let rated = generation.iter().filter_map(|judged| {
        let score = judged.judgement.fitness()?;
        Some((score, judged.genes.as_str()))
    });
    rated
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, genes)| genes)
}

fn drive(
    arguments: &Arguments,
    problem: &Problem,
    record: &Record,
    drivers: &[(String, Chromosome)],
) -> anyhow::Result<Front> {
    let [first, last] = record.experiment.seeds.test;
    let all = (last - first).saturating_add(1);
    let runs = arguments.runs.unwrap_or(all);
    if runs > all {
        bail!("--runs {runs}: the experiment has only {all} test courses");
    }
    let courses: Vec<u64> = (first..first + runs).collect();
    let pool = threads(arguments.workers)?;
    let bar = progress::bar(drivers.len() as u64, arguments.json);
    let failed = match arguments.without_failed {
        true => Failed::LeaveOut,
        false => Failed::Refuse,
    };
    let front = pool.install(|| problem.front(drivers, &courses, failed, &|| bar.inc(1)));
    bar.finish_and_clear();
    let front = front.map_err(|error| match error {
        CourseError::Failed { .. } if failed == Failed::Refuse => anyhow::Error::new(error)
            .context(
                "a driver failed on a test course, and failures are not random; use \
                 --without-failed to exclude such courses",
            ),
        error => error.into(),
    })?;
    if front.failed > 0 {
        say!(
            "a driver failed on {} of {} test courses; these courses are excluded",
            front.failed,
            courses.len()
        );
    }
    Ok(front)
}

fn print(front: &Front) -> anyhow::Result<()> {
    let mut out = terminal::out();
    for objective in &front.objectives {
        let better = if objective.lower_is_better {
            "lower"
        } else {
            "higher"
        };
        writeln!(
            out,
            "{}: {}; {better} is better",
            objective.name, objective.doc
        )?;
    }
    write!(out, "\n{:<28} {:>11}", "driver", "completed")?;
    for objective in &front.objectives {
        write!(out, "  {:>28}", objective.name)?;
    }
    writeln!(out, "  front")?;
    for driver in &front.drivers {
        let share = format!("{}/{}", driver.completed, driver.drives);
        write!(out, "{:<28} {share:>11}", driver.name)?;
        for estimate in &driver.estimates {
            write!(out, "  {:>28}", spread(estimate))?;
        }
        writeln!(out, "  {}", place(driver))?;
    }
    out.flush()?;
    Ok(())
}

fn spread(estimate: &Estimate) -> String {
    match estimate.interval {
        Some([low, high]) => format!("{:.3} ({low:.3} to {high:.3})", estimate.mean),
        None => format!("{:.3}", estimate.mean),
    }
}

fn place(driver: &Standing) -> String {
    match (&driver.beaten_by, driver.is_sure) {
        (None, _) => "on the front".into(),
        (Some(other), true) => format!("beaten by {other}"),
        (Some(other), false) => format!("beaten by {other}, perhaps by chance"),
    }
}

/// Returns figures that show each of the other objectives plotted against the first one.
fn figures(front: &Front) -> Vec<Figure> {
    let first = &front.objectives[0];
    let others = front.objectives.iter().enumerate().skip(1);
    let (on_front, beaten): (Vec<&Standing>, Vec<&Standing>) = front
        .drivers
        .iter()
        .partition(|driver| driver.beaten_by.is_none());
    let figure = |(number, other): (usize, &Objective)| {
        let line = |label: &str, drivers: &[&Standing]| Line {
            label: label.into(),
            look: Look::Dots,
            points: points(drivers, number),
        };
        Figure {
            name: format!("front_{}", other.name),
            title: format!("{} against {}", other.name, first.name),
            x_label: first.name.clone(),
            y_label: other.name.clone(),
            lines: vec![line("on the front", &on_front), line("beaten", &beaten)],
            marks: Vec::new(),
        }
    };
    others.map(figure).collect()
}

fn points(drivers: &[&Standing], objective: usize) -> Vec<Point> {
    let drivers = drivers.iter();
    drivers
        .map(|driver| Point {
            x: driver.estimates[0].mean,
            mean: driver.estimates[objective].mean,
            standard_error: Some(driver.estimates[objective].standard_error),
        })
        .collect()
}
