//! Priority queue for the open nodes of a route search.
//!
//! A search closes nodes in the order of their estimates. Most nodes that it reaches are never closed, because
//! their estimates are above the cost of the route. So only the nodes of the current interval of estimates are
//! sorted. Those of later intervals wait in unsorted lists:
//!
//! ```text
//!     interval    0     1     2     3     4    ...   the last one has no upper limit
//!                 .     .   heap  list  list
//!                           ^ current: whatever is pushed here or below goes to the heap
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of intervals per second of estimated cost. A power of two.
const PER_SECOND: f64 = 128.0;
/// Number of intervals. The last interval also contains all larger estimates.
const INTERVALS: usize = 4096;
/// Marks the end of a list.
const END: u32 = u32::MAX;

/// Priority queue of nodes, by lowest estimate, then by lowest number. Estimates are not negative.
#[derive(Default)]
pub(crate) struct RouteQueue {
    /// Nodes of the current interval and earlier ones. Estimate and number are packed into one integer, which
    /// is compared in two instructions.
    heap: BinaryHeap<Reverse<u128>>,
    /// First node of the list of each interval. Empty until the first node is pushed.
    heads: Vec<u32>,
    /// Entries of all lists since the queue was cleared.
    waiting: Vec<Waiting>,
    /// Lower limit of the first interval, s; `None` until a node is pushed.
    base: Option<f64>,
    current: usize,
    /// Last interval that has a list.
    last: usize,
}

/// A node in the list of an interval.
#[derive(Clone, Copy)]
struct Waiting {
    /// Bits of the estimate. Numbers that are not negative have the same order as their bits.
    estimate: u64,
    node: u32,
    next: u32,
}

impl RouteQueue {
    /// Removes all nodes. The memory is reused.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.waiting.clear();
        // Lists up to the current one have been moved to the heap.
        let lists = self.current..self.last + 1;
        self.heads.get_mut(lists).unwrap_or_default().fill(END);
        self.base = None;
        (self.current, self.last) = (0, 0);
    }

    /// Adds a node with its estimated cost of the whole route, s.
    #[inline]
    pub(crate) fn push(&mut self, estimate: f64, node: u32) {
        let base = match self.base {
            Some(base) => base,
            None => self.start(estimate),
        };
        // The conversion replaces negative numbers by 0.
        let interval = ((estimate - base) * PER_SECOND) as usize;
        let interval = interval.min(INTERVALS - 1);
        let estimate = estimate.to_bits();
        if interval <= self.current {
            self.heap.push(Reverse(sorted(estimate, node)));
            return;
        }
        self.last = self.last.max(interval);
        let added = Waiting {
            estimate,
            node,
            next: self.heads[interval],
        };
        self.heads[interval] = self.waiting.len() as u32;
        self.waiting.push(added);
    }

    /// Sets the lower limit of the first interval to an estimate, and returns this estimate.
    #[cold]
    fn start(&mut self, estimate: f64) -> f64 {
        self.heads.resize(INTERVALS, END);
        *self.base.insert(estimate)
    }

    /// Removes and returns the node with the lowest estimate; `None` if the queue is empty.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        loop {
            if let Some(Reverse(first)) = self.heap.pop() {
                return Some(first as u32);
            }
            if self.current == self.last {
                return None;
            }
            self.current += 1;
            let mut at = std::mem::replace(&mut self.heads[self.current], END);
            while let Some(&Waiting {
                estimate,
                node,
                next,
            }) = self.waiting.get(at as usize)
            {
                self.heap.push(Reverse(sorted(estimate, node)));
                at = next;
            }
        }
    }
}

/// Returns an integer that sorts by the bits of an estimate, then by node.
#[inline]
fn sorted(estimate: u64, node: u32) -> u128 {
    u128::from(estimate) << 32 | u128::from(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::math::Stream;

    /// Pushes and pops nodes in the pattern of a search, and compares the queue with a plain heap.
    #[test]
    fn nodes_are_popped_in_the_order_of_a_plain_heap() {
        let mut queue = RouteQueue::default();
        let mut stream = Stream::new(1, "route queue", 0);
        for round in 0..40 {
            queue.clear();
            let mut plain = BinaryHeap::new();
            // In some rounds most estimates are equal, and in some most lie in the last interval.
            let spread = [0.0, 0.05, 3.0, 200.0][round % 4];
            let mut now = stream.next_in(0.0, 1000.0);
            for step in 0..500 {
                for _ in 0..stream.next_in(0.0, 4.0) as usize {
                    // Rounding makes an estimate smaller than that of the node before it.
                    let estimate = now + stream.next_in(-0.01 * spread, spread);
                    let (estimate, node) = (estimate.max(0.0), stream.next_in(0.0, 50.0) as u32);
                    queue.push(estimate, node);
                    plain.push(Reverse((estimate.to_bits(), node)));
                }
                // Some rounds end with nodes in the queue.
                if round % 3 == 0 && step % 2 == 0 {
                    continue;
                }
                let expected = plain.pop().map(|Reverse((estimate, node))| {
                    now = f64::from_bits(estimate);
                    node
                });
                assert_eq!(queue.pop(), expected, "round {round}, step {step}");
            }
        }
    }

    #[test]
    fn an_empty_queue_has_no_node_and_can_be_filled_again() {
        let mut queue = RouteQueue::default();
        assert_eq!(queue.pop(), None);
        for _ in 0..3 {
            queue.push(5.0, 1);
            queue.push(1e9, 2);
            queue.push(4.0, 3);
            let popped: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            assert_eq!(popped, [3, 1, 2]);
            queue.clear();
            queue.push(1e9, 7);
            queue.clear();
            assert_eq!(queue.pop(), None);
        }
    }
}
