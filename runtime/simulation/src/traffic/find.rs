//! Runs a search for each number in a range, on one or several threads.

use crate::modules::SLICE;
use rayon::prelude::*;

/// Calls `search` for each number below `count`. The numbers are divided among the threads of
/// `helpers`, if there are any. The results are in the order of the numbers.
pub(crate) fn find<T: Send>(
    helpers: Option<&rayon::ThreadPool>,
    count: usize,
    found: &mut Vec<T>,
    search: impl Fn(usize, &mut Vec<T>) + Sync,
) {
    found.clear();
    let Some(helpers) = helpers else {
        return (0..count).for_each(|number| search(number, found));
    };
    let parts: Vec<Vec<T>> = helpers.install(|| {
        let slices = (0..count).into_par_iter().step_by(SLICE);
        let part = |first: usize| {
            let mut part = Vec::new();
            (first..(first + SLICE).min(count)).for_each(|number| search(number, &mut part));
            part
        };
        slices.map(part).collect()
    });
    found.extend(parts.into_iter().flatten());
}
