//! An instance of a plugin in this process.
#![expect(
    unsafe_code,
    reason = "calls the functions of a plugin; everything above it is safe"
)]

use super::backend::{
    Backend, Batch, Fault, State, intern_parameters, is_shown, parameter_info, printable,
};
use super::cell::milliseconds;
use super::floating_point;
use super::library::{Library, kind_bit};
use crate::lock::locked;
use roadwright_agent::{Lookahead, ModuleKind, ParameterInfo};
use roadwright_plugin_api::ControllerInput;
use roadwright_plugin_api::abi::{
    CONTROLLER_EXTENSION, E_FATAL, E_PANIC, E_STATE, OK, PEDALS_EXTENSION, ROW_NOT_WRITTEN, RwApi,
    RwBatch, RwControllerExtension, RwInstance, RwParamInfo, RwPedalsExtension, RwRoads,
};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of listed parameters.
// The count comes from the plugin, so an invalid value must not fill the memory.
const MOST_PARAMETERS: u32 = 256;
/// Maximum size of saved state, in bytes.
const MOST_STATE: usize = 256 << 20;
/// Maximum length of an error text, in bytes.
const ERROR_TEXT: usize = 4096;

/// Function that answers a batch of controllers with pedals.
type Press = unsafe extern "C" fn(*mut RwInstance, *mut RwBatch, *const c_void, u32) -> i32;

/// An instance of a plugin in this process.
pub(crate) struct InProcess {
    library: Arc<Library>,
    raw: *mut RwInstance,
    parameters: &'static [ParameterInfo],
    /// Function that answers batches of controllers with pedals, if the plugin has it.
    press: Option<Press>,
    /// Number in the plugin of each listed parameter.
    numbers: Vec<u32>,
    /// Whether a call was abandoned. The call may be half done, so the instance must not be called any more.
    is_lost: AtomicBool,
}

// SAFETY: the interface lets the host use an instance from any thread, one at a time. The logic that holds it
// locks for that, unless the plugin declares that its steps may run in parallel.
unsafe impl Send for InProcess {}
// SAFETY: as above.
unsafe impl Sync for InProcess {}

impl InProcess {
    /// Creates an instance for a kind of module.
    pub(crate) fn new(library: Arc<Library>, kind: ModuleKind) -> Result<Self, Fault> {
        let create = library.api.create.ok_or_else(|| missing("create"))?;
        let mut raw: *mut RwInstance = std::ptr::null_mut();
        let calls = &library.context.calls;
        let call = calls.begin(milliseconds()).ok_or_else(given_up)?;
        // SAFETY: the host structure is never freed, and `raw` is a place for a pointer.
        let (status, _) = floating_point::guarded(|| unsafe {
            create(library.host(), kind_bit(kind), &raw mut raw)
        });
        // The instance is not destroyed, because the abandoned call may be half done.
        if !call.end() {
            return Err(given_up());
        }
        if status < 0 || raw.is_null() {
            let message = last_error(&library, std::ptr::null_mut());
            // Fatal even if the plugin reports a lesser fault, or OK with a null pointer, because there is no
            // instance to call.
            return Err(fault(status.min(E_FATAL), "create", message));
        }
        let mut instance = Self {
            library,
            raw,
            parameters: &[],
            press: None,
            numbers: Vec::new(),
            is_lost: AtomicBool::new(false),
        };
        instance.list_parameters();
        if kind == ModuleKind::Controller {
            instance.press = find_press(&instance.library.api);
        }
        Ok(instance)
    }

    fn list_parameters(&mut self) {
        let api = &self.library.api;
        let (Some(count), Some(info)) = (api.param_count, api.param_info) else {
            return;
        };
        // SAFETY: `raw` is alive.
        let count = unsafe { count(self.raw) }.min(MOST_PARAMETERS);
        let mut infos = Vec::new();
        for number in 0..count {
            let mut raw = RwParamInfo {
                key: [0; 32],
                label: [0; 48],
                group: [0; 48],
                unit: [0; 16],
                kind: 0,
                flags: 0,
                min: 0.0,
                max: 0.0,
                default: 0.0,
                step: 0.0,
                doc: [0; 160],
                choices: [0; 256],
            };
            // Zeroed above, so that fields that the plugin does not fill are empty instead of random.
            // SAFETY: `raw` is a place for one description.
            let status = unsafe { info(self.raw, number, &raw mut raw) };
            // Parameters that are skipped shift our numbers; `numbers` maps ours to the plugin's.
            if status >= 0 && raw.key[0] != 0 && is_shown(&raw) {
                infos.push(parameter_info(&raw));
                self.numbers.push(number);
            }
        }
        self.parameters = intern_parameters(infos);
    }

    /// Makes a call. Its answer counts only if the host has not abandoned the call in the meantime.
    fn within<T>(&self, call: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
        let calls = &self.library.context.calls;
        let begun = (!self.is_lost())
            .then(|| calls.begin(milliseconds()))
            .flatten();
        let answer = begun.and_then(|begun| {
            let answer = call();
            begun.end().then_some(answer)
        });
        answer.unwrap_or_else(|| {
            self.is_lost.store(true, Ordering::Relaxed);
            // Waits until the timeout has been reported, so that the fault is not taken for an ordinary one.
            drop(locked(&self.library.context.telling));
            Err(given_up())
        })
    }

