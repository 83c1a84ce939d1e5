//! Trips over open ground and paths around obstacles at the request of behaviours.
//!
//! A trip to a place off the lanes, or back to the lanes, is planned like the trips of a scenario:
//! on lanes and over open ground, whichever is quicker. If a path set by a behaviour leads through
//! a fixed obstacle, a search finds a detour.

use super::effects::{Effecting, MOST_SPOTS};
use crate::open_ground::{End, MixedTrips, Traveller, settings_for};
use crate::records::{AgentIndex, LaneSpot};
use crate::route::{Goal, Waypoint};
use glam::DVec2;
use roadwright_agent::{GroundPlanning, Slot};
use roadwright_geometry::Pose;
use roadwright_geometry::math::tan;
use roadwright_ground::Ground;
use roadwright_planning::open_ground::{
    CellSize, DrivablePath, DrivableProgress, DrivableSearch, DrivableTrip, DrivableVehicle,
    DrivenPose, Heights, Item, ItemId, OpenGround, Profile, ProfileId, Shape,
};
use roadwright_scenario::OffRoad;

/// A trip to a place ends on a lane if the centre line of the lane is within this distance of the
/// place, m.
const BESIDE_LANES: f64 = 25.0;
/// Spacing of the poses on a path that are checked for obstacles, m.
const STEP: f64 = 0.5;
/// Clearance for checking a path set by a behaviour, m. It is negative, so that a path may end in
/// contact with an object.
const CLEARANCE: f64 = -0.05;
/// Clearance required for a single bend into a bay, m. If there is less space, a search finds the
/// path with the largest possible clearance.
pub(super) const BAY_CLEARANCE: f64 = 0.2;
/// Maximum number of poses that the search for a path around an obstacle expands.
const MOST_POSES: u64 = 40_000;
/// Obstacles within this distance of a path are added to the map, m.
const AROUND: f64 = 120.0;
/// Edge length of the cells of the search, m.
const CELL: f64 = 0.5;
/// Minimum radius of planned bends, as a multiple of the vehicle's minimum turning radius.
const EASE: f64 = 1.15;
/// Maximum speed forwards on a path around an obstacle, m/s. In reverse, it is `REVERSE`.
const FORWARDS: f64 = 4.0;
const REVERSE: f64 = 2.0;
/// Speed at the end of each part of a path around an obstacle, m/s.
const CREEP: f64 = 0.5;
/// Distance between the waypoints of a path around an obstacle, m. With a larger spacing, the line
/// of the path would not follow their headings, and would cut the start and end of bends.
const WAYPOINTS: f64 = 0.25;
/// Deceleration towards the end of each part of a path, m/s^2.
const SLOWING: f64 = 1.0;
/// Assumed height of other vehicles, m.
const VEHICLE_HEIGHT: f64 = 2.0;

/// Obstacles around possible paths, and the vehicle that will follow the path.
pub(super) struct Scene {
    map: OpenGround,
    /// Vehicles that were added to the map, and are removed before the map is used again.
    guests: Vec<ItemId>,
    profile: ProfileId,
    vehicle: DrivableVehicle,
    planning: GroundPlanning,
}

