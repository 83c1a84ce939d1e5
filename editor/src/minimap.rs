//! The minimap: the whole world in a corner of the map.

use crate::camera::Camera;
use crate::map_view::MapView;
use crate::model::Model;
use crate::scene::{RoadShape, Scene};
use crate::theme::Theme;
use crate::tools::{MapPart, ToolOptions};
use egui::{
    Color32, ColorImage, Rect, Sense, Stroke, StrokeKind, TextureHandle, TextureOptions, Ui, pos2,
    vec2,
};
use roadwright_geometry::{DVec2, polygon};
use roadwright_render::{ground, palette};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Length of the longer side of the minimap, points.
const SIZE: f32 = 170.0;
/// Resolution of the minimap, pixels per point.
const DETAIL: f32 = 2.0;

/// A picture with its scene and theme, and the part of the world that it shows.
struct Drawn {
    scene: Arc<Scene>,
    dark: bool,
    hidden: BTreeSet<MapPart>,
    texture: TextureHandle,
    low: DVec2,
    high: DVec2,
}

/// The picture of the world, redrawn when the roads or the theme change.
#[derive(Default)]
pub(crate) struct Minimap {
    drawn: Option<Drawn>,
    /// Rectangle of the minimap on the screen. Clicks in it do not reach the map.
    place: Option<Rect>,
}

impl Minimap {
    fn update(&mut self, ui: &Ui, scene: &Arc<Scene>, options: &ToolOptions, theme: Theme) {
        if let Some(drawn) = &mut self.drawn
            && drawn.dark == theme.dark
            && drawn.hidden == options.hidden
        {
            // Every edit creates a new scene, but a new picture is needed only if roads or land have changed.
            let same = Arc::ptr_eq(&drawn.scene, scene);
            let (old, new) = (&drawn.scene.scenario, &scene.scenario);
            let same_land = || std::ptr::eq(old.land(), new.land());
            if same || same_land() && old.network() == new.network() {
                drawn.scene = scene.clone();
                return;
            }
        }
        let (low, high) = extent(scene);
        let image = picture(scene, options, low, high, theme);
        self.drawn = Some(Drawn {
            scene: scene.clone(),
            dark: theme.dark,
            hidden: options.hidden.clone(),
            texture: ui
                .ctx()
                .load_texture("minimap", image, TextureOptions::LINEAR),
            low,
            high,
        });
    }

    /// Hides the minimap.
    pub(crate) fn hide(&mut self) {
        self.place = None;
    }

    /// Returns the rectangle of the minimap on the screen, if it is shown.
    pub(crate) fn place(&self) -> Option<Rect> {
        self.place
    }

    /// Whether a point of the screen is on the minimap.
    pub(crate) fn contains(&self, at: egui::Pos2) -> bool {
        self.place.is_some_and(|place| place.contains(at))
    }

    /// Shows the minimap in the lower right corner of the map, with a frame around the view. Returns the
    /// world point that a click or drag on it moves to the centre of the map.
    pub(crate) fn ui(
        &mut self,
        ui: &mut Ui,
        map: Rect,
        model: &Model,
        camera: &Camera,
    ) -> Option<DVec2> {
        self.place = None;
        // On a narrow map, the minimap would cover the drawing area.
        if model.scene.roads.is_empty() || map.width() < 3.0 * SIZE {
            return None;
        }
        let theme = model.theme();
        self.update(ui, &model.scene, &model.settings.tools, theme);
        let Drawn {
            texture, low, high, ..
        } = self.drawn.as_ref()?;
        // If the map shows the whole world, the minimap would only cover a corner.
        let (view_low, view_high) = camera.view(map);
        if view_low.cmple(*low).all() && view_high.cmpge(*high).all() {
            return None;
        }
        let size = texture.size_vec2() / DETAIL;
        let rect = Rect::from_min_size(map.max - size - vec2(14.0, 14.0), size);
        self.place = Some(rect.expand(4.0));
        let response = ui.interact(rect, ui.scope_id().with("minimap"), Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "minimap"));
        let painter = ui.painter().with_clip_rect(map);
        painter.rect_filled(rect.expand(4.0), 5.0, theme.halo());
        let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        painter.image(texture.id(), rect, uv, Color32::WHITE);
        let scale = (*high - *low) / DVec2::new(f64::from(size.x), f64::from(size.y));
        let screen = |p: DVec2| {
            let u = (p - *low) / scale;
            pos2(rect.left() + u.x as f32, rect.bottom() - u.y as f32)
        };
        let view = Rect::from_two_pos(screen(view_low), screen(view_high)).intersect(rect);
        let color = theme.tone(crate::tools::Tone::Accent);
        // The fill and the frame are separate, because some renderers show a line from a corner to the middle
        // of a combined shape.
        painter.rect_filled(view, 1.0, color.gamma_multiply(0.15));
        painter.rect_stroke(view, 1.0, Stroke::new(1.5, color), StrokeKind::Inside);
        let at = response.interact_pointer_pos()?;
        let u = DVec2::new(
            f64::from(at.x - rect.left()),
            f64::from(rect.bottom() - at.y),
        );
        Some(*low + u * scale)
    }
}

