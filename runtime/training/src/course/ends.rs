//! End conditions of a drive.

use roadwright_scenario::DynamicsLevel;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Interval between checks for the end of a drive, in seconds of simulated time.
pub(crate) const LOOK: f64 = 0.1;

/// End conditions of drives on a course. Arriving at the last goal always ends a drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ends {
    /// Time limit of a drive, s.
    pub time: f64,
    /// Distance after which a drive is complete, m. `None` if drives are complete only on arrival.
    pub mileage: Option<f64>,
    /// Distance of the vehicle's centre from the goal within which the vehicle has arrived, m. `None` for the
    /// default rule.
    pub goal_radius: Option<f64>,
    /// Roll angle to either side beyond which a vehicle has tipped over, rad. `None` if the roll is not
    /// limited.
    pub roll: Option<f64>,
    /// Rule that decides whether a vehicle is stuck; `None` if vehicles never count as stuck.
    pub stuck: Option<Stuck>,
    /// Whether a vehicle that touches an obstacle or another vehicle counts as stuck. This is used where
    /// bodies would otherwise pass through each other.
    pub contact: bool,
}

/// Rule for stuck vehicles. A vehicle is stuck if it is still near its position at an earlier time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stuck {
    /// Distance from the earlier position below which a vehicle is stuck, m.
    pub distance: f64,
    /// Time since the earlier position, s.
    pub time: f64,
}

/// How a drive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The vehicle arrived at its last goal.
    Arrived,
    /// The vehicle covered the required distance.
    Mileage,
    /// The time ran out.
    Time,
    /// The vehicle was removed from the road.
    Removed,
    /// The vehicle tipped over.
    RolledOver,
    /// The vehicle got stuck.
    Stuck,
    /// The vehicle touched an object, at a level whose bodies pass through objects.
    Struck,
    /// The vehicle lasted for the whole time of the course: the pole was still upright, or the
    /// vehicle was still driving.
    Held,
    /// The pole fell.
    Fell,
    /// The vehicle and its trailer jackknifed.
    Jackknifed,
}

impl End {
    /// Whether the drive is complete.
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Arrived | Self::Mileage | Self::Held)
    }

    /// Returns the name of the end in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrived => "arrived",
            Self::Mileage => "mileage",
            Self::Time => "time",
            Self::Removed => "removed",
            Self::RolledOver => "rolled_over",
            Self::Stuck => "stuck",
            Self::Struck => "struck",
            Self::Held => "held",
            Self::Fell => "fell",
            Self::Jackknifed => "jackknifed",
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// State of a drive at a check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    /// Distance driven, m.
    pub(crate) mileage: f64,
    /// Time driven, s.
    pub(crate) time: f64,
    /// Straight-line distance from the centre of the body to the goal, m.
    pub(crate) to_goal: f64,
    /// Roll of the body, rad.
    pub(crate) roll: f64,
    /// Distance from the position that the vehicle had `stuck.time` seconds ago, m. `None` if the
    /// vehicle has not driven for that long.
    pub(crate) moved: Option<f64>,
    /// Whether the vehicle touches an object, at a level whose bodies pass through objects.
    pub(crate) struck: bool,
}

impl Moment {
    /// State of a vehicle that has just started.
    #[cfg(test)]
    const START: Self = Self {
        mileage: 0.0,
        time: 0.0,
        to_goal: 120.0,
        roll: 0.0,
        moved: None,
        struck: false,
    };
}

impl Ends {
    /// Returns conditions that end a drive after `time` seconds or on arrival.
    pub(crate) const fn after(time: f64) -> Self {
        Self {
            time,
            mileage: None,
            goal_radius: None,
            roll: None,
            stuck: None,
            contact: false,
        }
    }

    /// Whether vehicles may continue driving after their drives have ended.
    pub(crate) fn leaves_vehicles(&self) -> bool {
        self.mileage.is_some() || self.looks_closely()
    }

    /// Whether end conditions other than time and distance must be checked.
    pub(crate) fn looks_closely(&self) -> bool {
        self.goal_radius.is_some() || self.roll.is_some() || self.stuck.is_some() || self.contact
    }

