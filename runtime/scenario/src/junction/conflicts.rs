//! Which connections of a junction cannot be driven at once, and where on them.
//!
//! ```text
//!            |  b  |
//!            |     |          Two connections conflict where their swept areas meet:
//!      ------+#####+------    on `a` between the two edges of the hatched square, and on
//!   a   ---> |#####|          `b` likewise. Connections that leave one lane do not
//!      ------+#####+------    conflict, since vehicles on it follow each other; those
//!            |  ^  |          that end in one lane always do.
//! ```

use super::sweep::{BESIDE, Boxes};
use super::{ConnectingPath, Junction, LaneEnd};
use crate::index::ConnectionIndex;
use roadwright_geometry::centre_line::{CentreLines, LineSpan};
use roadwright_geometry::{DVec2, ReferenceLine};
use std::cell::OnceCell;

/// Vehicles keep this far from each other, with what they drive beside their line, m.
const MARGIN: f64 = 0.4;
/// Lanes beside each other are no conflict however narrow they are: of two connections that share a
/// road, only what is closer than this share of the distance between their lanes there counts, and where
/// bodies touch that swing out (`sweep.rs`).
const LANE_SHARE: f64 = 0.95;
/// Bodies in lanes beside each other may overlap so much, m. A car of ordinary size, 1.8 m wide and 3.55 m
/// before its rear axle, needs 0.1 m less in its own lane than [`Body::CAR`] and swings out 0.1 m less: two
/// of those keep 0.1 m between them, which those need who do not keep to their line by the centimetre.
const SLIM: f64 = 0.2;
/// Lanes that are nearer to each other than this are too narrow for two who meet in a bend, m.
const NARROW: f64 = 2.8;
/// Who meets another one there keeps so far from it, m.
pub const ABREAST: f64 = 0.3;
/// Bodies that swing out less than this keep to their lanes, m.
const STEADY: f64 = 0.5;
/// Lengthens the squared clearance, m^2: points are about a metre apart, so the nearest place of a
/// line lies up to half a metre beside its nearest point, and 0.5^2 is missing.
const SAMPLING: f64 = 0.25;
/// No conflict in the table of pairs.
const NONE: u32 = u32::MAX;

/// A stretch of a connection, m from its start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Interval {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

impl Interval {
    /// The least interval that holds both.
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

/// Two connections that cannot be driven at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conflict {
    /// The connections, as indices into [`Junction::paths`]; the first is the larger one.
    pub paths: (ConnectionIndex, ConnectionIndex),
    /// Where on each of them the other one is met.
    pub intervals: (Interval, Interval),
    /// Whether they end in one lane: from where they meet vehicles follow each other.
    pub is_merge: bool,
}

/// A body that drives along connections with its rear axle.
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
    /// How far the front is before the rear axle, m.
    pub front: f64,
    /// How far the rear is behind the rear axle, m.
    pub rear: f64,
}

impl Body {
    /// A wide car or a van.
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

    /// Whether it swings out farther or is wider than a car: conflicts of cars are not enough for it.
    pub fn exceeds_car(self) -> bool {
        self.front > Self::CAR.front || self.width > Self::CAR.width
    }

    /// From its front to its rear, m.
    pub fn length(self) -> f64 {
        self.front + self.rear
    }

    /// How far it swings out on a connection, m.
    fn swing(self, path: &ConnectingPath) -> f64 {
        self.swing_at(path.min_radius())
    }

    /// How far it swings out where its way has a radius, m; 0 where that is infinite.
    pub fn swing_at(self, radius: f64) -> f64 {
        // The outer side of the rear axle, from the centre of the bend; infinite on a straight way.
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
    /// Row by row the index in `list` of the conflict of two paths, or [`NONE`].
    table: Vec<u32>,
    list: Vec<Conflict>,
    /// Whether a path conflicts with any other.
    contested: Vec<bool>,
    /// Pairs that leave one lane, the first smaller than the second, with the lengths that the two
    /// run together, m.
    partings: Vec<((ConnectionIndex, ConnectionIndex), (f64, f64))>,
    /// Those of them that meet once more after they have parted, and where.
    again: Vec<((ConnectionIndex, ConnectionIndex), (Interval, Interval))>,
}

/// A connection as points in a box.
struct Swept<'a> {
    curve: &'a ReferenceLine,
    span: LineSpan,
    low: DVec2,
    high: DVec2,
    /// How far the body swings out on it, m.
    swing: f64,
    /// The lanes that it leads from and into, and where they end.
    ends: [(LaneEnd, DVec2); 2],
    /// The body along it, made when it is asked for: most connections are not tight.
    boxes: OnceCell<Boxes>,
}

