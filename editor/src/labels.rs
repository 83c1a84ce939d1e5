//! Names on the map: streets along their roads, points of interest beside their pins, and heights on contours.

use crate::map::VehicleDot;
use crate::map_view::MapView;
use crate::marks::Board;
use crate::scene::{Scene, StreetName};
use crate::tools::ToolOptions;
use egui::emath::Rot2;
use egui::epaint::TextShape;
use egui::{Color32, FontId, Galley, Id, Pos2, Rect, Shape, Stroke, Vec2, vec2};
use roadwright_geometry::{DVec2, Pose};
use roadwright_render::relief::{HeightLabel, LABEL_SIZE, PEAK_SIZE, Relief, View, height_text};
use roadwright_render::street_name::{self, Cover, FADED};
use roadwright_render::{ground, palette};
use roadwright_scenario::Scenario;
use std::collections::BTreeMap;
use std::f32::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

/// Maximum number of names of each kind per frame.
const MOST_NAMES: usize = 120;
/// Largest scale at which names of points of interest are shown, in metres per pixel.
const FARTHEST_PLACE: f64 = 0.5;
/// Distance between repetitions of a street's name, points.
const AGAIN: f32 = 520.0;
/// Minimum length of a street that gets a name, points.
const LEAST_ROOM: f64 = 40.0;
/// Minimum area of land that gets a name, square points.
const LEAST_LAND: f64 = 3_000.0;
/// Width of the halo around letters, points.
const HALO: f32 = 2.0;
/// Largest scale at which names fade below vehicles, in metres per pixel.
const FARTHEST_FADING: f64 = 0.35;
/// Time in which a name fades, s.
const FADING: f32 = 0.15;
/// Minimum difference between the width of a road and the height of capital letters, points. With less room,
/// the name is not written on the asphalt.
const ROOM_AROUND: f32 = 5.0;

