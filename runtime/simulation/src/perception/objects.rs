//! List of all objects of the world, for controllers that request the objects around them.
//!
//! ```text
//!   trees | obstacles | loose obstacles | vehicles, each with its trailers | uncoupled trailers | pedestrians
//!   '---- made once for a ground ----'   '-------------- renewed in each step --------------------------'
//! ```
//!
//! Vehicles are in the order of ids, so the list does not depend on the indices of agents. Trees
//! come first, so that the list without trees is simply the rest of it. Pushed obstacles keep their
//! place in the list. An obstacle that is not convex is listed as one body for each of its convex
//! parts, one after the other.

use super::View;
use crate::agents::AgentsRef;
use crate::messages::Groups;
use crate::records::AgentIndex;
use crate::traffic::People;
use glam::DVec2;
use roadwright_agent::{NearNeeds, Objects};
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::{Pose, left_of, polygon, unit};
use roadwright_ground::{Ground, Owner, Upright};
use roadwright_planning::open_ground::Shape;
use roadwright_plugin_api::abi::RwPoint;
use roadwright_plugin_api::{
    OBJECT_IS_AGENT, OBJECT_IS_ROUND, OBJECT_OBSTACLE, OBJECT_PERSON, OBJECT_TRAILER, OBJECT_TREE,
    OBJECT_VEHICLE, ObjectData,
};
use roadwright_scenario::VehicleType;
use roadwright_scenario::junction::WALKING_SPEED;
use roadwright_vehicle::trailer::{Hitched, TrailerState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Size of an index cell for bodies that are neither fixed nor part of an agent, m.
const CELL: f64 = 20.0;
/// A turn rate is computed only for trailers with at least this distance from the coupling to the
/// axle, m.
const LEAST_DRAWBAR: f64 = 0.1;
/// All layers of roads.
const ALL_LAYERS: u32 = u32::MAX;
/// Value that means "not in the list".
const ABSENT: u32 = u32::MAX;
/// Maximum number of groups that are compared for teams. There are never more groups.
const GROUPS: usize = 256;

/// Groups of an agent, one bit each.
type Team = [u64; GROUPS / 64];

/// Data for making the list, in addition to the data that controllers perceive.
#[derive(Clone, Copy)]
pub(crate) struct ObjectSources<'a> {
    pub(crate) ground: &'a Arc<Ground>,
    pub(crate) people: &'a People,
    pub(crate) groups: &'a Arc<Groups>,
}

/// A body that is neither fixed nor part of an agent: a pushed obstacle, an uncoupled trailer or a
/// pedestrian.
#[derive(Debug, Clone, Copy)]
pub(super) struct Other {
    /// Number of the object.
    pub(super) object: u32,
    /// Road layers that the object is on.
    pub(super) layers: u32,
    /// Number of the body on the ground, if it is a pushed obstacle.
    pub(super) body: Option<u32>,
}

/// Bodies that are neither fixed nor part of an agent, with a spatial index.
#[derive(Default)]
pub(super) struct Others {
    pub(super) all: Vec<Other>,
    middles: Vec<DVec2>,
    grid: GridIndex,
    largest: f64,
}

impl Others {
    fn clear(&mut self) {
        self.all.clear();
        self.middles.clear();
        self.largest = 0.0;
    }

    fn add(&mut self, other: Other, object: &ObjectData) {
        self.all.push(other);
        self.middles.push(DVec2::new(object.x, object.y));
        self.largest = self.largest.max(radius(object));
    }

    /// Calls `visit` with each body that may reach within `reach` metres of a place.
    pub(super) fn for_each_near(&self, place: DVec2, reach: f64, mut visit: impl FnMut(Other)) {
        if self.all.is_empty() {
            return;
        }
        let reach = reach + self.largest;
        self.grid
            .for_each_within(place, reach, |number, _| visit(self.all[number as usize]));
    }
}

