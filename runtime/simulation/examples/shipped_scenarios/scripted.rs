//! Scenarios whose agents are driven by scripts.

use super::builder::{Builder, avenue, street, trip};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_geometry::projection::Projector;
use roadwright_scenario::{DrivingSide, ModuleSetting, Place, Scenario, Stack};

/// A stack whose behaviour is a script that is called ten times a second.
fn scripted(script: &str) -> Stack {
    driven_by_script(script, "idm")
}

/// Like `scripted`, but with a given controller.
pub(crate) fn driven_by_script(script: &str, controller: &str) -> Stack {
    let mut behaviour = ModuleSetting::new(&format!("{script}.rhai"));
    behaviour.rate_hz = Some(10.0).into();
    Stack {
        behaviour,
        ..Stack::with_controller(controller)
    }
}

/// A square of avenues with sides of 300 m around two crossing streets, in right-hand traffic.
fn town(name: &str, description: &str) -> Builder {
    let mut b = Builder::new(name, description, DrivingSide::Right);
    let (near, far) = (-60.0, 360.0);
    for (at, names) in [
        (0.0, ("South Avenue", "West Avenue")),
        (150.0, ("Middle Street", "Church Street")),
        (300.0, ("North Avenue", "East Avenue")),
    ] {
        let style = |name: &str| {
            if at == 150.0 {
                street(name)
            } else {
                avenue(name)
            }
        };
        b.road(&[(near, at), (far, at)], 0.0, &style(names.0));
        b.road(&[(at, near), (at, far)], 0.0, &style(names.1));
    }
    b
}

impl Builder {
    /// The place on a lane that is nearest to a point. Lanes are counted from the middle of the road.
    fn lane_at(&self, x: f64, y: f64, number: i8) -> Place {
        let point = DVec2::new(x, y);
        let nearest = self.scenario.network().roads().map(|(id, road)| {
            let found = Projector::new(road.reference_line.clone()).closest(point);
            let miss = (road.reference_line.pose(found.s).position - point).length();
            (miss, id, found)
        });
        let (_, road, found) = nearest
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .expect("there are roads");
        let lane = if found.t < 0.0 { -number } else { number };
        Place::lane(road, lane, found.s)
    }
}

/// Commuters, learners, a bus line and an ambulance in a small town.
pub(crate) fn rush_hour() -> Scenario {
    let mut b = town(
        "rush-hour",
        "Commuters drive to work and home, learners hesitate, a bus keeps its timetable, and \
         traffic gives way to an ambulance with its siren on.",
    );
    b.settings(1, 400.0);
    for script in ["commuter", "learner_driver", "bus_line", "ambulance"] {
        b.stack(script, scripted(script));
    }
    // Places between the junctions, on the right side of the road, in both directions.
    let mut places: Vec<(f64, f64)> = Vec::new();
    for line in [0.0, 150.0, 300.0] {
        for along in [75.0, 225.0] {
            for side in [-1.6, 1.6] {
                places.push((along, line + side));
                places.push((line + side, along));
            }
        }
    }
    let mut random = Stream::new(7, "rush-hour", 0);
    let mut pick = |count: usize| random.next_index(count);
    for number in 0..30 {
        let from = places[pick(places.len())];
        let mut to = places[pick(places.len())];
        while (to.0 - from.0).abs() + (to.1 - from.1).abs() < 200.0 {
            to = places[pick(places.len())];
        }
        let (start, end) = (b.lane_at(from.0, from.1, 1), b.lane_at(to.0, to.1, 1));
        let stack = if number % 6 == 5 {
            "learner_driver"
        } else {
            "commuter"
        };
        b.agent(trip("car", stack, start, end, f64::from(number) * 2.0));
    }
    let (start, end) = (b.lane_at(20.0, -4.9, 2), b.lane_at(75.0, -4.9, 2));
    b.agent(trip("enviro_400", "bus_line", start, end, 0.0));
    let (start, end) = (b.lane_at(-30.0, -1.6, 1), b.lane_at(330.0, 301.6, 1));
    b.agent(trip("car", "ambulance", start, end, 30.0));
    b.scenario
}

/// Six cars that stay together.
pub(crate) fn convoy() -> Scenario {
    let mut b = town(
        "convoy",
        "Six cars drive across a town in convoy; each follows the car ahead.",
    );
    b.settings(1, 200.0);
    b.stack("convoy", scripted("convoy"));
    let end = b.lane_at(301.6, 345.0, 1);
    for number in 0..6 {
        let start = b.lane_at(140.0 - 14.0 * f64::from(number), -1.6, 1);
        b.agent(trip("car", "convoy", start, end, 0.0));
    }
    b.scenario
}

/// Two pursuers chase one evader.
pub(crate) fn chase() -> Scenario {
    let mut b = town(
        "chase",
        "Two pursuers hunt an evader, which drives wherever the roads lead away from them.",
    );
    b.settings(1, 300.0);
    b.stack("evader", scripted("evader"));
    b.stack("pursuer", scripted("pursuer"));
    let (start, end) = (b.lane_at(200.0, 148.4, 1), b.lane_at(340.0, 148.4, 1));
    b.agent(trip("car", "evader", start, end, 0.0));
    for (from, to) in [
        ((-20.0, -1.6), (340.0, -1.6)),
        ((-1.6, 340.0), (-1.6, -40.0)),
    ] {
        let (start, end) = (b.lane_at(from.0, from.1, 1), b.lane_at(to.0, to.1, 1));
        b.agent(trip("car", "pursuer", start, end, 0.0));
    }
    b.scenario
}
