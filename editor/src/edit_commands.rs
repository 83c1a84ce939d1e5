//! Commands that change the scenario: undo and redo, copy and paste, deletion, and operations on whole roads.

use crate::arrangement::{Arrangement, MirrorAxis};
use crate::context::Context;
use crate::model::Tone;
use crate::panels::counted;
use crate::settings::Settings;
use crate::tools::named;
use roadwright_geometry::DVec2;
use roadwright_geometry::projection::Projector;
use roadwright_scenario::check::{Code, Finding, repair, repair_all};
use roadwright_scenario::operation::draw;
use roadwright_scenario::operation::{self, Motion, Objects, OperationError};
use roadwright_scenario::{Edit, NodeId, ObjectId, RoadId, Scenario, file};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Tolerance for simplifying a road, m.
const SIMPLIFY_TOLERANCE: f64 = 0.5;
/// Length of added turn lanes, m.
const TURN_LANE: f64 = 30.0;
/// Maximum distance from the selected road at which the pointer sets the split point, in points.
const SPLIT_REACH: f64 = 20.0;
/// Lower limit of [`SPLIT_REACH`], in metres.
const SPLIT_REACH_METRES: f64 = 6.0;
/// Offset of a duplicate from the original, points.
const DUPLICATE_SHIFT: f64 = 24.0;

/// Actions on the selection and the scenario.
pub(crate) enum EditAction {
    /// Undoes the last step.
    Undo,
    /// Redoes the last undone step.
    Redo,
    /// Applies the suggested repair of a problem.
    Repair(Finding),
    /// Applies the suggested repairs of all problems of a kind.
    RepairAll(Code),
    /// Copies the selection.
    Copy,
    /// Copies and deletes the selection.
    Cut,
    /// Adds the copied objects at the pointer.
    Paste,
    /// Adds the copied objects around this point, m.
    PasteAt(DVec2),
    /// Pastes text from the system's clipboard.
    PasteText(String),
    /// Adds a copy of the selection beside it.
    Duplicate,
    /// Deletes the selection.
    Delete,
    /// Selects these objects in place of the current selection.
    Select(Objects),
    /// Selects all objects except nodes and objects that are hidden or locked.
    SelectAll,
    /// Selects all objects similar to the selection.
    SelectSimilar,
    /// Moves the selection by this many steps to the east and to the north.
    Nudge(DVec2),
    /// Groups the selection.
    Group,
    /// Dissolves the groups of the selection.
    Ungroup,
    /// Mirrors the selection.
    Mirror(MirrorAxis),
    /// Rotates the selection by quarter turns, counter-clockwise.
    Turn(i32),
    /// Aligns or distributes the selection.
    Arrange(Arrangement),
    /// Splits the selected road.
    SplitRoad,
    /// Merges two roads.
    MergeRoads,
    /// Merges the selected junctions into one.
    MergeJunctions,
    /// Separates merged junctions.
    PartJunctions,
    /// Adds turn lanes to the selected junction.
    AddTurnLanes,
    /// Replaces the selected junction by a roundabout.
    TurnIntoRoundabout,
    /// Reverses the selected road.
    ReverseRoad,
    /// Redraws the selected road with as few lines and arcs as possible.
    SimplifyRoad,
    /// Adds vehicles on random trips.
    AddRandomTrips,
    /// Replaces the settings.
    Settings(Box<Settings>),
    /// Shows all hidden objects.
    ShowHidden,
}

/// Editing: the selection, the clipboard and changes of the scenario.
#[derive(Default)]
pub(crate) struct Editing {
    /// The last copied objects, from this or another window.
    clipboard: Option<Arc<Scenario>>,
}

