//! People on foot: who comes to crossings, waits, and walks over them.
//!
//! ```text
//!      kerb |  lane   |  lane   | kerb       A person (o) on the carriageway keeps the lane that is
//!           |    ^    |    :    |            ahead of him free of vehicles that are not let in yet, and
//!    o ---> |    :    |    v    |            waits before a lane that a vehicle has been let into.
//! ```
//!
//! Vehicles and people exclude each other as vehicles do: in an order that is settled when somebody
//! starts. A vehicle is let into a junction only if nobody on foot is, or soon will be, where it drives
//! over a crossing; from then on it waits for nobody on foot. Who walks waits for those who have been let
//! in, and for nobody else. So neither waits for the other in a circle.
//!
//! At a zebra people go first: who comes to it keeps vehicles from being let in, and those who have been
//! let in, have not entered and can still stop lose their turn. Two rules end every wait:
//! a vehicle that people have kept for [`PATIENCE_OF_DRIVERS`] goes before who comes after, and people
//! of whom one has waited for [`PATIENCE`] go before all vehicles that can still stop.
//! At signals people walk in the stages in which what they cross is red (`walk_stages`).
//!
//! # Parts
//!
//! `sources.rs` says who comes when, `walk.rs` when they wait and how they walk; how vehicles look at
//! them is in `traffic/claims/on_foot.rs`. People whose crossing an edit has taken away finish their way
//! (`strays.rs`).

mod sources;
mod strays;
mod walk;

use crate::clock::Clock;
use crate::ground::{CrossingSite, Ground};
use crate::records::{PeopleCounts, PersonRecord, are_countable};
use roadwright_geometry::DVec2;
use roadwright_scenario::junction::Interval;
use roadwright_scenario::{NodeId, RoadId};
use serde::{Deserialize, Serialize};
use sources::Source;
pub(crate) use strays::Roadside;
use strays::Stray;
use thiserror::Error;
pub(crate) use walk::Over;
use walk::Seen;

/// Radius of the space that a person takes, m: shoulders are 0.6 m wide.
pub const RADIUS: f64 = 0.3;
/// People stand so far before a kerb, m.
const BEFORE_KERB: f64 = 0.4;
/// They come from so far before it, m: drivers heed them two seconds before they are there.
const COMES_FROM: f64 = 2.4;
/// They are gone so far beyond the other kerb, m.
const GOES_TO: f64 = 1.0;
/// A vehicle that people have kept for so long is let in before people who have not started, s.
pub(super) const PATIENCE_OF_DRIVERS: f64 = 20.0;
/// Who has waited for so long at a zebra goes before all vehicles that can still stop, s. Those that
/// cannot have left the junction long before he has waited for a minute.
pub(super) const PATIENCE: f64 = 25.0;
/// People at one crossing at once at most: more find no room to stand.
const MOST_AT_CROSSING: usize = 200;

/// People on foot, a column for each concern; in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct People {
    id: Vec<u64>,
    /// Number of the crossing in the ground.
    crossing: Vec<u32>,
    /// Whether they come from the right kerb, seen outward from the junction.
    is_from_right: Vec<bool>,
    /// How far they are from the kerb that they have come from, m; negative before it.
    along: Vec<f64>,
    /// How far they walk beside the middle of the strip, m.
    beside: Vec<f64>,
    /// Since when they wait, s; infinite while they walk.
    since: Vec<f64>,
    strays: Vec<Stray>,
    sources: Vec<Source>,
    counts: PeopleCounts,
    /// The number of the last one.
    last_id: u64,
    /// What is derived in each step from all that.
    #[serde(skip)]
    seen: Seen,
}

/// Why nobody can be called to a crossing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NoCrossing {
    /// There is none.
    #[error("the junction of node {0} has no crossing; `roadwright junction` lists them")]
    AtNode(u32),
    /// There is none over that road.
    #[error(
        "the junction of node {0} has no crossing over road {1}; `roadwright junction` lists them"
    )]
    OverRoad(u32, u32),
    /// So many wait there that there is no room.
    #[error("too many people are at the crossing of node {0} already")]
    Full(u32),
}

impl People {
    /// Nobody yet; `rate` people an hour will come to each side of the crossings that say nothing else.
    pub(crate) fn new(ground: &Ground, rate: f64, seed: u64) -> Self {
        Self {
            sources: sources::of(ground, rate, seed, 0.0),
            ..Self::default()
        }
    }

    /// Whether nobody is there and nobody will come.
    pub(crate) fn is_over(&self) -> bool {
        self.id.is_empty() && self.strays.is_empty() && self.sources.iter().all(Source::is_dry)
    }

    /// Whether there never was anybody, and nobody will come: then a run is as if people were unknown.
    pub(crate) fn is_untouched(&self) -> bool {
        self.last_id == 0 && self.is_over()
    }

