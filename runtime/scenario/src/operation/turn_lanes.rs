//! Turn lanes: a second lane before a junction for traffic that turns across oncoming traffic.
//!
//! ```text
//!    --------------------------------------|
//!       <-                                 |    The lane at the middle is reserved for the
//!    - - - - - - - - - - - - - - - - - - - |    turn, and a lane for all other traffic opens
//!       ->                           <-'   |    on the outside. Pavements and cycle lanes
//!    ----------.    - - - - - - - - - - - -|    beside the road are moved outwards.
//!               '.        ->          -+-> |
//!                 '------------------------|
//!               taper      length
//! ```

use super::OperationError;
use super::lane_sections::{beside_node, replace_lanes, section_part, width_beside_node};
use super::users::with_places;
use crate::agents::{LanePlace, Place};
use crate::driving_side::DrivingSide;
use crate::edit::Edit;
use crate::ids::{NodeId, RoadId};
use crate::junction::{self, ArmEnd};
use crate::lane_type::LaneType;
use crate::road::{Lane, LaneDirection, Poly3, Road, RoadEnd};
use crate::scenario::Scenario;
use crate::turn::{Turn, Turns};
use std::collections::BTreeMap;

/// Length of the taper of a turn lane, m.
const TAPER: f64 = 20.0;
/// Minimum remaining length of a road beyond a turn lane, m.
const BEHIND: f64 = 10.0;
/// Distance by which the stop line moves back when a road becomes one lane wider, m.
const SET_BACK: f64 = 4.0;

/// A stretch of a road that gets an additional lane.
#[derive(Clone, Copy)]
struct Stretch {
    /// Start of the stretch, in metres along the road.
    from: f64,
    to: f64,
    /// The end of the road at the junction.
    end: RoadEnd,
    /// -1 if the lanes of the stretch have negative ids, otherwise 1.
    sign: i8,
}

/// Returns the edit that adds turn lanes to a junction. `length` is their length, m. An arm gets a
/// turn lane if a single lane leads to the junction and this lane serves turns across oncoming
/// traffic as well as other directions.
///
/// Arrows mark the use of each lane. Agents and flows stay on their lanes even if the ids of the
/// lanes change.
///
/// # Errors
/// If no arm can have a turn lane, because its road is too short, already has several lanes, or
/// allows no other turn.
pub fn turn_lanes(scenario: &Scenario, node: NodeId, length: f64) -> Result<Edit, OperationError> {
    let refused = OperationError::NoTurnLanes(node);
    let layout = junction::layout(scenario.network(), scenario.about());
    let Some(junction) = layout.junction_at(node) else {
        return Err(refused);
    };
    let side = scenario.about().driving_side;
    let far = Turn::far(side);
    let mut edits = Vec::new();
    let mut wider = BTreeMap::new();
    for arm in &junction.arms {
        let paths = junction.paths.iter();
        let paths = paths.filter(|path| (path.from.road, path.from.end) == (arm.road, arm.end));
        let turns: Turns = paths.map(|path| path.turn).collect();
        let elsewhere = turns.without(far).without(Turn::UTurn);
        // A street that ends at the same junction twice gets only one turn lane.
        let has_one = wider.contains_key(&arm.road);
        if has_one || !turns.contains(far) || elsewhere == Turns::NONE {
            continue;
        }
        let Some(road) = scenario.network().road(arm.road) else {
            continue;
        };
        let Some(stretch) = stretch(road, arm, length, side) else {
            continue;
        };
        let road = with_lane(road, stretch, far, elsewhere);
        edits.push(Edit::Road(arm.road, Some(Box::new(road))));
        wider.insert(arm.road, stretch);
    }
    if edits.is_empty() {
        return Err(refused);
    }
    let places = with_places(scenario, |place| Some(followed(place, &wider)));
    edits.extend(places.into_iter().map(|(_, edit)| edit));
    Ok(Edit::Batch(edits))
}

/// Returns the stretch for a turn lane on an arm; `None` if there is no room, or if several lanes lead to the
/// junction.
fn stretch(road: &Road, arm: &ArmEnd, length: f64, side: DrivingSide) -> Option<Stretch> {
    let reach = arm.trim + SET_BACK + length + TAPER;
    let (from, to) = beside_node(road, arm.end, reach, BEHIND)?;
    let lanes = &road.section_at(0.5 * (from + to)).lanes;
    let comes = |lane: &&Lane| lane.is_forward(side) == (arm.end == RoadEnd::End);
    let driven = |lane: &&Lane| matches!(lane.kind, LaneType::Driving | LaneType::Bus);
    let mut coming = lanes.iter().filter(comes).filter(driven);
    let only = coming.next().filter(|_| coming.next().is_none())?;
    // The lane has to be next to the middle of the road, and must not be a contraflow lane.
    let is_inner = only.id.abs() == 1 && only.direction == LaneDirection::Standard;
    is_inner.then_some(Stretch {
        from,
        to,
        end: arm.end,
        sign: only.id.signum(),
    })
}

/// Returns the road with an additional lane on a stretch, for traffic that does not turn to the far side.
fn with_lane(road: &Road, stretch: Stretch, far: Turn, elsewhere: Turns) -> Road {
    let mut road = road.clone();
    let (from, to) = (stretch.from, stretch.to);
    let plain = road.section_at(0.5 * (from + to));
    let mut lanes = section_part(plain, from, to, 0.0).lanes;
    let mut width = 0.0;
    for lane in &mut lanes {
        if lane.id == stretch.sign {
            // The new lane is as wide as the existing lane.
            width = Poly3::value_in(&lane.width, 0.0);
            lane.turns = Turns::NONE.with(far);
        } else if lane.id.signum() == stretch.sign {
            lane.id += stretch.sign;
        }
    }
    let mut opened = Lane::new(2 * stretch.sign, LaneType::Driving, width);
    opened.turns = elsewhere;
    opened.width = width_beside_node(width, to - from - TAPER, TAPER, stretch.end);
    lanes.push(opened);
    lanes.sort_by_key(|lane| -lane.id);
    replace_lanes(&mut road, from, to, lanes);
    road
}

/// Returns the place with the new id of its lane, if a turn lane beside it has changed the id.
fn followed(place: &Place, wider: &BTreeMap<RoadId, Stretch>) -> Place {
    let Place::Lane(LanePlace { road, lane, s }) = *place else {
        return *place;
    };
    let is_moved = |stretch: &&Stretch| {
        (stretch.from..=stretch.to).contains(&s)
            && lane.signum() == stretch.sign
            && lane != stretch.sign
    };
    match wider.get(&road).filter(is_moved) {
        Some(stretch) => Place::lane(road, lane + stretch.sign, s.get()),
        None => *place,
    }
}
