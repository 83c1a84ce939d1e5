//! Checks that a merged junction connects exactly those arms that the streets between its nodes connect, by
//! comparison with all drives over these streets.

use proptest::prelude::*;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::junction::{Junction, Layout, Turn, layout};
use roadwright_scenario::operation::draw::{RoadStyle, road};
use roadwright_scenario::operation::merged_junctions;
use roadwright_scenario::*;
use roadwright_testing::scaled;
use std::collections::BTreeSet;

/// An end of a road.
type End = (RoadId, RoadEnd);

/// The streets inside a merged junction.
struct Within<'a> {
    scenario: &'a Scenario,
    layout: &'a Layout,
    junction: &'a Junction,
}

impl Within<'_> {
    fn road(&self, id: RoadId) -> &Road {
        self.scenario.network().road(id).unwrap()
    }

    /// Returns the exits for vehicles of a class that enter from an arm, by trying every drive that uses no
    /// street twice in the same direction and makes no U-turn on a street.
    fn exits(&self, from: End, class: VehicleClass) -> BTreeSet<End> {
        let mut exits = BTreeSet::new();
        let mut drives = vec![(self.road(from.0).node_at(from.1), vec![from])];
        while let Some((node, ends)) = drives.pop() {
            let drive: Vec<RoadId> = ends.iter().map(|(road, _)| *road).collect();
            for (next, end) in self.scenario.network().ends_at(node) {
                let is_internal = self.layout.internal.contains(&next);
                let turns_back = drive.last() == Some(&next);
                let turns_round = is_internal && (turns_back || ends.contains(&(next, end)));
                if turns_round || !self.is_allowed(node, &drive, next) {
                    continue;
                }
                if !is_internal {
                    exits.insert((next, end));
                } else if self.is_open(next, end, class) {
                    let road = self.road(next);
                    let far = if end == RoadEnd::Start {
                        road.to
                    } else {
                        road.from
                    };
                    let mut longer = ends.clone();
                    longer.push((next, end));
                    drives.push((far, longer));
                }
            }
        }
        exits
    }

    /// Whether a street can be entered at an end.
    fn is_open(&self, id: RoadId, end: RoadEnd, class: VehicleClass) -> bool {
        let road = self.road(id);
        let side = self.scenario.about().driving_side;
        let forward = end == RoadEnd::Start;
        let is_for = |lane: &Lane| {
            lane.is_forward(side) == forward
                && match lane.kind {
                    LaneType::Driving => true,
                    LaneType::Bus => class == VehicleClass::Bus,
                    _ => false,
                }
        };
        road.lane_sections
            .iter()
            .all(|section| section.lanes.iter().any(is_for))
    }

    /// Whether the restrictions permit the next road.
    fn is_allowed(&self, node: NodeId, drive: &[RoadId], next: RoadId) -> bool {
        let network = self.scenario.network();
        let came = *drive.last().unwrap();
        let own = &network.node(node).unwrap().rules.restrictions;
        let mut own = own.iter().filter(|rule| rule.from == came);
        let is_kept = |rule: &Restriction| match rule.kind {
            RestrictionKind::No => rule.to != next,
            RestrictionKind::Only => true,
        };
        let only: Vec<RoadId> = own
            .clone()
            .filter(|rule| rule.kind == RestrictionKind::Only)
            .map(|rule| rule.to)
            .collect();
        let nodes = self.junction.nodes.iter();
        let mut via = nodes.flat_map(|&node| &network.node(node).unwrap().rules.via_restrictions);
        let keeps_via = via.all(|rule| {
            let mut way = vec![rule.from];
            way.extend(&rule.via);
            !drive.ends_with(&way) || (rule.kind == RestrictionKind::Only) == (rule.to == next)
        });
        own.all(is_kept) && (only.is_empty() || only.contains(&next)) && keeps_via
    }
}

/// Number of merged junctions in a scenario, and of connections through them.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) junctions: usize,
    ways: usize,
}

/// Compares all connections of merged junctions with the drives over their streets.
pub(crate) fn hold(scenario: &Scenario) -> Tally {
    let layout = layout(scenario.network(), scenario.about());
    let mut tally = Tally::default();
    for junction in layout.junctions.iter().filter(|j| j.nodes.len() > 1) {
        tally.junctions += 1;
        let within = Within {
            scenario,
            layout: &layout,
            junction,
        };
        let added: BTreeSet<_> = junction
            .nodes
            .iter()
            .flat_map(|&node| &scenario.network().node(node).unwrap().rules.turns.add)
            .map(|turn| (turn.from.road, turn.to.road))
            .collect();
        for arm in &junction.arms {
            let from = (arm.road, arm.end);
            let [cars, buses] =
                [VehicleClass::Car, VehicleClass::Bus].map(|class| within.exits(from, class));
            let ways = junction.paths.iter();
            let ways: Vec<_> = ways
                .filter(|way| (way.from.road, way.from.end) == from)
                .collect();
            for way in &ways {
                tally.ways += 1;
                let to = (way.to.road, way.to.end);
                let is_added = added.contains(&(from.0, to.0));
                // U-turns around an island are permitted.
                let is_round = way.turn == Turn::UTurn && from.0 == to.0;
                let exits = if way.access.admits(VehicleClass::Car) {
                    &cars
                } else {
                    &buses
                };
                assert!(
                    is_added || is_round || exits.contains(&to),
                    "{:?}: {} to {} does not lead over the streets there",
                    junction.nodes,
                    from.0,
                    to.0
                );
            }
        }
    }
    tally
}

