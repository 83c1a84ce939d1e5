//! Random maps for benchmarks and tests, generated from seeds.

use super::cell::Cell;
use super::grid::GridMap;
use super::ground::WALL;
use super::item::Item;
use super::profile::Heights;
use super::shape::Shape;
use roadwright_geometry::math::Stream;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose, heading_of};

/// Generates a map on which rectangles block a fraction `share` of the cells, or slightly more.
///
/// The rectangles are 1 to `largest` cells wide and high, at random positions.
pub fn rectangles(columns: u32, rows: u32, share: f64, largest: u32, seed: u64) -> Option<GridMap> {
    let mut map = GridMap::new(Cell::default(), columns, rows).ok()?;
    let mut stream = Stream::new(seed, "rectangles", 0);
    let wanted = (share.clamp(0.0, 0.9) * map.area() as f64) as u64;
    let mut blocked = 0;
    while blocked < wanted {
        let west = stream.next_index(columns as usize) as i32;
        let south = stream.next_index(rows as usize) as i32;
        let width = 1 + stream.next_index(largest as usize) as i32;
        let height = 1 + stream.next_index(largest as usize) as i32;
        for y in south..south + height {
            for x in west..west + width {
                let before = map.set(Cell::new(x, y), 0);
                blocked += u64::from(before.is_some_and(|factor| factor > 0));
            }
        }
    }
    Some(map)
}

/// Draws a free cell of a map uniformly; `None` if no free cell is found in 10,000 attempts.
pub fn free_cell(map: &GridMap, stream: &mut Stream) -> Option<Cell> {
    (0..10_000).find_map(|_| {
        let cell = any_cell(map, stream);
        (map.factor_at(cell) > 0).then_some(cell)
    })
}

/// Returns the free cells on the diagonal that are nearest to the south-west and north-east
/// corners; `None` if there are fewer than two.
pub fn far_cells(map: &GridMap) -> Option<[Cell; 2]> {
    let (columns, rows) = (u64::from(map.columns()), u64::from(map.rows()));
    let steps = columns.max(rows);
    let origin = map.origin();
    let on_diagonal = |step: u64| {
        let x = step * columns / steps;
        let y = step * rows / steps;
        Cell::new(origin.x + x as i32, origin.y + y as i32)
    };
    let is_free = |cell: &Cell| map.factor_at(*cell) > 0;
    let first = (0..steps).map(on_diagonal).find(is_free)?;
    let last = (0..steps).rev().map(on_diagonal).find(is_free)?;
    (first != last).then_some([first, last])
}

/// Draws a cell of a map uniformly.
pub fn any_cell(map: &GridMap, stream: &mut Stream) -> Cell {
    let x = stream.next_index(map.columns() as usize) as i32;
    let y = stream.next_index(map.rows() as usize) as i32;
    Cell::new(map.origin().x + x, map.origin().y + y)
}

/// Obstacles in a square.
#[derive(Debug, Clone)]
pub struct BoxWorld {
    /// Obstacles in the square.
    pub boxes: Vec<WorldBox>,
    /// Edge length of the square, m. Its south-west corner is the origin.
    pub edge: f64,
}

/// A box with its heights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorldBox {
    /// Outline of the box.
    pub outline: OrientedBox,
    /// Heights of the box.
    pub heights: Heights,
}

impl WorldBox {
    /// Converts the box to an item of the map.
    pub fn item(&self) -> Item {
        Item::obstacle(Shape::Box(self.outline), self.heights)
    }

    /// Returns the box, moved by a vector.
    pub fn shifted(&self, by: DVec2) -> Self {
        let centre = self.outline.centre + by;
        Self {
            outline: OrientedBox {
                centre,
                ..self.outline
            },
            ..*self
        }
    }
}

/// Size of the cells for measuring the fraction of ground that is covered, m.
const SHARE_CELL: f64 = 0.5;

