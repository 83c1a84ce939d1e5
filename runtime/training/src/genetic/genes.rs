//! Genes: parameters that training may change.

use roadwright_agent::{ModuleKind, ParameterInfo, ParameterKind, Registry};
use roadwright_control::fuzzy::{CHROMOSOME, RulePlace, rule_place};
use roadwright_geometry::math::Stream;
use roadwright_scenario::{ModuleSetting, Slot, Stack};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Number of steps in the range of a numeric gene. One level of mutation changes it by a twentieth of its
/// range.
const STEPS_OF_NUMBERS: f64 = 20.0;

/// The values of all genes, in the order of the [`Genome`].
pub type Chromosome = Vec<f64>;

/// Parameters by module and key, as in stacks.
pub type Preset = BTreeMap<String, BTreeMap<String, f64>>;

/// A parameter that training may change.
#[derive(Debug, Clone, PartialEq)]
pub struct Gene {
    /// Slot of the module in the stack.
    pub slot: Slot,
    /// Id of the module.
    pub module: String,
    /// Key of the parameter in the module.
    pub key: &'static str,
    /// Smallest value of the gene.
    pub min: f64,
    /// Largest value of the gene.
    pub max: f64,
    /// Change of the value per level of mutation. It is 1 for whole numbers and terms.
    pub step: f64,
    /// Whether the gene's values are whole numbers.
    pub is_whole: bool,
    /// Value before training: the value in the stack if it is set, otherwise the module's default.
    pub start: f64,
    /// The terms that the gene's values stand for; empty if the values are numbers.
    pub words: &'static [&'static str],
    /// The rule of the fuzzy driver that the gene represents, if there is one.
    pub rule: Option<RulePlace>,
    /// Key of the table that contains the gene as a cell; `None` if the gene is not a cell.
    pub table: Option<&'static str>,
}

impl Gene {
    fn new(slot: Slot, setting: &ModuleSetting, info: &ParameterInfo) -> Self {
        let set = setting.parameters.get(info.key).copied();
        let (is_whole, words): (_, &'static [&'static str]) = match info.kind {
            ParameterKind::Number => (false, &[]),
            ParameterKind::Integer => (true, &[]),
            ParameterKind::Choice(words) => (true, words),
        };
        let step = if is_whole {
            1.0
        } else {
            (info.max - info.min) / STEPS_OF_NUMBERS
        };
        Self {
            slot,
            module: setting.module.clone(),
            key: info.key,
            min: info.min,
            max: info.max,
            step,
            is_whole,
            start: set.unwrap_or(info.default),
            words,
            rule: rule_place(info.key).filter(|_| setting.module == "fuzzy_driver"),
            table: info.cell.map(|cell| cell.table.key),
        }
    }

    /// Full name of the gene, `module.parameter`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.module, self.key)
    }

    /// Describes a value by its term or, without terms, as a number.
    pub fn in_words(&self, value: f64) -> String {
        match self.words.get(value as usize) {
            Some(word) => (*word).to_owned(),
            None => value.to_string(),
        }
    }

    /// Draws a uniform random value from the steps in the range of the gene.
    pub fn random(&self, stream: &mut Stream) -> f64 {
        // Values are on the steps of the gene, as after mutation, so that numbers in files are short.
        let levels = ((self.max - self.min) / self.step).round() as usize + 1;
        let value = self.min + stream.next_index(levels) as f64 * self.step;
        // Rounding may put the last step above the maximum, which is not a valid value of the gene.
        value.min(self.max)
    }

    /// Returns the valid value of the parameter that is nearest to `value`.
    pub fn nearest(&self, value: f64) -> f64 {
        let value = if self.is_whole { value.round() } else { value };
        value.clamp(self.min, self.max)
    }
}

