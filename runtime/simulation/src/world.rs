//! The world: its parts, and one step after the other.

use crate::agents::{Agents, ClaimColumns, ContactColumns, ControlColumns, Finished, PlanColumns};
use crate::clock::Clock;
use crate::coupling::{CouplingError, CouplingOrder};
use crate::demand::Demand;
use crate::dynamics::{Bodies, Dynamics, LevelChoice};
use crate::edit::{EditEntry, Editing, WaitingEdit};
use crate::fixed::Fixed;
use crate::ground::Ground;
use crate::hands::{HandControls, Hands};
use crate::messages::{LogLine, Messages};
use crate::modules::{Modules, Rota, SignalControllers, node_of};
use crate::options::{RunOptions, SimulationError, helpers};
use crate::perception::Surroundings;
use crate::route::Routes;
use crate::setup::Sources;
use crate::stage::Stage;
use crate::stages::appear::AppearInputs;
use crate::stages::behave::Behaving;
use crate::stages::control::Controlling;
use crate::stages::effects::Effecting;
use crate::stages::plan::Planning;
use crate::stages::retire::Exit;
use crate::stages::{advance, appear, aside, behave, collide, control, detour, plan};
use crate::summary::ReplanCounts;
use crate::traffic::{
    AccountInputs, Contact, EncroachmentInputs, Given, NoCrossing, People, Roadside, Traffic,
    look_at_signals,
};
use crate::vehicle_type::VehicleTypes;
use roadwright_agent::Registry;
use roadwright_scenario::{NodeId, RoadId, Scenario};
use std::sync::Arc;

/// What stages keep between steps so that nothing is allocated in them; not state.
#[derive(Default)]
struct Scratch {
    planning: Rota,
    behaving: Behaving,
    controlling: Controlling,
    contacts: Vec<Contact>,
}

/// A running scenario.
///
/// It owns the parts and hands each stage those that it reads and writes. Stages never get the world
/// itself: what a stage can change is in its signature, and the compiler checks it.
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
    /// Agents that people drive.
    pub(crate) hands: Hands,
    /// One row for each agent that does not drive any more, in the order in which they ended.
    pub(crate) finished: Finished,
    /// An edit that waits until junctions are empty.
    pub(crate) waiting: Option<WaitingEdit>,
    pub(crate) agent_updates: u64,
    pub(crate) replans: ReplanCounts,
    /// Whether agents without a place or goal are refused instead of ending the run.
    lenient: bool,
    /// People who come to each side of a crossing in an hour, whatever the scenario says.
    pub(crate) pedestrians: Option<f64>,
    /// Whether all bodies are compared for contacts.
    verify: bool,
    /// Threads beside the calling one; `None` for none.
    helpers: Option<rayon::ThreadPool>,
    scratch: Scratch,
}

impl World {
    /// Prepares a scenario for running.
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