impl Swept<'_> {
    fn boxes(&self, body: Body) -> &Boxes {
        self.boxes.get_or_init(|| Boxes::along(self.curve, body))
    }
}

impl Conflicts {
    /// Finds the conflicts of cars in a junction from its layout alone. O(pairs of paths that come near
    /// each other times their points).
    pub fn of(junction: &Junction) -> Self {
        Self::of_bodies(junction, Body::CAR)
    }

    /// The same for other bodies.
    pub fn of_bodies(junction: &Junction, body: Body) -> Self {
        let paths = &junction.paths;
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
                // From one lane vehicles come one behind the other: they are never there at once.
                if paths[i].from == paths[j].from {
                    // In the order of the key: j, the smaller one, comes first.
                    let fork = both.map(|(a, b)| Fork::of(b, a, body, &lines));
                    conflicts.add_fork(first, second, fork.unwrap_or_default());
                    continue;
                }
                let met = both.and_then(|(a, b)| meeting(a, b, body, &lines));
                // Into one lane they must take turns, wherever they meet.
                let is_merge = paths[i].to == paths[j].to;
                // Without a curve nothing is met: ways of no length take turns at their start.
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

    /// Where the table has a pair.
    #[inline]
    fn place(&self, a: ConnectionIndex, b: ConnectionIndex) -> usize {
        a.index() * self.paths + b.index()
    }

    /// Whether two paths conflict. O(1).
    #[inline]
    pub fn are_in_conflict(&self, a: ConnectionIndex, b: ConnectionIndex) -> bool {
        self.table[self.place(a, b)] != NONE
    }

    /// Where two paths meet, on the first and on the second; `None` if they do not. O(1).
    #[inline]
    pub fn between(&self, a: ConnectionIndex, b: ConnectionIndex) -> Option<(Interval, Interval)> {
        let number = self.table[self.place(a, b)];
        let conflict = self.list.get(number as usize)?;
        Some(in_order(conflict.intervals, conflict.paths.0 == a))
    }

    /// Whether two paths end in one lane. O(1).
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

    /// How far a path runs together with another one from the same lane, m from its start; 0 if they
    /// come from different lanes. O(log pairs).
    pub fn parting(&self, path: ConnectionIndex, other: ConnectionIndex) -> f64 {
        let pair = (path.min(other), path.max(other));
        let found = self.partings.binary_search_by_key(&pair, |entry| entry.0);
        found.map_or(0.0, |index| {
            in_order(self.partings[index].1, pair.0 == path).0
        })
    }

    /// Where two paths from one lane meet once more after they have parted, on the first and on the second:
    /// one swings out so far for a sharp turn that it comes back over the other. Vehicles pass there in the
    /// order in which they came. `None` for others. O(log pairs).
    pub fn again(&self, a: ConnectionIndex, b: ConnectionIndex) -> Option<(Interval, Interval)> {
        let pair = (a.min(b), a.max(b));
        let found = self.again.binary_search_by_key(&pair, |entry| entry.0);
        Some(in_order(self.again[found.ok()?].1, pair.0 == a))
    }

    /// All pairs from different lanes, in the order of their paths.
    pub fn list(&self) -> &[Conflict] {
        &self.list
    }
}

/// What is said of two paths, turned round unless the first one of them is asked for first.
#[inline]
fn in_order<T>((first, second): (T, T), is_first: bool) -> (T, T) {
    if is_first {
        (first, second)
    } else {
        (second, first)
    }
}

/// Whether a bus along one of two paths and a car along the other one would touch. O(length of one times that
/// of the other).
pub fn touches_bus(one: &ConnectingPath, other: &ConnectingPath) -> bool {
    let (Some(one), Some(other)) = (&one.curve, &other.curve) else {
        return false;
    };
    let touch = |first: Body, second: Body| {
        let boxes = (Boxes::along(one, first), Boxes::along(other, second));
        boxes.0.meeting(&boxes.1, 0.0, None).is_some()
    };
    touch(Body::LONG, Body::CAR) || touch(Body::CAR, Body::LONG)
}

fn sweep<'a>(path: &'a ConnectingPath, body: Body, lines: &mut CentreLines) -> Option<Swept<'a>> {
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
        ends: [
            (path.from, curve.start().position),
            (path.to, curve.end().position),
        ],
        boxes: OnceCell::new(),
    })
}

