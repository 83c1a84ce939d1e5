//! Agents appear: their places, their ways, and whether there is room.

use crate::index::Index;
use crate::kind::Kind;
use crate::mover::{Mover, Status};
use crate::perception::View;
use crate::way::{Goal, Way};
use crate::world::SimulationError;
use roadwright_agent::{Module, Planner, PlannerView};
use roadwright_geometry::{DVec2, Pose};
use roadwright_plugin_api::PlannerInput;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletId};
use roadwright_scenario::{Place, Scenario};
use roadwright_vehicle::OneTrackState;

/// Room that is left between an appearing vehicle and others, m.
const ROOM: f64 = 2.0;
/// Braking that vehicles behind are trusted with, m/s^2.
const BRAKING: f64 = 3.0;

/// An agent before it appears.
#[derive(Debug, Clone)]
pub(crate) struct Departure {
    pub(crate) agent: u32,
    pub(crate) time: f64,
    pub(crate) start: Start,
    pub(crate) speed: f64,
}

/// Where an agent appears.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Start {
    Lane { lanelet: LaneletId, s: f64 },
    Ground(Pose),
}

/// Start and goals of an agent. If any of its places is off the lanes, it drives on open ground.
pub(crate) fn places(
    scenario: &Scenario,
    graph: &LaneGraph,
    who: &str,
    start: &Place,
    goals: &[Place],
) -> Result<(Start, Vec<Goal>), SimulationError> {
    let missing = |place: &Place| SimulationError::NoSuchPlace {
        who: who.into(),
        place: match place {
            Place::Lane(at) => format!("lane {} of {} at s = {} m", at.lane, at.road, at.s),
            Place::Ground(at) => format!("({}, {})", at.x, at.y),
        },
    };
    let open = std::iter::once(start)
        .chain(goals)
        .any(|place| matches!(place, Place::Ground(_)));
    let pose = |place: &Place| scenario.pose_of(place).ok_or_else(|| missing(place));
    let locate = |place: &Place| match place {
        Place::Lane(at) => graph.locate(at).ok_or_else(|| missing(place)),
        Place::Ground(_) => Err(missing(place)),
    };
    if open {
        let goals = goals
            .iter()
            .map(|place| Ok(Goal::Ground(pose(place)?.position)));
        return Ok((
            Start::Ground(pose(start)?),
            goals.collect::<Result<_, SimulationError>>()?,
        ));
    }
    let (lanelet, s) = locate(start)?;
    let goals = goals.iter().map(|place| {
        let (lanelet, s) = locate(place)?;
        Ok(Goal::Lanelet { lanelet, s })
    });
    Ok((
        Start::Lane { lanelet, s },
        goals.collect::<Result<_, SimulationError>>()?,
    ))
}

/// Plans the way of an agent leg by leg; `false` if a goal cannot be reached.
pub(crate) fn plan_way(
    planner: &Module<dyn Planner>,
    view: &PlannerView<'_>,
    (mut lanelet, mut s): (LaneletId, f64),
    bus: bool,
    way: &mut Way,
) -> bool {
    way.path = vec![lanelet];
    way.goal_at.clear();
    for goal in way.goals.clone() {
        let Goal::Lanelet {
            lanelet: goal_strip,
            s: goal_s,
        } = goal
        else {
            return false;
        };
        let input = PlannerInput {
            strip: lanelet,
            s,
            goal_strip,
            goal_s,
            bus: u32::from(bus),
            may_change_first: 1,
        };
        let Some(route) = planner.route(view, input) else {
            return false;
        };
        way.path.extend_from_slice(&route[1..]);
        way.goal_at.push(way.path.len() as u32 - 1);
        (lanelet, s) = (goal_strip, goal_s);
    }
    true
}

/// Whether nobody stands where a vehicle is to appear, and nobody would have to brake hard.
pub(crate) fn has_room(start: Start, kind: &Kind, view: &View<'_>, appeared: &[u32]) -> bool {
    let index: &Index = view.index;
    let clear = |agent: u32| {
        let other = &view.movers[agent as usize];
        let other_kind = &view.kinds[other.kind as usize];
        match start {
            Start::Lane { lanelet, s } if other.lanelet == lanelet || other.shadow == lanelet => {
                let ahead = other.s - other_kind.rear_overhang - (s + kind.front);
                let behind = s - kind.rear_overhang - (other.s + other_kind.front);
                let speed = other.state.speed;
                ahead > ROOM || behind > ROOM + speed * speed / (2.0 * BRAKING)
            }
            Start::Lane { .. } => true,
            Start::Ground(pose) => {
                let middle = pose.point(kind.body_centre, 0.0);
                let other_middle = other.state.pose.point(other_kind.body_centre, 0.0);
                (middle - other_middle).length() > kind.radius + other_kind.radius + 0.2
            }
        }
    };
    if let Start::Lane { lanelet, s } = start
        && !has_room_at_seams(lanelet, s, kind, view)
    {
        return false;
    }
    let here: Vec<u32> = match start {
        Start::Lane { lanelet, .. } => index
            .on_lanelet(lanelet)
            .iter()
            .map(|entry| entry.agent)
            .collect(),
        Start::Ground(pose) => {
            let mut near = Vec::new();
            index
                .grid
                .for_each_within(pose.position, 30.0, |number, _: DVec2| {
                    near.push(index.located[number as usize]);
                });
            near
        }
    };
    here.into_iter().chain(appeared.iter().copied()).all(clear)
}

/// Whether vehicles on the lanelets before and after leave room for one that is to appear.
fn has_room_at_seams(lanelet: LaneletId, s: f64, kind: &Kind, view: &View<'_>) -> bool {
    let own = view.roads.lanelet(lanelet);
    let behind = view
        .roads
        .graph
        .predecessors(lanelet)
        .iter()
        .filter_map(|&id| {
            let entry = *view.index.on_lanelet(id).last()?;
            Some((entry.agent, view.roads.lanelet(id).length() - entry.s + s))
        });
    let clear_behind = behind.into_iter().all(|(agent, distance)| {
        let other = &view.movers[agent as usize];
        let speed = other.state.speed;
        let gap = distance - kind.rear_overhang - view.kinds[other.kind as usize].front;
        gap > ROOM + speed * speed / (2.0 * BRAKING)
    });
    let ahead = view
        .roads
        .graph
        .successors(lanelet)
        .iter()
        .filter_map(|&id| view.index.hindmost(id));
    let clear_ahead = ahead.into_iter().all(|entry| {
        let other = &view.movers[entry.agent as usize];
        let rear = own.length() - s + entry.s - view.kinds[other.kind as usize].rear_overhang;
        rear - kind.front > ROOM
    });
    clear_behind && clear_ahead
}

/// Puts an agent on the road.
pub(crate) fn appear(mover: &mut Mover, departure: &Departure, graph: &LaneGraph, time: f64) {
    let pose = match departure.start {
        Start::Lane { lanelet, s } => {
            (mover.lanelet, mover.s, mover.t) = (lanelet, s, 0.0);
            graph.line(lanelet).pose(s)
        }
        Start::Ground(pose) => pose,
    };
    mover.state = OneTrackState {
        pose,
        speed: departure.speed,
        steering: 0.0,
    };
    mover.status = Status::Active;
    mover.drive.started = time;
}
