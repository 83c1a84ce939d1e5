//! A scenario as a whole.

use crate::agents::{Agent, Flow, Place};
use crate::country::{Custom, RoadLaw, check_code};
use crate::defaults::is_default;
use crate::driving_side::DrivingSide;
use crate::dynamics::DynamicsLevel;
use crate::grip::GroundGrip;
use crate::group::Group;
use crate::ids::{
    AgentId, FlowId, ForestId, GroupId, LandId, ObjectId, ObstacleId, PaintId, PointOfInterestId,
};
use crate::land::{Land, MAX_PAINTED_CORNERS};
use crate::list_order::{ListOrder, listed};
use crate::network::RoadNetwork;
use crate::objects::{Forest, MAX_PLACES, Obstacle, PointOfInterest};
use crate::paint::PaintLayer;
use crate::quantity::{
    Duration, Latitude, Longitude, PeoplePerHour, PhysicsRate, Quantity, TimeOfDay, TimeStep,
    Validate, at, check_keys, inside,
};
use crate::stack::{Slot, Stack};
use crate::vehicle_type::VehicleType;
use crate::week_times::{Moment, Weekday};
use glam::DVec2;
use roadwright_geometry::{HeightField, Pose, polygon};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Simulation settings. Options of a run override them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Time step, s.
    pub dt: Quantity<TimeStep>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Simulated time of a run, s.
    pub duration: Quantity<Duration>,
    /// Dynamics level of all bodies, unless an agent or flow sets its own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dynamics: DynamicsLevel,
    /// Time of day at the start of a run, from 0 to less than 24 h. Scripts can read it.
    #[serde(default = "noon", skip_serializing_if = "is_noon")]
    pub time_of_day: Quantity<TimeOfDay>,
    /// Day of the week. It determines whether timed turn restrictions apply.
    #[serde(default, skip_serializing_if = "is_default")]
    pub weekday: Weekday,
    /// Pedestrians per hour on each side of a crossing, unless the crossing sets its own number.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pedestrians: Quantity<PeoplePerHour>,
    /// Minimum update rate of the dynamics levels that model forces, Hz. Longer time steps are
    /// divided into shorter ones.
    #[serde(default = "physics_rate", skip_serializing_if = "is_physics_rate")]
    pub physics_rate_hz: Quantity<PhysicsRate>,
    /// Grip of each road class and of open ground, relative to dry asphalt; 1 by default.
    #[serde(default, skip_serializing_if = "is_default")]
    pub grip: GroundGrip,
    /// Whether slopes of the terrain affect bodies at all dynamics levels. Otherwise, they affect
    /// only bodies at level `rigid`.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub slopes: bool,
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

fn physics_rate() -> Quantity<PhysicsRate> {
    200.0.into()
}

fn is_physics_rate(rate: &Quantity<PhysicsRate>) -> bool {
    *rate == physics_rate()
}

fn noon() -> Quantity<TimeOfDay> {
    12.0.into()
}

fn is_noon(hour: &Quantity<TimeOfDay>) -> bool {
    *hour == noon()
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dt: 0.01.into(),
            seed: 1,
            duration: 300.0.into(),
            dynamics: DynamicsLevel::default(),
            time_of_day: noon(),
            weekday: Weekday::default(),
            pedestrians: 0.0.into(),
            physics_rate_hz: physics_rate(),
            grip: GroundGrip::default(),
            slopes: true,
        }
    }
}

impl Settings {
    /// Returns the moment at which a run starts.
    pub fn moment(&self) -> Moment {
        Moment {
            weekday: self.weekday,
            time_of_day: self.time_of_day.get(),
        }
    }
}

/// Position of the world frame's origin on Earth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeoOrigin {
    /// Latitude, degrees north.
    pub latitude_deg: Quantity<Latitude>,
    /// Longitude, degrees east.
    pub longitude_deg: Quantity<Longitude>,
}

/// Descriptive data of a scenario.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Name of the scenario.
    pub name: String,
    /// Description of the scenario's contents.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Credit for the data sources. It is shown in every picture.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub attribution: String,
    /// The driving side.
    pub driving_side: DrivingSide,
    /// Country whose traffic law applies, as an ISO 3166-1 alpha-2 code; empty for no particular country.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub country: String,
    /// Position of the world frame's origin on Earth.
    #[serde(default, skip_serializing_if = "is_default")]
    pub origin: Option<GeoOrigin>,
}

