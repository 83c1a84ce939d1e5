//! What the author of a plugin writes.

use crate::parameters::Parameters;
use roadwright_plugin_api::abi::{
    ABI_MAJOR, ABI_MINOR, CAP_DETERMINISTIC, CAP_PARALLEL_SLICES, CAP_STATE, CAP_WANTS_DEFAULTS,
    KIND_SIGNAL_CONTROLLER, MAGIC, ROW_SCHEMA, RwPluginInfo, RwPoint, RwRoads, RwStrip, text,
};
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, DriveInput, FitnessInput, FitnessOutput, PedalsOutput,
    PlannerInput, PlannerOutput, SignalInput,
};

/// What a plugin says about itself.
#[derive(Clone, Copy)]
pub struct PluginInfo {
    pub(crate) raw: RwPluginInfo,
}

impl PluginInfo {
    /// A plugin by its id in reverse domain order, its name for people and its version.
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

    /// What it does, in one sentence.
    pub const fn doc(mut self, doc: &str) -> Self {
        self.raw.doc = text(doc);
        self
    }

    /// Who made it.
    pub const fn author(mut self, author: &str) -> Self {
        self.raw.author = text(author);
        self
    }

    /// It keeps state that [`Plugin::save`] and [`Plugin::load`] hand to the next version.
    pub const fn keeps_state(mut self) -> Self {
        self.raw.caps |= CAP_STATE;
        self
    }

    /// Output rows hold the built-in module's answer before the plugin is asked.
    pub const fn wants_defaults(mut self) -> Self {
        self.raw.caps |= CAP_WANTS_DEFAULTS;
        self
    }

    /// It does not declare that the same input gives the same output.
    pub const fn not_deterministic(mut self) -> Self {
        self.raw.caps &= !CAP_DETERMINISTIC;
        self
    }

    /// The bytes that are exported, for a kind.
    pub const fn raw(mut self, kinds: u32) -> RwPluginInfo {
        self.raw.kinds = kinds;
        if kinds & KIND_SIGNAL_CONTROLLER != 0 {
            self.raw.min_host_minor = 1;
        }
        // Safe plugins are asked by `&mut`, so never for two slices at once, whatever they say of
        // themselves.
        self.raw.caps &= !CAP_PARALLEL_SLICES;
        self.raw
    }
}

/// What plugins of all kinds have. Its `Default` is a fresh instance; the values of its parameters
/// there are their defaults.
pub trait Plugin: Default + Send + 'static {
    /// What it says about itself.
    const INFO: PluginInfo;

    /// Lists its parameters with their fields.
    fn parameters(&mut self, _: &mut Parameters<'_>) {}

    /// Called once, before everything else.
    fn start(&mut self, _: &Host) {}

    /// Agents have come and gone: called between two questions, before the first one about an agent that
    /// came.
    fn agents_changed(&mut self, _: &AgentsChanged<'_>) {}

    /// Its state with the number of its schema; `None` if it keeps none.
    fn save(&self) -> Option<(u32, Vec<u8>)> {
        None
    }

    /// Takes over state of a schema, from this version or another one.
    ///
    /// # Errors
    /// If it cannot: the host then starts the instance fresh and says so.
    fn load(&mut self, schema: u32, _: &[u8]) -> Result<(), String> {
        Err(format!("state of schema {schema} is not known"))
    }
}

/// The agent of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agent {
    /// Its id.
    pub id: u64,
    /// A dense number that is its own while it drives; `agents_changed` tells when it becomes another's.
    pub slot: u32,
    /// A random number of run, agent and step.
    pub seed: u64,
}

/// The moment that a batch is asked about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepInfo {
    /// Number of the step.
    pub step: u64,
    /// Simulation time, s.
    pub time: f64,
    /// Time until the same agent is asked again, s.
    pub period: f64,
}

/// Agents that have come and gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentsChanged<'a> {
    /// Slots are smaller than this.
    pub slots: u32,
    /// Slots of those that came, in the order of their ids.
    pub added: &'a [u32],
    /// Slots of those that went, in the order of their ids. None is among `added` as well: that an agent
    /// went is told at least one call before its slot is another's.
    pub removed: &'a [u32],
}

/// How far ahead a controller wants its way-point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookahead {
    /// Least distance, m.
    pub distance: f64,
    /// Time, s, that is multiplied by the speed; the larger of the two counts.
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

/// Steers and accelerates.
pub trait Controller: Plugin {
    /// Called before each batch.
    fn begin(&mut self, _: &StepInfo) {}

    /// Answers for one agent.
    fn control(&mut self, agent: &Agent, input: &ControllerInput, output: &mut ControllerOutput);

    /// How far ahead it wants its way-point.
    fn lookahead(&self) -> Lookahead {
        Lookahead::default()
    }
}

/// Steers, and drives by pedals: throttle, brakes and gears. A host that does not know pedals lets its
/// built-in module drive.
pub trait PedalController: Plugin {
    /// Called before each batch.
    fn begin(&mut self, _: &StepInfo) {}

    /// Answers for one agent; `drive` says what its vehicle can do now.
    fn press(
        &mut self,
        agent: &Agent,
        input: &ControllerInput,
        drive: &DriveInput,
        output: &mut PedalsOutput,
    );

    /// How far ahead it wants its way-point.
    fn lookahead(&self) -> Lookahead {
        Lookahead::default()
    }
}

