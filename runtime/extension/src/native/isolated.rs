//! An instance of a plugin in a separate process, with rows in shared memory and calls over a socket. After a
//! crash or an endless loop in that process, only the answers for its agents are missing.
//!
//! ```text
//!      this process                        the child
//!      write rows  ---> shared memory
//!      send 'S'    ---> socket      --->   read rows, ask the library, write answers
//!      read rows   <--- shared memory
//!                  <--- socket      <---   one byte: done
//! ```
//!
//! A batch of 1,024 rows has up to 300 KB, which a socket would have to copy twice. The memory grows with the
//! largest batch so far. The socket synchronises access to the memory. It also detects hangs, because it can
//! be read with a time limit, and reports a crash immediately by an end of file.

use super::backend::{
    Backend, Batch, Fault, MOST_POSES, MOST_ROUTE, MOST_ROWS, State, bytes_of, bytes_of_mut,
    intern_parameters,
};
use super::cell::{Generation, PluginEntry};
use super::probe::helper_program;
use super::roads::FlatRoads;
use super::serve::{
    Call, HEAD, Layout, MOST_LANELETS, PATIENCE, Reply, START_SIZE, STEP, StepHead, USED,
    read_message, received, write_message,
};
use crate::event::Events;
use crate::lock::locked;
use crate::patience::end_group;
use roadwright_agent::{Lookahead, ModuleKind, Needs, Objects, ParameterInfo, Views};
use roadwright_plugin_api::PlanPose;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Time that a child is given to notice and report an abandoned call before it is killed.
const GRACE: Duration = Duration::from_millis(500);
/// Time limit for starting a child. It is longer than the limit for a call, because the library's
/// initialisers run.
const START_PATIENCE: Duration = Duration::from_secs(10);

struct Link {
    /// Module that is named when a timeout is reported.
    module: &'static str,
    events: Arc<Events>,
    child: Child,
    /// Memory limit of the child, MiB.
    most_memory: u64,
    socket: UnixStream,
    /// File of the shared memory.
    file: std::fs::File,
    memory: memmap2::MmapMut,
    /// Version of the roads that was last sent to the child.
    roads: u64,
    /// Version of the vehicles that was last sent to the child.
    vehicles: u64,
    /// Version of the static objects that was last sent to the child.
    objects: u64,
    is_dead: bool,
    /// Time limit that is currently set for answers.
    patience: Duration,
}

/// An instance in another process.
pub(crate) struct Isolated {
    link: Mutex<Link>,
    parameters: &'static [ParameterInfo],
    lookahead: Mutex<Option<Lookahead>>,
    needs: Mutex<Option<Needs>>,
    by_pedals: bool,
}

/// Describes how a process ended, for users.
pub(crate) fn ending(status: ExitStatus) -> String {
    let name = |signal: i32| match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        25 => "SIGXFSZ: a file of more than 1 GiB",
        _ => "a signal",
    };
    match (status.signal(), status.code()) {
        (Some(signal), _) => name(signal).to_owned(),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => "an unknown cause".to_owned(),
    }
}

