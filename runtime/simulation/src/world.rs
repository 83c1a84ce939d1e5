//! The world: its parts, and the sequence of a step.

use crate::agents::{
    Agents, ClaimColumns, ContactColumns, ControlColumns, Finished, GroundColumns, PlanColumns,
};
use crate::clock::Clock;
use crate::coupling::{CouplingError, CouplingOrder};
use crate::demand::Demand;
use crate::dynamics::{Bodies, Dynamics, LevelChoice};
use crate::edit::{EditEntry, Editing, WaitingEdit};
use crate::fixed::Fixed;
use crate::hands::{HandControls, Hands};
use crate::messages::{LogLine, Messages};
use crate::modules::{Modules, Rota, SignalControllers, WantedAccounts, node_of};
use crate::move_trees::{self, MoveTrees};
use crate::open_ground::{GroundPlans, KeptTrips, MixedTrips, PathStatus};
use crate::options::{RunOptions, SimulationError, helpers};
use crate::perception::{ObjectSources, Surroundings};
use crate::records::AgentIndex;
use crate::route::{Goal, Routes};
use crate::setup::{Sources, check_size};
use crate::stage::Stage;
use crate::stages::advance::Guided;
use crate::stages::appear::AppearInputs;
use crate::stages::behave::Behaving;
use crate::stages::control::{Around, Controlling};
use crate::stages::effects::Effecting;
use crate::stages::ground_plan::{GroundStage, OffRoad};
use crate::stages::plan::Planning;
use crate::stages::retire::Exit;
use crate::stages::{
    advance, appear, aside, behave, collide, control, detour, ground_plan, plan, play,
};
use crate::standing::StandingCounts;
use crate::summary::ReplanCounts;
use crate::traffic::{
    AccountInputs, Contact, EncroachmentInputs, Given, NoCrossing, People, Roadside, Traffic,
    look_at_signals,
};
use crate::vehicle_type::VehicleTypes;
use roadwright_agent::Registry;
use roadwright_ground::Ground;
use roadwright_scenario::{NodeId, RoadId, Scenario};
use std::sync::Arc;

/// Buffers and derived data that stages keep between steps. They are not part of the state.
#[derive(Default)]
struct Scratch {
    planning: Rota,
    ground_planning: GroundStage,
    behaving: Behaving,
    controlling: Controlling,
    contacts: Vec<Contact>,
    trips: KeptTrips,
}

/// A change between lanes and open ground that an agent has to make.
#[derive(Clone, Copy)]
enum GroundChange {
    /// The agent leaves its lane.
    Leaves,
    /// The agent joins a lane that it has reached.
    Joins,
    /// The route leaves the lanes at this point, but the agent is already off them.
    HasLeft,
}

/// Borrows the parts of a world that planning over open ground reads. This is a macro, because a
/// method would borrow the whole world while stages change its other parts.
macro_rules! off_road {
    ($world:ident) => {
        OffRoad {
            clock: &$world.clock,
            ground: &$world.ground,
            types: &$world.types,
            modules: &$world.modules,
            dynamics: &$world.dynamics,
            hands: &$world.hands,
            index: &$world.traffic.index,
        }
    };
}

/// A running scenario.
///
/// The world owns all parts, and passes to each stage the parts that the stage reads and writes.
/// Stages never get the world itself. Thus the signature of a stage states what the stage can
/// change, and the compiler checks this.
pub struct World {
    pub(crate) clock: Clock,
    pub(crate) ground: Arc<Ground>,
    pub(crate) types: VehicleTypes,
    pub(crate) agents: Agents,
    pub(crate) routes: Routes,
    pub(crate) dynamics: Dynamics,
    pub(crate) levels: LevelChoice,
    pub(crate) demand: Demand,
    pub(crate) modules: Modules,
    pub(crate) traffic: Traffic,
    pub(crate) messages: Messages,
    /// Agents under manual control.
    pub(crate) hands: Hands,
    /// Plans of agents off the lanes.
    pub(crate) ground_plans: GroundPlans,
    /// Moves of agents with move trees.
    pub(crate) move_trees: MoveTrees,
    /// Counts of vehicles that have been stationary for a long time.
    pub(crate) standing_counts: StandingCounts,
    /// One row for each agent that no longer drives, in the order in which their drives ended.
    pub(crate) finished: Finished,
    /// Edit that is pending until junctions are empty.
    pub(crate) waiting: Option<WaitingEdit>,
    pub(crate) agent_updates: u64,
    pub(crate) replans: ReplanCounts,
    /// Whether agents without a valid place or goal are refused individually. Otherwise, they are
    /// an error.
    lenient: bool,
    /// Number of pedestrians per hour on each side of a crossing, which overrides the scenario.
    pub(crate) pedestrians: Option<f64>,
    /// Whether all pairs of bodies are compared for contacts.
    verify: bool,
    /// Helper threads in addition to the calling thread, if any.
    helpers: Option<rayon::ThreadPool>,
    scratch: Scratch,
}

