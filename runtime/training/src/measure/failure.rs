//! Modules that failed in a run, which is then no result.

use roadwright_simulation::World;

/// The first failure of a module from outside in a world, in words. `None` if all have done what they were asked
/// for.
pub(super) fn failure_of(world: &World) -> Option<String> {
    let failures = world.failures();
    // Of several the first one in time: the others may follow from it.
    let first = failures
        .iter()
        .min_by(|(_, a), (_, b)| a.first_at.total_cmp(&b.first_at));
    first.map(|(module, failure)| in_words(module, failure.first_at, &failure.reason))
}

/// A failure in one line: the module, when it failed, s, and why.
pub(crate) fn in_words(module: &str, at: f64, reason: &str) -> String {
    // Scripts show the place in their text below the first line.
    let reason = reason.lines().next().unwrap_or_default();
    format!("{module} failed at {at:.1} s ({reason})")
}
