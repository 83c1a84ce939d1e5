//! Turns a path of cells into a line that a vehicle can drive: it is smoothed, keeps to the turning
//! radius, and is driven more slowly in bends.

use crate::route::Waypoint;
use crate::vehicle_type::VehicleType;
use roadwright_geometry::centre_line::{CentreLine, CentreLines};
use roadwright_geometry::math::{sin, wrap_angle};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose, heading_of};
use roadwright_ground::Ground;
use roadwright_planning::open_ground::{OpenGround, Owner, ProfileId, Reading};
use std::cell::Cell;
use std::f64::consts::{FRAC_PI_2, PI};

/// Maximum length of the straight pieces of a smoothed path, m.
const LONGEST_CHORD: f64 = 30.0;
/// Length of the part of a path that is turned into a drivable line, m. The vehicle replans before it reaches the end
/// of this part.
pub(super) const DRIVEN: f64 = 40.0;
/// Minimum drivable length of the path beyond the end of a manoeuvre, m.
const DRIVES_ON: f64 = 10.0;
/// A partial path that ends where the vehicle cannot continue has to be longer than the braking
/// distance by at least this, m.
const PART: f64 = 8.0;
/// Distance between the end of a partial path and the place where the vehicle cannot continue, m.
const BEFORE: f64 = 4.0;
/// Step length for simulating the drive along a path, m.
const STEP: f64 = 0.5;
/// Radius of planned bends, as a multiple of the minimum turning radius of vehicle and driver.
const EASE: f64 = 1.05;
/// Like `EASE`, for paths of `drivable_path`, which are driven exactly.
const EXACT_EASE: f64 = 1.15;
/// Alternatives for following a path, from the fastest to the slowest.
const PURSUITS: [Pursuit; 7] = [
    Pursuit::new(2.4, 4.0),
    Pursuit::new(1.6, 3.0),
    Pursuit::new(1.8, SLOW),
    Pursuit::new(0.8, SLOW),
    Pursuit::new(1.2, SLOW),
    Pursuit::new(0.5, SLOW),
    Pursuit::new(1.0, SLOWEST),
];
/// Minimum lookahead distance, m.
const LEAST_LOOKAHEAD: f64 = 2.5;
/// Maximum lookahead distance, m.
const MOST_LOOKAHEAD: f64 = 8.0;
/// Lateral acceleration in planned bends, m/s^2.
const LATERAL: f64 = 3.0;
/// A vehicle takes at least this time to cover the radius of a bend, s. It gives wheels and drivers
/// time to respond.
const BEND_TIME: f64 = 0.6;
/// Deceleration before bends and stops, m/s^2.
const BRAKING: f64 = 2.0;
/// Deceleration of a vehicle that is too fast for the bends of a path that it begins, m/s^2.
pub(super) const SLOWING: f64 = 3.0;
/// Usual speed for bends that are too tight to be planned at a higher speed, m/s.
const SLOW: f64 = 2.0;
/// Minimum speed of planned bends, m/s.
const SLOWEST: f64 = 1.2;
/// Maximum speed in places where the clearance equals the tracking margin, m/s.
const CLOSE_SPEED: f64 = 5.0;
/// Maximum speed in places where the clearance is below the tracking margin, m/s.
const NARROW_SPEED: f64 = 2.0;
/// Maximum speed in places where the clearance equals the minimum margin, m/s.
const NARROWEST_SPEED: f64 = 1.2;
/// Speed of planned paths in reverse, m/s.
const REVERSE_SPEED: f64 = 2.5;
/// Speed at which a vehicle approaches a gear change, m/s.
pub(super) const CREEP: f64 = 0.5;
/// Fraction of the steering rate that planned bends use.
const STEERING_EASE: f64 = 0.9;
/// Minimum margin of a path, m. No driver follows a path more closely.
const LEAST_MARGIN: f64 = 0.1;
/// Margin of a path where there is room, as a multiple of the tracking margin, so that drivers who
/// deviate slightly from the path are still clear of obstacles.
pub(super) const SPARE: f64 = 1.7;
/// Overlaps with obstacles from which a vehicle of typical size can still drive away, in ascending
/// order, m.
const OVERLAPS: [f64; 4] = [0.0, 0.05, 0.1, 0.2];
/// Fraction of its acceleration that a vehicle can use against gravity to drive off.
const AGAINST_SLOPE: f64 = 0.9;
/// Maximum radius of the free discs that are searched for, as a multiple of the radius of the body.
const DISC: f64 = 2.5;
/// Minimum distance of a body from the edge of a free disc, m. It covers rounding errors.
const INSIDE: f64 = 1e-6;
/// Number of bisections for measuring the clearance of a vehicle.
const BISECTIONS: u32 = 6;
/// Number of poses that are checked in each step of a vehicle that is close to an obstacle. At full
/// lock, the corners of a vehicle move far sideways within a step.
const FINE: u32 = 5;
/// A vehicle that starts close to an obstacle may stay that close over this distance, m.
const WAY_OUT: f64 = 5.0;

