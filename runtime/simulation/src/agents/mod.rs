//! The driving agents: one column for each concern, indexed by agent index.
//!
//! Indices are dense and reused. When an agent leaves, its modules are notified at the next step
//! boundary, and its index becomes free at the boundary after that. No result of a run depends on
//! indices. Where order matters, agents are processed by id.

mod accounts;
mod finished;
mod lent;
mod rare;

pub(crate) use accounts::{Account, Accounts, Deviation, Odometer};

pub use finished::{Drive, Status};
pub(crate) use finished::{Finished, FinishedRow, Score};
pub(crate) use lent::{
    AdvanceColumns, AgentsRef, Census, ClaimColumns, ContactColumns, ControlColumns, GroundColumns,
    PlanColumns,
};

use crate::records::{
    AgentIndex, Aside, Claim, Command, Identity, LanePosition, Motion, Phase, Progress, Statistics,
    Wish, are_distinct, keeps_to_lanes,
};
use crate::route::Routes;
pub(crate) use rare::{Column, Rare};
use roadwright_scenario::lane_graph::NO_LANELET;
use roadwright_scenario::{DynamicsLevel, LaneletIndex};
use roadwright_vehicle::PedalCommand;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Declares the columns once: storage, the row of one agent, and its size.
///
/// Columns are used instead of a list of agents because each stage reads only a few of them. For example,
/// moving 100,000 bodies should not load their fitness counters. A column added here is stored, saved, hashed
/// and checked on loading without further code. `lent.rs` states which stages may access it.
///
/// `pedals` and `accounts` are kept separate from the columns:
///
/// - A row is hashed and saved as a whole. Another field in it would change the hash of every run and the
///   layout of every save, even where no agent has pedals or accounts. So both are separate parts of saves,
///   optional for older saves, and only hashed for agents that have any.
/// - Accounts are keyed by id, since they also record which collisions have been counted.
///
/// Such additions have to be handled in `save.rs`, in `report.rs` (the hash) and in [`Agents::insert`], which
/// reuses the index of an agent for another one. Tests check all three.
macro_rules! columns {
    ($($(#[$doc:meta])* $column:ident: $row:ty => $rows:ty,)*) => {
        /// The driving agents in columns of equal length.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        pub(crate) struct Agents {
            $($(#[$doc])* pub(crate) $column: $rows,)*
            /// Free indices. They are assigned from the end of the list.
            free: Vec<AgentIndex>,
            /// Indices of agents that have left. An index stays in this list until it is free
            /// again.
            #[serde(skip)]
            leaving: Vec<AgentIndex>,
            /// Number of agents that are driving or about to be spawned, by level of dynamics.
            count: [usize; DynamicsLevel::ALL.len()],
            /// Pedals of agents that are driven by pedals. The list may be shorter than the columns.
            #[serde(skip)]
            pub(crate) pedals: Vec<Option<PedalCommand>>,
            /// Optional statistics for fitness functions. Empty if no function uses them.
            #[serde(skip)]
            pub(crate) accounts: Accounts,
            /// Incremented when an agent is added, leaves, or changes its modules or level.
            #[serde(skip)]
            revision: u64,
            /// Index by id. It is used only for look-ups and never iterated.
            #[serde(skip)]
            by_id: HashMap<u64, AgentIndex>,
        }

        /// The rows of one agent in all columns.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
        pub(crate) struct AgentRow {
            $(pub(crate) $column: $row,)*
        }

        impl Agents {
            /// Size of one agent in all columns, in bytes.
            pub(crate) const BYTES: usize = 0 $(+ size_of::<$row>())*;

            fn set(&mut self, index: usize, row: AgentRow) {
                $(Column::put(&mut self.$column, index, row.$column);)*
            }

            /// Whether all columns have a row for each agent.
            fn are_of_one_length(&self) -> bool {
                let count = self.identity.len();
                [$(Column::is_of(&self.$column, count)),*].into_iter().all(|is_of| is_of)
            }

            /// Copies the data of one agent from all columns.
            pub(crate) fn row(&self, index: AgentIndex) -> AgentRow {
                AgentRow { $($column: self.$column[index.index()],)* }
            }
        }
    };
}

// agent index    0        1       2        3 identity       id 7     free    id 9     id 3 motion
// ..       ..      ..       .. position       ..       ..      ..       ..
//
// A stage iterates over the columns that it reads. For a free index, it only checks the phase.
columns! {
    /// Ids, modules, stacks, vehicle types, phases and levels.
    identity: Identity => Vec<Identity>,
    /// Poses, speeds and accelerations.
    motion: Motion => Vec<Motion>,
    /// Lanelets, and the positions along and across them.
    position: LanePosition => Vec<LanePosition>,
    /// Routes of agents, and their progress along them.
    progress: Progress => Vec<Progress>,
    /// Requests and grants at junctions and alleys.
    claim: Claim => Vec<Claim>,
    /// Lasting requests of behaviours. Few agents have any.
    wish: Wish => Rare<Wish>,
    /// Guided lateral offsets. Nearly all of them are zero.
    aside: Aside => Rare<Aside>,
    /// Latest outputs of controllers.
    command: Command => Vec<Command>,
    /// Counters for scoring drives.
    statistics: Statistics => Vec<Statistics>,
}

// There are many agents, so every byte counts. A new field has to fit, or has to be worth a higher
// limit. 40 of the bytes are for lasting requests and lateral offsets, which take no memory for
// agents without them.
const _: () = assert!(Agents::BYTES <= 336);

impl Agents {
    /// Memory used by all columns, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let (wish, aside) = (size_of::<Wish>(), size_of::<Aside>());
        self.identity.len() * (Self::BYTES - wish - aside)
            + self.wish.len() * wish
            + self.aside.len() * aside
    }

    /// Switches an agent to another level of dynamics.
    pub(crate) fn set_level(&mut self, index: AgentIndex, level: DynamicsLevel) {
        let before = std::mem::replace(&mut self.identity[index.index()].level, level);
        self.count[before as usize] -= 1;
        self.count[level as usize] += 1;
        self.touch();
    }

    /// Increments the revision after a change to the modules or the phase of an agent.
    pub(crate) fn touch(&mut self) {
        self.revision += 1;
    }

    /// Replaces the list of free indices with `order`, which must be a permutation of the indices
    /// below its length. Indices are assigned from the end of the list.
    #[cfg(test)]
    pub(crate) fn scatter(&mut self, order: &[AgentIndex]) {
        for index in 0..order.len() {
            self.set(index, AgentRow::default());
        }
        self.free = order.to_vec();
    }

    /// Adds an agent and returns its index.
    pub(crate) fn insert(&mut self, row: AgentRow) -> AgentIndex {
        // Takes the index that was freed last. It depends on the agents that have left, so no
        // result may depend on it.
        let index = self
            .free
            .pop()
            .unwrap_or(AgentIndex::from_index(self.identity.len()));
        self.by_id.insert(row.identity.id, index);
        self.set(index.index(), row);
        if let Some(pedals) = self.pedals.get_mut(index.index()) {
            *pedals = None;
        }
        self.count[row.identity.level as usize] += 1;
        self.touch();
        index
    }

    /// Removes an agent from the road. The agent keeps its index until its modules have been
    /// notified.
    pub(crate) fn remove(&mut self, index: AgentIndex) {
        let identity = &mut self.identity[index.index()];
        debug_assert!(!matches!(
            identity.phase,
            Phase::Free | Phase::Gone | Phase::Told
        ));
        // The row keeps its id until the index is free. Code that still holds the index in this step then
        // finds an agent that is not driving, instead of another agent.
        identity.phase = Phase::Gone;
        self.leaving.push(index);
        self.by_id.remove(&identity.id);
        self.count[identity.level as usize] -= 1;
        self.touch();
    }

    /// Frees the indices of agents whose removal was announced at the previous step boundary. Called at a
    /// step boundary before modules are notified.
    pub(crate) fn release(&mut self) {
        let Self {
            identity,
            leaving,
            free,
            ..
        } = self;
        let first = free.len();
        leaving.retain(|&index| {
            let identity = &mut identity[index.index()];
            let is_told = identity.phase == Phase::Told;
            if is_told {
                *identity = Identity::default();
                free.push(index);
            }
            !is_told
        });
        // Sorted, because a world that was saved in between does not know the order in which the
        // agents left.
        free[first..].sort_unstable();
    }

    /// Marks the removal of agents that have left as reported to their modules. Called at a step
    /// boundary.
    pub(crate) fn note_told(&mut self) {
        for &index in &self.leaving {
            self.identity[index.index()].phase = Phase::Told;
        }
    }

    /// Whether the columns have equal length and all references of agents are valid: lanelets,
    /// routes, and the parts of an identity that the closure `knows` checks.
    pub(crate) fn are_sound(
        &self,
        lanelets: usize,
        routes: &Routes,
        knows: impl Fn(usize, &Identity) -> bool,
    ) -> bool {
        let exists = |id: LaneletIndex| id == NO_LANELET || id.index() < lanelets;
        let count = self.identity.len();
        let of_level = |level: DynamicsLevel| {
            let known = self.identity.iter().filter(|who| who.is_known());
            known.filter(|who| who.level == level).count()
        };
        self.are_of_one_length()
            && self.pedals.len() <= count
            && DynamicsLevel::ALL.map(of_level) == self.count
            && self.free_are_sound()
            && self.ids_are_distinct()
            && (self.identity.iter().enumerate()).all(|(agent, who)| {
                let position = &self.position[agent];
                let is_free = matches!(who.phase, Phase::Free | Phase::Gone | Phase::Told);
                let is_there = || {
                    let progress = &self.progress[agent];
                    exists(position.lanelet)
                        && (position.is_on_lane() || !keeps_to_lanes(who.level))
                        && exists(position.leaving)
                        && routes.has(progress.route)
                        && routes.get(progress.route).holds(progress, position)
                };
                let counts = || {
                    let statistics = &self.statistics[agent];
                    statistics.is_sound() && self.accounts.begin_before(who.id, statistics)
                };
                let moves = || self.motion[agent].is_sound();
                is_free || (moves() && knows(agent, who) && is_there() && counts())
            })
    }

    /// Whether the list of free indices contains exactly the indices without an agent, each only
    /// once. Otherwise, an index could be assigned while an agent still uses it.
    fn free_are_sound(&self) -> bool {
        let is_free = |who: &&Identity| who.phase == Phase::Free;
        let identity = |index: &AgentIndex| self.identity.get(index.index());
        are_distinct(&self.free)
            && self
                .free
                .iter()
                .all(|at| identity(at).is_some_and(|who| is_free(&who)))
            && self.identity.iter().filter(is_free).count() == self.free.len()
    }

    /// Whether no two agents on the road have the same id.
    fn ids_are_distinct(&self) -> bool {
        // The map is filled from all known agents, so it is shorter if an id occurs twice.
        self.by_id.len() == self.identity.iter().filter(|who| who.is_known()).count()
    }

    /// Rebuilds the look-up by id and the list of agents that have left, after loading.
    pub(crate) fn index_ids(&mut self) {
        let known = self.identity.iter().enumerate();
        let known = known.filter(|(_, identity)| identity.is_known());
        self.by_id = known
            .map(|(index, who)| (who.id, AgentIndex::from_index(index)))
            .collect();
        let left = self.identity.iter().enumerate();
        let left = left.filter(|(_, who)| matches!(who.phase, Phase::Gone | Phase::Told));
        self.leaving = left
            .map(|(index, _)| AgentIndex::from_index(index))
            .collect();
    }
}

/// Pedals of an agent; `None` if the agent is not driven by pedals or lies beyond the end of the
/// list, which may be shorter than the columns.
#[inline]
pub(crate) fn pedals_of(pedals: &[Option<PedalCommand>], index: usize) -> Option<PedalCommand> {
    pedals.get(index).copied().flatten()
}

impl Identity {
    /// Whether the agent is driving on the road.
    #[inline]
    pub(crate) fn drives(&self) -> bool {
        matches!(self.phase, Phase::Driving | Phase::AtGoal)
    }

    /// Whether the agent has been announced to its modules.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.drives() || self.phase == Phase::Planning
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Order;
    use serde_json::Value;

    fn driver(id: u64) -> AgentRow {
        AgentRow {
            identity: Identity {
                id,
                phase: Phase::Driving,
                ..Identity::default()
            },
            ..AgentRow::default()
        }
    }

    fn hash(row: &AgentRow) -> u64 {
        crate::hash::of(row)
    }

    /// Calls `visit` with every variant of `value` that differs in exactly one leaf.
    fn change_each_leaf(value: &Value, visit: &mut dyn FnMut(Value)) {
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    change_each_leaf(inner, &mut |changed| {
                        let mut map = map.clone();
                        map.insert(key.clone(), changed);
                        visit(Value::Object(map));
                    });
                }
            }
            Value::Array(list) => {
                for (at, inner) in list.iter().enumerate() {
                    change_each_leaf(inner, &mut |changed| {
                        let mut list = list.clone();
                        list[at] = changed;
                        visit(Value::Array(list));
                    });
                }
            }
            Value::Bool(on) => visit(Value::Bool(!on)),
            Value::String(name) if name == "one_track" => visit(Value::String("lane".into())),
            Value::String(name) if name == "Off" => visit(Value::String("Left".into())),
            Value::String(name) if name == "None" => visit(Value::String("Red".into())),
            Value::String(_) => visit(Value::String("AtGoal".into())),
            Value::Number(n) if n.is_f64() => {
                visit(serde_json::json!(n.as_f64().unwrap_or_default() + 1.5));
            }
            Value::Number(n) => visit(serde_json::json!(n.as_u64().unwrap_or_default() / 2 + 7)),
            Value::Null => panic!("a field that is not finite"),
        }
    }

    #[test]
    fn the_hash_sees_every_field() {
        let row = AgentRow::default();
        let before = hash(&row);
        let mut fields = 0;
        change_each_leaf(&serde_json::to_value(row).unwrap(), &mut |changed| {
            let other: AgentRow = serde_json::from_value(changed.clone()).unwrap();
            assert_ne!(other, row, "nothing was changed: {changed}");
            assert_ne!(
                hash(&other),
                before,
                "the hash is blind to a field of {changed}"
            );
            fields += 1;
        });
        // New fields have to be counted here. Otherwise, a field that serde skips would go unnoticed.
        assert_eq!(fields, 66);
        assert_eq!(hash(&AgentRow::default()), before);
    }

    #[test]
    fn pedals_go_with_their_agent() {
        let mut agents = Agents::default();
        let index = agents.insert(driver(5));
        let held = PedalCommand::default();
        let order = Order {
            pedals: Some(held),
            ..Order::default()
        };
        ControlColumns::of(&mut agents).give(index.index(), order);
        assert_eq!(pedals_of(&agents.pedals, index.index()), Some(held));
        agents.remove(index);
        agents.note_told();
        agents.release();
        assert_eq!(agents.insert(driver(6)), index);
        assert_eq!(pedals_of(&agents.pedals, index.index()), None);
    }

    #[test]
    fn indices_are_given_away_alike_after_a_save() {
        let mut agents = Agents::default();
        let [a, b, c] = [7, 5, 6].map(|id| agents.insert(driver(id)));
        // In the order of ids, which differs from that of indices.
        for index in [b, c, a] {
            agents.remove(index);
        }
        agents.note_told();
        let bytes = postcard::to_allocvec(&agents).unwrap();
        let mut restored: Agents = postcard::from_bytes(&bytes).unwrap();
        restored.index_ids();
        let given = [agents, restored].map(|mut agents| {
            agents.release();
            [8, 9, 10].map(|id| agents.insert(driver(id)))
        });
        assert_eq!(given[0], given[1]);
    }

    #[test]
    fn an_index_is_free_one_boundary_after_its_removal_was_told() {
        let mut agents = Agents::default();
        let a = agents.insert(driver(5));
        assert_eq!(
            (agents.census().find(5), agents.census().count()),
            (Some(a), 1)
        );
        agents.remove(a);
        assert_eq!(
            (agents.census().find(5), agents.census().count()),
            (None, 0)
        );
        // At this boundary the removal is announced, so the index is not free yet.
        agents.release();
        agents.note_told();
        let b = agents.insert(driver(6));
        assert_ne!(a, b);
        agents.release();
        assert_eq!(agents.insert(driver(7)), a);
    }
}
