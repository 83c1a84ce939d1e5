//! The binary interface of compiled plugins, version 1.5.
//!
//! All structures are `repr(C)` with integers of fixed width and doubles, without `bool`. Strings are passed
//! as a pointer and a length, or as UTF-8 in zero-padded fields of fixed size. Nothing is freed across the
//! boundary. Within a major version, structures only grow at their end. `size` fields state how many bytes
//! are present, and missing fields count as zero. New features are added as named extensions, or as kinds of
//! a later minor version that a plugin declares as its minimum.
//!
//! A lanelet is a stretch of lane or a connection through a junction. An agent index is a dense number that an
//! agent keeps while it drives.
//!
//! Threads: `create`, `destroy`, parameter and state functions are called while no step runs. `step` is never
//! called concurrently on one instance unless the plugin declares [`CAP_PARALLEL_SLICES`]. `log` and
//! `cancelled` may be called from any thread.

use crate::records::PlanPose;
use core::ffi::{c_char, c_void};

/// Major version, which must be equal on both sides.
pub const ABI_MAJOR: u16 = 1;
/// Minor version of this host and SDK.
pub const ABI_MINOR: u16 = 5;
/// First bytes of [`RwPluginInfo`].
pub const MAGIC: [u8; 8] = *b"RWPLUG1\0";
/// Name of the exported [`RwPluginInfo`].
pub const INFO_SYMBOL: &str = "rw_plugin_info_v1";
/// Name of the exported [`RwMain`].
pub const MAIN_SYMBOL: &str = "rw_plugin_main_v1";
/// Identifies the meaning of the row fields.
pub const ROW_SCHEMA: u64 = 0x5257_524f_5753_0001;

/// Kind: planner, which finds routes.
pub const KIND_PLANNER: u32 = 1;
/// Kind: controller, which steers and accelerates.
pub const KIND_CONTROLLER: u32 = 2;
/// Kind: fitness, which scores driving.
pub const KIND_FITNESS: u32 = 4;
/// Kind: signal controller, which chooses the next stage. Since 1.1.
pub const KIND_SIGNAL_CONTROLLER: u32 = 256;

/// Kind: ground planner, which finds paths on open ground. Since 1.5.
pub const KIND_GROUND_PLANNER: u32 = 16;

/// Capability: the plugin keeps no state between steps.
pub const CAP_STATELESS: u64 = 1;
/// Capability: `step` may be called concurrently on one instance, for different agents.
pub const CAP_PARALLEL_SLICES: u64 = 2;
/// Capability: the plugin offers `state_save` and `state_load`.
pub const CAP_STATE: u64 = 4;
/// Capability: the author declares that outputs depend only on row, state, parameters and seed.
pub const CAP_DETERMINISTIC: u64 = 8;
/// Capability: the host fills output rows with the built-in module's answers before it calls `step`.
pub const CAP_WANTS_DEFAULTS: u64 = 16;
/// Capability of a fitness: higher scores are better. Since 1.2.
pub const CAP_HIGHER_IS_BETTER: u64 = 32;
/// Capability of a fitness: it needs the fields of [`Conduct`](crate::Conduct) that are only recorded if a
/// fitness of the run needs them: `least_post_encroachment`, `goal_distance` and all fields after it. Since
/// 1.2.
pub const CAP_FULL_CONDUCT: u64 = 64;
/// Capability of a controller: its waypoint lies on the circle that the lane follows just ahead and not on the
/// lane itself. A law that steers along the circle through its waypoint then follows bends exactly. Since 1.2.
pub const CAP_ALONG_BEND: u64 = 128;

