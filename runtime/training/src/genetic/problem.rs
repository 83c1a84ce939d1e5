//! A training problem: the genes of a stack, and its runs on a course.

use super::breeder::Method;
use super::experiment::{Experiment, NameOr};
use super::genes::{GeneError, Genome};
use super::judge::{CandidateRun, Evaluate, Manners, RunOrFailure};
use crate::course::{Course, CourseError, End, Setup};
use crate::experiment::{self as bench, ExperimentError, Results};
use crate::measure::builds_of;
use crate::{Measured, RunRow, measure, measure_while};
use roadwright_agent::{Controller, Fitness, Registry};
use roadwright_geometry::DVec2;
use roadwright_scenario::{ModuleSetting, Scenario, Stack, file};
use roadwright_simulation::{RunOptions, SimulationError, World};
use std::collections::BTreeMap;
use std::hash::Hasher;
use thiserror::Error;

/// Time by which an individual must have moved, otherwise it is unfit, s. [Gerdelan 2011], section 10.6,
/// stops the evaluation of individuals that stand or only tremble, and section 12.3 counts less than half a
/// metre in 12 s as standing.
const PATIENCE: f64 = 12.0;
/// Minimum distance that counts as moving, m.
const SOMEWHERE: f64 = 0.5;
/// Minimum fraction of an individual's vehicles that must move, otherwise it is unfit. The limit is small,
/// because in a jam only some vehicles move.
const FEW: f64 = 0.1;

/// Fraction of children identical to their parent above which a warning is issued.
const MANY_CLONES: f64 = 0.5;

/// Confidence level of the reported intervals.
pub const LEVEL: f64 = 0.95;

/// Reason why an experiment cannot start.
#[derive(Debug, Error)]
pub enum ProblemError {
    /// The course or its vehicle does not exist.
    #[error(transparent)]
    Course(Box<CourseError>),
    /// The genes do not exist.
    #[error(transparent)]
    Genes(#[from] GeneError),
    /// There is no such stack.
    #[error("stack: unknown stack \"{name}\"; expected one of: {known}")]
    NoStack {
        /// Name of the missing stack.
        name: String,
        /// Names of the available stacks.
        known: String,
    },
    /// The stack cannot be run.
    #[error(transparent)]
    Simulation(Box<SimulationError>),
    /// The experiment uses a scenario, but none was given.
    #[error("scenario: the experiment uses a scenario, but none was given")]
    NoScenario,
}

/// An experiment, with everything that is needed to run it.
pub struct Problem {
    course: Course,
    setup: Setup,
    stack: Stack,
    genome: Genome,
    modules: Registry,
    drives: usize,
    hash: u64,
    lower_is_better: bool,
    /// External modules with their builds.
    builds: Vec<String>,
    /// Time step during breeding, s; `None` for the time step of the course.
    breeding_dt: Option<f64>,
}

/// End of a course that is driven with a set of genes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CourseEnd {
    /// Number of steps of the world until all drives have ended.
    pub steps: u64,
    /// Number of drives by kind of end.
    pub ends: BTreeMap<End, usize>,
}

// Boxed, because both errors are large and rare.
impl From<CourseError> for ProblemError {
    fn from(error: CourseError) -> Self {
        Self::Course(Box::new(error))
    }
}

impl From<SimulationError> for ProblemError {
    fn from(error: SimulationError) -> Self {
        Self::Simulation(Box::new(error))
    }
}

