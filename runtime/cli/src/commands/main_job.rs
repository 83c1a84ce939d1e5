//! The default of `roadwright` without a command and without a display, which runs the shipped scenario and
//! draws it.

use super::run::{Drive, Report, table};
use crate::Outcome;
use crate::outputs::{Inputs, Kind, Outputs};
use crate::terminal;
use anyhow::Context;
use roadwright_render::{Picture, map};
use roadwright_scenario::file;
use roadwright_simulation::{Ending, RunOptions, Session, World, builtin_modules};
use std::io::Write;
use std::path::Path;

/// The scenario, built in so that the program needs no files for a demonstration.
const OLD_TOWN: &str = include_str!("../../../../scenarios/old-town.scenario.json");
/// File name of the picture.
const PICTURE: &str = "old-town.png";
/// Simulated time shown in the picture, s. At that time, most vehicles are driving.
const PICTURE_TIME: f64 = 60.0;

pub(super) fn main_job() -> anyhow::Result<Outcome> {
    let scenario = file::from_text(OLD_TOWN).context("the built-in scenario old-town")?;
    let mut outputs = Outputs::of(Inputs::none());
    let place = outputs.file("the picture", Path::new(PICTURE), Kind::Picture)?;
    let mut out = terminal::out();
    writeln!(
        out,
        "{}: {}",
        scenario.about().name,
        scenario.about().description
    )?;
    let world = World::new(&scenario, &builtin_modules(), &RunOptions::default())
        .context("cannot run old-town")?;
    let mut session = Session::new(world);
    let mut early = run(&mut session, PICTURE_TIME)?;
    let snapshot = session.world().snapshot();
    let png =
        map(&scenario, Some(&snapshot), &Picture::default()).context("cannot draw old-town")?;
    outputs.write(&place, &png)?;
    outputs.commit()?;
    let taken = session.world().time();
    // The same session continues, so that the picture shows the run that the summary describes.
    let late = run(&mut session, scenario.settings().duration.get())?;
    early.absorb(late);
    write!(out, "\n{}", table(&early))?;
    writeln!(out, "picture          {PICTURE} (at {taken:.1} s)")?;
    writeln!(
        out,
        "\nNext: roadwright --help, or take the five-minute tour in README.md."
    )?;
    Ok(Outcome::Fine)
}

fn run(session: &mut Session, until: f64) -> anyhow::Result<Report> {
    let mut run = Drive {
        session,
        host: None,
        observers: Vec::new(),
        logs: false,
        quiet: false,
        keep_going: false,
        save: None,
    };
    run.drive(Ending::WhenOver(until))
}
