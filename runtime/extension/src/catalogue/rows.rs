//! Rows of the tables of files and modules that users see.

use crate::native::PluginInfo;
use roadwright_agent::ParameterInfo;
use serde::Serialize;
use std::path::PathBuf;

/// State of a file in a plugin folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// The file is still being written.
    Settling,
    /// The build is active.
    Active,
    /// No run needs the build, so it is not loaded.
    Idle,
    /// The build may not run until the user allows it.
    NeedsPermission,
    /// Another file provides a module with the same id and takes precedence.
    Shadowed(PathBuf),
    /// The file cannot be used; the text is the reason.
    Rejected(String),
    /// The file no longer exists, but its build keeps running until it is stopped.
    Orphaned,
}

/// A file in a plugin folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileRow {
    /// Path of the file.
    pub path: PathBuf,
    /// State of the file.
    pub state: FileState,
    /// Description of the plugin, if it could be read.
    pub info: Option<PluginInfo>,
    /// Hash of the contents.
    pub hash: String,
}

/// Health of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// The module works.
    Good,
    /// The module works, but with problems such as faults, slowness, or a missing file.
    Uneasy,
    /// The module has faulted, so the built-in module answers instead.
    Faulted,
    /// The module is disabled or not allowed to run.
    Off,
}

/// A row of the module table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModuleRow {
    /// Health of the module, shown as a lamp.
    pub lamp: Health,
    /// Stable id.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Description of the module.
    pub doc: String,
    /// Version of the module.
    pub version: String,
    /// Name of the kind.
    pub kind: &'static str,
    /// Programming language.
    pub language: String,
    /// `built-in`, `native`, `isolated` or `script`.
    pub tier: &'static str,
    /// File that provides the module.
    pub path: Option<PathBuf>,
    /// Hash of the build.
    pub hash: String,
    /// Number of the active build among all builds that were active in this process, from 1; 0 if none is
    /// active.
    pub generation: u32,
    /// Mean time per agent, us.
    pub mean_us: f64,
    /// 99th percentile of the time per agent, us.
    pub p99_us: f64,
    /// Mean time per call for any number of agents, us.
    pub call_us: f64,
    /// Number of calls so far.
    pub calls: u64,
    /// Number of faults so far.
    pub faults: u64,
    /// Number of agents whose answer came from the built-in module in the last call.
    pub fallback_agents: u64,
    /// Message of the last error; `None` if there was none.
    pub last_error: Option<String>,
    /// Whether the module needs permission to run.
    pub needs_permission: bool,
    /// Whether there is an earlier build to roll back to.
    pub can_roll_back: bool,
    /// Whether the module is disabled.
    pub is_disabled: bool,
    /// Descriptions of the parameters.
    #[serde(skip)]
    pub parameters: &'static [ParameterInfo],
    /// Latest log lines.
    pub log: Vec<String>,
}
