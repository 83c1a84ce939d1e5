//! `roadwright bench compare`: results against each other, in pairs of the same seed.

use super::course::{check_failures, read};
use super::course_arguments::Compare;
use crate::Outcome;
use crate::commands::print_json;
use crate::terminal::{self, say};
use anyhow::{Context, bail};
use roadwright_training::experiment::{Results, pairs};
use roadwright_training::statistics::{Interval, Paired, holm, paired};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// One comparison with the first results.
#[derive(Serialize)]
struct Comparison {
    /// The file.
    results: String,
    /// Pairs of the same seed.
    pairs: u64,
    /// Runs of it that failed and are in no pair.
    failed: usize,
    /// Its mean fitness less that of the first.
    difference: f64,
    standard_deviation: f64,
    standard_error: f64,
    /// By Student's t.
    interval: [f64; 2],
    method: &'static str,
    level: f64,
    /// By the bootstrap.
    bootstrap: [f64; 2],
    bootstrap_method: &'static str,
    /// Probability of a difference as large by chance, by Student's t.
    p: f64,
    /// The same, corrected for the number of comparisons.
    p_holm: f64,
    /// Whether the difference is an improvement; absent if the interval holds 0.
    is_better: Option<bool>,
}

#[derive(Serialize)]
struct Document {
    first: String,
    fitness_module: String,
    lower_is_better: bool,
    /// Runs of the first that failed and are in no pair.
    failed: usize,
    comparisons: Vec<Comparison>,
}

pub(crate) fn compare(arguments: &Compare) -> anyhow::Result<Outcome> {
    if !(arguments.level > 0.0 && arguments.level < 1.0) {
        bail!("--level {}: expected above 0 and below 1", arguments.level);
    }
    let first = read(&arguments.first)?;
    check_failures(&first, &arguments.first, arguments.without_failed)?;
    tell_unfinished(&first, &arguments.first);
    let mut found: Vec<(&Path, Paired)> = Vec::new();
    let mut failed = Vec::new();
    for path in &arguments.others {
        let other = read(path)?;
        check_failures(&other, path, arguments.without_failed)?;
        tell_unfinished(&other, path);
        failed.push(other.failures().len());
        let of = || format!("{} and {}", arguments.first.display(), path.display());
        let paired = pair(&first, &other, arguments.level).with_context(of)?;
        found.push((path.as_path(), paired));
    }
    // All comparisons first: Holm's correction of each depends on how many there are and on their
    // order.
    let p: Vec<f64> = found.iter().map(|(_, paired)| paired.p).collect();
    let comparisons = found.iter().zip(holm(&p)).zip(failed);
    let document = Document {
        first: arguments.first.display().to_string(),
        fitness_module: first.head.fitness.clone(),
        lower_is_better: first.head.lower_is_better,
        failed: first.failures().len(),
        comparisons: comparisons
            .map(|(((path, paired), p_holm), failed)| Comparison {
                failed,
                ..comparison(path, paired, p_holm, &first)
            })
            .collect(),
    };
    if arguments.json {
        print_json(&document)?;
    } else {
        print(&document)?;
    }
    Ok(Outcome::Fine)
}

/// Says that an experiment was interrupted: where it ended was then no rule's doing.
fn tell_unfinished(results: &Results, path: &Path) {
    if results.stopped.is_none() {
        let runs = results.rows.len();
        say!(
            "{}: it is not finished; its {runs} runs are compared",
            path.display()
        );
    }
}

/// The rows of both that have a seed in common.
fn pair(first: &Results, other: &Results, level: f64) -> anyhow::Result<Paired> {
    let pairs = pairs(first, other)?;
    let count = pairs.len();
    paired(&pairs, level).with_context(|| {
        format!("they have {count} seeds in common, and a comparison needs 2 at least")
    })
}

/// Fitness of others less that of the first on the seeds that both have.
pub(super) fn differences(first: &Results, other: &Results) -> anyhow::Result<Vec<f64>> {
    let pairs = pairs(first, other)?;
    Ok(pairs.iter().map(|(first, other)| other - first).collect())
}

fn comparison(path: &Path, paired: &Paired, p_holm: f64, first: &Results) -> Comparison {
    let ends = |interval: &Interval| [interval.low, interval.high];
    // By the interval and not by p: it is what people are shown.
    let is_sure = !paired.t.contains(0.0);
    let is_lower = paired.mean < 0.0;
    Comparison {
        results: path.display().to_string(),
        pairs: paired.count,
        failed: 0,
        difference: paired.mean,
        standard_deviation: paired.standard_deviation,
        standard_error: paired.standard_error,
        interval: ends(&paired.t),
        method: paired.t.method.name(),
        level: paired.t.level,
        bootstrap: ends(&paired.bootstrap),
        bootstrap_method: paired.bootstrap.method.name(),
        p: paired.p,
        p_holm,
        is_better: is_sure.then_some(is_lower == first.head.lower_is_better),
    }
}

fn print(document: &Document) -> anyhow::Result<()> {
    let mut out = terminal::out();
    let better = if document.lower_is_better {
        "lower"
    } else {
        "higher"
    };
    let fitness = &document.fitness_module;
    writeln!(
        out,
        "against {}: {fitness}, {better} is better",
        document.first
    )?;
    for found in &document.comparisons {
        let word = match found.is_better {
            Some(true) => "better",
            Some(false) => "worse",
            None => "no difference to be seen",
        };
        writeln!(out, "{}: {word}", found.results)?;
        let Comparison {
            difference,
            interval: [low, high],
            bootstrap: [from, to],
            ..
        } = found;
        if document.failed + found.failed > 0 {
            writeln!(
                out,
                "  runs that failed are in no pair: {} of the first, {} of these",
                document.failed, found.failed
            )?;
        }
        let level = found.level * 100.0;
        writeln!(
            out,
            "  difference {difference:.6} of {} pairs, standard error {:.6}",
            found.pairs, found.standard_error
        )?;
        writeln!(
            out,
            "  {level} % interval {low:.6} to {high:.6} ({}), {from:.6} to {to:.6} ({})",
            found.method, found.bootstrap_method
        )?;
        writeln!(out, "  p = {:.3e}, corrected {:.3e}", found.p, found.p_holm)?;
    }
    out.flush()?;
    Ok(())
}
