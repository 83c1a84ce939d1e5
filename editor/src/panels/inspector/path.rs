//! Explanation of a connection through a junction: its stop line, its signals and its conflicts,
//! with the priority in each conflict and the reason for it.

use super::super::widgets::heading;
use super::lane_turns::lane_title;
use super::law::{self, JunctionLaw, turn_title};
use super::turns::{named_button, reason};
use crate::model::{Action, Model};
use egui::{Context, Id, RichText, Ui};
use roadwright_scenario::junction::{ConnectingPath, Crossing, LaneEnd, Meeting, Sign};
use roadwright_scenario::{ConnectionIndex, Control, LaneAccess, NodeId, RoadEnd, RoadLane};
use std::sync::Arc;

/// A conflict zone of a connection; positions are in metres from the start of the connection.
pub(crate) struct Zone {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Whether the connection yields in this zone.
    pub(crate) gives_way: bool,
}

/// Returns the conflict zones of the connection with the given index at a node's junction. Zones in
/// which the connection yields come last.
pub(crate) fn zones(context: &Context, model: &Model, id: NodeId, number: usize) -> Vec<Zone> {
    let Some(law) = law::in_context(context, model, id) else {
        return Vec::new();
    };
    let number = ConnectionIndex::from_index(number);
    let others = ConnectionIndex::up_to(law.junction.paths.len());
    let zone = |other: ConnectionIndex| {
        let (own, _) = law.conflicts.between(number, other)?;
        Some(Zone {
            from: own.from,
            to: own.to,
            gives_way: law.right.gives_way(number, other),
        })
    };
    let mut zones: Vec<Zone> = others.filter_map(zone).collect();
    zones.sort_by_key(|zone| zone.gives_way);
    zones
}

/// A sentence about the connection, and whether it is shown in a weaker colour.
type Line = (String, bool);

/// Cached results with their revision and connection.
type Known = (u64, (LaneEnd, LaneEnd), Arc<Vec<Line>>);

pub(super) fn ui(ui: &mut Ui, model: &Model, id: NodeId, actions: &mut Vec<Action>) {
    let Some(turn) = model.explained else { return };
    let Some(law) = law::of(ui, model, id) else {
        return;
    };
    let mut paths = law.junction.paths.iter();
    let Some(number) = paths.position(|path| (path.from, path.to) == turn) else {
        return;
    };
    let name = title(turn.0, turn.1);
    ui.horizontal_wrapped(|ui| {
        heading(ui, &format!("Connection from {name}"));
        if named_button(ui, "Close", "Close the explanation") {
            actions.push(Action::Explain(None));
        }
    });
    let key = Id::unique("explained connection");
    let known: Option<Known> = ui.data(|data| data.get_temp(key));
    let known = known.filter(|known| (known.0, known.1) == (model.scene.revision, turn));
    let lines = known.map(|(_, _, lines)| lines).unwrap_or_else(|| {
        let told = Teller {
            model,
            law: &law,
            number: ConnectionIndex::from_index(number),
        };
        let lines = Arc::new(told.lines());
        let known: Known = (model.scene.revision, turn, lines.clone());
        ui.data_mut(|data| data.insert_temp(key, known));
        lines
    });
    for (text, is_weak) in lines.iter() {
        let text = RichText::new(text);
        ui.label(if *is_weak { text.weak() } else { text });
    }
}

fn title(from: LaneEnd, to: LaneEnd) -> String {
    let lane = |end: LaneEnd| {
        lane_title(RoadLane {
            road: end.road,
            lane: end.lane,
        })
    };
    format!("{} to {}", lane(from), lane(to))
}

/// Describes a connection in sentences.
struct Teller<'a> {
    model: &'a Model,
    law: &'a JunctionLaw,
    number: ConnectionIndex,
}