/// The function succeeded.
pub const OK: i32 = 0;
/// Success. Details are in the log.
pub const WARNING: i32 = 1;
/// The plugin does not support this function or value.
pub const E_UNSUPPORTED: i32 = -1;
/// An argument is invalid.
pub const E_ARGUMENT: i32 = -2;
/// The state cannot be restored; the instance starts fresh.
pub const E_STATE: i32 = -3;
/// A panic or an exception was caught. `last_error` returns its location.
pub const E_PANIC: i32 = -4;
/// Cancelled at the request of the host.
pub const E_CANCELLED: i32 = -5;
/// This call failed, but the instance can still be used.
pub const E_FAILED: i32 = -6;
/// The instance is unusable from now on.
pub const E_FATAL: i32 = -7;

/// Row status: not written. The host uses the built-in module's answer.
pub const ROW_NOT_WRITTEN: u8 = 0;
/// Row status: the plugin has answered the row.
pub const ROW_OK: u8 = 1;
/// Row status: keep the previous answer. For a ground planner: the search continues in the next step.
pub const ROW_KEEP: u8 = 2;
/// Row status: failed. The host uses the built-in module's answer.
pub const ROW_FAILED: u8 = 3;

/// Log level: debugging.
pub const LOG_DEBUG: u32 = 0;
/// Log level: information.
pub const LOG_INFO: u32 = 1;
/// Log level: warning.
pub const LOG_WARNING: u32 = 2;
/// Log level: error.
pub const LOG_ERROR: u32 = 3;

/// Parameter kind: any number in the range.
pub const PARAM_NUMBER: u32 = 0;
/// Parameter kind: an integer in the range.
pub const PARAM_INTEGER: u32 = 1;
/// Parameter kind: 0 or 1.
pub const PARAM_BOOL: u32 = 2;
/// Parameter kind: one of the words in `choices`, by index.
pub const PARAM_CHOICE: u32 = 3;
/// Parameter kind: a table of numbers in the range. Since 1.2, for [`PARAMETERS_EXTENSION`] only.
pub const PARAM_TABLE: u32 = 4;

/// Parameter flag: hidden from the user.
pub const PARAM_HIDDEN: u32 = 1;

/// Text of a parameter: its description, in one sentence.
pub const TEXT_DOC: u32 = 1;
/// Text of a parameter: a word of a choice, by index.
pub const TEXT_CHOICE: u32 = 2;
/// Text of a parameter: the name of a row of a table, by index.
pub const TEXT_ROW: u32 = 3;
/// Text of a parameter: the name of a column of a table, by index.
pub const TEXT_COLUMN: u32 = 4;

/// "No lanelet" in [`RwLanelet::left`] and [`RwLanelet::right`].
pub const NO_LANELET: u32 = u32::MAX;
/// Lanelet flag: reserved for buses.
pub const LANELET_BUS_ONLY: u32 = 1;
/// Lanelet flag: a connection through a junction.
pub const LANELET_CONNECTION: u32 = 2;
/// Lanelet flag: the road has no through traffic, but trips may begin and end on it.
pub const LANELET_NO_THROUGH: u32 = 4;
/// Lanelet flag: the road is closed. Vehicles already on it may leave it, and no other vehicle may enter.
pub const LANELET_CLOSED: u32 = 8;
/// Lanelet flag: too narrow for buses.
pub const LANELET_NO_BUSES: u32 = 16;

/// Id of the extension [`RwPedalsExtension`].
pub const PEDALS_EXTENSION: &str = "roadwright.pedals/1";
/// Id of the extension [`RwControllerExtension`].
pub const CONTROLLER_EXTENSION: &str = "roadwright.controller/1";
/// Id of the extension [`RwParametersExtension`].
pub const PARAMETERS_EXTENSION: &str = "roadwright.parameters/1";
/// Id of the extension [`RwNeedsExtension`].
pub const NEEDS_EXTENSION: &str = "roadwright.needs/1";

/// Group of [`RwNeeds`]: the vehicle's pose, its rates of motion, and the last command.
pub const NEED_MOTION: u64 = 1;
/// Group of [`RwNeeds`]: the agent's own vehicle.
pub const NEED_VEHICLES: u64 = 2;
/// Group of [`RwNeeds`]: path ahead.
pub const NEED_PATH: u64 = 4;
/// Group of [`RwNeeds`]: nearby objects. Since 1.4.
pub const NEED_NEAR: u64 = 8;
/// Group of [`RwNeeds`]: trees among the nearby objects. Since 1.4.
pub const NEED_TREES: u64 = 16;

