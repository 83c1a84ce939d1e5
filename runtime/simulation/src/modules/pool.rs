//! Pool of instances. Each setting of a module runs only once, even if several stacks use it.
//!
//! An instance processes all its agents in one batch, so few instances mean large batches. An agent
//! that changes a parameter switches to another instance, which is shared by all agents with the
//! same setting. Instances are found by their settings. Agents refer to instances by number. The
//! number of an instance never changes while it is in use.

use super::boundary::Membership;
use super::saving::SavedInstance;
use super::succession::Anew;
use crate::records::{Instances, ModuleFailures};
use crate::summary::{ModuleRecord, SwapRecord};
use roadwright_agent::{
    Behaviour, Choosable, Controller, Fitness, GroundPlanner, Module, ModuleEntry, ModuleError,
    Planner, Rate, Registry, Slot, StepBoundary, set_parameters,
};
use roadwright_scenario::{ModuleSetting, Stack, for_each_slot};
use std::collections::BTreeSet;

/// Maximum number of settings per slot. Agents can have individual parameters, so scripts could
/// create any number of settings, each of which is a running module.
const MOST: usize = 1024;

/// The running modules for one setting of a slot: one module, or several if the slot takes several.
pub(crate) struct Instance<L: ?Sized> {
    pub(crate) settings: Vec<ModuleSetting>,
    pub(crate) modules: Vec<Module<L>>,
    /// Update rate of the first module. It applies to all modules of the instance.
    pub(crate) rate: Rate,
    /// Whether any module has work to do at step boundaries.
    pub(crate) has_step_boundary: bool,
}

impl<L: Choosable + ?Sized> Instance<L> {
    fn new(slot: Slot, modules: Vec<Module<L>>, settings: &[ModuleSetting], dt: f64) -> Self {
        let rate = settings.first().and_then(|setting| setting.rate_hz.get());
        let mut logics = modules.iter().map(|module| &module.logic);
        Self {
            has_step_boundary: logics.any(|logic| logic.has_step_boundary()),
            settings: settings.to_vec(),
            modules,
            rate: Rate::new(rate.unwrap_or(slot.default_rate_hz()), dt),
        }
    }

    /// The module of an instance whose slot takes exactly one module.
    #[inline]
    pub(crate) fn module(&self) -> &Module<L> {
        &self.modules[0]
    }

    /// Whether other settings differ from these only in parameters and rates.
    fn is_similar(&self, settings: &[ModuleSetting]) -> bool {
        let ids = |settings: &[ModuleSetting]| -> Vec<String> {
            settings.iter().map(|s| s.module.clone()).collect()
        };
        ids(&self.settings) == ids(settings)
    }
}

/// Instances of one slot.
pub(crate) struct ModulePool<L: ?Sized> {
    pub(crate) slot: Slot,
    pub(crate) instances: Vec<Instance<L>>,
    /// Index of an unused instance, which the next new instance replaces; `None` if there is none.
    free: Option<u16>,
}

impl<L: Choosable + ?Sized> ModulePool<L> {
    fn new(slot: Slot) -> Self {
        Self {
            slot,
            instances: Vec::new(),
            free: None,
        }
    }

    /// Modules that may be external, with their settings. Only external modules have step
    /// boundaries.
    fn outside_modules(&self) -> impl Iterator<Item = (&ModuleSetting, &Module<L>)> {
        let instances = self.instances.iter();
        let instances = instances.filter(|instance| instance.has_step_boundary);
        instances.flat_map(|instance| instance.settings.iter().zip(&instance.modules))
    }

    /// Moves the instance for a setting from `old` into this pool. If `is_similar` is set, an
    /// instance that differs only in parameters or rates also matches, so that a module keeps its
    /// memory while a slider is moved.
    fn adopt(
        &mut self,
        stack: &str,
        settings: &[ModuleSetting],
        old: &mut Self,
        is_similar: bool,
        dt: f64,
    ) {
        if self.instances.iter().any(|r| r.settings == settings) {
            return;
        }
        // First called for all stacks with exact matches and then with similar ones, so that no
        // stack takes an instance that matches another stack exactly.
        let fits = |r: &Instance<L>| r.settings == settings || is_similar && r.is_similar(settings);
        let Some(place) = old.instances.iter().position(fits) else {
            return;
        };
        let mut modules = old.instances.remove(place).modules;
        let mut pairs = modules.iter_mut().zip(settings);
        // If the parameters are rejected, a new instance is created later, and its creation reports
        // the error.
        if pairs.all(|(module, own)| set_parameters(module, stack, self.slot, own).is_ok()) {
            let instance = Instance::new(self.slot, modules, settings, dt);
            self.instances.push(instance);
        }
    }
}