/// Where two connections meet: where their lines come close, and wherever else bodies touch.
fn meeting(
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
    let depth = if between.is_finite() { SLIM } else { 0.0 };
    a.boxes(body).meeting(b.boxes(body), depth, near)
}

/// Whether lanes so far apart, m, are too narrow for two bodies, which are beside each other all the same.
fn are_narrow(between: f64, body: Body) -> bool {
    between <= body.width + 2.0 * BESIDE
}

/// How close two connections may come to each other whose lanes are so far apart on a road that they
/// share, m.
fn clearance(a: &Swept<'_>, b: &Swept<'_>, body: Body, between: f64) -> f64 {
    let clearance = body.width + MARGIN + a.swing + b.swing;
    // A bus that swings out into the lane beside it does meet who is there.
    if body.front > Body::CAR.front && a.swing.max(b.swing) > STEADY {
        return clearance;
    }
    if between < NARROW && are_oncoming(a, b) {
        // Of the two only the one on the inside of the bend swings towards the other.
        return body.width + ABREAST + a.swing.max(b.swing);
    }
    clearance.min(LANE_SHARE * between)
}

/// Whether two connections lead from the same road into the same other one in opposite directions.
fn are_oncoming(a: &Swept<'_>, b: &Swept<'_>) -> bool {
    let end = |lane: LaneEnd| (lane.road, lane.end);
    let [(a_from, _), (a_to, _)] = a.ends;
    let [(b_from, _), (b_to, _)] = b.ends;
    (end(a_from), end(a_to)) == (end(b_to), end(b_from))
}

/// The least distance between lanes of two connections on a road that they share, m.
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

/// Where two centre lines come closer than a clearance.
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

/// Calls `near` with the points of two centre lines that are closer to each other than a clearance, in the
/// order of those of the first, then of the second.
fn pairs_within(
    a: &Swept<'_>,
    b: &Swept<'_>,
    clearance: f64,
    lines: &CentreLines,
    mut near: impl FnMut(usize, usize),
) {
    let limit = clearance * clearance + SAMPLING;
    // Boxes first: in a large junction most pairs are far apart.
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

/// The first and the last point of two lines where they come close. Two paths that meet twice get one
/// interval around both places: too careful between them, and never too bold.
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

/// Two connections from one lane.
///
/// ```text
///               .---.
///     ---.-----'-----\---->     The one that turns sharply swings out first: both run together, part,
///      lane           |         and meet again where it comes back over the other.
///                     v
/// ```
#[derive(Debug, Default)]
struct Fork {
    /// How far each runs together with the other one, m.
    together: (f64, f64),
    /// Where they meet once more.
    again: Option<(Interval, Interval)>,
}

impl Fork {
    fn of(a: &Swept<'_>, b: &Swept<'_>, body: Body, lines: &CentreLines) -> Self {
        let between = lane_distance(a, b);
        let clearance = clearance(a, b, body, between);
        let mut pairs = Vec::new();
        pairs_within(a, b, clearance, lines, |i, j| pairs.push((i, j)));
        // Until one of them is away from the other for the first time.
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
        // Into lanes beside each other the rear of who bends tightly is longer in the way.
        if between.is_finite() && !are_narrow(between, body) && again.is_none() {
            let met = a.boxes(body).meeting(b.boxes(body), SLIM, None);
            if let Some((on_a, on_b)) = met {
                together = (together.0.max(on_a.to), together.1.max(on_b.to));
            }
        }
        Self { together, again }
    }
}
