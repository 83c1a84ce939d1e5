//! The ground: everything in a scenario that does not change during a run.

mod arrivals;
mod body_list;
mod cells;
mod crossings;
mod junction_gists;
mod lane_ends;
mod lane_finder;
mod lane_obstacles;
mod loose;
mod named_places;
mod obstacles;
mod rings;
mod roads;
mod signal_heads;
#[cfg(test)]
mod testing;
mod unchanged;

pub use cells::Cells;
pub use crossings::{CrossingSite, Crossings};
pub use lane_ends::LaneEnd;
pub use lane_finder::{LANE_REACH, LaneFinder, Spot};
pub use lane_obstacles::LaneObstacles;
pub use loose::LooseKind;
pub use obstacles::{
    Displaced, MOST_ASIDE, OBSTACLE_ANGLE, OBSTACLE_REACH, Obstacles, Owner, SIDE_CLEARANCE,
    Upright,
};
pub use rings::Ring;
use roads::Deciders;
use roads::Roads;
pub use roads::{JunctionConnections, JunctionLaw, PROFILE_BRAKING};
use signal_heads::Post;
pub use signal_heads::SignalHead;

use arrivals::Arrivals;
use glam::DVec2;
pub use junction_gists::ConnectionGist;
use lane_obstacles::VehicleSizes;
use named_places::named_places;
use roadwright_agent::NamedPlace;
use roadwright_geometry::centre_line::CentreLine;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{HeightField, Pose};
use roadwright_scenario::alleys::Alleys;
use roadwright_scenario::junction::{Conflicts, ConnectingPath, Light, Programme, Signals, Turn};
use roadwright_scenario::lane_graph::{LaneGraph, Lanelet, LaneletIndex, LaneletKind, NO_LANELET};
use roadwright_scenario::{
    Connection, ConnectionIndex, Control, GripMap, GroundGrip, JunctionIndex, Land, LandId, NodeId,
    PaintCost, PaintId, PaintLayer, RoadEnd, RoadId, Scenario,
};
use roadwright_vehicle::Grade;
use roadwright_vehicle::rigid::ALL_LAYERS;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;
use std::sync::{Arc, OnceLock};
use unchanged::{Unchanged, kept_or};

/// Fraction of the available grip that drivers rely on. The rest is a reserve for bends, gusts and
/// late reactions.
pub const COUNTED_ON: f64 = 0.6;
/// Maximum speed off the roads, m/s.
pub const OPEN_GROUND_SPEED: f64 = 8.0;
/// A stage prefetches ground data for this number of agents at a time, so that the data fit into
/// the nearer caches.
pub const WARMED: usize = 128;

/// Roads and obstacles of a scenario, prepared for driving.
///
/// A ground is immutable and shared: any number of worlds can run on it. An edit makes a new one, which
/// shares all unchanged parts.
pub struct Ground {
    roads: Arc<Roads>,
    obstacles: Arc<Obstacles>,
    /// Obstacles near each lane, computed on first use.
    lane_obstacles: Arc<OnceLock<LaneObstacles>>,
    vehicle_sizes: VehicleSizes,
    terrain: Option<Arc<HeightField>>,
    /// Whether slopes affect the planar dynamics levels.
    slopes: bool,
    /// Grip of the ground; `None` if it is 1 everywhere.
    grip: Option<Arc<GripMap>>,
    /// Areas of land. Planners over open ground use water and paved ground from them.
    land: Arc<BTreeMap<LandId, Land>>,
    /// Layers of painted ground, for planners over open ground.
    paint: Arc<BTreeMap<PaintId, PaintLayer>>,
    finder: Arc<OnceLock<LaneFinder>>,
    lane_middles: OnceLock<Arc<Vec<DVec2>>>,
    signal_posts: OnceLock<Vec<Post>>,
    /// Places by name.
    places: Arc<BTreeMap<String, NamedPlace>>,
    arrivals: Arc<Arrivals>,
    hash: OnceLock<u64>,
}

