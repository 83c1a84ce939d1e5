//! Findings about agents and flows.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use crate::access::VehicleClass;
use crate::agents::{Agent, LanePlace, Place};
use crate::alleys::{AlleyDirection, Alleys};
use crate::edit::Edit;
use crate::ids::{AgentId, ObstacleId, RoadId};
use crate::junction::{Body, Layout};
use crate::lane_graph::{LaneGraph, LaneletIndex, ROOM_TO_CHANGE, Reachability};
use crate::objects::Obstacle;
use crate::off_road::OffRoad;
use crate::scenario::Scenario;
use crate::vehicle_type::VehicleType;
use glam::DVec2;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{Pose, heading_of};
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
                place: position_of(subjects, &agent.start),
                message: "has neither a destination nor a waypoint; add one of them".into(),
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
    facing(subjects, findings);
    straight_trips(subjects, findings);
    changed_files(subjects, findings);
    wrong_levels(subjects, findings);
}

/// Reports agents and flows whose own level of dynamics cannot move their bodies.
fn wrong_levels(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let scenario = subjects.scenario;
    let agents = scenario.agents().iter().map(|(&id, agent)| {
        let object = ObjectId::Agent(id);
        (object, &agent.vehicle, agent.dynamics, agent.start)
    });
    let flows = scenario.flows().iter().map(|(&id, flow)| {
        let object = ObjectId::Flow(id);
        (object, &flow.vehicle, flow.dynamics, flow.origin)
    });
    for (object, vehicle, level, start) in agents.chain(flows) {
        let kind = scenario.vehicle_types().get(vehicle);
        let Some(reason) = kind
            .zip(level)
            .and_then(|(kind, level)| kind.refusal(level))
        else {
            continue;
        };
        findings.push(Finding {
            severity: Severity::Error,
            code: Code::WrongLevel,
            object,
            place: position_of(subjects, &start),
            message: format!("cannot use vehicle type \"{vehicle}\": {reason}"),
        });
    }
}

/// Finds trips over open ground that lead straight into an obstacle or a tree because their stack
/// does not steer around it. Each trip is reported once. Legs from or to a lane are not checked.
fn straight_trips(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let scenario = subjects.scenario;
    let is_blind = |stack: &String| {
        let stack = scenario.stacks().get(stack);
        stack.is_some_and(|stack| !stack.steers_around_obstacles())
    };
    let agents = scenario.agents().iter();
    let agents = agents.filter(|(_, agent)| is_blind(&agent.stack));
    let agents = agents.map(|(&id, agent)| {
        let stops: Vec<Place> = agent.places().copied().collect();
        (ObjectId::Agent(id), &agent.vehicle, &agent.stack, stops)
    });
    let flows = scenario.flows().iter();
    let flows = flows.filter(|(_, flow)| is_blind(&flow.stack));
    let flows = flows.map(|(&id, flow)| {
        let stops = vec![flow.origin, flow.destination];
        (ObjectId::Flow(id), &flow.vehicle, &flow.stack, stops)
    });
    let trips: Vec<_> = agents.chain(flows).collect();
    if trips.is_empty() {
        return;
    }
    let (obstacles, trees) = (Obstacles::new(scenario), Trees::new(scenario));
    for (object, vehicle, stack, stops) in trips {
        let Some(vehicle) = scenario.vehicle_types().get(vehicle) else {
            continue;
        };
        let hit = stops.windows(2).find_map(|leg| {
            let path = straight_path(subjects, leg, vehicle)?;
            let near = obstacles.near(&path).into_iter();
            let mut met = near.filter(|(_, obstacle)| {
                obstacle.vertical_span().is_met_by(vehicle.vertical_span())
                    && super::obstacles::outlines_overlap(
                        &path.corners(),
                        &obstacle.shape.outline(),
                        super::obstacles::TOUCHING,
                    )
            });
            let obstacle = met.next().map(|(id, _)| id.to_string());
            obstacle.or_else(|| trees.touch(&path).then(|| "a tree".to_owned()))
        });
        if let Some(hit) = hit {
            findings.push(Finding {
                severity: Severity::Warning,
                code: Code::StraightIntoObstacle,
                object,
                place: position_of(subjects, &stops[0]),
                message: format!(
                    "heads straight into {hit}, because the ground planner of its stack \"{stack}\" is \
                     `straight`; choose another stack or ground planner"
                ),
            });
        }
    }
}

