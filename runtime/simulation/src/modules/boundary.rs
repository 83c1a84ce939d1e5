//! Step boundaries: modules are notified of added and removed agents, and newer builds replace
//! older ones.
//!
//! Modules keep data about agents by index, and indices are reused. So each instance is notified of
//! the agents that it gains and loses. A free index stays unused for one boundary, so that its new
//! owner is never announced together with the removal of the old one.
//!
//! ```text
//!   step    5         6                      7
//!   agent   leaves    modules are notified   its index is free
//!   phase   Gone      Told                   Free
//! ```

use super::Modules;
use super::pool::ModulePool;
use crate::agents::{Agents, Census};
use crate::clock::Clock;
use crate::records::{AgentIndex, Instances, Phase};
use crate::summary::SwapRecord;
use roadwright_agent::{Choosable, Module, Slot, StepBoundary};
use serde::{Deserialize, Serialize};

/// Notifications that modules have received, in saved form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedMembership {
    told: Vec<Instances>,
    untold: Vec<AgentIndex>,
}

impl SavedMembership {
    /// Whether all indices of pending removals are below the number of agents.
    pub(crate) fn fits(&self, agents: usize) -> bool {
        self.untold.iter().all(|&agent| (agent.index()) < agents)
    }

    /// Renumbers the instances of a slot.
    pub(super) fn renumber(&mut self, slot: Slot, number: impl Fn(u16) -> u16) {
        for told in &mut self.told {
            told.set(slot, number(told.of(slot)));
        }
    }
}

/// Agents that instances have gained or lost since the last boundary.
#[derive(Default)]
pub(crate) struct Membership {
    /// Instances of each agent, as last announced to modules.
    told: Vec<Instances>,
    added: Vec<(AgentIndex, Instances)>,
    removed: Vec<(AgentIndex, Instances)>,
    /// Removed agents whose instances are unknown. Their removal has not been announced yet, and
    /// all instances will be notified of it.
    untold: Vec<AgentIndex>,
}

impl Membership {
    /// Determines the changes since the previous boundary.
    fn update(&mut self, agents: Census<'_>) {
        self.added.clear();
        self.removed.clear();
        self.told.resize(agents.capacity(), Instances::NONE);
        for (index, (who, told)) in (0u32..)
            .map(AgentIndex::new)
            .zip(agents.identity.iter().zip(&mut self.told))
        {
            let now = if who.is_known() {
                who.modules
            } else {
                Instances::NONE
            };
            // The current instances are compared with the last announced ones, so that single
            // events do not matter. An agent that was added and left between two boundaries is
            // never announced, and one that changed a single module is announced only to the
            // instances of that slot.
            if now != *told {
                self.removed.push((index, told.without(now)));
                self.added.push((index, now.without(*told)));
                *told = now;
            }
        }
        self.sort(agents);
    }

    /// Sorts the lists by id. An agent that has left keeps its id until its index is free.
    fn sort(&mut self, agents: Census<'_>) {
        let id = |(index, _): &(AgentIndex, Instances)| agents.identity[index.index()].id;
        self.added.sort_by_key(id);
        self.removed.sort_by_key(id);
    }

    /// Clears the record of notifications, because the pool has been replaced.
    pub(super) fn clear(&mut self, agents: Census<'_>) {
        self.told.fill(Instances::NONE);
        self.note_untold(agents);
    }

    /// Notifications that modules have received, for a save.
    pub(super) fn saved(&self) -> SavedMembership {
        SavedMembership {
            told: self.told.clone(),
            untold: self.untold.clone(),
        }
    }

    /// Repeats the notifications that the modules of a saved world had received before the save.
    /// Agents that have left since then are reported at the next boundary, as in the original run.
    pub(super) fn retell(&mut self, saved: &SavedMembership, agents: Census<'_>) {
        self.told.clone_from(&saved.told);
        self.told.truncate(agents.capacity());
        let known = (0u32..).map(AgentIndex::new).zip(&self.told);
        let known = known.filter(|(_, told)| **told != Instances::NONE);
        self.added = known.map(|(index, &told)| (index, told)).collect();
        self.removed.clear();
        self.untold.clear();
        self.sort(agents);
    }

