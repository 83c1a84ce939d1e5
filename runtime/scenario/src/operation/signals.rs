//! Edits of signals: the module that controls all signals, and the offsets of selected signals.

use crate::edit::Edit;
use crate::ids::NodeId;
use crate::junction::Junction;
use crate::junction_rules::{Control, SignalControllerSetting};
use crate::network::RoadNetwork;
use crate::scenario::Scenario;

/// Returns the edit that lets a module control all signals, except signals that flash or are off. If
/// `module` is the name of a mode, that mode is set instead. A plan that already names the module
/// keeps its parameters.
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

/// Returns the node whose rules control a junction: the first node with signals or, failing that,
/// the first node that sets right of way or, failing that, the first node.
pub fn ruling_node(network: &RoadNetwork, junction: &Junction) -> Option<NodeId> {
    network
        .deciding_node(&junction.nodes)
        .or(junction.nodes.first().copied())
}

/// Returns the edit that sets the offsets of the given junctions: the start times of their first
/// stages, in seconds. Everything else in their plans is kept. A junction that shared its programme
/// with neighbours gets its own plan with a cycle of `cycle` seconds, so that it remains
/// synchronised.
pub fn with_offsets<'a>(
    scenario: &Scenario,
    offsets: impl IntoIterator<Item = (&'a Junction, f64, Option<f64>)>,
) -> Edit {
    let network = scenario.network();
    let edits = offsets.into_iter().filter_map(|(junction, offset, cycle)| {
        let id = ruling_node(network, junction)?;
        let mut node = network.node(id)?.clone();
        let plan = node.rules.plan.get_or_insert_with(|| junction.plan.clone());
        plan.offset = offset.into();
        plan.cycle = plan.cycle.or(cycle).into();
        Some(Edit::Node(id, Some(node)))
    });
    Edit::Batch(edits.collect())
}
