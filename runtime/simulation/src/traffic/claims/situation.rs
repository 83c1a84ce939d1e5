//! Positions and motions of agents, on which the decisions of junctions are based.

use super::grants::Grant;
use crate::agents::AgentsRef;
use crate::clock::Clock;
use crate::fixed::Fixed;
use crate::records::AgentIndex;
use crate::route::{Route, Routes};
use crate::traffic::{Index, Lanes, People, SignalStates};
use crate::vehicle_type::{VehicleType, VehicleTypes};
use roadwright_ground::Ground;
use roadwright_scenario::alleys::AlleySide;
use roadwright_scenario::junction::{Light, Sign};
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{Connection, ConnectionIndex, JunctionIndex};

/// Gap between the last vehicle beyond the junction and a vehicle that is let in behind it, m.
pub(super) const EXIT_GAP: f64 = 2.0;
/// Acceleration that drivers are assumed to use, m/s^2.
const EXPECTED_ACCELERATION: f64 = 1.5;
/// Minimum acceleration assumed for a moving vehicle, m/s^2. It ensures that every vehicle is expected to
/// leave eventually.
const LEAST_ACCELERATION: f64 = 0.1;
/// Speed below which a vehicle is treated as starting from rest, m/s.
const HARDLY_MOVING: f64 = 1.0;
/// A vehicle is assumed to drive through a junction at this speed or faster, m/s.
const LEAST_SPEED: f64 = 3.0;
/// A vehicle stops at amber if this deceleration is enough, m/s^2. If it would have to brake
/// harder, it drives on.
const AMBER_BRAKING: f64 = 3.0;
/// Like `AMBER_BRAKING`, for a vehicle that has not been let in and is therefore already braking,
/// m/s^2. With the lower value, such a vehicle would drive on whenever it brakes slightly late.
const BRAKING_FIRMLY: f64 = 4.5;

/// Speed below which a vehicle counts as stationary, m/s.
pub(super) const STANDING: f64 = 0.5;
/// A vehicle that stops this far before a stop line is not affected by edits, m. Edits rarely move
/// a stop line farther than this.
pub(super) const FAR: f64 = 15.0;

/// Queue length taken up by one vehicle of this type, including the gap, m.
pub(crate) fn space(vehicle_type: &VehicleType) -> f64 {
    vehicle_type.whole_length + EXIT_GAP
}

/// Inputs of junction decisions except the agents, which change during a decision.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) routes: &'a Routes,
    pub(crate) index: &'a Index,
    pub(crate) signals: &'a SignalStates,
    pub(crate) people: &'a People,
    /// Current step.
    pub(crate) step: u64,
    pub(crate) dt: f64,
    /// Time until the next decision, s.
    pub(crate) period: f64,
}

/// Like [`Setting`], without the pedestrians, which also change during a decision.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) fixed: Fixed<'a>,
    pub(crate) routes: &'a Routes,
    pub(crate) index: &'a Index,
    pub(crate) signals: &'a SignalStates,
}

impl<'a> Given<'a> {
    pub(super) fn beside<'p>(self, people: &'p People) -> Setting<'p>
    where
        'a: 'p,
    {
        Setting {
            ground: self.fixed.ground,
            types: self.fixed.types,
            routes: self.routes,
            index: self.index,
            signals: self.signals,
            people,
            step: self.clock.step,
            dt: self.clock.dt,
            period: self.clock.beat_period(),
        }
    }
}

/// All inputs of junction decisions.
#[derive(Clone, Copy)]
pub(super) struct Situation<'a> {
    setting: Setting<'a>,
    pub(super) agents: AgentsRef<'a>,
}

impl<'a> Setting<'a> {
    /// Current time, s.
    pub(crate) fn time(&self) -> f64 {
        self.step as f64 * self.dt
    }

    pub(super) fn with(self, agents: AgentsRef<'a>) -> Situation<'a> {
        Situation {
            setting: self,
            agents,
        }
    }
}

impl<'a> std::ops::Deref for Situation<'a> {
    type Target = Setting<'a>;

    fn deref(&self) -> &Setting<'a> {
        &self.setting
    }
}

