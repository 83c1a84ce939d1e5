//! Tests of the inputs of controllers that request their motion, their vehicle, the path ahead and
//! nearby objects.

use crate::common::{driven_by, shipped, vehicle};
use glam::DVec2;
use roadwright_agent::{
    Controller, Logic, Lookahead, Module, ModuleEntry, ModuleInfo, NearNeeds, Needs, ParameterSet,
    PathNeeds, Registry, Slot, Step, Views,
};
use roadwright_geometry::math::{atan, sin, wrap_angle};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{Pose, heading_of, left_of, unit};
use roadwright_plugin_api::abi::NO_LANELET;
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, HitchData, NEAR_HAS_PRIORITY, NEAR_LEADER, NO_INDEX,
    NOTHING, NearData, NeedsInput, OBJECT_IS_AGENT, OBJECT_IS_ROUND, OBJECT_OBSTACLE,
    OBJECT_PERSON, OBJECT_TRAILER, OBJECT_TREE, OBJECT_VEHICLE, ObjectData, PATH_CONNECTION,
    PATH_END, PATH_LANE_CHANGE, PATH_STOP, PathPoint, VehicleData,
};
use roadwright_scenario::{DynamicsLevel, Edit, LaneletIndex, Scenario};
use roadwright_simulation::{Ground, ModuleOverrides, RunOptions, World, builtin_modules};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const INFO: ModuleInfo = ModuleInfo {
    id: "witness",
    name: "Witness",
    doc: "Follows the path at the speed of idm and keeps what it sees.",
};
/// Distance between the points of the path, m.
const SPACING: f64 = 0.5;
const PATH: PathNeeds = PathNeeds {
    distance: 30.0,
    time: 3.0,
    spacing: SPACING,
    most: 200,
};
const NEAR: NearNeeds = NearNeeds {
    radius: 40.0,
    most: 12,
    trees: false,
};
const ALL: Needs = Needs {
    motion: true,
    vehicles: true,
    path: Some(PATH),
    near: Some(NEAR),
    grid: None,
};
/// Maximum lateral offset at which an agent counts as keeping its lane, m.
const KEEPS: f64 = 0.3;

/// An input row with the data that it refers to.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    id: u64,
    time: f64,
    input: NeedsInput,
    vehicle: Option<VehicleData>,
    hitches: Vec<HitchData>,
    points: Vec<PathPoint>,
    near: Vec<(NearData, ObjectData)>,
}

type Notes = Arc<Mutex<Vec<Seen>>>;

struct Witness {
    idm: Module<dyn Controller>,
    needs: Needs,
    notes: Notes,
}

impl Logic for Witness {}

impl Controller for Witness {
    fn step(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        self.idm.step(step, inputs, outputs);
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        self.idm.lookahead()
    }

    fn aims_along_bend(&self, _: &ParameterSet) -> bool {
        true
    }

    fn needs(&self, _: &ParameterSet) -> Option<Needs> {
        Some(self.needs)
    }

    fn step_with_views(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        views: &Views<'_>,
        inputs: &[NeedsInput],
        outputs: &mut [ControllerOutput],
    ) {
        let mut notes = self.notes.lock().unwrap();
        for (&id, input) in step.ids.iter().zip(inputs) {
            let vehicle = views.vehicles.get(input.vehicle as usize).copied();
            let trailers = vehicle.map_or(0..0, |vehicle| {
                let first = vehicle.hitches as usize;
                first..first + vehicle.hitch_count as usize
            });
            if let Some(wanted) = &self.needs.near
                && (id + step.index).is_multiple_of(7)
            {
                are_nearest(wanted, views, id, input);
            }
            let first = input.path as usize;
            let range = first..first + input.path_count as usize;
            let pairs = input.near_first as usize..(input.near_first + input.near_count) as usize;
            let pairs = views.near.get(pairs).unwrap_or_default().iter();
            notes.push(Seen {
                id,
                time: step.time,
                // The positions in the lists depend on the slice, so they are left out.
                input: NeedsInput {
                    path: 0,
                    near_first: 0,
                    ..*input
                },
                vehicle,
                hitches: views.hitches.get(trailers).unwrap_or_default().to_vec(),
                points: views.path.get(range).unwrap_or_default().to_vec(),
                near: pairs
                    .map(|near| (*near, views.objects.all[near.object as usize]))
                    .collect(),
            });
        }
        drop(notes);
        let seen: Vec<ControllerInput> = inputs.iter().map(|input| input.seen).collect();
        self.step(parameters, step, &seen, outputs);
        for (input, output) in inputs.iter().zip(outputs) {
            let first = input.path as usize;
            let points = &views.path[first..first + input.path_count as usize];
            if self.needs.motion && !points.is_empty() {
                output.steering = pursue(input, points);
            }
        }
    }
}

