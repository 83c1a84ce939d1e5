//! Conflicts: pairs of connections of a junction that vehicles cannot use at the same time, with
//! the interval on each.
//!
//! ```text
//!            |  b  |
//!            |     |          Two connections conflict where their swept areas meet:
//!      ------+#####+------    on `a` between the two edges of the hatched square, and on
//!   a   ---> |#####|          `b` likewise. Connections from the same lane do not
//!      ------+#####+------    conflict, since vehicles on it follow each other;
//!            |  ^  |          connections into the same lane always do.
//! ```

use super::shape::{JunctionShape, ShapePath};
use super::sweep::{BESIDE, Boxes};
use super::{Junction, LaneEnd};
use crate::index::ConnectionIndex;
use roadwright_geometry::centre_line::{CentreLines, LineSpan};
use roadwright_geometry::{DVec2, ReferenceLine};
use std::cell::OnceCell;

/// Clearance between vehicles, including their deviation from the centre line, m.
const MARGIN: f64 = 0.4;
/// Clearance between connections that have lanes on the same road, as a fraction of the distance
/// between these lanes. Adjacent lanes therefore never conflict, however narrow they are, except
/// where bodies that swing out touch (`sweep.rs`).
const LANE_SHARE: f64 = 0.95;
/// Overlap allowed between bodies in adjacent lanes, m. A car of ordinary size, 1.8 m wide and 3.55 m long
/// ahead of its rear axle, needs 0.1 m less in its own lane than [`Body::CAR`] and swings out 0.1 m less. Two
/// such cars keep 0.1 m between them, which is enough for drivers who do not follow their line exactly.
const SLIM: f64 = 0.2;
/// Radius below which drivers deviate from a connection into or out of a roundabout's ring, m. Such
/// a bend takes a car's steering nearly to full lock, just after the opposite bend of the ring.
const TIGHT: f64 = 7.0;
/// Lateral deviation from a tight connection, to either side, m.
const DRIFT: f64 = 0.2;
/// Radius of the circle that a car's rear axle drives at full lock, m.
const FULL_LOCK: f64 = 3.85;
/// Minimum deviation from a connection tighter than full lock at which a car counts as leaving the
/// connection, m.
const OFF_LINE: f64 = 0.3;
/// Minimum distance between the centres of two lanes at which vehicles can pass each other in a
/// bend, m.
const NARROW: f64 = 2.8;
/// Gap between two vehicles that pass each other in a bend, m.
pub const ABREAST: f64 = 0.3;
/// Swing-out below which a body counts as staying in its lane, m.
const STEADY: f64 = 0.5;
/// Value added to the squared clearance to compensate for sampling, m^2. Points are about a metre apart, so
/// the nearest position on a line is up to half a metre from the nearest point.
const SAMPLING: f64 = 0.25;
/// Marks a pair without a conflict in the table.
const NONE: u32 = u32::MAX;

/// A stretch of a connection, with distances in metres from the start of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Interval {
    /// Start of the stretch.
    pub from: f64,
    /// End of the stretch.
    pub to: f64,
}

impl Interval {
    /// Returns the smallest interval that contains both intervals.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            from: self.from.min(other.from),
            to: self.to.max(other.to),
        }
    }

    pub(super) fn holds(self, other: Self) -> bool {
        self.from <= other.from && other.to <= self.to
    }
}

/// Two connections that vehicles cannot use at the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conflict {
    /// The connections, as indices into [`Junction::paths`]. The first has the larger index.
    pub paths: (ConnectionIndex, ConnectionIndex),
    /// The interval on each connection in which it meets the other one.
    pub intervals: (Interval, Interval),
    /// Whether both connections end in the same lane, so that vehicles follow each other beyond the
    /// point where the connections meet.
    pub is_merge: bool,
}

/// A vehicle body whose rear axle follows a connection.
///
/// ```text
///         ..----+        The front corner of a body that drives a bend of radius R swings out
///      .-'  ____|        beyond the lane that its rear axle keeps to: by the difference of
///     /  .-'    front    sqrt((R + w/2)^2 + front^2) and R + w/2.
///    |  /  w
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Width, m.
    pub width: f64,
    /// Length from the rear axle to the front, m.
    pub front: f64,
    /// Length from the rear axle to the rear, m.
    pub rear: f64,
}

impl Body {
    /// A large car or a van.
    pub const CAR: Self = Self {
        width: 1.9,
        front: 3.8,
        rear: 1.0,
    };
    /// A bus or a lorry.
    pub const LONG: Self = Self {
        width: 2.55,
        front: 8.0,
        rear: 2.2,
    };

