//! The trailer of a vehicle for which a path is planned.
//!
//! The axle of the trailer rolls without slip. Let h be the hitch angle, from the heading of the
//! trailer to the heading of the vehicle, k the curvature of the vehicle's path, c the position of
//! the coupling ahead of the vehicle's rear axle, and d the distance from the coupling to the
//! trailer's axle. For each metre that the vehicle drives, the trailer turns by `(sin h + c k cos
//! h) / d`. In reverse, this angle is unstable and grows, so the vehicle has to counter-steer.

use super::surface::Arc;
use super::vehicle::{DrivableVehicle, Placement};
use roadwright_geometry::math::{asin, atan, cos, sin, sin_cos, wrap_angle};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};
use std::f64::consts::FRAC_PI_2;

/// Maximum length over which the hitch angle is integrated in one step, m. The error of a step is less than 1e-7 rad for
/// trailers of usual length.
const STEP: f64 = 0.25;
/// Largest hitch angle that paths use in reverse, as a fraction of the angle at which the vehicle can no
/// longer straighten its trailer.
const JACKKNIFE_SHARE: f64 = 0.65;
/// Largest hitch angle that paths use, as a fraction of the angle at which the bodies touch.
const LOCK_SHARE: f64 = 0.9;

/// A trailer behind a vehicle. Hitch angles are measured from the heading of the trailer to the
/// heading of the vehicle, in rad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrivableTrailer {
    /// Position of the coupling ahead of the rear axle of the vehicle, m; negative behind it.
    pub coupling: f64,
    /// Distance from the coupling back to the axle of the trailer, m; positive.
    pub to_axle: f64,
    /// Position of the centre of the trailer's body ahead of the coupling, m; usually negative.
    pub centre: f64,
    /// Length of the trailer's body, m.
    pub length: f64,
    /// Width of the trailer's body, m.
    pub width: f64,
    /// Hitch angle at which the bodies touch, rad.
    pub lock: f64,
}

/// Pose of a vehicle, with the hitch angle of its trailer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Combination {
    pub(super) vehicle: Placement,
    /// Hitch angle, rad; 0 without a trailer.
    pub(super) hitch: f64,
}

impl DrivableTrailer {
    /// Pose of the trailer's axle behind a vehicle whose rear axle is at `pose`.
    pub fn axle(&self, pose: Pose, hitch: f64) -> Pose {
        self.place(Placement::of(pose), hitch, -self.to_axle).pose()
    }

    /// Outline of the trailer behind a vehicle whose rear axle is at `pose`, enlarged by `margin` metres on all sides.
    pub fn footprint(&self, pose: Pose, hitch: f64, margin: f64) -> OrientedBox {
        self.outline(Placement::of(pose), hitch, margin)
    }

    /// Returns the pose of a vehicle's rear axle from the pose of the trailer's axle, with the
    /// trailer straight behind the vehicle.
    pub fn towing(&self, axle: Pose) -> Pose {
        Pose {
            position: axle.point(self.to_axle - self.coupling, 0.0),
            heading: axle.heading,
        }
    }

    /// Maximum hitch angle when reversing, rad, for a vehicle that steers curvatures of up to
    /// `curvature` (1/m). Beyond a somewhat larger angle, the vehicle cannot straighten the trailer
    /// without driving forwards.
    pub fn jackknife(&self, curvature: f64) -> f64 {
        // At the limit, full lock just keeps the angle: sin h + c k cos h = k d.
        let swing = curvature * self.coupling;
        let needed = curvature * self.to_axle / (1.0 + swing * swing).sqrt();
        let limit = match needed < 1.0 {
            true => asin(needed) - atan(swing),
            false => FRAC_PI_2,
        };
        (JACKKNIFE_SHARE * limit).min(self.widest())
    }

    /// Maximum hitch angle when driving forwards, rad.
    pub fn widest(&self) -> f64 {
        LOCK_SHARE * self.lock
    }

    #[inline]
    pub(super) fn outline(&self, at: Placement, hitch: f64, margin: f64) -> OrientedBox {
        let trailer = self.place(at, hitch, self.centre);
        OrientedBox {
            centre: trailer.position,
            forward: trailer.forward,
            half_length: 0.5 * self.length + margin,
            half_width: 0.5 * self.width + margin,
        }
    }

    /// Returns the point of the trailer `ahead` metres ahead of its coupling, with the heading of
    /// the trailer.
    #[inline]
    fn place(&self, at: Placement, hitch: f64, ahead: f64) -> Placement {
        let (sin, cos) = sin_cos(hitch);
        let forward = DVec2::new(
            at.forward.x * cos + at.forward.y * sin,
            at.forward.y * cos - at.forward.x * sin,
        );
        Placement {
            position: at.point(self.coupling) + forward * ahead,
            forward,
            heading: wrap_angle(at.heading - hitch),
        }
    }

