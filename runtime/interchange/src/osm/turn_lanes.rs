//! Arrows on lanes, from `turn:lanes` (Key:turn on the OpenStreetMap wiki).
//!
//! ```text
//!     turn:lanes = left | through;right |        three lanes, from left to right
//!                  0      1               2      no value: no arrow
//! ```
//!
//! The arrows of a way apply to the junction at its end, because mappers split ways where arrows begin.
//! Before that, vehicles may turn into side streets from any lane that allows it.
//!
//! A lane with `merge_to_left` or `merge_to_right` ends at the end of the way (`carriageways/merges.rs`).
//!
//! If there are more or fewer values than lanes, the number of lanes is kept and the values are assigned from
//! the side that fits.
//!
//! ```text
//!     left | through | through | right     on three lanes:  left | through | right
//!     left | right                         on three lanes:  left | (none) | right
//! ```

use super::elements::Tags;
use super::lane_lists::{Direction, list};
use roadwright_scenario::junction::{Turn, Turns};
use roadwright_scenario::{CrossSection, DrivingSide, Lane, LaneSection, LaneType, RoadEnd};

/// The arrows of a way, from left to right as drivers see its lanes. A list is empty if there are no arrows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TurnLanes {
    /// Lanes in the direction of the resulting road.
    along: Vec<Turns>,
    /// Lanes in the opposite direction.
    against: Vec<Turns>,
    /// Lanes that end, in the direction of the road and against it.
    ending: [EndingLanes; 2],
}

/// Numbers of lanes of one direction that end because they merge into the lane beside them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct EndingLanes {
    /// Leftmost lanes, which merge to the right.
    pub(super) left: usize,
    /// Rightmost lanes, which merge to the left.
    pub(super) right: usize,
}

impl EndingLanes {
    /// Reads the values of the lanes from left to right. Merge arrows on lanes other than the outermost ones
    /// are ignored.
    fn of(values: &[&str]) -> Self {
        let merges = |value: &str, to: &str| value.split(';').any(|token| token.trim() == to);
        let left = values
            .iter()
            .take_while(|value| merges(value, "merge_to_right"));
        let right = values.iter().rev();
        let right = right.take_while(|value| merges(value, "merge_to_left"));
        let (left, right) = (left.count(), right.count());
        match left + right < values.len() {
            true => Self { left, right },
            false => Self::default(),
        }
    }

    pub(super) fn count(self) -> usize {
        self.left + self.right
    }
}

/// Warning about arrows that do not match the lanes.
pub(super) const MISFIT: &str =
    "arrows (turn:lanes) that do not match the number of lanes (assigned from the side that fits)";

/// Whether general traffic uses a section in one direction only, so that keys without a direction are
/// unambiguous.
pub(super) fn is_one_way(section: &CrossSection) -> bool {
    let has = |lanes: &[(LaneType, f64)], kind| lanes.iter().any(|lane| lane.0 == kind);
    let is_against = has(&section.backward, LaneType::Driving)
        || (has(&section.backward, LaneType::Bus) && has(&section.forward, LaneType::Bus));
    !is_against
}

/// Returns the arrows that the tags assign to the lanes of a section, and a warning if their number differs
/// from the number of lanes.
pub(super) fn read(tags: &Tags, section: &CrossSection) -> (TurnLanes, Option<&'static str>) {
    let drivable = |lanes: &[(LaneType, f64)]| {
        let all = lanes.iter();
        all.filter(|(kind, _)| kind.is_drivable()).count()
    };
    // All arrows of a one-way road belong to its driving direction, whatever the order of the way's nodes.
    let one_way = ["", ":forward", ":backward"];
    let (along, against): (&[&str], &[&str]) = match is_one_way(section) {
        true => (&one_way, &[]),
        false => {
            let [along, against] = Direction::Both.suffixes();
            (along, against)
        }
    };
    let mut wrong = None;
    let mut arrows = |suffixes: &[&str], lanes: usize| {
        let values = list(tags, "turn", suffixes).unwrap_or_default();
        let fits = values.len() == lanes;
        wrong = wrong.or((!fits && !values.is_empty()).then_some(MISFIT));
        let ending = if fits {
            EndingLanes::of(&values)
        } else {
            EndingLanes::default()
        };
        (values.into_iter().map(turns_of).collect(), ending)
    };
    let (along, ends_along) = arrows(along, drivable(&section.forward));
    let (against, ends_against) = arrows(against, drivable(&section.backward));
    let turn_lanes = TurnLanes {
        along,
        against,
        ending: [ends_along, ends_against],
    };
    (turn_lanes, wrong)
}