/// Group of [`RwNeeds`]: map of the cost of driving, for ground planners. Since 1.5.
pub const NEED_GRID: u64 = 32;

/// A ground planner found no path, and the cause is unknown. Since 1.5, like the other `NO_PATH_*`
/// constants.
pub const NO_PATH_UNKNOWN: u32 = 0;
/// A ground planner found no path because the vehicle overlaps an obstacle at its start.
pub const NO_PATH_START_BLOCKED: u32 = 1;
/// A ground planner found no path because the vehicle would overlap an obstacle at its goal.
pub const NO_PATH_GOAL_BLOCKED: u32 = 2;
/// A ground planner found no path because obstacles enclose the start.
pub const NO_PATH_START_WALLED_IN: u32 = 3;
/// A ground planner found no path because obstacles enclose the goal.
pub const NO_PATH_GOAL_WALLED_IN: u32 = 4;

/// Flag of a ground planner's input: the vehicle may arrive with any heading. Since 1.5.
pub const GROUND_ANY_HEADING: u32 = 1;
/// Flag of a ground planner's input: the vehicle may not drive in reverse. Since 1.5.
pub const GROUND_NO_REVERSE: u32 = 2;

/// View of [`VehicleData`](crate::VehicleData)s, in [`RwBatch::views`].
pub const VIEW_VEHICLES: u32 = 0;
/// View of [`HitchData`](crate::HitchData)s.
pub const VIEW_HITCHES: u32 = 1;
/// View of [`PathPoint`](crate::PathPoint)s.
pub const VIEW_PATH: u32 = 2;
/// View of [`ObjectData`](crate::ObjectData)s. Since 1.4.
pub const VIEW_OBJECTS: u32 = 3;
/// View of [`NearData`](crate::NearData)s. Since 1.4.
pub const VIEW_NEAR: u32 = 4;
/// View of [`RwPoint`]s: outlines of objects. Since 1.4.
pub const VIEW_OUTLINES: u32 = 5;
/// View of doubles: angles of hitches, rad. Since 1.5.
pub const VIEW_HITCH_ANGLES: u32 = 6;
/// View of [`GridData`](crate::GridData): maps of the cost of driving. Since 1.5.
pub const VIEW_GRIDS: u32 = 7;
/// View of 16-bit numbers: cells of the maps. Since 1.5.
pub const VIEW_CELLS: u32 = 8;

/// Description of a plugin: plain bytes without pointers, so that it can be read from the file without
/// running the plugin.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RwPluginInfo {
    /// Always [`MAGIC`].
    pub magic: [u8; 8],
    /// Size of this structure, bytes.
    pub info_size: u32,
    /// Major version that the plugin was built for.
    pub abi_major: u16,
    /// Minor version that the plugin was built for.
    pub abi_minor: u16,
    /// Lowest minor version of the host that the plugin works with.
    pub min_host_minor: u16,
    /// Unused; always 0.
    pub reserved: u16,
    /// `KIND_*`, combined by bitwise or.
    pub kinds: u32,
    /// `CAP_*`, combined by bitwise or.
    pub caps: u64,
    /// [`ROW_SCHEMA`] that the plugin was built for.
    pub row_schema: u64,
    /// Display name, UTF-8.
    pub name: [u8; 64],
    /// Stable id in reverse domain order, such as `com.example.pure_pursuit`.
    pub id: [u8; 64],
    /// Version, such as `1.2.0`.
    pub version: [u8; 32],
    /// Name of the author.
    pub author: [u8; 64],
    /// Language, such as `rust`.
    pub language: [u8; 16],
    /// Identifies the build; any text.
    pub build_id: [u8; 32],
    /// Description of the plugin, in one sentence.
    pub doc: [u8; 160],
}

