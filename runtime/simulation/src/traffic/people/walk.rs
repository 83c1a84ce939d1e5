//! Waiting and walking of pedestrians.

use super::{BEFORE_KERB, GAIT, GOES_TO, PATIENCE, PATIENCE_OF_DRIVERS, People, RADIUS, overlap};
use crate::clock::Clock;
use crate::traffic::SignalStates;
use roadwright_geometry::DVec2;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_ground::{CrossingSite, Ground};
use roadwright_scenario::JunctionIndex;
use roadwright_scenario::junction::{Interval, WALK_WINDOW, WALKING_SPEED};
use roadwright_vehicle::gait::OnLine;

/// Pedestrians who stop for a vehicle stop at this distance before its lane, m.
const BEFORE_LANE: f64 = 0.2;
/// Pedestrians stop at this distance before a stationary obstacle, m.
const BEFORE_STANDING: f64 = 0.2;
/// Difference below which two positions count as equal, m.
const NEAR: f64 = 1e-6;

/// The part of a crossing that is occupied by a vehicle that has been let in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Over {
    /// Interval across the carriageway that the vehicle covers, m from the right kerb.
    pub(crate) across: Interval,
    /// Time until the vehicle's rear has left the crossing, s.
    pub(crate) leaves: f64,
}

/// Data about pedestrians that is derived in each step.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// Indices of the pedestrians at each crossing.
    by_crossing: Vec<Vec<u32>>,
    /// Whether each pedestrian is ready to walk as soon as vehicles allow it.
    wants: Vec<bool>,
    /// Whether any pedestrian at each crossing has waited so long that vehicles have to wait for
    /// it.
    is_locked: Vec<bool>,
    /// Crossings with at least one pedestrian.
    busy: Vec<u32>,
    /// Obstacles outside lane traffic, with the road layers that they are on.
    standing: Vec<(OrientedBox, u32)>,
}

// Derived data always compares as equal, so that leftovers of earlier steps do not make states
// differ.
impl PartialEq for Seen {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Progress of a pedestrian along a crossing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    /// The pedestrian is on the way to, or at, the waiting place before this section of the
    /// crossing. The interval is in metres from the kerb where the pedestrian started.
    Before(Interval),
    /// The pedestrian is on this section of the crossing.
    On(Interval),
    /// The pedestrian is beyond all sections.
    Over,
}

impl People {
    /// Whether any pedestrian is at a crossing. O(1).
    #[inline]
    pub(crate) fn are_at(&self, crossing: u32) -> bool {
        let list = self.seen.by_crossing.get(crossing as usize);
        list.is_some_and(|list| !list.is_empty())
    }

    /// The crossings with pedestrians, in order.
    pub(crate) fn busy(&self) -> &[u32] {
        &self.seen.busy
    }

    /// Collects the pedestrians at each crossing.
    pub(crate) fn gather(&mut self, ground: &Ground) {
        let seen = &mut self.seen;
        let sites = ground.crossings().sites();
        // Most worlds have no pedestrians, and do not need the pass over the thousands of crossings
        // of a city.
        let is_empty = self.id.is_empty() && seen.busy.is_empty();
        if is_empty && seen.by_crossing.len() == sites.len() {
            return;
        }
        seen.by_crossing.iter_mut().for_each(Vec::clear);
        seen.by_crossing.resize(sites.len(), Vec::new());
        for (person, &crossing) in (0u32..).zip(&self.crossing) {
            seen.by_crossing[crossing as usize].push(person);
        }
        let with_people = (0u32..).zip(&seen.by_crossing);
        let with_people = with_people.filter(|(_, list)| !list.is_empty());
        seen.busy.clear();
        seen.busy.extend(with_people.map(|(crossing, _)| crossing));
        seen.wants.clear();
        seen.wants.resize(self.id.len(), false);
        seen.is_locked.clear();
        seen.is_locked.resize(sites.len(), false);
    }

