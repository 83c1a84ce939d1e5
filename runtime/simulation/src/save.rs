//! Saving a world at a step boundary, and resuming from there.
//!
//! A save is a set of named parts, each with a version ([`parts`]), so that adding a part does not
//! affect the others. It contains all state that persists from step to step. Derived data (indices,
//! grids, landmarks) is rebuilt. The ground is not included: a world is restored on the ground of
//! its scenario, which must be the same as when the world was saved.
//!
//! A save may be damaged or forged. Each part is read separately. Then all indices from one part
//! into another are checked in one place ([`World::check_indices`]) before they are used, so that
//! invalid indices cause an error and never a panic.

mod frame;
mod origin;
mod parts;

pub use frame::SavedWorld;

use crate::agents::{Accounts, Agents, Deviation, Finished};
use crate::clock::Clock;
use crate::demand::{Departure, Departures, FlowProgress};
use crate::dynamics::{Bodies, Dynamics, StandingTrains};
use crate::hands::Hands;
use crate::messages::{Groups, Log};
use crate::modules::{
    Anew, Decider, DeciderChange, SavedGroundPlanners, SavedInstance, SavedMembership, SavedStacks,
    SavedSwap, Succession,
};
use crate::move_trees::{ResumeError, SavedMoves};
use crate::open_ground::{AgentPlan, DrivePlan, ModuleSearch, WalkPlan};
use crate::options::{ModuleOverrides, RunOptions};
use crate::records::{AgentIndex, Identity, ModuleFailures, SaveError, are_countable};
use crate::route::Routes;
use crate::stages::company::MOST_SPAWNED;
use crate::standing::StandingCounts;
use crate::summary::{FreshStart, ReplanCounts, SwapRecord};
use crate::traffic::{Claims, Contacts, Delays, Encroachment, People, SignalStates};
use crate::world::World;
use origin::Origin;
use roadwright_agent::{Message, Registry, Slot};
use roadwright_ground::Ground;
use roadwright_scenario::Scenario;
use roadwright_vehicle::PedalCommand;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Returns the modules among `saved` that could not export their state.
fn unsaved(saved: &[SavedInstance]) -> Vec<String> {
    let modules = saved
        .iter()
        .flat_map(|one| one.modules.iter().map(|module| (&one.slot, module)));
    modules
        .filter(|(_, module)| module.state.is_none())
        .map(|(slot, module)| format!("{slot} {}", module.id))
        .collect()
}

/// Contents of the part that stores the clock and counters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Counters {
    clock: Clock,
    agent_updates: u64,
    replans: ReplanCounts,
}

impl SavedWorld {
    /// Returns the module overrides: those requested now and, in the remaining slots, those of the
    /// saved run.
    fn overrides(&self, asked: &ModuleOverrides) -> Result<ModuleOverrides, SaveError> {
        let saved: Option<Vec<(String, Vec<String>)>> = self.get_if_any(parts::OVERRIDES)?;
        let mut before = ModuleOverrides::default();
        for (slot, modules) in saved.unwrap_or_default() {
            let slot = Slot::from_name(&slot);
            let is_set = slot.is_some_and(|slot| before.set(slot, modules).is_ok());
            if !is_set {
                return Err(SaveError::Damaged(
                    "a module override has an unknown slot".into(),
                ));
            }
        }
        let mut overrides = asked.clone();
        overrides.fill_in(before);
        Ok(overrides)
    }
}

impl World {
    /// Modules that can neither save their state nor declare that they have none.
    pub fn unsaved_modules(&self) -> Vec<String> {
        unsaved(&self.modules.saved())
    }

    /// Saves all state that persists from step to step, so that the run can be resumed exactly.
    /// O(agents ever seen).
    ///
    /// # Errors
    /// If a module can neither save its state nor declare that it has none
    /// ([`save_inexact`](World::save_inexact) saves such a world), or while an edit is pending
    /// ([`World::closing_nodes`]).
    pub fn save(&self) -> Result<SavedWorld, SaveError> {
        self.check_no_edit_waits()?;
        // Module states are collected before anything is written, so that a world that cannot be
        // saved stays unchanged.
        let modules = self.modules.saved();
        let inexact = unsaved(&modules);
        if !inexact.is_empty() {
            return Err(SaveError::Modules(inexact));
        }
        Ok(self.saved_with(&modules))
    }