    /// Restores the removals of a saved world that some instances have not been notified of.
    pub(super) fn take_untold(&mut self, saved: SavedMembership) {
        self.untold = saved.untold;
    }

    /// Records removals that some instances have not been notified of.
    fn note_untold(&mut self, agents: Census<'_>) {
        let gone = agents.identity.iter().zip((0u32..).map(AgentIndex::new));
        let gone = gone.filter(|(who, _)| who.phase == Phase::Gone);
        self.untold = gone.map(|(_, index)| index).collect();
        let id = |&index: &AgentIndex| agents.identity[index.index()].id;
        self.untold.sort_by_key(id);
    }
}

/// Returns the agents in `list` whose module in `slot` is the given instance.
fn concerned(list: &[(AgentIndex, Instances)], slot: Slot, instance: usize) -> Vec<u32> {
    let concerns = list
        .iter()
        .filter(|(_, modules)| modules.of(slot) as usize == instance);
    concerns.map(|(agent, _)| agent.number()).collect()
}

impl Membership {
    /// Notifies the instances of a slot of added and removed agents, and lets newer builds replace older
    /// ones.
    pub(super) fn tell_pool<L: Choosable + ?Sized>(
        &self,
        pool: &mut ModulePool<L>,
        moment: StepBoundary<'_>,
        swaps: &mut Vec<SwapRecord>,
    ) {
        let slot = pool.slot;
        let instances = pool.instances.iter_mut().enumerate();
        let living = instances.filter(|(_, instance)| instance.has_step_boundary);
        for (number, instance) in living {
            let added = concerned(&self.added, slot, number);
            let mut removed = concerned(&self.removed, slot, number);
            removed.extend(self.untold.iter().map(|agent| agent.number()));
            let moment = StepBoundary {
                added: &added,
                removed: &removed,
                ..moment
            };
            let modules = instance.settings.iter().zip(&mut instance.modules);
            let told = modules.filter_map(|(setting, module)| {
                tell_module(module, slot, &setting.module, &moment)
            });
            swaps.extend(told);
        }
    }
}

/// Notifies one module of added and removed agents. `id` is the id of the module in the stack.
/// Returns a record if the module was replaced.
fn tell_module<L: Choosable + ?Sized>(
    module: &mut Module<L>,
    slot: Slot,
    id: &str,
    moment: &StepBoundary<'_>,
) -> Option<SwapRecord> {
    let swap = module
        .logic
        .at_step_boundary(&mut module.parameters, moment)?;
    module.info = swap.info;
    Some(SwapRecord {
        step: moment.step,
        time: moment.time,
        slot: slot.name(),
        module: id.into(),
        from: swap.from,
        to: swap.to,
        note: swap.note,
    })
}

impl Modules {
    /// Passes a step boundary: notifies modules of added and removed agents, and lets newer builds replace
    /// older ones.
    pub(crate) fn pass_boundary(&mut self, clock: &Clock, agents: &mut Agents) {
        let mut slots = Slot::ALL.into_iter();
        if slots.any(|slot| self.pools.of(slot).has_step_boundary()) {
            self.tell(clock, agents);
        }
        self.signals.pass_boundary(clock, &mut self.swaps);
        agents.note_told();
    }

    /// Notifies modules of the agents added and removed since the last notification.
    fn tell(&mut self, clock: &Clock, agents: &mut Agents) {
        self.membership.update(agents.census());
        self.pass_all(clock, agents);
        self.membership.untold.clear();
    }

    /// Notifies all instances of the changes in membership.
    pub(super) fn pass_all(&mut self, clock: &Clock, agents: &mut Agents) {
        let moment = StepBoundary {
            step: clock.step,
            time: clock.time(),
            capacity: agents.census().capacity() as u32,
            added: &[],
            removed: &[],
        };
        let before = self.swaps.len();
        for slot in Slot::ALL {
            let pool = self.pools.of_mut(slot);
            pool.pass(&self.membership, moment, &mut self.swaps);
        }
        // A newer build may differ in whether its behaviour decides about arrivals.
        if self.swaps.len() > before {
            self.assign_arrivals(agents);
        }
    }
}