    /// Whether the body is wider than a car or swings out farther, so that conflicts computed for
    /// cars are not sufficient.
    pub fn exceeds_car(self) -> bool {
        self.front > Self::CAR.front || self.width > Self::CAR.width
    }

    /// Length from front to rear, m.
    pub fn length(self) -> f64 {
        self.front + self.rear
    }

    /// Returns how far the body swings out on a connection, m.
    fn swing(self, path: &ShapePath) -> f64 {
        self.swing_at(path.min_radius())
    }

    /// Returns how far the body swings out on a path of the given radius, m; 0 for an infinite
    /// radius.
    pub fn swing_at(self, radius: f64) -> f64 {
        // Distance from the centre of the bend to the outer side of the rear axle; infinite on a straight
        // path.
        let side = radius + 0.5 * self.width;
        if side.is_finite() {
            (side * side + self.front * self.front).sqrt() - side
        } else {
            0.0
        }
    }
}

/// The conflicts of one junction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conflicts {
    paths: usize,
    /// For each pair of paths, row by row, the index of their conflict in `list`, or [`NONE`].
    table: Vec<u32>,
    list: Vec<Conflict>,
    /// For each path, whether it conflicts with any other path.
    contested: Vec<bool>,
    /// Pairs of paths that start in the same lane, the smaller index first. The value is the length
    /// that they share, measured along each path, m.
    partings: Vec<((ConnectionIndex, ConnectionIndex), (f64, f64))>,
    /// Pairs that meet again after they have diverged, with the intervals where they meet again.
    again: Vec<((ConnectionIndex, ConnectionIndex), (Interval, Interval))>,
}

/// A connection, represented by sampled points with a bounding box.
struct Swept<'a> {
    curve: &'a ReferenceLine,
    span: LineSpan,
    low: DVec2,
    high: DVec2,
    /// Lateral distance by which the body swings out on the connection, m.
    swing: f64,
    /// Whether the connection is so tight that drivers deviate from its centre line.
    is_tight: bool,
    /// Whether cars cannot follow the connection.
    leaves_line: bool,
    /// The lanes at both ends of the connection, and the positions of these ends.
    ends: [(LaneEnd, DVec2); 2],
    /// Boxes of the body along the connection. They are computed on demand, because most connections are not
    /// tight.
    boxes: OnceCell<Boxes>,
}

impl Swept<'_> {
    fn boxes(&self, body: Body) -> &Boxes {
        self.boxes.get_or_init(|| Boxes::along(self.curve, body))
    }
}

impl Conflicts {
    /// Finds the conflicts between cars in a junction. They depend only on the shape of its
    /// connections, so junctions with the same [shape](JunctionShape) have the same conflicts.
    /// O(pairs of nearby paths times their points).
    pub fn of(junction: &Junction) -> Self {
        Self::of_bodies(junction, Body::CAR)
    }

    /// Like `of`, but for other bodies.
    pub fn of_bodies(junction: &Junction, body: Body) -> Self {
        JunctionShape::of(junction).conflicts_of(body)
    }

    pub(super) fn of_paths(paths: &[ShapePath], body: Body) -> Self {
        let mut lines = CentreLines::default();
        let swept: Vec<Option<Swept<'_>>> =
            paths.iter().map(|p| sweep(p, body, &mut lines)).collect();
        let n = paths.len();
        let mut conflicts = Self {
            paths: n,
            table: vec![NONE; n * n],
            list: Vec::new(),
            contested: vec![false; n],
            partings: Vec::new(),
            again: Vec::new(),
        };
        for i in 0..n {
            for j in 0..i {
                let (first, second) = (
                    ConnectionIndex::from_index(j),
                    ConnectionIndex::from_index(i),
                );
                let both = swept[i].as_ref().zip(swept[j].as_ref());
                // Vehicles from the same lane follow each other, so this is no conflict.
                if paths[i].from == paths[j].from {
                    // In the key, the smaller index comes first, so j precedes i.
                    let fork = both.map(|(a, b)| Fork::of(b, a, body, &lines));
                    conflicts.add_fork(first, second, fork.unwrap_or_default());
                    continue;
                }
                let met = both.and_then(|(a, b)| meeting(a, b, body, &lines));
                // Vehicles that merge into the same lane take turns, wherever the connections meet.
                let is_merge = paths[i].to == paths[j].to;
                // Connections without curves have no interval, so vehicles take turns at their
                // start.
                let met = met.or(is_merge.then(Default::default));
                if let Some(intervals) = met {
                    conflicts.add(Conflict {
                        paths: (second, first),
                        intervals,
                        is_merge,
                    });
                }
            }
        }
        conflicts.partings.sort_unstable_by_key(|entry| entry.0);
        conflicts.again.sort_unstable_by_key(|entry| entry.0);
        conflicts
    }

