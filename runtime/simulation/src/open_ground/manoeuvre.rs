//! Manoeuvres, forwards and backwards, that bring a vehicle onto its path if it cannot simply drive along it.
//!
//! A search over poses with the vehicle's turning radius (hybrid A*) ends on the path or at the goal. It is
//! guided by the cost from each cell to the end, regardless of headings. Costs are times.

use super::follow::{Driver, Rolling, Track, moved};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose, heading_of};
use roadwright_planning::open_ground::{Cell, CellSize, Reading};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::f64::consts::TAU;

/// Minimum step length, m, and step length as a fraction of the turning radius. At full lock, a step turns
/// the vehicle by more than the interval between two distinct headings.
const STEP: f64 = 1.5;
const TURN: f64 = 0.3;
/// Length of the pieces in which a step is checked for collisions, m.
const PIECE: f64 = 0.5;
/// Edge length of the cells in which poses count as equal, m, for the shortest step, and number of distinct
/// headings.
const CELL: f64 = 1.0;
const HEADINGS: f64 = 24.0;
/// Assumed speeds for computing costs, m/s.
const FORWARDS: f64 = 4.0;
const BACKWARDS: f64 = 2.0;
/// Share of the time for turning the wheels that counts as lost.
const STEERING_SHARE: f64 = 0.5;
/// Speed at which wheels turn from bend to bend, m/s.
const WHILE_STEERING: f64 = 1.2;
/// Weight of the estimate in the search. A larger weight finds worse manoeuvres sooner.
const WEIGHT: f64 = 1.4;
/// Maximum number of poses that are expanded.
const MOST: u32 = 4000;
/// Maximum number of ends of a manoeuvre from which the vehicle could not drive on that are left out.
const MOST_TRIES: u32 = 60;
/// Tolerances for the end of a manoeuvre on the path: lateral offset, m, and difference in heading, rad.
const BESIDE: f64 = 1.0;
const ASKEW: f64 = 0.35;
/// Minimum and maximum distance along the path at which a manoeuvre may end, m.
const NEAREST: f64 = 4.0;
const FARTHEST: f64 = 50.0;
/// Distance from the goal at which it counts as reached, m.
const AT_GOAL: f64 = 4.0;
/// Minimum gain of a manoeuvre that does not reach the path, s. It has to shorten the remaining time by at
/// least this much.
const LEAST_GAIN: f64 = 2.0;
/// Half the edge length of the area in which the cost to the end is known, cells.
const AREA: i32 = 48;
/// Cost units per second.
const UNITS: f64 = 1000.0;

/// A part of a manoeuvre, driven in one gear.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) gear: i8,
    pub(super) track: Track,
}

/// A manoeuvre, and the point of the path at which it ends.
#[derive(Debug, Clone)]
pub(super) struct Manoeuvre {
    pub(super) parts: Vec<Part>,
    /// Index of the first point of the path beyond its end; past the last point if it ends elsewhere.
    pub(super) joins: usize,
    /// Its duration, s.
    pub(super) time: f64,
    /// Whether it ends on the path or at the goal; otherwise it only comes closer.
    pub(super) is_complete: bool,
}

/// Start of a manoeuvre.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begin {
    pub(super) pose: Pose,
    /// The gear of the vehicle, 1 or -1.
    pub(super) gear: i8,
    /// Whether it stands.
    pub(super) stands: bool,
    /// Whether it may change gear at once.
    pub(super) may_change: bool,
    /// Cost of a gear change, s.
    pub(super) gear_change: f64,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    pose: Pose,
    gear: i8,
    parent: u32,
    /// Curvature to which the wheels were turned on the step that led here, and at its beginning and end, 1/m.
    curvature: f64,
    begins: f64,
    bend: f64,
    /// s.
    time: f64,
}

/// Requirements of a step.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// Clearance beside the vehicle, m.
    margin: f64,
    /// Length of the pieces in which the step is checked, m, and their number.
    piece: f64,
    pieces: u32,
    /// Margin at the start, which is smaller if the vehicle starts closer to an obstacle, m.
    own: f64,
    /// Maximum change of the curvature in a piece, 1/m.
    change: f64,
    /// Whether this is the first step, which may begin closer to an obstacle than the margin allows.
    is_first: bool,
}

