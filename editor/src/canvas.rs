//! The map: pointer events to tools, and everything that is drawn on it.

use crate::map::{Ink, MapPainter, VehicleDot};
use crate::marks::Board;
use crate::minimap::Minimap;
use crate::model::{Action, Model, Tone};
use crate::settings::Heat;
use crate::theme;
use crate::tools::{
    Effect, Modifiers, Pointer, Tool, ToolContext, ToolEvent, ToolKind, grid_spacing, outline_of,
};
use egui::{Event, Key, PointerButton, Pos2, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo};
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{AgentId, ObjectId};

/// Name of the map for screen readers and tests.
pub const LABEL: &str = "map canvas";
/// The pointer has to move this far for a drag, points.
const DRAG_DISTANCE: f32 = 4.0;
/// Two clicks within this time and distance are a double click, s and points.
const DOUBLE_TIME: f64 = 0.35;
const DOUBLE_DISTANCE: f32 = 6.0;

/// Selected objects whose outlines are drawn.
const MOST_OUTLINES: usize = 300;

/// A button that is held on the map.
struct Press {
    at: Pos2,
    dragging: bool,
}

/// The map and its state of the hand.
pub struct Canvas {
    /// Draws roads and what moves on them.
    pub painter: MapPainter,
    minimap: Minimap,
    press: Option<Press>,
    last_click: Option<(f64, Pos2)>,
    /// Keys that are held, as of the last event.
    held: Modifiers,
    /// Whether Space is held for panning, and whether it has panned.
    space: Option<bool>,
    /// The rectangle that the map had last.
    pub rect: Rect,
    /// Whether the map has had its first rectangle.
    pub has_rect: bool,
    dots: Vec<VehicleDot>,
}

impl Canvas {
    /// A map that draws with `painter`.
    pub fn new(painter: MapPainter) -> Self {
        Self {
            painter,
            minimap: Minimap::default(),
            press: None,
            last_click: None,
            held: Modifiers::default(),
            space: None,
            rect: Rect::from_min_size(Pos2::ZERO, Vec2::new(1000.0, 700.0)),
            has_rect: false,
            dots: Vec::new(),
        }
    }

    /// Whether something is still being made for the map.
    pub fn is_waiting(&self) -> bool {
        self.painter.is_waiting()
    }

