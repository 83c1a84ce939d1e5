//! External modules: compiled plugins and Rhai scripts. They can be replaced while agents drive.
//!
//! A [`Host`] watches folders and offers their modules in a registry, together with the built-in modules. If
//! an external module does not answer, or gives an invalid answer, the built-in module answers instead.
//!
//! ```
//! use roadwright_extension::{Host, HostOptions, ISOLATED_MEMORY, Trust, Wanted, script};
//!
//! let folder = tempfile::tempdir()?;
//! let text = "// Keeps calm.\nfn behave(agent) { agent.speed_factor = 0.9; }";
//! std::fs::write(folder.path().join("calm.rhai"), text)?;
//! let host = Host::open(HostOptions {
//!     plugins: Vec::new(),
//!     scripts: vec![folder.path().to_owned()],
//!     cache: folder.path().join("cache"),
//!     helper: Vec::new(),
//!     trust: Trust::Hashes(Default::default()),
//!     wanted: Wanted::All,
//!     isolated: Default::default(),
//!     isolated_memory: ISOLATED_MEMORY,
//!     watch: false,
//!     builtin: roadwright_simulation::builtin_modules(),
//! });
//! assert!(host.modules().iter().any(|row| row.id == "calm.rhai"));
//!
//! let Err(mistake) = script::compile("x.rhai", "fn behave(agent) { agent.sped }", None) else {
//!     panic!("`sped` is no property");
//! };
//! assert!(mistake.to_string().contains("did you mean \"speed\"?"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Parts
//!
//! - `catalogue`: files, from the first change to a build that may run.
//! - `native`: compiled plugins. Inspected without running, tested in a child process, copied, loaded
//!   permanently, called in batches, replaced between two steps.
//! - [`script`]: Rhai scripts. Compiled, rehearsed, limited by counting operations.
//! - [`author`]: projects for plugins and scripts, and building them.
//! - `helper`, `patience`: entry points of child processes, and waiting for them up to a time limit.
//! - `quarantine`: builds that caused harm and are not loaded again.
//!
//! # Terms
//!
//! - **Build**: the bytes of a library, named by their hash. A **generation** is a build that has
//!   been loaded by a host.
//! - **Settling**: a changed file is not read until it has stopped changing.
//! - **Trust**: which builds may run, by hash.
//! - **Trial**: before loading, a child process calls a build once. After loading, a build is on trial for
//!   its first batches, and quarantined if the program dies meanwhile.
//! - **Cell**: the state of a module that all runs share. It contains the **wish**: the build to use.
//! - **Fallback**: the built-in module, which answers the rows that the plugin does not answer.
//!
//! Results of a run never depend on the clock. It is read only to measure modules, to detect hangs, and to
//! wait for files that are being written.

pub mod author;
mod build;
mod catalogue;
mod event;
mod failures;
mod hangup;
mod helper;
mod host;
mod lock;
mod native;
mod patience;
mod quarantine;
pub mod script;
mod times;
mod watch;

pub use catalogue::{FileRow, FileState, Health, MANY_GENERATIONS, ModuleRow, Trust, Wanted};
pub use event::{Event, Level};
pub use hangup::with_hangup_kept;
pub use helper::{Checked, ReportLine, answer_parent, ask_child, check_plugin, helper};
pub use host::{CallWatch, Hang, Host, HostOptions, ISOLATED_MEMORY};
pub(crate) use native::native_now;
pub use native::{InspectError, Inspected, PluginInfo, inspect, inspect_bytes};
