//! Whether counts and indices of a save can be.

/// Whether counts of a save are so far from their ends that a run does not get there.
pub(crate) fn are_countable(counts: impl IntoIterator<Item = u64>) -> bool {
    counts.into_iter().all(|count| count <= 1 << 62)
}

/// The same of counts with 32 bits.
pub(crate) fn are_short_counts(counts: impl IntoIterator<Item = u32>) -> bool {
    counts.into_iter().all(|count| count <= 1 << 31)
}

/// Whether no index is in a list twice.
pub(crate) fn are_distinct<I: Copy + Ord>(indices: &[I]) -> bool {
    let mut sorted = indices.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}
