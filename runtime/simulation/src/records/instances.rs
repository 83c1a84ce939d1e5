//! Module instances of an agent.

use roadwright_agent::Slot;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Module instances of an agent: for each slot, an index into its pool, in the order of
/// [`Slot::ALL`].
///
/// Saves and hashes of agents contain the instances of the slots in [`SAVED`]. Planners for open
/// ground are a separate part of saves, because older saves do not contain them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instances([u16; Slot::COUNT]);

/// Slots whose instances are stored with the agents in saves.
const SAVED: [Slot; 4] = [
    Slot::Planner,
    Slot::Behaviour,
    Slot::Controller,
    Slot::Fitness,
];

impl Serialize for Instances {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SAVED.map(|slot| self.of(slot)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Instances {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = <[u16; SAVED.len()]>::deserialize(deserializer)?;
        let mut instances = Self::NONE;
        for (slot, instance) in SAVED.into_iter().zip(saved) {
            instances.set(slot, instance);
        }
        Ok(instances)
    }
}

impl Instances {
    /// Instances of an agent that is not driving.
    pub(crate) const NONE: Self = Self([u16::MAX; Slot::COUNT]);

    /// The instance of a slot.
    #[inline]
    pub(crate) fn of(self, slot: Slot) -> u16 {
        self.0[slot as usize]
    }

    pub(crate) fn set(&mut self, slot: Slot, instance: u16) {
        self.0[slot as usize] = instance;
    }

    /// Returns these instances, but empties each slot that has the same instance in `other`.
    pub(crate) fn without(self, other: Self) -> Self {
        Self(std::array::from_fn(|slot| {
            if self.0[slot] == other.0[slot] {
                u16::MAX
            } else {
                self.0[slot]
            }
        }))
    }
}

impl Default for Instances {
    fn default() -> Self {
        Self::NONE
    }
}
