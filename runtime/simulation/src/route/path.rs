//! Paths over open ground.

use crate::records::FARTHEST;
use roadwright_geometry::centre_line::{CentreLine, CentreLines, LineSpan};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Up to this spacing of waypoints, their headings determine the headings of the path, m. It is
/// about the spacing of the path's points.
const CLOSE: f64 = 0.26;
/// The curvature at an end of a path is measured over this distance, m.
const CURVATURE_PIECE: f64 = 0.5;

/// A pose on a path, with speed and gear.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Waypoint {
    /// Place and heading.
    pub pose: Pose,
    /// Speed at the waypoint, m/s.
    pub speed: f64,
    /// Gear: 1 forwards, -1 in reverse.
    pub gear: i8,
}

/// A path over open ground as a line through waypoints. Agents follow it like the centre line of a lane.
///
/// All waypoints of a path have the same gear. Where the gear changes, the vehicle stops and the path ends.
/// The next path is another leg.
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
    /// Clearance that the path has on either side of the vehicle, m. An obstacle that is closer to the path
    /// blocks it.
    pub(crate) margin: f64,
    /// Distance of the waypoint for a stationary vehicle, m. `ahead` is the increase of this
    /// distance with speed, s.
    pub(crate) near: f64,
    pub(crate) ahead: f64,
    /// Maximum factor by which the sine of the angle to a waypoint may grow when the waypoint is
    /// moved farther away.
    pub(crate) sharpest: f64,
    /// Steering response of the driver to waypoints; `None` if it is unknown.
    pub(crate) response: Option<SteeringResponse>,
    /// Whether controllers see all obstacles ahead, and not only those near the path.
    pub(crate) sees_all: bool,
    /// Path for the axle of a trailer that is pushed in reverse; `None` if the vehicle pushes no trailer.
    pub(crate) towed: Option<GroundPath>,
}

/// Condition under which a goal on an exact path is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exact {
    /// Whether the goal is at the end of this path. Otherwise, more paths follow.
    pub(crate) is_last: bool,
}

/// Speeds for probing the steering response of a driver, m/s.
const SPEEDS: [f64; 3] = [1.0, 4.0, 8.0];
/// Spacing of the angles for probing the steering response of a driver, rad.
const ANGLE_STEP: f64 = 0.1;
/// Number of angles at each speed.
const ANGLES: usize = 16;
/// Speeds for probing the speed choice of a driver, as fractions of the allowed speed.
const PACES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];
/// Small angle that replaces 0, because the steering of some drivers is discontinuous there, rad.
const LEAST_ANGLE: f64 = 1e-3;

/// Steering response of a driver: the curvatures that it steers towards waypoints at a fixed
/// distance.
///
/// Some drivers, such as fuzzy ones, do not steer along the circle to their waypoint. They still
/// follow a path closely if the angle to the waypoint is chosen such that they steer the curvature
/// of the path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct SteeringResponse {
    /// Distance of the waypoints, m.
    distance: f64,
    /// Curvature for each speed and each angle to the left, 1/m.
    curvatures: [[f32; ANGLES]; SPEEDS.len()],
    /// Commanded speed at each angle, as a fraction of the allowed speed.
    paces: [f32; ANGLES],
}

/// A speed (m/s) and an angle to the left (rad) for measuring the response of a driver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    pub(crate) speed: f64,
    pub(crate) angle: f64,
}

impl SteeringResponse {
    /// Number of steering probes.
    pub(crate) const PROBES: usize = SPEEDS.len() * ANGLES;

    /// Returns the speeds and angles for probing a driver, in the order of [`Self::new`].
    pub(crate) fn probes() -> impl Iterator<Item = Probe> {
        SPEEDS.into_iter().flat_map(|speed| {
            (0..ANGLES).map(move |at| Probe {
                speed,
                angle: angle(at),
            })
        })
    }

    /// Number of probes of the commanded speed.
    pub(crate) const PACE_PROBES: usize = PACES.len() * ANGLES;

    /// Returns the speeds and angles for probing the speed choice of a driver, in the order of
    /// [`Self::new`]. Speeds are in m/s for an allowed speed of `allowed`.
    pub(crate) fn pace_probes(allowed: f64) -> impl Iterator<Item = Probe> {
        (0..ANGLES).flat_map(move |at| {
            PACES.into_iter().map(move |pace| Probe {
                speed: pace * allowed,
                angle: angle(at),
            })
        })
    }

