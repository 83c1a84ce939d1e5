//! The welcome panel: shipped scenarios with their pictures, buttons for new, open and import, and
//! recent files.

use super::widgets::{self, counted};
use crate::autosave::Recovery;
use crate::command::Command;
use crate::command_button::command_button;
use crate::model::{Action, Dialog, Model, Next};
use crate::shipped;
use egui::{ColorImage, RichText, Role, Sense, TextureHandle, WidgetInfo, vec2};
use roadwright_agent::Registry;
use roadwright_extension::script::with_shipped;
use roadwright_geometry::DVec2;
use roadwright_render::Picture;
use roadwright_scenario::Scenario;
use roadwright_simulation::{
    Ending, RunOptions, Session, SignalHead, Snapshot, World, builtin_modules,
};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Size of a picture, points.
const PICTURE: (u32, u32) = (224, 140);

/// Width of the part beside the cards, in points.
const SIDE: f32 = 250.0;
/// Width of the frame around everything, in points.
const MARGINS: f32 = 48.0;

/// The welcome panel and its pictures.
pub(super) struct Welcome {
    pictures: Vec<Option<TextureHandle>>,
    /// Receives pictures from the thread that draws them. The thread starts when the panel is first
    /// shown.
    drawn: Option<Receiver<(usize, Option<ColorImage>)>>,
    missing: usize,
}

impl Welcome {
    /// Creates the panel; its pictures are drawn later.
    pub(super) fn new() -> Self {
        Self {
            pictures: shipped::ALL.iter().map(|_| None).collect(),
            drawn: None,
            missing: shipped::ALL.len(),
        }
    }

    /// Whether the panel has been shown and some pictures are still being drawn.
    pub(super) fn is_waiting(&self) -> bool {
        self.drawn.is_some() && self.missing > 0
    }

    fn take_pictures(&mut self, context: &egui::Context) {
        let drawn = self.drawn.get_or_insert_with(|| draw_pictures(context));
        while let Ok((index, image)) = drawn.try_recv() {
            self.missing -= 1;
            let name = format!("welcome {index}");
            self.pictures[index] =
                image.map(|image| context.load_texture(name, image, egui::TextureOptions::LINEAR));
        }
    }

    pub(super) fn ui(&mut self, context: &egui::Context, model: &Model, actions: &mut Vec<Action>) {
        self.take_pictures(context);
        let response = widgets::modal(context, "welcome").show(context, |ui| {
            let card = PICTURE.0 as f32 + 18.0;
            let room = ui.ctx().content_rect().width() - MARGINS;
            let columns = if room < 2.0 * card + SIDE { 1 } else { 2 };
            ui.set_width(columns as f32 * card + SIDE);
            ui.heading("Roadwright");
            ui.label("Draw a world, give its agents brains, press play.");
            ui.add_space(8.0);
            recoveries(ui, model, actions);
            ui.horizontal_top(|ui| {
                // Two rows are visible, and part of a third one shows that there are more.
                let height = (2.35 * card_height()).min(ui.ctx().content_rect().height() - 190.0);
                ui.vertical(|ui| {
                    let area = egui::ScrollArea::vertical().max_height(height.max(card_height()));
                    area.show(ui, |ui| self.cards(ui, columns, actions));
                });
                ui.add_space(10.0);
                ui.vertical(|ui| side(ui, model, actions));
            });
        });
        if response.should_close() {
            actions.push(Action::Show(Dialog::None));
        }
    }

    /// Shows cards of all shipped scenarios in rows of two, or in single rows if there is less room.
    fn cards(&self, ui: &mut egui::Ui, columns: usize, actions: &mut Vec<Action>) {
        for row in (0..shipped::ALL.len()).step_by(columns) {
            ui.horizontal(|ui| {
                for index in row..(row + columns).min(shipped::ALL.len()) {
                    self.card(ui, index, actions);
                }
            });
        }
    }

