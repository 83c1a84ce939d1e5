//! Commands that change the scenario: undo and redo, copy and paste, deletion, and operations on whole roads.

use crate::app::Editor;
use crate::model::Tone;
use crate::tools::named;
use roadwright_geometry::DVec2;
use roadwright_geometry::projection::Projector;
use roadwright_scenario::check::{Finding, repair};
use roadwright_scenario::operation::draw;
use roadwright_scenario::operation::{self, Motion, OperationError};
use roadwright_scenario::{Edit, NodeId, ObjectId, RoadId, Scenario, file};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Tolerance for simplifying a road, m.
pub(crate) const SIMPLIFY_TOLERANCE: f64 = 0.5;
/// Length of added turn lanes, m.
const TURN_LANE: f64 = 30.0;
/// Distance from a road within which the pointer sets the split point: in points, and the minimum in metres.
const SPLIT_REACH: f64 = 20.0;
const SPLIT_REACH_METRES: f64 = 6.0;
/// Offset of a duplicate from the original, points.
const DUPLICATE_SHIFT: f64 = 24.0;

impl Editor {
    /// Cancels the stroke in progress, then edits: the tool computes each state of a stroke from the document
    /// before it, and would revert the change.
    pub(crate) fn edit(&mut self, command: impl FnOnce(&mut Self)) {
        if self.view.canvas.hand.tool().is_busy() {
            self.choose(self.model.tool);
        }
        command(self);
    }

    pub(crate) fn apply(&mut self, label: &str, edit: Edit) {
        if let Err(error) = self.model.document.apply(label, edit) {
            self.say(Tone::Refused, &format!("{error}."));
        }
    }

    /// Applies the obvious repair of a problem.
    pub(crate) fn repair(&mut self, finding: &Finding) {
        let title = finding.code.repair().unwrap_or_default();
        match repair(self.model.document.scenario(), finding) {
            Some(edit) => self.edit(|editor| editor.apply(title, edit)),
            None => self.say(Tone::Refused, "This problem no longer exists."),
        }
    }

    pub(crate) fn preview(&mut self, label: &str, edit: Edit) {
        if let Err(error) = self.model.document.preview(label, edit) {
            self.say(Tone::Refused, &format!("{error}."));
        }
    }

    /// Undoes the last step. A stroke in progress is cancelled instead, because it is not a step yet.
    pub(crate) fn undo(&mut self) {
        if self.view.canvas.hand.tool().is_busy() {
            self.choose(self.model.tool);
            return;
        }
        if self.model.document.undo().is_none() {
            self.say(Tone::Refused, "Nothing to undo.");
        }
    }

    pub(crate) fn redo(&mut self) {
        if self.model.document.redo().is_none() {
            self.say(Tone::Refused, "Nothing to redo.");
        }
    }

    /// Copies the selection to the system's clipboard as scenario text, so that it can be pasted into another
    /// window or an e-mail.
    pub(crate) fn copy(&mut self) {
        if self.model.selection.is_empty() {
            self.say(Tone::Refused, "Nothing is selected.");
            return;
        }
        let piece = operation::copied(self.model.document.scenario(), &self.model.selection);
        self.context.copy_text(file::to_text(&piece));
        self.clipboard = Some(Arc::new(piece));
    }

    pub(crate) fn cut(&mut self) {
        self.copy();
        self.delete();
    }

    /// Pastes text from the system's clipboard, or the last copied objects if it is not a scenario.
    pub(crate) fn paste_text(&mut self, text: &str) {
        if let Ok(piece) = file::from_text(text) {
            self.clipboard = Some(Arc::new(piece));
        }
        self.edit(Self::paste);
    }

    pub(crate) fn paste(&mut self) {
        // From the menu, the pointer is not on the map.
        let to = self.model.pointer.unwrap_or(self.model.camera.centre);
        self.paste_at(to);
    }

    /// Adds the copied objects around a point, m.
    pub(crate) fn paste_at(&mut self, to: DVec2) {
        let Some(piece) = self.clipboard.clone() else {
            self.say(Tone::Refused, "Nothing has been copied.");
            return;
        };
        let (low, high) = piece.bounds().unwrap_or_default();
        self.add_piece("Paste", &piece, to - 0.5 * (low + high));
    }

    pub(crate) fn duplicate(&mut self) {
        if self.model.selection.is_empty() {
            self.say(Tone::Refused, "Nothing is selected.");
            return;
        }
        let piece = operation::copied(self.model.document.scenario(), &self.model.selection);
        // The same distance on screen at any zoom: beside the original, and still in view.
        let aside = DUPLICATE_SHIFT * self.model.camera.scale;
        let label = format!("Duplicate {}", named(&self.model.selection));
        // y points north, so this is right and down on the screen.
        self.add_piece(&label, &piece, DVec2::new(aside, -aside));
    }

