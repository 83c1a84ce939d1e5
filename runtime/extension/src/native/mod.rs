//! Compiled plugins. In the order of use, `inspect` reads a file without running it, `probe` tests it in a
//! child process, `library` loads a copy permanently, `in_process` and `isolated` answer batches, and `logic`
//! is the module of a run, which checks every row, falls back, restarts and adopts newer builds.
//!
//! - Runs share a `Cell` for each module and compare a number in each step to detect a new build.
//! - Rows are not filled with the built-in answer before a plugin is called, unless the plugin requests this.
//!   The built-in module replaces missing and invalid rows afterwards, which normally costs nothing.
//! - A batch is split at fixed places (after 64 rows if steps may run in parallel, otherwise 1,024), so that
//!   a fault affects the same rows with any number of threads.
//! - A build is loaded once and never unloaded; a build that has faulted is loaded again.
//! - A new feature of the binary interface is a named extension. A new kind of plugin, fields at the end of a
//!   row and new capabilities raise the minor version, which plugins may require (`min_host_minor`).
//! - A plugin gets the rows of the version for which it was built (`kind::InputRows`), and capabilities of a
//!   later version that it declares are ignored.

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
mod views;

pub(crate) use cell::{Generation, LibraryPool, PluginEntry, now as native_now};
pub use inspect::{InspectError, Inspected, PluginInfo, inspect, inspect_bytes};
pub(crate) use kind::{AsController, AsFitness, AsGroundPlanner, AsPlanner, AsSignals, Kind};
pub(crate) use logic::Native;
#[cfg(unix)]
pub(crate) use serve::serve;

use backend::Fault;
use roadwright_agent::ParameterInfo;

/// Returns the parameters of a build, as reported by an instance of it.
pub(crate) fn parameters_of(
    cell: &PluginEntry,
    generation: &Generation,
    is_isolated: bool,
) -> Result<&'static [ParameterInfo], Fault> {
    let _call = cell.enter(generation, is_isolated);
    let backend = logic::make_backend(cell, generation, cell.kind, is_isolated)?;
    Ok(backend.parameters())
}
