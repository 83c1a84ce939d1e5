//! `roadwright plugin`: creates, builds, inspects and lists compiled plugins.

mod course;
mod ground_drive;
mod records;
mod signal_drive;
mod smoke_drive;

pub(crate) use smoke_drive::plugin_host;

use super::print_json;
use crate::arguments::{ExtensionFlags, PluginKind, PluginLanguage, PluginVerb};
use crate::extensions::Notes;
use crate::outputs::{Inputs, Kind, Outputs};
use crate::terminal::{self, say};
use crate::{Outcome, extensions, progress};
use anyhow::Context;
use notify::{RecursiveMode, Watcher};
use roadwright_agent::ModuleKind;
use roadwright_extension::author::{self, AuthorError, Language};
use roadwright_extension::{FileState, Host, ReportLine, check_plugin, inspect};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Time without changes that has to pass before a build starts.
// Editors save several files at once, and one file in several steps; a build for each would be wasted.
const QUIET: Duration = Duration::from_millis(200);

pub(crate) fn plugin(verb: &PluginVerb) -> anyhow::Result<Outcome> {
    match verb {
        PluginVerb::List { extensions, json } => list(extensions, *json),
        PluginVerb::Info { file, json } => info(file, *json),
        PluginVerb::Check {
            file,
            picture,
            json,
        } => check(file, picture.as_deref(), *json),
        PluginVerb::New {
            name,
            kind,
            lang,
            at,
        } => new(name, *kind, *lang, at),
        PluginVerb::Dev { folder, into, once } => dev(folder, into, *once),
        PluginVerb::Retry { id, extensions } => retry(id, extensions),
        PluginVerb::Records { json } => records::records(*json),
    }
}

fn list(flags: &ExtensionFlags, as_json: bool) -> anyhow::Result<Outcome> {
    // As in a run with the same flags, builds without permission are not run.
    let host = Host::open(extensions::options(flags, None));
    let (files, events) = (host.files(), host.events());
    if as_json {
        print_json(&json!({"files": files, "modules": host.modules(), "events": events}))?;
        return Ok(Outcome::Fine);
    }
    let mut out = terminal::out();
    if files.is_empty() {
        writeln!(out, "No plugins found in:")?;
        for folder in extensions::options(flags, None).plugins {
            writeln!(out, "  {}", folder.display())?;
        }
        return Ok(Outcome::Fine);
    }
    for file in files {
        let state = match &file.state {
            FileState::Active => "loads".to_owned(),
            FileState::Idle => "is not needed".to_owned(),
            FileState::NeedsPermission => {
                format!(
                    "is not allowed to run yet: use --allow-plugin {} or --trust-plugins",
                    file.hash
                )
            }
            FileState::Shadowed(first) => format!("is shadowed by {}", first.display()),
            FileState::Rejected(why) => format!("was rejected: {why}"),
            FileState::Settling => "is being written".to_owned(),
            FileState::Orphaned => "was removed".to_owned(),
        };
        if let Some(info) = &file.info {
            let kinds = info.kinds.join("+");
            writeln!(
                out,
                "{:<32} {:<10} {:<12} {}",
                info.id, info.version, kinds, info.doc
            )?;
        }
        writeln!(out, "  {} {state}", file.path.display())?;
    }
    Ok(Outcome::Fine)
}

/// Lifts a plugin's quarantine without loading anything.
fn retry(id: &str, flags: &ExtensionFlags) -> anyhow::Result<Outcome> {
    let nothing = roadwright_extension::Wanted::Ids(std::collections::BTreeSet::new());
    let host = extensions::open(flags, None, nothing, Notes::Omit)?;
    let Some(lifted) = host.lift_quarantine(id) else {
        anyhow::bail!(
            "{id}: no plugin in the folders has this id. `roadwright plugin list` shows the \
             plugins; specify another folder with --plugins"
        );
    };
    let told = match lifted {
        0 => format!("{id} is not in quarantine"),
        _ => format!("The quarantine of {id} is lifted; the next run loads it again."),
    };
    writeln!(terminal::out(), "{told}")?;
    Ok(Outcome::Fine)
}

fn info(file: &Path, as_json: bool) -> anyhow::Result<Outcome> {
    let (inspected, _) = inspect(file).with_context(|| file.display().to_string())?;
    if as_json {
        print_json(&inspected)?;
        return Ok(Outcome::Fine);
    }
    let info = &inspected.info;
    let mut out = terminal::out();
    for (name, value) in [
        ("id", info.id.clone()),
        ("name", info.name.clone()),
        ("version", info.version.clone()),
        ("description", info.doc.clone()),
        ("author", info.author.clone()),
        ("language", info.language.clone()),
        ("kinds", info.kinds.join(", ")),
        ("plugin ABI", format!("{}.{}", info.abi.0, info.abi.1)),
        ("build", info.build_id.clone()),
        ("size", format!("{} bytes", inspected.size)),
        ("hash", inspected.hash.clone()),
    ] {
        if !value.is_empty() {
            writeln!(out, "{name:<14} {value}")?;
        }
    }
    Ok(Outcome::Fine)
}

