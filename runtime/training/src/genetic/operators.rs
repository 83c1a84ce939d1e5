//! Genetic operators: crossover, mutation, bounds, and repair of conflicting rules.

use super::genes::{Chromosome, Gene, Genome};
use roadwright_control::fuzzy::RulePlace;
use roadwright_geometry::math::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Treatment of a gene that a mutation has moved out of its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bounds {
    /// The value is clamped to the end of the range.
    #[default]
    Clamp,
    /// The value re-enters the range at the other end.
    Wrap,
    /// The value is reflected at the end of the range.
    Reflect,
}

impl Bounds {
    /// Moves a value back into the range of a gene.
    pub fn put_back(self, gene: &Gene, value: f64) -> f64 {
        let (min, max) = (gene.min, gene.max);
        let range = max - min;
        let value = match self {
            Self::Clamp => value,
            // For integers, the last value is followed by the first value, which is one step further.
            Self::Wrap if gene.is_whole => min + (value - min).rem_euclid(range + 1.0),
            Self::Wrap if (min..=max).contains(&value) => value,
            Self::Wrap => min + (value - min).rem_euclid(range),
            Self::Reflect => {
                // This is a triangle wave over twice the range. From 0 to `range` it rises from the lower
                // end, and then it falls again.
                let along = (value - min).rem_euclid(2.0 * range);
                min + along.min(2.0 * range - along)
            }
        };
        value.clamp(min, max)
    }
}

/// The genetic operators with their parameters ([Gerdelan 2011], sections 10.4 and 10.6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Operators {
    /// Number of parents, 1 to 1000. The parents are the best individuals, which are kept and used for
    /// breeding.
    #[schemars(range(min = 1, max = 1000))]
    pub p: usize,
    /// Number of children in each generation, 1 to 10000.
    #[schemars(range(min = 1, max = 10000))]
    pub n: usize,
    /// Number of children in generations without parents, up to 100000. Used only if it exceeds `n`. A large
    /// number helps a random start to find individuals that move at all. With the method `cross_entropy`, it
    /// applies until `p` individuals are fit.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 100_000))]
    pub first: usize,
    /// Probability that a gene mutates, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub r: f64,
    /// Maximum number of levels by which a mutation moves a gene, 0 to 1000.
    #[schemars(range(min = 0, max = 1000))]
    pub m: u32,
    /// Treatment of values beyond the ends of a range.
    pub bounds: Bounds,
    /// Whether the rules of children are sorted by distance and angle.
    pub repair: bool,
}

