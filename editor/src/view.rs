//! State of widgets that is not part of the model, such as mouse input, docking of panels, typed text, and
//! messages that fade.

use crate::canvas::Canvas;
use crate::map::MapPainter;
use crate::model::Tone;
use crate::panels::PanelState;
use crate::settings::Settings;
use crate::theme;
use egui_notify::Toasts;
use std::time::{Duration, Instant};

/// Display time of a success message, s. Such a message can be read at a glance.
const SECONDS_DONE: u64 = 3;
/// Display time of the reason for a refusal, s. A reason takes longer to read than a success message.
const SECONDS_REFUSED: u64 = 8;
/// Maximum number of messages at a time.
const MOST_MESSAGES: usize = 3;

/// The state of the widgets. It may change while a frame is drawn, whereas the model is read-only
/// during that time.
pub(crate) struct ViewState {
    pub(crate) canvas: Canvas,
    pub(crate) panels: PanelState,
    toasts: Toasts,
    /// The newest message, how often it was repeated, and when it fades.
    newest: Option<(String, u32, Instant)>,
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
            // Placed beside the tool bar and above the status line.
            toasts: Toasts::default()
                .with_anchor(egui_notify::Anchor::BottomLeft)
                .with_margin(egui::vec2(78.0, 80.0)),
            newest: None,
            needs_frame: true,
            themed: None,
        }
    }

    /// Resets state that belongs to the old document.
    pub(crate) fn forget(&mut self, tool: crate::tools::ToolKind) {
        self.canvas.hand.take(tool);
        self.panels.forget();
        self.needs_frame = true;
    }

    /// Shows a message. A repeated message gets a counter instead of being shown twice. If there
    /// are too many messages, the oldest is removed, so that messages never cover the map.
    #[expect(
        clippy::disallowed_methods,
        reason = "messages fade out by the wall clock"
    )]
    pub(crate) fn say(&mut self, tone: Tone, text: &str) {
        let seconds = match tone {
            Tone::Done => SECONDS_DONE,
            Tone::Refused | Tone::Failed => SECONDS_REFUSED,
        };
        let (now, shown) = (Instant::now(), Duration::from_secs(seconds));
        let times = match self.newest.take() {
            Some((newest, times, fades)) if newest == text && now < fades => {
                self.toasts.dismiss_latest_toast();
                times + 1
            }
            _ => 1,
        };
        if self.toasts.len() >= MOST_MESSAGES {
            self.toasts.dismiss_oldest_toast();
        }
        let caption = if times > 1 {
            format!("{text} ({times} times)")
        } else {
            text.to_owned()
        };
        let toast = match tone {
            Tone::Done => self.toasts.success(caption),
            Tone::Refused => self.toasts.warning(caption),
            Tone::Failed => self.toasts.error(caption),
        };
        toast.duration(shown);
        self.newest = Some((text.to_owned(), times, now + shown));
    }

    /// Shows the messages that have not faded.
    pub(crate) fn show_messages(&mut self, context: &egui::Context) {
        self.toasts.show(context);
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