impl Effecting<'_> {
    /// Whether there is no lane near a place.
    pub(super) fn is_off_lanes(&self, place: DVec2) -> bool {
        let graph = self.ground.graph();
        let nearest = self.ground.finder().near(graph, place).into_iter().next();
        nearest.is_none_or(|(lanelet, s, _)| {
            (graph.line(lanelet).position(s) - place).length() > BESIDE_LANES
        })
    }

    /// Settings of an agent's open-ground planner; `None` if the planner has no map, or if the
    /// vehicle never leaves the lanes.
    fn ground_planning(&self, agent: AgentIndex) -> Option<GroundPlanning> {
        let who = &self.agents.identity[agent.index()];
        if self.types.off_road(who.vehicle_type) == OffRoad::Never {
            return None;
        }
        let instance = who.modules.of(Slot::GroundPlanner) as usize;
        let instance = self.modules.pools.ground_planner.instances.get(instance)?;
        let module = instance.modules.first()?;
        let planning = module.logic.planning(&module.parameters);
        planning.search.uses_map().then_some(planning)
    }

    /// Gives an agent a trip over lanes and open ground to a place, or to the lane near that place. Returns
    /// whether a trip was found.
    pub(super) fn go_over_ground(&mut self, agent: AgentIndex, place: DVec2) -> bool {
        if self.ground_planning(agent).is_none() {
            return false;
        }
        let trips = self.trips.lend(self.ground);
        let goals = self.trip_over_ground(&trips, agent, place);
        self.trips.take_back(trips);
        goals.is_some_and(|goals| self.set_goals(agent, &goals))
    }

    fn trip_over_ground(
        &self,
        trips: &MixedTrips<'_>,
        agent: AgentIndex,
        place: DVec2,
    ) -> Option<Vec<Goal>> {
        let graph = self.ground.graph();
        let position = &self.agents.position[agent.index()];
        let from = match position.is_on_lane() {
            true => End::Lane(LaneSpot {
                lanelet: position.lanelet,
                s: position.s,
            }),
            false => End::Ground(self.place(agent)),
        };
        let traveller = self.traveller(agent);
        let goals_to = |to: End| {
            let itinerary = trips.quickest(&traveller, [from, to])?;
            let end = match to {
                End::Lane(LaneSpot { lanelet, s }) => Goal::Lane { lanelet, s },
                End::Ground(place) => Goal::Ground(place),
            };
            Some(itinerary.changes().chain([end]).collect())
        };
        // Characters walk to the place itself, even if it is near or on a lane.
        if graph.lanelets().is_empty() || self.vehicle_type(agent).is_disc {
            return Some(vec![Goal::Ground(place)]);
        }
        if self.is_off_lanes(place) {
            return goals_to(End::Ground(place));
        }
        let spots = self.ground.finder().near(graph, place).into_iter();
        let mut spots = spots.take(MOST_SPOTS);
        spots.find_map(|(lanelet, s, _)| goals_to(End::Lane(LaneSpot { lanelet, s })))
    }

    fn traveller(&self, agent: AgentIndex) -> Traveller {
        let number = self.agents.identity[agent.index()].vehicle_type;
        let kind = self.types.get(number);
        Traveller {
            body: self.types.ground_body(number),
            effects: self.types.ground_effects(number).clone(),
            class: kind.class,
            max_speed: kind.limits.max_speed,
            off_road: self.types.off_road(number),
        }
    }

    /// Returns the fixed obstacles and the stationary vehicles near possible paths from an agent to
    /// `places`. `None` if the agent's planner has no map, or if the vehicle has trailers.
    /// [`Self::leave_scene`] gives the map back. Loose obstacles are left out, because a behaviour
    /// may want to push them.
    pub(super) fn scene(&mut self, agent: AgentIndex, places: &[DVec2]) -> Option<Scene> {
        let planning = self.ground_planning(agent)?;
        let number = self.agents.identity[agent.index()].vehicle_type;
        let kind = self.types.get(number);
        let cell = CellSize::new(CELL)?;
        if kind.tows {
            // The search cannot model how trailers follow the vehicle.
            return None;
        }
        let vehicle = DrivableVehicle {
            length: kind.length,
            width: kind.width,
            centre: kind.body_centre,
            curvature: tan(kind.limits.max_steering) / (EASE * kind.limits.wheelbase),
            reverses: true,
            trailer: None,
        };
        let body = self.types.ground_body(number);
        let ground = self.ground;
        let mut map = self.trips.lend_obstacles(|| fixed_obstacles(ground));
        let guests = self.standing_near(agent, places);
        let guests = guests.filter_map(|item| map.insert(item).ok()).collect();
        let profile = map.add_profile(Profile::new(body, cell));
        Some(Scene {
            map,
            guests,
            profile,
            vehicle,
            planning,
        })
    }

    /// Gives back the map of a scene, so that the next scene can use it.
    pub(super) fn leave_scene(&mut self, scene: Scene) {
        let Scene {
            mut map, guests, ..
        } = scene;
        for guest in guests {
            map.remove(guest);
        }
        self.trips.take_back_obstacles(map);
    }

    /// Other stationary vehicles near possible paths from an agent to `places`.
    fn standing_near(&self, agent: AgentIndex, places: &[DVec2]) -> impl Iterator<Item = Item> {
        let here = self.place(agent);
        let low = places.iter().copied().fold(here, DVec2::min) - AROUND;
        let high = places.iter().copied().fold(here, DVec2::max) + AROUND;
        let others = self.agents.census().by_growing_id().into_iter();
        let shapes = others.filter_map(move |other| {
            let is_standing = self.agents.motion[other.index()].speed.abs() < CREEP;
            if other == agent || !is_standing {
                return None;
            }
            let shape = Shape::Box(self.bodies().body(other, 0, self.types));
            let bounds = shape.bounds();
            (bounds.low.cmple(high).all() && bounds.high.cmpge(low).all()).then_some(shape)
        });
        shapes.map(|shape| Item::obstacle(shape, Heights::up_to(VEHICLE_HEIGHT)))
    }
}

/// Creates a map of the fixed obstacles.
fn fixed_obstacles(ground: &Ground) -> OpenGround {
    let mut map = OpenGround::new();
    ground.obstacles().for_each_upright(|upright| {
        if !upright.is_loose {
            // Shapes that the map cannot represent are left out.
            let _ = map.insert(Item::obstacle(upright.shape, upright.heights));
        }
    });
    map
}

impl Scene {
    fn is_free(&self, axle: Pose, clearance: f64) -> bool {
        let body = self.vehicle.footprint(axle, clearance);
        self.map.is_free(self.profile, None, &body)
    }

    /// Whether the vehicle keeps `clearance` between two waypoints of a path. Checks it with the
    /// heading of the second waypoint.
    fn is_free_between(&self, before: &Waypoint, next: &Waypoint, clearance: f64) -> bool {
        let (from, to) = (before.pose.position, next.pose.position);
        let steps = ((to - from).length() / STEP).ceil().max(1.0) as u32;
        (1..=steps).all(|step| {
            let pose = Pose {
                position: from.lerp(to, f64::from(step) / f64::from(steps)),
                ..next.pose
            };
            self.is_free(pose, clearance)
        })
    }

