//! What a plugin is worth: determinism, hard inputs, state, parameters, speed. Runs in a child
//! process, since it runs the plugin.

use super::backend::{Backend, Batch, State, bytes_of, bytes_of_mut};
use super::cell::now;
use super::in_process::InProcess;
use super::inspect::{PluginInfo, inspect};
use super::kind::{AsController, AsFitness, AsPlanner, Kind};
use super::library::Library;
use super::roads::{FlatRoads, checked_route};
use roadwright_agent::{ModuleKind, Step};
use roadwright_geometry::math::Stream;
use roadwright_plugin_api::abi::{
    CAP_PARALLEL_SLICES, CAP_STATE, NO_STRIP, ROW_OK, RwPoint, RwStrip, STRIP_CONNECTION,
};
use roadwright_plugin_api::{ControllerInput, FitnessInput, NOTHING, PlannerInput};
use std::path::Path;
use std::sync::Arc;

/// Names of looks after which nothing more is asked of what has failed them.
const SPEED: &str = "speed";
const LEAKS: &str = "leaks";
pub(crate) const ENDING: [&str; 2] = [SPEED, LEAKS];
/// Rows of a batch.
const ROWS: usize = 256;
/// Steps that an instance is asked for.
const STEPS: u64 = 20;
/// Steps long after those: what goes wrong may do so late.
const LATE: [u64; 4] = [1_000, 1_001, 100_000, 10_000_000];
/// How many times its budget a call may take before that is a verdict.
const MOST_OVER_BUDGET: f64 = 20.0;
/// How many times the budget of one agent a call about one may take: what a call costs by itself
/// counts less, since there are few calls.
const MOST_OF_A_CALL: f64 = 1000.0;
/// Steps between two looks at what a process holds, and memory that it may gain a step, bytes.
const LEAK_STEPS: u64 = 150;
const LEAK: u64 = 16 * 1024;
/// Memory that ends the look for leaks at once, bytes.
const MUCH_MEMORY: u64 = 256 << 20;
/// Rows of a slice, and rounds, when a plugin is asked from two threads.
const SLICE: usize = 64;
const ROUNDS: u64 = 60;
/// Marks that a plugin must not write over.
const CANARY: u8 = 0xa5;

/// One thing that was looked at.
pub(crate) struct Finding {
    pub(crate) name: &'static str,
    /// `None`: fine; else what is wrong.
    pub(crate) problem: Option<String>,
    /// What was seen.
    pub(crate) note: String,
}

/// What inputs a kind gets.
pub(crate) trait Examined: Kind {
    /// A row as it may come while driving.
    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> Self::Input;
    /// A row with numbers at the edges.
    fn hard(pick: &mut dyn FnMut() -> f64) -> Self::Input;
    /// What is wrong with an answer, beyond its numbers.
    fn deep_flaw(_: &Self::Input, _: &Self::Output, _: &[u32]) -> Option<String> {
        None
    }
}

impl Examined for AsController {
    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> ControllerInput {
        let maybe = |chance: f64, near: f64| if chance < 0.5 { near } else { NOTHING };
        let (a, b, c) = (random(0.0, 1.0), random(0.0, 1.0), random(0.0, 1.0));
        ControllerInput {
            speed: random(0.0, 30.0),
            road_speed: random(2.0, 30.0),
            wheelbase: random(2.0, 6.0),
            length: random(3.0, 12.0),
            waypoint_distance: random(1.0, 40.0),
            waypoint_angle: random(-1.0, 1.0),
            obstacle_distance: maybe(a, random(0.0, 28.0)),
            obstacle_angle: random(-1.2, 1.2),
            obstacle_closing_speed: random(-10.0, 30.0),
            leader_gap: maybe(b, random(0.0, 80.0)),
            leader_speed: random(0.0, 30.0),
            stop_distance: maybe(c, random(-1.0, 80.0)),
            lane_offset: random(-2.0, 2.0),
            heading_error: random(-0.5, 0.5),
            path_curvature: random(-0.1, 0.1),
            steering: random(-0.6, 0.6),
        }
    }

