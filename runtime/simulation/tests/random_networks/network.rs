//! Random networks of alleys, tight bends, roundabouts, ramps and lanes that end, for the tests in this folder and for
//! unit tests.

use super::common::{add_flow, cars, equip, vehicle};
use glam::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_geometry::{Pose, ReferenceLine, Segment};
use roadwright_scenario::check::trip_problem;
use roadwright_scenario::junction::layout;
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::*;
use std::f64::consts::{FRAC_PI_2, PI};

/// Width of lanes on which buses and cars fit side by side, m.
pub(crate) const WIDE: f64 = 3.25;
/// Angle at which a ramp meets a motorway, rad.
const RAMP_ANGLE: f64 = 0.25;
/// Length of a ramp, m.
const RAMP: f64 = 250.0;
/// Distance of origins and destinations from the ends of their streets, m.
const FROM_END: f64 = 15.0;
/// Length of side streets, m.
pub(crate) const SIDE_STREET: f64 = 70.0;

/// A place where vehicles enter and leave the network.
#[derive(Debug, Clone, Copy)]
struct Terminal {
    enters: Place,
    leaves: Place,
}

/// A network under construction. It is drawn for right-hand traffic, and mirrored for left-hand traffic.
pub(crate) struct Network {
    pub(crate) scenario: Scenario,
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
    /// Returns the style of a two-way street with lanes of the given width, m.
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

/// Returns a straight line with the given length, m.
pub(crate) fn straight(length: f64) -> Vec<Segment> {
    vec![Segment::Line { length }]
}

impl Network {
    /// Creates one of the networks of a seed, given its number.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
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

    /// Returns a random number between the two limits.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
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

    /// Returns the id of the lane that leads along a road. Lanes are counted from the middle of a
    /// two-way road, or from the left (in right-hand traffic) of a one-way road.
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

    /// Returns a pose turned to the left by an angle, rad.
    pub(crate) fn turned(pose: Pose, by: f64) -> Pose {
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

    /// Adds a side street at the end of the streets drawn so far. With `to_the_right`, it is on the
    /// right; otherwise, the side is random.
    fn side_street(&mut self, to_the_right: bool) {
        let is_right = to_the_right || self.random.next_index(2) == 0;
        let by = if is_right { -FRAC_PI_2 } else { FRAC_PI_2 };
        self.terminal(Self::turned(self.end, by));
        // The street in between keeps side streets from being adjacent.
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

    /// Adds flows that together need the fraction `load` of the capacity, and that end at the time
    /// `until`, s.
    pub(crate) fn fill(&mut self, load: f64, until: f64) {
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
