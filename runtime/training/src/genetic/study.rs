//! Parameter studies on the controlled benchmark, with error bars over seeds. Their results are compared with
//! the statements of [Gerdelan 2011] on figures 10.7 to 10.12 and tables 10.3 and 10.4.
//!
//! The source drove vehicles for its figures 10.9 to 10.11. Here, the fitness of all curves is the sum of the
//! genes, so that only breeding has an effect. The source does not print its data, so only the statements in
//! its text are compared. If our results differ, the report says so. Nothing is tuned to make them agree.

use super::breeder::{Breeder, Elite, Method, Nursery, Plan, Start};
use super::cma::CmaEs;
use super::cross_entropy::Learning;
use super::genes::Genome;
use super::operators::Operators;
use super::sum_of_genes;
use rayon::prelude::*;
use roadwright_simulation::Statistic;
use serde::Serialize;

/// A study that yields one line of a figure for each setting. For each line, generations are bred until a
/// given number of individuals have been evaluated.
#[derive(Debug, Clone)]
pub struct Study {
    /// Name of the study on the command line.
    pub name: &'static str,
    /// Figure or table of the source; empty if the study is not from the source.
    pub of: &'static str,
    /// Description in one sentence.
    pub doc: &'static str,
    evaluations: usize,
    lines: Vec<Line>,
    compare: fn(&[LineResult]) -> Vec<Statement>,
}

#[derive(Debug, Clone)]
struct Line {
    label: String,
    method: Method,
    operators: Operators,
}

/// Result for one line of the figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineResult {
    /// Label of the line in the figure.
    pub label: String,
    /// Points of the learning curve.
    pub points: Vec<Point>,
    /// Mean of the curve over its points. A lower mean means faster learning.
    pub average: Statistic,
    /// The last point of the curve.
    #[serde(skip)]
    last: Statistic,
}

/// A point of a learning curve: the best fitness up to this point, over the seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Number of individuals that may be evaluated up to this point.
    pub evaluations: usize,
    /// Number of complete generations among these individuals.
    pub generation: usize,
    /// Best fitness in the pool, with its standard deviation over the seeds.
    pub fitness: Statistic,
    /// Best fitness of the last generation alone, as in table 10.3.
    pub best_of_generation: Statistic,
}

/// A statement in the source, and whether our result agrees with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statement {
    /// The statement in words.
    pub says: String,
    /// Whether our result agrees.
    pub holds: bool,
    /// Our result in words.
    pub found: String,
}

/// Result of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyResult {
    /// Name of the study.
    pub study: &'static str,
    /// Figure or table of the source.
    pub of: &'static str,
    /// Number of seeds over which each line of the figure is averaged.
    pub seeds: usize,
    /// The lines of the figure.
    pub lines: Vec<LineResult>,
    /// Statements in the source about the figure.
    pub statements: Vec<Statement>,
}

/// A row of table 10.3: the fittest chromosome of a generation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GenerationRow {
    /// Number of the generation.
    pub generation: u32,
    /// Fittest chromosome of the generation.
    pub chromosome: String,
    /// Sum of the genes of this chromosome.
    pub fitness: f64,
}

/// Numbers of the generations that the source prints in table 10.3.
const PRINTED: [u32; 18] = [
    5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 25, 50, 75, 100, 200, 500, 999,
];

