//! Fixed bodies: obstacles and trees, indexed by position.

use super::LooseKind;
use super::body_list::{BodyList, Changes};
use super::cells::Cells;
use glam::DVec2;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{left_of, polygon, unit};
use roadwright_planning::open_ground::{Circle, Heights, Shape as GroundShape};
use roadwright_scenario::{ForestId, ObstacleId, Scenario, Shape, VerticalSpan};
use roadwright_vehicle::rigid::{Solid, Still};
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::hash::Hasher;
use std::sync::{Arc, OnceLock};

/// Range within which a vehicle on a lane sees obstacles, measured from the front of the vehicle,
/// m. It is the range of the fuzzy driver's terms ([Gerdelan 2011], table 8.2).
pub const OBSTACLE_REACH: f64 = 28.28;
/// Maximum angle to either side at which a vehicle on a lane sees obstacles, rad.
pub const OBSTACLE_ANGLE: f64 = 1.2;
/// Distance from a vehicle's path within which a body obstructs the vehicle, m.
pub const SIDE_CLEARANCE: f64 = 0.3;
/// Maximum lateral shift of the strip that a vehicle searches for obstacles, m. The strip follows
/// the vehicle's offset from the centre line only up to this limit. During a lane change, the
/// vehicle therefore does not watch the lane that it leaves.
pub const MOST_ASIDE: f64 = 0.5;
/// Sampling distance along lanes, m.
const STEP: f64 = 1.0;
/// Maximum distance that may result from rounding errors, m.
const ROUNDING: f64 = 1e-6;

/// Height of trees for collisions, m.
const TREE_HEIGHT: f64 = 6.0;
/// Depth to which fixed bodies extend below the ground, m.
const FOOT: f64 = 2.0;

/// Number of corners of the polygon that represents a disc.
const ROUND: u32 = 24;
/// Fractions of the reach within which the nearest body is searched for. They are tried in this
/// order until a body is found.
const SHARES_OF_REACH: [f64; 2] = [0.35, 1.0];

/// Area of the triangle between a corner and an edge below which the corner counts as lying on the
/// edge, m^2.
const FLAT: f64 = 1e-6;

/// Range of heights that overlaps every body.
const ANY_VEHICLE: VerticalSpan = VerticalSpan {
    low: f64::NEG_INFINITY,
    high: f64::INFINITY,
};

/// Radius of the bounding circle above which a body is kept in a separate list, m.
const LARGE_RADIUS: f64 = 15.0;

/// Owner of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// An obstacle.
    Obstacle(ObstacleId),
    /// A tree of a forest, by its number in the forest.
    Tree(ForestId, u32),
}

/// A fixed body: a disc or a convex polygon.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    Disc {
        centre: DVec2,
        radius: f64,
    },
    /// A convex polygon. Its corners are shared between the grounds before and after an edit, like
    /// statures.
    Polygon(Arc<[DVec2]>),
}

