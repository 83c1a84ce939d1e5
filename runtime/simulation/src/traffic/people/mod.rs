//! Pedestrians, who arrive at crossings, wait, and walk across.
//!
//! ```text
//!      kerb |  lane   |  lane   | kerb       A pedestrian (o) on the carriageway keeps the lane
//!           |    ^    |    :    |            ahead free of vehicles that are not let in yet, and
//!    o ---> |    :    |    v    |            waits before a lane that a vehicle has been let into.
//! ```
//!
//! Vehicles and pedestrians take turns as vehicles do among themselves, in an order that is fixed
//! when one of them starts. A vehicle is let into a junction only if no pedestrian is, or soon will
//! be, where it drives over a crossing. From then on, it does not wait for pedestrians. A walking
//! pedestrian waits only for vehicles that have been let in. Therefore vehicles and pedestrians
//! never wait for each other in a circle.
//!
//! At a zebra crossing, pedestrians go first. When a pedestrian arrives, no more vehicles are let
//! in. Vehicles that have been let in lose their turn if they have not entered and can still stop.
//! Two rules limit every wait. After a vehicle has waited for pedestrians for
//! [`PATIENCE_OF_DRIVERS`], it goes ahead of pedestrians that arrive later. After a pedestrian has
//! waited for [`PATIENCE`], all pedestrians there go ahead of every vehicle that can still stop. At
//! signals, pedestrians walk in the stages in which the lanes that they cross have red
//! (`walk_stages`).
//!
//! # Parts
//!
//! `sources.rs` determines when pedestrians arrive, and `walk.rs` when they wait and how they walk.
//! The reactions of vehicles are in `traffic/claims/on_foot.rs`. Pedestrians whose crossing is
//! removed by an edit still walk to the other side (`strays.rs`). The positions of their feet are
//! only computed for snapshots (`figures.rs`).

mod figures;
mod sources;
mod strays;
mod walk;

use crate::clock::Clock;
use crate::records::{FARTHEST, PeopleCounts, PersonRecord, are_countable};
use figures::GAIT;
use roadwright_geometry::DVec2;
use roadwright_ground::{CrossingSite, Ground};
use roadwright_scenario::junction::Interval;
use roadwright_scenario::{NodeId, RoadId, VehicleType};
use roadwright_vehicle::gait::LineSteps;
use serde::{Deserialize, Serialize};
use sources::Source;
pub(crate) use strays::Roadside;
use strays::Stray;
use thiserror::Error;
pub(crate) use walk::Over;
use walk::Seen;

/// Distance that pedestrians keep between their bodies and everything else, m.
const CLEARANCE: f64 = 0.075;
/// Radius of the space that a pedestrian needs, m: the body of a character plus the clearance.
pub const RADIUS: f64 = 0.5 * VehicleType::PERSON_DIAMETER + CLEARANCE;
/// Pedestrians wait at this distance from the kerb, m.
const BEFORE_KERB: f64 = 0.4;
/// Pedestrians appear at this distance from the kerb, m. Drivers see them two seconds before they
/// reach the kerb.
const COMES_FROM: f64 = 2.4;
/// Pedestrians disappear at this distance beyond the other kerb, m.
const GOES_TO: f64 = 1.0;
/// A vehicle that has waited for this time is let in ahead of pedestrians that have not started to
/// cross, s.
pub(super) const PATIENCE_OF_DRIVERS: f64 = 20.0;
/// Pedestrians who have waited at a zebra crossing for this time go ahead of every vehicle that can
/// still stop, s. Vehicles that cannot stop leave the junction long before the wait reaches one
/// minute.
pub(super) const PATIENCE: f64 = 25.0;
/// Maximum number of pedestrians at one crossing. There is no space for more.
const MOST_AT_CROSSING: usize = 200;

/// Pedestrians in order of arrival, with one column per property.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct People {
    id: Vec<u64>,
    /// Index of each pedestrian's crossing in the ground.
    crossing: Vec<u32>,
    /// Whether each pedestrian comes from the right kerb, as seen when looking outward from the
    /// junction.
    is_from_right: Vec<bool>,
    /// Position of each pedestrian along the crossing, m from the kerb where it starts; negative
    /// before the kerb.
    along: Vec<f64>,
    /// Lateral offset of each pedestrian from the middle of the crossing, m.
    beside: Vec<f64>,
    /// Time at which each pedestrian began to wait, s; infinite while walking.
    since: Vec<f64>,
    /// Steps of each pedestrian, for computing the feet. They only affect rendering, so the state
    /// hash leaves them out, and saves store them separately.
    #[serde(skip)]
    steps: Vec<LineSteps>,
    strays: Vec<Stray>,
    sources: Vec<Source>,
    counts: PeopleCounts,
    /// Number of the pedestrian that was added last.
    last_id: u64,
    /// Data derived from the columns above in each step.
    #[serde(skip)]
    seen: Seen,
}

