//! Gamepads, for the vehicle that is driven by hand.
//!
//! Where pads come from differs by system: `linux` reads /dev/input, everywhere else a crate for
//! gamepads does (`elsewhere`). Both are behind `Source`, which gives plain events; what they mean for
//! a vehicle is in `Grip`. A source is there only while somebody drives: nothing is polled else.
//!
//! ```text
//!   system -> Source -> PadEvent -> Grip -> HandControls -> the run, as those of keys
//! ```

#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod grip;
#[cfg(target_os = "linux")]
mod linux;

use grip::Grip;
use roadwright_simulation::HandControls;

/// A pad, as long as it is plugged in.
pub(crate) type PadId = u64;

/// An axis that drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    /// The left stick, -1 (left) to 1 (right).
    Steering,
    /// The left trigger, 0 to 1.
    Brake,
    /// The right trigger, 0 to 1.
    Throttle,
}

/// A button that does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Button {
    /// The one on the right of the four, B or circle: gives the vehicle back.
    East,
}

/// What happens to pads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PadEvent {
    /// One is there, with its name.
    Connected(PadId, String),
    /// It is not there any more.
    Gone(PadId),
    /// An axis has been moved.
    Moved(PadId, Axis, f64),
    /// A button has been pressed.
    Pressed(PadId, Button),
}

/// Where events of pads come from.
pub(crate) trait Source {
    /// Adds what has happened since the last time, and never waits. `time` is that of the window, s.
    fn read(&mut self, time: f64, events: &mut Vec<PadEvent>);

    /// Why pads that may be plugged in cannot be read, for people.
    fn problem(&self) -> Option<&str>;
}

/// The source of this system.
fn system() -> Box<dyn Source> {
    #[cfg(target_os = "linux")]
    return Box::new(linux::DevInput::default());
    #[cfg(not(target_os = "linux"))]
    return Box::new(elsewhere::Library::new());
}

/// What a person sees of gamepads while driving.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PadState {
    /// The name of the pad that drives, if one does.
    pub name: Option<String>,
    /// Why pads cannot be read.
    pub problem: Option<String>,
    /// Where the pad has the controls.
    pub controls: HandControls,
}

/// What a look at the pads has brought beside the state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Look {
    /// The vehicle is to be given back.
    pub gives_back: bool,
    /// Names of pads that are gone.
    pub gone: Vec<String>,
}

/// The pads of the window.
#[derive(Default)]
pub struct Gamepads {
    /// Whether pads of the system are read: not in tests, whose pictures would differ by what is plugged
    /// in.
    is_on: bool,
    /// While somebody drives.
    source: Option<Box<dyn Source>>,
    grip: Grip,
    events: Vec<PadEvent>,
}

impl Gamepads {
    /// With the pads of the system, or without any.
    pub fn new(is_on: bool) -> Self {
        Self {
            is_on,
            ..Self::default()
        }
    }

    /// Looks what has happened, while somebody drives; else lets go of all pads.
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

    /// What a person sees.
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

    /// Events that are made up.
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
        // Where they are off nothing is opened.
        let mut off = Gamepads::new(false);
        off.look(true, 0.0);
        assert!(off.source.is_none());
    }

    #[test]
    fn the_system_is_asked_without_a_fault() {
        // Whatever is plugged in here, and whatever may be read.
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