    /// Saves a world even if some modules cannot save their state. These modules start from a fresh state when
    /// the world is restored; [`SavedWorld::inexact`] names them.
    ///
    /// # Errors
    /// While an edit is pending ([`World::closing_nodes`]).
    pub fn save_inexact(&self) -> Result<SavedWorld, SaveError> {
        self.check_no_edit_waits()?;
        Ok(self.saved_with(&self.modules.saved()))
    }

    fn check_no_edit_waits(&self) -> Result<(), SaveError> {
        let Some(edit) = &self.waiting else {
            return Ok(());
        };
        Err(SaveError::EditWaits {
            junctions: self.traffic.claims.closing.changing().len(),
            // Rounded up to whole seconds, because the edit is applied at the beginning of a step.
            seconds: (edit.since + edit.longest() - self.time() + self.dt()).ceil(),
        })
    }

    fn saved_with(&self, modules: &[SavedInstance]) -> SavedWorld {
        let mut saved = SavedWorld::new(self.ground.hash(), unsaved(modules));
        saved.put(
            parts::COUNTERS,
            &Counters {
                clock: self.clock,
                agent_updates: self.agent_updates,
                replans: self.replans,
            },
        );
        saved.put(parts::AGENTS, &self.agents);
        saved.put(parts::ACCOUNTS, &self.agents.accounts);
        saved.put(parts::DEVIATIONS, &self.agents.accounts.deviations);
        saved.put(parts::PEDALS, &self.agents.pedals);
        saved.put(parts::ROUTES, &self.routes);
        saved.put(parts::DYNAMICS, &self.dynamics);
        saved.put(parts::STANDING, &self.dynamics.standing);
        saved.put(parts::STANDING_COUNTS, &self.standing_counts);
        saved.put(parts::DEPARTURES, &self.demand.departures);
        saved.put(parts::POPULATION, &self.demand.population);
        let flows = self.demand.flows.iter().map(|flow| flow.progress().clone());
        let flows: (Vec<FlowProgress>, &Vec<FlowProgress>) =
            (flows.collect(), &self.demand.retired_flows);
        saved.put(parts::FLOWS, &flows);
        saved.put(parts::CLAIMS, &self.traffic.claims);
        saved.put(parts::SIGNALS, &self.traffic.signals);
        saved.put(parts::CONTACTS, &self.traffic.contacts);
        saved.put(parts::DELAYS, &self.traffic.delays);
        saved.put(parts::ENCROACHMENT, &self.traffic.encroachment);
        saved.put(parts::PEOPLE, &self.traffic.people);
        saved.put(parts::PEOPLE_STEPS, &self.traffic.people.saved_steps());
        saved.put(parts::HANDS, &self.hands);
        saved.put(parts::FULL_LOCKS, &self.hands.full_locks());
        saved.put(parts::MAIL, &self.messages.mail);
        saved.put(parts::GROUPS, &*self.messages.groups);
        saved.put(parts::TOLD_COLLISIONS, &self.messages.told_collisions);
        saved.put(parts::SPAWNED, &self.demand.spawned);
        saved.put(parts::LOG, &self.messages.log);
        saved.put(parts::FINISHED, &self.finished);
        saved.put(parts::MODULES, &modules);
        saved.put(parts::MEMBERSHIP, &self.modules.saved_membership());
        let swaps = self.modules.swaps.iter();
        saved.put(
            parts::SWAPS,
            &swaps.map(SavedSwap::from).collect::<Vec<_>>(),
        );
        saved.put(parts::FAILURES, &self.modules.failures);
        saved.put(parts::STACKS, &self.modules.saved_stacks());
        let planners = self.modules.saved_ground_planners(self.agents.census());
        saved.put(parts::GROUND_PLANNERS, &planners);
        saved.put(parts::GROUND_PLANS, self.ground_plans.saved());
        saved.put(parts::DRIVES, &self.ground_plans.saved_drives());
        let searches = self.ground_plans.saved_module_searches();
        saved.put(parts::MODULE_SEARCHES, &searches);
        saved.put(parts::WALKS, &self.ground_plans.saved_walks());
        saved.put(parts::GOAL_COSTS, &self.ground_plans.saved_costs());
        saved.put(parts::MOVE_TREES, self.move_trees.saved());
        let overrides = self.modules.overrides.all();
        let overrides = overrides.map(|(slot, modules)| (slot.name(), modules));
        saved.put(parts::OVERRIDES, &overrides.collect::<Vec<_>>());
        let origin = Origin::of(self);
        saved.put(parts::ORIGIN, &origin);
        let deciders = self.modules.signals.deciders(&self.ground);
        saved.put(parts::DECIDERS, &deciders);
        saved.put(parts::FRESH, &self.modules.fresh);
        saved
    }

