//! Nearby objects of an agent, for controllers that request them.
//!
//! Candidates come from the spatial indices of bodies. The nearest ones within the radius are kept
//! in the row, in order, and only these are described.

use super::View;
use super::objects::{ObjectList, radius};
use crate::records::AgentIndex;
use crate::route::{GroundPath, Route};
use crate::traffic::{Claims, Next, Setting};
use glam::DVec2;
use roadwright_agent::NearNeeds;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{Pose, left_of};
use roadwright_plugin_api::{
    LANE_UNKNOWN, NEAR_HAS_PRIORITY, NEAR_LEADER, NEAR_SAME_TEAM, NOTHING, NearData, NeedsInput,
    OBJECT_IS_ROUND, OBJECT_VEHICLE, ObjectData,
};
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// Maximum number of lanelets of the agent's route onto which objects are projected.
const MOST_LANELETS: usize = 16;
/// Maximum number of lanes to either side of the agent's lane that are compared with it.
const MOST_LANES: i32 = 4;

/// Objects of the world, with the state of junctions.
#[derive(Clone, Copy)]
pub(crate) struct ObjectScene<'a> {
    pub(crate) list: &'a ObjectList,
    pub(crate) claims: &'a Claims,
    pub(crate) setting: Setting<'a>,
}

/// Nearest objects found so far, stored directly in the row.
struct Nearest<'a> {
    list: &'a ObjectList,
    own: OrientedBox,
    /// Radius of the circle around the agent's box, m.
    reach: f64,
    radius: f64,
    kept: &'a mut [NearData],
    count: usize,
    /// Whether further objects within the radius have been dropped.
    is_more: bool,
}

impl Nearest<'_> {
    /// Considers an object, and keeps it if it is among the nearest.
    fn offer(&mut self, number: u32) {
        let object = &self.list.all[number as usize];
        let middle = DVec2::new(object.x, object.y);
        let least = (middle - self.own.centre).length() - self.reach - radius(object);
        // An object that would be dropped only matters for `is_more`.
        let is_far = || self.is_more && least > self.kept[self.count - 1].distance;
        if least > self.radius || self.count == self.kept.len() && is_far() {
            return;
        }
        let distance = self.distance(object, middle);
        if distance > self.radius {
            return;
        }
        if self.count == self.kept.len() {
            self.is_more = true;
            if !self.is_before(distance, number, &self.kept[self.count - 1]) {
                return;
            }
            self.count -= 1;
        }
        let mut at = self.count;
        while at > 0 && self.is_before(distance, number, &self.kept[at - 1]) {
            self.kept[at] = self.kept[at - 1];
            at -= 1;
        }
        self.kept[at] = NearData {
            distance,
            object: number,
            ..NearData::default()
        };
        self.count += 1;
    }

    /// Whether an object comes before a kept one: by distance, then by id, then by its place in the
    /// list.
    fn is_before(&self, distance: f64, number: u32, kept: &NearData) -> bool {
        let id = |number: u32| self.list.all[number as usize].id;
        let order = distance.total_cmp(&kept.distance);
        let order = order.then_with(|| id(number).cmp(&id(kept.object)));
        order.then(number.cmp(&kept.object)).is_lt()
    }

    fn distance(&self, object: &ObjectData, middle: DVec2) -> f64 {
        if object.flags & OBJECT_IS_ROUND != 0 {
            return self.own.distance_to_circle(middle, 0.5 * object.length);
        }
        if object.outline_count > 0 {
            let first = object.outline as usize;
            let corners = &self.list.corners[first..first + object.outline_count as usize];
            return self.own.distance_to_polygon(corners);
        }
        let pose = Pose {
            position: middle,
            heading: object.heading,
        };
        let body = OrientedBox::new(pose, object.length, object.width);
        self.own.distance(&body)
    }
}

/// A lanelet of the agent's route that represents its road: the first lanelet that the agent uses
/// on a road ahead, or the last one on a road behind.
#[derive(Debug, Clone, Copy)]
struct Span {
    lanelet: LaneletIndex,
    /// Distance from the rear axle to the start of the lanelet along the route, m.
    begin: f64,
    length: f64,
}

/// The agent's path, onto which objects are projected.
#[expect(
    clippy::large_enum_variant,
    reason = "it is on the stack while one row is filled, and a box would allocate for each row"
)]
enum OwnPath<'a> {
    Lanes {
        spans: [Span; MOST_LANELETS],
        count: usize,
    },
    /// A path over open ground, and the agent's position on it, m.
    Ground {
        path: &'a GroundPath,
        s: f64,
    },
    /// A straight line to a place.
    Straight {
        from: DVec2,
        along: DVec2,
    },
    None,
}

