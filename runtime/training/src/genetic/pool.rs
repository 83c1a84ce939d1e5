//! The gene pool, which contains the best individuals.

use super::breeder::{Candidate, Elite};
use super::genes::Chromosome;
use std::hash::Hasher;

/// Generation and number of an individual, which identify it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Birth {
    /// Generation, starting at 1.
    pub generation: u32,
    /// Number within the generation, starting at 0.
    pub number: u32,
}

/// An individual that has been evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Individual {
    /// Genes of the individual.
    pub genes: Chromosome,
    /// Mean of the individual's scores; lower is better.
    pub fitness: f64,
    /// Generation in which the individual was bred, and its number in that generation.
    pub birth: Birth,
}

/// The best individuals, best first. On a tie, the older individual comes first.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    capacity: usize,
    members: Vec<Individual>,
}

impl Pool {
    /// Creates an empty pool with the given capacity.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            members: Vec::new(),
        }
    }

    /// Returns the individuals, best first.
    pub fn members(&self) -> &[Individual] {
        &self.members
    }

    /// Returns the best individual; `None` if the pool is empty.
    pub fn best(&self) -> Option<&Individual> {
        self.members.first()
    }

    /// Adds an individual if it is good enough. An individual whose fitness is NaN is never added.
    pub fn offer(&mut self, individual: Individual) {
        if individual.fitness.is_nan() {
            return;
        }
        let rank = |member: &Individual| (member.fitness, member.birth);
        let own = rank(&individual);
        // At equal fitness, the earlier birth comes first, so the pool does not depend on the order in which
        // individuals are offered.
        let place = self.members.partition_point(|member| rank(member) <= own);
        self.members.insert(place, individual);
        self.members.truncate(self.capacity);
    }

    /// Offers all candidates of a generation that have a fitness. Both lists have the same order.
    pub fn offer_all(&mut self, candidates: Vec<Candidate>, fitness: &[Option<f64>]) {
        for (candidate, fitness) in candidates.into_iter().zip(fitness) {
            if let Some(fitness) = *fitness {
                self.offer(Individual {
                    genes: candidate.genes,
                    fitness,
                    birth: candidate.birth,
                });
            }
        }
    }

    /// Empties the pool if its members will be evaluated again together with the new individuals.
    pub fn begin_generation(&mut self, elite: Elite) {
        if elite == Elite::Rerun {
            self.members.clear();
        }
    }

    /// Returns the hash of the genes, fitness and birth of all members; used to compare training
    /// runs.
    pub fn hash(&self) -> u64 {
        let mut hasher = twox_hash::XxHash3_64::with_seed(0);
        for member in &self.members {
            hasher.write_usize(member.genes.len());
            for gene in &member.genes {
                hasher.write_u64(gene.to_bits());
            }
            hasher.write_u64(member.fitness.to_bits());
            hasher.write_u32(member.birth.generation);
            hasher.write_u32(member.birth.number);
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn individual(fitness: f64, number: u32) -> Individual {
        Individual {
            genes: vec![f64::from(number)],
            fitness,
            birth: Birth {
                generation: 1,
                number,
            },
        }
    }

    fn numbers(pool: &Pool) -> Vec<u32> {
        pool.members().iter().map(|m| m.birth.number).collect()
    }

    #[test]
    fn the_best_stay_and_of_equals_the_older() {
        let mut pool = Pool::new(3);
        for (fitness, number) in [(3.0, 0), (1.0, 5), (2.0, 1), (1.0, 2), (9.0, 3)] {
            pool.offer(individual(fitness, number));
        }
        assert_eq!(numbers(&pool), [2, 5, 1]);
        pool.offer(individual(2.0, 9));
        assert_eq!(
            numbers(&pool),
            [2, 5, 1],
            "the older one of two equals stays"
        );
        pool.offer(individual(f64::NAN, 10));
        pool.offer(individual(f64::INFINITY, 11));
        assert_eq!(numbers(&pool), [2, 5, 1]);
    }

    #[test]
    fn the_hash_sees_everything() {
        let hash = |change: fn(&mut Individual)| {
            let mut pool = Pool::new(2);
            let mut one = individual(1.0, 1);
            change(&mut one);
            pool.offer(one);
            pool.hash()
        };
        let plain = hash(|_| ());
        assert_eq!(plain, hash(|_| ()));
        assert_ne!(plain, hash(|i| i.fitness = 1.0 + f64::EPSILON));
        assert_ne!(plain, hash(|i| i.genes[0] = 2.0));
        assert_ne!(plain, hash(|i| i.birth.generation = 2));
        assert_ne!(plain, Pool::new(2).hash());
    }
}