    fn hard(pick: &mut dyn FnMut() -> f64) -> ControllerInput {
        ControllerInput {
            speed: pick(),
            road_speed: pick(),
            wheelbase: pick(),
            length: pick(),
            waypoint_distance: pick(),
            waypoint_angle: pick(),
            obstacle_distance: pick(),
            obstacle_angle: pick(),
            obstacle_closing_speed: pick(),
            leader_gap: pick(),
            leader_speed: pick(),
            stop_distance: pick(),
            lane_offset: pick(),
            heading_error: pick(),
            path_curvature: pick(),
            steering: pick(),
        }
    }
}

impl Examined for AsFitness {
    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> FitnessInput {
        FitnessInput {
            crash_rating: random(0.0, 1.0),
            mean_speed: random(0.0, 30.0),
            mean_road_speed: random(1.0, 30.0),
            distance: random(0.0, 10_000.0),
            time: random(0.1, 1000.0),
            mean_squared_acceleration: random(0.0, 5.0),
            mean_squared_jerk: random(0.0, 100.0),
            mean_squared_lateral_acceleration: random(0.0, 5.0),
        }
    }

    fn hard(pick: &mut dyn FnMut() -> f64) -> FitnessInput {
        FitnessInput {
            crash_rating: pick(),
            mean_speed: pick(),
            mean_road_speed: pick(),
            distance: pick(),
            time: pick(),
            mean_squared_acceleration: pick(),
            mean_squared_jerk: pick(),
            mean_squared_lateral_acceleration: pick(),
        }
    }
}

impl Examined for AsPlanner {
    fn usual(random: &mut dyn FnMut(f64, f64) -> f64) -> PlannerInput {
        let lanelets = grid_roads().lanelets.len() as f64;
        PlannerInput {
            strip: random(0.0, lanelets) as u32,
            goal_strip: random(0.0, lanelets) as u32,
            s: random(0.0, 90.0),
            goal_s: random(0.0, 90.0),
            bus: 0,
            may_change_first: 1,
        }
    }

    fn hard(pick: &mut dyn FnMut() -> f64) -> PlannerInput {
        // Lanelets that do not exist are never asked for.
        PlannerInput {
            s: pick(),
            goal_s: pick(),
            ..PlannerInput::default()
        }
    }

    fn deep_flaw(
        input: &PlannerInput,
        output: &roadwright_plugin_api::PlannerOutput,
        route: &[u32],
    ) -> Option<String> {
        if output.count == 0 {
            return Some(format!(
                "no way from lanelet {} at {:.0} m to lanelet {} at {:.0} m, where there is one",
                input.strip, input.s, input.goal_strip, input.goal_s
            ));
        }
        checked_route(&grid_roads(), input, output, route).err()
    }
}

/// A ring of two lanes, eight blocks long: every lanelet is reachable from every other one.
fn grid_roads() -> FlatRoads {
    const BLOCKS: u32 = 8;
    let mut roads = FlatRoads {
        version: 2,
        ..FlatRoads::default()
    };
    // For each block: the outer lane, the inner lane, and the connections after them.
    for block in 0..BLOCKS {
        for part in 0..4 {
            let is_connection = part >= 2;
            let next = if is_connection {
                4 * ((block + 1) % BLOCKS) + part - 2
            } else {
                4 * block + part + 2
            };
            let beside = match part {
                0 => (4 * block + 1, NO_STRIP),
                1 => (NO_STRIP, 4 * block),
                _ => (NO_STRIP, NO_STRIP),
            };
            let (x, length) = (
                f64::from(block) * 120.0,
                if is_connection { 20.0 } else { 100.0 },
            );
            roads.lanelets.push(RwStrip {
                length,
                speed_limit: 13.9,
                width: 3.5,
                first_successor: roads.successors.len() as u32,
                successor_count: 1,
                left: beside.0,
                right: beside.1,
                first_point: roads.points.len() as u32,
                point_count: 2,
                flags: if is_connection { STRIP_CONNECTION } else { 0 },
                turn: 0,
            });
            roads.successors.push(next);
            let y = f64::from(part % 2) * 3.5;
            roads.points.push(RwPoint { x, y });
            roads.points.push(RwPoint { x: x + length, y });
        }
    }
    roads
}