    /// Restores a world that continues exactly where the saved world stopped. Returns it with notes
    /// on modules that could not resume. A save can be restored any number of times.
    ///
    /// `scenario`, `modules` and `options` should be those of the saved run. The save contains the
    /// run's seed, time step, time of day, level of dynamics, pedestrians and module overrides. The
    /// seed and time step of `options` are ignored. The level and number of pedestrians of
    /// `options` apply only if they are set, and the modules of `options` only to the slots for
    /// which they are set.
    ///
    /// Other modules, whether set by `options` or named by stacks of `scenario`, apply to all
    /// agents that have not chosen their own. Such modules start fresh, and so do modules whose
    /// build has changed. This is noted ([`Summary::started_fresh`](crate::Summary)) and makes the
    /// run a branch. A module that differs only in parameters or rate keeps its memory, which is
    /// also noted. Agents keep their routes until they request new ones. Other vehicle types with
    /// the same names, other flows, and another level or number of pedestrians in the options also
    /// make the run a branch, and are noted.
    ///
    /// # Errors
    /// If the save is damaged or has parts of another version, if the ground or the names of stacks
    /// or vehicle types differ, or for the same reasons as [`World::new`].
    pub fn restore(
        ground: Arc<Ground>,
        scenario: &Scenario,
        modules: &Registry,
        options: &RunOptions,
        saved: &SavedWorld,
    ) -> Result<(Self, Vec<String>), SaveError> {
        // Versions come before the ground, because an older version may compute a different ground
        // hash.
        saved.check_versions()?;
        let hash = match saved.has(parts::DECIDERS) {
            true => ground.hash(),
            false => ground.hash_with_deciders(),
        };
        if saved.ground != hash {
            return Err(SaveError::OtherGround);
        }
        let counters: Counters = saved.get(parts::COUNTERS)?;
        // Older saves do not contain the origin.
        let origin: Option<Origin> = saved.get_if_any(parts::ORIGIN)?;
        let (dynamics, pedestrians) = origin.as_ref().map_or((None, None), Origin::asked_for);
        let options = RunOptions {
            dynamics: options.dynamics.or(dynamics),
            pedestrians: options.pedestrians.or(pedestrians),
            dt: Some(counters.clock.dt),
            seed: Some(counters.clock.seed),
            time_of_day: Some(counters.clock.begins_at),
            // The waiting and driving agents already include the random trips.
            populate: 0,
            modules: saved.overrides(&options.modules)?,
            ..options.clone()
        };
        let mut world = Self::on_ground(ground, scenario, modules, &options)?;
        if let Some(origin) = &origin
            && !origin.has_types(&world.types)
        {
            return Err(SaveError::OtherVehicleTypes);
        }
        world.clock = counters.clock;
        world.agent_updates = counters.agent_updates;
        world.replans = counters.replans;
        world.restore_agents(saved)?;
        world.restore_demand(saved)?;
        // Older saves do not contain the population.
        if let Some(population) = saved.get_if_any(parts::POPULATION)? {
            world.demand.population = population;
        }
        world.restore_traffic(saved)?;
        // Older saves do not contain counts of standing vehicles.
        if let Some(counts) = saved.get_if_any::<StandingCounts>(parts::STANDING_COUNTS)? {
            sound(
                "the count of stationary vehicles is invalid",
                counts.is_sound(),
            )?;
            world.standing_counts = counts;
        }
        if options.pedestrians != pedestrians {
            let rate = options.pedestrians_in(scenario)?;
            let people = &mut world.traffic.people;
            people.renew_sources(&world.ground, rate, &world.clock);
        }
        world.restore_messages(saved)?;
        // Older saves do not contain manual control.
        world.hands = saved.get_if_any::<Hands>(parts::HANDS)?.unwrap_or_default();
        // Older saves do not contain full locks, so all agents have the limited lock.
        if let Some(agents) = saved.get_if_any::<BTreeSet<u64>>(parts::FULL_LOCKS)? {
            world.hands.restore_full_locks(&agents);
        }
        let instances: Vec<SavedInstance> = saved.get(parts::MODULES)?;
        let mut stacks: Option<SavedStacks> = saved.get_if_any(parts::STACKS)?;
        if let Some(planners) = saved.get_if_any::<SavedGroundPlanners>(parts::GROUND_PLANNERS)? {
            planners.put(stacks.as_mut(), &mut world.agents);
        }
        let succession =
            (world.modules).restore_instances(&instances, stacks.as_ref(), &mut world.agents)?;
        // All parts have been read, but no index has been used yet. Invalid indices in a damaged save are
        // found here.
        world.check_indices()?;
        world.messages.count();
        world.dynamics.rigid.find_displaced(&world.ground);
        let others = match origin {
            Some(origin) => origin.differences(&Origin::of(&world)),
            None => Vec::new(),
        };
        let notes = world.restore_modules(saved, &instances, succession, others)?;
        let bodies = Bodies {
            ground: &world.ground,
            agents: world.agents.lent(),
            dynamics: &world.dynamics,
        };
        world.traffic.index.rebuild(&bodies, &world.types);
        // Older saves do not contain plans off the lanes.
        if let Some(plans) = saved.get_if_any::<BTreeMap<u64, AgentPlan>>(parts::GROUND_PLANS)? {
            sound(
                "a plan off the lanes is invalid",
                plans.values().all(AgentPlan::is_sound),
            )?;
            world.ground_plans.restore(plans);
            // Older saves do not contain searches for drivable paths.
            if let Some(drives) = saved.get_if_any::<BTreeMap<u64, DrivePlan>>(parts::DRIVES)? {
                sound(
                    "a search for a drivable path is invalid",
                    drives.values().all(DrivePlan::is_sound),
                )?;
                world.ground_plans.restore_drives(drives);
            }
            // Older saves do not contain searches of modules.
            if let Some(searches) =
                saved.get_if_any::<BTreeMap<u64, ModuleSearch>>(parts::MODULE_SEARCHES)?
            {
                world.ground_plans.restore_module_searches(searches);
            }
            // Older saves do not contain plans of characters.
            if let Some(walks) = saved.get_if_any::<BTreeMap<u64, WalkPlan>>(parts::WALKS)? {
                sound(
                    "the plan of a character is invalid",
                    walks.values().all(WalkPlan::is_sound),
                )?;
                world.ground_plans.restore_walks(walks);
            }
            // Older saves do not contain searches from goals.
            if let Some(costs) = saved.get_if_any::<BTreeMap<u64, u64>>(parts::GOAL_COSTS)? {
                world.ground_plans.restore_costs(costs);
            }
            world.update_ground_map();
        }
        // Older saves do not contain moves of move trees.
        if let Some(moves) = saved.get_if_any::<SavedMoves>(parts::MOVE_TREES)? {
            world
                .move_trees
                .restore(moves, &world.types)
                .map_err(|error| match error {
                    ResumeError::OtherLibrary(name) => SaveError::OtherMoves(name),
                    ResumeError::Damaged => {
                        SaveError::Damaged("a move of an agent is invalid".into())
                    }
                })?;
        }
        Ok((world, notes))
    }

