//! Obstacles and trees near each lane.
//!
//! Searching for obstacles would take time at every update of a controller. Lanelets record whether
//! there are obstacles nearby, so vehicles on most lanelets need no search. The records are
//! computed on first use, because a ground without vehicles needs none.

use super::body_list::Changes;
use super::cells::Cells;
use super::obstacles::{MOST_ASIDE, OBSTACLE_REACH, Obstacles, SIDE_CLEARANCE};
use super::roads::Roads;
use glam::DVec2;
use roadwright_geometry::polygon;
use roadwright_scenario::junction::Body;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, copied};
use roadwright_scenario::{Scenario, VehicleType};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// Distance from a lane within which its vehicles watch out for obstacles, m.
const WATCH_DISTANCE: f64 = 6.0;
/// Tolerance added to distances, m. It is larger than the error from sampling a lane in steps.
const SLACK: f64 = 0.25;

/// Maximum lateral offset from the centre line of vehicles that steer, m. It exceeds the offset of
/// vehicles that stay in their lane, even in gentle bends.
const ASIDE: f64 = 1.0;
/// Number of segments of a lanelet that share one search for bodies.
const PART: usize = 16;
/// Maximum number of bodies that an edit may remove and add for a partial update, which compares
/// each lane with each changed body. After larger edits, all lanes are recomputed.
const MOST_CHANGES: usize = 500;

/// Proximity of obstacles to a lanelet.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Nearness {
    /// Whether an obstacle is so close that vehicles have to watch it.
    is_watched: bool,
    /// Whether a vehicle that drives along the centre line may touch an obstacle. The first value
    /// is for cars, the second for any vehicle.
    is_touched: [bool; 2],
    /// Like `is_touched`, but for vehicles that stay within [`ASIDE`] of the centre line of the lanelet.
    is_touched_aside: [bool; 2],
    /// Whether a vehicle on the lanelet may see an obstacle that obstructs a lane.
    is_seen: bool,
}

/// A [`Nearness`] that is computed on first use, with one bit for each value.
#[derive(Debug, Default)]
struct NearCell(AtomicU8);

impl NearCell {
    /// Bit that is set when the other bits are valid.
    const KNOWN: u8 = 1 << 7;

    // Relaxed ordering is enough, because all threads compute the same value, and it does not guard
    // other data.
    #[inline]
    fn get(&self) -> Option<Nearness> {
        let bits = self.0.load(Ordering::Relaxed);
        let is_set = |bit: u8| bits & 1 << bit != 0;
        (bits & Self::KNOWN != 0).then(|| Nearness {
            is_watched: is_set(0),
            is_touched: [is_set(1), is_set(2)],
            is_touched_aside: [is_set(3), is_set(4)],
            is_seen: is_set(5),
        })
    }

    fn set(&self, nearness: Nearness) {
        let Nearness {
            is_watched,
            is_touched: [by_cars, by_any],
            is_touched_aside: [by_cars_aside, by_any_aside],
            is_seen,
        } = nearness;
        let facts = [
            is_watched,
            by_cars,
            by_any,
            by_cars_aside,
            by_any_aside,
            is_seen,
        ];
        let bits = facts.into_iter().zip(0u8..);
        let bits = bits.fold(Self::KNOWN, |bits, (fact, bit)| {
            bits | u8::from(fact) << bit
        });
        self.0.store(bits, Ordering::Relaxed);
    }

    fn copied(&self) -> Self {
        Self(AtomicU8::new(self.0.load(Ordering::Relaxed)))
    }
}

/// Proximity of obstacles to each lanelet.
#[derive(Default)]
pub struct LaneObstacles {
    near: Vec<NearCell>,
    /// Swing-out of vehicles from the centre line of each lanelet, m: first for cars, then for any
    /// vehicle. Computed on first use.
    swings: Vec<OnceLock<[f64; 2]>>,
    in_the_way: InTheWay,
    /// Inputs for computing the values on first use; `None` without obstacles.
    source: Option<Source>,
}

