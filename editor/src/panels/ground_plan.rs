//! Planning of the watched vehicle off the lanes: whether it has a path, the search for the path,
//! and why the vehicle takes this path.

use super::widgets::counted;
use crate::model::{Action, Model};
use crate::tools::Tone;
use egui::{Grid, Role, Slider, Ui, WidgetInfo};
use roadwright_simulation::{
    Disagreement, GroundInspection, PathComparison, PathReport, PathStatus, SearchOrder,
};

/// Shows the section of the Vehicle panel. Shows nothing for a vehicle that does not plan over open
/// ground.
pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let live = model.live.as_ref();
    let Some(seen) = live.and_then(|live| live.planning.as_ref()) else {
        return;
    };
    ui.add_space(6.0);
    ui.strong("Path over open ground");
    status(ui, model, seen);
    let mut settings = model.settings.clone();
    let view = &mut settings.open_ground;
    ui.horizontal_wrapped(|ui| {
        ui.label("Show");
        ui.checkbox(&mut view.costs, "costs");
        ui.checkbox(&mut view.forecasts, "forecasts");
        ui.checkbox(&mut view.search, "search");
    });
    if let Some(search) = &seen.search {
        steps(ui, search, &mut view.search_step);
    }
    if settings != model.settings {
        actions.push(Action::Settings(Box::new(settings)));
    }
    ui.add_space(4.0);
    ui.strong("Why this path");
    match &seen.comparison {
        Some(both) => comparison(ui, model, both),
        None => {
            ui.label("Measure another path (M, click along it, Enter) to compare its cost.");
        }
    }
}

fn status(ui: &mut Ui, model: &Model, seen: &GroundInspection) {
    let theme = model.theme();
    match &seen.status {
        PathStatus::Found => ui.label("There is a path to the vehicle's goal."),
        PathStatus::Searching => ui.colored_label(
            theme.tone(Tone::Warning),
            "Searching: it is not known yet whether there is a path.",
        ),
        PathStatus::NoPath(why) => {
            let text = format!("No path: {}.", why.text);
            ui.colored_label(theme.tone(Tone::Danger), text)
        }
    };
    if let Some(disagreement) = seen.disagreement {
        let text = match disagreement {
            Disagreement::LeftPath => {
                "The vehicle has left its planned path, or is not heading along it."
            }
            Disagreement::Behind => "The waypoint is behind the vehicle.",
            Disagreement::OtherSide => {
                "The vehicle steers around the nearest obstacle on one side, but its plan leads past the other side."
            }
            Disagreement::TooSharp => {
                "The vehicle cannot turn sharply enough to reach its waypoint."
            }
        };
        ui.colored_label(theme.tone(Tone::Warning), text);
    }
}

/// Shows controls that step forwards and backwards through the cells of a search, in the order in
/// which the search expands them.
fn steps(ui: &mut Ui, search: &SearchOrder, step: &mut Option<u32>) {
    let all = search.expanded.len() as u32;
    let mut shown = step.unwrap_or(all).min(all);
    let before = shown;
    ui.horizontal(|ui| {
        let mut button = |sign: &str, name: &'static str, to: u32| {
            let response = ui.small_button(sign).on_hover_text(name);
            response.widget_info(move || WidgetInfo::labeled(Role::Button, true, name));
            if response.clicked() {
                shown = to;
            }
        };
        button("|<", "First cell", 1.min(all));
        button("<", "One cell back", before.saturating_sub(1));
        button(">", "One cell forward", (before + 1).min(all));
        button(">|", "All cells", all);
    });
    let slider = ui.add(Slider::new(&mut shown, 0..=all).show_value(false));
    slider.widget_info(|| WidgetInfo::labeled(Role::Slider, true, "Expanded cells"));
    ui.label(format!(
        "{shown} of {} expanded",
        counted(all as usize, "cell")
    ));
    if shown != before {
        // At the last cell, no step is stored, so that the whole search stays visible while it
        // grows.
        *step = (shown < all).then_some(shown);
    }
}

fn comparison(ui: &mut Ui, model: &Model, both: &PathComparison) {
    let PathComparison { planned, other } = both;
    let column = ui.available_width() / 3.0;
    Grid::new("why this path")
        .num_columns(3)
        .max_col_width(column)
        .striped(true)
        .show(ui, |ui| {
            let mut row = |name: &str, value: &dyn Fn(&PathReport) -> String| {
                ui.label(name);
                ui.label(value(planned));
                ui.label(value(other));
                ui.end_row();
            };
            row("", &|report| {
                let is_planned = std::ptr::eq(report, planned);
                (if is_planned { "planned" } else { "measured" }).into()
            });
            row("Length", &|report| format!("{:.1} m", report.length));
            row("Time", &|report| format!("{:.1} s", report.time));
            row("Cost", &|report| report.cost.to_string());
            row("plain ground", &|report| report.plain.to_string());
            for layer in layers(both) {
                row(layer, &|report| share(report, layer).to_string());
            }
            row("Blocked cells", &|report| report.blocked.to_string());
        });
    let (tone, text) = verdict(both);
    ui.colored_label(model.theme().tone(tone), text);
}

/// Returns the names of the layers that contribute to the cost of either path.
fn layers(both: &PathComparison) -> Vec<&'static str> {
    let shares = both.planned.layers.iter().chain(&both.other.layers);
    let mut names: Vec<&str> = Vec::new();
    for share in shares {
        if !names.contains(&share.layer) {
            names.push(share.layer);
        }
    }
    names
}

fn share(report: &PathReport, layer: &str) -> i64 {
    let own = report.layers.iter().find(|share| share.layer == layer);
    own.map_or(0, |share| share.cost)
}

/// Explains why the measured path is worse than the planned one, or that the measured path is
/// better.
fn verdict(both: &PathComparison) -> (Tone, String) {
    let PathComparison { planned, other } = both;
    if other.blocked > 0 {
        let cells = counted(other.blocked as usize, "blocked cell");
        return (Tone::Danger, format!("The measured path crosses {cells}."));
    }
    if planned.plain == 0 {
        return (Tone::Guide, "The planner has found no path.".into());
    }
    if other.cost < planned.cost {
        let text = "The measured path costs less: does it lead to the goal?";
        return (Tone::Guide, text.into());
    }
    let more = |layer: &&str| share(other, layer) - share(planned, layer);
    let names = layers(both);
    let worst = names.iter().max_by_key(|layer| more(layer));
    let by_length = other.plain as i64 - planned.plain as i64;
    let text = match worst.filter(|layer| more(layer) > by_length) {
        Some(layer) => format!("The measured path costs more, mostly because of {layer}."),
        None => "The measured path costs more, mostly because it is longer.".into(),
    };
    (Tone::Guide, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_simulation::LayerShare;

    fn report(plain: u64, slope: i64, blocked: u32) -> PathReport {
        PathReport {
            length: 10.0,
            time: 1.0,
            cost: plain.saturating_add_signed(slope),
            plain,
            layers: vec![LayerShare {
                layer: "slope",
                cost: slope,
            }],
            blocked,
        }
    }

    #[test]
    fn the_largest_difference_is_named() {
        let planned = report(1000, 10, 0);
        for (other, expected) in [
            (report(1010, 500, 0), "because of slope"),
            (report(3000, 20, 0), "it is longer"),
            (report(900, 0, 0), "costs less"),
            (report(900, 0, 3), "3 blocked cells"),
        ] {
            let both = PathComparison {
                planned: planned.clone(),
                other,
            };
            assert!(verdict(&both).1.contains(expected), "{expected}");
        }
    }
}
