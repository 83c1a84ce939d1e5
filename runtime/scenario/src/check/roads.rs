//! Findings about roads and junctions.

use super::{Code, Finding, ObjectId, Severity, Subjects, kinks};
use crate::access::LaneAccess;
use crate::alleys::{Alleys, Passing};
use crate::ids::RoadId;
use crate::junction::{Flag, Junction, LaneEnd, MAX_CONNECTIONS, MAX_LANES};
use crate::lane_graph::LaneletIndex;
use crate::restriction::TimedRestriction;
use crate::road::{Road, RoadEnd};
use glam::DVec2;
use roadwright_geometry::polygon;
use std::collections::{BTreeMap, BTreeSet};

/// Largest permitted gap between the line of a road and its node, m.
const MAX_GAP: f64 = 0.01;

pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    for (id, road) in subjects.scenario.network().roads() {
        joint_gaps(subjects, id, road, findings);
        kinks::check(id, road, findings);
        self_intersection(id, road, findings);
    }
    left_out(subjects, findings);
    restrictions(subjects, findings);
    for junction in &subjects.layout.junctions {
        flags(subjects, junction, findings);
    }
    impossible_turns(subjects, findings);
    narrow_roads(subjects, findings);
}

/// Finds roads that are too narrow for two vehicles to pass each other, and roads that are too
/// narrow for buses.
fn narrow_roads(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let (graph, network) = (subjects.graph, subjects.scenario.network());
    let mut tell = |lanelet: LaneletIndex, at: f64, code: Code, message: String| {
        let Some(road) = graph.lanelet(lanelet).road() else {
            return;
        };
        if network.road(road).is_some() {
            findings.push(Finding {
                severity: Severity::Warning,
                code,
                object: ObjectId::Road(road),
                place: graph.line(lanelet).position(at),
                message,
            });
        }
    };
    let has_wide = subjects.scenario.has_wide_vehicles();
    for alley in Alleys::of(graph, has_wide).list() {
        let [direction, _] = alley.directions;
        let lanelet = graph.lanelet(direction.lanelet);
        let (from, to) = (lanelet.road_s(direction.from), lanelet.road_s(direction.to));
        let who = match alley.passing {
            Passing::Nobody => "two cars",
            Passing::Cars => "a bus and a car",
            Passing::NotTwoLong => "two buses",
        };
        let message = format!(
            "{who} do not fit side by side from {from:.0} to {to:.0} m: the centres of its lanes are \
             {:.2} m apart and should be {:.2} m apart; vehicles take turns there",
            alley.distance, alley.wanted
        );
        tell(
            direction.lanelet,
            0.5 * (direction.from + direction.to),
            Code::Alley,
            message,
        );
    }
    let mut told = BTreeSet::new();
    for (id, lanelet) in graph.numbered() {
        if lanelet.access == LaneAccess::Cars && told.insert(lanelet.road()) {
            let message = format!(
                "is not used by buses: its lanes are {:.2} m wide, and a bus is 2.55 m wide",
                lanelet.width
            );
            tell(id, 0.5 * lanelet.length(), Code::NoBuses, message);
        }
    }
}

/// Reports the first road that is left out because the total length of all lanes would be too
/// large.
fn left_out(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let network = subjects.scenario.network();
    let Some((id, road)) = subjects
        .graph
        .left_out()
        .and_then(|id| Some((id, network.road(id)?)))
    else {
        return;
    };
    findings.push(Finding {
        severity: Severity::Error,
        code: Code::TooMuch,
        object: ObjectId::Road(id),
        place: road.reference_line.start().position,
        message: format!(
            "is {:.0} km long, so the lanes exceed 20,000 km or ten million points in total; \
             the scenario cannot run",
            road.length() / 1e3
        ),
    });
}

fn joint_gaps(subjects: &Subjects<'_>, id: RoadId, road: &Road, findings: &mut Vec<Finding>) {
    let line = &road.reference_line;
    for (end, pose) in [(RoadEnd::Start, line.start()), (RoadEnd::End, line.end())] {
        let node_id = road.node_at(end);
        let Some(node) = subjects.scenario.network().node(node_id) else {
            continue;
        };
        let gap = (node.position() - pose.position).length();
        if gap > MAX_GAP {
            findings.push(Finding {
                severity: Severity::Error,
                code: Code::JointGap,
                object: ObjectId::Road(id),
                place: pose.position,
                message: format!("ends {gap:.3} m away from {node_id}; move the end onto it"),
            });
        }
    }
}

