//! A gate for the drives of a training run, which pauses, cancels and counts them.

use roadwright_training::genetic::{CandidateRun, Evaluate};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Progress of a training run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Progress {
    /// Number of runs finished in the current generation or while choosing the champion.
    pub done: usize,
    /// Number of runs planned for the current part. Fewer are needed if the evaluation of individuals is
    /// stopped early.
    pub planned: usize,
    /// Estimated remaining time of the training in seconds; `None` before the first run.
    pub seconds_left: Option<f64>,
    /// Whether the run is paused.
    pub is_paused: bool,
}

/// A gate that every run has to pass before it starts, so that runs can be paused and cancelled.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
    done: AtomicUsize,
    all_done: AtomicUsize,
}

#[derive(Default)]
struct State {
    is_paused: bool,
    is_given_up: bool,
    planned: usize,
    later: usize,
    clock: Clock,
}

/// A clock that stops while no runs are driven.
#[derive(Default)]
struct Clock {
    since: Option<Instant>,
    spent: Duration,
}

impl Clock {
    /// Stops the clock and adds the elapsed time.
    fn stop(&mut self) {
        if let Some(since) = self.since.take() {
            self.spent += since.elapsed();
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the training time is only displayed; no run reads it"
    )]
    fn set_running(&mut self, is_running: bool) {
        // A clock that keeps running also adds the elapsed time and restarts from now.
        self.stop();
        self.since = is_running.then(Instant::now);
    }

    fn seconds(&self) -> f64 {
        let now = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        (self.spent + now).as_secs_f64()
    }
}

impl Gate {
    /// Wraps an evaluator, so that each of its runs waits at this gate.
    pub(super) fn around<'a>(&'a self, inner: &'a dyn Evaluate) -> Gated<'a> {
        Gated { gate: self, inner }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        match self.state.lock() {
            Ok(state) => state,
            // The state is usable after a panic, because no code leaves it half-changed.
            Err(poisoned) => poisoned.into_inner(),
        }
    }

    /// Starts a part of the training with `planned` runs, followed by `later` runs in later parts.
    pub(super) fn begin(&self, planned: usize, later: usize) {
        let mut state = self.state();
        (state.planned, state.later) = (planned, later);
        // A pause continues into the next generation, so the clock stays stopped.
        let is_running = !state.is_paused;
        state.clock.set_running(is_running);
        // Resets only the count of this part; the pace below covers all parts.
        self.done.store(0, Ordering::Relaxed);
    }

    /// Stops the clock while no runs are in progress.
    pub(super) fn rest(&self) {
        let mut state = self.state();
        (state.planned, state.later) = (0, 0);
        state.clock.stop();
    }

    /// Returns the number of runs finished since the start of the current part.
    pub(super) fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// Holds back all runs that have not started yet.
    pub(super) fn pause(&self) {
        let mut state = self.state();
        if !state.is_paused {
            state.is_paused = true;
            state.clock.stop();
        }
        self.changed.notify_all();
    }

    /// Resumes paused runs.
    pub(super) fn resume(&self) {
        let mut state = self.state();
        if state.is_paused {
            state.is_paused = false;
            let is_running = state.planned > 0;
            state.clock.set_running(is_running);
        }
        self.changed.notify_all();
    }

    /// Cancels all runs that have not started.
    pub(super) fn give_up(&self) {
        // The flag stays set until it is taken, so that runs that reach the gate later are cancelled too.
        self.state().is_given_up = true;
        // Resuming and cancelling share one condition variable, so each woken thread checks which of them
        // occurred.
        self.changed.notify_all();
    }

    /// Returns whether runs were cancelled since the last call.
    pub(super) fn take_given_up(&self) -> bool {
        std::mem::take(&mut self.state().is_given_up)
    }

    /// Waits while the gate is closed. Returns `false` if the run was cancelled.
    fn pass(&self) -> bool {
        let mut state = self.state();
        while state.is_paused && !state.is_given_up {
            state = match self.changed.wait(state) {
                Ok(state) => state,
                Err(poisoned) => poisoned.into_inner(),
            };
        }
        !state.is_given_up
    }

    /// Returns the current progress.
    pub(super) fn progress(&self) -> Progress {
        let state = self.state();
        let (done, all) = (self.done(), self.all_done.load(Ordering::Relaxed));
        let left = state.planned.saturating_sub(done) + state.later;
        // The pace is the elapsed time per finished run for any number of threads, and the estimate
        // uses the same measure.
        let pace = state.clock.seconds() / all.max(1) as f64;
        Progress {
            done,
            planned: state.planned,
            // There is no pace before the first run.
            seconds_left: (all > 0 && state.planned > 0).then_some(left as f64 * pace),
            is_paused: state.is_paused,
        }
    }

    fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.all_done.fetch_add(1, Ordering::Relaxed);
    }
}

/// An evaluator whose runs pass a gate.
pub(super) struct Gated<'a> {
    gate: &'a Gate,
    inner: &'a dyn Evaluate,
}

impl Gated<'_> {
    fn drive(
        &self,
        run: impl FnOnce() -> Result<CandidateRun, String>,
    ) -> Result<CandidateRun, String> {
        if !self.gate.pass() {
            // The caller that cancelled discards the generation.
            return Err("cancelled".into());
        }
        let run = run();
        self.gate.count();
        run
    }
}

impl Evaluate for Gated<'_> {
    fn run(&self, genes: &[f64], course: u64) -> Result<CandidateRun, String> {
        self.drive(|| self.inner.run(genes, course))
    }

    fn run_exactly(&self, genes: &[f64], course: u64) -> Result<CandidateRun, String> {
        self.drive(|| self.inner.run_exactly(genes, course))
    }

    fn drives_of_a_run(&self) -> usize {
        self.inner.drives_of_a_run()
    }

    fn lower_is_better(&self) -> bool {
        self.inner.lower_is_better()
    }

    fn hash(&self) -> u64 {
        self.inner.hash()
    }

    fn modules(&self) -> Vec<String> {
        self.inner.modules()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_training::genetic::SumOfGenes;
    use std::sync::Arc;

    #[test]
    fn a_gate_counts_holds_and_gives_up() {
        let gate = Arc::new(Gate::default());
        let run = |gate: &Gate| gate.around(&SumOfGenes).run(&[1.0], 1);
        gate.begin(4, 10);
        assert_eq!(gate.progress().seconds_left, None);
        run(&gate).unwrap();
        let progress = gate.progress();
        assert_eq!((progress.done, progress.planned), (1, 4));
        assert!(progress.seconds_left.is_some());
        gate.pause();
        let other = gate.clone();
        let waiting = std::thread::spawn(move || run(&other).is_ok());
        std::thread::sleep(Duration::from_millis(30));
        assert!(!waiting.is_finished());
        gate.resume();
        assert!(waiting.join().unwrap());
        gate.pause();
        let other = gate.clone();
        let waiting = std::thread::spawn(move || run(&other).is_ok());
        gate.give_up();
        assert!(!waiting.join().unwrap());
        assert!(gate.take_given_up() && !gate.take_given_up());
        assert_eq!(gate.done(), 2);
    }
}
