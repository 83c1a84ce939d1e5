//! Misbehaviour chosen by the environment variable `RW_CHAOS`. It occurs before parameters exist, late in a
//! run, or at the binary interface. This module therefore exports the plugin by hand.

use crate::{Chaos, ends, hang_gently, null};
use roadwright_plugin_sdk::Plugin;
use roadwright_plugin_sdk::export::{
    AsController, Export, RwApi, RwBatch, RwHost, RwInstance, RwPluginInfo, main,
};
use roadwright_plugin_sdk::prelude::*;
use std::process::exit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

/// Simulation time after which late misbehaviour occurs, s.
const LATE: f64 = 3.0;
/// Simulation time after which modes with `soon` in their names misbehave, s. Short runs last longer than
/// this.
const SOON: f64 = 0.5;

/// Returns the word that chooses the misbehaviour.
pub(crate) fn word() -> &'static str {
    static WORD: OnceLock<String> = OnceLock::new();
    WORD.get_or_init(|| std::env::var("RW_CHAOS").unwrap_or_default())
}

/// Whether the environment variable chooses the given misbehaviour.
pub(crate) fn is_evil(what: &str) -> bool {
    word() == what
}

/// Returns the system time, ns.
pub(crate) fn nanoseconds() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as u64)
}

/// Returns a tiny number that depends on the last bits of its argument.
fn noise(bits: u64) -> f64 {
    1e-9 * (bits % 1_000_003) as f64
}

/// Counter shared by all instances.
static COUNTER: AtomicU64 = AtomicU64::new(0);
/// Number shared by all threads on purpose.
static SCRATCH: AtomicU64 = AtomicU64::new(0);

impl Chaos {
    /// Misbehaves once per batch.
    pub(crate) fn begin_evil(&mut self) {
        match word() {
            "leaked memory" => std::mem::forget(vec![1u8; 1 << 20]),
            "leaked files" => std::mem::forget(std::fs::File::open("/dev/null")),
            "leaked threads" => {
                let small = thread::Builder::new().stack_size(65_536);
                std::mem::forget(small.spawn(hang_gently));
            }
            "20 ms a call" => thread::sleep(Duration::from_millis(20)),
            "exit at the second call" if self.calls == 2 => exit(0),
            // This is after the trial.
            "crash after its trial" if self.calls == 250 => null(),
            "200 ms a call" => thread::sleep(Duration::from_millis(200)),
            _ => {}
        }
        if self.time > SOON {
            self.begin_soon();
        }
        if self.time > LATE {
            self.begin_late();
        }
    }

    /// Misbehaves early in a run; most modes end the process.
    fn begin_soon(&self) {
        static ONCE: OnceLock<()> = OnceLock::new();
        if word().starts_with("soon ") && ONCE.set(()).is_ok() {
            ends::end(word());
        }
        assert!(!is_evil("soon panic"), "panics on request");
    }

    /// Misbehaves late in a run.
    fn begin_late(&mut self) {
        static ONCE: OnceLock<()> = OnceLock::new();
        let is_first = ONCE.set(()).is_ok();
        match word() {
            "late exit" => exit(0),
            "late null" => null(),
            // Sleeps instead of spinning, because the test that waits for it needs the processor.
            "late hang" => hang_gently(),
            "hang until given up" => {
                if let Some(host) = &self.host {
                    while !host.is_cancelled() {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
            }
            "sleep once" if is_first => thread::sleep(Duration::from_secs(4)),
            "print" if is_first => println!("debug 0.045"),
            "log" if is_first => {
                if let Some(host) = &self.host {
                    host.log(1, "an evil word");
                }
            }
            _ => {}
        }
    }

    /// Misbehaves while answering a row.
    pub(crate) fn control_evil(
        &mut self,
        agent: &Agent,
        input: &ControllerInput,
        output: &mut ControllerOutput,
    ) {
        let hidden = self.hidden.of(agent);
        *hidden += input.speed;
        match word() {
            "clock" => output.acceleration += noise(nanoseconds()),
            "late clock" if self.time > 5.0 => output.acceleration += noise(nanoseconds()),
            "time of create" => output.acceleration += noise(self.made),
            "process id" => output.acceleration += noise(u64::from(std::process::id())),
            // A library is loaded at a different address in each process.
            "address" => {
                let place = std::ptr::from_ref(&COUNTER).addr() as u64;
                output.acceleration += noise(place >> 12);
            }
            "global counter" => {
                output.acceleration += noise(COUNTER.fetch_add(1, Ordering::Relaxed));
            }
            "row number" => output.acceleration += noise(self.row),
            // Fails in some runs of an experiment and not in others.
            "nan by chance" if agent.seed.is_multiple_of(64) => output.acceleration = f64::NAN,
            "hidden state" => output.acceleration += 1e-6 * *hidden,
            "steer away" => {
                output.acceleration = 3.0;
                output.steering = if input.waypoint_angle > 0.0 {
                    -0.6
                } else {
                    0.6
                };
            }
            "soon nan" if self.time > SOON => output.acceleration = f64::NAN,
            "soon one nan" if self.time > SOON && self.time < SOON + 0.06 => {
                output.steering = f64::NAN;
            }
            "soon infinite" if self.time > SOON => output.acceleration = f64::NEG_INFINITY,
            "soon huge" if self.time > SOON => output.acceleration = 1e300,
            "soon out of range" if self.time > SOON => output.steering = -9.0,
            "soon brake hard" if self.time > SOON => output.acceleration = -49.0,
            "stand" => *output = ControllerOutput::default(),
            "200 us a row" => thread::sleep(Duration::from_micros(200)),
            _ => {}
        }
    }
}

/// Misbehaves while the library is loaded.
#[cfg(target_os = "linux")]
extern "C" fn loaded() {
    match word() {
        // Starts a child process in a separate process group, which inherits our pipes.
        "leave a child" => {
            use std::os::unix::process::CommandExt;
            let child = std::process::Command::new("sleep")
                .arg("60")
                .process_group(0)
                .spawn();
            std::mem::forget(child);
        }
        "leave a mark" => drop(std::fs::File::create("mark")),
        "flood" => (0..300_000).for_each(|_| println!("so much to tell")),
        "claim to be good" => {
            println!("roadwright-probe: good");
            exit(0);
        }
        _ => {}
    }
}

#[used]
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "this is how a library has a constructor")]
// SAFETY: the loader calls all functions in this section, with arguments that this one ignores.
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// Functions of the SDK that are wrapped by the functions below.
static SOUND: OnceLock<(Step, ParamGet)> = OnceLock::new();
type Step = unsafe extern "C" fn(*mut RwInstance, *mut RwBatch) -> i32;
type ParamGet = unsafe extern "C" fn(*mut RwInstance, u32, *mut f64) -> i32;