impl Isolated {
    /// Starts a child process that loads the copy of the build and instantiates its module of the given kind.
    pub(crate) fn start(
        cell: &PluginEntry,
        generation: &Generation,
        kind: ModuleKind,
    ) -> Result<Self, Fault> {
        let io = |what: &str| {
            let what = what.to_owned();
            move |error: std::io::Error| {
                Fault::of_process(format!("cannot {what} an isolated module: {error}"))
            }
        };
        // A file is used instead of anonymous memory, because the child is another program, which opens it by
        // its path.
        let folder = generation.copy.parent().unwrap_or(&generation.copy);
        std::fs::create_dir_all(folder).map_err(io("prepare"))?;
        let library = &generation.copy;
        let memory_path = folder.join(format!("{}-{}.rows", kind.name(), next_number()));
        let (file, memory) = share_memory(&memory_path).map_err(io("share memory with"))?;
        let (socket, theirs) = UnixStream::pair().map_err(io("communicate with"))?;
        let theirs: OwnedFd = theirs.into();
        let mut helper = helper_program(&cell.helper).ok_or_else(|| {
            Fault::fatal("no helper program for isolated modules is configured".into())
        })?;
        let child = helper
            .arg("serve")
            .arg(library)
            .arg(kind.name())
            .arg(&memory_path)
            .arg(cell.isolated_memory.to_string())
            .stdin(Stdio::from(theirs))
            // Its output is discarded, because a pipe without a reader would fill up and block the child.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(io("start"))?;
        let isolated = Self {
            link: Mutex::new(Link {
                module: cell.id,
                events: cell.events.clone(),
                child,
                most_memory: cell.isolated_memory,
                socket,
                file,
                memory,
                roads: 0,
                vehicles: 0,
                objects: 0,
                is_dead: false,
                patience: Duration::ZERO,
            }),
            parameters: &[],
            lookahead: Mutex::new(None),
            needs: Mutex::new(None),
            by_pedals: false,
        };
        let started = isolated.call_within(&Call::Start, START_PATIENCE);
        // By now both sides have mapped the memory, or the child has failed. The file is removed, so that
        // nothing is left behind however the two processes end.
        let _ = std::fs::remove_file(&memory_path);
        match started? {
            Reply::Started {
                parameters,
                lookahead,
                by_pedals,
                needs,
            } => Ok(Self {
                needs: Mutex::new(needs.map(Into::into)),
                by_pedals,
                parameters: intern_parameters(received(&parameters)),
                lookahead: Mutex::new(
                    lookahead.map(|(distance, time)| Lookahead { distance, time }),
                ),
                ..isolated
            }),
            other => Err(unexpected(&other)),
        }
    }

    fn link(&self) -> MutexGuard<'_, Link> {
        locked(&self.link)
    }

    /// Stores the lookahead and the needs that the child reports after parameters or state have
    /// changed.
    fn note_wishes(&self, reply: Reply) {
        if let Reply::Set { lookahead, needs } = reply {
            *locked(&self.needs) = needs.map(Into::into);
            let mut kept = locked(&self.lookahead);
            *kept = lookahead.map(|(distance, time)| Lookahead { distance, time });
        }
    }

    fn call(&self, call: &Call) -> Result<Reply, Fault> {
        self.call_within(call, PATIENCE + GRACE)
    }

    fn call_within(&self, call: &Call, patience: Duration) -> Result<Reply, Fault> {
        self.link().call(call, patience)
    }
}

/// Converts a fault reported by the child. The plugin failed, but the process is alive.
fn said(message: String, is_fatal: bool) -> Fault {
    Fault {
        message,
        is_fatal,
        depends_on_machine: false,
    }
}

fn unexpected(reply: &Reply) -> Fault {
    match reply {
        Reply::Failed { message, is_fatal } => said(message.clone(), *is_fatal),
        _ => Fault::fatal("unexpected reply from the isolated process".into()),
    }
}

fn next_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Creates shared memory in a new file, which the child opens by its path.
fn share_memory(path: &std::path::Path) -> std::io::Result<(std::fs::File, memmap2::MmapMut)> {
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)?;
    file.set_len(START_SIZE as u64)?;
    let memory = map(&file)?;
    Ok((file, memory))
}

#[expect(unsafe_code, reason = "maps a file that is shared with the child")]
fn map(file: &std::fs::File) -> std::io::Result<memmap2::MmapMut> {
    // SAFETY: the file is ours, never shrinks, and is known to a single child, which writes to it only during a
    // call. Its contents are only ever read as numbers.
    unsafe { memmap2::MmapMut::map_mut(file) }
}

