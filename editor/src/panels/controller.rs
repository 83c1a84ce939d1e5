//! The controller of the watched vehicle. Shows memberships, needles and firing rules of fuzzy controllers,
//! terms of control laws, and inputs and outputs of any controller.

use super::PanelFrame;
use super::widgets::{empty, heading};
use crate::model::Model;
use crate::theme::Theme;
use crate::tools::Tone;
use egui::{Align2, FontId, Grid, RichText, Sense, Stroke, Ui, pos2, vec2};
use egui_plot::{Line, Plot, PlotPoints, VLine};
use roadwright_control::fuzzy::{
    Aggregation, CHROMOSOME, CONTROLLERS, FuzzyController, Inference, Variable, rule_place,
};
use roadwright_control::{Idm, LateralModel, LqrDesign, Pursuit, Term, formulas};
use roadwright_plugin_api::{ControllerInput, NOTHING};
use roadwright_simulation::{Followed, Inspection};
use std::collections::BTreeMap;

/// Width of the bar of a term, in points.
const BAR: f32 = 90.0;
/// Value that fills half of the bar, m/s^2.
const FULL_BAR: f64 = 4.0;

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame { model, .. } = frame;
    let seen = model
        .live
        .as_ref()
        .and_then(|live| live.inspection.as_ref());
    let Some(seen) = seen else {
        empty(ui, "Click a driving vehicle to watch its controller.");
        return;
    };
    let parameters = parameters_of(model, &seen.stack);
    match seen.controller {
        "fuzzy_driver" => {}
        "idm" => {
            return law(
                ui,
                model.theme(),
                seen,
                &Idm::terms(&parameters, &seen.input),
            );
        }
        "pursuit" => {
            return law(
                ui,
                model.theme(),
                seen,
                &Pursuit::terms(&parameters, &seen.input),
            );
        }
        "lqr" => {
            if let Some(followed) = &seen.following {
                gains(ui, &LqrDesign::of(&parameters), followed);
            }
            return law(ui, model.theme(), seen, &[]);
        }
        _ => return law(ui, model.theme(), seen, &[]),
    }
    let aggregation = aggregation_of(model, &seen.stack);
    for controller in CONTROLLERS {
        let controller = &as_in(model, &seen.stack, controller);
        let (distance, angle) = crisp(controller, &seen.input);
        heading(
            ui,
            &format!("{}: {}", short(controller.name), controller.output),
        );
        // No obstacle is within range, so there is no distance to show.
        if distance >= NOTHING {
            ui.label(RichText::new("No obstacle within range.").weak());
            continue;
        }
        let inference = controller.infer(distance, angle, aggregation);
        let theme = model.theme();
        membership_plot(
            ui,
            theme,
            controller,
            &controller.distance,
            distance,
            &inference.distance,
        );
        membership_plot(
            ui,
            theme,
            controller,
            &controller.angle,
            angle,
            &inference.angle,
        );
        rules(ui, theme, controller, &inference);
    }
}

/// Returns the parameters that a stack sets for its controller.
fn parameters_of(model: &Model, stack: &str) -> BTreeMap<String, f64> {
    let stack = model.document.scenario().stacks().get(stack);
    let set = stack.iter().flat_map(|stack| &stack.controller.parameters);
    set.map(|(key, value)| (key.clone(), *value)).collect()
}

/// Step between the speeds for which gains are shown, m/s. The regulator computes gains with the
/// same step.
const GAIN_SPEEDS: f64 = 0.25;

/// Gains of a regulator, kept until its design or model changes.
#[derive(Clone)]
struct ShownGains {
    design: LqrDesign,
    model: LateralModel,
    /// Gain of each state; empty if the model cannot be stabilised.
    gains: Vec<f64>,
}

impl ShownGains {
    fn new(design: LqrDesign, model: LateralModel) -> Self {
        let gains = design.gains(&model);
        Self {
            design,
            model,
            gains: gains.map_or_else(|_| Vec::new(), |gains| gains.state.row(0).to_vec()),
        }
    }
}

/// Shows the gains of the watched regulator beside the errors to which they apply.
fn gains(ui: &mut Ui, design: &LqrDesign, followed: &Followed) {
    let speed = (followed.model.speed / GAIN_SPEEDS).round() * GAIN_SPEEDS;
    let model = LateralModel {
        speed,
        ..followed.model
    };
    let id = ui.scope_id().with("gains");
    let kept: Option<ShownGains> = ui.data(|data| data.get_temp(id));
    let kept = kept.filter(|kept| kept.design == *design && kept.model == model);
    let shown = kept.unwrap_or_else(|| ShownGains::new(*design, model));
    ui.data_mut(|data| data.insert_temp(id, shown.clone()));
    heading(ui, &format!("Gains at {speed} m/s"));
    if shown.gains.is_empty() {
        ui.weak("The vehicle cannot be stabilised.");
        return;
    }
    Grid::new("gains")
        .num_columns(3)
        .striped(true)
        .show(ui, |ui| {
            for title in ["state", "value", "gain"] {
                ui.label(RichText::new(title).weak());
            }
            ui.end_row();
            let names = model.states().iter().zip(&followed.state);
            for ((name, value), gain) in names.zip(&shown.gains) {
                ui.label(name.replace('_', " "));
                ui.label(format!("{value:+.3}"));
                ui.label(format!("{gain:.3}"));
                ui.end_row();
            }
        });
    ui.label(RichText::new("Steering rate = −gains × state + preview of the curvature.").weak());
    ui.add_space(6.0);
}

