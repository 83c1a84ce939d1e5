//! Scenarios shared by several tests.
#![allow(dead_code, reason = "each test binary uses some of these")]

use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, Pose, ReferenceLine, Segment};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::*;

/// Returns the style of a residential two-way street.
pub(crate) fn street(name: &str) -> RoadStyle {
    RoadStyle {
        name: name.into(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 50.0 / 3.6,
        section: CrossSection::driving(1, 1, 3.25),
    }
}

/// Draws a straight road.
pub(crate) fn draw(
    scenario: &mut Scenario,
    from: impl Into<DVec2>,
    to: impl Into<DVec2>,
    style: &RoadStyle,
) {
    let line = ReferenceLine::straight(from.into(), to.into()).unwrap();
    let edit = draw::road(scenario, &line, style).unwrap();
    scenario.apply(edit).unwrap();
}

/// Disconnects one lane from another, so that it ends there. Each lane is given by the id of its
/// road and its own id.
pub(crate) fn end_lane(
    scenario: &mut Scenario,
    from_road: u32,
    from_lane: i8,
    to_road: u32,
    to_lane: i8,
) {
    let on = |road: u32, lane: i8| RoadLane {
        road: RoadId(road),
        lane,
    };
    let network = scenario.network();
    let end = network.road(RoadId(from_road)).unwrap().to;
    let mut node = network.node(end).unwrap().clone();
    node.rules.turns.remove(LaneTurn {
        from: on(from_road, from_lane),
        to: on(to_road, to_lane),
    });
    scenario.apply(Edit::Node(end, Some(node))).unwrap();
}

/// Creates two streets that cross in the middle.
pub(crate) fn crossroads() -> Scenario {
    let mut scenario = Scenario::new("crossroads");
    draw(
        &mut scenario,
        (-100.0, 0.0),
        (100.0, 0.0),
        &street("East Street"),
    );
    draw(
        &mut scenario,
        (0.0, -100.0),
        (0.0, 100.0),
        &street("North Street"),
    );
    scenario
}

/// Creates an agent that drives straight across the crossroads from the west end to the east end.
pub(crate) fn west_to_east() -> Agent {
    Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        start: Place::lane(RoadId(1), -1, 5.0),
        via: vec![],
        destination: Some(Place::lane(RoadId(4), -1, 80.0)),
        depart: 0.0.into(),
        repeat: None.into(),
        speed: 0.0.into(),
    }
}

/// Creates a pond of 20 m by 20 m with an island of 4 m by 4 m.
pub(crate) fn pond_at(x: f64, y: f64) -> Land {
    let ring = |half: f64| {
        let corners = [(-half, -half), (half, -half), (half, half), (-half, half)];
        corners.map(|(u, v)| DVec2::new(x + u, y + v)).to_vec()
    };
    Land {
        name: "pond".into(),
        usage: LandUse::Water,
        outline: ring(10.0).into(),
        holes: vec![ring(2.0)].into(),
    }
}

/// Creates an obstacle of 2 m by 2 m.
pub(crate) fn crate_at(x: f64, y: f64) -> Obstacle {
    Obstacle {
        name: "crate".into(),
        shape: Shape::Box {
            x: x.into(),
            y: y.into(),
            heading: 0.3.into(),
            length: 2.0.into(),
            width: 2.0.into(),
        },
        base: 0.0.into(),
        height: 1.0.into(),
        mass: Some(80.0).into(),
    }
}

/// Flows of cars from each end of the map to every other end. `rate_per_hour` is the number of cars
/// on each route. Origins and destinations are at the given distance from the ends, m. In
/// right-hand traffic, they are on the innermost lanes.
pub(crate) fn flows_between_ends(
    scenario: &Scenario,
    from_end: f64,
    rate_per_hour: f64,
) -> Vec<Flow> {
    let network = scenario.network();
    // Each road that leads off the map, with the end at which it does so.
    let roads: Vec<(RoadId, RoadEnd)> = network
        .roads()
        .map(|(id, road)| {
            let is_outer = network.ends_at(road.from).len() == 1;
            (
                id,
                if is_outer {
                    RoadEnd::Start
                } else {
                    RoadEnd::End
                },
            )
        })
        .collect();
    let gate = |(id, end): (RoadId, RoadEnd), inward: bool| {
        let length = network.road(id).unwrap().length();
        let is_start = end == RoadEnd::Start;
        let s = if is_start {
            from_end
        } else {
            length - from_end
        };
        Place::lane(id, if is_start == inward { -1 } else { 1 }, s)
    };
    let mut flows = Vec::new();
    for &from in &roads {
        for &to in roads.iter().filter(|to| to.0 != from.0) {
            flows.push(Flow {
                vehicle: "car".into(),
                stack: "idm".into(),
                origin: gate(from, true),
                destination: gate(to, false),
                rate_per_hour: rate_per_hour.into(),
                begin: 0.0.into(),
                end: 1e6.into(),
                dynamics: None,
            });
        }
    }
    flows
}