fn extent(scene: &Scene) -> (DVec2, DVec2) {
    let low = scene
        .roads
        .iter()
        .fold(DVec2::INFINITY, |low, r| low.min(r.low));
    let high = scene
        .roads
        .iter()
        .fold(DVec2::NEG_INFINITY, |high, r| high.max(r.high));
    let pad = 0.03 * (high - low).max_element() + 5.0;
    (low - pad, high + pad)
}

/// Paints all areas of land, row by row.
fn land(image: &mut ColorImage, scene: &Scene, low: DVec2, pixel: f64, theme: Theme) {
    let mut areas: Vec<_> = scene.scenario.painted_land().collect();
    areas.sort_by_key(|(_, land)| land.usage.rank());
    let [width, height] = image.size;
    for (_, land) in areas {
        let color = theme.of_the_map(ground::color(land.usage));
        let (bottom, top) = polygon::bounds(&land.outline).unwrap_or_default();
        let row = |y: f64| ((y - low.y) / pixel).clamp(0.0, height as f64) as usize;
        for y in row(bottom.y)..row(top.y).min(height) {
            let at = low.y + (y as f64 + 0.5) * pixel;
            // The row crosses the edges of the area at these places. It is inside the area from the first to
            // the second, from the third to the fourth, and so on.
            let edges = land.rings().flat_map(|ring| polygon::edges(ring));
            let mut crossed: Vec<f64> = edges
                .filter(|(a, b)| (a.y > at) != (b.y > at))
                .map(|(a, b)| a.x + (at - a.y) / (b.y - a.y) * (b.x - a.x))
                .collect();
            crossed.sort_by(f64::total_cmp);
            for span in crossed.as_chunks::<2>().0 {
                let column = |x: f64| ((x - low.x) / pixel + 0.5).clamp(0.0, width as f64) as usize;
                let base = (height - 1 - y) * width;
                image.pixels[base + column(span[0])..base + column(span[1])].fill(color);
            }
        }
    }
}

/// Draws land, and roads as lines of one pixel.
fn picture(
    scene: &Scene,
    options: &ToolOptions,
    low: DVec2,
    high: DVec2,
    theme: Theme,
) -> ColorImage {
    let world = high - low;
    let pixel = world.max_element() / f64::from(SIZE * DETAIL);
    let (width, height) = (
        ((world.x / pixel) as usize).max(8),
        ((world.y / pixel) as usize).max(8),
    );
    let mut image = ColorImage::filled([width, height], theme.ground());
    if !options.hides(MapPart::Land) {
        land(&mut image, scene, low, pixel, theme);
    }
    let ink = theme.of_the_map(palette::ASPHALT);
    let is_shown = |road: &&RoadShape| !options.hides_layer(road.road.layer);
    for road in scene.roads.iter().filter(is_shown) {
        for pair in road.line.windows(2) {
            let (a, b) = ((pair[0] - low) / pixel, (pair[1] - low) / pixel);
            // One step per pixel along the longer side leaves no gaps.
            let steps = (b - a).abs().max_element().ceil().clamp(1.0, 1e4);
            for i in 0..=steps as usize {
                let p = a + (b - a) * (i as f64 / steps);
                // Rows count from the top, but y counts from the bottom.
                let (x, y) = (p.x as usize, height.saturating_sub(1 + p.y as usize));
                // Two pixels wide, because a single pixel would be too thin.
                for (x, y) in [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)] {
                    if x < width && y < height {
                        image.pixels[y * width + x] = ink;
                    }
                }
            }
        }
    }
    image
}
