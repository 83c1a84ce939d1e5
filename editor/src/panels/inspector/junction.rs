//! The rules of a node's junction: priority, and the control of its signals.

use super::super::property::{Choice, OF, Property, Subject, fact};
use super::super::widgets::{choice, heading};
use super::controller;
use super::traffic::Choices;
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use roadwright_agent::ModuleKind;
use roadwright_scenario::junction::{DEFAULT_CYCLE, Junction, Sign};
use roadwright_scenario::operation::signals::ruling_node;
use roadwright_scenario::{
    Control, Edit, Node, NodeId, RoadId, RoadNetwork, SignalControllerSetting, SignalMode,
    SignalPlan,
};

/// Minimum number of road ends at a junction for which priority matters.
const CROSSING: usize = 3;

const CONTROL: Choice<Node, Option<Control>> = Choice {
    title: "Control",
    name: "Control",
    label: OF,
    hint: "The rule that decides priority.",
    get: |node| &node.rules.control,
    set: |node, control| node.rules.control = control,
};

/// Control of the signals: not set, a mode, or a module given by its id.
#[derive(Clone, PartialEq)]
enum Decides {
    Unsaid,
    Mode(SignalMode),
    Module(String),
}

impl Decides {
    fn of(node: &Node) -> Self {
        match &node.rules.plan {
            None => Self::Unsaid,
            Some(plan) => match plan.decided_by() {
                (_, Some(controller)) => Self::Module(controller.module.clone()),
                (mode, None) => Self::Mode(mode),
            },
        }
    }

    fn put(self, node: &mut Node) {
        let plan = &mut node.rules.plan;
        match self {
            Self::Unsaid => *plan = None,
            Self::Mode(mode) => {
                let plan = plan.get_or_insert_default();
                (plan.mode, plan.controller) = (mode, None);
            }
            Self::Module(module) => {
                let plan = plan.get_or_insert_default();
                // Otherwise, flashing or disabled signals would remain in that mode.
                plan.mode = SignalMode::Actuated;
                plan.controller = Some(SignalControllerSetting::new(&module));
            }
        }
    }
}

/// Returns the choices for red-amber before green: not set, off, or a duration in seconds.
fn red_ambers(junction: &Junction, node: &Node) -> Choices<Option<f64>> {
    let by_law = junction.law.red_amber;
    let title = |seconds: f64| match seconds {
        0.0 => "off".to_owned(),
        seconds => format!("{seconds:.1} s"),
    };
    let mut all = vec![(None, format!("Country default: {}", title(by_law)))];
    let usual = [0.0, 1.0, 1.5, 2.0, 3.0];
    all.extend(usual.map(|seconds| (Some(seconds), title(seconds))));
    // A file may contain any other value.
    let own = red_amber_of(node);
    if !all.iter().any(|(known, _)| *known == own) {
        all.extend(own.map(|seconds| (own, title(seconds))));
    }
    all
}

fn red_amber_of(node: &Node) -> Option<f64> {
    node.rules.plan.as_ref()?.red_amber.get()
}

const TIMES: [Property<Node>; 2] = [
    Property {
        name: "Cycle",
        label: OF,
        unit: "s",
        range: 10.0..=600.0,
        step: 1.0,
        hint: "Time between two starts of the first stage.",
        // The effective value is shown, even if the plan does not set it.
        get: |node| node.rules.plan.as_ref()?.cycle.or(Some(DEFAULT_CYCLE)),
        set: |node, cycle| {
            if let Some(plan) = &mut node.rules.plan {
                plan.cycle = Some(cycle).into();
            }
        },
    },
    Property {
        name: "Offset",
        label: OF,
        unit: "s",
        range: 0.0..=600.0,
        step: 1.0,
        hint: "Start time of the first stage, for green waves along a street.",
        get: |node| Some(node.rules.plan.as_ref()?.offset.get()),
        set: |node, offset| {
            if let Some(plan) = &mut node.rules.plan {
                plan.offset = offset.into();
            }
        },
    },
];

