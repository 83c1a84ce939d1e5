//! Playback: the run in the background, its speed, and the watched vehicle.

use crate::app::Editor;
use crate::live::{Coordinator, Live};
use crate::model::{Action, Model, Tone};
use roadwright_scenario::ObjectId;
use roadwright_simulation::{CouplingOrder, HandControls};

/// Step of rewinding, s.
const LOOK_BACK: f64 = 1.0;

/// Speeds of the simulation.
pub(crate) const SPEEDS: [f64; 11] = [
    0.1,
    0.25,
    0.5,
    1.0,
    2.0,
    4.0,
    8.0,
    16.0,
    50.0,
    100.0,
    f64::INFINITY,
];

/// The run of the document, if there is one.
#[derive(Default)]
pub(crate) struct Playing {
    live: Option<Live>,
    /// The document revision that the run has received.
    revision: u64,
    /// The inspected junction or road.
    coordinator: Option<Coordinator>,
    /// The number of the last message that was shown.
    shown_error: u64,
}

impl Playing {
    /// The run, if there is one.
    pub(crate) fn run(&mut self) -> Option<&mut Live> {
        self.live.as_mut()
    }

    /// Whether the run has carried out all orders and inspects the selection.
    pub(crate) fn is_settled(&self, model: &Model) -> bool {
        let mut live = self.live.iter();
        live.all(|live| live.is_settled() && self.coordinator == selected(model))
    }
}

/// The selected junction or road.
fn selected(model: &Model) -> Option<Coordinator> {
    model.single().and_then(Coordinator::of)
}

impl Editor {
    /// The run; starts it if there is none.
    pub(crate) fn live(&mut self) -> &mut Live {
        let revision = self.model.document.revision();
        let wake = self.wake();
        let playing = &mut self.playing;
        playing.live.get_or_insert_with(|| {
            playing.revision = revision;
            let registry = self.model.modules.registry.clone();
            let mut live = Live::new(self.model.document.scenario().clone(), registry, wake);
            live.set_speed(self.model.speed);
            live.watch(self.model.watched);
            live
        })
    }

    /// Ends the run, for another document.
    pub(crate) fn end_run(&mut self) {
        self.playing = Playing::default();
        self.model.live = None;
        self.model.watched = None;
        self.model.follow = false;
        self.model.driving = None;
    }

    /// Passes edits to the run and takes its newest snapshot.
    pub(crate) fn look_at_live(&mut self) {
        let playing = &mut self.playing;
        let Some(live) = &mut playing.live else {
            self.model.live = None;
            return;
        };
        let revision = self.model.document.revision();
        if playing.revision != revision {
            playing.revision = revision;
            live.update(self.model.document.scenario().clone());
        }
        let coordinator = selected(&self.model);
        if playing.coordinator != coordinator {
            playing.coordinator = coordinator;
            live.look_into(coordinator);
        }
        let picture = live.picture();
        // A snapshot contains only the last message and is read many times, so the number shows whether the
        // message is new.
        if let Some((number, message)) = &picture.error
            && *number > playing.shown_error
        {
            playing.shown_error = *number;
            let message = message.clone();
            self.say(Tone::Refused, &message);
        }
        // The vehicle is gone or could not be taken over, so the keys belong to the map again.
        let is_lost = picture.driven.is_none() && self.model.driving.is_some();
        // Once all orders are carried out, because an older snapshot shows no driver either.
        if is_lost && self.playing.live.as_ref().is_some_and(Live::is_settled) {
            self.model.driving = None;
        }
        self.model.live = Some(picture);
    }

    /// Shows the run one second before the shown moment.
    pub(crate) fn look_back(&mut self) {
        let live = self.model.live.clone();
        let Some(live) = live.filter(|live| live.snapshot.step > 0) else {
            self.say(
                Tone::Refused,
                "The run has not started, so there is nothing to rewind.",
            );
            return;
        };
        self.live().look_back(live.snapshot.time - LOOK_BACK);
    }

    /// Takes control of the watched vehicle or the selected agent, or returns the driven one.
    pub(crate) fn take_the_wheel(&mut self) {
        if self.model.driving.is_some() {
            self.move_controls(None);
            return;
        }
        let selected = match self.model.single() {
            Some(ObjectId::Agent(id)) => Some(u64::from(id.0)),
            _ => None,
        };
        let Some(agent) = self.model.watched.or(selected) else {
            self.say(
                Tone::Refused,
                "Click the vehicle that you want to drive first.",
            );
            return;
        };
        // Agents exist from the first step on.
        let has_begun = self
            .model
            .live
            .as_ref()
            .is_some_and(|live| live.snapshot.step > 0);
        if !has_begun {
            self.live().step();
        }
        // Driving by hand needs at most real time.
        self.set_speed(self.model.speed.min(1.0));
        self.watch(Some(agent));
        self.model.follow = true;
        self.model.driving = Some((agent, HandControls::default()));
        let live = self.live();
        live.drive(agent, Some(HandControls::default()));
        live.play(true);
    }

    /// Uncouples the last trailer of the watched vehicle, or couples one.
    pub(crate) fn couple_watched(&mut self, order: CouplingOrder) {
        let Some(agent) = self.model.watched else {
            self.say(Tone::Refused, "Click the vehicle with the trailer first.");
            return;
        };
        self.live().coupling(agent, order);
    }

    /// Sets the controls of the driven vehicle, or returns it.
    pub(crate) fn move_controls(&mut self, controls: Option<HandControls>) {
        if let Some((agent, _)) = self.model.driving {
            self.model.driving = controls.map(|controls| (agent, controls));
            self.live().drive(agent, controls);
        }
    }

    /// Reads gamepads while the user drives.
    pub(crate) fn read_gamepads(&mut self) {
        let time = self.context.input(|input| input.time);
        let drives = self.model.driving.is_some();
        let look = self.gamepads.look(drives, time);
        self.model.pad = self.gamepads.state();
        for name in look.gone {
            let text = format!("The gamepad {name} was disconnected; the vehicle coasts.");
            self.say(Tone::Refused, &text);
        }
        if look.gives_back {
            self.actions.push(Action::Drive(None));
        }
    }

    pub(crate) fn play_or_pause(&mut self) {
        let play = !self.model.is_playing();
        self.live().play(play);
    }

    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.model.speed = speed;
        if let Some(live) = self.playing.run() {
            live.set_speed(speed);
        }
    }

    /// Moves by some steps along the list of speeds.
    pub(crate) fn change_speed(&mut self, by: isize) {
        // If the speed is not in the list, the next higher one is used instead.
        let now = SPEEDS.iter().position(|s| *s >= self.model.speed);
        let now = now.unwrap_or(SPEEDS.len() - 1) as isize;
        let next = (now + by).clamp(0, SPEEDS.len() as isize - 1) as usize;
        self.set_speed(SPEEDS[next]);
    }

    pub(crate) fn watch(&mut self, agent: Option<u64>) {
        self.model.watched = agent;
        if agent.is_none() {
            self.model.follow = false;
        }
        if let Some(live) = self.playing.run() {
            live.watch(agent);
        }
    }

    pub(crate) fn toggle_follow(&mut self) {
        self.model.follow = !self.model.follow && self.model.watched.is_some();
    }
}
