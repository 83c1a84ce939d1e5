//! One programme for junctions that lie side by side.
//!
//! Queues between two stop lines a few car lengths apart reach back into the junction behind them.
//! So signals within 40 m of each other change together: the stages of each junction are laid beside
//! those of the one that has most of them, in their order and each beside one that serves a street of
//! about the same direction.
//!
//! ```text
//!   most stages:   east-west | east-west, turning | north-south
//!   beside it:     east-west | east-west          | north-south
//! ```
//!
//! Signals at which only people cross go by themselves: all of a stage is too long for them to walk.

use super::walk::lengthen;
use super::{Intergreen, MAX_GREEN, MIN_GREEN, Programme, Signals, StageTimes};
use crate::ids::RoadId;
use crate::junction::{Conflicts, Junction, Layout};
use crate::junction_rules::SignalPlan;
use crate::network::RoadNetwork;
use std::collections::{BTreeMap, BTreeSet};

/// Signals that are no farther apart follow one programme, m from stop line to stop line.
const TOGETHER: f64 = 40.0;

/// The signals of a network, and which of its junctions follow one programme.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SignalPlans {
    /// For each junction of the layout its signals.
    pub signals: Vec<Option<Signals>>,
    /// The junctions with signals, those together that follow one programme; each by growing index,
    /// in the order of the first ones. Members have equal programmes.
    pub groups: Vec<Vec<usize>>,
}

impl SignalPlans {
    /// For each junction its group.
    pub fn group_of(&self) -> Vec<Option<usize>> {
        let mut of = vec![None; self.signals.len()];
        for (group, members) in self.groups.iter().enumerate() {
            members.iter().for_each(|&member| of[member] = Some(group));
        }
        of
    }
}

/// The signals of all junctions of a layout; `own` gives those that a junction would have by itself,
/// `conflicts` its conflicts. Junctions whose plan a person has decided go by themselves.
/// O(roads + paths).
pub fn signal_plans<'a>(
    network: &RoadNetwork,
    layout: &Layout,
    own: impl Fn(usize) -> Option<Signals>,
    conflicts: impl Fn(usize) -> &'a Conflicts,
) -> SignalPlans {
    let mut signals: Vec<_> = (0..layout.junctions.len()).map(own).collect();
    let groups = groups(network, layout, &signals);
    for group in groups.iter().filter(|group| group.len() > 1) {
        let members: Vec<_> = group.iter().filter_map(|&i| signals[i].clone()).collect();
        for (&junction, mut shared) in group.iter().zip(together(&members)) {
            let is_inside = |road| is_between(road, group, (network, layout));
            let place = &layout.junctions[junction];
            let_through(&mut shared, place, conflicts(junction), is_inside);
            signals[junction] = Some(shared);
        }
    }
    for group in &groups {
        // Last, when programmes are shared: all members get the times that the widest crossing
        // needs.
        let_walk(&mut signals, layout, group);
    }
    SignalPlans { signals, groups }
}

/// Makes the stages of a group long enough for people on foot at all of its junctions.
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

/// Junctions with signals, those together that roads of up to 40 m join.
fn groups(network: &RoadNetwork, layout: &Layout, signals: &[Option<Signals>]) -> Vec<Vec<usize>> {
    let mut beside: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (id, road) in network.roads() {
        let at = |node| layout.junction_of.get(&node).copied();
        let (Some(a), Some(b)) = (at(road.from), at(road.to)) else {
            continue;
        };
        let is_near = layout
            .remaining(id, road)
            .is_some_and(|(from, to)| to - from <= TOGETHER);
        let may_share = is_near
            && [a, b]
                .iter()
                .all(|&i| signals[i].as_ref().is_some_and(rules_vehicles))
            && go_together(&layout.junctions[a], &layout.junctions[b]);
        if may_share {
            beside.entry(a).or_default().insert(b);
            beside.entry(b).or_default().insert(a);
        }
    }
    let mut is_taken = vec![false; signals.len()];
    let mut groups = Vec::new();
    for first in (0..signals.len()).filter(|&i| signals[i].is_some()) {
        let (mut group, mut open) = (Vec::new(), vec![first]);
        while let Some(junction) = open.pop() {
            if !std::mem::replace(&mut is_taken[junction], true) {
                group.push(junction);
                open.extend(beside.get(&junction).into_iter().flatten());
            }
        }
        if !group.is_empty() {
            // In the order of junctions, not in that of the search: `is_between` looks members up
            // by halves.
            group.sort_unstable();
            groups.push(group);
        }
    }
    groups
}