impl Problem {
    /// Creates a problem from an experiment. `scenario` is the scenario named in the experiment, if any. All
    /// agents of the scenario use the stack under training.
    ///
    /// # Errors
    /// If the course, vehicle, stack, modules or genes do not exist.
    pub fn new(
        experiment: &Experiment,
        scenario: Option<Scenario>,
        modules: &Registry,
    ) -> Result<Self, ProblemError> {
        let stack = stack_of(experiment, scenario.as_ref(), modules)?;
        let genome = Genome::choose(&experiment.genes, &stack, modules)?;
        let course = match (&experiment.course, scenario) {
            (Some(name), _) => Course::named(name)?,
            (None, Some(scenario)) => Course::own(&scenario.about().name.clone(), scenario),
            (None, None) => return Err(ProblemError::NoScenario),
        };
        let fitness = match &experiment.fitness {
            Some(NameOr::Own(setting)) => (**setting).clone(),
            Some(NameOr::Name(name)) => ModuleSetting::new(name),
            None => ModuleSetting::new(course.fitness),
        };
        let setup = Setup {
            vehicle: experiment.vehicle.clone(),
            dynamics: experiment.dynamics,
            drivers: vec![stack.clone()],
            fitness: Some(vec![fitness]),
            ..Setup::default()
        };
        // The first course is generated as a trial, so that general errors are found before breeding starts.
        let trial = course.scenario(experiment.seeds.train[0], &setup)?;
        let world = World::new(&trial, modules, &RunOptions::default())?;
        let id = setup.first_fitness(&course);
        let entries = modules.of::<dyn Fitness>();
        let entry = entries.iter().find(|entry| entry.info.id == id);
        let mut hasher = twox_hash::XxHash3_64::with_seed(0);
        hasher.write(file::to_text(&trial).as_bytes());
        Ok(Self {
            drives: trial.agents().len().max(1),
            hash: hasher.finish(),
            builds: builds_of(&world),
            // The time step is increased only during breeding. Champions are chosen and evaluated with the
            // scenario's own time step.
            breeding_dt: (experiment.time_compression > 1.0)
                .then(|| trial.settings().dt * experiment.time_compression),
            lower_is_better: entry.is_none_or(|entry| entry.make().logic.lower_is_better()),
            course,
            setup,
            stack,
            genome,
            modules: modules.clone(),
        })
    }

    /// Returns the genes that are trained.
    pub fn genome(&self) -> &Genome {
        &self.genome
    }

    /// Runs a set of genes on consecutive courses, starting at a seed, and returns results like those of
    /// `bench`. `None` if any run has neither a row nor a failure.
    ///
    /// # Errors
    /// If the course cannot be driven with these genes.
    pub fn results(
        &self,
        genes: &[f64],
        first_seed: u64,
        runs: &[RunOrFailure],
    ) -> Result<Option<Results>, ExperimentError> {
        let setup = self.setup_of(genes);
        let experiment = bench::RunSeries {
            course: &self.course,
            setup: &setup,
            modules: &self.modules,
            first_seed,
            stop: bench::Stop::Runs {
                runs: runs.len() as u64,
            },
            against: None,
            level: LEVEL,
            threads: 1,
        };
        let head = experiment.head()?;
        let row = |(seed, run): (u64, &RunOrFailure)| match run {
            Ok(run) => run.row.clone(),
            Err(reason) => {
                // Failure messages begin with the seed, which rows have in a separate field.
                let known = format!("seed {seed}: ");
                let reason = reason.strip_prefix(&known).unwrap_or(reason);
                Some(RunRow::failed(seed, reason.to_owned()))
            }
        };
        let rows: Option<Vec<_>> = (first_seed..).zip(runs).map(row).collect();
        Ok(rows.map(|rows| Results::of_rows(head, rows)))
    }

    /// Returns the scenario in which a set of genes drives a course. If it is run unchanged, every step is
    /// the same as in the evaluation of champions. The scenario continues after the end of that run; see
    /// [`end_of`](Self::end_of).
    ///
    /// # Errors
    /// If the course cannot be generated, or simulates its vehicle itself.
    pub fn scenario_of(&self, genes: &[f64], course: u64) -> Result<Scenario, ProblemError> {
        Ok(self.course.whole_scenario(course, &self.setup_of(genes))?)
    }

    /// Returns the end of the course for a set of genes, driven in the same way as for the evaluation of
    /// champions. Up to this step, the world of [`scenario_of`](Self::scenario_of) is the same as in that
    /// run.
    ///
    /// # Errors
    /// If the course cannot be driven with these genes.
    pub fn end_of(&self, genes: &[f64], course: u64) -> Result<CourseEnd, ProblemError> {
        let measured = self.measure(genes, course)?;
        Ok(CourseEnd {
            steps: measured.steps,
            ends: measured.row.ends,
        })
    }

