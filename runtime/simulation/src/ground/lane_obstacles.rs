//! Which lanes obstacles and trees are near to.
//!
//! Looking for obstacles costs each vehicle a search in every question to its controller. Lanelets know
//! whether there is anything near, so on most of them nobody searches.

use super::body_list::Changes;
use super::cells::Cells;
use super::obstacles::{MOST_ASIDE, OBSTACLE_REACH, Obstacles, SIDE_CLEARANCE};
use glam::DVec2;
use roadwright_scenario::junction::Body;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, copied};
use roadwright_scenario::{Scenario, VehicleType};
use std::sync::Arc;

/// Lanes closer to an obstacle than this look out for it, m.
const WATCH_DISTANCE: f64 = 6.0;
/// Bodies count as near that are this much too far, m: more than what looking along a lane in steps can miss.
const SLACK: f64 = 0.25;

/// How far beside the middle of a lane bodies may be that steer for themselves, m: more than what they need to
/// keep to it, in gentle bends as well.
const ASIDE: f64 = 1.0;
/// Where an edit takes away and adds more bodies, all lanes are looked at anew: each is compared with each of
/// those.
const MOST_CHANGES: usize = 500;

/// How near obstacles are to one lanelet.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Nearness {
    /// Whether it passes close to one.
    is_watched: bool,
    /// Whether a car, and any vehicle, that drives along its middle may touch one.
    is_touched: [bool; 2],
    /// Whether one may be touched by a car, and by any vehicle, of which no point of the middle is farther than
    /// [`ASIDE`] from the middle of the lanelet.
    is_touched_aside: [bool; 2],
    /// Whether somebody on it may see one that is in a way.
    is_seen: bool,
}

/// For each lanelet how near obstacles are.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct LaneObstacles {
    lanes: Vec<Nearness>,
    /// How far a car, and any vehicle, leaves the middle of each lanelet, m.
    swings: Vec<[f64; 2]>,
    in_ways: InWays,
}

/// The bodies that may be in the way of somebody on a lane. In a town nearly every lane has houses beside it,
/// and hardly one in its way.
#[derive(Debug, Clone, PartialEq, Default)]
struct InWays {
    /// Where those of each lanelet begin in the list; one more than there are lanelets.
    firsts: Vec<u32>,
    /// Each as often as there are lanelets that it is in the way of.
    numbers: Vec<u32>,
    /// All of them once, by growing number.
    all: Vec<u32>,
    cells: Arc<Cells>,
}

/// The lanes before an edit that has left all vehicle types as they were.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) lanes: &'a LaneObstacles,
    pub(super) graph: &'a LaneGraph,
    /// For each lanelet now the one that it is a [copy](copied) of; none if all are as they were.
    pub(super) copies: Option<&'a [LaneletIndex]>,
    /// None if all obstacles are as they were.
    pub(super) changes: Option<&'a Changes>,
}

impl Known<'_> {
    /// Whether it tells enough of the lanes now to be worth a look.
    pub(super) fn is_worth_it(&self) -> bool {
        let boxes = self.changes.map_or(0, |changes| changes.boxes.len());
        !self.lanes.lanes.is_empty() && boxes <= MOST_CHANGES
    }

    /// The lanelet of before that one is a copy of.
    fn copied(&self, id: LaneletIndex) -> Option<LaneletIndex> {
        self.copies.map_or(Some(id), |copies| copied(copies, id))
    }

    /// The number now of a body of before.
    fn number(&self, before: u32) -> Option<u32> {
        match self.changes {
            Some(changes) => changes.number(before),
            None => Some(before),
        }
    }

    /// How far vehicles left the middle around a lanelet of before, m.
    fn swing_around(&self, copy: LaneletIndex) -> [f64; 2] {
        swing_around(self.graph, &self.lanes.swings, copy)
    }

    /// The boxes around all that is gone or new.
    fn boxes(&self) -> &[(DVec2, DVec2)] {
        self.changes.map_or(&[], |changes| &changes.boxes)
    }
}

impl LaneObstacles {
    /// Finds out which obstacles the lanes of a scenario are near to; what is known of lanes that an edit has
    /// not changed is copied.
    pub(super) fn new(
        scenario: &Scenario,
        obstacles: &Obstacles,
        graph: &LaneGraph,
        known: Option<Known<'_>>,
    ) -> Self {
        if obstacles.is_empty() {
            return Self::default();
        }
        let types: Vec<&VehicleType> = scenario.vehicle_types().values().collect();
        let mut surroundings = Surroundings {
            sizes: sizes(&types),
            longest: types
                .iter()
                .map(|kind| kind.length.get())
                .fold(0.0, f64::max),
            obstacles,
            graph,
            known,
            is_near_change: Vec::new(),
        };
        surroundings.find_changes();
        let swings = surroundings.swings();
        let in_ways = surroundings.in_ways();
        let lanes = surroundings.lanes(&swings, &in_ways);
        Self {
            lanes,
            swings,
            in_ways,
        }
    }

