//! Everything on the map except roads: forests, obstacles and places.

use super::groves::Grove;
use super::mesh::{Ink, Level, Mesh, MeshBuilder};
use roadwright_geometry::{DVec2, unit};
use roadwright_render::palette::{self, faded, rgb};
use roadwright_render::{Painter, Pass, land, points_of_interest};
use roadwright_scenario::{Forest, ForestId, Obstacle, ObstacleId, Place, Scenario};
use roadwright_simulation::LooseRecord;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Forests with their trees, by id.
type Known = BTreeMap<ForestId, (Forest, Arc<Grove>)>;

/// The objects of a scenario as triangles and instances.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    /// Mesh of the forest floors.
    pub floors: Arc<Mesh>,
    /// Loose obstacles at their initial positions.
    pub loose: Arc<Mesh>,
    /// Mesh of points of interest and destinations.
    pub things: Arc<Mesh>,
    /// Vehicles at their starting positions.
    pub starts: Arc<Mesh>,
    /// The forests with their trees.
    pub groves: Vec<Arc<Grove>>,
    known: Known,
}

impl Objects {
    /// Creates the objects. The trees of unchanged forests are reused from `before`, because a large forest
    /// has thousands.
    pub fn new(scenario: &Scenario, ink: Ink, before: &Self) -> Self {
        let known: Known = scenario
            .planted()
            .map(|(id, forest)| match before.known.get(&id) {
                Some((old, grove)) if old == forest => (id, (old.clone(), grove.clone())),
                _ => (id, (forest.clone(), Arc::new(Grove::new(forest, ink)))),
            })
            .collect();
        Self {
            floors: Arc::new(floors(scenario, ink)),
            loose: Arc::new(loose(origin(scenario), ink, all_loose(scenario), &[])),
            things: Arc::new(things(scenario, ink)),
            starts: Arc::new(starts(scenario, ink)),
            groves: known.values().map(|(_, grove)| grove.clone()).collect(),
            known,
        }
    }
}

/// Returns the centre of the world.
pub fn origin(scenario: &Scenario) -> DVec2 {
    let (low, high) = scenario.bounds().unwrap_or_default();
    0.5 * (low + high)
}

fn floors(scenario: &Scenario, ink: Ink) -> Mesh {
    let mut builder = MeshBuilder::new(origin(scenario), Level::Near, ink);
    land::floors(&mut builder, scenario);
    builder.finish()
}

/// Layer of loose obstacles in the meshes of objects. Objects that can only be hidden together
/// share a layer.
pub const LOOSE: i8 = 0;
/// Layer of points of interest.
pub const PLACES: i8 = 1;
/// Layer of destinations.
const TRIPS: i8 = 2;

/// Returns the obstacles that can be pushed. All others are drawn with the land of their tile.
pub(super) fn all_loose(scenario: &Scenario) -> impl Iterator<Item = (&ObstacleId, &Obstacle)> {
    let all = scenario.obstacles().iter();
    all.filter(|(_, obstacle)| obstacle.mass.is_some())
}

/// Creates the mesh of pushed obstacles at their positions in a run. `origin` is the point that
/// corners are relative to.
pub fn loose<'a>(
    origin: DVec2,
    ink: Ink,
    some: impl Iterator<Item = (&'a ObstacleId, &'a Obstacle)>,
    pushed: &[LooseRecord],
) -> Mesh {
    let mut builder = MeshBuilder::new(origin, Level::Near, ink);
    let loose = land::where_pushed(some, pushed);
    builder.set_layer(LOOSE);
    let loose = loose.iter().map(|(id, one)| (id, one.as_ref()));
    land::obstacles(&mut builder, loose);
    builder.finish()
}

fn things(scenario: &Scenario, ink: Ink) -> Mesh {
    let mut builder = MeshBuilder::new(origin(scenario), Level::Near, ink);
    builder.set_layer(PLACES);
    points_of_interest(&mut builder, scenario);
    builder.set_layer(TRIPS);
    builder.begin(Pass::Marking);
    for agent in scenario.agents().values() {
        if let Some(Place::Ground(goal)) = agent.destination {
            goal_rings(&mut builder, goal.position());
        }
    }
    for flow in scenario.flows().values() {
        if let Some(pose) = scenario.pose_of(&flow.origin) {
            let at = |ahead: f64, left: f64| pose.point(ahead, left);
            for ahead in [0.0, 3.0] {
                let chevron = [at(ahead - 1.5, 1.3), at(ahead, 0.0), at(ahead - 1.5, -1.3)];
                builder.line(&chevron, 0.5, 1.5, rgb(palette::FLOW));
            }
        }
        if let Some(pose) = scenario.pose_of(&flow.destination) {
            goal_rings(&mut builder, pose.position);
        }
    }
    builder.finish()
}

fn starts(scenario: &Scenario, ink: Ink) -> Mesh {
    let mut builder = MeshBuilder::new(origin(scenario), Level::Near, ink);
    for agent in scenario.agents().values() {
        let kind = scenario.vehicle_types().get(&agent.vehicle);
        let (length, width) = kind.map_or((4.0, 1.8), |kind| (kind.length.get(), kind.width.get()));
        if let Some(pose) = scenario.pose_of(&agent.start) {
            parked(&mut builder, pose.position, pose.heading, length, width);
        }
    }
    builder.finish()
}

/// Adds the outline of a vehicle at its start, with an arrow in its direction.
fn parked(builder: &mut MeshBuilder, at: DVec2, heading: f64, length: f64, width: f64) {
    let forward = unit(heading);
    let corner = |ahead: f64, left: f64| at + ahead * forward + left * forward.perp();
    // The position refers to the rear axle.
    let (front, rear, half) = (0.8 * length, -0.2 * length, 0.5 * width);
    let body = [
        corner(front, 0.6 * half),
        corner(front - 0.4, half),
        corner(rear, half),
        corner(rear, -half),
        corner(front - 0.4, -half),
        corner(front, -0.6 * half),
    ];
    builder.polygon(&body, faded(palette::SHEEN, 0.6));
    builder.edge(&body, 0.12, 0.8, faded(palette::RIM, 0.7));
}

fn goal_rings(builder: &mut MeshBuilder, at: DVec2) {
    builder.circle(at, 1.6, 0.0, rgb(palette::DESTINATION));
    builder.circle(at, 0.9, 0.0, rgb(palette::PAPER));
    builder.circle(at, 0.45, 0.0, rgb(palette::DESTINATION));
}
