//! Gamepads for manual driving.
//!
//! `linux` reads /dev/input, and `elsewhere` uses a crate on all other systems. Both implement `Source`,
//! which provides plain events that `Grip` turns into controls. A source exists only while the user drives,
//! so nothing is polled otherwise.
//!
//! ```text
//!   system -> Source -> PadEvent -> Grip -> HandControls -> the run, like those of keys
//! ```

#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod grip;
#[cfg(target_os = "linux")]
mod linux;

use grip::Grip;
use roadwright_simulation::HandControls;

/// Number of a pad while it is plugged in.
pub(crate) type PadId = u64;

/// An axis used for driving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    /// The left stick, -1 (left) to 1 (right).
    Steering,
    /// The left trigger, 0 to 1.
    Brake,
    /// The right trigger, 0 to 1.
    Throttle,
}

/// A button with a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Button {
    /// The rightmost of the four buttons (B or circle). Returns control of the vehicle to its
    /// modules.
    East,
}

/// An event of a pad.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PadEvent {
    /// A pad was connected, with its name.
    Connected(PadId, String),
    /// A pad was removed.
    Gone(PadId),
    /// An axis was moved.
    Moved(PadId, Axis, f64),
    /// A button was pressed.
    Pressed(PadId, Button),
}

/// A source of pad events.
pub(crate) trait Source {
    /// Appends the events since the last call without waiting. `time` is the time of the window in seconds.
    fn read(&mut self, time: f64, events: &mut Vec<PadEvent>);

    /// Returns a message for the user if pads cannot be read.
    fn problem(&self) -> Option<&str>;
}

/// Returns the source for this operating system.
fn system() -> Box<dyn Source> {
    #[cfg(target_os = "linux")]
    return Box::new(linux::DevInput::default());
    #[cfg(not(target_os = "linux"))]
    return Box::new(elsewhere::Library::new());
}

/// Gamepad state shown while driving.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PadState {
    /// The name of the active pad, if any.
    pub name: Option<String>,
    /// Message for the user if pads cannot be read.
    pub problem: Option<String>,
    /// The controls of the pad.
    pub controls: HandControls,
}

/// Requests and removed pads found in a read of the pads. Their state is in `PadState`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Look {
    /// Whether to return control of the vehicle to its modules.
    pub gives_back: bool,
    /// Names of pads that were removed.
    pub gone: Vec<String>,
}

/// The pads of the window.
#[derive(Default)]
pub struct Gamepads {
    /// Whether the system's gamepads are read. Tests switch this off, because their pictures would
    /// otherwise depend on connected gamepads.
    is_on: bool,
    /// The source, while the user drives.
    source: Option<Box<dyn Source>>,
    grip: Grip,
    events: Vec<PadEvent>,
}

impl Gamepads {
    /// Creates the gamepads with the source of this system, or without a source if `is_on` is false.
    pub fn new(is_on: bool) -> Self {
        Self {
            is_on,
            ..Self::default()
        }
    }

    /// Reads events while the user drives; otherwise releases all pads.
    pub fn look(&mut self, drives: bool, time: f64) -> Look {
        if !drives || !self.is_on {
            (self.source, self.grip) = (None, Grip::default());
            return Look::default();
        }
        let source = self.source.get_or_insert_with(system);
        source.read(time, &mut self.events);
        let mut look = Look::default();
        for event in self.events.drain(..) {
            self.grip.take(event, &mut look);
        }
        look
    }

    /// Returns the state that the editor shows.
    pub fn state(&self) -> PadState {
        let problem = self.source.as_ref().and_then(|source| source.problem());
        PadState {
            name: self.grip.name().map(str::to_owned),
            problem: problem.map(str::to_owned),
            controls: self.grip.controls(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mock source of events.
    struct MadeUp(Vec<PadEvent>);

    impl Source for MadeUp {
        fn read(&mut self, _: f64, events: &mut Vec<PadEvent>) {
            events.append(&mut self.0);
        }

        fn problem(&self) -> Option<&str> {
            Some("made up")
        }
    }

    fn with(events: Vec<PadEvent>) -> Gamepads {
        Gamepads {
            source: Some(Box::new(MadeUp(events))),
            ..Gamepads::new(true)
        }
    }

    #[test]
    fn pads_are_read_while_somebody_drives_and_let_go_of_after() {
        let mut pads = with(vec![
            PadEvent::Connected(1, "Pad".into()),
            PadEvent::Moved(1, Axis::Throttle, 1.0),
        ]);
        assert_eq!(pads.look(true, 0.0), Look::default());
        let state = pads.state();
        assert_eq!(state.name.as_deref(), Some("Pad"));
        assert_eq!(state.problem.as_deref(), Some("made up"));
        assert_eq!(state.controls.pedals, 1.0);
        pads.look(false, 1.0);
        assert!(pads.source.is_none());
        assert_eq!(pads.state(), PadState::default());
        // Nothing is opened if pads are off.
        let mut off = Gamepads::new(false);
        off.look(true, 0.0);
        assert!(off.source.is_none());
    }

    #[test]
    fn the_system_is_asked_without_a_fault() {
        // Works regardless of what is plugged in or readable on this machine.
        let mut source = system();
        let mut events = Vec::new();
        for second in 0..4 {
            source.read(f64::from(second), &mut events);
        }
        let named = events
            .iter()
            .filter(|event| matches!(event, PadEvent::Connected(..)));
        assert!(named.count() <= events.len());
    }
}