/// Interface to the instances of one slot, independent of the type of its modules.
pub(crate) trait AnyPool {
    /// Returns the instance for a setting, either a running one or a new one.
    fn instance_of(
        &mut self,
        stack: &str,
        settings: &[ModuleSetting],
        registry: &Registry,
        dt: f64,
    ) -> Result<u16, ModuleError>;

    /// Setting of an instance.
    fn settings(&self, instance: u16) -> &[ModuleSetting];

    /// Number of instances.
    fn count(&self) -> usize;

    /// Whether there is no room for another setting.
    fn is_full(&self) -> bool {
        self.count() >= MOST
    }

    /// Frees the place of one instance that is not in `used`.
    fn free_unused(&mut self, used: &BTreeSet<u16>);

    /// Appends records of modules that are not built in, including modules removed after failures.
    fn record(&self, failures: &ModuleFailures, records: &mut Vec<ModuleRecord>);

    /// Adds the module failures since the last [`AnyPool::take_failures`].
    fn add_failures(&self, time: f64, failures: &mut ModuleFailures);

    /// Adds the module failures and resets the counts.
    fn take_failures(&mut self, time: f64, failures: &mut ModuleFailures);

    /// Whether any module has work to do at step boundaries.
    fn has_step_boundary(&self) -> bool;

    /// Passes a step boundary: notifies the instances of added and removed agents, and lets newer
    /// builds replace older ones.
    fn pass(
        &mut self,
        membership: &Membership,
        moment: StepBoundary<'_>,
        swaps: &mut Vec<SwapRecord>,
    );

    /// Settings and states of all instances, in order.
    fn saved(&self) -> Vec<SavedInstance>;

    /// Restores the states of modules. `numbers` contains the current number of each saved instance. Modules
    /// that start fresh are appended to `anew`.
    fn load(&mut self, saved: &[SavedInstance], numbers: &[Option<u16>], anew: &mut Vec<Anew>);
}

impl<L: Choosable + ?Sized> AnyPool for ModulePool<L> {
    fn instance_of(
        &mut self,
        stack: &str,
        settings: &[ModuleSetting],
        registry: &Registry,
        dt: f64,
    ) -> Result<u16, ModuleError> {
        let known = self.instances.iter().position(|r| r.settings == settings);
        if let Some(place) = known {
            return Ok(place as u16);
        }
        if let Some(module) = named_twice(settings) {
            return Err(ModuleError::Twice {
                stack: stack.into(),
                slot: self.slot,
                module: module.into(),
            });
        }
        if self.is_full() && self.free.is_none() {
            return Err(ModuleError::TooMany {
                slot: self.slot,
                most: MOST,
            });
        }
        let modules = settings
            .iter()
            .map(|own| registry.module::<L>(stack, self.slot, own));
        let mut modules = modules.collect::<Result<Vec<_>, _>>()?;
        if let Some(id) = self.slot.module_if_absent().filter(|_| modules.is_empty()) {
            let entries = registry.of::<L>().iter();
            let entry = entries.filter(|entry| entry.info.id == id).take(1);
            modules.extend(entry.map(ModuleEntry::make));
        }
        let instance = Instance::new(self.slot, modules, settings, dt);
        self.instances.push(instance);
        let last = self.instances.len() as u16 - 1;
        // The new instance is moved to the free place, so that the others keep their numbers.
        match self.free.take() {
            None => Ok(last),
            Some(place) => {
                self.instances.swap_remove(place as usize);
                Ok(place)
            }
        }
    }

    fn settings(&self, instance: u16) -> &[ModuleSetting] {
        &self.instances[instance as usize].settings
    }

    fn count(&self) -> usize {
        self.instances.len()
    }

    fn free_unused(&mut self, used: &BTreeSet<u16>) {
        let mut all = 0..self.instances.len() as u16;
        self.free = all.find(|instance| !used.contains(instance));
    }

    fn record(&self, failures: &ModuleFailures, records: &mut Vec<ModuleRecord>) {
        for (setting, module) in self.outside_modules() {
            let build = module.logic.version();
            let record = ModuleRecord::of(self.slot.name(), &setting.module, build, failures);
            // Instances that differ only in parameters run the same build, so the build is recorded only
            // once.
            records.extend(record.filter(|record| !records.contains(record)));
        }
    }

