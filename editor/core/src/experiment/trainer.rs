//! A training run on its own thread, which receives orders and publishes snapshots.
//!
//! Only the record of the complete generations is kept. If the user stops the training or strikes
//! out an individual, the generation in progress is discarded. Training then continues from the
//! record, like a resumed training. The resulting pool is bit-identical.

use super::gate::{Gate, Progress};
use super::picture::{Phase, TrainingPicture};
use roadwright_agent::Registry;
use roadwright_scenario::Scenario;
use roadwright_training::genetic::experiment::Seeds;
use roadwright_training::genetic::{
    Evaluate, Experiment, Problem, Record, Start, Training, TrainingError, Verdict, Workers,
};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Returns the number of hardware threads minus one. One thread is left for the window.
pub fn spare_threads() -> usize {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    threads.saturating_sub(1).max(1)
}

/// Maximum number of finalists: the last ten leaders and the initial individual.
const MOST_FINALISTS: usize = 11;

/// A command to the training thread.
enum Order {
    Stop,
    GoOn,
    Judge,
    StrikeOut((u32, u32)),
    End,
}

/// The next action of the thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Breed,
    Judge,
    Rest,
    End,
}

/// State shared by the trainer and its thread.
#[derive(Default)]
struct Shared {
    picture: Mutex<Arc<TrainingPicture>>,
    gate: Gate,
}

impl Shared {
    fn publish(&self, picture: &TrainingPicture) {
        let picture = Arc::new(picture.clone());
        match self.picture.lock() {
            Ok(mut shared) => *shared = picture,
            Err(poisoned) => *poisoned.into_inner() = picture,
        }
    }
}

