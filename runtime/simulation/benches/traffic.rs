//! Traffic at scale: cost of a step, and the fraction of the traffic that arrives.
//!
//! `cargo bench -p roadwright-simulation --bench traffic -- [FILE] [--copies N] [--vehicles N] [--dt S]
//! [--from S] [--to S] [--rounds N] [--threads N] [--dynamics LEVEL]` drives random trips through copies of a
//! scenario side by side, with the same density for any number of copies. It prints one line of JSON per
//! round: CPU time of the steps between the two times, in total and by stage, and the fraction spent on
//! planning. With several copies, all copies have the same trips. Without arguments, it uses 14 copies of
//! old-town with 2,100 vehicles.

mod allocator;

use cpu_time::ProcessTime;
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::{Motion, copied, pasted};
use roadwright_scenario::{About, Agent, AgentId, DynamicsLevel, Edit, ObjectId, Scenario, file};
use roadwright_simulation::{
    Ground, PopulateFrom, RunOptions, SavedWorld, Stage, World, builtin_modules, random_trips,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Gap between two copies, m.
const MARGIN: f64 = 200.0;

struct Options {
    file: PathBuf,
    copies: usize,
    vehicles: usize,
    dt: f64,
    from: f64,
    to: f64,
    rounds: usize,
    threads: usize,
    dynamics: Option<DynamicsLevel>,
}

impl Options {
    fn read() -> Self {
        let shipped = "../../scenarios/old-town.scenario.json";
        let mut options = Self {
            file: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(shipped),
            copies: 14,
            vehicles: 2100,
            dt: 0.01,
            from: 10.0,
            to: 20.0,
            rounds: 1,
            threads: 1,
            dynamics: None,
        };
        // Cargo adds the argument `--bench`.
        let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            if word == "--dynamics" {
                let level = words.next().and_then(|level| level.parse().ok());
                options.dynamics = Some(level.expect("--dynamics needs a level"));
                continue;
            }
            let mut number = || -> f64 {
                let value = words.next().and_then(|value| value.parse().ok());
                value.unwrap_or_else(|| panic!("{word} needs a number"))
            };
            match word.as_str() {
                "--copies" => options.copies = number() as usize,
                "--vehicles" => options.vehicles = number() as usize,
                "--dt" => options.dt = number(),
                "--from" => options.from = number(),
                "--to" => options.to = number(),
                "--rounds" => options.rounds = number() as usize,
                "--threads" => options.threads = number() as usize,
                file => {
                    options.file = file.into();
                    options.copies = 1;
                }
            }
        }
        options
    }
}

/// Returns `copies` copies of a scenario's roads in a square grid, each with its share of the vehicles.
fn side_by_side(scenario: &Scenario, copies: usize, vehicles: usize) -> Scenario {
    let roads = scenario.network().roads();
    let mut piece = copied(scenario, &roads.map(|(id, _)| ObjectId::Road(id)).collect());
    for edit in defaults() {
        piece.apply(edit).expect("what a new scenario has");
    }
    let (trips, _) = random_trips(
        &piece,
        &Ground::new(&piece),
        vehicles / copies,
        PopulateFrom::Inside,
        1,
    );
    for (number, trip) in (1..).zip(&trips) {
        let agent = Agent {
            name: String::new(),
            vehicle: "car".into(),
            stack: "idm".into(),
            dynamics: None,
            start: trip.start,
            via: Vec::new(),
            destination: Some(trip.destination),
            depart: 0.0.into(),
            repeat: None.into(),
            speed: 0.0.into(),
        };
        let edit = Edit::Agent(AgentId(number), Some(Box::new(agent)));
        piece.apply(edit).expect("a sound agent");
    }
    let (low, high) = scenario.bounds().expect("roads to copy");
    let pitch = high - low + DVec2::splat(MARGIN);
    let columns = (copies as f64).sqrt().ceil() as usize;
    let mut all = Scenario::new("copies");
    // The driving side has to be the same. Otherwise, there would be no routes.
    let about = About {
        driving_side: piece.about().driving_side,
        ..all.about().clone()
    };
    all.apply(Edit::About(Box::new(about))).expect("a side");
    for copy in 0..copies {
        let place = DVec2::new((copy % columns) as f64, (copy / columns) as f64);
        let motion = Motion::shift(place * pitch);
        let (edit, _) = pasted(&all, &piece, &motion).expect("within the world");
        all.apply(edit).expect("sound roads");
    }
    all
}

/// Stack and vehicle type of random trips.
fn defaults() -> Vec<Edit> {
    let new = Scenario::new("defaults");
    let stacks = new.stacks().iter();
    let stacks = stacks.map(|(key, stack)| Edit::Stack(key.clone(), Some(Box::new(stack.clone()))));
    let types = new.vehicle_types().iter();
    let types = types.map(|(key, t)| Edit::VehicleType(key.clone(), Some(Box::new(t.clone()))));
    stacks.chain(types).collect()
}

