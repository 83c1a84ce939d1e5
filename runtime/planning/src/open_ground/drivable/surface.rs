//! The part of the map around a trip: factors of cells, and obstacles for exact checks.

use super::super::cell::{Cell, CellSize};
use super::super::grid::TILE;
use super::super::ground::{OpenGround, ProfileId, Reading, Stamp};
use super::super::item::Owner;
use super::super::raster::TileKey;
use super::super::shape::{Bounds, Shape};
use super::trailer::{Combination, DrivableTrailer};
use super::vehicle::{DrivableVehicle, Placement};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, left_of};

/// Edge length of the squares that index the obstacles, m.
const SQUARE: f64 = 8.0;
/// Maximum clearance that is measured around a body, m.
pub(super) const FARTHEST_ROOM: f64 = 3.0;
/// Distance between exact collision checks close to an obstacle, m.
pub(super) const CLOSE_STEP: f64 = 0.05;
/// Maximum distance between exact collision checks of a vehicle with a trailer, m.
const FARTHEST_STEP: f64 = 0.5;
/// Distance between the sample points on an arc for computing its cost, m.
const COST_STEP: f64 = 0.5;
/// Factor of a cell in which the body fits only at some headings. The footprint decides whether the body
/// fits.
const BESIDE_OBSTACLE: u16 = 64;

/// Copy of the map within a rectangle, without moving bodies and the vehicle's own items.
#[derive(Debug, Clone)]
pub(super) struct Surface {
    profile: ProfileId,
    owner: Option<Owner>,
    pub(super) size: CellSize,
    /// South-west cell, which is a corner of a tile.
    origin: Cell,
    pub(super) columns: i32,
    pub(super) rows: i32,
    factors: Vec<u16>,
    is_read: Vec<bool>,
    obstacles: Obstacles,
    pub(super) stamp: Stamp,
    pub(super) bounds: Bounds,
    pub(super) smallest_factor: u32,
}

impl Surface {
    /// Creates the copy. Each tile is read only when it is needed.
    pub(super) fn new(
        ground: &mut OpenGround,
        profile: ProfileId,
        owner: Option<Owner>,
        bounds: Bounds,
        vehicle: &DrivableVehicle,
    ) -> Self {
        let size = ground.profile(profile).cell;
        let tile = TILE as i32;
        let low = size.nearest_cell(bounds.low);
        let high = size.nearest_cell(bounds.high);
        let origin = Cell::new((low.x >> 6) * tile, (low.y >> 6) * tile);
        let columns = ((high.x >> 6) + 1) * tile - origin.x;
        let rows = ((high.y >> 6) + 1) * tile - origin.y;
        let half = DVec2::splat(0.5 * size.metres());
        let last = Cell::new(origin.x + columns - 1, origin.y + rows - 1);
        let bounds = Bounds {
            low: size.centre(origin) - half,
            high: size.centre(last) + half,
        };
        let cells = columns as usize * rows as usize;
        Self {
            profile,
            owner,
            size,
            origin,
            columns,
            rows,
            factors: vec![0; cells],
            is_read: vec![false; cells / (TILE * TILE)],
            obstacles: Obstacles::new(ground, profile, owner, bounds, vehicle),
            stamp: ground.stamp(),
            bounds,
            smallest_factor: ground.smallest_factor(profile).min(16),
        }
    }

    /// Index of the cell that contains a point; `None` outside the rectangle.
    #[inline]
    pub(super) fn cell(&self, point: DVec2) -> Option<u32> {
        let metres = self.size.metres();
        let column = (point.x / metres).floor() - f64::from(self.origin.x);
        let row = (point.y / metres).floor() - f64::from(self.origin.y);
        let is_inside = column >= 0.0
            && row >= 0.0
            && column < f64::from(self.columns)
            && row < f64::from(self.rows);
        is_inside.then(|| row as u32 * self.columns as u32 + column as u32)
    }

    /// Centre of a cell.
    pub(super) fn centre(&self, cell: u32) -> DVec2 {
        let (column, row) = self.place(cell);
        let cell = Cell::new(self.origin.x + column, self.origin.y + row);
        self.size.centre(cell)
    }

    /// Column and row of a cell.
    #[inline]
    pub(super) fn place(&self, cell: u32) -> (i32, i32) {
        let columns = self.columns as u32;
        ((cell % columns) as i32, (cell / columns) as i32)
    }