    /// Decides which pedestrians want to walk. Must be called after [`People::gather`]. For each
    /// busy crossing, `kept` contains the longest time that a vehicle has waited for pedestrians
    /// there, s.
    pub(crate) fn decide(
        &mut self,
        clock: &Clock,
        ground: &Ground,
        signals: &SignalStates,
        kept: &[f64],
    ) {
        let mut seen = std::mem::take(&mut self.seen);
        let sites = ground.crossings().sites();
        let time = clock.time();
        for (&crossing, &kept) in seen.busy.iter().zip(kept) {
            let site = &sites[crossing as usize];
            let own = &seen.by_crossing[crossing as usize];
            // `since` is infinite for walking pedestrians, so their wait is 0.
            let wait = |&person: &u32| (time - self.since[person as usize]).max(0.0);
            let longest = own.iter().map(wait).fold(0.0, f64::max);
            let (may_walk, is_locked) = match site.walk_stages {
                None => {
                    let is_locked = longest >= PATIENCE;
                    (is_locked || kept < PATIENCE_OF_DRIVERS, is_locked)
                }
                Some(stages) => {
                    let walk = signals.walk(ground, site.junction, stages, time);
                    let needed = site.crossing.longest_stretch() / WALKING_SPEED;
                    // After the first seconds of a stage, pedestrians start only if this delays no
                    // one: no vehicle would have to wait for them, and no vehicle or pedestrian
                    // waits for another stage.
                    let may = walk.is_some_and(|walk| {
                        let is_early = walk.elapsed <= WALK_WINDOW;
                        walk.left >= needed && (is_early || (kept == 0.0 && !walk.is_opposed))
                    });
                    (may, false)
                }
            };
            seen.is_locked[crossing as usize] = is_locked;
            for &person in own {
                let index = person as usize;
                // A pedestrian who is blocked by an obstacle does not start, and does not keep vehicles
                // waiting.
                let wants = match self.stage(index, site) {
                    Stage::Before(stretch) => {
                        may_walk && !self.is_blocked(index, site, stretch, &seen.standing)
                    }
                    Stage::On(_) | Stage::Over => false,
                };
                seen.wants[index] = wants;
            }
        }
        self.seen = seen;
    }