/// A vehicle whose paths are turned into tracks, with the map.
pub(super) struct Driver<'a> {
    pub(super) map: &'a mut OpenGround,
    pub(super) profile: ProfileId,
    pub(super) owner: Owner,
    pub(super) kind: &'a VehicleType,
    /// Ground with the slopes that act on the vehicle.
    pub(super) ground: &'a Ground,
    /// Maximum curvature that the driver can steer, 1/m.
    pub(super) tightest: f64,
    /// Margin for deviations from the path, m.
    pub(super) margin: f64,
    /// Speed off the roads, m/s.
    pub(super) speed: f64,
    /// Current speed, m/s.
    pub(super) moves_at: f64,
    /// Current curvature of the path that the vehicle drives, 1/m.
    pub(super) curvature: f64,
    /// The free disc that was found most recently.
    pub(super) free: Cell<FreeDisc>,
}

/// A disc that no stationary obstacle touches.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FreeDisc {
    centre: DVec2,
    /// Radius, m; 0 if no disc is known.
    radius: f64,
}

impl FreeDisc {
    /// Whether a body lies inside the disc.
    fn holds(self, body: &OrientedBox) -> bool {
        let offset = (body.centre - self.centre).length();
        offset + body.radius() < self.radius - INSIDE
    }
}

/// A path as driven by a vehicle.
#[derive(Debug, Clone)]
pub(super) struct Track {
    /// Poses of the rear axle.
    pub(super) poses: Vec<Pose>,
    /// Clearance to obstacles for which the track was planned, m.
    pub(super) margin: f64,
    /// Actual clearance to obstacles, m. It is below `margin` if the track begins closer to an
    /// obstacle.
    pub(super) clearance: f64,
    /// Distance between the poses along the track, m.
    pub(super) spacing: f64,
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
    /// Factor that shortens the distances in this module for a short vehicle.
    pub(super) fn scale(&self) -> f64 {
        self.kind.scale()
    }

    /// Distance between successive poses of a track, m.
    pub(super) fn step(&self) -> f64 {
        STEP * self.scale()
    }

    /// Rate at which the curvature changes while the steering turns, 1/(m s).
    pub(super) fn bending_rate(&self) -> f64 {
        let limits = &self.kind.limits;
        STEERING_EASE * limits.steering_rate / limits.wheelbase
    }

    /// Radius of the tightest planned bends, m.
    pub(super) fn radius(&self) -> f64 {
        EASE / self.tightest.max(1e-3)
    }

    /// Radius of the tightest bends of paths that are driven exactly, m.
    pub(super) fn exact_radius(&self) -> f64 {
        EXACT_EASE / self.tightest.max(1e-3)
    }

    /// Outline of the vehicle with its rear axle at `pose`, enlarged by `margin` metres.
    pub(super) fn covered(&self, pose: Pose, margin: f64) -> OrientedBox {
        let body = self.kind.covered(pose);
        OrientedBox {
            half_length: body.half_length + margin,
            half_width: body.half_width + margin,
            ..body
        }
    }

    /// Whether the vehicle is clear of stationary obstacles at a pose.
    pub(super) fn fits(&self, pose: Pose, margin: f64) -> bool {
        let body = self.covered(pose, margin);
        if self.free.get().holds(&body) {
            return true;
        }
        // Successive poses are close to each other, so one measured clearance usually serves several of them.
        let (owner, within) = (Some(self.owner), DISC * body.radius());
        let clearance = self.map.clearance(self.profile, owner, body.centre, within);
        let free = FreeDisc {
            centre: body.centre,
            radius: clearance,
        };
        if free.holds(&body) {
            self.free.set(free);
            return true;
        }
        self.map.is_free(self.profile, owner, &body)
    }

