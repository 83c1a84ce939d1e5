//! `roadwright check`: checks a scenario or an experiment for mistakes.

use super::{check_experiment, is_experiment, load, print_json};
use crate::Outcome;
use crate::arguments::{Check, ExtensionFlags};
use crate::extensions::Notes;
use crate::{extensions, terminal};
use anyhow::Context;
use roadwright_scenario::check::{Finding, Severity, check as find, sort};
use roadwright_scenario::{Scenario, file};
use roadwright_simulation::{check_on_ground, unmet};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

#[derive(Serialize)]
struct Report<'a> {
    errors: usize,
    warnings: usize,
    findings: &'a [Finding],
    /// Reasons why a run would not start.
    refused: &'a [String],
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
        .context("specify a scenario file")?;
    if is_experiment(path) {
        drop(out);
        return check_experiment(path, &arguments.extensions, arguments.json);
    }
    let scenario = load(path)?;
    let mut findings = find(&scenario);
    findings.extend(check_on_ground(&scenario));
    sort(&mut findings);
    let refused = refusals(path, &scenario, &arguments.extensions)?;
    let is_error = |finding: &&Finding| finding.severity == Severity::Error;
    let found = findings.iter().filter(is_error).count();
    let warnings = findings.len() - found;
    let errors = found + refused.len();
    if arguments.json {
        drop(out);
        print_json(&Report {
            errors,
            warnings,
            findings: &findings,
            refused: &refused,
        })?;
    } else {
        write_groups(&mut out, &findings)?;
        for refused in &refused {
            writeln!(out, "error[refused] cannot run the scenario: {refused}")?;
        }
        writeln!(out, "{}", super::counts(errors, warnings))?;
    }
    Ok(Outcome::of(errors == 0))
}

/// Writes sorted findings in groups of one kind, each with a heading and the number of its findings.
fn write_groups(out: &mut impl Write, findings: &[Finding]) -> io::Result<()> {
    let kind = |finding: &Finding| (finding.severity, finding.code);
    for group in findings.chunk_by(|a, b| kind(a) == kind(b)) {
        writeln!(out, "{} ({})", group[0].code.title(), group.len())?;
        for finding in group {
            writeln!(out, "  {finding}")?;
        }
    }
    Ok(())
}

/// Returns the reasons why a run of a scenario would not start, such as unknown modules or parameters.
fn refusals(
    path: &Path,
    scenario: &Scenario,
    flags: &ExtensionFlags,
) -> anyhow::Result<Vec<String>> {
    let wanted = extensions::wanted(scenario, &[]);
    let host = extensions::open(flags, Some(path), wanted, Notes::Omit)?;
    let unmet = unmet(scenario, &host.registry()).into_iter();
    let texts = unmet.map(|error| error.to_string());
    Ok(texts
        .map(|text| extensions::cause_of(&text, &host).unwrap_or(text))
        .collect())
}
