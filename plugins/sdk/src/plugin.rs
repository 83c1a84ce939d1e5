//! Traits and types for plugin authors.

use crate::parameters::Parameters;
use roadwright_plugin_api::abi::{
    ABI_MAJOR, ABI_MINOR, CAP_ALONG_BEND, CAP_DETERMINISTIC, CAP_FULL_CONDUCT,
    CAP_HIGHER_IS_BETTER, CAP_PARALLEL_SLICES, CAP_STATE, CAP_STATELESS, CAP_WANTS_DEFAULTS,
    KIND_FITNESS, KIND_SIGNAL_CONTROLLER, MAGIC, ROW_SCHEMA, RwLanelet, RwPluginInfo, RwPoint,
    RwRoads, RwView, text,
};
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, DriveInput, FitnessInput, FitnessOutput, HitchData,
    NearData, NeedsInput, ObjectData, PathPoint, PedalsOutput, PlannerInput, PlannerOutput,
    SignalInput, VehicleData,
};
use std::marker::PhantomData;

/// Description of a plugin.
#[derive(Clone, Copy)]
pub struct PluginInfo {
    pub(crate) raw: RwPluginInfo,
}

impl PluginInfo {
    /// Creates a description from an id in reverse domain order, a display name and a version.
    pub const fn new(id: &str, name: &str, version: &str) -> Self {
        Self {
            raw: RwPluginInfo {
                magic: MAGIC,
                info_size: size_of::<RwPluginInfo>() as u32,
                abi_major: ABI_MAJOR,
                abi_minor: ABI_MINOR,
                min_host_minor: 0,
                reserved: 0,
                kinds: 0,
                caps: CAP_DETERMINISTIC,
                row_schema: ROW_SCHEMA,
                name: text(name),
                id: text(id),
                version: text(version),
                author: [0; 64],
                language: text("rust"),
                build_id: [0; 32],
                doc: [0; 160],
            },
        }
    }

    /// Sets the description, in one sentence.
    pub const fn doc(mut self, doc: &str) -> Self {
        self.raw.doc = text(doc);
        self
    }

    /// Sets the author.
    pub const fn author(mut self, author: &str) -> Self {
        self.raw.author = text(author);
        self
    }

    /// Declares that [`Plugin::save`] and [`Plugin::load`] pass the state on to the next version of the
    /// plugin.
    pub const fn keeps_state(mut self) -> Self {
        self.raw.caps |= CAP_STATE;
        self
    }

    /// Declares that the plugin keeps no state between steps, or only what it can compute again.
    pub const fn stateless(mut self) -> Self {
        self.raw.caps |= CAP_STATELESS;
        self
    }

    /// Requests that output rows contain the built-in module's answer before the plugin is called.
    pub const fn wants_defaults(mut self) -> Self {
        self.raw.caps |= CAP_WANTS_DEFAULTS;
        self
    }

    /// Declares that higher scores of the fitness are better.
    pub const fn higher_is_better(mut self) -> Self {
        self.raw.caps |= CAP_HIGHER_IS_BETTER;
        self
    }

    /// Declares that the fitness needs the fields of [`Conduct`](roadwright_plugin_api::Conduct) that are
    /// only recorded if a fitness of the run needs them: `least_post_encroachment`, `goal_distance` and all
    /// fields after it.
    pub const fn needs_full_conduct(mut self) -> Self {
        self.raw.caps |= CAP_FULL_CONDUCT;
        self
    }

    /// Declares that the controller steers along the circle through its waypoint. The waypoint then lies on the
    /// circle that the lane follows just ahead, so that the vehicle follows bends exactly instead of cutting
    /// them.
    pub const fn aims_along_bend(mut self) -> Self {
        self.raw.caps |= CAP_ALONG_BEND;
        self
    }

    /// Withdraws the declaration that equal inputs give equal outputs.
    pub const fn not_deterministic(mut self) -> Self {
        self.raw.caps &= !CAP_DETERMINISTIC;
        self
    }

    /// Requires hosts with at least the given minor version of the interface.
    pub(crate) const fn requires(mut self, minor: u16) -> Self {
        self.raw.min_host_minor = minor;
        self
    }