/// Reason why genes cannot be selected, or a chromosome cannot be read.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GeneError {
    /// A pattern does not have the required form.
    #[error(
        "\"{0}\" is not a gene; use module.parameter, or module.* for all parameters of a module"
    )]
    Form(String),
    /// The stack has no such module.
    #[error("gene \"{pattern}\": the stack uses no module \"{module}\"; it has: {known}")]
    NoModule {
        /// The pattern that names the module.
        pattern: String,
        /// Id of the missing module.
        module: String,
        /// Ids of the stack's modules.
        known: String,
    },
    /// The module has no such parameter.
    #[error("gene \"{pattern}\": {module} has no such parameter; it has: {known}")]
    NoParameter {
        /// The pattern that names the parameter.
        pattern: String,
        /// Id of the module without the parameter.
        module: String,
        /// Names of the module's parameters.
        known: String,
    },
    /// A range cannot be searched.
    #[error("gene \"{0}\": its range is empty or infinite, so there is nothing to train")]
    Range(String),
    /// No genes were selected.
    #[error("no genes are specified, so there is nothing to train")]
    None,
    /// A chromosome has the wrong length.
    #[error("the chromosome has {found} genes; expected {expected}")]
    Length {
        /// Number of values that were found.
        found: usize,
        /// Number of values that are needed.
        expected: usize,
    },
    /// A value cannot be read or is out of range.
    #[error("gene {number} ({name}): \"{found}\" is not a value from {min} to {max}")]
    Value {
        /// Index of the gene, starting at 0.
        number: usize,
        /// Name of the gene.
        name: String,
        /// The text that was found.
        found: String,
        /// Smallest valid value.
        min: f64,
        /// Largest valid value.
        max: f64,
    },
}

/// The genes of an experiment, in a fixed order.
#[derive(Debug, Clone, PartialEq)]
pub struct Genome {
    genes: Vec<Gene>,
    /// Cells that are not genes, in tables with other cells that are genes. They keep their values, but
    /// tables are written as a whole.
    other_cells: Vec<Gene>,
}

impl Genome {
    /// Returns the genes that patterns select among the parameters of a stack's modules.
    ///
    /// A pattern is `module.parameter`, `module.*`, or `module.prefix*`. A table has one gene per cell,
    /// called `key[row][column]`, and the key of the table selects all of them. The genes are in the order of
    /// the slots and of the modules' parameter lists, regardless of the order of the patterns, and no gene is
    /// repeated.
    ///
    /// # Errors
    /// If a pattern selects nothing, or a parameter's range cannot be searched.
    pub fn choose(
        patterns: &[String],
        stack: &Stack,
        registry: &Registry,
    ) -> Result<Self, GeneError> {
        let all = parameters(stack, registry);
        let mut chosen = vec![false; all.len()];
        for pattern in patterns {
            mark(pattern, &all, &mut chosen)?;
        }
        let (genes, others): (Vec<_>, Vec<_>) =
            all.into_iter().zip(chosen).partition(|(_, is)| *is);
        let genes: Vec<Gene> = genes.into_iter().map(|(gene, _)| gene).collect();
        let table = |gene: &Gene| gene.table.map(|table| (gene.module.clone(), table));
        let tables: BTreeSet<_> = genes.iter().filter_map(table).collect();
        let others = others.into_iter().map(|(gene, _)| gene);
        let is_touched = |gene: &Gene| table(gene).is_some_and(|table| tables.contains(&table));
        Ok(Self {
            other_cells: others.filter(is_touched).collect(),
            ..Self::new(genes)?
        })
    }

    /// Creates a genome from the given genes.
    ///
    /// # Errors
    /// If there are none, or a range cannot be searched.
    pub fn new(genes: Vec<Gene>) -> Result<Self, GeneError> {
        if genes.is_empty() {
            return Err(GeneError::None);
        }
        let bad = |gene: &&Gene| {
            let range = gene.max - gene.min;
            // Written so that NaN is also rejected.
            !(range.is_finite() && range > 0.0)
        };
        match genes.iter().find(bad) {
            Some(gene) => Err(GeneError::Range(gene.name())),
            None => Ok(Self {
                genes,
                other_cells: Vec::new(),
            }),
        }
    }

