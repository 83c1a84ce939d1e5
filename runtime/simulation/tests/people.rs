//! Tests that pedestrians are never hit and never wait long, even with more vehicles than junctions can
//! handle.

use crate::common::{add_flow, cars, draw_street, restored, street};
use crate::modules::with_test_modules;
use glam::DVec2;
use roadwright_geometry::unit;
use roadwright_scenario::*;
use roadwright_simulation::{
    Ending, JunctionWatch, ModuleOverrides, NoCrossing, PERSON_RADIUS, RunOptions, Session,
    SimulationError, Snapshot, World, builtin_modules,
};
use roadwright_testing::is_slow;

/// Pedestrians per hour on each side of each crossing.
const PEOPLE: f64 = 600.0;

/// Streets of 150 m that meet in the middle, each with a crossing.
#[derive(Clone, Copy)]
struct Place4 {
    legs: u32,
    lanes: usize,
    side: DrivingSide,
    control: Option<Control>,
    /// Vehicles per hour on each approach. 1800 are far more than can pass.
    cars: f64,
}

const PLAIN: Place4 = Place4 {
    legs: 4,
    lanes: 1,
    side: DrivingSide::Right,
    control: None,
    cars: 1800.0,
};

impl Place4 {
    fn scenario(&self) -> Scenario {
        let mut scenario = Scenario::new("people");
        let about = About {
            driving_side: self.side,
            ..About::default()
        };
        scenario.apply(Edit::About(Box::new(about))).unwrap();
        crate::common::equip(&mut scenario, "crossroads");
        let style = street(self.lanes, self.lanes);
        for leg in 0..self.legs {
            let angle = std::f64::consts::TAU * f64::from(leg) / f64::from(self.legs);
            draw_street(&mut scenario, unit(angle) * 150.0, DVec2::ZERO, &style);
        }
        let rules = JunctionRules {
            control: self.control,
            crossings: (1..=self.legs)
                .map(|road| CrossingRule::over(RoadId(road)))
                .collect(),
            ..JunctionRules::default()
        };
        scenario.apply(ruled(&scenario, rules)).unwrap();
        self.fill(&mut scenario);
        scenario
    }

    fn fill(&self, scenario: &mut Scenario) {
        let inward = match self.side {
            DrivingSide::Right => -1,
            DrivingSide::Left => 1,
        };
        for from in 1..=self.legs {
            for to in (1..=self.legs).filter(|to| *to != from) {
                let [origin, destination] = [(from, inward), (to, -inward)]
                    .map(|(road, lane)| Place::lane(RoadId(road), lane, 12.0));
                let rate = self.cars / f64::from(self.legs - 1);
                add_flow(scenario, cars(origin, destination, rate));
            }
        }
    }

    fn name(&self) -> String {
        let (legs, lanes) = (self.legs, self.lanes);
        format!(
            "{legs} legs, {lanes} lanes, {:?}, {:?}",
            self.side, self.control
        )
    }
}

/// Returns the edit that sets the rules of the junction in the middle.
fn ruled(scenario: &Scenario, rules: JunctionRules) -> Edit {
    let (id, node) = middle(scenario);
    Edit::Node(id, Some(Node { rules, ..node }))
}

fn middle(scenario: &Scenario) -> (NodeId, Node) {
    let network = scenario.network();
    let middle = network
        .nodes()
        .find(|(id, _)| network.ends_at(*id).len() > 1);
    middle.map(|(id, node)| (id, node.clone())).unwrap()
}

fn options(seed: u64, people: f64) -> RunOptions {
    RunOptions {
        seed: Some(seed),
        dt: Some(0.1),
        dynamics: Some(DynamicsLevel::Lane),
        verify: true,
        pedestrians: Some(people),
        ..RunOptions::default()
    }
}

fn world(scenario: &Scenario, options: &RunOptions) -> World {
    World::new(scenario, &builtin_modules(), options).unwrap()
}

