//! The cross-entropy method [Rubinstein 1999]. Every gene has a distribution over its values.
//! Children are drawn from these distributions, which then move towards the values of the best
//! individuals of a generation.
//!
//! On few courses, a single individual may be lucky, but hardly a whole generation. Here, a value
//! of a gene is judged by all individuals that have it. Therefore this method can learn from many
//! children with few drives each, whereas breeding from a few parents would keep a lucky individual
//! with all its genes.
//!
//! The best individual counts most, because weights fall with the logarithm of the rank, as in
//! [Hansen 2016].

use super::breeder::{Breeder, Candidate, Elite, Plan, Start};
use super::genes::{Chromosome, Gene, Genome};
use super::operators::Operators;
use super::pool::{Birth, Individual, Pool};
use roadwright_geometry::math::{Stream, ln, mix64};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of values of a gene. Each value has a separate probability.
const MOST_LEVELS: f64 = 1000.0;
/// Initial probability of the stack's value if training starts from the stack. The rest is distributed
/// uniformly.
const TRUST: f64 = 0.5;

/// Rates at which the distributions follow the best individuals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Learning {
    /// Fraction of a distribution that each generation replaces, greater than 0 and at most 1. With 1, all
    /// earlier generations are forgotten.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub rate: f64,
    /// Minimum probability of a value before the probabilities are normalised to a sum of 1, 0 to 0.1. It
    /// keeps values that have disappeared reachable.
    #[schemars(range(min = 0.0, max = 0.1))]
    pub least: f64,
    /// Number of generations after which the search restarts from the initial distribution, 2 to 100000;
    /// absent for no restarts. The result of a search depends partly on luck, and the champion is chosen
    /// among the last individuals of all restarts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 100_000))]
    pub restart: Option<u32>,
}

impl Default for Learning {
    fn default() -> Self {
        Self {
            rate: 0.6,
            least: 0.01,
            restart: None,
        }
    }
}

impl Learning {
    /// Returns the number of restarts before a generation, and the number of the generation since the last
    /// restart, starting at 1.
    pub fn beginning(self, generation: u32) -> (u32, u32) {
        let before = generation.saturating_sub(1);
        match self.restart {
            Some(restart) => (before / restart, before % restart + 1),
            None => (0, generation),
        }
    }

    /// Checks that all values are in their ranges.
    ///
    /// # Errors
    /// If a value is out of its range. The message has the value and the expected range.
    pub fn validate(&self) -> Result<(), String> {
        // Written so that NaN counts as out of range.
        if !(self.rate > 0.0 && self.rate <= 1.0) {
            let found = self.rate;
            return Err(format!(
                "rate: {found} is out of range: expected more than 0 and at most 1"
            ));
        }
        if !(0.0..=0.1).contains(&self.least) {
            let found = self.least;
            return Err(format!("least: {found} is out of range: expected 0 to 0.1"));
        }
        if let Some(found) = self.restart.filter(|r| !(2..=100_000).contains(r)) {
            return Err(format!(
                "restart: {found} is out of range: expected 2 to 100000"
            ));
        }
        Ok(())
    }
}

/// Probabilities of the values of a gene, indexed in steps from its smallest value. Their sum is 1.
#[derive(Debug, Clone, PartialEq)]
struct Distribution(Vec<f64>);

impl Distribution {
    fn uniform(gene: &Gene) -> Self {
        let count = levels(gene);
        Self(vec![1.0 / count as f64; count])
    }

    /// Creates a distribution with half of its probability at the step nearest to the initial value. The
    /// other half is distributed uniformly.
    fn around_start(gene: &Gene) -> Self {
        let mut distribution = Self::uniform(gene);
        distribution.0.iter_mut().for_each(|p| *p *= 1.0 - TRUST);
        distribution.0[level_of(gene, gene.start)] += TRUST;
        distribution
    }

    fn draw(&self, stream: &mut Stream) -> usize {
        let mut left = stream.next_unit();
        let last = self.0.len() - 1;
        // The last value absorbs the rounding error.
        for (level, probability) in self.0[..last].iter().enumerate() {
            if left < *probability {
                return level;
            }
            left -= probability;
        }
        last
    }

    /// Returns the most probable value or, on a tie, the smallest of the most probable values.
    fn mode(&self) -> usize {
        let mut best = 0;
        for (level, probability) in self.0.iter().enumerate() {
            if *probability > self.0[best] {
                best = level;
            }
        }
        best
    }

