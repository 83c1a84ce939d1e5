//! Computes set-back stop lines, which leave room for turning vehicles.
//!
//! ```text
//!            ____        The front of a bus that turns into a street swings over the lane that leads
//!        .-'  bus \      out of it. Vehicles waiting there stop before that area, as in real streets
//!      /    .----. |     where buses turn: the line lies a few metres before the cut of the arm.
//!     |   /  |   '-'
//!     |  |   |=====| <- line
//! ```

use super::conflicts::{Body, is_tight};
use super::shape::{JunctionShape, ShapePath};
use super::{Junction, LaneEnd};
use glam::DVec2;
use roadwright_geometry::OwnFrame;

/// Half the width of the waiting vehicle plus a margin, m. The margin of 0.25 m is the largest deviation of a
/// turning car from its path when its driver follows the bend.
const HALF: f64 = 1.15;
/// Additional deviation of a turning car in a tight bend at the ring of a roundabout, m. Its driver
/// steers to full lock before the bend and straightens up late.
const TIGHT_DRIFT: f64 = 0.35;
/// Gap between the turning vehicle and the waiting vehicle, m.
const GAP: f64 = 0.4;
/// Maximum setback, m. Buses that need a larger setback should use another street.
const MOST: f64 = 7.0;
/// Distance between the sampled poses of a bus, m.
const STEP: f64 = 0.25;
/// Distance between the sampled points on the sides of a bus, m.
const ALONG: f64 = 0.5;

impl Junction {
    /// Returns the setback of the stop line for each entering lane that turning buses swing over,
    /// in metres from the cut of the arm. Lanes without a setback are left out. The list is ordered
    /// by lane. O(lanes * paths * their lengths).
    pub fn setbacks(&self) -> Vec<(LaneEnd, f64)> {
        self.by_lane(JunctionShape::of(self).setbacks())
    }

    /// Like `setbacks`, but for cars only. Corners usually leave cars enough room. Where arms meet at an
    /// angle or corners are tight, turning cars would come within 0.1 m of waiting ones, and drivers do not
    /// follow their path that precisely.
    pub fn setbacks_of_cars(&self) -> Vec<(LaneEnd, f64)> {
        self.by_lane(JunctionShape::of(self).setbacks_of_cars())
    }

    /// Converts the setbacks of connections to setbacks of their entering lanes. Lanes without a
    /// setback are left out.
    fn by_lane(&self, of_paths: &[f64]) -> Vec<(LaneEnd, f64)> {
        let lanes = self.paths.iter().map(|path| path.from).zip(of_paths);
        let set_back = lanes.filter(|&(_, &setback)| setback > 0.0);
        let mut lanes: Vec<(LaneEnd, f64)> = set_back.map(|(lane, &s)| (lane, s)).collect();
        lanes.sort_by_key(|(lane, _)| *lane);
        lanes.dedup_by_key(|(lane, _)| *lane);
        lanes
    }
}

/// Returns the setback of the stop line of each connection, m; 0 if no body swings over its lane.
pub(super) fn setbacks(all: &[ShapePath], body: Body) -> Vec<f64> {
    let mut lanes: Vec<(LaneEnd, OwnFrame)> = Vec::new();
    for path in all {
        if let Some(curve) = &path.curve {
            lanes.push((path.from, curve.start().own_frame()));
        }
    }
    lanes.sort_by_key(|(lane, _)| *lane);
    lanes.dedup_by_key(|(lane, _)| *lane);
    // Each path is sampled only once rather than once per lane.
    let paths: Vec<DrivenPath> = all.iter().filter_map(DrivenPath::of).collect();
    let of_lanes = lanes.into_iter().map(|(lane, end)| {
        let depth = swept(&paths, lane, end, body);
        let is_needed = depth > 0.0;
        (lane, is_needed.then_some((depth + GAP).min(MOST)))
    });
    let of_lanes: Vec<(LaneEnd, Option<f64>)> = of_lanes.collect();
    let of_path = |path: &ShapePath| {
        let found = of_lanes.binary_search_by_key(&path.from, |(lane, _)| *lane);
        found.ok().and_then(|at| of_lanes[at].1).unwrap_or(0.0)
    };
    all.iter().map(of_path).collect()
}

/// A connection with its starting arm and poses along it.
struct DrivenPath {
    from: LaneEnd,
    /// Half the width of a waiting vehicle, including its clearance from bodies on the connection,
    /// m.
    half: f64,
    places: Vec<OwnFrame>,
}

impl DrivenPath {
    fn of(path: &ShapePath) -> Option<Self> {
        let curve = path.curve.as_ref()?;
        let steps = (curve.length() / STEP).ceil() as usize;
        let place = |i: usize| {
            let s = curve.length() * i as f64 / steps.max(1) as f64;
            curve.own_frame(s).1
        };
        Some(Self {
            from: path.from,
            half: match is_tight(path) {
                true => HALF + TIGHT_DRIFT,
                false => HALF,
            },
            places: (0..=steps).map(place).collect(),
        })
    }
}

/// Returns the length that turning bodies swing over at the end of a lane, m. This is the setback
/// of the stop line.
fn swept(paths: &[DrivenPath], lane: LaneEnd, end: OwnFrame, body: Body) -> f64 {
    // Vehicles from the same arm are excluded, because they start at the stop line and turn away
    // from there.
    let others = paths
        .iter()
        .filter(|path| (path.from.road, path.from.end) != (lane.road, lane.end));
    let places = others.flat_map(|path| path.places.iter().map(|place| (place, path.half)));
    let near = places.filter(|&(place, half)| may_swing_over(place, half, end, body));
    near.map(|(place, half)| depth(place, half, end, body))
        .fold(0.0, f64::max)
}

/// Whether a body may swing over the lane that ends at a pose. This quick test can rule it out in
/// almost all cases, because the centre of the body is too far away from the lane.
fn may_swing_over(place: &OwnFrame, half: f64, end: OwnFrame, body: Body) -> bool {
    let reach = 0.5 * DVec2::new(body.length(), body.width).length();
    let middle = end.to_local(place.point(0.5 * (body.front - body.rear), 0.0));
    let is_over = middle.x < reach && middle.y.abs() < half + reach;
    is_over && (place.point(0.5 * body.front, 0.0) - end.origin).length() <= body.front + MOST
}

/// Returns how far from its end a lane is covered by the sides of a body, m.
fn depth(place: &OwnFrame, half: f64, end: OwnFrame, body: Body) -> f64 {
    let along = (body.length() / ALONG).ceil() as usize;
    let mut depth: f64 = 0.0;
    for side in [-0.5 * body.width, 0.5 * body.width] {
        for k in 0..=along {
            let ahead = body.length() * k as f64 / along as f64 - body.rear;
            let point = end.to_local(place.point(ahead, side));
            if point.x < 0.0 && point.y.abs() < half {
                depth = depth.max(-point.x);
            }
        }
    }
    depth
}
