//! Finds manoeuvres, forwards and in reverse, that bring a vehicle onto its path if it cannot simply drive along the
//! path.
//!
//! A search over poses with the vehicle's turning radius (hybrid A*) ends on the path or at the goal. It is
//! guided by the cost from each cell to the end, regardless of headings. Costs are times.

use super::follow::{Driver, Rolling, SLOWING, SPARE, Track, moved, rising_margin};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose, heading_of};
use roadwright_planning::open_ground::{Cell, CellSize, Reading};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::f64::consts::TAU;

/// Minimum step length, m.
const STEP: f64 = 1.5;
/// Step length as a fraction of the turning radius. At full lock, such a step turns the vehicle by
/// more than the difference between two headings.
const TURN: f64 = 0.3;
/// Maximum turn of the vehicle in a step, rad.
const MOST_TURN: f64 = 0.7;
/// Distance between collision checks within a step, m.
const PIECE: f64 = 0.5;
/// Edge length of the cells within which poses count as equal, for the minimum step length, m.
const CELL: f64 = 1.0;
/// Tolerance for rounding errors when the number of collision checks within a step is computed.
const ROUNDING: f64 = 1e-6;
/// A step is shorter than usual by at most this factor. Vehicles that could turn even more sharply
/// do not use their sharpest bends.
const MOST_FINER: f64 = 3.0;
/// Number of headings that are distinguished.
const HEADINGS: f64 = 24.0;
/// Edge length of the cells for a moving vehicle, as a fraction of the usual length. Small
/// differences matter, because a moving vehicle does not stop to turn its wheels.
const FINER: f64 = 0.5;
/// Number of headings that are distinguished for a moving vehicle.
const MORE_HEADINGS: f64 = 72.0;
/// Forward speed straight ahead that is assumed for costs, m/s. In the sharpest bends, it is
/// `IN_BENDS`.
const FORWARDS: f64 = 5.0;
const IN_BENDS: f64 = 3.0;
/// Reverse speed that is assumed for costs, m/s.
const BACKWARDS: f64 = 2.0;
/// Fraction of the steering time that is added to the cost.
const STEERING_SHARE: f64 = 0.5;
/// Driving speed while the wheels turn from one bend to the next, m/s.
const WHILE_STEERING: f64 = 1.2;
/// Minimum driving speed while the wheels of a moving vehicle turn, m/s.
const WHILE_ROLLING: f64 = 1.2;
/// Weight of the estimate in the search. A larger weight finds manoeuvres sooner, but worse ones.
const WEIGHT: f64 = 1.25;
/// Maximum number of poses that a search expands.
const MOST: u32 = 5000;
/// Maximum number of rejected ends. An end is rejected if the vehicle could not continue from it.
const MOST_TRIES: u32 = 60;
/// Maximum lateral offset from the path at the end of a manoeuvre, m.
const BESIDE: f64 = 1.0;
/// Maximum difference in heading from the path at the end of a manoeuvre, rad.
const ASKEW: f64 = 0.35;
/// A vehicle that starts close to an obstacle may stay that close within this distance of the
/// start, m.
const LEAVES_WITHIN: f64 = 3.0;
/// Minimum distance along the path at which a manoeuvre may end, m.
const NEAREST: f64 = 4.0;
/// Maximum distance along the path at which a manoeuvre may end, m.
const FARTHEST: f64 = 50.0;
/// The goal counts as reached within this distance, m.
const AT_GOAL: f64 = 4.0;
/// Minimum reduction of the remaining time by a manoeuvre that does not reach the path, s.
const LEAST_GAIN: f64 = 2.0;
/// Half the edge length of the square area in which the cost to the end is computed, in cells.
const AREA: i32 = 48;
/// Cost units of the search per second of driving time.
const UNITS: f64 = 1000.0;

/// Part of a manoeuvre, driven in one gear.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) gear: i8,
    pub(super) track: Track,
}

