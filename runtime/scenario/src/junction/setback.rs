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
use super::{Junction, LaneEnd};
use crate::scenario::Scenario;
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
/// Whose front is farther before its rear axle swings out in turns, m: a bus has 8 m, a large van 4.4 m.
const LONG: f64 = 5.5;

/// Whether vehicles that swing out in turns drive in a scenario: as agents or in flows.
///
/// Only then stop lines are set back as far as those need ([`Junction::setbacks`]).
pub fn has_long_vehicles(scenario: &Scenario) -> bool {
    let types = scenario.vehicle_types();
    let is_long = |name: &str| types.get(name).is_some_and(|kind| kind.front() > LONG);
    scenario
        .agents()
        .values()
        .any(|agent| is_long(&agent.vehicle))
        || scenario.flows().values().any(|flow| is_long(&flow.vehicle))
}

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
        let mut setbacks: Vec<(LaneEnd, f64)> = Vec::new();
        for (lane, pose) in lanes {
            let depth = self.swept(lane, pose, body);
            if depth > 0.0 {
                setbacks.push((lane, (depth + GAP).min(MOST)));
            }
        }
        setbacks
    }

    /// How far before its end bodies swing over a lane, m.
    fn swept(&self, lane: LaneEnd, pose: Pose, body: Body) -> f64 {
        let mut depth: f64 = 0.0;
        // Whoever comes from the same arm is behind its own line, and turns away from there.
        let others = self
            .paths
            .iter()
            .filter(|path| (path.from.road, path.from.end) != (lane.road, lane.end));
        for curve in others.filter_map(|path| path.curve.as_ref()) {
            let steps = (curve.length() / STEP).ceil() as usize;
            let along = (body.length() / ALONG).ceil() as usize;
            for i in 0..=steps {
                let at = curve.pose(curve.length() * i as f64 / steps.max(1) as f64);
                // Its middle lies beside the lane, or no part of it does.
                if (at.point(0.5 * body.front, 0.0) - pose.position).length() > body.front + MOST {
                    continue;
                }
                for half in [-0.5 * body.width, 0.5 * body.width] {
                    for k in 0..=along {
                        let ahead = body.length() * k as f64 / along as f64 - body.rear;
                        let place = pose.to_local(at.point(ahead, half));
                        if place.x < 0.0 && place.y.abs() < HALF {
                            depth = depth.max(-place.x);
                        }
                    }
                }
            }
        }
        depth
    }
}
