//! What the host tells of files and modules, for people.

use crate::native::PluginInfo;
use roadwright_agent::ParameterInfo;
use serde::Serialize;
use std::path::PathBuf;

/// What became of a file in a folder of plugins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// It is being written.
    Settling,
    /// Its build is active.
    Active,
    /// Nothing that runs asks for it: it is not loaded.
    Idle,
    /// Its build may not run before somebody allows it.
    NeedsPermission,
    /// Another file has a module of the same id and comes first.
    Shadowed(PathBuf),
    /// It cannot be used, for this reason.
    Rejected(String),
    /// The file has gone; its build goes on until it is stopped.
    Orphaned,
}

/// A file in a folder of plugins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileRow {
    /// Where it is.
    pub path: PathBuf,
    /// What became of it.
    pub state: FileState,
    /// What it says about itself, if that could be read.
    pub info: Option<PluginInfo>,
    /// Hash of its content.
    pub hash: String,
}

/// How a module does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Well.
    Good,
    /// It could be better: faults, slow, an orphan.
    Uneasy,
    /// The built-in module stands in for it.
    Faulted,
    /// Switched off, or not allowed.
    Off,
}

/// A row of the table of modules.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModuleRow {
    /// How it does.
    pub lamp: Health,
    /// Stable id.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// What it does.
    pub doc: String,
    /// Version.
    pub version: String,
    /// Name of its kind.
    pub kind: &'static str,
    /// Language.
    pub language: String,
    /// `built-in`, `native`, `isolated` or `script`.
    pub tier: &'static str,
    /// The file that it comes from.
    pub path: Option<PathBuf>,
    /// Hash of its build.
    pub hash: String,
    /// Builds of it that have been active in this process.
    pub generation: u32,
    /// Mean time of a call for each agent, us.
    pub mean_us: f64,
    /// 99th percentile of the same, us.
    pub p99_us: f64,
    /// Mean time of a whole call, us, whatever the number of its agents.
    pub call_us: f64,
    /// Calls so far.
    pub calls: u64,
    /// Faults so far.
    pub faults: u64,
    /// Agents for which the built-in module answered in the last call.
    pub fallback_agents: u64,
    /// The last error.
    pub last_error: Option<String>,
    /// Whether it may run.
    pub needs_permission: bool,
    /// Whether there is a build to roll back to.
    pub can_roll_back: bool,
    /// Whether it is switched off.
    pub is_disabled: bool,
    /// What its parameters are.
    #[serde(skip)]
    pub parameters: &'static [ParameterInfo],
    /// What it has logged last.
    pub log: Vec<String>,
}