impl<'a> Situation<'a> {
    pub(super) fn route(&self, agent: AgentIndex) -> &'a Route {
        self.routes.get(self.agents.progress[agent.index()].route)
    }

    /// The lane from which an agent enters the connection at index `at` of its route.
    pub(super) fn lane_before(&self, agent: AgentIndex, at: u32) -> Option<LaneletIndex> {
        self.route(agent).lanelet(at.checked_sub(1)?)
    }

    pub(super) fn vehicle_type(&self, agent: AgentIndex) -> &'a VehicleType {
        let number = self.agents.identity[agent.index()].vehicle_type;
        self.types.get(number)
    }

    pub(super) fn speed(&self, agent: AgentIndex) -> f64 {
        self.agents.motion[agent.index()].speed.max(0.0)
    }

    pub(super) fn is_long(&self, agent: AgentIndex) -> bool {
        self.vehicle_type(agent).is_long()
    }

    /// Whether an agent could meet vehicles in an alley that it cannot pass there.
    pub(super) fn heeds_alley(&self, agent: AgentIndex, side: AlleySide) -> bool {
        let passing = self.ground.alleys().passing(side);
        passing.holds_up_any(self.is_long(agent))
    }

    /// Whether two agents cannot pass each other in an alley, so that one of them has to wait.
    pub(super) fn hold_up(&self, agent: AgentIndex, other: AgentIndex, side: AlleySide) -> bool {
        let passing = self.ground.alleys().passing(side);
        passing.holds_up(self.is_long(agent), self.is_long(other))
    }

    /// Returns the data for computing room on lanes.
    pub(super) fn lanes(&self) -> Lanes<'a> {
        Lanes {
            ground: self.ground,
            types: self.types,
            index: self.setting.index,
            agents: self.agents,
        }
    }

    /// Queue length taken up by a vehicle, including the gap, m.
    pub(super) fn space(&self, agent: AgentIndex) -> f64 {
        space(self.vehicle_type(agent))
    }

    /// Position of an agent's rear axle along the lanelet at index `at` of its route, m. It is negative
    /// before the lanelet, and exceeds the lanelet's length beyond it.
    ///
    /// ```text
    ///     |--- 30 m ---|--- 12 m ---|--- 50 m ---|
    ///         10 m ^ rear axle                        position along the second lanelet: -20 m
    /// ```
    pub(super) fn along(&self, agent: AgentIndex, at: u32) -> f64 {
        along(agent, at, self.ground, self.route(agent), self.agents)
    }

    /// Position of an agent's front along the lanelet at index `at` of its route, m.
    pub(super) fn front(&self, agent: AgentIndex, at: u32) -> f64 {
        self.along(agent, at) + self.vehicle_type(agent).front
    }

    /// Position of an agent's rear along the lanelet at index `at` of its route, m.
    pub(super) fn rear(&self, agent: AgentIndex, at: u32) -> f64 {
        self.along(agent, at) - self.vehicle_type(agent).rear_overhang
    }

    /// Position of the rear axle of a grant's holder along its connection, m.
    fn along_of(&self, grant: &Grant) -> f64 {
        let noted = grant.noted.along();
        noted.unwrap_or_else(|| self.along(grant.agent, grant.at))
    }

    /// Position of the front of a grant's holder along its connection, m.
    pub(super) fn front_of(&self, grant: &Grant) -> f64 {
        self.along_of(grant) + self.vehicle_type(grant.agent).front
    }

    /// Position of the rear of a grant's holder along its connection, m.
    pub(super) fn rear_of(&self, grant: &Grant) -> f64 {
        self.along_of(grant) - self.vehicle_type(grant.agent).rear_overhang
    }

    /// Speed that an agent is expected to reach on the lanelet at index `at` of its route, m/s.
    fn expected_speed(&self, agent: AgentIndex, at: u32) -> f64 {
        let allowed = self.route(agent).lanelet(at);
        let allowed = allowed.map_or(LEAST_SPEED, |lanelet| {
            self.ground.lanelet(lanelet).free_speed
        });
        allowed.max(self.speed(agent)).max(LEAST_SPEED)
    }

    /// Time that an agent needs for the given distance if nothing delays it, s.
    pub(super) fn time_for(&self, distance: f64, agent: AgentIndex, at: u32) -> f64 {
        let top = self.expected_speed(agent, at);
        time_to_cover(distance, self.speed(agent), top, EXPECTED_ACCELERATION)
    }

    /// Like `time_for`, with the agent's current acceleration, because a vehicle that follows
    /// another one accelerates less than it could. A vehicle that hardly moves is treated as
    /// starting from rest.
    pub(super) fn time_as_it_drives(&self, distance: f64, agent: AgentIndex, at: u32) -> f64 {
        let speed = self.speed(agent);
        let acceleration = match speed > HARDLY_MOVING {
            true => self.agents.motion[agent.index()]
                .acceleration
                .clamp(LEAST_ACCELERATION, EXPECTED_ACCELERATION),
            false => EXPECTED_ACCELERATION,
        };
        let top = self.expected_speed(agent, at);
        time_to_cover(distance, speed, top, acceleration)
    }

    /// Light of the signal of a connection; green if the connection has no signal.
    pub(super) fn light(&self, path: Connection) -> Light {
        self.signals.light(self.ground, path)
    }

    /// Whether an agent is expected to stop at amber if its front is `distance` metres before the stop line.
    pub(super) fn can_stop(&self, agent: AgentIndex, distance: f64) -> bool {
        self.can_stop_by(AMBER_BRAKING, agent, distance)
    }

    /// Whether an agent can stop within `distance` metres. `braking` is its deceleration on dry ground,
    /// m/s^2.
    fn can_stop_by(&self, braking: f64, agent: AgentIndex, distance: f64) -> bool {
        let speed = self.speed(agent);
        speed * speed <= 2.0 * self.braking(agent, braking) * distance
    }

    /// Deceleration expected of an agent at its current position, m/s^2. `dry` is the value for dry ground.
    pub(super) fn braking(&self, agent: AgentIndex, dry: f64) -> f64 {
        let position = &self.agents.position[agent.index()];
        let kind = self.vehicle_type(agent);
        kind.expected_braking(dry, self.ground, position)
    }

    /// Whether an agent is stationary before the connection at index `at` of its route, or is far
    /// enough away to stop comfortably before the connection.
    pub(super) fn stands_or_is_far(&self, agent: AgentIndex, at: u32) -> bool {
        let speed = self.speed(agent);
        let distance = -self.front(agent, at);
        speed < STANDING
            || speed * speed <= 2.0 * self.braking(agent, AMBER_BRAKING) * (distance - FAR)
    }

    /// Whether the signal of a connection stops an agent that has already been let in. The agent's front is
    /// `distance` metres before the stop line.
    pub(super) fn is_called_back_by_light(
        &self,
        path: Connection,
        agent: AgentIndex,
        distance: f64,
    ) -> bool {
        self.is_stopped_by(AMBER_BRAKING, path, agent, distance)
    }

    /// Like `is_called_back_by_light`, for an agent that has not been let in.
    pub(super) fn is_stopped_by_light(
        &self,
        path: Connection,
        agent: AgentIndex,
        distance: f64,
    ) -> bool {
        self.is_stopped_by(BRAKING_FIRMLY, path, agent, distance)
    }

    /// Whether a signal stops an agent that is `distance` metres before the stop line. Amber stops the agent
    /// only if it can stop with the deceleration `braking`, in m/s^2.
    fn is_stopped_by(
        &self,
        braking: f64,
        path: Connection,
        agent: AgentIndex,
        distance: f64,
    ) -> bool {
        match self.light(path) {
            Light::Green => false,
            Light::Amber => self.can_stop_by(braking, agent, distance),
            Light::Red | Light::RedAmber => true,
        }
    }

    /// Whether the signal of a connection is red but vehicles may turn on red there.
    pub(super) fn may_turn_on_red(&self, path: Connection) -> bool {
        self.ground.connection_gist(path).may_turn_on_red && self.light(path).is_red()
    }

    /// The sign at the stop line of a connection.
    pub(super) fn sign(&self, path: Connection) -> Sign {
        self.ground.connection_gist(path).sign
    }

    /// Whether traffic on one connection of a junction yields to traffic on another connection, either
    /// because of the rules, or because the signal stage is permissive for the first connection.
    pub(super) fn gives_way(
        &self,
        junction: JunctionIndex,
        path: ConnectionIndex,
        other: ConnectionIndex,
    ) -> bool {
        let is_permitted = |path| {
            self.signals
                .is_permitted(self.ground, Connection::new(junction, path))
        };
        let right = self.ground.law(junction).right_of_way();
        match (is_permitted(path), is_permitted(other)) {
            (true, false) => self.ground.in_conflict(junction, path, other),
            (false, true) => false,
            _ => {
                right.gives_way(path, other)
                    || self.joins_before(Connection::new(junction, path), other)
            }
        }
    }

    /// Whether a connection ends an acceleration lane and conflicts with another connection, so
    /// that its vehicles yield.
    fn joins_before(&self, path: Connection, other: ConnectionIndex) -> bool {
        self.ground.joins_by(path) && self.ground.in_conflict(path.junction, path.number, other)
    }

    /// Whether vehicles on two connections of a junction take turns, because one of the two lanes
    /// ends and merges into the other.
    pub(super) fn alternate(&self, path: Connection, other: ConnectionIndex) -> bool {
        let ground = self.ground;
        ground.alternate_at(path.junction)
            && ground
                .car_conflicts(path.junction)
                .is_merge(path.number, other)
            && !ground.joins_by(path)
            && !ground.joins_by(Connection::new(path.junction, other))
    }

    /// Distance of the stop line of a connection from the junction, m.
    pub(super) fn setback(&self, connection: Connection) -> f64 {
        let (junction, path) = (connection.junction, connection.number);
        let has_buses = self.types.sets_lines_back;
        self.ground.setback(junction, path, has_buses)
    }

    /// Distance from the front of a grant's holder to the stop line, m; negative beyond the line.
    pub(super) fn before_line(&self, junction: JunctionIndex, grant: &Grant) -> f64 {
        -self.front_of(grant) - self.setback(Connection::new(junction, grant.path))
    }
}

