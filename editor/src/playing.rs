//! Playback of the run in the background, its speed, and the watched vehicle.

use crate::context::Context;
use crate::gamepad::Gamepads;
use crate::live::{ClipOrder, Coordinator, JudgedRace, Live};
use crate::model::{Action, Model, SPEEDS, Tone};
use crate::panel::PanelId;
use crate::requests::{ModuleRequest, PlayingAction, Request};
use roadwright_scenario::ObjectId;
use roadwright_simulation::{CouplingOrder, GroundQuestion, HandControls};

/// Time by which one step back rewinds the run, s.
const LOOK_BACK: f64 = 1.0;

/// The run of the document in the window, if there is one.
#[derive(Default)]
struct OwnRun {
    live: Option<Live>,
    /// Number of the document in the run, as counted by the context.
    epoch: u64,
    /// The document revision that the run has received.
    revision: u64,
    /// The inspected junction or road.
    coordinator: Option<Coordinator>,
    /// The inspected planning data of the watched vehicle.
    ground: GroundQuestion,
    /// The number of the last shown message.
    shown_error: u64,
}

/// The subject for playback: the run, and manual driving.
pub(crate) struct Playing {
    own: OwnRun,
    gamepads: Gamepads,
}

/// Returns the selected junction or road.
fn selected(model: &Model) -> Option<Coordinator> {
    model.single().and_then(Coordinator::of)
}

/// Returns the request for planning data of the watched vehicle. It depends on the overlays and the
/// measured line.
fn ground_question(model: &Model) -> GroundQuestion {
    let view = model.settings.open_ground;
    GroundQuestion {
        cells: view.costs,
        forecasts: view.forecasts,
        search: view.search,
        other_path: model.measured.clone(),
    }
}

impl Playing {
    /// Creates the subject without a run.
    pub(crate) fn new(gamepads: Gamepads) -> Self {
        Self {
            own: OwnRun::default(),
            gamepads,
        }
    }

    /// Carries out an action.
    pub(crate) fn act(&mut self, cx: &mut Context, action: PlayingAction) {
        match action {
            PlayingAction::PlayOrPause => {
                if cx.model.is_playing() {
                    self.live(cx).pause();
                } else {
                    if has_ended(cx) {
                        self.live(cx).reset();
                    }
                    self.live(cx).play();
                    cx.open_timeline();
                }
            }
            PlayingAction::GoOn => self.with_run(cx, Live::play),
            PlayingAction::Halt => self.with_run(cx, Live::pause),
            PlayingAction::Step => self.live(cx).step(),
            PlayingAction::Reset => self.live(cx).reset(),
            PlayingAction::Speed(speed) => self.set_speed(cx, speed),
            PlayingAction::ChangeSpeed(by) => self.change_speed(cx, by),
            PlayingAction::Watch(agent) => self.watch(cx, agent),
            PlayingAction::ToggleFollow => {
                cx.model.follow = !cx.model.follow && cx.model.watched.is_some();
            }
            PlayingAction::LookBack => self.look_back(cx),
            PlayingAction::LookAt(time) => self.live(cx).look_back(time),
            PlayingAction::BackToPresent => self.live(cx).back_to_present(),
            PlayingAction::TakeTheWheel => self.take_the_wheel(cx),
            PlayingAction::Drive(controls) => self.move_controls(cx, controls),
            PlayingAction::BeginRace(race) => self.begin_race(cx, *race),
            PlayingAction::RecordClip => self.record_clip(cx),
            PlayingAction::Coupling(agent, order) => self.live(cx).coupling(agent, order),
            PlayingAction::CoupleWatched(order) => self.couple_watched(cx, order),
            PlayingAction::PlayTo(end) => {
                let live = self.live(cx);
                live.end_at(end);
                live.play();
            }
            PlayingAction::UseModules => {
                let registry = cx.model.modules.registry.clone();
                self.with_run(cx, |live| live.use_modules(registry));
            }
            PlayingAction::FindView(request, agent) => {
                let view = self.run(cx).and_then(|live| live.behaviour_view(agent));
                match view.map(Box::new) {
                    Some(view) => {
                        cx.then(Request::Modules(ModuleRequest::StepThrough(request, view)));
                    }
                    None => {
                        cx.say(Tone::Refused, &format!("Agent {agent} is not driving now."));
                    }
                }
            }
        }
    }

