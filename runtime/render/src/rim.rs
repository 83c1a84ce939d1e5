//! Paint where arms meet the ring of a roundabout: give-way triangles before it, and dashes across exits.
//!
//! ```text
//!      in | island | out
//!       \  '------'  /
//!     v v v v      - - - -       rim: the outer edge of the ring's carriageway
//!     <-  ring  <-
//! ```

use crate::marking::{TRIANGLE, opacity, painted_sign};
use crate::painter::Painter;
use crate::palette::{MARKING, faded};
use glam::DVec2;
use roadwright_geometry::{Pose, polygon, polyline};
use roadwright_scenario::junction::{Arm, ArmEnd, ConnectingPath, Junction, LaneEnd, Layout, Sign};
use roadwright_scenario::{DrivingSide, Road, RoadEnd, Scenario};

/// Distance between the points of a rim, m.
const STEP: f64 = 0.25;
/// Distance between the points of the edge of a path, m.
const EDGE_STEP: f64 = 0.5;
/// Width of the line across an exit, and lengths (on, off) of its dashes, m.
const EXIT: (f64, (f64, f64)) = (0.15, (0.5, 0.5));
/// Distance of the paint from kerbs and islands, m.
const CLEAR: f64 = 0.4;
/// Maximum length of the paint before an arm, in widths of its lanes.
const LONGEST: f64 = 1.8;
/// Lane width that determines how paint on rims fades with the zoom, m.
const LANE: f64 = 3.25;

/// The part of a rim that carries the paint for one direction of an arm.
struct Mouth {
    /// Points in the driving direction of the ring.
    line: Vec<DVec2>,
}

/// The outer edge of a ring's carriageway through a junction, as points in the driving direction of the ring.
struct Rim {
    line: Vec<DVec2>,
}

/// Whether traffic on a ring drives in the direction of increasing s.
fn is_forward(road: &Road, side: DrivingSide) -> bool {
    road.lanes_forward(0.0, side) > 0
}

impl Rim {
    /// Returns the rim; `None` unless the ring passes the junction exactly once.
    fn of(scenario: &Scenario, layout: &Layout, junction: &Junction) -> Option<Self> {
        let is_ring = |arm: &&ArmEnd| layout.rings.contains(&arm.road);
        let (mut into, mut out) = (Vec::new(), Vec::new());
        for arm in junction.arms.iter().filter(is_ring) {
            let road = scenario.network().road(arm.road)?;
            let forward = is_forward(road, junction.side);
            match forward == (arm.end == RoadEnd::End) {
                true => into.push((arm, road)),
                false => out.push((arm, road)),
            }
        }
        let (&[(into, into_road)], &[(out, out_road)]) = (into.as_slice(), out.as_slice()) else {
            return None;
        };
        let mut line = outer_edge(into, into_road, junction.side);
        let mut rest = outer_edge(out, out_road, junction.side);
        rest.reverse();
        line.extend(rest);
        Some(Self { line })
    }

    /// Returns the distance along the rim to its intersection with the path edge that faces the
    /// island, m.
    fn crossing(&self, path: &ConnectingPath, side: DrivingSide) -> Option<f64> {
        let edge = inner_edge(path, side)?;
        let mut start = 0.0;
        for pair in self.line.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            let crossed = edge
                .windows(2)
                .find_map(|e| crossing_of([a, b], [e[0], e[1]]));
            if let Some(share) = crossed {
                return Some(start + share * (b - a).length());
            }
            start += (b - a).length();
        }
        None
    }

    /// Returns the part of the rim from distance `from` to the next kerb, at most `longest` metres
    /// long. `towards` is 1 in the driving direction of the ring, and -1 against it.
    fn mouth(&self, from: f64, towards: f64, longest: f64, outline: &[DVec2]) -> Option<Mouth> {
        let count = (longest / STEP) as usize;
        let places = (0..=count).map(|i| from + towards * (CLEAR + STEP * i as f64));
        let points = places.map_while(|s| point_at(&self.line, s));
        let mut line: Vec<DVec2> = points
            .take_while(|point| polygon::boundary_distance(outline, *point) >= CLEAR)
            .collect();
        if towards < 0.0 {
            line.reverse();
        }
        (line.len() > 1).then_some(Mouth { line })
    }
}