impl World {
    /// Creates a world that runs a scenario.
    ///
    /// # Errors
    /// If a module, a parameter or a place does not exist, or an option is out of range.
    pub fn new(
        scenario: &Scenario,
        modules: &Registry,
        options: &RunOptions,
    ) -> Result<Self, SimulationError> {
        Self::on_ground(Ground::new(scenario), scenario, modules, options)
    }

    /// Creates a world that runs a scenario on the given ground, which must belong to the scenario.
    /// Any number of worlds can share a ground.
    ///
    /// # Errors
    /// The same as for [`World::new`].
    pub fn on_ground(
        ground: Arc<Ground>,
        scenario: &Scenario,
        modules: &Registry,
        options: &RunOptions,
    ) -> Result<Self, SimulationError> {
        let clock = Clock::new(&scenario.settings(), options)?;
        check_size(&ground)?;
        let pedestrians = options.pedestrians_in(scenario)?;
        let levels = LevelChoice {
            forced: options.dynamics,
            default: scenario.settings().dynamics,
        };
        levels.check(scenario)?;
        let types = VehicleTypes::new(scenario);
        let registry = modules;
        let mut modules = Modules::new(scenario, registry, options, clock.dt)?;
        modules.signals = SignalControllers::new(&ground, registry)?;
        let stacks = modules.stacks_of(scenario);
        let asked = move_trees::Asked {
            scenario,
            stacks: &stacks,
            registry,
            levels,
            dt: clock.dt,
        };
        if let Some(error) = asked.unmet().into_iter().next() {
            return Err(error);
        }
        let mut finished = Finished::default();
        let sources = Sources {
            scenario,
            trips: MixedTrips::new(&ground),
            types: &types,
            modules: &modules,
            seed: clock.seed,
        };
        let demand = sources.demand(options, &mut finished)?;
        Ok(Self {
            traffic: Traffic {
                people: People::new(&ground, pedestrians, clock.seed),
                ..Traffic::new(&ground)
            },
            clock,
            ground,
            types,
            agents: Agents::default(),
            routes: Routes::default(),
            dynamics: Dynamics::default(),
            levels,
            demand,
            modules,
            messages: Messages::default(),
            hands: Hands::default(),
            ground_plans: GroundPlans::default(),
            move_trees: MoveTrees::default(),
            standing_counts: StandingCounts::default(),
            finished,
            waiting: None,
            agent_updates: 0,
            replans: ReplanCounts::default(),
            lenient: options.lenient,
            verify: options.verify,
            pedestrians: options.pedestrians,
            helpers: helpers(options.threads)?,
            scratch: Scratch::default(),
        })
    }

    /// Takes one step of length `dt`. The order of stages is fixed: step boundary, spawning,
    /// junctions, planning, behaviours, controllers, motion, collisions.
    pub fn step(&mut self) {
        self.step_watched(|_| ());
    }