    /// Returns the genes, in the order of the values in a chromosome.
    pub fn genes(&self) -> &[Gene] {
        &self.genes
    }

    /// Returns the baseline: the values before training.
    pub fn start(&self) -> Chromosome {
        self.genes.iter().map(|gene| gene.start).collect()
    }

    /// Returns a chromosome of uniform random values.
    pub fn random(&self, stream: &mut Stream) -> Chromosome {
        let genes = self.genes.iter();
        genes.map(|gene| gene.random(stream)).collect()
    }

    /// Whether the values of all genes have a single digit.
    fn is_digits(&self) -> bool {
        // The source prints chromosomes with one digit per gene. Other genes must be separated by
        // spaces.
        let is_digit = |gene: &Gene| gene.is_whole && gene.min >= 0.0 && gene.max <= 9.0;
        self.genes.iter().all(is_digit)
    }

    /// Returns a chromosome as text. If all genes have a single digit, the text is a row of digits ([Gerdelan
    /// 2011], table 10.3). Otherwise, the values are separated by spaces.
    pub fn print(&self, chromosome: &[f64]) -> String {
        let values = chromosome.iter().map(|value| value.to_string());
        let between = if self.is_digits() { "" } else { " " };
        values.collect::<Vec<_>>().join(between)
    }

    /// Reads the output of [`Genome::print`].
    ///
    /// # Errors
    /// If the length is wrong, or a value is out of range.
    pub fn read(&self, text: &str) -> Result<Chromosome, GeneError> {
        let parts: Vec<String> = if self.is_digits() {
            text.trim().chars().map(String::from).collect()
        } else {
            text.split_whitespace().map(str::to_owned).collect()
        };
        if parts.len() != self.genes.len() {
            return Err(GeneError::Length {
                found: parts.len(),
                expected: self.genes.len(),
            });
        }
        let read = |(number, (part, gene)): (usize, (&String, &Gene))| {
            let value = part.parse::<f64>().ok();
            let fits = |value: &f64| {
                (gene.min..=gene.max).contains(value) && (!gene.is_whole || value.fract() == 0.0)
            };
            value.filter(fits).ok_or_else(|| GeneError::Value {
                number,
                name: gene.name(),
                found: part.clone(),
                min: gene.min,
                max: gene.max,
            })
        };
        parts
            .iter()
            .zip(&self.genes)
            .enumerate()
            .map(read)
            .collect()
    }

    /// Converts a chromosome to a preset, which lists parameter values by module.
    pub fn preset(&self, chromosome: &[f64]) -> Preset {
        let mut preset = Preset::new();
        for (gene, value) in self.values(chromosome) {
            let module = preset.entry(gene.module.clone()).or_default();
            module.insert(gene.key.to_owned(), value);
        }
        preset
    }

    /// Writes the values to the stack that the genes were chosen from.
    pub fn apply(&self, chromosome: &[f64], stack: &mut Stack) {
        for (gene, value) in self.values(chromosome) {
            // A slot may contain a module more than once, for example a fitness module with other weights. A
            // gene applies to all of them.
            let settings = stack.settings_mut(gene.slot).iter_mut();
            for setting in settings.filter(|setting| setting.module == gene.module) {
                setting.parameters.insert(gene.key.to_owned(), value);
            }
        }
    }

