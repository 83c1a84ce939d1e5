//! Asking modules in batches, slice by slice.

use rayon::prelude::*;

/// Rows that a thread takes at once.
pub(super) const SLICE: usize = 64;

/// Perceives and asks slice by slice; with helpers the slices are shared out.
pub(super) fn ask<I, O>(
    pool: Option<&rayon::ThreadPool>,
    due: &[u32],
    inputs: &mut Vec<I>,
    outputs: &mut Vec<O>,
    perceive: impl Fn(u32) -> I + Sync,
    answer: impl Fn(&[I], &mut [O]) + Sync,
) where
    I: Default + Clone + Send + Sync,
    O: Default + Clone + Send,
{
    inputs.clear();
    inputs.resize(due.len(), I::default());
    outputs.clear();
    outputs.resize(due.len(), O::default());
    let slice = |due: &[u32], inputs: &mut [I], outputs: &mut [O]| {
        for (&agent, input) in due.iter().zip(inputs.iter_mut()) {
            *input = perceive(agent);
        }
        answer(inputs, outputs);
    };
    match pool {
        None => slice(due, inputs, outputs),
        Some(pool) => pool.install(|| {
            due.par_chunks(SLICE)
                .zip(inputs.par_chunks_mut(SLICE))
                .zip(outputs.par_chunks_mut(SLICE))
                .for_each(|((due, inputs), outputs)| slice(due, inputs, outputs));
        }),
    }
}