/// Inputs for finding the obstacles near lanes.
struct Source {
    sizes: VehicleSizes,
    obstacles: Arc<Obstacles>,
    roads: Arc<Roads>,
}

impl Source {
    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            sizes: self.sizes.largest,
            longest: self.sizes.longest,
            obstacles: &self.obstacles,
            graph: &self.roads.graph,
        }
    }
}

/// Bodies that may obstruct vehicles on a lane. In a town, nearly every lane has houses beside it,
/// but hardly any of them obstructs the lane.
#[derive(Debug, Clone, PartialEq, Default)]
struct InTheWay {
    /// Index of the first body of each lanelet in the list, followed by the length of the list.
    firsts: Vec<u32>,
    /// Bodies in the order of the lanelets that they obstruct. A body occurs once for each such lanelet.
    numbers: Vec<u32>,
    /// All bodies that obstruct a lanelet, in ascending order of numbers, without duplicates.
    all: Vec<u32>,
    cells: Arc<Cells>,
}

/// Results from before an edit. They are used only if the edit has left all vehicle types
/// unchanged.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) lanes: &'a LaneObstacles,
    pub(super) graph: &'a LaneGraph,
    /// For each new lanelet, the old lanelet of which it is a [copy](copied); `None` if all
    /// lanelets are unchanged.
    pub(super) copies: Option<&'a [LaneletIndex]>,
    /// Changes of obstacles; `None` if all are unchanged.
    pub(super) changes: Option<&'a Changes>,
}

impl Known<'_> {
    /// Whether reusing the results is worth the cost.
    pub(super) fn is_worth_it(&self) -> bool {
        let boxes = self.changes.map_or(0, |changes| changes.boxes.len());
        !self.lanes.near.is_empty() && boxes <= MOST_CHANGES
    }

    /// Returns the old lanelet that `id` was copied from; `None` if the lanelet is new.
    fn copied(&self, id: LaneletIndex) -> Option<LaneletIndex> {
        self.copies.map_or(Some(id), |copies| copied(copies, id))
    }

    /// Returns the new number of an old body; `None` if it was removed.
    fn number(&self, before: u32) -> Option<u32> {
        match self.changes {
            Some(changes) => changes.number(before),
            None => Some(before),
        }
    }

    /// Boxes of all removed and added bodies.
    fn boxes(&self) -> &[(DVec2, DVec2)] {
        self.changes.map_or(&[], |changes| &changes.boxes)
    }
}

impl LaneObstacles {
    /// Finds the obstacles that obstruct vehicles of the given sizes. The proximity of obstacles to
    /// a lanelet is computed on first use. Results for lanes that an edit has not changed are
    /// copied from `known`.
    pub(super) fn new(
        sizes: VehicleSizes,
        obstacles: &Arc<Obstacles>,
        roads: &Arc<Roads>,
        known: Option<Known<'_>>,
    ) -> Self {
        if obstacles.is_empty() {
            return Self::default();
        }
        let source = Source {
            sizes,
            obstacles: obstacles.clone(),
            roads: roads.clone(),
        };
        let surroundings = source.surroundings();
        let edit = known.map(|known| AfterEdit::of(known, &surroundings));
        let in_the_way = surroundings.in_the_way(edit.as_ref());
        let count = roads.graph.lanelets().len();
        let (near, swings) = match edit {
            Some(edit) => edit.copies(&surroundings, &in_the_way),
            None => Default::default(),
        };
        let mut lanes = Self {
            near,
            swings,
            in_the_way,
            source: Some(source),
        };
        lanes.near.resize_with(count, NearCell::default);
        lanes.swings.resize_with(count, OnceLock::new);
        lanes
    }

    /// Whether vehicles on a lanelet have to watch obstacles.
    #[inline]
    pub fn is_watched(&self, lanelet: LaneletIndex) -> bool {
        self.nearness(lanelet).is_watched
    }

