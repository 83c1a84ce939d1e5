//! The dashboard of the manually driven vehicle.

use crate::command::Command;
use crate::model::{Action, Dialog, Model, Purpose};
use crate::theme::Theme;
use crate::tools::Tone;
use egui::{
    Align2, Color32, FontId, Painter, Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, vec2,
};
use roadwright_simulation::{HandControls, Inspection, VehicleRecord, WheelRecord, agent_name};
use std::f32::consts::{FRAC_PI_2, PI};

/// Width and height of a dial, points.
const DIAL: f32 = 84.0;
/// Start angle of dials (lower left), measured clockwise, rad.
const FIRST: f32 = 0.75 * PI;
/// Angle that the scale of a dial spans, rad.
const ROUND: f32 = 1.5 * PI;
/// Top of the speedometer's scale in town, km/h.
const TOWN: f64 = 120.0;
/// Top of the speedometer's scale outside towns, km/h.
const FAST: f64 = 280.0;
/// Ratio of the steering wheel's angle to the angle of the front wheels.
const WHEEL_RATIO: f32 = 6.0;

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let Some((agent, controls)) = model.driving else {
        return;
    };
    let live = model.live.as_ref();
    let vehicles = live.map(|live| &live.snapshot.vehicles[..]);
    let mut vehicles = vehicles.unwrap_or_default().iter();
    let vehicle = vehicles.find(|vehicle| vehicle.agent == agent);
    let seen = live.and_then(|live| live.inspection.as_ref());
    let seen = seen.filter(|seen| seen.agent == agent);
    ui.horizontal(|ui| {
        if let Some(vehicle) = vehicle {
            dashboard(ui, model.theme(), vehicle, seen, controls);
        }
        ui.vertical(|ui| {
            ui.label(format!("You are driving {}.", agent_name(agent)));
            ui.label("W A S D or arrow keys; Esc returns control.");
            gamepad(ui, model);
            ui.horizontal_wrapped(|ui| buttons(ui, model, actions));
        });
    });
}

/// Shows the active gamepad, or the reason why none can be used.
fn gamepad(ui: &mut Ui, model: &Model) {
    if let Some(name) = &model.pad.name {
        ui.label(format!(
            "{name}: left stick and triggers; B or circle returns control."
        ));
    } else if let Some(problem) = &model.pad.problem {
        ui.weak(problem);
    }
}

fn buttons(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let command = Command::FullLock;
    let mut is_full = model.settings.full_lock;
    let text = format!(
        "{} ({})",
        command.title(),
        model.settings.keys.label(command)
    );
    let full_lock = ui.checkbox(&mut is_full, text);
    if full_lock.on_hover_text(command.hint()).changed() {
        actions.push(Action::Do(command));
    }
    if ui.button("Return control").clicked() {
        actions.push(Action::Drive(None));
    }
    let has_driven = model
        .live
        .as_ref()
        .is_some_and(|live| !live.drive.is_empty());
    let keep = ui.add_enabled(has_driven, egui::Button::new("Save the drive…"));
    let hint = "Write the vehicle's motion and controls ten times a second, like run --trace.";
    if keep.on_hover_text(hint).clicked() {
        actions.push(keep_drive(model));
    }
}

/// Returns the action that asks where to save the recorded drive.
pub(super) fn keep_drive(model: &Model) -> Action {
    Action::Show(Dialog::Path {
        purpose: Purpose::Drive,
        text: format!("{}-drive.csv", model.document.title()),
        then: None,
    })
}

