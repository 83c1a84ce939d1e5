//! Parking manoeuvres: into bays, forwards or in reverse, and out of them in reverse.
//!
//! A vehicle enters a bay along a clothoid from its current position. If this clothoid is too
//! sharp, the vehicle drives farther along its lane and reverses into the bay along another
//! clothoid:
//!
//! ```text
//!   forwards                in reverse
//!   --------------------    ------------------------->
//!   --->\__                         __/<--- (stop, reverse)
//!   ------ [bay] -------    [bay]__/ ---------------
//! ```
//!
//! A vehicle leaves a bay without an exit ahead in reverse, until it is aligned with a nearby lane.

use super::effects::Effecting;
use super::over_ground::BAY_CLEARANCE;
use crate::records::AgentIndex;
use crate::route::{Goal, Waypoint};
use roadwright_geometry::math::{tan, wrap_angle};
use roadwright_geometry::{Pose, ReferenceLine};
use std::f64::consts::PI;

/// Distance between the waypoints of a path, m. With a larger spacing, the line of the path would not follow
/// their headings.
const SPACING: f64 = 0.25;
/// Maximum speed on paths into and out of bays, m/s.
const FASTEST: f64 = 3.0;
/// Speed at the end of each path into or out of a bay, m/s.
const SLOWEST: f64 = 0.5;
/// Deceleration towards the end of a path, m/s^2.
const SLOWING: f64 = 1.0;
/// Maximum curvature of paths as a fraction of the vehicle's limit, so that a controller can follow them.
const MARGIN: f64 = 0.9;
/// Lengths that are tried for the straight section at the end of a path, m.
const STRAIGHT_ENDS: [f64; 3] = [0.8, 0.4, 0.0];
/// Maximum length of a path into or out of a bay, m.
const LONGEST: f64 = 60.0;
/// Maximum distance that a vehicle drives past a bay before it reverses into the bay, m.
const OVERSHOOT: f64 = 24.0;
/// To reverse out of a bay, the end of the path is tried at these distances behind the vehicle,
/// along the lane, m.
const BACK: [f64; 7] = [3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 16.0];
/// Offsets from the lane's centre line that are tried for the end of the path out of a bay, m.
const BESIDE: [f64; 7] = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0];
/// Maximum distance between a bay and the lane onto which vehicles leave it, m.
const LANE_DISTANCE: f64 = 8.0;

impl Effecting<'_> {
    /// Drives an agent into a bay so that the centre of its body stops at `middle`. Logs a fault if there is
    /// no path.
    pub(super) fn park(&mut self, agent: AgentIndex, middle: Pose) {
        match self.paths_into(agent, middle) {
            Some(paths) => self.take_paths(agent, paths, Vec::new()),
            None => {
                let text = "no path into that bay from here: the bay is too tight for the vehicle \
                            or too far away";
                self.complain(agent, text.into());
            }
        }
    }

    /// Returns the paths into a bay, in driving order. The options are tried in this order:
    /// forwards, past the bay along the lane and then in reverse, and any path that touches no
    /// obstacle.
    fn paths_into(&mut self, agent: AgentIndex, middle: Pose) -> Option<Vec<Vec<Waypoint>>> {
        let vehicle = self.vehicle_type(agent);
        // Paths refer to the centre of the rear axle, but a bay is given for the centre of the
        // body.
        let bay = Pose {
            position: middle.point(-vehicle.body_centre, 0.0),
            heading: wrap_angle(middle.heading),
        };
        let sharpest = self.sharpest(agent);
        let here = self.bodies().pose(agent);
        let forwards = curve(here, bay, sharpest).map(|line| vec![path(&line, 1)]);
        let Some(mut scene) = self.scene(agent, &[bay.position]) else {
            return forwards.or_else(|| self.reverse_into(agent, bay, sharpest));
        };
        // A single bend may be too tight, or lead through an obstacle.
        let free = forwards.filter(|paths| scene.are_free(paths, BAY_CLEARANCE));
        let free = free.or_else(|| {
            let backwards = self.reverse_into(agent, bay, sharpest);
            backwards.filter(|paths| scene.are_free(paths, BAY_CLEARANCE))
        });
        let paths = free.or_else(|| scene.drive(here, bay));
        self.leave_scene(scene);
        paths
    }

    /// Maximum curvature of paths for an agent, 1/m.
    fn sharpest(&self, agent: AgentIndex) -> f64 {
        let vehicle = self.vehicle_type(agent);
        MARGIN * tan(vehicle.limits.max_steering) / vehicle.limits.wheelbase
    }

    /// Paths that lead past a bay along the lane, and then into it in reverse.
    fn reverse_into(
        &self,
        agent: AgentIndex,
        bay: Pose,
        sharpest: f64,
    ) -> Option<Vec<Vec<Waypoint>>> {
        let position = &self.agents.position[agent.index()];
        if !position.is_on_lane() {
            return None;
        }
        let here = self.bodies().pose(agent);
        let line = self.ground.line(position.lanelet);
        let last = (line.length() - position.s).min(OVERSHOOT);
        let turnings = (2..).map(f64::from).take_while(|on| *on <= last);
        // With the longest straight end, all turning points are tried before a shorter end is used,
        // because a vehicle that straightens before it stops is aligned with its bay. Any straight
        // end is better than none, even if the turning point is farther along the lane.
        let tries = STRAIGHT_ENDS
            .into_iter()
            .flat_map(|end| turnings.clone().map(move |on| (end, on)));
        tries.into_iter().find_map(|(end, on)| {
            let turning = line.pose(position.s + on);
            // Reversing from the turning point into the bay is the same as driving forwards with
            // both poses turned around, so it is also a single clothoid.
            let back = curve_with_end(about(turning), about(bay), sharpest, end)?;
            let on = curve(here, turning, sharpest)?;
            Some(vec![path(&on, 1), path(&back, -1)])
        })
    }

    /// Reverses an agent onto a nearby lane, and then drives it to the lane nearest to a place. Returns
    /// whether there is a path.
    pub(super) fn back_out(&mut self, agent: AgentIndex, place: glam::DVec2) -> bool {
        let here = self.bodies().pose(agent);
        let sharpest = self.sharpest(agent);
        let (ground, graph) = (self.ground, self.ground.graph());
        let near = ground.finder().near(graph, here.position);
        // Candidate paths out of a bay are curves from the turned-around vehicle to poses behind it along the
        // two nearest lanes. The first drivable curve is used. Poses on the centre line are tried before
        // poses beside it, and near ones before far ones.
        let near = near.into_iter().filter(|(_, _, t)| t.abs() < LANE_DISTANCE);
        let Some(back) = near.take(2).find_map(|(lanelet, s, _)| {
            let line = ground.line(lanelet);
            let ends = BESIDE
                .into_iter()
                .flat_map(|t| BACK.map(|back| (s - back, t)));
            let ends = ends.filter(|(s, _)| *s >= 0.0);
            let mut curves = ends.filter_map(|(s, t)| {
                let along = line.pose(s);
                let end = Pose {
                    position: along.point(0.0, t),
                    ..along
                };
                curve(about(here), about(end), sharpest)
            });
            curves.next()
        }) else {
            return false;
        };
        let goals = ground.finder().near(graph, place);
        let Some(&(lanelet, s, _)) = goals.first() else {
            return false;
        };
        self.take_paths(
            agent,
            vec![path(&back, -1)],
            vec![Goal::Lane { lanelet, s }],
        );
        true
    }
}