/// What came of asking an instance about rows.
struct Answers<K: Kind> {
    outputs: Vec<K::Output>,
    status: Vec<u8>,
    routes: Vec<Vec<u32>>,
    seconds: f64,
    changed_mode: bool,
    overwritten: bool,
    /// Whether it has written to the inputs, which are not its own.
    changed_inputs: bool,
}

struct Examiner {
    library: Arc<Library>,
    info: PluginInfo,
    roads: FlatRoads,
}

impl Examiner {
    fn fresh<K: Kind>(&self) -> Result<InProcess, String> {
        let backend =
            InProcess::new(self.library.clone(), K::KIND).map_err(|fault| fault.message)?;
        let indices: Vec<u32> = (0..ROWS as u32).collect();
        backend
            .agents_changed(ROWS as u32, &indices, &[])
            .map_err(|fault| fault.message)?;
        Ok(backend)
    }

    /// Asks about rows, given by their agents, in batches of a size.
    fn ask<K: Kind>(
        &self,
        backend: &InProcess,
        step: u64,
        rows: &[(u32, K::Input)],
        size: usize,
    ) -> Result<Answers<K>, String> {
        let mut answers = Answers::<K> {
            outputs: Vec::new(),
            status: Vec::new(),
            routes: Vec::new(),
            seconds: 0.0,
            changed_mode: false,
            overwritten: false,
            changed_inputs: false,
        };
        let is_planner = K::KIND == ModuleKind::Planner;
        let delays = vec![0.0f32; self.roads.lanelets.len()];
        for rows in rows.chunks(size) {
            let count = rows.len();
            let indices: Vec<u32> = rows.iter().map(|(index, _)| *index).collect();
            let ids: Vec<u64> = indices.iter().map(|index| u64::from(*index) + 1).collect();
            let inputs: Vec<K::Input> = rows.iter().map(|(_, input)| *input).collect();
            let moment = Step {
                time: step as f64 * 0.03,
                period: 0.03,
                index: step,
                seed: 7,
                indices: &indices,
                ids: &ids,
            };
            let seeds: Vec<u64> = ids.iter().map(|id| moment.seed_of(*id)).collect();
            // One row and one status more than there are: they must stay as they are.
            let mut outputs = vec![K::Output::default(); count + 1];
            bytes_of_mut(&mut outputs[count..]).fill(CANARY);
            let mut status = vec![0u8; count + 1];
            status[count] = CANARY;
            let mut route = vec![0u32; if is_planner { 64 * count + 1024 } else { 0 }];
            let mut batch = Batch {
                step: moment,
                seeds: &seeds,
                inputs: bytes_of(&inputs),
                outputs: bytes_of_mut(&mut outputs[..count]),
                status: &mut status[..count],
                roads: is_planner.then_some(&self.roads),
                delays: &delays,
                route: &mut route,
                route_length: 0,
            };
            let told = bytes_of(&inputs).to_vec();
            let began = now();
            let changed = backend.step(&mut batch).map_err(|fault| fault.message)?;
            answers.seconds += began.elapsed().as_secs_f64();
            answers.changed_mode |= changed;
            answers.changed_inputs |= told != bytes_of(&inputs);
            answers.overwritten |= status[count] != CANARY
                || bytes_of(&outputs[count..])
                    .iter()
                    .any(|byte| *byte != CANARY);
            outputs.truncate(count);
            status.truncate(count);
            for output in &mut outputs {
                answers.routes.push(K::take_route(output, &route));
            }
            answers.outputs.extend(outputs);
            answers.status.extend(status);
        }
        Ok(answers)
    }

    /// Asks a fresh instance for some steps; `order` shuffles the rows of each. Gives bytes and
    /// routes of all answers in the order of agents.
    fn history<K: Examined>(&self, size: usize, order: Order) -> Result<Vec<u8>, String> {
        let backend = self.fresh::<K>()?;
        let mut history = Vec::new();
        for step in (0..STEPS).chain(LATE) {
            history.extend(self.one_step::<K>(&backend, step, size, order)?);
        }
        Ok(history)
    }

