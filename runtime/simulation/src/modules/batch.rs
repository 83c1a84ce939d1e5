//! Calls modules in batches, slice by slice.

use super::pool::ModulePool;
use crate::agents::Census;
use crate::records::AgentIndex;
use rayon::prelude::*;
use roadwright_agent::{Choosable, Rate};
use roadwright_scenario::DynamicsLevel;

/// Number of rows that a thread processes at once.
///
/// Modules are called slice by slice, and a fault of a plugin affects a whole slice. So the number
/// must not depend on the number of threads. A row has about 100 to 400 bytes, so 64 rows take 6 to
/// 25 KiB. This is enough work to outweigh the overhead, and the rows stay in the first-level cache
/// until they have been processed.
pub(crate) const SLICE: usize = 64;
/// Number of rows in each call of a module that takes whole batches, as plugins do.
const WHOLE_BATCH: usize = 1024;

/// Maximum number of agent lists per instance. There is one list for each step of the instance's
/// period. If the period has more steps than this, several steps share a list. Otherwise, an update
/// every ten seconds with steps of 1 ms would need 10,000 lists.
const MOST_TURNS: u64 = 1024;

/// Agents that are due for an update, by index and by id, as passed to modules.
#[derive(Clone, Copy)]
pub(crate) struct Due<'a> {
    pub(crate) indices: &'a [u32],
    pub(crate) ids: &'a [u64],
}

impl Due<'_> {
    /// Whether no agent is due.
    pub(crate) fn is_empty(self) -> bool {
        self.indices.is_empty()
    }
}

/// Distribution of the rows of a batch over threads.
#[derive(Clone, Copy)]
pub(crate) struct Sharing<'a> {
    /// Helper threads besides the current one.
    pub(crate) helpers: Option<&'a rayon::ThreadPool>,
    /// Whether the module takes batches as a whole.
    pub(crate) is_whole: bool,
}

/// Agents that are due in the same steps, by index and by id.
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

/// Agents of one instance that are updated at the same rate, grouped by their step within the
/// period.
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

    /// Agents that are due in a step. `chosen` is a buffer for agents selected from a shared list.
    fn due<'a>(&'a self, step: u64, chosen: &'a mut Turn) -> Due<'a> {
        let period = self.rate.period();
        // Remainder of the ids that are due, because step + id has to be a multiple of the period.
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

/// Prepares empty lists for instances with the given rates.
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

/// Schedule of one slot: which agents are updated in which step. The schedule is rebuilt only when
/// agents are added, leave or choose other modules.
///
/// An agent is updated in the steps for which step plus id is a multiple of the period. Example:
/// with a period of 3, agents 1 and 4 are updated in step 2, agent 2 in step 1, and agent 3 in
/// steps 0 and 3. Thus all steps update about the same number of agents, and an agent's steps
/// depend only on its id.
///
/// If a dynamics level holds an output for a stride of several steps, some slots update the agents
/// on this level only at the beginning of strides.
#[derive(Default)]
pub(crate) struct Rota {
    revision: Option<u64>,
    of: Vec<Turns>,
    /// Agents that are updated at the beginning of strides.
    in_strides: Vec<Turns>,
    /// Agents that are due in this step, chosen from a list that several steps share.
    chosen: Turn,
}

impl Rota {
    /// Updates the schedule if agents were added, have left or have chosen other modules.
    pub(crate) fn update<L: Choosable + ?Sized>(
        &mut self,
        pool: &ModulePool<L>,
        agents: Census<'_>,
    ) {
        self.update_in_strides(pool, agents, |_| 1);
    }

    /// Updates the schedule of a slot whose outputs are held by dynamics levels. `stride` returns
    /// the number of steps that a level holds an output. All levels that hold an output for more
    /// than one step hold it for the same number of steps.
    pub(crate) fn update_in_strides<L: Choosable + ?Sized>(
        &mut self,
        pool: &ModulePool<L>,
        agents: Census<'_>,
        stride: impl Fn(DynamicsLevel) -> u64,
    ) {
        // The revision changes whenever an agent is added, leaves or changes its modules. In most
        // steps it is unchanged.
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

    /// Returns the indices and ids of the agents of an instance that are due in a step: those whose
    /// id plus the step is a multiple of the period.
    pub(crate) fn due(&mut self, instance: usize, step: u64) -> Due<'_> {
        self.of[instance].due(step, &mut self.chosen)
    }

    /// Like `due`, but for agents that are updated at the beginning of strides. Also returns the rate of
    /// their updates.
    pub(crate) fn due_in_strides(&mut self, instance: usize, step: u64) -> (Due<'_>, Rate) {
        let own = &self.in_strides[instance];
        (own.due(step, &mut self.chosen), own.rate)
    }

    /// Whether any agent of an instance is due in a step, whether or not it is updated in strides.
    pub(crate) fn has_due(&mut self, instance: usize, step: u64) -> bool {
        let is_due = !self.due(instance, step).is_empty();
        is_due || !self.due_in_strides(instance, step).0.is_empty()
    }

    /// Whether an agent is due for an update.
    pub(crate) fn is_due(&mut self, agent: AgentIndex, step: u64) -> bool {
        let mut instances = 0..self.of.len();
        instances.any(|instance| {
            let due = self.due(instance, step).indices;
            due.binary_search(&agent.number()).is_ok()
        })
    }
}

/// Splits agents into batches. For modules that take whole batches, the batch size is
/// `WHOLE_BATCH`. For other modules, it is two slices per thread, or one slice without helper
/// threads.
pub(crate) fn batches<'a>(sharing: Sharing<'_>, due: Due<'a>) -> impl Iterator<Item = Due<'a>> {
    let size = match sharing.helpers {
        _ if sharing.is_whole => WHOLE_BATCH,
        // Two slices for each thread, because some slices take longer than others.
        Some(helpers) => 2 * SLICE * helpers.current_num_threads(),
        None => SLICE,
    };
    let ids = due.ids.chunks(size);
    let batches = due.indices.chunks(size).zip(ids);
    batches.map(|(indices, ids)| Due { indices, ids })
}

/// Further columns of a slot besides inputs, outputs and notes. The slot sets the number of
/// elements per row.
pub(crate) trait Columns: Default + Send + 'static {
    /// Columns of some of the rows.
    type Part<'a>: Splits
    where
        Self: 'a;

    /// Memory used by the columns, in bytes.
    fn bytes(&self) -> usize;

    /// Columns of the first `rows` rows. Their old contents stay until they are overwritten.
    fn first(&mut self, rows: usize) -> Self::Part<'_>;
}

