//! Chooses the lanes on which a trip begins, stops and ends while a user draws it.

use crate::planned_route::{PlannedRoute, RouteFinder};
use roadwright_geometry::DVec2;
use roadwright_scenario::check::lanes_beside;
use roadwright_scenario::{LanePlace, Place};

/// The lanes under the pointer count as chosen intentionally if the route between them takes at
/// most this much longer than the quickest route, s.
pub const LONGER_ON_PURPOSE: f64 = 20.0;

/// A stop of a trip that is being drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DrawnStop {
    /// A stop with a fixed place.
    Fixed(Place),
    /// A stop that may move to another lane of its road.
    Pointed {
        /// Place under the pointer.
        place: Place,
        /// Position of the pointer, m.
        pointer: DVec2,
    },
}

impl DrawnStop {
    /// Returns the place of the stop before lanes are chosen.
    pub fn place(&self) -> Place {
        match *self {
            Self::Fixed(place) | Self::Pointed { place, .. } => place,
        }
    }
}

/// The places of a trip on the chosen lanes.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenLanes {
    /// Start, waypoints and destination.
    pub stops: Vec<Place>,
    /// The route through the stops, or the reason why there is none.
    pub route: Result<PlannedRoute, String>,
}

/// A combination of lanes for the stops.
#[derive(Clone, Default)]
struct Candidate {
    stops: Vec<Place>,
    /// Sum of the distances between pointers and lane centres, m.
    distance: f64,
}

/// A combination of lanes for which a route was found.
struct Found {
    candidate: Candidate,
    route: PlannedRoute,
}

impl RouteFinder {
    /// Chooses the lanes of a trip through at least two stops.
    ///
    /// The candidates are all lanes on the roads of the pointed stops that the vehicle type may
    /// use. The combination with the quickest route is chosen; among equal times, the one nearest
    /// to the pointer. The lanes under the pointer are kept if their route takes at most
    /// [`LONGER_ON_PURPOSE`] longer, or if no combination has a route. Trips with stops off the
    /// lanes keep their places. Searches one route for each combination of lanes.
    pub fn choose_lanes(&self, vehicle: &str, stack: &str, stops: &[DrawnStop]) -> ChosenLanes {
        let pointed: Vec<Place> = stops.iter().map(DrawnStop::place).collect();
        let mut found = self.candidates_with_route(vehicle, stack, stops);
        found.sort_by(|a, b| {
            let by_time = a.route.time.total_cmp(&b.route.time);
            by_time.then(a.candidate.distance.total_cmp(&b.candidate.distance))
        });
        let is_possible = |one: &Found| self.problem(vehicle, &one.candidate.stops).is_none();
        let Some(quickest) = found.iter().position(is_possible) else {
            let route = self.route_through(vehicle, stack, &pointed);
            return ChosenLanes {
                stops: pointed,
                route,
            };
        };
        let latest = found[quickest].route.time + LONGER_ON_PURPOSE;
        let is_kept = |one: &Found| {
            one.candidate.stops == pointed && one.route.time <= latest && is_possible(one)
        };
        let chosen = found.iter().position(is_kept).unwrap_or(quickest);
        let Found { candidate, route } = found.swap_remove(chosen);
        ChosenLanes {
            stops: candidate.stops,
            route: Ok(route),
        }
    }

    /// Finds the combinations of lanes that the planner can connect by a route; empty if a stop is
    /// off the lanes.
    fn candidates_with_route(&self, vehicle: &str, stack: &str, stops: &[DrawnStop]) -> Vec<Found> {
        let mut all = vec![Candidate::default()];
        for stop in stops {
            let lanes = self.lanes_of(vehicle, stop);
            let with_lane = |(one, lane): (&Candidate, &LanePlace)| {
                let mut one = one.clone();
                one.stops.push(Place::Lane(*lane));
                one.distance += self.distance_to_pointer(lane, stop);
                one
            };
            let pairs = all
                .iter()
                .flat_map(|one| lanes.iter().map(move |lane| (one, lane)));
            all = pairs.map(with_lane).collect();
        }
        let found = all.into_iter().filter_map(|candidate| {
            let route = self.route_of(vehicle, stack, &candidate.stops)?;
            Some(Found { candidate, route })
        });
        found.collect()
    }

    /// Lanes to which a stop may move, beginning with its own lane; empty for a stop off the lanes.
    fn lanes_of(&self, vehicle: &str, stop: &DrawnStop) -> Vec<LanePlace> {
        let Place::Lane(own) = stop.place() else {
            return Vec::new();
        };
        let scenario = self.scenario();
        let kind = scenario.vehicle_types().get(vehicle);
        let mut lanes = vec![own];
        if let (DrawnStop::Pointed { .. }, Some(kind)) = (stop, kind) {
            let graph = self.ground().graph();
            lanes.extend(lanes_beside(scenario, graph, &own, kind.class()));
        }
        lanes
    }

    fn distance_to_pointer(&self, lane: &LanePlace, stop: &DrawnStop) -> f64 {
        let DrawnStop::Pointed { pointer, .. } = stop else {
            return 0.0;
        };
        let pose = self.scenario().pose_of(&Place::Lane(*lane));
        pose.map_or(0.0, |pose| pose.position.distance(*pointer))
    }

    fn route_of(&self, vehicle: &str, stack: &str, stops: &[Place]) -> Option<PlannedRoute> {
        let (start, goals) = stops.split_first()?;
        self.find(vehicle, stack, start, goals)
    }

    fn route_through(
        &self,
        vehicle: &str,
        stack: &str,
        stops: &[Place],
    ) -> Result<PlannedRoute, String> {
        match self.problem(vehicle, stops) {
            Some(problem) => Err(problem),
            None => self
                .route_of(vehicle, stack, stops)
                .ok_or_else(|| "no lane leads there".into()),
        }
    }
}