impl View<'_> {
    /// Fills in the objects around an agent. Returns the fields of the agent's row that refer to
    /// them.
    pub(crate) fn near(
        &self,
        agent: AgentIndex,
        needs: &NearNeeds,
        scene: ObjectScene<'_>,
        near: &mut [NearData],
    ) -> NeedsInput {
        let mut input = NeedsInput::default();
        self.fill_near(agent, needs, scene, &mut input, near);
        input
    }

    /// Fills in the objects around an agent, and the fields of its row that refer to them. Returns the number of
    /// objects.
    pub(super) fn fill_near(
        &self,
        agent: AgentIndex,
        needs: &NearNeeds,
        scene: ObjectScene<'_>,
        input: &mut NeedsInput,
        near: &mut [NearData],
    ) -> usize {
        let first = scene.list.first(needs) as u32;
        let own = scene.list.vehicle(agent);
        input.object = own - first;
        let pose = self.pose(agent);
        let body = self.vehicle_type(agent).covered(pose);
        let mut nearest = Nearest {
            list: scene.list,
            own: body,
            reach: body.radius(),
            radius: needs.radius,
            kept: near,
            count: 0,
            is_more: false,
        };
        self.find_near(agent, needs, &mut nearest);
        let count = nearest.count;
        input.near_more = u32::from(nearest.is_more);
        input.near_count = count as u32;
        let [sideways, _] = self.bodies().slip(agent, self.vehicle_type(agent));
        let describing = Describing {
            view: self,
            agent,
            pose,
            path: self.own_path(agent, needs.radius),
            leader: self.leader(agent).map(|leader| scene.list.vehicle(leader)),
            next: Next::of(agent, &scene.setting, self.agents),
            velocity: DVec2::new(self.motion(agent).speed, sideways),
            scene,
        };
        for one in &mut near[..count] {
            describing.describe(one);
            one.object -= first;
        }
        count
    }

    /// Offers all objects that may be within the radius.
    fn find_near(&self, agent: AgentIndex, needs: &NearNeeds, nearest: &mut Nearest<'_>) {
        let list = nearest.list;
        let (place, reach) = (nearest.own.centre, needs.radius + nearest.reach);
        let layers = self.ground.layers(self.position(agent).lanelet);
        let most = reach + self.index.largest;
        self.index.for_each_near(place, most, |number, _| {
            let (other, part) = self.index.body(number);
            let theirs = self.ground.layers(self.position(other).lanelet);
            if other != agent && theirs & layers != 0 {
                nearest.offer(list.vehicle(other) + u32::from(part));
            }
        });
        let (obstacles, span) = (self.ground.obstacles(), self.whole_span(agent));
        list.others.for_each_near(place, reach, |other| {
            let is_met = |body| obstacles.is_met(body, span);
            if other.layers & layers != 0 && other.body.is_none_or(is_met) {
                nearest.offer(other.object);
            }
        });
        if obstacles.is_empty() {
            return;
        }
        let displaced = self.dynamics.rigid.displaced();
        obstacles.for_each_near(place, reach, |body| {
            let Some(object) = list.of_body(body) else {
                return;
            };
            let is_hidden = !needs.trees && (object as usize) < list.trees;
            if !is_hidden && obstacles.is_met(body, span) && !displaced.has(body) {
                nearest.offer(object);
            }
        });
    }

    /// The agent's path within a radius, m.
    fn own_path(&self, agent: AgentIndex, radius: f64) -> OwnPath<'_> {
        let (position, progress) = (self.position(agent), self.progress(agent));
        let route = self.route(agent);
        if position.is_on_lane() {
            return self.own_lanes(route, progress.at, position.s, radius);
        }
        if let Some(path) = route.path_to(progress.reached) {
            return OwnPath::Ground {
                path,
                s: position.s,
            };
        }
        let Some(goal) = route.next_goal(progress.reached) else {
            return OwnPath::None;
        };
        let from = self.pose(agent).position;
        let way = goal.position(self.ground.graph()) - from;
        match way.try_normalize() {
            Some(along) => OwnPath::Straight { from, along },
            None => OwnPath::None,
        }
    }

    fn own_lanes(&self, route: &Route, at: u32, s: f64, radius: f64) -> OwnPath<'_> {
        let none = Span {
            lanelet: NO_LANELET,
            begin: 0.0,
            length: 0.0,
        };
        let (mut spans, mut count) = ([none; MOST_LANELETS], 0);
        // For each road ahead, the lanelet on which the agent enters the road is used.
        let (mut index, mut begin) = (at, -s);
        while let Some(lanelet) = route.lanelet(index) {
            let length = self.ground.length(lanelet);
            spans[count] = Span {
                lanelet,
                begin,
                length,
            };
            count += 1;
            begin += length;
            index += 1 + route.lane_changes_on(index, self.ground);
            if begin > radius || count == MOST_LANELETS - 4 {
                break;
            }
        }
        // For each road behind, the last lanelet is used.
        let (mut index, mut begin) = (at, -s);
        while begin > -radius && count < MOST_LANELETS {
            while index > 0 && route.changes_lane_at(index - 1, self.ground) {
                index -= 1;
            }
            let before = index
                .checked_sub(1)
                .and_then(|before| route.lanelet(before));
            let Some(lanelet) = before else { break };
            let length = self.ground.length(lanelet);
            begin -= length;
            spans[count] = Span {
                lanelet,
                begin,
                length,
            };
            count += 1;
            index -= 1;
        }
        OwnPath::Lanes { spans, count }
    }
}