    /// Whether vehicles on a lanelet have to look out for obstacles.
    #[inline]
    pub(crate) fn is_watched(&self, lanelet: LaneletIndex) -> bool {
        self.lanes[lanelet.index()].is_watched
    }

    /// Whether a vehicle that drives along the middle of a lanelet may touch an obstacle; one that is no car
    /// is long.
    #[inline]
    pub(crate) fn may_be_touched(&self, lanelet: LaneletIndex, is_long: bool) -> bool {
        self.lanes[lanelet.index()].is_touched[usize::from(is_long)]
    }

    /// How far the middle of a vehicle, from its rear to its front, may be from the middle of a lanelet at most
    /// without touching an obstacle beside that, m: 0 if nothing is known. One that is no car is long.
    #[inline]
    pub(crate) fn room_aside(&self, lanelet: LaneletIndex, is_long: bool) -> f64 {
        match self.lanes[lanelet.index()].is_touched_aside[usize::from(is_long)] {
            true => 0.0,
            false => ASIDE,
        }
    }

    /// Whether somebody who keeps to a lanelet may see an obstacle in its way.
    #[inline]
    pub(crate) fn is_seen_from(&self, lanelet: LaneletIndex) -> bool {
        self.lanes[lanelet.index()].is_seen
    }

    /// The obstacles that may be in the way of somebody on a lane.
    #[inline]
    pub(crate) fn in_ways(&self) -> &Cells {
        &self.in_ways.cells
    }
}

/// How large vehicles are.
#[derive(Clone, Copy)]
struct Size {
    /// The widest, m.
    width: f64,
    /// From the rear axle to the farther end, the most, m.
    reach: f64,
}

/// The largest car, and the largest vehicle of all.
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

/// What nearness follows from.
struct Surroundings<'a> {
    /// Of cars, and of all vehicles.
    sizes: [Size; 2],
    /// The longest vehicle, m.
    longest: f64,
    obstacles: &'a Obstacles,
    graph: &'a LaneGraph,
    known: Option<Known<'a>>,
    /// For each lanelet whether bodies near it have changed; empty where nothing is known.
    is_near_change: Vec<bool>,
}

