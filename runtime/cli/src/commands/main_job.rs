//! What `roadwright` does without a verb and without a display: it runs the shipped scenario and
//! draws it.

use super::run::{Drive, Ending, Report, table};
use crate::Outcome;
use anyhow::Context;
use roadwright_render::{Picture, map};
use roadwright_scenario::file;
use roadwright_simulation::{RunOptions, World, builtin_modules};
use std::io::Write;

/// The scenario, built in so that the program needs no files to show what it does.
const OLD_TOWN: &str = include_str!("../../../../scenarios/old-town.scenario.json");
/// Where the picture goes.
const PICTURE: &str = "old-town.png";
/// When it is taken, s: with most vehicles under way.
const PICTURE_TIME: f64 = 60.0;

pub(super) fn main_job() -> anyhow::Result<Outcome> {
    let scenario = file::from_text(OLD_TOWN).context("the built-in scenario old-town")?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{}: {}",
        scenario.about().name,
        scenario.about().description
    )?;
    let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default())
        .context("cannot run old-town")?;
    let mut early = run(&mut world, PICTURE_TIME)?;
    let png = map(&scenario, Some(&world.snapshot()), &Picture::default())
        .context("cannot draw old-town")?;
    std::fs::write(PICTURE, png).with_context(|| format!("cannot write {PICTURE}"))?;
    let taken = world.time();
    let rest = scenario.settings().duration - taken;
    let late = run(&mut world, rest.max(0.0))?;
    early.absorb(late);
    write!(out, "\n{}", table(&early))?;
    writeln!(out, "picture          {PICTURE} (at {taken:.1} s)")?;
    writeln!(
        out,
        "\nNext: roadwright --help, or see the five-minute tour in README.md."
    )?;
    Ok(Outcome::Fine)
}

fn run(world: &mut World, seconds: f64) -> anyhow::Result<Report> {
    let mut run = Drive {
        world,
        host: None,
        trace: None,
        logs: false,
        quiet: false,
    };
    run.drive(seconds, Ending::WhenOver)
}
