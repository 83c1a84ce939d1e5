//! Levels of dynamics: the models that move the bodies of agents.

use crate::body_kind::BodyKind;
use crate::named::file_value;
use std::fmt;
use std::str::FromStr;

file_value! {
    /// Dynamics level: the model that moves an agent's body.
    #[derive(Default)]
    #[repr(u8)]
    pub enum DynamicsLevel {
        /// The kinematic one-track model. It can drive both on lanes and off them.
        #[default]
        OneTrack = "one_track",
        /// A point that follows its lane; cheap enough for large amounts of traffic. Steering is
        /// ignored.
        Lane = "lane",
        /// The dynamic one-track model. Its tyres slip, and their force is limited.
        DynamicOneTrack = "dynamic_one_track",
        /// A rigid body on springs in three dimensions. It rolls, pitches, tips over, pushes other
        /// bodies and is pushed.
        Rigid = "rigid",
        /// The sliding car, which skids through bends. It has a throttle, a brake and separate grip
        /// factors for the axles.
        Sliding = "sliding",
        /// Characters on foot: they walk forwards, step sideways and turn on the spot.
        Walker = "walker",
    }
}

/// A part of a vehicle file that only some levels need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VehiclePart {
    /// Tyres with slip.
    Tyres,
    /// Springs and dampers.
    Suspension,
    /// A drive train, which has to be complete if the vehicle has one at all.
    WholeDriveTrain,
    /// Parameters of the sliding car.
    Sliding,
}

/// Properties of a dynamics level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelTraits {
    /// Name shown to users.
    pub title: &'static str,
    /// Kind of body that the level moves.
    pub moves: BodyKind,
    /// Whether the level works only on lanes.
    pub keeps_to_lanes: bool,
    /// Whether vehicles at this level steer.
    pub steers: bool,
    /// Whether tyres at this level slip sideways.
    pub slips: bool,
    /// Whether bodies at this level push each other. Otherwise they pass through each other.
    pub pushes: bool,
    /// Parts that the level needs in addition to the parts of every vehicle file.
    pub needs: &'static [VehiclePart],
}

impl DynamicsLevel {
    /// The levels that move vehicles.
    pub const FOR_VEHICLES: [Self; 5] = [
        Self::OneTrack,
        Self::Lane,
        Self::DynamicOneTrack,
        Self::Rigid,
        Self::Sliding,
    ];

    /// Returns the traits of the level. They are defined only in this function.
    #[inline]
    pub const fn traits(self) -> LevelTraits {
        let plain = LevelTraits {
            title: "",
            moves: BodyKind::Vehicle,
            keeps_to_lanes: false,
            steers: true,
            slips: false,
            pushes: false,
            needs: &[],
        };
        match self {
            Self::OneTrack => LevelTraits {
                title: "One-track",
                ..plain
            },
            Self::Lane => LevelTraits {
                title: "Lane",
                keeps_to_lanes: true,
                steers: false,
                ..plain
            },
            Self::DynamicOneTrack => LevelTraits {
                title: "Dynamic one-track",
                slips: true,
                needs: &[VehiclePart::Tyres, VehiclePart::WholeDriveTrain],
                ..plain
            },
            Self::Rigid => LevelTraits {
                title: "Rigid body",
                slips: true,
                pushes: true,
                needs: &[
                    VehiclePart::Tyres,
                    VehiclePart::Suspension,
                    VehiclePart::WholeDriveTrain,
                ],
                ..plain
            },
            Self::Sliding => LevelTraits {
                title: "Sliding",
                slips: true,
                needs: &[VehiclePart::Sliding],
                ..plain
            },
            Self::Walker => LevelTraits {
                title: "Walker",
                moves: BodyKind::Character,
                ..plain
            },
        }
    }
}

impl fmt::Display for DynamicsLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DynamicsLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|level| level.name() == text);
        let names = || Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| {
            format!(
                "\"{text}\" is not a level of dynamics; use one of {}",
                names()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_for_vehicles_are_those_that_move_vehicles() {
        let moves = DynamicsLevel::ALL.into_iter();
        let moves = moves.filter(|level| level.traits().moves == BodyKind::Vehicle);
        assert!(moves.eq(DynamicsLevel::FOR_VEHICLES));
    }

    #[test]
    fn names_are_those_of_files() {
        for level in DynamicsLevel::ALL {
            assert_eq!(level.name().parse(), Ok(level));
            let text = serde_json::to_string(&level).unwrap();
            assert_eq!(text, format!("\"{level}\""));
        }
        let error = "dense".parse::<DynamicsLevel>().unwrap_err();
        assert!(
            error.contains("one_track, lane, dynamic_one_track, rigid, sliding, walker"),
            "{error}"
        );
    }
}
