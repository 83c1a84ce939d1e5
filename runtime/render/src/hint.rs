//! Hints about the state of a vehicle, added to its figure: steered wheels, a leaning roof, and a sign above
//! a vehicle that is stuck. They are the same in pictures and in the editor.

use crate::figure::{self, Corner, Figure, Part, rectangle, round};
use crate::palette::{PAPER, RIM, SHEEN, SIGNAL_LAMPS, faded, rgb};
use glam::DVec2;
use roadwright_geometry::{heading_of, math, unit};
use roadwright_scenario::BodyKind;
use roadwright_simulation::{PersonFigure, Snapshot, VehicleRecord, WheelRecord};
use std::f64::consts::FRAC_PI_2;
use tiny_skia::Color;

/// A figure at a position in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hint {
    /// The shape that is drawn.
    pub figure: Figure,
    /// Middle of the figure, m.
    pub at: DVec2,
    /// Vector from the middle of the figure to its front, m. Its length is half the length of the
    /// figure.
    pub front: DVec2,
    /// Half the width of the figure, m.
    pub half_width: f64,
    /// Colour of the parts of the figure that have no fixed colour.
    pub color: Color,
}

/// Largest scale at which wheels are drawn, m per pixel. A wheel is 0.7 m long.
const FARTHEST_WHEEL: f64 = 0.1;
/// Largest scale at which feet are visible, m per pixel.
const FARTHEST_FOOT: f64 = 0.04;
/// Half the length and half the width of a foot, m.
const FOOT: f64 = 0.14;
const FOOT_WIDTH: f64 = 0.05;
/// Minimum steering angle that is shown, rad (2 degrees).
const LEAST_STEERING: f64 = 0.035;
/// Half the width of a wheel, as a fraction of its radius.
pub const WHEEL_WIDTH: f64 = 0.33;
/// Default wheel radius, m.
const COMMON_RADIUS: f64 = 0.33;
/// Default of half the track width, as a fraction of the vehicle's width.
const COMMON_TRACK: f64 = 0.41;
/// Distance by which drawn wheels protrude from the sides of the body, m. Wheels below the body
/// would be invisible.
const STANDING_OUT: f64 = 0.06;

/// Minimum lean that is shown, rad (2 degrees).
const LEAST_LEAN: f64 = 0.035;
/// Maximum shift of a roof, in vehicle widths. Up to this limit, the shift is the sine of the lean.
const FARTHEST_ROOF: f64 = 0.2;

/// Radius of the sign above a stuck vehicle, pixels.
const SIGN: f64 = 10.0;
/// Distance between a sign and its vehicle, pixels.
const SIGN_GAP: f64 = 3.0;

/// Returns the steered wheels of a vehicle. The list is empty for tracked vehicles, or if the vehicle is
/// drawn too small. `scale` is in metres per pixel.
///
/// If the dynamics level models wheels, their positions come from the snapshot. Otherwise they form a steered
/// front axle, which is as far from the front as the rear axle is from the rear.
pub fn wheels<'a>(
    vehicle: &'a VehicleRecord,
    snapshot: &'a Snapshot,
    scale: f64,
) -> impl Iterator<Item = Hint> + 'a {
    let has_wheels = !vehicle.has_tracks && vehicle.body_kind == BodyKind::Vehicle;
    let is_near = scale <= FARTHEST_WHEEL && has_wheels;
    let own = || snapshot.mechanics_of(vehicle.agent);
    let own = is_near.then(own).flatten();
    let own = own.map_or(&[][..], |mechanics| &mechanics.wheels);
    let common = (is_near && own.is_empty()).then(|| front_axle(vehicle));
    own.iter()
        .copied()
        .chain(common.into_iter().flatten())
        .filter(|wheel| wheel.steering.abs() > LEAST_STEERING)
        .map(|wheel| wheel_of(vehicle, &wheel))
        .chain(feet(vehicle, snapshot, scale))
}

/// Returns the feet of a character. Empty for vehicles, and if the character is drawn too small.
fn feet(vehicle: &VehicleRecord, snapshot: &Snapshot, scale: f64) -> impl Iterator<Item = Hint> {
    let is_near = vehicle.body_kind == BodyKind::Character;
    let own = is_near.then(|| snapshot.character(vehicle.agent)).flatten();
    own.into_iter()
        .flat_map(move |character| feet_of(&character.figure, scale))
}