/// Returns the area that a vehicle covers while driving a leg in a straight line; `None` if the leg
/// begins or ends on a lane.
fn straight_path(
    subjects: &Subjects<'_>,
    leg: &[Place],
    vehicle: &VehicleType,
) -> Option<OrientedBox> {
    let [from @ Place::Ground(_), to @ Place::Ground(_)] = leg else {
        return None;
    };
    let (from, to) = (position_of(subjects, from), position_of(subjects, to));
    let middle = Pose {
        position: 0.5 * (from + to),
        heading: heading_of(to - from),
    };
    let length = (to - from).length();
    Some(OrientedBox::new(middle, length, vehicle.width.get()))
}

/// Reports vehicle types whose files have changed since the scenario was saved. Each type is reported at the
/// first agent or flow that uses it.
fn changed_files(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let scenario = subjects.scenario;
    for (key, kind) in scenario.vehicle_types() {
        let changed = kind.file.as_ref().filter(|file| file.was.is_some());
        let Some(file) = changed else { continue };
        let agents = scenario.agents().iter();
        let agent = agents
            .map(|(&id, agent)| (ObjectId::Agent(id), &agent.vehicle, agent.start))
            .find(|(_, vehicle, _)| *vehicle == key);
        let flows = scenario.flows().iter();
        let mut flows = flows.map(|(&id, flow)| (ObjectId::Flow(id), &flow.vehicle, flow.origin));
        let user = agent.or_else(|| flows.find(|(_, vehicle, _)| *vehicle == key));
        let Some((object, _, start)) = user else {
            continue;
        };
        findings.push(Finding {
            severity: Severity::Warning,
            code: Code::VehicleFileChanged,
            object,
            place: position_of(subjects, &start),
            message: format!(
                "uses vehicle type \"{key}\", whose file {} has changed since the scenario was \
                 saved; save the scenario to keep the new version",
                file.path
            ),
        });
    }
}

/// Returns the reason why a vehicle cannot drive from one stop to the next on lanes, as `check` reports it; `None`
/// if it can. Legs over open ground are not searched.
pub fn trip_problem(
    scenario: &Scenario,
    graph: &LaneGraph,
    vehicle: &str,
    stops: &[Place],
) -> Option<String> {
    let subjects = Subjects {
        scenario,
        // Trips depend only on the lanes.
        layout: &Layout::default(),
        graph,
    };
    let mut findings = Vec::new();
    // The message does not name the object.
    let object = ObjectId::Agent(scenario.next_agent_id());
    let mut reach = Reach::default();
    journey(&subjects, object, vehicle, stops, &mut reach, &mut findings);
    findings.pop().map(|finding| finding.message)
}

/// For each vehicle class, the lanes that its vehicles can reach.
type Reach<'a> = BTreeMap<VehicleClass, Reachability<'a>>;

/// Returns the position of a place, m; the origin if the lane of the place does not exist.
fn position_of(subjects: &Subjects<'_>, place: &Place) -> DVec2 {
    let pose = subjects.scenario.pose_of(place);
    pose.map_or(DVec2::ZERO, |pose| pose.position)
}