/// All objects of the world, with the indices that are needed to find those near an agent.
#[derive(Default)]
pub(crate) struct ObjectList {
    pub(super) all: Vec<ObjectData>,
    outlines: Vec<RwPoint>,
    /// Corners of all outlines, to which `outlines` refers.
    pub(super) corners: Vec<DVec2>,
    /// Number of trees (`trees`), number of objects up to the last fixed one (`fixed`), and number
    /// of objects up to the last one that exists in every step (`lasting`).
    pub(super) trees: usize,
    fixed: usize,
    lasting: usize,
    fixed_corners: usize,
    version: u64,
    /// Ground to which the fixed objects belong.
    ground: Option<Arc<Ground>>,
    has_trees: bool,
    /// Object number of each body of the ground.
    of_body: Vec<u32>,
    /// Driving agents by id, at the stored revision of the census.
    order: Vec<AgentIndex>,
    revision: Option<u64>,
    /// Object number of each agent's vehicle.
    of_agent: Vec<u32>,
    /// Agents of the vehicles and trailers, which follow the permanent objects in the list.
    agents: Vec<AgentIndex>,
    pub(super) others: Others,
    /// Groups of each agent; empty if there are no groups.
    teams: Vec<Team>,
}

impl ObjectList {
    /// Memory used by the list, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<ObjectData>()
            + (self.outlines.capacity() + self.corners.capacity()) * size_of::<RwPoint>()
            + (self.of_body.capacity()
                + self.of_agent.capacity()
                + self.order.capacity()
                + self.agents.capacity())
                * size_of::<u32>()
            + self.teams.capacity() * size_of::<Team>()
    }

    /// The list as a controller sees it, with or without trees.
    pub(crate) fn seen(&self, needs: &NearNeeds) -> Objects<'_> {
        let first = self.first(needs);
        Objects {
            all: &self.all[first..],
            outlines: &self.outlines,
            fixed: self.fixed - first,
            fixed_outlines: self.fixed_corners,
            // The version differs between the lists with and without trees.
            version: 2 * self.version + u64::from(needs.trees),
        }
    }

    /// Number of objects at the start of the list that a controller does not see.
    pub(super) fn first(&self, needs: &NearNeeds) -> usize {
        if needs.trees { 0 } else { self.trees }
    }

    /// Number of an agent's vehicle.
    #[inline]
    pub(super) fn vehicle(&self, agent: AgentIndex) -> u32 {
        self.of_agent[agent.index()]
    }

    /// Agent of a vehicle or trailer; `None` for other objects.
    #[inline]
    pub(super) fn agent(&self, object: u32) -> Option<AgentIndex> {
        let number = (object as usize).checked_sub(self.lasting)?;
        self.agents.get(number).copied()
    }

    /// Object number of a body of the ground; `None` if the body is not in the list.
    #[inline]
    pub(super) fn of_body(&self, body: u32) -> Option<u32> {
        let object = self.of_body[body as usize];
        (object != ABSENT).then_some(object)
    }

    /// Whether two agents have a group in common.
    #[inline]
    pub(super) fn are_team(&self, a: AgentIndex, b: AgentIndex) -> bool {
        let (Some(a), Some(b)) = (self.teams.get(a.index()), self.teams.get(b.index())) else {
            return false;
        };
        a.iter().zip(b).any(|(a, b)| a & b != 0)
    }

    /// Updates the list to the current state of the world. `trees` states whether any controller
    /// requests trees.
    pub(crate) fn renew(&mut self, view: &View<'_>, sources: ObjectSources<'_>, trees: bool) {
        let is_same = |ground: &Arc<Ground>| Arc::ptr_eq(ground, sources.ground);
        let has_trees = self.has_trees || trees;
        if !self.ground.as_ref().is_some_and(is_same) || has_trees != self.has_trees {
            self.ground = Some(sources.ground.clone());
            self.has_trees = has_trees;
            self.list_fixed(view);
        }
        self.all.truncate(self.lasting);
        self.outlines.truncate(self.fixed_corners);
        self.corners.truncate(self.fixed_corners);
        self.others.clear();
        self.move_pushed(view);
        self.list_agents(view);
        self.list_standing(view);
        self.list_people(view, sources.people);
        let others = &mut self.others;
        if !others.all.is_empty() {
            others.grid.rebuild(&others.middles, CELL);
        }
        self.note_teams(view.agents, sources.groups);
    }

    /// Lists the bodies of the ground.
    fn list_fixed(&mut self, view: &View<'_>) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.version = NEXT.fetch_add(1, Ordering::Relaxed);
        self.all.clear();
        self.outlines.clear();
        self.corners.clear();
        let obstacles = view.ground.obstacles();
        self.of_body.clear();
        self.of_body.resize(obstacles.count(), ABSENT);
        let is_tree = |upright: &Upright| matches!(upright.owner, Owner::Tree(..));
        if self.has_trees {
            obstacles.for_each_upright(|upright| {
                if is_tree(&upright) {
                    self.list_body(view, &upright);
                }
            });
        }
        self.trees = self.all.len();
        for loose in [false, true] {
            obstacles.for_each_upright(|upright| {
                if upright.is_loose == loose && !is_tree(&upright) {
                    self.list_body(view, &upright);
                }
            });
            if !loose {
                self.fixed = self.all.len();
            }
        }
        self.lasting = self.all.len();
        self.fixed_corners = self.corners.len();
    }

    fn list_body(&mut self, view: &View<'_>, body: &Upright) {
        let (kind, id, part) = match body.owner {
            Owner::Obstacle(id) => {
                let id = u64::from(id.0);
                (OBJECT_OBSTACLE, id, self.next_part(id))
            }
            Owner::Tree(forest, tree) => (OBJECT_TREE, u64::from(forest.0), tree),
        };
        let mut object = ObjectData {
            id,
            kind,
            part,
            height: body.heights.top - body.heights.base,
            ..ObjectData::default()
        };
        self.shape(&mut object, &body.shape);
        object.z = view.height(DVec2::new(object.x, object.y)) + body.heights.base;
        self.of_body[body.number as usize] = self.all.len() as u32;
        self.all.push(object);
    }

    /// Number of the next body of an obstacle. The bodies of an obstacle are listed one after the other.
    fn next_part(&self, id: u64) -> u32 {
        let last = self.all.last();
        let last = last.filter(|last| last.kind == OBJECT_OBSTACLE && last.id == id);
        last.map_or(0, |last| last.part + 1)
    }

    /// Gives an object a shape. Outlines are added to the list.
    fn shape(&mut self, object: &mut ObjectData, shape: &Shape) {
        match shape {
            Shape::Circle(circle) => {
                (object.x, object.y) = (circle.centre.x, circle.centre.y);
                (object.length, object.width) = (2.0 * circle.radius, 2.0 * circle.radius);
                object.flags |= OBJECT_IS_ROUND;
            }
            Shape::Polygon(corners) => self.outline(object, corners),
            // Bodies of the ground are discs or polygons.
            Shape::Box(_) | Shape::Teardrop(_) => {}
        }
    }

    /// Gives an object an outline. The object's box is aligned with the longest edge.
    fn outline(&mut self, object: &mut ObjectData, corners: &[DVec2]) {
        let edges = polygon::edges(corners).map(|(a, b)| b - a);
        let longest = edges.fold(DVec2::ZERO, |longest, edge| {
            match edge.length_squared() > longest.length_squared() {
                true => edge,
                false => longest,
            }
        });
        let along = longest.normalize_or(DVec2::X);
        let across = left_of(along);
        let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for corner in corners {
            let place = DVec2::new(corner.dot(along), corner.dot(across));
            (low, high) = (low.min(place), high.max(place));
        }
        let middle = 0.5 * (low + high);
        let place = middle.x * along + middle.y * across;
        (object.x, object.y) = (place.x, place.y);
        object.heading = roadwright_geometry::heading_of(along);
        (object.length, object.width) = (high.x - low.x, high.y - low.y);
        object.outline = self.corners.len() as u32;
        object.outline_count = corners.len() as u32;
        self.corners.extend(corners);
        if polygon::signed_area(corners) < 0.0 {
            self.corners[object.outline as usize..].reverse();
        }
        let added = &self.corners[object.outline as usize..];
        let point = |corner: &DVec2| RwPoint {
            x: corner.x,
            y: corner.y,
        };
        self.outlines.extend(added.iter().map(point));
    }

    /// Moves pushed obstacles to their current places, with their current velocities.
    fn move_pushed(&mut self, view: &View<'_>) {
        let rigid = &view.dynamics.rigid;
        for (number, shape) in rigid.displaced().shapes() {
            let Some(at) = self.of_body(number) else {
                continue;
            };
            let mut object = self.all[at as usize];
            object.flags &= !OBJECT_IS_ROUND;
            self.shape(&mut object, &shape);
            let middle = DVec2::new(object.x, object.y);
            object.z = view.height(middle);
            let velocity = rigid.pushed_velocity(view.ground, number, middle);
            (object.velocity_x, object.velocity_y) = (velocity.x, velocity.y);
            self.all[at as usize] = object;
            let other = Other {
                object: at,
                layers: ALL_LAYERS,
                body: Some(number),
            };
            self.others.add(other, &object);
        }
    }

    /// Lists the vehicles of all driving agents with their trailers.
    fn list_agents(&mut self, view: &View<'_>) {
        let agents = view.agents;
        if self.revision != Some(agents.revision()) {
            self.revision = Some(agents.revision());
            self.order.clear();
            self.order.extend(agents.driving());
            let id = |agent: &AgentIndex| agents.identity[agent.index()].id;
            self.order.sort_unstable_by_key(id);
        }
        self.of_agent.clear();
        self.of_agent.resize(agents.capacity(), ABSENT);
        self.agents.clear();
        for &agent in &self.order {
            // The revision of the census also changes for agents that are about to be spawned.
            if !agents.drives(agent) {
                continue;
            }
            self.of_agent[agent.index()] = self.all.len() as u32;
            list_agent(view, agent, &mut self.all);
            self.agents.resize(self.all.len() - self.lasting, agent);
        }
    }

    fn list_standing(&mut self, view: &View<'_>) {
        for train in view.dynamics.standing.iter() {
            for (at, (trailer, body)) in
                (u32::from(train.first) + 1..).zip(train.bodies(view.types))
            {
                let object = ObjectData {
                    id: train.agent,
                    kind: OBJECT_TRAILER,
                    x: body.centre.x,
                    y: body.centre.y,
                    z: view.height(body.centre),
                    heading: roadwright_geometry::heading_of(body.forward),
                    length: trailer.length,
                    width: trailer.width,
                    height: trailer.height,
                    part: at,
                    ..ObjectData::default()
                };
                let other = Other {
                    object: self.all.len() as u32,
                    layers: train.layers,
                    body: None,
                };
                self.others.add(other, &object);
                self.all.push(object);
            }
        }
    }

    fn list_people(&mut self, view: &View<'_>, people: &People) {
        if people.is_untouched() {
            return;
        }
        for person in people.records(view.ground) {
            let speed = if person.waits { 0.0 } else { WALKING_SPEED };
            let velocity = speed * unit(person.heading);
            let object = ObjectData {
                id: person.id,
                kind: OBJECT_PERSON,
                flags: OBJECT_IS_ROUND,
                x: person.position.x,
                y: person.position.y,
                z: view.height(person.position),
                heading: person.heading,
                velocity_x: velocity.x,
                velocity_y: velocity.y,
                length: VehicleType::PERSON_DIAMETER,
                width: VehicleType::PERSON_DIAMETER,
                height: VehicleType::PERSON_HEIGHT,
                ..ObjectData::default()
            };
            let other = Other {
                object: self.all.len() as u32,
                layers: ALL_LAYERS,
                body: None,
            };
            self.others.add(other, &object);
            self.all.push(object);
        }
    }

    /// Records the groups of all agents.
    fn note_teams(&mut self, agents: AgentsRef<'_>, groups: &Arc<Groups>) {
        self.teams.clear();
        if groups.is_empty() {
            return;
        }
        self.teams.resize(agents.capacity(), Team::default());
        for (number, members) in groups.values().take(GROUPS).enumerate() {
            for agent in members.iter().filter_map(|&id| agents.find(id)) {
                self.teams[agent.index()][number / 64] |= 1 << (number % 64);
            }
        }
    }
}