    /// Creates a response from the curvatures of all steering probes, 1/m, and from the
    /// accelerations of all probes of the commanded speed, m/s^2.
    pub(crate) fn new(
        distance: f64,
        curvatures: &[f64; Self::PROBES],
        accelerations: &[f64; Self::PACE_PROBES],
    ) -> Self {
        let at = |speed: usize, angle: usize| curvatures[speed * ANGLES + angle] as f32;
        let (accelerations, _) = accelerations.as_chunks::<{ PACES.len() }>();
        Self {
            distance,
            curvatures: std::array::from_fn(|speed| std::array::from_fn(|angle| at(speed, angle))),
            paces: std::array::from_fn(|angle| pace(&accelerations[angle]) as f32),
        }
    }

    /// Commanded speed at an angle to the waypoint, as a fraction of the allowed speed.
    pub(crate) fn pace(&self, angle: f64) -> f64 {
        let place = (angle.abs() / ANGLE_STEP).min((ANGLES - 1) as f64);
        let before = place as usize;
        let after = (before + 1).min(ANGLES - 1);
        let (low, high) = (f64::from(self.paces[before]), f64::from(self.paces[after]));
        low + (place - before as f64) * (high - low)
    }

    /// Distance of the waypoint from the vehicle, m.
    pub(crate) fn distance(&self) -> f64 {
        self.distance
    }

    /// Maximum curvature at the lowest probed speed, 1/m.
    pub(crate) fn sharpest(&self) -> f64 {
        let curvatures = self.curvatures[0].iter();
        f64::from(curvatures.copied().fold(0.0, f32::max))
    }

    /// Returns the smallest waypoint angle that makes the driver steer the given curvature, rad. If
    /// the driver never steers that sharply, returns the angle with the maximum curvature. If even
    /// the gentlest steering is far too sharp, returns 0.
    pub(crate) fn angle(&self, speed: f64, curvature: f64) -> f64 {
        let wanted = curvature.abs();
        let at = |angle: usize| self.at(speed, angle);
        if wanted <= 0.5 * at(0) {
            return 0.0;
        }
        let mut best = 0;
        for angle in 0..ANGLES {
            if at(angle) >= wanted {
                best = angle;
                break;
            }
            if at(angle) > at(best) {
                best = angle;
            }
        }
        let found = match best.checked_sub(1) {
            Some(before) if at(best) > wanted && at(before) < wanted => {
                let share = (wanted - at(before)) / (at(best) - at(before));
                angle(before) + share * (angle(best) - angle(before))
            }
            _ => angle(best),
        };
        found.copysign(curvature)
    }

    /// Curvature at a speed (m/s) and at the angle with index `angle`, 1/m.
    fn at(&self, speed: f64, angle: usize) -> f64 {
        let speed = speed.clamp(SPEEDS[0], SPEEDS[SPEEDS.len() - 1]);
        let next = SPEEDS
            .partition_point(|&known| known <= speed)
            .clamp(1, SPEEDS.len() - 1);
        let share = (speed - SPEEDS[next - 1]) / (SPEEDS[next] - SPEEDS[next - 1]);
        let curvature = |speed: usize| f64::from(self.curvatures[speed][angle]);
        curvature(next - 1) + share * (curvature(next) - curvature(next - 1))
    }
}

/// Derives the commanded speed of a driver, as a fraction of the allowed speed, from its
/// accelerations at the probed speeds: it accelerates below the commanded speed and slows down
/// above it.
fn pace(accelerations: &[f64; PACES.len()]) -> f64 {
    if accelerations[0] <= 0.0 {
        return PACES[0];
    }
    let Some(above) = accelerations.iter().position(|&a| a < 0.0) else {
        return PACES[PACES.len() - 1];
    };
    let (low, high) = (accelerations[above - 1], accelerations[above]);
    PACES[above - 1] + low / (low - high) * (PACES[above] - PACES[above - 1])
}

/// Angle of a probe, rad.
fn angle(at: usize) -> f64 {
    (ANGLE_STEP * at as f64).max(LEAST_ANGLE)
}

