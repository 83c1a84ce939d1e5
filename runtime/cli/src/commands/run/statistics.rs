//! `run --statistics DIR`: what comes of a run, as tables.

use super::cannot_write;
use anyhow::Context;
use roadwright_simulation::{
    HeatMap, Observer, Statistics, heat_as_csv, time_rows_as_csv, trips_as_csv,
};
use std::path::{Path, PathBuf};

/// Statistics, and the folder that they are written into.
pub(super) struct StatisticsTables {
    seen: Statistics,
    heat: HeatMap,
    folder: PathBuf,
}

impl StatisticsTables {
    /// Makes the folder: that it cannot be written is known before the run and not after it.
    pub(super) fn create(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| cannot_write(folder))?;
        let tables = Self {
            seen: Statistics::default(),
            heat: HeatMap::default(),
            folder: folder.to_owned(),
        };
        tables.write()?;
        Ok(tables)
    }

    /// Those who look at the run.
    pub(super) fn observers(&mut self) -> [&mut dyn Observer; 2] {
        [&mut self.seen, &mut self.heat]
    }

    /// Writes the tables.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.write()
    }

    fn write(&self) -> anyhow::Result<()> {
        for (name, table) in [
            ("timeline.csv", time_rows_as_csv(self.seen.rows())),
            ("trips.csv", trips_as_csv(self.seen.trips())),
            ("heat.csv", heat_as_csv(self.heat.cells())),
        ] {
            let path = self.folder.join(name);
            roadwright_files::write(&path, table.as_bytes())
                .with_context(|| cannot_write(&path))?;
        }
        Ok(())
    }
}
