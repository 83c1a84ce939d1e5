//! The plan of a junction's traffic signals: what has green when.
//!
//! The lanes of an arm have green together; lanes that only turn across the oncoming traffic are
//! apart, and get a stage of their own where the oncoming road has several lanes or is fast.
//!
//! ```text
//!   stage 0            | stage 1            | stage 0 again
//!   green     amber red| green     amber red| green
//!   |---------|----|---|---------|----|---|-|--------> time
//!   offset                                  offset + cycle
//! ```
//!
//! Amber is as long as drivers need who cannot stop any more: `1 s + v / (2 * 3.05 m/s^2)`, at
//! least 3 s ([ITE 1999], for level ground). Then all is red until the last one has left
//! the place where the first one of the next stage meets it.

use super::right_of_way::Arms;
use super::{Conflicts, Junction};
use crate::ids::RoadId;
use crate::junction_rules::{Control, SignalMode};
use crate::road::RoadEnd;
use roadwright_geometry::math::atan2;
use roadwright_geometry::unit;

/// Time from one start of the first stage to the next where nothing else is decided, s.
pub const DEFAULT_CYCLE: f64 = 60.0;
/// What each stage beyond the second adds to it, s.
const CYCLE_PER_STAGE: f64 = 20.0;
/// Shortest time of green, s.
const MIN_GREEN: f64 = 6.0;
/// Time in which people cross where a junction is nothing but a crossing, s.
const WALK: f64 = 10.0;
/// Oncoming traffic that is faster is not turned across without a stage of one's own, m/s.
const FAST: f64 = 70.0 / 3.6;
/// Reaction time and braking behind the time of amber, s and m/s^2.
const REACTION: f64 = 1.0;
const BRAKING: f64 = 3.05;
const AMBER: std::ops::RangeInclusive<f64> = 3.0..=6.0;
/// Who leaves last drives so much of what is allowed, but so fast at least, m/s, and is so long, m.
const LEAVING_SHARE: f64 = 0.8;
const LEAVING_SPEED: f64 = 8.0;
const LEAVING_LENGTH: f64 = 6.0;
const MAX_ALL_RED: f64 = 5.0;

/// What a path's signal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Light {
    /// Stop.
    Red,
    /// Stop if it can be done.
    Amber,
    /// Go, and give way to whom the rules say.
    Green,
}

/// What has green at the same time, and how it ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// For each path whether it has green.
    pub green: Vec<bool>,
    /// How long, s.
    pub time: f64,
    /// How long it shows amber then, s.
    pub amber: f64,
    /// How long all is red after that, s.
    pub all_red: f64,
}

impl Stage {
    /// With amber and red, s.
    pub fn duration(&self) -> f64 {
        self.time + self.amber + self.all_red
    }
}

/// The signals of one junction.
#[derive(Debug, Clone, PartialEq)]
pub struct Signals {
    /// The stages in their order.
    pub stages: Vec<Stage>,
    /// When the first one starts for the first time, s.
    pub offset: f64,
}

/// Lanes of an arm that have green together.
struct Group {
    arm: usize,
    /// Whether they only turn across the oncoming traffic.
    is_far_turn: bool,
    paths: Vec<usize>,
}

impl Signals {
    /// The signals of a junction; `None` if it has none, or they only flash. O(paths^2).
    pub fn of(junction: &Junction, conflicts: &Conflicts) -> Option<Self> {
        let flashes = junction.plan.mode == SignalMode::Flashing;
        if junction.control != Control::Signals || flashes || junction.paths.is_empty() {
            return None;
        }
        let arms = Arms::new(junction);
        let paths = junction.paths.iter();
        let plan = Plan {
            junction,
            conflicts,
            speeds: paths.map(|path| arms.speed_limit(path)).collect(),
            arms,
        };
        let stages = if junction.plan.stages.is_empty() {
            plan.derived()
        } else {
            plan.given()
        };
        Some(Self {
            stages,
            offset: junction.plan.offset,
        })
    }

    /// Time from one start of the first stage to the next, s.
    pub fn cycle(&self) -> f64 {
        self.stages.iter().map(Stage::duration).sum()
    }

    /// The stage at a moment, and the time since it began, s.
    pub fn stage_at(&self, time: f64) -> (usize, f64) {
        let mut within = (time - self.offset).rem_euclid(self.cycle());
        for (i, stage) in self.stages.iter().enumerate() {
            if within < stage.duration() {
                return (i, within);
            }
            within -= stage.duration();
        }
        // Rounding: the very end of a cycle is the start of the next.
        (0, 0.0)
    }

