//! Turn restrictions via other roads. They prohibit or prescribe a turn only for vehicles that have
//! driven certain roads before it.
//!
//! ```text
//!      from      to         no U-turn via the short street: vehicles from `from` that have driven
//!   ----->o    o----->      `via` must not continue into `to`; vehicles that begin on `via`, or
//!         | via|            come from elsewhere, may.
//!         +----+
//! ```

use crate::ids::{NodeId, RoadId};
use crate::network::RoadNetwork;
use crate::restriction::{MOST_VIA, RestrictionKind, ViaRestriction};

impl ViaRestriction {
    /// Returns the roads of the restriction in sequence, from the first to the last; `None` if the
    /// roads do not meet. Includes roads in between that merely continue another road, for example
    /// after a cut.
    pub fn roads(&self, network: &RoadNetwork, node: NodeId) -> Option<Vec<RoadId>> {
        let ends_here = |at: NodeId, road: RoadId| {
            let ends = network.ends_at(at);
            ends.iter().any(|(id, _)| *id == road)
        };
        if !ends_here(node, self.from) {
            return None;
        }
        let beyond = |road: RoadId, at: NodeId| {
            let road = network.road(road)?;
            Some(if road.from == at { road.to } else { road.from })
        };
        let (mut roads, mut at) = (vec![self.from], node);
        for &wanted in self.via.iter().chain([&self.to]) {
            while !ends_here(at, wanted) {
                let last = *roads.last()?;
                let ends = network.ends_at(at);
                let mut others = ends.iter().filter(|(id, _)| *id != last);
                let (Some(&(next, _)), None) = (others.next(), others.next()) else {
                    return None;
                };
                // The road before the first via road is not extended.
                if roads.len() < 2 || ends.len() != 2 || roads.len() > 2 * MOST_VIA {
                    return None;
                }
                at = beyond(next, at)?;
                roads.push(next);
            }
            at = beyond(wanted, at)?;
            roads.push(wanted);
        }
        Some(roads)
    }
}

/// The via restrictions of a network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViaRules {
    sequences: Vec<(RestrictionKind, Vec<RoadId>)>,
}

/// Progress of a vehicle along the roads of restrictions: pairs of a restriction and the number of
/// its roads that the vehicle has driven, in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Followed(Vec<(u32, u32)>);

impl Followed {
    /// Whether the vehicle has not yet driven the first road of any restriction.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the combined progress of two vehicles.
    pub fn union(&self, other: &Self) -> Self {
        let mut all: Vec<_> = self.0.iter().chain(&other.0).copied().collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }
}

impl ViaRules {
    /// Collects the restrictions stored at the given nodes, on the roads that `stays` accepts. A
    /// restriction is left out if `stays` is false for its first or last road or for all its via
    /// roads, or if its roads do not meet.
    pub fn of(
        network: &RoadNetwork,
        nodes: impl Iterator<Item = NodeId>,
        stays: impl Fn(RoadId) -> bool,
    ) -> Self {
        let mut sequences = Vec::new();
        for id in nodes {
            let node = network.node(id).into_iter();
            for rule in node.flat_map(|node| node.rules.via_restrictions_at(network.moment())) {
                let Some(roads) = rule.roads(network, id) else {
                    continue;
                };
                let kept: Vec<RoadId> = roads.iter().copied().filter(|&road| stays(road)).collect();
                let has_ends = kept.first() == roads.first() && kept.last() == roads.last();
                if has_ends && kept.len() > 2 {
                    sequences.push((rule.kind, kept));
                }
            }
        }
        Self { sequences }
    }

    /// Whether there are no restrictions.
    pub fn is_empty(&self) -> bool {
        self.sequences.is_empty()
    }

    /// Number of restrictions.
    pub fn len(&self) -> usize {
        self.sequences.len()
    }

    /// Whether any restriction begins with this road.
    pub fn begin_with(&self, road: RoadId) -> bool {
        self.sequences.iter().any(|(_, roads)| roads[0] == road)
    }

    /// Returns the progress of a vehicle after it has continued onto a road; `None` if a
    /// restriction prohibits this.
    pub fn after(&self, followed: &Followed, road: RoadId) -> Option<Followed> {
        let mut after = Vec::new();
        for &(number, place) in &followed.0 {
            let (kind, roads) = &self.sequences[number as usize];
            let next = place as usize + 1;
            let (is_next, is_last) = (roads[next] == road, next + 1 == roads.len());
            match (is_last, kind) {
                (true, RestrictionKind::No) if is_next => return None,
                (true, RestrictionKind::Only) if !is_next => return None,
                (false, _) if is_next => after.push((number, next as u32)),
                _ => {}
            }
        }
        let begun = (0..)
            .zip(&self.sequences)
            .filter(|(_, (_, roads))| roads[0] == road);
        after.extend(begun.map(|(number, _)| (number, 0)));
        after.sort_unstable();
        Some(Followed(after))
    }
}