    /// Prepares a scenario for running on its ground, which any number of worlds may share.
    ///
    /// # Errors
    /// As [`World::new`].
    pub fn on_ground(
        ground: Arc<Ground>,
        scenario: &Scenario,
        modules: &Registry,
        options: &RunOptions,
    ) -> Result<Self, SimulationError> {
        let clock = Clock::new(&scenario.settings(), options)?;
        ground.check_size()?;
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
        let mut finished = Finished::default();
        let sources = Sources {
            scenario,
            ground: &ground,
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

    /// Takes one step of dt, in the fixed order: pass the step boundary, appear, give way, plan,
    /// behave, control, move, collide.
    pub fn step(&mut self) {
        self.step_watched(|_| ());
    }

    /// [`World::step`], and says which of its parts begins; the planning of those who appear lies between
    /// two parts of appearing.
    pub fn step_watched(&mut self, mut begins: impl FnMut(Stage)) {
        // Why this order:
        // - Modules hear of agents at the boundary, before any of them is asked about one.
        // - Agents appear before junctions decide, so that one that appears close to a stop line asks
        //   in its first step and does not brake for nothing.
        // - Junctions decide before planners: a route may change only beyond what is granted.
        // - Behaviours go before controllers, which obey the wishes of the same step.
        // - Bodies move last, and the index is rebuilt when they have: every stage of the next step
        //   sees the same places, whether it runs early or late.
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
        begins(Stage::Control);
        self.control();
        begins(Stage::Advance);
        self.advance();
        begins(Stage::Collide);
        self.collide();
        self.walk_strays();
        self.modules.take_failures(self.clock.time());
        self.clock.step += 1;
        let (demand, time) = (&mut self.demand, self.clock.time());
        let ended = &self.finished.rows[ended..];
        demand.repeats.after(ended, time, &mut demand.departures);
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
        // Modules are told of new agents before they are asked about them, so there is a second
        // boundary in steps in which somebody appears.
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

    /// Sends somebody round where a ring of full lanes has stood for long.
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

    /// What effects act on, and what the stage of behaviours keeps.
    fn effecting(&mut self) -> (Effecting<'_>, &mut Behaving) {
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
        };
        (effecting, &mut self.scratch.behaving)
    }

    fn behave(&mut self) {
        let helpers = self.helpers.take();
        let (mut effecting, stage) = self.effecting();
        behave::behave(stage, helpers.as_ref(), &mut effecting);
        self.helpers = helpers;
        // Modules that agents have chosen for themselves are told their parameters and agents.
        if std::mem::take(&mut self.modules.has_new) {
            self.modules.pass_boundary(&self.clock, &mut self.agents);
        }
    }

    fn control(&mut self) {
        let surroundings = Surroundings {
            ground: &self.ground,
            types: &self.types,
            routes: &self.routes,
            index: &self.traffic.index,
            dynamics: &self.dynamics,
        };
        let mut agents = ControlColumns::of(&mut self.agents);
        aside::lead_aside(self.clock.dt, surroundings, &mut agents);
        let held = control::control(
            &self.clock,
            &self.modules,
            self.helpers.as_ref(),
            &mut self.scratch.controlling,
            surroundings,
            &mut agents,
        );
        self.traffic.claims.count_held(held);
        self.hands.order(&self.types, &mut agents);
    }

    fn advance(&mut self) {
        let helpers = self.helpers.as_ref();
        let mut exit = Exit {
            clock: &self.clock,
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
        self.agent_updates += advance::advance(fixed, &self.hands, helpers, &mut exit);
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
        if self.modules.want_accounts() {
            self.keep_accounts();
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

    /// Takes over the changes from `old`, which the world runs, to `new`.
    ///
    /// Vehicles keep their place and speed. An agent whose destination changed is rerouted from its
    /// position; so is one whose route leads over a lane that is gone. All others keep their routes
    /// and what junctions have granted them. An agent left without a lane or a route is removed.
    /// Agents and flows that are new come from now on. The same edits after the same steps give the
    /// same bits. Cost: that of what the edit reaches, a walk over all lanelets if
    /// roads or obstacles changed, and one over all obstacles if those did.
    ///
    /// If it changes a junction in which somebody is, nobody is let in there any more, and it enters when
    /// all have left, after half a minute at the latest. Where stop lines move outward, those who come are
    /// held back before that for a minute and a half at most. [`World::closing_nodes`] tells. An edit that
    /// comes meanwhile enters with it.
    ///
    /// # Errors
    /// As [`World::new`]; the world is unchanged then.
    pub fn update(
        &mut self,
        old: &Scenario,
        new: &Scenario,
        modules: &Registry,
    ) -> Result<(), SimulationError> {
        let waiting = self.waiting.take();
        let running = waiting.as_ref().map_or(old, |edit| &edit.old);
        match self.editing().apply(running, new, modules, None) {
            Ok(EditEntry::Entered) => {}
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

    /// Lets an edit in that has waited, as soon as the junctions that it changes are empty.
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
        // It could have entered when it came, and nothing that it is checked by has changed since.
        if let Err(error) = entered {
            self.messages.log.write_fault(LogLine {
                time: self.clock.time(),
                agent: 0,
                module: "edit".into(),
                text: format!("the run goes on without an edit: {error}"),
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

    /// Sets the registry used for modules created from now on. Running modules pick up new builds
    /// on their own.
    pub fn use_modules(&mut self, modules: &Registry) {
        self.modules.registry = modules.clone();
    }

    /// Lets a person come on foot to a crossing of the junction of a node: over a road, or over the first
    /// arm that has one. Returns the number of the person, from 1 on.
    ///
    /// # Errors
    /// If there is no such crossing, or two hundred people are at it.
    pub fn add_pedestrian(
        &mut self,
        node: NodeId,
        road: Option<RoadId>,
    ) -> Result<u64, NoCrossing> {
        self.traffic.people.call(&self.ground, node, road)
    }

    /// Puts the controls of an agent into the hands of a person, from the next step on, or moves them if
    /// they are in such hands already. It leaves its lane, and the law of the road; others look out for
    /// it. One of the `lane` level goes on as `one_track`. Its modules are asked as before, and nobody does
    /// what they say. Returns whether the agent drives.
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

    /// Gives an agent back to its modules, which lead it on to its goals: over the lane that is close,
    /// else straight over the ground. Returns whether a person drove it.
    pub fn give_back(&mut self, id: u64) -> bool {
        let was_driven = self.hands.release(id);
        if let Some(agent) = self.agents.census().find(id).filter(|_| was_driven) {
            self.effecting().0.resume(agent);
            self.effecting().0.find_all();
        }
        was_driven
    }

    /// Lets the trailers of an agent go from one on, counted from 1 at the front; only the last, if that
    /// is not said. They stand where they are, with their brakes on, in the way of others, until a
    /// vehicle of the same type joins them on. Returns how many go.
    ///
    /// # Errors
    /// If it does not drive, tows no such trailer, or moves faster than a walk; nothing changes then.
    pub fn uncouple(&mut self, id: u64, from: Option<u8>) -> Result<usize, CouplingError> {
        let agent = self
            .agents
            .census()
            .find(id)
            .ok_or(CouplingError::NotDriving(id))?;
        self.effecting().0.uncouple(agent, from)
    }

    /// Joins the trailers on that stand at the free coupling of an agent's vehicle, or of its last
    /// trailer. Returns how many.
    ///
    /// # Errors
    /// If it does not drive, moves faster than a walk, or nothing that fits stands near enough and
    /// straight enough; nothing changes then.
    pub fn couple(&mut self, id: u64) -> Result<usize, CouplingError> {
        let agent = self
            .agents
            .census()
            .find(id)
            .ok_or(CouplingError::NotDriving(id))?;
        self.effecting().0.couple(agent)
    }

    /// [`World::uncouple`] or [`World::couple`], as ordered.
    ///
    /// # Errors
    /// As there.
    pub fn carry_out(&mut self, id: u64, order: CouplingOrder) -> Result<usize, CouplingError> {
        match order {
            CouplingOrder::Uncouple(from) => self.uncouple(id, from),
            CouplingOrder::Couple => self.couple(id),
        }
    }

    /// Those whose crossing is gone go on.
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
mod order_tests;
mod people;
mod reads;
#[cfg(test)]
mod stage_table_tests;
#[cfg(test)]
mod tests;
mod told;
