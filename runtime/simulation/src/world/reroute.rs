//! The planning stage: new ways for those who are stuck.

use super::World;
use crate::roads::PROFILE_BRAKING;
use crate::way::Goal;
use roadwright_plugin_api::PlannerInput;

/// An agent that has stood this long looks for another way, s; and again after as long.
const REROUTE_AFTER: f64 = 15.0;
/// A lane change that has not come about this close to the end of the lane is given up, m.
const GIVE_UP_DISTANCE: f64 = 12.0;

/// Why a route is planned again.
enum Trigger {
    Stuck,
    TooLate,
}

impl World {
    /// New ways for those who stand for long or cannot change lanes in time.
    pub(super) fn plan(&mut self) {
        let mut due = std::mem::take(&mut self.batches.due);
        due.list(&self.banks.planners, &self.movers, self.step);
        for place in 0..self.banks.planners.running.len() {
            for &agent in due.of(place).0 {
                if let Some((trigger, from, input)) = self.reroute_question(agent) {
                    match trigger {
                        Trigger::Stuck => self.replans.stuck += 1,
                        Trigger::TooLate => self.replans.too_late += 1,
                    }
                    self.reroute(agent, from, input);
                }
            }
        }
        self.batches.due = due;
    }

    /// Whether an agent needs another way and why, and from which index of its path.
    fn reroute_question(&self, agent: u32) -> Option<(Trigger, u32, PlannerInput)> {
        let mover = &self.movers[agent as usize];
        let way = &self.ways[agent as usize];
        let Some(Goal::Lanelet {
            lanelet: goal_strip,
            s: goal_s,
        }) = way.next_goal(mover.goals_reached)
        else {
            return None;
        };
        let since = (self.step - mover.planned_at) as f64 * self.dt;
        let stuck = mover.waiting > REROUTE_AFTER && since > REROUTE_AFTER;
        let remaining = self.roads.lanelet(mover.lanelet).length() - mover.s;
        let speed = mover.state.speed;
        let braking = speed * speed / (2.0 * PROFILE_BRAKING);
        let changes = self.view().lane_change_needed(mover, way) != 0.0;
        let too_late = changes && remaining < GIVE_UP_DISTANCE.max(braking) && since > 1.0;
        let trigger = match (too_late, stuck) {
            (true, _) => Trigger::TooLate,
            (false, true) => Trigger::Stuck,
            (false, false) => return None,
        };
        // What has been granted is kept.
        let from = if mover.granted_to > mover.cursor + 1 {
            mover.granted_to
        } else {
            mover.cursor
        };
        let lanelet = way.lanelet(from)?;
        let goal_at = *way.goal_at.get(mover.goals_reached as usize)?;
        if from > goal_at {
            return None;
        }
        let near_end = from == mover.cursor && remaining < 2.0 * GIVE_UP_DISTANCE;
        let input = PlannerInput {
            strip: lanelet,
            s: if from == mover.cursor { mover.s } else { 0.0 },
            goal_strip,
            goal_s,
            bus: u32::from(self.kinds[mover.kind as usize].bus),
            may_change_first: u32::from(!too_late && !near_end),
        };
        Some((trigger, from, input))
    }

    fn reroute(&mut self, agent: u32, from: u32, input: PlannerInput) {
        let planner = self.banks.planner_of(&self.movers[agent as usize]);
        let view = self.planner_view();
        let leg = planner.route(&view, input);
        let mover = &mut self.movers[agent as usize];
        mover.planned_at = self.step;
        let Some(leg) = leg else { return };
        self.ways[agent as usize].replace_leg(from, mover.goals_reached, &leg);
        mover.asked_for = 0;
    }
}
