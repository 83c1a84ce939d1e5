//! `roadwright check` of an experiment.

use super::load_experiment;
use super::run::problem;
use crate::arguments::ExtensionFlags;
use crate::commands::print_json;
use crate::{Outcome, terminal};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// A problem of an experiment.
#[derive(Serialize)]
struct Finding {
    severity: &'static str,
    code: &'static str,
    message: String,
}

pub(crate) fn check_experiment(
    path: &Path,
    flags: &ExtensionFlags,
    json: bool,
) -> anyhow::Result<Outcome> {
    let experiment = load_experiment(path)?;
    let warnings = experiment.warnings().into_iter();
    let warning = |(code, message)| Finding {
        severity: "warning",
        code,
        message,
    };
    let mut findings: Vec<Finding> = warnings.map(warning).collect();
    match problem(flags, path, &experiment) {
        Ok(problem) => findings.extend(problem.warnings(&experiment).into_iter().map(warning)),
        Err(error) => findings.push(Finding {
            severity: "error",
            code: "cannot-train",
            message: format!("{error:#}"),
        }),
    }
    let errors = findings.iter().filter(|f| f.severity == "error").count();
    let warnings = findings.len() - errors;
    if json {
        let document =
            serde_json::json!({"errors": errors, "warnings": warnings, "findings": findings});
        print_json(&document)?;
    } else {
        let mut out = terminal::out();
        for finding in &findings {
            let Finding {
                severity,
                code,
                message,
            } = finding;
            writeln!(out, "{severity} [{code}] {message}")?;
        }
        writeln!(out, "{}", crate::commands::counts(errors, warnings))?;
    }
    Ok(Outcome::of(errors == 0))
}