    /// What a path's signal shows at a moment. O(stages).
    pub fn light(&self, path: usize, time: f64) -> Light {
        let (i, within) = self.stage_at(time);
        let stage = &self.stages[i];
        let next = &self.stages[(i + 1) % self.stages.len()];
        match stage.green[path] {
            false => Light::Red,
            true if within < stage.time || next.green[path] => Light::Green,
            true if within < stage.time + stage.amber => Light::Amber,
            true => Light::Red,
        }
    }
}

/// What stages are made from.
struct Plan<'a> {
    junction: &'a Junction,
    conflicts: &'a Conflicts,
    /// Speed on the approach of each path, m/s.
    speeds: Vec<f64>,
    arms: Arms<'a>,
}

impl Plan<'_> {
    /// The stages that a person has given.
    fn given(&self) -> Vec<Stage> {
        let stages = self.junction.plan.stages.iter();
        let stages = stages.map(|stage| {
            let paths = self.junction.paths.iter();
            let green = paths.map(|path| {
                let mut movements = stage.green.iter();
                movements.any(|m| m.includes(path.from.road, path.turn))
            });
            (green.collect(), stage.time)
        });
        self.with_intergreen(stages.collect())
    }

    /// Stages made from the lanes.
    fn derived(&self) -> Vec<Stage> {
        let groups = self.groups();
        let mut greens = self.covers(&groups);
        // In one order everywhere, so that a street has green at neighbouring junctions at once.
        greens.sort_by(|a, b| {
            let slant = |chosen: &[usize]| self.slant(&groups[chosen[0]]);
            slant(a).total_cmp(&slant(b))
        });
        let mut stages: Vec<(Vec<bool>, f64)> = greens
            .iter()
            .map(|chosen| {
                let mut green = vec![false; self.junction.paths.len()];
                let paths = chosen.iter().flat_map(|&group| &groups[group].paths);
                paths.for_each(|&path| green[path] = true);
                (green, 0.0)
            })
            .collect();
        // Where nothing crosses but people on foot, all stop for them.
        let is_crossing = stages.len() == 1;
        if is_crossing {
            stages.push((vec![false; self.junction.paths.len()], WALK));
        }
        let extra = stages.len().saturating_sub(2) as f64;
        let wanted = self.junction.plan.cycle;
        let cycle = wanted.unwrap_or(DEFAULT_CYCLE + CYCLE_PER_STAGE * extra);
        let mut stages = self.with_intergreen(stages);
        let lost: f64 = stages.iter().map(Stage::duration).sum();
        let shares: Vec<f64> = stages.iter().map(|stage| self.weight(stage)).collect();
        let all: f64 = shares.iter().sum();
        for (stage, share) in stages.iter_mut().zip(shares) {
            if share > 0.0 {
                stage.time = ((cycle - lost) * share / all).max(MIN_GREEN);
            }
        }
        stages
    }

    /// How much of the time of green a stage deserves: by the most lanes of one arm that have it.
    fn weight(&self, stage: &Stage) -> f64 {
        let lanes = |arm: &super::ArmEnd| {
            let paths = self.junction.paths.iter().zip(&stage.green);
            let own = paths.filter(|(path, green)| **green && is_of(path, arm));
            let mut lanes: Vec<i8> = own.map(|(path, _)| path.from.lane).collect();
            lanes.sort_unstable();
            lanes.dedup();
            lanes.len()
        };
        let most = self.junction.arms.iter().map(lanes).max();
        (most.unwrap_or(0) as f64).sqrt()
    }

    /// The lanes of each arm, those that only turn across the oncoming traffic apart.
    fn groups(&self) -> Vec<Group> {
        let paths = &self.junction.paths;
        let mut groups = Vec::new();
        for (arm, end) in self.junction.arms.iter().enumerate() {
            let own: Vec<usize> = (0..paths.len())
                .filter(|&i| is_of(&paths[i], end))
                .collect();
            let turns_only = |lane: i8| {
                let mut of_lane = own.iter().filter(|&&i| paths[i].from.lane == lane);
                of_lane.all(|&i| self.arms.is_far_turn(&paths[i]))
            };
            let (far, other): (Vec<usize>, Vec<usize>) =
                own.iter().partition(|&&i| turns_only(paths[i].from.lane));
            for (is_far_turn, paths) in [(false, other), (true, far)] {
                if !paths.is_empty() {
                    groups.push(Group {
                        arm,
                        is_far_turn,
                        paths,
                    });
                }
            }
        }
        groups
    }

    /// By how much the arm of a group differs from east and west, rad.
    fn slant(&self, group: &Group) -> f64 {
        let along = unit(self.arms.bearing(group.arm));
        atan2(along.y.abs(), along.x.abs())
    }

    /// Sets of groups that have green together, so that each has it once at least: the first that
    /// has none yet, and all that can go with it; those of the same kind first, so that both ways of
    /// a street go together, and then both that turn off it.
    fn covers(&self, groups: &[Group]) -> Vec<Vec<usize>> {
        let fits = |chosen: &[usize], group: usize| {
            chosen
                .iter()
                .all(|&other| self.are_compatible(&groups[other], &groups[group]))
        };
        let mut has_green = vec![false; groups.len()];
        let mut stages = Vec::new();
        while let Some(first) = has_green.iter().position(|green| !green) {
            let mut chosen = vec![first];
            let is_alike = |group: usize| groups[group].is_far_turn == groups[first].is_far_turn;
            // Those without green before those that have it already.
            for (is_new, alike) in [(true, true), (true, false), (false, true), (false, false)] {
                let wanted =
                    |&group: &usize| has_green[group] != is_new && is_alike(group) == alike;
                for group in (0..groups.len()).filter(wanted) {
                    if !chosen.contains(&group) && fits(&chosen, group) {
                        chosen.push(group);
                    }
                }
            }
            chosen.iter().for_each(|&group| has_green[group] = true);
            stages.push(chosen);
        }
        stages
    }

    fn are_compatible(&self, one: &Group, other: &Group) -> bool {
        if one.arm == other.arm {
            return true;
        }
        let pairs = one
            .paths
            .iter()
            .flat_map(|&a| other.paths.iter().map(move |&b| (a, b)));
        pairs
            .filter(|&(a, b)| self.conflicts.are_in_conflict(a as u32, b as u32))
            .all(|(a, b)| self.may_give_way((a, one), b) || self.may_give_way((b, other), a))
    }

    /// Whether who turns across the oncoming traffic can be left to find a gap in it.
    fn may_give_way(&self, (path, group): (usize, &Group), other: usize) -> bool {
        let (one, oncoming) = (&self.junction.paths[path], &self.junction.paths[other]);
        let lanes_against = self
            .junction
            .paths
            .iter()
            .filter(|p| {
                (p.from.road, p.from.end) == (oncoming.from.road, oncoming.from.end)
                    && !self.arms.is_far_turn(p)
            })
            .map(|p| p.from.lane)
            .collect::<std::collections::BTreeSet<_>>()
            .len();
        // A lane of their own is worth a stage of their own where gaps are rare.
        let deserves_stage = group.is_far_turn && lanes_against > 1;
        self.arms.is_far_turn(one)
            && self.arms.are_oncoming(one, oncoming)
            && self.speeds[other] <= FAST
            && !deserves_stage
    }

    /// Adds amber and red to each stage, by what has green in it and in the next one.
    fn with_intergreen(&self, stages: Vec<(Vec<bool>, f64)>) -> Vec<Stage> {
        let n = stages.len();
        (0..n)
            .map(|i| {
                let (green, time) = stages[i].clone();
                let next = &stages[(i + 1) % n].0;
                let ends = |path: usize| green[path] && !next[path];
                let ending: Vec<usize> = (0..green.len()).filter(|&path| ends(path)).collect();
                let starting: Vec<usize> = (0..green.len())
                    .filter(|&path| next[path] && !green[path])
                    .collect();
                let fastest = ending.iter().map(|&path| self.speeds[path]);
                let amber = fastest
                    .map(|speed| REACTION + speed / (2.0 * BRAKING))
                    .reduce(f64::max)
                    .map_or(0.0, |amber| amber.clamp(*AMBER.start(), *AMBER.end()));
                let all_red = self.all_red(&ending, &starting);
                Stage {
                    green,
                    time,
                    amber,
                    all_red,
                }
            })
            .collect()
    }

    /// Time until the last one that had green has left the places where the first ones meet it, s.
    fn all_red(&self, ending: &[usize], starting: &[usize]) -> f64 {
        let pairs = ending
            .iter()
            .flat_map(|&a| starting.iter().map(move |&b| (a, b)));
        let needed = pairs.filter_map(|(a, b)| {
            let (left, met) = self.conflicts.between(a as u32, b as u32)?;
            let speed = (LEAVING_SHARE * self.speeds[a]).max(LEAVING_SPEED);
            let leaving = (left.to + LEAVING_LENGTH) / speed;
            Some(leaving - met.from / self.speeds[b].max(LEAVING_SPEED))
        });
        needed.fold(0.0, f64::max).min(MAX_ALL_RED)
    }
}

fn is_of(path: &super::ConnectingPath, arm: &super::ArmEnd) -> bool {
    let end: (RoadId, RoadEnd) = (path.from.road, path.from.end);
    end == (arm.road, arm.end)
}
