//! External modules that a scenario uses, and those among them that are not available.

use crate::available::Available;
use crate::manifest::{FileHash, Need, NeedKind};
use roadwright_extension::script::SCRIPT_ENDING;
use roadwright_scenario::Scenario;
use std::fmt;

/// A module that a scenario uses and that is not available in the same build as when the bundle was
/// created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// The required module.
    pub need: Need,
    /// Hash of a different available build with the same id, if there is one.
    pub other: Option<String>,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Need {
            kind,
            id,
            version,
            hash,
        } = &self.need;
        let kind = kind.name();
        let version = if version.is_empty() {
            String::new()
        } else {
            format!(" {version}")
        };
        let hash = if hash.is_empty() { "unknown" } else { hash };
        match &self.other {
            None => write!(
                f,
                "{kind} {id}{version} is not available here (hash {hash})"
            ),
            Some(other) => write!(
                f,
                "{kind} {id}{version} was bundled with hash {hash}, but the build here has hash {other}"
            ),
        }
    }
}

/// Returns the modules that a scenario uses and that are not built in, with the versions and hashes
/// of the available builds.
pub(crate) fn needs(scenario: &Scenario, available: &Available) -> Vec<Need> {
    let ids = scenario.modules().into_iter();
    let ids = ids.filter(|id| !available.builtin.contains(id));
    ids.map(|id| need(id, available)).collect()
}

fn need(id: String, available: &Available) -> Need {
    if is_script(&id) {
        let text = available.scripts.get(&id);
        let hash = text.map_or_else(String::new, |text| FileHash::of(text.as_bytes()).blake3);
        return Need {
            kind: NeedKind::Script,
            id,
            version: String::new(),
            hash,
        };
    }
    let (version, hash) = available.plugins.get(&id).cloned().unwrap_or_default();
    Need {
        kind: NeedKind::Plugin,
        id,
        version,
        hash,
    }
}

fn is_script(id: &str) -> bool {
    id.strip_suffix(SCRIPT_ENDING)
        .is_some_and(|stem| stem.ends_with('.'))
}

/// Returns the modules that are not available. `in_bundle` lists the scripts that the bundle contains.
pub(crate) fn lacks(
    needs: &[Need],
    available: &Available,
    in_bundle: impl Fn(&str) -> bool,
) -> Vec<Lack> {
    let lack = |need: &Need| {
        if available.builtin.contains(&need.id) || in_bundle(&need.id) {
            return None;
        }
        let here = match need.kind {
            NeedKind::Script => {
                let text = available.scripts.get(&need.id);
                text.map(|text| FileHash::of(text.as_bytes()).blake3)
            }
            NeedKind::Plugin => available
                .plugins
                .get(&need.id)
                .map(|(_, hash)| hash.clone()),
        };
        let is_same = here.as_ref().is_some_and(|hash| *hash == need.hash);
        // The module was not available when the bundle was created, so any build is accepted.
        let is_any = here.is_some() && need.hash.is_empty();
        (!is_same && !is_any).then(|| Lack {
            need: need.clone(),
            other: here,
        })
    };
    needs.iter().filter_map(lack).collect()
}