/// Functions that the host offers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RwHost {
    /// Size of this structure, bytes.
    pub size: u32,
    /// [`ABI_MAJOR`] of the host.
    pub abi_major: u16,
    /// [`ABI_MINOR`] of the host.
    pub abi_minor: u16,
    /// Context that is passed to every function below.
    pub ctx: *mut c_void,
    /// Version of the host, UTF-8.
    pub version: *const c_char,
    /// Length of `version`, bytes.
    pub version_length: u64,
    /// Writes a line to the host's log. May be called from any thread. The number of lines is limited.
    pub log: Option<unsafe extern "C" fn(*mut c_void, u32, *const c_char, u64)>,
    /// Returns 1 if the host has abandoned the calls in progress in this library, otherwise 0. The
    /// answers of abandoned calls will not be used, so these calls should return. `roadwright run`
    /// abandons a call after 20 s (2 s after Ctrl-C), isolated calls are abandoned after 2 s, and
    /// the editor never abandons calls. The function never returns 1 in a call whose answer is
    /// used. May be called from any thread.
    pub cancelled: Option<unsafe extern "C" fn(*mut c_void) -> u32>,
    /// Returns an extension of the host by its id, or null if the host does not know it. This version has no
    /// extensions.
    pub get_extension:
        Option<unsafe extern "C" fn(*mut c_void, *const c_char, u64) -> *const c_void>,
}

/// An instance of a plugin, which is opaque to the host.
#[repr(C)]
pub struct RwInstance {
    _opaque: [u8; 0],
}

/// Callback that receives a part of the saved state.
pub type RwWrite = unsafe extern "C" fn(*mut c_void, *const u8, u64) -> i32;

/// Function table of a plugin. A null entry means that the plugin does not implement that function.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RwApi {
    /// Size of this structure, bytes. The host sets it, and an older plugin reduces it.
    pub size: u32,
    /// Unused; always 0.
    pub reserved: u32,
    /// Creates an instance for a kind of module. The host structure outlives the instance.
    pub create: Option<unsafe extern "C" fn(*const RwHost, u32, *mut *mut RwInstance) -> i32>,
    /// Destroys an instance.
    pub destroy: Option<unsafe extern "C" fn(*mut RwInstance)>,
    /// Answers all rows of a batch.
    pub step: Option<unsafe extern "C" fn(*mut RwInstance, *mut RwBatch) -> i32>,
    /// Reports the indices of added agents (third argument and count) and of removed agents (fifth argument
    /// and count), both ordered by agent id. All indices are smaller than the second argument. No index is in
    /// both lists, because a removal is reported at least one call before another agent gets the index.
    pub agents_changed:
        Option<unsafe extern "C" fn(*mut RwInstance, u32, *const u32, u32, *const u32, u32) -> i32>,
    /// Returns the number of parameters.
    pub param_count: Option<unsafe extern "C" fn(*mut RwInstance) -> u32>,
    /// Fills in the description of the parameter at an index.
    pub param_info: Option<unsafe extern "C" fn(*mut RwInstance, u32, *mut RwParamInfo) -> i32>,
    /// Reads the value of the parameter at an index.
    pub param_get: Option<unsafe extern "C" fn(*mut RwInstance, u32, *mut f64) -> i32>,
    /// Sets the parameter at an index.
    pub param_set: Option<unsafe extern "C" fn(*mut RwInstance, u32, f64) -> i32>,
    /// Writes the state in parts and returns its schema number.
    pub state_save:
        Option<unsafe extern "C" fn(*mut RwInstance, RwWrite, *mut c_void, *mut u32) -> i32>,
    /// Restores a state with the given schema number.
    pub state_load: Option<unsafe extern "C" fn(*mut RwInstance, *const u8, u64, u32) -> i32>,
    /// Copies the last error as UTF-8 and returns its full length. With a null instance, this is the error of
    /// `create`.
    pub last_error: Option<unsafe extern "C" fn(*mut RwInstance, *mut c_char, u64) -> u64>,
    /// Returns an extension of the plugin by its id, or null.
    pub get_extension: Option<unsafe extern "C" fn(*const c_char, u64) -> *const c_void>,
}

