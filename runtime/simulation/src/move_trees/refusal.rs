//! Rejects scenarios whose agents cannot use move trees.

use super::libraries::load;
use super::steps_of_frame;
use crate::dynamics::LevelChoice;
use crate::options::SimulationError;
use roadwright_agent::{
    GroundPlanner, GroundSearch, MoveExecution, MoveTreeLibrary, MoveTreeSearch, Registry, Slot,
};
use roadwright_moves::{BodyOutline, Loaded, ShippedLibrary};
use roadwright_scenario::{DynamicsLevel, Scenario, Stack, VehicleType};
use std::collections::BTreeMap;

/// Name of the open-ground planner that uses move trees.
const MOVE_TREE: &str = "move_tree";
/// A vehicle whose outline differs from the outline recorded in a library by more than this cannot
/// use that library, m.
const SAME: f64 = 0.01;
/// Time steps that error messages suggest, s.
const USUAL_STEPS: [f64; 5] = [0.005, 0.01, 0.02, 0.04, 0.05];

/// Inputs that decide whether the agents of a run can use move trees.
pub(crate) struct Asked<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Stacks, including the overrides of the run.
    pub(crate) stacks: &'a [(String, Stack)],
    pub(crate) registry: &'a Registry,
    pub(crate) levels: LevelChoice,
    /// Time step, s.
    pub(crate) dt: f64,
}

/// Library of moves that an agent may use.
pub(super) struct Library {
    pub(super) name: String,
    pub(super) loaded: Loaded,
}

/// Whether vehicles at a level can play or follow clips.
pub(super) fn can_drive(level: DynamicsLevel, execution: MoveExecution) -> bool {
    match level {
        DynamicsLevel::OneTrack | DynamicsLevel::DynamicOneTrack | DynamicsLevel::Sliding => true,
        DynamicsLevel::Rigid => execution == MoveExecution::Replayed,
        DynamicsLevel::Lane | DynamicsLevel::Walker => false,
    }
}

impl Asked<'_> {
    /// Errors for the first agent or flow of each stack that cannot use its move tree. Stacks whose
    /// modules cannot be created are skipped.
    pub(crate) fn unmet(&self) -> Vec<SimulationError> {
        let stacks = self.stacks.iter();
        stacks
            .filter_map(|(name, stack)| {
                let search = self.search(name, stack)?;
                let (who, reason) = self.first_reason(name, search)?;
                Some(SimulationError::MoveTree { who, reason })
            })
            .collect()
    }

    /// Search settings of a stack; `None` if its planner is not a move tree.
    pub(super) fn search(&self, name: &str, stack: &Stack) -> Option<MoveTreeSearch> {
        let setting = stack.settings(Slot::GroundPlanner).first()?;
        if setting.module != MOVE_TREE {
            return None;
        }
        let slot = Slot::GroundPlanner;
        let module = self
            .registry
            .module::<dyn GroundPlanner>(name, slot, setting);
        let module = module.ok()?;
        let planning = module.logic.planning(&module.parameters);
        match planning.search {
            GroundSearch::MoveTree(search) => Some(search),
            _ => None,
        }
    }

    fn first_reason(&self, stack: &str, search: MoveTreeSearch) -> Option<(String, String)> {
        let mut known: BTreeMap<&str, Option<String>> = BTreeMap::new();
        let agents = self.scenario.agents().iter();
        let agents = agents
            .filter(|(_, agent)| agent.stack == stack)
            .map(|(id, agent)| (id.to_string(), &agent.vehicle, agent.dynamics));
        let flows = self.scenario.flows().iter();
        let flows = flows
            .filter(|(_, flow)| flow.stack == stack)
            .map(|(id, flow)| (id.to_string(), &flow.vehicle, flow.dynamics));
        agents.chain(flows).find_map(|(who, vehicle, level)| {
            let kind = self.scenario.vehicle_types().get(vehicle)?;
            let level = self.levels.of(level, kind.body);
            let reason = wrong_level(level, search.execution).or_else(|| {
                let reason = known.entry(vehicle);
                let reason = reason.or_insert_with(|| self.wrong_libraries(vehicle, kind, search));
                reason.clone()
            })?;
            Some((who, reason))
        })
    }

    /// Reason why a vehicle type cannot use the libraries of a search.
    fn wrong_libraries(
        &self,
        vehicle: &str,
        kind: &VehicleType,
        search: MoveTreeSearch,
    ) -> Option<String> {
        let libraries = match libraries(vehicle, kind, search.library) {
            Ok(libraries) => libraries,
            Err(reason) => return Some(reason),
        };
        libraries.iter().find_map(|library| {
            let Library { name, loaded } = library;
            wrong_vehicle(vehicle, kind, name, loaded).or_else(|| self.wrong_step(name, loaded))
        })
    }

    fn wrong_step(&self, library: &str, loaded: &Loaded) -> Option<String> {
        let rate = loaded.library.rate();
        if steps_of_frame(rate, self.dt).is_some() {
            return None;
        }
        let fits = USUAL_STEPS
            .iter()
            .filter(|&&dt| steps_of_frame(rate, dt).is_some())
            .map(f64::to_string);
        let fits: Vec<String> = fits.collect();
        Some(format!(
            "frames of the library \"{library}\" last {} s, which is not a multiple of the time step of {} s; \
             use a time step of {} s",
            1.0 / rate,
            self.dt,
            fits.join(", ")
        ))
    }
}