    /// Acceleration due to gravity in the direction of travel at a pose, m/s^2; see [`pull`].
    fn pull(&self, pose: Pose, gear: i8) -> f64 {
        pull(self.ground, pose, self.kind.limits.wheelbase, gear)
    }

    /// Whether the vehicle could not drive off at a pose because the ground rises too steeply. `gear` is 1 or -1.
    pub(super) fn is_too_steep(&self, pose: Pose, gear: i8) -> bool {
        -self.pull(pose, gear) > AGAINST_SLOPE * self.kind.limits.max_acceleration
    }

    /// Smallest margin that the vehicle keeps when it passes obstacles, m.
    pub(super) fn least_margin(&self) -> f64 {
        (LEAST_MARGIN * self.scale()).min(self.margin)
    }

    /// Margins to try, from the largest to the smallest, m.
    pub(super) fn margins(&self) -> [f64; 3] {
        let least = self.least_margin();
        [self.margin, 0.5 * (self.margin + least), least]
    }

    /// Margin that the vehicle has when it drives away from a pose, m. Negative if the vehicle
    /// overlaps an obstacle there.
    pub(super) fn own_margin(&self, pose: Pose) -> f64 {
        let mut overlaps = OVERLAPS.into_iter().map(|by| by * self.scale());
        let overlap = overlaps.find(|&by| self.fits(pose, -by));
        -overlap.unwrap_or(0.0)
    }

