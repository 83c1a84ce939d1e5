//! Values listed for each lane of a way, such as `turn:lanes=left|through`, without the values for
//! cycle lanes.
//!
//! Lists name all lanes, cycle lanes included, but `lanes` does not count cycle lanes (Key:lanes
//! and Lanes on the OpenStreetMap wiki). The scenario takes its lanes from `lanes`, so values that
//! belong to cycle lanes are taken out of all lists.

use super::elements::Tags;

/// Driving directions of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Both,
    Along,
    Against,
}

impl Direction {
    /// Returns the suffixes of keys for lanes in the direction of the road, and for lanes against
    /// it. A key without a suffix is unambiguous only on a one-way road.
    pub(super) fn suffixes(self) -> [&'static [&'static str]; 2] {
        match self {
            Self::Both => [&[":forward"], &[":backward"]],
            Self::Along => [&["", ":forward"], &[":backward"]],
            Self::Against => [&["", ":backward"], &[":forward"]],
        }
    }
}

/// Keys that state which general traffic may use a lane, from the most specific to the most general.
pub(super) const CAR_KEYS: [&str; 4] = ["motorcar", "motor_vehicle", "vehicle", "access"];
/// Keys that state whether buses may use a lane, from the most specific to the most general.
pub(super) const BUS_KEYS: [&str; 2] = ["bus", "psv"];
/// Other keys whose values are listed by lane.
const OTHER_KEYS: [&str; 8] = [
    "turn",
    "change",
    "hgv",
    "hov",
    "taxi",
    "maxspeed",
    "width",
    "destination",
];

/// Returns the values of `KEY:lanes` with one of the suffixes, from left to right as drivers see the lanes,
/// without cycle lanes; `None` if the key is missing.
pub(super) fn list<'a>(tags: &'a Tags, key: &str, suffixes: &[&str]) -> Option<Vec<&'a str>> {
    let values = raw(tags, key, suffixes)?;
    let others: Vec<&str> = (0..values.len())
        .filter(|&place| !is_cycle_lane(tags, suffixes, values.len(), place))
        .map(|place| values[place])
        .collect();
    Some(others)
}

fn raw<'a>(tags: &'a Tags, key: &str, suffixes: &[&str]) -> Option<Vec<&'a str>> {
    let mut all = suffixes.iter();
    let value = all.find_map(|suffix| tags.get(&format!("{key}:lanes{suffix}")))?;
    Some(value.split('|').map(str::trim).collect())
}

/// Whether the lane at the given position in lists of the given length is only for bicycles.
fn is_cycle_lane(tags: &Tags, suffixes: &[&str], length: usize, place: usize) -> bool {
    let value = |keys: &[&str]| first_value(keys, place, |key| raw(tags, key, suffixes), length);
    value(&["bicycle"]).is_some_and(|value| matches!(value, "designated" | "official"))
        && value(&CAR_KEYS).is_none_or(|value| value == "no")
        && value(&BUS_KEYS).is_none_or(|value| value == "no")
}

/// Returns the first non-empty value at the given position in the lists of several keys; `None` if there is
/// none. Lists of a different length are ignored.
pub(super) fn first_value<'a>(
    keys: &[&str],
    place: usize,
    list: impl Fn(&str) -> Option<Vec<&'a str>>,
    length: usize,
) -> Option<&'a str> {
    let mut values = keys.iter().filter_map(|key| {
        let values = list(key).filter(|values| values.len() == length)?;
        Some(values[place]).filter(|value| !value.is_empty())
    });
    values.next()
}

/// Length of a list, without cycle lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Length {
    pub(super) lanes: usize,
    /// Whether the list states the use of the lanes (arrows, buses), which mappers read off the road. Other
    /// lists are often copied.
    pub(super) is_of_use: bool,
}

/// Returns the length of each list of a direction.
pub(super) fn lengths(tags: &Tags, suffixes: &[&str]) -> Vec<Length> {
    let keys = OTHER_KEYS.iter().chain(&CAR_KEYS).chain(&BUS_KEYS);
    let length = |key: &&str| {
        let lanes = list(tags, key, suffixes)?.len();
        let is_of_use = *key == "turn" || BUS_KEYS.contains(key);
        (1..=12)
            .contains(&lanes)
            .then_some(Length { lanes, is_of_use })
    };
    keys.filter_map(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(tags: &[(&str, &str)]) -> Tags {
        let owned = tags.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        owned.collect()
    }

    #[test]
    fn cycle_lanes_are_taken_out_of_all_lists() {
        let cycle = tags(&[
            ("turn:lanes", "left|through|right"),
            ("bicycle:lanes", "|designated|"),
            ("vehicle:lanes", "|no|"),
        ]);
        assert_eq!(list(&cycle, "turn", &[""]), Some(vec!["left", "right"]));
        let lanes: Vec<_> = lengths(&cycle, &[""]).iter().map(|l| l.lanes).collect();
        assert_eq!(lanes, [2, 2]);
        // Bicycles may use this bus lane, which remains a lane.
        let shared = tags(&[
            ("turn:lanes", "left|right"),
            ("bicycle:lanes", "|designated"),
            ("bus:lanes", "|designated"),
            ("vehicle:lanes", "|no"),
        ]);
        assert_eq!(list(&shared, "turn", &[""]), Some(vec!["left", "right"]));
        assert_eq!(list(&shared, "turn", &[":forward"]), None);
    }

    #[test]
    fn keys_without_a_direction_are_for_one_way_roads() {
        let suffixes = Direction::Both.suffixes();
        assert_eq!(suffixes, [&[":forward"], &[":backward"]]);
        assert_eq!(Direction::Against.suffixes()[0], ["", ":backward"]);
        assert_eq!(Direction::Along.suffixes()[1], [":backward"]);
    }
}
