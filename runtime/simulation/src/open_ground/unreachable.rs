//! Finds destinations that cannot be reached over open ground.

use super::{End, FixedItems, MixedTrips, Traveller, profile_of};
use crate::records::LaneSpot;
use roadwright_ground::Ground;
use roadwright_planning::open_ground::{
    CellSize, OpenGround, Profile, Reachability, Reason, Spot, Trip, Verdict,
};
use roadwright_scenario::check::{Code, Finding, Severity};
use roadwright_scenario::{ObjectId, OffRoad, Place, Scenario, VehicleType};

/// Maximum number of cells that are expanded for one trip.
const MOST_OF_ONE: u64 = 400_000;
/// Maximum number of cells that are expanded for all trips together. Expanding them takes a second
/// or two.
const MOST_OF_ALL: u64 = 4_000_000;

/// Returns findings about agents and flows with a start or destination off the lanes, if no path
/// leads to the destination or the search reached its limit first. Trips that use only lanes are
/// checked by [`roadwright_scenario::check::check`].
pub(crate) fn unreachable_over_ground(scenario: &Scenario) -> Vec<Finding> {
    let mut journeys = Vec::new();
    for (&id, agent) in scenario.agents() {
        let mut stops = vec![agent.start];
        stops.extend(&agent.via);
        stops.extend(agent.destination);
        journeys.push(Journey {
            object: ObjectId::Agent(id),
            vehicle: &agent.vehicle,
            stops,
        });
    }
    for (&id, flow) in scenario.flows() {
        journeys.push(Journey {
            object: ObjectId::Flow(id),
            vehicle: &flow.vehicle,
            stops: vec![flow.origin, flow.destination],
        });
    }
    let is_free = |vehicle: &str| {
        let kind = scenario.vehicle_types().get(vehicle);
        kind.is_some_and(|kind| kind.off_road == OffRoad::Free)
    };
    journeys.retain(|journey| journey.leaves_lanes() || is_free(journey.vehicle));
    if journeys.is_empty() {
        return Vec::new();
    }
    let ground = Ground::new(scenario);
    let mut search = Search {
        scenario,
        ground: &ground,
        trips: MixedTrips::new(&ground),
        map: FixedItems::of(&ground).map(),
        left: MOST_OF_ALL,
    };
    let journeys = journeys.iter();
    journeys
        .filter_map(|journey| search.finding(journey))
        .collect()
}

/// The stops of an agent or a flow, in order.
struct Journey<'a> {
    object: ObjectId,
    vehicle: &'a str,
    stops: Vec<Place>,
}

impl Journey<'_> {
    fn leaves_lanes(&self) -> bool {
        let is_ground = |stop: &Place| matches!(stop, Place::Ground(_));
        self.stops.len() > 1 && self.stops.iter().any(is_ground)
    }
}

struct Search<'a> {
    scenario: &'a Scenario,
    ground: &'a Ground,
    trips: MixedTrips<'a>,
    map: OpenGround,
    /// Number of cells that may still be expanded.
    left: u64,
}