    fn card(&self, ui: &mut egui::Ui, index: usize, actions: &mut Vec<Action>) {
        let shipped = &shipped::ALL[index];
        let size = vec2(PICTURE.0 as f32, card_height());
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let label = format!("Open {}", shipped.name);
        response.widget_info(move || WidgetInfo::labeled(Role::Button, true, &label));
        let visuals = ui.style().interact(&response);
        ui.painter().rect(
            rect,
            6.0,
            visuals.weak_bg_fill,
            visuals.bg_stroke,
            egui::StrokeKind::Inside,
        );
        let picture = egui::Rect::from_min_size(rect.min, vec2(PICTURE.0 as f32, PICTURE.1 as f32))
            .shrink(4.0);
        if let Some(texture) = &self.pictures[index] {
            egui::Image::new(texture)
                .corner_radius(4.0)
                .paint_at(ui, picture);
        }
        let text = egui::Rect::from_min_max(
            rect.left_top() + vec2(10.0, PICTURE.1 as f32),
            rect.right_bottom() - vec2(10.0, 4.0),
        );
        let mut text = ui.new_child(
            egui::UiBuilder::new()
                .max_rect(text)
                .layout(egui::Layout::top_down(egui::Align::Min)),
        );
        text.spacing_mut().item_spacing.y = 1.0;
        text.add(
            egui::Label::new(RichText::new(shipped.name).size(14.0).strong()).selectable(false),
        );
        text.add(
            egui::Label::new(RichText::new(shipped.about).size(11.5))
                .selectable(false)
                .wrap(),
        );
        if response.clicked() {
            actions.push(Action::Leave(Next::Shipped(index)));
        }
    }
}

/// Returns the height of a card that contains a picture, a name and two lines of text.
fn card_height() -> f32 {
    PICTURE.1 as f32 + 54.0
}

/// Time that the vehicles drive before a picture is taken, and the time step, s.
const DRIVEN: (f64, f64) = (45.0, 0.1);

/// Draws the pictures of the shipped scenarios in the background.
fn draw_pictures(context: &egui::Context) -> Receiver<(usize, Option<ColorImage>)> {
    let (sender, drawn) = channel();
    let wake = context.clone();
    std::thread::spawn(move || {
        let modules = with_shipped(builtin_modules());
        for (index, shipped) in shipped::ALL.iter().enumerate() {
            // The window was closed before all pictures were drawn.
            if sender.send((index, picture(shipped, &modules))).is_err() {
                return;
            }
            wake.request_repaint();
        }
    });
    drawn
}

/// Draws a small picture of a shipped scenario: its map with traffic, without title and scale.
fn picture(shipped: &shipped::Shipped, modules: &Registry) -> Option<ColorImage> {
    let scenario = shipped.scenario();
    let driven = driven(&scenario, modules);
    // Twice the displayed size, so that it is sharp on dense screens.
    let size = (2 * PICTURE.0, 2 * PICTURE.1);
    let snapshot = driven.as_ref().map(|(snapshot, _)| snapshot);
    let picture = Picture {
        size,
        view: shipped
            .close_up
            .zip(snapshot)
            .map(|(width, now)| busiest(now, width)),
        furnished: false,
        signals: driven
            .as_ref()
            .map(|(_, signals)| signals.clone())
            .unwrap_or_default(),
        ..Picture::default()
    };
    let png = roadwright_render::map(&scenario, snapshot, &picture).ok()?;
    let rgba = image::load_from_memory(&png).ok()?.to_rgba8();
    let size = [rgba.width() as usize, rgba.height() as usize];
    Some(ColorImage::from_rgba_unmultiplied(size, rgba.as_raw()))
}

/// Returns a part of the map that is `width` metres wide. It is centred on the vehicle that has the
/// most other vehicles nearby.
fn busiest(snapshot: &Snapshot, width: f64) -> (DVec2, DVec2) {
    let half = 0.5 * DVec2::new(width, width * f64::from(PICTURE.1) / f64::from(PICTURE.0));
    let places: Vec<DVec2> = snapshot.vehicles.iter().map(|v| v.pose.position).collect();
    let near = |center: &DVec2| {
        let is_near = |place: &&DVec2| (*place - center).abs().cmple(half).all();
        places.iter().filter(is_near).count()
    };
    // Of several equally good positions, the first is used.
    let center = places.iter().rev().max_by_key(|place| near(place));
    let center = center.copied().unwrap_or_default();
    (center - half, center + half)
}