/// Reasons why no pedestrian can be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NoCrossing {
    /// The junction has no crossing.
    #[error("the junction of node {0} has no crossing; `roadwright junction` lists them")]
    AtNode(u32),
    /// The junction has no crossing over that road.
    #[error(
        "the junction of node {0} has no crossing over road {1}; `roadwright junction` lists them"
    )]
    OverRoad(u32, u32),
    /// There is no space for more pedestrians at the crossing.
    #[error("there are already too many pedestrians at the crossing of node {0}")]
    Full(u32),
}

impl People {
    /// Creates the state without pedestrians. `rate` is the number of pedestrians per hour that
    /// arrive on each side of a crossing, unless the crossing has its own rate.
    pub(crate) fn new(ground: &Ground, rate: f64, seed: u64) -> Self {
        Self {
            sources: sources::of(ground, rate, seed, 0.0),
            ..Self::default()
        }
    }

    /// Whether there are no pedestrians left and none will arrive.
    pub(crate) fn is_over(&self) -> bool {
        self.id.is_empty() && self.strays.is_empty() && self.sources.iter().all(Source::is_dry)
    }

    /// Whether there have never been any pedestrians and none will arrive. Such a run has the same
    /// results as a version of the program without pedestrians.
    pub(crate) fn is_untouched(&self) -> bool {
        self.last_id == 0 && self.is_over()
    }

    /// Statistics of pedestrians so far; `None` if none have arrived.
    pub(crate) fn summary(&self) -> Option<PeopleCounts> {
        (self.counts.came > 0).then_some(self.counts)
    }

    /// Adds a pedestrian at a crossing of the junction at a node. The crossing leads over the given
    /// road or, without a road, over the first arm that has a crossing. The pedestrian starts on
    /// the side with fewer pedestrians. Returns the pedestrian's number.
    ///
    /// # Errors
    /// If there is no such crossing, or no space at the crossing.
    pub(crate) fn call(
        &mut self,
        ground: &Ground,
        node: NodeId,
        road: Option<RoadId>,
    ) -> Result<u64, NoCrossing> {
        let none = || match road {
            None => NoCrossing::AtNode(node.0),
            Some(road) => NoCrossing::OverRoad(node.0, road.0),
        };
        let junction = ground.junction_of(node).ok_or_else(none)?;
        let sites = ground.crossings().sites();
        let mut numbers = ground.crossings().of_junction(junction);
        let is_meant = |number: &u32| {
            let over = sites[*number as usize].crossing.road;
            road.is_none_or(|road| over == road)
        };
        let crossing = numbers.find(is_meant).ok_or_else(none)?;
        let own = (0..self.id.len()).filter(|&i| self.crossing[i] == crossing);
        let from_right = own.clone().filter(|&i| self.is_from_right[i]).count();
        // If at most half of the pedestrians present come from the right, the right is the side
        // with fewer pedestrians.
        let is_from_right = 2 * from_right <= own.count();
        self.come(crossing, is_from_right, &sites[crossing as usize])
            .ok_or(NoCrossing::Full(node.0))
    }

    /// Adds a pedestrian; `None` if there is no space.
    fn come(&mut self, crossing: u32, is_from_right: bool, site: &CrossingSite) -> Option<u64> {
        let there = self.crossing.iter().filter(|other| **other == crossing);
        if there.count() >= MOST_AT_CROSSING {
            self.counts.turned_away += 1;
            return None;
        }
        self.last_id += 1;
        let id = self.last_id;
        self.counts.came += 1;
        self.id.push(id);
        self.crossing.push(crossing);
        self.is_from_right.push(is_from_right);
        self.along.push(-COMES_FROM);
        self.beside
            .push(lane_for(id, is_from_right, site.crossing.width));
        self.since.push(f64::INFINITY);
        self.steps.push(LineSteps::begin(-COMES_FROM, &GAIT));
        Some(id)
    }

    /// Updates pedestrians for the ground after an edit. Pedestrians at an unchanged crossing
    /// continue. If a crossing was removed or moved, pedestrians on it walk to the other side, and
    /// pedestrians that have not started disappear.
    pub(crate) fn take_over(&mut self, before: &Ground, after: &Ground, rate: f64, clock: &Clock) {
        let (old, new) = (before.crossings().sites(), after.crossings().sites());
        // Crossings are matched by position, because an edit changes their indices.
        let is_same = |a: &CrossingSite, b: &CrossingSite| {
            let (a, b) = (&a.crossing, &b.crossing);
            (a.road, a.end, a.right_kerb, a.length, a.width)
                == (b.road, b.end, b.right_kerb, b.length, b.width)
                && a.islands == b.islands
        };
        let moved: Vec<Option<usize>> = old
            .iter()
            .map(|site| new.iter().position(|other| is_same(site, other)))
            .collect();
        let mut stays = vec![true; self.id.len()];
        for (person, stays) in stays.iter_mut().enumerate() {
            let crossing = self.crossing[person] as usize;
            if let Some(number) = moved[crossing] {
                self.crossing[person] = number as u32;
                continue;
            }
            *stays = false;
            let site = &old[crossing];
            // Pedestrians before the kerb disappear. Pedestrians beyond the other kerb have already
            // arrived.
            if self.along[person] > 0.0 && self.along[person] < site.crossing.length {
                let place = self.place(person, site);
                let end = self.end(person, site);
                let (along, steps) = (self.along[person], self.steps[person]);
                let stray = Stray::new(self.id[person], place, end);
                self.strays.push(stray.with_steps(along, steps));
            }
        }
        self.keep(&stays);
        // The derived data belongs to the old ground.
        self.seen = Seen::default();
        self.renew_sources(after, rate, clock);
    }

