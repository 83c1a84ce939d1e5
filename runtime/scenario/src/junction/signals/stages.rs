//! The stages of one junction, derived from its lanes or given by the user.
//!
//! The lanes of an arm have green together, except for lanes that only turn across oncoming traffic. These
//! get a separate stage if the oncoming road has several lanes or is fast, or if the user wants it.
//!
//! Amber lasts as long as drivers who can no longer stop need to pass: `1 s + v / (2 * 3.05 m/s^2)`, at least
//! 3 s ([ITE 1999], for level ground). After that, all signals are red until the last vehicle has left the
//! point where the first vehicle of the next stage would meet it. Where red and amber are shown together
//! before green, they form the end of the all-red time, which is at least as long. In Great Britain, amber of
//! 3 s and red and amber of 2 s make an intergreen of at least 5 s ([TSM 6]); in Germany, the one second of
//! red and amber is also part of the intergreen ([VwV-StVO], to section 37).

use super::super::right_of_way::Arms;
use super::super::{ArmEnd, Conflicts, ConnectingPath, Junction};
use super::{DEFAULT_CYCLE, Intergreen, MAX_GREEN, MIN_GREEN, Programme, Signals, StageTimes};
use crate::ids::RoadId;
use crate::index::ConnectionIndex;
use crate::junction_rules::Movement;
use crate::road::RoadEnd;
use roadwright_geometry::math::atan2;
use roadwright_geometry::unit;
use std::f64::consts::FRAC_PI_2;

/// Time added to the cycle for each stage after the second, s.
const CYCLE_PER_STAGE: f64 = 20.0;
/// Walking time of signals that serve only a pedestrian crossing, s.
const WALK: f64 = 10.0;
/// Maximum speed of oncoming traffic at which turns across it need no separate stage, m/s.
const FAST: f64 = 70.0 / 3.6;
/// Reaction time on which the duration of amber is based, s.
const REACTION: f64 = 1.0;
/// Deceleration on which the duration of amber is based, m/s^2.
const BRAKING: f64 = 3.05;
/// Range of the duration of amber, s.
const AMBER: std::ops::RangeInclusive<f64> = 3.0..=6.0;
/// Speed assumed for the last leaving vehicle, as a fraction of the speed limit.
const LEAVING_SHARE: f64 = 0.8;
/// Minimum speed assumed for the last leaving vehicle, m/s.
const LEAVING_SPEED: f64 = 8.0;
/// Length assumed for the last leaving vehicle, m.
const LEAVING_LENGTH: f64 = 6.0;
/// Maximum duration of all-red, s.
const MAX_ALL_RED: f64 = 5.0;

/// Lanes of an arm that have green together.
struct Group {
    arm: usize,
    /// Whether the lanes only turn across oncoming traffic.
    is_far_turn: bool,
    paths: Vec<usize>,
}

/// Creates the signals of a junction.
pub(super) fn signals(junction: &Junction, conflicts: &Conflicts) -> Signals {
    let plan = Plan::new(junction, conflicts);
    if junction.plan.stages.is_empty() {
        plan.derived()
    } else {
        plan.given()
    }
}

/// Returns the amber and all-red times between every pair of stages, row by row, given the paths
/// with green in each stage.
pub(super) fn intergreens(
    junction: &Junction,
    conflicts: &Conflicts,
    greens: &[Vec<bool>],
) -> Vec<Intergreen> {
    Plan::new(junction, conflicts).changes(greens)
}

/// The inputs for creating stages.
struct Plan<'a> {
    junction: &'a Junction,
    conflicts: &'a Conflicts,
    /// Speed on the approach of each path, m/s.
    speeds: Vec<f64>,
    arms: Arms<'a>,
}

impl<'a> Plan<'a> {
    fn new(junction: &'a Junction, conflicts: &'a Conflicts) -> Self {
        let arms = Arms::new(junction);
        let paths = junction.paths.iter();
        Self {
            junction,
            conflicts,
            speeds: paths.map(|path| arms.speed_limit(path)).collect(),
            arms,
        }
    }

    /// Creates the stages set by the user.
    fn given(&self) -> Signals {
        let stages = &self.junction.plan.stages;
        let named = |movements: &[Movement]| -> Vec<bool> {
            let paths = self.junction.paths.iter();
            let is_named = |path: &ConnectingPath| {
                let mut movements = movements.iter();
                movements.any(|m| m.includes(path.from.road, path.turn))
            };
            paths.map(is_named).collect()
        };
        let mut greens: Vec<Vec<bool>> = stages.iter().map(|stage| named(&stage.green)).collect();
        let mut permitted: Vec<Vec<bool>> =
            stages.iter().map(|stage| named(&stage.permitted)).collect();
        for (greens, permitted) in greens.iter_mut().zip(&mut permitted) {
            for (green, permitted) in greens.iter_mut().zip(permitted) {
                // A path that is named in both lists need not yield.
                *permitted &= !*green;
                *green |= *permitted;
            }
        }
        if !permitted.iter().flatten().any(|permitted| *permitted) {
            permitted.clear();
        }
        let times = stages.iter().map(|stage| StageTimes {
            green: stage.time.get(),
            min: stage.min.unwrap_or(MIN_GREEN).min(stage.time.get()),
            max: stage.max.unwrap_or(MAX_GREEN).max(stage.time.get()),
        });
        let mut intergreens = self.intergreens(&greens);
        for (from, stage) in stages.iter().enumerate() {
            for intergreen in &mut intergreens[from * stages.len()..(from + 1) * stages.len()] {
                intergreen.amber = stage.amber.unwrap_or(intergreen.amber);
                intergreen.all_red = stage.all_red.unwrap_or(intergreen.all_red);
            }
        }
        self.show_red_amber(&greens, &mut intergreens);
        Signals {
            slants: vec![0.0; greens.len()],
            permitted,
            programme: self.programme(times.collect(), intergreens),
            greens,
        }
    }