/// Checks that every stop exists and can be reached from the previous one. Reports only the first
/// problem, because later ones usually follow from it.
fn journey<'a>(
    subjects: &Subjects<'a>,
    object: ObjectId,
    vehicle: &str,
    stops: &[Place],
    reach: &mut Reach<'a>,
    findings: &mut Vec<Finding>,
) {
    let mut push = |code, place: &Place, message: String| {
        findings.push(Finding {
            severity: Severity::Error,
            code,
            object,
            place: position_of(subjects, place),
            message,
        });
    };
    let mut lanelets = Vec::new();
    for stop in stops {
        match lanelet_of(subjects, stop) {
            Ok(found) => lanelets.push(found),
            Err(message) => return push(Code::NoSuchLane, stop, message),
        }
    }
    let kind = subjects.scenario.vehicle_types().get(vehicle);
    let class = kind.map(VehicleType::class).unwrap_or_default();
    // If no lanes lead to the next stop, such vehicles drive over open ground. Another check covers
    // this case.
    let leaves_lanes = kind.is_some_and(|kind| kind.off_road == OffRoad::Free);
    for (leg, (pair, places)) in lanelets.windows(2).zip(stops.windows(2)).enumerate() {
        // Open ground has no lanes to check.
        let [Some((from, s)), Some((to, to_s))] = [pair[0], pair[1]] else {
            continue;
        };
        if !subjects.graph.lanelet(to).road_access.admits_goals() {
            let message = "lies on a road with access `no`, which is closed to all traffic; open the road \
                           or choose another place";
            return push(Code::ClosedRoad, &places[1], message.into());
        }
        let graph = subjects.graph;
        if leaves_lanes {
            continue;
        }
        // Only at the start of the trip does the vehicle start from standstill.
        let is_at_end = leg == 0 && graph.lanelet(from).length() - s < ROOM_TO_CHANGE;
        let reach = reach
            .entry(class)
            .or_insert_with(|| Reachability::new(graph, class));
        let leads = match is_at_end {
            true => reach.leads_straight_on(from, to),
            false => reach.leads(from, to),
        };
        if is_at_end && !leads && reach.leads(from, to) {
            let message = "no route leads there from its start, which is so close to the end of \
             its lane that it cannot change lanes; move the start back";
            return push(Code::UnreachableDestination, &places[0], message.into());
        }
        // If the destination is behind the start on the same lane, a route that returns to this
        // lane is needed.
        if !leads || (from == to && to_s < s && !reach.leads_round(from)) {
            if let Some(lanes) = OtherLanes::of(subjects, reach, stops, leg) {
                let place = match lanes.from {
                    Some(_) => &places[0],
                    None => &places[1],
                };
                return push(Code::WrongLane, place, lanes.message(places));
            }
            let message = "no route leads there from the previous stop; check one-way streets, turn \
                           restrictions, bus lanes and roads that are closed to through traffic";
            return push(Code::UnreachableDestination, &places[1], message.into());
        }
    }
}

/// Alternative lanes for the ends of a leg that make the leg possible.
struct OtherLanes {
    /// New start of the leg, if it has to be on another lane.
    from: Option<LanePlace>,
    /// New end of the leg, if it has to be on another lane.
    to: Option<LanePlace>,
}

impl OtherLanes {
    /// Finds lanes of the same roads, nearest first, that make a leg of a trip and its neighbouring
    /// legs possible; `None` if there are none.
    fn of(
        subjects: &Subjects<'_>,
        reach: &mut Reachability<'_>,
        stops: &[Place],
        leg: usize,
    ) -> Option<Self> {
        let (from, to) = (stops.get(leg)?, stops.get(leg + 1)?);
        let (starts, ends) = (
            beside(subjects, from, reach.class()),
            beside(subjects, to, reach.class()),
        );
        let only_from = starts.iter().map(|&from| Self {
            from: Some(from),
            to: None,
        });
        let only_to = ends.iter().map(|&to| Self {
            from: None,
            to: Some(to),
        });
        let pairs = starts.iter().flat_map(|&from| {
            ends.iter().map(move |&to| Self {
                from: Some(from),
                to: Some(to),
            })
        });
        let mut all = only_from.chain(only_to).chain(pairs);
        all.find(|lanes| {
            let stops = lanes.applied(stops, leg);
            let first = leg.saturating_sub(1);
            (first..=leg + 1)
                .all(|leg| leg + 1 >= stops.len() || leads(subjects, reach, &stops, leg))
        })
    }

