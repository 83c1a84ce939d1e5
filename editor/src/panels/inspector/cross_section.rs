//! The cross-section of a road, drawn to scale. A click on a lane selects it.

use super::super::section_band::{BandLane, paint, places};
use crate::theme::{SMALLEST, Theme};
use crate::tools::Tone;
use egui::{Align2, FontId, Id, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use roadwright_scenario::{DrivingSide, Lane, LaneSection, Poly3, RoadId};

/// Height of the lanes, points.
const BAND: f32 = 26.0;
/// Height of the row of arrows above the lanes, and of the row of widths below them, points.
const ROW: f32 = 18.0;
/// Space around the drawing, points.
const MARGIN: f32 = 8.0;
/// Maximum scale, points per metre. At this scale a street with pavements fills the panel.
const MOST_SCALE: f32 = 18.0;

/// The selected lane in a section of a road.
#[derive(Clone, Copy)]
pub(super) struct SelectedLane(Id);

impl SelectedLane {
    pub(super) fn of(road: RoadId, section: usize) -> Self {
        Self(Id::unique(("selected lane", road, section)))
    }

    /// Returns the id of the selected lane; `None` if no lane has been selected.
    pub(super) fn get(self, ui: &Ui) -> Option<i8> {
        ui.data(|data| data.get_temp(self.0))
    }

    fn set(self, ui: &Ui, lane: i8) {
        ui.data_mut(|data| data.insert_temp(self.0, lane));
    }
}

/// Shows the section at its start. Returns the index of a lane that was clicked, which is then selected.
pub(super) fn ui(
    ui: &mut Ui,
    theme: Theme,
    section: &LaneSection,
    side: DrivingSide,
    selected: SelectedLane,
) -> Option<usize> {
    let size = vec2(ui.available_width(), BAND + 2.0 * (ROW + MARGIN));
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    ui.painter()
        .rect_filled(rect, 6.0, ui.visuals().extreme_bg_color);
    let inside = rect.shrink2(vec2(MARGIN, MARGIN + ROW));
    let band = |lane: &Lane| BandLane {
        kind: lane.kind,
        width: width(lane) as f32,
        is_forward: lane.is_forward(side),
    };
    let lanes: Vec<BandLane> = section.lanes.iter().map(band).collect();
    let places = places(&lanes, inside, MOST_SCALE);
    paint(ui, theme, &lanes, &places);
    let mut clicked = None;
    for (index, (lane, place)) in section.lanes.iter().zip(&places).enumerate() {
        let drawn = Drawn {
            lane,
            place: *place,
            is_forward: lanes[index].is_forward,
            is_selected: selected.get(ui) == Some(lane.id),
        };
        if drawn.ui(ui, theme, selected) {
            clicked = Some(index);
        }
    }
    clicked
}

/// Returns the width of a lane at the start of its section, m.
fn width(lane: &Lane) -> f64 {
    Poly3::value_in(&lane.width, 0.0).max(0.0)
}

/// A lane in the drawing.
struct Drawn<'a> {
    lane: &'a Lane,
    place: Rect,
    is_forward: bool,
    is_selected: bool,
}

impl Drawn<'_> {
    /// Shows arrow, width and frame of the lane. Returns whether it was clicked.
    fn ui(&self, ui: &mut Ui, theme: Theme, selected: SelectedLane) -> bool {
        let area = self.place.expand2(vec2(0.0, ROW));
        let id = selected.0.with(self.lane.id);
        let response = ui.interact(area, id, Sense::click());
        let name = format!("Lane {} in the cross-section", self.lane.id);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, self.is_selected, &name));
        let accent = theme.tone(Tone::Accent);
        if self.is_selected {
            let stroke = Stroke::new(2.0, accent);
            let frame = self.place.expand2(vec2(0.0, 3.0));
            ui.painter()
                .rect_filled(frame, 3.0, accent.gamma_multiply(0.18));
            ui.painter()
                .rect_stroke(frame, 3.0, stroke, StrokeKind::Inside);
        } else if response.hovered() {
            let stroke = Stroke::new(1.5, accent.gamma_multiply(0.7));
            ui.painter()
                .rect_stroke(self.place, 3.0, stroke, StrokeKind::Inside);
        }
        let ink = ui.visuals().text_color();
        if self.lane.kind.is_drivable() {
            self.arrow(ui, Stroke::new(1.6, ink));
        }
        let text = format!("{}", (100.0 * width(self.lane)).round() / 100.0);
        let font = FontId::proportional(SMALLEST);
        let galley = ui.painter().layout_no_wrap(text, font, ink);
        // Numbers of narrow lanes would overlap.
        if galley.size().x + 2.0 <= self.place.width() {
            let below = pos2(self.place.center().x, self.place.bottom() + 4.0);
            let at = Align2::CENTER_TOP.anchor_size(below, galley.size());
            ui.painter().galley(at.min, galley, ink);
        }
        let response = response.on_hover_text(format!(
            "Lane {}: {:?}, {:.2} m wide. Click to select it.",
            self.lane.id,
            self.lane.kind,
            width(self.lane)
        ));
        if response.clicked() {
            selected.set(ui, self.lane.id);
        }
        response.clicked()
    }

    /// Draws an arrow in the direction of driving above the lane.
    fn arrow(&self, ui: &Ui, stroke: Stroke) {
        let centre = pos2(self.place.center().x, self.place.top() - 0.5 * ROW);
        let half = if self.is_forward { -6.0 } else { 6.0 };
        let (tail, tip) = (centre - vec2(0.0, half), centre + vec2(0.0, half));
        ui.painter().line_segment([tail, tip], stroke);
        for aside in [-3.5, 3.5] {
            let back = tip + vec2(aside, -0.6 * half);
            ui.painter().line_segment([tip, back], stroke);
        }
    }
}
