//! The outline of a junction's carriageway.
//!
//! It is traced counter-clockwise: across the cut of an arm from its right edge to its left edge, and then
//! along the corner to the next arm.
//!
//! ```text
//!            left |   arm  | right
//!           edge  |<-------|  edge
//!                .'   cut  |
//!   <- - - - - .'          |          the fillet bulges into the junction
//!   next arm               |
//! ```

use super::ConnectingPath;
use super::arm::{Arm, Flank, Pair};
use super::corner::{Corner, Fillet};
use super::curve::connecting_curve;
use glam::DVec2;
use roadwright_geometry::math::{acos, wrap_angle};
use roadwright_geometry::{Pose, heading_of, polygon, unit};

/// One edge of an outline, starting at the end of the previous one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutlineEdge {
    /// A straight line.
    Line {
        /// Start of the edge, m.
        from: DVec2,
        /// End of the edge, m.
        to: DVec2,
    },
    /// A rounded kerb: the shorter of the two possible circular arcs.
    Arc {
        /// Start of the edge, m.
        from: DVec2,
        /// End of the edge, m.
        to: DVec2,
        /// Centre of the circle, m.
        centre: DVec2,
        /// Radius, m.
        radius: f64,
    },
}

/// Default maximum distance between an arc and its polygon, m.
pub(super) const ARC_TOLERANCE: f64 = 0.05;
/// Maximum distance between a smooth side and its points, m.
const SIDE_TOLERANCE: f64 = 0.01;

impl OutlineEdge {
    /// Start of the edge, m.
    pub fn from(&self) -> DVec2 {
        match self {
            Self::Line { from, .. } | Self::Arc { from, .. } => *from,
        }
    }

    /// End of the edge, m.
    pub fn to(&self) -> DVec2 {
        match self {
            Self::Line { to, .. } | Self::Arc { to, .. } => *to,
        }
    }

    /// Returns the same edge in the opposite direction.
    pub(super) fn reversed(&self) -> Self {
        let (start, end) = (self.to(), self.from());
        match *self {
            Self::Line { .. } => Self::Line {
                from: start,
                to: end,
            },
            Self::Arc { centre, radius, .. } => Self::Arc {
                from: start,
                to: end,
                centre,
                radius,
            },
        }
    }

    /// Returns the points of the edge without its end. Chords deviate from an arc by at most
    /// `tolerance` metres.
    pub fn points(&self, tolerance: f64) -> Vec<DVec2> {
        match *self {
            Self::Line { from, .. } => vec![from],
            Self::Arc {
                from,
                to,
                centre,
                radius,
            } => {
                let start = heading_of(from - centre);
                let turn = wrap_angle(heading_of(to - centre) - start);
                // The chord of an angle deviates from its arc by radius (1 - cos(angle / 2)).
                let sag = (tolerance / radius.max(1e-6)).clamp(1e-6, 1.0);
                let step = 2.0 * acos(1.0 - sag);
                let count = (turn.abs() / step).ceil().clamp(1.0, 256.0) as usize;
                let on_arc =
                    |i: usize| centre + radius * unit(start + turn * i as f64 / count as f64);
                std::iter::once(from)
                    .chain((1..count).map(on_arc))
                    .collect()
            }
        }
    }
}

/// Creates a closed outline as a polygon.
pub(super) fn polygon(outline: &[OutlineEdge], tolerance: f64) -> Vec<DVec2> {
    let points = outline.iter().flat_map(|edge| edge.points(tolerance));
    points.collect()
}

/// Maximum distance by which the lane of a path may extend beyond the outline, m. Vehicles can
/// overhang a kerb.
const BAND_SLACK: f64 = 0.6;

/// Width added to each side of lanes that leave the outline, m. It closes gaps between chords.
const STRIP_BEYOND: f64 = 0.1;

/// The edge of the carriageway between the cut of one arm and the cut of the next.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Flow {
    pub(super) edges: Vec<OutlineEdge>,
    pub(super) shape: Shape,
}

/// Form of the join between two edges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// An arc joins the edges.
    Arc(Fillet),
    /// Each edge continues straight into the other at the node.
    Joined,
    /// The edges are joined by a smooth curve or a straight line from cut to cut.
    Free,
}

/// Outline of a junction around the cuts of its arms. `sides` is empty if the outline is merely a
/// convex hull.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outline {
    pub(super) edges: Vec<OutlineEdge>,
    pub(super) sides: Vec<Flow>,
    /// Lanes of paths that extend outside the outline.
    pub(super) strips: Vec<Vec<DVec2>>,
    pub(super) degraded: bool,
}

