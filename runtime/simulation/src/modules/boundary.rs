//! Step boundaries: modules hear who came and went, and newer builds take over.

use super::pool::{Instance, ModulePool};
use super::{Instances, Modules, SwapRecord};
use crate::agents::{Agents, Phase};
use crate::clock::Clock;
use roadwright_agent::{Choosable, Slot, StepBoundary};

/// Which agents have come to which instances and left which since the last boundary.
#[derive(Default)]
pub(super) struct Membership {
    /// The instances of each agent as its modules have been told.
    told: Vec<Instances>,
    added: Vec<(u32, Instances)>,
    removed: Vec<(u32, Instances)>,
    /// Agents whose leaving has not been told, although what was told of them is forgotten: all
    /// instances hear of it.
    untold: Vec<u32>,
}

impl Membership {
    /// Compares with the boundary before.
    fn update(&mut self, agents: &Agents) {
        self.added.clear();
        self.removed.clear();
        self.told.resize(agents.capacity(), Instances::NONE);
        for (index, (who, told)) in (0u32..).zip(agents.identity.iter().zip(&mut self.told)) {
            let now = if who.is_known() {
                who.modules
            } else {
                Instances::NONE
            };
            if now != *told {
                self.removed.push((index, told.without(now)));
                self.added.push((index, now.without(*told)));
                *told = now;
            }
        }
    }

    /// Forgets what was told: the pool is another one now.
    pub(super) fn clear(&mut self, agents: &Agents) {
        self.told.fill(Instances::NONE);
        self.note_untold(agents);
    }

    /// Notes those whose leaving is still to be told to all instances.
    pub(super) fn note_untold(&mut self, agents: &Agents) {
        let gone = agents.identity.iter().zip(0u32..);
        let gone = gone.filter(|(who, _)| who.phase == Phase::Gone);
        self.untold = gone.map(|(_, index)| index).collect();
    }
}

/// The agents of a list that concern an instance.
fn concerned(list: &[(u32, Instances)], slot: Slot, instance: usize) -> Vec<u32> {
    let concerns = list
        .iter()
        .filter(|(_, modules)| modules.of(slot) as usize == instance);
    concerns.map(|(agent, _)| *agent).collect()
}

impl Modules {
    /// Passes a step boundary: tells modules who came and went, and lets newer builds take over.
    pub(crate) fn pass_boundary(&mut self, clock: &Clock, agents: &mut Agents) {
        let pools = &self.pools;
        let lives = has_life(&pools.planners)
            || has_life(&pools.behaviours)
            || has_life(&pools.controllers)
            || has_life(&pools.fitnesses);
        if lives {
            self.tell(clock, agents);
        }
        agents.note_told();
    }

    /// Tells modules who came and went since they were told last.
    pub(super) fn tell(&mut self, clock: &Clock, agents: &mut Agents) {
        self.membership.update(agents);
        let moment = StepBoundary {
            step: clock.step,
            time: clock.time(),
            capacity: agents.capacity() as u32,
            added: &[],
            removed: &[],
        };
        let before = self.swaps.len();
        let (pools, membership, swaps) = (&mut self.pools, &self.membership, &mut self.swaps);
        pass(&mut pools.planners, membership, moment, swaps);
        pass(&mut pools.behaviours, membership, moment, swaps);
        pass(&mut pools.controllers, membership, moment, swaps);
        pass(&mut pools.fitnesses, membership, moment, swaps);
        self.membership.untold.clear();
        if self.swaps.len() > before {
            self.assign_arrivals(agents);
        }
    }
}

fn has_life<L: Choosable + ?Sized>(pool: &ModulePool<L>) -> bool {
    pool.instances
        .iter()
        .any(|instance| instance.has_step_boundary)
}

fn pass<L: Choosable + ?Sized>(
    pool: &mut ModulePool<L>,
    membership: &Membership,
    moment: StepBoundary<'_>,
    swaps: &mut Vec<SwapRecord>,
) {
    let instances = pool.instances.iter_mut().enumerate();
    let living = instances.filter(|(_, instance)| instance.has_step_boundary);
    for (number, Instance { module, .. }) in living {
        let added = concerned(&membership.added, L::SLOT, number);
        let mut removed = concerned(&membership.removed, L::SLOT, number);
        removed.extend_from_slice(&membership.untold);
        let moment = StepBoundary {
            added: &added,
            removed: &removed,
            ..moment
        };
        let swap = module
            .logic
            .at_step_boundary(&mut module.parameters, &moment);
        let Some(swap) = swap else { continue };
        module.info = swap.info;
        swaps.push(SwapRecord {
            step: moment.step,
            time: moment.time,
            slot: L::SLOT.name(),
            module: swap.info.id.into(),
            from: swap.from,
            to: swap.to,
            note: swap.note,
        });
    }
}
