//! Houses around courtyards, along the streets of a town.

use super::builder::Builder;
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, polyline};
use roadwright_scenario::{LandUse, LaneSection, Poly3, Road, RoadNetwork};

/// Minimum distance of houses from pavements, m. Vehicles that cut a corner keep clear of them.
const SETBACK: f64 = 4.5;
/// Maximum distance by which a block grows towards its streets, m.
const GROWTH: f64 = 24.0;
/// Step in which a block grows, m.
const STEP: f64 = 0.5;
/// Distance between the points of an edge at which its distance from the streets is measured, m.
const SAMPLING: f64 = 2.0;
/// Range of the mean width of the houses of a row, m.
const WIDTHS: [f64; 2] = [12.5, 15.5];
/// Heights of houses, m.
const HEIGHTS: [f64; 6] = [9.0, 10.5, 12.0, 12.0, 13.5, 15.0];
/// Width of the path between houses and courtyard, m.
const PATH: f64 = 1.2;

/// An axis-aligned rectangle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) low: DVec2,
    pub(crate) high: DVec2,
}

impl Block {
    pub(crate) fn new(low: [f64; 2], high: [f64; 2]) -> Self {
        Self {
            low: DVec2::from(low),
            high: DVec2::from(high),
        }
    }

    fn inset(self, by: f64) -> Self {
        Self {
            low: self.low + by,
            high: self.high - by,
        }
    }

    fn least_side(self) -> f64 {
        (self.high - self.low).min_element()
    }

    /// The corners, rounded to decimetres.
    fn corners(self) -> [(f64, f64); 4] {
        let round = |value: f64| (10.0 * value).round() / 10.0;
        let (left, bottom) = (round(self.low.x), round(self.low.y));
        let (right, top) = (round(self.high.x), round(self.high.y));
        [(left, bottom), (right, bottom), (right, top), (left, top)]
    }

    /// The ends of a side.
    fn edge(self, side: Side) -> [DVec2; 2] {
        let (low, high) = (self.low, self.high);
        match side {
            Side::South => [low, DVec2::new(high.x, low.y)],
            Side::North => [DVec2::new(low.x, high.y), high],
            Side::West => [low, DVec2::new(low.x, high.y)],
            Side::East => [DVec2::new(high.x, low.y), high],
        }
    }

    /// Moves a side outwards.
    fn grown(mut self, side: Side) -> Self {
        match side {
            Side::South => self.low.y -= STEP,
            Side::North => self.high.y += STEP,
            Side::West => self.low.x -= STEP,
            Side::East => self.high.x += STEP,
        }
        self
    }
}

/// Side of a block towards which the fronts of houses face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    South,
    North,
    West,
    East,
}

impl Side {
    const ALL: [Self; 4] = [Self::South, Self::North, Self::West, Self::East];

    fn is_along_x(self) -> bool {
        matches!(self, Self::South | Self::North)
    }
}

/// A street with its pavements.
struct Street {
    line: Vec<DVec2>,
    /// Distance from the line to the farther outer edge, m.
    reach: f64,
}

/// Builds houses that keep clear of the streets.
pub(crate) struct Houses<'a> {
    builder: &'a mut Builder,
    streets: Vec<Street>,
    stream: Stream,
}

impl<'a> Houses<'a> {
    pub(crate) fn new(builder: &'a mut Builder, name: &str) -> Self {
        let streets = streets(builder.scenario.network());
        Self {
            builder,
            streets,
            stream: Stream::new(1759, name, 0),
        }
    }

