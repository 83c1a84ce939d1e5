//! Turn restrictions at nodes: at one node, and by way of other roads.

use crate::ids::RoadId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Roads that may lie between the first and the last one of a restriction.
pub(crate) const MOST_VIA: usize = 16;
/// Restrictions by way of roads that may be kept at one node.
const MOST_AT_A_NODE: usize = 64;

/// What a turn restriction says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RestrictionKind {
    /// This turn is forbidden.
    No,
    /// From there only this turn is allowed.
    Only,
}

/// A turn restriction at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Restriction {
    /// Forbids or prescribes.
    pub kind: RestrictionKind,
    /// Coming from this road.
    pub from: RoadId,
    /// Into this road.
    pub to: RoadId,
}

/// A turn restriction by way of roads. It is kept at the node where the first of them begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViaRestriction {
    /// Forbids or prescribes where one goes after the last road between.
    pub kind: RestrictionKind,
    /// Coming from this road.
    pub from: RoadId,
    /// By way of these, in the order in which they are driven. Roads that only go on from one of them
    /// need not be named.
    pub via: Vec<RoadId>,
    /// Into this road.
    pub to: RoadId,
}

impl ViaRestriction {
    /// What is wrong with those of a node.
    pub(crate) fn validate_all(all: &[Self]) -> Result<(), String> {
        if all.len() > MOST_AT_A_NODE {
            let count = all.len();
            return Err(format!(
                "via_restrictions: {count} restrictions; at most {MOST_AT_A_NODE}"
            ));
        }
        for (i, rule) in all.iter().enumerate() {
            let count = rule.via.len();
            if !(1..=MOST_VIA).contains(&count) {
                return Err(format!(
                    "via_restrictions.{i}.via: {count} roads; expected 1 to {MOST_VIA}"
                ));
            }
        }
        Ok(())
    }

    /// The same with other names of roads; `None` if one of them has no new name, or none is left between
    /// the first and the last one.
    pub(crate) fn on_roads(&self, name: impl Fn(RoadId) -> Option<RoadId>) -> Option<Self> {
        let (from, to) = (name(self.from)?, name(self.to)?);
        let via = self.via.iter().map(|&road| name(road));
        let mut via: Vec<RoadId> = via.collect::<Option<_>>()?;
        // Roads that have become one.
        via.dedup();
        if via != self.via || (from, to) != (self.from, self.to) {
            via.retain(|&road| road != from && road != to);
        }
        (!via.is_empty()).then_some(Self {
            kind: self.kind,
            from,
            via,
            to,
        })
    }
}