/// Returns the distance between the box of a vehicle and an object, m.
fn gap(own: &OrientedBox, object: &ObjectData, views: &Views<'_>) -> f64 {
    let middle = DVec2::new(object.x, object.y);
    if object.flags & OBJECT_IS_ROUND != 0 {
        return own.distance_to_circle(middle, 0.5 * object.length);
    }
    let first = object.outline as usize;
    let corners = &views.objects.outlines[first..first + object.outline_count as usize];
    if !corners.is_empty() {
        let corners: Vec<DVec2> = corners.iter().map(|at| DVec2::new(at.x, at.y)).collect();
        return own.distance_to_polygon(&corners);
    }
    let pose = Pose {
        position: middle,
        heading: object.heading,
    };
    own.distance(&OrientedBox::new(pose, object.length, object.width))
}

/// Returns values that identify an object.
fn key(object: &ObjectData) -> (u32, u32, u64, u32) {
    let agent = object.flags & OBJECT_IS_AGENT;
    (object.kind, agent, object.id, object.part)
}

/// Checks that the objects around an agent are those found by comparing it with all objects, and
/// that the data of each pair matches the positions and velocities.
fn are_nearest(wanted: &NearNeeds, views: &Views<'_>, id: u64, input: &NeedsInput) {
    let all = views.objects.all;
    let mut keys: Vec<_> = all.iter().map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all.len(), "objects with equal numbers");
    let own = &all[input.object as usize];
    let is_own = |object: &ObjectData| object.flags & OBJECT_IS_AGENT != 0 && object.id == id;
    assert!(is_own(own) && own.part == 0, "{id}: {own:?}");
    let place = DVec2::new(own.x, own.y);
    let pose = Pose {
        position: place,
        heading: own.heading,
    };
    let body = OrientedBox::new(pose, own.length, own.width);
    let mut expected: Vec<(f64, u64, u32)> = (0u32..)
        .zip(all)
        .filter(|(_, object)| !is_own(object))
        .map(|(number, object)| (gap(&body, object, views), object.id, number))
        .filter(|(distance, ..)| *distance <= wanted.radius)
        .collect();
    expected.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let more = expected.len() > wanted.most as usize;
    expected.truncate(wanted.most as usize);
    let first = input.near_first as usize;
    let found = &views.near[first..first + input.near_count as usize];
    let listed: Vec<(f64, u64, u32)> = found
        .iter()
        .map(|near| {
            let object = &all[near.object as usize];
            (near.distance, object.id, near.object)
        })
        .collect();
    assert_eq!(listed, expected, "agent {id}");
    assert_eq!(input.near_more, u32::from(more), "agent {id}");
    // Rear axle of the agent's vehicle, and its velocity.
    let forward = unit(own.heading);
    let (axle, motion) = (DVec2::new(input.motion.x, input.motion.y), &input.motion);
    let speed = input.seen.speed;
    for near in found {
        let object = &all[near.object as usize];
        let offset = DVec2::new(object.x, object.y) - axle;
        let velocity = DVec2::new(object.velocity_x, object.velocity_y);
        let along = [
            near.ahead - offset.dot(forward),
            near.left - offset.dot(left_of(forward)),
            near.velocity_ahead - (velocity.dot(forward) - speed),
            near.velocity_left - (velocity.dot(left_of(forward)) - motion.lateral_speed),
        ];
        assert!(along.iter().all(|off| off.abs() < 1e-9), "{along:?}");
        // Except in bends, no object is farther away along and beside the path than in a straight
        // line.
        let away = near.path_distance.abs() + near.path_offset.abs();
        assert!(away > 0.5 * offset.length() && away < NOTHING, "{near:?}");
    }
}

