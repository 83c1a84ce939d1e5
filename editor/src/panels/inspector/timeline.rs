//! One cycle of a junction's signals as a chart. Rows are movements and bars are their greens. The ends of
//! greens and the start of the cycle can be dragged.
//!
//! ```text
//!   road 1   ####----               ..       # green   - amber   . red-amber
//!   road 2           ....####----
//!            |   ^ end of green of stage 1   |
//!            offset                          offset + cycle
//! ```

use super::law::{self, JunctionLaw, turn_title};
use crate::model::{Action, Model};
use crate::theme::{self, Theme};
use crate::tools::Tone;
use egui::{
    Align2, CursorIcon, FontId, Id, Rect, Response, RichText, Role, Sense, Stroke, Ui, WidgetInfo,
    pos2, vec2,
};
use roadwright_scenario::junction::{Between, ConnectingPath, Light, Programme, Signals, Turn};
use roadwright_scenario::{
    Edit, Movement, Node, NodeId, RoadId, SignalMode, SignalPlan, SignalStage, operation,
};
use roadwright_simulation::StagePhase;
use std::collections::{BTreeMap, BTreeSet};

/// Step in which dragging changes times, s.
const STEP: f64 = 0.5;
/// Longest green that can be set by dragging, s. Drivers who have to wait longer at a red light
/// think that the signal is broken.
const LONGEST_GREEN: f64 = 120.0;
/// Maximum width of the names, in points.
const NAMES: f32 = 130.0;
/// Height of a row, in points.
const ROW: f32 = 18.0;
/// Height of the axis, in points.
const AXIS: f32 = 18.0;
/// Thickness of a bar for each light, so that lights differ in more than colour.
const THICKNESS: [(Light, f32); 4] = [
    (Light::Green, 12.0),
    (Light::Amber, 7.0),
    (Light::RedAmber, 7.0),
    (Light::Red, 2.0),
];
/// Half the width of the drag area at the end of a green, points.
const GRIP: f32 = 4.0;

pub(super) fn ui(ui: &mut Ui, model: &Model, id: NodeId, actions: &mut Vec<Action>) {
    let Some(law) = law::of(ui, model, id) else {
        return;
    };
    let Some(signals) = &law.signals else { return };
    let chart = Chart::new(model, id, &law, signals);
    chart.words(ui, &law);
    chart.show(ui, &law, actions);
    super::stages::ui(ui, model, id, &law, signals, actions);
    super::stage_times::ui(ui, model, id, &law, signals, actions);
}

/// Returns the node whose rules a junction follows.
pub(super) fn ruling_node(model: &Model, law: &JunctionLaw, id: NodeId) -> NodeId {
    let network = model.document.scenario().network();
    operation::signals::ruling_node(network, &law.junction).unwrap_or(id)
}

/// Returns the plan of a junction, with the mode and offset in effect.
pub(super) fn plan_as_given(law: &JunctionLaw, signals: &Signals) -> SignalPlan {
    let mut plan = law.junction.plan.clone();
    // A plan with a module reports the mode `actuated`, but the mode stored beside it is the user's.
    if plan.controller.is_none() {
        plan.mode = signals.programme.mode;
    }
    plan.offset = signals.programme.offset.into();
    plan
}

/// Returns the current plan with explicit stages, so that they can be changed.
pub(super) fn plan_with_stages(law: &JunctionLaw, signals: &Signals) -> SignalPlan {
    let mut plan = plan_as_given(law, signals);
    if plan.stages.is_empty() {
        // Stages become explicit only now, because a plan without explicit stages gets stages that fit the
        // roads after each edit.
        plan.stages = given_stages(law, signals);
    }
    plan
}

/// Returns the edit that sets a node's plan.
pub(super) fn plan_edit(model: &Model, id: NodeId, plan: SignalPlan) -> Option<Edit> {
    let node = model.document.base().network().node(id)?;
    Some(Edit::Node(id, Some(with_plan(node, plan))))
}

