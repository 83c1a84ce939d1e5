//! Borders of the carriageway of a junction: kerbs and pavements.
//!
//! ```text
//!      |  outer  .'  line          A pavement follows a corner as an offset of the same
//!      |       .'   _______         arc: with the radius R of the carriageway's corner and the width w
//!      |     .'   .'                of the pavement, its outer line is the arc with R - w around the
//!      |    |   .'  kerb            same centre, and the kerb is a line along the carriageway.
//!      |____|  |
//! ```

use super::arm::{Arm, Flank, Pair};
use super::corner::Fillet;
use super::outline::{
    ARC_TOLERANCE, Flow, OutlineEdge, Path, Shape, around, polygon, smooth_side, through,
};
use glam::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{heading_of, polygon as shape, unit};

/// Minimum width of a pavement, m. Narrower pavements are ignored.
const MIN_PAVEMENT: f64 = 0.05;
/// Radius of a pavement's outer line at corners that are tighter than the width of the pavement, m.
const OUTER_RADIUS: f64 = 0.3;
/// Tolerance between an arc and its chords for precise checks of pavements, m.
const FINE_TOLERANCE: f64 = 0.01;
/// Number of chords of an outer line whose distance from the kerb changes along the arc.
const CHORDS: usize = 16;

/// Kerb and pavement beside the carriageway between an arm and the next one counter-clockwise.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Border {
    /// Line where the carriageway meets a raised pavement, from the arm to the next one; empty if there is no
    /// pavement. The kerb is outside this line.
    pub kerb: Vec<OutlineEdge>,
    /// Outline of the pavement behind the kerb, counter-clockwise, from the kerb line outwards; empty if
    /// there is no pavement.
    pub pavement: Vec<OutlineEdge>,
}

impl Border {
    /// Returns the kerb line as points. Arcs are approximated within `tolerance` metres.
    pub fn kerb_line(&self, tolerance: f64) -> Vec<DVec2> {
        let end = self.kerb.last().map(OutlineEdge::to);
        let mut points = polygon(&self.kerb, tolerance);
        points.extend(end);
        points
    }

    /// Returns the pavement as a polygon. Arcs are approximated within `tolerance` metres.
    pub fn pavement_polygon(&self, tolerance: f64) -> Vec<DVec2> {
        polygon(&self.pavement, tolerance)
    }

    /// Creates a border from a kerb line and an outer line that run in the same direction. The
    /// pavement is empty if the lines cross.
    fn of(kerb: Vec<OutlineEdge>, outer: Vec<OutlineEdge>) -> Self {
        let (Some(first), Some(last)) = (kerb.first(), kerb.last()) else {
            return Self::default();
        };
        let mut ring = Path::from(first.from());
        for edge in &outer {
            // Outer lines may have gaps or begin beside the kerb, so each gap is closed by a line.
            ring.line_to(edge.from());
            match *edge {
                OutlineEdge::Line { to, .. } => ring.line_to(to),
                OutlineEdge::Arc {
                    to, centre, radius, ..
                } => ring.arc_to(to, centre, radius),
            }
        }
        ring.line_to(last.to());
        let mut pavement = ring.edges;
        pavement.extend(kerb.iter().rev().map(OutlineEdge::reversed));
        if !is_area(&pavement) {
            pavement.clear();
        }
        Self { kerb, pavement }
    }
}

/// Whether edges enclose an area without crossing each other. Arcs are tested with coarse and with
/// fine chords. Otherwise, crossings of arcs that barely touch could be missed.
fn is_area(edges: &[OutlineEdge]) -> bool {
    [ARC_TOLERANCE, FINE_TOLERANCE]
        .into_iter()
        .all(|tolerance| {
            let points = polygon(edges, tolerance);
            shape::signed_area(&points) > 1e-6 && shape::is_simple(&points)
        })
}

