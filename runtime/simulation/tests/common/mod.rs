//! Shared helpers for tests: shipped scenarios and vehicles, streets and flows.

mod equip;

use glam::DVec2;
use roadwright_agent::Slot;
use roadwright_geometry::{HeightField, ReferenceLine};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::vehicle_file::{FileReference, VehicleFile};
use roadwright_scenario::{
    CrossSection, Edit, Flow, Place, RoadClass, Scenario, VehicleType, file,
};
use roadwright_simulation::{
    Ground, ModuleOverrides, RunOptions, SavedWorld, Status, Summary, World, builtin_modules,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) fn scenarios() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

pub(crate) fn shipped(name: &str) -> Scenario {
    file::load(&scenarios().join(format!("{name}.scenario.json"))).unwrap()
}

/// Adds the vehicle types and stacks of a shipped scenario.
pub(crate) fn equip(scenario: &mut Scenario, name: &str) {
    equip::equip_as(scenario, &shipped(name));
}

/// Restores a world from the bytes of its save, with the same scenario and options.
pub(crate) fn restored(world: &World, scenario: &Scenario, options: &RunOptions) -> World {
    let saved = SavedWorld::from_bytes(&world.save().unwrap().to_bytes()).unwrap();
    let ground = Ground::new(scenario);
    let (restored, notes) =
        World::restore(ground, scenario, &builtin_modules(), options, &saved).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(restored.snapshot(), world.snapshot());
    restored
}

/// Returns the style of a residential street with the given numbers of lanes.
pub(crate) fn street(forward: usize, backward: usize) -> RoadStyle {
    RoadStyle {
        name: String::new(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 13.9,
        section: CrossSection::driving(forward, backward, 3.25),
    }
}

/// Draws a straight road between two points.
pub(crate) fn draw_street(scenario: &mut Scenario, from: DVec2, to: DVec2, style: &RoadStyle) {
    let line = ReferenceLine::straight(from, to).unwrap();
    let edit = draw::road(scenario, &line, style).unwrap();
    scenario.apply(edit).unwrap();
}

/// Creates a flow of cars with stack `idm` between two places, at `rate_per_hour` for the whole run.
pub(crate) fn cars(origin: Place, destination: Place, rate_per_hour: f64) -> Flow {
    Flow {
        vehicle: "car".into(),
        stack: "idm".into(),
        origin,
        destination,
        rate_per_hour: rate_per_hour.into(),
        begin: 0.0.into(),
        end: 1e6.into(),
        dynamics: None,
    }
}

pub(crate) fn add_flow(scenario: &mut Scenario, flow: Flow) {
    let id = scenario.next_flow_id();
    let edit = Edit::Flow(id, Some(Box::new(flow)));
    scenario.apply(edit).unwrap();
}

/// Returns the names of the shipped scenarios, in order.
pub(crate) fn all_shipped() -> Vec<String> {
    let files = std::fs::read_dir(scenarios()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names
        .filter_map(|name| Some(name.strip_suffix(".scenario.json")?.to_owned()))
        .collect();
    names.sort();
    names
}

/// Whether any stack of a scenario uses a script. Such scenarios are run by a test of the crate that loads
/// scripts.
pub(crate) fn has_scripts(scenario: &Scenario) -> bool {
    let stacks = scenario.stacks().values();
    let mut settings = stacks.flat_map(|stack| stack.settings(Slot::Behaviour));
    settings.any(|setting| setting.module.ends_with(".rhai"))
}

/// Returns a shipped vehicle with modifications, in the form in which scenarios store it.
pub(crate) fn vehicle(name: &str, change: impl Fn(&mut VehicleFile)) -> VehicleType {
    let path = format!("vehicles/{name}.vehicle.json");
    let mut vehicle = VehicleFile::load(&scenarios().join(&path)).unwrap();
    change(&mut vehicle);
    VehicleType {
        file: Some(Arc::new(FileReference {
            path,
            hash: String::new(),
            was: None,
            vehicle: vehicle.clone(),
        })),
        ..vehicle.vehicle_type()
    }
}

/// Replaces all vehicle types of a scenario.
pub(crate) fn driven_by(mut scenario: Scenario, kind: &VehicleType) -> Scenario {
    for key in scenario.vehicle_types().clone().into_keys() {
        let edit = Edit::VehicleType(key, Some(Box::new(kind.clone())));
        scenario.apply(edit).unwrap();
    }
    scenario
}

/// Removes a stack and its agents from a scenario, because tests of this crate cannot load scripts.
pub(crate) fn without_stack(mut scenario: Scenario, stack: &str) -> Scenario {
    for (id, agent) in scenario.agents().clone() {
        if agent.stack == stack {
            scenario.apply(Edit::Agent(id, None)).unwrap();
        }
    }
    scenario.apply(Edit::Stack(stack.into(), None)).unwrap();
    scenario
}

/// Returns options with which agents drive straight to their goals, because a planner would avoid
/// obstacles that can be pushed.
pub(crate) fn straight() -> RunOptions {
    let mut modules = ModuleOverrides::default();
    let before = modules.set(Slot::GroundPlanner, vec!["straight".into()]);
    assert_eq!(before, Ok(None));
    RunOptions {
        modules,
        ..RunOptions::default()
    }
}

/// Creates a world with the built-in modules.
pub(crate) fn world(scenario: &Scenario, options: &RunOptions) -> World {
    World::new(scenario, &builtin_modules(), options).unwrap()
}

/// Runs until all agents have arrived, but for at most the given number of seconds. Returns the ids of the
/// agents that arrived.
pub(crate) fn run(
    scenario: &Scenario,
    options: &RunOptions,
    seconds: f64,
) -> (BTreeSet<u64>, Summary) {
    let mut world = world(scenario, options);
    while world.time() < seconds && !world.is_over() {
        world.step();
    }
    let arrived = world.finished();
    let arrived = arrived.filter(|agent| agent.status == Status::Arrived);
    (arrived.map(|agent| agent.id).collect(), world.summary())
}

/// Creates terrain that rises to the east.
pub(crate) fn plane(rise: f64) -> HeightField {
    let (low, high) = (DVec2::new(-100.0, -100.0), DVec2::new(2100.0, 100.0));
    let flat = HeightField::level(low, high, 50.0).unwrap();
    let columns = flat.columns();
    let heights = (0..flat.heights().len()).map(|at| rise * 50.0 * (at % columns) as f64);
    flat.with_heights(heights.collect()).unwrap()
}
