//! State of widgets that is not part of the model, such as mouse input, panel docking, typed text,
//! and fading messages.

use crate::canvas::Canvas;
use crate::map::MapPainter;
use crate::messages::Messages;
use crate::panels::PanelState;
use crate::settings::Settings;
use crate::theme;

/// The state of the widgets. It may change while a frame is drawn, whereas the model is read-only
/// during that time.
pub(crate) struct ViewState {
    pub(crate) canvas: Canvas,
    pub(crate) panels: PanelState,
    /// Messages that fade after some seconds.
    pub(crate) messages: Messages,
    /// Whether to fit the whole scenario into the view as soon as the scene is ready.
    pub(crate) needs_frame: bool,
    /// Whether the applied egui style is dark; `None` before a style is applied.
    themed: Option<bool>,
}

impl ViewState {
    /// Creates the initial state of the widgets.
    pub(crate) fn new(painter: MapPainter) -> Self {
        Self {
            canvas: Canvas::new(painter),
            panels: PanelState::new(),
            messages: Messages::default(),
            needs_frame: true,
            themed: None,
        }
    }

    /// Resets state that belongs to the old document.
    pub(crate) fn forget(&mut self, tool: crate::tools::ToolKind) {
        self.canvas.forget(tool);
        self.panels.forget();
        self.needs_frame = true;
    }

    /// Applies theme and size from the settings to egui if they have changed.
    pub(crate) fn apply_theme(&mut self, context: &egui::Context, settings: &Settings) {
        if self.themed != Some(settings.dark) {
            self.themed = Some(settings.dark);
            theme::apply(context, settings.dark);
        }
        if (context.zoom_factor() - settings.zoom).abs() > 1e-3 {
            context.set_zoom_factor(settings.zoom);
        }
    }
}
