//! A training on its own thread: orders in, pictures out.
//!
//! The record of the generations that are whole is all that is carried along. A generation that is given up,
//! because a person stops the training or strikes somebody out, is thrown away, and the training goes on from
//! the record as a resumed one does: with the pool that it would have had anyway, bit for bit.

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

/// Threads of the machine but one, which is the window's.
pub fn spare_threads() -> usize {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    threads.saturating_sub(1).max(1)
}

/// Who is among the finalists at most: the last ten leaders and who began.
const MOST_FINALISTS: usize = 11;

/// What the thread is asked to do.
enum Order {
    Stop,
    GoOn,
    Judge,
    StrikeOut((u32, u32)),
    End,
}

/// What the thread does next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Breed,
    Judge,
    Rest,
    End,
}

/// What both sides have.
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

/// A training that runs beside the window.
pub struct Trainer {
    orders: Sender<Order>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Trainer {
    /// Begins a training; `scenario` is the one that the experiment names, if it names one. `wake` is called
    /// whenever there is a new picture. One thread of the machine is left to the window.
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

    /// An order for which the present generation is given up.
    fn interrupt(&self, order: Order) {
        // First the order, so that it is there when the thread looks.
        let _ = self.orders.send(order);
        self.shared.gate.give_up();
    }

    /// Lets it stand still, or go on.
    pub fn pause(&self, on: bool) {
        if on {
            self.shared.gate.pause();
        } else {
            self.shared.gate.resume();
        }
    }

    /// Ends it; what was bred so far stays.
    pub fn stop(&self) {
        // Else whoever lets it go on later would find it standing still.
        self.shared.gate.resume();
        self.interrupt(Order::Stop);
    }

    /// Goes on after a stop.
    pub fn go_on(&self) {
        let _ = self.orders.send(Order::GoOn);
    }

    /// After a stop: chooses the champion among those it has.
    pub fn judge(&self) {
        let _ = self.orders.send(Order::Judge);
    }

    /// Strikes an individual of the last whole generation out, by its birth.
    pub fn strike_out(&self, birth: (u32, u32)) {
        self.interrupt(Order::StrikeOut(birth));
    }

    /// The newest picture.
    pub fn picture(&self) -> Arc<TrainingPicture> {
        match self.shared.picture.lock() {
            Ok(picture) => picture.clone(),
            // A picture is replaced in one go.
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.shared.gate.progress()
    }
}

impl Drop for Trainer {
    fn drop(&mut self) {
        self.interrupt(Order::End);
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook already.
            let _ = thread.join();
        }
    }
}

/// The other side.
struct Thread {
    experiment: Arc<Experiment>,
    inbox: Receiver<Order>,
    shared: Arc<Shared>,
    wake: Box<dyn Fn() + Send>,
    picture: TrainingPicture,
    /// Runs of the whole generations of this session, and how many were planned.
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

    /// Shows the state of the record, at rest.
    fn refresh(&mut self, problem: &Problem, record: &Record) {
        let experiment = self.experiment.clone();
        // From the record: nothing of a generation that was given up is shown.
        let resumed = Training::resume(&experiment, problem.genome(), problem, record);
        if let Ok(mut training) = resumed {
            training.record().champion.clone_from(&record.champion);
            self.picture.take(&mut training, problem);
        }
        let is_over = record.champion.is_some() && self.picture.verdict.is_some();
        self.show(if is_over { Phase::Over } else { Phase::Stopped });
    }

    /// Breeds until it is enough, or something else is wanted.
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
            // By the record and not by a count of rounds: a generation that was given up is bred
            // again.
            let number = record.generations.len() as u32 + 1;
            let planned = self.planned(number, problem);
            let later = self.later(number, problem);
            shared.gate.begin(planned, later);
            self.show(Phase::Breeding(number as usize));
            workers.install(|| training.step());
            if shared.gate.take_given_up() {
                return Ok(self.obey(record, Next::Breed));
            }
            // Whole generations only: one that was given up does not tell how many runs are spared.
            self.driven.0 += shared.gate.done();
            self.driven.1 += planned;
            *record = training.record().clone();
            self.picture.courses = experiment.courses_of(number, gated.drives_of_a_run());
            self.picture.take(&mut training, problem);
        }
        Ok(Next::Judge)
    }

    /// Chooses and judges the champion.
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
        let tested = (problem, experiment.seeds.test[0]);
        let verdict = Verdict::new(tested, &training, champion?);
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
        // What was given up meanwhile was nothing.
        self.shared.gate.take_given_up();
        let next = self.take(order, record, Next::Rest);
        self.obey(record, next)
    }

    /// Carries out all orders that are there; what is done next, if they do not change that.
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
                // A pool that is worse than was thought may have to go on.
                if next == Next::Judge {
                    Next::Breed
                } else {
                    next
                }
            }
            (Order::GoOn | Order::Judge, next) => next,
        }
    }

    /// Runs of a generation, if nobody is ended.
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

    /// Runs after a generation, as far as those before it tell how many are spared.
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