    /// Returns the stops of the trip, with the ends of `leg` moved to these lanes.
    fn applied(&self, stops: &[Place], leg: usize) -> Vec<Place> {
        let mut stops = stops.to_vec();
        if let Some(from) = self.from {
            stops[leg] = Place::Lane(from);
        }
        if let Some(to) = self.to {
            stops[leg + 1] = Place::Lane(to);
        }
        stops
    }

    fn message(&self, places: &[Place]) -> String {
        let lane = |place: &Place| match place {
            Place::Lane(at) => format!("lane {} of {}", at.lane, at.road),
            Place::Ground(_) => "the ground".into(),
        };
        let start = self.from.map(|from| {
            format!(
                "{} leads away from the destination; start on lane {} there",
                lane(&places[0]),
                from.lane
            )
        });
        let end = self.to.map(|to| {
            format!(
                "no route leads to {}; end on lane {} there",
                lane(&places[1]),
                to.lane
            )
        });
        let parts: Vec<String> = start.into_iter().chain(end).collect();
        parts.join(". In addition, ")
    }
}

/// Returns the places on other lanes of the road that are alongside `place` and that vehicles of a
/// class may use, nearest lane first.
fn beside(subjects: &Subjects<'_>, place: &Place, class: VehicleClass) -> Vec<LanePlace> {
    match place {
        Place::Lane(at) => lanes_beside(subjects.scenario, subjects.graph, at, class),
        Place::Ground(_) => Vec::new(),
    }
}

/// Returns the places on other lanes of a road that are alongside a place and that vehicles of a
/// class may use, nearest lane first. Empty if the road or the lane does not exist.
pub fn lanes_beside(
    scenario: &Scenario,
    graph: &LaneGraph,
    at: &LanePlace,
    class: VehicleClass,
) -> Vec<LanePlace> {
    let Some(road) = scenario.network().road(at.road) else {
        return Vec::new();
    };
    let centre = |lane: i8| road.lane_band(lane, at.s.get()).map(|band| band.centre);
    let Some(own) = centre(at.lane) else {
        return Vec::new();
    };
    let lanes = road.section_at(at.s.get()).lanes.iter();
    let others = lanes.filter(|lane| lane.id != at.lane && lane.kind.is_drivable());
    let places = others.filter_map(|lane| {
        let place = LanePlace {
            lane: lane.id,
            ..*at
        };
        let (lanelet, _) = graph.locate(&place)?;
        let is_open = graph.lanelet(lanelet).access.admits(class);
        is_open.then_some(((centre(lane.id)? - own).abs(), place))
    });
    let mut places: Vec<(f64, LanePlace)> = places.collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.lane.cmp(&b.1.lane)));
    places.into_iter().map(|(_, place)| place).collect()
}

/// Whether a route exists for a leg of a trip. Legs from or to open ground are not searched.
fn leads(
    subjects: &Subjects<'_>,
    reach: &mut Reachability<'_>,
    stops: &[Place],
    leg: usize,
) -> bool {
    let spot = |place: &Place| lanelet_of(subjects, place);
    let (Ok(from), Ok(to)) = (spot(&stops[leg]), spot(&stops[leg + 1])) else {
        return false;
    };
    let (Some((from, s)), Some((to, to_s))) = (from, to) else {
        return true;
    };
    let graph = subjects.graph;
    let is_at_end = leg == 0 && graph.lanelet(from).length() - s < ROOM_TO_CHANGE;
    let leads = match is_at_end {
        true => reach.leads_straight_on(from, to),
        false => reach.leads(from, to),
    };
    leads && (from != to || to_s >= s || reach.leads_round(from))
}

