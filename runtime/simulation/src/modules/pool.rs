//! The pool of instances: each setting of a module runs once, however many stacks name it.

use crate::summary::ModuleRecord;
use roadwright_agent::{
    Behaviour, Choosable, Controller, Fitness, Module, ModuleError, Planner, Rate, Registry, Slot,
    set_parameters,
};
use roadwright_scenario::{ModuleSetting, Stack};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Most modules of one slot: each agent can have parameters of its own.
const MOST: usize = 1024;

/// The instances of an agent: for each slot an index in its pool, in the order of [`Slot::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Instances([u16; 4]);

impl Instances {
    /// Those of an agent that does not drive.
    pub(crate) const NONE: Self = Self([u16::MAX; 4]);

    /// The instance of a slot.
    #[inline]
    pub(crate) fn of(self, slot: Slot) -> u16 {
        self.0[slot as usize]
    }

    pub(crate) fn set(&mut self, slot: Slot, instance: u16) {
        self.0[slot as usize] = instance;
    }

    /// These, but none where `other` has the same.
    pub(crate) fn without(self, other: Self) -> Self {
        Self(std::array::from_fn(|slot| {
            if self.0[slot] == other.0[slot] {
                u16::MAX
            } else {
                self.0[slot]
            }
        }))
    }
}

impl Default for Instances {
    fn default() -> Self {
        Self::NONE
    }
}

/// A module that runs with its parameters.
pub(crate) struct Instance<L: ?Sized> {
    pub(crate) setting: ModuleSetting,
    pub(crate) module: Module<L>,
    pub(crate) rate: Rate,
    pub(crate) has_step_boundary: bool,
}

/// The modules of one slot.
pub(crate) struct ModulePool<L: ?Sized> {
    pub(crate) instances: Vec<Instance<L>>,
    /// An instance that nobody uses any more.
    free: Option<u16>,
}

impl<L: Choosable + ?Sized> ModulePool<L> {
    fn new() -> Self {
        Self {
            instances: Vec::new(),
            free: None,
        }
    }

    /// The instance of a setting: one that runs already, or a new one.
    pub(crate) fn instance_of(
        &mut self,
        stack: &str,
        setting: &ModuleSetting,
        registry: &Registry,
        dt: f64,
    ) -> Result<u16, ModuleError> {
        let known = self.instances.iter().position(|r| r.setting == *setting);
        if let Some(place) = known {
            return Ok(place as u16);
        }
        if self.is_full() && self.free.is_none() {
            return Err(ModuleError::TooMany {
                slot: L::SLOT.name(),
                most: MOST,
            });
        }
        let module = registry.module::<L>(stack, setting)?;
        self.push(module, setting, dt);
        let last = self.instances.len() as u16 - 1;
        match self.free.take() {
            None => Ok(last),
            Some(place) => {
                self.instances.swap_remove(place as usize);
                Ok(place)
            }
        }
    }

    fn is_full(&self) -> bool {
        self.instances.len() >= MOST
    }

    /// Gives up a setting that nobody uses: its place is free for the next one.
    fn free_unused(&mut self, used: &BTreeSet<u16>) {
        let mut all = 0..self.instances.len() as u16;
        self.free = all.find(|instance| !used.contains(instance));
    }

    fn record(&self, records: &mut Vec<ModuleRecord>) {
        for Instance { module, .. } in &self.instances {
            let record = ModuleRecord {
                slot: L::SLOT.name(),
                module: module.info.id.into(),
                build: module.logic.version(),
            };
            // The same module with other parameters is the same build.
            if !record.build.is_empty() && !records.contains(&record) {
                records.push(record);
            }
        }
    }

    fn push(&mut self, module: Module<L>, setting: &ModuleSetting, dt: f64) {
        let rate = setting.rate_hz.unwrap_or(L::SLOT.default_rate_hz());
        self.instances.push(Instance {
            has_step_boundary: module.logic.has_step_boundary(),
            setting: setting.clone(),
            module,
            rate: Rate::new(rate, dt),
        });
    }

