//! `roadwright train study`: parameter studies, whose learning curves are compared with published
//! ones.

use super::arguments::Study;
use super::threads;
use crate::commands::plot::study_figure;
use crate::commands::print_json;
use crate::outputs::{Inputs, Outputs};
use crate::{Outcome, terminal};
use anyhow::{Context, bail};
use roadwright_training::genetic::study::{GenerationRow, StudyResult, chromosomes, studies};
use serde_json::json;
use std::io::Write;

/// The study that prints chromosomes instead of curves.
const CHROMOSOMES: &str = "chromosomes";

pub(super) fn study(arguments: &Study) -> anyhow::Result<Outcome> {
    let Some(name) = arguments.name.as_deref() else {
        return list();
    };
    if !(2..=10_000).contains(&arguments.seeds) {
        let seeds = arguments.seeds;
        bail!(
            "--seeds {seeds} is out of range: expected 2 to 10000, because a single seed gives \
               no error bar"
        );
    }
    let pool = threads(arguments.workers)?;
    if name == super::compression::NAME {
        return super::compression::study(arguments, &pool);
    }
    if name == CHROMOSOMES {
        if arguments.plots.is_some() {
            bail!("{CHROMOSOMES} is a table and does not support --plots");
        }
        let rows = chromosomes(1);
        if arguments.json {
            print_json(&json!({"study": CHROMOSOMES, "of": "table 10.3", "rows": rows}))?;
        } else {
            print_rows(&rows)?;
        }
        return Ok(Outcome::Fine);
    }
    let all = studies();
    let known: Vec<&str> = all.iter().map(|study| study.name).collect();
    let study = all.iter().find(|study| study.name == name);
    let study = study.with_context(|| {
        let known = known.join(", ");
        let compression = super::compression::NAME;
        format!("unknown study \"{name}\"; expected one of: {CHROMOSOMES}, {known}, {compression}")
    })?;
    let mut outputs = Outputs::of(Inputs::none());
    if let Some(folder) = &arguments.plots {
        outputs.folder("--plots", folder)?;
    }
    let result = pool.install(|| study.run(arguments.seeds));
    if let Some(folder) = &arguments.plots {
        study_figure(&result, result.study).write(&mut outputs, "--plots", folder)?;
        outputs.commit()?;
    }
    if arguments.json {
        print_json(&result)?;
    } else {
        print(&result)?;
    }
    // A difference from the source is a result, not a fault.
    Ok(Outcome::Fine)
}

fn list() -> anyhow::Result<Outcome> {
    let mut out = terminal::out();
    let table = "The fittest chromosomes of generations 5 to 999.";
    writeln!(out, "{CHROMOSOMES:<22}{:<14}{table}", "table 10.3")?;
    for study in studies() {
        writeln!(out, "{:<22}{:<14}{}", study.name, study.of, study.doc)?;
    }
    let (name, doc) = (super::compression::NAME, super::compression::DOC);
    writeln!(out, "{name:<22}{:<14}{doc}", "section 9.3")?;
    Ok(Outcome::Fine)
}

fn print_rows(rows: &[GenerationRow]) -> anyhow::Result<()> {
    let mut out = terminal::out();
    writeln!(
        out,
        "generation  chromosome                            fitness"
    )?;
    for row in rows {
        let GenerationRow {
            generation,
            chromosome,
            fitness,
        } = row;
        writeln!(out, "{generation:>10}  {chromosome}  {fitness}")?;
    }
    Ok(())
}

fn print(result: &StudyResult) -> anyhow::Result<()> {
    let mut out = terminal::out();
    let of = if result.of.is_empty() {
        "ours"
    } else {
        result.of
    };
    writeln!(
        out,
        "{} ({of}): best fitness of the pool, mean and standard error over {} seeds",
        result.study, result.seeds
    )?;
    write!(out, "{:>11}", "individuals")?;
    for line in &result.lines {
        write!(out, "  {:>16}", line.label)?;
    }
    writeln!(out)?;
    let rows = result.lines.first().map_or(0, |line| line.points.len());
    for row in 0..rows {
        write!(out, "{:>11}", result.lines[0].points[row].evaluations)?;
        for line in &result.lines {
            let fitness = line.points[row].fitness;
            let cell = format!("{:.2} +- {:.2}", fitness.mean, fitness.standard_error);
            write!(out, "  {cell:>16}")?;
        }
        writeln!(out)?;
    }
    for statement in &result.statements {
        let verdict = if statement.holds {
            "as in the source"
        } else {
            "DIFFERS FROM THE SOURCE"
        };
        writeln!(
            out,
            "{verdict}: {}\n    {}",
            statement.says, statement.found
        )?;
    }
    Ok(())
}