/// A manoeuvre with the point at which it joins the path.
#[derive(Debug, Clone)]
pub(super) struct Manoeuvre {
    pub(super) parts: Vec<Part>,
    /// Index of the first point of the path after the end of the manoeuvre. If the manoeuvre does not end on
    /// the path, this is the number of points of the path.
    pub(super) joins: usize,
    /// Duration of the manoeuvre, s.
    pub(super) time: f64,
    /// Whether the manoeuvre ends on the path or at the goal. Otherwise it only brings the vehicle closer.
    pub(super) is_complete: bool,
}

/// State of a vehicle at the start of a manoeuvre.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begin {
    pub(super) pose: Pose,
    /// Gear, 1 or -1.
    pub(super) gear: i8,
    /// Whether the vehicle is stationary.
    pub(super) stands: bool,
    /// Whether the vehicle may change gear at once.
    pub(super) may_change: bool,
    /// Cost of a gear change, s.
    pub(super) gear_change: f64,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    pose: Pose,
    gear: i8,
    parent: u32,
    /// Curvature that the wheels were turned to in the step to this node, 1/m.
    curvature: f64,
    /// Curvature at the beginning of this step, 1/m.
    begins: f64,
    /// Curvature at the end of this step, 1/m.
    bend: f64,
    /// Time from the start, s.
    time: f64,
    /// Distance from the start along the manoeuvre, m.
    travelled: f64,
}

/// Requirements for a manoeuvre.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// Margin around the vehicle, m.
    margin: f64,
    /// Minimum distance along the path at which the manoeuvre may end, m.
    nearest: f64,
    /// Whether the vehicle is moving and continues in its gear.
    is_rolling: bool,
}

/// Margins, spacing and speeds for checking a step for collisions.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// Margin around the vehicle, m.
    margin: f64,
    /// Distance between collision checks, m.
    piece: f64,
    /// Number of collision checks.
    pieces: u32,
    /// Margin at the start, m. It is smaller than `margin` if the vehicle starts close to an
    /// obstacle.
    own: f64,
    /// Margin where the vehicle does not start close to an obstacle, m.
    usual: f64,
    /// Rate at which the curvature changes while the steering turns, 1/(m s).
    bending_rate: f64,
    /// Initial speed of the vehicle, and its minimum speed while its wheels turn, m/s.
    speeds: [f64; 2],
    /// Whether the step begins near the start, where the vehicle may be closer to an obstacle than `margin`.
    is_near_start: bool,
}

/// Curvatures at the start and at the end of a step, 1/m. The wheels turn from one to the other.
#[derive(Debug, Clone, Copy)]
struct Turn {
    begins: f64,
    curvature: f64,
    /// Distance driven before the step, m.
    travelled: f64,
}

impl Turn {
    /// Returns the curvature after the next piece of the step.
    fn next(self, bend: f64, room: Room) -> f64 {
        let [first, least] = room.speeds;
        let speed = (first * first - 2.0 * SLOWING * self.travelled)
            .max(least * least)
            .sqrt();
        let change = room.bending_rate / speed * room.piece;
        bend + (self.curvature - bend).clamp(-change, change)
    }
}

type Key = (i32, i32, i32, i32, i8);

/// Resolution for comparing poses: poses in the same interval count as equal.
#[derive(Debug, Clone, Copy)]
struct Resolution {
    /// Edge length of cells, m.
    cell: f64,
    /// Number of headings that are distinguished.
    headings: f64,
    /// Difference between curvatures that are distinguished, 1/m.
    bend: f64,
}

impl Resolution {
    fn key(self, node: &Node) -> Key {
        let cell = (node.pose.position / self.cell).floor();
        let heading = (node.pose.heading / TAU * self.headings).round() as i32;
        let heading = heading.rem_euclid(self.headings as i32);
        let bend = (node.bend / self.bend).round() as i32;
        (cell.x as i32, cell.y as i32, heading, bend, node.gear)
    }
}

