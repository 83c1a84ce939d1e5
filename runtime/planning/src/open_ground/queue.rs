//! Priority queues for searches whose keys never decrease.
//!
//! The bucket queue and the radix queue keep outdated entries, which searches recognise and skip. Among equal
//! keys, the entry that was pushed last is popped first, so that a search continues where it has advanced
//! farthest.

/// A queue in which pushed keys are never smaller than the last popped key.
#[derive(Debug, Clone)]
pub(super) enum MonotoneQueue {
    /// A bucket for each key.
    Buckets(BucketQueue),
    /// A bucket for each bit.
    Radix(RadixQueue),
}

/// Maximum number of buckets. If more would be needed, the radix queue is used.
const MOST_BUCKETS: u64 = 1 << 16;

impl MonotoneQueue {
    /// Clears the queue for a new range of keys and reuses its memory. Keys are multiples of `unit` and at
    /// least `first`. Keys in the queue at the same time differ by at most `span`.
    pub(super) fn restart(&mut self, unit: u64, span: u64, first: u64) {
        let buckets = span / unit + 1;
        if buckets <= MOST_BUCKETS {
            if let Self::Radix(_) = self {
                *self = Self::Buckets(BucketQueue::default());
            }
            if let Self::Buckets(queue) = self {
                queue.restart(unit, buckets, first);
            }
        } else {
            match self {
                Self::Radix(queue) => queue.restart(),
                Self::Buckets(_) => *self = Self::Radix(RadixQueue::default()),
            }
        }
    }

    #[inline]
    pub(super) fn push(&mut self, key: u64, value: u32) {
        match self {
            Self::Buckets(queue) => queue.push(key, value),
            Self::Radix(queue) => queue.push(key, value),
        }
    }

    /// Removes and returns the entry with the smallest key; `None` if the queue is empty.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<KeyedValue> {
        match self {
            Self::Buckets(queue) => queue.pop(),
            Self::Radix(queue) => queue.pop(),
        }
    }

    /// Removes and returns another entry with the same key as the last popped one; `None` if there is none.
    pub(super) fn pop_equal(&mut self) -> Option<KeyedValue> {
        match self {
            Self::Buckets(queue) => queue.pop_equal(),
            Self::Radix(queue) => queue.pop_equal(),
        }
    }
}

impl Default for MonotoneQueue {
    fn default() -> Self {
        Self::Radix(RadixQueue::default())
    }
}

/// A value with its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyedValue {
    pub(super) key: u64,
    pub(super) value: u32,
}

/// Marks the end of a list of entries.
const END: u32 = u32::MAX;

/// A ring of buckets, one for each key, with bitmaps for finding the next bucket that is not empty.
#[derive(Debug, Clone, Default)]
pub(super) struct BucketQueue {
    unit: u64,
    /// The smallest key that may be in the queue, in units.
    base: u64,
    /// Most recent entry of each bucket. The number of buckets is a power of two.
    heads: Vec<u32>,
    /// A bit for each bucket that is not empty.
    words: Vec<u64>,
    /// A bit for each word that is not zero.
    summary: Vec<u64>,
    entries: Vec<Link>,
    free: u32,
    len: usize,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    value: u32,
    next: u32,
}

impl BucketQueue {
    fn restart(&mut self, unit: u64, buckets: u64, first: u64) {
        // At least one full word of buckets, so that the bitmaps need no special case.
        let buckets = buckets.next_power_of_two().max(64) as usize;
        self.unit = unit;
        self.base = first / unit;
        for list in [&mut self.words, &mut self.summary] {
            list.clear();
        }
        self.heads.clear();
        self.heads.resize(buckets, END);
        self.words.resize(buckets / 64, 0);
        self.summary.resize((buckets / 64).div_ceil(64), 0);
        self.entries.clear();
        self.free = END;
        self.len = 0;
    }