/// Runs a scenario for a while and returns its snapshot and the state of its signals; `None` if it needs
/// modules that are not built in.
fn driven(scenario: &Scenario, modules: &Registry) -> Option<(Snapshot, Vec<SignalHead>)> {
    // The time step is larger than in a normal run, because a picture only has to look plausible.
    let options = RunOptions {
        dt: Some(DRIVEN.1),
        ..RunOptions::default()
    };
    let world = World::new(scenario, modules, &options).ok()?;
    let mut session = Session::new(world);
    session.run(Ending::AtTime(DRIVEN.0), &mut [], |_| true);
    let world = session.world();
    Some((world.snapshot(), world.signals().collect()))
}

fn recoveries(ui: &mut egui::Ui, model: &Model, actions: &mut Vec<Action>) {
    if model.recoveries.is_empty() {
        return;
    }
    ui.group(|ui| {
        let color = model.theme().tone(crate::tools::Tone::Warning);
        ui.label(
            RichText::new("Roadwright did not shut down properly. Recovered edits:").color(color),
        );
        for (index, recovery) in model.recoveries.iter().enumerate() {
            ui.horizontal(|ui| {
                if ui.button(format!("Recover {}", recovery.title)).clicked() {
                    actions.push(Action::Leave(Next::Recover(index)));
                }
                let mut facts = size_and_age(recovery);
                if let Some(path) = &recovery.path {
                    facts += &format!(", {}", path.display());
                }
                ui.label(RichText::new(facts).weak().small());
            });
        }
        if ui.small_button("Discard").clicked() {
            actions.push(Action::DiscardRecoveries);
        }
    });
    ui.add_space(8.0);
}

/// Describes the contents of a recovered scenario, and the time since it was last written.
fn size_and_age(recovery: &Recovery) -> String {
    let scenario = &recovery.scenario;
    let mut text = counted(scenario.network().road_count(), "road");
    let traffic = [
        (scenario.agents().len(), "vehicle"),
        (scenario.flows().len(), "flow"),
    ];
    for (count, thing) in traffic.into_iter().filter(|(count, _)| *count > 0) {
        text += &format!(", {}", counted(count, thing));
    }
    if let Some(age) = recovery.age() {
        text += &format!(", {} ago", age_text(age));
    }
    text
}

/// Formats an age in its largest unit, rounded down.
fn age_text(age: Duration) -> String {
    let minutes = age.as_secs() / 60;
    let (number, unit) = match minutes {
        0 => return "less than a minute".into(),
        1..60 => (minutes, "minute"),
        60..1440 => (minutes / 60, "hour"),
        _ => (minutes / 1440, "day"),
    };
    counted(number as usize, unit)
}

fn side(ui: &mut egui::Ui, model: &Model, actions: &mut Vec<Action>) {
    let width = ui.available_width().max(180.0);
    for command in [Command::New, Command::Open, Command::Import] {
        let button = command_button(model, command).min_size(vec2(width, 30.0));
        if ui.add(button).on_hover_text(command.hint()).clicked() {
            actions.push(Action::Show(Dialog::None));
            actions.push(Action::Do(command));
        }
    }
    ui.add_space(8.0);
    ui.label(RichText::new("Recent files").strong());
    if model.settings.recent.is_empty() {
        ui.label(RichText::new("none yet").weak());
    }
    for path in model.settings.recent.iter().take(8) {
        let name = path
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into());
        if ui
            .link(name)
            .on_hover_text(path.display().to_string())
            .clicked()
        {
            actions.push(Action::Leave(Next::Open(path.clone())));
        }
    }
    ui.add_space(12.0);
    let mut settings = model.settings.clone();
    if ui
        .checkbox(&mut settings.welcome, "Show this at startup")
        .changed()
    {
        actions.push(Action::Settings(Box::new(settings)));
    }
    if ui.button("Close").clicked() {
        actions.push(Action::Show(Dialog::None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_their_largest_unit() {
        let told = |seconds: u64| age_text(Duration::from_secs(seconds));
        assert_eq!(told(59), "less than a minute");
        assert_eq!(told(60), "1 minute");
        assert_eq!(told(7_199), "1 hour");
        assert_eq!(told(3 * 86_400), "3 days");
    }
}