    /// Drives a course with a set of genes, in the same way as for the evaluation of champions.
    ///
    /// # Errors
    /// If the course cannot be driven with these genes.
    pub(super) fn measure(&self, genes: &[f64], course: u64) -> Result<Measured, CourseError> {
        measure(&self.course, &self.setup_of(genes), &self.modules, course)
    }

    /// Id of the fitness module.
    pub(super) fn fitness(&self) -> String {
        self.setup.first_fitness(&self.course)
    }

    /// Returns the stack under training, with the given genes applied.
    pub fn stack(&self, genes: &[f64]) -> Stack {
        let mut stack = self.stack.clone();
        self.genome.apply(genes, &mut stack);
        stack
    }

    /// Whether a lower fitness is better.
    pub fn is_lower_better(&self) -> bool {
        self.lower_is_better
    }

    /// Returns the setup for driving with a set of genes.
    fn setup_of(&self, genes: &[f64]) -> Setup {
        Setup {
            drivers: vec![self.stack(genes)],
            ..self.setup.clone()
        }
    }

    /// Returns a setup with additional fitness functions that measure the behaviour of vehicles. They do not
    /// affect the drive.
    fn watched_setup_of(&self, genes: &[f64]) -> Setup {
        let mut setup = self.setup_of(genes);
        let asked: Vec<String> = setup
            .fitness
            .iter()
            .flatten()
            .map(|f| f.module.clone())
            .collect();
        let missing = Manners::TOLD_BY
            .iter()
            .filter(|id| !asked.iter().any(|own| own == *id));
        if let Some(fitnesses) = &mut setup.fitness {
            fitnesses.extend(missing.map(|id| ModuleSetting::new(id)));
        }
        setup
    }

    /// Returns a code and a reason for each warning about settings of breeding.
    pub fn warnings(&self, experiment: &Experiment) -> Vec<(&'static str, String)> {
        let clones = experiment.operators.clones(&self.genome);
        let breeds = experiment.method == Method::Genetic && clones > MANY_CLONES;
        let why = || {
            format!(
                "operators.r: with {}, {:.0} % of the children of a single parent equal that \
                 parent, so generations hardly change; raise r, train more genes, or use the \
                 method \"cma_es\"",
                match self.genome.genes().len() {
                    1 => "1 gene".into(),
                    genes => format!("{genes} genes"),
                },
                100.0 * clones
            )
        };
        breeds.then(|| ("clones", why())).into_iter().collect()
    }
}

/// Returns the stack that an experiment trains. The name of a controller means a stack with this controller
/// and built-in modules.
///
/// # Errors
/// If neither the scenario nor the program has such a stack.
pub fn stack_of(
    experiment: &Experiment,
    scenario: Option<&Scenario>,
    modules: &Registry,
) -> Result<Stack, ProblemError> {
    let name = match &experiment.stack {
        NameOr::Own(stack) => return Ok((**stack).clone()),
        NameOr::Name(name) => name,
    };
    // Courses do not define stacks, but new scenarios have a stack for each driving style.
    let fresh = Scenario::new("stacks");
    let stacks = scenario.unwrap_or(&fresh).stacks();
    let controllers = modules
        .of::<dyn Controller>()
        .iter()
        .map(|entry| entry.info.id);
    let is_controller = scenario.is_none() && controllers.clone().any(|id| id == name);
    let around = || is_controller.then(|| Stack::with_controller(name));
    stacks.get(name).cloned().or_else(around).ok_or_else(|| {
        let mut known: Vec<&str> = stacks.keys().map(String::as_str).collect();
        known.extend(controllers.filter(|id| scenario.is_none() && !stacks.contains_key(*id)));
        ProblemError::NoStack {
            name: name.clone(),
            known: known.join(", "),
        }
    })
}

