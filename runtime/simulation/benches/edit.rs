//! Cost of an edit of one road or one obstacle in a running world.
//!
//! `cargo bench -p roadwright-simulation --bench edit -- [FILE] [--vehicles N] [--rounds N] [--obstacles]`
//! lets random trips drive for ten seconds, then widens the lanes of one road after another, or moves one
//! obstacle after another by half a metre, and applies each edit to the world. For each edit, it prints one
//! line of JSON: the CPU time for the world to accept the edit, the waiting time until vehicles have left the
//! changed junctions, and the CPU time of the longest step up to and including the first one after the edit
//! has been applied. Without arguments, it uses old-town with 150 vehicles.

mod allocator;

use cpu_time::ProcessTime;
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::{Motion, moved};
use roadwright_scenario::{Edit, ObjectId, Scenario, file};
use roadwright_simulation::{PopulateFrom, RunOptions, World, builtin_modules};
use std::path::PathBuf;

fn main() {
    let shipped = "../../scenarios/old-town.scenario.json";
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(shipped);
    let (mut vehicles, mut rounds, mut obstacles) = (0, 5, false);
    // Cargo adds the argument `--bench`.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let mut number = || -> usize {
            let value = words.next().and_then(|value| value.parse().ok());
            value.unwrap_or_else(|| panic!("{word} needs a number"))
        };
        match word.as_str() {
            "--vehicles" => vehicles = number(),
            "--rounds" => rounds = number(),
            "--obstacles" => obstacles = true,
            file => path = file.into(),
        }
    }
    let mut scenario = file::load(&path).expect("a scenario");
    let options = RunOptions {
        populate: vehicles,
        populate_from: PopulateFrom::Inside,
        lenient: true,
        ..RunOptions::default()
    };
    let modules = builtin_modules();
    let mut world = World::new(&scenario, &modules, &options).expect("sound");
    while world.time() < 10.0 {
        world.step();
    }
    for round in 0..rounds {
        let edited = match obstacles {
            true => with_obstacle_moved(&scenario, round, rounds),
            false => widened(&scenario, round, rounds),
        };
        let replans = world.summary().replans;
        let cpu = ProcessTime::now();
        world.update(&scenario, &edited, &modules).expect("sound");
        let update = 1e3 * cpu.elapsed().as_secs_f64();
        scenario = edited;
        let begin = world.time();
        let mut longest: f64 = 0.0;
        let mut has_entered = false;
        while !has_entered {
            has_entered = world.closing_nodes().is_empty();
            let cpu = ProcessTime::now();
            world.step();
            longest = longest.max(1e3 * cpu.elapsed().as_secs_f64());
        }
        let waits = world.time() - begin;
        let active = world.counts().active;
        println!(
            "{{\"round\": {round}, \"update_ms\": {update:.2}, \"step_ms\": {longest:.2}, \
             \"waits_s\": {waits:.1}, \"vehicles\": {active}, \"replans\": {}}}",
            world.summary().replans.stuck - replans.stuck
        );
    }
}

/// Widens the lanes of one of the roads.
fn widened(scenario: &Scenario, round: usize, rounds: usize) -> Scenario {
    let count = scenario.network().road_count();
    let mut roads = scenario.network().roads();
    let (id, road) = roads.nth(round * count / rounds).expect("a road");
    let mut road = road.clone();
    for section in &mut road.lane_sections {
        for lane in &mut section.lanes {
            lane.width[0].a += 0.1;
        }
    }
    let mut edited = scenario.clone();
    let edit = Edit::Road(id, Some(Box::new(road)));
    edited.apply(edit).expect("sound");
    edited
}

/// Moves one of the obstacles.
fn with_obstacle_moved(scenario: &Scenario, round: usize, rounds: usize) -> Scenario {
    let count = scenario.obstacles().len();
    let mut all = scenario.obstacles().keys();
    let id = *all.nth(round * count / rounds).expect("an obstacle");
    let motion = Motion::shift(DVec2::new(0.5, 0.0));
    let objects = [ObjectId::Obstacle(id)].into();
    let edit = moved(scenario, &objects, &motion).expect("within the world");
    let mut edited = scenario.clone();
    edited.apply(edit).expect("sound");
    edited
}
