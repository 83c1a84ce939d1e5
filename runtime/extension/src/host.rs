//! The host of everything that comes from outside: folders of plugins and of scripts.

use crate::event::{Event, Events, Level};
use crate::lock::locked;
use crate::native::backend::intern;
use crate::native::ends::LastWords;
use crate::native::last_words::{Noted, Who};
use crate::native::{
    AsController, AsFitness, AsPlanner, Cell, Generation, InspectError, Inspected, Kind,
    LibraryPool, Native, PluginInfo, inspect,
};
use crate::native_now;
use crate::quarantine::Quarantine;
use crate::script::Scripts;
use crate::settle::{Settling, Stamp};
use crate::watch::Watch;
use roadwright_agent::{Choosable, Entry, ModuleInfo, ModuleKind, ParameterInfo, Registry};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the thread waits for events before it looks at what settles.
const TICK: Duration = Duration::from_millis(15);
/// All folders are looked at this often, because events can get lost.
const SCAN: Duration = Duration::from_secs(5);
/// A call that takes longer is a hang, ms.
const HANG: u64 = 2000;
/// More generations of one process are better followed by a restart: libraries stay loaded.
pub const MANY_GENERATIONS: u32 = 256;

/// Memory that an isolated module may use unless something else is said, MiB of address space.
pub const ISOLATED_MEMORY: u64 = 4096;

/// Which builds may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// All of them.
    All,
    /// Those with these hashes, or with hashes that begin so (at least 8 digits).
    Hashes(BTreeSet<String>),
}

impl Trust {
    /// Whether a build may run.
    pub fn allows(&self, hash: &str) -> bool {
        match self {
            Self::All => true,
            Self::Hashes(hashes) => hashes
                .iter()
                .any(|allowed| allowed.len() >= 8 && hash.starts_with(allowed.as_str())),
        }
    }
}

/// Which plugins are loaded. The others are known by what stands in their files; none of their code
/// runs, not even in a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Wanted {
    /// All that may run.
    #[default]
    All,
    /// Those with these ids. If one of them is a script that can choose modules for its agents
    /// (`use_module`), or could after an edit because folders are watched: all that may run.
    Ids(BTreeSet<String>),
}

impl Wanted {
    fn has(&self, id: &str) -> bool {
        match self {
            Self::All => true,
            Self::Ids(ids) => ids.contains(id),
        }
    }
}

/// How modules from outside are found and run.
#[derive(Clone)]
pub struct HostOptions {
    /// Folders of libraries; of two modules with the same id that of the first folder counts.
    pub plugins: Vec<PathBuf>,
    /// Folders of scripts; of two with the same name that of the first folder counts.
    pub scripts: Vec<PathBuf>,
    /// Where copies and marks are kept.
    pub cache: PathBuf,
    /// Program and arguments that call [`crate::helper`]; children are started so.
    pub helper: Vec<OsString>,
    /// Which builds may run.
    pub trust: Trust,
    /// Which of them are loaded.
    pub wanted: Wanted,
    /// Ids of modules that run in a process of their own.
    pub isolated: BTreeSet<String>,
    /// Memory that each such process may use, MiB of address space; [`ISOLATED_MEMORY`] is usual.
    pub isolated_memory: u64,
    /// Whether folders are watched.
    pub watch: bool,
    /// The modules that are built in.
    pub builtin: Registry,
}

/// What became of a file in a folder of plugins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// It is being written.
    Settling,
    /// Its build is active.
    Active,
    /// Nothing that runs asks for it: it is not loaded.
    Idle,
    /// Its build may not run before somebody allows it.
    NeedsPermission,
    /// Another file has a module of the same id and comes first.
    Shadowed(PathBuf),
    /// It cannot be used, for this reason.
    Rejected(String),
    /// The file has gone; its build goes on until it is stopped.
    Orphaned,
}

/// A file in a folder of plugins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileRow {
    /// Where it is.
    pub path: PathBuf,
    /// What became of it.
    pub state: FileState,
    /// What it says about itself, if that could be read.
    pub info: Option<PluginInfo>,
    /// Hash of its content.
    pub hash: String,
}

