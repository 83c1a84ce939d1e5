//! State of a module from a library, which is shared by all runs: its active version and its health.

use super::backend::intern;
use super::inspect::PluginInfo;
use super::last_words::{self, Who};
use super::library::{Context, Library, LoadError};
use crate::catalogue::{FileState, Health, ModuleRow};
use crate::event::{Event, Events, Level};
use crate::lock::locked;
use crate::quarantine::Quarantine;
use crate::times::CallTimes;
use roadwright_agent::{ModuleInfo, ModuleKind, ParameterInfo};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Instant;

/// Maximum number of earlier builds to which the user can roll back.
const MOST_PREVIOUS: usize = 8;

/// An accepted build of a module.
pub(crate) struct Generation {
    /// Number of this build among the builds of the module in this process, from 1.
    pub(crate) number: u32,
    pub(crate) info: PluginInfo,
    pub(crate) module: ModuleInfo,
    /// Identity of the build, which is reported if the program ends while the build is running.
    pub(crate) who: &'static Who,
    pub(crate) hash: String,
    /// File from which the build was copied.
    pub(crate) path: PathBuf,
    /// Private copy of the file. It is removed together with the generation.
    pub(crate) copy: PathBuf,
    pub(crate) library: OnceLock<Result<Arc<Library>, LoadError>>,
    pub(crate) pool: Arc<LibraryPool>,
}

/// The loaded libraries. Libraries are never unloaded, so the same build is loaded only once, unless it has
/// faulted.
#[derive(Default)]
pub(crate) struct LibraryPool(Mutex<Loaded>);

#[derive(Default)]
struct Loaded {
    by_hash: BTreeMap<String, Arc<Library>>,
    /// Contexts of all libraries ever loaded, with the ids of their modules.
    contexts: Vec<(&'static str, &'static Context)>,
}

impl LibraryPool {
    fn load(
        &self,
        module: &'static str,
        hash: &str,
        copy: &Path,
    ) -> Result<Arc<Library>, LoadError> {
        // Locked during loading. Two runs that need the same build at the same time must share a library,
        // because its static variables and its log exist once per library.
        let mut loaded = locked(&self.0);
        if let Some(library) = loaded.by_hash.get(hash) {
            return Ok(library.clone());
        }
        let library = Arc::new(Library::open(copy)?);
        loaded.contexts.push((module, library.context));
        let known = library.clone();
        loaded.by_hash.insert(hash.to_owned(), known);
        Ok(library)
    }

    /// Removes a faulted build, because its static variables must not be used again.
    fn forget(&self, hash: &str) {
        let mut loaded = locked(&self.0);
        // The context stays listed, because runs that still use the library may have calls to abandon.
        loaded.by_hash.remove(hash);
    }

    /// Abandons all calls that have taken at least `patience` ms. Their modules are reported before any of
    /// the calls continues.
    pub(crate) fn give_up(&self, patience: u64, mut tell: impl FnMut(&'static str)) {
        // This is 0 in the first seconds of the program. No call can have begun by then, because
        // times begin at 1.
        let begun_by = milliseconds().saturating_sub(patience);
        let loaded = locked(&self.0);
        for (module, context) in &loaded.contexts {
            let _telling = locked(&context.telling);
            if context.calls.give_up(begun_by) {
                tell(module);
            }
        }
    }
}

impl Generation {
    /// Returns the library. It is loaded into this process when it is first used.
    pub(crate) fn library(&self) -> Result<Arc<Library>, LoadError> {
        let load = || {
            let library = self.pool.load(self.module.id, &self.hash, &self.copy)?;
            last_words::note_loaded(self.who);
            Ok(library)
        };
        self.library.get_or_init(load).clone()
    }

