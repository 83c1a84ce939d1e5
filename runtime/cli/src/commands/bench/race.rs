//! `roadwright bench run --drive`, and `bench verify` of an attempt: a user's drives on a course.

use super::course::{find, open};
use super::course_arguments::{RunCourse, Verify};
use crate::commands::edit::no_display;
use crate::commands::print_json;
use crate::extensions::helper;
use crate::watchdog::Watchdog;
use crate::{Outcome, terminal};
use anyhow::{Context, bail};
use roadwright_editor::Options;
use roadwright_editor::race::{LARGEST, RaceOrder};
use roadwright_training::{Course, PersonTry, RunRow, Setup};
use serde::Serialize;
use std::io::Write;

/// Opens the window with a course for the user to drive.
pub(super) fn race(arguments: &RunCourse, course: Course, setup: Setup) -> anyhow::Result<Outcome> {
    if course.is_manoeuvre() {
        bail!(
            "{} simulates its own vehicle, so it cannot be driven manually; choose another course",
            course.name
        );
    }
    // An impossible setup is reported before the window opens.
    course.whole_scenario(arguments.seed, &setup)?;
    if let Some(why) = no_display() {
        bail!(
            "{why}, but manual driving needs one; without --drive the course runs without a window"
        );
    }
    let order = RaceOrder {
        course,
        setup,
        seed: arguments.seed,
        folder: arguments.out.clone(),
    };
    let options = Options {
        race: Some(order),
        ..Options::for_user(None, helper())
    };
    roadwright_editor::run(options).context("cannot open a window")?;
    Ok(Outcome::Fine)
}

/// Result of verifying an attempt.
#[derive(Serialize)]
struct Verified<'a> {
    course: &'a str,
    seed: u64,
    /// Number of changes of the controls.
    controls: usize,
    /// The result in the file.
    written: &'a RunRow,
    /// The result of driving the attempt again.
    found: &'a RunRow,
    /// Reasons why the attempt was not reproduced.
    wrong: &'a [String],
}

/// Reads the text of an attempt; `None` if the file is something else.
pub(super) fn text_of_try(arguments: &Verify) -> Option<String> {
    let text = roadwright_files::read_text(&arguments.results, LARGEST).ok()?;
    PersonTry::is_try(&text).then_some(text)
}

/// Drives an attempt again and compares the results.
pub(super) fn verify(arguments: &Verify, text: &str) -> anyhow::Result<Outcome> {
    let at = || format!("cannot read {}", arguments.results.display());
    let own = PersonTry::from_text(text).with_context(at)?;
    let course = find(&own.course)?;
    let host = open(&arguments.common, &course, &own.setup)?;
    let _watchdog = Watchdog::new(&host);
    let outcome = own.drive_again(&course, &host.registry())?;
    if arguments.common.json {
        print_json(&Verified {
            course: &own.course,
            seed: own.seed,
            controls: own.controls.len(),
            written: &own.row,
            found: &outcome.row,
            wrong: &outcome.wrong,
        })?;
        return Ok(Outcome::of(outcome.wrong.is_empty()));
    }
    let mut out = terminal::out();
    writeln!(
        out,
        "{}, seed {}: attempt with {} control changes, {:.2} s",
        own.course,
        own.seed,
        own.controls.len(),
        outcome.row.time
    )?;
    for wrong in &outcome.wrong {
        writeln!(out, "wrong: {wrong}")?;
    }
    if outcome.wrong.is_empty() {
        writeln!(out, "the attempt is reproduced bit for bit")?;
    }
    Ok(Outcome::of(outcome.wrong.is_empty()))
}
