//! When people wait and how they walk.

use super::{BEFORE_KERB, GOES_TO, PATIENCE, PATIENCE_OF_DRIVERS, People, RADIUS, overlap};
use crate::clock::Clock;
use crate::ground::{CrossingSite, Ground};
use crate::traffic::SignalStates;
use roadwright_geometry::DVec2;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_scenario::JunctionIndex;
use roadwright_scenario::junction::{Interval, WALK_WINDOW, WALKING_SPEED};

/// People stop so far before a lane that they have to let somebody pass on, m.
const BEFORE_LANE: f64 = 0.2;
/// And so far before what stands on their way, m.
const BEFORE_STANDING: f64 = 0.2;
/// Places that are nearer than this are one, m.
const NEAR: f64 = 1e-6;

/// What a vehicle that has been let in takes of a crossing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Over {
    /// Of the way across, m from the right kerb.
    pub(crate) across: Interval,
    /// In how long its rear will have left the strip, s.
    pub(crate) leaves: f64,
}

/// What is derived of people in each step.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// The people at each crossing.
    by_crossing: Vec<Vec<u32>>,
    /// Of each person whether it is about to walk, if vehicles let it.
    wants: Vec<bool>,
    /// Whether somebody at a crossing has waited for long.
    is_locked: Vec<bool>,
    /// The crossings at which somebody is.
    busy: Vec<u32>,
    /// What stands about and is no lane traffic, and the layers of roads on which it does.
    standing: Vec<(OrientedBox, u32)>,
}

// Derived: people with different leftovers are equal.
impl PartialEq for Seen {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Where a person is on its way across.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    /// Comes to a place to wait, or stands there, before a stretch of the way, m from its kerb.
    Before(Interval),
    /// Is on a stretch.
    On(Interval),
    /// Is beyond all of them.
    Over,
}

impl People {
    /// Whether anybody is at a crossing. O(1).
    #[inline]
    pub(crate) fn are_at(&self, crossing: u32) -> bool {
        let list = self.seen.by_crossing.get(crossing as usize);
        list.is_some_and(|list| !list.is_empty())
    }

    /// The crossings at which somebody is, in their order.
    pub(crate) fn busy(&self) -> &[u32] {
        &self.seen.busy
    }

    /// Looks at who is where.
    pub(crate) fn gather(&mut self, ground: &Ground) {
        let seen = &mut self.seen;
        let sites = ground.crossings().sites();
        // In most worlds there is nobody, and a city has thousands of crossings.
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

    /// Decides who wants to walk, after [`People::gather`]. `kept` says of each busy crossing for how
    /// long the vehicle that people keep longest from driving over it has waited, s.
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
            // Infinite while they walk, which counts as no wait.
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
                    // Later than in the first seconds somebody sets off only if nobody loses by it: no
                    // vehicle is kept by people, and nobody waits for another stage.
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
                // Who finds his way blocked does not set off, and keeps nobody waiting.
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

    /// The stages that people wait for at signals: crossing and stages, one bit each.
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

    /// Whether somebody at a crossing is, or soon will be, where a vehicle drives over it that would
    /// have left the strip in a time, s. `slack` is the time between the two that is wanted, s.
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
                    // Who has waited for long keeps vehicles out however far away they still are.
                    wants && (is_locked || comes < over.leaves + slack)
                }
            }
        })
    }

    /// Where trailers stand that nobody tows, from now on.
    pub(crate) fn heed(&mut self, standing: impl Iterator<Item = (OrientedBox, u32)>) {
        self.seen.standing.clear();
        self.seen.standing.extend(standing);
    }

    /// Where a person comes to what stands on his way ahead, m along it; infinite if nothing does. Who is
    /// in it already walks out of it.
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

    /// Whether something stands on a stretch of a person's way, or on what is before it.
    fn is_blocked(
        &self,
        person: usize,
        site: &CrossingSite,
        stretch: Interval,
        standing: &[(OrientedBox, u32)],
    ) -> bool {
        !standing.is_empty() && self.wall(person, site, standing) < stretch.to + RADIUS
    }

    /// How far a person comes who wants to come to a place, m along his way.
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

    /// Lets everybody walk for a step. `over` says for each busy crossing what vehicles that have been
    /// let in and have not left it take of it.
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
            // Those who are left have other numbers.
            self.gather(ground);
        }
    }

    /// One step of one person.
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
                    // Beyond the place to wait, so that it counts as on its way.
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
        let stands = matches!(self.stage(person, site), Stage::Before(_)) && moved < NEAR;
        if !stands {
            self.since[person] = f64::INFINITY;
        } else if self.since[person].is_infinite() {
            self.since[person] = clock.time();
        } else {
            let waited = clock.time() + clock.dt - self.since[person];
            self.counts.longest_wait = self.counts.longest_wait.max(waited);
        }
    }

    /// Whether a person before a stretch sets off: everybody who has been let in will have left each lane
    /// when it comes there.
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

    /// How far a person on a stretch comes: not into a lane that somebody has been let into.
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
        // Who is in the lane already leaves it: a vehicle is not let in then.
        let ahead =
            lanes.filter(|&(across, edge)| overlap(stretch, across) && along <= edge + NEAR);
        ahead.fold(wanted, |reached, (_, edge)| reached.min(edge.max(along)))
    }

    /// Takes out who has reached the other side; says whether anybody has.
    fn leave(&mut self, sites: &[CrossingSite]) -> bool {
        let there = |person: usize| {
            let crossing = &sites[self.crossing[person] as usize].crossing;
            self.along[person] >= crossing.length + GOES_TO
        };
        let stays: Vec<bool> = (0..self.id.len()).map(|person| !there(person)).collect();
        let gone = stays.iter().filter(|stays| !**stays).count();
        if gone > 0 {
            self.counts.arrived += gone as u64;
            self.keep(&stays);
        }
        gone > 0
    }
}

/// How far ahead on a way a person comes to a body, m; `None` if he passes it or is in it.
fn enters(body: &OrientedBox, place: DVec2, way: DVec2) -> Option<f64> {
    let reach = RADIUS + BEFORE_STANDING;
    let side = body.forward.perp();
    let offset = place - body.centre;
    let (mut first, mut last) = (f64::NEG_INFINITY, f64::INFINITY);
    // Between the two long sides and between the two short ones: where both hold he is in it.
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
        // 6 m long to the east and 2 m wide, 5 m to the north.
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
        // Beside it, beyond it, in it.
        assert_eq!(north(3.0 + 1.1 * reach, 0.0), None);
        assert_eq!(north(0.0, 7.0), None);
        assert_eq!(north(0.0, 5.0), None);
        // He stands before it to the bit: it stays ahead.
        is(north(0.0, 4.0 - reach), 0.0);
        // Askew.
        let turned = OrientedBox::new(Pose::new(0.0, 5.0, 0.5), 6.0, 2.0);
        let ahead = enters(&turned, DVec2::ZERO, DVec2::Y);
        assert!(
            ahead.is_some_and(|ahead| ahead > 2.0 && ahead < 4.0),
            "{ahead:?}"
        );
    }
}
