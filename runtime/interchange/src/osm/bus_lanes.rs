//! Bus lanes from all tagging schemes (Key:busway, Key:lanes:psv and Lanes on the OpenStreetMap wiki).
//!
//! ```text
//!     lanes:psv = 1, lanes:bus:forward = 1         a number of lanes, at the kerb
//!     busway = lane, busway:right = lane           one lane on a side of the way
//!     bus:lanes = |designated, psv:lanes = ...     a value for each lane, from left to right
//!     access:lanes = |no, vehicle:lanes = ...      the lanes that are closed to general traffic
//! ```
//!
//! `lanes` includes bus lanes, so none of these tags adds a lane: they turn existing lanes into bus lanes.

use super::elements::Tags;
use super::lane_counts::{LaneCounts, count};
use super::lane_lists::{BUS_KEYS, CAR_KEYS, Direction, first_value, list};
use roadwright_scenario::{DrivingSide, Lane, LaneSection, LaneType};

/// Warning about per-lane tags that cannot be assigned to lanes.
const MISFIT: &str =
    "bus lanes (bus:lanes, psv:lanes, access:lanes) that do not match the number of lanes";
/// Warning about tags of two-way roads that leave the direction open.
const UNDIRECTED: &str = "bus lanes without a direction on two-way roads";
/// Warning about bus lanes that would leave no lane for other traffic.
const TOO_MANY: &str = "bus lanes that would leave no lane for other traffic";
/// Warning about unknown values of `busway`.
const UNKNOWN: &str = "bus lanes (busway) with an unknown value";
/// Warning about bus lane counts that contradict per-lane tags.
const CONTRADICTION: &str =
    "bus lane counts that contradict the per-lane tags (the per-lane tags are used)";
/// Warning about lanes that are closed to cars and buses.
const CLOSED: &str = "lanes closed to cars and buses (imported as lanes for all traffic)";
/// Warning about contraflow buses in streets without a bus lane.
const NO_LANE: &str = "contraflow buses in one-way streets without a bus lane (left out)";

/// Bus lanes of a way, in both directions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct BusLanes {
    along: Reserved,
    against: Reserved,
    /// Whether there is a bus lane on the left and on the right side, seen in the direction of the
    /// road.
    on_left: bool,
    on_right: bool,
}

/// Bus lanes in one direction.
#[derive(Debug, Clone, Default, PartialEq)]
struct Reserved {
    /// Whether each lane is a bus lane, from left to right as drivers see the lanes. Empty if no
    /// list states it.
    listed: Vec<bool>,
    /// Number of bus lanes at the kerb.
    outer: usize,
}

/// Values of `busway` for a lane in the direction of traffic.
const LANE: [&str; 2] = ["lane", "yes"];
/// Values of `busway` for a lane against the direction of a one-way road.
const OPPOSITE: [&str; 2] = ["opposite_lane", "opposite"];
/// Values of `busway` for roads without a bus lane on that side.
const NOTHING: [&str; 4] = ["no", "none", "separate", "track"];
/// Values of access keys that allow buses.
const OPEN: [&str; 4] = ["designated", "official", "yes", "permissive"];

fn busway<'a>(tags: &'a Tags, side: &str) -> Option<&'a str> {
    tags.get(&format!("busway{side}")).map(String::as_str)
}

fn is_one_of(value: Option<&str>, values: &[&str]) -> bool {
    value.is_some_and(|value| values.contains(&value))
}

/// Returns the number of lanes in `lanes:psv` or `lanes:bus` with one of the suffixes; `None` if neither is
/// tagged.
fn number(tags: &Tags, suffixes: &[&str]) -> Option<usize> {
    let mut all = suffixes.iter();
    all.find_map(|suffix| {
        let mut keys = ["psv", "bus"].iter();
        keys.find_map(|key| count(tags, &format!("lanes:{key}{suffix}")))
    })
}

