//! Lists of nearby bodies that could touch each other or obstacles. They are updated only when
//! bodies have moved far enough.
//!
//! In a hundredth of a second, a vehicle moves a few centimetres, and most vehicles have metres of
//! room around them. Therefore pairs of nearby bodies are listed with the distance between them,
//! and are not compared again until the sum of their movements exceeds this distance. The list is
//! valid until any body has moved by half of [`MARGIN`]. Molecular dynamics also uses such lists
//! ([Verlet 1967]). Obstacles do not move, so only the movement of the vehicle counts.
//!
//! ```text
//!         .---.               .---.      Circles around A and B are 3 m apart. Since then A has moved by
//!        (  A  )-----3 m-----(  B  )     1.2 m and B by 1.5 m, so they cannot touch yet. Once the sum
//!         '---'               '---'      reaches 3 m, their boxes are compared in each step.
//! ```
//!
//! This only reduces the running time, because all bodies that could touch are still compared.

use super::lane_room::LaneRoom;
use super::{Index, find};
use crate::dynamics::Bodies;
use crate::modules::SLICE;
use crate::records::{AgentIndex, Identity, keeps_to_lanes};
use crate::vehicle_type::{VehicleType, VehicleTypes};
use glam::DVec2;
use rayon::prelude::*;
use roadwright_geometry::heading_of;
use roadwright_geometry::math::wrap_angle;

/// Maximum gap between the bounding circles of two neighbours, m.
const MARGIN: f64 = 8.0;
/// Upper limit of stored distances to obstacles, m. Larger distances are stored as this value.
const OBSTACLE_MARGIN: f64 = 1.0;
/// Minimum movement that is added up, m. Shorter movements could be lost to rounding, so they are
/// accumulated over several steps first.
const LEAST_MOVE: f64 = 1e-3;
/// Safety margin on distances, m. It covers movements that have not been added up yet, and rounding to single
/// precision.
const SLACK: f64 = 0.01;

/// Borrowed data about the bodies and their surroundings.
#[derive(Clone, Copy)]
pub(crate) struct Shapes<'a> {
    pub(crate) bodies: Bodies<'a>,
    pub(crate) types: &'a VehicleTypes,
    /// Whether bodies that follow their lanes are also compared with each other.
    pub(crate) verify: bool,
}

/// A body, with the distance that it has moved since neighbours were listed.
#[derive(Debug, Clone, Copy)]
struct Followed {
    /// Position of the vehicle's rear axle, or of the trailer's centre, when its movement was last
    /// added up.
    place: DVec2,
    heading: f32,
    /// Upper bound on the distance that any point of the body has moved since neighbours were listed, m.
    moved: f32,
    /// Distance that the body may move before it can touch an obstacle, m.
    free_to: f32,
    agent: AgentIndex,
    /// Index of the body's first pair.
    first: u32,
    vehicle_type: u16,
    /// Number of the body within its agent: 0 for the vehicle, 1 for its first trailer.
    part: u8,
    state: State,
}

/// State of a followed body. It determines which bodies the body is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The body is driving and is compared with all other bodies.
    Free,
    /// The body is driving, and is compared with all bodies except others in the state
    /// `KeepsOrder`.
    KeepsOrder,
    /// The agent of the body has been removed.
    Gone,
}

/// A pair of nearby bodies. It is stored with the body that has the lower number.
#[derive(Debug, Clone, Copy)]
struct Pair {
    other: u32,
    /// Total distance that both bodies have to move before they can touch, m; negative if their
    /// circles overlap.
    room: f32,
}

/// The bodies that are compared, and their neighbours.
#[derive(Default)]
pub(crate) struct Neighbours {
    bodies: Vec<Followed>,
    pairs: Vec<Pair>,
    /// Maximum gap between bodies that are listed as a pair, m.
    margin: f32,
}

