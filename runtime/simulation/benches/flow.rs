//! Checks that a world stays small and fast while many agents pass through it.
//!
//! `cargo bench -p roadwright-simulation --bench flow -- [--agents N]` lets the flows of the scenario
//! `crossroads` continue until the given number of agents has arrived (100,000 by default). The flows have
//! half their rate, so that no queue grows. For each tenth of these agents, it prints the CPU time of a step,
//! the number of driving agents and the memory of the process. One row is kept for each agent that has
//! arrived.

mod allocator;

use cpu_time::ProcessTime;
use roadwright_scenario::{Edit, Flow, Scenario, file};
use roadwright_simulation::{RunOptions, World, builtin_modules};
use std::path::PathBuf;

fn main() {
    let shipped = "../../scenarios/crossroads.scenario.json";
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(shipped);
    let scenario = endless(&file::load(&path).expect("the shipped scenario"));
    let mut words = std::env::args().skip_while(|word| word != "--agents");
    let agents: usize = words
        .nth(1)
        .map_or(100_000, |count| count.parse().expect("a number"));
    let options = RunOptions {
        dt: Some(0.1),
        ..RunOptions::default()
    };
    let mut world = World::new(&scenario, &builtin_modules(), &options).expect("sound");
    for tenth in 1..=10 {
        let (cpu, before) = (ProcessTime::now(), world.steps());
        while world.finished().len() < agents * tenth / 10 {
            // The log of arrivals is checked only occasionally.
            (0..1000).for_each(|_| world.step());
        }
        let steps = (world.steps() - before) as f64;
        println!(
            "{{\"arrived\": {}, \"step_us\": {:.2}, \"driving\": {}, \"memory_kib\": {}}}",
            world.finished().len(),
            1e6 * cpu.elapsed().as_secs_f64() / steps,
            world.counts().active,
            memory()
        );
    }
}

/// Returns the scenario with endless flows at half their rate.
fn endless(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    for (id, flow) in scenario.flows().clone() {
        let flow = Flow {
            end: 1e7.into(),
            rate_per_hour: (0.5 * flow.rate_per_hour).into(),
            ..flow
        };
        let edit = Edit::Flow(id, Some(Box::new(flow)));
        scenario.apply(edit).expect("sound");
    }
    scenario
}

/// Resident memory of the process, KiB; 0 if the system does not report it.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}
