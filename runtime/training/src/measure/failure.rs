//! Modules that failed in a run, which is then no result.

use roadwright_simulation::World;

/// Returns the first failure of an external module in a world as a message; `None` if there was none.
pub(super) fn failure_of(world: &World) -> Option<String> {
    let failures = world.failures();
    // Of several the first one in time, because the others may follow from it.
    let first = failures
        .iter()
        .min_by(|(_, a), (_, b)| a.first_at.total_cmp(&b.first_at));
    first.map(|(module, failure)| in_words(module, failure.first_at, &failure.reason))
}

/// Describes a failure in one line: the module, the time, s, and the reason.
pub(crate) fn in_words(module: &str, at: f64, reason: &str) -> String {
    // Scripts show the position in their text below the first line.
    let reason = reason.lines().next().unwrap_or_default();
    format!("{module} failed at {at:.1} s ({reason})")
}