/// Training in the background.
pub struct Trainer {
    orders: Sender<Order>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Trainer {
    /// Starts a training run; `scenario` is the experiment's scenario, if any. `wake` is called for
    /// every new snapshot. One hardware thread is left for the window.
    pub fn start(
        experiment: Experiment,
        scenario: Option<Scenario>,
        registry: Registry,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        let (orders, inbox) = channel();
        let shared = Arc::new(Shared::default());
        let own = shared.clone();
        let thread = std::thread::spawn(move || {
            let experiment = Arc::new(experiment);
            let mut thread = Thread {
                picture: TrainingPicture {
                    experiment: Some(experiment.clone()),
                    ..TrainingPicture::default()
                },
                experiment,
                inbox,
                shared: own,
                wake: Box::new(wake),
                driven: (0, 0),
            };
            thread.run(scenario, &registry);
        });
        Self {
            orders,
            shared,
            thread: Some(thread),
        }
    }

    /// Sends an order that cancels the generation in progress.
    fn interrupt(&self, order: Order) {
        // The order goes first, so that it has arrived when the thread checks for orders.
        let _ = self.orders.send(order);
        self.shared.gate.give_up();
    }

    /// Pauses training (`true`) or resumes it (`false`).
    pub fn pause(&self, on: bool) {
        if on {
            self.shared.gate.pause();
        } else {
            self.shared.gate.resume();
        }
    }

    /// Stops training; complete generations are kept.
    pub fn stop(&self) {
        // Without this, the training would still be paused when it is resumed later.
        self.shared.gate.resume();
        self.interrupt(Order::Stop);
    }

    /// Resumes a stopped training run.
    pub fn go_on(&self) {
        let _ = self.orders.send(Order::GoOn);
    }

    /// Chooses the champion of a stopped training run.
    pub fn judge(&self) {
        let _ = self.orders.send(Order::Judge);
    }

    /// Strikes out an individual of the last complete generation, identified by its birth.
    pub fn strike_out(&self, birth: (u32, u32)) {
        self.interrupt(Order::StrikeOut(birth));
    }

    /// Returns the newest snapshot.
    pub fn picture(&self) -> Arc<TrainingPicture> {
        match self.shared.picture.lock() {
            Ok(picture) => picture.clone(),
            // Snapshots are replaced as a whole, so this one is complete.
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    /// Returns the current progress.
    pub fn progress(&self) -> Progress {
        self.shared.gate.progress()
    }
}

impl Drop for Trainer {
    fn drop(&mut self) {
        self.interrupt(Order::End);
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of that thread.
            let _ = thread.join();
        }
    }
}

/// State of the training thread.
struct Thread {
    experiment: Arc<Experiment>,
    inbox: Receiver<Order>,
    shared: Arc<Shared>,
    wake: Box<dyn Fn() + Send>,
    picture: TrainingPicture,
    /// Number of runs driven and planned in the complete generations of this session.
    driven: (usize, usize),
}

impl Thread {
    fn run(&mut self, scenario: Option<Scenario>, registry: &Registry) {
        self.show(Phase::Preparing);
        let problem = Problem::new(&self.experiment, scenario, registry);
        let workers = Workers::new(spare_threads());
        let (problem, workers) = match (problem, workers) {
            (Ok(problem), Ok(workers)) => (Arc::new(problem), workers),
            (Err(error), _) => return self.show(Phase::Failed(error.to_string())),
            (_, Err(error)) => return self.show(Phase::Failed(error)),
        };
        self.picture.problem = Some(problem.clone());
        let mut record = Record::new(&self.experiment, problem.genome(), &*problem);
        let mut next = Next::Breed;
        while next != Next::End {
            let done = match next {
                Next::Breed => self.breed(&problem, &workers, &mut record),
                Next::Judge => self.judge(&problem, &workers, &mut record),
                Next::Rest | Next::End => Ok(self.wait(&mut record)),
            };
            next = match done {
                Ok(Next::Rest) => {
                    self.shared.gate.rest();
                    self.refresh(&problem, &record);
                    Next::Rest
                }
                Ok(next) => next,
                Err(error) => {
                    self.shared.gate.rest();
                    self.show(Phase::Failed(error.to_string()));
                    Next::Rest
                }
            };
        }
    }

    fn show(&mut self, phase: Phase) {
        self.picture.phase = phase;
        self.shared.publish(&self.picture);
        (self.wake)();
    }

    /// Publishes the state of the record while no runs are in progress.
    fn refresh(&mut self, problem: &Problem, record: &Record) {
        let experiment = self.experiment.clone();
        // Built from the record, so that no part of a cancelled generation is shown.
        let resumed = Training::resume(&experiment, problem.genome(), problem, record);
        if let Ok(mut training) = resumed {
            training.record().champion.clone_from(&record.champion);
            self.picture.take(&mut training, problem);
        }
        let is_over = record.champion.is_some() && self.picture.verdict.is_some();
        self.show(if is_over { Phase::Over } else { Phase::Stopped });
    }

    /// Breeds generations until training ends or an order arrives.
    fn breed(
        &mut self,
        problem: &Problem,
        workers: &Workers,
        record: &mut Record,
    ) -> Result<Next, TrainingError> {
        let shared = self.shared.clone();
        let gated = shared.gate.around(problem);
        let experiment = self.experiment.clone();
        let mut training = Training::resume(&experiment, problem.genome(), &gated, record)?;
        self.picture.verdict = None;
        self.picture.take(&mut training, problem);
        while !training.is_over() {
            // Counted from the record, because a cancelled generation is repeated under the same number.
            let number = record.generations.len() as u32 + 1;
            let planned = self.planned(number, problem);
            let later = self.later(number, problem);
            shared.gate.begin(planned, later);
            self.show(Phase::Breeding(number as usize));
            workers.install(|| training.step());
            if shared.gate.take_given_up() {
                return Ok(self.obey(record, Next::Breed));
            }
            // A cancelled generation is not counted, because it does not show how many runs are saved.
            self.driven.0 += shared.gate.done();
            self.driven.1 += planned;
            *record = training.record().clone();
            self.picture.courses = experiment.courses_of(number, gated.drives_of_a_run());
            self.picture.take(&mut training, problem);
        }
        Ok(Next::Judge)
    }

    /// Chooses and tests the champion.
    fn judge(
        &mut self,
        problem: &Problem,
        workers: &Workers,
        record: &mut Record,
    ) -> Result<Next, TrainingError> {
        let shared = self.shared.clone();
        let gated = shared.gate.around(problem);
        let experiment = self.experiment.clone();
        let mut training = Training::resume(&experiment, problem.genome(), &gated, record)?;
        shared
            .gate
            .begin(self.runs_of_choice(training.finalists().len()), 0);
        self.show(Phase::Choosing);
        let champion = workers.install(|| training.champion());
        if shared.gate.take_given_up() {
            return Ok(self.obey(record, Next::Judge));
        }
        let first_seed = experiment.seeds.test[0];
        let verdict = Verdict::new(problem, first_seed, &training, champion?);
        let verdict = verdict.map_err(|error| TrainingError::Start(error.to_string()))?;
        training.record().champion = Some(verdict.recorded(problem.genome()));
        *record = training.record().clone();
        self.picture.verdict = Some(Arc::new(verdict));
        Ok(Next::Rest)
    }

    /// Waits for an order.
    fn wait(&mut self, record: &mut Record) -> Next {
        let Ok(order) = self.inbox.recv() else {
            return Next::End;
        };
        // Nothing was running, so nothing was cancelled.
        self.shared.gate.take_given_up();
        let next = self.take(order, record, Next::Rest);
        self.obey(record, next)
    }

    /// Carries out all pending orders. Returns the next action, which these orders may change.
    fn obey(&mut self, record: &mut Record, next: Next) -> Next {
        let mut next = next;
        while let Ok(order) = self.inbox.try_recv() {
            next = self.take(order, record, next);
        }
        next
    }

    fn take(&mut self, order: Order, record: &mut Record, next: Next) -> Next {
        match (order, next) {
            (_, Next::End) | (Order::End, _) => Next::End,
            (Order::Stop, _) => Next::Rest,
            (Order::GoOn, Next::Rest) => Next::Breed,
            (Order::Judge, Next::Rest) => Next::Judge,
            (Order::StrikeOut(birth), next) => {
                if record.strike_out(birth) {
                    self.picture.verdict = None;
                }
                // The pool without the struck-out individual may need more generations.
                if next == Next::Judge {
                    Next::Breed
                } else {
                    next
                }
            }
            (Order::GoOn | Order::Judge, next) => next,
        }
    }

    /// Returns the number of runs of a generation if no individual is stopped early.
    fn planned(&self, generation: u32, problem: &Problem) -> usize {
        let operators = self.experiment.operators;
        let is_first = generation == 1 && self.experiment.start == Start::Random;
        let children = if is_first {
            operators.n.max(operators.first)
        } else {
            operators.n + operators.p
        };
        children
            * self
                .experiment
                .runs_of(generation, problem.drives_of_a_run())
    }

    /// Returns the estimated number of runs after a generation, based on the share of runs saved in
    /// earlier generations.
    fn later(&self, generation: u32, problem: &Problem) -> usize {
        let last = self.experiment.stop.generations;
        let planned: usize = (generation + 1..=last)
            .map(|number| self.planned(number, problem))
            .sum();
        let (done, of) = self.driven;
        let share = if of == 0 {
            1.0
        } else {
            done as f64 / of as f64
        };
        (planned as f64 * share) as usize + self.runs_of_choice(MOST_FINALISTS)
    }

    fn runs_of_choice(&self, finalists: usize) -> usize {
        let seeds = self.experiment.seeds;
        finalists * Seeds::all(seeds.validate).len() + 2 * Seeds::all(seeds.test).len()
    }
}
