//! Edits of signals: who decides about all of them, and when the cycles of some begin.

use crate::edit::Edit;
use crate::ids::NodeId;
use crate::junction::Junction;
use crate::junction_rules::{Control, SignalControllerSetting};
use crate::network::RoadNetwork;
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

/// The node whose rules say who goes first at a junction: of a merged one signals at any node rule all of
/// it, else it is the first one that says something, or its first.
pub fn ruling_node(network: &RoadNetwork, junction: &Junction) -> Option<NodeId> {
    network
        .deciding_node(&junction.nodes)
        .or(junction.nodes.first().copied())
}

/// The edit that lets the first stage of junctions start at other times, s; the rest of their plans stays. A
/// junction that shares its programme with others beside it goes by itself from then on: with the cycle that
/// is given for it, s, so that it keeps step.
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