    /// Factor of a cell; 0 if it is blocked.
    #[inline]
    pub(super) fn factor(&mut self, ground: &mut OpenGround, cell: u32) -> u16 {
        let (column, row) = self.place(cell);
        let tile = ((row >> 6) * (self.columns >> 6) + (column >> 6)) as usize;
        if !self.is_read[tile] {
            self.read(ground, column >> 6, row >> 6);
            self.is_read[tile] = true;
        }
        self.factors[cell as usize]
    }

    fn read(&mut self, ground: &mut OpenGround, column: i32, row: i32) {
        let key = TileKey {
            y: (self.origin.y >> 6) + row,
            x: (self.origin.x >> 6) + column,
        };
        let columns = self.columns as usize;
        let corner = row as usize * TILE * columns + column as usize * TILE;
        let factors = &mut self.factors;
        let mut at = 0;
        ground.read_tile(self.profile, key, self.owner, Reading::Standing, |factor| {
            factors[corner + at / TILE * columns + at % TILE] =
                u16::try_from(factor).unwrap_or(u16::MAX);
            at += 1;
        });
    }

    /// Factor of a cell in which the footprint is known to fit.
    #[inline]
    pub(super) fn factor_of_free(&mut self, ground: &mut OpenGround, cell: u32) -> u16 {
        match self.factor(ground, cell) {
            0 => BESIDE_OBSTACLE,
            factor => factor,
        }
    }

    /// Whether a body with a margin does not fit in a cell at any heading. This is the case if every point of
    /// the cell is closer to an obstacle than half of the body's width plus the margin.
    pub(super) fn is_never_free(&self, cell: u32, margin: f64) -> bool {
        let needed = self.obstacles.half_width + margin;
        let centre = self.centre(cell);
        let distance = self.obstacles.distance(centre, needed);
        let diagonal = self.size.metres() * std::f64::consts::FRAC_1_SQRT_2;
        if distance >= needed || distance < needed - diagonal {
            return distance < needed;
        }
        // Tests nine points of the cell.
        let third = self.size.metres() / 3.0;
        let is_open = |number: i32| {
            let offset = DVec2::new(f64::from(number % 3 - 1), f64::from(number / 3 - 1));
            let near = self.obstacles.distance(centre + third * offset, needed);
            near >= needed - diagonal / 3.0
        };
        !(0..9).any(is_open)
    }

    /// Clearance around a body, at most [`FARTHEST_ROOM`], m. The body stays clear of obstacles as long as each of
    /// its points moves by less than the clearance. `None` if the body overlaps an obstacle.
    #[inline]
    pub(super) fn room(&self, body: &OrientedBox) -> Option<f64> {
        self.obstacles.room(body)
    }

    /// Drives along an arc. Returns the placement at its end and the clearance there; `None` if the vehicle
    /// would collide or leave the rectangle. `room` is the clearance at the start of the arc, m.
    pub(super) fn sweep(
        &self,
        vehicle: &DrivableVehicle,
        margin: f64,
        from: Placement,
        room: f64,
        piece: Arc,
    ) -> Option<(Placement, f64)> {
        let (whole, sign) = (piece.length.abs(), piece.length.signum());
        // Upper bound of the speed of any point of the body, relative to the speed of the rear axle.
        let faster = 1.0 + piece.curvature.abs() * vehicle.reach(margin);
        let (mut s, mut room, mut at) = (0.0, room, from);
        while s < whole {
            s = (s + (room / faster).max(CLOSE_STEP)).min(whole);
            at = from.moved(piece.curvature, sign * s);
            room = self.room(&vehicle.outline(at, margin))?;
        }
        self.cell(at.position)?;
        Some((at, room))
    }

    /// Clearance around a vehicle and its trailer, m; `None` if one of them overlaps an obstacle.
    pub(super) fn room_of(
        &self,
        vehicle: &DrivableVehicle,
        at: Combination,
        margin: f64,
    ) -> Option<f64> {
        let own = self.room(&vehicle.outline(at.vehicle, margin))?;
        match &vehicle.trailer {
            None => Some(own),
            Some(trailer) => {
                let towed = self.room(&trailer.outline(at.vehicle, at.hitch, margin))?;
                Some(own.min(towed))
            }
        }
    }

