//! Tests a library in a child process before it is loaded into this process.

use super::backend::{Backend, Batch, MOST_POSES, bytes_of_mut};
use super::in_process::InProcess;
use super::inspect::inspect;
use super::kind::{
    AsController, AsFitness, AsGroundPlanner, AsNeeds, AsNeedsPedals, AsPedals, AsPlanner,
    AsSignals, InputRows, Kind,
};
use super::library::Library;
use super::roads::FlatRoads;
use super::views::TrialViews;
use crate::helper::{complain, print};
use crate::patience::{in_a_group, wait_for};
use roadwright_agent::{ModuleKind, Step};
use roadwright_plugin_api::PlanPose;
use roadwright_plugin_api::abi::{ROW_OK, RwLanelet, RwPoint};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Line that a child prints at the end of a successful trial, followed by its nonce.
const GOOD: &str = "roadwright-probe: good";
/// Prefix of the line that announces the next phase.
const PHASE: &str = "roadwright-probe: now ";
/// Time limit of a trial.
const PATIENCE: Duration = Duration::from_secs(10);
/// Number of rows in the trial step.
const ROWS: usize = 8;

/// Lets a child process load a library and call it once.
///
/// # Errors
/// If the trial failed, with a description for users.
pub(crate) fn probe(helper: &[OsString], library: &Path) -> Result<(), String> {
    // A word that the library cannot know and therefore cannot print itself.
    let nonce = nonce();
    let child = helper_command(helper, "probe", library, &nonce)
        .ok_or("no helper program for testing plugins is configured")?
        .spawn()
        .map_err(|error| format!("cannot start the trial process: {error}"))?;
    let end = format!("{GOOD} {nonce}");
    let (mut phase, mut has_ended) = ("loading".to_owned(), false);
    let ending = wait_for(child, PATIENCE, |line| {
        // The library may print as well, so only a complete line with the nonce of this trial is
        // accepted.
        has_ended |= line == end;
        // Each phase is announced before it begins, so the last one announced is the one in which the trial
        // hangs.
        if let Some(now) = line.strip_prefix(PHASE) {
            now.clone_into(&mut phase);
        }
    });
    let ending =
        ending.map_err(|error| format!("the status of the trial process is unknown: {error}"))?;
    if ending.is_late {
        let patience = PATIENCE.as_secs();
        return Err(format!(
            "Did not finish {phase} within {patience} s. Not loaded."
        ));
    }
    // Both are required, because a library that calls `exit(0)` ends with success but has not been tested.
    if ending.status.success() && has_ended {
        return Ok(());
    }
    let complaint = ending
        .complaint
        .lines()
        .find_map(|line| line.strip_prefix("roadwright-probe: "));
    if let Some(complaint) = complaint {
        return Err(complaint.to_owned());
    }
    Err(crash_text(ending.status))
}

#[cfg(unix)]
fn crash_text(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    if status.signal().is_some() {
        let ending = super::isolated::ending(status);
        format!("Crashed while loading ({ending}). Not loaded.")
    } else {
        format!(
            "Ended the process while loading (exit code {}). Not loaded.",
            status.code().unwrap_or_default()
        )
    }
}

#[cfg(not(unix))]
fn crash_text(status: std::process::ExitStatus) -> String {
    format!("Ended the process while loading ({status}). Not loaded.")
}

/// Returns a command that runs the helper program, if there is one, in a separate process group.
pub(crate) fn helper_program(helper: &[OsString]) -> Option<Command> {
    let (program, arguments) = helper.split_first()?;
    let mut command = Command::new(program);
    // A plugin's memory is limited by address space, of which the program's allocator reserves 1 GiB at the
    // start. If 1 KiB is requested it uses its minimum, 32 MiB.
    in_a_group(command.args(arguments)).env("MIMALLOC_ARENA_RESERVE", "1");
    Some(command)
}

