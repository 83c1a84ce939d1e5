//! Distributes work to all processors without affecting the result.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Approximate number of chunks that each thread processes. With several small chunks, no thread
/// waits long for the others at the end.
const TURNS: usize = 8;

/// Applies a function to all items and returns the results in the order of the items. Lists of
/// fewer than `few` items are processed on the calling thread, because starting threads takes about
/// as long as processing a few items.
///
/// The threads are started for this call and do no other work. The function may therefore be called
/// while a lock is held or a value is being initialised. This would not be safe with a thread pool,
/// which might meanwhile run another task that waits for the same lock.
///
/// # Panics
///
/// If the function panics.
pub fn map_on_all_threads<T: Sync, R: Send>(
    items: &[T],
    few: usize,
    of: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = threads.min(items.len());
    if items.len() < few || threads < 2 {
        return items.iter().map(of).collect();
    }
    let next = AtomicUsize::new(0);
    let size = (items.len() / (TURNS * threads)).max(1);
    let chunks: Vec<&[T]> = items.chunks(size).collect();
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = chunks.get(number) else {
                return done;
            };
            done.push((number, chunk.iter().map(&of).collect::<Vec<R>>()));
        }
    };
    let mut done = thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for helper in helpers {
            match helper.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().flat_map(|(_, results)| results).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::OnceLock;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for count in [0, 1, 15, 16, 17, 1_000] {
            let items: Vec<usize> = (0..count).collect();
            for few in [0, 20, usize::MAX] {
                let squares = map_on_all_threads(&items, few, |item| item * item);
                assert!(
                    squares
                        .iter()
                        .enumerate()
                        .all(|(i, square)| *square == i * i)
                );
                assert_eq!(squares.len(), count);
            }
        }
    }

    #[test]
    fn it_may_be_called_while_a_value_is_initialised() {
        static SUM: OnceLock<usize> = OnceLock::new();
        let sum = || {
            *SUM.get_or_init(|| {
                let items: Vec<usize> = (0..500).collect();
                map_on_all_threads(&items, 0, |item| item + 1).iter().sum()
            })
        };
        let sums = map_on_all_threads(&[(); 64], 0, |()| sum());
        assert_eq!(sums, [125_250; 64]);
    }

    #[test]
    #[should_panic(expected = "item 77")]
    fn a_panic_reaches_the_caller() {
        let items: Vec<usize> = (0..100).collect();
        map_on_all_threads(&items, 0, |item| assert!(*item != 77, "item {item}"));
    }
}