impl Problem {
    /// Drives a course. If any module failed, the run gives no information about the genes.
    fn drive(&self, setup: &Setup, course: u64) -> Result<CandidateRun, String> {
        let mut watch = Watch::default();
        let goes_on = &mut |world: &World| watch.goes_on(world);
        let measured = measure_while(&self.course, setup, &self.modules, course, goes_on);
        let measured = measured.map_err(|error| error.to_string())?;
        let (row, manners) = (measured.row, Manners::of(&measured.drives));
        if let Some(reason) = &row.failed {
            return Err(format!("seed {course}: {reason}"));
        }
        let fitness = row
            .fitness
            .ok_or_else(|| format!("seed {course}: the run has no fitness value"))?;
        Ok(CandidateRun {
            score: if self.lower_is_better {
                fitness
            } else {
                -fitness
            },
            drives: row.drives,
            completed: row.completed,
            hash: u64::from_str_radix(&row.hash, 16).unwrap_or_default(),
            ended_early: watch.is_stuck,
            row: Some(row),
            manners,
        })
    }
}

impl Evaluate for Problem {
    fn run(&self, genes: &[f64], course: u64) -> Result<CandidateRun, String> {
        let setup = Setup {
            dt: self.breeding_dt,
            ..self.setup_of(genes)
        };
        self.drive(&setup, course)
    }

    fn run_exactly(&self, genes: &[f64], course: u64) -> Result<CandidateRun, String> {
        self.drive(&self.watched_setup_of(genes), course)
    }

    fn drives_of_a_run(&self) -> usize {
        self.drives
    }

    fn lower_is_better(&self) -> bool {
        self.lower_is_better
    }

    fn hash(&self) -> u64 {
        self.hash
    }

    fn modules(&self) -> Vec<String> {
        self.builds.clone()
    }
}

/// Detector of runs in which hardly any vehicle moves. Vehicles that get stuck later have moved before, so
/// they are scored.
#[derive(Default)]
struct Watch {
    /// Positions of vehicles at the first check, by agent.
    starts: Vec<(u64, DVec2)>,
    has_looked: bool,
    is_stuck: bool,
}

impl Watch {
    fn goes_on(&mut self, world: &World) -> bool {
        let is_time = world.time() >= PATIENCE;
        // No check is needed between the first check and the time limit.
        if self.has_looked || (!is_time && !self.starts.is_empty()) {
            return true;
        }
        let vehicles = world.snapshot().vehicles;
        let places = vehicles.iter().map(|v| (v.agent, v.pose.position));
        if self.starts.is_empty() {
            self.starts = places.collect();
            return true;
        }
        let (mut known, mut moved) = (0, 0);
        for (agent, place) in places {
            // The vehicles in a snapshot are sorted by id.
            let start = self
                .starts
                .binary_search_by_key(&agent, |(agent, _)| *agent);
            if let Ok(start) = start {
                known += 1;
                moved += usize::from((self.starts[start].1 - place).length() > SOMEWHERE);
            }
        }
        self.has_looked = true;
        self.is_stuck = known > 0 && (moved as f64) < FEW * f64::from(known);
        !self.is_stuck
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_simulation::builtin_modules;

    fn problem(change: impl Fn(String) -> String) -> Result<Problem, ProblemError> {
        let text = r#"{"format": "roadwright-experiment", "version": 1, "course": "arena", "stack": "fuzzy_driver",
            "genes": ["fuzzy_driver.rule_*"], "runs": 2, "stop": {"generations": 3},
            "seeds": {"train": [1, 9], "validate": [10, 12], "test": [20, 29]}}"#;
        let experiment = Experiment::from_text(&change(text.into())).unwrap();
        Problem::new(&experiment, None, &builtin_modules())
    }

    #[test]
    fn the_same_genes_and_course_give_the_same_run_and_others_another() {
        let problem = problem(|text| text).unwrap();
        let start = problem.genome().start();
        let run = problem.run(&start, 3).unwrap();
        assert_eq!(run, problem.run(&start, 3).unwrap());
        assert_ne!(run.hash, problem.run(&start, 4).unwrap().hash);
        let mut gentle = start.clone();
        // If no waypoint is ahead, the limit is a fifth of the speed.
        gentle[9..18].fill(1.0);
        assert_ne!(run.hash, problem.run(&gentle, 3).unwrap().hash);
        assert!(!run.ended_early && run.drives == 1);
    }