/// Returns all studies.
pub fn studies() -> Vec<Study> {
    let with = |label: String, change: &dyn Fn(&mut Operators)| {
        let mut operators = Operators::default();
        change(&mut operators);
        let method = Method::Genetic;
        Line {
            label,
            method,
            operators,
        }
    };
    let of_r = |r: f64| with(format!("r = {r}"), &move |o| o.r = r);
    let of_m = |m: u32| with(format!("m = {m}"), &move |o| o.m = m);
    let of_n = |n: usize| with(format!("n = {n}"), &move |o| o.n = n);
    let of_p = |p: usize| with(format!("p = {p}"), &move |o| (o.p, o.n) = (p, 200));
    let of_method = |(label, method): (&str, Method)| Line {
        label: label.into(),
        method,
        operators: Operators::default(),
    };
    vec![
        Study {
            name: "learning-curve",
            of: "figure 10.7",
            doc: "Learning curve of the defaults over 1000 generations.",
            evaluations: 4000,
            lines: vec![with("defaults".into(), &|_| ())],
            compare: compare_learning,
        },
        Study {
            name: "mutation-probability",
            of: "figure 10.9",
            doc: "The mutation probability r, with r = 0 as control.",
            evaluations: 400,
            lines: [0.0, 0.1, 0.2, 0.4, 0.8].map(of_r).into(),
            compare: compare_probabilities,
        },
        Study {
            name: "mutation-range",
            of: "figure 10.10",
            doc: "The mutation range m.",
            evaluations: 400,
            lines: [1, 2, 3, 4, 5, 6].map(of_m).into(),
            compare: compare_ranges,
        },
        Study {
            name: "population-size",
            of: "figure 10.11",
            doc: "The generation size n, at equal numbers of evaluated individuals.",
            evaluations: 800,
            lines: [4, 10, 50, 100, 200].map(of_n).into(),
            compare: compare_sizes,
        },
        Study {
            name: "parents",
            of: "figure 10.12",
            doc: "The number of parents p, with n = 200.",
            evaluations: 4000,
            lines: [1, 2, 4, 10, 20].map(of_p).into(),
            compare: compare_parents,
        },
        Study {
            name: "guidelines",
            of: "table 10.4",
            doc: "Compares each guideline value with a smaller and a larger one.",
            evaluations: 400,
            lines: [
                with("guideline".into(), &|_| ()),
                of_n(2),
                of_n(8),
                of_m(1),
                of_m(5),
                of_r(0.05),
                of_r(0.4),
            ]
            .into(),
            compare: compare_guidelines,
        },
        Study {
            name: "baselines",
            of: "",
            doc: "Breeding compared with random search, hill climbing and CMA-ES, with the same \
                 number of individuals.",
            evaluations: 400,
            lines: [
                ("genetic", Method::Genetic),
                ("random", Method::Random),
                ("hill_climbing", Method::HillClimbing),
                ("cma_es", Method::CmaEs),
            ]
            .map(of_method)
            .into(),
            compare: |_| Vec::new(),
        },
    ]
}

impl Study {
    /// Breeds each line with this number of seeds, on the threads of the current pool. The result does not
    /// depend on the number of threads.
    pub fn run(&self, seeds: usize) -> StudyResult {
        let genome = sum_of_genes::genome();
        let marks = self.marks();
        let pairs: Vec<(usize, u64)> = (0..self.lines.len())
            .flat_map(|line| (1..=seeds as u64).map(move |seed| (line, seed)))
            .collect();
        let curves: Vec<Curve> = pairs
            .par_iter()
            .map(|&(line, seed)| curve(&genome, &self.lines[line], seed, &marks))
            .collect();
        let of_line = |(line, curves): (&Line, &[Curve])| {
            let over = |value: &dyn Fn(&Curve) -> f64| {
                let values: Vec<f64> = curves.iter().map(value).collect();
                Statistic::of(&values)
            };
            let point = |(mark, &evaluations): (usize, &usize)| Point {
                evaluations,
                generation: evaluations / line.operators.n,
                fitness: over(&|curve| curve[mark].0),
                best_of_generation: over(&|curve| curve[mark].1),
            };
            let mean = |curve: &Curve| {
                let sum: f64 = curve.iter().map(|(pool, _)| pool).sum();
                sum / curve.len() as f64
            };
            LineResult {
                label: line.label.clone(),
                points: marks.iter().enumerate().map(point).collect(),
                average: over(&mean),
                last: over(&|curve| curve[marks.len() - 1].0),
            }
        };
        let chunks = curves.chunks(seeds.max(1));
        let lines: Vec<LineResult> = self.lines.iter().zip(chunks).map(of_line).collect();
        StudyResult {
            study: self.name,
            of: self.of,
            seeds,
            statements: (self.compare)(&lines),
            lines,
        }
    }

    /// Returns the sample points of the curves, as at most ten numbers of evaluated individuals.
    /// The smallest number is large enough for every line to have completed a generation.
    fn marks(&self) -> Vec<usize> {
        // Lines are compared at the same numbers of individuals. At the smallest number, even the line with
        // the largest generations has completed one generation.
        let largest = self.lines.iter().map(|line| line.operators.n).max();
        let first = largest.unwrap_or(1).max(self.evaluations / 10);
        (1..=10)
            .map(|number| self.evaluations * number / 10)
            .filter(|mark| *mark >= first)
            .collect()
    }
}

/// Best fitness of the pool, and of the last generation alone, at each mark.
type Curve = Vec<(f64, f64)>;

fn curve(genome: &Genome, line: &Line, seed: u64, marks: &[usize]) -> Curve {
    let plan = plan(line.method, line.operators, seed);
    let mut breeder: Box<dyn Breeder> = match line.method {
        Method::CmaEs => Box::new(
            CmaEs::new(genome, plan)
                .expect("a study needs at least two individuals per generation"),
        ),
        _ => Box::new(Nursery::new(genome, plan)),
    };
    let (mut evaluated, mut best) = (0, f64::NAN);
    let mut curve = Curve::new();
    for &mark in marks {
        // Only complete generations are counted, so a line never has more individuals than the mark.
        while evaluated + line.operators.n <= mark {
            best = breed(&mut *breeder);
            evaluated += line.operators.n;
        }
        let pool = breeder.pool().best();
        curve.push((pool.map_or(f64::NAN, |pool| pool.fitness), best));
    }
    curve
}

