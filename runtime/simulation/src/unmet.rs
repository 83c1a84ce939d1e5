//! Unmet requirements that prevent a run of a scenario from starting.

use crate::dynamics::LevelChoice;
use crate::modules;
use crate::move_trees;
use crate::options::SimulationError;
use roadwright_agent::Registry;
use roadwright_scenario::Scenario;

/// Returns the reasons why a scenario cannot run with these modules, except for missing places.
/// They are in this order: unknown modules and parameters of the stacks, by stack and slot; unknown
/// modules and parameters of the signals; the first vehicle whose file lacks values that its
/// dynamics level needs; agents that cannot use the move trees of their stacks. No ground is
/// needed. O(stacks + nodes + agents), plus the cost of creating one module for each setting.
pub fn unmet(scenario: &Scenario, modules: &Registry) -> Vec<SimulationError> {
    let mut unmet = modules::unfit(scenario, modules);
    let levels = LevelChoice {
        forced: None,
        default: scenario.settings().dynamics,
    };
    unmet.extend(levels.check(scenario).err());
    let stacks = scenario.stacks().iter();
    let stacks: Vec<_> = stacks
        .map(|(name, stack)| (name.clone(), stack.clone()))
        .collect();
    let asked = move_trees::Asked {
        scenario,
        stacks: &stacks,
        registry: modules,
        levels,
        dt: scenario.settings().dt.get(),
    };
    unmet.extend(asked.unmet());
    unmet
}