/// Fills the table of functions and returns a status.
pub type RwMain = unsafe extern "C" fn(*const RwHost, *mut RwApi) -> i32;

/// A batch of rows of one kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RwBatch {
    /// Size of this structure, bytes.
    pub size: u32,
    /// Number of rows.
    pub count: u32,
    /// Number of the step.
    pub step: u64,
    /// Simulation time, s.
    pub time: f64,
    /// Time until the same agent is in a batch again, s.
    pub period: f64,
    /// Agent id of each row.
    pub agent_ids: *const u64,
    /// Index of the agent of each row.
    pub agent_indices: *const u32,
    /// Random number of each row. It depends on run, agent and step.
    pub seeds: *const u64,
    /// First input row.
    pub inputs: *const c_void,
    /// First output row.
    pub outputs: *mut c_void,
    /// Distance between input rows, bytes.
    pub input_stride: u32,
    /// Distance between output rows, bytes.
    pub output_stride: u32,
    /// `ROW_*` of each row; zero before the call.
    pub status: *mut u8,
    /// The roads, for planners; otherwise null.
    pub roads: *const RwRoads,
    /// Buffer where planners write the lanelets of routes.
    pub route: *mut u32,
    /// Capacity of `route`.
    pub route_capacity: u32,
    /// Number of lanelets written to `route`.
    pub route_length: u32,
    /// Views, indexed by `VIEW_*`. Views that the plugin did not request are empty. Since 1.3, like the following
    /// fields.
    pub views: *const RwView,
    /// Number of views.
    pub view_count: u32,
    /// Distance between two views, bytes.
    pub view_stride: u32,
    /// Buffer where ground planners write the poses of paths. Since 1.5, like the following fields;
    /// only for ground planners.
    pub poses: *mut PlanPose,
    /// Capacity of `poses`.
    pub pose_capacity: u32,
    /// Number of poses written to `poses`.
    pub pose_length: u32,
}

/// An array to which rows of a batch refer by index. Since 1.3.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RwView {
    /// First record.
    pub data: *const c_void,
    /// Number of records.
    pub count: u32,
    /// Distance between two records, bytes.
    pub stride: u32,
    /// Version; changes whenever the contents change. 0 if they may differ in every call.
    pub version: u64,
}

/// A lanelet: a stretch of lane or a connection through a junction.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RwLanelet {
    /// Length of the lanelet, m.
    pub length: f64,
    /// Speed limit, m/s. For a connection, this is the mean speed through its bends if that speed is lower.
    pub speed_limit: f64,
    /// Width of the lanelet, m.
    pub width: f64,
    /// First successor in [`RwRoads::successors`].
    pub first_successor: u32,
    /// Number of successors of the lanelet.
    pub successor_count: u32,
    /// Lane to the left that vehicles can change to, or [`NO_LANELET`].
    pub left: u32,
    /// Lane to the right that vehicles can change to, or [`NO_LANELET`].
    pub right: u32,
    /// First point of the centre line in [`RwRoads::points`].
    pub first_point: u32,
    /// Number of points, at least two, evenly spaced.
    pub point_count: u32,
    /// `LANELET_*`, combined by bitwise or.
    pub flags: u32,
    /// Turn of a connection: 1 left, -1 right, 2 U-turn, 0 straight on.
    pub turn: i32,
}

/// A point of a centre line.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RwPoint {
    /// East (x) coordinate, m.
    pub x: f64,
    /// North (y) coordinate, m.
    pub y: f64,
}

