//! Mouse input on the map. Holds a tool, converts pointer events to tool events, and converts effects of the
//! tool to actions.

use crate::camera::Camera;
use crate::map_view::MapView;
use crate::model::{Action, Model, Tone};
use crate::tools::{Effect, MapPart, Modifiers, Pointer, Tool, ToolContext, ToolEvent, ToolKind};
use crate::window_keys::held;
use egui::{Event, Key, PointerButton, Pos2, Rect, Ui};
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{AgentId, ObjectId};

/// Distance that the pointer has to move for a drag, points. With a smaller value, unsteady clicks
/// would become drags. With a larger value, short strokes would be lost.
const DRAG_DISTANCE: f32 = 4.0;
/// Maximum time between the two clicks of a double-click, s.
const DOUBLE_TIME: f64 = 0.35;
/// Maximum distance between the two clicks of a double-click, in points.
const DOUBLE_DISTANCE: f32 = 6.0;
/// Pick distance around the bodies of driving vehicles, points.
const VEHICLE_REACH: f64 = 7.0;

// Events of the left button that tools receive:
//
//   down                                       Press
//     moves up to 4 points, up                 Click, and DoubleClick after the second one
//     moves further, ..., up                   Drag, Drag, ..., Release

/// A button held on the map.
struct Press {
    at: Pos2,
    dragging: bool,
}

/// The current tool and its mouse input.
///
/// The tool belongs to the view and not to the model. It has to handle all pointer events of a
/// frame at once and in order, because its reaction to an event affects how it handles later ones.
/// Its marks are drawn in the same frame. Changes of the model become actions.
pub(crate) struct Hand {
    tool: Box<dyn Tool>,
    press: Option<Press>,
    last_click: Option<(f64, Pos2)>,
    /// Modifier keys at the last event.
    held: Modifiers,
    /// `Some` while Space is held for panning. The value is `true` once the map has been panned.
    space: Option<bool>,
}

/// The state that mouse input reads in a frame, and the list of actions that it adds to.
pub(crate) struct Reach<'a> {
    pub(crate) model: &'a Model,
    /// The view in this frame, which the model may not have received yet.
    pub(crate) camera: Camera,
    /// The rectangle of the map on the screen.
    pub(crate) rect: Rect,
    pub(crate) actions: &'a mut Vec<Action>,
}

impl Reach<'_> {
    /// Sends an event to a tool and appends its effects to the actions.
    fn send(&mut self, tool: &mut dyn Tool, event: ToolEvent) {
        let was_busy = tool.is_busy();
        let effects = tool.event(event, &context(self.model, &self.camera));
        let is_applied = |effect: &Effect| matches!(effect, Effect::Apply(..) | Effect::Refuse(_));
        let has_ended = effects.iter().any(is_applied) || was_busy && !tool.is_busy();
        for effect in effects {
            let action = action_of(effect);
            // Only the newest state of a gesture counts, because a fast mouse produces several per frame and
            // each would rebuild the scenario.
            if let (Action::Preview(new, _), Some(Action::Preview(last, _))) =
                (&action, self.actions.last())
                && new == last
            {
                self.actions.pop();
            }
            self.actions.push(action);
        }
        if has_ended && self.model.settings.tools.layer.is_some() {
            self.actions.push(Action::ForgetLayer);
        }
    }
}

/// Returns the context of a tool.
pub(crate) fn context<'a>(model: &'a Model, camera: &Camera) -> ToolContext<'a> {
    ToolContext {
        scenario: model.document.scenario(),
        scene: &model.scene,
        selection: &model.selection,
        options: &model.settings.tools,
        scale: camera.scale,
        routes: &model.route_source,
        taken: model.drawn_route.as_ref().map_or(&[], |drawn| &drawn.stops),
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
        Effect::Measured(line) => Action::Measured(line),
        Effect::Refuse(why) => Action::Say(Tone::Refused, why),
    }
}

impl Hand {
    /// Creates a hand that holds the given tool.
    pub(crate) fn new(kind: ToolKind) -> Self {
        Self {
            tool: kind.tool(),
            press: None,
            last_click: None,
            held: Modifiers::default(),
            space: None,
        }
    }

    /// Returns the layer on which the tool draws at the pointer; `None` if it draws no roads.
    pub(crate) fn layer(&self, model: &Model) -> Option<i8> {
        self.tool.layer(&context(model, &model.camera))
    }

    /// Notifies the tool that the layer in the options has changed.
    pub(crate) fn follow_layer(&mut self, model: &Model) {
        // The tool only aims again, which has no effects.
        let _ = self
            .tool
            .event(ToolEvent::Layer, &context(model, &model.camera));
    }

    /// Returns the current tool.
    pub(crate) fn tool(&self) -> &dyn Tool {
        &*self.tool
    }

    /// Switches to another tool, or resets the current one.
    pub(crate) fn take(&mut self, kind: ToolKind) {
        self.press = None;
        self.tool = kind.tool();
    }

    /// Whether Space is held for panning.
    pub(crate) fn holds_space(&self) -> bool {
        self.space.is_some()
    }

    /// Records that the map was panned, so that the release of Space does not count as a tap.
    pub(crate) fn note_panning(&mut self) {
        if let Some(panned) = &mut self.space {
            *panned = true;
        }
    }