/// Libraries that a vehicle type may use.
///
/// # Errors
/// If there is none, or one of them cannot be read. The error is the reason.
pub(super) fn libraries(
    vehicle: &str,
    kind: &VehicleType,
    library: MoveTreeLibrary,
) -> Result<Vec<Library>, String> {
    let (name, loaded) = match library {
        MoveTreeLibrary::Shipped(name) => {
            let shipped = ShippedLibrary::named(name);
            (name, shipped.and_then(|shipped| shipped.load().ok()))
        }
        MoveTreeLibrary::OfVehicle => {
            if kind.move_libraries.is_empty() {
                return Err(format!(
                    "its vehicle type \"{vehicle}\" has no move libraries; list them under its \
                     key move_libraries, or choose a library that ships with Roadwright"
                ));
            }
            let own = kind.move_libraries.iter().map(|own| {
                let loaded = load(own);
                let loaded =
                    loaded.map_err(|error| format!("the library \"{}\": {error}", own.file))?;
                Ok(Library {
                    name: own.file.clone(),
                    loaded,
                })
            });
            return own.collect();
        }
    };
    let loaded = loaded.ok_or_else(|| format!("the library \"{name}\" cannot be read"))?;
    Ok(vec![Library {
        name: name.to_owned(),
        loaded,
    }])
}

fn wrong_level(level: DynamicsLevel, execution: MoveExecution) -> Option<String> {
    let levels = match execution {
        MoveExecution::Played => {
            "clips are played at the levels one_track, dynamic_one_track and sliding"
        }
        MoveExecution::Replayed => {
            "clips are followed at the levels one_track, dynamic_one_track, sliding and rigid"
        }
    };
    (!can_drive(level, execution)).then(|| format!("{levels}, but its level is {level}"))
}

fn wrong_vehicle(name: &str, kind: &VehicleType, library: &str, loaded: &Loaded) -> Option<String> {
    let file = kind.file.as_ref().map(|file| &file.vehicle);
    if file.is_some_and(|file| !file.trailers.is_empty()) {
        return Some(format!(
            "its vehicle type \"{name}\" tows trailers, which clips do not contain"
        ));
    }
    let own = file.map(BodyOutline::of_file).unwrap_or(BodyOutline {
        front: kind.front(),
        rear: kind.length.get() - kind.front(),
        half_width: 0.5 * kind.width.get(),
        centre_of_gravity: loaded.clips.body.centre_of_gravity,
    });
    let recorded = &loaded.clips.body;
    let differences = [
        ("front end", own.front, recorded.front),
        ("rear end", own.rear, recorded.rear),
        ("half width", own.half_width, recorded.half_width),
    ];
    let (part, own, recorded) = differences
        .into_iter()
        .find(|(_, own, recorded)| (own - recorded).abs() > SAME)?;
    Some(format!(
        "the library \"{library}\" was recorded with {}, which differs from its vehicle type \"{name}\": \
         {part} {recorded:.2} m instead of {own:.2} m from the centre of the rear axle",
        loaded.clips.vehicle.name
    ))
}
