//! The child's side of isolated modules: a process that loads a library and answers calls.

use super::backend::{
    Backend, Batch, Fault, MOST_POSES, MOST_ROUTE, MOST_ROWS, Row, State, bytes_of_mut, intern,
    intern_table, intern_words,
};
use super::cell::milliseconds;
use super::in_process::InProcess;
use super::inspect::inspect;
use super::library::{Context, Library};
use super::limits::used_memory;
use super::roads::FlatRoads;
use roadwright_agent::{
    ModuleKind, NearNeeds, Needs, Objects, ParameterInfo, ParameterKind, ParameterTable, PathNeeds,
    Step, TableCell, Views,
};
use roadwright_plugin_api::abi::{RwLanelet, RwPoint};
use roadwright_plugin_api::{
    GridData, HitchData, NearData, ObjectData, PathPoint, PlanPose, VehicleData,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Error, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of lanelets for an isolated planner.
pub(crate) const MOST_LANELETS: usize = 1 << 20;
/// Size of the shared memory at the start, bytes. It grows when a batch needs more.
pub(super) const START_SIZE: usize = 1 << 16;
/// Maximum length of a message, bytes.
// The other side may be faulty, so the memory for a received length is limited.
const MOST_MESSAGE: usize = 1 << 30;

/// Byte offset in shared memory of the child's memory use, an eight-byte number in MiB.
pub(super) const USED: usize = 0;
/// Byte offset of the [`StepHead`] in shared memory.
pub(super) const HEAD: usize = USED + 8;

/// Byte offsets of the arrays of a batch in shared memory. The host and the child both compute them from the
/// head of the batch.
pub(super) struct Layout {
    pub(super) ids: usize,
    pub(super) seeds: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) indices: usize,
    pub(super) route: usize,
    pub(super) delays: usize,
    pub(super) path: usize,
    pub(super) near: usize,
    pub(super) objects: usize,
    pub(super) outlines: usize,
    pub(super) hitch_angles: usize,
    pub(super) grids: usize,
    pub(super) cells: usize,
    pub(super) poses: usize,
    pub(super) status: usize,
    /// Size of the head and all arrays.
    pub(super) size: usize,
}

/// Numbers of a step, stored as doubles. Integers are exact up to 2^53.
// All have the same type, so that the head is a row like the others and needs no separate layout.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct StepHead {
    pub(super) count: f64,
    /// Distance between two input rows, bytes.
    pub(super) input_stride: f64,
    /// Distance between two output rows, bytes.
    pub(super) output_stride: f64,
    pub(super) step: f64,
    pub(super) time: f64,
    pub(super) period: f64,
    /// Capacity of the route buffer.
    pub(super) route: f64,
    /// Number of lanelet delays.
    pub(super) delays: f64,
    pub(super) has_roads: f64,
    pub(super) by_pedals: f64,
    /// Whether the rows refer to views.
    pub(super) has_views: f64,
    /// Number of points of the paths.
    pub(super) points: f64,
    /// Number of entries in the lists of nearby objects.
    pub(super) near: f64,
    /// Number of objects that change between steps.
    pub(super) objects: f64,
    /// Number of outline corners that change between steps.
    pub(super) outlines: f64,
    /// Number of hitch angles.
    pub(super) hitch_angles: f64,
    /// Number of maps.
    pub(super) grids: f64,
    /// Number of cells of all maps.
    pub(super) cells: f64,
    /// Capacity of the buffer of poses.
    pub(super) poses: f64,
    /// Number of poses that the answer contains.
    pub(super) pose_length: f64,
    /// Number of lanelets that the answer contains.
    pub(super) route_length: f64,
    /// Whether the floating-point mode was changed.
    pub(super) changed_mode: f64,
}

impl StepHead {
    const NUMBERS: usize = 22;
    pub(super) const SIZE: usize = 8 * Self::NUMBERS;