impl Body {
    #[inline]
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
            Self::Polygon(corners) => {
                // This is called for a million pairs of a house and a lane, so each distance is
                // computed only once.
                let (mut closest, mut least) = (point, f64::INFINITY);
                for (a, b) in polygon::edges(corners) {
                    let on_edge = polygon::closest_on_segment(a, b, point);
                    let squared = (on_edge - point).length_squared();
                    if squared < least {
                        (closest, least) = (on_edge, squared);
                    }
                }
                closest
            }
        }
    }

    /// Returns the body as a shape on open ground.
    fn shape(&self) -> GroundShape {
        match self {
            Self::Disc { centre, radius } => GroundShape::Circle(Circle {
                centre: *centre,
                radius: *radius,
            }),
            Self::Polygon(corners) => GroundShape::Polygon(corners.clone()),
        }
    }

    pub(super) fn bounds(&self) -> (DVec2, DVec2) {
        match self {
            Self::Disc { centre, radius } => (*centre - *radius, *centre + *radius),
            Self::Polygon(corners) => polygon::bounds(corners).unwrap_or_default(),
        }
    }

    /// Whether a line along an edge separates a disc from the body. Testing the bounding disc of a
    /// vehicle is faster than testing the vehicle's outline.
    #[inline]
    fn is_apart(&self, centre: DVec2, radius: f64) -> bool {
        match self {
            Self::Disc { .. } => false,
            Self::Polygon(corners) => {
                // Triangles may have either orientation. Without an area, the orientation is
                // unknown.
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

    /// Returns a lower bound of the distance to a vehicle, m; 0 if they may touch.
    fn room(&self, vehicle: &OrientedBox) -> f64 {
        match self {
            Self::Disc { centre, radius } => {
                let distance = (vehicle.closest_point(*centre) - *centre).length();
                (distance - radius).max(0.0)
            }
            Self::Polygon(corners) => {
                // Perpendicular to each edge, there may be a gap between the two convex bodies,
                // which are at least that far apart. The largest of these gaps is a good enough
                // bound.
                let turn = polygon::signed_area(corners);
                let beside = |(a, b): (DVec2, DVec2)| {
                    let outwards = left_of(a - b).normalize() * turn.signum();
                    outwards.dot(vehicle.centre - a) - vehicle.reach(outwards)
                };
                let room = polygon::edges(corners).map(beside).fold(0.0, f64::max);
                if turn == 0.0 { 0.0 } else { room }
            }
        }
    }

    #[inline]
    fn penetration(&self, vehicle: &OrientedBox) -> f64 {
        match self {
            Self::Disc { centre, radius } => vehicle.circle_penetration(*centre, *radius),
            Self::Polygon(corners) => vehicle.polygon_penetration(corners),
        }
    }
}

/// Vertical extent and solid of a body.
#[derive(Debug)]
pub(super) struct Stature {
    /// Range of heights that the body occupies.
    span: VerticalSpan,
    /// Mass of a loose body, kg; otherwise `None`.
    mass: Option<f64>,
    /// Solid for collisions with rigid vehicles, and the position of its centre. Computed when a
    /// rigid vehicle first comes near.
    solid: OnceLock<Option<(Solid, DVec2)>>,
    /// Like `solid`, but for a loose body.
    loose: OnceLock<Option<LooseKind>>,
}

/// Loose bodies that have been moved from their positions in the scenario, by number.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Displaced(BTreeMap<u32, Body>);

impl Displaced {
    /// Sets the area that a moved body currently covers.
    pub fn put(&mut self, number: u32, outline: Vec<DVec2>) {
        self.0.insert(number, Body::Polygon(outline.into()));
    }

    /// Whether no obstacle is displaced.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the numbers and current footprints of moved bodies.
    pub fn shapes(&self) -> impl Iterator<Item = (u32, GroundShape)> {
        self.0.iter().map(|(&number, body)| (number, body.shape()))
    }

    /// Whether a body is displaced.
    #[inline]
    pub fn has(&self, number: u32) -> bool {
        self.0.contains_key(&number)
    }
}

/// A body that stands on the ground.
pub struct Upright {
    /// Number of the body.
    pub number: u32,
    /// The object to which the body belongs.
    pub owner: Owner,
    /// Footprint of the body.
    pub shape: GroundShape,
    /// Heights of the body's lower edge and its top above the ground.
    pub heights: Heights,
    /// Whether the body can be pushed.
    pub is_loose: bool,
}

/// All fixed bodies of a scenario.
pub struct Obstacles {
    all: BodyList,
    /// Centres of the small bodies. Large bodies are kept in a separate list, so that one long wall
    /// does not widen every look-up.
    grid: GridIndex,
    /// For each point of the grid, the number of its body.
    small: Vec<u32>,
    /// Large bodies with their bounding circles.
    large: Vec<(u32, DVec2, f64)>,
    /// Maximum distance from a small body's centre to its edge, m.
    largest: f64,
    /// All bodies, indexed by their bounding boxes. Built on first use, because a ground without
    /// vehicles needs no index.
    cells: OnceLock<Cells>,
    /// Range of heights that all bodies have in common. A vehicle in this range can hit any of
    /// them.
    common: VerticalSpan,
}

impl Obstacles {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Self::of(BodyList::new(scenario), None)
    }

    /// Returns the bodies for the edited scenario `new`, and the changes. `old` is the scenario
    /// that `self` was built from.
    pub(super) fn after_edit(&self, old: &Scenario, new: &Scenario) -> (Self, Changes) {
        let (all, changes) = self.all.after_edit(old, new);
        let cells = self.cells.get();
        (Self::of(all, cells.map(|cells| (cells, &changes))), changes)
    }

    fn of(all: BodyList, before: Option<(&Cells, &Changes)>) -> Self {
        let mut obstacles = Self {
            all,
            grid: GridIndex::new(),
            small: Vec::new(),
            large: Vec::new(),
            largest: 0.0,
            cells: OnceLock::new(),
            common: VerticalSpan {
                low: 0.0,
                high: TREE_HEIGHT,
            },
        };
        obstacles.index(before);
        obstacles.find_common();
        obstacles
    }

    /// Finds the range of heights that all bodies have in common.
    fn find_common(&mut self) {
        for stature in &self.all.statures {
            self.common.low = self.common.low.max(stature.span.low);
            self.common.high = self.common.high.min(stature.span.high);
        }
    }

    /// Whether a vehicle with the given range of heights would hit a body instead of driving over
    /// it or passing underneath.
    #[inline]
    pub fn is_met(&self, number: u32, vehicle: VerticalSpan) -> bool {
        // In most scenarios, vehicles cannot pass under or over any body, so no stature has to be
        // looked up.
        self.common.low == 0.0 && self.common.high > vehicle.low || {
            let stature = self.all.statures.get(number as usize);
            stature.is_none_or(|stature| stature.span.is_met_by(vehicle))
        }
    }

    /// Adds all bodies to a hash.
    pub(super) fn hash(&self, hasher: &mut impl Hasher) {
        hasher.write_usize(self.all.bodies.len());
        for (owner, body) in &self.all.bodies {
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
        for (number, stature) in self.all.statures.iter().enumerate() {
            // Ground without hanging obstacles keeps the hash that it has in saves of earlier
            // versions.
            if stature.span.low > 0.0 {
                hasher.write_usize(number);
                hasher.write_u64(stature.span.low.to_bits());
            }
        }
    }

    /// Builds the indices of the bodies. Small bodies are in the grid, and large ones in a separate
    /// list.
    fn index(&mut self, before: Option<(&Cells, &Changes)>) {
        let mut middles = Vec::new();
        for (number, (_, body)) in (0u32..).zip(&self.all.bodies) {
            let (middle, radius) = extent(body);
            if radius > LARGE_RADIUS {
                self.large.push((number, middle, radius));
            } else {
                self.small.push(number);
                middles.push(middle);
                self.largest = self.largest.max(radius);
            }
        }
        // A look-up must reach as far as the largest body extends. A separate list of a few walls
        // of 300 m takes less time than look-ups over 300 m.
        self.grid.rebuild(&middles, 20.0);
        if before.is_some() {
            self.cells = OnceLock::from(self.make_cells(before));
        }
    }

    fn make_cells(&self, before: Option<(&Cells, &Changes)>) -> Cells {
        let numbers = 0..self.all.bodies.len() as u32;
        let boxes: Vec<_> = numbers
            .map(|number| (number, self.bounds(number)))
            .collect();
        Cells::after(before, &boxes, self.touches())
    }

    fn cells(&self) -> &Cells {
        self.cells.get_or_init(|| self.make_cells(None))
    }

    /// Builds the cells for the bounding boxes of the given bodies. The bodies are sorted by
    /// number.
    pub(super) fn cells_of(&self, numbers: &[u32]) -> Cells {
        let boxes = numbers.iter().map(|&number| (number, self.bounds(number)));
        Cells::new(&boxes.collect::<Vec<_>>(), self.touches())
    }

    /// Returns a test of whether a body may overlap a disc with the given centre and radius, m.
    fn touches(&self) -> impl Fn(u32, DVec2, f64) -> bool + '_ {
        |number, middle, radius| !self.all.bodies[number as usize].1.is_apart(middle, radius)
    }

    /// Returns the corners of the bounding box of a body.
    pub(super) fn bounds(&self, number: u32) -> (DVec2, DVec2) {
        self.all.bodies[number as usize].1.bounds()
    }

    /// Whether any body is within `distance` metres of a point.
    pub(super) fn is_any_within(&self, point: DVec2, distance: f64) -> bool {
        let displaced = Displaced::default();
        let nearest = self.nearest(point, distance, &displaced, None, ANY_VEHICLE, |_| true);
        nearest.is_some()
    }

    /// Calls `visit` for the bodies in the box around a segment.
    pub(super) fn for_each_beside(
        &self,
        from: DVec2,
        to: DVec2,
        distance: f64,
        visit: impl FnMut(u32),
    ) {
        let (low, high) = (from.min(to) - distance, from.max(to) + distance);
        self.cells().for_each_in(low, high, visit);
    }

    /// Whether a body is within `distance` metres of a point.
    pub(super) fn is_within(&self, number: u32, point: DVec2, distance: f64) -> bool {
        let closest = self.all.bodies[number as usize].1.closest_point(point);
        (closest - point).length() <= distance
    }

    /// Whether body `number` is within `distance` metres of a polyline. Tests sampled points of the
    /// line.
    pub(super) fn is_near(&self, number: u32, line: &[DVec2], distance: f64) -> bool {
        let body = &self.all.bodies[number as usize].1;
        // Distance along the line within which the body cannot be near, m. Between two points, the
        // distance from a body changes by at most the distance between them.
        let mut free = 0.0;
        line.windows(2).any(|ends| {
            let (from, to) = (ends[0], ends[1]);
            let length = (to - from).length();
            let steps = (length / STEP).ceil().clamp(1.0, 1e4);
            (0..=steps as u32).any(|step| {
                if step > 0 {
                    free -= length / steps;
                }
                if free > ROUNDING {
                    return false;
                }
                let point = from.lerp(to, f64::from(step) / steps);
                free = (body.closest_point(point) - point).length() - distance;
                free < 0.0
            })
        })
    }

    /// Returns the distance from body `number` to the segment from `from` to `to`, m, measured at
    /// sampled points of the segment.
    pub(super) fn distance_from(&self, number: u32, from: DVec2, to: DVec2) -> f64 {
        let body = &self.all.bodies[number as usize].1;
        let steps = ((to - from).length() / STEP).ceil().clamp(1.0, 1e4);
        let distances = (0..=steps as u32).map(|step| {
            let point = from.lerp(to, f64::from(step) / steps);
            (body.closest_point(point) - point).length()
        });
        distances.fold(f64::INFINITY, f64::min)
    }

    /// Calls `visit` for every body whose bounding circle is within `reach` of a point.
    pub fn for_each_near(&self, point: DVec2, reach: f64, mut visit: impl FnMut(u32)) {
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

    /// Finds the nearest point within `reach` that passes a test and belongs to an obstacle in the
    /// vehicle's range of heights. The search can be limited to bodies near given boxes.
    pub fn nearest(
        &self,
        point: DVec2,
        reach: f64,
        displaced: &Displaced,
        some: Option<&Cells>,
        vehicle: VerticalSpan,
        accept: impl Fn(DVec2) -> bool,
    ) -> Option<DVec2> {
        // Where there are many obstacles, the nearest one is close. A body found within a shorter
        // reach is nearer than all bodies beyond that reach.
        SHARES_OF_REACH.into_iter().find_map(|share| {
            self.nearest_within(point, share * reach, displaced, some, vehicle, &accept)
        })
    }

    fn nearest_within(
        &self,
        point: DVec2,
        reach: f64,
        displaced: &Displaced,
        some: Option<&Cells>,
        vehicle: VerticalSpan,
        accept: impl Fn(DVec2) -> bool,
    ) -> Option<DVec2> {
        let mut best: Option<(f64, u32, DVec2)> = None;
        let cells = some.unwrap_or_else(|| self.cells());
        self.for_each_here(cells, point, reach, displaced, |index, body| {
            if !self.is_met(index, vehicle) {
                return;
            }
            let closest = body.closest_point(point);
            let distance = (closest - point).length();
            // At equal distances, the lower number is used, because the order of visits depends on
            // the cells.
            let better = best.is_none_or(|(d, i, _)| distance < d || (distance == d && index < i));
            if distance <= reach && better && accept(closest) {
                best = Some((distance, index, closest));
            }
        });
        best.map(|(_, _, closest)| closest)
    }

    /// Calls `visit(owner, depth)` for every obstacle that overlaps a vehicle, given its bounding circle and
    /// range of heights.
    pub fn for_each_contact(
        &self,
        middle: DVec2,
        radius: f64,
        displaced: &Displaced,
        span: VerticalSpan,
        vehicle: impl Fn() -> OrientedBox,
        mut visit: impl FnMut(Owner, f64),
    ) {
        // The box of the vehicle is built only if there is a body to compare it with, which is
        // rare.
        let mut own = None;
        self.for_each_here(self.cells(), middle, radius, displaced, |index, body| {
            if body.is_apart(middle, radius) || !self.is_met(index, span) {
                return;
            }
            let depth = body.penetration(own.get_or_insert_with(&vehicle));
            if depth > 0.0 {
                visit(self.all.bodies[index as usize].0, depth);
            }
        });
    }

    /// Returns a distance that every point of a vehicle can certainly move without touching an
    /// obstacle, m. It is capped at `most`, and 0 if the vehicle may already touch an obstacle.
    pub fn room_around(&self, vehicle: &OrientedBox, most: f64) -> f64 {
        let axes = [DVec2::X, DVec2::Y].map(|axis| vehicle.reach(axis));
        let reach = DVec2::from(axes) + most;
        let (low, high) = (vehicle.centre - reach, vehicle.centre + reach);
        // A body that covers several cells is visited several times, mostly in direct succession.
        let (mut room, mut last) = (most, u32::MAX);
        self.cells().for_each_in(low, high, |number| {
            if number != last {
                room = room.min(self.all.bodies[number as usize].1.room(vehicle));
                last = number;
            }
        });
        room
    }

    /// Calls `visit` for every body whose current bounding box is within `reach` of a point, and
    /// for all displaced bodies.
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
                visit(index, &self.all.bodies[index as usize].1);
            }
        });
        for (&index, body) in &displaced.0 {
            visit(index, body);
        }
    }

    /// Returns the loose body with the given number; `None` if the body is not loose.
    #[inline]
    pub fn loose(&self, number: u32) -> Option<&LooseKind> {
        let stature = self.all.statures.get(number as usize)?;
        let mass = stature.mass?;
        let (owner, body) = &self.all.bodies[number as usize];
        let Owner::Obstacle(id) = *owner else {
            return None;
        };
        let kind = stature.loose.get_or_init(|| match body {
            Body::Disc { centre, radius } => Some(LooseKind::disc(
                id,
                *centre,
                *radius,
                stature.span.high,
                mass,
            )),
            Body::Polygon(corners) => LooseKind::prism(id, corners, stature.span.high, mass),
        });
        kind.as_ref()
    }

    /// Returns the body number of a loose obstacle; `None` if the obstacle is fixed.
    pub fn number_of(&self, id: ObstacleId) -> Option<u32> {
        // If an obstacle has several bodies, any of them may be found, but such an obstacle is
        // never loose.
        let found = self
            .all
            .bodies
            .binary_search_by_key(&Owner::Obstacle(id), |(owner, _)| *owner);
        let number = found.ok()? as u32;
        self.loose(number).map(|_| number)
    }

    /// Returns the body with the given number as a solid on the ground; `None` if it has no area.
    /// `ground` returns the ground height at a position.
    pub fn still(&self, number: u32, ground: impl Fn(DVec2) -> f64) -> Option<Still> {
        let body = &self.all.bodies[number as usize].1;
        let tree;
        let stature = match self.all.statures.get(number as usize) {
            Some(stature) => stature,
            None => {
                tree = Stature::new(self::standing(TREE_HEIGHT), None);
                &tree
            }
        };
        let (solid, middle) = stature.solid(body)?;
        Some(Still {
            solid: solid.clone(),
            // Part of the solid is below the ground, because the ground may fall away beside its
            // centre.
            middle: middle.extend(ground(*middle) + solid.half_height() + stature.foot()),
            heading: 0.0,
        })
    }

    /// Returns the outline of a body as used for contacts with rigid bodies: in plan view, counter-clockwise.
    /// `None` if it has no area.
    pub fn outline(&self, number: u32) -> Option<Vec<DVec2>> {
        match &self.all.bodies[number as usize].1 {
            // In the solver, a cylinder is round.
            Body::Disc { centre, radius } => {
                let corner = |i: u32| unit(TAU * f64::from(i) / f64::from(ROUND));
                Some((0..ROUND).map(|i| *centre + *radius * corner(i)).collect())
            }
            body => {
                let (solid, middle) = self.all.statures.get(number as usize)?.solid(body)?;
                // The corners of the lower end come first.
                let corners = solid.corners();
                let lower = corners[..corners.len() / 2].iter();
                Some(lower.map(|corner| *middle + corner.truncate()).collect())
            }
        }
    }

    /// Number of bodies.
    #[inline]
    pub fn count(&self) -> usize {
        self.all.bodies.len()
    }

    /// Whether there are no obstacles.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.all.bodies.is_empty()
    }

    /// Calls `visit` for every body, as a shape that stands on open ground at its position in the
    /// scenario.
    pub fn for_each_upright(&self, mut visit: impl FnMut(Upright)) {
        for (number, (owner, body)) in self.all.bodies.iter().enumerate() {
            let stature = self.all.statures.get(number);
            let span = stature.map_or(standing(TREE_HEIGHT), |stature| stature.span);
            // A body has no volume if its top is not above its lower edge.
            if span.low >= span.high {
                continue;
            }
            visit(Upright {
                number: number as u32,
                owner: *owner,
                shape: body.shape(),
                heights: Heights {
                    base: span.low,
                    top: span.high,
                },
                is_loose: stature.is_some_and(|stature| stature.mass.is_some()),
            });
        }
    }
}