    fn add_fork(&mut self, first: ConnectionIndex, second: ConnectionIndex, fork: Fork) {
        let pair = (first, second);
        self.partings.push((pair, fork.together));
        if let Some(again) = fork.again {
            self.again.push((pair, again));
            for path in [first, second] {
                self.contested[path.index()] = true;
            }
        }
    }

    fn add(&mut self, conflict: Conflict) {
        let (i, j) = (conflict.paths.0.index(), conflict.paths.1.index());
        let number = self.list.len() as u32;
        self.table[i * self.paths + j] = number;
        self.table[j * self.paths + i] = number;
        (self.contested[i], self.contested[j]) = (true, true);
        self.list.push(conflict);
    }

    /// Returns the index of a pair of connections in the table.
    #[inline]
    fn place(&self, a: ConnectionIndex, b: ConnectionIndex) -> usize {
        a.index() * self.paths + b.index()
    }

    /// Whether two paths conflict. O(1).
    #[inline]
    pub fn are_in_conflict(&self, a: ConnectionIndex, b: ConnectionIndex) -> bool {
        self.table[self.place(a, b)] != NONE
    }

    /// Returns the intervals in which two paths meet, on the first and on the second path; `None` if they do
    /// not meet. O(1).
    #[inline]
    pub fn between(&self, a: ConnectionIndex, b: ConnectionIndex) -> Option<(Interval, Interval)> {
        let number = self.table[self.place(a, b)];
        let conflict = self.list.get(number as usize)?;
        Some(in_order(conflict.intervals, conflict.paths.0 == a))
    }

    /// Whether two paths end in the same lane. O(1).
    #[inline]
    pub fn is_merge(&self, a: ConnectionIndex, b: ConnectionIndex) -> bool {
        let number = self.table[self.place(a, b)];
        let conflict = self.list.get(number as usize);
        conflict.is_some_and(|conflict| conflict.is_merge)
    }

    /// Number of paths of the junction.
    pub fn path_count(&self) -> usize {
        self.paths
    }

    /// Whether a path conflicts with any other. O(1).
    #[inline]
    pub fn is_contested(&self, path: ConnectionIndex) -> bool {
        self.contested[path.index()]
    }

    /// Returns the length that a path shares with another one from the same lane, m from the start
    /// of the path; 0 if they come from different lanes. O(log pairs).
    pub fn parting(&self, path: ConnectionIndex, other: ConnectionIndex) -> f64 {
        let pair = (path.min(other), path.max(other));
        let found = self.partings.binary_search_by_key(&pair, |entry| entry.0);
        found.map_or(0.0, |index| {
            in_order(self.partings[index].1, pair.0 == path).0
        })
    }

    /// Returns the intervals in which two paths from the same lane meet again after they have
    /// diverged: one of the paths swings out so far for a sharp turn that it crosses the other one
    /// again. Vehicles pass there in the order of arrival. `None` for other pairs. O(log pairs).
    pub fn again(&self, a: ConnectionIndex, b: ConnectionIndex) -> Option<(Interval, Interval)> {
        let pair = (a.min(b), a.max(b));
        let found = self.again.binary_search_by_key(&pair, |entry| entry.0);
        Some(in_order(self.again[found.ok()?].1, pair.0 == a))
    }

    /// Returns all conflicts between paths from different lanes, in the order of the paths.
    pub fn list(&self) -> &[Conflict] {
        &self.list
    }
}

/// Swaps the values of two paths if the caller named the paths in the opposite order.
#[inline]
fn in_order<T>((first, second): (T, T), is_first: bool) -> (T, T) {
    if is_first {
        (first, second)
    } else {
        (second, first)
    }
}

/// Whether a connection is so tight that drivers deviate from its centre line ([`DRIFT`]).
pub(super) fn is_tight(path: &ShapePath) -> bool {
    path.is_at_ring && path.min_radius() < TIGHT
}

