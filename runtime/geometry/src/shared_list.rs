//! Lists that share most of their entries with their originals.

use std::ops::Range;
use std::sync::Arc;

/// A list that shares its first part with other lists. New entries are added after the shared part.
///
/// ```text
///   before    [ shared by both ............ ]
///   now       [ shared by both ............ ] [ own ]
/// ```
///
/// Entries that are no longer used stay in place, so that the indices of all entries remain valid.
/// After many additions, a list without sharing takes less space.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedList<T> {
    shared: Arc<[T]>,
    own: Vec<T>,
}

impl<T> Default for SharedList<T> {
    fn default() -> Self {
        Self {
            shared: Arc::new([]),
            own: Vec::new(),
        }
    }
}

impl<T> SharedList<T> {
    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.shared.len() + self.own.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the fraction of the entries that are not shared with copies, in [0, 1].
    pub fn own_share(&self) -> f64 {
        self.own.len() as f64 / self.len().max(1) as f64
    }

    /// Adds entries at the end.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = T>) {
        self.own.extend(entries);
    }

    /// Shares all entries with future copies. O(entries).
    pub fn share(&mut self)
    where
        T: Clone,
    {
        let own = std::mem::take(&mut self.own);
        self.shared = self.shared.iter().cloned().chain(own).collect();
    }

    /// Whether another list begins with the same shared entries as this one.
    pub fn shares_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns a range of entries, which must be entirely inside the shared part or entirely after it.
    #[inline]
    pub fn slice(&self, range: Range<usize>) -> &[T] {
        match range.start.checked_sub(self.shared.len()) {
            None => &self.shared[range],
            Some(first) => &self.own[first..first + range.len()],
        }
    }

    /// Returns an entry.
    #[inline]
    pub fn get(&self, index: usize) -> &T {
        match index.checked_sub(self.shared.len()) {
            None => &self.shared[index],
            Some(own) => &self.own[own],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_numbers_wherever_they_lie() {
        let mut list = SharedList::default();
        list.extend(0..5);
        assert_eq!(list.slice(1..4), [1, 2, 3]);
        list.share();
        let mut next = list.clone();
        next.extend(5..7);
        assert!(next.shares_with(&list));
        assert_eq!((list.len(), next.len()), (5, 7));
        assert_eq!(next.slice(3..5), [3, 4]);
        assert_eq!(next.slice(5..7), [5, 6]);
        assert_eq!((*next.get(4), *next.get(6)), (4, 6));
        assert!((next.own_share() - 2.0 / 7.0).abs() < 1e-12);
        next.share();
        assert!(!next.shares_with(&list));
        assert_eq!(next.slice(3..7), [3, 4, 5, 6]);
        assert_eq!(next.own_share(), 0.0);
    }
}