/// Inputs for describing the objects around an agent.
struct Describing<'v, 'a> {
    view: &'v View<'a>,
    agent: AgentIndex,
    pose: Pose,
    path: OwnPath<'v>,
    /// Object number of the vehicle ahead on the route.
    leader: Option<u32>,
    /// The next junction of the agent.
    next: Option<Next>,
    /// Velocity of the agent's rear axle, forwards and to the left, m/s.
    velocity: DVec2,
    scene: ObjectScene<'v>,
}

impl Describing<'_, '_> {
    /// Fills in the remaining fields of an object whose number and distance are known.
    fn describe(&self, one: &mut NearData) {
        let object = &self.scene.list.all[one.object as usize];
        let (forward, place) = (self.pose.forward(), DVec2::new(object.x, object.y));
        let left = left_of(forward);
        let (offset, velocity) = (
            place - self.pose.position,
            DVec2::new(object.velocity_x, object.velocity_y),
        );
        one.ahead = offset.dot(forward);
        one.left = offset.dot(left);
        one.velocity_ahead = velocity.dot(forward) - self.velocity.x;
        one.velocity_left = velocity.dot(left) - self.velocity.y;
        one.lane = LANE_UNKNOWN;
        let mut span = None;
        if let Some(other) = self.scene.list.agent(one.object) {
            if object.kind == OBJECT_VEHICLE {
                (one.lane, span) = self.lane(other);
            }
            one.flags = self.flags(one.object, other);
        }
        (one.path_distance, one.path_offset) = self.along(place, one.ahead, span);
    }

    fn flags(&self, object: u32, other: AgentIndex) -> u32 {
        let goes_first = || {
            let ObjectScene {
                claims, setting, ..
            } = &self.scene;
            let own = self.next.as_ref()?;
            let theirs = Next::of(other, setting, self.view.agents)?;
            Some(claims.goes_first(&theirs, own, setting, self.view.agents))
        };
        let mut flags = 0;
        if self.leader == Some(object) {
            flags |= NEAR_LEADER;
        }
        if goes_first() == Some(true) {
            flags |= NEAR_HAS_PRIORITY;
        }
        if self.scene.list.are_team(self.agent, other) {
            flags |= NEAR_SAME_TEAM;
        }
        flags
    }

    /// Finds the lane of a vehicle relative to the agent's route, and the lanelet of the route on
    /// the same road.
    fn lane(&self, other: AgentIndex) -> (i32, Option<Span>) {
        let OwnPath::Lanes { spans, count } = &self.path else {
            return (LANE_UNKNOWN, None);
        };
        let lanelet = self.view.position(other).lanelet;
        let find = |id: LaneletIndex| spans[..*count].iter().find(|span| span.lanelet == id);
        if lanelet == NO_LANELET {
            return (LANE_UNKNOWN, None);
        }
        if let Some(span) = find(lanelet) {
            return (0, Some(*span));
        }
        // For a lane to the left of the agent's lane, the search goes to the right.
        for (side, sign) in [(1, 1), (0, -1)] {
            let mut beside = lanelet;
            for lanes in 1..=MOST_LANES {
                beside = self.view.ground.beside(beside)[side];
                if beside == NO_LANELET {
                    break;
                }
                if let Some(span) = find(beside) {
                    return (sign * lanes, Some(*span));
                }
            }
        }
        (LANE_UNKNOWN, None)
    }