fn plan(method: Method, operators: Operators, seed: u64) -> Plan {
    Plan {
        method,
        operators,
        learning: Learning::default(),
        start: Start::Random,
        // The fitness has no noise, so evaluating again would not change anything.
        elite: Elite::Keep,
        seed,
    }
}

/// Breeds and evaluates a generation on the benchmark. Returns the fitness of its best individual.
fn breed(breeder: &mut dyn Breeder) -> f64 {
    let asked = breeder.ask();
    let sums: Vec<f64> = asked.iter().map(|c| c.genes.iter().sum()).collect();
    let told: Vec<_> = sums.iter().copied().map(Some).collect();
    breeder.tell(&told);
    sums.into_iter().fold(f64::INFINITY, f64::min)
}

/// Returns the rows of table 10.3, bred with the given seed.
pub fn chromosomes(seed: u64) -> Vec<GenerationRow> {
    let genome = sum_of_genes::genome();
    let plan = plan(Method::Genetic, Operators::default(), seed);
    let mut nursery = Nursery::new(&genome, plan);
    let mut rows = Vec::new();
    for generation in 1..=PRINTED[PRINTED.len() - 1] {
        let asked = nursery.ask();
        breed(&mut nursery);
        if PRINTED.contains(&generation) {
            let sum = |genes: &[f64]| genes.iter().sum::<f64>();
            let best = asked
                .iter()
                .min_by(|a, b| sum(&a.genes).total_cmp(&sum(&b.genes)));
            rows.extend(best.map(|best| GenerationRow {
                generation,
                chromosome: genome.print(&best.genes),
                fitness: sum(&best.genes),
            }));
        }
    }
    rows
}

/// Returns the second mean minus the first mean, with the standard error of this difference.
fn difference(first: &Statistic, second: &Statistic) -> (f64, f64) {
    let square = |statistic: &Statistic| statistic.standard_error * statistic.standard_error;
    (
        second.mean - first.mean,
        (square(first) + square(second)).sqrt(),
    )
}

/// Whether the last point of the first line is lower by more than two standard errors.
fn ends_lower(first: &LineResult, second: &LineResult) -> bool {
    let (difference, error) = difference(&first.last, &second.last);
    // The threshold is two standard errors of the difference, so that about 1 of 40 such claims is false.
    difference > 2.0 * error
}

/// Whether the first line learns faster, that is, its mean over the curve is lower by more than two standard
/// errors.
fn is_faster(first: &LineResult, second: &LineResult) -> bool {
    let (difference, error) = difference(&first.average, &second.average);
    difference > 2.0 * error
}

/// Formats a statistic of each line as a mean with its standard error.
fn means(lines: &[LineResult], of: fn(&LineResult) -> &Statistic) -> String {
    let mean = |line: &LineResult| {
        let Statistic {
            mean,
            standard_error,
            ..
        } = *of(line);
        format!("{} {mean:.2} +- {standard_error:.2}", line.label)
    };
    lines.iter().map(mean).collect::<Vec<_>>().join("; ")
}

fn ends(lines: &[LineResult]) -> String {
    format!("at the end: {}", means(lines, |line| &line.last))
}

fn averages(lines: &[LineResult]) -> String {
    format!("mean of the curve: {}", means(lines, |line| &line.average))
}

fn statement(says: &str, holds: bool, found: String) -> Statement {
    Statement {
        says: says.into(),
        holds,
        found,
    }
}

fn compare_learning(lines: &[LineResult]) -> Vec<Statement> {
    let points = &lines[0].points;
    let (first, end) = (points[0].fitness, &points[points.len() - 1]);
    let (last, printed) = (end.fitness, end.best_of_generation);
    // 36 random genes of 0 to 4 have a mean of 2 each.
    let chance = 72.0;
    let share = (chance - first.mean) / (chance - last.mean);
    vec![
        statement(
            "learning is quick at first and follows a law of diminishing returns",
            share > 0.5,
            format!(
                "{:.0} % of the improvement over chance is made in the first tenth",
                100.0 * share
            ),
        ),
        statement(
            "the best of generation 999 has a fitness of 4 (one run, table 10.3)",
            (printed.mean - 4.0).abs() <= 2.0 * printed.standard_deviation,
            format!(
                "{:.2} with a deviation of {:.2} from seed to seed; the pool has {:.2}",
                printed.mean, printed.standard_deviation, last.mean
            ),
        ),
    ]
}