    fn one_step<K: Examined>(
        &self,
        backend: &InProcess,
        step: u64,
        size: usize,
        order: Order,
    ) -> Result<Vec<u8>, String> {
        let mut rows = usual_rows::<K>(step);
        if order == Order::Shuffled {
            let mut random = Stream::new(step, "order", 0);
            for at in (1..rows.len()).rev() {
                rows.swap(at, random.next_index(at + 1));
            }
        }
        let answers = self.ask::<K>(backend, step, &rows, size)?;
        let mut by_agent: Vec<(u32, Vec<u8>)> = rows
            .iter()
            .enumerate()
            .map(|(at, (slot, _))| {
                let mut bytes = bytes_of(&answers.outputs[at..=at]).to_vec();
                bytes.push(answers.status[at]);
                bytes.extend(bytes_of(&answers.routes[at]));
                (*slot, bytes)
            })
            .collect();
        by_agent.sort_by_key(|(slot, _)| *slot);
        Ok(by_agent.into_iter().flat_map(|(_, bytes)| bytes).collect())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Sorted,
    Shuffled,
}

fn usual_rows<K: Examined>(step: u64) -> Vec<(u32, K::Input)> {
    let mut random = Stream::new(step, "rows", 0);
    let row = |slot: u32| (slot, K::usual(&mut |low, high| random.next_in(low, high)));
    (0..ROWS as u32).map(row).collect()
}

/// Looks at a library; `report` is told about each finding as soon as it is known.
pub(crate) fn examine(path: &Path, mut report: impl FnMut(&Finding)) -> Result<bool, String> {
    let (inspected, _) = inspect(path).map_err(|error| error.to_string())?;
    let info = inspected.info;
    let library = Library::open(path).map_err(|error| error.to_string())?;
    let mut is_good = true;
    let changed = library.changed_mode;
    let mut tell = |finding: Finding| {
        is_good &= finding.problem.is_none();
        report(&finding);
    };
    tell(Finding {
        name: "floating point mode",
        problem: None,
        note: if changed {
            "loading changes it (-ffast-math?); Roadwright corrects that, results may differ".into()
        } else {
            "kept".into()
        },
    });
    let examiner = Examiner {
        library: Arc::new(library),
        roads: grid_roads(),
        info: info.clone(),
    };
    for kind in info.module_kinds() {
        match kind {
            ModuleKind::Controller => examine_kind::<AsController>(&examiner, &mut tell),
            ModuleKind::Fitness => examine_kind::<AsFitness>(&examiner, &mut tell),
            ModuleKind::Planner => examine_kind::<AsPlanner>(&examiner, &mut tell),
            ModuleKind::Behaviour => {}
        }
    }
    Ok(is_good)
}

/// A digest of all that a library answers, for a comparison of two processes.
pub(crate) fn digest(path: &Path) -> Result<String, String> {
    let (inspected, _) = inspect(path).map_err(|error| error.to_string())?;
    let library = Library::open(path).map_err(|error| error.to_string())?;
    let examiner = Examiner {
        library: Arc::new(library),
        roads: grid_roads(),
        info: inspected.info.clone(),
    };
    let mut hasher = blake3::Hasher::new();
    for kind in inspected.info.module_kinds() {
        let history = match kind {
            ModuleKind::Controller => examiner.history::<AsController>(ROWS, Order::Sorted)?,
            ModuleKind::Fitness => examiner.history::<AsFitness>(ROWS, Order::Sorted)?,
            ModuleKind::Planner => examiner.history::<AsPlanner>(ROWS, Order::Sorted)?,
            ModuleKind::Behaviour => Vec::new(),
        };
        hasher.update(&history);
    }
    Ok(hasher.finalize().to_hex().to_string())
}

type Looked = Result<String, String>;
/// Looks at one thing.
type Look = fn(&Examiner) -> Looked;

fn examine_kind<K: Examined>(examiner: &Examiner, tell: &mut dyn FnMut(Finding)) {
    let looks: [(&'static str, Look); 11] = [
        ("usual inputs", usual_inputs::<K>),
        (SPEED, speed::<K>),
        (LEAKS, leaks::<K>),
        ("the same twice", same_twice::<K>),
        ("batches of 1 and 7", split::<K>),
        ("shuffled agents", shuffled::<K>),
        ("hard inputs", hard_inputs::<K>),
        ("parameters", parameters::<K>),
        ("agents come and go", agents_come_and_go::<K>),
        ("two threads", two_threads::<K>),
        ("state", state::<K>),
    ];
    for (name, look) in looks {
        let (problem, note) = match look(examiner) {
            Ok(note) => (None, note),
            Err(problem) => (Some(problem), String::new()),
        };
        // What is far too slow would take for ever to look at, and what leaks fill the memory.
        let is_over = ENDING.contains(&name) && problem.is_some();
        tell(Finding {
            name,
            problem,
            note,
        });
        if is_over {
            return;
        }
    }
}

fn usual_inputs<K: Examined>(examiner: &Examiner) -> Looked {
    let backend = examiner.fresh::<K>()?;
    let mut unanswered = 0;
    for step in 0..STEPS {
        let rows = usual_rows::<K>(step);
        let answers = examiner.ask::<K>(&backend, step, &rows, ROWS)?;
        if answers.overwritten {
            return Err("it writes beyond its rows".into());
        }
        if answers.changed_inputs {
            return Err("it writes to its inputs, which are const".into());
        }
        for (at, (_, input)) in rows.iter().enumerate() {
            if answers.status[at] != ROW_OK {
                unanswered += 1;
                continue;
            }
            let output = &answers.outputs[at];
            let flaw = K::flaw(output).map(str::to_owned);
            let flaw = flaw.or_else(|| K::deep_flaw(input, output, &answers.routes[at]));
            if let Some(flaw) = flaw {
                return Err(format!("{} gives {flaw}", K::KIND.name()));
            }
        }
    }
    let all = ROWS as u64 * STEPS;
    if unanswered == all {
        return Err("it answers no row: is status set?".into());
    }
    Ok(format!(
        "{} of {all} rows answered, all sound",
        all - unanswered
    ))
}

fn same(a: &[u8], b: &[u8], what: &str) -> Looked {
    if a == b {
        Ok("equal, bit by bit".into())
    } else {
        Err(format!("answers differ {what}"))
    }
}

fn same_twice<K: Examined>(examiner: &Examiner) -> Looked {
    let first = examiner.history::<K>(ROWS, Order::Sorted)?;
    let second = examiner.history::<K>(ROWS, Order::Sorted)?;
    same(&first, &second, "between two fresh instances")
}

fn split<K: Examined>(examiner: &Examiner) -> Looked {
    let whole = examiner.history::<K>(ROWS, Order::Sorted)?;
    for size in [1, 7] {
        let parts = examiner.history::<K>(size, Order::Sorted)?;
        same(&whole, &parts, &format!("if the batch is cut into {size}"))?;
    }
    Ok("equal, bit by bit".into())
}

fn shuffled<K: Examined>(examiner: &Examiner) -> Looked {
    let sorted = examiner.history::<K>(ROWS, Order::Sorted)?;
    let shuffled = examiner.history::<K>(ROWS, Order::Shuffled)?;
    same(&sorted, &shuffled, "if the agents come in another order")
}

fn hard_inputs<K: Examined>(examiner: &Examiner) -> Looked {
    const EDGES: [f64; 14] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e-300,
        -1e-300,
        5e-324,
        1e-9,
        1e6,
        -1e6,
        1e12,
        1e300,
        -1e300,
        f64::MAX,
    ];
    let mut random = Stream::new(0, "edges", 0);
    let mut unusable = 0;
    let count = 4096;
    for round in 0..16 {
        let backend = examiner.fresh::<K>()?;
        let row = |slot: u32| {
            let mut pick = || EDGES[random.next_index(EDGES.len())];
            (slot, K::hard(&mut pick))
        };
        let rows: Vec<_> = (0..ROWS as u32).map(row).collect();
        let answers = examiner.ask::<K>(&backend, round, &rows, ROWS)?;
        if answers.overwritten {
            return Err("it writes beyond its rows".into());
        }
        let answered = answers.status.iter().zip(&answers.outputs);
        let bad = answered.filter(|(status, o)| **status == ROW_OK && K::flaw(o).is_some());
        unusable += bad.count();
    }
    Ok(format!(
        "survived; {unusable} of {count} answers are unusable and would be replaced"
    ))
}

fn parameters<K: Examined>(examiner: &Examiner) -> Looked {
    let backend = examiner.fresh::<K>()?;
    let infos = backend.parameters();
    for (index, info) in infos.iter().enumerate() {
        for value in [info.min, info.max, info.default] {
            backend
                .set_parameter(index, value)
                .map_err(|fault| format!("{} = {value}: {}", info.key, fault.message))?;
            let got = backend.get_parameter(index);
            if got.is_some_and(|got| got != value) {
                return Err(format!(
                    "{} was set to {value} and reads back as {}",
                    info.key,
                    got.unwrap_or_default()
                ));
            }
            let rows = usual_rows::<K>(0);
            let answers = examiner
                .ask::<K>(&backend, 0, &rows, ROWS)
                .map_err(|why| format!("with {} = {value}: {why}", info.key))?;
            let answered = answers.status.iter().zip(&answers.outputs);
            let mut answered = answered.filter(|(status, _)| **status == ROW_OK);
            if let Some(flaw) = answered.find_map(|(_, output)| K::flaw(output)) {
                return Err(format!("with {} = {value} it gives {flaw}", info.key));
            }
        }
    }
    let undocumented = infos.iter().filter(|info| info.doc.is_empty()).count();
    if undocumented > 0 {
        return Err(format!("{undocumented} parameters do not say what they do"));
    }
    Ok(format!("{} described, sound at both ends", infos.len()))
}

fn agents_come_and_go<K: Examined>(examiner: &Examiner) -> Looked {
    let backend = examiner.fresh::<K>()?;
    let tell = |capacity: u32, added: &[u32], removed: &[u32]| {
        backend
            .agents_changed(capacity, added, removed)
            .map_err(|fault| fault.message)
    };
    examiner.one_step::<K>(&backend, 0, ROWS, Order::Sorted)?;
    let half: Vec<u32> = (0..ROWS as u32 / 2).collect();
    tell(ROWS as u32, &[], &half)?;
    tell(4 * ROWS as u32, &half, &[])?;
    examiner.one_step::<K>(&backend, 1, ROWS, Order::Sorted)?;
    Ok("survived".into())
}

/// Asks slices from two threads at once, as a run with helpers does.
fn two_threads<K: Examined>(examiner: &Examiner) -> Looked {
    if !examiner.info.has(CAP_PARALLEL_SLICES) {
        return Ok("it is asked from one at a time".into());
    }
    let (alone, shared) = (examiner.fresh::<K>()?, examiner.fresh::<K>()?);
    // Each thread goes on with its half as fast as it can, so that they meet.
    let half = |backend: &InProcess, is_left: bool| -> Result<Vec<u8>, String> {
        let mut told = Vec::new();
        for step in 0..ROUNDS {
            let rows = usual_rows::<K>(step);
            let (left, right) = rows.split_at(ROWS / 2);
            let rows = if is_left { left } else { right };
            let answers = examiner.ask::<K>(backend, step, rows, SLICE)?;
            told.extend_from_slice(bytes_of(&answers.outputs));
        }
        Ok(told)
    };
    let expected = [half(&alone, true)?, half(&alone, false)?];
    let found = std::thread::scope(|scope| {
        let left = scope.spawn(|| half(&shared, true));
        let right = half(&shared, false);
        (left.join(), right)
    });
    let left = found.0.map_err(|_| "it ends a thread")??;
    same(
        &expected.concat(),
        &[left, found.1?].concat(),
        "if slices are asked from two threads at once, as it declares they may be",
    )
}

/// What the process holds: memory in bytes, open files, threads. Known on Linux only.
fn holds() -> Option<[u64; 3]> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let files = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    Some([value("VmRSS:")? * 1024, files, value("Threads:")?])
}

