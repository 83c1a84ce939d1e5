//! Path planning of agents off the lanes.

use crate::agents::{AgentsRef, GroundColumns};
use crate::clock::Clock;
use crate::dynamics::{Bodies, Dynamics};
use crate::fixed::Fixed;
use crate::hands::Hands;
use crate::modules::{Modules, Rota};
use crate::move_trees::NextGoals;
use crate::open_ground::{
    Asked, Beyond, GroundPlans, KnownSteering, OnGround, Planner, SearchQuestion, Steering,
    SteeringKey, Step,
};
use crate::perception::{OPEN_GROUND_SPEED, ObjectList, ObjectScene, ObjectSources, Surroundings};
use crate::records::{AgentIndex, LaneSpot};
use crate::route::{Goal, Leg, Probe, Routes, SteeringResponse, Travel};
use crate::traffic::{Index, Traffic};
use crate::vehicle_type::{VehicleRecords, VehicleTypes};
use roadwright_agent::{
    GroundAnswer, GroundPlanner, GroundPlanning, GroundSearch, Module, Slot, Views,
};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::{tan, wrap_angle};
use roadwright_ground::Ground;
use roadwright_planning::open_ground::Disagreement;
use roadwright_plugin_api::{ControllerInput, ControllerOutput, NOTHING, NearData, PlanPose};
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::trailer::TrailerState;
use std::cell::RefCell;
use std::sync::Arc;

/// If a controller does not steer sharply enough at its lookahead distance, its steering is also
/// probed at these waypoint distances, m. Controllers that follow the circle to their waypoint
/// steer more sharply if the waypoint is nearer.
const PROBE_DISTANCES: [f64; 2] = [1.5, 0.5];
/// Maximum factor by which the sine of the angle to a waypoint may grow when the waypoint is moved
/// farther away, for a driver with unknown steering response.
const MOST_SHARPER: f64 = 4.0;
/// Speed allowed while the steering of a controller is probed, as a multiple of the speed on open ground. Fuzzy drivers
/// command at least a fifth of the allowed speed.
const UNHURRIED: f64 = 5.0;
/// Lower bound of the curvature limit of planned bends, 1/m. It applies even if the driver cannot
/// steer that sharply.
const LEAST_CURVATURE: f64 = 0.02;

/// Borrowed parts of the world that the stage reads, besides routes and agents.
#[derive(Clone, Copy)]
pub(crate) struct OffRoad<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) ground: &'a Arc<Ground>,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) modules: &'a Modules,
    pub(crate) dynamics: &'a Dynamics,
    pub(crate) hands: &'a Hands,
    pub(crate) index: &'a Index,
}

/// Buffers of the stage that plans over open ground, reused between steps.
#[derive(Default)]
pub(crate) struct GroundStage {
    rota: Rota,
    /// Objects of the world, for planners that request the objects around an agent.
    objects: ObjectList,
}

impl GroundStage {
    /// Memory used by the list of objects, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.objects.bytes()
    }
}

/// Data for planners that request the objects around an agent.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) sources: ObjectSources<'a>,
    pub(crate) traffic: &'a Traffic,
    /// Whether any planner requests trees.
    pub(crate) trees: bool,
}

/// Objects of the world, which are listed when a planner first requests them in a step.
struct Listed<'a> {
    objects: &'a mut ObjectList,
    around: Option<Around<'a>>,
    is_current: bool,
}

/// Whether any planner requests the objects around its agent, and whether any requests trees among
/// them.
pub(crate) fn wanted_objects(modules: &Modules) -> (bool, bool) {
    let instances = modules.pools.ground_planner.instances.iter();
    let modules = instances.filter_map(|instance| instance.modules.first());
    let near = modules.filter_map(|module| module.logic.needs()?.near);
    near.fold((false, false), |(_, trees), near| {
        (true, trees || near.trees)
    })
}

/// An agent that plans a path to a goal off the lanes, with its planning settings.
#[derive(Clone, Copy)]
struct Planned {
    agent: AgentIndex,
    id: u64,
    goal: DVec2,
    /// Place where the agent joins a lane at its goal; `None` if it does not join a lane.
    lane: Option<LaneSpot>,
    planning: GroundPlanning,
}