/// The roads as planners see them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RwRoads {
    /// Size of this structure, bytes.
    pub size: u32,
    /// Number of lanelets. This is also the number of delays.
    pub lanelet_count: u32,
    /// Total number of successors in `successors`.
    pub successor_count: u32,
    /// Total number of points in `points`.
    pub point_count: u32,
    /// Version; changes whenever the roads change.
    pub version: u64,
    /// All lanelets of the road network.
    pub lanelets: *const RwLanelet,
    /// Successors of all lanelets.
    pub successors: *const u32,
    /// Points of all centre lines, m.
    pub points: *const RwPoint,
    /// Expected delay on each lanelet because of queues, s.
    pub delays: *const f32,
}

/// Description of a parameter.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RwParamInfo {
    /// Stable key, UTF-8.
    pub key: [u8; 32],
    /// Display name.
    pub label: [u8; 48],
    /// Group, with `/` between the levels of a tree.
    pub group: [u8; 48],
    /// Unit, such as `m/s`.
    pub unit: [u8; 16],
    /// `PARAM_NUMBER` to `PARAM_CHOICE`.
    pub kind: u32,
    /// `PARAM_HIDDEN` or 0. Other bits must be 0.
    pub flags: u32,
    /// Smallest permitted value.
    pub min: f64,
    /// Largest permitted value.
    pub max: f64,
    /// Default value.
    pub default: f64,
    /// Step of the slider; 0 for a continuous slider.
    pub step: f64,
    /// Description of the parameter, in one sentence.
    pub doc: [u8; 160],
    /// Options of a `PARAM_CHOICE` parameter, separated by `|`.
    pub choices: [u8; 256],
}

/// Additional functions of controllers: extension [`CONTROLLER_EXTENSION`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RwControllerExtension {
    /// Size of this structure, bytes.
    pub size: u32,
    /// Unused; always 0.
    pub reserved: u32,
    /// Returns the distance (m) and the time (s) of the lookahead to the waypoint. The lookahead is the
    /// distance, or the time multiplied by the speed if that is larger.
    pub lookahead: Option<unsafe extern "C" fn(*mut RwInstance, *mut f64, *mut f64) -> i32>,
}

/// Makes a controller drive by pedals: extension [`PEDALS_EXTENSION`]. A host that knows the extension calls
/// its function instead of [`RwApi::step`]; other hosts call [`RwApi::step`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RwPedalsExtension {
    /// Size of this structure, bytes.
    pub size: u32,
    /// Unused; always 0.
    pub reserved: u32,
    /// Answers a batch with rows of [`PedalsOutput`](crate::PedalsOutput). Input rows are the same as for
    /// other controllers. The third argument points to one [`DriveInput`](crate::DriveInput) per row, and the
    /// fourth is the distance in bytes between two of these inputs.
    pub step:
        Option<unsafe extern "C" fn(*mut RwInstance, *mut RwBatch, *const c_void, u32) -> i32>,
}

/// Description of a parameter in [`RwParametersExtension`]. Since 1.2.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RwParameter {
    /// Size of this structure, bytes. The host sets it; fields beyond it must not be written.
    pub size: u32,
    /// `PARAM_NUMBER` to `PARAM_TABLE`.
    pub kind: u32,
    /// `PARAM_HIDDEN` or 0. Other bits must be 0.
    pub flags: u32,
    /// Number of words of a choice.
    pub choices: u32,
    /// Number of rows of a table.
    pub rows: u32,
    /// Number of columns of a table.
    pub columns: u32,
    /// Smallest permitted value.
    pub min: f64,
    /// Largest permitted value.
    pub max: f64,
    /// Stable key, UTF-8.
    pub key: [u8; 64],
    /// Unit, such as `m/s`.
    pub unit: [u8; 16],
}

