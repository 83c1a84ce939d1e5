//! The floating bar beside the selection with its most frequent commands.
//!
//! The bar covers neither the selection nor its handles, and stays in place while the selection is
//! dragged. If there is no room beside the selection, it moves to a corner of the map; if there is
//! no room there either, it is hidden.

use crate::command::Command;
use crate::marks::Board;
use crate::model::{Action, Model};
use crate::tools::{Tone, ToolKind};
use egui::{
    Align2, Button, FontId, Frame, Layout, Margin, Pos2, Rect, RichText, Role, Ui, UiBuilder, Vec2,
    WidgetInfo, pos2, vec2,
};
use roadwright_geometry::DVec2;
use roadwright_scenario::ObjectId;

/// Distance of the bar from the selection and from the edges of the map, points.
const GAP: f32 = 12.0;
/// Height of the buttons, points.
const HEIGHT: f32 = 26.0;
/// Space to the left and right of the text of a button, points.
const PADDING: f32 = 8.0;
/// Space around the buttons, points.
const MARGIN: f32 = 4.0;
/// Half the size of a handle, points.
const HANDLE: f32 = 9.0;
/// Size of the text of a button, points.
const TEXT: f32 = 13.0;
/// Maximum number of selected objects that are avoided individually. More objects are treated as a
/// single box.
const MOST_OBJECTS: usize = 60;

/// Areas that the bar must not cover, and whether it may move.
pub(crate) struct Surroundings<'a> {
    /// Places of the handles of the selection on the screen.
    pub(crate) handles: &'a [Pos2],
    /// Areas of the screen that other controls on the map occupy.
    pub(crate) taken: &'a [Rect],
    /// Whether the pointer is changing the selection. The bar stays in place meanwhile.
    pub(crate) is_dragging: bool,
}

/// The floating bar beside the selection.
#[derive(Default)]
pub(crate) struct SelectionBar {
    /// Rectangle of the bar on the screen. Clicks in it do not reach the map.
    place: Option<Rect>,
}

impl SelectionBar {
    /// Whether a point of the screen is on the bar.
    pub(crate) fn contains(&self, at: Pos2) -> bool {
        self.place.is_some_and(|place| place.contains(at))
    }

    /// Shows the bar if objects are selected with the Select tool.
    pub(crate) fn ui(
        &mut self,
        ui: &mut Ui,
        board: &Board<'_>,
        model: &Model,
        around: &Surroundings<'_>,
        actions: &mut Vec<Action>,
    ) {
        let before = self.place.take();
        if model.tool != ToolKind::Select || model.selection.is_empty() {
            return;
        }
        let commands = commands(model);
        self.place = if around.is_dragging {
            before
        } else {
            let mut covered = outlines(board, model);
            let handle = |at: &Pos2| Rect::from_center_size(*at, Vec2::splat(2.0 * HANDLE));
            covered.extend(around.handles.iter().map(handle));
            place(size(ui, &commands), board.rect, &covered, around.taken)
        };
        if let Some(place) = self.place {
            show(ui, place, &commands, model, actions);
        }
    }
}

/// Returns the commands that apply to the selection, in the order of the bar.
fn commands(model: &Model) -> Vec<Command> {
    use Command as C;
    let mut all = match model.single() {
        Some(ObjectId::Road(_)) => vec![C::SplitRoad, C::ReverseRoad, C::SimplifyRoad],
        Some(ObjectId::Node(_)) => vec![C::MergeRoads, C::MergeJunctions, C::AddTurnLanes],
        _ if model.selected_nodes().count() > 1 => vec![C::MergeJunctions],
        _ => Vec::new(),
    };
    all.extend([C::Duplicate, C::FrameSelection, C::Delete]);
    all
}

/// Returns the text of a button. It does not name the object, because the bar is beside it.
fn text(command: Command) -> &'static str {
    match command {
        Command::SplitRoad => "Split",
        Command::ReverseRoad => "Reverse",
        Command::SimplifyRoad => "Simplify",
        Command::FrameSelection => "Frame",
        other => other.title(),
    }
}

/// Returns the size of the bar with its margin.
fn size(ui: &Ui, commands: &[Command]) -> Vec2 {
    let font = FontId::proportional(TEXT);
    let width = |command: &Command| {
        let text = text(*command).to_owned();
        let galley = ui
            .painter()
            .layout_no_wrap(text, font.clone(), egui::Color32::BLACK);
        galley.size().x + 2.0 * PADDING
    };
    let widths: f32 = commands.iter().map(width).sum();
    vec2(widths, HEIGHT) + Vec2::splat(2.0 * MARGIN)
}

/// Shows the buttons.
fn show(ui: &mut Ui, place: Rect, commands: &[Command], model: &Model, actions: &mut Vec<Action>) {
    let frame = Frame::popup(ui.style()).inner_margin(Margin::ZERO);
    ui.painter().add(frame.paint(place));
    let inside = UiBuilder::new()
        .max_rect(place.shrink(MARGIN))
        .layout(Layout::left_to_right(egui::Align::Center));
    ui.scope_builder(inside, |ui| {
        ui.spacing_mut().item_spacing = Vec2::ZERO;
        ui.spacing_mut().button_padding = vec2(PADDING, 0.0);
        for command in commands {
            let mut label = RichText::new(text(*command)).size(TEXT);
            if *command == Command::Delete {
                label = label.color(model.theme().tone(Tone::Danger));
            }
            let button = Button::new(label)
                .frame_when_inactive(false)
                .min_size(vec2(0.0, HEIGHT));
            let key = model.settings.keys.label(*command);
            let hint = match key.as_str() {
                "" => command.hint().to_owned(),
                key => format!("{} ({key})", command.hint()),
            };
            let response = ui.add(button).on_hover_text(hint);
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, command.title()));
            if response.clicked() {
                actions.push(Action::Do(*command));
            }
        }
    });
}

