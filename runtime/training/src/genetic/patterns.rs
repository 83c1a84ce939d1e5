//! Patterns for experiment files that select the chosen genes.

use super::genes::Gene;

/// Prefix of the keys of fuzzy rules, which are usually trained together.
const RULES: &str = "rule_";

/// Returns the patterns that select the chosen genes from the [`parameters`](super::parameters) of a stack.
/// If all genes of a module are chosen, the pattern is `module.*`; if all its rules are chosen, the pattern
/// is `module.rule_*`. All other genes are listed individually.
pub fn patterns_of(all: &[Gene], is_chosen: impl Fn(&Gene) -> bool) -> Vec<String> {
    let mut patterns = Vec::new();
    let mut modules: Vec<&str> = all.iter().map(|gene| gene.module.as_str()).collect();
    // Genes of a module are adjacent.
    modules.dedup();
    for module in modules {
        let own: Vec<&Gene> = all.iter().filter(|gene| gene.module == module).collect();
        if own.iter().all(|gene| is_chosen(gene)) {
            patterns.push(format!("{module}.*"));
            continue;
        }
        let is_rule = |gene: &&&Gene| gene.key.starts_with(RULES);
        let mut rules = own.iter().filter(is_rule).peekable();
        let has_rules = rules.peek().is_some() && rules.all(|gene| is_chosen(gene));
        if has_rules {
            patterns.push(format!("{module}.{RULES}*"));
        }
        let singles = own.iter().filter(|gene| is_chosen(gene));
        let singles = singles.filter(|gene| !has_rules || !gene.key.starts_with(RULES));
        patterns.extend(singles.map(|gene| gene.name()));
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::super::genes::{Genome, parameters};
    use super::*;
    use proptest::prelude::*;
    use roadwright_scenario::Stack;
    use roadwright_simulation::builtin_modules;

    fn all() -> Vec<Gene> {
        parameters(&Stack::with_controller("fuzzy_driver"), &builtin_modules())
    }

    #[test]
    fn what_is_chosen_together_is_one_pattern() {
        let patterns = |chosen: fn(&Gene) -> bool| patterns_of(&all(), chosen);
        assert_eq!(
            patterns(|gene| gene.rule.is_some()),
            ["fuzzy_driver.rule_*"]
        );
        assert_eq!(
            patterns(|gene| gene.module == "fuzzy_driver"),
            ["fuzzy_driver.*"]
        );
        assert_eq!(
            patterns(|gene| gene.rule.is_some() || gene.key == "braking"),
            ["fuzzy_driver.rule_*", "fuzzy_driver.braking"]
        );
        assert!(patterns(|_| false).is_empty());
    }

    proptest! {
        #[test]
        fn the_patterns_choose_what_was_chosen(bits in prop::collection::vec(any::<bool>(), 1..80)) {
            let all = all();
            let is_chosen = |gene: &Gene| {
                let at = all.iter().position(|other| other == gene).unwrap();
                bits[at % bits.len()]
            };
            let chosen: Vec<Gene> = all.iter().filter(|gene| is_chosen(gene)).cloned().collect();
            let patterns = patterns_of(&all, is_chosen);
            let stack = Stack::with_controller("fuzzy_driver");
            match Genome::choose(&patterns, &stack, &builtin_modules()) {
                Ok(genome) => prop_assert_eq!(genome.genes(), &chosen[..]),
                Err(_) => prop_assert!(chosen.is_empty()),
            }
        }
    }
}
