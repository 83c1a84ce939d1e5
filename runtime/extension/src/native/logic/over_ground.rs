//! Asks a library for paths on open ground and checks every path. If the library leaves a row open
//! or gives a path that the vehicle cannot drive, the host searches for a path itself.

use super::{Active, Native};
use crate::lock::locked;
use crate::native::backend::{Batch, Fault, MOST_POSES, bytes_of, bytes_of_mut};
use crate::native::cell::now;
use crate::native::kind::{AsGroundPlanner, Kind};
use roadwright_agent::{
    GroundAnswer, GroundPlanner, GroundPlanning, GroundReason, Needs, ParameterSet, Searcher, Step,
    Views,
};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_plugin_api::abi::{
    GROUND_ANY_HEADING, GROUND_NO_REVERSE, NO_PATH_GOAL_BLOCKED, NO_PATH_GOAL_WALLED_IN,
    NO_PATH_START_BLOCKED, NO_PATH_START_WALLED_IN, NO_PATH_UNKNOWN, ROW_KEEP, ROW_NOT_WRITTEN,
    ROW_OK,
};
use roadwright_plugin_api::{GroundPlannerInput, GroundPlannerOutput, PlanPose};

/// Maximum distance between consecutive poses, m.
const LONGEST_PIECE: f64 = 2.0;
/// Maximum distance of the first pose from the start, m, and maximum difference in heading, rad.
const AT_START: (f64, f64) = (0.3, 0.05);
/// Factor by which the curvature of a path may exceed the requested maximum curvature.
const SHARPER: f64 = 1.3;
/// Tolerance that is added to the permitted change of heading, rad.
const TURNED: f64 = 0.02;
/// Maximum angle between the direction to the next pose and the heading, rad. The vehicle cannot drive sideways.
const SIDEWAYS: f64 = 0.4;
/// Minimum distance between two poses for the direction from one to the next to be checked, m.
const APART: f64 = 0.05;
/// Maximum distance of a pose outside the bounds, m.
const OUTSIDE: f64 = 1.0;
/// Tolerance for rounding.
const ROUNDING: f64 = 1e-6;
/// Maximum coordinate (m) and heading (rad) of a pose.
const FARTHEST: f64 = 1e7;

impl GroundPlanner for Native<AsGroundPlanner> {
    /// Returns the settings of `drivable_path`. Parameters with the same keys have the values of
    /// the plugin's parameters.
    fn planning(&self, parameters: &ParameterSet) -> GroundPlanning {
        let mut own = self.fallback.parameters.clone();
        for info in self.fallback.parameters.infos() {
            if let Some(value) = parameters.get(info.key) {
                // If a value is out of range, the default stays.
                let _ = own.set(info.key, value);
            }
        }
        GroundPlanning {
            searcher: Searcher::Module {
                grid: self.needs().and_then(|needs| needs.grid),
            },
            ..self.fallback.logic.planning(&own)
        }
    }

    fn needs(&self) -> Option<Needs> {
        self.active.as_ref().and_then(|active| active.needs)
    }

    fn search(
        &self,
        step: &Step<'_>,
        views: &Views<'_>,
        input: &GroundPlannerInput,
        poses: &mut Vec<PlanPose>,
    ) -> GroundAnswer {
        let Some(active) = &self.active else {
            self.note_out(step.ids);
            return GroundAnswer::ByHost;
        };
        let _one = locked(&self.one_at_a_time);
        let mut buffer = locked(&self.poses);
        buffer.resize(MOST_POSES, PlanPose::default());
        let mut output = GroundPlannerOutput::default();
        let mut status = [ROW_NOT_WRITTEN];
        let seeds = [step.seed_of(step.ids[0])];
        let began = now();
        let mut batch = Batch {
            step: *step,
            seeds: &seeds,
            inputs: bytes_of(std::slice::from_ref(input)),
            outputs: bytes_of_mut(std::slice::from_mut(&mut output)),
            by_pedals: false,
            views: active.needs.is_some().then_some(*views),
            status: &mut status,
            roads: None,
            delays: &[],
            route: &mut [],
            route_length: 0,
            poses: &mut buffer,
            pose_length: 0,
        };
        let answered = self.ask_for_path(active, &mut batch);
        let length = batch.pose_length as usize;
        let seconds = began.elapsed().as_secs_f64();
        let answer = match &answered {
            Ok(_) => answer_of(status[0], input, &output, &buffer[..length], poses),
            Err(_) => Ok(GroundAnswer::ByHost),
        };
        self.note_path(step, input, seconds, answered, answer)
    }
}

impl Native<AsGroundPlanner> {
    /// Asks the library for a path. If the library has failed since the last boundary, the row is not answered.
    fn ask_for_path(&self, active: &Active, batch: &mut Batch<'_>) -> Result<bool, Fault> {
        if let Some(fault) = &locked(&self.health).fault {
            return Err(fault.clone());
        }
        let _call = self.cell.enter(&active.generation, active.is_isolated);
        active.backend.step(batch)
    }

