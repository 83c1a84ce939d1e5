//! The ask-and-tell interface of breeding: candidates to evaluate, and their results.
//!
//! A breeder does not know how candidates are evaluated. The caller asks it for the candidates of a
//! generation, evaluates them, and tells it the results. Random numbers come from streams that are identified
//! by seed, generation and number of the individual. Therefore the only state is the pool and the number of
//! the generation, and given the same results, a breeder proposes the same candidates.

use super::cross_entropy::Learning;
use super::genes::{Chromosome, Genome};
use super::operators::Operators;
use super::pool::{Birth, Individual, Pool};
use roadwright_geometry::math::{Stream, mix64};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An individual to be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Genes of the candidate.
    pub genes: Chromosome,
    /// Generation in which the individual was bred, and its number in that generation.
    pub birth: Birth,
}

/// Method that creates generations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Crossover and mutation of the best individuals.
    #[default]
    Genetic,
    /// A probability distribution for each gene, which moves towards the values of the best individuals
    /// ([Rubinstein 1999]).
    CrossEntropy,
    /// Baseline: uniform random individuals.
    Random,
    /// Baseline: changes the genes of the best individual one after another by one level, up or down
    /// ([Gerdelan 2011], section 9.3).
    HillClimbing,
    /// Baseline: covariance matrix adaptation ([Hansen 2016]).
    CmaEs,
}

/// Starting point of training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// The values in the stack.
    #[default]
    Stack,
    /// Uniform random values.
    Random,
}

/// Whether the best individuals are evaluated again in each generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Elite {
    /// The best individuals are evaluated again on the courses of each generation, so that an individual does
    /// not stay in the pool by luck.
    #[default]
    Rerun,
    /// The best individuals are not evaluated again. Their first evaluation counts, as in the source.
    Keep,
}

/// Breeding settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Method that creates generations.
    pub method: Method,
    /// The operators. Methods other than the genetic one use only `p` and `n`.
    pub operators: Operators,
    /// Learning rates of the cross-entropy method.
    pub learning: Learning,
    /// Starting point of training.
    pub start: Start,
    /// Whether the best individuals are evaluated again.
    pub elite: Elite,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Proposes candidates and learns from their fitness.
pub trait Breeder: Send + Sync {
    /// Returns the candidates of the next generation. Until `tell` is called, repeated calls return the same
    /// candidates.
    fn ask(&mut self) -> Vec<Candidate>;

    /// Receives the fitness values of the candidates, in order. Each fitness is a mean of scores, and lower
    /// is better. `None` marks a candidate that could not be judged, which never enters the pool.
    fn tell(&mut self, fitness: &[Option<f64>]);

    /// Returns the current pool of the best individuals.
    fn pool(&self) -> &Pool;

    /// Returns the individual that the breeder currently prefers. This is the best individual of
    /// the pool, unless the method offers a more reliable choice. The champion is chosen among
    /// these individuals.
    fn leader(&self) -> Option<Chromosome> {
        self.pool().best().map(|best| best.genes.clone())
    }

    /// Returns the number of restarts before the last completed generation.
    fn beginning(&self) -> u32 {
        0
    }

    /// Returns the number of generations whose results are known.
    fn generation(&self) -> u32;
}

/// The breeder for methods that do not use a distribution.
#[derive(Debug, Clone)]
pub struct Nursery<'a> {
    genome: &'a Genome,
    plan: Plan,
    pool: Pool,
    generation: u32,
    /// Number of one-gene changes that hill climbing has tried.
    climbed: usize,
}

impl<'a> Nursery<'a> {
    /// Creates a breeder before its first generation.
    pub fn new(genome: &'a Genome, plan: Plan) -> Self {
        Self {
            genome,
            plan,
            pool: Pool::new(plan.operators.p),
            generation: 0,
            climbed: 0,
        }
    }

    /// Returns the number of children in the next generation.
    fn children(&self) -> usize {
        let Operators { n, first, .. } = self.plan.operators;
        let has_parents = self.plan.start == Start::Stack || !self.pool.members().is_empty();
        if has_parents { n } else { n.max(first) }
    }

