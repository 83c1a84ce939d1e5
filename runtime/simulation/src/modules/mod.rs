//! Modules of a world: the running instances, their agents, and when they are updated.

mod batch;
mod boundary;
mod pool;
mod saving;
mod signal_controllers;
mod succession;

pub(crate) use batch::{
    Column, ColumnPart, Columns, Due, Part, Rota, Rows, SLICE, Sharing, Splits, batches,
};
pub(crate) use boundary::SavedMembership;
pub(crate) use saving::{SavedInstance, SavedSwap};
pub(crate) use signal_controllers::{Decider, DeciderChange, SignalControllers, node_of};
pub(crate) use succession::{Anew, SavedGroundPlanners, SavedStacks, Succession};

use crate::agents::{Agents, Census};
use crate::clock::Clock;
use crate::fixed::Fixed;
use crate::options::{ModuleOverrides, RunOptions, SimulationError};
use crate::records::{AgentIndex, Instances, ModuleFailure, ModuleFailures};
use crate::route::Asking;
use crate::summary::{FreshStart, ModuleRecord, SwapRecord};
use boundary::Membership;
use pool::Pools;
use roadwright_agent::{
    Behaviour, Controller, Fitness, Module, ModuleError, PlannerView, Registry, Slot,
};
use roadwright_scenario::{ModuleSetting, Scenario, Stack};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The modules of a world: its stacks, their instances, and the record of replacements and
/// failures.
pub(crate) struct Modules {
    /// Names of all stacks.
    pub(crate) names: Arc<Vec<String>>,
    /// Settings of each stack.
    settings: Vec<Stack>,
    /// Instances of each stack.
    pub(crate) stacks: Vec<Instances>,
    pub(crate) pools: Pools,
    /// Modules that control signals.
    pub(crate) signals: SignalControllers,
    pub(crate) registry: Registry,
    pub(crate) overrides: ModuleOverrides,
    membership: Membership,
    /// Replaced modules, in order.
    pub(crate) swaps: Vec<SwapRecord>,
    /// Module failures in the steps so far.
    pub(crate) failures: ModuleFailures,
    /// Modules that could not resume from the state of a saved world, in order.
    pub(crate) fresh: Vec<FreshStart>,
    /// Whether agents have chosen modules since the last step boundary.
    pub(crate) has_new: bool,
    dt: f64,
}

/// Returns all reasons why the stacks and signal plans of a scenario cannot be built, such as
/// unknown modules or parameters. A run would stop at the first of these reasons.
pub(crate) fn unfit(scenario: &Scenario, registry: &Registry) -> Vec<SimulationError> {
    let stacks = unfit_stacks(
        scenario.stacks().iter(),
        registry,
        scenario.settings().dt.get(),
    );
    let signals = signal_controllers::unfit(scenario, registry);
    stacks.map(SimulationError::from).chain(signals).collect()
}

/// Reasons why stacks cannot be built, slot by slot. The modules are created and dropped again,
/// because some errors are only found on creation.
fn unfit_stacks<'a>(
    stacks: impl Iterator<Item = (&'a String, &'a Stack)>,
    registry: &Registry,
    dt: f64,
) -> impl Iterator<Item = ModuleError> {
    let mut pools = Pools::new();
    let slots = stacks.flat_map(|stack| Slot::ALL.map(|slot| (stack, slot)));
    slots.filter_map(move |((name, stack), slot)| {
        let pool = pools.of_mut(slot);
        let made = pool.instance_of(name, stack.settings(slot), registry, dt);
        made.err()
    })
}

/// Per-agent statistics that the fitness functions of a run use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedAccounts {
    Nothing,
    /// The number of collisions.
    Collisions,
    All,
}