    pub(super) fn to_numbers(self) -> [f64; Self::NUMBERS] {
        [
            self.count,
            self.input_stride,
            self.output_stride,
            self.step,
            self.time,
            self.period,
            self.route,
            self.delays,
            self.has_roads,
            self.by_pedals,
            self.has_views,
            self.points,
            self.near,
            self.objects,
            self.outlines,
            self.hitch_angles,
            self.grids,
            self.cells,
            self.poses,
            self.pose_length,
            self.route_length,
            self.changed_mode,
        ]
    }

    pub(super) fn read(bytes: &[u8]) -> Self {
        let n = rows_from::<f64>(bytes, Self::NUMBERS);
        Self {
            count: n[0],
            input_stride: n[1],
            output_stride: n[2],
            step: n[3],
            time: n[4],
            period: n[5],
            route: n[6],
            delays: n[7],
            has_roads: n[8],
            by_pedals: n[9],
            has_views: n[10],
            points: n[11],
            near: n[12],
            objects: n[13],
            outlines: n[14],
            hitch_angles: n[15],
            grids: n[16],
            cells: n[17],
            poses: n[18],
            pose_length: n[19],
            route_length: n[20],
            changed_mode: n[21],
        }
    }
}

/// Byte that announces a call or answer in shared memory and wakes the other side.
pub(super) const STEP: u8 = b'S';
/// Byte that announces a message on the socket.
const MESSAGE: u8 = b'M';

impl Layout {
    /// Computes the byte offsets of a batch's arrays from its counts and strides.
    pub(super) fn of(head: &StepHead) -> Self {
        let mut end = HEAD + StepHead::SIZE;
        // All arrays begin at multiples of eight bytes, because plugins write their answers in place as
        // doubles. Counts that no batch can have give a size larger than any memory.
        let mut place = |count: f64, size: f64| {
            let begin = end;
            let bytes = (count as usize).saturating_mul(size as usize);
            end = end.saturating_add(bytes.div_ceil(8).saturating_mul(8));
            begin
        };
        let rows = head.count;
        Self {
            ids: place(rows, 8.0),
            seeds: place(rows, 8.0),
            inputs: place(rows, head.input_stride),
            outputs: place(rows, head.output_stride),
            indices: place(rows, 4.0),
            route: place(head.route, 4.0),
            delays: place(head.delays, 4.0),
            path: place(head.points, size_of::<PathPoint>() as f64),
            near: place(head.near, size_of::<NearData>() as f64),
            objects: place(head.objects, size_of::<ObjectData>() as f64),
            outlines: place(head.outlines, size_of::<RwPoint>() as f64),
            hitch_angles: place(head.hitch_angles, 8.0),
            grids: place(head.grids, size_of::<GridData>() as f64),
            cells: place(head.cells, 2.0),
            poses: place(head.poses, size_of::<PlanPose>() as f64),
            status: place(rows, 1.0),
            size: end,
        }
    }
}

/// Calls that the host sends to the child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Call {
    Start,
    Roads {
        version: u64,
        lanelets: usize,
        successors: usize,
        points: usize,
        bytes: Vec<u8>,
    },
    /// Vehicles and trailers of the following batches.
    Vehicles {
        version: u64,
        vehicles: usize,
        bytes: Vec<u8>,
    },
    /// Objects that do not change, and corners of their outlines.
    Objects {
        version: u64,
        objects: usize,
        bytes: Vec<u8>,
    },
    AgentsChanged {
        capacity: u32,
        added: Vec<u32>,
        removed: Vec<u32>,
    },
    SetParameter {
        index: usize,
        values: Vec<f64>,
    },
    /// The shared memory has grown.
    Grow,
    Save,
    Load {
        schema: u32,
        bytes: Vec<u8>,
    },
}

/// Message format of a parameter.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SentParameter {
    key: String,
    unit: String,
    doc: String,
    is_integer: bool,
    words: Vec<String>,
    min: f64,
    max: f64,
    default: f64,
    /// Row and column, for a cell of a table.
    cell: Option<(u32, u32)>,
    /// Description of the table, sent with its first cell. The following cells belong to the same
    /// table.
    table: Option<SentTable>,
}

/// Message format of a table.
#[derive(Debug, Serialize, Deserialize)]
struct SentTable {
    key: String,
    rows: u32,
    columns: u32,
    row_names: Vec<String>,
    column_names: Vec<String>,
}

