//! What a training reports.

use roadwright_training::genetic::record::RecordedChampion;
use roadwright_training::genetic::{Champion, GenerationReport, Genome, Preset, Run, Training};
use roadwright_training::statistics::{Moments, student_t};
use serde::Serialize;
use std::io::Write;

/// The document of `train --json`.
#[derive(Serialize)]
pub(super) struct Report {
    experiment: String,
    generations: Vec<GenerationReport>,
    champion: ChampionReport,
    held_out: HeldOut,
    /// The values before training on the same courses.
    start: HeldOut,
    /// Champion less start, course by course: negative is better.
    difference: Figures,
    pool_hash: String,
}

#[derive(Serialize)]
struct ChampionReport {
    genes: String,
    preset: Preset,
    validation: f64,
    finalists: usize,
}

/// Level of all intervals.
pub(super) const LEVEL: f64 = 0.95;

/// A mean with its error bars.
#[derive(Serialize)]
struct Figures {
    mean: f64,
    standard_deviation: f64,
    standard_error: f64,
    /// None of a single value.
    interval: Option<[f64; 2]>,
    method: &'static str,
    level: f64,
}

impl Figures {
    fn of(values: &[f64]) -> Self {
        let moments = Moments::of(values);
        let interval = student_t(&moments, LEVEL);
        Self {
            mean: moments.mean(),
            standard_deviation: moments.standard_deviation(),
            standard_error: moments.standard_error(),
            interval: interval.map(|interval| [interval.low, interval.high]),
            method: "student_t",
            level: LEVEL,
        }
    }
}

/// Runs on courses that nobody was bred or chosen on.
#[derive(Serialize)]
struct HeldOut {
    runs: usize,
    drives: usize,
    completed: usize,
    fitness: Figures,
    hash: String,
}

impl HeldOut {
    fn of(runs: &[Run]) -> Self {
        let hash = |hash: u64, run: &Run| roadwright_geometry::math::mix64(hash ^ run.hash);
        Self {
            runs: runs.len(),
            drives: runs.iter().map(|run| run.drives).sum(),
            completed: runs.iter().map(|run| run.completed).sum(),
            fitness: Figures::of(&scores(runs)),
            hash: format!("{:016x}", runs.iter().fold(0, hash)),
        }
    }
}

fn scores(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.score).collect()
}

impl Report {
    pub(super) fn new(
        name: &str,
        genome: &Genome,
        training: &Training<'_>,
        champion: &Champion,
    ) -> Self {
        let (trained, before) = (scores(&champion.held_out), scores(&champion.start));
        let pairs = trained.iter().zip(&before);
        let differences: Vec<f64> = pairs.map(|(trained, before)| trained - before).collect();
        Self {
            experiment: name.into(),
            generations: training.reports().to_vec(),
            champion: ChampionReport {
                genes: genome.print(&champion.genes),
                preset: genome.preset(&champion.genes),
                validation: champion.validation,
                finalists: champion.finalists,
            },
            held_out: HeldOut::of(&champion.held_out),
            start: HeldOut::of(&champion.start),
            difference: Figures::of(&differences),
            pool_hash: training.pool_hash(),
        }
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
        let line = |held_out: &HeldOut| {
            format!(
                "{}, {} of {} drives on {} courses completed",
                spread(&held_out.fitness),
                held_out.completed,
                held_out.drives,
                held_out.runs
            )
        };
        writeln!(out, "\nheld-out courses, lower is better:")?;
        writeln!(out, "  champion        {}", line(&self.held_out))?;
        writeln!(out, "  before training {}", line(&self.start))?;
        writeln!(out, "  difference      {}", spread(&self.difference))?;
        writeln!(out, "pool {}", self.pool_hash)?;
        out.flush()
    }
}

/// A mean with its standard error and its interval; one value has none.
fn spread(figures: &Figures) -> String {
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
