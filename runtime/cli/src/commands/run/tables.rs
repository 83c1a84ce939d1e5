//! CSV tables: positions of vehicles, signal states, and scores of drives.

use super::cannot_write;
use crate::outputs::{Outputs, Place};
use anyhow::Context;
use roadwright_files::Output;
use roadwright_simulation::{
    Drive as AgentDrive, Observer, SignalHead, Snapshot, TraceRate, World, trace_columns,
};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Writes the positions of vehicles as CSV: before the first step, then at a fixed rate, and at the
/// end.
pub(in crate::commands) struct Trace {
    file: csv::Writer<Output>,
    path: PathBuf,
    rate: TraceRate,
    /// Last step that was written.
    written: Option<u64>,
    /// First error, after which nothing is written.
    error: Option<csv::Error>,
}

impl Observer for Trace {
    fn begin(&mut self, world: &World) {
        self.write(world);
    }

    fn after_step(&mut self, world: &World) {
        if self.rate.is_due(world.steps()) {
            self.write(world);
        }
    }
}

impl Trace {
    pub(super) fn create(output: Output, rate: TraceRate) -> anyhow::Result<Self> {
        let path = output.path().to_owned();
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(trace_columns())?;
        Ok(Self {
            file: writer,
            path,
            rate,
            written: None,
            error: None,
        })
    }

    // An observer cannot fail, so the error is kept until the run has ended. Nothing is written after it, so
    // that there is no gap between rows.
    fn write(&mut self, world: &World) {
        if self.error.is_none() && self.written != Some(world.steps()) {
            self.written = Some(world.steps());
            self.error = self.write_rows(&world.snapshot()).err();
        }
    }

    fn write_rows(&mut self, snapshot: &Snapshot) -> csv::Result<()> {
        for vehicle in &snapshot.vehicles {
            self.file.write_record(vehicle.trace_row(snapshot.time))?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self, world: &World) -> anyhow::Result<Output> {
        self.write(world);
        if let Some(error) = self.error {
            return Err(error).with_context(|| cannot_write(&self.path));
        }
        output_of(self.file).with_context(|| cannot_write(&self.path))
    }
}

/// Writes the signals of all lanes as CSV at the start and at each change.
pub(super) struct SignalTable {
    file: csv::Writer<Output>,
    path: PathBuf,
    shown: Vec<SignalHead>,
    /// First error, after which nothing is written.
    error: Option<csv::Error>,
}

impl Observer for SignalTable {
    fn begin(&mut self, world: &World) {
        self.look(world);
    }

    fn after_step(&mut self, world: &World) {
        self.look(world);
    }
}

impl SignalTable {
    pub(super) fn create(output: Output) -> anyhow::Result<Self> {
        let path = output.path().to_owned();
        let mut file = csv::Writer::from_writer(output);
        file.write_record(["time_s", "node", "road", "lane", "state"])?;
        Ok(Self {
            file,
            path,
            shown: Vec::new(),
            error: None,
        })
    }

    // As in a trace, the first error is kept and nothing is written after it.
    fn look(&mut self, world: &World) {
        let shown: Vec<SignalHead> = world.signals().collect();
        let is_new = |i: usize, head: &SignalHead| self.shown.get(i) != Some(head);
        let changed: Vec<SignalHead> = (0..)
            .zip(&shown)
            .filter(|&(i, head)| is_new(i, head))
            .map(|(_, head)| *head)
            .collect();
        if self.error.is_none() {
            self.error = self.write_rows(world.time(), &changed).err();
        }
        self.shown = shown;
    }

    fn write_rows(&mut self, time: f64, heads: &[SignalHead]) -> csv::Result<()> {
        for head in heads {
            self.file.write_record([
                format!("{time:.3}"),
                head.node.0.to_string(),
                head.road.0.to_string(),
                head.lane.to_string(),
                head.light.name().into(),
            ])?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> anyhow::Result<Output> {
        if let Some(error) = self.error {
            return Err(error).with_context(|| cannot_write(&self.path));
        }
        output_of(self.file).with_context(|| cannot_write(&self.path))
    }
}

/// Beginning of a table of scores.
pub(super) const SCORES_BEGIN: &str = "agent,stack";

/// Writes a CSV row for each agent's drive, with a column for each fitness function.
pub(super) fn write_scores(
    outputs: &mut Outputs,
    place: &Place,
    drives: &[AgentDrive<'_>],
) -> anyhow::Result<()> {
    let at = || cannot_write(place.path());
    let scores = drives.iter().flat_map(|drive| &drive.scores);
    // Agents with other stacks may have other fitness functions, so there is a column for each
    // function.
    let fitnesses: BTreeSet<&str> = scores.map(|(fitness, _)| *fitness).collect();
    let mut file = csv::Writer::from_writer(outputs.open(place)?);
    let titles = [
        "agent",
        "stack",
        "status",
        "started_s",
        "ended_s",
        "distance_m",
    ];
    file.write_record(titles.iter().chain(&fitnesses))
        .with_context(at)?;
    for drive in drives {
        let status = format!("{:?}", drive.status).to_lowercase();
        let mut row = vec![
            drive.id.to_string(),
            drive.stack.to_owned(),
            status,
            format!("{:.3}", drive.started),
            format!("{:.3}", drive.ended),
            format!("{:.3}", drive.distance),
        ];
        for fitness in &fitnesses {
            let score = drive.scores.iter().find(|(known, _)| known == fitness);
            row.push(score.map_or(String::new(), |(_, score)| score.to_string()));
        }
        file.write_record(&row).with_context(at)?;
    }
    outputs.keep(output_of(file).with_context(at)?)
}

/// Returns the output to which a finished table was written.
fn output_of(table: csv::Writer<Output>) -> std::io::Result<Output> {
    table.into_inner().map_err(|error| error.into_error())
}