    /// Returns the run of the document in the window, if there is one.
    fn run(&mut self, cx: &Context) -> Option<&mut Live> {
        self.forget_other(cx);
        self.own.live.as_mut()
    }

    /// Sends a command to the run, if there is one.
    fn with_run(&mut self, cx: &Context, order: impl FnOnce(&mut Live)) {
        if let Some(live) = self.run(cx) {
            order(live);
        }
    }

    /// Ends the run of a document that is no longer in the window.
    fn forget_other(&mut self, cx: &Context) {
        if self.own.epoch != cx.epoch {
            self.own = OwnRun {
                epoch: cx.epoch,
                ..OwnRun::default()
            };
        }
    }

    /// Whether the run has carried out all orders and inspects the selection.
    pub(crate) fn is_settled(&self, cx: &Context) -> bool {
        let mut live = self.own.live.iter().filter(|_| self.own.epoch == cx.epoch);
        live.all(|live| {
            live.is_settled()
                && self.own.coordinator == selected(&cx.model)
                && self.own.ground == ground_question(&cx.model)
        })
    }

    /// Returns the run, and creates it if there is none.
    fn live(&mut self, cx: &Context) -> &mut Live {
        self.forget_other(cx);
        let own = &mut self.own;
        own.live.get_or_insert_with(|| {
            own.revision = cx.model.document.revision();
            let registry = cx.model.modules.registry.clone();
            let scenario = cx.model.document.scenario().clone();
            let mut live = Live::new(scenario, registry, cx.wake());
            live.set_speed(cx.model.speed);
            live.watch(cx.model.watched);
            live
        })
    }

    /// Passes edits to the run and takes its newest snapshot.
    pub(crate) fn look(&mut self, cx: &mut Context) {
        self.forget_other(cx);
        let own = &mut self.own;
        let Some(live) = &mut own.live else {
            cx.model.live = None;
            return;
        };
        let revision = cx.model.document.revision();
        if own.revision != revision {
            own.revision = revision;
            live.update(cx.model.document.scenario().clone());
        }
        let coordinator = selected(&cx.model);
        if own.coordinator != coordinator {
            own.coordinator = coordinator;
            live.look_into(coordinator);
        }
        let ground = ground_question(&cx.model);
        if own.ground != ground {
            own.ground = ground.clone();
            live.look_at_ground(ground);
        }
        let picture = live.picture();
        // A snapshot contains only the last message and is read many times. The number shows whether the
        // message is new.
        if let Some((number, message)) = &picture.error
            && *number > own.shown_error
        {
            own.shown_error = *number;
            cx.say(Tone::Refused, message);
        }
        // The vehicle has despawned or could not be taken over, so keys belong to the map again.
        let is_lost = picture.driven.is_none() && cx.model.driving.is_some();
        // Checked only after all orders have been carried out, because older snapshots have no driver yet.
        if is_lost && live.is_settled() {
            cx.model.driving = None;
        }
        cx.model.live = Some(picture);
    }

    /// Shows the run one second before the shown moment.
    fn look_back(&mut self, cx: &mut Context) {
        let live = cx.model.live.clone();
        let Some(live) = live.filter(|live| live.snapshot.step > 0) else {
            cx.say(
                Tone::Refused,
                "The run has not started, so there is nothing to rewind.",
            );
            return;
        };
        self.live(cx).look_back(live.snapshot.time - LOOK_BACK);
    }

    /// Lets the user drive the watched vehicle or the selected agent. If the user already drives a
    /// vehicle, returns that vehicle to its modules.
    fn take_the_wheel(&mut self, cx: &mut Context) {
        if cx.model.driving.is_some() {
            self.move_controls(cx, None);
            return;
        }
        let selected = match cx.model.single() {
            Some(ObjectId::Agent(id)) => Some(u64::from(id.0)),
            _ => None,
        };
        let Some(agent) = cx.model.watched.or(selected) else {
            cx.say(
                Tone::Refused,
                "Click the vehicle that you want to drive first.",
            );
            return;
        };
        // Agents only exist from the first step on.
        let has_begun = cx
            .model
            .live
            .as_ref()
            .is_some_and(|live| live.snapshot.step > 0);
        if !has_begun {
            self.live(cx).step();
        }
        // Manual driving is limited to real time.
        let speed = cx.model.speed.min(1.0);
        self.set_speed(cx, speed);
        self.watch(cx, Some(agent));
        cx.model.follow = true;
        cx.model.driving = Some((agent, HandControls::default()));
        let live = self.live(cx);
        live.drive(agent, Some(HandControls::default()));
        live.play();
    }