/// Message format of a controller's request for additional data.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct SentNeeds {
    motion: bool,
    vehicles: bool,
    /// Requested path ahead: distance (m), time (s), spacing (m) and maximum number of points.
    path: Option<(f64, f64, f64, u32)>,
    /// Requested nearby objects: radius (m), maximum number, and whether trees are included.
    near: Option<(f64, u32, bool)>,
    /// Size of the cells of the map, m.
    grid: Option<f64>,
}

impl From<Needs> for SentNeeds {
    fn from(needs: Needs) -> Self {
        Self {
            motion: needs.motion,
            vehicles: needs.vehicles,
            path: needs
                .path
                .map(|path| (path.distance, path.time, path.spacing, path.most)),
            near: needs.near.map(|near| (near.radius, near.most, near.trees)),
            grid: needs.grid,
        }
    }
}

impl From<SentNeeds> for Needs {
    fn from(sent: SentNeeds) -> Self {
        Self {
            motion: sent.motion,
            vehicles: sent.vehicles,
            path: sent.path.map(|(distance, time, spacing, most)| PathNeeds {
                distance,
                time,
                spacing,
                most,
            }),
            near: sent.near.map(|(radius, most, trees)| NearNeeds {
                radius,
                most,
                trees,
            }),
            grid: sent.grid,
        }
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn interned(words: &[String]) -> &'static [&'static str] {
    intern_words(words.iter().map(|word| intern(word)).collect())
}

/// Converts received parameters to parameter descriptions.
pub(super) fn received(sent: &[SentParameter]) -> Vec<ParameterInfo> {
    let mut table = None;
    let mut info = |sent: &SentParameter| {
        if let Some(new) = &sent.table {
            table = Some(intern_table(ParameterTable {
                key: intern(&new.key),
                rows: new.rows,
                columns: new.columns,
                row_names: interned(&new.row_names),
                column_names: interned(&new.column_names),
            }));
        }
        let cell = sent.cell.zip(table);
        ParameterInfo {
            cell: cell.map(|((row, column), table)| TableCell { table, row, column }),
            ..ParameterInfo::from(sent)
        }
    };
    sent.iter().map(&mut info).collect()
}

impl From<&ParameterInfo> for SentParameter {
    fn from(info: &ParameterInfo) -> Self {
        let first = info.cell.filter(|cell| cell.is_first());
        let words = match info.kind {
            ParameterKind::Choice(words) => owned(words),
            _ => Vec::new(),
        };
        Self {
            key: info.key.into(),
            unit: info.unit.into(),
            doc: info.doc.into(),
            is_integer: info.kind == ParameterKind::Integer,
            words,
            min: info.min,
            max: info.max,
            default: info.default,
            cell: info.cell.map(|cell| (cell.row, cell.column)),
            table: first.map(|cell| SentTable {
                key: cell.table.key.into(),
                rows: cell.table.rows,
                columns: cell.table.columns,
                row_names: owned(cell.table.row_names),
                column_names: owned(cell.table.column_names),
            }),
        }
    }
}

impl From<&SentParameter> for ParameterInfo {
    fn from(sent: &SentParameter) -> Self {
        let words: Vec<&'static str> = sent.words.iter().map(|word| intern(word)).collect();
        Self {
            key: intern(&sent.key),
            unit: intern(&sent.unit),
            doc: intern(&sent.doc),
            kind: match (words.is_empty(), sent.is_integer) {
                (false, _) => ParameterKind::Choice(intern_words(words)),
                (true, true) => ParameterKind::Integer,
                (true, false) => ParameterKind::Number,
            },
            min: sent.min,
            max: sent.max,
            default: sent.default,
            cell: None,
        }
    }
}

/// Answers that the child sends.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    Started {
        parameters: Vec<SentParameter>,
        lookahead: Option<(f64, f64)>,
        by_pedals: bool,
        needs: Option<SentNeeds>,
    },
    Set {
        lookahead: Option<(f64, f64)>,
        needs: Option<SentNeeds>,
    },
    Saved {
        schema: u32,
        bytes: Vec<u8>,
    },
    Done,
    Failed {
        message: String,
        is_fatal: bool,
    },
    /// The call took longer than [`PATIENCE`], so its result is not sent.
    GivenUp,
}

