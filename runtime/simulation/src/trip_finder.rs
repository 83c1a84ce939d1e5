//! Plans the path of a trip without driving it: with a route planner on lanes and with an
//! open-ground planner elsewhere.

mod drivable;

use crate::open_ground::{FixedItems, ItemSource, MixedTrips, Part, Traveller, profile_of};
use crate::perception::OPEN_GROUND_SPEED;
use crate::planned_route::{LaneQuestion, OnLanes, PlannedRoute, RouteFinder, TripEnd};
use crate::snapshot::Snapshot;
use roadwright_agent::{GroundPlanning, GroundSearch};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose, heading_of, polyline};
use roadwright_planning::open_ground::{
    Answer, Bounds, CellSize, FoundPath, Heights, Inquiry, Item, Layer, Mark, OpenGround, PLAIN,
    Profile, ProfileId, Reading, Rules, Shape, Spot, Trip, Window,
};
use roadwright_planning::open_ground::{CellMap, CellPath};
use roadwright_scenario::{BodyKind, OffRoad, Scenario, VehicleType};
use std::sync::Arc;

/// Assumed height of vehicles of unknown height, m. It is so large that no vehicle passes above or
/// below them.
const VEHICLE_HEIGHT: f64 = 4.0;
/// Margin of displayed maps around start, goal and path, m.
const MARGIN: f64 = 20.0;

/// A request to plan a trip.
#[derive(Debug, Clone, Copy)]
pub struct TripQuestion<'a> {
    /// Vehicle that makes the trip.
    pub vehicle: &'a VehicleType,
    /// Key of the vehicle's type, for the costs of painted layers.
    pub vehicle_type: &'a str,
    /// Name of the stack whose route planner plans on lanes.
    pub stack: &'a str,
    /// Start of the trip.
    pub from: TripEnd,
    /// Destination of the trip.
    pub to: TripEnd,
    /// Settings of the planner for open ground.
    pub planning: GroundPlanning,
    /// Maximum number of cells that the search may expand.
    pub most: u64,
}

/// Result of a [`TripQuestion`].
#[derive(Debug, Clone, PartialEq)]
pub enum TripAnswer {
    /// A path was found.
    Found(TripPlan),
    /// There is no path. The text is the reason for users.
    NoPath(String),
    /// The search reached the maximum number of cells.
    Undecided,
}

/// The path of a trip.
#[derive(Debug, Clone, PartialEq)]
pub struct TripPlan {
    /// Legs of the path, in driving order.
    pub legs: Vec<TripLeg>,
    /// Total cost of the path over cells of open ground; 0 on lanes.
    pub cost: u64,
}

/// A leg of a trip.
#[derive(Debug, Clone, PartialEq)]
pub struct TripLeg {
    /// Whether the leg is on lanes or on open ground.
    pub kind: LegKind,
    /// Poses at the leg's start and end, and at each change of direction in between. On a drivable path,
    /// poses in bends are at most 0.5 m apart, and each place where the gear changes has one pose per gear.
    pub poses: Vec<Pose>,
    /// Gear at each pose: 1 forwards, -1 in reverse. Empty if the whole leg is driven forwards.
    pub gears: Vec<i8>,
    /// Length, m.
    pub length: f64,
    /// Driving time without waiting, s.
    pub time: f64,
}

/// Whether a leg is on lanes or on open ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegKind {
    /// The leg is on lanes.
    Lanes,
    /// The leg is on open ground.
    Ground,
}

impl LegKind {
    /// Name in JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lanes => "lanes",
            Self::Ground => "ground",
        }
    }
}

impl TripPlan {
    /// Total length, m.
    pub fn length(&self) -> f64 {
        self.legs.iter().map(|leg| leg.length).sum()
    }

    /// Total driving time without waiting, s.
    pub fn time(&self) -> f64 {
        self.legs.iter().map(|leg| leg.time).sum()
    }
}

/// Plans the paths of trips in a scenario.
pub struct TripFinder {
    routes: RouteFinder,
    map: OpenGround,
    expanded: u64,
}

