//! Behaviours written as Rhai scripts, which are compiled, limited, documented and reloaded.

mod agent;
mod api;
mod branches;
mod budget;
mod check;
mod compile;
mod copies;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod costly;
mod faults;
mod folder;
mod logic;
mod members;
mod missing;
mod rehearsal;
mod signal;
mod signal_logic;
mod steps;
mod tokens;
mod version;
mod warnings;

pub use api::{ApiItem, ApiKind, api, api_markdown};
pub use compile::{Compiled, LONGEST_SCRIPT, ScriptError, compile};
pub use faults::faults;
pub use folder::{SCRIPT_ENDING, ScriptRow, Scripts, shipped, with_shipped};
pub use rehearsal::{Rehearsal, Subject, rehearse};
pub use steps::{ScriptStep, Steps, step_through};
pub use warnings::{ScenarioNames, Surroundings, warnings};
