//! Saved form of module instances.

use super::pool::Instance;
use super::signal_controllers::DeciderChange;
use super::succession::{Anew, Succession};
use super::{Modules, SavedMembership};
use crate::agents::Agents;
use crate::clock::Clock;
use crate::records::SaveError;
use crate::summary::SwapRecord;
use roadwright_agent::{Choosable, LogicState, Module, ModuleKind, Slot};
use roadwright_scenario::ModuleSetting;
use serde::{Deserialize, Serialize};

/// Settings of the modules of an instance.
type Settings = Vec<ModuleSetting>;

/// Saved form of one instance: its modules in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedInstance {
    /// Name of the module's slot.
    pub(crate) slot: String,
    pub(crate) modules: Vec<SavedModule>,
}

/// Saved form of one module: its setting and its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedModule {
    pub(crate) id: String,
    rate_hz: Option<f64>,
    parameters: Vec<(String, f64)>,
    /// Build that was running; empty for a built-in module.
    pub(crate) build: String,
    /// The state of the module; `None` if it may have state that it cannot export.
    pub(crate) state: Option<Vec<u8>>,
}

/// Saved form of the record of a replaced module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedSwap {
    step: u64,
    time: f64,
    slot: String,
    module: String,
    from: String,
    to: String,
    note: String,
}

impl From<&SwapRecord> for SavedSwap {
    fn from(swap: &SwapRecord) -> Self {
        Self {
            step: swap.step,
            time: swap.time,
            slot: swap.slot.into(),
            module: swap.module.clone(),
            from: swap.from.clone(),
            to: swap.to.clone(),
            note: swap.note.clone(),
        }
    }
}

impl From<SavedSwap> for SwapRecord {
    fn from(swap: SavedSwap) -> Self {
        Self {
            step: swap.step,
            time: swap.time,
            slot: ModuleKind::from_name(&swap.slot).map_or("", ModuleKind::name),
            module: swap.module,
            from: swap.from,
            to: swap.to,
            note: swap.note,
        }
    }
}

impl SavedInstance {
    pub(super) fn of<L: ?Sized + Choosable>(slot: Slot, instance: &Instance<L>) -> Self {
        let modules = instance.settings.iter().zip(&instance.modules);
        Self {
            slot: slot.name().into(),
            modules: modules
                .map(|(setting, module)| SavedModule::of(setting, module))
                .collect(),
        }
    }

    /// Restores the states of the modules. Modules that start fresh are appended to `anew`.
    pub(super) fn load_into<L: ?Sized + Choosable>(
        &self,
        instance: &mut Instance<L>,
        anew: &mut Vec<Anew>,
    ) {
        for (module, saved) in instance.modules.iter_mut().zip(&self.modules) {
            if let Err(why) = saved.load_into(module) {
                anew.push(Anew {
                    slot: self.slot.clone(),
                    module: saved.id.clone(),
                    why,
                });
            }
        }
    }

    /// Settings of saved instances, slot by slot in the order of [`Slot::ALL`].
    ///
    /// # Errors
    /// If a slot is unknown, or a setting does not fit into its slot.
    pub(super) fn settings_by_slot(saved: &[Self]) -> Result<Vec<Vec<Settings>>, SaveError> {
        let mut by_slot = vec![Vec::new(); Slot::COUNT];
        for instance in saved.iter().filter(|instance| !is_of_signals(instance)) {
            let damaged = |what: &str| SaveError::Damaged(what.into());
            let slot = Slot::from_name(&instance.slot).ok_or(damaged("unknown slot name"))?;
            let settings: Settings = instance.modules.iter().map(SavedModule::setting).collect();
            if !slot.how_many().fits(settings.len()) {
                return Err(damaged("wrong number of modules in a slot"));
            }
            let is_rate = |rate: f64| rate > 0.0 && rate <= 1000.0;
            let mut rates = settings.iter().filter_map(|setting| setting.rate_hz.get());
            if !rates.all(is_rate) {
                return Err(damaged("a rate is out of range"));
            }
            by_slot[slot as usize].push(settings);
        }
        Ok(by_slot)
    }
}

impl SavedModule {
    pub(super) fn of<L: ?Sized + Choosable>(setting: &ModuleSetting, module: &Module<L>) -> Self {
        let parameters = setting.parameters.iter();
        Self {
            id: setting.module.clone(),
            rate_hz: setting.rate_hz.get(),
            parameters: parameters
                .map(|(key, value)| (key.clone(), *value))
                .collect(),
            build: module.logic.version(),
            state: match module.logic.save_state() {
                LogicState::Stateless => Some(Vec::new()),
                LogicState::Bytes(bytes) => Some(bytes),
                LogicState::Unknown => None,
            },
        }
    }

    fn setting(&self) -> ModuleSetting {
        ModuleSetting {
            module: self.id.clone(),
            rate_hz: self.rate_hz.into(),
            parameters: self.parameters.iter().cloned().collect(),
        }
    }

    /// Restores the state of a module. The error states why the module starts fresh.
    pub(super) fn load_into<L: ?Sized + Choosable>(
        &self,
        module: &mut Module<L>,
    ) -> Result<(), String> {
        let build = module.logic.version();
        if self.build.is_empty() && !build.is_empty() {
            return Err("starts fresh, because it had failed before the save".into());
        }
        if build != self.build {
            return Err(format!(
                "starts fresh, because its build has changed (saved with {}, now {build})",
                self.build
            ));
        }
        let loaded = match &self.state {
            Some(state) if state.is_empty() => Ok(()),
            Some(state) => module.logic.load_state(state),
            None => Err("its state could not be saved".into()),
        };
        loaded.map_err(|why| format!("starts fresh: {why}"))
    }
}

impl Modules {
    /// Notifications about agents that modules have received.
    pub(crate) fn saved_membership(&self) -> SavedMembership {
        self.membership.saved()
    }

    /// All instances, slot by slot in the order of their pools.
    pub(crate) fn saved(&self) -> Vec<SavedInstance> {
        let slots = Slot::ALL.into_iter();
        let agents = slots.flat_map(|slot| self.pools.of(slot).saved());
        agents.chain(self.signals.saved()).collect()
    }

    /// Notifies the instances of all agents, then restores their states. Returns the instances that start
    /// fresh.
    pub(crate) fn restore_states(
        &mut self,
        clock: &Clock,
        agents: &mut Agents,
        saved: &[SavedInstance],
        told: SavedMembership,
        deciders: DeciderChange<'_>,
        succession: Succession,
    ) -> Vec<Anew> {
        let told = succession.told(told);
        // Modules are first notified of their agents and then get their states, because a state may
        // refer to these agents.
        self.membership.retell(&told, agents.census());
        self.pass_all(clock, agents);
        self.membership.take_untold(told);
        let mut anew = Vec::new();
        for slot in Slot::ALL {
            let numbers = succession.numbers(slot);
            self.pools.of_mut(slot).load(saved, numbers, &mut anew);
        }
        self.signals.load(saved, deciders, &mut anew);
        anew.extend(succession.anew);
        // The new modules may differ in whether their behaviours decide about arrivals.
        if !anew.is_empty() {
            self.assign_arrivals(agents);
        }
        anew
    }
}

/// Whether an instance is a signal controller, and therefore belongs to no pool.
fn is_of_signals(instance: &SavedInstance) -> bool {
    instance.slot == ModuleKind::SignalController.name()
}
