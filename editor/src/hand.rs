//! The hand on the map: it holds a tool, turns pointer events into the tool's, and the tool's
//! effects into actions.

use crate::camera::Camera;
use crate::map_view::MapView;
use crate::model::{Action, Model, Tone};
use crate::tools::{Effect, MapPart, Modifiers, Pointer, Tool, ToolContext, ToolEvent, ToolKind};
use crate::window_keys::held;
use egui::{Event, Key, PointerButton, Pos2, Rect, Ui};
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{AgentId, ObjectId};

/// The pointer has to move this far for a drag, points. Less, and the tremble of a click moves
/// what it should select; more, and short strokes are lost.
const DRAG_DISTANCE: f32 = 4.0;
/// Two clicks within this time and distance are a double click, s and points.
const DOUBLE_TIME: f64 = 0.35;
const DOUBLE_DISTANCE: f32 = 6.0;
/// Driving vehicles are caught from this far outside their bodies, points.
const VEHICLE_REACH: f64 = 7.0;

// What tools see of the left button:
//
//   down                                       Press
//     moves up to 4 points, up                 Click, and DoubleClick after the second one
//     moves further, ..., up                   Drag, Drag, ..., Release

/// A button that is held on the map.
struct Press {
    at: Pos2,
    dragging: bool,
}

/// The tool in hand, and what the hand does with the mouse.
///
/// The tool belongs to the view and not to the model: it has to take every pointer event of a frame
/// at once and in order, since a later one depends on what the tool made of an earlier one, and its
/// marks are drawn in the same frame. What it wants changed in the model becomes an action.
pub(crate) struct Hand {
    tool: Box<dyn Tool>,
    press: Option<Press>,
    last_click: Option<(f64, Pos2)>,
    /// Keys that are held, as of the last event.
    held: Modifiers,
    /// Whether Space is held for panning, and whether it has panned.
    space: Option<bool>,
}

/// What the hand reaches in one frame: the state that it reads, and the list that it writes to.
pub(crate) struct Reach<'a> {
    pub(crate) model: &'a Model,
    /// Where the map looks in this frame; the model may not have it yet.
    pub(crate) camera: Camera,
    /// The map on the screen.
    pub(crate) rect: Rect,
    pub(crate) actions: &'a mut Vec<Action>,
}

impl Reach<'_> {
    /// Hands an event to a tool and its effects to the actions.
    fn send(&mut self, tool: &mut dyn Tool, event: ToolEvent) {
        for effect in tool.event(event, &context(self.model, &self.camera)) {
            let action = action_of(effect);
            // Only the newest state of a gesture counts: a fast mouse sends several in a frame, and
            // each would rebuild the scenario.
            if let (Action::Preview(new, _), Some(Action::Preview(last, _))) =
                (&action, self.actions.last())
                && new == last
            {
                self.actions.pop();
            }
            self.actions.push(action);
        }
    }
}

/// What tools look at.
pub(crate) fn context<'a>(model: &'a Model, camera: &Camera) -> ToolContext<'a> {
    ToolContext {
        scenario: model.document.scenario(),
        scene: &model.scene,
        selection: &model.selection,
        options: &model.settings.tools,
        scale: camera.scale,
    }
}

fn action_of(effect: Effect) -> Action {
    match effect {
        Effect::Apply(label, edit) => Action::Apply(label, edit),
        Effect::Preview(label, edit) => Action::Preview(label, edit),
        Effect::Commit => Action::Commit(None),
        Effect::Abort => Action::Abort,
        Effect::Select(objects) => Action::Select(objects),
        Effect::Explain(from, to) => Action::Explain(Some((from, to))),
        Effect::MoveOverlay(by) => Action::MoveBackground(by),
        Effect::ScaleOverlay(by) => Action::ScaleBackground(by),
        Effect::Refuse(why) => Action::Say(Tone::Refused, why),
    }
}

