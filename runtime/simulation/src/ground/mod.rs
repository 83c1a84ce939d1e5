//! The ground: all of a scenario that driving does not change.

mod body_list;
mod cells;
mod crossings;
mod junction_gists;
mod lane_finder;
mod lane_obstacles;
mod loose;
mod named_places;
mod obstacles;
mod rings;
mod roads;
mod signal_heads;
mod unchanged;

pub(crate) use crossings::{CrossingSite, Crossings};
pub(crate) use lane_finder::{LANE_REACH, Spot};
pub(crate) use lane_obstacles::LaneObstacles;
pub(crate) use loose::LooseKind;
pub(crate) use obstacles::{
    Displaced, MOST_ASIDE, OBSTACLE_ANGLE, OBSTACLE_REACH, Obstacles, Owner, SIDE_CLEARANCE,
};
pub(crate) use rings::Ring;
pub(crate) use roads::{JunctionConnections, JunctionLaw, PROFILE_BRAKING, Roads};
use signal_heads::Post;
pub use signal_heads::SignalHead;

use crate::options::SimulationError;
use crate::records::LanePosition;
use crate::vehicle_type::VehicleType;
use glam::DVec2;
pub(crate) use junction_gists::ConnectionGist;
use lane_finder::LaneFinder;
use named_places::named_places;
use roadwright_agent::NamedPlace;
use roadwright_geometry::centre_line::CentreLine;
use roadwright_geometry::{HeightField, Pose};
use roadwright_scenario::alleys::Alleys;
use roadwright_scenario::junction::{Conflicts, Light, Programme, Signals, Turn};
use roadwright_scenario::lane_graph::{LaneGraph, Lanelet, LaneletIndex, LaneletKind, NO_LANELET};
use roadwright_scenario::{
    Connection, ConnectionIndex, Control, GripMap, GroundGrip, JunctionIndex, NodeId, RoadId,
    Scenario,
};
use roadwright_vehicle::Grade;
use roadwright_vehicle::rigid::ALL_LAYERS;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;
use std::sync::{Arc, OnceLock};
use unchanged::{Unchanged, kept_or};

/// The share of the grip that drivers count on: the rest is for bends, gusts and what they do late.
pub(crate) const COUNTED_ON: f64 = 0.6;
/// Agents of whom is looked at once what a stage reads of the ground: it fits the nearer caches.
pub(crate) const WARMED: usize = 128;

/// Roads and obstacles of a scenario, ready to be driven on.
///
/// A ground is immutable and shared: any number of worlds run on one. An edit makes a new one,
/// which shares what has not changed.
pub struct Ground {
    pub(crate) roads: Arc<Roads>,
    pub(crate) obstacles: Arc<Obstacles>,
    /// Which lanes they are near to.
    pub(crate) lane_obstacles: Arc<LaneObstacles>,
    terrain: Option<Arc<HeightField>>,
    /// Whether its slopes act on planar levels.
    slopes: bool,
    /// None where all ground has all the grip.
    grip: Option<Arc<GripMap>>,
    finder: Arc<OnceLock<LaneFinder>>,
    lane_middles: OnceLock<Arc<Vec<DVec2>>>,
    signal_posts: OnceLock<Vec<Post>>,
    /// Where what has a name is.
    pub(crate) places: Arc<BTreeMap<String, NamedPlace>>,
    hash: OnceLock<u64>,
}

impl std::fmt::Debug for Ground {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ground").finish_non_exhaustive()
    }
}

impl Ground {
    /// Prepares the ground of a scenario. Cost: that of laying out all junctions and lanes.
    pub fn new(scenario: &Scenario) -> Arc<Self> {
        let roads = Arc::new(Roads::new(scenario));
        let obstacles = Arc::new(Obstacles::new(scenario));
        let lane_obstacles = LaneObstacles::new(scenario, &obstacles, &roads.graph, None);
        Arc::new(Self {
            grip: roads.grip(scenario),
            roads,
            obstacles,
            lane_obstacles: Arc::new(lane_obstacles),
            terrain: scenario.shared_terrain(),
            slopes: scenario.settings().slopes,
            finder: Arc::default(),
            lane_middles: OnceLock::new(),
            signal_posts: OnceLock::new(),
            places: Arc::new(named_places(scenario)),
            hash: OnceLock::new(),
        })
    }

