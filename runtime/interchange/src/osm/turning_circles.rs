//! Turning circles at the ends of streets (Tag:highway=turning_circle and Tag:highway=turning_loop on the wiki).
//!
//! ```text
//!                             ,------.
//!     ------------------------        \      The lanes part before the end around a painted area, so
//!     ------------------------ (area)  |     far that cars can turn from one lane into the other.
//!     ------------------------        /
//!                             `------'
//! ```

use super::elements::{OsmNode, SignKind};
use super::roads::Piece;
use roadwright_scenario::junction::U_TURN_RADIUS;
use roadwright_scenario::{Lane, LaneDirection, LaneSection, LaneType, Poly3, Road, RoadEnd};
use std::collections::BTreeMap;

/// Margin added to the turning radius of cars, so that rounding never makes it too small, m.
const MARGIN: f64 = 0.05;
/// Length over which the lanes are fully apart, m. It has room for the half circle that cars drive.
const APART: f64 = U_TURN_RADIUS + 2.5;
/// Length of the taper, where the lanes move apart, if the road is long enough, m.
const TAPER: f64 = 12.0;
/// Minimum length of the taper, where the lanes move apart, m. A shorter taper would be too tight
/// for cars.
const SHORTEST_TAPER: f64 = 9.0;
/// Minimum length of road that remains before the lanes move apart, m.
const REST: f64 = 3.0;

/// Minimum radius of the inner edge in bends, m.
const BEND_MARGIN: f64 = 1.0;

/// A part of a road, m from its start.
struct Span {
    from: f64,
    to: f64,
}

/// Moves the lanes apart at the ends of roads that end at a turning circle and at no other road.
/// Returns the number of turning circles. A road that is wide enough already, one-way or too short
/// remains unchanged and is not counted.
pub(super) fn part_lanes(
    roads: &mut [Road],
    pieces: &[Piece],
    places: &BTreeMap<i64, OsmNode>,
) -> usize {
    let mut ends: BTreeMap<i64, Vec<(usize, RoadEnd)>> = BTreeMap::new();
    for (index, piece) in pieces.iter().enumerate() {
        let last = piece.nodes[piece.nodes.len() - 1];
        for (node, end) in [(piece.nodes[0], RoadEnd::Start), (last, RoadEnd::End)] {
            ends.entry(node).or_default().push((index, end));
        }
    }
    let is_circle = |node: &i64| {
        let kind = places.get(node).map(|place| place.sign.kind);
        kind == Some(Some(SignKind::TurningCircle))
    };
    let mut count = 0;
    for (_, at) in ends.iter().filter(|(node, _)| is_circle(node)) {
        let &[(index, end)] = at.as_slice() else {
            continue;
        };
        if let Some(sections) = parted(&roads[index], end) {
            roads[index].lane_sections = sections;
            count += 1;
        }
    }
    count
}

/// Returns the sections of a road whose lanes move apart towards one end; `None` if they cannot or
/// need not.
fn parted(road: &Road, end: RoadEnd) -> Option<Vec<LaneSection>> {
    let number = match end {
        RoadEnd::Start => 0,
        RoadEnd::End => road.lane_sections.len() - 1,
    };
    let section = &road.lane_sections[number];
    let from = section.s.get();
    let next = road.lane_sections.get(number + 1);
    let to = next.map_or(road.length(), |next| next.s.get());
    let gap = missing_gap(road, section, from)?;
    let taper = (to - from - APART - REST).min(TAPER);
    if taper < SHORTEST_TAPER {
        return None;
    }
    let rise = Rise {
        height: 0.5 * gap,
        length: taper,
    };
    let (begin, plain, widths) = match end {
        RoadEnd::Start => (from, from + APART + taper, rise.falling_after(APART)),
        RoadEnd::End => (to - APART - taper, from, rise.rising()),
    };
    let span = Span {
        from: begin,
        to: begin + APART + taper,
    };
    let (right, left) = road.edges(from);
    let half_width = left.max(-right) + rise.height;
    if is_too_tight(road, span, half_width) {
        return None;
    }
    let open = LaneSection {
        s: begin.into(),
        lanes: around_a_median(&section.lanes, &widths),
    };
    let plain = LaneSection {
        s: plain.into(),
        ..section.clone()
    };
    let both = match end {
        RoadEnd::Start => [open, plain],
        RoadEnd::End => [plain, open],
    };
    let mut sections = road.lane_sections.clone();
    sections.splice(number..=number, both);
    Some(sections)
}

