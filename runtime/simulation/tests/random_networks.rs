//! Tests of traffic in random networks of alleys, tight bends, roundabouts, ramps and lanes that end, in
//! left-hand and right-hand traffic, with cars, buses and trailers, from light demand to 1.2 times capacity.
//!
//! ```text
//!                                      ________________ motorway ______________________________
//!                                                   ramp ---'       lane ends       lane ends
//!     ---- alley ---+--- bends ---( ring )---+-----'
//!                   |                        |          streets, in random order
//! ```
//!
//! `ROADWRIGHT_NETWORKS=100..200 cargo test -p roadwright-simulation --test all random_networks` drives the
//! networks with these numbers. `ROADWRIGHT_NETWORKS_TO=scenarios` also writes the networks in which
//! something went wrong to that folder, as `network-N.scenario.json` (with a time step of 0.1 s and N as the
//! seed, at level `lane`).

use crate::common::{add_flow, cars, equip, vehicle};
use glam::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_geometry::{Pose, ReferenceLine, Segment};
use roadwright_ground::Ground;
use roadwright_scenario::check::{Code, Severity, check, trip_problem};
use roadwright_scenario::junction::layout;
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::*;
use roadwright_simulation::{Ending, JunctionWatch, RunOptions, Session, World, builtin_modules};
use roadwright_testing::scaled;
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, PI};
use std::ops::Range;
use std::path::PathBuf;

/// Number of networks in a nightly run.
const NETWORKS: u64 = 1000;
/// Time during which vehicles spawn, s.
const INPUT: f64 = 180.0;
/// Time by which all vehicles must have arrived, s.
const DRAINED: f64 = 1500.0;
/// Fraction of capacity below which no vehicle waits longer than the bound of its junction.
const BELOW_CAPACITY: f64 = 0.8;
/// Width of lanes on which buses and cars can pass each other, m.
const WIDE: f64 = 3.25;
/// Angle at which a ramp meets a motorway, rad.
const RAMP_ANGLE: f64 = 0.25;
/// Length of a ramp, m.
const RAMP: f64 = 250.0;
/// Distance of origins and destinations from the ends of streets, m.
const FROM_END: f64 = 15.0;
/// Number of edits of running networks in a nightly run.
const EDITS: u64 = 10_000;
/// Number of edits of each network.
const EDITS_EACH: u64 = 50;
/// Time between two edits, s.
const BETWEEN_EDITS: f64 = 4.0;
/// Length of side streets, m.
const SIDE_STREET: f64 = 70.0;

/// A place where vehicles enter and leave the network.
#[derive(Debug, Clone, Copy)]
struct Terminal {
    enters: Place,
    leaves: Place,
}

/// A network under construction. It is drawn for right-hand traffic, and mirrored for left-hand traffic.
struct Network {
    scenario: Scenario,
    side: DrivingSide,
    random: Stream,
    nodes: Vec<(DVec2, NodeId)>,
    /// End of the streets drawn so far.
    end: Pose,
    terminals: Vec<Terminal>,
    /// Capacity of the streets, vehicles/h.
    capacity: f64,
    /// Capacity of the motorway, vehicles/h; `None` if there is no motorway.
    motorway_capacity: Option<f64>,
}

/// Properties of a road.
struct Style {
    class: RoadClass,
    /// Speed limit, km/h.
    limit: f64,
    section: CrossSection,
}

impl Style {
    /// A two-way street with lanes of the given width, m.
    fn street(width: f64) -> Self {
        Self {
            class: RoadClass::Residential,
            limit: 30.0,
            section: CrossSection::driving(1, 1, width),
        }
    }

    fn one_way(class: RoadClass, limit: f64, lanes: usize) -> Self {
        Self {
            class,
            limit,
            section: CrossSection::driving(lanes, 0, 3.5),
        }
    }
}

fn straight(length: f64) -> Vec<Segment> {
    vec![Segment::Line { length }]
}