    fn add_piece(&mut self, label: &str, piece: &Scenario, shift: DVec2) {
        let pasted =
            operation::pasted(self.model.document.scenario(), piece, &Motion::shift(shift));
        match pasted {
            Ok((edit, objects)) => {
                self.apply(label, edit);
                self.model.selection = objects;
            }
            Err(error) => self.say(Tone::Refused, &format!("{error}.")),
        }
    }

    pub(crate) fn delete(&mut self) {
        if self.model.selection.is_empty() {
            return;
        }
        let selection = std::mem::take(&mut self.model.selection);
        let edit = operation::deleted(self.model.document.scenario(), &selection);
        self.apply(&format!("Delete {}", named(&selection)), edit);
    }

    fn selected_road(&mut self) -> Option<RoadId> {
        match self.model.single() {
            Some(ObjectId::Road(id)) => Some(id),
            _ => {
                self.say(Tone::Refused, "Select one road first.");
                None
            }
        }
    }

    /// Replaces the selected road by the result of `change`.
    pub(crate) fn change_road(
        &mut self,
        label: &str,
        change: impl FnOnce(&Scenario, RoadId) -> Result<Edit, OperationError>,
    ) {
        self.edit(|editor| {
            let Some(id) = editor.selected_road() else {
                return;
            };
            match change(editor.model.document.scenario(), id) {
                // Only simplifying may have nothing to do.
                Ok(Edit::Batch(edits)) if edits.is_empty() => {
                    editor.say(Tone::Done, "The road is already as simple as possible.");
                }
                done => editor.apply_or_say(label, done),
            }
        });
    }

    /// Applies the edit of an operation, or reports its error.
    fn apply_or_say(&mut self, label: &str, made: Result<Edit, impl std::fmt::Display>) {
        match made {
            Ok(edit) => self.apply(label, edit),
            Err(error) => self.say(Tone::Refused, &format!("{error}.")),
        }
    }

    /// Splits the selected road at the pointer, or in the middle if the pointer is elsewhere, since the
    /// command may come from a menu.
    pub(crate) fn split_road(&mut self) {
        let Some(id) = self.selected_road() else {
            return;
        };
        let scenario = self.model.document.scenario();
        let Some(road) = scenario.network().road(id) else {
            return;
        };
        let reach = (SPLIT_REACH * self.model.camera.scale).max(SPLIT_REACH_METRES);
        let at_pointer = self.model.pointer.and_then(|point| {
            let foot = Projector::new(road.reference_line.clone()).closest(point);
            let miss = (road.reference_line.pose(foot.s).position - point).length();
            (miss < reach).then_some(foot.s)
        });
        let s = at_pointer.unwrap_or(0.5 * road.length());
        self.apply_or_say("Split road", draw::split(scenario, id, s));
    }

    pub(crate) fn merge_roads(&mut self) {
        let Some(node) = self.node_to_merge() else {
            self.say(
                Tone::Refused,
                "Select the node between two roads, or two roads that meet.",
            );
            return;
        };
        let merged = operation::merged(self.model.document.scenario(), node);
        if merged.is_ok() {
            // Neither the node nor both roads exist afterwards.
            self.model.selection.clear();
        }
        self.apply_or_say("Merge roads", merged);
    }

    /// Merges the selected junctions.
    pub(crate) fn merge_junctions(&mut self) {
        let nodes: BTreeSet<NodeId> = self.model.selected_nodes().collect();
        if nodes.is_empty() {
            self.say(Tone::Refused, "Select one or more junctions.");
            return;
        }
        let merged = operation::merged_junctions(self.model.document.scenario(), &nodes);
        self.apply_or_say("Merge junctions", merged);
    }

    /// Reverts [`merge_junctions`](Self::merge_junctions) for the selected junction.
    pub(crate) fn part_junctions(&mut self) {
        let Some(ObjectId::Node(node)) = self.model.single() else {
            self.say(Tone::Refused, "Select a junction.");
            return;
        };
        let parted = operation::parted_junctions(self.model.document.scenario(), node);
        let parted = parted.ok_or("This junction was not merged by hand");
        self.apply_or_say("Separate junctions", parted);
    }

    /// Adds turn lanes to the arms of the selected junction.
    pub(crate) fn add_turn_lanes(&mut self) {
        let Some(ObjectId::Node(node)) = self.model.single() else {
            self.say(Tone::Refused, "Select a junction.");
            return;
        };
        let lanes = operation::turn_lanes(self.model.document.scenario(), node, TURN_LANE);
        self.apply_or_say("Add turn lanes", lanes);
    }

    fn node_to_merge(&self) -> Option<NodeId> {
        let network = self.model.document.scenario().network();
        let chosen: Vec<ObjectId> = self.model.selection.iter().copied().collect();
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
