//! The map: mouse input and everything drawn on it.

use crate::afterimage::Afterimage;
use crate::camera::Camera;
use crate::drawn_route::{DrawnRoute, route_text};
use crate::hand::vehicle_at;
use crate::hand::{Hand, Reach, context};
use crate::hidden_chip::HiddenChip;
use crate::map::{CoveredVehicles, Ink, MapPainter, Moving, SkidMarks, VehicleDot};
use crate::map_view::{MapView, in_points};
use crate::marks::{Board, round_length};
use crate::minimap::Minimap;
use crate::model::{Action, Model, ViewAction};
use crate::problem_marks::ProblemMarks;
use crate::selection_bar::{SelectionBar, Surroundings};
use crate::settings::Heat;
use crate::tools::{MapPart, Mark, ToolKind, grid_spacing, outline_of};
use crate::{object_menu, vehicle_menu};
use egui::{
    Color32, Key, PointerButton, Pos2, Rect, Response, Role, Sense, Shape, Ui, Vec2, WidgetInfo,
};
use roadwright_geometry::{DVec2, Pose};
use roadwright_render::hint::{self, Hint};
use roadwright_render::signal;
use roadwright_scenario::{AgentId, BodyKind, ObjectId};
use roadwright_simulation::SignalHead;
use std::collections::BTreeMap;

/// Name of the map for screen readers and tests.
pub const LABEL: &str = "map canvas";

/// Maximum number of selected objects in view that are outlined. A larger selection gets a single frame,
/// because the outlines of a large import would cost more than the map itself.
const MOST_OUTLINES: usize = 300;
/// Margin around the view in which outlines are still drawn, m. It is needed because marks extend
/// beyond the bounds of objects.
const OUTLINE_MARGIN: f64 = 50.0;
/// Largest scale at which signal lamps are lit, in metres per pixel.
const FARTHEST_LAMP: f64 = 0.4;
/// Pick distance of a right click, points.
const MENU_REACH: f64 = 6.0;
/// Number of times that the scale doubles per point of scrolling.
const ZOOM_RATE: f64 = 0.004;

/// The view while a frame is being created. It is copied from the model, changed by the mouse, and
/// used to draw the map. Differences are then sent to the model. Although the model changes only
/// after the frame, the ground therefore stays under the pointer during a drag.
#[derive(Clone, Copy)]
struct View {
    camera: Camera,
    follows: bool,
    pointer: Option<DVec2>,
}

impl View {
    fn of(model: &Model) -> Self {
        Self {
            camera: model.camera,
            follows: model.follow,
            pointer: model.pointer,
        }
    }

    /// Stops following a vehicle. Otherwise, the map would jump back to it.
    fn leave_vehicle(&mut self) {
        self.follows = false;
    }

    /// Keeps the watched vehicle in the centre.
    fn follow(&mut self, model: &Model) {
        let (Some(agent), Some(live), true) = (model.watched, &model.live, self.follows) else {
            return;
        };
        let vehicle = live.snapshot.vehicles.iter().find(|v| v.agent == agent);
        if let Some(vehicle) = vehicle {
            self.camera.centre = vehicle.body.position;
        }
    }

    /// Sends differences from the model as actions.
    fn send(&self, model: &Model, actions: &mut Vec<Action>) {
        if self.camera != model.camera {
            actions.push(Action::View(ViewAction::Look(self.camera)));
        }
        if self.follows != model.follow {
            actions.push(Action::View(ViewAction::StopFollowing));
        }
        if self.pointer != model.pointer {
            actions.push(Action::View(ViewAction::Point(self.pointer)));
        }
    }
}

/// The map and its mouse input.
pub struct Canvas {
    /// Draws roads and traffic.
    pub painter: MapPainter,
    /// The current tool and its mouse input.
    pub(crate) hand: Hand,
    minimap: Minimap,
    hidden_chip: HiddenChip,
    problem_marks: ProblemMarks,
    selection_bar: SelectionBar,
    /// Position of the context menu in the world, m.
    menu_at: Option<DVec2>,
    /// The driving vehicle whose context menu is open.
    menu_vehicle: Option<u64>,
    /// Screen rectangle of the map in the last frame.
    pub rect: Rect,
    /// Whether the rectangle of the map is known.
    pub has_rect: bool,
    /// Whether the map was visible in the last frame.
    is_visible: bool,
    /// Buffer of vehicles, reused between frames to avoid allocation.
    dots: Vec<VehicleDot>,
    /// Vehicles below decks, by their layer.
    covered: BTreeMap<i8, CoveredVehicles>,
    /// Layer of each agent that has a vehicle below a deck.
    covered_agents: BTreeMap<u64, i8>,
    /// Buffer of hints, reused between frames to avoid allocation.
    hints: Vec<Hint>,
    /// Skid marks of the run.
    skid_marks: SkidMarks,
    /// Strokes and changes of roads that the map does not show yet.
    afterimage: Afterimage,
}