    /// The ground after an edit from `old`, whose ground this is, to `new`.
    pub(crate) fn after_edit(self: &Arc<Self>, old: &Scenario, new: &Scenario) -> Arc<Self> {
        let stays = Unchanged::between(old, new);
        let places = kept_or(stays.places, &self.places, || named_places(new));
        if stays.is_all_but_places() && self.places == places {
            return self.clone();
        }
        // What an edit does not reach is shared with the ground before, not copied: moving a tree in a
        // city must not lay out its junctions again.
        let (roads, copies) = if stays.lanes {
            (self.roads.clone(), None)
        } else {
            let (roads, copies) = self.roads.after_edit(old, new);
            (Arc::new(roads), Some(copies))
        };
        let (obstacles, changes) = if stays.obstacles {
            (self.obstacles.clone(), None)
        } else {
            let (obstacles, changes) = self.obstacles.after_edit(old, new);
            (Arc::new(obstacles), Some(changes))
        };
        let lane_obstacles = || {
            let known = stays.sizes.then(|| lane_obstacles::Known {
                lanes: &self.lane_obstacles,
                graph: &self.roads.graph,
                copies: copies.as_deref(),
                changes: changes.as_ref(),
            });
            let known = known.filter(lane_obstacles::Known::is_worth_it);
            LaneObstacles::new(new, &obstacles, &roads.graph, known)
        };
        let lane_obstacles = kept_or(
            stays.lanes && stays.obstacles && stays.sizes,
            &self.lane_obstacles,
            lane_obstacles,
        );
        let grip = if stays.lanes && stays.grip {
            self.grip.clone()
        } else {
            roads.grip(new)
        };
        Arc::new(Self {
            grip,
            obstacles,
            lane_obstacles,
            terrain: new.shared_terrain(),
            slopes: new.settings().slopes,
            places,
            finder: kept_or(stays.lanes, &self.finder, OnceLock::new),
            roads,
            lane_middles: OnceLock::new(),
            signal_posts: OnceLock::new(),
            hash: OnceLock::new(),
        })
    }

    /// The lanelets of the roads.
    #[inline]
    pub fn graph(&self) -> &LaneGraph {
        &self.roads.graph
    }

    /// The heights of the land; none: it is level at 0.
    #[inline]
    pub(crate) fn terrain(&self) -> Option<&HeightField> {
        self.terrain.as_deref()
    }

    /// The heights whose slopes act on all levels; none where the land is level or its slopes are only
    /// seen.
    #[inline]
    pub(crate) fn slopes(&self) -> Option<&HeightField> {
        self.terrain().filter(|_| self.slopes)
    }

    /// What stands fixed within a distance of places, m, as rigid bodies meet it: outlines from above,
    /// counter-clockwise. Obstacles that can be pushed are not among them.
    pub fn still_outlines(&self, places: &[DVec2], reach: f64) -> Vec<Vec<DVec2>> {
        let mut near = BTreeSet::new();
        if !self.obstacles.is_empty() {
            for &place in places {
                self.obstacles.for_each_near(place, reach, |number| {
                    near.insert(number);
                });
            }
        }
        let fixed = near.into_iter();
        let fixed = fixed.filter(|&number| self.obstacles.loose(number).is_none());
        fixed
            .filter_map(|number| self.obstacles.outline(number))
            .collect()
    }

