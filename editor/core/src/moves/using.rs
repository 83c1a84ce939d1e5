//! The edit that assigns a library to agents.

use super::built::BuiltLibrary;
use roadwright_agent::{GroundPlanner, ParameterKind, Registry};
use roadwright_moves::{BodyOutline, Loaded, MoveFileError, ShippedLibrary};
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, ModuleSetting, MoveLibrary, Scenario, Stack, VehicleType,
};
use roadwright_vehicle::sheet::file_of_type;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Id of the planner.
const PLANNER: &str = "move_tree";
/// Value of the planner's parameter `library` that selects the libraries of the vehicle type.
const OF_VEHICLE: &str = "of_vehicle";
/// Maximum difference between outlines that count as equal, m.
const EQUAL: f64 = 0.01;

/// Execution mode of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// The recorded motion is played back in place of the level of dynamics.
    Played,
    /// The level of dynamics drives the vehicle with the recorded commands plus corrections.
    Replayed,
}

impl Execution {
    /// Both execution modes.
    pub const ALL: [Self; 2] = [Self::Played, Self::Replayed];

    /// Returns the value of the planner's parameter for this mode.
    pub fn word(self) -> &'static str {
        match self {
            Self::Played => "played",
            Self::Replayed => "replayed",
        }
    }
}

/// A library to be assigned to agents.
#[derive(Debug, Clone)]
pub enum UsedLibrary {
    /// A built library.
    Own(Arc<BuiltLibrary>),
    /// A library that ships with the program.
    Shipped(&'static ShippedLibrary),
}

impl UsedLibrary {
    /// Returns the name of the library.
    pub fn name(&self) -> &str {
        match self {
            Self::Own(built) => &built.name,
            Self::Shipped(shipped) => shipped.name,
        }
    }

    /// Loads the library for planning.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn load(&self) -> Result<Box<Loaded>, MoveFileError> {
        match self {
            Self::Own(built) => built.loaded.clone(),
            Self::Shipped(shipped) => shipped.load().map(Box::new),
        }
    }
}

/// Reason why agents cannot use a library.
#[derive(Debug, Clone, PartialEq)]
pub enum UseError {
    /// No agent is selected.
    NoAgent,
    /// The library cannot be used.
    Library(String),
    /// An agent's vehicle differs from the recorded one.
    OtherVehicle {
        /// Id of the agent with the other vehicle.
        agent: AgentId,
        /// Vehicle type of the agent.
        kind: String,
        /// The recorded vehicle.
        recorded: String,
    },
    /// The level of dynamics of an agent cannot drive clips.
    Level {
        /// Id of the agent with this level.
        agent: AgentId,
        /// Level of dynamics of the agent.
        level: DynamicsLevel,
    },
}

/// Returns the edit that assigns a library to agents. A built library is added as the first library
/// of the agents' vehicle types, with the path `file` relative to the scenario. Stacks that other
/// agents use are copied.
///
/// # Errors
/// If an agent cannot use the library.
pub fn use_edit(
    scenario: &Scenario,
    registry: &Registry,
    agents: &[AgentId],
    library: &UsedLibrary,
    file: &str,
    execution: Execution,
) -> Result<Edit, UseError> {
    let chosen: Vec<(AgentId, &Agent)> = agents
        .iter()
        .filter_map(|id| Some((*id, scenario.agents().get(id)?)))
        .collect();
    if chosen.is_empty() {
        return Err(UseError::NoAgent);
    }
    let loaded = library.load();
    let loaded = loaded.map_err(|why| UseError::Library(why.to_string()))?;
    for &(id, agent) in &chosen {
        check(scenario, id, agent, &loaded, execution)?;
    }
    let mut edits = Vec::new();
    let word = match library {
        UsedLibrary::Own(built) => {
            let own = built.as_move_library(file);
            let mut kinds: Vec<&String> = chosen.iter().map(|(_, agent)| &agent.vehicle).collect();
            kinds.sort_unstable();
            kinds.dedup();
            for key in kinds {
                if let Some(kind) = scenario.vehicle_types().get(key) {
                    let kind = with_library(kind, own.clone());
                    edits.push(Edit::VehicleType(key.clone(), Some(Box::new(kind))));
                }
            }
            OF_VEHICLE
        }
        UsedLibrary::Shipped(shipped) => shipped.name,
    };
    let planner = [
        ("library", number_of(registry, "library", word)),
        (
            "execution",
            number_of(registry, "execution", execution.word()),
        ),
    ];
    let mut made: BTreeMap<String, Stack> = BTreeMap::new();
    for (id, agent) in chosen {
        let Some(stack) = scenario.stacks().get(&agent.stack) else {
            continue;
        };
        let stack = with_planner(stack, planner);
        let key = key_of(scenario, &made, &agent.stack, &stack);
        if scenario.stacks().get(&key) != Some(&stack) && !made.contains_key(&key) {
            made.insert(key.clone(), stack.clone());
            edits.push(Edit::Stack(key.clone(), Some(Box::new(stack))));
        }
        if key != agent.stack {
            let agent = Agent {
                stack: key,
                ..agent.clone()
            };
            edits.push(Edit::Agent(id, Some(Box::new(agent))));
        }
    }
    Ok(Edit::Batch(edits))
}

