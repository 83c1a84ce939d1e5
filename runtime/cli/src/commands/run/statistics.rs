//! `run --statistics DIR`: what comes of a run, as tables and as a picture.

use super::cannot_write;
use anyhow::Context;
use roadwright_render::timeline;
use roadwright_simulation::{
    HeatMap, Observer, Statistics, heat_as_csv, time_rows_as_csv, trips_as_csv,
};
use std::path::{Path, PathBuf};

/// Statistics, and the folder that they are written into.
pub(super) struct StatisticsTables {
    seen: Statistics,
    heat: HeatMap,
    folder: PathBuf,
    /// What the picture is called.
    title: String,
}

impl StatisticsTables {
    /// Makes the folder: that it cannot be written is known before the run and not after it.
    pub(super) fn create(folder: &Path, title: &str) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| cannot_write(folder))?;
        let tables = Self {
            seen: Statistics::default(),
            heat: HeatMap::default(),
            folder: folder.to_owned(),
            title: title.to_owned(),
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
            self.keep(name, table.as_bytes())?;
        }
        let picture = timeline(&self.title, self.seen.rows())?;
        self.keep("timeline.png", &picture)
    }

    fn keep(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        roadwright_files::write(&path, bytes).with_context(|| cannot_write(&path))
    }
}
