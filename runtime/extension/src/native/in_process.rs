//! An instance of a plugin in this process.
#![expect(
    unsafe_code,
    reason = "calls the functions of a plugin; everything above it is safe"
)]

use super::backend::{
    Backend, Batch, Described, Fault, State, intern, intern_parameters, intern_table, intern_words,
    is_shown, printable,
};
use super::cell::milliseconds;
use super::floating_point;
use super::library::{Library, kind_bit};
use super::views::{self, NOTHING_NEEDED};
use crate::lock::locked;
use roadwright_agent::{Lookahead, ModuleKind, Needs, ParameterInfo, ParameterTable};
use roadwright_plugin_api::DriveInput;
use roadwright_plugin_api::abi::{
    CONTROLLER_EXTENSION, E_FATAL, E_PANIC, E_STATE, NEEDS_1_4, NEEDS_EXTENSION, OK, OLD_BATCH,
    OLD_NEEDS, PARAM_HIDDEN, PARAM_TABLE, PARAMETERS_EXTENSION, PEDALS_EXTENSION, ROW_NOT_WRITTEN,
    RwApi, RwBatch, RwControllerExtension, RwInstance, RwNeeds, RwNeedsExtension, RwParamInfo,
    RwParameter, RwParametersExtension, RwPedalsExtension, RwRoads, RwView, TEXT_CHOICE,
    TEXT_COLUMN, TEXT_DOC, TEXT_ROW, VIEWS_BATCH, text_of,
};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of listed parameters.
// The count comes from the plugin, so an invalid value must not fill the memory.
const MOST_PARAMETERS: u32 = 256;
/// Number of views in the current version.
const VIEWS: usize = 9;
/// Number of views in version 1.4.
const VIEWS_1_4: usize = 6;
/// Number of views in version 1.3.
const VIEWS_1_3: usize = 3;
/// Maximum number of cells of all tables of a module.
const MOST_CELLS: usize = 4096;
/// Maximum size of saved state, in bytes.
const MOST_STATE: usize = 256 << 20;
/// Maximum length of an error message or of a text that describes a parameter, in bytes.
const LONGEST_TEXT: usize = 4096;

/// Function that answers a batch of controllers with pedals.
type Press = unsafe extern "C" fn(*mut RwInstance, *mut RwBatch, *const c_void, u32) -> i32;

/// An instance of a plugin in this process.
pub(crate) struct InProcess {
    library: Arc<Library>,
    raw: *mut RwInstance,
    kind: ModuleKind,
    parameters: &'static [ParameterInfo],
    /// Function that answers batches of controllers with pedals, if the plugin has it.
    press: Option<Press>,
    /// Index in the plugin of each listed parameter. All cells of a table have the index of the
    /// table.
    numbers: Vec<u32>,
    /// Functions for parameters that include tables, if the plugin has them.
    tables: Option<&'static RwParametersExtension>,
    /// Whether a call was abandoned. The call may be half done, so the instance must not be called any more.
    is_lost: AtomicBool,
}

