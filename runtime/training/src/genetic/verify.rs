//! Verification of a training record: checks whether its generations, its stopping point and its champion
//! match the experiment.

use super::breeder::Candidate;
use super::experiment::{Experiment, Seeds};
use super::genes::Genome;
use super::judge::{Evaluate, Judgement};
use super::record::{Record, RecordedChampion};
use super::training::{Training, TrainingError, scores_of};
use super::verdict::manners;

/// A record, and a training run that replays its generations from the recorded scores.
pub struct Verification<'a> {
    training: Training<'a>,
    record: &'a Record,
    /// The candidates of each generation, as the breeder proposed them.
    asked: Vec<Vec<Candidate>>,
    /// Number of generations after which the stopping rule first ended the training.
    over_after: Option<usize>,
}

impl<'a> Verification<'a> {
    /// Breeds the generations of a record again from their recorded scores, without driving.
    ///
    /// # Errors
    /// If the record belongs to another experiment or was made with other builds of modules, or if the genes
    /// of a generation do not follow from the earlier generations.
    pub fn new(
        experiment: &'a Experiment,
        genome: &'a Genome,
        evaluate: &'a dyn Evaluate,
        record: &'a Record,
    ) -> Result<Self, TrainingError> {
        let mut training = Training::new(experiment, genome, evaluate)?;
        record.check_same(training.record())?;
        let mut asked = Vec::new();
        let mut over_after = None;
        for generation in &record.generations {
            asked.push(training.take_over(generation)?);
            if training.is_over() {
                over_after.get_or_insert(asked.len());
            }
        }
        Ok(Self {
            training,
            record,
            asked,
            over_after,
        })
    }

    /// Returns the errors in the record's stopping point and champion that can be found without driving.
    pub fn check(&self) -> Vec<String> {
        let generations = self.asked.len();
        let mut wrong = Vec::new();
        match self.over_after {
            Some(after) if after < generations => wrong.push(format!(
                "the stopping rule ends the training after generation {after}, but the record has \
                 {generations} generations"
            )),
            None if self.record.champion.is_some() => wrong.push(format!(
                "the champion was chosen after generation {generations}, but the stopping rule requires more"
            )),
            _ => {}
        }
        let Some(champion) = &self.record.champion else {
            wrong.push("the training is not finished: there is no champion".into());
            return wrong;
        };
        let genome = self.training.genome();
        let finalists = self.training.finalists();
        let own = finalists
            .iter()
            .find(|genes| genome.print(genes) == champion.genes);
        let Some(own) = own else {
            wrong.push("champion.genes: the genes do not match any finalist".into());
            return wrong;
        };
        let (held_out, start) = (champion.held_out.clone(), champion.start.clone());
        let ours = RecordedChampion::new(genome, own, held_out, start);
        if ours.preset != champion.preset {
            wrong.push(
                "champion.preset: the values differ from those of the champion's genes".into(),
            );
        }
        if ours.changes != champion.changes {
            wrong.push(
                "champion.changes: the values do not match the differences between start and champion".into(),
            );
        }
        let courses = Seeds::all(self.training.experiment().seeds.test).len();
        for (key, scores) in [("held_out", &champion.held_out), ("start", &champion.start)] {
            if scores.len() != courses {
                wrong.push(format!(
                    "champion.{key}: there are {} scores for {courses} test courses",
                    scores.len()
                ));
            }
        }
        wrong
    }

    /// Drives some generations again, given by their indices (starting at 0), on the threads of the current
    /// pool. Returns the differences from the record.
    pub fn run_again(&self, generations: &[usize]) -> Vec<String> {
        let mut different = Vec::new();
        for &index in generations {
            let asked = &self.asked[index];
            let found = self.training.judge_generation(index as u32 + 1, asked);
            let recorded = &self.record.generations[index];
            for (judged, found) in recorded.iter().zip(&found) {
                if !is_same(&judged.judgement, found) {
                    let (generation, number) = judged.birth;
                    different.push(format!(
                        "generation {}: the result of individual {number}, which was bred in \
                         generation {generation}, differs from the record",
                        index + 1
                    ));
                }
            }
        }
        different
    }

    /// Repeats the selection of the champion and its test drives on the current thread pool. Returns the
    /// differences from the record; empty if the record has no champion.
    ///
    /// # Errors
    /// If no individual qualifies as champion, or if a test course cannot be driven.
    pub fn judge_again(&self) -> Result<Vec<String>, TrainingError> {
        let Some(recorded) = &self.record.champion else {
            return Ok(Vec::new());
        };
        let found = self.training.champion()?;
        let mut different = Vec::new();
        let genes = self.training.genome().print(&found.genes);
        if genes != recorded.genes {
            different.push(format!(
                "champion.genes: another finalist is the best on the validation courses: {genes}"
            ));
            return Ok(different);
        }
        let first = self.training.experiment().seeds.test[0];
        for (key, recorded, found) in [
            ("held_out", &recorded.held_out, scores_of(&found.held_out)),
            ("start", &recorded.start, scores_of(&found.start)),
        ] {
            let pairs = recorded.iter().zip(found);
            for (course, (&recorded, found)) in (first..).zip(pairs) {
                if recorded.map(f64::to_bits) != found.map(f64::to_bits) {
                    let word = |score: Option<f64>| {
                        score.map_or_else(|| "failed".to_owned(), |score| score.to_string())
                    };
                    different.push(format!(
                        "champion.{key}, course {course}: {} in the record, {} now",
                        word(recorded),
                        word(found)
                    ));
                }
            }
        }
        // Only records of version 1 may lack these values.
        let is_told = recorded.manners.is_some() || self.record.is_sealed();
        let found = manners(&found.held_out);
        if is_told && recorded.manners != found {
            different.push(match recorded.manners {
                None => "champion.manners: the values are missing".into(),
                Some(_) => "champion.manners: the champion drives differently".into(),
            });
        }
        Ok(different)
    }
}

/// Whether the results of a candidate are equal to those in a record. Whether the user has struck out a
/// candidate is not compared, because it does not follow from the experiment. Failure messages are not
/// compared, because the time and manner of a failure can depend on the machine.
fn is_same(recorded: &Judgement, found: &Judgement) -> bool {
    if recorded.failure.is_some() {
        return found.failure.is_some();
    }
    let bits = |judgement: &Judgement| -> Vec<u64> {
        judgement
            .scores
            .iter()
            .map(|score| score.to_bits())
            .collect()
    };
    let unstruck = Judgement {
        struck_out: false,
        ..recorded.clone()
    };
    unstruck == *found && bits(recorded) == bits(found)
}
