//! Moving agents: the vehicle model, and their place on the lanelets of their way.

use crate::kind::Kind;
use crate::mover::{Mover, Status};
use crate::roads::Roads;
use crate::way::{Goal, Way};
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::lane_graph::NO_LANELET;
use roadwright_vehicle::OneTrackState;

/// A goal on open ground counts as reached within this, m (source 003, chapter 12).
const GROUND_GOAL_RADIUS: f64 = 6.0;
/// Standing between two lanes for longer ends a lane change, s.
const HALF_WAY_PATIENCE: f64 = 3.0;
/// Below this speed an agent counts as standing, m/s.
const STANDING: f64 = 0.1;

/// Moves one agent by a step.
#[inline]
pub(crate) fn advance(
    mover: &mut Mover,
    way: &Way,
    kind: &Kind,
    roads: &Roads,
    time: f64,
    dt: f64,
) {
    let command = mover.command;
    let before = mover.state;
    mover.state = roadwright_vehicle::step(
        &mover.state,
        &kind.limits,
        command.acceleration,
        command.steering,
        dt,
    );
    count_drive(mover, &before, dt);
    mover.waiting = if mover.state.speed < STANDING {
        mover.waiting + dt
    } else {
        0.0
    };
    if mover.on_lane() {
        follow_lanelets(mover, way, roads);
    }
    reach_goals(mover, way, time + dt);
}

/// Counts how far and how smoothly it went.
#[inline]
fn count_drive(mover: &mut Mover, before: &OneTrackState, dt: f64) {
    let now = &mover.state;
    let drive = &mut mover.drive;
    drive.distance += (now.pose.position - before.pose.position).length();
    let acceleration = (now.speed - before.speed) / dt;
    let jerk = if drive.steps > 0 {
        (acceleration - drive.acceleration) / dt
    } else {
        0.0
    };
    let lateral = now.speed * wrap_angle(now.pose.heading - before.pose.heading) / dt;
    drive.acceleration = acceleration;
    drive.squared_acceleration += acceleration * acceleration;
    drive.squared_jerk += jerk * jerk;
    drive.squared_lateral_acceleration += lateral * lateral;
    drive.steps += 1;
}

/// Finds the new place on the lanelet, or on the next one.
fn follow_lanelets(mover: &mut Mover, way: &Way, roads: &Roads) {
    let position = mover.state.pose.position;
    loop {
        let lanelet = roads.lanelet(mover.lanelet);
        (mover.s, mover.t) = roads.graph.line(mover.lanelet).project(position, mover.s);
        let next = way.lanelet(mover.cursor + 1);
        match next {
            Some(next)
                if mover.s >= lanelet.length()
                    && roads.graph.successors(mover.lanelet).contains(&next) =>
            {
                mover.s -= lanelet.length();
                mover.lanelet = next;
                mover.cursor += 1;
                mover.shadow = NO_LANELET;
            }
            _ => break,
        }
    }
    // The old lane is free once the body is out of it, or when the agent has come to stand half-way
    // and has to get on from there.
    if mover.shadow != NO_LANELET && (mover.t.abs() < 0.5 || mover.waiting > HALF_WAY_PATIENCE) {
        mover.shadow = NO_LANELET;
    }
}

/// Counts goals that are reached, and retires the agent at the last one.
fn reach_goals(mover: &mut Mover, way: &Way, time: f64) {
    while let Some(goal) = way.next_goal(mover.goals_reached) {
        let reached = match goal {
            Goal::Ground(place) => {
                (mover.state.pose.position - place).length() < GROUND_GOAL_RADIUS
            }
            Goal::Lanelet { s, .. } => {
                let at = way.goal_at[mover.goals_reached as usize];
                mover.cursor > at || (mover.cursor == at && mover.s >= s)
            }
        };
        if !reached {
            return;
        }
        let is_last = mover.goals_reached as usize + 1 == way.goals.len();
        if is_last && mover.holds_arrival {
            mover.has_arrived = true;
            return;
        }
        mover.goals_reached += 1;
        if is_last {
            mover.status = Status::Arrived;
            mover.drive.ended = time;
            return;
        }
    }
}
