//! The state of the selected road during a run: occupied car lengths, and the vehicles on each lane with
//! their next turns and stops.

use super::super::widgets::heading;
use super::junction_now::{agent, state};
use super::law::turn_title;
use crate::model::{Action, Model};
use crate::theme::Theme;
use crate::tools::Tone;
use egui::{Rect, RichText, Stroke, StrokeKind, Ui, Vec2, pos2, vec2};
use roadwright_scenario::RoadId;
use roadwright_simulation::{AlleyInspection, LaneInspection, PlannedLane, RoadVehicle};

/// Maximum number of vehicles listed per lane.
const MOST_VEHICLES: usize = 12;
/// Height of the strip of car lengths, points.
const STRIP: f32 = 10.0;

pub(super) fn ui(ui: &mut Ui, model: &Model, id: RoadId, actions: &mut Vec<Action>) {
    heading(ui, "Now");
    let live = model.live.as_deref();
    let live = live.filter(|live| live.snapshot.step > 0);
    let Some(live) = live else {
        ui.label(RichText::new("Press play to see the vehicles on each lane.").weak());
        return;
    };
    let Some(seen) = live.road.as_ref().filter(|road| road.road == id) else {
        ui.label(RichText::new("This road has no drivable lane.").weak());
        return;
    };
    let has_sections = seen.lanes.iter().any(|lane| lane.section > 0);
    for lane in &seen.lanes {
        self::lane(ui, model.theme(), lane, has_sections, actions);
    }
    for alley in &seen.alleys {
        self::alley(ui, alley, actions);
    }
}

/// Shows a stretch with room for only one vehicle, with the vehicles inside and the vehicles that
/// wait.
fn alley(ui: &mut Ui, alley: &AlleyInspection, actions: &mut Vec<Action>) {
    let (from, to) = alley.span;
    let title = format!("Single-file, {from:.0} to {to:.0} m");
    ui.label(RichText::new(title).strong());
    let rows = [
        ("Inside, in the road's direction", &alley.inside[0]),
        ("Inside, opposite direction", &alley.inside[1]),
        ("Waiting, in the road's direction", &alley.waiting[0]),
        ("Waiting, opposite direction", &alley.waiting[1]),
    ];
    for (what, agents) in rows {
        if agents.is_empty() {
            continue;
        }
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(what).weak());
            for &id in agents.iter().take(MOST_VEHICLES) {
                agent(ui, id, actions);
            }
        });
    }
    ui.add_space(6.0);
}

fn lane(
    ui: &mut Ui,
    theme: Theme,
    lane: &LaneInspection,
    has_sections: bool,
    actions: &mut Vec<Action>,
) {
    let taken = lane.cells.iter().filter(|cell| cell.occupant.is_some());
    let taken = taken.count();
    ui.horizontal(|ui| {
        if lane.leads_to.is_some() {
            state(ui, theme, lane.goes);
        }
        let mut title = format!("Lane {}", lane.lane);
        if has_sections {
            title += &format!(", section {}", lane.section + 1);
        }
        ui.label(RichText::new(title).strong());
        let text = format!("{taken} of {} car lengths occupied", lane.cells.len());
        ui.label(RichText::new(text).weak());
    });
    strip(ui, theme, lane);
    for vehicle in lane.vehicles.iter().take(MOST_VEHICLES) {
        self::vehicle(ui, vehicle, actions);
    }
    if lane.vehicles.len() > MOST_VEHICLES {
        let text = format!("and {} more", lane.vehicles.len() - MOST_VEHICLES);
        ui.label(RichText::new(text).weak());
    }
    ui.add_space(6.0);
}

/// Shows a lane's car lengths, with the lane's start on the left and its end on the right.
fn strip(ui: &mut Ui, theme: Theme, lane: &LaneInspection) {
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, STRIP), egui::Sense::hover());
    let each = width / lane.cells.len().max(1) as f32;
    // Cells thinner than their gaps are drawn without gaps.
    let gap = if each > 4.0 { 2.0 } else { 0.0 };
    let frame = Stroke::new(1.0, theme.quiet().gamma_multiply(0.6));
    for (i, cell) in lane.cells.iter().enumerate() {
        let left = pos2(rect.left() + each * i as f32, rect.top());
        let place = Rect::from_min_size(left, Vec2::new((each - gap).max(1.0), STRIP));
        if cell.occupant.is_some() {
            ui.painter()
                .rect_filled(place, 1.5, theme.tone(Tone::Accent));
        } else if gap > 0.0 {
            ui.painter()
                .rect_stroke(place, 1.5, frame, StrokeKind::Inside);
        }
    }
    let name = format!("Car lengths of lane {}", lane.lane);
    response.widget_info(move || egui::WidgetInfo::labeled(egui::Role::Label, true, &name));
    let metres = lane.cells.first().map_or(0.0, |cell| cell.length);
    response.on_hover_text(format!(
        "Each box is one car length of {metres:.1} m (a car and its gap), in the direction of travel."
    ));
}

fn vehicle(ui: &mut Ui, vehicle: &RoadVehicle, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        agent(ui, vehicle.agent, actions);
        let (s, speed) = (vehicle.s, vehicle.speed);
        let next = vehicle.next.map_or("ends here".to_owned(), next);
        ui.label(format!("at {s:.0} m, {speed:.1} m/s, {next}"));
        if let Some(stop) = &vehicle.stop {
            let text = format!("stops in {:.0} m for {}", stop.distance, stop.reason);
            ui.label(RichText::new(text).weak());
        }
    });
}

fn next(planned: PlannedLane) -> String {
    let to = format!("to {}, lane {}", planned.road, planned.lane);
    match planned.turn {
        Some(turn) => format!("{} {to}", turn_title(turn)),
        None => to,
    }
}
