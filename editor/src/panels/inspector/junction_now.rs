//! The state of the selected junction during a run: its signals, queues and tickets, and vehicles that wait
//! for each other.

use super::super::widgets::heading;
use super::law::turn_title;
use crate::model::{Action, Model};
use crate::theme::{self, Theme};
use crate::tools::Tone;
use egui::{Color32, Grid, Label, RichText, Ui, Vec2};
use roadwright_scenario::NodeId;
use roadwright_scenario::junction::{LaneEnd, Light};
use roadwright_simulation::{
    ApproachLane, JunctionInspection, ProgrammeInspection, StagePhase, Ticket, Waiting, agent_name,
};

/// Maximum number of rows of a table. A crowded junction would have more rows than a user can read.
const MOST_ROWS: usize = 12;
/// Width of the lane column, in points. Widths are fixed, so that columns do not move while numbers
/// change.
const LANE: f32 = 96.0;
/// Width of a column of numbers, in points.
const NUMBER: f32 = 84.0;
/// Size of the bar of a stage, points.
const BAR: Vec2 = Vec2::new(110.0, 8.0);

/// Returns the state of a node's junction in the run, once the run has started.
pub(super) fn seen(model: &Model, id: NodeId) -> Option<&JunctionInspection> {
    let live = model
        .live
        .as_deref()
        .filter(|live| live.snapshot.step > 0)?;
    let junction = model.scene.layout.junction_at(id)?;
    let seen = live.junction.as_ref()?;
    // The snapshot may still describe the previously selected junction.
    junction.nodes.contains(&seen.node).then_some(seen)
}

pub(super) fn ui(ui: &mut Ui, model: &Model, id: NodeId, actions: &mut Vec<Action>) {
    let junction = model.scene.layout.junction_at(id);
    if junction.is_none_or(|junction| junction.paths.is_empty()) {
        return;
    }
    heading(ui, "Now");
    let Some(seen) = seen(model, id) else {
        ui.label(RichText::new("Press play to see which vehicles wait, and why.").weak());
        return;
    };
    let theme = model.theme();
    if seen.closes {
        let text = "Closing: the last edit takes effect once the junction is empty.";
        ui.label(RichText::new(text).color(theme.tone(Tone::Warning)));
    }
    if let Some(programme) = &seen.programme {
        stage(ui, theme, programme);
    }
    Grid::new("queues")
        .num_columns(4)
        .min_col_width(12.0)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            for title in ["", "Lane", "Queue", "First in line"] {
                ui.label(RichText::new(title).weak());
            }
            ui.end_row();
            for approach in &seen.approaches {
                queue(ui, theme, approach, actions);
            }
        });
    tickets(ui, seen, actions);
    waits(ui, &seen.waits, actions);
}

/// Shows the current stage and the share of it that has elapsed.
fn stage(ui: &mut Ui, theme: Theme, programme: &ProgrammeInspection) {
    let (phase, color) = match programme.phase {
        StagePhase::Green => ("green", theme.go()),
        StagePhase::Amber => ("amber", theme::light(Light::Amber)),
        StagePhase::AllRed => ("all red", theme::light(Light::Red)),
        StagePhase::RedAmber => ("red-amber", theme::light(Light::RedAmber)),
    };
    let number = programme.stage + 1;
    let text = if programme.is_closing {
        format!("Restarting: {phase}")
    } else {
        format!("Stage {number} of {}: {phase}", programme.stages)
    };
    ui.horizontal_wrapped(|ui| {
        fixed(ui, LANE + 40.0, |ui| {
            ui.label(text);
        });
        let share = programme.remaining.map_or(0.0, |remaining| {
            // Elapsed time over elapsed plus remaining time. The bar moves back slightly when a stage is
            // extended.
            programme.elapsed / (programme.elapsed + remaining).max(1e-9)
        });
        bar(ui, share as f32, color);
        ui.label(match programme.remaining {
            Some(remaining) => format!("{remaining:.0} s left"),
            // On demand, a stage has no end until another one is called.
            None => "no other demand".to_owned(),
        });
    });
}

/// Draws a bar filled up to a share.
fn bar(ui: &mut Ui, share: f32, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(BAR, egui::Sense::hover());
    let back = ui.visuals().widgets.inactive.bg_fill;
    ui.painter().rect_filled(rect, 4.0, back);
    let mut filled = rect;
    filled.set_width(rect.width() * share.clamp(0.0, 1.0));
    ui.painter().rect_filled(filled, 4.0, color);
}

/// Shows a cell of fixed width, so that columns do not move.
fn fixed(ui: &mut Ui, width: f32, content: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(
        Vec2::new(width, ui.spacing().interact_size.y),
        egui::Layout::left_to_right(egui::Align::Center),
        |ui| {
            ui.set_min_width(width);
            content(ui);
        },
    );
}

