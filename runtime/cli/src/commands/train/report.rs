//! Report of a training run.

use roadwright_training::experiment::{Estimate, Summary};
use roadwright_training::genetic::{
    GenerationReport, Genome, LEVEL, Manners, Preset, Training, Verdict,
};
use serde::Serialize;
use std::io::Write;

/// Document of `train --json`.
#[derive(Serialize)]
pub(super) struct Report {
    experiment: String,
    generations: Vec<GenerationReport>,
    champion: ChampionReport,
    /// Results of the champion on courses that were not used for training or selection, as printed by
    /// `bench run --json`.
    held_out: Summary,
    /// Results of the initial values on the same courses.
    start: Summary,
    /// Fitness of the champion minus that of the initial values, course by course.
    difference: Estimate,
    /// Handling of the vehicle on the test courses, independent of the fitness.
    manners: Option<Manners>,
    pool_hash: String,
}

#[derive(Serialize)]
struct ChampionReport {
    genes: String,
    preset: Preset,
    validation: f64,
    finalists: usize,
}

impl Report {
    pub(super) fn new(
        name: &str,
        genome: &Genome,
        training: &Training<'_>,
        verdict: &Verdict,
    ) -> Self {
        let champion = &verdict.champion;
        Self {
            experiment: name.into(),
            generations: training.reports().to_vec(),
            champion: ChampionReport {
                genes: genome.print(&champion.genes),
                preset: genome.preset(&champion.genes),
                validation: training.as_fitness(champion.validation),
                finalists: champion.finalists,
            },
            held_out: verdict.held_out.clone(),
            start: verdict.start.clone(),
            difference: verdict.difference,
            manners: verdict.manners,
            pool_hash: training.pool_hash(),
        }
    }

    pub(super) fn print(
        &self,
        out: &mut dyn Write,
        genome: &Genome,
        verdict: &Verdict,
    ) -> std::io::Result<()> {
        writeln!(out, "\nchampion {}", self.champion.genes)?;
        write!(out, "{}", genome.in_words(&verdict.champion.genes))?;
        let line = |held_out: &Summary| {
            let failed = match held_out.failed {
                0 => String::new(),
                failed => format!("; {failed} more courses failed and are not counted"),
            };
            format!(
                "{}, {} of {} drives on {} courses completed{failed}",
                spread(&held_out.fitness),
                held_out.completed,
                held_out.drives,
                held_out.runs
            )
        };
        let better = if self.held_out.lower_is_better {
            "lower"
        } else {
            "higher"
        };
        writeln!(out, "\nheld-out courses, {better} is better:")?;
        writeln!(out, "  champion        {}", line(&self.held_out))?;
        writeln!(out, "  before training {}", line(&self.start))?;
        writeln!(out, "  difference      {}", spread(&self.difference))?;
        if let Some(manners) = &self.manners {
            writeln!(out, "  its drives      {manners}")?;
        }
        let struck_out: usize = self.generations.iter().map(|g| g.struck_out).sum();
        if struck_out > 0 {
            writeln!(
                out,
                "individuals struck out by hand: {struck_out}; rerunning the experiment without the \
                 record will not reproduce the champion"
            )?;
        }
        writeln!(out, "pool {}", self.pool_hash)?;
        out.flush()
    }
}

/// Formats a mean with its standard error and its interval. A single value has neither.
fn spread(figures: &Estimate) -> String {
    match figures.interval {
        None => format!("{:.4} (n = 1: no interval)", figures.mean),
        Some([low, high]) => format!(
            "{:.4} +- {:.4} ({:.0} %: {low:.4} to {high:.4})",
            figures.mean,
            figures.standard_error,
            100.0 * LEVEL
        ),
    }
}

/// Header of the table of generations.
pub(super) const HEAD: &str =
    "generation      best      mean pool best  early   lost  failed   runs  best of the pool";

/// Prints a generation as a row of the table.
pub(super) fn print_generation(
    out: &mut dyn Write,
    report: &GenerationReport,
) -> std::io::Result<()> {
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.4}"));
    writeln!(
        out,
        "{:>10} {:>9} {:>9} {:>9} {:>6} {:>6} {:>7} {:>6}  {}",
        report.generation,
        number(report.best),
        number(report.mean),
        number(report.pool_best),
        report.ended_early,
        report.raced_out,
        report.failed,
        report.runs,
        report.genes.as_deref().unwrap_or("-")
    )
}
