//! The individuals of the pool and of the last generation. The user can watch them and strike them
//! out.

use super::super::widgets::{heading, named};
use super::ExperimentPanel;
use crate::experiment::{ExperimentAction, Fate, IndividualRow, TrainingPicture};
use crate::model::{Action, Model};
use egui::{Button, DragValue, RichText, ScrollArea, Ui};

/// Maximum number of rows. A random start produces thousands of individuals, but most of them hardly move.
const MOST: usize = 200;

pub(super) fn ui(
    ui: &mut Ui,
    model: &Model,
    training: &TrainingPicture,
    state: &mut ExperimentPanel,
    actions: &mut Vec<Action>,
) {
    let rows = &training.individuals;
    let (Some(best), Some(&first)) = (rows.first(), training.courses.first()) else {
        ui.label("The first generation is still driving.");
        return;
    };
    let mut course = state.course.unwrap_or(first);
    ui.horizontal_wrapped(|ui| {
        ui.label("Show on course")
            .on_hover_text("Seed of the course on which the individual is shown.");
        let field = ui.add(DragValue::new(&mut course).speed(1.0));
        named(&field, "Seed of the course shown");
        if field.changed() {
            state.course = Some(course);
        }
        if best.rank == Some(1) && ui.button("Show the best").clicked() {
            actions.push(show(best, course));
        }
    });
    if model.experiment.shown.is_some() {
        ui.label("Open the Controller panel to inspect it.");
    }
    heading(
        ui,
        &format!("Generation {} and pool", training.generations.len()),
    );
    let listed = &rows[..rows.len().min(MOST)];
    ScrollArea::vertical()
        .id_salt("individuals")
        .auto_shrink([false, true])
        .show(ui, |ui| {
            for individual in listed {
                row(ui, individual, course, actions);
            }
        });
    if rows.len() > MOST {
        ui.label(format!("and {} more", rows.len() - MOST));
    }
}

pub(super) fn show(individual: &IndividualRow, course: u64) -> Action {
    Action::Experiment(ExperimentAction::Show {
        genes: individual.genes.clone(),
        course,
        name: format!("individual {}", individual.name()),
    })
}

fn row(ui: &mut Ui, individual: &IndividualRow, course: u64, actions: &mut Vec<Action>) {
    let name = individual.name();
    ui.horizontal_wrapped(|ui| {
        let text = RichText::new(&name);
        let is_in_pool = individual.rank.is_some();
        ui.label(if is_in_pool { text.strong() } else { text });
        ui.label(in_words(individual));
        let watch = ui.add(Button::new("Show").small());
        let watch = watch.on_hover_text("Show it driving on the map.");
        named(&watch, &format!("Show {name}"));
        if watch.clicked() {
            actions.push(show(individual, course));
        }
        let can = individual.is_latest && individual.fate == Fate::Rated;
        if !can {
            return;
        }
        let strike = ui.add(Button::new("Strike out").small());
        let hint =
            "Mark the individual as unfit: it is neither kept nor used for breeding. The current generation restarts.";
        let strike = strike.on_hover_text(hint);
        named(&strike, &format!("Strike out {name}"));
        if strike.clicked() {
            let action = ExperimentAction::StrikeOut(individual.birth);
            actions.push(Action::Experiment(action));
        }
    });
}

fn in_words(individual: &IndividualRow) -> String {
    let rank = individual
        .rank
        .map_or(String::new(), |rank| format!(", pool {rank}"));
    let fitness = match (individual.fitness, individual.error) {
        (Some(fitness), Some(error)) => format!("{fitness:.4} ± {error:.4}"),
        (Some(fitness), None) => format!("{fitness:.4}"),
        (None, _) => String::new(),
    };
    match &individual.fate {
        Fate::Rated => format!("{fitness}{rank}"),
        Fate::EndedEarly => "ended early".into(),
        Fate::RacedOut => "raced out".into(),
        Fate::StruckOut => "struck out by hand".into(),
        Fate::Failed(why) => format!("failed: {why}"),
    }
}
