//! Implementation of [`export_plugin!`](crate::export_plugin), which exports safe traits through the binary
//! interface. Plugin authors do not need it.
#![expect(
    unsafe_code,
    reason = "this module implements the binary interface for safe plugins"
)]

use crate::ground::{CostMap, GroundPlanner, PathAnswer, PathPoses, Terrain};
use crate::parameters::{self, Description};
use crate::plugin::{
    Agent, AgentsChanged, Ahead, Controller, Fitness, Host, List, ModelController, NearNeeds,
    PathNeeds, PedalController, Planner, Plugin, Roads, Route, SignalController, StepInfo,
    planner_output,
};
use roadwright_plugin_api::abi::*;
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, DriveInput, FitnessInput, FitnessOutput, GridData,
    GroundPlannerInput, GroundPlannerOutput, HitchData, KEEP_STAGE, NearData, NeedsInput,
    OLD_NEEDS_INPUT, ObjectData, PathPoint, PedalsOutput, PlannerInput, PlannerOutput, SignalInput,
    SignalOutput, VehicleData,
};
use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// A plugin that is exported as a kind of module.
pub trait Export: 'static {
    /// `KIND_*` of the module.
    const KIND: u32;
    /// Type of the plugin.
    type Plugin: Plugin;

    /// Answers a batch.
    ///
    /// # Safety
    /// The batch must conform to the interface, with rows of this kind.
    unsafe fn step(plugin: &mut Self::Plugin, batch: &mut RwBatch);

    /// Returns the distance and the time of the lookahead to the waypoint.
    fn lookahead(_: &Self::Plugin) -> Option<(f64, f64)> {
        None
    }

    /// Oldest minor version of a host with which the plugin works. Its kind may require a newer one.
    const LEAST_MINOR: u16 = 0;

    /// `NEED_*` that the plugin requests; 0 if it requests nothing.
    const GROUPS: u64 = 0;

    /// Returns the plugin's request for the path ahead.
    fn path(_: &Self::Plugin) -> Option<PathNeeds> {
        None
    }

    /// Returns the plugin's request for nearby objects.
    fn near(_: &Self::Plugin) -> Option<NearNeeds> {
        None
    }

    /// Returns the size of the cells of the requested map, m.
    fn map(_: &Self::Plugin) -> Option<f64> {
        None
    }

    /// Whether the plugin drives with pedals. If so, hosts that support pedals call [`Export::press`].
    const BY_PEDALS: bool = false;

    /// Calculates the pedal positions for a batch.
    ///
    /// # Safety
    /// The batch must conform to the interface, with rows of pedals. `drives` must point to as many
    /// [`DriveInput`]s as there are rows, at the given distance in bytes.
    unsafe fn press(_: &mut Self::Plugin, _: &mut RwBatch, _: *const c_void, _: u32) -> i32 {
        E_UNSUPPORTED
    }
}

/// Exports a plugin as a controller.
pub struct AsController<T>(PhantomData<T>);
/// Exports a plugin as a controller that drives with pedals.
pub struct AsPedalController<T>(PhantomData<T>);
/// Exports a plugin as a controller with a model of its vehicle.
pub struct AsModelController<T>(PhantomData<T>);
/// Exports a plugin as a planner.
pub struct AsPlanner<T>(PhantomData<T>);
/// Exports a plugin as a ground planner.
pub struct AsGroundPlanner<T>(PhantomData<T>);
/// Exports a plugin as a fitness.
pub struct AsFitness<T>(PhantomData<T>);
/// Exports a plugin as a signal controller.
pub struct AsSignalController<T>(PhantomData<T>);

/// Returns a slice for a pointer that may be null if the slice is empty.
///
/// # Safety
/// `length` elements must be readable at `pointer` for `'a`.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, length: usize) -> &'a [T] {
    if pointer.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts(pointer, length) }
}

fn moment(batch: &RwBatch) -> StepInfo {
    StepInfo {
        step: batch.step,
        time: batch.time,
        period: batch.period,
    }
}

/// Calls `answer` for each row of a batch. Rows may be longer than in this version, because the host may be
/// newer.
///
/// # Safety
/// The batch must conform to the interface, with rows that begin with `I` and `O`.
#[inline]
unsafe fn for_each_row<I, O>(
    batch: &mut RwBatch,
    mut answer: impl FnMut(&Agent, &I, &mut O) -> u8,
) {
    debug_assert!(batch.input_stride as usize >= size_of::<I>());
    debug_assert!(batch.output_stride as usize >= size_of::<O>());
    for row in 0..batch.count as usize {
        // SAFETY: `row` is below the length of all arrays, and rows are at their strides, aligned as doubles.
        unsafe {
            let agent = Agent {
                id: *batch.agent_ids.add(row),
                index: *batch.agent_indices.add(row),
                seed: *batch.seeds.add(row),
            };
            let input = batch.inputs.byte_add(row * batch.input_stride as usize);
            let output = batch.outputs.byte_add(row * batch.output_stride as usize);
            *batch.status.add(row) = answer(&agent, &*input.cast::<I>(), &mut *output.cast::<O>());
        }
    }
}

impl<T: Controller> Export for AsController<T> {
    const KIND: u32 = KIND_CONTROLLER;
    type Plugin = T;

    unsafe fn step(plugin: &mut T, batch: &mut RwBatch) {
        plugin.begin(&moment(batch));
        // SAFETY: guaranteed by the caller.
        unsafe {
            for_each_row(
                batch,
                |agent, input: &ControllerInput, output: &mut ControllerOutput| {
                    plugin.control(agent, input, output);
                    ROW_OK
                },
            );
        }
    }

    fn lookahead(plugin: &T) -> Option<(f64, f64)> {
        let lookahead = plugin.lookahead();
        Some((lookahead.distance, lookahead.time))
    }
}

impl<T: PedalController> Export for AsPedalController<T> {
    const KIND: u32 = KIND_CONTROLLER;
    type Plugin = T;

    /// Leaves all rows unwritten. A host that requests accelerations does not support pedals, so it uses the
    /// answers of its built-in module.
    unsafe fn step(_: &mut T, _: &mut RwBatch) {}

    fn lookahead(plugin: &T) -> Option<(f64, f64)> {
        let lookahead = plugin.lookahead();
        Some((lookahead.distance, lookahead.time))
    }

    const BY_PEDALS: bool = true;

    unsafe fn press(
        plugin: &mut T,
        batch: &mut RwBatch,
        drives: *const c_void,
        stride: u32,
    ) -> i32 {
        if drives.is_null() || (stride as usize) < size_of::<DriveInput>() {
            return E_ARGUMENT;
        }
        plugin.begin(&moment(batch));
        let mut row = 0;
        // SAFETY: guaranteed by the caller.
        unsafe {
            for_each_row(
                batch,
                |agent, input: &ControllerInput, output: &mut PedalsOutput| {
                    let drive = drives.byte_add(row * stride as usize);
                    row += 1;
                    plugin.press(agent, input, &*drive.cast::<DriveInput>(), output);
                    ROW_OK
                },
            );
        }
        OK
    }
}

/// Returns a view of a batch; empty if the host did not fill it in.
///
/// # Safety
/// The batch must conform to the interface.
unsafe fn view<'a, T: Copy>(batch: &RwBatch, number: u32) -> List<'a, T> {
    let knows = batch.size as usize >= VIEWS_BATCH && number < batch.view_count;
    if !knows || batch.views.is_null() {
        return List::EMPTY;
    }
    // SAFETY: guaranteed by the caller; the number is below the count.
    unsafe {
        let place = batch
            .views
            .byte_add(number as usize * batch.view_stride as usize);
        List::new(*place)
    }
}

