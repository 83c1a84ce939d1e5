//! Green waves: a time-distance diagram of a street in which the start times of signal cycles can be dragged.

mod chart;

use super::PanelFrame;
use super::inspector::law::plans_near;
use super::widgets::{empty, named, primary};
use crate::command::Command;
use crate::model::{Action, Model, Tone as Word};
use crate::panel::PanelId;
use crate::tools::Tone;
use chart::{Chart, Gesture};
use egui::{DragValue, RichText, Ui};
use roadwright_scenario::green_wave::{Along, Corridor, NoWave, Street};
use roadwright_scenario::junction::Junction;
use roadwright_scenario::operation::signals::with_offsets;
use roadwright_scenario::{Control, Edit, NodeId, ObjectId};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Allowed design speeds of a wave, km/h.
const SPEEDS: RangeInclusive<f64> = 5.0..=200.0;
/// Factor for rounding the offsets of a wave to tenths of a second. Rounding narrows the band by at
/// most a tenth of a second.
const TENTHS: f64 = 10.0;

/// Cached results for a scenario revision and a selection.
struct Known {
    revision: u64,
    found: Result<Arc<Corridor>, NoWave>,
    /// Signals that share a programme with neighbours.
    shared: Vec<NodeId>,
}

/// State of the panel.
#[derive(Default)]
pub(super) struct GreenWavePanel {
    /// The selection that defines the corridor. This is the last selection with at least two
    /// signals, so that selecting one of them to inspect it does not close the diagram.
    chosen: BTreeSet<ObjectId>,
    /// Whether forward and backward are exchanged.
    is_turned: bool,
    /// The design speed, m/s. `None` for the speed of the roads.
    speed: Option<f64>,
    known: Option<Known>,
    gesture: Option<Gesture>,
}

impl GreenWavePanel {
    /// Updates the panel if the selection or the scenario has changed.
    fn follow(&mut self, model: &Model) {
        if self.chosen != model.selection && signals_of(model) > 1 {
            *self = Self {
                chosen: model.selection.clone(),
                ..Self::default()
            };
        }
        let revision = model.scene.revision;
        if self
            .known
            .as_ref()
            .is_none_or(|known| known.revision != revision)
        {
            self.known = Some(self.derived(model));
        }
    }

    fn derived(&self, model: &Model) -> Known {
        let scene = &model.scene;
        let (network, layout) = (scene.scenario.network(), &scene.layout);
        let mut shared = Vec::new();
        let found = Street::through(network, layout, &self.chosen).and_then(|street| {
            let stops: Vec<usize> = street.stops.iter().map(|stop| stop.junction).collect();
            let plans = plans_near(model, &stops);
            let corridor = Corridor::new(&street, layout, &plans.signals)?;
            for signal in &corridor.signals {
                let mut groups = plans.groups.iter().filter(|group| group.len() > 1);
                if groups.any(|group| group.contains(&signal.junction)) {
                    shared.push(signal.node);
                }
            }
            Ok(Arc::new(corridor))
        });
        Known {
            revision: scene.revision,
            found,
            shared,
        }
    }
}

/// Returns the number of junctions with signals that are selected or lie at the ends of selected
/// roads. Counting stops at two.
fn signals_of(model: &Model) -> usize {
    let (network, layout) = (model.scene.scenario.network(), &model.scene.layout);
    let mut found = BTreeSet::new();
    for object in &model.selection {
        let nodes = match *object {
            ObjectId::Node(id) => [Some(id), None],
            ObjectId::Road(id) => {
                let road = network.road(id);
                [road.map(|road| road.from), road.map(|road| road.to)]
            }
            _ => [None, None],
        };
        for index in nodes
            .into_iter()
            .flatten()
            .filter_map(|id| layout.junction_of.get(&id))
        {
            let junction = &layout.junctions[*index];
            if junction.control == Control::Signals && junction.plan.mode.rules() {
                found.insert(*index);
            }
        }
        if found.len() > 1 {
            break;
        }
    }
    found.len()
}

