//! Findings about agents and flows.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use crate::agents::{Agent, Place};
use crate::ids::AgentId;
use crate::lane_graph::LaneletId;
use crate::vehicle_type::VehicleType;
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::oriented_box::OrientedBox;
use std::collections::BTreeMap;

pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let mut reach = Reach::default();
    for (&id, agent) in subjects.scenario.agents() {
        let mut stops = vec![agent.start];
        stops.extend(&agent.via);
        stops.extend(agent.destination);
        if stops.len() == 1 {
            findings.push(Finding {
                severity: Severity::Error,
                code: Code::NoDestination,
                object: ObjectId::Agent(id),
                place: subjects
                    .scenario
                    .pose_of(&agent.start)
                    .map_or(DVec2::ZERO, |p| p.position),
                message: "has neither a destination nor a way-point; give it one".into(),
            });
        }
        journey(
            subjects,
            ObjectId::Agent(id),
            &agent.vehicle,
            &stops,
            &mut reach,
            findings,
        );
    }
    for (&id, flow) in subjects.scenario.flows() {
        let stops = [flow.origin, flow.destination];
        journey(
            subjects,
            ObjectId::Flow(id),
            &flow.vehicle,
            &stops,
            &mut reach,
            findings,
        );
    }
    starts(subjects, findings);
}

/// Reachable lanelets by start, so that agents from one place share a search.
type Reach = BTreeMap<(LaneletId, bool), Vec<bool>>;

/// Whether every stop exists and can be reached from the one before it.
fn journey(
    subjects: &Subjects<'_>,
    object: ObjectId,
    vehicle: &str,
    stops: &[Place],
    reach: &mut Reach,
    findings: &mut Vec<Finding>,
) {
    let mut lanelets = Vec::new();
    for stop in stops {
        let Place::Lane(at) = stop else {
            lanelets.push(None);
            continue;
        };
        let on_road = subjects
            .scenario
            .network()
            .road(at.road)
            .is_some_and(|r| at.s <= r.length());
        match subjects.graph.locate(at).filter(|_| on_road) {
            Some((lanelet, _)) => lanelets.push(Some(lanelet)),
            None => {
                findings.push(Finding {
                    severity: Severity::Error,
                    code: Code::NoSuchLane,
                    object,
                    place: subjects
                        .scenario
                        .pose_of(stop)
                        .map_or(DVec2::ZERO, |p| p.position),
                    message: format!(
                        "lane {} of {} at s = {:.1} m is not a lane that one can drive on",
                        at.lane, at.road, at.s
                    ),
                });
                return;
            }
        }
    }
    let bus = subjects
        .scenario
        .vehicle_types()
        .get(vehicle)
        .is_some_and(VehicleType::is_bus);
    for (pair, places) in lanelets.windows(2).zip(stops.windows(2)) {
        let [Some(from), Some(to)] = [pair[0], pair[1]] else {
            continue;
        };
        let seen = reach
            .entry((from, bus))
            .or_insert_with(|| subjects.graph.reachable_from(from, bus));
        // On the starting lane itself a destination behind needs a way round.
        if !seen[to as usize] || behind(subjects, places, from, to, bus) {
            findings.push(Finding {
                severity: Severity::Error,
                code: Code::UnreachableDestination,
                object,
                place: subjects
                    .scenario
                    .pose_of(&places[1])
                    .map_or(DVec2::ZERO, |p| p.position),
                message: "no way leads there from where it comes; see one-way streets, turn \
                          restrictions and bus lanes"
                    .into(),
            });
            return;
        }
    }
}

fn behind(
    subjects: &Subjects<'_>,
    places: &[Place],
    from: LaneletId,
    to: LaneletId,
    bus: bool,
) -> bool {
    let [Place::Lane(a), Place::Lane(b)] = [places[0], places[1]] else {
        return false;
    };
    let along = |at| subjects.graph.locate(at).map_or(0.0, |(_, s)| s);
    if from != to || along(&b) >= along(&a) {
        return false;
    }
    let successors = subjects.graph.successors(from);
    !successors
        .iter()
        .any(|&next| subjects.graph.reachable_from(next, bus)[to as usize])
}

/// Agents that start inside something.
fn starts(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let scenario = subjects.scenario;
    let started: Vec<(AgentId, &Agent, OrientedBox)> = scenario
        .agents()
        .iter()
        .filter_map(|(&id, agent)| {
            let vehicle = scenario.vehicle_types().get(&agent.vehicle)?;
            let pose = scenario.pose_of(&agent.start)?;
            let middle = pose.point(vehicle.body_centre(), 0.0);
            let pose = Pose {
                position: middle,
                ..pose
            };
            Some((
                id,
                agent,
                OrientedBox::new(pose, vehicle.length, vehicle.width),
            ))
        })
        .collect();
    let trees: Vec<(DVec2, f64)> = scenario
        .planted()
        .flat_map(|(_, f)| f.trees().into_iter().map(|tree| (tree, f.trunk_radius)))
        .collect();
    let mut grid = GridIndex::new();
    let positions: Vec<_> = trees.iter().map(|(p, _)| *p).collect();
    grid.rebuild(&positions, 10.0);
    let mut push = |id, code, place, message: String| {
        findings.push(Finding {
            severity: Severity::Error,
            code,
            object: ObjectId::Agent(id),
            place,
            message,
        });
    };
    for (i, (id, agent, body)) in started.iter().enumerate() {
        let hit = scenario.obstacles().iter().find(|(_, obstacle)| {
            super::obstacles::outlines_overlap(&body.corners(), &obstacle.shape.outline())
        });
        if let Some((obstacle, _)) = hit {
            let message = format!("starts inside {obstacle}; move one of them");
            push(*id, Code::AgentInObstacle, body.centre, message);
        }
        let mut in_tree = false;
        grid.for_each_within(body.centre, body.radius() + 10.0, |index, tree| {
            let radius = trees[index as usize].1;
            in_tree |= body.circle_penetration(tree, radius) > 0.0;
        });
        if in_tree {
            let message = "starts inside a tree; move it out of the forest".into();
            push(*id, Code::AgentInObstacle, body.centre, message);
        }
        let twin = started[..i].iter().find(|(_, other, other_body)| {
            other.depart == agent.depart && other_body.penetration(body) > 0.0
        });
        if let Some((other, ..)) = twin {
            let message = format!("starts where {other} starts, at the same time");
            push(*id, Code::AgentsOverlap, body.centre, message);
        }
    }
}
