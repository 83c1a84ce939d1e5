//! Asking modules in batches, slice by slice.

use super::pool::ModulePool;
use crate::agents::Census;
use crate::records::AgentIndex;
use rayon::prelude::*;
use roadwright_agent::{Choosable, Rate};
use roadwright_scenario::DynamicsLevel;

/// Rows that a thread takes at once.
///
/// Fixed, and not a share of the rows by the number of threads: a slice is what a module is asked
/// about at once, and what a plugin's fault strikes, so it must be the same with any number of
/// threads. 64 rows are 8 KiB (a row has at most 128 bytes; twice that for those who drive by pedals):
/// enough work to outweigh the handing over, and few enough that they stay in the first cache until they
/// are answered.
pub(crate) const SLICE: usize = 64;
/// Rows of a batch for modules that want it as a whole: plugins are asked about so many at once.
const WHOLE_BATCH: usize = 1024;

/// Lists of agents that an instance has at most, one for each step of its period. Steps of a longer
/// period share lists: at 1 ms and once in ten seconds there would be 10,000.
const MOST_TURNS: u64 = 1024;

/// Agents whose turn it is, by index and by id, as modules are told of them.
#[derive(Clone, Copy)]
pub(crate) struct Due<'a> {
    pub(crate) indices: &'a [u32],
    pub(crate) ids: &'a [u64],
}

impl Due<'_> {
    /// Whether it is nobody's turn.
    pub(crate) fn is_empty(self) -> bool {
        self.indices.is_empty()
    }
}

/// How the rows of a batch are shared out.
#[derive(Clone, Copy)]
pub(crate) struct Sharing<'a> {
    /// Threads beside the own one.
    pub(crate) helpers: Option<&'a rayon::ThreadPool>,
    /// Whether the module wants a batch as a whole.
    pub(crate) is_whole: bool,
}

/// Agents with one turn, by index and by id, as modules are told of them.
#[derive(Debug, Clone, Default)]
struct Turn {
    indices: Vec<u32>,
    ids: Vec<u64>,
}

impl Turn {
    fn clear(&mut self) {
        self.indices.clear();
        self.ids.clear();
    }

    fn due(&self) -> Due<'_> {
        Due {
            indices: &self.indices,
            ids: &self.ids,
        }
    }

    fn push(&mut self, index: AgentIndex, id: u64) {
        self.indices.push(index.number());
        self.ids.push(id);
    }
}

/// The agents of one instance that are asked at one rate, by their turn in its period.
#[derive(Debug, Clone)]
struct Turns {
    rate: Rate,
    turns: Vec<Turn>,
}

impl Turns {
    fn push(&mut self, index: AgentIndex, id: u64) {
        let turn = id % self.rate.period() % self.turns.len() as u64;
        self.turns[turn as usize].push(index, id);
    }

    /// Those whose turn it is in a step; `chosen` is room for the answer.
    fn due<'a>(&'a self, step: u64, chosen: &'a mut Turn) -> Due<'a> {
        let period = self.rate.period();
        // The remainder that ids must have: step + id is a multiple of the period.
        let turn = (period - step % period) % period;
        let listed = &self.turns[(turn % self.turns.len() as u64) as usize];
        if self.turns.len() as u64 == period {
            return listed.due();
        }
        chosen.clear();
        for (&index, &id) in listed.indices.iter().zip(&listed.ids) {
            if id % period == turn {
                chosen.push(index.into(), id);
            }
        }
        chosen.due()
    }
}

/// Makes room for the turns of instances that are asked at some rates, with nobody in it.
fn clear(all: &mut Vec<Turns>, rates: impl Iterator<Item = Rate>) {
    let mut count = 0;
    for (number, rate) in rates.enumerate() {
        if number == all.len() {
            let turns = Vec::new();
            all.push(Turns { rate, turns });
        }
        let own = &mut all[number];
        own.rate = rate;
        let turns = rate.period().min(MOST_TURNS) as usize;
        own.turns.resize_with(turns, Turn::default);
        own.turns.iter_mut().for_each(Turn::clear);
        count = number + 1;
    }
    all.truncate(count);
}