/// A world with its roads, objects and agents.
///
/// All changes go through [`Edit`](crate::Edit), so every change can be undone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scenario {
    pub(crate) about: About,
    pub(crate) settings: Settings,
    pub(crate) network: RoadNetwork,
    /// Terrain, shared between copies because it may contain millions of samples.
    pub(crate) terrain: Option<Arc<HeightField>>,
    /// Obstacles. Like land, they are shared between copies, because a town has a hundred thousand
    /// houses and the editor copies the scenario for every edit.
    pub(crate) obstacles: Arc<BTreeMap<ObstacleId, Obstacle>>,
    pub(crate) forests: BTreeMap<ForestId, Forest>,
    pub(crate) land: Arc<BTreeMap<LandId, Land>>,
    pub(crate) paint: Arc<BTreeMap<PaintId, PaintLayer>>,
    pub(crate) points_of_interest: BTreeMap<PointOfInterestId, PointOfInterest>,
    pub(crate) vehicle_types: BTreeMap<String, VehicleType>,
    pub(crate) stacks: BTreeMap<String, Stack>,
    pub(crate) agents: BTreeMap<AgentId, Agent>,
    pub(crate) flows: BTreeMap<FlowId, Flow>,
    pub(crate) groups: BTreeMap<GroupId, Group>,
    pub(crate) order: ListOrder,
}

impl Scenario {
    /// Whether any agents or flows have vehicles that swing out in turns.
    ///
    /// Stop lines are set back only if there are such vehicles
    /// ([`Junction::setbacks`](crate::junction::Junction::setbacks)).
    pub fn has_long_vehicles(&self) -> bool {
        self.any_vehicle(VehicleType::swings_out)
    }

    /// Whether any agents or flows have vehicles that need more lateral space in bends than cars,
    /// because they swing out or tow trailers that cut corners. They take turns in alleys in which
    /// cars can pass each other.
    pub fn has_wide_vehicles(&self) -> bool {
        self.any_vehicle(|kind| kind.swings_out() || kind.tows())
    }

    /// Whether any agent or flow has a vehicle that `is_meant` accepts.
    fn any_vehicle(&self, is_meant: impl Fn(&VehicleType) -> bool) -> bool {
        let is_meant = |name: &str| self.vehicle_types.get(name).is_some_and(&is_meant);
        self.agents.values().any(|agent| is_meant(&agent.vehicle))
            || self.flows.values().any(|flow| is_meant(&flow.vehicle))
    }

    /// Creates an empty world with the three standard vehicle types and the default stacks.
    pub fn new(name: &str) -> Self {
        let vehicle_types = [
            ("car", VehicleType::car()),
            ("willys_mb", VehicleType::willys_mb()),
            ("enviro_400", VehicleType::enviro_400()),
        ];
        let stacks = ["idm", "pursuit", "fuzzy_driver"]
            .map(|controller| (controller.to_owned(), Stack::with_controller(controller)));
        Self {
            about: About {
                name: name.into(),
                ..About::default()
            },
            vehicle_types: vehicle_types.map(|(key, v)| (key.to_owned(), v)).into(),
            stacks: stacks.into(),
            ..Self::default()
        }
    }

    /// Returns the descriptive data of the scenario.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Returns the simulation settings.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Returns the road graph.
    pub fn network(&self) -> &RoadNetwork {
        &self.network
    }

    /// Returns the terrain; `None` if it is level.
    pub fn terrain(&self) -> Option<&HeightField> {
        self.terrain.as_deref()
    }

    /// Returns the terrain as a shared pointer, because it may be large.
    pub fn shared_terrain(&self) -> Option<Arc<HeightField>> {
        self.terrain.clone()
    }

    /// Areas of land as a shared pointer, because there may be many.
    pub fn shared_land(&self) -> Arc<BTreeMap<LandId, Land>> {
        self.land.clone()
    }

    /// Obstacles by id.
    pub fn obstacles(&self) -> &BTreeMap<ObstacleId, Obstacle> {
        &self.obstacles
    }

    /// Forests by id.
    pub fn forests(&self) -> &BTreeMap<ForestId, Forest> {
        &self.forests
    }

    /// Returns the forests in which trees are planted, by id. If there are more than four million
    /// positions for trees, the last forests are left out.
    pub fn planted(&self) -> impl Iterator<Item = (ForestId, &Forest)> {
        let mut places = 0;
        self.forests.iter().map_while(move |(&id, forest)| {
            places += forest.places();
            (places <= MAX_PLACES).then_some((id, forest))
        })
    }

    /// Areas of land by id.
    pub fn land(&self) -> &BTreeMap<LandId, Land> {
        &self.land
    }

    /// Returns the areas of land that are painted, by id. If all areas together have more than four
    /// million corners, the last ones are left out.
    pub fn painted_land(&self) -> impl Iterator<Item = (LandId, &Land)> {
        let mut corners = 0;
        self.land.iter().map_while(move |(&id, land)| {
            corners += land.corners();
            (corners <= MAX_PAINTED_CORNERS).then_some((id, land))
        })
    }

