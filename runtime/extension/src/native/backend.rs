//! Backends that answer batches: libraries that are loaded into this process or into a separate
//! one.

use super::roads::FlatRoads;
use crate::lock::locked;
use roadwright_agent::{
    Lookahead, Needs, ParameterInfo, ParameterKind, ParameterTable, Step, TableCell, Views,
};
use roadwright_plugin_api::PlanPose;
use roadwright_plugin_api::abi::{
    PARAM_BOOL, PARAM_CHOICE, PARAM_HIDDEN, PARAM_INTEGER, RwParamInfo, text_of,
};
use roadwright_scenario::cell_key;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Maximum number of rows in one call.
pub(crate) const MOST_ROWS: usize = 1024;
/// Maximum total length of the routes in one call, in lanelets.
pub(crate) const MOST_ROUTE: usize = 1 << 18;
/// Maximum number of poses of a path of a ground planner.
pub(crate) const MOST_POSES: usize = 1 << 13;

/// A batch of rows as bytes.
pub(crate) struct Batch<'a> {
    pub(crate) step: Step<'a>,
    pub(crate) seeds: &'a [u64],
    pub(crate) inputs: &'a [u8],
    pub(crate) outputs: &'a mut [u8],
    /// Whether the rows are for controllers with pedals. A [`DriveInput`](roadwright_plugin_api::DriveInput) is
    /// then at the end of each row.
    pub(crate) by_pedals: bool,
    /// Lists that the rows refer to, for controllers that ask for them.
    pub(crate) views: Option<Views<'a>>,
    pub(crate) status: &'a mut [u8],
    pub(crate) roads: Option<&'a FlatRoads>,
    pub(crate) delays: &'a [f32],
    /// Buffer for the routes of planners; empty for other kinds.
    pub(crate) route: &'a mut [u32],
    pub(crate) route_length: u32,
    /// Buffer for the paths of ground planners; empty for other kinds.
    pub(crate) poses: &'a mut [PlanPose],
    pub(crate) pose_length: u32,
}

impl Batch<'_> {
    pub(crate) fn rows(&self) -> usize {
        self.status.len()
    }
}

/// A failed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Message for users, with the location if it is known.
    pub(crate) message: String,
    /// Whether the instance can no longer be used.
    pub(crate) is_fatal: bool,
    /// Whether the fault depends on the machine, because a process died or a time limit was exceeded. If the
    /// run is repeated, such a fault may occur at another time or not at all.
    pub(crate) depends_on_machine: bool,
}

impl Fault {
    /// Creates a fault that is reproducible and makes the instance unusable.
    pub(crate) fn fatal(message: String) -> Self {
        Self {
            message,
            is_fatal: true,
            depends_on_machine: false,
        }
    }

    /// Creates a fault that depends on the machine and makes the instance unusable.
    pub(crate) fn of_process(message: String) -> Self {
        Self {
            depends_on_machine: true,
            ..Self::fatal(message)
        }
    }
}

/// Saved state of an instance, with its schema number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct State {
    pub(crate) schema: u32,
    pub(crate) bytes: Vec<u8>,
}

