//! What a training has done so far, as a file: each generation with its candidates and their scores.
//!
//! The record is the checkpoint. Breeders draw from counter-based streams and keep nothing that does
//! not follow from what they were told, so a training is resumed by telling a new breeder all of it
//! again; nothing is driven twice, and a record that does not fit is found out.

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

/// Version of the format that is written. The hash of records of version 1 covers their generations only.
pub const VERSION: u32 = 2;

/// Largest record that is read, bytes: thousands of generations.
pub const LARGEST: u64 = 512 * roadwright_files::MEBIBYTE;

/// One candidate of a generation with what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// Its genes, as [`Genome::print`] prints them.
    pub genes: String,
    /// Generation and number that it was bred as.
    pub birth: (u32, u32),
    /// What came of it.
    pub judgement: Judgement,
}

/// Who won a training that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedChampion {
    /// His genes, as [`Genome::print`] prints them.
    pub genes: String,
    /// His values by module and key.
    pub preset: Preset,
    /// Each gene before and after training, in words.
    pub changes: Vec<(String, String)>,
    /// Score on each test course; `None` where a module failed.
    pub held_out: Vec<Option<f64>>,
    /// The same of the values before training.
    pub start: Vec<Option<f64>>,
    /// How the champion drove on the test courses; older versions did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manners: Option<Manners>,
}

impl RecordedChampion {
    /// The champion with some genes, and scores on the test courses of him and of the values before training.
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

    /// Test courses on which he or the values before training failed.
    pub fn failures(&self) -> usize {
        let scores = self.held_out.iter().chain(&self.start);
        scores.filter(|score| score.is_none()).count()
    }
}

/// One generation.
pub type Generation = Vec<Judged>;

/// A training so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Always `roadwright-training`.
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// Version of the program that wrote it; empty in records of version 1.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub roadwright: String,
    /// The experiment.
    pub experiment: Experiment,
    /// Names of the genes, in the order of chromosomes.
    pub genes: Vec<String>,
    /// Hash of what the candidates drive on, 16 hexadecimal digits.
    pub course_hash: String,
    /// Modules from outside that its drives were driven with, each with its build; `None` in records of programs
    /// that did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modules: Option<Vec<String>>,
    /// Hash of everything in the record, 64 hexadecimal digits: a damaged record is neither resumed, compared nor
    /// applied. In records of version 1 it covers the generations only and has 16 digits.
    pub hash: String,
    /// The generations in order.
    pub generations: Vec<Generation>,
    /// Who won, once the training is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub champion: Option<RecordedChampion>,
}

/// Why a record cannot be read or resumed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RecordError {
    /// It is no record.
    #[error("it is no record of a training: {0}")]
    Text(String),
    /// It was made by another version.
    #[error("version {0} of the format is not known: a newer Roadwright has made it")]
    Version(u32),
    /// The version has never existed.
    #[error("version {0} of the format has never existed: it was changed")]
    NoVersion(u32),
    /// It has a field that records of its version do not have.
    #[error(
        "it has the field \"{0}\", which records of version 1 do not have: its version was changed"
    )]
    FieldOfLater(&'static str),
    /// Its experiment breaks a rule of experiment files.
    #[error("experiment.{key}: {message}")]
    Experiment {
        /// Key of the experiment.
        key: &'static str,
        /// What is wrong.
        message: String,
    },
    /// It was made with other modules from outside, or other builds of them.
    #[error("it was made {0}; only the same builds resume or verify it")]
    Modules(String),
    /// It is not what was written.
    #[error("it does not have the hash that stands in it: it was damaged or changed")]
    Damaged,
    /// It is of another experiment.
    #[error("it is the record of another experiment: {0} is different; use another --out")]
    Other(&'static str),
    /// A generation is not what the experiment asks for.
    #[error(
        "generation {generation} is not what the experiment asks for: another version of \
         Roadwright or of a module has made the record; begin anew with another --out"
    )]
    Generation {
        /// Its number, from 1.
        generation: usize,
    },
}

impl Record {
    /// The record of a training that has not begun.
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

