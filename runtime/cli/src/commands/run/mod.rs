//! `roadwright run`: runs a scenario and reports the results.

mod coupling;
mod drive;
mod explain;
mod report;
mod results;
mod stage_times;
mod statistics;
mod tables;

pub(super) use drive::{Drive, SaveTo};
pub(super) use report::{Report, failure_text, table};

use super::{keep_stdout, load_for, run_options, write_json};
use crate::arguments::RunScenario;
use crate::extensions::Notes;
use crate::terminal::{self, say};
use crate::{Outcome, extensions};
use anyhow::{Context, bail};
use explain::{Explainer, Explanation};
use report::Document;
use results::{Results, Tables};
use roadwright_agent::{ModuleError, Registry};
use roadwright_extension::{Host, Wanted};
use roadwright_scenario::Scenario;
use roadwright_simulation::{
    Ending, Ground, JunctionFigures, JunctionWatch, Observer, RunOptions, SaveError, SavedWorld,
    Session, SimulationError, TraceRate, World,
};
use stage_times::StageTimes;
use std::io::Write;
use std::path::Path;

pub(crate) fn run(arguments: &RunScenario) -> anyhow::Result<Outcome> {
    let scenario = load_for(&arguments.file, &arguments.simulate)?;
    let seconds = arguments
        .seconds
        .unwrap_or(scenario.settings().duration.get());
    if !(0.0..=1e7).contains(&seconds) {
        bail!("--seconds must be 0 to 10,000,000");
    }
    let options = run_options(&arguments.simulate)?;
    let mut results = Results::claim(arguments, &scenario)?;
    // Reserved for the document before plugins are loaded, because they may print.
    let document = arguments.json.then(keep_stdout).transpose()?;
    let (host, world) = open(arguments, &scenario, &options)?;
    if arguments.restore.is_some() {
        check_times(arguments, &world)?;
    }
    let mut tables = results.open(&scenario.about().name, trace_rate(arguments, &world)?)?;
    // If a time is requested, the run ends at that time; otherwise it ends with the last arrival.
    let ending = match arguments.seconds {
        Some(seconds) => Ending::AtTime(seconds),
        None => Ending::WhenOver(seconds),
    };
    if arguments.save.is_some() && !arguments.allow_inexact {
        // Reported before the run instead of after it.
        let unsaved = world.unsaved_modules();
        if !unsaved.is_empty() {
            return Err(SaveError::Modules(unsaved).into());
        }
    }
    let mut session = Session::new(world);
    // The program ends with the run, so freeing the memory of a city's ground would only delay its end.
    std::mem::forget(session.world().ground().clone());
    coupling::order(arguments, &mut session);
    // Observed in each step, and reported in the document only.
    let mut junctions = arguments.json.then(JunctionWatch::default);
    let mut observers = tables.observers();
    let mut stages = arguments.stage_times.then(StageTimes::default);
    // This observer comes first, because the work of observers after a step belongs to no stage.
    if let Some(stages) = &mut stages {
        observers.insert(0, stages);
    }
    let mut explainer = Explainer::new(&arguments.explain, !arguments.json);
    observers.push(&mut explainer);
    observers.extend(junctions.as_mut().map(|watch| watch as &mut dyn Observer));
    let quiet = is_quiet(arguments);
    let mut run = Drive {
        session: &mut session,
        host: Some(&host),
        observers,
        // Logs go to standard error, so that standard output is reserved for the document of --json.
        logs: arguments.log && !arguments.quiet,
        quiet,
        keep_going: arguments.keep_going,
        save: results.save.as_ref().map(|place| SaveTo {
            outputs: &mut results.outputs,
            place,
            allow_inexact: arguments.allow_inexact,
        }),
    };
    let mut report = run.drive(ending)?;
    let explanations = explainer.finish(session.world());
    let all_carried_out = coupling::tell(&session, quiet);
    let junctions = junctions.map(|watch| watch.figures(session.world()));
    let junctions = junctions.unwrap_or_default();
    write_results(
        arguments,
        session.world(),
        Reported {
            report: &report,
            junctions: &junctions,
            explanations: &explanations,
            stages: stages.as_ref(),
        },
        &mut results,
        tables,
        document,
    )?;
    // Handled after all other results, so that a failed save does not lose them.
    if let Some(error) = report.save_error.take() {
        return Err(error);
    }
    match &report.timed_out {
        Some(why) if !arguments.keep_going => bail!(
            "{why}. The run was stopped, because further results would depend on the speed of the \
             machine; use --keep-going to continue with the built-in module"
        ),
        _ if report.failures.is_empty() && all_carried_out => Ok(Outcome::Fine),
        _ => Ok(Outcome::Findings),
    }
}

/// Rejects requests for times before the beginning of a restored world.
fn check_times(arguments: &RunScenario, world: &World) -> anyhow::Result<()> {
    let begin = world.time();
    let orders = arguments.uncouple.iter().map(|order| order.1);
    let mut times = [
        ("--seconds", arguments.seconds),
        (
            "--explain",
            earliest(arguments.explain.iter().filter_map(|asked| asked.time)),
        ),
        ("--uncouple", earliest(orders)),
        (
            "--couple",
            earliest(arguments.couple.iter().map(|order| order.1)),
        ),
    ]
    .into_iter();
    // Time is a sum of steps.
    let too_early = times.find(|(_, time)| time.is_some_and(|time| time < begin - 1e-9));
    match too_early {
        Some((option, Some(time))) => {
            bail!("{option}: {time} s is earlier than the saved world, which is at {begin:.2} s")
        }
        _ => Ok(()),
    }
}

