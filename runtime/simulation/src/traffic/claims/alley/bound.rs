//! Maximum waiting times for alleys, computed from the theorem of the parent module.

use super::super::bound::{ASKING, LEAST_SPEED, LONGEST};
use super::super::rule::TURN_AFTER;
use super::super::situation::EXIT_GAP;
use roadwright_ground::Ground;
use roadwright_scenario::RoadId;
use roadwright_scenario::alleys::AlleySide;
use roadwright_scenario::lane_graph::LaneletIndex;
use std::collections::{BTreeMap, BTreeSet};

/// Length of a place where a vehicle of any length can stand, m.
const PLACE: f64 = LONGEST + EXIT_GAP;

/// Maximum waiting time for an alley.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlleyWait {
    /// Road of the alley.
    pub road: RoadId,
    /// Start and end of the alley along the road, m.
    pub span: (f64, f64),
    /// Upper bound on the waiting time of a vehicle for the alley and the alleys that touch it, s,
    /// provided that the lanes beyond drain.
    pub bound: f64,
}

/// Returns the alleys on a road with their maximum waiting times. O(alleys of their sections).
#[must_use]
pub fn alley_waits(ground: &Ground, road: RoadId) -> Vec<AlleyWait> {
    let (graph, alleys) = (ground.graph(), ground.alleys());
    let pieces = graph.lanes_of(road).flat_map(|(_, pieces)| pieces);
    let sides = pieces.flat_map(|&piece| alleys.on(piece));
    let firsts = sides.filter(|side| !side.is_second);
    let waits = firsts.map(|&side| {
        let direction = alleys.direction(side);
        let lanelet = graph.lanelet(direction.lanelet);
        AlleyWait {
            road,
            span: (lanelet.road_s(direction.from), lanelet.road_s(direction.to)),
            bound: Section::of(ground, side).bound(),
        }
    });
    let mut waits: Vec<AlleyWait> = waits.collect();
    waits.sort_by(|a, b| {
        a.span
            .0
            .total_cmp(&b.span.0)
            .then(a.span.1.total_cmp(&b.span.1))
    });
    waits
}

/// Maximum waiting time for alleys on the given lanes, before a vehicle is let into a junction that
/// leads to these lanes, s.
pub(in super::super) fn wait_beyond(
    ground: &Ground,
    lanes: impl Iterator<Item = LaneletIndex>,
) -> f64 {
    let alleys = ground.alleys();
    let mut seen = BTreeSet::new();
    let mut wait = 0.0;
    for lane in lanes {
        let first = alleys.on(lane).first();
        let first = first.filter(|&&side| alleys.direction(side).from < PLACE);
        if let Some(&side) = first.filter(|side| !seen.contains(&side.alley)) {
            let section = Section::of(ground, side);
            seen.extend(section.sides.iter().map(|side| side.0));
            wait += section.bound();
        }
    }
    wait
}

/// Alleys that touch, with no place to stand between them.
#[derive(Debug, Default)]
struct Section {
    /// The alleys with their directions: the index of the alley, and `true` for its second
    /// direction.
    sides: BTreeSet<(u32, bool)>,
    /// Clear lengths of the lanelets between alleys, m.
    between: BTreeMap<LaneletIndex, f64>,
    /// Total length of all alleys, m.
    length: f64,
    /// Lanes from which vehicles enter.
    entries: BTreeSet<LaneletIndex>,
}

impl Section {
    fn of(ground: &Ground, side: AlleySide) -> Self {
        let mut section = Self::default();
        let mut open = vec![side];
        while let Some(side) = open.pop() {
            if section.sides.insert((side.alley, side.is_second)) {
                open.push(side.opposite());
                section.add_beyond(ground, side, &mut open);
            }
        }
        section.measure(ground);
        section
    }

    /// Adds to `open` the alleys that follow `side` before the next place to stand.
    fn add_beyond(&mut self, ground: &Ground, side: AlleySide, open: &mut Vec<AlleySide>) {
        let direction = ground.alleys().direction(side);
        // Lanelets to search, each with the position where the search begins and the clear length
        // before it, m.
        let mut lanelets = vec![(direction.lanelet, direction.to, 0.0)];
        // Alleys for other pairs of vehicle sizes may overlap this one.
        let beside = ground.alleys().on(direction.lanelet).iter();
        open.extend(beside.filter(|&&other| {
            let other = ground.alleys().direction(other);
            other.from < direction.to && other.to > direction.from
        }));
        while let Some((lanelet, from, clear)) = lanelets.pop() {
            let mut later = ground.alleys().on(lanelet).iter();
            let next = later.find(|&&other| ground.alleys().direction(other).from >= from);
            if let Some(&next) = next {
                if clear + ground.alleys().direction(next).from - from < PLACE {
                    open.push(next);
                }
                continue;
            }
            let clear = match ground.lanelet(lanelet).is_connection() {
                true => 0.0,
                false => clear + ground.length(lanelet) - from,
            };
            if clear >= PLACE {
                continue;
            }
            for &next in ground.graph().successors(lanelet) {
                let is_new = self.between.insert(next, ground.length(next)).is_none();
                if is_new {
                    lanelets.push((next, 0.0, clear));
                }
            }
        }
    }

    /// Finds the length of the section and the lanes that lead to it.
    fn measure(&mut self, ground: &Ground) {
        let graph = ground.graph();
        let of = |&(alley, is_second): &(u32, bool)| {
            ground.alleys().direction(AlleySide { alley, is_second })
        };
        let directions: Vec<_> = self.sides.iter().map(of).collect();
        self.length = 0.5 * directions.iter().map(|one| one.to - one.from).sum::<f64>();
        let within: BTreeSet<LaneletIndex> = directions.iter().map(|one| one.lanelet).collect();
        for direction in directions {
            if direction.from > 0.0 {
                self.entries.insert(direction.lanelet);
                continue;
            }
            for &before in graph.predecessors(direction.lanelet) {
                let lanes = match graph.lanelet(before).is_connection() {
                    true => graph.predecessors(before),
                    false => std::slice::from_ref(&before),
                };
                let outside = lanes.iter().filter(|lane| !within.contains(lane));
                self.entries.extend(outside);
            }
        }
        self.between.retain(|lanelet, _| !within.contains(lanelet));
    }

    /// Maximum waiting time, s. At most [`ASKING`] vehicles per lane make requests at once, so fewer than
    /// `ASKING` times the number of lanes have made earlier requests.
    fn bound(&self) -> f64 {
        let length = self.length + self.between.values().sum::<f64>() + LONGEST;
        let lanes = self.entries.len().max(1);
        TURN_AFTER + ASKING * lanes as f64 * length / LEAST_SPEED
    }
}