impl Network {
    fn new(seed: u64, number: u64) -> Self {
        let mut random = Stream::new(seed, "random networks", number);
        let side = [DrivingSide::Right, DrivingSide::Left][random.next_index(2)];
        let mut scenario = Scenario::new("random network");
        let about = About {
            driving_side: side,
            ..About::default()
        };
        scenario.apply(Edit::About(Box::new(about))).unwrap();
        equip(&mut scenario, "crossroads");
        let caravan = vehicle("escort-caravan", |_| {});
        let edit = Edit::VehicleType("caravan".into(), Some(Box::new(caravan)));
        scenario.apply(edit).unwrap();
        let mut network = Self {
            scenario,
            side,
            random,
            nodes: Vec::new(),
            end: Pose::new(0.0, 0.0, 0.0),
            terminals: Vec::new(),
            capacity: 700.0,
            motorway_capacity: None,
        };
        network.draw();
        network
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.random.next_in(low, high)
    }

    /// Converts a pose from right-hand traffic to the traffic side of the scenario.
    fn mirrored(&self, pose: Pose) -> Pose {
        match self.side {
            DrivingSide::Right => pose,
            DrivingSide::Left => Pose::new(pose.position.x, -pose.position.y, -pose.heading),
        }
    }

    fn node(&mut self, place: DVec2) -> NodeId {
        let known = self
            .nodes
            .iter()
            .find(|(other, _)| other.distance(place) < 1e-6);
        if let Some((_, id)) = known {
            return *id;
        }
        let id = NodeId(self.nodes.len() as u32 + 1);
        let edit = Edit::Node(id, Some(Node::at(place)));
        self.scenario.apply(edit).unwrap();
        self.nodes.push((place, id));
        id
    }

    /// Adds a road. Returns its id and its end in right-hand traffic.
    fn road(&mut self, start: Pose, segments: Vec<Segment>, style: Style) -> (RoadId, Pose) {
        let end = ReferenceLine::new(start, segments.clone()).unwrap().end();
        let is_mirrored = self.side == DrivingSide::Left;
        let segments = segments.into_iter().map(|segment| match segment {
            Segment::Arc { length, curvature } if is_mirrored => Segment::Arc {
                length,
                curvature: -curvature,
            },
            other => other,
        });
        let line = ReferenceLine::new(self.mirrored(start), segments.collect()).unwrap();
        let (lane_offset, lanes) = style.section.lanes(self.side);
        let road = Road {
            from: self.node(line.start().position),
            to: self.node(line.end().position),
            name: String::new(),
            class: style.class,
            layer: 0,
            access: RoadAccess::All,
            speed_limit: (style.limit / 3.6).into(),
            reference_line: line,
            lane_offset,
            lane_sections: vec![lanes],
        };
        let id = self.scenario.network().roads().map(|(id, _)| id.0).max();
        let id = RoadId(id.unwrap_or(0) + 1);
        let edit = Edit::Road(id, Some(Box::new(road)));
        self.scenario.apply(edit).unwrap();
        (id, end)
    }

    /// Id of the lane that leads along a road. Lanes are counted from the middle of a two-way road, or from
    /// the left (in right-hand traffic) of a one-way road.
    fn along(&self, number: i8) -> i8 {
        match self.side {
            DrivingSide::Right => -number,
            DrivingSide::Left => number,
        }
    }

    /// Continues the street from its current end.
    fn go_on(&mut self, segments: Vec<Segment>, style: Style) -> RoadId {
        let (id, end) = self.road(self.end, segments, style);
        self.end = end;
        id
    }

    /// Adds a street at whose end vehicles enter and leave.
    fn terminal(&mut self, start: Pose) {
        let length = SIDE_STREET;
        let (road, _) = self.road(start, straight(length), Style::street(WIDE));
        let s = length - FROM_END;
        let (out, back) = (self.along(1), self.along(-1));
        self.terminals.push(Terminal {
            enters: Place::lane(road, back, s),
            leaves: Place::lane(road, out, s),
        });
    }

    fn turned(pose: Pose, by: f64) -> Pose {
        Pose {
            heading: pose.heading + by,
            ..pose
        }
    }

    fn draw(&mut self) {
        let back = Self::turned(self.end, PI);
        self.terminal(back);
        let has_ramp = self.random.next_index(5) < 3;
        let count = 2 + self.random.next_index(3);
        for _ in 0..count {
            match self.random.next_index(6) {
                0 | 1 => self.narrow_middle(),
                2 => self.narrow_throughout(),
                3 => self.bends(),
                4 => self.ring(has_ramp),
                _ => {
                    let length = self.between(40.0, 120.0);
                    self.go_on(straight(length), Style::street(WIDE));
                }
            }
            if self.random.next_index(2) == 0 {
                self.side_street(has_ramp);
            }
        }
        match has_ramp {
            true => self.motorway(),
            false => self.terminal(self.end),
        }
    }

