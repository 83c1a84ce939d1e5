//! What stands still: obstacles and trees, found by place.

use super::LooseKind;
use super::cells::Cells;
use glam::DVec2;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{polygon, unit};
use roadwright_scenario::junction::Body as VehicleBody;
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::{ForestId, ObstacleId, Scenario, Shape, VehicleType};
use roadwright_vehicle::rigid::{Solid, Still};
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::hash::Hasher;
use std::sync::OnceLock;

/// Lanes closer to an obstacle than this look out for it, m.
const WATCH_DISTANCE: f64 = 6.0;

/// How far a vehicle on a lane sees obstacles from its front, m, and how wide, rad: the reach of the fuzzy
/// driver's terms ([Gerdelan 2011], table 8.2).
pub(crate) const OBSTACLE_REACH: f64 = 28.28;
pub(crate) const OBSTACLE_ANGLE: f64 = 1.2;
/// Bodies this close beside the vehicle's way count as in it, m.
pub(crate) const SIDE_CLEARANCE: f64 = 0.3;
/// A vehicle beside the middle of its lane looks that much to the side, but no more than this, m:
/// in a lane change it does not look along the lane that it leaves.
pub(crate) const MOST_ASIDE: f64 = 0.5;
/// Lines of lanes are looked at in steps of this, m, and bodies count as near that are this much too far: more
/// than the steps can miss.
const STEP: f64 = 1.0;
const SLACK: f64 = 0.25;

/// Trees are so high for vehicles that drive against them, m.
const TREE_HEIGHT: f64 = 6.0;
/// What stands goes so far down into the ground, m.
const FOOT: f64 = 2.0;

/// Corners with which a disc is drawn.
const ROUND: u32 = 24;
/// The nearest body is looked for within these shares of the reach, one after the other, until there is one.
const SHARES_OF_REACH: [f64; 2] = [0.35, 1.0];

/// Bodies with a larger circle around them are kept apart, m.
const LARGE_RADIUS: f64 = 15.0;

/// Whose body something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    Obstacle(ObstacleId),
    Tree(ForestId, u32),
}

/// A still body: a disc, or a convex polygon.
#[derive(Debug, Clone, PartialEq)]
enum Body {
    Disc { centre: DVec2, radius: f64 },
    Polygon(Vec<DVec2>),
}

impl Body {
    fn closest_point(&self, point: DVec2) -> DVec2 {
        match self {
            Self::Disc { centre, radius } => {
                let offset = point - *centre;
                let distance = offset.length();
                if distance <= *radius {
                    point
                } else {
                    *centre + offset * (radius / distance)
                }
            }
            Self::Polygon(corners) if polygon::contains(corners, point) => point,
            Self::Polygon(corners) => polygon::edges(corners)
                .map(|(a, b)| polygon::closest_on_segment(a, b, point))
                .min_by(|a, b| {
                    (*a - point)
                        .length_squared()
                        .total_cmp(&(*b - point).length_squared())
                })
                .unwrap_or(point),
        }
    }

    fn bounds(&self) -> (DVec2, DVec2) {
        match self {
            Self::Disc { centre, radius } => (*centre - *radius, *centre + *radius),
            Self::Polygon(corners) => polygon::bounds(corners).unwrap_or_default(),
        }
    }

    /// Whether a line along an edge tells that a disc does not reach it; a disc around a vehicle tells it
    /// faster than the box of the vehicle.
    fn is_apart(&self, centre: DVec2, radius: f64) -> bool {
        match self {
            Self::Disc { .. } => false,
            Self::Polygon(corners) => {
                // Triangles may run either way; of one without an area nothing is known.
                let turn = polygon::signed_area(corners);
                polygon::edges(corners).any(|(a, b)| {
                    let edge = b - a;
                    let beside = edge.perp_dot(centre - a) * turn.signum();
                    turn != 0.0
                        && beside < 0.0
                        && beside * beside > radius * radius * edge.length_squared()
                })
            }
        }
    }