impl std::fmt::Debug for Ground {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ground").finish_non_exhaustive()
    }
}

impl Ground {
    /// Prepares the ground of a scenario. This includes the layout of all junctions and lanes.
    pub fn new(scenario: &Scenario) -> Arc<Self> {
        let roads = Arc::new(Roads::new(scenario));
        let obstacles = Arc::new(Obstacles::new(scenario));
        Arc::new(Self {
            grip: roads.grip(scenario),
            roads,
            obstacles,
            lane_obstacles: Arc::default(),
            vehicle_sizes: VehicleSizes::of(scenario),
            terrain: scenario.shared_terrain(),
            slopes: scenario.settings().slopes,
            land: scenario.shared_land(),
            paint: scenario.shared_paint(),
            finder: Arc::default(),
            lane_middles: OnceLock::new(),
            signal_posts: OnceLock::new(),
            places: Arc::new(named_places(scenario)),
            arrivals: Arc::new(Arrivals::of(scenario)),
            hash: OnceLock::new(),
        })
    }

    /// Returns the ground for the edited scenario `new`. `old` is the scenario that `self` was
    /// built from.
    pub fn after_edit(self: &Arc<Self>, old: &Scenario, new: &Scenario) -> Arc<Self> {
        let stays = Unchanged::between(old, new);
        let places = kept_or(stays.places, &self.places, || named_places(new));
        let arrivals = Arrivals::of(new);
        let are_same = *self.arrivals == arrivals;
        let arrivals = kept_or(are_same, &self.arrivals, || arrivals);
        if stays.is_all_but_places() && self.places == places && are_same {
            return self.clone();
        }
        // Parts that an edit does not affect are shared with the old ground rather than copied. For
        // example, moving a tree in a city must not lay out its junctions again.
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
        let vehicle_sizes = VehicleSizes::of(new);
        let lane_obstacles = || {
            // If the obstacles near lanes have not been needed until now, they may never be needed.
            let Some(lanes) = self.lane_obstacles.get() else {
                return OnceLock::new();
            };
            let known = stays.sizes.then(|| lane_obstacles::Known {
                lanes,
                graph: &self.roads.graph,
                copies: copies.as_deref(),
                changes: changes.as_ref(),
            });
            let known = known.filter(lane_obstacles::Known::is_worth_it);
            OnceLock::from(LaneObstacles::new(vehicle_sizes, &obstacles, &roads, known))
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
            vehicle_sizes,
            terrain: new.shared_terrain(),
            slopes: new.settings().slopes,
            land: new.shared_land(),
            paint: new.shared_paint(),
            places,
            arrivals,
            finder: kept_or(stays.lanes, &self.finder, OnceLock::new),
            roads,
            lane_middles: OnceLock::new(),
            signal_posts: OnceLock::new(),
            hash: OnceLock::new(),
        })
    }

    /// Whether a body is on a lane at ground level or within `beyond` metres of such a lane.
    pub fn covers_lane(&self, body: &OrientedBox, beyond: f64) -> bool {
        if self.graph().lanelets().is_empty() {
            return false;
        }
        let ahead =
            [-1.0, 0.0, 1.0].map(|share| body.centre + share * body.half_length * body.forward);
        let left = roadwright_geometry::DVec2::new(-body.forward.y, body.forward.x);
        let mut points = ahead.into_iter().flat_map(|middle| {
            [-1.0, 0.0, 1.0].map(|share| middle + share * body.half_width * left)
        });
        points.any(|point| {
            !self
                .finder()
                .covering(self.graph(), point, beyond)
                .is_empty()
        })
    }

    /// Obstacles near each lane. O(lanelets and the obstacles near them) on first use.
    #[inline]
    pub fn lane_obstacles(&self) -> &LaneObstacles {
        self.lane_obstacles.get_or_init(|| {
            LaneObstacles::new(self.vehicle_sizes, &self.obstacles, &self.roads, None)
        })
    }

    /// Lanelets of the roads.
    #[inline]
    pub fn graph(&self) -> &LaneGraph {
        &self.roads.graph
    }

    /// Terrain heights; `None` if the terrain is level at 0.
    #[inline]
    pub fn terrain(&self) -> Option<&HeightField> {
        self.terrain.as_deref()
    }

    /// Returns the terrain heights whose slopes affect all dynamics levels; `None` if the terrain
    /// is level or its slopes are only visual.
    #[inline]
    pub fn slopes(&self) -> Option<&HeightField> {
        self.terrain().filter(|_| self.slopes)
    }

    /// Areas of land.
    pub fn land(&self) -> &BTreeMap<LandId, Land> {
        &self.land
    }

    /// Layers of painted ground.
    pub fn paint(&self) -> &BTreeMap<PaintId, PaintLayer> {
        &self.paint
    }

    /// Returns the grip of roads and junctions as known to drivers; `None` if the ground has full
    /// grip everywhere, or if drivers do not notice reduced grip.
    #[inline]
    pub fn known_grip(&self) -> Option<&GripMap> {
        self.grip.as_deref().filter(|map| !map.grip().hidden)
    }

    /// Returns the outlines of fixed obstacles within `reach` metres of any of the positions, as
    /// used for contacts with rigid bodies. Outlines are in plan view, counter-clockwise. Obstacles
    /// that can be pushed are left out.
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

    /// Returns the slope between the axles of a vehicle at `pose`; `None` if the ground is level.
    /// `wheelbase` is in m.
    #[inline]
    pub fn grade(&self, pose: Pose, wheelbase: f64) -> Option<Grade> {
        let land = self.slopes()?;
        let rise = land.height(pose.point(wheelbase, 0.0)) - land.height(pose.position);
        let grade = Grade::between(rise, wheelbase);
        (!grade.is_level()).then_some(grade)
    }

    /// Returns the maximum slope under a vehicle, along or across it, as rise over run. It has the
    /// sign of the longitudinal slope.
    pub fn slope(&self, pose: Pose, wheelbase: f64) -> f64 {
        let Some(land) = self.slopes() else {
            return 0.0;
        };
        let rise = land.height(pose.point(wheelbase, 0.0)) - land.height(pose.position);
        let half = 0.5 * wheelbase;
        let across = land.height(pose.point(half, half)) - land.height(pose.point(half, -half));
        let (along, across) = (rise / wheelbase, across / wheelbase);
        match across.abs() > along.abs() {
            true => across.abs().copysign(along),
            false => along,
        }
    }

    /// Returns the height difference between a vehicle's left and right side, midway between its
    /// axles, m. It is positive if the left side is higher, and 0 if the ground is level.
    #[inline]
    pub fn bank(&self, pose: Pose, wheelbase: f64, width: f64) -> f64 {
        let Some(land) = self.slopes() else {
            return 0.0;
        };
        let side = |left: f64| land.height(pose.point(0.5 * wheelbase, left));
        side(0.5 * width) - side(-0.5 * width)
    }

    /// Returns the grip at a position relative to dry asphalt. This is the grip of the uppermost
    /// road at the position or, if there is none, of the open ground. O(1).
    #[inline]
    pub fn grip(&self, place: DVec2) -> f64 {
        self.grip_on(place, ALL_LAYERS)
    }

    /// Returns the grip at a position for a vehicle on the given road layers (bit mask).
    #[inline]
    pub fn grip_on(&self, place: DVec2, layers: u32) -> f64 {
        self.grip.as_ref().map_or(1.0, |map| map.at(place, layers))
    }

    /// Whether any ground has a grip other than 1.
    #[inline]
    pub fn has_grip(&self) -> bool {
        self.grip.is_some()
    }

    /// Whether drivers know that some ground has a grip other than 1.
    #[inline]
    pub fn is_grip_known(&self) -> bool {
        self.grip.as_ref().is_some_and(|map| !map.grip().hidden)
    }

    /// Lowest grip of any ground.
    #[inline]
    pub fn lowest_grip(&self) -> f64 {
        self.grip.as_ref().map_or(1.0, |map| map.grip().lowest())
    }

    /// Returns the road layer of a lanelet, as a bit.
    #[inline]
    pub fn layers_of(&self, id: LaneletIndex) -> u32 {
        // A mask has 32 bits, so layers that differ by 32 share a bit.
        1 << self.lanelet(id).layer.rem_euclid(32)
    }

    /// Returns the road layers (bit mask) occupied by a body that follows `lanelet`; all layers for
    /// [`NO_LANELET`]. Vehicles on a bridge and on the road below it cannot collide.
    #[inline]
    pub fn layers(&self, lanelet: LaneletIndex) -> u32 {
        if lanelet == NO_LANELET {
            return ALL_LAYERS;
        }
        self.layers_of(lanelet)
    }

    /// Returns the lanelet with this index.
    #[inline]
    pub fn lanelet(&self, id: LaneletIndex) -> &Lanelet {
        self.roads.graph.lanelet(id)
    }

    /// Fixed bodies: obstacles and trees.
    #[inline]
    pub fn obstacles(&self) -> &Obstacles {
        &self.obstacles
    }

    /// Places by name.
    #[inline]
    pub fn places(&self) -> &Arc<BTreeMap<String, NamedPlace>> {
        &self.places
    }

    /// Whether both grounds share the same road data, rather than merely having equal roads. If
    /// they do, all lanelets have the same indices.
    pub fn shares_roads_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.roads, &other.roads)
    }

    /// Midpoints of all lanes, m. Computed on first use.
    pub fn lane_middles(&self) -> &Arc<Vec<DVec2>> {
        self.lane_middles.get_or_init(|| {
            let graph = self.graph();
            let lanes = graph.numbered();
            let lanes = lanes.filter(|(_, lanelet)| !lanelet.is_connection());
            let middles =
                lanes.map(|(id, lanelet)| graph.line(id).position(0.5 * lanelet.length()));
            Arc::new(middles.collect())
        })
    }

    /// Returns the signal heads of all lanes on which vehicles can wait. `light` returns the light
    /// of a connection. O(lanes with signals), and O(lanelets) on first use.
    pub fn signal_heads<'a>(
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

    /// Whether right of way matters at a junction. At other junctions, connections are contested
    /// only where two vehicles cannot pass each other in a bend.
    #[inline]
    pub fn is_ruled(&self, junction: JunctionIndex) -> bool {
        self.roads.is_ruled(junction)
    }

    /// Pedestrian crossings.
    #[inline]
    pub fn crossings(&self) -> &Crossings {
        self.roads.crossings()
    }

    /// Signals of a junction and the index of their group; `None` without signals.
    #[inline]
    pub fn signals(&self, junction: JunctionIndex) -> Option<(usize, &Signals)> {
        self.roads.signals(junction)
    }

    /// Returns the roundabout ring to which a lanelet belongs; `None` if it belongs to none.
    #[inline]
    pub fn ring(&self, id: LaneletIndex) -> Option<&Ring> {
        self.roads.ring(id)
    }

    /// Returns the number of incoming lanes of a junction, and the length of each of its
    /// connections.
    pub fn connections_through(
        &self,
        junction: JunctionIndex,
    ) -> JunctionConnections<impl Iterator<Item = f64> + '_> {
        self.roads.connections_through(junction)
    }

    /// Signal programmes of all signal groups.
    pub fn programmes(&self) -> impl Iterator<Item = &Programme> {
        self.roads.programmes()
    }

    /// Returns the group to which the signals of a junction belong; `None` without signals.
    #[inline]
    pub fn signal_group_of(&self, junction: JunctionIndex) -> Option<usize> {
        self.roads.signal_group_of(junction)
    }

    /// Whether the stages of a signal group have fixed durations.
    #[inline]
    pub fn has_fixed_times(&self, group: usize) -> bool {
        self.roads.has_fixed_times(group)
    }

    /// Whether the control of a junction depends on approaching vehicles.
    #[inline]
    pub fn looks_out(&self, junction: JunctionIndex) -> bool {
        self.roads.looks_out(junction)
    }

    /// Returns the signal programme of a group.
    #[inline]
    pub fn programme(&self, group: usize) -> &Programme {
        self.roads.programme(group)
    }

    /// Junctions that follow the programme of a group.
    pub fn signal_group(&self, group: usize) -> impl Iterator<Item = JunctionIndex> + '_ {
        self.roads.signal_group(group)
    }

    /// Returns the signal group at a node; `None` without signals.
    pub fn signal_group_at(&self, node: u32) -> Option<usize> {
        self.roads.signal_group_at(node)
    }

    /// Nodes that a junction covers.
    #[inline]
    pub fn junction_nodes(&self, junction: JunctionIndex) -> &[NodeId] {
        self.roads.junction_nodes(junction)
    }

    /// Returns the connections of a junction, each with its road of origin and its turn.
    pub fn movements(
        &self,
        junction: JunctionIndex,
    ) -> impl Iterator<Item = (ConnectionIndex, RoadId, Turn)> + '_ {
        self.roads.movements(junction)
    }

    /// Returns the compact data of a connection, for use in each step.
    #[inline]
    pub fn connection_gist(&self, path: Connection) -> &ConnectionGist {
        self.roads.connection_gist(path)
    }

    /// Returns the rule that determines priority at a junction.
    #[inline]
    pub fn control(&self, junction: JunctionIndex) -> Control {
        self.roads.control(junction)
    }

    /// Returns the longest time between two greens of a stage of a junction's signals, in seconds;
    /// infinite without signals.
    #[inline]
    pub fn longest_cycle(&self, junction: JunctionIndex) -> f64 {
        self.roads.longest_cycle(junction)
    }

    /// Returns the signal group of this ground that equals group `theirs` of the ground `other`; `None` if
    /// there is none.
    pub fn group_like(&self, other: &Self, theirs: usize) -> Option<usize> {
        self.roads.group_like(&other.roads, theirs)
    }

    /// Returns the stretches on which two cars do not fit side by side.
    #[inline]
    pub fn alleys(&self) -> &Alleys {
        self.roads.alleys()
    }

    /// Returns the length of a lanelet, m.
    #[inline]
    pub fn length(&self, id: LaneletIndex) -> f64 {
        self.roads.length(id)
    }

    /// Returns the centre line of a lanelet.
    #[inline]
    pub fn line(&self, id: LaneletIndex) -> CentreLine<'_> {
        self.roads.line(id)
    }

    /// Whether a vehicle can drive from a lanelet to `next` without a lane change.
    #[inline]
    pub fn leads_to(&self, id: LaneletIndex, next: LaneletIndex) -> bool {
        self.roads.leads_to(id, next)
    }

    /// Returns the following lanelets, in the order of the graph.
    #[inline]
    pub fn successors(&self, id: LaneletIndex) -> &[LaneletIndex] {
        self.roads.successors(id)
    }

    /// Returns lanelets that, like `connection`, merge into `next`. They include all contested
    /// connections into `next`. A few other lanelets and `connection` itself may also be among
    /// them.
    #[inline]
    pub fn joining(&self, connection: LaneletIndex, next: LaneletIndex) -> &[LaneletIndex] {
        self.roads.joining(connection, next)
    }

    /// Returns the left and right neighbour lanes with the same direction, or [`NO_LANELET`].
    #[inline]
    pub fn beside(&self, id: LaneletIndex) -> [LaneletIndex; 2] {
        self.roads.beside(id)
    }

    /// Whether a lanelet has a neighbour lane with the same direction, so that lane changes are
    /// possible.
    #[inline]
    pub fn has_beside(&self, id: LaneletIndex) -> bool {
        self.beside(id) != [NO_LANELET; 2]
    }

    /// Returns the end of a lanelet's lane; `None` if the lane does not end nearby.
    #[inline]
    pub fn lane_end(&self, id: LaneletIndex) -> Option<&LaneEnd> {
        self.roads.lane_end(id)
    }

    /// Whether a connection is at the end of an acceleration lane, so that its vehicles yield.
    #[inline]
    pub fn joins_by(&self, connection: Connection) -> bool {
        self.roads.joins_by(connection)
    }

    /// Whether vehicles alternate at the end of any lane.
    #[inline]
    pub fn has_alternating_ends(&self) -> bool {
        self.roads.has_alternating_ends()
    }

    /// Whether a lane ends at a junction and its vehicles alternate there with those of the lane
    /// beside it.
    #[inline]
    pub fn alternate_at(&self, junction: JunctionIndex) -> bool {
        self.roads.alternate_at(junction)
    }

    /// Returns the heading at a destination on open ground in the scenario, rad; `None` for other
    /// positions.
    pub fn arrival_heading(&self, place: roadwright_geometry::DVec2) -> Option<f64> {
        self.arrivals.heading(place)
    }

    /// Returns a lower bound of the distance from the start of a lanelet to the next lanelet with
    /// alleys, m. The value is capped.
    #[inline]
    pub fn distance_to_alleys(&self, id: LaneletIndex) -> f64 {
        self.roads.distance_to_alleys(id)
    }

    /// Returns the number of following lanelets.
    #[inline]
    pub fn successor_count(&self, id: LaneletIndex) -> usize {
        self.roads.successor_count(id)
    }

    /// Returns the preceding lanelet, if there is exactly one and it has several successors;
    /// otherwise `None`.
    #[inline]
    pub fn fork_before(&self, id: LaneletIndex) -> Option<LaneletIndex> {
        self.roads.fork_before(id)
    }

    /// Returns the speed that the road permits at the start of a lanelet, m/s.
    #[inline]
    pub fn entry_speed(&self, id: LaneletIndex) -> f64 {
        self.roads.entry_speed(id)
    }

    /// Returns the speed that the speed limit and bends permit at `s` on a lanelet, m/s.
    #[inline]
    pub fn road_speed(&self, id: LaneletIndex, s: f64) -> f64 {
        self.roads.road_speed(id, s)
    }

    /// Returns the curvature at `s` on a lanelet, 1/m, positive to the left.
    #[inline]
    pub fn curvature(&self, id: LaneletIndex, s: f64) -> f64 {
        self.roads.curvature(id, s)
    }

    /// Returns the junction and index of a contested connection; `None` for other lanelets.
    #[inline]
    pub fn contested(&self, id: LaneletIndex) -> Option<Connection> {
        self.roads.contested(id)
    }

    /// Returns the junction to which a node belongs; `None` if it belongs to none.
    #[inline]
    pub fn junction_of(&self, node: NodeId) -> Option<JunctionIndex> {
        self.roads.junction_of(node)
    }

    /// Returns the stop lines of a junction's arms. Each consists of the road, the road end, and
    /// the length trimmed from the reference line of the road, m.
    pub fn stop_lines(
        &self,
        junction: JunctionIndex,
    ) -> impl Iterator<Item = (RoadId, RoadEnd, f64)> + '_ {
        self.roads.stop_lines(junction)
    }

    /// Connections of a junction.
    pub fn paths(&self, junction: JunctionIndex) -> &[ConnectingPath] {
        self.roads.paths(junction)
    }

    /// Returns the smallest node id of a junction; `None` if the junction has no nodes.
    #[inline]
    pub fn node(&self, junction: JunctionIndex) -> Option<NodeId> {
        self.roads.node(junction)
    }

    /// Returns the distance between a connection's stop line and the junction, m. It depends on
    /// `has_buses`, which states whether there are buses.
    #[inline]
    pub fn setback(&self, junction: JunctionIndex, path: ConnectionIndex, has_buses: bool) -> f64 {
        self.roads.setback(junction, path, has_buses)
    }

    /// Returns the smallest node id of a junction at an end of a road; `None` if the road ends at
    /// no junction. O(junctions), for user queries only.
    pub fn node_at(&self, road: RoadId) -> Option<NodeId> {
        let mut junctions = JunctionIndex::up_to(self.junction_count());
        let own = junctions.find(|&junction| {
            let mut arms = self.roads.stop_lines(junction);
            arms.any(|(arm, ..)| arm == road)
        });
        own.and_then(|junction| self.node(junction))
    }

    /// Returns the right of way and conflicts of a junction.
    #[inline]
    pub fn law(&self, junction: JunctionIndex) -> &JunctionLaw {
        self.roads.law(junction)
    }

    /// Returns the conflicts between cars at a junction.
    #[inline]
    pub fn car_conflicts(&self, junction: JunctionIndex) -> &Conflicts {
        self.roads.law(junction).conflicts()
    }

    /// Returns the conflicts at a junction that involve a long vehicle.
    #[inline]
    pub fn long_conflicts(&self, junction: JunctionIndex) -> &Conflicts {
        self.roads.law(junction).wide()
    }

    /// Returns the conflicts at a junction: with a long vehicle if `is_long` is set, otherwise
    /// between cars.
    #[inline]
    pub fn conflicts(&self, junction: JunctionIndex, is_long: bool) -> &Conflicts {
        match is_long {
            true => self.long_conflicts(junction),
            false => self.car_conflicts(junction),
        }
    }

    /// Returns the length that two connections from the same lane share after their start, m.
    /// `is_long` states whether a long vehicle is involved.
    #[inline]
    pub fn parting(&self, connection: LaneletIndex, other: LaneletIndex, is_long: bool) -> f64 {
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

    /// Whether two connections of a junction conflict.
    #[inline]
    pub fn in_conflict(
        &self,
        junction: JunctionIndex,
        a: ConnectionIndex,
        b: ConnectionIndex,
    ) -> bool {
        self.car_conflicts(junction).are_in_conflict(a, b)
    }

    /// Whether a junction has the same right of way and conflicts as a junction of another ground.
    pub fn has_law_of(&self, junction: JunctionIndex, other: &Self, theirs: JunctionIndex) -> bool {
        self.roads.has_law_of(junction, &other.roads, theirs)
    }

    /// Number of junctions.
    #[inline]
    pub fn junction_count(&self) -> usize {
        self.roads.junction_count()
    }

    /// Returns the hash of all lanes, obstacles and heights. A saved world can only be restored on
    /// ground with the same hash. Modules that control signals are not included.
    pub fn hash(&self) -> u64 {
        // The hash visits every point of every lane, so it is computed only on save and restore.
        *self.hash.get_or_init(|| self.hash_of(Deciders::LeftOut))
    }

    /// Returns the hash as computed for worlds that were saved before [`Ground::hash`] excluded the
    /// modules that control signals.
    pub fn hash_with_deciders(&self) -> u64 {
        self.hash_of(Deciders::Included)
    }

    fn hash_of(&self, deciders: Deciders) -> u64 {
        let mut hasher = twox_hash::XxHash3_64::with_seed(0);
        self.roads.hash(&mut hasher, deciders);
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
        hash_paint(&self.paint, &mut hasher);
        hasher.finish()
    }

    /// Returns the lanelets within `reach` metres of a position.
    pub fn near(&self, place: DVec2, reach: f64) -> impl Iterator<Item = Spot> + use<> {
        let found = self.finder().around(&self.roads.graph, place, reach);
        found.into_iter().map(|(_, spot)| spot)
    }

    /// Index for finding lanelets by position.
    #[inline]
    pub fn finder(&self) -> &LaneFinder {
        self.finder
            .get_or_init(|| LaneFinder::new(&self.roads.graph))
    }
}

