//! The outline of a junction.
//!
//! It is traced counter-clockwise: across the cut of an arm from its right edge to its left one, then
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
use super::arm::Arm;
use super::corner::{Corner, bisector, edge_angle, fillet_centre_distance};
use super::curve::connecting_curve;
use glam::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, heading_of, polygon, unit};

/// One edge of an outline, from the end of the one before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutlineEdge {
    /// A straight line.
    Line {
        /// Its start, m.
        from: DVec2,
        /// Its end, m.
        to: DVec2,
    },
    /// A circular arc that bulges into the junction: a rounded kerb.
    Arc {
        /// Its start, m.
        from: DVec2,
        /// Its end, m.
        to: DVec2,
        /// Centre of the circle, m.
        centre: DVec2,
        /// Radius, m.
        radius: f64,
    },
}

/// Largest distance between an arc and its polygon, m.
const ARC_TOLERANCE: f64 = 0.05;

impl OutlineEdge {
    /// Start of the edge, m.
    pub fn from(&self) -> DVec2 {
        match self {
            Self::Line { from, .. } | Self::Arc { from, .. } => *from,
        }
    }

    /// Points of the edge without its end.
    fn points(&self) -> Vec<DVec2> {
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
                // A chord that turns by `step` leaves its arc by radius * step^2 / 8.
                let step = (8.0 * ARC_TOLERANCE / radius.max(0.01)).sqrt();
                let count = (turn.abs() / step).ceil().clamp(1.0, 64.0) as usize;
                let on_arc =
                    |i: usize| centre + radius * unit(start + turn * i as f64 / count as f64);
                std::iter::once(from)
                    .chain((1..count).map(on_arc))
                    .collect()
            }
        }
    }
}

/// An outline as a polygon.
pub(super) fn polygon(outline: &[OutlineEdge]) -> Vec<DVec2> {
    outline.iter().flat_map(OutlineEdge::points).collect()
}

/// How far the lane of a path may reach beyond the outline, m: a kerb is not a wall.
const BAND_SLACK: f64 = 0.6;

/// The outline around cut arms, and whether it is a makeshift one.
///
/// An outline has to be simple and should hold the lanes of all paths. Tried in order: corners with
/// their radii, halved radii, no radii; if none holds all lanes the first simple one is taken, and
/// at last the convex hull of cuts and paths. A junction without an area (roads that continue or
/// end) has none.
pub(super) fn outline(
    arms: &[Arm<'_>],
    trims: &[f64],
    corners: &[Corner],
    paths: &[ConnectingPath],
) -> (Vec<OutlineEdge>, bool) {
    if trims.iter().all(|&trim| trim == 0.0) {
        return (Vec::new(), false);
    }
    if let [arm] = arms {
        return (turning_place(arm, trims[0]), false);
    }
    // Of the outlines that are tried, in order of beauty, the first that is simple and holds the edges
    // of all driven lanes is taken. Where arms meet at odd angles, smooth sides and the arcs of
    // neighbouring corners can cross each other; smaller radii draw an arc back to its corner.
    let driven: Vec<DVec2> = paths.iter().flat_map(band).collect();
    let mut simple = None;
    for (share, sides) in [
        (1.0, Sides::Smooth),
        (1.0, Sides::Straight),
        (0.5, Sides::Straight),
        (0.0, Sides::Straight),
    ] {
        let edges = trace(arms, trims, corners, share, sides);
        let points = polygon(&edges);
        // 15 cm of slack: points of both are within tolerances of their curves.
        let holds = |point: &DVec2| polygon::distance(&points, *point) < 0.15;
        if polygon::signed_area(&points) > 1e-6 && polygon::is_simple(&points) {
            if driven.iter().all(holds) {
                return (edges, false);
            }
            simple = simple.or(Some(edges));
        }
    }
    if let Some(edges) = simple {
        return (edges, false);
    }
    (hull(arms, trims, driven), true)
}

/// The convex hull of all cuts and driven lanes: it holds everything, and looks like nothing built.
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

/// How the sides without a corner are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    Smooth,
    Straight,
}