    /// Records how a call ended. Returns the answer to use.
    fn note_path(
        &self,
        step: &Step<'_>,
        input: &GroundPlannerInput,
        seconds: f64,
        answered: Result<bool, Fault>,
        answer: Result<GroundAnswer, String>,
    ) -> GroundAnswer {
        let is_by_host = !matches!(answer, Ok(answer) if answer != GroundAnswer::ByHost);
        self.cell.note_time(1, seconds, u64::from(is_by_host));
        let is_wrong = answered.is_err() || answer.is_err();
        if self.note_single(step, answered, is_wrong).is_err() {
            return GroundAnswer::ByHost;
        }
        answer.unwrap_or_else(|flaw| {
            let subject = format!("agent {}", step.ids[0]);
            self.note_invalid(step, &flaw, &subject, input);
            GroundAnswer::ByHost
        })
    }
}

/// Reads a row that a library has written, and takes its path. The error describes what is wrong with the row.
fn answer_of(
    status: u8,
    input: &GroundPlannerInput,
    output: &GroundPlannerOutput,
    buffer: &[PlanPose],
    poses: &mut Vec<PlanPose>,
) -> Result<GroundAnswer, String> {
    let expanded = output.expanded;
    match status {
        ROW_NOT_WRITTEN => Ok(GroundAnswer::ByHost),
        ROW_KEEP if expanded > input.expanded => Ok(GroundAnswer::Searching { expanded }),
        ROW_KEEP => Err("RW_ROW_KEEP without further expansions".into()),
        ROW_OK if output.count == 0 => {
            let reason = reason_of(output.reason)?;
            Ok(GroundAnswer::NoPath { expanded, reason })
        }
        ROW_OK => {
            let end = output.start.saturating_add(output.count) as usize;
            let path = buffer.get(output.start as usize..end);
            let path = path.ok_or("a path outside the pose buffer")?;
            if let Some(flaw) = AsGroundPlanner::flaw(output) {
                return Err(flaw.into());
            }
            check_path(input, path)?;
            poses.extend_from_slice(path);
            Ok(GroundAnswer::Found { expanded })
        }
        _ => Err(format!("no answer (status {status})")),
    }
}

fn reason_of(number: u32) -> Result<Option<GroundReason>, String> {
    Ok(match number {
        NO_PATH_UNKNOWN => None,
        NO_PATH_START_BLOCKED => Some(GroundReason::StartBlocked),
        NO_PATH_GOAL_BLOCKED => Some(GroundReason::GoalBlocked),
        NO_PATH_START_WALLED_IN => Some(GroundReason::StartWalledIn),
        NO_PATH_GOAL_WALLED_IN => Some(GroundReason::GoalWalledIn),
        other => return Err(format!("unknown reason {other}")),
    })
}

/// Checks that a vehicle can drive a path from start to goal. The error describes what is wrong.
pub(crate) fn check_path(input: &GroundPlannerInput, path: &[PlanPose]) -> Result<(), String> {
    let ([first, ..], [.., last]) = (path, path) else {
        return Err("a path without poses".into());
    };
    if path.len() < 2 {
        return Err("a path with only one pose".into());
    }
    for (number, pose) in path.iter().enumerate() {
        check_pose(input, pose, number == 0).map_err(|what| format!("{what} at pose {number}"))?;
    }
    let place = |pose: &PlanPose| DVec2::new(pose.x, pose.y);
    let turn = |pose: &PlanPose, heading: f64| wrap_angle(pose.heading - heading).abs();
    let start = DVec2::new(input.start_x, input.start_y);
    let away = (place(first) - start).length();
    if away > AT_START.0 || turn(first, input.start_heading) > AT_START.1 {
        return Err(format!("a path that begins {away:.2} m from the start"));
    }
    let goal = DVec2::new(input.goal_x, input.goal_y);
    let away = (place(last) - goal).length();
    if away > input.goal_distance + ROUNDING {
        return Err(format!("a path that ends {away:.2} m from the goal"));
    }
    let turned = turn(last, input.goal_heading);
    if input.flags & GROUND_ANY_HEADING == 0 && turned > input.goal_turn + ROUNDING {
        return Err(format!(
            "a path that ends with a heading {turned:.2} rad from that of the goal"
        ));
    }
    for (number, pair) in path.windows(2).enumerate() {
        check_piece(input, &pair[0], &pair[1])
            .map_err(|what| format!("{what} after pose {number}"))?;
    }
    Ok(())
}

fn check_pose(input: &GroundPlannerInput, pose: &PlanPose, is_first: bool) -> Result<(), String> {
    // NaN is not within any limit.
    let is_finite = |value: f64| value.abs() <= FARTHEST;
    if ![pose.x, pose.y, pose.heading].into_iter().all(is_finite) {
        return Err("a pose that is not finite".into());
    }
    let is_beyond =
        |value: f64, low: f64, high: f64| !(low - OUTSIDE..=high + OUTSIDE).contains(&value);
    if is_beyond(pose.x, input.min_x, input.max_x) || is_beyond(pose.y, input.min_y, input.max_y) {
        return Err("a pose outside the bounds".into());
    }
    for (name, value) in [("speed", pose.speed), ("time", pose.time)] {
        if !(0.0..).contains(&value) {
            return Err(format!("a {name} of {value}"));
        }
    }
    let can_reverse = input.flags & GROUND_NO_REVERSE == 0;
    if !is_first && pose.gear != 1 && !(pose.gear == -1 && can_reverse) {
        return Err(format!("the gear {}", pose.gear));
    }
    Ok(())
}