impl Modules {
    /// Creates the modules named in the stacks of a scenario.
    pub(crate) fn new(
        scenario: &Scenario,
        registry: &Registry,
        options: &RunOptions,
        dt: f64,
    ) -> Result<Self, SimulationError> {
        let mut modules = Self {
            names: Arc::default(),
            settings: Vec::new(),
            stacks: Vec::new(),
            pools: Pools::new(),
            signals: SignalControllers::default(),
            registry: registry.clone(),
            overrides: options.modules.clone(),
            membership: Membership::default(),
            swaps: Vec::new(),
            failures: ModuleFailures::default(),
            fresh: Vec::new(),
            has_new: false,
            dt,
        };
        let stacks = modules.stacks_of(scenario);
        modules.stacks = modules.instances_of(&stacks)?;
        modules.names = names(&stacks);
        modules.settings = stacks.into_iter().map(|(_, stack)| stack).collect();
        Ok(modules)
    }

    /// Stacks of a scenario, including the overrides of the run.
    pub(crate) fn stacks_of(&self, scenario: &Scenario) -> Vec<(String, Stack)> {
        let stacks = scenario.stacks().iter();
        stacks
            .map(|(name, stack)| (name.clone(), self.overrides.apply(stack)))
            .collect()
    }

    fn instances_of(&mut self, stacks: &[(String, Stack)]) -> Result<Vec<Instances>, ModuleError> {
        let (pools, registry, dt) = (&mut self.pools, &self.registry, self.dt);
        let instances = stacks
            .iter()
            .map(|(name, stack)| pools.instances_of(name, stack, registry, dt));
        instances.collect()
    }

    /// Checks that the stacks of a scenario can be built.
    pub(crate) fn check(
        &self,
        scenario: &Scenario,
        registry: &Registry,
    ) -> Result<(), ModuleError> {
        let stacks = self.stacks_of(scenario);
        let stacks = stacks.iter().map(|(name, stack)| (name, stack));
        let first = unfit_stacks(stacks, registry, self.dt).next();
        first.map_or(Ok(()), Err)
    }

    /// Switches to the stacks of an edited scenario. A module keeps its memory if only its parameters differ.
    /// Agents of deleted stacks have already left. Returns the new number of each old stack; `None` if it was
    /// deleted.
    pub(crate) fn take_stacks(
        &mut self,
        scenario: &Scenario,
        agents: &mut Agents,
    ) -> Result<Vec<Option<u16>>, SimulationError> {
        let stacks = self.stacks_of(scenario);
        // Collected before the pools are replaced, because agents refer to instances of the old pools.
        let own = self.own_modules(agents.census());
        let mut old = std::mem::replace(&mut self.pools, Pools::new());
        // Exact matches come first, so that no stack takes an instance that another one still uses.
        for is_similar in [false, true] {
            for (name, stack) in &stacks {
                self.pools.adopt(name, stack, &mut old, is_similar, self.dt);
            }
        }
        self.stacks = self.instances_of(&stacks)?;
        let new = names(&stacks);
        let moved = new_numbers(&self.names, &new);
        self.names = new;
        self.settings = stacks.into_iter().map(|(_, stack)| stack).collect();
        for index in 0..agents.census().capacity() {
            let who = &mut agents.identity[index];
            if let Some(stack) = who.is_known().then(|| moved[who.stack as usize]).flatten() {
                who.stack = stack;
                who.modules = self.stacks[stack as usize];
            }
        }
        // Agents got the instances of their stack above. The modules that they chose for themselves are
        // restored here.
        for (agent, slot, settings) in own {
            let stack = agents.identity[agent.index()].stack as usize;
            let name = self.names[stack].clone();
            // If a module is no longer in the registry, the agent uses the module of its stack
            // again.
            if let Ok(instance) = self.instance_of(slot, &name, &settings) {
                agents.identity[agent.index()].modules.set(slot, instance);
            }
        }
        self.assign_arrivals(agents);
        self.membership.clear(agents.census());
        agents.touch();
        Ok(moved)
    }