    /// Handles a press of Space. Until Space is released, drags pan the map.
    pub(crate) fn press_space(&mut self) {
        self.space.get_or_insert(false);
    }

    /// Handles the release of Space. Returns whether it was a tap, which counts as a normal key.
    pub(crate) fn release_space(&mut self) -> bool {
        // `Some(true)`: panned; `None`: pressed elsewhere, such as in a text field.
        self.space.take() == Some(false)
    }

    /// Passes all pointer events of the frame to the tool, in order. If only one event per frame
    /// counted, a fast stroke would lose most of its points. `is_free` tests whether a point of the
    /// screen belongs to the map and to no other widget. Returns the pointer's position in the
    /// world if the pointer moved.
    pub(crate) fn pointer_events(
        &mut self,
        ui: &Ui,
        reach: &mut Reach<'_>,
        is_free: impl Fn(Pos2) -> bool,
    ) -> Option<Option<DVec2>> {
        let (events, time) = ui.input(|i| (i.events.clone(), i.time));
        let mut moved_to = None;
        // Of several movements without a button, only the last one in the frame counts.
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
                    // The tool has to know the pointer's position before the button event.
                    if let Some(hover) = hover.take() {
                        reach.send(&mut *self.tool, ToolEvent::Move(hover));
                    }
                    if pressed && is_free(pos) && self.space.is_none() && reach.rect.contains(pos) {
                        self.pressed(ui, pos, reach);
                    } else if let (false, Some(press)) = (pressed, self.press.take()) {
                        self.released(press, pos, time, reach);
                    }
                }
                // The pointer has left the window, so its position in the status line would be wrong.
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
        // A focused text field loses the focus, so that keys go to the map again.
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
            // The tool has received the press and waits for the end of the click, but must not react, because
            // the click was for the vehicle.
            let _ = tool.event(ToolEvent::Escape, &context(reach.model, &reach.camera));
            return;
        }
        reach.send(tool, ToolEvent::Click(pointer));
        let double = self.last_click.is_some_and(|(then, there)| {
            time - then < DOUBLE_TIME && (there - at).length() < DOUBLE_DISTANCE
        });
        // A third click starts another pair.
        self.last_click = if double { None } else { Some((time, at)) };
        if double {
            reach.send(tool, ToolEvent::DoubleClick(pointer));
        }
    }

    /// Handles a click that did not come from the mouse. `at` is a world point, m.
    pub(crate) fn click_at(&mut self, at: DVec2, reach: &mut Reach<'_>) {
        let pointer = Pointer {
            at,
            modifiers: Modifiers::default(),
        };
        reach.send(&mut *self.tool, ToolEvent::Press(pointer));
        reach.send(&mut *self.tool, ToolEvent::Click(pointer));
    }

    /// Passes a key to the tool. Returns whether the tool used it.
    pub(crate) fn key(&mut self, key: Key, reach: &mut Reach<'_>) -> bool {
        let event = match key {
            Key::Enter => ToolEvent::Enter,
            Key::Escape => ToolEvent::Escape,
            // If no stroke is in progress, Backspace may be bound to a command.
            Key::Backspace if self.tool.is_busy() => ToolEvent::Backspace,
            _ => return false,
        };
        // The button may still be down; its further events are ignored until it is released.
        if key == Key::Escape {
            self.press = None;
        }
        reach.send(&mut *self.tool, event);
        true
    }

    /// Passes a typed character to the tool.
    pub(crate) fn typed(&mut self, c: char, reach: &mut Reach<'_>) {
        reach.send(&mut *self.tool, ToolEvent::Type(c));
    }
}

/// Returns the driving vehicle at a point of the world, if vehicles are not hidden.
pub(crate) fn vehicle_at(point: DVec2, model: &Model, camera: &Camera) -> Option<u64> {
    let live = model.live.as_ref()?;
    if model.settings.tools.hides(MapPart::Vehicles) {
        return None;
    }
    let limit = VEHICLE_REACH * camera.scale;
    // A disc with four fifths of the length approximates a body and is fast for thousands of vehicles.
    let miss = |v: &roadwright_simulation::VehicleRecord| {
        (v.body.position - point).length() - 0.4 * v.length
    };
    // A click on a deck does not apply to the vehicles below it.
    let scene = &model.scene;
    let is_covered = |v: &roadwright_simulation::VehicleRecord| {
        let layer = scene.bridges.layer_if_covered(v, &scene.scenario);
        layer.is_some_and(|layer| scene.bridges.covers(point, layer))
    };
    let vehicles = live.snapshot.vehicles.iter();
    vehicles
        .map(|v| (miss(v), v))
        .filter(|(distance, v)| *distance < limit && !is_covered(v))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, v)| v.agent)
}

/// Watches a driving vehicle, and selects its agent if it is in the scenario. Vehicles of flows have no agent
/// to select.
fn watch(agent: u64, reach: &mut Reach<'_>) {
    reach.actions.push(Action::Watch(Some(agent)));
    let id = u32::try_from(agent).ok().map(AgentId);
    let agents = reach.model.document.scenario().agents();
    let known = id.filter(|id| agents.contains_key(id));
    let selection: Objects = known.map(ObjectId::Agent).into_iter().collect();
    reach.actions.push(Action::Select(selection));
}