impl Hand {
    /// A hand that holds a tool.
    pub(crate) fn new(kind: ToolKind) -> Self {
        Self {
            tool: kind.tool(),
            press: None,
            last_click: None,
            held: Modifiers::default(),
            space: None,
        }
    }

    /// The tool in hand.
    pub(crate) fn tool(&self) -> &dyn Tool {
        &*self.tool
    }

    /// Takes another tool, or the same one without its stroke.
    pub(crate) fn take(&mut self, kind: ToolKind) {
        self.press = None;
        self.tool = kind.tool();
    }

    /// Whether Space is held for panning.
    pub(crate) fn holds_space(&self) -> bool {
        self.space.is_some()
    }

    /// Notes that the map was panned: letting Space go is no tap then.
    pub(crate) fn note_panning(&mut self) {
        if let Some(panned) = &mut self.space {
            *panned = true;
        }
    }

    /// Space goes down: while it is held, dragging pans.
    pub(crate) fn press_space(&mut self) {
        self.space.get_or_insert(false);
    }

    /// Space goes up. Returns whether it was a tap, which is a key like any other.
    pub(crate) fn release_space(&mut self) -> bool {
        // `Some(true)` has panned; `None` went down elsewhere, in a text field perhaps.
        self.space.take() == Some(false)
    }

    /// Hands every pointer event of the frame to the tool, in order and not one per frame: at 60
    /// frames a second a fast stroke would lose most of its points. `is_free` says whether a point
    /// of the screen is the map's and no other widget's. Returns where the pointer is in the world,
    /// if it has moved.
    pub(crate) fn pointer_events(
        &mut self,
        ui: &Ui,
        reach: &mut Reach<'_>,
        is_free: impl Fn(Pos2) -> bool,
    ) -> Option<Option<DVec2>> {
        let (events, time) = ui.input(|i| (i.events.clone(), i.time));
        let mut moved_to = None;
        // Of moves without a button only the last one of the frame counts.
        let mut hover = None;
        for event in events {
            match event {
                Event::ModifiersChanged(modifiers) => self.held = held(modifiers),
                Event::PointerMoved(at) => {
                    let pointer = self.pointer(at, reach);
                    let free = is_free(at);
                    moved_to = Some(free.then_some(pointer.at));
                    if self.press.is_some() {
                        self.moved(at, pointer, reach);
                    } else {
                        hover = free.then_some(pointer);
                    }
                }
                Event::PointerButton {
                    pos,
                    button: PointerButton::Primary,
                    pressed,
                    modifiers,
                } => {
                    self.held = held(modifiers);
                    // The tool has to know where the pointer is before it hears of the button.
                    if let Some(hover) = hover.take() {
                        reach.send(&mut *self.tool, ToolEvent::Move(hover));
                    }
                    if pressed && is_free(pos) && self.space.is_none() && reach.rect.contains(pos) {
                        self.pressed(ui, pos, reach);
                    } else if let (false, Some(press)) = (pressed, self.press.take()) {
                        self.released(press, pos, time, reach);
                    }
                }
                // It has left the window: its place in the status line would be wrong.
                Event::PointerGone => moved_to = Some(None),
                _ => {}
            }
        }
        if let Some(hover) = hover {
            reach.send(&mut *self.tool, ToolEvent::Move(hover));
        }
        moved_to
    }

    fn pointer(&self, at: Pos2, reach: &Reach<'_>) -> Pointer {
        Pointer {
            at: reach.camera.world(reach.rect, at),
            modifiers: self.held,
        }
    }

    fn pressed(&mut self, ui: &Ui, at: Pos2, reach: &mut Reach<'_>) {
        // A text field that has the keyboard loses it: keys are for the map again.
        ui.ctx().memory_mut(|memory| {
            if let Some(id) = memory.focused() {
                memory.surrender_focus(id);
            }
        });
        self.press = Some(Press {
            at,
            dragging: false,
        });
        let pointer = self.pointer(at, reach);
        reach.send(&mut *self.tool, ToolEvent::Press(pointer));
    }