    /// The slope between the axles of a vehicle at a pose, whose wheelbase is given, m; `None` where it is
    /// level.
    #[inline]
    pub(crate) fn grade(&self, pose: Pose, wheelbase: f64) -> Option<Grade> {
        let land = self.slopes()?;
        let rise = land.height(pose.point(wheelbase, 0.0)) - land.height(pose.position);
        let grade = Grade::between(rise, wheelbase);
        (!grade.is_level()).then_some(grade)
    }

    /// How much higher the left side of a vehicle stands than its right one, m, in the middle between its
    /// axles; 0 where it is level.
    #[inline]
    pub(crate) fn bank(&self, pose: Pose, wheelbase: f64, width: f64) -> f64 {
        let Some(land) = self.slopes() else {
            return 0.0;
        };
        let side = |left: f64| land.height(pose.point(0.5 * wheelbase, left));
        side(0.5 * width) - side(-0.5 * width)
    }

    /// Share of the friction that tyres have on dry asphalt, at a place: that of the uppermost road
    /// there, or of open ground. In constant time.
    #[inline]
    pub fn grip(&self, place: DVec2) -> f64 {
        self.grip_on(place, ALL_LAYERS)
    }

    /// The same for who is on some layers of roads, one bit each.
    #[inline]
    pub(crate) fn grip_on(&self, place: DVec2, layers: u32) -> f64 {
        self.grip.as_ref().map_or(1.0, |map| map.at(place, layers))
    }

    /// Whether some ground has another grip than 1.
    #[inline]
    pub(crate) fn has_grip(&self) -> bool {
        self.grip.is_some()
    }

    /// Whether drivers know of ground that has another grip than 1.
    #[inline]
    pub(crate) fn is_grip_known(&self) -> bool {
        self.grip.as_ref().is_some_and(|map| !map.grip().hidden)
    }

    /// The lowest grip of any ground.
    pub(crate) fn lowest_grip(&self) -> f64 {
        self.grip.as_ref().map_or(1.0, |map| map.grip().lowest())
    }

    /// The braking that others may expect of a vehicle on a lane, m/s^2: so much, or what its driver
    /// counts on where the ground is known to be slippery.
    #[inline]
    pub(crate) fn expected_braking(
        &self,
        dry: f64,
        position: &LanePosition,
        vehicle_type: &VehicleType,
    ) -> f64 {
        if !self.is_grip_known() || !position.is_on_lane() {
            return dry;
        }
        let place = self.line(position.lanelet).position(position.s);
        let grip = self.grip_on(place, self.layers(position));
        dry.min(COUNTED_ON * grip * vehicle_type.hardest())
    }

    /// The layer of roads of a lanelet, as a bit.
    #[inline]
    pub(crate) fn layers_of(&self, id: LaneletIndex) -> u32 {
        // A mask has 32 bits: layers that are 32 apart count as one.
        1 << self.lanelet(id).layer.rem_euclid(32)
    }

    /// The layers of roads on which a body is, one bit each: a bridge and the road below it do not
    /// meet.
    pub(crate) fn layers(&self, position: &LanePosition) -> u32 {
        if !position.is_on_lane() {
            return ALL_LAYERS;
        }
        self.layers_of(position.lanelet)
    }

    /// Whether all roads can be driven on, or some had to be left out.
    pub(crate) fn check_size(&self) -> Result<(), SimulationError> {
        match self.graph().left_out() {
            Some(road) => Err(SimulationError::TooMuch(road)),
            None => Ok(()),
        }
    }

    /// One lanelet.
    #[inline]
    pub(crate) fn lanelet(&self, id: LaneletIndex) -> &Lanelet {
        self.roads.graph.lanelet(id)
    }

    /// The middles of all lanes, m. Made when they are first asked for.
    pub(crate) fn lane_middles(&self) -> &Arc<Vec<DVec2>> {
        self.lane_middles.get_or_init(|| {
            let graph = self.graph();
            let lanes = graph.numbered();
            let lanes = lanes.filter(|(_, lanelet)| !lanelet.is_connection());
            let middles =
                lanes.map(|(id, lanelet)| graph.line(id).position(0.5 * lanelet.length()));
            Arc::new(middles.collect())
        })
    }

