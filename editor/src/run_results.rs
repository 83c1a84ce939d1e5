//! What comes of a run, for panels.

use roadwright_simulation::{Statistics, TimeRow, Trip};
use std::sync::Arc;

/// What has come of the run so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunResults {
    /// A row for each second, oldest first.
    pub rows: Vec<TimeRow>,
    /// The trips that have ended, in that order.
    pub trips: Vec<Trip>,
    /// The rows of the run before the last reset, for comparison.
    pub before: Arc<Vec<TimeRow>>,
}

impl RunResults {
    /// The results of now; the same ones if nothing has been added to them.
    pub(crate) fn grown(
        self: &Arc<Self>,
        statistics: &Statistics,
        before: &Arc<Vec<TimeRow>>,
    ) -> Arc<Self> {
        let (rows, trips) = (statistics.rows(), statistics.trips());
        // Rows and trips are added and taken away at the end only.
        let is_same = self.rows.last() == rows.last()
            && self.trips.len() == trips.len()
            && Arc::ptr_eq(&self.before, before);
        if is_same {
            return self.clone();
        }
        Arc::new(Self {
            rows: rows.to_vec(),
            trips: trips.to_vec(),
            before: before.clone(),
        })
    }
}