/// The curvatures of a step, 1/m: at its beginning, and the one to which the wheels are turned.
#[derive(Debug, Clone, Copy)]
struct Turn {
    begins: f64,
    curvature: f64,
}

impl Turn {
    /// The curvature of the next piece.
    fn next(self, bend: f64, room: Room) -> f64 {
        bend + (self.curvature - bend).clamp(-room.change, room.change)
    }
}

type Key = (i32, i32, i32, i8);

fn key(node: &Node, step: f64) -> Key {
    // Shorter than a step, so that each step leads into another cell.
    let size = CELL / STEP * step;
    let cell = (node.pose.position / size).floor();
    let heading = (node.pose.heading / TAU * HEADINGS).round() as i32;
    let heading = heading.rem_euclid(HEADINGS as i32);
    (cell.x as i32, cell.y as i32, heading, node.gear)
}

impl Driver<'_> {
    /// Finds the fastest manoeuvre that leads onto a path; `None` if the search finds none within its limits.
    pub(super) fn manoeuvre(&mut self, begin: Begin, path: &[DVec2]) -> Option<Manoeuvre> {
        let [usual, _, least] = self.margins();
        [usual, least]
            .into_iter()
            .find_map(|margin| self.manoeuvre_with(begin, path, margin))
    }

    fn manoeuvre_with(&mut self, begin: Begin, path: &[DVec2], margin: f64) -> Option<Manoeuvre> {
        let scale = self.scale();
        let ends = Ends::along(path, scale)?;
        let to_go = self.times_to(ends.last, begin.pose.position)?;
        let estimate = |pose: &Pose| to_go.at(pose.position);
        let tightest = 1.0 / self.radius();
        let piece = PIECE * scale;
        let step = (TURN * self.radius()).max(STEP * scale);
        let pieces = (step / piece).ceil() as u32;
        let step = piece * f64::from(pieces);
        let mut nodes = vec![Node {
            pose: begin.pose,
            gear: begin.gear,
            parent: 0,
            curvature: 0.0,
            begins: 0.0,
            bend: self.curvature,
            time: 0.0,
        }];
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
            own: self.own_margin(begin.pose),
            change: self.bending_rate() / WHILE_STEERING * piece,
            is_first: false,
        };
        while let Some(Reverse((_, at))) = queue.pop() {
            let node = nodes[at as usize];
            if !closed.insert(key(&node, step)) {
                continue;
            }
            if let Some(joins) = ends.joined(&node.pose, node.gear) {
                tried += 1;
                if tried > MOST_TRIES || self.goes_on(&node, path, joins, margin) {
                    return Some(assemble(&nodes, at, joins, room));
                }
            }
            expanded += 1;
            if expanded > MOST {
                break;
            }
            let ahead = estimate(&node.pose).unwrap_or(f64::INFINITY);
            if ahead < nearest.0 {
                nearest = (ahead, at);
            }
            for gear in [1i8, -1] {
                let changes = gear != node.gear;
                if changes && at == 0 && !begin.may_change {
                    continue;
                }
                for share in [0.0, 1.0, -1.0, 0.5, -0.5] {
                    let curvature = share * tightest;
                    let room = Room {
                        is_first: at == 0,
                        ..room
                    };
                    // Standing wheels turn before the vehicle drives off.
                    let begins = match changes || at == 0 && begin.stands {
                        true => curvature,
                        false => node.bend,
                    };
                    let turn = Turn { begins, curvature };
                    let Some((pose, bend)) = self.stepped(&node, gear, turn, room) else {
                        continue;
                    };
                    let speed = if gear > 0 { FORWARDS } else { BACKWARDS };
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
                    };
                    let Some(ahead) = estimate(&pose) else {
                        continue;
                    };
                    if closed.contains(&key(&next, step)) {
                        continue;
                    }
                    let cost = ((next.time + WEIGHT * ahead) * UNITS) as u64;
                    nodes.push(next);
                    queue.push(Reverse((cost, nodes.len() as u32 - 1)));
                }
            }
        }
        // It leaves a long dead end in several manoeuvres.
        let (ahead, at) = nearest;
        (ahead + LEAST_GAIN < at_start).then(|| Manoeuvre {
            is_complete: false,
            ..assemble(&nodes, at, usize::MAX, room)
        })
    }

    /// Whether the vehicle can drive on along the path from the end of a manoeuvre.
    fn goes_on(&self, node: &Node, path: &[DVec2], joins: usize, margin: f64) -> bool {
        let Some(rest) = path.get(joins..) else {
            return true;
        };
        let mut points = vec![node.pose.position];
        points.extend(rest);
        let begins = Rolling {
            pose: node.pose,
            bend: node.bend,
            speed: WHILE_STEERING,
        };
        self.drives_on(begins, &points, margin)
    }

    /// The pose and the curvature after a step; `None` if the vehicle would touch something during it. The first step may begin
    /// closer to an obstacle than the margin allows.
    fn stepped(&self, node: &Node, gear: i8, turn: Turn, room: Room) -> Option<(Pose, f64)> {
        let piece = f64::from(gear) * room.piece;
        let (mut pose, mut bend) = (node.pose, turn.begins);
        for _ in 0..room.pieces {
            bend = turn.next(bend, room);
            pose = moved(pose, piece, bend);
            let is_free =
                self.fits(pose, room.margin) || room.is_first && self.fits(pose, room.own);
            if !is_free {
                return None;
            }
        }
        Some((pose, bend))
    }

    /// Travel times from cells around a place to another place, regardless of headings; `None` off the map.
    fn times_to(&mut self, goal: DVec2, around: DVec2) -> Option<TimesToGo> {
        let of_map = self.map.profile(self.profile).cell;
        // Fine cells would only make it slower.
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
        // A path is shorter than the edge of the area, so its end lies in it.
        let first = times.index(start)?;
        times.times[first] = 0;
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
                let centre = size.centre(next);
                let Some(fine) = of_map.cell_of(centre) else {
                    continue;
                };
                // A blocked cell is slow, not closed: the body may fit there with another heading.
                let factor = self.map.factor(self.profile, fine, Reading::Standing);
                let slower = if factor == 0 { 4.0 } else { 1.0 };
                let length = if direction.is_diagonal() {
                    std::f64::consts::SQRT_2
                } else {
                    1.0
                };
                let cost = (length * step / FORWARDS * slower * UNITS) as u64;
                if time + cost < times.times[at] {
                    times.times[at] = time + cost;
                    queue.push(Reverse((time + cost, next)));
                }
            }
        }
        Some(times)
    }
}

