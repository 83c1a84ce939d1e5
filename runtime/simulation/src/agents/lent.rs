//! Borrowed subsets of the agent columns for individual stages. Their types state which columns a
//! stage may write.
//!
//! Most stages only read columns, through [`AgentsRef`]. A stage that writes has its own struct,
//! which lists the columns that the stage reads and writes, so that it cannot write any others.
//! `docs/stages.md` lists the stages that take all of [`Agents`].

use super::{Agents, Rare};
use crate::records::{
    AgentIndex, Aside, Claim, Command, Identity, LanePosition, Motion, Order, Progress, Statistics,
    Wish,
};
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::PedalCommand;
use std::collections::HashMap;
use std::ops::Deref;

/// Identities of all agents, with look-up by id.
#[derive(Clone, Copy)]
pub(crate) struct Census<'a> {
    pub(crate) identity: &'a [Identity],
    leaving: &'a [AgentIndex],
    count: &'a [usize; DynamicsLevel::ALL.len()],
    by_id: &'a HashMap<u64, AgentIndex>,
    revision: u64,
}

impl<'a> Census<'a> {
    /// Highest index ever assigned, plus one.
    #[inline]
    pub(crate) fn capacity(self) -> usize {
        self.identity.len()
    }

    /// Number of agents that are driving or about to be spawned.
    pub(crate) fn count(self) -> usize {
        self.count.iter().sum()
    }

    /// Number of agents at a level of dynamics that are driving or about to be spawned.
    pub(crate) fn count_of(self, level: DynamicsLevel) -> usize {
        self.count[level as usize]
    }

    /// Revision number. It changes when an agent is added, leaves or gets other modules.
    pub(crate) fn revision(self) -> u64 {
        self.revision
    }

    /// Whether an agent is driving on the road.
    #[inline]
    pub(crate) fn drives(self, index: AgentIndex) -> bool {
        self.identity[index.index()].drives()
    }

    /// The driving agents, in the order of their indices.
    pub(crate) fn driving(self) -> impl DoubleEndedIterator<Item = AgentIndex> + 'a {
        let drives = |(index, identity): (usize, &Identity)| {
            identity.drives().then_some(AgentIndex::from_index(index))
        };
        self.identity.iter().enumerate().filter_map(drives)
    }

    /// The driving agents, in the order of their ids.
    pub(crate) fn by_growing_id(self) -> Vec<AgentIndex> {
        let mut all: Vec<AgentIndex> = self.driving().collect();
        all.sort_unstable_by_key(|&index| self.identity[index.index()].id);
        all
    }

    /// Index of a driving agent; `None` if no driving agent has this id.
    pub(crate) fn find(self, id: u64) -> Option<AgentIndex> {
        let index = *self.by_id.get(&id)?;
        self.drives(index).then_some(index)
    }

    /// Agents that have left but still have their index.
    pub(crate) fn leaving(self) -> &'a [AgentIndex] {
        self.leaving
    }
}

/// Read access to the columns that most stages of a step need.
#[derive(Clone, Copy)]
pub(crate) struct AgentsRef<'a> {
    pub(crate) census: Census<'a>,
    pub(crate) motion: &'a [Motion],
    pub(crate) position: &'a [LanePosition],
    pub(crate) progress: &'a [Progress],
    pub(crate) claim: &'a [Claim],
    pub(crate) wish: &'a Rare<Wish>,
    pub(crate) aside: &'a Rare<Aside>,
}

impl<'a> Deref for AgentsRef<'a> {
    type Target = Census<'a>;

    #[inline]
    fn deref(&self) -> &Census<'a> {
        &self.census
    }
}

/// Borrows the census of agents while their columns are borrowed as well. This is a macro, because a function
/// would borrow all of `self`.
macro_rules! census_of {
    ($agents:expr) => {
        Census {
            identity: &$agents.identity,
            leaving: &$agents.leaving,
            count: &$agents.count,
            by_id: &$agents.by_id,
            revision: $agents.revision,
        }
    };
}

