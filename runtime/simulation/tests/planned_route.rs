//! Tests of routes that are planned without a run.

use roadwright_geometry::DVec2;
use roadwright_scenario::{Agent, ObjectId, Place, Road, Scenario, operation};
use roadwright_simulation::{PlannedRoute, RouteFinder, RunOptions, World, builtin_modules};
use std::sync::Arc;

fn shipped(name: &str) -> Arc<Scenario> {
    Arc::new(crate::common::shipped(name))
}

fn agent(start: Place, destination: Place) -> Agent {
    Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        start,
        via: Vec::new(),
        destination: Some(destination),
        depart: 0.0.into(),
        repeat: None.into(),
        speed: 0.0.into(),
    }
}

fn length(points: &[DVec2]) -> f64 {
    points.windows(2).map(|two| two[0].distance(two[1])).sum()
}

/// Returns the distance between a point and a polyline, m.
fn distance(point: DVec2, line: &[DVec2]) -> f64 {
    let nearest = line.windows(2).map(|two| {
        let along = two[1] - two[0];
        let share = (point - two[0]).dot(along) / along.length_squared().max(1e-12);
        point.distance(two[0] + along * share.clamp(0.0, 1.0))
    });
    nearest.fold(f64::INFINITY, f64::min)
}

/// The route that a run reports for an agent just after spawning is the first part of the planned
/// route.
#[test]
fn routes_are_those_of_a_run() {
    for name in ["crossroads", "old-town", "roundabouts"] {
        let scenario = shipped(name);
        let finder = RouteFinder::new(scenario.clone());
        let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
        world.step();
        let (mut compared, mut beside) = (0, 0);
        for (id, agent) in scenario.agents() {
            let Some(seen) = world.inspect(u64::from(id.0)) else {
                continue;
            };
            let route = finder.route(agent).unwrap();
            let off = seen
                .path
                .iter()
                .map(|point| distance(*point, &route.points));
            let off = off.fold(0.0, f64::max);
            // An agent that finds other vehicles in its lane may begin in the adjacent lane.
            assert!(off < 4.0, "{name}, {id}: {off:.2} m off its route");
            beside += usize::from(off > 0.5);
            compared += 1;
        }
        assert!(20 * beside <= compared, "{name}: {beside} of {compared}");
        assert!(compared > 0 || scenario.agents().is_empty(), "{name}");
    }
}

fn route_in_old_town(finder: &RouteFinder, scenario: &Scenario) -> (Agent, PlannedRoute) {
    let agents = scenario.agents().values();
    let routes = agents.filter_map(|agent| Some((agent.clone(), finder.route(agent)?)));
    routes
        .max_by(|a, b| a.1.length.total_cmp(&b.1.length))
        .unwrap()
}

#[test]
fn a_way_has_the_length_and_the_time_of_its_line() {
    let scenario = shipped("old-town");
    let finder = RouteFinder::new(scenario.clone());
    let (_, route) = route_in_old_town(&finder, &scenario);
    let drawn = length(&route.points);
    let off = (drawn - route.length).abs() / route.length;
    assert!(
        off < 0.02,
        "{drawn:.1} m are drawn, {:.1} m told",
        route.length
    );
    // The points never lead back at a lane change.
    let steps = route.points.windows(2).map(|two| two[0].distance(two[1]));
    assert!(steps.fold(0.0, f64::max) < 25.0);
    // In a town, vehicles are not faster than 70 km/h, and on empty roads they are not slower than a
    // pedestrian.
    let speed = route.length / route.time;
    assert!((2.0..20.0).contains(&speed), "{speed:.1} m/s");
}

