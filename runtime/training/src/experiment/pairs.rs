//! Paired comparison of results with the same seeds.

use super::results::{Head, Results};
use std::collections::BTreeMap;
use thiserror::Error;

/// Reason why results cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot be compared: the results have different {what} ({first} and {other})")]
pub struct Incomparable {
    /// The property that differs.
    pub what: &'static str,
    /// Value of the property in the first results.
    pub first: String,
    /// Value of the property in the other results.
    pub other: String,
}

/// Checks whether results can be compared. Courses are identified by their hashes, so two scenario files that
/// differ only in their stacks are the same course.
///
/// # Errors
/// If the courses, fitness functions or versions differ, because the comparison would then be meaningless.
pub fn check_comparable(first: &Head, other: &Head) -> Result<(), Incomparable> {
    let hashes_known = !first.course_hash.is_empty() && !other.course_hash.is_empty();
    let is_same_course = if hashes_known {
        first.course_hash == other.course_hash
    } else {
        first.course == other.course
    };
    let different = |what, first: String, other: String| Incomparable { what, first, other };
    if !is_same_course {
        let of = |head: &Head| format!("{} ({})", head.course, head.course_hash);
        return Err(different("courses", of(first), of(other)));
    }
    let direction = |head: &Head| {
        String::from(if head.lower_is_better {
            "lower is better"
        } else {
            "higher is better"
        })
    };
    for (what, first, other) in [
        ("fitnesses", &first.fitness, &other.fitness),
        ("directions", &direction(first), &direction(other)),
        (
            "versions of roadwright",
            &first.roadwright,
            &other.roadwright,
        ),
    ] {
        if first != other {
            return Err(different(what, first.clone(), other.clone()));
        }
    }
    Ok(())
}

/// Returns the pairs of fitness values for the seeds that have a fitness in both results, in the
/// order of the rows of `other`. Failed rows are left out.
///
/// # Errors
/// If the results cannot be compared.
pub fn pairs(first: &Results, other: &Results) -> Result<Vec<(f64, f64)>, Incomparable> {
    check_comparable(&first.head, &other.head)?;
    let by_seed: BTreeMap<u64, f64> = (first.rows.iter())
        .filter_map(|row| Some((row.seed, row.fitness?)))
        .collect();
    let pairs =
        (other.rows.iter()).filter_map(|row| Some((*by_seed.get(&row.seed)?, row.fitness?)));
    Ok(pairs.collect())
}
