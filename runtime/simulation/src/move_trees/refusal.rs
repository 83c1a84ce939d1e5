//! Rejects scenarios whose agents cannot use move trees.

use super::steps_of_frame;
use crate::dynamics::LevelChoice;
use crate::options::SimulationError;
use roadwright_agent::{GroundPlanner, GroundSearch, Registry, Slot};
use roadwright_moves::{BodyOutline, Loaded, ShippedLibrary};
use roadwright_scenario::{DynamicsLevel, Scenario, Stack, VehicleType};

/// Name of the ground planner that uses move trees.
const MOVE_TREE: &str = "move_tree";
/// Maximum difference between the outline of a vehicle and the recorded outline, m.
const SAME: f64 = 0.01;
/// Time steps to suggest, s.
const USUAL_STEPS: [f64; 5] = [0.005, 0.01, 0.02, 0.04, 0.05];

/// Inputs that decide whether the agents of a run can use move trees.
pub(crate) struct Asked<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Stacks with the overrides of the run.
    pub(crate) stacks: &'a [(String, Stack)],
    pub(crate) registry: &'a Registry,
    pub(crate) levels: LevelChoice,
    /// Time step, s.
    pub(crate) dt: f64,
}

/// Library of moves that a stack uses.
struct Library {
    name: &'static str,
    loaded: Loaded,
}

/// Whether a level can play clips.
pub(super) fn can_play(level: DynamicsLevel) -> bool {
    matches!(
        level,
        DynamicsLevel::OneTrack | DynamicsLevel::DynamicOneTrack | DynamicsLevel::Sliding
    )
}

impl Asked<'_> {
    /// The first agent or flow of each stack that cannot use its move tree. Stacks whose modules cannot be created
    /// are skipped.
    pub(crate) fn unmet(&self) -> Vec<SimulationError> {
        let stacks = self.stacks.iter();
        stacks
            .filter_map(|(name, stack)| {
                let library = self.library(name, stack)?;
                let (who, reason) = self.first_reason(name, &library)?;
                Some(SimulationError::MoveTree { who, reason })
            })
            .collect()
    }

    /// The library of a stack; `None` if its planner is not a move tree.
    fn library(&self, name: &str, stack: &Stack) -> Option<Library> {
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
        let GroundSearch::MoveTree(search) = planning.search else {
            return None;
        };
        let loaded = ShippedLibrary::named(search.library)?.load().ok()?;
        Some(Library {
            name: search.library,
            loaded,
        })
    }

    fn first_reason(&self, stack: &str, library: &Library) -> Option<(String, String)> {
        let Library {
            name: library,
            loaded,
        } = library;
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
            let reason = wrong_level(level)
                .or_else(|| wrong_vehicle(vehicle, kind, library, loaded))
                .or_else(|| self.wrong_step(library, loaded))?;
            Some((who, reason))
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

fn wrong_level(level: DynamicsLevel) -> Option<String> {
    (!can_play(level)).then(|| {
        format!(
            "clips are played at the levels one_track, dynamic_one_track and sliding, and its level is {level}"
        )
    })
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
         {part} {recorded:.2} m instead of {own:.2} m from the middle of the rear axle",
        loaded.clips.vehicle.name
    ))
}
