//! What a scenario asks for and a run cannot give.

use crate::dynamics::LevelChoice;
use crate::modules;
use crate::options::SimulationError;
use roadwright_agent::Registry;
use roadwright_scenario::Scenario;

/// Why a run of a scenario with these modules would not begin, apart from places that do not exist:
/// modules and parameters that there are not, in the order of stacks and slots, then those of signals, then the
/// first vehicle whose file lacks what its level of dynamics needs. Empty if nothing is amiss. Needs no ground:
/// O(stacks + nodes + agents), and what it takes to make one module of each setting.
pub fn unmet(scenario: &Scenario, modules: &Registry) -> Vec<SimulationError> {
    let mut unmet = modules::unfit(scenario, modules);
    let levels = LevelChoice {
        forced: None,
        default: scenario.settings().dynamics,
    };
    unmet.extend(levels.check(scenario).err());
    unmet
}