/// Returns the outer edge of the carriageway of a ring road, from its cut to its node.
fn outer_edge(arm: &ArmEnd, road: &Road, side: DrivingSide) -> Vec<DVec2> {
    // In right-hand traffic, the outside is to the right of the driving direction.
    let is_left = is_forward(road, side) != (side == DrivingSide::Right);
    let node = match arm.end {
        RoadEnd::Start => 0.0,
        RoadEnd::End => road.length(),
    };
    let cut = match arm.end {
        RoadEnd::Start => arm.trim,
        RoadEnd::End => road.length() - arm.trim,
    };
    let count = (arm.trim / STEP).ceil().clamp(1.0, 1e4) as usize;
    let place = |i: usize| cut + (node - cut) * i as f64 / count as f64;
    let point = |i: usize| {
        let s = place(i);
        let (right, left) = road.carriageway(s);
        road.reference_line
            .point(s, if is_left { left } else { right })
    };
    (0..=count).map(point).collect()
}

/// Returns the edge of a path on the driver's side, where the splitter island of an arm is.
fn inner_edge(path: &ConnectingPath, side: DrivingSide) -> Option<Vec<DVec2>> {
    let curve = path.curve.as_ref()?;
    let length = curve.length();
    let count = (length / EDGE_STEP).ceil().clamp(1.0, 1e4) as usize;
    let point = |i: usize| {
        let share = i as f64 / count as f64;
        let width = path.width.0 + (path.width.1 - path.width.0) * share;
        curve.point(length * share, 0.5 * side.around() * width)
    };
    Some((0..=count).map(point).collect())
}

/// Returns where the second segment crosses the first one, as a fraction of the first; `None` if
/// they do not cross.
fn crossing_of([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> Option<f64> {
    let (along, other) = (b - a, d - c);
    let cross = along.perp_dot(other);
    if cross.abs() < 1e-12 {
        return None;
    }
    let share = (c - a).perp_dot(other) / cross;
    let of_other = (c - a).perp_dot(along) / cross;
    let within = 0.0..=1.0;
    (within.contains(&share) && within.contains(&of_other)).then_some(share)
}

/// Returns the point at a distance along a line, m; `None` beyond its ends.
fn point_at(line: &[DVec2], s: f64) -> Option<DVec2> {
    let mut rest = s;
    if rest < 0.0 {
        return None;
    }
    for pair in line.windows(2) {
        let length = (pair[1] - pair[0]).length();
        if rest <= length && length > 0.0 {
            return Some(pair[0].lerp(pair[1], rest / length));
        }
        rest -= length;
    }
    None
}

/// A direction of traffic on an arm, seen from its junction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Entering,
    Leaving,
}

/// For the lanes of an arm in one direction, returns the path that starts or ends beside the
/// island, and the total width of the lanes, m.
fn lanes_of<'a>(
    scenario: &Scenario,
    junction: &'a Junction,
    arm: &ArmEnd,
    flow: Flow,
) -> Option<(&'a ConnectingPath, f64)> {
    let road = scenario.network().road(arm.road)?;
    let of_road = Arm::new(arm.road, road, arm.end);
    let lanes = match flow {
        Flow::Entering => of_road.entering_lanes(arm.trim, junction.side),
        Flow::Leaving => of_road.leaving_lanes(arm.trim, junction.side),
    };
    let inner = match junction.side {
        DrivingSide::Right => lanes.first(),
        DrivingSide::Left => lanes.last(),
    }?;
    let own = LaneEnd {
        road: arm.road,
        end: arm.end,
        lane: inner.id,
    };
    let is_own = |path: &&ConnectingPath| match flow {
        Flow::Entering => path.from == own,
        Flow::Leaving => path.to == own,
    };
    let path = junction.paths.iter().find(is_own)?;
    Some((path, lanes.iter().map(|lane| lane.width).sum()))
}