    /// Whether the vehicle keeps a clearance (m) along all paths. Also `true` if it is already too
    /// close to an obstacle at the start.
    pub(super) fn are_free(&self, paths: &[Vec<Waypoint>], clearance: f64) -> bool {
        self.first_blocked(paths, clearance).is_none()
    }

    /// Finds the last free waypoint before the first obstacle on the paths. Returns the indices of
    /// its path and of the waypoint.
    fn first_blocked(&self, paths: &[Vec<Waypoint>], clearance: f64) -> Option<(usize, usize)> {
        let start = paths.first()?.first()?;
        if !self.is_free(start.pose, CLEARANCE) {
            return None;
        }
        paths.iter().enumerate().find_map(|(number, path)| {
            let mut pairs = path.windows(2);
            let is_blocked =
                |pair: &[Waypoint]| !self.is_free_between(&pair[0], &pair[1], clearance);
            let at = pairs.position(is_blocked)?;
            Some((number, at))
        })
    }

    /// Returns the paths with detours around all obstacles on them.
    ///
    /// # Errors
    /// If there is no path around an obstacle. The error is the position on the path where the
    /// obstacle blocks it.
    pub(super) fn around(
        &mut self,
        paths: Vec<Vec<Waypoint>>,
    ) -> Result<Vec<Vec<Waypoint>>, DVec2> {
        let mut done: Vec<Vec<Waypoint>> = Vec::new();
        let mut rest = paths;
        while let Some((number, at)) = self.first_blocked(&rest, CLEARANCE) {
            let tail = rest.split_off(number);
            done.append(&mut rest);
            let mut tail = tail.into_iter();
            let path = tail.next().unwrap_or_default();
            let from = path[at];
            let blocked = path[at + 1].pose.position;
            if at > 0 {
                done.push(path[..=at].to_vec());
            }
            // The detour returns to the path at the first waypoint that it can reach and where the
            // vehicle has enough space.
            let back = (at + 1..path.len()).find_map(|next| {
                let to = path[next];
                if !self.is_free(to.pose, CLEARANCE) {
                    return None;
                }
                let detour = self.drive(from.pose, to.pose)?;
                Some((next, detour))
            });
            let Some((next, detour)) = back else {
                return Err(blocked);
            };
            let slow = |mut waypoint: Waypoint| {
                waypoint.speed = waypoint.speed.min(path[next].speed.max(CREEP));
                waypoint
            };
            let detour = detour.into_iter();
            done.extend(detour.map(|part| part.into_iter().map(slow).collect::<Vec<_>>()));
            rest = Vec::new();
            if next + 1 < path.len() {
                rest.push(path[next..].to_vec());
            }
            rest.extend(tail);
        }
        done.append(&mut rest);
        Ok(done)
    }

    /// Searches for a drivable path between two poses of the rear axle. Each part of the path has one gear.
    /// `None` if no path is found.
    pub(super) fn drive(&mut self, from: Pose, to: Pose) -> Option<Vec<Vec<Waypoint>>> {
        let trip = DrivableTrip {
            profile: self.profile,
            owner: None,
            vehicle: self.vehicle,
            from,
            gear: 0,
            to: to.position,
            heading: Some(to.heading),
            hitch: 0.0,
            hitch_at_end: 0.0,
        };
        let settings = settings_for(&self.planning, self.planning.tracking_margin);
        let mut search = DrivableSearch::new(&mut self.map, trip, settings);
        search.advance(&mut self.map, MOST_POSES);
        match search.settle(&mut self.map) {
            DrivableProgress::Found => search.path().map(parts),
            _ => None,
        }
    }
}

/// Splits a path into parts with one gear each. The speeds allow the vehicle to stop at the end of each part.
fn parts(path: &DrivablePath) -> Vec<Vec<Waypoint>> {
    let poses = path.poses(WAYPOINTS);
    let runs = poses.chunk_by(|a, b| a.gear == b.gear);
    let part = |run: &[DrivenPose]| -> Vec<Waypoint> {
        let most = if run[0].gear > 0 { FORWARDS } else { REVERSE };
        let mut left = 0.0;
        let mut after: Option<DVec2> = None;
        let mut waypoints: Vec<Waypoint> = run
            .iter()
            .rev()
            .map(|at| {
                left += after.map_or(0.0, |after| (after - at.pose.position).length());
                after = Some(at.pose.position);
                Waypoint {
                    pose: at.pose,
                    speed: (2.0 * SLOWING * left).sqrt().clamp(CREEP, most),
                    gear: at.gear,
                }
            })
            .collect();
        waypoints.reverse();
        waypoints
            .dedup_by(|next, before| (next.pose.position - before.pose.position).length() < 0.05);
        waypoints
    };
    runs.map(part).filter(|part| part.len() > 1).collect()
}
