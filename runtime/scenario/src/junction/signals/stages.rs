//! The stages of one junction, from its lanes or as a person has given them.
//!
//! The lanes of an arm have green together; lanes that only turn across the oncoming traffic are
//! apart, and get a stage of their own where the oncoming road has several lanes or is fast, or where a
//! person wants that.
//!
//! Amber is as long as drivers need who cannot stop any more: `1 s + v / (2 * 3.05 m/s^2)`, at
//! least 3 s ([ITE 1999], for level ground). Then all is red until the last one has left
//! the place where the first one of the next stage meets it. Where red and amber are shown together
//! before green, they are the end of that, and it lasts as long as they do at least: in Great Britain
//! amber of 3 s and red and amber of 2 s make an intergreen of 5 s at least ([TSM 6]); in Germany
//! the second of red and amber lies within the intergreen as well ([VwV-StVO], to section 37).

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

/// What each stage beyond the second adds to the cycle, s.
const CYCLE_PER_STAGE: f64 = 20.0;
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

/// Lanes of an arm that have green together.
struct Group {
    arm: usize,
    /// Whether they only turn across the oncoming traffic.
    is_far_turn: bool,
    paths: Vec<usize>,
}

/// The signals of a junction.
pub(super) fn signals(junction: &Junction, conflicts: &Conflicts) -> Signals {
    let plan = Plan::new(junction, conflicts);
    if junction.plan.stages.is_empty() {
        plan.derived()
    } else {
        plan.given()
    }
}

/// Amber and red between stages in which these paths have green, row by row.
pub(super) fn intergreens(
    junction: &Junction,
    conflicts: &Conflicts,
    greens: &[Vec<bool>],
) -> Vec<Intergreen> {
    Plan::new(junction, conflicts).changes(greens)
}

/// What stages are made from.
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

    /// The stages that a person has given.
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
                // What is named twice need not give way.
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

    /// Stages made from the lanes.
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
                // The direction of the group that the stage was made for.
                (self.slant(&groups[chosen[0]]), green)
            })
            .collect();
        // Where nothing crosses but people on foot, all stop for them.
        if let [(slant, _)] = stages[..] {
            stages.push((FRAC_PI_2 - slant, vec![false; paths]));
        }
        // In one order everywhere, so that a street has green at neighbouring junctions at once.
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

    /// The green times that fill a cycle, s: by weight, but none too short.
    fn green_times(
        &self,
        greens: &[Vec<bool>],
        cycle: f64,
        intergreens: &[Intergreen],
    ) -> Vec<f64> {
        let n = greens.len();
        // Between each stage and the next one, the first again after the last.
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

    /// How much of the time of green a stage deserves: by the most lanes of one arm that have it.
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
        let along = unit(self.arms.heading(group.arm));
        // From 0, east or west, to a quarter turn, north or south: both ways of a street have the
        // same.
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
        // Each round gives green to one more at least, so this ends.
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
            .filter(|&(a, b)| {
                let [a, b] = [a, b].map(ConnectionIndex::from_index);
                self.conflicts.are_in_conflict(a, b)
            })
            .all(|(a, b)| self.may_give_way(a, one, b) || self.may_give_way(b, other, a))
    }

    /// Whether who turns across the oncoming traffic can be left to find a gap in it.
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
        // A lane of their own is worth a stage of their own where gaps are rare.
        let is_protected = self.junction.plan.protected_turns || lanes_against > 1;
        let deserves_stage = group.is_far_turn && is_protected;
        self.arms.is_far_turn(one)
            && self.arms.are_oncoming(one, oncoming)
            && self.speeds[other] <= FAST
            && !deserves_stage
    }

    /// Amber and red from each stage to each other one, row by row.
    fn intergreens(&self, greens: &[Vec<bool>]) -> Vec<Intergreen> {
        let pairs = greens
            .iter()
            .flat_map(|from| greens.iter().map(move |to| (from, to)));
        pairs.map(|(from, to)| self.intergreen(from, to)).collect()
    }

    /// The same, with the end of red as it is shown.
    fn changes(&self, greens: &[Vec<bool>]) -> Vec<Intergreen> {
        let mut intergreens = self.intergreens(greens);
        self.show_red_amber(greens, &mut intergreens);
        intergreens
    }

    /// Has the end of red shown with amber before each stage that gives green to somebody who had none: as
    /// long as the plan says, else the law. Red becomes as long as that at least.
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

    /// Amber and red between two stages, by what has green in them.
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

    /// Time until the last one that had green has left the places where the first ones meet it, s.
    fn all_red(&self, ending: &[usize], starting: &[usize]) -> f64 {
        let pairs = ending
            .iter()
            .flat_map(|&a| starting.iter().map(move |&b| (a, b)));
        let needed = pairs.filter_map(|(a, b)| {
            let paths = [a, b].map(ConnectionIndex::from_index);
            let (left, met) = self.conflicts.between(paths[0], paths[1])?;
            let speed = (LEAVING_SHARE * self.speeds[a]).max(LEAVING_SPEED);
            // Its rear has left the place when its front is a length beyond. The other one starts
            // with green and needs its own time to get there, which is taken off.
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
