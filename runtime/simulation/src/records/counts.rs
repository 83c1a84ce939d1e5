//! Validity checks for counts and indices of a save.

/// Whether saved counts are so far below the maximum of their type that they cannot overflow in any
/// run.
pub(crate) fn are_countable(counts: impl IntoIterator<Item = u64>) -> bool {
    counts.into_iter().all(|count| count <= 1 << 62)
}

/// Like `are_countable`, but for 32-bit counts.
pub(crate) fn are_short_counts(counts: impl IntoIterator<Item = u32>) -> bool {
    counts.into_iter().all(|count| count <= 1 << 31)
}

/// Whether all indices in a list are different.
pub(crate) fn are_distinct<I: Copy + Ord>(indices: &[I]) -> bool {
    let mut sorted = indices.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}
