//! How far before the junction vehicles stop: stop lines are set back out of the way of those who turn.
//!
//! ```text
//!            ____        The front of a bus that turns into a street swings over the lane that leads
//!        .-'  bus \      out of it. Who waits there stops before that, as where buses turn in real
//!      /    .----. |     streets: the line lies a few metres before the cut of the arm.
//!     |   /  |   '-'
//!     |  |   |=====| <- line
//! ```

use super::conflicts::Body;
use super::{ConnectingPath, Junction, LaneEnd};
use glam::DVec2;
use roadwright_geometry::Pose;

/// Half of the width of who waits, with 0.25 m: so far from its way is a car that turns, at most, if its
/// driver follows the bend.
const HALF: f64 = 1.15;
/// What remains between who turns and who waits, m.
const GAP: f64 = 0.4;
/// Lines are not set back farther, m: there are better ways for such a bus.
const MOST: f64 = 7.0;
/// From one place of a bus that is looked at to the next, m, and of the points of its side.
const STEP: f64 = 0.25;
const ALONG: f64 = 0.5;

impl Junction {
    /// How far before the cut of its arm the stop line of each lane lies that leads in, m, where buses need
    /// it; lanes that none swings over are left out. In the order of the lanes.
    /// O(lanes * paths * their lengths).
    pub fn setbacks(&self) -> Vec<(LaneEnd, f64)> {
        self.setbacks_for(Body::LONG)
    }

    /// The same where only cars drive. Mostly corners leave them room; where arms meet at an angle, or
    /// corners are tight, cars that turn come within a hand's breadth of who waits, and none keeps to its
    /// way by the centimetre.
    pub fn setbacks_of_cars(&self) -> Vec<(LaneEnd, f64)> {
        self.setbacks_for(Body::CAR)
    }

    fn setbacks_for(&self, body: Body) -> Vec<(LaneEnd, f64)> {
        let mut lanes: Vec<(LaneEnd, Pose)> = Vec::new();
        for path in &self.paths {
            if let Some(curve) = &path.curve {
                lanes.push((path.from, curve.start()));
            }
        }
        lanes.sort_by_key(|(lane, _)| *lane);
        lanes.dedup_by_key(|(lane, _)| *lane);
        // Walked once, not for each lane anew.
        let paths = self
            .paths
            .iter()
            .filter_map(DrivenPath::of)
            .collect::<Vec<_>>();
        let mut setbacks: Vec<(LaneEnd, f64)> = Vec::new();
        for (lane, pose) in lanes {
            let depth = swept(&paths, lane, pose, body);
            if depth > 0.0 {
                setbacks.push((lane, (depth + GAP).min(MOST)));
            }
        }
        setbacks
    }
}

/// A way through the junction: the arm that it comes from, and places along it.
struct DrivenPath {
    from: LaneEnd,
    places: Vec<Pose>,
}

impl DrivenPath {
    fn of(path: &ConnectingPath) -> Option<Self> {
        let curve = path.curve.as_ref()?;
        let steps = (curve.length() / STEP).ceil() as usize;
        let place = |i: usize| curve.pose(curve.length() * i as f64 / steps.max(1) as f64);
        Some(Self {
            from: path.from,
            places: (0..=steps).map(place).collect(),
        })
    }
}

/// How far before its end bodies swing over a lane, m.
fn swept(paths: &[DrivenPath], lane: LaneEnd, end: Pose, body: Body) -> f64 {
    // Whoever comes from the same arm is behind its own line, and turns away from there.
    let others = paths
        .iter()
        .filter(|path| (path.from.road, path.from.end) != (lane.road, lane.end));
    let places = others.flat_map(|path| &path.places);
    let near = places.filter(|place| may_swing_over(place, end, body));
    near.map(|place| depth(place, end, body))
        .fold(0.0, f64::max)
}

/// Whether a body may swing over the lane that ends at a pose: not where its middle is so far beside the
/// lane or beyond its end that no part of it does, which is nearly everywhere.
fn may_swing_over(place: &Pose, end: Pose, body: Body) -> bool {
    let reach = 0.5 * DVec2::new(body.length(), body.width).length();
    let middle = end.to_local(place.point(0.5 * (body.front - body.rear), 0.0));
    let is_over = middle.x < reach && middle.y.abs() < HALF + reach;
    is_over && (place.point(0.5 * body.front, 0.0) - end.position).length() <= body.front + MOST
}

/// How far before the end of a lane the sides of a body come over it, m.
fn depth(place: &Pose, end: Pose, body: Body) -> f64 {
    let along = (body.length() / ALONG).ceil() as usize;
    let mut depth: f64 = 0.0;
    for half in [-0.5 * body.width, 0.5 * body.width] {
        for k in 0..=along {
            let ahead = body.length() * k as f64 / along as f64 - body.rear;
            let point = end.to_local(place.point(ahead, half));
            if point.x < 0.0 && point.y.abs() < HALF {
                depth = depth.max(-point.x);
            }
        }
    }
    depth
}