/// Whether it keeps memory, files or threads with every step.
fn leaks<K: Examined>(examiner: &Examiner) -> Looked {
    let backend = examiner.fresh::<K>()?;
    let mut step = 0;
    let mut run = |steps: u64| -> Result<(), String> {
        for _ in 0..steps {
            let rows = usual_rows::<K>(step % 4);
            examiner.ask::<K>(&backend, step, &rows, ROWS)?;
            step += 1;
            let memory = holds().map_or(0, |[memory, ..]| memory);
            if step.is_multiple_of(16) && memory > MUCH_MEMORY {
                return Err(format!(
                    "the process has {} MiB after {step} steps",
                    memory >> 20
                ));
            }
        }
        Ok(())
    };
    // What it needs once is there after the first steps.
    run(LEAK_STEPS / 3)?;
    let Some(before) = holds() else {
        return Ok("not known on this system".into());
    };
    run(LEAK_STEPS)?;
    let after = holds().unwrap_or(before);
    let gained = |what: usize| after[what].saturating_sub(before[what]);
    if gained(0) > LEAK * LEAK_STEPS {
        let a_step = gained(0) / LEAK_STEPS / 1024;
        return Err(format!("it keeps {a_step} KiB of memory with every step"));
    }
    for (what, name) in [(1, "files open"), (2, "threads")] {
        if gained(what) > LEAK_STEPS / 10 {
            return Err(format!(
                "it keeps {} {name} after {LEAK_STEPS} steps",
                gained(what)
            ));
        }
    }
    Ok(format!("none in {LEAK_STEPS} steps"))
}