/// Checks the movement from one pose to the next.
fn check_piece(input: &GroundPlannerInput, from: &PlanPose, to: &PlanPose) -> Result<(), String> {
    let way = DVec2::new(to.x - from.x, to.y - from.y);
    let length = way.length();
    if length > LONGEST_PIECE {
        return Err(format!("a gap of {length:.1} m"));
    }
    let turn = wrap_angle(to.heading - from.heading);
    if turn.abs() > SHARPER * input.curvature * length + TURNED {
        return Err(format!(
            "a bend of {turn:.3} rad within {length:.2} m, tighter than the minimum radius of \
             {:.1} m",
            1.0 / input.curvature
        ));
    }
    if length > APART {
        let along = match to.gear < 0 {
            true => -way,
            false => way,
        };
        let heading = from.heading + 0.5 * turn;
        if wrap_angle(roadwright_geometry::heading_of(along) - heading).abs() > SIDEWAYS {
            return Err("a step sideways or against the direction of its gear".into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_plugin_api::NOTHING;

    /// Creates a straight path from the start to the goal of the neutral row.
    fn straight() -> Vec<PlanPose> {
        let pose = |number: u32| PlanPose {
            x: f64::from(number),
            speed: NOTHING,
            time: NOTHING,
            gear: 1,
            ..PlanPose::default()
        };
        (0..=30).map(pose).collect()
    }

    #[test]
    fn paths_that_cannot_be_driven_are_refused_with_the_reason() {
        let input = AsGroundPlanner::neutral();
        assert_eq!(check_path(&input, &straight()), Ok(()));
        type Change = fn(&mut Vec<PlanPose>);
        let wrong: [(&str, Change); 14] = [
            ("a path without poses", |path| path.clear()),
            ("only one pose", |path| path.truncate(1)),
            ("not finite at pose 3", |path| path[3].y = f64::NAN),
            ("outside the bounds at pose 3", |path| path[3].y = 42.0),
            ("a speed of -1 at pose 0", |path| path[0].speed = -1.0),
            ("a time of NaN at pose 9", |path| path[9].time = f64::NAN),
            ("the gear 0 at pose 4", |path| path[4].gear = 0),
            ("begins 1.00 m from the start", |path| {
                path.remove(0);
            }),
            ("ends 1.00 m from the goal", |path| {
                path.pop();
            }),
            ("a gap of 3.0 m after pose 1", |path| {
                path.drain(2..4);
            }),
            ("a bend of 0.500 rad within 1.00 m", |path| {
                path[5].heading = 0.5;
            }),
            (
                "sideways or against the direction of its gear after pose 6",
                |path| {
                    path[7].gear = -1;
                },
            ),
            ("begins 0.00 m", |path| path[0].heading = 0.1),
            (
                "sideways or against the direction of its gear after pose 0",
                |path| {
                    (path[1].x, path[1].y) = (0.1, 1.0);
                },
            ),
        ];
        for (why, change) in wrong {
            let mut path = straight();
            change(&mut path);
            let flaw = check_path(&input, &path).unwrap_err();
            assert!(flaw.contains(why), "{why}: {flaw}");
        }
        let input = GroundPlannerInput {
            flags: 0,
            goal_heading: 0.2,
            goal_turn: 0.1,
            ..input
        };
        let flaw = check_path(&input, &straight()).unwrap_err();
        assert!(flaw.contains("heading 0.20 rad from that of the goal"));
    }

    #[test]
    fn a_search_goes_on_only_with_further_expansions() {
        let input = GroundPlannerInput {
            expanded: 100,
            ..AsGroundPlanner::neutral()
        };
        let answer = |status: u8, expanded: u64, reason: u32| {
            let output = GroundPlannerOutput {
                expanded,
                reason,
                ..GroundPlannerOutput::default()
            };
            answer_of(status, &input, &output, &[], &mut Vec::new())
        };
        let expanded = 150;
        assert_eq!(
            answer(ROW_KEEP, 150, 0),
            Ok(GroundAnswer::Searching { expanded })
        );
        assert!(answer(ROW_KEEP, 100, 0).is_err());
        let reason = Some(GroundReason::GoalWalledIn);
        let none = GroundAnswer::NoPath { expanded, reason };
        assert_eq!(answer(ROW_OK, 150, NO_PATH_GOAL_WALLED_IN), Ok(none));
        assert!(answer(ROW_OK, 150, 5).is_err());
        assert_eq!(answer(ROW_NOT_WRITTEN, 0, 0), Ok(GroundAnswer::ByHost));
        assert!(answer(3, 0, 0).is_err());
    }
}
