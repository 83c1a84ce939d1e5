//! Cost of a world on a shared ground. Training creates thousands of them.
//!
//! `cargo bench -p roadwright-simulation --bench world -- [FILE]` puts 40 agents with built-in modules on the
//! roads of a scenario. It prints the CPU times of creating a world (mean of a thousand) and of its first
//! step. Without arguments, it uses the scenario `crossroads`.

mod allocator;

use cpu_time::ProcessTime;
use roadwright_scenario::{Agent, AgentId, Edit, LaneType, Place, Scenario, file};
use roadwright_simulation::{Ground, RunOptions, World, builtin_modules};
use std::path::PathBuf;

/// Number of agents in a world.
const AGENTS: usize = 40;
/// Number of worlds that are created.
const WORLDS: u32 = 1000;

fn main() {
    let shipped = "../../scenarios/crossroads.scenario.json";
    let shipped = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(shipped);
    // Cargo adds the argument `--bench`.
    let file = std::env::args().skip(1).find(|word| word != "--bench");
    let scenario = file::load(&file.map_or(shipped, PathBuf::from)).expect("a scenario");
    let scenario = with_agents(&scenario);
    let ground = Ground::new(&scenario);
    let (modules, options) = (builtin_modules(), RunOptions::default());
    let make = || World::on_ground(ground.clone(), &scenario, &modules, &options).expect("sound");
    // The first world creates the data that all worlds on a ground share.
    make().step();
    let cpu = ProcessTime::now();
    for _ in 0..WORLDS {
        std::hint::black_box(make());
    }
    let ready = 1e6 * cpu.elapsed().as_secs_f64() / f64::from(WORLDS);
    let mut worlds: Vec<World> = (0..20).map(|_| make()).collect();
    let cpu = ProcessTime::now();
    worlds.iter_mut().for_each(World::step);
    let step = 1e6 * cpu.elapsed().as_secs_f64() / 20.0;
    println!("{{\"agents\": {AGENTS}, \"ready_us\": {ready:.1}, \"first_step_us\": {step:.1}}}");
}

/// Spreads agents over the roads of a scenario.
fn with_agents(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    for id in scenario.flows().keys().copied().collect::<Vec<_>>() {
        scenario.apply(Edit::Flow(id, None)).expect("sound");
    }
    for id in scenario.agents().keys().copied().collect::<Vec<_>>() {
        scenario.apply(Edit::Agent(id, None)).expect("sound");
    }
    // Shorter roads may be completely inside a junction.
    let roads = scenario.network().roads();
    let roads = roads.filter(|(_, road)| road.length() > 80.0);
    let places = roads.flat_map(|(id, road)| {
        let lanes = road.lane_sections[0].lanes.iter();
        let driving = lanes.filter(|lane| lane.kind == LaneType::Driving);
        let half = 0.5 * road.length();
        driving.map(move |lane| Place::lane(id, lane.id, half))
    });
    let places: Vec<Place> = places.collect();
    for number in 0..AGENTS {
        let place = |number: usize| places[number * places.len() / AGENTS % places.len()];
        let agent = Agent {
            name: String::new(),
            vehicle: "car".into(),
            stack: "idm".into(),
            dynamics: None,
            start: place(number),
            via: Vec::new(),
            destination: Some(place(number + AGENTS / 2)),
            depart: 0.0.into(),
            repeat: None.into(),
            speed: 0.0.into(),
        };
        let edit = Edit::Agent(AgentId(number as u32 + 1), Some(Box::new(agent)));
        scenario.apply(edit).expect("sound");
    }
    scenario
}