fn dashboard(
    ui: &mut Ui,
    theme: Theme,
    vehicle: &VehicleRecord,
    seen: Option<&Inspection>,
    controls: HandControls,
) {
    let speed = 3.6 * vehicle.speed.abs();
    // The scale changes slightly before the dial is full.
    let top = if speed > 0.95 * TOWN { FAST } else { TOWN };
    dial(
        ui,
        theme,
        "Speed",
        &format!("{speed:.0}"),
        "km/h",
        speed / top,
    );
    let mechanics = seen.and_then(|seen| seen.mechanics.as_ref());
    let drive = mechanics.and_then(|mechanics| mechanics.drive);
    if let Some(drive) = drive {
        let share = drive.rpm / drive.limit_rpm;
        let gear = match drive.gear {
            -1 => "R".to_owned(),
            number => number.to_string(),
        };
        let (rpm, unit) = (format!("{:.0}", drive.rpm), format!("rpm   {gear}"));
        dial(ui, theme, "Engine", &rpm, &unit, share);
    }
    // The accelerator acts as a brake while the vehicle rolls in the opposite direction.
    let is_braking = controls.pedals * vehicle.speed < 0.0 && vehicle.speed.abs() > 0.1;
    let pressed = controls.pedals.abs();
    let (throttle, brake) = match drive {
        Some(drive) => (drive.throttle, drive.brake),
        None if is_braking => (0.0, pressed),
        None => (pressed, 0.0),
    };
    bar(ui, theme.good(), "Throttle", throttle);
    bar(ui, theme.tone(Tone::Danger), "Brake", brake);
    wheel(ui, theme, vehicle.steering);
    if let Some(mechanics) = mechanics.filter(|mechanics| !mechanics.wheels.is_empty()) {
        wheel_loads(ui, theme, &mechanics.wheels);
    }
}

/// Shows the load of each wheel, in red if it slips. There is one row for each pair of wheels, front first.
fn wheel_loads(ui: &mut Ui, theme: Theme, wheels: &[WheelRecord]) {
    let said = wheels.iter().map(|wheel| {
        let (load, slip) = (1e-3 * wheel.load, 100.0 * wheel.slip_ratio);
        format!(
            "{load:.1} kN, slip {slip:.0} %, {:.0}°",
            wheel.slip_angle.to_degrees()
        )
    });
    let said = format!("Wheels: {}", said.collect::<Vec<_>>().join("; "));
    let (response, painter) = ui.allocate_painter(vec2(DIAL, DIAL), Sense::hover());
    let label = said.clone();
    response.widget_info(move || WidgetInfo::labeled(Role::Label, true, &label));
    let rect = response.rect;
    response.on_hover_text(said.replace("; ", "\n"));
    // Bars are shares of the most loaded wheel, or of 1 N for a vehicle in the air.
    let most = wheels.iter().map(|wheel| wheel.load).fold(1.0, f64::max);
    let rows = wheels.len().div_ceil(2);
    let height = (rect.height() - 20.0) / rows as f32;
    for (number, wheel) in wheels.iter().enumerate() {
        let (row, column) = (number / 2, number % 2);
        let tone = if wheel.slides() {
            Tone::Danger
        } else {
            Tone::Accent
        };
        let at = rect.min + vec2(column as f32 * 0.5 * DIAL, row as f32 * height);
        let whole = Rect::from_min_size(at, vec2(0.5 * DIAL - 4.0, height - 4.0));
        painter.rect_filled(whole, 3.0, ui.visuals().faint_bg_color);
        let mut filled = whole;
        filled.min.y = whole.max.y - whole.height() * (wheel.load / most).clamp(0.0, 1.0) as f32;
        painter.rect_filled(filled, 3.0, theme.tone(tone));
        let load = format!("{:.1}", 1e-3 * wheel.load);
        painter.text(
            whole.center(),
            Align2::CENTER_CENTER,
            load,
            FontId::proportional(11.0),
            ui.visuals().strong_text_color(),
        );
    }
    painter.text(
        rect.center_bottom() - vec2(0.0, 2.0),
        Align2::CENTER_BOTTOM,
        "Wheels, kN",
        FontId::proportional(11.0),
        theme.quiet(),
    );
}

/// Allocates space for a picture, with a name and value for screen readers.
fn room(ui: &mut Ui, width: f32, said: String) -> (Rect, Painter) {
    let (response, painter) = ui.allocate_painter(vec2(width, DIAL), Sense::hover());
    response.widget_info(move || WidgetInfo::labeled(Role::Label, true, &said));
    (response.rect, painter)
}