    /// Moves the distribution towards the values of the best individuals. Each individual has a weight, and
    /// the weights add up to 1.
    fn follow(&mut self, best: &[(usize, f64)], learning: Learning) {
        for probability in &mut self.0 {
            *probability *= 1.0 - learning.rate;
        }
        for (level, weight) in best {
            self.0[*level] += learning.rate * weight;
        }
        for probability in &mut self.0 {
            *probability = probability.max(learning.least);
        }
        let sum: f64 = self.0.iter().sum();
        for probability in &mut self.0 {
            *probability /= sum;
        }
    }
}

/// Returns the number of values that a gene can have.
fn levels(gene: &Gene) -> usize {
    ((gene.max - gene.min) / gene.step).round() as usize + 1
}

fn level_of(gene: &Gene, value: f64) -> usize {
    let level = ((value - gene.min) / gene.step).round().max(0.0) as usize;
    level.min(levels(gene) - 1)
}

fn value_of(gene: &Gene, level: usize) -> f64 {
    // Rounding may put the last step above the maximum, which is not a valid value of the gene.
    (gene.min + level as f64 * gene.step).min(gene.max)
}

/// A breeder that draws from a distribution for each gene. The best `p` individuals of a generation move the
/// distributions.
pub struct CrossEntropy<'a> {
    genome: &'a Genome,
    plan: Plan,
    distributions: Vec<Distribution>,
    /// Whether the distributions differ from the initial ones.
    has_learned: bool,
    pool: Pool,
    generation: u32,
}

impl<'a> CrossEntropy<'a> {
    /// Creates a breeder before its first generation.
    ///
    /// # Errors
    /// If a gene has too many values.
    pub fn new(genome: &'a Genome, plan: Plan) -> Result<Self, String> {
        let is_fine = |gene: &&Gene| (gene.max - gene.min) / gene.step >= MOST_LEVELS;
        if let Some(gene) = genome.genes().iter().find(is_fine) {
            return Err(format!(
                "method: cross_entropy needs a probability for each value, but {} has more than \
                 {MOST_LEVELS} values: use another method, or remove it from the genes",
                gene.name()
            ));
        }
        let mut breeder = Self {
            distributions: Vec::new(),
            has_learned: false,
            pool: Pool::new(plan.operators.p),
            generation: 0,
            genome,
            plan,
        };
        breeder.begin();
        Ok(breeder)
    }

    /// Starts or restarts the search.
    fn begin(&mut self) {
        let begin = match self.plan.start {
            Start::Stack => Distribution::around_start,
            Start::Random => Distribution::uniform,
        };
        self.distributions = self.genome.genes().iter().map(begin).collect();
        self.has_learned = false;
    }

    /// Restarts the search if a restart is due. This is done in `ask`, so that the finished search still
    /// provides the leader until the next generation.
    fn begin_if_due(&mut self) {
        let (times, number) = self.plan.learning.beginning(self.generation + 1);
        if times > 0 && number == 1 {
            self.begin();
        }
    }

    /// Returns the most probable individual; `None` before the first generation.
    fn mode(&self) -> Option<Chromosome> {
        let is_something = self.has_learned || self.plan.start == Start::Stack;
        let genes = self.genome.genes().iter().zip(&self.distributions);
        is_something.then(|| {
            genes
                .map(|(gene, distribution)| value_of(gene, distribution.mode()))
                .collect()
        })
    }

    /// Returns the number of children in the next generation. It is `first` until at least `p`
    /// individuals are fit, because distributions that follow only a few individuals would adopt
    /// all of their values.
    fn children(&self) -> usize {
        let Operators { p, n, first, .. } = self.plan.operators;
        let is_many = self.has_learned && self.pool.members().len() >= p;
        let is_founded = self.plan.start == Start::Stack || is_many;
        if is_founded { n } else { n.max(first) }
    }

    fn draw(&self, number: u32) -> Chromosome {
        // As in all breeders, each child has a random stream that is identified by its birth.
        let generation = u64::from(self.generation + 1);
        let mut stream = Stream::new(
            mix64(self.plan.seed ^ mix64(generation)),
            "cross entropy",
            u64::from(number),
        );
        let genes = self.genome.genes().iter().zip(&self.distributions);
        genes
            .map(|(gene, distribution)| value_of(gene, distribution.draw(&mut stream)))
            .collect()
    }