/// Whether vehicles meet there: at a crossing for people alone, all of a stage is red.
fn rules_vehicles(signals: &Signals) -> bool {
    let mut greens = signals.greens.iter();
    greens.all(|green| green.contains(&true))
}

/// Whether two junctions may follow one programme: nobody has said how they run, but for the mode and
/// who decides.
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
fn is_between(road: RoadId, group: &[usize], (network, layout): (&RoadNetwork, &Layout)) -> bool {
    let is_member = |node| {
        let junction = layout.junction_of.get(&node);
        junction.is_some_and(|junction| group.binary_search(junction).is_ok())
    };
    let road = network.road(road);
    road.is_some_and(|road| is_member(road.from) && is_member(road.to))
}

/// Gives green to those who come from within the group, in every stage in which that meets nobody
/// else's: there is little room for them to wait.
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
            if others.all(|other| !conflicts.are_in_conflict(path as u32, other as u32)) {
                // One after the other: those that got green here count as others for the next.
                green[path] = true;
            }
        }
    }
}

/// Signals with one programme.
fn together(members: &[Signals]) -> Vec<Signals> {
    // Of several with most stages the first.
    let Some(leader) = members
        .iter()
        .rev()
        .max_by_key(|signals| signals.greens.len())
    else {
        return Vec::new();
    };
    let beside: Vec<Vec<usize>> = members
        .iter()
        .map(|member| laid_beside(&member.slants, &leader.slants))
        .collect();
    let programme = shared_programme(members, &beside);
    let shared = members.iter().zip(&beside).map(|(member, beside)| Signals {
        programme: programme.clone(),
        greens: beside.iter().map(|&s| member.greens[s].clone()).collect(),
        // Who gives stages by hand has signals by themselves.
        permitted: Vec::new(),
        slants: leader.slants.clone(),
    });
    shared.collect()
}

/// For each stage of a longer list one of a shorter one: in their order, none left out, and with the
/// least differences of direction in all. O(length of both), by dynamic programming.
fn laid_beside(shorter: &[f64], longer: &[f64]) -> Vec<usize> {
    let (n, m) = (shorter.len(), longer.len());
    // The least cost with stage `j` beside the stage `i` of the longer list.
    let mut costs = vec![vec![f64::INFINITY; n]; m];
    for i in 0..m {
        for j in 0..n.min(i + 1) {
            let before = match (i, j) {
                (0, _) => 0.0,
                // Before the first stage of the shorter list there is none that could have gone on.
                (_, 0) => costs[i - 1][0],
                _ => costs[i - 1][j].min(costs[i - 1][j - 1]),
            };
            costs[i][j] = before + (longer[i] - shorter[j]).abs();
        }
    }
    let mut beside = vec![0; m];
    // Backwards from the last beside the last, along the cheaper of both ways.
    let mut j = n - 1;
    for i in (0..m).rev() {
        beside[i] = j;
        if i > 0 && j > 0 && costs[i - 1][j - 1] <= costs[i - 1][j] {
            j -= 1;
        }
    }
    beside
}

