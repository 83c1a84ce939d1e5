//! Results of a run.

use roadwright_scenario::Scenario;
use roadwright_simulation::{Statistics, TimeRow, Trip};
use std::sync::Arc;

/// The scenario that a run currently uses.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    /// The scenario.
    pub scenario: &'a Arc<Scenario>,
    /// Whether the scenario has been edited since the start of the run.
    pub is_edited: bool,
}

/// Results of a run up to the present.
#[derive(Debug, Clone, Default)]
pub struct RunResults {
    /// A row for each second, oldest first.
    pub rows: Vec<TimeRow>,
    /// The trips that have ended, in the order in which they ended.
    pub trips: Vec<Trip>,
    /// The current scenario of the run.
    pub scenario: Arc<Scenario>,
    /// Whether the scenario was edited during the run.
    pub is_edited: bool,
    /// Results of the previous run: the run before the last reset, or the future that was discarded
    /// when the run continued from the past.
    pub before: Option<Arc<RunResults>>,
}

impl RunResults {
    /// Returns the results of a finished run, without the results of an earlier one.
    pub fn of(statistics: &Statistics, ran: Ran<'_>) -> Self {
        Self {
            rows: statistics.rows().to_vec(),
            trips: statistics.trips().to_vec(),
            scenario: ran.scenario.clone(),
            is_edited: ran.is_edited,
            before: None,
        }
    }

    /// Returns the current results. If nothing has changed since the previous results, the same
    /// object is returned.
    pub fn grown(
        self: &Arc<Self>,
        statistics: &Statistics,
        ran: Ran<'_>,
        before: Option<&Arc<Self>>,
    ) -> Arc<Self> {
        let (rows, trips) = (statistics.rows(), statistics.trips());
        let has_same_before = match (&self.before, before) {
            (None, None) => true,
            (Some(known), Some(before)) => Arc::ptr_eq(known, before),
            _ => false,
        };
        // Rows and trips are added and removed only at the end of the lists, so comparing the ends
        // is enough.
        let is_same = self.rows.last() == rows.last()
            && self.trips.len() == trips.len()
            && Arc::ptr_eq(&self.scenario, ran.scenario)
            && has_same_before;
        if is_same {
            return self.clone();
        }
        Arc::new(Self {
            before: before.cloned(),
            ..Self::of(statistics, ran)
        })
    }

    /// Duration of the run, s.
    pub fn seconds(&self) -> f64 {
        self.rows.last().map_or(0.0, |row| row.time)
    }

    /// Whether there are enough rows for a comparison. A curve needs at least two rows.
    pub fn is_some(&self) -> bool {
        self.rows.len() > 1
    }

    /// Approximate size in bytes. It does not include the scenario, which shares nearly all of its data with
    /// the document.
    pub fn bytes(&self) -> usize {
        let stacks: usize = self.trips.iter().map(|trip| trip.stack.len()).sum();
        self.rows.len() * size_of::<TimeRow>() + self.trips.len() * size_of::<Trip>() + stacks
    }
}
