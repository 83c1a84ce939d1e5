//! Closed tracks: rings of straight stretches between walls, driven for several laps.

use crate::body::Convex;
use crate::course::{Course, beside, too_tight};
use roadwright_geometry::math::{Stream, sin_cos};
use roadwright_geometry::{DVec2, Pose, heading_of};
use std::f64::consts::TAU;

/// Largest change of the radius at a corner, as a fraction of the mean radius, for a sharpness of 1 rad.
const UNEVEN: f64 = 0.3;

/// Shape of a random closed track. It is driven counter-clockwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ring {
    /// Length of the centre line, m.
    pub length: f64,
    /// Number of corners, at least 3.
    pub corners: u32,
    /// Variation of the distance between corners and the middle, rad: 0 for a regular polygon.
    pub sharpness: f64,
    /// Distance between the walls, m.
    pub width: f64,
    /// Number of laps.
    pub laps: u32,
    /// Seed of the positions of corners.
    pub seed: u64,
}

impl Ring {
    /// Corners of the centre line, once each.
    pub fn corners(&self) -> Vec<DVec2> {
        let mut draw = Stream::new(self.seed, "ring", 0);
        let count = self.corners.max(3);
        let reach = UNEVEN * self.sharpness;
        let corners: Vec<DVec2> = (0..count)
            .map(|number| {
                let (sin, cos) = sin_cos(TAU * f64::from(number) / f64::from(count));
                DVec2::new(cos, sin) * (1.0 + draw.next_in(-reach, reach))
            })
            .collect();
        let next = corners.iter().cycle().skip(1);
        let whole: f64 = corners
            .iter()
            .zip(next)
            .map(|(a, b)| (*b - *a).length())
            .sum();
        corners
            .iter()
            .map(|&corner| corner * (self.length / whole))
            .collect()
    }

    /// Returns the reason why the walls of the track would cross each other; `None` if they do not.
    pub fn misfit(&self) -> Option<String> {
        too_tight(&self.round(), self.width)
    }

    /// Returns the corners, preceded by the last one and followed by the first two.
    fn round(&self) -> Vec<DVec2> {
        let corners = self.corners();
        let mut round = vec![corners[corners.len() - 1]];
        round.extend(&corners);
        round.extend(&corners[..2]);
        round
    }

    /// Converts the track to a course that begins in the middle of the last stretch. It has no
    /// finish line.
    pub fn course(&self, name: &str, seconds: f64) -> Course {
        let (corners, round) = (self.corners(), self.round());
        let mut walls = Vec::new();
        for side in [0.5, -0.5] {
            let wall = beside(&round, side * self.width);
            let wall = &wall[1..wall.len() - 1];
            walls.extend(wall.windows(2).map(|pair| Convex::line(pair[0], pair[1])));
        }
        let (first, last) = (corners[0], corners[corners.len() - 1]);
        let position = 0.5 * (last + first);
        let mut goals: Vec<DVec2> = (0..self.laps).flat_map(|_| corners.clone()).collect();
        goals.push(position);
        Course {
            name: name.to_owned(),
            walls,
            cars: Vec::new(),
            start: Pose {
                position,
                heading: heading_of(first - last),
            },
            finish: f64::INFINITY,
            goal: first,
            seconds,
            sharp: Vec::new(),
            centre: round,
            goals,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: Ring = Ring {
        length: 500.0,
        corners: 6,
        sharpness: 0.5,
        width: 16.0,
        laps: 3,
        seed: 2,
    };

    #[test]
    fn the_walls_are_closed_and_the_goals_go_round() {
        let course = RING.course("ring", 100.0);
        assert_eq!(RING.misfit(), None);
        assert_eq!(course.walls.len(), 2 * 6);
        for side in course.walls.chunks(6) {
            let (first, last) = (side[0].corners()[0], side[5].corners()[1]);
            assert!((first - last).length() < 1e-9);
        }
        assert_eq!(course.goals.len(), 3 * 6 + 1);
        assert_eq!(course.goals[0], course.goals[6]);
        let narrow = Ring {
            length: 40.0,
            ..RING
        };
        assert!(narrow.misfit().is_some());
    }
}