/// Returns the border after each arm of a junction. `sides` contains the sides of the junction's
/// outline. If it is empty, the result is empty.
pub(super) fn borders(arms: &[Arm<'_>], trims: &[f64], sides: &[Flow]) -> Vec<Border> {
    if let ([arm], [side]) = (arms, sides) {
        return vec![dead_end(arm, trims[0], side)];
    }
    let between = |(i, side): (usize, &Flow)| {
        let j = (i + 1) % arms.len();
        let pair = Pair {
            arm: &arms[i],
            next: &arms[j],
        };
        let trims = Pair {
            arm: trims[i],
            next: trims[j],
        };
        Widths::of(pair, trims).map_or_else(Border::default, |w| w.border(pair, trims, side))
    };
    sides.iter().enumerate().map(between).collect()
}

/// Widths of the pavements at both ends of a side.
///
/// If only one of the arms has a pavement, the pavement keeps its width around the corner and is
/// cut off at 45 degrees beyond the end of the arc.
struct Widths {
    /// Widths at the arm and at the next one, m.
    width: Pair<f64>,
    /// Whether each of the two arms has its own pavement.
    own: Pair<bool>,
}

impl Widths {
    fn of(Pair { arm, next }: Pair<&Arm<'_>>, trims: Pair<f64>) -> Option<Self> {
        let found = Pair {
            arm: arm.pavements(trims.arm).0,
            next: next.pavements(trims.next).1,
        };
        let own = found.map(|width| width >= MIN_PAVEMENT);
        let width = match (own.arm, own.next) {
            (false, false) => return None,
            (true, true) => found,
            (true, false) => Pair::both(found.arm),
            (false, true) => Pair::both(found.next),
        };
        Some(Self { width, own })
    }

    fn border(&self, Pair { arm, next }: Pair<&Arm<'_>>, trims: Pair<f64>, side: &Flow) -> Border {
        match &side.shape {
            Shape::Arc(fillet) => self.around_corner(Pair { arm, next }, trims, fillet),
            Shape::Joined => {
                let ends = self.ends(Pair { arm, next }, trims, trims);
                // Distance from cut to cut through the node, measured along both arms.
                let total = (trims.arm + trims.next).max(1e-6);
                let width = |along: f64| {
                    let share = smoothstep((along / total).clamp(0.0, 1.0));
                    self.width.arm + share * (self.width.next - self.width.arm)
                };
                let outer = through(Pair { arm, next }, trims, width);
                self.straight(Pair { arm, next }, ends, trims, side, outer)
            }
            Shape::Free => {
                let ends = self.ends(Pair { arm, next }, trims, trims);
                let start = arm.beside(Flank::Left, trims.arm, self.width.arm);
                let end = next.beside(Flank::Right, trims.next, self.width.next);
                let mut outer = vec![start.position];
                outer.extend(smooth_side(start.reversed(), end));
                outer.push(end.position);
                self.straight(Pair { arm, next }, ends, trims, side, outer)
            }
        }
    }

    /// Returns the distances along both arms at which the kerb begins and ends, m. For an arm with
    /// a pavement of its own, this is the cut. Otherwise, the pavement is cut off beyond the
    /// distance `last`.
    fn ends(
        &self,
        Pair { arm, next }: Pair<&Arm<'_>>,
        trims: Pair<f64>,
        last: Pair<f64>,
    ) -> Pair<f64> {
        let end = |own: bool, arm: &Arm<'_>, trim: f64, last: f64, width: f64| {
            if own {
                trim
            } else {
                // The distance beyond the foot equals the width of the pavement, so that the
                // pavement is cut off at 45 degrees.
                (last + width).min(arm.length())
            }
        };
        Pair {
            arm: end(self.own.arm, arm, trims.arm, last.arm, self.width.arm),
            next: end(self.own.next, next, trims.next, last.next, self.width.next),
        }
    }

    /// Returns the border along a side that has no corner.
    fn straight(
        &self,
        Pair { arm, next }: Pair<&Arm<'_>>,
        ends: Pair<f64>,
        trims: Pair<f64>,
        side: &Flow,
        outer: Vec<DVec2>,
    ) -> Border {
        let mut kerb = Path::from(arm.left_edge(ends.arm).position);
        kerb.lines_to(arm.along(Flank::Left, ends.arm, trims.arm, |_| 0.0));
        kerb.edges.extend(&side.edges);
        let mut rest = Path::from(next.right_edge(trims.next).position);
        rest.lines_to(next.along(Flank::Right, trims.next, ends.next, |_| 0.0));
        kerb.edges.extend(rest.edges);
        Border::of(kerb.edges, lines(outer))
    }

    /// Returns the border around a corner.
    fn around_corner(&self, arms: Pair<&Arm<'_>>, trims: Pair<f64>, fillet: &Fillet) -> Border {
        let inner = self.width.map(|width| fillet.radius - width);
        // If the arc is too small for an offset on its inside, the outer lines are joined by a
        // separate small corner.
        let outer = if inner.arm.min(inner.next) >= OUTER_RADIUS {
            Some((*fillet, fillet.radius))
        } else {
            Fillet::between(arms, self.width, OUTER_RADIUS).map(|own| (own, OUTER_RADIUS))
        };
        let Some((corner, _)) = outer else {
            let kerb = around(arms, trims, Pair::both(0.0), fillet).edges;
            return Border::of(kerb, Vec::new());
        };
        let last = Pair {
            arm: corner.feet.arm.max(fillet.feet.arm),
            next: corner.feet.next.max(fillet.feet.next),
        };
        let ends = self.ends(arms, trims, last);
        let kerb = around(arms, ends, Pair::both(0.0), fillet).edges;
        let is_beyond = |own: bool, foot: f64, trim: f64| own && foot > trim + 1e-6;
        if is_beyond(self.own.arm, corner.feet.arm, trims.arm)
            || is_beyond(self.own.next, corner.feet.next, trims.next)
        {
            // The pavements of both arms meet beyond the cuts, so they cover the remaining area.
            let apex = cuts_cross(arms, trims);
            return Border::of(kerb, lines(apex.into_iter().collect()));
        }
        let ends = Pair {
            arm: if self.own.arm { trims.arm } else { last.arm },
            next: if self.own.next { trims.next } else { last.next },
        };
        let outer = if corner != *fillet {
            around(arms, ends, self.width, &corner)
        } else if (self.width.arm - self.width.next).abs() < 1e-9 {
            let radius = inner.arm;
            around(arms, ends, self.width, &Fillet { radius, ..corner })
        } else {
            self.changing(arms, ends, fillet)
        };
        let border = Border::of(kerb, outer.edges);
        if !border.pavement.is_empty() {
            return border;
        }
        // If one pavement is narrow and the other is as wide as the radius of the arc, a corner of
        // the outer lines would be on the carriageway. A line whose distance from the kerb's arc
        // changes gradually does not touch the carriageway.
        let outer = self.changing(arms, ends, fillet);
        Border::of(border.kerb, outer.edges)
    }

    /// Returns the outer line around an arc for a pavement whose width changes along the arc.
    fn changing(
        &self,
        Pair { arm, next }: Pair<&Arm<'_>>,
        ends: Pair<f64>,
        fillet: &Fillet,
    ) -> Path {
        let before = arm.along(Flank::Left, ends.arm, fillet.feet.arm, |_| self.width.arm);
        let after = next.along(Flank::Right, fillet.feet.next, ends.next, |_| {
            self.width.next
        });
        let mut path = Path::from(before[0]);
        let start = heading_of(arm.left_edge(fillet.feet.arm).position - fillet.centre);
        let end = heading_of(next.right_edge(fillet.feet.next).position - fillet.centre);
        let turn = wrap_angle(end - start);
        path.lines_to(before);
        path.lines_to((1..CHORDS).filter_map(|i| {
            let share = i as f64 / CHORDS as f64;
            let width = self.width.arm + smoothstep(share) * (self.width.next - self.width.arm);
            let radius = fillet.radius - width;
            // Past the centre of the arc, the line would fold back.
            (radius > 0.0).then(|| fillet.centre + radius * unit(start + turn * share))
        }));
        path.lines_to(after);
        path
    }
}