    /// Whether a call was abandoned.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    fn result(&self, status: i32, call: &str) -> Result<(), Fault> {
        if status >= 0 {
            return Ok(());
        }
        let message = last_error(&self.library, self.raw);
        Err(fault(status, call, message))
    }
}

/// Whether the controller of a library uses pedals.
pub(crate) fn drives_by_pedals(api: &RwApi) -> bool {
    find_press(api).is_some()
}

fn find_press(api: &RwApi) -> Option<Press> {
    let get_extension = api.get_extension?;
    let id = PEDALS_EXTENSION;
    // SAFETY: the text has the stated length. The extension with this id has this type and is at least as
    // long as its size field states.
    let extension = unsafe {
        let found = get_extension(id.as_ptr().cast(), id.len() as u64);
        found.cast::<RwPedalsExtension>().as_ref()?
    };
    if (extension.size as usize) < size_of::<RwPedalsExtension>() {
        return None;
    }
    extension.step
}

fn missing(what: &str) -> Fault {
    Fault::fatal(format!("the plugin does not provide {what}"))
}

fn given_up() -> Fault {
    Fault::of_process("abandoned because it did not answer in time".into())
}

fn fault(status: i32, call: &str, message: String) -> Fault {
    let message = if message.is_empty() {
        format!("{call} returned {status}")
    } else {
        message
    };
    Fault {
        message,
        is_fatal: matches!(status, E_PANIC | E_FATAL),
        depends_on_machine: false,
    }
}

fn last_error(library: &Library, instance: *mut RwInstance) -> String {
    let Some(last_error) = library.api.last_error else {
        return String::new();
    };
    let mut buffer = vec![0u8; ERROR_TEXT];
    // SAFETY: the buffer has the stated capacity; `instance` is alive or null.
    let length = unsafe { last_error(instance, buffer.as_mut_ptr().cast(), ERROR_TEXT as u64) };
    buffer.truncate((length as usize).min(ERROR_TEXT));
    printable(String::from_utf8_lossy(&buffer).trim_end_matches('\0'))
}

/// Receives a part of the state from the plugin.
unsafe extern "C" fn receive(ctx: *mut c_void, bytes: *const u8, length: u64) -> i32 {
    // SAFETY: the context is the vector that was passed, and the plugin passes that many bytes.
    unsafe {
        let Some(into) = ctx.cast::<Vec<u8>>().as_mut() else {
            return E_FATAL;
        };
        let length = length as usize;
        if into.len().saturating_add(length) > MOST_STATE {
            return E_FATAL;
        }
        if length > 0 {
            into.extend_from_slice(std::slice::from_raw_parts(bytes, length));
        }
    }
    OK
}

impl InProcess {
    /// Returns the value of a parameter as the plugin reports it; `None` if it does not report values.
    #[expect(unsafe_code, reason = "speaks the binary interface")]
    pub(crate) fn get_parameter(&self, index: usize) -> Option<f64> {
        let (get, &number) = (self.library.api.param_get?, self.numbers.get(index)?);
        let mut value = f64::NAN;
        // SAFETY: `raw` is alive, and the value is written only during the call.
        let status = unsafe { get(self.raw, number, &raw mut value) };
        (status >= 0).then_some(value)
    }
}

impl Backend for InProcess {
    fn step(&self, batch: &mut Batch<'_>) -> Result<bool, Fault> {
        let ask = if batch.by_pedals {
            Ask::Press(self.press.ok_or_else(|| missing(PEDALS_EXTENSION))?)
        } else {
            Ask::Step(self.library.api.step.ok_or_else(|| missing("step"))?)
        };
        let rows = batch.rows();
        if rows == 0 {
            return Ok(false);
        }
        let roads = batch.roads.map(|roads| RwRoads {
            size: size_of::<RwRoads>() as u32,
            strip_count: roads.lanelets.len() as u32,
            successor_count: roads.successors.len() as u32,
            point_count: roads.points.len() as u32,
            version: roads.version,
            strips: roads.lanelets.as_ptr(),
            successors: roads.successors.as_ptr(),
            points: roads.points.as_ptr(),
            delays: batch.delays.as_ptr(),
        });
        let mut raw = RwBatch {
            size: size_of::<RwBatch>() as u32,
            count: rows as u32,
            step: batch.step.index,
            time: batch.step.time,
            period: batch.step.period,
            agent_ids: batch.step.ids.as_ptr(),
            slots: batch.step.indices.as_ptr(),
            seeds: batch.seeds.as_ptr(),
            inputs: batch.inputs.as_ptr().cast(),
            outputs: batch.outputs.as_mut_ptr().cast(),
            input_stride: (batch.inputs.len() / rows) as u32,
            output_stride: (batch.outputs.len() / rows) as u32,
            status: batch.status.as_mut_ptr(),
            roads: roads.as_ref().map_or(std::ptr::null(), std::ptr::from_ref),
            route: batch.route.as_mut_ptr(),
            route_capacity: batch.route.len() as u32,
            route_length: 0,
        };
        let answer = self.within(|| {
            // SAFETY: all arrays have as many elements as the batch states and outlive the call.
            Ok(floating_point::guarded(|| unsafe {
                match ask {
                    Ask::Step(step) => step(self.raw, &raw mut raw),
                    // The properties of the vehicle are in the same row, after the controller's input.
                    Ask::Press(press) => {
                        let drives = raw.inputs.wrapping_byte_add(size_of::<ControllerInput>());
                        let stride = raw.input_stride;
                        press(self.raw, &raw mut raw, drives, stride)
                    }
                }
            }))
        });
        // Rows of an abandoned call are not used, regardless of what it has written.
        let (status, changed) = answer.inspect_err(|_| batch.status.fill(ROW_NOT_WRITTEN))?;
        // Limited by the length of our buffer and not by the capacity in `raw`, which the plugin can
        // overwrite.
        batch.route_length = raw.route_length.min(batch.route.len() as u32);
        self.result(status, "step")?;
        Ok(changed)
    }

