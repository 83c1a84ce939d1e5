//! Who decides about signals, for all of them at once.

use crate::edit::Edit;
use crate::junction_rules::{Control, SignalControllerSetting};
use crate::scenario::Scenario;

/// Lets a module, or a mode of that name, decide about all signals that rule their junctions. A plan that
/// names the module already keeps its parameters.
pub fn controlled_by(scenario: &Scenario, module: &str) -> Edit {
    let nodes = scenario.network().nodes();
    let with_signals = nodes.filter(|(_, node)| {
        let plan = node.rules.plan.as_ref();
        node.rules.control == Some(Control::Signals) && plan.is_none_or(|plan| plan.mode.rules())
    });
    let edits = with_signals.map(|(id, node)| {
        let mut node = node.clone();
        let plan = node.rules.plan.get_or_insert_default();
        let has_it = plan
            .controller
            .as_ref()
            .is_some_and(|own| own.module == module);
        if !has_it {
            plan.controller = Some(SignalControllerSetting::new(module));
        }
        Edit::Node(id, Some(node))
    });
    Edit::Batch(edits.collect())
}