    /// Whether a vehicle that drives along the centre line of a lanelet may touch an obstacle.
    /// `is_long` is true for vehicles other than cars.
    #[inline]
    pub fn may_be_touched(&self, lanelet: LaneletIndex, is_long: bool) -> bool {
        self.nearness(lanelet).is_touched[usize::from(is_long)]
    }

    /// Returns how far a vehicle's axis can be from the centre line of a lanelet without the
    /// vehicle touching an obstacle, m; 0 if this is not known. `is_long` is true for vehicles
    /// other than cars.
    #[inline]
    pub fn room_aside(&self, lanelet: LaneletIndex, is_long: bool) -> f64 {
        match self.nearness(lanelet).is_touched_aside[usize::from(is_long)] {
            true => 0.0,
            false => ASIDE,
        }
    }

    /// Whether a vehicle that keeps to a lanelet may see an obstacle that obstructs it.
    #[inline]
    pub fn is_seen_from(&self, lanelet: LaneletIndex) -> bool {
        self.nearness(lanelet).is_seen
    }

    /// Returns the proximity of obstacles to a lanelet. O(points of the lanelet and obstacles near
    /// it) on first use.
    #[inline]
    fn nearness(&self, id: LaneletIndex) -> Nearness {
        let known = self.near[id.index()].get();
        known.unwrap_or_else(|| self.find(id))
    }

    #[cold]
    fn find(&self, id: LaneletIndex) -> Nearness {
        let Some(source) = &self.source else {
            return Nearness::default();
        };
        let surroundings = source.surroundings();
        let around = self.swing_around(&surroundings, id);
        let cells = &self.in_the_way.cells;
        let nearness = surroundings.nearness(id, around, cells);
        self.near[id.index()].set(nearness);
        nearness
    }

    /// Returns the maximum swing-out of vehicles from the centre lines of a lanelet and the
    /// adjoining lanelets, m.
    fn swing_around(&self, surroundings: &Surroundings<'_>, id: LaneletIndex) -> [f64; 2] {
        let graph = surroundings.graph;
        let beside = graph.predecessors(id).iter().chain(graph.successors(id));
        beside.chain([&id]).fold([0.0, 0.0], |most, &near| {
            let swing = &self.swings[near.index()];
            let own = swing.get_or_init(|| surroundings.swing(near));
            [most[0].max(own[0]), most[1].max(own[1])]
        })
    }

    /// Returns the index of obstacles that may obstruct vehicles on a lane.
    #[inline]
    pub fn in_the_way(&self) -> &Cells {
        &self.in_the_way.cells
    }
}

#[cfg(test)]
impl LaneObstacles {
    /// Returns the proximity of obstacles to each lanelet.
    fn all(&self) -> Vec<Nearness> {
        let ids = LaneletIndex::up_to(self.near.len());
        ids.map(|id| self.nearness(id)).collect()
    }
}

#[cfg(test)]
impl PartialEq for LaneObstacles {
    fn eq(&self, other: &Self) -> bool {
        self.in_the_way == other.in_the_way && self.all() == other.all()
    }
}

#[cfg(test)]
impl std::fmt::Debug for LaneObstacles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.all()).finish()
    }
}

/// Maximum dimensions of the vehicles of a class.
#[derive(Debug, Clone, Copy)]
struct Size {
    /// Maximum width, m.
    width: f64,
    /// Maximum distance from the rear axle to the farther end of the vehicle, m.
    reach: f64,
}

/// Sizes of the vehicle types of a scenario.
#[derive(Debug, Clone, Copy)]
pub(super) struct VehicleSizes {
    /// Sizes of the largest car and of the largest vehicle of any class.
    largest: [Size; 2],
    /// Length of the longest vehicle, m.
    longest: f64,
}

impl VehicleSizes {
    pub(super) fn of(scenario: &Scenario) -> Self {
        let types: Vec<&VehicleType> = scenario.vehicle_types().values().collect();
        let lengths = types.iter().map(|kind| kind.length.get());
        Self {
            largest: sizes(&types),
            longest: lengths.fold(0.0, f64::max),
        }
    }
}