impl Shapes<'_> {
    fn state(&self, who: &Identity) -> State {
        if !who.drives() {
            State::Gone
        } else if keeps_order(who, self.verify) {
            State::KeepsOrder
        } else {
            State::Free
        }
    }

    /// Position and heading of a body, and an upper bound on the distance of its farthest point from that
    /// position, m.
    #[inline]
    fn find(&self, agent: AgentIndex, part: u8) -> (DVec2, f64, f64) {
        match part {
            0 => {
                let pose = self.bodies.pose(agent);
                let kind = self.bodies.agents.identity[agent.index()].vehicle_type;
                (pose.position, pose.heading, reach(self.types.get(kind)))
            }
            _ => {
                let body = self.bodies.body(agent, part, self.types);
                (body.centre, heading_of(body.forward), body.radius())
            }
        }
    }

    /// Lower bound on the distance that a body may move without touching an obstacle, m, capped at `most`.
    fn room_to_obstacles(&self, body: &Followed, most: f64) -> f64 {
        if most == 0.0 {
            return 0.0;
        }
        let on_lane = match body.part {
            0 => self.room_on_lane(body.agent),
            _ => 0.0,
        };
        if on_lane > SLACK {
            return on_lane;
        }
        let covered = self.bodies.body(body.agent, body.part, self.types);
        self.bodies.ground.obstacles().room_around(&covered, most)
    }

    /// Like `room_to_obstacles`, but only for vehicles, and computed from the data of the lane. 0
    /// or less if unknown.
    fn room_on_lane(&self, agent: AgentIndex) -> f64 {
        let Bodies { ground, agents, .. } = self.bodies;
        let vehicle_type = agents.identity[agent.index()].vehicle_type;
        let room = LaneRoom {
            ground,
            heading: self.bodies.pose(agent).heading,
            vehicle_type: self.types.get(vehicle_type),
        };
        room.of(&agents.position[agent.index()])
    }
}

/// Whether the order along the lanes is used to find contacts between an agent and other
/// lane-following agents.
pub(super) fn keeps_order(who: &Identity, verify: bool) -> bool {
    keeps_to_lanes(who.level) && !verify
}

/// Upper bound on the distance between a vehicle's points and the centre of its rear axle, m.
fn reach(kind: &VehicleType) -> f64 {
    kind.body_centre.abs() + kind.radius
}

impl Neighbours {
    /// Updates all bodies to their positions at the end of a step. The index must be up to date.
    pub(crate) fn follow(
        &mut self,
        shapes: Shapes<'_>,
        index: &mut Index,
        helpers: Option<&rayon::ThreadPool>,
    ) {
        // If a vehicle is off the lanes, the grid is rebuilt in each step anyway, so the list needs
        // no margin.
        if index.any_off_lane || !self.holds_still(shapes, index.driving, helpers) {
            self.list(shapes, index, helpers);
        }
        self.look_for_obstacles(shapes, helpers);
    }

    /// Clears all lists. Called when vehicle types or obstacles may have changed.
    pub(crate) fn forget(&mut self) {
        self.bodies.clear();
        self.pairs.clear();
    }

    /// Number of bodies.
    pub(crate) fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Returns the agent of a body, and the number of the body within its agent; `None` if the
    /// agent has left.
    pub(crate) fn body(&self, number: usize) -> Option<(AgentIndex, u8)> {
        let body = &self.bodies[number];
        (body.state != State::Gone).then_some((body.agent, body.part))
    }

    /// Whether a body has moved far enough to touch an obstacle.
    pub(crate) fn may_touch_obstacles(&self, number: usize) -> bool {
        let body = &self.bodies[number];
        body.moved >= body.free_to
    }

