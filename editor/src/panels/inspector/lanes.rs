//! The lanes of a road as cards, from left to right.

use super::super::widgets::{change, choice, heading, named};
use super::cross_section::{self, SelectedLane};
use crate::model::{Action, Model};
use crate::theme::Theme;
use crate::tools::{Fill, Tone};
use egui::{DragValue, Frame, Response, Stroke, Ui};
use roadwright_scenario::junction::Turn;
use roadwright_scenario::operation::with_lanes;
use roadwright_scenario::{
    DrivingSide, Edit, Lane, LaneChange, LaneDirection, LaneType, Poly3, Road, RoadId,
};

const KINDS: [LaneType; 8] = [
    LaneType::Driving,
    LaneType::Bus,
    LaneType::Biking,
    LaneType::Parking,
    LaneType::Sidewalk,
    LaneType::Shoulder,
    LaneType::Median,
    LaneType::PaintedMedian,
];

pub(super) fn ui(ui: &mut Ui, model: &Model, id: RoadId, road: &Road, actions: &mut Vec<Action>) {
    let side = model.document.scenario().about().driving_side;
    for (index, section) in road.lane_sections.iter().enumerate() {
        let title = if road.lane_sections.len() > 1 {
            format!("Lanes from {:.1} m", section.s)
        } else {
            "Lanes".to_owned()
        };
        heading(ui, &title);
        let selected = SelectedLane::of(id, index);
        let clicked = cross_section::ui(ui, model.theme(), section, side, selected);
        ui.add_space(4.0);
        let cards = Cards {
            theme: model.theme(),
            id,
            section: index,
            lanes: &section.lanes,
            // Ids above 0 are to the left of the reference line and count down to 1. To the right they
            // continue with -1.
            left: section.lanes.iter().filter(|lane| lane.id > 0).count(),
            model,
            side,
        };
        for at in 0..section.lanes.len() {
            let card = cards.card(ui, at, selected.get(ui), actions);
            if clicked == Some(at) {
                card.scroll_to_me(Some(egui::Align::Center));
            }
        }
        ui.horizontal(|ui| {
            if ui.button("Add left lane").clicked() {
                cards.add(Side::Left, actions);
            }
            if ui.button("Add right lane").clicked() {
                cards.add(Side::Right, actions);
            }
        });
    }
}

/// Side of a road to which a lane is added.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

struct Cards<'a> {
    theme: Theme,
    id: RoadId,
    section: usize,
    lanes: &'a [Lane],
    /// Number of lanes to the left of the reference line.
    left: usize,
    model: &'a Model,
    side: DrivingSide,
}