    /// Shows the map and takes its input.
    pub fn ui(
        &mut self,
        ui: &mut Ui,
        model: &mut Model,
        tool: &mut dyn Tool,
        actions: &mut Vec<Action>,
    ) {
        let size = ui.available_size();
        let (response, painter) = ui.allocate_painter(size, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, LABEL));
        self.rect = response.rect;
        self.has_rect = true;
        self.navigate(ui, &response, model);
        self.pointer_events(ui, &response, model, tool, actions);
        follow(model);
        let board = Board {
            painter: &painter.with_clip_rect(response.rect),
            rect: response.rect,
            camera: &model.camera.clone(),
            theme: model.theme(),
        };
        self.draw(&board, model, tool);
        if model.settings.minimap {
            self.minimap.ui(ui, response.rect, model);
        } else {
            self.minimap.hide();
        }
        model.status = tool.status(&context(model));
        self.cursor(ui, &response, model, tool);
    }

    fn cursor(&self, ui: &Ui, response: &Response, model: &Model, tool: &dyn Tool) {
        if !response.hovered() {
            return;
        }
        let panning = response.dragged_by(PointerButton::Middle)
            || response.dragged_by(PointerButton::Secondary)
            || self.space.is_some();
        ui.ctx().set_cursor_icon(if panning {
            egui::CursorIcon::Grabbing
        } else if model.tool == ToolKind::Select && !tool.is_busy() {
            egui::CursorIcon::Default
        } else {
            egui::CursorIcon::Crosshair
        });
    }

    fn draw(&mut self, board: &Board<'_>, model: &Model, tool: &dyn Tool) {
        let theme = board.theme;
        board.painter.rect_filled(board.rect, 0.0, theme.ground());
        let ink = if theme.dark { Ink::Dark } else { Ink::Light };
        self.painter.set_scene(&model.scene, ink);
        self.painter
            .paint_ground(board.painter, board.rect, board.camera);
        if let Some(background) = &model.background {
            background.paint(board.painter, board.rect, board.camera);
        }
        let spacing = grid_spacing(board.camera.scale);
        if model.settings.grid {
            board.grid(spacing);
        }
        self.dots.clear();
        if let Some(live) = &model.live {
            let speeds = model.settings.heat == Heat::Speed;
            self.dots
                .extend(live.snapshot.vehicles.iter().map(|v| VehicleDot {
                    body: v.body,
                    length: v.length,
                    width: v.width,
                    agent: v.agent,
                    indicator: v.indicator,
                    color: speeds.then(|| theme::heat(v.speed / 14.0, 255)),
                }));
        }
        let running = model
            .live
            .as_ref()
            .is_some_and(|live| live.snapshot.step > 0);
        let dots = running.then_some(self.dots.as_slice());
        self.painter
            .paint(board.painter, board.rect, board.camera, dots);
        if let Some(live) = &model.live {
            board.heat(live, model.settings.heat);
        }
        if model.settings.names {
            board.names(&model.scene);
            board.place_names(model.document.scenario());
        }
        if model.settings.problems {
            board.problems(&model.findings.1);
        }
        let context = context(model);
        let (low, high) = board.camera.view(board.rect);
        let seen = |object: &&ObjectId| {
            let bounds = model.scene.bounds_of(**object);
            bounds.is_none_or(|(a, b)| !(a.cmpgt(high + 50.0).any() || b.cmplt(low - 50.0).any()))
        };
        for object in model.selection.iter().filter(seen).take(MOST_OUTLINES) {
            board.marks(&outline_of(*object, &context, crate::tools::Tone::Accent));
        }
        if let Some(live) = &model.live {
            board.inspection(live);
            board.script_marks(&live.marks);
        }
        board.marks(&tool.marks(&context));
        let contours = self.painter.contour_interval();
        board.scale_bar(&note(model.settings.grid, spacing, contours));
        attribution(board, model);
        if model.document.scenario().network().road_count() == 0 && model.selection.is_empty() {
            hint(board, model, tool);
        }
    }

    /// Panning and zooming.
    fn navigate(&mut self, ui: &Ui, response: &Response, model: &mut Model) {
        let pans = response.dragged_by(PointerButton::Middle)
            || response.dragged_by(PointerButton::Secondary)
            || (self.space.is_some() && response.dragged_by(PointerButton::Primary));
        if pans && response.drag_delta() != Vec2::ZERO {
            model.camera.pan(response.drag_delta());
            model.follow = false;
            if let Some(panned) = &mut self.space {
                *panned = true;
            }
        }
        if let Some(at) = response.hover_pos() {
            let (scroll, pinch) = ui.input(|i| (i.smooth_scroll_delta().y, i.zoom_delta()));
            let factor = (f64::from(scroll) * 0.004).exp2() * f64::from(pinch);
            if (factor - 1.0).abs() > 1e-6 {
                // While a vehicle is followed the middle of the map stays on it.
                let fixed = if model.follow {
                    response.rect.center()
                } else {
                    at
                };
                model.camera.zoom(response.rect, fixed, factor);
            }
        }
    }

    /// Every pointer event in its order, not one per frame: strokes lose nothing.
    fn pointer_events(
        &mut self,
        ui: &Ui,
        response: &Response,
        model: &mut Model,
        tool: &mut dyn Tool,
        actions: &mut Vec<Action>,
    ) {
        let events = ui.input(|i| i.events.clone());
        let time = ui.input(|i| i.time);
        let on_map = response.contains_pointer();
        // Of moves without a button only the last one of the frame counts.
        let mut hover = None;
        for event in events {
            match event {
                Event::ModifiersChanged(modifiers) => self.held = held(modifiers),
                Event::PointerMoved(at) => {
                    let pointer = self.pointer(at, model);
                    let free = on_map && !self.minimap.contains(at);
                    model.pointer = free.then_some(pointer.at);
                    if self.press.is_some() {
                        self.moved(at, pointer, model, tool, actions);
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
                    let pointer = self.pointer(pos, model);
                    if let Some(hover) = hover.take() {
                        send(tool, ToolEvent::Move(hover), model, actions);
                    }
                    let free = on_map && !self.minimap.contains(pos) && self.space.is_none();
                    if pressed && free && response.rect.contains(pos) {
                        // Whatever had the keyboard gives it back to the map.
                        ui.ctx().memory_mut(|memory| {
                            if let Some(id) = memory.focused() {
                                memory.surrender_focus(id);
                            }
                        });
                        self.press = Some(Press {
                            at: pos,
                            dragging: false,
                        });
                        send(tool, ToolEvent::Press(pointer), model, actions);
                    } else if let (false, Some(press)) = (pressed, self.press.take()) {
                        self.released(press, pos, pointer, time, model, tool, actions);
                    }
                }
                Event::PointerGone => model.pointer = None,
                _ => {}
            }
        }
        if let Some(hover) = hover {
            send(tool, ToolEvent::Move(hover), model, actions);
        }
    }

    fn pointer(&self, at: Pos2, model: &Model) -> Pointer {
        Pointer {
            at: model.camera.world(self.rect, at),
            modifiers: self.held,
        }
    }

    fn moved(
        &mut self,
        at: Pos2,
        pointer: Pointer,
        model: &Model,
        tool: &mut dyn Tool,
        actions: &mut Vec<Action>,
    ) {
        if let Some(press) = &mut self.press {
            press.dragging |= (at - press.at).length() > DRAG_DISTANCE;
            if press.dragging {
                send(tool, ToolEvent::Drag(pointer), model, actions);
            }
        }
    }

    fn released(
        &mut self,
        press: Press,
        at: Pos2,
        pointer: Pointer,
        time: f64,
        model: &Model,
        tool: &mut dyn Tool,
        actions: &mut Vec<Action>,
    ) {
        if press.dragging {
            send(tool, ToolEvent::Release(pointer), model, actions);
            return;
        }
        if model.tool == ToolKind::Select
            && let Some(agent) = self.vehicle_at(pointer, model)
        {
            actions.push(Action::Watch(Some(agent)));
            let id = u32::try_from(agent).ok().map(AgentId);
            let known = id.filter(|id| model.document.scenario().agents().contains_key(id));
            let selection = known.map(ObjectId::Agent);
            actions.push(Action::Select(selection.into_iter().collect::<Objects>()));
            send(tool, ToolEvent::Escape, model, &mut Vec::new());
            return;
        }
        send(tool, ToolEvent::Click(pointer), model, actions);
        let double = self.last_click.is_some_and(|(then, there)| {
            time - then < DOUBLE_TIME && (there - at).length() < DOUBLE_DISTANCE
        });
        self.last_click = if double { None } else { Some((time, at)) };
        if double {
            send(tool, ToolEvent::DoubleClick(pointer), model, actions);
        }
    }

    /// The driving vehicle under the pointer.
    fn vehicle_at(&self, pointer: Pointer, model: &Model) -> Option<u64> {
        let live = model.live.as_ref()?;
        let reach = 7.0 * model.camera.scale;
        live.snapshot
            .vehicles
            .iter()
            .map(|v| {
                (
                    (v.body.position - pointer.at).length() - 0.4 * v.length,
                    v.agent,
                )
            })
            .filter(|(distance, _)| *distance < reach)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, agent)| agent)
    }

    /// Space: panning while it is held; a tap is for whoever plays. Says whether it was a tap.
    pub fn space(&mut self, down: bool) -> bool {
        if down {
            self.space.get_or_insert(false);
            return false;
        }
        self.space.take() == Some(false)
    }

    /// A key for the tool. Says whether the tool had use for it.
    pub fn key(
        &mut self,
        key: Key,
        model: &Model,
        tool: &mut dyn Tool,
        actions: &mut Vec<Action>,
    ) -> bool {
        let event = match key {
            Key::Enter => ToolEvent::Enter,
            Key::Escape => ToolEvent::Escape,
            Key::Backspace if tool.is_busy() => ToolEvent::Backspace,
            _ => return false,
        };
        if key == Key::Escape {
            self.press = None;
        }
        send(tool, event, model, actions);
        true
    }

    /// A typed character for the tool.
    pub fn typed(&self, c: char, model: &Model, tool: &mut dyn Tool, actions: &mut Vec<Action>) {
        send(tool, ToolEvent::Type(c), model, actions);
    }

    /// The hand lets go: another tool or another document comes.
    pub fn let_go(&mut self) {
        self.press = None;
    }
}

