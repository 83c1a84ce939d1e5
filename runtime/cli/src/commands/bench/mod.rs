//! `roadwright bench`: evaluates drivers on courses, with error bars. Also evaluates junctions
//! under excess traffic, and compares their capacities and delays with the formulae of the
//! handbooks.

mod arguments;
mod compare;
mod course;
mod course_arguments;
mod crowd;
mod delay;
mod files;
mod gaps;
mod junctions;
mod league;
mod mileage_log;
mod move_trees;
mod open_ground;
mod planners;
mod race;
mod reproduce;
mod saturation;
mod star;
mod stop_watch;
mod verify;
mod walkers;

pub(crate) use arguments::BenchVerb;
pub(crate) use compare::compare;
pub(crate) use course_arguments::{Compare, Sign};

use crate::terminal::say;
use crate::{Outcome, progress};
use anyhow::{Context, bail};
use roadwright_agent::Registry;
use roadwright_scenario::{DynamicsLevel, RoadId, Scenario};
use roadwright_simulation::{
    Ending, JunctionWatch, Observer, RunOptions, Session, World, builtin_modules,
};
use roadwright_training::experiment::{FailedRun, Results, RunSeries, Stop, Watcher};
use roadwright_training::{Course, Setup, UNSEEN_SEED};

pub(crate) fn bench(verb: &BenchVerb) -> anyhow::Result<Outcome> {
    progress::catch_interrupt();
    match verb {
        BenchVerb::List(arguments) => course::list(arguments),
        BenchVerb::Run(arguments) => course::run(arguments),
        BenchVerb::Verify(arguments) => verify::verify(arguments),
        BenchVerb::Sign(arguments) => super::signature::sign(arguments),
        BenchVerb::Compare(arguments) => compare(arguments),
        BenchVerb::League(arguments) => league::league(arguments),
        BenchVerb::Reproduce(arguments) => reproduce::reproduce(arguments),
        BenchVerb::Junctions(arguments) => junctions::bench(arguments),
        BenchVerb::Saturation(arguments) => saturation::bench(arguments),
        BenchVerb::Delay(arguments) => delay::bench(arguments),
        BenchVerb::Gaps(arguments) => gaps::bench(arguments),
        BenchVerb::Planners(arguments) => planners::bench(arguments),
        BenchVerb::MoveTrees(arguments) => move_trees::bench(arguments),
        BenchVerb::OpenGround(arguments) => open_ground::bench(arguments),
    }
}

/// Stops the runs of a course when the user presses Ctrl-C.
struct UntilInterrupted;

impl Watcher for UntilInterrupted {
    fn goes_on(&self) -> bool {
        !progress::interrupted()
    }
}

/// Reports each failed run on standard error, because failed runs are not among the results.
fn tell_failures<'a>(failed: impl IntoIterator<Item = &'a FailedRun>) {
    for failed in failed {
        say!("{failed}");
    }
}

/// Runs a course and returns the results. The seeds were not used to select rules or parameters.
fn results_of(
    course: &Course,
    setup: &Setup,
    modules: &Registry,
    runs: u64,
    threads: Option<u16>,
) -> anyhow::Result<Results> {
    let experiment = RunSeries {
        course,
        setup,
        modules,
        // Seeds that were used to select rules and parameters would make these look better than they are.
        first_seed: UNSEEN_SEED,
        against: None,
        stop: Stop::Runs { runs },
        level: 0.95,
        threads: course::threads(threads),
    };
    let results = experiment.run(None, &UntilInterrupted);
    let results = results.with_context(|| format!("cannot run {}", course.name))?;
    if progress::interrupted() {
        bail!("interrupted");
    }
    Ok(results)
}

/// A run of a scenario at level `lane` with its junctions inspected.
struct WatchedRun {
    session: Session,
    watch: JunctionWatch,
}

impl WatchedRun {
    fn new(scenario: &Scenario, dt: f64, seed: u64) -> anyhow::Result<Self> {
        let options = RunOptions {
            seed: Some(seed),
            dt: Some(dt),
            dynamics: Some(DynamicsLevel::Lane),
            // Contacts on crossing connections are only detected by comparing bodies.
            verify: true,
            ..RunOptions::default()
        };
        let world = World::new(scenario, &builtin_modules(), &options);
        Ok(Self {
            session: Session::new(world.context("cannot run the benchmark")?),
            watch: JunctionWatch::default(),
        })
    }

    /// Runs until `time`, in seconds.
    fn until(&mut self, time: f64) -> anyhow::Result<()> {
        let mut observers: [&mut dyn Observer; 1] = [&mut self.watch];
        let goes_on = |_: &World| !progress::interrupted();
        self.session
            .run(Ending::AtTime(time), &mut observers, goes_on);
        if progress::interrupted() {
            bail!("interrupted");
        }
        Ok(())
    }

    fn world(&self) -> &World {
        self.session.world()
    }

    /// Returns the total number of vehicles that have entered a junction from the given roads.
    fn passed(&self, roads: &[RoadId]) -> u64 {
        let figures = self.watch.figures(self.world());
        let approaches = figures.iter().flat_map(|junction| &junction.approaches);
        let own = approaches.filter(|approach| roads.contains(&approach.road));
        own.map(|approach| approach.passed).sum()
    }

    /// Returns the rate at which vehicles entered in a period, vehicles/h.
    fn rate(&mut self, roads: &[RoadId], from: f64, to: f64) -> anyhow::Result<f64> {
        self.until(from)?;
        let before = self.passed(roads);
        self.until(to)?;
        Ok((self.passed(roads) - before) as f64 * 3600.0 / (to - from))
    }
}