impl Driver<'_> {
    /// Finds the fastest manoeuvre that leads onto a path; `None` if there is none within the
    /// limits of the search.
    pub(super) fn manoeuvre(&mut self, begin: Begin, path: &[DVec2]) -> Option<Manoeuvre> {
        let [usual, _, least] = self.margins();
        let scale = self.scale();
        // Relative to its trip, a gear change costs a short vehicle as much as any other vehicle.
        let begin = Begin {
            gear_change: begin.gear_change * self.time_scale(),
            ..begin
        };
        [usual, least].into_iter().find_map(|margin| {
            let wanted = Wanted {
                margin,
                nearest: NEAREST * scale,
                is_rolling: false,
            };
            self.manoeuvre_with(begin, path, wanted)
        })
    }

    /// Finds the fastest forward drive that brings a moving vehicle onto its path, at least
    /// `nearest` metres along the path; `None` if the search finds none within its limits.
    pub(super) fn swing(
        &mut self,
        begin: Begin,
        path: &[DVec2],
        nearest: f64,
    ) -> Option<Manoeuvre> {
        let (usual, spare) = (self.margin, SPARE * self.margin);
        let mut with = |margin| {
            let wanted = Wanted {
                margin,
                nearest,
                is_rolling: true,
            };
            let found = self.manoeuvre_with(begin, path, wanted);
            found.filter(|found| found.is_complete && found.parts.len() == 1)
        };
        let usual = with(usual)?;
        Some(with(spare).unwrap_or(usual))
    }

    fn manoeuvre_with(
        &mut self,
        begin: Begin,
        path: &[DVec2],
        wanted: Wanted,
    ) -> Option<Manoeuvre> {
        let scale = self.scale();
        let margin = wanted.margin;
        let ends = Ends::along(path, scale, wanted.nearest)?;
        let to_go = self.times_to(ends.last, begin.pose.position)?;
        let estimate = |pose: &Pose| to_go.at(pose.position);
        let piece = PIECE * scale;
        let radius = self.radius();
        let usual = (TURN * radius).max(STEP * scale);
        // Longer steps could not use the sharpest bends, and much shorter steps would need too many
        // poses.
        let sharp = MOST_TURN * radius;
        let longest = sharp.max(usual / MOST_FINER);
        let pieces = (usual.min(longest) / piece - ROUNDING).ceil() as u32;
        let step = (piece * f64::from(pieces)).min(longest);
        let piece = step / f64::from(pieces);
        let tightest = match longest > sharp {
            true => (1.0 / radius).min(MOST_TURN / step),
            false => 1.0 / radius,
        };
        // If steps are shorter than usual, the same area contains more poses.
        let finer = (usual / step).max(1.0);
        let most = (f64::from(MOST) * finer * finer) as u32;
        let mut nodes = vec![Node {
            pose: begin.pose,
            gear: begin.gear,
            parent: 0,
            curvature: 0.0,
            begins: 0.0,
            bend: self.curvature,
            time: 0.0,
            travelled: 0.0,
        }];
        let pace = self.pace();
        // Cells are smaller than a step, so that each step leads to another cell.
        let size = CELL / STEP * step;
        let resolution = match wanted.is_rolling {
            true => Resolution {
                cell: FINER * size,
                headings: MORE_HEADINGS,
                bend: 0.5 * tightest,
            },
            false => Resolution {
                cell: size,
                headings: HEADINGS,
                bend: f64::INFINITY,
            },
        };
        let mut closed: HashSet<Key> = HashSet::new();
        let mut queue = BinaryHeap::new();
        queue.push(Reverse((0u64, 0u32)));
        let (mut expanded, mut tried) = (0, 0);
        let at_start = estimate(&begin.pose)?;
        let mut nearest = (at_start, 0);
        let room = Room {
            margin,
            piece,
            pieces,
            own: self.room_at(begin.pose, margin),
            usual: self.margin,
            bending_rate: self.bending_rate(),
            speeds: match wanted.is_rolling {
                true => [self.moves_at.abs(), WHILE_ROLLING * scale.sqrt()],
                false => [WHILE_STEERING * scale.sqrt(); 2],
            },
            is_near_start: false,
        };
        while let Some(Reverse((_, at))) = queue.pop() {
            let node = nodes[at as usize];
            if !closed.insert(resolution.key(&node)) {
                continue;
            }
            if let Some(joins) = ends.joined(&node.pose, node.gear) {
                tried += 1;
                if tried > MOST_TRIES || self.goes_on(&node, path, joins, margin) {
                    return Some(assemble(&nodes, at, joins, room));
                }
            }
            expanded += 1;
            if expanded > most {
                break;
            }
            let ahead = estimate(&node.pose).unwrap_or(f64::INFINITY);
            if ahead < nearest.0 {
                nearest = (ahead, at);
            }
            let from_start = (node.pose.position - begin.pose.position).length();
            let is_near_start = from_start < LEAVES_WITHIN * scale;
            for gear in [1i8, -1] {
                let changes = gear != node.gear;
                if changes && (wanted.is_rolling || at == 0 && !begin.may_change) {
                    continue;
                }
                for share in [0.0, 1.0, -1.0, 0.5, -0.5] {
                    let curvature = share * tightest;
                    let room = Room {
                        is_near_start,
                        ..room
                    };
                    // The wheels of a stationary vehicle turn before it drives off.
                    let begins = match changes || at == 0 && begin.stands {
                        true => curvature,
                        false => node.bend,
                    };
                    let turn = Turn {
                        begins,
                        curvature,
                        travelled: node.travelled,
                    };
                    let Some((pose, bend)) = self.stepped(&node, gear, turn, room) else {
                        continue;
                    };
                    let speed = match gear > 0 {
                        true => (FORWARDS - share.abs() * (FORWARDS - IN_BENDS)) * pace,
                        false => BACKWARDS * pace,
                    };
                    let change = if changes { begin.gear_change } else { 0.0 };
                    let steering = (curvature - node.bend).abs() / self.bending_rate();
                    let next = Node {
                        pose,
                        gear,
                        parent: at,
                        curvature,
                        begins,
                        bend,
                        time: node.time + step / speed + change + STEERING_SHARE * steering,
                        travelled: node.travelled + step,
                    };
                    let Some(ahead) = estimate(&pose) else {
                        continue;
                    };
                    if closed.contains(&resolution.key(&next)) {
                        continue;
                    }
                    let cost = ((next.time + WEIGHT * ahead) * UNITS) as u64;
                    nodes.push(next);
                    queue.push(Reverse((cost, nodes.len() as u32 - 1)));
                }
            }
        }
        // The manoeuvre only brings the vehicle closer to its goal. Several of them lead out of a
        // long dead end.
        let (ahead, at) = nearest;
        (ahead + LEAST_GAIN * self.time_scale() < at_start).then(|| Manoeuvre {
            is_complete: false,
            ..assemble(&nodes, at, usize::MAX, room)
        })
    }

    /// Whether the vehicle can continue along the path from the end of a manoeuvre.
    fn goes_on(&self, node: &Node, path: &[DVec2], joins: usize, margin: f64) -> bool {
        let Some(rest) = path.get(joins..) else {
            return true;
        };
        let mut points = vec![node.pose.position];
        points.extend(rest);
        let begins = Rolling {
            pose: node.pose,
            bend: node.bend,
            speed: WHILE_STEERING * self.scale().sqrt(),
        };
        self.drives_on(begins, &points, margin)
    }

    /// Time that the vehicle takes to cover its own length, relative to a vehicle of typical size;
    /// at most 1.
    fn time_scale(&self) -> f64 {
        (self.scale() / self.pace()).min(1.0)
    }

    /// Speed of the vehicle relative to the reference speed for which the times of manoeuvres were
    /// chosen; at most 1.
    fn pace(&self) -> f64 {
        (self.speed / FORWARDS).min(1.0)
    }

    /// Returns the pose and the curvature after a step. `None` if the vehicle would collide, or
    /// could not drive off again from the slope that it reaches. Near the start, it may be closer
    /// to an obstacle than the margin allows.
    fn stepped(&self, node: &Node, gear: i8, turn: Turn, room: Room) -> Option<(Pose, f64)> {
        let piece = f64::from(gear) * room.piece;
        let (mut pose, mut bend) = (node.pose, turn.begins);
        for _ in 0..room.pieces {
            bend = turn.next(bend, room);
            let next = moved(pose, piece, bend);
            let is_free = match room.is_near_start && room.own < room.margin {
                true => {
                    let share = node.travelled / (LEAVES_WITHIN * self.scale());
                    let needed = rising_margin(room.own, room.margin, share);
                    self.is_clear_along(pose, piece, bend, needed)
                }
                false => self.fits(next, room.margin),
            };
            if !is_free {
                return None;
            }
            pose = next;
        }
        (!self.is_too_steep(pose, gear)).then_some((pose, bend))
    }

    /// Travel times from the cells around a place to a goal, regardless of headings; `None` if either is off the map.
    fn times_to(&mut self, goal: DVec2, around: DVec2) -> Option<TimesToGo> {
        let of_map = self.map.profile(self.profile).cell;
        // Finer cells would only slow down the search.
        let step = of_map.metres().max(CELL * self.scale());
        let size = CellSize::new(step)?;
        let middle = size.cell_of(0.5 * (goal + around))?;
        let start = size.cell_of(goal)?;
        let edge = 2 * AREA as usize + 1;
        let mut times = TimesToGo {
            size,
            corner: Cell::new(middle.x - AREA, middle.y - AREA),
            times: vec![UNKNOWN; edge * edge],
        };
        // A path is shorter than the edge of the area, so that its end is inside the area.
        let first = times.index(start)?;
        times.times[first] = 0;
        // Factors by which driving in each cell takes longer; 0 for cells that have not been read
        // yet. They are kept, because reading the map takes longer than the search.
        let mut slower = vec![0u8; edge * edge];
        let pace = self.pace();
        let mut queue = BinaryHeap::new();
        queue.push(Reverse((0u64, start)));
        while let Some(Reverse((time, cell))) = queue.pop() {
            if times.index(cell).is_none_or(|at| times.times[at] < time) {
                continue;
            }
            for direction in roadwright_planning::open_ground::Direction::ALL {
                let next = cell.toward(direction);
                let Some(at) = times.index(next) else {
                    continue;
                };
                if times.times[at] <= time {
                    continue;
                }
                if slower[at] == 0 {
                    let Some(fine) = of_map.cell_of(size.centre(next)) else {
                        continue;
                    };
                    // A blocked cell is expensive rather than closed, because the body may fit
                    // there at another heading.
                    let factor = self.map.factor(self.profile, fine, Reading::Standing);
                    slower[at] = if factor == 0 { 4 } else { 1 };
                }
                let slower = f64::from(slower[at]);
                let length = if direction.is_diagonal() {
                    std::f64::consts::SQRT_2
                } else {
                    1.0
                };
                let cost = (length * step / (FORWARDS * pace) * slower * UNITS) as u64;
                if time + cost < times.times[at] {
                    times.times[at] = time + cost;
                    queue.push(Reverse((time + cost, next)));
                }
            }
        }
        Some(times)
    }
}

