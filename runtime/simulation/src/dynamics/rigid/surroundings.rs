//! Surroundings of rigid bodies: obstacles near them, and vehicles of other levels.

use super::Land;
use crate::agents::AgentsRef;
use crate::dynamics::{Bodies, Dynamics};
use crate::hands::Hands;
use crate::records::{AgentIndex, Command};
use crate::route::Routes;
use crate::vehicle_type::VehicleTypes;
use glam::{DVec2, DVec3};
use roadwright_geometry::Pose;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::math::atan2;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_ground::Ground;
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::PedalCommand;
use roadwright_vehicle::rigid::{CarState, KinematicBody, Surface, Yard};
use roadwright_vehicle::trailer::Hitched;
use std::collections::BTreeSet;

/// Margin that is added to the size of a body and its travel in a step when the surroundings are
/// collected, m.
const MARGIN: f64 = 1.0;
/// Size of the cells of the index over rigid bodies, m.
const CELL: f64 = 20.0;

/// Borrowed data of the world that rigid bodies read.
pub(crate) struct Around<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) hands: &'a Hands,
    pub(crate) routes: &'a Routes,
    pub(crate) agents: AgentsRef<'a>,
    pub(crate) command: &'a [Command],
    /// Pedals of agents that are driven by pedals; may be shorter than the number of agents.
    pub(crate) pedals: &'a [Option<PedalCommand>],
    /// Duration of a step, s.
    pub(crate) dt: f64,
}

/// The area that rigid bodies may reach in a step.
pub(super) struct Nearby {
    /// Body numbers of the loose obstacles in this area that are still at their places in the scenario.
    pub(super) loose: BTreeSet<u32>,
    circles: Vec<(DVec2, f64)>,
}

impl Nearby {
    /// Whether a body may reach an object of the given radius at a place.
    pub(super) fn reaches(&self, place: DVec2, radius: f64) -> bool {
        self.circles.iter().any(|(middle, reach)| {
            let far = reach + radius;
            (*middle - place).length_squared() <= far * far
        })
    }
}

