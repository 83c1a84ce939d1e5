//! Tests of right of way at junctions with more traffic than they can handle.

use crate::common::{add_flow, cars, draw_street, street};
use crate::modules::with_test_modules;
use glam::DVec2;
use roadwright_geometry::{Pose, ReferenceLine, Segment, unit};
use roadwright_scenario::ConnectionIndex;
use roadwright_scenario::junction::{Body, Conflicts, LaneEnd, Light, Signals, layout};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::*;
use roadwright_simulation::{
    Collision, Ending, JunctionWatch, ModuleOverrides, RunOptions, Session, Snapshot, Summary,
    World, builtin_modules,
};
use roadwright_testing::is_slow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Demand on each approach, vehicles/h. It is far more than can pass.
const RATE: f64 = 1800.0;

/// Streets of 150 m that meet at a controlled junction in the middle, with traffic between all of them.
struct Crossing {
    legs: u32,
    lanes: usize,
    side: DrivingSide,
    control: Option<Control>,
    /// Fraction of buses.
    buses: f64,
    country: &'static str,
    /// Whether all vehicles turn to the near side.
    only_near_turns: bool,
}

impl Crossing {
    fn of(control: Control) -> Self {
        Self {
            legs: 4,
            lanes: 1,
            side: DrivingSide::Right,
            control: Some(control),
            buses: 0.0,
            country: "",
            only_near_turns: false,
        }
    }

    fn scenario(&self) -> Scenario {
        let mut scenario = self.bare();
        self.draw_legs(&mut scenario);
        self.rule(&mut scenario);
        self.fill(&mut scenario);
        scenario
    }

    /// Creates the scenario without roads.
    fn bare(&self) -> Scenario {
        let mut scenario = Scenario::new("crossing");
        let about = About {
            driving_side: self.side,
            country: self.country.into(),
            ..About::default()
        };
        scenario.apply(Edit::About(Box::new(about))).unwrap();
        crate::common::equip(&mut scenario, "crossroads");
        scenario
    }

    fn draw_legs(&self, scenario: &mut Scenario) {
        let style = street(self.lanes, self.lanes);
        for leg in 0..self.legs {
            let angle = std::f64::consts::TAU * f64::from(leg) / f64::from(self.legs);
            draw_street(scenario, unit(angle) * 150.0, DVec2::ZERO, &style);
        }
    }

    /// Sets the control of the node in the middle. The first road and the opposite road have priority.
    fn rule(&self, scenario: &mut Scenario) {
        let network = scenario.network();
        let middle = network
            .nodes()
            .find(|(id, _)| network.ends_at(*id).len() > 2);
        let (id, node) = middle.map(|(id, node)| (id, node.clone())).unwrap();
        let has_majors = matches!(self.control, Some(Control::Priority | Control::Stop));
        let major = [1, 1 + self.legs / 2].map(RoadId).to_vec();
        let rules = JunctionRules {
            control: self.control,
            major: if has_majors { major } else { Vec::new() },
            ..JunctionRules::default()
        };
        scenario
            .apply(Edit::Node(id, Some(Node { rules, ..node })))
            .unwrap();
    }

    /// Adds flows from each road into every other road.
    fn fill(&self, scenario: &mut Scenario) {
        let inward = match self.side {
            DrivingSide::Right => -1,
            DrivingSide::Left => 1,
        };
        for from in 1..=self.legs {
            // Arms are numbered counter-clockwise, so as seen from an incoming vehicle, the next arm is on
            // the right.
            let near = match self.side {
                DrivingSide::Right => from % self.legs + 1,
                DrivingSide::Left => (from + self.legs - 2) % self.legs + 1,
            };
            let is_wanted = |to: &u32| *to != from && (!self.only_near_turns || *to == near);
            for to in (1..=self.legs).filter(is_wanted) {
                for (vehicle, share) in [("car", 1.0 - self.buses), ("enviro_400", self.buses)] {
                    if share <= 0.0 {
                        continue;
                    }
                    let [origin, destination] = [(from, inward), (to, -inward)]
                        .map(|(road, lane)| Place::lane(RoadId(road), lane, 12.0));
                    let rate = RATE * share / f64::from(self.legs - 1);
                    let flow = Flow {
                        vehicle: vehicle.into(),
                        ..cars(origin, destination, rate)
                    };
                    add_flow(scenario, flow);
                }
            }
        }
    }

