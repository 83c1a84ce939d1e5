//! Numbers of lanes from `lanes`, its variants by direction, and the lists of values for each lane.
//!
//! | tags | along | against |
//! | --- | --- | --- |
//! | none | 1 | 1 |
//! | lanes=3 | 2 | 1 |
//! | lanes=3, lanes:backward=2 | 1 | 2 |
//! | lanes=3, lanes:both_ways=1 | 1 | 1 |
//! | lanes=3, oneway=yes | 3 | 0 |
//! | lanes=1, oneway=yes, turn:lanes=left\|right | 2 | 0 |

use super::bus_lanes;
use super::elements::Tags;
use super::lane_lists::{Direction, Length, lengths};
use roadwright_scenario::RoadClass;

/// Numbers of lanes of a way.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct LaneCounts {
    /// Lanes in the direction of the resulting road.
    pub(super) along: usize,
    /// Lanes in the opposite direction.
    pub(super) against: usize,
    /// Lanes in the middle for turning vehicles of both directions.
    pub(super) middle: usize,
}

/// Warning about lane counts that contradict per-lane tags.
pub(super) const CONTRADICTION: &str =
    "lane counts that contradict the per-lane tags (the value supported by more tags is used)";
/// Warning about centre turn lanes.
pub(super) const CENTRE: &str = "centre turn lanes (imported as painted medians)";
/// Warning about centre turn lanes of one-way roads.
const CENTRE_OF_ONE_WAY: &str = "centre turn lanes of one-way roads (left out)";

/// Reads a number of lanes from a tag; `None` if it is missing or absurd.
pub(super) fn count(tags: &Tags, key: &str) -> Option<usize> {
    // `lanes=2;3` occurs where two stretches were joined, and either value is acceptable. Fractions such as
    // 1.5 are used for narrow two-way roads, and are rounded down.
    let value = tags.get(key)?.split(';').next()?.trim();
    let value = value.parse::<f64>().ok()?;
    (1.0..=12.0).contains(&value).then_some(value as usize)
}

/// Returns the numbers of lanes of a way.
pub(super) fn read(
    tags: &Tags,
    class: RoadClass,
    direction: Direction,
    notes: &mut Vec<&'static str>,
) -> LaneCounts {
    let middle = middle_lanes(tags);
    if direction != Direction::Both {
        notes.extend((middle > 0).then_some(CENTRE_OF_ONE_WAY));
        return one_way(tags, class, direction, notes);
    }
    notes.extend((middle > 0).then_some(CENTRE));
    two_way(tags, middle, notes)
}

/// Returns the number of lanes in the middle for turning vehicles of both directions.
fn middle_lanes(tags: &Tags) -> usize {
    let is_listed = tags.contains_key("turn:lanes:both_ways");
    let number = count(tags, "lanes:both_ways").unwrap_or(usize::from(is_listed));
    // There is at most one in practice; two are used to store vehicles at large junctions.
    number.min(2)
}

fn one_way(
    tags: &Tags,
    class: RoadClass,
    direction: Direction,
    notes: &mut Vec<&'static str>,
) -> LaneCounts {
    let suffixes = direction.suffixes();
    let against = bus_lanes::contraflow(tags, direction);
    let of_suffix = |suffix: &&str| match *suffix {
        "" => count(tags, "lanes").map(|total| total.saturating_sub(against).max(1)),
        suffix => count(tags, &format!("lanes{suffix}")),
    };
    let number = suffixes[0].iter().find_map(of_suffix);
    let usual = match class {
        RoadClass::Motorway => 2,
        _ => 1 + bus_lanes::least(tags, direction)[0],
    };
    let witnesses = Witnesses {
        number,
        is_confirmed: false,
        lists: lengths(tags, suffixes[0]),
    };
    LaneCounts {
        along: witnesses.verdict(tags, notes).unwrap_or(usual),
        against,
        middle: 0,
    }
}

fn two_way(tags: &Tags, middle: usize, notes: &mut Vec<&'static str>) -> LaneCounts {
    let [forward, backward] = Direction::Both.suffixes();
    let total = count(tags, "lanes");
    let number = |key| count(tags, key);
    let (f, b) = (number("lanes:forward"), number("lanes:backward"));
    let sum = f.zip(b).map(|(f, b)| f + b + middle);
    let mut verdict = |number, suffixes| {
        let witnesses = Witnesses {
            number,
            is_confirmed: total.is_some() && sum == total,
            lists: lengths(tags, suffixes),
        };
        witnesses.verdict(tags, notes)
    };
    let (f, b) = (verdict(f, forward), verdict(b, backward));
    // `lanes` counts both directions together (Key:lanes). On a two-way road with lanes=1, both directions
    // share the lane. The scenario has no such roads, so the road gets a lane in each direction.
    let all = total.unwrap_or(2 + middle).saturating_sub(middle).max(2);
    let bus = match total {
        None => bus_lanes::least(tags, Direction::Both),
        Some(_) => [0; 2],
    };
    let (along, against) = match (f, b) {
        (Some(f), Some(b)) => (f, b),
        (Some(f), None) => (f, all.saturating_sub(f).max(1 + bus[1])),
        (None, Some(b)) => (all.saturating_sub(b).max(1 + bus[0]), b),
        (None, None) => (all.div_ceil(2) + bus[0], (all / 2).max(1) + bus[1]),
    };
    LaneCounts {
        along,
        against,
        middle,
    }
}

