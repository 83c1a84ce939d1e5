//! Fuzzy inference over two inputs with three terms each, and one output of singletons.
//!
//! Terms are piecewise linear and sum to one, AND is the minimum, and the crisp output is the mean of the
//! singletons weighted by their activation ([Gerdelan 2011], equation 3.1).

// Worked example: the speed of route following with a waypoint at 10 m and 0.3 rad.
//
//   distance 10 of knots 0, 20, 28.28:   NEAR 0.5, MEDIUM 0.5, FAR 0
//   angle 0.3 of knots 0.2, 0.4, 0.6:    NARROW 0.5, MID 0.5, WIDE 0
//
//   rule (row, column)      strength = min(row, column)     output term
//   NARROW, NEAR            min(0.5, 0.5) = 0.5             VERY SLOW 0.2
//   NARROW, MEDIUM          0.5                             FAST      0.8
//   MID, NEAR               0.5                             VERY SLOW 0.2
//   MID, MEDIUM             0.5                             MEDIUM    0.6
//
//   combined by maximum: VERY SLOW 0.5, FAST 0.5, MEDIUM 0.5
//   crisp output: (0.5 * 0.2 + 0.5 * 0.8 + 0.5 * 0.6) / 1.5 = 0.533 of the allowed speed

mod mechanic;
mod rules;
mod tables;

pub(crate) use mechanic::MECHANIC_RULES;
pub use mechanic::{
    COLLISION_TIME, GOAL_ANGLE, GOAL_DISTANCE, MECHANIC, MECHANIC_RULE_COUNT, SPEED, THREAT_ANGLE,
};
pub use rules::{CHROMOSOME, RULE_COUNT, RulePlace, rule_place};
pub(crate) use rules::{RULES, joined, with_rules_of};
pub use tables::{
    AVOID_SPEED, AVOID_STEER, CONTROLLERS, OBSTACLE_ANGLE, OBSTACLE_DISTANCE, ROUTE_ANGLE,
    ROUTE_DISTANCE, ROUTE_SPEED, ROUTE_STEER, controller,
};

/// A linguistic variable with three terms over three knots.
///
/// The first term is 1 up to the first knot and falls to 0 at the second. The middle term is a triangle over
/// all three knots. The last term rises from the second knot to 1 at the third.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variable {
    /// Name on the command line.
    pub name: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// Names of the terms, in order of increasing value.
    pub terms: [&'static str; 3],
    /// Knots, in increasing order.
    pub knots: [f64; 3],
}

impl Variable {
    /// Returns the membership of a crisp value in the three terms. They sum to 1; values outside the knots
    /// are clamped.
    #[inline]
    pub fn memberships(&self, value: f64) -> [f64; 3] {
        let [a, b, c] = self.knots;
        let value = value.clamp(a, c);
        // Each value belongs to at most two neighbouring terms, so at most four of the nine rules fire.
        if value <= b {
            let mid = (value - a) / (b - a);
            [1.0 - mid, mid, 0.0]
        } else {
            let high = (value - b) / (c - b);
            [0.0, 1.0 - high, high]
        }
    }
}

/// Ways of combining the activations of rules with the same output term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aggregation {
    /// The activation of the strongest rule.
    #[default]
    Max,
    /// The sum of all activations.
    Sum,
}

/// A term of an output: a name and its singleton.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputTerm {
    /// Name of the term.
    pub name: &'static str,
    /// Crisp value that the term stands for.
    pub value: f64,
}

/// A fuzzy controller: two variables, a rule table and output terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FuzzyController {
    /// Name, such as `fuzzy_driver.route.speed`.
    pub name: &'static str,
    /// Description and unit of the output.
    pub output: &'static str,
    /// Input variable of the columns of the rule table.
    pub distance: Variable,
    /// Input variable of the rows of the rule table.
    pub angle: Variable,
    /// Terms of the output.
    pub terms: &'static [OutputTerm],
    /// Index of the output term of each rule, by angle term (row) and distance term (column).
    pub rules: [[usize; 3]; 3],
}

/// Maximum number of output terms of a controller.
const MAX_TERMS: usize = 8;

/// A rule that fired.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FiredRule {
    /// Index of the angle term.
    pub angle: usize,
    /// Index of the distance term.
    pub distance: usize,
    /// Index of the output term.
    pub output: usize,
    /// Firing strength, in (0, 1].
    pub strength: f64,
}

/// All intermediate results of one inference.
#[derive(Debug, Clone, PartialEq)]
pub struct Inference {
    /// Memberships of the distance.
    pub distance: [f64; 3],
    /// Memberships of the angle.
    pub angle: [f64; 3],
    /// The rules that fired, row by row.
    pub fired: Vec<FiredRule>,
    /// Activation of each output term.
    pub activations: Vec<f64>,
    /// Crisp output of the inference.
    pub output: f64,
}

impl FuzzyController {
    /// Computes the crisp output.
    #[inline]
    pub fn output(&self, distance: f64, angle: f64, aggregation: Aggregation) -> f64 {
        let (columns, rows) = (
            self.distance.memberships(distance),
            self.angle.memberships(angle),
        );
        let activations = self.activations(&columns, &rows, aggregation);
        self.defuzzify(&activations)
    }