impl Editing {
    /// Carries out an action.
    pub(crate) fn act(&mut self, cx: &mut Context, action: EditAction) {
        if action.needs_free_hands() {
            put_down_stroke(cx);
        }
        match action {
            EditAction::Undo => self.undo(cx),
            EditAction::Redo => self.redo(cx),
            EditAction::Repair(finding) => self.repair(cx, &finding),
            EditAction::RepairAll(code) => self.repair_all(cx, code),
            EditAction::Copy => self.copy(cx),
            EditAction::Cut => self.cut(cx),
            EditAction::Paste => self.paste(cx),
            EditAction::PasteAt(at) => self.paste_at(cx, at),
            EditAction::PasteText(text) => self.paste_text(cx, &text),
            EditAction::Duplicate => self.duplicate(cx),
            EditAction::Delete => self.delete(cx),
            EditAction::Select(objects) => self.select(cx, objects),
            EditAction::SelectAll => self.select_all(cx),
            EditAction::SelectSimilar => self.select_similar(cx),
            EditAction::Nudge(by) => self.nudge(cx, by),
            EditAction::Group => self.group(cx),
            EditAction::Ungroup => self.ungroup(cx),
            EditAction::Mirror(axis) => self.mirror(cx, axis),
            EditAction::Turn(quarters) => self.turn(cx, quarters),
            EditAction::Arrange(arrangement) => self.arrange(cx, arrangement),
            EditAction::SplitRoad => self.split_road(cx),
            EditAction::MergeRoads => self.merge_roads(cx),
            EditAction::MergeJunctions => self.merge_junctions(cx),
            EditAction::PartJunctions => self.part_junctions(cx),
            EditAction::AddTurnLanes => self.add_turn_lanes(cx),
            EditAction::TurnIntoRoundabout => self.turn_into_roundabout(cx),
            EditAction::ReverseRoad => self.change_road(cx, "Reverse road", |scenario, id| {
                let traffic = operation::reversed_traffic(scenario, id)?;
                traffic.map_or_else(|| operation::reversed(scenario, id), Ok)
            }),
            EditAction::SimplifyRoad => self.change_road(cx, "Simplify road", |scenario, id| {
                operation::simplified(scenario, id, SIMPLIFY_TOLERANCE)
            }),
            EditAction::AddRandomTrips => self.add_random_trips(cx),
            EditAction::Settings(settings) => self.take_settings(cx, *settings),
            EditAction::ShowHidden => self.show_hidden(cx),
        }
    }

    /// Applies the suggested repair of a problem.
    fn repair(&mut self, cx: &mut Context, finding: &Finding) {
        let title = finding.code.repair().unwrap_or_default();
        match repair(cx.model.document.scenario(), finding) {
            Some(edit) => {
                put_down_stroke(cx);
                cx.apply(title, edit);
            }
            None if finding.code == Code::Kink => {
                let text =
                    "A wider bend does not fit within 1.5 m of this road. Move the road's points.";
                cx.say(Tone::Refused, text);
            }
            None => cx.say(Tone::Refused, "This problem no longer exists."),
        }
    }

    /// Applies the suggested repairs of all problems of a kind as one step, and reports how many
    /// are left.
    fn repair_all(&mut self, cx: &mut Context, code: Code) {
        let title = code.repair().unwrap_or_default();
        let findings = cx.model.findings.1.clone();
        let all = findings.iter().filter(|finding| finding.code == code);
        let all = all.count();
        let Some(repairs) = repair_all(cx.model.document.scenario(), code, &findings) else {
            let text = "None of these problems can be repaired automatically.";
            return cx.say(Tone::Refused, text);
        };
        put_down_stroke(cx);
        let count = repairs.count;
        cx.apply(&format!("{title} ({count} problems)"), repairs.edit);
        cx.say_undoable(&if count < all {
            format!("Repaired {count} of {all} problems. The others must be repaired by hand.")
        } else {
            format!("Repaired all {count} problems of this kind.")
        });
    }

    /// Undoes the last step. A stroke in progress is only cancelled, because it is not a step yet.
    fn undo(&mut self, cx: &mut Context) {
        if cx.view.canvas.hand.tool().is_busy() {
            cx.choose(cx.model.tool);
            return;
        }
        if cx.model.document.undo().is_none() {
            cx.say(Tone::Refused, "Nothing to undo.");
        }
    }

