//! Frames of clips that replace the motion computed by a level of dynamics.

use crate::records::{Command, PlayedFrame};
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_moves::{Frame, Move, Placement};
use serde::{Deserialize, Serialize};

/// A moment of a move: the number of the frame, and the number of simulation steps since that frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Moment {
    pub(super) frame: u32,
    pub(super) step: u32,
}

impl Moment {
    /// The moment one simulation step later. A frame lasts `steps` steps.
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

/// A move placed in the world.
pub(super) struct Placed<'a> {
    pub(super) driven: &'a Move,
    pub(super) place: Placement,
    /// Number of simulation steps per frame.
    pub(super) steps: u32,
    /// Distance from the rear axle forward to the centre of gravity, m.
    pub(super) centre_of_gravity: f64,
}

impl Placed<'_> {
    /// Returns the motion at a moment, interpolated between frames.
    pub(super) fn at(&self, moment: Moment) -> PlayedFrame {
        let first = moment.frame as usize;
        let now = &self.driven.frames[first];
        let own = self.own(first);
        let share = f64::from(moment.step) / f64::from(self.steps);
        let Some(next) = self.driven.frames.get(first + 1) else {
            return self.played(own, now);
        };
        if moment.step == 0 {
            return self.played(own, now);
        }
        let other = self.own(first + 1);
        let mix = |from: f64, to: f64| from + share * (to - from);
        let between = Frame {
            forward: mix(now.forward, next.forward),
            sideways: mix(now.sideways, next.sideways),
            yaw_rate: mix(now.yaw_rate, next.yaw_rate),
            wheels: mix(now.wheels, next.wheels),
            ..*now
        };
        let pose = Pose {
            position: own.position.lerp(other.position, share),
            heading: wrap_angle(own.heading + share * wrap_angle(other.heading - own.heading)),
        };
        self.played(pose, &between)
    }

    fn own(&self, frame: usize) -> Pose {
        self.place.then(&self.driven.placement(frame)).pose()
    }

    fn played(&self, pose: Pose, frame: &Frame) -> PlayedFrame {
        PlayedFrame {
            pose,
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

/// Frames that are played in a step, with the ids of their agents, in ascending order of id.
#[derive(Debug, Default)]
pub(crate) struct PlayedFrames(Vec<(u64, PlayedFrame)>);

impl PlayedFrames {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the frame of an agent. The id must be larger than all previous ids.
    pub(super) fn push(&mut self, id: u64, frame: PlayedFrame) {
        self.0.push((id, frame));
    }

    /// The frame that an agent plays in this step; `None` if it plays none.
    #[inline]
    pub(crate) fn of(&self, id: u64) -> Option<&PlayedFrame> {
        if self.0.is_empty() {
            return None;
        }
        let at = self.0.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.0[at].1)
    }

    /// All frames, with the ids of their agents.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(u64, PlayedFrame)> {
        self.0.iter()
    }
}