    fn world(&self, level: DynamicsLevel, dt: f64) -> World {
        let options = RunOptions {
            dt: Some(dt),
            dynamics: Some(level),
            verify: true,
            ..RunOptions::default()
        };
        World::new(&self.scenario(), &builtin_modules(), &options).unwrap()
    }

    fn run(&self, seconds: f64) -> Summary {
        let mut world = self.world(DynamicsLevel::Lane, 0.1);
        while world.time() < seconds {
            world.step();
        }
        world.summary()
    }
}

/// Replaces the rates of all flows, in vehicles per hour.
fn set_rates(scenario: &mut Scenario, rate: impl Fn(f64) -> f64) {
    for (id, flow) in scenario.flows().clone() {
        let rate_per_hour = rate(flow.rate_per_hour.get());
        let flow = Flow {
            rate_per_hour: rate_per_hour.into(),
            ..flow
        };
        scenario
            .apply(Edit::Flow(id, Some(Box::new(flow))))
            .unwrap();
    }
}

/// Asserts that no vehicles have touched, and calls `invited`. Returns the number of arrivals.
fn lawful(summary: &Summary, what: &str) -> usize {
    // Contacts during lane changes on the approach are not counted.
    let is_at_junction = |c: &&Collision| DVec2::new(c.x, c.y).length() < 35.0;
    let touched: Vec<_> = summary.collisions.iter().filter(is_at_junction).collect();
    assert!(touched.is_empty(), "{what}: {touched:?}");
    invited(summary, what)
}

/// Asserts that no vehicle has entered without a grant or at a red light, or has waited
/// indefinitely. Returns the number of arrivals.
fn invited(summary: &Summary, what: &str) -> usize {
    let law = summary.law;
    assert_eq!(
        (law.breaches, law.red_passed, law.stops_missed),
        (0, 0, 0),
        "{what}"
    );
    // It takes up to a minute until a vehicle may no longer be passed over. Then it may still have
    // to wait for the turns of the other arms.
    assert!(law.longest_wait < 150.0, "{what}: {} s", law.longest_wait);
    summary.agents.arrived
}

#[test]
fn under_every_control_all_arms_drive_and_nobody_touches() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        for control in Control::ALL {
            for legs in [3, 4, 5] {
                let crossing = Crossing {
                    legs,
                    side,
                    ..Crossing::of(control)
                };
                let what = format!("{control:?}, {legs} legs, {side:?}");
                let arrived = lawful(&crossing.run(180.0), &what);
                assert!(arrived > 18, "{what}: {arrived} in three minutes");
            }
        }
    }
}

#[test]
fn buses_and_several_lanes_keep_the_law_as_well() {
    for control in [Control::Uncontrolled, Control::Priority, Control::Signals] {
        for (lanes, buses) in [(2, 0.0), (3, 0.0), (1, 0.3), (2, 0.3)] {
            let crossing = Crossing {
                lanes,
                buses,
                ..Crossing::of(control)
            };
            let what = format!("{control:?}, {lanes} lanes, {buses} buses");
            let summary = crossing.run(180.0);
            // A bus that turns into a narrow street swings across the line where other vehicles wait.
            let arrived = if buses > 0.0 {
                invited(&summary, &what)
            } else {
                lawful(&summary, &what)
            };
            assert!(arrived > 15, "{what}: {arrived}");
        }
    }
}

#[test]
fn left_hand_traffic_passes_as_much_as_right_hand_traffic() {
    for control in [Control::Uncontrolled, Control::Signals] {
        let [right, left] = [DrivingSide::Right, DrivingSide::Left].map(|side| {
            let crossing = Crossing {
                side,
                ..Crossing::of(control)
            };
            crossing.run(300.0).agents.arrived as f64
        });
        assert!(
            (right - left).abs() < 0.25 * right,
            "{control:?}: {right} and {left}"
        );
    }
}

