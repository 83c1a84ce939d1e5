//! Compiled plugins: looked at, tried in a child process, copied, loaded, asked, replaced.

pub(crate) mod backend;
mod calls;
mod cell;
pub(crate) mod ends;
pub(crate) mod examine;
mod floating_point;
mod in_process;
pub(crate) mod inspect;
#[cfg(unix)]
mod isolated;
mod kind;
pub(crate) mod last_words;
pub(crate) mod library;
#[cfg(unix)]
pub(crate) mod limits;
mod logic;
pub(crate) mod probe;
mod roads;
#[cfg(unix)]
mod serve;

pub(crate) use cell::{Generation, LibraryPool, PluginEntry, now as native_now};
pub use inspect::{InspectError, Inspected, PluginInfo, inspect, inspect_bytes};
pub(crate) use kind::{AsController, AsFitness, AsPlanner, AsSignals, Kind};
pub(crate) use logic::Native;
#[cfg(unix)]
pub(crate) use serve::serve;

use backend::Fault;
use roadwright_agent::ParameterInfo;

/// What parameters a build has: asks an instance of it.
pub(crate) fn parameters_of(
    cell: &PluginEntry,
    generation: &Generation,
    is_isolated: bool,
) -> Result<&'static [ParameterInfo], Fault> {
    let _call = cell.enter(generation, is_isolated);
    let backend = logic::make_backend(cell, generation, cell.kind, is_isolated)?;
    Ok(backend.parameters())
}
