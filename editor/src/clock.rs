//! The wall clock.

use std::time::Instant;

/// Returns the wall-clock time.
#[expect(
    clippy::disallowed_methods,
    reason = "autosaves and people go by the wall clock; no simulation reads it"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
