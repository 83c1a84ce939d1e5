//! `roadwright check`.

use super::{check_experiment, is_experiment, load, print_json};
use crate::Outcome;
use crate::arguments::Check;
use crate::terminal;
use anyhow::Context;
use roadwright_scenario::check::{Finding, Severity, check as find};
use roadwright_scenario::file;
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct Report<'a> {
    errors: usize,
    warnings: usize,
    findings: &'a [Finding],
}

pub(crate) fn check(arguments: &Check) -> anyhow::Result<Outcome> {
    let mut out = terminal::out();
    if arguments.schema {
        write!(out, "{}", file::schema())?;
        return Ok(Outcome::Fine);
    }
    let path = arguments
        .file
        .as_deref()
        .context("a scenario file is needed")?;
    if is_experiment(path) {
        drop(out);
        return check_experiment(path, arguments.json);
    }
    let findings = find(&load(path)?);
    let errors = findings
        .iter()
        .filter(|f| f.severity == Severity::Error)
        .count();
    let warnings = findings.len() - errors;
    if arguments.json {
        drop(out);
        print_json(&Report {
            errors,
            warnings,
            findings: &findings,
        })?;
    } else {
        for finding in &findings {
            writeln!(out, "{finding}")?;
        }
        match (errors, warnings) {
            (0, 0) => writeln!(out, "nothing wrong")?,
            _ => writeln!(out, "{errors} errors, {warnings} warnings")?,
        }
    }
    Ok(if errors > 0 {
        Outcome::Findings
    } else {
        Outcome::Fine
    })
}
