//! Comparison of two runs: key figures, curves on the same axes, and trips of the same agents.

use super::PanelFrame;
use super::past::clock;
use super::plots::plot;
use super::results::curve;
use super::widgets::{choice, empty, heading, named};
use crate::command::Command;
use crate::comparison::{Better, Comparison, Figure, TripPair};
use crate::kept_runs::{KeptRun, KeptRunAction, MOST_RUNS, Side};
use crate::model::{Action, Model};
use crate::tools::Tone;
use egui::{
    Align, CollapsingHeader, Grid, Layout, RichText, Role, ScrollArea, TextEdit, Ui, WidgetInfo,
    vec2,
};
use roadwright_geometry::DVec2;
use roadwright_recording::RunResults;
use roadwright_scenario::{AgentId, ObjectId};
use roadwright_simulation::TimeRow;
use std::sync::Arc;

/// Height of a plot, points.
const HEIGHT: f32 = 84.0;
/// Minimum height of the table of trips, points. The table grows with the panel.
const TABLE: f32 = 150.0;
/// Widths of the columns of trips, points. The columns are agent, both times, and difference.
const COLUMNS: [f32; 4] = [120.0, 58.0, 58.0, 70.0];
/// Minimum width of the panel for showing figures and curves side by side, points.
const WIDE: f32 = 640.0;
/// Gap between figures and curves, points.
const GAP: f32 = 24.0;
/// Half the size of the map section shown around a trip's place, m.
const AROUND: f64 = 60.0;

/// Order of the listed trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Order {
    /// Starts with the largest difference.
    #[default]
    Difference,
    /// Starts with the trips that took longer in the second run.
    Slower,
    /// Starts with the trips that took longer in the first run.
    Faster,
    /// Sorted by agent.
    Agent,
}

/// Two compared runs and their comparison.
type Known = (Arc<RunResults>, Arc<RunResults>, Arc<Comparison>);

/// State of the panel.
#[derive(Default)]
pub(super) struct ComparePanel {
    /// Whether trips are shown instead of figures and curves.
    shows_trips: bool,
    filter: String,
    order: Order,
    /// The compared runs and their comparison. They are recomputed only when one of the runs changes, because
    /// there may be a hundred thousand trips.
    known: Option<Known>,
}

impl ComparePanel {
    fn comparison(&mut self, a: &Arc<RunResults>, b: &Arc<RunResults>) -> Arc<Comparison> {
        if let Some((known_a, known_b, comparison)) = &self.known
            && Arc::ptr_eq(known_a, a)
            && Arc::ptr_eq(known_b, b)
        {
            return comparison.clone();
        }
        let made = Arc::new(Comparison::new(a, b));
        self.known = Some((a.clone(), b.clone(), made.clone()));
        made
    }
}

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame {
        model,
        memory,
        actions,
    } = frame;
    let state = &mut memory.compare;
    choose(ui, model, actions);
    kept(ui, model, actions);
    let sides = (model.kept_runs.a, model.kept_runs.b);
    let (Some(a), Some(b)) = (model.run_of(sides.0), model.run_of(sides.1)) else {
        state.known = None;
        empty(
            ui,
            "Run the scenario, keep the run, change something, and run it again to compare both here.",
        );
        return;
    };
    let comparison = state.comparison(a, b);
    scenarios(ui, model, [a, b], &comparison);
    ui.horizontal(|ui| {
        ui.selectable_value(&mut state.shows_trips, false, "Figures and curves");
        ui.selectable_value(&mut state.shows_trips, true, "Trips of the same agents");
    });
    if state.shows_trips {
        trips(ui, model, state, &comparison, actions);
    } else {
        beside(ui, model, [a, b], &comparison);
    }
}