impl Link {
    fn call(&mut self, call: &Call, patience: Duration) -> Result<Reply, Fault> {
        if self.is_dead {
            return Err(Fault::of_process("the isolated process has ended".into()));
        }
        let told = self
            .be_patient(patience)
            .and_then(|()| write_message(&mut self.socket, call))
            .and_then(|()| read_message::<Reply>(&mut self.socket));
        match told {
            Ok(Some(Reply::Failed { message, is_fatal })) => Err(said(message, is_fatal)),
            Ok(Some(Reply::GivenUp)) => Err(self.end_late(patience)),
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(Fault::fatal(
                "unexpected reply from the isolated process".into(),
            )),
            Err(error) => Err(self.bury(&error, patience)),
        }
    }

    /// Sets the time limit for answers if it has changed.
    fn be_patient(&mut self, patience: Duration) -> std::io::Result<()> {
        // Comparing first saves a system call in each step.
        if self.patience != patience {
            self.socket.set_read_timeout(Some(patience))?;
            self.patience = patience;
        }
        Ok(())
    }

    /// Lets the child answer the batch in shared memory.
    fn step(&mut self) -> Result<(), Fault> {
        if self.is_dead {
            return Err(Fault::of_process("the isolated process has ended".into()));
        }
        let told = self
            .be_patient(PATIENCE + GRACE)
            .and_then(|()| self.socket.write_all(&[STEP]))
            .and_then(|()| read_message::<Reply>(&mut self.socket));
        match told {
            Ok(None) => Ok(()),
            Ok(Some(Reply::GivenUp)) => Err(self.end_late(PATIENCE)),
            Ok(Some(reply)) => Err(unexpected(&reply)),
            Err(error) => Err(self.bury(&error, PATIENCE)),
        }
    }

    /// Determines why the child does not answer any more, and kills it. Returns the reason as a fault.
    fn bury(&mut self, error: &std::io::Error, patience: Duration) -> Fault {
        use std::io::ErrorKind::{TimedOut, WouldBlock};
        if matches!(error.kind(), TimedOut | WouldBlock) {
            return self.end_late(patience);
        }
        self.is_dead = true;
        // The socket is closed, so the child has died or is about to die; otherwise it is killed. It is not
        // killed immediately, because its status would then be SIGKILL instead of the cause of death. The
        // loop waits for at most 0.1 s, because a step of the run waits for it.
        for _ in 0..50 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
        }
        let ended = self.child.wait();
        end_group(&self.child);
        match ended {
            Ok(status) => {
                let how = ending(status);
                Fault::of_process(format!("its process crashed ({how}){}", self.memory_hint()))
            }
            Err(error) => {
                Fault::of_process(format!("the status of its process is unknown: {error}"))
            }
        }
    }

    /// Returns a note about memory for the crash of a child that had used much of its permitted memory.
    fn memory_hint(&self) -> String {
        let used = u64::from_le_bytes(std::array::from_fn(|byte| self.memory[USED + byte]));
        let most = self.most_memory;
        // Half of the limit is already suspicious, because the number is up to 20 ms old and does not include
        // the allocation that failed.
        if used * 2 < most {
            return String::new();
        }
        format!("; it used {used} MiB of its limit of {most} MiB")
    }

    /// Kills a child that exceeded a time limit, and records the timeout. Returns a fault.
    fn end_late(&mut self, patience: Duration) -> Fault {
        self.is_dead = true;
        end_group(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
        let what = format!(
            "did not answer for {} s; its process was killed",
            patience.as_secs()
        );
        self.events.note_timeout(self.module, &what);
        Fault::of_process(what)
    }

    /// Makes the shared memory at least as large as a batch.
    fn reserve(&mut self, size: usize) -> Result<(), Fault> {
        if size <= self.memory.len() {
            return Ok(());
        }
        let failed = |error: std::io::Error| {
            Fault::of_process(format!(
                "cannot share {size} bytes with an isolated module: {error}"
            ))
        };
        // Rounded up to a power of two, so that the memory is resized only a few times while the
        // number of agents grows.
        let size = size.next_power_of_two();
        self.file.set_len(size as u64).map_err(failed)?;
        self.memory = map(&self.file).map_err(failed)?;
        self.call(&Call::Grow, PATIENCE + GRACE)?;
        Ok(())
    }

    fn send_vehicles(&mut self, views: &Views<'_>) -> Result<(), Fault> {
        // Vehicle types hardly ever change, so the child keeps them between calls.
        if self.vehicles == views.vehicles_version {
            return Ok(());
        }
        let call = Call::Vehicles {
            version: views.vehicles_version,
            vehicles: views.vehicles.len(),
            bytes: [bytes_of(views.vehicles), bytes_of(views.hitches)].concat(),
        };
        self.call(&call, PATIENCE + GRACE)?;
        self.vehicles = views.vehicles_version;
        Ok(())
    }

    fn send_objects(&mut self, objects: &Objects<'_>) -> Result<(), Fault> {
        // Most objects are stationary, so the child keeps them between calls.
        if self.objects == objects.version {
            return Ok(());
        }
        let fixed = &objects.all[..objects.fixed];
        let corners = &objects.outlines[..objects.fixed_outlines];
        let call = Call::Objects {
            version: objects.version,
            objects: fixed.len(),
            bytes: [bytes_of(fixed), bytes_of(corners)].concat(),
        };
        // The time limit is longer than for other calls, because the trees of a forest are sent in
        // one call, as megabytes of JSON.
        self.call(&call, START_PATIENCE)?;
        self.objects = objects.version;
        Ok(())
    }

    fn send_roads(&mut self, roads: &FlatRoads) -> Result<(), Fault> {
        // A child has the roads of one version at a time, and keeps them between calls.
        if self.roads == roads.version {
            return Ok(());
        }
        if roads.lanelets.len() > MOST_LANELETS {
            return Err(Fault::fatal(format!(
                "isolated planners support at most {MOST_LANELETS} lanelets, but these roads have \
                 {}",
                roads.lanelets.len()
            )));
        }
        let bytes = [
            bytes_of(&roads.lanelets),
            bytes_of(&roads.successors),
            bytes_of(&roads.points),
        ]
        .concat();
        let call = Call::Roads {
            version: roads.version,
            lanelets: roads.lanelets.len(),
            successors: roads.successors.len(),
            points: roads.points.len(),
            bytes,
        };
        // The time limit is longer than for other calls, because large networks are megabytes of JSON that
        // are sent once.
        self.call(&call, START_PATIENCE)?;
        self.roads = roads.version;
        Ok(())
    }
}

