//! Assigns signals and signs to junctions and roads.
//!
//! ```text
//!    ---+---S---[junction]      A signal or sign on an approach applies to the junction ahead, in its
//!       way -->                 direction, within 30 m.
//! ```

use super::elements::{OsmNode, SignKind};
use super::projection::great_circle_distance;
use super::roads::{Piece, road_id};
use roadwright_scenario::{Control, RoadId};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum distance along the way between a junction and the signals and signs that apply to it, m.
const REACH: f64 = 30.0;

/// Result of assigning signals: the nodes that get signals, and the number of signals in the data.
pub(super) struct Signals {
    /// Graph nodes that get signals.
    pub(super) carriers: BTreeSet<i64>,
    /// Number of signals in the data, on drivable ways.
    pub(super) count: usize,
}

/// Assigns each signal to the junction that it controls, or to a new node at its position.
pub(super) fn place_signals(
    runs: &[Piece],
    places: &BTreeMap<i64, OsmNode>,
    cuts: &mut BTreeSet<i64>,
) -> Signals {
    let mut carriers = BTreeSet::new();
    let mut counted = BTreeSet::new();
    for run in runs {
        for (i, &node) in run.nodes.iter().enumerate() {
            // Signals may be mapped at the stop line of each approach or once on the junction
            // (Tag:highway=traffic_signals on the wiki allows both). In either case, they control the
            // junction, so four stop lines 15 m before a crossing result in one node with signals. Signals
            // without a junction within reach are at pedestrian crossings.
            if places[&node].sign.kind != Some(SignKind::Signals) {
                continue;
            }
            counted.insert(node);
            let junction = guarded(run, i, places, |node| cuts.contains(node));
            let carrier = junction.map_or(node, |(_, junction)| junction);
            cuts.insert(carrier);
            carriers.insert(carrier);
        }
    }
    Signals {
        carriers,
        count: counted.len(),
    }
}

/// Returns the junction to which a signal or sign at position `i` of a run applies, and its distance, m;
/// `None` if there is none within `REACH`. This is the next junction in the direction of the signal or sign,
/// or the nearest one if no direction is stated.
fn guarded(
    run: &Piece,
    i: usize,
    places: &BTreeMap<i64, OsmNode>,
    is_junction: impl Fn(&i64) -> bool,
) -> Option<(f64, i64)> {
    if is_junction(&run.nodes[i]) {
        return Some((0.0, run.nodes[i]));
    }
    let walk = |order: &mut dyn Iterator<Item = usize>| {
        let mut distance = 0.0;
        let mut last = i;
        for k in order {
            distance += great_circle_distance(&places[&run.nodes[last]], &places[&run.nodes[k]]);
            last = k;
            if distance > REACH {
                return None;
            }
            if is_junction(&run.nodes[k]) {
                return Some((distance, run.nodes[k]));
            }
        }
        None
    };
    let ahead = || walk(&mut (i + 1..run.nodes.len()));
    let behind = || walk(&mut (0..i).rev());
    match places[&run.nodes[i]].sign.direction {
        // `forward` means along the way, but the run may have been reversed.
        Some(forward) if forward != run.is_reversed => ahead(),
        Some(_) => behind(),
        // Where a way was cut, both pieces contain the sign. It is used by the piece that begins at the cut.
        None if i == 0 || i + 1 == run.nodes.len() => ahead(),
        // At equal distances, it applies to the junction ahead, because signals are placed before what they
        // control.
        None => [ahead(), behind()]
            .into_iter()
            .flatten()
            .min_by(|a, b| a.0.total_cmp(&b.0)),
    }
}

/// Stop and give-way signs at junctions.
#[derive(Default)]
pub(super) struct Signs {
    /// Control of each junction, and its major roads.
    pub(super) decided: BTreeMap<i64, (Control, Vec<RoadId>)>,
    /// Total number of signs that were assigned to junctions.
    pub(super) count: usize,
}

/// Reads the signs on the approaches of each junction. The index of a piece determines the id of
/// its road.
pub(super) fn place_signs(pieces: &[Piece], places: &BTreeMap<i64, OsmNode>) -> Signs {
    let mut ends: BTreeMap<i64, Vec<RoadId>> = BTreeMap::new();
    let mut on_ring = BTreeSet::new();
    for (index, piece) in pieces.iter().enumerate() {
        for node in [piece.nodes[0], piece.nodes[piece.nodes.len() - 1]] {
            if piece.is_ring {
                on_ring.insert(node);
            }
            ends.entry(node).or_default().push(road_id(index));
        }
    }
    let is_crossing = |node: &i64| ends.get(node).is_some_and(|roads| roads.len() > 2);
    // The roads with a sign for each junction, and whether traffic has to stop on any of them.
    let mut minors: BTreeMap<i64, (BTreeSet<RoadId>, bool)> = BTreeMap::new();
    let mut counted = BTreeSet::new();
    for (index, piece) in pieces.iter().enumerate() {
        for (i, node) in piece.nodes.iter().enumerate() {
            let sign = places[node].sign;
            let stops = match sign.kind {
                Some(SignKind::Stop) => true,
                Some(SignKind::GiveWay) => false,
                _ => continue,
            };
            let Some((distance, junction)) = guarded(piece, i, places, is_crossing) else {
                continue;
            };
            // A sign on the junction itself does not show which approach it applies to, unless it applies to
            // all of them.
            if distance > 0.0 || sign.is_for_all {
                let (roads, any_stops) = minors.entry(junction).or_default();
                if sign.is_for_all {
                    roads.extend(&ends[&junction]);
                }
                roads.insert(road_id(index));
                *any_stops |= stops;
                counted.insert(*node);
            }
        }
    }
    let mut signs = Signs {
        count: counted.len(),
        ..Signs::default()
    };
    for (junction, (roads, stops)) in minors {
        let all = ends[&junction].iter().copied();
        let major: Vec<RoadId> = all.filter(|road| !roads.contains(road)).collect();
        let control = match (stops, major.is_empty()) {
            (true, true) => Control::AllWayStop,
            (true, false) => Control::Stop,
            // The approaches of a roundabout yield to the ring without a sign. If all approaches yield, none
            // of them is major.
            (false, is_for_all) if is_for_all || on_ring.contains(&junction) => continue,
            (false, _) => Control::Priority,
        };
        signs.decided.insert(junction, (control, major));
    }
    signs
}