    fn restore_agents(&mut self, saved: &SavedWorld) -> Result<(), SaveError> {
        let mut agents: Agents = saved.get(parts::AGENTS)?;
        agents.index_ids();
        // Older saves do not contain per-agent statistics.
        if let Some(accounts) = saved.get_if_any::<Accounts>(parts::ACCOUNTS)? {
            agents.accounts = accounts;
        }
        // Older saves do not contain deviations, so the sums start here.
        if let Some(deviations) = saved.get_if_any::<BTreeMap<u64, Deviation>>(parts::DEVIATIONS)? {
            if !deviations.values().all(Deviation::is_sound) {
                return Err(SaveError::Damaged(
                    "a deviation is not a finite number".into(),
                ));
            }
            agents.accounts.deviations = deviations;
        }
        // Older saves do not contain pedals.
        if let Some(pedals) = saved.get_if_any::<Vec<Option<PedalCommand>>>(parts::PEDALS)? {
            agents.pedals = pedals
                .into_iter()
                .map(|held| held.map(PedalCommand::checked))
                .collect();
        }
        let mut routes: Routes = saved.get(parts::ROUTES)?;
        sound("a path", routes.build_paths())?;
        routes.index_hashes();
        (self.agents, self.routes) = (agents, routes);
        self.dynamics = saved.get::<Dynamics>(parts::DYNAMICS)?;
        // Older saves do not contain uncoupled trailers.
        if let Some(standing) = saved.get_if_any::<StandingTrains>(parts::STANDING)? {
            self.dynamics.standing = standing;
        }
        self.finished = saved.get::<Finished>(parts::FINISHED)?;
        Ok(())
    }