/// Returns the steering angle for driving on a circle to a point of the path ahead, rad.
fn pursue(input: &NeedsInput, points: &[PathPoint]) -> f64 {
    let ahead = input.path_s + (0.6 * input.seen.speed).max(3.0);
    let target = points
        .iter()
        .find(|point| point.s >= ahead)
        .unwrap_or(&points[points.len() - 1]);
    let motion = &input.motion;
    let offset = place(target) - DVec2::new(motion.x, motion.y);
    let angle = heading_of(offset) - motion.heading;
    atan(input.seen.wheelbase * 2.0 * sin(angle) / offset.length().max(0.5))
}

#[test]
fn objects_around_are_those_that_a_comparison_with_all_finds() {
    let kinds = |all: &[Seen]| {
        let mut counts = BTreeMap::new();
        for (_, object) in all.iter().flat_map(|seen| &seen.near) {
            *counts.entry(object.kind).or_insert(0) += 1;
        }
        counts
    };
    let mut total: BTreeMap<u32, usize> = BTreeMap::new();
    let with_trees = Needs {
        near: Some(NearNeeds {
            radius: 200.0,
            most: 200,
            trees: true,
        }),
        ..ALL
    };
    let bus = vehicle("articulated-bus", |_| ());
    let buses = driven_by(shipped("figure-eight"), &bus);
    for (name, scenario, needs, level, seconds) in [
        (
            "crossroads",
            shipped("crossroads"),
            ALL,
            DynamicsLevel::OneTrack,
            12.0,
        ),
        (
            "crossings",
            shipped("crossings"),
            ALL,
            DynamicsLevel::Lane,
            60.0,
        ),
        (
            "posts",
            shipped("obstacle-field"),
            ALL,
            DynamicsLevel::Rigid,
            12.0,
        ),
        (
            "trees",
            shipped("obstacle-field"),
            with_trees,
            DynamicsLevel::OneTrack,
            12.0,
        ),
        ("buses", buses, ALL, DynamicsLevel::OneTrack, 6.0),
    ] {
        let (all, _) = seen(&scenario, needs, seconds, &options(level, 1));
        let found = kinds(&all);
        println!("{name}: {found:?}");
        let has_trees = found.contains_key(&OBJECT_TREE);
        assert_eq!(has_trees, name == "trees", "{name}");
        for (kind, count) in found {
            *total.entry(kind).or_insert(0) += count;
        }
        let full = all.iter().filter(|seen| seen.input.near_more == 1).count();
        println!("{name}: {full} of {} rows have more", all.len());
    }
    for kind in [
        OBJECT_VEHICLE,
        OBJECT_PERSON,
        OBJECT_TRAILER,
        OBJECT_OBSTACLE,
        OBJECT_TREE,
    ] {
        assert!(
            total.get(&kind).is_some_and(|count| *count > 20),
            "{total:?}"
        );
    }
}

