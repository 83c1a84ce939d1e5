//! Paint along lanes and at stop lines.
//!
//! Widths and lengths are those of town streets in central Europe. All paint fades with the width of a lane
//! in pixels, so that nothing appears suddenly.

use crate::median;
use crate::painter::Painter;
use crate::palette::{MARKING, faded};
use crate::rim;
use crate::road::Stretch;
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::junction::{
    Arm, ArmEnd, ArmLane, Junction, LaneEnd, Layout, Sign, connecting_curve,
};
use roadwright_scenario::{
    DrivingSide, Lane, LaneType, Road, RoadClass, RoadEnd, RoadId, Scenario,
};

/// Width of a line, m.
pub(crate) const LINE: f64 = 0.12;
/// Width of the line beside a bus lane, and of the edge line of a motorway, m.
const WIDE_LINE: f64 = 0.3;
/// Width of the line beside a cycle lane, m.
pub(crate) const CYCLE_LINE: f64 = 0.15;
/// Lengths (on, off) of the blocks between an opening or closing lane of a fast road and the lane beside it,
/// m.
const BLOCKS: (f64, f64) = (6.0, 6.0);
/// Lengths (on, off) of dashes beside parking, m.
const PARKING_DASH: (f64, f64) = (1.0, 1.0);
/// Distance between the middle of a double line and the middle of each of its lines, m.
const DOUBLE: f64 = 0.12;
/// Minimum length of a dash that is painted, m.
const LEAST_DASH: f64 = 0.5;
/// Length of the solid lines before a stop line, m.
const SOLID: f64 = 20.0;
/// Minimum total width of the lanes of a road with a centre line, m.
const LEAST_TWO_WAY: f64 = 5.5;
/// Lowest speed limit of roads with edge lines, m/s.
pub(crate) const RURAL: f64 = 60.0 / 3.6;
/// Distance of an edge line from the edge, m.
const EDGE_INSET: f64 = 0.2;
/// Width of a stop line, and distance of its middle from the cut, m.
const STOP: (f64, f64) = (0.4, 0.0);
/// Base and height of a give-way triangle, and gap between two triangles, m.
pub(crate) const TRIANGLE: (f64, f64, f64) = (0.6, 0.7, 0.35);
/// Largest bend between two arms of a through road, rad.
const MOST_BEND: f64 = 0.8;
/// Gap between lines along the road and a line across it, m.
const CLEAR_OF_STOP: f64 = 0.2;
/// Gap between lines along the road and the triangles of a give-way line, m.
const CLEAR_OF_YIELD: f64 = 1.2;

/// Returns the opacity of paint on a lane with the given width. Paint is invisible on lanes up to
/// four pixels wide, and opaque at seven pixels or more.
pub(crate) fn opacity(scale: f64, lane_width: f64) -> f32 {
    ((lane_width * scale - 4.0) / 3.0).clamp(0.0, 1.0) as f32
}

/// Lengths (on, off) of dashes in metres; `None` for a solid line.
type Dash = Option<(f64, f64)>;

/// Returns the dashes between the lanes of a road.
fn lane_dash(road: &Road) -> (f64, f64) {
    if road.class == RoadClass::Motorway {
        (6.0, 12.0)
    } else if road.speed_limit >= RURAL {
        (4.0, 8.0)
    } else {
        (3.0, 6.0)
    }
}

/// Style of the line between two lanes of a road.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// Line between the directions of traffic. It is solid before stop lines at both ends.
    Centre,
    /// Line between the directions of an avenue. It is a double line along its whole length.
    Avenue,
    /// Line between lanes of the same direction: increasing s if `forward`, otherwise decreasing s.
    Lanes { forward: bool },
    /// Line between lanes of the same direction where lane changes are restricted. It is solid on the side
    /// from which crossing is prohibited.
    Guarded {
        /// Whether vehicles may cross from the left side to the right one, as seen along the road.
        to_right: bool,
        /// Whether vehicles may cross from the right side to the left one.
        to_left: bool,
    },
    /// Line with the same style along its whole length.
    Plain { dash: Dash, width: f64 },
    /// Line beside a median. It extends to the end of the stretch, because it continues in the next stretch.
    Median,
}