    /// Drives along an arc with a trailer, as [`Self::sweep`] does without one. Returns `None` also if the hitch angle
    /// grows beyond its limit for the gear.
    pub(super) fn sweep_towing(
        &self,
        vehicle: &DrivableVehicle,
        trailer: &DrivableTrailer,
        margin: f64,
        from: Roomy,
        piece: Arc,
    ) -> Option<Roomy> {
        let Roomy { at: from, mut room } = from;
        let (whole, sign) = (piece.length.abs(), piece.length.signum());
        let most = match sign < 0.0 {
            true => trailer.jackknife(vehicle.curvature),
            false => trailer.widest(),
        };
        let own = 1.0 + piece.curvature.abs() * vehicle.reach(margin);
        let faster = own.max(trailer.fastest(piece.curvature, margin));
        let (mut s, mut at) = (0.0, from);
        while s < whole {
            let step = (room / faster).clamp(CLOSE_STEP, FARTHEST_STEP);
            let step = step.min(whole - s);
            s += step;
            let before = at.hitch;
            let arc = Arc {
                length: sign * step,
                ..piece
            };
            at = Combination {
                vehicle: from.vehicle.moved(piece.curvature, sign * s),
                hitch: trailer.hitch_after(before, arc),
            };
            // A hitch angle beyond the limit is accepted while it decreases.
            if at.hitch.abs() > most && at.hitch.abs() > before.abs() {
                return None;
            }
            room = self.room_of(vehicle, at, margin)?;
        }
        self.cell(at.vehicle.position)?;
        Some(Roomy { at, room })
    }

    /// Returns the distance that the vehicle can drive along an arc without a collision, m; at most the
    /// length of the arc. `room` is the clearance at the start, m. [`Self::sweep`] succeeds on an arc of the
    /// returned length.
    pub(super) fn free_length(
        &self,
        vehicle: &DrivableVehicle,
        margin: f64,
        from: Placement,
        room: f64,
        piece: Arc,
    ) -> f64 {
        let (whole, sign) = (piece.length.abs(), piece.length.signum());
        let faster = 1.0 + piece.curvature.abs() * vehicle.reach(margin);
        let (mut free, mut room) = (0.0, room);
        while free < whole {
            let s = (free + (room / faster).max(CLOSE_STEP)).min(whole);
            let at = from.moved(piece.curvature, sign * s);
            match self.room(&vehicle.outline(at, margin)) {
                Some(left) => (free, room) = (s, left),
                None => return free,
            }
        }
        free
    }

    /// Cost of driving along an arc, regardless of the gear, in metres of plain ground.
    pub(super) fn cost(
        &mut self,
        ground: &mut OpenGround,
        vehicle: &DrivableVehicle,
        from: Placement,
        piece: Arc,
    ) -> f64 {
        let count = (piece.length.abs() / COST_STEP).ceil().max(1.0);
        let step = piece.length / count;
        let mut factors = 0u64;
        for number in 0..count as u32 {
            let at = from.moved(piece.curvature, (f64::from(number) + 0.5) * step);
            let cell = self.cell(at.point(vehicle.centre));
            let factor = cell.map_or(BESIDE_OBSTACLE, |cell| self.factor_of_free(ground, cell));
            factors += u64::from(factor);
        }
        step.abs() * factors as f64 / 16.0
    }
}

/// A vehicle with its trailer, and the clearance around them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roomy {
    pub(super) at: Combination,
    /// Clearance around the vehicle and its trailer, m.
    pub(super) room: f64,
}

/// An arc or a straight line. Its length is negative in reverse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Arc {
    pub(super) curvature: f64,
    pub(super) length: f64,
}

/// Obstacles in a rectangle, indexed by squares.
#[derive(Debug, Clone)]
struct Obstacles {
    shapes: Vec<Shape>,
    low: DVec2,
    columns: usize,
    rows: usize,
    /// Index in `listed` of the first entry of each square, followed by the length of `listed`.
    first: Vec<u32>,
    /// Indices of the shapes in each square, square by square.
    listed: Vec<u32>,
    half_width: f64,
}

impl Obstacles {
    fn new(
        ground: &OpenGround,
        profile: ProfileId,
        owner: Option<Owner>,
        bounds: Bounds,
        vehicle: &DrivableVehicle,
    ) -> Self {
        let half = 0.5 * DVec2::new(vehicle.length, vehicle.width);
        let trailer = vehicle.trailer.as_ref();
        let towed = trailer.map_or(0.0, |towed| {
            0.5 * DVec2::new(towed.length, towed.width).length()
        });
        // The additional metre covers the margin, which is less than a metre.
        let reach = half.length().max(towed) + FARTHEST_ROOM + 1.0;
        let shapes = ground.shapes_in_the_way(profile, owner, bounds.grown(reach));
        let columns = ((bounds.high.x - bounds.low.x) / SQUARE).ceil().max(1.0) as usize;
        let rows = ((bounds.high.y - bounds.low.y) / SQUARE).ceil().max(1.0) as usize;
        let mut obstacles = Self {
            shapes,
            low: bounds.low,
            columns,
            rows,
            first: vec![0; columns * rows + 1],
            listed: Vec::new(),
            half_width: half.y,
        };
        obstacles.list(reach);
        obstacles
    }