/// Returns the node with another plan.
pub(super) fn with_plan(node: &Node, plan: SignalPlan) -> Node {
    let mut node = node.clone();
    node.rules.plan = Some(plan);
    node
}

/// The part of the chart that is being dragged.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Grip {
    /// The end of a stage's green.
    EndOf(usize),
    /// The whole cycle.
    Cycle,
}

/// A drag in progress. Each new state is computed from the initial state.
#[derive(Debug, Clone)]
struct Gesture {
    grip: Grip,
    plan: SignalPlan,
    /// Shortest green of each stage, s.
    least: Vec<f64>,
    cycle: f64,
    from_x: f32,
    seconds_a_point: f64,
    /// Change of the dragged time since the start of the drag, s.
    by: f64,
}

/// Contents of the chart.
struct Chart<'a> {
    model: &'a Model,
    /// The node whose plan the junction follows.
    node: NodeId,
    signals: &'a Signals,
    programme: &'a Programme,
    is_fixed: bool,
    /// Stages. Each has its start, and the durations of its green, amber, red, and red-amber, s.
    stages: Vec<(f64, [f64; 4])>,
    /// The whole cycle, s.
    cycle: f64,
    /// Time from the start of the axis to the start of the first stage, s.
    shift: f64,
}

/// A part of the cycle with one signal aspect.
struct Bar {
    /// Start of the part, s. `length` is its duration.
    from: f64,
    length: f64,
    light: Light,
    /// Whether traffic yields during this green.
    gives_way: bool,
}

impl<'a> Chart<'a> {
    fn new(model: &'a Model, id: NodeId, law: &JunctionLaw, signals: &'a Signals) -> Self {
        let programme = &signals.programme;
        let is_fixed = programme.mode == SignalMode::Fixed;
        let mut stages = Vec::new();
        let mut start = 0.0;
        for (i, times) in programme.stages.iter().enumerate() {
            let between = programme.intergreen(i, programme.next(i));
            // On demand, a stage has no fixed end, so the longest possible cycle is drawn.
            let green = if is_fixed { times.green } else { times.max };
            let red = between.all_red - between.red_amber;
            stages.push((start, [green, between.amber, red, between.red_amber]));
            start += green + between.duration();
        }
        let shift = if is_fixed {
            programme.offset.rem_euclid(start.max(1e-9))
        } else {
            0.0
        };
        Self {
            model,
            node: ruling_node(model, law, id),
            signals,
            programme,
            is_fixed,
            stages,
            cycle: start,
            shift,
        }
    }

    /// Shows the times as text.
    fn words(&self, ui: &mut Ui, law: &JunctionLaw) {
        let greens = self.programme.stages.iter().map(|times| {
            if self.is_fixed {
                format!("{:.1}", times.green)
            } else {
                format!("{:.0} to {:.1}", times.min, times.max)
            }
        });
        let greens: Vec<String> = greens.collect();
        ui.add_space(6.0);
        ui.label(RichText::new("Stages").strong());
        let mut text = format!("Green {} s", greens.join(" / "));
        if self.is_fixed {
            text += &format!("; cycle {:.1} s, starts at {:.1} s", self.cycle, self.shift);
        }
        ui.label(RichText::new(text).weak());
        if law.is_shared {
            let text = "Coordinated with neighbouring signals; a change ends the coordination.";
            ui.label(RichText::new(text).weak());
        }
    }