/// Saved waypoints of a path whose line has not been built yet. Since a line takes memory in
/// proportion to its length, a forged save could exhaust the memory. Therefore
/// [`GroundPath::build`] is called only after the lengths of all paths have been checked.
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
        let span = push(&mut lines, &waypoints, &points).unwrap_or_else(|| {
            // All waypoints are at the same place, so the path becomes one metre along the heading.
            let pose = waypoints.first().map_or_else(Pose::default, |w| w.pose);
            points = vec![pose.position, pose.point(1.0, 0.0)];
            lines.push(&points).expect("a line of one metre is valid")
        });
        // Distances of the waypoints are computed once, because speeds between them are needed in
        // every step.
        let mut s = 0.0;
        let mut along = vec![0.0];
        for pair in points.windows(2) {
            s += (pair[1] - pair[0]).length();
            along.push(s);
        }
        // A path that was replaced by a line of one metre has more points than waypoints.
        along.truncate(waypoints.len());
        Self {
            waypoints,
            lines,
            span,
            along,
        }
    }
}

/// Adds the line through waypoints. If the waypoints are close together, the line follows their
/// headings, so that even bends that are shorter than the usual point spacing are represented.
fn push(lines: &mut CentreLines, waypoints: &[Waypoint], points: &[DVec2]) -> Option<LineSpan> {
    let is_close = |pair: &[DVec2]| (pair[1] - pair[0]).length() <= CLOSE;
    if points.len() < 2 || !points.windows(2).all(is_close) {
        return lines.push(points);
    }
    let turned = |waypoint: &Waypoint| {
        let turn = if waypoint.gear < 0 { PI } else { 0.0 };
        Pose {
            heading: wrap_angle(waypoint.pose.heading + turn),
            ..waypoint.pose
        }
    };
    let poses: Vec<Pose> = waypoints.iter().map(turned).collect();
    lines.push_poses(&poses, CLOSE)
}

impl From<GroundPath> for Vec<Waypoint> {
    fn from(path: GroundPath) -> Self {
        path.waypoints
    }
}

impl GroundPath {
    /// Returns the length of the straight lines between waypoints, m; `None` if a pose or speed is
    /// not finite or is out of range.
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
    /// [length](Self::checked_length), or per waypoint if the waypoints are close together.
    pub(super) fn build(&mut self) {
        *self = Self::from(std::mem::take(&mut self.waypoints));
    }

