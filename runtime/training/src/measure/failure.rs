//! Failures of modules in a run. A run in which a module failed is not a result.

use roadwright_simulation::World;

/// Returns the first failure of an external module in a world as a message; `None` if there was none.
pub(super) fn failure_of(world: &World) -> Option<String> {
    let failures = world.failures();
    // The earliest failure is reported, because later failures may follow from it.
    let first = failures
        .iter()
        .min_by(|(_, a), (_, b)| a.first_at.total_cmp(&b.first_at));
    first.map(|(module, failure)| in_words(module, failure.first_at, &failure.reason))
}

/// Describes a failure in one line: the module, the time in seconds, and the reason.
pub(crate) fn in_words(module: &str, at: f64, reason: &str) -> String {
    // Only the first line is used, because scripts show the source position in the lines below it.
    let reason = reason.lines().next().unwrap_or_default();
    format!("{module} failed at {at:.1} s ({reason})")
}
