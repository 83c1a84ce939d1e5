//! What a saved run was a run of.

use crate::modules::Anew;
use crate::vehicle_type::VehicleTypes;
use crate::world::World;
use roadwright_scenario::DynamicsLevel;
use serde::{Deserialize, Serialize};

/// What the scenario and the options of a saved run were, as far as it matters for what is to come: with others
/// it is another run from there on, which people are told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// What the numbers of vehicle types stand for: agents hold these.
    types: Vec<String>,
    /// A hash of what the types are.
    kinds: u64,
    /// A hash of the flows.
    flows: u64,
    /// The level of all agents that appear, if one was asked for.
    dynamics: Option<DynamicsLevel>,
    /// The level of those of whom the scenario says nothing.
    default_dynamics: DynamicsLevel,
    /// People who come to each side of a crossing in an hour, if that was asked for.
    pedestrians: Option<f64>,
}

impl Origin {
    pub(super) fn of(world: &World) -> Self {
        let flows = world.demand.flows.iter();
        let flows = flows.map(|flow| (flow.progress().id, &flow.flow));
        Self {
            types: world.types.numbering(),
            kinds: world.types.hash(),
            flows: crate::hash::of_words(flows),
            dynamics: world.levels.forced,
            default_dynamics: world.levels.default,
            pedestrians: world.pedestrians,
        }
    }

    /// The level of dynamics and the people on foot that were asked for.
    pub(super) fn asked_for(&self) -> (Option<DynamicsLevel>, Option<f64>) {
        (self.dynamics, self.pedestrians)
    }

    /// Whether numbers of types stand for what they stood for.
    pub(super) fn has_types(&self, types: &VehicleTypes) -> bool {
        self.types == types.numbering()
    }

    /// What is another now.
    pub(super) fn differences(&self, now: &Self) -> Vec<Anew> {
        let levels = |origin: &Self| (origin.dynamics, origin.default_dynamics);
        let all = [
            (
                self.kinds != now.kinds,
                "vehicle types",
                "one of them, or its file, is another than it was",
            ),
            (
                self.flows != now.flows,
                "flows",
                "they are others than they were",
            ),
            (
                levels(self) != levels(now),
                "dynamics",
                "those who appear from now on have another level",
            ),
            (
                self.pedestrians != now.pedestrians,
                "pedestrians",
                "others come from now on",
            ),
        ];
        let others = all.into_iter().filter(|(is_other, ..)| *is_other);
        let others = others.map(|(_, what, why)| Anew {
            slot: "scenario".into(),
            module: what.into(),
            why: why.into(),
        });
        others.collect()
    }
}