/// Parameters of a module, including tables of numbers: extension [`PARAMETERS_EXTENSION`]. A host that knows
/// it calls its functions instead of the four functions for parameters of [`RwApi`]. Since 1.2.
///
/// Values are passed in arrays: one for each cell of a table, row by row, and one for every other parameter.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RwParametersExtension {
    /// Size of this structure, bytes.
    pub size: u32,
    /// Unused; always 0.
    pub reserved: u32,
    /// Returns the number of parameters.
    pub count: Option<unsafe extern "C" fn(*mut RwInstance) -> u32>,
    /// Fills in the description of the parameter at an index.
    pub info: Option<unsafe extern "C" fn(*mut RwInstance, u32, *mut RwParameter) -> i32>,
    /// Copies as many bytes of a text as fit into the buffer, and returns the full length of the text. The third
    /// argument is a `TEXT_*`, the fourth the index of the word, row or column.
    pub text: Option<unsafe extern "C" fn(*mut RwInstance, u32, u32, u32, *mut c_char, u64) -> u64>,
    /// Writes the default values.
    pub defaults: Option<unsafe extern "C" fn(*mut RwInstance, u32, *mut f64, u32) -> i32>,
    /// Writes the current values.
    pub get: Option<unsafe extern "C" fn(*mut RwInstance, u32, *mut f64, u32) -> i32>,
    /// Sets the values of a parameter.
    pub set: Option<unsafe extern "C" fn(*mut RwInstance, u32, *const f64, u32) -> i32>,
}

/// Request of a controller or ground planner in [`RwNeedsExtension`]. The plugin gets no data beyond this request.
/// Since 1.3; for ground planners since 1.5.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RwNeeds {
    /// Size of this structure, bytes. The host sets it; fields beyond it must not be written.
    pub size: u32,
    /// Maximum number of points of the path, 2 to 1000.
    pub path_most: u32,
    /// `NEED_*`, combined by bitwise or.
    pub groups: u64,
    /// Reach of the path ahead, m, at most 1000. If `path_time` multiplied by the speed is larger, that
    /// distance is used instead.
    pub path_distance: f64,
    /// Reach of the path as a time, s, at most 60.
    pub path_time: f64,
    /// Distance between the points of the path, m, 0.1 to 50.
    pub path_spacing: f64,
    /// Maximum distance of the objects that are listed, m, at most 500. Since 1.4, like the
    /// following fields.
    pub near_radius: f64,
    /// Maximum number of objects per row, 1 to 1000.
    pub near_most: u32,
    /// Unused; always 0.
    pub reserved: u32,
    /// Size of the cells of the map, m, 0.2 to 4. Since 1.5.
    pub grid_cell: f64,
}

/// Requests of a controller or ground planner for the contents of its rows and views: extension
/// [`NEEDS_EXTENSION`]. Since 1.3; for ground planners since 1.5.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RwNeedsExtension {
    /// Size of this structure, bytes.
    pub size: u32,
    /// Unused; always 0.
    pub reserved: u32,
    /// Fills in the needs. Called after `create`, after parameters have changed, and after `state_load`.
    pub needs: Option<unsafe extern "C" fn(*mut RwInstance, *mut RwNeeds) -> i32>,
}

/// Returns a string as a zero-padded field of fixed size. A string that is too long is truncated at a
/// character boundary.
pub const fn text<const N: usize>(text: &str) -> [u8; N] {
    let bytes = text.as_bytes();
    let mut length = if bytes.len() < N { bytes.len() } else { N - 1 };
    // Do not cut inside a character: bytes of the form 10xxxxxx continue a character.
    while length < bytes.len() && length > 0 && bytes[length] & 0xc0 == 0x80 {
        length -= 1;
    }
    let mut field = [0; N];
    let mut i = 0;
    while i < length {
        field[i] = bytes[i];
        i += 1;
    }
    field
}

/// Returns the string in a field of fixed size, up to the first zero byte. Invalid UTF-8 is replaced.
pub fn text_of(field: &[u8]) -> String {
    let end = field.iter().position(|&byte| byte == 0);
    String::from_utf8_lossy(&field[..end.unwrap_or(field.len())]).into_owned()
}