    /// Returns the values of all genes, and of the other cells of their tables.
    fn values<'a>(&'a self, chromosome: &'a [f64]) -> impl Iterator<Item = (&'a Gene, f64)> {
        let genes = self.genes.iter().zip(chromosome.iter().copied());
        genes.chain(self.other_cells.iter().map(|cell| (cell, cell.start)))
    }

    /// Describes a chromosome in words: first the rules as tables, then the other genes.
    pub fn in_words(&self, chromosome: &[f64]) -> String {
        let mut text = String::new();
        for (table, controller) in CHROMOSOME.iter().enumerate() {
            let rules: Vec<_> = self.rules_of(table, chromosome).collect();
            if rules.is_empty() {
                continue;
            }
            let terms = controller.distance.terms;
            text += &format!(
                "{}\n  {:<8}{:<12}{:<12}{}\n",
                controller.name, "", terms[0], terms[1], terms[2]
            );
            for (row, angle) in controller.angle.terms.iter().enumerate() {
                let word = |column| {
                    let at = |(place, word): &(RulePlace, String)| {
                        ((place.row, place.column) == (row, column)).then(|| word.clone())
                    };
                    // A rule that is not trained keeps the value of the stack.
                    rules.iter().find_map(at).unwrap_or_else(|| "-".into())
                };
                let line = format!("  {angle:<8}{:<12}{:<12}{}", word(0), word(1), word(2));
                text += line.trim_end();
                text.push('\n');
            }
        }
        let others = self.genes.iter().zip(chromosome);
        for (gene, &value) in others.filter(|(gene, _)| gene.rule.is_none()) {
            text += &format!("{} = {}\n", gene.name(), gene.in_words(value));
        }
        text
    }

    /// Returns the rules of a table that are among the genes, with the terms of their values.
    fn rules_of<'a>(
        &'a self,
        table: usize,
        chromosome: &'a [f64],
    ) -> impl Iterator<Item = (RulePlace, String)> + 'a {
        let genes = self.genes.iter().zip(chromosome);
        genes.filter_map(move |(gene, &value)| {
            let place = gene.rule.filter(|place| place.table == table)?;
            Some((place, gene.in_words(value)))
        })
    }
}

/// Sets the values of a preset in the corresponding modules of a stack. Other parameters stay the same.
///
/// # Errors
/// If the stack does not use one of the modules. The error is the id of that module.
pub fn put_preset(preset: &Preset, stack: &mut Stack) -> Result<(), String> {
    for (module, values) in preset {
        let mut found = false;
        for slot in Slot::ALL {
            let settings = stack.settings_mut(slot).iter_mut();
            for setting in settings.filter(|setting| setting.module == *module) {
                let values = values.iter().map(|(key, value)| (key.clone(), *value));
                setting.parameters.extend(values);
                found = true;
            }
        }
        if !found {
            return Err(module.clone());
        }
    }
    Ok(())
}

/// Returns all parameters of a stack's modules as genes, in the order of the slots and of the modules'
/// parameter lists. If a module is used twice, its parameters are listed only once.
pub fn parameters(stack: &Stack, registry: &Registry) -> Vec<Gene> {
    let mut all: Vec<Gene> = Vec::new();
    for slot in Slot::ALL {
        let infos = infos(registry, slot.kind());
        for setting in stack.settings(slot) {
            // Genes are identified by module and parameter, so a repeated module contributes its genes only
            // once.
            if all.iter().any(|gene| gene.module == setting.module) {
                continue;
            }
            let own = infos.get(setting.module.as_str()).copied().unwrap_or(&[]);
            all.extend(own.iter().map(|info| Gene::new(slot, setting, info)));
        }
    }
    all
}

/// Returns the parameters of all modules of a kind by module id. If two modules have the same id, the first
/// one is used.
fn infos(
    registry: &Registry,
    kind: ModuleKind,
) -> BTreeMap<&'static str, &'static [ParameterInfo]> {
    let mut infos = BTreeMap::new();
    for (info, parameters) in registry.infos(kind) {
        // The first module with an id is used, as in a world.
        infos.entry(info.id).or_insert(parameters);
    }
    infos
}