    fn show(&self, ui: &mut Ui, law: &JunctionLaw, actions: &mut Vec<Action>) {
        let rows = rows(law, self.signals);
        let height = ROW * rows.len() as f32 + AXIS;
        let font = FontId::proportional(12.0);
        let ink = ui.visuals().text_color();
        let name = |name: &String| {
            let name = name.clone();
            ui.painter().layout_no_wrap(name, font.clone(), ink)
        };
        let names: Vec<_> = rows.iter().map(|(text, _)| name(text)).collect();
        let widest = names.iter().map(|name| name.size().x).fold(0.0, f32::max);
        let names_width = (widest + 8.0).min(NAMES);
        let width = ui.available_width().max(names_width + 120.0);
        let (all, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
        let mut bars = all;
        bars.min.x += names_width;
        bars.max.y -= AXIS;
        bars.max.x -= GRIP;
        let theme = self.model.theme();
        let well = ui.visuals().widgets.inactive.bg_fill.gamma_multiply(0.5);
        ui.painter().rect_filled(bars, 3.0, well);
        for (i, (name, (_, path))) in names.into_iter().zip(&rows).enumerate() {
            let y = bars.top() + ROW * (i as f32 + 0.5);
            let left = Rect::from_min_max(all.min, pos2(bars.left() - 4.0, bars.bottom()));
            let at = pos2(all.left(), y - 0.5 * name.size().y);
            ui.painter().with_clip_rect(left).galley(at, name, ink);
            self.row(ui, bars, y, *path);
        }
        self.axis(ui, bars, theme);
        let mut axis = all;
        axis.min = pos2(bars.left(), bars.bottom());
        let mut grips = Vec::new();
        if self.is_fixed {
            // Placed below the ends of greens, which take precedence for dragging.
            let whole = Rect::from_min_max(bars.min, axis.max);
            let response = ui.interact(whole, ui.scope_id().with("cycle"), Sense::drag());
            let (shift, name) = (self.shift, "Start of the cycle");
            response.widget_info(|| WidgetInfo::slider(true, shift, name));
            grips.push((Grip::Cycle, response));
        }
        for stage in 0..self.stages.len() {
            grips.push((
                Grip::EndOf(stage),
                self.end_of_green(ui, bars, stage, theme),
            ));
        }
        self.cursor(ui, bars, theme);
        let seconds_a_point = self.cycle / f64::from(bars.width());
        for (grip, response) in grips {
            self.drag(ui, law, grip, &response, seconds_a_point, actions);
        }
    }

    /// Returns the horizontal position of a time of the programme.
    fn x(&self, bars: Rect, time: f64) -> f32 {
        let share = (time + self.shift).rem_euclid(self.cycle) / self.cycle;
        bars.left() + bars.width() * share as f32
    }

    /// Draws the lights of a connection over the cycle.
    fn row(&self, ui: &Ui, bars: Rect, y: f32, path: usize) {
        for (stage, &(start, [green, amber, red, red_amber])) in self.stages.iter().enumerate() {
            let next = self.programme.next(stage);
            let light = |part: Option<Between>| {
                let change = part.map(|part| (next, part));
                self.signals.light_in(path, stage, change)
            };
            let after = start + green + amber;
            let parts = [
                (start, green, light(None)),
                (start + green, amber, light(Some(Between::Amber))),
                (after, red, light(Some(Between::AllRed))),
                (after + red, red_amber, light(Some(Between::RedAmber))),
            ];
            let gives_way = self.signals.is_permitted(path, stage);
            for (from, length, light) in parts {
                let bar = Bar {
                    from,
                    length,
                    light,
                    gives_way,
                };
                self.bar(ui, bars, y, bar);
            }
        }
    }

    /// Draws the bar of a light. A green that yields is hollow.
    fn bar(&self, ui: &Ui, bars: Rect, y: f32, bar: Bar) {
        let Bar {
            from,
            length,
            light,
            gives_way,
        } = bar;
        if length <= 0.0 {
            return;
        }
        let thick = THICKNESS.iter().find(|(known, _)| *known == light);
        let thick = thick.map_or(2.0, |(_, thick)| *thick);
        let width = bars.width() * (length / self.cycle) as f32;
        let left = self.x(bars, from);
        // Parts beyond the end of the axis continue at its start.
        for left in [left, left - bars.width()] {
            let rect = Rect::from_min_size(pos2(left, y - 0.5 * thick), vec2(width, thick));
            let rect = rect.intersect(bars);
            if rect.is_positive() {
                let color = theme::light(light);
                if gives_way && light == Light::Green {
                    let (fill, rim) = (color.gamma_multiply(0.25), Stroke::new(1.5, color));
                    ui.painter()
                        .rect(rect, 1.0, fill, rim, egui::StrokeKind::Inside);
                } else {
                    ui.painter().rect_filled(rect, 1.0, color);
                }
            }
        }
    }

    /// Draws the time axis below the bars.
    fn axis(&self, ui: &Ui, bars: Rect, theme: Theme) {
        let step = [5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
        let step = step.into_iter().find(|step| self.cycle / step <= 7.0);
        let step = step.unwrap_or(500.0);
        let count = (self.cycle / step).floor() as usize;
        for i in 0..=count {
            let x = bars.left() + bars.width() * (i as f64 * step / self.cycle) as f32;
            let tick = [pos2(x, bars.bottom()), pos2(x, bars.bottom() + 3.0)];
            ui.painter()
                .line_segment(tick, Stroke::new(1.0, theme.quiet()));
            let text = format!("{:.0}", i as f64 * step);
            let font = FontId::proportional(11.0);
            let at = pos2(x, bars.bottom() + 4.0);
            ui.painter()
                .text(at, Align2::CENTER_TOP, text, font, theme.quiet());
        }
    }

    /// Handles and draws the draggable end of a stage's green.
    fn end_of_green(&self, ui: &Ui, bars: Rect, stage: usize, theme: Theme) -> Response {
        let (start, [green, ..]) = self.stages[stage];
        let x = self.x(bars, start + green);
        let grip = Rect::from_x_y_ranges(x - GRIP..=x + GRIP, bars.y_range());
        let response = ui.interact(
            grip,
            ui.scope_id().with(("end of green", stage)),
            Sense::drag(),
        );
        let name = format!("End of green of stage {}", stage + 1);
        response.widget_info(move || WidgetInfo::labeled(Role::Slider, true, &name));
        let is_hot = response.hovered() || response.dragged();
        let color = if is_hot {
            theme.tone(Tone::Accent)
        } else {
            ui.visuals().text_color().gamma_multiply(0.55)
        };
        let width = if is_hot { 2.5 } else { 1.2 };
        ui.painter()
            .vline(x, bars.y_range(), Stroke::new(width, color));
        if is_hot {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
        }
        response
    }

    /// Draws the current time of the running simulation.
    fn cursor(&self, ui: &Ui, bars: Rect, theme: Theme) {
        let seen = super::junction_now::seen(self.model, self.node);
        let Some(now) = seen.and_then(|seen| seen.programme.as_ref()) else {
            return;
        };
        // Until the run has adopted an edit, it may still have other stages.
        let Some(&(start, [green, amber, red, _])) = self.stages.get(now.stage) else {
            return;
        };
        if now.is_closing {
            return;
        }
        let within = match (now.within_cycle, now.phase) {
            (Some(within), _) => within,
            (None, StagePhase::Green) => start + now.elapsed.min(green),
            (None, StagePhase::Amber) => start + green + now.elapsed,
            (None, StagePhase::AllRed) => start + green + amber + now.elapsed,
            (None, StagePhase::RedAmber) => start + green + amber + red + now.elapsed,
        };
        let x = self.x(bars, within);
        let accent = theme.tone(Tone::Accent);
        ui.painter()
            .vline(x, bars.y_range(), Stroke::new(2.0, accent));
        let top = [(-4.0, -5.0), (4.0, -5.0), (0.0, 1.0)];
        let top = top.map(|(dx, dy)| pos2(x + dx, bars.top() + dy)).to_vec();
        let head = egui::Shape::convex_polygon(top, accent, Stroke::NONE);
        ui.painter().add(head);
    }

    fn drag(
        &self,
        ui: &Ui,
        law: &JunctionLaw,
        grip: Grip,
        response: &Response,
        seconds_a_point: f64,
        actions: &mut Vec<Action>,
    ) {
        let key = Id::unique("drag of the stages of signals");
        let label = match grip {
            Grip::EndOf(_) => format!("Set stage times of {}", self.node),
            Grip::Cycle => format!("Set cycle start of {}", self.node),
        };
        let pointer = response.interact_pointer_pos();
        if response.drag_started()
            && let Some(from) = ui.input(|input| input.pointer.press_origin()).or(pointer)
        {
            let gesture = Gesture {
                grip,
                plan: match grip {
                    Grip::EndOf(_) => plan_with_stages(law, self.signals),
                    Grip::Cycle => plan_as_given(law, self.signals),
                },
                least: self
                    .programme
                    .stages
                    .iter()
                    .map(|times| times.min)
                    .collect(),
                cycle: self.cycle,
                from_x: from.x,
                seconds_a_point,
                by: 0.0,
            };
            ui.data_mut(|data| data.insert_temp(key, gesture));
        }
        let gesture: Option<Gesture> = ui.data(|data| data.get_temp(key));
        let Some(mut gesture) = gesture.filter(|gesture| gesture.grip == grip) else {
            return;
        };
        if let Some(pointer) = pointer.filter(|_| response.dragged()) {
            let by = f64::from(pointer.x - gesture.from_x) * gesture.seconds_a_point;
            let by = (by / STEP).round() * STEP;
            // Each state is an edit, and each edit restarts the signals of a run. Therefore, only differences
            // are sent.
            if (by - gesture.by).abs() > 0.5 * STEP {
                gesture.by = by;
                if let Some(edit) = plan_edit(self.model, self.node, moved(&gesture, self.is_fixed))
                {
                    actions.push(Action::Preview(label.clone(), edit));
                }
                ui.data_mut(|data| data.insert_temp(key, gesture));
            }
        }
        if response.drag_stopped() {
            ui.data_mut(|data| data.remove::<Gesture>(key));
            actions.push(Action::Commit(Some(label)));
        }
    }
}

/// Returns the plan after a drag.
fn moved(gesture: &Gesture, is_fixed: bool) -> SignalPlan {
    let mut plan = gesture.plan.clone();
    match gesture.grip {
        Grip::Cycle => plan.offset = ((plan.offset + gesture.by).rem_euclid(gesture.cycle)).into(),
        Grip::EndOf(at) if is_fixed => move_end(&mut plan.stages, &gesture.least, at, gesture.by),
        Grip::EndOf(at) => {
            let least = gesture.least.get(at).copied().unwrap_or(1.0);
            if let Some(stage) = plan.stages.get_mut(at) {
                let max = stage
                    .max
                    .unwrap_or(roadwright_scenario::junction::MAX_GREEN);
                let max = max.max(stage.time.get()) + gesture.by;
                let max = max.clamp(least, LONGEST_GREEN.max(least));
                // The maximum green is never less than the stage's fixed time.
                stage.time = stage.time.min(max).into();
                stage.max = Some(max).into();
            }
        }
    }
    plan
}

/// Moves the end of a stage. The next stage starts later but ends at the same time. If there is no
/// next stage, the cycle becomes longer. No green becomes shorter than its minimum or longer than
/// two minutes.
fn move_end(stages: &mut [SignalStage], least: &[f64], at: usize, by: f64) {
    let room = |stage: &SignalStage, least: f64| {
        let longest = stage.max.unwrap_or(LONGEST_GREEN).max(stage.time.get());
        (
            least.min(stage.time.get()) - stage.time,
            longest - stage.time,
        )
    };
    let least_of = |at: usize| least.get(at).copied().unwrap_or(1.0);
    let (mut low, mut high) = room(&stages[at], least_of(at));
    if let Some(next) = stages.get(at + 1) {
        let (shrink, grow) = room(next, least_of(at + 1));
        // Time gained by one stage is lost by the next, so the limits of the next one count in the opposite
        // direction.
        (low, high) = (low.max(-grow), high.min(-shrink));
    }
    let by = by.clamp(low, high);
    stages[at].time += by;
    if let Some(next) = stages.get_mut(at + 1) {
        next.time -= by;
    }
}

/// Converts the derived stages to the form that plans use, by road and turn.
fn given_stages(law: &JunctionLaw, signals: &Signals) -> Vec<SignalStage> {
    let paths = &law.junction.paths;
    let stage = |(number, green): (usize, &Vec<bool>)| {
        let mut roads: BTreeMap<RoadId, (BTreeSet<Turn>, BTreeSet<Turn>)> = BTreeMap::new();
        for (path, &has_green) in paths.iter().zip(green) {
            let (green, all) = roads.entry(path.from.road).or_default();
            all.insert(path.turn);
            if has_green {
                green.insert(path.turn);
            }
        }
        let with_green = roads
            .into_iter()
            .filter(|(_, (green, _))| !green.is_empty());
        let movement =
            |(road, (green, all)): (RoadId, (BTreeSet<Turn>, BTreeSet<Turn>))| Movement {
                road,
                turns: if green == all {
                    Vec::new()
                } else {
                    green.into_iter().collect()
                },
            };
        SignalStage {
            green: with_green.map(movement).collect(),
            permitted: Vec::new(),
            time: signals.programme.stages[number].green.into(),
            min: None.into(),
            max: None.into(),
            amber: None.into(),
            all_red: None.into(),
        }
    };
    signals.greens.iter().enumerate().map(stage).collect()
}

/// A road, and the lights of a movement. For each stage, the list states whether the movement has
/// green and whether it yields.
type SameLights = (RoadId, Vec<(bool, bool)>);

/// Groups the movements that always have the same lights. Each group has a name and one of its
/// connections. The groups are ordered by road.
fn rows(law: &JunctionLaw, signals: &Signals) -> Vec<(String, usize)> {
    let paths = &law.junction.paths;
    let lights = |path: usize| -> Vec<(bool, bool)> {
        let stages = signals.greens.iter().enumerate();
        stages
            .map(|(stage, green)| (green[path], signals.is_permitted(path, stage)))
            .collect()
    };
    let mut groups: BTreeMap<SameLights, Vec<usize>> = BTreeMap::new();
    for (number, path) in paths.iter().enumerate() {
        let group = groups.entry((path.from.road, lights(number)));
        group.or_default().push(number);
    }
    let count = |road: RoadId| groups.keys().filter(|(other, _)| *other == road).count();
    let row = |((road, _), members): (&SameLights, &Vec<usize>)| {
        let name = if count(*road) > 1 {
            let turns = members.iter().map(|&path| &paths[path]);
            format!("{} {}", road, words(turns))
        } else {
            road.to_string()
        };
        (name, members[0])
    };
    groups.iter().map(row).collect()
}

fn words<'a>(paths: impl Iterator<Item = &'a ConnectingPath>) -> String {
    let turns: BTreeSet<Turn> = paths.map(|path| path.turn).collect();
    let words: Vec<_> = turns.into_iter().map(turn_title).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(time: f64) -> SignalStage {
        SignalStage {
            green: Vec::new(),
            permitted: Vec::new(),
            time: time.into(),
            min: None.into(),
            max: None.into(),
            amber: None.into(),
            all_red: None.into(),
        }
    }

    fn times(stages: &[SignalStage]) -> Vec<f64> {
        stages.iter().map(|stage| stage.time.get()).collect()
    }

    #[test]
    fn the_end_of_a_green_takes_from_the_next_one_and_no_more_than_it_has() {
        let least = [6.0, 6.0, 6.0];
        for (at, by, expected) in [
            (0, 4.0, [24.0, 11.0, 30.0]),
            (0, 40.0, [29.0, 6.0, 30.0]),
            (0, -40.0, [6.0, 29.0, 30.0]),
            (2, 12.5, [20.0, 15.0, 42.5]),
            (2, 400.0, [20.0, 15.0, 120.0]),
        ] {
            let mut stages = [stage(20.0), stage(15.0), stage(30.0)];
            move_end(&mut stages, &least, at, by);
            assert_eq!(times(&stages), expected, "{at} {by}");
        }
    }
}
