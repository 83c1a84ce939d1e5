//! Dense indices as separate types, so that passing the wrong kind of index does not compile.

use serde::{Deserialize, Serialize};

/// Declares index types, which wrap a `u32` and are serialised as numbers.
///
/// ```
/// roadwright_scenario::index_type! {
///     /// Index of a wheel.
///     WheelIndex;
/// }
///
/// let wheels = ["front", "rear"];
/// let rear = WheelIndex::new(1);
/// assert_eq!(wheels[rear.index()], "rear");
/// assert_eq!(WheelIndex::from_index(1), rear);
/// assert_eq!(format!("wheel {rear}, {rear:?}"), "wheel 1, 1");
/// ```
#[macro_export]
macro_rules! index_type {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, ::serde::Serialize, ::serde::Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(u32);

        impl $name {
            /// Returns the index with the given number.
            #[inline]
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// Returns the index of the element at the given position in an array.
            #[inline]
            pub const fn from_index(index: usize) -> Self {
                Self(index as u32)
            }

            /// Returns all indices of an array with `count` elements, in order.
            #[inline]
            pub fn up_to(count: usize) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
                (0..count as u32).map(Self)
            }

            /// Returns the indices of a range, in order.
            #[inline]
            pub fn within(
                range: ::std::ops::Range<Self>,
            ) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
                (range.start.0..range.end.0).map(Self)
            }

            /// Returns the number that this index wraps.
            #[inline]
            pub const fn number(self) -> u32 {
                self.0
            }

            /// Returns the index of the item in an array.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<u32> for $name {
            #[inline]
            fn from(number: u32) -> Self {
                Self(number)
            }
        }

        impl From<$name> for u32 {
            #[inline]
            fn from(index: $name) -> Self {
                index.0
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

index_type! {
    /// Index of a lanelet in its lane graph.
    LaneletIndex;
    /// Index of a junction in the layout of its network.
    JunctionIndex;
    /// Index of a connection in its junction.
    ///
    /// ```compile_fail,E0308
    /// use roadwright_scenario::{Connection, ConnectionIndex, JunctionIndex};
    ///
    /// let swapped = Connection::new(ConnectionIndex::new(2), JunctionIndex::new(5));
    /// ```
    ConnectionIndex;
}

/// Identifies a connection of a network by its junction and its index in that junction.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Connection {
    /// The junction.
    pub junction: JunctionIndex,
    /// Index of the connection in the junction.
    pub number: ConnectionIndex,
}

impl Connection {
    /// Creates an identifier from a junction and the index of a connection in it.
    #[inline]
    pub const fn new(junction: JunctionIndex, number: ConnectionIndex) -> Self {
        Self { junction, number }
    }
}
