//! `roadwright bench league`: drives courses with controllers. The built-in controllers drive all courses.

use super::course_arguments::League;
use super::results_of;
use crate::commands::{keep_stdout, write_json};
use crate::extensions::Notes;
use crate::terminal::{self, say};
use crate::watchdog::Watchdog;
use crate::{Outcome, extensions};
use anyhow::Context;
use roadwright_agent::{Controller, Registry};
use roadwright_extension::Wanted;
use roadwright_scenario::Stack;
use roadwright_simulation::builtin_modules;
use roadwright_training::experiment::{Estimate, Summary};
use roadwright_training::{Course, Setup};
use serde::Serialize;
use std::io::Write;

/// Result of a controller on a course.
#[derive(Serialize)]
struct LeagueEntry {
    controller: &'static str,
    #[serde(flatten)]
    summary: Summary,
}

pub(super) fn league(arguments: &League) -> anyhow::Result<Outcome> {
    let courses: Vec<Course> = match &arguments.courses[..] {
        // `bench open-ground` judges the courses without lanes. On tracks, a planner drives, so controllers would
        // not differ.
        [] => Course::all()
            .into_iter()
            .filter(|course| {
                !course.is_on_open_ground() && !course.is_in_bay() && !course.is_track()
            })
            .collect(),
        names => names
            .iter()
            .map(|name| Course::named(name))
            .collect::<Result<_, _>>()?,
    };
    // Reserved before the modules are opened, because they may print.
    let document = arguments.json.then(keep_stdout).transpose()?;
    let wanted = Wanted::Ids(arguments.controllers.iter().cloned().collect());
    let notes = Notes::unless(arguments.json);
    let host = extensions::open(&arguments.extensions, None, wanted, notes)?;
    let _watchdog = Watchdog::new(&host);
    let modules = host.registry();
    let controllers = controllers(arguments, &modules)?;
    let mut table = Vec::new();
    for course in courses {
        let ids = controllers.iter().copied().filter(|id| course.is_for(id));
        let mut entries = ids
            .map(|id| of_controller(arguments, &course, &modules, id))
            .collect::<anyhow::Result<Vec<LeagueEntry>>>()?;
        entries.sort_by(|a, b| {
            let order = a.summary.fitness.mean.total_cmp(&b.summary.fitness.mean);
            if a.summary.lower_is_better {
                order
            } else {
                order.reverse()
            }
        });
        table.extend(entries);
    }
    for LeagueEntry {
        controller,
        summary,
    } in &table
    {
        for failed in &summary.failures {
            say!("{}, {controller}, {failed}", summary.course);
        }
    }
    match document {
        Some(mut out) => write_json(&mut *out, &table)?,
        None => print(&table, arguments.markdown)?,
    }
    let has_failed = table.iter().any(|entry| entry.summary.failed > 0);
    Ok(Outcome::of(!has_failed))
}

/// Returns the built-in controllers and the requested external ones.
fn controllers(arguments: &League, modules: &Registry) -> anyhow::Result<Vec<&'static str>> {
    let of = |modules: &Registry| -> Vec<&'static str> {
        let entries = modules.of::<dyn Controller>().iter();
        entries.map(|entry| entry.info.id).collect()
    };
    let (mut ids, known) = (of(&builtin_modules()), of(modules));
    for wanted in &arguments.controllers {
        let id = known.iter().copied().find(|id| id == wanted);
        let id = id.with_context(|| {
            let known = known.join(", ");
            format!("--controller {wanted}: unknown controller; expected one of: {known}")
        })?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn of_controller(
    arguments: &League,
    course: &Course,
    modules: &Registry,
    controller: &'static str,
) -> anyhow::Result<LeagueEntry> {
    let setup = Setup::with_driver(Stack::with_controller(controller));
    let results = results_of(course, &setup, modules, arguments.runs, arguments.threads)
        .with_context(|| format!("cannot evaluate {controller}"))?;
    let summary = Summary::of(&results).context("no run was completed")?;
    Ok(LeagueEntry {
        controller,
        summary,
    })
}

fn print(table: &[LeagueEntry], is_markdown: bool) -> anyhow::Result<()> {
    let mut out = terminal::out();
    let (bar, end) = if is_markdown { ("| ", " |") } else { ("", "") };
    let mut line = |cells: [String; 7]| -> std::io::Result<()> {
        let [course, controller, rest @ ..] = cells;
        if is_markdown {
            let rest = rest.join(" | ");
            return writeln!(out, "{bar}{course} | {controller} | {rest}{end}");
        }
        let [runs, completed, fitness, mean, time] = rest;
        writeln!(
            out,
            "{course:<16} {controller:<14} {runs:>5} {completed:<26} {fitness:<16} {mean:<32} {time:>8}"
        )
    };
    let heads = [
        "course",
        "controller",
        "runs",
        "completed",
        "fitness",
        "mean",
        "time",
    ];
    line(heads.map(str::to_owned))?;
    if is_markdown {
        line(["---"; 7].map(str::to_owned))?;
    }
    for LeagueEntry {
        controller,
        summary,
    } in table
    {
        line([
            summary.course.clone(),
            (*controller).to_owned(),
            match summary.failed {
                0 => summary.runs.to_string(),
                failed => format!("{} ({failed} failed)", summary.runs),
            },
            with_interval(&summary.completed_share, 3),
            summary.fitness_module.clone(),
            with_interval(&summary.fitness, 3),
            format!("{:.1} s", summary.time),
        ])?;
    }
    out.flush()?;
    Ok(())
}

/// Formats a mean and its interval with the given number of decimals.
fn with_interval(estimate: &Estimate, decimals: usize) -> String {
    let mean = format!("{:.decimals$}", estimate.mean);
    match estimate.interval {
        Some([low, high]) => format!("{mean} ({low:.decimals$} to {high:.decimals$})"),
        None => format!("{mean} (n = 1)"),
    }
}
