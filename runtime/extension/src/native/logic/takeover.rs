//! Replacement of the active instance at a step boundary, after a fault or when the cell requests another
//! build.

use super::{Kind, Native, build_name};
use crate::event::Level;
use crate::native::backend::Fault;
use roadwright_agent::{ParameterInfo, ParameterSet, StepBoundary, Swap};

/// Number of restarts of a faulted instance within a period before its build is quarantined.
const MOST_RESTARTS: usize = 3;
/// Length of the period for [`MOST_RESTARTS`], s of simulation time.
const RESTART_TIME: f64 = 60.0;

impl<K: Kind> Native<K> {
    /// Recovers from a fault. Starts a fresh instance with the last saved state, or withdraws the build after
    /// too many restarts. Returns a report of the change. The caller sends the parameters to the fresh
    /// instance.
    pub(super) fn recover(&mut self, fault: &Fault, moment: &StepBoundary<'_>) -> Option<Swap> {
        let active = self.active.take()?;
        let agents = self.present.iter().filter(|present| **present).count();
        let time = moment.time;
        // Measured in simulation time, because the speed of the machine must not determine which build
        // drives.
        self.restarts.retain(|at| time - at < RESTART_TIME);
        let (generation, is_isolated) = (active.generation.clone(), active.is_isolated);
        // Dropped before the next one starts, so that an isolated child is killed and its memory is free.
        drop(active);
        if self.restarts.len() < MOST_RESTARTS {
            self.restarts.push(time);
            let count = self.restarts.len();
            self.cell.state().restarts += 1;
            match self.start(generation.clone(), is_isolated) {
                Ok(mut active) => {
                    let state = self.snapshot.clone();
                    let kept = state.is_some_and(|state| active.backend.load(&state).is_ok());
                    active.ask_again(&self.cell);
                    self.active = Some(active);
                    let kept = if kept { "state kept" } else { "started fresh" };
                    let note = format!(
                        "{}; fallback used for {agents} agents; restart {count} of {MOST_RESTARTS} ({kept})",
                        fault.message
                    );
                    self.cell.note_fault(&note);
                    return Some(self.swap(&generation.hash, note));
                }
                // An instance that cannot be restarted is withdrawn immediately, even if restarts are left.
                Err(again) => {
                    self.cell.note_fault(&again.message);
                    self.leave(&generation, is_isolated, &again);
                }
            }
        }
        let why = format!(
            "{}; taken out of service after {} restarts",
            fault.message,
            self.restarts.len()
        );
        self.leave(&generation, is_isolated, fault);
        self.cell.quarantine.end_trial(&generation.hash);
        // After the withdrawal, the cell's wish is the build that takes over.
        self.cell.withdraw(&generation.hash, &why);
        self.restarts.clear();
        self.snapshot = None;
        let note = format!("{why}; {} drives", self.fallback.info.id);
        self.cell.say(Level::Error, &note);
        Some(self.swap(&generation.hash, note))
    }

    /// Replaces parameters with the parameters of the active instance. Returns the keys that only
    /// one of the two sets contains.
    fn take_parameters(&mut self, parameters: &mut ParameterSet) -> Vec<String> {
        let Some(active) = &self.active else {
            return Vec::new();
        };
        let infos = active.backend.parameters();
        let mut taken = ParameterSet::new(infos);
        let mut strange = Vec::new();
        for (index, old) in parameters.infos().iter().enumerate() {
            if let Some(change) = shape_change(old, infos) {
                strange.extend(change);
                continue;
            }
            match infos.iter().find(|info| info.key == old.key) {
                Some(info) => {
                    let value = parameters.at(index).clamp(info.min, info.max);
                    // If the value was the old default it becomes the new default. A clamped value of a known
                    // key is always adopted.
                    if parameters.at(index) != old.default {
                        let _ = taken.set(info.key, value);
                    }
                }
                None => strange.push(format!("{} was removed", old.key)),
            }
        }
        // A table is new if its key is, whatever its shape.
        let name = |info: &ParameterInfo| info.cell.map_or(info.key, |cell| cell.table.key);
        let is_new = |info: &&ParameterInfo| {
            let is_first = info.cell.is_none_or(|cell| cell.is_first());
            is_first && parameters.infos().iter().all(|old| name(old) != name(info))
        };
        let new = infos.iter().filter(is_new);
        strange.extend(new.map(|info| format!("{} is new", name(info))));
        *parameters = taken;
        strange
    }

