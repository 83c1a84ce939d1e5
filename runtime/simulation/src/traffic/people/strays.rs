//! Pedestrians whose crossing was removed by an edit while they were walking on it. They walk to
//! the other side, and drivers stop for them if they can.
//!
//! ```text
//!        |    :       wall
//!        |    o--->    |  [ car ]     The wall is where the car's lane comes close to the rest of
//!        |             |              the path. Pedestrians wait for a car that cannot stop there.
//! ```

use super::{GAIT, People, RADIUS};
use crate::agents::{AgentsRef, ClaimColumns};
use crate::clock::Clock;
use crate::dynamics::Bodies;
use crate::records::{AgentIndex, FARTHEST, PersonRecord};
use crate::route::Routes;
use crate::vehicle_type::{VehicleType, VehicleTypes};
use roadwright_geometry::{DVec2, Pose, heading_of};
use roadwright_ground::Ground;
use roadwright_scenario::junction::WALKING_SPEED;
use roadwright_vehicle::gait::{Figure, LineSteps, OnLine};
use serde::{Deserialize, Serialize};

/// Length of a pedestrian's remaining path that drivers take into account, m. It is about the width of two
/// lanes.
const HEEDED: f64 = 7.0;
/// The path of a pedestrian blocks a lane if it comes closer than this to the centre line of the
/// lane, m. The value is half the width of a bus plus half the width of a pedestrian.
const NEAR: f64 = 1.8;
/// Drivers stop at this distance before the pedestrian's path, m.
const BEFORE: f64 = 2.0;
/// Lookahead time of drivers, s.
const SIGHT: f64 = 6.0;
/// Minimum lookahead distance of drivers, m.
const LEAST_SIGHT: f64 = 20.0;
/// A driver who would have to brake harder than this continues instead of stopping, m/s^2.
const BRAKING: f64 = 4.5;
/// Distance between the points of a lane that are examined, m.
const STEP: f64 = 1.0;

/// A pedestrian whose crossing was removed and who is still walking to the other side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stray {
    id: u64,
    place: DVec2,
    end: DVec2,
    waits: bool,
    /// Position along the path across the road, m, measured like a position on a crossing.
    #[serde(skip)]
    along: f64,
    #[serde(skip)]
    steps: LineSteps,
}

/// Data about roads and vehicles that determine when stray pedestrians and drivers wait.
pub(crate) struct Roadside<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) routes: &'a Routes,
}

impl Stray {
    pub(super) fn new(id: u64, place: DVec2, end: DVec2) -> Self {
        Self {
            id,
            place,
            end,
            waits: false,
            along: 0.0,
            steps: LineSteps::begin(0.0, &GAIT),
        }
    }

    /// Returns the pedestrian with its position along the path across the road, m, and its steps.
    pub(super) fn with_steps(self, along: f64, steps: LineSteps) -> Self {
        Self {
            along,
            steps,
            ..self
        }
    }

    /// Position along the path across the road, m, and steps.
    pub(super) fn steps(&self) -> (f64, LineSteps) {
        (self.along, self.steps)
    }

    /// Returns the number of the pedestrian, and its feet and shoulders at `time` (s).
    pub(super) fn figure(&self, time: f64) -> (u64, Figure) {
        let heading = heading_of(self.end - self.place);
        let here = Pose {
            position: self.place,
            heading,
        };
        let line = Pose {
            position: here.point(-self.along, 0.0),
            heading,
        };
        let along = self.along;
        let figure = self.steps.figure(OnLine { along, time }, line, &GAIT);
        (self.id, figure)
    }

    pub(super) fn record(&self) -> PersonRecord {
        PersonRecord {
            id: self.id,
            position: self.place,
            heading: heading_of(self.end - self.place),
            waits: self.waits,
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        let is_placed = self.place.is_finite() && self.end.is_finite();
        is_placed && self.along.abs() <= FARTHEST && self.steps.is_sound(FARTHEST)
    }

    /// Position after the given distance, m.
    fn after(&self, distance: f64) -> DVec2 {
        let left = self.end - self.place;
        let length = left.length();
        if length <= distance {
            self.end
        } else {
            self.place + left * (distance / length)
        }
    }

    /// Distance from a place to the part of the remaining path that drivers take into account, m.
    fn distance_to(&self, place: DVec2) -> f64 {
        let distance = self.after(HEEDED) - self.place;
        let share = (place - self.place).dot(distance) / distance.length_squared().max(1e-9);
        (self.place + distance * share.clamp(0.0, 1.0) - place).length()
    }
}

impl People {
    /// Whether there are pedestrians whose crossing was removed.
    pub(crate) fn has_strays(&self) -> bool {
        !self.strays.is_empty()
    }

