//! Experiment files, `NAME.experiment.json`. They define what is trained, on which courses, and when training
//! stops.

use super::breeder::{Elite, Method, Plan, Start};
use super::cross_entropy::Learning;
use super::halving::Halving;
use super::operators::Operators;
use super::racing::Racing;
use crate::course::Course;
use roadwright_scenario::file::{TextError, from_json};
use roadwright_scenario::{DynamicsLevel, ModuleSetting, Stack};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// The value of the key `format` in every experiment file.
pub const FORMAT: &str = "roadwright-experiment";

/// Version of the format.
pub const VERSION: u32 = 1;

/// Number of drives or test courses below which results are hardly meaningful ([Gerdelan 2011], table 10.4).
const FEW: usize = 30;

/// Default fitness function of experiments on scenarios, and on courses that have no score of their own and
/// on which vehicles can arrive. It counts contacts, time above the speed limit and drives that do not
/// arrive.
pub const DEFAULT_FITNESS: &str = Course::ARRIVAL_FITNESS;

/// Maximum size of an experiment file, bytes.
pub const LARGEST: u64 = 16 * roadwright_files::MEBIBYTE;

/// An item, either given by name or in full as in scenarios.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NameOr<T> {
    /// Name of the item.
    Name(String),
    /// The full item.
    Own(Box<T>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NameOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = NameOr<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or an object")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
                Ok(NameOr::Name(name.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let own = T::deserialize(MapAccessDeserializer::new(map))?;
                Ok(NameOr::Own(Box::new(own)))
            }
        }

        // Implemented by hand, because the errors of derived untagged enums do not name the invalid key.
        deserializer.deserialize_any(Either(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for NameOr<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("NameOr{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let own = generator.subschema_for::<T>();
        json_schema!({
            "description": "A name or an object as in scenarios.",
            "anyOf": [{"type": "string"}, own]
        })
    }
}

/// Seeds of courses. Ranges include both ends and must not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// Seeds of the courses on which generations are evaluated.
    pub train: [u64; 2],
    /// Seeds of the courses on which the champion is chosen.
    pub validate: [u64; 2],
    /// Seeds of the courses on which the champion is evaluated. No individual has driven these courses
    /// before.
    pub test: [u64; 2],
}

/// Selection of the courses of a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Courses {
    /// Each generation uses the next courses of the range. After the end of the range, they start again from
    /// its beginning.
    #[default]
    Fresh,
    /// All generations use the first courses of the range, as in the source.
    Fixed,
}

/// When training ends: as soon as one of the conditions is met.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Number of generations, 1 to 100000.
    #[schemars(range(min = 1, max = 100_000))]
    pub generations: u32,
    /// Fitness of the best individual of the pool at which training ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitness: Option<f64>,
}

/// An experiment file, key by key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Roadwright experiment")]
pub struct Experiment {
    /// Always `roadwright-experiment`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format.
    #[schemars(range(min = 1, max = VERSION))]
    pub version: u32,
    /// Description for readers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Name of a built-in course; alternative to `scenario`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<String>,
    /// Path of a scenario file, relative to the folder of this file; alternative to `course`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Vehicle type of all drivers. The default is that of the course.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<String>,
    /// Dynamics level of the bodies. The default is that of the course.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamics: Option<DynamicsLevel>,
    /// Stack whose parameters are trained, by name or in full. A name refers to a stack of the scenario or,
    /// on a course, to one of the stacks that new scenarios have.
    pub stack: NameOr<Stack>,
    /// Parameters that are genes: `module.parameter`, `module.*` or `module.prefix*`.
    pub genes: Vec<String>,
    /// The fitness module that scores drives, with its weights if they differ from 1. The module defines
    /// whether lower or higher is better. The default is the fitness function of the course if the course has
    /// its own score or no drive can arrive, and otherwise `safe_arrival`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitness: Option<NameOr<ModuleSetting>>,
    /// Seeds of the courses.
    pub seeds: Seeds,
    /// Method that creates generations.
    #[serde(default)]
    pub method: Method,
    /// Starting point of training.
    #[serde(default)]
    pub start: Start,
    /// The genetic operators.
    #[serde(default)]
    pub operators: Operators,
    /// Learning rates of the method `cross_entropy`.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub learning: Learning,
    /// Selection of the courses of a generation.
    #[serde(default)]
    pub courses: Courses,
    /// Whether the best individuals are evaluated again in each generation.
    #[serde(default)]
    pub elite: Elite,
    /// Settings for racing, which stops evaluating an individual as soon as it cannot win. If absent, all
    /// individuals drive all courses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub racing: Option<Racing>,
    /// Settings for successive halving: all individuals drive a few courses, better individuals drive more,
    /// and only the best drive all of them. If absent, all individuals drive all courses. Cannot be combined
    /// with `racing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halving: Option<Halving>,
    /// Seed of all random draws in breeding.
    #[serde(default = "one")]
    pub seed: u64,
    /// Minimum number of drives per individual and generation, 1 to 100000. It is rounded up to whole runs of
    /// the course.
    #[schemars(range(min = 1, max = 100_000))]
    pub runs: usize,
    /// Growth of the number of drives per generation; absent for none. The better the pool, the more drives
    /// are needed to detect further progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Factor by which the time step is increased during breeding, 1 to 8. With larger factors, drives are
    /// cheaper but less accurate. Champions are always evaluated with a factor of 1.
    #[serde(default = "uncompressed", skip_serializing_if = "is_uncompressed")]
    #[schemars(range(min = 1.0, max = 8.0))]
    pub time_compression: f64,
    /// End of training.
    pub stop: Stop,
}