/// Creates a grid of short streets, some of them one-way or only for buses, with restrictions at some
/// crossings.
fn grid(numbers: &[u8]) -> Scenario {
    let mut scenario = Scenario::new("grid");
    let mut numbers = numbers.iter().copied().cycle();
    let mut next = || numbers.next().unwrap();
    const STREETS: i32 = 4;
    for number in 0..STREETS {
        for across in [false, true] {
            let at = f64::from(number) * (9.0 + f64::from(next() % 20));
            let [start, end] = [-90.0, 140.0].map(|along| match across {
                false => DVec2::new(along, at),
                true => DVec2::new(at, along),
            });
            let section = match next() % 5 {
                0 => CrossSection::driving(1, 0, 3.25),
                1 => CrossSection {
                    forward: vec![(LaneType::Driving, 3.25)],
                    backward: vec![(LaneType::Bus, 3.25)],
                },
                _ => CrossSection::driving(1, 1, 3.25),
            };
            let style = RoadStyle {
                name: String::new(),
                class: RoadClass::Residential,
                layer: 0,
                speed_limit: 13.9,
                section,
            };
            let line = ReferenceLine::straight(start, end).unwrap();
            if let Ok(edit) = road(&scenario, &line, &style) {
                scenario.apply(edit).unwrap();
            }
        }
    }
    let nodes: Vec<NodeId> = scenario.network().nodes().map(|(id, _)| id).collect();
    for id in nodes {
        let ends = scenario.network().ends_at(id);
        if ends.len() < 3 || next() % 2 == 0 {
            continue;
        }
        let road = |number: u8| ends[usize::from(number) % ends.len()].0;
        let mut node = scenario.network().node(id).unwrap().clone();
        node.rules.restrictions.push(Restriction {
            kind: [RestrictionKind::No, RestrictionKind::Only][usize::from(next() % 2)],
            from: road(next()),
            to: road(next()),
        });
        scenario.apply(Edit::Node(id, Some(node))).unwrap();
    }
    scenario
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scaled(48) as u32))]

    #[test]
    fn merged_junctions_of_grids_lead_nowhere_where_their_streets_do_not(
        numbers in proptest::collection::vec(any::<u8>(), 40..80),
    ) {
        let mut scenario = grid(&numbers);
        hold(&scenario);
        // The user also merges some further nodes.
        let nodes: Vec<NodeId> = scenario.network().nodes().map(|(id, _)| id).collect();
        for number in &numbers[..4] {
            let node = nodes[usize::from(*number) % nodes.len()];
            if let Ok(edit) = merged_junctions(&scenario, &[node].into()) {
                scenario.apply(edit).unwrap();
            }
        }
        hold(&scenario);
    }
}

#[test]
fn grids_have_merged_junctions_and_restrictions_that_matter() {
    let numbers: Vec<u8> = (0..60).map(|i| (i * 37 % 251) as u8).collect();
    let restricted = grid(&numbers);
    let tally = hold(&restricted);
    let mut free = restricted.clone();
    let nodes: Vec<(NodeId, Node)> = free
        .network()
        .nodes()
        .map(|(id, node)| (id, node.clone()))
        .collect();
    for (id, mut node) in nodes {
        node.rules.restrictions.clear();
        free.apply(Edit::Node(id, Some(node))).unwrap();
    }
    let without = hold(&free);
    assert!(
        tally.junctions > 0 && tally.ways < without.ways,
        "{tally:?} {without:?}"
    );
}

#[test]
fn ways_over_a_street_for_buses_are_for_buses() {
    let mut scenario = Scenario::new("buses");
    let style = |section| RoadStyle {
        name: String::new(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 13.9,
        section,
    };
    let both = CrossSection::driving(1, 1, 3.25);
    let for_buses = CrossSection {
        forward: vec![(LaneType::Bus, 3.25)],
        backward: vec![(LaneType::Bus, 3.25)],
    };
    // Two streets side by side, and a short one for buses between them.
    for (from, to, section) in [
        ((0.0, -90.0), (0.0, 90.0), &both),
        ((16.0, -90.0), (16.0, 90.0), &both),
        ((0.0, 0.0), (16.0, 0.0), &for_buses),
    ] {
        let line = ReferenceLine::straight(from.into(), to.into()).unwrap();
        let edit = road(&scenario, &line, &style(section.clone())).unwrap();
        scenario.apply(edit).unwrap();
    }
    let layout = layout(scenario.network(), scenario.about());
    let merged = layout
        .junctions
        .iter()
        .find(|junction| junction.nodes.len() == 2);
    let merged = merged.expect("16 m are too short for two junctions");
    let own_street = |id: RoadId| {
        let road = scenario.network().road(id).unwrap();
        road.reference_line.start().position.x > 8.0
    };
    let (over, along): (Vec<_>, Vec<_>) = merged
        .paths
        .iter()
        .partition(|path| own_street(path.from.road) != own_street(path.to.road));
    assert!(!over.is_empty() && over.iter().all(|path| path.access == LaneAccess::Buses));
    assert!(!along.is_empty() && along.iter().all(|path| path.access == LaneAccess::All));
}