/// Returns the feet of a person. Empty if the person is drawn too small. `scale` is in metres per pixel.
pub fn feet_of(figure: &PersonFigure, scale: f64) -> impl Iterator<Item = Hint> + use<> {
    let feet = (scale <= FARTHEST_FOOT).then_some(figure.feet);
    feet.into_iter().flatten().map(|foot| {
        // A raised foot is nearer to the viewer, so it is drawn larger.
        let grow = 1.0 + foot.height;
        Hint {
            figure: Figure::Wheel,
            at: foot.place,
            front: grow * FOOT * unit(foot.heading),
            half_width: grow * FOOT_WIDTH,
            color: rgb(RIM),
        }
    })
}

/// Returns the heading of a character's shoulders, or of a vehicle's body, rad.
pub fn shoulder_heading(vehicle: &VehicleRecord, snapshot: &Snapshot) -> f64 {
    let own = snapshot.character(vehicle.agent);
    own.map_or(vehicle.body.heading, |character| {
        heading_of_shoulders(&character.figure)
    })
}

/// Returns the heading of a person's shoulders, rad.
pub fn heading_of_shoulders(figure: &PersonFigure) -> f64 {
    let [left, right] = figure.shoulders;
    heading_of(left - right) - FRAC_PI_2
}

/// Returns the front wheels of a vehicle, given only its steering angle and dimensions.
fn front_axle(vehicle: &VehicleRecord) -> [WheelRecord; 2] {
    let ahead = (vehicle.body.position - vehicle.pose.position).dot(vehicle.body.forward());
    // If the middle of the body is at or behind the rear axle, the position of the wheels is unknown, so they
    // are hidden below the middle of the body.
    let axle = 2.0 * ahead.max(0.0);
    [1.0, -1.0].map(|side| WheelRecord {
        place: DVec2::new(axle, side * COMMON_TRACK * vehicle.width),
        radius: COMMON_RADIUS,
        steering: vehicle.steering,
        ..WheelRecord::default()
    })
}

fn wheel_of(vehicle: &VehicleRecord, wheel: &WheelRecord) -> Hint {
    let half_width = WHEEL_WIDTH * wheel.radius;
    // The wheels are drawn at the sides of the body, even if the vehicle file places them below it.
    let side = 0.5 * vehicle.width + STANDING_OUT - half_width;
    let left = wheel.place.y.signum() * wheel.place.y.abs().max(side);
    Hint {
        figure: Figure::Wheel,
        at: vehicle.pose.point(wheel.place.x, left),
        front: wheel.radius * unit(vehicle.pose.heading + wheel.steering),
        half_width,
        color: rgb(RIM),
    }
}

/// Returns the shapes of a leaning vehicle's roof in drawing order, shifted in the direction of the lean. The
/// list is empty if the body is upright, if the dynamics level has no roll and pitch, or if the vehicle is
/// drawn too small. `scale` is in metres per pixel.
pub fn roof(vehicle: &VehicleRecord, scale: f64) -> impl Iterator<Item = Hint> {
    let leans = lean(vehicle).and_then(|lean| Some((lean, roof_of(vehicle, scale)?)));
    let hints = leans.map(|(lean, (still, moves))| {
        let body = &vehicle.body;
        let grow = figure::enlargement(vehicle.length, scale);
        let forward = body.forward();
        let hint = |figure: Figure, at: DVec2| Hint {
            figure,
            at,
            front: 0.5 * vehicle.length * grow * forward,
            half_width: 0.5 * vehicle.width * grow,
            color: figure::body_color(vehicle.agent, vehicle.length, body_of(vehicle, scale)),
        };
        let shift = vehicle.width * (lean.x * forward + lean.y * forward.perp());
        let still = still.map(|figure| hint(figure, body.position));
        [still, Some(hint(moves, body.position + shift))]
    });
    hints.into_iter().flatten().flatten()
}

/// Returns the shift of a roof ahead and to the left, in vehicle widths; `None` if the vehicle does
/// not lean.
fn lean(vehicle: &VehicleRecord) -> Option<DVec2> {
    let attitude = vehicle.attitude?;
    let leans = attitude.pitch.abs() > LEAST_LEAN || attitude.roll.abs() > LEAST_LEAN;
    // Beyond a right angle, the shift does not increase.
    let share = |angle: f64| math::sin(angle.clamp(-FRAC_PI_2, FRAC_PI_2));
    // A raised front moves the roof backwards, and a raised left side moves it to the right.
    let lean = DVec2::new(-share(attitude.pitch), -share(attitude.roll));
    leans.then(|| lean.clamp_length_max(FARTHEST_ROOF))
}