// SAFETY: the interface lets the host use an instance from any thread, one at a time. The logic that owns the
// instance takes a lock for this, unless the plugin declares that its steps may run in parallel.
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
        // SAFETY: the host structure is never freed, and `raw` is valid for writing a pointer.
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
            kind,
            parameters: &[],
            press: None,
            numbers: Vec::new(),
            tables: None,
            is_lost: AtomicBool::new(false),
        };
        instance.tables = extension(&instance.library.api, PARAMETERS_EXTENSION);
        match instance.tables {
            Some(tables) => instance.list_with_tables(tables)?,
            None => instance.list_parameters(),
        }
        if kind == ModuleKind::Controller {
            instance.press = find_press(&instance.library.api);
        }
        // Queried now, so that needs that cannot be met are reported before the first row.
        instance.needs()?;
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
            // Zeroed above, so that fields that the plugin does not fill are empty instead of
            // random.
            // SAFETY: `raw` is valid for writing one description.
            let status = unsafe { info(self.raw, number, &raw mut raw) };
            // Parameters that are skipped shift our numbers; `numbers` maps ours to the plugin's.
            if status >= 0 && raw.key[0] != 0 && is_shown(&raw) {
                let (described, default) = Described::old(&raw);
                infos.push(described.parameter(default));
                self.numbers.push(number);
            }
        }
        self.parameters = intern_parameters(infos);
    }

    /// Lists the parameters that the extension describes. Each cell of a table is listed as one parameter.
    fn list_with_tables(&mut self, functions: &RwParametersExtension) -> Result<(), Fault> {
        let lacks = |what: &str| missing(&format!("{what} of {PARAMETERS_EXTENSION}"));
        let count = functions.count.ok_or_else(|| lacks("count"))?;
        let info = functions.info.ok_or_else(|| lacks("info"))?;
        let defaults = functions.defaults.ok_or_else(|| lacks("defaults"))?;
        functions.set.ok_or_else(|| lacks("set"))?;
        // SAFETY: `raw` is alive.
        let count = unsafe { count(self.raw) }.min(MOST_PARAMETERS);
        let mut infos: Vec<ParameterInfo> = Vec::new();
        let mut cells = 0;
        for number in 0..count {
            let mut raw = RwParameter {
                size: size_of::<RwParameter>() as u32,
                kind: 0,
                flags: 0,
                choices: 0,
                rows: 0,
                columns: 0,
                min: 0.0,
                max: 0.0,
                key: [0; 64],
                unit: [0; 16],
            };
            // SAFETY: `raw` is valid for writing one description.
            let status = unsafe { info(self.raw, number, &raw mut raw) };
            if status < 0 || raw.key[0] == 0 || raw.flags & PARAM_HIDDEN != 0 {
                continue;
            }
            let described = self.described(functions, number, &raw);
            let table = (raw.kind == PARAM_TABLE)
                .then(|| self.table(functions, number, &raw))
                .transpose()?;
            let length = table.map_or(1, ParameterTable::cells);
            cells += table.map_or(0, ParameterTable::cells);
            if cells > MOST_CELLS {
                return Err(Fault::fatal(format!(
                    "the module's tables have more than {MOST_CELLS} cells"
                )));
            }
            let mut values = vec![f64::NAN; length];
            // SAFETY: `values` has room for `length` values.
            let status = unsafe { defaults(self.raw, number, values.as_mut_ptr(), length as u32) };
            self.result(status, "defaults")?;
            match table {
                Some(table) => infos.extend(described.cells(table, &values)),
                None => infos.push(described.parameter(values[0])),
            }
            self.numbers.resize(infos.len(), number);
        }
        self.parameters = intern_parameters(infos);
        Ok(())
    }

    fn described(
        &self,
        functions: &RwParametersExtension,
        number: u32,
        raw: &RwParameter,
    ) -> Described {
        let word = |item: u32| self.text(functions, number, TEXT_CHOICE, item);
        Described {
            key: printable(&text_of(&raw.key)),
            unit: printable(&text_of(&raw.unit)),
            doc: self.text(functions, number, TEXT_DOC, 0),
            kind: raw.kind,
            words: (0..raw.choices.min(MOST_PARAMETERS)).map(word).collect(),
            min: raw.min,
            max: raw.max,
        }
    }

    /// Returns the table that a description defines.
    fn table(
        &self,
        functions: &RwParametersExtension,
        number: u32,
        raw: &RwParameter,
    ) -> Result<&'static ParameterTable, Fault> {
        let key = printable(&text_of(&raw.key));
        let cells = u64::from(raw.rows) * u64::from(raw.columns);
        if cells == 0 || cells > MOST_CELLS as u64 {
            return Err(Fault::fatal(format!(
                "the table {key} has {} rows of {} numbers; expected 1 to {MOST_CELLS} numbers in \
                 total",
                raw.rows, raw.columns
            )));
        }
        // If the first row or column has no name, none of them is named.
        let names = |what: u32, count: u32| {
            let name = |item: u32| intern(&self.text(functions, number, what, item));
            let names: Vec<&'static str> = (0..count).map(name).collect();
            let is_named = names.first().is_some_and(|name| !name.is_empty());
            intern_words(if is_named { names } else { Vec::new() })
        };
        Ok(intern_table(ParameterTable {
            key: intern(&key),
            rows: raw.rows,
            columns: raw.columns,
            row_names: names(TEXT_ROW, raw.rows),
            column_names: names(TEXT_COLUMN, raw.columns),
        }))
    }

    /// Returns the text of a parameter that `what` (`TEXT_*`) and `item` select; empty if it does
    /// not exist.
    fn text(&self, functions: &RwParametersExtension, number: u32, what: u32, item: u32) -> String {
        let Some(text) = functions.text else {
            return String::new();
        };
        let mut buffer = vec![0u8; LONGEST_TEXT];
        let into = buffer.as_mut_ptr().cast();
        // SAFETY: the buffer has the stated capacity, and `raw` is alive.
        let length = unsafe { text(self.raw, number, what, item, into, LONGEST_TEXT as u64) };
        buffer.truncate((length as usize).min(LONGEST_TEXT));
        printable(String::from_utf8_lossy(&buffer).trim_end_matches('\0'))
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

fn raw_view<T>(records: &[T], version: u64) -> RwView {
    RwView {
        data: records.as_ptr().cast(),
        count: records.len() as u32,
        stride: size_of::<T>() as u32,
        version,
    }
}

/// Whether the controller of a library uses pedals.
pub(crate) fn drives_by_pedals(api: &RwApi) -> bool {
    find_press(api).is_some()
}

fn find_press(api: &RwApi) -> Option<Press> {
    extension::<RwPedalsExtension>(api, PEDALS_EXTENSION)?.step
}

/// Returns the table of an extension of a library, if the library offers it. `T` must be the structure with
/// that id.
fn extension<T>(api: &RwApi, id: &str) -> Option<&'static T> {
    let get_extension = api.get_extension?;
    // SAFETY: the text has the stated length. The structure begins with its size, is at least as long as it
    // states, and lives as long as the library, which is never unloaded.
    unsafe {
        let found = get_extension(id.as_ptr().cast(), id.len() as u64);
        let size = found.cast::<u32>().as_ref()?;
        if (*size as usize) < size_of::<T>() {
            return None;
        }
        found.cast::<T>().as_ref()
    }
}