fn is_usual(learning: &Learning) -> bool {
    *learning == Learning::default()
}

fn uncompressed() -> f64 {
    1.0
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde requires a reference"
)]
fn is_uncompressed(factor: &f64) -> bool {
    *factor == 1.0
}

/// Growth of the number of drives per individual from generation to generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// Increase per generation, 1 to 10000.
    #[schemars(range(min = 1, max = 10_000))]
    pub runs: usize,
    /// Upper limit, 1 to 100000.
    #[schemars(range(min = 1, max = 100_000))]
    pub most: usize,
}

fn one() -> u64 {
    1
}

impl Experiment {
    /// Reads an experiment from the text of its file.
    ///
    /// # Errors
    /// If the text is invalid. The error has the position, the problem, and what was expected.
    pub fn from_text(text: &str) -> Result<Self, TextError> {
        let mut experiment: Self = from_json(text)?;
        match experiment.fault() {
            None => {
                experiment.name_fitness();
                Ok(experiment)
            }
            Some((key, message)) => Err(TextError {
                line: line_of(text, key),
                column: 0,
                key: key.into(),
                message,
            }),
        }
    }

    /// Creates an experiment on a course with a stack, given by their names. All other settings have
    /// defaults: no genes, seeds that do not overlap, and numbers of drives and courses as in [Gerdelan
    /// 2011], table 10.4.
    pub fn new(course: &str, stack: &str) -> Self {
        let mut experiment = Self {
            format: FORMAT.into(),
            version: VERSION,
            about: String::new(),
            course: Some(course.into()),
            scenario: None,
            vehicle: None,
            dynamics: None,
            stack: NameOr::Name(stack.into()),
            genes: Vec::new(),
            fitness: None,
            seeds: Seeds {
                train: [1, 100_000],
                validate: [200_001, 200_010],
                test: [300_001, 300_040],
            },
            method: Method::default(),
            start: Start::default(),
            operators: Operators::default(),
            learning: Learning::default(),
            courses: Courses::default(),
            elite: Elite::default(),
            racing: None,
            halving: None,
            seed: one(),
            runs: 30,
            growth: None,
            time_compression: uncompressed(),
            stop: Stop {
                generations: 20,
                fitness: None,
            },
        };
        experiment.name_fitness();
        experiment
    }

    /// Sets the default fitness function in an experiment without one. Does nothing if the course has its own
    /// score or vehicles cannot arrive on it. In records of older versions, a missing fitness function means
    /// that of the course.
    fn name_fitness(&mut self) {
        let course = self.course.as_deref();
        let takes_course_fitness = course.is_some_and(|name| {
            Course::named(name).is_ok_and(|course| {
                course.fitness != Course::GENERAL_FITNESS || !course.has_arrival()
            })
        });
        if self.fitness.is_none() && !takes_course_fitness {
            self.fitness = Some(NameOr::Name(DEFAULT_FITNESS.into()));
        }
    }