    /// Adds a side street at the end of the streets drawn so far. With `to_the_right`, it leads to the right.
    fn side_street(&mut self, to_the_right: bool) {
        let is_right = to_the_right || self.random.next_index(2) == 0;
        let by = if is_right { -FRAC_PI_2 } else { FRAC_PI_2 };
        self.terminal(Self::turned(self.end, by));
        // The distance keeps side streets from being adjacent.
        let length = self.between(35.0, 60.0);
        self.go_on(straight(length), Style::street(WIDE));
    }

    /// Adds a street whose middle is an alley.
    fn narrow_middle(&mut self) {
        let length = self.between(20.0, 80.0);
        let width = self.between(1.65, 2.6);
        let road = self.go_on(straight(length + 100.0), Style::street(WIDE));
        let slope = (WIDE - width) / 10.0;
        let piece = |s: f64, a: f64, b: f64| Poly3 {
            s: s.into(),
            a: a.into(),
            b: b.into(),
            ..Poly3::constant(a)
        };
        let mut changed = self.scenario.network().road(road).unwrap().clone();
        for lane in &mut changed.lane_sections[0].lanes {
            lane.width = vec![
                piece(0.0, WIDE, 0.0),
                piece(40.0, WIDE, -slope),
                piece(50.0, width, 0.0),
                piece(50.0 + length, width, slope),
                piece(60.0 + length, WIDE, 0.0),
            ];
        }
        let edit = Edit::Road(road, Some(Box::new(changed)));
        self.scenario.apply(edit).unwrap();
        self.has_alley(length);
    }

    /// Adds a street that is narrow throughout.
    fn narrow_throughout(&mut self) {
        let (length, width) = (self.between(30.0, 100.0), self.between(1.7, 2.6));
        self.go_on(straight(length), Style::street(width));
        self.has_alley(length);
    }

    /// Reduces the capacity to that of an alley with the given length (m), which one vehicle per direction
    /// uses in turn.
    fn has_alley(&mut self, length: f64) {
        let capacity = 2.0 * 3600.0 / (2.0 * (length + 20.0) / 6.0 + 6.0);
        self.capacity = self.capacity.min(capacity);
    }

    /// Adds a bend to the left and a bend to the right.
    fn bends(&mut self) {
        let radius = self.between(10.0, 30.0);
        let angle = self.between(0.5, 1.3);
        let width = self.between(2.6, 3.4);
        let arc = |sign: f64| Segment::Arc {
            length: radius * angle,
            curvature: sign / radius,
        };
        let line = Segment::Line { length: 45.0 };
        let segments = vec![line, arc(1.0), line, arc(-1.0), line];
        self.go_on(segments, Style::street(width));
        self.has_alley(60.0);
    }

    /// Adds a roundabout with three or four arms.
    fn ring(&mut self, to_the_right: bool) {
        let line = self.between(25.0, 60.0);
        self.go_on(straight(line), Style::street(WIDE));
        let radius = self.between(14.0, 24.0);
        let entry = self.end;
        let centre = entry.point(radius, 0.0);
        // Directions of the arms from the centre, counter-clockwise from the exit straight ahead.
        let is_full = !to_the_right && self.random.next_index(2) == 0;
        let arms: &[f64] = match is_full {
            true => &[0.0, FRAC_PI_2, PI, 3.0 * FRAC_PI_2],
            false => &[0.0, PI, 3.0 * FRAC_PI_2],
        };
        for (i, &arm) in arms.iter().enumerate() {
            let next = arms.get(i + 1).copied().unwrap_or(2.0 * PI);
            let bearing = entry.heading + arm;
            let start = Pose {
                position: centre + radius * DVec2::from_angle(bearing),
                heading: bearing + FRAC_PI_2,
            };
            let arc = Segment::Arc {
                length: radius * (next - arm),
                curvature: 1.0 / radius,
            };
            let style = Style {
                section: CrossSection::driving(1, 0, 5.0),
                ..Style::street(WIDE)
            };
            self.road(start, vec![arc], style);
            if arm != 0.0 && arm != PI {
                self.terminal(Self::turned(start, -FRAC_PI_2));
            }
        }
        self.end = Pose {
            position: centre + radius * DVec2::from_angle(entry.heading),
            heading: entry.heading,
        };
        let line = self.between(25.0, 60.0);
        self.go_on(straight(line), Style::street(WIDE));
    }