/// Travel times from cells to the end of a manoeuvre, ms.
struct TimesToGo {
    size: CellSize,
    /// South-western cell of the area.
    corner: Cell,
    /// Times row by row; [`UNKNOWN`] for cells from which the end cannot be reached.
    times: Vec<u64>,
}

/// Marks a cell from which the end cannot be reached.
const UNKNOWN: u64 = u64::MAX;

impl TimesToGo {
    /// Index of a cell; `None` outside the area.
    fn index(&self, cell: Cell) -> Option<usize> {
        let edge = 2 * AREA + 1;
        let (column, row) = (cell.x - self.corner.x, cell.y - self.corner.y);
        let is_inside = (0..edge).contains(&column) && (0..edge).contains(&row);
        is_inside.then_some((row * edge + column) as usize)
    }

    fn at(&self, place: DVec2) -> Option<f64> {
        let cell = self.size.cell_of(place)?;
        let time = self.times[self.index(cell)?];
        (time != UNKNOWN).then_some(time as f64 / UNITS)
    }
}

/// Poses on a path at which a manoeuvre may end.
struct Ends {
    points: Vec<PathEnd>,
    last: DVec2,
    /// Whether the path ends at the goal and the goal is within reach. At the goal, any heading is
    /// allowed.
    at_goal: bool,
    /// Factor that shortens distances for a short vehicle.
    scale: f64,
}