/// Returns the edit that makes the trip of an agent or flow possible by moving its places to other
/// lanes; `None` if no other lanes help.
pub(super) fn on_other_lanes(subjects: &Subjects<'_>, object: ObjectId) -> Option<Edit> {
    let scenario = subjects.scenario;
    let (vehicle, stops) = match object {
        ObjectId::Agent(id) => {
            let agent = scenario.agents().get(&id)?;
            (&agent.vehicle, agent.places().copied().collect::<Vec<_>>())
        }
        ObjectId::Flow(id) => {
            let flow = scenario.flows().get(&id)?;
            (&flow.vehicle, vec![flow.origin, flow.destination])
        }
        _ => return None,
    };
    let class = scenario
        .vehicle_types()
        .get(vehicle)
        .map(VehicleType::class);
    let mut reach = Reachability::new(subjects.graph, class.unwrap_or_default());
    let mut changed = stops.clone();
    for leg in 0..stops.len().saturating_sub(1) {
        if !leads(subjects, &mut reach, &changed, leg) {
            let lanes = OtherLanes::of(subjects, &mut reach, &changed, leg)?;
            changed = lanes.applied(&changed, leg);
        }
    }
    (changed != stops).then_some(())?;
    Some(match object {
        ObjectId::Agent(id) => {
            let mut agent = scenario.agents().get(&id)?.clone();
            let mut places = changed.into_iter();
            for place in agent.places_mut() {
                *place = places.next()?;
            }
            Edit::Agent(id, Some(Box::new(agent)))
        }
        ObjectId::Flow(id) => {
            let mut flow = scenario.flows().get(&id)?.clone();
            let places: [Place; 2] = changed.try_into().ok()?;
            [flow.origin, flow.destination] = places;
            Edit::Flow(id, Some(Box::new(flow)))
        }
        _ => return None,
    })
}

/// Returns the lanelet of a stop and the position along the lanelet, m; `None` for a stop on open ground. The
/// error states why there is no lanelet.
fn lanelet_of(
    subjects: &Subjects<'_>,
    stop: &Place,
) -> Result<Option<(LaneletIndex, f64)>, String> {
    let Place::Lane(at) = stop else {
        return Ok(None);
    };
    // The lane graph would move the place to the nearest part of its lane, but a place beyond the
    // end of the road is a mistake.
    let road = subjects.scenario.network().road(at.road);
    let on_road = road.is_some_and(|road| at.s <= road.length());
    let found = subjects.graph.locate(at).filter(|_| on_road);
    found.map(Some).ok_or_else(|| {
        format!(
            "lane {} of {} at s = {:.1} m is not a drivable lane",
            at.lane, at.road, at.s
        )
    })
}

/// Finds agents that start inside an obstacle, a tree or another agent.
fn starts(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let scenario = subjects.scenario;
    let started = bodies(scenario);
    let trees = Trees::new(scenario);
    let obstacles = Obstacles::new(scenario);
    let beside = Beside::new(&started);
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
        let own = scenario.vehicle_types().get(&agent.vehicle);
        let is_met = |obstacle: &Obstacle| {
            own.is_none_or(|own| obstacle.vertical_span().is_met_by(own.vertical_span()))
        };
        let hit = obstacles.near(body).into_iter().find(|(_, obstacle)| {
            is_met(obstacle)
                && super::obstacles::outlines_overlap(
                    &body.corners(),
                    &obstacle.shape.outline(),
                    super::obstacles::TOUCHING,
                )
        });
        if let Some((obstacle, _)) = hit {
            let message = format!("starts inside {obstacle}; move one of them");
            push(*id, Code::AgentInObstacle, body.centre, message);
        }
        if trees.touch(body) {
            let message = "starts inside a tree; move it out of the forest".into();
            push(*id, Code::AgentInObstacle, body.centre, message);
        }
        // Each body is compared only with earlier ones, so that each pair is reported once. Agents with
        // different departure times may start at the same place.
        let before = beside.before(i, body);
        let mut before = before.into_iter().map(|number| &started[number]);
        let twin = before.find(|(_, other, other_body)| {
            other.depart == agent.depart && other_body.penetration(body) > 0.0
        });
        if let Some((other, ..)) = twin {
            let message = format!("starts where {other} starts, at the same time");
            push(*id, Code::AgentsOverlap, body.centre, message);
        }
    }
}