fn check(
    scenario: &Scenario,
    id: AgentId,
    agent: &Agent,
    loaded: &Loaded,
    execution: Execution,
) -> Result<(), UseError> {
    let kind = scenario.vehicle_types().get(&agent.vehicle);
    let body = kind.map(|kind| BodyOutline::of_file(&file_of_type(kind)));
    if !body.is_some_and(|body| is_same(&body, &loaded.clips.body)) {
        return Err(UseError::OtherVehicle {
            agent: id,
            kind: agent.vehicle.clone(),
            recorded: loaded.clips.vehicle.name.clone(),
        });
    }
    let level = agent.dynamics.unwrap_or(scenario.settings().dynamics);
    let can_drive = match level {
        DynamicsLevel::OneTrack | DynamicsLevel::DynamicOneTrack | DynamicsLevel::Sliding => true,
        DynamicsLevel::Rigid => execution == Execution::Replayed,
        DynamicsLevel::Lane | DynamicsLevel::Walker => false,
    };
    match can_drive {
        true => Ok(()),
        false => Err(UseError::Level { agent: id, level }),
    }
}

fn is_same(one: &BodyOutline, other: &BodyOutline) -> bool {
    let numbers = |body: &BodyOutline| [body.front, body.rear, body.half_width];
    let pairs = numbers(one).into_iter().zip(numbers(other));
    pairs.into_iter().all(|(a, b)| (a - b).abs() < EQUAL)
}

/// Returns the vehicle type with a library added at the front of its libraries. A library with the same path
/// is replaced.
fn with_library(kind: &VehicleType, library: MoveLibrary) -> VehicleType {
    let mut kind = kind.clone();
    kind.move_libraries.retain(|one| one.file != library.file);
    kind.move_libraries.insert(0, library);
    kind
}

/// Returns the number that stands for an option in a choice parameter of the planner.
fn number_of(registry: &Registry, parameter: &str, word: &str) -> f64 {
    let planners = registry.of::<dyn GroundPlanner>();
    let planner = planners.iter().find(|one| one.info.id == PLANNER);
    let parameters = planner.map_or(&[][..], |planner| planner.parameters);
    let found = parameters.iter().find(|one| one.key == parameter);
    let words = match found.map(|one| &one.kind) {
        Some(ParameterKind::Choice(words)) => *words,
        _ => &[],
    };
    let place = words.iter().position(|one| *one == word);
    place.unwrap_or_default() as f64
}

/// Returns the stack with the planner and the given parameters set. The planner's other parameters stay
/// unchanged.
fn with_planner(stack: &Stack, parameters: [(&str, f64); 2]) -> Stack {
    let planner = stack.ground_planner.clone();
    let mut planner = planner
        .filter(|planner| planner.module == PLANNER)
        .unwrap_or_else(|| ModuleSetting::new(PLANNER));
    for (key, value) in parameters {
        // Files omit parameters that have their default value.
        match value == 0.0 {
            true => drop(planner.parameters.remove(key)),
            false => drop(planner.parameters.insert(key.to_owned(), value)),
        }
    }
    Stack {
        ground_planner: Some(planner),
        ..stack.clone()
    }
}

/// Returns the key for a changed stack: the present key if nothing has changed, otherwise the key
/// of an equal stack, or else an unused key.
fn key_of(
    scenario: &Scenario,
    made: &BTreeMap<String, Stack>,
    present: &str,
    stack: &Stack,
) -> String {
    if scenario.stacks().get(present) == Some(stack) {
        return present.to_owned();
    }
    let base = format!("{}_moves", present.trim_end_matches("_moves"));
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    let is_usable = |name: &String| {
        let known = scenario.stacks().get(name).or_else(|| made.get(name));
        known.is_none_or(|known| known == stack)
    };
    names.find(is_usable).unwrap_or(base)
}