    /// Adds a ramp from the end of the street to a motorway whose lanes end one after another.
    fn motorway(&mut self) {
        self.terminal(Self::turned(self.end, -FRAC_PI_2));
        let limit = [80.0, 100.0, 120.0][self.random.next_index(3)];
        let of_lanes = |lanes| Style::one_way(RoadClass::Motorway, limit, lanes);
        self.go_on(straight(RAMP), Style::one_way(RoadClass::Ramp, 60.0, 1));
        let joins = Self::turned(self.end, -RAMP_ANGLE);
        let before = Pose {
            position: joins.point(-600.0, 0.0),
            ..joins
        };
        let (first, _) = self.road(before, straight(600.0), of_lanes(2));
        self.end = joins;
        let length = self.between(200.0, 300.0);
        self.go_on(straight(length), of_lanes(3));
        let mut last = self.go_on(straight(600.0), of_lanes(2));
        let (mut lanes, mut capacity) = (2, 3000.0);
        if self.random.next_index(3) == 0 {
            last = self.go_on(straight(500.0), of_lanes(1));
            (lanes, capacity) = (1, 1400.0);
        }
        let length = self.scenario.network().road(last).unwrap().length();
        for lane in 1..=2 {
            self.terminals.push(Terminal {
                enters: Place::lane(first, self.along(lane), FROM_END),
                leaves: Place::lane(last, self.along(lane.min(lanes)), length - FROM_END),
            });
        }
        self.motorway_capacity = Some(capacity);
    }

    /// Adds flows that together need a share of the capacity, and that end at a time, s.
    fn fill(&mut self, load: f64, until: f64) {
        let layout = layout(self.scenario.network(), self.scenario.about());
        let graph = LaneGraph::new(&self.scenario, &layout);
        let count = self.terminals.len();
        let fast = self
            .motorway_capacity
            .map_or(count..count, |_| count - 2..count);
        let mut trips = Vec::new();
        for from in 0..count {
            for to in 0..count {
                let share = match (fast.contains(&from), fast.contains(&to)) {
                    (true, true) if from == to => self.motorway_capacity.unwrap_or(0.0) / 2.0,
                    (false, true) => 60.0,
                    (false, false) if from != to => {
                        let streets = (fast.start * (fast.start - 1)) as f64;
                        self.capacity / streets * self.random.next_in(0.3, 1.7)
                    }
                    _ => continue,
                };
                trips.push((from, to, load * share));
            }
        }
        for (from, to, rate) in trips {
            let kinds = ["car", "car", "car", "car", "car", "enviro_400", "caravan"];
            let kind = kinds[self.random.next_index(kinds.len())];
            let stops = [self.terminals[from].enters, self.terminals[to].leaves];
            let leads = |kind: &str| trip_problem(&self.scenario, &graph, kind, &stops).is_none();
            let kind = if leads(kind) { kind } else { "car" };
            if !leads(kind) {
                continue;
            }
            let flow = Flow {
                vehicle: kind.into(),
                end: until.into(),
                ..cars(stops[0], stops[1], rate)
            };
            add_flow(&mut self.scenario, flow);
        }
    }
}

/// Results of a run of a network.
struct Outcome {
    scenario: Scenario,
    arrived: usize,
    /// Problems, in plain words.
    wrong: Vec<String>,
}

/// Descriptions of the vehicles that wait for each other in rings, each once.
fn deadlocked(world: &World) -> Vec<String> {
    let mut members = BTreeMap::new();
    for vehicle in &world.snapshot().vehicles {
        let Some(chain) = world.wait_chain(vehicle.agent) else {
            continue;
        };
        for link in chain.deadlocked() {
            let (at, lane) = (link.at, link.lane);
            let text = format!("agent {} at {at:.1}, {lane:?} {}", link.agent, link.why());
            members.insert(link.agent, text);
        }
    }
    members.into_values().collect()
}