impl TripFinder {
    /// Creates a trip finder for a scenario. The vehicles and pushed obstacles of a snapshot count
    /// as obstacles, except the vehicle and the trailers of agent `except`. Lays out all junctions
    /// and lanes.
    pub fn new(scenario: Arc<Scenario>, snapshot: Option<&Snapshot>, except: Option<u64>) -> Self {
        let routes = RouteFinder::new(scenario);
        let mut items = FixedItems::of(routes.ground());
        let mut bodies = Vec::new();
        for record in snapshot.iter().flat_map(|snapshot| &snapshot.loose) {
            items.0.remove(&ItemSource::Obstacle(record.obstacle));
            bodies.push(standing(Shape::polygon(&record.outline), Layer::Loose));
        }
        if let Some(snapshot) = snapshot {
            bodies.extend(vehicles(snapshot, except));
        }
        let mut map = items.map();
        for body in bodies {
            // An outline without area, such as that of a board on its edge, is rejected. It
            // obstructs no vehicle.
            let _ = map.insert(body);
        }
        Self {
            routes,
            map,
            expanded: 0,
        }
    }

    /// Number of cells expanded for all requests so far.
    pub fn expanded(&self) -> u64 {
        self.expanded
    }

    /// Plans a trip. Calls `goes_on` repeatedly, and stops as soon as this returns `false`.
    pub fn answer(
        &mut self,
        question: &TripQuestion<'_>,
        goes_on: impl FnMut() -> bool,
    ) -> TripAnswer {
        if !is_somewhere(&question.from) {
            return TripAnswer::NoPath("the start is not within 10,000 km of the origin".into());
        }
        if !is_somewhere(&question.to) {
            return TripAnswer::NoPath("the goal is not within 10,000 km of the origin".into());
        }
        if question.vehicle.body == BodyKind::Character {
            // Characters walk over open ground, even between places on lanes.
            let on_foot = TripQuestion {
                planning: question.planning.on_foot(),
                ..*question
            };
            return self.over_ground(&on_foot, goes_on);
        }
        let lanes = LaneQuestion {
            vehicle: question.vehicle,
            stack: question.stack,
            from: question.from,
            to: question.to,
        };
        let off_road = question.vehicle.off_road;
        let is_free = off_road == OffRoad::Free && question.planning.search.uses_map();
        let no_lanes = || TripAnswer::NoPath("no lanes connect start and goal".into());
        match self.routes.between(&lanes) {
            OnLanes::Beside if off_road == OffRoad::Never => no_lanes(),
            OnLanes::Unconnected if !is_free => no_lanes(),
            OnLanes::Route(route) if !is_free => TripAnswer::Found(TripPlan {
                legs: vec![lane_leg(&route, question.to.heading)],
                cost: 0,
            }),
            OnLanes::Beside | OnLanes::Unconnected | OnLanes::Route(_) => {
                self.over_both(question, goes_on)
            }
        }
    }

    /// Plans a trip on lanes and over open ground, whichever is quicker for each part.
    fn over_both(
        &mut self,
        question: &TripQuestion<'_>,
        mut goes_on: impl FnMut() -> bool,
    ) -> TripAnswer {
        let ends = [question.from, question.to].map(|end| self.routes.end(&end));
        let trip = match question.planning.search {
            GroundSearch::Straight | GroundSearch::MoveTree(_) => None,
            _ => MixedTrips::new(self.routes.ground())
                .quickest(&Traveller::from(question.vehicle), ends),
        };
        let parts = trip.map_or(Vec::new(), |trip| trip.parts);
        if parts.iter().all(|part| matches!(part, Part::Ground { .. })) {
            return self.over_ground(question, goes_on);
        }
        let mut plan = TripPlan {
            legs: Vec::new(),
            cost: 0,
        };
        for (at, part) in parts.iter().enumerate() {
            let answer = match part {
                Part::Lanes { from, to } => {
                    let heading = question.to.heading.filter(|_| at + 1 == parts.len());
                    let route =
                        (self.routes).on_lanes(question.vehicle, question.stack, [*from, *to]);
                    match route {
                        Some(route) => TripAnswer::Found(TripPlan {
                            legs: vec![lane_leg(&route, heading)],
                            cost: 0,
                        }),
                        None => TripAnswer::NoPath("no lanes connect start and goal".into()),
                    }
                }
                Part::Ground { .. } => {
                    let leg = TripQuestion {
                        from: match at.checked_sub(1).map(|at| &parts[at]) {
                            Some(Part::Lanes { to, .. }) => self.routes.beside(*to),
                            _ => question.from,
                        },
                        to: match parts.get(at + 1) {
                            Some(Part::Lanes { from, .. }) => self.routes.beside(*from),
                            _ => question.to,
                        },
                        ..*question
                    };
                    self.over_ground(&leg, &mut goes_on)
                }
            };
            match answer {
                TripAnswer::Found(found) => {
                    plan.legs.extend(found.legs);
                    plan.cost += found.cost;
                }
                other => return other,
            }
        }
        TripAnswer::Found(plan)
    }

