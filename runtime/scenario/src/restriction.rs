//! Turn restrictions: at a single node, and via other roads.

use crate::ids::RoadId;
use crate::week_times::WeekTimes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of roads between the first and the last road of a restriction.
pub(crate) const MOST_VIA: usize = 16;
/// Maximum number of via restrictions per node.
const MOST_AT_A_NODE: usize = 64;

/// Kind of a turn restriction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RestrictionKind {
    /// This turn is prohibited.
    No,
    /// Only this turn is permitted from the road `from`.
    Only,
}

/// A turn restriction at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Restriction {
    /// Whether the turn is prohibited or is the only permitted one.
    pub kind: RestrictionKind,
    /// The road from which vehicles come.
    pub from: RoadId,
    /// The road into which vehicles turn.
    pub to: RoadId,
}

/// A turn restriction via other roads. It is stored at the node where the first via road begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViaRestriction {
    /// Whether the turn after the last via road is prohibited or is the only permitted one.
    pub kind: RestrictionKind,
    /// The road from which vehicles come.
    pub from: RoadId,
    /// The via roads, in driving order. Roads that merely continue one of them need not be named.
    pub via: Vec<RoadId>,
    /// The road into which vehicles turn.
    pub to: RoadId,
}

/// A turn restriction that applies at certain times. It is stored at the node of the turn or, if it has via
/// roads, at the node where the first of them begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimedRestriction {
    /// Whether the turn is prohibited or is the only permitted one.
    pub kind: RestrictionKind,
    /// The road from which vehicles come.
    pub from: RoadId,
    /// The via roads, in driving order. Most restrictions have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<RoadId>,
    /// The road into which vehicles turn.
    pub to: RoadId,
    /// Days of the week and times of day at which the restriction applies. It applies to a whole
    /// run if it applies at the moment at which the run starts.
    pub times: WeekTimes,
}

impl TimedRestriction {
    /// Converts to a restriction at a single node; `None` if the restriction has via roads.
    pub fn at_node(&self) -> Option<Restriction> {
        self.via.is_empty().then_some(Restriction {
            kind: self.kind,
            from: self.from,
            to: self.to,
        })
    }

    /// Converts to a restriction via other roads; `None` if the restriction has no via roads.
    pub fn via_roads(&self) -> Option<ViaRestriction> {
        (!self.via.is_empty()).then(|| ViaRestriction {
            kind: self.kind,
            from: self.from,
            via: self.via.clone(),
            to: self.to,
        })
    }

    /// Checks that a node does not have too many of these restrictions, and that none has too many
    /// via roads.
    pub(crate) fn validate_all(all: &[Self]) -> Result<(), String> {
        if all.len() > MOST_AT_A_NODE {
            let count = all.len();
            return Err(format!(
                "timed_restrictions: {count} restrictions are too many; expected at most {MOST_AT_A_NODE}"
            ));
        }
        match all.iter().position(|rule| rule.via.len() > MOST_VIA) {
            Some(i) => Err(format!(
                "timed_restrictions.{i}.via: {} roads are too many; expected at most {MOST_VIA}",
                all[i].via.len()
            )),
            None => Ok(()),
        }
    }

    /// Returns the restriction with its road ids replaced by `name`; `None` if one of the roads has
    /// no new id, or if no via road remains.
    pub(crate) fn on_roads(&self, name: impl Fn(RoadId) -> Option<RoadId>) -> Option<Self> {
        let renamed = match self.via_roads() {
            Some(rule) => rule.on_roads(name)?,
            None => ViaRestriction {
                kind: self.kind,
                from: name(self.from)?,
                via: Vec::new(),
                to: name(self.to)?,
            },
        };
        Some(Self {
            kind: self.kind,
            from: renamed.from,
            via: renamed.via,
            to: renamed.to,
            times: self.times.clone(),
        })
    }
}

impl ViaRestriction {
    /// Checks that a node does not have too many of these restrictions, and that each has a
    /// permitted number of via roads.
    pub(crate) fn validate_all(all: &[Self]) -> Result<(), String> {
        if all.len() > MOST_AT_A_NODE {
            let count = all.len();
            return Err(format!(
                "via_restrictions: {count} restrictions are too many; expected at most {MOST_AT_A_NODE}"
            ));
        }
        for (i, rule) in all.iter().enumerate() {
            let count = rule.via.len();
            if !(1..=MOST_VIA).contains(&count) {
                return Err(format!(
                    "via_restrictions.{i}.via: the list has {count} roads; expected 1 to {MOST_VIA}"
                ));
            }
        }
        Ok(())
    }

    /// Returns the restriction with its road ids replaced by `name`; `None` if one of the roads has
    /// no new id, or if no via road remains.
    pub(crate) fn on_roads(&self, name: impl Fn(RoadId) -> Option<RoadId>) -> Option<Self> {
        let (from, to) = (name(self.from)?, name(self.to)?);
        let via = self.via.iter().map(|&road| name(road));
        let mut via: Vec<RoadId> = via.collect::<Option<_>>()?;
        // Consecutive equal ids belong to roads that have been merged.
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