/// An agent that starts on a lane of a two-way road.
struct OnLane {
    id: AgentId,
    lanelet: LaneletIndex,
    /// Positions of the vehicle's rear and front along the lanelet, m.
    body: [f64; 2],
    is_long: bool,
}

impl OnLane {
    fn of(subjects: &Subjects<'_>, id: AgentId, agent: &Agent) -> Option<Self> {
        let Place::Lane(at) = agent.start else {
            return None;
        };
        let (lanelet, s) = subjects.graph.locate(&at)?;
        let vehicle = subjects.scenario.vehicle_types().get(&agent.vehicle)?;
        let (front, rear) = (vehicle.front(), vehicle.rear_overhang.get());
        let body = Body {
            width: vehicle.width.get(),
            front,
            rear,
        };
        Some(Self {
            id,
            lanelet,
            body: [s - rear, s + front],
            is_long: vehicle.tows() || body.exceeds_car(),
        })
    }

    fn is_in(&self, direction: &AlleyDirection) -> bool {
        self.body[1] > direction.from && self.body[0] < direction.to
    }
}

/// Finds agents that start in an alley at the same time, facing each other. As a repair, one of
/// them departs after the other has left the alley. O(agents), and O(points of two-way roads) if
/// several agents start on one road at the same time.
fn facing(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let mut together: BTreeMap<(u64, Option<RoadId>), Vec<OnLane>> = BTreeMap::new();
    for (&id, agent) in subjects.scenario.agents() {
        if let Some(one) = OnLane::of(subjects, id, agent) {
            let road = subjects.graph.lanelet(one.lanelet).road();
            let key = (agent.depart.get().to_bits(), road);
            together.entry(key).or_default().push(one);
        }
    }
    together.retain(|_, agents| agents.len() > 1);
    if together.is_empty() {
        return;
    }
    let alleys = Alleys::of(subjects.graph, subjects.scenario.has_wide_vehicles());
    for ((_, road), agents) in together {
        let mut inside: BTreeMap<(u32, bool), Vec<&OnLane>> = BTreeMap::new();
        for agent in &agents {
            let sides = alleys.on(agent.lanelet).iter();
            let sides = sides.filter(|&&side| agent.is_in(&alleys.direction(side)));
            let mut other: Option<AgentId> = None;
            for &side in sides {
                let facing = side.opposite();
                let facing = inside.get(&(facing.alley, facing.is_second));
                let passing = alleys.passing(side);
                let mut facing = facing.into_iter().flatten();
                let held_up = facing.find(|one| passing.holds_up(one.is_long, agent.is_long));
                other = other.or(held_up.map(|one| one.id));
                let own = inside.entry((side.alley, side.is_second)).or_default();
                own.push(agent);
            }
            let (Some(other), Some(road)) = (other, road) else {
                continue;
            };
            let place = subjects.graph.line(agent.lanelet);
            findings.push(Finding {
                severity: Severity::Warning,
                code: Code::FacingInAlley,
                object: ObjectId::Agent(agent.id),
                place: place.position(agent.body[0].max(0.0)),
                message: format!(
                    "starts in an alley of {road} at the same time as {other}, which faces it, and departs only when \
                     {other} has left the alley; start one of them outside"
                ),
            });
        }
    }
}

/// All obstacles, indexed by position.
struct Obstacles<'a> {
    all: Vec<(ObstacleId, &'a Obstacle)>,
    grid: GridIndex,
    /// Largest distance from the centre of an obstacle's bounds to any of its points, m.
    reach: f64,
}

