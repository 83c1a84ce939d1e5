//! Manoeuvres of the proving ground on a separate thread.

use roadwright_scenario::vehicle_file::VehicleFile;
use roadwright_vehicle::proving::{MANOEUVRES, Manoeuvre, prove_while};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Results of a vehicle's finished manoeuvres.
#[derive(Debug, Clone, Default)]
pub struct TrialRow {
    /// The tested vehicle.
    pub file: Option<Arc<VehicleFile>>,
    /// Finished manoeuvres, in the order of reports.
    pub manoeuvres: Vec<Manoeuvre>,
}

/// State of the trials.
#[derive(Debug, Clone, Default)]
pub struct TrialState {
    /// Results of the vehicle on the bench.
    pub own: TrialRow,
    /// Results of the compared vehicle.
    pub rival: TrialRow,
    /// Whether manoeuvres are running.
    pub is_running: bool,
    /// Message if the trials could not run.
    pub problem: Option<String>,
}

impl TrialState {
    /// Returns the fraction of manoeuvres that have finished, 0 to 1.
    pub fn share(&self) -> f32 {
        let vehicles = 1 + usize::from(self.rival.file.is_some());
        let over = self.own.manoeuvres.len() + self.rival.manoeuvres.len();
        over as f32 / (vehicles * MANOEUVRES.len()) as f32
    }
}

/// Trials, running or finished.
#[derive(Default)]
pub struct Trial {
    state: Arc<Mutex<TrialState>>,
    stop: Arc<AtomicBool>,
}

impl Trial {
    /// Starts the manoeuvres of a vehicle and of a vehicle for comparison.
    pub fn start(
        file: Arc<VehicleFile>,
        rival: Option<Arc<VehicleFile>>,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        let trial = Self::default();
        let (state, stop) = (trial.state.clone(), trial.stop.clone());
        write(&state, |state| {
            state.is_running = true;
            state.own.file = Some(file.clone());
            state.rival.file = rival.clone();
        });
        std::thread::spawn(move || {
            let pick: [fn(&mut TrialState) -> &mut TrialRow; 2] =
                [|state| &mut state.own, |state| &mut state.rival];
            for (file, row) in [Some(file), rival].into_iter().flatten().zip(pick) {
                let proved = prove_while(&file, |manoeuvre| {
                    write(&state, |state| {
                        row(state).manoeuvres.push(manoeuvre.clone())
                    });
                    wake();
                    !stop.load(Ordering::Relaxed)
                });
                if let Err(error) = proved {
                    write(&state, |state| state.problem = Some(error.to_string()));
                }
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
            write(&state, |state| state.is_running = false);
            wake();
        });
        trial
    }

    /// Stops further manoeuvres without waiting for the running one.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        write(&self.state, |state| state.is_running = false);
    }

    /// Returns the current state.
    pub fn state(&self) -> TrialState {
        match self.state.lock() {
            Ok(state) => state.clone(),
            // The panic has already been reported, and the state from before it is complete.
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.stop();
    }
}

fn write(state: &Mutex<TrialState>, change: impl FnOnce(&mut TrialState)) {
    match state.lock() {
        Ok(mut state) => change(&mut state),
        Err(poisoned) => change(&mut poisoned.into_inner()),
    }
}
