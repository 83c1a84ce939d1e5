//! Curves to the target for a vehicle with a trailer.
//!
//! Forwards, the vehicle follows a curve and the trailer follows the vehicle. In reverse, the
//! trailer's axle follows the curve, and a feedback law steers the vehicle so that it pushes the
//! trailer along the curve. This drive is simulated as a sequence of short arcs, which form the
//! path. Arcs chosen without the feedback law would not do, because a pushed trailer is unstable
//! and does not stay straight.

use super::search::DrivableTrip;
use super::surface::Arc;
use super::trailer::{Combination, Deviation, DrivableTrailer};
use super::vehicle::Placement;
use roadwright_geometry::math::{cos, wrap_angle};
use roadwright_geometry::reeds_shepp::ReedsShepp;
use roadwright_geometry::{Pose, left_of};
use std::f64::consts::PI;

/// Length of the arcs of a pushed trailer's drive, m.
const STEP: f64 = 0.2;
/// Maximum number of arcs in the drive of a pushed trailer.
const MOST_STEPS: usize = 400;
/// Preview distance at which the steering law reads the curvature of the curve, m. The hitch angle takes
/// about this distance to respond.
const PREVIEW: f64 = 1.2;
/// Distance over which the wheels turn from one lock to the other while a trailer is pushed, m.
const LOCK_TO_LOCK: f64 = 2.0;
/// Maximum offset of the trailer from its curve, m. A drive that exceeds it is discarded.
const FARTHEST_OFF: f64 = 1.5;
/// Maximum distance of the vehicle's rear axle from the target at the end of a pushed drive, m.
const END_OFF: f64 = 0.05;
/// Maximum difference in heading at the end of a pushed drive, rad.
const END_TURNED: f64 = 0.03;
/// Lengths of the straight ends of curves, as multiples of the distance from the coupling to the trailer's axle.
const LEADS: [f64; 4] = [0.0, 1.0, 2.0, 3.0];
/// Radii of curves, as multiples of the smallest possible one.
const RADII: [f64; 2] = [1.0, 1.7];

/// A curve of arcs that is followed without a change of direction.
#[derive(Debug, Clone)]
struct Curve {
    start: Placement,
    arcs: Vec<Arc>,
    length: f64,
}

impl Curve {
    /// Returns the shortest curve from pose to pose for each straight end and radius, in ascending
    /// order of length.
    fn shortest(from: Pose, to: Pose, radius: f64, unit: f64) -> Vec<Self> {
        let mut curves = Vec::new();
        for lead in LEADS.map(|lead| lead * unit) {
            let end = Pose {
                position: to.point(-lead, 0.0),
                ..to
            };
            for radius in RADII.map(|times| times * radius) {
                let mut shortest: Option<ReedsShepp> = None;
                ReedsShepp::for_each(from, end, radius, |curve| {
                    let is_one_way = curve.pieces().iter().all(|piece| piece.length >= 0.0);
                    let known = shortest.as_ref().map_or(f64::INFINITY, ReedsShepp::length);
                    if is_one_way && curve.length() < known {
                        shortest = Some(curve);
                    }
                });
                let Some(shortest) = shortest else { continue };
                let own = shortest.pieces().iter().map(|piece| Arc {
                    curvature: piece.bend.sign() / radius,
                    length: piece.length,
                });
                let straight = Arc {
                    curvature: 0.0,
                    length: lead,
                };
                let arcs: Vec<Arc> = own.chain([straight]).collect();
                curves.push(Self {
                    start: Placement::of(from),
                    length: arcs.iter().map(|arc| arc.length).sum(),
                    arcs,
                });
            }
        }
        curves.sort_by(|a, b| a.length.total_cmp(&b.length));
        curves
    }

    fn place(&self, s: f64) -> Placement {
        let (mut at, mut left) = (self.start, s);
        for arc in &self.arcs {
            let part = left.min(arc.length);
            at = at.moved(arc.curvature, part);
            left -= part;
            if left <= 0.0 {
                break;
            }
        }
        at
    }

    fn curvature(&self, s: f64) -> f64 {
        let mut left = s;
        for arc in &self.arcs {
            if left < arc.length {
                return arc.curvature;
            }
            left -= arc.length;
        }
        0.0
    }
}