    fn redo(&mut self, cx: &mut Context) {
        if cx.model.document.redo().is_none() {
            cx.say(Tone::Refused, "Nothing to redo.");
        }
    }

    /// Copies the selection to the system's clipboard as scenario text, which can be pasted into another
    /// window or an e-mail.
    fn copy(&mut self, cx: &mut Context) {
        if cx.model.selection.is_empty() {
            cx.say(Tone::Refused, "Nothing is selected.");
            return;
        }
        let piece = operation::copied(cx.model.document.scenario(), &cx.model.selection);
        cx.egui.copy_text(file::to_text(&piece));
        self.clipboard = Some(Arc::new(piece));
    }

    fn cut(&mut self, cx: &mut Context) {
        self.copy(cx);
        self.delete(cx);
    }

    /// Pastes text from the system's clipboard. If the text is not a scenario, the last copied objects are
    /// pasted.
    fn paste_text(&mut self, cx: &mut Context, text: &str) {
        if let Ok(piece) = file::from_text(text) {
            self.clipboard = Some(Arc::new(piece));
        }
        put_down_stroke(cx);
        self.paste(cx);
    }

    fn paste(&mut self, cx: &mut Context) {
        // When pasting from the menu, the pointer is not on the map.
        let to = cx.model.pointer.unwrap_or(cx.model.camera.centre);
        self.paste_at(cx, to);
    }

    /// Adds the copied objects around a point, m.
    fn paste_at(&mut self, cx: &mut Context, to: DVec2) {
        let Some(piece) = self.clipboard.clone() else {
            cx.say(Tone::Refused, "Nothing has been copied.");
            return;
        };
        let (low, high) = piece.bounds().unwrap_or_default();
        self.add_piece(cx, "Paste", &piece, to - 0.5 * (low + high));
    }

    fn duplicate(&mut self, cx: &mut Context) {
        if cx.model.selection.is_empty() {
            cx.say(Tone::Refused, "Nothing is selected.");
            return;
        }
        let piece = operation::copied(cx.model.document.scenario(), &cx.model.selection);
        // The distance on the screen is the same at any zoom, so that the copy is beside the original and
        // still in view.
        let aside = DUPLICATE_SHIFT * cx.model.camera.scale;
        let label = format!("Duplicate {}", named(&cx.model.selection));
        // y points north, so this is to the right and down on the screen.
        self.add_piece(cx, &label, &piece, DVec2::new(aside, -aside));
    }

    fn add_piece(&mut self, cx: &mut Context, label: &str, piece: &Scenario, shift: DVec2) {
        let pasted = operation::pasted(cx.model.document.scenario(), piece, &Motion::shift(shift));
        match pasted {
            Ok((edit, objects)) => {
                cx.apply(label, edit);
                cx.model.selection = objects;
            }
            Err(error) => cx.say(Tone::Refused, &format!("{error}.")),
        }
    }

    fn delete(&mut self, cx: &mut Context) {
        if cx.model.selection.is_empty() {
            return;
        }
        let selection = std::mem::take(&mut cx.model.selection);
        let scenario = cx.model.document.scenario().clone();
        let edit = operation::deleted(&scenario, &selection);
        cx.apply(&format!("Delete {}", named(&selection)), edit);
        // The user notices a single missing object at once, but may not have seen all of several objects, nor
        // that trips ended together with their road.
        let trips = lost_trips(&scenario, cx.model.document.scenario(), &selection);
        match (selection.len(), trips) {
            (1, None) => {}
            (1, Some(trips)) => cx.say_undoable(&format!("Also deleted {trips}.")),
            (count, None) => cx.say_undoable(&format!("Deleted {count} objects.")),
            (count, Some(trips)) => {
                cx.say_undoable(&format!("Deleted {count} objects, and also {trips}."));
            }
        }
    }

