//! Vehicles and trees in plan view. Pictures and the editor use the same figures.
//!
//! [`crate::hint`] adds the parts that depend on the state of a vehicle (steered wheels, a leaning roof, a
//! sign above the vehicle).
//!
//! Coordinates of a figure are x ahead in half lengths and y to the left in half widths.

use crate::hint;
use crate::palette::{
    BODIES, BRAKE_LAMP, BUS_BODY, CROWN_LIT, GLASS, HEAD_LAMP, INDICATOR_LAMP, PEOPLE, RIM, SHADOW,
    SHADOW_OPACITY, SHEEN, TAIL_LAMP, TRACKED_BODY, TRUNK, faded, one_of, rgb,
};
use roadwright_geometry::unit;
use roadwright_simulation::Indicator;
use tiny_skia::Color;

/// A corner of a figure, in half lengths and half widths.
pub type Corner = (f32, f32);

/// A shape that is drawn many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Figure {
    /// A piece of the streak that a sliding wheel leaves.
    SkidMark,
    /// A wheel, below its vehicle.
    Wheel,
    /// A car with windows and lamps.
    Car,
    /// A bus, lorry or other long vehicle.
    Bus,
    /// The windows of a car, drawn separately below the leaning roof (`CarRoof`).
    CarGlass,
    /// The roof of a leaning car.
    CarRoof,
    /// The roof of a leaning bus.
    BusRoof,
    /// A trailer, which has a roof but no windscreen.
    Trailer,
    /// A tracked vehicle: a hull between two tracks, with a turret.
    Tracked,
    /// The turret of a leaning tracked vehicle.
    Turret,
    /// A vehicle about ten pixels long, with a body and a windscreen.
    Pill,
    /// A vehicle of a few pixels.
    Dot,
    /// A pedestrian.
    Person,
    /// A lamp at the back of a braking vehicle.
    BrakeLamp,
    /// A lit indicator.
    IndicatorLamp,
    /// A tree.
    Tree,
    /// The sign above a vehicle that is stuck: a disc with two bars.
    StuckSign,
    /// The sign above a vehicle that has tipped over: a triangle with an exclamation mark.
    TippedSign,
}

/// A part of a figure. Later parts cover earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Corners, counter-clockwise. The shape is star-shaped around its middle.
    pub ring: Vec<Corner>,
    /// Outer ring with the same number of corners, towards which the part fades out.
    pub fade: Option<Vec<Corner>>,
    /// Colour of the part; `None` for the colour of the instance.
    pub color: Option<Color>,
    /// Offset to the east and north, in half widths, independent of the figure's heading.
    pub shift: Corner,
}

impl Part {
    /// Creates a part with the given colour.
    pub(crate) fn new(ring: Vec<Corner>, color: Color) -> Self {
        Self {
            color: Some(color),
            ..Self::plain(ring)
        }
    }

    /// Creates a part in the colour of the instance.
    pub(crate) fn plain(ring: Vec<Corner>) -> Self {
        Self {
            ring,
            fade: None,
            color: None,
            shift: (0.0, 0.0),
        }
    }
}

/// Size of a pixel from which vehicles are drawn as pills, m.
const PILLS: f64 = 0.35;
/// Size of a pixel from which vehicles are drawn as dots, m.
const DOTS: f64 = 0.8;

/// Length above which vehicles are drawn as a bus, m.
const LONG: f64 = 8.0;

/// Half of a car's outline, from nose to tail.
const BODY: [Corner; 9] = [
    (1.0, 0.0),
    (0.985, 0.45),
    (0.94, 0.76),
    (0.82, 0.95),
    (0.5, 1.0),
    (-0.55, 1.0),
    (-0.86, 0.95),
    (-0.97, 0.76),
    (-1.0, 0.4),
];
/// One side of a car's window outline, relative to half its length and half its width.
const WINDOWS: [Corner; 7] = [
    (0.44, 0.0),
    (0.42, 0.5),
    (0.33, 0.78),
    (0.1, 0.86),
    (-0.45, 0.86),
    (-0.66, 0.74),
    (-0.72, 0.4),
];
/// One side of the outline of a car's roof, inside the windows.
const ROOF: [Corner; 7] = [
    (0.16, 0.0),
    (0.14, 0.45),
    (0.08, 0.66),
    (-0.05, 0.7),
    (-0.4, 0.7),
    (-0.47, 0.6),
    (-0.5, 0.3),
];
/// One side of the outline of a bus.
const BUS: [Corner; 6] = [
    (1.0, 0.0),
    (0.997, 0.7),
    (0.96, 0.97),
    (0.9, 1.0),
    (-0.97, 1.0),
    (-1.0, 0.85),
];
/// One side of the outline of a bus windscreen.
const BUS_SCREEN: [Corner; 4] = [(0.975, 0.0), (0.965, 0.84), (0.9, 0.9), (0.88, 0.0)];
/// Positions of the hatches on the roof of a bus, in half lengths from the middle.
const HATCHES: [f32; 3] = [-0.55, -0.02, 0.5];

