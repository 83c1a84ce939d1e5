//! When vehicles drive off the lanes.

use crate::named::file_value;

file_value! {
    /// When a vehicle type drives beside the lanes.
    #[derive(Default)]
    pub enum OffRoad {
        /// Only from a start or to a goal that lies beside the lanes.
        #[default]
        WhenNeeded = "when_needed",
        /// Also where open ground is a short cut, and between road networks that no lane connects.
        Free = "free",
        /// Never: a start or a goal beside the lanes cannot be reached.
        Never = "never",
    }
}

impl OffRoad {
    /// Whether it is the default, which files leave out.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
