//! Arrows on lanes, from `turn:lanes` (Key:turn on the OpenStreetMap wiki).
//!
//! ```text
//!     turn:lanes = left | through;right |        three lanes, from left to right
//!                  0      1               2      no value: no arrow
//! ```
//!
//! The arrows of a way apply to the junction at its end, because mappers split ways where arrows begin.
//! Vehicles may turn into side streets before that from any lane that allows it.

use super::elements::Tags;
use roadwright_scenario::junction::{Turn, Turns};
use roadwright_scenario::{CrossSection, DrivingSide, Lane, LaneSection, LaneType};

/// The arrows of a way, from left to right as drivers see its lanes. A list is empty if there are no arrows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TurnLanes {
    /// Lanes in the direction of the road that the way becomes.
    along: Vec<Turns>,
    /// Lanes in the opposite direction.
    against: Vec<Turns>,
}

/// Returns the arrows that tags give to the lanes of a section, and whether some were left out because they
/// do not match the number of lanes.
pub(super) fn read(tags: &Tags, section: &CrossSection) -> (TurnLanes, bool) {
    let drivable = |lanes: &[(LaneType, f64)]| {
        let all = lanes.iter();
        all.filter(|(kind, _)| kind.is_drivable()).count()
    };
    let (along, against) = (drivable(&section.forward), drivable(&section.backward));
    // Without a direction in the key, the value is only unambiguous on a one-way road, whose direction is the
    // driving direction, whatever the order of the way's nodes.
    let one_way = ["turn:lanes", "turn:lanes:forward", "turn:lanes:backward"];
    let (along_keys, against_keys) = if against == 0 {
        (&one_way[..], &[][..])
    } else {
        (&one_way[1..2], &one_way[2..])
    };
    let mut is_wrong = false;
    let mut arrows = |keys: &[&str], lanes: usize| {
        let value = keys.iter().find_map(|key| tags.get(*key));
        let turns: Vec<Turns> =
            value.map_or_else(Vec::new, |value| value.split('|').map(turns_of).collect());
        let fits = turns.is_empty() || turns.len() == lanes;
        is_wrong |= !fits;
        if fits { turns } else { Vec::new() }
    };
    let turn_lanes = TurnLanes {
        along: arrows(along_keys, along),
        against: arrows(against_keys, against),
    };
    (turn_lanes, is_wrong)
}

/// Returns the turns for a lane, such as `left;through`. Values that are not turns (`merge_to_left`, `none`)
/// give none.
fn turns_of(lane: &str) -> Turns {
    let turn = |token: &str| match token.trim() {
        "left" | "slight_left" | "sharp_left" => Some(Turn::Left),
        "through" => Some(Turn::Straight),
        "right" | "slight_right" | "sharp_right" => Some(Turn::Right),
        // Vehicles make no U-turns at a junction that has other exits, so `reverse` is left out.
        _ => None,
    };
    lane.split(';').filter_map(turn).collect()
}

impl TurnLanes {
    /// Sets the arrows on the lanes of a road towards those of its ends that are also ends of the way.
    pub(super) fn apply(
        &self,
        section: &mut LaneSection,
        side: DrivingSide,
        begins: bool,
        ends: bool,
    ) {
        // Lanes are listed from left to right as seen along the road.
        let is_along = |lane: &&mut Lane| lane.kind.is_drivable() && lane.is_forward(side);
        let is_against = |lane: &&mut Lane| lane.kind.is_drivable() && !lane.is_forward(side);
        if ends {
            let along = section.lanes.iter_mut().filter(is_along);
            for (lane, turns) in along.zip(&self.along) {
                lane.turns = *turns;
            }
        }
        if begins {
            let against = section.lanes.iter_mut().rev().filter(is_against);
            for (lane, turns) in against.zip(&self.against) {
                lane.turns = *turns;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_tags(tags: &[(&str, &str)], section: &CrossSection) -> (TurnLanes, bool) {
        let owned = tags.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        read(&owned.collect(), section)
    }

    /// Returns the turns of each lane by id, as letters.
    fn arrows(section: &LaneSection) -> Vec<(i8, String)> {
        let letter = |turn: Turn| turn.name().chars().next();
        let lanes = section.lanes.iter();
        let letters = lanes.map(|lane| (lane.id, lane.turns.iter().filter_map(letter).collect()));
        letters
            .filter(|(_, turns): &(i8, String)| !turns.is_empty())
            .collect()
    }

    #[test]
    fn lanes_get_their_arrows_from_the_left_as_drivers_see_them() {
        let two_way = CrossSection::driving(3, 2, 3.0);
        let tags = [
            ("turn:lanes:forward", "left|through|through;slight_right"),
            ("turn:lanes:backward", "left;through|right"),
        ];
        let (turn_lanes, is_wrong) = read_tags(&tags, &two_way);
        assert!(!is_wrong);
        // (side, lanes with arrows, by descending id)
        let cases = [
            (
                DrivingSide::Right,
                [(2, "r"), (1, "ls"), (-1, "l"), (-2, "s"), (-3, "sr")],
            ),
            (
                DrivingSide::Left,
                [(3, "l"), (2, "s"), (1, "sr"), (-1, "r"), (-2, "ls")],
            ),
        ];
        for (side, expected) in cases {
            let mut section = two_way.lanes(side).1;
            turn_lanes.apply(&mut section, side, true, true);
            assert_eq!(arrows(&section), expected.map(|(id, t)| (id, t.to_owned())));
            // In the middle of a way there are none.
            let mut section = two_way.lanes(side).1;
            turn_lanes.apply(&mut section, side, false, false);
            assert_eq!(arrows(&section), []);
        }
    }

    #[test]
    fn arrows_that_do_not_fit_the_lanes_are_told() {
        let one_way = CrossSection::driving(2, 0, 3.0);
        let (turn_lanes, is_wrong) = read_tags(&[("turn:lanes", "left|none|right")], &one_way);
        assert_eq!((turn_lanes, is_wrong), (TurnLanes::default(), true));
        let (turn_lanes, is_wrong) = read_tags(&[("turn:lanes", "|merge_to_left")], &one_way);
        assert_eq!(turn_lanes.along, [Turns::NONE; 2]);
        assert!(!is_wrong);
        // On a two-way road the key without a direction is ignored.
        let two_way = CrossSection::driving(2, 1, 3.0);
        let (turn_lanes, is_wrong) = read_tags(&[("turn:lanes", "left|right")], &two_way);
        assert_eq!((turn_lanes, is_wrong), (TurnLanes::default(), false));
    }
}