    /// The line that vehicles follow.
    pub(crate) fn line(&self) -> CentreLine<'_> {
        self.lines.line(self.span)
    }

    /// Pose of the vehicle at the end of the path; `None` without waypoints.
    pub(crate) fn end(&self) -> Option<Pose> {
        self.waypoints.last().map(|last| last.pose)
    }

    /// Mean curvature between two positions on the path, 1/m. Beyond either end, the path is
    /// extended with the curvature at that end.
    pub(crate) fn curvature(&self, from: f64, to: f64) -> f64 {
        wrap_angle(self.heading(to) - self.heading(from)) / (to - from).max(1e-3)
    }

    /// Heading of the line at position `s`, rad. Beyond its end, the line is extended with the curvature at
    /// its end.
    pub(crate) fn heading(&self, s: f64) -> f64 {
        let line = self.line();
        let length = line.length();
        let piece = CURVATURE_PIECE.min(length);
        let (inner, beyond) = match (s < 0.0, s > length) {
            (true, _) => (0.0, s),
            (_, true) => (length, s - length),
            _ => return line.heading(s),
        };
        let far = if inner == 0.0 { piece } else { length - piece };
        let (low, high) = (inner.min(far), inner.max(far));
        let turn = wrap_angle(line.heading(high) - line.heading(low));
        line.heading(inner) + turn / piece.max(1e-3) * beyond
    }

    /// Whether the path is driven in reverse, according to the gear of its first waypoint.
    pub(crate) fn is_reversing(&self) -> bool {
        self.waypoints.first().is_some_and(|w| w.gear < 0)
    }

    /// The waypoints at or beyond position `s` along the path, each with its position, m.
    pub(crate) fn ahead(&self, s: f64) -> impl Iterator<Item = (f64, &Waypoint)> {
        let all = self.along.iter().copied().zip(&self.waypoints);
        all.skip_while(move |(at, _)| *at < s)
    }

    /// Speed at position `s` along the path, interpolated between waypoints, m/s.
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

    /// Creates the response of a driver whose curvature (1/m) is a function of the angle.
    fn response(curvature: impl Fn(f64) -> f64) -> SteeringResponse {
        paced(curvature, |_| 1.0)
    }

    /// Creates the response of a driver whose commanded speed also is a function of the angle, as a
    /// fraction of the allowed speed.
    fn paced(curvature: impl Fn(f64) -> f64, pace: impl Fn(f64) -> f64) -> SteeringResponse {
        let mut curvatures = [0.0; SteeringResponse::PROBES];
        for (to, probe) in curvatures.iter_mut().zip(SteeringResponse::probes()) {
            *to = curvature(probe.angle);
        }
        let mut accelerations = [0.0; SteeringResponse::PACE_PROBES];
        for (to, probe) in accelerations
            .iter_mut()
            .zip(SteeringResponse::pace_probes(8.0))
        {
            *to = 2.0 * (8.0 * pace(probe.angle) - probe.speed);
        }
        SteeringResponse::new(10.0, &curvatures, &accelerations)
    }

    #[test]
    fn the_commanded_speed_of_a_driver_is_known_at_each_angle() {
        let slow = paced(|angle| 0.05 * angle, |angle| (1.1 - angle).clamp(0.1, 1.0));
        for (angle, expected) in [
            (0.0, 1.0),
            (0.35, 0.75),
            (-0.5, 0.6),
            // Below the lowest probed speed.
            (1.5, 0.2),
            (3.0, 0.2),
        ] {
            let pace = slow.pace(angle);
            assert!((pace - expected).abs() < 0.01, "{angle}: {pace}");
        }
        assert_eq!(response(|angle| angle).pace(1.0), 1.0);
    }

    #[test]
    fn a_waypoint_is_placed_where_the_driver_steers_the_wanted_curvature() {
        let gentle = response(|angle| 0.05 * angle);
        for wanted in [0.01, -0.02, 0.05, -0.07] {
            let angle = gentle.angle(3.0, wanted);
            assert!((0.05 * angle - wanted).abs() < 1e-6, "{wanted}: {angle}");
        }
        // No angle gives this curvature, so the one with the maximum curvature is used.
        assert!((gentle.angle(3.0, 1.0) - 1.5).abs() < 1e-9);
        assert!((gentle.sharpest() - 0.075).abs() < 1e-6);
        assert_eq!(gentle.angle(3.0, 0.0), 0.0);
        // A driver whose curvature never falls below 0.04: it steers either with this curvature or
        // straight ahead.
        let coarse = response(|angle| 0.04 + 0.1 * (angle - 0.2).max(0.0));
        assert_eq!(coarse.angle(3.0, 0.019), 0.0);
        assert_eq!(coarse.angle(3.0, -0.021), -LEAST_ANGLE);
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
        // Converts to the saved form.
        assert_eq!(Vec::from(path), waypoints);
    }

    #[test]
    fn a_path_through_close_waypoints_keeps_their_headings_to_its_end() {
        // An arc of 4 m radius and 1.2 m length, driven in reverse.
        let (radius, count) = (4.0, 5);
        let waypoint = |number: i32| {
            let turned = 1.2 / radius * f64::from(number) / f64::from(count);
            let (sin, cos) = roadwright_geometry::math::sin_cos(turned);
            Waypoint {
                pose: Pose::new(-radius * sin, radius * (cos - 1.0), turned),
                speed: 1.0,
                gear: -1,
            }
        };
        let path = GroundPath::from((0..=count).map(waypoint).collect::<Vec<_>>());
        let length = path.line().length();
        assert!((length - 1.2).abs() < 0.01, "{length}");
        let end = path.line().heading(length);
        assert!((wrap_angle(end - PI) - 0.3).abs() < 1e-9, "{end}");
        // The bend continues before the start and beyond the end.
        for s in [-0.5, 0.0, 0.7, length, length + 0.5] {
            let curvature = path.curvature(s, s + 0.4);
            assert!((curvature - 0.25).abs() < 0.01, "{s}: {curvature}");
        }
        assert_eq!(path.end().map(|end| end.heading), Some(0.3));
    }

    #[test]
    fn a_path_in_one_place_is_still_a_path() {
        assert!(path(&[(3.0, 1.0), (3.0, 1.0)]).line().length() > 0.5);
        assert!(path(&[]).line().length() > 0.5);
    }
}