/// Shows the button that opens the panel, if the selection has a green wave.
pub(super) fn opener(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let command = Command::Panel(PanelId::GreenWave);
    if signals_of(model) > 1
        && ui
            .button(command.title())
            .on_hover_text(command.hint())
            .clicked()
    {
        actions.push(Action::Do(command));
    }
}

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame {
        model,
        memory,
        actions,
    } = frame;
    let state = &mut memory.green_wave;
    state.follow(model);
    // A drag may end while the panel is hidden.
    let is_held = ui.input(|input| input.pointer.primary_down() || input.pointer.any_released());
    if !is_held && state.gesture.take().is_some() {
        actions.push(Action::Commit(None));
    }
    let Some(known) = &state.known else { return };
    let corridor = match &known.found {
        Ok(corridor) => corridor.clone(),
        Err(NoWave::TooFew) => {
            empty(ui, &sentence(&NoWave::TooFew));
            return;
        }
        Err(why) => {
            refused(ui, model, why, actions);
            return;
        }
    };
    let corridor = match state.is_turned && corridor.is_open(Along::Backward) {
        true => Arc::new(corridor.turned()),
        false => corridor,
    };
    let shared = known.shared.clone();
    let speed = controls(ui, model, state, &corridor, actions);
    // Includes the drag, because the scene lags behind the pointer.
    let shown = match &state.gesture {
        Some(gesture) => gesture.put(&corridor),
        None => corridor.as_ref().clone(),
    };
    words(ui, &shown, speed);
    if !shared.is_empty() {
        let nodes: Vec<String> = shared.iter().map(NodeId::to_string).collect();
        let text = format!(
            "{}: coordinated with neighbouring signals; changing the offset ends the coordination.",
            nodes.join(", ")
        );
        ui.label(RichText::new(text).weak());
    }
    let chart = Chart {
        model,
        corridor: &shown,
        speed,
    };
    chart.ui(ui, &mut state.gesture, actions);
}

/// Shows the controls for speed and direction, and the button that creates the wave. Returns the
/// current speed, m/s.
fn controls(
    ui: &mut Ui,
    model: &Model,
    state: &mut GreenWavePanel,
    corridor: &Corridor,
    actions: &mut Vec<Action>,
) -> f64 {
    let mut speed = state.speed.unwrap_or(corridor.free_speed);
    ui.horizontal_wrapped(|ui| {
        ui.label("Design speed");
        let mut shown = 3.6 * speed;
        let drag = DragValue::new(&mut shown)
            .range(SPEEDS)
            .speed(0.5)
            .max_decimals(1)
            .suffix(" km/h");
        let response = ui.add(drag);
        named(&response, "Design speed");
        let hint = "Speed of the wave; by default the speed that the roads allow.";
        if response.on_hover_text(hint).changed() {
            speed = shown / 3.6;
            state.speed = Some(speed);
        }
        let hint =
            "Set the offsets so that each green starts when vehicles from the first green arrive.";
        if primary(ui, "Create wave").on_hover_text(hint).clicked() {
            actions.push(wave(model, corridor, speed));
        }
        let can_turn = corridor.is_open(Along::Backward);
        let turn = ui.add_enabled(can_turn, egui::Button::new("Reverse direction"));
        if turn
            .on_hover_text("Reverse the direction of the wave.")
            .clicked()
        {
            state.is_turned = !state.is_turned;
        }
    });
    speed
}