    /// Largest clearance, up to `margin`, that the vehicle has at a pose, m. Negative if it
    /// overlaps an obstacle there.
    pub(super) fn room_at(&self, pose: Pose, margin: f64) -> f64 {
        if self.fits(pose, margin) {
            return margin;
        }
        if !self.fits(pose, 0.0) {
            return self.own_margin(pose);
        }
        let (mut free, mut blocked) = (0.0, margin);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (free + blocked);
            match self.fits(pose, middle) {
                true => free = middle,
                false => blocked = middle,
            }
        }
        free
    }

    /// Whether the vehicle is clear of obstacles along an arc that begins at a pose. A negative
    /// distance (m) is driven in reverse.
    pub(super) fn is_clear_along(
        &self,
        pose: Pose,
        distance: f64,
        curvature: f64,
        margin: f64,
    ) -> bool {
        (1..=FINE).all(|number| {
            let along = distance * f64::from(number) / f64::from(FINE);
            self.fits(moved(pose, along, curvature), margin)
        })
    }

    pub(super) fn factor(&mut self, point: DVec2) -> u32 {
        let cell = self.map.profile(self.profile).cell.cell_of(point);
        cell.map_or(0, |cell| {
            self.map.factor(self.profile, cell, Reading::Standing)
        })
    }

    /// Removes the points of a path over cells that a straight line can skip at no additional cost.
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

    /// Finds the index of the farthest point that a straight line reaches at no more than the cost
    /// of the path.
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

    /// Simulates driving forwards along a line, as far as the line can be driven. Uses the usual
    /// margin or, for [`Closeness::Narrow`], smaller ones. `None` if the vehicle would touch
    /// something or could not follow the line.
    pub(super) fn driven(&self, start: Pose, points: &[DVec2], room: Closeness) -> Option<Track> {
        let [usual, smaller, least] = self.margins();
        let margins = match room {
            Closeness::Usual => &[usual * SPARE, usual][..],
            Closeness::Narrow => &[smaller, least][..],
        };
        let mut lines = CentreLines::default();
        let span = lines.push(points)?;
        let line = lines.line(span);
        margins.iter().find_map(|&margin| {
            let drive = Drive {
                margin,
                length: DRIVEN * self.scale(),
                least: None,
            };
            self.tracks(self.rolling(start), line, drive).next()
        })
    }

    /// Simulates driving forwards along a line, with the usual margin, up to the place where the
    /// vehicle would touch something. `None` if that place is too near for the vehicle to stop.
    pub(super) fn driven_part(&self, start: Pose, points: &[DVec2]) -> Option<Track> {
        let mut lines = CentreLines::default();
        let span = lines.push(points)?;
        let begins = self.rolling(start);
        let drive = Drive {
            margin: self.margin,
            length: DRIVEN * self.scale(),
            least: Some(begins.speed * begins.speed / (2.0 * BRAKING) + PART * self.scale()),
        };
        let tracks = self.tracks(begins, lines.line(span), drive);
        let longest = tracks.max_by(|a, b| a.poses.len().cmp(&b.poses.len()));
        longest.map(|mut track| {
            let behind = (BEFORE * self.scale() / track.spacing) as usize;
            let kept = track.poses.len().saturating_sub(behind).max(2);
            track.poses.truncate(kept);
            track
        })
    }

    /// Returns how far the vehicle can drive along a line before it would touch something, m; at
    /// most the usual length of a drive.
    pub(super) fn reach_along(&self, start: Pose, points: &[DVec2]) -> f64 {
        let mut lines = CentreLines::default();
        let Some(span) = lines.push(points) else {
            return 0.0;
        };
        let line = lines.line(span);
        let drive = Drive {
            margin: self.margin,
            length: DRIVEN * self.scale(),
            least: Some(0.0),
        };
        let tracks = self.tracks(self.rolling(start), line, drive);
        let ends = tracks.filter_map(|track| track.poses.last().copied());
        ends.map(|end| line.project(end.position, 0.0).0)
            .fold(0.0, f64::max)
    }

    /// Whether the vehicle can continue along a line from the end of a manoeuvre, with the given margin.
    pub(super) fn drives_on(&self, begins: Rolling, points: &[DVec2], margin: f64) -> bool {
        let mut lines = CentreLines::default();
        let Some(span) = lines.push(points) else {
            return true;
        };
        let drive = Drive {
            margin,
            length: DRIVES_ON * self.scale(),
            least: None,
        };
        let mut tracks = self.tracks(begins, lines.line(span), drive);
        tracks.next().is_some()
    }

    /// Returns the motion of the vehicle when it begins a path at a pose.
    fn rolling(&self, pose: Pose) -> Rolling {
        Rolling {
            pose,
            bend: self.curvature,
            speed: self.moves_at.abs(),
        }
    }

    /// Returns the simulated drives along a line, from the fastest to the slowest. A drive is
    /// simulated only when the iterator reaches it.
    fn tracks(
        &self,
        begins: Rolling,
        line: CentreLine<'_>,
        drive: Drive,
    ) -> impl Iterator<Item = Track> {
        let pursuits = PURSUITS.into_iter();
        pursuits.filter_map(move |pursuit| self.driven_with(begins, line, pursuit, drive))
    }

    fn driven_with(
        &self,
        begins: Rolling,
        line: CentreLine<'_>,
        pursuit: Pursuit,
        drive: Drive,
    ) -> Option<Track> {
        let (scale, step) = (self.scale(), self.step());
        let Drive { margin, length, .. } = drive;
        let goal = length.min(line.length());
        let slow = pursuit.speed * scale;
        let lookahead = (pursuit.lookahead * self.radius()).clamp(
            LEAST_LOOKAHEAD * scale,
            MOST_LOOKAHEAD.max(LEAST_LOOKAHEAD * scale),
        );
        let tightest = 1.0 / self.radius();
        let Rolling {
            mut pose,
            mut bend,
            mut speed,
        } = begins;
        let own = self.room_at(pose, margin);
        let mut poses = vec![pose];
        let (mut s, mut travelled) = (0.0, 0.0);
        let mut was_clear = own >= margin;
        // Kinetic energy per unit of mass, m^2/s^2. Momentum takes a vehicle up slopes that are too
        // steep for its engine.
        let mut energy = 0.5 * speed * speed;
        while s < goal - 0.5 * step {
            let left = line.length() - s;
            let target = match lookahead <= left {
                true => line.position(s + lookahead),
                false => line.pose(line.length()).point(lookahead - left, 0.0),
            };
            let offset = target - pose.position;
            let angle = wrap_angle(heading_of(offset) - pose.heading);
            let wanted = match angle.abs() < FRAC_PI_2 {
                true => 2.0 * sin(angle) / offset.length().max(step),
                false => tightest.copysign(angle),
            };
            // The wheels take time to turn, and a fast vehicle cannot turn sharply.
            speed = (speed * speed - 2.0 * SLOWING * step)
                .max(slow * slow)
                .sqrt();
            let most = tightest.min(2.0 * LATERAL / (speed * speed));
            let change = self.bending_rate() / speed * step;
            bend += (wanted.clamp(-most, most) - bend).clamp(-change, change);
            let before = pose;
            pose = moved(pose, step, bend);
            travelled += step;
            energy += (self.pull(pose, 1) + self.kind.limits.max_acceleration) * step;
            energy = energy.min(0.5 * self.speed * self.speed);
            let is_clear = self.fits(pose, margin);
            let is_leaving = travelled < WAY_OUT * scale;
            let is_free = match is_leaving && !(is_clear && was_clear) {
                true => {
                    // The vehicle may not come closer to the obstacle, and has to get clear of it.
                    let needed = rising_margin(own, margin, (travelled - step) / (WAY_OUT * scale));
                    self.is_clear_along(before, step, bend, needed)
                }
                false => is_clear,
            };
            was_clear = is_clear;
            if !is_free || energy < 0.0 {
                if drive.least.is_some_and(|least| travelled >= least) {
                    break;
                }
                return None;
            }
            s = line.project(pose.position, s).0.clamp(s, line.length());
            if travelled > 1.5 * goal + 4.0 * PI * self.radius() {
                return None;
            }
            poses.push(pose);
        }
        Some(Track {
            poses,
            margin: margin.min(self.margin),
            clearance: own.clamp(0.0, margin.min(self.margin)),
            spacing: step,
        })
    }

    /// Returns waypoints along a track driven in one gear, and then along the rest of the path. A
    /// stationary vehicle turns its wheels towards the first bend before it drives off.
    pub(super) fn waypoints(&self, track: &Track, gear: i8, beyond: &[DVec2]) -> Vec<Waypoint> {
        let pace = self.scale().sqrt();
        let most = match gear < 0 {
            true => REVERSE_SPEED * pace,
            false => self.speed,
        };
        let waypoint = |pose: Pose, speed: f64| Waypoint {
            pose,
            speed: speed.min(most).min(self.speed),
            gear,
        };
        let narrow = self.narrow_speed(track.margin);
        let mut waypoints: Vec<Waypoint> = Vec::new();
        for (at, pose) in track.poses.iter().enumerate() {
            let bend = self.curvature_at(track, at);
            let sharpness = bend.abs().max(1e-6);
            let in_bend = (LATERAL / sharpness).sqrt();
            let in_bend = in_bend.min(1.0 / (sharpness * BEND_TIME));
            // The curvature may not increase faster than the wheels turn.
            let after = (at + self.reach(track)).min(track.poses.len() - 1);
            let tightens = (self.curvature_at(track, after) - bend).abs()
                / (((after - at) as f64) * track.spacing).max(track.spacing);
            let while_steering = (self.bending_rate() / tightens.max(1e-6)).max(CREEP * pace);
            let in_gap = match narrow {
                Some(speed) if !self.fits(*pose, self.margin) => speed,
                _ if self.fits(*pose, SPARE * self.margin) => f64::INFINITY,
                _ => CLOSE_SPEED * pace,
            };
            waypoints.push(waypoint(*pose, in_bend.min(while_steering).min(in_gap)));
        }
        let mut before = track.poses.last().copied().unwrap_or_default();
        for &point in beyond {
            let offset = point - before.position;
            if offset.length() > self.step() {
                before = Pose {
                    position: point,
                    heading: heading_of(offset),
                };
                waypoints.push(waypoint(before, self.speed));
            }
        }
        waypoints
    }

    /// Maximum speed for a track whose margin is smaller than usual, m/s; `None` for the usual
    /// margin.
    fn narrow_speed(&self, margin: f64) -> Option<f64> {
        if margin >= self.margin {
            None
        } else if margin > self.least_margin() {
            Some(NARROW_SPEED * self.scale().sqrt())
        } else {
            Some(NARROWEST_SPEED * self.scale().sqrt())
        }
    }

    /// Driving time along a track, s. `compared` is the assumed speed where the track has the usual
    /// clearance, m/s.
    pub(super) fn time_along(&self, track: &Track, compared: f64) -> f64 {
        let compared = compared.min(self.speed).max(CREEP);
        let Some(narrow) = self.narrow_speed(track.margin) else {
            return track.length() / compared;
        };
        let poses = track.poses.iter();
        let close = poses.filter(|&&pose| !self.fits(pose, self.margin)).count();
        let share = close as f64 / track.poses.len().max(1) as f64;
        track.length() * (share / narrow.min(compared) + (1.0 - share) / compared)
    }

    /// Returns the number of poses before and after a pose over which the curvature of a track is
    /// computed.
    fn reach(&self, track: &Track) -> usize {
        (2.0 * self.step() / track.spacing.max(1e-3)).round() as usize
    }

    /// Curvature of a track near a pose, 1/m, positive to the left.
    fn curvature_at(&self, track: &Track, at: usize) -> f64 {
        let (poses, reach) = (&track.poses, self.reach(track));
        let (from, to) = (at.saturating_sub(reach), (at + reach).min(poses.len() - 1));
        let length = (to - from) as f64 * track.spacing;
        let turn: f64 = poses[from..=to]
            .windows(2)
            .map(|pair| wrap_angle(pair[1].heading - pair[0].heading))
            .sum();
        turn / length.max(track.spacing)
    }
}