/// Shows a controller that is a formula, with its current terms, inputs and outputs.
fn law(ui: &mut Ui, theme: Theme, seen: &Inspection, terms: &[Term]) {
    heading(ui, seen.controller);
    if !terms.is_empty() {
        Grid::new("terms")
            .num_columns(3)
            .striped(true)
            .show(ui, |ui| {
                for term in terms {
                    term_row(ui, theme, term);
                }
            });
        ui.label(RichText::new("Bold: terms that determine the acceleration.").weak());
        ui.add_space(6.0);
    }
    heading(ui, "Inputs");
    rows(ui, "told", &told(&seen.input));
    heading(ui, "Outputs");
    let command = &seen.command;
    let wants = [
        ("acceleration", Some(command.acceleration), "m/s^2"),
        ("steering", Some(command.steering), "rad"),
    ];
    rows(ui, "wants", &wants);
    if let Some(formula) = formulas(seen.controller) {
        ui.add_space(6.0);
        ui.collapsing("Control law", |ui| {
            ui.label(RichText::new(formula).monospace())
        });
    }
}

/// Shows a term as name, number and bar. The bar is red and points left for braking, and points right for
/// accelerating.
fn term_row(ui: &mut Ui, theme: Theme, term: &Term) {
    let text = RichText::new(term.name);
    ui.label(if term.decides { text.strong() } else { text });
    if !term.value.is_finite() || term.value.abs() >= NOTHING {
        ui.weak("nothing");
        ui.end_row();
        return;
    }
    // Values that round to zero have no sign.
    let value = if term.value.abs() < 0.005 {
        0.0
    } else {
        term.value
    };
    ui.label(format!("{value:.2} {}", unit(term.unit)));
    if term.unit == "m/s^2" {
        let (rect, _) = ui.allocate_exact_size(vec2(BAR, 12.0), Sense::hover());
        let middle = rect.center().x;
        let end = (term.value / FULL_BAR).clamp(-1.0, 1.0) as f32 * 0.5 * BAR;
        let color = theme.tone(if term.value < 0.0 {
            Tone::Danger
        } else {
            Tone::Accent
        });
        let bar = egui::Rect::from_two_pos(
            pos2(middle, rect.top() + 2.0),
            pos2(middle + end, rect.bottom() - 2.0),
        );
        ui.painter().rect_filled(bar, 2.0, color);
        let axis = [pos2(middle, rect.top()), pos2(middle, rect.bottom())];
        ui.painter()
            .line_segment(axis, Stroke::new(1.0, theme.quiet()));
    }
    ui.end_row();
}

/// Formats a unit for panels, with squares as superscripts.
fn unit(text: &str) -> String {
    text.replace("^2", "²")
}

/// A name, an optional number, and its unit.
type InputRow = (&'static str, Option<f64>, &'static str);

/// Lists the inputs of a controller that the panel shows. A value is `None` if there is no such
/// object, for example no leader.
fn told(input: &ControllerInput) -> Vec<InputRow> {
    let some = |distance: f64| (distance < NOTHING).then_some(distance);
    let leader = some(input.leader_gap).map(|_| input.leader_speed);
    vec![
        ("speed", Some(input.speed), "m/s"),
        ("road speed", Some(input.road_speed), "m/s"),
        ("gap to leader", some(input.leader_gap), "m"),
        ("speed of leader", leader, "m/s"),
        ("distance to stop", some(input.stop_distance), "m"),
        ("waypoint, distance", some(input.waypoint_distance), "m"),
        ("waypoint, angle", Some(input.waypoint_angle), "rad"),
        ("obstacle, distance", some(input.obstacle_distance), "m"),
    ]
}

fn rows(ui: &mut Ui, id: &str, rows: &[InputRow]) {
    Grid::new(id).num_columns(2).striped(true).show(ui, |ui| {
        for (name, value, text) in rows {
            ui.label(*name);
            match value {
                Some(value) => ui.label(format!("{value:.2} {}", unit(text))),
                None => ui.weak("none"),
            };
            ui.end_row();
        }
    });
}

fn short(name: &str) -> &str {
    name.trim_start_matches("fuzzy_driver.")
}

/// Returns the method that a stack uses to combine rules. It is the first parameter of the fuzzy
/// driver.
fn aggregation_of(model: &Model, stack: &str) -> Aggregation {
    let stacks = model.document.scenario().stacks();
    let parameters = stacks.get(stack).map(|stack| &stack.controller.parameters);
    match parameters.and_then(|p| p.get("aggregation")) {
        Some(value) if *value > 0.5 => Aggregation::Sum,
        _ => Aggregation::Max,
    }
}

