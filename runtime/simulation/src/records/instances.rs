//! Module instances of an agent.

use roadwright_agent::Slot;
use serde::{Deserialize, Serialize};

/// Instances of an agent: an index into the pool of each slot, in the order of [`Slot::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Instances([u16; Slot::COUNT]);

impl Instances {
    /// Instances of an agent that does not drive.
    pub(crate) const NONE: Self = Self([u16::MAX; Slot::COUNT]);

    /// The instance of a slot.
    #[inline]
    pub(crate) fn of(self, slot: Slot) -> u16 {
        self.0[slot as usize]
    }

    pub(crate) fn set(&mut self, slot: Slot, instance: u16) {
        self.0[slot as usize] = instance;
    }

    /// These instances without the ones that `other` shares.
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