#[test]
fn the_major_road_waits_less() {
    let crossing = Crossing::of(Control::Priority);
    let mut world = crossing.world(DynamicsLevel::Lane, 0.1);
    let mut passed = BTreeMap::new();
    let mut before = BTreeMap::new();
    while world.time() < 400.0 {
        world.step();
        for (agent, road, _) in entered(&world.snapshot(), &mut before) {
            passed.entry(road).or_insert_with(Vec::new).push(agent);
        }
    }
    let count = |road: u32| passed.get(&RoadId(road)).map_or(0, Vec::len);
    let (major, minor) = (count(1) + count(3), count(2) + count(4));
    assert!(major > 2 * minor && minor > 5, "{major} and {minor}");
}

#[test]
fn who_follows_at_a_sign_looks_for_himself() {
    // A queue drives straight on from a minor road, with no traffic on the major road.
    let follows = |control: Control| {
        let crossing = Crossing::of(control);
        let mut scenario = crossing.scenario();
        let road = |place: Place| match place {
            Place::Lane(place) => Some(place.road),
            Place::Ground(_) => None,
        };
        let others: Vec<FlowId> = scenario
            .flows()
            .iter()
            .filter(|(_, flow)| {
                (road(flow.origin), road(flow.destination)) != (Some(RoadId(2)), Some(RoadId(4)))
            })
            .map(|(id, _)| *id)
            .collect();
        for id in others {
            scenario.apply(Edit::Flow(id, None)).unwrap();
        }
        set_rates(&mut scenario, |_| RATE);
        let options = RunOptions {
            dt: Some(0.1),
            dynamics: Some(DynamicsLevel::Lane),
            ..RunOptions::default()
        };
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        let (mut times, mut before) = (Vec::new(), BTreeMap::new());
        while world.time() < 300.0 {
            world.step();
            let entered = entered(&world.snapshot(), &mut before);
            times.extend(entered.iter().map(|_| world.time()));
        }
        assert!(times.len() > 40);
        let first = times[10];
        (times[times.len() - 1] - first) / (times.len() - 11) as f64
    };
    // The headway is 4.0 s according to [HCM 2000], exhibit 17-5. Without signs, there is no minimum.
    let mean = follows(Control::Priority);
    assert!((3.9..4.4).contains(&mean), "{mean}");
    let free = follows(Control::Uncontrolled);
    assert!(free < 3.6, "{free}");
}

/// Vehicles that have entered the junction since the last call, with the lanes that they came from.
fn entered(
    snapshot: &Snapshot,
    before: &mut BTreeMap<u64, (RoadId, i8)>,
) -> Vec<(u64, RoadId, i8)> {
    let mut entered = Vec::new();
    for vehicle in &snapshot.vehicles {
        match (vehicle.lane, before.get(&vehicle.agent)) {
            (Some(lane), _) => {
                before.insert(vehicle.agent, lane);
            }
            (None, Some(&(road, lane))) => {
                entered.push((vehicle.agent, road, lane));
                before.remove(&vehicle.agent);
            }
            (None, None) => {}
        }
    }
    entered
}

#[test]
fn nobody_passes_a_red_light_seen_from_outside() {
    for (level, dt) in [(DynamicsLevel::Lane, 0.1), (DynamicsLevel::OneTrack, 0.05)] {
        let crossing = Crossing::of(Control::Signals);
        let scenario = crossing.scenario();
        let layout = layout(scenario.network(), crossing.side);
        let junction = layout.junctions.iter().find(|j| j.is_crossing()).unwrap();
        let signals = Signals::of(junction, &Conflicts::of(junction)).unwrap();
        let mut world = crossing.world(level, dt);
        let (mut before, mut count) = (BTreeMap::new(), 0);
        let mut lit = BTreeMap::new();
        while world.time() < 240.0 {
            world.step();
            let time = world.time();
            for (agent, road, lane) in entered(&world.snapshot(), &mut before) {
                let paths = junction.paths.iter().enumerate();
                let own = paths.filter(|(_, p)| (p.from.road, p.from.lane) == (road, lane));
                // Entry is observed at the rear axle. The front entered up to four seconds earlier.
                let shown: Vec<_> = own
                    .flat_map(|(path, _)| (0..40).map(move |i| (path, time - f64::from(i) * 0.1)))
                    .map(|(path, time)| signals.light(path, time))
                    .collect();
                assert!(
                    shown.iter().any(|light| *light != Light::Red),
                    "agent {agent} at {time}"
                );
                count += 1;
                *lit.entry(signals.programme.stage_at(time).0).or_insert(0) += 1;
            }
        }
        assert!(
            count > 40 && lit.len() == 2,
            "{level:?}: {count} entered, {lit:?}"
        );
        lawful(&world.summary(), &format!("{level:?}"));
    }
}

