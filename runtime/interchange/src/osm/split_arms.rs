//! Arms of roundabouts that the data split around an island.
//!
//! ```text
//!               .--<--.
//!     stem ----f       r  roundabout       becomes       stem ----f-------r
//!               '-->--'
//! ```
//!
//! If entry and exit meet the roundabout at the same node, they are one arm, and the island between them
//! follows from the paths of the roundabout. Imported separately, they would be two arms at the same place,
//! with a path from the entry straight back into the exit. They are therefore joined to a two-way road along
//! the middle between them.

use super::Warnings;
use super::bus_lanes::BusLanes;
use super::change_lanes::ChangeLanes;
use super::elements::{OsmNode, Sign, SignKind};
use super::projection::{LocalProjection, great_circle_distance};
use super::roads::Piece;
use super::tags::WayStyle;
use super::turn_lanes::TurnLanes;
use glam::DVec2;
use roadwright_geometry::polyline;
use roadwright_scenario::{CrossSection, LaneType};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum length of an entry or exit that is joined, m. Longer ones are the carriageways of a street with a
/// median.
const MAX_LENGTH: f64 = 60.0;
/// Maximum distance between the lines of an entry and its exit, m. Farther apart, there may be more than an
/// island between them.
const MAX_APART: f64 = 16.0;
/// Largest ratio between the lengths of an entry and its exit.
const ALIKE: f64 = 1.5;
/// Number of places at which the distance between entry and exit is measured.
const SAMPLES: usize = 8;
/// Largest distance between the middle of entry and exit and the line of the joined road, m.
const MISS: f64 = 0.5;
/// Maximum distance along the arm between crossings over entry and exit that count as one crossing,
/// m.
const SAME_CROSSING: f64 = 8.0;
/// Minimum distance between the ends of an arm's line and its other points, m.
const NEAR_END: f64 = 2.0;
/// Warning about split arms that were joined.
const JOINED: &str = "roundabout arms split around an island (entry and exit joined into one road)";

/// The pieces with their styles and nodes.
pub(super) struct Graph<'a> {
    pub(super) pieces: &'a mut Vec<Piece>,
    pub(super) styles: &'a mut Vec<WayStyle>,
    pub(super) places: &'a mut BTreeMap<i64, OsmNode>,
}

/// Changes made by [`join`].
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// All ways of each joined piece, by the index of the piece.
    pub(super) ways: BTreeMap<usize, BTreeSet<i64>>,
    /// Nodes that no piece contains any more.
    lost: BTreeSet<i64>,
    /// Nodes that were created for joined roads.
    made: BTreeSet<i64>,
}

impl Joined {
    /// Applies the changes to the set of all nodes of drivable ways.
    pub(super) fn renew(&self, on_ways: &mut BTreeSet<i64>) {
        on_ways.retain(|node| !self.lost.contains(node));
        on_ways.extend(&self.made);
    }
}

/// Joins the entries and exits that meet a roundabout at the same node and each other at another node.
/// `carriers` are the nodes with signals, which stay as they are. O(pieces log pieces).
pub(super) fn join(
    mut graph: Graph<'_>,
    carriers: &BTreeSet<i64>,
    warnings: &mut Warnings,
) -> Joined {
    let mut joined = Joined::default();
    let mut ways: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
    let mut removed = BTreeSet::new();
    for arm in split_arms(&graph, carriers) {
        let last = arm.entry.last();
        let all = || arm.entry.pieces.iter().chain(&arm.exit.pieces).copied();
        warnings.add(JOINED, format!("way {}", graph.pieces[last].way));
        ways.insert(last, all().map(|index| graph.pieces[index].way).collect());
        removed.extend(all().filter(|index| *index != last));
        joined.lost.extend(arm.entry.inner());
        joined.lost.extend(arm.exit.inner());
        let nodes = graph.add_nodes(&arm, &mut joined.made);
        let style = graph.two_way_style(last, arm.exit.pieces[0]);
        graph.styles.push(style);
        graph.pieces[last] = Piece {
            style: graph.styles.len() - 1,
            nodes,
            is_reversed: false,
            begins: true,
            ..graph.pieces[last]
        };
    }
    let kept = (0..graph.pieces.len()).filter(|index| !removed.contains(index));
    let kept_ways = kept
        .enumerate()
        .filter_map(|(now, before)| Some((now, ways.remove(&before)?)));
    joined.ways = kept_ways.collect();
    let mut index = 0..;
    graph
        .pieces
        .retain(|_| index.next().is_none_or(|index| !removed.contains(&index)));
    joined
}

