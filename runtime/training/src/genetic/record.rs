//! Training records: files with the candidates of each generation and their scores.
//!
//! A record serves as a checkpoint. Breeders use counter-based random streams, and their state depends only
//! on the results that they have received. Therefore a training run is resumed by giving a new breeder the
//! results of all generations. No drive is repeated, and a record that does not match is detected.

use super::breeder::{Breeder, Candidate};
use super::experiment::Experiment;
use super::genes::{Genome, Preset};
use super::judge::{Evaluate, Judgement, Manners};
use super::pool::Birth;
use crate::experiment::other_builds;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;
use thiserror::Error;

/// The value of the key `format` in every record.
pub const FORMAT: &str = "roadwright-training";

/// Version of the format that is written. In records of version 1, the hash only covers the generations.
pub const VERSION: u32 = 2;

/// Maximum size of a record, bytes. It is enough for thousands of generations.
pub const LARGEST: u64 = 512 * roadwright_files::MEBIBYTE;

/// A candidate of a recorded generation, with its results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// Genes of the candidate, as [`Genome::print`] prints them.
    pub genes: String,
    /// Generation and number of the individual, which identify it.
    pub birth: (u32, u32),
    /// Results of the candidate.
    pub judgement: Judgement,
}

/// The winner of a finished training run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedChampion {
    /// Genes of the champion, as [`Genome::print`] prints them.
    pub genes: String,
    /// Values of the genes by module and key.
    pub preset: Preset,
    /// Value of each gene before and after training, as text: the name of the term for a gene that selects
    /// one, otherwise the number.
    pub changes: Vec<(String, String)>,
    /// Score on each test course; `None` if a module failed.
    pub held_out: Vec<Option<f64>>,
    /// Scores of the baseline (the values before training) on the same courses.
    pub start: Vec<Option<f64>>,
    /// Behaviour of the champion's vehicles on the test courses; absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manners: Option<Manners>,
}

impl RecordedChampion {
    /// Creates the champion from a set of genes, its scores on the test courses, and the scores of the
    /// baseline.
    pub fn new(
        genome: &Genome,
        champion: &[f64],
        held_out: Vec<Option<f64>>,
        start: Vec<Option<f64>>,
    ) -> Self {
        let before = genome.start();
        let genes = genome.genes().iter().zip(&before).zip(champion);
        Self {
            genes: genome.print(champion),
            preset: genome.preset(champion),
            changes: genes
                .map(|((gene, &before), &after)| (gene.in_words(before), gene.in_words(after)))
                .collect(),
            held_out,
            start,
            manners: None,
        }
    }

    /// Returns the number of test courses on which the champion or the baseline failed.
    pub fn failures(&self) -> usize {
        let scores = self.held_out.iter().chain(&self.start);
        scores.filter(|score| score.is_none()).count()
    }
}

/// A generation with its results.
pub type Generation = Vec<Judged>;

/// The record of a training run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Always `roadwright-training`.
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// Version of the program that wrote the record; empty in records of version 1.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub roadwright: String,
    /// The experiment that was carried out.
    pub experiment: Experiment,
    /// Names of the genes, in the order of chromosomes.
    pub genes: Vec<String>,
    /// Hash of the course, 16 hexadecimal digits.
    pub course_hash: String,
    /// External modules used in the drives, with their builds; absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modules: Option<Vec<String>>,
    /// Hash of everything in the record, 64 hexadecimal digits. A damaged record cannot be resumed, compared
    /// or applied. In records of version 1, the hash only covers the generations and has 16 digits.
    pub hash: String,
    /// The generations in order.
    pub generations: Vec<Generation>,
    /// The winner, once the training has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub champion: Option<RecordedChampion>,
}