    /// Returns the exported bytes for a plugin of the given kinds.
    pub const fn raw(mut self, kinds: u32) -> RwPluginInfo {
        self.raw.kinds = kinds;
        if kinds & KIND_SIGNAL_CONTROLLER != 0 {
            self.raw.min_host_minor = 1;
        }
        if kinds & KIND_FITNESS != 0 {
            // Older hosts have shorter rows, without `FitnessInput::conduct`.
            self.raw.min_host_minor = 2;
        }
        // Safe plugins are called by `&mut`, so they never answer two slices at the same time, whatever they
        // declare.
        self.raw.caps &= !CAP_PARALLEL_SLICES;
        self.raw
    }
}

/// Functions that plugins of all kinds have in common. The `Default` of a plugin is a fresh instance, and the
/// values of its fields are the defaults of the parameters.
pub trait Plugin: Default + Send + 'static {
    /// Description of the plugin.
    const INFO: PluginInfo;

    /// Lists the parameters with their fields.
    fn parameters(&mut self, _: &mut Parameters<'_>) {}

    /// Called once, before all other functions.
    fn start(&mut self, _: &Host) {}

    /// Notifies the plugin of agents that were added or removed. Called between two batches, before the first
    /// row of an added agent.
    fn agents_changed(&mut self, _: &AgentsChanged<'_>) {}

    /// Returns the state with its schema number; `None` if there is none.
    fn save(&self) -> Option<(u32, Vec<u8>)> {
        None
    }

    /// Restores a state with the given schema number, saved by this version or another version.
    ///
    /// # Errors
    /// If the state cannot be restored. The host then starts the instance fresh and reports the error.
    fn load(&mut self, schema: u32, _: &[u8]) -> Result<(), String> {
        Err(format!("unknown state schema {schema}"))
    }
}

/// The agent of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agent {
    /// Id of the agent.
    pub id: u64,
    /// Agent index, which is a dense number that the agent keeps while it drives. `agents_changed` reports
    /// when another agent gets the index.
    pub index: u32,
    /// A random number that depends on run, agent and step.
    pub seed: u64,
}

/// The step to which a batch belongs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepInfo {
    /// Number of the step.
    pub step: u64,
    /// Simulation time, s.
    pub time: f64,
    /// Time until the same agent is in a batch again, s.
    pub period: f64,
}

/// Agents that were added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentsChanged<'a> {
    /// Upper bound of agent indices (exclusive).
    pub capacity: u32,
    /// Indices of added agents, ordered by agent id.
    pub added: &'a [u32],
    /// Indices of removed agents, ordered by agent id. No index is in both lists, because a removal is reported
    /// at least one call before another agent gets the index.
    pub removed: &'a [u32],
}

/// Distance at which a controller wants its waypoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookahead {
    /// Minimum distance, m.
    pub distance: f64,
    /// Time that is multiplied by the speed, s. The larger of the two distances is used.
    pub time: f64,
}

impl Default for Lookahead {
    fn default() -> Self {
        Self {
            distance: 4.5,
            time: 0.6,
        }
    }
}

/// A plugin that steers and accelerates.
pub trait Controller: Plugin {
    /// Called before each batch.
    fn begin(&mut self, _: &StepInfo) {}

    /// Answers for one agent.
    fn control(&mut self, agent: &Agent, input: &ControllerInput, output: &mut ControllerOutput);

    /// Returns the lookahead to the waypoint.
    fn lookahead(&self) -> Lookahead {
        Lookahead::default()
    }
}

/// A plugin that drives with steering, throttle, brakes and gears. On a host without support for pedals, the
/// built-in module drives instead.
pub trait PedalController: Plugin {
    /// Called before each batch.
    fn begin(&mut self, _: &StepInfo) {}

    /// Answers for one agent. `drive` describes the current capabilities of the agent's vehicle.
    fn press(
        &mut self,
        agent: &Agent,
        input: &ControllerInput,
        drive: &DriveInput,
        output: &mut PedalsOutput,
    );

    /// Returns the lookahead to the waypoint.
    fn lookahead(&self) -> Lookahead {
        Lookahead::default()
    }
}

