//! What a training reports.

use anyhow::Context;
use roadwright_training::experiment::{Estimate, Summary};
use roadwright_training::genetic::record::RecordedChampion;
use roadwright_training::genetic::{
    Champion, GenerationReport, Genome, LEVEL, Preset, Problem, Run, Training,
};
use serde::Serialize;
use std::io::Write;

/// The document of `train --json`.
#[derive(Serialize)]
pub(super) struct Report {
    experiment: String,
    generations: Vec<GenerationReport>,
    champion: ChampionReport,
    /// Runs on courses that nobody was bred or chosen on, as `bench run --json` prints them.
    held_out: Summary,
    /// The values before training on the same courses.
    start: Summary,
    /// Fitness of the champion less that of the start, course by course.
    difference: Estimate,
    pool_hash: String,
}

#[derive(Serialize)]
struct ChampionReport {
    genes: String,
    preset: Preset,
    validation: f64,
    finalists: usize,
}

fn scores(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.score).collect()
}

impl Report {
    pub(super) fn new(
        name: &str,
        (problem, first_seed): (&Problem, u64),
        training: &Training<'_>,
        champion: &Champion,
    ) -> anyhow::Result<Self> {
        let genome = problem.genome();
        let (trained, before) = (scores(&champion.held_out), scores(&champion.start));
        let pairs = trained.iter().zip(&before);
        let difference = |(trained, before)| training.as_fitness(trained - before);
        let differences: Vec<f64> = pairs.map(difference).collect();
        let summary = |genes: &[f64], runs: &[Run]| {
            let results = problem.results(genes, first_seed, runs)?;
            let summary = results.as_ref().and_then(Summary::of);
            summary.context("the test courses gave no rows")
        };
        Ok(Self {
            experiment: name.into(),
            generations: training.reports().to_vec(),
            champion: ChampionReport {
                genes: genome.print(&champion.genes),
                preset: genome.preset(&champion.genes),
                validation: training.as_fitness(champion.validation),
                finalists: champion.finalists,
            },
            held_out: summary(&champion.genes, &champion.held_out)?,
            start: summary(&genome.start(), &champion.start)?,
            difference: Estimate::of(&differences, LEVEL),
            pool_hash: training.pool_hash(),
        })
    }

    /// The champion as the record keeps him.
    pub(super) fn recorded(&self, champion: &Champion, genome: &Genome) -> RecordedChampion {
        let before = genome.start();
        let genes = genome.genes().iter().zip(&before).zip(&champion.genes);
        RecordedChampion {
            genes: self.champion.genes.clone(),
            preset: self.champion.preset.clone(),
            changes: genes
                .map(|((gene, &before), &after)| (gene.in_words(before), gene.in_words(after)))
                .collect(),
            held_out: scores(&champion.held_out),
            start: scores(&champion.start),
        }
    }

    pub(super) fn print(
        &self,
        out: &mut dyn Write,
        genome: &Genome,
        champion: &Champion,
    ) -> std::io::Result<()> {
        writeln!(out, "\nchampion {}", self.champion.genes)?;
        write!(out, "{}", genome.in_words(&champion.genes))?;
        let line = |held_out: &Summary| {
            format!(
                "{}, {} of {} drives on {} courses completed",
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
        writeln!(out, "pool {}", self.pool_hash)?;
        out.flush()
    }
}

/// A mean with its standard error and its interval; one value has none.
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

/// The head of the table of generations.
pub(super) const HEAD: &str =
    "generation      best      mean pool best  early   lost  failed   runs  best of the pool";

/// A row of it.
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
