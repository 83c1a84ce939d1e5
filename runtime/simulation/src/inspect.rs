//! Inspection of agents (inputs, requests and routes), junctions and roads.

pub(crate) mod junction;
pub(crate) mod road;

pub use junction::{
    ApproachLane, HeadVehicle, JunctionInspection, ProgrammeInspection, Turning, Waiting,
};
pub use road::{
    AlleyInspection, LaneInspection, PlannedLane, RoadCell, RoadInspection, RoadVehicle,
};

use crate::hands::{HandControls, Hands};
use crate::modules::Modules;
use crate::perception::{Look, View};
use crate::records::{AgentIndex, Command};
use crate::snapshot::MechanicsRecord;
use crate::traffic::Waits;
use crate::world::World;
use glam::DVec2;
use roadwright_control::LateralModel;
use roadwright_geometry::{Pose, unit};
use roadwright_plugin_api::{ControllerInput, ControllerOutput, NOTHING};
use roadwright_scenario::{DynamicsLevel, NodeId, RoadId};

/// The route is reported up to this distance ahead, m.
const PATH_REACH: f64 = 400.0;

impl World {
    /// Returns the state of an agent for inspection; `None` if the agent is not driving.
    pub fn inspect(&self, id: u64) -> Option<Inspection> {
        let commands = &self.agents.command;
        let seen = inspect(&self.view(), &self.modules, &self.hands, commands, id)?;
        Some(Inspection {
            waits: self.waits(id),
            ..seen
        })
    }

    /// Reason why an agent waits at a junction; `None` if it does not wait, or does not drive.
    fn waits(&self, id: u64) -> Option<Waits> {
        self.waits_of(self.agents.census().find(id)?)
    }

    /// Inspects the junction at a node: its control, signals, queues and tickets, and which
    /// vehicles wait for which others. `None` if there is no junction at this node. Computed on
    /// demand: O(vehicles in the junction and approaching it).
    pub fn inspect_junction(&self, node: NodeId) -> Option<JunctionInspection> {
        junction::inspect(self, node)
    }

    /// Inspects a road: its lanes with their cells, its vehicles and their routes. `None` if it has
    /// no drivable lane. Computed on demand: O(cells and vehicles of the road).
    pub fn inspect_road(&self, road: RoadId) -> Option<RoadInspection> {
        road::inspect(self, road)
    }
}

/// The linear model that a controller uses to follow a path, with the current state of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Followed {
    /// Model at the current speed of the vehicle, or at 1 m/s if the vehicle is slower.
    pub model: LateralModel,
    /// Value of each state of the model. The first two are the offset to the left of the path (m)
    /// and the heading relative to the path (rad). They apply to the rear axle or, in reverse, to
    /// the axle of the first trailer.
    pub state: Vec<f64>,
}

/// State of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// Id of the agent.
    pub agent: u64,
    /// Name of the agent's stack.
    pub stack: String,
    /// Level of dynamics of the agent's body.
    pub dynamics: DynamicsLevel,
    /// Id of the agent's controller.
    pub controller: &'static str,
    /// Current inputs of the agent's controller.
    pub input: ControllerInput,
    /// Last output of the agent's controller.
    pub command: ControllerOutput,
    /// The linear model that the controller uses for steering, with its state; `None` if the
    /// controller uses none.
    pub following: Option<Followed>,
    /// Points along the next 400 m of the agent's route, m.
    pub path: Vec<DVec2>,
    /// The point that the agent steers towards, m.
    pub pursuit: Option<DVec2>,
    /// Line from the agent's front to the nearest point of the nearest obstacle that obstructs it,
    /// m.
    pub obstacle: Option<(DVec2, DVec2)>,
    /// Remaining goals of the agent, m.
    pub goals: Vec<DVec2>,
    /// Reason why the agent waits at a junction, if it waits.
    pub waits: Option<Waits>,
    /// Engine and wheels of the agent's vehicle, on levels that model them.
    pub mechanics: Option<MechanicsRecord>,
    /// Controls of the agent, if it is under manual control.
    pub by_hand: Option<HandControls>,
}

/// Returns the state of an agent for inspection; `None` if the agent is not driving.
pub(crate) fn inspect(
    view: &View<'_>,
    modules: &Modules,
    hands: &Hands,
    commands: &[Command],
    id: u64,
) -> Option<Inspection> {
    let agent = view.agents.find(id)?;
    let who = &view.agents.identity[agent.index()];
    let controller = modules.controller(who.modules);
    // The inputs are perceived again for the controller, because the rows of a step are not kept.
    let look = Look::of(controller);
    let input = view.controller_input(agent, look);
    let following = look.parts.map(|_| {
        let input = view.path_input(agent, look);
        let model = LateralModel::of(&input, input.seen.speed.max(1.0));
        Followed {
            state: model.state(&input),
            model,
        }
    });
    let pose = view.bodies().pose(agent);
    let front = Pose {
        position: pose.point(view.types.get(who.vehicle_type).front, 0.0),
        ..pose
    };
    let seen = |from: Pose, distance: f64, angle: f64| {
        from.position + distance * unit(from.heading + angle)
    };
    // Controller inputs are distances and angles, which are converted back to points for display.
    let steers = input.waypoint_distance > 0.0 && input.waypoint_distance < NOTHING;
    let is_hindered = input.obstacle_distance < NOTHING;
    let command = commands[agent.index()];
    Some(Inspection {
        agent: id,
        stack: modules.names[who.stack as usize].clone(),
        dynamics: who.level,
        controller: controller.info.id,
        command: ControllerOutput {
            acceleration: command.acceleration,
            steering: command.steering,
        },
        following,
        path: path_ahead(view, agent, PATH_REACH),
        pursuit: steers.then(|| seen(pose, input.waypoint_distance, input.waypoint_angle)),
        obstacle: is_hindered.then(|| {
            let point = seen(front, input.obstacle_distance, input.obstacle_angle);
            (front.position, point)
        }),
        goals: goals_ahead(view, agent),
        // Filled in by the world, which has access to the grants of junctions.
        waits: None,
        mechanics: view.bodies().mechanics(agent, view.types),
        by_hand: hands.controls(id),
        input,
    })
}

fn path_ahead(view: &View<'_>, agent: AgentIndex, mut reach: f64) -> Vec<DVec2> {
    let index = agent.index();
    let (position, progress) = (&view.agents.position[index], &view.agents.progress[index]);
    let route = view.routes.get(progress.route);
    let mut points = vec![view.bodies().pose(agent).position];
    if !position.is_on_lane() {
        if let Some(path) = route.path_to(progress.reached) {
            let line = path.line();
            let passed = (position.s.max(0.0) / line.spacing()) as usize;
            points.extend(line.points().skip(passed + 1));
        }
        // A planned path ends where the search ended. It is not known yet how the agent continues,
        // so no straight line is drawn from there, which might cross obstacles.
        if route.planned_to(progress.reached).is_none() {
            points.extend(goals_ahead(view, agent));
        }
        return points;
    }
    let graph = view.ground.graph();
    for stretch in route.stretches(graph, progress.at, position.s.max(0.0)) {
        stretch.append_to(&mut points, graph);
        reach -= stretch.length();
        if reach < 0.0 {
            break;
        }
    }
    points
}

fn goals_ahead(view: &View<'_>, agent: AgentIndex) -> Vec<DVec2> {
    let progress = &view.agents.progress[agent.index()];
    let goals = &view.routes.get(progress.route).goals;
    let ahead = goals.iter().skip(progress.reached as usize);
    ahead
        .map(|goal| goal.position(view.ground.graph()))
        .collect()
}