fn body_of(vehicle: &VehicleRecord, scale: f64) -> Figure {
    if vehicle.has_tracks {
        Figure::of_tracked(scale)
    } else {
        Figure::of_vehicle(vehicle.length, scale)
    }
}

/// Returns the figure that replaces the body, if any, and the figure of the roof above it.
fn roof_of(vehicle: &VehicleRecord, scale: f64) -> Option<(Option<Figure>, Figure)> {
    match body_of(vehicle, scale) {
        Figure::Car => Some((Some(Figure::CarGlass), Figure::CarRoof)),
        Figure::Bus => Some((None, Figure::BusRoof)),
        Figure::Tracked => Some((None, Figure::Turret)),
        _ => None,
    }
}

/// Returns the sign above a stuck vehicle: a triangle if it has tipped over, otherwise a disc. Returns `None`
/// if the vehicle is not stuck. The sign is always upright and has the same size in pixels at any `scale`
/// (metres per pixel).
pub fn sign(vehicle: &VehicleRecord, scale: f64) -> Option<Hint> {
    let figure = match vehicle.mishap {
        mishap if mishap.tipped_over => Figure::TippedSign,
        mishap if mishap.stuck => Figure::StuckSign,
        _ => return None,
    };
    let grow = figure::enlargement(vehicle.length, scale);
    let forward = vehicle.body.forward();
    // Distance from the middle of the body to its northernmost point.
    let reach = vehicle.length * forward.y.abs() + vehicle.width * forward.x.abs();
    let above = 0.5 * grow * reach + (SIGN + SIGN_GAP) * scale;
    Some(Hint {
        figure,
        at: vehicle.body.position + above * DVec2::Y,
        front: SIGN * scale * DVec2::Y,
        half_width: SIGN * scale,
        color: rgb(RIM),
    })
}

/// Returns the parts of a tyre with its rim.
pub(crate) fn wheel_parts() -> Vec<Part> {
    vec![
        Part::new(rectangle((0.0, 0.0), 1.0, 1.0), rgb(RIM)),
        Part::new(rectangle((0.0, 0.0), 0.55, 0.5), faded(SHEEN, 0.2)),
    ]
}

/// Returns the parts of a red triangle with an exclamation mark. The top of the triangle points to the front
/// of the instance.
pub(crate) fn tipped_sign() -> Vec<Part> {
    const MIDDLE: f32 = -0.1;
    let triangle = |size: f32| {
        let corners: [Corner; 3] = [(1.0, 0.0), (-0.65, 0.95), (-0.65, -0.95)];
        corners
            .map(|(x, y)| (MIDDLE + size * (x - MIDDLE), size * y))
            .to_vec()
    };
    let white = rgb(PAPER);
    vec![
        Part::new(triangle(1.12), rgb(RIM)),
        Part::new(triangle(1.0), white),
        Part::new(triangle(0.8), rgb(SIGNAL_LAMPS[0])),
        Part::new(rectangle((0.13, 0.0), 0.26, 0.09), white),
        Part::new(rectangle((-0.34, 0.0), 0.1, 0.1), white),
    ]
}

