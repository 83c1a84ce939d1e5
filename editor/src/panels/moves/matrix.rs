//! The distance matrix of the clips, with the transitions found in it.

use crate::moves::{BuiltLibrary, Linked};
use crate::theme::Theme;
use crate::tools::Tone;
use egui::{
    Color32, ColorImage, Rect, Role, Sense, Stroke, TextureHandle, TextureOptions, Ui, WidgetInfo,
    pos2, vec2,
};
use roadwright_moves::{DistanceMatrix, MatrixCell};
use std::sync::Arc;

/// Edge length of the drawn matrix, points.
const EDGE: f32 = 200.0;
/// Distance from which a cell gets the faintest colour, as a multiple of the threshold.
const FARTHEST: f32 = 12.0;
/// Radius of the dot of a transition, points.
const DOT: f32 = 1.6;

/// The matrix as a texture.
#[derive(Default)]
pub(super) struct MatrixPicture {
    known: Option<Known>,
}

/// A drawn matrix and its inputs.
struct Known {
    built: Arc<BuiltLibrary>,
    is_dark: bool,
    texture: TextureHandle,
    linked: Vec<Linked>,
}

impl MatrixPicture {
    /// Draws the matrix of a library.
    pub(super) fn ui(&mut self, ui: &mut Ui, theme: Theme, built: &Arc<BuiltLibrary>) {
        let side = built.matrix.side();
        if side == 0 {
            return;
        }
        let Known {
            texture, linked, ..
        } = self.known(ui, theme, built);
        let (rect, response) = ui.allocate_exact_size(vec2(EDGE, EDGE), Sense::hover());
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        ui.painter()
            .image(texture.id(), rect, whole, Color32::WHITE);
        let cell = EDGE / side as f32;
        let at = |cells: usize| cells as f32 * cell;
        let line = Stroke::new(1.0, theme.quiet().gamma_multiply(0.5));
        for start in built.matrix.clip_starts().skip(1) {
            ui.painter()
                .vline(rect.left() + at(start), rect.y_range(), line);
            ui.painter()
                .hline(rect.x_range(), rect.top() + at(start), line);
        }
        let (used, unused) = (theme.tone(Tone::Danger), theme.quiet());
        for one in linked {
            let MatrixCell { from, to } = one.cell;
            let place = rect.min + vec2(at(to) + 0.5 * cell, at(from) + 0.5 * cell);
            let color = if one.is_used { used } else { unused };
            ui.painter().circle_filled(place, DOT, color);
        }
        ui.painter()
            .rect_stroke(rect, 0.0, line, egui::StrokeKind::Outside);
        let used = linked.iter().filter(|one| one.is_used).count();
        let label = format!(
            "Distance matrix: {} used transitions, {} others",
            used,
            linked.len() - used
        );
        response.widget_info(move || WidgetInfo::labeled(Role::Image, true, &label));
        let hint = "Similarity of each frame (from top to bottom) to every other frame (from left \
             to right); darker means more similar. Dots are transitions: red ones begin a move of \
             the library, grey ones were left out. Lines separate clips.";
        response.on_hover_text(hint);
    }

    fn known(&mut self, ui: &Ui, theme: Theme, built: &Arc<BuiltLibrary>) -> &Known {
        let is_same =
            |known: &Known| Arc::ptr_eq(&known.built, built) && known.is_dark == theme.dark;
        let before = self.known.take().filter(is_same);
        self.known.insert(before.unwrap_or_else(|| {
            let image = image(&built.matrix, built.rules.threshold as f32, theme);
            let options = TextureOptions::NEAREST;
            Known {
                built: built.clone(),
                is_dark: theme.dark,
                texture: ui.ctx().load_texture("distance matrix", image, options),
                linked: built.linked(),
            }
        }))
    }
}

fn image(matrix: &DistanceMatrix, threshold: f32, theme: Theme) -> ColorImage {
    let side = matrix.side();
    let farthest = (FARTHEST * threshold).max(1e-3);
    let (near, far) = (theme.tone(Tone::Accent), theme.ground());
    let mut pixels = Vec::with_capacity(side * side);
    for from in 0..side {
        for to in 0..side {
            let distance = matrix.at(MatrixCell { from, to });
            let share = (1.0 - distance / farthest).clamp(0.0, 1.0);
            pixels.push(far.lerp_to_gamma(near, share * share));
        }
    }
    ColorImage::new([side, side], pixels)
}
