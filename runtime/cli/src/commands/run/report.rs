//! Report on a run, as JSON and as text.

use super::explain::Explanation;
use super::stage_times::StageShares;
use crate::progress;
use roadwright_extension::Host;
use roadwright_simulation::{
    Drive as AgentDrive, FreshStart, JunctionFigures, ModuleFailure, Population, StackSummary,
    Statistic, Summary, World,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Summary of a run, with its computing costs.
#[derive(Serialize)]
pub(in crate::commands) struct Report {
    #[serde(flatten)]
    pub(in crate::commands) summary: Summary,
    wall_seconds: f64,
    cpu_seconds: f64,
    updates_per_cpu_second: f64,
    realtime_factor: f64,
    interrupted: bool,
    /// Reason why repeating the run may give another result: a module timed out, or modules started fresh
    /// in a restored world.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_reproducible_because: Option<String>,
    /// Module that timed out.
    #[serde(skip)]
    pub(super) timed_out: Option<String>,
    /// Modules whose state is missing from the save of this run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) starts_fresh_when_restored: Vec<String>,
    /// Scripts with faults. Each has an id, the number of faults, and the last one.
    pub(super) script_faults: Vec<ScriptFaults>,
    /// Number of faults of each external module that failed. A fault is an answer that the built-in
    /// module gave instead, or an effect that could not be applied.
    faults: BTreeMap<String, u64>,
    /// Fault messages of modules and of the world, with their counts.
    fault_messages: BTreeMap<String, u64>,
    /// Failures of external modules, by module id.
    #[serde(skip)]
    pub(super) failures: BTreeMap<String, ModuleFailure>,
    /// State of a restored world before this run: the number of agent updates, and the simulated
    /// time in seconds.
    #[serde(skip)]
    before: (u64, f64),
    /// Reason why the world could not be saved at the end.
    #[serde(skip)]
    pub(super) save_error: Option<anyhow::Error>,
}

/// A report with the figures of each junction and the drive of each agent.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// Whether repeating the run gives the same result.
    reproducible: bool,
    junctions: &'a [JunctionFigures],
    drives: &'a [AgentDrive<'a>],
    /// Explanations of agents at the requested times.
    #[serde(skip_serializing_if = "<[Explanation]>::is_empty")]
    explanations: &'a [Explanation],
    /// CPU time by stage, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    stages: Option<StageShares>,
}

impl<'a> Document<'a> {
    pub(super) fn new(
        report: &'a Report,
        junctions: &'a [JunctionFigures],
        drives: &'a [AgentDrive<'a>],
        explanations: &'a [Explanation],
        stages: Option<StageShares>,
    ) -> Self {
        Self {
            stages,
            junctions,
            reproducible: report.not_reproducible_because.is_none(),
            report,
            drives,
            explanations,
        }
    }
}

/// Computing costs of a run.
pub(super) struct Costs {
    pub(super) wall_seconds: f64,
    pub(super) cpu_seconds: f64,
    /// State of a restored world before this run: the number of agent updates, and the simulated
    /// time in seconds.
    pub(super) before: (u64, f64),
}

/// Faults of a script.
#[derive(Debug, Serialize)]
pub(super) struct ScriptFaults {
    script: String,
    faults: u64,
    /// Message and position of the last fault.
    last: String,
}

impl ScriptFaults {
    fn of(host: &Host) -> Vec<Self> {
        let rows = host.modules().into_iter();
        let rows = rows.filter(|row| row.tier == "script" && row.faults > 0);
        rows.map(|row| Self {
            script: row.id,
            faults: row.faults,
            last: row.last_error.unwrap_or_default(),
        })
        .collect()
    }
}

impl Report {
    pub(super) fn new(world: &World, host: Option<&Host>, costs: Costs) -> Self {
        let summary = world.summary();
        let timed_out = host.and_then(Host::timed_out);
        let failures = world.failures();
        let mut report = Self {
            not_reproducible_because: timed_out
                .clone()
                .or_else(|| ended_by_machine(&failures))
                .or_else(|| branch(&summary.started_fresh)),
            timed_out,
            starts_fresh_when_restored: Vec::new(),
            summary,
            wall_seconds: costs.wall_seconds,
            cpu_seconds: costs.cpu_seconds,
            updates_per_cpu_second: 0.0,
            realtime_factor: 0.0,
            interrupted: progress::interrupted(),
            script_faults: host.map_or(Vec::new(), ScriptFaults::of),
            faults: count_by_module(&failures),
            fault_messages: count_messages(world.faults(), &failures),
            failures,
            before: costs.before,
            save_error: None,
        };
        report.rate();
        report
    }

