//! Conditions under which vehicles leave the lanes.

use crate::named::file_value;

file_value! {
    /// Conditions under which a vehicle type leaves the lanes.
    #[derive(Default)]
    pub enum OffRoad {
        /// Vehicles leave the lanes only to drive from a start or to a goal off the lanes.
        #[default]
        WhenNeeded = "when_needed",
        /// Vehicles also leave the lanes where open ground is a short cut, and to drive between
        /// road networks that are not connected by lanes.
        Free = "free",
        /// Vehicles never leave the lanes. A start or goal off the lanes has no connection to the road network.
        Never = "never",
    }
}

impl OffRoad {
    /// Whether this is the default. Files leave out the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
