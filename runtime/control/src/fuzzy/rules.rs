//! The rules of the fuzzy driver as parameters. There is one parameter per rule, and its values are the
//! output terms.
//!
//! They are ordered as in the chromosomes of [Gerdelan 2011], section 10.4: steering and speed towards the
//! waypoint, then steering and speed of avoidance, row by row as in the printed tables.

use super::{AVOID_SPEED, AVOID_STEER, FuzzyController, ROUTE_SPEED, ROUTE_STEER};
use roadwright_agent::{ParameterInfo, ParameterKind, ParameterSet};

/// Number of rules in all four tables.
pub const RULE_COUNT: usize = CHROMOSOME.len() * RulePlace::IN_TABLE;

/// The four controllers of the fuzzy driver, in the order of chromosomes.
pub const CHROMOSOME: [&FuzzyController; 4] =
    [&ROUTE_STEER, &ROUTE_SPEED, &AVOID_STEER, &AVOID_SPEED];

/// Position of a rule: its table, and its row (angle) and column (distance) in that table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RulePlace {
    /// Index of the table; for the fuzzy driver, in [`CHROMOSOME`].
    pub table: usize,
    /// Index of the angle term.
    pub row: usize,
    /// Index of the distance term.
    pub column: usize,
}

impl RulePlace {
    /// Number of rules in a table.
    pub(super) const IN_TABLE: usize = 9;

    pub(super) const fn of(number: usize) -> Self {
        let in_table = number % Self::IN_TABLE;
        Self {
            table: number / Self::IN_TABLE,
            row: in_table / 3,
            column: in_table % 3,
        }
    }
}

/// Returns the position of the rule with a parameter key; `None` if the key does not belong to a rule.
pub fn rule_place(key: &str) -> Option<RulePlace> {
    let number = WORDS.iter().position(|(rule, _)| *rule == key)?;
    Some(RulePlace::of(number))
}

const SPEED_WORDS: [&str; 6] = ["STOP", "VERY SLOW", "SLOW", "MEDIUM", "FAST", "TOP"];
const TURN_WORDS: [&str; 7] = [
    "NO TURN",
    "VERY LIGHT",
    "LIGHT",
    "MEDIUM",
    "SHARP",
    "VERY SHARP",
    "FULL",
];

/// Expands to the key and description of each of the nine rules of a table.
macro_rules! nine_rules {
    ($table:literal, $what:literal, $of:literal) => {
        nine_rules!(@rows $table, $what, $of,
            ("narrow", "near"), ("narrow", "medium"), ("narrow", "far"),
            ("mid", "near"), ("mid", "medium"), ("mid", "far"),
            ("wide", "near"), ("wide", "medium"), ("wide", "far"))
    };
    (@rows $table:literal, $what:literal, $of:literal, $(($row:literal, $column:literal)),*) => {
        [$((
            concat!("rule_", $table, "_", $row, "_", $column),
            concat!($what, " if the angle to the ", $of, " is ", $row, " and the distance ", $column, "."),
        )),*]
    };
}

/// Key and description of each rule.
const WORDS: [(&str, &str); RULE_COUNT] = {
    let tables = [
        nine_rules!("route_steer", "Turn", "waypoint"),
        nine_rules!("route_speed", "Speed", "waypoint"),
        nine_rules!("avoid_steer", "Turn away", "obstacle"),
        nine_rules!("avoid_speed", "Speed", "obstacle"),
    ];
    let mut all = [("", ""); RULE_COUNT];
    let mut number = 0;
    while number < RULE_COUNT {
        all[number] = tables[number / RulePlace::IN_TABLE][number % RulePlace::IN_TABLE];
        number += 1;
    }
    all
};

const fn rule(number: usize) -> ParameterInfo {
    let (key, doc) = WORDS[number];
    let place = RulePlace::of(number);
    // The first and the third of the four tables steer.
    let words: &'static [&'static str] = match place.table {
        0 | 2 => &TURN_WORDS,
        _ => &SPEED_WORDS,
    };
    ParameterInfo {
        key,
        unit: "",
        kind: ParameterKind::Choice(words),
        min: 0.0,
        max: words.len() as f64 - 1.0,
        default: CHROMOSOME[place.table].rules[place.row][place.column] as f64,
        doc,
        cell: None,
    }
}

/// The rules of [`CHROMOSOME`] as parameters.
pub(crate) const RULES: [ParameterInfo; RULE_COUNT] = {
    let mut all = [rule(0); RULE_COUNT];
    let mut number = 1;
    while number < RULE_COUNT {
        all[number] = rule(number);
        number += 1;
    }
    all
};

/// Appends the parameters of rules to a list; `ALL` is `FIRST` + `COUNT`.
pub(crate) const fn joined<const FIRST: usize, const COUNT: usize, const ALL: usize>(
    first: [ParameterInfo; FIRST],
    rules: [ParameterInfo; COUNT],
) -> [ParameterInfo; ALL] {
    assert!(FIRST + COUNT == ALL);
    let mut all = [rules[0]; ALL];
    let mut index = 0;
    // A manual loop, because constants do not support `for`.
    while index < ALL {
        all[index] = if index < FIRST {
            first[index]
        } else {
            rules[index - FIRST]
        };
        index += 1;
    }
    all
}

/// Returns copies of `tables` with the rules that a set of parameters contains. The first rule is the
/// parameter at index `first`.
pub(crate) fn with_rules_of<const TABLES: usize>(
    parameters: &ParameterSet,
    first: usize,
    tables: [&FuzzyController; TABLES],
) -> [FuzzyController; TABLES] {
    let mut tables = tables.map(|table| *table);
    // By index instead of key, because a module reads them in every batch.
    for number in 0..TABLES * RulePlace::IN_TABLE {
        let place = RulePlace::of(number);
        let rules = &mut tables[place.table].rules;
        rules[place.row][place.column] = parameters.at(first + number) as usize;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_rule_are_the_terms_of_its_table() {
        for number in 0..RULE_COUNT {
            let info = rule(number);
            let terms = CHROMOSOME[RulePlace::of(number).table].terms;
            let names: Vec<_> = terms.iter().map(|term| term.name).collect();
            assert_eq!(info.kind, ParameterKind::Choice(&names.leak()[..]));
            assert_eq!(rule_place(info.key), Some(RulePlace::of(number)));
        }
        assert_eq!(rule_place("rule_route_steer_narrow"), None);
    }
}