/// Numbers of lanes in one direction, as given by different tags.
struct Witnesses {
    /// The number in `lanes` or its variant for the direction.
    number: Option<usize>,
    /// Whether another tag confirms the number.
    is_confirmed: bool,
    /// Lengths of the lists for the lanes of this direction.
    lists: Vec<Length>,
}

impl Witnesses {
    /// Returns the number of lanes that most tags support; `None` if no tag states one. If several numbers
    /// have equal support, the largest one from `lanes`, arrows and bus lanes is used. A list names each
    /// lane, whereas a number is often not updated when lanes are added.
    fn verdict(mut self, tags: &Tags, notes: &mut Vec<&'static str>) -> Option<usize> {
        if let Some(number) = self.number {
            if self.lists.iter().any(|list| list.lanes != number) {
                notes.push(CONTRADICTION);
            }
            // Lists also include cycle lanes, and some mappers do not mark cycle lanes in any other list.
            if has_cycle_lane(tags) {
                self.lists.retain(|list| list.lanes <= number);
            }
        }
        let candidates = self.lists.iter().map(|list| list.lanes);
        candidates
            .chain(self.number)
            .max_by_key(|&candidate| self.support(candidate))
    }

    /// Returns how well a candidate is supported, as a sort key.
    fn support(&self, candidate: usize) -> impl Ord + use<> {
        let is_number = self.number == Some(candidate);
        let lists = self.lists.iter().filter(|list| list.lanes == candidate);
        let is_of_use = is_number || lists.clone().any(|list| list.is_of_use);
        let of_number = usize::from(is_number) + usize::from(is_number && self.is_confirmed);
        (of_number + lists.count(), is_of_use, candidate)
    }
}

fn has_cycle_lane(tags: &Tags) -> bool {
    ["", ":left", ":right", ":both"].iter().any(|side| {
        let value = tags.get(&format!("cycleway{side}"));
        value.is_some_and(|value| value == "lane")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Numbers = [usize; 3];

    fn numbers(direction: Direction, tags: &[(&str, &str)]) -> (Numbers, Vec<&'static str>) {
        let owned = tags.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let mut notes = Vec::new();
        let counts = read(&owned.collect(), RoadClass::Arterial, direction, &mut notes);
        ([counts.along, counts.against, counts.middle], notes)
    }

    #[test]
    fn the_number_that_most_tags_support_wins() {
        let of = |tags: &[(&str, &str)]| numbers(Direction::Along, tags);
        let arrows = ("turn:lanes", "left|right");
        assert_eq!(of(&[arrows]), ([2, 0, 0], vec![]));
        let one = of(&[("lanes", "1"), arrows]);
        assert_eq!(one, ([2, 0, 0], vec![CONTRADICTION]));
        let other_list = ("change:lanes", "yes");
        assert_eq!(of(&[("lanes", "1"), arrows, other_list]).0, [1, 0, 0]);
        let copied = ("change:lanes", "yes|yes|yes");
        assert_eq!(of(&[("lanes", "2"), copied]).0, [2, 0, 0]);
        assert_eq!(of(&[copied]).0, [3, 0, 0]);
        assert_eq!(of(&[("lanes", "3"), arrows]).0, [3, 0, 0]);
        let cycle = [("lanes", "1"), ("cycleway:right", "lane"), arrows];
        assert_eq!(of(&cycle).0, [1, 0, 0]);
        for absurd in ["||||||||||||||||||", "", "|"] {
            let found = of(&[("lanes", "2"), ("turn:lanes", absurd)]).0;
            assert_eq!(found, [2, 0, 0], "{absurd}");
        }
    }

    #[test]
    fn lists_divide_the_lanes_between_the_directions() {
        let of = |tags: &[(&str, &str)]| numbers(Direction::Both, tags).0;
        let arrows = ("turn:lanes:backward", "left|through|right");
        assert_eq!(of(&[("lanes", "4"), arrows]), [1, 3, 0]);
        let numbers = [("lanes:forward", "2"), ("lanes:backward", "2")];
        assert_eq!(of(&[numbers[0], numbers[1], arrows]), [2, 3, 0]);
        let confirmed = [("lanes", "4"), numbers[0], numbers[1], arrows];
        assert_eq!(of(&confirmed), [2, 2, 0]);
    }

    #[test]
    fn a_centre_turn_lane_is_counted_in_the_total() {
        let of = |tags: &[(&str, &str)]| numbers(Direction::Both, tags);
        let tagged = [("lanes", "3"), ("lanes:both_ways", "1")];
        assert_eq!(of(&tagged), ([1, 1, 1], vec![CENTRE]));
        let listed = [("lanes", "5"), ("turn:lanes:both_ways", "left")];
        assert_eq!(of(&listed).0, [2, 2, 1]);
        assert_eq!(of(&[("turn:lanes:both_ways", "left")]).0, [1, 1, 1]);
        assert_eq!(of(&[("lanes", "1"), ("lanes:both_ways", "1")]).0, [1, 1, 1]);
        assert_eq!(of(&[("lanes:both_ways", "0")]).0, [1, 1, 0]);
        let one_way = numbers(Direction::Along, &tagged);
        assert_eq!(one_way, ([3, 0, 0], vec![CENTRE_OF_ONE_WAY]));
    }
}
