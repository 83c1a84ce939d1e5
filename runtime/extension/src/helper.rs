//! What child processes do: try a library, or serve an isolated module.

use crate::native::examine::{ENDING, Finding};
use crate::native::probe::{helper_command, nonce};
use crate::patience::{Ending, wait_for};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Runs as a child of [`crate::Host`]: `probe LIBRARY NONCE`, `examine LIBRARY NONCE`,
/// `digest LIBRARY NONCE`, or `serve LIBRARY KIND ROWS MIB` with a
/// socket as standard input. Gives the exit code.
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
            complain("roadwright: this is called by Roadwright itself");
            2
        }
    }
}

#[cfg(unix)]
fn serve(library: &str, kind: &str, rows: &str, memory: &str) -> i32 {
    let memory = memory.parse().unwrap_or(crate::host::ISOLATED_MEMORY);
    // Before any code of the library runs.
    crate::native::limits::limit_this_process(memory);
    match crate::native::serve(Path::new(library), kind, Path::new(rows)) {
        Ok(()) => 0,
        Err(error) => {
            complain(&format!("roadwright: isolated module: {error}"));
            2
        }
    }
}

/// Prints a line to the process that has started this one. Unlike `println!` it does not panic when
/// that process is gone and nobody reads on: an exit code of a panic would look like a crash of the
/// plugin.
pub(crate) fn print(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// The same on standard error.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Why an examination has come to no end of its own.
fn why_it_ended(ending: &Ending) -> String {
    if ending.is_late {
        return format!("took longer than {} s", PATIENCE.as_secs());
    }
    let said = ending.complaint.trim();
    format!("the plugin ended it ({}) {said}", ending.status)
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

fn examine(library: &Path, nonce: &str) -> i32 {
    let tell = |finding: &Finding| {
        let line = ReportLine {
            name: finding.name.to_owned(),
            problem: finding.problem.clone(),
            note: finding.note.clone(),
        };
        // On a line of its own, whatever the library has printed before.
        if let Ok(line) = serde_json::to_string(&line) {
            print(&format!("\n{nonce} {line}"));
        }
    };
    let examined = crate::native::examine::examine(library, tell);
    // After all that the library may have printed.
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

/// Prints a digest of all answers, for a comparison with that of another process.
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

/// Lets a child process do something with a library, by the call `WHAT LIBRARY NONCE`, and gives the
/// line that it answers with by [`answer_parent`]. `helper` is as in
/// [`crate::HostOptions::helper`]. A child that takes longer than a minute is ended.
///
/// # Errors
/// How the child has ended without an answer, for people.
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

/// Prints a child's answer, one line, to the process that has started it with a nonce.
pub fn answer_parent(nonce: &str, line: &str) {
    // On a line of its own, whatever the library has printed before.
    print(&format!("\n{END}{nonce} {line}"));
}

const NO_PROGRAM: &str = "there is no program to examine plugins with";

/// An examination that takes longer has hung.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a child prints at the end of an examination, before its nonce.
const END: &str = "roadwright-examine: end ";

/// Looks at a plugin in a child process: whether it loads, is deterministic, survives hard inputs,
/// and how fast it is. `helper` is as in [`crate::HostOptions::helper`]. `tell` gets each line as
/// it comes.
///
/// The last line says how the process ended if it did not end well.
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

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// Whether nothing is wrong.
    pub is_fine: bool,
    /// Whether it came to its end, and the plugin is neither far too slow nor leaks, so that more can
    /// be asked of it.
    pub can_be_asked: bool,
}

fn line(name: &str, result: Result<String, String>) -> ReportLine {
    ReportLine {
        name: name.to_owned(),
        note: result.clone().unwrap_or_default(),
        problem: result.err(),
    }
}

/// Tells what is found; an error is what ends the check.
fn check_lines(
    library: &Path,
    helper: &[OsString],
    tell: &mut impl FnMut(&ReportLine),
) -> Result<(), ReportLine> {
    let failed = |name: &'static str| move |why: String| line(name, Err(why));
    // The loader looks a bare name up in the system's folders.
    let library = library
        .canonicalize()
        .map_err(|error| failed("description")(format!("{}: {error}", library.display())))?;
    // From here on each look runs more of the plugin's code than the one before it: reading runs
    // none, then it is loaded, then examined. So the first failure names the least that goes wrong.
    let (inspected, _) =
        crate::inspect(&library).map_err(|error| failed("description")(error.to_string()))?;
    let info = inspected.info;
    let (major, minor) = info.abi;
    let kinds = info.kinds.join(" and ");
    let note = format!("{} {}, ABI {major}.{minor}, {kinds}", info.id, info.version);
    tell(&line("description", Ok(note)));
    crate::native::probe::probe(helper, &library).map_err(failed("loading"))?;
    let note = "loads, answers and ends in a process of its own".to_owned();
    tell(&line("loading", Ok(note)));
    examine_in_child(&library, helper, tell)?;
    // Two processes, since addresses and what else differs between starts is the same within one.
    let digests = [
        ask_child("digest", &library, helper),
        ask_child("digest", &library, helper),
    ];
    let [first, second] = digests.map(|digest| digest.map_err(failed("two processes")));
    let is_same = first? == second?;
    let found = if is_same {
        Ok("equal, bit by bit".to_owned())
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
    // Both are needed: a plugin that calls `exit` prints no end, and one that crashes when it is
    // destroyed or unloaded prints the end and has another code.
    if has_ended && ending.status.code() == Some(i32::from(has_problem)) {
        if printed > 0 {
            let note = format!("{printed} lines; host->log is for that");
            tell(&line("prints", Ok(note)));
        }
        return Ok(());
    }
    let why = why_it_ended(&ending);
    Err(failed(format!("after \"{last}\": {why}")))
}
