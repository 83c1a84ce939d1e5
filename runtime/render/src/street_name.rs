//! Positions of street names. A name is on a road between its junctions, in the visible part.

use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::{DrivingSide, Lane, LaneType, Road};
use std::ops::Range;

/// Distance between the points at which a road is tested against the view, m.
const STEP: f64 = 5.0;
/// Maximum number of points at which a road is tested against the view. On long roads, the points
/// are farther apart.
const MOST_STEPS: f64 = 200.0;

/// Length before a stop line that may contain turn arrows, m.
const ARROWS: f64 = 27.0;
/// Scale above which arrows are visible and names therefore keep clear of them, pixels per metre.
pub const ARROW_SCALE: f64 = 3.0;

/// Maximum change of a road's heading over the length of a name, rad.
const MOST_BEND: f64 = 0.44;
/// Distance between the positions at which a name is tested for vehicles, m.
const PLACE_STEP: f64 = 4.0;
/// Maximum number of positions on a stretch at which a name is tested for vehicles.
const MOST_PLACES: usize = 41;
/// Opacity of a name below a vehicle.
pub const FADED: f32 = 0.15;

/// The area of a vehicle that can cover a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cover {
    /// Middle of the vehicle, m.
    pub at: DVec2,
    /// Length of the vehicle, m.
    pub length: f64,
    /// Width of the vehicle, m.
    pub width: f64,
}

/// Whether a vehicle is on a name with its middle at `place`; `half` is half the length and half the height of the
/// name, m. Vehicles are assumed to be parallel to the name.
pub fn is_covered(place: Pose, half: DVec2, vehicle: &Cover) -> bool {
    let offset = vehicle.at - place.position;
    let forward = place.forward();
    let (along, aside) = (offset.dot(forward), offset.dot(forward.perp()));
    along.abs() < half.x + 0.5 * vehicle.length && aside.abs() < half.y + 0.5 * vehicle.width
}

/// Returns candidate positions for a name on a stretch: first the middle of the stretch, then
/// positions at increasing distances before and beyond it. `length` is the length of the name, m.
/// Positions on bends are left out, except for the middle.
pub fn places(
    road: &Road,
    stretch: Range<f64>,
    length: f64,
) -> impl Iterator<Item = (Pose, f64)> + '_ {
    let Range {
        start: from,
        end: to,
    } = stretch;
    let middle = 0.5 * (from + to);
    let room = 0.5 * (to - from - 1.15 * length);
    let count = ((room / PLACE_STEP).max(0.0) as usize).min(MOST_PLACES / 2);
    let shifts = (1..=count).flat_map(|i| {
        let shift = PLACE_STEP * i as f64;
        [shift, -shift]
    });
    let is_straight = move |shift: &f64| {
        let ends = [-0.5, 0.5].map(|half| middle + shift + half * length);
        let [first, last] = ends.map(|s| road.reference_line.pose(s).heading);
        wrap_angle(last - first).abs() < MOST_BEND
    };
    let shifts = std::iter::once(0.0).chain(shifts.filter(is_straight));
    shifts.map(move |shift| place(road, (from + shift, to + shift)))
}

/// Returns the middle of the carriageway half-way along a stretch, and the width of the carriageway
/// there, m. The stretch is given in metres from the start of the road.
pub fn place(road: &Road, (from, to): (f64, f64)) -> (Pose, f64) {
    let middle = 0.5 * (from + to);
    let pose = road.reference_line.pose(middle);
    let (right, left) = road.carriageway(middle);
    let centre = Pose {
        position: pose.point(0.0, 0.5 * (left + right)),
        heading: pose.heading,
    };
    (centre, left - right)
}

/// Returns the part without turn arrows and islands of a stretch between two junctions, in metres
/// from the start of the road. Returns `None` if no part remains. Arrows are assumed where several
/// lanes lead to a junction.
pub fn clear_of_ends(road: &Road, side: DrivingSide, (from, to): (f64, f64)) -> Option<(f64, f64)> {
    // Length that arrows on the lanes of one direction may take up.
    let room = |s: f64, has_direction: &dyn Fn(&Lane) -> bool| {
        let lanes = road.section_at(s).lanes.iter();
        let general = lanes.filter(|lane| lane.kind == LaneType::Driving);
        match general.filter(|lane| has_direction(lane)).count() {
            0 | 1 => 0.0,
            _ => ARROWS,
        }
    };
    let has_island = |section: usize| {
        let mut lanes = road.lane_sections[section].lanes.iter();
        lanes.any(|lane| lane.kind == LaneType::Median)
    };
    let (first, last) = (road.section_index(from), road.section_index(to));
    // If a median runs along the whole stretch, no position is better than another.
    let (start, end) = match (has_island(first), has_island(last)) {
        (true, true) if first == last => (from, to),
        (at_start, at_end) => (
            if at_start {
                road.section_end(first)
            } else {
                from
            },
            if at_end {
                road.lane_sections[last].s.get()
            } else {
                to
            },
        ),
    };
    let clear = (
        start.max(from + room(from, &|lane| !lane.is_forward(side))),
        end.min(to - room(to, &|lane| lane.is_forward(side))),
    );
    (clear.0 < clear.1).then_some(clear)
}

