//! What a scenario uses that comes from outside, and what of it is not at hand.

use crate::available::Available;
use crate::manifest::{FileHash, Need, NeedKind};
use roadwright_extension::script::SCRIPT_ENDING;
use roadwright_scenario::Scenario;
use std::fmt;

/// A module that a scenario uses and that is not at hand as it was when the bundle was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// What is used.
    pub need: Need,
    /// The hash of another build that is at hand under the same id, if one is.
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
            None => write!(f, "{kind} {id}{version} is not here (hash {hash})"),
            Some(other) => write!(
                f,
                "{kind} {id}{version} was made with hash {hash}; the one here has {other}"
            ),
        }
    }
}

/// What a scenario uses that is not built in, with versions and hashes of what is at hand.
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

/// What of some needs is not at hand, where the bundle itself has the scripts of `in_bundle`.
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
        // It was not there when the bundle was made: no build of it is the wrong one.
        let is_any = here.is_some() && need.hash.is_empty();
        (!is_same && !is_any).then(|| Lack {
            need: need.clone(),
            other: here,
        })
    };
    needs.iter().filter_map(lack).collect()
}
