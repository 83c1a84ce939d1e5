//! Who may use which roads and lanes.

use crate::lane_type::LaneType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a vehicle counts as where lanes are reserved (SUMO's `vClass`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum VehicleClass {
    /// Any motor vehicle without rights of its own.
    #[default]
    Car,
    /// It may use bus lanes.
    Bus,
}

impl VehicleClass {
    /// The class of its number in the rows of planners: 0 is a car.
    pub fn from_number(number: u32) -> Self {
        if number == 0 { Self::Car } else { Self::Bus }
    }

    /// Its number in the rows of planners.
    pub fn number(self) -> u32 {
        match self {
            Self::Car => 0,
            Self::Bus => 1,
        }
    }
}

/// Who may use a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum LaneAccess {
    /// All motor vehicles.
    #[default]
    All,
    /// Buses only.
    Buses,
    /// All but buses: it is too narrow for one. Only lanes of roads, never paths of junctions.
    Cars,
}

impl LaneAccess {
    /// Who may use a lane that motor vehicles drive on.
    pub fn of(kind: LaneType) -> Self {
        if kind == LaneType::Bus {
            Self::Buses
        } else {
            Self::All
        }
    }

    /// Whether vehicles of a class may use it.
    #[inline]
    pub fn admits(self, class: VehicleClass) -> bool {
        match self {
            Self::All => true,
            Self::Buses => class == VehicleClass::Bus,
            Self::Cars => class == VehicleClass::Car,
        }
    }

    /// Whether all who may use `other` may use this one as well.
    pub fn includes(self, other: Self) -> bool {
        self == Self::All || self == other
    }

    /// Who may use both.
    pub fn and(self, other: Self) -> Self {
        self.max(other)
    }
}

/// Who may drive on a road: the values of OpenStreetMap's `access`.
///
/// Nobody drives through a road that is not for all: trips begin and end there. The road with the
/// stricter access counts as the inner one, so a way from `private` ground over a `destination`
/// street to a public one can be driven, and the other way round ([`TripPart`]).
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RoadAccess {
    /// Everybody, through traffic included.
    #[default]
    All,
    /// Everybody whose trip begins or ends here.
    Destination,
    /// Customers of what lies here.
    Customers,
    /// Who delivers goods.
    Delivery,
    /// Who has a permit.
    Permit,
    /// The owner and whom the owner lets in.
    Private,
    /// Nobody. Who has been placed here may leave.
    No,
}

impl RoadAccess {
    /// All of them, from the most open to the closed one.
    pub const ALL: [Self; 7] = [
        Self::All,
        Self::Destination,
        Self::Customers,
        Self::Delivery,
        Self::Permit,
        Self::Private,
        Self::No,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Destination => "destination",
            Self::Customers => "customers",
            Self::Delivery => "delivery",
            Self::Permit => "permit",
            Self::Private => "private",
            Self::No => "no",
        }
    }

    /// How strict it is: 0 for all, 1 for trips that begin or end here, 2 for some people, 3 for
    /// nobody.
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

/// Which part of a trip something belongs to, as far as access is concerned.
///
/// ```text
///   strictness   2  ---.                     .---> goal
///                1     '---.             .---'
///                0         '-------------'
///                   leaving                arriving
/// ```
///
/// A trip leaves roads for ever less strict ones, and then arrives over ever stricter ones. It never
/// goes down again, for that would be driving through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TripPart {
    /// No road so far has been stricter than the one before it.
    Leaving,
    /// A stricter road has been entered: what follows leads to a goal on it or farther in.
    Arriving,
}

impl TripPart {
    /// The part that driving on from one road onto another belongs to; `None` if that is not
    /// allowed.
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

    /// Whether roads with these accesses can be driven one after the other.
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
