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

mod network;

use crate::common;
use network::{Network, SIDE_STREET, WIDE, straight};
use roadwright_geometry::ReferenceLine;
use roadwright_geometry::math::Stream;
use roadwright_ground::Ground;
use roadwright_scenario::check::{Code, Severity, check};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::*;
use roadwright_simulation::{Ending, JunctionWatch, RunOptions, Session, World, builtin_modules};
use roadwright_testing::scaled;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;
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
/// Number of edits of running networks in a nightly run.
const EDITS: u64 = 10_000;
/// Number of edits of each network.
const EDITS_EACH: u64 = 50;
/// Time between two edits, s.
const BETWEEN_EDITS: f64 = 4.0;

/// Results of a run of a network.
struct Outcome {
    scenario: Scenario,
    arrived: usize,
    /// Problems, in plain words.
    wrong: Vec<String>,
}

/// Describes the rings of vehicles that wait for each other, without duplicates.
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

/// Describes the chains of waiting vehicles, without duplicates.
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

/// Returns the numbers of the networks that this run tests: those below `count`, unless the
/// environment variable gives others.
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

/// Networks in which something went wrong before the fix of a rule:
///
/// | number | problem |
/// | --- | --- |
/// | 461, 588 | a vehicle was let into a junction without room beyond, because another one waited for an alley there |
/// | 833 | a bus kept a car out of an alley while the bus waited for a trailer behind that car |
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
    /// Number of times that the edited network was compared with one built from scratch.
    compared: usize,
}

impl Edited {
    fn new(seed: u64, number: u64) -> Self {
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

    /// Runs for a time, s. Compares the network with one built from scratch whenever no edit waits
    /// for a junction to become empty.
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

    /// Returns a random edit, with its name.
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
        // Ramps keep their rules, because no vehicle yields on a motorway.
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

    /// Returns an edit that adds a side street to a wide street, at a new node.
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
        // The new street crosses no other road.
        let count = |scenario: &Scenario| scenario.network().roads().count();
        let is_clear = check(&changed).iter().all(|finding| {
            !(finding.severity == Severity::Error || finding.code == Code::LanesOverlap)
        });
        (count(&changed) == count(&self.scenario) + 2 && is_clear).then_some(edit)
    }

    /// Makes an edit. Returns its name, or `None` if no edit was possible.
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

/// Numbers of edits by name.
type Edits = BTreeMap<&'static str, u64>;

/// Edits one of the networks of a seed while vehicles drive. Returns the network, and whether
/// vehicles deadlocked.
fn edit_and_drive(seed: u64, number: u64, names: &mut Edits) -> (Edited, bool) {
    let mut edited = Edited::new(seed, number);
    for _ in 0..EDITS_EACH {
        let name = std::iter::from_fn(|| Some(edited.edit())).flatten().next();
        *names.entry(name.unwrap()).or_insert(0) += 1;
        edited.drive(BETWEEN_EDITS);
    }
    edited.drive(DRAINED);
    let summary = edited.world.summary();
    let (agents, law) = (&summary.agents, &summary.law);
    assert_eq!(summary.collisions, [], "network {number}");
    let locks = agents.active + agents.queued > 0 || law.gridlocks > 0;
    if locks {
        println!("network {number}: {agents:?} {law:?}");
        println!("{:#?}", standing(&edited.world));
    }
    (edited, locks)
}

#[test]
fn networks_are_edited_while_vehicles_drive() {
    let (mut compared, mut arrived, mut names) = (0, 0, Edits::new());
    let mut failed = Vec::new();
    for number in numbers(scaled(EDITS) / EDITS_EACH) {
        let (edited, locks) = edit_and_drive(roadwright_testing::seed(1), number, &mut names);
        compared += edited.compared as u64;
        arrived += edited.world.summary().agents.arrived as u64;
        if locks {
            failed.push(number);
        }
    }
    let edits: u64 = names.values().sum();
    println!("{edits} edits ({names:?}), {compared} comparisons, {arrived} vehicles arrived");
    assert!(failed.is_empty(), "networks {failed:?}");
    assert!(2 * compared > edits, "{compared} comparisons");
    assert!(2 * arrived > edits, "{arrived} vehicles");
}

/// Networks in which something went wrong after edits, before the fix of a rule. The numbers are
/// those of seed 1.
///
/// | number | problem |
/// | --- | --- |
/// | 85 | a vehicle in a junction lost its ticket when its route changed, and waited for a vehicle behind it |
/// | 107 | a car in an alley lost the part of it that a new junction cut off, and met a caravan there |
/// | 126 | a vehicle beyond an alley waited for one that waited for the alley, while a third one was still in it |
#[test]
fn edited_networks_of_repaired_kinds_are_driven_without_trouble() {
    for number in [85, 107, 126] {
        let (_, locks) = edit_and_drive(1, number, &mut Edits::new());
        assert!(!locks, "network {number}");
    }
}