impl Board<'_> {
    /// Draws street names along their roads where there is room. On asphalt, the letters are light,
    /// with a halo in the colour of the asphalt that hides the markings below. On roads thinner
    /// than the letters, the letters are dark, with a halo in the colour of the ground. On the pale
    /// roads of a heat map, all letters are dark. A name fades while one of the `vehicles` is on it.
    pub(crate) fn street_names(
        &self,
        scene: &Scene,
        options: &ToolOptions,
        is_pale: bool,
        vehicles: &[VehicleDot],
    ) {
        let (low, high) = self.camera.view(self.rect);
        let size = font_size(self.camera.scale);
        let is_seen = |dot: &&VehicleDot| {
            let at = dot.body.position;
            at.cmpge(low).all() && at.cmple(high).all()
        };
        let seen = vehicles.iter().filter(is_seen);
        // From farther away, vehicles are not much larger than letters.
        let vehicles: Vec<&VehicleDot> = match self.camera.scale {
            scale if scale <= FARTHEST_FADING => seen.collect(),
            _ => Vec::new(),
        };
        let mut taken: Vec<Rect> = Vec::new();
        let mut written: BTreeMap<&str, Vec<Pos2>> = BTreeMap::new();
        let streets = scene.street_names.iter();
        for street in streets.filter(|street| !options.hides_layer(street.layer)) {
            // The longest streets come first, so shorter ones have no room either.
            if street.length / self.camera.scale < LEAST_ROOM || taken.len() >= MOST_NAMES {
                break;
            }
            let Some((place, length)) = self.place_in_view(scene, street, low, high) else {
                continue;
            };
            let room = (length / self.camera.scale) as f32;
            let centre = self.at(place.position);
            let before = written.entry(&street.name).or_default();
            if before.iter().any(|other| other.distance(centre) < AGAIN) {
                continue;
            }
            let font = FontId::proportional(size);
            let galley =
                self.painter
                    .layout_no_wrap(street.name.clone(), font, Color32::PLACEHOLDER);
            let extent = galley.size();
            // The text is rotated, so a square keeps other names at a distance in any direction. It is
            // limited to 90 points, because otherwise a long name would leave a whole district without names.
            let bounds = Rect::from_center_size(centre, Vec2::splat(extent.x.min(90.0)));
            if 1.15 * extent.x > room || taken.iter().any(|other| other.intersects(bounds)) {
                continue;
            }
            taken.push(bounds);
            before.push(centre);
            let text = self.turned(galley, centre, place.heading);
            let width = (street.width / self.camera.scale) as f32;
            let is_on_road = width >= size + ROOM_AROUND && !is_pale;
            let half =
                0.5 * self.camera.scale * DVec2::new(f64::from(extent.x), f64::from(extent.y));
            let is_covered = vehicles.iter().any(|dot| {
                let vehicle = Cover {
                    at: dot.body.position,
                    length: dot.length,
                    width: dot.width,
                };
                street_name::is_covered(place, half, &vehicle)
            });
            let id = Id::unique(("name under traffic", street.road));
            let context = self.painter.ctx();
            let share = context.animate_bool_with_time(id, is_covered, FADING);
            let opacity = 1.0 - (1.0 - FADED) * share;
            if is_on_road {
                self.on_asphalt(text, opacity);
            } else {
                self.on_open_ground(text, opacity);
            }
        }
    }

    /// Returns the position of a street name in a view, and the length of the street in the view,
    /// m. The name is in the middle of the road or, if that point is outside the view, in the
    /// middle of the visible part.
    fn place_in_view(
        &self,
        scene: &Scene,
        street: &StreetName,
        low: DVec2,
        high: DVec2,
    ) -> Option<(Pose, f64)> {
        let middle = street.middle;
        if middle.cmpge(low).all() && middle.cmple(high).all() {
            let place = Pose {
                position: middle,
                heading: street.heading,
            };
            return Some((place, street.length));
        }
        // No point of the road is farther from its middle than half its length.
        let apart = middle.clamp(low, high).distance(middle);
        if apart > 0.5 * street.length {
            return None;
        }
        let road = scene.scenario.network().road(street.road)?;
        let clear = if self.camera.scale * street_name::ARROW_SCALE <= 1.0 {
            let side = scene.scenario.about().driving_side;
            street_name::clear_of_ends(road, side, street.stretch)?
        } else {
            street.stretch
        };
        let stretch = street_name::in_view(road, clear, (low, high))?;
        Some((street_name::place(road, stretch).0, stretch.1 - stretch.0))
    }

    /// Draws the names of points of interest beside them. At small scales, only pins are shown.
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
            self.on_open_ground(text, 1.0);
        }
    }

    /// Draws the names of parks and water in the hue of the land where there is room, largest first.
    pub(crate) fn land_names(&self, scene: &Scene) {
        let (low, high) = self.camera.view(self.rect);
        let mut taken: Vec<Rect> = Vec::new();
        let mut written: BTreeMap<&str, Vec<Pos2>> = BTreeMap::new();
        for land in scene.land_names.iter() {
            let pixels = land.area / (self.camera.scale * self.camera.scale);
            // The largest areas come first, so smaller ones have no room either.
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
            self.with_colors(text, colors);
        }
    }

    /// Draws the heights of index contours and of peaks. Roads hide the contours below them, so no labels are
    /// drawn there.
    pub(crate) fn heights(&self, relief: &Relief, scene: &Scene) {
        let (low, high) = self.camera.view(self.rect);
        let view = View {
            low,
            high,
            scale: self.camera.scale,
        };
        let layout = |height: f64| {
            let font = FontId::proportional(LABEL_SIZE);
            let text = height_text(height);
            self.painter
                .layout_no_wrap(text, font, Color32::PLACEHOLDER)
        };
        let halo = |height: f64| {
            let color = relief.ground(height, self.theme.dark).to_color_u8();
            Color32::from_rgb(color.red(), color.green(), color.blue())
        };
        let is_open = |label: &HeightLabel| scene.class_at(label.pose.position).is_none();
        let labels = relief.labels(&view).into_iter();
        for label in labels.filter(is_open) {
            let galley = layout(label.height);
            let text = self.turned(galley, self.at(label.pose.position), label.pose.heading);
            let ink = self.theme.of_the_map(palette::CONTOUR);
            self.with_colors(text, [ink, halo(label.height)]);
        }
        for peak in relief.seen_peaks(&view).take(MOST_NAMES) {
            let at = self.at(peak.at);
            let corner = |x: f32, y: f32| at + PEAK_SIZE * vec2(x, y);
            let triangle = vec![corner(-1.0, 0.8), corner(1.0, 0.8), corner(0.0, -0.9)];
            let ink = self.theme.ink();
            self.painter
                .add(Shape::convex_polygon(triangle, ink, Stroke::NONE));
            let galley = layout(peak.height);
            let below = at + vec2(-0.5 * galley.size().x, PEAK_SIZE + 1.0);
            let text = TextShape::new(below, galley, Color32::PLACEHOLDER);
            self.with_colors(text, [ink, halo(peak.height)]);
        }
    }

    /// Returns a text shape that is centred at a point of the screen and aligned with a heading on
    /// the map. The text is never upside down.
    fn turned(&self, galley: Arc<Galley>, centre: Pos2, heading: f64) -> TextShape {
        // Angles are clockwise on the screen, where y points down.
        let angle = upright(-heading as f32);
        let corner = centre - Rot2::from_angle(angle) * (0.5 * galley.size());
        TextShape::new(corner, galley, Color32::PLACEHOLDER).with_angle(angle)
    }

    /// Draws a label with a halo on asphalt.
    fn on_asphalt(&self, text: TextShape, opacity: f32) {
        let colors = [palette::ROAD_INK, palette::ASPHALT];
        let colors = colors.map(|hex| self.theme.of_the_map(hex).gamma_multiply(opacity));
        let [_, asphalt] = colors;
        // The halo also covers the spaces between words, so that no road markings show there.
        let (size, turn) = (text.galley.size(), Rot2::from_angle(text.angle));
        let middle = [0.0, size.x].map(|x| text.pos + turn * vec2(x, 0.5 * size.y));
        self.painter
            .line_segment(middle, Stroke::new(2.0 * HALO, asphalt));
        self.with_colors(text, colors);
    }

    /// Draws a label with a halo on open ground.
    fn on_open_ground(&self, text: TextShape, opacity: f32) {
        let colors = [self.theme.ink(), self.theme.of_the_map(palette::GROUND)];
        self.with_colors(text, colors.map(|color| color.gamma_multiply(opacity)));
    }

    /// Draws a label in one colour, with a halo in another colour.
    fn with_colors(&self, text: TextShape, [ink, halo]: [Color32; 2]) {
        let colored = |shift: Vec2, color: Color32| {
            let mut text = text.clone();
            text.pos += shift;
            text.with_override_text_color(color)
        };
        for i in 0..8u8 {
            let shift = HALO * Vec2::angled(f32::from(i) * 0.25 * PI);
            let halo = halo.gamma_multiply(0.8);
            self.painter.add(colored(shift, halo));
        }
        self.painter.add(colored(Vec2::ZERO, ink));
    }
}

/// Returns the font size of street names at a scale in metres per pixel; at least 11.
fn font_size(scale: f64) -> f32 {
    if scale <= 0.15 {
        14.0
    } else if scale <= 0.35 {
        12.5
    } else {
        11.5
    }
}

/// Returns the angle, rotated by half a turn if necessary so that the text is not upside down.
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
            // Both angles belong to the same line, so they differ by whole half turns.
            let turns = (angle - shown) / PI;
            assert!((turns - turns.round()).abs() < 1e-4);
        }
    }
}
