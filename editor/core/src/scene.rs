//! Data derived from a scenario for display and picking: junctions, outlines, places.

mod footing;

use roadwright_geometry::projection::{Projector, RoadPoint};
use roadwright_geometry::{DVec2, polygon, polyline};
use roadwright_render::{Bridges, RoadLine, ground, street_name};
use roadwright_scenario::junction::{Layout, Watch, layout_watched};
use roadwright_scenario::{
    GripMap, LandId, LandUse, LanePlace, NodeId, ObjectId, ObstacleId, Place, Road, RoadBox,
    RoadBoxes, RoadId, Scenario,
};
use std::sync::{Arc, OnceLock};

/// Maximum distance between a road's line and its sampled polyline, m.
const SAMPLING: f64 = 0.1;
/// Progress of deriving a scene once its junctions are laid out, 0 to 1.
const LAID_OUT: f64 = 0.6;
/// Progress of deriving a scene once its junctions have surfaces, 0 to 1.
const SURFACED: f64 = 0.8;

/// A road's shape for picking.
#[derive(Debug, Clone)]
pub struct RoadShape {
    /// Id of the road.
    pub id: RoadId,
    /// South-west corner of the bounding box, m.
    pub low: DVec2,
    /// North-east corner of the bounding box, m.
    pub high: DVec2,
    /// Reference line of the road as a polyline.
    pub line: Vec<DVec2>,
    /// Largest distance from the line to an edge of the road, m.
    pub reach: f64,
    /// The road from which the shape was made. The shape is valid as long as the scenario contains the same
    /// road.
    pub road: Arc<Road>,
    /// Finds points on the road's line. Created for the first look-up, because creating it takes
    /// longer than all later look-ups together.
    projector: OnceLock<Projector>,
}

impl RoadShape {
    /// Returns the road coordinates of the point on the road that is nearest to a given point.
    pub fn foot(&self, point: DVec2) -> RoadPoint {
        let line = || self.road.reference_line.clone();
        let projector = self.projector.get_or_init(|| Projector::new(line()));
        projector.closest(point)
    }

    fn road_line(&self) -> RoadLine<'_> {
        RoadLine {
            id: self.id,
            line: &self.line,
            low: self.low,
            high: self.high,
            reach: self.reach,
        }
    }

    /// Returns the bounding box of the road's lanes.
    fn road_box(&self) -> RoadBox {
        // Lanes may be wider within a section than at its start.
        let margin = self.reach + 5.0;
        RoadBox {
            road: self.id,
            low: self.low - margin,
            high: self.high + margin,
        }
    }
}

/// A street name and the road on which it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct StreetName {
    /// Name of the street.
    pub name: String,
    /// Id of the road on which the name is written.
    pub road: RoadId,
    /// Range of the road between its junctions, in metres along the road.
    pub stretch: (f64, f64),
    /// The middle of the carriageway, half-way between the road's junctions, m.
    pub middle: DVec2,
    /// Heading of the road at its middle, rad.
    pub heading: f64,
    /// Length of the road between its junctions, m.
    pub length: f64,
    /// Width of the carriageway, m.
    pub width: f64,
    /// Layer of the road.
    pub layer: i8,
}

/// The name of a park or a body of water, and its position.
#[derive(Debug, Clone, PartialEq)]
pub struct LandName {
    /// Name of the area.
    pub name: String,
    /// Land use of the area.
    pub usage: LandUse,
    /// Position of the centre of the name, m.
    pub at: DVec2,
    /// Distance from the centre of the name to the edge of the area, m.
    pub room: f64,
    /// Size of the area, m^2.
    pub area: f64,
}