    /// Position beyond the other kerb where a pedestrian disappears, m.
    fn end(&self, person: usize, site: &CrossingSite) -> DVec2 {
        let crossing = &site.crossing;
        let across = if self.is_from_right[person] {
            crossing.length + GOES_TO
        } else {
            -GOES_TO
        };
        crossing.right_kerb.point(self.beside[person], across)
    }

    /// Removes the pedestrians for whom `stays` is `false`.
    fn keep(&mut self, stays: &[bool]) {
        fn retain<T>(column: &mut Vec<T>, stays: &[bool]) {
            let mut stays = stays.iter();
            column.retain(|_| *stays.next().unwrap_or(&true));
        }
        retain(&mut self.id, stays);
        retain(&mut self.crossing, stays);
        retain(&mut self.is_from_right, stays);
        retain(&mut self.along, stays);
        retain(&mut self.beside, stays);
        retain(&mut self.since, stays);
        retain(&mut self.steps, stays);
    }

    /// Position of a pedestrian, m.
    fn place(&self, person: usize, site: &CrossingSite) -> DVec2 {
        let crossing = &site.crossing;
        let along = self.along[person];
        let across = if self.is_from_right[person] {
            along
        } else {
            crossing.length - along
        };
        crossing.right_kerb.point(self.beside[person], across)
    }

    /// Heading of a pedestrian, rad.
    fn heading(&self, person: usize, site: &CrossingSite) -> f64 {
        let left = site.crossing.right_kerb.left();
        roadwright_geometry::heading_of(match self.is_from_right[person] {
            true => left,
            false => -left,
        })
    }

    /// All pedestrians, in the order of their numbers.
    pub(crate) fn records(&self, ground: &Ground) -> Vec<PersonRecord> {
        let sites = ground.crossings().sites();
        let walkers = (0..self.id.len()).map(|person| {
            let site = &sites[self.crossing[person] as usize];
            PersonRecord {
                id: self.id[person],
                position: self.place(person, site),
                heading: self.heading(person, site),
                waits: self.since[person].is_finite(),
            }
        });
        // Stray pedestrians keep the numbers that they had on the crossing.
        let mut all: Vec<_> = walkers
            .chain(self.strays.iter().map(Stray::record))
            .collect();
        all.sort_by_key(|person| person.id);
        all
    }

    /// Whether the data of a save is valid: all columns must have the same length, and their values
    /// must match the ground.
    pub(crate) fn fits(&self, ground: &Ground, clock: &Clock) -> bool {
        let sites = ground.crossings().sites();
        let n = self.id.len();
        let lengths = [
            self.crossing.len(),
            self.is_from_right.len(),
            self.along.len(),
            self.beside.len(),
            self.since.len(),
            self.steps.len(),
        ];
        let PeopleCounts {
            came,
            arrived,
            turned_away,
            ..
        } = self.counts;
        lengths.iter().all(|length| *length == n)
            && are_countable([came, arrived, turned_away, self.last_id])
            && self.sources.len() == 2 * sites.len()
            && self.sources.iter().all(|source| source.is_sound(clock))
            && self.crossing.iter().all(|c| (*c as usize) < sites.len())
            && self.along.iter().chain(&self.beside).all(|v| v.is_finite())
            && self.since.iter().all(|since| !since.is_nan())
            && self.steps.iter().all(|steps| steps.is_sound(FARTHEST))
            && self.strays.iter().all(Stray::is_sound)
    }
}

/// Lateral offset of a pedestrian from the middle of the crossing, m. Pedestrians keep to the
/// right, but spread over several lines.
fn lane_for(id: u64, is_from_right: bool, width: f64) -> f64 {
    let free = (0.5 * width - RADIUS - 0.1).max(0.0);
    // There are five lines, at 0.15 to 0.95 of the free width from the middle of the crossing.
    let share = 0.15 + 0.2 * (id / 2 % 5) as f64;
    // The side away from the junction is on the right of a pedestrian who walks from the right kerb to the
    // left.
    let side = if is_from_right { 1.0 } else { -1.0 };
    side * free * share.min(1.0)
}

/// Whether two intervals across the carriageway overlap.
fn overlap(a: Interval, b: Interval) -> bool {
    a.from < b.to && b.from < a.to
}
