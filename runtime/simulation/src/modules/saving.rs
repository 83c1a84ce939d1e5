//! Instances of modules as they are saved.

use super::pool::{Instance, ModulePool};
use super::{Modules, SavedMembership};
use crate::agents::Agents;
use crate::clock::Clock;
use crate::options::SimulationError;
use crate::save::SaveError;
use crate::summary::SwapRecord;
use roadwright_agent::{Choosable, LogicState, Slot};
use roadwright_scenario::ModuleSetting;
use serde::{Deserialize, Serialize};

/// One instance: what it was made from, and what it keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedModule {
    /// Name of its slot.
    pub(crate) slot: String,
    pub(crate) id: String,
    rate_hz: Option<f64>,
    parameters: Vec<(String, f64)>,
    /// Which build ran; empty for a built-in.
    pub(crate) build: String,
    /// `None` if it may keep something that it cannot give.
    pub(crate) state: Option<Vec<u8>>,
}

/// A replaced module, as it is saved.
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
            slot: Slot::from_name(&swap.slot).map_or("", Slot::name),
            module: swap.module,
            from: swap.from,
            to: swap.to,
            note: swap.note,
        }
    }
}

impl SavedModule {
    fn of<L: Choosable + ?Sized>(instance: &Instance<L>) -> Self {
        let setting = &instance.setting;
        let parameters = setting.parameters.iter();
        Self {
            slot: L::SLOT.name().into(),
            id: setting.module.clone(),
            rate_hz: setting.rate_hz,
            parameters: parameters
                .map(|(key, value)| (key.clone(), *value))
                .collect(),
            build: instance.module.logic.version(),
            state: match instance.module.logic.save_state() {
                LogicState::Stateless => Some(Vec::new()),
                LogicState::Bytes(bytes) => Some(bytes),
                LogicState::Unknown => None,
            },
        }
    }

    fn setting(&self) -> ModuleSetting {
        ModuleSetting {
            module: self.id.clone(),
            rate_hz: self.rate_hz,
            parameters: self.parameters.iter().cloned().collect(),
        }
    }
}

impl Modules {
    /// What modules have been told of agents.
    pub(crate) fn saved_membership(&self) -> SavedMembership {
        self.membership.saved()
    }

    /// All instances, slot by slot in the order of their pools.
    pub(crate) fn saved(&self) -> Vec<SavedModule> {
        let pools = &self.pools;
        let mut saved: Vec<SavedModule> = Vec::new();
        saved.extend(pools.planners.instances.iter().map(SavedModule::of));
        saved.extend(pools.behaviours.instances.iter().map(SavedModule::of));
        saved.extend(pools.controllers.instances.iter().map(SavedModule::of));
        saved.extend(pools.fitnesses.instances.iter().map(SavedModule::of));
        saved
    }

    /// Makes the saved instances anew, each with the number that it had.
    pub(crate) fn restore_instances(&mut self, saved: &[SavedModule]) -> Result<(), SaveError> {
        self.pools = super::pool::Pools::new();
        for module in saved {
            let damaged = |what: &str| SaveError::Damaged(what.into());
            let slot = Slot::from_name(&module.slot).ok_or(damaged("a slot has no such name"))?;
            let is_rate = |rate: f64| rate > 0.0 && rate <= 1000.0;
            if !module.rate_hz.is_none_or(is_rate) {
                return Err(damaged("a rate is out of range"));
            }
            self.instance_of(slot, "saved", &module.setting())
                .map_err(SimulationError::from)?;
        }
        // Stacks find their instances among those.
        let names = self.names.iter().cloned();
        let stacks: Vec<_> = names.zip(self.settings.iter().cloned()).collect();
        self.stacks = self.instances_of(&stacks).map_err(SimulationError::from)?;
        Ok(())
    }

    /// Tells the instances of all agents, then gives them what they kept. Returns what went
    /// otherwise, for people.
    pub(crate) fn restore_states(
        &mut self,
        clock: &Clock,
        agents: &mut Agents,
        saved: &[SavedModule],
        told: SavedMembership,
    ) -> Vec<String> {
        self.membership.retell(&told, agents.capacity());
        self.pass_all(clock, agents);
        self.membership.take_untold(told);
        let mut notes = Vec::new();
        let pools = &mut self.pools;
        load(&mut pools.planners, saved, &mut notes);
        load(&mut pools.behaviours, saved, &mut notes);
        load(&mut pools.controllers, saved, &mut notes);
        load(&mut pools.fitnesses, saved, &mut notes);
        notes
    }
}

fn load<L: Choosable + ?Sized>(
    pool: &mut ModulePool<L>,
    saved: &[SavedModule],
    notes: &mut Vec<String>,
) {
    let own = saved.iter().filter(|module| module.slot == L::SLOT.name());
    for (instance, saved) in pool.instances.iter_mut().zip(own) {
        let build = instance.module.logic.version();
        let what = format!("{} {}", saved.slot, saved.id);
        if build != saved.build {
            notes.push(format!(
                "{what}: another build starts fresh ({} then, {build} now)",
                saved.build
            ));
            continue;
        }
        let loaded = match &saved.state {
            Some(state) if state.is_empty() => Ok(()),
            Some(state) => instance.module.logic.load_state(state),
            None => Err("its state could not be saved".into()),
        };
        if let Err(why) = loaded {
            notes.push(format!("{what}: starts fresh: {why}"));
        }
    }
}