pub(super) fn ui(ui: &mut Ui, model: &Model, clicked: NodeId, actions: &mut Vec<Action>) {
    // A node that was just drawn has no junction until the next scene.
    let Some(junction) = model.scene.layout.junction_at(clicked) else {
        return;
    };
    let network = model.document.scenario().network();
    let id = ruling_node(network, junction).unwrap_or(clicked);
    let Some(node) = network.node(id) else {
        return;
    };
    if junction.arms.len() < CROSSING && node.rules.control.is_none() {
        return;
    }
    heading(ui, "Right of way");
    if id != clicked {
        // Rules at another node of a merged junction would have no effect.
        ui.label(format!("Set at {id} for all nodes of this junction."));
    }
    let mut subject = Subject {
        name: id.to_string(),
        object: node,
        edit: &|node| Edit::Node(id, Some(node)),
        actions,
    };
    Grid::new("right of way").num_columns(2).show(ui, |ui| {
        subject.choose(ui, &CONTROL, &controls(junction, node));
        // From the junction rather than the node, because signals may also follow from the roads.
        if junction.control == Control::Signals {
            let title = ui.label("Signals");
            title.on_hover_text("Mode of the signals, or the script that controls them.");
            let chosen = choice(
                ui,
                "Mode of signals",
                &Decides::of(node),
                &deciders(model, node),
            );
            if let Some(decides) = chosen {
                let label = format!("Set signals of {}", subject.name);
                subject.apply(label, |node| decides.put(node));
            }
            ui.end_row();
            if junction.plan.mode.rules() {
                let title = ui.label("Red-amber");
                title.on_hover_text("Time for which red and amber are shown together before green.");
                let all = red_ambers(junction, node);
                if let Some(chosen) = choice(ui, "Red-amber", &red_amber_of(node), &all) {
                    let label = format!("Set red-amber of {}", subject.name);
                    subject.apply(label, |node| {
                        node.rules.plan.get_or_insert_default().red_amber = chosen.into();
                    });
                }
                ui.end_row();
            }
            if junction.plan.mode.rules() && junction.plan.stages.is_empty() {
                let title = ui.label("Crossing turns");
                title.on_hover_text(
                    "Give lanes that only turn across oncoming traffic their own green. Without this, they get \
                     it only if the oncoming road is fast or has several lanes, and yield otherwise.",
                );
                let mut is_protected = junction.plan.protected_turns;
                if ui.checkbox(&mut is_protected, "protected").changed() {
                    let label = format!("Set crossing turns at {}", subject.name);
                    subject.apply(label, |node| {
                        node.rules.plan.get_or_insert_default().protected_turns = is_protected;
                        // A plan without settings is not stored.
                        node.rules.plan.take_if(|plan| *plan == SignalPlan::default());
                    });
                }
                ui.end_row();
            }
            if junction.plan.mode == SignalMode::Fixed {
                subject.numbers(ui, &TIMES);
            }
        }
        for arm in &junction.arms {
            fact(ui, &arm.road.to_string(), told(arm.sign));
        }
    });
    if junction.control == Control::Signals {
        controller::ui(ui, model, &mut subject);
    }
    if has_majors(junction.control) {
        majors(ui, network, id, junction, actions);
    }
}

/// Returns all kinds of control, with the kind that the roads imply as the default.
fn controls(junction: &Junction, node: &Node) -> Choices<Option<Control>> {
    let derived = match node.rules.control {
        None => format!("Automatic: {}", title(junction.control)),
        Some(_) => "Automatic".into(),
    };
    let mut all = vec![(None, derived)];
    all.extend(Control::ALL.map(|control| (Some(control), title(control).to_owned())));
    all
}

fn title(control: Control) -> &'static str {
    match control {
        Control::Uncontrolled => "near-side priority",
        Control::Priority => "give way",
        Control::Stop => "stop",
        Control::AllWayStop => "all-way stop",
        Control::Signals => "signals",
        Control::Roundabout => "roundabout",
        Control::MiniRoundabout => "mini roundabout",
        Control::Zipper => "zipper",
    }
}

