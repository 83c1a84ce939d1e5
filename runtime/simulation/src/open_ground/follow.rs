//! Turns a path of cells into a line that a vehicle can drive: smoothed, limited to its turning radius, and
//! slower in bends.

use crate::route::Waypoint;
use crate::vehicle_type::VehicleType;
use roadwright_geometry::centre_line::CentreLines;
use roadwright_geometry::math::{sin, wrap_angle};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose, heading_of};
use roadwright_planning::open_ground::{OpenGround, Owner, ProfileId, Reading};
use std::f64::consts::{FRAC_PI_2, PI};

/// Maximum length of the straight pieces of a smoothed path, m.
const LONGEST_CHORD: f64 = 30.0;
/// Length of the part of a path that is turned into a drivable line, m. The rest is replanned before the
/// vehicle gets there.
pub(super) const DRIVEN: f64 = 40.0;
/// Length of the steps in which the drive along a path is simulated, m.
const STEP: f64 = 0.5;
/// Radius of planned bends, as a multiple of the vehicle's minimum turning radius.
const EASE: f64 = 1.15;
/// Lookahead distance: as a multiple of the radius of planned bends, and its minimum and maximum, m.
const LOOKAHEAD: f64 = 0.8;
const LEAST_LOOKAHEAD: f64 = 2.5;
const MOST_LOOKAHEAD: f64 = 8.0;
/// Lateral acceleration in planned bends, m/s^2.
const LATERAL: f64 = 2.0;
/// Deceleration before bends and stops, m/s^2.
const BRAKING: f64 = 1.5;
/// Speeds close to obstacles (nearer than the tracking margin), in reverse, and at changes of direction, m/s.
const NARROW_SPEED: f64 = 2.0;
const REVERSE_SPEED: f64 = 2.5;
const CREEP: f64 = 0.5;
/// Distance over which a vehicle may ignore its margin if it starts closer to an obstacle than that, m.
const WAY_OUT: f64 = 5.0;

/// A vehicle on the map.
pub(super) struct Driver<'a> {
    pub(super) map: &'a mut OpenGround,
    pub(super) profile: ProfileId,
    pub(super) owner: Owner,
    pub(super) kind: &'a VehicleType,
    /// The largest curvature that its driver can steer, 1/m.
    pub(super) tightest: f64,
    /// Margin for deviations from its path, m.
    pub(super) margin: f64,
    /// Speed off the roads, m/s.
    pub(super) speed: f64,
}

/// A path in the form in which a vehicle drives it.
#[derive(Debug, Clone)]
pub(super) struct Track {
    /// Poses of the rear axle.
    pub(super) poses: Vec<Pose>,
    /// Clearance to obstacles, m.
    pub(super) margin: f64,
}

impl Track {
    /// Length, m.
    pub(super) fn length(&self) -> f64 {
        let pairs = self.poses.windows(2);
        pairs
            .map(|pair| (pair[1].position - pair[0].position).length())
            .sum()
    }
}