/// A scenario with its derived data.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The scenario from which the scene was derived.
    pub scenario: Arc<Scenario>,
    /// The document revision that the scene was derived from.
    pub revision: u64,
    /// Junctions of the scene.
    pub layout: Layout,
    /// Grip of the ground; `None` if it is 1 everywhere.
    pub grip: Option<Arc<GripMap>>,
    /// Roads of the scene, by id.
    pub roads: Vec<RoadShape>,
    /// Bounding boxes of the roads, for finding roads near the pointer.
    pub boxes: RoadBoxes,
    /// Bridges and tunnels.
    pub bridges: Arc<Bridges>,
    /// The names of all named roads, longest road first.
    pub street_names: Vec<StreetName>,
    /// The names of parks and water, largest first.
    pub land_names: Arc<Vec<LandName>>,
    /// The bounding box of each area of land and each obstacle. They are cached because a town has thousands
    /// and the pointer queries them every frame.
    land_boxes: Vec<(LandId, (DVec2, DVec2))>,
    obstacle_boxes: Vec<(ObstacleId, (DVec2, DVec2))>,
}

impl Scene {
    /// Derives a scene.
    pub fn new(scenario: Arc<Scenario>, revision: u64) -> Self {
        Self::derive(scenario, revision, None, &|_| ())
    }

    /// Derives a scene, reusing unchanged roads from `before`. `watch` receives the progress, 0 to
    /// 1.
    pub fn after(scenario: Arc<Scenario>, revision: u64, before: &Self, watch: Watch<'_>) -> Self {
        Self::derive(scenario, revision, Some(before), watch)
    }

    fn derive(
        scenario: Arc<Scenario>,
        revision: u64,
        before: Option<&Self>,
        watch: Watch<'_>,
    ) -> Self {
        let layout = layout_watched(scenario.network(), scenario.about(), &|share| {
            watch(LAID_OUT * share);
        });
        layout.make_surfaces();
        watch(SURFACED);
        // Both lists are ordered by id, so a single pass along both finds the unchanged roads.
        let mut known = before
            .map_or(&[][..], |scene| &scene.roads)
            .iter()
            .peekable();
        let mut roads = Vec::with_capacity(scenario.network().road_count());
        for (id, _) in scenario.network().roads() {
            let Some(road) = scenario.network().shared_road(id) else {
                continue;
            };
            while known.next_if(|shape| shape.id < id).is_some() {}
            match known.peek() {
                Some(shape) if shape.id == id && Arc::ptr_eq(&shape.road, road) => {
                    roads.push((*shape).clone());
                }
                _ => roads.push(shape_of(id, road)),
            }
        }
        let lines: Vec<RoadLine<'_>> = roads.iter().map(RoadShape::road_line).collect();
        let bridges = Arc::new(Bridges::new(&scenario, &layout, &lines));
        let street_names = street_names(&scenario, &layout);
        let land = scenario.land().iter();
        let land_boxes = land.filter_map(|(&id, land)| Some((id, polygon::bounds(&land.outline)?)));
        let obstacles = scenario.obstacles().iter();
        let obstacle_boxes = obstacles.filter_map(|(&id, obstacle)| {
            let around = polygon::bounds(&obstacle.shape.outline())?;
            Some((id, around))
        });
        Self {
            land_names: land_names(&scenario, before),
            land_boxes: land_boxes.collect(),
            obstacle_boxes: obstacle_boxes.collect(),
            grip: GripMap::new(&scenario, &layout).map(Arc::new),
            scenario,
            revision,
            layout,
            boxes: RoadBoxes::of(roads.iter().map(RoadShape::road_box)),
            bridges,
            roads,
            street_names,
        }
    }

    /// Creates the scene of an empty scenario.
    pub fn empty() -> Self {
        Self::new(Arc::new(Scenario::default()), 0)
    }

