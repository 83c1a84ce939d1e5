//! Tests of wheels that leave the carriageway.
//!
//! The carriageway is the area between the outermost lanes of each road that are not pavements,
//! plus the surfaces of the junctions. Wheels are assumed to be flush with the sides of their
//! vehicle.

use crate::common::{all_shipped, draw_street, has_scripts, shipped, street};
use roadwright_geometry::projection::Projector;
use roadwright_geometry::{DVec2, polygon, unit};
use roadwright_scenario::junction::layout;
use roadwright_scenario::{BodyKind, DynamicsLevel, Road, Scenario};
use roadwright_simulation::{RunOptions, VehicleRecord, World, builtin_modules};
use roadwright_testing::is_slow;
use std::collections::{BTreeMap, BTreeSet};

/// Time between two measurements, s.
const PERIOD: f64 = 0.1;
/// Size of an index cell, m.
const CELL: f64 = 32.0;
/// Distance from the carriageway beyond which a vehicle is assumed to have left the roads on
/// purpose, m.
const FAR: f64 = 3.0;
/// Length above which a vehicle counts as long, m.
const LONG: f64 = 7.0;
/// Largest distance of a wheel of a car from the carriageway, m.
const CAR_LIMIT: f64 = 0.1;
/// Largest distance of a wheel of a long vehicle from the carriageway, m.
const LONG_LIMIT: f64 = 0.5;

/// A part of the carriageway.
enum Part {
    /// A road between its junctions.
    Road {
        road: Box<Road>,
        projector: Box<Projector>,
        from: f64,
        to: f64,
    },
    /// A part of a junction.
    Area(Vec<DVec2>),
}

impl Part {
    /// Returns the distance of a point from this part, m; 0 inside.
    fn distance(&self, point: DVec2) -> f64 {
        match self {
            Self::Road {
                road,
                projector,
                from,
                to,
            } => {
                let foot = projector.closest(point);
                let (right, left) = road.carriageway(foot.s.clamp(*from, *to));
                let beside = (foot.t - left).max(right - foot.t).max(0.0);
                let beyond = (foot.s - to).max(from - foot.s).max(0.0);
                DVec2::new(beside, beyond).length()
            }
            Self::Area(outline) => polygon::distance(outline, point),
        }
    }

    fn bounds(&self) -> (DVec2, DVec2) {
        match self {
            Self::Road { road, .. } => road.reference_line.bounds(road.reach()),
            Self::Area(outline) => polygon::bounds(outline).unwrap_or_default(),
        }
    }
}

/// The carriageways of a scenario.
struct Carriageway {
    parts: Vec<Part>,
    /// Indices of the parts within [`FAR`] of each cell.
    cells: BTreeMap<[i32; 2], Vec<usize>>,
}

fn cell(point: DVec2) -> [i32; 2] {
    point.to_array().map(|at| (at / CELL).floor() as i32)
}

impl Carriageway {
    fn of(scenario: &Scenario) -> Self {
        let layout = layout(scenario.network(), scenario.about().driving_side);
        let mut parts = Vec::new();
        for (id, road) in scenario.network().roads() {
            if let Some((from, to)) = layout.remaining(id, road) {
                parts.push(Part::Road {
                    road: Box::new(road.clone()),
                    projector: Box::new(Projector::new(road.reference_line.clone())),
                    from,
                    to,
                });
            }
        }
        for junction in &layout.junctions {
            let gores = junction.gores().iter().map(|gore| {
                let back = gore.left.iter().rev().copied();
                gore.right.iter().copied().chain(back).collect()
            });
            let strips = junction.strips().iter().cloned();
            let areas = [junction.polygon_within(0.01)].into_iter();
            let areas = areas.chain(strips).chain(gores);
            parts.extend(areas.filter(|area| area.len() > 2).map(Part::Area));
        }
        let mut cells: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, part) in parts.iter().enumerate() {
            let (low, high) = part.bounds();
            let (low, high) = (cell(low - FAR), cell(high + FAR));
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    cells.entry([x, y]).or_default().push(index);
                }
            }
        }
        Self { parts, cells }
    }

    /// Returns the distance of a point from the carriageway, m; infinite beyond [`FAR`].
    fn distance(&self, point: DVec2) -> f64 {
        let near = self.cells.get(&cell(point)).into_iter().flatten();
        let mut least = f64::INFINITY;
        for &index in near {
            least = least.min(self.parts[index].distance(point));
            if least <= 0.0 {
                break;
            }
        }
        least
    }
}

/// Returns the positions of the four wheels of a vehicle, m.
fn wheels(vehicle: &VehicleRecord, wheelbase: f64) -> [DVec2; 4] {
    let ahead = unit(vehicle.pose.heading);
    let left = 0.5 * vehicle.width * ahead.perp();
    let rear = vehicle.pose.position;
    let front = rear + wheelbase * ahead;
    [rear - left, rear + left, front - left, front + left]
}