    /// Strikes an individual of the last generation out by its birth: it counts as unfit from now on, so it is
    /// neither kept nor bred from. The training is then no longer what its experiment alone makes of it; resume
    /// it with the record. Returns whether there was somebody to strike out.
    pub fn strike_out(&mut self, birth: (u32, u32)) -> bool {
        let last = self.generations.last_mut().into_iter().flatten();
        let mut own = last.filter(|judged| judged.birth == birth && !judged.judgement.struck_out);
        own.next().is_some_and(|judged| {
            judged.judgement.struck_out = true;
            self.champion = None;
            true
        })
    }

    /// How many individuals were struck out by hand.
    pub fn struck_out(&self) -> usize {
        let all = self.generations.iter().flatten();
        all.filter(|judged| judged.judgement.struck_out).count()
    }

    /// Whether its hash covers everything in it. It covers the generations only in records of version 1.
    pub fn is_sealed(&self) -> bool {
        self.version >= 2
    }

    /// The hash of everything in it. Fields that are added to the format must leave nothing behind where they have
    /// their default, otherwise records that were written before do not fit any more.
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
        let text = text.expect("a record is plain data");
        blake3::hash(&text).to_hex().to_string()
    }

    /// The record as the text of a file, in the current version of the format.
    pub fn to_text(&mut self) -> String {
        self.version = VERSION;
        self.hash = self.seal();
        let mut text = serde_json::to_string(self).expect("a record is plain data");
        text.push('\n');
        text
    }

    /// Reads a record from the text of its file.
    ///
    /// # Errors
    /// If it is none, is damaged, or is of a newer version.
    pub fn from_text(text: &str) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Header {
            format: String,
            version: u32,
        }
        let no_record = |error: serde_json::Error| RecordError::Text(error.to_string());
        // The header first, by itself: of another format or version the rest may not even parse, and
        // the message would be of no use.
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
        // The rules that the experiment had to obey when it was a file: what breaks them is refused before anything
        // is bred, driven or allocated.
        if let Some((key, message)) = record.experiment.fault() {
            return Err(RecordError::Experiment { key, message });
        }
        Ok(record)
    }

    /// Refuses fields that only later versions have.
    fn check_first_version(&self) -> Result<(), RecordError> {
        if !self.roadwright.is_empty() {
            return Err(RecordError::FieldOfLater("roadwright"));
        }
        if self.modules.is_some() {
            return Err(RecordError::FieldOfLater("modules"));
        }
        Ok(())
    }

    /// Whether the record can go on as another one begins, with the same builds of modules: only when to stop may
    /// have changed.
    ///
    /// # Errors
    /// What is different.
    pub fn check_same(&self, fresh: &Self) -> Result<(), RecordError> {
        let mut experiment = self.experiment.clone();
        // These two may change without changing what was bred: training may go on for longer, and a
        // text may be mended.
        experiment.stop = fresh.experiment.stop;
        experiment.about.clone_from(&fresh.experiment.about);
        if experiment != fresh.experiment {
            return Err(RecordError::Other("the experiment file"));
        }
        if self.genes != fresh.genes {
            return Err(RecordError::Other("the list of genes"));
        }
        if self.course_hash != fresh.course_hash {
            return Err(RecordError::Other("what is driven on"));
        }
        // A record that does not say its builds can only be held to what it says.
        let builds = self.modules.as_deref().zip(fresh.modules.as_deref());
        let other = builds.and_then(|(theirs, ours)| other_builds(theirs, ours));
        other.map_or(Ok(()), |words| Err(RecordError::Modules(words)))
    }

    /// Tells a new breeder all generations again.
    ///
    /// # Errors
    /// If it asks for others.
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

/// Tells a breeder a generation that is in a record. Returns the candidates that it asked for, `None` if they are
/// not those of the record.
pub(super) fn tell_again(
    genome: &Genome,
    breeder: &mut dyn Breeder,
    generation: &Generation,
) -> Option<Vec<Candidate>> {
    let asked = breeder.ask();
    // The genes as they are printed: what a file says is what is compared.
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

/// The hash of records of version 1.
fn hash_of(generations: &[Generation]) -> String {
    let text = serde_json::to_vec(generations).expect("generations are plain data");
    let mut hasher = twox_hash::XxHash3_64::with_seed(0);
    hasher.write(&text);
    format!("{:016x}", hasher.finish())
}
