//! Combines the signals of adjacent junctions into one programme.
//!
//! If two stop lines are only a few car lengths apart, queues between them extend back into the
//! first junction. Signals within 40 m of each other therefore change together. The stages of each
//! junction are aligned, in order, with the stages of the junction that has the most. The alignment
//! is chosen so that vehicles released into the street between two junctions find green at the
//! second junction. If that is impossible, each stage is aligned with a stage that serves a street
//! in about the same direction.
//!
//! ```text
//!   most stages:   east-west | east-west, turning | north-south
//!   aligned:       east-west | east-west          | north-south
//! ```
//!
//! Signals that serve only a pedestrian crossing keep their own programme, because pedestrians need
//! less than a full stage.

use super::walk::lengthen;
use super::{Intergreen, MAX_GREEN, MIN_GREEN, Programme, Signals, StageTimes, stages};
use crate::ids::RoadId;
use crate::index::ConnectionIndex;
use crate::junction::{Conflicts, ConnectingPath, Junction, Layout};
use crate::junction_rules::SignalPlan;
use crate::network::RoadNetwork;
use crate::turn::Turn;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum distance between the stop lines of signals that share one programme, m.
const TOGETHER: f64 = 40.0;

/// Cost of a connection that has green at one junction and red at the next, rad. It exceeds any difference in
/// direction.
const KEPT_WAITING: f64 = 2.0;

/// The signals of a network, and the groups of junctions that share one programme.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SignalPlans {
    /// The signals of each junction of the layout.
    pub signals: Vec<Option<Signals>>,
    /// Groups of junctions with signals that share one programme. Members are in order of index, and groups
    /// in order of their first members. All members of a group have equal programmes.
    pub groups: Vec<Vec<usize>>,
}

impl SignalPlans {
    /// Returns the group of each junction.
    pub fn group_of(&self) -> Vec<Option<usize>> {
        let mut of = vec![None; self.signals.len()];
        for (group, members) in self.groups.iter().enumerate() {
            members.iter().for_each(|&member| of[member] = Some(group));
        }
        of
    }
}

/// Creates the signals of all junctions of a layout. For each junction, `own` returns its signals
/// without regard to its neighbours, and `conflicts` returns its conflicts. Junctions whose plan
/// was set by the user keep their own programme. O(roads + paths).
pub fn signal_plans<'a>(
    network: &RoadNetwork,
    layout: &Layout,
    own: impl Fn(usize) -> Option<Signals>,
    conflicts: impl Fn(usize) -> &'a Conflicts,
) -> SignalPlans {
    let mut signals: Vec<_> = (0..layout.junctions.len()).map(own).collect();
    let groups = groups(network, layout, &signals);
    for group in groups.iter().filter(|group| group.len() > 1) {
        let is_inside = |road| is_between(road, group, network, layout);
        let members = group.iter().filter_map(|&i| {
            let junction: &Junction = &layout.junctions[i];
            let mut signals = signals[i].clone()?;
            let_through(&mut signals, junction, conflicts(i), is_inside);
            Some(Member { signals, junction })
        });
        let members: Vec<Member<'_>> = members.collect();
        for (&junction, shared) in group.iter().zip(together(&members)) {
            signals[junction] = Some(shared);
        }
    }
    for group in &groups {
        // This is the last step, so that all members of the shared programme get the times that the
        // widest crossing needs.
        let_walk(&mut signals, layout, group);
    }
    SignalPlans { signals, groups }
}

/// Lengthens the stages of a group so that pedestrians can cross at all of its junctions.
fn let_walk(signals: &mut [Option<Signals>], layout: &Layout, group: &[usize]) {
    let has_crossings = |&&junction: &&usize| !layout.junctions[junction].crossings.is_empty();
    let members: Vec<usize> = group.iter().filter(has_crossings).copied().collect();
    let Some(first) = signals[group[0]].as_ref() else {
        return;
    };
    if members.is_empty() {
        return;
    }
    let mut programme = first.programme.clone();
    for member in members {
        if let Some(own) = &signals[member] {
            lengthen(&mut programme, &own.greens, &layout.junctions[member]);
        }
    }
    for &junction in group {
        if let Some(own) = &mut signals[junction] {
            own.programme = programme.clone();
        }
    }
}