impl Around<'_> {
    /// Returns the driving agents of this level, in the order of ids.
    pub(super) fn drivers(&self) -> Vec<AgentIndex> {
        let mut drivers: Vec<AgentIndex> = self
            .driving(|level| level == DynamicsLevel::Rigid)
            .collect();
        drivers.sort_unstable_by_key(|&agent| self.agents.identity[agent.index()].id);
        drivers
    }

    /// Road layers of an agent (bit mask). Vehicles on a bridge and on the road below it cannot
    /// collide.
    pub(super) fn layers(&self, agent: AgentIndex) -> u32 {
        (self.ground).layers(self.agents.position[agent.index()].lanelet)
    }

    fn driving(&self, wanted: impl Fn(DynamicsLevel) -> bool) -> impl Iterator<Item = AgentIndex> {
        let identity = &self.agents.identity;
        let driving = self.agents.driving();
        driving.filter(move |&agent| wanted(identity[agent.index()].level))
    }

    /// Adds nearby obstacles, except loose ones, and vehicles of other levels to the solver.
    pub(super) fn set_up(
        &self,
        dynamics: &Dynamics,
        drivers: &[AgentIndex],
        trains: &[(CarState, Vec<CarState>)],
        yard: &mut Yard<'_, Land<'_>>,
    ) -> Nearby {
        let circles = drivers.iter().zip(trains).flat_map(|(&agent, train)| {
            let who = &self.agents.identity[agent.index()];
            let radius = self.types.get(who.vehicle_type).radius;
            let trailers = self.types.train(who.vehicle_type).trailers();
            let radii = std::iter::once(radius).chain(trailers.iter().map(Hitched::radius));
            let cars = std::iter::once(&train.0).chain(&train.1);
            cars.zip(radii).map(|(car, radius)| {
                // Twice the radius covers the whole body, wherever its centre of gravity is.
                let reach = 2.0 * radius + car.body.velocity.length() * self.dt + MARGIN;
                (car.body.position.truncate(), reach)
            })
        });
        let (places, reaches): (Vec<DVec2>, Vec<f64>) = circles.unzip();
        if self.agents.count() > drivers.len() {
            self.add_movers(dynamics, &places, &reaches, yard);
        }
        self.add_standing(dynamics, drivers, &places, &reaches, yard);
        Nearby {
            loose: self.add_stills(&places, &reaches, yard),
            circles: places.into_iter().zip(reaches).collect(),
        }
    }

    /// Adds nearby fixed obstacles. Returns the body numbers of the loose obstacles nearby.
    fn add_stills(
        &self,
        places: &[DVec2],
        reaches: &[f64],
        yard: &mut Yard<'_, Land<'_>>,
    ) -> BTreeSet<u32> {
        let obstacles = self.ground.obstacles();
        let mut near = BTreeSet::new();
        if obstacles.is_empty() {
            return near;
        }
        for (&place, &reach) in places.iter().zip(reaches) {
            obstacles.for_each_near(place, reach, |number| {
                near.insert(number);
            });
        }
        let land = Land(self.ground);
        let (loose, fixed): (BTreeSet<u32>, BTreeSet<u32>) = near
            .into_iter()
            .partition(|&number| obstacles.loose(number).is_some());
        let stills = fixed.into_iter();
        let stills = stills.filter_map(|number| obstacles.still(number, |place| land.at(place).0));
        stills.for_each(|still| yard.add_still(still));
        loose
    }

    /// Adds nearby vehicles of other levels.
    fn add_movers(
        &self,
        dynamics: &Dynamics,
        places: &[DVec2],
        reaches: &[f64],
        yard: &mut Yard<'_, Land<'_>>,
    ) {
        let mut grid = GridIndex::new();
        grid.rebuild(places, CELL);
        let farthest = reaches.iter().copied().fold(0.0, f64::max);
        let bodies = Bodies {
            ground: self.ground,
            agents: self.agents,
            dynamics,
        };
        let mut movers = Vec::new();
        for agent in self.driving(|level| level != DynamicsLevel::Rigid) {
            let who = &self.agents.identity[agent.index()];
            let kind = self.types.get(who.vehicle_type);
            let pose = bodies.pose(agent);
            let middle = pose.point(kind.body_centre, 0.0);
            let mut is_near = false;
            let reach = farthest + kind.radius;
            grid.for_each_within(middle, reach, |_, _| is_near = true);
            if is_near {
                movers.push((who.id, self.mover(agent, pose.heading, middle)));
            }
            let train = self.types.train(who.vehicle_type).trailers();
            let towed = bodies.trailers(agent, pose, self.types);
            for (trailer, record) in train.iter().zip(towed) {
                let mut is_near = false;
                let (middle, reach) = (record.body.position, farthest + trailer.radius());
                grid.for_each_within(middle, reach, |_, _| is_near = true);
                if is_near {
                    movers.push((who.id, self.towed(agent, trailer, record.body)));
                }
            }
        }
        // The sort is stable, so trailers stay behind the vehicle that tows them.
        movers.sort_by_key(|(id, _)| *id);
        movers
            .into_iter()
            .for_each(|(_, mover)| yard.add_kinematic_body(mover));
    }

    /// Adds nearby uncoupled trailers, which are immovable.
    fn add_standing(
        &self,
        dynamics: &Dynamics,
        drivers: &[AgentIndex],
        places: &[DVec2],
        reaches: &[f64],
        yard: &mut Yard<'_, Land<'_>>,
    ) {
        let bodies = Bodies {
            ground: self.ground,
            agents: self.agents,
            dynamics,
        };
        for train in dynamics.standing.iter() {
            for (at, (trailer, body)) in train.bodies(self.types).enumerate() {
                let is_near = |(place, reach): (&DVec2, &f64)| {
                    (*place - body.centre).length() <= reach + trailer.radius()
                };
                // A trailer that is lined up with a vehicle is left out. Its drawbar reaches below
                // the vehicle, and the overlap would throw the vehicle off.
                let is_below = || {
                    let mut drivers = drivers.iter();
                    at == 0 && drivers.any(|&one| bodies.lines_up_with(one, train, self.types))
                };
                if places.iter().zip(reaches).any(is_near) && !is_below() {
                    yard.add_kinematic_body(self.standing(trailer, body, train.layers));
                }
            }
        }
    }

    fn standing(&self, trailer: &Hitched, body: OrientedBox, layers: u32) -> KinematicBody {
        let (ground, _) = Land(self.ground).at(body.centre);
        let half_size = 0.5 * DVec3::new(trailer.length, trailer.width, trailer.height);
        KinematicBody {
            half_size,
            middle: body.centre.extend(ground + half_size.z),
            heading: atan2(body.forward.y, body.forward.x),
            velocity: DVec2::ZERO,
            yaw_rate: 0.0,
            layers,
        }
    }

    /// Returns the kinematic body of a trailer whose vehicle is on another level. The trailer moves
    /// along its heading.
    fn towed(&self, agent: AgentIndex, trailer: &Hitched, body: Pose) -> KinematicBody {
        let motion = &self.agents.motion[agent.index()];
        let (ground, _) = Land(self.ground).at(body.position);
        let half_size = 0.5 * DVec3::new(trailer.length, trailer.width, trailer.height);
        KinematicBody {
            half_size,
            middle: body.position.extend(ground + half_size.z),
            heading: body.heading,
            velocity: body.forward() * motion.speed,
            yaw_rate: 0.0,
            layers: self.layers(agent),
        }
    }

    fn mover(&self, agent: AgentIndex, heading: f64, middle: DVec2) -> KinematicBody {
        let who = &self.agents.identity[agent.index()];
        let model = self.types.rigid(who.vehicle_type);
        let motion = &self.agents.motion[agent.index()];
        let (ground, _) = Land(self.ground).at(middle);
        let velocity = roadwright_geometry::unit(heading) * motion.speed;
        KinematicBody {
            half_size: model.half_size,
            middle: middle.extend(ground + model.height) + DVec3::Z * model.hull.z,
            heading,
            velocity,
            yaw_rate: motion.yaw_rate,
            layers: self.layers(agent),
        }
    }
}