/// Whether a road bends so much between two distances that its inner edge would run backwards if it were wider.
fn is_too_tight(road: &Road, span: Span, half_width: f64) -> bool {
    let count = (span.to - span.from).ceil();
    (0..=count as u32).any(|step| {
        let s = span.from + (span.to - span.from) * f64::from(step) / count;
        road.reference_line.curvature(s).abs() * (half_width + BEND_MARGIN) > 1.0
    })
}

/// Returns how far the outermost lanes of both directions have to be moved apart so that cars can
/// turn from one into the other, m; `None` if they need not, if one direction has no lane, or if
/// lanes change their width.
fn missing_gap(road: &Road, section: &LaneSection, s: f64) -> Option<f64> {
    let is_plain = |lane: &Lane| lane.direction == LaneDirection::Standard && lane.width.len() == 1;
    if !section.lanes.iter().all(is_plain) {
        return None;
    }
    let bands = road.lane_bands(section, s);
    let drivable = section.lanes.iter().zip(&bands);
    let drivable = drivable.filter(|(lane, _)| lane.kind.is_drivable());
    let (mut right, mut left) = (None, None);
    for (lane, band) in drivable {
        match lane.id < 0 {
            true => right = Some(band.centre),
            // The first lane is the one farthest to the left.
            false => left = left.or(Some(band.centre)),
        }
    }
    let gap = 2.0 * (U_TURN_RADIUS + MARGIN) - (left? - right?);
    (gap > 0.0).then_some(gap)
}

/// Returns lanes with a painted area of the given widths on either side of the middle. The lanes keep their
/// order and get other ids.
fn around_a_median(lanes: &[Lane], widths: &[Poly3]) -> Vec<Lane> {
    let moved = |lane: &Lane| Lane {
        id: lane.id + lane.id.signum(),
        ..lane.clone()
    };
    let area = |id: i8| Lane {
        width: widths.to_vec(),
        ..Lane::new(id, LaneType::PaintedMedian, 0.0)
    };
    let left = lanes.iter().filter(|lane| lane.id > 0).map(moved);
    let right = lanes.iter().filter(|lane| lane.id < 0).map(moved);
    left.chain([area(1), area(-1)]).chain(right).collect()
}

/// A smooth change of width from 0 to `height`, m, over `length`, m.
struct Rise {
    height: f64,
    length: f64,
}

impl Rise {
    /// Returns the coefficients of the square and the cube of the distance.
    fn curve(&self) -> (f64, f64) {
        let square = 3.0 * self.height / self.length.powi(2);
        (square, -2.0 * self.height / self.length.powi(3))
    }

    /// Returns a width that rises to `height` and then stays constant.
    fn rising(&self) -> Vec<Poly3> {
        let (c, d) = self.curve();
        let rising = Poly3 {
            c: c.into(),
            d: d.into(),
            ..Poly3::constant(0.0)
        };
        let after = Poly3 {
            s: self.length.into(),
            ..Poly3::constant(self.height)
        };
        vec![rising, after]
    }

    /// Returns a width that stays at `height` for a distance and then falls to 0.
    fn falling_after(&self, distance: f64) -> Vec<Poly3> {
        let (c, d) = self.curve();
        let falling = Poly3 {
            s: distance.into(),
            c: (-c).into(),
            d: (-d).into(),
            ..Poly3::constant(self.height)
        };
        vec![Poly3::constant(self.height), falling]
    }
}