    /// Makes drivers stop for stray pedestrians if they can, by setting stops on their routes. O(strays *
    /// drivers).
    pub(crate) fn hold_for_strays(&self, roadside: &Roadside<'_>, agents: &mut ClaimColumns<'_>) {
        for agent in agents.by_growing_id() {
            let nearest = self.wall_for(agent, roadside, agents.lent());
            let claim = &mut agents.claim[agent.index()];
            let Some((at, s)) = nearest else { continue };
            // If a junction stops the agent as well, the nearer of the two stops is used.
            let is_first = claim.wall_at == 0 || (at + 1, s as f32) < (claim.wall_at, claim.wall_s);
            if is_first {
                (claim.wall_at, claim.wall_s) = (at + 1, s as f32);
            }
        }
    }

    /// Returns the place where an agent has to stop for stray pedestrians: route index, and
    /// position along the lanelet, m.
    fn wall_for(
        &self,
        agent: AgentIndex,
        Roadside {
            ground,
            types,
            routes,
        }: &Roadside<'_>,
        agents: AgentsRef<'_>,
    ) -> Option<(u32, f64)> {
        let index = agent.index();
        let position = &agents.position[index];
        if !position.is_on_lane() {
            return None;
        }
        let progress = &agents.progress[index];
        let route = routes.get(progress.route);
        let front = types.get(agents.identity[index].vehicle_type).front;
        let speed = agents.motion[index].speed.max(0.0);
        let reach = (SIGHT * speed).max(LEAST_SIGHT);
        let (mut at, mut begins) = (progress.at, -position.s);
        while begins < reach {
            let lanelet = route.lanelet(at)?;
            let length = ground.length(lanelet);
            let line = ground.line(lanelet);
            let count = (length / STEP).ceil() as usize;
            for s in (0..=count).map(|i| (STEP * i as f64).min(length)) {
                let distance = begins + s - front - BEFORE;
                let place = line.position(s);
                let is_near = self
                    .strays
                    .iter()
                    .any(|stray| stray.distance_to(place) < NEAR);
                // Only the nearest place counts. A driver that cannot stop before it continues, because
                // otherwise it would stop on the pedestrian's path and block it.
                if is_near && distance >= 0.0 {
                    let can_stop = speed * speed <= 2.0 * BRAKING * distance;
                    return can_stop.then_some((at, s - BEFORE));
                }
            }
            begins += length;
            at += 1;
        }
        None
    }

    /// Moves stray pedestrians by one step. They wait for vehicles that would cross the next metre of their
    /// path.
    pub(crate) fn walk_strays(&mut self, clock: &Clock, bodies: &Bodies<'_>, types: &VehicleTypes) {
        let agents = bodies.agents;
        let boxes: Vec<Sweep<'_>> = agents
            .by_growing_id()
            .into_iter()
            .map(|agent| {
                let speed = agents.motion[agent.index()].speed.abs();
                let number = agents.identity[agent.index()].vehicle_type;
                Sweep {
                    pose: bodies.pose(agent),
                    speed,
                    vehicle_type: types.get(number),
                }
            })
            .collect();
        let distance = WALKING_SPEED * clock.dt;
        for stray in &mut self.strays {
            let (here, next) = (stray.place, stray.after(1.0));
            // A pedestrian who is already in the path of a vehicle keeps walking, because stopping
            // there would help neither of them.
            stray.waits = boxes
                .iter()
                .any(|vehicle| vehicle.reaches(next) && !vehicle.reaches(here));
            let (along, time) = (stray.along, clock.time());
            if stray.waits {
                stray.steps.halt(time);
            } else {
                let place = stray.after(distance);
                let moved = (place - here).length();
                self.counts.walked_metres += moved;
                stray.place = place;
                stray.steps.go_on(OnLine { along, time }, &GAIT);
                stray.along += moved;
            }
        }
        let before = self.strays.len();
        self.strays.retain(|stray| stray.place != stray.end);
        self.counts.arrived += (before - self.strays.len()) as u64;
    }
}

/// A vehicle that pedestrians may have to wait for.
struct Sweep<'a> {
    pose: Pose,
    /// Speed, m/s.
    speed: f64,
    vehicle_type: &'a VehicleType,
}

impl Sweep<'_> {
    /// Whether a vehicle covers a position, or will cover it before it can stop.
    fn reaches(&self, place: DVec2) -> bool {
        let (speed, vehicle_type) = (self.speed, self.vehicle_type);
        let local = self.pose.to_local(place);
        let half = 0.5 * vehicle_type.width + RADIUS + 0.2;
        // The driver reacts after half a second and then brakes.
        let stopping = speed * speed / (2.0 * BRAKING) + speed * 0.5;
        let ahead = vehicle_type.front + stopping + RADIUS + 0.2;
        let behind = -vehicle_type.rear_overhang - RADIUS;
        local.y.abs() < half && (behind..ahead).contains(&local.x)
    }
}