#[test]
fn saturated_junctions_are_the_same_on_every_run_and_after_a_save() {
    let crossing = Crossing {
        buses: 0.2,
        ..Crossing::of(Control::Uncontrolled)
    };
    let options = |threads| RunOptions {
        dt: Some(0.05),
        threads,
        ..RunOptions::default()
    };
    let scenario = crossing.scenario();
    let world = |threads| World::new(&scenario, &builtin_modules(), &options(threads)).unwrap();
    let (mut one, mut two) = (world(1), world(2));
    for step in 0..1800 {
        one.step();
        two.step();
        if step == 900 {
            let saved = one.save().unwrap();
            let ground = one.ground().clone();
            let modules = builtin_modules();
            one = World::restore(ground, &scenario, &modules, &options(1), &saved)
                .unwrap()
                .0;
        }
    }
    assert_eq!(one.state_hash(), two.state_hash());
    assert!(one.summary().agents.arrived > 10);
}

/// Returns the statistics of right of way in a run in which all agents use a test module.
fn driven_with(slot: Slot, module: &str, control: Control) -> Summary {
    let mut overrides = ModuleOverrides::default();
    overrides.set(slot, vec![module.into()]).unwrap();
    let options = RunOptions {
        dt: Some(0.1),
        dynamics: Some(DynamicsLevel::Lane),
        verify: true,
        modules: overrides,
        ..RunOptions::default()
    };
    let crossing = Crossing::of(control);
    let mut world = World::new(&crossing.scenario(), &with_test_modules(), &options).unwrap();
    while world.time() < 90.0 {
        world.step();
    }
    world.summary()
}

#[test]
fn who_sees_no_stop_line_is_held_before_it() {
    for control in [Control::Signals, Control::Stop, Control::Uncontrolled] {
        let summary = driven_with(Slot::Controller, "unlawful", control);
        assert!(summary.law.held_by_law > 3, "{:?}", summary.law);
        invited(&summary, control.name());
    }
    // The host does not have to brake a controller that looks ahead.
    let law = driven_with(Slot::Controller, "idm", Control::Signals).law;
    assert_eq!(law.held_by_law, 0);
}

#[test]
fn who_ignores_the_law_is_counted() {
    // Comparison: the violations that the tests above look for can be observed.
    let summary = driven_with(Slot::Behaviour, "reckless", Control::Signals);
    let law = summary.law;
    assert!(!summary.collisions.is_empty());
    assert!(law.breaches > 5 && law.red_passed > 2, "{law:?}");
}

/// A vehicle that spawns with its front beyond the stop line and its rear axle on the lane cannot have been
/// admitted beforehand.
#[test]
fn who_appears_with_its_front_in_a_junction_is_no_breach() {
    let controls = [Control::Signals, Control::Stop, Control::Uncontrolled];
    for (control, before) in controls
        .into_iter()
        .flat_map(|c| [(c, 0.0), (c, 0.5), (c, 2.0)])
    {
        let crossing = Crossing::of(control);
        let mut scenario = crossing.bare();
        crossing.draw_legs(&mut scenario);
        crossing.rule(&mut scenario);
        let layout = layout(scenario.network(), crossing.side);
        for leg in 1..=4 {
            let cut = 150.0 - layout.trims[&RoadId(leg)].end;
            let agent = Agent {
                stack: "idm".into(),
                start: Place::lane(RoadId(leg), -1, cut - before),
                destination: Some(Place::lane(RoadId(1 + (leg + 1) % 4), 1, 100.0)),
                ..crate::scenarios::west_to_east()
            };
            let edit = Edit::Agent(AgentId(leg), Some(Box::new(agent)));
            scenario.apply(edit).unwrap();
        }
        let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
        while world.time() < 120.0 {
            world.step();
        }
        let what = format!("{control:?}, {before} m");
        assert_eq!(invited(&world.summary(), &what), 4, "{what}");
    }
}