impl Figure {
    /// Returns the figure of a vehicle with a length in m. `scale` is in metres per pixel.
    pub fn of_vehicle(length: f64, scale: f64) -> Self {
        if scale >= DOTS {
            Self::Dot
        } else if scale >= PILLS {
            Self::Pill
        } else if length > LONG {
            Self::Bus
        } else {
            Self::Car
        }
    }

    /// Returns the figure of a tracked vehicle. `scale` is in metres per pixel.
    pub fn of_tracked(scale: f64) -> Self {
        match Self::of_vehicle(0.0, scale) {
            Self::Car => Self::Tracked,
            far => far,
        }
    }

    /// Returns the figure of a trailer. `scale` is in metres per pixel.
    pub fn of_trailer(scale: f64) -> Self {
        if scale >= PILLS {
            Self::Dot
        } else {
            Self::Trailer
        }
    }

    /// Returns the parts of the figure in drawing order.
    pub fn parts(self) -> Vec<Part> {
        match self {
            Self::SkidMark => vec![Part::plain(rectangle((0.0, 0.0), 1.0, 1.0))],
            Self::Wheel => hint::wheel_parts(),
            Self::Car => car(),
            Self::Bus => bus(),
            Self::CarGlass => vec![Part::new(mirrored(&WINDOWS), rgb(GLASS))],
            Self::CarRoof => roof(&mirrored(&ROOF), 0.22),
            Self::BusRoof => bus_roof(),
            Self::Trailer => trailer(),
            Self::Tracked => tracked(),
            Self::Turret => turret(),
            Self::Pill => vec![
                Part::plain(mirrored(&BODY)),
                Part::new(
                    vec![(0.5, 0.8), (0.1, 0.7), (0.1, -0.7), (0.5, -0.8)],
                    faded(GLASS, 0.85),
                ),
            ],
            Self::Dot => vec![Part::plain(mirrored(&BODY))],
            Self::Person => person(),
            Self::BrakeLamp => lamp(BRAKE_LAMP),
            Self::IndicatorLamp => lamp(INDICATOR_LAMP),
            Self::Tree => tree(),
            Self::StuckSign => hint::stuck_sign(),
            Self::TippedSign => hint::tipped_sign(),
        }
    }
}

/// Completes a shape, given its left half.
fn mirrored(half: &[Corner]) -> Vec<Corner> {
    let right = half.iter().rev().filter(|corner| corner.1 > 0.0);
    half.iter()
        .copied()
        .chain(right.map(|&(x, y)| (x, -y)))
        .collect()
}

fn scaled(ring: &[Corner], along: f32, across: f32) -> Vec<Corner> {
    ring.iter().map(|&(x, y)| (along * x, across * y)).collect()
}

/// Returns the corners of a rectangle around a middle. `along` is half its length, and `across`
/// half its width.
pub(crate) fn rectangle((x, y): Corner, along: f32, across: f32) -> Vec<Corner> {
    [(1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)]
        .map(|(a, b): Corner| (x + a * along, y + b * across))
        .to_vec()
}

/// Returns the parts of a body in the colour of the vehicle: its shadow, the body, and a darker rim that
/// makes it visible on asphalt of the same brightness.
fn body(outline: &[Corner]) -> Vec<Part> {
    let ring = mirrored(outline);
    let shadow = Part {
        fade: Some(scaled(&ring, 1.16, 1.4)),
        shift: (0.22, -0.22),
        ..Part::new(
            scaled(&ring, 0.97, 0.92),
            faded(SHADOW, SHADOW_OPACITY + 0.12),
        )
    };
    vec![
        shadow,
        Part::plain(ring.clone()),
        Part::new(ring.clone(), faded(RIM, 0.42)),
        Part::plain(scaled(&ring, 0.975, 0.92)),
    ]
}

