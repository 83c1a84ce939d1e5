//! The signals of the selected junction: one bar for each light, with paler colours for the future.

use super::Axis;
use crate::live::{JunctionLights, LaneLights, LightChange, LivePicture};
use crate::model::Model;
use crate::panels::inspector::law;
use crate::theme;
use egui::{Rect, Ui, pos2};
use roadwright_scenario::junction::{Between, Light, Signals};
use roadwright_scenario::{ObjectId, SignalMode};
use roadwright_simulation::{ProgrammeInspection, StagePhase};
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, TAU};

/// Opacity of bars in the future.
const PALE: f32 = 0.38;
/// Time step for computing future lights, s.
const STEP: f64 = 0.5;

/// Returns the height of a bar, points. It differs by light, so that lights differ in more than
/// colour.
fn height(light: Light) -> f32 {
    match light {
        Light::Green => 12.0,
        Light::Amber | Light::RedAmber => 8.0,
        Light::Red => 4.0,
    }
}

/// A signal group: lanes that always have the same lights.
pub(super) struct LightRow<'a> {
    pub(super) name: String,
    /// Lights of the group's first lane.
    lights: &'a LaneLights,
    lanes: Vec<&'a LaneLights>,
}

/// A period with the same light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LightPeriod {
    /// Start of the period, s.
    from: f64,
    /// End of the period, s.
    to: f64,
    light: Light,
}

/// Returns the rows of a junction, in the order of roads and lanes.
pub(super) fn rows<'a>(model: &Model, junction: &'a JunctionLights) -> Vec<LightRow<'a>> {
    let mut rows: Vec<LightRow<'a>> = Vec::new();
    for lights in &junction.lanes {
        let is_same = |row: &&mut LightRow<'_>| {
            (&row.lights.changes, row.lights.ended) == (&lights.changes, lights.ended)
        };
        match rows.iter_mut().find(is_same) {
            Some(row) => row.lanes.push(lights),
            None => rows.push(LightRow {
                name: String::new(),
                lights,
                lanes: vec![lights],
            }),
        }
    }
    give_names(model, &mut rows);
    rows
}

/// Names the rows by their roads. Rows with the same name also get their directions, and then their
/// lanes.
fn give_names(model: &Model, rows: &mut [LightRow<'_>]) {
    let network = model.document.scenario().network();
    let road_name = |lane: &LaneLights| {
        let name = network.road(lane.road).map(|road| road.name.clone());
        let name = name.filter(|name| !name.is_empty());
        name.unwrap_or_else(|| lane.road.to_string())
    };
    for row in rows.iter_mut() {
        row.name = listed(&row.lanes, road_name);
    }
    make_different(rows, |row| {
        listed(&row.lanes, |lane| bound(lane.heading).to_owned())
    });
    make_different(rows, |row| {
        listed(&row.lanes, |lane| format!("lane {}", lane.lane))
    });
}

/// Joins the different texts of lanes, in lane order.
fn listed(lanes: &[&LaneLights], text: impl Fn(&LaneLights) -> String) -> String {
    let mut texts: Vec<String> = Vec::new();
    for lane in lanes {
        let text = text(lane);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join(", ")
}

/// Appends a text to names that are shared by several rows.
fn make_different(rows: &mut [LightRow<'_>], text: impl Fn(&LightRow<'_>) -> String) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows.iter() {
        *counts.entry(row.name.clone()).or_default() += 1;
    }
    for row in rows.iter_mut() {
        if counts.get(&row.name).is_some_and(|count| *count > 1) {
            row.name = format!("{}, {}", row.name, text(row));
        }
    }
}

/// Returns the direction of travel for a heading in rad.
fn bound(heading: f64) -> &'static str {
    let names = ["eastbound", "northbound", "westbound", "southbound"];
    let quarter = (heading.rem_euclid(TAU) / FRAC_PI_2).round() as usize;
    names[quarter % names.len()]
}

impl LightRow<'_> {
    /// Draws the lights until `now`, and the future lights in paler colours.
    pub(super) fn draw(&self, ui: &Ui, axis: &Axis, row: Rect, now: f64, ahead: &[LightPeriod]) {
        let until = self.lights.ended.unwrap_or(now);
        let changes = &self.lights.changes;
        for (i, &LightChange { time, light }) in changes.iter().enumerate() {
            let to = changes.get(i + 1).map_or(until, |next| next.time);
            let period = LightPeriod {
                from: time,
                to,
                light,
            };
            period.draw(ui, axis, row, 1.0);
        }
        for period in ahead {
            period.draw(ui, axis, row, PALE);
        }
    }
}

impl LightPeriod {
    fn draw(&self, ui: &Ui, axis: &Axis, row: Rect, opacity: f32) {
        let x = |time: f64| axis.x(time).clamp(axis.plot.left(), axis.plot.right());
        let half = 0.5 * height(self.light);
        let y = row.center().y;
        let bar = Rect::from_min_max(pos2(x(self.from), y - half), pos2(x(self.to), y + half));
        if bar.width() > 0.0 {
            let color = theme::light(self.light).gamma_multiply(opacity);
            ui.painter().rect_filled(bar, 1.0, color);
        }
    }
}