    fn over_ground(
        &mut self,
        question: &TripQuestion<'_>,
        goes_on: impl FnMut() -> bool,
    ) -> TripAnswer {
        let is_drivable = matches!(question.planning.search, GroundSearch::Drivable { .. });
        if is_drivable && question.vehicle.body == BodyKind::Vehicle {
            return self.drivable(question, goes_on);
        }
        let TripQuestion {
            vehicle, planning, ..
        } = question;
        let inquiry = Inquiry {
            trip: Trip {
                profile: self.profile(question),
                owner: None,
                from: spot(vehicle, &question.from),
                to: spot(vehicle, &question.to),
            },
            search: planning.search,
            rules: planning.into(),
            most: question.most,
        };
        let answered = self.map.answer(&inquiry, goes_on);
        self.expanded += answered.expanded;
        match answered.answer {
            Answer::Found(found) => TripAnswer::Found(self.plan(question, &found)),
            Answer::NoPath(reason) => TripAnswer::NoPath(reason.to_string()),
            Answer::InTheWay(at) => TripAnswer::NoPath(format!(
                "an obstacle blocks the straight path at {:.1},{:.1}",
                at.x, at.y
            )),
            Answer::Undecided => TripAnswer::Undecided,
        }
    }

    fn plan(&self, question: &TripQuestion<'_>, found: &FoundPath) -> TripPlan {
        let vehicle = question.vehicle;
        let speed = vehicle.max_speed.min(OPEN_GROUND_SPEED);
        let length = polyline::length(&found.points);
        // Ratio of the cost of the path to the cost of the same path over plain ground.
        let plain = plain_cost(&found.path, (&question.planning).into());
        let factor = if plain > 0 {
            found.path.cost as f64 / plain as f64
        } else {
            1.0
        };
        TripPlan {
            legs: vec![TripLeg {
                kind: LegKind::Ground,
                poses: corners(&found.points, question.to.heading),
                gears: Vec::new(),
                length,
                time: length / speed * factor,
            }],
            cost: found.path.cost,
        }
    }

    fn profile(&mut self, question: &TripQuestion<'_>) -> ProfileId {
        let planning = &question.planning;
        let cell = CellSize::new(planning.cell).unwrap_or(CellSize::WAY_POINTS);
        self.map.add_profile(Profile {
            costs: planning.into(),
            vehicle_type: Some(question.vehicle_type.into()),
            ..profile_of(question.vehicle, cell)
        })
    }

    /// Creates a map of the area around a trip, with the path marked if there is one. `None` if the
    /// coordinates of either end are out of range or not finite.
    pub fn map_around(
        &mut self,
        question: &TripQuestion<'_>,
        answer: &TripAnswer,
    ) -> Option<CellMap> {
        let ends = [question.from, question.to];
        if !ends.iter().all(is_somewhere) {
            return None;
        }
        let profile = self.profile(question);
        let size = self.map.profile(profile).cell;
        let poses = match answer {
            TripAnswer::Found(plan) => plan.legs.iter().flat_map(|leg| &leg.poses).collect(),
            TripAnswer::NoPath(_) | TripAnswer::Undecided => Vec::new(),
        };
        let points: Vec<DVec2> = poses.iter().map(|pose| pose.position).collect();
        let all = || points.iter().copied().chain(ends.map(|end| end.position));
        let extent = Bounds {
            low: all().fold(DVec2::INFINITY, DVec2::min),
            high: all().fold(DVec2::NEG_INFINITY, DVec2::max),
        };
        let window = Window::around([extent.low, extent.high], MARGIN, size);
        let mut map = self
            .map
            .cell_map(profile, Reading::Everything, window)
            .ok()?;
        for pair in points.windows(2) {
            let steps = ((pair[1] - pair[0]).length() / size.metres())
                .ceil()
                .max(1.0) as u32;
            for step in 0..=steps {
                let point = pair[0].lerp(pair[1], f64::from(step) / f64::from(steps));
                map.mark(size.cell_of(point)?, Mark::Path);
            }
        }
        map.mark(size.cell_of(question.from.position)?, Mark::Agent);
        map.mark(size.cell_of(question.to.position)?, Mark::Goal);
        Some(map)
    }
}