impl Backend for Isolated {
    fn step(&self, batch: &mut Batch<'_>) -> Result<bool, Fault> {
        let count = batch.rows();
        debug_assert!(count <= MOST_ROWS);
        // Only one call at a time, whatever the plugin declares, because there is one shared memory and one
        // child.
        let mut link = self.link();
        if let Some(roads) = batch.roads {
            link.send_roads(roads)?;
        }
        if let Some(views) = &batch.views {
            link.send_vehicles(views)?;
            link.send_objects(&views.objects)?;
        }
        let views = batch.views.unwrap_or_default();
        let Views {
            path,
            near,
            objects,
            ..
        } = views;
        let moving = &objects.all[objects.fixed..];
        let moved = &objects.outlines[objects.fixed_outlines..];
        let head = StepHead {
            count: count as f64,
            input_stride: (batch.inputs.len() / count.max(1)) as f64,
            output_stride: (batch.outputs.len() / count.max(1)) as f64,
            step: batch.step.index as f64,
            time: batch.step.time,
            period: batch.step.period,
            route: batch.route.len().min(MOST_ROUTE) as f64,
            delays: batch.delays.len() as f64,
            has_roads: f64::from(u8::from(batch.roads.is_some())),
            by_pedals: f64::from(u8::from(batch.by_pedals)),
            has_views: f64::from(u8::from(batch.views.is_some())),
            points: path.len() as f64,
            near: near.len() as f64,
            objects: moving.len() as f64,
            outlines: moved.len() as f64,
            hitch_angles: views.hitch_angles.len() as f64,
            grids: views.grids.len() as f64,
            cells: views.cells.len() as f64,
            poses: batch.poses.len().min(MOST_POSES) as f64,
            ..StepHead::default()
        };
        let layout = Layout::of(&head);
        link.reserve(layout.size)?;
        let put = |memory: &mut memmap2::MmapMut, at: usize, bytes: &[u8]| {
            memory[at..at + bytes.len()].copy_from_slice(bytes);
        };
        let memory = &mut link.memory;
        put(memory, layout.ids, bytes_of(batch.step.ids));
        put(memory, layout.indices, bytes_of(batch.step.indices));
        put(memory, layout.seeds, bytes_of(batch.seeds));
        put(memory, layout.inputs, batch.inputs);
        // Outputs are copied as well, because with `CAP_WANTS_DEFAULTS` they contain the built-in module's
        // answers.
        put(memory, layout.outputs, batch.outputs);
        put(memory, layout.status, batch.status);
        put(memory, layout.delays, bytes_of(batch.delays));
        put(memory, layout.path, bytes_of(path));
        put(memory, layout.near, bytes_of(near));
        put(memory, layout.objects, bytes_of(moving));
        put(memory, layout.outlines, bytes_of(moved));
        put(memory, layout.hitch_angles, bytes_of(views.hitch_angles));
        put(memory, layout.grids, bytes_of(views.grids));
        put(memory, layout.cells, bytes_of(views.cells));
        put(memory, HEAD, bytes_of(&head.to_numbers()));
        link.step()?;
        let answer = StepHead::read(&link.memory[HEAD..]);
        let memory = &link.memory;
        let outputs = batch.outputs.len();
        batch
            .outputs
            .copy_from_slice(&memory[layout.outputs..layout.outputs + outputs]);
        batch
            .status
            .copy_from_slice(&memory[layout.status..layout.status + count]);
        // The child is not trusted, so its lengths are limited to valid ones.
        let length = (answer.route_length as usize)
            .min(batch.route.len())
            .min(MOST_ROUTE);
        let from = &memory[layout.route..layout.route + 4 * length];
        bytes_of_mut(&mut batch.route[..length]).copy_from_slice(from);
        batch.route_length = length as u32;
        let length = (answer.pose_length as usize).min(batch.poses.len());
        let size = size_of::<PlanPose>() * length;
        let from = &memory[layout.poses..layout.poses + size];
        bytes_of_mut(&mut batch.poses[..length]).copy_from_slice(from);
        batch.pose_length = length as u32;
        Ok(answer.changed_mode > 0.0)
    }