fn check(file: &Path, picture: Option<&Path>, as_json: bool) -> anyhow::Result<Outcome> {
    if !file.exists() {
        anyhow::bail!("{} does not exist", file.display());
    }
    let mut outputs = Outputs::of(Inputs::none().file("the plugin", file));
    let claim = |out| outputs.file("--picture", out, Kind::Picture);
    let place = picture.map(claim).transpose()?;
    let mut report = Vec::new();
    // Lines are printed as they arrive, because an examination takes time.
    let mut tell = |line: &ReportLine| {
        if !as_json {
            let (mark, text) = match &line.problem {
                None => ("ok  ", &line.note),
                Some(problem) => ("FAIL", problem),
            };
            // If the pipe is closed, the reader needs no more lines.
            let _ = writeln!(terminal::out(), "{mark} {:<22} {text}", line.name);
        }
        report.push(line.clone());
    };
    let helper = extensions::helper();
    let checked = check_plugin(file, &helper, &mut tell);
    // A plugin that crashes, leaks or is too slow in the examination does not get a test drive.
    let drives = if checked.can_be_asked {
        let drives = smoke_drive::try_out(file, &helper)?;
        drives.lines().iter().for_each(&mut tell);
        Some(drives)
    } else {
        None
    };
    match (&place, &drives) {
        (Some(place), Some(drives)) => {
            outputs.write(place, &drives.draw()?)?;
            outputs.commit()?;
        }
        (Some(place), None) => say!(
            "did not write {}, because the plugin has not driven a vehicle",
            place.path().display()
        ),
        (None, _) => {}
    }
    let is_good = checked.is_fine && drives.as_ref().is_some_and(|drives| drives.is_fine());
    if as_json {
        print_json(&json!({"file": file, "ok": is_good, "report": report, "drives": drives}))?;
    } else {
        let verdict = if is_good { "fine" } else { "unusable" };
        writeln!(terminal::out(), "{verdict}")?;
    }
    Ok(Outcome::of(is_good))
}

fn new(name: &str, kind: PluginKind, lang: PluginLanguage, at: &Path) -> anyhow::Result<Outcome> {
    let kind = match kind {
        PluginKind::Planner => ModuleKind::Planner,
        PluginKind::GroundPlanner => ModuleKind::GroundPlanner,
        PluginKind::Controller => ModuleKind::Controller,
        PluginKind::Fitness => ModuleKind::Fitness,
        PluginKind::SignalController => ModuleKind::SignalController,
    };
    let language = match lang {
        PluginLanguage::Rust => Language::Rust,
        PluginLanguage::C => Language::C,
        PluginLanguage::Cpp => Language::Cpp,
    };
    let folder = author::new_plugin(at, name, kind, language)?;
    writeln!(
        terminal::out(),
        "{0}\nNext: roadwright plugin dev {0} --into plugins",
        folder.display()
    )?;
    Ok(Outcome::Fine)
}

fn dev(folder: &Path, into: &Path, once: bool) -> anyhow::Result<Outcome> {
    let first = build_and_deliver(folder, into);
    if once {
        return match first {
            Ok(_) => Ok(Outcome::Fine),
            Err(error @ AuthorError::Build(_)) => Err(anyhow::anyhow!(brief(&error))),
            Err(error) => Err(error.into()),
        };
    }
    if let Err(error) = first {
        // Errors that cannot be fixed by editing end the command. After other errors it waits for the next
        // save.
        match error {
            AuthorError::Build(_) | AuthorError::Probe(_) => say!("{}", brief(&error)),
            other => return Err(other.into()),
        }
    }
    progress::catch_interrupt();
    let (send, changes) = channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        // The build itself reads all sources, and must not trigger another build.
        let is_read = matches!(event.kind, notify::EventKind::Access(_));
        if !is_read && event.paths.iter().any(|path| is_source(path)) {
            // The receiver no longer exists after the loop below has ended.
            let _ = send.send(());
        }
    })?;
    watcher
        .watch(folder, RecursiveMode::Recursive)
        .with_context(|| format!("cannot watch {}", folder.display()))?;
    say!(
        "Waiting for changes in {}; press Ctrl-C to stop.",
        folder.display()
    );
    while !progress::interrupted() {
        match changes.recv_timeout(QUIET) {
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
            // Further changes are collected, so that a single build covers all of them.
            Ok(()) => while changes.recv_timeout(QUIET).is_ok() {},
        }
        if let Err(error) = build_and_deliver(folder, into) {
            say!("{}", brief(&error));
        }
    }
    Ok(Outcome::Fine)
}

/// Describes an error in one line, without the output of the tools, which has already been printed.
fn brief(error: &AuthorError) -> String {
    match error {
        AuthorError::Build(_) => "the build failed".to_owned(),
        other => other.to_string(),
    }
}

/// Whether a changed file is a source of a plugin.
fn is_source(path: &Path) -> bool {
    let inside_target = path.components().any(|part| part.as_os_str() == "target");
    let ending = path.extension().and_then(|ending| ending.to_str());
    let is_source = matches!(
        ending,
        Some("rs" | "toml" | "c" | "h" | "cpp" | "cc" | "cxx" | "hpp")
    ) || path.ends_with("Makefile")
        || path.ends_with("CMakeLists.txt");
    is_source && !inside_target
}

fn build_and_deliver(folder: &Path, into: &Path) -> Result<PathBuf, AuthorError> {
    let library = author::build(folder, &mut |line| say!("{line}"))?;
    let place = author::deliver(&library, into, &extensions::helper())?;
    say!("delivered {}", place.display());
    Ok(place)
}
