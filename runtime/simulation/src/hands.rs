//! Vehicles that people drive: their controls go before what controllers want.
//!
//! A person is no module: nothing asks for an answer, controls stay where they were left. They change
//! between two steps only, as edits do, so the same movements before the same steps give the same run.
//! They count as state: they are saved and hashed.

use crate::agents::ControlColumns;
use crate::records::{Command, Order};
use crate::vehicle_type::VehicleTypes;
use roadwright_geometry::math::atan;
use roadwright_vehicle::{OneTrackLimits, PedalCommand, Pedals};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Slower than this a vehicle counts as standing: the gear of the other direction goes in, m/s.
const STANDING: f64 = 0.1;
/// Without a pedal the engine drags, m/s^2.
const DRAG: f64 = 0.4;
/// The wheel of a fast vehicle is not turned further than what gives this acceleration to the side,
/// m/s^2: about the grip of tyres on dry asphalt, so that it can be lost, but not by a touch of a key.
const SIDEWAYS: f64 = 8.0;

/// Where a person has the controls of a vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct HandControls {
    /// Pedals, -1 to 1: throttle above 0; below 0 the brake, and backwards once the vehicle stands. Half a
    /// throttle is half of the engine's torque.
    pub pedals: f64,
    /// Steering wheel, -1 (right) to 1 (left). A fast vehicle takes less of it.
    pub steering: f64,
}

impl HandControls {
    /// What is not a number counts as nothing, and what is beyond the range as its end.
    fn checked(self) -> Self {
        let checked = |value: f64| {
            if value.is_nan() {
                0.0
            } else {
                value.clamp(-1.0, 1.0)
            }
        };
        Self {
            pedals: checked(self.pedals),
            steering: checked(self.steering),
        }
    }
}

/// A person's hands on a vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Hand {
    controls: HandControls,
    /// Whether the gear is that for driving backwards.
    is_reversing: bool,
}

impl Hand {
    /// What a vehicle is to do at a speed, m/s: the pedals as controllers that drive by them give them.
    fn order(&mut self, speed: f64, limits: &OneTrackLimits) -> Order {
        // Of a damaged save they may be anything.
        let HandControls { pedals, steering } = self.controls.checked();
        // The pedal of the other direction brakes until the vehicle stands, then its gear goes in.
        if pedals > 0.0 && speed > -STANDING {
            self.is_reversing = false;
        } else if pedals < 0.0 && speed < STANDING {
            self.is_reversing = true;
        }
        let onwards = if self.is_reversing { -pedals } else { pedals };
        let pedals = Pedals {
            throttle: onwards.max(0.0),
            brake: (-onwards).max(0.0),
        };
        // Who takes the foot off slows down gently, whatever the engine, and stays where it stands.
        let held = (onwards != 0.0).then_some(PedalCommand {
            pedals,
            ..PedalCommand::default()
        });
        let acceleration = held.map_or(-DRAG, |held| limits.pressed(held.pedals));
        // The angle at which the lateral acceleration, v² tan(angle) / wheelbase, is SIDEWAYS.
        let lock = atan(limits.wheelbase * SIDEWAYS / (speed * speed).max(0.1));
        let wheels = steering * lock.min(limits.max_steering);
        Order {
            command: Command {
                acceleration,
                // Levels see a vehicle that drives backwards turned about.
                steering: if self.is_reversing { -wheels } else { wheels },
            },
            pedals: held,
        }
    }
}

/// The agents that people drive, by id.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Hands(BTreeMap<u64, Hand>);

impl Hands {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a person drives an agent.
    #[inline]
    pub(crate) fn hold(&self, id: u64) -> bool {
        !self.0.is_empty() && self.0.contains_key(&id)
    }

    /// Whether an agent is to drive backwards, if a person drives it.
    #[inline]
    pub(crate) fn reverses(&self, id: u64) -> Option<bool> {
        // Nearly always nobody does.
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&id).map(|hand| hand.is_reversing)
    }

    /// Where the controls of an agent are, if a person drives it.
    pub(crate) fn controls(&self, id: u64) -> Option<HandControls> {
        self.0.get(&id).map(|hand| hand.controls)
    }

    pub(crate) fn first(&self) -> Option<(u64, HandControls)> {
        let (id, hand) = self.0.first_key_value()?;
        Some((*id, hand.controls))
    }

    /// Moves the controls of an agent. Returns whether nobody had them before.
    pub(crate) fn take(&mut self, id: u64, controls: HandControls) -> bool {
        let controls = controls.checked();
        let before = self.0.get_mut(&id);
        let is_new = before.is_none();
        match before {
            Some(hand) => hand.controls = controls,
            None => {
                let hand = Hand {
                    controls,
                    is_reversing: false,
                };
                self.0.insert(id, hand);
            }
        }
        is_new
    }

    /// Lets go of an agent. Returns whether a person drove it.
    pub(crate) fn release(&mut self, id: u64) -> bool {
        self.0.remove(&id).is_some()
    }

    /// Puts what people want in place of what controllers want. Agents that are gone are let go of.
    pub(crate) fn order(&mut self, types: &VehicleTypes, agents: &mut ControlColumns<'_>) {
        self.0.retain(|&id, hand| {
            let Some(agent) = agents.find(id) else {
                return false;
            };
            let index = agent.index();
            let vehicle_type = agents.identity[index].vehicle_type;
            let limits = &types.get(vehicle_type).limits;
            let speed = agents.motion[index].speed;
            agents.give(index, hand.order(speed, limits));
            true
        });
    }
}
