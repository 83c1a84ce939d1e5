//! Editing the durations of signal stages, and adding and removing stages.
//!
//! ```text
//!       Green  Amber  All red            Shortest  Longest  Amber  All red
//!   1   24.0 s 3.3 s   2.1 s  x             6 s      50 s    3.3 s   2.1 s   x
//!   2   18.0 s 3.0 s   1.8 s  x            on demand
//!   Add stage    Automatic
//! ```

use super::super::widgets::{change, named};
use super::law::JunctionLaw;
use super::stages::{goes_nowhere_without, row_title};
use super::timeline::{plan_as_given, plan_edit, plan_with_stages, ruling_node, with_plan};
use crate::model::{Action, Model, Tone};
use egui::{Button, CollapsingHeader, DragValue, Grid, RichText, Ui, vec2};
use roadwright_scenario::junction::Signals;
use roadwright_scenario::{Edit, MAX_STAGES, NodeId, SignalMode, SignalPlan, SignalStage};
use std::ops::RangeInclusive;

/// Allowed range of green times, s.
const GREEN: RangeInclusive<f64> = 1.0..=600.0;
/// Allowed range of amber and all-red times, s.
const CLEARANCE: RangeInclusive<f64> = 0.0..=30.0;

/// An editable time of a stage.
struct Time {
    title: &'static str,
    hint: &'static str,
    range: RangeInclusive<f64>,
    set: fn(&mut SignalStage, f64),
    /// Returns the time in effect for the stage with the given index, s.
    holds: fn(&Signals, usize) -> f64,
}

const FIXED: Time = Time {
    title: "Green",
    hint: "Duration of green.",
    range: GREEN,
    set: |stage, time| stage.time = time.into(),
    holds: |signals, stage| signals.programme.stages[stage].green,
};

const SHORTEST: Time = Time {
    title: "Shortest",
    hint: "Minimum green.",
    range: GREEN,
    set: |stage, time| {
        // The time of a stage lies between its minimum and maximum.
        stage.min = Some(time).into();
        stage.time = stage.time.max(time).into();
        stage.max = stage.max.map(|max| max.max(stage.time.get())).into();
    },
    holds: |signals, stage| signals.programme.stages[stage].min,
};

const LONGEST: Time = Time {
    title: "Longest",
    hint: "Maximum green while other traffic waits.",
    range: GREEN,
    set: |stage, time| {
        stage.max = Some(time).into();
        stage.time = stage.time.min(time).into();
        stage.min = stage.min.map(|min| min.min(stage.time.get())).into();
    },
    holds: |signals, stage| signals.programme.stages[stage].max,
};

const AMBER: Time = Time {
    title: "Amber",
    hint: "Amber after green.",
    range: CLEARANCE,
    set: |stage, time| stage.amber = Some(time).into(),
    holds: |signals, stage| between(signals, stage).0,
};

const ALL_RED: Time = Time {
    title: "All red",
    hint: "Red for all traffic after amber.",
    range: CLEARANCE,
    set: |stage, time| stage.all_red = Some(time).into(),
    holds: |signals, stage| between(signals, stage).1,
};

/// Returns the amber and all-red times after a stage, s.
fn between(signals: &Signals, stage: usize) -> (f64, f64) {
    let programme = &signals.programme;
    let between = programme.intergreen(stage, programme.next(stage));
    (between.amber, between.all_red)
}

/// Returns the editable times of a signal mode.
fn times(mode: SignalMode) -> &'static [Time] {
    match mode {
        SignalMode::Fixed => &[FIXED, AMBER, ALL_RED],
        _ => &[SHORTEST, LONGEST, AMBER, ALL_RED],
    }
}