/// Whether give-way paint of an arm is on the rim of a ring, and not at the cut of the arm.
pub(crate) fn is_on_rim(
    scenario: &Scenario,
    layout: &Layout,
    junction: &Junction,
    arm: &ArmEnd,
) -> bool {
    let is_arm = !layout.rings.contains(&arm.road);
    let rim = Rim::of(scenario, layout, junction).filter(|_| is_arm);
    rim.is_some_and(|rim| {
        rim.mouth_of(scenario, junction, arm, Flow::Entering)
            .is_some()
    })
}

impl Rim {
    /// Returns the part of the rim in front of an arm's lanes in one direction.
    fn mouth_of(
        &self,
        scenario: &Scenario,
        junction: &Junction,
        arm: &ArmEnd,
        flow: Flow,
    ) -> Option<Mouth> {
        let (path, width) = lanes_of(scenario, junction, arm, flow)?;
        let from = self.crossing(path, junction.side)?;
        let towards = match flow {
            Flow::Entering => 1.0,
            Flow::Leaving => -1.0,
        };
        self.mouth(from, towards, LONGEST * width, &junction.polygon())
    }
}

/// Draws triangles before the entries and dashes across the exits of roundabouts.
pub(crate) fn paint(
    painter: &mut impl Painter,
    scenario: &Scenario,
    layout: &Layout,
    junctions: &[&Junction],
) {
    let alpha = opacity(painter.scale(), LANE);
    if alpha == 0.0 {
        return;
    }
    let color = faded(MARKING, 0.95 * alpha);
    for junction in junctions.iter().filter(|junction| junction.is_crossing()) {
        let Some(rim) = Rim::of(scenario, layout, junction) else {
            continue;
        };
        let outside = -junction.side.around();
        let arms = junction.arms.iter();
        for arm in arms.filter(|arm| !layout.rings.contains(&arm.road)) {
            let Some(road) = scenario.network().road(arm.road) else {
                continue;
            };
            let gives_way = painted_sign(arm, road) == Sign::Yield;
            let room = layout.room_before(scenario.network(), arm.road, arm.end);
            if gives_way
                && room.fits_car(0.0)
                && let Some(mouth) = rim.mouth_of(scenario, junction, arm, Flow::Entering)
            {
                for triangle in mouth.triangles(outside) {
                    painter.polygon(&triangle, color);
                }
            }
            if let Some(mouth) = rim.mouth_of(scenario, junction, arm, Flow::Leaving) {
                let (width, dash) = EXIT;
                painter.dashed_line(&mouth.line, width, 0.8, Some(dash), color);
            }
        }
    }
}

impl Mouth {
    /// Returns triangles on the rim that point at the traffic that has to yield. `outside` is 1 if
    /// the outside of the ring is to the left of its driving direction, and -1 otherwise.
    fn triangles(&self, outside: f64) -> Vec<[DVec2; 3]> {
        let (base, height, gap) = TRIANGLE;
        let length = polyline::length(&self.line);
        let count = ((length + gap) / (base + gap)).floor();
        let start = 0.5 * (length - count * (base + gap) + gap);
        let triangle = |i: usize| {
            let s = start + i as f64 * (base + gap);
            let ends = [s, s + base].map(|s| point_at(&self.line, s));
            let [Some(from), Some(to)] = ends else {
                return None;
            };
            let along = (to - from).normalize_or_zero();
            let at = Pose {
                position: 0.5 * (from + to),
                heading: roadwright_geometry::heading_of(along),
            };
            Some([from, at.point(0.0, outside * height), to])
        };
        (0..count as usize).filter_map(triangle).collect()
    }
}
