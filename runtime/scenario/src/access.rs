//! Who may use which lanes.

use crate::road::LaneType;

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
        self == Self::All || class == VehicleClass::Bus
    }

    /// Whether all who may use `other` may use this one as well.
    pub fn includes(self, other: Self) -> bool {
        self == Self::All || other == Self::Buses
    }

    /// Who may use both.
    pub fn and(self, other: Self) -> Self {
        self.max(other)
    }
}
