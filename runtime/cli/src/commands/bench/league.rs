//! `roadwright bench league`: all built-in controllers on all courses.

use super::course_arguments::League;
use super::results_of;
use crate::Outcome;
use crate::commands::print_json;
use crate::terminal;
use anyhow::Context;
use roadwright_agent::{Controller, Registry};
use roadwright_scenario::Stack;
use roadwright_simulation::builtin_modules;
use roadwright_training::experiment::{Estimate, Summary};
use roadwright_training::{Course, Setup};
use serde::Serialize;
use std::io::Write;

/// A controller on a course.
#[derive(Serialize)]
struct Entry {
    controller: &'static str,
    #[serde(flatten)]
    summary: Summary,
}

pub(super) fn league(arguments: &League) -> anyhow::Result<Outcome> {
    let modules = builtin_modules();
    let mut table = Vec::new();
    for course in Course::all() {
        let entries = modules.of::<dyn Controller>().iter();
        let entries = entries.filter(|entry| course.is_for(entry.info.id));
        let mut entries = entries
            .map(|entry| of_controller(arguments, &course, &modules, entry.info.id))
            .collect::<anyhow::Result<Vec<Entry>>>()?;
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
    if arguments.json {
        print_json(&table)?;
    } else {
        print(&table, arguments.markdown)?;
    }
    Ok(Outcome::Fine)
}

fn of_controller(
    arguments: &League,
    course: &Course,
    modules: &Registry,
    controller: &'static str,
) -> anyhow::Result<Entry> {
    let setup = Setup::with_driver(Stack::with_controller(controller));
    let results = results_of(course, &setup, modules, (arguments.runs, arguments.threads))
        .with_context(|| format!("cannot judge {controller}"))?;
    let summary = Summary::of(&results).context("no run was done")?;
    Ok(Entry {
        controller,
        summary,
    })
}

fn print(table: &[Entry], is_markdown: bool) -> anyhow::Result<()> {
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
    for Entry {
        controller,
        summary,
    } in table
    {
        line([
            summary.course.clone(),
            (*controller).to_owned(),
            summary.runs.to_string(),
            with_interval(&summary.completed_share, 3),
            summary.fitness_module.clone(),
            with_interval(&summary.fitness, 3),
            format!("{:.1} s", summary.time),
        ])?;
    }
    out.flush()?;
    Ok(())
}

/// A mean with its interval, in so many decimals.
fn with_interval(estimate: &Estimate, decimals: usize) -> String {
    let mean = format!("{:.decimals$}", estimate.mean);
    match estimate.interval {
        Some([low, high]) => format!("{mean} ({low:.decimals$} to {high:.decimals$})"),
        None => format!("{mean} (n = 1)"),
    }
}
