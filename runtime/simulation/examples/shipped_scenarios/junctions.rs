//! Junctions of every kind, with traffic.

use super::builder::{Builder, avenue, one_way, street};
use roadwright_geometry::{DVec2, ReferenceLine, unit};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::{
    Control, CrossingRule, DrivingSide, DynamicsLevel, Edit, Flow, JunctionRules, Node, Place,
    RoadClass, RoadId, Settings, SignalMode, SignalPlan,
};
use std::f64::consts::TAU;

/// Length of the streets that lead to a junction, m.
const LEG: f64 = 110.0;
/// Distance from the outer end of a road at which flows start and end, m.
const GATE: f64 = 8.0;

/// One junction of each kind, side by side. Those with signals have fixed times or are actuated.
pub(crate) fn all_junctions(side: DrivingSide) -> roadwright_scenario::Scenario {
    let (name, traffic) = match side {
        DrivingSide::Right => ("all-junctions", ""),
        DrivingSide::Left => ("all-junctions-left", " in left-hand traffic"),
    };
    let description = format!(
        "Junctions of every kind{traffic}: priority from the near side, yield and stop signs, \
         all-way stop, fixed-time and actuated signals, a roundabout, a zipper merge, mini \
         roundabouts."
    );
    let mut b = builder_on(side, name, &description);
    let crossings = [
        (
            "Plain",
            Control::Uncontrolled,
            SignalMode::Fixed,
            (0.0, 0.0),
        ),
        ("Yield", Control::Priority, SignalMode::Fixed, (260.0, 0.0)),
        ("Stop", Control::Stop, SignalMode::Fixed, (520.0, 0.0)),
        (
            "All-Way",
            Control::AllWayStop,
            SignalMode::Fixed,
            (780.0, 0.0),
        ),
        ("Signal", Control::Signals, SignalMode::Fixed, (0.0, -260.0)),
        (
            "Demand",
            Control::Signals,
            SignalMode::Actuated,
            (260.0, -260.0),
        ),
    ];
    for (name, control, mode, centre) in crossings {
        let centre = DVec2::from(centre);
        let first = b.scenario.network().next_road_id();
        let (x, y) = (centre.x, centre.y);
        let name = format!("{name} Street");
        b.road(&[(x - LEG, y), (x + LEG, y)], 0.0, &street(&name));
        b.road(&[(x, y - LEG), (x, y + LEG)], 0.0, &street(""));
        // Drawing the second road has cut the first, so the first road and its continuation beyond the
        // crossing have priority.
        let has_majors = matches!(control, Control::Priority | Control::Stop);
        let major = if has_majors {
            vec![first, RoadId(first.0 + 2)]
        } else {
            Vec::new()
        };
        let plan = (mode != SignalMode::Fixed).then(|| SignalPlan {
            mode,
            ..SignalPlan::default()
        });
        let rules = JunctionRules {
            control: Some(control),
            major,
            plan,
            ..JunctionRules::default()
        };
        rule(&mut b, centre, rules);
        all_to_all(&mut b, &gates(centre, LEG, 4), 65.0);
    }
    roundabout(&mut b, DVec2::new(520.0, -260.0), 16.0, 4, 65.0);
    zipper(&mut b, DVec2::new(780.0, -260.0));
    mini_roundabout(&mut b, DVec2::new(1_040.0, 0.0), 4, 65.0);
    mini_roundabout(&mut b, DVec2::new(1_040.0, -260.0), 3, 65.0);
    b.scenario
}

/// Adds a mini roundabout: streets that meet at one node, counter-clockwise from the east. If there are three
/// streets, the first is the stem of a T-junction.
fn mini_roundabout(b: &mut Builder, centre: DVec2, arms: usize, rate: f64) {
    let ends = &gates(centre, LEG, 4)[..arms];
    let style = street("Mini Street");
    for end in ends {
        b.road(&[(end.x, end.y), (centre.x, centre.y)], 0.0, &style);
    }
    let rules = JunctionRules {
        control: Some(Control::MiniRoundabout),
        ..JunctionRules::default()
    };
    rule(b, centre, rules);
    all_to_all(b, ends, rate);
}