/// A row of [`NeedsInput`] of hosts of 1.3, without nearby objects.
#[repr(C, align(8))]
struct OldNeedsInput([u8; OLD_NEEDS_INPUT]);

impl OldNeedsInput {
    /// Returns a row of the current version with the same values and no nearby objects.
    fn whole(&self) -> NeedsInput {
        let mut whole = NeedsInput::default();
        // SAFETY: rows of 1.3 are the first bytes of current rows, whose fields take any bytes.
        unsafe {
            let to = (&raw mut whole).cast::<u8>();
            to.copy_from_nonoverlapping(self.0.as_ptr(), OLD_NEEDS_INPUT);
        }
        whole
    }
}

impl<T: ModelController> Export for AsModelController<T> {
    const KIND: u32 = KIND_CONTROLLER;
    type Plugin = T;
    const LEAST_MINOR: u16 = if T::NEAR { 4 } else { 3 };
    const GROUPS: u64 = NEED_PATH
        | if T::NEAR { NEED_NEAR | NEED_TREES } else { 0 }
        | if T::MOTION { NEED_MOTION } else { 0 }
        | if T::VEHICLE { NEED_VEHICLES } else { 0 };

    fn path(plugin: &T) -> Option<PathNeeds> {
        plugin.path()
    }

    fn near(plugin: &T) -> Option<NearNeeds> {
        if T::NEAR { plugin.near() } else { None }
    }

    unsafe fn step(plugin: &mut T, batch: &mut RwBatch) {
        let stride = batch.input_stride as usize;
        let is_whole = stride >= size_of::<NeedsInput>();
        if stride < OLD_NEEDS_INPUT || T::NEAR && !is_whole {
            return;
        }
        plugin.begin(&moment(batch));
        // SAFETY: guaranteed by the caller; the views live as long as the call.
        unsafe {
            let vehicles: List<'_, VehicleData> = view(batch, VIEW_VEHICLES);
            let hitches: List<'_, HitchData> = view(batch, VIEW_HITCHES);
            let path: List<'_, PathPoint> = view(batch, VIEW_PATH);
            let near: List<'_, NearData> = view(batch, VIEW_NEAR);
            let objects: List<'_, ObjectData> = view(batch, VIEW_OBJECTS);
            let outlines: List<'_, RwPoint> = view(batch, VIEW_OUTLINES);
            for_each_row(
                batch,
                |agent, row: &OldNeedsInput, output: &mut ControllerOutput| {
                    let whole;
                    let input = if is_whole {
                        &*std::ptr::from_ref(row).cast::<NeedsInput>()
                    } else {
                        whole = row.whole();
                        &whole
                    };
                    let vehicle = vehicles.get(input.vehicle as usize);
                    let trailers = vehicle.map_or((0, 0), |v| (v.hitches, v.hitch_count));
                    let ahead = Ahead {
                        vehicle,
                        hitches: hitches.part(trailers.0, trailers.1),
                        path: path.part(input.path, input.path_count),
                        near: near.part(input.near_first, input.near_count),
                        objects,
                        outlines,
                    };
                    match plugin.control(agent, input, &ahead) {
                        Some(answer) => {
                            *output = answer;
                            ROW_OK
                        }
                        None => ROW_NOT_WRITTEN,
                    }
                },
            );
        }
    }

    fn lookahead(plugin: &T) -> Option<(f64, f64)> {
        let lookahead = plugin.lookahead();
        Some((lookahead.distance, lookahead.time))
    }
}

impl<T: Fitness> Export for AsFitness<T> {
    const KIND: u32 = KIND_FITNESS;
    type Plugin = T;

    unsafe fn step(plugin: &mut T, batch: &mut RwBatch) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            for_each_row(
                batch,
                |agent, input: &FitnessInput, output: &mut FitnessOutput| {
                    plugin.rate(agent, input, output);
                    ROW_OK
                },
            );
        }
    }
}

impl<T: SignalController> Export for AsSignalController<T> {
    const KIND: u32 = KIND_SIGNAL_CONTROLLER;
    type Plugin = T;

    unsafe fn step(plugin: &mut T, batch: &mut RwBatch) {
        let moment = moment(batch);
        // SAFETY: guaranteed by the caller.
        unsafe {
            for_each_row(
                batch,
                |signals, input: &SignalInput, output: &mut SignalOutput| {
                    let next = plugin.decide(&moment, signals, input);
                    output.next = next.map_or(KEEP_STAGE, |stage| {
                        // A stage that does not fit into the type is out of range anyway.
                        i32::try_from(stage).unwrap_or(i32::MAX)
                    });
                    ROW_OK
                },
            );
        }
    }
}

impl<T: Planner> Export for AsPlanner<T> {
    const KIND: u32 = KIND_PLANNER;
    type Plugin = T;

    unsafe fn step(plugin: &mut T, batch: &mut RwBatch) {
        // SAFETY: the host passes the roads to planners, and a buffer of the stated capacity.
        let (roads, buffer): (Roads<'_>, &mut [u32]) = unsafe {
            let Some(roads) = batch.roads.as_ref() else {
                return;
            };
            let capacity = batch.route_capacity as usize;
            let buffer = std::slice::from_raw_parts_mut(batch.route, capacity);
            (Roads::new(roads), buffer)
        };
        let mut route = Route { buffer, length: 0 };
        // SAFETY: guaranteed by the caller.
        unsafe {
            for_each_row(
                batch,
                |_, input: &PlannerInput, output: &mut PlannerOutput| {
                    let start = route.length;
                    let time = plugin.plan(&roads, input, &mut route);
                    let fits = route.length <= route.buffer.len();
                    *output = planner_output(start, route.length, time.filter(|_| fits));
                    // The lanelets are discarded, so that the next row can use their space.
                    if !fits {
                        route.length = start;
                        return ROW_FAILED;
                    }
                    ROW_OK
                },
            );
        }
        batch.route_length = route.length as u32;
    }
}

impl<T: GroundPlanner> Export for AsGroundPlanner<T> {
    const KIND: u32 = KIND_GROUND_PLANNER;
    type Plugin = T;
    const LEAST_MINOR: u16 = 5;
    const GROUPS: u64 =
        NEED_NEAR | NEED_TREES | NEED_GRID | if T::VEHICLE { NEED_VEHICLES } else { 0 };

    fn near(plugin: &T) -> Option<NearNeeds> {
        plugin.near()
    }

    fn map(plugin: &T) -> Option<f64> {
        plugin.map()
    }

    unsafe fn step(plugin: &mut T, batch: &mut RwBatch) {
        plugin.begin(&moment(batch));
        if batch.poses.is_null() {
            return;
        }
        // SAFETY: guaranteed by the caller; views and buffer live as long as the call.
        let length = unsafe {
            let buffer = std::slice::from_raw_parts_mut(batch.poses, batch.pose_capacity as usize);
            let mut path = PathPoses { buffer, length: 0 };
            let vehicles: List<'_, VehicleData> = view(batch, VIEW_VEHICLES);
            let hitches: List<'_, HitchData> = view(batch, VIEW_HITCHES);
            let angles: List<'_, f64> = view(batch, VIEW_HITCH_ANGLES);
            let grids: List<'_, GridData> = view(batch, VIEW_GRIDS);
            let cells: List<'_, u16> = view(batch, VIEW_CELLS);
            let near: List<'_, NearData> = view(batch, VIEW_NEAR);
            let objects: List<'_, ObjectData> = view(batch, VIEW_OBJECTS);
            let outlines: List<'_, RwPoint> = view(batch, VIEW_OUTLINES);
            for_each_row(
                batch,
                |agent, input: &GroundPlannerInput, output: &mut GroundPlannerOutput| {
                    let vehicle = vehicles.get(input.vehicle as usize);
                    let trailers = vehicle.map_or((0, 0), |v| (v.hitches, v.hitch_count));
                    let map = grids.get(input.grid as usize).map(|data| CostMap {
                        data,
                        cells: cells.part(data.first, data.columns * data.rows),
                    });
                    let terrain = Terrain {
                        vehicle,
                        hitches: hitches.part(trailers.0, trailers.1),
                        hitch_angles: angles.part(input.hitch_first, input.hitch_count),
                        map,
                        near: near.part(input.near_first, input.near_count),
                        objects,
                        outlines,
                    };
                    let start = path.length;
                    let answer = plugin.plan(agent, input, &terrain, &mut path);
                    plan_output(answer, start, &mut path, output)
                },
            );
            path.length
        };
        batch.pose_length = length as u32;
    }
}