    /// The signals of all lanes at which one can wait, where `light` says what that of a connection shows.
    /// O(lanes with signals), but for the first time: O(lanelets).
    pub(crate) fn signal_heads<'a>(
        &'a self,
        has_buses: bool,
        light: impl Fn(Connection) -> Light + 'a,
    ) -> impl Iterator<Item = SignalHead> + 'a {
        let posts = self
            .signal_posts
            .get_or_init(|| signal_heads::posts(&self.roads));
        let is_seen = move |post: &&signal_heads::Post| post.is_waited_at(&self.roads, has_buses);
        let seen = posts.iter().filter(is_seen);
        seen.filter_map(move |post| post.showing(&light))
    }

    /// Whether it matters who goes first at a junction; else it is contested only because two bodies do not
    /// fit past each other in a bend.
    pub(crate) fn is_ruled(&self, junction: JunctionIndex) -> bool {
        self.roads.is_ruled(junction)
    }

    /// Where people on foot cross.
    #[inline]
    pub(crate) fn crossings(&self) -> &Crossings {
        self.roads.crossings()
    }

    /// The signals of a junction, and the group that they belong to.
    #[inline]
    pub(crate) fn signals(&self, junction: JunctionIndex) -> Option<(usize, &Signals)> {
        self.roads.signals(junction)
    }

    /// The ring of a roundabout that a lanelet belongs to.
    #[inline]
    pub(crate) fn ring(&self, id: LaneletIndex) -> Option<&Ring> {
        self.roads.ring(id)
    }

    /// The ways through a junction.
    pub(crate) fn connections_through(
        &self,
        junction: JunctionIndex,
    ) -> JunctionConnections<impl Iterator<Item = f64> + '_> {
        self.roads.connections_through(junction)
    }

    /// The programme of each group of signals.
    pub(crate) fn programmes(&self) -> impl Iterator<Item = &Programme> {
        self.roads.programmes()
    }

    /// The group that the signals of a junction belong to, if it has any.
    #[inline]
    pub(crate) fn signal_group_of(&self, junction: JunctionIndex) -> Option<usize> {
        self.roads.signal_group_of(junction)
    }

    /// Whether the stages of a group of signals last for fixed times.
    #[inline]
    pub(crate) fn has_fixed_times(&self, group: usize) -> bool {
        self.roads.has_fixed_times(group)
    }

    /// Whether a junction decides by who comes near.
    #[inline]
    pub(crate) fn looks_out(&self, junction: JunctionIndex) -> bool {
        self.roads.looks_out(junction)
    }

    /// The programme of a group of signals.
    pub(crate) fn programme(&self, group: usize) -> &Programme {
        self.roads.programme(group)
    }

    /// The junctions that follow one programme.
    pub(crate) fn signal_group(&self, group: usize) -> impl Iterator<Item = JunctionIndex> + '_ {
        self.roads.signal_group(group)
    }

    /// The group of the signals of a node.
    pub(crate) fn signal_group_at(&self, node: u32) -> Option<usize> {
        self.roads.signal_group_at(node)
    }

    /// The nodes that a junction stands for.
    pub(crate) fn junction_nodes(&self, junction: JunctionIndex) -> &[NodeId] {
        self.roads.junction_nodes(junction)
    }

    /// The paths of a junction with the roads that they come from, and how they turn.
    pub(crate) fn movements(
        &self,
        junction: JunctionIndex,
    ) -> impl Iterator<Item = (ConnectionIndex, RoadId, Turn)> + '_ {
        self.roads.movements(junction)
    }

    /// What is asked of a path of a junction in each step.
    #[inline]
    pub(crate) fn connection_gist(&self, path: Connection) -> &ConnectionGist {
        self.roads.connection_gist(path)
    }

    /// Who goes first at a junction.
    #[inline]
    pub(crate) fn control(&self, junction: JunctionIndex) -> Control {
        self.roads.control(junction)
    }

    /// From one green of a stage of the signals of a junction to the next at most, s; without end where there
    /// are none.
    #[inline]
    pub(crate) fn longest_cycle(&self, junction: JunctionIndex) -> f64 {
        self.roads.longest_cycle(junction)
    }

    /// The group of signals that is the same as one of another ground.
    pub(crate) fn group_like(&self, other: &Self, theirs: usize) -> Option<usize> {
        self.roads.group_like(&other.roads, theirs)
    }

    /// Where two cars do not fit side by side.
    #[inline]
    pub(crate) fn alleys(&self) -> &Alleys {
        &self.roads.alleys
    }

    /// Length of a lanelet, m.
    #[inline]
    pub(crate) fn length(&self, id: LaneletIndex) -> f64 {
        self.roads.length(id)
    }

    /// The centre line of a lanelet.
    #[inline]
    pub(crate) fn line(&self, id: LaneletIndex) -> CentreLine<'_> {
        self.roads.line(id)
    }

    /// Whether one goes on from a lanelet to `next` without changing lanes.
    #[inline]
    pub(crate) fn leads_to(&self, id: LaneletIndex, next: LaneletIndex) -> bool {
        self.roads.leads_to(id, next)
    }

    /// The lanelets that follow, in the order of the graph.
    #[inline]
    pub(crate) fn successors(&self, id: LaneletIndex) -> &[LaneletIndex] {
        self.roads.successors(id)
    }

    /// The lanelets among which those are that others conflict with, and that lead to `next` as a connection
    /// that others conflict with does; few more, and maybe that one itself.
    #[inline]
    pub(crate) fn joining(&self, connection: LaneletIndex, next: LaneletIndex) -> &[LaneletIndex] {
        self.roads.joining(connection, next)
    }

    /// The lanes of the same direction to the left and to the right of a lanelet, or [`NO_LANELET`].
    #[inline]
    pub(crate) fn beside(&self, id: LaneletIndex) -> [LaneletIndex; 2] {
        self.roads.beside(id)
    }

    /// Whether a lanelet has a lane of its direction beside it: else nobody changes lanes there.
    #[inline]
    pub(crate) fn has_beside(&self, id: LaneletIndex) -> bool {
        self.beside(id) != [NO_LANELET; 2]
    }

    /// From the start of a lanelet to that of the nearest one ahead with alleys, m, or a bit less; of
    /// those that are far it says only that.
    #[inline]
    pub(crate) fn distance_to_alleys(&self, id: LaneletIndex) -> f64 {
        self.roads.distance_to_alleys(id)
    }

    /// How many lanelets follow.
    #[inline]
    pub(crate) fn successor_count(&self, id: LaneletIndex) -> usize {
        self.roads.successor_count(id)
    }

    /// The lanelet before one, if it is the only one and several lead on from there.
    #[inline]
    pub(crate) fn fork_before(&self, id: LaneletIndex) -> Option<LaneletIndex> {
        self.roads.fork_before(id)
    }

    /// Speed that the road allows at the start of a lanelet, m/s.
    #[inline]
    pub(crate) fn entry_speed(&self, id: LaneletIndex) -> f64 {
        self.roads.entry_speed(id)
    }

    /// Speed that limit and bends allow at `s` of a lanelet, m/s.
    #[inline]
    pub(crate) fn road_speed(&self, id: LaneletIndex, s: f64) -> f64 {
        self.roads.road_speed(id, s)
    }

    /// Curvature at `s` of a lanelet, 1/m, positive to the left.
    #[inline]
    pub(crate) fn curvature(&self, id: LaneletIndex, s: f64) -> f64 {
        self.roads.curvature(id, s)
    }

    /// Junction and path of a connection that others conflict with.
    #[inline]
    pub(crate) fn contested(&self, id: LaneletIndex) -> Option<Connection> {
        self.roads.contested(id)
    }

    /// The smallest node of a junction.
    pub(crate) fn node(&self, junction: JunctionIndex) -> Option<NodeId> {
        self.roads.node(junction)
    }

    /// How far before a junction the stop line of a path lies, m: where buses turn, or only cars.
    #[inline]
    pub(crate) fn setback(
        &self,
        junction: JunctionIndex,
        path: ConnectionIndex,
        has_buses: bool,
    ) -> f64 {
        self.roads.setback(junction, path, has_buses)
    }

    /// The smallest node of a junction at an end of a road. O(junctions): for people.
    pub(crate) fn node_at(&self, road: RoadId) -> Option<NodeId> {
        let mut junctions = JunctionIndex::up_to(self.junction_count());
        let own = junctions.find(|&junction| {
            let mut arms = self.roads.stop_lines(junction);
            arms.any(|(arm, ..)| arm == road)
        });
        own.and_then(|junction| self.node(junction))
    }

    /// The law of a junction.
    #[inline]
    pub(crate) fn law(&self, junction: JunctionIndex) -> &JunctionLaw {
        self.roads.law(junction)
    }

    /// The conflicts of a junction, where a long vehicle takes part or not.
    #[inline]
    pub(crate) fn conflicts(&self, junction: JunctionIndex, is_long: bool) -> &Conflicts {
        self.roads.conflicts(junction, is_long)
    }

    /// How far a connection runs together with another one from the same lane, for vehicles of which
    /// one is long or none, m from its start.
    pub(crate) fn parting(
        &self,
        connection: LaneletIndex,
        other: LaneletIndex,
        is_long: bool,
    ) -> f64 {
        let path = |id: LaneletIndex| match self.lanelet(id).kind {
            LaneletKind::Connection { junction, path, .. } => Some(Connection {
                junction,
                number: path,
            }),
            LaneletKind::Lane { .. } => None,
        };
        match (path(connection), path(other)) {
            (
                Some(Connection {
                    junction,
                    number: path,
                }),
                Some(Connection { number: other, .. }),
            ) => self.conflicts(junction, is_long).parting(path, other),
            _ => 0.0,
        }
    }

    /// Whether two paths of a junction conflict.
    #[inline]
    pub(crate) fn in_conflict(
        &self,
        junction: JunctionIndex,
        a: ConnectionIndex,
        b: ConnectionIndex,
    ) -> bool {
        self.conflicts(junction, false).are_in_conflict(a, b)
    }

    /// Whether a junction has the very law of one of another ground.
    pub(crate) fn has_law_of(
        &self,
        junction: JunctionIndex,
        other: &Self,
        theirs: JunctionIndex,
    ) -> bool {
        self.roads.has_law_of(junction, &other.roads, theirs)
    }

    pub(crate) fn junction_count(&self) -> usize {
        self.roads.junction_count()
    }

    /// A hash over all lanes, obstacles and heights: saved worlds are restored on equal ground only. Who
    /// decides about signals is not in it.
    pub fn hash(&self) -> u64 {
        // Made when somebody saves or restores: it walks over every point of every lane.
        *self.hash.get_or_init(|| self.hash_of_all(false))
    }

    /// The hash that worlds were saved with before [`Ground::hash`] left out who decides about signals.
    pub(crate) fn hash_with_deciders(&self) -> u64 {
        self.hash_of_all(true)
    }

    fn hash_of_all(&self, with_deciders: bool) -> u64 {
        let mut hasher = twox_hash::XxHash3_64::with_seed(0);
        self.roads.hash(&mut hasher, with_deciders);
        self.obstacles.hash(&mut hasher);
        if let Some(terrain) = &self.terrain {
            hash_terrain(terrain, &mut hasher);
            if !self.slopes {
                hasher.write_u8(0);
            }
        }
        if let Some(map) = &self.grip {
            hash_grip(map.grip(), &mut hasher);
        }
        named_places::hash(&self.places, &mut hasher);
        hasher.finish()
    }

    /// The lanelets within a distance of a place, m.
    pub(crate) fn near(&self, place: DVec2, reach: f64) -> impl Iterator<Item = Spot> + use<> {
        let found = self.finder().around(&self.roads.graph, place, reach);
        found.into_iter().map(|(_, spot)| spot)
    }

    /// Finds lanelets by place.
    pub(crate) fn finder(&self) -> &LaneFinder {
        self.finder
            .get_or_init(|| LaneFinder::new(&self.roads.graph))
    }
}