/// Position of an agent's rear axle along the lanelet at index `at` of its route; see [`Situation::along`].
pub(crate) fn along(
    agent: AgentIndex,
    at: u32,
    ground: &Ground,
    route: &Route,
    agents: AgentsRef<'_>,
) -> f64 {
    let (progress, position) = (
        &agents.progress[agent.index()],
        &agents.position[agent.index()],
    );
    let (first, last) = (progress.at.min(at), progress.at.max(at));
    // A lanelet that is left by a lane change is not counted, because the adjacent next lanelet of
    // the route is driven instead.
    let between: f64 = (first..last)
        .filter_map(|at| Some((route.lanelet(at)?, route.lanelet(at + 1)?)))
        .filter(|(lanelet, next)| ground.leads_to(*lanelet, *next))
        .map(|(lanelet, _)| ground.length(lanelet))
        .sum();
    if progress.at < at {
        position.s - between
    } else {
        position.s + between
    }
}

/// Time to drive a distance with a constant acceleration `a` up to a maximum speed, s.
fn time_to_cover(distance: f64, speed: f64, top: f64, a: f64) -> f64 {
    if distance <= 0.0 {
        return 0.0;
    }
    // From v to the top speed with acceleration a: (top² - v²) / 2 a.
    let to_top = (top * top - speed * speed).max(0.0) / (2.0 * a);
    if distance < to_top {
        // d = v t + a t^2 / 2
        return ((speed * speed + 2.0 * a * distance).sqrt() - speed) / a;
    }
    // `top` is never 0, because it is at least the minimum expected speed.
    (top - speed).max(0.0) / a + (distance - to_top) / top
}

#[cfg(test)]
mod tests {
    use super::time_to_cover;

    #[test]
    fn times_are_those_of_constant_acceleration() {
        // From rest, 12 m at 1.5 m/s^2: t = sqrt(2 d / a) = 4 s.
        assert!((time_to_cover(12.0, 0.0, 20.0, 1.5) - 4.0).abs() < 1e-12);
        // The car already drives at its top speed.
        assert!((time_to_cover(30.0, 10.0, 10.0, 1.5) - 3.0).abs() < 1e-12);
        // After 4 s and 12 m the speed is 6 m/s, followed by 6 m at this speed.
        assert!((time_to_cover(18.0, 0.0, 6.0, 1.5) - 5.0).abs() < 1e-12);
        // With the minimum acceleration: 5 m at 0.1 m/s^2.
        assert!((time_to_cover(5.0, 0.0, 20.0, 0.1) - 10.0).abs() < 1e-12);
        assert_eq!(time_to_cover(-1.0, 3.0, 6.0, 1.5), 0.0);
    }
}