/// Size of [`RwNeeds`] for plugins built for version 1.3, bytes.
pub const OLD_NEEDS: usize = 40;

/// Size of [`RwNeeds`] for plugins built for version 1.4, bytes.
pub const NEEDS_1_4: usize = 56;

/// Size of [`RwBatch`] in versions before 1.3, bytes. Plugins without needs get a batch of this size, except ground
/// planners.
pub const OLD_BATCH: usize = 112;

/// Size of [`RwBatch`] in versions before 1.5, bytes. Controllers with needs get a batch of this size.
pub const VIEWS_BATCH: usize = 128;

// Plugins are compiled for these offsets. A change needs a new major version, so it fails to compile here
// instead of crashing in a plugin.
const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<*const u8>() == 8, "64-bit platforms only");
    assert!(size_of::<RwPluginInfo>() == 472);
    assert!(offset_of!(RwPluginInfo, kinds) == 20);
    assert!(offset_of!(RwPluginInfo, caps) == 24);
    assert!(offset_of!(RwPluginInfo, name) == 40);
    assert!(offset_of!(RwPluginInfo, id) == 104);
    assert!(offset_of!(RwPluginInfo, doc) == 312);
    assert!(size_of::<RwHost>() == 56);
    assert!(offset_of!(RwHost, ctx) == 8);
    assert!(size_of::<RwApi>() == 104);
    assert!(offset_of!(RwApi, create) == 8);
    assert!(offset_of!(RwApi, get_extension) == 96);
    assert!(size_of::<RwBatch>() == 144);
    assert!(offset_of!(RwBatch, poses) == VIEWS_BATCH);
    assert!(offset_of!(RwBatch, poses) == 128);
    assert!(offset_of!(RwBatch, agent_ids) == 32);
    assert!(offset_of!(RwBatch, input_stride) == 72);
    assert!(offset_of!(RwBatch, status) == 80);
    assert!(offset_of!(RwBatch, route_length) == 108);
    assert!(offset_of!(RwBatch, views) == OLD_BATCH);
    assert!(offset_of!(RwBatch, views) == 112);
    assert!(size_of::<RwView>() == 24);
    assert!(size_of::<RwLanelet>() == 56);
    assert!(size_of::<RwPoint>() == 16);
    assert!(size_of::<RwRoads>() == 56);
    assert!(size_of::<RwParamInfo>() == 600);
    assert!(offset_of!(RwParamInfo, min) == 152);
    assert!(offset_of!(RwParamInfo, choices) == 344);
    assert!(size_of::<RwControllerExtension>() == 16);
    assert!(size_of::<RwPedalsExtension>() == 16);
    assert!(size_of::<RwParameter>() == 120);
    assert!(offset_of!(RwParameter, min) == 24);
    assert!(offset_of!(RwParameter, unit) == 104);
    assert!(size_of::<RwParametersExtension>() == 56);
    assert!(offset_of!(RwParametersExtension, set) == 48);
    assert!(size_of::<RwNeeds>() == 64);
    assert!(offset_of!(RwNeeds, grid_cell) == NEEDS_1_4);
    assert!(offset_of!(RwNeeds, grid_cell) == 56);
    assert!(offset_of!(RwNeeds, near_radius) == OLD_NEEDS);
    assert!(offset_of!(RwNeeds, near_radius) == 40);
    assert!(offset_of!(RwNeeds, path_spacing) == 32);
    assert!(size_of::<RwNeedsExtension>() == 16);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_their_fields() {
        assert_eq!(text_of(&text::<8>("abc")), "abc");
        assert_eq!(text_of(&text::<4>("abcdef")), "abc");
        // The umlaut takes two bytes and is dropped entirely.
        assert_eq!(text_of(&text::<4>("ab\u{e4}")), "ab");
        assert_eq!(text_of(&[b'x', 0xff, 0]), "x\u{fffd}");
        assert_eq!(text_of(b"full"), "full");
    }
}