/// Whether a car leaves the connection by at least [`OFF_LINE`], because its full lock is not
/// enough.
///
/// ```text
///     ----------.            Of two arcs that touch the same two straight lines with the angle
///     ------.    '.          theta between them, with radii R and r, the middles are
///            '.    \         (R - r) (1 / cos(theta / 2) - 1) apart.
///              \  R | r
/// ```
fn leaves_line(path: &ShapePath) -> bool {
    let lacking = FULL_LOCK - path.min_radius();
    let Some(curve) = path.curve.as_ref().filter(|_| lacking > 0.0) else {
        return false;
    };
    let cosine = curve.start().forward().dot(curve.end().forward());
    let cosine_of_half = (0.5 * (1.0 + cosine)).max(0.0).sqrt();
    lacking * (1.0 - cosine_of_half) >= OFF_LINE * cosine_of_half
}

fn sweep<'a>(path: &'a ShapePath, body: Body, lines: &mut CentreLines) -> Option<Swept<'a>> {
    let curve = path.curve.as_ref()?;
    let span = lines.push(&curve.sample(0.01, 0.0))?;
    let points: Vec<DVec2> = lines.line(span).points().collect();
    let (low, high) = roadwright_geometry::polygon::bounds(&points)?;
    Some(Swept {
        curve,
        span,
        low,
        high,
        swing: body.swing(path),
        is_tight: is_tight(path),
        leaves_line: leaves_line(path),
        ends: [
            (path.from, curve.start().position),
            (path.to, curve.end().position),
        ],
        boxes: OnceCell::new(),
    })
}

/// Finds the intervals in which two connections meet: where their lines come close, and wherever
/// else the bodies touch. `None` if they do not meet.
fn meeting(
    a: &Swept<'_>,
    b: &Swept<'_>,
    body: Body,
    lines: &CentreLines,
) -> Option<(Interval, Interval)> {
    let (mut on_a, mut on_b) = meeting_on_line(a, b, body, lines)?;
    // A car that leaves its connection may swing over the adjacent lane sooner than the connection
    // does, so vehicles that come out of that lane wait at their line.
    let turns_beside = |turning: &Swept<'_>, coming: &Swept<'_>| {
        let (into, out_of) = (turning.ends[1].0, coming.ends[0].0);
        turning.leaves_line && (into.road, into.end) == (out_of.road, out_of.end)
    };
    if turns_beside(a, b) {
        on_b.from = 0.0;
    }
    if turns_beside(b, a) {
        on_a.from = 0.0;
    }
    Some((on_a, on_b))
}

/// Like `meeting`, for bodies that follow their connections.
fn meeting_on_line(
    a: &Swept<'_>,
    b: &Swept<'_>,
    body: Body,
    lines: &CentreLines,
) -> Option<(Interval, Interval)> {
    let between = lane_distance(a, b);
    let near = within(a, b, clearance(a, b, body, between), lines);
    if are_narrow(between, body) {
        return near;
    }
    if between.is_finite() && (a.is_tight || b.is_tight) {
        let wide = Body {
            width: body.width + 2.0 * DRIFT,
            ..body
        };
        return Boxes::along(a.curve, wide).meeting(&Boxes::along(b.curve, wide), SLIM, near);
    }
    let depth = if between.is_finite() { SLIM } else { 0.0 };
    a.boxes(body).meeting(b.boxes(body), depth, near)
}

/// Whether two lanes `between` metres apart are side by side but too narrow for two bodies.
fn are_narrow(between: f64, body: Body) -> bool {
    between <= body.width + 2.0 * BESIDE
}

/// Returns the required clearance between two connections, m. Their lanes on a shared road are
/// `between` metres apart.
fn clearance(a: &Swept<'_>, b: &Swept<'_>, body: Body, between: f64) -> f64 {
    let clearance = body.width + MARGIN + a.swing + b.swing;
    // A bus that swings out into the adjacent lane may meet a vehicle there.
    if body.front > Body::CAR.front && a.swing.max(b.swing) > STEADY {
        return clearance;
    }
    if between < NARROW && are_oncoming(a, b) {
        // Only the vehicle on the inside of the bend swings towards the other one.
        return body.width + ABREAST + a.swing.max(b.swing);
    }
    clearance.min(LANE_SHARE * between)
}

/// Whether two connections run between the same two roads in opposite directions.
fn are_oncoming(a: &Swept<'_>, b: &Swept<'_>) -> bool {
    let end = |lane: LaneEnd| (lane.road, lane.end);
    let [(a_from, _), (a_to, _)] = a.ends;
    let [(b_from, _), (b_to, _)] = b.ends;
    (end(a_from), end(a_to)) == (end(b_to), end(b_from))
}