/// Marks the genes that a pattern selects.
fn mark(pattern: &str, all: &[Gene], chosen: &mut [bool]) -> Result<(), GeneError> {
    // Ids of scripts and plugins may contain dots, but keys cannot.
    let Some((module, key)) = pattern.rsplit_once('.') else {
        return Err(GeneError::Form(pattern.into()));
    };
    if module.is_empty() || key.is_empty() {
        return Err(GeneError::Form(pattern.into()));
    }
    let own: Vec<usize> = (0..all.len())
        .filter(|&i| all[i].module == module)
        .collect();
    if own.is_empty() {
        let mut known: Vec<&str> = all.iter().map(|gene| gene.module.as_str()).collect();
        // Genes of a module are adjacent, so comparing neighbours is enough.
        known.dedup();
        return Err(GeneError::NoModule {
            pattern: pattern.into(),
            module: module.into(),
            known: known.join(", "),
        });
    }
    let fits = |gene: &Gene| match key.strip_suffix('*') {
        Some(prefix) => gene.key.starts_with(prefix),
        // The key of a table selects all its cells.
        None => gene.key == key || gene.table == Some(key),
    };
    let mut found = false;
    for &index in own.iter().filter(|&&index| fits(&all[index])) {
        chosen[index] = true;
        found = true;
    }
    if found {
        return Ok(());
    }
    let mut known: Vec<&str> = own
        .iter()
        .map(|&index| all[index].table.unwrap_or(all[index].key))
        .collect();
    // The cells of a table are adjacent.
    known.dedup();
    Err(GeneError::NoParameter {
        pattern: pattern.into(),
        module: module.into(),
        known: known.join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_simulation::builtin_modules;

    fn genome(patterns: &[&str]) -> Result<Genome, GeneError> {
        let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
        let stack = Stack::with_controller("fuzzy_driver");
        Genome::choose(&patterns, &stack, &builtin_modules())
    }

    #[test]
    fn the_rules_are_a_chromosome_of_36_digits() {
        let genome = genome(&["fuzzy_driver.rule_*"]).unwrap();
        let text = genome.print(&genome.start());
        // Tables 8.8, 8.7, 8.6 and 8.5, row by row.
        assert_eq!(text, "012123234145134123431310100010123234");
        assert_eq!(genome.read(&text).unwrap(), genome.start());
        let words = genome.in_words(&genome.start());
        assert!(
            words.contains("NARROW  STOP        VERY SLOW   STOP\n"),
            "{words}"
        );
    }

    #[test]
    fn numbers_are_printed_apart_and_come_back_bit_for_bit() {
        let genome = genome(&["fuzzy_driver.*", "route.*"]).unwrap();
        for seed in 0..20 {
            let chromosome = genome.random(&mut Stream::new(seed, "test", 0));
            assert_eq!(genome.read(&genome.print(&chromosome)).unwrap(), chromosome);
            for (gene, value) in genome.genes().iter().zip(&chromosome) {
                assert!((gene.min..=gene.max).contains(value), "{}", gene.name());
            }
        }
    }

    #[test]
    fn what_chooses_nothing_or_cannot_be_read_says_why() {
        let error = |patterns: &[&str]| genome(patterns).unwrap_err().to_string();
        assert!(error(&["fuzzy_driver"]).contains("use module.parameter"));
        assert!(error(&[".x"]).contains("is not a gene"));
        assert!(
            error(&["idm.headway"]).contains("it has: route"),
            "{}",
            error(&["idm.headway"])
        );
        assert!(error(&["fuzzy_driver.rulez*"]).contains("aggregation, route_steering_gain"));
        assert!(error(&[]).contains("nothing to train"));
        let genome = genome(&["fuzzy_driver.rule_route_speed_*"]).unwrap();
        assert!(matches!(
            genome.read("12"),
            Err(GeneError::Length {
                found: 2,
                expected: 9
            })
        ));
        let error = genome.read("000000006").unwrap_err().to_string();
        assert_eq!(
            error,
            "gene 8 (fuzzy_driver.rule_route_speed_wide_far): \"6\" is not a value from 0 to 5"
        );
    }

    #[test]
    fn values_go_into_the_stack() {
        let genome = genome(&[
            "fuzzy_driver.braking",
            "fuzzy_driver.rule_avoid_steer_mid_near",
        ]);
        let genome = genome.unwrap();
        let mut stack = Stack::with_controller("fuzzy_driver");
        genome.apply(&[4.5, 6.0], &mut stack);
        assert_eq!(stack.controller.parameters["braking"], 4.5);
        assert_eq!(
            stack.controller.parameters["rule_avoid_steer_mid_near"],
            6.0
        );
        assert_eq!(
            genome.preset(&[4.5, 6.0])["fuzzy_driver"],
            *stack.controller.parameters
        );
    }

    /// A fitness whose parameters are a number and a table of two rows and three columns.
    struct Weighing;

    impl roadwright_agent::Logic for Weighing {}

    impl roadwright_agent::Fitness for Weighing {
        fn step(
            &self,
            _: &roadwright_agent::ParameterSet,
            _: &roadwright_agent::Step<'_>,
            _: &[roadwright_plugin_api::FitnessInput],
            _: &mut [roadwright_plugin_api::FitnessOutput],
        ) {
        }
    }

    fn with_table() -> (Registry, Stack) {
        use roadwright_agent::{Fitness, ModuleEntry, ModuleInfo, ParameterTable, TableCell};
        let table: &'static ParameterTable = Box::leak(Box::new(ParameterTable {
            key: "w",
            rows: 2,
            columns: 3,
            row_names: &[],
            column_names: &[],
        }));
        let number = |key| ParameterInfo::number(key, "", (-1.0, 1.0), 0.5, "Weight.");
        let mut infos = vec![number("gain")];
        for (row, column) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
            let key = roadwright_scenario::cell_key("w", row, column).leak();
            infos.push(ParameterInfo {
                cell: Some(TableCell { table, row, column }),
                ..number(key)
            });
        }
        let info = ModuleInfo {
            id: "weighing",
            name: "Weighing",
            doc: "Has a table.",
        };
        let make = || Box::new(Weighing) as Box<dyn Fitness>;
        let mut registry = builtin_modules();
        registry.add(ModuleEntry::new(info, infos.leak(), make));
        let mut stack = Stack::default();
        assert!(stack.set(Slot::Fitness, vec![ModuleSetting::new("weighing")]));
        (registry, stack)
    }

    #[test]
    fn a_table_has_a_gene_for_each_cell_and_is_written_as_a_whole() {
        let (registry, mut stack) = with_table();
        let names = |pattern: &str| {
            let genome = Genome::choose(&[pattern.to_owned()], &stack, &registry);
            let genome = genome.map_err(|error| error.to_string())?;
            let names = genome.genes().iter().map(Gene::name);
            Ok::<_, String>(names.collect::<Vec<String>>())
        };
        assert_eq!(names("weighing.w").unwrap().len(), 6);
        assert_eq!(names("weighing.*").unwrap().len(), 7);
        assert_eq!(names("weighing.w[1]*").unwrap().len(), 3);
        assert_eq!(names("weighing.w[1][2]").unwrap(), ["weighing.w[1][2]"]);
        let error = names("weighing.x").unwrap_err();
        assert!(error.ends_with("it has: gain, w"), "{error}");
        // One row is trained. The stack gets all rows, because a table is written either as a whole or not at
        // all.
        let genome = Genome::choose(&["weighing.w[1]*".to_owned()], &stack, &registry).unwrap();
        let preset = genome.preset(&[0.25, -0.25, 0.0]);
        assert_eq!(preset["weighing"].len(), 6);
        assert_eq!(
            (preset["weighing"]["w[0][2]"], preset["weighing"]["w[1][1]"]),
            (0.5, -0.25)
        );
        genome.apply(&[0.25, -0.25, 0.0], &mut stack);
        let written = serde_json::to_value(&stack.fitness).unwrap();
        let rows = serde_json::json!([[0.5, 0.5, 0.5], [0.25, -0.25, 0.0]]);
        assert_eq!(written["parameters"]["w"], rows, "{written}");
        // The next training starts with these values.
        let genome = Genome::choose(&["weighing.w".to_owned()], &stack, &registry).unwrap();
        assert_eq!(genome.start(), [0.5, 0.5, 0.5, 0.25, -0.25, 0.0]);
    }
}
