//! Test of training rules for the forest, starting from random rules, with a budget of a few seconds.

use roadwright_simulation::builtin_modules;
use roadwright_training::genetic::{Experiment, Problem, Training, mean_score, run_all};

/// Returns the shipped experiment with few children, courses and generations.
fn small() -> Experiment {
    let shipped = include_str!("../../../experiments/forest-random.experiment.json");
    let mut experiment = Experiment::from_text(shipped).unwrap();
    experiment.operators.p = 5;
    experiment.operators.n = 100;
    experiment.operators.first = 1000;
    experiment.runs = 1;
    experiment.growth.as_mut().unwrap().most = 4;
    experiment.stop.generations = 8;
    experiment.seeds.validate = [200_001, 200_015];
    experiment
}

#[test]
fn in_a_few_generations_random_rules_learn_to_get_through_some_forests() {
    let experiment = small();
    let problem = Problem::new(&experiment, None, &builtin_modules()).unwrap();
    let mut training = Training::new(&experiment, problem.genome(), &problem).unwrap();
    let courses: Vec<u64> = (200_001..=200_015).collect();
    training.step();
    let best_of_random = training.pool().best().unwrap().genes.clone();
    while !training.is_over() {
        training.step();
    }
    let runs: usize = training.reports().iter().map(|report| report.runs).sum();
    assert!(runs < 4000, "{runs}");
    let drive = |genes: &[f64]| run_all(&problem, genes, &courses).unwrap();
    // The best of a thousand random individuals does not complete any drive. As a control, it does move.
    let random = drive(&best_of_random);
    assert!(random.iter().all(|run| run.completed == 0));
    assert!(mean_score(&random) > 170.0, "{}", mean_score(&random));
    let leader = drive(training.finalists().last().unwrap());
    let completed: usize = leader.iter().map(|run| run.completed).sum();
    let score = mean_score(&leader);
    assert!(score < 150.0, "{score}, {completed} of 15 completed");
    assert!(completed > 0, "{score}");
    // With the same rules on the same courses, the leader repeats its result.
    assert_eq!(leader, drive(training.finalists().last().unwrap()));
}