    /// Returns the objects under a point, topmost first. `reach` is the pick distance for thin
    /// objects, m.
    pub fn pick(&self, point: DVec2, reach: f64) -> Vec<ObjectId> {
        let scenario = &self.scenario;
        // Each entry has a rank, a distance and an object. The rank is the drawing order: agents (0), flows
        // and places (1), obstacles (2), nodes (3), roads (4), forests (5), land (6).
        let mut found: Vec<(u8, f64, ObjectId)> = Vec::new();
        let near = |place: &Place| {
            let pose = scenario.pose_of(place)?;
            let distance = (pose.position - point).length();
            // At a close zoom the whole body of a car can be picked, instead of a spot of a few pixels.
            (distance < reach.max(2.5)).then_some(distance)
        };
        for (&id, agent) in scenario.agents() {
            if let Some(distance) = near(&agent.start) {
                found.push((0, distance, ObjectId::Agent(id)));
            }
        }
        for (&id, flow) in scenario.flows() {
            // A flow has no body, so it is picked at either end.
            let ends = [near(&flow.origin), near(&flow.destination)];
            if let Some(distance) = ends.into_iter().flatten().min_by(f64::total_cmp) {
                found.push((1, distance, ObjectId::Flow(id)));
            }
        }
        for (&id, place) in scenario.points_of_interest() {
            let distance = (place.position() - point).length();
            if distance < reach {
                found.push((1, distance, ObjectId::PointOfInterest(id)));
            }
        }
        let beside = DVec2::splat(0.3 * reach);
        for &(id, (low, high)) in &self.obstacle_boxes {
            if point.cmplt(low - beside).any() || point.cmpgt(high + beside).any() {
                continue;
            }
            let Some(obstacle) = scenario.obstacles().get(&id) else {
                continue;
            };
            let distance = obstacle.shape.distance(point);
            // Obstacles have an area that can be hit.
            if distance <= 0.3 * reach {
                found.push((2, distance, ObjectId::Obstacle(id)));
            }
        }
        for (id, node) in scenario.network().nodes() {
            let distance = (node.position() - point).length();
            if distance < reach {
                found.push((3, distance, ObjectId::Node(id)));
            }
        }
        for shape in self.roads_near(point, 0.5 * reach) {
            let distance = polyline::distance(&shape.line, point);
            if distance < shape.reach + 0.5 * reach {
                found.push((4, distance, ObjectId::Road(shape.id)));
            }
        }
        for (&id, forest) in scenario.forests() {
            if polygon::contains(&forest.area, point) {
                found.push((5, 0.0, ObjectId::Forest(id)));
            }
        }
        for (id, usage) in self.land_at(point) {
            // The area painted on top comes first.
            let below = LandUse::ALL.len() - usage.rank();
            found.push((6, below as f64, ObjectId::Land(id)));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        found.into_iter().map(|(.., id)| id).collect()
    }

    /// Returns the areas of land at a point.
    fn land_at(&self, point: DVec2) -> impl Iterator<Item = (LandId, LandUse)> {
        let boxes = self.land_boxes.iter();
        let near = boxes
            .filter(move |(_, (low, high))| point.cmpge(*low).all() && point.cmple(*high).all());
        near.filter_map(move |(id, _)| {
            let land = self.scenario.land().get(id)?;
            land.contains(point).then_some((*id, land.usage))
        })
    }

    fn roads_near(&self, point: DVec2, reach: f64) -> impl Iterator<Item = &RoadShape> {
        let inside = move |shape: &&RoadShape| {
            let reach = shape.reach + reach;
            point.cmpge(shape.low - reach).all() && point.cmple(shape.high + reach).all()
        };
        self.roads.iter().filter(inside)
    }

    /// Returns the objects entirely inside a box.
    pub fn inside(&self, low: DVec2, high: DVec2) -> Vec<ObjectId> {
        let within = |p: DVec2| p.cmpge(low).all() && p.cmple(high).all();
        let scenario = &self.scenario;
        let mut found = Vec::new();
        let at = |place: &Place| scenario.pose_of(place).is_some_and(|p| within(p.position));
        let agents = scenario.agents().iter();
        found.extend(
            agents
                .filter(|(_, a)| at(&a.start))
                .map(|(id, _)| ObjectId::Agent(*id)),
        );
        let flows = scenario.flows().iter();
        let flows = flows.filter(|(_, f)| at(&f.origin) && at(&f.destination));
        found.extend(flows.map(|(id, _)| ObjectId::Flow(*id)));
        let obstacles = scenario.obstacles().iter();
        let obstacles = obstacles.filter(|(_, o)| o.shape.outline().into_iter().all(within));
        found.extend(obstacles.map(|(id, _)| ObjectId::Obstacle(*id)));
        let points = scenario.points_of_interest().iter();
        let points = points.filter(|(_, point)| within(point.position()));
        found.extend(points.map(|(id, _)| ObjectId::PointOfInterest(*id)));
        let forests = scenario.forests().iter();
        let forests = forests.filter(|(_, f)| f.area.iter().copied().all(within));
        found.extend(forests.map(|(id, _)| ObjectId::Forest(*id)));
        let land = scenario.land().iter();
        let land = land.filter(|(_, land)| land.outline.iter().copied().all(within));
        found.extend(land.map(|(id, _)| ObjectId::Land(*id)));
        let roads = self
            .roads
            .iter()
            // Uses the bounding boxes of their lines; the edge of a road may extend beyond the box.
            .filter(|r| within(r.low) && within(r.high));
        found.extend(roads.map(|r| ObjectId::Road(r.id)));
        found
    }

    /// Finds the nearest point on a road's line within `reach` of a point. Returns the road, the
    /// distance along the road, and the point.
    pub fn nearest_on_road(&self, point: DVec2, reach: f64) -> Option<(RoadId, f64, DVec2)> {
        self.roads_near(point, reach)
            // Projecting onto clothoids is slow, so polylines rule out nearly all roads first. They lie
            // within SAMPLING of the line.
            .filter(|shape| polyline::distance(&shape.line, point) < reach + 2.0 * SAMPLING)
            .filter_map(|shape| {
                let road = self.scenario.network().road(shape.id)?;
                let foot = shape.foot(point);
                let on = road.reference_line.pose(foot.s).position;
                let distance = (on - point).length();
                (distance < reach).then_some((distance, shape.id, foot.s, on))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, id, s, on)| (id, s, on))
    }

    /// Returns the nearest node within `reach`; `None` if there is none.
    pub fn nearest_node(&self, point: DVec2, reach: f64) -> Option<(NodeId, DVec2)> {
        self.scenario
            .network()
            .nodes()
            .map(|(id, node)| (id, node.position()))
            .filter(|(_, position)| (*position - point).length() < reach)
            .min_by(|a, b| {
                let distance = |p: DVec2| (p - point).length_squared();
                distance(a.1).total_cmp(&distance(b.1))
            })
    }

    /// Returns the drivable lane at a point, or the nearest one within `reach` beside it.
    pub fn lane_at(&self, point: DVec2, reach: f64) -> Option<LanePlace> {
        let mut best: Option<(f64, LanePlace)> = None;
        for shape in self.roads_near(point, reach) {
            let Some(road) = self.scenario.network().road(shape.id) else {
                continue;
            };
            if polyline::distance(&shape.line, point) > shape.reach + reach + 1.0 {
                continue;
            }
            let foot = shape.foot(point);
            let on_line = road.reference_line.pose(foot.s);
            // The nearest point to a place past the end of a road is that end, and the distance
            // past it counts as a miss.
            let beyond = (point - on_line.position).dot(on_line.forward()).abs();
            let section = road.section_at(foot.s);
            for (lane, band) in section.lanes.iter().zip(road.lane_bands(section, foot.s)) {
                // The miss is 0 on the lane, otherwise the distance to its edge.
                let miss = ((foot.t - band.centre).abs() - 0.5 * band.width).max(0.0) + beyond;
                let better = best.is_none_or(|(least, _)| miss < least);
                if lane.kind.is_drivable() && miss <= reach && better {
                    let place = LanePlace {
                        road: shape.id,
                        lane: lane.id,
                        s: foot.s.into(),
                    };
                    best = Some((miss, place));
                }
            }
        }
        best.map(|(_, place)| place)
    }

    /// Returns the shape of a road.
    pub fn road(&self, id: RoadId) -> Option<&RoadShape> {
        // Shapes are ordered by id.
        let index = self.roads.binary_search_by_key(&id, |shape| shape.id);
        Some(&self.roads[index.ok()?])
    }

    /// Returns the bounding box of an object, m. It is used to frame the object and to jump to it.
    pub fn bounds_of(&self, object: ObjectId) -> Option<(DVec2, DVec2)> {
        let scenario = &self.scenario;
        let places = |list: &[Option<Place>]| {
            let points: Vec<DVec2> = list
                .iter()
                .flatten()
                .filter_map(|place| Some(scenario.pose_of(place)?.position))
                .collect();
            polygon::bounds(&points)
        };
        match object {
            ObjectId::Node(id) => {
                let p = scenario.network().node(id)?.position();
                Some((p, p))
            }
            ObjectId::Road(id) => self.road(id).map(|shape| (shape.low, shape.high)),
            ObjectId::Obstacle(id) => {
                polygon::bounds(&scenario.obstacles().get(&id)?.shape.outline())
            }
            ObjectId::Forest(id) => polygon::bounds(&scenario.forests().get(&id)?.area),
            ObjectId::Land(id) => polygon::bounds(&scenario.land().get(&id)?.outline),
            ObjectId::PointOfInterest(id) => {
                let at = scenario.points_of_interest().get(&id)?.position();
                Some((at, at))
            }
            ObjectId::Agent(id) => {
                let agent = scenario.agents().get(&id)?;
                places(&[Some(agent.start), agent.destination])
            }
            ObjectId::Flow(id) => {
                let flow = scenario.flows().get(&id)?;
                places(&[Some(flow.origin), Some(flow.destination)])
            }
        }
    }
}

fn shape_of(id: RoadId, road: &Arc<Road>) -> RoadShape {
    let line = road.reference_line.sample(SAMPLING, 0.0);
    let (low, high) = polygon::bounds(&line).unwrap_or_default();
    RoadShape {
        id,
        low,
        high,
        line,
        reach: road.reach(),
        road: road.clone(),
        projector: OnceLock::new(),
    }
}

/// Returns the names of parks and water, largest first. The names in `before` are reused if its
/// land is the same.
fn land_names(scenario: &Scenario, before: Option<&Scene>) -> Arc<Vec<LandName>> {
    let same = |scene: &&Scene| std::ptr::eq(scene.scenario.land(), scenario.land());
    if let Some(scene) = before.filter(same) {
        return scene.land_names.clone();
    }
    let named = scenario.painted_land().filter_map(|(_, land)| {
        ground::ink(land.usage).filter(|_| !land.name.is_empty())?;
        let (at, room) = ground::place_of_name(land)?;
        Some(LandName {
            name: land.name.clone(),
            usage: land.usage,
            at,
            room,
            area: land.area(),
        })
    });
    let mut names: Vec<LandName> = named.collect();
    names.sort_by(|a, b| b.area.total_cmp(&a.area).then_with(|| a.name.cmp(&b.name)));
    Arc::new(names)
}

/// Returns the names of all named roads, longest first.
fn street_names(scenario: &Scenario, layout: &Layout) -> Vec<StreetName> {
    let named = scenario
        .network()
        .roads()
        .filter(|(_, road)| !road.name.is_empty());
    let mut names: Vec<StreetName> = named
        .filter_map(|(id, road)| {
            // Only between its junctions, because a name across a junction would seem to belong to both
            // streets.
            let (from, to) = layout.remaining(id, road)?;
            let (middle, width) = street_name::place(road, (from, to));
            Some(StreetName {
                name: road.name.clone(),
                road: id,
                stretch: (from, to),
                middle: middle.position,
                heading: middle.heading,
                length: to - from,
                width,
                layer: road.layer,
            })
        })
        .collect();
    names.sort_by(|a, b| {
        b.length
            .total_cmp(&a.length)
            .then_with(|| a.name.cmp(&b.name))
    });
    names
}
