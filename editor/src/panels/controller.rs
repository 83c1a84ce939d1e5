//! The watched vehicle's fuzzy controllers: memberships, needles, fired rules.

use super::widgets::{empty, heading};
use crate::model::Model;
use crate::theme::Theme;
use crate::tools::Tone;
use egui::{Align2, FontId, Grid, RichText, Sense, Stroke, Ui, pos2, vec2};
use egui_plot::{Line, Plot, PlotPoints, VLine};
use roadwright_control::fuzzy::{
    Aggregation, CHROMOSOME, CONTROLLERS, FuzzyController, Inference, Variable, rule_place,
};
use roadwright_plugin_api::{ControllerInput, NOTHING};

pub(super) fn ui(ui: &mut Ui, model: &Model) {
    let seen = model
        .live
        .as_ref()
        .and_then(|live| live.inspection.as_ref());
    let Some(seen) = seen else {
        empty(ui, "Click a driving vehicle to watch its controller think.");
        return;
    };
    if seen.controller != "fuzzy_driver" {
        empty(
            ui,
            &format!(
                "This vehicle is driven by {}. Give it the stack fuzzy_driver to see rules fire.",
                seen.controller
            ),
        );
        return;
    }
    let aggregation = aggregation_of(model, &seen.stack);
    for controller in CONTROLLERS {
        let controller = &as_in(model, &seen.stack, controller);
        let (distance, angle) = crisp(controller, &seen.input);
        heading(
            ui,
            &format!("{}: {}", short(controller.name), controller.output),
        );
        // Nothing is in reach, so there is no distance to show.
        if distance >= NOTHING {
            ui.label(RichText::new("There is no obstacle within its reach.").weak());
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

fn short(name: &str) -> &str {
    name.trim_start_matches("fuzzy_driver.")
}

/// How the stack joins rules: the first parameter of the fuzzy driver.
fn aggregation_of(model: &Model, stack: &str) -> Aggregation {
    let stacks = model.document.scenario().stacks();
    let parameters = stacks.get(stack).map(|stack| &stack.controller.parameters);
    match parameters.and_then(|p| p.get("aggregation")) {
        Some(value) if *value > 0.5 => Aggregation::Sum,
        _ => Aggregation::Max,
    }
}

/// A controller with the rules that a stack has: trained ones differ from the printed tables.
fn as_in(model: &Model, stack: &str, controller: &FuzzyController) -> FuzzyController {
    let mut own = *controller;
    let table = CHROMOSOME
        .iter()
        .position(|known| known.name == controller.name);
    let stack = model.document.scenario().stacks().get(stack);
    for (key, value) in stack.iter().flat_map(|stack| &stack.controller.parameters) {
        let place = rule_place(key).filter(|place| Some(place.table) == table);
        if let Some(place) = place {
            // A parameter is a number that a file may say: held within the terms that there are.
            let term = value.max(0.0) as usize;
            own.rules[place.row][place.column] = term.min(own.terms.len() - 1);
        }
    }
    own
}

/// What a controller looks at.
fn crisp(controller: &FuzzyController, input: &ControllerInput) -> (f64, f64) {
    if controller.name.contains("avoid") {
        // Tables know how far to the side something is, not on which side: the sign is put back to
        // the output by the driver.
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
        // Memberships are straight between the knots, so five points draw them exactly.
        [a - pad, a, b, c, c + pad].map(at).to_vec().into()
    };
    // The plot ends a little outside the knots; the needle stays in it.
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

/// The rule table; rules that fire are filled by their strength.
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
                        // Rules that do not fire are not in the list: their strength is 0.
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
                    // On a strong fill the text of the theme would not be legible.
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