    /// Switches to the build wanted by the cell. Returns a report of the change; `None` if the active
    /// instance stays.
    pub(super) fn follow_wish(
        &mut self,
        parameters: &mut ParameterSet,
        moment: &StepBoundary<'_>,
    ) -> Option<Swap> {
        self.seen = self.cell.version();
        let wish = self.cell.wish();
        let old_hash = self.active_hash();
        let Some(generation) = wish.generation else {
            let old = self.active.take()?;
            self.last_build = build_name(&old.generation, old.is_isolated);
            self.out_because.clear();
            self.cell.quarantine.end_trial(&old.generation.hash);
            let note = format!("{} drives", self.fallback.info.id);
            return Some(self.swap(&old_hash, note));
        };
        // The old instance is kept until the new one works, so that a build that does not start changes
        // nothing.
        let state = self.active.as_ref().and_then(|a| a.backend.save());
        let mut new = match self.start(generation.clone(), wish.is_isolated) {
            Ok(new) => new,
            Err(fault) => {
                let why = format!(
                    "{} was rejected: {}",
                    generation.info.version, fault.message
                );
                self.cell.say(Level::Error, &why);
                // A child that cannot be started does not count against the build.
                if !wish.is_isolated {
                    self.cell.withdraw(&generation.hash, &why);
                }
                // The previous instance continues, as the cell wishes after a withdrawal.
                self.seen = self.cell.version();
                return None;
            }
        };
        let kept = match &state {
            None => "no state to keep".to_owned(),
            Some(state) => match new.backend.load(state) {
                Ok(()) => "state kept".to_owned(),
                Err(why) => {
                    let agents = self.present.iter().filter(|present| **present).count();
                    format!("{why}: started fresh for {agents} agents")
                }
            },
        };
        new.ask_again(&self.cell);
        self.snapshot = state;
        // If the same build is restarted in this process, it keeps its mark.
        if old_hash != generation.hash || wish.is_isolated {
            self.cell.quarantine.end_trial(&old_hash);
        }
        self.active = Some(new);
        // The new instance starts without the earlier faults.
        self.restarts.clear();
        let strange = self.take_parameters(parameters);
        let mut note = format!(
            "{} {} active at step {} ({kept}, {} parameters)",
            generation.info.name,
            generation.info.version,
            moment.step,
            parameters.infos().len()
        );
        if !strange.is_empty() {
            note += &format!("; {}", strange.join(", "));
        }
        self.cell.say(Level::Info, &note);
        Some(self.swap(&old_hash, note))
    }

    fn swap(&self, from: &str, note: String) -> Swap {
        Swap {
            info: self
                .active
                .as_ref()
                .map_or(self.fallback.info, |active| active.generation.module),
            from: from.to_owned(),
            to: self.active_hash(),
            note,
        }
    }

    /// Sends the instance the parameters that have changed.
    pub(super) fn send_parameters(&mut self, parameters: &mut ParameterSet) {
        let Some(active) = &self.active else {
            return;
        };
        // Another build may have been loaded between choosing the module and creating it. Lists are interned,
        // so the same address means the same parameters.
        if !std::ptr::eq(parameters.infos(), active.backend.parameters()) {
            self.take_parameters(parameters);
        }
        let Some(active) = &mut self.active else {
            return;
        };
        let _call = self.cell.enter(&active.generation, active.is_isolated);
        let mut changed = false;
        let (infos, count) = (parameters.infos(), active.sent.len());
        let mut index = 0;
        while index < count.min(infos.len()) {
            // A table is sent as a whole.
            let own = index..(index + infos[index].span()).min(count);
            let values = &parameters.values()[own.clone()];
            if active.sent[own.clone()] != *values {
                active.sent[own.clone()].copy_from_slice(values);
                changed = true;
                if let Err(fault) = active.backend.set_parameter(index, values) {
                    self.cell.note_fault(&fault.message);
                }
            }
            index = own.end;
        }
        if changed {
            active.ask_again(&self.cell);
        }
    }
}

/// Describes the change if the new build has removed or reshaped the table of the cell `old`. Returns `None`
/// if it has not, or if `old` is not a cell. Returns `Some(None)` for every cell except the first, so that
/// each table is reported once.
fn shape_change(old: &ParameterInfo, new: &[ParameterInfo]) -> Option<Option<String>> {
    let cell = old.cell?;
    let same = |info: &&ParameterInfo| info.cell.is_some_and(|c| c.table.key == cell.table.key);
    let (key, had) = (cell.table.key, cell.table.shape());
    let told = match new.iter().find(same).and_then(|info| info.cell) {
        Some(new) if new.table.shape() == had => return None,
        Some(new) => format!(
            "the shape of {key} has changed from {had} to {}, so it starts from its defaults",
            new.table.shape()
        ),
        None => format!("{key} was removed"),
    };
    Some(cell.is_first().then_some(told))
}