/// Parameters of a simulated vehicle that follows a line.
#[derive(Debug, Clone, Copy)]
struct Pursuit {
    /// Lookahead distance, as a multiple of the radius of planned bends.
    lookahead: f64,
    /// Lower limit of the speed, m/s. It determines how fast the curvature changes.
    speed: f64,
}

impl Pursuit {
    const fn new(lookahead: f64, speed: f64) -> Self {
        Self { lookahead, speed }
    }
}

/// State of a vehicle at the beginning of a drive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rolling {
    /// Pose of the rear axle.
    pub(super) pose: Pose,
    /// Path curvature that corresponds to the current wheel angle, 1/m.
    pub(super) bend: f64,
    /// Speed, m/s.
    pub(super) speed: f64,
}

/// Parameters for simulating a drive along a line.
#[derive(Debug, Clone, Copy)]
struct Drive {
    /// Margin around the vehicle, m.
    margin: f64,
    /// Maximum length along the line, m.
    length: f64,
    /// Length after which the drive may end early if the vehicle cannot continue, m; `None` if it
    /// has to reach the end of the line.
    least: Option<f64>,
}

/// Distance from obstacles that a path has to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closeness {
    /// At least the tracking margin.
    Usual,
    /// Less than the tracking margin.
    Narrow,
}