fn self_intersection(id: RoadId, road: &Road, findings: &mut Vec<Finding>) {
    let points = road.reference_line.sample(0.05, 0.0);
    if let Some(place) = first_self_crossing(&points) {
        findings.push(Finding {
            severity: Severity::Warning,
            code: Code::SelfIntersection,
            object: ObjectId::Road(id),
            place,
            message: "crosses itself; split it there or move one part to another layer".into(),
        });
    }
}

/// Returns the first point where a polyline crosses itself; `None` if it does not. The point is
/// found with a grid whose cell size depends on the mean length of the segments.
fn first_self_crossing(points: &[DVec2]) -> Option<DVec2> {
    if points.len() < 4 {
        return None;
    }
    let length: f64 = points.windows(2).map(|p| (p[1] - p[0]).length()).sum();
    // With about two segments per cell, there are few pairs to compare and few cells to visit.
    let cell = (2.0 * length / (points.len() - 1) as f64).max(1.0);
    let key = |p: DVec2| ((p.x / cell).floor() as i64, (p.y / cell).floor() as i64);
    let mut cells: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
    for i in 0..points.len() - 1 {
        let (a, b) = (points[i], points[i + 1]);
        // Long chords are entered in pieces, because entering a whole chord would fill all cells of
        // its bounding box.
        let pieces = ((b - a).length() / cell).ceil().max(1.0) as usize;
        for piece in 0..pieces {
            let place = |k: usize| a.lerp(b, k as f64 / pieces as f64);
            let (from, to) = (place(piece), place(piece + 1));
            let (low, high) = (key(from.min(to)), key(from.max(to)));
            for x in low.0..=high.0 {
                for y in low.1..=high.1 {
                    let list = cells.entry((x, y)).or_default();
                    for &j in list.iter() {
                        // A loop road ends where it starts. This does not count as a crossing.
                        let closes = j == 0 && i + 2 == points.len() && points[0] == b;
                        let crosses = || polygon::segments_cross(points[j], points[j + 1], a, b);
                        if j + 1 < i && !closes && crosses() {
                            return Some(0.5 * (a + b));
                        }
                    }
                    if list.last() != Some(&i) {
                        list.push(i);
                    }
                }
            }
        }
    }
    None
}

fn restrictions(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let network = subjects.scenario.network();
    for (id, node) in network.nodes() {
        let roads: Vec<_> = network
            .ends_at(id)
            .into_iter()
            .map(|(road, _)| road)
            .collect();
        for crossing in &node.rules.crossings {
            if !roads.contains(&crossing.road) {
                let road = crossing.road;
                findings.push(Finding {
                    severity: Severity::Warning,
                    code: Code::DanglingCrossing,
                    object: ObjectId::Node(id),
                    place: node.position(),
                    message: format!("a crossing refers to {road}, which does not end here"),
                });
            }
        }
        let dangling = |message: String| Finding {
            severity: Severity::Warning,
            code: Code::DanglingRestriction,
            object: ObjectId::Node(id),
            place: node.position(),
            message,
        };
        let timed = || node.rules.timed_restrictions.iter();
        let timed_via = timed().filter_map(TimedRestriction::via_roads);
        let via = node.rules.via_restrictions.iter().cloned();
        for rule in via.chain(timed_via) {
            if rule.roads(network, id).is_none() {
                let (from, to) = (rule.from, rule.to);
                findings.push(dangling(format!(
                    "the roads of the via restriction from {from} to {to} are not connected"
                )));
            }
        }
        let timed = timed().filter_map(TimedRestriction::at_node);
        for restriction in node.rules.restrictions.iter().copied().chain(timed) {
            for road in [restriction.from, restriction.to] {
                if !roads.contains(&road) {
                    findings.push(dangling(format!(
                        "a turn restriction refers to {road}, which does not end here"
                    )));
                }
            }
        }
    }
}