    /// Modules that agents have chosen individually.
    fn own_modules(&self, agents: Census<'_>) -> Vec<(AgentIndex, Slot, Vec<ModuleSetting>)> {
        let mut own = Vec::new();
        // In the order of ids, because instances are numbered as they are created and their number is
        // limited.
        for agent in agents.by_growing_id() {
            let who = &agents.identity[agent.index()];
            let of_stack = self.stacks[who.stack as usize];
            for slot in Slot::ALL {
                let instance = who.modules.of(slot);
                if instance != of_stack.of(slot) {
                    own.push((agent, slot, self.pools.of(slot).settings(instance).to_vec()));
                }
            }
        }
        own
    }

    /// Switches a slot of one agent to other modules, or to the same modules with a changed parameter.
    ///
    /// # Errors
    /// If a module or parameter does not exist.
    pub(crate) fn choose(
        &mut self,
        agents: &mut Agents,
        agent: AgentIndex,
        slot: Slot,
        change: impl FnOnce(&Registry, &mut Vec<ModuleSetting>),
    ) -> Result<(), ModuleError> {
        let who = agents.identity[agent.index()];
        let old = self.pools.of(slot).settings(who.modules.of(slot));
        let mut settings = old.to_vec();
        change(&self.registry, &mut settings);
        if settings == old {
            return Ok(());
        }
        // Unused instances are freed only when the pool is full. Until then, an agent that returns
        // to an earlier setting, for example while a slider is moved, finds its instance again.
        if self.pools.of(slot).is_full() {
            let users = agents.identity.iter().filter(|who| who.is_known());
            let used = users
                .map(|who| who.modules)
                .chain(self.stacks.iter().copied());
            let used: BTreeSet<u16> = used.map(|modules| modules.of(slot)).collect();
            self.pools.of_mut(slot).free_unused(&used);
        }
        let stack = self.names[who.stack as usize].clone();
        let instance = self.instance_of(slot, &stack, &settings)?;
        self.has_new = true;
        agents.identity[agent.index()].modules.set(slot, instance);
        agents.progress[agent.index()].holds_arrival =
            self.holds_arrival(agents.identity[agent.index()].modules);
        agents.touch();
        Ok(())
    }

    fn instance_of(
        &mut self,
        slot: Slot,
        stack: &str,
        settings: &[ModuleSetting],
    ) -> Result<u16, ModuleError> {
        let (registry, dt) = (&self.registry, self.dt);
        self.pools
            .of_mut(slot)
            .instance_of(stack, settings, registry, dt)
    }

    /// Updates, for each agent, whether its modules decide about arrivals. Called after modules may
    /// have been replaced.
    fn assign_arrivals(&self, agents: &mut Agents) {
        for (who, progress) in agents.identity.iter().zip(&mut agents.progress) {
            progress.holds_arrival = self.holds_arrival(who.modules);
        }
    }

    /// Whether the behaviour in `modules` is asked before an agent is removed on arrival.
    pub(crate) fn holds_arrival(&self, modules: Instances) -> bool {
        let behaviour = modules.of(Slot::Behaviour) as usize;
        let behaviour = self.pools.behaviour.instances.get(behaviour);
        behaviour.is_some_and(|instance| instance.module().logic.handles_arrival())
    }

