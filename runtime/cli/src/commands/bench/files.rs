//! The files that `bench run` writes.

use super::course_arguments::RunCourse;
use super::mileage_log::MileageLog;
use crate::commands::plot::Figure;
use crate::outputs::{Checkpoint, Inputs, Kind, Outputs, Place};
use roadwright_training::Course;
use roadwright_training::experiment::Results;
use std::path::Path;

/// Output files of an experiment: its results, their table, and the mileage log.
pub(super) struct Files {
    outputs: Outputs,
    /// The results. The same command can resume from them.
    out: Option<Checkpoint>,
    /// Table of the rows. It is written at the end.
    table: Option<Place>,
    log: Option<Log>,
}

/// Destination of the mileage log.
enum Log {
    /// The log is written together with the results, because it is continued when they are resumed.
    Checkpoint(Checkpoint),
    /// The log is written at the end, because it cannot be continued.
    AtEnd(Place),
}

impl Files {
    /// Claims the paths of all results.
    ///
    /// # Errors
    /// If a result would replace an input or another result, has the wrong extension, or cannot be written.
    pub(super) fn claim(arguments: &RunCourse, course: &Course) -> anyhow::Result<Self> {
        let own = course.is_own().then(|| Path::new(&course.name));
        let mut read = Inputs::none().extensions(&arguments.common.extensions, own);
        if let Some(scenario) = own {
            read = read.file("the scenario", scenario);
        }
        if let Some(others) = &arguments.until_difference {
            read = read.file("the results to compare with", others);
        }
        let mut outputs = Outputs::of(read);
        outputs.prints(if arguments.common.json {
            "--json"
        } else {
            "the summary"
        });
        let out = arguments.out.as_deref();
        let out = out.map(|path| outputs.checkpoint("--out", path, Kind::Results));
        let out = out.transpose()?;
        let table = out.as_ref().map(|out| {
            let path = out.path().with_extension("csv");
            let place = outputs.own_table("the table of --out", &path, TABLE_BEGINS)?;
            outputs.try_out(&place)?;
            anyhow::Ok(place)
        });
        let table = table.transpose()?;
        let log = match (&arguments.log, &out) {
            (None, _) => None,
            (Some(path), Some(_)) => {
                let log = outputs.checkpoint("--log", path, Kind::Table)?;
                Some(Log::Checkpoint(log))
            }
            (Some(path), None) => {
                let place = outputs.file("--log", path, Kind::Table)?;
                outputs.try_out(&place)?;
                Some(Log::AtEnd(place))
            }
        };
        if let Some(folder) = &arguments.plots {
            outputs.folder("--plots", folder)?;
        }
        Ok(Self {
            outputs,
            out,
            table,
            log,
        })
    }

    /// Writes the results and their log, so that the command can resume after any interruption.
    pub(super) fn keep(&self, results: &Results, log: Option<&MileageLog>) -> anyhow::Result<()> {
        // If all runs failed there are no results.
        if results.fitnesses().is_empty() {
            return Ok(());
        }
        // The log is written first, because a resumed command drops log rows that its results do not have.
        if let (Some(Log::Checkpoint(place)), Some(log)) = (&self.log, log) {
            place.write(log.text().as_bytes())?;
        }
        match &self.out {
            Some(out) => out.write(results.to_text().as_bytes()),
            None => Ok(()),
        }
    }

    /// Writes all results in their final state.
    pub(super) fn finish(
        &mut self,
        results: &Results,
        log: Option<&MileageLog>,
    ) -> anyhow::Result<()> {
        self.keep(results, log)?;
        if results.fitnesses().is_empty() {
            return Ok(());
        }
        if let (Some(Log::AtEnd(place)), Some(log)) = (&self.log, log) {
            self.outputs.write(place, log.text().as_bytes())?;
        }
        if let Some(table) = &self.table {
            self.outputs.write(table, results.to_csv().as_bytes())?;
        }
        self.outputs.commit()
    }

    /// Writes a figure into the folder of `--plots`.
    pub(super) fn plot(&mut self, figure: &Figure, folder: &Path) -> anyhow::Result<()> {
        figure.write(&mut self.outputs, "--plots", folder)?;
        self.outputs.commit()
    }
}

/// First columns in the header of the table of results.
const TABLE_BEGINS: &str = "course,scenario_hash";
