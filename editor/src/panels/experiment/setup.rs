//! Setup of a training run: course, stack, genes, seeds and operators.

use super::super::widgets::{Number, choice, heading, primary_if};
use super::{ExperimentPanel, Part, beside, button, fault, genes, spending};
use crate::experiment::{Draft, ExperimentAction, ExperimentFile};
use crate::model::{Action, Model};
use crate::tools::Tone;
use egui::{CollapsingHeader, DragValue, Grid, Role, Ui, WidgetInfo};
use roadwright_agent::{Controller, Fitness};
use roadwright_scenario::{DynamicsLevel, Scenario};
use roadwright_training::Course;
use roadwright_training::genetic::experiment::{Courses, NameOr};
use roadwright_training::genetic::{Bounds, Elite, Experiment, Method, Start};

/// Keys whose errors are shown next to their fields.
const PLACED: [&str; 13] = [
    "course",
    "stack",
    "vehicle",
    "genes",
    "seeds",
    "operators",
    "learning",
    "runs",
    "racing",
    "halving",
    "growth",
    "time_compression",
    "stop",
];
/// Keys of the settings for the drive budget.
const SPENDING: [&str; 5] = ["racing", "halving", "growth", "time_compression", "stop"];

pub(super) fn ui(
    ui: &mut Ui,
    model: &Model,
    draft: &Draft,
    state: &mut ExperimentPanel,
    actions: &mut Vec<Action>,
) {
    // Widgets change a copy; the difference is sent as one change.
    let mut experiment = draft.experiment.clone();
    beside(ui, |ui, part| match part {
        Part::First => {
            files(ui, model, draft, actions);
            train(ui, model, draft, state, actions);
            place(ui, model, draft, &mut experiment, actions);
            heading(ui, "Course seeds");
            seeds(ui, &mut experiment);
            fault(ui, model, &["seeds"]);
        }
        Part::Second => {
            genes::ui(ui, model, state, &mut experiment);
            fault(ui, model, &["genes"]);
            all_of_breeding(ui, model, &mut experiment);
        }
    });
    if experiment != draft.experiment {
        let set = ExperimentAction::Set(Box::new(experiment));
        actions.push(Action::Experiment(set));
    }
}

/// Shows the settings for creating a generation.
fn all_of_breeding(ui: &mut Ui, model: &Model, experiment: &mut Experiment) {
    heading(ui, "Breeding");
    let rows = Grid::new("breeding").num_columns(2);
    rows.show(ui, |ui| breeding(ui, experiment));
    fault(ui, model, &["operators", "learning", "runs"]);
    CollapsingHeader::new("Breeding options").show(ui, |ui| {
        let rows = Grid::new("more of breeding").num_columns(2);
        rows.show(ui, |ui| more(ui, experiment));
    });
    CollapsingHeader::new("Drive budget").show(ui, |ui| {
        let rows = Grid::new("how drives are spent").num_columns(2);
        rows.show(ui, |ui| spending::ui(ui, experiment));
    });
    fault(ui, model, &SPENDING);
}

/// Shows the choice of the course, stack, vehicle, level of dynamics and fitness.
fn place(
    ui: &mut Ui,
    model: &Model,
    draft: &Draft,
    experiment: &mut Experiment,
    actions: &mut Vec<Action>,
) {
    heading(ui, "Course and driver");
    Grid::new("experiment").num_columns(2).show(ui, |ui| {
        course(ui, draft, actions);
        stack(ui, model, draft, actions);
        vehicle(ui, model, draft, experiment);
        dynamics(ui, experiment);
        fitness(ui, model, experiment);
        spending::weights(ui, model, experiment);
    });
    fault(ui, model, &["course", "stack", "vehicle"]);
}

