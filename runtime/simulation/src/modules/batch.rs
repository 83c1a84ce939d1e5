//! Asking modules in batches, slice by slice.

use super::pool::ModulePool;
use crate::agents::Agents;
use rayon::prelude::*;
use roadwright_agent::Choosable;

/// Rows that a thread takes at once.
pub(crate) const SLICE: usize = 64;
/// Rows that are perceived and asked about before the next ones are: they stay in the cache.
const BATCH: usize = 1024;

/// Agents with one turn, by index and by id.
#[derive(Debug, Clone, Default)]
struct Turn {
    indices: Vec<u32>,
    ids: Vec<u64>,
}

/// Whose turn it is in one slot: for each instance the agents by their turn in its period. Made
/// anew only when agents come, go or choose other modules.
#[derive(Default)]
pub(crate) struct Rota {
    revision: Option<u64>,
    turns: Vec<Vec<Turn>>,
}

impl Rota {
    /// Brings the rota up to date.
    pub(crate) fn update<L: Choosable + ?Sized>(&mut self, pool: &ModulePool<L>, agents: &Agents) {
        if self.revision == Some(agents.revision()) && self.turns.len() == pool.instances.len() {
            return;
        }
        self.revision = Some(agents.revision());
        self.turns.resize_with(pool.instances.len(), Vec::new);
        for (turns, instance) in self.turns.iter_mut().zip(&pool.instances) {
            turns.resize_with(instance.rate.period() as usize, Turn::default);
            for turn in turns {
                turn.indices.clear();
                turn.ids.clear();
            }
        }
        for index in agents.driving() {
            let who = &agents.identity[index as usize];
            let turns = &mut self.turns[who.modules.of(L::SLOT) as usize];
            let turn = who.id % turns.len() as u64;
            turns[turn as usize].indices.push(index);
            turns[turn as usize].ids.push(who.id);
        }
    }

    /// Indices and ids of the agents of an instance whose turn it is in a step: those for which
    /// step and id add up to a multiple of the period.
    pub(crate) fn due(&self, instance: usize, step: u64) -> (&[u32], &[u64]) {
        let turns = &self.turns[instance];
        let period = turns.len() as u64;
        let turn = &turns[((period - step % period) % period) as usize];
        (&turn.indices, &turn.ids)
    }

    /// Whether it is an agent's turn.
    pub(crate) fn is_due(&self, agent: u32, step: u64) -> bool {
        let mut instances = 0..self.turns.len();
        instances.any(|instance| self.due(instance, step).0.binary_search(&agent).is_ok())
    }
}

/// Rows of one slot, kept between steps so that nothing is allocated in them.
#[derive(Default)]
pub(crate) struct Rows<I, O> {
    inputs: Vec<I>,
    /// The answers to the last question.
    pub(crate) outputs: Vec<O>,
}

impl<I, O> Rows<I, O>
where
    I: Default + Clone + Send + Sync,
    O: Default + Clone + Send,
{
    /// Bytes that the rows take.
    pub(crate) fn bytes(&self) -> usize {
        self.inputs.capacity() * size_of::<I>() + self.outputs.capacity() * size_of::<O>()
    }

    /// Perceives and asks batch by batch; with helpers the slices of a batch are shared out, unless
    /// the module wants it as a whole. Returns what the slices return, in their order.
    pub(crate) fn ask<E: Send>(
        &mut self,
        helpers: Option<&rayon::ThreadPool>,
        is_whole: bool,
        (indices, ids): (&[u32], &[u64]),
        perceive: impl Fn(u32) -> I + Sync,
        answer: impl Fn((&[u32], &[u64]), &[I], &mut [O]) -> E + Sync,
    ) -> Vec<E> {
        self.outputs.clear();
        self.outputs.resize(indices.len(), O::default());
        let mut told = Vec::new();
        let parts = indices.chunks(BATCH).zip(ids.chunks(BATCH));
        for (agents, outputs) in parts.zip(self.outputs.chunks_mut(BATCH)) {
            let count = agents.0.len();
            if self.inputs.len() < count {
                self.inputs.resize(count, I::default());
            }
            let inputs = &mut self.inputs[..count];
            ask_batch(
                helpers,
                is_whole,
                agents,
                (inputs, outputs),
                &perceive,
                &answer,
                &mut told,
            );
        }
        told
    }
}

fn ask_batch<I: Send + Sync, O: Send, E: Send>(
    helpers: Option<&rayon::ThreadPool>,
    is_whole: bool,
    (indices, ids): (&[u32], &[u64]),
    (inputs, outputs): (&mut [I], &mut [O]),
    perceive: &(impl Fn(u32) -> I + Sync),
    answer: &(impl Fn((&[u32], &[u64]), &[I], &mut [O]) -> E + Sync),
    told: &mut Vec<E>,
) {
    let slice = |(indices, ids): (&[u32], &[u64]), inputs: &mut [I], outputs: &mut [O]| {
        for (&agent, input) in indices.iter().zip(inputs.iter_mut()) {
            *input = perceive(agent);
        }
        answer((indices, ids), inputs, outputs)
    };
    match helpers {
        None => told.push(slice((indices, ids), inputs, outputs)),
        Some(helpers) if is_whole => {
            helpers.install(|| {
                let rows = inputs.par_iter_mut().zip(indices);
                rows.for_each(|(input, &agent)| *input = perceive(agent));
            });
            told.push(answer((indices, ids), inputs, outputs));
        }
        Some(helpers) => told.extend(helpers.install(|| {
            let agents = indices.par_chunks(SLICE).zip(ids.par_chunks(SLICE));
            let rows = inputs
                .par_chunks_mut(SLICE)
                .zip(outputs.par_chunks_mut(SLICE));
            agents
                .zip(rows)
                .map(|(agents, (inputs, outputs))| slice(agents, inputs, outputs))
                .collect::<Vec<E>>()
        })),
    }
}