pub(super) fn ui(
    ui: &mut Ui,
    model: &Model,
    id: NodeId,
    law: &JunctionLaw,
    signals: &Signals,
    actions: &mut Vec<Action>,
) {
    let node = ruling_node(model, law, id);
    let count = signals.greens.len();
    let title = format!("Stage times ({count})");
    let sheet = CollapsingHeader::new(title).id_salt("times of stages");
    sheet.show(ui, |ui| {
        let mut gone = None;
        let table = Grid::new("times of stages").spacing(vec2(6.0, 4.0));
        table.show(ui, |ui| {
            gone = rows(ui, model, node, law, signals, actions);
        });
        let mut changed = None;
        if let Some(stage) = gone {
            match without(law, signals, stage) {
                Ok(plan) => changed = Some((format!("Remove stage {} of {node}", stage + 1), plan)),
                Err(why) => actions.push(Action::Say(Tone::Refused, why)),
            }
        }
        ui.horizontal(|ui| {
            let add = ui.add_enabled(count < MAX_STAGES, Button::new("Add stage"));
            let add = add.on_hover_text("Add a copy of the last stage.");
            if add.clicked() {
                changed = Some((
                    format!("Add a stage to {node}"),
                    with_one_more(law, signals),
                ));
            }
            // Derived stages need no reset.
            if !law.junction.plan.stages.is_empty() && ui.button("Automatic").clicked() {
                let mut plan = plan_as_given(law, signals);
                plan.stages.clear();
                changed = Some((format!("Reset stages of {node}"), plan));
            }
        });
        let edit = changed.and_then(|(label, plan)| Some((label, plan_edit(model, node, plan)?)));
        actions.extend(edit.map(|(label, edit)| Action::Apply(label, edit)));
    });
}

/// Shows a row for each stage. Returns the stage to remove, if any.
fn rows(
    ui: &mut Ui,
    model: &Model,
    node: NodeId,
    law: &JunctionLaw,
    signals: &Signals,
    actions: &mut Vec<Action>,
) -> Option<usize> {
    let times = times(signals.programme.mode);
    ui.label("");
    for time in times {
        ui.label(RichText::new(time.title).weak())
            .on_hover_text(time.hint);
    }
    ui.end_row();
    let base = model.document.base().network().node(node)?;
    let mut gone = None;
    for number in 0..signals.greens.len() {
        ui.label(RichText::new(format!("{}", number + 1)).weak());
        for time in times {
            let mut value = (time.holds)(signals, number);
            let drag = DragValue::new(&mut value)
                .range(time.range.clone())
                .speed(0.1)
                .max_decimals(1)
                .clamp_existing_to_range(false)
                .suffix(" s");
            let response = ui.add(drag).on_hover_text(time.hint);
            let name = format!("{} of stage {}", time.title, number + 1);
            named(&response, &name);
            let edit = || {
                let mut plan = plan_with_stages(law, signals);
                (time.set)(&mut plan.stages[number], value);
                Edit::Node(node, Some(with_plan(base, plan)))
            };
            change(&response, &format!("{name} of {node}"), edit, actions);
        }
        let remove = ui.small_button("×").on_hover_text("Remove the stage.");
        let name = format!("Remove stage {}", number + 1);
        remove.widget_info(move || egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
        if remove.clicked() {
            gone = Some(number);
        }
        ui.end_row();
    }
    gone
}

/// Returns the plan with an additional stage at its end.
fn with_one_more(law: &JunctionLaw, signals: &Signals) -> SignalPlan {
    let mut plan = plan_with_stages(law, signals);
    // A copy is valid, because movements that share one stage may share another.
    plan.stages.extend(plan.stages.last().cloned());
    plan
}

/// Returns the plan without a stage, or a message if a movement would then never have green.
fn without(law: &JunctionLaw, signals: &Signals, stage: usize) -> Result<SignalPlan, String> {
    let number = stage + 1;
    let stranded = goes_nowhere_without(&law.junction, signals, stage);
    if let Some(row) = stranded {
        let name = row_title(row);
        return Err(format!(
            "Stage {number} is the only one with green for {name}. Give it green in another stage first."
        ));
    }
    let mut plan = plan_with_stages(law, signals);
    plan.stages.remove(stage);
    Ok(plan)
}