fn files(ui: &mut Ui, model: &Model, draft: &Draft, actions: &mut Vec<Action>) {
    let dirty = if draft.is_dirty() { " •" } else { "" };
    heading(ui, &format!("{}{dirty}", draft.title()));
    if !draft.experiment.about.is_empty() {
        ui.label(&draft.experiment.about);
    }
    let ask = |action| Action::Experiment(action);
    ui.horizontal_wrapped(|ui| {
        if ui.button("Open…").clicked() {
            actions.push(ask(ExperimentAction::File(ExperimentFile::Open)));
        }
        let has_file = !draft.is_on_document()
            || model.document.path().is_some()
            || model.experiment.shown.is_some();
        let why = "Save the scenario first, because the experiment refers to its file.";
        if button(ui, "Save…", has_file, why) {
            actions.push(ask(ExperimentAction::File(ExperimentFile::Save)));
        }
        let (can_undo, can_redo) = draft.history.has();
        if button(ui, "Undo change", can_undo, "Nothing to undo here.") {
            actions.push(ask(ExperimentAction::Undo));
        }
        if button(ui, "Redo change", can_redo, "Nothing to redo here.") {
            actions.push(ask(ExperimentAction::Redo));
        }
        let hint = "Close this experiment and start another.";
        if ui.button("Close").on_hover_text(hint).clicked() {
            actions.push(ask(ExperimentAction::Close));
        }
    });
}

/// Shows the button that starts training, or the reason why training is not possible.
fn train(
    ui: &mut Ui,
    model: &Model,
    draft: &Draft,
    state: &mut ExperimentPanel,
    actions: &mut Vec<Action>,
) {
    let checked = model.experiment.checked.as_ref();
    // A check of an older draft does not apply to this one.
    let checked = checked.filter(|checked| checked.of.0 == draft.revision);
    let is_fine = checked.is_some_and(|checked| checked.fault.is_none());
    let is_busy = model
        .experiment
        .training
        .as_ref()
        .is_some_and(|training| training.phase.is_busy());
    let why = if is_busy {
        "Training is running; stop it first."
    } else if checked.is_none() {
        "Checking\u{2026}"
    } else {
        "Fix the errors below first."
    };
    ui.add_space(4.0);
    let begin = ui
        .horizontal(|ui| primary_if(ui, is_fine && !is_busy, "Train"))
        .inner;
    if begin.on_disabled_hover_text(why).clicked() {
        actions.push(Action::Experiment(ExperimentAction::Train));
        state.view = super::View::Training;
        state.course = None;
    }
    match checked {
        None => {
            ui.label(why);
        }
        Some(checked) => match &checked.fault {
            // An error with a field is shown next to that field.
            Some(fault) if !PLACED.contains(&fault.key) => super::fault(ui, model, &[]),
            Some(_) => {
                ui.label(why);
            }
            None => {
                let of = &draft.experiment;
                // For the first generation. Each course is run once, and each run consists of several
                // drives.
                let drives = of.courses_of(1, checked.drives).len() * checked.drives;
                let count = model.experiment.ticks.chosen.len();
                ui.label(format!(
                    "{count} genes, {} children per generation, {drives} drives each.",
                    of.operators.n
                ));
                // The same warnings as in `roadwright check`.
                for (_, why) in of.warnings() {
                    ui.colored_label(model.theme().tone(Tone::Warning), why);
                }
            }
        },
    }
}

fn course(ui: &mut Ui, draft: &Draft, actions: &mut Vec<Action>) {
    ui.label("Course");
    let mut all = vec![(None, "this scenario".to_owned())];
    if let Some((path, _)) = &draft.scenario {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        all.push((Some(String::new()), name.into_owned()));
    }
    let named = Course::all().into_iter();
    all.extend(named.map(|course| (Some(course.name.clone()), course.name)));
    let now = match &draft.scenario {
        // The empty name stands for the scenario in the file.
        Some(_) => Some(String::new()),
        None => draft.experiment.course.clone(),
    };
    if let Some(course) = choice(ui, "Course", &now, &all) {
        actions.push(Action::Experiment(ExperimentAction::On(course)));
    }
    ui.end_row();
}

/// Returns the scenario that the experiment uses, if it has one.
fn scenario<'a>(model: &'a Model, draft: &'a Draft) -> Option<&'a Scenario> {
    if draft.experiment.course.is_some() {
        return None;
    }
    let own = draft.scenario.as_ref().map(|(_, scenario)| &**scenario);
    let waiting = model.waiting.as_deref();
    Some(own.or(waiting).unwrap_or(model.document.scenario()))
}

