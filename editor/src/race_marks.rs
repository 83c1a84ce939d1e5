//! A race on the map: the planner's drive as a ghost, and the countdown.

use crate::live::LivePicture;
use crate::marks::Board;
use crate::race::{Race, RacePhase};
use crate::tools::Tone;
use egui::{Align2, FontId, Shape, Stroke, vec2};
use roadwright_geometry::DVec2;

/// Size of the countdown, points.
const COUNTDOWN: f32 = 96.0;

impl Board<'_> {
    /// Draws a race.
    pub(crate) fn race(&self, race: &Race, live: &LivePicture) {
        self.ghost(race, live.snapshot.time);
        if let RacePhase::Countdown(ends) = race.phase {
            let now = self.painter.ctx().input(|input| input.time);
            let text = format!("{:.0}", (ends - now).ceil().max(1.0));
            let font = FontId::proportional(COUNTDOWN);
            let at = self.rect.center() - vec2(0.0, 0.2 * self.rect.height());
            let color = self.theme.tone(Tone::Accent);
            for halo in [
                vec2(2.0, 2.0),
                vec2(-2.0, 2.0),
                vec2(2.0, -2.0),
                vec2(-2.0, -2.0),
            ] {
                let place = at + halo;
                let anchor = Align2::CENTER_CENTER;
                self.painter
                    .text(place, anchor, &text, font.clone(), self.theme.halo());
            }
            self.painter
                .text(at, Align2::CENTER_CENTER, text, font, color);
        }
    }

    /// Draws the planner's vehicle at its position `time` seconds after the start of its drive.
    fn ghost(&self, race: &Race, time: f64) {
        let planner = &race.ready.planner;
        let Some(pose) = planner.at(time) else {
            return;
        };
        let [length, width] = planner.size;
        let corner = |ahead: f64, left: f64| {
            let local = DVec2::new(0.5 * ahead * length, 0.5 * left * width);
            self.at(pose.point(local.x, local.y))
        };
        let outline = vec![
            corner(1.0, 1.0),
            corner(-1.0, 1.0),
            corner(-1.0, -1.0),
            corner(1.0, -1.0),
        ];
        let color = self.theme.tone(Tone::Guide);
        let stroke = Stroke::new(1.5, color);
        self.painter.add(Shape::convex_polygon(
            outline,
            color.gamma_multiply(0.25),
            stroke,
        ));
        let at = self.at(pose.position) + vec2(10.0, -10.0);
        self.plate(at, Align2::LEFT_BOTTOM, "planner", color);
    }
}
