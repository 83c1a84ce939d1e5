//! Step boundaries: modules hear who came and left, and newer builds replace older ones.
//!
//! Modules keep what they remember of agents by index, and indices are used again. So an instance is
//! told who came to it and who left, and a free index rests for a boundary: the new owner is never
//! announced together with the leaving of the old one.
//!
//! ```text
//!   step    5         6                    7
//!   agent   leaves    its modules hear     its index is free
//!   phase   Gone      Told                 Free
//! ```

use super::Modules;
use super::pool::ModulePool;
use crate::agents::{Agents, Census};
use crate::clock::Clock;
use crate::records::{AgentIndex, Instances, Phase};
use crate::summary::SwapRecord;
use roadwright_agent::{Choosable, Module, Slot, StepBoundary};
use serde::{Deserialize, Serialize};

/// What modules have been told of agents, as it is saved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedMembership {
    told: Vec<Instances>,
    untold: Vec<AgentIndex>,
}

impl SavedMembership {
    /// Whether all whose leaving is still to be told are among so many agents.
    pub(crate) fn fits(&self, agents: usize) -> bool {
        self.untold.iter().all(|&agent| (agent.index()) < agents)
    }

    /// Gives the instances of a slot other numbers.
    pub(super) fn renumber(&mut self, slot: Slot, number: impl Fn(u16) -> u16) {
        for told in &mut self.told {
            told.set(slot, number(told.of(slot)));
        }
    }
}

/// Which agents have come to which instances and left which since the last boundary.
#[derive(Default)]
pub(crate) struct Membership {
    /// The instances of each agent as its modules have been told.
    told: Vec<Instances>,
    added: Vec<(AgentIndex, Instances)>,
    removed: Vec<(AgentIndex, Instances)>,
    /// Agents whose leaving has not been told, although what was told of them is forgotten: all
    /// instances hear of it.
    untold: Vec<AgentIndex>,
}

impl Membership {
    /// Compares with the boundary before.
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
            // Compared with what was told, not with what happened: an agent that came and left between
            // two boundaries is never mentioned, and one that exchanged a single module is told to
            // that slot's instances only.
            if now != *told {
                self.removed.push((index, told.without(now)));
                self.added.push((index, now.without(*told)));
                *told = now;
            }
        }
        self.sort(agents);
    }

    /// Puts the lists in the order of ids. Who has left keeps its id until its index is free.
    fn sort(&mut self, agents: Census<'_>) {
        let id = |(index, _): &(AgentIndex, Instances)| agents.identity[index.index()].id;
        self.added.sort_by_key(id);
        self.removed.sort_by_key(id);
    }

    /// Forgets what was told: the pool is another one now.
    pub(super) fn clear(&mut self, agents: Census<'_>) {
        self.told.fill(Instances::NONE);
        self.note_untold(agents);
    }

    /// What modules have been told, for a save.
    pub(super) fn saved(&self) -> SavedMembership {
        SavedMembership {
            told: self.told.clone(),
            untold: self.untold.clone(),
        }
    }

    /// Takes what the modules of a saved world had been told: they are told so once more. That an
    /// agent has left since is told at the next boundary, as it would have been.
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

    /// Takes whose leaving was still to be told to all instances of a saved world.
    pub(super) fn take_untold(&mut self, saved: SavedMembership) {
        self.untold = saved.untold;
    }

    /// Notes those whose leaving is still to be told to all instances.
    fn note_untold(&mut self, agents: Census<'_>) {
        let gone = agents.identity.iter().zip((0u32..).map(AgentIndex::new));
        let gone = gone.filter(|(who, _)| who.phase == Phase::Gone);
        self.untold = gone.map(|(_, index)| index).collect();
        let id = |&index: &AgentIndex| agents.identity[index.index()].id;
        self.untold.sort_by_key(id);
    }
}

/// The agents of a list that concern an instance.
fn concerned(list: &[(AgentIndex, Instances)], slot: Slot, instance: usize) -> Vec<u32> {
    let concerns = list
        .iter()
        .filter(|(_, modules)| modules.of(slot) as usize == instance);
    concerns.map(|(agent, _)| agent.number()).collect()
}

impl Membership {
    /// Tells the instances of a slot which agents came and left, and lets newer builds replace older
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

/// Tells one module, which a stack knows by an id. Returns the record if it was replaced.
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
    /// Passes a step boundary: tells modules which agents came and left, and lets newer builds replace
    /// older ones.
    pub(crate) fn pass_boundary(&mut self, clock: &Clock, agents: &mut Agents) {
        let mut slots = Slot::ALL.into_iter();
        if slots.any(|slot| self.pools.of(slot).has_step_boundary()) {
            self.tell(clock, agents);
        }
        self.signals.pass_boundary(clock, &mut self.swaps);
        agents.note_told();
    }

    /// Tells modules which agents came and left since the last time.
    fn tell(&mut self, clock: &Clock, agents: &mut Agents) {
        self.membership.update(agents.census());
        self.pass_all(clock, agents);
        self.membership.untold.clear();
    }

    /// Tells all instances what the membership says has changed.
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
        // A newer build may want other arrivals to be held than the one before.
        if self.swaps.len() > before {
            self.assign_arrivals(agents);
        }
    }
}
