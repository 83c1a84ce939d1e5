//! Files that a run writes, including tables that grow during the run.

use super::statistics::{NAMES, StatisticsTables};
use super::tables::{SCORES_BEGIN, SignalTable, Trace, write_scores};
use crate::arguments::RunScenario;
use crate::outputs::{Inputs, Kind, Outputs, Place};
use roadwright_scenario::Scenario;
use roadwright_simulation::{Drive as AgentDrive, Observer, TraceRate, World};
use std::path::{Path, PathBuf};

/// Results of a run with their paths.
pub(super) struct Results {
    pub(super) outputs: Outputs,
    pub(super) save: Option<Place>,
    trace: Option<Place>,
    scores: Option<Place>,
    signals: Option<Place>,
    /// Paths of the files named [`NAMES`].
    statistics: Option<Vec<Place>>,
}

impl Results {
    /// Claims the paths of all results. Only the folder of the statistics is created.
    ///
    /// # Errors
    /// If a result would replace an input or another result, has the wrong extension, or cannot be written.
    pub(super) fn claim(arguments: &RunScenario, scenario: &Scenario) -> anyhow::Result<Self> {
        let mut inputs = Inputs::none()
            .scenario(&arguments.file, scenario)
            .extensions(&arguments.simulate.extensions, Some(&arguments.file));
        if let Some(save) = &arguments.restore {
            inputs = inputs.file("the saved world", save);
        }
        let mut outputs = Outputs::of(inputs);
        if arguments.json {
            outputs.prints("--json");
        } else if !arguments.quiet {
            outputs.prints("the summary (--quiet leaves it out)");
        }
        let mut claim = |asks: &str, path: &Option<PathBuf>, kind| {
            let place = path.as_deref().map(|path| outputs.file(asks, path, kind));
            place.transpose()
        };
        let save = claim("--save", &arguments.save, Kind::Save)?;
        let trace = claim("--trace", &arguments.trace, Kind::Table)?;
        let signals = claim("--signals", &arguments.signals, Kind::Table)?;
        // A pipe or a device has no neighbouring path.
        let scores = trace.as_ref().filter(|trace| trace.is_file());
        let scores = scores.map(|trace| {
            let path = trace.path().with_extension("scores.csv");
            outputs.own_table("the scores of --trace", &path, SCORES_BEGIN)
        });
        let scores = scores.transpose()?;
        let statistics = arguments.statistics.as_deref();
        let statistics = statistics.map(|folder| claim_statistics(&mut outputs, folder));
        let results = Self {
            scores,
            save,
            trace,
            signals,
            statistics: statistics.transpose()?,
            outputs,
        };
        results.try_out()?;
        Ok(results)
    }

    /// Checks before the run that all results can be written after it.
    fn try_out(&self) -> anyhow::Result<()> {
        let single = [&self.save, &self.trace, &self.scores, &self.signals];
        let statistics = self.statistics.iter().flatten();
        let mut all = single.into_iter().flatten().chain(statistics);
        all.try_for_each(|place| self.outputs.try_out(place))
    }

    /// Opens the tables that grow during the run. Rows of the trace are written at the given rate.
    pub(super) fn open(&self, title: &str, rate: TraceRate) -> anyhow::Result<Tables> {
        let open = |place: &Option<Place>| {
            let output = place.as_ref().map(|place| self.outputs.open(place));
            output.transpose()
        };
        Ok(Tables {
            trace: open(&self.trace)?
                .map(|output| Trace::create(output, rate))
                .transpose()?,
            signals: open(&self.signals)?.map(SignalTable::create).transpose()?,
            statistics: (self.statistics.is_some()).then(|| StatisticsTables::new(title)),
        })
    }

    /// Finishes all tables, and gives all results their final names. If a result fails, the others are kept.
    pub(super) fn finish(
        &mut self,
        tables: Tables,
        world: &World,
        drives: &[AgentDrive<'_>],
    ) -> anyhow::Result<()> {
        let outputs = &mut self.outputs;
        let mut done = Ok(());
        if let Some(trace) = tables.trace {
            let trace = trace.finish(world).and_then(|output| outputs.keep(output));
            done = done.and(trace);
        }
        if let Some(scores) = &self.scores {
            done = done.and(write_scores(outputs, scores, drives));
        }
        if let Some(signals) = tables.signals {
            let signals = signals.finish().and_then(|output| outputs.keep(output));
            done = done.and(signals);
        }
        if let Some((tables, places)) = tables.statistics.zip(self.statistics.as_deref()) {
            done = done.and(tables.finish(outputs, places));
        }
        done.and(outputs.commit())
    }

    /// Whether scores of drives are written to a file.
    pub(super) fn has_scores(&self) -> bool {
        self.scores.is_some()
    }
}

/// Claims the files of the statistics in their folder.
fn claim_statistics(outputs: &mut Outputs, folder: &Path) -> anyhow::Result<Vec<Place>> {
    let asks = "--statistics";
    outputs.folder(asks, folder)?;
    let places = NAMES.iter().map(|(name, begin)| {
        let path = folder.join(name);
        match begin {
            Some(begin) => outputs.own_table(asks, &path, begin),
            None => outputs.file(asks, &path, Kind::Picture),
        }
    });
    places.collect()
}

/// Tables that grow during a run.
pub(super) struct Tables {
    trace: Option<Trace>,
    signals: Option<SignalTable>,
    statistics: Option<StatisticsTables>,
}

impl Tables {
    /// Returns the observers that fill the tables.
    pub(super) fn observers(&mut self) -> Vec<&mut dyn Observer> {
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(self.trace.as_mut().map(|trace| trace as &mut dyn Observer));
        let signals = self.signals.as_mut();
        observers.extend(signals.map(|signals| signals as &mut dyn Observer));
        let statistics = self.statistics.iter_mut();
        observers.extend(statistics.flat_map(StatisticsTables::observers));
        observers
    }
}