/// Plans paths for agents that are due for planning or have no plan yet. Returns the ids of agents for which
/// no path has been found in this call.
pub(crate) fn plan_ground(
    given: OffRoad<'_>,
    plans: &mut GroundPlans,
    stage: &mut GroundStage,
    around: Option<Around<'_>>,
    routes: &mut Routes,
    agents: &mut GroundColumns<'_>,
) -> Vec<u64> {
    let GroundStage { rota, objects } = stage;
    let planned = given.planned(routes, agents.lent());
    given.end_straight(routes, agents);
    let ids: Vec<u64> = planned.iter().map(|one| one.id).collect();
    plans.keep(&ids);
    if planned.is_empty() {
        return Vec::new();
    }
    let pool = &given.modules.pools.ground_planner;
    rota.update(pool, agents.census);
    given.update_map(plans, &planned, routes, agents.lent());
    if plans.anyone_calls(given.clock.time()) {
        let planners = planned.iter();
        let planners: Vec<Planner<'_>> = planners
            .map(|&one| given.planner(one, routes, agents.lent()))
            .collect();
        plans.agree(&planners);
    }
    let mut without_path = Vec::new();
    let known = RefCell::new(std::mem::take(&mut plans.steering));
    let listed = RefCell::new(Listed {
        objects,
        around,
        is_current: false,
    });
    // Agents plan in the order of ids, because they share the map. Other agents see a plan only in
    // later steps.
    for one in planned {
        let index = one.agent.index();
        let had_path = plans.has_path(one.id);
        let mut planner = given.planner(one, routes, agents.lent());
        planner.is_due = rota.is_due(one.agent, given.clock.step);
        if planner.standing > 0.0 && given.waits_for_gap(one.agent, routes, agents.lent()) {
            // The agent waits for a gap. It is not stuck, so it needs no manoeuvre.
            planner.standing = 0.0;
        }
        let asked = Asked {
            steering: &|| given.known_steering(one.agent, agents.lent(), &mut known.borrow_mut()),
            disagreement: &|| given.disagreement(one.agent, routes, agents.lent()),
            search: &|question, poses| {
                let listed = &mut listed.borrow_mut();
                given.search(one.agent, question, listed, routes, agents.lent(), poses)
            },
        };
        let step = plans.plan(&planner, &asked);
        if had_path && !plans.has_path(one.id) {
            without_path.push(one.id);
        }
        let leg = match step {
            Step::Stays => continue,
            Step::Follow(path) => Leg::Planned(path),
            Step::Exact(path, exact) => Leg::Exact(path, exact),
        };
        let reached = agents.progress[index].reached;
        let route = routes.get(agents.progress[index].route);
        let route = route.with_leg(reached, leg);
        Travel {
            routes: &mut *routes,
            progress: &mut agents.progress[index],
            claim: &mut agents.claim[index],
        }
        .move_to(route);
        let place = given.bodies(agents.lent()).pose(one.agent).position;
        let route = routes.get(agents.progress[index].route);
        if let Some(path) = route.path_to(reached) {
            let position = &mut agents.position[index];
            (position.s, position.t) = path.line().project(place, 0.0);
        }
    }
    plans.steering = known.into_inner();
    without_path
}

/// Updates the map to the state of the world, at the end of a step or after a change between two steps.
pub(crate) fn update_map(
    given: OffRoad<'_>,
    plans: &mut GroundPlans,
    routes: &Routes,
    agents: AgentsRef<'_>,
) {
    if plans.is_empty() {
        return;
    }
    let planned = given.planned(routes, agents);
    given.update_map(plans, &planned, routes, agents);
}

/// Returns the planning state of an agent that plans over open ground; `None` for other agents.
pub(crate) fn inspect(
    given: OffRoad<'_>,
    plans: &GroundPlans,
    routes: &Routes,
    agents: AgentsRef<'_>,
    id: u64,
    question: &crate::open_ground::GroundQuestion,
) -> Option<crate::open_ground::GroundInspection> {
    let planned = given.planned(routes, agents);
    let planned = planned.into_iter().find(|one| one.id == id)?;
    let disagreement = given.disagreement(planned.agent, routes, agents);
    let index = planned.agent.index();
    let (progress, position) = (&agents.progress[index], &agents.position[index]);
    let path = routes.get(progress.route).path_to(progress.reached);
    let ahead = path.map(|path| path.ahead(position.s).map(|(_, waypoint)| waypoint));
    let ahead = ahead
        .into_iter()
        .flatten()
        .filter(|_| !position.is_on_lane());
    let poses = ahead.chain(plans.waypoints_after_part(id)).map(|waypoint| {
        crate::open_ground::PlannedPose {
            pose: waypoint.pose,
            gear: waypoint.gear,
        }
    });
    let poses = poses.collect();
    let planner = given.planner(planned, routes, agents);
    let mut inspection = plans.inspect(&planner, disagreement, question)?;
    inspection.poses = poses;
    Some(inspection)
}