    /// Returns the signalled junctions where pedestrians wait, with the stages that they wait for,
    /// one bit per stage.
    pub(crate) fn calls<'a>(
        &'a self,
        ground: &'a Ground,
    ) -> impl Iterator<Item = (JunctionIndex, u32)> + 'a {
        let sites = ground.crossings().sites();
        let busy = self.seen.busy.iter();
        busy.filter_map(move |&crossing| {
            let site = &sites[crossing as usize];
            let own = &self.seen.by_crossing[crossing as usize];
            let waits = |person: &&u32| self.since[**person as usize].is_finite();
            own.iter().find(waits)?;
            Some((site.junction, site.walk_stages?))
        })
    }

    /// Whether a pedestrian at a crossing is, or soon will be, in the path of the vehicle described
    /// by `over`. `slack` is the time that has to pass between the two, s.
    pub(crate) fn are_in_the_way(
        &self,
        crossing: u32,
        site: &CrossingSite,
        over: Over,
        slack: f64,
    ) -> bool {
        let people = &self.seen.by_crossing[crossing as usize];
        let is_locked = self.seen.is_locked[crossing as usize];
        people.iter().any(|&person| {
            let person = person as usize;
            let across = site.seen_from(over.across, self.is_from_right[person]);
            let along = self.along[person];
            if along - RADIUS > across.to {
                return false;
            }
            let comes = (across.from - RADIUS - BEFORE_LANE - along).max(0.0) / WALKING_SPEED;
            match self.stage(person, site) {
                Stage::Over => false,
                Stage::On(stretch) => overlap(stretch, across) && comes < over.leaves + slack,
                Stage::Before(stretch) => {
                    let wants = self.seen.wants[person] && overlap(stretch, across);
                    // A pedestrian who has waited for a long time keeps vehicles out, however far
                    // away the pedestrian still is.
                    wants && (is_locked || comes < over.leaves + slack)
                }
            }
        })
    }

    /// Sets the stationary obstacles that pedestrians react to.
    pub(crate) fn heed(&mut self, standing: impl Iterator<Item = (OrientedBox, u32)>) {
        self.seen.standing.clear();
        self.seen.standing.extend(standing);
    }

    /// Position along a pedestrian's path where the next obstacle begins, m; infinite if there is
    /// none. A pedestrian who is already inside an obstacle may walk out of it.
    fn wall(&self, person: usize, site: &CrossingSite, standing: &[(OrientedBox, u32)]) -> f64 {
        let along = self.along[person];
        let left = site.crossing.right_kerb.left();
        let way = if self.is_from_right[person] {
            left
        } else {
            -left
        };
        let place = self.place(person, site);
        let own = standing.iter().filter(|(_, on)| on & site.layers != 0);
        let walls = own.filter_map(|(body, _)| enters(body, place, way));
        walls.fold(f64::INFINITY, |first, ahead| first.min(along + ahead))
    }

    /// Whether an obstacle is on a section of a pedestrian's path or before it.
    fn is_blocked(
        &self,
        person: usize,
        site: &CrossingSite,
        stretch: Interval,
        standing: &[(OrientedBox, u32)],
    ) -> bool {
        !standing.is_empty() && self.wall(person, site, standing) < stretch.to + RADIUS
    }

    /// Returns the position that a pedestrian can reach before the next obstacle, m along the
    /// pedestrian's path; at most the given position.
    fn before_standing(
        &self,
        person: usize,
        site: &CrossingSite,
        wanted: f64,
        standing: &[(OrientedBox, u32)],
    ) -> f64 {
        if standing.is_empty() {
            return wanted;
        }
        wanted.min(self.wall(person, site, standing).max(self.along[person]))
    }

    fn stage(&self, person: usize, site: &CrossingSite) -> Stage {
        let along = self.along[person];
        for stretch in site.stretches(self.is_from_right[person]) {
            if along <= stretch.from - BEFORE_KERB + NEAR {
                return Stage::Before(stretch);
            }
            if along < stretch.to + RADIUS {
                return Stage::On(stretch);
            }
        }
        Stage::Over
    }

    /// Moves all pedestrians by one step. For each busy crossing, `over` contains the parts that are occupied
    /// by vehicles that have been let in and have not left it.
    pub(crate) fn walk(&mut self, clock: &Clock, ground: &Ground, over: &[Vec<Over>]) {
        let sites = ground.crossings().sites();
        let busy = std::mem::take(&mut self.seen.busy);
        for (&crossing, vehicles) in busy.iter().zip(over) {
            let site = &sites[crossing as usize];
            let people = std::mem::take(&mut self.seen.by_crossing[crossing as usize]);
            for &person in &people {
                self.step(person as usize, site, vehicles, clock);
            }
            self.seen.by_crossing[crossing as usize] = people;
        }
        self.seen.busy = busy;
        if self.leave(sites) {
            // The indices of the remaining pedestrians have changed.
            self.gather(ground);
        }
    }

    /// Moves one pedestrian by one step.
    fn step(&mut self, person: usize, site: &CrossingSite, vehicles: &[Over], clock: &Clock) {
        let along = self.along[person];
        let wanted = along + WALKING_SPEED * clock.dt;
        let reached = match self.stage(person, site) {
            Stage::Over => wanted,
            Stage::On(stretch) => self.held(person, site, stretch, vehicles, wanted),
            Stage::Before(stretch) => {
                let wait_at = stretch.from - BEFORE_KERB;
                let is_there = wanted >= wait_at;
                if is_there && self.may_start(person, site, stretch, vehicles) {
                    // Slightly beyond the waiting place, so that the pedestrian counts as walking.
                    wanted.max(wait_at + 2.0 * NEAR)
                } else {
                    wanted.min(wait_at)
                }
            }
        };
        let reached = self.before_standing(person, site, reached, &self.seen.standing);
        let moved = (reached - along).max(0.0);
        self.along[person] = along + moved;
        self.counts.walked_metres += moved;
        let steps = &mut self.steps[person];
        if moved >= NEAR {
            if steps.stands() {
                let time = clock.time();
                steps.go_on(OnLine { along, time }, &GAIT);
            }
            self.since[person] = f64::INFINITY;
            return;
        }
        steps.halt(clock.time());
        if !matches!(self.stage(person, site), Stage::Before(_)) {
            self.since[person] = f64::INFINITY;
        } else if self.since[person].is_infinite() {
            self.since[person] = clock.time();
        } else {
            let waited = clock.time() + clock.dt - self.since[person];
            self.counts.longest_wait = self.counts.longest_wait.max(waited);
        }
    }

    /// Whether a pedestrian before a section may start. The pedestrian has to be ready to walk, and
    /// each lane must be clear of admitted vehicles by the time the pedestrian gets there.
    fn may_start(
        &self,
        person: usize,
        site: &CrossingSite,
        stretch: Interval,
        vehicles: &[Over],
    ) -> bool {
        let is_free = |vehicle: &Over| {
            let across = site.seen_from(vehicle.across, self.is_from_right[person]);
            let way = across.from - RADIUS - BEFORE_LANE - self.along[person];
            !overlap(stretch, across) || vehicle.leaves < way / WALKING_SPEED
        };
        self.seen.wants[person] && vehicles.iter().all(is_free)
    }

    /// Returns the position up to which a pedestrian on a section may walk, m. The pedestrian may
    /// not enter a lane that a vehicle has been let into.
    fn held(
        &self,
        person: usize,
        site: &CrossingSite,
        stretch: Interval,
        vehicles: &[Over],
        wanted: f64,
    ) -> f64 {
        let along = self.along[person];
        let lanes = vehicles.iter().map(|vehicle| {
            let across = site.seen_from(vehicle.across, self.is_from_right[person]);
            (across, across.from - RADIUS - BEFORE_LANE)
        });
        // A pedestrian who is already in the lane leaves it. This is safe, because no more vehicles
        // are let in.
        let ahead =
            lanes.filter(|&(across, edge)| overlap(stretch, across) && along <= edge + NEAR);
        ahead.fold(wanted, |reached, (_, edge)| reached.min(edge.max(along)))
    }

    /// Removes pedestrians who have reached the other side. Returns whether there were any.
    fn leave(&mut self, sites: &[CrossingSite]) -> bool {
        let there = |person: usize| {
            let crossing = &sites[self.crossing[person] as usize].crossing;
            self.along[person] >= crossing.length + GOES_TO
        };
        let gone = (0..self.id.len()).filter(|&person| there(person)).count();
        if gone > 0 {
            let stays: Vec<bool> = (0..self.id.len()).map(|person| !there(person)).collect();
            self.counts.arrived += gone as u64;
            self.keep(&stays);
        }
        gone > 0
    }
}

