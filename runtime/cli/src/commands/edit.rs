//! `roadwright edit`, and what happens without a verb.

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
        anyhow::bail!("{why}: the editor needs one. `roadwright run` works without");
    }
    roadwright_editor::run(Options::for_user(file, helper())).context("cannot open a window")?;
    Ok(Outcome::Fine)
}

/// Opens the editor; where there is no display, runs the shipped scenario instead.
pub(crate) fn edit_or_run() -> anyhow::Result<Outcome> {
    let why = match no_display() {
        Some(why) => why.to_owned(),
        None => match roadwright_editor::run(Options::for_user(None, helper())) {
            Ok(()) => return Ok(Outcome::Fine),
            Err(error) => format!("No window can be opened ({error})"),
        },
    };
    say!("{why}: the shipped scenario runs without one instead.");
    main_job()
}

/// Why there is no display, if there is none. Only X11 and Wayland tell by the environment.
fn no_display() -> Option<&'static str> {
    if !cfg!(all(unix, not(target_os = "macos"))) {
        return None;
    }
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let any = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
        .into_iter()
        .any(set);
    (!any).then_some("There is no display")
}