/// Fills in the row of a ground planner. Returns the status of the row.
fn plan_output(
    answer: PathAnswer,
    start: usize,
    path: &mut PathPoses<'_>,
    output: &mut GroundPlannerOutput,
) -> u8 {
    let end = path.length;
    // Poses of other answers are discarded, so that the next row can use their space.
    let fits = end <= path.buffer.len();
    if !matches!(answer, PathAnswer::Found { .. }) || !fits {
        path.length = start;
    }
    match answer {
        PathAnswer::Found { .. } if !fits => ROW_FAILED,
        PathAnswer::Found { cost, expanded } => {
            *output = GroundPlannerOutput {
                cost,
                expanded,
                start: start as u32,
                count: (end - start) as u32,
                ..GroundPlannerOutput::default()
            };
            ROW_OK
        }
        PathAnswer::Searching { expanded } => {
            output.expanded = expanded;
            ROW_KEEP
        }
        PathAnswer::NoPath { reason, expanded } => {
            *output = GroundPlannerOutput {
                expanded,
                reason: reason.number(),
                ..GroundPlannerOutput::default()
            };
            ROW_OK
        }
        PathAnswer::BuiltIn => ROW_NOT_WRITTEN,
    }
}

struct Instance<E: Export> {
    plugin: E::Plugin,
    /// All parameters. The values are those of a fresh instance.
    infos: Vec<Description>,
    /// Current values of all parameters.
    values: Vec<Vec<f64>>,
    error: String,
}

impl<E: Export> Instance<E> {
    /// Returns the position in `infos` of the parameter that hosts without support for tables address by
    /// `index`.
    fn old_index(&self, index: u32) -> Option<usize> {
        let infos = self.infos.iter().enumerate();
        let mut numbers = infos.filter(|(_, info)| !info.is_table());
        Some(numbers.nth(index as usize)?.0)
    }

    /// Sets a parameter. Then stores the resulting values, because the plugin clamps values outside the
    /// range.
    fn set(&mut self, index: usize, values: &[f64]) -> i32 {
        if values.iter().any(|value| value.is_nan()) || index >= self.values.len() {
            return E_ARGUMENT;
        }
        let plugin = &mut self.plugin;
        match parameters::set(index, values, |list| plugin.parameters(list)) {
            Some(kept) => self.values[index] = kept,
            None => return E_ARGUMENT,
        }
        OK
    }
}

thread_local! {
    /// Message of the last panic in this thread, with its location.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
    /// Reason why the last `create` failed.
    static CREATE_ERROR: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Installs a panic hook that records panics instead of printing them. Each library has its own standard
/// library and panic hook, so this does not affect the host or other plugins.
fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let message = info.payload();
            let message = message
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| message.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "a value that is not a string".into());
            let place = info.location().map_or_else(String::new, |place| {
                format!(" at {}:{}", place.file(), place.line())
            });
            PANIC.set(format!("panicked{place}: {message}"));
        }));
    });
}

/// Runs `f`. If it panics, returns [`E_PANIC`] and stores the message in `error`.
fn caught(error: &mut String, f: impl FnOnce() -> i32) -> i32 {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(status) => status,
        Err(payload) => {
            // Not dropped, because a payload whose drop panics must not unwind out of here.
            std::mem::forget(payload);
            *error = PANIC.take();
            E_PANIC
        }
    }
}

/// # Safety
/// `instance` must come from `create` of the same `E`, or be null.
unsafe fn with<E: Export>(
    instance: *mut RwInstance,
    f: impl FnOnce(&mut Instance<E>) -> i32,
) -> i32 {
    // SAFETY: guaranteed by the caller; the host uses an instance on one thread at a time.
    let Some(instance) = (unsafe { instance.cast::<Instance<E>>().as_mut() }) else {
        return E_ARGUMENT;
    };
    // A separate string is used, because the closure borrows the instance. An error that the closure stores
    // in the instance (as loading does) stays if nothing panicked.
    let mut error = String::new();
    let status = caught(&mut error, || f(instance));
    if !error.is_empty() {
        instance.error = error;
    }
    status
}

unsafe extern "C" fn create<E: Export>(
    host: *const RwHost,
    kind: u32,
    out: *mut *mut RwInstance,
) -> i32 {
    if kind != E::KIND || out.is_null() {
        return E_UNSUPPORTED;
    }
    let mut error = String::new();
    let status = caught(&mut error, || {
        let mut plugin = E::Plugin::default();
        // Described before `start`, so that the defaults are those of a fresh instance, even if `start`
        // changes values.
        let infos = parameters::describe(|list| plugin.parameters(list));
        let values = infos.iter().map(|info| info.values.clone()).collect();
        plugin.start(&Host { raw: host });
        let instance = Box::new(Instance::<E> {
            plugin,
            infos,
            values,
            error: String::new(),
        });
        // SAFETY: checked for null above; the host passes memory for one pointer.
        // Written last, so that after a panic above the host has no instance that it would have to destroy.
        unsafe { *out = Box::into_raw(instance).cast() };
        OK
    });
    // Set after success as well, which clears the error of an earlier attempt.
    CREATE_ERROR.set(error);
    status
}

unsafe extern "C" fn destroy<E: Export>(instance: *mut RwInstance) {
    if instance.is_null() {
        return;
    }
    // SAFETY: it comes from `create`, and the host destroys it once.
    let instance = unsafe { Box::from_raw(instance.cast::<Instance<E>>()) };
    // Dropping runs the plugin's code, which may panic too. There is no receiver for the message any more.
    caught(&mut String::new(), || {
        drop(instance);
        OK
    });
}

unsafe extern "C" fn step<E: Export>(instance: *mut RwInstance, batch: *mut RwBatch) -> i32 {
    // SAFETY: the host passes a batch of this kind.
    unsafe {
        with::<E>(instance, |instance| match batch.as_mut() {
            Some(batch) => {
                E::step(&mut instance.plugin, batch);
                OK
            }
            None => E_ARGUMENT,
        })
    }
}

unsafe extern "C" fn press<E: Export>(
    instance: *mut RwInstance,
    batch: *mut RwBatch,
    drives: *const c_void,
    stride: u32,
) -> i32 {
    // SAFETY: the host passes a batch of this kind, with as many rows of drives.
    unsafe {
        with::<E>(instance, |instance| match batch.as_mut() {
            Some(batch) => E::press(&mut instance.plugin, batch, drives, stride),
            None => E_ARGUMENT,
        })
    }
}

unsafe extern "C" fn agents_changed<E: Export>(
    instance: *mut RwInstance,
    capacity: u32,
    added: *const u32,
    added_count: u32,
    removed: *const u32,
    removed_count: u32,
) -> i32 {
    // SAFETY: the host passes arrays of these lengths.
    unsafe {
        with::<E>(instance, |instance| {
            instance.plugin.agents_changed(&AgentsChanged {
                capacity,
                added: slice(added, added_count as usize),
                removed: slice(removed, removed_count as usize),
            });
            OK
        })
    }
}