    fn restore_traffic(&mut self, saved: &SavedWorld) -> Result<(), SaveError> {
        self.traffic.claims = saved.get::<Claims>(parts::CLAIMS)?;
        self.traffic.signals = saved.get::<SignalStates>(parts::SIGNALS)?;
        self.traffic.contacts = saved.get::<Contacts>(parts::CONTACTS)?;
        self.traffic.delays = saved.get::<Delays>(parts::DELAYS)?;
        self.traffic.encroachment = saved.get::<Encroachment>(parts::ENCROACHMENT)?;
        // Older saves do not contain pedestrians.
        if let Some(people) = saved.get_if_any::<People>(parts::PEOPLE)? {
            self.traffic.people = people;
            let steps = saved.get_if_any(parts::PEOPLE_STEPS)?;
            self.traffic.people.restore_steps(steps);
        }
        Ok(())
    }

    fn restore_messages(&mut self, saved: &SavedWorld) -> Result<(), SaveError> {
        self.messages.mail = saved.get::<Vec<Message>>(parts::MAIL)?;
        self.messages.groups = Arc::new(saved.get::<Groups>(parts::GROUPS)?);
        self.messages.told_collisions = saved.get::<usize>(parts::TOLD_COLLISIONS)?;
        self.messages.log = saved.get::<Log>(parts::LOG)?;
        Ok(())
    }

    /// Restores the states of modules. Returns notes on modules that start fresh.
    fn restore_modules(
        &mut self,
        saved: &SavedWorld,
        instances: &[SavedInstance],
        succession: Succession,
        others: Vec<Anew>,
    ) -> Result<Vec<String>, SaveError> {
        let told: SavedMembership = saved.get(parts::MEMBERSHIP)?;
        if !told.fits(self.agents.census().capacity()) {
            return Err(SaveError::Damaged(
                "the record of a removed agent is invalid".into(),
            ));
        }
        let now = self.modules.signals.deciders(&self.ground);
        // In older saves, the deciders are known to be the same, because the ground hash includes
        // them.
        let was: Option<Vec<Decider>> = saved.get_if_any(parts::DECIDERS)?;
        let deciders = DeciderChange {
            was: was.as_ref().unwrap_or(&now),
            now: &now,
        };
        let (clock, agents) = (&self.clock, &mut self.agents);
        let modules = &mut self.modules;
        let mut anew = modules.restore_states(clock, agents, instances, told, deciders, succession);
        anew.extend(others);
        // Notes from an earlier branch are kept.
        self.modules.fresh = saved.get_if_any(parts::FRESH)?.unwrap_or_default();
        let mut notes = Vec::new();
        for one in anew {
            notes.push(format!("{} {}: {}", one.slot, one.module, one.why));
            self.modules.fresh.push(FreshStart {
                step: self.clock.step,
                time: self.clock.time(),
                slot: one.slot,
                module: one.module,
                why: one.why,
            });
        }
        let program = env!("CARGO_PKG_VERSION");
        if saved.program != program {
            notes.push(format!(
                "the world was saved by version {}, but this is version {program}",
                saved.program
            ));
        }
        let swaps: Vec<SavedSwap> = saved.get(parts::SWAPS)?;
        self.modules.swaps = swaps.into_iter().map(SwapRecord::from).collect();
        let failures: Option<ModuleFailures> = saved.get_if_any(parts::FAILURES)?;
        self.modules.failures = failures.unwrap_or_default();
        Ok(notes)
    }

