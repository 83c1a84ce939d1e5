//! Permitted lane changes, from `change:lanes` and `change` (Key:change on the OpenStreetMap wiki).
//!
//! ```text
//!     change:lanes = not_right | no |        three lanes, from left to right
//!                    0           1    2      no value: to either side
//! ```

use super::elements::Tags;
use super::turn_lanes::is_one_way;
use roadwright_scenario::{CrossSection, DrivingSide, Lane, LaneChange, LaneSection, LaneType};

/// Permitted changes from each lane of a way, from left to right as seen by drivers. A list is empty if
/// changes to either side are permitted from all lanes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ChangeLanes {
    /// Lanes in the direction of the resulting road.
    along: Vec<LaneChange>,
    /// Lanes in the opposite direction.
    against: Vec<LaneChange>,
}

/// Returns the lane changes that the tags permit in a section, and a warning if some tags are ignored.
pub(super) fn read(tags: &Tags, section: &CrossSection) -> (ChangeLanes, Option<&'static str>) {
    let drivable = |lanes: &[(LaneType, f64)]| {
        let all = lanes.iter();
        all.filter(|(kind, _)| kind.is_drivable()).count()
    };
    let (along, against) = (drivable(&section.forward), drivable(&section.backward));
    let mut wrong = None;
    // Tags for a direction override general ones. The direction of a one-way road is its driving direction,
    // whatever the order of the way's nodes. Without a direction, `change:lanes` is only unambiguous on such
    // a road.
    let keys: [&[&str]; 2] = match is_one_way(section) {
        true => [
            &[
                "change:lanes",
                "change:lanes:forward",
                "change:lanes:backward",
            ],
            &["change", "change:forward", "change:backward"],
        ],
        false => [&["change:lanes:forward"], &["change:forward", "change"]],
    };
    let along = changes(tags, keys, along, &mut wrong);
    let keys: [&[&str]; 2] = [&["change:lanes:backward"], &["change:backward", "change"]];
    let against = changes(tags, keys, against, &mut wrong);
    (ChangeLanes { along, against }, wrong)
}

/// Returns the permitted changes from each of the `lanes` in one direction. The values of the keys `of_each`
/// are lists with an entry for each lane, and those of the keys `of_all` apply to all lanes.
fn changes(
    tags: &Tags,
    [of_each, of_all]: [&[&str]; 2],
    lanes: usize,
    wrong: &mut Option<&'static str>,
) -> Vec<LaneChange> {
    let get = |keys: &[&str]| keys.iter().find_map(|key| tags.get(*key));
    let listed: Option<Vec<&str>> = get(of_each).map(|value| value.split('|').collect());
    let values = match (listed, get(of_all)) {
        _ if lanes == 0 => return Vec::new(),
        (Some(values), _) => values,
        (None, Some(value)) => vec![value.as_str(); lanes],
        (None, None) => return Vec::new(),
    };
    if values.len() != lanes {
        *wrong = Some("lane changes (change:lanes) that do not match the number of lanes");
        return Vec::new();
    }
    let mut change = |value: &str| {
        change_of(value).unwrap_or_else(|| {
            *wrong = Some("lane changes (change, change:lanes) with an unknown value");
            LaneChange::Both
        })
    };
    values.into_iter().map(&mut change).collect()
}

/// Returns the lane changes that a value permits; `None` for unknown values.
fn change_of(value: &str) -> Option<LaneChange> {
    Some(match value.trim() {
        "" | "yes" | "none" => LaneChange::Both,
        "no" => LaneChange::None,
        "not_left" | "only_right" => LaneChange::Right,
        "not_right" | "only_left" => LaneChange::Left,
        _ => return None,
    })
}

impl ChangeLanes {
    /// Combines the permitted lane changes of two one-way roads into those of a two-way road. The second
    /// one-way road runs against the two-way road.
    pub(super) fn two_way(along: &Self, against: &Self) -> Self {
        Self {
            along: along.along.clone(),
            against: against.along.clone(),
        }
    }

