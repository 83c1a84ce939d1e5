//! Paths over open ground.

use crate::records::FARTHEST;
use roadwright_geometry::centre_line::{CentreLine, CentreLines, LineSpan};
use roadwright_geometry::{DVec2, Pose};
use serde::{Deserialize, Serialize};

/// A pose that a path leads through.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Waypoint {
    /// Place and heading.
    pub pose: Pose,
    /// Speed there, m/s.
    pub speed: f64,
    /// Gear: 1 forwards, -1 in reverse.
    pub gear: i8,
}

/// A path as a line through waypoints, followed like the centre line of a lane.
///
/// All waypoints of a path have the same gear. Where the gear changes, the vehicle stops, the path ends, and
/// the next path begins as another leg.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Unbuilt", into = "Vec<Waypoint>")]
pub(crate) struct GroundPath {
    waypoints: Vec<Waypoint>,
    lines: CentreLines,
    span: LineSpan,
    /// Distance of each waypoint along the path, m.
    along: Vec<f64>,
}

/// A path that a planner has found over open ground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedPath {
    pub(crate) path: GroundPath,
    /// Clearance that it keeps beside the vehicle, m. A closer obstacle blocks the path.
    pub(crate) margin: f64,
    /// Distance of the waypoint for a standing vehicle, m, and increase of the distance per unit of speed, s.
    pub(crate) near: f64,
    pub(crate) ahead: f64,
    /// Maximum factor by which the sine of the angle to a waypoint may grow when the waypoint is moved
    /// farther away.
    pub(crate) sharpest: f64,
    /// Whether controllers perceive all obstacles ahead, not only those near the path.
    pub(crate) sees_all: bool,
}

/// Condition under which a goal is reached along a path that is driven to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exact {
    /// Whether the goal is at the end of the path. Otherwise, other paths follow.
    pub(crate) is_last: bool,
}

/// Saved waypoints of a path whose line has not been built. The memory for a line depends on its length,
/// which a forged save could make very large. So [`GroundPath::build`] builds the line once the lengths of
/// all paths are known.
#[derive(Deserialize)]
struct Unbuilt(Vec<Waypoint>);

impl From<Unbuilt> for GroundPath {
    fn from(Unbuilt(waypoints): Unbuilt) -> Self {
        Self {
            waypoints,
            ..Self::from(Vec::new())
        }
    }
}

impl From<Vec<Waypoint>> for GroundPath {
    fn from(waypoints: Vec<Waypoint>) -> Self {
        let mut points: Vec<DVec2> = waypoints.iter().map(|w| w.pose.position).collect();
        let mut lines = CentreLines::default();
        let span = lines.push(&points).unwrap_or_else(|| {
            // All waypoints are at the same place, so a path of one metre along the heading is used.
            let pose = waypoints.first().map_or_else(Pose::default, |w| w.pose);
            points = vec![pose.position, pose.point(1.0, 0.0)];
            lines.push(&points).expect("a metre is long enough")
        });
        // Distances of the waypoints, computed once, because speeds between them are needed in every step.
        let mut s = 0.0;
        let mut along = vec![0.0];
        for pair in points.windows(2) {
            s += (pair[1] - pair[0]).length();
            along.push(s);
        }
        // A path of the substitute metre has more points than waypoints.
        along.truncate(waypoints.len());
        Self {
            waypoints,
            lines,
            span,
            along,
        }
    }
}

impl From<GroundPath> for Vec<Waypoint> {
    fn from(path: GroundPath) -> Self {
        path.waypoints
    }
}

impl GroundPath {
    /// Length of the straight lines between waypoints, m; `None` if a pose or speed is not finite or lies out
    /// of range.
    pub(super) fn checked_length(&self) -> Option<f64> {
        let is_sound = |w: &Waypoint| {
            let Pose { position, heading } = w.pose;
            position.abs().max_element() <= FARTHEST && (heading + w.speed).is_finite()
        };
        let pieces = self.waypoints.windows(2);
        let length = pieces.map(|pair| (pair[1].pose.position - pair[0].pose.position).length());
        let are_sound = self.waypoints.iter().all(is_sound);
        are_sound.then(|| length.sum())
    }

    /// Builds the line of a path that was read from a save. The line takes about 24 bytes per metre of its
    /// [length](Self::checked_length).
    pub(super) fn build(&mut self) {
        *self = Self::from(std::mem::take(&mut self.waypoints));
    }

    /// The line to follow.
    pub(crate) fn line(&self) -> CentreLine<'_> {
        self.lines.line(self.span)
    }

    /// Whether it is driven in reverse, according to the gear of its first waypoint.
    pub(crate) fn is_reversing(&self) -> bool {
        self.waypoints.first().is_some_and(|w| w.gear < 0)
    }

    /// Waypoints from the given distance along the path on, each with its distance, m.
    pub(crate) fn ahead(&self, s: f64) -> impl Iterator<Item = (f64, &Waypoint)> {
        let all = self.along.iter().copied().zip(&self.waypoints);
        all.skip_while(move |(at, _)| *at < s)
    }

    /// Speed at the given distance along the path, m/s, interpolated between waypoints.
    pub(crate) fn speed(&self, s: f64) -> f64 {
        let next = self.along.partition_point(|&at| at <= s);
        let speed = |at: usize| self.waypoints.get(at).map_or(0.0, |w| w.speed);
        let Some(before) = next.checked_sub(1) else {
            return speed(0);
        };
        let Some(&after) = self.along.get(next) else {
            return speed(before);
        };
        let share = (s - self.along[before]) / (after - self.along[before]).max(1e-9);
        speed(before) + share * (speed(next) - speed(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(points: &[(f64, f64)]) -> GroundPath {
        let waypoint = |&(x, speed): &(f64, f64)| Waypoint {
            pose: Pose::new(x, 0.0, 0.0),
            speed,
            gear: 1,
        };
        GroundPath::from(points.iter().map(waypoint).collect::<Vec<_>>())
    }

    #[test]
    fn speeds_change_between_waypoints_in_proportion() {
        let path = path(&[(0.0, 4.0), (10.0, 8.0), (20.0, 0.0)]);
        let speeds = [-1.0, 0.0, 5.0, 10.0, 15.0, 20.0, 30.0].map(|s| path.speed(s));
        assert_eq!(speeds, [4.0, 4.0, 6.0, 8.0, 4.0, 0.0, 0.0]);
        assert!((path.line().length() - 20.0).abs() < 1e-12);
    }

    #[test]
    fn poses_keep_their_speeds_and_gears() {
        let waypoint = |x: f64| Waypoint {
            pose: Pose::new(x, 0.0, 3.0),
            speed: 2.0 - x / 10.0,
            gear: -1,
        };
        let waypoints: Vec<Waypoint> = [0.0, -5.0, -12.0].map(waypoint).to_vec();
        let path = GroundPath::from(waypoints.clone());
        assert!(path.is_reversing());
        assert_eq!(path.speed(5.0), waypoints[1].speed);
        // The saved form.
        assert_eq!(Vec::from(path), waypoints);
    }

    #[test]
    fn a_path_in_one_place_is_still_a_path() {
        assert!(path(&[(3.0, 1.0), (3.0, 1.0)]).line().length() > 0.5);
        assert!(path(&[]).line().length() > 0.5);
    }
}
