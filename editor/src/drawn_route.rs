//! The route of the trip being drawn, and its description.

use crate::tools::DrawnTrip;
use roadwright_scenario::Place;
use roadwright_simulation::PlannedRoute;

/// The route of the trip being drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnRoute {
    /// The trip whose route was searched for.
    pub trip: DrawnTrip,
    /// Start, waypoints and destination, on the lanes that the trip takes.
    pub stops: Vec<Place>,
    /// The route, or the reason why there is none.
    pub route: Result<PlannedRoute, String>,
}

/// Describes a route by its length and duration, or says why there is none.
pub(crate) fn route_text(route: &Result<PlannedRoute, String>) -> String {
    let route = match route {
        Ok(route) => route,
        Err(problem) if problem.starts_with("no route") => return problem.clone(),
        Err(problem) => return format!("no route: {problem}"),
    };
    let length = if route.length < 995.0 {
        // Rounded to 10 m, because the search is repeated only every 10 m.
        format!("{:.0} m", (route.length / 10.0).round() * 10.0)
    } else {
        format!("{:.1} km", route.length / 1000.0)
    };
    let time = if route.time < 99.5 {
        format!("{:.0} s", route.time)
    } else {
        format!("{:.0} min", route.time / 60.0)
    };
    format!("route {length}, {time}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_told_in_metres_or_kilometres_and_in_seconds_or_minutes() {
        let text = |length: f64, time: f64| {
            route_text(&Ok(PlannedRoute {
                points: Vec::new(),
                length,
                time,
            }))
        };
        assert_eq!(text(123.0, 9.6), "route 120 m, 10 s");
        assert_eq!(text(994.0, 99.0), "route 990 m, 99 s");
        assert_eq!(text(1_234.0, 121.0), "route 1.2 km, 2 min");
        let none = route_text(&Err("lane 1 of road 2 leads away".into()));
        assert_eq!(none, "no route: lane 1 of road 2 leads away");
        let none = route_text(&Err("no route leads there".into()));
        assert_eq!(none, "no route leads there");
    }
}