    /// Returns the context for calls of an agent's planner.
    pub(crate) fn asking<'a>(
        &'a self,
        clock: &Clock,
        Fixed { ground, types }: Fixed<'a>,
        delays: &'a [f32],
        agents: Census<'_>,
        agent: AgentIndex,
    ) -> Asking<'a> {
        let who = &agents.identity[agent.index()];
        let instance = &self.pools.planner.instances[who.modules.of(Slot::Planner) as usize];
        Asking {
            planner: instance.module(),
            view: PlannerView {
                graph: ground.graph(),
                delays,
            },
            step: clock.moment(instance.rate),
            agent,
            id: who.id,
            class: types.get(who.vehicle_type).class,
        }
    }

    /// Behaviour of an agent.
    pub(crate) fn behaviour(&self, modules: Instances) -> &Module<dyn Behaviour> {
        let instance = modules.of(Slot::Behaviour) as usize;
        self.pools.behaviour.instances[instance].module()
    }

    /// Controller of an agent.
    pub(crate) fn controller(&self, modules: Instances) -> &Module<dyn Controller> {
        let instance = modules.of(Slot::Controller) as usize;
        self.pools.controller.instances[instance].module()
    }

    /// Setting of an agent's controller; `None` if it is unknown.
    pub(crate) fn controller_setting(&self, modules: Instances) -> Option<&ModuleSetting> {
        let instance = modules.of(Slot::Controller) as usize;
        self.pools.controller.instances[instance].settings.first()
    }

    /// Fitness functions of an agent.
    pub(crate) fn fitnesses(&self, modules: Instances) -> &[Module<dyn Fitness>] {
        let instance = modules.of(Slot::Fitness) as usize;
        &self.pools.fitness.instances[instance].modules
    }

    /// Whether any fitness function uses post-encroachment times.
    pub(crate) fn want_post_encroachment(&self) -> bool {
        let instances = self.pools.fitness.instances.iter();
        let mut modules = instances.flat_map(|instance| &instance.modules);
        modules.any(|module| module.logic.wants_post_encroachment())
    }

    /// The per-agent statistics of `agents/accounts.rs` that fitness functions use.
    pub(crate) fn wanted_accounts(&self) -> WantedAccounts {
        let instances = self.pools.fitness.instances.iter();
        let modules = instances.flat_map(|instance| &instance.modules);
        let mut wanted = WantedAccounts::Nothing;
        for module in modules {
            if module.logic.wants_account() {
                return WantedAccounts::All;
            }
            if module.logic.wants_arrival() {
                wanted = WantedAccounts::Collisions;
            }
        }
        wanted
    }

    /// External modules in use, with their builds.
    pub(crate) fn records(&self) -> Vec<ModuleRecord> {
        let mut records = self.pools.records(&self.failures);
        self.signals.record(&self.failures, &mut records);
        records
    }

    /// Collects the module failures of the current step.
    pub(crate) fn take_failures(&mut self, time: f64) {
        let mut slots = Slot::ALL.into_iter();
        if slots.any(|slot| self.pools.of(slot).has_step_boundary()) {
            for slot in Slot::ALL {
                let pool = self.pools.of_mut(slot);
                pool.take_failures(time, &mut self.failures);
            }
        }
        self.signals.take_failures(time, &mut self.failures);
    }

    /// Module failures so far, by module id.
    pub(crate) fn failures(&self, time: f64) -> BTreeMap<String, ModuleFailure> {
        let mut failures = self.failures.clone();
        // Fitness functions are also evaluated between steps, when drives are summarised.
        for slot in Slot::ALL {
            self.pools.of(slot).add_failures(time, &mut failures);
        }
        self.signals.add_failures(time, &mut failures);
        failures.into_inner()
    }

    /// Index of the stack with the given name; `None` if there is none.
    pub(crate) fn stack_number(&self, name: &str) -> Option<u16> {
        number_of(&self.names, name)
    }
}

fn names(stacks: &[(String, Stack)]) -> Arc<Vec<String>> {
    Arc::new(stacks.iter().map(|(name, _)| name.clone()).collect())
}

/// Index of the given name in a list.
pub(crate) fn number_of(names: &[String], name: &str) -> Option<u16> {
    names
        .iter()
        .position(|known| known == name)
        .map(|at| at as u16)
}

/// Returns the index of each old name among the new names; `None` if it is not among them.
pub(crate) fn new_numbers(old: &[String], new: &[String]) -> Vec<Option<u16>> {
    old.iter().map(|name| number_of(new, name)).collect()
}