fn car() -> Vec<Part> {
    let mut parts = body(&BODY);
    parts.push(Part::new(mirrored(&WINDOWS), faded(GLASS, 0.95)));
    parts.push(Part::plain(mirrored(&ROOF)));
    parts.push(Part::new(mirrored(&ROOF), faded(SHEEN, 0.22)));
    for side in [1.0, -1.0] {
        let quad = |corners: [Corner; 4]| corners.map(|(x, y)| (x, side * y)).to_vec();
        let head = quad([(0.965, 0.48), (0.925, 0.74), (0.83, 0.87), (0.87, 0.55)]);
        let tail = quad([(-0.985, 0.42), (-0.955, 0.78), (-0.9, 0.82), (-0.935, 0.45)]);
        parts.push(Part::new(head, rgb(HEAD_LAMP)));
        parts.push(Part::new(tail, rgb(TAIL_LAMP)));
    }
    parts
}

fn bus() -> Vec<Part> {
    let mut parts = body(&BUS);
    parts.push(Part::new(mirrored(&BUS_SCREEN), faded(GLASS, 0.95)));
    parts.push(Part::new(
        rectangle((-0.06, 0.0), 0.9, 0.84),
        faded(SHEEN, 0.12),
    ));
    for x in HATCHES {
        parts.push(Part::new(rectangle((x, 0.0), 0.1, 0.34), faded(SHEEN, 0.4)));
    }
    for side in [0.72, -0.72] {
        parts.push(Part::new(
            rectangle((-0.975, side), 0.012, 0.16),
            rgb(TAIL_LAMP),
        ));
        parts.push(Part::new(
            rectangle((0.985, side), 0.008, 0.16),
            rgb(HEAD_LAMP),
        ));
    }
    parts
}

fn trailer() -> Vec<Part> {
    let mut parts = body(&BUS);
    parts.push(Part::new(
        rectangle((0.0, 0.0), 0.93, 0.84),
        faded(SHEEN, 0.22),
    ));
    for side in [0.72, -0.72] {
        parts.push(Part::new(
            rectangle((-0.97, side), 0.015, 0.16),
            rgb(TAIL_LAMP),
        ));
    }
    parts
}

/// Number of bars across each track of a tracked vehicle.
const TRACK_BARS: u8 = 15;

fn tracked() -> Vec<Part> {
    let mut parts = body(&BUS);
    // A body has a single colour, so the tracks are drawn on top of its sides.
    for side in [0.86, -0.86] {
        parts.push(Part::new(
            rectangle((0.0, side), 0.98, 0.13),
            faded(RIM, 0.9),
        ));
        for bar in 0..TRACK_BARS {
            let x = -0.93 + 1.86 * f32::from(bar) / f32::from(TRACK_BARS - 1);
            parts.push(Part::new(
                rectangle((x, side), 0.018, 0.12),
                faded(SHEEN, 0.3),
            ));
        }
    }
    parts.push(Part::new(
        rectangle((0.44, 0.0), 0.42, 0.045),
        faded(RIM, 0.85),
    ));
    parts.extend(turret());
    parts
}

fn turret() -> Vec<Part> {
    let turret = |size: f32| scaled(&round(16, |_| 1.0, (0.0, 0.0)), 0.22 * size, 0.56 * size);
    vec![
        Part::new(turret(1.0), faded(RIM, 0.6)),
        Part::plain(turret(0.9)),
        Part::new(turret(0.42), faded(SHEEN, 0.3)),
    ]
}

/// Returns a roof with a rim that sets it off from the parts below.
fn roof(ring: &[Corner], sheen: f32) -> Vec<Part> {
    vec![
        Part::plain(ring.to_vec()),
        Part::new(ring.to_vec(), faded(RIM, 0.55)),
        Part::plain(scaled(ring, 0.95, 0.9)),
        Part::new(scaled(ring, 0.95, 0.9), faded(SHEEN, sheen)),
    ]
}

fn bus_roof() -> Vec<Part> {
    let mut parts = roof(&rectangle((-0.06, 0.0), 0.9, 0.84), 0.12);
    let hatch = |x: f32| Part::new(rectangle((x, 0.0), 0.1, 0.34), faded(SHEEN, 0.4));
    parts.extend(HATCHES.map(hatch));
    parts
}

/// Returns the corners of a round shape. `radius` is evaluated at the angle of each corner.
pub(crate) fn round(corners: u32, radius: impl Fn(f64) -> f64, (x, y): Corner) -> Vec<Corner> {
    (0..corners)
        .map(|i| {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(corners);
            let corner = radius(angle) * unit(angle);
            (x + corner.x as f32, y + corner.y as f32)
        })
        .collect()
}