/// Returns the choices for the control of the signals: the modes and the available modules. If the
/// plan names a module that is missing, that module is included.
fn deciders(model: &Model, node: &Node) -> Choices<Decides> {
    let modes = [
        (Decides::Unsaid, "fixed, automatic times"),
        (Decides::Mode(SignalMode::Fixed), "fixed"),
        (Decides::Mode(SignalMode::Actuated), "on demand"),
        (Decides::Mode(SignalMode::Flashing), "flashing amber"),
        (Decides::Mode(SignalMode::Off), "off"),
    ];
    let mut all: Choices<Decides> = modes.map(|(own, name)| (own, name.to_owned())).into();
    let infos = model.modules.registry.infos(ModuleKind::SignalController);
    let ids = infos.iter().map(|(info, _)| info.id.to_owned());
    all.extend(ids.map(|id| (Decides::Module(id.clone()), id)));
    if let Decides::Module(id) = Decides::of(node)
        && !infos.iter().any(|(info, _)| info.id == id)
    {
        all.push((Decides::Module(id.clone()), format!("{id} (missing)")));
    }
    all
}

fn told(sign: Sign) -> &'static str {
    match sign {
        Sign::None => "no sign",
        Sign::Yield => "gives way",
        Sign::Stop => "stops",
        Sign::Signal => "signals",
    }
}

fn has_majors(control: Control) -> bool {
    matches!(
        control,
        Control::Priority | Control::Stop | Control::Roundabout
    )
}

/// Shows checkboxes that choose the major roads of a junction.
fn majors(
    ui: &mut Ui,
    network: &RoadNetwork,
    id: NodeId,
    junction: &Junction,
    actions: &mut Vec<Action>,
) {
    ui.label("Major roads:");
    let mut apply = |roads: Vec<RoadId>| {
        let label = format!("Set major roads at {id}");
        let edit = with_majors(network, id, junction, &roads);
        actions.push(Action::Apply(label, edit));
    };
    // The user's choice remains until it is reset, even if the roads change.
    let mut nodes = junction.nodes.iter().filter_map(|&id| network.node(id));
    let is_chosen = nodes.any(|node| !node.rules.major.is_empty());
    let reset = is_chosen.then(|| ui.button("Automatic"));
    if reset.is_some_and(|button| button.clicked()) {
        apply(Vec::new());
    }
    ui.horizontal_wrapped(|ui| {
        for arm in &junction.arms {
            // Uses the derived signs, because without a choice the roads decide, and the first click must not
            // demote roads that had priority.
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
                apply(now);
            }
        }
    });
}

/// Returns the edit that makes exactly these roads major. The nodes of a merged junction share one
/// list, so only the node whose rules apply lists major roads.
fn with_majors(
    network: &RoadNetwork,
    ruling: NodeId,
    junction: &Junction,
    roads: &[RoadId],
) -> Edit {
    let edits = junction.nodes.iter().filter_map(|&id| {
        let mut node = network.node(id)?.clone();
        let roads = if id == ruling { roads } else { &[] };
        if node.rules.major == roads {
            return None;
        }
        node.rules.major = roads.to_vec();
        Some(Edit::Node(id, Some(node)))
    });
    Edit::Batch(edits.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_scenario::JunctionRules;

    #[test]
    fn who_is_chosen_to_decide_about_signals_is_shown() {
        let mut node = Node {
            x: 0.0.into(),
            y: 0.0.into(),
            rules: JunctionRules::default(),
        };
        for decides in [
            Decides::Module("own.rhai".into()),
            Decides::Mode(SignalMode::Off),
            Decides::Module("other.rhai".into()),
            Decides::Mode(SignalMode::Fixed),
            Decides::Unsaid,
        ] {
            decides.clone().put(&mut node);
            assert!(Decides::of(&node) == decides);
        }
        // A module with the name of a mode is that mode.
        Decides::Module("actuated".into()).put(&mut node);
        assert!(Decides::of(&node) == Decides::Mode(SignalMode::Actuated));
    }
}