    /// Derives the stages from the lanes.
    fn derived(&self) -> Signals {
        let paths = self.junction.paths.len();
        let groups = self.groups();
        let covers = self.covers(&groups);
        let mut stages: Vec<(f64, Vec<bool>)> = covers
            .iter()
            .map(|chosen| {
                let mut green = vec![false; paths];
                let own = chosen.iter().flat_map(|&group| &groups[group].paths);
                own.for_each(|&path| green[path] = true);
                // The direction of the group that started this stage.
                (self.slant(&groups[chosen[0]]), green)
            })
            .collect();
        // If there is only a pedestrian crossing, a second stage stops all vehicles for the
        // pedestrians.
        if let [(slant, _)] = stages[..] {
            stages.push((FRAC_PI_2 - slant, vec![false; paths]));
        }
        // Stages have the same order everywhere, so that a street has green at the same time at neighbouring
        // junctions.
        stages.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let (slants, greens): (Vec<f64>, Vec<Vec<bool>>) = stages.into_iter().unzip();
        let intergreens = self.changes(&greens);
        let wanted = self.junction.plan.cycle;
        let extra = greens.len().saturating_sub(2) as f64;
        let cycle = wanted.unwrap_or(DEFAULT_CYCLE + CYCLE_PER_STAGE * extra);
        let times = self.green_times(&greens, cycle, &intergreens);
        let times = times.into_iter().map(|green| StageTimes {
            green,
            min: MIN_GREEN.min(green),
            max: MAX_GREEN.max(green),
        });
        Signals {
            programme: self.programme(times.collect(), intergreens),
            greens,
            permitted: Vec::new(),
            slants,
        }
    }

    fn programme(&self, stages: Vec<StageTimes>, intergreens: Vec<Intergreen>) -> Programme {
        let plan = &self.junction.plan;
        let (mode, controller) = plan.decided_by();
        Programme {
            mode,
            controller: controller.cloned(),
            offset: plan.offset.get(),
            stages,
            intergreens,
        }
    }

    /// Returns green times that fill a cycle, s. They are distributed by weight, with a minimum.
    fn green_times(
        &self,
        greens: &[Vec<bool>],
        cycle: f64,
        intergreens: &[Intergreen],
    ) -> Vec<f64> {
        let n = greens.len();
        // Time lost between each stage and the next one, including from the last stage to the first.
        let lost: f64 = (0..n)
            .map(|i| intergreens[i * n + (i + 1) % n].duration())
            .sum();
        let weights: Vec<f64> = greens.iter().map(|green| self.weight(green)).collect();
        let is_walk = |weight: f64| weight == 0.0;
        let walks = weights.iter().filter(|weight| is_walk(**weight)).count() as f64 * WALK;
        let all: f64 = weights.iter().sum();
        let share = |&weight: &f64| match weight {
            weight if is_walk(weight) => WALK,
            weight => ((cycle - lost - walks) * weight / all).max(MIN_GREEN),
        };
        weights.iter().map(share).collect()
    }

    /// Returns the weight of a stage when green time is distributed. It is the largest number of
    /// lanes of a single arm that have green in the stage.
    fn weight(&self, green: &[bool]) -> f64 {
        let lanes = |arm: &ArmEnd| {
            let paths = self.junction.paths.iter().zip(green);
            let own = paths.filter(|(path, green)| **green && is_of(path, arm));
            let mut lanes: Vec<i8> = own.map(|(path, _)| path.from.lane).collect();
            lanes.sort_unstable();
            lanes.dedup();
            lanes.len()
        };
        let most = self.junction.arms.iter().map(lanes).max();
        (most.unwrap_or(0) as f64).sqrt()
    }

    /// Groups the lanes of each arm. Lanes that only turn across oncoming traffic form separate groups.
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

    /// Returns the angle between a group's arm and the east-west axis, rad.
    fn slant(&self, group: &Group) -> f64 {
        let along = unit(self.arms.heading(group.arm));
        // From 0 for east or west to a quarter turn for north or south. The two directions of a
        // street have the same angle.
        atan2(along.y.abs(), along.x.abs())
    }

