//! Results of the run: curves over time, the previous run for comparison, and a table of trips.

use super::PanelFrame;
use super::past;
use super::plots::{Curve, plot_at};
use super::widgets::{empty, named};
use crate::command::Command;
use crate::model::{Action, Dialog, Model, Purpose};
use crate::panel::PanelId;
use crate::settings::RunCurve;
use crate::theme::Theme;
use crate::tools::Tone;
use egui::{Color32, Role, ScrollArea, Ui, WidgetInfo};
use roadwright_geometry::DVec2;
use roadwright_recording::RunResults;
use roadwright_simulation::{Status, TimeRow, Trip, agent_name};

/// Height of a plot, points.
const HEIGHT: f32 = 84.0;
/// Height of the table of trips, points.
const TABLE: f32 = 220.0;
/// Half the size of the map section shown around a trip's place, m.
const AROUND: f64 = 60.0;
/// Maximum number of points of a curve. A day-long run has more rows than a plot has pixels.
const MOST_POINTS: usize = 2000;

/// Order of the listed trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Order {
    /// Sorted by arrival, newest first.
    #[default]
    Newest,
    /// Longest trips first.
    Longest,
    /// Longest time at a standstill first.
    Standing,
}

/// State of the panel.
#[derive(Default)]
pub(super) struct ResultsPanel {
    /// Whether trips are shown instead of curves.
    shows_trips: bool,
    filter: String,
    order: Order,
}

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame {
        model,
        memory,
        actions,
    } = frame;
    let state = &mut memory.results;
    let Some(live) = &model.live else {
        empty(ui, "Press play to see results.");
        return;
    };
    let results = &live.results;
    ui.horizontal(|ui| {
        ui.selectable_value(&mut state.shows_trips, false, "Curves");
        ui.selectable_value(&mut state.shows_trips, true, "Trips");
        export(ui, model, actions);
        let compare = ui.button("Compare…");
        let hint = Command::Panel(PanelId::Compare).hint();
        if compare.on_hover_text(hint).clicked() {
            actions.push(Action::Do(Command::Panel(PanelId::Compare)));
        }
    });
    if state.shows_trips {
        trips(ui, &results.trips, state, actions);
        return;
    }
    past::slider(ui, &live.timeline, actions);
    if let Some(row) = row_at(&results.rows, live.timeline.at) {
        ui.label(in_words(row));
    }
    let clicked = curves(ui, model.theme(), results, live.timeline.at);
    actions.extend(clicked.map(Action::LookBack));
}

/// Returns the last row up to the time `at`, or the last row of all if no time is given.
fn row_at(rows: &[TimeRow], at: Option<f64>) -> Option<&TimeRow> {
    let is_before = |row: &&TimeRow| at.is_none_or(|at| row.time <= at + 1e-9);
    rows.iter().rev().find(is_before)
}

fn export(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    if ui.button("Export…").clicked() {
        actions.push(Action::Show(Dialog::Path {
            purpose: Purpose::Results,
            text: format!("{}-results", model.document.title()),
            then: None,
        }));
    }
}

fn in_words(row: &TimeRow) -> String {
    let TimeRow {
        arrived,
        mean_speed,
        queue,
        contacts,
        faults,
        ..
    } = row;
    format!(
        "{arrived} arrived, {mean_speed:.1} m/s, {queue} stopped, contacts: {contacts}, faults: {faults}"
    )
}

/// Shows the curves of the run. Curves of the previous run are thin and pale. Returns the clicked
/// time.
fn curves(ui: &mut Ui, theme: Theme, results: &RunResults, at: Option<f64>) -> Option<f64> {
    let before = results.before.as_ref();
    let (rows, before) = (
        &results.rows[..],
        before.map_or(&[][..], |before| &before.rows),
    );
    // A line needs two points.
    if rows.len() < 2 && before.len() < 2 {
        return None;
    }
    let mut clicked = None;
    let at = at.map(|at| (at, theme.tone(Tone::Accent)));
    for shown in RunCurve::ALL {
        let of = |row: &TimeRow| shown.value(row);
        let mut curves = Vec::new();
        if before.len() > 1 {
            let color = theme.tone(Tone::Guide);
            curves.push(curve("previous run", color, 1.0, before, of));
        }
        curves.push(curve("this run", color(theme, shown), 2.0, rows, of));
        clicked = clicked.or(plot_at(ui, shown.title(), HEIGHT, curves, at));
    }
    clicked
}

/// Returns the colour of a curve of the current run.
pub(super) fn color(theme: Theme, curve: RunCurve) -> Color32 {
    theme.plot(match curve {
        RunCurve::Arrived | RunCurve::MeanSpeed => 0,
        RunCurve::Stopped => 2,
        RunCurve::Contacts | RunCurve::Faults => 3,
    })
}

/// Creates the curve of a run, thinned out if it has more points than the plot has pixels.
pub(super) fn curve(
    name: &'static str,
    color: Color32,
    width: f32,
    rows: &[TimeRow],
    of: impl Fn(&TimeRow) -> f64,
) -> Curve {
    let every = rows.len().div_ceil(MOST_POINTS).max(1);
    let last = rows.len().saturating_sub(1);
    let kept = rows
        .iter()
        .enumerate()
        // The newest row is always included, because a curve that ends early would look like a stopped run.
        .filter(|(i, _)| i % every == 0 || *i == last);
    Curve {
        name,
        color,
        width,
        points: kept.map(|(_, row)| [row.time, of(row)]).collect(),
    }
}

