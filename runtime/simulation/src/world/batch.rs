//! Asking modules in batches, slice by slice.

use super::bank::{Bank, Places};
use crate::mover::Mover;
use rayon::prelude::*;
use roadwright_agent::{Choosable, Slot};

/// Rows that a thread takes at once.
pub(super) const SLICE: usize = 64;

/// The agents that are due in a slot, module by module; kept between steps so that nothing is
/// allocated in them.
#[derive(Default)]
pub(super) struct Due {
    indices: Vec<Vec<u32>>,
    ids: Vec<Vec<u64>>,
}

impl Due {
    /// Lists the active agents that are due in a step, in the order of their indices.
    pub(super) fn list<L: Choosable + ?Sized>(
        &mut self,
        bank: &Bank<L>,
        movers: &[Mover],
        step: u64,
    ) {
        let count = bank.running.len();
        self.indices.resize_with(count, Vec::new);
        self.ids.resize_with(count, Vec::new);
        self.indices.iter_mut().for_each(Vec::clear);
        self.ids.iter_mut().for_each(Vec::clear);
        for (agent, mover) in movers.iter().enumerate() {
            if !mover.is_active() {
                continue;
            }
            let module = mover.modules[L::SLOT as usize] as usize;
            if bank.running[module].rate.is_due(step, mover.id) {
                self.indices[module].push(agent as u32);
                self.ids[module].push(mover.id);
            }
        }
    }

    /// Whether an agent is due.
    pub(super) fn has(&self, index: u32) -> bool {
        self.indices
            .iter()
            .any(|due| due.binary_search(&index).is_ok())
    }

    /// Slots and ids of the agents of a module.
    pub(super) fn of(&self, module: usize) -> (&[u32], &[u64]) {
        (&self.indices[module], &self.ids[module])
    }
}

/// Rows of one slot, kept between steps.
#[derive(Default)]
pub(super) struct Rows<I, O> {
    pub(super) inputs: Vec<I>,
    pub(super) outputs: Vec<O>,
}

impl<I, O> Rows<I, O>
where
    I: Default + Clone + Send + Sync,
    O: Default + Clone + Send,
{
    /// Perceives and asks slice by slice; with helpers the slices are shared out, unless the module
    /// wants the batch as a whole. Gives what the slices give, in their order.
    pub(super) fn ask<E: Send>(
        &mut self,
        pool: Option<&rayon::ThreadPool>,
        is_whole: bool,
        (indices, ids): (&[u32], &[u64]),
        perceive: impl Fn(u32) -> I + Sync,
        answer: impl Fn((&[u32], &[u64]), &[I], &mut [O]) -> E + Sync,
    ) -> Vec<E> {
        self.inputs.clear();
        self.inputs.resize(indices.len(), I::default());
        self.outputs.clear();
        self.outputs.resize(indices.len(), O::default());
        if indices.is_empty() {
            return Vec::new();
        }
        let slice = |(indices, ids): (&[u32], &[u64]), inputs: &mut [I], outputs: &mut [O]| {
            for (&agent, input) in indices.iter().zip(inputs.iter_mut()) {
                *input = perceive(agent);
            }
            answer((indices, ids), inputs, outputs)
        };
        match pool {
            None => vec![slice((indices, ids), &mut self.inputs, &mut self.outputs)],
            Some(pool) if is_whole => {
                pool.install(|| {
                    let inputs = self.inputs.par_iter_mut();
                    inputs
                        .zip(indices)
                        .for_each(|(input, &agent)| *input = perceive(agent));
                });
                vec![answer((indices, ids), &self.inputs, &mut self.outputs)]
            }
            Some(pool) => pool.install(|| {
                indices
                    .par_chunks(SLICE)
                    .zip(ids.par_chunks(SLICE))
                    .zip(self.inputs.par_chunks_mut(SLICE))
                    .zip(self.outputs.par_chunks_mut(SLICE))
                    .map(|((agents, inputs), outputs)| slice(agents, inputs, outputs))
                    .collect()
            }),
        }
    }
}

/// Which agents have come to which modules and left which, compared with the step before.
#[derive(Default)]
pub(super) struct Membership {
    places: Vec<Places>,
    pub(super) added: Vec<(u32, Places)>,
    pub(super) removed: Vec<(u32, Places)>,
}

impl Membership {
    /// Compares with the step before.
    pub(super) fn update(&mut self, movers: &[Mover]) {
        self.added.clear();
        self.removed.clear();
        self.places.resize(movers.len(), super::bank::NOWHERE);
        for (agent, (mover, places)) in movers.iter().zip(&mut self.places).enumerate() {
            let now = if mover.is_active() {
                mover.modules
            } else {
                super::bank::NOWHERE
            };
            if now == *places {
                continue;
            }
            let changed = |a: Places, b: Places| {
                std::array::from_fn(|slot| {
                    if a[slot] == b[slot] {
                        u16::MAX
                    } else {
                        a[slot]
                    }
                })
            };
            self.removed.push((agent as u32, changed(*places, now)));
            self.added.push((agent as u32, changed(now, *places)));
            *places = now;
        }
    }

    /// The agents of a list that concern a module.
    pub(super) fn of(list: &[(u32, Places)], slot: Slot, module: usize) -> Vec<u32> {
        let concerns = list
            .iter()
            .filter(|(_, places)| places[slot as usize] as usize == module);
        concerns.map(|(agent, _)| *agent).collect()
    }

    /// Forgets everything: the modules have other places now.
    pub(super) fn clear(&mut self) {
        self.places.fill(super::bank::NOWHERE);
    }
}