/// Radius of the circle around an object's box, m.
#[inline]
pub(super) fn radius(object: &ObjectData) -> f64 {
    if object.flags & OBJECT_IS_ROUND != 0 {
        return 0.5 * object.length;
    }
    0.5 * DVec2::new(object.length, object.width).length()
}

/// Adds the vehicle of an agent and its trailers.
fn list_agent(view: &View<'_>, agent: AgentIndex, all: &mut Vec<ObjectData>) {
    let who = &view.agents.identity[agent.index()];
    let (kind, motion) = (view.vehicle_type(agent), view.motion(agent));
    let pose = view.pose(agent);
    let [sideways, yaw_rate] = view.bodies().slip(agent, kind);
    let own = Rolling {
        pose,
        ahead: motion.speed,
        left: sideways,
        yaw_rate,
    };
    let middle = pose.point(kind.body_centre, 0.0);
    let velocity = own.velocity(kind.body_centre);
    let span = view.types.span(who.vehicle_type, 0);
    all.push(ObjectData {
        id: who.id,
        kind: if kind.is_disc {
            OBJECT_PERSON
        } else {
            OBJECT_VEHICLE
        },
        flags: OBJECT_IS_AGENT | if kind.is_disc { OBJECT_IS_ROUND } else { 0 },
        x: middle.x,
        y: middle.y,
        z: view.height(middle) + span.low,
        heading: pose.heading,
        velocity_x: velocity.x,
        velocity_y: velocity.y,
        length: kind.length,
        width: kind.width,
        height: span.high - span.low,
        ..ObjectData::default()
    });
    if kind.tows {
        list_trailers(view, agent, own, all);
    }
}