    fn agents_changed(&self, capacity: u32, added: &[u32], removed: &[u32]) -> Result<(), Fault> {
        self.call(&Call::AgentsChanged {
            capacity,
            added: added.to_vec(),
            removed: removed.to_vec(),
        })?;
        Ok(())
    }

    fn parameters(&self) -> &'static [ParameterInfo] {
        self.parameters
    }

    fn set_parameter(&self, index: usize, values: &[f64]) -> Result<(), Fault> {
        let values = values.to_vec();
        let reply = self.call(&Call::SetParameter { index, values })?;
        self.note_wishes(reply);
        Ok(())
    }

    fn lookahead(&self) -> Option<Lookahead> {
        *locked(&self.lookahead)
    }

    fn needs(&self) -> Result<Option<Needs>, Fault> {
        Ok(*locked(&self.needs))
    }

    fn by_pedals(&self) -> bool {
        self.by_pedals
    }

    fn save(&self) -> Option<State> {
        match self.call(&Call::Save).ok()? {
            Reply::Saved { schema, bytes } => Some(State { schema, bytes }),
            _ => None,
        }
    }

    fn load(&self, state: &State) -> Result<(), String> {
        let call = Call::Load {
            schema: state.schema,
            bytes: state.bytes.clone(),
        };
        match self.call(&call) {
            Ok(reply) => {
                self.note_wishes(reply);
                Ok(())
            }
            Err(fault) => Err(fault.message),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The child may hang, so it is killed together with the processes that it has started.
        end_group(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
