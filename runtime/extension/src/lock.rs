//! Locks: a thread that has panicked has told of it; what it held is still sound here.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a mutex holds.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