/// Count of measurements and violations for one class of vehicles.
#[derive(Default)]
struct Count {
    /// Number of measurements.
    measured: u64,
    /// Vehicles with a wheel beyond the limit.
    vehicles: BTreeSet<u64>,
    /// The worst violation in each cell of 20 m.
    places: BTreeMap<[i32; 2], Worst>,
}

/// The wheel that was farthest from the carriageway.
#[derive(Clone, Copy)]
struct Worst {
    distance: f64,
    agent: u64,
    place: DVec2,
    time: f64,
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} vehicles", self.vehicles.len())?;
        let mut places: Vec<Worst> = self.places.values().copied().collect();
        places.sort_by(|a, b| b.distance.total_cmp(&a.distance));
        for worst in places.iter().take(12) {
            let Worst {
                distance,
                agent,
                place,
                time,
            } = worst;
            write!(
                f,
                "\n    {distance:.2} m, agent {agent} at {place:.1} after {time:.1} s"
            )?;
        }
        Ok(())
    }
}

/// Runs a scenario and counts wheels beside the carriageway, for cars and for long vehicles.
fn drive(scenario: &Scenario, level: DynamicsLevel, seconds: f64) -> [Count; 2] {
    let carriageway = Carriageway::of(scenario);
    let options = RunOptions {
        dynamics: Some(level),
        ..RunOptions::default()
    };
    let mut counts = <[Count; 2]>::default();
    let mut world = World::new(scenario, &builtin_modules(), &options).unwrap();
    let stride = (PERIOD / world.dt()).round().max(1.0) as u64;
    while world.time() < seconds && !world.is_over() {
        for _ in 0..stride {
            world.step();
        }
        for vehicle in &world.snapshot().vehicles {
            let kind = world.vehicle_type_of(vehicle.agent);
            let kind = kind.and_then(|name| scenario.vehicle_types().get(&**name));
            let Some(kind) = kind else { continue };
            if vehicle.body_kind == BodyKind::Character || vehicle.has_tracks {
                continue;
            }
            let (count, limit) = match vehicle.length > LONG {
                true => (&mut counts[1], LONG_LIMIT),
                false => (&mut counts[0], CAR_LIMIT),
            };
            let distances = wheels(vehicle, *kind.wheelbase);
            let distances = distances.map(|wheel| carriageway.distance(wheel));
            let most = distances.into_iter().fold(0.0, f64::max);
            if most > FAR {
                continue;
            }
            count.measured += 1;
            if most > limit {
                count.vehicles.insert(vehicle.agent);
                let place = vehicle.pose.position;
                let worst = Worst {
                    distance: most,
                    agent: vehicle.agent,
                    place,
                    time: world.time(),
                };
                let known = count
                    .places
                    .entry(cell(place / 20.0 * CELL))
                    .or_insert(worst);
                if known.distance < most {
                    *known = worst;
                }
            }
        }
    }
    counts
}

/// Scenarios whose vehicles leave the roads on purpose.
const OFF_ROAD: [&str; 2] = ["proving-ground", "short-cut"];

#[test]
fn wheels_of_cars_stay_on_the_carriageway() {
    let (names, seconds) = match is_slow() {
        true => (all_shipped(), 300.0),
        false => (vec!["old-town".into(), "roundabouts".into()], 60.0),
    };
    for name in names.iter().filter(|name| !OFF_ROAD.contains(&&***name)) {
        let scenario = shipped(name);
        if has_scripts(&scenario) {
            continue;
        }
        for level in [DynamicsLevel::Lane, DynamicsLevel::OneTrack] {
            let [cars, _] = drive(&scenario, level, seconds);
            let is_busy = ["old-town", "roundabouts"].contains(&name.as_str());
            assert!(
                !is_busy || cars.measured > 100,
                "{name} {level}: {}",
                cars.measured
            );
            let worst = cars.places.values().map(|worst| worst.distance);
            let worst = worst.fold(0.0, f64::max);
            assert!(worst <= CAR_LIMIT, "{name} {level}: {cars}");
        }
    }
}

#[test]
fn a_wheel_beside_the_road_is_measured() {
    let mut scenario = Scenario::new("street");
    let (from, to) = (DVec2::ZERO, DVec2::new(100.0, 0.0));
    draw_street(&mut scenario, from, to, &street(1, 1));
    let carriageway = Carriageway::of(&scenario);
    let at = |y| carriageway.distance(DVec2::new(50.0, y));
    let (left, right) = (3.25, -3.25);
    assert_eq!((at(left - 0.1), at(right + 0.1)), (0.0, 0.0));
    assert!((at(left + 0.7) - 0.7).abs() < 1e-6);
    assert!((at(right - 0.7) - 0.7).abs() < 1e-6);
}

#[test]
#[ignore = "prints a table"]
fn table_of_wheels_beside_the_carriageway() {
    for name in all_shipped() {
        let scenario = shipped(&name);
        if has_scripts(&scenario) || scenario.network().roads().next().is_none() {
            continue;
        }
        for level in [DynamicsLevel::Lane, DynamicsLevel::OneTrack] {
            let [cars, long] = drive(&scenario, level, 300.0);
            println!("{name} {level}: cars {cars}\n  long {long}");
        }
    }
}