/// Adds the grip of the ground to a hash. The positions to which it applies follow from the roads,
/// which are already hashed.
fn hash_grip(grip: &GroundGrip, hasher: &mut impl Hasher) {
    for share in grip.shares() {
        hasher.write_u64(share.to_bits());
    }
    if grip.hidden {
        hasher.write_u8(0);
    }
}

/// Adds painted layers to a hash. Without such layers, nothing is added, so that older saves keep
/// their hash.
fn hash_paint(paint: &BTreeMap<PaintId, PaintLayer>, hasher: &mut impl Hasher) {
    let cost = |cost: PaintCost, hasher: &mut dyn Hasher| match cost {
        PaintCost::Adds(amount) => hasher.write_i32(amount),
        PaintCost::Blocks => hasher.write_u8(0),
    };
    for layer in paint.values() {
        hasher.write_u64(layer.cell.get().to_bits());
        cost(layer.cost, hasher);
        for (vehicle, own) in &layer.vehicles {
            hasher.write(vehicle.as_bytes());
            cost(*own, hasher);
        }
        for (row, run) in layer.painted().runs() {
            for number in [row, run.first, run.last] {
                hasher.write_i32(number);
            }
        }
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

    /// Returns the streets of old-town, with posts near the ends of lanes.
    fn town() -> Scenario {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let mut town = file::load(&folder.join("old-town.scenario.json")).unwrap();
        equip(&mut town);
        let ground = Ground::new(&town);
        let mut stream = Stream::new(3, "posts", 0);
        let graph = ground.graph();
        for lane in (graph.indices()).step_by(2) {
            // The post is near the end of the lane, so that the swing-out of vehicles behind it
            // matters.
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

    /// Applies a random edit of roads or vehicle types.
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

    /// Applies a random edit of obstacles or forests. Returns whether it was valid.
    fn change_obstacles(town: &mut Scenario, graph: &LaneGraph, stream: &mut Stream) -> bool {
        let lane = LaneletIndex::from_index(stream.next_index(graph.lanelets().len()));
        // On a lane or next to it.
        let place = graph.line(lane).position(5.0)
            + DVec2::new(stream.next_in(-9.0, 9.0), stream.next_in(-9.0, 9.0));
        let at = |points: &[(f64, f64)]| points.iter().map(|&p| place + DVec2::from(p)).collect();
        // The second shape has a notch and therefore consists of several bodies.
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
            // There are so many trees that they are not compared one by one.
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
            // The lanes are either found from scratch or derived from those before the edit.
            if edit % 4 != 3 {
                ground.lane_obstacles();
                ground.alleys();
            }
            let next = ground.after_edit(&before, &town);
            let fresh = Ground::new(&town);
            roads::tests::assert_same(&next.roads, &fresh.roads);
            next.obstacles.assert_same(&fresh.obstacles);
            assert_eq!(next.lane_obstacles(), fresh.lane_obstacles());
            assert_eq!(next.places, fresh.places);
            assert_eq!(next.hash(), fresh.hash());
            kept_bodies += usize::from(Arc::ptr_eq(&next.obstacles, &ground.obstacles));
            kept_lanes += usize::from(Arc::ptr_eq(&next.roads, &ground.roads));
            ground = next;
        }
        // Bodies and lanes are each shared if only the other one changes.
        let kept = (kept_bodies, kept_lanes);
        assert!(kept_bodies >= 30 && kept_lanes >= 30, "{kept:?}");
        assert!(changed >= 40, "{changed}");
    }
}