    fn child(&self, birth: Birth) -> Chromosome {
        // Each child has a random stream that is identified by its birth, so it depends only on its parents
        // and its number. Therefore asking twice gives the same children, which `tell` relies on.
        let mut stream = Stream::new(
            mix64(self.plan.seed ^ mix64(u64::from(birth.generation))),
            "breeding",
            u64::from(birth.number),
        );
        let members = self.pool.members();
        match self.plan.method {
            Method::Random => self.genome.random(&mut stream),
            Method::HillClimbing => self.step_of(birth, &mut stream),
            Method::Genetic | Method::CrossEntropy | Method::CmaEs => {
                let start = self.genome.start();
                let mut parents: Vec<&[f64]> = members.iter().map(|m| &m.genes[..]).collect();
                if parents.is_empty() && self.plan.start == Start::Stack {
                    parents.push(&start);
                }
                self.plan
                    .operators
                    .breed(self.genome, &parents, &mut stream)
            }
        }
    }

    /// Returns the best individual with one gene changed by one level.
    fn step_of(&self, birth: Birth, stream: &mut Stream) -> Chromosome {
        let mut genes = match (self.pool.best(), self.plan.start) {
            (Some(best), _) => best.genes.clone(),
            (None, Start::Stack) => self.genome.start(),
            (None, Start::Random) => return self.genome.random(stream),
        };
        // There are two changes for each gene, up and down. They are tried one after another for all genes,
        // and then from the start again. `climbed` continues where the previous generation ended.
        let change = self.climbed + birth.number as usize;
        let index = change / 2 % genes.len();
        let gene = &self.genome.genes()[index];
        let change_of_gene = if change.is_multiple_of(2) {
            gene.step
        } else {
            -gene.step
        };
        genes[index] = self
            .plan
            .operators
            .bounds
            .put_back(gene, genes[index] + change_of_gene);
        genes
    }
}

/// Returns individuals that are evaluated in addition to the new ones: the members of the pool and,
/// in the first generation, the baseline (the values before training).
pub(super) fn elite(genome: &Genome, plan: &Plan, pool: &Pool, generation: u32) -> Vec<Candidate> {
    if generation == 0 {
        let start = (plan.start == Start::Stack).then(|| Candidate {
            genes: genome.start(),
            birth: Birth {
                generation: 0,
                number: 0,
            },
        });
        return start.into_iter().collect();
    }
    if plan.elite == Elite::Keep {
        return Vec::new();
    }
    let again = |member: &Individual| Candidate {
        genes: member.genes.clone(),
        birth: member.birth,
    };
    pool.members().iter().map(again).collect()
}

impl Breeder for Nursery<'_> {
    fn ask(&mut self) -> Vec<Candidate> {
        let mut asked = elite(self.genome, &self.plan, &self.pool, self.generation);
        asked.extend((0..self.children() as u32).map(|number| {
            let birth = Birth {
                generation: self.generation + 1,
                number,
            };
            Candidate {
                genes: self.child(birth),
                birth,
            }
        }));
        asked
    }

    fn tell(&mut self, fitness: &[Option<f64>]) {
        // The candidates are requested before the pool changes, because the fitness values belong to the
        // current candidates.
        let (asked, children) = (self.ask(), self.children());
        self.pool.begin_generation(self.plan.elite);
        self.pool.offer_all(asked, fitness);
        self.climbed += children;
        self.generation += 1;
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn generation(&self) -> u32 {
        self.generation
    }
}

#[cfg(test)]
mod tests {
    use super::super::sum_of_genes::genome;
    use super::*;

    fn plan(method: Method) -> Plan {
        Plan {
            method,
            operators: Operators::default(),
            learning: Learning::default(),
            start: Start::Random,
            elite: Elite::Keep,
            seed: 7,
        }
    }

    fn sums(asked: &[Candidate]) -> Vec<Option<f64>> {
        asked.iter().map(|c| Some(c.genes.iter().sum())).collect()
    }