/// Shows figures and curves, side by side if there is room.
fn beside(ui: &mut Ui, model: &Model, runs: [&Arc<RunResults>; 2], comparison: &Comparison) {
    if ui.available_width() < WIDE {
        figures(ui, model, comparison);
        curves(ui, model, runs);
        return;
    }
    let width = 0.5 * (ui.available_width() - GAP);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        for is_left in [true, false] {
            let layout = Layout::top_down(Align::Min);
            ui.allocate_ui_with_layout(vec2(width, 0.0), layout, |ui| {
                // The wide gap applies only between the two columns, not inside them.
                *ui.spacing_mut() = ui.ctx().global_style().spacing.clone();
                ui.set_width(width);
                if is_left {
                    figures(ui, model, comparison);
                } else {
                    curves(ui, model, runs);
                }
            });
        }
    });
}

/// Shows the choice of the two runs, and actions on them.
fn choose(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let runs = &model.kept_runs;
    let kept = runs.list().iter().map(|run| Side::Kept(run.id));
    let all: Vec<(Side, String)> = [Side::Now, Side::Before]
        .into_iter()
        .chain(kept)
        .map(|side| {
            let name = model.name_of(side);
            match model.run_of(side) {
                Some(_) => (side, name),
                None => (side, format!("{name} (none)")),
            }
        })
        .collect();
    ui.horizontal_wrapped(|ui| {
        let (mut a, mut b) = (runs.a, runs.b);
        for (word, color, side) in [("A", 0, &mut a), ("B", 2, &mut b)] {
            ui.colored_label(model.theme().plot(color), RichText::new(word).strong());
            if let Some(chosen) = choice(ui, &format!("Run {word}"), side, &all) {
                *side = chosen;
            }
        }
        if ui.button("Swap").on_hover_text("Swap A and B.").clicked() {
            (a, b) = (b, a);
        }
        if (a, b) != (runs.a, runs.b) {
            actions.push(Action::KeptRun(KeptRunAction::Compare(a, b)));
        }
        let keep = ui.button(Command::KeepRun.title());
        if keep.on_hover_text(Command::KeepRun.hint()).clicked() {
            actions.push(Action::Do(Command::KeepRun));
        }
        let can = model.run_of(a).is_some() && model.run_of(b).is_some();
        let export = ui.add_enabled(can, egui::Button::new("Export comparison…"));
        let hint = "Write figures.csv, trips.csv and timeline.csv to a folder.";
        if export.on_hover_text(hint).clicked() {
            actions.push(Action::KeptRun(KeptRunAction::Export));
        }
    });
}

/// Shows the kept runs with their names and scenarios.
fn kept(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let list = model.kept_runs.list();
    if list.is_empty() {
        return;
    }
    CollapsingHeader::new(format!("Kept runs ({} of {MOST_RUNS})", list.len()))
        .id_salt("kept runs")
        .show(ui, |ui| {
            for run in list {
                ui.horizontal_wrapped(|ui| kept_run(ui, run, actions));
            }
            let hint =
                "Runs are kept until the window closes; Export comparison… writes them to files.";
            ui.label(RichText::new(hint).weak().small());
        });
}

fn kept_run(ui: &mut Ui, run: &KeptRun, actions: &mut Vec<Action>) {
    // Typed text is kept until the field loses the focus.
    let id = ui.make_persistent_id(("name of run", run.id));
    let mut name: String = ui
        .data(|data| data.get_temp(id))
        .unwrap_or_else(|| run.name.clone());
    let field = ui.add(TextEdit::singleline(&mut name).desired_width(130.0));
    let label = format!("Name of {}", run.name);
    field.widget_info(move || WidgetInfo::labeled(Role::TextInput, true, &label));
    if field.has_focus() {
        ui.data_mut(|data| data.insert_temp(id, name.clone()));
    }
    if field.lost_focus() {
        ui.data_mut(|data| data.remove_temp::<String>(id));
        if name.trim() != run.name {
            actions.push(Action::KeptRun(KeptRunAction::Rename(run.id, name)));
        }
    }
    let drop = ui.small_button("×").on_hover_text("Remove this run.");
    named(&drop, &format!("Drop {}", run.name));
    if drop.clicked() {
        actions.push(Action::KeptRun(KeptRunAction::Drop(run.id)));
    }
    let (scenario, results) = (&run.scenario, &run.results);
    let (time, trips) = (clock(results.seconds()), results.trips.len());
    ui.label(format!("{scenario}, up to {time}, {trips} trips"));
}