/// Pieces of a one-way street between two nodes of the graph, in driving order.
struct Chain {
    pieces: Vec<usize>,
    nodes: Vec<i64>,
}

impl Chain {
    /// Returns the index of the last piece.
    fn last(&self) -> usize {
        self.pieces[self.pieces.len() - 1]
    }

    /// Returns the nodes between the first and the last one.
    fn inner(&self) -> &[i64] {
        &self.nodes[1..self.nodes.len() - 1]
    }
}

/// An arm of a roundabout that is split into an entry and an exit.
struct SplitArm {
    entry: Chain,
    exit: Chain,
}

/// Finds all arms to be joined, ordered by the node of the roundabout.
fn split_arms(graph: &Graph<'_>, carriers: &BTreeSet<i64>) -> Vec<SplitArm> {
    let mut at: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    let mut roundabouts = BTreeSet::new();
    for (index, piece) in graph.pieces.iter().enumerate() {
        for node in [piece.nodes[0], piece.nodes[piece.nodes.len() - 1]] {
            at.entry(node).or_default().push(index);
            let is_mini = graph.places[&node].sign.kind == Some(SignKind::MiniRoundabout);
            if piece.is_ring || is_mini {
                roundabouts.insert(node);
            }
        }
    }
    let streets = Streets {
        graph,
        at,
        roundabouts,
        carriers,
    };
    let nodes = streets.roundabouts.iter();
    nodes
        .flat_map(|&node| streets.split_arms_at(node))
        .collect()
}

/// The pieces at each node, for the search for split arms.
struct Streets<'a> {
    graph: &'a Graph<'a>,
    at: BTreeMap<i64, Vec<usize>>,
    /// Mini roundabouts and the nodes of rings.
    roundabouts: BTreeSet<i64>,
    /// Nodes with signals.
    carriers: &'a BTreeSet<i64>,
}

/// Whether a chain leads to a roundabout or away from it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Entry,
    Exit,
}

impl Streets<'_> {
    fn split_arms_at(&self, node: i64) -> Vec<SplitArm> {
        let chains = |role| {
            let pieces = self.at[&node].iter();
            pieces.filter_map(move |&index| self.chain(index, node, role))
        };
        let exits: Vec<Chain> = chains(Role::Exit).collect();
        let entries: Vec<Chain> = chains(Role::Entry).collect();
        let fork = |entry: &Chain, exit: &Chain| exit.nodes.last() == entry.nodes.first();
        let mut arms = Vec::new();
        for exit in exits {
            let mut own = entries.iter().filter(|entry| fork(entry, &exit));
            // If several entries begin at the same fork, it is unknown which of them belongs to the
            // exit.
            if let (Some(entry), None) = (own.next(), own.next()) {
                let entry = Chain {
                    pieces: entry.pieces.clone(),
                    nodes: entry.nodes.clone(),
                };
                let arm = SplitArm { entry, exit };
                if self.has_stem(&arm) && arm.is_around_island(self.graph) {
                    arms.push(arm);
                }
            }
        }
        arms
    }

    /// Follows a one-way street from a roundabout to the next node where roads meet; `None` if the street is
    /// not one-way in the direction of its role, is too long, or has signals or bus lanes.
    fn chain(&self, first: usize, roundabout: i64, role: Role) -> Option<Chain> {
        let pieces = &self.graph.pieces;
        let mut chain = Chain {
            pieces: Vec::new(),
            nodes: vec![roundabout],
        };
        let (mut index, mut node) = (first, roundabout);
        loop {
            let piece = &pieces[index];
            // Ordered from the roundabout outwards.
            let mut nodes = piece.nodes.clone();
            if role == Role::Entry {
                nodes.reverse();
            }
            let is_new = !chain.pieces.contains(&index);
            if !is_new || !self.is_one_way(piece) || piece.is_ring || nodes[0] != node {
                return None;
            }
            chain.pieces.push(index);
            chain.nodes.extend(&nodes[1..]);
            node = nodes[nodes.len() - 1];
            if self.length(&chain) > MAX_LENGTH {
                return None;
            }
            match self.at[&node][..] {
                [a, b] if a != b && !self.carriers.contains(&node) => {
                    index = if a == index { b } else { a };
                }
                _ => break,
            }
        }
        if role == Role::Entry {
            chain.pieces.reverse();
            chain.nodes.reverse();
        }
        let has_signals = chain
            .inner()
            .iter()
            .any(|node| self.carriers.contains(node));
        let has_bus_lanes = chain.pieces.iter().any(|&index| {
            let style = &self.graph.styles[pieces[index].style];
            style.bus_lanes != BusLanes::default()
        });
        (!has_signals && !has_bus_lanes).then_some(chain)
    }

    /// Returns the length of a chain, m.
    fn length(&self, chain: &Chain) -> f64 {
        let places = &self.graph.places;
        let steps = chain.nodes.windows(2);
        steps
            .map(|pair| great_circle_distance(&places[&pair[0]], &places[&pair[1]]))
            .sum()
    }

    fn is_one_way(&self, piece: &Piece) -> bool {
        let section = &self.graph.styles[piece.style].section;
        let is_open = |lanes: &[(LaneType, f64)]| lanes.iter().any(|(kind, _)| kind.is_drivable());
        is_open(&section.forward) && !is_open(&section.backward)
    }

    /// Whether a two-way street begins where entry and exit meet.
    fn has_stem(&self, arm: &SplitArm) -> bool {
        let fork = arm.entry.nodes[0];
        let is_stem = |index: &usize| {
            let piece = &self.graph.pieces[*index];
            let is_own = arm.entry.pieces.contains(index) || arm.exit.pieces.contains(index);
            !is_own && !self.is_one_way(piece) && !piece.is_ring
        };
        !self.roundabouts.contains(&fork) && self.at[&fork].iter().any(is_stem)
    }
}