/// Returns the longest part of a stretch that is inside a view; `None` if no part is. The view is given by
/// two corners. The result is accurate to 5 m or, for roads longer than a kilometre, to half a percent of
/// their length.
pub fn in_view(
    road: &Road,
    (from, to): (f64, f64),
    (low, high): (DVec2, DVec2),
) -> Option<(f64, f64)> {
    let count = ((to - from) / STEP).ceil().clamp(1.0, MOST_STEPS);
    let at = |i: f64| from + (to - from) * i / count;
    let mut longest: Option<(f64, f64)> = None;
    let mut run: Option<(f64, f64)> = None;
    for i in 0..=count as u32 {
        let s = at(f64::from(i));
        let point = road.reference_line.point(s, 0.0);
        let is_seen = point.cmpge(low).all() && point.cmple(high).all();
        run = is_seen.then(|| (run.map_or(s, |(first, _)| first), s));
        let length = |stretch: Option<(f64, f64)>| stretch.map_or(-1.0, |(a, b)| b - a);
        if length(run) > length(longest) {
            longest = run;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::ReferenceLine;
    use roadwright_scenario::{DrivingSide, LaneSection, NodeId, RoadAccess, RoadClass};

    /// Returns a road of one kilometre to the east.
    fn road() -> Road {
        let line = ReferenceLine::straight(DVec2::ZERO, DVec2::new(1000.0, 0.0)).unwrap();
        let section = roadwright_scenario::CrossSection::driving(1, 0, 3.0);
        let (lane_offset, lanes): (_, LaneSection) = section.lanes(DrivingSide::Right);
        Road {
            from: NodeId(1),
            to: NodeId(2),
            name: "Long Street".into(),
            class: RoadClass::Residential,
            layer: 0,
            access: RoadAccess::default(),
            speed_limit: 13.9.into(),
            reference_line: line,
            lane_offset,
            lane_sections: vec![lanes],
        }
    }

    #[test]
    fn a_name_stands_in_the_part_that_is_seen() {
        let road = road();
        let view = (DVec2::new(700.0, -50.0), DVec2::new(900.0, 50.0));
        let (from, to) = in_view(&road, (10.0, 990.0), view).unwrap();
        assert!((from - 700.0).abs() < 6.0 && (to - 900.0).abs() < 6.0);
        let (middle, width) = place(&road, (from, to));
        let (right, left) = road.carriageway(0.0);
        let expected = DVec2::new(800.0, 0.5 * (left + right));
        assert!((middle.position - expected).length() < 6.0);
        assert_eq!(width, left - right);
        // Other places for the name are beside the middle, up to the ends of the stretch.
        let all: Vec<f64> = places(&road, 700.0..760.0, 20.0)
            .map(|(pose, _)| pose.position.x)
            .collect();
        assert_eq!(all[..3], [730.0, 734.0, 726.0]);
        assert!(all.iter().all(|x| (711.5..=748.5).contains(x)), "{all:?}");
        // Only one lane leads to the junction, so there are no arrows.
        let clear = clear_of_ends(&road, DrivingSide::Right, (10.0, 990.0));
        assert_eq!(clear, Some((10.0, 990.0)));
        // An island before the junction leaves no room for the name.
        let mut flared = road.clone();
        let mut island = flared.lane_sections[0].clone();
        island.s = 960.0.into();
        island
            .lanes
            .push(roadwright_scenario::Lane::new(-2, LaneType::Median, 2.0));
        flared.lane_sections.push(island);
        let clear = clear_of_ends(&flared, DrivingSide::Right, (10.0, 990.0));
        assert_eq!(clear, Some((10.0, 960.0)));
        let elsewhere = (DVec2::new(700.0, 10.0), DVec2::new(900.0, 50.0));
        assert_eq!(in_view(&road, (10.0, 990.0), elsewhere), None);
    }

    #[test]
    fn a_name_is_below_the_vehicles_on_it() {
        // A name of 20 m by 3 m along a street that leads to the north.
        let place = Pose::new(100.0, 50.0, std::f64::consts::FRAC_PI_2);
        let half = DVec2::new(10.0, 1.5);
        for (x, y, expected) in [
            (100.0, 50.0, true),
            (100.0, 61.5, true),
            (100.0, 62.5, false),
            (102.4, 45.0, true),
            (102.6, 45.0, false),
        ] {
            let vehicle = Cover {
                at: DVec2::new(x, y),
                length: 4.0,
                width: 2.0,
            };
            assert_eq!(is_covered(place, half, &vehicle), expected, "{x} {y}");
        }
    }
}