    /// Takes over a module that `old` runs for a setting, or if `is_similar` for one that differs in
    /// parameters or rate only, so that a moved slider does not make it forget.
    fn adopt(
        &mut self,
        stack: &str,
        setting: &ModuleSetting,
        old: &mut Self,
        is_similar: bool,
        dt: f64,
    ) {
        if self.instances.iter().any(|r| r.setting == *setting) {
            return;
        }
        let fits = |r: &Instance<L>| {
            r.setting == *setting || is_similar && r.setting.module == setting.module
        };
        let Some(place) = old.instances.iter().position(fits) else {
            return;
        };
        let mut module = old.instances.remove(place).module;
        // One that does not take the parameters is made anew, and that says what is wrong.
        if set_parameters(&mut module, stack, setting).is_ok() {
            self.push(module, setting, dt);
        }
    }
}

/// The modules of all slots.
pub(crate) struct Pools {
    pub(crate) planners: ModulePool<dyn Planner>,
    pub(crate) behaviours: ModulePool<dyn Behaviour>,
    pub(crate) controllers: ModulePool<dyn Controller>,
    pub(crate) fitnesses: ModulePool<dyn Fitness>,
}

impl Pools {
    pub(crate) fn new() -> Self {
        Self {
            planners: ModulePool::new(),
            behaviours: ModulePool::new(),
            controllers: ModulePool::new(),
            fitnesses: ModulePool::new(),
        }
    }

    /// The modules of a stack.
    pub(crate) fn instances_of(
        &mut self,
        name: &str,
        stack: &Stack,
        registry: &Registry,
        dt: f64,
    ) -> Result<Instances, ModuleError> {
        Ok(Instances([
            self.planners
                .instance_of(name, &stack.planner, registry, dt)?,
            self.behaviours
                .instance_of(name, &stack.behaviour, registry, dt)?,
            self.controllers
                .instance_of(name, &stack.controller, registry, dt)?,
            self.fitnesses
                .instance_of(name, &stack.fitness, registry, dt)?,
        ]))
    }

    /// Takes over what `old` runs for a stack: exactly that, or what is similar.
    pub(crate) fn adopt(
        &mut self,
        name: &str,
        stack: &Stack,
        old: &mut Self,
        is_similar: bool,
        dt: f64,
    ) {
        self.planners
            .adopt(name, &stack.planner, &mut old.planners, is_similar, dt);
        self.behaviours
            .adopt(name, &stack.behaviour, &mut old.behaviours, is_similar, dt);
        self.controllers.adopt(
            name,
            &stack.controller,
            &mut old.controllers,
            is_similar,
            dt,
        );
        self.fitnesses
            .adopt(name, &stack.fitness, &mut old.fitnesses, is_similar, dt);
    }

    /// The modules that are not built in.
    pub(crate) fn records(&self) -> Vec<ModuleRecord> {
        let mut records = Vec::new();
        self.planners.record(&mut records);
        self.behaviours.record(&mut records);
        self.controllers.record(&mut records);
        self.fitnesses.record(&mut records);
        records
    }

    /// Whether the instances of an agent are there.
    pub(crate) fn have(&self, modules: Instances) -> bool {
        let counts = [
            self.planners.instances.len(),
            self.behaviours.instances.len(),
            self.controllers.instances.len(),
            self.fitnesses.instances.len(),
        ];
        let mut pairs = modules.0.iter().zip(counts);
        pairs.all(|(&instance, count)| (instance as usize) < count)
    }

    /// Whether a slot has no room for another setting.
    pub(crate) fn is_full(&self, slot: Slot) -> bool {
        match slot {
            Slot::Planner => self.planners.is_full(),
            Slot::Behaviour => self.behaviours.is_full(),
            Slot::Controller => self.controllers.is_full(),
            Slot::Fitness => self.fitnesses.is_full(),
        }
    }

    /// Gives up a setting of a slot that is not among those that are used.
    pub(crate) fn free_unused(&mut self, slot: Slot, used: &BTreeSet<u16>) {
        match slot {
            Slot::Planner => self.planners.free_unused(used),
            Slot::Behaviour => self.behaviours.free_unused(used),
            Slot::Controller => self.controllers.free_unused(used),
            Slot::Fitness => self.fitnesses.free_unused(used),
        }
    }

    /// The setting of a running module.
    pub(crate) fn setting(&self, slot: Slot, place: u16) -> &ModuleSetting {
        let place = place as usize;
        match slot {
            Slot::Planner => &self.planners.instances[place].setting,
            Slot::Behaviour => &self.behaviours.instances[place].setting,
            Slot::Controller => &self.controllers.instances[place].setting,
            Slot::Fitness => &self.fitnesses.instances[place].setting,
        }
    }
}