/// Assigns arrows to a number of lanes, both from left to right as drivers see them. Surplus arrows
/// are merged with their neighbours, and surplus lanes get no arrows.
fn fitted(arrows: &[Turns], lanes: usize, side: DrivingSide) -> Vec<Turns> {
    let mut arrows = arrows.to_vec();
    if lanes == 0 || arrows.is_empty() {
        return Vec::new();
    }
    // Two values are merged where that changes least, so that every arrow and the order are kept.
    while arrows.len() > lanes {
        let cost = |&place: &usize| {
            let (left, right) = (arrows[place], arrows[place + 1]);
            let price = match (left == right, left.is_empty() || right.is_empty()) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => 2,
            };
            (price, from_kerb(place, arrows.len() - 1, side))
        };
        let Some(place) = (0..arrows.len() - 1).min_by_key(cost) else {
            break;
        };
        let other = arrows.remove(place + 1);
        arrows[place] = arrows[place].iter().chain(other.iter()).collect();
    }
    // Arrows to the left belong to the left lanes and those to the right to the right lanes. Lanes without
    // arrows follow the usual turning rules.
    let has = |turns: Option<&Turns>, turn| turns.is_some_and(|turns| turns.contains(turn));
    let to_left = has(arrows.first(), Turn::Left);
    let to_right = has(arrows.last(), Turn::Right);
    let place = match (to_left, to_right, side) {
        (true, true, DrivingSide::Left) => 1,
        (true, true, DrivingSide::Right) => arrows.len() - 1,
        (true, false, _) | (false, false, DrivingSide::Right) => arrows.len(),
        (false, true, _) | (false, false, DrivingSide::Left) => 0,
    };
    while arrows.len() < lanes {
        arrows.insert(place, Turns::NONE);
    }
    arrows
}

/// Converts a position counted from the left to a position counted from the kerb, both from 0.
fn from_kerb(place: usize, places: usize, side: DrivingSide) -> usize {
    match side {
        DrivingSide::Right => places - 1 - place,
        DrivingSide::Left => place,
    }
}

/// Returns the turns for a lane, such as `left;through`. Values that are not turns (`merge_to_left`, `none`)
/// give no arrow.
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
    /// Combines the arrows of two one-way roads into the arrows of a two-way road. The second one
    /// runs against the road.
    pub(super) fn two_way(along: &Self, against: &Self) -> Self {
        Self {
            along: along.along.clone(),
            against: against.along.clone(),
            ending: [along.ending[0], against.ending[0]],
        }
    }

    /// Returns the lanes that end at one end of a road.
    pub(super) fn ending_at(&self, end: RoadEnd) -> EndingLanes {
        match end {
            RoadEnd::End => self.ending[0],
            RoadEnd::Start => self.ending[1],
        }
    }

    /// Sets the arrows on the lanes that lead to one end of a road, if this is also an end of the way.
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
            assign(along.collect(), &self.along, side);
        }
        if begins {
            let against = section.lanes.iter_mut().rev().filter(is_against);
            assign(against.collect(), &self.against, side);
        }
    }
}