    /// Returns the run to its start, where the user takes control. The run stays paused.
    fn begin_race(&mut self, cx: &mut Context, race: JudgedRace) {
        let agent = race.agent;
        self.set_speed(cx, 1.0);
        self.watch(cx, Some(agent));
        cx.model.follow = true;
        cx.model.driving = Some((agent, HandControls::default()));
        self.live(cx).race(race);
    }

    /// Ends the clip being recorded. If there is none, starts a clip of the manually driven vehicle
    /// or, without one, of the watched vehicle.
    fn record_clip(&mut self, cx: &mut Context) {
        let live = cx.model.live.as_ref();
        if live.is_some_and(|live| live.clip.is_some()) {
            self.live(cx).end_clip();
            return;
        }
        let driven = cx.model.driving.map(|(agent, _)| agent);
        let Some(agent) = driven.or(cx.model.watched) else {
            cx.say(
                Tone::Refused,
                "Click the vehicle that you want to record first, or drive it.",
            );
            return;
        };
        let order = ClipOrder {
            agent,
            rate_hz: cx.model.moves.rate_hz,
        };
        self.live(cx).begin_clip(order);
        cx.view.panels.bring_to_front(PanelId::Moves);
    }

    /// Uncouples the last trailer of the watched vehicle, or couples one.
    fn couple_watched(&mut self, cx: &mut Context, order: CouplingOrder) {
        let Some(agent) = cx.model.watched else {
            cx.say(Tone::Refused, "Click the vehicle with the trailer first.");
            return;
        };
        self.live(cx).coupling(agent, order);
    }

    /// Sets the controls of the driven vehicle; `None` returns it to its modules.
    fn move_controls(&mut self, cx: &mut Context, controls: Option<HandControls>) {
        if let Some((agent, _)) = cx.model.driving {
            cx.model.driving = controls.map(|controls| (agent, controls));
            self.live(cx).drive(agent, controls);
        }
    }

    /// Reads gamepads while the user drives.
    pub(crate) fn read_gamepads(&mut self, cx: &mut Context) {
        let time = cx.egui.input(|input| input.time);
        let drives = cx.model.driving.is_some();
        let look = self.gamepads.look(drives, time);
        cx.model.pad = self.gamepads.state();
        for name in look.gone {
            let text = format!("The gamepad {name} was disconnected; the vehicle coasts.");
            cx.say(Tone::Refused, &text);
        }
        if look.gives_back {
            cx.actions.push(Action::Drive(None));
        }
    }

    fn set_speed(&mut self, cx: &mut Context, speed: f64) {
        cx.model.speed = speed;
        self.with_run(cx, |live| live.set_speed(speed));
    }

    /// Moves the speed by this many entries in the list of speeds.
    fn change_speed(&mut self, cx: &mut Context, by: isize) {
        // If the speed is not in the list, the next higher one counts as the current one.
        let now = SPEEDS.iter().position(|s| *s >= cx.model.speed);
        let now = now.unwrap_or(SPEEDS.len() - 1) as isize;
        let next = (now + by).clamp(0, SPEEDS.len() as isize - 1) as usize;
        self.set_speed(cx, SPEEDS[next]);
    }

    fn watch(&mut self, cx: &mut Context, agent: Option<u64>) {
        cx.model.watched = agent;
        if agent.is_none() {
            cx.model.follow = false;
        }
        self.with_run(cx, |live| live.watch(agent));
    }
}

/// Whether the run is at its end, so that only a reset lets it play again. Playing from a shown earlier
/// moment needs no reset.
fn has_ended(cx: &Context) -> bool {
    let live = cx.model.live.as_ref();
    live.is_some_and(|live| live.is_over && live.timeline.at.is_none())
}