/// Returns the groups of junctions with signals that are joined by roads of up to 40 m.
fn groups(network: &RoadNetwork, layout: &Layout, signals: &[Option<Signals>]) -> Vec<Vec<usize>> {
    let with_signals = || (0..signals.len()).filter(|&i| signals[i].is_some());
    let mut beside: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for junction in with_signals() {
        let near = near_junctions(network, layout, junction);
        let may_share = |&other: &usize| {
            let mut pair = [junction, other].into_iter();
            pair.all(|i| signals[i].as_ref().is_some_and(rules_vehicles))
                && go_together(&layout.junctions[junction], &layout.junctions[other])
        };
        beside.insert(junction, near.filter(may_share).collect());
    }
    let mut is_taken = vec![false; signals.len()];
    let mut groups = Vec::new();
    for first in with_signals() {
        let (mut group, mut open) = (Vec::new(), vec![first]);
        while let Some(junction) = open.pop() {
            if !std::mem::replace(&mut is_taken[junction], true) {
                group.push(junction);
                open.extend(beside.get(&junction).into_iter().flatten());
            }
        }
        if !group.is_empty() {
            // Sorted by junction index rather than search order, because `is_between` uses binary
            // search.
            group.sort_unstable();
            groups.push(group);
        }
    }
    groups
}

/// Returns the junctions that a short road connects to the given junction.
fn near_junctions<'a>(
    network: &'a RoadNetwork,
    layout: &'a Layout,
    junction: usize,
) -> impl Iterator<Item = usize> + 'a {
    layout.junctions[junction].arms.iter().filter_map(|arm| {
        let road = network.road(arm.road)?;
        let (from, to) = layout.remaining(arm.road, road)?;
        let far = road.node_at(arm.end.opposite());
        let other = *layout.junction_of.get(&far)?;
        (to - from <= TOGETHER).then_some(other)
    })
}

/// Whether the signals control conflicting vehicles. Signals that serve only a pedestrian crossing have a
/// stage in which all vehicles face red.
fn rules_vehicles(signals: &Signals) -> bool {
    let mut greens = signals.greens.iter();
    greens.all(|green| green.contains(&true))
}

/// Whether two junctions may share a programme. They may, unless the user has set more than their
/// mode and controller.
fn go_together(a: &Junction, b: &Junction) -> bool {
    let is_free = |junction: &Junction| {
        junction.plan
            == SignalPlan {
                mode: junction.plan.mode,
                controller: junction.plan.controller.clone(),
                ..SignalPlan::default()
            }
    };
    is_free(a) && is_free(b) && a.plan == b.plan
}

/// Whether a road joins two junctions of a group.
fn is_between(road: RoadId, group: &[usize], network: &RoadNetwork, layout: &Layout) -> bool {
    let is_member = |node| {
        let junction = layout.junction_of.get(&node);
        junction.is_some_and(|junction| group.binary_search(junction).is_ok())
    };
    let road = network.road(road);
    road.is_some_and(|road| is_member(road.from) && is_member(road.to))
}

/// Gives green to traffic from inside the group in every stage, unless this would conflict with
/// other green. There is little space to wait inside the group.
fn let_through(
    signals: &mut Signals,
    junction: &Junction,
    conflicts: &Conflicts,
    is_inside: impl Fn(RoadId) -> bool,
) {
    let inside: Vec<usize> = (0..junction.paths.len())
        .filter(|&path| is_inside(junction.paths[path].from.road))
        .collect();
    for green in &mut signals.greens {
        for &path in &inside {
            let mut others = (0..green.len()).filter(|&other| green[other]);
            let own = ConnectionIndex::from_index(path);
            if others
                .all(|other| !conflicts.are_in_conflict(own, ConnectionIndex::from_index(other)))
            {
                // Paths are processed in order, so this green is taken into account for the paths
                // that follow.
                green[path] = true;
            }
        }
    }
    // More paths now have to be cleared before the next stage.
    let programme = &mut signals.programme;
    programme.intergreens = stages::intergreens(junction, conflicts, &signals.greens);
}

/// A junction of a group, with the signals that it would have outside a group.
struct Member<'a> {
    signals: Signals,
    junction: &'a Junction,
}

