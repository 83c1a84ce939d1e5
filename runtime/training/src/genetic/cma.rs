//! Covariance matrix adaptation [Hansen 2016] as a baseline, using the crate `cmaes`.
//!
//! The crate calls an objective function while it samples. For ask and tell, each generation is sampled by a
//! new instance with the same seed, which first receives the results of all earlier generations again. Its
//! results for the new generation are discarded. So there is nothing to save, and a training run is resumed
//! as with any other breeder. The cost grows with the square of the number of generations, but 50 generations
//! with 36 genes take only milliseconds.

use super::breeder::{Breeder, Candidate, Plan, Start, elite};
use super::genes::{Chromosome, Genome};
use super::pool::{Birth, Individual, Pool};
use cmaes::{CMAESOptions, DVector};
use std::cell::RefCell;

/// Initial standard deviation as a fraction of the range of a gene, as the tutorial proposes for bounded
/// ranges.
const SIGMA: f64 = 0.3;

/// A breeder that samples from a normal distribution and moves it towards the better samples.
///
/// Ranges are scaled to 0 to 1. Values outside are clamped, and whole numbers are rounded.
pub struct CmaEs<'a> {
    genome: &'a Genome,
    plan: Plan,
    pool: Pool,
    /// Fitness of its samples, generation by generation.
    told: Vec<Vec<f64>>,
}

impl<'a> CmaEs<'a> {
    /// Creates a breeder before its first generation.
    ///
    /// # Errors
    /// If generations are too small for the method.
    pub fn new(genome: &'a Genome, plan: Plan) -> Result<Self, String> {
        if plan.operators.n < 2 {
            return Err("operators: n: method cma_es needs 2 or more".into());
        }
        Ok(Self {
            genome,
            plan,
            pool: Pool::new(plan.operators.p),
            told: Vec::new(),
        })
    }

    /// Returns the samples of the next generation.
    fn sample(&self) -> Vec<Chromosome> {
        // Instances with the same seed request the same values in the same order. As long as results are
        // known, an earlier generation is repeated; the first request without a result begins the new
        // generation.
        let told = self.told.iter().flatten().copied();
        let answers = RefCell::new(told);
        let samples = RefCell::new(Vec::new());
        let objective = |x: &DVector<f64>| match answers.borrow_mut().next() {
            Some(answer) => answer,
            None => {
                samples.borrow_mut().push(self.chromosome(x.as_slice()));
                0.0
            }
        };
        let options = CMAESOptions::new(self.begin(), SIGMA)
            .population_size(self.plan.operators.n)
            .seed(self.plan.seed);
        let mut state = options
            .build(objective)
            .expect("genes, generations and step were checked");
        // The crate's own termination is ignored, because the experiment decides when to stop. There is an
        // iteration for each known generation and one for the new one, whose results of 0 are discarded with
        // the instance.
        for _ in 0..=self.told.len() {
            let _ = state.next();
        }
        drop(state);
        samples.into_inner()
    }

    /// Mean of the initial distribution, scaled to 0 to 1.
    fn begin(&self) -> Vec<f64> {
        let genes = self.genome.genes().iter();
        genes
            .map(|gene| match self.plan.start {
                Start::Stack => (gene.start - gene.min) / (gene.max - gene.min),
                Start::Random => 0.5,
            })
            .collect()
    }

    fn chromosome(&self, scaled: &[f64]) -> Chromosome {
        let genes = self.genome.genes().iter().zip(scaled);
        genes
            .map(|(gene, x)| gene.nearest(gene.min + x * (gene.max - gene.min)))
            .collect()
    }
}

impl Breeder for CmaEs<'_> {
    fn ask(&mut self) -> Vec<Candidate> {
        let mut asked = elite(self.genome, &self.plan, &self.pool, self.generation());
        let generation = self.generation() + 1;
        asked.extend((0..).zip(self.sample()).map(|(number, genes)| Candidate {
            genes,
            birth: Birth { generation, number },
        }));
        asked
    }

    fn tell(&mut self, fitness: &[Option<f64>]) {
        let asked = self.ask();
        self.pool.begin_generation(self.plan.elite);
        // The elite precedes the samples and is only evaluated again for the pool, because the crate needs
        // the results of exactly its own samples in order.
        let samples = fitness.len().saturating_sub(self.plan.operators.n);
        // Only the order of fitnesses matters, so candidates without one are ranked behind all others.
        let worst = fitness.iter().flatten().copied().fold(0.0, f64::max);
        let told = fitness[samples..].iter();
        self.told
            .push(told.map(|f| f.unwrap_or(worst + 1.0)).collect());
        for (candidate, fitness) in asked.into_iter().zip(fitness) {
            if let Some(fitness) = *fitness {
                self.pool.offer(Individual {
                    genes: candidate.genes,
                    fitness,
                    birth: candidate.birth,
                });
            }
        }
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn generation(&self) -> u32 {
        self.told.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::breeder::{Elite, Method};
    use super::super::cross_entropy::Learning;
    use super::super::operators::Operators;
    use super::super::sum_of_genes::genome;
    use super::*;

    fn plan(n: usize) -> Plan {
        Plan {
            method: Method::CmaEs,
            operators: Operators {
                n,
                ..Operators::default()
            },
            learning: Learning::default(),
            start: Start::Random,
            elite: Elite::Keep,
            seed: 3,
        }
    }

    fn train(generations: usize) -> (f64, u64) {
        let genome = genome();
        let mut breeder = CmaEs::new(&genome, plan(12)).unwrap();
        for _ in 0..generations {
            let asked = breeder.ask();
            assert_eq!(asked.len(), 12);
            assert_eq!(asked, breeder.ask());
            let sums: Vec<_> = asked.iter().map(|c| Some(c.genes.iter().sum())).collect();
            breeder.tell(&sums);
        }
        (
            breeder.pool().best().unwrap().fitness,
            breeder.pool().hash(),
        )
    }

    #[test]
    fn it_learns_and_does_the_same_again() {
        let (best, hash) = train(40);
        assert!(best < 30.0, "72 on average by chance, {best} now");
        assert_eq!(train(40).1, hash);
    }

    #[test]
    fn who_is_unfit_stays_out_and_small_generations_are_refused() {
        let genome = genome();
        assert!(CmaEs::new(&genome, plan(1)).is_err());
        let mut breeder = CmaEs::new(&genome, plan(4)).unwrap();
        for _ in 0..30 {
            breeder.tell(&[None; 4]);
        }
        assert!(breeder.pool().members().is_empty());
        for candidate in breeder.ask() {
            for (gene, value) in genome.genes().iter().zip(&candidate.genes) {
                assert!((gene.min..=gene.max).contains(value) && value.fract() == 0.0);
            }
        }
    }
}
