//! `roadwright bench compare`: comparison of results in pairs with the same seed.

use super::course::{check_failures, read, tell_version};
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

/// Comparison of other results with the first results.
#[derive(Serialize)]
struct Comparison {
    /// File of the other results.
    results: String,
    /// Number of pairs with the same seed.
    pairs: u64,
    /// Number of failed runs of the other results. These runs are not in any pair.
    failed: usize,
    /// Mean fitness of the other results minus that of the first results.
    difference: f64,
    standard_deviation: f64,
    standard_error: f64,
    /// Confidence interval of the difference by Student's t.
    interval: [f64; 2],
    method: &'static str,
    level: f64,
    /// Confidence interval of the difference by the bootstrap.
    bootstrap: [f64; 2],
    bootstrap_method: &'static str,
    /// Probability of a difference at least this large by chance, according to Student's t.
    p: f64,
    /// The probability `p`, corrected for multiple comparisons by Holm's method.
    p_holm: f64,
    /// Whether the difference is an improvement; absent if the interval contains 0.
    is_better: Option<bool>,
}

#[derive(Serialize)]
struct Document {
    first: String,
    fitness_module: String,
    lower_is_better: bool,
    /// Number of failed runs of the first results. These runs are not in any pair.
    failed: usize,
    comparisons: Vec<Comparison>,
}

pub(crate) fn compare(arguments: &Compare) -> anyhow::Result<Outcome> {
    if !(arguments.level > 0.0 && arguments.level < 1.0) {
        bail!(
            "--level {} is out of range: expected more than 0 and less than 1",
            arguments.level
        );
    }
    let first = read(&arguments.first)?;
    tell_version(&first, &arguments.first);
    check_failures(&first, &arguments.first, arguments.without_failed)?;
    tell_unfinished(&first, &arguments.first);
    let mut found: Vec<(&Path, Paired)> = Vec::new();
    let mut failed = Vec::new();
    for path in &arguments.others {
        let other = read(path)?;
        tell_version(&other, path);
        check_failures(&other, path, arguments.without_failed)?;
        tell_unfinished(&other, path);
        failed.push(other.failures().len());
        let of = || format!("{} and {}", arguments.first.display(), path.display());
        let paired = pair(&first, &other, arguments.level).with_context(of)?;
        found.push((path.as_path(), paired));
    }
    // All comparisons are made first, because Holm's correction depends on their number and order.
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

/// Warns if an experiment is not finished, so that only its completed runs are compared.
fn tell_unfinished(results: &Results, path: &Path) {
    if results.stopped.is_none() {
        let runs = results.rows.len();
        say!(
            "{}: the experiment is not finished; only its {runs} completed runs are compared",
            path.display()
        );
    }
}

/// Pairs rows of both results that have the same seed.
fn pair(first: &Results, other: &Results, level: f64) -> anyhow::Result<Paired> {
    let pairs = pairs(first, other)?;
    let count = pairs.len();
    paired(&pairs, level).with_context(|| {
        format!("the two results have {count} seeds in common, but a comparison needs at least 2")
    })
}

/// Returns the fitness of the other results minus that of the first results, for the seeds that occur in
/// both.
pub(super) fn differences(first: &Results, other: &Results) -> anyhow::Result<Vec<f64>> {
    let pairs = pairs(first, other)?;
    Ok(pairs.iter().map(|(first, other)| other - first).collect())
}

fn comparison(path: &Path, paired: &Paired, p_holm: f64, first: &Results) -> Comparison {
    let ends = |interval: &Interval| [interval.low, interval.high];
    // Decided by the interval and not by p, because the interval is displayed.
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
            None => "no significant difference",
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
                "  failed runs left out: {} in the first file, {} in this one",
                document.failed, found.failed
            )?;
        }
        let level = found.level * 100.0;
        writeln!(
            out,
            "  difference {difference:.6} over {} pairs, standard error {:.6}",
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