#[test]
fn a_ring_takes_in_several_vehicles_and_never_locks_itself() {
    let mut scenario = crate::common::shipped("roundabouts");
    // Four times the traffic of the scenario, far more than the rings can handle.
    set_rates(&mut scenario, |rate| 4.0 * rate);
    let options = RunOptions {
        dt: Some(0.1),
        dynamics: Some(DynamicsLevel::Lane),
        verify: true,
        ..RunOptions::default()
    };
    let mut session = Session::new(World::new(&scenario, &builtin_modules(), &options).unwrap());
    let mut watch = JunctionWatch::default();
    let mut arrived = Vec::new();
    for minutes in 1..=6 {
        let ending = Ending::AtTime(60.0 * f64::from(minutes));
        session.run(ending, &mut [&mut watch], |_| true);
        arrived.push(session.world().counts().arrived);
    }
    let summary = session.world().summary();
    assert!(summary.collisions.is_empty(), "{:?}", summary.collisions);
    invited_without_limit(&summary);
    // The arrivals per period do not decrease over time, and there are more of them than if
    // vehicles passed one at a time.
    let (early, late) = (arrived[2] - arrived[0], arrived[5] - arrived[3]);
    assert!(late * 10 >= early * 8 && late > 60, "{arrived:?}");
    for junction in watch.figures(session.world()) {
        assert!(junction.longest_wait <= junction.bound, "{junction:?}");
    }
}

/// Creates a ring with a radius of 18 m and three arms, with cars and buses between all of them.
fn ring_with_buses() -> Scenario {
    let whole = Crossing {
        legs: 3,
        buses: 0.1,
        ..Crossing::of(Control::Uncontrolled)
    };
    let mut scenario = whole.bare();
    let style = |forward, backward| RoadStyle {
        name: String::new(),
        class: RoadClass::Arterial,
        layer: 0,
        speed_limit: 13.9,
        section: CrossSection::driving(forward, backward, 3.5),
    };
    let (radius, step) = (18.0, std::f64::consts::TAU / 3.0);
    let mut lines = Vec::new();
    for leg in 0..3 {
        let outward = unit(step * f64::from(leg));
        let line = ReferenceLine::straight(outward * 318.0, outward * radius).unwrap();
        lines.push((line, style(1, 1)));
    }
    for leg in 0..3 {
        let angle = step * f64::from(leg);
        let start = Pose {
            position: unit(angle) * radius,
            heading: angle + std::f64::consts::FRAC_PI_2,
        };
        let bend = Segment::Arc {
            length: radius * step,
            curvature: 1.0 / radius,
        };
        lines.push((ReferenceLine::new(start, vec![bend]).unwrap(), style(1, 0)));
    }
    for (line, style) in lines {
        let edit = draw::road(&scenario, &line, &style).unwrap();
        scenario.apply(edit).unwrap();
    }
    whole.fill(&mut scenario);
    scenario
}

#[test]
fn a_bus_that_leaves_a_ring_swings_over_nobody_who_enters() {
    let scenario = ring_with_buses();
    // Cars that leave the ring have no conflicts, but buses that leave it conflict with vehicles
    // that enter beside them.
    let layout = layout(scenario.network(), scenario.about());
    let in_ring = |end: LaneEnd| layout.rings.contains(&end.road);
    let mut exits = 0;
    for junction in layout.junctions.iter().filter(|one| one.paths.len() == 3) {
        let of_cars = Conflicts::of(junction);
        let of_buses = Conflicts::of_bodies(junction, Body::LONG);
        let numbers = ConnectionIndex::up_to(junction.paths.len());
        for (number, path) in numbers.zip(&junction.paths) {
            if in_ring(path.from) && !in_ring(path.to) {
                assert!(!of_cars.is_contested(number) && of_buses.is_contested(number));
                exits += 1;
            }
        }
    }
    assert_eq!(exits, 3);
    let options = RunOptions {
        dt: Some(0.1),
        dynamics: Some(DynamicsLevel::Lane),
        verify: true,
        ..RunOptions::default()
    };
    let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    while world.time() < 300.0 {
        world.step();
    }
    let summary = world.summary();
    assert!(summary.collisions.is_empty(), "{:?}", summary.collisions);
    assert!(invited(&summary, "ring with buses") > 60);
}