fn state<K: Examined>(examiner: &Examiner) -> Looked {
    if !examiner.info.has(CAP_STATE) {
        return Ok("it keeps none".into());
    }
    let first = examiner.fresh::<K>()?;
    for step in 0..STEPS {
        examiner.one_step::<K>(&first, step, ROWS, Order::Sorted)?;
    }
    let saved = first.save().ok_or("it declares state but saves none")?;
    let second = examiner.fresh::<K>()?;
    second.load(&saved)?;
    let goes_on = examiner.one_step::<K>(&first, STEPS, ROWS, Order::Sorted)?;
    let restored = examiner.one_step::<K>(&second, STEPS, ROWS, Order::Sorted)?;
    same(
        &goes_on,
        &restored,
        "after the state was saved and restored",
    )?;
    let strange = State {
        schema: u32::MAX,
        bytes: vec![0xff; 33],
    };
    // Whether it takes that is its own affair; that it survives is not.
    let _ = second.load(&strange);
    let bytes = saved.bytes.len();
    Ok(format!("{bytes} bytes, restored bit by bit"))
}

fn speed<K: Examined>(examiner: &Examiner) -> Looked {
    let backend = examiner.fresh::<K>()?;
    let mut changed_mode = false;
    // The best of some calls, for each row of it.
    let mut best = |size: usize| -> Result<f64, String> {
        let mut best = f64::INFINITY;
        for step in 0..20 {
            let mut rows = usual_rows::<K>(step % 4);
            rows.truncate(size);
            let answers = examiner.ask::<K>(&backend, step, &rows, size)?;
            best = best.min(answers.seconds * 1e6 / size as f64);
            changed_mode |= answers.changed_mode;
        }
        Ok(best)
    };
    let micros = best(ROWS)?;
    let budget = K::BUDGET_US;
    let mut note = format!("{micros:.3} us an agent, budget {budget} us");
    if micros > MOST_OVER_BUDGET * budget {
        return Err(format!("{note}: more than {MOST_OVER_BUDGET} times that"));
    }
    let call = best(1)?;
    if call > MOST_OF_A_CALL * budget {
        return Err(format!(
            "{call:.0} us for a call about one agent, budget {budget} us: more than \
             {MOST_OF_A_CALL} times that"
        ));
    }
    if micros > budget {
        note += ": slow";
    }
    if changed_mode {
        note += "; its steps change the floating point mode";
    }
    Ok(note)
}
