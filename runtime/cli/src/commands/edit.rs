//! `roadwright edit`, and the default without a command.

use super::main_job::main_job;
use crate::Outcome;
use crate::extensions::helper;
use crate::terminal::say;
use anyhow::Context;
use roadwright_editor::Options;
use std::path::PathBuf;

/// Opens the editor.
pub(crate) fn edit(file: Option<PathBuf>) -> anyhow::Result<Outcome> {
    if let Some(why) = no_display() {
        anyhow::bail!("{why}, but the editor needs one; use `roadwright run` instead");
    }
    roadwright_editor::run(Options::for_user(file, helper())).context("cannot open a window")?;
    Ok(Outcome::Fine)
}

/// Opens the editor; without a display, runs the shipped scenario instead.
pub(crate) fn edit_or_run() -> anyhow::Result<Outcome> {
    let why = match no_display() {
        Some(why) => why.to_owned(),
        None => match roadwright_editor::run(Options::for_user(None, helper())) {
            Ok(()) => return Ok(Outcome::Fine),
            Err(error) => format!("Cannot open a window ({error})"),
        },
    };
    say!("{why}; running the shipped scenario without a window instead.");
    main_job()
}

/// Returns the reason why there is no display. Only X11 and Wayland can be detected from the environment.
pub(crate) fn no_display() -> Option<&'static str> {
    if !cfg!(all(unix, not(target_os = "macos"))) {
        return None;
    }
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let any = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
        .into_iter()
        .any(set);
    (!any).then_some("There is no display")
}