fn compare_probabilities(lines: &[LineResult]) -> Vec<Statement> {
    let (control, bred) = (&lines[0], &lines[1..]);
    let fifth = &lines[2];
    let others = |line: &&LineResult| line.label != fifth.label;
    let (slow, middle) = ([&lines[1], &lines[4]], [&lines[2], &lines[3]]);
    vec![
        statement(
            "every r above 0 is better than the control, r = 0",
            bred.iter().all(|line| ends_lower(line, control)),
            ends(lines),
        ),
        statement(
            "r = 0.2 reaches the best final fitness",
            bred.iter()
                .filter(others)
                .all(|line| ends_lower(fifth, line)),
            ends(bred),
        ),
        statement(
            "r = 0.1 and r = 0.8 learn most slowly",
            slow.iter()
                .all(|slow| middle.iter().all(|line| is_faster(line, slow))),
            averages(bred),
        ),
    ]
}

fn compare_ranges(lines: &[LineResult]) -> Vec<Statement> {
    let slower = |line: &&LineResult| is_faster(&lines[1], line);
    vec![
        statement(
            "ranges of 1 to 2 are sufficient: no other range reaches a lower final fitness than m \
             = 2",
            !lines.iter().any(|line| ends_lower(line, &lines[1])),
            ends(lines),
        ),
        statement(
            "ranges of 5 and 6 learn more slowly than m = 2",
            lines[4..].iter().filter(slower).count() == 2,
            averages(lines),
        ),
    ]
}

fn compare_sizes(lines: &[LineResult]) -> Vec<Statement> {
    vec![
        statement(
            "n = 4 learns fastest at an equal number of evaluated individuals",
            lines[1..].iter().all(|line| is_faster(&lines[0], line)),
            averages(lines),
        ),
        statement(
            "the larger n is, the slower the learning",
            lines.windows(2).all(|pair| is_faster(&pair[0], &pair[1])),
            averages(lines),
        ),
    ]
}

fn compare_parents(lines: &[LineResult]) -> Vec<Statement> {
    let (slower, error) = difference(&lines[1].average, &lines[0].average);
    vec![
        statement(
            "the curve with one parent is almost the same as with two",
            slower.abs() <= 2.0 * error,
            averages(lines),
        ),
        statement(
            "4, 10 and 20 parents end on a worse plateau than 2",
            lines[2..].iter().all(|line| ends_lower(&lines[1], line)),
            ends(lines),
        ),
    ]
}

fn compare_guidelines(lines: &[LineResult]) -> Vec<Statement> {
    vec![statement(
        "n = 4, m = 3 and r = 0.2 are good initial values: no other setting reaches a lower final fitness",
        !lines[1..].iter().any(|line| ends_lower(line, &lines[0])),
        ends(lines),
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, seeds: usize) -> StudyResult {
        let study = studies().into_iter().find(|study| study.name == name);
        study.unwrap().run(seeds)
    }

    #[test]
    fn studies_are_the_same_for_any_number_of_threads() {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| run("mutation-range", 5))
        };
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn every_study_has_lines_that_end_where_it_says() {
        for study in studies().iter().filter(|study| study.name != "parents") {
            let result = study.run(2);
            assert_eq!(result.lines.len(), study.lines.len(), "{}", study.name);
            for line in &result.lines {
                let last = line.points.last().unwrap();
                assert_eq!(last.evaluations, study.evaluations);
                assert!((0.0..=144.0).contains(&last.fitness.mean), "{}", line.label);
                assert_eq!(last.fitness.count, 2);
            }
        }
    }

    #[test]
    fn without_mutation_nothing_is_learnt_and_with_it_much() {
        let result = run("mutation-probability", 40);
        assert!(result.statements[0].holds, "{:?}", result.statements);
        // Control: a line is not better than itself.
        assert!(!ends_lower(&result.lines[0], &result.lines[0]));
        assert!(!ends_lower(&result.lines[0], &result.lines[2]));
        assert!(is_faster(&result.lines[2], &result.lines[0]));
    }

    #[test]
    fn table_10_3_ends_near_the_optimum() {
        let rows = chromosomes(1);
        assert_eq!(rows.len(), PRINTED.len());
        assert!(rows.iter().all(|row| row.chromosome.len() == 36));
        assert!(rows[0].fitness > 20.0, "{:?}", rows[0]);
        assert!(rows[17].fitness < 15.0, "{:?}", rows[17]);
    }
}