    /// Appends a later part of the same run.
    pub(in crate::commands) fn absorb(&mut self, later: Self) {
        self.wall_seconds += later.wall_seconds;
        self.cpu_seconds += later.cpu_seconds;
        self.summary = later.summary;
        self.interrupted |= later.interrupted;
        self.not_reproducible_because = self
            .not_reproducible_because
            .take()
            .or(later.not_reproducible_because);
        self.timed_out = self.timed_out.take().or(later.timed_out);
        self.starts_fresh_when_restored = later.starts_fresh_when_restored;
        // Faults are counted since the host was opened, so the later figures include the earlier ones.
        self.script_faults = later.script_faults;
        self.faults = later.faults;
        self.fault_messages = later.fault_messages;
        self.failures = later.failures;
        self.rate();
    }

    fn rate(&mut self) {
        // A run without a step took no time, and JSON has no infinity.
        let per = |amount: f64, time: f64| if time > 0.0 { amount / time } else { 0.0 };
        // Excludes the part of a restored world that this run did not compute.
        let updates = self.summary.agent_updates - self.before.0;
        let simulated = self.summary.sim_seconds - self.before.1;
        self.updates_per_cpu_second = per(updates as f64, self.cpu_seconds);
        self.realtime_factor = per(simulated, self.wall_seconds);
    }
}

/// Maximum number of collisions in the printed summary.
const MOST_COLLISIONS: usize = 5;

/// Returns the printed summary.
pub(in crate::commands) fn table(report: &Report) -> String {
    let summary = &report.summary;
    let mut text: String = figures(report)
        .iter()
        .map(|(name, value)| format!("{name:<16} {value}\n"))
        .collect();
    text += &stack_table(&summary.stacks);
    text += &collision_lines(summary);
    text += &module_lines(summary);
    text += &fault_lines(report);
    text
}

/// Returns the figures of the whole run, by name.
fn figures(report: &Report) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if report.interrupted {
        rows.push(("interrupted", "the figures cover the run so far".into()));
    }
    rows.extend(traffic_figures(&report.summary));
    let population = report.summary.population.as_ref();
    rows.extend(population.map(|population| ("random trips", population_text(population))));
    let speed = format!(
        "{:.0}x real time, {:.2} million agent updates per CPU second",
        report.realtime_factor,
        report.updates_per_cpu_second / 1e6
    );
    let hash = &report.summary.state_hash;
    let hash = match &report.not_reproducible_because {
        None => hash.clone(),
        Some(why) => format!("{hash} (NOT REPRODUCIBLE: {why})"),
    };
    rows.extend([("speed", speed), ("state hash", hash)]);
    let fresh = &report.starts_fresh_when_restored;
    if !fresh.is_empty() {
        let text = format!(
            "restoring the save starts {} from a fresh state",
            fresh.join(", ")
        );
        rows.push(("save not exact", text));
    }
    rows
}

/// Returns the number of failures of each module.
fn count_by_module(failures: &BTreeMap<String, ModuleFailure>) -> BTreeMap<String, u64> {
    let counts = failures.iter();
    counts
        .map(|(module, failure)| (module.clone(), failure.count()))
        .collect()
}

/// Returns the module whose failure depends on the machine, with the reason; `None` if there is no such
/// module.
fn ended_by_machine(failures: &BTreeMap<String, ModuleFailure>) -> Option<String> {
    let mut failures = failures.iter();
    let (module, failure) = failures.find(|(_, failure)| failure.depends_on_machine)?;
    let ModuleFailure {
        first_at, reason, ..
    } = failure;
    Some(format!(
        "{module} failed at {first_at:.2} s ({reason}), which depends on the machine"
    ))
}