fn stack(ui: &mut Ui, model: &Model, draft: &Draft, actions: &mut Vec<Action>) {
    ui.label("Stack");
    let NameOr::Name(name) = &draft.experiment.stack else {
        ui.label("defined in the experiment file");
        ui.end_row();
        return;
    };
    let names: Vec<String> = match scenario(model, draft) {
        Some(scenario) => {
            let stacks = scenario.listed_stacks().into_iter();
            stacks.map(|(key, _)| key.clone()).collect()
        }
        None => {
            let entries = model.modules.registry.of::<dyn Controller>();
            let course = draft.experiment.course.as_deref();
            let course = course.and_then(|name| Course::named(name).ok());
            // Controllers made for a manoeuvre are offered only on its course.
            let fits = |id: &&str| course.as_ref().is_none_or(|course| course.is_for(id));
            let ids = entries.iter().map(|entry| entry.info.id).filter(fits);
            ids.map(str::to_owned).collect()
        }
    };
    let all: Vec<(String, String)> = names.into_iter().map(|n| (n.clone(), n)).collect();
    if let Some(stack) = choice(ui, "Stack", name, &all) {
        actions.push(Action::Experiment(ExperimentAction::Stack(stack)));
    }
    ui.end_row();
}

fn vehicle(ui: &mut Ui, model: &Model, draft: &Draft, experiment: &mut Experiment) {
    ui.label("Vehicle");
    let fresh;
    let scenario = match scenario(model, draft) {
        Some(scenario) => scenario,
        None => {
            fresh = Scenario::new("vehicles");
            &fresh
        }
    };
    let mut all = vec![(None, "as in the course".to_owned())];
    let types = scenario.listed_vehicle_types().into_iter();
    all.extend(types.map(|(key, _)| (Some(key.clone()), key.clone())));
    if let Some(vehicle) = choice(ui, "Vehicle", &experiment.vehicle, &all) {
        experiment.vehicle = vehicle;
    }
    ui.end_row();
}

fn dynamics(ui: &mut Ui, experiment: &mut Experiment) {
    ui.label("Dynamics");
    let mut all = vec![(None, "as in the course".to_owned())];
    let levels = DynamicsLevel::FOR_VEHICLES.into_iter();
    all.extend(levels.map(|level| (Some(level), level.traits().title.to_owned())));
    if let Some(level) = choice(ui, "Dynamics", &experiment.dynamics, &all) {
        experiment.dynamics = level;
    }
    ui.end_row();
}

fn fitness(ui: &mut Ui, model: &Model, experiment: &mut Experiment) {
    ui.label("Fitness");
    let now = match &experiment.fitness {
        None => None,
        Some(NameOr::Name(name)) => Some(name.clone()),
        // A fitness with its own weights, which are shown below.
        Some(NameOr::Own(setting)) => Some(format!("{}, weighted", setting.module)),
    };
    let mut all = vec![(None, "as in the course".to_owned())];
    if let Some(NameOr::Own(_)) = &experiment.fitness {
        all.extend(now.clone().map(|name| (Some(name.clone()), name)));
    }
    let entries = model.modules.registry.of::<dyn Fitness>().iter();
    all.extend(entries.map(|entry| (Some(entry.info.id.to_owned()), entry.info.id.to_owned())));
    if let Some(chosen) = choice(ui, "Fitness", &now, &all) {
        experiment.fitness = chosen.map(NameOr::Name);
    }
    ui.end_row();
}

fn seeds(ui: &mut Ui, experiment: &mut Experiment) {
    let seeds = &mut experiment.seeds;
    Grid::new("seeds").num_columns(3).show(ui, |ui| {
        let rows = [
            (
                "train",
                "Courses for scoring the generations.",
                &mut seeds.train,
            ),
            (
                "validate",
                "Courses for choosing the champion.",
                &mut seeds.validate,
            ),
            (
                "test",
                "Courses for testing the chosen champion.",
                &mut seeds.test,
            ),
        ];
        for (name, hint, range) in rows {
            ui.label(name).on_hover_text(hint);
            for (end, seed) in ["first", "last"].into_iter().zip(range) {
                let field = ui.add(DragValue::new(seed).speed(1.0));
                let label = format!("{name}, {end} seed");
                field.widget_info(move || WidgetInfo::labeled(Role::SpinButton, true, &label));
            }
            ui.end_row();
        }
    });
}