/// Adds the trailers of an agent. `own` is the motion of its vehicle.
fn list_trailers(view: &View<'_>, agent: AgentIndex, own: Rolling, all: &mut Vec<ObjectData>) {
    let who = &view.agents.identity[agent.index()];
    let train = view.types.train(who.vehicle_type);
    let states = view.dynamics.trailers.of(agent).unwrap_or_default();
    let mut ahead = own;
    for (part, trailer) in (1u8..).zip(train.trailers()) {
        // Trailers that have not moved yet are in line behind their vehicle.
        let state = states.get(usize::from(part) - 1);
        ahead = ahead.towing(trailer, state);
        let middle = ahead.pose.point(trailer.middle(), 0.0);
        let velocity = ahead.velocity(trailer.middle());
        let span = view.types.span(who.vehicle_type, part);
        all.push(ObjectData {
            id: who.id,
            kind: OBJECT_TRAILER,
            flags: OBJECT_IS_AGENT,
            x: middle.x,
            y: middle.y,
            z: view.height(middle) + span.low,
            heading: ahead.pose.heading,
            velocity_x: velocity.x,
            velocity_y: velocity.y,
            length: trailer.length,
            width: trailer.width,
            height: span.high - span.low,
            part: u32::from(part),
            ..ObjectData::default()
        });
    }
}