    /// Like [`World::step`], but calls `begins` at the beginning of each stage. Spawning is
    /// announced twice if planning for spawned agents takes place in between.
    pub fn step_watched(&mut self, mut begins: impl FnMut(Stage)) {
        // Reasons for this order:
        // - Modules are notified of agents at the boundary, before they are called for these agents.
        // - Agents are spawned before junctions decide. An agent that spawns close to a stop line
        //   can thus request a grant in its first step and does not brake in vain.
        // - Junctions decide before planners, because a route may only change after the granted
        //   lanelets.
        // - Behaviours precede controllers, which follow the requests of the same step.
        // - Bodies move last, and the index is rebuilt afterwards, so that all stages of the next
        //   step see the same positions.
        let ended = self.finished.rows.len();
        begins(Stage::Boundary);
        self.agents.release();
        self.let_edit_in();
        self.modules.pass_boundary(&self.clock, &mut self.agents);
        begins(Stage::Appear);
        self.appear(&mut begins);
        begins(Stage::GiveWay);
        self.give_way();
        begins(Stage::Plan);
        self.plan();
        begins(Stage::Behave);
        self.behave();
        self.plan_ground();
        self.play();
        begins(Stage::Control);
        self.control();
        begins(Stage::Advance);
        self.advance();
        begins(Stage::Collide);
        self.collide();
        self.walk_strays();
        self.modules.take_failures(self.clock.time());
        self.count_standing();
        self.clock.step += 1;
        self.update_ground_map();
        let (demand, time) = (&mut self.demand, self.clock.time());
        let ended = &self.finished.rows[ended..];
        demand.repeats.after(ended, time, &mut demand.departures);
    }

    /// Counts vehicles that have been stationary for a minute, and rings of such vehicles, when the
    /// counts are due.
    fn count_standing(&mut self) {
        if !StandingCounts::are_due(&self.clock) {
            return;
        }
        let mut counts = std::mem::take(&mut self.standing_counts);
        for ring in counts.update(&self.standing()) {
            self.traffic.claims.count_deadlock(&ring);
        }
        self.standing_counts = counts;
    }

    fn appear(&mut self, begins: &mut impl FnMut(Stage)) {
        let scene = AppearInputs {
            clock: &self.clock,
            ground: &self.ground,
            types: &self.types,
            modules: &self.modules,
            levels: self.levels,
        };
        let (demand, routes) = (&mut self.demand, &mut self.routes);
        let arrivals = appear::Arrivals {
            demand,
            routes,
            dynamics: &mut self.dynamics,
            agents: &mut self.agents,
        };
        let traffic = &mut self.traffic;
        let admitted = appear::admit(scene, traffic, arrivals, &mut self.messages.log);
        if admitted.is_empty() {
            return;
        }
        // Modules are notified of new agents before they are called for these agents, so steps with spawned
        // agents have a second boundary.
        self.modules.pass_boundary(&self.clock, &mut self.agents);
        let scene = AppearInputs {
            clock: &self.clock,
            ground: &self.ground,
            types: &self.types,
            modules: &self.modules,
            levels: self.levels,
        };
        let mut exit = Exit {
            clock: &self.clock,
            ground: Some(&self.ground),
            types: &self.types,
            modules: &self.modules,
            agents: &mut self.agents,
            dynamics: &mut self.dynamics,
            routes: &mut self.routes,
            messages: &mut self.messages,
            finished: &mut self.finished,
        };
        begins(Stage::Plan);
        appear::depart(scene, &self.traffic.delays, &admitted, &mut exit);
        begins(Stage::Appear);
        let bodies = Bodies {
            ground: &self.ground,
            agents: self.agents.lent(),
            dynamics: &self.dynamics,
        };
        self.traffic.index.rebuild(&bodies, &self.types);
    }

