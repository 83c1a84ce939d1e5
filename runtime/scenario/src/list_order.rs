//! The order in which lists show vehicle types and stacks.

use crate::quantity::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The user's order of vehicle types and stacks in lists. It has no effect on a run.
///
/// Listed names need not exist. Objects that are not listed come last, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListOrder {
    /// Keys of vehicle types, from top to bottom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vehicle_types: Vec<String>,
    /// Keys of stacks, from top to bottom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<String>,
}

impl ListOrder {
    /// Whether both lists are sorted by name.
    pub fn is_by_name(&self) -> bool {
        self.vehicle_types.is_empty() && self.stacks.is_empty()
    }
}

impl Validate for ListOrder {
    fn validate(&self) -> Result<(), String> {
        for (list, names) in [
            ("vehicle_types", &self.vehicle_types),
            ("stacks", &self.stacks),
        ] {
            let mut seen = BTreeSet::new();
            if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
                return Err(format!("{list}: \"{twice}\" is listed twice"));
            }
        }
        Ok(())
    }
}

/// Returns the entries of a map: first the named ones in the given order, then the others by name.
pub(crate) fn listed<'a, V>(
    map: &'a BTreeMap<String, V>,
    order: &[String],
) -> Vec<(&'a String, &'a V)> {
    let mut all: Vec<_> = order
        .iter()
        .filter_map(|name| map.get_key_value(name))
        .collect();
    let named: BTreeSet<&String> = order.iter().collect();
    all.extend(map.iter().filter(|(name, _)| !named.contains(name)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_comes_first_and_the_rest_by_name() {
        let map: BTreeMap<String, u8> = [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
        let order = ["c", "gone", "a"].map(str::to_owned);
        let names = |order: &[String]| -> String {
            let all = listed(&map, order);
            all.into_iter().map(|(name, _)| name.as_str()).collect()
        };
        assert_eq!(names(&order), "cabd");
        assert_eq!(names(&[]), "abcd");
    }

    #[test]
    fn a_name_stands_once_in_a_list() {
        let mut order = ListOrder {
            vehicle_types: vec!["car".into()],
            stacks: vec!["car".into(), "idm".into()],
        };
        assert_eq!(order.validate(), Ok(()));
        order.stacks.push("car".into());
        let why = order.validate().unwrap_err();
        assert!(why.contains("stacks") && why.contains("car"), "{why}");
    }
}