#[test]
fn waypoints_are_passed() {
    let scenario = shipped("old-town");
    let finder = RouteFinder::new(scenario.clone());
    let (mut agent, route) = route_in_old_town(&finder, &scenario);
    let others = scenario.agents().values().map(|other| other.start);
    let via = others
        .filter(|place| {
            let at = scenario.pose_of(place).unwrap().position;
            distance(at, &route.points) > 50.0
        })
        .find(|place| {
            let mut by_way_of = agent.clone();
            by_way_of.via = vec![*place];
            finder.route(&by_way_of).is_some()
        });
    let via = via.expect("a road beside the route");
    agent.via = vec![via];
    let longer = finder.route(&agent).unwrap();
    let at = scenario.pose_of(&via).unwrap().position;
    assert!(distance(at, &longer.points) < 0.5);
    let times = (longer.time, route.time);
    assert!(times.0 > times.1, "{times:?} s");
}

#[test]
fn a_trip_that_nothing_can_drive_has_no_way() {
    let scenario = shipped("motorway-m4");
    let finder = RouteFinder::new(scenario.clone());
    let lanes = |forwards: bool| {
        let roads = scenario.network().roads();
        roads.flat_map(move |(id, road)| {
            let sides = if forwards { -1 } else { 1 };
            [Place::lane(id, sides, 0.5 * road.length())]
        })
    };
    // Plans trips from every road of a motorway to every other road. Some of them are impossible,
    // because they would lead against the traffic.
    let mut counts = [0, 0];
    for start in lanes(true).chain(lanes(false)) {
        for goal in lanes(true).chain(lanes(false)) {
            let is_there = finder.route(&agent(start, goal)).is_some();
            counts[usize::from(is_there)] += usize::from(start != goal);
        }
    }
    assert!(counts[0] > 0 && counts[1] > 0, "{counts:?}");
    let mut unknown = scenario.agents().values().next().cloned();
    let flow = scenario.flows().values().next().unwrap();
    assert!(finder.route_of_flow(flow).is_some());
    let known = unknown.get_or_insert_with(|| agent(flow.origin, flow.destination));
    assert!(finder.route(known).is_some());
    for (vehicle, stack) in [("nothing", "idm"), ("car", "nothing")] {
        let mut lost = known.clone();
        (lost.vehicle, lost.stack) = (vehicle.into(), stack.into());
        assert_eq!(finder.route(&lost), None, "{vehicle}, {stack}");
    }
}

#[test]
fn over_open_ground_the_way_is_straight() {
    let scenario = Arc::new(Scenario::new("field"));
    let finder = RouteFinder::new(scenario);
    let route = finder.route(&agent(
        Place::ground(0.0, 0.0, 0.0),
        Place::ground(30.0, 40.0, 0.0),
    ));
    let route = route.unwrap();
    assert_eq!(route.points, [DVec2::ZERO, DVec2::new(30.0, 40.0)]);
    // The speed on open ground is 8 m/s.
    assert_eq!((route.length, route.time), (50.0, 6.25));
}

/// A route finder that has been updated after an edit gives the same answers as a new one.
#[test]
fn routes_follow_edits() {
    let scenario = shipped("old-town");
    let mut finder = RouteFinder::new(scenario.clone());
    let (agent, before) = route_in_old_town(&finder, &scenario);
    // The road in the middle of the route is deleted.
    let middle = before.points[before.points.len() / 2];
    let roads = scenario.network().roads();
    let nearest = roads.min_by(|a, b| {
        let off = |road: &Road| {
            let steps = 0..=20;
            let at = |i| {
                road.reference_line
                    .point(road.length() * f64::from(i) / 20.0, 0.0)
            };
            steps
                .map(|i| at(i).distance(middle))
                .fold(f64::INFINITY, f64::min)
        };
        off(a.1).total_cmp(&off(b.1))
    });
    let road = nearest.unwrap().0;
    let mut edited = (*scenario).clone();
    let without = operation::deleted(&edited, &[ObjectId::Road(road)].into());
    edited.apply(without).unwrap();
    let edited = Arc::new(edited);
    finder.follow(edited.clone());
    let after = finder.route(&agent);
    assert_eq!(after, RouteFinder::new(edited).route(&agent));
    assert_ne!(after.as_ref(), Some(&before), "the road was on the route");
    // The road is restored.
    finder.follow(scenario);
    assert_eq!(finder.route(&agent), Some(before));
}
