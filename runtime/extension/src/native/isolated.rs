//! An instance of a plugin in a process of its own: rows in shared memory, calls over a socket.
//! A crash or an endless loop there costs only the answers of its agents.
//!
//! ```text
//!      this process                        the child
//!      write rows  ---> shared memory
//!      send 'S'    ---> socket      --->   read rows, ask the library, write answers
//!      read rows   <--- shared memory
//!                  <--- socket      <---   one byte: done
//! ```
//!
//! A batch of 1,024 rows has up to 300 KB, which a socket would copy into the system and out of it.
//! The socket orders the accesses to the memory, and it has what memory lacks: a read with a time
//! limit, which tells of a hang, and an end, which tells of a crash at once.

use super::backend::{
    Backend, Batch, Fault, MOST_ROUTE, MOST_ROWS, State, bytes_of, bytes_of_mut, intern_parameters,
};
use super::cell::{Generation, PluginEntry};
use super::probe::helper_program;
use super::roads::FlatRoads;
use super::serve::{
    Call, Layout, MOST_LANELETS, PATIENCE, ROW, Reply, STEP, StepHead, read_message, write_message,
};
use crate::event::Events;
use crate::lock::locked;
use crate::patience::end_group;
use roadwright_agent::{Lookahead, ModuleKind, ParameterInfo};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// How long a child may take to notice that a call is given up, and to say so. Then it is ended.
const GRACE: Duration = Duration::from_millis(500);
/// Starting may take longer: the library's initialisers run.
const START_PATIENCE: Duration = Duration::from_secs(10);

struct Link {
    /// Named in the event when the clock stops the module.
    module: &'static str,
    events: Arc<Events>,
    child: Child,
    /// Memory that it may use, MiB.
    most_memory: u64,
    socket: UnixStream,
    memory: memmap2::MmapMut,
    /// Version of the roads that the child has.
    roads: u64,
    is_dead: bool,
    /// How long an answer may take.
    patience: Duration,
}

/// An instance in another process.
pub(crate) struct Isolated {
    link: Mutex<Link>,
    parameters: &'static [ParameterInfo],
    lookahead: Mutex<Option<Lookahead>>,
    by_pedals: bool,
}

/// How a process ended, for people.
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
        (None, None) => "an unknown end".to_owned(),
    }
}

impl Isolated {
    /// Starts a child that loads the build's copy and makes an instance of a kind.
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
        // A file and not anonymous memory: the child is another program, which opens it by its path.
        let folder = generation.copy.parent().unwrap_or(&generation.copy);
        std::fs::create_dir_all(folder).map_err(io("prepare"))?;
        let library = &generation.copy;
        let layout = Layout::new();
        let memory_path = folder.join(format!("{}-{}.rows", kind.name(), next_number()));
        let memory =
            share_memory(&memory_path, layout.size as u64).map_err(io("share memory with"))?;
        let (socket, theirs) = UnixStream::pair().map_err(io("talk to"))?;
        let theirs: OwnedFd = theirs.into();
        let mut helper = helper_program(&cell.helper)
            .ok_or_else(|| Fault::fatal("no program to run isolated modules with".into()))?;
        let child = helper
            .arg("serve")
            .arg(library)
            .arg(kind.name())
            .arg(&memory_path)
            .arg(cell.isolated_memory.to_string())
            .stdin(Stdio::from(theirs))
            // Nobody reads what it prints: a pipe would fill, and hold it up.
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
                memory,
                roads: 0,
                is_dead: false,
                patience: Duration::ZERO,
            }),
            parameters: &[],
            lookahead: Mutex::new(None),
            by_pedals: false,
        };
        let started = isolated.call_within(&Call::Start, START_PATIENCE);
        // Both sides have mapped it, or the child has failed: without a name nothing is left behind,
        // however the two end.
        let _ = std::fs::remove_file(&memory_path);
        match started? {
            Reply::Started {
                parameters,
                lookahead,
                by_pedals,
            } => Ok(Self {
                by_pedals,
                parameters: intern_parameters(parameters.iter().map(Into::into).collect()),
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

    fn call(&self, call: &Call) -> Result<Reply, Fault> {
        self.call_within(call, PATIENCE + GRACE)
    }

    fn call_within(&self, call: &Call, patience: Duration) -> Result<Reply, Fault> {
        self.link().call(call, patience)
    }
}

/// A fault that the child has answered with: its plugin failed, and the process lives.
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
        _ => Fault::fatal("the isolated process gave an answer to another question".into()),
    }
}

fn next_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Memory in a new file, which the child opens by its path.
fn share_memory(path: &std::path::Path, size: u64) -> std::io::Result<memmap2::MmapMut> {
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)?;
    file.set_len(size)?;
    map(&file)
}

