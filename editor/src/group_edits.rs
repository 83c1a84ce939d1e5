//! Making and dissolving groups.

use crate::context::Context;
use crate::edit_commands::Editing;
use crate::model::Tone;
use roadwright_scenario::operation::groups;

impl Editing {
    /// Makes a group of the selection.
    pub(crate) fn group(&mut self, cx: &mut Context) {
        let scenario = cx.model.document.scenario();
        let Some((edit, id)) = groups::grouped(scenario, &cx.model.selection) else {
            let text = "Select two objects or more first; nodes belong to their roads.";
            return cx.say(Tone::Refused, text);
        };
        cx.apply(&format!("Make {id}"), edit);
        // Nodes are in no group: what is selected is what a click on it will select.
        if let Some(group) = cx.model.document.scenario().groups().get(&id) {
            cx.model.selection = group.members().clone();
        }
    }

    /// Dissolves the groups of what is selected; their members stay.
    pub(crate) fn ungroup(&mut self, cx: &mut Context) {
        let scenario = cx.model.document.scenario();
        let (edit, count) = groups::dissolved(scenario, &cx.model.selection);
        match count {
            0 => cx.say(Tone::Refused, "Nothing that is selected is in a group."),
            1 => cx.apply("Dissolve group", edit),
            more => cx.apply(&format!("Dissolve {more} groups"), edit),
        }
    }
}

impl Context {
    /// Takes members that do not exist out of the groups of a document that was just opened, in a
    /// step that can be undone.
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
        let text = format!("{group} named {member}{others}, which are not there: left out.");
        let edit = groups::without_lost_members(scenario);
        self.apply("Leave lost members out of groups", edit);
        self.say(Tone::Refused, &text);
    }
}