/// Turns a pose around by 180 degrees.
fn about(pose: Pose) -> Pose {
    Pose {
        heading: wrap_angle(pose.heading + PI),
        ..pose
    }
}

/// Creates a clothoid between two poses; `None` if its curvature would exceed `sharpest`, 1/m. If
/// there is enough space, the clothoid ends with a straight section that aligns the vehicle.
fn curve(from: Pose, to: Pose, sharpest: f64) -> Option<ReferenceLine> {
    let mut ends = STRAIGHT_ENDS.into_iter();
    ends.find_map(|end| curve_with_end(from, to, sharpest, end))
}

/// Like `curve`, but with a straight section of a given length (m) at the end.
fn curve_with_end(from: Pose, to: Pose, sharpest: f64, end: f64) -> Option<ReferenceLine> {
    let before = Pose {
        position: to.point(-end, 0.0),
        ..to
    };
    let line = ReferenceLine::join(from, before).ok()?;
    let is_drivable = line.max_curvature() <= sharpest && line.length() <= LONGEST;
    let line = is_drivable.then_some(line)?;
    if end == 0.0 {
        return Some(line);
    }
    let straight = ReferenceLine::straight(before.position, to.position).ok()?;
    line.joined(&straight).ok()
}

/// Creates waypoints along a line. Their speeds let the vehicle stop at the end of the line.
fn path(line: &ReferenceLine, gear: i8) -> Vec<Waypoint> {
    let length = line.length();
    let count = (length / SPACING).ceil().max(1.0) as u32;
    let waypoint = |number: u32| {
        let s = length * f64::from(number) / f64::from(count);
        let along = line.pose(s);
        let left = length - s;
        Waypoint {
            pose: if gear < 0 { about(along) } else { along },
            // From this speed, the vehicle can stop at the end. The lower limit makes sure that it
            // gets there.
            speed: (2.0 * SLOWING * left).sqrt().clamp(SLOWEST, FASTEST),
            gear,
        }
    };
    (0..=count).map(waypoint).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    #[test]
    fn a_path_ends_slowly_and_keeps_its_gear() {
        let line = ReferenceLine::join(Pose::new(0.0, 0.0, 0.0), Pose::new(12.0, -3.0, 0.0));
        let line = line.unwrap();
        for gear in [1, -1] {
            let path = path(&line, gear);
            assert_eq!(path.last().unwrap().speed, SLOWEST);
            assert!(path.iter().all(|w| w.gear == gear && w.speed <= FASTEST));
            let turn = wrap_angle(path[0].pose.heading - line.start().heading).abs();
            assert!((turn - if gear < 0 { PI } else { 0.0 }).abs() < 1e-9);
        }
    }

    #[test]
    fn what_bends_too_sharply_is_no_way() {
        let bay = Pose::new(4.0, -4.0, 0.0);
        assert!(curve(Pose::default(), bay, 0.2).is_none());
        assert!(curve(Pose::default(), bay, 2.0).is_some());
    }
}