impl Agents {
    /// Borrows the census of all agents.
    #[inline]
    pub(crate) fn census(&self) -> Census<'_> {
        census_of!(self)
    }

    /// Borrows the columns that most stages of a step need.
    #[inline]
    pub(crate) fn lent(&self) -> AgentsRef<'_> {
        AgentsRef {
            census: self.census(),
            motion: &self.motion,
            position: &self.position,
            progress: &self.progress,
            claim: &self.claim,
            wish: &self.wish,
            aside: &self.aside,
        }
    }
}

/// Maps the name of a column to its storage type.
macro_rules! column {
    (motion) => { [Motion] };
    (position) => { [LanePosition] };
    (progress) => { [Progress] };
    (claim) => { [Claim] };
    (wish) => { Rare<Wish> };
    (aside) => { Rare<Aside> };
    (command) => { [Command] };
    (statistics) => { [Statistics] };
    (pedals) => { Vec<Option<PedalCommand>> };
}

/// Declares the columns that a stage reads and writes, in addition to the census. They always
/// include all columns of [`AgentsRef`], because perception and other shared code need these.
macro_rules! lends {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            reads { $($read:ident),* }
            writes { $($write:ident),* }
        }
    )*) => {$(
        $(#[$doc])*
        pub(crate) struct $name<'a> {
            pub(crate) census: Census<'a>,
            $(pub(crate) $read: &'a column!($read),)*
            $(pub(crate) $write: &'a mut column!($write),)*
        }

        impl<'a> $name<'a> {
            /// Borrows the declared columns from the columns of all agents.
            pub(crate) fn of(agents: &'a mut Agents) -> Self {
                Self {
                    census: census_of!(agents),
                    $($read: &agents.$read,)*
                    $($write: &mut agents.$write,)*
                }
            }

            /// Borrows the columns of `AgentsRef` for reading. They include the changes that the
            /// stage has already made.
            #[inline]
            pub(crate) fn lent(&self) -> AgentsRef<'_> {
                AgentsRef {
                    census: self.census,
                    motion: &*self.motion,
                    position: &*self.position,
                    progress: &*self.progress,
                    claim: &*self.claim,
                    wish: self.wish,
                    aside: &*self.aside,
                }
            }

            /// Names of the columns that the stage writes, in the order of their declaration.
            #[cfg(test)]
            pub(crate) const WRITES: &'static [&'static str] = &[$(stringify!($write)),*];
        }

        impl<'a> Deref for $name<'a> {
            type Target = Census<'a>;

            #[inline]
            fn deref(&self) -> &Census<'a> {
                &self.census
            }
        }
    )*};
}

lends! {
    /// Inputs and outputs of decisions at junctions.
    ClaimColumns {
        reads { motion, position, progress, wish, aside, statistics }
        writes { claim }
    }
    /// Inputs and results of route planning.
    PlanColumns {
        reads { motion, position, wish, aside }
        writes { progress, claim }
    }
    /// Inputs and results of path planning off the lanes.
    GroundColumns {
        reads { motion, wish, aside }
        writes { position, progress, claim }
    }
    /// Inputs and outputs of controllers.
    ControlColumns {
        reads { motion, position, progress, wish }
        writes { claim, aside, command, statistics, pedals }
    }
    /// Inputs and outputs of the stage that moves bodies.
    AdvanceColumns {
        reads { claim, wish, aside, command, pedals }
        writes { motion, position, progress, statistics }
    }
    /// Inputs for detecting contacts and near misses, and the statistics that count them.
    ContactColumns {
        reads { motion, position, progress, claim, wish, aside }
        writes { statistics }
    }
}

impl ControlColumns<'_> {
    /// Replaces the command and the pedals of an agent.
    #[inline]
    pub(crate) fn give(&mut self, index: usize, order: Order) {
        self.command[index] = order.command;
        if order.pedals.is_some() && self.pedals.len() <= index {
            self.pedals.resize(index + 1, None);
        }
        if let Some(pedals) = self.pedals.get_mut(index) {
            *pedals = order.pedals;
        }
    }
}
