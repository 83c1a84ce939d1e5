//! The wall clock.

use std::time::Instant;

/// Returns the wall-clock time.
#[expect(
    clippy::disallowed_methods,
    reason = "autosaves and times shown to people use the wall clock; no simulation reads it"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