    fn selected_road(&mut self, cx: &mut Context) -> Option<RoadId> {
        match cx.model.single() {
            Some(ObjectId::Road(id)) => Some(id),
            _ => {
                cx.say(Tone::Refused, "Select one road first.");
                None
            }
        }
    }

    /// Replaces the selected road by the result of `change`.
    fn change_road(
        &mut self,
        cx: &mut Context,
        label: &str,
        change: impl FnOnce(&Scenario, RoadId) -> Result<Edit, OperationError>,
    ) {
        let Some(id) = self.selected_road(cx) else {
            return;
        };
        match change(cx.model.document.scenario(), id) {
            // Only simplifying can succeed without any change.
            Ok(Edit::Batch(edits)) if edits.is_empty() => {
                cx.say(Tone::Done, "The road is already as simple as possible.");
            }
            done => self.apply_or_say(cx, label, done),
        }
    }

    /// Applies the edit of an operation, or shows its error.
    fn apply_or_say(
        &mut self,
        cx: &mut Context,
        label: &str,
        made: Result<Edit, impl std::fmt::Display>,
    ) {
        match made {
            Ok(edit) => cx.apply(label, edit),
            Err(error) => cx.say(Tone::Refused, &format!("{error}.")),
        }
    }

    /// Splits the selected road at the pointer. If the pointer is elsewhere, because the command came from a
    /// menu, the road is split in the middle.
    fn split_road(&mut self, cx: &mut Context) {
        let Some(id) = self.selected_road(cx) else {
            return;
        };
        let scenario = cx.model.document.scenario();
        let Some(road) = scenario.network().road(id) else {
            return;
        };
        let reach = (SPLIT_REACH * cx.model.camera.scale).max(SPLIT_REACH_METRES);
        let at_pointer = cx.model.pointer.and_then(|point| {
            let foot = Projector::new(road.reference_line.clone()).closest(point);
            let miss = (road.reference_line.pose(foot.s).position - point).length();
            (miss < reach).then_some(foot.s)
        });
        let s = at_pointer.unwrap_or(0.5 * road.length());
        let split = draw::split(scenario, id, s);
        self.apply_or_say(cx, "Split road", split);
    }

    fn merge_roads(&mut self, cx: &mut Context) {
        let Some(node) = self.node_to_merge(cx) else {
            cx.say(
                Tone::Refused,
                "Select the node between two roads, or two roads that meet.",
            );
            return;
        };
        let merged = operation::merged(cx.model.document.scenario(), node);
        if merged.is_ok() {
            // The node and one of the roads no longer exist.
            cx.model.selection.clear();
        }
        self.apply_or_say(cx, "Merge roads", merged);
    }

    /// Merges the selected junctions.
    fn merge_junctions(&mut self, cx: &mut Context) {
        let nodes: BTreeSet<NodeId> = cx.model.selected_nodes().collect();
        if nodes.is_empty() {
            cx.say(Tone::Refused, "Select one or more junctions.");
            return;
        }
        let merged = operation::merged_junctions(cx.model.document.scenario(), &nodes);
        self.apply_or_say(cx, "Merge junctions", merged);
    }

    /// Separates the merged nodes of the selected junction. This reverts
    /// [`merge_junctions`](Self::merge_junctions).
    fn part_junctions(&mut self, cx: &mut Context) {
        let Some(ObjectId::Node(node)) = cx.model.single() else {
            cx.say(Tone::Refused, "Select a junction.");
            return;
        };
        let parted = operation::parted_junctions(cx.model.document.scenario(), node);
        let parted = parted.ok_or("This junction was not merged by hand");
        self.apply_or_say(cx, "Separate junctions", parted);
    }