impl Default for Operators {
    /// Returns the parameters of [Gerdelan 2011], table 10.4, with two parents.
    fn default() -> Self {
        Self {
            p: 2,
            n: 4,
            first: 0,
            r: 0.2,
            m: 3,
            bounds: Bounds::Clamp,
            repair: false,
        }
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Operators {
    /// Checks that all values are in their ranges.
    ///
    /// # Errors
    /// If a value is out of its range. The message has the value and the expected range.
    pub fn validate(&self) -> Result<(), String> {
        if !(1..=1000).contains(&self.p) {
            return Err(format!("p: {} is out of range: expected 1 to 1000", self.p));
        }
        if !(1..=10_000).contains(&self.n) {
            return Err(format!(
                "n: {} is out of range: expected 1 to 10000",
                self.n
            ));
        }
        if self.first > 100_000 {
            let found = self.first;
            return Err(format!(
                "first: {found} is out of range: expected 0 to 100000"
            ));
        }
        // Written so that NaN counts as out of range.
        if !(0.0..=1.0).contains(&self.r) {
            return Err(format!("r: {} is out of range: expected 0 to 1", self.r));
        }
        if self.m > 1000 {
            return Err(format!("m: {} is out of range: expected 0 to 1000", self.m));
        }
        Ok(())
    }

    /// Breeds a child. Each gene comes from a random parent. With probability `r`, it is changed by a uniform
    /// random whole number of levels in -m..=m. Without parents, all genes are random.
    pub fn breed(&self, genome: &Genome, parents: &[&[f64]], stream: &mut Stream) -> Chromosome {
        let mut child = if parents.is_empty() {
            genome.random(stream)
        } else {
            let genes = genome.genes().iter().enumerate();
            genes
                .map(|(index, gene)| {
                    let parent = parents[stream.next_index(parents.len())];
                    self.mutate(gene, parent[index], stream)
                })
                .collect()
        };
        if self.repair {
            repair(genome, &mut child);
        }
        child
    }

    /// Returns the probability that a child of a single parent is equal to that parent, 0 to 1. It
    /// is 1 if no gene can change.
    pub fn clones(&self, genome: &Genome) -> f64 {
        // A mutation draws one of 2 m + 1 changes, one of which is 0.
        let levels = 2.0 * f64::from(self.m);
        let moves = self.r * levels / (levels + 1.0);
        (1.0 - moves).powi(genome.genes().len() as i32)
    }

    fn mutate(&self, gene: &Gene, value: f64, stream: &mut Stream) -> f64 {
        if stream.next_unit() >= self.r {
            return value;
        }
        // The change is from -m to m levels, including 0, so a mutation may leave the gene unchanged.
        let levels = stream.next_index(2 * self.m as usize + 1) as f64 - f64::from(self.m);
        self.bounds.put_back(gene, value + levels * gene.step)
    }
}

/// Directions of the rule tables in the chromosome: for each table, whether outputs increase with the
/// distance, and whether they increase with the angle. Turns towards a waypoint increase with its distance
/// and angle, whereas speeds decrease with the angle. Turns away from an obstacle decrease with its distance
/// and angle, whereas speeds increase with them.
const GROWS: [(bool, bool); 4] = [(true, true), (true, false), (false, false), (true, true)];

/// Sorts the rules of tables by distance and angle, so that no rule contradicts its neighbours. For example,
/// a nearer obstacle never leads to a gentler turn ([Gerdelan 2011], section 9.3). Tables that are only
/// partly trained stay unchanged.
pub fn repair(genome: &Genome, chromosome: &mut [f64]) {
    for (table, (by_distance, by_angle)) in GROWS.into_iter().enumerate() {
        let Some(places) = places(genome, table) else {
            continue;
        };
        // If the rows of a table are sorted, they stay sorted when the columns are sorted.
        for row in places {
            sort(chromosome, row, by_distance);
        }
        for column in 0..3 {
            sort(chromosome, places.map(|row| row[column]), by_angle);
        }
    }
}

/// Returns the indices of the genes of a table; `None` if a rule of the table is not among the
/// genes.
fn places(genome: &Genome, table: usize) -> Option<[[usize; 3]; 3]> {
    let mut places = [[usize::MAX; 3]; 3];
    for (index, gene) in genome.genes().iter().enumerate() {
        if let Some(RulePlace { row, column, .. }) = gene.rule.filter(|rule| rule.table == table) {
            places[row][column] = index;
        }
    }
    let is_whole = places.iter().flatten().all(|&index| index != usize::MAX);
    is_whole.then_some(places)
}

fn sort(chromosome: &mut [f64], places: [usize; 3], grows: bool) {
    let mut values = places.map(|index| chromosome[index]);
    values.sort_by(f64::total_cmp);
    if !grows {
        values.reverse();
    }
    for (index, value) in places.into_iter().zip(values) {
        chromosome[index] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use roadwright_scenario::Stack;
    use roadwright_simulation::builtin_modules;

    fn genome() -> Genome {
        let stack = Stack::with_controller("fuzzy_driver");
        let patterns = ["fuzzy_driver.*".to_owned()];
        Genome::choose(&patterns, &stack, &builtin_modules()).unwrap()
    }

    #[test]
    fn bounds_hold_wrap_and_reflect() {
        let genome = genome();
        let gene = genome
            .genes()
            .iter()
            .find(|g| g.key == "rule_route_speed_mid_mid");
        assert!(
            gene.is_none(),
            "terms of the distance are near, medium, far"
        );
        let gene = genome
            .genes()
            .iter()
            .find(|g| g.key == "rule_route_speed_mid_medium");
        let gene = gene.unwrap();
        let put = |bounds: Bounds, value| bounds.put_back(gene, value);
        // Genes with the range 0..=5.
        for (value, clamped, wrapped, reflected) in [
            (3.0, 3.0, 3.0, 3.0),
            (6.0, 5.0, 0.0, 4.0),
            (-1.0, 0.0, 5.0, 1.0),
            (8.0, 5.0, 2.0, 2.0),
            (-7.0, 0.0, 5.0, 3.0),
        ] {
            assert_eq!(put(Bounds::Clamp, value), clamped);
            assert_eq!(put(Bounds::Wrap, value), wrapped);
            assert_eq!(put(Bounds::Reflect, value), reflected);
        }
    }

    #[test]
    fn without_mutation_genes_are_those_of_the_parents() {
        let genome = genome();
        let (a, b) = (genome.start(), genome.random(&mut Stream::new(1, "t", 0)));
        let operators = Operators {
            r: 0.0,
            ..Operators::default()
        };
        let mut from_a = 0;
        for child in 0..200 {
            let child = operators.breed(&genome, &[&a, &b], &mut Stream::new(2, "t", child));
            for (index, gene) in child.iter().enumerate() {
                assert!(*gene == a[index] || *gene == b[index]);
            }
            from_a += usize::from(child[20] == a[20]);
        }
        assert_ne!(a[20], b[20], "a gene that tells parents apart");
        assert!((70..130).contains(&from_a), "{from_a} of 200");
    }

    #[test]
    fn mutations_are_as_many_and_as_far_as_asked() {
        let genome = genome();
        let operators = Operators {
            bounds: Bounds::Wrap,
            ..Operators::default()
        };
        let gene = genome
            .genes()
            .iter()
            .find(|g| g.key == "rule_route_steer_mid_medium")
            .unwrap();
        // There are seven terms and seven levels, so with wrapping, all values are equally likely.
        let mut counts = [0; 7];
        let mut stream = Stream::new(5, "t", 0);
        for _ in 0..70_000 {
            counts[operators.mutate(gene, 2.0, &mut stream) as usize] += 1;
        }
        // A fraction of 0.8 does not mutate, and a seventh of the other 0.2 mutates to the same value.
        let stayed = f64::from(counts[2]) / 70_000.0;
        assert!((stayed - (0.8 + 0.2 / 7.0)).abs() < 0.01, "{stayed}");
        for (value, count) in counts.iter().enumerate().filter(|(value, _)| *value != 2) {
            assert!((1800..2200).contains(count), "{value}: {count}");
        }
    }

    #[test]
    fn out_of_range_is_said() {
        let bad = |change: fn(&mut Operators)| {
            let mut operators = Operators::default();
            change(&mut operators);
            operators.validate().unwrap_err()
        };
        assert!(Operators::default().validate().is_ok());
        assert!(bad(|o| o.p = 0).starts_with("p: 0"));
        assert!(bad(|o| o.n = 0).starts_with("n: 0"));
        assert!(bad(|o| o.r = f64::NAN).starts_with("r: NaN"));
        assert!(bad(|o| o.r = -0.1).starts_with("r: -0.1"));
        assert!(bad(|o| o.m = 1001).starts_with("m: 1001"));
        assert!(bad(|o| o.first = 100_001).starts_with("first: 100001"));
    }

    proptest! {
        #[test]
        fn children_are_in_range_and_repaired_ones_in_order(
            seed in any::<u64>(), r in 0.0..=1.0f64, m in 0u32..50,
            bounds in prop_oneof![Just(Bounds::Clamp), Just(Bounds::Wrap), Just(Bounds::Reflect)],
        ) {
            let genome = genome();
            let mut stream = Stream::new(seed, "t", 0);
            let (a, b) = (genome.random(&mut stream), genome.start());
            let operators = Operators { r, m, bounds, repair: true, ..Operators::default() };
            let mut child = operators.breed(&genome, &[&a, &b], &mut stream);
            for (gene, value) in genome.genes().iter().zip(&child) {
                prop_assert!((gene.min..=gene.max).contains(value), "{} {}", gene.name(), value);
                prop_assert!(!gene.is_whole || value.fract() == 0.0);
            }
            let steer = places(&genome, 2).unwrap();
            for row in steer {
                prop_assert!(child[row[0]] >= child[row[1]] && child[row[1]] >= child[row[2]]);
            }
            for column in 0..3 {
                let [a, b, c] = steer.map(|row| child[row[column]]);
                prop_assert!(a >= b && b >= c);
            }
            let once = child.clone();
            repair(&genome, &mut child);
            prop_assert_eq!(once, child);
        }
    }
}