/// An instance of a plugin, in this process or in another one.
pub(crate) trait Backend: Send + Sync {
    /// Answers a batch. Returns whether the plugin changed the floating-point mode.
    fn step(&self, batch: &mut Batch<'_>) -> Result<bool, Fault>;
    /// Reports added and removed agents.
    fn agents_changed(&self, capacity: u32, added: &[u32], removed: &[u32]) -> Result<(), Fault>;
    /// Returns the descriptions of the parameters.
    fn parameters(&self) -> &'static [ParameterInfo];
    /// Sets the parameter at an index, or all cells of a table that begins there.
    fn set_parameter(&self, index: usize, values: &[f64]) -> Result<(), Fault>;
    /// Returns how far ahead the plugin wants its waypoint, as a distance and a time, if it
    /// specifies them.
    fn lookahead(&self) -> Option<Lookahead>;
    /// Returns the data that the plugin requests in addition to its rows; `None` if it requests
    /// none.
    fn needs(&self) -> Result<Option<Needs>, Fault>;
    /// Whether the plugin is a controller with pedals, which receives a different kind of rows.
    fn by_pedals(&self) -> bool;
    /// Returns the state; `None` if the plugin keeps no state.
    fn save(&self) -> Option<State>;
    /// Restores a saved state.
    fn load(&self, state: &State) -> Result<(), String>;
}

/// Returns the bytes of rows.
#[expect(unsafe_code, reason = "rows are handed to plugins as bytes")]
pub(crate) fn bytes_of<T: Row>(rows: &[T]) -> &[u8] {
    // SAFETY: rows have no padding, so all of their bytes are set.
    unsafe { std::slice::from_raw_parts(rows.as_ptr().cast(), size_of_val(rows)) }
}

/// Returns the bytes of rows, mutably.
#[expect(unsafe_code, reason = "rows are handed to plugins as bytes")]
pub(crate) fn bytes_of_mut<T: Row>(rows: &mut [T]) -> &mut [u8] {
    // SAFETY: rows have no padding, and every pattern of bits is a row.
    unsafe { std::slice::from_raw_parts_mut(rows.as_mut_ptr().cast(), size_of_val(rows)) }
}

/// A record without padding. Every bit pattern is a valid value.
///
/// # Safety
/// The type must have these properties.
#[expect(unsafe_code, reason = "the compiler cannot check these properties")]
pub(crate) unsafe trait Row: Copy + Default + Send + Sync + 'static {}

macro_rules! rows {
    ($($row:ty),*) => {$(
        // SAFETY: `repr(C)` with numbers only, and as large as the sum of its fields.
        #[expect(unsafe_code, reason = "see the safety comment")]
        unsafe impl Row for $row {}
    )*};
}

rows!(
    roadwright_plugin_api::ControllerInput,
    roadwright_plugin_api::ControllerOutput,
    roadwright_plugin_api::NeedsInput,
    roadwright_plugin_api::NeedsPedalsInput,
    roadwright_plugin_api::VehicleData,
    roadwright_plugin_api::HitchData,
    roadwright_plugin_api::PathPoint,
    roadwright_plugin_api::ObjectData,
    roadwright_plugin_api::NearData,
    roadwright_plugin_api::PedalsInput,
    roadwright_plugin_api::PedalsOutput,
    roadwright_plugin_api::FitnessInput,
    roadwright_plugin_api::FitnessOutput,
    roadwright_plugin_api::PlannerInput,
    roadwright_plugin_api::PlannerOutput,
    roadwright_plugin_api::SignalInput,
    roadwright_plugin_api::SignalOutput,
    roadwright_plugin_api::GroundPlannerInput,
    roadwright_plugin_api::GroundPlannerOutput,
    roadwright_plugin_api::PlanPose,
    roadwright_plugin_api::GridData,
    roadwright_plugin_api::abi::RwLanelet,
    roadwright_plugin_api::abi::RwPoint,
    f32,
    f64,
    u64,
    u32,
    u16,
    u8
);

/// Returns a plugin's string without terminal control characters.
pub(crate) fn printable(text: &str) -> String {
    let plain = |c: char| match c {
        '\n' | '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(plain).collect()
}

/// Returns the string with a static lifetime. Equal strings are stored only once.
pub(crate) fn intern(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    // Never freed, because descriptions of modules are `'static` like those of built-in modules. A build that
    // is loaded again has the same texts, so the memory is limited by the texts of different builds.
    let mut known = locked(&KNOWN);
    if let Some(known) = known.get(text) {
        return known;
    }
    let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
    known.insert(kept);
    kept
}

/// Returns the descriptions with a static lifetime. Equal lists are stored only once.
pub(crate) fn intern_parameters(infos: Vec<ParameterInfo>) -> &'static [ParameterInfo] {
    static KNOWN: Mutex<Vec<&'static [ParameterInfo]>> = Mutex::new(Vec::new());
    let mut known = locked(&KNOWN);
    if let Some(known) = known.iter().find(|known| **known == infos) {
        return known;
    }
    let kept: &'static [ParameterInfo] = Box::leak(infos.into_boxed_slice());
    known.push(kept);
    kept
}

/// Returns the table with a static lifetime. Equal tables are stored only once.
pub(crate) fn intern_table(table: ParameterTable) -> &'static ParameterTable {
    static KNOWN: Mutex<Vec<&'static ParameterTable>> = Mutex::new(Vec::new());
    let mut known = locked(&KNOWN);
    if let Some(known) = known.iter().find(|known| ***known == table) {
        return known;
    }
    let kept: &'static ParameterTable = Box::leak(Box::new(table));
    known.push(kept);
    kept
}