/// Travel times from cells to the end of a manoeuvre, in thousandths of a second.
struct TimesToGo {
    size: CellSize,
    /// South-western cell of the area.
    corner: Cell,
    /// Row by row, [`UNKNOWN`] where the end cannot be reached.
    times: Vec<u64>,
}

/// Time from a cell that does not lead to the end.
const UNKNOWN: u64 = u64::MAX;

impl TimesToGo {
    /// Index of a cell; `None` outside of the area.
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

/// Places where a manoeuvre may end.
struct Ends {
    points: Vec<PathEnd>,
    last: DVec2,
    /// Whether the path ends at the goal within reach, where any heading is allowed.
    at_goal: bool,
    /// Factor by which distances shrink for a short vehicle.
    scale: f64,
}

struct PathEnd {
    place: DVec2,
    heading: f64,
    /// Index of the next point of the path.
    next: usize,
}

impl Ends {
    fn along(path: &[DVec2], scale: f64) -> Option<Self> {
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
                if (NEAREST * scale..=FARTHEST * scale).contains(&along) {
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

    /// Index of the next point of the path if a manoeuvre may end at a pose; `None` otherwise.
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

/// Combines the steps that lead to a pose into parts, one for each stretch driven in one gear.
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
                    margin: room.margin,
                },
            });
        }
        let piece = f64::from(to.gear) * room.piece;
        let turn = Turn {
            begins: to.begins,
            curvature: to.curvature,
        };
        let (mut pose, mut bend) = (from.pose, turn.begins);
        if let Some(part) = parts.last_mut() {
            for _ in 0..room.pieces {
                bend = turn.next(bend, room);
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