fn lane_leg(route: &PlannedRoute, heading: Option<f64>) -> TripLeg {
    TripLeg {
        kind: LegKind::Lanes,
        poses: corners(&route.points, heading),
        gears: Vec::new(),
        length: route.length,
        time: route.time,
    }
}

fn is_somewhere(end: &TripEnd) -> bool {
    let limit = roadwright_geometry::MAX_COORDINATE;
    // This is also `false` for coordinates that are not finite.
    let is_near = end.position.abs().max_element() <= limit;
    is_near && end.position.is_finite() && end.heading.is_none_or(f64::is_finite)
}

/// Centre of the body at an end of a trip, with its heading.
fn spot(vehicle: &VehicleType, end: &TripEnd) -> Spot {
    match end.heading {
        None => Spot::anyhow(end.position),
        Some(heading) => {
            let axle = Pose {
                position: end.position,
                heading,
            };
            Spot::at(Pose {
                position: axle.point(vehicle.body_centre(), 0.0),
                heading,
            })
        }
    }
}

/// Returns the cost that a path would have if all its cells were plain ground.
fn plain_cost(path: &CellPath, rules: Rules) -> u64 {
    let steps = path.cells.windows(2);
    let costs = steps.map(|pair| rules.bound(pair[0], pair[1], PLAIN as u32));
    costs.sum()
}

/// Returns the first point, the corners and the last point of a line, each with the heading of the
/// next segment. `last` is the heading at the last point. If it is `None`, the last segment gives
/// the heading.
fn corners(points: &[DVec2], last: Option<f64>) -> Vec<Pose> {
    /// Smallest change of direction that counts as a bend, rad.
    const BEND: f64 = 1e-3;
    /// Points closer than this are merged, because they do not define a direction, m.
    const CLOSE: f64 = 1e-3;
    let mut poses: Vec<Pose> = Vec::new();
    for pair in points.windows(2) {
        if pair[0].distance(pair[1]) < CLOSE {
            continue;
        }
        let heading = heading_of(pair[1] - pair[0]);
        let bends = |before: &Pose| {
            roadwright_geometry::math::wrap_angle(before.heading - heading).abs() > BEND
        };
        if poses.last().is_none_or(bends) {
            poses.push(Pose {
                position: pair[0],
                heading,
            });
        }
    }
    let heading = poses.last().map_or(0.0, |pose| pose.heading);
    poses.extend(points.last().map(|&position| Pose {
        position,
        heading: last.unwrap_or(heading),
    }));
    poses
}

fn standing(shape: Shape, layer: Layer) -> Item {
    Item {
        layer,
        ..Item::obstacle(shape, Heights::up_to(VEHICLE_HEIGHT))
    }
}

/// The bodies in a snapshot, except those of one agent.
fn vehicles(snapshot: &Snapshot, except: Option<u64>) -> impl Iterator<Item = Item> {
    let body = |pose: Pose, length: f64, width: f64| {
        let shape = Shape::Box(OrientedBox::new(pose, length, width));
        standing(shape, Layer::Standing)
    };
    let is_other = move |agent: u64| Some(agent) != except;
    let driving = snapshot.vehicles.iter();
    let driving = driving.filter(move |one| is_other(one.agent));
    let trailers = snapshot.trailers.iter();
    let trailers = trailers.filter(move |one| is_other(one.agent));
    let left = snapshot.standing.iter().map(|standing| &standing.trailer);
    let driving = driving.map(move |one| body(one.body, one.length, one.width));
    driving.chain(
        trailers
            .chain(left)
            .map(move |one| body(one.body, one.length, one.width)),
    )
}