fn lamp(hex: u32) -> Vec<Part> {
    const MIDDLE: Corner = (0.0, 0.0);
    let glow = Part {
        fade: Some(round(10, |_| 1.0, MIDDLE)),
        ..Part::new(round(10, |_| 0.25, MIDDLE), faded(hex, 0.55))
    };
    vec![glow, Part::new(round(10, |_| 0.42, MIDDLE), rgb(hex))]
}

/// Half the depth of a person, m.
const CHEST: f64 = 0.165;
/// Half the width of a person's shoulders, m.
const SHOULDERS: f64 = 0.3;
/// Radius of a person's head, m.
const HEAD: f64 = 0.12;
/// Size of a pixel above which people are not drawn, m.
const FARTHEST_PERSON: f64 = 0.5;
/// Minimum size at which people are drawn, pixels.
const LEAST_PERSON: f64 = 3.0;

/// Returns a person as shoulders and a head.
fn person() -> Vec<Part> {
    let middle = (0.0, 0.0);
    let shadow = Part {
        fade: Some(round(12, |_| 1.5, middle)),
        shift: (0.5, -0.5),
        ..Part::new(round(12, |_| 0.8, middle), faded(SHADOW, SHADOW_OPACITY))
    };
    let (along, across) = ((HEAD / CHEST) as f32, (HEAD / SHOULDERS) as f32);
    let head = scaled(&round(10, |_| 1.0, middle), along, across);
    vec![
        shadow,
        Part::plain(round(12, |_| 1.0, middle)),
        Part::new(head, faded(RIM, 0.55)),
    ]
}

/// Returns half the depth and half the width of a person as drawn, m; `None` if people are too
/// small to be drawn. `scale` is in metres per pixel.
pub fn person_size(scale: f64) -> Option<(f64, f64)> {
    let grow = (LEAST_PERSON * scale / (2.0 * SHOULDERS)).max(1.0);
    (scale <= FARTHEST_PERSON).then_some((grow * CHEST, grow * SHOULDERS))
}

/// Returns the colour of the clothes of a person.
pub fn person_color(id: u64) -> Color {
    rgb(one_of(&PEOPLE, id))
}

fn tree() -> Vec<Part> {
    const LOBES: f64 = 7.0;
    let lobed = |angle: f64| 0.92 + 0.08 * roadwright_geometry::math::cos(LOBES * angle);
    let middle = (0.0, 0.0);
    let shadow = Part {
        fade: Some(round(28, |_| 1.12, middle)),
        shift: (0.3, -0.3),
        ..Part::new(round(28, |_| 0.85, middle), faded(SHADOW, SHADOW_OPACITY))
    };
    let mut parts = vec![shadow, Part::plain(round(28, lobed, middle))];
    parts.push(Part::new(round(28, lobed, middle), faded(RIM, 0.1)));
    parts.push(Part::plain(round(28, |angle| 0.88 * lobed(angle), middle)));
    // Sunlit spots of three sizes.
    for (at, radius) in [
        ((-0.3, 0.35), 0.3),
        ((0.28, 0.42), 0.2),
        ((-0.38, -0.25), 0.18),
        ((0.3, -0.12), 0.22),
    ] {
        parts.push(Part::new(round(10, |_| radius, at), faded(CROWN_LIT, 0.45)));
    }
    parts.push(Part::new(round(8, |_| 0.09, middle), faded(TRUNK, 0.55)));
    parts
}

/// Returns the colour of an agent's vehicle. Dots are lighter, because they have no rim, so a dot
/// with the brightness of asphalt would be invisible.
pub fn body_color(agent: u64, length: f64, figure: Figure) -> Color {
    let own = if figure == Figure::Tracked {
        TRACKED_BODY
    } else if length > LONG {
        BUS_BODY
    } else {
        one_of(&BODIES, agent)
    };
    let white = if figure == Figure::Dot { 0.45 } else { 0.0 };
    let mut color = rgb(own);
    color.set_red(color.red() + white * (1.0 - color.red()));
    color.set_green(color.green() + white * (1.0 - color.green()));
    color.set_blue(color.blue() + white * (1.0 - color.blue()));
    color
}

/// Returns the enlargement of a vehicle that keeps it visible at small scales, as a factor. `scale`
/// is in metres per pixel.
pub fn enlargement(length: f64, scale: f64) -> f64 {
    /// Minimum length of a pill, pixels.
    const PILL: f64 = 11.0;
    /// Minimum length of a dot, pixels.
    const DOT: f64 = 8.0;
    let least = if scale >= DOTS { DOT } else { PILL };
    (least * scale / length.max(0.1)).max(1.0)
}