impl Cards<'_> {
    fn edit(&self, lanes: Vec<Lane>, left: usize) -> Option<Edit> {
        let scenario = self.model.document.scenario();
        with_lanes(scenario, self.id, self.section, lanes, left).ok()
    }

    fn apply(&self, label: &str, lanes: Vec<Lane>, left: usize, actions: &mut Vec<Action>) {
        if let Some(edit) = self.edit(lanes, left) {
            actions.push(Action::Apply(format!("{label} of {}", self.id), edit));
        }
    }

    fn changed(&self, at: usize, change: impl FnOnce(&mut Lane)) -> Vec<Lane> {
        let mut lanes = self.lanes.to_vec();
        change(&mut lanes[at]);
        lanes
    }

    fn add(&self, to: Side, actions: &mut Vec<Action>) {
        let mut lanes = self.lanes.to_vec();
        let left = to == Side::Left;
        // As wide as the outermost lane on that side, but wide enough to drive on.
        let like = if left { lanes.first() } else { lanes.last() };
        let width = like.map_or(3.25, |lane| Poly3::value_in(&lane.width, 0.0));
        // The id of a new lane; the operation renumbers it.
        let lane = Lane::new(0, LaneType::Driving, width.max(2.5));
        if left {
            lanes.insert(0, lane);
        } else {
            lanes.push(lane);
        }
        self.apply("Add lane", lanes, self.left + usize::from(left), actions);
    }

    fn card(
        &self,
        ui: &mut Ui,
        at: usize,
        selected: Option<i8>,
        actions: &mut Vec<Action>,
    ) -> Response {
        let lane = &self.lanes[at];
        let forward = lane.is_forward(self.side);
        let mut frame = Frame::group(ui.style()).inner_margin(4.0);
        if selected == Some(lane.id) {
            frame = frame.stroke(Stroke::new(2.0, self.theme.tone(Tone::Accent)));
        }
        let card = frame.show(ui, |ui| {
            ui.horizontal(|ui| {
                let (rect, _) =
                    ui.allocate_exact_size(egui::vec2(10.0, 20.0), egui::Sense::hover());
                let fill = self.theme.fill(Fill::Lane(lane.kind));
                ui.painter().rect_filled(rect, 2.0, fill);
                ui.label(format!("{:+}", lane.id))
                    .on_hover_text("OpenDRIVE lane id");
                let kinds = KINDS.map(|kind| (kind, format!("{kind:?}")));
                ui.push_id(("kind", self.section, at), |ui| {
                    ui.spacing_mut().combo_width = 80.0;
                    let name = format!("Type of lane {}", lane.id);
                    if let Some(kind) = choice(ui, &name, &lane.kind, &kinds) {
                        let lanes = self.changed(at, |lane| lane.kind = kind);
                        self.apply("Lane type", lanes, self.left, actions);
                    }
                });
                self.width(ui, at, actions);
            });
            ui.horizontal(|ui| self.buttons(ui, at, forward, actions));
            if lane.kind.is_drivable() {
                ui.horizontal(|ui| self.limit(ui, at, actions));
                ui.horizontal(|ui| self.arrows(ui, at, actions));
                if self.has_lane_beside(at) {
                    ui.horizontal(|ui| self.changes(ui, at, actions));
                }
            }
        });
        card.response
    }

    fn width(&self, ui: &mut Ui, at: usize, actions: &mut Vec<Action>) {
        let lane = &self.lanes[at];
        let mut width = Poly3::value_in(&lane.width, 0.0);
        let drag = DragValue::new(&mut width)
            .range(0.2..=50.0)
            .speed(0.02)
            .max_decimals(3)
            .clamp_existing_to_range(false)
            .suffix(" m");
        let response = ui.add(drag).on_hover_text("Width, 0.2 to 50 m");
        named(&response, &format!("Width of lane {}", lane.id));
        // A constant width would destroy the shape of a widening lane, so nothing is sent unless the value is
        // dragged or typed.
        let lanes = self.changed(at, |lane| lane.width = vec![Poly3::constant(width)]);
        // The edit is made every frame but only sent while the value changes.
        if let Some(edit) = self.edit(lanes, self.left) {
            change(
                &response,
                &format!("Lane width of {}", self.id),
                || edit,
                actions,
            );
        }
    }

    /// Shows whether the lane has its own speed limit instead of the road's, and this limit.
    fn limit(&self, ui: &mut Ui, at: usize, actions: &mut Vec<Action>) {
        let lane = &self.lanes[at];
        let mut own = lane.speed_limit.is_some();
        let toggle = ui
            .checkbox(&mut own, "limit")
            .on_hover_text("Speed limit of this lane only.");
        if toggle.changed() {
            // Starts at 30 km/h; the number beside it can be dragged.
            let limit = own.then_some(30.0 / 3.6);
            let lanes = self.changed(at, |lane| lane.speed_limit = limit.into());
            self.apply("Lane speed limit", lanes, self.left, actions);
        }
        if let Some(limit) = lane.speed_limit.get() {
            let mut kmh = 3.6 * limit;
            let drag = DragValue::new(&mut kmh)
                .range(1.0..=540.0)
                .max_decimals(1)
                .suffix(" km/h");
            let response = ui.add(drag);
            named(&response, &format!("Speed limit of lane {}", lane.id));
            let lanes = self.changed(at, |lane| lane.speed_limit = Some(kmh / 3.6).into());
            if let Some(edit) = self.edit(lanes, self.left) {
                let label = format!("Lane speed limit of {}", self.id);
                change(&response, &label, || edit, actions);
            }
        }
    }

    /// Shows the turns that vehicles in this lane may make at the junction ahead.
    fn arrows(&self, ui: &mut Ui, at: usize, actions: &mut Vec<Action>) {
        let lane = &self.lanes[at];
        ui.label("turns").on_hover_text(
            "Arrows: turns allowed from this lane at the junction ahead. Without arrows, the turning \
             rules apply.",
        );
        for turn in Turn::ALL {
            let is_shown = lane.turns.contains(turn);
            let (text, hint) = match turn {
                Turn::Left => ("⬅", "left"),
                Turn::Straight => ("⬆", "ahead"),
                Turn::Right => ("➡", "right"),
                Turn::UTurn => ("↩", "back"),
            };
            let button = egui::Button::selectable(is_shown, text).small();
            let response = ui.add(button).on_hover_text(hint);
            let label = format!("Lane {} turns {hint}", lane.id);
            response.widget_info(move || {
                egui::WidgetInfo::selected(egui::Role::Button, true, is_shown, &label)
            });
            if response.clicked() {
                let turns = match is_shown {
                    true => lane.turns.without(turn),
                    false => lane.turns.with(turn),
                };
                let lanes = self.changed(at, |lane| lane.turns = turns);
                self.apply("Arrows", lanes, self.left, actions);
            }
        }
    }

    /// Whether a lane has an adjacent lane in the same direction.
    fn has_lane_beside(&self, at: usize) -> bool {
        let lane = &self.lanes[at];
        let side = self.side;
        let beside = [at.checked_sub(1), Some(at + 1)];
        let mut beside = beside
            .into_iter()
            .flatten()
            .filter_map(|i| self.lanes.get(i));
        beside.any(|other| {
            other.kind.is_drivable() && other.is_forward(side) == lane.is_forward(side)
        })
    }

    /// Shows the sides to which vehicles in this lane may change lanes.
    fn changes(&self, ui: &mut Ui, at: usize, actions: &mut Vec<Action>) {
        let lane = &self.lanes[at];
        ui.label("changes").on_hover_text(
            "Sides to which vehicles may change lanes. On the other sides, the line is solid.",
        );
        let own = lane.lane_change;
        let sides = [
            (
                "⬅",
                "left",
                own.to_left(),
                LaneChange::of(!own.to_left(), own.to_right()),
            ),
            (
                "➡",
                "right",
                own.to_right(),
                LaneChange::of(own.to_left(), !own.to_right()),
            ),
        ];
        for (text, name, may, after) in sides {
            let button = egui::Button::selectable(may, text).small();
            let hint = if may {
                "Allowed; click to forbid."
            } else {
                "Forbidden; click to allow."
            };
            let response = ui.add(button).on_hover_text(hint);
            let label = format!("Lane {} changes to the {name}", lane.id);
            response.widget_info(move || {
                egui::WidgetInfo::selected(egui::Role::Button, true, may, &label)
            });
            if response.clicked() {
                let lanes = self.changed(at, |lane| lane.lane_change = after);
                self.apply("Lane changes", lanes, self.left, actions);
            }
        }
    }

    fn buttons(&self, ui: &mut Ui, at: usize, forward: bool, actions: &mut Vec<Action>) {
        let name = self.lanes[at].id;
        let arrow = if forward { "along" } else { "against" };
        let reverse = ui
            .small_button(arrow)
            .on_hover_text("Driving direction; click to reverse.");
        if reverse.clicked() {
            let lanes = self.changed(at, |lane| {
                // Relative to the driving side, so that it stays correct if the scenario changes sides.
                lane.direction = match lane.direction {
                    LaneDirection::Standard => LaneDirection::Reversed,
                    LaneDirection::Reversed => LaneDirection::Standard,
                };
            });
            self.apply("Lane direction", lanes, self.left, actions);
        }
        let small = |ui: &mut Ui, enabled: bool, text: &str, hint: &str| {
            let button = egui::Button::new(text).small();
            let response = ui.add_enabled(enabled, button).on_hover_text(hint);
            let label = format!("{hint} (lane {name})");
            response.widget_info(move || {
                egui::WidgetInfo::labeled(egui::Role::Button, enabled, &label)
            });
            response.clicked()
        };
        if small(ui, at > 0, "◀", "Move the lane to the left") {
            self.swap(at, at - 1, actions);
        }
        if small(
            ui,
            at + 1 < self.lanes.len(),
            "▶",
            "Move the lane to the right",
        ) {
            self.swap(at, at + 1, actions);
        }
        if small(ui, self.lanes.len() > 1, "Remove", "Remove the lane") {
            let mut lanes = self.lanes.to_vec();
            lanes.remove(at);
            // Lanes to the left of the line come first in the list.
            let left = self.left - usize::from(at < self.left);
            self.apply("Remove lane", lanes, left, actions);
        }
    }

    fn swap(&self, a: usize, b: usize, actions: &mut Vec<Action>) {
        let mut lanes = self.lanes.to_vec();
        // The number of lanes on the left stays the same. A lane that is swapped across the line takes the
        // side of the other one, and `with_lanes` keeps its driving direction.
        lanes.swap(a, b);
        self.apply("Lane order", lanes, self.left, actions);
    }
}