/// Returns a command for a child process that tests a library, if there is a helper program.
pub(crate) fn helper_command(
    helper: &[OsString],
    what: &str,
    library: &Path,
    nonce: &str,
) -> Option<Command> {
    let mut command = helper_program(helper)?;
    command
        .args([what.as_ref(), library.as_os_str(), nonce.as_ref()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Some(command)
}

/// Creates a nonce for a child process. It proves that the child itself has printed its last line.
pub(crate) fn nonce() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = std::collections::hash_map::RandomState::new();
    format!("{:016x}", random.build_hasher().finish())
}

/// Loads the library, creates an instance of each kind, calls it once and destroys it. Runs in the child
/// process.
pub(crate) fn run_trial(library: &Path, nonce: &str) -> i32 {
    match trial(library) {
        Ok(()) => {
            print(&format!("{GOOD} {nonce}"));
            0
        }
        Err(why) => {
            // Printed on one line, because the parent searches the library's output for a line with this
            // prefix.
            complain(&format!("roadwright-probe: {}", why.replace('\n', " ")));
            3
        }
    }
}

fn trial(path: &Path) -> Result<(), String> {
    let (inspected, _) = inspect(path).map_err(|error| error.to_string())?;
    let info = inspected.info;
    let library = Library::open(path).map_err(|error| error.to_string())?;
    let library = Arc::new(library);
    let minor = info.abi.1;
    for kind in info.module_kinds() {
        match kind {
            ModuleKind::Controller => try_kind::<AsController>(&library, minor)?,
            ModuleKind::Fitness => try_kind::<AsFitness>(&library, minor)?,
            ModuleKind::Planner => try_kind::<AsPlanner>(&library, minor)?,
            ModuleKind::SignalController => try_kind::<AsSignals>(&library, minor)?,
            ModuleKind::GroundPlanner => try_kind::<AsGroundPlanner>(&library, minor)?,
            ModuleKind::Behaviour => {}
        }
    }
    Ok(())
}

fn try_kind<K: Kind>(library: &Arc<Library>, minor: u16) -> Result<(), String> {
    print(&format!("{PHASE}create of its trial"));
    let backend =
        InProcess::new(library.clone(), K::KIND).map_err(|f| failed("create", f.message))?;
    print(&format!("{PHASE}the steps of its trial"));
    let needs = backend.needs().map_err(|f| failed("needs", f.message))?;
    let views = needs.map(TrialViews::new);
    if K::KIND == ModuleKind::GroundPlanner {
        return try_rows::<K>(&backend, minor, views.as_ref());
    }
    match (&views, backend.by_pedals()) {
        (Some(_), true) => try_rows::<AsNeedsPedals>(&backend, minor, views.as_ref()),
        (Some(_), false) => try_rows::<AsNeeds>(&backend, minor, views.as_ref()),
        (None, true) => try_rows::<AsPedals>(&backend, minor, None),
        (None, false) => try_rows::<K>(&backend, minor, None),
    }
}

fn failed(what: &str, message: String) -> String {
    format!("Failed its trial: {what}: {message}")
}

fn try_rows<K: Kind>(
    backend: &InProcess,
    minor: u16,
    views: Option<&TrialViews>,
) -> Result<(), String> {
    let indices: Vec<u32> = (0..ROWS as u32).collect();
    let ids: Vec<u64> = (1..=ROWS as u64).collect();
    backend
        .agents_changed(ROWS as u32, &indices, &[])
        .map_err(|f| failed("agents_changed", f.message))?;
    let roads = two_lanelets();
    // The numbers are plausible, so that a plugin that divides by a speed or a length is not tested with
    // impossible values.
    let mut inputs = vec![K::neutral(); ROWS];
    if let Some(views) = views {
        inputs.iter_mut().for_each(|input| K::place(input, views));
    }
    let rows = InputRows::new::<K>(&inputs, minor);
    let mut outputs = vec![K::Output::default(); ROWS];
    let mut status = [0; ROWS];
    let mut route = vec![0; 64 * ROWS];
    let mut poses = vec![PlanPose::default(); pose_room(K::KIND, ROWS)];
    let mut batch = Batch {
        step: Step {
            period: 0.03,
            indices: &indices,
            ids: &ids,
            ..Step::default()
        },
        seeds: &ids,
        inputs: rows.bytes(),
        outputs: bytes_of_mut(&mut outputs),
        by_pedals: K::BY_PEDALS,
        views: views.map(TrialViews::views),
        status: &mut status,
        roads: (K::KIND == ModuleKind::Planner).then_some(&roads),
        delays: &[0.0, 0.0],
        route: &mut route,
        route_length: 0,
        poses: &mut poses,
        pose_length: 0,
    };
    backend
        .step(&mut batch)
        .map_err(|fault| failed("step", fault.message))?;
    let rows = outputs.iter().zip(&status);
    let flaw = rows
        // A row that the plugin has left to the built-in module has no answer that could be wrong.
        .filter(|(_, status)| **status == ROW_OK)
        .find_map(|(output, _)| K::flaw(output));
    match flaw {
        Some(flaw) => Err(failed(
            "step",
            format!("{} returned {flaw}", K::KIND.name()),
        )),
        None => Ok(()),
    }
}

/// Returns the size of the pose buffer for a number of rows of a kind, in poses.
pub(crate) fn pose_room(kind: ModuleKind, rows: usize) -> usize {
    match kind {
        ModuleKind::GroundPlanner => MOST_POSES * rows,
        _ => 0,
    }
}

/// Creates the smallest road network that a planner can be called with.
pub(crate) fn two_lanelets() -> FlatRoads {
    let lanelet = |first: u32| RwLanelet {
        length: 100.0,
        speed_limit: 13.9,
        width: 3.5,
        first_successor: first,
        // The first lanelet leads to the second one, which is a dead end.
        successor_count: 1 - first,
        left: roadwright_plugin_api::abi::NO_LANELET,
        right: roadwright_plugin_api::abi::NO_LANELET,
        first_point: 2 * first,
        point_count: 2,
        flags: 0,
        turn: 0,
    };
    let point = |x: f64| RwPoint { x, y: 0.0 };
    FlatRoads {
        lanelets: vec![lanelet(0), lanelet(1)],
        successors: vec![1],
        points: [0.0, 100.0, 100.0, 200.0].map(point).to_vec(),
        version: 1,
    }
}
