//! Merges neighbouring junctions at the user's request, and splits them again.
//!
//! ```text
//!    |           |                |           |
//!  --A----30 m---B--   becomes  --[A         B]--    The roads between them stay in the file. Their
//!    |           |                |           |      nodes declare them internal to the junction.
//! ```

use super::OperationError;
use super::users::with_places;
use crate::agents::Place;
use crate::edit::Edit;
use crate::ids::{NodeId, RoadId};
use crate::junction::{Layout, MAX_CLUSTER, layout, layout_after_edit};
use crate::network::{Node, RoadNetwork};
use crate::road::Road;
use crate::scenario::Scenario;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of neighbouring junctions to try, nearest first.
const TRIED: usize = 4;

/// Returns the edit that merges the junctions of the given nodes. A single junction is merged with
/// the nearest junction that allows it. Lays the network out: O(roads log roads).
///
/// # Errors
/// If no road connects the junctions, if a trip begins on, passes or ends on a road between them,
/// or if the merged junction would be larger than 60 m or break up the ring of a roundabout.
pub fn merged_junctions(
    scenario: &Scenario,
    nodes: &BTreeSet<NodeId>,
) -> Result<Edit, OperationError> {
    let layout = layout(scenario.network(), scenario.about());
    let near = Near {
        scenario,
        layout: &layout,
    };
    let chosen: BTreeSet<usize> = nodes.iter().filter_map(|&id| near.junction(id)).collect();
    if let Some(road) = near.used_between(&chosen) {
        return Err(OperationError::RoadIsUsed(road));
    }
    let refused = |one: usize, other: usize| OperationError::CannotMergeJunctions {
        one: layout.junctions[one].nodes[0],
        other: layout.junctions[other].nodes[0],
    };
    let mut chosen_ones = chosen.iter().copied();
    let Some(first) = chosen_ones.next() else {
        return Err(OperationError::NoJunctionNear);
    };
    let Some(last) = chosen_ones.next_back() else {
        let neighbours = near.neighbours(first);
        let edit = neighbours.iter().take(TRIED);
        let mut pairs = edit.map(|&other| BTreeSet::from([first, other]));
        let nearest = neighbours.first().ok_or(OperationError::NoJunctionNear)?;
        let fitting = pairs.find_map(|pair| Some((near.merged(&pair)?, pair)));
        let (edit, pair) = fitting.ok_or_else(|| refused(first, *nearest))?;
        return match near.used_between(&pair) {
            Some(road) => Err(OperationError::RoadIsUsed(road)),
            None => Ok(edit),
        };
    };
    near.merged(&chosen).ok_or_else(|| refused(first, last))
}

/// Returns the edit that splits a junction merged by the user; `None` if the user has not merged
/// the junction.
pub fn parted_junctions(scenario: &Scenario, node: NodeId) -> Option<Edit> {
    let layout = layout(scenario.network(), scenario.about());
    let junction = layout.junction_at(node)?;
    let network = scenario.network();
    let nodes = junction.nodes.iter();
    let merged = nodes.filter_map(|&id| Some((id, network.node(id)?)));
    let merged = merged.filter(|(_, node)| !node.rules.internal_roads.is_empty());
    let edits: Vec<Edit> = merged
        .map(|(id, node)| {
            let mut node = node.clone();
            node.rules.internal_roads.clear();
            Edit::Node(id, Some(node))
        })
        .collect();
    (!edits.is_empty()).then_some(Edit::Batch(edits))
}

struct Near<'a> {
    scenario: &'a Scenario,
    layout: &'a Layout,
}

impl Near<'_> {
    fn network(&self) -> &RoadNetwork {
        self.scenario.network()
    }

    fn junction(&self, node: NodeId) -> Option<usize> {
        self.layout.junction_of.get(&node).copied()
    }

    /// Returns the roads that connect two different junctions, each with the indices of both.
    fn roads_between(&self) -> impl Iterator<Item = (RoadId, &Road, [usize; 2])> {
        self.network().roads().filter_map(|(id, road)| {
            let ends = [self.junction(road.from)?, self.junction(road.to)?];
            (ends[0] != ends[1]).then_some((id, road, ends))
        })
    }

    /// Returns the junctions that a single road connects to junction `of`, ordered by the length of
    /// the road.
    fn neighbours(&self, of: usize) -> Vec<usize> {
        let mut found: Vec<(f64, usize)> = self
            .roads_between()
            .filter_map(|(_, road, ends)| {
                let other = match ends {
                    [from, to] if from == of => to,
                    [from, to] if to == of => from,
                    _ => return None,
                };
                let is_crossing = self.layout.junctions[other].arms.len() > 2;
                is_crossing.then_some((road.length(), other))
            })
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut seen = BTreeSet::new();
        found.retain(|(_, other)| seen.insert(*other));
        found.into_iter().map(|(_, other)| other).collect()
    }

    /// Returns the edit that merges junctions; `None` if they cannot be merged.
    fn merged(&self, junctions: &BTreeSet<usize>) -> Option<Edit> {
        let mut named: BTreeMap<NodeId, Vec<RoadId>> = BTreeMap::new();
        for (id, road) in self.between(junctions) {
            named.entry(road.from.min(road.to)).or_default().push(id);
        }
        let edits = named.into_iter().filter_map(|(id, roads)| {
            let mut node: Node = self.network().node(id)?.clone();
            let all = &mut node.rules.internal_roads;
            all.extend(roads);
            all.sort_unstable();
            all.dedup();
            Some(Edit::Node(id, Some(node)))
        });
        let edit = Edit::Batch(edits.collect());
        self.makes_one(&edit, junctions).then_some(edit)
    }

    /// Returns the roads between the given junctions that may become internal.
    fn between(&self, junctions: &BTreeSet<usize>) -> impl Iterator<Item = (RoadId, &Road)> {
        let all = self.roads_between();
        let fits = |road: &Road, id: &RoadId| {
            road.length() <= MAX_CLUSTER && !self.layout.rings.contains(id)
        };
        all.filter(move |(id, road, ends)| {
            ends.iter().all(|end| junctions.contains(end)) && fits(road, id)
        })
        .map(|(id, road, _)| (id, road))
    }

    /// Returns a road between the given junctions that a trip uses, if there is one. Such a road
    /// cannot become internal.
    fn used_between(&self, junctions: &BTreeSet<usize>) -> Option<RoadId> {
        let mut roads = self.between(junctions).map(|(id, _)| id);
        roads.find(|&id| {
            let elsewhere = |place: &Place| match place {
                Place::Lane(at) if at.road == id => None,
                _ => Some(*place),
            };
            !with_places(self.scenario, elsewhere).is_empty()
        })
    }

    /// Whether an edit merges the given junctions into one.
    fn makes_one(&self, edit: &Edit, junctions: &BTreeSet<usize>) -> bool {
        let mut after = self.scenario.clone();
        if after.apply(edit.clone()).is_err() {
            return false;
        }
        let about = self.scenario.about();
        let layout = layout_after_edit(self.network(), self.layout, after.network(), about);
        let nodes = junctions.iter();
        let nodes = nodes.map(|&junction| self.layout.junctions[junction].nodes[0]);
        let one: BTreeSet<_> = nodes.map(|node| layout.junction_of.get(&node)).collect();
        one.len() == 1
    }
}