impl Surroundings<'_> {
    fn ids(&self) -> impl ExactSizeIterator<Item = LaneletIndex> + use<> {
        self.graph.indices()
    }

    /// What was known of a lanelet, if it is as it was, and no body near it has changed.
    fn known(&self, id: LaneletIndex) -> Option<(Known<'_>, LaneletIndex)> {
        let known = self.known?;
        let copy = known.copied(id)?;
        (!self.is_near_change[id.index()]).then_some((known, copy))
    }

    /// Notes the lanelets near which bodies have changed. O(lanelets times changes).
    fn find_changes(&mut self) {
        let Some(known) = self.known else {
            return;
        };
        let distance = self.beside().max(WATCH_DISTANCE) + SLACK;
        let is_near = |id| self.may_reach(id, known.boxes(), distance);
        self.is_near_change = self.ids().map(is_near).collect();
    }

    /// Bodies nearer to the middle of a lane than this may be in the way of somebody on it, m: by less than half
    /// of the vehicle and [`SIDE_CLEARANCE`], for one that looks [`MOST_ASIDE`] to the side.
    fn beside(&self) -> f64 {
        0.5 * self.sizes[1].width + SIDE_CLEARANCE + MOST_ASIDE + SLACK
    }

    fn points(&self, id: LaneletIndex) -> impl ExactSizeIterator<Item = DVec2> + Clone + '_ {
        self.graph.line(id).points()
    }

    /// What lies between the points of a lanelet.
    fn stretches(&self, id: LaneletIndex) -> impl Iterator<Item = (DVec2, DVec2)> + '_ {
        self.points(id).zip(self.points(id).skip(1))
    }

    fn swings(&self) -> Vec<[f64; 2]> {
        let before = |id| {
            let known = self.known.as_ref()?;
            Some(known.lanes.swings[known.copied(id)?.index()])
        };
        let of = |id| match before(id) {
            Some(swings) => swings,
            None => {
                let points: Vec<DVec2> = self.points(id).collect();
                self.sizes.map(|size| swing(&points, size.reach))
            }
        };
        self.ids().map(of).collect()
    }

    fn in_ways(&self) -> InWays {
        let beside = self.beside();
        let (mut firsts, mut numbers) = (vec![0], Vec::new());
        for id in self.ids() {
            match self.known(id) {
                Some((known, copy)) => {
                    let before = known.lanes.in_ways.of(copy).iter();
                    numbers.extend(before.filter_map(|&number| known.number(number)));
                }
                None => self.collect_near(id, beside, &mut numbers),
            }
            firsts.push(numbers.len() as u32);
        }
        let mut all = numbers.clone();
        all.sort_unstable();
        all.dedup();
        let before = self.known.filter(|known| known.changes.is_none());
        let before = before.map(|known| &known.lanes.in_ways);
        let cells = match before.filter(|before| before.all == all) {
            Some(before) => before.cells.clone(),
            None => Arc::new(self.obstacles.cells_of(&all)),
        };
        InWays {
            firsts,
            numbers,
            all,
            cells,
        }
    }

    /// Adds the bodies within a distance of a lanelet, by growing number.
    fn collect_near(&self, id: LaneletIndex, distance: f64, numbers: &mut Vec<u32>) {
        let first = numbers.len();
        for (from, to) in self.stretches(id) {
            self.obstacles
                .for_each_beside(from, to, distance, |number| {
                    let is_known = numbers[first..].contains(&number);
                    if !is_known && self.obstacles.is_near(number, from, to, distance) {
                        numbers.push(number);
                    }
                });
        }
        numbers[first..].sort_unstable();
    }

    fn lanes(&self, swings: &[[f64; 2]], in_ways: &InWays) -> Vec<Nearness> {
        let sight = self.sight();
        let changed = self.changed(in_ways);
        let of = |id: LaneletIndex| {
            let before = self.known(id);
            let before = before.map(|(known, copy)| (known.lanes.lanes[copy.index()], known, copy));
            let is_watched = match before {
                Some((before, ..)) => before.is_watched,
                None => self.is_watched(id),
            };
            let around = swing_around(self.graph, swings, id);
            let is_touched = match before {
                // It depends on the lanelets around it as well.
                Some((before, known, copy)) if known.swing_around(copy) == around => {
                    before.is_touched
                }
                _ => [0, 1].map(|class| is_watched && self.may_touch(id, class, around[class])),
            };
            let is_touched_aside = match before {
                Some((before, ..)) => before.is_touched_aside,
                None => [0, 1].map(|class| is_watched && self.may_touch(id, class, ASIDE)),
            };
            let is_seen = match before {
                Some((before, ..)) if !self.may_reach(id, &changed, sight) => before.is_seen,
                _ => self.sees(id, &in_ways.cells, sight),
            };
            Nearness {
                is_watched,
                is_touched,
                is_touched_aside,
                is_seen,
            }
        };
        self.ids().map(of).collect()
    }

    fn is_watched(&self, id: LaneletIndex) -> bool {
        let mut points = self.points(id);
        points.any(|point| self.obstacles.is_any_within(point, WATCH_DISTANCE))
    }

    /// Whether vehicles of a class that drive along the middle of a lanelet may touch a body.
    ///
    /// A vehicle is straight, its lane need not be: it leaves the middle by what the lane turns within its
    /// length, and its front may be on the next lanelet already. In a town hardly a lanelet of those with
    /// houses beside them is left.
    fn may_touch(&self, id: LaneletIndex, class: usize, swing: f64) -> bool {
        let reach = (0.5 * self.sizes[class].width + swing + SLACK).min(WATCH_DISTANCE);
        let mut stretches = self.stretches(id);
        stretches.any(|(from, to)| self.obstacles.any_near(from, to, reach))
    }

    /// From the rear axle on the line to the front, and from there as far as one sees, m.
    fn sight(&self) -> f64 {
        OBSTACLE_REACH + self.longest + WATCH_DISTANCE
    }

    fn sees(&self, id: LaneletIndex, in_ways: &Cells, sight: f64) -> bool {
        self.points(id).any(|point| {
            let mut sees = false;
            in_ways.for_each_in(point - sight, point + sight, |number| {
                // Itself and not its box: which corners of that are met depends on the cells of all.
                sees = sees || self.obstacles.is_within(number, point, sight);
            });
            sees
        })
    }

    /// The boxes of bodies that are in a way now and were not, or the other way round.
    fn changed(&self, in_ways: &InWays) -> Vec<(DVec2, DVec2)> {
        let Some(known) = self.known else {
            return Vec::new();
        };
        let before = known.lanes.in_ways.all.iter();
        let before: Vec<u32> = before.filter_map(|&number| known.number(number)).collect();
        let differing = |one: &[u32], other: &[u32]| -> Vec<u32> {
            let numbers = one.iter().copied();
            numbers
                .filter(|number| other.binary_search(number).is_err())
                .collect()
        };
        let mut changed = differing(&before, &in_ways.all);
        changed.extend(differing(&in_ways.all, &before));
        let boxes = changed.into_iter();
        let boxes = boxes.map(|number| self.obstacles.bounds(number));
        boxes.chain(known.boxes().iter().copied()).collect()
    }

    /// Whether one of some boxes may be within a distance of a lanelet, m.
    fn may_reach(&self, id: LaneletIndex, boxes: &[(DVec2, DVec2)], distance: f64) -> bool {
        if boxes.is_empty() {
            return false;
        }
        // All of it lies within its length around its start.
        let start = self.graph.line(id).position(0.0);
        let reach = distance + self.graph.lanelet(id).length();
        boxes.iter().any(|&(low, high)| {
            let is_apart = low.cmpgt(start + reach).any() || high.cmplt(start - reach).any();
            !is_apart
        })
    }
}

