//! People on foot on the map of a running simulation, drawn as pictures draw them.

use crate::marks::Board;
use egui::{Color32, Shape, Stroke};
use glam::DVec2;
use roadwright_render::{Color, Painter, person};
use roadwright_simulation::PersonRecord;

/// Draws those in view.
pub(crate) fn paint(board: &Board<'_>, people: &[PersonRecord]) {
    let (low, high) = board.camera.view(board.rect);
    let is_seen = |at: DVec2| at.cmpge(low - 1.0).all() && at.cmple(high + 1.0).all();
    let mut window = Window { board };
    for record in people.iter().filter(|record| is_seen(record.position)) {
        person(&mut window, record);
    }
}

/// The window as something to paint on.
struct Window<'a> {
    board: &'a Board<'a>,
}

fn on_screen(color: Color) -> Color32 {
    let color = color.to_color_u8();
    Color32::from_rgba_unmultiplied(color.red(), color.green(), color.blue(), color.alpha())
}

impl Painter for Window<'_> {
    fn scale(&self) -> f64 {
        1.0 / self.board.camera.scale
    }

    fn polygon(&mut self, points: &[DVec2], color: Color) {
        let points = points.iter().map(|&point| self.board.at(point)).collect();
        let shape = Shape::convex_polygon(points, on_screen(color), Stroke::NONE);
        self.board.painter.add(shape);
    }

    fn edge(&mut self, points: &[DVec2], width: f64, least: f32, color: Color) {
        let points = points.iter().map(|&point| self.board.at(point)).collect();
        let width = ((width * self.scale()) as f32).max(least);
        let stroke = Stroke::new(width, on_screen(color));
        self.board.painter.add(Shape::closed_line(points, stroke));
    }

    fn line(
        &mut self,
        points: &[DVec2],
        width: f64,
        least: f32,
        dash: Option<(f64, f64)>,
        color: Color,
    ) {
        let points: Vec<_> = points.iter().map(|&point| self.board.at(point)).collect();
        let width = ((width * self.scale()) as f32).max(least);
        let stroke = Stroke::new(width, on_screen(color));
        match dash {
            None => {
                self.board.painter.add(Shape::line(points, stroke));
            }
            Some((on, off)) => {
                let pixels = |metres: f64| (metres * self.scale()) as f32;
                let dashes = Shape::dashed_line(&points, stroke, pixels(on), pixels(off));
                self.board.painter.extend(dashes);
            }
        }
    }

    fn circle(&mut self, centre: DVec2, radius: f64, least: f32, color: Color) {
        let radius = ((radius * self.scale()) as f32).max(least);
        let centre = self.board.at(centre);
        self.board
            .painter
            .circle_filled(centre, radius, on_screen(color));
    }
}