/// How a module does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lamp {
    /// Well.
    Good,
    /// It could be better: faults, slow, an orphan.
    Uneasy,
    /// The built-in module stands in for it.
    Faulted,
    /// Switched off, or not allowed.
    Off,
}

/// A row of the table of modules.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModuleRow {
    /// How it does.
    pub lamp: Lamp,
    /// Stable id.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// What it does.
    pub doc: String,
    /// Version.
    pub version: String,
    /// Name of its kind.
    pub kind: &'static str,
    /// Language.
    pub language: String,
    /// `built-in`, `native`, `isolated` or `script`.
    pub tier: &'static str,
    /// The file that it comes from.
    pub path: Option<PathBuf>,
    /// Hash of its build.
    pub hash: String,
    /// Builds of it that have been active in this process.
    pub generation: u32,
    /// Mean time of a call for each agent, us.
    pub mean_us: f64,
    /// 99th percentile of the same, us.
    pub p99_us: f64,
    /// Mean time of a whole call, us, whatever the number of its agents.
    pub call_us: f64,
    /// Calls so far.
    pub calls: u64,
    /// Faults so far.
    pub faults: u64,
    /// Agents for which the built-in module answered in the last call.
    pub fallback_agents: u64,
    /// The last error.
    pub last_error: Option<String>,
    /// Whether it may run.
    pub needs_permission: bool,
    /// Whether there is a build to roll back to.
    pub can_roll_back: bool,
    /// Whether it is switched off.
    pub is_disabled: bool,
    /// What its parameters are.
    #[serde(skip)]
    pub parameters: &'static [ParameterInfo],
    /// What it has logged last.
    pub log: Vec<String>,
}

/// A call of a plugin that does not come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hang {
    /// The module.
    pub module: String,
    /// For how long, ms.
    pub milliseconds: u64,
}

/// Tells of native calls that do not come back.
pub struct CallWatch(Arc<Inner>);

impl CallWatch {
    /// Calls that have not come back for two seconds.
    pub fn hangs(&self) -> Vec<Hang> {
        let catalog = self.0.catalog();
        let hang = |cell: &Arc<Cell>| {
            Some(Hang {
                module: cell.id.to_owned(),
                milliseconds: cell.hangs_for(HANG)?,
            })
        };
        catalog.cells.values().filter_map(hang).collect()
    }

    /// Gives up all native calls that have taken so long: their answers will not be used, whatever
    /// they are, and a plugin that asks `cancelled` hears so. One that returns then is a fault like
    /// another, and [`Host::timed_out`] tells of it.
    ///
    /// Calls in progress of the same library at the same time are given up with it. Isolated ones
    /// are not meant: their processes are ended.
    pub fn give_up(&self, patience: Duration) {
        let what = format!("hangs: it did not answer for {} s", patience.as_secs());
        let tell = |module: &str| self.0.events.note_timeout(module, &what);
        self.0.pool.give_up(patience.as_millis() as u64, tell);
    }

    /// Whether a hang has not been told of yet.
    pub fn is_news(&self, hang: &Hang) -> bool {
        let catalog = self.0.catalog();
        let mut cells = catalog.cells.values().filter(|c| c.id == hang.module);
        cells.any(|cell| cell.hangs_for(HANG).is_some() && cell.is_new_hang())
    }
}

/// A file that the host knows.
struct KnownFile {
    state: FileState,
    inspected: Option<Inspected>,
    stamp: Option<Stamp>,
}