/// Reason why a record cannot be read or resumed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RecordError {
    /// The text is not a record.
    #[error("the file is not a training record: {0}")]
    Text(String),
    /// The version of the record cannot be read.
    #[error(
        "format version {0} is newer than this Roadwright supports; update Roadwright to read \
         the record"
    )]
    Version(u32),
    /// This version does not exist.
    #[error("format version {0} does not exist: the file was changed")]
    NoVersion(u32),
    /// The record has a field that does not exist in its version.
    #[error(
        "the record has the field \"{0}\", which records of version 1 do not have: its version number was edited; restore it"
    )]
    FieldOfLater(&'static str),
    /// The experiment in the record violates a rule of experiment files.
    #[error("experiment.{key}: {message}")]
    Experiment {
        /// Key of the experiment.
        key: &'static str,
        /// Description of the problem.
        message: String,
    },
    /// The record was made with other external modules or other builds.
    #[error("the record was made {0}; only the same builds can resume or verify it")]
    Modules(String),
    /// The contents do not match the hash.
    #[error("the contents do not match the hash: the record was damaged or changed")]
    Damaged,
    /// The record belongs to another experiment.
    #[error(
        "the record belongs to another experiment: {0} is different; use another file for \
         --out"
    )]
    Other(&'static str),
    /// A generation does not match the candidates of the experiment.
    #[error(
        "generation {generation} does not match the experiment: another version of Roadwright or \
         of a module made the record; start again with another file for --out"
    )]
    Generation {
        /// Number of the generation, starting at 1.
        generation: usize,
    },
}