    #[inline]
    fn push(&mut self, key: u64, value: u32) {
        let scaled = key / self.unit;
        // With a consistent estimate, no key is below the base.
        let bucket = (scaled.max(self.base) as usize) & (self.heads.len() - 1);
        let link = Link {
            value,
            next: self.heads[bucket],
        };
        let at = if self.free == END {
            self.entries.push(link);
            (self.entries.len() - 1) as u32
        } else {
            let at = self.free;
            self.free = self.entries[at as usize].next;
            self.entries[at as usize] = link;
            at
        };
        self.heads[bucket] = at;
        self.words[bucket >> 6] |= 1 << (bucket & 63);
        self.summary[bucket >> 12] |= 1 << ((bucket >> 6) & 63);
        self.len += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<KeyedValue> {
        if self.len == 0 {
            return None;
        }
        let mask = self.heads.len() - 1;
        let from = self.base as usize & mask;
        let bucket = self.next_filled(from);
        // The search for the next bucket may have wrapped around the end of the ring.
        self.base += (bucket.wrapping_sub(from) & mask) as u64;
        let at = self.heads[bucket];
        let Link { value, next } = self.entries[at as usize];
        self.heads[bucket] = next;
        self.entries[at as usize].next = self.free;
        self.free = at;
        if next == END {
            self.words[bucket >> 6] &= !(1 << (bucket & 63));
            if self.words[bucket >> 6] == 0 {
                self.summary[bucket >> 12] &= !(1 << ((bucket >> 6) & 63));
            }
        }
        self.len -= 1;
        let key = self.base * self.unit;
        Some(KeyedValue { key, value })
    }

    fn pop_equal(&mut self) -> Option<KeyedValue> {
        let bucket = self.base as usize & self.heads.len().checked_sub(1)?;
        (self.heads[bucket] != END).then(|| self.pop())?
    }

    /// Index of the first non-empty bucket at or after `from`, wrapping around. The queue must not be empty.
    #[inline]
    fn next_filled(&self, from: usize) -> usize {
        let word = from >> 6;
        let rest = self.words[word] & (!0 << (from & 63));
        if rest != 0 {
            return (word << 6) + rest.trailing_zeros() as usize;
        }
        // Searches the words after the first one, and then those from the start of the ring up to and
        // including the first one.
        let behind = self.next_word(word + 1);
        let word = behind.or_else(|| self.next_word(0)).unwrap_or(word);
        (word << 6) + self.words[word].trailing_zeros() as usize
    }

    #[inline]
    fn next_word(&self, from: usize) -> Option<usize> {
        let mut at = from >> 6;
        let first = self.summary.get(at)?;
        let mut rest = first & (!0 << (from & 63));
        loop {
            if rest != 0 {
                return Some((at << 6) + rest.trailing_zeros() as usize);
            }
            at += 1;
            rest = *self.summary.get(at)?;
        }
    }
}

/// A queue with one bucket for each bit in which a key may first differ from the last popped key ([Ahuja
/// 1990]).
#[derive(Debug, Clone)]
pub(super) struct RadixQueue {
    last: u64,
    filled: u128,
    buckets: Vec<Vec<KeyedValue>>,
}

impl Default for RadixQueue {
    fn default() -> Self {
        Self {
            last: 0,
            filled: 0,
            buckets: vec![Vec::new(); 65],
        }
    }
}

impl RadixQueue {
    fn restart(&mut self) {
        self.last = 0;
        self.filled = 0;
        self.buckets.iter_mut().for_each(Vec::clear);
    }

    #[inline]
    fn push(&mut self, key: u64, value: u32) {
        let key = key.max(self.last);
        self.place(KeyedValue { key, value });
    }

    #[inline]
    fn place(&mut self, entry: KeyedValue) {
        let bucket = (64 - (entry.key ^ self.last).leading_zeros()) as usize;
        self.buckets[bucket].push(entry);
        self.filled |= 1 << bucket;
    }

    #[inline]
    fn pop(&mut self) -> Option<KeyedValue> {
        if self.buckets[0].is_empty() {
            self.spread()?;
        }
        let entry = self.buckets[0].pop();
        if self.buckets[0].is_empty() {
            self.filled &= !1;
        }
        entry
    }

    fn pop_equal(&mut self) -> Option<KeyedValue> {
        (!self.buckets[0].is_empty()).then(|| self.pop())?
    }

    /// Distributes the entries of the first non-empty bucket over the buckets before it; `None` if
    /// all buckets are empty.
    fn spread(&mut self) -> Option<()> {
        if self.filled == 0 {
            return None;
        }
        let first = self.filled.trailing_zeros() as usize;
        let mut entries = std::mem::take(&mut self.buckets[first]);
        self.filled &= !(1 << first);
        self.last = entries.iter().map(|entry| entry.key).min()?;
        for entry in entries.drain(..) {
            self.place(entry);
        }
        // The memory of the bucket is reused.
        self.buckets[first] = entries;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    fn comes_out_sorted(mut queue: MonotoneQueue, unit: u64, span: u64, steps: &[(u64, bool)]) {
        queue.restart(unit, span, 0);
        let mut expected = BinaryHeap::new();
        let mut last = 0;
        for (value, (step, is_push)) in steps.iter().enumerate() {
            if *is_push {
                let key = last + step % (span / unit) * unit;
                queue.push(key, value as u32);
                expected.push(Reverse(key));
            } else {
                let key = queue.pop().map(|entry| entry.key);
                assert_eq!(key, expected.pop().map(|key| key.0));
                last = key.unwrap_or(last);
            }
        }
        while let Some(Reverse(key)) = expected.pop() {
            assert_eq!(queue.pop().map(|entry| entry.key), Some(key));
        }
        assert_eq!(queue.pop(), None);
    }

    proptest! {
        #[test]
        fn keys_come_out_in_order(steps in prop::collection::vec((any::<u64>(), prop::bool::weighted(0.7)), 1..400)) {
            for (unit, span) in [(1, 10_000), (32, 32 * 300), (64, 64 * 14), (1, 1 << 40)] {
                comes_out_sorted(MonotoneQueue::default(), unit, span, &steps);
            }
        }
    }

    #[test]
    fn of_equal_keys_the_last_one_comes_first() {
        for span in [100, 1 << 40] {
            let mut queue = MonotoneQueue::default();
            queue.restart(1, span, 0);
            for value in 0..3 {
                queue.push(7, value);
            }
            let order: Vec<u32> = std::iter::from_fn(|| queue.pop())
                .map(|e| e.value)
                .collect();
            assert_eq!(order, [2, 1, 0]);
        }
    }
}