/// Shows the scenarios of the runs, and the end of the period over which they are compared.
fn scenarios(ui: &mut Ui, model: &Model, runs: [&Arc<RunResults>; 2], comparison: &Comparison) {
    let until = format!("Figures and trips up to {}.", clock(comparison.until));
    ui.label(RichText::new(until).weak());
    if comparison.changes.is_empty() {
        ui.label("Both runs used the same scenario.")
            .on_hover_text("Scripts and plugins are separate files and are not compared.");
    } else {
        let changes = comparison.changes.join("; ");
        ui.label(format!(
            "The scenario of B differs from that of A: {changes}."
        ));
    }
    for (word, run) in ["A", "B"].into_iter().zip(runs) {
        if run.is_edited {
            let color = model.theme().tone(Tone::Warning);
            ui.colored_label(color, format!("{word} was edited during the run."));
        }
    }
}

/// Shows a row for each figure: both values, the difference, and which value is better.
fn figures(ui: &mut Ui, model: &Model, comparison: &Comparison) {
    heading(ui, "Figures");
    Grid::new("figures of two runs")
        .num_columns(5)
        .striped(true)
        .show(ui, |ui| {
            for title in ["", "A", "B", "B − A", "better"] {
                ui.label(RichText::new(title).weak());
            }
            ui.end_row();
            for figure in &comparison.figures {
                row(ui, model, figure);
            }
        });
}

fn row(ui: &mut Ui, model: &Model, figure: &Figure) {
    let title = match figure.unit {
        "" => figure.name.to_owned(),
        unit => format!("{}, {unit}", figure.name),
    };
    ui.label(title).on_hover_text(figure.hint);
    let better = figure.better();
    for (side, value) in [(Better::A, figure.a), (Better::B, figure.b)] {
        let text = RichText::new(figure.in_words(value));
        ui.label(if better == Some(side) {
            text.strong().color(model.theme().good())
        } else {
            text
        });
    }
    let sign = figure.difference().filter(|difference| *difference > 0.0);
    let sign = if sign.is_some() { "+" } else { "" };
    ui.label(format!("{sign}{}", figure.in_words(figure.difference())));
    // Also written as text, because not every user can distinguish the colours.
    ui.label(match better {
        Some(Better::A) => "A",
        Some(Better::B) => "B",
        None => "",
    });
    ui.end_row();
}

/// Draws the curves of both runs, each over its whole length.
fn curves(ui: &mut Ui, model: &Model, [a, b]: [&Arc<RunResults>; 2]) {
    let theme = model.theme();
    let mut one = |title: &'static str, of: fn(&TimeRow) -> f64| {
        let curves = vec![
            curve("A", theme.plot(0), 2.0, &a.rows, of),
            curve("B", theme.plot(2), 2.0, &b.rows, of),
        ];
        plot(ui, title, HEIGHT, curves);
    };
    one("Arrived", |row| row.arrived as f64);
    one("Mean speed, m/s", |row| row.mean_speed);
    one("Stopped", |row| row.queue as f64);
    one("Waiting to start", |row| row.waiting as f64);
    one("Contacts", |row| row.contacts as f64);
    one("Faults", |row| row.faults as f64);
}

