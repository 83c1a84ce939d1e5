//! Rules for the turns through a junction and for its corners, set by the user.

use crate::ids::RoadId;
use crate::quantity::{CornerRadius, Quantity, check_keys, inside};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of turns added or removed per node. Even in a junction with 200 lanes, only a few
/// pairs of lanes are connected.
const MAX_TURNS: usize = 1000;
/// Maximum number of corners per node. It exceeds the number of arms of any real junction.
const MAX_CORNERS: usize = 64;

/// A lane of a road, by its id in the lane section at the junction.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct RoadLane {
    /// The road.
    pub road: RoadId,
    /// The lane's id at the junction.
    pub lane: i8,
}

/// A turn from one lane through a junction into another.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct LaneTurn {
    /// The lane that enters the junction.
    pub from: RoadLane,
    /// The lane that leaves the junction.
    pub to: RoadLane,
}

/// The turns that are added to or removed from a junction, regardless of the turning rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnRules {
    /// Added turns, including turns that restrictions prohibit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<LaneTurn>,
    /// Removed turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<LaneTurn>,
}

impl TurnRules {
    /// Whether no turns are added or removed.
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }

    /// Adds a turn to a junction and cancels an earlier removal of the same turn.
    pub fn add(&mut self, turn: LaneTurn) {
        self.forget(turn);
        self.add.push(turn);
        self.add.sort_unstable();
    }

    /// Removes a turn from a junction and cancels an earlier addition of the same turn.
    pub fn remove(&mut self, turn: LaneTurn) {
        self.forget(turn);
        self.remove.push(turn);
        self.remove.sort_unstable();
    }

    /// Deletes a turn from both lists, so that only the turning rules decide whether it exists.
    pub fn forget(&mut self, turn: LaneTurn) {
        self.add.retain(|other| *other != turn);
        self.remove.retain(|other| *other != turn);
    }

    /// Returns the turns with their lanes replaced by `place`. A turn is dropped if one of its
    /// lanes has no replacement.
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
                return Err(format!(
                    "turns.{key}: {count} turns are too many; expected at most {MAX_TURNS}"
                ));
            }
        }
        let twice = |turn: &LaneTurn| self.remove.contains(turn);
        match self.add.iter().position(twice) {
            Some(i) => Err(format!(
                "turns.add.{i}: is also in turns.remove; keep only one of them"
            )),
            None => Ok(()),
        }
    }
}

/// The radius of one corner of a junction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CornerRule {
    /// Road whose left edge, looking outward from the junction, begins the corner.
    pub road: RoadId,
    /// The next road counter-clockwise, whose right edge ends the corner.
    pub next: RoadId,
    /// Radius of the edge of the carriageway, m. It is reduced if there is not enough room.
    pub radius: Quantity<CornerRadius>,
}

impl CornerRule {
    /// Whether the rule applies to the corner from one road to the next one counter-clockwise.
    pub(crate) fn is_between(&self, road: RoadId, next: RoadId) -> bool {
        (self.road, self.next) == (road, next)
    }

    pub(super) fn validate_all(corners: &[Self]) -> Result<(), String> {
        if corners.len() > MAX_CORNERS {
            let count = corners.len();
            return Err(format!(
                "corners: {count} corners are too many; expected at most {MAX_CORNERS}"
            ));
        }
        for (i, corner) in corners.iter().enumerate() {
            inside(&format!("corners.{i}"), check_keys!(corner => radius))?;
            let is_same = |before: &Self| before.is_between(corner.road, corner.next);
            if corners[..i].iter().any(is_same) {
                return Err(format!(
                    "corners.{i}: the corner from {} to {} is listed twice; remove one entry",
                    corner.road, corner.next
                ));
            }
        }
        Ok(())
    }
}
