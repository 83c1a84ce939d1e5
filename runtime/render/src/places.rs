//! Points of interest, drawn as pins, or as bays if they have a heading.

use crate::palette::{DESTINATION, OUTLINE, PAPER, faded, rgb};
use crate::{Painter, Pass};
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::{PointOfInterest, Scenario};

/// Returns the corners of a point of interest that is a bay, m; `None` if it has no heading.
pub fn bay(point: &PointOfInterest) -> Option<[DVec2; 4]> {
    Some(point.bay()?.corners())
}

/// Returns the distance from a point of interest to the eastern end of its mark, m. The name is
/// written east of it.
pub fn reach_of_mark(point: &PointOfInterest) -> f64 {
    let corners = bay(point).into_iter().flatten();
    corners.map(|corner| corner.x - point.x).fold(0.0, f64::max)
}

/// Draws the points of interest of a scenario without their names.
pub fn points_of_interest(painter: &mut impl Painter, scenario: &Scenario) {
    painter.begin(Pass::Marking);
    for point in scenario.points_of_interest().values() {
        let at = point.position();
        match (bay(point), point.heading.get()) {
            (Some(corners), Some(heading)) => {
                painter.polygon(&corners, faded(PAPER, 0.35));
                painter.edge(&corners, 0.1, 1.2, rgb(PAPER));
                painter.edge(&corners, 0.03, 0.8, faded(OUTLINE, 0.8));
                let pose = Pose {
                    position: at,
                    heading,
                };
                // The arrow points in the direction of the vehicle's nose.
                let arrow = [(0.9, 0.7), (1.7, 0.0), (0.9, -0.7)].map(|(x, y)| pose.point(x, y));
                painter.line(&arrow, 0.15, 1.2, rgb(OUTLINE));
            }
            _ => {
                painter.circle(at, 0.9, 4.0, rgb(PAPER));
                painter.circle(at, 0.65, 3.0, rgb(DESTINATION));
                painter.circle(at, 0.25, 1.2, rgb(PAPER));
            }
        }
    }
}