    fn give_way(&mut self) {
        let (ground, types) = (&*self.ground, &self.types);
        let Traffic {
            index,
            claims,
            delays,
            signals,
            people,
            ..
        } = &mut self.traffic;
        people.appear(&self.clock, ground);
        people.heed(self.dynamics.standing.footprints(types));
        let (routes, agents) = (&self.routes, &mut ClaimColumns::of(&mut self.agents));
        let given = Given {
            clock: &self.clock,
            fixed: Fixed { ground, types },
            routes,
            index,
            signals,
        };
        claims.update(given, agents, people);
        let roadside = Roadside {
            ground,
            types,
            routes,
        };
        people::look_after(people, signals, roadside, agents, &self.clock);
        signals.forget_gone(agents.census);
        for &(agent, path) in claims.gridlock.asks_for_green() {
            signals.ask_for_green(ground, path, agent, self.clock.time());
        }
        let controllers = &mut self.modules.signals;
        let comers = if controllers.are_due(&self.clock) {
            look_at_signals(ground, types, routes, agents.lent())
        } else {
            Vec::new()
        };
        let faults = signals.update(&self.clock, ground, claims.arrivals(), controllers, &comers);
        for (group, fault) in faults {
            let node = node_of(ground, group);
            self.messages.log.write_fault(LogLine {
                time: self.clock.time(),
                agent: 0,
                module: controllers.id(group).into(),
                text: format!("signals of node {node}: {fault}"),
                is_fault: true,
            });
        }
        delays.update(&self.clock, agents.lent());
    }

    fn plan(&mut self) {
        let Traffic { claims, delays, .. } = &mut self.traffic;
        let given = Planning {
            clock: &self.clock,
            fixed: Fixed {
                ground: &self.ground,
                types: &self.types,
            },
            modules: &self.modules,
            delays,
            claims,
        };
        let planned = plan::plan(
            given,
            &mut self.scratch.planning,
            &mut self.routes,
            &mut PlanColumns::of(&mut self.agents),
        );
        self.replans.stuck += planned.stuck;
        claims.count_missed_turns(planned.missed_turns);
        self.break_rings();
    }

    /// Reroutes a vehicle of each ring of full lanes that has been stationary for a long time.
    fn break_rings(&mut self) {
        let claims = &mut self.traffic.claims;
        let rings = claims.gridlock.stuck_rings();
        let scene = detour::DetourInputs {
            clock: &self.clock,
            ground: &self.ground,
            types: &self.types,
            modules: &self.modules,
            delays: &self.traffic.delays,
        };
        let mut agents = PlanColumns::of(&mut self.agents);
        for ring in &rings {
            if scene.send_one(ring, &mut self.routes, &mut agents) {
                claims.count_sent_round();
            } else {
                claims.count_gridlock(ring.first_id);
            }
        }
    }

    /// Borrows the parts of the world that effects change, and the buffers of the behaviour stage.
    fn effecting(&mut self) -> (Effecting<'_>, &mut Behaving) {
        self.scratch.trips.belong_to(&self.ground);
        let effecting = Effecting {
            clock: &self.clock,
            ground: &self.ground,
            types: &self.types,
            hands: &self.hands,
            dynamics: &mut self.dynamics,
            agents: &mut self.agents,
            routes: &mut self.routes,
            modules: &mut self.modules,
            traffic: &mut self.traffic,
            messages: &mut self.messages,
            finished: &mut self.finished,
            demand: &mut self.demand,
            trips: &mut self.scratch.trips,
        };
        (effecting, &mut self.scratch.behaving)
    }

    fn behave(&mut self) {
        let helpers = self.helpers.take();
        let (mut effecting, stage) = self.effecting();
        behave::behave(stage, helpers.as_ref(), &mut effecting);
        self.helpers = helpers;
        // Modules that agents have chosen individually are notified of their parameters and agents.
        if std::mem::take(&mut self.modules.has_new) {
            self.modules.pass_boundary(&self.clock, &mut self.agents);
        }
    }

    /// Plans paths of agents off the lanes. This comes after behaviours, which choose goals, and before
    /// controllers, which follow the paths in the same step.
    fn plan_ground(&mut self) {
        self.change_ground();
        if self.ground_plans.is_empty() && !self.traffic.index.any_off_lane {
            return;
        }
        let (wants_objects, trees) = ground_plan::wanted_objects(&self.modules);
        if wants_objects {
            self.locate();
        }
        let around = ground_plan::Around {
            sources: ObjectSources {
                ground: &self.ground,
                people: &self.traffic.people,
                groups: &self.messages.groups,
            },
            traffic: &self.traffic,
            trees,
        };
        let around = wants_objects.then_some(around);
        let given = off_road!(self);
        let without_path = ground_plan::plan_ground(
            given,
            &mut self.ground_plans,
            &mut self.scratch.ground_planning,
            around,
            &mut self.routes,
            &mut GroundColumns::of(&mut self.agents),
        );
        for id in without_path {
            if let Some(agent) = self.agents.census().find(id) {
                self.effecting().0.tell_no_route(agent);
            }
            if let Some(PathStatus::NoPath(why)) = self.ground_plans.status(id) {
                self.messages.log.write(LogLine {
                    time: self.clock.time(),
                    agent: id,
                    module: "ground_planner".into(),
                    text: format!("no path: {}", why.text),
                    is_fault: false,
                });
            }
        }
    }