/// Descriptions of the chains of waiting vehicles, each once.
fn standing(world: &World) -> Vec<String> {
    let mut members = BTreeMap::new();
    for vehicle in &world.snapshot().vehicles {
        let Some(chain) = world.wait_chain(vehicle.agent) else {
            continue;
        };
        for link in &chain.links {
            let (at, lane) = (link.at, link.lane);
            let text = format!("agent {} at {at:.1}, {lane:?} {}", link.agent, link.why());
            members.insert(link.agent, text);
        }
    }
    members.into_values().collect()
}

/// Runs a network.
fn drive(seed: u64, number: u64) -> Outcome {
    let mut network = Network::new(seed, number);
    let load = network.between(0.1, 1.2);
    network.fill(load, INPUT);
    let mut wrong = Vec::new();
    let is_bad = |finding: &check::Finding| {
        finding.severity == Severity::Error || finding.code == Code::LanesOverlap
    };
    let findings = check(&network.scenario).into_iter().filter(is_bad);
    wrong.extend(findings.map(|finding| finding.to_string()));
    let options = RunOptions {
        seed: Some(number),
        dt: Some(0.1),
        dynamics: Some(DynamicsLevel::Lane),
        verify: true,
        ..RunOptions::default()
    };
    let world = World::new(&network.scenario, &builtin_modules(), &options).unwrap();
    let mut session = Session::new(world);
    let mut watch = JunctionWatch::default();
    let goes_on = |world: &World| world.time() < INPUT || !world.is_over();
    session.run(Ending::AtTime(DRAINED), &mut [&mut watch], goes_on);
    let summary = session.world().summary();
    for contact in &summary.collisions {
        wrong.push(format!(
            "contact at {:.1} s, ({:.1}, {:.1}), {:.3} m deep",
            contact.time, contact.x, contact.y, contact.depth
        ));
    }
    let (agents, law) = (&summary.agents, &summary.law);
    if agents.arrived < agents.spawned || agents.queued > 0 {
        wrong.push(format!("{agents:?}"));
    }
    let broken = (
        law.breaches,
        law.red_passed,
        law.stops_missed,
        law.gridlocks,
    );
    if broken != (0, 0, 0, 0) {
        wrong.push(format!("{law:?}"));
        wrong.extend(deadlocked(session.world()));
    }
    if load < BELOW_CAPACITY {
        for junction in watch.figures(session.world()) {
            let (wait, bound) = (junction.longest_wait, junction.bound);
            if wait > bound {
                wrong.push(format!(
                    "{}: {wait} s, the bound is {bound} s",
                    junction.node
                ));
            }
        }
    }
    Outcome {
        scenario: network.scenario,
        arrived: agents.arrived,
        wrong,
    }
}

/// Numbers of the networks that this run tests: those below `count` unless the environment variable names others.
fn numbers(count: u64) -> Range<u64> {
    let Ok(text) = std::env::var("ROADWRIGHT_NETWORKS") else {
        return 0..count;
    };
    let (from, to) = text.split_once("..").unwrap();
    from.parse().unwrap()..to.parse().unwrap()
}

#[test]
fn all_arrive_without_contacts_and_within_the_bounds() {
    let (mut failed, mut arrived) = (Vec::new(), 0);
    let numbers = numbers(scaled(NETWORKS));
    let count = numbers.clone().count();
    for number in numbers {
        let outcome = drive(roadwright_testing::seed(1), number);
        arrived += outcome.arrived;
        if !outcome.wrong.is_empty() {
            if let Some(folder) = std::env::var_os("ROADWRIGHT_NETWORKS_TO") {
                let path = PathBuf::from(folder).join(format!("network-{number}.scenario.json"));
                file::save(&outcome.scenario, &path).unwrap();
            }
            println!("network {number}: {:#?}", outcome.wrong);
            failed.push(number);
        }
    }
    println!("{arrived} vehicles arrived in {count} networks");
    assert!(failed.is_empty(), "networks {failed:?}");
    assert!(arrived > 20 * count, "{arrived} vehicles");
}