    fn restore_demand(&mut self, saved: &SavedWorld) -> Result<(), SaveError> {
        self.demand.departures = saved.get::<Departures>(parts::DEPARTURES)?;
        self.demand.spawned = saved.get::<u64>(parts::SPAWNED)?;
        let (flows, retired): (Vec<FlowProgress>, Vec<FlowProgress>) = saved.get(parts::FLOWS)?;
        if !retired.iter().all(FlowProgress::is_sound) {
            return Err(SaveError::Damaged("a flow has an invalid time".into()));
        }
        self.demand.retired_flows = retired;
        let time = self.time();
        // Flows are matched by id and not by their position in the list.
        for flow in &mut self.demand.flows {
            let before = flows.iter().find(|before| before.id == flow.progress().id);
            if let Some(before) = before
                && !flow.resume(before.clone(), time)
            {
                return Err(SaveError::Damaged("a flow has an invalid time".into()));
            }
        }
        Ok(())
    }

    /// Checks all references between the parts, because the save may be damaged.
    fn check_indices(&self) -> Result<(), SaveError> {
        let lanelets = self.ground.graph().lanelets().len();
        let capacity = self.agents.census().capacity();
        let has_kind = |vehicle_type: u16, stack: u16| {
            (vehicle_type as usize) < self.types.names.len()
                && (stack as usize) < self.modules.stacks.len()
        };
        let knows = |agent: usize, who: &Identity| {
            (who.vehicle_type as usize) < self.types.count()
                && has_kind(self.types.whole(who.vehicle_type), who.stack)
                && self.modules.pools.have(who.modules)
                && self.dynamics.holds(who.level, agent)
                && self
                    .dynamics
                    .rigid
                    .fits(agent, self.types.rigid(who.vehicle_type))
                && self.dynamics.trailers.fit(
                    AgentIndex::from_index(agent),
                    self.types.train(who.vehicle_type),
                )
        };
        let receives = |message: &Message| (message.to as usize) < capacity;
        let departs = |departure: &Departure| {
            has_kind(departure.vehicle_type, departure.stack) && departure.is_sound(lanelets)
        };
        let claims = &self.traffic.claims;
        let agents = &self.agents;
        // The order matters, because each check relies on what the previous ones have verified.
        let counts = [self.agent_updates, self.replans.stuck];
        sound("the clock", self.clock.is_sound() && are_countable(counts))?;
        sound("the log", self.messages.log.is_sound())?;
        sound("a lanelet", self.traffic.delays.0.len() == lanelets)?;
        sound("an added vehicle", self.demand.spawned <= MOST_SPAWNED)?;
        sound("a junction", claims.fits(&self.ground, capacity))?;
        sound(
            "a loose obstacle",
            self.dynamics.rigid.loose_fit(&self.ground),
        )?;
        sound("a trailer", self.dynamics.standing.fit(&self.types))?;
        sound("a signal", self.traffic.signals.fit(&self.ground))?;
        sound(
            "a person",
            self.traffic.people.fits(&self.ground, &self.clock),
        )?;
        sound("a route", self.routes.are_sound(lanelets))?;
        sound("an agent", agents.are_sound(lanelets, &self.routes, knows))?;
        // From here on, all agent columns are known to have equal length.
        let driving = agents.census().driving();
        let users = driving.map(|agent| agents.progress[agent.index()].route);
        sound("a user of a route", self.routes.have_users(users))?;
        sound("a message", self.messages.mail.iter().all(receives))?;
        sound("a departure", self.demand.departures.iter().all(departs))
    }
}

/// Returns an error that reports the part `what` of the save as damaged if `is_sound` is `false`.
fn sound(what: &str, is_sound: bool) -> Result<(), SaveError> {
    let damaged = || SaveError::Damaged(format!("{what} is invalid"));
    is_sound.then_some(()).ok_or_else(damaged)
}