#[test]
fn pairs_tell_who_leads_who_goes_first_and_which_lane_others_are_on() {
    let (mut leaders, mut priorities, mut beside) = (0, 0, 0);
    let (mut gaps, mut equal) = (0, 0);
    for (name, seconds) in [
        ("old-town", 15.0),
        ("crossroads", 25.0),
        ("motorway-m4", 10.0),
    ] {
        let options = options(DynamicsLevel::OneTrack, 1);
        let (all, _) = seen(&shipped(name), ALL, seconds, &options);
        // Pairs of vehicles at each time, of which the first vehicle has priority.
        let mut first: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for seen in &all {
            let input = &seen.input.seen;
            for (near, object) in &seen.near {
                if near.flags & NEAR_LEADER != 0 {
                    leaders += 1;
                    assert_eq!(object.kind, OBJECT_VEHICLE);
                    // The gap is measured between the ends of the vehicles along the route. It is smaller where another
                    // vehicle merges before the leader.
                    if near.lane == 0 && input.leader_gap < 20.0 {
                        let middle = near.path_distance - 0.5 * object.length;
                        let front = seen.vehicle.unwrap().axle_to_front;
                        let off = middle - front - input.leader_gap;
                        assert!(off > -1.5, "{name}: {off} {near:?} {input:?}");
                        gaps += 1;
                        equal += usize::from(off < 1.5);
                    }
                }
                if near.flags & NEAR_HAS_PRIORITY != 0 {
                    priorities += 1;
                    let pairs = first.entry(seen.time.to_bits()).or_default();
                    pairs.push((object.id, seen.id));
                }
                if near.lane.abs() == 1 {
                    beside += 1;
                    // The offset is about one lane width towards the side of the lane, or less at
                    // the start of a lane change.
                    let off = near.path_offset * f64::from(near.lane);
                    assert!((-0.5..6.6).contains(&off), "{name}: {near:?} {seen:?}");
                }
            }
        }
        for pairs in first.values() {
            let mutual = pairs.iter().find(|(a, b)| pairs.contains(&(*b, *a)));
            assert_eq!(mutual, None, "{name}");
        }
    }
    println!(
        "{leaders} leaders, {priorities} with priority, {beside} beside; {equal} of {gaps} gaps"
    );
    assert!(equal > gaps * 19 / 20 && gaps > 300, "{equal} of {gaps}");
    assert!(leaders > 500 && priorities > 100 && beside > 500);
}

fn registry(needs: Needs, notes: &Notes) -> Registry {
    let mut registry = builtin_modules();
    let entries = registry.of::<dyn Controller>();
    let idm = entries.iter().find(|entry| entry.info.id == "idm").unwrap();
    let (idm, notes) = (idm.clone(), notes.clone());
    registry.add(ModuleEntry::<dyn Controller>::new(INFO, &[], move || {
        Box::new(Witness {
            idm: idm.make(),
            needs,
            notes: notes.clone(),
        })
    }));
    registry
}

fn options(level: DynamicsLevel, threads: usize) -> RunOptions {
    let mut modules = ModuleOverrides::default();
    modules.set(Slot::Controller, vec![INFO.id.into()]).unwrap();
    RunOptions {
        modules,
        threads,
        dynamics: Some(level),
        ..RunOptions::default()
    }
}

/// Returns all inputs of controllers in a scenario, sorted by time and agent.
fn seen(
    scenario: &Scenario,
    needs: Needs,
    seconds: f64,
    options: &RunOptions,
) -> (Vec<Seen>, Arc<Ground>) {
    let notes = Notes::default();
    let mut world = World::new(scenario, &registry(needs, &notes), options).unwrap();
    while world.time() < seconds {
        world.step();
    }
    let mut all = std::mem::take(&mut *notes.lock().unwrap());
    all.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.id.cmp(&b.id)));
    assert!(all.len() > 20, "only {} rows", all.len());
    (all, world.ground().clone())
}

/// Returns the distance between a place and the centre line of a lanelet, m.
fn from_centre_line(ground: &Ground, number: u32, place: DVec2) -> f64 {
    let line = ground.line(LaneletIndex::new(number));
    let points: Vec<DVec2> = line.points().collect();
    let distances = points.windows(2).map(|ends| {
        let chord = ends[1] - ends[0];
        let along = ((place - ends[0]).dot(chord) / chord.length_squared()).clamp(0.0, 1.0);
        (place - ends[0] - along * chord).length()
    });
    distances.fold(f64::INFINITY, f64::min)
}

fn place(point: &PathPoint) -> DVec2 {
    DVec2::new(point.x, point.y)
}

/// Checks that the points are on the centre line of the lane while the agent keeps its lane.
fn are_on_centre_lines(name: &str, all: &[Seen], ground: &Ground) {
    let mut compared = 0;
    for seen in all.iter().step_by(23) {
        if seen.input.seen.lane_offset.abs() > KEEPS {
            continue;
        }
        for point in seen.points.iter().step_by(7) {
            if point.lanelet == NO_LANELET || point.flags & (PATH_LANE_CHANGE | PATH_END) != 0 {
                continue;
            }
            let off = from_centre_line(ground, point.lanelet, place(point));
            assert!(
                off < 0.01,
                "{name}: {off} m at {point:?} of agent {}",
                seen.id
            );
            compared += 1;
        }
    }
    assert!(compared > 500, "{name}: {compared}");
}

