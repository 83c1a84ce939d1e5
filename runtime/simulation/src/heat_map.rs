//! A heat map: where vehicles were, how fast, and where they collided.

use crate::session::Observer;
use crate::world::World;
use std::collections::BTreeMap;

/// Distance between samples, s of simulated time.
const SAMPLE_TIME: f64 = 0.5;
/// Below this a vehicle stands, m/s.
const STANDING: f64 = 1.0;

/// What happened in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HeatCell {
    /// Times that a vehicle was seen there.
    pub seen: f64,
    /// Sum of their speeds, m/s.
    pub speed: f64,
    /// Times that one stood.
    pub standing: f64,
    /// Collisions that began there.
    pub collisions: f64,
}

/// Counts vehicles in square cells, twice a second. An observer of a [`Session`](crate::Session).
#[derive(Debug, Clone, Default)]
pub struct HeatMap {
    cells: BTreeMap<(i32, i32), HeatCell>,
    /// When the next sample is due, s.
    due: f64,
    /// Collisions counted so far.
    collisions: usize,
}

impl HeatMap {
    /// Side of a cell, m.
    pub const CELL: f64 = 8.0;

    /// The cells in which something happened, by column and row: cell (0, 0) has its south-western
    /// corner at the origin.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = ((i32, i32), HeatCell)> + '_ {
        self.cells.iter().map(|(&place, &cell)| (place, cell))
    }

    /// When the next sample is due, s: the map does not change before.
    pub fn due(&self) -> f64 {
        self.due
    }

    fn cell(&mut self, x: f64, y: f64) -> &mut HeatCell {
        let number = |at: f64| (at / Self::CELL).floor() as i32;
        self.cells.entry((number(x), number(y))).or_default()
    }
}

impl Observer for HeatMap {
    fn begin(&mut self, world: &World) {
        self.due = world.time();
        self.collisions = world.collisions().len();
    }

    fn after_step(&mut self, world: &World) {
        // Times are products of dt: a sample at 0.5 s must not slip to the next step by rounding.
        if world.time() < self.due - 1e-9 {
            return;
        }
        self.due = world.time() + SAMPLE_TIME;
        for vehicle in world.snapshot().vehicles {
            let heat = self.cell(vehicle.body.position.x, vehicle.body.position.y);
            heat.seen += 1.0;
            heat.speed += vehicle.speed;
            heat.standing += f64::from(u8::from(vehicle.speed < STANDING));
        }
        let new = world.collisions().get(self.collisions..);
        for collision in new.unwrap_or_default() {
            self.cell(collision.x, collision.y).collisions += 1.0;
        }
        self.collisions = world.collisions().len();
    }
}