/// Sets arrows on lanes, both from left to right as drivers see them.
fn assign(lanes: Vec<&mut Lane>, arrows: &[Turns], side: DrivingSide) {
    let arrows = fitted(arrows, lanes.len(), side);
    for (lane, turns) in lanes.into_iter().zip(arrows) {
        lane.turns = turns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_tags(
        tags: &[(&str, &str)],
        section: &CrossSection,
    ) -> (TurnLanes, Option<&'static str>) {
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
        let (turn_lanes, wrong) = read_tags(&tags, &two_way);
        assert_eq!(wrong, None);
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
            // There are no arrows in the middle of a way.
            let mut section = two_way.lanes(side).1;
            turn_lanes.apply(&mut section, side, false, false);
            assert_eq!(arrows(&section), []);
        }
    }

    #[test]
    fn arrows_that_do_not_fit_the_lanes_are_reported() {
        let one_way = CrossSection::driving(2, 0, 3.0);
        let (turn_lanes, wrong) = read_tags(&[("turn:lanes", "left|none|right")], &one_way);
        assert_eq!(wrong, Some(MISFIT));
        let mut section = one_way.lanes(DrivingSide::Right).1;
        turn_lanes.apply(&mut section, DrivingSide::Right, true, true);
        let expected = [(-1, "l"), (-2, "r")].map(|(id, t)| (id, t.to_owned()));
        assert_eq!(arrows(&section), expected);
        let (turn_lanes, wrong) = read_tags(&[("turn:lanes", "|merge_to_left")], &one_way);
        assert_eq!(turn_lanes.along, [Turns::NONE; 2]);
        assert_eq!(wrong, None);
        // On a two-way road, a key without a direction is ignored.
        let two_way = CrossSection::driving(2, 1, 3.0);
        let (turn_lanes, wrong) = read_tags(&[("turn:lanes", "left|right")], &two_way);
        assert_eq!((turn_lanes, wrong), (TurnLanes::default(), None));
        // Lists include cycle lanes, which are not lanes of the road, and buses may use the road in the
        // opposite direction.
        let mut against = CrossSection::driving(2, 1, 3.0);
        against.backward[0].0 = LaneType::Bus;
        let tags = [
            ("turn:lanes", "left|through|right"),
            ("bicycle:lanes", "|designated|"),
        ];
        let (turn_lanes, wrong) = read_tags(&tags, &against);
        assert_eq!((turn_lanes.along.len(), wrong), (2, None));
    }

    #[test]
    fn outermost_lanes_end_where_they_merge() {
        let cases = [
            ("||merge_to_left", (0, 1)),
            ("merge_to_right|through|through", (1, 0)),
            ("merge_to_right|through|merge_to_left", (1, 1)),
            ("merge_to_right|merge_to_left", (0, 0)),
            // A lane at the edge does not merge beyond it, and not all lanes end.
            ("merge_to_left|through", (0, 0)),
            ("through|merge_to_right", (0, 0)),
            ("through|merge_to_left|through", (0, 0)),
            ("merge_to_left|merge_to_left", (0, 0)),
        ];
        for (value, expected) in cases {
            let values: Vec<&str> = value.split('|').collect();
            let ending = EndingLanes::of(&values);
            assert_eq!((ending.left, ending.right), expected, "{value}");
        }
        // Lists that do not fit the lanes end none.
        let section = CrossSection::driving(2, 0, 3.0);
        let (turn_lanes, _) = read_tags(&[("turn:lanes", "||merge_to_left")], &section);
        assert_eq!(turn_lanes.ending_at(RoadEnd::End).count(), 0);
    }

    fn letters(turns: &[Turns]) -> String {
        let of = |turns: &Turns| {
            let letters = turns.iter().filter_map(|turn| turn.name().chars().next());
            letters.collect::<String>()
        };
        turns.iter().map(of).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn arrows_are_assigned_from_the_side_that_fits() {
        let cases = [
            ("left|right", 1, "lr"),
            ("left|through|through|right", 3, "l|s|r"),
            ("left|through|through|right", 2, "l|sr"),
            ("left|through|right", 2, "l|sr"),
            ("left||through", 2, "l|s"),
            ("left|right", 3, "l||r"),
            ("left|through", 3, "l|s|"),
            ("through|right", 3, "|s|r"),
            ("through|through", 3, "s|s|"),
            ("left;right", 3, "||lr"),
            ("left", 0, ""),
        ];
        for (value, lanes, expected) in cases {
            let turns: Vec<Turns> = value.split('|').map(turns_of).collect();
            let found = letters(&fitted(&turns, lanes, DrivingSide::Right));
            assert_eq!(found, expected, "{value} on {lanes}");
        }
    }

    #[test]
    fn every_arrow_stays_in_its_order_and_the_other_side_is_the_mirror_image() {
        let kinds = [
            "",
            "left",
            "through",
            "right",
            "left;through",
            "through;right",
        ];
        let mirrored = |turns: &[Turns]| -> Vec<Turns> {
            let mirror = |turns: &Turns| {
                let turn = |turn| match turn {
                    Turn::Left => Turn::Right,
                    Turn::Right => Turn::Left,
                    other => other,
                };
                turns.iter().map(turn).collect()
            };
            turns.iter().rev().map(mirror).collect()
        };
        for code in 0..kinds.len().pow(4) {
            let digit = |place: u32| kinds[code / kinds.len().pow(place) % kinds.len()];
            let turns: Vec<Turns> = (0..4).map(|place| turns_of(digit(place))).collect();
            for length in 1..=4 {
                for lanes in 1..=6 {
                    let turns = &turns[..length];
                    let found = fitted(turns, lanes, DrivingSide::Right);
                    assert_eq!(found.len(), lanes);
                    let all = |turns: &[Turns]| {
                        turns
                            .iter()
                            .copied()
                            .flat_map(Turns::iter)
                            .collect::<Turns>()
                    };
                    assert_eq!(all(&found), all(turns));
                    let other = fitted(&mirrored(turns), lanes, DrivingSide::Left);
                    assert_eq!(mirrored(&other), found, "{} on {lanes}", letters(turns));
                }
            }
        }
    }
}
