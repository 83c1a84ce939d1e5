//! Calls into a library that are in progress, and whether the host has abandoned them. A plugin can
//! query this with `cancelled`.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bit that is set once the calls in progress have been abandoned.
const GIVEN_UP: u64 = 1;
/// Amount by which each call in progress increases the state.
const ONE: u64 = 1 << 1;
/// Bits that contain the number of calls in progress.
// 15 bits leave 48 for a time in ms, which is enough for 8,900 years.
const COUNT: u64 = 0x7fff << 1;
/// The bits from this index upwards contain the start time of the earliest call in progress, ms.
const SINCE: u32 = 16;

/// Calls into a library that are in progress. Their state is a single number. The answer of a call
/// that is just returning is therefore either abandoned or used, but never both.
#[derive(Default)]
pub(crate) struct Calls(AtomicU64);

/// A call in progress. Its answer counts only if [`Call::end`] returns true.
pub(crate) struct Call<'a>(&'a Calls);

impl Calls {
    /// Begins a call at time `now`, ms. Returns `None` if abandoned calls have not returned yet, because
    /// `cancelled` would also return 1 in the new call.
    pub(crate) fn begin(&self, now: u64) -> Option<Call<'_>> {
        let begun = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |calls| {
                match calls & COUNT {
                    _ if calls & GIVEN_UP != 0 => None,
                    // The first call sets the time. The duration of calls that join it is measured from there
                    // as well.
                    0 => Some(now << SINCE | ONE),
                    // The count uses all 15 bits, so another call would overflow into the time.
                    COUNT => None,
                    _ => Some(calls + ONE),
                }
            });
        begun.is_ok().then(|| Call(self))
    }

    /// Whether the calls in progress have been abandoned.
    pub(crate) fn are_given_up(&self) -> bool {
        self.0.load(Ordering::Acquire) & GIVEN_UP != 0
    }

    /// Abandons the calls if the first of them began no later than `begun_by`, ms. Returns `false` if the
    /// first call began later, or if the calls had already been abandoned.
    pub(crate) fn give_up(&self, begun_by: u64) -> bool {
        let given_up = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |calls| {
                let is_late = calls & COUNT != 0 && calls >> SINCE <= begun_by;
                (is_late && calls & GIVEN_UP == 0).then_some(calls | GIVEN_UP)
            });
        given_up.is_ok()
    }

    /// Ends a call. Returns false if it was abandoned.
    fn end_one(&self) -> bool {
        let before = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |calls| {
                let rest = calls - ONE;
                // The last call resets the state.
                Some(if rest & COUNT == 0 { 0 } else { rest })
            });
        before.is_ok_and(|calls| calls & GIVEN_UP == 0)
    }
}

impl Call<'_> {
    /// Ends the call. Returns whether its answer counts.
    pub(crate) fn end(self) -> bool {
        let counts = self.0.end_one();
        // Otherwise `drop` would end the call a second time.
        std::mem::forget(self);
        counts
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.end_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_late_is_given_up() {
        let calls = Calls::default();
        assert!(!calls.give_up(100), "nothing is in progress");
        let call = calls.begin(50).unwrap();
        assert!(!calls.give_up(49), "it has begun later");
        assert!(!calls.are_given_up());
        assert!(calls.give_up(50) && calls.are_given_up());
        assert!(!calls.give_up(50), "it is given up already");
        assert!(!call.end() && !calls.are_given_up());
        assert!(calls.begin(51).unwrap().end(), "the next one counts");
    }

    #[test]
    fn those_that_run_at_once_are_given_up_together() {
        let calls = Calls::default();
        let (first, second) = (calls.begin(10).unwrap(), calls.begin(20).unwrap());
        assert!(calls.give_up(10));
        assert!(!second.end());
        // Otherwise the new call would receive the cancellation of the first one.
        assert!(calls.begin(30).is_none() && calls.are_given_up());
        drop(first);
        let third = calls.begin(40).unwrap();
        assert!(!calls.give_up(39), "the time is that of the calls now");
        assert!(third.end());
    }
}