/// Generates rectangles at random positions and headings in a square, until they cover `share` of its area
/// (at most 0.6). The lengths of their sides are within the given range, m. The share is measured at the
/// centres of cells of 0.5 m.
pub fn tilted_boxes(
    edge: f64,
    share: f64,
    sides: std::ops::Range<f64>,
    stream: &mut Stream,
) -> BoxWorld {
    let columns = (edge / SHARE_CELL).ceil().max(1.0) as i32;
    let mut is_blocked = vec![false; (columns * columns) as usize];
    let wanted = (share.clamp(0.0, 0.6) * is_blocked.len() as f64) as usize;
    let (mut blocked, mut boxes) = (0, Vec::new());
    while blocked < wanted {
        let place = DVec2::new(stream.next_in(0.0, edge), stream.next_in(0.0, edge));
        let heading = stream.next_in(0.0, std::f64::consts::TAU);
        let mut side = || stream.next_in(sides.start, sides.end);
        let (length, width) = (side(), side());
        let outline = OrientedBox::new(Pose::new(place.x, place.y, heading), length, width);
        let shape = Shape::Box(outline);
        let bounds = shape.bounds();
        let low = (bounds.low / SHARE_CELL).floor().max(DVec2::ZERO);
        let high = (bounds.high / SHARE_CELL).floor();
        for row in low.y as i32..=(high.y as i32).min(columns - 1) {
            for column in low.x as i32..=(high.x as i32).min(columns - 1) {
                let cell = DVec2::new(f64::from(column) + 0.5, f64::from(row) + 0.5);
                let at = &mut is_blocked[(row * columns + column) as usize];
                if !*at && shape.distance(cell * SHARE_CELL) == 0.0 {
                    *at = true;
                    blocked += 1;
                }
            }
        }
        let heights = WALL;
        boxes.push(WorldBox { outline, heights });
    }
    BoxWorld { boxes, edge }
}

/// Creates four walls around the square of a world.
pub fn walls_around(edge: f64) -> [WorldBox; 4] {
    let (middle, length) = (0.5 * edge, edge + 2.0);
    [
        (middle, -0.5, 0.0),
        (middle, edge + 0.5, 0.0),
        (-0.5, middle, std::f64::consts::FRAC_PI_2),
        (edge + 0.5, middle, std::f64::consts::FRAC_PI_2),
    ]
    .map(|(x, y, heading)| WorldBox {
        outline: OrientedBox::new(Pose::new(x, y, heading), length, 1.0),
        heights: WALL,
    })
}

/// Number of rooms along each edge of the maze.
const MAZE_ROOMS: usize = 15;
/// Number of rooms along each edge of the office.
const OFFICE_ROOMS: usize = 6;
/// Thickness of walls, as a fraction of the size of a room.
const MAZE_WALL: f64 = 0.1;

/// Generates a square maze without loops, with 15 by 15 rooms and 256 walls. The maze of [Kuffner 1998] is
/// about as large: its 2,780 triangles correspond to 232 boxes.
pub fn maze(edge: f64, seed: u64) -> BoxWorld {
    let mut stream = Stream::new(seed, "maze", 0);
    let doors = spanning_tree(MAZE_ROOMS, &mut stream);
    let room = edge / MAZE_ROOMS as f64;
    let mut boxes = Vec::new();
    for_each_wall(MAZE_ROOMS, |wall| {
        if !doors.contains(&wall) {
            boxes.push(wall_box(wall, room, MAZE_WALL * room, [0.0, 1.0]));
        }
    });
    BoxWorld { boxes, edge }
}

/// Generates an office with 6 by 6 rooms of 4.5 m, doors of 1.2 m, cabinets and four-legged tables. It has
/// 1,296 boxes in all. The office of [Kuffner 1998] has 15,320 triangles, which correspond to 1,277 boxes.
pub fn office(seed: u64) -> BoxWorld {
    furnished_office(seed, None)
}

/// Generates an office like [`office`], but with an aisle of the given width (m) without furniture
/// from each door to the middle of the rooms on both sides.
pub fn office_with_aisles(seed: u64, width: f64) -> BoxWorld {
    furnished_office(seed, Some(width))
}

/// Size of the rooms of an office, m.
const OFFICE_ROOM: f64 = 4.5;
/// Width of the doors of an office, m.
const DOOR: f64 = 1.2;
/// Length and width of the space reserved for a cabinet, m. It is slightly larger than the cabinet, so that
/// cabinets can be shifted.
const CABINET_ROOM: [f64; 2] = [0.9, 0.8];
/// Maximum number of random positions that are tried for a piece of furniture.
const PLACES: usize = 200;