/// Motion of a body at a reference point on its axis: the rear axle of a vehicle, or the coupling
/// of a trailer.
#[derive(Clone, Copy)]
struct Rolling {
    pose: Pose,
    /// Speed along the heading, m/s. `left` is the speed to the left.
    ahead: f64,
    left: f64,
    /// Yaw rate, rad/s.
    yaw_rate: f64,
}

impl Rolling {
    /// Velocity of the point `along` metres ahead, m/s.
    fn velocity(&self, along: f64) -> DVec2 {
        let forward = self.pose.forward();
        self.ahead * forward + (self.left + self.yaw_rate * along) * left_of(forward)
    }

    /// Returns the motion of a trailer that this body tows, at the coupling of the trailer. The
    /// axle of the trailer rolls without slip.
    fn towing(&self, trailer: &Hitched, state: Option<&TrailerState>) -> Self {
        let pose = Pose {
            position: self.pose.point(trailer.coupling, 0.0),
            heading: state.map_or(self.pose.heading, |state| state.heading),
        };
        let velocity = self.velocity(trailer.coupling);
        let forward = pose.forward();
        let left = velocity.dot(left_of(forward));
        Self {
            pose,
            ahead: velocity.dot(forward),
            left,
            yaw_rate: left / trailer.to_axle.max(LEAST_DRAWBAR),
        }
    }
}