/// Returns the figures and positions of the lit lamps. Positions are in half lengths ahead and half
/// widths to the left of a vehicle's middle.
pub fn lit_lamps(indicator: Indicator, braking: bool) -> impl Iterator<Item = (Figure, Corner)> {
    const INDICATORS: [Corner; 4] = [(0.9, 0.82), (-0.94, 0.82), (0.9, -0.82), (-0.94, -0.82)];
    const BRAKES: [Corner; 2] = [(-0.96, 0.6), (-0.96, -0.6)];
    let indicators = match indicator {
        Indicator::Off => &[],
        Indicator::Left => &INDICATORS[..2],
        Indicator::Right => &INDICATORS[2..],
        Indicator::Hazard => &INDICATORS[..],
    };
    let brakes = if braking { &BRAKES[..] } else { &[] };
    let of = |figure: Figure| move |at: &Corner| (figure, *at);
    brakes
        .iter()
        .map(of(Figure::BrakeLamp))
        .chain(indicators.iter().map(of(Figure::IndicatorLamp)))
}

/// Radius of the glow of a lamp, m.
pub const GLOW: f64 = 0.38;

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Figure; 18] = [
        Figure::SkidMark,
        Figure::Wheel,
        Figure::CarGlass,
        Figure::CarRoof,
        Figure::BusRoof,
        Figure::Turret,
        Figure::StuckSign,
        Figure::TippedSign,
        Figure::Tracked,
        Figure::Person,
        Figure::Car,
        Figure::Bus,
        Figure::Trailer,
        Figure::Pill,
        Figure::Dot,
        Figure::BrakeLamp,
        Figure::IndicatorLamp,
        Figure::Tree,
    ];

    #[test]
    fn parts_are_seen_whole_from_their_middle() {
        for figure in ALL {
            for part in figure.parts() {
                let n = part.ring.len();
                let sum = part
                    .ring
                    .iter()
                    .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
                let middle = (sum.0 / n as f32, sum.1 / n as f32);
                let turn = |i: usize| {
                    let (a, b) = (part.ring[i], part.ring[(i + 1) % n]);
                    (a.0 - middle.0) * (b.1 - middle.1) - (a.1 - middle.1) * (b.0 - middle.0)
                };
                // All rings run around the middle in the same direction.
                assert!(
                    (0..n).all(|i| turn(i) > 0.0) || (0..n).all(|i| turn(i) < 0.0),
                    "{figure:?}"
                );
                assert!(part.fade.is_none_or(|fade| fade.len() == n));
            }
        }
    }

    #[test]
    fn bodies_stay_within_their_length_and_width() {
        for figure in [
            Figure::Car,
            Figure::Bus,
            Figure::Trailer,
            Figure::Tracked,
            Figure::Pill,
            Figure::Dot,
        ] {
            for part in figure
                .parts()
                .into_iter()
                .filter(|part| part.fade.is_none())
            {
                assert!(
                    part.ring
                        .iter()
                        .all(|&(x, y)| x.abs() <= 1.0 && y.abs() <= 1.0),
                    "{figure:?}"
                );
            }
        }
    }

    #[test]
    fn far_away_vehicles_are_simpler_and_never_too_small_to_see() {
        let at = |length: f64, scale: f64| Figure::of_vehicle(length, scale);
        assert_eq!(
            [at(4.5, 0.05), at(12.0, 0.05), at(4.5, 0.5), at(12.0, 2.0)],
            [Figure::Car, Figure::Bus, Figure::Pill, Figure::Dot]
        );
        for scale in [0.01, 0.1, 0.4, 1.0, 10.0] {
            let pixels = 4.5 * enlargement(4.5, scale) / scale;
            assert!(pixels >= 8.0 - 1e-9, "{pixels} px at {scale} m/px");
        }
        assert_eq!(enlargement(4.5, 0.05), 1.0);
    }

    #[test]
    fn lamps_say_what_is_signalled() {
        let count = |indicator, braking| lit_lamps(indicator, braking).count();
        assert_eq!(count(Indicator::Off, false), 0);
        assert_eq!(count(Indicator::Off, true), 2);
        assert_eq!(count(Indicator::Hazard, true), 6);
        assert!(lit_lamps(Indicator::Left, false).all(|(_, (_, left))| left > 0.0));
    }
}