/// Returns the number of bus lanes against a one-way road.
pub(super) fn contraflow(tags: &Tags, direction: Direction) -> usize {
    if direction == Direction::Both {
        return 0;
    }
    let against = direction.suffixes()[1];
    let listed = BUS_KEYS.iter().find_map(|key| list(tags, key, against));
    let open = listed.map(|values| values.iter().filter(|v| OPEN.contains(v)).count());
    let is_opposite = ["", ":left", ":right", ":both"]
        .iter()
        .any(|side| is_one_of(busway(tags, side), &OPPOSITE));
    number(tags, against)
        .or(open)
        .unwrap_or(usize::from(is_opposite))
        .min(2)
}

/// Returns the number of bus lanes along and against the way that the tags imply for either driving side. If
/// the number of lanes is not tagged, these lanes are added to the usual number.
pub(super) fn least(tags: &Tags, direction: Direction) -> [usize; 2] {
    let is_lane = |side| is_one_of(busway(tags, side), &LANE);
    let by_side = match direction {
        Direction::Both => {
            is_lane("") || is_lane(":both") || (is_lane(":left") && is_lane(":right"))
        }
        _ => ["", ":both", ":left", ":right"]
            .iter()
            .any(|side| is_lane(side)),
    };
    let suffixes = direction.suffixes();
    suffixes.map(|suffixes| {
        number(tags, suffixes)
            .unwrap_or(usize::from(by_side))
            .min(2)
    })
}

/// Returns the bus lanes of a way.
pub(super) fn read(
    tags: &Tags,
    direction: Direction,
    counts: &LaneCounts,
    notes: &mut Vec<&'static str>,
) -> BusLanes {
    let [along, against] = direction.suffixes();
    let mut lanes = BusLanes {
        along: reserved(tags, along, counts.along, notes),
        // Lanes against a one-way road exist only for buses.
        against: match direction {
            Direction::Both => reserved(tags, against, counts.against, notes),
            _ => Reserved::default(),
        },
        ..BusLanes::default()
    };
    if direction == Direction::Both {
        lanes.add_undirected(tags, counts, notes);
    } else if counts.against == 0
        && ["bus", "psv"].iter().any(|key| {
            tags.get(&format!("oneway:{key}"))
                .is_some_and(|v| v == "no")
        })
    {
        notes.push(NO_LANE);
    }
    lanes.add_sides(tags, direction, counts, notes);
    lanes
}

/// Returns the bus lanes of a direction with the given number of lanes. Lanes that `busway`
/// describes are left out.
fn reserved(
    tags: &Tags,
    suffixes: &[&str],
    lanes: usize,
    notes: &mut Vec<&'static str>,
) -> Reserved {
    let listed = listed(tags, suffixes, lanes, notes);
    let outer = number(tags, suffixes).unwrap_or(0);
    let in_list = listed.iter().filter(|is_bus| **is_bus).count();
    if in_list > 0 {
        notes.extend((outer > 0 && outer != in_list).then_some(CONTRADICTION));
        return Reserved { listed, outer: 0 };
    }
    notes.extend((outer >= lanes.max(1)).then_some(TOO_MANY));
    let outer = outer.min(lanes.saturating_sub(1));
    Reserved {
        listed: Vec::new(),
        outer,
    }
}

/// Returns whether each lane of a direction is a bus lane according to the lists.
fn listed(
    tags: &Tags,
    suffixes: &[&str],
    lanes: usize,
    notes: &mut Vec<&'static str>,
) -> Vec<bool> {
    let list = |key: &str| list(tags, key, suffixes);
    let mut keys = BUS_KEYS.iter().chain(&CAR_KEYS);
    if keys.any(|key| list(key).is_some_and(|values| values.len() != lanes)) {
        notes.push(MISFIT);
    }
    let mut is_left_open = false;
    let mut found: Vec<bool> = (0..lanes)
        .map(|place| {
            let cars = first_value(&CAR_KEYS, place, list, lanes);
            let buses = first_value(&BUS_KEYS, place, list, lanes);
            match cars {
                Some("no") if !is_one_of(buses, &OPEN) => {
                    notes.push(CLOSED);
                    is_left_open = true;
                    false
                }
                Some("no") => true,
                // A designated lane is a bus lane unless general traffic is explicitly allowed to use it.
                None => {
                    let is_bus = is_one_of(buses, &OPEN[..2]);
                    is_left_open |= is_bus;
                    is_bus
                }
                Some(_) => false,
            }
        })
        .collect();
    // Without a list that closes the lanes to cars, a street cannot be distinguished from a bus road.
    if is_left_open && found.iter().all(|is_bus| *is_bus) {
        notes.push(TOO_MANY);
        found.clear();
    }
    found
}