/// Generates an office with aisles of the given width (m) between its doors. With `None`, furniture
/// may stand anywhere.
fn furnished_office(seed: u64, aisle: Option<f64>) -> BoxWorld {
    const ROOM: f64 = OFFICE_ROOM;
    const WALL: f64 = 0.1;
    let mut aisles: Vec<OrientedBox> = Vec::new();
    let mut stream = Stream::new(seed, "office", 0);
    let mut boxes = Vec::new();
    for_each_wall(OFFICE_ROOMS, |wall| {
        if wall.is_outer(OFFICE_ROOMS) {
            boxes.push(wall_box(wall, ROOM, WALL, [0.0, 1.0]));
        } else {
            let from = stream.next_in(0.1, 0.9 - DOOR / ROOM);
            boxes.push(wall_box(wall, ROOM, WALL, [0.0, from]));
            boxes.push(wall_box(wall, ROOM, WALL, [from + DOOR / ROOM, 1.0]));
            let width = aisle.into_iter();
            aisles.extend(
                width.flat_map(|width| aisles_through(wall, from + 0.5 * DOOR / ROOM, width)),
            );
        }
    });
    for room in 0..OFFICE_ROOMS * OFFICE_ROOMS {
        let column = (room % OFFICE_ROOMS) as f64;
        let row = (room / OFFICE_ROOMS) as f64;
        let corner = DVec2::new(column, row) * ROOM;
        let mut free_place = |size: [f64; 2]| {
            let mut pose = place_in(corner, ROOM, &mut stream);
            for _ in 0..PLACES {
                let outline = OrientedBox::new(pose, size[0], size[1]);
                if !aisles.iter().any(|aisle| aisle.penetration(&outline) > 0.0) {
                    break;
                }
                pose = place_in(corner, ROOM, &mut stream);
            }
            pose
        };
        for _ in 0..6 {
            table(free_place([1.0, 0.5]), &mut boxes);
        }
        for _ in 0..2 {
            let outline = OrientedBox::new(free_place(CABINET_ROOM), 0.5, 0.4);
            let heights = Heights::up_to(1.8);
            boxes.push(WorldBox { outline, heights });
        }
    }
    BoxWorld {
        boxes,
        edge: ROOM * OFFICE_ROOMS as f64,
    }
}

/// Returns the aisles of the given width (m) that lead from the middles of the rooms on both sides of
/// a wall through a door. `door` is the position of the door's middle as a fraction of the wall's
/// length.
fn aisles_through(wall: Wall, door: f64, width: f64) -> [OrientedBox; 3] {
    let corner = DVec2::new(wall.column as f64, wall.row as f64) * OFFICE_ROOM;
    let (along, across) = match wall.is_west {
        true => (DVec2::Y, DVec2::X),
        false => (DVec2::X, DVec2::Y),
    };
    let door = corner + along * door * OFFICE_ROOM;
    // Straight through the door first, so that vehicles need not turn inside it.
    let [before, behind] = [-0.5, 0.5].map(|side| door + side * DOOR * across);
    let [one, other] = [-0.5, 0.5].map(|side| corner + OFFICE_ROOM * (0.5 * along + side * across));
    [[one, before], [before, behind], [behind, other]].map(|[from, to]| {
        let pose = Pose {
            position: 0.5 * (from + to),
            heading: heading_of(to - from),
        };
        OrientedBox::new(pose, (to - from).length() + width, width)
    })
}

/// Draws a position for a piece of furniture. Positions along a wall are more likely than positions in the
/// middle of the room.
fn place_in(corner: DVec2, room: f64, stream: &mut Stream) -> Pose {
    let near_wall = |stream: &mut Stream| {
        let share = stream.next_unit();
        0.5 - 0.38 * (1.0 - share * share) * if stream.next_index(2) == 0 { 1.0 } else { -1.0 }
    };
    let place = corner + DVec2::new(near_wall(stream), near_wall(stream)) * room;
    let turned = stream.next_index(2) as f64 * std::f64::consts::FRAC_PI_2;
    Pose::new(place.x, place.y, turned)
}

