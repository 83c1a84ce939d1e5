//! Cross-sections drawn to scale, seen from above in the direction of the road.

use crate::theme::Theme;
use egui::{Rect, Shape, Stroke, Ui, pos2};
use roadwright_scenario::LaneType;

/// A lane of a drawn cross-section.
pub(super) struct BandLane {
    /// Type of the lane.
    pub(super) kind: LaneType,
    /// Width of the lane, m.
    pub(super) width: f32,
    /// Whether vehicles drive in the direction of the road.
    pub(super) is_forward: bool,
}

/// Returns the rectangles of lanes side by side, centred in `rect`, in their order. Lanes that do not fit at
/// `most_scale` points per metre are drawn smaller.
pub(super) fn places(lanes: &[BandLane], rect: Rect, most_scale: f32) -> Vec<Rect> {
    let total: f32 = lanes.iter().map(|lane| lane.width).sum();
    let scale = most_scale.min(rect.width() / total.max(1.0));
    let mut x = rect.center().x - 0.5 * scale * total;
    let mut place = |lane: &BandLane| {
        let left = x;
        x += scale * lane.width;
        Rect::from_x_y_ranges(left..=x, rect.y_range())
    };
    lanes.iter().map(&mut place).collect()
}

/// Draws lanes at their places, with broken lines between lanes of the same direction and a solid
/// centre line.
pub(super) fn paint(ui: &Ui, theme: Theme, lanes: &[BandLane], places: &[Rect]) {
    let line = Stroke::new(1.0, theme.on_road());
    let mut before: Option<bool> = None;
    for (lane, place) in lanes.iter().zip(places) {
        let fill = theme.solid_lane(lane.kind);
        ui.painter().rect_filled(*place, 0.0, fill);
        let ends = [
            pos2(place.left(), place.top()),
            pos2(place.left(), place.bottom()),
        ];
        let is_drivable = lane.kind.is_drivable();
        match before.filter(|_| is_drivable) {
            Some(before) if before == lane.is_forward => {
                let dashes = Shape::dashed_line(&ends, line, 4.0, 4.0);
                ui.painter().extend(dashes);
            }
            Some(_) => {
                ui.painter().line_segment(ends, line);
            }
            None => {}
        }
        before = is_drivable.then_some(lane.is_forward);
    }
}