/// Request for the path ahead by a [`ModelController`]. The controller gets no points beyond this request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathNeeds {
    /// Minimum reach, m, at most 1000.
    pub distance: f64,
    /// Reach as a time, s, at most 60. Multiplied by the speed, it gives a second distance; the
    /// larger one is used.
    pub time: f64,
    /// Distance between two points, m, 0.1 to 50.
    pub spacing: f64,
    /// Maximum number of points, 2 to 1000.
    pub most: u32,
}

/// Request for nearby objects by a [`ModelController`]. The controller gets no objects beyond this
/// request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearNeeds {
    /// Distance within which objects are listed, m, at most 500.
    pub radius: f64,
    /// Maximum number of objects of an agent, 1 to 1000. The nearest ones are listed.
    pub most: u32,
    /// Whether trees are included.
    pub trees: bool,
}

/// Vehicle of an agent, its path ahead, and nearby objects.
#[derive(Clone, Copy)]
pub struct Ahead<'a> {
    /// The vehicle at its level of dynamics; `None` if the agent has none, as on courses with their own vehicles.
    pub vehicle: Option<&'a VehicleData>,
    /// Trailers of the vehicle.
    pub hitches: List<'a, HitchData>,
    /// Path ahead, from the last point at or before `path_s` of the row; empty if no path is known.
    pub path: List<'a, PathPoint>,
    /// Nearby objects, nearest first.
    pub near: List<'a, NearData>,
    /// All objects of the world.
    pub objects: List<'a, ObjectData>,
    /// Corners of the outlines of all objects.
    pub outlines: List<'a, RwPoint>,
}

impl<'a> Ahead<'a> {
    /// Returns the object to which an entry of `near` refers.
    pub fn object(&self, near: &NearData) -> Option<&'a ObjectData> {
        self.objects.get(near.object as usize)
    }

    /// Returns the corners of an object's outline, counter-clockwise; none if the outline is its
    /// box, or if it is a disc.
    pub fn outline(&self, object: &ObjectData) -> List<'a, RwPoint> {
        self.outlines.part(object.outline, object.outline_count)
    }

    /// An agent without a vehicle and without a path, for tests.
    pub const NOTHING: Self = Self {
        vehicle: None,
        hitches: List::EMPTY,
        path: List::EMPTY,
        near: List::EMPTY,
        objects: List::EMPTY,
        outlines: List::EMPTY,
    };

    /// Creates an agent with a vehicle and a path, for tests.
    pub fn new(vehicle: &'a VehicleData, path: &'a [PathPoint]) -> Self {
        Self {
            vehicle: Some(vehicle),
            path: List::of(path),
            ..Self::NOTHING
        }
    }
}

/// A list of records of the host. Records of later versions may be longer, so it is not a slice.
pub struct List<'a, T> {
    raw: RwView,
    records: PhantomData<&'a [T]>,
}

// Implemented by hand, because a list can be copied whatever its records are.
impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<'_, T> {}

#[expect(unsafe_code, reason = "implements the binary interface")]
impl<'a, T: Copy> List<'a, T> {
    /// A list without records.
    pub const EMPTY: Self = Self {
        raw: RwView {
            data: std::ptr::null(),
            count: 0,
            stride: 0,
            version: 0,
        },
        records: PhantomData,
    };

    /// Creates a list of records of this version.
    pub fn of(records: &'a [T]) -> Self {
        Self {
            raw: RwView {
                data: records.as_ptr().cast(),
                count: records.len() as u32,
                stride: size_of::<T>() as u32,
                version: 0,
            },
            records: PhantomData,
        }
    }

    /// Creates a list from a view of the host; empty if its records are shorter than in this
    /// version.
    pub(crate) unsafe fn new(raw: RwView) -> Self {
        match (raw.stride as usize) < size_of::<T>() {
            true => Self::EMPTY,
            false => Self {
                raw,
                records: PhantomData,
            },
        }
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.raw.count as usize
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.raw.count == 0
    }