/// Shows a row for a whole number.
fn whole(
    ui: &mut Ui,
    name: &str,
    value: &mut usize,
    range: std::ops::RangeInclusive<f64>,
    hint: &str,
) {
    let number = Number {
        name,
        value: *value as f64,
        range,
        unit: "",
        step: 1.0,
        hint,
    };
    let (new, response) = number.ui(ui);
    if response.changed() {
        *value = new.max(0.0) as usize;
    }
}

fn breeding(ui: &mut Ui, experiment: &mut Experiment) {
    let mut generations = experiment.stop.generations as usize;
    let hint = "Number of generations after which training ends.";
    whole(ui, "Generations", &mut generations, 1.0..=100_000.0, hint);
    experiment.stop.generations = generations as u32;
    let hint = "Drives per individual and generation; use at least 30 to tell skill from luck.";
    whole(ui, "Drives", &mut experiment.runs, 1.0..=100_000.0, hint);
    let operators = &mut experiment.operators;
    let hint = "p: number of best individuals that are kept as parents.";
    whole(ui, "Parents p", &mut operators.p, 1.0..=1000.0, hint);
    let hint = "n: number of children bred in each generation.";
    whole(ui, "Children n", &mut operators.n, 1.0..=10_000.0, hint);
    let (r, response) = Number {
        name: "Mutation r",
        value: operators.r,
        range: 0.0..=1.0,
        unit: "",
        step: 0.01,
        hint: "r: probability that a gene mutates.",
    }
    .ui(ui);
    // The text "nan" is not a valid number.
    if response.changed() && r.is_finite() {
        operators.r = r;
    }
    let mut levels = operators.m as usize;
    let hint = "m: maximum number of levels by which a mutation changes a gene.";
    whole(ui, "Levels m", &mut levels, 0.0..=1000.0, hint);
    operators.m = levels as u32;
}

/// Shows a row for a choice.
fn chosen<T: PartialEq + Clone>(ui: &mut Ui, name: &str, value: &mut T, all: &[(T, &str)]) {
    ui.label(name);
    let all: Vec<(T, String)> = all
        .iter()
        .map(|(value, text)| (value.clone(), (*text).to_owned()))
        .collect();
    if let Some(new) = choice(ui, name, value, &all) {
        *value = new;
    }
    ui.end_row();
}

fn more(ui: &mut Ui, experiment: &mut Experiment) {
    let methods = [
        (Method::Genetic, "genetic"),
        (Method::CrossEntropy, "cross entropy"),
        (Method::Random, "random search"),
        (Method::HillClimbing, "hill climbing"),
        (Method::CmaEs, "CMA-ES"),
    ];
    chosen(ui, "Method", &mut experiment.method, &methods);
    if experiment.method == Method::CrossEntropy {
        spending::learning(ui, &mut experiment.learning);
    }
    let starts = [
        (Start::Stack, "the stack's values"),
        (Start::Random, "random values"),
    ];
    chosen(ui, "Start", &mut experiment.start, &starts);
    let first = &mut experiment.operators.first;
    let hint = "Number of children in a generation without parents, if greater than n.";
    whole(ui, "First children", first, 0.0..=100_000.0, hint);
    let bounds = [
        (Bounds::Clamp, "clamp"),
        (Bounds::Wrap, "wrap around"),
        (Bounds::Reflect, "reflect"),
    ];
    chosen(
        ui,
        "Range limits",
        &mut experiment.operators.bounds,
        &bounds,
    );
    let repairs = [(false, "unchanged"), (true, "sorted")];
    chosen(
        ui,
        "Child rules",
        &mut experiment.operators.repair,
        &repairs,
    );
    let courses = [
        (Courses::Fresh, "new each generation"),
        (Courses::Fixed, "same for all"),
    ];
    chosen(ui, "Courses", &mut experiment.courses, &courses);
    let elites = [
        (Elite::Rerun, "drive again"),
        (Elite::Keep, "keep their score"),
    ];
    chosen(ui, "The best", &mut experiment.elite, &elites);
    ui.label("Breeding seed");
    let field = ui.add(DragValue::new(&mut experiment.seed));
    field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Breeding seed"));
    ui.end_row();
}
