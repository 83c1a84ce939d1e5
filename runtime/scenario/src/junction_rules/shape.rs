//! What a person has decided about the ways through a junction and its corners.

use crate::ids::RoadId;
use crate::quantity::{CornerRadius, Quantity, check_keys, inside};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Turns that may be named for one node, each way: of a junction with 200 lanes most lead nowhere.
const MAX_TURNS: usize = 1000;
/// Corners that may be named for one node: as many as arms of any junction of a real town.
const MAX_CORNERS: usize = 64;

/// A lane of a road, by its id in the lane section at the junction.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct RoadLane {
    /// The road.
    pub road: RoadId,
    /// The lane's id there.
    pub lane: i8,
}

/// A way from one lane through a junction into another.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct LaneTurn {
    /// The lane that leads into the junction.
    pub from: RoadLane,
    /// The lane that leads out of it.
    pub to: RoadLane,
}

/// Ways that a junction has, or has not, whatever the rules of turning say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnRules {
    /// Ways that it has, those that restrictions forbid included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<LaneTurn>,
    /// Ways that it has not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<LaneTurn>,
}

impl TurnRules {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }

    /// Gives a junction a way, whatever else is said about it.
    pub fn add(&mut self, turn: LaneTurn) {
        self.forget(turn);
        self.add.push(turn);
        self.add.sort_unstable();
    }

    /// Takes a way from a junction, whatever else is said about it.
    pub fn remove(&mut self, turn: LaneTurn) {
        self.forget(turn);
        self.remove.push(turn);
        self.remove.sort_unstable();
    }

    /// Leaves a way to the rules of turning.
    pub fn forget(&mut self, turn: LaneTurn) {
        self.add.retain(|other| *other != turn);
        self.remove.retain(|other| *other != turn);
    }

    /// The same between other lanes; a way without one of its lanes is dropped.
    pub(super) fn moved(&self, place: impl Fn(RoadLane) -> Option<RoadLane>) -> Self {
        let moved = |turns: &[LaneTurn]| {
            let turns = turns.iter().filter_map(|turn| {
                Some(LaneTurn {
                    from: place(turn.from)?,
                    to: place(turn.to)?,
                })
            });
            turns.collect()
        };
        Self {
            add: moved(&self.add),
            remove: moved(&self.remove),
        }
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        for (key, turns) in [("add", &self.add), ("remove", &self.remove)] {
            let count = turns.len();
            if count > MAX_TURNS {
                return Err(format!("turns.{key}: {count} turns; at most {MAX_TURNS}"));
            }
        }
        let twice = |turn: &LaneTurn| self.remove.contains(turn);
        match self.add.iter().position(twice) {
            Some(i) => Err(format!(
                "turns.add.{i}: is in turns.remove as well; leave one of them out"
            )),
            None => Ok(()),
        }
    }
}

/// The radius of one corner of a junction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CornerRule {
    /// The corner lies between the left edge of this road, seen outward from the junction, ...
    pub road: RoadId,
    /// ... and the next road counter-clockwise.
    pub next: RoadId,
    /// Radius of the edge of the carriageway, m; as much of it as there is room for.
    pub radius: Quantity<CornerRadius>,
}

impl CornerRule {
    /// Whether it is about the corner from one road to the next one counter-clockwise.
    pub(crate) fn is_between(&self, road: RoadId, next: RoadId) -> bool {
        (self.road, self.next) == (road, next)
    }

    pub(super) fn validate_all(corners: &[Self]) -> Result<(), String> {
        if corners.len() > MAX_CORNERS {
            let count = corners.len();
            return Err(format!("corners: {count} corners; at most {MAX_CORNERS}"));
        }
        for (i, corner) in corners.iter().enumerate() {
            inside(&format!("corners.{i}"), check_keys!(corner => radius))?;
            let is_same = |before: &Self| before.is_between(corner.road, corner.next);
            if corners[..i].iter().any(is_same) {
                return Err(format!(
                    "corners.{i}: the corner from {} to {} is named twice; leave one of them out",
                    corner.road, corner.next
                ));
            }
        }
        Ok(())
    }
}