fn earliest(times: impl Iterator<Item = f64>) -> Option<f64> {
    times.min_by(f64::total_cmp)
}

/// Whether only errors are reported during the run.
fn is_quiet(arguments: &RunScenario) -> bool {
    arguments.quiet || arguments.json
}

/// Returns the rate at which `--trace` writes rows.
fn trace_rate(arguments: &RunScenario, world: &World) -> anyhow::Result<TraceRate> {
    let default = || Ok(TraceRate::default_of(world.dt()));
    arguments.trace_rate.map_or_else(default, |rate| {
        TraceRate::new(rate, world.dt()).context("--trace-rate is out of range")
    })
}

/// Opens the modules of a run, and its world at the start or in its saved state.
fn open(
    arguments: &RunScenario,
    scenario: &Scenario,
    options: &RunOptions,
) -> anyhow::Result<(Host, World)> {
    // Agents of a saved world may have chosen modules that are in no stack.
    let wanted = match arguments.restore {
        Some(_) => Wanted::All,
        None => extensions::wanted(scenario, &arguments.simulate.modules),
    };
    let flags = &arguments.simulate.extensions;
    let quiet = is_quiet(arguments);
    let host = extensions::open(flags, Some(&arguments.file), wanted, Notes::unless(quiet))?;
    let modules = host.registry();
    let world = match &arguments.restore {
        None => World::new(scenario, &modules, options)
            .map_err(|error| extensions::or_cause(error, &host))
            .context("cannot run the scenario")?,
        Some(path) => restore(path, scenario, &modules, options, quiet)?,
    };
    Ok((host, world))
}

/// Results of a run that are printed or written as JSON.
#[derive(Clone, Copy)]
struct Reported<'a> {
    report: &'a Report,
    junctions: &'a [JunctionFigures],
    explanations: &'a [Explanation],
    /// CPU times of the stages; `None` if not requested.
    stages: Option<&'a StageTimes>,
}

/// Writes the requested results. Files come first, because the terminal may be closed.
fn write_results(
    arguments: &RunScenario,
    world: &World,
    reported: Reported<'_>,
    results: &mut Results,
    tables: Tables,
    document: Option<Box<dyn Write>>,
) -> anyhow::Result<()> {
    let Reported {
        report,
        junctions,
        explanations,
        stages,
    } = reported;
    // Computed once for all results, because fitness modules are called.
    let drives = if document.is_some() || results.has_scores() {
        world.drives()
    } else {
        Vec::new()
    };
    results.finish(tables, world, &drives)?;
    if let Some(mut out) = document {
        let stages = stages.map(StageTimes::shares);
        let document = Document::new(report, junctions, &drives, explanations, stages);
        write_json(&mut *out, &document)?;
    } else if !arguments.quiet {
        write!(terminal::out(), "{}", table(report))?;
        if let Some(stages) = stages {
            writeln!(terminal::out(), "{:<16} {}", "CPU by stage", stages.line())?;
        }
    }
    Ok(())
}

/// Maximum size of a saved world, bytes.
const LARGEST_SAVE: u64 = 4096 * roadwright_files::MEBIBYTE;

/// Restores a world from a save.
fn restore(
    path: &Path,
    scenario: &Scenario,
    modules: &Registry,
    options: &RunOptions,
    quiet: bool,
) -> anyhow::Result<World> {
    let at = || format!("cannot restore {}", path.display());
    let bytes = roadwright_files::read(path, LARGEST_SAVE).with_context(at)?;
    let saved = SavedWorld::from_bytes(&bytes).with_context(at)?;
    let ground = Ground::new(scenario);
    let restored = World::restore(ground, scenario, modules, options, &saved);
    let is_missing = matches!(
        &restored,
        Err(SaveError::Simulation(SimulationError::Module(
            ModuleError::Unknown { .. }
        )))
    );
    let at = || match is_missing {
        true => format!(
            "{}: a module is missing; specify the folder of its plugin with --plugins, or \
             another module with --use",
            at()
        ),
        false => at(),
    };
    let (world, notes) = restored.with_context(at)?;
    if !quiet {
        for note in &notes {
            say!("not exact: {note}");
        }
    }
    Ok(world)
}

/// Writes a world to a temporary path. It is moved from there together with the other results. Returns the
/// modules whose state could not be saved.
fn save(world: &World, to: &mut SaveTo<'_>, quiet: bool) -> anyhow::Result<Vec<String>> {
    let saved = match to.allow_inexact {
        true => world.save_inexact()?,
        false => world.save()?,
    };
    if !quiet {
        for module in saved.inexact() {
            say!("not exact: restoring this save starts {module} from a fresh state");
        }
    }
    to.outputs.write(to.place, &saved.to_bytes())?;
    Ok(saved.inexact().to_vec())
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