    #[test]
    fn the_scenario_of_an_individual_is_the_world_that_it_is_scored_by() {
        for dynamics in ["one_track", "rigid"] {
            let problem = problem(|text| {
                let key = format!("\"dynamics\": \"{dynamics}\", \"runs\"");
                text.replace("\"runs\"", &key)
            });
            let problem = problem.unwrap();
            let mut gentle = problem.genome().start();
            gentle[9..18].fill(2.0);
            let mut seen = Vec::new();
            let look = &mut |world: &World| {
                seen.push((world.steps(), world.snapshot().hash()));
                world.time() < 4.0
            };
            let setup = problem.setup_of(&gentle);
            measure_while(&problem.course, &setup, &problem.modules, 7, look).unwrap();
            let scenario = problem.scenario_of(&gentle, 7).unwrap();
            let world = World::new(&scenario, &problem.modules, &RunOptions::default());
            let mut session = roadwright_simulation::Session::new(world.unwrap());
            assert!(seen.len() > 10);
            // The course ends when its only drive ends.
            let whole = measure(&problem.course, &setup, &problem.modules, 7).unwrap();
            let end = problem.end_of(&gentle, 7).unwrap();
            assert_eq!(end.ends, whole.row.ends);
            let dt = scenario.settings().dt;
            assert!((end.steps as f64 * dt - whole.row.time).abs() < 0.5 * dt);
            for (step, hash) in seen {
                while session.world().steps() < step {
                    session.step(&mut []);
                }
                assert_eq!(session.world().snapshot().hash(), hash, "{dynamics} {step}");
            }
        }
    }

    #[test]
    fn a_course_that_computes_its_vehicle_itself_has_no_world_to_show() {
        let problem = problem(|text| {
            let text = text.replace("\"arena\"", "\"parking\"");
            let text = text.replace("\"fuzzy_driver\"", "\"bay_parking\"");
            text.replace("fuzzy_driver.rule_*", "bay_parking.*")
        });
        let problem = problem.unwrap();
        let error = problem
            .scenario_of(&problem.genome().start(), 1)
            .unwrap_err();
        assert!(
            error.to_string().contains("simulates its own vehicle"),
            "{error}"
        );
    }

    #[test]
    fn who_never_sets_out_is_ended_early() {
        let problem = problem(|text| text).unwrap();
        let mut standing = problem.genome().start();
        standing[9..18].fill(0.0);
        assert!(problem.run(&standing, 3).unwrap().ended_early);
    }

    #[test]
    fn breeding_that_makes_clones_is_warned_of() {
        let told = |genes: &str, r: f64| {
            let text = |text: String| text.replace("fuzzy_driver.rule_*", genes);
            let problem = problem(text).unwrap();
            let mut experiment = Experiment::new("arena", "fuzzy_driver");
            experiment.operators.r = r;
            problem.warnings(&experiment)
        };
        let three = "fuzzy_driver.rule_route_speed_wide_*";
        let few = told(three, 0.2);
        assert_eq!(few.len(), 1, "{few:?}");
        assert!(few[0].1.contains("operators.r"), "{few:?}");
        assert_eq!(told(three, 0.9), []);
        assert_eq!(told("fuzzy_driver.rule_*", 0.2), []);
    }

    #[test]
    fn what_is_missing_is_said_before_anybody_is_bred() {
        let error = |from: &str, to: &str| {
            let problem = problem(|text| text.replace(from, to));
            problem.err().map(|error| error.to_string()).unwrap()
        };
        assert!(error("arena", "arenas").contains("unknown course \"arenas\""));
        assert!(
            error("\"stack\": \"fuzzy_driver\"", "\"stack\": \"x\"").contains("expected one of: ")
        );
        assert!(error("driver.rule_*", "driver.x").contains("has no such parameter"));
        let vehicle = error("\"runs\"", "\"vehicle\": \"boat\", \"runs\"");
        assert!(vehicle.contains("boat"), "{vehicle}");
        let fitness = error("\"runs\"", "\"fitness\": \"joy\", \"runs\"");
        assert!(fitness.contains("joy"), "{fitness}");
    }
}