#[derive(Default)]
struct Catalog {
    files: BTreeMap<PathBuf, KnownFile>,
    settling: BTreeMap<PathBuf, Settling>,
    cells: BTreeMap<(&'static str, ModuleKind), Arc<Cell>>,
    trust: Option<Trust>,
    wanted: Wanted,
}

pub(crate) struct Inner {
    options: HostOptions,
    catalog: Mutex<Catalog>,
    pub(crate) events: Arc<Events>,
    quarantine: Arc<Quarantine>,
    /// Where the last words of this process go.
    _noted: Option<Noted>,
    helper: Arc<Vec<OsString>>,
    revision: AtomicU64,
    ending: AtomicBool,
    copies: PathBuf,
    pool: Arc<LibraryPool>,
    scripts: Scripts,
}

/// The host of modules from outside. Its registry holds them beside those that are built in.
pub struct Host {
    inner: Arc<Inner>,
    thread: Option<JoinHandle<()>>,
}

impl Host {
    /// Looks at all folders and, if wished, watches them from now on.
    pub fn open(mut options: HostOptions) -> Self {
        // Watchers tell absolute paths.
        for folder in options.plugins.iter_mut().chain(&mut options.scripts) {
            if let Ok(absolute) = std::path::absolute(&*folder) {
                *folder = absolute;
            }
        }
        // A process may have several hosts, one after the other or at once.
        static HOSTS: AtomicU64 = AtomicU64::new(0);
        let number = HOSTS.fetch_add(1, Ordering::Relaxed);
        let copies = options.cache.join("copies");
        let copies = copies.join(format!("{}-{number}", std::process::id()));
        sweep_copies(&options.cache.join("copies"));
        let ends = options.cache.join("ends");
        let quarantine = Quarantine::open(&options.cache.join("marks"), &ends);
        crate::native::last_words::install();
        let words = LastWords::open(&ends, &format!("{}-{number}", std::process::id()));
        let noted = words.map(Noted::new);
        let events = Arc::new(Events::default());
        let scripts = Scripts::new(&options.scripts, events.clone());
        let inner = Arc::new(Inner {
            quarantine: Arc::new(quarantine),
            _noted: noted,
            helper: Arc::new(options.helper.clone()),
            catalog: Mutex::new(Catalog {
                trust: Some(options.trust.clone()),
                wanted: options.wanted.clone(),
                ..Catalog::default()
            }),
            events,
            revision: AtomicU64::new(1),
            ending: AtomicBool::new(false),
            pool: Arc::default(),
            copies,
            scripts,
            options,
        });
        inner.scan(true);
        if inner.scripts_want_all() {
            inner.want(Wanted::All);
        }
        let thread = inner.options.watch.then(|| {
            let inner = inner.clone();
            std::thread::spawn(move || inner.watch())
        });
        Self { inner, thread }
    }

    /// All modules: those that are built in, plugins, scripts.
    pub fn registry(&self) -> Registry {
        self.inner.registry()
    }

    /// Another number means that there are other modules to choose from, or other parameters.
    pub fn revision(&self) -> u64 {
        self.inner.revision.load(Ordering::Acquire) + self.inner.scripts.revision()
    }

    /// The first module that was stopped because it took too long, and how, if any was: from then on
    /// results depend on how fast the machine is.
    pub fn timed_out(&self) -> Option<String> {
        self.inner.events.timed_out()
    }

    /// What plugins have logged since this was asked last: id and line. Isolated ones are not heard.
    pub fn log_lines(&self) -> Vec<(&'static str, String)> {
        let cells: Vec<Arc<Cell>> = self.inner.catalog().cells.values().cloned().collect();
        let lines = cells.iter().flat_map(|cell| {
            let own = cell.take_log().into_iter();
            own.map(|line| (cell.id, line))
        });
        lines.collect()
    }

    /// What has happened since this was asked last.
    pub fn events(&self) -> Vec<Event> {
        self.inner.events.drain()
    }

    /// All modules from outside, with how they do.
    pub fn modules(&self) -> Vec<ModuleRow> {
        let mut rows = self.inner.plugin_rows();
        rows.extend(self.inner.scripts.rows());
        rows
    }

    /// All files in the folders of plugins.
    pub fn files(&self) -> Vec<FileRow> {
        let catalog = self.inner.catalog();
        let row = |(path, file): (&PathBuf, &KnownFile)| FileRow {
            path: path.clone(),
            state: file.state.clone(),
            info: file.inspected.as_ref().map(|i| i.info.clone()),
            hash: file
                .inspected
                .as_ref()
                .map_or(String::new(), |i| i.hash.clone()),
        };
        catalog.files.iter().map(row).collect()
    }

