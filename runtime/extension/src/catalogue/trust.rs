//! Permission of builds to run, and the choice of builds to load.

use std::collections::BTreeSet;

/// Builds that may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// All of them.
    All,
    /// Builds with these hashes, or with hashes that begin with them (at least 8 digits).
    // Hashes instead of paths or ids, because permission is given for particular bytes. A replaced file, or
    // another file that claims to be the same plugin, has none.
    Hashes(BTreeSet<String>),
}

impl Trust {
    /// Allows a build to run.
    pub(super) fn allow(&mut self, hash: &str) {
        if let Self::Hashes(hashes) = self {
            hashes.insert(hash.to_owned());
        }
    }

    /// Whether a build may run.
    pub fn allows(&self, hash: &str) -> bool {
        match self {
            Self::All => true,
            Self::Hashes(hashes) => hashes
                .iter()
                // Fewer digits would match by chance, and an empty string every build.
                .any(|allowed| allowed.len() >= 8 && hash.starts_with(allowed.as_str())),
        }
    }
}

/// Plugins to load. Of the others only the description in their files is known; none of their code runs, not
/// even in a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Wanted {
    /// All plugins that may run.
    #[default]
    All,
    /// Plugins with these ids. If one of the ids is a script that can choose modules for its agents
    /// (`use_module`), or could after an edit because folders are watched, all plugins that may run are
    /// loaded.
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