/// Sizes of the largest car and of the largest vehicle of any class.
fn sizes(types: &[&VehicleType]) -> [Size; 2] {
    let bodies = || types.iter().map(|kind| body_of(kind));
    let cars = bodies().filter(|body| !body.exceeds_car());
    [cars.collect::<Vec<_>>(), bodies().collect()].map(|class| {
        let largest = |of: fn(&Body) -> f64| class.iter().map(of).fold(0.0, f64::max);
        Size {
            width: largest(|body| body.width),
            reach: largest(|body| body.front.max(body.rear)),
        }
    })
}

/// Inputs of the search for obstacles near lanes.
struct Surroundings<'a> {
    /// Sizes of cars, and of vehicles of any class.
    sizes: [Size; 2],
    /// Length of the longest vehicle, m.
    longest: f64,
    obstacles: &'a Obstacles,
    graph: &'a LaneGraph,
}

/// Results from before an edit that may be reused.
struct AfterEdit<'a> {
    known: Known<'a>,
    /// Whether bodies near each lanelet have changed.
    is_near_change: Vec<bool>,
}

impl<'a> AfterEdit<'a> {
    /// Finds the lanelets near changed bodies. O(lanelets * changes).
    fn of(known: Known<'a>, surroundings: &Surroundings<'_>) -> Self {
        let distance = surroundings.beside().max(WATCH_DISTANCE) + SLACK;
        let ids = surroundings.graph.indices();
        let is_near = |id| surroundings.may_reach(id, known.boxes(), distance);
        Self {
            is_near_change: ids.map(is_near).collect(),
            known,
        }
    }

    /// Returns the old lanelet that a lanelet was copied from, provided that no body near it has
    /// changed.
    fn unchanged(&self, id: LaneletIndex) -> Option<LaneletIndex> {
        let copy = self.known.copied(id)?;
        (!self.is_near_change[id.index()]).then_some(copy)
    }

    /// Whether a lanelet has the same adjoining lanelets as before the edit.
    fn has_same_around(&self, graph: &LaneGraph, id: LaneletIndex, copy: LaneletIndex) -> bool {
        let around = graph.predecessors(id).iter().chain(graph.successors(id));
        let old = self.known.graph;
        let before = old.predecessors(copy).iter().chain(old.successors(copy));
        around
            .map(|&near| self.known.copied(near))
            .eq(before.map(|&near| Some(near)))
    }

    /// Returns the known results for each lanelet: how near obstacles are, and how far vehicles
    /// swing out. Results that an edit may have changed are left empty.
    fn copies(
        &self,
        surroundings: &Surroundings<'_>,
        in_the_way: &InTheWay,
    ) -> (Vec<NearCell>, Vec<OnceLock<[f64; 2]>>) {
        let sight = surroundings.sight();
        let changed = self.changed(surroundings, in_the_way);
        let (graph, lanes) = (surroundings.graph, self.known.lanes);
        let near = |id: LaneletIndex| {
            let copy = self.unchanged(id)?;
            let is_same = self.has_same_around(graph, id, copy)
                && !surroundings.may_reach(id, &changed, sight);
            is_same.then(|| lanes.near[copy.index()].copied())
        };
        let swing = |id: LaneletIndex| {
            let copy = self.known.copied(id)?;
            Some(lanes.swings[copy.index()].clone())
        };
        (
            graph
                .indices()
                .map(|id| near(id).unwrap_or_default())
                .collect(),
            graph
                .indices()
                .map(|id| swing(id).unwrap_or_default())
                .collect(),
        )
    }

    /// Returns the bounding boxes of bodies that an edit affects: removed and added bodies, and
    /// bodies that obstruct a lane only before or only after the edit.
    fn changed(
        &self,
        surroundings: &Surroundings<'_>,
        in_the_way: &InTheWay,
    ) -> Vec<(DVec2, DVec2)> {
        let known = &self.known;
        let before = known.lanes.in_the_way.all.iter();
        let before: Vec<u32> = before.filter_map(|&number| known.number(number)).collect();
        let differing = |one: &[u32], other: &[u32]| -> Vec<u32> {
            let numbers = one.iter().copied();
            numbers
                .filter(|number| other.binary_search(number).is_err())
                .collect()
        };
        let mut changed = differing(&before, &in_the_way.all);
        changed.extend(differing(&in_the_way.all, &before));
        let boxes = changed.into_iter();
        let boxes = boxes.map(|number| surroundings.obstacles.bounds(number));
        boxes.chain(known.boxes().iter().copied()).collect()
    }
}