/// Asserts that no vehicle has entered without a grant or at a red light.
fn invited_without_limit(summary: &Summary) {
    let law = summary.law;
    assert_eq!((law.breaches, law.red_passed), (0, 0));
}

#[test]
fn who_may_turn_on_red_waits_less_and_lets_those_with_green_pass() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        let crossing = |country, only_near_turns| Crossing {
            side,
            country,
            only_near_turns,
            ..Crossing::of(Control::Signals)
        };
        let what = format!("{side:?}");
        let [free, bound] = ["US", "DE"].map(|country| {
            let summary = crossing(country, true).run(300.0);
            lawful(&summary, &what);
            summary
        });
        // There is no other traffic, so vehicles that stop at red can turn at once.
        let [fast, slow] = [&free, &bound].map(|summary| summary.agents.arrived);
        assert!(fast as f64 > 1.2 * slow as f64, "{what}: {fast} and {slow}");
        // Some vehicles turn while others have green, and none touch.
        lawful(&crossing("US", false).run(300.0), &what);
    }
}

#[test]
fn who_sees_red_and_amber_stays_until_green() {
    let crossing = |country| Crossing {
        country,
        ..Crossing::of(Control::Signals)
    };
    let [free, ready] = ["FR", "GB"].map(|country| {
        let summary = crossing(country).run(300.0);
        lawful(&summary, country);
        summary.agents.arrived
    });
    // Red and amber for two seconds at the end of red costs little green time.
    assert!(ready as f64 > 0.85 * free as f64, "{free} and {ready}");
    let scenario = crossing("GB").scenario();
    let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    let (mut red_amber, mut later, mut compared) = (0, None, false);
    while world.time() < 70.0 {
        world.step();
        red_amber += world
            .signals()
            .filter(|head| head.light == Light::RedAmber)
            .count();
        if red_amber == 50 {
            // A world saved in the middle of a run continues bit-identically.
            let saved = world.save().unwrap();
            let (modules, options) = (builtin_modules(), RunOptions::default());
            let ground = Arc::clone(world.ground());
            let (mut again, _) =
                World::restore(ground, &scenario, &modules, &options, &saved).unwrap();
            while again.time() < world.time() + 20.0 {
                again.step();
            }
            later = Some((again.time(), again.state_hash()));
        }
        if let Some((time, hash)) = later
            && world.time() >= time
        {
            assert_eq!(world.state_hash(), hash);
            compared = true;
            later = None;
        }
    }
    assert!(red_amber > 100 && compared, "{red_amber}");
}

