//! Kinds of bodies: vehicles and characters.

use crate::named::file_value;

file_value! {
    /// Kind of body of a vehicle type.
    #[derive(Default)]
    pub enum BodyKind {
        /// A vehicle with wheels or tracks.
        #[default]
        Vehicle = "vehicle",
        /// A person on foot: an oriented disc that walks forwards, steps sideways and turns on the spot
        /// ([Kuffner 1998], section 7.1).
        Character = "character",
    }
}

impl BodyKind {
    /// Whether this is the default. Files leave out the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