/// Whose turn it is in one slot. Made again only when agents come, go or choose other modules.
///
/// An agent is asked in the steps for which step and id add up to a multiple of the period. Example:
/// with a period of 3 agents 1 and 4 are asked in step 2, agent 2 in step 1, agent 3 in step 0 or 3.
/// So each step asks about as many as any other, and whose turn it is depends on ids only.
///
/// In some slots those whose level holds an answer for a stride of several steps are asked where strides
/// begin, and never within one.
#[derive(Default)]
pub(crate) struct Rota {
    revision: Option<u64>,
    of: Vec<Turns>,
    /// Those who are asked where strides begin.
    in_strides: Vec<Turns>,
    /// Those of a list that is shared by several steps whose turn it is now.
    chosen: Turn,
}

impl Rota {
    /// Brings the rota up to date.
    pub(crate) fn update<L: Choosable + ?Sized>(
        &mut self,
        pool: &ModulePool<L>,
        agents: Census<'_>,
    ) {
        self.update_in_strides(pool, agents, |_| 1);
    }

    /// The same where answers are held: for so many steps by a level. All that hold them for longer than
    /// one step hold them for the same time.
    pub(crate) fn update_in_strides<L: Choosable + ?Sized>(
        &mut self,
        pool: &ModulePool<L>,
        agents: Census<'_>,
        stride: impl Fn(DynamicsLevel) -> u64,
    ) {
        // The revision counts whoever comes, goes or changes modules; in most steps it is the same.
        if self.revision == Some(agents.revision()) && self.of.len() == pool.instances.len() {
            return;
        }
        self.revision = Some(agents.revision());
        let longest = DynamicsLevel::ALL.into_iter().map(&stride).max();
        let longest = longest.unwrap_or(1);
        let rates = pool.instances.iter().map(|instance| instance.rate);
        clear(&mut self.of, rates.clone());
        clear(
            &mut self.in_strides,
            rates.map(|rate| rate.in_strides(longest)),
        );
        for index in agents.driving() {
            let who = &agents.identity[index.index()];
            let instance = who.modules.of(pool.slot) as usize;
            let list = match stride(who.level) {
                1 => &mut self.of,
                _ => &mut self.in_strides,
            };
            list[instance].push(index, who.id);
        }
    }

    /// Indices and ids of the agents of an instance whose turn it is in a step: those for which
    /// step and id add up to a multiple of the period.
    pub(crate) fn due(&mut self, instance: usize, step: u64) -> Due<'_> {
        self.of[instance].due(step, &mut self.chosen)
    }

    /// The same of those who are asked where strides begin, and how often that is.
    pub(crate) fn due_in_strides(&mut self, instance: usize, step: u64) -> (Due<'_>, Rate) {
        let own = &self.in_strides[instance];
        (own.due(step, &mut self.chosen), own.rate)
    }

    /// Whether it is an agent's turn.
    pub(crate) fn is_due(&mut self, agent: AgentIndex, step: u64) -> bool {
        let mut instances = 0..self.of.len();
        instances.any(|instance| {
            let due = self.due(instance, step).indices;
            due.binary_search(&agent.number()).is_ok()
        })
    }
}

/// Agents by index and by id, in batches: a slice, or slices for all threads, or as many as plugins are asked
/// about at once.
pub(crate) fn batches<'a>(sharing: Sharing<'_>, due: Due<'a>) -> impl Iterator<Item = Due<'a>> {
    let size = match sharing.helpers {
        _ if sharing.is_whole => WHOLE_BATCH,
        // Two slices each, since one may take longer than another.
        Some(helpers) => 2 * SLICE * helpers.current_num_threads(),
        None => SLICE,
    };
    let ids = due.ids.chunks(size);
    let batches = due.indices.chunks(size).zip(ids);
    batches.map(|(indices, ids)| Due { indices, ids })
}

/// Rows of one slot, kept between steps so that nothing is allocated in them: what modules are asked, what
/// they answer, and what the asking stage notes of each row.
#[derive(Default)]
pub(crate) struct Rows<I, O, N = ()> {
    /// Those of the last batch.
    pub(crate) inputs: Vec<I>,
    pub(crate) outputs: Vec<O>,
    pub(crate) notes: Vec<N>,
}

