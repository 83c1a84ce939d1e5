//! Changes of the view, of the tool, and of display settings.

use crate::background::{Background, Picked};
use crate::camera::Camera;
use crate::context::Context;
use crate::map_view::in_points;
use crate::model::{Tone, ViewAction};
use crate::panel::PanelId;
use crate::settings::TimelineView;
use crate::tools::{LAYERS, ToolKind};
use roadwright_bundle::Placement;
use roadwright_geometry::DVec2;

/// Margin around an object to which the map jumps, m. Without it, a small obstacle would fill the window.
const JUMP_MARGIN: f64 = 30.0;
/// Range of the scale of the interface. 1 is the scale of the system.
const ZOOMS: std::ops::RangeInclusive<f32> = 0.5..=3.0;
/// Range of the radius of a brush, m.
const BRUSHES: std::ops::RangeInclusive<f64> = 1.0..=500.0;
/// Range of the size of a background pixel, m.
const PIXELS: std::ops::RangeInclusive<f64> = 1e-4..=1e4;

impl Context {
    pub(crate) fn view_action(&mut self, action: ViewAction) {
        match action {
            ViewAction::Look(camera) => self.model.camera = camera,
            ViewAction::StopFollowing => self.model.follow = false,
            ViewAction::Point(point) => self.model.pointer = point,
            ViewAction::Timeline(view) => self.model.settings.timeline = view,
            ViewAction::ListProblems(place) => self.model.problems.place = place,
            ViewAction::ToggleProblems(code) => {
                let hidden = &mut self.model.problems.hidden;
                if !hidden.remove(&code) {
                    hidden.insert(code);
                }
            }
        }
    }

    /// Brings a panel to the front.
    pub(crate) fn show_panel(&mut self, panel: PanelId) {
        if panel == PanelId::Timeline {
            self.model.settings.timeline.opens = true;
        }
        self.view.panels.bring_to_front(panel);
    }

    /// Restores the default layout of the panels.
    pub(crate) fn reset_panels(&mut self) {
        let timeline = &mut self.model.settings.timeline;
        *timeline = TimelineView {
            curve: timeline.curve,
            ..TimelineView::default()
        };
        self.view.panels.reset();
    }

    /// Opens the timeline for a run, unless the user has closed it.
    pub(crate) fn open_timeline(&mut self) {
        if self.model.settings.timeline.opens {
            self.view.panels.open_timeline();
        }
    }

    pub(crate) fn jump(&mut self, low: DVec2, high: DVec2) {
        let pad = DVec2::splat(JUMP_MARGIN);
        let size = in_points(self.view.canvas.rect.size());
        // If a vehicle were still followed, the map would return to it in the next frame.
        self.model.follow = false;
        self.model.camera.frame(size, low - pad, high + pad);
    }

    pub(crate) fn frame_selection(&mut self) {
        let boxes = self.model.selection.iter();
        let corners: Vec<DVec2> = boxes
            .filter_map(|object| self.model.scene.bounds_of(*object))
            .flat_map(|(low, high)| [low, high])
            .collect();
        match roadwright_geometry::polygon::bounds(&corners) {
            Some((low, high)) => self.jump(low, high),
            None => self.frame_all(),
        }
    }

    pub(crate) fn frame_all(&mut self) {
        let mut camera = Camera::default();
        // Land counts only if there are no roads, because imported land extends far beyond its
        // roads.
        if let Some((low, high)) = self.model.document.scenario().frame() {
            camera.frame(in_points(self.view.canvas.rect.size()), low, high);
        }
        self.model.camera = camera;
    }

    /// Fits a new document into the view once the size of the map is known and the scene is ready. Doing this
    /// earlier would make the picture jump. An empty document has no picture to wait for. The view does not
    /// move while a stroke is in progress.
    pub(crate) fn frame_first(&mut self) {
        if self.view.canvas.hand.tool().is_busy() {
            self.view.needs_frame = false;
        }
        let current = self.model.scene.revision == self.model.document.revision()
            || self.model.document.scenario().is_empty();
        if self.view.needs_frame && self.view.canvas.has_rect && current {
            self.view.needs_frame = false;
            self.frame_all();
        }
    }

