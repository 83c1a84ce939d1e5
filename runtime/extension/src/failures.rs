//! Counts the answers that modules failed to give, until the world queries the count.

use crate::lock::locked;
use roadwright_agent::Failure;
use std::sync::{Mutex, PoisonError};

/// Reason why answers are missing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cause<'a> {
    /// Id of the first agent that got no answer.
    pub(crate) agent: u64,
    /// Reason for the failure, in words.
    pub(crate) reason: &'a str,
    /// Whether the failure depends on the machine, see [`Failure::depends_on_machine`].
    pub(crate) depends_on_machine: bool,
}

/// Missing answers of a module, with the reason.
#[derive(Default)]
struct Counted {
    answers: u64,
    /// Reason for the failure of the agent with the smallest id. Slices of a step run concurrently, and the
    /// result must not depend on which of them fails first.
    first: Option<(u64, String)>,
    build: String,
    depends_on_machine: bool,
}

/// Missing answers of a module since the world's last query.
#[derive(Default)]
pub(crate) struct Failures(Mutex<Counted>);

impl Failures {
    /// Counts answers that the built-in module gave instead. `answers` is 0 if the built-in module
    /// has yet to answer.
    pub(crate) fn note(&self, answers: u64, build: &str, cause: Cause<'_>) {
        let mut counted = locked(&self.0);
        counted.answers += answers;
        counted.depends_on_machine |= cause.depends_on_machine;
        let first = counted.first.as_ref();
        if first.is_none_or(|(agent, _)| cause.agent < *agent) {
            counted.first = Some((cause.agent, cause.reason.to_owned()));
            build.clone_into(&mut counted.build);
        }
    }

    /// Returns the counts so far; `None` if no answer is missing. `is_out` states whether the module is out
    /// of service.
    pub(crate) fn look(&self, is_out: bool) -> Option<Failure> {
        locked(&self.0).told(is_out)
    }

    /// Returns the same as [`Failures::look`] and resets the counts.
    pub(crate) fn take(&mut self, is_out: bool) -> Option<Failure> {
        let counted = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(counted).told(is_out)
    }
}

impl Counted {
    fn told(&self, is_out: bool) -> Option<Failure> {
        let (_, reason) = self.first.as_ref()?;
        Some(Failure {
            answers: self.answers,
            reason: reason.clone(),
            build: self.build.clone(),
            is_out,
            depends_on_machine: self.depends_on_machine,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(agent: u64, reason: &str) -> Cause<'_> {
        Cause {
            agent,
            reason,
            depends_on_machine: false,
        }
    }

    #[test]
    fn the_reason_does_not_depend_on_which_slice_fails_first() {
        let mut orders = [[(7, "seven"), (3, "three")], [(3, "three"), (7, "seven")]]
            .into_iter()
            .map(|order| {
                let mut failures = Failures::default();
                for (agent, reason) in order {
                    failures.note(2, "1.0 abc native", cause(agent, reason));
                }
                failures.take(false)
            });
        let first = orders.next().flatten().expect("failures were noted");
        assert_eq!((first.answers, first.reason.as_str()), (4, "three"));
        assert_eq!(orders.next(), Some(Some(first)));
    }

    #[test]
    fn what_was_taken_is_not_told_again() {
        let mut failures = Failures::default();
        assert_eq!(failures.look(true), None);
        failures.note(1, "", cause(1, "gone"));
        assert!(failures.look(true).is_some_and(|failure| failure.is_out));
        assert!(failures.take(true).is_some());
        assert_eq!(failures.take(true), None);
    }
}