/// Networks in which something went wrong before a rule was repaired:
///
/// | number | what went wrong |
/// | --- | --- |
/// | 461, 588 | a vehicle was let into a junction without room beyond, because another one waited for an alley there |
/// | 833 | a bus kept a car out of an alley, behind which a trailer was that the bus waited for |
/// | 247 | a caravan and a car met in a bend in which they do not fit side by side |
#[test]
fn networks_of_repaired_kinds_are_driven_without_trouble() {
    for number in [461, 588, 833, 247] {
        let outcome = drive(1, number);
        assert_eq!(outcome.wrong, [""; 0], "network {number}");
    }
}

/// A network that is edited while vehicles drive.
struct Edited {
    scenario: Scenario,
    world: World,
    random: Stream,
    /// Edits that undo earlier ones, the last one first.
    undo: Vec<Edit>,
    /// Number of times at which the edited network was compared with one built anew.
    compared: usize,
}

impl Edited {
    fn new(number: u64) -> Self {
        let seed = roadwright_testing::seed(1);
        let mut network = Network::new(seed, 1_000_000 + number);
        let load = network.between(0.4, 1.0);
        network.fill(load, BETWEEN_EDITS * EDITS_EACH as f64);
        let options = RunOptions {
            seed: Some(number),
            dt: Some(0.1),
            dynamics: Some(DynamicsLevel::Lane),
            verify: true,
            lenient: true,
            ..RunOptions::default()
        };
        Self {
            world: World::new(&network.scenario, &builtin_modules(), &options).unwrap(),
            scenario: network.scenario,
            random: Stream::new(seed, "edits of networks", number),
            undo: Vec::new(),
            compared: 0,
        }
    }

    /// Drives for a time, s. Compares the network with one built anew whenever no edit waits for a junction to
    /// become empty.
    fn drive(&mut self, seconds: f64) {
        let end = self.world.time() + seconds;
        while self.world.time() < end && !self.world.is_over() {
            self.world.step();
        }
        if self.world.closing_nodes().is_empty() {
            let anew = Ground::new(&self.scenario);
            assert_eq!(self.world.ground().hash(), anew.hash());
            assert_eq!(self.world.ground().alleys(), anew.alleys());
            self.compared += 1;
        }
    }

    /// A random edit and its name.
    fn draw(&mut self) -> Option<(Edit, &'static str)> {
        match self.random.next_index(6) {
            0 => Some((self.other_limit()?, "speed limit")),
            1 => Some((self.other_control()?, "control")),
            2 => Some((self.other_flow()?, "flow")),
            3 => Some((self.new_street()?, "new street")),
            _ => Some((self.undo.pop()?, "undo")),
        }
    }

    fn any_street(&mut self) -> Option<(RoadId, Road)> {
        let network = self.scenario.network();
        let is_street = |road: &Road| road.class == RoadClass::Residential;
        let streets = network.roads().filter(|(_, road)| is_street(road));
        let streets: Vec<RoadId> = streets.map(|(id, _)| id).collect();
        let id = *streets.get(self.random.next_index(streets.len().max(1)))?;
        Some((id, network.road(id)?.clone()))
    }

    fn other_limit(&mut self) -> Option<Edit> {
        let (id, mut road) = self.any_street()?;
        road.speed_limit = (self.random.next_in(20.0, 60.0) / 3.6).into();
        Some(Edit::Road(id, Some(Box::new(road))))
    }

    fn other_control(&mut self) -> Option<Edit> {
        let network = self.scenario.network();
        let nodes = network
            .nodes()
            .filter(|(id, _)| network.ends_at(*id).len() > 2);
        let nodes: Vec<(NodeId, Node)> = nodes.map(|(id, node)| (id, node.clone())).collect();
        let (id, node) = nodes.get(self.random.next_index(nodes.len().max(1)))?;
        let controls = [
            None,
            Some(Control::Uncontrolled),
            Some(Control::Priority),
            Some(Control::Stop),
            Some(Control::AllWayStop),
            Some(Control::Signals),
        ];
        // Ramps keep their rules, since no vehicle yields on a motorway.
        let is_street = |(road, _): &(RoadId, RoadEnd)| {
            let road = network.road(*road);
            road.is_some_and(|road| road.class == RoadClass::Residential)
        };
        if !network.ends_at(*id).iter().all(is_street) {
            return None;
        }
        let rules = JunctionRules {
            control: controls[self.random.next_index(controls.len())],
            ..JunctionRules::default()
        };
        let changed = Node {
            rules,
            ..node.clone()
        };
        Some(Edit::Node(*id, Some(changed)))
    }