/// Checks that consecutive points have the right spacing, and that their headings match the directions
/// between them.
fn are_one_line(name: &str, all: &[Seen]) {
    for seen in all.iter().step_by(5) {
        for pair in seen.points.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            let who = || format!("{name}: agent {} at {} s: {a:?} {b:?}", seen.id, seen.time);
            assert!((b.s - a.s - SPACING).abs() < 1e-9, "{}", who());
            let chord = place(b) - place(a);
            // A lane change with little remaining distance is sharp. In bends, adjacent lanes have different
            // lengths.
            let changes = (a.flags | b.flags) & PATH_LANE_CHANGE != 0;
            let (sharpest, longest) = if changes { (0.8, 3.0) } else { (0.16, 1.2) };
            assert!(
                (0.6..longest).contains(&(chord.length() / SPACING)),
                "{}",
                who()
            );
            let turn = wrap_angle(b.heading - a.heading);
            assert!(turn.abs() < sharpest, "{turn}: {}", who());
            let apart = wrap_angle(heading_of(chord) - a.heading - 0.5 * turn);
            assert!(apart.abs() < 0.5 * sharpest, "{apart}: {}", who());
            assert!(a.left + a.right > 1.5 && a.speed > 0.0, "{}", who());
        }
    }
}

/// Checks that points with the same position along the same version of a route hardly move from
/// call to call, except within lane changes. In a lane change that has begun, the path starts at
/// the vehicle, and moves with it if the vehicle deviates from the path. Returns the largest
/// movements in metres, outside lane changes and within lane changes that have not begun.
fn stay_where_they_are(name: &str, all: &[Seen]) -> [f64; 2] {
    let mut before: BTreeMap<u64, &Seen> = BTreeMap::new();
    let (mut compared, mut worst) = (0u64, [0.0f64; 2]);
    for now in all {
        let Some(old) = before.insert(now.id, now) else {
            continue;
        };
        let offsets = [old, now].map(|seen| seen.input.seen.lane_offset);
        // A lane change begins, so the offset is measured from another lane.
        let begins = (offsets[1] - offsets[0]).abs() > 1.0;
        if now.input.route_version != old.input.route_version || begins {
            continue;
        }
        let driven = now.input.path_s - old.input.path_s;
        assert!((-0.3..2.0).contains(&driven), "{name}: {driven} {now:?}");
        let (Some(a), Some(b)) = (old.points.first(), now.points.first()) else {
            continue;
        };
        let within = usize::from(offsets.iter().any(|offset| offset.abs() > KEEPS));
        let shift = ((b.s - a.s) / SPACING).round() as usize;
        for (a, b) in old.points.iter().skip(shift).zip(&now.points) {
            if (a.flags | b.flags) & PATH_LANE_CHANGE != 0 && offsets[1].abs() < KEEPS {
                continue;
            }
            let moved = (place(a) - place(b)).length();
            worst[within] = worst[within].max(moved);
            assert!(
                moved < [0.05, 0.07][within],
                "{name}: {moved} m, agent {} {a:?} {b:?}",
                now.id
            );
            compared += 1;
        }
    }
    assert!(compared > 10_000, "{name}: {compared}");
    worst
}

#[test]
fn the_path_is_one_line_along_the_lanes_and_its_points_stay_in_place() {
    let (mut connections, mut changes, mut begun) = (0, 0, 0);
    // These cover bends, junctions with turns, and lane changes at low and high speed.
    for (name, seconds) in [
        ("figure-eight", 20.0),
        ("crossroads", 25.0),
        ("old-town", 12.0),
        ("motorway-m4", 12.0),
    ] {
        let options = options(DynamicsLevel::OneTrack, 1);
        let (all, ground) = seen(&shipped(name), ALL, seconds, &options);
        are_on_centre_lines(name, &all, &ground);
        are_one_line(name, &all);
        let moved = stay_where_they_are(name, &all);
        println!(
            "{name}: {} rows, points moved by at most {moved:?} m",
            all.len()
        );
        let flagged = |flag: u32| {
            let points = all.iter().flat_map(|seen| &seen.points);
            points.filter(|point| point.flags & flag != 0).count()
        };
        connections += flagged(PATH_CONNECTION);
        changes += flagged(PATH_LANE_CHANGE);
        begun += all
            .iter()
            .filter(|seen| seen.input.seen.lane_offset.abs() > 1.0)
            .count();
    }
    assert!(
        connections > 1000 && changes > 1000,
        "{connections} {changes}"
    );
    assert!(begun > 50, "{begun} rows within lane changes");
}