fn main() {
    let mut options = Options::read();
    let scenario = file::load(&options.file).expect("a scenario");
    let mut scenario = scenario;
    if options.copies > 1 {
        scenario = side_by_side(&scenario, options.copies, options.vehicles);
        options.vehicles = 0;
    }
    for round in 1..=options.rounds {
        measure(&scenario, &options, round);
    }
}

/// CPU time of the steps by stage.
#[derive(Default)]
struct StageTimes {
    now: Option<(Stage, ProcessTime)>,
    seconds: BTreeMap<Stage, f64>,
}

impl StageTimes {
    fn begin(&mut self, stage: Stage) {
        self.end();
        self.now = Some((stage, ProcessTime::now()));
    }

    fn end(&mut self) {
        if let Some((stage, since)) = self.now.take() {
            *self.seconds.entry(stage).or_default() += since.elapsed().as_secs_f64();
        }
    }

    /// The figures as members of a JSON object.
    fn members(&self) -> String {
        let sum: f64 = self.seconds.values().sum();
        let planning = self.seconds.get(&Stage::Plan).copied().unwrap_or_default();
        let rows = self.seconds.iter();
        let rows: Vec<String> = rows
            .map(|(stage, seconds)| format!("\"{}\": {seconds:.4}", stage.name()))
            .collect();
        format!(
            "\"planning_share\": {:.4}, \"stage_cpu_seconds\": {{{}}}",
            planning / sum.max(f64::MIN_POSITIVE),
            rows.join(", ")
        )
    }
}

fn measure(scenario: &Scenario, options: &Options, round: usize) {
    let run = RunOptions {
        dt: Some(options.dt),
        populate: options.vehicles,
        populate_from: PopulateFrom::Inside,
        threads: options.threads,
        dynamics: options.dynamics,
        ..RunOptions::default()
    };
    let cpu = ProcessTime::now();
    let mut world = World::new(scenario, &builtin_modules(), &run).expect("sound");
    let setup = cpu.elapsed().as_secs_f64();
    let cpu = ProcessTime::now();
    world.step();
    let first = cpu.elapsed().as_secs_f64();
    while world.time() < options.from {
        world.step();
    }
    let before = world.summary();
    let cpu = ProcessTime::now();
    let mut steps = 0;
    let mut stages = StageTimes::default();
    while world.time() < options.to {
        world.step_watched(|stage| stages.begin(stage));
        stages.end();
        steps += 1;
    }
    let spent = cpu.elapsed().as_secs_f64();
    let after = world.summary();
    let updates = (after.agent_updates - before.agent_updates) as f64;
    let vehicles = world.snapshot().vehicles;
    let standing = vehicles.iter().filter(|v| v.speed < 0.1).count();
    let speeds: f64 = vehicles.iter().map(|v| v.speed).sum();
    let driving = vehicles.len().max(1) as f64;
    let saved = measure_saving(&world, scenario, &run);
    println!(
        "{{\"round\": {round}, \"dt\": {}, \"from\": {}, \"to\": {}, \"vehicles\": {}, \"steps\": {steps}, \
         \"cpu_seconds\": {spent:.4}, \"ns_per_update\": {:.1}, \"vehicle_seconds_per_cpu_second\": {:.0}, \
         \"setup_cpu_seconds\": {setup:.3}, \"first_step_cpu_seconds\": {first:.3}, \"arrived\": {}, \"waiting\": {}, \"refused\": {}, \
         \"standing\": {:.3}, \"mean_speed\": {:.3}, \"collisions\": {}, \"replans\": [{}, {}], \"bytes_per_agent\": {:.0}, {saved}, {}, \
         \"state_hash\": \"{}\"}}",
        options.dt,
        options.from,
        options.to,
        vehicles.len(),
        1e9 * spent / updates,
        updates * options.dt / spent,
        after.agents.arrived,
        after.agents.waiting,
        after.agents.refused,
        standing as f64 / driving,
        speeds / driving,
        after.collisions.len(),
        after.replans.stuck,
        after.law.missed_turns,
        world.bytes_per_agent(),
        stages.members(),
        after.state_hash,
    );
}

/// Measures the CPU time of saving and restoring, and the size of a save. Returns them as members of a JSON
/// object.
fn measure_saving(world: &World, scenario: &Scenario, run: &RunOptions) -> String {
    let agents = world.counts().active.max(1) as f64;
    // The ground is hashed only once, at the first save.
    world.ground().hash();
    let cpu = ProcessTime::now();
    let bytes = world.save().expect("built-in modules").to_bytes();
    let save = 1e3 * cpu.elapsed().as_secs_f64();
    let modules = builtin_modules();
    let cpu = ProcessTime::now();
    let saved = SavedWorld::from_bytes(&bytes).expect("what was saved");
    let ground = world.ground().clone();
    let (restored, _) =
        World::restore(ground, scenario, &modules, run, &saved).expect("the same scenario");
    let restore = 1e3 * cpu.elapsed().as_secs_f64();
    assert_eq!(restored.state_hash(), world.state_hash());
    format!(
        "\"save_ms\": {save:.2}, \"restore_ms\": {restore:.2}, \"saved_bytes_per_agent\": {:.0}",
        bytes.len() as f64 / agents
    )
}