/// Roundabouts of three sizes.
pub(crate) fn roundabouts() -> roadwright_scenario::Scenario {
    let mut b = builder(
        "roundabouts",
        "Three roundabouts, from a small one to a large one with five arms.",
    );
    roundabout(&mut b, DVec2::new(0.0, 0.0), 12.0, 4, 60.0);
    roundabout(&mut b, DVec2::new(280.0, 0.0), 18.0, 4, 90.0);
    roundabout(&mut b, DVec2::new(590.0, 0.0), 34.0, 5, 70.0);
    b.scenario
}

/// An avenue with four signalled crossings and a green wave at 50 km/h.
pub(crate) fn signal_corridor() -> roadwright_scenario::Scenario {
    let mut b = builder(
        "signal-corridor",
        "An avenue with four signalled crossings; the offsets form an eastbound green wave.",
    );
    let crossings = [0.0, 220.0, 400.0, 620.0];
    let (west, east) = (-160.0, 780.0);
    b.road(&[(west, 0.0), (east, 0.0)], 0.0, &avenue("Signal Avenue"));
    for (i, &x) in crossings.iter().enumerate() {
        let style = street(&format!(
            "{} Street",
            ["First", "Second", "Third", "Fourth"][i]
        ));
        b.road(&[(x, -LEG), (x, LEG)], 0.0, &style);
    }
    for &x in &crossings {
        // The time at which vehicles that started with the green of the first crossing arrive here at 50
        // km/h.
        let offset = (x / 13.9_f64).round();
        let rules = JunctionRules {
            control: Some(Control::Signals),
            plan: Some(SignalPlan {
                cycle: Some(70.0).into(),
                offset: offset.into(),
                ..SignalPlan::default()
            }),
            ..JunctionRules::default()
        };
        rule(&mut b, DVec2::new(x, 0.0), rules);
    }
    let (from, to) = (DVec2::new(west, 0.0), DVec2::new(east, 0.0));
    for lane in [1, 2] {
        flow(&mut b, from, lane, to, lane, 260.0);
        flow(&mut b, to, lane, from, lane, 160.0);
    }
    for &x in &crossings {
        let (south, north) = (DVec2::new(x, -LEG), DVec2::new(x, LEG));
        flow(&mut b, south, 1, north, 1, 60.0);
        flow(&mut b, north, 1, south, 1, 60.0);
    }
    b.scenario
}

/// Pedestrians: a zebra crossing in the middle of a street, zebra crossings at a junction, and signals.
pub(crate) fn crossings() -> roadwright_scenario::Scenario {
    let mut b = builder(
        "crossings",
        "People on foot: a zebra in the middle of a street, zebras at a junction, and a junction with \
         signals whose stages let them walk.",
    );
    let settings = Settings {
        pedestrians: 120.0.into(),
        ..b.scenario.settings()
    };
    b.apply(Edit::Settings(settings));
    let (west, alone, east) = (-110.0, 0.0, 340.0);
    let name = street("Zebra Street");
    b.road(&[(west, 0.0), (alone, 0.0)], 0.0, &name);
    b.road(&[(alone, 0.0), (east, 0.0)], 0.0, &name);
    let junctions = [90.0, 230.0];
    for x in junctions {
        b.road(&[(x, -LEG), (x, LEG)], 0.0, &street(""));
    }
    cross(&mut b, DVec2::new(alone, 0.0), None);
    cross(&mut b, DVec2::new(junctions[0], 0.0), None);
    cross(
        &mut b,
        DVec2::new(junctions[1], 0.0),
        Some(Control::Signals),
    );
    let mut ends = vec![DVec2::new(west, 0.0), DVec2::new(east, 0.0)];
    for x in junctions {
        ends.extend([DVec2::new(x, -LEG), DVec2::new(x, LEG)]);
    }
    all_to_all(&mut b, &ends, 30.0);
    b.scenario
}

/// Adds crossings to all arms of the junction at a place.
pub(crate) fn cross(b: &mut Builder, at: DVec2, control: Option<Control>) {
    let (id, _) = b.node_at(at);
    let roads = b.scenario.network().ends_at(id).into_iter();
    let rules = JunctionRules {
        control,
        crossings: roads.map(|(road, _)| CrossingRule::over(road)).collect(),
        ..JunctionRules::default()
    };
    rule(b, at, rules);
}

pub(crate) fn builder(name: &str, description: &str) -> Builder {
    builder_on(DrivingSide::Right, name, description)
}

