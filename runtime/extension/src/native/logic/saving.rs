//! Saves and restores a module together with its world.

use super::{Health, Native};
use crate::lock::locked;
use crate::native::backend::State;
use crate::native::kind::Kind;
use roadwright_agent::{Logic, LogicState};
use roadwright_plugin_api::abi::CAP_STATELESS;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Saved state of a module: the states of the plugin and of the host.
#[derive(serde::Serialize, serde::Deserialize)]
struct Kept {
    own: Option<(u32, Vec<u8>)>,
    keeps: bool,
    previous: Vec<u8>,
    snapshot: Option<(u32, Vec<u8>)>,
    snapshot_at: f64,
    restarts: Vec<f64>,
    trial: u32,
    bad_steps: u32,
    flaw: String,
    /// Number of rows in the last step. It is evaluated at the next step boundary, with `bad_rows`.
    rows: u64,
    bad_rows: u64,
    mode_changed: bool,
}

impl<K: Kind> Native<K> {
    pub(super) fn keep(&self) -> LogicState {
        let Some(active) = &self.active else {
            return self.fallback.logic.save_state();
        };
        let own = active.backend.save();
        // The plugin neither provides its state nor declares that it has none, so a run from this save might
        // be wrong.
        if own.is_none() && !active.generation.info.has(CAP_STATELESS) {
            return LogicState::Unknown;
        }
        let health = locked(&self.health);
        if health.fault.is_some() {
            // The plugin has just failed, so its state is not used before the next boundary.
            return LogicState::Unknown;
        }
        let kept = Kept {
            own: own.map(|state| (state.schema, state.bytes)),
            keeps: self.keeps.load(Ordering::Relaxed),
            previous: locked(&self.previous).clone(),
            snapshot: self
                .snapshot
                .clone()
                .map(|state| (state.schema, state.bytes)),
            snapshot_at: self.snapshot_at,
            restarts: self.restarts.clone(),
            trial: self.trial,
            bad_steps: health.bad_steps,
            flaw: health.flaw.clone(),
            rows: health.rows,
            bad_rows: health.bad_rows,
            mode_changed: health.mode_changed,
        };
        LogicState::Bytes(postcard::to_allocvec(&kept).unwrap_or_default())
    }

    pub(super) fn take_back(&mut self, state: &[u8]) -> Result<(), String> {
        let kept: Kept = postcard::from_bytes(state).map_err(|error| error.to_string())?;
        let Some(active) = &mut self.active else {
            return Err("the module is not in use".into());
        };
        let state = |(schema, bytes)| State { schema, bytes };
        // The part that can fail comes first: if a plugin rejects its state, the state of the host
        // stays unchanged.
        if let Some(own) = kept.own {
            active.backend.load(&state(own))?;
            active.ask_again(&self.cell);
        }
        *locked(&self.previous) = kept.previous;
        self.keeps.store(kept.keeps, Ordering::Relaxed);
        self.snapshot = kept.snapshot.map(state);
        self.snapshot_at = kept.snapshot_at;
        self.restarts = kept.restarts;
        self.trial = kept.trial;
        let health = self
            .health
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        *health = Health {
            answered: 0,
            fault: None,
            rows: kept.rows,
            bad_rows: kept.bad_rows,
            bad_steps: kept.bad_steps,
            marked: None,
            flaw: kept.flaw,
            mode_changed: kept.mode_changed,
        };
        Ok(())
    }
}
