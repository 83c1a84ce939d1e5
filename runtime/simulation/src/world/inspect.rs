//! Looking into one agent: what it is told, what it wants, where it goes.

use super::World;
use crate::way::Goal;
use glam::DVec2;
use roadwright_agent::Slot;
use roadwright_geometry::{Pose, unit};
use roadwright_plugin_api::{ControllerInput, ControllerOutput, NOTHING};

/// How far ahead the way is told, m.
const PATH_REACH: f64 = 400.0;

/// What goes on in one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// The agent.
    pub agent: u64,
    /// Name of its stack.
    pub stack: String,
    /// Id of its controller.
    pub controller: &'static str,
    /// What its controller is told now.
    pub input: ControllerInput,
    /// What its controller last wanted.
    pub command: ControllerOutput,
    /// Its way from here on, at most 400 m, m.
    pub path: Vec<DVec2>,
    /// The point that it steers at, m.
    pub pursuit: Option<DVec2>,
    /// From its front to the nearest point of the nearest obstacle in its way, m.
    pub obstacle: Option<(DVec2, DVec2)>,
    /// The goals that it has not reached yet, m.
    pub goals: Vec<DVec2>,
}

impl World {
    /// Looks into an agent that drives; `None` for others.
    pub fn inspect(&self, id: u64) -> Option<Inspection> {
        let agent = self
            .movers
            .iter()
            .position(|m| m.id == id && m.is_active())?;
        let mover = &self.movers[agent];
        let stack = mover.stack as usize;
        let controller = mover.modules[Slot::Controller as usize] as usize;
        let controller = &self.banks.controllers.running[controller].module;
        let lookahead = controller.lookahead();
        let input = self.view().controller_input(agent as u32, lookahead);
        let pose = mover.state.pose;
        let front = Pose {
            position: pose.point(self.kinds[mover.kind as usize].front, 0.0),
            ..pose
        };
        let seen = |from: Pose, distance: f64, angle: f64| {
            from.position + distance * unit(from.heading + angle)
        };
        let steers = input.waypoint_distance > 0.0 && input.waypoint_distance < NOTHING;
        let hindered = input.obstacle_distance < NOTHING;
        Some(Inspection {
            agent: id,
            stack: self.stack_names[stack].clone(),
            controller: controller.info.id,
            command: mover.command,
            path: self.path_ahead(agent),
            pursuit: steers.then(|| seen(pose, input.waypoint_distance, input.waypoint_angle)),
            obstacle: hindered.then(|| {
                let point = seen(front, input.obstacle_distance, input.obstacle_angle);
                (front.position, point)
            }),
            goals: self.goals_ahead(agent),
            input,
        })
    }

    fn path_ahead(&self, agent: usize) -> Vec<DVec2> {
        let mover = &self.movers[agent];
        let mut points = vec![mover.state.pose.position];
        if !mover.on_lane() {
            points.extend(self.goals_ahead(agent));
            return points;
        }
        let mut reach = PATH_REACH;
        let last_goal = self.ways[agent].goals.last();
        for (number, &id) in self.ways[agent]
            .path
            .iter()
            .enumerate()
            .skip(mover.cursor as usize)
        {
            let line = self.roads.graph.line(id);
            let from = if number == mover.cursor as usize {
                mover.s.max(0.0)
            } else {
                0.0
            };
            let is_last = number + 1 == self.ways[agent].path.len();
            let to = match last_goal {
                Some(Goal::Lanelet { s, .. }) if is_last => *s,
                _ => line.length(),
            };
            let steps = ((to - from) / 2.0).ceil().max(1.0);
            for step in 0..=steps as usize {
                points.push(line.position(from + (to - from) * step as f64 / steps));
            }
            reach -= to - from;
            if reach < 0.0 {
                break;
            }
        }
        points
    }

    fn goals_ahead(&self, agent: usize) -> Vec<DVec2> {
        let reached = self.movers[agent].goals_reached as usize;
        let goals = self.ways[agent].goals.iter().skip(reached);
        goals.map(|goal| self.place_of(goal)).collect()
    }

    pub(super) fn place_of(&self, goal: &Goal) -> DVec2 {
        match *goal {
            Goal::Ground(place) => place,
            Goal::Lanelet { lanelet, s } => self.roads.graph.line(lanelet).position(s),
        }
    }
}