/// Returns the parts of an amber disc with two bars.
pub(crate) fn stuck_sign() -> Vec<Part> {
    let disc = |radius: f64| round(20, |_| radius, (0.0, 0.0));
    let bar = |y: f32| Part::new(rectangle((0.0, y), 0.36, 0.12), rgb(RIM));
    vec![
        Part::new(disc(0.93), rgb(RIM)),
        Part::new(disc(0.83), rgb(PAPER)),
        Part::new(disc(0.68), rgb(SIGNAL_LAMPS[1])),
        bar(0.25),
        bar(-0.25),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::Pose;
    use roadwright_simulation::{Attitude, MechanicsRecord, Mishap};

    fn vehicle() -> VehicleRecord {
        let at = |x: f64| Pose {
            position: DVec2::new(x, 0.0),
            heading: 0.0,
        };
        VehicleRecord {
            agent: 1,
            pose: at(0.0),
            body: at(1.3),
            length: 4.4,
            width: 1.8,
            speed: 3.0,
            steering: 0.4,
            ..VehicleRecord::default()
        }
    }

    fn leaning(pitch: f64, roll: f64) -> VehicleRecord {
        let height = 0.6;
        VehicleRecord {
            attitude: Some(Attitude {
                height,
                pitch,
                roll,
            }),
            ..vehicle()
        }
    }

    #[test]
    fn front_wheels_point_where_the_vehicle_steers() {
        let nobody = Snapshot::default();
        let seen: Vec<Hint> = wheels(&vehicle(), &nobody, 0.05).collect();
        assert_eq!(seen.len(), 2);
        for (wheel, side) in seen.iter().zip([1.0, -1.0]) {
            assert!((wheel.at.x - 2.6).abs() < 1e-9 && wheel.at.y * side > 0.8);
            let angle = math::atan2(wheel.front.y, wheel.front.x);
            assert!((angle - 0.4).abs() < 1e-9, "{angle}");
        }
        let straight = VehicleRecord {
            steering: 0.02,
            ..vehicle()
        };
        assert_eq!(wheels(&straight, &nobody, 0.05).count(), 0);
        assert_eq!(wheels(&vehicle(), &nobody, 0.3).count(), 0);
        let tracked = VehicleRecord {
            has_tracks: true,
            ..vehicle()
        };
        assert_eq!(wheels(&tracked, &nobody, 0.05).count(), 0);
    }

    #[test]
    fn wheels_of_the_snapshot_go_before_the_steering_of_the_vehicle() {
        let wheel = |x: f64, steering: f64| WheelRecord {
            place: DVec2::new(x, 0.7),
            radius: 0.4,
            steering,
            ..WheelRecord::default()
        };
        let own = |wheels: Vec<WheelRecord>| Snapshot {
            mechanics: vec![MechanicsRecord {
                agent: 1,
                drive: None,
                wheels,
                shape: None,
            }],
            ..Snapshot::default()
        };
        // A forklift with a steered rear wheel and a front wheel that points straight ahead.
        let seen = own(vec![wheel(0.0, -0.5), wheel(2.0, 0.0)]);
        let seen: Vec<Hint> = wheels(&vehicle(), &seen, 0.05).collect();
        assert_eq!(seen.len(), 1);
        assert!(seen[0].at.x.abs() < 1e-9 && seen[0].front.y < -0.1);
        // A level without wheels has an empty list.
        assert_eq!(wheels(&vehicle(), &own(Vec::new()), 0.05).count(), 2);
    }

    #[test]
    fn a_roof_moves_to_where_the_body_leans_and_stays_on_it() {
        let roof_at = |pitch: f64, roll: f64| roof(&leaning(pitch, roll), 0.05).last();
        assert_eq!(roof_at(0.03, -0.03), None);
        assert_eq!(roof(&vehicle(), 0.05).count(), 0);
        assert_eq!(roof(&leaning(0.1, 0.0), 0.5).count(), 0);
        let shift = |pitch, roll| roof_at(pitch, roll).unwrap().at - DVec2::new(1.3, 0.0);
        // A front that is raised by 6 degrees moves the roof back by a tenth of the vehicle's width.
        let up = shift(0.1, 0.0);
        assert!((up.x + 0.18).abs() < 0.01 && up.y == 0.0, "{up}");
        let left_up = shift(0.0, 0.1);
        assert!((left_up.y + 0.18).abs() < 0.01, "{left_up}");
        // Even on its side, on its roof, or with impossible values, the roof still overlaps the
        // body.
        for (pitch, roll) in [(0.0, 1.5), (0.0, -3.1), (1.5, 1.5), (1e9, -1e9)] {
            let far = shift(pitch, roll).length();
            assert!((far - 0.36).abs() < 1e-9, "{far}");
        }
    }

    #[test]
    fn signs_tell_the_tipped_from_the_stuck_and_keep_their_size() {
        let with = |tipped_over, stuck, scale| {
            let mishap = Mishap { tipped_over, stuck };
            let vehicle = VehicleRecord {
                mishap,
                ..vehicle()
            };
            sign(&vehicle, scale)
        };
        assert_eq!(with(false, false, 0.05), None);
        assert_eq!(with(false, true, 0.05).unwrap().figure, Figure::StuckSign);
        for scale in [0.02, 0.5, 5.0] {
            let sign = with(true, true, scale).unwrap();
            assert_eq!(sign.figure, Figure::TippedSign);
            assert!((sign.half_width / scale - SIGN).abs() < 1e-9);
            // The sign is above the body, which is 1.8 m wide.
            assert!(sign.at.y - sign.half_width > 0.9);
        }
    }
}
