//! The scenario and options of a saved run.

use crate::modules::Anew;
use crate::vehicle_type::VehicleTypes;
use crate::world::World;
use roadwright_scenario::DynamicsLevel;
use serde::{Deserialize, Serialize};

/// Properties of the scenario and options of a saved run that affect its continuation. If any of
/// them has changed when the save is restored, the run continues differently, and the user is
/// notified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// Names of the vehicle types in the order of their indices. Agents store these indices.
    types: Vec<String>,
    /// Hash of the properties of the vehicle types.
    kinds: u64,
    /// Hash of the flows.
    flows: u64,
    /// Dynamics level of all spawned agents, if the options set one.
    dynamics: Option<DynamicsLevel>,
    /// Dynamics level of agents without a level in the scenario.
    default_dynamics: DynamicsLevel,
    /// Pedestrians per hour on each side of a crossing, if the options set a number.
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

    /// The requested level of dynamics and number of pedestrians.
    pub(super) fn asked_for(&self) -> (Option<DynamicsLevel>, Option<f64>) {
        (self.dynamics, self.pedestrians)
    }

    /// Whether the saved type indices still refer to the same types.
    pub(super) fn has_types(&self, types: &VehicleTypes) -> bool {
        self.types == types.numbering()
    }

    /// Returns the differences between the saved and the current run.
    pub(super) fn differences(&self, now: &Self) -> Vec<Anew> {
        let levels = |origin: &Self| (origin.dynamics, origin.default_dynamics);
        let all = [
            (
                self.kinds != now.kinds,
                "vehicle types",
                "at least one type or its file has changed",
            ),
            (self.flows != now.flows, "flows", "the flows have changed"),
            (
                levels(self) != levels(now),
                "dynamics",
                "agents that spawn from now on use another level",
            ),
            (
                self.pedestrians != now.pedestrians,
                "pedestrians",
                "pedestrians arrive at another rate from now on",
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
