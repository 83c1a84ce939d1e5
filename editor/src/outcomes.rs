//! Dispatches the outcomes of background jobs to the subjects that handle them.

use crate::app::Editor;
use crate::jobs::Outcome;
use crate::model::Tone;
use crate::sharing;

impl Editor {
    /// Handles the outcomes of finished jobs.
    pub(crate) fn take_jobs(&mut self) {
        // All outcomes are taken before any of them is handled, because handling may start another job.
        let mut outcomes = Vec::new();
        self.cx.jobs.retain(|job| match job.take() {
            None => true,
            Some(Ok(outcome)) => {
                outcomes.push(outcome);
                false
            }
            Some(Err(())) => false,
        });
        for outcome in outcomes {
            self.take_outcome(outcome);
            self.do_what_follows();
        }
        let long = self.cx.jobs.iter().find(|job| job.is_long);
        let job = long.map(|job| (job.label.clone(), job.share()));
        let job = job.or_else(|| self.flow.drawing(&self.cx));
        self.cx.model.job = job;
    }

    fn take_outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Document(outcome) => self.flow.take(&mut self.cx, outcome),
            Outcome::Background(read) => self.cx.take_background(read),
            Outcome::Written(path, Ok(())) => {
                let text = format!("Wrote {}.", path.display());
                self.cx.say(Tone::Done, &text);
            }
            Outcome::Written(_, Err(error)) => self.cx.say(Tone::Failed, &error),
            Outcome::Bundle(outcome) => sharing::take(&mut self.cx, &self.modules, outcome),
            Outcome::Experiment(outcome) => self.laboratory.take(&mut self.cx, outcome),
            Outcome::Vehicle(outcome) => self.shop.take(&mut self.cx, outcome),
            Outcome::Race(outcome) => self.racing.take(&mut self.cx, outcome),
            Outcome::Moves(outcome) => self.move_desk.take(&mut self.cx, outcome),
        }
    }
}