impl Driver<'_> {
    /// Radius of the tightest planned bends, m.
    pub(super) fn radius(&self) -> f64 {
        EASE / self.tightest.max(1e-3)
    }

    /// The outline of the vehicle with its rear axle at a pose, enlarged by a margin.
    pub(super) fn covered(&self, pose: Pose, margin: f64) -> OrientedBox {
        let body = self.kind.covered(pose);
        OrientedBox {
            half_length: body.half_length + margin,
            half_width: body.half_width + margin,
            ..body
        }
    }

    /// Whether the vehicle touches no standing obstacle at a pose.
    pub(super) fn fits(&self, pose: Pose, margin: f64) -> bool {
        let body = self.covered(pose, margin);
        self.map.is_free(self.profile, Some(self.owner), &body)
    }

    /// Margins to try, from the largest to the smallest, m.
    pub(super) fn margins(&self) -> [f64; 3] {
        [self.margin, 0.4 * self.margin, 0.02_f64.min(self.margin)]
    }

    fn factor(&mut self, point: DVec2) -> u32 {
        let cell = self.map.profile(self.profile).cell.cell_of(point);
        cell.map_or(0, |cell| {
            self.map.factor(self.profile, cell, Reading::Standing)
        })
    }

    /// Points of a path over cells, without the points that a straight line can skip at no extra cost.
    pub(super) fn smoothed(&mut self, points: &[DVec2]) -> Vec<DVec2> {
        let Some(&first) = points.first() else {
            return Vec::new();
        };
        let factors: Vec<u32> = points.iter().map(|point| self.factor(*point)).collect();
        let mut smooth = vec![first];
        let mut length = 0.0;
        let mut at = 0;
        while at + 1 < points.len() {
            let is_near = length < DRIVEN + LONGEST_CHORD;
            let next = match is_near {
                true => self.farthest_straight(points, &factors, at),
                false => at + 1,
            };
            length += (points[next] - points[at]).length();
            smooth.push(points[next]);
            at = next;
        }
        smooth
    }

    /// The farthest point found that a straight line reaches at no greater cost than the path.
    fn farthest_straight(&mut self, points: &[DVec2], factors: &[u32], at: usize) -> usize {
        let mut best = at + 1;
        let (mut stride, mut candidate) = (2, at + 2);
        while candidate < points.len() && (points[candidate] - points[at]).length() <= LONGEST_CHORD
        {
            let most = factors[at..=candidate].iter().copied().max().unwrap_or(0);
            if self.is_straight(points[at], points[candidate], most) {
                best = candidate;
                stride *= 2;
            } else if stride > 2 {
                stride = 2;
            } else {
                break;
            }
            candidate = best + stride;
        }
        best
    }

    fn is_straight(&mut self, from: DVec2, to: DVec2, most: u32) -> bool {
        let size = self.map.profile(self.profile).cell.metres();
        let steps = (2.0 * (to - from).length() / size).ceil().max(1.0) as u32;
        (0..=steps).all(|step| {
            let factor = self.factor(from.lerp(to, f64::from(step) / f64::from(steps)));
            factor > 0 && factor <= most
        })
    }

    /// Simulates the forward drive of the vehicle along a line, as far as the line can be driven; `None` if
    /// the vehicle would touch something or could not follow the line.
    pub(super) fn driven(&self, start: Pose, points: &[DVec2]) -> Option<Track> {
        let margins = self.margins();
        margins
            .into_iter()
            .find_map(|margin| self.driven_with(start, points, margin))
    }

    fn driven_with(&self, start: Pose, points: &[DVec2], margin: f64) -> Option<Track> {
        let mut lines = CentreLines::default();
        let span = lines.push(points)?;
        let line = lines.line(span);
        let goal = DRIVEN.min(line.length());
        let lookahead = (LOOKAHEAD * self.radius()).clamp(LEAST_LOOKAHEAD, MOST_LOOKAHEAD);
        let tightest = 1.0 / self.radius();
        let mut poses = vec![start];
        let (mut pose, mut s, mut travelled) = (start, 0.0, 0.0);
        while s < goal - 0.5 * STEP {
            let left = line.length() - s;
            let target = match lookahead <= left {
                true => line.position(s + lookahead),
                false => line.pose(line.length()).point(lookahead - left, 0.0),
            };
            let offset = target - pose.position;
            let angle = wrap_angle(heading_of(offset) - pose.heading);
            let curvature = match angle.abs() < FRAC_PI_2 {
                true => 2.0 * sin(angle) / offset.length().max(0.5),
                false => tightest.copysign(angle),
            };
            pose = moved(pose, STEP, curvature.clamp(-tightest, tightest));
            travelled += STEP;
            let is_leaving = travelled < WAY_OUT;
            if !(self.fits(pose, margin) || is_leaving && self.fits(pose, 0.0)) {
                return None;
            }
            s = line.project(pose.position, s).0.clamp(s, line.length());
            if travelled > 1.5 * goal + 4.0 * PI * self.radius() {
                return None;
            }
            poses.push(pose);
        }
        Some(Track { poses, margin })
    }

    /// Returns waypoints along a track that is driven in one gear, then along the rest of the path.
    pub(super) fn waypoints(&self, track: &Track, gear: i8, beyond: &[DVec2]) -> Vec<Waypoint> {
        let most = match (gear < 0, track.margin < self.margin) {
            (true, _) => REVERSE_SPEED,
            (false, true) => NARROW_SPEED,
            (false, false) => self.speed,
        };
        let waypoint = |pose: Pose, speed: f64| Waypoint {
            pose,
            speed: speed.min(most).min(self.speed),
            gear,
        };
        let mut waypoints: Vec<Waypoint> = Vec::new();
        for (at, pose) in track.poses.iter().enumerate() {
            let curvature = curvature(&track.poses, at);
            let bend = (LATERAL / curvature.max(1e-6)).sqrt();
            waypoints.push(waypoint(*pose, bend));
        }
        let mut before = track.poses.last().copied().unwrap_or_default();
        for &point in beyond {
            let offset = point - before.position;
            if offset.length() > STEP {
                before = Pose {
                    position: point,
                    heading: heading_of(offset),
                };
                waypoints.push(waypoint(before, self.speed));
            }
        }
        waypoints
    }
}

/// Lowers speeds so that the vehicle can brake from each waypoint's speed to that of the next.
pub(super) fn brake_in_time(waypoints: &mut [Waypoint]) {
    for at in (1..waypoints.len()).rev() {
        let length = (waypoints[at].pose.position - waypoints[at - 1].pose.position).length();
        let ahead = waypoints[at].speed;
        let most = (ahead * ahead + 2.0 * BRAKING * length).sqrt();
        waypoints[at - 1].speed = waypoints[at - 1].speed.min(most);
    }
}

/// Slows down the end of a path where the vehicle changes direction.
pub(super) fn end_slowly(waypoints: &mut [Waypoint]) {
    if let Some(last) = waypoints.last_mut() {
        last.speed = CREEP;
    }
    brake_in_time(waypoints);
}

/// Curvature of a track near a pose, 1/m.
fn curvature(poses: &[Pose], at: usize) -> f64 {
    let (from, to) = (at.saturating_sub(3), (at + 3).min(poses.len() - 1));
    let length = (to - from) as f64 * STEP;
    let turn: f64 = poses[from..=to]
        .windows(2)
        .map(|pair| wrap_angle(pair[1].heading - pair[0].heading))
        .sum();
    turn.abs() / length.max(STEP)
}

/// The pose after the given distance along an arc; a negative distance is driven backwards.
pub(super) fn moved(pose: Pose, distance: f64, curvature: f64) -> Pose {
    let turn = distance * curvature;
    let chord = Pose {
        position: pose.position,
        heading: pose.heading + 0.5 * turn,
    };
    let half = 0.5 * turn;
    let length = if half.abs() < 1e-9 {
        distance
    } else {
        distance * sin(half) / half
    };
    Pose {
        position: chord.point(length, 0.0),
        heading: wrap_angle(pose.heading + turn),
    }
}