struct PathEnd {
    place: DVec2,
    heading: f64,
    /// Index of the next point of the path.
    next: usize,
}

impl Ends {
    fn along(path: &[DVec2], scale: f64, nearest: f64) -> Option<Self> {
        let mut points = Vec::new();
        let mut length = 0.0;
        let mut last = *path.first()?;
        let mut is_cut = false;
        for (at, pair) in path.windows(2).enumerate() {
            let offset = pair[1] - pair[0];
            let piece = offset.length();
            let count = (piece / (CELL * scale)).ceil().max(1.0);
            for step in 1..=count as u32 {
                let along = length + piece * f64::from(step) / count;
                if (nearest..=FARTHEST * scale).contains(&along) {
                    points.push(PathEnd {
                        place: pair[0] + offset * (f64::from(step) / count),
                        heading: heading_of(offset),
                        next: at + 1,
                    });
                }
            }
            length += piece;
            last = pair[1];
            if length > FARTHEST * scale {
                is_cut = true;
                break;
            }
        }
        if is_cut {
            last = points.last()?.place;
        }
        Some(Self {
            points,
            last,
            at_goal: !is_cut,
            scale,
        })
    }

    /// Returns the index of the next point of the path if a manoeuvre may end at `pose`; `None` otherwise.
    fn joined(&self, pose: &Pose, gear: i8) -> Option<usize> {
        if self.at_goal && (pose.position - self.last).length() < AT_GOAL * self.scale {
            return Some(usize::MAX);
        }
        if gear < 0 {
            return None;
        }
        let is_on = |end: &&PathEnd| {
            (pose.position - end.place).length() < BESIDE * self.scale
                && wrap_angle(pose.heading - end.heading).abs() < ASKEW
        };
        self.points.iter().rev().find(is_on).map(|end| end.next)
    }
}