    /// The bodies with larger numbers that a body may touch now.
    #[inline]
    pub(crate) fn may_touch(&self, number: usize) -> impl Iterator<Item = usize> + '_ {
        let body = &self.bodies[number];
        let end = self.bodies.get(number + 1).map(|next| next.first as usize);
        let pairs = &self.pairs[body.first as usize..end.unwrap_or(self.pairs.len())];
        let near = pairs
            .iter()
            .filter(|pair| body.moved + self.bodies[pair.other as usize].moved >= pair.room);
        near.map(|pair| pair.other as usize)
    }

    /// Memory used for all bodies, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.bodies[..]) + size_of_val(&self.pairs[..])
    }

    /// Adds up the distances that bodies have moved. Returns whether the list is still valid, which
    /// it is if no body has been added, removed or changed, and none has moved by half the margin.
    fn holds_still(
        &mut self,
        shapes: Shapes<'_>,
        driving: usize,
        helpers: Option<&rayon::ThreadPool>,
    ) -> bool {
        let margin = self.margin;
        let holds = |body: &mut Followed| {
            if body.state == State::Gone {
                return true;
            }
            let who = &shapes.bodies.agents.identity[body.agent.index()];
            let state = shapes.state(who);
            if state == State::Gone {
                body.state = state;
                return true;
            }
            if state != body.state || who.vehicle_type != body.vehicle_type {
                return false;
            }
            let (place, heading, lever) = shapes.find(body.agent, body.part);
            body.go_to(place, heading, lever);
            // Also `false` if the distance is NaN.
            2.0 * body.moved <= margin
        };
        let is_vehicle = |body: &&Followed| body.part == 0 && body.state != State::Gone;
        all(&mut self.bodies, helpers, holds)
            && self.bodies.iter().filter(is_vehicle).count() == driving
    }

    /// Lists all bodies with their neighbours.
    fn list(&mut self, shapes: Shapes<'_>, index: &mut Index, helpers: Option<&rayon::ThreadPool>) {
        index.locate(&shapes.bodies, shapes.types);
        self.list_located(shapes, index, helpers);
        if !index.any_off_lane {
            // In most steps, nothing else needs the grid.
            index.forget_places();
        }
    }

    fn list_located(
        &mut self,
        shapes: Shapes<'_>,
        index: &Index,
        helpers: Option<&rayon::ThreadPool>,
    ) {
        let margin = if index.any_off_lane { 0.0 } else { MARGIN };
        self.margin = margin as f32;
        self.bodies.clear();
        let agents = shapes.bodies.agents;
        self.bodies.extend(index.bodies().map(|(agent, part)| {
            let who = &agents.identity[agent.index()];
            let (place, heading, _) = shapes.find(agent, part);
            Followed {
                place,
                heading: heading as f32,
                moved: 0.0,
                free_to: 0.0,
                agent,
                first: 0,
                vehicle_type: who.vehicle_type,
                part,
                state: shapes.state(who),
            }
        }));
        let bodies = &self.bodies[..];
        let mut found = Vec::new();
        find(helpers, bodies.len(), &mut found, |number, found| {
            add_pairs(number, bodies, shapes, index, margin, found);
        });
        // Counts are stored first, and then replaced by their running sums.
        for (own, _) in &found {
            self.bodies[*own as usize].first += 1;
        }
        let mut first = 0;
        for body in &mut self.bodies {
            (body.first, first) = (first, first + body.first);
        }
        self.pairs.clear();
        self.pairs.extend(found.into_iter().map(|(_, pair)| pair));
    }

    /// Recomputes the distance to obstacles for bodies that have moved by this distance.
    fn look_for_obstacles(&mut self, shapes: Shapes<'_>, helpers: Option<&rayon::ThreadPool>) {
        let obstacles = shapes.bodies.ground.obstacles();
        let displaced = shapes.bodies.dynamics.rigid.displaced();
        if obstacles.is_empty() || !displaced.is_empty() {
            // If obstacles can move, they are examined in each step.
            self.bodies.iter_mut().for_each(|body| body.free_to = 0.0);
            return;
        }
        let margin = OBSTACLE_MARGIN.min(f64::from(self.margin));
        all(&mut self.bodies, helpers, |body| {
            if body.state == State::Free && body.moved >= body.free_to {
                let room = shapes.room_to_obstacles(body, margin);
                body.free_to = body.moved + (room - SLACK).max(0.0) as f32;
            }
            true
        });
    }
}

/// Calls `visit` for all bodies, distributed over the threads of `helpers`, until a call returns `false`.
/// Returns whether all calls returned `true`.
fn all(
    bodies: &mut [Followed],
    helpers: Option<&rayon::ThreadPool>,
    visit: impl Fn(&mut Followed) -> bool + Sync + Send,
) -> bool {
    match helpers {
        None => bodies.iter_mut().all(visit),
        Some(helpers) => helpers.install(|| {
            let slices = bodies.par_chunks_mut(SLICE);
            slices.all(|slice| slice.iter_mut().all(&visit))
        }),
    }
}

impl Followed {
    /// Moves the body to a place, and adds the movement to the distance moved so far. `lever`
    /// converts a rotation to a distance, m.
    #[inline]
    fn go_to(&mut self, place: DVec2, heading: f64, lever: f64) {
        let turned = wrap_angle(heading - f64::from(self.heading)).abs();
        let distance = (place - self.place).length() + lever * turned;
        if distance < LEAST_MOVE {
            return;
        }
        self.moved += distance as f32;
        (self.place, self.heading) = (place, heading as f32);
    }
}