    /// Plans for agents with move trees. This comes after goals are chosen and before bodies move.
    fn play(&mut self) {
        let given = off_road!(self);
        let notes = play::play(
            given,
            &self.traffic.contacts,
            &mut self.move_trees,
            &self.routes,
            self.agents.lent(),
        );
        for note in notes {
            self.messages.log.write(LogLine {
                time: self.clock.time(),
                agent: note.agent,
                module: "ground_planner".into(),
                text: note.text,
                is_fault: false,
            });
        }
    }

    /// Makes agents leave the lanes if their next goal is off the lanes, and join lanes that they
    /// have reached over open ground.
    fn change_ground(&mut self) {
        if !self.routes.any_leaves_lanes() {
            return;
        }
        let agents = &self.agents;
        let mut changing: Vec<(AgentIndex, GroundChange)> = agents
            .census()
            .driving()
            .filter_map(|agent| Some((agent, self.ground_change(agent)?)))
            .collect();
        if changing.is_empty() {
            return;
        }
        changing.sort_unstable_by_key(|(agent, _)| agents.identity[agent.index()].id);
        let mut has_changed = false;
        for (agent, change) in changing {
            let mut effecting = self.effecting().0;
            has_changed |= match change {
                GroundChange::Leaves => {
                    effecting.leave_for_ground(agent);
                    true
                }
                GroundChange::Joins => effecting.join_from_ground(agent),
                GroundChange::HasLeft => {
                    effecting.pass_exit(agent);
                    true
                }
            };
        }
        if has_changed {
            self.effecting().0.find_all();
        }
    }

    /// Returns the change between lanes and open ground that an agent has to make now; `None` if
    /// there is none.
    fn ground_change(&self, agent: AgentIndex) -> Option<GroundChange> {
        let index = agent.index();
        let progress = &self.agents.progress[index];
        // Almost always, the next goal is on a lanelet ahead.
        if progress.goal_at != 0 {
            return None;
        }
        let is_on_lane = self.agents.position[index].is_on_lane();
        let goal = self
            .routes
            .get(progress.route)
            .next_goal(progress.reached)?;
        match (goal, is_on_lane) {
            (Goal::Ground(_) | Goal::Join { .. }, true) if progress.reached > 0 => {
                Some(GroundChange::Leaves)
            }
            (Goal::Join { .. }, false) => {
                let id = self.agents.identity[index].id;
                let is_driven = self.hands.reverses(id).is_some();
                (!is_driven).then_some(GroundChange::Joins)
            }
            (Goal::Leave { .. }, false) => Some(GroundChange::HasLeft),
            _ => None,
        }
    }

    /// Returns the planning state of an agent over open ground; `None` if the agent does not plan there.
    pub fn inspect_ground(
        &self,
        id: u64,
        question: &crate::open_ground::GroundQuestion,
    ) -> Option<crate::open_ground::GroundInspection> {
        let given = off_road!(self);
        let agents = self.agents.lent();
        ground_plan::inspect(
            given,
            &self.ground_plans,
            &self.routes,
            agents,
            id,
            question,
        )
    }

    /// Returns the planning state of an agent with a move tree; `None` for other agents.
    pub fn inspect_moves(&self, id: u64) -> Option<move_trees::MoveInspection> {
        let agent = self.agents.census().find(id)?;
        let given = off_road!(self);
        play::inspect(given, &self.move_trees, self.agents.lent(), id, agent)
    }

    /// Selects the agent whose search trees are stored for [`inspect_moves`](Self::inspect_moves); `None`
    /// selects no agent. This is not part of the state and does not affect the run.
    pub fn watch_moves(&mut self, agent: Option<u64>) {
        self.move_trees.watch(agent);
    }