    fn list(&mut self, reach: f64) {
        let last = DVec2::new((self.columns - 1) as f64, (self.rows - 1) as f64);
        let mut entries: Vec<(u32, u32)> = Vec::new();
        for (shape, number) in self.shapes.iter().zip(0..) {
            let near = shape.bounds().grown(reach);
            let low = ((near.low - self.low) / SQUARE).floor().max(DVec2::ZERO);
            let high = ((near.high - self.low) / SQUARE).floor().min(last);
            if low.x > high.x || low.y > high.y {
                continue;
            }
            for row in low.y as usize..=high.y as usize {
                for column in low.x as usize..=high.x as usize {
                    let corner = self.low + SQUARE * DVec2::new(column as f64, row as f64);
                    let centre = corner + DVec2::splat(0.5 * SQUARE);
                    let radius = SQUARE * std::f64::consts::FRAC_1_SQRT_2 + reach;
                    if shape.distance(centre) <= radius {
                        entries.push(((row * self.columns + column) as u32, number));
                    }
                }
            }
        }
        entries.sort_unstable();
        for (square, _) in &entries {
            self.first[*square as usize + 1] += 1;
        }
        for at in 1..self.first.len() {
            self.first[at] += self.first[at - 1];
        }
        self.listed = entries.into_iter().map(|(_, number)| number).collect();
    }

    /// Shapes near a point. A point outside the rectangle uses the nearest square.
    #[inline]
    fn near(&self, point: DVec2) -> impl Iterator<Item = &Shape> {
        let square = (point - self.low) / SQUARE;
        let column = (square.x.max(0.0) as usize).min(self.columns - 1);
        let row = (square.y.max(0.0) as usize).min(self.rows - 1);
        let at = row * self.columns + column;
        let listed = &self.listed[self.first[at] as usize..self.first[at + 1] as usize];
        listed.iter().map(|&number| &self.shapes[number as usize])
    }

    fn distance(&self, point: DVec2, within: f64) -> f64 {
        let distances = self.near(point).map(|shape| shape.distance(point));
        distances.fold(within, f64::min)
    }

    #[inline]
    fn room(&self, body: &OrientedBox) -> Option<f64> {
        let radius = body.radius();
        let mut room = FARTHEST_ROOM;
        for shape in self.near(body.centre) {
            let around = shape.distance(body.centre) - radius;
            if around >= room {
                continue;
            }
            room = room.min(separation(shape, body)?.max(around));
        }
        Some(room)
    }
}

/// Lower bound of the distance between a shape and a body, m; `None` if they overlap.
fn separation(shape: &Shape, body: &OrientedBox) -> Option<f64> {
    match shape {
        Shape::Box(other) => {
            let offset = other.centre - body.centre;
            let mut widest = f64::NEG_INFINITY;
            for axis in [
                body.forward,
                left_of(body.forward),
                other.forward,
                left_of(other.forward),
            ] {
                let gap = offset.dot(axis).abs() - body.reach(axis) - other.reach(axis);
                widest = widest.max(gap);
            }
            // Touching shapes do not overlap.
            (widest >= 0.0).then_some(widest)
        }
        Shape::Circle(circle) => {
            if shape.overlaps(body) {
                return None;
            }
            let closest = body.closest_point(circle.centre);
            Some(((closest - circle.centre).length() - circle.radius).max(0.0))
        }
        Shape::Polygon(corners) => {
            if shape.overlaps(body) {
                return None;
            }
            // Two shapes without common points are closest to each other at a corner of one of them.
            let own = body.corners().map(|corner| shape.distance(corner));
            let others = corners
                .iter()
                .map(|corner| (body.closest_point(*corner) - *corner).length());
            Some(own.into_iter().chain(others).fold(f64::INFINITY, f64::min))
        }
        Shape::Teardrop(_) => Some(f64::INFINITY),
    }
}

impl Surface {
    /// Number of cells. State keys are computed from it.
    pub(super) fn cells(&self) -> u64 {
        self.columns as u64 * self.rows as u64
    }
}