    fn add_failures(&self, time: f64, failures: &mut ModuleFailures) {
        for (setting, module) in self.outside_modules() {
            if let Some(failure) = module.logic.failure() {
                failures.add(&setting.module, time, failure);
            }
        }
    }

    fn take_failures(&mut self, time: f64, failures: &mut ModuleFailures) {
        let instances = self.instances.iter_mut();
        for instance in instances.filter(|instance| instance.has_step_boundary) {
            let modules = instance.settings.iter().zip(&mut instance.modules);
            for (setting, module) in modules {
                if let Some(failure) = module.logic.take_failure() {
                    failures.add(&setting.module, time, failure);
                }
            }
        }
    }

    fn has_step_boundary(&self) -> bool {
        self.instances.iter().any(|i| i.has_step_boundary)
    }

    fn pass(
        &mut self,
        membership: &Membership,
        moment: StepBoundary<'_>,
        swaps: &mut Vec<SwapRecord>,
    ) {
        membership.tell_pool(self, moment, swaps);
    }

    fn saved(&self) -> Vec<SavedInstance> {
        let instances = self.instances.iter();
        instances
            .map(|instance| SavedInstance::of(self.slot, instance))
            .collect()
    }

    fn load(&mut self, saved: &[SavedInstance], numbers: &[Option<u16>], anew: &mut Vec<Anew>) {
        let own = saved.iter().filter(|one| one.slot == self.slot.name());
        for (saved, number) in own.zip(numbers) {
            let number = number.map(usize::from);
            if let Some(instance) = number.and_then(|number| self.instances.get_mut(number)) {
                saved.load_into(instance, anew);
            }
        }
    }
}

/// Returns a module that a setting names twice, if there is one. This is an error, because scores
/// are stored by module name.
fn named_twice(settings: &[ModuleSetting]) -> Option<&str> {
    let mut names = BTreeSet::new();
    let mut ids = settings.iter().map(|setting| setting.module.as_str());
    ids.find(|id| !names.insert(*id))
}

macro_rules! declare_pools {
    ($($slot:ident $title:literal $field:ident $kind:ident $count:ident $modules:tt $rate:literal $doc:literal;)*) => {
        /// Instances of all slots.
        pub(crate) struct Pools {
            $(pub(crate) $field: ModulePool<dyn $kind>,)*
        }

        impl Pools {
            pub(crate) fn new() -> Self {
                Self { $($field: ModulePool::new(Slot::$slot)),* }
            }

            /// Instances of a slot.
            pub(crate) fn of(&self, slot: Slot) -> &dyn AnyPool {
                match slot { $(Slot::$slot => &self.$field),* }
            }

            /// Instances of a slot, for modification.
            pub(crate) fn of_mut(&mut self, slot: Slot) -> &mut dyn AnyPool {
                match slot { $(Slot::$slot => &mut self.$field),* }
            }

            /// Moves the instances of a stack out of `old`. Exact matches are moved; if
            /// `is_similar` is set, so are instances that differ only in parameters or rates.
            pub(crate) fn adopt(
                &mut self,
                name: &str,
                stack: &Stack,
                old: &mut Self,
                is_similar: bool,
                dt: f64,
            ) {
                $({
                    let settings = stack.settings(Slot::$slot);
                    self.$field.adopt(name, settings, &mut old.$field, is_similar, dt);
                })*
            }
        }
    };
}

for_each_slot!(declare_pools);

impl Pools {
    /// Instances of a stack.
    pub(crate) fn instances_of(
        &mut self,
        name: &str,
        stack: &Stack,
        registry: &Registry,
        dt: f64,
    ) -> Result<Instances, ModuleError> {
        let mut instances = Instances::NONE;
        for slot in Slot::ALL {
            let pool = self.of_mut(slot);
            let instance = pool.instance_of(name, stack.settings(slot), registry, dt)?;
            instances.set(slot, instance);
        }
        Ok(instances)
    }

    /// Records of modules that are not built in, including modules removed after failures.
    pub(super) fn records(&self, failures: &ModuleFailures) -> Vec<ModuleRecord> {
        let mut records = Vec::new();
        for slot in Slot::ALL {
            self.of(slot).record(failures, &mut records);
        }
        records
    }

    /// Whether the instances of an agent exist.
    pub(crate) fn have(&self, modules: Instances) -> bool {
        let mut slots = Slot::ALL.into_iter();
        slots.all(|slot| (modules.of(slot) as usize) < self.of(slot).count())
    }
}