/// Returns the pedestrians that overlap a vehicle, computed from a snapshot alone.
fn hits(snapshot: &Snapshot) -> Vec<(u64, u64)> {
    let mut hits = Vec::new();
    for person in &snapshot.people {
        for vehicle in &snapshot.vehicles {
            let local = vehicle.body.to_local(person.position).abs();
            let beside = (local - 0.5 * DVec2::new(vehicle.length, vehicle.width)).max(DVec2::ZERO);
            // An overlap of a few centimetres is ignored.
            if beside.length() < PERSON_RADIUS - 0.05 {
                hits.push((person.id, vehicle.agent));
            }
        }
    }
    hits
}

/// Runs for the given time, s. Returns the pedestrians who were hit.
fn drive(world: &mut World, seconds: f64) -> Vec<(f64, u64, u64)> {
    let mut all = Vec::new();
    let until = world.time() + seconds;
    while world.time() < until {
        world.step();
        let snapshot = world.snapshot();
        let time = snapshot.time;
        all.extend(hits(&snapshot).into_iter().map(|(p, v)| (time, p, v)));
    }
    all
}

#[test]
fn nobody_is_hit_and_nobody_waits_for_more_than_a_minute_at_a_zebra() {
    for (seed, side) in [
        (1, DrivingSide::Right),
        (2, DrivingSide::Left),
        (3, DrivingSide::Right),
    ] {
        for (legs, lanes) in [(4, 1), (4, 2), (3, 1)] {
            let place = Place4 {
                legs,
                lanes,
                side,
                ..PLAIN
            };
            let mut world = world(&place.scenario(), &options(seed, PEOPLE));
            let hit = drive(&mut world, 300.0);
            let summary = world.summary();
            let people = summary.people.unwrap();
            let what = format!(
                "{}, seed {seed}: {people:?} {:?}",
                place.name(),
                summary.law
            );
            assert!(hit.is_empty(), "{what}: {hit:?}");
            assert!(people.longest_wait <= 60.0, "{what}");
            assert!(people.arrived > people.came * 3 / 4, "{what}");
            let law = summary.law;
            assert_eq!((law.breaches, law.held_by_law), (0, 0), "{what}");
            assert!(summary.agents.arrived > 40, "{what}: {:?}", summary.agents);
            let touched = summary.collisions.iter();
            let touched: Vec<_> = touched
                .filter(|c| DVec2::new(c.x, c.y).length() < 35.0)
                .collect();
            assert!(touched.is_empty(), "{what}: {touched:?}");
        }
    }
}

#[test]
fn at_signals_people_walk_while_what_they_cross_is_red() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        for (lanes, mode) in [
            (1, SignalMode::Fixed),
            (2, SignalMode::Fixed),
            (1, SignalMode::Actuated),
        ] {
            let place = Place4 {
                lanes,
                side,
                control: Some(Control::Signals),
                ..PLAIN
            };
            let mut scenario = place.scenario();
            let (_, node) = middle(&scenario);
            let rules = JunctionRules {
                plan: Some(SignalPlan {
                    mode,
                    ..SignalPlan::default()
                }),
                ..node.rules
            };
            scenario.apply(ruled(&scenario, rules)).unwrap();
            let mut world = world(&scenario, &options(1, PEOPLE));
            let hit = drive(&mut world, 300.0);
            let summary = world.summary();
            let people = summary.people.unwrap();
            let what = format!("{} {mode:?}: {people:?} {:?}", place.name(), summary.law);
            assert!(hit.is_empty(), "{what}: {hit:?}");
            // The limit is slightly more than one cycle.
            assert!(people.longest_wait < 150.0, "{what}");
            assert!(people.arrived * 2 > people.came, "{what}");
            assert_eq!(
                (summary.law.breaches, summary.law.red_passed),
                (0, 0),
                "{what}"
            );
            assert!(summary.agents.arrived > 40, "{what}: {:?}", summary.agents);
        }
    }
}

