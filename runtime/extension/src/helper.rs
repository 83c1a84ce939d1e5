//! Entry points of child processes, which test a library or serve an isolated module.

use crate::native::examine::{ENDING, Finding};
use crate::native::probe::{helper_command, nonce};
use crate::patience::{Ending, wait_for};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Entry point of a child of [`crate::Host`]: `probe LIBRARY NONCE`, `examine LIBRARY NONCE`, `digest LIBRARY
/// NONCE`, or `serve LIBRARY KIND ROWS MIB` with a socket as standard input. Returns the exit code.
pub fn helper(arguments: &[OsString]) -> i32 {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    match words[..] {
        ["examine", library, nonce] => examine(Path::new(library), nonce),
        ["digest", library, nonce] => digest(Path::new(library), nonce),
        ["probe", library, nonce] => {
            #[cfg(unix)]
            crate::native::limits::limit_this_process(crate::host::ISOLATED_MEMORY);
            crate::native::probe::run_trial(Path::new(library), nonce)
        }
        #[cfg(unix)]
        ["serve", library, kind, rows, memory] => serve(library, kind, rows, memory),
        _ => {
            complain("roadwright: this command is for internal use by Roadwright");
            2
        }
    }
}

#[cfg(unix)]
fn serve(library: &str, kind: &str, rows: &str, memory: &str) -> i32 {
    let memory = memory.parse().unwrap_or(crate::host::ISOLATED_MEMORY);
    // Limited before any code of the library runs.
    crate::native::limits::limit_this_process(memory);
    match crate::native::serve(Path::new(library), kind, Path::new(rows)) {
        Ok(()) => 0,
        Err(error) => {
            complain(&format!("roadwright: isolated module: {error}"));
            2
        }
    }
}

/// Prints a line for the parent process. Unlike `println!`, it does not panic if the parent has ended and the
/// pipe has no reader. The exit code of a panic would look like a crash of the plugin.
pub(crate) fn print(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Prints a line to standard error. Like `print`, it does not panic if the pipe has no reader.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Describes why an examination did not finish.
fn why_it_ended(ending: &Ending) -> String {
    if ending.is_late {
        return format!("took longer than {} s", PATIENCE.as_secs());
    }
    let said = ending.complaint.trim();
    format!("the plugin ended the process ({}) {said}", ending.status)
}

/// A line of the report on a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportLine {
    /// Name of the check.
    pub name: String,
    /// Problem; `None` if the check passed.
    pub problem: Option<String>,
    /// Details of the result.
    pub note: String,
}

fn examine(library: &Path, nonce: &str) -> i32 {
    let tell = |finding: &Finding| {
        let line = ReportLine {
            name: finding.name.to_owned(),
            problem: finding.problem.clone(),
            note: finding.note.clone(),
        };
        // Printed on a separate line, whatever the library has printed before.
        if let Ok(line) = serde_json::to_string(&line) {
            print(&format!("\n{nonce} {line}"));
        }
    };
    let examined = crate::native::examine::examine(library, tell);
    // Printed after everything that the library may have printed.
    print(&format!("\n{END}{nonce}"));
    match examined {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(why) => {
            complain(&why);
            2
        }
    }
}

/// Prints a digest of all answers. It is compared with the digest of another process.
fn digest(library: &Path, nonce: &str) -> i32 {
    match crate::native::examine::digest(library) {
        Ok(digest) => {
            answer_parent(nonce, &digest);
            0
        }
        Err(why) => {
            complain(&why);
            2
        }
    }
}

/// Starts a child process for a library with the arguments `WHAT LIBRARY NONCE`, and returns the line that
/// the child sends with [`answer_parent`]. `helper` is as in [`crate::HostOptions::helper`]. A child that
/// takes longer than a minute is killed.
///
/// # Errors
/// If the child ended without an answer, with a description of how it ended.
pub fn ask_child(what: &str, library: &Path, helper: &[OsString]) -> Result<String, String> {
    let nonce = nonce();
    let begin = format!("{END}{nonce} ");
    let mut found = None;
    let child = helper_command(helper, what, library, &nonce)
        .ok_or(NO_PROGRAM)?
        .spawn()
        .map_err(|error| format!("cannot start it: {error}"))?;
    let ending = wait_for(child, PATIENCE, |line| {
        if let Some(answer) = line.strip_prefix(&begin) {
            found = Some(answer.to_owned());
        }
    });
    let ending = ending.map_err(|error| error.to_string())?;
    found.ok_or_else(|| why_it_ended(&ending))
}

/// Sends a child's answer, a single line, to the parent that started it with a nonce.
pub fn answer_parent(nonce: &str, line: &str) {
    // Printed on a separate line, whatever the library has printed before.
    print(&format!("\n{END}{nonce} {line}"));
}

const NO_PROGRAM: &str = "no helper program for examining plugins is configured";

