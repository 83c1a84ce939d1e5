//! `roadwright train compare`: compares trained values with the initial ones, and champions with each other.

use super::arguments::Compare;
use super::preset::champion;
use super::{load_record, tell_version};
use crate::commands::print_json;
use crate::{Outcome, terminal};
use anyhow::{Context, bail};
use roadwright_training::genetic::LEVEL;
use roadwright_training::genetic::record::{Record, RecordedChampion};
use roadwright_training::statistics::{Paired, holm, paired};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) fn compare(arguments: &Compare) -> anyhow::Result<Outcome> {
    let record = load_record(&arguments.record)?;
    let champion = champion(&record, &arguments.record)?;
    tell_version(&record, &arguments.record);
    check_failures(champion, &arguments.record, arguments.without_failed)?;
    if arguments.others.is_empty() {
        return compare_genes(&record, champion, arguments.json);
    }
    let rows = compare_champions(arguments, &record, champion)?;
    if arguments.json {
        print_json(&serde_json::json!({"record": arguments.record, "others": rows}))?;
    } else {
        print_champions(&arguments.record, &rows)?;
    }
    Ok(Outcome::Fine)
}

fn compare_genes(
    record: &Record,
    champion: &RecordedChampion,
    json: bool,
) -> anyhow::Result<Outcome> {
    let rows: Vec<_> = record.genes.iter().zip(&champion.changes).collect();
    let is_changed = |(before, after): &(String, String)| before != after;
    let changed = rows.iter().filter(|(_, change)| is_changed(change)).count();
    if json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(gene, (before, after))| {
                serde_json::json!({"gene": gene, "before": before, "trained": after})
            })
            .collect();
        let failed = failed_courses(champion);
        print_json(&serde_json::json!({"changed": changed, "failed": failed, "genes": rows}))?;
        return Ok(Outcome::Fine);
    }
    let mut out = terminal::out();
    let (failed, courses) = (failed_courses(champion), champion.held_out.len());
    if failed > 0 {
        writeln!(
            out,
            "the champion failed on {failed} of {courses} test courses, which are not counted"
        )?;
    }
    writeln!(out, "{:<46}{:<14}trained", "gene", "before")?;
    for (gene, change) in rows {
        let (before, after) = change;
        let after = if is_changed(change) { after } else { "=" };
        writeln!(out, "{gene:<46}{before:<14}{after}")?;
    }
    writeln!(out, "{changed} of {} genes changed", record.genes.len())?;
    if let Some(manners) = &champion.manners {
        writeln!(out, "on the held-out courses {manners}")?;
    }
    Ok(Outcome::Fine)
}

/// A champion compared with another one on the same test courses.
#[derive(Serialize)]
struct ComparisonRow {
    record: PathBuf,
    courses: u64,
    /// Mean fitness of the first champion minus that of the other champion.
    difference: f64,
    standard_error: f64,
    interval: [f64; 2],
    method: &'static str,
    level: f64,
    /// Probability of a difference at least this large by chance, corrected for multiple comparisons by
    /// Holm's method.
    p_holm: f64,
}

fn compare_champions(
    arguments: &Compare,
    record: &Record,
    own: &RecordedChampion,
) -> anyhow::Result<Vec<ComparisonRow>> {
    let mut found: Vec<(&PathBuf, Paired)> = Vec::new();
    for path in &arguments.others {
        let other = load_record(path)?;
        let champion = champion(&other, path)?;
        tell_version(&other, path);
        check_failures(champion, path, arguments.without_failed)?;
        check_comparable(record, &other, path)?;
        let scores = champion.held_out.iter().copied();
        // Compared course by course, because both were evaluated on the same seeds in the same order, as
        // checked before. A course on which either champion failed is left out.
        let pairs = scores.zip(own.held_out.iter().copied());
        let pairs: Vec<_> = pairs.filter_map(|(own, first)| own.zip(first)).collect();
        let difference = paired(&pairs, LEVEL);
        let difference = difference.context("one course is not enough; use more test seeds")?;
        found.push((path, difference));
    }
    let p: Vec<f64> = found.iter().map(|(_, difference)| difference.p).collect();
    let rows = found.into_iter().zip(holm(&p));
    Ok(rows
        .map(|((path, difference), p_holm)| ComparisonRow {
            record: path.clone(),
            courses: difference.count,
            difference: difference.mean,
            standard_error: difference.standard_error,
            interval: [difference.t.low, difference.t.high],
            method: difference.t.method.name(),
            level: difference.t.level,
            p_holm,
        })
        .collect())
}

/// Returns the number of test courses on which a champion failed.
fn failed_courses(champion: &RecordedChampion) -> usize {
    let failed = champion.held_out.iter().filter(|score| score.is_none());
    failed.count()
}

/// Returns an error if the champion failed on a test course, unless `without_failed` is set.
fn check_failures(
    champion: &RecordedChampion,
    path: &Path,
    without_failed: bool,
) -> anyhow::Result<()> {
    let (failed, courses) = (failed_courses(champion), champion.held_out.len());
    if failed == 0 || without_failed {
        return Ok(());
    }
    bail!(
        "{}: the champion failed on {failed} of {courses} test courses, and failures are not \
         random; use --without-failed to exclude them",
        path.display()
    )
}

/// Checks that the same fitness evaluated both champions on the same courses.
pub(super) fn check_comparable(first: &Record, other: &Record, path: &Path) -> anyhow::Result<()> {
    let of = |record: &Record| {
        let experiment = &record.experiment;
        (
            (experiment.course.clone(), experiment.scenario.clone()),
            (experiment.vehicle.clone(), experiment.dynamics),
            (experiment.fitness.clone(), experiment.seeds.test),
        )
    };
    if of(first) != of(other) {
        bail!(
            "{}: the record was evaluated on other courses, with another vehicle or with another fitness",
            path.display()
        );
    }
    Ok(())
}

fn print_champions(first: &Path, rows: &[ComparisonRow]) -> anyhow::Result<()> {
    let mut out = terminal::out();
    writeln!(
        out,
        "difference from {} on held-out courses (negative: better; p by Student's t and Holm, {} comparisons)",
        first.display(),
        rows.len()
    )?;
    for row in rows {
        writeln!(
            out,
            "  {:<40} {:>9.4} +- {:.4}, {:.0} % interval {:.4} to {:.4}, p {:.2e}, {} courses",
            row.record.display(),
            row.difference,
            row.standard_error,
            100.0 * row.level,
            row.interval[0],
            row.interval[1],
            row.p_holm,
            row.courses
        )?;
    }
    Ok(())
}