/// Time limit of a call. The child process enforces it, so that a running call can see through
/// `cancelled` that its time is up, and an answer that is already being sent is not lost.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// Interval at which the duration of a call is checked.
const LOOK: Duration = Duration::from_millis(20);

/// Writes a message after its mark and its length.
pub(super) fn write_message(to: &mut UnixStream, message: &impl Serialize) -> std::io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let mut bytes = Vec::with_capacity(body.len() + 5);
    bytes.push(MESSAGE);
    bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&body);
    to.write_all(&bytes)
}

/// Reads a message; `None` if the other side has written a step to shared memory instead.
pub(super) fn read_message<T: DeserializeOwned>(
    from: &mut UnixStream,
) -> std::io::Result<Option<T>> {
    look_before_sleeping(from);
    let mut mark = [0];
    from.read_exact(&mut mark)?;
    if mark == [STEP] {
        return Ok(None);
    }
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_MESSAGE {
        return Err(Error::new(
            ErrorKind::InvalidData,
            "the message is too long",
        ));
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}

/// Number of times that a socket is polled before its reader sleeps. Polling this often takes about as long
/// as waking up.
const LOOKS: u32 = 120;

/// Polls briefly for a first byte without releasing the core, because an answer usually arrives before a
/// sleeping thread would wake up.
fn look_before_sleeping(socket: &UnixStream) {
    use rustix::net::{RecvFlags, recv};
    for _ in 0..LOOKS {
        let mut byte = [0u8; 1];
        let flags = RecvFlags::DONTWAIT | RecvFlags::PEEK;
        // Data have arrived, or the reader will find the end of the stream or an error.
        if !matches!(
            recv(socket, &mut byte, flags),
            Err(rustix::io::Errno::AGAIN)
        ) {
            return;
        }
        std::hint::spin_loop();
    }
}

struct Server {
    socket: UnixStream,
    /// File of the shared memory.
    file: std::fs::File,
    memory: memmap2::MmapMut,
    backend: InProcess,
    roads: FlatRoads,
    vehicles: Vec<VehicleData>,
    hitches: Vec<HitchData>,
    vehicles_version: u64,
    /// Objects and corners: first the fixed objects, which do not change, then the objects of the
    /// last step.
    objects: Vec<ObjectData>,
    outlines: Vec<RwPoint>,
    fixed_objects: usize,
    fixed_outlines: usize,
    objects_version: u64,
}

/// Loads a library, creates an instance of a kind, and answers calls from standard input, which is a socket,
/// until this socket is closed.
///
/// # Errors
/// If standard input is not a socket, or the shared memory does not exist.
pub(crate) fn serve(library: &Path, kind: &str, memory: &Path) -> std::io::Result<()> {
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(memory)?;
    let memory = map(&file)?;
    // Nothing is loaded before the host requests it, so that its time limit for starting applies.
    let started: Option<Call> = read_message(&mut socket)?;
    if !matches!(started, Some(Call::Start)) {
        return Err(Error::new(ErrorKind::InvalidData, "not started"));
    }
    // Started before the library is loaded, because its initialisers may fill the memory.
    watch_memory(map(&file)?);
    let backend = match start(library, kind) {
        Ok(backend) => backend,
        Err(fault) => return write_message(&mut socket, &failed(fault)),
    };
    let needs = match backend.needs() {
        Ok(needs) => needs,
        Err(fault) => return write_message(&mut socket, &failed(fault)),
    };
    let reply = Reply::Started {
        parameters: backend.parameters().iter().map(Into::into).collect(),
        lookahead: backend.lookahead().map(|l| (l.distance, l.time)),
        by_pedals: backend.by_pedals(),
        needs: needs.map(Into::into),
    };
    write_message(&mut socket, &reply)?;
    let mut server = Server {
        socket,
        file,
        memory,
        backend,
        roads: FlatRoads::default(),
        vehicles: Vec::new(),
        hitches: Vec::new(),
        vehicles_version: 0,
        objects: Vec::new(),
        outlines: Vec::new(),
        fixed_objects: 0,
        fixed_outlines: 0,
        objects_version: 0,
    };
    loop {
        let call: Option<Call> = match read_message(&mut server.socket) {
            Ok(call) => call,
            // The host has closed its side or has died, and a child must not outlive it.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        };
        let reply = match call {
            Some(call) => server.answer(call).unwrap_or_else(failed),
            None => match server.step() {
                Ok(()) => {
                    server.socket.write_all(&[STEP])?;
                    continue;
                }
                Err(fault) => failed(fault),
            },
        };
        // The host must not use an answer that came too late.
        let reply = if server.backend.is_lost() {
            Reply::GivenUp
        } else {
            reply
        };
        write_message(&mut server.socket, &reply)?;
    }
}

fn failed(fault: Fault) -> Reply {
    Reply::Failed {
        message: fault.message,
        is_fatal: fault.is_fatal,
    }
}

fn start(library: &Path, kind: &str) -> Result<InProcess, Fault> {
    let fatal = Fault::fatal;
    let kind =
        ModuleKind::from_name(kind).ok_or_else(|| fatal(format!("unknown module kind {kind}")))?;
    // A damaged copy would kill this process with SIGBUS, but an error states the cause.
    inspect(library).map_err(|error| fatal(error.to_string()))?;
    let library = Library::open(library).map_err(|error| fatal(error.to_string()))?;
    // Read before the instance owns the library. The context is never freed, and the thread below lives as
    // long as the process.
    let context = library.context;
    let instance = InProcess::new(Arc::new(library), kind)?;
    std::thread::spawn(move || give_up_late_calls(context));
    Ok(instance)
}

// A process that dies because of its memory limit cannot report that, so the last value is kept in shared
// memory.
/// Periodically reports the memory use of this process to the host, for messages about crashes.
fn watch_memory(mut shared: memmap2::MmapMut) {
    std::thread::spawn(move || {
        loop {
            shared[USED..USED + 8].copy_from_slice(&used_memory().to_le_bytes());
            std::thread::sleep(LOOK);
        }
    });
}

/// Abandons calls that take too long, for as long as the process lives.
fn give_up_late_calls(context: &Context) {
    let patience = PATIENCE.as_millis() as u64;
    loop {
        std::thread::sleep(LOOK);
        let begun_by = milliseconds().saturating_sub(patience);
        context.calls.give_up(begun_by);
    }
}

#[expect(unsafe_code, reason = "maps a file that is shared with the host")]
fn map(file: &std::fs::File) -> std::io::Result<memmap2::MmapMut> {
    // SAFETY: the host created the file for this process, only lets it grow, and accesses it only while no
    // call runs. One of the two maps in this process is used only to report the memory use.
    unsafe { memmap2::MmapMut::map_mut(file) }
}

/// Copies `count` rows out of their bytes.
fn rows_from<T: Row>(bytes: &[u8], count: usize) -> Vec<T> {
    let mut rows = vec![T::default(); count];
    let into = bytes_of_mut(&mut rows);
    let length = into.len().min(bytes.len());
    into[..length].copy_from_slice(&bytes[..length]);
    rows
}

impl Server {
    fn answer(&mut self, call: Call) -> Result<Reply, Fault> {
        match call {
            Call::Start => {}
            Call::Roads {
                version,
                lanelets,
                successors,
                points,
                bytes,
            } => {
                let (lanelet_bytes, rest) =
                    bytes.split_at((lanelets * size_of::<RwLanelet>()).min(bytes.len()));
                let (successor_bytes, point_bytes) =
                    rest.split_at((4 * successors).min(rest.len()));
                self.roads = FlatRoads {
                    lanelets: rows_from::<RwLanelet>(lanelet_bytes, lanelets),
                    successors: rows_from::<u32>(successor_bytes, successors),
                    points: rows_from::<RwPoint>(point_bytes, points),
                    version,
                };
            }
            Call::Vehicles {
                version,
                vehicles,
                bytes,
            } => {
                let size = size_of::<VehicleData>();
                let (vehicle_bytes, hitch_bytes) =
                    bytes.split_at((vehicles * size).min(bytes.len()));
                self.vehicles = rows_from(vehicle_bytes, vehicles);
                let hitches = hitch_bytes.len() / size_of::<HitchData>();
                self.hitches = rows_from(hitch_bytes, hitches);
                self.vehicles_version = version;
            }
            Call::Objects {
                version,
                objects,
                bytes,
            } => {
                let size = size_of::<ObjectData>();
                let (object_bytes, outline_bytes) =
                    bytes.split_at((objects * size).min(bytes.len()));
                self.objects = rows_from(object_bytes, objects);
                let corners = outline_bytes.len() / size_of::<RwPoint>();
                self.outlines = rows_from(outline_bytes, corners);
                (self.fixed_objects, self.fixed_outlines) = (objects, corners);
                self.objects_version = version;
            }
            Call::AgentsChanged {
                capacity,
                added,
                removed,
            } => self.backend.agents_changed(capacity, &added, &removed)?,
            Call::SetParameter { index, values } => {
                self.backend.set_parameter(index, &values)?;
                return self.wishes();
            }
            Call::Grow => {
                self.memory = map(&self.file).map_err(|error| {
                    Fault::of_process(format!("cannot share more memory: {error}"))
                })?;
            }
            Call::Save => {
                if let Some(State { schema, bytes }) = self.backend.save() {
                    return Ok(Reply::Saved { schema, bytes });
                }
            }
            Call::Load { schema, bytes } => {
                let state = State { schema, bytes };
                self.backend.load(&state).map_err(|message| Fault {
                    message,
                    is_fatal: false,
                    depends_on_machine: false,
                })?;
                return self.wishes();
            }
        }
        Ok(Reply::Done)
    }

    /// Returns the lookahead and the needs after parameters or state have changed.
    fn wishes(&self) -> Result<Reply, Fault> {
        let lookahead = self.backend.lookahead();
        Ok(Reply::Set {
            lookahead: lookahead.map(|l| (l.distance, l.time)),
            needs: self.backend.needs()?.map(Into::into),
        })
    }

    fn step(&mut self) -> Result<(), Fault> {
        let memory = &mut self.memory;
        let mut head = StepHead::read(&memory[HEAD..]);
        let layout = Layout::of(&head);
        if layout.size > memory.len() {
            return Err(Fault::fatal("the batch is larger than the memory".into()));
        }
        // Copied, because the plugin may overwrite its inputs and the shared memory is accessed only here.
        let count = (head.count as usize).min(MOST_ROWS);
        let has_roads = head.has_roads > 0.0;
        let ids = rows_from::<u64>(&memory[layout.ids..], count);
        let indices = rows_from::<u32>(&memory[layout.indices..], count);
        let seeds = rows_from::<u64>(&memory[layout.seeds..], count);
        let delays = rows_from::<f32>(&memory[layout.delays..], head.delays as usize);
        // Allocated as doubles, so that rows are aligned like doubles.
        let input_bytes = count * head.input_stride as usize;
        let inputs = rows_from::<f64>(&memory[layout.inputs..], input_bytes / 8);
        let path = rows_from::<PathPoint>(&memory[layout.path..], head.points as usize);
        let near = rows_from::<NearData>(&memory[layout.near..], head.near as usize);
        self.objects.truncate(self.fixed_objects);
        let moving = rows_from::<ObjectData>(&memory[layout.objects..], head.objects as usize);
        self.objects.extend(moving);
        self.outlines.truncate(self.fixed_outlines);
        let moving = rows_from::<RwPoint>(&memory[layout.outlines..], head.outlines as usize);
        self.outlines.extend(moving);
        let hitch_angles =
            rows_from::<f64>(&memory[layout.hitch_angles..], head.hitch_angles as usize);
        let grids = rows_from::<GridData>(&memory[layout.grids..], head.grids as usize);
        let cells = rows_from::<u16>(&memory[layout.cells..], head.cells as usize);
        let views = (head.has_views > 0.0).then_some(Views {
            vehicles: &self.vehicles,
            hitches: &self.hitches,
            vehicles_version: self.vehicles_version,
            path: &path,
            objects: Objects {
                all: &self.objects,
                outlines: &self.outlines,
                fixed: self.fixed_objects,
                fixed_outlines: self.fixed_outlines,
                version: self.objects_version,
            },
            near: &near,
            hitch_angles: &hitch_angles,
            grids: &grids,
            cells: &cells,
        });
        let mut poses = vec![PlanPose::default(); (head.poses as usize).min(MOST_POSES)];
        let mut route = vec![0u32; (head.route as usize).min(MOST_ROUTE)];
        // Outputs and status are written in place; both begin at multiples of eight bytes.
        let (before, status) = memory.split_at_mut(layout.status);
        let output_bytes = count * head.output_stride as usize;
        let outputs = &mut before[layout.outputs..][..output_bytes];
        let mut batch = Batch {
            step: Step {
                time: head.time,
                period: head.period,
                index: head.step as u64,
                // Not used, because each row contains the seed of its agent.
                seed: 0,
                indices: &indices,
                ids: &ids,
            },
            seeds: &seeds,
            inputs: super::backend::bytes_of(&inputs),
            outputs,
            by_pedals: head.by_pedals > 0.0,
            views,
            status: &mut status[..count],
            roads: has_roads.then_some(&self.roads),
            delays: &delays,
            route: &mut route,
            route_length: 0,
            poses: &mut poses,
            pose_length: 0,
        };
        let changed_mode = self.backend.step(&mut batch)?;
        let (route_length, pose_length) = (batch.route_length, batch.pose_length);
        let written = super::backend::bytes_of(&route[..route_length as usize]);
        memory[layout.route..][..written.len()].copy_from_slice(written);
        let written = super::backend::bytes_of(&poses[..pose_length as usize]);
        memory[layout.poses..][..written.len()].copy_from_slice(written);
        head.pose_length = f64::from(pose_length);
        head.route_length = f64::from(route_length);
        head.changed_mode = f64::from(u8::from(changed_mode));
        let numbers = head.to_numbers();
        let bytes = super::backend::bytes_of(&numbers);
        memory[HEAD..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::backend::bytes_of;
    use super::*;

    #[test]
    fn arrays_have_room_for_their_rows_and_are_aligned() {
        let head = StepHead {
            count: 7.0,
            input_stride: 3112.0,
            output_stride: 16.0,
            route: 5.0,
            delays: 3.0,
            points: 2.0,
            near: 3.0,
            objects: 4.0,
            outlines: 5.0,
            hitch_angles: 1.0,
            grids: 2.0,
            cells: 7.0,
            poses: 3.0,
            ..StepHead::default()
        };
        let layout = Layout::of(&head);
        let arrays = [
            (layout.ids, 8 * 7),
            (layout.seeds, 8 * 7),
            (layout.inputs, 3112 * 7),
            (layout.outputs, 16 * 7),
            (layout.indices, 4 * 7),
            (layout.route, 4 * 5),
            (layout.delays, 4 * 3),
            (layout.path, 88 * 2),
            (layout.near, 72 * 3),
            (layout.objects, 104 * 4),
            (layout.outlines, 16 * 5),
            (layout.hitch_angles, 8),
            (layout.grids, 48 * 2),
            (layout.cells, 2 * 7),
            (layout.poses, 48 * 3),
            (layout.status, 7),
        ];
        let mut end = HEAD + StepHead::SIZE;
        for (begin, size) in arrays {
            assert!(begin >= end && begin % 8 == 0, "{begin} {end}");
            end = begin + size;
        }
        assert!((end..end + 8).contains(&layout.size));
        assert_eq!(StepHead::read(bytes_of(&head.to_numbers())), head);
    }

    #[test]
    fn a_head_that_no_batch_has_needs_more_than_any_memory() {
        let head = StepHead {
            count: 1e30,
            input_stride: 1e30,
            ..StepHead::default()
        };
        assert!(Layout::of(&head).size > 1 << 60);
    }
}
