//! The user's race on a course: choice of the course, results of the attempts and of the planner, and the
//! learning curve.

use super::super::plots::{Curve, plot};
use super::super::widgets::{choice, empty, heading, named, primary};
use crate::model::{Action, Model};
use crate::race::{Race, RaceAction, RaceOrder};
use crate::tools::Tone;
use egui::{DragValue, Grid, RichText, Ui};
use roadwright_training::{Course, DriveRow, Setup, UNSEEN_SEED};

/// Largest seed that can be chosen.
const LARGEST_SEED: u64 = 1_000_000;

/// The course that the user has chosen for a race.
pub(super) struct RaceChoice {
    /// Name of a built-in course; `None` for the scenario of the document.
    course: Option<String>,
    seed: u64,
}

impl Default for RaceChoice {
    fn default() -> Self {
        Self {
            course: None,
            seed: UNSEEN_SEED,
        }
    }
}

pub(super) fn ui(ui: &mut Ui, model: &Model, state: &mut RaceChoice, actions: &mut Vec<Action>) {
    heading(ui, "Race the planner");
    ui.horizontal_wrapped(|ui| {
        let mut courses = vec![(None, "this scenario".to_owned())];
        let all = Course::all().into_iter().filter(|course| !course.is_manoeuvre());
        courses.extend(all.map(|course| (Some(course.name.clone()), course.name)));
        if let Some(course) = choice(ui, "Course", &state.course, &courses) {
            state.course = course;
        }
        ui.label("seed");
        let drag = DragValue::new(&mut state.seed).range(0..=LARGEST_SEED);
        let response = ui.add(drag);
        named(&response, "Seed of the race");
        let hint = "Drive the first vehicle of the course yourself. The planner's drive is shown as a ghost.";
        if primary(ui, "Start race").on_hover_text(hint).clicked() {
            actions.push(start(model, state));
        }
    });
    match &model.race {
        Some(race) => table(ui, model, race),
        None => empty(
            ui,
            "Your tries are listed here next to the planner's drive.",
        ),
    }
}

/// Returns the action that starts a race on the chosen course.
fn start(model: &Model, state: &RaceChoice) -> Action {
    let own = model.waiting.as_ref();
    let own = own.unwrap_or_else(|| model.document.scenario());
    let course = match &state.course {
        Some(name) => Course::named(name).ok(),
        None => None,
    };
    let course = course.unwrap_or_else(|| Course::own("", (**own).clone()));
    Action::Race(RaceAction::Start(Box::new(RaceOrder {
        course,
        setup: Setup::default(),
        seed: state.seed,
        folder: None,
    })))
}

/// Shows the planner's drive and the attempts, and the times of the attempts as a curve.
fn table(ui: &mut Ui, model: &Model, race: &Race) {
    let planner = race.ready.planner.drive.as_ref();
    Grid::new("tries")
        .num_columns(4)
        .striped(true)
        .show(ui, |ui| {
            for title in ["", "end", "time, s", "fitness"] {
                ui.label(RichText::new(title).strong());
            }
            ui.end_row();
            let fitness = planner.and_then(DriveRow::fitness);
            let end = planner.map(|drive| drive.end.name().replace('_', " "));
            row(ui, "planner", end, planner.map(|drive| drive.time), fitness);
            for kept in &race.tries {
                let end = kept.end.map(|end| end.name().replace('_', " "));
                row(
                    ui,
                    &format!("try {}", kept.number),
                    end,
                    Some(kept.time),
                    kept.fitness,
                );
            }
        });
    if race.tries.len() > 1 {
        let theme = model.theme();
        let tries = race.tries.iter();
        let mut curves = vec![Curve {
            name: "you",
            color: theme.tone(Tone::Accent),
            width: 2.0,
            points: tries.map(|kept| [kept.number as f64, kept.time]).collect(),
        }];
        if let Some(planner) = planner {
            let numbers = race.tries.iter().map(|kept| kept.number as f64);
            let (first, last) = numbers.fold((f64::MAX, 0.0f64), |(first, last), number| {
                (first.min(number), last.max(number))
            });
            curves.push(Curve {
                name: "planner",
                color: theme.tone(Tone::Guide),
                width: 1.0,
                points: vec![[first, planner.time], [last, planner.time]],
            });
        }
        plot(ui, "Time of each try, s", 140.0, curves);
    }
}

fn row(ui: &mut Ui, name: &str, end: Option<String>, time: Option<f64>, fitness: Option<f64>) {
    ui.label(name);
    ui.label(end.unwrap_or_else(|| "-".into()));
    ui.label(time.map_or_else(|| "-".into(), |time| format!("{time:.2}")));
    ui.label(fitness.map_or_else(|| "-".into(), |fitness| format!("{fitness:.3}")));
    ui.end_row();
}
