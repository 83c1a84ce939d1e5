//! Libraries of moves: those shipped with the program, and those of vehicle types.

use super::MoveTreeView;
use crate::records::AgentIndex;
use crate::summary::MoveTreeRecord;
use roadwright_agent::MoveTreeLibrary;
use roadwright_moves::{Loaded, MoveFileError, ShippedLibrary};
use roadwright_scenario::MoveLibrary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A library in use, with the statistics of its agents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct LibraryUse {
    /// Name of a shipped library, or path of the move graph.
    pub(super) name: String,
    /// Hash of the move graph.
    pub(super) hash: String,
    pub(super) figures: Figures,
}

/// Statistics of the agents that use a library.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Figures {
    /// Number of plans made.
    pub(super) plans: u64,
    /// Number of plans that found no free move.
    pub(super) without_path: u64,
    /// Number of moves begun.
    pub(super) moves: u64,
    /// Number of times that a clip was moved to the pose of its vehicle because the vehicle was too
    /// far away from it.
    pub(super) corrections: u64,
    /// Maximum distance of a vehicle from its clip, m.
    pub(super) worst_distance: f64,
    /// Maximum difference between the heading of a vehicle and that of its clip, rad.
    pub(super) worst_heading: f64,
}

/// A library that has been loaded, with its name and hash.
pub(super) struct Ready {
    pub(super) name: String,
    pub(super) hash: String,
    pub(super) loaded: Loaded,
}

impl From<&LibraryUse> for MoveTreeRecord {
    fn from(used: &LibraryUse) -> Self {
        let LibraryUse {
            name,
            hash,
            figures,
        } = used;
        Self {
            library: name.clone(),
            hash: hash.clone(),
            plans: figures.plans,
            without_path: figures.without_path,
            moves: figures.moves,
            corrections: figures.corrections,
            worst_distance: figures.worst_distance,
            worst_heading: figures.worst_heading,
        }
    }
}

/// Libraries that have been loaded. They are derived data.
#[derive(Default)]
pub(super) struct Libraries {
    /// Libraries by name or path; `None` for a library that cannot be read.
    ready: BTreeMap<String, Known>,
}

struct Known {
    hash: String,
    ready: Option<Arc<Ready>>,
}

/// Loads a library of a vehicle type.
///
/// # Errors
/// If one of its files is damaged, or the moves were cut from other clips.
pub(super) fn load(library: &MoveLibrary) -> Result<Loaded, MoveFileError> {
    Loaded::from_texts(&library.moves, &library.clips)
}

impl Libraries {
    /// A shipped library; `None` if there is none with this name.
    pub(super) fn shipped(&mut self, name: &str) -> Option<Arc<Ready>> {
        if let Some(known) = self.ready.get(name) {
            return known.ready.clone();
        }
        let loaded = ShippedLibrary::named(name)?.load().ok();
        let hash = loaded.as_ref().map(|loaded| loaded.graph.hash());
        self.keep(name, hash.unwrap_or_default(), loaded)
    }

    /// A library of a vehicle type; `None` if it cannot be read.
    pub(super) fn of_vehicle(&mut self, library: &MoveLibrary) -> Option<Arc<Ready>> {
        let known = self.ready.get(&library.file);
        if let Some(known) = known.filter(|known| known.hash == library.hash) {
            return known.ready.clone();
        }
        let loaded = load(library).ok();
        self.keep(&library.file, library.hash.clone(), loaded)
    }

    fn keep(&mut self, name: &str, hash: String, loaded: Option<Loaded>) -> Option<Arc<Ready>> {
        let ready = loaded.map(|loaded| {
            Arc::new(Ready {
                name: name.to_owned(),
                hash: hash.clone(),
                loaded,
            })
        });
        let known = Known {
            hash,
            ready: ready.clone(),
        };
        self.ready.insert(name.to_owned(), known);
        ready
    }

    /// Calls `accept` with the libraries of an agent, in order of preference, until it accepts one.
    pub(super) fn find<T>(
        &mut self,
        agent: AgentIndex,
        library: MoveTreeLibrary,
        scene: MoveTreeView<'_>,
        mut accept: impl FnMut(&Arc<Ready>) -> Option<T>,
    ) -> Option<T> {
        match library {
            MoveTreeLibrary::Shipped(name) => accept(&self.shipped(name)?),
            MoveTreeLibrary::OfVehicle => {
                let kind = scene.bodies.agents.identity[agent.index()].vehicle_type;
                let mut all = scene.types.move_libraries(kind).iter();
                all.find_map(|library| accept(&self.of_vehicle(library)?))
            }
        }
    }
}