impl BusLanes {
    /// Adds the bus lanes from tags that do not name a direction on a two-way road.
    fn add_undirected(&mut self, tags: &Tags, counts: &LaneCounts, notes: &mut Vec<&'static str>) {
        let mut keys = BUS_KEYS.iter();
        let is_listed = keys.any(|key| tags.contains_key(&format!("{key}:lanes")));
        let is_known = self.along != Reserved::default() || self.against != Reserved::default();
        match number(tags, &[""]) {
            // The number applies to both directions together, or is the sum of the numbers for each
            // direction.
            _ if is_known => {}
            Some(number) if number.is_multiple_of(2) => {
                let half = number / 2;
                let fits = half < counts.along.min(counts.against);
                notes.extend((!fits).then_some(TOO_MANY));
                self.along.outer = half.min(counts.along.saturating_sub(1));
                self.against.outer = half.min(counts.against.saturating_sub(1));
            }
            Some(_) => notes.push(UNDIRECTED),
            None if is_listed => notes.push(UNDIRECTED),
            None => {}
        }
    }

    /// Adds the bus lanes of `busway`.
    fn add_sides(
        &mut self,
        tags: &Tags,
        direction: Direction,
        counts: &LaneCounts,
        notes: &mut Vec<&'static str>,
    ) {
        let sides = ["", ":left", ":right", ":both"].map(|side| busway(tags, side));
        let known = |value: &&str| [&LANE[..], &OPPOSITE, &NOTHING].concat().contains(value);
        notes.extend((!sides.iter().flatten().all(known)).then_some(UNKNOWN));
        let [kerb, left, right, both] = sides.map(|value| is_one_of(value, &LANE));
        let (left, right) = (left || both, right || both);
        // Sides refer to the direction of the way, and the road runs against a way with oneway=-1.
        (self.on_left, self.on_right) = match direction {
            Direction::Against => (right, left),
            _ => (left, right),
        };
        let one = |reserved: &mut Reserved, lanes: usize| {
            if reserved.listed.is_empty() {
                reserved.outer = reserved.outer.max(usize::from(lanes > 1));
            }
        };
        if kerb {
            one(&mut self.along, counts.along);
            if direction == Direction::Both {
                one(&mut self.against, counts.against);
            }
        }
        let least = match direction {
            Direction::Both => counts.along.min(counts.against),
            _ => counts.along,
        };
        let wanted = match direction {
            Direction::Both => 1,
            _ => usize::from(left) + usize::from(right),
        };
        let is_crowded = (kerb || left || right) && least <= wanted.max(1);
        notes.extend(is_crowded.then_some(TOO_MANY));
    }

    /// Turns the lanes of a road that are reserved for buses into bus lanes.
    pub(super) fn apply(&self, section: &mut LaneSection, side: DrivingSide) {
        let is_general = |lane: &&mut Lane| lane.kind == LaneType::Driving;
        let has_both = {
            let mut lanes = section.lanes.iter();
            let general = |lane: &Lane| lane.kind == LaneType::Driving && !lane.is_forward(side);
            lanes.any(general)
        };
        // Where traffic keeps right, the kerb is on the driver's right. Drivers against the direction of the
        // road see its left side on their right.
        let (along_sides, against_sides) = match (has_both, side) {
            (false, _) => ([self.on_left, self.on_right], [false; 2]),
            (true, DrivingSide::Right) => ([false, self.on_right], [false, self.on_left]),
            (true, DrivingSide::Left) => ([self.on_left, false], [self.on_right, false]),
        };
        let lanes = section.lanes.iter_mut().filter(is_general);
        let (along, against): (Vec<_>, Vec<_>) = lanes.partition(|lane| lane.is_forward(side));
        self.along.apply(along, along_sides, side);
        let against: Vec<_> = against.into_iter().rev().collect();
        self.against.apply(against, against_sides, side);
    }
}