impl Surroundings<'_> {
    /// Returns how far from the centre line of a lane bodies may obstruct vehicles on it, m. This
    /// is half the vehicle's width plus [`SIDE_CLEARANCE`] plus the maximum shift of the search
    /// strip, [`MOST_ASIDE`].
    fn beside(&self) -> f64 {
        0.5 * self.sizes[1].width + SIDE_CLEARANCE + MOST_ASIDE + SLACK
    }

    fn points(&self, id: LaneletIndex) -> impl ExactSizeIterator<Item = DVec2> + Clone + '_ {
        self.graph.line(id).points()
    }

    /// Returns the line segments between the points of a lanelet.
    fn stretches(&self, id: LaneletIndex) -> impl Iterator<Item = (DVec2, DVec2)> + '_ {
        self.points(id).zip(self.points(id).skip(1))
    }

    /// Returns how far vehicles swing out from the centre line of a lanelet, m.
    fn swing(&self, id: LaneletIndex) -> [f64; 2] {
        let points: Vec<DVec2> = self.points(id).collect();
        let turns = turns(&points);
        self.sizes.map(|size| swing(&points, &turns, size.reach))
    }

    fn in_the_way(&self, edit: Option<&AfterEdit<'_>>) -> InTheWay {
        let beside = self.beside();
        let (mut firsts, mut numbers) = (vec![0], Vec::new());
        for id in self.graph.indices() {
            match edit.and_then(|edit| Some((&edit.known, edit.unchanged(id)?))) {
                Some((known, copy)) => {
                    let before = known.lanes.in_the_way.of(copy).iter();
                    numbers.extend(before.filter_map(|&number| known.number(number)));
                }
                None => self.collect_near(id, beside, &mut numbers),
            }
            firsts.push(numbers.len() as u32);
        }
        let mut all = numbers.clone();
        all.sort_unstable();
        all.dedup();
        let before = edit.filter(|edit| edit.known.changes.is_none());
        let before = before.map(|edit| &edit.known.lanes.in_the_way);
        let cells = match before.filter(|before| before.all == all) {
            Some(before) => before.cells.clone(),
            None => Arc::new(self.obstacles.cells_of(&all)),
        };
        InTheWay {
            firsts,
            numbers,
            all,
            cells,
        }
    }

    /// Appends the bodies within `distance` metres of a lanelet, in ascending order of numbers.
    fn collect_near(&self, id: LaneletIndex, distance: f64, numbers: &mut Vec<u32>) {
        let first = numbers.len();
        let points: Vec<DVec2> = self.points(id).collect();
        let mut candidates = Vec::new();
        // Searched in parts, because for most parts a single look-up shows that no body is near.
        for from in (0..points.len().saturating_sub(1)).step_by(PART) {
            let part = &points[from..points.len().min(from + PART + 1)];
            let Some((low, high)) = polygon::bounds(part) else {
                continue;
            };
            candidates.clear();
            self.obstacles
                .for_each_beside(low, high, distance, |number| {
                    if !candidates.contains(&number) && !numbers[first..].contains(&number) {
                        candidates.push(number);
                    }
                });
            let is_near = |&number: &u32| self.obstacles.is_near(number, part, distance);
            numbers.extend(candidates.iter().copied().filter(is_near));
        }
        numbers[first..].sort_unstable();
    }

    /// Returns the proximity of obstacles to a lanelet. `around` states how far vehicles swing out
    /// on the lanelet and the adjoining lanelets, and `in_the_way` contains the obstacles that
    /// obstruct lanes.
    fn nearness(&self, id: LaneletIndex, around: [f64; 2], in_the_way: &Cells) -> Nearness {
        let is_watched = self.is_watched(id);
        // One search covers all classes and swings.
        let farthest = [0, 1].map(|class| self.reach(class, around[class].max(ASIDE)));
        let farthest = farthest[0].max(farthest[1]);
        let distance = match is_watched {
            true => self.distance_beside(id, farthest),
            false => f64::INFINITY,
        };
        Nearness {
            is_watched,
            is_touched: [0, 1].map(|class| distance < self.reach(class, around[class])),
            is_touched_aside: [0, 1].map(|class| distance < self.reach(class, ASIDE)),
            is_seen: self.sees(id, in_the_way, self.sight()),
        }
    }

    fn is_watched(&self, id: LaneletIndex) -> bool {
        let mut points = self.points(id);
        points.any(|point| self.obstacles.is_any_within(point, WATCH_DISTANCE))
    }

    /// Returns how far from the centre line of a lanelet vehicles of a class may touch a body, m.
    /// The vehicles drive along the lanelet and deviate from its centre line by `swing` metres.
    ///
    /// A vehicle is straight, but its lane may bend. The vehicle deviates from the centre line by
    /// as much as the lane turns within its length, and its front may already be on the next
    /// lanelet. In a town, this distance excludes nearly all lanelets with houses beside them.
    fn reach(&self, class: usize, swing: f64) -> f64 {
        (0.5 * self.sizes[class].width + swing + SLACK).min(WATCH_DISTANCE)
    }

    /// Returns the distance from the centre line of a lanelet to the nearest body, m; `most` if no
    /// body is closer.
    fn distance_beside(&self, id: LaneletIndex, most: f64) -> f64 {
        let mut nearest = most;
        for (from, to) in self.stretches(id) {
            self.obstacles.for_each_beside(from, to, most, |number| {
                nearest = nearest.min(self.obstacles.distance_from(number, from, to));
            });
        }
        nearest
    }

    /// Returns the distance from the rear axle on the centre line to the farthest visible point, m.
    fn sight(&self) -> f64 {
        OBSTACLE_REACH + self.longest + WATCH_DISTANCE
    }

    fn sees(&self, id: LaneletIndex, in_the_way: &Cells, sight: f64) -> bool {
        self.points(id).any(|point| {
            let mut sees = false;
            in_the_way.for_each_in(point - sight, point + sight, |number| {
                // Tests the body rather than only its box, because which corners of the box are
                // found depends on the cells and therefore on all bodies.
                sees = sees || self.obstacles.is_within(number, point, sight);
            });
            sees
        })
    }

    /// Whether any of the boxes may be within `distance` metres of a lanelet.
    fn may_reach(&self, id: LaneletIndex, boxes: &[(DVec2, DVec2)], distance: f64) -> bool {
        if boxes.is_empty() {
            return false;
        }
        // All of the lanelet is within its length of its start.
        let start = self.graph.line(id).position(0.0);
        let reach = distance + self.graph.lanelet(id).length();
        boxes.iter().any(|&(low, high)| {
            let is_apart = low.cmpgt(start + reach).any() || high.cmplt(start - reach).any();
            !is_apart
        })
    }
}

