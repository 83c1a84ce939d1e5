//! What passes between two steps: modules hear who came and went, and newer versions take over.

use super::bank::{Bank, Running};
use super::batch::Membership;
use super::{SwapRecord, World};
use roadwright_agent::{Choosable, StepBoundary};

impl World {
    pub(super) fn at_step_boundary(&mut self) {
        let banks = &self.banks;
        let lives = has_life(&banks.planners)
            || has_life(&banks.behaviours)
            || has_life(&banks.controllers)
            || has_life(&banks.fitnesses);
        if !lives {
            return;
        }
        self.membership.update(&self.movers);
        let moment = StepBoundary {
            step: self.step,
            time: self.time(),
            capacity: self.movers.len() as u32,
            added: &[],
            removed: &[],
        };
        let (banks, membership) = (&mut self.banks, &self.membership);
        let swaps = &mut self.swaps;
        let before = swaps.len();
        live(&mut banks.planners, membership, moment, swaps);
        live(&mut banks.behaviours, membership, moment, swaps);
        live(&mut banks.controllers, membership, moment, swaps);
        live(&mut banks.fitnesses, membership, moment, swaps);
        if self.swaps.len() > before {
            self.assign_all();
        }
    }
}

fn has_life<L: Choosable + ?Sized>(bank: &Bank<L>) -> bool {
    bank.running.iter().any(|r| r.has_step_boundary)
}

fn live<L: Choosable + ?Sized>(
    bank: &mut Bank<L>,
    membership: &Membership,
    moment: StepBoundary<'_>,
    swaps: &mut Vec<SwapRecord>,
) {
    let running = bank.running.iter_mut().enumerate();
    for (place, Running { module, .. }) in running.filter(|(_, r)| r.has_step_boundary) {
        let added = Membership::of(&membership.added, L::SLOT, place);
        let removed = Membership::of(&membership.removed, L::SLOT, place);
        let moment = StepBoundary {
            added: &added,
            removed: &removed,
            ..moment
        };
        let Some(swap) = module
            .logic
            .at_step_boundary(&mut module.parameters, &moment)
        else {
            continue;
        };
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