/// Draws a triangle for go or a bar for wait, in different colours.
pub(super) fn state(ui: &mut Ui, theme: Theme, goes: bool) {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(12.0), egui::Sense::hover());
    let middle = rect.center();
    if goes {
        let points = [(-4.0, 4.0), (4.0, 4.0), (0.0, -4.5)];
        let points = points.map(|(x, y)| middle + Vec2::new(x, y)).to_vec();
        let triangle = egui::Shape::convex_polygon(points, theme.go(), egui::Stroke::NONE);
        ui.painter().add(triangle);
    } else {
        let bar = egui::Rect::from_center_size(middle, Vec2::new(10.0, 4.0));
        ui.painter().rect_filled(bar, 1.0, theme.tone(Tone::Danger));
    }
    let word = if goes { "go" } else { "wait" };
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, word));
    response.on_hover_text(word);
}

/// Shows a link to an agent. A click watches the agent.
pub(super) fn agent(ui: &mut Ui, id: u64, actions: &mut Vec<Action>) {
    let link = ui.link(agent_name(id));
    if link
        .on_hover_text(format!("Watch {}", agent_name(id)))
        .clicked()
    {
        actions.push(Action::Watch(Some(id)));
    }
}

fn queue(ui: &mut Ui, theme: Theme, approach: &ApproachLane, actions: &mut Vec<Action>) {
    state(ui, theme, approach.goes);
    fixed(ui, LANE, |ui| {
        ui.label(lane(approach.lane));
    });
    fixed(ui, NUMBER - 20.0, |ui| {
        let text = match approach.queue {
            0 => "none".to_owned(),
            queue => format!("{queue}, {:.0} m", approach.queue_length),
        };
        ui.label(if approach.queue == 0 {
            RichText::new(text).weak()
        } else {
            RichText::new(text)
        });
    });
    ui.horizontal(|ui| {
        let Some(head) = &approach.head else { return };
        agent(ui, head.agent, actions);
        if let Some(waits) = &head.waits {
            let text = format!("for {}", waits.why);
            ui.add(Label::new(RichText::new(&text).weak()).truncate())
                .on_hover_text(text);
        }
    });
    ui.end_row();
}

fn lane(end: LaneEnd) -> String {
    format!("{}, lane {}", end.road, end.lane)
}

/// Shows the tickets, in the order in which the vehicles pass.
fn tickets(ui: &mut Ui, seen: &JunctionInspection, actions: &mut Vec<Action>) {
    ui.add_space(4.0);
    ui.label(RichText::new("Tickets").strong());
    if seen.tickets.is_empty() {
        ui.label(RichText::new("No tickets.").weak());
        return;
    }
    Grid::new("tickets")
        .num_columns(4)
        .min_col_width(12.0)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            for ticket in seen.tickets.iter().take(MOST_ROWS) {
                ui.label(RichText::new(format!("{}", ticket.number)).weak());
                fixed(ui, NUMBER, |ui| agent(ui, ticket.agent, actions));
                fixed(ui, LANE + 20.0, |ui| {
                    ui.label(turn_text(seen, ticket));
                });
                ui.label(place(ticket));
                ui.end_row();
            }
        });
    more(ui, seen.tickets.len());
}

fn turn_text(seen: &JunctionInspection, ticket: &Ticket) -> String {
    let turning = seen.turns.get(ticket.path.index());
    turning.map_or(String::new(), |turning| {
        let (from, to) = (turning.from.road.0, turning.to.road.0);
        format!("{from} to {to}, {}", turn_title(turning.turn))
    })
}

fn place(ticket: &Ticket) -> String {
    match ticket.wall {
        Some(wall) => format!("waits at {wall:.0} m"),
        None if !ticket.is_invited => "inside, no ticket".to_owned(),
        None if ticket.has_entered => "inside".to_owned(),
        None => "coming".to_owned(),
    }
}

fn more(ui: &mut Ui, count: usize) {
    if count > MOST_ROWS {
        let text = format!("and {} more", count - MOST_ROWS);
        ui.label(RichText::new(text).weak());
    }
}

/// Shows which vehicles wait, for what, and why, in one sentence each.
fn waits(ui: &mut Ui, waits: &[Waiting], actions: &mut Vec<Action>) {
    ui.add_space(4.0);
    ui.label(RichText::new("Waiting").strong());
    if waits.is_empty() {
        ui.label(RichText::new("No vehicles.").weak());
    }
    for waiting in waits.iter().take(MOST_ROWS) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            agent(ui, waiting.agent, actions);
            let colon = if waiting.waits.whom.is_empty() {
                ""
            } else {
                ":"
            };
            ui.label(format!("waits for {}{colon}", waiting.waits.why));
            for &other in &waiting.waits.whom {
                agent(ui, other, actions);
            }
        });
    }
    more(ui, waits.len());
}