impl Canvas {
    /// Creates a map drawn by `painter`.
    pub fn new(painter: MapPainter) -> Self {
        Self {
            painter,
            hand: Hand::new(ToolKind::Select),
            minimap: Minimap::default(),
            hidden_chip: HiddenChip::default(),
            problem_marks: ProblemMarks::default(),
            selection_bar: SelectionBar::default(),
            menu_at: None,
            menu_vehicle: None,
            rect: Rect::from_min_size(Pos2::ZERO, Vec2::new(1000.0, 700.0)),
            has_rect: false,
            is_visible: false,
            dots: Vec::new(),
            covered: BTreeMap::new(),
            covered_agents: BTreeMap::new(),
            hints: Vec::new(),
            skid_marks: SkidMarks::default(),
            afterimage: Afterimage::default(),
        }
    }

    /// Forgets everything that belongs to the old document.
    pub(crate) fn forget(&mut self, tool: ToolKind) {
        self.hand.take(tool);
        self.painter.forget();
        self.afterimage.forget();
    }

    /// Returns the number of skid mark pieces.
    pub fn skid_mark_count(&self) -> usize {
        self.skid_marks.count()
    }

    /// Whether parts of the map are still being prepared.
    pub fn is_waiting(&self) -> bool {
        self.painter.is_waiting()
    }

    /// Returns the progress of drawing the map of a newly opened document, 0 to 1; `None` once it
    /// has been drawn, or if it is not drawn because another panel hides the map.
    pub(crate) fn progress(&self) -> Option<f32> {
        self.painter.progress().filter(|_| self.is_visible)
    }

    /// Records the beginning of a frame. The map may be hidden in this frame.
    pub(crate) fn begin_frame(&mut self) {
        self.is_visible = false;
    }

