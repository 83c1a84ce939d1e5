//! Islands of merged junctions: the areas between the paths that no vehicle drives over.
//!
//! ```text
//!      ------+--+--+------        Where two dual carriageways cross, four nodes become one junction. Its
//!      ......|..|..|......        outline contains the medians and corners between the carriageways (#),
//!      ------+--+--+------        which remain islands. They are found on a grid: free cells are inside the
//!         #  |  |  |  #           outline and away from all paths, and slivers are left out.
//! ```

use super::arm::Arm;
use super::{ConnectingPath, Crossing};
use glam::DVec2;
use roadwright_geometry::{polygon, polyline};
use std::collections::BTreeMap;

/// Size of the cells, m.
const CELL: f64 = 0.5;
/// Clearance between the lane of a path and an island, m. In bends, vehicles extend beyond their
/// lanes.
const BESIDE: f64 = 0.5;
/// Smallest radius of a circle that fits into an island, in cells.
const LEAST_RADIUS: i32 = 2;
/// Smallest area of an island, m^2.
const LEAST_AREA: f64 = 10.0;
/// Smallest extent of a junction with islands, m.
const LEAST_EXTENT: f64 = 15.0;
/// Largest extent of the grid, in cells. Larger junctions have no islands.
const MOST_CELLS: usize = 600;
/// Distance between sampled points of paths, m.
const STEP: f64 = 0.5;
/// Number of cell corners on each side over which the position of a corner is averaged. The total
/// number is odd, so that staircases of cells become straight lines.
const SMOOTHED: usize = 3;
/// Maximum distance between an island and its smoothed outline, m.
const MISS: f64 = 0.2;

/// A rectangular grid of cells, stored row by row.
struct Grid {
    low: DVec2,
    columns: i32,
    rows: i32,
}

impl Grid {
    /// Returns the grid over an outline; `None` if the outline is too small or too large for islands.
    fn over(outline: &[DVec2]) -> Option<Self> {
        let (low, high) = polygon::bounds(outline)?;
        let extent = high - low;
        let cells = (extent / CELL).ceil();
        let is_large = extent.max_element() >= LEAST_EXTENT;
        (is_large && cells.max_element() <= MOST_CELLS as f64).then_some(Self {
            low,
            columns: cells.x as i32,
            rows: cells.y as i32,
        })
    }

    fn count(&self) -> usize {
        (self.columns * self.rows) as usize
    }

    fn index(&self, column: i32, row: i32) -> Option<usize> {
        let is_inside = (0..self.columns).contains(&column) && (0..self.rows).contains(&row);
        is_inside.then_some((row * self.columns + column) as usize)
    }

    fn place(&self, index: usize) -> (i32, i32) {
        let index = index as i32;
        (index % self.columns, index / self.columns)
    }

    fn corner(&self, column: i32, row: i32) -> DVec2 {
        self.low + CELL * DVec2::new(f64::from(column), f64::from(row))
    }

    fn middle(&self, column: i32, row: i32) -> DVec2 {
        self.corner(column, row) + 0.5 * DVec2::splat(CELL)
    }

    /// Returns the cells whose centres are within a distance of a point.
    fn within(&self, point: DVec2, distance: f64) -> impl Iterator<Item = usize> + '_ {
        let cell = |value: f64| (value / CELL).floor() as i32;
        let from = point - DVec2::splat(distance) - self.low;
        let to = point + DVec2::splat(distance) - self.low;
        let columns = cell(from.x)..=cell(to.x);
        let all = (cell(from.y)..=cell(to.y))
            .flat_map(move |row| columns.clone().map(move |column| (column, row)));
        let near = all.filter(move |&(column, row)| {
            (self.middle(column, row) - point).length_squared() <= distance * distance
        });
        near.filter_map(|(column, row)| self.index(column, row))
    }

    /// Returns the cells whose centres are within `LEAST_RADIUS` cells of the centre of a cell;
    /// `None` for each that is outside the grid.
    fn around(&self, index: usize) -> impl Iterator<Item = Option<usize>> + '_ {
        let (column, row) = self.place(index);
        let reach = -LEAST_RADIUS..=LEAST_RADIUS;
        let all = reach
            .clone()
            .flat_map(move |dy| reach.clone().map(move |dx| (dx, dy)));
        all.filter(|(dx, dy)| dx * dx + dy * dy <= LEAST_RADIUS * LEAST_RADIUS)
            .map(move |(dx, dy)| self.index(column + dx, row + dy))
    }

    /// Returns, for each cell, whether it is inside an outline.
    fn inside(&self, outline: &[DVec2]) -> Vec<bool> {
        let mut inside = vec![false; self.count()];
        for row in 0..self.rows {
            let y = self.middle(0, row).y;
            let edges = polygon::edges(outline).filter(|(a, b)| (a.y > y) != (b.y > y));
            let mut crossed: Vec<f64> = edges
                .map(|(a, b)| a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y))
                .collect();
            crossed.sort_by(f64::total_cmp);
            for pair in crossed.chunks_exact(2) {
                for column in 0..self.columns {
                    let x = self.middle(column, row).x;
                    if pair[0] <= x
                        && x < pair[1]
                        && let Some(index) = self.index(column, row)
                    {
                        inside[index] = true;
                    }
                }
            }
        }
        inside
    }
}

