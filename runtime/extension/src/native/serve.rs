//! The other side of isolated modules: a process that loads one library and answers calls.

use super::backend::{
    Backend, Batch, Fault, MOST_ROUTE, MOST_ROWS, Row, State, bytes_of_mut, intern,
};
use super::in_process::InProcess;
use super::inspect::inspect;
use super::library::Library;
use super::roads::FlatRoads;
use roadwright_agent::{ParameterInfo, ParameterKind, Slot, Step};
use roadwright_plugin_api::abi::{RwPoint, RwStrip};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Error, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

/// Strips that an isolated planner can have.
pub(crate) const MOST_STRIPS: usize = 1 << 20;
/// Largest row, bytes.
const ROW: usize = roadwright_plugin_api::MAX_RECORD;
/// Longest message, bytes.
const MOST_MESSAGE: usize = 1 << 30;

/// Where the arrays of a batch lie in shared memory, bytes from its start.
pub(super) struct Layout {
    pub(super) ids: usize,
    pub(super) seeds: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) slots: usize,
    pub(super) route: usize,
    pub(super) delays: usize,
    pub(super) status: usize,
    pub(super) size: usize,
}

impl Layout {
    pub(super) fn new() -> Self {
        let ids = 0;
        let seeds = ids + 8 * MOST_ROWS;
        let inputs = seeds + 8 * MOST_ROWS;
        let outputs = inputs + ROW * MOST_ROWS;
        let slots = outputs + ROW * MOST_ROWS;
        let route = slots + 4 * MOST_ROWS;
        let delays = route + 4 * MOST_ROUTE;
        let status = delays + 4 * MOST_STRIPS;
        Self {
            ids,
            seeds,
            inputs,
            outputs,
            slots,
            route,
            delays,
            status,
            size: status + MOST_ROWS,
        }
    }
}

/// What the child is asked.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Call {
    Start,
    Roads {
        version: u64,
        strips: usize,
        successors: usize,
        points: usize,
        bytes: Vec<u8>,
    },
    Step {
        count: usize,
        input_size: usize,
        output_size: usize,
        step: u64,
        time: f64,
        period: f64,
        route: usize,
        has_roads: bool,
    },
    AgentsChanged {
        slots: u32,
        added: Vec<u32>,
        removed: Vec<u32>,
    },
    SetParameter {
        index: usize,
        value: f64,
    },
    Save,
    Load {
        schema: u32,
        bytes: Vec<u8>,
    },
}

/// A parameter as it is sent.
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
}

impl From<&ParameterInfo> for SentParameter {
    fn from(info: &ParameterInfo) -> Self {
        let words = match info.kind {
            ParameterKind::Choice(words) => words.iter().map(|w| (*w).to_owned()).collect(),
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
                (false, _) => ParameterKind::Choice(super::backend::intern_words(words)),
                (true, true) => ParameterKind::Integer,
                (true, false) => ParameterKind::Number,
            },
            min: sent.min,
            max: sent.max,
            default: sent.default,
        }
    }
}

/// What the child answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    Started {
        parameters: Vec<SentParameter>,
        lookahead: Option<(f64, f64)>,
    },
    Stepped {
        route_length: u32,
        changed_mode: bool,
    },
    Set {
        lookahead: Option<(f64, f64)>,
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
}

/// Writes a message behind its length.
pub(super) fn write_message(to: &mut UnixStream, message: &impl Serialize) -> std::io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let mut bytes = Vec::with_capacity(body.len() + 4);
    bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&body);
    to.write_all(&bytes)
}

/// Reads a message.
pub(super) fn read_message<T: DeserializeOwned>(from: &mut UnixStream) -> std::io::Result<T> {
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
    serde_json::from_slice(&body).map_err(Into::into)
}

struct Server {
    socket: UnixStream,
    memory: memmap2::MmapMut,
    backend: InProcess,
    roads: FlatRoads,
}

/// Loads a library, makes an instance for a slot and answers calls from standard input, which is a
/// socket, until it is closed.
///
/// # Errors
/// If there is no such socket or memory.
pub(crate) fn serve(library: &Path, slot: &str, memory: &Path) -> std::io::Result<()> {
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(memory)?;
    let memory = map(&file)?;
    let started: Call = read_message(&mut socket)?;
    if !matches!(started, Call::Start) {
        return Err(Error::new(ErrorKind::InvalidData, "not started"));
    }
    let backend = match start(library, slot) {
        Ok(backend) => backend,
        Err(fault) => return write_message(&mut socket, &failed(fault)),
    };
    let reply = Reply::Started {
        parameters: backend.parameters().iter().map(Into::into).collect(),
        lookahead: backend.lookahead().map(|l| (l.distance, l.time)),
    };
    write_message(&mut socket, &reply)?;
    let mut server = Server {
        socket,
        memory,
        backend,
        roads: FlatRoads::default(),
    };
    loop {
        let call: Call = match read_message(&mut server.socket) {
            Ok(call) => call,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        };
        let reply = server.answer(call).unwrap_or_else(failed);
        write_message(&mut server.socket, &reply)?;
    }
}