    /// Shows the map and handles its input.
    pub fn ui(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        let size = ui.available_size();
        let (response, painter) = ui.allocate_painter(size, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, LABEL));
        self.rect = response.rect;
        (self.has_rect, self.is_visible) = (true, true);
        let mut view = View::of(model);
        self.navigate(ui, &response, &mut view);
        self.use_hand(ui, &response, model, &mut view, actions);
        // After the mouse input, which refers to the picture of the previous frame.
        view.follow(model);
        let board = Board {
            painter: &painter.with_clip_rect(response.rect),
            rect: response.rect,
            camera: &view.camera,
            theme: model.theme(),
        };
        let handles = self.draw(&board, model);
        let around = Surroundings {
            handles: &handles,
            // Their positions in the last frame.
            taken: &[self.minimap.place(), self.hidden_chip.place()]
                .map(|place| place.unwrap_or(Rect::NOTHING)),
            is_dragging: self.hand.tool().is_busy(),
        };
        self.selection_bar.ui(ui, &board, model, &around, actions);
        if model.settings.minimap {
            let wanted = self.minimap.ui(ui, response.rect, model, &view.camera);
            if let Some(centre) = wanted {
                view.leave_vehicle();
                view.camera.centre = centre;
            }
        } else {
            self.minimap.hide();
        }
        self.hidden_chip.ui(ui, response.rect, model, actions);
        self.cursor(ui, &response, model);
        if model.tool == ToolKind::Select && !self.hand.tool().is_busy() {
            self.problem_marks.ui(ui, self.rect, &model.camera, actions);
        } else {
            self.problem_marks.release();
        }
        self.menu(&response, model, &view, actions);
        view.send(model, actions);
    }

    fn cursor(&self, ui: &Ui, response: &Response, model: &Model) {
        if !response.hovered() {
            return;
        }
        let panning = response.dragged_by(PointerButton::Middle)
            || response.dragged_by(PointerButton::Secondary)
            || self.hand.holds_space();
        ui.ctx().set_cursor_icon(if panning {
            egui::CursorIcon::Grabbing
        } else if model.tool == ToolKind::Select && !self.hand.tool().is_busy() {
            egui::CursorIcon::Default
        } else {
            egui::CursorIcon::Crosshair
        });
    }

    /// Pans and zooms the view.
    fn navigate(&mut self, ui: &Ui, response: &Response, view: &mut View) {
        let pans = response.dragged_by(PointerButton::Middle)
            || response.dragged_by(PointerButton::Secondary)
            || (self.hand.holds_space() && response.dragged_by(PointerButton::Primary));
        if pans && response.drag_delta() != Vec2::ZERO {
            view.camera.pan(in_points(response.drag_delta()));
            view.leave_vehicle();
            self.hand.note_panning();
        }
        let Some(at) = response.hover_pos() else {
            return;
        };
        let (scroll, pinch) = ui.input(|i| (i.smooth_scroll_delta().y, i.zoom_delta()));
        // Uses powers of two, so that scrolling back restores the same scale.
        let factor = (f64::from(scroll) * ZOOM_RATE).exp2() * f64::from(pinch);
        if (factor - 1.0).abs() > 1e-6 {
            // While a vehicle is followed, it stays at the centre of the map.
            let fixed = if view.follows {
                response.rect.center()
            } else {
                at
            };
            view.camera.zoom(response.rect, fixed, factor);
        }
    }

    /// Passes pointer events to the tool. This happens after panning and zooming, so that the tool
    /// receives world points of the picture that is drawn in this frame.
    fn use_hand(
        &mut self,
        ui: &Ui,
        response: &Response,
        model: &Model,
        view: &mut View,
        actions: &mut Vec<Action>,
    ) {
        let on_map = response.contains_pointer();
        let (minimap, chip, problems) = (&self.minimap, &self.hidden_chip, &self.problem_marks);
        let bar = &self.selection_bar;
        let mut reach = Reach {
            model,
            camera: view.camera,
            rect: self.rect,
            actions,
        };
        let is_free = |at: Pos2| {
            let is_taken = minimap.contains(at) || chip.contains(at) || bar.contains(at);
            on_map && !is_taken && !problems.contains(at)
        };
        if let Some(pointer) = self.hand.pointer_events(ui, &mut reach, is_free) {
            view.pointer = pointer;
        }
    }

    /// Passes a key to the tool. Returns whether the tool used it.
    pub(crate) fn key(&mut self, key: Key, model: &Model, actions: &mut Vec<Action>) -> bool {
        let mut reach = Reach {
            model,
            camera: model.camera,
            rect: self.rect,
            actions,
        };
        self.hand.key(key, &mut reach)
    }

    /// Clicks with the current tool at a world point, m.
    pub(crate) fn click_at(&mut self, at: DVec2, model: &Model, actions: &mut Vec<Action>) {
        let mut reach = Reach {
            model,
            camera: model.camera,
            rect: self.rect,
            actions,
        };
        self.hand.click_at(at, &mut reach);
    }

    /// Shows the context menu after a right click. An existing selection is kept if the clicked object
    /// belongs to it.
    fn menu(&mut self, response: &Response, model: &Model, view: &View, actions: &mut Vec<Action>) {
        if response.secondary_clicked()
            && let Some(pointer) = response.interact_pointer_pos()
        {
            let at = view.camera.world(response.rect, pointer);
            self.menu_at = Some(at);
            self.menu_vehicle = vehicle_at(at, model, &view.camera);
            let context = context(model, &view.camera);
            let found = context.pick(at, MENU_REACH * view.camera.scale);
            let is_part = |object: &ObjectId| model.selection.contains(object);
            // The menu applies to the topmost object, or to the whole selection if that includes the object.
            // A single selected object is also selected again, because another object may lie over it here.
            if model.selection.len() < 2 || !found.iter().any(is_part) {
                let top = found.first().map(|object| context.whole(*object));
                actions.push(Action::Select(top.unwrap_or_default()));
            }
        }
        let (at, vehicle) = (self.menu_at, self.menu_vehicle);
        response.context_menu(|ui| {
            if let Some(agent) = vehicle {
                vehicle_menu::ui(ui, model, agent, actions);
            }
            object_menu::ui(ui, model, at, actions);
        });
    }

    /// Passes a typed character to the tool.
    pub(crate) fn typed(&mut self, c: char, model: &Model, actions: &mut Vec<Action>) {
        let mut reach = Reach {
            model,
            camera: model.camera,
            rect: self.rect,
            actions,
        };
        self.hand.typed(c, &mut reach);
    }

    /// Draws everything on the map, bottom layer first. Returns the places of the tool's handles on the screen.
    fn draw(&mut self, board: &Board<'_>, model: &Model) -> Vec<Pos2> {
        let spacing = grid_spacing(board.camera.scale);
        self.ground(board, model, spacing);
        let over_names = self.roads(board, model);
        self.not_drawn_yet(board, model);
        self.names(board, model);
        board.painter.extend(over_names);
        over_traffic(board, model);
        self.problem_marks.draw(board, model);
        if let Some(paths) = &model.experiment.paths {
            board.drive_paths(paths);
        }
        let handles = self.marks(board, model);
        if let Some((kind, top)) = self.painter.heat() {
            board.heat_legend(&kind.legend(top));
        }
        let contours = self.painter.contour_interval();
        board.scale_bar(&note(model.settings.grid, spacing, contours));
        attribution(board, model);
        let is_empty = model.document.scenario().is_empty();
        if let Some(progress) = self.painter.progress().filter(|_| !is_empty) {
            board.drawing(progress);
        }
        // Many courses have no roads and are not meant for drawing.
        let is_own = model.experiment.shown.is_none();
        // While a file is read, no hint is needed for the document that it will replace.
        let is_at_rest = model.selection.is_empty() && model.job.is_none();
        if is_empty && is_own && is_at_rest {
            self.hint(board, model);
        }
        handles
    }

    fn ground(&mut self, board: &Board<'_>, model: &Model, spacing: f64) {
        let theme = board.theme;
        board.painter.rect_filled(board.rect, 0.0, theme.ground());
        let ink = if theme.dark { Ink::Dark } else { Ink::Light };
        // A document that was just opened has no scene yet, only an empty one of revision 0.
        if model.scene.revision > 0 {
            self.painter.set_scene(&model.scene, ink);
        }
        self.painter.set_hidden(&model.settings.tools.hidden);
        let pushed = model.live.as_ref().map(|live| &live.snapshot.loose);
        self.painter.set_pushed(pushed.map_or(&[], Vec::as_slice));
        self.painter
            .paint_ground(board.painter, board.rect, board.camera);
        if let Some(background) = &model.background {
            background.paint(board.painter, board.rect, board.camera);
        }
        if model.settings.grid {
            board.grid(spacing, grid_strength(model));
        }
        let view = model.settings.open_ground;
        if view.painted || model.tool == ToolKind::Paint {
            board.painted_ground(model.document.scenario());
        }
        let live = model.live.as_ref();
        if let Some(seen) = live.and_then(|live| live.planning.as_ref()) {
            board.planning_ground(view, seen);
        }
    }

    /// Draws roads and the heat map. Returns the shapes of the traffic, which is drawn above names.
    fn roads(&mut self, board: &Board<'_>, model: &Model) -> Vec<Shape> {
        let grey = (model.settings.heat != Heat::None).then(|| board.theme.heat_vehicle());
        self.find_covered(model);
        self.place_dots(model, grey);
        self.follow_vehicles(model, grey, board.camera.scale);
        // Before the first step, vehicles are drawn at their starts in the scenario.
        let running = model
            .live
            .as_ref()
            .is_some_and(|live| live.snapshot.step > 0);
        let dots = running.then_some(self.dots.as_slice());
        let snapshot = model.live.as_ref().map(|live| &live.snapshot);
        let people = snapshot.map(|snapshot| snapshot.people.as_slice());
        let people_figures = snapshot.map(|snapshot| snapshot.people_figures.as_slice());
        let heat = model.live.as_ref().map(|live| &live.heat);
        let heat = heat.zip(Some(model.settings.heat).filter(|heat| *heat != Heat::None));
        self.painter.set_heat(heat, board.camera.scale);
        let moving = dots.map(|dots| Moving {
            vehicles: dots,
            people: people.unwrap_or_default(),
            people_figures: people_figures.unwrap_or_default(),
            hints: &self.hints,
            skid_marks: Some(&self.skid_marks),
            covered: Some(&self.covered),
        });
        let context = board.painter.ctx();
        let (document, scale) = (&model.document, board.camera.scale);
        self.painter
            .show_edits(document.scenario(), document.revision(), scale);
        let shapes = self
            .painter
            .shapes(context, board.rect, board.camera, moving);
        let [below, above] = shapes;
        board.painter.extend(below);
        above
    }

    /// Draws new strokes and covers deleted roads until the map shows the change.
    fn not_drawn_yet(&mut self, board: &Board<'_>, model: &Model) {
        let context = context(model, board.camera);
        let tool = self.hand.tool();
        let draws = matches!(
            model.tool,
            ToolKind::Road | ToolKind::Roundabout | ToolKind::Obstacle | ToolKind::Land
        );
        let stroke = (draws && tool.is_busy()).then(|| tool.marks(&context));
        let drawn = self.painter.drawn_scene();
        self.afterimage.follow(model, stroke.as_deref(), drawn);
        for outline in self.afterimage.deleted() {
            board.area(outline, board.theme.ground());
        }
        for area in self.afterimage.areas() {
            board.marks(std::slice::from_ref(area));
        }
    }

    /// Draws the names of streets, areas and places.
    fn names(&self, board: &Board<'_>, model: &Model) {
        if !model.settings.names {
            return;
        }
        let options = &model.settings.tools;
        if let Some(relief) = self.painter.relief() {
            board.heights(relief, &model.scene);
        }
        if !options.hides(MapPart::Land) {
            board.land_names(&model.scene);
        }
        let is_pale = self.painter.heat().is_some();
        board.street_names(&model.scene, options, is_pale, &self.dots);
        if !options.hides(MapPart::Places) {
            board.place_names(model.document.scenario());
        }
    }

    /// Finds the vehicles below decks.
    fn find_covered(&mut self, model: &Model) {
        self.covered.clear();
        self.covered_agents.clear();
        let bridges = &model.scene.bridges;
        let Some(live) = model.live.as_ref().filter(|_| shows_vehicles(model)) else {
            return;
        };
        for vehicle in &live.snapshot.vehicles {
            if let Some(layer) = bridges.layer_if_covered(vehicle, &model.scene.scenario) {
                self.covered_agents.insert(vehicle.agent, layer);
            }
        }
    }

    /// Returns the covered vehicles of the layer on which an agent drives; `None` if the agent has
    /// no vehicle below a deck.
    fn covered_list(&mut self, agent: u64) -> Option<&mut CoveredVehicles> {
        let layer = self.covered_agents.get(&agent)?;
        Some(self.covered.entry(*layer).or_default())
    }

    /// Collects the vehicles and trailers of this frame.
    fn place_dots(&mut self, model: &Model, color: Option<Color32>) {
        self.dots.clear();
        let Some(live) = model.live.as_ref().filter(|_| shows_vehicles(model)) else {
            return;
        };
        let dot = |v: &roadwright_simulation::VehicleRecord| VehicleDot {
            body: match v.body_kind {
                BodyKind::Vehicle => v.body,
                BodyKind::Character => Pose {
                    heading: hint::shoulder_heading(v, &live.snapshot),
                    ..v.body
                },
            },
            length: v.length,
            width: v.width,
            agent: v.agent,
            indicator: v.indicator,
            brakes: v.brakes,
            color,
            is_trailer: false,
            has_tracks: v.has_tracks,
            body_kind: v.body_kind,
        };
        let towed = |t: &roadwright_simulation::TrailerRecord| VehicleDot {
            body: t.body,
            length: t.length,
            width: t.width,
            agent: t.agent,
            indicator: roadwright_agent::Indicator::Off,
            brakes: false,
            color,
            is_trailer: true,
            has_tracks: false,
            body_kind: BodyKind::Vehicle,
        };
        // Trailers first, so that a vehicle lies over its trailers.
        let trailers = live.snapshot.all_trailers().map(towed);
        for one in trailers.chain(live.snapshot.vehicles.iter().map(dot)) {
            match self.covered_list(one.agent) {
                Some(list) => list.vehicles.push(one),
                None => self.dots.push(one),
            }
        }
    }

    /// Updates the hints about the state of vehicles, and the skid marks.
    fn follow_vehicles(&mut self, model: &Model, grey: Option<Color32>, scale: f64) {
        self.hints.clear();
        let snapshot = model.live.as_ref().map(|live| &live.snapshot);
        match snapshot {
            Some(snapshot) if model.settings.skid_marks => self.skid_marks.follow(snapshot),
            _ => self.skid_marks.clear(),
        }
        let Some(snapshot) = snapshot.filter(|_| shows_vehicles(model)) else {
            return;
        };
        let feet = snapshot.people_figures.iter();
        (self.hints).extend(feet.flat_map(|figure| hint::feet_of(figure, scale)));
        for vehicle in &snapshot.vehicles {
            let roof = hint::roof(vehicle, scale).map(|roof| Hint {
                color: grey.map_or(roof.color, color_of),
                ..roof
            });
            let hints = hint::wheels(vehicle, snapshot, scale).chain(roof);
            match self.covered_list(vehicle.agent) {
                Some(list) => list.hints.extend(hints),
                None => self.hints.extend(hints),
            }
            // Signs are drawn on top of everything, because these vehicles need attention.
            self.hints.extend(hint::sign(vehicle, scale));
        }
    }

    /// Draws the outlines of watched and selected vehicles that are below decks.
    fn mark_covered(&self, board: &Board<'_>, model: &Model) {
        let is_meant = |agent: u64| {
            let id = u32::try_from(agent).map(AgentId).ok();
            let is_selected = id.is_some_and(|id| model.selection.contains(&ObjectId::Agent(id)));
            is_selected || model.watched == Some(agent)
        };
        let covered = self.covered.values().flat_map(|layer| &layer.vehicles);
        for vehicle in covered.filter(|vehicle| is_meant(vehicle.agent)) {
            let (front, side) = (0.5 * vehicle.length, 0.5 * vehicle.width);
            let corners = [
                (front, side),
                (front, -side),
                (-front, -side),
                (-front, side),
                (front, side),
            ];
            let outline = corners.map(|(ahead, left)| vehicle.body.point(ahead, left));
            board.marks(&[Mark::line(outline.to_vec(), crate::tools::Tone::Accent)]);
        }
    }

    /// Draws the outlines of the selection, marks of modules, and on top the marks of the tool. Returns the places
    /// of the tool's handles on the screen.
    fn marks(&self, board: &Board<'_>, model: &Model) -> Vec<Pos2> {
        let context = context(model, board.camera);
        let (low, high) = board.camera.view(board.rect);
        let (low, high) = (low - OUTLINE_MARGIN, high + OUTLINE_MARGIN);
        let seen = |object: &&ObjectId| {
            let bounds = model.scene.bounds_of(**object);
            // Two boxes overlap unless one lies entirely beyond the other in some direction.
            bounds.is_none_or(|(a, b)| !(a.cmpgt(high).any() || b.cmplt(low).any()))
        };
        let chosen = model.selection.iter().filter(seen).take(MOST_OUTLINES + 1);
        let chosen: Vec<ObjectId> = chosen.copied().collect();
        if chosen.len() > MOST_OUTLINES {
            // If only some objects were outlined, the others would seem not to be selected.
            let bounds = model.selection.iter();
            let bounds = bounds.filter_map(|object| model.scene.bounds_of(*object));
            if let Some((low, high)) = bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) {
                board.selection_frame(low, high, model.selection.len());
            }
        } else {
            for object in chosen {
                board.marks(&outline_of(object, &context, crate::tools::Tone::Accent));
            }
        }
        board.coordinator(model);
        for route in model.shown_routes() {
            board.route(&route.points);
        }
        let bench = &model.moves;
        let hovered = bench.hovered.and_then(|number| bench.clips.get(number));
        if let Some((clip, source)) = hovered.zip(bench.source.as_ref()) {
            board.clip_ghost(clip, source);
        }
        if let Some(live) = &model.live {
            if let Some(race) = &model.race {
                board.race(race, live);
            }
            board.inspection(live);
            self.mark_covered(board, model);
            board.moves(live, bench.view);
            board.script_marks(&live.marks);
            if model.settings.open_ground.plan {
                board.path_signs(&live.without_path);
                board.disagreement(live);
                board.planned_poses(live, model.pointer);
            }
        }
        let drawn = model.drawn_route.as_ref();
        let trip = drawn.and_then(|_| self.hand.tool().trip(&context));
        if let Some(DrawnRoute {
            route: Ok(route), ..
        }) = drawn.filter(|_| trip.is_some())
        {
            board.route(&route.points);
        }
        // Drawn last, because the stroke covers everything else.
        let marks = self.hand.tool().marks(&context);
        board.marks(&marks);
        if let (Some(drawn), Some(trip)) = (drawn, trip) {
            // Below the pointer; the label of the tool is above it.
            let at = board.at(trip.pointer) + egui::vec2(14.0, 10.0);
            let tone = match drawn.route {
                Ok(_) => crate::tools::Tone::Guide,
                Err(_) => crate::tools::Tone::Danger,
            };
            let text = route_text(&drawn.route);
            board.plate(at, egui::Align2::LEFT_TOP, &text, board.theme.tone(tone));
        }
        let handle = |mark: &Mark| match mark {
            Mark::Handle { at, .. } => Some(board.at(*at)),
            _ => None,
        };
        marks.iter().filter_map(handle).collect()
    }

    /// Draws the hint on an empty map.
    fn hint(&self, board: &Board<'_>, model: &Model) {
        let text = match model.tool {
            _ if self.hand.tool().is_busy() || model.workshop.track.is_some() => return,
            ToolKind::Road => "Drag across the map to draw your first road.",
            ToolKind::Select => "This scenario is empty. Press R and drag to draw a road.",
            _ => return,
        };
        let font = egui::FontId::proportional(20.0);
        let color = board.theme.ink().gamma_multiply(0.7);
        // Above the centre, where the first stroke is likely to be drawn.
        let at = board.rect.center() - egui::vec2(0.0, 0.15 * board.rect.height());
        board
            .painter
            .text(at, egui::Align2::CENTER_CENTER, text, font, color);
    }
}