/// An arm of a junction, which is a road that begins or ends there.
#[derive(Debug, Clone)]
pub(crate) struct Leg {
    /// Bearing from the junction, rad.
    pub(crate) bearing: f64,
    /// Curvature of the road as it leaves the junction, 1/m, positive to the left.
    pub(crate) curvature: f64,
    pub(crate) style: RoadStyle,
    /// Whether the road is drawn towards the junction.
    pub(crate) inward: bool,
}

/// Roads of 150 m that meet at one point.
#[derive(Debug, Clone)]
pub(crate) struct Star {
    pub(crate) side: DrivingSide,
    pub(crate) legs: Vec<Leg>,
}

/// Length of an arm, m.
const LEG: f64 = 150.0;

impl Star {
    /// Creates a star with 2 to 9 arms that are `least_gap` to 355 degrees apart and 3 to 30 m
    /// wide, drawn towards the junction or away from it. If all arms are at least 40 degrees apart,
    /// a third of them are bent.
    pub(crate) fn random(random: &mut Stream, least_gap: f64) -> Self {
        let side = [DrivingSide::Right, DrivingSide::Left][random.next_index(2)];
        let wanted = 2 + random.next_index(8);
        let mut bearings: Vec<f64> = Vec::new();
        for _ in 0..400 {
            let bearing = random.next_in(0.0, 360.0);
            let apart = |other: &f64, least: f64| {
                let turn = (bearing - other).rem_euclid(360.0);
                (least..=360.0 - least).contains(&turn)
            };
            if bearings.len() < wanted && bearings.iter().all(|other| apart(other, least_gap)) {
                bearings.push(bearing);
            }
        }
        let gap = |a: f64, b: f64| {
            let turn = (a - b).rem_euclid(360.0);
            turn.min(360.0 - turn)
        };
        let pairs = |a: usize| bearings[..a].iter().map(move |&b| (a, b));
        let is_wide = (0..bearings.len())
            .flat_map(pairs)
            .all(|(a, b)| gap(bearings[a], b) >= 40.0);
        let leg = |&bearing: &f64, random: &mut Stream| {
            let width = random.next_in(2.75, 3.75_f64).max(3.0);
            let lanes = [(1, 0), (1, 1), (1, 1), (2, 2), (2, 1), (3, 3), (4, 4)];
            let (forward, backward) = lanes[random.next_index(lanes.len())];
            let classes = [RoadClass::Residential, RoadClass::Arterial];
            let bend = random.next_in(-1.0, 1.0) / 200.0;
            let is_bent = is_wide && random.next_index(3) == 0;
            Leg {
                bearing: bearing.to_radians(),
                curvature: if is_bent { bend } else { 0.0 },
                style: RoadStyle {
                    name: String::new(),
                    class: classes[random.next_index(2)],
                    layer: 0,
                    speed_limit: 13.9,
                    section: CrossSection::driving(forward, backward, width),
                },
                inward: random.next_index(2) == 0,
            }
        };
        let legs = bearings
            .iter()
            .map(|bearing| leg(bearing, random))
            .collect();
        Self { side, legs }
    }

    /// Returns a scenario with the star centred at a point and rotated by an angle, with its arms
    /// drawn in the given order, and the roads in the order of the arms.
    pub(crate) fn scenario(
        &self,
        at: DVec2,
        turn: f64,
        order: &[usize],
    ) -> (Scenario, Vec<RoadId>) {
        let mut scenario = Scenario::new("star");
        let about = About {
            driving_side: self.side,
            ..About::default()
        };
        scenario.apply(Edit::About(Box::new(about))).unwrap();
        let mut roads = vec![RoadId(0); self.legs.len()];
        for &number in order {
            let leg = &self.legs[number];
            let start = Pose {
                position: at,
                heading: leg.bearing + turn,
            };
            let segment = match leg.curvature == 0.0 {
                true => Segment::Line { length: LEG },
                false => Segment::Arc {
                    length: LEG,
                    curvature: leg.curvature,
                },
            };
            let line = ReferenceLine::new(start, vec![segment]).unwrap();
            let line = if leg.inward { line.reversed() } else { line };
            let edit = draw::road(&scenario, &line, &leg.style).unwrap();
            scenario.apply(edit).unwrap();
            let last = scenario.network().roads().map(|(id, _)| id).max();
            roads[number] = last.unwrap();
        }
        (scenario, roads)
    }

    /// Returns the star at the origin, without rotation.
    pub(crate) fn plain(&self) -> (Scenario, Vec<RoadId>) {
        let order: Vec<usize> = (0..self.legs.len()).collect();
        self.scenario(DVec2::ZERO, 0.0, &order)
    }
}

/// Applies an edit, and checks that its inverse restores the scenario.
pub(crate) fn applied(scenario: &Scenario, edit: Edit) -> Scenario {
    let mut changed = scenario.clone();
    let undo = changed.apply(edit).unwrap();
    let mut back = changed.clone();
    back.apply(undo).unwrap();
    assert!(back == *scenario, "undo restores the scenario");
    changed
}
