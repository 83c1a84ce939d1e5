//! Maps the sticks and buttons of a pad to vehicle controls.

use super::{Axis, Button, Look, PadEvent, PadId};
use roadwright_simulation::HandControls;
use std::collections::BTreeMap;

/// Dead zone of a stick around its centre.
const STICK_DEAD: f64 = 0.12;
/// Dead zone of a trigger at its released end.
const TRIGGER_DEAD: f64 = 0.05;

/// State of a pad.
#[derive(Debug, Clone, PartialEq, Default)]
struct Pad {
    name: String,
    /// Steering, from -1 (left) to 1 (right).
    steering: f64,
    /// Throttle, 0 to 1.
    throttle: f64,
    /// Brake, 0 to 1.
    brake: f64,
}

/// All pads, and which of them is active.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Grip {
    pads: BTreeMap<PadId, Pad>,
    /// The most recently used pad; `None` before the first movement.
    last: Option<PadId>,
}

impl Grip {
    /// Handles an event and records its requests in `look`.
    pub(super) fn take(&mut self, event: PadEvent, look: &mut Look) {
        match event {
            PadEvent::Connected(id, name) => {
                let pad = Pad {
                    name,
                    ..Pad::default()
                };
                self.pads.insert(id, pad);
            }
            PadEvent::Gone(id) => {
                // The controls of a removed pad are removed too, so the vehicle coasts.
                look.gone.extend(self.pads.remove(&id).map(|pad| pad.name));
            }
            PadEvent::Moved(id, axis, value) => self.move_axis(id, axis, value),
            PadEvent::Pressed(id, Button::East) => {
                look.gives_back |= self.pads.contains_key(&id);
            }
        }
    }

    fn move_axis(&mut self, id: PadId, axis: Axis, value: f64) {
        let Some(pad) = self.pads.get_mut(&id) else {
            return;
        };
        let before = pad.clone();
        match axis {
            Axis::Steering => pad.steering = beyond(value, STICK_DEAD),
            Axis::Throttle => pad.throttle = beyond(value.max(0.0), TRIGGER_DEAD),
            Axis::Brake => pad.brake = beyond(value.max(0.0), TRIGGER_DEAD),
        }
        // A pad whose stick only jitters within its dead zone does not become active.
        if *pad != before {
            self.last = Some(id);
        }
    }

    fn pad(&self) -> Option<&Pad> {
        let last = self.last.and_then(|id| self.pads.get(&id));
        last.or_else(|| self.pads.values().next())
    }

    /// Returns the name of the active pad.
    pub(super) fn name(&self) -> Option<&str> {
        self.pad().map(|pad| pad.name.as_str())
    }

    /// Returns the controls of the active pad.
    pub(super) fn controls(&self) -> HandControls {
        let Some(pad) = self.pad() else {
            return HandControls::default();
        };
        HandControls {
            pedals: pad.throttle - pad.brake,
            // Steering is positive to the left. The subtraction avoids -0, which would count as a movement.
            steering: 0.0 - pad.steering,
            ..HandControls::default()
        }
    }
}

/// Removes the dead zone from a value: 0 inside it, then linear to 1 at the end. NaN gives 0.
fn beyond(value: f64, dead: f64) -> f64 {
    if value.is_nan() || value.abs() <= dead {
        return 0.0;
    }
    let left = (value.abs().min(1.0) - dead) / (1.0 - dead);
    left.copysign(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grip(events: &[PadEvent]) -> (Grip, Look) {
        let (mut grip, mut look) = (Grip::default(), Look::default());
        for event in events {
            grip.take(event.clone(), &mut look);
        }
        (grip, look)
    }

    fn pad(id: PadId) -> PadEvent {
        PadEvent::Connected(id, format!("Pad {id}"))
    }

    #[test]
    fn triggers_are_pedals_and_the_stick_is_the_wheel() {
        let held = |events: &[(Axis, f64)]| {
            let moved = events
                .iter()
                .map(|&(axis, value)| PadEvent::Moved(1, axis, value));
            let events: Vec<PadEvent> = std::iter::once(pad(1)).chain(moved).collect();
            grip(&events).0.controls()
        };
        assert_eq!(held(&[(Axis::Throttle, 1.0)]).pedals, 1.0);
        assert_eq!(held(&[(Axis::Brake, 1.0)]).pedals, -1.0);
        assert_eq!(
            held(&[(Axis::Brake, 1.0), (Axis::Throttle, 1.0)]).pedals,
            0.0
        );
        // Stick to the left steers to the left.
        assert_eq!(held(&[(Axis::Steering, -1.0)]).steering, 1.0);
        assert_eq!(held(&[(Axis::Steering, 1.0)]).steering, -1.0);
        // The last event counts, and released axes return to 0.
        let still = held(&[(Axis::Steering, 0.9), (Axis::Steering, 0.0)]);
        assert_eq!(still, HandControls::default());
        assert!(still.steering.is_sign_positive());
    }

    #[test]
    fn dead_zones_have_no_jump_and_reach_the_end() {
        for (value, expected) in [
            (0.0, 0.0),
            (0.12, 0.0),
            (-0.12, 0.0),
            (0.56, 0.5),
            (-0.56, -0.5),
            (1.0, 1.0),
            (-3.0, -1.0),
            (f64::NAN, 0.0),
            (f64::INFINITY, 1.0),
        ] {
            assert!(
                (beyond(value, STICK_DEAD) - expected).abs() < 1e-12,
                "{value}"
            );
        }
        let just = beyond(STICK_DEAD + 1e-6, STICK_DEAD);
        assert!(just > 0.0 && just < 1e-5);
    }

    #[test]
    fn the_one_that_was_moved_last_drives_and_a_trembling_one_does_not_take_over() {
        let (grip, look) = grip(&[
            pad(1),
            pad(2),
            PadEvent::Moved(1, Axis::Throttle, 0.5),
            PadEvent::Moved(2, Axis::Steering, 0.05),
            // An event of a pad that was never announced is ignored.
            PadEvent::Moved(9, Axis::Brake, 1.0),
            PadEvent::Pressed(9, Button::East),
        ]);
        assert_eq!(grip.name(), Some("Pad 1"));
        assert!(grip.controls().pedals > 0.4);
        assert_eq!(look, Look::default());
        let mut other = grip;
        other.take(PadEvent::Moved(2, Axis::Brake, 1.0), &mut Look::default());
        assert_eq!(
            (other.name(), other.controls().pedals),
            (Some("Pad 2"), -1.0)
        );
    }

    #[test]
    fn one_that_is_pulled_out_gives_no_input_and_is_named() {
        let (grip, look) = grip(&[
            pad(1),
            PadEvent::Moved(1, Axis::Throttle, 1.0),
            PadEvent::Moved(1, Axis::Steering, 1.0),
            PadEvent::Gone(1),
            PadEvent::Gone(1),
        ]);
        assert_eq!(grip.controls(), HandControls::default());
        assert_eq!((look.gone, grip.name()), (vec!["Pad 1".to_owned()], None));
    }

    #[test]
    fn a_button_gives_the_vehicle_back() {
        let (_, look) = grip(&[pad(1), PadEvent::Pressed(1, Button::East)]);
        assert!(look.gives_back);
    }
}