    /// Layers of painted ground by id.
    pub fn paint(&self) -> &BTreeMap<PaintId, PaintLayer> {
        &self.paint
    }

    /// Returns the layers of painted ground as a shared pointer, because they may have many cells.
    pub fn shared_paint(&self) -> Arc<BTreeMap<PaintId, PaintLayer>> {
        self.paint.clone()
    }

    /// Points of interest by id.
    pub fn points_of_interest(&self) -> &BTreeMap<PointOfInterestId, PointOfInterest> {
        &self.points_of_interest
    }

    /// Vehicle types by key.
    pub fn vehicle_types(&self) -> &BTreeMap<String, VehicleType> {
        &self.vehicle_types
    }

    /// Stacks by key.
    pub fn stacks(&self) -> &BTreeMap<String, Stack> {
        &self.stacks
    }

    /// Ids of the modules named by stacks and signal plans.
    pub fn modules(&self) -> BTreeSet<String> {
        let stacks = self.stacks.values();
        let settings =
            stacks.flat_map(|stack| Slot::ALL.into_iter().flat_map(|s| stack.settings(s)));
        let of_stacks = settings.map(|setting| setting.module.as_str());
        let all = of_stacks.chain(self.signal_controllers());
        all.map(str::to_owned).collect()
    }

    /// Ids of the modules named by signal plans, one for each plan that names a module.
    pub fn signal_controllers(&self) -> impl Iterator<Item = &str> {
        let plans = self.network.nodes();
        let plans = plans.filter_map(|(_, node)| node.rules.plan.as_ref());
        plans.filter_map(|plan| Some(plan.controller.as_ref()?.module.as_str()))
    }

    /// Returns the order of vehicle types and stacks in lists.
    pub fn list_order(&self) -> &ListOrder {
        &self.order
    }

    /// Returns the vehicle types with their keys, in the order of lists. For computations, use
    /// [`vehicle_types`](Self::vehicle_types) instead.
    pub fn listed_vehicle_types(&self) -> Vec<(&String, &VehicleType)> {
        listed(&self.vehicle_types, &self.order.vehicle_types)
    }

    /// Stacks with their keys, in the order of lists.
    pub fn listed_stacks(&self) -> Vec<(&String, &Stack)> {
        listed(&self.stacks, &self.order.stacks)
    }

    /// Whether the scenario contains an object.
    pub fn contains(&self, object: ObjectId) -> bool {
        match object {
            ObjectId::Node(id) => self.network.node(id).is_some(),
            ObjectId::Road(id) => self.network.road(id).is_some(),
            ObjectId::Obstacle(id) => self.obstacles.contains_key(&id),
            ObjectId::Forest(id) => self.forests.contains_key(&id),
            ObjectId::PointOfInterest(id) => self.points_of_interest.contains_key(&id),
            ObjectId::Agent(id) => self.agents.contains_key(&id),
            ObjectId::Flow(id) => self.flows.contains_key(&id),
            ObjectId::Land(id) => self.land.contains_key(&id),
        }
    }

    /// Agents by id.
    pub fn agents(&self) -> &BTreeMap<AgentId, Agent> {
        &self.agents
    }

    /// Flows by id.
    pub fn flows(&self) -> &BTreeMap<FlowId, Flow> {
        &self.flows
    }

    /// Groups of objects by id.
    pub fn groups(&self) -> &BTreeMap<GroupId, Group> {
        &self.groups
    }

    /// Returns the group of an object; the first one if a file lists it in several groups.
    pub fn group_of(&self, object: ObjectId) -> Option<GroupId> {
        let mut groups = self.groups.iter();
        let found = groups.find(|(_, group)| group.members().contains(&object));
        found.map(|(id, _)| *id)
    }

    /// Returns the next unused id of a group.
    pub fn next_group_id(&self) -> GroupId {
        GroupId(next(self.groups.keys().map(|id| id.0)))
    }

    /// Returns the next unused obstacle id.
    pub fn next_obstacle_id(&self) -> ObstacleId {
        ObstacleId(next(self.obstacles.keys().map(|id| id.0)))
    }

    /// Returns the next unused forest id.
    pub fn next_forest_id(&self) -> ForestId {
        ForestId(next(self.forests.keys().map(|id| id.0)))
    }

    /// Returns the next unused id of an area of land.
    pub fn next_land_id(&self) -> LandId {
        LandId(next(self.land.keys().map(|id| id.0)))
    }

    /// Returns the next unused id of a layer of painted ground.
    pub fn next_paint_id(&self) -> PaintId {
        PaintId(next(self.paint.keys().map(|id| id.0)))
    }