/// Rows of a slice: what is asked, what is answered, and what is noted.
pub(crate) type Slices<'a, I, O, N> = (&'a mut [I], &'a mut [O], &'a mut [N]);

impl<I, O, N> Rows<I, O, N>
where
    I: Default + Clone + Send + Sync,
    O: Default + Clone + Send,
    N: Default + Clone + Send,
{
    /// Bytes that the rows take.
    pub(crate) fn bytes(&self) -> usize {
        self.inputs.capacity() * size_of::<I>()
            + self.outputs.capacity() * size_of::<O>()
            + self.notes.capacity() * size_of::<N>()
    }

    /// Perceives and asks batch by batch; with helpers the slices of a batch are shared out, unless
    /// the module wants it as a whole. What is about to be perceived is said before. Answers and notes are
    /// kept until the next question, of all batches. Returns what the slices return, in their order.
    pub(crate) fn ask<E: Send>(
        &mut self,
        sharing: Sharing<'_>,
        due: Due<'_>,
        prepare: impl Fn(&[u32]) + Sync,
        perceive: impl Fn(AgentIndex) -> I + Sync,
        answer: impl Fn(Due<'_>, Slices<'_, I, O, N>) -> E + Sync,
    ) -> Vec<E> {
        let (outputs, notes) = (&mut self.outputs, &mut self.notes);
        outputs.clear();
        outputs.resize(due.indices.len(), O::default());
        notes.clear();
        notes.resize(due.indices.len(), N::default());
        let (mut outputs, mut notes) = (&mut outputs[..], &mut notes[..]);
        let mut told = Vec::new();
        for agents in batches(sharing, due) {
            let count = agents.indices.len();
            if self.inputs.len() < count {
                self.inputs.resize(count, I::default());
            }
            let rows = (
                &mut self.inputs[..count],
                outputs.split_off_mut(..count).expect("one for each agent"),
                notes.split_off_mut(..count).expect("one for each agent"),
            );
            told.extend(ask_batch(
                sharing, agents, rows, &prepare, &perceive, &answer,
            ));
        }
        told
    }
}

fn ask_batch<I: Send + Sync, O: Send, N: Send, E: Send>(
    sharing: Sharing<'_>,
    due: Due<'_>,
    rows: Slices<'_, I, O, N>,
    prepare: &(impl Fn(&[u32]) + Sync),
    perceive: &(impl Fn(AgentIndex) -> I + Sync),
    answer: &(impl Fn(Due<'_>, Slices<'_, I, O, N>) -> E + Sync),
) -> Vec<E> {
    let slice = |due: Due<'_>, rows: Slices<'_, I, O, N>| {
        prepare(due.indices);
        for (&agent, input) in due.indices.iter().zip(rows.0.iter_mut()) {
            *input = perceive(agent.into());
        }
        answer(due, rows)
    };
    // Three ways to the same rows: alone; perceived in parallel and asked as a whole; or both in
    // slices. Which one is taken changes no bit, because a row depends on its agent and the world
    // only, and results are put together in the order of slices.
    match sharing.helpers {
        None => vec![slice(due, rows)],
        Some(helpers) if sharing.is_whole => {
            helpers.install(|| {
                let rows = rows.0.par_iter_mut().zip(due.indices);
                rows.for_each(|(input, &agent)| *input = perceive(agent.into()));
            });
            vec![answer(due, rows)]
        }
        Some(helpers) => helpers.install(|| {
            let indices = due.indices.par_chunks(SLICE);
            let agents = indices.zip(due.ids.par_chunks(SLICE));
            let asked = rows.0.par_chunks_mut(SLICE);
            let answered = rows.1.par_chunks_mut(SLICE);
            let noted = rows.2.par_chunks_mut(SLICE);
            agents
                .zip(asked.zip(answered).zip(noted))
                .map(|((indices, ids), ((inputs, outputs), notes))| {
                    slice(Due { indices, ids }, (inputs, outputs, notes))
                })
                .collect::<Vec<E>>()
        }),
    }
}