impl<'a> Obstacles<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let all = scenario.obstacles().iter();
        let all: Vec<_> = all.map(|(&id, obstacle)| (id, obstacle)).collect();
        let bounds = all.iter().map(|(_, obstacle)| {
            let outline = obstacle.shape.outline();
            roadwright_geometry::polygon::bounds(&outline).unwrap_or_default()
        });
        let bounds: Vec<(DVec2, DVec2)> = bounds.collect();
        let middles = bounds.iter().map(|(low, high)| 0.5 * (*low + *high));
        let mut grid = GridIndex::new();
        grid.rebuild(&middles.collect::<Vec<_>>(), 20.0);
        let reaches = bounds
            .iter()
            .map(|(low, high)| 0.5 * (*high - *low).length());
        Self {
            all,
            grid,
            reach: reaches.fold(0.0, f64::max),
        }
    }

    /// Returns the obstacles that a body may touch, in the order of their ids.
    fn near(&self, body: &OrientedBox) -> Vec<(ObstacleId, &'a Obstacle)> {
        let numbers = near(&self.grid, body, self.reach);
        numbers.into_iter().map(|number| self.all[number]).collect()
    }
}

/// The bodies of agents, indexed by position.
struct Beside {
    grid: GridIndex,
    /// Largest radius of a body, m.
    reach: f64,
}

impl Beside {
    fn new(started: &[(AgentId, &Agent, OrientedBox)]) -> Self {
        let centres: Vec<DVec2> = started.iter().map(|(.., body)| body.centre).collect();
        let mut grid = GridIndex::new();
        grid.rebuild(&centres, 20.0);
        let radii = started.iter().map(|(.., body)| body.radius());
        Self {
            grid,
            reach: radii.fold(0.0, f64::max),
        }
    }

    /// Returns the indices of the bodies that come before body `own` in the list and that `body`
    /// may touch, ascending.
    fn before(&self, own: usize, body: &OrientedBox) -> Vec<usize> {
        let mut numbers = near(&self.grid, body, self.reach);
        numbers.retain(|&number| number < own);
        numbers
    }
}

/// Returns the indices of the grid items that a body may touch, ascending. No item may extend more
/// than `reach` from its grid point.
fn near(grid: &GridIndex, body: &OrientedBox, reach: f64) -> Vec<usize> {
    let mut numbers = Vec::new();
    // The margin ensures that rounding errors do not exclude any item.
    let reach = body.radius() + reach + 0.1;
    grid.for_each_within(body.centre, reach, |number, _| {
        numbers.push(number as usize)
    });
    numbers.sort_unstable();
    numbers
}

/// The trees of all forests.
struct Trees {
    grid: GridIndex,
    /// Radii of the trunks in the order of their grid indices, m.
    radii: Vec<f64>,
}

impl Trees {
    fn new(scenario: &Scenario) -> Self {
        let forests = || scenario.planted().map(|(_, forest)| forest);
        let trees: Vec<Vec<DVec2>> = forests().map(|forest| forest.trees()).collect();
        let radii = forests().zip(&trees);
        let radii = radii.flat_map(|(forest, trees)| vec![forest.trunk_radius.get(); trees.len()]);
        let mut grid = GridIndex::new();
        grid.rebuild(&trees.concat(), 10.0);
        Self {
            grid,
            radii: radii.collect(),
        }
    }

    /// Whether any tree touches a body.
    fn touch(&self, body: &OrientedBox) -> bool {
        let mut touches = false;
        // The grid contains only the centres of trunks, so 10 m are added for the largest trunk
        // radius.
        let reach = body.radius() + 10.0;
        self.grid
            .for_each_within(body.centre, reach, |index, tree| {
                let radius = self.radii[index as usize];
                touches |= body.circle_penetration(tree, radius) > 0.0;
            });
        touches
    }
}

/// Returns the bodies of all agents at their starts. A start is the pose of the rear axle, so the
/// centre of the box is ahead of it.
fn bodies(scenario: &Scenario) -> Vec<(AgentId, &Agent, OrientedBox)> {
    let agents = scenario.agents().iter();
    agents
        .filter_map(|(&id, agent)| {
            let vehicle = scenario.vehicle_types().get(&agent.vehicle)?;
            let pose = scenario.pose_of(&agent.start)?;
            let middle = Pose {
                position: pose.point(vehicle.body_centre(), 0.0),
                ..pose
            };
            let body = OrientedBox::new(middle, vehicle.length.get(), vehicle.width.get());
            Some((id, agent, body))
        })
        .collect()
}
