//! Curves of the vehicle's behaviour. Curves of the compared vehicle have a different colour.

use super::super::plots::{Curve, plot, plot_at};
use super::part;
use crate::model::Model;
use crate::theme::Theme;
use crate::workshop::{Bench, Drawn};
use egui::{RichText, Ui};

/// Height of a plot, points.
const HEIGHT: f32 = 120.0;
/// Colour index of the compared vehicle.
const RIVAL: usize = 2;
/// Colour index of a limit.
const LIMIT: usize = 3;
/// Colour index of the second curve of the vehicle itself.
const SECOND: usize = 1;

pub(super) fn ui(ui: &mut Ui, model: &Model, bench: &Bench) {
    let rival = model.workshop.rival.as_ref().map(|rival| &*rival.drawn);
    let curves = Curves {
        theme: model.theme(),
        own: &bench.drawn,
        rival,
    };
    curves.engine(ui);
    curves.traction(ui);
    curves.steps(ui);
    curves.roll(ui);
    if curves.own.engine.is_empty() && curves.own.roll.is_none() {
        part(ui, "Curves");
        ui.label("The file has neither a drive train nor springs, so there are no curves.");
    }
}

struct Curves<'a> {
    theme: Theme,
    own: &'a Drawn,
    rival: Option<&'a Drawn>,
}

impl Curves<'_> {
    fn curve(
        &self,
        name: &'static str,
        color: usize,
        points: impl Iterator<Item = [f64; 2]>,
    ) -> Curve {
        Curve {
            name,
            color: self.theme.plot(color),
            width: if color == RIVAL { 1.2 } else { 2.0 },
            points: points.collect(),
        }
    }

    fn note(ui: &mut Ui, text: String) {
        ui.label(RichText::new(text).weak());
    }

    /// Draws torque and power against engine speed.
    fn engine(&self, ui: &mut Ui) {
        if self.own.engine.is_empty() {
            return;
        }
        let mut curves = Vec::new();
        for (drawn, torque, power) in self.both(0, SECOND) {
            let names = if torque == RIVAL {
                ["other", ""]
            } else {
                ["N m", "kW"]
            };
            let of = |value: fn(&roadwright_vehicle::sheet::EnginePoint) -> f64| {
                drawn
                    .engine
                    .iter()
                    .map(move |point| [point.rpm, value(point)])
            };
            curves.push(self.curve(names[0], torque, of(|point| point.torque)));
            curves.push(self.curve(names[1], power, of(|point| 1e-3 * point.power)));
        }
        plot(ui, "Engine torque and power against rpm", HEIGHT, curves);
    }

    /// Returns both vehicles, each with the colour indices of its first and second curve. The
    /// compared vehicle comes first, so that it is drawn below.
    fn both(&self, first: usize, second: usize) -> Vec<(&Drawn, usize, usize)> {
        let rival = self.rival.map(|rival| (rival, RIVAL, RIVAL));
        // The compared vehicle is drawn below.
        rival
            .into_iter()
            .chain([(self.own, first, second)])
            .collect()
    }

    /// Draws the force of each gear against the resistance, with the top speed marked.
    fn traction(&self, ui: &mut Ui) {
        let Some(own) = &self.own.traction else {
            return;
        };
        let mut curves = Vec::new();
        for (drawn, force, resistance) in self.both(0, SECOND) {
            let Some(traction) = &drawn.traction else {
                continue;
            };
            let names = if force == RIVAL {
                ["other", ""]
            } else {
                ["gears", "resistance"]
            };
            let kilo = |points: &[[f64; 2]]| -> Vec<[f64; 2]> {
                points
                    .iter()
                    .map(|[speed, force]| [*speed, 1e-3 * force])
                    .collect()
            };
            for (number, gear) in traction.gears.iter().enumerate() {
                let name = if number == 0 { names[0] } else { "" };
                curves.push(self.curve(name, force, kilo(&gear.points).into_iter()));
            }
            let points = kilo(&traction.resistance).into_iter();
            curves.push(self.curve(names[1], resistance, points));
        }
        let mark = Some((own.top_speed, self.theme.plot(LIMIT)));
        plot_at(ui, "Force (kN) against speed (m/s)", HEIGHT, curves, mark);
        let top = own.top_speed;
        let mut text = format!("Top speed {top:.1} m/s ({:.0} km/h).", 3.6 * top);
        if own.grip.is_finite() {
            text += &format!(" Tyre grip limit {:.1} kN.", 1e-3 * own.grip);
        }
        Self::note(ui, text);
    }

    /// Draws the response of the hull to a step in the ground.
    fn steps(&self, ui: &mut Ui) {
        if self.own.steps.is_none() {
            return;
        }
        let mut curves = Vec::new();
        for (drawn, front, rear) in self.both(0, SECOND) {
            let names = if front == RIVAL {
                ["other", ""]
            } else {
                ["front", "rear"]
            };
            for (number, points) in drawn.steps.iter().flatten().enumerate() {
                let color = if number == 0 { front } else { rear };
                curves.push(self.curve(names[number], color, points.iter().copied()));
            }
        }
        plot(ui, "Ground step response against time (s)", HEIGHT, curves);
    }

    /// Draws the roll angle against lateral acceleration, with the limit marked.
    fn roll(&self, ui: &mut Ui) {
        let Some(own) = &self.own.roll else {
            return;
        };
        let mut curves = Vec::new();
        for (drawn, color, _) in self.both(0, 0) {
            let name = if color == RIVAL { "other" } else { "roll" };
            let points = drawn.roll.iter().flat_map(|roll| &roll.points);
            let points = points.map(|[acceleration, angle]| [*acceleration, angle.to_degrees()]);
            curves.push(self.curve(name, color, points));
        }
        let mark = Some((own.tips_at, self.theme.plot(LIMIT)));
        plot_at(
            ui,
            "Roll (°) against acceleration (m/s²)",
            HEIGHT,
            curves,
            mark,
        );
        let grip = self.own.facts.iter().find(|fact| fact.name == "Grip");
        let tips = own.tips_at;
        let text = match grip {
            Some(grip) if grip.value < tips => {
                format!(
                    "Would tip over at {tips:.1} m/s², but slides first, at {:.1}.",
                    grip.value
                )
            }
            Some(grip) => format!(
                "Tips over at {tips:.1} m/s², before it would slide at {:.1}.",
                grip.value
            ),
            None => format!("Tips over at {tips:.1} m/s²."),
        };
        Self::note(ui, text);
    }
}
