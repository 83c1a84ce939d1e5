//! Budget of drives of a generation, and weights of the fitness. The budget determines which individuals are
//! stopped early, and by how much the number of drives grows per generation.

use super::super::parameter_table::{self, without_tables};
use super::super::widgets::{Number, choice};
use crate::model::Model;
use egui::Ui;
use roadwright_agent::{Fitness, ParameterInfo, ParameterKind, write_value};
use roadwright_scenario::ModuleSetting;
use roadwright_training::Course;
use roadwright_training::genetic::experiment::{Growth, NameOr};
use roadwright_training::genetic::{Experiment, Halving, Learning, Racing};
use std::ops::RangeInclusive;

/// Initial settings of racing. If scores are not negative, an individual is dropped only if it can
/// no longer win.
const RACING: Racing = Racing {
    least: 0.0,
    block: 3,
    doubt: None,
};
/// Initial significance level.
const DOUBT: f64 = 0.05;
/// Initial number of generations between restarts.
const RESTART: u32 = 30;
/// Range of the fields that contain a fitness. It is wide because fitness has no limits.
const ANY: RangeInclusive<f64> = -1e6..=1e6;

/// Criterion for stopping the evaluation of poor individuals early.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sparing {
    Nobody,
    Racing,
    Halving,
}

impl Sparing {
    fn of(experiment: &Experiment) -> Self {
        match (&experiment.racing, &experiment.halving) {
            (None, None) => Self::Nobody,
            (Some(_), _) => Self::Racing,
            (None, Some(_)) => Self::Halving,
        }
    }

    fn put(self, experiment: &mut Experiment) {
        experiment.racing = (self == Self::Racing).then_some(RACING);
        experiment.halving = (self == Self::Halving).then(Halving::default);
    }
}

/// Shows a row for a number.
fn number(ui: &mut Ui, value: &mut f64, row: Number<'_>) {
    let (new, response) = Number {
        value: *value,
        ..row
    }
    .ui(ui);
    // The text "nan" is not a valid number.
    if response.changed() && new.is_finite() {
        *value = new;
    }
}

/// Describes a number without a unit. The value is filled in when the row is shown.
fn row<'a>(name: &'a str, range: RangeInclusive<f64>, step: f64, hint: &'a str) -> Number<'a> {
    Number {
        name,
        value: 0.0,
        range,
        unit: "",
        step,
        hint,
    }
}

fn whole(ui: &mut Ui, value: &mut usize, name: &str, range: RangeInclusive<f64>, hint: &str) {
    let mut new = *value as f64;
    number(ui, &mut new, row(name, range, 1.0, hint));
    *value = new.max(0.0) as usize;
}

/// Shows a choice that turns an optional setting on or off.
fn has<T>(ui: &mut Ui, name: &str, hint: &str, value: &mut Option<T>, words: [&str; 2], begin: T) {
    ui.label(name).on_hover_text(hint);
    let all = [(false, words[0].to_owned()), (true, words[1].to_owned())];
    match choice(ui, name, &value.is_some(), &all) {
        Some(true) => *value = Some(begin),
        Some(false) => *value = None,
        None => {}
    }
    ui.end_row();
}

/// Shows all rows, for a grid of two columns.
pub(super) fn ui(ui: &mut Ui, experiment: &mut Experiment) {
    ui.label("Ends early").on_hover_text(
        "Method that selects individuals to stop early. Individuals that never start moving are always stopped.",
    );
    let all = [
        (Sparing::Nobody, "none"),
        (Sparing::Racing, "cannot win (racing)"),
        (Sparing::Halving, "worst of each round (halving)"),
    ];
    let all = all.map(|(value, text)| (value, text.to_owned()));
    if let Some(sparing) = choice(ui, "Ends early", &Sparing::of(experiment), &all) {
        sparing.put(experiment);
    }
    ui.end_row();
    if let Some(racing) = &mut experiment.racing {
        race(ui, racing);
    } else if let Some(halving) = &mut experiment.halving {
        halve(ui, halving);
    }
    growth(ui, experiment);
    let hint =
        "Multiplier of the time step during breeding. Larger values are faster but less exact.";
    let compression = row("Time compression", 1.0..=8.0, 0.1, hint);
    number(ui, &mut experiment.time_compression, compression);
    let hint = "Training ends as soon as the best of the pool reaches this fitness.";
    let words = ["never", "when good enough"];
    has(
        ui,
        "Stops early",
        hint,
        &mut experiment.stop.fitness,
        words,
        0.0,
    );
    if let Some(fitness) = &mut experiment.stop.fitness {
        let hint = "Fitness at which training ends.";
        number(ui, fitness, row("Good enough", ANY, 0.1, hint));
    }
}

fn race(ui: &mut Ui, racing: &mut Racing) {
    let hint = "Best score that a drive can reach. A tighter bound leads to earlier decisions.";
    number(ui, &mut racing.least, row("Best possible", ANY, 0.1, hint));
    let hint = "Courses driven between two decisions.";
    whole(
        ui,
        &mut racing.block,
        "Courses per block",
        1.0..=1000.0,
        hint,
    );
    let hint = "Drop individuals that are significantly worse than the pool.";
    let words = ["only if proven", "also if significant"];
    has(ui, "Drop", hint, &mut racing.doubt, words, DOUBT);
    if let Some(doubt) = &mut racing.doubt {
        let hint = "Significance level: probability of dropping an individual by chance.";
        number(ui, doubt, row("Significance", 0.001..=0.499, 0.005, hint));
    }
}