/// Combines the steps that lead to a node into parts, each driven in one gear.
fn assemble(nodes: &[Node], last: u32, joins: usize, room: Room) -> Manoeuvre {
    let mut chain = vec![last];
    while let Some(&at) = chain.last()
        && at != 0
    {
        chain.push(nodes[at as usize].parent);
    }
    chain.reverse();
    let mut parts: Vec<Part> = Vec::new();
    for pair in chain.windows(2) {
        let (from, to) = (nodes[pair[0] as usize], nodes[pair[1] as usize]);
        if parts.last().is_none_or(|part| part.gear != to.gear) {
            parts.push(Part {
                gear: to.gear,
                track: Track {
                    poses: vec![from.pose],
                    margin: room.margin.min(room.usual),
                    clearance: match parts.is_empty() {
                        true => room.own.clamp(0.0, room.margin.min(room.usual)),
                        false => room.margin.min(room.usual),
                    },
                    spacing: 0.5 * room.piece,
                },
            });
        }
        let piece = f64::from(to.gear) * room.piece;
        let turn = Turn {
            begins: to.begins,
            curvature: to.curvature,
            travelled: from.travelled,
        };
        let (mut pose, mut bend) = (from.pose, turn.begins);
        if let Some(part) = parts.last_mut() {
            for _ in 0..room.pieces {
                // The poses are close together, so that the path begins with the bend to which the
                // wheels have to turn first.
                bend = turn.next(bend, room);
                part.track.poses.push(moved(pose, 0.5 * piece, bend));
                pose = moved(pose, piece, bend);
                part.track.poses.push(pose);
            }
        }
    }
    Manoeuvre {
        parts,
        joins,
        time: nodes[last as usize].time,
        is_complete: true,
    }
}