impl InTheWay {
    fn of(&self, lanelet: LaneletIndex) -> &[u32] {
        let lanelet = lanelet.index();
        let range = self.firsts[lanelet] as usize..self.firsts[lanelet + 1] as usize;
        &self.numbers[range]
    }
}

/// Returns the body dimensions of vehicles of a type.
fn body_of(kind: &VehicleType) -> Body {
    Body {
        width: kind.width.get(),
        front: kind.front(),
        rear: kind.rear_overhang.get(),
    }
}

/// Returns how far a line turns at each of its inner points, rad.
fn turns(line: &[DVec2]) -> Vec<f64> {
    let turn = |three: &[DVec2]| {
        let (before, after) = (three[1] - three[0], three[2] - three[1]);
        before.angle_to(after).abs()
    };
    line.windows(3).map(turn).collect()
}

/// Returns the maximum distance between a line and a straight body of the given length that touches
/// the line at one end, m. It is the sum of all turns of the line within that length, each
/// multiplied by the length of the body beyond the turn.
fn swing(line: &[DVec2], turns: &[f64], length: f64) -> f64 {
    let corners = 1..line.len().saturating_sub(1);
    let from = |first: usize| {
        let (mut distance, mut swing) = (0.0, 0.0);
        for at in first..corners.end {
            swing += turns[at - 1] * (length - distance);
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
    use super::super::obstacles::tests::field;
    use super::*;
    use crate::testing::{draw_street, put_post, street};
    use roadwright_geometry::Pose;
    use roadwright_geometry::oriented_box::OrientedBox;
    use roadwright_scenario::{Edit, Shape};

    #[test]
    fn who_is_a_bit_beside_its_lane_touches_nothing_where_there_is_room() {
        let mut scenario = field();
        // One street leads through the field, and another one past it.
        for (from, to) in [
            ((-70.0, -10.0), (70.0, -25.0)),
            ((-70.0, -48.0), (70.0, -46.0)),
        ] {
            draw_street(&mut scenario, from, to, &street(1, 1));
        }
        let ground = Ground::new(&scenario);
        let (graph, lanes) = (ground.graph(), ground.lane_obstacles());
        let touched =
            |lanelet: LaneletIndex, kind: &VehicleType, (s, t, turned): (f64, f64, f64)| {
                let pose = graph.line(lanelet).pose(s);
                let heading = pose.heading + turned;
                let rear = Pose {
                    position: pose.point(0.0, t),
                    heading,
                };
                let middle = rear.point(0.5 * kind.length - kind.rear_overhang, 0.0);
                let middle = Pose {
                    position: middle,
                    heading,
                };
                ground.obstacles.is_any_touched_by(&OrientedBox::new(
                    middle,
                    kind.length.get(),
                    kind.width.get(),
                ))
            };
        let (mut free, mut refused) = (0, 0);
        for lanelet in graph.indices() {
            for kind in scenario.vehicle_types().values() {
                let room = lanes.room_aside(lanelet, body_of(kind).exceeds_car());
                let reach = kind.front() + kind.width;
                let end = graph.line(lanelet).length() - reach;
                for step in 0..(4.0 * end) as u32 {
                    let s = 0.25 * f64::from(step);
                    for (t, turn) in [(1.0, 0.0), (0.4, 0.6), (-0.6, -0.4), (0.0, -1.0)] {
                        let place = (s, t * ASIDE, turn * ASIDE / reach);
                        let is_touched = touched(lanelet, kind, place);
                        assert!(room == 0.0 || !is_touched, "{lanelet} at {s} m");
                        free += usize::from(room > 0.0);
                        refused += usize::from(room == 0.0 && is_touched);
                    }
                }
            }
        }
        assert!(free > 100 && refused > 100, "{free} {refused}");
    }

    #[test]
    fn who_keeps_to_its_lane_touches_nothing_where_it_is_said_that_nothing_is_near() {
        // Streets across the field, with bends at their joints.
        let mut scenario = field();
        for (from, to) in [
            ((-70.0, -10.0), (70.0, -25.0)),
            ((-30.0, -60.0), (20.0, 60.0)),
        ] {
            draw_street(&mut scenario, from, to, &street(1, 1));
        }
        let ground = Ground::new(&scenario);
        let (graph, obstacles) = (ground.graph(), &ground.obstacles);
        let lanes = ground.lane_obstacles();
        let kinds: Vec<&VehicleType> = scenario.vehicle_types().values().collect();
        assert!(kinds.iter().any(|kind| body_of(kind).exceeds_car()));
        let (mut touched, mut quiet) = (0, 0);
        for lanelet in graph.indices() {
            let line = graph.line(lanelet);
            for kind in &kinds {
                let is_long = body_of(kind).exceeds_car();
                let front = kind.front();
                let may_touch = |id: LaneletIndex| lanes.may_be_touched(id, is_long);
                quiet += usize::from(lanes.is_watched(lanelet) && !may_touch(lanelet));
                for step in 0..(4.0 * line.length()) as u32 {
                    let s = 0.25 * f64::from(step);
                    let pose = line.pose(s);
                    let middle = Pose {
                        position: pose.point(0.5 * kind.length - kind.rear_overhang, 0.0),
                        ..pose
                    };
                    let body = OrientedBox::new(middle, kind.length.get(), kind.width.get());
                    if !obstacles.is_any_touched_by(&body) {
                        continue;
                    }
                    touched += 1;
                    let is_at_end = line.length() - s < front;
                    let mut next = graph.successors(lanelet).iter();
                    let is_known = may_touch(lanelet) || is_at_end && next.any(|&id| may_touch(id));
                    // Beyond the end of a lane without successors, a vehicle touches bodies that are not
                    // beside any lane.
                    let is_beyond = is_at_end && graph.successors(lanelet).is_empty();
                    assert!(is_known || is_beyond, "lanelet {lanelet} at {s} m");
                }
            }
        }
        // Most lanelets on which behaviours watch obstacles are not touched.
        assert!(
            touched > 100 && quiet > 5,
            "{touched} touched, {quiet} quiet"
        );
    }

    #[test]
    fn what_is_taken_away_is_seen_from_no_lane_any_more() {
        // A post is on one street and can be seen from a second street that is not near it.
        let mut before = Scenario::new("posts");
        for (from, to) in [((0.0, 0.0), (100.0, 0.0)), ((100.0, 30.0), (110.0, 30.0))] {
            draw_street(&mut before, from, to, &street(1, 0));
        }
        let ground = Ground::new(&before);
        let place = ground.graph().line(LaneletIndex::new(0)).position(95.0);
        let post = Shape::Circle {
            x: place.x.into(),
            y: place.y.into(),
            radius: 0.2.into(),
        };
        // Another post is far from both streets. It is needed because a scenario without obstacles
        // does not examine lanes at all.
        let far = Shape::Circle {
            x: (-500.0).into(),
            y: 0.0.into(),
            radius: 0.2.into(),
        };
        put_post(&mut before, far);
        put_post(&mut before, post);
        let id = *before.obstacles().keys().last().unwrap();
        let mut after = before.clone();
        after.apply(Edit::Obstacle(id, None)).unwrap();
        let lanes = [0, 1].map(LaneletIndex::new);
        let seen = |ground: &Ground| lanes.map(|lane| ground.lane_obstacles().is_seen_from(lane));
        let ground = Ground::new(&before);
        assert_eq!(seen(&ground), [true, true]);
        let without = ground.after_edit(&before, &after);
        assert_eq!(seen(&without), [false, false]);
        assert_eq!(seen(&without.after_edit(&after, &before)), [true, true]);
    }

    #[test]
    fn a_type_that_becomes_wider_may_touch_more() {
        let mut before = Scenario::new("posts");
        draw_street(&mut before, (0.0, 0.0), (100.0, 0.0), &street(1, 0));
        let y = Ground::new(&before)
            .graph()
            .line(LaneletIndex::new(0))
            .position(50.0)
            .y
            + 2.5;
        let post = Shape::Circle {
            x: 50.0.into(),
            y: y.into(),
            radius: 0.2.into(),
        };
        put_post(&mut before, post);
        let mut after = before.clone();
        for (name, kind) in before.vehicle_types() {
            let width = 4.4;
            let wide = VehicleType {
                width: width.into(),
                ..kind.clone()
            };
            after
                .apply(Edit::VehicleType(name.clone(), Some(Box::new(wide))))
                .unwrap();
        }
        let ground = Ground::new(&before);
        assert!(
            !ground
                .lane_obstacles()
                .may_be_touched(LaneletIndex::new(0), true)
        );
        let ground = ground.after_edit(&before, &after);
        assert!(
            ground
                .lane_obstacles()
                .may_be_touched(LaneletIndex::new(0), true)
        );
    }
}