fn shows_vehicles(model: &Model) -> bool {
    !model.settings.tools.hides(MapPart::Vehicles)
}

/// Draws the state of signals and, if they are shown, the rigid bodies of the solver.
fn over_traffic(board: &Board<'_>, model: &Model) {
    let Some(live) = &model.live else {
        return;
    };
    signals(board, model, &live.signals);
    if model.settings.rigid_bodies {
        let ground = live.ground.as_deref();
        board.bodies(model.document.scenario(), ground, &live.snapshot);
    }
}

/// Draws the state of signals, and their lamps at a close zoom.
fn signals(board: &Board<'_>, model: &Model, heads: &[SignalHead]) {
    let scenario = model.document.scenario();
    let is_shown = |head: &&SignalHead| {
        let road = scenario.network().road(head.road);
        let layer = road.map_or(0, |road| road.layer);
        !model.settings.tools.hides_layer(layer)
    };
    let heads: Vec<SignalHead> = heads.iter().filter(is_shown).copied().collect();
    board.signals(&heads);
    if board.camera.scale < FARTHEST_LAMP {
        let (low, high) = board.camera.view(board.rect);
        let is_seen = |head: &&SignalHead| {
            let at = head.stop_line.position;
            at.cmpge(low - OUTLINE_MARGIN).all() && at.cmple(high + OUTLINE_MARGIN).all()
        };
        let seen: Vec<SignalHead> = heads.iter().filter(is_seen).copied().collect();
        board.lamps(&signal::lit(scenario, &model.scene.layout, &seen));
    }
}

fn color_of(color: Color32) -> roadwright_render::Color {
    roadwright_render::Color::from_rgba8(color.r(), color.g(), color.b(), 255)
}

/// Returns the opacity of the grid: high while the user draws, otherwise low.
fn grid_strength(model: &Model) -> f32 {
    let is_empty = model.scene.scenario.network().road_count() == 0;
    if model.tool == ToolKind::Select && !is_empty {
        0.3
    } else {
        1.0
    }
}

fn note(grid: bool, spacing: f64, contours: Option<f64>) -> String {
    let mut parts = Vec::new();
    if grid {
        parts.push(format!("grid {}", round_length(spacing)));
    }
    if let Some(interval) = contours {
        parts.push(format!("contours {interval} m"));
    }
    parts.join("   ")
}

/// Draws the attribution of the data. Licences such as that of OpenStreetMap require it on every
/// picture.
fn attribution(board: &Board<'_>, model: &Model) {
    let text = &model.document.scenario().about().attribution;
    if !text.is_empty() {
        let at = board.rect.center_bottom() + egui::vec2(0.0, -8.0);
        board.plate(at, egui::Align2::CENTER_BOTTOM, text, board.theme.ink());
    }
}