/// A road that ends at a junction, and the distance of its stop line from the road's end, m.
#[derive(Clone, Copy)]
pub(super) struct CutArm<'a> {
    pub(super) arm: &'a Arm<'a>,
    pub(super) trim: f64,
}

impl CutArm<'_> {
    /// Returns points along the carriageway from its cut up to `extent` metres outward, each with
    /// its half-width, m. Near its cut, the carriageway may lead over a part of the junction.
    fn places(&self, extent: f64) -> impl Iterator<Item = (DVec2, f64)> {
        let to = self.arm.length().min(self.trim + extent);
        let count = ((to - self.trim) / STEP).ceil().max(0.0) as usize;
        (0..=count).map(move |i| {
            let distance = (self.trim + i as f64 * STEP).min(to);
            let s = self.arm.road_s(distance);
            let (right, left) = self.arm.road.carriageway(s);
            let middle = self.arm.road.reference_line.pose(s);
            (
                middle.point(0.0, 0.5 * (left + right)),
                0.5 * (left - right),
            )
        })
    }
}

/// Returns the islands inside an outline, each counter-clockwise. O(cells + length of the paths and arms).
pub(super) fn traffic_islands<'a>(
    outline: &[DVec2],
    arms: impl Iterator<Item = CutArm<'a>>,
    paths: &[ConnectingPath],
    crossings: &[Crossing],
) -> Vec<Vec<DVec2>> {
    let Some(grid) = Grid::over(outline) else {
        return Vec::new();
    };
    let mut free = grid.inside(outline);
    let extent = CELL * f64::from(grid.columns.max(grid.rows));
    for (point, half_width) in arms.flat_map(|arm| arm.places(extent).collect::<Vec<_>>()) {
        grid.within(point, half_width + BESIDE)
            .for_each(|cell| free[cell] = false);
    }
    for path in paths {
        let Some(curve) = &path.curve else { continue };
        let reach = 0.5 * path.width.0.max(path.width.1) + BESIDE;
        let count = (curve.length() / STEP).ceil().max(1.0) as usize;
        for i in 0..=count {
            let point = curve
                .pose(curve.length() * i as f64 / count as f64)
                .position;
            grid.within(point, reach)
                .for_each(|cell| free[cell] = false);
        }
    }
    for crossing in crossings {
        let count = (crossing.length / STEP).ceil().max(1.0) as usize;
        for i in 0..=count {
            let point = crossing.place(crossing.length * i as f64 / count as f64);
            let reach = 0.5 * crossing.width + BESIDE;
            grid.within(point, reach)
                .for_each(|cell| free[cell] = false);
        }
    }
    let is_core = |index: usize| {
        let mut around = grid.around(index);
        around.all(|cell| cell.is_some_and(|cell| free[cell]))
    };
    let core: Vec<bool> = (0..grid.count()).map(is_core).collect();
    components(&grid, &core)
        .into_iter()
        .filter_map(|component| island(&grid, &component))
        .collect()
}

/// Returns the connected groups of marked cells.
fn components(grid: &Grid, marked: &[bool]) -> Vec<Vec<usize>> {
    let mut is_new = marked.to_vec();
    let mut components = Vec::new();
    for first in 0..marked.len() {
        if !is_new[first] {
            continue;
        }
        is_new[first] = false;
        let mut component = vec![first];
        let mut done = 0;
        while let Some(&cell) = component.get(done) {
            done += 1;
            let (column, row) = grid.place(cell);
            for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
                if let Some(next) = grid
                    .index(column + dx, row + dy)
                    .filter(|&next| is_new[next])
                {
                    is_new[next] = false;
                    component.push(next);
                }
            }
        }
        components.push(component);
    }
    components
}

/// Returns the outline of the island around a group of core cells; `None` if the island is too small.
fn island(grid: &Grid, core: &[usize]) -> Option<Vec<DVec2>> {
    let mut is_in = vec![false; grid.count()];
    for &cell in core {
        grid.around(cell)
            .flatten()
            .for_each(|cell| is_in[cell] = true);
    }
    let area = is_in.iter().filter(|is_in| **is_in).count() as f64 * CELL * CELL;
    if area < LEAST_AREA {
        return None;
    }
    let mut ring = smoothed(&contour(grid, &is_in)?);
    // The ring is cut at a point that is both its first and its last point.
    ring.push(ring[0]);
    let kept = polyline::cuts(&ring, MISS, f64::INFINITY);
    let mut points: Vec<DVec2> = kept.into_iter().map(|i| ring[i]).collect();
    points.pop();
    (points.len() >= 3 && polygon::is_simple(&points)).then_some(points)
}

