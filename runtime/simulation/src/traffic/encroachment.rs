//! Post-encroachment time: the time between a vehicle's departure from a conflict in a junction and
//! another vehicle's arrival there.
//!
//! A conflict concerns two connections of a junction and has an interval on each of them. A vehicle
//! reaches a conflict with its front, and leaves it with its rear [Allen 1978].
//!
//! ```text
//!            interval of A on its connection
//!                 |<----->|
//!   A ----[====]--+-------+-------->      A has left when its rear passes the right end
//!                 |   B   |               B arrives when its front passes the start
//!                 |   ^   |               of its own interval, on its own connection
//! ```
//!
//! Only vehicles that hold a grant are considered. Other vehicles either do not drive through
//! contested junctions, or they enter without a grant, which is counted separately.

use super::Claims;
use super::claims::Held;
use crate::agents::{AgentsRef, ContactColumns};
use crate::records::AgentIndex;
use crate::route::Routes;
use crate::vehicle_type::VehicleTypes;
use roadwright_ground::Ground;
use roadwright_scenario::JunctionIndex;
use roadwright_scenario::junction::Interval;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An arriving vehicle counts as undisturbed if the post-encroachment time exceeds this, s.
const LATEST: f64 = 5.0;

/// If one vehicle arrives in the same step in which the other leaves, this time is recorded, s. It
/// is not 0, because 0 means that there was no other vehicle.
const LEAST: f32 = 1e-3;

/// A conflict: its junction and its index within the junction.
type Place = (JunctionIndex, u32);

/// Times at which vehicles last left each side of each conflict, s. They are recorded only if a fitness
/// function needs them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Encroachment {
    left: BTreeMap<Place, [Option<f64>; 2]>,
}

/// Inputs for finding post-encroachment times in a step.
#[derive(Clone, Copy)]
pub(crate) struct EncroachmentInputs<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) routes: &'a Routes,
    pub(crate) claims: &'a Claims,
}

/// A vehicle at a conflict, on one of its sides. The positions of its front and rear along the
/// connection are given before and after the step, m.
struct Passing {
    agent: AgentIndex,
    place: Place,
    side: usize,
    interval: Interval,
    rear: (f64, f64),
    front: (f64, f64),
}

impl Passing {
    fn leaves(&self) -> bool {
        self.rear.0 < self.interval.to && self.interval.to <= self.rear.1
    }

    fn comes(&self) -> bool {
        self.front.0 < self.interval.from && self.interval.from <= self.front.1
    }
}

impl Encroachment {
    /// Records the vehicles that left a conflict in the step that ends at `time`, in seconds. Rates
    /// the vehicles that reached a conflict after another vehicle had left it.
    pub(crate) fn watch(
        &mut self,
        time: f64,
        dt: f64,
        scene: EncroachmentInputs<'_>,
        agents: &mut ContactColumns<'_>,
    ) {
        let mut passing = Vec::new();
        for held in scene.claims.grants.held() {
            collect(held, dt, scene, agents.lent(), &mut passing);
        }
        // All departures are recorded before any arrival, so that their order does not matter.
        for vehicle in passing.iter().filter(|vehicle| vehicle.leaves()) {
            self.left.entry(vehicle.place).or_default()[vehicle.side] = Some(time);
        }
        for vehicle in passing.iter().filter(|vehicle| vehicle.comes()) {
            let left = self.left.get(&vehicle.place);
            let Some(left) = left.and_then(|sides| sides[1 - vehicle.side]) else {
                continue;
            };
            let passed = ((time - left) as f32).max(LEAST);
            let least = &mut agents.statistics[vehicle.agent.index()].least_post_encroachment;
            *least = if *least > 0.0 {
                least.min(passed)
            } else {
                passed
            };
        }
        // Older times do not affect any arriving vehicle and are dropped to keep the map small.
        let is_recent = |left: Option<f64>| left.is_some_and(|left| time - left < LATEST);
        self.left
            .retain(|_, sides| sides.iter().any(|&left| is_recent(left)));
    }
}

