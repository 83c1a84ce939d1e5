//! A map from positions to the grip of the ground.

use crate::grip::GroundGrip;
use crate::junction::{Junction, Layout};
use crate::network::RoadNetwork;
use crate::road::{Road, RoadClass};
use crate::scenario::Scenario;
use glam::DVec2;
use roadwright_geometry::polygon;

/// Edge length of a cell, m. Cells are larger if the roads extend over a very large area.
const CELL: f64 = 8.0;
/// Maximum number of cells. For large maps, the cells are enlarged.
const MOST_CELLS: f64 = 4e6;
/// Maximum length of a piece of road, m. In a bend with a radius of 10 m, the edge of a piece deviates by 8
/// cm.
const PIECE: f64 = 2.5;
/// Tolerance of a junction's outline, m.
const TOLERANCE: f64 = 0.05;
/// Maximum number of pieces. In larger networks, pieces are longer.
const MOST_PIECES: f64 = 4e6;

/// A piece of road, or a junction, with its grip.
#[derive(Debug, Clone)]
struct Piece {
    outline: Vec<DVec2>,
    layer: i8,
    grip: f64,
}

/// The grip of a scenario's ground by position: roads with their whole cross-sections, junctions, and open
/// ground.
///
/// A look-up examines only the pieces of one cell, so its time does not depend on the size of the scenario.
#[derive(Debug, Clone)]
pub struct GripMap {
    grip: GroundGrip,
    origin: DVec2,
    cell: f64,
    columns: usize,
    rows: usize,
    /// For each cell, the index in `found` of its first piece. The last entry is the length of
    /// `found`.
    starts: Vec<u32>,
    /// Indices of the pieces of each cell, highest layer first.
    found: Vec<u32>,
    pieces: Vec<Piece>,
}

impl GripMap {
    /// Creates the map of a scenario; `None` if the grip is 1 everywhere. O(length of all roads).
    pub fn new(scenario: &Scenario, layout: &Layout) -> Option<Self> {
        let grip = scenario.settings().grip;
        if grip.is_whole() {
            return None;
        }
        let network = scenario.network();
        let whole: f64 = network.roads().map(|(_, road)| road.length()).sum();
        let longest = PIECE.max(whole / MOST_PIECES);
        let mut pieces = Vec::new();
        for (id, road) in network.roads() {
            if let Some((from, to)) = layout.remaining(id, road) {
                add_road(road, from, to, longest, grip.of(road.class), &mut pieces);
            }
        }
        let junctions = layout.junctions.iter();
        pieces.extend(junctions.filter_map(|junction| junction_piece(network, junction, &grip)));
        // The sort is stable, so of two pieces on the same layer, the first one is used.
        pieces.sort_by_key(|piece| -i16::from(piece.layer));
        Some(Self::of_pieces(grip, pieces))
    }

    fn of_pieces(grip: GroundGrip, pieces: Vec<Piece>) -> Self {
        let corners = pieces
            .iter()
            .flat_map(|piece| piece.outline.iter().copied());
        let corners: Vec<DVec2> = corners.collect();
        let (low, high) = polygon::bounds(&corners).unwrap_or_default();
        let size = (high - low).max(DVec2::ONE);
        let cell = CELL.max((size.x * size.y / MOST_CELLS).sqrt());
        let mut map = Self {
            grip,
            origin: low,
            cell,
            columns: (size.x / cell) as usize + 1,
            rows: (size.y / cell) as usize + 1,
            starts: Vec::new(),
            found: Vec::new(),
            pieces,
        };
        map.sort_into_cells();
        map
    }

