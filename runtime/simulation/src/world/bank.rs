//! The modules that run, each of them once however many stacks name it.

use crate::mover::Mover;
use crate::summary::ModuleRecord;
use roadwright_agent::{
    Behaviour, Choosable, Controller, Fitness, Module, ModuleError, Planner, Rate, Registry, Slot,
    set_parameters,
};
use roadwright_scenario::{ModuleSetting, Stack};
use std::collections::BTreeSet;

/// Most modules of one slot: each agent can have parameters of its own.
const MOST: usize = 1024;

/// Index of an agent's module in each slot's bank, in the order of [`Slot::ALL`].
pub(crate) type Places = [u16; 4];
/// The places of an agent that does not drive.
pub(super) const NOWHERE: Places = [u16::MAX; 4];

/// A module that runs.
pub(super) struct Running<L: ?Sized> {
    pub(super) setting: ModuleSetting,
    pub(super) module: Module<L>,
    pub(super) rate: Rate,
    pub(super) has_step_boundary: bool,
}

/// The modules of one slot.
pub(super) struct Bank<L: ?Sized> {
    pub(super) running: Vec<Running<L>>,
    /// A place whose module nobody uses any more.
    free: Option<u16>,
}

impl<L: Choosable + ?Sized> Bank<L> {
    fn new() -> Self {
        Self {
            running: Vec::new(),
            free: None,
        }
    }

    /// The module of a setting: one that runs already, or a new one.
    pub(super) fn place(
        &mut self,
        stack: &str,
        setting: &ModuleSetting,
        registry: &Registry,
        dt: f64,
    ) -> Result<u16, ModuleError> {
        let known = self.running.iter().position(|r| r.setting == *setting);
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
        let last = self.running.len() as u16 - 1;
        match self.free.take() {
            None => Ok(last),
            Some(place) => {
                self.running.swap_remove(place as usize);
                Ok(place)
            }
        }
    }

    fn is_full(&self) -> bool {
        self.running.len() >= MOST
    }

    /// Gives up a setting that nobody uses: its place is free for the next one.
    fn free_unused(&mut self, used: &BTreeSet<u16>) {
        let mut places = 0..self.running.len() as u16;
        self.free = places.find(|place| !used.contains(place));
    }

    fn record(&self, records: &mut Vec<ModuleRecord>) {
        for Running { module, .. } in &self.running {
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
        self.running.push(Running {
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
        if self.running.iter().any(|r| r.setting == *setting) {
            return;
        }
        let fits = |r: &Running<L>| {
            r.setting == *setting || is_similar && r.setting.module == setting.module
        };
        let Some(place) = old.running.iter().position(fits) else {
            return;
        };
        let mut module = old.running.remove(place).module;
        // One that does not take the parameters is made anew, and that says what is wrong.
        if set_parameters(&mut module, stack, setting).is_ok() {
            self.push(module, setting, dt);
        }
    }
}

/// The modules of all slots.
pub(super) struct Banks {
    pub(super) planners: Bank<dyn Planner>,
    pub(super) behaviours: Bank<dyn Behaviour>,
    pub(super) controllers: Bank<dyn Controller>,
    pub(super) fitnesses: Bank<dyn Fitness>,
}

impl Banks {
    pub(super) fn new() -> Self {
        Self {
            planners: Bank::new(),
            behaviours: Bank::new(),
            controllers: Bank::new(),
            fitnesses: Bank::new(),
        }
    }

    /// The modules of a stack.
    pub(super) fn places(
        &mut self,
        name: &str,
        stack: &Stack,
        registry: &Registry,
        dt: f64,
    ) -> Result<Places, ModuleError> {
        Ok([
            self.planners.place(name, &stack.planner, registry, dt)?,
            self.behaviours
                .place(name, &stack.behaviour, registry, dt)?,
            self.controllers
                .place(name, &stack.controller, registry, dt)?,
            self.fitnesses.place(name, &stack.fitness, registry, dt)?,
        ])
    }

    /// Takes over what `old` runs for a stack: exactly that, or what is similar.
    pub(super) fn adopt(
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
    pub(super) fn records(&self) -> Vec<ModuleRecord> {
        let mut records = Vec::new();
        self.planners.record(&mut records);
        self.behaviours.record(&mut records);
        self.controllers.record(&mut records);
        self.fitnesses.record(&mut records);
        records
    }

    /// The planner of an agent.
    pub(super) fn planner_of(&self, mover: &Mover) -> &Module<dyn Planner> {
        let place = mover.modules[Slot::Planner as usize] as usize;
        &self.planners.running[place].module
    }

    /// Whether a slot has no room for another setting.
    pub(super) fn is_full(&self, slot: Slot) -> bool {
        match slot {
            Slot::Planner => self.planners.is_full(),
            Slot::Behaviour => self.behaviours.is_full(),
            Slot::Controller => self.controllers.is_full(),
            Slot::Fitness => self.fitnesses.is_full(),
        }
    }

    /// Gives up a setting of a slot that is not among those that are used.
    pub(super) fn free_unused(&mut self, slot: Slot, used: &BTreeSet<u16>) {
        match slot {
            Slot::Planner => self.planners.free_unused(used),
            Slot::Behaviour => self.behaviours.free_unused(used),
            Slot::Controller => self.controllers.free_unused(used),
            Slot::Fitness => self.fitnesses.free_unused(used),
        }
    }

    /// The setting of a running module.
    pub(super) fn setting(&self, slot: Slot, place: u16) -> &ModuleSetting {
        let place = place as usize;
        match slot {
            Slot::Planner => &self.planners.running[place].setting,
            Slot::Behaviour => &self.behaviours.running[place].setting,
            Slot::Controller => &self.controllers.running[place].setting,
            Slot::Fitness => &self.fitnesses.running[place].setting,
        }
    }
}