    /// Returns the first digits of the hash.
    pub(crate) fn short_hash(&self) -> &str {
        &self.hash[..self.hash.len().min(8)]
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        // If the system allows the file of a loaded library to be removed, the library stays mapped.
        // Otherwise the file is removed at the next start.
        let _ = std::fs::remove_file(&self.copy);
    }
}

/// Build that every run should use for a module, and whether it runs in a separate process.
#[derive(Clone, Default)]
pub(crate) struct Wish {
    /// Build to use; `None` for the built-in module.
    pub(crate) generation: Option<Arc<Generation>>,
    /// Whether the module runs in a separate process.
    pub(crate) is_isolated: bool,
}

#[derive(Default)]
pub(crate) struct PluginEntryState {
    pub(crate) wish: Wish,
    /// Builds that were active before, newest last.
    pub(crate) previous: Vec<Arc<Generation>>,
    pub(crate) is_disabled: bool,
    /// Number of builds so far.
    pub(crate) builds: u32,
    /// Description of the module in the newest file.
    info: Option<PluginInfo>,
    parameters: &'static [ParameterInfo],
    has_been_active: bool,
    pub(crate) faults: u64,
    pub(crate) restarts: u64,
    pub(crate) fallback_agents: u64,
    pub(crate) is_faulted: bool,
    pub(crate) last_error: Option<String>,
    pub(crate) times: CallTimes,
}

/// A module that a library provides, with its builds and its health. All runs share it.
pub(crate) struct PluginEntry {
    pub(crate) id: &'static str,
    pub(crate) kind: ModuleKind,
    state: Mutex<PluginEntryState>,
    version: AtomicU64,
    /// Start of the call in progress, in milliseconds since the program's first call; 0 outside calls.
    entered: AtomicU64,
    /// Number of concurrent calls.
    running: AtomicU32,
    hang_reported: AtomicBool,
    pub(crate) events: Arc<Events>,
    pub(crate) quarantine: Arc<Quarantine>,
    /// Command that starts the child process of an isolated module.
    pub(crate) helper: Arc<Vec<std::ffi::OsString>>,
    /// Memory limit of an isolated process, MiB.
    pub(crate) isolated_memory: u64,
}

/// Guard of a call in progress.
pub(crate) struct Call<'a> {
    cell: &'a PluginEntry,
    /// Module whose code was running in this thread before the call.
    before: Option<&'static Who>,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        last_words::enter(self.before);
        // This is the last of the concurrent calls.
        if self.cell.running.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.cell.entered.store(0, Ordering::Relaxed);
            self.cell.hang_reported.store(false, Ordering::Relaxed);
        }
    }
}

fn base() -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(now)
}

/// Returns the time since the first call of this function, ms; never 0.
pub(super) fn milliseconds() -> u64 {
    base().elapsed().as_millis() as u64 + 1
}

