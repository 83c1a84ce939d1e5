//! The commands, one per file.

mod bench;
mod check;
mod completions;
mod controller;
mod edit;
mod generate;
mod import;
mod junction;
mod main_job;
mod moves;
mod pack;
mod plan;
mod plot;
mod plugin;
mod render;
mod run;
mod sampling;
mod script;
mod signature;
mod train;
mod vehicle;

pub(crate) use bench::{BenchVerb, Compare, bench, compare};
pub(crate) use check::check;
pub(crate) use completions::completions;
pub(crate) use controller::controller;
pub(crate) use edit::{edit, edit_or_run};
pub(crate) use generate::{GenerateVerb, generate};
pub(crate) use import::import;
pub(crate) use junction::junction;
pub(crate) use moves::{MovesVerb, moves};
pub(crate) use pack::{pack, unpack};
pub(crate) use plan::{Plan, plan};
pub(crate) use plugin::{plugin, plugin_host};
pub(crate) use render::render;
pub(crate) use run::run;
pub(crate) use script::script;
pub(crate) use train::{Train, check_experiment, is_experiment, train};
pub(crate) use vehicle::{VehicleVerb, vehicle};

use crate::arguments::{self, Simulate};
use crate::extensions::Notes;
use crate::terminal;
use crate::watchdog::Watchdog;
use crate::{extensions, progress};
use anyhow::{Context, bail};
use roadwright_agent::{ModuleKind, Slot};
use roadwright_scenario::operation::signals;
use roadwright_scenario::{Scenario, file};
use roadwright_simulation::{Ending, ModuleOverrides, PopulateFrom, RunOptions, Session, World};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

fn load(path: &Path) -> anyhow::Result<Scenario> {
    if pack::is_bundle(path) {
        bail!(
            "{} is a bundle; unpack it with `roadwright unpack` and open the scenario",
            path.display()
        );
    }
    file::load(path).context("cannot open the scenario")
}

fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    write_json(&mut terminal::out(), value)
}

// Flushed here, because an error at program exit would be lost, and an incomplete document would be mistaken
// for a complete one.
fn write_json(out: &mut dyn Write, value: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Describes how many problems a check found.
fn counts(errors: usize, warnings: usize) -> String {
    match (errors, warnings) {
        (0, 0) => "no problems found".to_owned(),
        _ => format!("{errors} errors, {warnings} warnings"),
    }
}

/// Reserves standard output for a document. From then on, the output of plugins goes to standard error.
fn keep_stdout() -> anyhow::Result<Box<dyn Write>> {
    Ok(terminal::keep_stdout()?)
}

/// Runs the first `seconds` of a scenario silently.
fn session_at(
    file: &Path,
    scenario: &Scenario,
    simulate: &Simulate,
    seconds: f64,
) -> anyhow::Result<Session> {
    let options = run_options(simulate)?;
    let wanted = extensions::wanted(scenario, &simulate.modules);
    let host = extensions::open(&simulate.extensions, Some(file), wanted, Notes::Omit)?;
    let world = World::new(scenario, &host.registry(), &options);
    let world = world.map_err(|error| extensions::or_cause(error, &host));
    let world = world.context("cannot run the scenario")?;
    if !(0.0..=1e7).contains(&seconds) {
        bail!("--at must be 0 to 10,000,000 s");
    }
    // Vehicles spawn in the first step.
    let end = seconds.max(world.dt());
    progress::catch_interrupt();
    let mut session = Session::new(world);
    let watchdog = Watchdog::new(&host);
    session.run(Ending::AtTime(end), &mut [], |_| !progress::interrupted());
    drop(watchdog);
    if progress::interrupted() {
        bail!("interrupted");
    }
    Ok(session)
}

/// Loads a scenario with the signal controller of `--use signal_controller=ID`.
fn load_for(path: &Path, simulate: &Simulate) -> anyhow::Result<Scenario> {
    let mut scenario = load(path)?;
    let mut chosen = simulate
        .modules
        .iter()
        .filter_map(|setting| signal_controller(setting));
    if let Some(module) = chosen.next() {
        if chosen.next().is_some() {
            // Otherwise one of them would be ignored without a message.
            bail!("--use {}= is given twice", ModuleKind::SignalController);
        }
        let edit = signals::controlled_by(&scenario, module);
        scenario
            .apply(edit)
            .context("cannot set the signal controller")?;
    }
    Ok(scenario)
}

/// Returns the module id in a setting `signal_controller=ID`; `None` for settings of other slots.
/// Signals belong to junctions and not to a stack.
fn signal_controller(setting: &str) -> Option<&str> {
    let (slot, module) = setting.split_once('=')?;
    (slot == ModuleKind::SignalController.name()).then_some(module)
}

/// Returns the modules that `--use` puts into the slots of stacks. Signal controllers are left out, because
/// they belong to no stack.
fn module_overrides(settings: &[String]) -> anyhow::Result<ModuleOverrides> {
    let mut modules = ModuleOverrides::default();
    for setting in settings {
        if signal_controller(setting).is_some() {
            continue;
        }
        let parts = setting.split_once('=');
        let parts = parts.and_then(|(slot, ids)| Some((Slot::from_name(slot)?, ids)));
        let Some((slot, ids)) = parts else {
            let slots = Slot::ALL.iter().map(|slot| slot.name());
            let slots: Vec<_> = slots.chain([ModuleKind::SignalController.name()]).collect();
            bail!(
                "--use {setting}: expected SLOT=MODULE with one of the slots {}",
                slots.join(", ")
            );
        };
        let ids: Vec<String> = match ids {
            "none" => Vec::new(),
            ids => ids.split(',').map(str::to_owned).collect(),
        };
        match modules.set(slot, ids) {
            Ok(None) => {}
            Ok(Some(_)) => bail!("--use {slot}= is given twice"),
            Err(fits) => bail!("--use {setting}: {slot} takes {fits}"),
        }
    }
    Ok(modules)
}

/// Returns the options of a run from its flags.
fn run_options(simulate: &Simulate) -> anyhow::Result<RunOptions> {
    let modules = module_overrides(&simulate.modules)?;
    if simulate.dt.is_some_and(|dt| !(1e-4..=1.0).contains(&dt)) {
        bail!("--dt must be 0.0001 to 1 s");
    }
    if !(1..=256).contains(&simulate.threads) {
        bail!(
            "--threads {} is out of range: expected 1 to 256",
            simulate.threads
        );
    }
    Ok(RunOptions {
        seed: simulate.seed,
        dt: simulate.dt,
        threads: simulate.threads,
        populate: simulate.populate,
        populate_from: match simulate.populate_from {
            arguments::PopulateFrom::Inside => PopulateFrom::Inside,
            arguments::PopulateFrom::Edges => PopulateFrom::Edges,
            arguments::PopulateFrom::Both => PopulateFrom::Both,
        },
        time_of_day: simulate.time_of_day,
        pedestrians: simulate.pedestrians,
        dynamics: simulate.dynamics,
        verify: simulate.verify,
        populate_stack: Some(simulate.stack.clone()),
        modules,
        // An agent without a goal or a place makes the command fail; such agents are skipped only when a
        // scenario is drawn.
        lenient: false,
    })
}