fn trips(
    ui: &mut Ui,
    model: &Model,
    state: &mut ComparePanel,
    comparison: &Comparison,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        let filter = TextEdit::singleline(&mut state.filter)
            .hint_text("agent, stack, only in A…")
            .desired_width(150.0);
        let filter = ui.add(filter);
        filter.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter compared trips"));
        let orders = [
            (Order::Difference, "largest difference".to_owned()),
            (Order::Slower, "slower in B".to_owned()),
            (Order::Faster, "faster in B".to_owned()),
            (Order::Agent, "agent".to_owned()),
        ];
        if let Some(order) = choice(ui, "Order of compared trips", &state.order, &orders) {
            state.order = order;
        }
    });
    let listed = listed(&comparison.trips, &state.filter, state.order);
    ui.label(format!(
        "{} of {} trips",
        listed.len(),
        comparison.trips.len()
    ));
    cells(
        ui,
        ["agent", "A, s", "B, s", "B − A, s"].map(|title| RichText::new(title).weak()),
    );
    // Rows have equal heights, so only visible ones are laid out.
    let height = ui.spacing().interact_size.y;
    let room = ui.clip_rect().bottom() - ui.cursor().top() - ui.spacing().item_spacing.y;
    ScrollArea::vertical()
        .id_salt("compared trips")
        .max_height(room.max(TABLE))
        .show_rows(ui, height, listed.len(), |ui, shown| {
            for pair in &listed[shown] {
                trip(ui, model, pair, actions);
            }
        });
}

/// Draws the texts of a row of trips.
fn cells(ui: &mut Ui, texts: [RichText; 4]) {
    ui.horizontal(|ui| {
        for (text, width) in texts.into_iter().zip(COLUMNS) {
            cell(ui, width, text);
        }
    });
}

fn cell(ui: &mut Ui, width: f32, text: RichText) {
    let height = ui.spacing().interact_size.y;
    let layout = Layout::left_to_right(Align::Center);
    ui.allocate_ui_with_layout(vec2(width, height), layout, |ui| {
        ui.set_width(width);
        ui.add(egui::Label::new(text).truncate());
    });
}

fn trip(ui: &mut Ui, model: &Model, pair: &TripPair, actions: &mut Vec<Action>) {
    let place = pair.any().and_then(|trip| trip.places);
    let height = ui.spacing().interact_size.y;
    ui.horizontal(|ui| {
        ui.set_height(height);
        let name = pair.name();
        let layout = Layout::left_to_right(Align::Center);
        ui.allocate_ui_with_layout(vec2(COLUMNS[0], height), layout, |ui| {
            ui.set_width(COLUMNS[0]);
            let button = egui::Button::new(&name).small().truncate();
            let jump = ui.add_enabled(place.is_some(), button);
            let jump = jump.on_hover_text("Select the vehicle and show where its trip ended.");
            named(&jump, &format!("Compare {name}"));
            if let Some((_, last)) = place.filter(|_| jump.clicked()) {
                go_to(model, pair.agent, last, actions);
            }
        });
        for (trip, width) in [(&pair.a, COLUMNS[1]), (&pair.b, COLUMNS[2])] {
            cell(ui, width, RichText::new(time_of(trip.as_ref())));
        }
        let difference = pair.difference();
        let text = difference.map_or(String::new(), |difference| format!("{difference:+.1}"));
        let text = RichText::new(text);
        let theme = model.theme();
        let text = match difference {
            Some(difference) if difference < 0.0 => text.color(theme.good()),
            Some(difference) if difference > 0.0 => text.color(theme.tone(Tone::Danger)),
            _ => text,
        };
        cell(ui, COLUMNS[3], text);
        let stack = pair.any().map_or("", |trip| trip.stack.as_str());
        ui.label(RichText::new(stack).weak());
    });
}

/// Formats the duration of a trip, or describes how the trip ended without arriving.
fn time_of(trip: Option<&roadwright_simulation::Trip>) -> String {
    match trip {
        None => "–".into(),
        Some(trip) if trip.status == roadwright_simulation::Status::Arrived => {
            format!("{:.1}", trip.seconds())
        }
        Some(trip) => format!("{:?}", trip.status).to_lowercase(),
    }
}