/// Returns the smallest distance between the lanes of two connections on a shared road, m.
fn lane_distance(a: &Swept<'_>, b: &Swept<'_>) -> f64 {
    let mut least = f64::INFINITY;
    for (lane, place) in a.ends {
        for (other, beside) in b.ends {
            let shares_road = (lane.road, lane.end) == (other.road, other.end);
            if shares_road && lane != other {
                least = least.min((place - beside).length());
            }
        }
    }
    least
}

/// Finds the intervals in which two centre lines are closer to each other than a clearance; `None`
/// if they never are.
fn within(
    a: &Swept<'_>,
    b: &Swept<'_>,
    clearance: f64,
    lines: &CentreLines,
) -> Option<(Interval, Interval)> {
    let mut met = Around::default();
    pairs_within(a, b, clearance, lines, |i, j| met.add(i, j));
    met.on(a.span, b.span)
}

/// Calls `near` with each pair of points of two centre lines that are closer to each other than a
/// clearance. The pairs are ordered by the point of the first line, then of the second.
fn pairs_within(
    a: &Swept<'_>,
    b: &Swept<'_>,
    clearance: f64,
    lines: &CentreLines,
    mut near: impl FnMut(usize, usize),
) {
    let limit = clearance * clearance + SAMPLING;
    // Bounding boxes are compared first, because most pairs in a large junction are far apart.
    let reach = DVec2::splat(limit.sqrt());
    if (a.low - reach).cmpgt(b.high).any() || (b.low - reach).cmpgt(a.high).any() {
        return;
    }
    let (points_a, points_b) = (lines.line(a.span).points(), lines.line(b.span).points());
    for (i, p) in points_a.enumerate() {
        for (j, q) in points_b.clone().enumerate() {
            if (p - q).length_squared() < limit {
                near(i, j);
            }
        }
    }
}

/// The first and last points where two lines come close to each other. For two paths that meet
/// twice, the single interval contains both places and is therefore longer than necessary.
#[derive(Debug, Default)]
struct Around(Option<[usize; 4]>);

impl Around {
    fn add(&mut self, i: usize, j: usize) {
        let [a0, a1, b0, b1] = self.0.unwrap_or([i, i, j, j]);
        self.0 = Some([a0.min(i), a1.max(i), b0.min(j), b1.max(j)]);
    }

    fn on(&self, a: LineSpan, b: LineSpan) -> Option<(Interval, Interval)> {
        let interval = |span: LineSpan, from: usize, to: usize| Interval {
            from: from as f64 * span.spacing,
            to: to as f64 * span.spacing,
        };
        self.0
            .map(|[a0, a1, b0, b1]| (interval(a, a0, a1), interval(b, b0, b1)))
    }
}

/// Two connections that start in the same lane.
///
/// ```text
///               .---.
///     ---.-----'-----\---->     The connection that turns sharply swings out first: both coincide,
///      lane           |         diverge, and meet again where the sharp turn crosses the other one.
///                      v
/// ```
#[derive(Debug, Default)]
struct Fork {
    /// Length of the common beginning along each connection, m.
    together: (f64, f64),
    /// The intervals in which the two connections meet again.
    again: Option<(Interval, Interval)>,
}

impl Fork {
    fn of(a: &Swept<'_>, b: &Swept<'_>, body: Body, lines: &CentreLines) -> Self {
        let between = lane_distance(a, b);
        let clearance = clearance(a, b, body, between);
        let mut pairs = Vec::new();
        pairs_within(a, b, clearance, lines, |i, j| pairs.push((i, j)));
        // Finds the last point before the lines first separate.
        let last = |mut points: Vec<usize>| {
            points.sort_unstable();
            let further = |last, point| if point == last + 1 { point } else { last };
            points.into_iter().fold(0, further)
        };
        let last_a = last(pairs.iter().map(|pair| pair.0).collect());
        let last_b = last(pairs.iter().map(|pair| pair.1).collect());
        let mut again = Around::default();
        for &(i, j) in pairs.iter().filter(|(i, j)| *i > last_a || *j > last_b) {
            again.add(i, j);
        }
        let again = again.on(a.span, b.span);
        let mut together = (
            last_a as f64 * a.span.spacing,
            last_b as f64 * b.span.spacing,
        );
        // If the connections lead to adjacent lanes, the rear of the vehicle in the tighter bend
        // blocks the other vehicle for longer.
        if between.is_finite() && !are_narrow(between, body) && again.is_none() {
            let met = a.boxes(body).meeting(b.boxes(body), SLIM, None);
            if let Some((on_a, on_b)) = met {
                together = (together.0.max(on_a.to), together.1.max(on_b.to));
            }
        }
        Self { together, again }
    }
}