impl Search<'_> {
    /// Returns the first finding about a journey. Further findings would usually have the same
    /// cause.
    fn finding(&mut self, journey: &Journey<'_>) -> Option<Finding> {
        let vehicle = self.scenario.vehicle_types().get(journey.vehicle)?;
        if vehicle.off_road == OffRoad::Never {
            let is_ground = |stop: &&Place| matches!(stop, Place::Ground(_));
            let stop = journey.stops.iter().find(is_ground)?;
            return Some(Finding {
                severity: Severity::Error,
                code: Code::UnreachableDestination,
                object: journey.object,
                place: self.scenario.pose_of(stop)?.position,
                message: format!(
                    "no connecting lanes, and vehicles of type {} never leave the lanes; move this \
                     place onto a lane, or change `off_road`",
                    journey.vehicle
                ),
            });
        }
        if vehicle.off_road == OffRoad::Free
            && let Some(place) = self.unconnected(vehicle, &journey.stops)
        {
            return Some(Finding {
                severity: Severity::Error,
                code: Code::UnreachableDestination,
                object: journey.object,
                place: self.scenario.pose_of(place)?.position,
                message: "neither lanes nor open ground connect it to the previous stop; move the destination or \
                          the obstacles in between"
                    .into(),
            });
        }
        let profile = Profile {
            vehicle_type: Some(journey.vehicle.into()),
            ..profile_of(vehicle, CellSize::WAY_POINTS)
        };
        let profile = self.map.add_profile(profile);
        let pairs = journey.stops.windows(2).enumerate();
        let pairs = pairs.filter(|(_, pair)| pair.iter().any(|p| matches!(p, Place::Ground(_))));
        for (leg, pair) in pairs {
            let trip = Trip {
                profile,
                owner: None,
                from: match leg {
                    0 => self.start(vehicle, &pair[0])?,
                    _ => self.stop(&pair[0])?,
                },
                to: self.stop(&pair[1])?,
            };
            let finding = |severity, message: String| Finding {
                severity,
                code: Code::UnreachableDestination,
                object: journey.object,
                place: trip.to.position,
                message,
            };
            match self.verdict(trip) {
                Verdict::Reachable => {}
                // Another check reports this. Besides, a lane may legitimately lead through a
                // building.
                Verdict::NoPath(Reason::Start(_)) => return None,
                Verdict::NoPath(reason) => {
                    let message = format!(
                        "no path leads there over open ground: {reason}; move the destination or the obstacle"
                    );
                    return Some(finding(Severity::Error, message));
                }
                Verdict::Searching => {
                    let message = "the search for a path over open ground was stopped, because it \
                                   takes too long for a check; plan the trip with `roadwright plan`";
                    return Some(finding(Severity::Warning, message.into()));
                }
            }
        }
        None
    }

    /// Returns the first stop that cannot be reached from the previous stop, neither along lanes
    /// nor over open ground. Only pairs of stops that are both on lanes are checked.
    fn unconnected<'s>(&self, vehicle: &VehicleType, stops: &'s [Place]) -> Option<&'s Place> {
        let graph = self.ground.graph();
        let on_lane = |stop: &Place| match stop {
            Place::Lane(at) => {
                let (lanelet, s) = graph.locate(at)?;
                Some(LaneSpot { lanelet, s })
            }
            Place::Ground(_) => None,
        };
        let traveller = Traveller::from(vehicle);
        let unconnected = stops.windows(2).find(|pair| {
            let (Some(from), Some(to)) = (on_lane(&pair[0]), on_lane(&pair[1])) else {
                return false;
            };
            let reachable = graph.reachable_from(from.lanelet, vehicle.class());
            let is_ahead = from.lanelet != to.lanelet || to.s >= from.s;
            if reachable[to.lanelet.index()] && is_ahead {
                return false;
            }
            let ends = [End::Lane(from), End::Lane(to)];
            self.trips.quickest(&traveller, ends).is_none()
        });
        unconnected.map(|pair| &pair[1])
    }

    fn verdict(&mut self, trip: Trip) -> Verdict {
        let budget = MOST_OF_ONE.min(self.left);
        let mut searches = Reachability::new(&mut self.map, trip);
        let verdict = searches.advance(&mut self.map, budget);
        self.left = self.left.saturating_sub(searches.expanded());
        verdict
    }

    /// The start of a trip: the centre of the vehicle's body at `place`, and its heading.
    fn start(&self, vehicle: &VehicleType, place: &Place) -> Option<Spot> {
        let mut middle = self.scenario.pose_of(place)?;
        middle.position = middle.point(vehicle.body_centre(), 0.0);
        Some(Spot::at(middle))
    }

    /// A later stop of a trip, at which any heading is allowed.
    fn stop(&self, place: &Place) -> Option<Spot> {
        Some(Spot::anyhow(self.scenario.pose_of(place)?.position))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_geometry::DVec2;
    use roadwright_scenario::operation::draw::{self, RoadStyle};
    use roadwright_scenario::{
        Agent, AgentId, CrossSection, Edit, Obstacle, ObstacleId, RoadClass, RoadId, Shape,
    };

    /// Adds walls, each given by its centre, length and width.
    fn build(scenario: &mut Scenario, walls: &[[f64; 4]]) {
        for (id, &[x, y, length, width]) in (1..).zip(walls) {
            let wall = Obstacle {
                name: String::new(),
                shape: Shape::Box {
                    x: x.into(),
                    y: y.into(),
                    heading: 0.0.into(),
                    length: length.into(),
                    width: width.into(),
                },
                base: 0.0.into(),
                height: 3.0.into(),
                mass: None.into(),
            };
            let edit = Edit::Obstacle(ObstacleId(id), Some(Box::new(wall)));
            scenario.apply(edit).unwrap();
        }
    }

    /// Creates a scenario of a car with a destination, and walls.
    fn yard(goal: DVec2, walls: &[[f64; 4]]) -> Scenario {
        let mut scenario = Scenario::new("yard");
        let agent = Agent {
            name: String::new(),
            vehicle: "car".into(),
            stack: "idm".into(),
            dynamics: None,
            start: Place::ground(0.0, 0.0, 0.0),
            via: Vec::new(),
            destination: Some(Place::ground(goal.x, goal.y, 0.0)),
            depart: 0.0.into(),
            repeat: None.into(),
            speed: 0.0.into(),
        };
        let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
        build(&mut scenario, walls);
        scenario
    }

    fn found(goal: DVec2, walls: &[[f64; 4]]) -> Vec<(Severity, String)> {
        let findings = unreachable_over_ground(&yard(goal, walls)).into_iter();
        findings
            .map(|finding| (finding.severity, finding.message))
            .collect()
    }

    const ROOM: [[f64; 4]; 4] = [
        [80.0, 10.0, 21.0, 1.0],
        [80.0, -10.0, 21.0, 1.0],
        [90.0, 0.0, 1.0, 21.0],
        [70.0, 0.0, 1.0, 21.0],
    ];

    #[test]
    fn a_goal_behind_a_wall_is_reached_and_one_in_a_closed_room_is_not() {
        let goal = DVec2::new(80.0, 0.0);
        assert_eq!(found(goal, &ROOM[..3]), []);
        let [(severity, message)] = &found(goal, &ROOM)[..] else {
            panic!("one finding is expected");
        };
        assert_eq!(*severity, Severity::Error);
        assert!(message.contains("the goal is walled in"), "{message}");
        let inside = found(DVec2::new(70.0, 0.0), &ROOM);
        assert!(inside[0].1.contains("inside an obstacle"), "{inside:?}");
    }

    #[test]
    fn a_search_that_takes_too_long_says_so() {
        // The detour around the wall is about 40 km long.
        let wall = [40.0, 0.0, 1.0, 9999.0];
        let found = found(DVec2::new(80.0, 0.0), &[wall]);
        assert_eq!(found[0].0, Severity::Warning);
        assert!(found[0].1.contains("was stopped"), "{found:?}");
    }

    #[test]
    fn vehicles_that_never_leave_the_lanes_cannot_reach_places_beside_them() {
        let mut scenario = yard(DVec2::new(40.0, 0.0), &[]);
        assert_eq!(unreachable_over_ground(&scenario), []);
        let car = VehicleType {
            off_road: OffRoad::Never,
            ..VehicleType::car()
        };
        let edit = Edit::VehicleType("car".into(), Some(Box::new(car)));
        scenario.apply(edit).unwrap();
        let found = unreachable_over_ground(&scenario);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].severity, Severity::Error);
        assert!(found[0].message.starts_with("no connecting lanes"));
    }

    #[test]
    fn vehicles_that_leave_the_lanes_freely_reach_roads_that_no_lane_connects_unless_they_are_walled_in()
     {
        let mut scenario = yard(DVec2::ZERO, &[]);
        let line = |from: f64, to: f64| {
            let ends = (DVec2::new(from, 40.0), DVec2::new(to, 40.0));
            roadwright_geometry::ReferenceLine::straight(ends.0, ends.1).unwrap()
        };
        let style = RoadStyle {
            name: String::new(),
            class: RoadClass::Residential,
            layer: 0,
            speed_limit: 13.89,
            section: CrossSection::driving(1, 1, 3.25),
        };
        for (from, to) in [(-200.0, -20.0), (40.0, 100.0)] {
            let edit = draw::road(&scenario, &line(from, to), &style).unwrap();
            scenario.apply(edit).unwrap();
        }
        let agent = Agent {
            start: Place::lane(RoadId(1), -1, 20.0),
            destination: Some(Place::lane(RoadId(2), -1, 30.0)),
            ..scenario.agents()[&AgentId(1)].clone()
        };
        let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
        // Other vehicle types are handled by the check of trips on lanes.
        assert_eq!(unreachable_over_ground(&scenario), []);
        let car = VehicleType {
            off_road: OffRoad::Free,
            ..VehicleType::car()
        };
        let edit = Edit::VehicleType("car".into(), Some(Box::new(car)));
        scenario.apply(edit).unwrap();
        assert_eq!(unreachable_over_ground(&scenario), []);
        let errors = roadwright_scenario::check::check(&scenario);
        assert_eq!(errors, []);
        let walls = [
            [70.0, 55.0, 81.0, 1.0],
            [70.0, 25.0, 81.0, 1.0],
            [30.0, 40.0, 1.0, 31.0],
            [110.0, 40.0, 1.0, 31.0],
        ];
        build(&mut scenario, &walls);
        let found = unreachable_over_ground(&scenario);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.starts_with("neither lanes"), "{found:?}");
    }

    #[test]
    fn lanes_alone_are_not_looked_at() {
        assert!(unreachable_over_ground(&Scenario::new("empty")).is_empty());
    }
}