unsafe extern "C" fn param_count<E: Export>(instance: *mut RwInstance) -> u32 {
    // SAFETY: it comes from `create`, or is null.
    // None of the plugin's own code runs here, so there is nothing to catch.
    let instance = unsafe { instance.cast::<Instance<E>>().as_ref() };
    instance.map_or(0, |instance| {
        let numbers = instance.infos.iter().filter(|info| !info.is_table());
        numbers.count() as u32
    })
}

unsafe extern "C" fn param_info<E: Export>(
    instance: *mut RwInstance,
    index: u32,
    out: *mut RwParamInfo,
) -> i32 {
    // SAFETY: the host passes memory for one description.
    unsafe {
        with::<E>(instance, |instance| {
            match (instance.old_index(index), out.as_mut()) {
                (Some(index), Some(out)) => {
                    *out = instance.infos[index].old();
                    OK
                }
                _ => E_ARGUMENT,
            }
        })
    }
}

unsafe extern "C" fn param_get<E: Export>(
    instance: *mut RwInstance,
    index: u32,
    out: *mut f64,
) -> i32 {
    // SAFETY: the host passes memory for one number.
    unsafe {
        with::<E>(instance, |instance| {
            let index = instance.old_index(index);
            let value = index.and_then(|index| instance.values[index].first());
            match (value, out.as_mut()) {
                (Some(value), Some(out)) => {
                    *out = *value;
                    OK
                }
                _ => E_ARGUMENT,
            }
        })
    }
}

unsafe extern "C" fn param_set<E: Export>(
    instance: *mut RwInstance,
    index: u32,
    value: f64,
) -> i32 {
    // SAFETY: it comes from `create`, or is null.
    unsafe {
        with::<E>(instance, |instance| match instance.old_index(index) {
            Some(index) => instance.set(index, &[value]),
            None => E_ARGUMENT,
        })
    }
}

unsafe extern "C" fn parameter_count<E: Export>(instance: *mut RwInstance) -> u32 {
    // SAFETY: it comes from `create`, or is null.
    let instance = unsafe { instance.cast::<Instance<E>>().as_ref() };
    instance.map_or(0, |instance| instance.infos.len() as u32)
}

unsafe extern "C" fn parameter_info<E: Export>(
    instance: *mut RwInstance,
    index: u32,
    out: *mut RwParameter,
) -> i32 {
    // SAFETY: the host passes memory for one description, at least as long as in version 1.2.
    unsafe {
        with::<E>(instance, |instance| {
            match (instance.infos.get(index as usize), out.as_mut()) {
                (Some(info), Some(out)) => {
                    info.fill(out);
                    OK
                }
                _ => E_ARGUMENT,
            }
        })
    }
}

unsafe extern "C" fn parameter_text<E: Export>(
    instance: *mut RwInstance,
    index: u32,
    what: u32,
    item: u32,
    buffer: *mut c_char,
    capacity: u64,
) -> u64 {
    // SAFETY: it comes from `create`, or is null.
    let instance = unsafe { instance.cast::<Instance<E>>().as_ref() };
    let info = instance.and_then(|instance| instance.infos.get(index as usize));
    let text = info.map_or("", |info| info.text(what, item as usize));
    // SAFETY: the host passes a buffer of that capacity.
    unsafe { copy_text(text, buffer, capacity) }
}

/// Copies values that the host requests.
///
/// # Safety
/// `out` must have room for `count` values.
unsafe fn copy_values(values: Option<&Vec<f64>>, out: *mut f64, count: u32) -> i32 {
    match values {
        Some(values) if values.len() == count as usize && !out.is_null() => {
            // SAFETY: guaranteed by the caller; both have that many values.
            unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), out, values.len()) };
            OK
        }
        _ => E_ARGUMENT,
    }
}

unsafe extern "C" fn parameter_defaults<E: Export>(
    instance: *mut RwInstance,
    index: u32,
    out: *mut f64,
    count: u32,
) -> i32 {
    // SAFETY: the host passes memory for that many numbers.
    unsafe {
        with::<E>(instance, |instance| {
            let info = instance.infos.get(index as usize);
            copy_values(info.map(|info| &info.values), out, count)
        })
    }
}

unsafe extern "C" fn parameter_get<E: Export>(
    instance: *mut RwInstance,
    index: u32,
    out: *mut f64,
    count: u32,
) -> i32 {
    // SAFETY: the host passes memory for that many numbers.
    unsafe {
        with::<E>(instance, |instance| {
            copy_values(instance.values.get(index as usize), out, count)
        })
    }
}

unsafe extern "C" fn parameter_set<E: Export>(
    instance: *mut RwInstance,
    index: u32,
    values: *const f64,
    count: u32,
) -> i32 {
    // SAFETY: the host passes that many numbers.
    unsafe {
        with::<E>(instance, |instance| {
            instance.set(index as usize, slice(values, count as usize))
        })
    }
}

unsafe extern "C" fn state_save<E: Export>(
    instance: *mut RwInstance,
    write: RwWrite,
    ctx: *mut c_void,
    schema: *mut u32,
) -> i32 {
    // SAFETY: the host passes a function that takes the bytes, and memory for the schema.
    unsafe {
        with::<E>(instance, |instance| {
            let Some((number, bytes)) = instance.plugin.save() else {
                return E_UNSUPPORTED;
            };
            if let Some(schema) = schema.as_mut() {
                *schema = number;
            }
            write(ctx, bytes.as_ptr(), bytes.len() as u64)
        })
    }
}

unsafe extern "C" fn state_load<E: Export>(
    instance: *mut RwInstance,
    bytes: *const u8,
    length: u64,
    schema: u32,
) -> i32 {
    // SAFETY: the host passes that many bytes.
    unsafe {
        with::<E>(instance, |instance| {
            match instance.plugin.load(schema, slice(bytes, length as usize)) {
                Ok(()) => OK,
                Err(why) => {
                    instance.error = why;
                    E_STATE
                }
            }
        })
    }
}

unsafe extern "C" fn last_error<E: Export>(
    instance: *mut RwInstance,
    buffer: *mut c_char,
    capacity: u64,
) -> u64 {
    // SAFETY: it comes from `create`, or is null.
    let instance = unsafe { instance.cast::<Instance<E>>().as_ref() };
    let error = match instance {
        Some(instance) => instance.error.clone(),
        None => CREATE_ERROR.with_borrow(Clone::clone),
    };
    // SAFETY: the host passes a buffer of that capacity.
    unsafe { copy_text(&error, buffer, capacity) }
}

/// Copies as much of a string as fits, and returns its full length, so that the host detects a buffer that is
/// too short.
///
/// # Safety
/// `buffer` must have room for `capacity` bytes, or be null.
unsafe fn copy_text(text: &str, buffer: *mut c_char, capacity: u64) -> u64 {
    let length = text.len().min(capacity as usize);
    if !buffer.is_null() {
        // SAFETY: guaranteed by the caller, and the text is at least as long.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), length) };
    }
    text.len() as u64
}

unsafe extern "C" fn lookahead<E: Export>(
    instance: *mut RwInstance,
    distance: *mut f64,
    time: *mut f64,
) -> i32 {
    // SAFETY: the host passes memory for two numbers.
    unsafe {
        with::<E>(instance, |instance| {
            match (
                E::lookahead(&instance.plugin),
                distance.as_mut(),
                time.as_mut(),
            ) {
                (Some(wanted), Some(distance), Some(time)) => {
                    (*distance, *time) = wanted;
                    OK
                }
                _ => E_UNSUPPORTED,
            }
        })
    }
}