    /// Returns the next unused id of a point of interest.
    pub fn next_point_of_interest_id(&self) -> PointOfInterestId {
        PointOfInterestId(next(self.points_of_interest.keys().map(|id| id.0)))
    }

    /// Returns the next unused agent id.
    pub fn next_agent_id(&self) -> AgentId {
        AgentId(next(self.agents.keys().map(|id| id.0)))
    }

    /// Returns the next unused flow id.
    pub fn next_flow_id(&self) -> FlowId {
        FlowId(next(self.flows.keys().map(|id| id.0)))
    }

    /// Returns the height of the ground at a point, m.
    pub fn ground_height(&self, point: DVec2) -> f64 {
        self.terrain
            .as_ref()
            .map_or(0.0, |field| field.height(point))
    }

    /// Returns the pose of a place in the world, in the driving direction; `None` if the lane of
    /// the place is missing.
    pub fn pose_of(&self, place: &Place) -> Option<Pose> {
        match place {
            Place::Ground(ground) => Some(Pose {
                position: ground.position(),
                heading: ground.heading.get(),
            }),
            Place::Lane(at) => {
                let road = self.network.road(at.road)?;
                let band = road.lane_band(at.lane, at.s.get())?;
                let pose = road.reference_line.offset_pose(at.s.get(), band.centre);
                let forward = road
                    .lane(at.lane, at.s.get())?
                    .is_forward(self.about.driving_side);
                Some(if forward { pose } else { pose.reversed() })
            }
        }
    }

    /// Whether there are no objects in the world. Vehicle types and stacks do not count.
    pub fn is_empty(&self) -> bool {
        self.network.nodes().next().is_none()
            && self.terrain.is_none()
            && self.obstacles.is_empty()
            && self.forests.is_empty()
            && self.land.is_empty()
            && self.paint.is_empty()
            && self.points_of_interest.is_empty()
            && self.agents.is_empty()
            && self.flows.is_empty()
    }

    /// Returns the bounding box of everything in the world, m; `None` if the world is empty.
    pub fn bounds(&self) -> Option<(DVec2, DVec2)> {
        let mut points = self.corners_but_land();
        points.extend(self.land.values().flat_map(|l| l.outline.iter().copied()));
        polygon::bounds(&points)
    }

    /// Returns the bounding box to show in a picture of the whole world, m; `None` if the world is
    /// empty.
    ///
    /// If there are roads, land is ignored, because the land of an imported extract extends far
    /// beyond the roads.
    pub fn frame(&self) -> Option<(DVec2, DVec2)> {
        match self.network.road_count() {
            0 => self.bounds(),
            _ => polygon::bounds(&self.corners_but_land()),
        }
    }

    /// Returns the corners of bounding boxes of everything in the world except land, m.
    fn corners_but_land(&self) -> Vec<DVec2> {
        let mut points: Vec<DVec2> = Vec::new();
        for (_, road) in self.network.roads() {
            let (low, high) = road.reference_line.bounds(10.0);
            points.extend([low, high]);
        }
        points.extend(self.network.nodes().map(|(_, node)| node.position()));
        points.extend(self.obstacles.values().flat_map(|o| o.shape.outline()));
        points.extend(self.forests.values().flat_map(|f| f.area.iter().copied()));
        let painted = self.paint.values().filter_map(PaintLayer::bounds);
        points.extend(painted.flat_map(|(low, high)| [low, high]));
        let points_of_interest = self.points_of_interest.values();
        points.extend(points_of_interest.map(PointOfInterest::position));
        let places = self
            .agents
            .values()
            .flat_map(|a| [Some(a.start), a.destination]);
        points.extend(
            places
                .flatten()
                .filter_map(|p| self.pose_of(&p))
                .map(|p| p.position),
        );
        if let Some(field) = &self.terrain {
            points.extend([field.origin(), field.far_corner()]);
        }
        points
    }
}

/// Returns the id after the largest one, starting at 1.
fn next(ids: impl DoubleEndedIterator<Item = u32>) -> u32 {
    ids.into_iter()
        .next_back()
        .map_or(1, |id| id.saturating_add(1))
}

impl From<&About> for Custom {
    fn from(about: &About) -> Self {
        Self {
            side: about.driving_side,
            law: RoadLaw::of(&about.country),
        }
    }
}

impl Validate for Settings {
    fn validate(&self) -> Result<(), String> {
        check_keys!(self => dt, duration, time_of_day, pedestrians, physics_rate_hz)?;
        inside("grip", self.grip.validate())
    }
}

impl Validate for About {
    fn validate(&self) -> Result<(), String> {
        at("country", check_code(&self.country))?;
        let Some(origin) = self.origin else {
            return Ok(());
        };
        inside("origin", check_keys!(origin => latitude_deg, longitude_deg))
    }
}
