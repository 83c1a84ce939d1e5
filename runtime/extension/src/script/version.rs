//! The version of a script that a run uses.

use super::compile::Compiled;
use super::folder::ScriptCell;
use roadwright_agent::{ModuleInfo, ModuleKind, ParameterSet, StepBoundary, Swap};
use std::sync::Arc;

/// The version of a script that a module of a run uses.
pub(super) struct Version {
    pub(super) cell: Arc<ScriptCell>,
    /// Kind of the module. Versions of the script that are of another kind are not used.
    kind: ModuleKind,
    compiled: Option<Arc<Compiled>>,
    seen: u64,
    is_disabled: bool,
}

impl Version {
    pub(super) fn new(cell: Arc<ScriptCell>, kind: ModuleKind) -> Self {
        let seen = cell.version();
        let (compiled, is_disabled) = cell.current();
        Self {
            cell,
            kind,
            compiled,
            seen,
            is_disabled,
        }
    }

    /// Returns the script; `None` if it is disabled or has become a script of another kind.
    pub(super) fn active(&self) -> Option<&Arc<Compiled>> {
        let compiled = self.compiled.as_ref();
        compiled.filter(|compiled| !self.is_disabled && compiled.kind == self.kind)
    }

    /// Returns the name of the build, as used in records.
    pub(super) fn name(&self) -> String {
        let active = self.active();
        active.map_or(String::new(), |c| format!("{} script", &c.hash[..8]))
    }

    /// Adopts the newest version if it differs. Parameters whose values differ from their old defaults keep
    /// these values. Returns a report of the change; `None` if nothing has changed.
    pub(super) fn take_newest(
        &mut self,
        parameters: &mut ParameterSet,
        moment: &StepBoundary<'_>,
    ) -> Option<Swap> {
        if self.cell.version() == self.seen {
            return None;
        }
        // The number is read first. If a version arrives in between, the next boundary checks again and finds
        // nothing new.
        self.seen = self.cell.version();
        let (compiled, is_disabled) = self.cell.current();
        let hash = |c: &Option<Arc<Compiled>>| c.as_ref().map_or(String::new(), |c| c.hash.clone());
        let (from, to) = (hash(&self.compiled), hash(&compiled));
        // The number also changes if a text does not compile. The previous version then keeps running.
        if from == to && self.is_disabled == is_disabled {
            return None;
        }
        (self.compiled, self.is_disabled) = (compiled, is_disabled);
        if let Some(active) = self.active() {
            let old = std::mem::replace(parameters, ParameterSet::new(active.parameters));
            for info in old.infos() {
                // If the value was the old default, it becomes the new default. The same applies to values
                // that are now out of range.
                if let Some(value) = old.get(info.key).filter(|v| *v != info.default) {
                    let _ = parameters.set(info.key, value);
                }
            }
        }
        let (id, step) = (self.cell.id, moment.step);
        Some(Swap {
            info: ModuleInfo {
                id,
                name: id,
                doc: self.compiled.as_ref().map_or("", |c| c.doc),
            },
            from,
            to,
            note: if self.is_disabled {
                format!("{id} was disabled at step {step}")
            } else {
                format!("{id} active at step {step} (memory kept)")
            },
        })
    }
}

/// Returns the parameters of a script with their values.
pub(super) fn values(parameters: &ParameterSet) -> Vec<(&'static str, f64)> {
    let infos = parameters.infos().iter().enumerate();
    infos
        .map(|(at, info)| (info.key, parameters.at(at)))
        .collect()
}