/// A point of a joined road.
struct Mark {
    /// Distance from the fork as a fraction of the length.
    share: f64,
    sign: Sign,
}

impl Mark {
    /// Whether the point has to be kept for its sign or crossing.
    fn tells(&self) -> bool {
        self.sign.kind.is_some() || self.sign.crossing.is_there
    }
}

/// The lines of an entry and its exit.
struct Lines {
    projection: LocalProjection,
    /// Both from the fork to the roundabout, m.
    lines: [Vec<DVec2>; 2],
}

impl Lines {
    fn of(arm: &SplitArm, places: &BTreeMap<i64, OsmNode>) -> Self {
        let fork = &places[&arm.entry.nodes[0]];
        let projection = LocalProjection::new(fork.latitude, fork.longitude);
        let point = |node: &i64| {
            let place = &places[node];
            projection.to_world(place.latitude, place.longitude)
        };
        let entry = arm.entry.nodes.iter().map(point).collect();
        let exit = arm.exit.nodes.iter().rev().map(point).collect();
        Self {
            projection,
            lines: [entry, exit],
        }
    }

    /// Returns the mean length of both lines, m.
    fn length(&self) -> f64 {
        let [entry, exit] = &self.lines;
        0.5 * (polyline::length(entry) + polyline::length(exit))
    }

    /// Returns the points of both lines at a fraction of their lengths.
    fn at(&self, share: f64) -> [DVec2; 2] {
        self.lines.each_ref().map(|line| along(line, share))
    }

    /// Returns the point in the middle between the lines at a fraction of their lengths.
    fn middle(&self, share: f64) -> DVec2 {
        let [entry, exit] = self.at(share);
        0.5 * (entry + exit)
    }
}

/// Returns the point at a fraction of the length of a line.
fn along(line: &[DVec2], share: f64) -> DVec2 {
    let mut left = share * polyline::length(line);
    for pair in line.windows(2) {
        let step = (pair[1] - pair[0]).length();
        if left <= step {
            return pair[0].lerp(pair[1], left / step.max(f64::MIN_POSITIVE));
        }
        left -= step;
    }
    line[line.len() - 1]
}

impl SplitArm {
    /// Whether entry and exit are about equally long and close to each other.
    fn is_around_island(&self, graph: &Graph<'_>) -> bool {
        let lines = Lines::of(self, graph.places);
        let [entry, exit] = lines.lines.each_ref().map(|line| polyline::length(line));
        let is_alike = entry <= ALIKE * exit && exit <= ALIKE * entry;
        let mut shares = (1..SAMPLES).map(|i| i as f64 / SAMPLES as f64);
        is_alike
            && shares.all(|share| {
                let [entry, exit] = lines.at(share);
                (entry - exit).length() <= MAX_APART
            })
    }