/// Time limit of an examination.
const PATIENCE: Duration = Duration::from_secs(60);
/// Line that a child prints at the end of an examination, followed by its nonce.
const END: &str = "roadwright-examine: end ";

/// Examines in a child process whether a plugin loads, is deterministic and survives extreme inputs, and how
/// fast it is. `helper` is as in [`crate::HostOptions::helper`]. `tell` receives each line as it appears.
///
/// If the process did not end normally, the last line describes how it ended.
pub fn check_plugin(
    library: &Path,
    helper: &[OsString],
    mut tell: impl FnMut(&ReportLine),
) -> Checked {
    let mut is_fine = true;
    let mut is_bearable = true;
    let mut tell = |line: &ReportLine| {
        is_fine &= line.problem.is_none();
        is_bearable &= line.problem.is_none() || !ENDING.contains(&line.name.as_str());
        tell(line);
    };
    let ended = check_lines(library, helper, &mut tell);
    if let Err(failed) = &ended {
        tell(failed);
    }
    Checked {
        is_fine,
        can_be_asked: ended.is_ok() && is_bearable,
    }
}

/// Result of examining a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// Whether no problem was found.
    pub is_fine: bool,
    /// Whether the plugin can be tested further: the examination finished, and the plugin neither leaks nor
    /// is far too slow.
    pub can_be_asked: bool,
}

fn line(name: &str, result: Result<String, String>) -> ReportLine {
    ReportLine {
        name: name.to_owned(),
        note: result.clone().unwrap_or_default(),
        problem: result.err(),
    }
}

/// Reports the findings; an error ends the examination.
fn check_lines(
    library: &Path,
    helper: &[OsString],
    tell: &mut impl FnMut(&ReportLine),
) -> Result<(), ReportLine> {
    let failed = |name: &'static str| move |why: String| line(name, Err(why));
    // For a name without a folder, the loader would search the system's folders.
    let library = library
        .canonicalize()
        .map_err(|error| failed("description")(format!("{}: {error}", library.display())))?;
    // Each check runs more of the plugin's code than the previous one: reading runs none, then the
    // library is loaded, and then it is examined. The first check that fails therefore narrows down
    // the cause.
    let (inspected, _) =
        crate::inspect(&library).map_err(|error| failed("description")(error.to_string()))?;
    let info = inspected.info;
    let (major, minor) = info.abi;
    let kinds = info.kinds.join(" and ");
    let note = format!("{} {}, ABI {major}.{minor}, {kinds}", info.id, info.version);
    tell(&line("description", Ok(note)));
    crate::native::probe::probe(helper, &library).map_err(failed("loading"))?;
    let note = "loads, answers and exits in a separate process".to_owned();
    tell(&line("loading", Ok(note)));
    examine_in_child(&library, helper, tell)?;
    // Two processes are used, because addresses and other values that differ between starts are equal within
    // a process.
    let digests = [
        ask_child("digest", &library, helper),
        ask_child("digest", &library, helper),
    ];
    let [first, second] = digests.map(|digest| digest.map_err(failed("two processes")));
    let is_same = first? == second?;
    let found = if is_same {
        Ok("identical bit for bit".to_owned())
    } else {
        Err("answers differ between two processes".to_owned())
    };
    tell(&line("two processes", found));
    Ok(())
}

fn examine_in_child(
    library: &Path,
    helper: &[OsString],
    tell: &mut impl FnMut(&ReportLine),
) -> Result<(), ReportLine> {
    let failed = |why: String| line("process", Err(why));
    let nonce = nonce();
    let child = helper_command(helper, "examine", library, &nonce)
        .ok_or_else(|| failed(NO_PROGRAM.into()))?
        .spawn()
        .map_err(|error| failed(format!("cannot start it: {error}")))?;
    let end = format!("{END}{nonce}");
    let (mut last, mut has_ended, mut has_problem, mut printed) = (String::new(), false, false, 0);
    let on_line = |text: &str| {
        let is_end = text == end;
        has_ended |= is_end;
        let told = text
            .strip_prefix(&nonce)
            .and_then(|line| serde_json::from_str::<ReportLine>(line.trim_start()).ok());
        match told {
            Some(found) => {
                last.clone_from(&found.name);
                has_problem |= found.problem.is_some();
                tell(&found);
            }
            None => printed += u64::from(!is_end && !text.is_empty()),
        }
    };
    let ending = wait_for(child, PATIENCE, on_line).map_err(|error| failed(error.to_string()))?;
    // Both are required, because a plugin that calls `exit` does not print the end, and one that crashes on
    // destruction or unloading prints the end but has another exit code.
    if has_ended && ending.status.code() == Some(i32::from(has_problem)) {
        if printed > 0 {
            let note = format!("{printed} lines; use host->log instead");
            tell(&line("prints", Ok(note)));
        }
        return Ok(());
    }
    let why = why_it_ended(&ending);
    Err(failed(format!("after \"{last}\": {why}")))
}