    /// Assigns the pieces to the cells: first counts the pieces of each cell, and then stores them
    /// in order.
    fn sort_into_cells(&mut self) {
        let mut starts = vec![0u32; self.columns * self.rows + 1];
        let spans: Vec<_> = self.pieces.iter().map(|piece| self.span(piece)).collect();
        for span in &spans {
            for cell in self.cells(span.0, span.1) {
                // Shifted by one, so that the sums below give the position at which the pieces of
                // each cell begin.
                starts[cell + 1] += 1;
            }
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let mut next = starts.clone();
        let mut found = vec![0; starts[starts.len() - 1] as usize];
        for (number, span) in (0u32..).zip(spans) {
            for cell in self.cells(span.0, span.1) {
                found[next[cell] as usize] = number;
                next[cell] += 1;
            }
        }
        (self.starts, self.found) = (starts, found);
    }

    fn span(&self, piece: &Piece) -> (DVec2, DVec2) {
        polygon::bounds(&piece.outline).unwrap_or_default()
    }

    fn cells(&self, low: DVec2, high: DVec2) -> impl Iterator<Item = usize> {
        let index = |at: f64, most: usize| ((at / self.cell).max(0.0) as usize).min(most - 1);
        let (low, high) = (low - self.origin, high - self.origin);
        let columns = index(low.x, self.columns)..=index(high.x, self.columns);
        let rows = index(low.y, self.rows)..=index(high.y, self.rows);
        let width = self.columns;
        rows.flat_map(move |row| columns.clone().map(move |column| row * width + column))
    }

    /// Returns the outlines of the pieces of roads and junctions at ground level, with the grip of
    /// each piece.
    pub fn ground_pieces(&self) -> impl Iterator<Item = (&[DVec2], f64)> {
        let pieces = self.pieces.iter().filter(|piece| piece.layer == 0);
        pieces.map(|piece| (&piece.outline[..], piece.grip))
    }

    /// Returns the grip factor at a position for a vehicle on the given road layers (bit mask). The result is
    /// the grip of the uppermost road on these layers or, if there is none, of the open ground.
    pub fn at(&self, place: DVec2, layers: u32) -> f64 {
        let local = (place - self.origin) / self.cell;
        let is_inside = local.x >= 0.0 && local.y >= 0.0;
        let (column, row) = (local.x as usize, local.y as usize);
        if !is_inside || column >= self.columns || row >= self.rows {
            return self.grip.open_ground.get();
        }
        let cell = row * self.columns + column;
        let numbers = &self.found[self.starts[cell] as usize..self.starts[cell + 1] as usize];
        let mut pieces = numbers.iter().map(|&number| &self.pieces[number as usize]);
        let under = pieces.find(|piece| {
            // Layers that differ by 32 share a bit.
            let layer = 1u32 << i32::from(piece.layer).rem_euclid(32);
            layers & layer != 0 && polygon::contains(&piece.outline, place)
        });
        under.map_or(self.grip.open_ground.get(), |piece| piece.grip)
    }

    /// Returns the grip settings that the map was made from.
    pub fn grip(&self) -> &GroundGrip {
        &self.grip
    }
}

fn add_road(road: &Road, from: f64, to: f64, longest: f64, grip: f64, pieces: &mut Vec<Piece>) {
    let count = ((to - from) / longest).ceil().max(1.0);
    // Points on the right and the left edge of the road.
    let cut = |s: f64| {
        let pose = road.reference_line.pose(s);
        let (right, left) = road.edges(s);
        (pose.point(0.0, right), pose.point(0.0, left))
    };
    let mut before = cut(from);
    for number in 1..=count as u32 {
        let after = cut(from + (to - from) * f64::from(number) / count);
        pieces.push(Piece {
            // Forwards along the right edge and back along the left edge.
            outline: vec![before.0, after.0, after.1, before.1],
            layer: road.layer,
            grip,
        });
        before = after;
    }
}

/// Converts a junction to a piece, with the grip of the most important road that meets there;
/// `None` if the junction has no outline.
fn junction_piece(network: &RoadNetwork, junction: &Junction, grip: &GroundGrip) -> Option<Piece> {
    let roads = junction.arms.iter();
    let roads = roads.filter_map(|arm| network.road(arm.road));
    let kinds: Vec<(RoadClass, i8)> = roads.map(|road| (road.class, road.layer)).collect();
    let class = kinds.iter().map(|(class, _)| *class).max()?;
    let layer = kinds.iter().map(|(_, layer)| *layer).min()?;
    let outline = junction.polygon_within(TOLERANCE);
    (outline.len() >= 3).then(|| Piece {
        outline,
        layer,
        grip: grip.of(class),
    })
}