/// A plugin's description of a parameter or table.
pub(crate) struct Described {
    pub(crate) key: String,
    pub(crate) unit: String,
    pub(crate) doc: String,
    /// Kind of the parameter, `PARAM_*`.
    pub(crate) kind: u32,
    pub(crate) words: Vec<String>,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Described {
    /// Reads a parameter description in the layout of ABI 1.0. Returns it together with the default
    /// value of the parameter.
    pub(crate) fn old(raw: &RwParamInfo) -> (Self, f64) {
        let text = |field: &[u8]| printable(&text_of(field));
        let described = Self {
            key: text(&raw.key),
            unit: text(&raw.unit),
            doc: text(&raw.doc),
            kind: raw.kind,
            words: text_of(&raw.choices)
                .split('|')
                .map(str::to_owned)
                .collect(),
            min: raw.min,
            max: raw.max,
        };
        (described, raw.default)
    }

    /// Converts the description to a parameter with the given default, and corrects invalid values.
    pub(crate) fn parameter(&self, default: f64) -> ParameterInfo {
        let words: Vec<&'static str> = self.words.iter().map(|word| intern(word)).collect();
        let kind = match self.kind {
            PARAM_INTEGER => ParameterKind::Integer,
            PARAM_BOOL => ParameterKind::Choice(&["off", "on"]),
            // A choice with fewer than two words is shown as a number, because there is nothing to choose from.
            PARAM_CHOICE if words.len() > 1 => ParameterKind::Choice(intern_words(words)),
            _ => ParameterKind::Number,
        };
        let (min, max) = match kind {
            // The value of a choice is the index of its word, regardless of the range that the plugin states.
            ParameterKind::Choice(words) => (0.0, words.len() as f64 - 1.0),
            _ if self.min.is_finite() && self.max.is_finite() && self.min <= self.max => {
                (self.min, self.max)
            }
            // The range is wide but finite, because sliders and genes need limits.
            _ => (-1e9, 1e9),
        };
        let default = if default.is_finite() {
            default.clamp(min, max)
        } else {
            min
        };
        ParameterInfo {
            key: intern(&self.key),
            unit: intern(&self.unit),
            kind,
            min,
            max,
            default,
            doc: intern(&self.doc),
            cell: None,
        }
    }

    /// Returns the cells of a table with their defaults, row by row.
    pub(crate) fn cells(
        &self,
        table: &'static ParameterTable,
        defaults: &[f64],
    ) -> Vec<ParameterInfo> {
        let rows =
            (0..table.rows).flat_map(|row| (0..table.columns).map(move |column| (row, column)));
        let cell = |((row, column), &default): ((u32, u32), &f64)| ParameterInfo {
            key: intern(&cell_key(table.key, row, column)),
            cell: Some(TableCell { table, row, column }),
            ..self.parameter(default)
        };
        rows.zip(defaults).map(cell).collect()
    }
}

/// Whether a parameter is shown to users.
pub(crate) fn is_shown(raw: &RwParamInfo) -> bool {
    raw.flags & PARAM_HIDDEN == 0
}

pub(crate) fn intern_words(words: Vec<&'static str>) -> &'static [&'static str] {
    static KNOWN: Mutex<Vec<&'static [&'static str]>> = Mutex::new(Vec::new());
    let mut known = locked(&KNOWN);
    if let Some(known) = known.iter().find(|known| **known == words) {
        return known;
    }
    let kept: &'static [&'static str] = Box::leak(words.into_boxed_slice());
    known.push(kept);
    kept
}