#[test]
fn the_path_leads_on_from_where_the_agent_is() {
    let (all, _) = seen(
        &shipped("old-town"),
        ALL,
        10.0,
        &options(DynamicsLevel::OneTrack, 1),
    );
    for seen in &all {
        let (input, first) = (&seen.input, &seen.points[0]);
        let motion = &input.motion;
        assert!(
            first.s <= input.path_s && input.path_s < first.s + SPACING,
            "{seen:?}"
        );
        let reach = PATH.distance.max(PATH.time * input.seen.speed);
        let last = seen.points.last().unwrap();
        assert!(last.s >= input.path_s + reach || seen.points.len() == PATH.most as usize);
        // The lateral distance between the vehicle and the path equals its lateral offset.
        let at = place(first) + (input.path_s - first.s) * unit(first.heading);
        let off = (DVec2::new(motion.x, motion.y) - at).length();
        assert!(off < input.seen.lane_offset.abs() + 0.1, "{off} {seen:?}");
        // The vehicle has to stop before the points with the stop flag.
        let stop = input.path_s + input.seen.stop_distance;
        let stops = seen
            .points
            .iter()
            .find(|point| point.flags & PATH_STOP != 0);
        assert!(stops.is_none_or(|point| point.s >= stop), "{seen:?}");
        assert!(stops.is_some() || stop > last.s, "{seen:?}");
    }
    // The last command in the row is the command that the host has carried out.
    let pairs = all.iter().filter(|seen| seen.id == all[0].id);
    let commands = pairs.filter(|seen| seen.input.motion.last_acceleration != 0.0);
    assert!(commands.count() > 10);
}

#[test]
fn rows_are_the_same_with_any_number_of_threads_and_without_their_points() {
    let level = DynamicsLevel::OneTrack;
    let town = shipped("old-town");
    let (one, _) = seen(&town, ALL, 6.0, &options(level, 1));
    let (two, _) = seen(&town, ALL, 6.0, &options(level, 2));
    assert!(one == two);
    // Other fields are 0, and all other values stay the same.
    let motion = Needs {
        motion: true,
        ..Needs::default()
    };
    let (plain, _) = seen(&town, motion, 2.0, &options(level, 1));
    assert!(plain.len() > 10);
    // Until the first commands take effect, all agents drive identically.
    for (all, plain) in one.iter().zip(&plain).filter(|(all, _)| all.time < 0.02) {
        assert_eq!(all.input.seen, plain.input.seen);
        assert_eq!(all.input.motion, plain.input.motion);
        let expected = NeedsInput {
            seen: all.input.seen,
            motion: all.input.motion,
            ..NeedsInput::default()
        };
        assert_eq!(plain.input, expected);
        assert_eq!(plain.input.vehicle, NO_INDEX);
        assert!(plain.vehicle.is_none() && plain.points.is_empty());
    }
}

