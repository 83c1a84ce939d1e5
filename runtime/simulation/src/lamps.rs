//! Turn signals and brake lamps of vehicles.
use crate::records::{AgentIndex, Motion};
use crate::route::Route;
use crate::world::World;
use roadwright_agent::Indicator;
use roadwright_geometry::centre_line::CentreLine;
use roadwright_scenario::junction::Turn;
use roadwright_scenario::lane_graph::{LaneletIndex, LaneletKind, NO_LANELET};

/// A turn is signalled from this distance on, m.
const TURN_DISTANCE: f64 = 30.0;
/// A vehicle counts as still changing lanes if its offset from the centre line of its lane exceeds
/// this, m.
const OFF_LANE: f64 = 0.5;
/// Acceleration below which the brake lamps are lit, m/s^2. Milder deceleration comes from lifting off the
/// accelerator.
const BRAKING: f64 = -0.5;

/// Determines the turn signal of an agent. A signal set by its behaviour has precedence. Otherwise,
/// the agent signals a lane change that it is making or waiting for, or the turn that it is making
/// or approaching.
pub(crate) fn indicator(world: &World, agent: AgentIndex) -> Indicator {
    let index = agent.index();
    let wished = world.agents.wish[index].indicator;
    if wished != Indicator::Off {
        return wished;
    }
    let progress = &world.agents.progress[index];
    let route = world.routes.get(progress.route);
    if !world.agents.position[index].is_on_lane() {
        return Indicator::Off;
    }
    let change = lane_change(world, route, index);
    if change != 0.0 {
        return side(change > 0.0);
    }
    match turn_ahead(world, route, index) {
        Some((_, Turn::Left)) => Indicator::Left,
        Some((_, Turn::Right)) => Indicator::Right,
        Some((connection, Turn::UTurn)) => side(ends_to_the_left(world.ground.line(connection))),
        Some((_, Turn::Straight)) | None => Indicator::Off,
    }
}

/// Whether a connection ends to the left of where it begins.
fn ends_to_the_left(line: CentreLine<'_>) -> bool {
    let start = line.pose(0.0);
    let chord = line.pose(line.length()).position - start.position;
    start.forward().perp_dot(chord) > 0.0
}

fn side(is_left: bool) -> Indicator {
    if is_left {
        Indicator::Left
    } else {
        Indicator::Right
    }
}

/// Lane change that an agent makes or waits for: 1 to the left, -1 to the right, 0 for none.
fn lane_change(world: &World, route: &Route, index: usize) -> f64 {
    let (progress, position) = (&world.agents.progress[index], &world.agents.position[index]);
    let graph = world.ground.graph();
    if progress.seeking != 0.0 {
        return route.lane_change_at(progress.at, graph);
    }
    let is_between = position.leaving != NO_LANELET || position.t.abs() > OFF_LANE;
    match progress.at.checked_sub(1) {
        Some(before) if is_between => route.lane_change_at(before, graph),
        _ => 0.0,
    }
}

/// Finds the connection that an agent is on or reaches within the signalling distance, and the turn
/// of that connection.
fn turn_ahead(world: &World, route: &Route, index: usize) -> Option<(LaneletIndex, Turn)> {
    let (progress, position) = (&world.agents.progress[index], &world.agents.position[index]);
    let graph = world.ground.graph();
    let mut room = TURN_DISTANCE + position.s;
    for at in progress.at.. {
        let lanelet = route.lanelet(at)?;
        if let LaneletKind::Connection { turn, .. } = graph.lanelet(lanelet).kind {
            return Some((lanelet, turn));
        }
        // The lanelets between which a route changes lanes are side by side, so only the last of
        // them adds to the distance.
        if route.lane_change_at(at, graph) == 0.0 {
            room -= world.ground.length(lanelet);
        }
        if room < 0.0 {
            return None;
        }
    }
    None
}

/// Whether the brake lamps of an agent are lit, either because it brakes or because its brakes hold
/// it.
pub(crate) fn brakes(motion: &Motion, commanded: f64) -> bool {
    motion.acceleration < BRAKING || (motion.speed == 0.0 && commanded < 0.0)
}