fn held(modifiers: egui::Modifiers) -> Modifiers {
    Modifiers {
        shift: modifiers.shift,
        ctrl: modifiers.command || modifiers.ctrl,
        alt: modifiers.alt,
    }
}

/// What tools look at.
pub fn context(model: &Model) -> ToolContext<'_> {
    ToolContext {
        scenario: model.document.scenario(),
        scene: &model.scene,
        selection: &model.selection,
        options: &model.settings.tools,
        scale: model.camera.scale,
    }
}

/// Hands an event to the tool and its effects to the actions.
fn send(tool: &mut dyn Tool, event: ToolEvent, model: &Model, actions: &mut Vec<Action>) {
    for effect in tool.event(event, &context(model)) {
        let action = match effect {
            Effect::Apply(label, edit) => Action::Apply(label, edit),
            Effect::Preview(label, edit) => {
                // Only the newest state of a gesture counts.
                if matches!(actions.last(), Some(Action::Preview(last, _)) if *last == label) {
                    actions.pop();
                }
                Action::Preview(label, edit)
            }
            Effect::Commit => Action::Commit(None),
            Effect::Abort => Action::Abort,
            Effect::Select(objects) => Action::Select(objects),
            Effect::MoveOverlay(by) => Action::MoveBackground(by),
            Effect::ScaleOverlay(by) => Action::ScaleBackground(by),
            Effect::Refuse(why) => Action::Say(Tone::Refused, why),
        };
        actions.push(action);
    }
}

