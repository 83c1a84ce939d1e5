//! The modules available on this machine: built-ins, plugins, and scripts with their source.

use roadwright_agent::{ModuleKind, Registry};
use roadwright_extension::script::{self, SCRIPT_ENDING};
use roadwright_extension::{FileState, Host};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Maximum depth of scripts below their folder. It is the same as for scripts in a run.
const DEPTH: usize = 4;
/// Maximum size of a script in bytes. Runs accept only smaller scripts.
const LARGEST_SCRIPT: u64 = roadwright_files::MEBIBYTE;
/// Maximum number of entries that are visited in a script folder.
const MOST_ENTRIES: usize = 10_000;

/// Modules available to scenarios.
#[derive(Debug, Clone, Default)]
pub struct Available {
    /// Ids of the built-in modules.
    pub(crate) builtin: BTreeSet<String>,
    /// Version and hash of each plugin, by id.
    pub(crate) plugins: BTreeMap<String, (String, String)>,
    /// Source of each script by id, including libraries that are only imported.
    pub(crate) scripts: BTreeMap<String, String>,
}

impl Available {
    /// Collects the built-in modules, the plugins of a host, the shipped scripts, and the scripts in folders.
    /// If a script exists in several folders, the first one is used.
    pub fn new(builtin: &Registry, host: &Host, folders: &[PathBuf]) -> Self {
        let mut available = Self {
            builtin: ids(builtin),
            ..Self::default()
        };
        for file in host.files() {
            // Another file with the same id takes precedence and is used instead.
            if matches!(file.state, FileState::Shadowed(_)) {
                continue;
            }
            if let Some(info) = file.info {
                available.plugins.insert(info.id, (info.version, file.hash));
            }
        }
        for folder in folders {
            available.add_scripts(folder, "", DEPTH);
        }
        for (id, text) in script::shipped() {
            available.add_script((*id).to_owned(), || Some((*text).to_owned()));
        }
        available
    }

    fn add_script(&mut self, id: String, text: impl FnOnce() -> Option<String>) {
        if !self.scripts.contains_key(&id)
            && let Some(text) = text()
        {
            self.scripts.insert(id, text);
        }
    }

    /// Adds the scripts of a folder. Links are not followed, because their targets may be private.
    fn add_scripts(&mut self, folder: &Path, above: &str, depth: usize) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.take(MOST_ENTRIES) {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
                continue;
            };
            let path = entry.path();
            let id = format!("{above}{name}");
            if kind.is_dir() && depth > 1 {
                self.add_scripts(&path, &format!("{id}/"), depth - 1);
            } else if kind.is_file() && path.extension().is_some_and(|e| e == SCRIPT_ENDING) {
                self.add_script(id, || {
                    roadwright_files::read_text(&path, LARGEST_SCRIPT).ok()
                });
            }
        }
    }

    /// Adds the scripts to which the given ones refer, either by `import` or by a name in quotes
    /// (for example to choose modules).
    pub(crate) fn with_imports(&self, wanted: BTreeSet<String>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open: Vec<String> = wanted.into_iter().collect();
        while let Some(id) = open.pop() {
            let Some(text) = self.scripts.get(&id) else {
                continue;
            };
            if !found.insert(id) {
                continue;
            }
            // It is better to include too many scripts than too few. A word in quotes may mean
            // something else, but an unneeded file does no harm.
            let named = self.scripts.keys().filter(|other| names(text, other));
            open.extend(named.cloned());
        }
        found
    }
}

fn ids(registry: &Registry) -> BTreeSet<String> {
    let kinds = ModuleKind::ALL.into_iter();
    let infos = kinds.flat_map(|kind| registry.infos(kind));
    infos.map(|(info, _)| info.id.to_owned()).collect()
}

/// Whether a text contains the name of a script in quotes, with or without its extension.
fn names(text: &str, id: &str) -> bool {
    let stem = id
        .strip_suffix(SCRIPT_ENDING)
        .and_then(|s| s.strip_suffix('.'));
    text.contains(&format!("\"{id}\""))
        || stem.is_some_and(|stem| text.contains(&format!("\"{stem}\"")))
}