/// Creates a street with two signals that are 45 m apart. The second signal is green whenever the
/// first one is green for the street. The space between them therefore fills up again before the
/// side street at the first signal gets green.
fn side_street_into_a_short_one() -> (Scenario, RoadId) {
    let crossing = Crossing::of(Control::Signals);
    let mut scenario = crossing.bare();
    let mut draw = |from: (f64, f64), to: (f64, f64)| {
        draw_street(&mut scenario, from.into(), to.into(), &street(1, 1));
        scenario.network().roads().map(|(id, _)| id).max().unwrap()
    };
    let into = draw((-200.0, 0.0), (0.0, 0.0));
    let between = draw((0.0, 0.0), (45.0, 0.0));
    let out = draw((45.0, 0.0), (250.0, 0.0));
    let side = draw((0.0, 150.0), (0.0, 0.0));
    let other = draw((45.0, -150.0), (45.0, 0.0));
    let stage = |road: RoadId, time: f64| SignalStage {
        green: vec![Movement {
            road,
            turns: Vec::new(),
        }],
        permitted: Vec::new(),
        time: time.into(),
        min: None.into(),
        max: None.into(),
        amber: Some(3.0).into(),
        all_red: Some(3.0).into(),
    };
    let rule = |scenario: &mut Scenario, x: f64, offset: f64, stages: [SignalStage; 2]| {
        let is_there = |node: &Node| (node.position() - DVec2::new(x, 0.0)).length() < 1.0;
        let found = scenario.network().nodes().find(|(_, node)| is_there(node));
        let (id, node) = found.map(|(id, node)| (id, node.clone())).unwrap();
        let rules = JunctionRules {
            control: Some(Control::Signals),
            plan: Some(SignalPlan {
                offset: offset.into(),
                stages: stages.to_vec(),
                ..SignalPlan::default()
            }),
            ..JunctionRules::default()
        };
        let node = Node { rules, ..node };
        scenario.apply(Edit::Node(id, Some(node))).unwrap();
    };
    rule(
        &mut scenario,
        0.0,
        0.0,
        [stage(into, 30.0), stage(side, 12.0)],
    );
    rule(
        &mut scenario,
        45.0,
        10.0,
        [stage(between, 6.0), stage(other, 36.0)],
    );
    for (from, rate) in [(into, RATE), (side, 400.0)] {
        let places = [(from, 12.0), (out, 190.0)].map(|(road, s)| Place::lane(road, -1, s));
        add_flow(&mut scenario, cars(places[0], places[1], rate));
    }
    (scenario, side)
}

#[test]
fn who_has_waited_long_for_room_beyond_signals_finds_it_at_its_green() {
    let (scenario, side) = side_street_into_a_short_one();
    let options = RunOptions {
        dt: Some(0.1),
        dynamics: Some(DynamicsLevel::Lane),
        verify: true,
        ..RunOptions::default()
    };
    let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    let (mut passed, mut before) = (BTreeMap::new(), BTreeMap::new());
    while world.time() < 1200.0 {
        world.step();
        for (_, road, _) in entered(&world.snapshot(), &mut before) {
            *passed.entry(road).or_insert(0) += 1;
        }
    }
    // A cycle lasts 54 s. After the first vehicle of the side street has waited for one cycle, each cycle
    // admits one vehicle.
    assert!(passed[&side] >= 12, "{passed:?}");
    assert!(world.collisions().is_empty());
    assert_eq!(world.summary().law.red_passed, 0);
}

#[test]
fn where_equals_meet_the_country_says_who_goes_first() {
    let control = |country| {
        let crossing = Crossing {
            country,
            control: None,
            ..Crossing::of(Control::Uncontrolled)
        };
        let scenario = crossing.scenario();
        let layout = layout(scenario.network(), scenario.about());
        let middle = layout
            .junctions
            .iter()
            .find(|junction| junction.is_crossing());
        middle.unwrap().control
    };
    assert_eq!(control("US"), Control::AllWayStop);
    assert_eq!(control("CA"), Control::AllWayStop);
    assert_eq!(control("DE"), Control::Uncontrolled);
    assert_eq!(control(""), Control::Uncontrolled);
}

/// Fills a town with 1,500 vehicles at once, while as many others wait to depart. The nightly test continues until
/// all have arrived, which takes rotations of rings that include vehicles between two lanes and vehicles at stop
/// lines that are set back. Traffic must not come to a permanent halt in which vehicles that stand between two
/// lanes occupy the space that vehicles in junctions need.
#[test]
fn a_town_filled_to_the_last_lane_moves_on() {
    let scenario = crate::common::shipped("old-town");
    let options = RunOptions {
        seed: Some(1),
        populate: 3000,
        dynamics: Some(DynamicsLevel::Lane),
        dt: Some(0.1),
        ..RunOptions::default()
    };
    let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    let mut run_to = |end: f64| {
        while world.time() < end {
            world.step();
        }
        world.summary()
    };
    let summary = run_to(900.0);
    assert!(summary.agents.arrived > 450, "{:?}", summary.agents);
    if is_slow() {
        let summary = run_to(3300.0);
        let agents = summary.agents;
        assert_eq!((agents.active, agents.waiting), (0, 0), "{agents:?}");
        assert_eq!(summary.law.gridlocks, 0);
        assert!(summary.law.rotations > 0, "{:?}", summary.law);
    }
}
