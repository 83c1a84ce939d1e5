//! Catalogue of the plugin and script folders: the builds that they contain, and which of them may
//! run.
//!
//! | file | holds |
//! | --- | --- |
//! | `files.rs` | files of both kinds, from the first change until they have settled |
//! | `settling.rs` | detection of files that have settled |
//! | `trust.rs` | which builds may run and which are loaded |
//! | `copies.rs` | private copies of libraries, from which they are loaded |
//! | `plugins.rs` | from a settled library to an active build |
//! | `registry.rs` | the available modules |
//! | `rows.rs` | rows of the tables for users |
//!
//! Scripts compile their files themselves (`script/folder.rs`).

mod copies;
mod files;
mod plugins;
mod registry;
mod rows;
mod settling;
mod trust;

pub(crate) use files::{Files, Take};
pub use plugins::MANY_GENERATIONS;
pub use rows::{FileRow, FileState, Health, ModuleRow};
pub(crate) use settling::Stamp;
pub use trust::{Trust, Wanted};

use crate::event::{Event, Events, Level};
use crate::host::HostOptions;
use crate::lock::locked;
use crate::native::ends::LastWords;
use crate::native::last_words::Noted;
use crate::native::{Inspected, LibraryPool, PluginEntry};
use crate::native_now;
use crate::quarantine::Quarantine;
use crate::script::Scripts;
use crate::watch::Watch;
use copies::Copies;
use plugins::is_library;
use roadwright_agent::ModuleKind;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Time that the thread waits for events before it checks the settling files.
const TICK: Duration = Duration::from_millis(15);
/// Interval at which all folders are scanned, because events can be lost.
const SCAN: Duration = Duration::from_secs(5);

/// A library in a plugin folder, with its state.
pub(crate) struct KnownFile {
    pub(crate) state: FileState,
    pub(crate) inspected: Option<Inspected>,
}

/// The libraries in the plugin folders, and the modules that they provide.
pub(crate) struct Plugins {
    files: Files,
    pub(crate) known: BTreeMap<PathBuf, KnownFile>,
    pub(crate) cells: BTreeMap<(&'static str, ModuleKind), Arc<PluginEntry>>,
    trust: Trust,
    wanted: Wanted,
}

/// The catalogue of all external modules: plugins, scripts, and the state that both share.
pub(crate) struct Catalogue {
    options: HostOptions,
    plugins: Mutex<Plugins>,
    pub(crate) scripts: Scripts,
    pub(crate) events: Arc<Events>,
    pub(crate) quarantine: Arc<Quarantine>,
    /// Open file in which a crash handler records which plugin ended this process.
    _noted: Option<Noted>,
    helper: Arc<Vec<OsString>>,
    revision: AtomicU64,
    ending: AtomicBool,
    copies: Copies,
    pub(crate) pool: Arc<LibraryPool>,
}

impl Catalogue {
    /// Opens the catalogue and scans all folders.
    pub(crate) fn open(options: HostOptions) -> Self {
        // A process may have several hosts, consecutively or at the same time.
        static HOSTS: AtomicU64 = AtomicU64::new(0);
        let number = HOSTS.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let ends = options.cache.join("ends");
        let quarantine = Quarantine::open(&options.cache.join("marks"), &ends);
        crate::native::last_words::install();
        let words = LastWords::open(&ends, &name);
        let events = Arc::new(Events::default());
        let all = Self {
            plugins: Mutex::new(Plugins {
                files: Files::new(&options.plugins, 0),
                known: BTreeMap::new(),
                cells: BTreeMap::new(),
                trust: options.trust.clone(),
                wanted: options.wanted.clone(),
            }),
            scripts: Scripts::new(&options.scripts, events.clone()),
            events,
            quarantine: Arc::new(quarantine),
            _noted: words.map(Noted::new),
            helper: Arc::new(options.helper.clone()),
            revision: AtomicU64::new(1),
            ending: AtomicBool::new(false),
            copies: Copies::new(&options.cache.join("copies"), &name),
            pool: Arc::default(),
            options,
        };
        all.scan(Take::AtOnce);
        // Checked after the scan, which reads the scripts in the folders.
        if all.scripts_want_all() {
            all.want(Wanted::All);
        }
        all
    }

    pub(crate) fn options(&self) -> &HostOptions {
        &self.options
    }

    pub(crate) fn plugins(&self) -> MutexGuard<'_, Plugins> {
        locked(&self.plugins)
    }

    /// Returns the revision number of the available modules and their parameters, which changes
    /// whenever they do.
    pub(crate) fn revision(&self) -> u64 {
        // Both only grow, so their sum changes if either does.
        self.revision.load(Ordering::Acquire) + self.scripts.revision()
    }

    /// Asks the watching thread to stop.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    /// Watches the folders until the catalogue ends.
    pub(crate) fn watch(&self) {
        let folders = [&self.options.plugins[..], &self.options.scripts[..]].concat();
        let watch = Watch::new(&folders);
        // Changes before the watch began have caused no event.
        self.scan(Take::WhenSettled);
        let mut scanned = native_now();
        while !self.ending.load(Ordering::Relaxed) {
            for hint in watch.hints(TICK) {
                if self.scripts.is_script(&hint.path) {
                    self.scripts.note_change(&hint.path);
                } else if is_library(&hint.path) {
                    let mut plugins = self.plugins();
                    if plugins.files.folder_of(&hint.path).is_some() {
                        let now = native_now();
                        match hint.is_closed {
                            true => plugins.files.note_closed(&hint.path, now),
                            false => plugins.files.note_change(&hint.path, now),
                        }
                    }
                }
            }
            if scanned.elapsed() > SCAN {
                scanned = native_now();
                self.scan(Take::WhenSettled);
            }
            self.take_settled_plugins();
            self.scripts.take_settled();
        }
    }

    /// Scans the plugin folders and the script folders.
    pub(crate) fn scan(&self, take: Take) {
        self.scan_plugins(take);
        self.scripts.scan(take);
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

    /// Calls `act` for the entry of each kind of module that the plugin with this id provides.
    pub(crate) fn for_module(&self, id: &str, mut act: impl FnMut(&PluginEntry)) {
        let cells: Vec<Arc<PluginEntry>> = {
            let plugins = self.plugins();
            let cells = plugins.cells.iter().filter(|((of, _), _)| *of == id);
            cells.map(|(_, cell)| cell.clone()).collect()
        };
        for cell in cells {
            act(&cell);
        }
        self.touch();
    }
}
