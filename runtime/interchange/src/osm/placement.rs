//! Position of a way's line across its lanes, from `placement` (Key:placement on the OpenStreetMap wiki).
//!
//! ```text
//!     | lane 1 | lane 2 | lane 3 |     placement=right_of:1: the line is the right edge of lane 1. Lanes are
//!              |                       counted from the left, as drivers along the line see them.
//!             line
//! ```

use super::elements::Tags;
use super::lane_lists::Direction;
use roadwright_scenario::{CrossSection, DrivingSide};

/// Position of a line relative to a lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placement {
    /// Number of the lane, from 1 at the left.
    lane: usize,
    /// Fraction of the lane's width that is to the left of the line.
    share: f64,
}

/// Warning about placement values that name no lane.
const NO_LANE: &str =
    "placement values that refer to a lane the way does not have (the default placement is used)";

/// Returns the position of the line of a way, and a warning if it names no lane. There is no position for
/// `transition`, because this value states only that the position changes along the way.
pub(super) fn read(
    tags: &Tags,
    direction: Direction,
    section: &CrossSection,
) -> (Option<Placement>, Option<&'static str>) {
    let [along, _] = direction.suffixes();
    let mut values = along.iter();
    let value = values.find_map(|suffix| tags.get(&format!("placement{suffix}")));
    let Some(value) = value.filter(|value| *value != "transition") else {
        return (None, None);
    };
    let drivable = section.forward.iter();
    let lanes = drivable.filter(|(kind, _)| kind.is_drivable()).count();
    let placement = placement_of(value).filter(|own| (1..=lanes).contains(&own.lane));
    let warning = placement.is_none().then_some(NO_LANE);
    (placement, warning)
}

fn placement_of(value: &str) -> Option<Placement> {
    let (position, lane) = value.split_once(':')?;
    let share = match position.trim() {
        "left_of" => 0.0,
        "middle_of" => 0.5,
        "right_of" => 1.0,
        _ => return None,
    };
    Some(Placement {
        lane: lane.trim().parse().ok()?,
        share,
    })
}

impl Placement {
    /// Returns the lane offset that gives the line of a road this position, m. The lanes along the
    /// road begin at lane 0.
    pub(super) fn lane_offset(self, section: &CrossSection, side: DrivingSide) -> f64 {
        // From left to right. In left-hand traffic, the lane beside lane 0 is the rightmost one.
        let mut lanes = section.forward.clone();
        if side == DrivingSide::Left {
            lanes.reverse();
        }
        let (mut number, mut line, mut width) = (0, 0.0, 0.0);
        for (kind, lane) in lanes {
            if kind.is_drivable() {
                number += 1;
                if number == self.lane {
                    line = width + self.share * lane;
                }
            }
            width += lane;
        }
        match side {
            DrivingSide::Right => line,
            DrivingSide::Left => line - width,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_value(
        key: &str,
        value: &str,
        direction: Direction,
    ) -> (Option<Placement>, Option<&'static str>) {
        let tags = [(key.to_owned(), value.to_owned())];
        let section = CrossSection::driving(3, 0, 3.0);
        read(&tags.into_iter().collect(), direction, &section)
    }

    #[test]
    fn the_line_lies_where_the_value_says() {
        let section = CrossSection::driving(3, 0, 3.0);
        // (value, left edge of the lanes, m to the left of the line)
        for (value, left) in [
            ("left_of:1", 0.0),
            ("right_of:1", 3.0),
            ("left_of:2", 3.0),
            ("middle_of:2", 4.5),
            ("right_of:3", 9.0),
        ] {
            let (placement, warning) = read_value("placement", value, Direction::Along);
            let placement = placement.unwrap();
            assert_eq!(warning, None);
            // Lane 0 is the left edge in right-hand traffic and the right edge in left-hand traffic.
            assert_eq!(placement.lane_offset(&section, DrivingSide::Right), left);
            assert_eq!(
                placement.lane_offset(&section, DrivingSide::Left),
                left - 9.0
            );
        }
        // On a two-way street, lanes are counted from the line.
        let both = CrossSection::driving(2, 1, 3.0);
        let usual = Placement {
            lane: 1,
            share: 0.0,
        };
        assert_eq!(usual.lane_offset(&both, DrivingSide::Right), 0.0);
        assert_eq!(usual.lane_offset(&both, DrivingSide::Left), -6.0);
    }

    #[test]
    fn other_values_are_reported() {
        for value in ["right_of:4", "left_of:0", "above:1", "left_of", "left_of:x"] {
            let read = read_value("placement", value, Direction::Along);
            assert_eq!(read, (None, Some(NO_LANE)), "{value}");
        }
        let transition = read_value("placement", "transition", Direction::Along);
        assert_eq!(transition, (None, None));
        // A value for the other direction.
        let other = read_value("placement:backward", "left_of:1", Direction::Along);
        assert_eq!(other, (None, None));
        let reversed = read_value("placement:backward", "left_of:1", Direction::Against);
        assert!(reversed.0.is_some());
        let both = read_value("placement:forward", "right_of:2", Direction::Both);
        assert!(both.0.is_some());
    }
}