/// Collects the conflicts that a vehicle with a grant is passing or is about to pass.
fn collect(
    held: Held,
    dt: f64,
    scene: EncroachmentInputs<'_>,
    agents: AgentsRef<'_>,
    passing: &mut Vec<Passing>,
) {
    let agent = held.agent.index();
    let (position, progress) = (&agents.position[agent], &agents.progress[agent]);
    let route = scene.routes.get(progress.route);
    let length = |at: u32| {
        route
            .lanelet(at)
            .map(|lanelet| scene.ground.length(lanelet))
    };
    // A vehicle's body reaches from behind its rear axle to ahead of it. Therefore the body passes
    // positions of the connection while the axle is on the previous lanelet, on the connection, or
    // on the next lanelet. `along` is the position of the rear axle along the connection.
    let along = match progress.at {
        at if at == held.at => Some(position.s),
        at if at + 1 == held.at => length(at).map(|length| position.s - length),
        at if at == held.at + 1 => length(held.at).map(|length| position.s + length),
        _ => None,
    };
    let Some(along) = along else { return };
    let vehicle_type = scene.types.get(agents.identity[agent].vehicle_type);
    let distance = agents.motion[agent].speed * dt;
    // Positions of front and rear one step ago and now. Front and rear have passed each position in
    // between.
    let ends = |offset: f64| (along + offset - distance, along + offset);
    let conflicts = scene.ground.car_conflicts(held.junction);
    for (number, conflict) in (0u32..).zip(conflicts.list()) {
        let side = match conflict.paths {
            (first, _) if first == held.path => 0,
            (_, second) if second == held.path => 1,
            _ => continue,
        };
        let (first, second) = conflict.intervals;
        let mut interval = if side == 0 { first } else { second };
        // Connections that only merge at their ends do not cross within the junction.
        let is_met = interval.from < interval.to;
        if conflict.is_merge {
            // From the point where they meet, one vehicle follows the other.
            interval.to = interval.from;
        }
        if is_met {
            passing.push(Passing {
                agent: held.agent,
                place: (held.junction, number),
                side,
                interval,
                rear: ends(-vehicle_type.rear_overhang),
                front: ends(vehicle_type.front),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stand;
    use crate::traffic::RouteConnection;
    use roadwright_geometry::DVec2;

    const DT: f64 = 0.05;
    const SPEED: f64 = 6.0;

    impl Stand {
        /// Places a car that drives straight across at the given position along its connection, m.
        fn put(&mut self, agent: AgentIndex, along: f64) {
            let index = agent.index();
            let route = self
                .routes
                .get(self.agents.progress[index].route)
                .lanelets
                .clone();
            let through = self.ground.length(route[1]);
            let (at, s) = if along < 0.0 {
                (0, self.ground.length(route[0]) + along)
            } else if along < through {
                (1, along)
            } else {
                (2, along - through)
            };
            self.agents.position[index].lanelet = route[at];
            self.agents.position[index].s = s;
            self.agents.progress[index].at = at as u32;
        }
    }

    /// Simulates two cars that cross at constant speed, the second `delay` seconds after the first.
    /// Returns the shortest post-encroachment time of the second car (s), and the intervals of the
    /// conflict (m).
    fn crossing(delay: f64) -> (f32, Interval, Interval) {
        let mut stand = Stand::crossing();
        let mut routes = Vec::new();
        let mut agents = Vec::new();
        for (id, direction) in [(1, DVec2::X), (2, DVec2::Y)] {
            let lanelets = stand.straight(direction);
            let agent = stand.car(id, &lanelets, 0.0, SPEED);
            let path = stand.ground.contested(lanelets[1]).unwrap();
            let route = RouteConnection {
                agent,
                path,
                at: 1,
                exit: lanelets[2],
            };
            stand.claims.grants.hold(route, true);
            routes.push(path);
            agents.push(agent);
        }
        let mut encroachment = Encroachment::default();
        for step in 0..400 {
            let time = f64::from(step) * DT;
            for (number, &agent) in agents.iter().enumerate() {
                stand.put(agent, SPEED * (time - delay * number as f64) - 10.0);
            }
            let scene = EncroachmentInputs {
                ground: &stand.ground,
                types: &stand.types,
                routes: &stand.routes,
                claims: &stand.claims,
            };
            encroachment.watch(time, DT, scene, &mut ContactColumns::of(&mut stand.agents));
        }
        let seen =
            |agent: AgentIndex| stand.agents.statistics[agent.index()].least_post_encroachment;
        assert_eq!(
            seen(agents[0]),
            0.0,
            "no vehicle was there before the first"
        );
        let (first, second) = stand
            .ground
            .car_conflicts(routes[0].junction)
            .between(routes[0].number, routes[1].number)
            .unwrap();
        (seen(agents[1]), first, second)
    }

    #[test]
    fn the_time_between_two_is_that_from_rear_to_front() {
        for delay in [2.5, 3.5, 4.5] {
            let (seen, first, second) = crossing(delay);
            let car = *Stand::crossing().types.get(0);
            let left = (first.to + car.rear_overhang) / SPEED;
            let came = (second.from - car.front) / SPEED + delay;
            let seen = f64::from(seen);
            assert!((seen - (came - left)).abs() <= DT + 1e-6, "{delay}: {seen}");
        }
        // A vehicle that arrives long after the other vehicle is not disturbed.
        assert_eq!(crossing(12.0).0, 0.0);
    }
}