    /// The scripts.
    pub fn scripts(&self) -> &Scripts {
        &self.inner.scripts
    }

    /// Allows a build to run.
    pub fn allow(&self, hash: &str) {
        let mut catalog = self.inner.catalog();
        if let Some(Trust::Hashes(hashes)) = &mut catalog.trust {
            hashes.insert(hash.to_owned());
        }
        drop(catalog);
        self.inner
            .reconsider(|file| file.state == FileState::NeedsPermission);
    }

    /// Looks at all folders now, without waiting for events.
    pub fn rescan(&self) {
        self.inner.scan(true);
    }

    /// Loads a module's file again, quarantined or not, and makes fresh instances.
    pub fn reload(&self, id: &str) {
        let hashes: Vec<String> = {
            let catalog = self.inner.catalog();
            let of_module = |file: &&KnownFile| {
                let info = file.inspected.as_ref();
                info.is_some_and(|inspected| inspected.info.id == id)
            };
            let files = catalog.files.values().filter(of_module);
            let inspected = files.filter_map(|file| file.inspected.as_ref());
            inspected.map(|inspected| inspected.hash.clone()).collect()
        };
        for hash in hashes {
            self.inner.quarantine.pardon(&hash);
        }
        let of_module = |file: &KnownFile| file.inspected.as_ref().is_some_and(|i| i.info.id == id);
        self.inner.reconsider(of_module);
        self.inner.for_module(id, |cell| cell.restart());
        self.inner.scripts.reload(id);
    }

    /// Switches a module off or on; the built-in one stands in for it.
    pub fn set_disabled(&self, id: &str, disabled: bool) {
        self.inner
            .for_module(id, |cell| cell.set_disabled(disabled));
        self.inner.scripts.set_disabled(id, disabled);
    }

    /// Runs a module in a process of its own, or in this one.
    pub fn set_isolated(&self, id: &str, isolated: bool) {
        self.inner
            .for_module(id, |cell| cell.set_isolated(isolated));
    }

    /// Back to the build before; says whether there was one.
    pub fn roll_back(&self, id: &str) -> bool {
        let mut rolled = false;
        self.inner.for_module(id, |cell| rolled |= cell.roll_back());
        rolled
    }

    /// Something that tells of calls that do not come back, for another thread.
    pub fn watch_calls(&self) -> CallWatch {
        CallWatch(self.inner.clone())
    }

    /// Keeps a module's active build out of the next start, as after a crash.
    pub fn quarantine(&self, id: &str) {
        self.inner.for_module(id, |cell| {
            if let Some(generation) = cell.wish().generation {
                cell.quarantine.begin_trial(&generation.hash, cell.id);
            }
        });
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.inner.ending.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook already.
            let _ = thread.join();
        }
        let _ = std::fs::remove_dir_all(&self.inner.copies);
    }
}

/// Removes the copies of processes that are gone.
fn sweep_copies(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let process = name.split('-').next().unwrap_or_default();
        let alive = Path::new("/proc").join(process).exists();
        // Where there is no /proc, nothing is known: copies of the day before are old enough.
        let old = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .ok()
            .and_then(|time| time.elapsed().ok())
            .is_some_and(|age| age > Duration::from_secs(24 * 3600));
        let gone = if Path::new("/proc/self").exists() {
            !alive
        } else {
            old
        };
        if gone {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Writes a copy that nobody else writes to. Not by copying the file: on some systems that would
/// be a change of the file that is watched.
fn write_copy(bytes: &[u8], copy: &Path) -> std::io::Result<()> {
    if let Some(folder) = copy.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(copy, bytes)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(copy, std::fs::Permissions::from_mode(0o500))?;
    }
    Ok(())
}

/// The libraries in a folder, in the order of their names.
fn libraries_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| is_library(path));
    paths.sort();
    paths
}

