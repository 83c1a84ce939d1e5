//! Turns at a junction, and sets of turns.

use crate::driving_side::DrivingSide;
use crate::named::named;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

named! {
    /// Direction of a turn.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum Turn {
        /// To the left.
        Left = "left",
        /// Straight ahead.
        Straight = "straight",
        /// To the right.
        Right = "right",
        /// A U-turn.
        UTurn = "u_turn",
    }
}

impl Turn {
    /// Returns the turn across oncoming traffic.
    pub fn far(side: DrivingSide) -> Self {
        match side {
            DrivingSide::Right => Self::Left,
            DrivingSide::Left => Self::Right,
        }
    }

    /// Returns the turn towards the driving side.
    pub fn near(side: DrivingSide) -> Self {
        match side {
            DrivingSide::Right => Self::Right,
            DrivingSide::Left => Self::Left,
        }
    }
}

/// A set of turns, as shown by the arrows of a lane. In files, it is a list of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turns(u8);

impl Turns {
    /// No turn; for a lane, this means no arrow.
    pub const NONE: Self = Self(0);

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether a turn is in the set.
    pub fn contains(self, turn: Turn) -> bool {
        self.0 & bit(turn) != 0
    }

    /// Returns the intersection of two sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the set with a turn added.
    #[must_use]
    pub fn with(self, turn: Turn) -> Self {
        Self(self.0 | bit(turn))
    }

    /// Returns the set without a turn.
    #[must_use]
    pub fn without(self, turn: Turn) -> Self {
        Self(self.0 & !bit(turn))
    }

    /// Returns the turns, from left to right.
    pub fn iter(self) -> impl Iterator<Item = Turn> {
        Turn::ALL
            .into_iter()
            .filter(move |&turn| self.contains(turn))
    }
}

fn bit(turn: Turn) -> u8 {
    1 << turn as u8
}

impl FromIterator<Turn> for Turns {
    fn from_iter<I: IntoIterator<Item = Turn>>(turns: I) -> Self {
        let mut set = Self::NONE;
        for turn in turns {
            set = set.with(turn);
        }
        set
    }
}

impl Serialize for Turns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Turns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Turn>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}

impl JsonSchema for Turns {
    fn schema_name() -> Cow<'static, str> {
        "Turns".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Turn>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_is_put_in_and_read_as_they_write() {
        let set: Turns = [Turn::Right, Turn::Left, Turn::Right].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [Turn::Left, Turn::Right]);
        assert!(set.contains(Turn::Left) && !set.contains(Turn::Straight));
        assert_eq!(set.without(Turn::Left).without(Turn::Right), Turns::NONE);
        let text = serde_json::to_string(&set).unwrap();
        assert_eq!(text, r#"["left","right"]"#);
        assert_eq!(serde_json::from_str::<Turns>(&text).unwrap(), set);
        assert!(serde_json::from_str::<Turns>(r#"["ahead"]"#).is_err());
    }
}