/// Curves to the target that the vehicle with its trailer can drive, regardless of obstacles.
pub(super) struct TowedShots<'a> {
    pub(super) trip: &'a DrivableTrip,
    pub(super) trailer: &'a DrivableTrailer,
    pub(super) from: Combination,
}

impl TowedShots<'_> {
    /// Curves forwards, shortest first. The trailer may end at any hitch angle.
    pub(super) fn forwards(&self) -> Vec<Vec<Arc>> {
        let Some(heading) = self.trip.heading else {
            return Vec::new();
        };
        let to = Pose {
            position: self.trip.to,
            heading,
        };
        let radius = self.trip.vehicle.radius();
        let curves = Curve::shortest(self.from.vehicle.pose(), to, radius, self.trailer.to_axle);
        curves.into_iter().map(|curve| curve.arcs).collect()
    }

    /// Curves in reverse, shorter than `most` metres, along which the trailer is pushed to the target. The shortest ones
    /// come first.
    pub(super) fn reverse(&self, most: f64) -> impl Iterator<Item = Vec<Arc>> {
        let vehicle = &self.trip.vehicle;
        let curves = match self.trip.heading {
            Some(heading) if vehicle.reverses => {
                let goal = Pose {
                    position: self.trip.to,
                    heading,
                };
                let from = reversed(self.trailer.axle(self.from.vehicle.pose(), self.from.hitch));
                let to = reversed(self.trailer.axle(goal, 0.0));
                let radius = self.trailer.pushing_radius(vehicle);
                Curve::shortest(from, to, radius, self.trailer.to_axle)
            }
            _ => Vec::new(),
        };
        let curves = curves.into_iter().filter(move |curve| curve.length < most);
        curves.filter_map(|curve| self.pushed(&curve))
    }

    /// Returns the arcs of a vehicle that pushes its trailer along a curve to the target; `None` if
    /// it does not end at the target.
    fn pushed(&self, curve: &Curve) -> Option<Vec<Arc>> {
        let Self { trip, trailer, .. } = self;
        let vehicle = &trip.vehicle;
        let most = trailer.jackknife(vehicle.curvature);
        let change = 2.0 * vehicle.curvature * STEP / LOCK_TO_LOCK;
        let (mut at, mut s) = (self.from, 0.0);
        let mut arcs: Vec<Arc> = Vec::new();
        loop {
            let axle = Placement::of(reversed(trailer.axle(at.vehicle.pose(), at.hitch)));
            let foot = curve.place(s);
            let aside = axle.position - foot.position;
            s = (s + aside.dot(foot.forward)).clamp(0.0, curve.length);
            let left = curve.length - s;
            let error = Deviation {
                offset: aside.dot(left_of(foot.forward)),
                angle: wrap_angle(axle.heading - foot.heading),
                curvature: curve.curvature(s + PREVIEW),
            };
            if left < 1e-3 {
                break;
            }
            if at.hitch.abs() > most
                || error.offset.abs() > FARTHEST_OFF
                || arcs.len() >= MOST_STEPS
            {
                return None;
            }
            let wanted = trailer.pushing(vehicle, at.hitch, error);
            let wanted = wanted.clamp(-vehicle.curvature, vehicle.curvature);
            let curvature = match arcs.last() {
                Some(before) => wanted.clamp(before.curvature - change, before.curvature + change),
                // The wheels are turned before the vehicle drives off.
                None => wanted,
            };
            let length = STEP.min(left);
            let arc = Arc {
                curvature,
                length: -length,
            };
            at = at.moved(vehicle, arc);
            s += length * cos(error.angle);
            arcs.push(arc);
        }
        self.is_at_target(&at).then_some(arcs)
    }

    /// Whether the vehicle is at the target, with its trailer straight enough.
    pub(super) fn is_at_target(&self, at: &Combination) -> bool {
        let turned = |heading: f64| wrap_angle(at.vehicle.heading - heading).abs();
        (at.vehicle.position - self.trip.to).length() <= END_OFF
            && self
                .trip
                .heading
                .is_none_or(|heading| turned(heading) <= END_TURNED)
            && at.hitch.abs() <= self.trip.hitch_at_end
    }
}

/// Returns a pose that faces the opposite direction.
fn reversed(pose: Pose) -> Pose {
    Pose {
        heading: wrap_angle(pose.heading + PI),
        ..pose
    }
}
