//! Modules that come from outside: compiled plugins and Rhai scripts, swapped while agents drive.
//!
//! A plugin's file is looked at without running it, tried in a child process, copied to a path of
//! its own and loaded for ever; a newer build takes over between two steps, with parameters and
//! state. A script is compiled and tried out; its agents' memory belongs to the host and survives.
//! Where a module does not answer, or not sensibly, the built-in one does.
//!
//! Results of a run never depend on the clock; it is read to time modules, to notice those that
//! hang and to wait for files that are being written.

pub mod author;
mod build;
mod catalogue;
mod event;
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

pub use catalogue::{FileRow, FileState, Lamp, MANY_GENERATIONS, ModuleRow, Trust, Wanted};
pub use event::{Event, Level};
pub use hangup::with_hangup_kept;
pub use helper::{Checked, ReportLine, answer_parent, ask_child, check_plugin, helper};
pub use host::{CallWatch, Hang, Host, HostOptions, ISOLATED_MEMORY};
pub(crate) use native::native_now;
pub use native::{InspectError, Inspected, PluginInfo, inspect, inspect_bytes};