impl Record {
    /// Creates the record of a new training run.
    pub fn new(experiment: &Experiment, genome: &Genome, evaluate: &dyn Evaluate) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            roadwright: env!("CARGO_PKG_VERSION").into(),
            experiment: experiment.clone(),
            genes: genome.genes().iter().map(|gene| gene.name()).collect(),
            course_hash: format!("{:016x}", evaluate.hash()),
            modules: Some(evaluate.modules()),
            hash: String::new(),
            generations: Vec::new(),
            champion: None,
        }
    }

    /// Adds a generation.
    pub fn push(&mut self, genome: &Genome, asked: &[Candidate], judged: &[Judgement]) {
        let pairs = asked.iter().zip(judged);
        let generation = pairs.map(|(candidate, judgement)| Judged {
            genes: genome.print(&candidate.genes),
            birth: (candidate.birth.generation, candidate.birth.number),
            judgement: judgement.clone(),
        });
        self.generations.push(generation.collect());
    }

    /// Strikes out an individual of the last generation, identified by its birth. The individual then counts
    /// as unfit, so it is neither kept nor used for breeding. The training no longer follows from its
    /// experiment alone and can only be resumed from this record. Returns whether there was such an
    /// individual.
    pub fn strike_out(&mut self, birth: (u32, u32)) -> bool {
        let last = self.generations.last_mut().into_iter().flatten();
        let mut own = last.filter(|judged| judged.birth == birth && !judged.judgement.struck_out);
        own.next().is_some_and(|judged| {
            judged.judgement.struck_out = true;
            self.champion = None;
            true
        })
    }

    /// Returns the number of individuals that were struck out by hand.
    pub fn struck_out(&self) -> usize {
        let all = self.generations.iter().flatten();
        all.filter(|judged| judged.judgement.struck_out).count()
    }

    /// Whether the hash covers the whole record. In records of version 1, it only covers the generations.
    pub fn is_sealed(&self) -> bool {
        self.version >= 2
    }

    /// Computes the hash of everything in the record. A field that is added to the format must be skipped
    /// when it has its default value. Otherwise, the hashes of earlier records would no longer match.
    fn seal(&self) -> String {
        let all = (
            self.version,
            &self.roadwright,
            &self.experiment,
            &self.genes,
            &self.course_hash,
            &self.generations,
            &self.champion,
        );
        let text = match &self.modules {
            None => serde_json::to_vec(&all),
            Some(modules) => serde_json::to_vec(&(all, modules)),
        };
        let text = text.expect("a record can be serialized");
        blake3::hash(&text).to_hex().to_string()
    }

    /// Returns the text of the record's file, in the current version of the format.
    pub fn to_text(&mut self) -> String {
        self.version = VERSION;
        self.hash = self.seal();
        let mut text = serde_json::to_string(self).expect("a record can be serialized");
        text.push('\n');
        text
    }

    /// Reads a record from the text of its file.
    ///
    /// # Errors
    /// If the text is not a record, is damaged, or was written by a newer version.
    pub fn from_text(text: &str) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Header {
            format: String,
            version: u32,
        }
        let no_record = |error: serde_json::Error| RecordError::Text(error.to_string());
        // The header is parsed separately first. Otherwise, parsing another format or version could
        // fail with an unhelpful message.
        let header: Header = serde_json::from_str(text).map_err(no_record)?;
        if header.format != FORMAT {
            let message = format!("its format is \"{}\", not \"{FORMAT}\"", header.format);
            return Err(RecordError::Text(message));
        }
        match header.version {
            0 => return Err(RecordError::NoVersion(0)),
            1..=VERSION => {}
            newer => return Err(RecordError::Version(newer)),
        }
        let record: Self = serde_json::from_str(text).map_err(no_record)?;
        if !record.is_sealed() {
            record.check_first_version()?;
        }
        let hash = if record.is_sealed() {
            record.seal()
        } else {
            hash_of(&record.generations)
        };
        if record.hash != hash {
            return Err(RecordError::Damaged);
        }
        // The experiment has to follow the rules of experiment files. Violations are rejected before anything
        // is bred, driven or allocated.
        if let Some((key, message)) = record.experiment.fault() {
            return Err(RecordError::Experiment { key, message });
        }
        Ok(record)
    }

    /// Rejects fields that only later versions have.
    fn check_first_version(&self) -> Result<(), RecordError> {
        if !self.roadwright.is_empty() {
            return Err(RecordError::FieldOfLater("roadwright"));
        }
        if self.modules.is_some() {
            return Err(RecordError::FieldOfLater("modules"));
        }
        Ok(())
    }

    /// Checks that a newly started training run can continue this record. The builds of the modules
    /// must be the same. Only the stopping condition and the description may differ.
    ///
    /// # Errors
    /// If anything else differs. The error describes the difference.
    pub fn check_same(&self, fresh: &Self) -> Result<(), RecordError> {
        let mut experiment = self.experiment.clone();
        // These two fields do not affect the individuals: training may run for longer, and a text may be
        // corrected.
        experiment.stop = fresh.experiment.stop;
        experiment.about.clone_from(&fresh.experiment.about);
        if experiment != fresh.experiment {
            return Err(RecordError::Other("the experiment file"));
        }
        if self.genes != fresh.genes {
            return Err(RecordError::Other("the list of genes"));
        }
        if self.course_hash != fresh.course_hash {
            return Err(RecordError::Other("the course"));
        }
        // If a record does not contain the builds, they cannot be compared.
        let builds = self.modules.as_deref().zip(fresh.modules.as_deref());
        let other = builds.and_then(|(theirs, ours)| other_builds(theirs, ours));
        other.map_or(Ok(()), |words| Err(RecordError::Modules(words)))
    }

    /// Gives a new breeder the results of all generations.
    ///
    /// # Errors
    /// If the breeder proposes candidates that differ from the recorded ones.
    pub fn replay(&self, genome: &Genome, breeder: &mut dyn Breeder) -> Result<(), RecordError> {
        for (index, generation) in self.generations.iter().enumerate() {
            let told = tell_again(genome, breeder, generation);
            told.ok_or(RecordError::Generation {
                generation: index + 1,
            })?;
        }
        Ok(())
    }
}

/// Gives a breeder the results of a generation. Returns the candidates that it proposed, or `None` if they
/// differ from those in the record.
pub(super) fn tell_again(
    genome: &Genome,
    breeder: &mut dyn Breeder,
    generation: &Generation,
) -> Option<Vec<Candidate>> {
    let asked = breeder.ask();
    // Genes are compared as text, because that is how the file contains them.
    let is_same = |(candidate, judged): (&Candidate, &Judged)| {
        let (generation, number) = judged.birth;
        let birth = Birth { generation, number };
        candidate.birth == birth && genome.print(&candidate.genes) == judged.genes
    };
    let same = asked.len() == generation.len() && asked.iter().zip(generation).all(is_same);
    if !same {
        return None;
    }
    let fitness: Vec<_> = generation.iter().map(|j| j.judgement.fitness()).collect();
    breeder.tell(&fitness);
    Some(asked)
}

/// Computes the hash as in records of version 1.
fn hash_of(generations: &[Generation]) -> String {
    let text = serde_json::to_vec(generations).expect("generations can be serialized");
    let mut hasher = twox_hash::XxHash3_64::with_seed(0);
    hasher.write(&text);
    format!("{:016x}", hasher.finish())
}
