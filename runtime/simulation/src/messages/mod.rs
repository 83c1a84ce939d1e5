//! What agents and modules say: messages between agents, lines of text, marks on the map.

mod log;

pub(crate) use log::Log;
pub use log::{LogLine, Mark};

use crate::agents::Census;
use crate::records::AgentIndex;
use roadwright_agent::{Message, Surroundings};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Messages that may wait for one receiver: one that is asked rarely, in a crowd that talks, must not
/// fill the memory. What is one too many is lost.
const MOST_MAIL: u16 = 64;

/// Ids of the members of each group.
pub(crate) type Groups = BTreeMap<String, BTreeSet<u64>>;

/// Groups that there may be.
const MOST_GROUPS: usize = 256;

/// Messages that wait, and the log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Messages {
    /// Messages between agents that have not been read yet; those to one receiver are in the order
    /// of sending.
    pub(crate) mail: Vec<Message>,
    /// How many of them wait for each agent index.
    counts: Vec<u16>,
    pub(crate) log: Log,
    /// Members of each group; groups without members are deleted.
    pub(crate) groups: Arc<Groups>,
    /// How many collisions of the log have been told to the agents in them.
    pub(crate) told_collisions: usize,
}

impl Messages {
    /// Makes an agent a member of a group. Returns false if that would be a group too many.
    pub(crate) fn join(&mut self, group: String, id: u64) -> bool {
        let groups = Arc::make_mut(&mut self.groups);
        let has_room = groups.len() < MOST_GROUPS || groups.contains_key(&group);
        if has_room {
            groups.entry(group).or_default().insert(id);
        }
        has_room
    }

    /// Takes an agent out of a group.
    pub(crate) fn quit(&mut self, group: &str, id: u64) {
        let groups = Arc::make_mut(&mut self.groups);
        if let Some(members) = groups.get_mut(group) {
            members.remove(&id);
        }
        groups.retain(|_, members| !members.is_empty());
    }

    /// Takes an agent that has left out of all groups.
    pub(crate) fn quit_all(&mut self, id: u64) {
        // Looked for first: to change the groups copies all of them if a scene still shares them.
        if self.groups.values().any(|members| members.contains(&id)) {
            let groups = Arc::make_mut(&mut self.groups);
            groups.retain(|_, members| {
                members.remove(&id);
                !members.is_empty()
            });
        }
    }

    /// Takes the mail to be read, in the order of receivers.
    pub(crate) fn take_mail(&mut self) -> Vec<Message> {
        in_order(std::mem::take(&mut self.mail))
    }

    /// The mail that waits, in the order of receivers.
    pub(crate) fn sorted_mail(&self) -> Vec<Message> {
        in_order(self.mail.clone())
    }

    /// Whether there is room in somebody's mail.
    pub(crate) fn has_room(&self, to: AgentIndex) -> bool {
        let count = self.counts.get(to.index()).copied();
        count.unwrap_or(0) < MOST_MAIL
    }

    /// Puts a message in the mail; one too many for its receiver is lost.
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

    /// Keeps the messages for agents that have not been asked yet.
    pub(crate) fn drop_read(
        &mut self,
        read: &Arc<Surroundings>,
        agents: Census<'_>,
        mut was_asked: impl FnMut(AgentIndex) -> bool,
    ) {
        // What was sent in this step stays for the next one, behind what has not been read.
        let new = std::mem::take(&mut self.mail);
        // By who was asked, not by the module that it has now: it may have chosen another one.
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

    /// Forgets what waits for an agent that has left: somebody else will have its index.
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

    /// Counts the messages that wait.
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

/// Mail in the order of receivers, and what one receives in the order of sending.
fn in_order(mut mail: Vec<Message>) -> Vec<Message> {
    mail.sort_by_key(|message| message.to);
    mail
}