/// The programme of all members: each change waits for the slowest of them.
fn shared_programme(members: &[Signals], beside: &[Vec<usize>]) -> Programme {
    let n = beside.first().map_or(0, Vec::len);
    let of_members = || members.iter().zip(beside);
    let mut intergreens = Vec::with_capacity(n * n);
    for from in 0..n {
        for to in 0..n {
            let all = of_members()
                .map(|(member, beside)| member.programme.intergreen(beside[from], beside[to]));
            intergreens.push(all.fold(Intergreen::default(), Intergreen::longer));
        }
    }
    // What a member gives a stage is split among those that it is laid beside.
    let wanted = |stage: usize| {
        let greens = of_members().map(|(member, beside)| {
            let shares = beside.iter().filter(|&&s| s == beside[stage]).count();
            member.programme.stages[beside[stage]].green / shares as f64
        });
        greens.fold(0.0, f64::max)
    };
    let wanted: Vec<f64> = (0..n).map(wanted).collect();
    let cycles = members.iter().map(|member| member.programme.cycle());
    let cycle = cycles.fold(0.0, f64::max);
    let lost: f64 = (0..n)
        .map(|i| intergreens[i * n + (i + 1) % n].duration())
        .sum();
    // All greens by one factor: with the longer changes between them they fill the longest cycle.
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
        mode: members[0].programme.mode,
        controller: members[0].programme.controller.clone(),
        offset: 0.0,
        stages: times.collect(),
        intergreens,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::junction::layout;
    use crate::operation::draw::{self, RoadStyle};
    use crate::{
        Control, CrossSection, Edit, JunctionRules, Node, RoadClass, Scenario, SignalMode,
    };
    use glam::DVec2;
    use roadwright_geometry::ReferenceLine;

    #[test]
    fn stages_go_beside_those_of_the_same_direction() {
        // East-west, east-west turning, north-south.
        let longer = [0.1, 0.1, 1.5];
        assert_eq!(laid_beside(&[0.0, 1.5], &longer), [0, 0, 1]);
        assert_eq!(laid_beside(&[0.1, 1.4, 1.5], &longer), [0, 1, 2]);
        assert_eq!(laid_beside(&[0.7], &longer), [0, 0, 0]);
        assert_eq!(laid_beside(&[0.0, 1.5], &[0.1, 1.3, 1.5]), [0, 1, 1]);
    }

    /// A street from west to east with two crossings so far apart, m, both with signals; the second
    /// street across may be driven fast, so that nobody turns across its oncoming traffic.
    fn town(apart: f64, is_fast: bool, plans: [SignalPlan; 2]) -> Scenario {
        let mut scenario = Scenario::new("two crossings");
        let mut road = |from: (f64, f64), to: (f64, f64), speed_limit| {
            let style = RoadStyle {
                name: String::new(),
                class: RoadClass::Residential,
                layer: 0,
                speed_limit,
                section: CrossSection::driving(1, 1, 3.25),
            };
            let line = ReferenceLine::straight(DVec2::from(from), DVec2::from(to)).unwrap();
            let edit = draw::road(&scenario, &line, &style).unwrap();
            scenario.apply(edit).unwrap();
        };
        let fast = if is_fast { 25.0 } else { 14.0 };
        road((-100.0, 0.0), (apart + 100.0, 0.0), 14.0);
        road((0.0, -100.0), (0.0, 100.0), 14.0);
        road((apart, -100.0), (apart, 100.0), fast);
        let network = scenario.network();
        let at = |x: f64| {
            let mut nodes = network.nodes();
            let is_there = |node: &Node| (node.position() - DVec2::new(x, 0.0)).length() < 1.0;
            nodes.find(|(_, node)| is_there(node)).unwrap()
        };
        let edits = [at(0.0), at(apart)].into_iter().zip(plans);
        let edits = edits.map(|((id, node), plan)| {
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
        // The fast street has a stage for each of its arms, and the other junction one for both.
        assert_eq!(signals[0].greens.len(), 3);
        for (&member, signals) in group.iter().zip(&signals) {
            let junction = &layout.junctions[member];
            let conflicts = Conflicts::of(junction);
            for green in &signals.greens {
                // Everybody on the street along both has green in the same stages.
                let along = junction.paths.iter().zip(green).filter(|(path, _)| {
                    let line = path.curve.as_ref().expect("they cross");
                    line.start().forward().y.abs() < 0.1 && line.end().forward().y.abs() < 0.1
                });
                let along: Vec<bool> = along.map(|(_, green)| *green).collect();
                assert!(along.iter().all(|green| *green == along[0]), "{along:?}");
                // Who meets another one with green turns across the oncoming traffic, or out of its way.
                for conflict in conflicts.list() {
                    let (a, b) = (conflict.paths.0 as usize, conflict.paths.1 as usize);
                    let turns = [a, b].map(|path| junction.paths[path].turn);
                    assert!(
                        !(green[a] && green[b])
                            || turns.contains(&crate::junction::Turn::Left)
                            || turns[0] == turns[1],
                        "{turns:?}"
                    );
                }
            }
        }
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
            offset: 12.0,
            ..free()
        };
        assert_eq!(groups(50.0, [free(), free()]), 1);
        assert_eq!(groups(50.0, [actuated(), actuated()]), 1);
        assert_eq!(groups(100.0, [free(), free()]), 2);
        assert_eq!(groups(50.0, [free(), actuated()]), 2);
        assert_eq!(groups(50.0, [free(), decided]), 2);
    }
}
