//! `roadwright train study time-compression`: trains with longer time steps, and evaluates with the time step
//! of the course.

use super::arguments::Study;
use crate::commands::print_json;
use crate::{Outcome, terminal};
use anyhow::bail;
use roadwright_simulation::builtin_modules;
use roadwright_training::experiment::Estimate;
use roadwright_training::genetic::{Experiment, LEVEL, Problem, Training, mean_score};
use serde::Serialize;
use std::io::Write;

/// Name of the study.
pub(super) const NAME: &str = "time-compression";
/// Subject of the study.
pub(super) const DOC: &str =
    "Do rules trained at 2 or 4 times the time step score worse at the normal time step?";

/// Experiment of the study.
const EXPERIMENT: &str = include_str!("../../../../../experiments/obstacle-stream.experiment.json");
/// Factors on the time step during training. [Gerdelan 2011], section 9.3, goes up to 2 and suggests more.
const FACTORS: [f64; 3] = [1.0, 2.0, 4.0];
/// Number of generations of each training run.
const GENERATIONS: u32 = 20;
/// Number of test courses, each with forty drives. A few are enough, because the reported error is computed
/// over training seeds.
const COURSES: u64 = 10;

/// Result for a factor on the time step.
#[derive(Serialize)]
struct Line {
    factor: f64,
    /// Number of steps of the drive, relative to a drive with factor 1.
    cost: f64,
    /// Mean fitness of the champions on test courses over the training seeds, at the time step of the course.
    fitness: Estimate,
}

pub(super) fn study(arguments: &Study, pool: &rayon::ThreadPool) -> anyhow::Result<Outcome> {
    if arguments.plots.is_some() {
        bail!("{NAME} is a table and does not support --plots");
    }
    let generations = arguments.generations.unwrap_or(GENERATIONS);
    let lines = pool.install(|| {
        let line = |factor| line(factor, generations, arguments.seeds);
        FACTORS
            .into_iter()
            .map(line)
            .collect::<anyhow::Result<Vec<Line>>>()
    })?;
    if arguments.json {
        let seeds = arguments.seeds;
        print_json(&serde_json::json!({
            "study": NAME, "seeds": seeds, "generations": generations, "lines": lines
        }))?;
    } else {
        print(&lines, arguments.seeds)?;
    }
    Ok(Outcome::Fine)
}

fn line(factor: f64, generations: u32, seeds: usize) -> anyhow::Result<Line> {
    let mut means = Vec::new();
    for seed in 1..=seeds as u64 {
        let mut experiment = Experiment::from_text(EXPERIMENT)?;
        experiment.time_compression = factor;
        experiment.stop.generations = generations;
        experiment.seeds.test[1] = experiment.seeds.test[0] + COURSES - 1;
        experiment.seed = seed;
        let problem = Problem::new(&experiment, None, &builtin_modules())?;
        let mut training = Training::new(&experiment, problem.genome(), &problem)?;
        while !training.is_over() {
            training.step();
        }
        let held_out = training.champion()?.held_out;
        let runs: Result<Vec<_>, String> = held_out.into_iter().collect();
        let runs = runs.map_err(|failed| anyhow::anyhow!("{failed}; there is no result"))?;
        means.push(mean_score(&runs));
    }
    Ok(Line {
        factor,
        // If steps are twice as long, half as many are needed.
        cost: 1.0 / factor,
        fitness: Estimate::of(&means, LEVEL),
    })
}

fn print(lines: &[Line], seeds: usize) -> anyhow::Result<()> {
    let mut out = terminal::out();
    writeln!(
        out,
        "{NAME} (section 9.3): fitness of champions at the course's time step, mean and standard error over \
         {seeds} seeds, lower is better"
    )?;
    writeln!(out, "{:>6}  {:>6}  fitness", "factor", "cost")?;
    for line in lines {
        let Line {
            factor,
            cost,
            fitness,
        } = line;
        let (mean, error) = (fitness.mean, fitness.standard_error);
        writeln!(out, "{factor:>6}  {cost:>6}  {mean:.4} +- {error:.4}")?;
    }
    out.flush()?;
    Ok(())
}