unsafe extern "C" fn needs<E: Export>(instance: *mut RwInstance, out: *mut RwNeeds) -> i32 {
    // SAFETY: the host passes memory for the needs, at least as long as in version 1.3; hosts of 1.4, the only ones
    // that load plugins with objects, have memory for their fields. No reference to all of this memory is created.
    unsafe {
        with::<E>(instance, |instance| {
            if out.is_null() {
                return E_ARGUMENT;
            }
            let path = E::path(&instance.plugin);
            let near = E::near(&instance.plugin);
            let mut groups = E::GROUPS;
            if path.is_none() {
                groups &= !NEED_PATH;
            }
            if near.is_none() {
                groups &= !NEED_NEAR;
            }
            if near.is_none_or(|near| !near.trees) {
                groups &= !NEED_TREES;
            }
            match E::map(&instance.plugin) {
                // Only hosts of 1.5 load plugins with maps.
                Some(cell) => (*out).grid_cell = cell,
                None => groups &= !NEED_GRID,
            }
            (*out).groups = groups;
            if let Some(near) = near {
                (*out).near_radius = near.radius;
                (*out).near_most = near.most;
            }
            if let Some(path) = path {
                (*out).path_most = path.most;
                (*out).path_distance = path.distance;
                (*out).path_time = path.time;
                (*out).path_spacing = path.spacing;
            }
            OK
        })
    }
}

struct Extensions<E>(PhantomData<E>);

impl<E: Export> Extensions<E> {
    const CONTROLLER: RwControllerExtension = RwControllerExtension {
        size: size_of::<RwControllerExtension>() as u32,
        reserved: 0,
        lookahead: Some(lookahead::<E>),
    };
    const CONTROLLER_PLACE: &'static RwControllerExtension = &Self::CONTROLLER;
    const PEDALS: RwPedalsExtension = RwPedalsExtension {
        size: size_of::<RwPedalsExtension>() as u32,
        reserved: 0,
        step: Some(press::<E>),
    };
    const PEDALS_PLACE: &'static RwPedalsExtension = &Self::PEDALS;
    const PARAMETERS: RwParametersExtension = RwParametersExtension {
        size: size_of::<RwParametersExtension>() as u32,
        reserved: 0,
        count: Some(parameter_count::<E>),
        info: Some(parameter_info::<E>),
        text: Some(parameter_text::<E>),
        defaults: Some(parameter_defaults::<E>),
        get: Some(parameter_get::<E>),
        set: Some(parameter_set::<E>),
    };
    const NEEDS: RwNeedsExtension = RwNeedsExtension {
        size: size_of::<RwNeedsExtension>() as u32,
        reserved: 0,
        needs: Some(needs::<E>),
    };
    const NEEDS_PLACE: &'static RwNeedsExtension = &Self::NEEDS;
    const PARAMETERS_PLACE: &'static RwParametersExtension = &Self::PARAMETERS;
}

unsafe extern "C" fn get_extension<E: Export>(id: *const c_char, length: u64) -> *const c_void {
    // SAFETY: the host passes a text of that length.
    let id = unsafe { slice(id.cast::<u8>(), length as usize) };
    if id == CONTROLLER_EXTENSION.as_bytes() && E::KIND == KIND_CONTROLLER {
        return std::ptr::from_ref(Extensions::<E>::CONTROLLER_PLACE).cast();
    }
    if id == NEEDS_EXTENSION.as_bytes() && E::GROUPS != 0 {
        return std::ptr::from_ref(Extensions::<E>::NEEDS_PLACE).cast();
    }
    if id == PARAMETERS_EXTENSION.as_bytes() {
        return std::ptr::from_ref(Extensions::<E>::PARAMETERS_PLACE).cast();
    }
    if id == PEDALS_EXTENSION.as_bytes() && E::BY_PEDALS {
        return std::ptr::from_ref(Extensions::<E>::PEDALS_PLACE).cast();
    }
    std::ptr::null()
}

/// Returns the description of a plugin as it is exported.
pub const fn info<E: Export>() -> RwPluginInfo {
    let info = <E::Plugin as Plugin>::INFO;
    let info = match E::LEAST_MINOR {
        0 => info,
        minor => info.requires(minor),
    };
    info.raw(E::KIND)
}

/// Fills the table of functions of a plugin.
///
/// # Safety
/// As in the interface: `out` must point to a table whose size is in its first field.
pub unsafe fn main<E: Export>(_: *const RwHost, out: *mut RwApi) -> i32 {
    note_panics();
    let info = E::Plugin::INFO;
    let has_state = info.raw.caps & CAP_STATE != 0;
    let api = RwApi {
        size: size_of::<RwApi>() as u32,
        reserved: 0,
        create: Some(create::<E>),
        destroy: Some(destroy::<E>),
        step: Some(step::<E>),
        agents_changed: Some(agents_changed::<E>),
        param_count: Some(param_count::<E>),
        param_info: Some(param_info::<E>),
        param_get: Some(param_get::<E>),
        param_set: Some(param_set::<E>),
        state_save: has_state.then_some(state_save::<E>),
        state_load: has_state.then_some(state_load::<E>),
        last_error: Some(last_error::<E>),
        get_extension: Some(get_extension::<E>),
    };
    if out.is_null() {
        return E_ARGUMENT;
    }
    // SAFETY: `size` bytes can be written, and no more than our table has.
    unsafe {
        // A host of another version may have a shorter or a longer table. The part that both know is filled,
        // and the size states its length.
        let size = ((*out).size as usize).min(size_of::<RwApi>());
        let from = std::ptr::from_ref(&api).cast::<u8>();
        std::ptr::copy_nonoverlapping(from, out.cast::<u8>(), size);
        (*out).size = size as u32;
    }
    OK
}

/// Exports a plugin: `export_plugin!(MyController: Controller);`, or `PedalController`, `ModelController`,
/// `Planner`, `Fitness` or `SignalController`.
#[macro_export]
macro_rules! export_plugin {
    ($plugin:ty: Controller) => {
        $crate::export_plugin!(@ $crate::export::AsController<$plugin>);
    };
    ($plugin:ty: PedalController) => {
        $crate::export_plugin!(@ $crate::export::AsPedalController<$plugin>);
    };
    ($plugin:ty: ModelController) => {
        $crate::export_plugin!(@ $crate::export::AsModelController<$plugin>);
    };
    ($plugin:ty: Planner) => {
        $crate::export_plugin!(@ $crate::export::AsPlanner<$plugin>);
    };
    ($plugin:ty: GroundPlanner) => {
        $crate::export_plugin!(@ $crate::export::AsGroundPlanner<$plugin>);
    };
    ($plugin:ty: Fitness) => {
        $crate::export_plugin!(@ $crate::export::AsFitness<$plugin>);
    };
    ($plugin:ty: SignalController) => {
        $crate::export_plugin!(@ $crate::export::AsSignalController<$plugin>);
    };
    (@ $export:ty) => {
        #[cfg(not(panic = "unwind"))]
        compile_error!("build plugins with panic = \"unwind\", because panics are caught inside the plugin");

        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        #[unsafe(no_mangle)]
        pub static rw_plugin_info_v1: $crate::export::RwPluginInfo =
            $crate::export::info::<$export>();

        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn rw_plugin_main_v1(
            host: *const $crate::export::RwHost,
            out: *mut $crate::export::RwApi,
        ) -> i32 {
            // SAFETY: the host calls it as the interface defines.
            unsafe { $crate::export::main::<$export>(host, out) }
        }
    };
}

