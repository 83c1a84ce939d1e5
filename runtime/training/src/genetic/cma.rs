//! Covariance matrix adaptation [Hansen 2016] as a baseline.

use super::breeder::{Breeder, Candidate, Plan, Start, elite};
use super::covariance::Covariance;
use super::genes::{Chromosome, Genome};
use super::pool::{Birth, Pool};
use roadwright_geometry::math::Stream;

/// Initial standard deviation as a fraction of the range of a gene, as the tutorial suggests for bounded
/// ranges.
const SIGMA: f64 = 0.3;

/// A breeder that samples from a normal distribution and moves it towards the better samples.
///
/// Gene ranges are scaled to 0 to 1. Values outside the range are clamped, and values of integer genes are
/// rounded.
pub struct CmaEs<'a> {
    genome: &'a Genome,
    plan: Plan,
    pool: Pool,
    distribution: Covariance,
    /// The samples of the next generation, as steps from the mean of the distribution.
    steps: Vec<Vec<f64>>,
}

impl<'a> CmaEs<'a> {
    /// Creates a breeder before its first generation.
    ///
    /// # Errors
    /// If generations are too small for the method.
    pub fn new(genome: &'a Genome, plan: Plan) -> Result<Self, String> {
        let samples = plan.operators.n;
        if samples < 2 {
            return Err("operators: n: the method cma_es needs at least 2".into());
        }
        let distribution = Covariance::new(begin(genome, plan.start), SIGMA, samples);
        Ok(Self {
            genome,
            pool: Pool::new(plan.operators.p),
            steps: steps(&distribution, &plan),
            distribution,
            plan,
        })
    }

    fn chromosome(&self, scaled: &[f64]) -> Chromosome {
        let genes = self.genome.genes().iter().zip(scaled);
        genes
            .map(|(gene, x)| gene.nearest(gene.min + x * (gene.max - gene.min)))
            .collect()
    }
}

/// Returns the mean of the initial distribution, scaled to 0 to 1.
fn begin(genome: &Genome, start: Start) -> Vec<f64> {
    let genes = genome.genes().iter();
    genes
        .map(|gene| match start {
            Start::Stack => (gene.start - gene.min) / (gene.max - gene.min),
            Start::Random => 0.5,
        })
        .collect()
}

/// Draws a generation. Each sample has a separate random stream, so that a resumed training run draws the
/// same samples.
fn steps(distribution: &Covariance, plan: &Plan) -> Vec<Vec<f64>> {
    let mut stream = Stream::new(plan.seed, "cma_es", u64::from(distribution.generation()));
    let samples = 0..plan.operators.n;
    samples.map(|_| distribution.step(&mut stream)).collect()
}

impl Breeder for CmaEs<'_> {
    fn ask(&mut self) -> Vec<Candidate> {
        let mut asked = elite(self.genome, &self.plan, &self.pool, self.generation());
        let generation = self.generation() + 1;
        asked.extend((0..).zip(&self.steps).map(|(number, step)| Candidate {
            genes: self.chromosome(&self.distribution.point(step)),
            birth: Birth { generation, number },
        }));
        asked
    }

    fn tell(&mut self, fitness: &[Option<f64>]) {
        let asked = self.ask();
        self.pool.begin_generation(self.plan.elite);
        // The elite comes before the samples. It was not drawn from the distribution, so its evaluation is
        // only used for the pool.
        let samples = fitness.len().saturating_sub(self.plan.operators.n);
        // Only the order matters, so unfit candidates rank below all others. If two candidates are equal, the
        // first one ranks higher.
        let mut ranked: Vec<(f64, &[f64])> = fitness[samples..]
            .iter()
            .map(|fitness| fitness.unwrap_or(f64::INFINITY))
            .zip(self.steps.iter().map(Vec::as_slice))
            .collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ranked: Vec<&[f64]> = ranked.into_iter().map(|(_, step)| step).collect();
        self.distribution.learn(&ranked);
        self.steps = steps(&self.distribution, &self.plan);
        self.pool.offer_all(asked, fitness);
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn generation(&self) -> u32 {
        self.distribution.generation()
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