impl Reserved {
    /// Turns lanes of a direction into bus lanes. `lanes` are listed from left to right as drivers see them.
    /// `sides` states whether the leftmost and the rightmost lane are bus lanes.
    fn apply(&self, mut lanes: Vec<&mut Lane>, sides: [bool; 2], side: DrivingSide) {
        let count = lanes.len();
        let mut is_bus = vec![false; count];
        for (place, is_bus) in is_bus.iter_mut().enumerate() {
            let from_kerb = match side {
                DrivingSide::Right => count - 1 - place,
                DrivingSide::Left => place,
            };
            let is_at_side = (sides[0] && place == 0) || (sides[1] && place + 1 == count);
            *is_bus = match self.listed.get(place) {
                Some(&is_listed) => is_listed,
                None => from_kerb < self.outer || is_at_side,
            };
        }
        // General traffic keeps a lane unless the lists close all of them.
        if self.listed.is_empty() && is_bus.iter().all(|is_bus| *is_bus) {
            let middle = match side {
                DrivingSide::Right => is_bus.first_mut(),
                DrivingSide::Left => is_bus.last_mut(),
            };
            if let Some(middle) = middle {
                *middle = false;
            }
        }
        for (lane, is_bus) in lanes.iter_mut().zip(is_bus) {
            if is_bus {
                lane.kind = LaneType::Bus;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_scenario::CrossSection;

    /// Returns the ids of the bus lanes of a road, and the warnings.
    fn buses(
        tags: &[(&str, &str)],
        direction: Direction,
        [along, against]: [usize; 2],
        side: DrivingSide,
    ) -> (Vec<i8>, Vec<&'static str>) {
        let owned = tags.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let counts = LaneCounts {
            along,
            against,
            middle: 0,
        };
        let mut notes = Vec::new();
        let lanes = read(&owned.collect(), direction, &counts, &mut notes);
        let mut section = CrossSection::driving(along, against, 3.0).lanes(side).1;
        lanes.apply(&mut section, side);
        let buses = section.lanes.iter().filter(|l| l.kind == LaneType::Bus);
        (buses.map(|lane| lane.id).collect(), notes)
    }

    #[test]
    fn every_spelling_gives_the_same_bus_lane() {
        // On the right of two lanes: -2 in right-hand traffic, 1 in left-hand traffic.
        let spellings: [&[(&str, &str)]; 10] = [
            &[("bus:lanes", "|designated"), ("vehicle:lanes", "|no")],
            &[("access:lanes", "yes|no"), ("bus:lanes", "yes|designated")],
            &[("motor_vehicle:lanes", "|no"), ("psv:lanes", "|yes")],
            &[("psv:lanes", "yes|designated")],
            &[("psv:lanes:forward", "|designated")],
            &[("busway:right", "lane")],
            &[("lanes:psv", "1"), ("bus:lanes", "|designated")],
            &[("busway:right", "lane"), ("bus:lanes", "|designated")],
            // A more specific key decides.
            &[
                ("access:lanes", "|no"),
                ("vehicle:lanes", "yes|"),
                ("bus:lanes", "|yes"),
            ],
            &[
                ("bus:lanes", "||designated"),
                ("bicycle:lanes", "|designated|"),
                ("vehicle:lanes", "|no|no"),
            ],
        ];
        for tags in spellings {
            for (side, id) in [(DrivingSide::Right, -2), (DrivingSide::Left, 1)] {
                let found = buses(tags, Direction::Along, [2, 0], side);
                assert_eq!(found, (vec![id], vec![]), "{tags:?} {side:?}");
            }
        }
        // The bus lane is at the kerb, whatever the driving side.
        for tags in [
            [("lanes:psv", "1")],
            [("lanes:bus", "1")],
            [("busway", "lane")],
        ] {
            for (side, id) in [(DrivingSide::Right, -2), (DrivingSide::Left, 2)] {
                let found = buses(&tags, Direction::Along, [2, 0], side);
                assert_eq!(found, (vec![id], vec![]), "{tags:?} {side:?}");
            }
        }
    }

    type Listed<'t> = &'t [(&'t str, &'t str)];

    #[test]
    fn two_way_roads_have_bus_lanes_by_direction_and_by_side() {
        let of = |tags: &[(&str, &str)], side| buses(tags, Direction::Both, [2, 2], side);
        let cases: [(Listed<'_>, _, &[i8]); 8] = [
            (&[("busway", "lane")], DrivingSide::Right, &[2, -2]),
            (&[("busway:both", "lane")], DrivingSide::Left, &[2, -2]),
            (&[("busway:right", "lane")], DrivingSide::Right, &[-2]),
            (&[("busway:left", "lane")], DrivingSide::Left, &[2]),
            (&[("lanes:bus:backward", "1")], DrivingSide::Right, &[2]),
            (&[("lanes:psv", "2")], DrivingSide::Right, &[2, -2]),
            (
                &[("bus:lanes:backward", "designated|")],
                DrivingSide::Right,
                &[1],
            ),
            (
                &[("bus:lanes:forward", "designated|")],
                DrivingSide::Left,
                &[2],
            ),
        ];
        for (tags, side, expected) in cases {
            assert_eq!(of(tags, side), (expected.to_vec(), vec![]), "{tags:?}");
        }
    }

    #[test]
    fn sides_are_those_of_the_way_and_buses_may_drive_against_a_one_way_road() {
        let tags = [("busway:left", "lane")];
        let found = buses(&tags, Direction::Against, [2, 0], DrivingSide::Right);
        assert_eq!(found, (vec![-2], vec![]));
        let owned = |tags: &[(&str, &str)]| {
            let all = tags.iter();
            all.map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect::<Tags>()
        };
        for tags in [
            ("busway:left", "opposite_lane"),
            ("busway", "opposite_lane"),
            ("lanes:psv:backward", "1"),
            ("bus:lanes:backward", "designated"),
        ] {
            assert_eq!(contraflow(&owned(&[tags]), Direction::Along), 1, "{tags:?}");
            assert_eq!(contraflow(&owned(&[tags]), Direction::Both), 0);
        }
        assert_eq!(
            least(&owned(&[("busway", "lane")]), Direction::Both),
            [1, 1]
        );
        assert_eq!(
            least(&owned(&[("busway:left", "lane")]), Direction::Both),
            [0, 0]
        );
    }

    #[test]
    fn tags_that_cannot_be_followed_are_reported() {
        let side = DrivingSide::Right;
        let one_way = |tags: &[(&str, &str)]| buses(tags, Direction::Along, [2, 0], side);
        let cases: [(Listed<'_>, &str, &[i8]); 7] = [
            (&[("bus:lanes", "||designated")], MISFIT, &[]),
            (&[("lanes:psv", "2")], TOO_MANY, &[-2]),
            (&[("busway:both", "lane")], TOO_MANY, &[-2]),
            (&[("bus:lanes", "designated|designated")], TOO_MANY, &[]),
            (&[("busway:right", "perhaps")], UNKNOWN, &[]),
            (&[("vehicle:lanes", "|no")], CLOSED, &[]),
            (&[("oneway:bus", "no")], NO_LANE, &[]),
        ];
        for (tags, note, expected) in cases {
            let (found, notes) = one_way(tags);
            assert_eq!((&found[..], notes), (expected, vec![note]), "{tags:?}");
        }
        // The lists close the whole street to cars.
        let closed = [("bus:lanes", "yes|yes"), ("vehicle:lanes", "no|no")];
        assert_eq!(one_way(&closed), (vec![-1, -2], vec![]));
        let contradiction = [("lanes:psv", "2"), ("bus:lanes", "|designated")];
        assert_eq!(one_way(&contradiction), (vec![-2], vec![CONTRADICTION]));
        let two_way = |tags: &[(&str, &str)], lanes| buses(tags, Direction::Both, lanes, side);
        assert_eq!(two_way(&[("lanes:psv", "1")], [2, 2]).1, [UNDIRECTED]);
        assert_eq!(
            two_way(&[("bus:lanes", "|designated")], [1, 1]).1,
            [UNDIRECTED]
        );
        assert_eq!(
            two_way(&[("busway", "lane")], [1, 1]),
            (vec![], vec![TOO_MANY])
        );
        assert_eq!(two_way(&[("busway:right", "lane")], [1, 1]).1, [TOO_MANY]);
    }
}