fn table(pose: Pose, boxes: &mut Vec<WorldBox>) {
    let (length, width) = (1.0, 0.5);
    boxes.push(WorldBox {
        outline: OrientedBox::new(pose, length, width),
        heights: Heights {
            base: 0.7,
            top: 0.75,
        },
    });
    for (ahead, left) in [(0.45, 0.2), (0.45, -0.2), (-0.45, 0.2), (-0.45, -0.2)] {
        let place = pose.point(ahead, left);
        boxes.push(WorldBox {
            outline: OrientedBox::new(Pose::new(place.x, place.y, pose.heading), 0.05, 0.05),
            heights: Heights::up_to(0.7),
        });
    }
}

/// A wall on the west or south side of a room. The outer walls in the east and north belong to imaginary
/// rooms beyond the last ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wall {
    column: usize,
    row: usize,
    is_west: bool,
}

impl Wall {
    fn is_outer(self, rooms: usize) -> bool {
        let along = if self.is_west { self.column } else { self.row };
        along == 0 || along == rooms
    }
}

fn for_each_wall(rooms: usize, mut visit: impl FnMut(Wall)) {
    for row in 0..=rooms {
        for column in 0..=rooms {
            for is_west in [true, false] {
                let beyond = if is_west { row } else { column };
                if beyond < rooms {
                    visit(Wall {
                        column,
                        row,
                        is_west,
                    });
                }
            }
        }
    }
}

/// Returns the part of a wall between two fractions of its length.
fn wall_box(wall: Wall, room: f64, thickness: f64, part: [f64; 2]) -> WorldBox {
    let corner = DVec2::new(wall.column as f64, wall.row as f64) * room;
    let along = if wall.is_west { DVec2::Y } else { DVec2::X };
    let centre = corner + along * (0.5 * (part[0] + part[1]) * room);
    let length = (part[1] - part[0]) * room + thickness;
    WorldBox {
        outline: OrientedBox {
            centre,
            forward: along,
            half_length: 0.5 * length,
            half_width: 0.5 * thickness,
        },
        heights: WALL,
    }
}

/// Draws the walls to leave out so that exactly one path connects any two rooms, by a random walk with
/// backtracking.
fn spanning_tree(rooms: usize, stream: &mut Stream) -> std::collections::BTreeSet<Wall> {
    let mut doors = std::collections::BTreeSet::new();
    let mut is_visited = vec![false; rooms * rooms];
    let mut walk = vec![0];
    is_visited[0] = true;
    while let Some(&room) = walk.last() {
        let (column, row) = (room % rooms, room / rooms);
        let wall = |column, row, is_west| Wall {
            column,
            row,
            is_west,
        };
        let around = [
            (column + 1 < rooms).then(|| (room + 1, wall(column + 1, row, true))),
            (column > 0).then(|| (room - 1, wall(column, row, true))),
            (row + 1 < rooms).then(|| (room + rooms, wall(column, row + 1, false))),
            (row > 0).then(|| (room - rooms, wall(column, row, false))),
        ];
        let open: Vec<_> = around
            .into_iter()
            .flatten()
            .filter(|(to, _)| !is_visited[*to])
            .collect();
        if open.is_empty() {
            walk.pop();
            continue;
        }
        let (to, door) = open[stream.next_index(open.len())];
        is_visited[to] = true;
        doors.insert(door);
        walk.push(to);
    }
    doors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maze_and_office_have_as_many_boxes_as_those_of_the_source() {
        assert_eq!(maze(150.0, 1).boxes.len(), 256);
        assert_eq!(office(1).boxes.len(), 1296);
        assert_eq!(office_with_aisles(1, 1.0).boxes.len(), 1296);
    }

    #[test]
    fn rectangles_block_their_share() {
        let map = rectangles(100, 50, 0.2, 8, 3).unwrap();
        let blocked = map.cells().filter(|cell| map.factor_at(*cell) == 0).count();
        assert!((1000..1064).contains(&blocked), "{blocked}");
    }
}