    fn agents_changed(&self, capacity: u32, added: &[u32], removed: &[u32]) -> Result<(), Fault> {
        let Some(agents_changed) = self.library.api.agents_changed else {
            return Ok(());
        };
        // SAFETY: the arrays have the stated lengths.
        let tell = || unsafe {
            agents_changed(
                self.raw,
                capacity,
                added.as_ptr(),
                added.len() as u32,
                removed.as_ptr(),
                removed.len() as u32,
            )
        };
        self.within(|| self.result(tell(), "agents_changed"))
    }

    fn parameters(&self) -> &'static [ParameterInfo] {
        self.parameters
    }

    fn set_parameter(&self, index: usize, value: f64) -> Result<(), Fault> {
        let (Some(set), Some(&number)) = (self.library.api.param_set, self.numbers.get(index))
        else {
            return Ok(());
        };
        // SAFETY: `raw` is alive.
        self.within(|| self.result(unsafe { set(self.raw, number, value) }, "param_set"))
    }

    fn lookahead(&self) -> Option<Lookahead> {
        let get_extension = self.library.api.get_extension?;
        let id = CONTROLLER_EXTENSION;
        // SAFETY: the text has the stated length. The extension with this id has this type and is at least as
        // long as its size field states.
        let extension = unsafe {
            let found = get_extension(id.as_ptr().cast(), id.len() as u64);
            found.cast::<RwControllerExtension>().as_ref()?
        };
        if (extension.size as usize) < size_of::<RwControllerExtension>() {
            return None;
        }
        let (mut distance, mut time) = (0.0, 0.0);
        // SAFETY: places for two numbers.
        let status = unsafe { extension.lookahead?(self.raw, &raw mut distance, &raw mut time) };
        let sound = |value: f64| value.is_finite() && (0.0..=1000.0).contains(&value);
        (status >= 0 && sound(distance) && sound(time)).then_some(Lookahead { distance, time })
    }

    fn by_pedals(&self) -> bool {
        self.press.is_some()
    }

    fn save(&self) -> Option<State> {
        let save = self.library.api.state_save?;
        let mut state = State::default();
        let into = (&raw mut state.bytes).cast();
        let schema = &raw mut state.schema;
        // SAFETY: `receive` uses the vector as its context, during this call only.
        let status = self.within(|| Ok(unsafe { save(self.raw, receive, into, schema) }));
        status.is_ok_and(|status| status >= 0).then_some(state)
    }

    fn load(&self, state: &State) -> Result<(), String> {
        let Some(load) = self.library.api.state_load else {
            return Err("it cannot restore state".into());
        };
        let (bytes, length) = (state.bytes.as_ptr(), state.bytes.len() as u64);
        // There are two kinds of failure: the call is abandoned, or the plugin rejects this state.
        // SAFETY: that many bytes are there.
        let status = self.within(|| Ok(unsafe { load(self.raw, bytes, length, state.schema) }));
        let status = status.map_err(|fault| fault.message)?;
        match self.result(status, "state_load") {
            Ok(()) => Ok(()),
            Err(fault) if status == E_STATE => Err(format!(
                "state of schema {} is not supported: {}",
                state.schema, fault.message
            )),
            Err(fault) => Err(fault.message),
        }
    }
}

/// The function that answers a batch.
#[derive(Clone, Copy)]
enum Ask {
    /// `step` of all kinds.
    Step(unsafe extern "C" fn(*mut RwInstance, *mut RwBatch) -> i32),
    /// The function for pedals.
    Press(Press),
}

impl Drop for InProcess {
    fn drop(&mut self) {
        if let Some(destroy) = self.library.api.destroy {
            // SAFETY: `raw` comes from `create` and is not used any more.
            floating_point::guarded(|| unsafe { destroy(self.raw) });
        }
    }
}