impl Outline {
    fn of(edges: Vec<OutlineEdge>, sides: Vec<Flow>) -> Self {
        Self {
            edges,
            sides,
            strips: Vec::new(),
            degraded: false,
        }
    }
}

/// Returns the outline around cut arms.
///
/// An outline has to be simple and should contain the lanes of all paths. Full, halved and zero corner radii
/// are tried, in this order. If none of these outlines contains all lanes, the first simple one is used,
/// together with strips for the lanes that leave it. The last resort is the convex hull of cuts and paths. A
/// junction without an area, where a road merely continues as another, has no outline.
pub(super) fn outline(
    arms: &[Arm<'_>],
    trims: &[f64],
    corners: &[Corner],
    paths: &[ConnectingPath],
) -> Outline {
    if let [arm] = arms {
        return dead_end(arm, trims[0]);
    }
    if trims.iter().all(|&trim| trim == 0.0) {
        return Outline::of(Vec::new(), Vec::new());
    }
    // The candidates are ordered from best-looking to worst, and the first outline that is simple
    // and contains the edges of all lanes is used. Where arms meet at unusual angles, smooth sides
    // and the arcs of neighbouring corners can cross each other. With smaller radii, an arc stays
    // closer to its corner.
    let driven: Vec<DVec2> = paths.iter().flat_map(band).collect();
    let mut simple = None;
    for (share, sides) in CANDIDATES {
        let traced = trace(arms, trims, corners, share, sides);
        let points = polygon(&traced.edges, ARC_TOLERANCE);
        if is_proper(&points) {
            if driven.iter().all(|point| holds(&points, *point)) {
                return traced;
            }
            simple = simple.or(Some((traced, points)));
        }
    }
    match simple {
        Some((outline, points)) => Outline {
            strips: strips(&points, paths),
            ..outline
        },
        None => Outline {
            edges: hull(arms, trims, driven),
            sides: Vec::new(),
            strips: Vec::new(),
            degraded: true,
        },
    }
}

/// Whether the outline around cut arms is merely a hull. This can be determined without the lanes
/// of the paths.
pub(super) fn is_degraded(arms: &[Arm<'_>], trims: &[f64], corners: &[Corner]) -> bool {
    if arms.len() == 1 || trims.iter().all(|&trim| trim == 0.0) {
        return false;
    }
    !CANDIDATES.into_iter().any(|(share, sides)| {
        let traced = trace(arms, trims, corners, share, sides);
        is_proper(&polygon(&traced.edges, ARC_TOLERANCE))
    })
}

/// Whether an outline has an area and does not cross itself.
fn is_proper(points: &[DVec2]) -> bool {
    polygon::signed_area(points) > 1e-6 && polygon::is_simple(points)
}

/// Whether an outline contains a point. The tolerance is 15 cm, because outline and point are only
/// accurate to the chords of their curves.
fn holds(outline: &[DVec2], place: DVec2) -> bool {
    polygon::distance(outline, place) < 0.15
}

/// Returns the lanes of paths whose centre line leaves an outline, each counter-clockwise. In
/// junctions of many nodes, paths follow the roads between the nodes, which the corners do not take
/// into account. Lanes that merely cut a corner are left out, because they would spoil its arc.
fn strips(outline: &[DVec2], paths: &[ConnectingPath]) -> Vec<Vec<DVec2>> {
    let leaves = |path: &&ConnectingPath| {
        let middle = path
            .curve
            .iter()
            .flat_map(|curve| curve.sample(ARC_TOLERANCE, 0.0));
        !middle.into_iter().all(|point| holds(outline, point))
    };
    let lane = |path: &ConnectingPath| {
        let [mut points, left] = edges(path, STRIP_BEYOND)?;
        points.extend(left.into_iter().rev());
        Some(points)
    };
    paths.iter().filter(leaves).filter_map(lane).collect()
}

/// Returns the convex hull of all cuts and driven lanes. The hull contains everything, but does not look like a real
/// junction.
fn hull(arms: &[Arm<'_>], trims: &[f64], driven: Vec<DVec2>) -> Vec<OutlineEdge> {
    let cuts = arms
        .iter()
        .zip(trims)
        .flat_map(|(arm, &trim)| [arm.left_edge(trim).position, arm.right_edge(trim).position]);
    let hull = polygon::convex_hull(&cuts.chain(driven).collect::<Vec<_>>());
    let edges = (0..hull.len()).map(|i| OutlineEdge::Line {
        from: hull[i],
        to: hull[(i + 1) % hull.len()],
    });
    edges.collect()
}

/// Candidate outlines, from best-looking to worst: factor of the corner radii, and form of the
/// sides without a corner.
const CANDIDATES: [(f64, Sides); 4] = [
    (1.0, Sides::Smooth),
    (1.0, Sides::Straight),
    (0.5, Sides::Straight),
    (0.0, Sides::Straight),
];

/// Drawing style of sides without a corner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    Smooth,
    Straight,
}

/// Returns the points along both edges of a path's lane, slightly inside.
fn band(path: &ConnectingPath) -> Vec<DVec2> {
    let edges = edges(path, -BAND_SLACK).into_iter().flatten();
    edges.rev().flatten().collect()
}

/// Returns both edges of a path's lane, moved outward by `beyond` metres: first the right one, then the left
/// one; `None` if the path has no curve.
fn edges(path: &ConnectingPath, beyond: f64) -> Option<[Vec<DVec2>; 2]> {
    let curve = path.curve.as_ref()?;
    // The half-width is limited, because on the inside of a tight bend the edge would fold.
    let half = (0.5 * path.width.0.min(path.width.1) + beyond)
        .min(0.8 * path.min_radius())
        .max(0.0);
    Some(curve.sample_both_sides(ARC_TOLERANCE, half))
}

/// Returns the outline of a dead end, as a half circle from edge to edge of the carriageway. If
/// vehicles turn around there, it begins at the cut and contains the area that they need.
fn dead_end(arm: &Arm<'_>, trim: f64) -> Outline {
    let (left, right) = (arm.left_edge(trim), arm.right_edge(trim));
    let centre = 0.5 * (left.position + right.position);
    let radius = 0.5 * (left.position - right.position).length();
    if radius < 0.05 {
        return Outline::of(Vec::new(), Vec::new());
    }
    // Two quarter circles are used, because an arc is always the shorter of two possible ones, and
    // the two halves of a circle are equally long. The edges head outward along the road, so the
    // far point is behind them.
    let mut side = Path::from(left.position);
    side.arc_to(centre - radius * left.forward(), centre, radius);
    side.arc_to(right.position, centre, radius);
    let mut edges = vec![OutlineEdge::Line {
        from: right.position,
        to: left.position,
    }];
    edges.extend(&side.edges);
    let side = Flow {
        edges: side.edges,
        shape: Shape::Free,
    };
    Outline::of(edges, vec![side])
}

/// Returns the edges of the carriageway between the cuts of neighbouring arms, with the corners at
/// their full radii.
pub(super) fn sides(arms: &[Arm<'_>], trims: &[f64], corners: &[Corner]) -> Vec<Flow> {
    trace(arms, trims, corners, 1.0, Sides::Smooth).sides
}

/// Traces the outline with corner radii scaled by the given factor.
fn trace(arms: &[Arm<'_>], trims: &[f64], corners: &[Corner], share: f64, sides: Sides) -> Outline {
    let mut edges = Vec::new();
    let mut traced = Vec::with_capacity(arms.len());
    for (i, arm) in arms.iter().enumerate() {
        let j = (i + 1) % arms.len();
        let (from, to) = (arm.right_edge(trims[i]), arm.left_edge(trims[i]));
        edges.push(OutlineEdge::Line {
            from: from.position,
            to: to.position,
        });
        let trims = Pair {
            arm: trims[i],
            next: trims[j],
        };
        let pair = Pair {
            arm,
            next: &arms[j],
        };
        let side = side(pair, trims, &corners[i], share, sides);
        edges.extend(&side.edges);
        traced.push(side);
    }
    // If two cuts touch each other, there is no side between them.
    edges.retain(|edge| (edge.to() - edge.from()).length() > 1e-9);
    Outline::of(edges, traced)
}

/// Returns the edge of the carriageway between two cuts. It is a fillet, or the corner point if there is no
/// radius. Where there is no corner (on the far side of a T-junction, on the outside of a bend, at a taper),
/// it is a smooth line.
fn side(
    Pair { arm, next }: Pair<&Arm<'_>>,
    trims: Pair<f64>,
    corner: &Corner,
    share: f64,
    sides: Sides,
) -> Flow {
    let (from, to) = (arm.left_edge(trims.arm), next.right_edge(trims.next));
    let mut path = Path::from(from.position);
    let radius = corner.radius * share;
    if corner.wanted_radius > 0.0 {
        let fillet = (radius >= 0.05).then(|| Fillet::within(Pair { arm, next }, radius, trims));
        if let Some(fillet) = fillet.flatten() {
            let edges = around(Pair { arm, next }, trims, Pair::both(0.0), &fillet).edges;
            let shape = Shape::Arc(fillet);
            return Flow { edges, shape };
        }
    } else if goes_on(Pair { arm, next }) {
        path.lines_to(through(Pair { arm, next }, trims, |_| 0.0));
        path.line_to(to.position);
        let (edges, shape) = (path.edges, Shape::Joined);
        return Flow { edges, shape };
    }
    let (distance, next_distance) = (corner.distance, corner.next_distance);
    if sides == Sides::Smooth {
        path.lines_to(smooth_side(from.reversed(), to));
    } else if corner.wanted_radius > 0.0 && distance <= trims.arm && next_distance <= trims.next {
        // The corner point on each of the two edges. The points differ if the edges do not meet
        // exactly.
        let edge = arm.left_edge(distance).position;
        path.line_to(0.5 * (edge + next.right_edge(next_distance).position));
    }
    path.line_to(to.position);
    Flow {
        edges: path.edges,
        shape: Shape::Free,
    }
}

/// Follows the left edge of an arm to the start of an arc, then the arc, then the right edge of the
/// next arm. The resulting line is `beyond` metres outside the edges.
pub(super) fn around(
    Pair { arm, next }: Pair<&Arm<'_>>,
    distances: Pair<f64>,
    beyond: Pair<f64>,
    fillet: &Fillet,
) -> Path {
    let edge = arm.along(Flank::Left, distances.arm, fillet.feet.arm, |_| beyond.arm);
    let next_edge = next.along(Flank::Right, fillet.feet.next, distances.next, |_| {
        beyond.next
    });
    let mut path = Path::from(edge[0]);
    path.lines_to(edge);
    path.arc_to(next_edge[0], fillet.centre, fillet.radius);
    path.lines_to(next_edge);
    path
}

/// Follows the left edge of an arm to its node, and then the right edge of the next arm. `beyond`
/// returns the offset outside the edges at a given distance from the first cut.
pub(super) fn through(
    Pair { arm, next }: Pair<&Arm<'_>>,
    trims: Pair<f64>,
    beyond: impl Fn(f64) -> f64,
) -> Vec<DVec2> {
    let mut points = arm.along(Flank::Left, trims.arm, 0.0, |s| beyond(trims.arm - s));
    let after = next.along(Flank::Right, 0.0, trims.next, |s| beyond(trims.arm + s));
    // The edges meet within a centimetre, so one point represents both ends. Otherwise, the path
    // would step back.
    if let Some(last) = points.last_mut() {
        *last = 0.5 * (*last + after[0]);
    }
    points.extend(after.into_iter().skip(1));
    points
}

/// Whether the edge of an arm continues as the edge of the next arm at their node.
fn goes_on(Pair { arm, next }: Pair<&Arm<'_>>) -> bool {
    // Both edges head outward, so if one edge continues as the other, their headings are opposite.
    let (edge, next_edge) = (arm.left_edge(0.0), next.right_edge(0.0));
    let turn = wrap_angle(edge.heading - next_edge.heading).abs();
    (edge.position - next_edge.position).length() < 0.01 && std::f64::consts::PI - turn < 0.01
}

/// Returns the curve between two edges that face each other, if there is a short one.
///
/// A curve that is much longer than its chord would form a loop or a bulge, so a straight line is used
/// instead.
pub(super) fn smooth_side(from: Pose, to: Pose) -> Vec<DVec2> {
    let chord = (to.position - from.position).length();
    if chord < 0.1 {
        return Vec::new();
    }
    let curve = connecting_curve(from, to).filter(|curve| curve.length() < 1.6 * chord);
    curve.map_or_else(Vec::new, |curve| curve.sample(SIDE_TOLERANCE, 0.0))
}

/// A path of lines and arcs under construction.
pub(super) struct Path {
    pub(super) edges: Vec<OutlineEdge>,
    at: DVec2,
}

impl Path {
    pub(super) fn from(at: DVec2) -> Self {
        Self {
            edges: Vec::new(),
            at,
        }
    }

    pub(super) fn line_to(&mut self, to: DVec2) {
        let from = self.at;
        if (to - from).length() >= 1e-6 {
            self.edges.push(OutlineEdge::Line { from, to });
            self.at = to;
        }
    }

    pub(super) fn lines_to(&mut self, points: impl IntoIterator<Item = DVec2>) {
        points.into_iter().for_each(|point| self.line_to(point));
    }

    pub(super) fn arc_to(&mut self, to: DVec2, centre: DVec2, radius: f64) {
        let from = self.at;
        if (to - from).length() >= 1e-6 {
            self.edges.push(OutlineEdge::Arc {
                from,
                to,
                centre,
                radius,
            });
            self.at = to;
        }
    }
}