fn go_to(model: &Model, agent: u64, place: DVec2, actions: &mut Vec<Action>) {
    let object = u32::try_from(agent).ok().map(AgentId).map(ObjectId::Agent);
    // Agents of flows have no object.
    let object = object.filter(|object| model.document.scenario().contains(*object));
    actions.extend(object.map(|object| Action::Select([object].into())));
    let around = DVec2::splat(AROUND);
    actions.push(Action::Jump(place - around, place + around));
}

/// Returns the trips that match the filter, in the given order.
fn listed<'a>(trips: &'a [TripPair], filter: &str, order: Order) -> Vec<&'a TripPair> {
    let wanted = filter.trim().to_lowercase();
    let only = |pair: &TripPair| match (&pair.a, &pair.b) {
        (Some(_), None) => "only in a",
        (None, Some(_)) => "only in b",
        _ => "",
    };
    let fits = |pair: &&TripPair| {
        wanted.is_empty()
            || pair.agent.to_string() == wanted
            // One or two letters would match nearly all names.
            || (wanted.len() > 2 && pair.name().to_lowercase().contains(&wanted))
            || (wanted.len() > 2 && only(pair).contains(&wanted))
            || pair.any().is_some_and(|trip| trip.stack.to_lowercase().contains(&wanted))
    };
    let mut listed: Vec<&TripPair> = trips.iter().filter(fits).collect();
    // Trips without a difference stay last.
    let difference = |pair: &TripPair, sign: f64| {
        let difference = pair.difference().map(|difference| sign * difference);
        difference.unwrap_or(f64::INFINITY)
    };
    match order {
        // The trips are already in this order.
        Order::Difference => {}
        Order::Slower => listed.sort_by(|x, y| difference(x, -1.0).total_cmp(&difference(y, -1.0))),
        Order::Faster => listed.sort_by(|x, y| difference(x, 1.0).total_cmp(&difference(y, 1.0))),
        Order::Agent => listed.sort_by_key(|pair| (pair.agent, pair.number)),
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_simulation::{Status, Trip};

    fn trip(agent: u64, seconds: f64) -> Trip {
        Trip {
            agent,
            stack: if agent < 10 { "idm" } else { "fuzzy" }.into(),
            status: Status::Arrived,
            started: 0.0,
            ended: seconds,
            distance: 10.0,
            standing: 0.0,
            contacts: 0,
            places: None,
        }
    }

    #[test]
    fn compared_trips_are_filtered_and_ordered() {
        let run = |trips: &[(u64, f64)]| RunResults {
            rows: vec![
                TimeRow {
                    time: 500.0,
                    ..TimeRow::default()
                };
                2
            ],
            trips: trips.iter().map(|(agent, s)| trip(*agent, *s)).collect(),
            ..RunResults::default()
        };
        let a = run(&[(1, 10.0), (2, 20.0), (3, 30.0), (14, 5.0)]);
        let b = run(&[(1, 40.0), (2, 10.0), (3, 31.0), (15, 5.0)]);
        let comparison = Comparison::new(&a, &b);
        let ids = |filter: &str, order| -> Vec<u64> {
            let listed = listed(&comparison.trips, filter, order);
            listed.iter().map(|pair| pair.agent).collect()
        };
        assert_eq!(ids("", Order::Difference), [1, 2, 3, 14, 15]);
        assert_eq!(ids("", Order::Slower), [1, 3, 2, 14, 15]);
        assert_eq!(ids("", Order::Faster), [2, 3, 1, 14, 15]);
        assert_eq!(ids("", Order::Agent), [1, 2, 3, 14, 15]);
        assert_eq!(ids("fuzzy", Order::Agent), [14, 15]);
        assert_eq!(ids("only in B", Order::Agent), [15]);
        assert_eq!(ids("3", Order::Agent), [3]);
        assert!(ids("lorry", Order::Agent).is_empty());
    }
}