    /// Adds turn lanes to the arms of the selected junction.
    fn add_turn_lanes(&mut self, cx: &mut Context) {
        let Some(ObjectId::Node(node)) = cx.model.single() else {
            cx.say(Tone::Refused, "Select a junction.");
            return;
        };
        let lanes = operation::turn_lanes(cx.model.document.scenario(), node, TURN_LANE);
        self.apply_or_say(cx, "Add turn lanes", lanes);
    }

    /// Replaces the selected junction by a roundabout.
    fn turn_into_roundabout(&mut self, cx: &mut Context) {
        let Some(ObjectId::Node(node)) = cx.model.single() else {
            cx.say(Tone::Refused, "Select a junction.");
            return;
        };
        let junction = cx.model.scene.layout.junction_at(node);
        let nodes = junction.map_or_else(|| vec![node], |junction| junction.nodes.clone());
        let ring = draw::roundabout_at(cx.model.document.scenario(), &nodes);
        if ring.is_ok() {
            // The node no longer exists.
            cx.model.selection.clear();
        }
        self.apply_or_say(cx, "Turn junction into roundabout", ring);
    }

    fn node_to_merge(&self, cx: &Context) -> Option<NodeId> {
        let network = cx.model.document.scenario().network();
        let chosen: Vec<ObjectId> = cx.model.selection.iter().copied().collect();
        match chosen[..] {
            [ObjectId::Node(id)] => Some(id),
            [ObjectId::Road(a), ObjectId::Road(b)] => {
                let (a, b) = (network.road(a)?, network.road(b)?);
                [a.from, a.to]
                    .into_iter()
                    .find(|node| [b.from, b.to].contains(node))
            }
            _ => None,
        }
    }
}

impl EditAction {
    /// Whether this action requires that the stroke in progress is cancelled first. The tool
    /// computes each state of a stroke from the document before the stroke, so it would otherwise
    /// revert the change.
    fn needs_free_hands(&self) -> bool {
        match self {
            Self::Redo
            | Self::Cut
            | Self::Paste
            | Self::PasteAt(_)
            | Self::Duplicate
            | Self::Delete
            | Self::Nudge(_)
            | Self::Group
            | Self::Ungroup
            | Self::Mirror(_)
            | Self::Turn(_)
            | Self::Arrange(_)
            | Self::SplitRoad
            | Self::MergeRoads
            | Self::MergeJunctions
            | Self::PartJunctions
            | Self::AddTurnLanes
            | Self::TurnIntoRoundabout
            | Self::ReverseRoad
            | Self::SimplifyRoad
            | Self::AddRandomTrips => true,
            // These actions cancel the stroke themselves once they have an edit, or do not affect it.
            Self::Undo
            | Self::Repair(_)
            | Self::RepairAll(_)
            | Self::Copy
            | Self::PasteText(_)
            | Self::Select(_)
            | Self::SelectAll
            | Self::SelectSimilar
            | Self::Settings(_)
            | Self::ShowHidden => false,
        }
    }
}

/// Names the vehicles and flows that were lost with the selected objects, although they were not selected
/// themselves; `None` if there are none.
fn lost_trips(before: &Scenario, after: &Scenario, selection: &Objects) -> Option<String> {
    let vehicles = before.agents().keys().filter(|&id| {
        !after.agents().contains_key(id) && !selection.contains(&ObjectId::Agent(*id))
    });
    let flows = before
        .flows()
        .keys()
        .filter(|&id| !after.flows().contains_key(id) && !selection.contains(&ObjectId::Flow(*id)));
    let counts = [(vehicles.count(), "vehicle"), (flows.count(), "flow")];
    let lost = counts.into_iter().filter(|(count, _)| *count > 0);
    let lost: Vec<String> = lost.map(|(count, kind)| counted(count, kind)).collect();
    (!lost.is_empty()).then(|| lost.join(" and "))
}

/// Cancels the stroke in progress, if there is one.
fn put_down_stroke(cx: &mut Context) {
    if cx.view.canvas.hand.tool().is_busy() {
        cx.choose(cx.model.tool);
    }
}
