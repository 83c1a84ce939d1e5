//! Rewinding: a slider over the last minutes of the run, and the bar that appears while the past is shown.

use crate::command::Command;
use crate::live::Timeline;
use crate::model::{Action, Model};
use crate::tools::Tone;
use egui::{Role, Slider, SliderClamping, Ui, WidgetInfo};

/// Width of the slider in the bar, points.
const WIDTH: f32 = 320.0;
/// Minimum length of a run that can be rewound, s.
const LEAST: f64 = 0.1;

/// Whether the map shows the past.
pub(super) fn is_shown(model: &Model) -> bool {
    let live = model.live.as_ref();
    live.is_some_and(|live| live.timeline.at.is_some())
}

/// Formats a time as minutes and seconds.
pub(crate) fn clock(time: f64) -> String {
    format!("{:02}:{:04.1}", (time / 60.0).floor(), time % 60.0)
}

/// Shows the slider, or an explanation if the run cannot be rewound.
pub(super) fn slider(ui: &mut Ui, timeline: &Timeline, actions: &mut Vec<Action>) {
    if let Some(problem) = &timeline.problem {
        ui.label(problem);
        return;
    }
    if timeline.to - timeline.from < LEAST {
        return;
    }
    ui.horizontal(|ui| {
        let mut time = timeline.at.unwrap_or(timeline.to);
        ui.label(clock(timeline.from));
        ui.spacing_mut().slider_width = (ui.available_width() - 70.0).clamp(80.0, WIDTH);
        let range = timeline.from..=timeline.to;
        let slider = Slider::new(&mut time, range).show_value(false);
        let slider = ui.add(slider.clamping(SliderClamping::Never));
        slider.widget_info(|| WidgetInfo::labeled(Role::Slider, true, "Moment of the run"));
        let slider = slider.on_hover_text("Show an earlier moment of the run.");
        // The range grows during the run, so only dragging or pressing a key moves the slider.
        let is_held = slider.is_pointer_button_down_on() || slider.dragged() || slider.has_focus();
        if slider.changed() && is_held {
            actions.push(Action::LookBack(time));
        }
        ui.label(clock(timeline.to));
    });
}

/// Shows the bar over the map while the past is on the map.
pub(super) fn bar(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let Some((timeline, at)) = model
        .live
        .as_ref()
        .and_then(|live| Some((&live.timeline, live.timeline.at?)))
    else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        let color = model.theme().tone(Tone::Accent);
        let ago = timeline.to - at;
        ui.colored_label(color, format!("Viewing {} ({ago:.1} s ago)", clock(at)));
        slider(ui, timeline, actions);
        buttons(ui, actions);
    });
}

/// Shows the buttons that continue from the shown moment and return to the present.
pub(super) fn buttons(ui: &mut Ui, actions: &mut Vec<Action>) {
    let hint = "Continue the run from here, with the scenario as it is now. Later results are kept only \
        as the curves of the previous run.";
    if ui
        .button("Continue from here")
        .on_hover_text(hint)
        .clicked()
    {
        actions.push(Action::Do(Command::PlayPause));
    }
    if ui.button("Back to now").clicked() {
        actions.push(Action::BackToPresent);
    }
}