#[test]
fn vehicles_wait_no_longer_than_a_junction_with_people_says() {
    for (lanes, control, people) in [
        (1, None, 600.0),
        (2, None, 600.0),
        (1, Some(Control::Priority), 600.0),
        (1, Some(Control::Signals), 600.0),
        (1, None, 0.0),
    ] {
        let place = Place4 {
            lanes,
            control,
            ..PLAIN
        };
        let world = world(&place.scenario(), &options(1, people));
        let mut session = Session::new(world);
        let mut watch = JunctionWatch::default();
        session.run(Ending::AtTime(600.0), &mut [&mut watch], |_| true);
        let figures = watch.figures(session.world());
        assert!(!figures.is_empty());
        for junction in figures {
            assert!(
                junction.longest_wait <= junction.bound,
                "{} {people}: {junction:?}",
                place.name()
            );
        }
    }
}

#[test]
fn who_ignores_the_law_hits_people() {
    // Comparison: the violations that the tests above look for can be observed.
    let mut overrides = ModuleOverrides::default();
    overrides
        .set(Slot::Behaviour, vec!["reckless".into()])
        .unwrap();
    let options = RunOptions {
        modules: overrides,
        ..options(1, PEOPLE)
    };
    let scenario = Place4 {
        cars: 600.0,
        ..PLAIN
    }
    .scenario();
    let mut world = World::new(&scenario, &with_test_modules(), &options).unwrap();
    assert!(!drive(&mut world, 120.0).is_empty());
}

#[test]
fn a_crossing_in_the_middle_of_a_road_works_alone() {
    for control in [None, Some(Control::Signals)] {
        let place = Place4 {
            legs: 2,
            cars: 900.0,
            control,
            ..PLAIN
        };
        let mut world = world(&place.scenario(), &options(1, 200.0));
        let hit = drive(&mut world, 300.0);
        let summary = world.summary();
        let people = summary.people.unwrap();
        assert!(hit.is_empty(), "{control:?} {hit:?}");
        assert!(
            people.arrived > 20 && summary.agents.arrived > 60,
            "{control:?} {summary:?}"
        );
        let longest = if control.is_none() { 30.0 } else { 90.0 };
        assert!(people.longest_wait < longest, "{control:?} {people:?}");
    }
}

#[test]
fn threads_and_repeats_give_the_same_bits() {
    let scenario = Place4 { lanes: 2, ..PLAIN }.scenario();
    let hash = |seed: u64, threads: usize| {
        let options = RunOptions {
            threads,
            ..options(seed, PEOPLE)
        };
        let mut world = world(&scenario, &options);
        drive(&mut world, 60.0);
        (world.state_hash(), world.snapshot().hash())
    };
    assert_eq!(hash(1, 1), hash(1, 2));
    assert_ne!(hash(1, 1).1, hash(2, 1).1);
}

#[test]
fn without_people_a_crossing_changes_no_hash_of_the_state_over_time() {
    // Without pedestrians, the state contains no data about them, and vehicles do not stop.
    let scenario = PLAIN.scenario();
    let mut nobody = world(&scenario, &options(1, 0.0));
    assert!(drive(&mut nobody, 60.0).is_empty());
    assert_eq!(nobody.summary().people, None);
}

#[test]
fn a_save_in_the_middle_of_a_crossing_goes_on_to_the_bit() {
    for control in [None, Some(Control::Signals)] {
        let scenario = Place4 { control, ..PLAIN }.scenario();
        let options = options(1, PEOPLE);
        let mut whole = world(&scenario, &options);
        drive(&mut whole, 47.3);
        // Runs until pedestrians are on a carriageway.
        let walks = |world: &World| world.snapshot().people.iter().filter(|p| !p.waits).count() > 3;
        while !walks(&whole) {
            whole.step();
            assert!(whole.time() < 150.0);
        }
        let mut restored = restored(&whole, &scenario, &options);
        assert_eq!(restored.state_hash(), whole.state_hash());
        // Feet are not in the hash.
        assert_eq!(restored.snapshot(), whole.snapshot());
        drive(&mut whole, 60.0);
        drive(&mut restored, 60.0);
        assert_eq!(restored.state_hash(), whole.state_hash());
        assert_eq!(restored.snapshot(), whole.snapshot());
        assert_eq!(restored.summary(), whole.summary());
    }
}

