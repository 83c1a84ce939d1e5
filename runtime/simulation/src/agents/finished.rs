//! Results of agents that have stopped driving.

use serde::{Deserialize, Serialize, Serializer};

/// Stages in the life of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The agent is driving.
    #[default]
    Active,
    /// The agent has reached its destination and despawned.
    Arrived,
    /// The agent cannot reach its destination and was never spawned.
    Refused,
    /// An edit of the scenario removed the agent while it drove or waited.
    Removed,
}

/// Score of one agent's drive by one fitness function.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Score {
    /// Index of the fitness function in the list of names.
    pub(crate) fitness: u16,
    /// The score, in the unit of the fitness function.
    pub(crate) value: f64,
}

/// Compact row that is kept for an agent after it has stopped driving.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FinishedRow {
    pub(crate) id: u64,
    pub(crate) status: Status,
    /// Index of the agent's stack in the list of names.
    pub(crate) stack: u16,
    pub(crate) started: f64,
    pub(crate) ended: f64,
    pub(crate) distance: f64,
    /// Scores, one for each fitness function; empty if the agent has not driven.
    pub(crate) scores: Vec<Score>,
}

// The size is limited, because long runs keep one row for each agent.
const _: () = assert!(size_of::<FinishedRow>() + size_of::<Score>() <= 200);

/// The drive of one agent, finished or in progress.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drive<'a> {
    /// Id of the agent.
    pub id: u64,
    /// Status at the end of the drive.
    pub status: Status,
    /// Stack of the agent.
    pub stack: &'a str,
    /// Spawn time, s; 0 if the agent was never spawned.
    pub started: f64,
    /// Time at which the agent left, was refused or was deleted, s; for an agent that still drives,
    /// the current time.
    pub ended: f64,
    /// Distance driven, m.
    pub distance: f64,
    /// Ids of the fitness functions with their scores; empty if the agent has not driven.
    #[serde(serialize_with = "as_map")]
    pub scores: Vec<(&'a str, f64)>,
}

fn as_map<S: Serializer>(scores: &[(&str, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(scores.iter().copied())
}

/// One row for each agent that has stopped driving, in the order in which the drives ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Finished {
    pub(crate) rows: Vec<FinishedRow>,
    /// Names of stacks and fitness functions, each stored only once. They are kept here because an
    /// edit may remove them from the scenario.
    names: Vec<String>,
}

impl Finished {
    /// Returns the index of a name, and adds the name if it is unknown.
    pub(crate) fn number(&mut self, name: &str) -> u16 {
        let known = self.names.iter().position(|known| known == name);
        let number = known.unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        // The names are those of stacks and fitness functions, so there are always fewer than 65,535.
        number.min(usize::from(u16::MAX)) as u16
    }

    /// Returns the name with the given index.
    pub(crate) fn name(&self, number: u16) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    /// Adds an agent that has never driven.
    pub(crate) fn push_undriven(&mut self, id: u64, stack: &str, status: Status, ended: f64) {
        let stack = self.number(stack);
        self.rows.push(FinishedRow {
            id,
            status,
            stack,
            started: 0.0,
            ended,
            distance: 0.0,
            scores: Vec::new(),
        });
    }

    /// Iterates over the rows. Stacks and fitness functions are given by name instead of by index.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Drive<'_>> {
        self.rows.iter().map(|row| Drive {
            id: row.id,
            status: row.status,
            stack: self.name(row.stack),
            started: row.started,
            ended: row.ended,
            distance: row.distance,
            scores: row
                .scores
                .iter()
                .map(|score| (self.name(score.fitness), score.value))
                .collect(),
        })
    }
}