/// A builder for a scenario with the given driving side.
fn builder_on(side: DrivingSide, name: &str, description: &str) -> Builder {
    let mut b = Builder::new(name, description, side);
    b.apply(Edit::Settings(Settings {
        dt: 0.05.into(),
        seed: 1,
        duration: 600.0.into(),
        dynamics: DynamicsLevel::Lane,
        ..Settings::default()
    }));
    b
}

/// Sets the control of the junction at a place.
pub(crate) fn rule(b: &mut Builder, at: DVec2, rules: JunctionRules) {
    let (id, node) = b.node_at(at);
    b.apply(Edit::Node(id, Some(Node { rules, ..node })));
}

/// The outer ends of streets around a centre.
fn gates(centre: DVec2, reach: f64, count: u32) -> Vec<DVec2> {
    (0..count)
        .map(|i| centre + unit(TAU * f64::from(i) / f64::from(count)) * reach)
        .collect()
}

/// Adds a ring with streets that lead to it, and flows between all streets.
fn roundabout(b: &mut Builder, centre: DVec2, radius: f64, arms: u32, rate: f64) {
    let ends = ring_of_streets(b, centre, radius, arms, &street(""), LEG);
    all_to_all(b, &ends, rate);
}

/// Draws a ring with streets of a given length that lead to it, and returns their outer ends.
pub(crate) fn ring_of_streets(
    b: &mut Builder,
    centre: DVec2,
    radius: f64,
    arms: u32,
    arm: &RoadStyle,
    length: f64,
) -> Vec<DVec2> {
    let ends = gates(centre, radius + length, arms);
    for &end in &ends {
        let line = ReferenceLine::straight(end, centre).expect("two points");
        b.line(&line, arm);
    }
    let ring =
        draw::roundabout(&b.scenario, centre, radius, 0).expect("streets that cross the ring");
    b.scenario.apply(ring).expect("a ring that fits");
    ends
}

/// Adds two one-way streets that merge into one.
fn zipper(b: &mut Builder, centre: DVec2) {
    let ends = [
        centre + DVec2::new(-LEG, 40.0),
        centre + DVec2::new(-LEG, -40.0),
        centre + DVec2::new(LEG, 0.0),
    ];
    let style = |name| RoadStyle {
        class: RoadClass::Residential,
        ..one_way(name, 1)
    };
    for (from, to) in [(ends[0], centre), (ends[1], centre), (centre, ends[2])] {
        let line = ReferenceLine::straight(from, to).expect("two points");
        b.line(&line, &style("Zipper Street"));
    }
    for from in [ends[0], ends[1]] {
        flow(b, from, 1, ends[2], 1, 300.0);
    }
}

/// Flows from each outer end to all others.
pub(crate) fn all_to_all(b: &mut Builder, ends: &[DVec2], rate: f64) {
    for &from in ends {
        for &to in ends.iter().filter(|&&to| to != from) {
            flow(b, from, 1, to, 1, rate);
        }
    }
}

/// Adds a flow from the outer end of one road to the outer end of another. Lanes are counted from
/// the middle.
pub(crate) fn flow(
    b: &mut Builder,
    from: DVec2,
    origin: i8,
    to: DVec2,
    destination: i8,
    rate: f64,
) {
    let flow = Flow {
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        origin: gate(b, from, origin, true),
        destination: gate(b, to, destination, false),
        rate_per_hour: rate.into(),
        begin: 0.0.into(),
        end: 540.0.into(),
    };
    b.flow(flow);
}

/// A place near the outer end of a road, on a lane towards the centre or away from it.
fn gate(b: &Builder, end: DVec2, lane: i8, inward: bool) -> Place {
    let (node, _) = b.node_at(end);
    let network = b.scenario.network();
    let (id, at) = network.ends_at(node)[0];
    let length = network.road(id).map_or(0.0, |road| road.length());
    // Lanes along the road have negative ids in right-hand traffic and positive ids in left-hand traffic.
    let is_start = at == roadwright_scenario::RoadEnd::Start;
    let along = is_start == inward;
    let on_right = b.scenario.about().driving_side == DrivingSide::Right;
    let s = if is_start { GATE } else { length - GATE };
    Place::lane(id, if along == on_right { -lane } else { lane }, s)
}