impl Teller<'_> {
    fn path(&self) -> &ConnectingPath {
        &self.law.junction.paths[self.number.index()]
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![(self.shape(), false), (self.stop_line(), false)];
        lines.extend(self.sign().map(|text| (text, false)));
        lines.extend(self.stages().into_iter().map(|text| (text, false)));
        lines.extend(self.gap().map(|text| (text, false)));
        let met = self.meetings();
        if met.is_empty() {
            lines.push(("No conflicts.".into(), true));
        }
        lines.extend(met);
        lines.extend(self.crossings().into_iter().map(|text| (text, false)));
        lines.extend(self.parting().map(|text| (text, true)));
        lines
    }

    fn shape(&self) -> String {
        let path = self.path();
        let length = path.curve.as_ref().map_or(0.0, |curve| curve.length());
        let buses = match path.access {
            LaneAccess::Buses => ", for buses",
            LaneAccess::All | LaneAccess::Cars => "",
        };
        let mut text = format!("Turn: {}, {length:.1} m{buses}", turn_title(path.turn));
        let radius = path.min_radius();
        if radius.is_finite() {
            text += &format!(", radius {radius:.1} m");
        }
        text + "."
    }

    /// Returns the position of the stop line, measured along the road like other positions.
    fn stop_line(&self) -> String {
        let junction = &self.law.junction;
        let from = self.path().from;
        let mut arms = junction.arms.iter();
        let arm = arms.find(|arm| (arm.road, arm.end) == (from.road, from.end));
        let road = self.model.scene.scenario.network().road(from.road);
        let (Some(arm), Some(road)) = (arm, road) else {
            return "No stop line.".into();
        };
        let setbacks = match self.model.scene.scenario.has_long_vehicles() {
            true => junction.setbacks(),
            false => junction.setbacks_of_cars(),
        };
        let own = setbacks.iter().find(|(lane, _)| *lane == from);
        let by = own.map_or(0.0, |(_, by)| *by);
        let layout = &self.model.scene.layout;
        let room = layout.room_before(self.model.scene.scenario.network(), from.road, from.end);
        if !room.fits_car(by) {
            return "No room for a car to wait here, so the previous junction controls the traffic."
                .into();
        }
        let at = match from.end {
            RoadEnd::Start => arm.trim + by,
            RoadEnd::End => road.length() - arm.trim - by,
        };
        let moved = if by > 0.0 {
            format!(", moved back {by:.1} m for turning vehicles")
        } else {
            String::new()
        };
        format!("Stop line at s = {at:.2} m of {}{moved}.", from.road)
    }

    fn sign(&self) -> Option<String> {
        let told = match self.law.right.sign(self.number) {
            Sign::None => return None,
            Sign::Yield => "Yield sign.",
            Sign::Stop => "Stop sign: vehicles on this connection must stop before they enter.",
            Sign::Signal => "Signals.",
        };
        Some(told.into())
    }

    /// Returns the stages in which the connection has green.
    fn stages(&self) -> Vec<String> {
        let Some(signals) = &self.law.signals else {
            return Vec::new();
        };
        let number = self.number.index();
        let all = (0..signals.greens.len()).filter(|&stage| signals.greens[stage][number]);
        let (yields, goes): (Vec<_>, Vec<_>) =
            all.partition(|&stage| signals.is_permitted(number, stage));
        let mut lines = Vec::new();
        if goes.is_empty() && yields.is_empty() {
            lines.push("No green in any stage.".to_owned());
        }
        if !goes.is_empty() {
            lines.push(format!("Green in {}.", stages_title(&goes)));
        }
        if !yields.is_empty() {
            let stages = stages_title(&yields);
            lines.push(format!(
                "Green in {stages}, yielding to protected movements."
            ));
        }
        if self.law.right.may_turn_on_red(self.number) {
            lines.push(
                "May turn on red after stopping, yielding to all conflicting traffic.".into(),
            );
        }
        lines
    }

    fn gap(&self) -> Option<String> {
        let right = &self.law.right;
        let seconds = right.critical_gap(self.number);
        right
            .gives_way_to_any(self.number)
            .then(|| format!("Accepts gaps of {seconds:.1} s or more."))
    }

    /// Returns the conflicts of the connection, each with its position and priority. Conflicts in
    /// which the connection yields come first.
    fn meetings(&self) -> Vec<Line> {
        let law = self.law;
        let (number, path) = (self.number, self.path());
        let mut lines = Vec::new();
        for (other_number, other) in law.junction.numbered_paths() {
            let Some((own, _)) = law.conflicts.between(number, other_number) else {
                continue;
            };
            let whom = format!(
                "{}, {}",
                title(other.from, other.to),
                turn_title(other.turn)
            );
            let how = match Meeting::of(path, other) {
                Meeting::Diverge => "diverges from it",
                Meeting::Merge => "merges with it",
                Meeting::Cross => "crosses it",
                Meeting::Graze => "passes close to it",
            };
            let place = format!("{how} from {:.1} to {:.1} m", own.from, own.to);
            let gives_way = law.right.gives_way(number, other_number);
            let text = if gives_way {
                let why = reason(&law.junction, path, other);
                format!("Gives way to {whom}: {why}; {place}.")
            } else if law.right.gives_way(other_number, number) {
                format!("Has priority over {whom}; {place}.")
            } else {
                format!("Conflicts with {whom}, first come, first served; {place}.")
            };
            lines.push((text, !gives_way));
        }
        lines.sort_by_key(|(_, is_weak)| *is_weak);
        lines
    }

    /// Returns the pedestrian crossings that the connection passes.
    fn crossings(&self) -> Vec<String> {
        let junction = &self.law.junction;
        let signals = self.law.signals.as_ref();
        let greens = signals.map_or(&[][..], |signals| &signals.greens);
        let rules = junction.control == Control::Signals && junction.plan.mode.rules();
        let told = |crossing: &Crossing| {
            let mut covered = crossing.covered.iter();
            let own = covered.find(|covered| covered.path == self.number)?;
            let (from, to) = (own.car.along.from, own.car.along.to);
            let stages = junction.walk_stages(crossing, greens);
            let walk: Vec<usize> = (0..32).filter(|stage| stages & (1 << stage) != 0).collect();
            let who = if rules && !walk.is_empty() {
                format!("pedestrians walk in {}", stages_title(&walk))
            } else {
                "zebra crossing, pedestrians have priority".into()
            };
            let road = crossing.road;
            Some(format!(
                "Drives over the pedestrian crossing on {road} from {from:.1} to {to:.1} m: {who}."
            ))
        };
        junction.crossings.iter().filter_map(told).collect()
    }

    /// Names the other lanes to which the connection's lane leads, in one sentence; `None` if there
    /// are none.
    fn parting(&self) -> Option<String> {
        let path = self.path();
        let others = self.law.junction.paths.iter();
        let others = others.filter(|other| other.from == path.from && other.to != path.to);
        let names: Vec<String> = others
            .map(|other| {
                let lane = RoadLane {
                    road: other.to.road,
                    lane: other.to.lane,
                };
                lane_title(lane)
            })
            .collect();
        (!names.is_empty())
            .then(|| format!("The same lane also leads to {}.", names.join(" and to ")))
    }
}

/// Formats a list of stages, numbered as in the editor.
fn stages_title(stages: &[usize]) -> String {
    let numbers: Vec<String> = stages.iter().map(|stage| (stage + 1).to_string()).collect();
    match &numbers[..] {
        [one] => format!("stage {one}"),
        many => format!("stages {}", many.join(", ")),
    }
}