    /// Builds houses around a courtyard, in the largest block around the given one. A block may have a gap in one
    /// of its rows.
    pub(crate) fn around_courtyard(&mut self, block: Block) {
        let block = self.grown(block);
        let depth = f64::min(12.5, 0.27 * block.least_side());
        // Houses are up to 8 % deeper.
        let deepest = 1.08 * depth;
        let gap = self.stream.next_index(6);
        for (number, side) in Side::ALL.into_iter().enumerate() {
            let mut row = block;
            // The southern and northern rows have the houses at the corners.
            if !side.is_along_x() {
                row.low.y += deepest;
                row.high.y -= deepest;
            }
            self.row(row, side, depth, gap == number);
        }
        let courtyard = block.inset(deepest + PATH);
        if courtyard.least_side() < 6.0 {
            return;
        }
        self.builder.land(LandUse::Grass, "", &courtyard.corners());
        if courtyard.least_side() > 9.0 {
            self.trees(&courtyard.inset(2.0).corners());
        }
    }

    /// Builds a row of houses along a side of a block.
    pub(crate) fn row(&mut self, block: Block, side: Side, depth: f64, has_gap: bool) {
        let (from, to) = match side.is_along_x() {
            true => (block.low.x, block.high.x),
            false => (block.low.y, block.high.y),
        };
        let width = self.stream.next_in(WIDTHS[0], WIDTHS[1]);
        let count = ((to - from) / width).round().max(1.0);
        let left_out = has_gap.then(|| self.stream.next_index(count as usize));
        let mut start = from;
        for number in 0..count as usize {
            let shift = self.stream.next_in(-0.18, 0.18);
            let is_last = number + 1 == count as usize;
            let share = if is_last {
                count
            } else {
                number as f64 + 1.0 + shift
            };
            let end = from + (to - from) * share / count;
            let deep = depth * self.stream.next_in(0.9, 1.08);
            let height = HEIGHTS[self.stream.next_index(HEIGHTS.len())];
            let mut house = block;
            match side {
                Side::South => house.high.y = house.low.y + deep,
                Side::North => house.low.y = house.high.y - deep,
                Side::West => house.high.x = house.low.x + deep,
                Side::East => house.low.x = house.high.x - deep,
            }
            if side.is_along_x() {
                (house.low.x, house.high.x) = (start, end);
            } else {
                (house.low.y, house.high.y) = (start, end);
            }
            start = end;
            if left_out != Some(number) && self.is_clear(house) {
                self.builder.building("", &house.corners(), height);
            }
        }
    }

    /// Plants trees.
    pub(crate) fn trees(&mut self, area: &[(f64, f64)]) {
        let seed = 100 + self.builder.scenario.forests().len() as u64;
        self.builder.forest(area, 70.0, 5.0, seed);
    }

    /// Moves the sides of a block outwards as far as they keep clear of the streets.
    fn grown(&self, block: Block) -> Block {
        let mut block = block;
        for side in Side::ALL {
            for _ in 0..(GROWTH / STEP) as usize {
                let larger = block.grown(side);
                if !self.is_clear(larger) {
                    break;
                }
                block = larger;
            }
        }
        block
    }

    /// Whether all sides of a block are at least [`SETBACK`] away from the pavements.
    fn is_clear(&self, block: Block) -> bool {
        let edges = Side::ALL.map(|side| block.edge(side));
        edges.iter().all(|[from, to]| {
            let count = (from.distance(*to) / SAMPLING).ceil().max(1.0);
            let at = |i: usize| from.lerp(*to, i as f64 / count);
            (0..=count as usize).map(at).all(|point| {
                let is_far = |street: &Street| {
                    polyline::distance(&street.line, point) >= street.reach + SETBACK
                };
                self.streets.iter().all(is_far)
            })
        })
    }
}

fn streets(network: &RoadNetwork) -> Vec<Street> {
    let reach = |section: &LaneSection| {
        let (mut left, mut right) = (0.0, 0.0);
        for lane in &section.lanes {
            let width = Poly3::value_in(&lane.width, 0.0);
            *(if lane.id > 0 { &mut left } else { &mut right }) += width;
        }
        f64::max(left, right)
    };
    let street = |road: &Road| Street {
        line: road.reference_line.sample(0.1, 0.0),
        reach: road.lane_sections.iter().map(reach).fold(0.0, f64::max),
    };
    network.roads().map(|(_, road)| street(road)).collect()
}