    fn penetration(&self, vehicle: &OrientedBox) -> f64 {
        match self {
            Self::Disc { centre, radius } => vehicle.circle_penetration(*centre, *radius),
            Self::Polygon(corners) => vehicle.polygon_penetration(corners),
        }
    }
}

/// What a body is in three dimensions.
#[derive(Debug, Clone, Default)]
struct Stature {
    /// m.
    height: f64,
    /// kg, if it is loose.
    mass: Option<f64>,
    /// As vehicles of rigid bodies meet it, about its middle; made when they first come near.
    solid: OnceLock<Option<(Solid, DVec2)>>,
    /// The same of a loose one.
    loose: OnceLock<Option<LooseKind>>,
}

/// Loose bodies that are not where the scenario has them, by number.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Displaced(BTreeMap<u32, Body>);

impl Displaced {
    /// Says what a body covers now.
    pub(crate) fn put(&mut self, number: u32, outline: Vec<DVec2>) {
        self.0.insert(number, Body::Polygon(outline));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// All still bodies of a scenario.
pub(crate) struct Obstacles {
    bodies: Vec<(Owner, Body)>,
    /// Those of obstacles, which come first, in the same order. Trees are too many for that: they are
    /// all alike but for their radius.
    statures: Vec<Stature>,
    /// Middles of the small bodies; large ones are in a list, so that one long wall does not make
    /// every look-up a wide one.
    grid: GridIndex,
    /// Body of each point in the grid.
    small: Vec<u32>,
    /// Large bodies with the circle around them.
    large: Vec<(u32, DVec2, f64)>,
    /// Radius of the largest small body around its middle, m.
    largest: f64,
    /// All bodies by their boxes.
    cells: Cells,
    /// Those that may be in the way of somebody on a lane. In a town nearly every lane has houses beside it,
    /// and hardly one in its way.
    in_ways: Cells,
    /// Whether a lanelet passes close to one.
    watched: Vec<bool>,
    /// Whether a car, and any vehicle, that drives along the middle of a lanelet may touch one.
    touched: Vec<[bool; 2]>,
    /// Whether somebody on a lanelet may see one that is in a way.
    seen: Vec<bool>,
}

impl Obstacles {
    pub(crate) fn new(scenario: &Scenario, graph: &LaneGraph) -> Self {
        let mut bodies = Vec::new();
        let mut statures = Vec::new();
        for (&id, obstacle) in scenario.obstacles() {
            let owner = Owner::Obstacle(id);
            bodies.extend(
                bodies_of(&obstacle.shape)
                    .into_iter()
                    .map(|body| (owner, body)),
            );
            // What has notches is of several bodies, which would fall apart: it stays where it is.
            let is_whole = bodies.len() == statures.len() + 1;
            let mass = obstacle.mass.filter(|_| is_whole);
            let stature = || Stature::new(obstacle.height, mass);
            statures.resize_with(bodies.len(), stature);
        }
        for (id, forest) in scenario.planted() {
            bodies.extend(forest.trees().into_iter().zip(0..).map(|(centre, number)| {
                let radius = forest.trunk_radius;
                (Owner::Tree(id, number), Body::Disc { centre, radius })
            }));
        }
        let mut obstacles = Self {
            bodies,
            statures,
            grid: GridIndex::new(),
            small: Vec::new(),
            large: Vec::new(),
            largest: 0.0,
            cells: Cells::default(),
            in_ways: Cells::default(),
            watched: Vec::new(),
            touched: Vec::new(),
            seen: Vec::new(),
        };
        obstacles.index();
        obstacles.index_ways(scenario, graph);
        let near = |point: &DVec2| {
            obstacles
                .nearest(*point, WATCH_DISTANCE, &Displaced::default(), false, |_| {
                    true
                })
                .is_some()
        };
        // Looking for obstacles costs each vehicle a search in every question to its controller. Lanelets
        // know whether there is anything near, so on most of them nobody searches.
        obstacles.watched = (0..graph.lanelets().len() as u32)
            .map(|id| graph.line(id).points().iter().any(near))
            .collect();
        obstacles.touched = obstacles.touched_from(scenario, graph);
        obstacles
    }

    /// Whether a car, and any vehicle, that drives along the middle of a lanelet may touch a body, for each
    /// lanelet.
    ///
    /// A vehicle is straight, its lane need not be: it leaves the middle by what the lane turns within its
    /// length, and its front may be on the next lanelet already. In a town hardly a lanelet of those with
    /// houses beside them is left.
    fn touched_from(&self, scenario: &Scenario, graph: &LaneGraph) -> Vec<[bool; 2]> {
        let bodies = || scenario.vehicle_types().values().map(body_of);
        let cars = bodies().filter(|body| !body.exceeds_car());
        // Width, and from the rear axle to the farther end, m.
        let largest = [cars.collect::<Vec<_>>(), bodies().collect()].map(|class| {
            let largest = |of: fn(&VehicleBody) -> f64| class.iter().map(of).fold(0.0, f64::max);
            (
                largest(|body| body.width),
                largest(|body| body.front.max(body.rear)),
            )
        });
        let lanelets = 0..graph.lanelets().len() as u32;
        let swings: Vec<[f64; 2]> = (lanelets.clone())
            .map(|id| largest.map(|(_, reach)| swing(graph.line(id).points(), reach)))
            .collect();
        let may_touch = |id: u32, class: usize| {
            let beside = graph.predecessors(id).iter().chain(graph.successors(id));
            let around = beside
                .chain([&id])
                .map(|&near| swings[near as usize][class]);
            let swing = around.fold(0.0, f64::max);
            let reach = (0.5 * largest[class].0 + swing + SLACK).min(WATCH_DISTANCE);
            let stretches = graph.line(id).points().windows(2);
            let mut stretches = stretches.map(|pair| (pair[0], pair[1]));
            stretches.any(|stretch| self.any_near(stretch, reach))
        };
        lanelets
            .map(|id| [0, 1].map(|class| self.watched[id as usize] && may_touch(id, class)))
            .collect()
    }

    /// Adds all bodies to a hash.
    pub(super) fn hash(&self, hasher: &mut impl Hasher) {
        hasher.write_usize(self.bodies.len());
        for (owner, body) in &self.bodies {
            let (kind, id, part) = match owner {
                Owner::Obstacle(id) => (0, id.0, 0),
                Owner::Tree(forest, tree) => (1, forest.0, *tree),
            };
            hasher.write_u8(kind);
            hasher.write_u32(id);
            hasher.write_u32(part);
            let mut write = |point: DVec2| {
                hasher.write_u64(point.x.to_bits());
                hasher.write_u64(point.y.to_bits());
            };
            match body {
                Body::Disc { centre, radius } => {
                    write(*centre);
                    write(DVec2::splat(*radius));
                }
                Body::Polygon(corners) => corners.iter().copied().for_each(&mut write),
            }
        }
    }

    /// Sorts bodies into small and large ones.
    fn index(&mut self) {
        let mut middles = Vec::new();
        for (number, (_, body)) in (0u32..).zip(&self.bodies) {
            let (middle, radius) = extent(body);
            if radius > LARGE_RADIUS {
                self.large.push((number, middle, radius));
            } else {
                self.small.push(number);
                middles.push(middle);
                self.largest = self.largest.max(radius);
            }
        }
        // A look-up must reach as far as the largest body is wide: few walls of 300 m are cheaper in a
        // list than every look-up over 300 m.
        self.grid.rebuild(&middles, 20.0);
        let boxes = (0u32..).zip(&self.bodies);
        let boxes: Vec<_> = boxes
            .map(|(number, (_, body))| (number, body.bounds()))
            .collect();
        self.cells = Cells::new(&boxes, self.touching());
    }

    /// Whether a body, by its number, may reach into a disc.
    fn touching(&self) -> impl Fn(u32, DVec2, f64) -> bool {
        |number, middle, radius| !self.bodies[number as usize].1.is_apart(middle, radius)
    }

    /// Finds out which bodies may be in the way of somebody on a lane, and who may see them.
    ///
    /// A body is in the way where its nearest point lies beside the middle of a lane by less than half of
    /// the vehicle and [`SIDE_CLEARANCE`], for one that looks [`MOST_ASIDE`] to the side.
    fn index_ways(&mut self, scenario: &Scenario, graph: &LaneGraph) {
        if self.bodies.is_empty() {
            return;
        }
        let types = || scenario.vehicle_types().values();
        let widest = types().map(|kind| kind.width).fold(0.0, f64::max);
        let longest = types().map(|kind| kind.length).fold(0.0, f64::max);
        let beside = 0.5 * widest + SIDE_CLEARANCE + MOST_ASIDE + SLACK;
        let mut is_in_way = vec![false; self.bodies.len()];
        let lines = (0..graph.lanelets().len() as u32).map(|id| graph.line(id));
        for line in lines.clone() {
            for pair in line.points().windows(2) {
                self.mark_near((pair[0], pair[1]), beside, &mut is_in_way);
            }
        }
        let boxes = (0u32..).zip(&self.bodies).zip(&is_in_way);
        let boxes = boxes.filter(|(_, is_in_way)| **is_in_way);
        let boxes: Vec<_> = boxes
            .map(|((number, (_, body)), _)| (number, body.bounds()))
            .collect();
        self.in_ways = Cells::new(&boxes, self.touching());
        // From the rear axle on the line to the front, and from there as far as one sees.
        let sight = DVec2::splat(OBSTACLE_REACH + longest + WATCH_DISTANCE);
        let sees = |point: &DVec2| {
            let mut sees = false;
            self.in_ways
                .for_each_in(*point - sight, *point + sight, |_| sees = true);
            sees
        };
        self.seen = lines.map(|line| line.points().iter().any(sees)).collect();
    }

    /// Marks the bodies within a distance of a stretch.
    fn mark_near(&self, stretch: (DVec2, DVec2), distance: f64, marks: &mut [bool]) {
        self.for_each_beside(stretch, distance, |number| {
            let mark = &mut marks[number as usize];
            *mark = *mark || self.is_near(number, stretch, distance);
        });
    }

    /// Whether any body is within a distance of a stretch.
    fn any_near(&self, stretch: (DVec2, DVec2), distance: f64) -> bool {
        let mut is_near = false;
        self.for_each_beside(stretch, distance, |number| {
            is_near = is_near || self.is_near(number, stretch, distance);
        });
        is_near
    }

    /// Calls `visit` with the bodies in the box around a stretch.
    fn for_each_beside(&self, (from, to): (DVec2, DVec2), distance: f64, visit: impl FnMut(u32)) {
        let (low, high) = (from.min(to) - distance, from.max(to) + distance);
        self.cells.for_each_in(low, high, visit);
    }

    /// Whether a body is within a distance of a stretch, looked at in steps.
    fn is_near(&self, number: u32, (from, to): (DVec2, DVec2), distance: f64) -> bool {
        let body = &self.bodies[number as usize].1;
        let steps = ((to - from).length() / STEP).ceil().clamp(1.0, 1e4);
        (0..=steps as u32).any(|step| {
            let point = from.lerp(to, f64::from(step) / steps);
            (body.closest_point(point) - point).length() < distance
        })
    }

    /// Calls `visit` for every body whose circle comes within `reach` of a point.
    pub(crate) fn for_each_near(&self, point: DVec2, reach: f64, mut visit: impl FnMut(u32)) {
        self.grid
            .for_each_within(point, reach + self.largest, |index, _| {
                visit(self.small[index as usize])
            });
        for &(number, middle, radius) in &self.large {
            if (middle - point).length_squared() <= (reach + radius) * (reach + radius) {
                visit(number);
            }
        }
    }

    /// Whether vehicles on a lanelet have to look out for obstacles.
    #[inline]
    pub(crate) fn is_watched(&self, lanelet: u32) -> bool {
        self.watched[lanelet as usize]
    }

    /// Whether a vehicle that drives along the middle of a lanelet may touch an obstacle; one that is no car
    /// is long.
    #[inline]
    pub(crate) fn may_be_touched(&self, lanelet: u32, is_long: bool) -> bool {
        self.touched[lanelet as usize][usize::from(is_long)]
    }

    /// Whether somebody who keeps to a lanelet may see an obstacle in its way.
    #[inline]
    pub(crate) fn is_seen_from(&self, lanelet: u32) -> bool {
        self.seen[lanelet as usize]
    }

    /// The nearest point of an obstacle within `reach` that passes a test; with `in_ways` only of those that
    /// may be in the way of somebody on a lane.
    pub(crate) fn nearest(
        &self,
        point: DVec2,
        reach: f64,
        displaced: &Displaced,
        in_ways: bool,
        accept: impl Fn(DVec2) -> bool,
    ) -> Option<DVec2> {
        // Where many stand, the nearest is near: what was found within a shorter reach is nearer than all
        // beyond it.
        SHARES_OF_REACH.into_iter().find_map(|share| {
            self.nearest_within(point, share * reach, displaced, in_ways, &accept)
        })
    }

    fn nearest_within(
        &self,
        point: DVec2,
        reach: f64,
        displaced: &Displaced,
        in_ways: bool,
        accept: impl Fn(DVec2) -> bool,
    ) -> Option<DVec2> {
        let mut best: Option<(f64, u32, DVec2)> = None;
        let cells = if in_ways { &self.in_ways } else { &self.cells };
        self.for_each_here(cells, point, reach, displaced, |index, body| {
            let closest = body.closest_point(point);
            let distance = (closest - point).length();
            // Of two at the same distance the lower number: the grid visits bodies by its cells.
            let better = best.is_none_or(|(d, i, _)| distance < d || (distance == d && index < i));
            if distance <= reach && better && accept(closest) {
                best = Some((distance, index, closest));
            }
        });
        best.map(|(_, _, closest)| closest)
    }

    /// Calls `visit(owner, depth)` for every obstacle that a vehicle overlaps, which lies within a circle.
    pub(crate) fn for_each_contact(
        &self,
        (middle, radius): (DVec2, f64),
        displaced: &Displaced,
        vehicle: impl Fn() -> OrientedBox,
        mut visit: impl FnMut(Owner, f64),
    ) {
        // Its box is made when there is something to compare it with, which is hardly ever.
        let mut own = None;
        self.for_each_here(&self.cells, middle, radius, displaced, |index, body| {
            if body.is_apart(middle, radius) {
                return;
            }
            let depth = body.penetration(own.get_or_insert_with(&vehicle));
            if depth > 0.0 {
                visit(self.bodies[index as usize].0, depth);
            }
        });
    }

    /// Calls `visit` for every body whose box comes within `reach` of a point, where it is now, and
    /// for all displaced ones.
    fn for_each_here(
        &self,
        cells: &Cells,
        point: DVec2,
        reach: f64,
        displaced: &Displaced,
        mut visit: impl FnMut(u32, &Body),
    ) {
        cells.for_each_in(point - reach, point + reach, |index| {
            if !displaced.0.contains_key(&index) {
                visit(index, &self.bodies[index as usize].1);
            }
        });
        for (&index, body) in &displaced.0 {
            visit(index, body);
        }
    }

    /// A body by its number, if it is loose.
    pub(crate) fn loose(&self, number: u32) -> Option<&LooseKind> {
        let stature = self.statures.get(number as usize)?;
        let mass = stature.mass?;
        let (owner, body) = &self.bodies[number as usize];
        let Owner::Obstacle(id) = *owner else {
            return None;
        };
        let kind = stature.loose.get_or_init(|| match body {
            Body::Disc { centre, radius } => {
                let disc = (*centre, *radius);
                Some(LooseKind::disc(id, disc, stature.height, mass))
            }
            Body::Polygon(corners) => LooseKind::prism(id, corners, stature.height, mass),
        });
        kind.as_ref()
    }

    /// The number of a loose obstacle's body.
    pub(crate) fn number_of(&self, id: ObstacleId) -> Option<u32> {
        // Obstacles come first, in the order of their ids.
        let key = |owner: &Owner| match *owner {
            Owner::Obstacle(id) => (0, id.0),
            Owner::Tree(..) => (1, 0),
        };
        // An obstacle of several bodies is found at any of them; it is not loose at all then.
        let found = self
            .bodies
            .binary_search_by_key(&(0, id.0), |(owner, _)| key(owner));
        let number = found.ok()? as u32;
        self.loose(number).map(|_| number)
    }

    /// A body by its number as something that stands on the ground, whose height at a place is given;
    /// `None` if it has no inside.
    pub(crate) fn still(&self, number: u32, ground: impl Fn(DVec2) -> f64) -> Option<Still> {
        let body = &self.bodies[number as usize].1;
        let tree;
        let stature = match self.statures.get(number as usize) {
            Some(stature) => stature,
            None => {
                tree = Stature::new(TREE_HEIGHT, None);
                &tree
            }
        };
        let (solid, middle) = stature.solid(body)?;
        Some(Still {
            solid: solid.clone(),
            // A part of it is in the ground: that may fall off beside its middle.
            middle: middle.extend(ground(*middle) + solid.half_height() - FOOT),
            heading: 0.0,
        })
    }

    /// What rigid bodies meet of a body by its number, as seen from above, counter-clockwise; `None` if it
    /// has no inside.
    pub(crate) fn outline(&self, number: u32) -> Option<Vec<DVec2>> {
        match &self.bodies[number as usize].1 {
            // A cylinder is round for the solver.
            Body::Disc { centre, radius } => {
                let corner = |i: u32| unit(TAU * f64::from(i) / f64::from(ROUND));
                Some((0..ROUND).map(|i| *centre + *radius * corner(i)).collect())
            }
            body => {
                let (solid, middle) = self.statures.get(number as usize)?.solid(body)?;
                // Its lower end comes first.
                let corners = solid.corners();
                let lower = corners[..corners.len() / 2].iter();
                Some(lower.map(|corner| *middle + corner.truncate()).collect())
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }
}

impl Stature {
    fn new(height: f64, mass: Option<f64>) -> Self {
        Self {
            height,
            mass,
            ..Self::default()
        }
    }

    /// The body, and where its middle is.
    fn solid(&self, body: &Body) -> Option<&(Solid, DVec2)> {
        let solid = self.solid.get_or_init(|| {
            let half_height = 0.5 * (self.height + FOOT);
            match body {
                Body::Disc { centre, radius } => {
                    Some((Solid::cylinder(*radius, half_height), *centre))
                }
                Body::Polygon(corners) => {
                    let (middle, _) = extent(body);
                    let about: Vec<DVec2> = corners.iter().map(|&corner| corner - middle).collect();
                    Some((Solid::prism(&about, half_height)?, middle))
                }
            }
        });
        solid.as_ref()
    }
}

/// A shape as convex bodies; a polygon with notches becomes triangles.
fn bodies_of(shape: &Shape) -> Vec<Body> {
    if let &Shape::Circle { x, y, radius } = shape {
        return vec![Body::Disc {
            centre: DVec2::new(x, y),
            radius,
        }];
    }
    let mut outline = shape.outline();
    // To the left round, so that a turn to the right is a notch.
    if polygon::signed_area(&outline) < 0.0 {
        outline.reverse();
    }
    // Overlaps are found by separating axes, which convex bodies have and others do not.
    let convex = (0..outline.len()).all(|i| {
        let [a, b, c] = [0, 1, 2].map(|k| outline[(i + k) % outline.len()]);
        (b - a).perp_dot(c - b) >= 0.0
    });
    if convex {
        return vec![Body::Polygon(outline)];
    }
    let mut triangles: Vec<u32> = Vec::new();
    earcut::Earcut::new().earcut(outline.iter().map(|p| [p.x, p.y]), &[], &mut triangles);
    triangles
        .chunks_exact(3)
        .map(|t| Body::Polygon(t.iter().map(|&i| outline[i as usize]).collect()))
        .collect()
}

fn extent(body: &Body) -> (DVec2, f64) {
    match body {
        Body::Disc { centre, radius } => (*centre, *radius),
        Body::Polygon(corners) => {
            let (low, high) = polygon::bounds(corners).unwrap_or_default();
            (0.5 * (low + high), 0.5 * (high - low).length())
        }
    }
}

/// What vehicles of a type cover.
fn body_of(kind: &VehicleType) -> VehicleBody {
    VehicleBody {
        width: kind.width,
        front: kind.front(),
        rear: kind.rear_overhang,
    }
}

/// How far a straight body of a length leaves a line that it touches at one end, m: by all that the line turns
/// within the length, each turn times what of the body is beyond it.
fn swing(line: &[DVec2], length: f64) -> f64 {
    let turn = |at: usize| {
        let (before, after) = (line[at] - line[at - 1], line[at + 1] - line[at]);
        before.angle_to(after).abs()
    };
    let corners = 1..line.len().saturating_sub(1);
    let from = |first: usize| {
        let (mut distance, mut swing) = (0.0, 0.0);
        for at in first..corners.end {
            swing += turn(at) * (length - distance);
            distance += (line[at + 1] - line[at]).length();
            if distance >= length {
                break;
            }
        }
        swing
    };
    corners.clone().map(from).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::Ground;
    use super::*;
    use crate::testing::{draw_street, street};
    use roadwright_geometry::Pose;
    use roadwright_geometry::math::Stream;
    use roadwright_scenario::{Edit, Obstacle};

    /// Posts and discs, close together on one side and with wide gaps on the other.
    fn field() -> Scenario {
        let mut scenario = Scenario::new("field");
        let mut stream = Stream::new(1, "field", 0);
        for number in 0..120 {
            let x = stream.next_in(-60.0, 60.0);
            let y = stream.next_in(0.0, 40.0) * if number % 4 == 0 { 3.0 } else { -1.0 };
            let shape = if number % 2 == 0 {
                Shape::Circle { x, y, radius: 0.7 }
            } else {
                Shape::Box {
                    x,
                    y,
                    heading: 0.4,
                    length: 2.0,
                    width: 1.0,
                }
            };
            let obstacle = Obstacle {
                name: "post".into(),
                shape,
                height: 2.0,
                mass: None,
            };
            let id = scenario.next_obstacle_id();
            let edit = Edit::Obstacle(id, Some(Box::new(obstacle)));
            scenario.apply(edit).unwrap();
        }
        scenario
    }

    #[test]
    fn who_keeps_to_its_lane_touches_nothing_where_it_is_said_that_nothing_is_near() {
        // Streets across the field that bend where they meet.
        let mut scenario = field();
        for (from, to) in [
            ((-70.0, -10.0), (70.0, -25.0)),
            ((-30.0, -60.0), (20.0, 60.0)),
        ] {
            draw_street(&mut scenario, (from, to), &street(1, 1));
        }
        let ground = Ground::new(&scenario);
        let (graph, obstacles) = (ground.graph(), &ground.obstacles);
        let kinds: Vec<&VehicleType> = scenario.vehicle_types().values().collect();
        assert!(kinds.iter().any(|kind| body_of(kind).exceeds_car()));
        let (mut touched, mut quiet) = (0, 0);
        for lanelet in 0..graph.lanelets().len() as u32 {
            let line = graph.line(lanelet);
            for kind in &kinds {
                let is_long = body_of(kind).exceeds_car();
                let front = kind.front();
                let may_touch = |id: u32| obstacles.may_be_touched(id, is_long);
                quiet += usize::from(obstacles.is_watched(lanelet) && !may_touch(lanelet));
                for step in 0..(4.0 * line.length()) as u32 {
                    let s = 0.25 * f64::from(step);
                    let pose = line.pose(s);
                    let middle = Pose {
                        position: pose.point(0.5 * kind.length - kind.rear_overhang, 0.0),
                        ..pose
                    };
                    let body = OrientedBox::new(middle, kind.length, kind.width);
                    let touches = |(_, other): &(Owner, Body)| other.penetration(&body) > 0.0;
                    if !obstacles.bodies.iter().any(touches) {
                        continue;
                    }
                    touched += 1;
                    let is_at_end = line.length() - s < front;
                    let mut next = graph.successors(lanelet).iter();
                    let is_known = may_touch(lanelet) || is_at_end && next.any(|&id| may_touch(id));
                    // Beyond its lane, where none goes on, a body touches what is not beside a lane.
                    let is_beyond = is_at_end && graph.successors(lanelet).is_empty();
                    assert!(is_known || is_beyond, "lanelet {lanelet} at {s} m");
                }
            }
        }
        // And most that are watched, for behaviours, are quiet.
        assert!(
            touched > 100 && quiet > 5,
            "{touched} touched, {quiet} quiet"
        );
    }

    #[test]
    fn a_type_that_becomes_wider_may_touch_more() {
        let mut before = Scenario::new("posts");
        draw_street(&mut before, ((0.0, 0.0), (100.0, 0.0)), &street(1, 0));
        let y = Ground::new(&before).graph().line(0).position(50.0).y + 2.5;
        let post = Obstacle {
            name: "post".into(),
            shape: Shape::Circle {
                x: 50.0,
                y,
                radius: 0.2,
            },
            height: 2.0,
            mass: None,
        };
        let edit = Edit::Obstacle(ObstacleId(1), Some(Box::new(post)));
        before.apply(edit).unwrap();
        let mut after = before.clone();
        for (name, kind) in before.vehicle_types() {
            let width = 4.4;
            let wide = VehicleType {
                width,
                ..kind.clone()
            };
            after
                .apply(Edit::VehicleType(name.clone(), Some(Box::new(wide))))
                .unwrap();
        }
        let ground = Ground::new(&before);
        assert!(!ground.obstacles.may_be_touched(0, true));
        let ground = ground.after_edit(&before, &after);
        assert!(ground.obstacles.may_be_touched(0, true));
    }

    #[test]
    fn the_nearest_is_the_nearest_of_all_wherever_one_looks_from() {
        let ground = Ground::new(&field());
        let obstacles = &ground.obstacles;
        let mut stream = Stream::new(2, "looks", 0);
        let (mut near, mut far, mut none) = (0, 0, 0);
        for _ in 0..2000 {
            let point = DVec2::new(stream.next_in(-90.0, 90.0), stream.next_in(-60.0, 160.0));
            let heading = DVec2::from_angle(stream.next_in(-3.0, 3.0));
            // Half of the world is behind one.
            let accept = |seen: DVec2| (seen - point).dot(heading) > 0.0;
            let reach = OBSTACLE_REACH;
            let found = obstacles.nearest(point, reach, &Displaced::default(), false, accept);
            let all = obstacles
                .bodies
                .iter()
                .map(|(_, body)| body.closest_point(point));
            let seen = all.filter(|seen| accept(*seen) && (*seen - point).length() <= reach);
            let distance = |seen: &DVec2| (*seen - point).length();
            let nearest = seen.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            assert_eq!(found, nearest, "{point}");
            match found {
                None => none += 1,
                Some(seen) if distance(&seen) < SHARES_OF_REACH[0] * reach => near += 1,
                Some(_) => far += 1,
            }
        }
        // All three happen.
        assert!(near > 100 && far > 100 && none > 100, "{near} {far} {none}");
    }
}