/// Describes why a restored run differs: modules did not continue from their saved state.
fn branch(started_fresh: &[FreshStart]) -> Option<String> {
    let each = started_fresh.iter().map(|one| {
        let FreshStart {
            time,
            slot,
            module,
            why,
            ..
        } = one;
        format!("restored at {time:.2} s, {slot} {module} {why}")
    });
    let all: Vec<_> = each.collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Describes the number of random trips, and the reason if there are fewer than requested.
fn population_text(population: &Population) -> String {
    let Population {
        wanted,
        made,
        from_edges,
        to_edges,
        queued,
    } = population;
    let mut text = format!(
        "{made} of {wanted}, {from_edges} from edges of the map, {to_edges} to edges, {queued} in \
         queues at occupied starts"
    );
    if made < wanted {
        text += "; no route leads from the other lanes to a destination";
    }
    text
}

/// Returns the figures that depend only on the world.
fn traffic_figures(summary: &Summary) -> [(&'static str, String); 13] {
    let agents = summary.agents;
    [
        (
            "simulated",
            format!("{:.2} s in {} steps", summary.sim_seconds, summary.steps),
        ),
        (
            "agents",
            format!(
                "{} spawned, {} arrived, {} active, {} removed, {} refused, {} waiting to depart, \
                 {} waiting for room",
                agents.spawned,
                agents.arrived,
                agents.active,
                agents.removed,
                agents.refused,
                agents.waiting - agents.queued,
                agents.queued
            ),
        ),
        (
            "distance driven",
            format!("{:.1} km", summary.distance_driven / 1000.0),
        ),
        (
            "travel time",
            format!(
                "mean {:.1} s, standard deviation {:.1} s, {} trips",
                summary.travel_time.mean,
                summary.travel_time.standard_deviation,
                summary.travel_time.count
            ),
        ),
        ("collisions", summary.collisions.len().to_string()),
        (
            "replanned",
            format!(
                "{} after waiting for too long, {} after a missed turn",
                summary.replans.stuck, summary.law.missed_turns
            ),
        ),
        (
            "junctions",
            format!(
                "longest wait {:.0} s, {} entered without a grant, {} at a red signal, {} braked \
                 by the host",
                summary.law.longest_wait,
                summary.law.breaches,
                summary.law.red_passed,
                summary.law.held_by_law
            ),
        ),
        (
            "gridlock",
            format!(
                "{} gridlocks resolved, {} vehicles rerouted, {} gridlocks left",
                summary.law.rotations, summary.law.sent_round, summary.law.gridlocks
            ),
        ),
        ("pedestrians", on_foot(summary)),
        ("obstacles", pushed(summary)),
        (
            "mishaps",
            format!(
                "{} tipped over, {} stuck",
                summary.mishaps.tipped_over, summary.mishaps.stuck
            ),
        ),
        ("stood for 60 s", stood(summary)),
        ("no path", without_path(summary)),
    ]
}

/// Describes in one line how often vehicles have stood for more than a minute and where they stood
/// first, by cause.
fn stood(summary: &Summary) -> String {
    let causes = summary.standing.iter().map(|standing| {
        let [x, y] = standing.at;
        format!(
            "{} {} (first: agent {} at {:.0} s, at ({x:.0}, {y:.0}) m)",
            standing.count,
            standing.cause.replace('_', " "),
            standing.agent,
            standing.time
        )
    });
    match summary.standing.is_empty() {
        true => "none, except at red lights".into(),
        false => causes.collect::<Vec<_>>().join("; "),
    }
}

/// Describes agents without a path to their goals in one line.
fn without_path(summary: &Summary) -> String {
    let agents = summary.no_path.iter();
    let texts = agents.map(|waiting| format!("agent {}: {}", waiting.agent, waiting.text));
    match summary.no_path.is_empty() {
        true => "none".into(),
        false => texts.collect::<Vec<_>>().join("; "),
    }
}

/// Describes pedestrians in one line.
fn on_foot(summary: &Summary) -> String {
    let Some(people) = &summary.people else {
        return "none".into();
    };
    format!(
        "{} of {} have crossed, longest wait {:.0} s, {:.0} m walked",
        people.arrived, people.came, people.longest_wait, people.walked_metres
    )
}

/// Describes loose obstacles in one line.
fn pushed(summary: &Summary) -> String {
    let Some(loose) = &summary.loose else {
        return "none moved".into();
    };
    format!("{} moved, {} felled", loose.moved, loose.felled)
}

fn collision_lines(summary: &Summary) -> String {
    let collisions = summary.collisions.iter().take(MOST_COLLISIONS);
    let lines = collisions.map(|collision| {
        format!(
            "  at {:.2} s agent {} with {:?} at ({:.1}, {:.1}), {:.2} m deep\n",
            collision.time,
            collision.agent,
            collision.with,
            collision.x,
            collision.y,
            collision.depth
        )
    });
    let mut text: String = lines.collect();
    let more = summary.collisions.len().saturating_sub(MOST_COLLISIONS);
    if more > 0 {
        text += &format!("  and {more} more (--json lists all)\n");
    }
    text
}

/// Returns the modules that were used, and the builds that replaced others.
fn module_lines(summary: &Summary) -> String {
    let modules = summary.modules.iter().map(|module| {
        let out = module.out_since;
        let out = out.map_or(String::new(), |since| {
            format!(", out of service since {since:.2} s")
        });
        format!(
            "{:<16} {} {}{out}\n",
            module.slot, module.module, module.build
        )
    });
    let libraries = summary.move_trees.iter().map(|one| {
        let mut line = format!(
            "{:<16} {} {}, {} plans, {} without a free move",
            "moves", one.library, one.hash, one.plans, one.without_path
        );
        if one.worst_distance > 0.0 {
            line += &format!(
                ", at most {:.2} m and {:.1} degrees from the clips, {} corrections",
                one.worst_distance,
                one.worst_heading.to_degrees(),
                one.corrections
            );
        }
        line + "\n"
    });
    let swaps = summary.swaps.iter();
    let swaps =
        swaps.map(|swap| format!("  at {:.2} s {}: {}\n", swap.time, swap.module, swap.note));
    modules.chain(libraries).chain(swaps).collect()
}

fn fault_lines(report: &Report) -> String {
    let mut text = String::new();
    let faults: u64 = report.fault_messages.values().sum();
    if faults > 0 {
        text += &format!("{:<16} {faults}\n", "faults");
    }
    for (module, failure) in &report.failures {
        text += &failure_line(module, failure);
    }
    for script in &report.script_faults {
        text += &format!(
            "  {}: {} faults; the built-in behaviour answered instead. The last fault:\n    {}\n",
            script.script,
            script.faults,
            script.last.replace('\n', "\n    ")
        );
    }
    text
}

/// Counts each message. The messages come from the world. Each failed module adds its first
/// problem, with the total number of its failures.
fn count_messages(
    world: &BTreeMap<String, u64>,
    failures: &BTreeMap<String, ModuleFailure>,
) -> BTreeMap<String, u64> {
    let mut counts = world.clone();
    for (module, failure) in failures {
        let problem = failure.reason.lines().next().unwrap_or_default();
        if !world.keys().any(|message| message.contains(problem)) {
            counts.insert(format!("{module}: {problem}"), failure.count());
        }
    }
    counts
}

/// Describes the failures of a module in a line of a summary, followed by its first problem.
fn failure_line(module: &str, failure: &ModuleFailure) -> String {
    format!("failed           {}\n", failure_text(module, failure))
}

/// Describes the failures of a module in a line, followed by its first problem.
pub(in crate::commands) fn failure_text(module: &str, failure: &ModuleFailure) -> String {
    let ModuleFailure {
        answers,
        effects,
        first_at,
        reason,
        out_since,
        ..
    } = failure;
    let mut text = format!("{module}: ");
    if *answers > 0 {
        text += &format!("{answers} answers came from the built-in module, ");
    }
    if *effects > 0 {
        text += &format!("{effects} effects could not be applied, ");
    }
    text += &format!("first at {first_at:.2} s");
    if let Some(since) = out_since {
        text += &format!("; out of service since {since:.2} s");
    }
    text += &format!("\n  {}", reason.replace('\n', "\n  "));
    text
}

/// Returns the figures of each stack in separate lines: the mean over its drives, and their standard
/// deviation. The drives of a run interact, so the error of the mean cannot be derived from their number.
fn stack_table(stacks: &[StackSummary]) -> String {
    let mut text = String::new();
    for stack in stacks {
        text += &format!(
            "stack {:<10} {} agents, {} arrived\n",
            stack.stack, stack.spawned, stack.arrived
        );
        let mut line = |name: &str, unit: &str, of: &Statistic| {
            if of.count > 0 {
                let (mean, deviation) = (of.mean, of.standard_deviation);
                let under_way = of.count.saturating_sub(stack.arrived);
                text += &format!("  {name:<24} {mean:>10.4}{unit}, SD {deviation:.4}{unit}");
                if under_way > 0 {
                    text += &format!(" ({under_way} of {} drives have not arrived)", of.count);
                }
                text.push('\n');
            }
        };
        line("travel time", " s", &stack.travel_time);
        line("distance", " m", &stack.distance);
        for fitness in &stack.fitness {
            line(&fitness.module, "", &fitness.score);
        }
    }
    text
}
