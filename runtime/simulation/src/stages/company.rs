//! Messages between agents, notifications by the host, and vehicles that are added by behaviours.

use super::effects::Effecting;
use crate::demand::{AgentKey, Departure, Start};
use crate::modules::number_of;
use crate::records::AgentIndex;
use crate::route::Goal;
use glam::DVec2;
use roadwright_agent::{Letter, Message};

/// Maximum number of vehicles that behaviours can add in a run.
pub(crate) const MOST_SPAWNED: u64 = 100_000;
/// Sender id of a message that does not come from an agent.
const NOBODY: u64 = u64::MAX;

impl Effecting<'_> {
    /// Makes an agent a member of a group. Logs a fault if there are too many groups.
    pub(super) fn join(&mut self, agent: AgentIndex, group: String) {
        if !self.messages.join(group, self.id(agent)) {
            self.complain(agent, "too many groups".into());
        }
    }

    /// Sends a message to the agent with the given id, if it is driving.
    pub(super) fn send_to(&mut self, from: AgentIndex, to: u64, letter: Letter) {
        if let Some(to) = self.agents.census().find(to) {
            self.send(from, to, letter);
        }
    }

    /// Puts a message into the mailbox of its receiver, if the receiver reads mail.
    fn send(&mut self, from: AgentIndex, to: AgentIndex, letter: Letter) {
        let from = self.agents.identity[from.index()].id;
        self.post(from, to, letter);
    }

    fn post(&mut self, from: u64, to: AgentIndex, letter: Letter) {
        if !self.messages.has_room(to) {
            return;
        }
        let receiver = self.agents.identity[to.index()].modules;
        // Behaviours that do not see other agents read no mail, so the mailbox would only fill up.
        if self.modules.behaviour(receiver).logic.wants_scene() {
            self.messages.send(Message {
                to: to.number(),
                from,
                letter,
            });
        }
    }

    /// Sends a message to all members of a group except the sender.
    pub(super) fn send_group(&mut self, from: AgentIndex, group: &str, letter: &Letter) {
        // Only the pointer is copied. It is needed because sending borrows the messages, which own
        // the groups.
        let groups = self.messages.groups.clone();
        for &id in groups.get(group).into_iter().flatten() {
            match self.agents.census().find(id) {
                Some(to) if to != from && self.messages.has_room(to) => {
                    self.send(from, to, letter.clone());
                }
                _ => {}
            }
        }
    }

    /// Sends a message to all agents within the given radius, m.
    pub(super) fn broadcast(&mut self, from: AgentIndex, radius: f64, letter: &Letter) {
        let place = self.place(from);
        self.locate_bodies();
        let mut heard = Vec::new();
        let index = &self.traffic.index;
        index.for_each_near(place, radius, |number, _| {
            if let (agent, 0) = index.body(number) {
                heard.push(agent);
            }
        });
        // The grid returns agents by cell and index, but messages are sent in the order of ids.
        heard.sort_unstable_by_key(|&to| self.agents.identity[to.index()].id);
        for to in heard {
            if to != from && self.agents.census().drives(to) && self.messages.has_room(to) {
                self.send(from, to, letter.clone());
            }
        }
    }

    /// Notifies an agent that no route leads to its destination.
    pub(crate) fn tell_no_route(&mut self, agent: AgentIndex) {
        let id = self.agents.identity[agent.index()].id;
        let letter = Letter {
            topic: Message::NO_ROUTE.into(),
            ..Letter::default()
        };
        self.post(id, agent, letter);
    }

    /// Notifies agents of their collisions since the last call.
    pub(super) fn tell_collisions(&mut self) {
        let log = &self.traffic.contacts.log;
        // Collisions are detected at the end of a step. Each is reported once, in the next step.
        let first = self.messages.told_collisions.min(log.len());
        let new = log[first..].to_vec();
        self.messages.told_collisions = log.len();
        for collision in new {
            let letter = || Letter {
                topic: Message::COLLISION.into(),
                value: collision.depth,
                ..Letter::default()
            };
            let (own, other) = (Some(collision.agent), collision.with.agent());
            for (to, from) in [(own, other), (other, own)] {
                if let Some(to) = to.and_then(|to| self.agents.census().find(to)) {
                    self.post(from.unwrap_or(NOBODY), to, letter());
                }
            }
        }
    }

    /// Adds a vehicle, or logs a fault if that is not possible.
    pub(super) fn spawn_or_complain(
        &mut self,
        agent: AgentIndex,
        vehicle: &str,
        stack: &str,
        from: DVec2,
        to: DVec2,
    ) {
        if let Err(why) = self.spawn(vehicle, stack, from, to) {
            self.complain(agent, why);
        }
    }

    /// Adds a vehicle of the given type and stack. The vehicle drives from the lane nearest to
    /// `from` to the lane nearest to `to`.
    ///
    /// # Errors
    /// If a part of the request does not exist. The error is the message for the user.
    fn spawn(&mut self, vehicle: &str, stack: &str, from: DVec2, to: DVec2) -> Result<(), String> {
        if self.demand.spawned >= MOST_SPAWNED {
            return Err(format!(
                "add_vehicle: at most {MOST_SPAWNED} vehicles can be added"
            ));
        }
        let vehicle_type = number_of(&self.types.names, vehicle)
            .ok_or_else(|| format!("add_vehicle: no vehicle type \"{vehicle}\""))?;
        let stack_number = (self.modules.stack_number(stack))
            .ok_or_else(|| format!("add_vehicle: no stack \"{stack}\""))?;
        let spot = |place: DVec2| {
            let spots = self.ground.finder().near(self.ground.graph(), place);
            let nearest = spots.into_iter().next();
            nearest.ok_or_else(|| format!("add_vehicle: no lane near {place:.1}"))
        };
        let (start, goal) = (spot(from)?, spot(to)?);
        self.demand.spawned += 1;
        // This is a regular departure, so it waits until its place is free.
        self.demand.departures.push(Departure {
            id: AgentKey::Added(self.demand.spawned).id(),
            time: self.clock.time(),
            start: Start::Lane {
                lanelet: start.0,
                s: start.1,
            },
            goals: vec![Goal::Lane {
                lanelet: goal.0,
                s: goal.1,
            }],
            speed: 0.0,
            vehicle_type,
            stack: stack_number,
            dynamics: None,
        });
        Ok(())
    }
}