/// Draws the lines between the lanes of a road, and its edge lines.
pub(crate) fn lines(
    canvas: &mut impl Painter,
    scenario: &Scenario,
    layout: &Layout,
    stretches: &[Stretch<'_>],
) {
    let side = scenario.about().driving_side;
    for stretch in stretches.iter().filter(|s| s.road.class != RoadClass::Path) {
        let ends = Ends::of(stretch.id, stretch.road, layout);
        for (place, pair) in stretch.section.lanes.windows(2).enumerate() {
            let Some(style) = style(stretch, place, &pair[0], &pair[1], side) else {
                continue;
            };
            // Lanes are sorted from left to right. The border is the right edge of the left lane.
            let border = |s: f64| {
                let band = stretch.road.lane_bands(stretch.section, s)[place];
                band.centre - 0.5 * band.width
            };
            let bands = stretch
                .road
                .lane_bands(stretch.section, stretch.distances[0]);
            let lane = bands[place].width.max(bands[place + 1].width);
            let alpha = opacity(canvas.scale(), lane);
            if alpha > 0.0 {
                line(canvas, stretch, style, &ends, border, alpha);
            }
        }
        edge_lines(canvas, stretch);
    }
}

/// Returns the style of the line between two lanes; `None` if there is no line. `place` is the
/// index of the left lane in its section.
fn style(
    stretch: &Stretch<'_>,
    place: usize,
    left: &Lane,
    right: &Lane,
    side: DrivingSide,
) -> Option<Style> {
    let plain = |dash, width| Some(Style::Plain { dash, width });
    let is_fast = stretch.road.speed_limit >= RURAL;
    match (left.kind.is_drivable(), right.kind.is_drivable()) {
        (true, true) if left.is_forward(side) != right.is_forward(side) => {
            let s = stretch.distances[0];
            let bands = stretch.road.lane_bands(stretch.section, s);
            let lanes = stretch.section.lanes.iter().zip(bands);
            let driven = lanes.filter(|(lane, _)| lane.kind.is_drivable());
            let width: f64 = driven.map(|(_, band)| band.width).sum();
            let road = stretch.road;
            if width < LEAST_TWO_WAY {
                None
            } else if road.lanes_forward(s, side) >= 2 && road.lanes_backward(s, side) >= 2 {
                Some(Style::Avenue)
            } else {
                Some(Style::Centre)
            }
        }
        (true, true) if left.kind != right.kind => plain(None, WIDE_LINE),
        (true, true) if !may_cross(left, right, side) => {
            let (to_right, to_left) = crossings(left, right, side);
            Some(Style::Guarded { to_right, to_left })
        }
        (true, true) if is_fast && (is_passing(left) || is_passing(right)) => {
            plain(Some(BLOCKS), WIDE_LINE)
        }
        (true, true) => Some(Style::Lanes {
            forward: left.is_forward(side),
        }),
        (true, false) | (false, true) => {
            let is_motorway = stretch.road.class == RoadClass::Motorway;
            let (other, its_place) = if left.kind.is_drivable() {
                (right.kind, place + 1)
            } else {
                (left.kind, place)
            };
            match other {
                LaneType::Parking => plain(Some(PARKING_DASH), LINE),
                LaneType::Biking => plain(None, CYCLE_LINE),
                LaneType::Shoulder => plain(None, if is_motorway { WIDE_LINE } else { LINE }),
                LaneType::PaintedMedian => plain(None, LINE),
                LaneType::Median if median::has_line(stretch, its_place) => Some(Style::Median),
                _ => None,
            }
        }
        (false, false) => None,
    }
}

/// Returns whether vehicles may change from the left lane to the right one, and whether they may
/// change back. Both lanes have the same direction. Left and right are as seen along the road.
fn crossings(left: &Lane, right: &Lane, side: DrivingSide) -> (bool, bool) {
    let (of_left, of_right) = (left.lane_change, right.lane_change);
    match left.is_forward(side) {
        true => (of_left.to_right(), of_right.to_left()),
        // Drivers face the opposite direction.
        false => (of_left.to_left(), of_right.to_right()),
    }
}

fn may_cross(left: &Lane, right: &Lane, side: DrivingSide) -> bool {
    crossings(left, right, side) == (true, true)
}

/// Whether a lane opens or closes inside its section.
fn is_passing(lane: &Lane) -> bool {
    lane.width.len() > 1
        && lane
            .width
            .iter()
            .any(|width| width.a == 0.0 || width.c != 0.0)
}

/// Paints the line between two lanes of a stretch.
fn line(
    canvas: &mut impl Painter,
    stretch: &Stretch<'_>,
    style: Style,
    ends: &Ends,
    border: impl Fn(f64) -> f64,
    alpha: f32,
) {
    let color = faded(MARKING, 0.95 * alpha);
    let (from, to) = stretch.range();
    let (from, to) = (
        from.max(ends.from + ends.start.clear()),
        to.min(ends.to - ends.end.clear()),
    );
    let dash = Some(lane_dash(stretch.road));
    let mut paint = |range: (f64, f64), shift: f64, dash: Dash, width: f64| {
        let points = stretch.part(whole_dashes(range.0, range.1, dash), |s| border(s) + shift);
        if points.len() > 1 {
            canvas.dashed_line(&points, width, 0.8, dash, color);
        }
    };
    // The line is solid near ends with a stop line, and dashed elsewhere.
    let near_start = |stops: bool| {
        if stops {
            (ends.from + SOLID).clamp(from, to.max(from))
        } else {
            from
        }
    };
    let near_end = |stops: bool, low: f64| {
        if stops {
            (ends.to - SOLID).clamp(low, to.max(low))
        } else {
            to
        }
    };
    match style {
        Style::Plain { dash, width } => paint((from, to), 0.0, dash, width),
        Style::Median => paint(stretch.range(), 0.0, None, LINE),
        Style::Avenue => {
            for shift in [DOUBLE, -DOUBLE] {
                paint((from, to), shift, None, LINE);
            }
        }
        Style::Centre => {
            let low = near_start(ends.start.stops());
            let high = near_end(ends.end.stops(), low);
            for shift in [DOUBLE, -DOUBLE] {
                paint((from, low), shift, None, LINE);
                paint((high, to), shift, None, LINE);
            }
            paint((low, high), 0.0, dash, LINE);
        }
        Style::Guarded {
            to_right: false,
            to_left: false,
        } => paint((from, to), 0.0, None, LINE),
        Style::Guarded { to_right, to_left } => {
            for (shift, may_cross) in [(DOUBLE, to_right), (-DOUBLE, to_left)] {
                paint((from, to), shift, dash.filter(|_| may_cross), LINE);
            }
        }
        Style::Lanes { forward } => {
            let low = near_start(!forward && ends.start.stops());
            let high = near_end(forward && ends.end.stops(), low);
            paint((from, low), 0.0, None, LINE);
            paint((high, to), 0.0, None, LINE);
            paint((low, high), 0.0, dash, LINE);
        }
    }
}

/// Shortens a range along a road so that it ends in a gap and not in a very short dash.
fn whole_dashes(from: f64, to: f64, dash: Dash) -> (f64, f64) {
    let Some((on, off)) = dash else {
        return (from, to);
    };
    match (to - from) % (on + off) {
        rest if rest < LEAST_DASH => (from, to - rest - 0.5 * off),
        _ => (from, to),
    }
}

/// Draws lines along the edges of fast roads, except along pavements.
fn edge_lines(canvas: &mut impl Painter, stretch: &Stretch<'_>) {
    let lanes = &stretch.section.lanes;
    let alpha = opacity(canvas.scale(), 3.5);
    if stretch.road.speed_limit < RURAL || alpha == 0.0 {
        return;
    }
    let is_motorway = stretch.road.class == RoadClass::Motorway;
    let width = if is_motorway { WIDE_LINE } else { LINE };
    for (lane, is_left) in [(lanes.first(), true), (lanes.last(), false)] {
        if !lane.is_some_and(|lane| lane.kind.is_drivable()) {
            continue;
        }
        let points = stretch.line(|s| {
            let (right, left) = stretch.road.edges(s);
            if is_left {
                left - EDGE_INSET
            } else {
                right + EDGE_INSET
            }
        });
        canvas.line(&points, width, 0.8, faded(MARKING, 0.95 * alpha));
    }
}

/// The part of a road outside junctions, and the signs at both ends.
struct Ends {
    /// Start and end of the part of the road outside junctions, m along the road.
    from: f64,
    to: f64,
    start: End,
    end: End,
}

/// The sign that traffic faces at an end of a road.
#[derive(Clone, Copy)]
struct End(Sign);

impl Ends {
    fn of(id: RoadId, road: &Road, layout: &Layout) -> Self {
        let (from, to) = layout.remaining(id, road).unwrap_or((0.0, road.length()));
        let sign = |end: RoadEnd| {
            let junction = layout.junction_at(road.node_at(end));
            let junction = junction.filter(|junction| junction.is_crossing());
            let mut arms = junction.into_iter().flat_map(|junction| &junction.arms);
            let arm = arms.find(|arm| (arm.road, arm.end) == (id, end));
            End(arm.map_or(Sign::None, |arm| painted_sign(arm, road)))
        };
        Self {
            from,
            to,
            start: sign(RoadEnd::Start),
            end: sign(RoadEnd::End),
        }
    }
}

impl End {
    /// Whether there is a stop line.
    fn stops(self) -> bool {
        matches!(self.0, Sign::Stop | Sign::Signal)
    }

    /// Returns the distance between the cut and the ends of lines along the road, m.
    fn clear(self) -> f64 {
        match self.0 {
            Sign::None => 0.0,
            Sign::Yield => CLEAR_OF_YIELD,
            Sign::Stop | Sign::Signal => CLEAR_OF_STOP,
        }
    }
}

/// Returns the sign that determines the paint of an arm. Traffic merges at slip roads and
/// motorways, so stop lines and give-way triangles are painted there only if there are signals.
pub(crate) fn painted_sign(arm: &ArmEnd, road: &Road) -> Sign {
    match arm.sign {
        Sign::Yield | Sign::Stop if road.class >= RoadClass::Ramp && is_one_way(road) => Sign::None,
        sign => sign,
    }
}

/// Whether all lanes of a road have the same direction.
pub(crate) fn is_one_way(road: &Road) -> bool {
    let side = DrivingSide::Right;
    road.lanes_forward(0.0, side) == 0 || road.lanes_backward(0.0, side) == 0
}

/// Draws lines that continue through a junction, either along a bend or along the major road of a T-junction.
pub(crate) fn through_lines(
    canvas: &mut impl Painter,
    scenario: &Scenario,
    junctions: &[&Junction],
) {
    let alpha = opacity(canvas.scale(), 3.25);
    if alpha == 0.0 {
        return;
    }
    let side = scenario.about().driving_side;
    let color = faded(MARKING, 0.95 * alpha);
    for junction in junctions {
        let Some((i, j)) = through_road(junction) else {
            continue;
        };
        let arm = |index: usize| {
            let end = &junction.arms[index];
            let road = scenario.network().road(end.road)?;
            Some((Arm::new(end.road, road, end.end), end.trim))
        };
        let (Some((arm, trim)), Some((next, next_trim))) = (arm(i), arm(j)) else {
            continue;
        };
        let dash = Some(lane_dash(arm.road));
        let mut join = |from: Pose, to: Pose| {
            if let Some(curve) = connecting_curve(from, to) {
                let points = curve.sample(canvas.tolerance().min(0.1), 0.0);
                canvas.dashed_line(&points, LINE, 0.8, dash, color);
            }
        };
        let (into, out) = (
            arm.entering_lanes(trim, side),
            next.leaving_lanes(next_trim, side),
        );
        let (back, off) = (
            next.entering_lanes(next_trim, side),
            arm.leaving_lanes(trim, side),
        );
        // The line between the directions of traffic, which is the left edge of the leftmost lane
        // in right-hand traffic.
        let is_two_way = !into.is_empty() && !out.is_empty() && !back.is_empty() && !off.is_empty();
        if is_two_way && arm.road.class != RoadClass::Path {
            let middle = |lanes: &[ArmLane]| match side {
                DrivingSide::Right => lanes.first().map(|lane| beside(lane, 0.5)),
                DrivingSide::Left => lanes.last().map(|lane| beside(lane, -0.5)),
            };
            if let (Some(from), Some(to)) = (middle(&into), middle(&out)) {
                join(from, to);
            }
        }
        for (from, to) in [(&into, &out), (&back, &off)] {
            if from.len() == to.len() {
                for (a, b) in from.iter().zip(to.iter()).skip(1) {
                    join(beside(a, 0.5), beside(b, 0.5));
                }
            }
        }
    }
}

/// Returns the pose to the left of a lane's centre by a fraction of the lane's width.
fn beside(lane: &ArmLane, share: f64) -> Pose {
    Pose {
        position: lane.pose.point(0.0, share * lane.width),
        heading: lane.pose.heading,
    }
}

/// Returns the two arms between which lines continue. These are both arms of a bend, or the major arms if all
/// other arms are on the same side of them.
fn through_road(junction: &Junction) -> Option<(usize, usize)> {
    let arms = &junction.arms;
    let count = arms.len();
    if count == 2 {
        return Some((0, 1));
    }
    let is_major = |i: &usize| arms[*i].sign == Sign::None;
    let major: Vec<usize> = (0..count).filter(is_major).collect();
    let &[i, j] = major.as_slice() else {
        return None;
    };
    // Arms are sorted counter-clockwise, so no traffic enters between two neighbouring arms.
    let are_neighbours = j == i + 1 || (i == 0 && j == count - 1);
    let heading = |i: usize| {
        let middle = 0.5 * (arms[i].left_cut + arms[i].right_cut);
        roadwright_geometry::heading_of(middle - junction.centre)
    };
    // Two arms that diverge do not form a through road.
    let bend = std::f64::consts::PI - wrap_angle(heading(i) - heading(j)).abs();
    (count > 2 && are_neighbours && bend < MOST_BEND).then_some((i, j))
}

/// Draws lines across the road before junctions where the control requires them and there is room for waiting
/// vehicles.
pub(crate) fn stop_lines(
    canvas: &mut impl Painter,
    scenario: &Scenario,
    layout: &Layout,
    junctions: &[&Junction],
) {
    let side = scenario.about().driving_side;
    let sets_back = scenario.has_long_vehicles();
    for junction in junctions.iter().filter(|junction| junction.is_crossing()) {
        let set_back = if sets_back {
            junction.setbacks()
        } else {
            junction.setbacks_of_cars()
        };
        for end in &junction.arms {
            let Some(road) = scenario.network().road(end.road) else {
                continue;
            };
            let sign = painted_sign(end, road);
            if sign == Sign::None
                || (sign == Sign::Yield && rim::is_on_rim(scenario, layout, junction, end))
            {
                continue;
            }
            let lanes = Arm::new(end.road, road, end.end).entering_lanes(end.trim, side);
            let Some(alpha) = lanes
                .first()
                .map(|lane| opacity(canvas.scale(), lane.width))
            else {
                continue;
            };
            if alpha == 0.0 {
                continue;
            }
            let room = layout.room_before(scenario.network(), end.road, end.end);
            for group in abreast(&lanes) {
                let color = faded(MARKING, 0.95 * alpha);
                // Lanes with different setbacks have separate lines.
                let back = |lane: &ArmLane| {
                    let mut known = set_back.iter();
                    let is_own = |own: &LaneEnd| {
                        (own.road, own.end, own.lane) == (end.road, end.end, lane.id)
                    };
                    known
                        .find(|(own, _)| is_own(own))
                        .map_or(0.0, |(_, by)| *by)
                };
                for part in group.chunk_by(|a, b| (back(a) - back(b)).abs() < 0.05) {
                    let back = back(&part[0]);
                    if !room.fits_car(back) {
                        continue;
                    }
                    if sign == Sign::Yield {
                        triangles(canvas, part, back, color);
                    } else {
                        let line = across(part, -STOP.1 - back, 0.1);
                        canvas.line(&line, STOP.0, 1.0, color);
                    }
                }
            }
        }
    }
}

/// Splits lanes (from left to right) into groups of adjacent lanes.
fn abreast(lanes: &[ArmLane]) -> impl Iterator<Item = &[ArmLane]> {
    lanes.chunk_by(|a, b| {
        let gap = (a.lateral - 0.5 * a.width) - (b.lateral + 0.5 * b.width);
        gap.abs() < 0.1
    })
}

/// Returns the line from the left to the right edge of a group of lanes. It is `ahead` metres beyond the cut
/// and shortened by `inset` metres at both ends.
fn across(lanes: &[ArmLane], ahead: f64, inset: f64) -> [DVec2; 2] {
    let (first, last) = (&lanes[0], &lanes[lanes.len() - 1]);
    [
        first.pose.point(ahead, 0.5 * first.width - inset),
        last.pose.point(ahead, inset - 0.5 * last.width),
    ]
}

/// Draws a row of triangles that point at the traffic that has to yield, `back` metres before the cut.
fn triangles(canvas: &mut impl Painter, lanes: &[ArmLane], back: f64, color: tiny_skia::Color) {
    let (base, height, gap) = TRIANGLE;
    let [left, right] = across(lanes, -0.15 - back, 0.15);
    let [_, back] = across(lanes, -0.15 - back - height, 0.15);
    let width = (right - left).length();
    let (along, behind) = ((right - left) / width.max(1e-9), back - right);
    let count = ((width + gap) / (base + gap)).floor();
    let start = 0.5 * (width - count * (base + gap) + gap);
    for i in 0..count as usize {
        let from = left + along * (start + i as f64 * (base + gap));
        let shape = [
            from,
            from + 0.5 * base * along + behind,
            from + base * along,
        ];
        canvas.polygon(&shape, color);
    }
}