    /// Updates the map of open ground to the state of the world. A saved world then contains no
    /// changes that plans have not taken into account.
    pub(crate) fn update_ground_map(&mut self) {
        let given = off_road!(self);
        let agents = self.agents.lent();
        ground_plan::update_map(given, &mut self.ground_plans, &self.routes, agents);
    }

    /// Updates the index of bodies to their current places.
    fn locate(&mut self) {
        let bodies = Bodies {
            ground: &self.ground,
            agents: self.agents.lent(),
            dynamics: &self.dynamics,
        };
        self.traffic.index.locate(&bodies, &self.types);
    }

    fn control(&mut self) {
        let (controlling, census) = (&mut self.scratch.controlling, self.agents.census());
        let wants_objects = controlling.prepare(&self.clock, &self.modules, census);
        if wants_objects {
            self.locate();
        }
        let around = wants_objects.then(|| Around {
            sources: ObjectSources {
                ground: &self.ground,
                people: &self.traffic.people,
                groups: &self.messages.groups,
            },
            claims: &self.traffic.claims,
            setting: self.traffic.setting(
                &self.clock,
                Fixed {
                    ground: &self.ground,
                    types: &self.types,
                },
                &self.routes,
            ),
        });
        let surroundings = Surroundings {
            ground: &self.ground,
            types: &self.types,
            routes: &self.routes,
            index: &self.traffic.index,
            dynamics: &self.dynamics,
            claims: Some(&self.traffic.claims),
        };
        let mut agents = ControlColumns::of(&mut self.agents);
        aside::lead_aside(self.clock.dt, surroundings, &mut agents);
        let held = control::control(
            &self.clock,
            &self.modules,
            self.helpers.as_ref(),
            &mut self.scratch.controlling,
            surroundings,
            around,
            &mut agents,
        );
        self.traffic.claims.count_held(held);
        self.hands.order(&self.types, &mut agents);
        play::order(self.move_trees.frames(), &mut agents);
    }

    fn advance(&mut self) {
        let helpers = self.helpers.as_ref();
        let mut exit = Exit {
            clock: &self.clock,
            ground: Some(&self.ground),
            types: &self.types,
            modules: &self.modules,
            agents: &mut self.agents,
            dynamics: &mut self.dynamics,
            routes: &mut self.routes,
            messages: &mut self.messages,
            finished: &mut self.finished,
        };
        let fixed = Fixed {
            ground: &self.ground,
            types: &self.types,
        };
        let guided = Guided {
            hands: &self.hands,
            played: self.move_trees.frames(),
        };
        self.agent_updates += advance::advance(fixed, guided, helpers, &mut exit);
    }

    fn collide(&mut self) {
        let helpers = self.helpers.as_ref();
        let (ground, types) = (&*self.ground, &self.types);
        let time = self.clock.end_of_step();
        self.messages.log.expire(time);
        let mut agents = ContactColumns::of(&mut self.agents);
        if self.modules.want_post_encroachment() {
            let scene = EncroachmentInputs {
                ground,
                types,
                routes: &self.routes,
                claims: &self.traffic.claims,
            };
            let dt = self.clock.dt;
            (self.traffic.encroachment).watch(time, dt, scene, &mut agents);
        }
        collide::collide(
            &self.clock,
            collide::CollideInputs {
                ground,
                types,
                routes: &self.routes,
                dynamics: &self.dynamics,
                verify: self.verify,
            },
            helpers,
            &mut self.traffic,
            &mut agents,
            &mut self.scratch.contacts,
        );
        match self.modules.wanted_accounts() {
            WantedAccounts::Nothing => {}
            WantedAccounts::Collisions => {
                let mut accounts = std::mem::take(&mut self.agents.accounts);
                accounts.count_collisions(self.agents.lent(), self.collisions());
                self.agents.accounts = accounts;
            }
            WantedAccounts::All => self.keep_accounts(),
        }
    }