#[expect(unsafe_code, reason = "maps a file that is shared with the child")]
fn map(file: &std::fs::File) -> std::io::Result<memmap2::MmapMut> {
    // SAFETY: the file is ours, of fixed size, and known to one child only, which writes to it
    // while it is asked and not otherwise; what it writes is only ever read as numbers.
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
                "the isolated process answers another question".into(),
            )),
            Err(error) => Err(self.bury(&error, patience)),
        }
    }

    /// Sets how long an answer may take, if it is not set so already.
    fn be_patient(&mut self, patience: Duration) -> std::io::Result<()> {
        // Spares a call to the system in each step.
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

    /// The child does not answer any more: says why, and ends it.
    fn bury(&mut self, error: &std::io::Error, patience: Duration) -> Fault {
        use std::io::ErrorKind::{TimedOut, WouldBlock};
        if matches!(error.kind(), TimedOut | WouldBlock) {
            return self.end_late(patience);
        }
        self.is_dead = true;
        // The socket is closed: it has died, or is about to; if not, it is ended.
        // Not killed at once: its status would then be SIGKILL, and not what it has died of. 0.1 s
        // at most, since a step of the run waits for it.
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
            Err(error) => Fault::of_process(format!("its process is lost: {error}")),
        }
    }

    /// What is said of a crash of a child that used much of the memory that it may.
    fn memory_hint(&self) -> String {
        let at = Layout::new().used;
        let used = u64::from_le_bytes(std::array::from_fn(|byte| self.memory[at + byte]));
        let most = self.most_memory;
        // Half of it is suspicious already: the number is up to 20 ms old, and the allocation that
        // fails is not in it.
        if used * 2 < most {
            return String::new();
        }
        format!("; it used {used} MiB of the {most} MiB that it may")
    }

    /// The clock has stopped the child: ends it and notes so.
    fn end_late(&mut self, patience: Duration) -> Fault {
        self.is_dead = true;
        end_group(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
        let what = format!(
            "did not answer for {} s; its process was ended",
            patience.as_secs()
        );
        self.events.note_timeout(self.module, &what);
        Fault::of_process(what)
    }

    fn send_roads(&mut self, roads: &FlatRoads) -> Result<(), Fault> {
        // A child has the roads of one version at a time, and keeps them from call to call.
        if self.roads == roads.version {
            return Ok(());
        }
        if roads.lanelets.len() > MOST_LANELETS {
            return Err(Fault::fatal(format!(
                "isolated planners can have {MOST_LANELETS} lanelets, these roads have {}",
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
        // Longer than other calls may take: large networks are megabytes of JSON, sent once.
        self.call(&call, START_PATIENCE)?;
        self.roads = roads.version;
        Ok(())
    }
}

impl Backend for Isolated {
    fn step(&self, batch: &mut Batch<'_>) -> Result<bool, Fault> {
        let count = batch.rows();
        debug_assert!(count <= MOST_ROWS && batch.inputs.len() <= ROW * MOST_ROWS);
        // One at a time: there is one shared memory and one child, whatever the plugin declares.
        let mut link = self.link();
        if let Some(roads) = batch.roads {
            link.send_roads(roads)?;
        }
        let layout = Layout::new();
        let put = |memory: &mut memmap2::MmapMut, at: usize, bytes: &[u8]| {
            memory[at..at + bytes.len()].copy_from_slice(bytes);
        };
        let memory = &mut link.memory;
        put(memory, layout.ids, bytes_of(batch.step.ids));
        put(memory, layout.indices, bytes_of(batch.step.indices));
        put(memory, layout.seeds, bytes_of(batch.seeds));
        put(memory, layout.inputs, batch.inputs);
        // Outputs as well: with `CAP_WANTS_DEFAULTS` they hold the built-in module's answers.
        put(memory, layout.outputs, batch.outputs);
        put(memory, layout.status, batch.status);
        put(memory, layout.delays, bytes_of(batch.delays));
        let head = StepHead {
            count: count as f64,
            input_size: (batch.inputs.len() / count.max(1)) as f64,
            output_size: (batch.outputs.len() / count.max(1)) as f64,
            step: batch.step.index as f64,
            time: batch.step.time,
            period: batch.step.period,
            route: batch.route.len().min(MOST_ROUTE) as f64,
            has_roads: f64::from(u8::from(batch.roads.is_some())),
            by_pedals: f64::from(u8::from(batch.by_pedals)),
            ..StepHead::default()
        };
        put(memory, layout.head, bytes_of(&head.to_numbers()));
        link.step()?;
        let answer = StepHead::read(&link.memory[layout.head..]);
        let memory = &link.memory;
        let outputs = batch.outputs.len();
        batch
            .outputs
            .copy_from_slice(&memory[layout.outputs..layout.outputs + outputs]);
        batch
            .status
            .copy_from_slice(&memory[layout.status..layout.status + count]);
        // The child is not trusted: what it says about lengths is held to what there is.
        let length = (answer.route_length as usize)
            .min(batch.route.len())
            .min(MOST_ROUTE);
        let from = &memory[layout.route..layout.route + 4 * length];
        bytes_of_mut(&mut batch.route[..length]).copy_from_slice(from);
        batch.route_length = length as u32;
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

    fn set_parameter(&self, index: usize, value: f64) -> Result<(), Fault> {
        let reply = self.call(&Call::SetParameter { index, value })?;
        if let Reply::Set { lookahead } = reply {
            let mut kept = locked(&self.lookahead);
            *kept = lookahead.map(|(distance, time)| Lookahead { distance, time });
        }
        Ok(())
    }

    fn lookahead(&self) -> Option<Lookahead> {
        *locked(&self.lookahead)
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
            Ok(_) => Ok(()),
            Err(fault) => Err(fault.message),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // It may hang: it is ended, not asked, and so is what it has started.
        end_group(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
