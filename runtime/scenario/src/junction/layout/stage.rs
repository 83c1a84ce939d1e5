//! Progress reports of the layout of a network.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Callback for the completed fraction of a layout, 0 to 1. It is called from several threads, so a
/// smaller fraction may follow a larger one.
pub type Watch<'a> = &'a (dyn Fn(f64) + Sync);

/// Number of junctions between two progress reports.
const REPORT: usize = 32;

/// Ignores the progress.
pub(super) fn ignore(_: f64) {}

/// A stage of the layout that processes items one by one.
pub(super) struct Stage<'a> {
    watch: Watch<'a>,
    /// Overall progress at the start and at the end of the stage, each from 0 to 1.
    shares: Range<f64>,
    /// Number of items.
    items: usize,
    done: AtomicUsize,
}

impl<'a> Stage<'a> {
    pub(super) fn new(watch: Watch<'a>, shares: Range<f64>, items: usize) -> Self {
        Self {
            watch,
            shares,
            items,
            done: AtomicUsize::new(0),
        }
    }

    /// Counts one item as done.
    pub(super) fn finish_one(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(REPORT) {
            let Range { start, end } = self.shares;
            (self.watch)(start + (end - start) * done as f64 / self.items as f64);
        }
    }
}