/// Acceleration due to gravity in the direction of travel of a vehicle at a pose, m/s^2; negative uphill. `gear` is 1
/// or -1.
pub(crate) fn pull(ground: &Ground, pose: Pose, wheelbase: f64, gear: i8) -> f64 {
    let grade = ground.grade(pose, wheelbase);
    grade.map_or(0.0, |grade| f64::from(gear) * grade.pull)
}

/// Margin that a vehicle needs while it drives away from an obstacle, m. It rises from `own` at the
/// start to `margin`. `share` is the completed fraction of the distance over which it rises.
pub(super) fn rising_margin(own: f64, margin: f64, share: f64) -> f64 {
    (own + share.min(1.0) * (margin - own)).min(margin)
}

/// Lowers speeds so that, between any two waypoints, the vehicle can brake to the speed of the next
/// one.
pub(super) fn brake_in_time(waypoints: &mut [Waypoint]) {
    for at in (1..waypoints.len()).rev() {
        let length = (waypoints[at].pose.position - waypoints[at - 1].pose.position).length();
        let ahead = waypoints[at].speed;
        let most = (ahead * ahead + 2.0 * BRAKING * length).sqrt();
        waypoints[at - 1].speed = waypoints[at - 1].speed.min(most);
    }
}

/// Lowers the speed to `speed` (m/s) at the end of a path where the vehicle changes gear.
pub(super) fn end_slowly(waypoints: &mut [Waypoint], speed: f64) {
    if let Some(last) = waypoints.last_mut() {
        last.speed = speed;
    }
    brake_in_time(waypoints);
}

/// Returns the pose after the given distance along an arc. A negative distance is driven in
/// reverse.
pub(crate) fn moved(pose: Pose, distance: f64, curvature: f64) -> Pose {
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