fn failed(fault: Fault) -> Reply {
    Reply::Failed {
        message: fault.message,
        is_fatal: fault.is_fatal,
    }
}

fn start(library: &Path, slot: &str) -> Result<InProcess, Fault> {
    let fatal = |message: String| Fault {
        message,
        is_fatal: true,
    };
    let slot = Slot::from_name(slot).ok_or_else(|| fatal(format!("no slot {slot}")))?;
    inspect(library).map_err(|error| fatal(error.to_string()))?;
    let library = Library::open(library).map_err(|error| fatal(error.to_string()))?;
    InProcess::new(Arc::new(library), slot)
}

#[expect(unsafe_code, reason = "maps a file that is shared with the host")]
fn map(file: &std::fs::File) -> std::io::Result<memmap2::MmapMut> {
    // SAFETY: the host made the file for this process, with the size of the layout, and touches it
    // only while no call runs.
    unsafe { memmap2::MmapMut::map_mut(file) }
}

/// A copy of rows that stand in bytes.
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
                strips,
                successors,
                points,
                bytes,
            } => {
                let (strip_bytes, rest) =
                    bytes.split_at((strips * size_of::<RwStrip>()).min(bytes.len()));
                let (successor_bytes, point_bytes) =
                    rest.split_at((4 * successors).min(rest.len()));
                self.roads = FlatRoads {
                    strips: rows_from::<RwStrip>(strip_bytes, strips),
                    successors: rows_from::<u32>(successor_bytes, successors),
                    points: rows_from::<RwPoint>(point_bytes, points),
                    version,
                };
            }
            Call::Step {
                count,
                input_size,
                output_size,
                step,
                time,
                period,
                route,
                has_roads,
            } => {
                let rows = (count, input_size, output_size);
                return self.step(rows, (step, time, period), route, has_roads);
            }
            Call::AgentsChanged {
                slots,
                added,
                removed,
            } => self.backend.agents_changed(slots, &added, &removed)?,
            Call::SetParameter { index, value } => {
                self.backend.set_parameter(index, value)?;
                let lookahead = self.backend.lookahead();
                return Ok(Reply::Set {
                    lookahead: lookahead.map(|l| (l.distance, l.time)),
                });
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
                })?;
            }
        }
        Ok(Reply::Done)
    }

    fn step(
        &mut self,
        (count, input_size, output_size): (usize, usize, usize),
        (index, time, period): (u64, f64, f64),
        route: usize,
        has_roads: bool,
    ) -> Result<Reply, Fault> {
        let layout = Layout::new();
        let count = count.min(MOST_ROWS);
        let memory = &mut self.memory;
        let ids = rows_from::<u64>(&memory[layout.ids..], count);
        let slots = rows_from::<u32>(&memory[layout.slots..], count);
        let seeds = rows_from::<u64>(&memory[layout.seeds..], count);
        let delays = rows_from::<f32>(
            &memory[layout.delays..],
            if has_roads {
                self.roads.strips.len()
            } else {
                0
            },
        );
        let inputs = memory[layout.inputs..][..count * input_size.min(ROW)].to_vec();
        let mut route = vec![0u32; route.min(MOST_ROUTE)];
        // Outputs and status are written in place: both lie at multiples of eight bytes.
        let (before, status) = memory.split_at_mut(layout.status);
        let outputs = &mut before[layout.outputs..][..count * output_size.min(ROW)];
        let mut batch = Batch {
            step: Step {
                time,
                period,
                index,
                seed: 0,
                slots: &slots,
                ids: &ids,
            },
            seeds: &seeds,
            inputs: &inputs,
            outputs,
            status: &mut status[..count],
            roads: has_roads.then_some(&self.roads),
            delays: &delays,
            route: &mut route,
            route_length: 0,
        };
        let changed_mode = self.backend.step(&mut batch)?;
        let route_length = batch.route_length;
        let written = super::backend::bytes_of(&route[..route_length as usize]);
        memory[layout.route..][..written.len()].copy_from_slice(written);
        Ok(Reply::Stepped {
            route_length,
            changed_mode,
        })
    }
}