    #[test]
    fn asking_twice_gives_the_same_and_telling_moves_on() {
        let genome = genome();
        for method in [Method::Genetic, Method::Random, Method::HillClimbing] {
            let mut nursery = Nursery::new(&genome, plan(method));
            for generation in 0..5 {
                assert_eq!(nursery.generation(), generation);
                let asked = nursery.ask();
                assert_eq!(asked, nursery.ask());
                assert_eq!(asked.len(), 4);
                nursery.tell(&sums(&asked));
                assert_ne!(asked, nursery.ask());
            }
        }
    }

    #[test]
    fn with_a_kept_elite_the_pool_only_gets_better() {
        let genome = genome();
        let mut nursery = Nursery::new(&genome, plan(Method::Genetic));
        let mut best = f64::INFINITY;
        for _ in 0..300 {
            let asked = nursery.ask();
            nursery.tell(&sums(&asked));
            let now = nursery.pool().best().unwrap().fitness;
            assert!(now <= best);
            best = now;
        }
        assert!(best < 20.0, "72 on average by chance, {best} now");
    }

    #[test]
    fn a_lucky_elite_does_not_stay_when_it_is_judged_again() {
        let genome = genome();
        let plan = Plan {
            elite: Elite::Rerun,
            ..plan(Method::Genetic)
        };
        let mut nursery = Nursery::new(&genome, plan);
        let asked = nursery.ask();
        nursery.tell(&[Some(-100.0), Some(50.0), Some(60.0), Some(70.0)]);
        let lucky = asked[0].birth;
        assert_eq!(nursery.pool().best().unwrap().birth, lucky);
        let asked = nursery.ask();
        assert_eq!(asked.len(), 6, "two parents and four children");
        assert_eq!(asked[0].birth, lucky);
        let fitness: Vec<_> = (0..6).map(|i| Some(100.0 - f64::from(i))).collect();
        nursery.tell(&fitness);
        assert!(nursery.pool().members().iter().all(|m| m.birth != lucky));
    }

    #[test]
    fn who_is_not_fit_for_judging_stays_out_even_if_nobody_is() {
        let genome = genome();
        let mut nursery = Nursery::new(&genome, plan(Method::Genetic));
        nursery.tell(&[None; 4]);
        assert!(nursery.pool().members().is_empty());
        let asked = nursery.ask();
        assert_eq!(asked.len(), 4, "new random ones");
        nursery.tell(&[None, Some(3.0), None, None]);
        assert_eq!(nursery.pool().members().len(), 1);
    }

    #[test]
    fn without_parents_a_generation_is_as_large_as_is_asked() {
        let genome = genome();
        let mut plan = plan(Method::Genetic);
        plan.operators.first = 50;
        let mut nursery = Nursery::new(&genome, plan);
        assert_eq!(nursery.ask().len(), 50);
        nursery.tell(&[None; 50]);
        assert_eq!(nursery.ask().len(), 50, "still no pool");
        let mut fitness = [None; 50];
        fitness[49] = Some(3.0);
        nursery.tell(&fitness);
        assert_eq!(nursery.pool().members().len(), 1);
        assert_eq!(nursery.ask().len(), 4);
        plan.start = Start::Stack;
        assert_eq!(Nursery::new(&genome, plan).ask().len(), 5);
    }

    #[test]
    fn hill_climbing_moves_one_gene_by_one() {
        let genome = genome();
        let plan = Plan {
            start: Start::Stack,
            ..plan(Method::HillClimbing)
        };
        let mut nursery = Nursery::new(&genome, plan);
        for _ in 0..30 {
            let best = nursery.pool().best().map(|best| best.genes.clone());
            let from = best.unwrap_or_else(|| genome.start());
            let asked = nursery.ask();
            for candidate in &asked {
                let changed = candidate
                    .genes
                    .iter()
                    .zip(&from)
                    .map(|(a, b)| (a - b).abs());
                assert!(changed.sum::<f64>() <= 1.0);
            }
            nursery.tell(&sums(&asked));
        }
    }
}