/// Returns the known lights of a row from the present until `until`, in seconds. With fixed times,
/// all of them are known; otherwise only the rest of the current stage.
pub(super) fn ahead(
    ui: &Ui,
    model: &Model,
    live: &LivePicture,
    row: &LightRow<'_>,
    until: f64,
) -> Vec<LightPeriod> {
    let (Some(ObjectId::Node(node)), None) = (model.single(), row.lights.ended) else {
        return Vec::new();
    };
    let Some(law) = law::of(ui, model, node) else {
        return Vec::new();
    };
    let programme = live.junction.as_ref().and_then(|j| j.programme.as_ref());
    let (Some(signals), Some(programme)) = (&law.signals, programme) else {
        return Vec::new();
    };
    // Until the run has adopted an edit, it may still have other stages.
    if programme.is_closing || programme.stages != signals.programme.stages.len() {
        return Vec::new();
    }
    let paths = law.junction.paths.iter().enumerate();
    // One lane is enough, because all lanes of the row have the same lights.
    let lane = row.lights;
    let own = paths.filter(|(_, path)| path.from.road == lane.road && path.from.lane == lane.lane);
    let forecast = Forecast {
        signals,
        paths: own.map(|(number, _)| number).collect(),
        now: live.timeline.to,
        until,
    };
    match programme.mode {
        SignalMode::Fixed => forecast.fixed(),
        // The stage at a past moment says nothing about the time after the present.
        _ if live.timeline.at.is_none() => forecast.on_demand(programme),
        _ => Vec::new(),
    }
}

/// The future lights of some connections.
struct Forecast<'a> {
    signals: &'a Signals,
    /// Indices of the connections.
    paths: Vec<usize>,
    /// The current time, s.
    now: f64,
    /// End of the forecast, s.
    until: f64,
}

impl Forecast<'_> {
    /// Returns the future lights of a fixed-time programme.
    fn fixed(&self) -> Vec<LightPeriod> {
        let mut periods: Vec<LightPeriod> = Vec::new();
        let mut from = self.now;
        while from < self.until {
            let to = (from + STEP).min(self.until);
            let middle = 0.5 * (from + to);
            let lights = self.paths.iter().map(|&p| self.signals.light(p, middle));
            let Some(light) = lights.max() else { break };
            match periods.last_mut() {
                Some(last) if last.light == light => last.to = to,
                _ => periods.push(LightPeriod { from, to, light }),
            }
            from = to;
        }
        periods
    }

    /// Returns the rest of the current stage, plus the shortest green of the next stage if the
    /// current one is ending.
    fn on_demand(&self, programme: &ProgrammeInspection) -> Vec<LightPeriod> {
        let Some(remaining) = programme.remaining else {
            return Vec::new();
        };
        let stages = &self.signals.programme.stages;
        let stage = programme.stage;
        let (phases, next) = match (programme.phase, programme.next) {
            (StagePhase::Green, _) | (_, None) => (vec![(None, remaining)], None),
            (phase, Some(next)) if next < stages.len() => {
                let between = self.signals.programme.intergreen(stage, next);
                let parts = [
                    (StagePhase::Amber, Between::Amber, between.amber),
                    (
                        StagePhase::AllRed,
                        Between::AllRed,
                        between.all_red - between.red_amber,
                    ),
                    (StagePhase::RedAmber, Between::RedAmber, between.red_amber),
                ];
                let rest = parts.into_iter().skip_while(|(own, ..)| *own != phase);
                let rest = rest.map(|(own, part, whole)| {
                    let seconds = if own == phase { remaining } else { whole };
                    (Some((next, part)), seconds)
                });
                (rest.collect(), Some(next))
            }
            _ => return Vec::new(),
        };
        let mut periods = Vec::new();
        let mut from = self.now;
        let mut add = |light: Option<Light>, seconds: f64| {
            let to = (from + seconds).min(self.until);
            if let Some(light) = light.filter(|_| to > from) {
                periods.push(LightPeriod { from, to, light });
                from = to;
            }
        };
        for (change, seconds) in phases {
            add(self.light_in(stage, change), seconds);
        }
        if let Some(next) = next {
            add(self.light_in(next, None), stages[next].min);
        }
        periods
    }

    /// Returns the most permissive light of the connections in a stage.
    fn light_in(&self, stage: usize, change: Option<(usize, Between)>) -> Option<Light> {
        let paths = self.paths.iter();
        paths
            .map(|&path| self.signals.light_in(path, stage, change))
            .max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_names() {
        for (heading, name) in [
            (0.1, "eastbound"),
            (1.5, "northbound"),
            (-3.1, "westbound"),
            (-1.6, "southbound"),
            (6.2, "eastbound"),
        ] {
            assert_eq!(bound(heading), name);
        }
    }
}
