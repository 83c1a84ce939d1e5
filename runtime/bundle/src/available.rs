//! What is at hand on this machine: modules that are built in, plugins, and scripts with their texts.

use roadwright_agent::{ModuleKind, Registry};
use roadwright_extension::script::{self, SCRIPT_ENDING};
use roadwright_extension::{FileState, Host};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Scripts may lie this deep in their folder, as for those that run.
const DEPTH: usize = 4;
/// Largest script that is read, bytes: more than any that runs.
const LARGEST_SCRIPT: u64 = roadwright_files::MEBIBYTE;
/// Most entries that are looked at in a folder of scripts.
const MOST_ENTRIES: usize = 10_000;

/// What is at hand for scenarios.
#[derive(Debug, Clone, Default)]
pub struct Available {
    /// Ids of the modules that are built in.
    pub(crate) builtin: BTreeSet<String>,
    /// Plugins by id: version and hash.
    pub(crate) plugins: BTreeMap<String, (String, String)>,
    /// Texts of scripts by id, libraries that only others import included.
    pub(crate) scripts: BTreeMap<String, String>,
}

impl Available {
    /// What is built in, the plugins of a host, and the scripts of folders, of which the first that
    /// has one counts, and those that ship.
    pub fn new(builtin: &Registry, host: &Host, folders: &[PathBuf]) -> Self {
        let mut available = Self {
            builtin: ids(builtin),
            ..Self::default()
        };
        for file in host.files() {
            // Another file of this id comes first, and runs.
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

    /// Adds the scripts of a folder; links are not followed, since what they lead to may be private.
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

    /// The scripts that some of them lead to: by `import`, or by a name in quotes, which is how
    /// scripts choose modules.
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
            // Rather too many: a word in quotes may mean something else, which costs a file and
            // breaks nothing.
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

/// Whether a text has the name of a script in quotes, with its ending or without.
fn names(text: &str, id: &str) -> bool {
    let stem = id
        .strip_suffix(SCRIPT_ENDING)
        .and_then(|s| s.strip_suffix('.'));
    text.contains(&format!("\"{id}\""))
        || stem.is_some_and(|stem| text.contains(&format!("\"{stem}\"")))
}