/// Rates the driving.
pub trait Fitness: Plugin {
    /// Rates one agent; lower is better.
    fn rate(&mut self, agent: &Agent, input: &FitnessInput, output: &mut FitnessOutput);
}

/// Says which stage of traffic signals is next. The host keeps the shortest green, amber and the time to
/// clear, and gives nobody green together with somebody whom it crosses.
pub trait SignalController: Plugin {
    /// The stage that is to come; `None` keeps the one that is shown. Asked once a second when the shortest
    /// green is over. The id of `signals` is its smallest node.
    fn decide(&mut self, moment: &StepInfo, signals: &Agent, input: &SignalInput) -> Option<u32>;
}

/// Finds the way.
pub trait Planner: Plugin {
    /// Appends the strips from the agent's to the goal's, both included, and gives the expected
    /// travel time, s; `None` if there is no way.
    fn plan(
        &mut self,
        roads: &Roads<'_>,
        input: &PlannerInput,
        route: &mut Route<'_>,
    ) -> Option<f64>;
}

/// A route that is being written.
pub struct Route<'a> {
    pub(crate) buffer: &'a mut [u32],
    pub(crate) length: usize,
}

impl Route<'_> {
    /// Appends a strip; what does not fit any more is dropped, and the route counts as not found.
    pub fn push(&mut self, strip: u32) {
        // The length counts on behind the end of the buffer: that is how the caller sees that the route
        // did not fit.
        if let Some(place) = self.buffer.get_mut(self.length) {
            *place = strip;
        }
        self.length += 1;
    }
}

/// The roads as planners see them.
#[derive(Clone, Copy)]
pub struct Roads<'a> {
    /// The strips: lanes and connecting paths.
    pub strips: &'a [RwStrip],
    /// Successors of all strips.
    pub successors: &'a [u32],
    /// Points of all centre lines, m.
    pub points: &'a [RwPoint],
    /// Expected extra time on each strip because of standing traffic, s.
    pub delays: &'a [f32],
    /// Another number means that the roads have changed.
    pub version: u64,
}

impl<'a> Roads<'a> {
    /// The strips that follow one.
    pub fn successors(&self, strip: u32) -> &'a [u32] {
        let strip = &self.strips[strip as usize];
        let first = strip.first_successor as usize;
        &self.successors[first..first + strip.successor_count as usize]
    }

    /// The centre line of a strip.
    pub fn line(&self, strip: u32) -> &'a [RwPoint] {
        let strip = &self.strips[strip as usize];
        let first = strip.first_point as usize;
        &self.points[first..first + strip.point_count as usize]
    }

    /// Sees through the binary interface.
    ///
    /// # Safety
    /// The pointers must hold as many elements as the counts say, for `'a`.
    #[expect(unsafe_code, reason = "speaks the binary interface")]
    pub(crate) unsafe fn new(raw: &'a RwRoads) -> Self {
        use crate::export::slice;
        let strips = raw.strip_count as usize;
        // SAFETY: promised by the caller.
        unsafe {
            Self {
                strips: slice(raw.strips, strips),
                successors: slice(raw.successors, raw.successor_count as usize),
                points: slice(raw.points, raw.point_count as usize),
                delays: slice(raw.delays, strips),
                version: raw.version,
            }
        }
    }
}

/// State for each agent, by slot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PerAgent<T>(Vec<T>);

impl<T: Default + Clone> PerAgent<T> {
    /// The state of an agent; a fresh one if it is new.
    pub fn of(&mut self, agent: &Agent) -> &mut T {
        let slot = agent.slot as usize;
        if slot >= self.0.len() {
            self.0.resize(slot + 1, T::default());
        }
        &mut self.0[slot]
    }

    /// Forgets those who went, so that their slots start fresh.
    pub fn agents_changed(&mut self, change: &AgentsChanged<'_>) {
        for &slot in change.removed {
            if let Some(state) = self.0.get_mut(slot as usize) {
                *state = T::default();
            }
        }
    }

    /// All states in the order of slots.
    pub fn states(&self) -> &[T] {
        &self.0
    }

    /// Replaces all states.
    pub fn set_states(&mut self, states: Vec<T>) {
        self.0 = states;
    }
}

/// The host, as a plugin sees it.
#[derive(Clone, Copy)]
pub struct Host {
    pub(crate) raw: *const roadwright_plugin_api::abi::RwHost,
}

// SAFETY: the host structure lives as long as the plugin, is never written to, and its log may be
// called from any thread.
#[expect(unsafe_code, reason = "the host promises it")]
unsafe impl Send for Host {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "the host promises it")]
unsafe impl Sync for Host {}

impl Host {
    /// Writes a line to the host's log; level 0 (debug) to 3 (error).
    #[expect(unsafe_code, reason = "speaks the binary interface")]
    pub fn log(&self, level: u32, line: &str) {
        // SAFETY: the host structure outlives all instances, and its functions take any text.
        unsafe {
            if let Some(host) = self.raw.as_ref()
                && let Some(log) = host.log
            {
                log(host.ctx, level, line.as_ptr().cast(), line.len() as u64);
            }
        }
    }

    /// Whether long work should stop.
    #[expect(unsafe_code, reason = "speaks the binary interface")]
    pub fn is_cancelled(&self) -> bool {
        // SAFETY: as above.
        unsafe {
            let host = self.raw.as_ref();
            host.is_some_and(|host| host.cancelled.is_some_and(|f| f(host.ctx) != 0))
        }
    }
}

/// A planner's answer as a row.
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