impl InWays {
    fn of(&self, lanelet: LaneletIndex) -> &[u32] {
        let lanelet = lanelet.index();
        let range = self.firsts[lanelet] as usize..self.firsts[lanelet + 1] as usize;
        &self.numbers[range]
    }
}

/// How far vehicles leave the middle of a lanelet and of those around it, at most, m.
fn swing_around(graph: &LaneGraph, swings: &[[f64; 2]], id: LaneletIndex) -> [f64; 2] {
    let beside = graph.predecessors(id).iter().chain(graph.successors(id));
    beside.chain([&id]).fold([0.0, 0.0], |most, &near| {
        let own = swings[near.index()];
        [most[0].max(own[0]), most[1].max(own[1])]
    })
}

/// What vehicles of a type cover.
fn body_of(kind: &VehicleType) -> Body {
    Body {
        width: kind.width.get(),
        front: kind.front(),
        rear: kind.rear_overhang.get(),
    }
}

/// How far a straight body of a length leaves a line that it touches at one end, m: by all that the line turns
/// within the length, each turn times what of the body is beyond it.
fn swing(line: &[DVec2], length: f64) -> f64 {
    let turn = |at: usize| {
        let (before, after) = (line[at] - line[at - 1], line[at + 1] - line[at]);
        before.angle_to(after).abs()
    };
    let corners = 1..line.len().saturating_sub(1);
    let turns: Vec<f64> = corners.clone().map(turn).collect();
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
        // One through the field, and one beside it.
        for (from, to) in [
            ((-70.0, -10.0), (70.0, -25.0)),
            ((-70.0, -48.0), (70.0, -46.0)),
        ] {
            draw_street(&mut scenario, from, to, &street(1, 1));
        }
        let ground = Ground::new(&scenario);
        let (graph, lanes) = (ground.graph(), &ground.lane_obstacles);
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
        // Streets across the field that bend where they meet.
        let mut scenario = field();
        for (from, to) in [
            ((-70.0, -10.0), (70.0, -25.0)),
            ((-30.0, -60.0), (20.0, 60.0)),
        ] {
            draw_street(&mut scenario, from, to, &street(1, 1));
        }
        let ground = Ground::new(&scenario);
        let (graph, obstacles) = (ground.graph(), &ground.obstacles);
        let lanes = &ground.lane_obstacles;
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
                    // Beyond its lane, where none goes on, a body touches what is not beside a lane.
                    let is_beyond = is_at_end && graph.successors(lanelet).is_empty();
                    assert!(is_known || is_beyond, "lanelet {lanelet} at {s} m");
                }
            }
        }
        // And most that are watched, for behaviours, are quiet.
        assert!(
            touched > 100 && quiet > 5,
            "{touched} touched, {quiet} quiet"
        );
    }

    #[test]
    fn what_is_taken_away_is_seen_from_no_lane_any_more() {
        // A post on one street, in sight of another one that is not near it.
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
        // Another one far away from both: where there are no obstacles at all nothing is asked of lanes.
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
        let seen = |ground: &Ground| lanes.map(|lane| ground.lane_obstacles.is_seen_from(lane));
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
                .lane_obstacles
                .may_be_touched(LaneletIndex::new(0), true)
        );
        let ground = ground.after_edit(&before, &after);
        assert!(
            ground
                .lane_obstacles
                .may_be_touched(LaneletIndex::new(0), true)
        );
    }
}