    fn moved(&mut self, at: Pos2, pointer: Pointer, reach: &mut Reach<'_>) {
        if let Some(press) = &mut self.press {
            press.dragging |= (at - press.at).length() > DRAG_DISTANCE;
            if press.dragging {
                reach.send(&mut *self.tool, ToolEvent::Drag(pointer));
            }
        }
    }

    fn released(&mut self, press: Press, at: Pos2, time: f64, reach: &mut Reach<'_>) {
        let pointer = self.pointer(at, reach);
        let tool = &mut *self.tool;
        if press.dragging {
            reach.send(tool, ToolEvent::Release(pointer));
            return;
        }
        if reach.model.tool == ToolKind::Select
            && let Some(agent) = vehicle_at(pointer.at, reach.model, &reach.camera)
        {
            watch(agent, reach);
            // The tool has seen the press and waits for its end; what it would do about that is
            // not wanted, since the click was for the vehicle.
            let _ = tool.event(ToolEvent::Escape, &context(reach.model, &reach.camera));
            return;
        }
        reach.send(tool, ToolEvent::Click(pointer));
        let double = self.last_click.is_some_and(|(then, there)| {
            time - then < DOUBLE_TIME && (there - at).length() < DOUBLE_DISTANCE
        });
        // A third click begins another pair.
        self.last_click = if double { None } else { Some((time, at)) };
        if double {
            reach.send(tool, ToolEvent::DoubleClick(pointer));
        }
    }

    /// A click at a world point, m, that comes from elsewhere than the mouse.
    pub(crate) fn click_at(&mut self, at: DVec2, reach: &mut Reach<'_>) {
        let pointer = Pointer {
            at,
            modifiers: Modifiers::default(),
        };
        reach.send(&mut *self.tool, ToolEvent::Press(pointer));
        reach.send(&mut *self.tool, ToolEvent::Click(pointer));
    }

    /// A key for the tool. Returns whether the tool had use for it.
    pub(crate) fn key(&mut self, key: Key, reach: &mut Reach<'_>) -> bool {
        let event = match key {
            Key::Enter => ToolEvent::Enter,
            Key::Escape => ToolEvent::Escape,
            // Without a stroke Backspace may be bound to a command.
            Key::Backspace if self.tool.is_busy() => ToolEvent::Backspace,
            _ => return false,
        };
        // The button may still be down: what it does until it is up is not wanted any more.
        if key == Key::Escape {
            self.press = None;
        }
        reach.send(&mut *self.tool, event);
        true
    }

    /// A typed character for the tool.
    pub(crate) fn typed(&mut self, c: char, reach: &mut Reach<'_>) {
        reach.send(&mut *self.tool, ToolEvent::Type(c));
    }
}

/// The vehicle under way at a point of the world, if vehicles are not hidden.
pub(crate) fn vehicle_at(point: DVec2, model: &Model, camera: &Camera) -> Option<u64> {
    let live = model.live.as_ref()?;
    if model.settings.tools.hides(MapPart::Vehicles) {
        return None;
    }
    let limit = VEHICLE_REACH * camera.scale;
    // A disc of four fifths of the length is near enough to a body, and cheap for thousands.
    let miss = |v: &roadwright_simulation::VehicleRecord| {
        (v.body.position - point).length() - 0.4 * v.length
    };
    let vehicles = live.snapshot.vehicles.iter();
    vehicles
        .map(|v| (miss(v), v.agent))
        .filter(|(distance, _)| *distance < limit)
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, agent)| agent)
}

/// Watches a driving vehicle, and selects its agent if the scenario has it: vehicles of flows
/// belong to no agent that could be selected.
fn watch(agent: u64, reach: &mut Reach<'_>) {
    reach.actions.push(Action::Watch(Some(agent)));
    let id = u32::try_from(agent).ok().map(AgentId);
    let agents = reach.model.document.scenario().agents();
    let known = id.filter(|id| agents.contains_key(id));
    let selection: Objects = known.map(ObjectId::Agent).into_iter().collect();
    reach.actions.push(Action::Select(selection));
}