pub use roadwright_plugin_api::abi::{RwApi, RwBatch, RwHost, RwInstance, RwPluginInfo};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plugin, PluginInfo};

    /// A controller that gives half throttle, or brakes if the speed would exceed 10 m/s.
    #[derive(Default)]
    struct Foot {
        pressed: u32,
    }

    impl Plugin for Foot {
        const INFO: PluginInfo = PluginInfo::new("com.example.foot", "Foot", "1.0.0");
    }

    impl PedalController for Foot {
        fn press(
            &mut self,
            _: &Agent,
            input: &ControllerInput,
            drive: &DriveInput,
            output: &mut PedalsOutput,
        ) {
            self.pressed += 1;
            output.throttle = if input.speed < 10.0 { 0.5 } else { 0.0 };
            output.brake = if input.speed < 10.0 { 0.0 } else { 1.0 };
            output.gear = drive.gears;
        }
    }

    fn extension(id: &str) -> *const c_void {
        let text = id.as_ptr().cast();
        // SAFETY: a text and its length.
        unsafe { get_extension::<AsPedalController<Foot>>(text, id.len() as u64) }
    }

    #[test]
    fn a_controller_that_drives_by_pedals_offers_the_extension_and_answers_row_by_row() {
        assert!(extension("roadwright.nothing/1").is_null());
        assert!(!extension(CONTROLLER_EXTENSION).is_null());
        let found = extension(PEDALS_EXTENSION).cast::<RwPedalsExtension>();
        let mut raw: *mut RwInstance = std::ptr::null_mut();
        // The rows are longer than in this version, like those of a newer host.
        let rows = [(5.0, 3.0), (12.0, 4.0)];
        let inputs = rows.map(|(speed, _)| {
            let mut row = [0.0f64; 20];
            row[0] = speed;
            row
        });
        let drives = rows.map(|(_, gears)| {
            let mut row = [0.0f64; 15];
            row[12] = gears;
            row
        });
        let mut outputs = [[7.0f64; 6]; 2];
        let mut status = [0u8; 2];
        let mut batch = RwBatch {
            size: size_of::<RwBatch>() as u32,
            count: 2,
            step: 0,
            time: 0.0,
            period: 0.05,
            agent_ids: [1u64, 2].as_ptr(),
            agent_indices: [0u32, 1].as_ptr(),
            seeds: [3u64, 4].as_ptr(),
            inputs: inputs.as_ptr().cast(),
            outputs: outputs.as_mut_ptr().cast(),
            input_stride: 160,
            output_stride: 48,
            status: status.as_mut_ptr(),
            roads: std::ptr::null(),
            route: std::ptr::null_mut(),
            route_capacity: 0,
            route_length: 0,
            views: std::ptr::null(),
            view_count: 0,
            view_stride: 0,
            poses: std::ptr::null_mut(),
            pose_capacity: 0,
            pose_length: 0,
        };
        // SAFETY: a table of the plugin, an instance that it creates, and rows as the batch states.
        let (answered, short) = unsafe {
            let made =
                create::<AsPedalController<Foot>>(std::ptr::null(), KIND_CONTROLLER, &mut raw);
            assert_eq!(made, OK);
            let step = (*found).step.expect("the table is whole");
            let answered = step(raw, &mut batch, drives.as_ptr().cast(), 120);
            let short = step(raw, &mut batch, drives.as_ptr().cast(), 96);
            destroy::<AsPedalController<Foot>>(raw);
            (answered, short)
        };
        assert_eq!((answered, short), (OK, E_ARGUMENT));
        assert_eq!(status, [ROW_OK; 2]);
        assert_eq!(outputs[0][..4], [0.5, 0.0, 7.0, 3.0]);
        assert_eq!(outputs[1][..4], [0.0, 1.0, 7.0, 4.0]);
        // Bytes beyond its own row are unchanged.
        assert_eq!((outputs[0][5], outputs[1][5]), (7.0, 7.0));
    }

    /// A signal controller that returns the planned stage in its input.
    #[derive(Default)]
    struct Clock;

    impl Plugin for Clock {
        const INFO: PluginInfo = PluginInfo::new("com.example.clock", "Clock", "1.0.0");
    }

    impl SignalController for Clock {
        fn decide(&mut self, _: &StepInfo, _: &Agent, input: &SignalInput) -> Option<u32> {
            (input.planned != input.stage).then_some(input.planned)
        }
    }

    #[test]
    fn a_controller_of_signals_answers_with_a_stage_or_keeps_it() {
        let rows = [(0, 0), (0, 3), (1, u32::MAX)].map(|(stage, planned)| SignalInput {
            stage,
            planned,
            ..SignalInput::default()
        });
        let mut outputs = [SignalOutput::default(); 3];
        let mut status = [0u8; 3];
        let mut batch = RwBatch {
            size: size_of::<RwBatch>() as u32,
            count: 3,
            step: 0,
            time: 0.0,
            period: 1.0,
            agent_ids: [1u64, 2, 3].as_ptr(),
            agent_indices: [0u32, 1, 2].as_ptr(),
            seeds: [3u64, 4, 5].as_ptr(),
            inputs: rows.as_ptr().cast(),
            outputs: outputs.as_mut_ptr().cast(),
            input_stride: size_of::<SignalInput>() as u32,
            output_stride: size_of::<SignalOutput>() as u32,
            status: status.as_mut_ptr(),
            roads: std::ptr::null(),
            route: std::ptr::null_mut(),
            route_capacity: 0,
            route_length: 0,
            views: std::ptr::null(),
            view_count: 0,
            view_stride: 0,
            poses: std::ptr::null_mut(),
            pose_capacity: 0,
            pose_length: 0,
        };
        // SAFETY: rows as the batch states.
        unsafe { AsSignalController::<Clock>::step(&mut Clock, &mut batch) };
        assert_eq!(status, [ROW_OK; 3]);
        assert_eq!(outputs.map(|output| output.next), [KEEP_STAGE, 3, i32::MAX]);
        // Hosts of 1.0 do not know the kind.
        let least = |kind| Clock::INFO.raw(kind).min_host_minor;
        assert_eq!(
            (least(KIND_SIGNAL_CONTROLLER), least(KIND_CONTROLLER)),
            (1, 0)
        );
        // Hosts of 1.1 pass rows without conduct to a fitness.
        assert_eq!(least(KIND_FITNESS), 2);
    }

    /// A fitness with a number and a table.
    #[derive(Default)]
    struct Net {
        gain: f64,
        weights: [f64; 6],
    }

    impl Plugin for Net {
        const INFO: PluginInfo = PluginInfo::new("com.example.net", "Net", "1.0.0");

        fn parameters(&mut self, list: &mut crate::Parameters<'_>) {
            let shape = crate::Shape {
                rows: 2,
                columns: 3,
            };
            list.table("weights", &mut self.weights, shape, -1.0..=1.0)
                .doc("Weights.");
            list.number("gain", &mut self.gain, 0.0..=2.0);
        }
    }

    impl Fitness for Net {
        fn rate(&mut self, _: &Agent, _: &FitnessInput, output: &mut FitnessOutput) {
            output.score = self.gain;
        }
    }

    #[test]
    fn tables_are_described_by_the_extension_and_numbers_by_both() {
        type Exported = AsFitness<Net>;
        /// A parameter description as in a later version of the interface, with additional fields.
        #[repr(C)]
        struct Longer {
            info: RwParameter,
            more: [u8; 64],
        }
        let mut place = Longer {
            info: RwParameter {
                size: size_of::<Longer>() as u32,
                kind: 0,
                flags: 7,
                choices: 0,
                rows: 0,
                columns: 0,
                min: 0.0,
                max: 0.0,
                key: [1; 64],
                unit: [1; 16],
            },
            more: [0xa5; 64],
        };
        let id = PARAMETERS_EXTENSION;
        let mut raw: *mut RwInstance = std::ptr::null_mut();
        let mut values = [9.0f64; 6];
        let mut old = 9.0;
        let mut text = [0xa5u8; 8];
        // SAFETY: a table of the plugin, an instance that it creates, and memory as large as stated.
        unsafe {
            let found = get_extension::<Exported>(id.as_ptr().cast(), id.len() as u64);
            let found = &*found.cast::<RwParametersExtension>();
            assert_eq!(
                create::<Exported>(std::ptr::null(), KIND_FITNESS, &mut raw),
                OK
            );
            assert_eq!(found.count.map(|count| count(raw)), Some(2));
            let info = found.info.expect("the table is whole");
            assert_eq!(info(raw, 0, &raw mut place.info), OK);
            assert_eq!(info(raw, 2, &raw mut place.info), E_ARGUMENT);
            let [get, defaults] = [found.get, found.defaults].map(|f| f.expect("it is whole"));
            let set = found.set.expect("the table is whole");
            let given = [0.5, -3.0, 0.0, 0.0, 0.0, 1.0];
            assert_eq!(set(raw, 0, given.as_ptr(), 6), OK);
            assert_eq!(get(raw, 0, values.as_mut_ptr(), 6), OK);
            assert_eq!(values, [0.5, -1.0, 0.0, 0.0, 0.0, 1.0]);
            assert_eq!(defaults(raw, 0, values.as_mut_ptr(), 6), OK);
            assert_eq!(values, [0.0; 6]);
            // There must be one value per cell.
            assert_eq!(get(raw, 0, values.as_mut_ptr(), 5), E_ARGUMENT);
            assert_eq!(set(raw, 0, given.as_ptr(), 5), E_ARGUMENT);
            assert_eq!(set(raw, 0, [f64::NAN; 6].as_ptr(), 6), E_ARGUMENT);
            // Hosts of 1.0 and 1.1 see the number only, with its own index.
            assert_eq!(param_count::<Exported>(raw), 1);
            assert_eq!(param_set::<Exported>(raw, 0, 1.5), OK);
            assert_eq!(param_get::<Exported>(raw, 0, &mut old), OK);
            assert_eq!(param_set::<Exported>(raw, 1, 1.5), E_ARGUMENT);
            let read = found.text.expect("the table is whole");
            assert_eq!(read(raw, 0, TEXT_DOC, 0, text.as_mut_ptr().cast(), 4), 8);
            destroy::<Exported>(raw);
        }
        let info = place.info;
        assert_eq!(
            (info.kind, info.rows, info.columns, info.flags),
            (PARAM_TABLE, 2, 3, 0)
        );
        assert_eq!((text_of(&info.key), info.size), ("weights".into(), 184));
        assert_eq!(
            place.more, [0xa5; 64],
            "nothing is written beyond the description"
        );
        assert_eq!(old, 1.5);
        assert_eq!(&text, b"Weig\xa5\xa5\xa5\xa5");
    }

    /// A controller that returns the position and the curvature of the second point of its path.
    #[derive(Default)]
    struct Model {
        reach: f64,
    }

    impl Plugin for Model {
        const INFO: PluginInfo = PluginInfo::new("com.example.model", "Model", "1.0.0");
    }

    impl ModelController for Model {
        const MOTION: bool = false;
        const NEAR: bool = true;

        fn path(&self) -> Option<PathNeeds> {
            (self.reach > 0.0).then_some(PathNeeds {
                distance: self.reach,
                time: 2.0,
                spacing: 0.5,
                most: 64,
            })
        }

        fn near(&self) -> Option<NearNeeds> {
            (self.reach > 0.0).then_some(NearNeeds {
                radius: 2.0 * self.reach,
                most: 8,
                trees: self.reach > 50.0,
            })
        }

        fn control(
            &mut self,
            _: &Agent,
            input: &NeedsInput,
            ahead: &Ahead<'_>,
        ) -> Option<ControllerOutput> {
            assert_eq!(ahead.near.len(), input.near_count as usize);
            for near in ahead.near.iter() {
                let object = ahead.object(near)?;
                assert_eq!(ahead.outline(object).len(), object.outline_count as usize);
            }
            let second = ahead.path.get(1)?;
            assert_eq!(ahead.path.iter().count(), input.path_count as usize);
            Some(ControllerOutput {
                acceleration: second.s,
                steering: ahead.vehicle?.wheelbase + second.curvature,
            })
        }
    }

    #[test]
    fn a_controller_with_a_model_gets_the_views_of_its_rows_at_any_stride() {
        type Exported = AsModelController<Model>;
        /// A point as in a later version of the interface.
        #[repr(C)]
        #[derive(Clone, Copy, Default)]
        struct Longer {
            point: PathPoint,
            more: [f64; 3],
        }
        let points: Vec<Longer> = (0..5)
            .map(|number| Longer {
                point: PathPoint {
                    s: f64::from(number),
                    curvature: 0.25,
                    ..PathPoint::default()
                },
                more: [9.0; 3],
            })
            .collect();
        let vehicle = VehicleData {
            wheelbase: 2.5,
            ..VehicleData::default()
        };
        let row = |path: u32, path_count: u32, vehicle: u32| NeedsInput {
            path,
            path_count,
            vehicle,
            near_first: 1,
            near_count: 2,
            ..NeedsInput::default()
        };
        // Within the view, without a second point, beyond the view, and without a vehicle.
        let rows = [
            row(2, 3, 0),
            row(4, 1, 0),
            row(3, 3, 0),
            row(0, 5, u32::MAX),
        ];
        let objects = [ObjectData {
            outline: 1,
            outline_count: 2,
            ..ObjectData::default()
        }];
        let near = [NearData::default(); 3];
        let corners = [RwPoint::default(); 3];
        let view = |data: *const c_void, count: u32, stride: usize| RwView {
            data,
            count,
            stride: stride as u32,
            version: 0,
        };
        let views = [
            RwView {
                data: (&raw const vehicle).cast(),
                count: 1,
                stride: size_of::<VehicleData>() as u32,
                version: 1,
            },
            RwView {
                data: std::ptr::null(),
                count: 0,
                stride: 48,
                version: 1,
            },
            RwView {
                data: points.as_ptr().cast(),
                count: 5,
                stride: size_of::<Longer>() as u32,
                version: 0,
            },
            view(objects.as_ptr().cast(), 1, size_of::<ObjectData>()),
            view(near.as_ptr().cast(), 3, size_of::<NearData>()),
            view(corners.as_ptr().cast(), 3, size_of::<RwPoint>()),
        ];
        let mut outputs = [ControllerOutput::default(); 4];
        let mut status = [9u8; 4];
        let mut batch = RwBatch {
            size: size_of::<RwBatch>() as u32,
            count: 4,
            step: 0,
            time: 0.0,
            period: 0.05,
            agent_ids: [1u64, 2, 3, 4].as_ptr(),
            agent_indices: [0u32, 1, 2, 3].as_ptr(),
            seeds: [3u64, 4, 5, 6].as_ptr(),
            inputs: rows.as_ptr().cast(),
            outputs: outputs.as_mut_ptr().cast(),
            input_stride: size_of::<NeedsInput>() as u32,
            output_stride: size_of::<ControllerOutput>() as u32,
            status: status.as_mut_ptr(),
            roads: std::ptr::null(),
            route: std::ptr::null_mut(),
            route_capacity: 0,
            route_length: 0,
            views: views.as_ptr(),
            view_count: views.len() as u32,
            view_stride: size_of::<RwView>() as u32,
            poses: std::ptr::null_mut(),
            pose_capacity: 0,
            pose_length: 0,
        };
        let mut asked = [RwNeeds {
            size: size_of::<RwNeeds>() as u32,
            path_most: 0,
            groups: 0,
            path_distance: 0.0,
            path_time: 0.0,
            path_spacing: 0.0,
            near_radius: 0.0,
            near_most: 0,
            reserved: 0,
            grid_cell: 0.0,
        }; 2];
        let mut raw: *mut RwInstance = std::ptr::null_mut();
        // SAFETY: rows and views as the batch states, an instance that the plugin creates, and memory for needs.
        unsafe {
            Exported::step(&mut Model { reach: 9.0 }, &mut batch);
            assert_eq!(
                create::<Exported>(std::ptr::null(), KIND_CONTROLLER, &mut raw),
                OK
            );
            assert_eq!(needs::<Exported>(raw, &mut asked[0]), OK);
            with::<Exported>(raw, |instance| {
                instance.plugin.reach = 9.0;
                OK
            });
            assert_eq!(needs::<Exported>(raw, &mut asked[1]), OK);
            destroy::<Exported>(raw);
        }
        assert_eq!(
            status,
            [ROW_OK, ROW_NOT_WRITTEN, ROW_NOT_WRITTEN, ROW_NOT_WRITTEN]
        );
        assert_eq!((outputs[0].acceleration, outputs[0].steering), (3.0, 2.75));
        assert_eq!(
            asked.map(|needs| needs.groups),
            [NEED_VEHICLES, NEED_VEHICLES | NEED_PATH | NEED_NEAR]
        );
        assert_eq!((asked[1].path_most, asked[1].path_distance), (64, 9.0));
        assert_eq!((asked[1].near_most, asked[1].near_radius), (8, 18.0));
        let found = |id: &str| {
            // SAFETY: a text and its length.
            unsafe { get_extension::<Exported>(id.as_ptr().cast(), id.len() as u64) }
        };
        assert!(!found(NEEDS_EXTENSION).is_null());
        assert!(
            extension(NEEDS_EXTENSION).is_null(),
            "pedals ask for nothing"
        );
        assert_eq!(info::<Exported>().min_host_minor, 4);
        assert_eq!(info::<AsPedalController<Foot>>().min_host_minor, 0);
    }

    /// A controller that requests no objects: `NEAR` is false, although `near` returns a request.
    #[derive(Default)]
    struct Blind(f64);

    impl Plugin for Blind {
        const INFO: PluginInfo = PluginInfo::new("com.example.blind", "Blind", "1.0.0");
    }

    impl ModelController for Blind {
        fn path(&self) -> Option<PathNeeds> {
            None
        }

        fn near(&self) -> Option<NearNeeds> {
            Some(NearNeeds {
                radius: 9.0,
                most: 9,
                trees: true,
            })
        }

        fn begin(&mut self, step: &StepInfo) {
            self.0 = step.time;
        }

        fn control(
            &mut self,
            _: &Agent,
            input: &NeedsInput,
            ahead: &Ahead<'_>,
        ) -> Option<ControllerOutput> {
            assert!(ahead.near.is_empty() && ahead.vehicle.is_none());
            assert_eq!((input.near_first, input.near_count), (0, 0));
            assert_eq!(input.object, u32::MAX);
            Some(ControllerOutput {
                acceleration: input.seen.speed + self.0,
                steering: input.path_s,
            })
        }
    }

    #[test]
    fn a_controller_without_objects_works_with_hosts_of_1_3() {
        type Exported = AsModelController<Blind>;
        assert_eq!(info::<Exported>().min_host_minor, 3);
        // Rows of 1.3, with no bytes between or after them.
        let row = |speed: f64| {
            let input = NeedsInput {
                path_s: 7.0,
                ..NeedsInput::of(ControllerInput {
                    speed,
                    ..ControllerInput::default()
                })
            };
            let mut words = [0u64; OLD_NEEDS_INPUT / 8];
            // SAFETY: the row is longer.
            unsafe {
                let from = (&raw const input).cast::<u64>();
                words
                    .as_mut_ptr()
                    .copy_from_nonoverlapping(from, words.len());
            }
            words
        };
        let rows: Box<[[u64; OLD_NEEDS_INPUT / 8]]> = Box::new([row(3.0), row(4.0)]);
        let mut outputs = [ControllerOutput::default(); 2];
        let mut status = [9u8; 2];
        let batch =
            |input_stride: usize, outputs: &mut [ControllerOutput], status: &mut [u8]| RwBatch {
                size: size_of::<RwBatch>() as u32,
                count: 2,
                step: 0,
                time: 1.0,
                period: 0.05,
                agent_ids: [1u64, 2].as_ptr(),
                agent_indices: [0u32, 1].as_ptr(),
                seeds: [3u64, 4].as_ptr(),
                inputs: rows.as_ptr().cast(),
                outputs: outputs.as_mut_ptr().cast(),
                input_stride: input_stride as u32,
                output_stride: size_of::<ControllerOutput>() as u32,
                status: status.as_mut_ptr(),
                roads: std::ptr::null(),
                route: std::ptr::null_mut(),
                route_capacity: 0,
                route_length: 0,
                views: std::ptr::null(),
                view_count: 0,
                view_stride: size_of::<RwView>() as u32,
                poses: std::ptr::null_mut(),
                pose_capacity: 0,
                pose_length: 0,
            };
        // Memory for the needs of 1.3, followed by guard values.
        let mut needed = [u64::MAX; 7];
        let mut raw: *mut RwInstance = std::ptr::null_mut();
        // SAFETY: rows as the batch states, an instance that the plugin creates, and memory for needs of 1.3.
        unsafe {
            let mut old = batch(OLD_NEEDS_INPUT, &mut outputs, &mut status);
            Exported::step(&mut Blind::default(), &mut old);
            assert_eq!(
                create::<Exported>(std::ptr::null(), KIND_CONTROLLER, &mut raw),
                OK
            );
            assert_eq!(needs::<Exported>(raw, needed.as_mut_ptr().cast()), OK);
            destroy::<Exported>(raw);
        }
        assert_eq!(status, [ROW_OK; 2]);
        let answers = outputs.map(|output| (output.acceleration, output.steering));
        assert_eq!(answers, [(4.0, 7.0), (5.0, 7.0)]);
        assert_eq!(needed[1], NEED_MOTION | NEED_VEHICLES);
        assert_eq!(needed[5..], [u64::MAX; 2], "written beyond a place of 1.3");
        // Rows that are too short stay unanswered. So do rows without objects if the plugin
        // requests objects.
        let mut status = [ROW_NOT_WRITTEN; 2];
        let mut shorter = batch(OLD_NEEDS_INPUT - 8, &mut outputs, &mut status);
        // SAFETY: rows as the batch states.
        unsafe { Exported::step(&mut Blind::default(), &mut shorter) };
        let mut old = batch(OLD_NEEDS_INPUT, &mut outputs, &mut status);
        let mut model = Model { reach: 9.0 };
        // SAFETY: rows as the batch states.
        unsafe { AsModelController::<Model>::step(&mut model, &mut old) };
        assert_eq!(status, [ROW_NOT_WRITTEN; 2]);
    }

    #[test]
    fn others_do_not_offer_it() {
        struct Nobody;
        impl Export for Nobody {
            const KIND: u32 = KIND_FITNESS;
            type Plugin = Foot;
            unsafe fn step(_: &mut Foot, _: &mut RwBatch) {}
        }
        let id = PEDALS_EXTENSION;
        // SAFETY: a text and its length.
        let found = unsafe { get_extension::<Nobody>(id.as_ptr().cast(), id.len() as u64) };
        assert!(found.is_null());
    }
}