fn trips(ui: &mut Ui, trips: &[Trip], state: &mut ResultsPanel, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let filter = egui::TextEdit::singleline(&mut state.filter)
            .hint_text("agent, stack, arrived, refused…")
            .desired_width(150.0);
        let filter = ui.add(filter);
        filter.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter trips"));
        let orders = [
            (Order::Newest, "newest".to_owned()),
            (Order::Longest, "longest".to_owned()),
            (Order::Standing, "most time stopped".to_owned()),
        ];
        if let Some(order) = super::widgets::choice(ui, "Order of trips", &state.order, &orders) {
            state.order = order;
        }
    });
    let listed = listed(trips, state);
    ui.label(format!("{} of {} trips", listed.len(), trips.len()));
    // Rows have equal heights, so only the visible ones of a hundred thousand trips are laid out.
    let height =
        ui.text_style_height(&egui::TextStyle::Button) + 2.0 * ui.spacing().button_padding.y;
    ScrollArea::vertical()
        .id_salt("trips")
        .max_height(TABLE)
        .show_rows(ui, height, listed.len(), |ui, shown| {
            for trip in &listed[shown] {
                row(ui, trip, actions);
            }
        });
}

/// Returns the trips that match the filter, in the selected order.
fn listed<'a>(trips: &'a [Trip], state: &ResultsPanel) -> Vec<&'a Trip> {
    let wanted = state.filter.trim().to_lowercase();
    let fits = |trip: &&Trip| {
        wanted.is_empty()
            // One or two letters would match nearly all names.
            || agent_name(trip.agent).contains(&wanted) && wanted.len() > 2
            || trip.agent.to_string() == wanted
            || trip.stack.to_lowercase().contains(&wanted)
            // `&&` binds tighter than `||`: the length limit applies to names only, so "3" finds agent 3.
            || ending(trip.status).contains(&wanted)
    };
    // Newest first. The sorts below are stable, so equal trips stay in that order.
    let mut listed: Vec<&Trip> = trips.iter().rev().filter(fits).collect();
    match state.order {
        Order::Newest => {}
        Order::Longest => listed.sort_by(|a, b| b.seconds().total_cmp(&a.seconds())),
        Order::Standing => listed.sort_by(|a, b| b.standing.total_cmp(&a.standing)),
    }
    listed
}

fn ending(status: Status) -> String {
    format!("{status:?}").to_lowercase()
}

fn row(ui: &mut Ui, trip: &Trip, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let name = agent_name(trip.agent);
        let jump = ui.add_enabled(trip.places.is_some(), egui::Button::new(&name).small());
        let jump = jump.on_hover_text("Show where the trip ended.");
        named(&jump, &name);
        if let Some((_, last)) = trip.places.filter(|_| jump.clicked()) {
            let around = DVec2::splat(AROUND);
            actions.push(Action::Jump(last - around, last + around));
        }
        ui.label(format!(
            "{} {}, {:.0} s, {:.0} m, stopped {:.0} s",
            trip.stack,
            ending(trip.status),
            trip.seconds(),
            trip.distance,
            trip.standing
        ));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trip(agent: u64, stack: &str, seconds: f64, standing: f64) -> Trip {
        Trip {
            agent,
            stack: stack.into(),
            status: Status::Arrived,
            started: 0.0,
            ended: seconds,
            distance: 10.0,
            standing,
            contacts: 0,
            places: None,
        }
    }

    #[test]
    fn trips_are_filtered_and_ordered() {
        let trips = [
            trip(1, "idm", 9.0, 5.0),
            trip(12, "fuzzy", 20.0, 1.0),
            trip(3, "idm", 5.0, 0.0),
        ];
        let ids = |filter: &str, order| {
            let state = ResultsPanel {
                shows_trips: true,
                filter: filter.into(),
                order,
            };
            listed(&trips, &state)
                .iter()
                .map(|trip| trip.agent)
                .collect::<Vec<_>>()
        };
        assert_eq!(ids("", Order::Newest), [3, 12, 1]);
        assert_eq!(ids("", Order::Longest), [12, 1, 3]);
        assert_eq!(ids("IDM", Order::Standing), [1, 3]);
        assert_eq!(ids("1", Order::Newest), [1]);
        assert_eq!(ids("arrived", Order::Newest).len(), 3);
        assert!(ids("lorry", Order::Newest).is_empty());
    }

    #[test]
    fn a_curve_of_a_long_run_has_its_ends_and_not_too_many_points() {
        let row = |i: u32| TimeRow {
            time: f64::from(i),
            ..TimeRow::default()
        };
        let rows: Vec<TimeRow> = (0..10_001).map(row).collect();
        let curve = curve("a", Color32::RED, 1.0, &rows, |row| row.time);
        assert!(curve.points.len() <= MOST_POINTS + 1);
        assert_eq!(curve.points.first(), Some(&[0.0, 0.0]));
        assert_eq!(curve.points.last(), Some(&[10_000.0, 10_000.0]));
    }
}