/// Places follow from the roads, which are in the hash.
fn hash_grip(grip: &GroundGrip, hasher: &mut impl Hasher) {
    for share in grip.shares() {
        hasher.write_u64(share.to_bits());
    }
    if grip.hidden {
        hasher.write_u8(0);
    }
}

fn hash_terrain(terrain: &HeightField, hasher: &mut impl Hasher) {
    hasher.write_usize(terrain.columns());
    let origin = terrain.origin();
    let numbers = [origin.x, origin.y, terrain.spacing()];
    for number in numbers.iter().chain(terrain.heights()) {
        hasher.write_u64(number.to_bits());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{draw_street, equip, put_post, street};
    use roadwright_geometry::math::Stream;
    use roadwright_geometry::unit;
    use roadwright_scenario::{Edit, Forest, ForestId, Shape, file};
    use std::path::PathBuf;

    /// The streets of old-town, with posts near the ends of lanes.
    fn town() -> Scenario {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let mut town = file::load(&folder.join("old-town.scenario.json")).unwrap();
        equip(&mut town);
        let ground = Ground::new(&town);
        let mut stream = Stream::new(3, "posts", 0);
        let graph = ground.graph();
        for lane in (graph.indices()).step_by(2) {
            // Near its end, so that it matters how vehicles swing out behind it.
            let end = graph
                .line(lane)
                .position(graph.lanelet(lane).length() - 4.0);
            let aside = unit(stream.next_in(0.0, 6.0));
            let place = end + stream.next_in(1.0, 3.5) * aside;
            let post = Shape::Circle {
                x: place.x.into(),
                y: place.y.into(),
                radius: 0.2.into(),
            };
            put_post(&mut town, post);
        }
        town
    }

    /// Some change of the roads, or of the vehicles.
    fn change(town: &mut Scenario, stream: &mut Stream) {
        let roads: Vec<RoadId> = town.network().roads().map(|(id, _)| id).collect();
        let id = roads[stream.next_index(roads.len())];
        let mut road = town.network().road(id).unwrap().clone();
        match stream.next_index(6) {
            0 => drop(town.apply(Edit::Road(id, None))),
            1 | 2 => {
                let wider = stream.next_in(-0.4, 0.6);
                for section in &mut road.lane_sections {
                    for lane in &mut section.lanes {
                        lane.width[0].a = ((lane.width[0].a + wider).max(1.5)).into();
                    }
                }
                drop(town.apply(Edit::Road(id, Some(Box::new(road)))));
            }
            3 => {
                road.name.push('e');
                drop(town.apply(Edit::Road(id, Some(Box::new(road)))));
            }
            4 => {
                let at = road.reference_line.point(0.5 * road.length(), 0.0);
                let far = (at.x + stream.next_in(-90.0, 90.0), at.y + 60.0);
                draw_street(town, (at.x, at.y), far, &street(1, 1));
            }
            _ => {
                let types = town.vehicle_types().clone();
                let (name, mut kind) = types.into_iter().next().unwrap();
                kind.width += stream.next_in(-0.1, 0.2);
                drop(town.apply(Edit::VehicleType(name, Some(Box::new(kind)))));
            }
        }
    }

    /// Some change of what stands beside the roads. Returns whether it could be made.
    fn change_obstacles(town: &mut Scenario, graph: &LaneGraph, stream: &mut Stream) -> bool {
        let lane = LaneletIndex::from_index(stream.next_index(graph.lanelets().len()));
        // On a lane or beside it.
        let place = graph.line(lane).position(5.0)
            + DVec2::new(stream.next_in(-9.0, 9.0), stream.next_in(-9.0, 9.0));
        let at = |points: &[(f64, f64)]| points.iter().map(|&p| place + DVec2::from(p)).collect();
        // The second one has a notch: it is of several bodies.
        let shapes: [Vec<DVec2>; 4] = [
            at(&[(0.0, 0.0), (3.0, 0.0), (0.0, 2.0)]),
            at(&[(0.0, 0.0), (6.0, 0.0), (6.0, 5.0), (3.0, 1.0), (0.0, 5.0)]),
            at(&[(-40.0, 0.0), (40.0, 0.0), (40.0, 0.5), (-40.0, 0.5)]),
            at(&[(-50.0, -50.0), (50.0, 49.0), (50.0, 50.0)]),
        ];
        let points = shapes[stream.next_index(4)].clone();
        let shape = Shape::Polygon {
            points: points.into(),
        };
        let ids: Vec<_> = town.obstacles().keys().copied().collect();
        let id = ids[stream.next_index(ids.len())];
        let mut obstacle = town.obstacles()[&id].clone();
        let forest = Forest {
            // More trees than are looked at one by one.
            area: at(&[(0.0, 0.0), (120.0, 0.0), (120.0, 120.0)]).into(),
            density: 1000.0.into(),
            spacing: 2.0.into(),
            trunk_radius: 0.2.into(),
            seed: 1,
        };
        let edit = match stream.next_index(6) {
            0 => {
                put_post(town, shape);
                return true;
            }
            1 => Edit::Obstacle(id, None),
            2 => {
                obstacle.mass = Some(20.0).into();
                Edit::Obstacle(id, Some(Box::new(obstacle)))
            }
            3 => Edit::Forest(ForestId(1), Some(Box::new(forest))),
            4 => Edit::Forest(ForestId(1), None),
            _ => {
                obstacle.shape = shape;
                Edit::Obstacle(id, Some(Box::new(obstacle)))
            }
        };
        town.apply(edit).is_ok()
    }

    #[test]
    fn the_ground_after_edits_is_that_made_from_nothing() {
        let mut town = town();
        let mut ground = Ground::new(&town);
        let mut stream = Stream::new(5, "edits", 0);
        let (mut kept_bodies, mut kept_lanes, mut changed) = (0, 0, 0);
        for edit in 0..90 {
            let before = town.clone();
            let (of_roads, of_obstacles) = (edit % 3 != 0, edit % 3 != 1);
            if of_roads {
                change(&mut town, &mut stream);
            }
            if of_obstacles {
                let is_done = change_obstacles(&mut town, ground.graph(), &mut stream);
                changed += usize::from(is_done);
            }
            let next = ground.after_edit(&before, &town);
            let fresh = Ground::new(&town);
            roads::tests::assert_same(&next.roads, &fresh.roads);
            next.obstacles.assert_same(&fresh.obstacles);
            assert_eq!(next.lane_obstacles, fresh.lane_obstacles);
            assert_eq!(next.places, fresh.places);
            assert_eq!(next.hash(), fresh.hash());
            kept_bodies += usize::from(Arc::ptr_eq(&next.obstacles, &ground.obstacles));
            kept_lanes += usize::from(Arc::ptr_eq(&next.roads, &ground.roads));
            ground = next;
        }
        // Each is shared where the other one alone changes.
        let kept = (kept_bodies, kept_lanes);
        assert!(kept_bodies >= 30 && kept_lanes >= 30, "{kept:?}");
        assert!(changed >= 40, "{changed}");
    }
}