fn halve(ui: &mut Ui, halving: &mut Halving) {
    let mut rounds = halving.rounds as usize;
    let hint = "Number of rounds. The better individuals continue; all courses are driven by the end of the \
        last round.";
    whole(ui, &mut rounds, "Rounds", 2.0..=10.0, hint);
    halving.rounds = rounds as u32;
    let hint = "Share of individuals that continues to the next round.";
    number(
        ui,
        &mut halving.share,
        row("Share that continues", 0.05..=0.95, 0.01, hint),
    );
}

fn growth(ui: &mut Ui, experiment: &mut Experiment) {
    let begin = Growth {
        runs: 1,
        most: experiment.runs.saturating_mul(4).min(100_000),
    };
    let hint = "The better the pool, the more drives are needed to see a difference.";
    let words = ["same number of drives", "more drives"];
    has(
        ui,
        "Later generations",
        hint,
        &mut experiment.growth,
        words,
        begin,
    );
    let least = experiment.runs as f64;
    if let Some(growth) = &mut experiment.growth {
        let hint = "Additional drives in each generation.";
        whole(
            ui,
            &mut growth.runs,
            "Additional drives",
            1.0..=10_000.0,
            hint,
        );
        let hint = "Maximum number of drives per individual.";
        whole(
            ui,
            &mut growth.most,
            "Maximum drives",
            least..=100_000.0,
            hint,
        );
    }
}

/// Shows the rows of the cross-entropy method.
pub(super) fn learning(ui: &mut Ui, learning: &mut Learning) {
    let hint = "Weight of the latest generation when the distributions are updated.";
    number(
        ui,
        &mut learning.rate,
        row("Learning rate", 0.01..=1.0, 0.01, hint),
    );
    let hint = "Minimum probability of each value of a gene, so that none is lost.";
    number(
        ui,
        &mut learning.least,
        row("Minimum probability", 0.0..=0.1, 0.001, hint),
    );
    let hint = "Whether training restarts. The outcome is partly luck, so the champion is chosen from the \
        final generations of all restarts.";
    let words = ["never", "after some generations"];
    has(ui, "Restarts", hint, &mut learning.restart, words, RESTART);
    if let Some(restart) = &mut learning.restart {
        let mut generations = *restart as usize;
        let hint = "Generations between restarts.";
        whole(
            ui,
            &mut generations,
            "After generations",
            2.0..=100_000.0,
            hint,
        );
        *restart = generations as u32;
    }
}

/// Returns the module that computes the fitness of drives: the selected module, or the module of
/// the course.
fn module_of(experiment: &Experiment) -> Option<String> {
    match &experiment.fitness {
        Some(NameOr::Name(name)) => Some(name.clone()),
        Some(NameOr::Own(setting)) => Some(setting.module.clone()),
        None => {
            let course = experiment.course.as_deref();
            let named = course.and_then(|name| Course::named(name).ok());
            Some(
                named
                    .map_or(Course::ARRIVAL_FITNESS, |course| course.fitness)
                    .to_owned(),
            )
        }
    }
}

/// Shows the rows of the fitness's parameters. Values equal to the module's defaults are not
/// written.
pub(super) fn weights(ui: &mut Ui, model: &Model, experiment: &mut Experiment) {
    let Some(module) = module_of(experiment) else {
        return;
    };
    let entries = model.modules.registry.of::<dyn Fitness>();
    let Some(entry) = entries.iter().find(|entry| entry.info.id == module) else {
        return;
    };
    let (single, tables) = without_tables(entry.parameters);
    for info in single {
        let before = weight_of(experiment, info);
        let mut value = before;
        weight(ui, &mut value, info);
        if value != before {
            put_weight(experiment, &module, entry.parameters, info, value);
        }
    }
    for cells in tables {
        let value = |info: &ParameterInfo| weight_of(experiment, info);
        for cell in parameter_table::table(ui, &module, cells, value) {
            put_weight(experiment, &module, entry.parameters, cell.info, cell.value);
        }
        // Every table ends a row of the surrounding grid.
        ui.end_row();
    }
}

/// Returns the value of a parameter of the fitness, which is the default unless the experiment sets
/// it.
fn weight_of(experiment: &Experiment, info: &ParameterInfo) -> f64 {
    let set = match &experiment.fitness {
        Some(NameOr::Own(setting)) => setting.parameters.get(info.key).copied(),
        Some(NameOr::Name(_)) | None => None,
    };
    set.unwrap_or(info.default)
}

fn weight(ui: &mut Ui, value: &mut f64, info: &ParameterInfo) {
    let name = info.key.replace('_', " ");
    if let ParameterKind::Choice(words) = info.kind {
        ui.label(&name).on_hover_text(info.doc);
        let all: Vec<(usize, String)> = words
            .iter()
            .map(|word| (*word).to_owned())
            .enumerate()
            .collect();
        if let Some(new) = choice(ui, &name, &(*value as usize), &all) {
            *value = new as f64;
        }
        ui.end_row();
        return;
    }
    let is_whole = info.kind == ParameterKind::Integer;
    let field = Number {
        unit: info.unit,
        ..row(
            &name,
            info.min..=info.max,
            if is_whole {
                1.0
            } else {
                (info.max - info.min).min(100.0) / 1000.0
            },
            info.doc,
        )
    };
    number(ui, value, field);
}

fn put_weight(
    experiment: &mut Experiment,
    module: &str,
    all: &[ParameterInfo],
    info: &ParameterInfo,
    value: f64,
) {
    let mut setting = match experiment.fitness.take() {
        Some(NameOr::Own(setting)) => *setting,
        Some(NameOr::Name(_)) | None => ModuleSetting::new(module),
    };
    write_value(&mut setting.parameters, all, info, value);
    // For a fitness without weights, only the name is stored.
    experiment.fitness = Some(if setting.parameters.is_empty() {
        NameOr::Name(setting.module)
    } else {
        NameOr::Own(Box::new(setting))
    });
}