impl OffRoad<'_> {
    /// Returns the agents that plan over open ground, in the order of their ids.
    fn planned(&self, routes: &Routes, agents: AgentsRef<'_>) -> Vec<Planned> {
        let planned = agents.driving().filter_map(|agent| {
            let planning = self.planning(agent, agents)?;
            planning.search.uses_map().then_some(())?;
            let goal = self.goal(agent, routes, agents)?;
            Some(Planned {
                agent,
                id: agents.identity[agent.index()].id,
                goal: goal.position(self.ground.graph()),
                lane: match goal {
                    Goal::Join { lanelet, s } => Some(LaneSpot { lanelet, s }),
                    Goal::Ground(_) | Goal::Lane { .. } | Goal::Leave { .. } => None,
                },
                planning,
            })
        });
        let mut planned: Vec<Planned> = planned.collect();
        planned.sort_unstable_by_key(|one| one.id);
        planned
    }

    /// Whether any module plans with a move tree.
    pub(super) fn any_move_tree(&self) -> bool {
        let mut instances = self.modules.pools.ground_planner.instances.iter();
        instances.any(|instance| {
            instance.modules.first().is_some_and(|module| {
                let planning = module.logic.planning(&module.parameters);
                matches!(planning.search, GroundSearch::MoveTree(_))
            })
        })
    }

    pub(super) fn planning(
        &self,
        agent: AgentIndex,
        agents: AgentsRef<'_>,
    ) -> Option<GroundPlanning> {
        let index = agent.index();
        if agents.position[index].is_on_lane() {
            return None;
        }
        let who = &agents.identity[index];
        let planning = self.module(agent, agents)?.planning();
        Some(match who.level {
            DynamicsLevel::Walker => planning.on_foot(),
            _ => planning,
        })
    }

    /// Open-ground planner of an agent.
    fn module(
        &self,
        agent: AgentIndex,
        agents: AgentsRef<'_>,
    ) -> Option<&Module<dyn GroundPlanner>> {
        let who = &agents.identity[agent.index()];
        let instance = who.modules.of(Slot::GroundPlanner) as usize;
        let instance = self.modules.pools.ground_planner.instances.get(instance)?;
        instance.modules.first()
    }

    /// Lets an agent's module search for a path. Adds the data that the module has requested to the
    /// question.
    fn search(
        &self,
        agent: AgentIndex,
        question: &SearchQuestion<'_>,
        listed: &mut Listed<'_>,
        routes: &Routes,
        agents: AgentsRef<'_>,
        poses: &mut Vec<PlanPose>,
    ) -> GroundAnswer {
        let Some(module) = self.module(agent, agents) else {
            return GroundAnswer::ByHost;
        };
        let needs = module.logic.needs().unwrap_or_default();
        let who = &agents.identity[agent.index()];
        let records = &*self.types.records;
        let mut row = question.row;
        let mut views = Views {
            vehicles_version: records.version,
            ..Views::default()
        };
        let mut angles: Vec<f64>;
        if needs.vehicles {
            (views.vehicles, views.hitches) = (&records.vehicles, &records.hitches);
            row.vehicle = VehicleRecords::index(who.vehicle_type, who.level);
            angles = self.hitch_angles(agent, agents).collect();
            if let Some(first) = angles.first_mut() {
                *first = question.hitch;
            }
            row.hitch_count = angles.len() as u32;
            views.hitch_angles = &angles;
        }
        if let (Some(_), Some(map)) = (needs.grid, question.map) {
            (views.grids, views.cells) = (std::slice::from_ref(&map.data), &map.cells);
            row.grid = 0;
        }
        let mut near = Vec::new();
        if let (Some(wanted), Some(around)) = (&needs.near, listed.around) {
            let seen = self.surroundings(routes).with(agents);
            if !listed.is_current {
                listed.objects.renew(&seen, around.sources, around.trees);
                listed.is_current = true;
            }
            let fixed = Fixed {
                ground: self.ground,
                types: self.types,
            };
            let scene = ObjectScene {
                list: listed.objects,
                claims: &around.traffic.claims,
                setting: around.traffic.setting(self.clock, fixed, routes),
            };
            near.resize(wanted.most as usize, NearData::default());
            let found = seen.near(agent, wanted, scene, &mut near);
            near.truncate(found.near_count as usize);
            (row.near_count, row.near_more) = (found.near_count, found.near_more);
            row.object = found.object;
            views.near = &near;
            views.objects = listed.objects.seen(wanted);
        }
        let (indices, ids) = ([agent.number()], [who.id]);
        let step = roadwright_agent::Step {
            time: self.clock.time(),
            // The search continues in the next step.
            period: self.clock.dt,
            index: self.clock.step,
            seed: self.clock.seed,
            indices: &indices,
            ids: &ids,
        };
        module.logic.search(&step, &views, &row, poses)
    }

    /// Returns the goal off the lanes that an agent has to plan a path to. `None` if the agent has
    /// no such goal, follows a given path, or is under manual control.
    pub(super) fn goal(
        &self,
        agent: AgentIndex,
        routes: &Routes,
        agents: AgentsRef<'_>,
    ) -> Option<Goal> {
        let index = agent.index();
        if self.hands.reverses(agents.identity[index].id).is_some() {
            return None;
        }
        let progress = &agents.progress[index];
        let route = routes.get(progress.route);
        if route.given_path_to(progress.reached).is_some() {
            return None;
        }
        let goal = route.next_goal(progress.reached)?;
        goal.on_lane().is_none().then_some(goal)
    }

    /// Returns the next goals of an agent off the lanes, beginning with that of
    /// [`goal`](Self::goal). The list ends with the last goal of the trip, or earlier if it is full
    /// or the trip continues on lanes.
    pub(super) fn goals(
        &self,
        agent: AgentIndex,
        routes: &Routes,
        agents: AgentsRef<'_>,
    ) -> Option<NextGoals> {
        let first = self.goal(agent, routes, agents)?;
        let progress = &agents.progress[agent.index()];
        let graph = self.ground.graph();
        let mut next = NextGoals::new(first.position(graph));
        let later = routes.get(progress.route).goals.iter();
        for goal in later.skip(progress.reached as usize + 1) {
            match goal {
                Goal::Ground(place) if next.add(*place) => {}
                _ => break,
            }
        }
        Some(next)
    }

    pub(super) fn bodies<'b>(&'b self, agents: AgentsRef<'b>) -> Bodies<'b> {
        Bodies {
            ground: self.ground,
            agents,
            dynamics: self.dynamics,
        }
    }

    /// Returns the inputs of an agent's planner, and marks the agent as not due for planning.
    fn planner<'b>(
        &'b self,
        one: Planned,
        routes: &'b Routes,
        agents: AgentsRef<'b>,
    ) -> Planner<'b> {
        let index = one.agent.index();
        let kind = agents.identity[index].vehicle_type;
        let progress = &agents.progress[index];
        let path = routes.get(progress.route).planned_to(progress.reached);
        let position = &agents.position[index];
        let limits = &self.types.get(kind).limits;
        Planner {
            id: one.id,
            kind: self.types.get(kind),
            body: self.types.ground_body(kind),
            effects: self.types.ground_effects(kind),
            off_road: self.types.off_road(kind),
            body_kind: self.types.body(kind),
            pose: self.bodies(agents).pose(one.agent),
            speed: agents.motion[index].speed,
            curvature: {
                let kind = self.types.get(kind);
                let steering = self.bodies(agents).steering(one.agent, kind);
                tan(steering) / kind.limits.wheelbase
            },
            standing: progress.standing,
            train: self.types.train(kind),
            hitch: self.hitch(one.agent, agents),
            s: position.s,
            t: position.t,
            path,
            goal: one.goal,
            goal_heading: self.ground.arrival_heading(one.goal),
            lane: one.lane.map(|spot| Beyond {
                line: self.ground.graph().line(spot.lanelet),
                s: spot.s,
            }),
            ground: self.ground,
            planning: one.planning,
            top_speed: OPEN_GROUND_SPEED.min(limits.max_speed),
            now: self.clock.time(),
            step: self.clock.step,
            is_due: false,
            vehicle_type: self.types.key(kind),
        }
    }

    /// Angle between the headings of an agent's vehicle and its first trailer, rad; 0 without a trailer.
    fn hitch(&self, agent: AgentIndex, agents: AgentsRef<'_>) -> f64 {
        self.hitch_angles(agent, agents).next().unwrap_or(0.0)
    }

    /// Angle between each trailer of an agent and the body in front of it, rad.
    fn hitch_angles(
        &self,
        agent: AgentIndex,
        agents: AgentsRef<'_>,
    ) -> impl Iterator<Item = f64> + use<> {
        let train = (self.types).train(agents.identity[agent.index()].vehicle_type);
        let pose = self.bodies(agents).pose(agent);
        let towed = match train.is_empty() {
            true => Vec::new(),
            false => self.bodies(agents).towed(agent, pose, train),
        };
        let mut front = pose.heading;
        towed.into_iter().map(move |trailer: TrailerState| {
            let angle = wrap_angle(front - trailer.heading);
            front = trailer.heading;
            angle
        })
    }

    fn surroundings<'b>(&'b self, routes: &'b Routes) -> Surroundings<'b> {
        Surroundings {
            ground: self.ground,
            types: self.types,
            routes,
            index: self.index,
            dynamics: self.dynamics,
            claims: None,
        }
    }

    /// Whether an agent waits for a gap in the traffic of a road that it crosses or joins.
    fn waits_for_gap(&self, agent: AgentIndex, routes: &Routes, agents: AgentsRef<'_>) -> bool {
        self.surroundings(routes).with(agents).waits_for_gap(agent)
    }

    /// Reason why an agent's driver disagrees with its plan; `None` if it agrees.
    fn disagreement(
        &self,
        agent: AgentIndex,
        routes: &Routes,
        agents: AgentsRef<'_>,
    ) -> Option<Disagreement> {
        self.surroundings(routes).with(agents).disagreement(agent)
    }

    /// Returns a driver's steering. Each setting of a built-in controller is probed only once.
    fn known_steering(
        &self,
        agent: AgentIndex,
        agents: AgentsRef<'_>,
        known: &mut KnownSteering,
    ) -> Steering {
        let who = &agents.identity[agent.index()];
        let probe = || self.steering(agent, agents);
        let is_built_in = self
            .modules
            .controller(who.modules)
            .logic
            .version()
            .is_empty();
        match self.modules.controller_setting(who.modules) {
            Some(controller) if is_built_in => {
                let kind = self.types.get(who.vehicle_type);
                known.get(SteeringKey { controller, kind }, probe)
            }
            _ => probe(),
        }
    }

    /// Returns a driver's steering limits: those of the vehicle or, if the controller steers more
    /// gently, those of the controller. Only built-in controllers are probed, because other
    /// controllers might remember the artificial inputs of a probe.
    fn steering(&self, agent: AgentIndex, agents: AgentsRef<'_>) -> Steering {
        let who = &agents.identity[agent.index()];
        let limits = &self.types.get(who.vehicle_type).limits;
        let most = tan(limits.max_steering) / limits.wheelbase;
        let controller = self.modules.controller(who.modules);
        // Controllers that follow the path itself do not steer towards waypoints.
        let is_known = controller.logic.version().is_empty() && controller.path_parts().is_none();
        let response = is_known.then(|| self.response(agent, agents, most));
        let response = response.filter(|response| response.sharpest() > 0.0);
        let tightest = response.map_or(most, |response| response.sharpest());
        Steering {
            tightest: tightest.clamp(LEAST_CURVATURE.min(most), most),
            sharpest: MOST_SHARPER,
            response,
            pushes_trailers: controller.pushes_trailers(),
        }
    }

    /// Probes the steering response of a controller at its lookahead distance, or at a shorter
    /// waypoint distance if it steers more sharply there. `most` is the maximum curvature of the
    /// vehicle, 1/m.
    fn response(&self, agent: AgentIndex, agents: AgentsRef<'_>, most: f64) -> SteeringResponse {
        let who = &agents.identity[agent.index()];
        let farthest = self.modules.controller(who.modules).lookahead().distance;
        let mut best = self.response_at(agent, agents, farthest);
        for distance in PROBE_DISTANCES {
            if best.sharpest() >= most || distance >= farthest {
                continue;
            }
            let nearer = self.response_at(agent, agents, distance);
            if nearer.sharpest() > best.sharpest() {
                best = nearer;
            }
        }
        best
    }

    fn response_at(
        &self,
        agent: AgentIndex,
        agents: AgentsRef<'_>,
        distance: f64,
    ) -> SteeringResponse {
        const STEERING: usize = SteeringResponse::PROBES;
        const COUNT: usize = STEERING + SteeringResponse::PACE_PROBES;
        let who = &agents.identity[agent.index()];
        let kind = self.types.get(who.vehicle_type);
        let limits = &kind.limits;
        let mut questions = [ControllerInput::default(); COUNT];
        // Steering is probed at speeds below the commanded one, because some drivers steer less
        // above it.
        let steering =
            SteeringResponse::probes().map(|probe| (probe, UNHURRIED * OPEN_GROUND_SPEED));
        let paces = SteeringResponse::pace_probes(OPEN_GROUND_SPEED);
        let paces = paces.map(|probe| (probe, OPEN_GROUND_SPEED));
        for (question, (probe, road_speed)) in questions.iter_mut().zip(steering.chain(paces)) {
            let Probe { speed, angle } = probe;
            *question = ControllerInput {
                speed,
                road_speed,
                wheelbase: limits.wheelbase,
                length: kind.length,
                waypoint_distance: distance,
                waypoint_angle: angle,
                leader_gap: NOTHING,
                stop_distance: NOTHING,
                obstacle_distance: NOTHING,
                ..ControllerInput::default()
            };
        }
        let (indices, ids) = ([agent.number(); COUNT], [who.id; COUNT]);
        let step = roadwright_agent::Step {
            indices: &indices,
            ids: &ids,
            ..roadwright_agent::Step::default()
        };
        let mut answers = [ControllerOutput::default(); COUNT];
        let controller = self.modules.controller(who.modules);
        controller.step(&step, &questions, &mut answers);
        let curvatures = std::array::from_fn(|number| {
            let steering = answers[number].steering.clamp(0.0, limits.max_steering);
            tan(steering) / limits.wheelbase
        });
        let accelerations = std::array::from_fn(|number| answers[STEERING + number].acceleration);
        SteeringResponse::new(distance, &curvatures, &accelerations)
    }

    fn update_map(
        &self,
        plans: &mut GroundPlans,
        planned: &[Planned],
        routes: &Routes,
        agents: AgentsRef<'_>,
    ) {
        let indices: Vec<AgentIndex> = planned.iter().map(|one| one.agent).collect();
        let forecasts = planned.iter().map(|one| one.planning.forecast);
        let shown = OnGround {
            bodies: self.bodies(agents),
            types: self.types,
            planning: &indices,
            forecast: forecasts.fold(0.0, f64::max),
        };
        let planners: Vec<Planner<'_>> = planned
            .iter()
            .map(|&one| self.planner(one, routes, agents))
            .collect();
        plans.update_map(self.ground, &shown, &planners);
    }

    /// Removes the planned paths of agents that now drive straight to their goals or are under manual
    /// control.
    fn end_straight(&self, routes: &mut Routes, agents: &mut GroundColumns<'_>) {
        let straight: Vec<AgentIndex> = agents
            .census
            .driving()
            .filter(|&agent| {
                let progress = &agents.progress[agent.index()];
                let is_planned = || {
                    let route = routes.get(progress.route);
                    route.planned_to(progress.reached).is_some()
                };
                let planning = self.planning(agent, agents.lent());
                let id = agents.lent().identity[agent.index()].id;
                let is_by_hand = || self.hands.reverses(id).is_some();
                planning.is_some_and(|planning| !planning.search.uses_map() || is_by_hand())
                    && is_planned()
            })
            .collect();
        for agent in straight {
            let index = agent.index();
            let progress = &mut agents.progress[index];
            let route = routes.get(progress.route);
            let route = route.with_leg(progress.reached, Leg::Straight);
            Travel {
                routes: &mut *routes,
                progress,
                claim: &mut agents.claim[index],
            }
            .move_to(route);
            (agents.position[index].s, agents.position[index].t) = (0.0, 0.0);
        }
    }
}
