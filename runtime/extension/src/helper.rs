//! What child processes do: try a library, or serve an isolated module.

use crate::native::examine::Finding;
use crate::patience::wait_for;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs as a child of [`crate::Host`]: `probe LIBRARY`, or `serve LIBRARY KIND MEMORY` with a
/// socket as standard input. Gives the exit code.
pub fn helper(arguments: &[OsString]) -> i32 {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    match words[..] {
        ["examine", library] => examine(Path::new(library)),
        ["probe", library] => crate::native::probe::run_trial(Path::new(library)),
        #[cfg(unix)]
        ["serve", library, kind, memory] => {
            match crate::native::serve(Path::new(library), kind, Path::new(memory)) {
                Ok(()) => 0,
                Err(error) => {
                    eprintln!("roadwright: isolated module: {error}");
                    2
                }
            }
        }
        _ => {
            eprintln!("roadwright: this is called by Roadwright itself");
            2
        }
    }
}

/// A line of the report on a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportLine {
    /// What was looked at.
    pub name: String,
    /// What is wrong; `None` if it is fine.
    pub problem: Option<String>,
    /// What was seen.
    pub note: String,
}

fn examine(library: &Path) -> i32 {
    let tell = |finding: &Finding| {
        let line = ReportLine {
            name: finding.name.to_owned(),
            problem: finding.problem.clone(),
            note: finding.note.clone(),
        };
        if let Ok(line) = serde_json::to_string(&line) {
            println!("{line}");
        }
    };
    match crate::native::examine::examine(library, tell) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(why) => {
            eprintln!("{why}");
            2
        }
    }
}

/// An examination that takes longer has hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// Looks at a plugin in a child process: whether it loads, is deterministic, survives hard inputs,
/// and how fast it is. `helper` is as in [`crate::HostOptions::helper`].
///
/// The last line says how the process ended if it did not end well.
pub fn check_plugin(library: &Path, helper: &[OsString]) -> Vec<ReportLine> {
    let line = |name: &str, result: Result<String, String>| ReportLine {
        name: name.to_owned(),
        note: result.clone().unwrap_or_default(),
        problem: result.err(),
    };
    let mut report = Vec::new();
    match crate::inspect(library) {
        Ok((inspected, _)) => {
            let info = inspected.info;
            let (major, minor) = info.abi;
            let note = format!(
                "{} {}, ABI {major}.{minor}, {}",
                info.id,
                info.version,
                info.kinds.join(" and ")
            );
            report.push(line("description", Ok(note)));
        }
        Err(error) => {
            report.push(line("description", Err(error.to_string())));
            return report;
        }
    }
    if let Err(why) = crate::native::probe::probe(helper, library) {
        report.push(line("loading", Err(why)));
        return report;
    }
    report.push(line(
        "loading",
        Ok("loads, answers and ends in a process of its own".into()),
    ));
    let Some((program, arguments)) = helper.split_first() else {
        return report;
    };
    let output = Command::new(program)
        .args(arguments)
        .arg("examine")
        .arg(library)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .and_then(|child| wait_for(child, PATIENCE));
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            report.push(line("examination", Err(error.to_string())));
            return report;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let lines = said
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    report.extend(lines);
    if !matches!(output.status.code(), Some(0 | 1)) {
        let last = report
            .last()
            .map_or(String::new(), |last| last.name.clone());
        let why = String::from_utf8_lossy(&output.stderr);
        let why = format!("ended after \"{last}\" ({}) {}", output.status, why.trim());
        report.push(line("process", Err(why)));
    }
    report
}