fn on_circle(middle: Pos2, radius: f32, angle: f32) -> Pos2 {
    middle + radius * vec2(angle.cos(), angle.sin())
}

fn arc(painter: &Painter, middle: Pos2, radius: f32, round: f32, stroke: Stroke) {
    // Straight pieces of at most 8.4 degrees, which look round at this size.
    let points = (0..=32).map(|i| on_circle(middle, radius, FIRST + round * i as f32 / 32.0));
    painter.add(egui::Shape::line(points.collect(), stroke));
}

fn dial(ui: &mut Ui, theme: Theme, name: &str, value: &str, unit: &str, share: f64) {
    let (rect, painter) = room(ui, DIAL, format!("{name}: {value} {unit}"));
    let (middle, radius) = (rect.center(), 0.5 * DIAL - 5.0);
    let share = share.clamp(0.0, 1.0) as f32;
    let (ink, quiet) = (ui.visuals().text_color(), theme.quiet());
    arc(
        &painter,
        middle,
        radius,
        ROUND,
        Stroke::new(4.0, quiet.gamma_multiply(0.35)),
    );
    let color = theme.tone(Tone::Accent);
    arc(
        &painter,
        middle,
        radius,
        ROUND * share,
        Stroke::new(4.0, color),
    );
    let text = |at: Pos2, size: f32, color: Color32, text: &str| {
        painter.text(
            at,
            Align2::CENTER_CENTER,
            text,
            FontId::proportional(size),
            color,
        );
    };
    text(middle, 20.0, ink, value);
    text(middle + vec2(0.0, 18.0), 11.0, quiet, unit);
    text(middle + vec2(0.0, 34.0), 11.0, quiet, name);
}

fn bar(ui: &mut Ui, color: Color32, name: &str, share: f64) {
    let (rect, painter) = room(ui, 46.0, format!("{name}: {:.0} %", 100.0 * share));
    let ink = ui.visuals().text_color();
    let whole = Rect::from_min_size(rect.min + vec2(16.0, 4.0), vec2(14.0, DIAL - 24.0));
    painter.rect_filled(whole, 4.0, ui.visuals().faint_bg_color);
    let mut filled = whole;
    filled.min.y = whole.max.y - whole.height() * share.clamp(0.0, 1.0) as f32;
    painter.rect_filled(filled, 4.0, color);
    let edge = Stroke::new(1.0, ui.visuals().weak_text_color());
    painter.rect_stroke(whole, 4.0, edge, egui::StrokeKind::Inside);
    let at = rect.center_bottom() - vec2(0.0, 2.0);
    painter.text(
        at,
        Align2::CENTER_BOTTOM,
        name,
        FontId::proportional(11.0),
        ink,
    );
}

/// Draws a steering wheel that turns in proportion to the front wheels.
fn wheel(ui: &mut Ui, theme: Theme, steering: f64) {
    let degrees = steering.to_degrees();
    let (rect, painter) = room(ui, DIAL, format!("Steering: {degrees:.0} degrees"));
    let (middle, radius) = (rect.center() - vec2(0.0, 6.0), 0.5 * DIAL - 14.0);
    let ink = ui.visuals().text_color();
    painter.circle_stroke(middle, radius, Stroke::new(4.0, ink));
    // Angles on the screen are clockwise, but steering angles are positive to the left.
    let turn = -WHEEL_RATIO * steering as f32;
    for spoke in [0.0, PI, FRAC_PI_2] {
        let ends = [middle, on_circle(middle, radius, turn + spoke)];
        painter.line_segment(ends, Stroke::new(3.0, ink));
    }
    let mark = on_circle(middle, radius, turn - FRAC_PI_2);
    painter.circle_filled(mark, 4.0, theme.tone(Tone::Accent));
    let at = rect.center_bottom() - vec2(0.0, 2.0);
    let text = format!("{degrees:+.0}°");
    painter.text(
        at,
        Align2::CENTER_BOTTOM,
        text,
        FontId::proportional(11.0),
        theme.quiet(),
    );
}