fn flags(subjects: &Subjects<'_>, junction: &Junction, findings: &mut Vec<Finding>) {
    let node = ObjectId::Node(junction.nodes[0]);
    let mut squeezed = BTreeSet::new();
    for flag in &junction.flags() {
        let (code, object, place, message) = match *flag {
            Flag::Degraded => (
                Code::JunctionDegraded,
                node,
                junction.centre,
                "the arms of the junction overlap so much that only a rough outline could be built".to_owned(),
            ),
            // The ring of a roundabout is never absorbed, however short the roads between its arms
            // are.
            Flag::Squeezed(road) if subjects.layout.rings.contains(&road) => continue,
            Flag::Squeezed(road) if squeezed.insert(road) => (
                Code::RoadSqueezed,
                ObjectId::Road(road),
                place_of(subjects, road, None).unwrap_or(junction.centre),
                "too short for the junctions at its ends; lengthen it or merge them".to_owned(),
            ),
            Flag::Squeezed(_) => continue,
            Flag::NoExit(at) => (
                Code::LaneWithoutSuccessor,
                ObjectId::Road(at.road),
                place_of(subjects, at.road, Some(at)).unwrap_or(junction.centre),
                format!(
                    "lane {} enters a junction but has no exit from it",
                    at.lane
                ),
            ),
            Flag::NoRoomForRing => (
                Code::NoRoomForRing,
                node,
                junction.centre,
                "too little room for a mini roundabout, or more than two lanes in one direction, \
                 so vehicles cross as at an ordinary junction; lengthen the roads that meet, or choose another control"
                    .to_owned(),
            ),
            Flag::NoRoomForCrossing(road) => (
                Code::NoRoomForCrossing,
                node,
                junction.centre,
                format!(
                    "{road} is too short for a crossing here, so the crossing is not built; \
                     lengthen the road, or remove the crossing"
                ),
            ),
            Flag::NoSuchTurn(at, turn) => (
                Code::ArrowToNowhere,
                ObjectId::Road(at.road),
                place_of(subjects, at.road, Some(at)).unwrap_or(junction.centre),
                format!(
                    "an arrow of lane {} shows the turn {}, which the junction does not offer; the \
                     other arrows apply, or the turning rules if there are none",
                    at.lane,
                    turn.name()
                ),
            ),
            Flag::TooManyLanes => (
                Code::TooMuch,
                node,
                junction.centre,
                format!(
                    "more than {MAX_LANES} lanes meet here, or their connections are longer than \
                     {} km in total, so none are built; let fewer roads meet, or give them fewer \
                     lanes",
                    MAX_CONNECTIONS / 1000.0
                ),
            ),
            Flag::NoCurve(from, to) => (
                Code::ImpossibleTurn,
                node,
                junction.centre,
                format!(
                    "no curve that a car can drive leads from {} lane {} into {} lane {}",
                    from.road, from.lane, to.road, to.lane
                ),
            ),
        };
        findings.push(Finding {
            severity: Severity::Warning,
            code,
            object,
            place,
            message,
        });
    }
}

fn place_of(subjects: &Subjects<'_>, road: RoadId, at: Option<LaneEnd>) -> Option<DVec2> {
    let road = subjects.scenario.network().road(road)?;
    let s = match at.map(|lane| lane.end) {
        None => 0.5 * road.length(),
        Some(RoadEnd::Start) => 0.0,
        Some(RoadEnd::End) => road.length(),
    };
    Some(road.reference_line.pose(s).position)
}

/// Finds paths that are too tight for even the most agile vehicle in use.
fn impossible_turns(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let scenario = subjects.scenario;
    let agents = scenario.agents().values().map(|agent| &agent.vehicle);
    let used = agents.chain(scenario.flows().values().map(|flow| &flow.vehicle));
    let radii = used.filter_map(|key| scenario.vehicle_types().get(key));
    // Without vehicles, no path is too tight.
    let Some(tightest) = radii.map(|v| v.min_turning_radius()).min_by(f64::total_cmp) else {
        return;
    };
    for junction in &subjects.layout.junctions {
        for path in junction
            .paths
            .iter()
            // A path may be up to a quarter tighter than the turning radius. A stricter limit would
            // report too many turns.
            .filter(|path| path.min_radius() < 0.75 * tightest)
        {
            findings.push(Finding {
                severity: Severity::Warning,
                code: Code::ImpossibleTurn,
                object: ObjectId::Node(junction.nodes[0]),
                place: junction.centre,
                message: format!(
                    "the connection from {} lane {} to {} lane {} has a radius of {:.1} m; the most agile \
                     vehicle in use needs {tightest:.1} m and will leave its lane",
                    path.from.road,
                    path.from.lane,
                    path.to.road,
                    path.to.lane,
                    path.min_radius()
                ),
            });
        }
    }
}
