//! Which builds may run, and which of them are loaded.

use std::collections::BTreeSet;

/// Which builds may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// All of them.
    All,
    /// Those with these hashes, or with hashes that begin so (at least 8 digits).
    // Hashes and not paths or ids: permission is for the bytes that somebody has decided about. A
    // file that is replaced, or another one that says it is the same plugin, has none.
    Hashes(BTreeSet<String>),
}

impl Trust {
    /// Allows a build.
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
                // Fewer digits would be met by chance, and an empty text by every build.
                .any(|allowed| allowed.len() >= 8 && hash.starts_with(allowed.as_str())),
        }
    }
}

/// Which plugins are loaded. The others are known by what stands in their files; none of their code
/// runs, not even in a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Wanted {
    /// All that may run.
    #[default]
    All,
    /// Those with these ids. If one of them is a script that can choose modules for its agents
    /// (`use_module`), or could after an edit because folders are watched: all that may run.
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
