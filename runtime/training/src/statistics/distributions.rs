//! The normal distribution and Student's t distribution, with their quantiles.

use roadwright_geometry::math::{erfc, exp, ln, ln_gamma};
use std::f64::consts::FRAC_1_SQRT_2;

/// Returns the probability that a standard normal value is at most `x`.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x * FRAC_1_SQRT_2)
}

/// Returns the quantile of the standard normal distribution at probability `p`: infinite at 0 and
/// 1, and NaN outside this range.
pub fn normal_quantile(p: f64) -> f64 {
    // Computed in the lower tail, because probabilities close to 1 have few significant digits.
    if p > 0.5 {
        -quantile_below(1.0 - p, normal_cdf)
    } else {
        quantile_below(p, normal_cdf)
    }
}

/// Returns the probability that a value of Student's t distribution is at most `x`. The degrees of
/// freedom must be positive.
pub fn student_t_cdf(x: f64, freedom: f64) -> f64 {
    // At `freedom / (freedom + x²)`, this is the probability of both tails together. The distribution is
    // symmetric, so each tail has half of this probability.
    let tail = 0.5 * incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + x * x));
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// Returns the quantile of Student's t distribution at probability `p`.
pub fn student_t_quantile(p: f64, freedom: f64) -> f64 {
    if p > 0.5 {
        -quantile_below(1.0 - p, |x| student_t_cdf(x, freedom))
    } else {
        quantile_below(p, |x| student_t_cdf(x, freedom))
    }
}

/// Returns the quantile at `p` (0 to 0.5) of a distribution that is symmetric about 0.
fn quantile_below(p: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    if p.is_nan() || p < 0.0 {
        return f64::NAN;
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    // Both distributions are symmetric about 0 and `p` is at most 0.5, so the upper end is 0, and only the
    // lower end has to be found.
    let mut low = -1.0;
    while cdf(low) > p {
        low *= 2.0;
    }
    let mut high = 0.0;
    // Bisection gains one bit per iteration and ends when no number lies between the bounds. It is slow but
    // reliable for any `p`.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// Computes the regularised incomplete beta function from its continued fraction ([DLMF], 8.17.22).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let factor = exp(ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * ln(x) + b * ln(1.0 - x));
    // The fraction converges fast on this side of the mean. The value on the other side is one minus the
    // mirrored value.
    if x < (a + 1.0) / (a + b + 2.0) {
        factor / a * beta_fraction(a, b, x)
    } else {
        1.0 - factor / b * beta_fraction(b, a, 1.0 - x)
    }
}

/// Maximum number of terms. Fewer are enough for up to a million degrees of freedom.
const TERMS: u32 = 10_000;
/// Replacement for a denominator of 0.
const TINY: f64 = 1e-300;

/// Evaluates the continued fraction from front to back [Lentz 1976].
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let guarded = |value: f64| if value.abs() < TINY { TINY } else { value };
    // The first term is the odd term for m = 0: -(a + b) x / (a + 1). `c` is the ratio of a numerator to the
    // previous numerator, and `d` is the ratio of the previous denominator to the current one. Each term
    // multiplies the fraction by `c · d`, so the number of terms need not be chosen in advance.
    let mut d = 1.0 / guarded(1.0 - (a + b) * x / (a + 1.0));
    let (mut c, mut fraction) = (1.0, d);
    for m in 1..TERMS {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / guarded(1.0 + term * d);
            c = guarded(1.0 + term / c);
            change *= c * d;
        }
        fraction *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-9, "{found} instead of {expected}");
    }

    // The expected values are from scipy 1.17.1, `stats.norm` and `stats.t`.
    #[test]
    fn the_normal_distribution_agrees_with_scipy() {
        for (p, x) in [
            (1e-12, -7.034_483_825_301_131),
            (1e-6, -4.753_424_308_822_899),
            (0.025, -1.959_963_984_540_054_5),
            (0.3, -0.524_400_512_708_040_9),
            (0.5, 0.0),
            (0.95, 1.644_853_626_951_472_2),
            (0.995, 2.575_829_303_548_900_4),
        ] {
            close(normal_quantile(p), x);
            close(normal_cdf(x), p);
        }
        assert!((normal_cdf(-8.0) / 6.220_960_574_271_74e-16 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn students_distribution_agrees_with_scipy() {
        for (p, freedom, x) in [
            (0.975, 1.0, 12.706_204_736_174_694),
            (0.975, 2.0, 4.302_652_729_749_462),
            (0.975, 9.0, 2.262_157_162_798_205),
            (0.975, 29.0, 2.045_229_642_132_703),
            (0.995, 99.0, 2.626_405_457_280_827),
            (0.975, 999.0, 1.962_341_461_133_449_3),
            (0.6, 4.5, 0.268_751_835_542_175_1),
            (0.0005, 3.0, -12.923_978_636_687_481),
            (0.975, 100_000.0, 1.959_987_707_534_609_5),
        ] {
            close(student_t_quantile(p, freedom), x);
        }
        for (x, freedom, p) in [
            (-2.0, 3.0, 0.069_662_984_279_421_52),
            (0.0, 5.0, 0.5),
            (1.5, 29.0, 0.927_788_151_979_807_1),
            (-6.0, 12.0, 3.108_369_432_429_282e-5),
            (0.1, 1e4, 0.539_826_834_984_462_5),
        ] {
            close(student_t_cdf(x, freedom), p);
        }
    }

    #[test]
    fn quantiles_of_what_is_no_probability_say_so() {
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(normal_quantile(p).is_nan() && student_t_quantile(p, 3.0).is_nan());
        }
    }
}