/// Returns the point where the lines of two cuts cross outside the carriageway; `None` if they do
/// not cross.
fn cuts_cross(Pair { arm, next }: Pair<&Arm<'_>>, trims: Pair<f64>) -> Option<DVec2> {
    let (a, b) = (arm.left_edge(trims.arm), next.right_edge(trims.next));
    let (u, v) = (a.forward().perp(), -b.forward().perp());
    let cross = u.perp_dot(v);
    if cross.abs() < 1e-6 {
        return None;
    }
    let gap = b.position - a.position;
    let (along, next_along) = (gap.perp_dot(v) / cross, gap.perp_dot(u) / cross);
    // Both lines run away from the carriageway, so the intersection is valid only if it is ahead on both of
    // them.
    (along > 0.0 && next_along > 0.0).then(|| a.position + along * u)
}

/// Returns the kerb and pavement around a dead end.
fn dead_end(arm: &Arm<'_>, trim: f64, side: &Flow) -> Border {
    let (left, right) = arm.pavements(trim);
    if left.max(right) < MIN_PAVEMENT {
        return Border::default();
    }
    let (from, to) = (arm.left_edge(trim), arm.right_edge(trim));
    let centre = 0.5 * (from.position + to.position);
    let radius = 0.5 * (from.position - to.position).length();
    let start = heading_of(from.position - centre);
    let on = |share: f64, width: f64| {
        centre + (radius + width) * unit(start + share * std::f64::consts::PI)
    };
    let mut outer = Path::from(on(0.0, left));
    if (left - right).abs() < 1e-9 {
        // Drawn as two quarter circles, like the end of the carriageway.
        outer.arc_to(on(0.5, left), centre, radius + left);
        outer.arc_to(on(1.0, left), centre, radius + left);
    } else {
        let points = (1..=2 * CHORDS).map(|i| {
            let share = i as f64 / (2 * CHORDS) as f64;
            on(share, left + smoothstep(share) * (right - left))
        });
        outer.lines_to(points);
    }
    Border::of(side.edges.clone(), outer.edges)
}

/// Connects points by lines. A single point becomes a line of zero length, so that it is not lost.
fn lines(points: Vec<DVec2>) -> Vec<OutlineEdge> {
    if let [point] = points[..] {
        return vec![OutlineEdge::Line {
            from: point,
            to: point,
        }];
    }
    let pairs = points.windows(2);
    let lines = pairs.map(|pair| OutlineEdge::Line {
        from: pair[0],
        to: pair[1],
    });
    lines.collect()
}

/// Returns a smooth step from 0 to 1 with zero slope at both ends.
fn smoothstep(share: f64) -> f64 {
    share * share * (3.0 - 2.0 * share)
}