impl Member<'_> {
    /// Returns the number of connections that have green in a stage but lead to another junction of
    /// the group with red in the aligned stage. A straight connection counts twice.
    fn keeps_waiting(&self, stage: usize, next: &Self, beside: usize) -> usize {
        let onward = |road: RoadId| {
            let onward = next.red(beside).filter(move |path| path.from.road == road);
            onward.map(weight).sum::<usize>()
        };
        let into = self.green(stage);
        into.map(|path| weight(path) * onward(path.to.road)).sum()
    }

    /// Returns the connections that have green in a stage.
    fn green(&self, stage: usize) -> impl Iterator<Item = &ConnectingPath> {
        let lit = self.lights(stage).filter(|&(_, &is_green)| is_green);
        lit.map(|(path, _)| path)
    }

    /// Returns the connections that have red in a stage.
    fn red(&self, stage: usize) -> impl Iterator<Item = &ConnectingPath> {
        let lit = self.lights(stage).filter(|&(_, &is_green)| !is_green);
        lit.map(|(path, _)| path)
    }

    fn lights(&self, stage: usize) -> impl Iterator<Item = (&ConnectingPath, &bool)> {
        self.junction.paths.iter().zip(&self.signals.greens[stage])
    }
}

/// Returns the weight of a path. Straight paths weigh more, because more vehicles go straight on
/// than turn.
fn weight(path: &ConnectingPath) -> usize {
    match path.turn {
        Turn::Straight => 2,
        _ => 1,
    }
}