    fn other_flow(&mut self) -> Option<Edit> {
        let flows: Vec<(FlowId, Flow)> = (self.scenario.flows().iter())
            .map(|(id, flow)| (*id, flow.clone()))
            .collect();
        let (id, flow) = flows.get(self.random.next_index(flows.len().max(1)))?;
        if self.random.next_index(4) == 0 {
            return Some(Edit::Flow(*id, None));
        }
        let changed = Flow {
            rate_per_hour: (flow.rate_per_hour.get() * self.random.next_in(0.5, 1.2)).into(),
            ..flow.clone()
        };
        Some(Edit::Flow(*id, Some(Box::new(changed))))
    }

    /// A side street of a wide street, which joins it at a new node.
    fn new_street(&mut self) -> Option<Edit> {
        let (_, road) = self.any_street()?;
        let length = road.reference_line.length();
        let is_wide = road.lane_sections[0]
            .lanes
            .iter()
            .all(|lane| lane.width.len() == 1);
        if length < 70.0 || !is_wide || road.lane_sections[0].lanes.len() != 2 {
            return None;
        }
        let at = road
            .reference_line
            .pose(self.random.next_in(30.0, length - 30.0));
        let side = [FRAC_PI_2, -FRAC_PI_2][self.random.next_index(2)];
        let line = ReferenceLine::new(Network::turned(at, side), straight(SIDE_STREET)).ok()?;
        let style = RoadStyle {
            name: String::new(),
            class: RoadClass::Residential,
            layer: 0,
            speed_limit: 30.0 / 3.6,
            section: CrossSection::driving(1, 1, WIDE),
        };
        let edit =
            roadwright_scenario::operation::draw::road(&self.scenario, &line, &style).ok()?;
        let mut changed = self.scenario.clone();
        changed.apply(edit.clone()).ok()?;
        // It crosses no other road.
        let count = |scenario: &Scenario| scenario.network().roads().count();
        let is_clear = check(&changed).iter().all(|finding| {
            !(finding.severity == Severity::Error || finding.code == Code::LanesOverlap)
        });
        (count(&changed) == count(&self.scenario) + 2 && is_clear).then_some(edit)
    }

    /// Makes an edit. Returns its name, or `None` if there was none to make.
    fn edit(&mut self) -> Option<&'static str> {
        let (edit, name) = self.draw()?;
        let before = self.scenario.clone();
        let inverse = self.scenario.apply(edit).ok()?;
        self.world
            .update(&before, &self.scenario, &builtin_modules())
            .unwrap();
        if name != "undo" {
            self.undo.push(inverse);
        }
        Some(name)
    }
}

#[test]
fn networks_are_edited_while_vehicles_drive() {
    let (mut edits, mut compared, mut arrived, mut names) = (0, 0, 0, BTreeMap::new());
    let mut failed = Vec::new();
    for number in numbers(scaled(EDITS) / EDITS_EACH) {
        let mut edited = Edited::new(number);
        for _ in 0..EDITS_EACH {
            let name = std::iter::from_fn(|| Some(edited.edit())).flatten().next();
            *names.entry(name.unwrap()).or_insert(0) += 1;
            edits += 1;
            edited.drive(BETWEEN_EDITS);
        }
        edited.drive(DRAINED);
        compared += edited.compared;
        let summary = edited.world.summary();
        let (agents, law) = (&summary.agents, &summary.law);
        assert_eq!(summary.collisions, [], "network {number}");
        if agents.active + agents.queued > 0 || law.gridlocks > 0 {
            println!("network {number}: {agents:?} {law:?}");
            println!("{:#?}", standing(&edited.world));
            failed.push(number);
        }
        arrived += agents.arrived;
    }
    println!("{edits} edits ({names:?}), {compared} comparisons, {arrived} vehicles arrived");
    assert!(failed.is_empty(), "networks {failed:?}");
    assert!(2 * compared > edits, "{compared} comparisons");
    assert!(2 * arrived > edits, "{arrived} vehicles");
}