    /// Returns the record with this index; `None` if there is none.
    pub fn get(&self, index: usize) -> Option<&'a T> {
        if index >= self.len() {
            return None;
        }
        // SAFETY: the list has that many records at its stride, which are at least as long as `T`.
        unsafe {
            self.raw
                .data
                .byte_add(index * self.raw.stride as usize)
                .cast::<T>()
                .as_ref()
        }
    }

    /// Returns all records in order.
    pub fn iter(&self) -> impl Iterator<Item = &'a T> + use<'a, T> {
        let list = *self;
        (0..list.len()).filter_map(move |index| list.get(index))
    }

    /// Returns a range of the list; empty if it does not lie within the list.
    pub fn part(&self, first: u32, count: u32) -> Self {
        if count == 0 || first > self.raw.count || count > self.raw.count - first {
            return Self::EMPTY;
        }
        let begin = first as usize * self.raw.stride as usize;
        Self {
            raw: RwView {
                // SAFETY: the range lies within the list.
                data: unsafe { self.raw.data.byte_add(begin) },
                count,
                ..self.raw
            },
            records: PhantomData,
        }
    }
}

/// A plugin that steers and accelerates with a model of its vehicle. It can request its own motion,
/// its vehicle, the path ahead and nearby objects. It requires hosts of 1.3, or of 1.4 if it
/// requests objects.
pub trait ModelController: Plugin {
    /// Whether rows contain the motion of the vehicle.
    const MOTION: bool = true;

    /// Whether [`Ahead`] contains the vehicle.
    const VEHICLE: bool = true;

    /// Whether the controller can request nearby objects; see [`near`](Self::near).
    const NEAR: bool = false;

    /// Returns the request for the path ahead; `None` for no path. Called again after parameters have
    /// changed.
    fn path(&self) -> Option<PathNeeds>;

    /// Returns the request for nearby objects; `None` for no objects. Called again after parameters
    /// have changed. Only used if [`NEAR`](Self::NEAR) is true.
    fn near(&self) -> Option<NearNeeds> {
        None
    }

    /// Called before each batch.
    fn begin(&mut self, _: &StepInfo) {}

    /// Answers for one agent. With `None`, the built-in module drives, which is not a fault.
    fn control(
        &mut self,
        agent: &Agent,
        input: &NeedsInput,
        ahead: &Ahead<'_>,
    ) -> Option<ControllerOutput>;

    /// Returns the lookahead to the waypoint.
    fn lookahead(&self) -> Lookahead {
        Lookahead::default()
    }
}

/// A plugin that scores how well agents drive.
pub trait Fitness: Plugin {
    /// Scores one agent. Lower is better, unless [`PluginInfo::higher_is_better`] is declared.
    fn rate(&mut self, agent: &Agent, input: &FitnessInput, output: &mut FitnessOutput);
}

/// A plugin that chooses the next stage of traffic signals. The host enforces minimum green, amber and
/// clearance times, and never gives green to conflicting movements at the same time.
pub trait SignalController: Plugin {
    /// Returns the next stage; `None` keeps the current one. Called once a second after the minimum
    /// green. The id of `signals` is the smallest node id of the signals.
    fn decide(&mut self, moment: &StepInfo, signals: &Agent, input: &SignalInput) -> Option<u32>;
}

/// A plugin that finds routes.
pub trait Planner: Plugin {
    /// Appends the lanelets from the agent's lanelet to the goal's lanelet, including both. Returns
    /// the expected travel time in seconds; `None` if there is no route.
    fn plan(
        &mut self,
        roads: &Roads<'_>,
        input: &PlannerInput,
        route: &mut Route<'_>,
    ) -> Option<f64>;
}

/// A route under construction.
pub struct Route<'a> {
    pub(crate) buffer: &'a mut [u32],
    pub(crate) length: usize,
}

impl Route<'_> {
    /// Appends a lanelet. Lanelets beyond the capacity are dropped; in this case, the route counts as not found.
    pub fn push(&mut self, lanelet: u32) {
        // The length also counts dropped lanelets, so that the caller can tell that the route did not fit.
        if let Some(place) = self.buffer.get_mut(self.length) {
            *place = lanelet;
        }
        self.length += 1;
    }
}

/// The roads as planners see them.
#[derive(Clone, Copy)]
pub struct Roads<'a> {
    /// The lanelets, which are lanes and connections.
    pub lanelets: &'a [RwLanelet],
    /// Successors of all lanelets.
    pub successors: &'a [u32],
    /// Points of all centre lines, m.
    pub points: &'a [RwPoint],
    /// Expected delay on each lanelet because of queues, s.
    pub delays: &'a [f32],
    /// Version; changes whenever the roads change.
    pub version: u64,
}

