//! Output of agents and modules: messages between agents, lines of text, marks on the map.

mod log;

pub(crate) use log::Log;
pub use log::{LogLine, Mark};

use crate::agents::Census;
use crate::records::AgentIndex;
use roadwright_agent::{Message, Surroundings};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of waiting messages per receiver. Without a limit, a receiver that has many senders and
/// rarely reads its mail could fill the memory. Excess messages are lost.
const MOST_MAIL: u16 = 64;

/// Ids of the members of each group.
pub(crate) type Groups = BTreeMap<String, BTreeSet<u64>>;

/// Maximum number of groups.
const MOST_GROUPS: usize = 256;

/// Waiting messages, the groups of agents, and the output of modules.
#[derive(Debug, Clone, Default)]
pub(crate) struct Messages {
    /// Messages between agents that have not been read yet. Messages to one receiver are in the order of
    /// sending.
    pub(crate) mail: Vec<Message>,
    /// Number of waiting messages by agent index.
    counts: Vec<u16>,
    pub(crate) log: Log,
    /// Members of each group; empty groups are deleted.
    pub(crate) groups: Arc<Groups>,
    /// Number of entries in the collision log that agents have already been notified of.
    pub(crate) told_collisions: usize,
}

impl Messages {
    /// Makes an agent a member of a group. Returns `false` if there would be too many groups.
    pub(crate) fn join(&mut self, group: String, id: u64) -> bool {
        let groups = Arc::make_mut(&mut self.groups);
        let has_room = groups.len() < MOST_GROUPS || groups.contains_key(&group);
        if has_room {
            groups.entry(group).or_default().insert(id);
        }
        has_room
    }

    /// Removes an agent from a group.
    pub(crate) fn quit(&mut self, group: &str, id: u64) {
        let groups = Arc::make_mut(&mut self.groups);
        if let Some(members) = groups.get_mut(group) {
            members.remove(&id);
        }
        groups.retain(|_, members| !members.is_empty());
    }

    /// Removes an agent that has despawned from all groups.
    pub(crate) fn quit_all(&mut self, id: u64) {
        // Checked first, because a change of the groups copies all of them if a scene still shares
        // them.
        if self.groups.values().any(|members| members.contains(&id)) {
            let groups = Arc::make_mut(&mut self.groups);
            groups.retain(|_, members| {
                members.remove(&id);
                !members.is_empty()
            });
        }
    }

    /// Removes and returns the waiting mail, sorted by receiver.
    pub(crate) fn take_mail(&mut self) -> Vec<Message> {
        in_order(std::mem::take(&mut self.mail))
    }

    /// The waiting mail, sorted by receiver.
    pub(crate) fn sorted_mail(&self) -> Vec<Message> {
        in_order(self.mail.clone())
    }

    /// Whether the mailbox of an agent has room.
    pub(crate) fn has_room(&self, to: AgentIndex) -> bool {
        let count = self.counts.get(to.index()).copied();
        count.unwrap_or(0) < MOST_MAIL
    }

    /// Adds a message to the mail. The message is lost if the mailbox of its receiver is full.
    pub(crate) fn send(&mut self, message: Message) {
        let to = message.to as usize;
        if self.counts.len() <= to {
            self.counts.resize(to + 1, 0);
        }
        if self.counts[to] < MOST_MAIL {
            self.counts[to] += 1;
            self.mail.push(message);
        }
    }

    /// Deletes the messages that could be read in this step, and messages to receivers that no
    /// longer drive. Messages sent in this step are kept for the next one.
    pub(crate) fn drop_read(
        &mut self,
        read: &Arc<Surroundings>,
        agents: Census<'_>,
        mut was_asked: impl FnMut(AgentIndex) -> bool,
    ) {
        // The messages sent in this step are appended to the unread ones.
        let new = std::mem::take(&mut self.mail);
        // The modules of agents may have changed after the agents were updated, so the updates that
        // took place in this step decide.
        let mut is_unread = |message: &&Message| {
            let to = AgentIndex::new(message.to);
            agents.drives(to) && !was_asked(to)
        };
        self.mail = read
            .mail
            .iter()
            .filter(|message| is_unread(message))
            .cloned()
            .collect();
        self.mail.extend(new);
        self.count();
    }

    /// Deletes the mail of an agent that has despawned, because its index will be reused for
    /// another agent.
    pub(crate) fn forget(&mut self, agent: AgentIndex) {
        if self
            .counts
            .get(agent.index())
            .is_some_and(|&count| count > 0)
        {
            self.mail.retain(|message| message.to != agent.number());
            self.counts[agent.index()] = 0;
        }
    }

    /// Recounts the waiting messages.
    pub(crate) fn count(&mut self) {
        self.counts.fill(0);
        for message in &self.mail {
            let to = message.to as usize;
            if self.counts.len() <= to {
                self.counts.resize(to + 1, 0);
            }
            self.counts[to] += 1;
        }
    }
}

/// Sorts mail by receiver; the messages of one receiver stay in the order of sending.
fn in_order(mut mail: Vec<Message>) -> Vec<Message> {
    mail.sort_by_key(|message| message.to);
    mail
}