/// Formats a time as a date and time of day in UTC.
pub(super) fn wall_clock(time: std::time::SystemTime) -> String {
    let since = time
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let (days, minutes) = (since.as_secs() / 86_400, since.as_secs() / 60 % 1440);
    // The calendar starts on 1 March of the year 0, so that leap days are at the ends of years.
    let days = days + 719_468;
    // The calendar repeats every 400 years, which have 146,097 days.
    let (era, day) = (days / 146_097, days % 146_097);
    // Leap days are removed before the division: one in 1,460 days, none at the end of a century (36,524
    // days), but one at the end of the era.
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, every five months have 153 days: 31, 30, 31, 30 and 31.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let (year, hour, minute) = (era * 400 + year + next, minutes / 60, minutes % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// Reads the wall clock. It is used for health badges, the watchdog and settling files, and never affects the
/// result of a run.
#[expect(
    clippy::disallowed_methods,
    reason = "plugins are timed, watched and reloaded in wall time; no result depends on it"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

impl PluginEntry {
    pub(crate) fn new(
        id: &'static str,
        kind: ModuleKind,
        events: Arc<Events>,
        quarantine: Arc<Quarantine>,
        helper: Arc<Vec<std::ffi::OsString>>,
        isolated_memory: u64,
    ) -> Self {
        Self {
            id,
            kind,
            state: Mutex::default(),
            version: AtomicU64::new(1),
            // Stored outside the state and its lock, because each call writes it and the watchdog reads it.
            entered: AtomicU64::new(0),
            running: AtomicU32::new(0),
            hang_reported: AtomicBool::new(false),
            events,
            quarantine,
            helper,
            isolated_memory,
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, PluginEntryState> {
        locked(&self.state)
    }

    /// Returns a number that changes whenever the wish changes. Runs compare it in each step
    /// without a lock.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    fn touch(&self) {
        // Changed last, after the state has been written and unlocked, so that a run that sees the new number
        // reads the new wish.
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Returns the build that runs should use now.
    pub(crate) fn wish(&self) -> Wish {
        let state = self.state();
        if state.is_disabled {
            return Wish::default();
        }
        state.wish.clone()
    }

    /// Publishes a newer build. Every run adopts it between its next two steps.
    pub(crate) fn publish(&self, generation: Arc<Generation>) {
        let mut state = self.state();
        state.builds = state.builds.max(generation.number);
        state.is_faulted = false;
        state.has_been_active = true;
        if let Some(old) = state.wish.generation.replace(generation) {
            state.previous.push(old);
            if state.previous.len() > MOST_PREVIOUS {
                // Its copy of the file is removed as soon as no run uses it any more.
                state.previous.remove(0);
            }
        }
        drop(state);
        self.touch();
    }

    pub(crate) fn set_info(&self, info: &PluginInfo) {
        self.state().info = Some(info.clone());
    }

    pub(crate) fn set_parameters(&self, parameters: &'static [ParameterInfo]) {
        self.state().parameters = parameters;
    }

    /// Returns the descriptions of the parameters.
    pub(crate) fn parameters(&self) -> &'static [ParameterInfo] {
        self.state().parameters
    }

    /// Whether a build has ever been published.
    pub(crate) fn has_been_active(&self) -> bool {
        self.state().has_been_active
    }

    /// Returns the description of the module.
    pub(crate) fn module_info(&self) -> ModuleInfo {
        let state = self.state();
        let info = state.info.as_ref();
        ModuleInfo {
            id: self.id,
            name: info.map_or(self.id, |info| intern(&info.name)),
            doc: info.map_or("", |info| intern(&info.doc)),
        }
    }

    /// Returns the lines that the module's library has logged since the last call.
    pub(crate) fn take_log(&self) -> Vec<String> {
        let generation = self.state().wish.generation.clone();
        let library = generation.and_then(|active| active.library.get()?.clone().ok());
        library.map_or(Vec::new(), |library| library.context.log.take_untold())
    }

    /// Returns the row of the module in the table; `file` is the file that provides it.
    pub(crate) fn row(&self, file: Option<(PathBuf, FileState)>) -> ModuleRow {
        let state = self.state();
        let (mean_us, p99_us) = state.times.mean_and_p99();
        let active = state.wish.generation.as_ref();
        let (path, file) = file.unzip();
        let rejected = match &file {
            Some(FileState::Rejected(why)) => Some(why.clone()),
            _ => None,
        };
        let needs_permission = file == Some(FileState::NeedsPermission);
        // The order matters. A module that was never allowed to run has no build, but that is not a fault.
        let lamp = if state.is_disabled || (needs_permission && active.is_none()) {
            Health::Off
        } else if active.is_none() {
            Health::Faulted
        } else if state.is_faulted
            || state.fallback_agents > 0
            || rejected.is_some()
            || needs_permission
            || file == Some(FileState::Orphaned)
        {
            Health::Uneasy
        } else {
            Health::Good
        };
        let info = active.map(|active| &active.info).or(state.info.as_ref());
        let text =
            |field: fn(&PluginInfo) -> &String| info.map_or(String::new(), |i| field(i).clone());
        let loaded = active.and_then(|active| active.library.get()?.clone().ok());
        ModuleRow {
            lamp,
            id: self.id.to_owned(),
            name: text(|i| &i.name),
            doc: text(|i| &i.doc),
            version: text(|i| &i.version),
            kind: self.kind.name(),
            language: text(|i| &i.language),
            tier: if state.wish.is_isolated {
                "isolated"
            } else {
                "native"
            },
            path: active.map(|active| active.path.clone()).or(path),
            hash: active.map_or(String::new(), |active| active.hash.clone()),
            generation: active.map_or(0, |active| active.number),
            mean_us,
            p99_us,
            call_us: state.times.mean_of_calls(),
            calls: state.times.calls,
            faults: state.faults,
            fallback_agents: state.fallback_agents,
            last_error: state.last_error.clone().or(rejected),
            needs_permission,
            can_roll_back: !state.previous.is_empty(),
            is_disabled: state.is_disabled,
            parameters: state.parameters,
            log: loaded.map_or(Vec::new(), |library| library.context.log.lines()),
        }
    }

    /// Quarantines a build and falls back to the newest earlier build that is not quarantined, or else to the
    /// built-in module. Returns the build that is used afterwards; `None` for the built-in module.
    pub(crate) fn withdraw(&self, hash: &str, why: &str) -> Option<Arc<Generation>> {
        self.quarantine.add(hash, why);
        let mut state = self.state();
        state.is_faulted = true;
        state.last_error = Some(why.to_owned());
        let is_active = state
            .wish
            .generation
            .as_ref()
            .is_some_and(|active| active.hash == hash);
        if is_active {
            if let Some(active) = state.wish.generation.take() {
                // The build is not kept among the previous ones, so that the user cannot roll back to it.
                active.pool.forget(hash);
            }
            while let Some(before) = state.previous.pop() {
                if !self.quarantine.holds(&before.hash) {
                    state.wish.generation = Some(before);
                    break;
                }
            }
        }
        let next = state.wish.generation.clone();
        drop(state);
        self.touch();
        next
    }

    /// Rolls back to the previous build. Returns whether there was one.
    pub(crate) fn roll_back(&self) -> bool {
        let mut state = self.state();
        let Some(before) = state.previous.pop() else {
            return false;
        };
        // The abandoned build is dropped, so that another rollback goes one build further back.
        state.wish.generation = Some(before);
        drop(state);
        self.touch();
        true
    }

    pub(crate) fn set_disabled(&self, disabled: bool) {
        self.state().is_disabled = disabled;
        self.touch();
    }

    pub(crate) fn set_isolated(&self, isolated: bool) {
        self.state().wish.is_isolated = isolated;
        self.touch();
    }

    /// Makes every run create a fresh instance.
    pub(crate) fn restart(&self) {
        self.touch();
    }

    /// Records a fault in the table, and reports it as an event unless it repeats the last one.
    pub(crate) fn note_fault(&self, message: &str) {
        let mut state = self.state();
        state.faults += 1;
        let is_new = state.last_error.as_deref() != Some(message);
        state.last_error = Some(message.to_owned());
        drop(state);
        if is_new {
            self.say(Level::Error, message);
        }
    }

    /// Writes the input that led to an invalid answer into the folder `faults`, in the
    /// folder of the quarantine. Returns the path; `None` if writing fails.
    pub(crate) fn save_input(
        &self,
        message: &str,
        input: &[(&'static str, f64)],
    ) -> Option<PathBuf> {
        let fields: serde_json::Map<String, serde_json::Value> = input
            .iter()
            .map(|(name, value)| ((*name).to_owned(), serde_json::json!(value)))
            .collect();
        let document = serde_json::json!({"module": self.id, "fault": message, "input": fields});
        let folder = self.quarantine.folder().join("faults");
        std::fs::create_dir_all(&folder).ok()?;
        let path = folder.join(format!("{}-{}.json", self.id, std::process::id()));
        std::fs::write(&path, serde_json::to_vec_pretty(&document).ok()?).ok()?;
        Some(path)
    }

    pub(crate) fn say(&self, level: Level, text: &str) {
        self.events.push(Event {
            level,
            module: self.id.to_owned(),
            text: text.to_owned(),
        });
    }

    /// Marks the beginning of a call to a build.
    pub(crate) fn enter(&self, generation: &Generation, is_isolated: bool) -> Call<'_> {
        // The start of the first of several concurrent calls is used for all of them, because that
        // call may be the one that hangs.
        if self.running.fetch_add(1, Ordering::Relaxed) == 0 {
            self.entered.store(milliseconds(), Ordering::Relaxed);
        }
        Call {
            cell: self,
            // An isolated module cannot end this process, so it is not recorded.
            before: last_words::enter((!is_isolated).then_some(generation.who)),
        }
    }

    /// Returns the duration of the call in progress, ms, if it exceeds `patience`. Isolated modules get an
    /// additional second, because they have a separate time limit.
    pub(crate) fn hangs_for(&self, patience: u64) -> Option<u64> {
        let entered = self.entered.load(Ordering::Relaxed);
        let taken = milliseconds().saturating_sub(entered);
        if entered == 0 || taken <= patience {
            return None;
        }
        // Checked last, so that only a late call takes the lock.
        let more = if self.state().wish.is_isolated {
            1000
        } else {
            0
        };
        (taken > patience + more).then_some(taken)
    }

    /// Whether this hang has not been reported yet.
    pub(crate) fn is_new_hang(&self) -> bool {
        !self.hang_reported.swap(true, Ordering::Relaxed)
    }

    /// Records the duration of a call.
    pub(crate) fn note_time(&self, rows: usize, seconds: f64, fallback: u64) {
        // Called in every batch, so it does not wait for another thread to release the lock.
        let Ok(mut state) = self.state.try_lock() else {
            return;
        };
        state.fallback_agents = fallback;
        state.times.note(rows, seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn moments_are_told_as_the_calendar_says() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59 UTC"),
            (1_767_225_600, "2026-01-01 00:00 UTC"),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(wall_clock(time), text);
        }
    }
}