/// Columns that can be split by rows.
pub(crate) trait Splits: Send {
    /// Removes the columns of the first `rows` rows and returns them.
    fn split_off(&mut self, rows: usize) -> Self;
}

impl Columns for () {
    type Part<'a> = ();

    fn bytes(&self) -> usize {
        0
    }

    fn first(&mut self, _: usize) {}
}

impl Splits for () {
    fn split_off(&mut self, _: usize) {}
}

/// A column with the same number of elements for each row, so rows can be filled in any order.
#[derive(Default)]
pub(crate) struct Column<T> {
    elements: Vec<T>,
    /// Number of elements of a row.
    stride: usize,
}

/// Elements of some rows of a [`Column`].
pub(crate) struct ColumnPart<'a, T> {
    pub(crate) elements: &'a mut [T],
    stride: usize,
}

impl<T: Default + Clone> Column<T> {
    /// Number of elements of a row.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Removes all elements, and sets the number of elements of a row.
    pub(crate) fn clear(&mut self, stride: usize) {
        self.elements.clear();
        self.stride = stride;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.elements.capacity() * size_of::<T>()
    }

    /// Elements of the first `rows` rows.
    pub(crate) fn first(&mut self, rows: usize) -> ColumnPart<'_, T> {
        let count = rows * self.stride;
        if self.elements.len() < count {
            self.elements.resize(count, T::default());
        }
        ColumnPart {
            elements: &mut self.elements[..count],
            stride: self.stride,
        }
    }
}

impl<T: Send> Splits for ColumnPart<'_, T> {
    fn split_off(&mut self, rows: usize) -> Self {
        let elements = self.elements.split_off_mut(..rows * self.stride);
        Self {
            elements: elements.unwrap_or_default(),
            stride: self.stride,
        }
    }
}

impl<T> ColumnPart<'_, T> {
    /// Elements of one row.
    pub(crate) fn row(&mut self, row: usize) -> &mut [T] {
        &mut self.elements[row * self.stride..(row + 1) * self.stride]
    }
}

/// Rows of one slot: inputs and outputs of modules, notes that the calling stage keeps for each
/// row, and further columns. They are kept between steps to avoid allocations.
#[derive(Default)]
pub(crate) struct Rows<I, O, N = (), C = ()> {
    /// Inputs of the most recent batch.
    pub(crate) inputs: Vec<I>,
    pub(crate) outputs: Vec<O>,
    pub(crate) notes: Vec<N>,
    pub(crate) columns: C,
}

/// Some of the rows of a slot.
pub(crate) struct Part<'a, I, O, N, C: Columns> {
    pub(crate) inputs: &'a mut [I],
    pub(crate) outputs: &'a mut [O],
    pub(crate) notes: &'a mut [N],
    pub(crate) columns: C::Part<'a>,
}

