//! Arrivals of pedestrians at crossings: a Poisson process for each side.

use super::People;
use crate::clock::Clock;
use roadwright_geometry::math::{Stream, ln};
use roadwright_ground::Ground;
use roadwright_scenario::{RoadEnd, RoadId};
use serde::{Deserialize, Serialize};

/// In a valid save, the next arrival is overdue by at most this time, s.
const LATEST: f64 = 10.0;

/// The source of pedestrians on one side of a crossing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Source {
    /// Road, end and side, which identify the source after an edit.
    key: (RoadId, bool, bool),
    /// Number of pedestrians per hour.
    rate: f64,
    stream: Stream,
    /// Time of the next arrival, s.
    next_time: f64,
}

/// Creates the sources of all crossings. For each crossing, the right kerb comes before the left
/// one.
pub(super) fn of(ground: &Ground, rate: f64, seed: u64, time: f64) -> Vec<Source> {
    let sites = ground.crossings().sites().iter();
    let sides = sites.flat_map(|site| [(site, true), (site, false)]);
    sides
        .map(|(site, is_from_right)| {
            let crossing = &site.crossing;
            let is_start = crossing.end == RoadEnd::Start;
            let key = (crossing.road, is_start, is_from_right);
            // Each side at each end of each road has a separate random stream, so that adding a crossing does
            // not affect the others.
            let number =
                u64::from(crossing.road.0) * 4 + 2 * u64::from(is_start) + u64::from(is_from_right);
            let mut source = Source {
                key,
                rate: crossing.people.unwrap_or(rate),
                stream: Stream::new(seed, "people", number),
                next_time: time,
            };
            source.next_time += source.gap();
            source
        })
        .collect()
}

impl Source {
    /// Whether no more pedestrians will arrive.
    pub(super) fn is_dry(&self) -> bool {
        self.rate <= 0.0
    }

    /// Whether the source's values are valid. The next arrival must not be long overdue. Otherwise,
    /// all pedestrians who should have arrived meanwhile would appear in one step.
    pub(super) fn is_sound(&self, clock: &Clock) -> bool {
        (0.0..=1e6).contains(&self.rate) && self.next_time >= clock.time() - LATEST
    }

    /// Continues with the state that the source had before an edit.
    fn continue_from(&mut self, before: &Self) {
        // If the rate has changed, the gap that was drawn is no longer valid.
        let is_same = before.rate.to_bits() == self.rate.to_bits();
        self.stream = before.stream.clone();
        if is_same {
            self.next_time = before.next_time;
        }
    }

    /// Draws the time to the next arrival, s. It is exponentially distributed.
    fn gap(&mut self) -> f64 {
        if self.is_dry() {
            return f64::INFINITY;
        }
        // A unit random number is less than 1, so the logarithm is finite.
        -ln(1.0 - self.stream.next_unit()) * 3600.0 / self.rate
    }
}

impl People {
    /// Adds the pedestrians who are due to arrive.
    pub(crate) fn appear(&mut self, clock: &Clock, ground: &Ground) {
        let time = clock.time();
        let sites = ground.crossings().sites();
        for number in 0..self.sources.len() {
            while self.sources[number].next_time <= time {
                let source = &mut self.sources[number];
                source.next_time += source.gap();
                let crossing = number / 2;
                self.come(crossing as u32, number % 2 == 0, &sites[crossing]);
            }
        }
    }

    /// Switches to the arrival rates of a ground, from the current time on.
    pub(crate) fn renew_sources(&mut self, ground: &Ground, rate: f64, clock: &Clock) {
        let mut sources = of(ground, rate, clock.seed, clock.time());
        for source in &mut sources {
            let before = self.sources.iter().find(|before| before.key == source.key);
            if let Some(before) = before {
                source.continue_from(before);
            }
        }
        self.sources = sources;
    }
}
