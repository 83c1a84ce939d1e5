//! Flares: streets that widen towards the ring of a roundabout, around an island between entry and
//! exit.
//!
//! ```text
//!    -------------------.              The island is a median, with one lane of it on either side of
//!       <-               '---------    the reference line. It opens from zero width in the taper and is
//!    - - - - - - <:::::::::::::::::    full-width as far as the junction may cut the street back.
//!       ->               .---------
//!    -------------------'
//!                |  taper  |  full |   node on the ring
//! ```

use crate::agents::{LanePlace, Place};
use crate::edit::Edit;
use crate::ids::RoadId;
use crate::lane_type::LaneType;
use crate::operation::lane_sections::{
    beside_node, replace_lanes, section_part, width_beside_node,
};
use crate::operation::users::with_places;
use crate::road::{Lane, LaneDirection, LaneSection, RoadEnd};
use crate::scenario::Scenario;

/// Width of the island, m.
const WIDTH: f64 = 4.2;
/// Minimum radius of a ring at which the island has its full width, m. At smaller rings, the island
/// is narrower.
const WIDTH_AT: f64 = 14.0;
/// Length of the part in which the island has its full width, measured outward from the node on the ring, m.
const FULL: f64 = 12.0;
/// Length over which the island opens from zero to its full width, m.
const TAPER: f64 = 16.0;
/// Minimum length of street beyond a flare, m.
const BEHIND: f64 = 10.0;

/// Returns the edit that widens a street at one of its ends towards a ring. `radius` is the radius of the
/// ring, m. Returns `None` if the street is too short, is one-way, or already has a median.
///
/// Agents and flows stay on their lanes even if the ids of the lanes change.
pub(super) fn flared(scenario: &Scenario, id: RoadId, end: RoadEnd, radius: f64) -> Option<Edit> {
    let mut road = scenario.network().road(id)?.clone();
    let (from, to) = beside_node(&road, end, FULL + TAPER, BEHIND)?;
    let plain = road.section_at(0.5 * (from + to));
    if !has_middle(plain) {
        return None;
    }
    let width = 0.5 * WIDTH * (radius / WIDTH_AT).min(1.0);
    let mut lanes = section_part(plain, from, to, 0.0).lanes;
    for lane in &mut lanes {
        lane.id += lane.id.signum();
    }
    lanes.extend([1, -1].map(|id| Lane {
        width: width_beside_node(width, FULL, TAPER, end),
        ..Lane::new(id, LaneType::Median, width)
    }));
    lanes.sort_by_key(|lane| -lane.id);
    replace_lanes(&mut road, from, to, lanes);
    let places = with_places(scenario, |place| Some(followed(place, id, from, to)));
    let places = places.into_iter().map(|(_, edit)| edit);
    let road = Edit::Road(id, Some(Box::new(road)));
    Some(Edit::Batch(std::iter::once(road).chain(places).collect()))
}

/// Whether both lanes beside the reference line are drivable and have the direction that the
/// scenario's driving side requires.
fn has_middle(LaneSection { lanes, .. }: &LaneSection) -> bool {
    let is_driven =
        |lane: &Lane| lane.kind == LaneType::Driving && lane.direction == LaneDirection::Standard;
    let inner = |id: i8| lanes.iter().any(|lane| lane.id == id && is_driven(lane));
    inner(1) && inner(-1)
}

/// Returns a place with its lane id updated for the widened road.
fn followed(place: &Place, widened: RoadId, from: f64, to: f64) -> Place {
    match *place {
        Place::Lane(LanePlace { road, lane, s }) if road == widened && (from..=to).contains(&s) => {
            Place::lane(road, lane + lane.signum(), s.get())
        }
        _ => *place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driving_side::DrivingSide;
    use crate::road::CrossSection;

    #[test]
    fn a_street_with_a_median_or_one_direction_has_no_middle_to_open() {
        let section = |section: CrossSection| section.lanes(DrivingSide::Right).1;
        assert!(has_middle(&section(CrossSection::driving(1, 1, 3.0))));
        assert!(has_middle(&section(CrossSection::driving(2, 1, 3.0))));
        assert!(!has_middle(&section(CrossSection::driving(2, 0, 3.0))));
        let mut median = CrossSection::driving(1, 1, 3.0);
        median.forward.insert(0, (LaneType::Median, 1.0));
        assert!(!has_middle(&section(median)));
    }
}