    /// Returns the text of the experiment file.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("an experiment can be serialized");
        text.push('\n');
        text
    }

    /// Returns the first invalid key and the problem with it; `None` if the experiment is valid.
    pub fn fault(&self) -> Option<(&'static str, String)> {
        if self.format != FORMAT {
            let message = format!("\"{}\" is not \"{FORMAT}\"", self.format);
            return Some(("format", message));
        }
        if self.version != VERSION {
            let message = format!("{} is not supported: expected {VERSION}", self.version);
            return Some(("version", message));
        }
        if self.course.is_some() == self.scenario.is_some() {
            let message = "expected either a course or a scenario";
            return Some(("course", message.into()));
        }
        if let Err(message) = self.operators.validate() {
            return Some(("operators", message));
        }
        if let Err(message) = self.learning.validate() {
            return Some(("learning", message));
        }
        if let Some(Err(message)) = self.racing.map(|racing| racing.validate()) {
            return Some(("racing", message));
        }
        if let Some(Err(message)) = self.halving.map(|halving| halving.validate()) {
            return Some(("halving", message));
        }
        if self.racing.is_some() && self.halving.is_some() {
            let message = "expected either racing or halving, because both stop individuals early";
            return Some(("halving", message.into()));
        }
        if !(1..=100_000).contains(&self.runs) {
            let message = format!("{} is out of range: expected 1 to 100000", self.runs);
            return Some(("runs", message));
        }
        // Written so that NaN counts as out of range.
        if !(1.0..=8.0).contains(&self.time_compression) {
            let found = self.time_compression;
            let message = format!("{found} is out of range: expected 1 to 8");
            return Some(("time_compression", message));
        }
        if let Some(growth) = self.growth {
            let fits = (1..=10_000).contains(&growth.runs) && (1..=100_000).contains(&growth.most);
            if !fits || growth.most < self.runs {
                let message = format!(
                    "runs is {} and most is {}; runs must be 1 to 10000, and most must be from \
                     the runs of the first generation to 100000",
                    growth.runs, growth.most
                );
                return Some(("growth", message));
            }
        }
        if !(1..=100_000).contains(&self.stop.generations) {
            let found = self.stop.generations;
            let message = format!("generations: {found} is out of range: expected 1 to 100000");
            return Some(("stop", message));
        }
        let message = self.seeds.fault()?;
        Some(("seeds", message))
    }

    /// Returns a code and a reason for each value that is valid but of little use.
    pub fn warnings(&self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let runs = self.growth.map_or(self.runs, |growth| growth.most);
        // With this method, a gene is judged by a mean over many individuals.
        if runs < FEW && self.method != Method::CrossEntropy {
            let why =
                format!("runs: with {runs} drives, the fitness is mostly luck; use {FEW} or more");
            found.push(("few-runs", why));
        }
        let [first, last] = self.seeds.test;
        let tests = u128::from(last.saturating_sub(first)) + 1;
        if tests < FEW as u128 {
            let why =
                format!("seeds.test: {tests} courses give a wide interval: use {FEW} or more");
            found.push(("few-tests", why));
        }
        found
    }

    /// Returns the breeding settings.
    pub fn plan(&self) -> Plan {
        Plan {
            method: self.method,
            operators: self.operators,
            learning: self.learning,
            start: self.start,
            elite: self.elite,
            seed: self.seed,
        }
    }

    /// Returns the number of runs per individual in a generation, given the number of drives per
    /// run. Generations are numbered from 1.
    pub fn runs_of(&self, generation: u32, drives: usize) -> usize {
        let first = self.runs;
        // After a restart, the number of drives starts small again.
        let generation = match self.method {
            Method::CrossEntropy => self.learning.beginning(generation).1,
            _ => generation,
        };
        let wanted = self.growth.map_or(first, |growth| {
            let later = generation.saturating_sub(1) as usize;
            first
                .saturating_add(growth.runs.saturating_mul(later))
                .min(growth.most)
        });
        wanted.div_ceil(drives.max(1))
    }

    /// Courses of a generation, given the number of drives per run. They are the same for all individuals of
    /// the generation. Generations are numbered from 1.
    pub fn courses_of(&self, generation: u32, drives: usize) -> Vec<u64> {
        let [first, last] = self.seeds.train;
        let range = u128::from(last - first) + 1;
        let count = self.runs_of(generation, drives);
        let earlier = u128::from(generation.saturating_sub(1));
        // Fresh courses follow the courses of all earlier generations, and start again at the end of the
        // range. Computed with 128 bits, because generations times runs may exceed 64 bits.
        let begin = match (self.courses, self.growth) {
            (Courses::Fixed, _) => 0,
            (Courses::Fresh, None) => earlier * count as u128,
            (Courses::Fresh, Some(_)) => (1..generation)
                .map(|before| self.runs_of(before, drives) as u128)
                .sum(),
        };
        let course = |number: usize| first + ((begin + number as u128) % range) as u64;
        (0..count).map(course).collect()
    }
}