impl<'a> Roads<'a> {
    /// Returns the lanelets that follow a lanelet.
    pub fn successors(&self, lanelet: u32) -> &'a [u32] {
        let lanelet = &self.lanelets[lanelet as usize];
        let first = lanelet.first_successor as usize;
        &self.successors[first..first + lanelet.successor_count as usize]
    }

    /// Returns the centre line of a lanelet.
    pub fn line(&self, lanelet: u32) -> &'a [RwPoint] {
        let lanelet = &self.lanelets[lanelet as usize];
        let first = lanelet.first_point as usize;
        &self.points[first..first + lanelet.point_count as usize]
    }

    /// Creates a view of the raw structure.
    ///
    /// # Safety
    /// The pointers must be valid for as many elements as the counts state, for `'a`.
    #[expect(unsafe_code, reason = "implements the binary interface")]
    pub(crate) unsafe fn new(raw: &'a RwRoads) -> Self {
        use crate::export::slice;
        let lanelets = raw.lanelet_count as usize;
        // SAFETY: guaranteed by the caller.
        unsafe {
            Self {
                lanelets: slice(raw.lanelets, lanelets),
                successors: slice(raw.successors, raw.successor_count as usize),
                points: slice(raw.points, raw.point_count as usize),
                delays: slice(raw.delays, lanelets),
                version: raw.version,
            }
        }
    }
}

/// State of each agent, by agent index.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PerAgent<T>(Vec<T>);

impl<T: Default + Clone> PerAgent<T> {
    /// Returns the state of an agent. For a new agent, the state is fresh.
    pub fn of(&mut self, agent: &Agent) -> &mut T {
        let index = agent.index as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, T::default());
        }
        &mut self.0[index]
    }

    /// Drops the state of removed agents, so that their indices start fresh.
    pub fn agents_changed(&mut self, change: &AgentsChanged<'_>) {
        for &index in change.removed {
            if let Some(state) = self.0.get_mut(index as usize) {
                *state = T::default();
            }
        }
    }

    /// Returns all states in the order of agent indices.
    pub fn states(&self) -> &[T] {
        &self.0
    }

    /// Replaces all states.
    pub fn set_states(&mut self, states: Vec<T>) {
        self.0 = states;
    }
}

/// Access to the host.
#[derive(Clone, Copy)]
pub struct Host {
    pub(crate) raw: *const roadwright_plugin_api::abi::RwHost,
}

// SAFETY: the host structure lives as long as the plugin and is never written to, and its log function may be
// called from any thread.
#[expect(unsafe_code, reason = "guaranteed by the host, see SAFETY")]
unsafe impl Send for Host {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "guaranteed by the host, see SAFETY")]
unsafe impl Sync for Host {}

impl Host {
    /// Writes a line to the host's log, with a level from 0 (debug) to 3 (error).
    #[expect(unsafe_code, reason = "implements the binary interface")]
    pub fn log(&self, level: u32, line: &str) {
        // SAFETY: the host structure outlives all instances, and its functions accept any text.
        unsafe {
            if let Some(host) = self.raw.as_ref()
                && let Some(log) = host.log
            {
                log(host.ctx, level, line.as_ptr().cast(), line.len() as u64);
            }
        }
    }

    /// Whether the host has abandoned the calls in progress, so that long computations should stop.
    #[expect(unsafe_code, reason = "implements the binary interface")]
    pub fn is_cancelled(&self) -> bool {
        // SAFETY: as above.
        unsafe {
            let host = self.raw.as_ref();
            host.is_some_and(|host| host.cancelled.is_some_and(|f| f(host.ctx) != 0))
        }
    }
}

/// Converts a planner's answer to an output row.
pub(crate) fn planner_output(start: usize, end: usize, time: Option<f64>) -> PlannerOutput {
    match time {
        Some(travel_time) => PlannerOutput {
            start: start as u32,
            count: (end - start) as u32,
            travel_time,
        },
        None => PlannerOutput::default(),
    }
}