    fn keep_accounts(&mut self) {
        let mut accounts = std::mem::take(&mut self.agents.accounts);
        accounts.watch(AccountInputs {
            bodies: self.bodies(),
            statistics: &self.agents.statistics,
            types: &self.types,
            routes: &self.routes,
            collisions: self.collisions(),
            dt: self.clock.dt,
        });
        self.agents.accounts = accounts;
    }

    /// Replaces the running scenario `old` by `new` and applies the differences.
    ///
    /// Vehicles keep their place and speed. An agent is rerouted from its position if its
    /// destination has changed or its route leads over a deleted lane. All others keep their routes
    /// and their grants at junctions. An agent without a lane or a route after the edit is removed.
    /// New agents and flows start at the current time. The result is bit-identical for the same
    /// edits at the same steps. The cost depends on the extent of the edit, plus a pass over all
    /// lanelets if roads or obstacles have changed, and a pass over all obstacles if these have
    /// changed.
    ///
    /// If the edit changes a junction with vehicles inside, the junction admits no more vehicles.
    /// The edit is applied when all have left, after half a minute at the latest. If stop lines
    /// move outward, approaching vehicles are first held back for at most a minute and a half
    /// ([`World::closing_nodes`]). Any further edit in the meantime is applied together with this
    /// one.
    ///
    /// # Errors
    /// The same as for [`World::new`]. In case of an error, the world is unchanged.
    pub fn update(
        &mut self,
        old: &Scenario,
        new: &Scenario,
        modules: &Registry,
    ) -> Result<(), SimulationError> {
        let waiting = self.waiting.take();
        let running = waiting.as_ref().map_or(old, |edit| &edit.old);
        match self.editing().apply(running, new, modules, None) {
            Ok(EditEntry::Entered) => self.update_ground_map(),
            Ok(EditEntry::Waits {
                holds_back,
                is_closed,
                ground,
            }) => {
                let now = self.time();
                self.waiting = Some(WaitingEdit {
                    old: running.clone(),
                    new: new.clone(),
                    registry: modules.clone(),
                    ground,
                    since: waiting.as_ref().map_or(now, |edit| edit.since),
                    holds_back,
                    is_closed,
                });
            }
            Err(error) => {
                self.waiting = waiting;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Applies a pending edit as soon as the junctions that it changes are empty.
    fn let_edit_in(&mut self) {
        let closes = |edit: &WaitingEdit| {
            edit.closes(&self.traffic.claims, self.setting(), self.agents.lent())
        };
        if self.waiting.as_ref().is_some_and(closes) {
            let junctions = self.traffic.claims.closing.held_back().to_vec();
            self.editing().close(junctions);
            if let Some(edit) = &mut self.waiting {
                edit.is_closed = true;
            }
        }
        let is_due = |edit: &WaitingEdit| {
            edit.is_due(&self.traffic.claims, self.setting(), self.agents.lent())
        };
        if !self.waiting.as_ref().is_some_and(is_due) {
            return;
        }
        let Some(edit) = self.waiting.take() else {
            return;
        };
        let entered =
            (self.editing()).apply(&edit.old, &edit.new, &edit.registry, Some(edit.ground));
        // The edit was valid when it arrived, and its validity cannot have changed since.
        if let Err(error) = entered {
            self.messages.log.write_fault(LogLine {
                time: self.clock.time(),
                agent: 0,
                module: "edit".into(),
                text: format!("the run continues without an edit: {error}"),
                is_fault: true,
            });
        }
    }

    fn editing(&mut self) -> Editing<'_> {
        Editing {
            clock: &self.clock,
            ground: &mut self.ground,
            types: &mut self.types,
            agents: &mut self.agents,
            dynamics: &mut self.dynamics,
            levels: &mut self.levels,
            routes: &mut self.routes,
            demand: &mut self.demand,
            modules: &mut self.modules,
            traffic: &mut self.traffic,
            messages: &mut self.messages,
            finished: &mut self.finished,
            lenient: self.lenient,
            pedestrians: self.pedestrians,
        }
    }

    /// Sets the registry for creating new modules. Running modules switch to new builds without
    /// this call.
    pub fn use_modules(&mut self, modules: &Registry) {
        self.modules.registry = modules.clone();
    }

    /// Adds a pedestrian at a crossing of the junction at a node. The crossing leads over the given
    /// road or, without a road, over the first arm with a crossing. Returns the number of the
    /// pedestrian, starting at 1.
    ///
    /// # Errors
    /// If there is no such crossing, or if two hundred pedestrians are already there.
    pub fn add_pedestrian(
        &mut self,
        node: NodeId,
        road: Option<RoadId>,
    ) -> Result<u64, NoCrossing> {
        self.traffic.people.call(&self.ground, node, road)
    }

    /// Puts an agent under manual control from the next step on. If it is already under manual
    /// control, only updates its controls. The agent leaves its lane and is exempt from the rules
    /// of junctions, but others react to it. An agent on level `lane` continues on level
    /// `one_track`. Its modules are still called, but their output is ignored. Returns whether the
    /// agent is driving.
    pub fn drive_by_hand(&mut self, id: u64, controls: HandControls) -> bool {
        let Some(agent) = self.agents.census().find(id) else {
            return false;
        };
        if self.hands.take(id, controls) {
            self.effecting().0.take_over(agent);
            self.effecting().0.find_all();
        }
        true
    }

    /// Ends manual control of an agent. Its modules then drive it to its goals, either from a
    /// nearby lane or, if there is none, straight over the ground. Returns whether the agent was
    /// under manual control.
    pub fn give_back(&mut self, id: u64) -> bool {
        let was_driven = self.hands.release(id);
        if let Some(agent) = self.agents.census().find(id).filter(|_| was_driven) {
            self.effecting().0.resume(agent);
            self.effecting().0.find_all();
        }
        was_driven
    }

    /// Uncouples trailers of an agent and returns their number. `from` is the number of the first
    /// trailer to uncouple, counted from 1 at the front. `None` uncouples only the last trailer.
    /// Uncoupled trailers stand still with their brakes on, and obstruct others, until a vehicle
    /// couples them again.
    ///
    /// # Errors
    /// If the agent does not drive, tows no such trailer, or moves faster than walking speed. In
    /// case of an error, nothing changes.
    pub fn uncouple(&mut self, id: u64, from: Option<u8>) -> Result<usize, CouplingError> {
        let agent = self
            .agents
            .census()
            .find(id)
            .ok_or(CouplingError::NotDriving(id))?;
        let count = self.effecting().0.uncouple(agent, from)?;
        self.update_ground_map();
        Ok(count)
    }

    /// Couples the trailers that stand at the free coupling of an agent's vehicle or last trailer.
    /// Returns their number.
    ///
    /// # Errors
    /// If the agent does not drive or moves faster than walking speed, or if no fitting trailer is
    /// close and straight enough. In case of an error, nothing changes.
    pub fn couple(&mut self, id: u64) -> Result<usize, CouplingError> {
        let agent = self
            .agents
            .census()
            .find(id)
            .ok_or(CouplingError::NotDriving(id))?;
        let count = self.effecting().0.couple(agent)?;
        self.update_ground_map();
        Ok(count)
    }

    /// Calls [`World::uncouple`] or [`World::couple`], depending on the order.
    ///
    /// # Errors
    /// The same as for these methods.
    pub fn carry_out(&mut self, id: u64, order: CouplingOrder) -> Result<usize, CouplingError> {
        match order {
            CouplingOrder::Uncouple(from) => self.uncouple(id, from),
            CouplingOrder::Couple => self.couple(id),
        }
    }

    /// Moves the pedestrians whose crossing has been deleted.
    fn walk_strays(&mut self) {
        if !self.traffic.people.has_strays() {
            return;
        }
        let bodies = Bodies {
            ground: &self.ground,
            agents: self.agents.lent(),
            dynamics: &self.dynamics,
        };
        let people = &mut self.traffic.people;
        people.walk_strays(&self.clock, &bodies, &self.types);
    }
}

#[cfg(test)]
mod alley_tests;
#[cfg(test)]
mod gridlock_tests;
#[cfg(test)]
mod network_tests;
#[cfg(test)]
mod order_tests;
mod people;
mod reads;
#[cfg(test)]
mod stage_table_tests;
#[cfg(test)]
mod tests;
mod told;
