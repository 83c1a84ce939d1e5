//! Tight places that a vehicle can only leave with clips that reverse: [Adam 2007], section 5.7.

use crate::body::Convex;
use crate::course::Course;
use roadwright_geometry::{DVec2, Pose};
use std::f64::consts::FRAC_PI_2;

/// A tight place between walls. Its goal is to the north.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yard {
    /// A dead end, which is too narrow for turning round. The vehicle faces its end.
    DeadEnd,
    /// A right angle in a narrow passage. Even at full steering lock, the racer cannot drive
    /// through it in one go.
    NarrowTurn,
}

/// North coordinate of the goal of the plans, m.
const GOAL: f64 = 100_000.0;
/// Maximum duration of a drive, s.
const LONGEST: f64 = 120.0;
/// Half the width of the dead end, m.
const HALF: f64 = 2.2;
/// Width of the passage, m.
const PASSAGE: f64 = 3.0;

impl Yard {
    /// All yards.
    pub const ALL: [Self; 2] = [Self::DeadEnd, Self::NarrowTurn];

    /// Name of the yard.
    pub fn name(self) -> &'static str {
        match self {
            Self::DeadEnd => "dead-end",
            Self::NarrowTurn => "narrow-turn",
        }
    }

    /// Converts the yard to a course.
    pub fn course(self) -> Course {
        match self {
            Self::DeadEnd => {
                let walls = [[-HALF, 20.0], [-HALF, -6.0], [HALF, -6.0], [HALF, 20.0]];
                let start = Pose::new(0.0, 0.0, -FRAC_PI_2);
                let centre = vec![start.position, DVec2::new(0.0, 36.0)];
                self.between(&[&walls], start, centre)
            }
            Self::NarrowTurn => {
                let half = 0.5 * PASSAGE;
                let inner = [[-16.0, half], [-half, half], [-half, 16.0]];
                let outer = [[-16.0, half], [-16.0, -half], [half, -half], [half, 16.0]];
                let start = Pose::new(-11.0, 0.0, 0.0);
                let centre = vec![start.position, DVec2::ZERO, DVec2::new(0.0, 32.0)];
                self.between(&[&inner, &outer], start, centre)
            }
        }
    }

    /// Returns the course between lines of walls. The centre line ends at the goal.
    fn between(self, lines: &[&[[f64; 2]]], start: Pose, centre: Vec<DVec2>) -> Course {
        let goal = centre[centre.len() - 1];
        let walls = lines.iter().flat_map(|line| {
            let pairs = line.windows(2);
            pairs.map(|pair| Convex::line(DVec2::from(pair[0]), DVec2::from(pair[1])))
        });
        Course {
            name: self.name().to_owned(),
            walls: walls.collect(),
            cars: Vec::new(),
            start,
            finish: goal.y - 6.0,
            goal: DVec2::new(goal.x, GOAL),
            seconds: LONGEST,
            sharp: Vec::new(),
            centre,
            goals: vec![goal],
        }
    }
}