#[test]
fn who_walks_finishes_where_an_edit_takes_the_crossing_away() {
    let scenario = PLAIN.scenario();
    let mut world = world(&scenario, &options(1, PEOPLE));
    drive(&mut world, 60.0);
    let is_on_road = |world: &World| {
        let people = world.snapshot().people;
        people.iter().filter(|person| !person.waits).count()
    };
    assert!(is_on_road(&world) > 0);
    let mut edited = scenario.clone();
    edited
        .apply(ruled(&scenario, JunctionRules::default()))
        .unwrap();
    world
        .update(&scenario, &edited, &builtin_modules())
        .unwrap();
    // Vehicles inside leave first. Pedestrians are on the road when the edit is applied.
    while !world.closing_nodes().is_empty() {
        world.step();
    }
    let strays = world.snapshot().people;
    // Pedestrians at the kerb have disappeared, and the others continue to walk.
    assert!(!strays.is_empty() && strays.iter().all(|person| !person.waits));
    let before = world.summary().people.unwrap().arrived;
    let hit = drive(&mut world, 60.0);
    assert!(hit.is_empty(), "{hit:?}");
    assert!(
        world.snapshot().people.is_empty(),
        "{:?}",
        world.snapshot().people
    );
    let after = world.summary().people.unwrap().arrived;
    assert_eq!(after - before, strays.len() as u64);
    // When the crossing is restored, pedestrians arrive again.
    world
        .update(&edited, &scenario, &builtin_modules())
        .unwrap();
    let hit = drive(&mut world, 60.0);
    assert!(hit.is_empty(), "{hit:?}");
    assert!(world.summary().people.unwrap().arrived > after);
}

#[test]
fn people_on_crossings_have_the_feet_of_characters() {
    let mut world = world(&PLAIN.scenario(), &options(1, PEOPLE));
    let mut before = std::collections::BTreeMap::new();
    let (mut steps, mut rests) = (0, 0);
    for _ in 0..400 {
        world.step();
        let snapshot = world.snapshot();
        assert_eq!(snapshot.people.len(), snapshot.people_figures.len());
        for (person, figure) in snapshot.people_on_foot() {
            for foot in figure.feet {
                let away = (foot.place - person.position).length();
                assert!(away < 0.75, "{}: {away} m", person.id);
            }
            let [left, right] = figure.feet.map(|foot| foot.is_down);
            assert!(left || right, "{} flies", person.id);
            let Some((position, feet)) = before.insert(person.id, (person.position, figure.feet))
            else {
                continue;
            };
            for (was, is) in feet.iter().zip(&figure.feet) {
                // If a foot is down in two consecutive steps, it was not lifted in between.
                let slid = (is.place - was.place).length();
                assert!(!(was.is_down && is.is_down) || slid < 0.02, "{slid} m");
                steps += u32::from(!was.is_down && is.is_down);
            }
            rests += u32::from(person.position == position && left && right);
        }
    }
    assert!(steps > 500 && rests > 100, "{steps} steps, {rests} rests");
}

#[test]
fn an_edit_elsewhere_leaves_people_as_they_are() {
    // Flows restart in the step of the edit. There are so few vehicles that none of them is due in
    // this step.
    let scenario = Place4 {
        cars: 200.0,
        ..PLAIN
    }
    .scenario();
    let mut edited = scenario.clone();
    let (id, road) = scenario.network().roads().next().unwrap();
    let renamed = Road {
        name: "High Street".into(),
        ..road.clone()
    };
    edited
        .apply(Edit::Road(id, Some(Box::new(renamed))))
        .unwrap();
    let mut plain = world(&scenario, &options(1, PEOPLE));
    let mut other = world(&scenario, &options(1, PEOPLE));
    drive(&mut plain, 30.0);
    drive(&mut other, 30.0);
    other
        .update(&scenario, &edited, &builtin_modules())
        .unwrap();
    for _ in 0..300 {
        plain.step();
        other.step();
        let (one, two) = (plain.snapshot(), other.snapshot());
        assert_eq!(one.people, two.people, "{}", one.time);
        assert_eq!(one.vehicles, two.vehicles, "{}", one.time);
    }
}