/// Returns the JSON Schema of experiment files.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Experiment);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema can be serialized");
    text.push('\n');
    text
}

/// Maximum number of seeds in the ranges in which champions are chosen and evaluated.
const MOST: u64 = 100_000;

impl Seeds {
    fn fault(&self) -> Option<String> {
        let named = [
            ("train", self.train),
            ("validate", self.validate),
            ("test", self.test),
        ];
        for (name, [first, last]) in named {
            if first > last {
                return Some(format!(
                    "{name}: [{first}, {last}] is empty; put the smaller seed first"
                ));
            }
            if name != "train" && last - first >= MOST {
                return Some(format!(
                    "{name}: [{first}, {last}] has more than {MOST} seeds, all of which are driven"
                ));
            }
        }
        for (index, (name, [first, last])) in named.iter().enumerate() {
            for (other, [low, high]) in &named[..index] {
                if first <= high && low <= last {
                    return Some(format!(
                        "{other} and {name} overlap: individuals must not be scored on seeds that \
                         they were trained on"
                    ));
                }
            }
        }
        None
    }

    /// Returns all seeds of a range.
    pub fn all([first, last]: [u64; 2]) -> Vec<u64> {
        (first..=last).collect()
    }
}

/// Returns the number of the line with a key of the outermost object, starting at 1; 0 if there is none.
fn line_of(text: &str, key: &str) -> usize {
    let quoted = format!("\"{key}\"");
    let place = text.lines().position(|line| {
        let rest = line.trim_start().trim_start_matches('{').trim_start();
        let rest = rest.strip_prefix(&quoted);
        rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
    });
    place.map_or(0, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
  "format": "roadwright-experiment",
  "version": 1,
  "course": "obstacle-stream",
  "stack": "fuzzy_driver",
  "genes": ["fuzzy_driver.rule_*"],
  "seeds": {"train": [1, 10], "validate": [101, 110], "test": [201, 230]},
  "operators": {"p": 2, "n": 4, "r": 0.2, "m": 3, "bounds": "clamp"},
  "runs": 30,
  "stop": {"generations": 20}
}"#;

    fn error(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from), "{from}");
        let error = Experiment::from_text(&TEXT.replace(from, to)).unwrap_err();
        format!("{}: {error}", error.line)
    }

    #[test]
    fn a_file_comes_back_and_defaults_are_those_of_the_source() {
        let experiment = Experiment::from_text(TEXT).unwrap();
        assert_eq!(experiment.operators, Operators::default());
        assert_eq!(experiment.plan().elite, Elite::Rerun);
        // An experiment without a fitness function gets one that does not reward speeding, unless vehicles
        // cannot arrive. An explicit fitness function stays.
        assert_eq!(experiment.fitness, None);
        let arrives = TEXT.replace("obstacle-stream", "old-town");
        assert_eq!(
            Experiment::from_text(&arrives).unwrap().fitness,
            Some(NameOr::Name(DEFAULT_FITNESS.into()))
        );
        let named = TEXT.replace(
            "\"runs\": 30",
            "\"fitness\": \"crash_and_speed\", \"runs\": 30",
        );
        let named = Experiment::from_text(&named).unwrap();
        assert_eq!(named.fitness, Some(NameOr::Name("crash_and_speed".into())));
        assert_eq!(Experiment::new("arena", "idm").fitness, None);
        let text = serde_json::to_string(&experiment).unwrap();
        assert_eq!(Experiment::from_text(&text).unwrap(), experiment);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (from, to, expected) in [
            ("roadwright-experiment", "x", "2: format: \"x\" is not"),
            (
                "\"version\": 1",
                "\"version\": 2",
                "3: version: 2 is not supported",
            ),
            ("\"course\"", "\"curse\"", "4: curse: unknown key \"curse\""),
            ("\"p\": 2", "\"p\": 0", "8: operators: p: 0 is out of range"),
            (
                "\"r\": 0.2",
                "\"r\": 1.5",
                "8: operators: r: 1.5 is out of range",
            ),
            (
                "\"clamp\"",
                "\"clip\"",
                "8: operators.bounds: unknown value \"clip\"",
            ),
            ("\"runs\": 30", "\"runs\": 0", "9: runs: 0 is out of range"),
            (
                "\"generations\": 20",
                "\"generations\": 0",
                "10: stop: generations: 0",
            ),
            (
                "[101, 110]",
                "[10, 110]",
                "7: seeds: train and validate overlap",
            ),
            (
                "[201, 230]",
                "[110, 110]",
                "7: seeds: validate and test overlap",
            ),
            (
                "[201, 230]",
                "[230, 201]",
                "7: seeds: test: [230, 201] is empty",
            ),
            (
                "[201, 230]",
                "[201, 999999999]",
                "7: seeds: test: [201, 999999999] has more",
            ),
            (
                "\"fuzzy_driver\",",
                "3,",
                "5: stack: expected a name or an object",
            ),
            (
                "\"course\": \"obstacle-stream\",",
                "",
                "0: course: expected either",
            ),
            (
                "\"runs\": 30",
                "\"time_compression\": 9, \"runs\": 30",
                "9: time_compression: 9 is out",
            ),
            (
                "\"runs\": 30",
                "\"learning\": {\"rate\": 0}, \"runs\": 30",
                "9: learning: rate: 0 is out",
            ),
            (
                "\"runs\": 30",
                "\"halving\": {\"rounds\": 1}, \"runs\": 30",
                "9: halving: rounds: 1 is out",
            ),
            (
                "\"runs\": 30",
                "\"halving\": {}, \"racing\": {}, \"runs\": 30",
                "9: halving: expected either",
            ),
            (
                "\"runs\": 30",
                "\"growth\": {\"runs\": 2, \"most\": 20}, \"runs\": 30",
                "9: growth: runs is 2 and most is 20",
            ),
            (
                "\"stop\": {\"generations\": 20}",
                "\"stop\": {}",
                "10: stop: the key",
            ),
        ] {
            let found = error(from, to);
            assert!(found.starts_with(expected), "{found}\nexpected {expected}");
        }
        assert!(Experiment::from_text("").is_err());
        assert!(Experiment::from_text("[]").is_err());
    }

    #[test]
    fn generations_get_fresh_courses_round_and_round_or_fixed_ones() {
        let mut experiment = Experiment::from_text(TEXT).unwrap();
        // 30 drives in runs of 8 drives take 4 runs.
        assert_eq!(experiment.courses_of(1, 8), [1, 2, 3, 4]);
        assert_eq!(experiment.courses_of(3, 8), [9, 10, 1, 2]);
        experiment.courses = Courses::Fixed;
        assert_eq!(experiment.courses_of(3, 8), [1, 2, 3, 4]);
        experiment.seeds.train = [0, u64::MAX];
        experiment.courses = Courses::Fresh;
        assert_eq!(experiment.courses_of(u32::MAX, 15).len(), 2);
        assert_eq!(experiment.runs_of(9, 40), 1);
        assert_eq!(experiment.runs_of(9, 7), 5);
        assert_eq!(experiment.runs_of(9, 0), 30);
        experiment.growth = Some(Growth { runs: 10, most: 45 });
        let runs: Vec<usize> = (1..=4)
            .map(|number| experiment.runs_of(number, 1))
            .collect();
        assert_eq!(runs, [30, 40, 45, 45]);
        assert_eq!(experiment.courses_of(3, 1)[0], 70);
        assert_eq!(experiment.runs_of(u32::MAX, 1), 45);
        // This restarts after every third generation, which only the cross-entropy method supports.
        experiment.learning.restart = Some(3);
        assert_eq!(experiment.runs_of(4, 1), 45);
        experiment.method = Method::CrossEntropy;
        let runs: Vec<usize> = (1..=5)
            .map(|number| experiment.runs_of(number, 1))
            .collect();
        assert_eq!(runs, [30, 40, 45, 30, 40]);
        assert_eq!(experiment.courses_of(4, 1)[0], 115);
    }
}