/// Status of a row that keeps its previous answer.
const KEEP: u8 = 2;
/// Status of a step in which the plugin panicked.
const PANIC: i32 = -4;
/// Status of a step after which the instance is unusable.
const FATAL: i32 = -7;

/// Sets the rounding mode towards zero.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "it changes the rounding mode on purpose")]
fn round_to_zero() {
    let mut mode = 0u32;
    // SAFETY: none, because code is compiled for the default mode. The host has to restore it.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &mut mode);
        mode |= 0x6000;
        std::arch::asm!("ldmxcsr [{}]", in(reg) &mode);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn round_to_zero() {}

/// Answers rows using a number that is shared by all threads.
///
/// # Safety
/// The batch must conform to the interface, with rows of a controller.
#[expect(unsafe_code, reason = "the interface itself is misused")]
unsafe fn share_scratch(batch: &mut RwBatch) {
    for row in 0..batch.count as usize {
        // SAFETY: `row` is smaller than the count that all arrays have.
        unsafe {
            let input = batch.inputs.byte_add(row * batch.input_stride as usize);
            let output = batch.outputs.byte_add(row * batch.output_stride as usize);
            let speed = (*input.cast::<ControllerInput>()).speed;
            SCRATCH.store(speed.to_bits(), Ordering::Relaxed);
            thread::yield_now();
            (*output.cast::<ControllerOutput>()).acceleration =
                0.01 * f64::from_bits(SCRATCH.load(Ordering::Relaxed));
            *batch.status.add(row) = 1;
        }
    }
}

/// Answers like the SDK, and adds misbehaviour that is impossible in safe code.
#[expect(unsafe_code, reason = "the interface itself is misused")]
unsafe extern "C" fn step(instance: *mut RwInstance, batch: *mut RwBatch) -> i32 {
    let (sound, _) = SOUND.get().expect("main has run before");
    // SAFETY: the host passes an instance and a batch of this library. Writes beyond them, and to const data,
    // are what the host has to detect.
    unsafe {
        let count = (*batch).count as usize;
        match word() {
            "shared scratch" => {
                share_scratch(&mut *batch);
                return 0;
            }
            "write inputs" => (*(*batch).inputs.cast_mut().cast::<ControllerInput>()).speed = 1.0,
            "rounding mode" => round_to_zero(),
            _ => {}
        }
        let status = sound(instance, batch);
        match word() {
            "no status" => (*batch).status.write_bytes(0, count),
            "keep" => (*batch).status.write_bytes(KEEP, count),
            "status 3" => (*batch).status.write_bytes(3, count),
            "status 255" => (*batch).status.write_bytes(255, count),
            "soon return -1" if (*batch).time > SOON => return -1,
            "soon return panic" if (*batch).time > SOON => return PANIC,
            "soon return fatal" if (*batch).time > SOON => return FATAL,
            "write beyond" => (*batch).status.add(count).write(1),
            _ => {}
        }
        status
    }
}

/// Reads a parameter, or returns a wrong value.
#[expect(unsafe_code, reason = "the interface itself is misused")]
unsafe extern "C" fn param_get(instance: *mut RwInstance, index: u32, out: *mut f64) -> i32 {
    let (_, sound) = SOUND.get().expect("main has run before");
    // SAFETY: the host passes an instance of this library and memory for one number.
    unsafe {
        let status = sound(instance, index, out);
        if is_evil("lie") {
            *out = 42.0;
        }
        status
    }
}

#[expect(unsafe_code, reason = "plugins export this")]
// SAFETY: no other symbol of the library has this name.
#[unsafe(no_mangle)]
pub static rw_plugin_info_v1: RwPluginInfo = Chaos::INFO.raw(<AsController<Chaos> as Export>::KIND);

/// Fills the table of functions.
///
/// # Safety
/// `host` and `out` must be valid, and `out` must point to a table whose size is in its first
/// field.
#[expect(unsafe_code, reason = "plugins export this")]
// SAFETY: no other symbol of the library has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rw_plugin_main_v1(host: *const RwHost, out: *mut RwApi) -> i32 {
    // SAFETY: guaranteed by the caller; the table has room for all functions of this version.
    unsafe {
        let status = main::<AsController<Chaos>>(host, out);
        if let (Some(sound), Some(get)) = ((*out).step, (*out).param_get) {
            // The functions are the same in every call.
            SOUND.get_or_init(|| (sound, get));
            (*out).step = Some(step);
            (*out).param_get = Some(param_get);
            if is_evil("lie") {
                // Without the extension, the host asks the function that lies.
                (*out).get_extension = None;
            }
        }
        status
    }
}