/// Adds the pairs of a body with the neighbours that have larger numbers. Each pair is stored with
/// the number of the body.
fn add_pairs(
    number: usize,
    bodies: &[Followed],
    shapes: Shapes<'_>,
    index: &Index,
    margin: f64,
    pairs: &mut Vec<(u32, Pair)>,
) {
    let own = &bodies[number];
    let middle = index.middles[number];
    let radius_of = |number: usize| index.radius(number, &shapes.bodies, shapes.types);
    let radius = radius_of(number);
    // Slightly larger, to allow for movements that have not been added up yet.
    let margin = margin + SLACK;
    index.for_each_near(middle, radius + index.largest + margin, |other, place| {
        let other_number = other as usize;
        // The grid yields each pair twice.
        if other_number <= number {
            return;
        }
        let theirs = &bodies[other_number];
        // A vehicle does not collide with its own trailers.
        let is_own = theirs.agent == own.agent;
        let keep_order = own.state == State::KeepsOrder && theirs.state == State::KeepsOrder;
        if is_own || keep_order {
            return;
        }
        let room = (place - middle).length() - radius - radius_of(other_number);
        if room <= margin {
            let room = (room - SLACK) as f32;
            pairs.push((number as u32, Pair { other, room }));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Stand, draw_street, put_post, street};
    use crate::traffic::{Contact, Search};
    use roadwright_geometry::math::Stream;
    use roadwright_geometry::oriented_box::OrientedBox;
    use roadwright_geometry::unit;
    use roadwright_ground::{Displaced, Ground};
    use roadwright_scenario::LaneletIndex;
    use roadwright_scenario::{Scenario, Shape, VerticalSpan};
    use std::collections::BTreeSet;

    /// Creates two crossing streets with posts and boxes on and beside them, and a third street
    /// with posts along it.
    fn surroundings() -> Scenario {
        let mut scenario = Scenario::new("posts");
        for (from, to) in [((-60.0, 0.0), (60.0, 0.0)), ((0.0, -60.0), (0.0, 60.0))] {
            draw_street(&mut scenario, from, to, &street(1, 1));
        }
        // Vehicles that stay in their lanes cannot reach the posts along this street.
        draw_street(&mut scenario, (-60.0, -90.0), (60.0, -90.0), &street(1, 1));
        for number in 0..32 {
            let (x, side) = (7.0 * f64::from(number / 2) - 55.0, f64::from(number % 2));
            let (y, radius) = (9.2 * side - 94.6, 0.4);
            put_post(
                &mut scenario,
                Shape::Circle {
                    x: x.into(),
                    y: y.into(),
                    radius: radius.into(),
                },
            );
        }
        let mut stream = Stream::new(5, "posts", 0);
        for number in 0..60 {
            let (x, y) = (stream.next_in(-60.0, 60.0), stream.next_in(-60.0, 60.0));
            let (radius, heading) = (0.4, stream.next_in(-3.0, 3.0));
            put_post(
                &mut scenario,
                match number % 2 == 0 {
                    true => Shape::Circle {
                        x: x.into(),
                        y: y.into(),
                        radius: radius.into(),
                    },
                    false => Shape::Box {
                        x: x.into(),
                        y: y.into(),
                        heading: heading.into(),
                        length: 3.0.into(),
                        width: 1.0.into(),
                    },
                },
            );
        }
        scenario
    }

    /// Pairs of ids that touch; 0 means an obstacle.
    type Touching = BTreeSet<(u64, u64)>;

    /// Whether a body touches any obstacle.
    fn touches_any(ground: &Ground, body: &OrientedBox) -> bool {
        let any_height = VerticalSpan {
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        };
        let (displaced, mut touches) = (Displaced::default(), false);
        ground.obstacles().for_each_contact(
            body.centre,
            body.radius(),
            &displaced,
            any_height,
            || *body,
            |_, _| touches = true,
        );
        touches
    }

    fn compared_with_all(stand: &Stand) -> Touching {
        let bodies = stand.view().bodies();
        let driving: Vec<AgentIndex> = stand.agents.census().driving().collect();
        let (mut touching, id) = (Touching::new(), |a: AgentIndex| {
            stand.agents.identity[a.index()].id
        });
        for &a in &driving {
            let body = bodies.body(a, 0, &stand.types);
            if touches_any(&stand.ground, &body) {
                touching.insert((0, id(a)));
            }
            for &b in driving.iter().filter(|&&b| id(b) > id(a)) {
                let other = bodies.body(b, 0, &stand.types);
                if body.penetration(&other) > 0.0 {
                    touching.insert((id(a), id(b)));
                }
            }
        }
        touching
    }

    fn found(stand: &Stand, neighbours: &Neighbours) -> Touching {
        let search = Search {
            bodies: stand.view().bodies(),
            types: &stand.types,
            routes: &stand.routes,
            index: &stand.index,
            neighbours,
            verify: false,
        };
        let mut contacts: Vec<Contact> = Vec::new();
        (0..neighbours.len()).for_each(|number| search.contacts(number, &mut contacts));
        let id = |agent: AgentIndex| stand.agents.identity[agent.index()].id;
        let pair = |contact: &Contact| {
            let other = contact.other.map_or(0, id);
            (id(contact.agent).min(other), id(contact.agent).max(other))
        };
        contacts.iter().map(pair).collect()
    }

    /// Moves all vehicles by one step, some along their lanes and others anywhere.
    fn move_all(stand: &mut Stand, stream: &mut Stream, dt: f64) {
        for agent in stand.agents.census().by_growing_id() {
            let index = agent.index();
            let id = stand.agents.identity[index].id;
            let motion = &mut stand.agents.motion[index];
            let place = motion.pose.point(motion.speed * dt, 0.0);
            // A third of the vehicles stay close to their lanes, so that the stored space beside
            // lanes is used.
            let wild = if id.is_multiple_of(3) { 0.02 } else { 1.5 };
            motion.pose.heading += wild * stream.next_in(-1.0, 1.0) * dt;
            motion.pose.position = place;
            let position = &mut stand.agents.position[index];
            let line = stand.ground.line(position.lanelet);
            (position.s, position.t) = line.project(place, position.s.clamp(0.0, line.length()));
        }
    }

    #[test]
    fn whoever_touches_is_found_while_some_come_leave_and_jump() {
        let scenario = surroundings();
        let mut stand = Stand::crossing();
        stand.ground = Ground::new(&scenario);
        stand.index = Index::new(stand.ground.graph().lanelets().len());
        let lanes = stand.ground.graph().indices();
        let has_room =
            |&lanelet: &LaneletIndex| stand.ground.lane_obstacles().room_aside(lanelet, true) > 0.0;
        let free: Vec<LaneletIndex> = lanes.clone().filter(has_room).collect();
        let kinds = scenario.vehicle_types().len() as u64;
        let (mut stream, mut neighbours) = (Stream::new(3, "moves", 0), Neighbours::default());
        let (mut ids, mut with_others, mut with_obstacles, mut lists, mut changes) =
            (1.., 0, 0, 0, 0);
        let mut before = Touching::new();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
        let pool = pool.expect("two threads");
        for step in 0..1500 {
            stand.agents.release();
            stand.agents.note_told();
            if stand.agents.census().count() < 16 || step % 97 == 0 {
                // Half of the vehicles are placed where the space beside the lane is stored.
                let any = stream.next_u64();
                let lane = match step % 2 {
                    0 => free[(any % free.len() as u64) as usize],
                    _ => LaneletIndex::from_index((any % lanes.len() as u64) as usize),
                };
                let length = stand.ground.length(lane);
                let (s, speed) = (stream.next_in(0.0, length), stream.next_in(0.0, 14.0));
                let id = ids.next().expect("ids do not end");
                let agent = stand.car(id, &[lane], s, speed);
                // Buses are included, because their rears extend before the start of a lanelet.
                stand.agents.identity[agent.index()].vehicle_type = (id % kinds) as u16;
                stand.agents.motion[agent.index()].pose.heading += stream.next_in(-0.6, 0.6);
            }
            let all = stand.agents.census().by_growing_id();
            if step % 41 == 0 {
                let agent = all[(stream.next_u64() % all.len() as u64) as usize];
                stand.agents.remove(agent);
                stand.dynamics.remove(agent);
            }
            if step % 53 == 0 {
                let pose = &mut stand.agents.motion[all[0].index()].pose;
                pose.position += DVec2::new(stream.next_in(-20.0, 20.0), 3.0);
            }
            move_all(&mut stand, &mut stream, 0.01);
            stand.look();
            let bodies = Bodies {
                ground: &stand.ground,
                agents: stand.agents.lent(),
                dynamics: &stand.dynamics,
            };
            let shapes = Shapes {
                bodies,
                types: &stand.types,
                verify: false,
            };
            // Alternately with and without helper threads.
            let helpers = (step % 5 < 2).then_some(&pool);
            neighbours.follow(shapes, &mut stand.index, helpers);
            lists += u32::from(neighbours.bodies.iter().all(|body| body.moved == 0.0));
            let expected = compared_with_all(&stand);
            assert_eq!(found(&stand, &neighbours), expected, "step {step}");
            with_obstacles += expected.iter().filter(|pair| pair.0 == 0).count();
            with_others += expected.iter().filter(|pair| pair.0 != 0).count();
            changes += usize::from(before != expected);
            before = expected;
        }
        assert!(
            with_others > 500 && with_obstacles > 500 && changes > 50,
            "{with_others} {with_obstacles} {changes}"
        );
        assert!((10..500).contains(&lists), "listed {lists} times");
    }

    #[test]
    fn who_has_room_beside_a_bend_touches_nothing() {
        let mut scenario = Scenario::new("bends");
        for (from, to) in [((-60.0, 0.0), (60.0, 0.0)), ((0.0, -60.0), (0.0, 60.0))] {
            draw_street(&mut scenario, from, to, &street(1, 1));
        }
        // The posts are as close to connections as they can be while the space beside the lanes is
        // still known.
        let bare = Ground::new(&scenario);
        let of_lanelet = |id: LaneletIndex| bare.graph().lanelet(id);
        let lanes = bare.graph().indices();
        for id in lanes.clone().filter(|&id| of_lanelet(id).is_connection()) {
            for (along, left) in [(0.2, -2.8), (0.5, -2.8), (0.5, 2.8), (0.8, 2.8)] {
                let place = bare.line(id).pose(along * bare.length(id)).point(0.0, left);
                let is_aside = |id: LaneletIndex| {
                    let mut points = bare.line(id).points();
                    points.all(|point| (point - place).length() > 2.76)
                };
                if lanes.clone().all(is_aside) {
                    let DVec2 { x, y } = place;
                    put_post(
                        &mut scenario,
                        Shape::Circle {
                            x: x.into(),
                            y: y.into(),
                            radius: 0.2.into(),
                        },
                    );
                }
            }
        }
        let mut stand = Stand::crossing();
        stand.ground = Ground::new(&scenario);
        stand.index = Index::new(lanes.len());
        let mut stream = Stream::new(8, "bends", 0);
        let agent = stand.car(1, &[LaneletIndex::new(0)], 0.0, 0.0);
        let (mut free, mut in_bends, mut near) = (0, 0, 0);
        for _ in 0..40_000 {
            let lanelet =
                LaneletIndex::from_index((stream.next_u64() % lanes.len() as u64) as usize);
            let s = stream.next_in(-1.0, stand.ground.length(lanelet) + 1.0);
            let t = stream.next_in(-0.8, 0.8);
            let mut pose = stand.ground.line(lanelet).pose(s);
            pose.position = pose.point(0.0, t);
            pose.heading += stream.next_in(-0.2, 0.2);
            let index = agent.index();
            stand.agents.identity[index].vehicle_type = (stream.next_u64() % 2) as u16;
            stand.agents.motion[index].pose = pose;
            let position = &mut stand.agents.position[index];
            (position.lanelet, position.s, position.t) = (lanelet, s, t);
            let shapes = Shapes {
                bodies: stand.view().bodies(),
                types: &stand.types,
                verify: false,
            };
            let room = shapes.room_on_lane(agent);
            let body = shapes.bodies.body(agent, 0, &stand.types);
            let away = 0.999 * room.max(0.0) * unit(stream.next_in(-3.1, 3.1));
            let moved = OrientedBox {
                centre: body.centre + away,
                ..body
            };
            let is_touched = touches_any(&stand.ground, &moved);
            assert!(room <= 0.0 || !is_touched, "{lanelet} at {s} m");
            free += usize::from(room > 0.0);
            in_bends += usize::from(room > 0.0 && of_lanelet(lanelet).is_connection());
            near += usize::from(is_touched);
        }
        assert!(
            free > 5000 && in_bends > 200 && near > 200,
            "{free} {in_bends} {near}"
        );
    }
}
