//! Permission for builds to run, and selection of the plugins to load.

use std::collections::BTreeSet;

/// Builds that may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// All builds may run.
    All,
    /// Builds with these hashes, or with hashes that begin with them (at least 8 digits).
    // Hashes are used instead of paths or ids, because permission is given for particular bytes. A file that
    // replaces another one, or claims to be the same plugin, has no permission.
    Hashes(BTreeSet<String>),
}

impl Trust {
    /// Allows the build with this hash to run.
    pub(super) fn allow(&mut self, hash: &str) {
        if let Self::Hashes(hashes) = self {
            hashes.insert(hash.to_owned());
        }
    }

    /// Whether the build with this hash may run.
    pub fn allows(&self, hash: &str) -> bool {
        match self {
            Self::All => true,
            Self::Hashes(hashes) => hashes
                .iter()
                // Fewer digits would match by chance, and an empty string would match every build.
                .any(|allowed| allowed.len() >= 8 && hash.starts_with(allowed.as_str())),
        }
    }
}

/// The plugins to load. For all other plugins, only the description in the file is read, and none of their
/// code runs, not even in a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Wanted {
    /// All plugins that may run.
    #[default]
    All,
    /// Plugins with these ids. If an id belongs to a script that can choose modules for its agents
    /// (`use_module`), all plugins that may run are loaded. The same applies to any such script
    /// while folders are watched, because an edit could make it choose modules.
    Ids(BTreeSet<String>),
}

impl Wanted {
    pub(super) fn has(&self, id: &str) -> bool {
        match self {
            Self::All => true,
            Self::Ids(ids) => ids.contains(id),
        }
    }
}