/// Returns the action that creates a wave at a speed in m/s.
fn wave(model: &Model, corridor: &Corridor, speed: f64) -> Action {
    let offsets = corridor.wave(speed).into_iter().zip(&corridor.signals);
    let offsets = offsets.map(|(offset, signal)| {
        // The first offset stays exact.
        let rounded = (TENTHS * offset).round() / TENTHS;
        let is_first = signal.at == 0.0;
        if is_first {
            offset
        } else {
            rounded.rem_euclid(corridor.cycle)
        }
    });
    let offsets: Vec<f64> = offsets.collect();
    let own = corridor.signals.iter().map(|signal| signal.offset);
    if own
        .zip(&offsets)
        .all(|(own, other)| (own - other).abs() < 1e-9)
    {
        let text = "The offsets already form this wave.";
        return Action::Say(Word::Done, text.into());
    }
    // Signals whose offset does not change need no plan.
    let pairs = corridor.signals.iter().zip(offsets);
    let pairs = pairs.filter(|(signal, offset)| (signal.offset - offset).abs() >= 1e-9);
    let pairs = pairs.map(|(signal, offset)| (signal.junction, offset));
    let label = format!("Green wave of {} signals", corridor.signals.len());
    Action::Apply(label, offsets_edit(model, pairs))
}

/// Returns the edit that sets the offsets of junctions, s.
fn offsets_edit(model: &Model, offsets: impl IntoIterator<Item = (usize, f64)>) -> Edit {
    let junctions = &model.scene.layout.junctions;
    let offsets: Vec<(usize, f64)> = offsets.into_iter().collect();
    let indexes: Vec<usize> = offsets.iter().map(|(index, _)| *index).collect();
    let plans = plans_near(model, &indexes);
    let offsets = offsets.into_iter().filter_map(|(index, offset)| {
        let junction: &Junction = junctions.get(index)?;
        let mut groups = plans.groups.iter();
        let is_shared = groups.any(|group| group.len() > 1 && group.contains(&index));
        let signals = plans.signals.get(index)?.as_ref();
        // A signal that leaves its group keeps the cycle of the group.
        let cycle = signals
            .filter(|_| is_shared)
            .map(|signals| signals.programme.cycle());
        Some((junction, offset, cycle))
    });
    with_offsets(model.document.base(), offsets)
}

/// Shows the widths of the bands as text.
fn words(ui: &mut Ui, corridor: &Corridor, speed: f64) {
    let [Some(first), Some(last)] = [corridor.signals.first(), corridor.signals.last()] else {
        return;
    };
    let ways = [
        (Along::Forward, first.node, last.node),
        (Along::Backward, last.node, first.node),
    ];
    for (along, from, to) in ways {
        let told = if !corridor.is_open(along) {
            "closed in this direction".to_owned()
        } else {
            match corridor.band(along, speed) {
                Some(band) => format!(
                    "band of {:.1} s, {:.0} % of the {:.0} s cycle",
                    band.width,
                    100.0 * band.width / corridor.cycle,
                    corridor.cycle
                ),
                None => "no band: at this speed, no vehicle gets green at every signal".to_owned(),
            }
        };
        ui.horizontal(|ui| {
            let theme = crate::theme::Theme {
                dark: ui.visuals().dark_mode,
            };
            let (rect, _) = ui.allocate_exact_size(egui::vec2(12.0, 12.0), egui::Sense::hover());
            chart::arrow(
                ui.painter(),
                rect.center(),
                along,
                chart::color(theme, along),
            );
            ui.label(format!("From {from} to {to}: {told}."));
        });
    }
}

/// Shows the reason why there is no wave, and links to the nodes that cause it.
fn refused(ui: &mut Ui, model: &Model, why: &NoWave, actions: &mut Vec<Action>) {
    let color = model.theme().tone(Tone::Warning);
    ui.add_space(6.0);
    ui.label(RichText::new(sentence(why)).color(color));
    let nodes: Vec<NodeId> = match why {
        NoWave::ByDemand(node) => vec![*node],
        NoWave::CyclesDiffer(cycles) => cycles.iter().map(|(node, _)| *node).collect(),
        _ => Vec::new(),
    };
    ui.horizontal_wrapped(|ui| {
        for node in nodes {
            if ui.link(format!("Show {node}")).clicked() {
                actions.push(Action::Select(BTreeSet::from([ObjectId::Node(node)])));
            }
        }
    });
}

/// Formats a reason as a sentence.
fn sentence(why: &NoWave) -> String {
    let text = why.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