    /// Moves the distributions towards the best individuals of a generation, which are given best first.
    fn learn(&mut self, best: &[Individual]) {
        if best.is_empty() {
            return;
        }
        self.has_learned = true;
        // A few individuals are less reliable than many. If fewer than `p` individuals were fit, the learning
        // rate is reduced, down to a half.
        let share = best.len() as f64 / self.plan.operators.p as f64;
        let learning = Learning {
            rate: self.plan.learning.rate * share.sqrt().max(0.5),
            ..self.plan.learning
        };
        let weights = weights(best.len());
        let genes = self.genome.genes().iter().enumerate();
        for ((number, gene), distribution) in genes.zip(&mut self.distributions) {
            let levels = best.iter().map(|one| level_of(gene, one.genes[number]));
            let weighted: Vec<(usize, f64)> = levels.zip(weights.iter().copied()).collect();
            distribution.follow(&weighted, learning);
        }
    }
}

/// Returns weights by rank: log(count + 1/2) - log(rank), normalised to a sum of 1.
fn weights(count: usize) -> Vec<f64> {
    let most = ln(count as f64 + 0.5);
    let weights: Vec<f64> = (1..=count as u32)
        .map(|rank| most - ln(f64::from(rank)))
        .collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

impl Breeder for CrossEntropy<'_> {
    fn ask(&mut self) -> Vec<Candidate> {
        self.begin_if_due();
        let mode = self.mode();
        let count = self.children() as u32;
        let birth = |number| Birth {
            generation: self.generation + 1,
            number,
        };
        // The first child is the most probable individual.
        let genes = |number: u32| match &mode {
            Some(mode) if number == 0 => mode.clone(),
            _ => self.draw(number),
        };
        let children = (0..count).map(|number| Candidate {
            genes: genes(number),
            birth: birth(number),
        });
        children.collect()
    }

    fn tell(&mut self, fitness: &[Option<f64>]) {
        let asked = self.ask();
        // Only the best individuals of this generation are used, because the distributions already reflect
        // earlier ones.
        self.pool.begin_generation(Elite::Rerun);
        self.pool.offer_all(asked, fitness);
        let best = self.pool.members().to_vec();
        self.learn(&best);
        self.generation += 1;
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn leader(&self) -> Option<Chromosome> {
        self.mode().filter(|_| self.has_learned)
    }

    fn beginning(&self) -> u32 {
        self.plan.learning.beginning(self.generation).0
    }

    fn generation(&self) -> u32 {
        self.generation
    }
}

#[cfg(test)]
mod tests {
    use super::super::breeder::Method;
    use super::super::sum_of_genes::genome;
    use super::*;

    fn plan(start: Start) -> Plan {
        Plan {
            method: Method::CrossEntropy,
            operators: Operators {
                p: 6,
                n: 60,
                first: 100,
                ..Operators::default()
            },
            learning: Learning::default(),
            start,
            elite: Elite::Rerun,
            seed: 7,
        }
    }

    fn sums(asked: &[Candidate]) -> Vec<Option<f64>> {
        asked.iter().map(|c| Some(c.genes.iter().sum())).collect()
    }

    #[test]
    fn it_learns_asks_twice_the_same_and_leads_with_the_most_probable() {
        let genome = genome();
        let mut breeder = CrossEntropy::new(&genome, plan(Start::Random)).unwrap();
        assert_eq!(breeder.leader(), None);
        for generation in 0..30 {
            assert_eq!(breeder.generation(), generation);
            let asked = breeder.ask();
            assert_eq!(asked, breeder.ask());
            assert_eq!(asked.len(), if generation == 0 { 100 } else { 60 });
            if generation > 0 {
                assert_eq!(Some(&asked[0].genes), breeder.leader().as_ref());
            }
            breeder.tell(&sums(&asked));
            assert_eq!(breeder.pool().members().len(), 6);
        }
        let leader: f64 = breeder.leader().unwrap().iter().sum();
        assert!(leader < 4.0, "72 on average by chance, {leader} now");
    }

    #[test]
    fn without_anybody_fit_nothing_is_learned_and_the_next_are_others() {
        let genome = genome();
        let mut breeder = CrossEntropy::new(&genome, plan(Start::Random)).unwrap();
        let first = breeder.ask();
        breeder.tell(&[None; 100]);
        assert_eq!(breeder.leader(), None);
        let second = breeder.ask();
        assert_eq!(second.len(), 100, "still no individuals to learn from");
        assert_ne!(first, second);
        let mut fitness = [None; 100];
        fitness[3] = Some(1.0);
        breeder.tell(&fitness);
        // The distributions follow this single individual only in part, so its values are now more
        // probable than others, but not certain.
        assert_eq!(breeder.leader().unwrap(), second[3].genes);
        let third = breeder.ask();
        assert_eq!(third.len(), 100, "one is too few to be founded on");
        let alike = |candidate: &Candidate| {
            let genes = candidate.genes.iter().zip(&second[3].genes);
            genes.filter(|(a, b)| a == b).count()
        };
        let mean = third[1..].iter().map(alike).sum::<usize>() as f64 / 99.0;
        // Of the 36 genes, a fraction of 0.3 + 0.7 / 5 is expected to have its values.
        assert!((13.0..19.0).contains(&mean), "{mean}");
    }

    #[test]
    fn from_the_stack_it_begins_there_and_around() {
        let genome = genome();
        let mut breeder = CrossEntropy::new(&genome, plan(Start::Stack)).unwrap();
        let asked = breeder.ask();
        assert_eq!(asked.len(), 60);
        assert_eq!(asked[0].genes, genome.start());
        assert_ne!(asked[1].genes, genome.start());
        assert_eq!(breeder.leader(), None, "no candidate has been judged");
    }

    #[test]
    fn distributions_stay_distributions_and_forget_nothing_for_ever() {
        let genome = genome();
        let gene = &genome.genes()[0];
        let mut distribution = Distribution::uniform(gene);
        for _ in 0..50 {
            distribution.follow(&[(2, 0.75), (4, 0.25)], Learning::default());
        }
        let sum: f64 = distribution.0.iter().sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert_eq!(distribution.mode(), 2);
        assert!(
            distribution.0.iter().all(|p| *p > 0.009),
            "{distribution:?}"
        );
        let mut counts = [0; 5];
        let mut stream = Stream::new(1, "t", 0);
        for _ in 0..10_000 {
            counts[distribution.draw(&mut stream)] += 1;
        }
        for (count, probability) in counts.iter().zip(&distribution.0) {
            let share = f64::from(*count) / 1e4;
            assert!((share - probability).abs() < 0.02, "{share} {probability}");
        }
    }

    #[test]
    fn numbers_have_steps_and_too_many_are_refused() {
        let mut gene = genome().genes()[0].clone();
        (gene.min, gene.max, gene.step, gene.is_whole) = (0.1, 0.7, 0.03, false);
        assert_eq!(levels(&gene), 21);
        for level in 0..21 {
            let value = value_of(&gene, level);
            assert!((0.1..=0.7).contains(&value));
            assert_eq!(level_of(&gene, value), level);
        }
        gene.step = 1e-6;
        let genome = Genome::new(vec![gene]).unwrap();
        let error = CrossEntropy::new(&genome, plan(Start::Random))
            .err()
            .unwrap();
        assert!(error.contains("more than 1000"), "{error}");
    }

    #[test]
    fn it_begins_anew_when_it_is_told_to_and_who_has_ended_leads_until_then() {
        let genome = genome();
        let mut plan = plan(Start::Random);
        plan.learning.restart = Some(5);
        let mut breeder = CrossEntropy::new(&genome, plan).unwrap();
        let mut leaders = Vec::new();
        for generation in 0..12 {
            let asked = breeder.ask();
            assert_eq!(asked, breeder.ask());
            let is_beginning = generation % 5 == 0;
            assert_eq!(asked.len(), if is_beginning { 100 } else { 60 });
            breeder.tell(&sums(&asked));
            assert_eq!(breeder.beginning(), generation / 5);
            leaders.push(breeder.leader().unwrap().iter().sum::<f64>());
        }
        // The search improves, and begins again after each restart.
        assert!(
            leaders[4] < leaders[0] && leaders[9] < leaders[5],
            "{leaders:?}"
        );
        assert!(leaders[5] > leaders[4] + 5.0, "{leaders:?}");
    }

    #[test]
    fn out_of_range_is_said() {
        let bad = |rate, least| {
            let learning = Learning {
                rate,
                least,
                restart: None,
            };
            learning.validate().unwrap_err()
        };
        for restart in [0, 1, 100_001] {
            let learning = Learning {
                restart: Some(restart),
                ..Learning::default()
            };
            assert!(learning.validate().unwrap_err().starts_with("restart: "));
        }
        assert!(Learning::default().validate().is_ok());
        for rate in [0.0, 1.1, f64::NAN] {
            assert!(bad(rate, 0.0).starts_with("rate: "));
        }
        for least in [-0.1, 0.2, f64::NAN] {
            assert!(bad(0.5, least).starts_with("least: "));
        }
    }
}