/// Returns boxes on the screen that together cover the selection.
fn outlines(board: &Board<'_>, model: &Model) -> Vec<Rect> {
    let scene = &model.scene;
    let rect = |low: DVec2, high: DVec2| Rect::from_two_pos(board.at(low), board.at(high));
    let bounds = |object: &ObjectId| scene.bounds_of(*object);
    if model.selection.len() > MOST_OBJECTS {
        let boxes = model.selection.iter().filter_map(bounds);
        let all = boxes.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        return all.map(|(low, high)| rect(low, high)).into_iter().collect();
    }
    let mut boxes = Vec::new();
    for object in &model.selection {
        let road = match object {
            ObjectId::Road(id) => scene.road(*id),
            _ => None,
        };
        if let Some(road) = road {
            // A box around the whole road would be far larger than a diagonal road.
            let pieces = road.line.windows(2);
            boxes.extend(pieces.map(|piece| {
                let (low, high) = (piece[0].min(piece[1]), piece[0].max(piece[1]));
                rect(low - road.reach, high + road.reach)
            }));
        } else if let Some((low, high)) = bounds(object) {
            boxes.push(rect(low, high));
        }
    }
    boxes
}

/// Returns the position of the bar: above the selection, below it, or in a corner of the map,
/// whichever is free first; `None` if none of them is free.
fn place(size: Vec2, map: Rect, covered: &[Rect], taken: &[Rect]) -> Option<Rect> {
    let room = map.shrink(GAP);
    let seen = covered.iter().map(|rect| rect.intersect(map));
    let around = seen
        .filter(Rect::is_positive)
        .reduce(|a, b| a.union(b))
        .map(|rect| rect.expand(GAP));
    let beside = around.into_iter().flat_map(|around| {
        let x = around.center().x - 0.5 * size.x;
        let x = x.clamp(room.left(), (room.right() - size.x).max(room.left()));
        [pos2(x, around.top() - size.y), pos2(x, around.bottom())]
    });
    let corners = [
        Align2::LEFT_TOP,
        Align2::RIGHT_TOP,
        Align2::CENTER_BOTTOM,
        Align2::RIGHT_BOTTOM,
    ];
    let corners = corners.map(|corner| corner.align_size_within_rect(size, room).min);
    let mut places = beside
        .chain(corners)
        .map(|at| Rect::from_min_size(at, size));
    places.find(|place| {
        let is_free = |other: &Rect| !other.expand(0.5 * GAP).intersects(*place);
        room.contains_rect(*place) && covered.iter().chain(taken).all(is_free)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: Rect = Rect {
        min: pos2(80.0, 60.0),
        max: pos2(960.0, 770.0),
    };
    const SIZE: Vec2 = vec2(300.0, 34.0);

    fn boxed(left: f32, top: f32, right: f32, bottom: f32) -> Rect {
        Rect::from_min_max(pos2(left, top), pos2(right, bottom))
    }

    #[test]
    fn the_bar_is_above_the_selection_or_below_it() {
        let bar = place(SIZE, MAP, &[boxed(400.0, 300.0, 500.0, 340.0)], &[]).unwrap();
        assert_eq!(bar.center().x, 450.0);
        assert_eq!(bar.bottom(), 300.0 - GAP);
        let bar = place(SIZE, MAP, &[boxed(400.0, 70.0, 500.0, 110.0)], &[]).unwrap();
        assert_eq!(bar.top(), 110.0 + GAP);
        // At the edge of the map, the bar is moved inside.
        let bar = place(SIZE, MAP, &[boxed(90.0, 300.0, 100.0, 340.0)], &[]).unwrap();
        assert_eq!(bar.left(), MAP.left() + GAP);
    }

    #[test]
    fn the_bar_keeps_clear_of_everything_or_is_hidden() {
        // A road across the whole map from the lower left to the upper right leaves the upper left corner.
        let diagonal: Vec<Rect> = (0..90u16)
            .map(|step| {
                let at = f32::from(step) / 90.0;
                let centre = pos2(80.0 + 880.0 * at, 770.0 - 710.0 * at);
                Rect::from_center_size(centre, Vec2::splat(30.0))
            })
            .collect();
        let bar = place(SIZE, MAP, &diagonal, &[]).unwrap();
        assert_eq!(bar.min, MAP.min + Vec2::splat(GAP));
        assert!(diagonal.iter().all(|rect| !rect.intersects(bar)));
        // The corner is occupied by another control.
        let taken = [boxed(90.0, 70.0, 200.0, 120.0)];
        let bar = place(SIZE, MAP, &diagonal, &taken).unwrap();
        assert!(!taken[0].intersects(bar) && diagonal.iter().all(|rect| !rect.intersects(bar)));
        // Nothing is free.
        assert_eq!(place(SIZE, MAP, &[MAP], &[]), None);
        // For a selection out of view, the first corner is used.
        let bar = place(SIZE, MAP, &[boxed(2000.0, 0.0, 2100.0, 9.0)], &[]).unwrap();
        assert_eq!(bar.min, MAP.min + Vec2::splat(GAP));
    }
}
