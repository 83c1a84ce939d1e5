//! Names on the map: of streets along their roads, of points of interest beside their pins.

use crate::map::VehicleDot;
use crate::marks::Board;
use crate::scene::Scene;
use crate::tools::ToolOptions;
use egui::epaint::TextShape;
use egui::{Color32, FontId, Pos2, Rect, Vec2, vec2};
use roadwright_render::{ground, palette};
use roadwright_scenario::Scenario;
use std::collections::BTreeMap;
use std::f32::consts::{FRAC_PI_2, PI};

/// Most names of each kind in one frame.
const MOST_NAMES: usize = 120;
/// Farther away than this the names of points of interest are not written, m a pixel.
const FARTHEST_PLACE: f64 = 0.5;
/// A street says its name again after so many points.
const AGAIN: f32 = 520.0;
/// The name of a smaller area is not written, square points.
const LEAST_LAND: f64 = 3_000.0;
/// How far a halo reaches around letters, points.
const HALO: f32 = 2.0;
/// A road that is this much wider than capital letters are high has its name on the asphalt, points.
const ROOM_AROUND: f32 = 5.0;
/// A vehicle this close to a name is on it, points.
const UNDER: f32 = 6.0;
/// How strong a name is then.
const FAINT: f32 = 0.25;

impl Board<'_> {
    /// Street names along their roads, where there is room. On asphalt letters are light with a halo in
    /// the colour of the asphalt, which hides the paint below them; on roads that are thinner than the
    /// letters dark with a halo in the colour of the ground.
    /// The name of a street is faint while a vehicle is on it, which it would cover.
    /// On the pale roads of a heat map all are dark.
    pub(crate) fn street_names(
        &self,
        scene: &Scene,
        options: &ToolOptions,
        vehicles: &[VehicleDot],
        is_pale: bool,
    ) {
        let vehicles: Vec<Pos2> = self.points_in_view(vehicles);
        let (low, high) = self.camera.view(self.rect);
        let size = font_size(self.camera.scale);
        let mut taken: Vec<Rect> = Vec::new();
        let mut written: BTreeMap<&str, Vec<Pos2>> = BTreeMap::new();
        let streets = scene.street_names.iter();
        for street in streets.filter(|street| !options.hides_layer(street.layer)) {
            let is_seen = street.middle.cmpge(low).all() && street.middle.cmple(high).all();
            let room = (street.length / self.camera.scale) as f32;
            // The longest come first: no later one has room.
            if room < 40.0 || taken.len() >= MOST_NAMES {
                break;
            }
            let centre = self.at(street.middle);
            let before = written.entry(&street.name).or_default();
            if !is_seen || before.iter().any(|other| other.distance(centre) < AGAIN) {
                continue;
            }
            let font = FontId::proportional(size);
            let galley =
                self.painter
                    .layout_no_wrap(street.name.clone(), font, Color32::PLACEHOLDER);
            let extent = galley.size();
            // The text is turned: a square keeps others away in any direction. At most 90 points,
            // or a long name would keep a whole quarter without names.
            let bounds = Rect::from_center_size(centre, Vec2::splat(extent.x.min(90.0)));
            if 1.15 * extent.x > room || taken.iter().any(|other| other.intersects(bounds)) {
                continue;
            }
            taken.push(bounds);
            before.push(centre);
            // Clockwise on the screen, where y points down.
            let angle = upright(-street.heading as f32);
            let corner = centre - egui::emath::Rot2::from_angle(angle) * (0.5 * extent);
            let text = TextShape::new(corner, galley, Color32::PLACEHOLDER).with_angle(angle);
            let width = (street.width / self.camera.scale) as f32;
            let is_on_road = width >= size + ROOM_AROUND && !is_pale;
            let reach = 0.5 * extent + Vec2::splat(UNDER);
            let turned = egui::emath::Rot2::from_angle(-angle);
            let covers = |vehicle: &Pos2| {
                let beside = turned * (*vehicle - centre);
                beside.x.abs() < reach.x && beside.y.abs() < reach.y
            };
            let strength = if vehicles.iter().any(covers) {
                FAINT
            } else {
                1.0
            };
            self.with_halo(text, is_on_road, strength);
        }
    }

    /// Middles of the vehicles on the screen, as far as they are as large as a name would matter.
    fn points_in_view(&self, vehicles: &[VehicleDot]) -> Vec<Pos2> {
        if self.camera.scale > FARTHEST_PLACE {
            return Vec::new();
        }
        let on_screen = vehicles
            .iter()
            .map(|vehicle| self.at(vehicle.body.position));
        on_screen.filter(|at| self.rect.contains(*at)).collect()
    }

    /// Names of points of interest, beside them; far away only their pins are seen.
    pub(crate) fn place_names(&self, scenario: &Scenario) {
        if self.camera.scale > FARTHEST_PLACE {
            return;
        }
        let (low, high) = self.camera.view(self.rect);
        let mut taken: Vec<Rect> = Vec::new();
        for point in scenario.points_of_interest().values() {
            let at = point.position();
            if at.cmplt(low).any() || at.cmpgt(high).any() {
                continue;
            }
            let mark = roadwright_render::reach_of_mark(point) / self.camera.scale;
            let beside = self.at(at) + vec2((mark as f32 + 5.0).max(9.0), 0.0);
            let font = FontId::proportional(12.0);
            let galley =
                self.painter
                    .layout_no_wrap(point.name.clone(), font, Color32::PLACEHOLDER);
            let corner = beside - vec2(0.0, 0.5 * galley.size().y);
            let bounds = Rect::from_min_size(corner, galley.size());
            if taken.len() >= MOST_NAMES || taken.iter().any(|other| other.intersects(bounds)) {
                continue;
            }
            taken.push(bounds);
            let text = TextShape::new(corner, galley, Color32::PLACEHOLDER);
            self.with_halo(text, false, 1.0);
        }
    }

    /// Names of parks and waters in the hue of the land, where there is room, the largest first.
    pub(crate) fn land_names(&self, scene: &Scene) {
        let (low, high) = self.camera.view(self.rect);
        let mut taken: Vec<Rect> = Vec::new();
        let mut written: BTreeMap<&str, Vec<Pos2>> = BTreeMap::new();
        for land in scene.land_names.iter() {
            let pixels = land.area / (self.camera.scale * self.camera.scale);
            // The largest come first: no later one has room.
            if pixels < LEAST_LAND || taken.len() >= MOST_NAMES {
                break;
            }
            let is_seen = land.at.cmpge(low).all() && land.at.cmple(high).all();
            let centre = self.at(land.at);
            let before = written.entry(&land.name).or_default();
            let is_thin = land.room / self.camera.scale < 6.0;
            let is_near = |other: &Pos2| other.distance(centre) < AGAIN;
            let Some(ink) = ground::ink(land.usage).filter(|_| is_seen && !is_thin) else {
                continue;
            };
            if before.iter().any(is_near) {
                continue;
            }
            let font = FontId::proportional(13.0);
            let name = land.name.clone();
            let galley = self
                .painter
                .layout_no_wrap(name, font, Color32::PLACEHOLDER);
            let bounds = Rect::from_center_size(centre, galley.size());
            if taken.iter().any(|other| other.intersects(bounds)) {
                continue;
            }
            taken.push(bounds);
            before.push(centre);
            let text = TextShape::new(bounds.min, galley, Color32::PLACEHOLDER);
            let colors = [ink, ground::color(land.usage)].map(|hex| self.theme.of_the_map(hex));
            self.with_colors(text, colors, 1.0);
        }
    }

    /// Writes a text with a halo, for asphalt below it or for open ground.
    fn with_halo(&self, text: TextShape, is_on_road: bool, strength: f32) {
        let (ink, halo) = if is_on_road {
            let asphalt = self.theme.of_the_map(palette::ASPHALT);
            (self.theme.of_the_map(palette::ROAD_INK), asphalt)
        } else {
            (self.theme.ink(), self.theme.of_the_map(palette::GROUND))
        };
        self.with_colors(text, [ink, halo], strength);
    }

    /// Writes a text in a colour, with a halo in another one.
    fn with_colors(&self, text: TextShape, [ink, halo]: [Color32; 2], strength: f32) {
        let colored = |shift: Vec2, color: Color32| {
            let mut text = text.clone();
            text.pos += shift;
            text.with_override_text_color(color)
        };
        for i in 0..8u8 {
            let shift = HALO * Vec2::angled(f32::from(i) * 0.25 * PI);
            let halo = halo.gamma_multiply(0.8 * strength * strength);
            self.painter.add(colored(shift, halo));
        }
        self.painter
            .add(colored(Vec2::ZERO, ink.gamma_multiply(strength)));
    }
}

/// The size of street names at a scale in m a pixel: never below 11.
fn font_size(scale: f64) -> f32 {
    if scale <= 0.15 {
        14.0
    } else if scale <= 0.35 {
        12.5
    } else {
        11.5
    }
}

/// The same line, read from the left: never upside down.
fn upright(mut angle: f32) -> f32 {
    while angle > FRAC_PI_2 {
        angle -= PI;
    }
    while angle < -FRAC_PI_2 {
        angle += PI;
    }
    angle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_never_upside_down() {
        for i in -40..40 {
            let angle = 0.25 * i as f32;
            let shown = upright(angle);
            assert!(shown.abs() <= FRAC_PI_2 + 1e-5, "{angle} -> {shown}");
            // The same line: turned by whole half turns.
            let turns = (angle - shown) / PI;
            assert!((turns - turns.round()).abs() < 1e-4);
        }
    }
}
