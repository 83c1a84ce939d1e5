//! Runs a session from the command line, and reports events during the run.

use super::report::{Costs, Report};
use super::save;
use crate::extensions::{self, Notes};
use crate::outputs::{Outputs, Place};
use crate::progress::{self, now};
use crate::terminal::say;
use crate::watchdog::Watchdog;
use cpu_time::ProcessTime;
use indicatif::ProgressBar;
use roadwright_extension::Host;
use roadwright_simulation::{Ending, Observer, Session, World};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A session that is run from the command line, with its observers and outputs.
pub(in crate::commands) struct Drive<'a> {
    pub(in crate::commands) session: &'a mut Session,
    /// Host whose events are reported.
    pub(in crate::commands) host: Option<&'a Host>,
    /// Additional observers.
    pub(in crate::commands) observers: Vec<&'a mut dyn Observer>,
    /// Whether log lines of modules are printed.
    pub(in crate::commands) logs: bool,
    pub(in crate::commands) quiet: bool,
    /// Whether the run continues with the built-in module after another module has timed out.
    pub(in crate::commands) keep_going: bool,
    /// Destination of the world that is saved at the end.
    pub(in crate::commands) save: Option<SaveTo<'a>>,
}

/// Destination of a save.
pub(in crate::commands) struct SaveTo<'a> {
    pub(in crate::commands) outputs: &'a mut Outputs,
    pub(in crate::commands) place: &'a Place,
    /// Whether modules that cannot save their state may start fresh.
    pub(in crate::commands) allow_inexact: bool,
}

impl Drive<'_> {
    /// Runs until the end or until Ctrl-C is pressed.
    pub(in crate::commands) fn drive(&mut self, ending: Ending) -> anyhow::Result<Report> {
        progress::catch_interrupt();
        let world = self.session.world();
        let before = (world.agent_updates(), world.time());
        let (Ending::AtTime(end) | Ending::WhenOver(end)) = ending;
        let steps = (end / world.dt()).round() as u64;
        let mut teller = Teller {
            host: self.host,
            logs: self.logs,
            quiet: self.quiet,
            logged: world.log_count(),
            bar: progress::bar(steps.saturating_sub(world.steps()), self.quiet),
            first: world.steps(),
            told_at: now(),
            slow: BTreeSet::new(),
        };
        let wall = now();
        let cpu = ProcessTime::now();
        let watchdog = self.host.map(Watchdog::new);
        let (host, keep_going) = (self.host, self.keep_going);
        // After a module has timed out, every later step depends on the speed of the machine.
        let timed_out = || host.and_then(Host::timed_out);
        let goes_on = |_: &World| !progress::interrupted() && (keep_going || timed_out().is_none());
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        for observer in &mut self.observers {
            observers.push(&mut **observer);
        }
        observers.push(&mut teller);
        self.session.run(ending, &mut observers, goes_on);
        drop(watchdog);
        let world = self.session.world();
        // Done before the summary, which calls fitness modules.
        let quiet = self.quiet;
        let saved = self.save.as_mut().map(|to| save(world, to, quiet));
        teller.bar.finish_and_clear();
        teller.tell(world);
        let costs = Costs {
            wall_seconds: wall.elapsed().as_secs_f64(),
            cpu_seconds: cpu.elapsed().as_secs_f64(),
            before,
        };
        let mut report = Report::new(world, self.host, costs);
        match saved {
            Some(Ok(inexact)) => report.starts_fresh_when_restored = inexact,
            Some(Err(error)) => report.save_error = Some(error),
            None => {}
        }
        Ok(report)
    }
}

/// Shows progress, and prints logs and events of modules.
struct Teller<'a> {
    host: Option<&'a Host>,
    logs: bool,
    quiet: bool,
    /// Number of lines printed until now.
    logged: u64,
    bar: ProgressBar,
    /// First step that the progress bar counts.
    first: u64,
    /// Time of the last report.
    told_at: Instant,
    /// Modules that were reported as slow.
    slow: BTreeSet<String>,
}

/// Number of steps between two checks.
// A check locks the host and the log, which would be noticeable in every step.
const TELL_PERIOD: u64 = 64;
/// Maximum time without output.
const SILENCE: Duration = Duration::from_secs(5);
/// Duration of a call above which its module is reported as slow, us.
const SLOW_CALL_US: f64 = 50_000.0;

impl Observer for Teller<'_> {
    fn after_step(&mut self, world: &World) {
        let step = world.steps() - self.first;
        let is_silent = self.told_at.elapsed() > SILENCE;
        if step % TELL_PERIOD == 1 || is_silent {
            self.told_at = now();
            if is_silent {
                self.tell_slow();
            }
            self.bar.set_position(step);
            self.bar.set_message(message(world));
            let bar = self.bar.clone();
            // Otherwise lines would be printed across the progress bar.
            bar.suspend(|| self.tell(world));
        }
    }
}

impl Teller<'_> {
    /// Reports the modules that the run is waiting for, each module once.
    fn tell_slow(&mut self) {
        let rows = self.host.map_or(Vec::new(), Host::modules);
        for row in rows.iter().filter(|row| row.call_us > SLOW_CALL_US) {
            if self.slow.insert(row.id.clone()) {
                let milliseconds = row.call_us / 1000.0;
                say!(
                    "warning: {} takes {milliseconds:.0} ms per call; the run waits for it",
                    row.id
                );
            }
        }
    }

    /// Prints new log lines and events of modules.
    fn tell(&mut self, world: &World) {
        if let Some(host) = self.host {
            extensions::tell(&host.events(), Notes::unless(self.quiet));
            if self.logs {
                for (module, line) in host.log_lines() {
                    say!("log: before {:.2} s, {module}: {line}", world.time());
                }
            }
        }
        let new = (world.log_count() - self.logged) as usize;
        self.logged = world.log_count();
        let lines = world.log();
        // The world keeps only the last lines, so some of the new ones may have been dropped.
        let skipped = lines.len().saturating_sub(new);
        for line in lines.skip(skipped) {
            if self.logs || (line.is_fault && !self.quiet) {
                let word = if line.is_fault { "fault" } else { "log" };
                say!(
                    "{word}: {:.2} s, agent {}, {}: {}",
                    line.time,
                    line.agent,
                    line.module,
                    line.text
                );
            }
        }
    }
}

fn message(world: &World) -> String {
    let counts = world.counts();
    format!(
        "{} of {} arrived",
        counts.arrived,
        counts.spawned + counts.waiting
    )
}