impl<'a, I, O, N, C: Columns> Part<'a, I, O, N, C> {
    /// Removes the first `rows` rows and returns them.
    fn split_off(&mut self, rows: usize) -> Self {
        Self {
            inputs: self.inputs.split_off_mut(..rows).unwrap_or_default(),
            outputs: self.outputs.split_off_mut(..rows).unwrap_or_default(),
            notes: self.notes.split_off_mut(..rows).unwrap_or_default(),
            columns: self.columns.split_off(rows),
        }
    }

    /// Splits the rows into slices, each with its agents.
    fn into_slices<'d>(mut self, due: Due<'d>) -> Vec<(Due<'d>, Self)> {
        let ids = due.ids.chunks(SLICE);
        let agents = due.indices.chunks(SLICE).zip(ids);
        agents
            .map(|(indices, ids)| (Due { indices, ids }, self.split_off(indices.len())))
            .collect()
    }
}

impl<I, O, N, C> Rows<I, O, N, C>
where
    I: Default + Clone + Send + Sync,
    O: Default + Clone + Send,
    N: Default + Clone + Send,
    C: Columns,
{
    /// Memory used by the rows, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.inputs.capacity() * size_of::<I>()
            + self.outputs.capacity() * size_of::<O>()
            + self.notes.capacity() * size_of::<N>()
            + self.columns.bytes()
    }

    /// Perceives the agents and calls the module, batch by batch. Helper threads share the slices
    /// of a batch, unless the module takes the batch as a whole. `prepare` is called before a slice
    /// is perceived. `perceive` also gets the row of the agent within the slice, and the columns of
    /// the slice, whose elements it fills in. Outputs and notes of all batches are kept until the
    /// next call. Returns the results of the slices, in order.
    pub(crate) fn ask<E: Send>(
        &mut self,
        sharing: Sharing<'_>,
        due: Due<'_>,
        prepare: impl Fn(&[u32]) + Sync,
        perceive: impl Fn(AgentIndex, usize, &mut C::Part<'_>) -> I + Sync,
        answer: impl Fn(Due<'_>, Part<'_, I, O, N, C>) -> E + Sync,
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
            let outputs = outputs.split_off_mut(..count).expect("one for each agent");
            let notes = notes.split_off_mut(..count).expect("one for each agent");
            let batch = Batch {
                inputs: &mut self.inputs[..count],
                outputs,
                notes,
                columns: &mut self.columns,
            };
            told.extend(batch.ask(sharing, agents, &prepare, &perceive, &answer));
        }
        told
    }
}

/// Rows of one batch.
struct Batch<'a, I, O, N, C> {
    inputs: &'a mut [I],
    outputs: &'a mut [O],
    notes: &'a mut [N],
    columns: &'a mut C,
}

impl<I, O, N, C> Batch<'_, I, O, N, C>
where
    I: Send + Sync,
    O: Send,
    N: Send,
    C: Columns,
{
    fn all(&mut self) -> Part<'_, I, O, N, C> {
        let columns = self.columns.first(self.inputs.len());
        Part {
            inputs: self.inputs,
            outputs: self.outputs,
            notes: self.notes,
            columns,
        }
    }

    fn ask<E: Send>(
        mut self,
        sharing: Sharing<'_>,
        due: Due<'_>,
        prepare: &(impl Fn(&[u32]) + Sync),
        perceive: &(impl Fn(AgentIndex, usize, &mut C::Part<'_>) -> I + Sync),
        answer: &(impl Fn(Due<'_>, Part<'_, I, O, N, C>) -> E + Sync),
    ) -> Vec<E> {
        let fill = |due: Due<'_>, rows: &mut Part<'_, I, O, N, C>| {
            prepare(due.indices);
            for (row, (&agent, input)) in due.indices.iter().zip(&mut *rows.inputs).enumerate() {
                *input = perceive(agent.into(), row, &mut rows.columns);
            }
        };
        let slice = |(due, mut rows): (Due<'_>, Part<'_, I, O, N, C>)| {
            fill(due, &mut rows);
            answer(due, rows)
        };
        // Without helper threads, the batch is one slice. With them, it is perceived in parallel
        // and then passed to the module as a whole, or processed slice by slice. The result is
        // bit-identical, because a row depends only on its agent and the world, and results are
        // combined in the order of slices.
        match sharing.helpers {
            None => vec![slice((due, self.all()))],
            Some(helpers) if sharing.is_whole => {
                let slices = self.all().into_slices(due).into_par_iter();
                helpers.install(|| slices.for_each(|(due, mut rows)| fill(due, &mut rows)));
                vec![answer(due, self.all())]
            }
            Some(helpers) => {
                let slices = self.all().into_slices(due).into_par_iter();
                helpers.install(|| slices.map(slice).collect())
            }
        }
    }
}
