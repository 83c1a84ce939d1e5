//! `run --statistics DIR`: what comes of a run, as two tables.

use super::cannot_write;
use anyhow::Context;
use roadwright_simulation::{Statistics, time_rows_as_csv, trips_as_csv};
use std::path::{Path, PathBuf};

/// Statistics, and the folder that they are written into.
pub(super) struct StatisticsTables {
    /// The observer.
    pub(super) seen: Statistics,
    folder: PathBuf,
}

impl StatisticsTables {
    /// Makes the folder: that it cannot be written is known before the run and not after it.
    pub(super) fn create(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| cannot_write(folder))?;
        let tables = Self {
            seen: Statistics::default(),
            folder: folder.to_owned(),
        };
        tables.write()?;
        Ok(tables)
    }

    /// Writes the tables.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.write()
    }

    fn write(&self) -> anyhow::Result<()> {
        for (name, table) in [
            ("timeline.csv", time_rows_as_csv(self.seen.rows())),
            ("trips.csv", trips_as_csv(self.seen.trips())),
        ] {
            let path = self.folder.join(name);
            roadwright_files::write(&path, table.as_bytes())
                .with_context(|| cannot_write(&path))?;
        }
        Ok(())
    }
}