/// Points along both edges of a path's lane, a little inside.
fn band(path: &ConnectingPath) -> Vec<DVec2> {
    // Inside of a tight bend the edge would fold over.
    let half = (0.5 * path.width.0.min(path.width.1) - BAND_SLACK)
        .min(0.8 * path.min_radius())
        .max(0.0);
    let edges = path.curve.iter().flat_map(|curve| {
        [
            curve.sample(ARC_TOLERANCE, half),
            curve.sample(ARC_TOLERANCE, -half),
        ]
    });
    edges.flatten().collect()
}

/// The end of a road in which vehicles turn round.
fn turning_place(arm: &Arm<'_>, trim: f64) -> Vec<OutlineEdge> {
    let mut path = Path::default();
    for pose in [
        arm.right_edge(trim),
        arm.left_edge(trim),
        arm.left_edge(0.0),
        arm.right_edge(0.0),
    ] {
        path.line_to(pose.position);
    }
    path.close()
}

/// The outline with the given share of the corner radii.
fn trace(
    arms: &[Arm<'_>],
    trims: &[f64],
    corners: &[Corner],
    share: f64,
    sides: Sides,
) -> Vec<OutlineEdge> {
    let mut path = Path::default();
    for (i, arm) in arms.iter().enumerate() {
        path.line_to(arm.right_edge(trims[i]).position);
        path.line_to(arm.left_edge(trims[i]).position);
        let j = (i + 1) % arms.len();
        let trims = (trims[i], trims[j]);
        round_corner(
            &mut path,
            (arm, &arms[j]),
            trims,
            &corners[i],
            (share, sides),
        );
    }
    path.close()
}

/// Adds the kerb between two arms: the fillet, the corner point if there is no radius, or a
/// smooth line where there is no corner (the outside of a bend, a taper).
fn round_corner(
    path: &mut Path,
    (arm, next): (&Arm<'_>, &Arm<'_>),
    trims: (f64, f64),
    corner: &Corner,
    (share, sides): (f64, Sides),
) {
    if corner.wanted_radius == 0.0 {
        if sides == Sides::Smooth {
            smooth_side(
                path,
                arm.left_edge(trims.0).reversed(),
                next.right_edge(trims.1),
            );
        }
        return;
    }
    let (edge, next_edge) = (
        arm.left_edge(corner.distance),
        next.right_edge(corner.next_distance),
    );
    let meeting = 0.5 * (edge.position + next_edge.position);
    let angle = edge_angle(edge.heading, next_edge.heading);
    let radius = corner.radius * share;
    // Edges that face each other, or run side by side, have no bisector to put a centre on.
    if radius < 0.05 || !(0.2..3.0).contains(&angle) {
        path.line_to(meeting);
        return;
    }
    let tangent = corner.tangent * share;
    let out = bisector(edge.heading, next_edge.heading);
    let centre = meeting + unit(out) * fillet_centre_distance(radius, angle);
    path.line_to(meeting + edge.forward() * tangent);
    path.arc_to(meeting + next_edge.forward() * tangent, centre, radius);
}

/// Adds the curve between two edges that face each other, if there is a short one.
///
/// One that is much longer than its chord makes a loop or a belly: the straight line is better.
fn smooth_side(path: &mut Path, from: Pose, to: Pose) {
    let chord = (to.position - from.position).length();
    if chord < 0.1 {
        return;
    }
    if let Some(curve) = connecting_curve(from, to).filter(|curve| curve.length() < 1.6 * chord) {
        curve
            .sample(ARC_TOLERANCE, 0.0)
            .into_iter()
            .for_each(|point| path.line_to(point));
    }
}

/// A closed path under construction.
#[derive(Default)]
struct Path {
    edges: Vec<OutlineEdge>,
    at: Option<DVec2>,
    start: Option<DVec2>,
}

impl Path {
    fn line_to(&mut self, to: DVec2) {
        match self.at {
            None => self.start = Some(to),
            Some(from) if (to - from).length() < 1e-6 => return,
            Some(from) => self.edges.push(OutlineEdge::Line { from, to }),
        }
        self.at = Some(to);
    }

    fn arc_to(&mut self, to: DVec2, centre: DVec2, radius: f64) {
        if let Some(from) = self.at {
            self.edges.push(OutlineEdge::Arc {
                from,
                to,
                centre,
                radius,
            });
        }
        self.at = Some(to);
    }

    fn close(mut self) -> Vec<OutlineEdge> {
        if let Some(start) = self.start {
            self.line_to(start);
        }
        self.edges
    }
}
