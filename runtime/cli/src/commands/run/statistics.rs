//! `run --statistics DIR`: results of a run, as tables and as a picture.

use crate::outputs::{Outputs, Place};
use roadwright_render::timeline;
use roadwright_simulation::{
    HeatMap, Observer, Statistics, heat_as_csv, time_rows_as_csv, trips_as_csv,
};

/// Names of the files, and the first columns of the tables. The picture has no columns.
pub(super) const NAMES: [(&str, Option<&str>); 4] = [
    ("timeline.csv", Some("time_s,driving")),
    ("trips.csv", Some("agent,stack")),
    ("heat.csv", Some("road,lane")),
    ("timeline.png", None),
];

/// Statistics of a run, which are written at its end.
pub(super) struct StatisticsTables {
    seen: Statistics,
    heat: HeatMap,
    /// Title of the picture.
    title: String,
}

impl StatisticsTables {
    pub(super) fn new(title: &str) -> Self {
        Self {
            seen: Statistics::default(),
            heat: HeatMap::default(),
            title: title.to_owned(),
        }
    }

    /// Returns the observers of the run.
    pub(super) fn observers(&mut self) -> [&mut dyn Observer; 2] {
        [&mut self.seen, &mut self.heat]
    }

    /// Writes the tables and the picture to the paths of [`NAMES`].
    pub(super) fn finish(self, outputs: &mut Outputs, places: &[Place]) -> anyhow::Result<()> {
        let picture = timeline(&self.title, self.seen.rows())?;
        let contents = [
            time_rows_as_csv(self.seen.rows()).into_bytes(),
            trips_as_csv(self.seen.trips()).into_bytes(),
            heat_as_csv(self.heat.cells()).into_bytes(),
            picture,
        ];
        for (place, bytes) in places.iter().zip(&contents) {
            outputs.write(place, bytes)?;
        }
        Ok(())
    }
}
