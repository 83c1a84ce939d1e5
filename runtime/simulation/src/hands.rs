//! Manual control of vehicles: the controls of a user override those of controllers.
//!
//! The simulation waits for modules but never for a user: controls keep their last position. Like edits, they
//! change only between two steps, so the same inputs before the same steps give the same run. They are part
//! of the state, so they are saved and hashed.

use crate::agents::ControlColumns;
use crate::records::{Command, Order};
use crate::vehicle_type::VehicleTypes;
use roadwright_geometry::math::atan;
use roadwright_vehicle::{OneTrackLimits, PedalCommand, Pedals};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Speed below which a vehicle counts as stationary, so that it can change direction, m/s.
const STANDING: f64 = 0.1;
/// Deceleration by engine drag when no pedal is pressed, m/s^2.
const DRAG: f64 = 0.4;
/// [`SteeringLock::Limited`] lets the wheels turn up to this lateral acceleration, m/s^2. It is
/// about the grip of tyres on dry asphalt, so a vehicle can lose grip, but not from a single key
/// press.
const SIDEWAYS: f64 = 8.0;

/// Limit of the front wheel angle that a user's steering wheel can command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SteeringLock {
    /// The angle that gives a lateral acceleration of 8 m/s^2, or the full angle of the vehicle if
    /// that is less.
    #[default]
    Limited,
    /// The full angle of the vehicle at any speed, so that the user can make it skid.
    Full,
}

/// Positions of the controls that a user operates.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct HandControls {
    /// Pedals, -1 to 1. Positive values are throttle: 0.5 demands half of the engine's torque.
    /// Negative values brake a moving vehicle, and make a stationary vehicle reverse.
    pub pedals: f64,
    /// Position of the steering wheel, -1 (right) to 1 (left), as a fraction of the largest wheel
    /// angle.
    pub steering: f64,
    /// Limit of the wheel angle. It is saved separately, because older saves do not contain it.
    #[serde(skip)]
    pub lock: SteeringLock,
}

impl HandControls {
    /// Replaces values that are not numbers by 0 and clamps the others to their range.
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
            lock: self.lock,
        }
    }
}

/// Manual control of one vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Hand {
    controls: HandControls,
    /// Whether reverse gear is engaged.
    is_reversing: bool,
}

impl Hand {
    /// Returns the order for a vehicle. The pedal values have the same form as those of pedal
    /// controllers. `speed` is in m/s.
    fn order(&mut self, speed: f64, limits: &OneTrackLimits) -> Order {
        // The values of a damaged save are arbitrary.
        let HandControls {
            pedals,
            steering,
            lock,
        } = self.controls.checked();
        // The pedal for the other direction brakes until the vehicle stands. Then the other gear is
        // engaged.
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
        // Without a pressed pedal, any vehicle slows down gently, whatever its engine, and then
        // remains standing.
        let held = (onwards != 0.0).then_some(PedalCommand {
            pedals,
            ..PedalCommand::default()
        });
        let acceleration = held.map_or(-DRAG, |held| limits.pressed(held.pedals));
        let largest = match lock {
            SteeringLock::Full => limits.max_steering,
            SteeringLock::Limited => {
                // The angle at which the lateral acceleration, v² tan(angle) / wheelbase, is SIDEWAYS.
                let angle = atan(limits.wheelbase * SIDEWAYS / (speed * speed).max(0.1));
                angle.min(limits.max_steering)
            }
        };
        let wheels = steering * largest;
        Order {
            command: Command {
                acceleration,
                // Levels see a reversing vehicle as if it were turned around.
                steering: if self.is_reversing { -wheels } else { wheels },
            },
            pedals: held,
        }
    }
}

/// Agents under manual control, by id.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Hands(BTreeMap<u64, Hand>);

impl Hands {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an agent is under manual control.
    #[inline]
    pub(crate) fn hold(&self, id: u64) -> bool {
        !self.0.is_empty() && self.0.contains_key(&id)
    }

    /// Whether a vehicle under manual control is to reverse; `None` if it is not under manual
    /// control.
    #[inline]
    pub(crate) fn reverses(&self, id: u64) -> Option<bool> {
        // Almost always, no agent is under manual control.
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&id).map(|hand| hand.is_reversing)
    }

    /// Controls of an agent under manual control.
    pub(crate) fn controls(&self, id: u64) -> Option<HandControls> {
        self.0.get(&id).map(|hand| hand.controls)
    }

    pub(crate) fn first(&self) -> Option<(u64, HandControls)> {
        let (id, hand) = self.0.first_key_value()?;
        Some((*id, hand.controls))
    }

    /// Agents whose users have chosen the full lock.
    pub(crate) fn full_locks(&self) -> BTreeSet<u64> {
        let full = self.0.iter();
        let full = full.filter(|(_, hand)| hand.controls.lock == SteeringLock::Full);
        full.map(|(id, _)| *id).collect()
    }

    /// Restores the full lock for these agents.
    pub(crate) fn restore_full_locks(&mut self, agents: &BTreeSet<u64>) {
        for (id, hand) in &mut self.0 {
            if agents.contains(id) {
                hand.controls.lock = SteeringLock::Full;
            }
        }
    }

    /// Sets the controls of an agent. Returns `true` if the agent was not under manual control
    /// before.
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

    /// Ends manual control of an agent. Returns whether it was under manual control.
    pub(crate) fn release(&mut self, id: u64) -> bool {
        self.0.remove(&id).is_some()
    }

    /// Replaces the orders of controllers by those of users. Agents that no longer exist are released.
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