/// Returns a closed line in which each point is the mean of the points around it in `ring`.
fn smoothed(ring: &[DVec2]) -> Vec<DVec2> {
    let count = ring.len();
    let window = 2 * SMOOTHED + 1;
    let mean = |i: usize| {
        let near = (0..window).map(|k| ring[(i + count + k - SMOOTHED) % count]);
        near.sum::<DVec2>() / window as f64
    };
    match count < window {
        true => ring.to_vec(),
        false => (0..count).map(mean).collect(),
    }
}

/// Returns the longest closed line around marked cells, counter-clockwise; `None` if no cell is
/// marked.
fn contour(grid: &Grid, is_in: &[bool]) -> Option<Vec<DVec2>> {
    // The boundary edges of cells, from corner to corner, with the marked cell on the left.
    let mut edges: BTreeMap<(i32, i32), Vec<(i32, i32)>> = BTreeMap::new();
    let has = |column: i32, row: i32| grid.index(column, row).is_some_and(|cell| is_in[cell]);
    for (x, y) in (0..grid.count())
        .filter(|&i| is_in[i])
        .map(|i| grid.place(i))
    {
        let sides = [
            (has(x, y - 1), (x, y), (x + 1, y)),
            (has(x + 1, y), (x + 1, y), (x + 1, y + 1)),
            (has(x, y + 1), (x + 1, y + 1), (x, y + 1)),
            (has(x - 1, y), (x, y + 1), (x, y)),
        ];
        for (_, from, to) in sides.into_iter().filter(|(is_inner, ..)| !is_inner) {
            edges.entry(from).or_default().push(to);
        }
    }
    let mut longest: Option<Vec<DVec2>> = None;
    while let Some((&start, _)) = edges.first_key_value() {
        let mut line = Vec::new();
        let mut at = start;
        while let Some(next) = edges.get_mut(&at).and_then(Vec::pop) {
            if edges[&at].is_empty() {
                edges.remove(&at);
            }
            line.push(grid.corner(at.0, at.1));
            at = next;
        }
        if longest
            .as_ref()
            .is_none_or(|other| other.len() < line.len())
        {
            longest = Some(line);
        }
    }
    longest.filter(|line| polygon::signed_area(line) > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LaneAccess;
    use crate::ids::RoadId;
    use crate::junction::{LaneEnd, LinkKind, Turn};
    use crate::road::RoadEnd;
    use roadwright_geometry::ReferenceLine;

    fn path(from: DVec2, to: DVec2) -> ConnectingPath {
        let end = |road| LaneEnd {
            road: RoadId(road),
            end: RoadEnd::End,
            lane: -1,
        };
        ConnectingPath {
            from: end(1),
            to: end(2),
            turn: Turn::Straight,
            kind: LinkKind::Normal,
            curve: Some(ReferenceLine::straight(from, to).unwrap()),
            width: (3.0, 3.0),
            access: LaneAccess::All,
        }
    }

    #[test]
    fn the_middle_between_four_carriageways_is_an_island() {
        let outline = [(0.0, 0.0), (40.0, 0.0), (40.0, 40.0), (0.0, 40.0)].map(DVec2::from);
        let across = [10.0, 30.0].into_iter().flat_map(|at| {
            [
                path(DVec2::new(at, 0.0), DVec2::new(at, 40.0)),
                path(DVec2::new(0.0, at), DVec2::new(40.0, at)),
            ]
        });
        let paths: Vec<_> = across.collect();
        let islands = traffic_islands(&outline, std::iter::empty(), &paths, &[]);
        assert_eq!(islands.len(), 9, "{islands:?}");
        for island in &islands {
            assert!(polygon::signed_area(island) >= LEAST_AREA);
            for path in &paths {
                let line = path.curve.as_ref().unwrap();
                for i in 0..=400 {
                    let point = line.pose(line.length() * f64::from(i) / 400.0).position;
                    let distance = polygon::boundary_distance(island, point);
                    assert!(!polygon::contains(island, point) && distance > 1.5);
                }
            }
        }
        // The island in the middle covers its area up to the clearance.
        let middle = islands
            .iter()
            .find(|island| polygon::contains(island, DVec2::splat(20.0)));
        let area = polygon::signed_area(middle.unwrap());
        assert!((200.0..260.0).contains(&area), "{area}");
        // There is no island between adjacent lanes.
        let close = [path(DVec2::new(0.0, 3.0), DVec2::new(40.0, 3.0))];
        let low = outline.map(|point| DVec2::new(point.x, 0.15 * point.y));
        assert_eq!(
            traffic_islands(&low, std::iter::empty(), &close, &[]),
            Vec::<Vec<DVec2>>::new()
        );
    }
}