/// Distance that a pedestrian can walk in a direction before meeting a body, m; `None` if the
/// pedestrian passes the body or is already inside it.
fn enters(body: &OrientedBox, place: DVec2, way: DVec2) -> Option<f64> {
    let reach = RADIUS + BEFORE_STANDING;
    let side = body.forward.perp();
    let offset = place - body.centre;
    let (mut first, mut last) = (f64::NEG_INFINITY, f64::INFINITY);
    // Intervals between the two long sides and between the two short sides. Where they overlap, the
    // pedestrian is inside.
    for (axis, half) in [(body.forward, body.half_length), (side, body.half_width)] {
        let (at, speed) = (offset.dot(axis), way.dot(axis));
        let half = half + reach;
        if speed.abs() < NEAR {
            if at.abs() > half {
                return None;
            }
            continue;
        }
        let (a, b) = ((-half - at) / speed, (half - at) / speed);
        first = first.max(a.min(b));
        last = last.min(a.max(b));
    }
    (first < last && first >= -NEAR).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::Pose;

    #[test]
    fn a_way_ends_before_what_stands_on_it() {
        // A body that is 6 m long from west to east and 2 m wide, 5 m to the north.
        let body = OrientedBox::new(Pose::new(0.0, 5.0, 0.0), 6.0, 2.0);
        let reach = RADIUS + BEFORE_STANDING;
        let north = |x: f64, y: f64| enters(&body, DVec2::new(x, y), DVec2::Y);
        let is = |ahead: Option<f64>, exact: f64| {
            assert!(
                ahead.is_some_and(|ahead| (ahead - exact).abs() < 1e-9),
                "{ahead:?}"
            );
        };
        is(north(0.0, 0.0), 4.0 - reach);
        is(north(3.0 + 0.9 * reach, 0.0), 4.0 - reach);
        // The pedestrian is beside the body, beyond it, or inside it.
        assert_eq!(north(3.0 + 1.1 * reach, 0.0), None);
        assert_eq!(north(0.0, 7.0), None);
        assert_eq!(north(0.0, 5.0), None);
        // Exactly at the limit, the body still counts as ahead.
        is(north(0.0, 4.0 - reach), 0.0);
        // The same test with a rotated body.
        let turned = OrientedBox::new(Pose::new(0.0, 5.0, 0.5), 6.0, 2.0);
        let ahead = enters(&turned, DVec2::ZERO, DVec2::Y);
        assert!(
            ahead.is_some_and(|ahead| ahead > 2.0 && ahead < 4.0),
            "{ahead:?}"
        );
    }
}