    /// Sets the lane changes on the lanes of a road.
    pub(super) fn apply(&self, section: &mut LaneSection, side: DrivingSide) {
        // Lanes are listed from left to right as seen along the road.
        let is_along = |lane: &&mut Lane| lane.kind.is_drivable() && lane.is_forward(side);
        let is_against = |lane: &&mut Lane| lane.kind.is_drivable() && !lane.is_forward(side);
        let along = section.lanes.iter_mut().filter(is_along);
        for (lane, change) in along.zip(&self.along) {
            lane.lane_change = *change;
        }
        let against = section.lanes.iter_mut().rev().filter(is_against);
        for (lane, change) in against.zip(&self.against) {
            lane.lane_change = *change;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LaneChange::{Both, Left, None as Neither, Right};

    fn read_tags(
        tags: &[(&str, &str)],
        section: &CrossSection,
    ) -> (ChangeLanes, Option<&'static str>) {
        let owned = tags.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        read(&owned.collect(), section)
    }

    #[test]
    fn lanes_get_their_lines_from_the_left_as_drivers_see_them() {
        let two_way = CrossSection::driving(3, 2, 3.0);
        let tags = [
            ("change:lanes:forward", "not_right|no|yes"),
            ("change:lanes:backward", "only_right|"),
        ];
        let (changes, wrong) = read_tags(&tags, &two_way);
        assert_eq!(wrong, None);
        let cases = [
            (
                DrivingSide::Right,
                [(2, Both), (1, Right), (-1, Left), (-2, Neither), (-3, Both)],
            ),
            (
                DrivingSide::Left,
                [(3, Left), (2, Neither), (1, Both), (-1, Both), (-2, Right)],
            ),
        ];
        for (side, expected) in cases {
            let mut section = two_way.lanes(side).1;
            changes.apply(&mut section, side);
            let lanes = section.lanes.iter();
            let found: Vec<_> = lanes.map(|lane| (lane.id, lane.lane_change)).collect();
            assert_eq!(found, expected, "{side:?}");
        }
    }

    #[test]
    fn one_value_is_for_all_lanes_and_what_names_a_direction_goes_first() {
        let two_way = CrossSection::driving(2, 2, 3.0);
        let (all, _) = read_tags(&[("change", "no")], &two_way);
        assert_eq!(
            (all.along, all.against),
            (vec![Neither; 2], vec![Neither; 2])
        );
        let tags = [("change", "no"), ("change:forward", "yes")];
        let (own, _) = read_tags(&tags, &two_way);
        assert_eq!((own.along, own.against), (vec![Both; 2], vec![Neither; 2]));
        let one_way = CrossSection::driving(2, 0, 3.0);
        let tags = [("change:lanes", "not_right|yes"), ("change", "no")];
        let (listed, _) = read_tags(&tags, &one_way);
        assert_eq!((listed.along, listed.against), (vec![Left, Both], vec![]));
    }

    #[test]
    fn what_does_not_fit_or_means_nothing_is_told() {
        let one_way = CrossSection::driving(2, 0, 3.0);
        let (changes, wrong) = read_tags(&[("change:lanes", "no|no|no")], &one_way);
        assert_eq!(changes, ChangeLanes::default());
        assert!(wrong.unwrap().contains("number"));
        let (changes, wrong) = read_tags(&[("change:lanes", "perhaps|no")], &one_way);
        assert_eq!(changes.along, [Both, Neither]);
        assert!(wrong.unwrap().contains("unknown"));
        for absurd in ["|||||||||", "no;yes|no", "\u{0}|\u{0}"] {
            assert!(read_tags(&[("change:lanes", absurd)], &one_way).1.is_some());
        }
        assert_eq!(read_tags(&[], &one_way), (ChangeLanes::default(), None));
    }
}
