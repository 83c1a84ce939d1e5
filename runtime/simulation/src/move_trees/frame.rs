//! Frames of clips, which replace the motion computed by a dynamics level.

use super::CurrentMove;
use super::libraries::Ready;
use crate::records::{Command, Order, PlayedFrame};
use roadwright_moves::{Frame, FrameCommand, Gear, Move, Placement};
use roadwright_vehicle::{PedalCommand, Pedals};
use serde::{Deserialize, Serialize};

/// A moment within a move: the number of the last frame, and the number of simulation steps since
/// that frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Moment {
    pub(super) frame: u32,
    pub(super) step: u32,
}

impl Moment {
    /// Returns the moment one simulation step later. A frame lasts `steps` steps.
    pub(super) fn next(self, steps: u32) -> Self {
        match self.step + 1 < steps {
            true => Self {
                step: self.step + 1,
                ..self
            },
            false => Self {
                frame: self.frame + 1,
                step: 0,
            },
        }
    }
}

/// A move at its place in the world, with the timing of its frames.
pub(super) struct Placed<'a> {
    pub(super) driven: &'a Move,
    pub(super) place: Placement,
    /// Number of simulation steps per frame.
    pub(super) steps: u32,
    /// Distance from the rear axle forward to the centre of gravity, m.
    pub(super) centre_of_gravity: f64,
}

impl<'a> Placed<'a> {
    pub(super) fn of(current: &CurrentMove, ready: &'a Ready, steps: u32) -> Self {
        Self {
            driven: current.driven(ready),
            place: current.place(),
            steps,
            centre_of_gravity: ready.loaded.clips.body.centre_of_gravity,
        }
    }

    /// Returns the motion at a moment in world coordinates, interpolated between frames.
    pub(super) fn motion(&self, moment: Moment) -> Frame {
        let share = f64::from(moment.step) / f64::from(self.steps);
        self.driven
            .motion_at(&self.place, moment.frame as usize, share)
    }

    /// Returns the motion at a moment, in the form that replaces a step of the level.
    pub(super) fn at(&self, moment: Moment) -> PlayedFrame {
        let frame = self.motion(moment);
        PlayedFrame {
            pose: frame.pose,
            speed: frame.forward,
            sideways: frame.sideways,
            rear_sideways: frame.sideways - self.centre_of_gravity * frame.yaw_rate,
            yaw_rate: frame.yaw_rate,
            wheels: frame.wheels,
            command: Command {
                acceleration: frame.command.acceleration,
                steering: frame.command.steering,
            },
        }
    }
}

/// Command for a vehicle that follows a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FollowedOrder {
    pub(crate) order: Order,
    pub(crate) is_reversing: bool,
}

impl From<FrameCommand> for FollowedOrder {
    fn from(command: FrameCommand) -> Self {
        Self {
            order: Order {
                command: Command {
                    acceleration: command.acceleration,
                    steering: command.steering,
                },
                pedals: command.pedals.map(|held| PedalCommand {
                    pedals: Pedals {
                        throttle: held.throttle,
                        brake: held.brake,
                    },
                    ..PedalCommand::default()
                }),
            },
            is_reversing: command.gear == Gear::Reverse,
        }
    }
}

/// Frames that are played in a step, and orders for vehicles that follow clips. Each has the id of its agent.
/// Both lists are in ascending order of id.
#[derive(Debug, Default)]
pub(crate) struct PlayedFrames {
    frames: Vec<(u64, PlayedFrame)>,
    followed: Vec<(u64, FollowedOrder)>,
}

impl PlayedFrames {
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.followed.clear();
    }

    /// Adds the frame of an agent. The id must be larger than all previous ids.
    pub(super) fn push(&mut self, id: u64, frame: PlayedFrame) {
        self.frames.push((id, frame));
    }

    /// Adds the order of an agent. The id must be larger than all previous ids.
    pub(super) fn push_order(&mut self, id: u64, order: FollowedOrder) {
        self.followed.push((id, order));
    }

    /// Whether an agent that follows a clip reverses in this step; `None` if it follows none.
    #[inline]
    pub(crate) fn reverses(&self, id: u64) -> Option<bool> {
        if self.followed.is_empty() {
            return None;
        }
        let at = self
            .followed
            .binary_search_by_key(&id, |(id, _)| *id)
            .ok()?;
        Some(self.followed[at].1.is_reversing)
    }

    /// The frame that an agent plays in this step; `None` if it plays none.
    #[inline]
    pub(crate) fn of(&self, id: u64) -> Option<&PlayedFrame> {
        if self.frames.is_empty() {
            return None;
        }
        let at = self.frames.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.frames[at].1)
    }

    /// Orders of all agents that play or follow clips, with the ids of the agents.
    pub(crate) fn orders(&self) -> impl Iterator<Item = (u64, Order)> {
        let played = self.frames.iter().map(|(id, frame)| {
            let order = Order {
                command: frame.command,
                pedals: None,
            };
            (*id, order)
        });
        played.chain(self.followed.iter().map(|(id, one)| (*id, one.order)))
    }
}