    /// What became of them so far, if anybody has come.
    pub(crate) fn summary(&self) -> Option<PeopleCounts> {
        (self.counts.came > 0).then_some(self.counts)
    }

    /// Lets somebody come to a crossing of the junction of a node: over a road, or over the first arm
    /// that has one. The side is the one to which fewer have come. Returns the number of the person.
    ///
    /// # Errors
    /// If there is no such crossing, or no room at it.
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
        let junction = ground.roads.junction_of(node).ok_or_else(none)?;
        let sites = ground.crossings().sites();
        let mut numbers = ground.crossings().of_junction(junction);
        let is_meant = |number: &u32| {
            let over = sites[*number as usize].crossing.road;
            road.is_none_or(|road| over == road)
        };
        let crossing = numbers.find(is_meant).ok_or_else(none)?;
        let own = (0..self.id.len()).filter(|&i| self.crossing[i] == crossing);
        let from_right = own.clone().filter(|&i| self.is_from_right[i]).count();
        // To the side that has fewer: of those who are there not more than half come from the right.
        let is_from_right = 2 * from_right <= own.count();
        self.come(crossing, is_from_right, &sites[crossing as usize])
            .ok_or(NoCrossing::Full(node.0))
    }

    /// Lets somebody come; `None` if there is no room.
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
        Some(id)
    }

    /// Goes over to the ground after an edit. Whose crossing is as it was goes on; whose crossing is gone
    /// or elsewhere finishes his way, or goes away if he has not set off.
    pub(crate) fn take_over(&mut self, before: &Ground, after: &Ground, rate: f64, clock: &Clock) {
        let (old, new) = (before.crossings().sites(), after.crossings().sites());
        // By where it lies: an edit gives crossings other numbers.
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
            // Who stands before the kerb goes away; who is beyond the other one is there.
            if self.along[person] > 0.0 && self.along[person] < site.crossing.length {
                let place = self.place(person, site);
                let end = self.end(person, site);
                self.strays.push(Stray::new(self.id[person], place, end));
            }
        }
        self.keep(&stays);
        // What was derived is of the old ground.
        self.seen = Seen::default();
        self.renew_sources(after, rate, clock);
    }

    /// Where a person will be beyond the other kerb, m.
    fn end(&self, person: usize, site: &CrossingSite) -> DVec2 {
        let crossing = &site.crossing;
        let across = if self.is_from_right[person] {
            crossing.length + GOES_TO
        } else {
            -GOES_TO
        };
        crossing.right_kerb.point(self.beside[person], across)
    }

    /// Takes out those for whom `stays` does not hold.
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
    }

    /// Where a person is, m.
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

    /// All people, in the order of their numbers.
    pub(crate) fn records(&self, ground: &Ground) -> Vec<PersonRecord> {
        let sites = ground.crossings().sites();
        let walkers = (0..self.id.len()).map(|person| {
            let site = &sites[self.crossing[person] as usize];
            let left = site.crossing.right_kerb.left();
            let ahead = if self.is_from_right[person] {
                left
            } else {
                -left
            };
            PersonRecord {
                id: self.id[person],
                position: self.place(person, site),
                heading: roadwright_geometry::heading_of(ahead),
                waits: self.since[person].is_finite(),
            }
        });
        // Strays keep the numbers that they had on the crossing.
        let mut all: Vec<_> = walkers
            .chain(self.strays.iter().map(Stray::record))
            .collect();
        all.sort_by_key(|person| person.id);
        all
    }

    /// Whether all columns are of one length, and all that they say can be on a ground: for saves.
    pub(crate) fn fits(&self, ground: &Ground, clock: &Clock) -> bool {
        let sites = ground.crossings().sites();
        let n = self.id.len();
        let lengths = [
            self.crossing.len(),
            self.is_from_right.len(),
            self.along.len(),
            self.beside.len(),
            self.since.len(),
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
            && self.strays.iter().all(Stray::is_sound)
    }
}

/// How far beside the middle of the strip a person walks, m: to the right of who comes the other way,
/// and not all in one line.
fn lane_for(id: u64, is_from_right: bool, width: f64) -> f64 {
    let free = (0.5 * width - RADIUS - 0.1).max(0.0);
    // Five lines from the middle of the strip outwards, at 0.15 to 0.95 of what is free.
    let share = 0.15 + 0.2 * (id / 2 % 5) as f64;
    // Outward of the strip is to the right of who walks from the right kerb to the left one.
    let side = if is_from_right { 1.0 } else { -1.0 };
    side * free * share.min(1.0)
}

/// Whether two places on the way across overlap.
fn overlap(a: Interval, b: Interval) -> bool {
    a.from < b.to && b.from < a.to
}
