//! Creating and dissolving groups.

use crate::context::Context;
use crate::edit_commands::Editing;
use crate::model::Tone;
use roadwright_scenario::operation::groups;

impl Editing {
    /// Groups the selection.
    pub(crate) fn group(&mut self, cx: &mut Context) {
        let scenario = cx.model.document.scenario();
        let Some((edit, id)) = groups::grouped(scenario, &cx.model.selection) else {
            let text = "Select at least two objects first; nodes follow their roads.";
            return cx.say(Tone::Refused, text);
        };
        cx.apply(&format!("Create {id}"), edit);
        // Selects the same objects as a click on the group. Nodes are not among them, because they belong to
        // no group.
        if let Some(group) = cx.model.document.scenario().groups().get(&id) {
            cx.model.selection = group.members().clone();
        }
    }

    /// Dissolves the selected groups but keeps their members.
    pub(crate) fn ungroup(&mut self, cx: &mut Context) {
        let scenario = cx.model.document.scenario();
        let (edit, count) = groups::dissolved(scenario, &cx.model.selection);
        match count {
            0 => cx.say(Tone::Refused, "No selected object is in a group."),
            1 => cx.apply("Dissolve group", edit),
            more => cx.apply(&format!("Dissolve {more} groups"), edit),
        }
    }
}

impl Context {
    /// Removes missing members from the groups of a newly opened document, as a step that can be undone.
    pub(crate) fn drop_lost_members(&mut self) {
        let scenario = self.model.document.scenario();
        let lost = groups::lost_members(scenario);
        let Some((group, member)) = lost.first() else {
            return;
        };
        let others = match lost.len() {
            1 => String::new(),
            more => format!(" and {} more", more - 1),
        };
        let text = format!("Missing group members were removed: {member} of {group}{others}.");
        let edit = groups::without_lost_members(scenario);
        self.apply("Remove missing members from groups", edit);
        self.say(Tone::Refused, &text);
    }
}