/// Combines the signals of the members into one programme.
fn together(members: &[Member<'_>]) -> Vec<Signals> {
    let count = |member: &Member<'_>| member.signals.greens.len();
    // The leader is the junction with the most stages; among equals, the first one.
    let Some(leader) = (0..members.len())
        .rev()
        .max_by_key(|&member| count(&members[member]))
    else {
        return Vec::new();
    };
    let rows = count(&members[leader]);
    let mut beside: Vec<Vec<usize>> = vec![Vec::new(); members.len()];
    beside[leader] = (0..rows).collect();
    for (number, member) in members.iter().enumerate().filter(|&(i, _)| i != leader) {
        let cost = |row: usize, stage: usize| {
            let slants = [
                members[leader].signals.slants[row],
                member.signals.slants[stage],
            ];
            let laid = members.iter().zip(&beside);
            let kept = laid.filter(|(_, beside)| !beside.is_empty());
            let kept = kept.map(|(other, beside)| {
                other.keeps_waiting(beside[row], member, stage)
                    + member.keeps_waiting(stage, other, beside[row])
            });
            (slants[0] - slants[1]).abs() + KEPT_WAITING * kept.sum::<usize>() as f64
        };
        let row = |row: usize| (0..count(member)).map(|stage| cost(row, stage)).collect();
        beside[number] = laid_beside(&(0..rows).map(row).collect::<Vec<_>>());
    }
    let programme = shared_programme(members, &beside);
    let shared = members.iter().zip(&beside).map(|(member, beside)| Signals {
        programme: programme.clone(),
        greens: (beside.iter())
            .map(|&s| member.signals.greens[s].clone())
            .collect(),
        // There are no permissive paths, because junctions whose stages are set by the user keep
        // their own signals.
        permitted: Vec::new(),
        slants: members[leader].signals.slants.clone(),
    });
    shared.collect()
}

/// Aligns each stage of a longer cyclic list with a stage of a shorter one, at minimum total cost.
/// The cyclic order is kept, and no stage is left out. If several alignments cost the same, the one
/// that aligns the first stages is used. `costs` has a row for each stage of the longer list.
/// O(square of both lengths).
fn laid_beside(costs: &[Vec<f64>]) -> Vec<usize> {
    let (m, n) = (costs.len(), costs[0].len());
    let starts = (0..m).flat_map(|row| (0..n).map(move |stage| (row, stage)));
    let laid = starts.map(|(row, stage)| {
        let turned: Vec<Vec<f64>> = (0..m)
            .map(|i| {
                (0..n)
                    .map(|j| costs[(row + i) % m][(stage + j) % n])
                    .collect()
            })
            .collect();
        let (cost, beside) = in_order(&turned);
        let mut turned_back = vec![0; m];
        for (i, j) in beside.into_iter().enumerate() {
            turned_back[(row + i) % m] = (stage + j) % n;
        }
        (cost, turned_back)
    });
    let least = laid.reduce(|best, one| if one.0 < best.0 - 1e-9 { one } else { best });
    least.map(|(_, beside)| beside).unwrap_or_default()
}

/// Like `laid_beside`, but the first stages of both lists are aligned with each other, and so are
/// the last stages. Also returns the cost. O(product of both lengths), by dynamic programming.
fn in_order(own: &[Vec<f64>]) -> (f64, Vec<usize>) {
    let (m, n) = (own.len(), own[0].len());
    // Minimum cost if stage `j` is aligned with stage `i` of the longer list.
    let mut costs = vec![vec![f64::INFINITY; n]; m];
    for i in 0..m {
        for j in 0..n.min(i + 1) {
            let before = match (i, j) {
                (0, _) => 0.0,
                // The first stage of the shorter list has no predecessor.
                (_, 0) => costs[i - 1][0],
                _ => costs[i - 1][j].min(costs[i - 1][j - 1]),
            };
            costs[i][j] = before + own[i][j];
        }
    }
    let mut beside = vec![0; m];
    // The alignment is traced back from the last stages along the cheaper alternatives.
    let mut j = n - 1;
    for i in (0..m).rev() {
        beside[i] = j;
        if i > 0 && j > 0 && costs[i - 1][j - 1] <= costs[i - 1][j] {
            j -= 1;
        }
    }
    (costs[m - 1][n - 1], beside)
}

/// Builds the common programme of all members. Each change between stages lasts as long as the slowest member needs.
fn shared_programme(members: &[Member<'_>], beside: &[Vec<usize>]) -> Programme {
    let n = beside.first().map_or(0, Vec::len);
    let of_members = || members.iter().zip(beside);
    let mut intergreens = Vec::with_capacity(n * n);
    for from in 0..n {
        for to in 0..n {
            let all = of_members().map(|(member, beside)| {
                member
                    .signals
                    .programme
                    .intergreen(beside[from], beside[to])
            });
            intergreens.push(all.fold(Intergreen::default(), Intergreen::longer));
        }
    }
    // The green time of a member's stage is split among the common stages that are aligned with it.
    let wanted = |stage: usize| {
        let greens = of_members().map(|(member, beside)| {
            let shares = beside.iter().filter(|&&s| s == beside[stage]).count();
            member.signals.programme.stages[beside[stage]].green / shares as f64
        });
        greens.fold(0.0, f64::max)
    };
    let wanted: Vec<f64> = (0..n).map(wanted).collect();
    let cycles = members
        .iter()
        .map(|member| member.signals.programme.cycle());
    let cycle = cycles.fold(0.0, f64::max);
    let lost: f64 = (0..n)
        .map(|i| intergreens[i * n + (i + 1) % n].duration())
        .sum();
    // All greens are scaled by the same factor, so that together with the longer changes they fill the
    // longest cycle.
    let factor = (cycle - lost) / wanted.iter().sum::<f64>();
    let times = wanted.iter().map(|wanted| {
        let green = (wanted * factor).max(MIN_GREEN);
        StageTimes {
            green,
            min: MIN_GREEN,
            max: MAX_GREEN.max(green),
        }
    });
    Programme {
        mode: members[0].signals.programme.mode,
        controller: members[0].signals.programme.controller.clone(),
        offset: 0.0,
        stages: times.collect(),
        intergreens,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::junction::layout;
    use crate::testing::draw_street;
    use crate::{Control, Edit, JunctionRules, Node, Scenario, SignalMode};
    use glam::DVec2;
    use roadwright_geometry::{Pose, ReferenceLine};

    #[test]
    fn stages_go_beside_those_of_the_same_direction() {
        // East-west, east-west turning, north-south.
        let longer = [0.1, 0.1, 1.5];
        let by_slant = |shorter: &[f64], longer: &[f64]| {
            let costs = |long: &f64| shorter.iter().map(|short| (long - short).abs()).collect();
            laid_beside(&longer.iter().map(costs).collect::<Vec<_>>())
        };
        assert_eq!(by_slant(&[0.0, 1.5], &longer), [0, 0, 1]);
        assert_eq!(by_slant(&[0.1, 1.4, 1.5], &longer), [0, 1, 2]);
        assert_eq!(by_slant(&[0.7], &longer), [0, 0, 0]);
        assert_eq!(by_slant(&[0.0, 1.5], &[0.1, 1.3, 1.5]), [0, 1, 1]);
        // The order is cyclic: the last stage of the shorter list is aligned with the first stage of the
        // longer one.
        assert_eq!(by_slant(&[0.0, 1.5], &[1.5, 0.1, 0.1]), [1, 0, 0]);
    }

    /// Creates a street from west to east with two signalled crossings, `apart` metres apart. If
    /// the second cross street is fast, no vehicle turns across its oncoming traffic.
    fn town(apart: f64, is_fast: bool, plans: [SignalPlan; 2]) -> Scenario {
        let fast = if is_fast { 25.0 } else { 14.0 };
        let streets = [
            ((-100.0, 0.0), (apart + 100.0, 0.0), 14.0),
            ((0.0, -100.0), (0.0, 100.0), 14.0),
            ((apart, -100.0), (apart, 100.0), fast),
        ];
        let [first, second] = plans;
        drawn(
            &streets,
            [(DVec2::ZERO, first), (DVec2::new(apart, 0.0), second)],
        )
    }

    /// The start, end and speed limit (m/s) of a street.
    type Street = ((f64, f64), (f64, f64), f64);

    /// Creates a scenario with streets, and with signals at two places.
    fn drawn(streets: &[Street], signals: [(DVec2, SignalPlan); 2]) -> Scenario {
        let mut scenario = Scenario::new("two crossings");
        for &(from, to, speed_limit) in streets {
            let line = ReferenceLine::straight(DVec2::from(from), DVec2::from(to)).unwrap();
            draw_street(&mut scenario, &line, 3.25, speed_limit);
        }
        let network = scenario.network();
        let edits = signals.into_iter().map(|(place, plan)| {
            let is_there = |node: &Node| (node.position() - place).length() < 1.0;
            let mut nodes = network.nodes();
            let (id, node) = nodes.find(|(_, node)| is_there(node)).unwrap();
            let rules = JunctionRules {
                control: Some(Control::Signals),
                plan: Some(plan),
                ..JunctionRules::default()
            };
            Edit::Node(
                id,
                Some(Node {
                    rules,
                    ..node.clone()
                }),
            )
        });
        let edits = Edit::Batch(edits.collect());
        scenario.apply(edits).unwrap();
        scenario
    }

    fn plans(scenario: &Scenario) -> (Layout, SignalPlans) {
        let network = scenario.network();
        let layout = layout(network, scenario.about());
        let all: Vec<_> = layout.junctions.iter().map(|j| Conflicts::of(j)).collect();
        let own = |i: usize| Signals::of(&layout.junctions[i], &all[i]);
        let plans = signal_plans(network, &layout, own, |i| &all[i]);
        (layout, plans)
    }

    #[test]
    fn signals_side_by_side_follow_one_programme() {
        let scenario = town(50.0, true, Default::default());
        let (layout, plans) = plans(&scenario);
        let [group] = &plans.groups[..] else {
            panic!("{:?}", plans.groups);
        };
        let signals: Vec<_> = group.iter().flat_map(|&i| &plans.signals[i]).collect();
        assert_eq!(signals.len(), 2);
        assert_eq!(signals[0].programme, signals[1].programme);
        // The fast street has a stage for each of its arms, whereas the other junction has one stage for
        // both.
        assert_eq!(signals[0].greens.len(), 3);
        for (&member, signals) in group.iter().zip(&signals) {
            let junction = &layout.junctions[member];
            let conflicts = Conflicts::of(junction);
            for green in &signals.greens {
                // All traffic along the common street has green in the same stages.
                let along = junction.paths.iter().zip(green).filter(|(path, _)| {
                    let line = path.curve.as_ref().expect("they cross");
                    line.start().forward().y.abs() < 0.1 && line.end().forward().y.abs() < 0.1
                });
                let along: Vec<bool> = along.map(|(_, green)| *green).collect();
                assert!(along.iter().all(|green| *green == along[0]), "{along:?}");
                // Conflicting paths with green are turns across oncoming traffic, or yield to such turns.
                for conflict in conflicts.list() {
                    let (a, b) = (conflict.paths.0.index(), conflict.paths.1.index());
                    let turns = [a, b].map(|path| junction.paths[path].turn);
                    assert!(
                        !(green[a] && green[b])
                            || turns.contains(&crate::turn::Turn::Left)
                            || turns[0] == turns[1],
                        "{turns:?}"
                    );
                }
            }
        }
    }

    /// A main street from south-west to north-east has a side street at each of two places. By
    /// direction alone, the main street at one place would be aligned with the side street at the
    /// other.
    #[test]
    fn who_is_let_in_between_two_signals_finds_green_at_the_next_one() {
        let unit = |degrees: f64| DVec2::from_angle(degrees.to_radians());
        let main = unit(45.0);
        let (first, second) = (DVec2::ZERO, 52.0 * main);
        let to = |place: DVec2| (place.x, place.y);
        let streets = [
            (to(-100.0 * main), to(152.0 * main), 14.0),
            (to(first), to(first + 100.0 * unit(100.0)), 14.0),
            (to(second), to(second + 100.0 * unit(-10.0)), 14.0),
        ];
        let free = SignalPlan::default;
        let scenario = drawn(&streets, [(first, free()), (second, free())]);
        let (layout, plans) = plans(&scenario);
        let [group] = &plans.groups[..] else {
            panic!("{:?}", plans.groups);
        };
        let straight = |&member: &usize| -> Vec<bool> {
            let signals = plans.signals[member].as_ref().unwrap();
            let paths = &layout.junctions[member].paths;
            let is_along = |path: &ConnectingPath| {
                let line = path.curve.as_ref().unwrap();
                [line.start(), line.end()].map(|pose| pose.forward().dot(main).abs() > 0.99)
                    == [true; 2]
            };
            let along = |green: &Vec<bool>| {
                let mut along = paths.iter().zip(green).filter(|(path, _)| is_along(path));
                along.all(|(_, green)| *green)
            };
            signals.greens.iter().map(along).collect()
        };
        let straight: Vec<Vec<bool>> = group.iter().map(straight).collect();
        assert_eq!(straight.len(), 2);
        assert!(straight[0].contains(&true), "{straight:?}");
        assert_eq!(straight[0], straight[1]);
    }

    /// A fork close to a main street forms one junction with it. Both arms of the main street have green at
    /// the same time, although they are to one side of the junction's centre.
    #[test]
    fn both_directions_of_a_street_have_green_at_once_beside_the_middle_of_a_junction() {
        let streets = [
            ((-100.0, 0.0), (100.0, 0.0), 14.0),
            ((0.0, 0.0), (0.0, 9.0), 8.0),
            ((0.0, 9.0), (60.0, 90.0), 8.0),
            ((0.0, 9.0), (-60.0, 90.0), 8.0),
        ];
        let free = SignalPlan::default;
        let places = [DVec2::ZERO, DVec2::new(0.0, 9.0)];
        let scenario = drawn(&streets, places.map(|place| (place, free())));
        let (layout, plans) = plans(&scenario);
        let [group] = &plans.groups[..] else {
            panic!("{:?}", plans.groups);
        };
        assert_eq!(group.len(), 1);
        let signals = plans.signals[group[0]].as_ref().unwrap();
        let paths = &layout.junctions[group[0]].paths;
        let along: Vec<usize> = (0..paths.len())
            .filter(|&path| {
                let line = paths[path].curve.as_ref().unwrap();
                let is_along = |pose: Pose| pose.forward().y.abs() < 0.1;
                paths[path].turn == Turn::Straight && is_along(line.start()) && is_along(line.end())
            })
            .collect();
        assert_eq!(along.len(), 2);
        let both = signals
            .greens
            .iter()
            .filter(|green| along.iter().all(|&path| green[path]));
        assert_eq!(both.count(), 1, "{:?}", signals.greens);
    }

    #[test]
    fn signals_far_away_or_with_plans_of_their_own_do_not_wait_for_each_other() {
        let groups = |apart: f64, plans: [SignalPlan; 2]| {
            let scenario = town(apart, false, plans);
            self::plans(&scenario).1.groups.len()
        };
        let free = SignalPlan::default;
        let actuated = || SignalPlan {
            mode: SignalMode::Actuated,
            ..free()
        };
        let decided = SignalPlan {
            offset: 12.0.into(),
            ..free()
        };
        assert_eq!(groups(50.0, [free(), free()]), 1);
        assert_eq!(groups(50.0, [actuated(), actuated()]), 1);
        assert_eq!(groups(100.0, [free(), free()]), 2);
        assert_eq!(groups(50.0, [free(), actuated()]), 2);
        assert_eq!(groups(50.0, [free(), decided]), 2);
    }
}
