//! A column for data that few agents have.

use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// A column for a property that has its default value in nearly all agents. It stores rows only up
/// to the last one that ever differed from the default, so it usually takes no memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rare<T> {
    rows: Vec<T>,
    /// Value of all rows beyond the stored ones.
    #[serde(skip)]
    default: T,
}

impl<T> Rare<T> {
    /// Number of stored rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}

impl<T> Index<usize> for Rare<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        self.rows.get(index).unwrap_or(&self.default)
    }
}

impl<T: Copy + Default> IndexMut<usize> for Rare<T> {
    /// Returns a mutable reference to a row, and extends the column up to it if necessary. To store
    /// a row that may equal the default, use [`Column::put`] instead.
    fn index_mut(&mut self, index: usize) -> &mut T {
        if self.rows.len() <= index {
            self.rows.resize(index + 1, T::default());
        }
        &mut self.rows[index]
    }
}

/// A column: rows by agent index.
pub(crate) trait Column<T> {
    /// Stores a row, which may lie beyond the end of the column.
    fn put(&mut self, index: usize, row: T);

    /// Whether this is a valid column for the given number of agents.
    fn is_of(&self, agents: usize) -> bool;
}

impl<T> Column<T> for Vec<T> {
    fn put(&mut self, index: usize, row: T) {
        match self.get_mut(index) {
            Some(place) => *place = row,
            None => self.push(row),
        }
    }

    fn is_of(&self, agents: usize) -> bool {
        self.len() == agents
    }
}

impl<T: Copy + Default + PartialEq> Column<T> for Rare<T> {
    #[inline]
    fn put(&mut self, index: usize, row: T) {
        match self.rows.get_mut(index) {
            Some(place) => *place = row,
            None if row == self.default => {}
            None => self[index] = row,
        }
    }

    fn is_of(&self, agents: usize) -> bool {
        self.rows.len() <= agents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_that_differ_take_room() {
        let mut column = Rare::default();
        column.put(7, 0);
        assert_eq!((column.len(), column[7]), (0, 0));
        column.put(2, 5);
        column.put(1, 0);
        assert_eq!(
            (column.len(), column[1], column[2], column[3]),
            (3, 0, 5, 0)
        );
        column.put(2, 0);
        column[4] = 6;
        assert_eq!((column.len(), column[2], column[4]), (5, 0, 6));
    }
}