    /// Computes the crisp output with all intermediate results.
    pub fn infer(&self, distance: f64, angle: f64, aggregation: Aggregation) -> Inference {
        let (columns, rows) = (
            self.distance.memberships(distance),
            self.angle.memberships(angle),
        );
        let activations = self.activations(&columns, &rows, aggregation);
        let mut fired = Vec::new();
        for (row, &row_membership) in rows.iter().enumerate() {
            for (column, &column_membership) in columns.iter().enumerate() {
                let strength = row_membership.min(column_membership);
                if strength > 0.0 {
                    fired.push(FiredRule {
                        angle: row,
                        distance: column,
                        output: self.rules[row][column],
                        strength,
                    });
                }
            }
        }
        Inference {
            distance: columns,
            angle: rows,
            fired,
            output: self.defuzzify(&activations),
            activations: activations[..self.terms.len()].to_vec(),
        }
    }

    #[inline]
    fn activations(
        &self,
        columns: &[f64; 3],
        rows: &[f64; 3],
        aggregation: Aggregation,
    ) -> [f64; MAX_TERMS] {
        let mut activations = [0.0f64; MAX_TERMS];
        for (row, outputs) in rows.iter().zip(&self.rules) {
            for (column, &output) in columns.iter().zip(outputs) {
                let strength = row.min(*column);
                // The modulo changes no index of the tables; it lets the compiler omit the bounds check.
                let slot = &mut activations[output % MAX_TERMS];
                *slot = match aggregation {
                    Aggregation::Max => slot.max(strength),
                    Aggregation::Sum => *slot + strength,
                };
            }
        }
        activations
    }

    #[inline]
    fn defuzzify(&self, activations: &[f64; MAX_TERMS]) -> f64 {
        let (mut weighted, mut total) = (0.0, 0.0);
        for (term, activation) in self.terms.iter().zip(activations) {
            weighted += activation * term.value;
            total += activation;
        }
        // Memberships of each variable sum to one, so some rule always fires.
        weighted / total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn crisp(name: &str, distance: f64, angle: f64) -> f64 {
        controller(name)
            .unwrap()
            .output(distance, angle, Aggregation::Max)
    }

    #[test]
    fn outputs_at_the_peaks_are_the_tables() {
        // At the peaks of the terms exactly one rule fires, as in the printed tables 8.5 to 8.8.
        let peaks = |c: &FuzzyController| (c.distance.knots, c.angle.knots);
        let expected: [(&str, [[f64; 3]; 3]); 4] = [
            (
                "fuzzy_driver.avoid.speed",
                [[0.0, 0.2, 0.0], [0.2, 0.4, 0.6], [0.4, 0.6, 0.8]],
            ),
            (
                "fuzzy_driver.avoid.steer",
                [[0.08, 0.04, 0.01], [0.04, 0.01, 0.0], [0.01, 0.0, 0.0]],
            ),
            (
                "fuzzy_driver.route.speed",
                [[0.2, 0.8, 1.0], [0.2, 0.6, 0.8], [0.2, 0.4, 0.6]],
            ),
            (
                "fuzzy_driver.route.steer",
                [[0.0, 0.005, 0.01], [0.005, 0.01, 0.02], [0.01, 0.02, 0.04]],
            ),
        ];
        for (name, table) in expected {
            let (distances, angles) = peaks(controller(name).unwrap());
            for (row, &angle) in angles.iter().enumerate() {
                for (column, &distance) in distances.iter().enumerate() {
                    assert_eq!(
                        crisp(name, distance, angle),
                        table[row][column],
                        "{name} {row} {column}"
                    );
                }
            }
        }
    }

    #[test]
    fn two_half_memberships_give_the_mean_of_their_terms() {
        // Distance 10 of 0..20: near 0.5, medium 0.5. Angle 0.3: narrow 0.5, mid 0.5.
        // Rules: VSL, FAS, VSL, MED, each 0.5; combined by maximum: (0.2 + 0.8 + 0.6) / 3.
        let output = crisp("fuzzy_driver.route.speed", 10.0, 0.3);
        assert!((output - 1.6 / 3.0).abs() < 1e-12);
        // By sum VSL counts twice: (0.2 + 0.8 x 0.5 + 0.6 x 0.5) / 2.
        let sum = ROUTE_SPEED.output(10.0, 0.3, Aggregation::Sum);
        assert!((sum - 0.45).abs() < 1e-12);
    }

    #[test]
    fn inputs_outside_are_held() {
        let name = "fuzzy_driver.route.speed";
        assert_eq!(crisp(name, 1e6, 0.0), crisp(name, 28.28, 0.2));
        assert_eq!(crisp(name, -5.0, 9.0), crisp(name, 0.0, 0.6));
    }

    proptest! {
        #[test]
        fn memberships_sum_to_one_and_outputs_stay_between_the_terms(
            distance in -10.0..50.0f64, angle in -1.0..3.0f64, sum in any::<bool>(),
        ) {
            let aggregation = if sum { Aggregation::Sum } else { Aggregation::Max };
            for c in CONTROLLERS {
                let inference = c.infer(distance, angle, aggregation);
                prop_assert!((inference.distance.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                prop_assert!((inference.angle.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let values = c.terms.iter().map(|t| t.value);
                let low = values.clone().fold(f64::INFINITY, f64::min);
                let high = values.fold(0.0, f64::max);
                prop_assert!(inference.output >= low && inference.output <= high);
                prop_assert_eq!(inference.output, c.output(distance, angle, aggregation));
                prop_assert!(!inference.fired.is_empty());
            }
        }
    }
}
