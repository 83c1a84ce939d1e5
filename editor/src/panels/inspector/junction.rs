//! What rules the junction of a node: who goes first, and how its signals run.

use super::super::property::{Choice, OF, Property, Subject, fact};
use super::super::widgets::heading;
use super::traffic::Choices;
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use roadwright_scenario::junction::{DEFAULT_CYCLE, Junction, Sign};
use roadwright_scenario::{Control, Edit, Node, NodeId, RoadId, SignalMode};

/// Road ends from which on it matters who goes first.
const CROSSING: usize = 3;

const CONTROL: Choice<Node, Option<Control>> = Choice {
    title: "Control",
    name: "Control",
    label: OF,
    hint: "What says who goes first.",
    get: |node| &node.rules.control,
    set: |node, control| node.rules.control = control,
};

const MODE: Choice<Node, Option<SignalMode>> = Choice {
    title: "Signals",
    name: "Mode of signals",
    label: OF,
    hint: "How the signals run.",
    get: |node| match node.rules.plan.as_ref().map(|plan| plan.mode) {
        None => &None,
        Some(SignalMode::Fixed) => &Some(SignalMode::Fixed),
        Some(SignalMode::Actuated) => &Some(SignalMode::Actuated),
        Some(SignalMode::Flashing) => &Some(SignalMode::Flashing),
        Some(SignalMode::Off) => &Some(SignalMode::Off),
    },
    set: |node, mode| match mode {
        None => node.rules.plan = None,
        Some(mode) => node.rules.plan.get_or_insert_default().mode = mode,
    },
};

const TIMES: [Property<Node>; 2] = [
    Property {
        name: "Cycle",
        label: OF,
        unit: "s",
        range: 10.0..=600.0,
        step: 1.0,
        hint: "From one start of the first stage to the next.",
        get: |node| node.rules.plan.as_ref()?.cycle.or(Some(DEFAULT_CYCLE)),
        set: |node, cycle| {
            if let Some(plan) = &mut node.rules.plan {
                plan.cycle = Some(cycle);
            }
        },
    },
    Property {
        name: "Offset",
        label: OF,
        unit: "s",
        range: 0.0..=600.0,
        step: 1.0,
        hint: "When the first stage starts: for waves of green along a street.",
        get: |node| Some(node.rules.plan.as_ref()?.offset),
        set: |node, offset| {
            if let Some(plan) = &mut node.rules.plan {
                plan.offset = offset;
            }
        },
    },
];

pub(super) fn ui(ui: &mut Ui, model: &Model, id: NodeId, node: &Node, actions: &mut Vec<Action>) {
    // A node that has just been drawn has no junction before the next scene.
    let Some(junction) = model.scene.layout.junction_at(id) else {
        return;
    };
    if junction.arms.len() < CROSSING && node.rules.control.is_none() {
        return;
    }
    heading(ui, "Right of way");
    let mut subject = Subject {
        name: id.to_string(),
        object: node,
        edit: &|node| Edit::Node(id, Some(node)),
        actions,
    };
    Grid::new("right of way").num_columns(2).show(ui, |ui| {
        subject.choose(ui, &CONTROL, &controls(junction, node));
        if junction.control == Control::Signals {
            subject.choose(ui, &MODE, &modes());
            if junction.plan.mode == SignalMode::Fixed {
                subject.numbers(ui, &TIMES);
            }
        }
        for arm in &junction.arms {
            fact(ui, &arm.road.to_string(), told(arm.sign));
        }
    });
    if has_majors(junction.control) {
        majors(ui, junction, &mut subject);
    }
}

/// All controls, and what follows from the roads if nothing is decided.
fn controls(junction: &Junction, node: &Node) -> Choices<Option<Control>> {
    let derived = match node.rules.control {
        None => format!("By the roads: {}", title(junction.control)),
        Some(_) => "By the roads".into(),
    };
    let mut all = vec![(None, derived)];
    all.extend(Control::ALL.map(|control| (Some(control), title(control).to_owned())));
    all
}

fn title(control: Control) -> &'static str {
    match control {
        Control::Uncontrolled => "nearer side first",
        Control::Priority => "give way",
        Control::Stop => "stop",
        Control::AllWayStop => "all-way stop",
        Control::Signals => "signals",
        Control::Roundabout => "roundabout",
        Control::Zipper => "zipper",
    }
}

fn modes() -> Choices<Option<SignalMode>> {
    vec![
        (None, "fixed, times by the lanes".into()),
        (Some(SignalMode::Fixed), "fixed".into()),
        (Some(SignalMode::Actuated), "by demand".into()),
        (Some(SignalMode::Flashing), "flashing amber".into()),
        (Some(SignalMode::Off), "off".into()),
    ]
}

fn told(sign: Sign) -> &'static str {
    match sign {
        Sign::None => "goes first",
        Sign::Yield => "gives way",
        Sign::Stop => "stops",
        Sign::Signal => "has signals",
    }
}

fn has_majors(control: Control) -> bool {
    matches!(
        control,
        Control::Priority | Control::Stop | Control::Roundabout
    )
}

/// The roads that go first, to be chosen.
fn majors(ui: &mut Ui, junction: &Junction, subject: &mut Subject<'_, Node>) {
    ui.label("Roads that go first:");
    ui.horizontal_wrapped(|ui| {
        for arm in &junction.arms {
            let mut is_major = arm.sign == Sign::None;
            if ui.checkbox(&mut is_major, arm.road.to_string()).changed() {
                let now: Vec<RoadId> = junction
                    .arms
                    .iter()
                    .filter(|other| {
                        if other.road == arm.road {
                            is_major
                        } else {
                            other.sign == Sign::None
                        }
                    })
                    .map(|other| other.road)
                    .collect();
                let name = subject.name.clone();
                subject.apply(format!("Roads that go first at {name}"), |node| {
                    node.rules.major = now;
                });
            }
        }
    });
}