    /// Returns sets of groups that have green together, such that each group is in at least one
    /// set. Each set starts with the first group that does not have green yet and adds all
    /// compatible groups. Groups of the same kind are added first. Both directions of a street
    /// therefore have green together, and then both turns off the street.
    fn covers(&self, groups: &[Group]) -> Vec<Vec<usize>> {
        let fits = |chosen: &[usize], group: usize| {
            chosen
                .iter()
                .all(|&other| self.are_compatible(&groups[other], &groups[group]))
        };
        let mut has_green = vec![false; groups.len()];
        let mut stages = Vec::new();
        // Each round gives green to at least one more group, so the loop ends.
        while let Some(first) = has_green.iter().position(|green| !green) {
            let mut chosen = vec![first];
            let is_alike = |group: usize| groups[group].is_far_turn == groups[first].is_far_turn;
            // Groups without green are added before groups that already have it.
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
            .filter(|&(a, b)| {
                let [a, b] = [a, b].map(ConnectionIndex::from_index);
                self.conflicts.are_in_conflict(a, b)
            })
            .all(|(a, b)| self.may_give_way(a, one, b) || self.may_give_way(b, other, a))
    }

    /// Whether a turn can wait for gaps in the traffic of an oncoming group.
    fn may_give_way(&self, path: usize, group: &Group, other: usize) -> bool {
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
        // A turn lane gets a separate stage if gaps are rare.
        let is_protected = self.junction.plan.protected_turns || lanes_against > 1;
        let deserves_stage = group.is_far_turn && is_protected;
        self.arms.is_far_turn(one)
            && self.arms.are_oncoming(one, oncoming)
            && self.speeds[other] <= FAST
            && !deserves_stage
    }

    /// Returns the amber and all-red times between every pair of stages, row by row.
    fn intergreens(&self, greens: &[Vec<bool>]) -> Vec<Intergreen> {
        let pairs = greens
            .iter()
            .flat_map(|from| greens.iter().map(move |to| (from, to)));
        pairs.map(|(from, to)| self.intergreen(from, to)).collect()
    }

    /// Like `intergreens`, but including red and amber at the end of the all-red time.
    fn changes(&self, greens: &[Vec<bool>]) -> Vec<Intergreen> {
        let mut intergreens = self.intergreens(greens);
        self.show_red_amber(greens, &mut intergreens);
        intergreens
    }

    /// Adds red and amber before each stage that gives green to a path without green in the previous stage. The
    /// duration comes from the plan or, by default, from the law. The all-red time is extended to at least this
    /// duration.
    fn show_red_amber(&self, greens: &[Vec<bool>], intergreens: &mut [Intergreen]) {
        let decided = self.junction.plan.red_amber;
        let red_amber = decided.unwrap_or(self.junction.law.red_amber);
        let pairs = greens
            .iter()
            .flat_map(|from| greens.iter().map(move |to| (from, to)));
        for (intergreen, (from, to)) in intergreens.iter_mut().zip(pairs) {
            let starts = from.iter().zip(to).any(|(from, to)| *to && !from);
            if starts {
                intergreen.red_amber = red_amber;
                intergreen.all_red = intergreen.all_red.max(red_amber);
            }
        }
    }

    /// Returns the amber and all-red times between two stages, given the paths that have green in
    /// each.
    fn intergreen(&self, from: &[bool], to: &[bool]) -> Intergreen {
        let paths = || 0..from.len();
        let ending: Vec<usize> = paths().filter(|&path| from[path] && !to[path]).collect();
        let starting: Vec<usize> = paths().filter(|&path| to[path] && !from[path]).collect();
        let fastest = ending.iter().map(|&path| self.speeds[path]);
        let amber = fastest
            .map(|speed| REACTION + speed / (2.0 * BRAKING))
            .reduce(f64::max)
            .map_or(0.0, |amber| amber.clamp(*AMBER.start(), *AMBER.end()));
        Intergreen {
            amber,
            all_red: self.all_red(&ending, &starting),
            red_amber: 0.0,
        }
    }

    /// Returns the all-red time, s: the last vehicle that had green must have left all points where
    /// it could meet the first vehicles of the next stage.
    fn all_red(&self, ending: &[usize], starting: &[usize]) -> f64 {
        let pairs = ending
            .iter()
            .flat_map(|&a| starting.iter().map(move |&b| (a, b)));
        let needed = pairs.filter_map(|(a, b)| {
            let paths = [a, b].map(ConnectionIndex::from_index);
            let (left, met) = self.conflicts.between(paths[0], paths[1])?;
            let speed = (LEAVING_SHARE * self.speeds[a]).max(LEAVING_SPEED);
            // The rear leaves the point when the front is one vehicle length beyond it. The
            // entering vehicle starts when it gets green and needs time to reach the point, which
            // is subtracted.
            let leaving = (left.to + LEAVING_LENGTH) / speed;
            Some(leaving - met.from / self.speeds[b].max(LEAVING_SPEED))
        });
        needed.fold(0.0, f64::max).min(MAX_ALL_RED)
    }
}

fn is_of(path: &ConnectingPath, arm: &ArmEnd) -> bool {
    let end: (RoadId, RoadEnd) = (path.from.road, path.from.end);
    end == (arm.road, arm.end)
}