#[test]
fn vehicles_are_told_as_far_as_their_level_models_them() {
    let bus = vehicle("articulated-bus", |_| ());
    let buses = driven_by(shipped("figure-eight"), &bus);
    for (level, has_mass) in [
        (DynamicsLevel::OneTrack, false),
        (DynamicsLevel::Lane, false),
        (DynamicsLevel::DynamicOneTrack, true),
        (DynamicsLevel::Rigid, true),
    ] {
        let (all, _) = seen(&buses, ALL, 6.0, &options(level, 1));
        let mut towing = 0;
        for seen in &all {
            let vehicle = seen.vehicle.unwrap();
            assert_eq!(vehicle.wheelbase, seen.input.seen.wheelbase);
            assert_eq!(vehicle.length, seen.input.seen.length);
            assert_eq!(vehicle.mass > 0.0, has_mass, "{level}: {vehicle:?}");
            let steers = level != DynamicsLevel::Lane;
            assert_eq!(vehicle.max_steering > 0.0, steers, "{level}");
            assert_eq!(vehicle.max_steering_rate > 0.0, steers, "{level}");
            assert!(vehicle.height > 0.5 && vehicle.axle_to_front > vehicle.wheelbase);
            assert_eq!(vehicle.steering_lag, 0.0);
            assert_eq!(seen.hitches.len(), vehicle.hitch_count as usize);
            let is_behind = |hitch: &HitchData| hitch.to_axle > 0.0 && hitch.length > 1.0;
            assert!(seen.hitches.iter().all(is_behind), "{:?}", seen.hitches);
            towing += seen.hitches.len();
        }
        assert!(towing > 0, "{level}");
    }
}

#[test]
fn a_rigid_vehicle_tells_how_it_pitches() {
    let (all, _) = seen(
        &shipped("figure-eight"),
        ALL,
        6.0,
        &options(DynamicsLevel::Rigid, 1),
    );
    // The vehicle accelerates from rest, which raises its front.
    let rising = all
        .iter()
        .filter(|seen| seen.input.motion.acceleration > 0.8 && seen.input.motion.pitch < -1e-4);
    assert!(rising.count() > 10);
    assert!(all.iter().all(|seen| seen.input.motion.pitch.abs() < 0.2));
}

/// Runs a world until a time, s. Returns all inputs of controllers, sorted by time and agent.
fn seen_until(world: &mut World, notes: &Notes, time: f64) -> Vec<Seen> {
    notes.lock().unwrap().clear();
    while world.time() < time {
        world.step();
    }
    let mut all = std::mem::take(&mut *notes.lock().unwrap());
    all.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.id.cmp(&b.id)));
    all
}

/// Returns the scenario with lower speed limits on all roads.
fn slowed(scenario: &Scenario) -> Scenario {
    let mut slowed = scenario.clone();
    let roads = scenario.network().roads();
    let edits = roads.map(|(id, road)| {
        let mut road = road.clone();
        road.speed_limit = (0.8 * road.speed_limit.get()).into();
        Edit::Road(id, Some(Box::new(road)))
    });
    slowed.apply(Edit::Batch(edits.collect())).unwrap();
    slowed
}

/// A restored world has no kept points, but has to compute the same points as a world that has
/// some. This is tested while agents change lanes, turn in junctions and get other routes, and
/// after a change of the roads.
#[test]
fn points_that_are_kept_are_those_that_are_computed_anew() {
    let options = options(DynamicsLevel::OneTrack, 1);
    let (mut compared, mut changed) = (0, 0);
    for name in ["old-town", "motorway-m4", "figure-eight"] {
        let mut scenario = shipped(name);
        let notes = Notes::default();
        let registry = registry(ALL, &notes);
        let mut world = World::new(&scenario, &registry, &options).unwrap();
        for moment in 1..=8u32 {
            let time = 1.5 * f64::from(moment);
            seen_until(&mut world, &notes, time);
            // In the other scenarios, this edit would wait for vehicles in junctions.
            if moment == 4 && name == "figure-eight" {
                let slower = slowed(&scenario);
                world.update(&scenario, &slower, &registry).unwrap();
                scenario = slower;
            }
            let saved = world.save().unwrap();
            let kept = seen_until(&mut world, &notes, time + 0.2);
            let ground = Ground::new(&scenario);
            let restored = World::restore(ground, &scenario, &registry, &options, &saved);
            let (mut restored, _) = restored.unwrap();
            let anew = seen_until(&mut restored, &notes, time + 0.2);
            assert!(kept == anew, "{name} at {time} s");
            compared += kept.iter().map(|seen| seen.points.len()).sum::<usize>();
            let flags = kept.iter().flat_map(|seen| &seen.points);
            changed += flags
                .filter(|point| point.flags & PATH_LANE_CHANGE != 0)
                .count();
        }
    }
    assert!(compared > 1000 && changed > 10, "{compared} {changed}");
}