    /// Selects a tool or resets the current one. The stroke in progress is cancelled.
    pub(crate) fn choose(&mut self, kind: ToolKind) {
        if self.view.canvas.hand.tool().is_busy() {
            self.model.document.abort();
        }
        self.model.tool = kind;
        self.model.settings.tools.layer = None;
        self.view.canvas.hand.take(kind);
    }

    /// Selects a tool and clicks with it at a point.
    pub(crate) fn begin(&mut self, kind: ToolKind, at: DVec2) {
        self.choose(kind);
        self.view
            .canvas
            .click_at(at, &self.model, &mut self.actions);
        self.egui.request_repaint();
    }

    /// Toggles the full steering lock of manually driven vehicles.
    pub(crate) fn toggle_full_lock(&mut self) {
        let is_full = !self.model.settings.full_lock;
        self.model.settings.full_lock = is_full;
        let text = match is_full {
            true => "Full lock: the wheels turn fully at any speed.",
            false => "Steering is limited at higher speeds again.",
        };
        self.say(Tone::Done, text);
    }

    pub(crate) fn change_zoom(&mut self, factor: f32) {
        let zoom = self.model.settings.zoom * factor;
        self.model.settings.zoom = zoom.clamp(*ZOOMS.start(), *ZOOMS.end());
    }

    /// Changes the brush of the current tool, if it has one.
    pub(crate) fn change_brush(&mut self, factor: f64) {
        let tools = &mut self.model.settings.tools;
        let radius = match self.model.tool {
            ToolKind::Forest => &mut tools.forest.radius,
            ToolKind::Paint => &mut tools.paint.radius,
            ToolKind::Terrain => &mut tools.terrain.radius,
            _ => return,
        };
        *radius = (*radius * factor).clamp(*BRUSHES.start(), *BRUSHES.end());
    }

    /// Changes the layer for the current tool, starting at the pointer, if the tool draws roads.
    pub(crate) fn change_layer(&mut self, by: i8) {
        if let Some(layer) = self.view.canvas.hand.layer(&self.model) {
            let layer = layer.saturating_add(by);
            self.choose_layer(Some(layer.clamp(*LAYERS.start(), *LAYERS.end())));
        }
    }

    /// Sets the layer for the current tool, starting at the pointer; with `None`, the tool selects
    /// the layer.
    pub(crate) fn choose_layer(&mut self, layer: Option<i8>) {
        self.model.settings.tools.layer = layer;
        self.view.canvas.hand.follow_layer(&self.model);
    }

    /// Sets the background picture from a finished job, with its placement if that is known.
    pub(crate) fn take_background(&mut self, read: Result<(Picked, Option<Placement>), String>) {
        let (picked, placement) = match read {
            Ok(read) => read,
            Err(error) => return self.say(Tone::Failed, &error),
        };
        let camera = self.model.camera;
        let background = Background::new(&self.egui, picked, &camera, placement.as_ref());
        self.model.background = Some(background);
        if placement.is_none() {
            self.choose(ToolKind::Overlay);
        }
    }

    pub(crate) fn move_background(&mut self, by: DVec2) {
        if let Some(background) = &mut self.model.background {
            background.low += by;
        }
    }

    pub(crate) fn scale_background(&mut self, by: f64) {
        if let Some(background) = &mut self.model.background {
            let scale = background.metres_per_pixel * by;
            background.metres_per_pixel = scale.clamp(*PIXELS.start(), *PIXELS.end());
        }
    }

    pub(crate) fn fade_background(&mut self, opacity: f32) {
        if let Some(background) = &mut self.model.background {
            background.opacity = opacity;
        }
    }
}