impl Stature {
    pub(super) fn new(span: VerticalSpan, mass: Option<f64>) -> Self {
        Self {
            span,
            mass,
            solid: OnceLock::new(),
            loose: OnceLock::new(),
        }
    }

    /// Returns the height of the lower end of the body's solid above the ground, m. The solid of a
    /// standing obstacle extends below ground.
    fn foot(&self) -> f64 {
        if self.span.low > 0.0 {
            self.span.low
        } else {
            -FOOT
        }
    }

    /// Returns the solid of the body, and the position of its centre; `None` if the body has no
    /// volume.
    fn solid(&self, body: &Body) -> Option<&(Solid, DVec2)> {
        let solid = self.solid.get_or_init(|| {
            let half_height = 0.5 * (self.span.high - self.foot());
            match body {
                // The top is not above the lower edge.
                _ if half_height <= 0.0 => None,
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

/// Returns the range of heights from the ground up to `height`, m.
fn standing(height: f64) -> VerticalSpan {
    VerticalSpan {
        low: 0.0,
        high: height,
    }
}

/// Splits a shape into convex bodies. A concave polygon becomes triangles.
pub(super) fn bodies_of(shape: &Shape) -> Vec<Body> {
    if let &Shape::Circle { x, y, radius } = shape {
        return vec![Body::Disc {
            centre: DVec2::new(x.get(), y.get()),
            radius: radius.get(),
        }];
    }
    let mut outline = shape.outline();
    // Made counter-clockwise, so that a turn to the right is a notch.
    if polygon::signed_area(&outline) < 0.0 {
        outline.reverse();
    }
    // The overlap test uses separating axes, which exist only for convex bodies.
    let turns_left = (0..outline.len()).all(|i| {
        let [a, b, c] = [0, 1, 2].map(|k| outline[(i + k) % outline.len()]);
        (b - a).perp_dot(c - b) >= 0.0
    });
    // A self-crossing star also turns only to the left, but it extends beyond its edges.
    let is_within = |(a, b): (DVec2, DVec2)| {
        let beyond = |corner: &DVec2| (b - a).perp_dot(*corner - a) < -FLAT;
        !outline.iter().any(beyond)
    };
    if turns_left && polygon::edges(&outline).all(is_within) {
        return vec![Body::Polygon(outline.into())];
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::testing::put_post;
    use roadwright_geometry::Pose;
    use roadwright_geometry::math::Stream;

    /// Creates a field of posts and discs, which are close together on one side and far apart on
    /// the other.
    pub(crate) fn field() -> Scenario {
        let mut scenario = Scenario::new("field");
        let mut stream = Stream::new(1, "field", 0);
        for number in 0..120 {
            let x = stream.next_in(-60.0, 60.0);
            let y = stream.next_in(0.0, 40.0) * if number % 4 == 0 { 3.0 } else { -1.0 };
            let shape = if number % 2 == 0 {
                Shape::Circle {
                    x: x.into(),
                    y: y.into(),
                    radius: 0.7.into(),
                }
            } else {
                Shape::Box {
                    x: x.into(),
                    y: y.into(),
                    heading: 0.4.into(),
                    length: 2.0.into(),
                    width: 1.0.into(),
                }
            };
            put_post(&mut scenario, shape);
        }
        scenario
    }

    impl Obstacles {
        /// Compares all bodies with `other`, except for the grid, which is always rebuilt.
        pub fn assert_same(&self, other: &Self) {
            assert_eq!(self.all.bodies, other.all.bodies);
            assert_eq!(self.cells(), other.cells());
            let statures = |obstacles: &Self| -> Vec<(VerticalSpan, Option<f64>)> {
                let statures = obstacles.all.statures.iter();
                statures.map(|one| (one.span, one.mass)).collect()
            };
            assert_eq!(statures(self), statures(other));
            let sizes = |of: &Self| (of.small.clone(), of.large.clone(), of.largest);
            assert_eq!(sizes(self), sizes(other));
        }

        /// Whether a vehicle touches any body.
        pub(crate) fn is_any_touched_by(&self, vehicle: &OrientedBox) -> bool {
            let mut bodies = self.all.bodies.iter();
            bodies.any(|(_, body)| body.penetration(vehicle) > 0.0)
        }
    }

    #[test]
    fn a_star_that_crosses_itself_is_not_taken_for_convex() {
        // A star of five corners, each joined to the next but one, so that all turns are to the
        // left.
        let corner = |number: u32| 4.0 * unit(TAU / 5.0 * f64::from(2 * number % 5));
        let star = (0..5).map(corner).collect();
        assert_ne!(bodies_of(&Shape::Polygon { points: star }).len(), 1);
        let square = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (2.0, 4.0), (0.0, 4.0)];
        let square = square.map(DVec2::from).to_vec();
        assert_eq!(
            bodies_of(&Shape::Polygon {
                points: square.into()
            })
            .len(),
            1
        );
    }

    #[test]
    fn a_vehicle_touches_nothing_before_it_has_used_up_its_room() {
        let obstacles = Obstacles::new(&field());
        let mut stream = Stream::new(4, "rooms", 0);
        let (mut near, mut tight) = (0, 0);
        for _ in 0..4000 {
            let mut angle = || stream.next_in(-3.0, 3.0);
            let (heading, away) = (angle(), angle());
            let position = DVec2::new(stream.next_in(-70.0, 70.0), stream.next_in(-50.0, 130.0));
            let vehicle = OrientedBox::new(Pose { position, heading }, 4.4, 1.8);
            let room = obstacles.room_around(&vehicle, 3.0);
            let moved = |distance: f64| OrientedBox {
                centre: vehicle.centre + distance * unit(away),
                ..vehicle
            };
            assert!((0.0..=3.0).contains(&room));
            let is_free = room > 0.0;
            assert!(!is_free || !obstacles.is_any_touched_by(&moved(0.999 * room)));
            near += usize::from(is_free && room < 3.0);
            // The actual distance is not much larger than the bound.
            tight += usize::from(is_free && obstacles.is_any_touched_by(&moved(room + 0.5)));
        }
        assert!(near > 500 && tight > 100, "{near} {tight}");
    }

    #[test]
    fn the_nearest_is_the_nearest_of_all_wherever_one_looks_from() {
        let obstacles = Obstacles::new(&field());
        let mut stream = Stream::new(2, "looks", 0);
        let (mut near, mut far, mut none) = (0, 0, 0);
        for _ in 0..2000 {
            let point = DVec2::new(stream.next_in(-90.0, 90.0), stream.next_in(-60.0, 160.0));
            let heading = DVec2::from_angle(stream.next_in(-3.0, 3.0));
            // Only points in front of the observer are accepted, which is half of the world.
            let accept = |seen: DVec2| (seen - point).dot(heading) > 0.0;
            let reach = OBSTACLE_REACH;
            let found = obstacles.nearest(
                point,
                reach,
                &Displaced::default(),
                None,
                ANY_VEHICLE,
                accept,
            );
            let all = obstacles
                .all
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
        // All three cases occur.
        assert!(near > 100 && far > 100 && none > 100, "{near} {far} {none}");
    }
}