    /// Returns the distance of a place from the rear axle along the agent's path, and its offset to
    /// the left of the path, m. `ahead` is the distance of the place along the agent's heading, and
    /// `span` is the lanelet beside the place, if it is known.
    fn along(&self, place: DVec2, ahead: f64, span: Option<Span>) -> (f64, f64) {
        match &self.path {
            OwnPath::None => (NOTHING, 0.0),
            OwnPath::Straight { from, along } => {
                let offset = place - *from;
                (offset.dot(*along), offset.dot(left_of(*along)))
            }
            OwnPath::Ground { path, s } => {
                let ahead = if path.is_reversing() { -ahead } else { ahead };
                let (at, left) = path.line().project(place, s + ahead);
                (at - s, left)
            }
            OwnPath::Lanes { spans, count } => match span {
                Some(span) => self.on_span(&span, place, ahead),
                None => self.on_nearest(&spans[..*count], place, ahead),
            },
        }
    }

    fn on_span(&self, span: &Span, place: DVec2, ahead: f64) -> (f64, f64) {
        let guess = (ahead - span.begin).clamp(0.0, span.length);
        let line = self.view.ground.line(span.lanelet);
        let (s, left) = line.project(place, guess);
        (span.begin + s, left)
    }

    /// Like `along`, for the lanelet in `spans` that is nearest to the place.
    fn on_nearest(&self, spans: &[Span], place: DVec2, ahead: f64) -> (f64, f64) {
        let mut best = (f64::INFINITY, (NOTHING, 0.0));
        for span in spans {
            let (along, left) = self.on_span(span, place, ahead);
            let s = along - span.begin;
            let beyond = (-s).max(s - span.length).max(0.0);
            let off = DVec2::new(left, beyond).length_squared();
            if off < best.0 {
                best = (off, (along, left));
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Groups;
    use crate::perception::ObjectSources;
    use crate::testing::Stand;
    use crate::traffic::Setting;
    use glam::DVec3;
    use roadwright_scenario::{Obstacle, ObstacleId};
    use roadwright_vehicle::rigid::{BodyState, LooseState};
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    const WANTED: NearNeeds = NearNeeds {
        radius: 60.0,
        most: 8,
        trees: false,
    };

    /// A row, with the objects that the row refers to.
    struct Row {
        input: NeedsInput,
        near: Vec<NearData>,
        ids: Vec<u64>,
        all: Vec<ObjectData>,
    }

    impl Row {
        fn of(stand: &mut Stand, groups: Groups, agent: AgentIndex, wanted: &NearNeeds) -> Self {
            stand.look();
            let bodies = crate::dynamics::Bodies {
                ground: &stand.ground,
                agents: stand.agents.lent(),
                dynamics: &stand.dynamics,
            };
            stand.index.locate(&bodies, &stand.types);
            let view = stand.view();
            let mut list = ObjectList::default();
            let sources = ObjectSources {
                ground: &stand.ground,
                people: &stand.people,
                groups: &Arc::new(groups),
            };
            // Called twice, so that leftovers of the first call would show.
            list.renew(&view, sources, false);
            list.renew(&view, sources, wanted.trees);
            let scene = ObjectScene {
                list: &list,
                claims: &stand.claims,
                setting: Setting {
                    ground: &stand.ground,
                    types: &stand.types,
                    routes: &stand.routes,
                    index: &stand.index,
                    signals: &stand.signals,
                    people: &stand.people,
                    step: 0,
                    dt: 0.1,
                    period: 0.2,
                },
            };
            let mut input = NeedsInput::default();
            let mut near = vec![NearData::default(); wanted.most as usize];
            let count = view.fill_near(agent, wanted, scene, &mut input, &mut near);
            near.truncate(count);
            let seen = list.seen(wanted);
            let id = |one: &NearData| seen.all[one.object as usize].id;
            let ids = near.iter().map(id).collect();
            let all = seen.all.to_vec();
            Self {
                input,
                near,
                ids,
                all,
            }
        }

        fn one(&self, id: u64) -> &NearData {
            let at = self.ids.iter().position(|other| *other == id);
            &self.near[at.unwrap()]
        }
    }

    /// Creates a crossing with cars: 1 drives east, 2 is ahead of it, 3 behind it, and 4 comes from
    /// the south.
    fn crossing() -> (Stand, AgentIndex, AgentIndex) {
        let mut stand = Stand::crossing();
        let east = stand.straight(DVec2::X);
        let north = stand.straight(DVec2::Y);
        let own = stand.car(1, &east, 60.0, 8.0);
        stand.car(2, &east, 75.0, 6.0);
        stand.car(3, &east, 40.0, 9.0);
        let other = stand.car(4, &north, 70.0, 8.0);
        (stand, own, other)
    }

    #[test]
    fn pairs_are_nearest_first_and_say_where_others_are() {
        let (mut stand, own, _) = crossing();
        let row = Row::of(&mut stand, Groups::new(), own, &WANTED);
        assert_eq!(row.ids, [2, 3, 4]);
        assert_eq!((row.input.near_count, row.input.near_more), (3, 0));
        let length = stand.view().vehicle_type(own).length;
        let ahead = row.one(2);
        assert!((ahead.distance - (15.0 - length)).abs() < 1e-9, "{ahead:?}");
        let centre = stand.view().vehicle_type(own).body_centre;
        assert!((ahead.ahead - 15.0 - centre).abs() < 1e-9, "{ahead:?}");
        assert!(
            (ahead.path_distance - ahead.ahead).abs() < 1e-6,
            "{ahead:?}"
        );
        assert!(ahead.left.abs() < 1e-9 && ahead.path_offset.abs() < 1e-6);
        assert!((ahead.velocity_ahead + 2.0).abs() < 1e-9, "{ahead:?}");
        assert_eq!((ahead.lane, ahead.flags), (0, NEAR_LEADER));
        let behind = row.one(3);
        assert_eq!((behind.lane, behind.flags), (0, 0));
        assert!(
            (behind.path_distance + 20.0 - centre).abs() < 1e-6,
            "{behind:?}"
        );
        // The car from the south is to the right, drives to the left, and is on no lane of the
        // agent's road.
        let crossing = row.one(4);
        assert_eq!(crossing.lane, LANE_UNKNOWN);
        assert!(
            crossing.left < -10.0 && crossing.velocity_left > 7.9,
            "{crossing:?}"
        );
        assert!(crossing.path_offset < -10.0, "{crossing:?}");
    }

    #[test]
    fn there_are_at_most_as_many_as_asked_for_within_the_radius() {
        let (mut stand, own, _) = crossing();
        let few = NearNeeds { most: 2, ..WANTED };
        let row = Row::of(&mut stand, Groups::new(), own, &few);
        assert_eq!((&row.ids[..], row.input.near_more), (&[2, 3][..], 1));
        let close = NearNeeds {
            radius: row.near[0].distance,
            ..WANTED
        };
        let row = Row::of(&mut stand, Groups::new(), own, &close);
        assert_eq!((&row.ids[..], row.input.near_more), (&[2][..], 0));
        // Objects at equal distances are ordered by id.
        let mut stand = Stand::crossing();
        let east = stand.straight(DVec2::X);
        let own = stand.car(5, &east, 50.0, 0.0);
        stand.car(7, &east, 60.0, 0.0);
        stand.car(6, &east, 60.0, 0.0);
        let one = NearNeeds { most: 1, ..WANTED };
        let row = Row::of(&mut stand, Groups::new(), own, &one);
        assert_eq!((&row.ids[..], row.input.near_more), (&[6][..], 1));
    }

    #[test]
    fn one_of_two_that_meet_in_a_junction_has_priority() {
        let (mut stand, own, other) = crossing();
        let mut has_priority = |agent: AgentIndex, id: u64| {
            let row = Row::of(&mut stand, Groups::new(), agent, &WANTED);
            row.one(id).flags & NEAR_HAS_PRIORITY != 0
        };
        // The car from the south comes from the right.
        assert!(has_priority(own, 4));
        assert!(!has_priority(other, 1));
        // Vehicles on the same lane do not meet in the junction.
        assert!(!has_priority(own, 2) && !has_priority(own, 3));
    }

    fn obstacle(corners: &[(f64, f64)], height: f64, mass: Option<f64>) -> Obstacle {
        let points: Vec<DVec2> = corners.iter().map(|&corner| corner.into()).collect();
        Obstacle {
            name: String::new(),
            shape: roadwright_scenario::Shape::Polygon {
                points: points.into(),
            },
            base: 0.0.into(),
            height: height.into(),
            mass: mass.into(),
        }
    }

    /// Obstacles by number: a high one and a low one that can be pushed, followed by a fixed one
    /// with a notch.
    fn among_obstacles() -> (Stand, AgentIndex) {
        let wedge = [(-40.0, 5.0), (-36.0, 5.0), (-40.0, 8.0)];
        let corner = [
            (-30.0, 6.0),
            (-24.0, 6.0),
            (-24.0, 8.0),
            (-28.0, 8.0),
            (-28.0, 12.0),
            (-30.0, 12.0),
        ];
        let mut stand = Stand::crossing_among(vec![
            obstacle(&wedge, 1.0, Some(50.0)),
            obstacle(&wedge.map(|(x, y)| (x - 10.0, y)), 0.04, Some(50.0)),
            obstacle(&corner, 1.0, None),
        ]);
        let east = stand.straight(DVec2::X);
        let own = stand.car(100, &east, 60.0, 0.0);
        (stand, own)
    }

    #[test]
    fn bodies_of_an_obstacle_are_told_apart() {
        let (mut stand, own) = among_obstacles();
        let row = Row::of(&mut stand, Groups::new(), own, &WANTED);
        let parts = |id: u64| -> Vec<u32> {
            let bodies = row.all.iter().filter(|object| object.id == id);
            bodies.map(|body| body.part).collect()
        };
        // The notched outline has six corners and is made of four triangles.
        assert_eq!([1, 2, 3].map(parts), [vec![0], vec![0], vec![0, 1, 2, 3]]);
        let listed = row.ids.iter().filter(|id| **id == 3);
        assert_eq!(listed.count(), 4);
    }

    #[test]
    fn pushed_obstacles_roll_and_are_left_out_if_vehicles_drive_over_them() {
        let (mut stand, own) = among_obstacles();
        let before = Row::of(&mut stand, Groups::new(), own, &WANTED);
        assert!(before.ids.contains(&1) && !before.ids.contains(&2));
        let mut state = LooseState {
            body: BodyState {
                position: DVec3::new(-38.0, 9.0, 0.5),
                velocity: DVec3::new(2.0, 1.0, 0.5),
                spin: DVec3::new(0.3, 0.0, 3.0),
                ..BodyState::default()
            },
            calm: 0.0,
            rests: false,
        };
        let mut push = |state: LooseState| {
            for number in [1, 2] {
                let rigid = &mut stand.dynamics.rigid;
                rigid.push(&stand.ground, ObstacleId(number), state);
            }
            let row = Row::of(&mut stand, Groups::new(), own, &WANTED);
            let found = |id: u64| *row.all.iter().find(|object| object.id == id).unwrap();
            assert!(
                row.ids.contains(&1) && !row.ids.contains(&2),
                "{:?}",
                row.ids
            );
            let [high, low] = [1, 2].map(found);
            assert_eq!((high.x, high.velocity_x), (low.x, low.velocity_x));
            (high, *row.one(1))
        };
        let (object, pair) = push(state);
        // The centre of a wedge's box is not its centre of gravity.
        let (x, y) = (object.x + 38.0, object.y - 9.0);
        assert!(x.abs() > 0.1 && y.abs() > 0.1, "{object:?}");
        let off = DVec2::new(object.velocity_x, object.velocity_y)
            - DVec2::new(2.0 - 3.0 * y, 1.0 + 3.0 * x);
        assert!(off.length() < 1e-9, "{object:?}");
        // The agent's car stands and faces east.
        let velocity = DVec2::new(pair.velocity_ahead, pair.velocity_left);
        let off = velocity - DVec2::new(object.velocity_x, object.velocity_y);
        assert!(off.length() < 1e-9, "{pair:?}");
        state.rests = true;
        let (object, _) = push(state);
        assert_eq!((object.velocity_x, object.velocity_y), (0.0, 0.0));
    }

    #[test]
    fn members_of_a_group_are_a_team() {
        let (mut stand, own, _) = crossing();
        let group = |ids: &[u64]| ids.iter().copied().collect::<BTreeSet<u64>>();
        let groups: Groups = BTreeMap::from([
            ("blue".into(), group(&[1, 3])),
            ("red".into(), group(&[2, 4])),
            // Agents that have left.
            ("gone".into(), group(&[99])),
        ]);
        let row = Row::of(&mut stand, groups, own, &WANTED);
        let team = |id: u64| row.one(id).flags & NEAR_SAME_TEAM != 0;
        assert_eq!([2, 3, 4].map(team), [false, true, false]);
    }
}