/// Keeps the watched vehicle in the middle.
fn follow(model: &mut Model) {
    let (Some(agent), Some(live), true) = (model.watched, &model.live, model.follow) else {
        return;
    };
    let vehicle = live.snapshot.vehicles.iter().find(|v| v.agent == agent);
    if let Some(vehicle) = vehicle {
        model.camera.centre = vehicle.body.position;
    }
}

fn note(grid: bool, spacing: f64, contours: Option<f64>) -> String {
    let mut parts = Vec::new();
    if grid {
        parts.push(format!("grid {spacing} m"));
    }
    if let Some(interval) = contours {
        parts.push(format!("contours {interval} m"));
    }
    parts.join("   ")
}

/// Whom the data came from.
fn attribution(board: &Board<'_>, model: &Model) {
    let text = &model.document.scenario().about().attribution;
    if !text.is_empty() {
        let at = board.rect.center_bottom() + egui::vec2(0.0, -8.0);
        board.plate(at, egui::Align2::CENTER_BOTTOM, text, board.theme.ink());
    }
}

/// What to do on an empty map.
fn hint(board: &Board<'_>, model: &Model, tool: &dyn Tool) {
    let text = match model.tool {
        _ if tool.is_busy() => return,
        ToolKind::Road => "Drag across the map to draw your first road.",
        ToolKind::Select => "This world is empty. Press R and drag to draw a road.",
        _ => return,
    };
    let font = egui::FontId::proportional(20.0);
    let color = board.theme.ink().gamma_multiply(0.7);
    let at = board.rect.center() - egui::vec2(0.0, 0.15 * board.rect.height());
    board
        .painter
        .text(at, egui::Align2::CENTER_CENTER, text, font, color);
}