    /// Returns the points of the joined road between its ends. They have the crossings of both
    /// lines and the signs of the entry.
    fn marks(&self, lines: &Lines, places: &BTreeMap<i64, OsmNode>) -> Vec<Mark> {
        let whole = lines.length();
        let inside = NEAR_END / whole..=1.0 - NEAR_END / whole;
        let mark = |line: &[DVec2], i: usize, sign: Sign| {
            let share = polyline::length(&line[..=i]) / polyline::length(line);
            inside.contains(&share).then_some(Mark { share, sign })
        };
        let [entry, exit] = &lines.lines;
        let of_entry = (0..entry.len()).filter_map(|i| {
            let sign = places[&self.entry.nodes[i]].sign;
            mark(entry, i, for_entry(sign))
        });
        let of_exit = (0..exit.len()).filter_map(|i| {
            let sign = places[&self.exit.nodes[exit.len() - 1 - i]].sign;
            mark(exit, i, Sign { kind: None, ..sign })
        });
        let mut marks: Vec<Mark> = of_entry.chain(of_exit).collect();
        marks.sort_by(|a, b| a.share.total_cmp(&b.share));
        let mut last_crossing = f64::NEG_INFINITY;
        for mark in &mut marks {
            let s = mark.share * whole;
            let crossing = &mut mark.sign.crossing;
            if crossing.is_there && s - last_crossing <= SAME_CROSSING {
                crossing.is_there = false;
            } else if crossing.is_there {
                last_crossing = s;
            }
        }
        marks
    }
}

/// Converts a sign of an entry to a sign of the joined road, which leads to the roundabout.
fn for_entry(sign: Sign) -> Sign {
    let is_for_entry = matches!(sign.kind, Some(SignKind::Stop | SignKind::GiveWay));
    Sign {
        kind: sign.kind.filter(|_| is_for_entry),
        direction: is_for_entry.then_some(true).or(sign.direction),
        ..sign
    }
}

impl Graph<'_> {
    /// Adds the nodes of the road that replaces a split arm. Returns all its nodes, from the fork to the
    /// roundabout.
    fn add_nodes(&mut self, arm: &SplitArm, made: &mut BTreeSet<i64>) -> Vec<i64> {
        let lines = Lines::of(arm, self.places);
        let marks = arm.marks(&lines, self.places);
        let shares = marks.iter().map(|mark| mark.share);
        let shares = std::iter::once(0.0).chain(shares).chain([1.0]);
        let points: Vec<DVec2> = shares.map(|share| lines.middle(share)).collect();
        let bends = polyline::cuts(&points, MISS, f64::INFINITY);
        let (fork, roundabout) = (arm.entry.nodes[0], arm.exit.nodes[0]);
        let mut nodes = vec![fork];
        for (i, mark) in marks.iter().enumerate() {
            if !mark.tells() && !bends.contains(&(i + 1)) {
                continue;
            }
            let (latitude, longitude) = lines.projection.to_degrees(points[i + 1]);
            let least = self.places.first_key_value().map_or(0, |(id, _)| *id);
            let id = least.min(0) - 1;
            let node = OsmNode {
                latitude,
                longitude,
                sign: mark.sign,
            };
            self.places.insert(id, node);
            made.insert(id);
            nodes.push(id);
        }
        nodes.push(roundabout);
        nodes
    }

    /// Returns the style of a two-way road whose forward lanes come from an entry and whose
    /// backward lanes come from an exit.
    fn two_way_style(&self, entry: usize, exit: usize) -> WayStyle {
        let style = |piece: usize| &self.styles[self.pieces[piece].style];
        let (entry, exit) = (style(entry), style(exit));
        WayStyle {
            section: CrossSection {
                forward: entry.section.forward.clone(),
                backward: exit.section.forward.clone(),
            },
            turn_lanes: TurnLanes::two_way(&entry.turn_lanes, &exit.turn_lanes),
            change_lanes: ChangeLanes::two_way(&entry.change_lanes, &exit.change_lanes),
            placement: None,
            ..entry.clone()
        }
    }
}