fn missing(what: &str) -> Fault {
    Fault::fatal(format!("the plugin does not provide {what}"))
}

fn given_up() -> Fault {
    Fault::of_process("abandoned because it did not respond in time".into())
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
    let mut buffer = vec![0u8; LONGEST_TEXT];
    // SAFETY: the buffer has the stated capacity; `instance` is alive or null.
    let length = unsafe { last_error(instance, buffer.as_mut_ptr().cast(), LONGEST_TEXT as u64) };
    buffer.truncate((length as usize).min(LONGEST_TEXT));
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
    /// Returns the value that the plugin reports for the parameter at an index, or the values of
    /// all cells if a table begins there; `None` if it does not report values.
    pub(crate) fn get_parameter(&self, index: usize) -> Option<Vec<f64>> {
        let &number = self.numbers.get(index)?;
        if let Some(tables) = self.tables {
            let mut values = vec![f64::NAN; self.parameters[index].span()];
            let count = values.len() as u32;
            // SAFETY: `raw` is alive, and there is room for that many values.
            let status = unsafe { tables.get?(self.raw, number, values.as_mut_ptr(), count) };
            return (status >= 0).then_some(values);
        }
        let get = self.library.api.param_get?;
        let mut value = f64::NAN;
        // SAFETY: `raw` is alive, and the value is written only during the call.
        let status = unsafe { get(self.raw, number, &raw mut value) };
        (status >= 0).then_some(vec![value])
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
            lanelet_count: roads.lanelets.len() as u32,
            successor_count: roads.successors.len() as u32,
            point_count: roads.points.len() as u32,
            version: roads.version,
            lanelets: roads.lanelets.as_ptr(),
            successors: roads.successors.as_ptr(),
            points: roads.points.as_ptr(),
            delays: batch.delays.as_ptr(),
        });
        let views = batch.views.map(|views| {
            let vehicles = views.vehicles_version;
            [
                raw_view(views.vehicles, vehicles),
                raw_view(views.hitches, vehicles),
                raw_view(views.path, 0),
                raw_view(views.objects.all, 0),
                raw_view(views.near, 0),
                raw_view(views.objects.outlines, 0),
                raw_view(views.hitch_angles, 0),
                raw_view(views.grids, 0),
                raw_view(views.cells, 0),
            ] as [RwView; VIEWS]
        });
        // A plugin built for an earlier version gets the views of that version.
        let known = match self.library.minor {
            ..4 => VIEWS_1_3,
            4 => VIEWS_1_4,
            _ => VIEWS,
        };
        let listed = views.as_ref().map(|views| &views[..known]);
        // Only ground planners get the full batch. All other plugins get the shorter batches of
        // earlier versions, with or without views.
        let size = match (self.kind, listed) {
            (ModuleKind::GroundPlanner, _) => size_of::<RwBatch>(),
            (_, Some(_)) => VIEWS_BATCH,
            (_, None) => OLD_BATCH,
        };
        let mut raw = RwBatch {
            size: size as u32,
            count: rows as u32,
            step: batch.step.index,
            time: batch.step.time,
            period: batch.step.period,
            agent_ids: batch.step.ids.as_ptr(),
            agent_indices: batch.step.indices.as_ptr(),
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
            views: listed.map_or(std::ptr::null(), |views| views.as_ptr()),
            view_count: listed.map_or(0, |views| views.len()) as u32,
            view_stride: size_of::<RwView>() as u32,
            poses: batch.poses.as_mut_ptr(),
            pose_capacity: batch.poses.len() as u32,
            pose_length: 0,
        };
        let answer = self.within(|| {
            // SAFETY: all arrays have as many elements as the batch states and outlive the call.
            Ok(floating_point::guarded(|| unsafe {
                match ask {
                    Ask::Step(step) => step(self.raw, &raw mut raw),
                    // The properties of the vehicle are in the same row, after the controller's input.
                    Ask::Press(press) => {
                        let stride = raw.input_stride;
                        let own = (stride as usize).saturating_sub(size_of::<DriveInput>());
                        let drives = raw.inputs.wrapping_byte_add(own);
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
        batch.pose_length = raw.pose_length.min(batch.poses.len() as u32);
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

    fn set_parameter(&self, index: usize, values: &[f64]) -> Result<(), Fault> {
        let (Some(&number), Some(&value)) = (self.numbers.get(index), values.first()) else {
            return Ok(());
        };
        if let Some(set) = self.tables.and_then(|tables| tables.set) {
            let count = values.len() as u32;
            // SAFETY: `raw` is alive, and `values` contains `count` values.
            let set = || unsafe { set(self.raw, number, values.as_ptr(), count) };
            return self.within(|| self.result(set(), "set"));
        }
        let Some(set) = self.library.api.param_set else {
            return Ok(());
        };
        // SAFETY: `raw` is alive.
        self.within(|| self.result(unsafe { set(self.raw, number, value) }, "param_set"))
    }

    fn lookahead(&self) -> Option<Lookahead> {
        let api = &self.library.api;
        let extension = extension::<RwControllerExtension>(api, CONTROLLER_EXTENSION)?;
        let (mut distance, mut time) = (0.0, 0.0);
        // SAFETY: both pointers refer to local variables.
        let status = unsafe { extension.lookahead?(self.raw, &raw mut distance, &raw mut time) };
        let sound = |value: f64| value.is_finite() && (0.0..=1000.0).contains(&value);
        (status >= 0 && sound(distance) && sound(time)).then_some(Lookahead { distance, time })
    }

    fn needs(&self) -> Result<Option<Needs>, Fault> {
        // Plugins built for earlier versions cannot know the extension.
        if self.library.minor < 3 {
            return Ok(None);
        }
        let Some(extension) = extension::<RwNeedsExtension>(&self.library.api, NEEDS_EXTENSION)
        else {
            return Ok(None);
        };
        let function =
            (extension.needs).ok_or_else(|| missing(&format!("needs of {NEEDS_EXTENSION}")))?;
        let mut raw = NOTHING_NEEDED;
        raw.size = match self.library.minor {
            ..4 => OLD_NEEDS,
            4 => NEEDS_1_4,
            _ => size_of::<RwNeeds>(),
        } as u32;
        // SAFETY: `raw` is valid for writing, and at least as large as the size that it states.
        self.result(unsafe { function(self.raw, &raw mut raw) }, "needs")?;
        let needs = views::checked(&raw, self.kind, self.library.minor)?;
        Ok((needs != Needs::default()).then_some(needs))
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
            return Err("the module cannot restore state".into());
        };
        let (bytes, length) = (state.bytes.as_ptr(), state.bytes.len() as u64);
        // There are two kinds of failure: the call is abandoned, or the plugin rejects this state.
        // SAFETY: `bytes` points to `length` bytes.
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
    /// The function `step`, which modules of every kind have.
    Step(unsafe extern "C" fn(*mut RwInstance, *mut RwBatch) -> i32),
    /// The function of controllers that drive by pedals.
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