/// Whether a file's name is that of a library.
fn is_library(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let name = path.file_name().and_then(|name| name.to_str());
    matches!(ending, Some("so" | "dylib" | "dll"))
        && name.is_some_and(|name| !name.starts_with('.'))
}

impl Inner {
    fn catalog(&self) -> MutexGuard<'_, Catalog> {
        locked(&self.catalog)
    }

    fn touch(&self) {
        self.revision.fetch_add(1, Ordering::Release);
    }

    fn say(&self, level: Level, path: &Path, text: String) {
        let name = path.file_name().unwrap_or(path.as_os_str());
        self.events.push(Event {
            level,
            module: name.to_string_lossy().into_owned(),
            text,
        });
    }

    fn for_module(&self, id: &str, mut act: impl FnMut(&Cell)) {
        let cells: Vec<Arc<Cell>> = {
            let catalog = self.catalog();
            let cells = catalog.cells.iter().filter(|((of, _), _)| *of == id);
            cells.map(|(_, cell)| cell.clone()).collect()
        };
        for cell in cells {
            act(&cell);
        }
        self.touch();
    }

    /// Looks at files of some kind again.
    fn reconsider(&self, which: impl Fn(&KnownFile) -> bool) {
        let paths: Vec<PathBuf> = {
            let catalog = self.catalog();
            let files = catalog.files.iter().filter(|(_, file)| which(file));
            files.map(|(path, _)| path.clone()).collect()
        };
        for path in paths {
            self.consider(&path, native_now());
        }
    }

    fn watch(&self) {
        let folders = [&self.options.plugins[..], &self.options.scripts[..]].concat();
        let watch = Watch::new(&folders);
        // What has changed before the watch began sends no event.
        self.scan(false);
        let mut scanned = native_now();
        while !self.ending.load(Ordering::Relaxed) {
            for hint in watch.hints(TICK) {
                if self.scripts.is_script(&hint.path) {
                    self.scripts.note_change(&hint.path);
                } else if is_library(&hint.path) && self.rank(&hint.path).is_some() {
                    let mut catalog = self.catalog();
                    let settling = catalog
                        .settling
                        .entry(hint.path.clone())
                        .or_insert_with(|| Settling::new(&hint.path, native_now()));
                    if hint.is_closed {
                        settling.note_closed();
                    }
                }
            }
            if scanned.elapsed() > SCAN {
                scanned = native_now();
                self.scan(false);
            }
            self.take_settled();
            self.scripts.take_settled();
        }
    }

    /// Looks at all folders; files that are new or have changed settle first unless `at_once`.
    fn scan(&self, at_once: bool) {
        let found: Vec<PathBuf> = self
            .options
            .plugins
            .iter()
            .flat_map(|folder| libraries_of(folder))
            .collect();
        // What has gone makes room for what was shadowed by it, and for what was moved.
        let known: Vec<PathBuf> = self.catalog().files.keys().cloned().collect();
        for path in known.iter().filter(|path| !found.contains(path)) {
            self.note_gone(path);
        }
        for path in found {
            let stamp = Stamp::of(&path);
            let mut catalog = self.catalog();
            let known = catalog.files.get(&path);
            let is_new = known.is_none_or(|file| file.stamp != stamp);
            if is_new && !catalog.settling.contains_key(&path) {
                let settling = Settling::new(&path, native_now());
                catalog.settling.insert(path.clone(), settling);
            }
            drop(catalog);
            if is_new && at_once {
                self.consider(&path, native_now());
            }
        }
        self.scripts.scan(at_once);
    }

    fn note_gone(&self, path: &Path) {
        if path.exists() {
            return;
        }
        let mut catalog = self.catalog();
        let Some(file) = catalog.files.get_mut(path) else {
            return;
        };
        if file.state == FileState::Active {
            file.state = FileState::Orphaned;
            file.stamp = None;
            drop(catalog);
            let text =
                "File removed; the loaded version keeps running until you stop or unload it.";
            self.say(Level::Warning, path, text.into());
            self.touch();
            let first = path.to_owned();
            self.reconsider(|file| file.state == FileState::Shadowed(first.clone()));
        } else if file.state != FileState::Orphaned {
            catalog.files.remove(path);
            drop(catalog);
            self.touch();
        }
    }

    fn take_settled(&self) {
        let now = native_now();
        let (settled, gone) = {
            let mut catalog = self.catalog();
            let mut settled = Vec::new();
            let mut gone = Vec::new();
            for (path, settling) in &mut catalog.settling {
                if settling.is_at_rest(path, now) {
                    settled.push(path.clone());
                } else if !path.exists() {
                    gone.push(path.clone());
                }
            }
            for path in &gone {
                catalog.settling.remove(path);
            }
            (settled, gone)
        };
        for path in gone {
            self.note_gone(&path);
        }
        for path in settled {
            self.consider(&path, now);
        }
    }

    /// Looks at a file that has come to rest, and lets its build take over if it is sound.
    fn consider(&self, path: &Path, now: Instant) {
        let stamp = Stamp::of(path);
        let looked = inspect(path);
        // Nobody looks again where nothing is watched.
        if let Err(error) = &looked
            && self.options.watch
            && error.may_be_incomplete()
        {
            let mut catalog = self.catalog();
            if let Some(settling) = catalog.settling.get_mut(path)
                && !settling.note_incomplete(now)
            {
                let is_known = catalog.files.contains_key(path);
                if !is_known {
                    let waiting = KnownFile {
                        state: FileState::Settling,
                        inspected: None,
                        stamp: None,
                    };
                    catalog.files.insert(path.to_owned(), waiting);
                    drop(catalog);
                    self.say(Level::Info, path, "Waiting for the file to finish.".into());
                }
                return;
            }
        }
        self.catalog().settling.remove(path);
        let (state, inspected) = match looked {
            Err(error) => (self.reject(path, &error), None),
            Ok((inspected, bytes)) => {
                let state = self.accept(path, &inspected, bytes);
                (state, Some(inspected))
            }
        };
        let mut catalog = self.catalog();
        let file = KnownFile {
            state,
            inspected,
            stamp,
        };
        catalog.files.insert(path.to_owned(), file);
        drop(catalog);
        self.touch();
    }

    fn reject(&self, path: &Path, error: &InspectError) -> FileState {
        let text = error.to_string();
        self.say(Level::Error, path, text.clone());
        FileState::Rejected(text)
    }

    /// Whether a script among what is wanted may choose modules that nobody else names.
    fn scripts_want_all(&self) -> bool {
        let wanted = self.catalog().wanted.clone();
        let Wanted::Ids(ids) = wanted else {
            return false;
        };
        let mut ids = ids.iter();
        ids.any(|id| match self.options.watch {
            true => self.scripts.has(id),
            false => self.scripts.chooses_modules(id),
        })
    }

    /// Loads what is wanted from now on and was not before.
    fn want(&self, wanted: Wanted) {
        self.catalog().wanted = wanted;
        self.reconsider(|file| file.state == FileState::Idle);
    }

    fn accept(&self, path: &Path, inspected: &Inspected, bytes: Vec<u8>) -> FileState {
        let (info, hash) = (&inspected.info, &inspected.hash);
        if !self.catalog().wanted.has(&info.id) {
            return FileState::Idle;
        }
        if let Some(first) = self.shadowing(path, &info.id) {
            let text = format!("{} is already provided by {}", info.id, first.display());
            self.say(Level::Warning, path, text);
            return FileState::Shadowed(first);
        }
        let id = intern(&info.id);
        let is_active = {
            let catalog = self.catalog();
            info.module_kinds().all(|kind| {
                let cell = catalog.cells.get(&(id, kind));
                let active = cell.and_then(|cell| cell.state().wish.generation.clone());
                active.is_some_and(|active| active.hash == *hash)
            })
        };
        if is_active {
            return FileState::Active;
        }
        let is_isolated = self.is_isolated(id);
        let late = self.quarantine.late_end(hash).filter(|_| !is_isolated);
        let why = late.as_ref().filter(|end| end.keeps_out);
        let why = why.map(|end| end.text.clone());
        if let Some(why) = self.quarantine.reason(hash).or(why) {
            self.say(Level::Error, path, format!("Quarantined: {why}"));
            self.make_cells(id, info);
            return FileState::Rejected(format!("quarantined: {why}"));
        }
        let allowed = self
            .catalog()
            .trust
            .as_ref()
            .is_some_and(|trust| trust.allows(hash));
        if !allowed {
            let text = format!(
                "{} {} may not run yet: allow its hash {}",
                info.name, info.version, hash
            );
            self.say(Level::Warning, path, text);
            self.make_cells(id, info);
            return FileState::NeedsPermission;
        }
        if let Some(end) = late {
            self.say(Level::Warning, path, end.text);
        }
        match self.load(path, inspected, bytes, id) {
            Ok(()) => FileState::Active,
            Err(why) => {
                self.say(Level::Error, path, why.clone());
                FileState::Rejected(why)
            }
        }
    }

    /// Whether a module runs in a process of its own.
    fn is_isolated(&self, id: &str) -> bool {
        let catalog = self.catalog();
        let mut cells = catalog.cells.iter().filter(|((of, _), _)| *of == id);
        let is_so = cells.any(|(_, cell)| cell.state().wish.is_isolated);
        is_so || self.options.isolated.contains(id)
    }

    /// The place of a file's folder among the folders.
    fn rank(&self, path: &Path) -> Option<usize> {
        let folder = path.parent()?;
        self.options.plugins.iter().position(|f| f == folder)
    }

    /// The file that provides a module already and comes first.
    fn shadowing(&self, path: &Path, id: &str) -> Option<PathBuf> {
        let rank = |path: &Path| self.rank(path).unwrap_or(usize::MAX);
        let catalog = self.catalog();
        let mut others = catalog.files.iter().filter(|(other, file)| {
            let same = file.inspected.as_ref().is_some_and(|i| i.info.id == id);
            let counts = matches!(
                file.state,
                FileState::Active | FileState::NeedsPermission | FileState::Idle
            );
            same && counts && other.as_path() != path
        });
        let first = others.find(|(other, _)| (rank(other), other.as_path()) < (rank(path), path));
        first.map(|(other, _)| other.clone())
    }

    fn make_cells(&self, id: &'static str, info: &PluginInfo) -> Vec<Arc<Cell>> {
        let mut catalog = self.catalog();
        let kinds: Vec<ModuleKind> = info.module_kinds().collect();
        let cells = kinds.into_iter().map(|kind| {
            let make = || {
                let cell = Cell::new(
                    id,
                    kind,
                    self.events.clone(),
                    self.quarantine.clone(),
                    self.helper.clone(),
                    self.options.isolated_memory,
                );
                let isolated = self.options.isolated.contains(id);
                cell.state().wish.is_isolated = isolated;
                cell.set_info(info);
                Arc::new(cell)
            };
            catalog.cells.entry((id, kind)).or_insert_with(make).clone()
        });
        cells.collect()
    }

    /// Tries a build in a child process and publishes it.
    fn load(
        &self,
        path: &Path,
        inspected: &Inspected,
        bytes: Vec<u8>,
        id: &'static str,
    ) -> Result<(), String> {
        let info = &inspected.info;
        let cells = self.make_cells(id, info);
        let number = 1 + cells.iter().map(|c| c.state().builds).max().unwrap_or(0);
        let name = format!("{id}-{}-{number}", &inspected.hash[..8]);
        let copy = self
            .copies
            .join(name)
            .with_added_extension(std::env::consts::DLL_EXTENSION);
        write_copy(&bytes, &copy)
            .map_err(|error| format!("cannot copy the library to {}: {error}", copy.display()))?;
        let generation = Arc::new(Generation {
            number,
            info: info.clone(),
            module: ModuleInfo {
                id,
                name: intern(&info.name),
                doc: intern(&info.doc),
            },
            who: Box::leak(Box::new(Who {
                module: id,
                hash: intern(&inspected.hash),
            })),
            hash: inspected.hash.clone(),
            path: path.to_owned(),
            copy,
            library: OnceLock::new(),
            pool: self.pool.clone(),
        });
        crate::native::probe::probe(&self.helper, &generation.copy)?;
        for cell in &cells {
            cell.set_info(info);
            // Loaded now, not between two steps; in isolated mode not at all.
            let is_isolated = cell.state().wish.is_isolated;
            let parameters = crate::native::parameters_of(cell, &generation, is_isolated)
                .map_err(|fault| fault.message)?;
            cell.set_parameters(parameters);
        }
        for cell in &cells {
            cell.publish(generation.clone());
        }
        if number == MANY_GENERATIONS {
            let text = format!("{number} builds stay loaded: a restart frees their memory.");
            self.say(Level::Warning, path, text);
        }
        let text = format!("{} {} loaded", info.name, info.version);
        self.say(Level::Info, path, text);
        Ok(())
    }

    fn registry(&self) -> Registry {
        let mut registry = self.options.builtin.clone();
        let cells: Vec<Arc<Cell>> = self.catalog().cells.values().cloned().collect();
        for cell in cells {
            match cell.kind {
                ModuleKind::Planner => self.enter::<AsPlanner>(&mut registry, cell),
                ModuleKind::Controller => self.enter::<AsController>(&mut registry, cell),
                ModuleKind::Fitness => self.enter::<AsFitness>(&mut registry, cell),
                ModuleKind::Behaviour => {}
            }
        }
        self.scripts.enter(&mut registry);
        registry
    }

    fn enter<K: Kind>(&self, registry: &mut Registry, cell: Arc<Cell>)
    where
        Native<K>: IntoLogic<K::Logic>,
    {
        // One that may not run or is in quarantine is not there for new runs; those that use it
        // already go on with what stands in for it.
        if !cell.has_been_active() {
            return;
        }
        let builtin = self.options.builtin.clone();
        let (info, parameters) = (cell.module_info(), cell.parameters());
        registry.add(Entry::<K::Logic>::new(info, parameters, move || {
            let fallback = K::fallback(&builtin).expect("every kind has a built-in module");
            Native::<K>::new(cell.clone(), fallback).into_logic()
        }));
    }

    fn plugin_rows(&self) -> Vec<ModuleRow> {
        let catalog = self.catalog();
        let row = |cell: &Arc<Cell>| {
            let of_module = |file: &&KnownFile| {
                let inspected = file.inspected.as_ref();
                inspected.is_some_and(|inspected| inspected.info.id == cell.id)
            };
            let files = catalog.files.iter().filter(|(_, file)| of_module(file));
            let file = files.min_by_key(|(_, file)| match file.state {
                FileState::Active => 0,
                FileState::NeedsPermission | FileState::Rejected(_) => 1,
                _ => 2,
            });
            cell.row(file.map(|(path, file)| (path.clone(), file.state.clone())))
        };
        catalog.cells.values().map(row).collect()
    }
}

/// Logic by kind, out of the one type that serves all of them.
pub(crate) trait IntoLogic<L: Choosable + ?Sized> {
    fn into_logic(self) -> Box<L>;
}

impl IntoLogic<dyn roadwright_agent::Controller> for Native<AsController> {
    fn into_logic(self) -> Box<dyn roadwright_agent::Controller> {
        Box::new(self)
    }
}

impl IntoLogic<dyn roadwright_agent::Fitness> for Native<AsFitness> {
    fn into_logic(self) -> Box<dyn roadwright_agent::Fitness> {
        Box::new(self)
    }
}

impl IntoLogic<dyn roadwright_agent::Planner> for Native<AsPlanner> {
    fn into_logic(self) -> Box<dyn roadwright_agent::Planner> {
        Box::new(self)
    }
}