/// Returns a controller with the rules of a stack. They are needed because trained rules differ from the
/// printed tables.
fn as_in(model: &Model, stack: &str, controller: &FuzzyController) -> FuzzyController {
    let mut own = *controller;
    let table = CHROMOSOME
        .iter()
        .position(|known| known.name == controller.name);
    let stack = model.document.scenario().stacks().get(stack);
    for (key, value) in stack.iter().flat_map(|stack| &stack.controller.parameters) {
        let place = rule_place(key).filter(|place| Some(place.table) == table);
        if let Some(place) = place {
            // In a file the parameter may be any number, so it is limited to the existing terms.
            let term = value.max(0.0) as usize;
            own.rules[place.row][place.column] = term.min(own.terms.len() - 1);
        }
    }
    own
}

/// Returns the crisp inputs of a fuzzy controller: the distance and the unsigned angle of the
/// obstacle or waypoint.
fn crisp(controller: &FuzzyController, input: &ControllerInput) -> (f64, f64) {
    if controller.name.contains("avoid") {
        // The tables use the lateral distance of an obstacle but not its side; the driver restores the sign
        // of the output.
        (input.obstacle_distance, input.obstacle_angle.abs())
    } else {
        (input.waypoint_distance, input.waypoint_angle.abs())
    }
}

fn membership_plot(
    ui: &mut Ui,
    theme: Theme,
    controller: &FuzzyController,
    variable: &Variable,
    value: f64,
    memberships: &[f64; 3],
) {
    let [a, b, c] = variable.knots;
    let pad = 0.12 * (c - a);
    let term = |index: usize| -> PlotPoints<'static> {
        let at = |x: f64| [x, variable.memberships(x)[index]];
        // Memberships are linear between the knots, so five points draw them exactly.
        [a - pad, a, b, c, c + pad].map(at).to_vec().into()
    };
    // The plot ends slightly outside the knots; the needle stays inside.
    let value = value.clamp(a - pad, c + pad);
    Plot::new((controller.name, variable.name))
        .height(72.0)
        .include_y(0.0)
        .include_y(1.05)
        .show_y(false)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .show(ui, |plot| {
            for (index, membership) in memberships.iter().enumerate() {
                let width = if *membership > 0.0 { 2.5 } else { 1.2 };
                let line = Line::new(variable.terms[index], term(index));
                plot.line(line.color(theme.plot(index)).width(width));
            }
            plot.vline(
                VLine::new("crisp value", value)
                    .color(theme.needle())
                    .width(2.0),
            );
        });
    ui.horizontal_wrapped(|ui| {
        ui.label(
            RichText::new(format!("{} {value:.2} {}", variable.name, variable.unit))
                .small()
                .strong(),
        );
        for (index, membership) in memberships.iter().enumerate() {
            let text = format!("{} {membership:.2}", variable.terms[index]);
            ui.label(RichText::new(text).small().color(theme.plot(index)));
        }
    });
}

/// Shows the rule table. The cells of firing rules are filled according to the strength of the
/// rule.
fn rules(ui: &mut Ui, theme: Theme, controller: &FuzzyController, inference: &Inference) {
    Grid::new((controller.name, "rules"))
        .spacing(vec2(3.0, 3.0))
        .show(ui, |ui| {
            ui.label("");
            for name in controller.distance.terms {
                ui.label(RichText::new(name).small());
            }
            ui.end_row();
            for (row, name) in controller.angle.terms.iter().enumerate() {
                ui.label(RichText::new(*name).small());
                for column in 0..3 {
                    let term = &controller.terms[controller.rules[row][column]];
                    let fired = inference.fired.iter();
                    let strength = fired
                        .filter(|rule| (rule.angle, rule.distance) == (row, column))
                        // Rules that do not fire are not in the list, so their strength is 0.
                        .map(|rule| rule.strength)
                        .fold(0.0, f64::max);
                    let (rect, response) = ui.allocate_exact_size(vec2(62.0, 20.0), Sense::hover());
                    let color = theme.tone(Tone::Accent);
                    ui.painter().rect_filled(
                        rect,
                        3.0,
                        color.gamma_multiply(0.08 + 0.75 * strength as f32),
                    );
                    if strength > 0.0 {
                        ui.painter().rect_stroke(
                            rect,
                            3.0,
                            Stroke::new(1.0, color),
                            egui::StrokeKind::Inside,
                        );
                    }
                    // On a strong fill, text in the theme's colour would be illegible.
                    let ink = if strength > 0.55 {
                        theme.handle()
                    } else {
                        ui.visuals().text_color()
                    };
                    let centre = pos2(rect.center().x, rect.center().y);
                    let font = FontId::proportional(11.0);
                    ui.painter()
                        .text(centre, Align2::CENTER_CENTER, term.name, font, ink);
                    response.on_hover_text(format!(
                        "{} = {}; strength {strength:.2}",
                        term.name, term.value
                    ));
                }
                ui.end_row();
            }
        });
    ui.label(RichText::new(format!("crisp output {:.4}", inference.output)).strong());
    ui.add_space(6.0);
}
