//! Access to roads and lanes.

use crate::lane_type::LaneType;
use crate::named::file_value;

/// Class of a vehicle for reserved lanes (SUMO's `vClass`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum VehicleClass {
    /// A motor vehicle without special rights.
    #[default]
    Car,
    /// A vehicle with access to bus lanes.
    Bus,
}

impl VehicleClass {
    /// All classes, in the order of their numbers.
    pub const ALL: [Self; 2] = [Self::Car, Self::Bus];

    /// Returns the class for a class number of the route planner interface: 0 is a car, any other
    /// number a bus.
    pub fn from_number(number: u32) -> Self {
        if number == 0 { Self::Car } else { Self::Bus }
    }

    /// Returns the number of the class in the route planner interface.
    pub fn number(self) -> u32 {
        match self {
            Self::Car => 0,
            Self::Bus => 1,
        }
    }
}

/// Vehicles that may use a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum LaneAccess {
    /// All motor vehicles.
    #[default]
    All,
    /// Buses only.
    Buses,
    /// All vehicles except buses, because the lane is too narrow for them. This applies only to lanes of
    /// roads, never to connections through junctions.
    Cars,
}

impl LaneAccess {
    /// Returns the vehicles that may use a drivable lane of this type: only buses on a bus lane,
    /// otherwise all vehicles.
    pub fn of(kind: LaneType) -> Self {
        if kind == LaneType::Bus {
            Self::Buses
        } else {
            Self::All
        }
    }

    /// Whether vehicles of `class` may use the lane.
    #[inline]
    pub fn admits(self, class: VehicleClass) -> bool {
        match self {
            Self::All => true,
            Self::Buses => class == VehicleClass::Bus,
            Self::Cars => class == VehicleClass::Car,
        }
    }

    /// Whether all vehicles admitted by `other` are also admitted by `self`.
    pub fn includes(self, other: Self) -> bool {
        self == Self::All || self == other
    }

    /// Returns the vehicles that both lanes admit.
    pub fn and(self, other: Self) -> Self {
        self.max(other)
    }
}

file_value! {
    /// Access to a road. The values are those of OpenStreetMap's `access` key.
    ///
    /// Through traffic uses only roads that are open to all. Other roads are used only by trips
    /// that begin or end there. Roads with stricter access count as farther inside, so a trip may
    /// lead from a `private` road over a `destination` street to a public one, and vice versa
    /// ([`TripPart`]).
    #[derive(Default)]
    pub enum RoadAccess {
        /// All vehicles, including through traffic.
        #[default]
        All = "all",
        /// Trips that begin or end here.
        Destination = "destination",
        /// Customers of businesses on this road.
        Customers = "customers",
        /// Deliveries.
        Delivery = "delivery",
        /// Permit holders.
        Permit = "permit",
        /// The owner and authorised visitors.
        Private = "private",
        /// Closed to all traffic. A vehicle placed here may still leave.
        No = "no",
    }
}

impl RoadAccess {
    /// Degree of restriction: 0 if open to all traffic, 1 for trips that begin or end here, 2
    /// for a restricted group, 3 if closed to all traffic.
    #[inline]
    pub fn strictness(self) -> u8 {
        match self {
            Self::All => 0,
            Self::Destination => 1,
            Self::Customers | Self::Delivery | Self::Permit | Self::Private => 2,
            Self::No => 3,
        }
    }

    /// Whether a trip may end here.
    #[inline]
    pub fn admits_goals(self) -> bool {
        self != Self::No
    }
}

/// Part of a trip with respect to access restrictions.
///
/// ```text
///   strictness   2  ---.                     .---> goal
///                1     '---.             .---'
///                0         '-------------'
///                   leaving                arriving
/// ```
///
/// A trip first uses roads of decreasing strictness, and then arrives on roads of increasing strictness.
/// After that, it never returns to less strict roads, because that would be through traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TripPart {
    /// No road of the trip has been stricter than the road before it.
    Leaving,
    /// The trip has entered a stricter road. From here, it must end on that road or on roads that
    /// are at least as strict.
    Arriving,
}

impl TripPart {
    /// Returns the part of the trip after the vehicle has driven from one road onto another; `None` if this
    /// is not allowed.
    #[inline]
    pub fn onto(self, from: RoadAccess, to: RoadAccess) -> Option<Self> {
        let (before, after) = (from.strictness(), to.strictness());
        match self {
            Self::Leaving if after <= before => Some(Self::Leaving),
            _ if after < before || !to.admits_goals() => None,
            _ => Some(Self::Arriving),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a trip may use roads with these access values in this order.
    fn can_be_driven(roads: &[RoadAccess]) -> bool {
        let mut part = Some(TripPart::Leaving);
        for pair in roads.windows(2) {
            part = part.and_then(|part| part.onto(pair[0], pair[1]));
        }
        part.is_some()
    }

    #[test]
    fn trips_lead_out_and_in_and_never_through() {
        use RoadAccess::{All, Customers, Destination, No, Private};
        let cases: [(&[RoadAccess], bool); 11] = [
            (&[All, All, All], true),
            (&[All, Private], true),
            (&[Private, All], true),
            (&[All, Private, All], false),
            (&[All, Destination, All], false),
            (&[Private, Destination, All, Destination, Customers], true),
            (&[Destination, Private, All], false),
            (&[Private, All, Private], true),
            (&[Private, All, Private, All], false),
            (&[No, No, All], true),
            (&[All, No], false),
        ];
        for (roads, expected) in cases {
            assert_eq!(can_be_driven(roads), expected, "{roads:?}");
        }
    }
}