    /// Returns how a drive ends at this moment; `None` if it continues. Failures are checked in the order of
    /// [Gerdelan 2011], algorithm 2. Therefore a vehicle that reaches the goal just when its time runs out
    /// has not arrived.
    pub(crate) fn end_of(&self, moment: &Moment) -> Option<End> {
        // Reaching the required distance completes a drive, even if another condition holds at the same
        // check.
        if self
            .mileage
            .is_some_and(|mileage| moment.mileage >= mileage)
        {
            return Some(End::Mileage);
        }
        if self.roll.is_some_and(|roll| moment.roll.abs() > roll) {
            return Some(End::RolledOver);
        }
        if self.contact && moment.struck {
            return Some(End::Struck);
        }
        let moved = self.stuck.zip(moment.moved);
        if moved.is_some_and(|(stuck, moved)| moved <= stuck.distance) {
            return Some(End::Stuck);
        }
        // Times are multiples of the step, so a margin of half the check interval avoids rounding errors.
        if moment.time >= self.time - 0.5 * LOOK {
            return Some(End::Time);
        }
        let is_there = self
            .goal_radius
            .is_some_and(|radius| moment.to_goal < radius);
        is_there.then_some(End::Arrived)
    }
}

/// Whether bodies pass through each other at a level of dynamics.
pub(crate) fn passes_through(level: DynamicsLevel) -> bool {
    !level.traits().pushes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_come_in_their_order() {
        let ends = Ends {
            mileage: Some(300.0),
            ..Ends::after(60.0)
        };
        // (distance, time) -> end: one line per case.
        for (mileage, time, end) in [
            (0.0, 0.0, None),
            (299.9, 59.9, None),
            (300.0, 10.0, Some(End::Mileage)),
            // If both happen at the same time, the drive is complete.
            (300.0, 60.0, Some(End::Mileage)),
            (299.9, 60.0, Some(End::Time)),
            (0.0, 1e9, Some(End::Time)),
        ] {
            let moment = Moment {
                mileage,
                time,
                ..Moment::START
            };
            assert_eq!(ends.end_of(&moment), end, "{mileage} m, {time} s");
        }
        let no_mileage = Ends::after(60.0);
        let far = Moment {
            mileage: 1e9,
            time: 59.0,
            ..Moment::START
        };
        assert_eq!(no_mileage.end_of(&far), None);
        assert!(!no_mileage.leaves_vehicles() && ends.leaves_vehicles());
    }

    #[test]
    fn the_conditions_of_the_forest_are_those_of_algorithm_2_in_its_order() {
        let ends = Ends {
            goal_radius: Some(6.0),
            roll: Some(1.775),
            stuck: Some(Stuck {
                distance: 0.5,
                time: 12.0,
            }),
            contact: true,
            ..Ends::after(60.0)
        };
        // (roll, moved, time, to the goal, struck) -> end.
        for (roll, moved, time, to_goal, struck, end) in [
            (0.0, None, 5.0, 100.0, false, None),
            (1.775, Some(0.51), 59.9, 6.0, false, None),
            (1.776, Some(0.5), 60.0, 5.9, true, Some(End::RolledOver)),
            (-1.776, None, 1.0, 5.9, false, Some(End::RolledOver)),
            (0.0, Some(0.5), 60.0, 5.9, true, Some(End::Struck)),
            (0.0, Some(0.5), 60.0, 5.9, false, Some(End::Stuck)),
            (0.0, Some(0.0), 12.0, 120.0, false, Some(End::Stuck)),
            (0.0, None, 11.9, 120.0, false, None),
            (0.0, Some(9.0), 60.0, 5.9, false, Some(End::Time)),
            (0.0, Some(9.0), 59.9, 5.9, false, Some(End::Arrived)),
            (f64::NAN, Some(9.0), 59.9, f64::NAN, false, None),
        ] {
            let moment = Moment {
                mileage: 1e6,
                time,
                to_goal,
                roll,
                moved,
                struck,
            };
            assert_eq!(ends.end_of(&moment), end, "{moment:?}");
        }
        let solid = Ends {
            contact: false,
            ..ends
        };
        let struck = Moment {
            struck: true,
            ..Moment::START
        };
        assert_eq!(solid.end_of(&struck), None);
    }
}