#[test]
fn people_come_when_they_are_called_and_a_run_of_people_alone_goes_on() {
    let scenario = Place4 { cars: 0.0, ..PLAIN }.scenario();
    let mut empty = scenario.clone();
    for id in scenario.flows().keys() {
        empty.apply(Edit::Flow(*id, None)).unwrap();
    }
    let mut world = world(&empty, &options(1, 0.0));
    assert!(world.is_over());
    let (node, _) = middle(&empty);
    assert_eq!(world.add_pedestrian(node, None), Ok(1));
    assert_eq!(world.add_pedestrian(node, Some(RoadId(3))), Ok(2));
    assert_eq!(
        world.add_pedestrian(node, Some(RoadId(77))),
        Err(NoCrossing::OverRoad(node.0, 77))
    );
    assert_eq!(
        world.add_pedestrian(NodeId(4711), None),
        Err(NoCrossing::AtNode(4711))
    );
    assert!(!world.is_over());
    let mut steps = 0;
    while !world.is_over() {
        world.step();
        steps += 1;
        assert!(steps < 400);
    }
    let people = world.summary().people.unwrap();
    assert_eq!((people.came, people.arrived), (2, 2));
    // 6.5 m plus the distances before and beyond the kerbs, at 1.2 m/s.
    let walked = 2.0 * (6.5 + 2.4 + 1.0);
    assert!((people.walked_metres - walked).abs() < 0.5, "{people:?}");
    assert!((f64::from(steps) * 0.1 - walked / 2.0 / 1.2).abs() < 1.0);
    // The limit is two hundred.
    let mut crowd = World::new(&empty, &builtin_modules(), &options(1, 0.0)).unwrap();
    let came = (0..300).filter(|_| crowd.add_pedestrian(node, None).is_ok());
    assert_eq!(came.count(), 200);
}

#[test]
fn rates_out_of_range_are_refused() {
    let scenario = PLAIN.scenario();
    for rate in [-1.0, f64::NAN, f64::INFINITY, 3600.1] {
        let made = World::new(&scenario, &builtin_modules(), &options(1, rate));
        let error = made.err().unwrap();
        assert!(
            matches!(error, SimulationError::Pedestrians(_)),
            "{rate}: {error}"
        );
    }
    let mut most = world(&scenario, &options(1, 3600.0));
    assert!(drive(&mut most, 30.0).is_empty());
}

/// Two junctions with turn lanes are so close together that three cars fill the street between them. All
/// crossings have pedestrians, and all vehicles must get through. When a vehicle loses its turn to
/// pedestrians, the room that it still needs must not have been promised to the next vehicle. Otherwise, the
/// two junctions would wait for each other forever.
#[test]
fn junctions_close_together_do_not_lock_each_other_while_people_cross() {
    let scenario = crate::common::shipped("linden-street");
    let all = [(1, 240.0), (2, 480.0), (3, 480.0)];
    let count = if is_slow() { all.len() } else { 1 };
    for (seed, pedestrians) in all.into_iter().rev().take(count) {
        let mut scenario = scenario.clone();
        let settings = Settings {
            seed,
            pedestrians: pedestrians.into(),
            ..scenario.settings()
        };
        scenario.apply(Edit::Settings(settings)).unwrap();
        let options = RunOptions::default();
        let world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        let mut session = Session::new(world);
        session.run(Ending::AtTime(1800.0), &mut [], |_| true);
        let summary = session.world().summary();
        let agents = summary.agents;
        // The flows end after nine minutes.
        assert_eq!(agents.arrived, agents.spawned, "seed {seed}: {agents:?}");
        assert_eq!((agents.active, agents.waiting), (0, 0), "seed {seed}");
        assert!(summary.collisions.is_empty() && summary.law.breaches == 0);
    }
}