    /// Angle that the trailer turns per metre that the vehicle drives, rad/m.
    #[inline]
    fn turn(&self, hitch: f64, curvature: f64) -> f64 {
        let (sin, cos) = sin_cos(hitch);
        (sin + self.coupling * curvature * cos) / self.to_axle
    }

    /// Hitch angle after the vehicle has driven an arc with a curvature (1/m) and a length (m, negative in reverse), rad.
    pub fn hitch_after_arc(&self, hitch: f64, curvature: f64, length: f64) -> f64 {
        self.hitch_after(hitch, Arc { curvature, length })
    }

    /// Hitch angle after an arc, rad.
    pub(super) fn hitch_after(&self, hitch: f64, arc: Arc) -> f64 {
        let count = (arc.length.abs() / STEP).ceil().max(1.0);
        let step = arc.length / count;
        let rate = |hitch: f64| arc.curvature - self.turn(hitch, arc.curvature);
        let mut now = hitch;
        for _ in 0..count as u32 {
            let first = rate(now);
            let second = rate(now + 0.5 * step * first);
            let third = rate(now + 0.5 * step * second);
            let fourth = rate(now + step * third);
            now += step / 6.0 * (first + 2.0 * (second + third) + fourth);
        }
        now
    }

    /// Upper bound of the speed of any point of the trailer, relative to the speed of the vehicle's rear axle.
    pub(super) fn fastest(&self, curvature: f64, margin: f64) -> f64 {
        let coupling = 1.0 + (self.coupling * curvature).abs();
        let ahead = self.centre.abs() + 0.5 * self.length + margin;
        let reach = DVec2::new(ahead, 0.5 * self.width + margin).length();
        coupling * (1.0 + reach / self.to_axle)
    }
}

impl Combination {
    /// Returns the combination at the end of an arc.
    #[inline]
    pub(super) fn moved(&self, vehicle: &DrivableVehicle, arc: Arc) -> Self {
        Self {
            vehicle: self.vehicle.moved(arc.curvature, arc.length),
            hitch: match &vehicle.trailer {
                Some(trailer) => trailer.hitch_after(self.hitch, arc),
                None => 0.0,
            },
        }
    }
}

/// Gains of the steering law for pushing a trailer along a curve: for the offset of its axle (1/m^2), its
/// heading (1/m) and the hitch angle (1/m). Larger gains would require faster steering than cars have.
const OFFSET_GAIN: f64 = 0.08;
const HEADING_GAIN: f64 = 0.6;
const HITCH_GAIN: f64 = 0.6;
/// Largest hitch angle that the steering law uses, as a fraction of the maximum hitch angle in reverse.
const BENDS: f64 = 0.9;

/// Deviation of a trailer's axle from the curve along which it is pushed, seen in the direction of travel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deviation {
    /// Offset to the left, m.
    pub(super) offset: f64,
    /// Angle from the curve to the direction of travel, rad.
    pub(super) angle: f64,
    /// Curvature of the curve, 1/m, positive to the left.
    pub(super) curvature: f64,
}

impl DrivableTrailer {
    /// Radius of the tightest curves along which a trailer is pushed, m.
    pub(super) fn pushing_radius(&self, vehicle: &DrivableVehicle) -> f64 {
        let bent = sin(0.75 * self.jackknife(vehicle.curvature));
        ((self.to_axle - self.coupling) / bent).max(1.2 * vehicle.radius())
    }

    /// Returns the curvature of the vehicle's path that pushes the trailer along a curve, 1/m,
    /// before steering limits are applied.
    pub(super) fn pushing(&self, vehicle: &DrivableVehicle, hitch: f64, error: Deviation) -> f64 {
        let wanted = error.curvature - OFFSET_GAIN * error.offset - HEADING_GAIN * sin(error.angle);
        let most = BENDS * self.jackknife(vehicle.curvature);
        // In a steady turn, sin h = -d q + c q cos h for the curvature q of the trailer in the direction of travel.
        let bent = -wanted * (self.to_axle - self.coupling);
        let bent = asin(bent.clamp(-1.0, 1.0)).clamp(-most, most);
        let grows = sin(hitch) / self.to_axle;
        let per_curvature = 1.0 - self.coupling * cos(hitch) / self.to_axle;
        (grows + HITCH_GAIN * (hitch - bent)) / per_curvature
    }
}
