//! The host of external modules in plugin folders and script folders.

use crate::catalogue::{Catalogue, FileRow, KnownFile, ModuleRow, Take, Trust, Wanted};
use crate::event::Event;
use crate::native::PluginEntry;
use crate::script::Scripts;
use roadwright_agent::Registry;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Duration above which a call counts as hanging, ms.
const HANG: u64 = 2000;
/// Default memory limit of an isolated module, MiB of address space.
pub const ISOLATED_MEMORY: u64 = 4096;

/// Options for finding and running external modules.
#[derive(Clone)]
pub struct HostOptions {
    /// Plugin folders; if several provide the same id, the first one is used.
    pub plugins: Vec<PathBuf>,
    /// Script folders; if several contain the same name, the first one is used.
    pub scripts: Vec<PathBuf>,
    /// Folder for copies of libraries and for the records of builds on trial.
    pub cache: PathBuf,
    /// Program and arguments that call [`crate::helper`], used to start child processes.
    pub helper: Vec<OsString>,
    /// Builds that may run.
    pub trust: Trust,
    /// Plugins to load.
    pub wanted: Wanted,
    /// Ids of modules that run in separate processes.
    pub isolated: BTreeSet<String>,
    /// Memory limit of each isolated process, MiB of address space; usually [`ISOLATED_MEMORY`].
    pub isolated_memory: u64,
    /// Whether to watch the folders.
    pub watch: bool,
    /// Built-in modules.
    pub builtin: Registry,
}

/// A plugin call that is taking too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hang {
    /// Id of the module.
    pub module: String,
    /// Duration of the call so far, ms.
    pub milliseconds: u64,
}

/// Reports hanging native calls and unread events to threads other than the thread of the host.
#[derive(Clone)]
pub struct CallWatch(Arc<Catalogue>);

impl CallWatch {
    /// Returns the revision number of the available modules, see [`Host::revision`].
    pub fn revision(&self) -> u64 {
        self.0.revision()
    }

    /// Whether there are events that [`Host::events`] has not returned yet.
    pub fn has_unread(&self) -> bool {
        self.0.events.has_unread()
    }

    /// Whether this handle and `other` belong to the same host.
    pub fn is_of_same_host(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the calls that have not returned for two seconds.
    pub fn hangs(&self) -> Vec<Hang> {
        let plugins = self.0.plugins();
        let hang = |cell: &Arc<PluginEntry>| {
            Some(Hang {
                module: cell.id.to_owned(),
                milliseconds: cell.hangs_for(HANG)?,
            })
        };
        plugins.cells.values().filter_map(hang).collect()
    }

    /// Abandons all native calls that have taken at least `patience`. Their answers are not used, and
    /// `cancelled` returns 1 in the plugin. If such a call returns later, it counts as a fault and is
    /// reported by [`Host::timed_out`].
    ///
    /// Concurrent calls of the same library are abandoned as well. Isolated modules are not affected, because
    /// their processes are killed instead.
    pub fn give_up(&self, patience: Duration) {
        let what = format!(
            "is not responding: it did not answer for {} s",
            patience.as_secs()
        );
        let tell = |module: &str| self.0.events.note_timeout(module, &what);
        self.0.pool.give_up(patience.as_millis() as u64, tell);
    }

    /// Whether a hang has not been reported yet.
    pub fn is_news(&self, hang: &Hang) -> bool {
        // Checked again, because the call may have returned since the hang was detected.
        let plugins = self.0.plugins();
        let mut cells = plugins.cells.values().filter(|c| c.id == hang.module);
        cells.any(|cell| cell.hangs_for(HANG).is_some() && cell.is_new_hang())
    }
}

/// Host of external modules. Its registry contains external and built-in modules.
pub struct Host {
    catalogue: Arc<Catalogue>,
    thread: Option<JoinHandle<()>>,
}

impl Host {
    /// Creates a host and scans all folders. It keeps watching them if `options.watch` is set.
    pub fn open(mut options: HostOptions) -> Self {
        // Watchers report absolute paths.
        for folder in options.plugins.iter_mut().chain(&mut options.scripts) {
            if let Ok(absolute) = std::path::absolute(&*folder) {
                *folder = absolute;
            }
        }
        let catalogue = Arc::new(Catalogue::open(options));
        let thread = catalogue.options().watch.then(|| {
            let catalogue = catalogue.clone();
            std::thread::spawn(move || catalogue.watch())
        });
        Self { catalogue, thread }
    }

    /// Returns all modules: built-ins, plugins and scripts.
    pub fn registry(&self) -> Registry {
        self.catalogue.registry()
    }

    /// Returns the revision number of the available modules and their parameters, which changes
    /// whenever they do.
    pub fn revision(&self) -> u64 {
        self.catalogue.revision()
    }

    /// Returns the first module that timed out, with the reason; `None` if none has. After a timeout, results
    /// depend on the speed of the machine.
    pub fn timed_out(&self) -> Option<String> {
        self.catalogue.events.timed_out()
    }

    /// Returns the lines that plugins have logged since the last call, with their ids. Isolated plugins are
    /// not included.
    pub fn log_lines(&self) -> Vec<(&'static str, String)> {
        let cells: Vec<Arc<PluginEntry>> =
            self.catalogue.plugins().cells.values().cloned().collect();
        let lines = cells.iter().flat_map(|cell| {
            let own = cell.take_log().into_iter();
            own.map(|line| (cell.id, line))
        });
        lines.collect()
    }

    /// Returns a message for each earlier process that ended silently while plugins ran in it. Each message
    /// is returned only once.
    pub fn silent_ends(&self) -> Vec<String> {
        self.catalogue.quarantine.take_silent_ends()
    }

    /// Returns the events since the last call.
    pub fn events(&self) -> Vec<Event> {
        self.catalogue.events.drain()
    }

    /// Returns the rows of all external modules.
    pub fn modules(&self) -> Vec<ModuleRow> {
        let mut rows = self.catalogue.plugin_rows();
        rows.extend(self.catalogue.scripts.rows());
        rows
    }

    /// Returns all files in the plugin folders.
    pub fn files(&self) -> Vec<FileRow> {
        let plugins = self.catalogue.plugins();
        let row = |(path, file): (&PathBuf, &KnownFile)| FileRow {
            path: path.clone(),
            state: file.state.clone(),
            info: file.inspected.as_ref().map(|i| i.info.clone()),
            hash: file
                .inspected
                .as_ref()
                .map_or(String::new(), |i| i.hash.clone()),
        };
        plugins.known.iter().map(row).collect()
    }

    /// Whether plugin code runs in this process, or may do so later because folders are watched.
    pub fn may_run_in_this_process(&self) -> bool {
        let runs_here = |cell: &Arc<PluginEntry>| {
            let wish = cell.wish();
            wish.generation.is_some() && !wish.is_isolated
        };
        let options = self.catalogue.options();
        let may_come = options.watch && options.plugins.iter().any(|folder| folder.is_dir());
        may_come || self.catalogue.plugins().cells.values().any(runs_here)
    }

    /// Returns the scripts in the folders, and the shipped scripts.
    pub fn scripts(&self) -> &Scripts {
        &self.catalogue.scripts
    }

    /// Allows the build with this hash to run.
    pub fn allow(&self, hash: &str) {
        self.catalogue.allow(hash);
    }

    /// Scans all folders now, without waiting for events.
    pub fn rescan(&self) {
        self.catalogue.scan(Take::AtOnce);
    }

    /// Lifts the quarantine of all builds of a plugin in the folders, so that they are loaded at the next
    /// start. Returns the number of quarantined builds; `None` if no file contains this plugin.
    pub fn lift_quarantine(&self, id: &str) -> Option<usize> {
        // Collected first, so that the lock on the plugins is released before the quarantine takes its own
        // lock and `reconsider` takes the lock on the plugins again.
        let hashes: Vec<String> = {
            let plugins = self.catalogue.plugins();
            let of_module = |file: &&KnownFile| {
                let info = file.inspected.as_ref();
                info.is_some_and(|inspected| inspected.info.id == id)
            };
            let files = plugins.known.values().filter(of_module);
            let inspected = files.filter_map(|file| file.inspected.as_ref());
            inspected.map(|inspected| inspected.hash.clone()).collect()
        };
        let quarantine = &self.catalogue.quarantine;
        let pardon = |hash: &&String| quarantine.pardon(hash);
        (!hashes.is_empty()).then(|| hashes.iter().filter(pardon).count())
    }

    /// Reloads a module's file, even if it is quarantined, and creates fresh instances.
    pub fn reload(&self, id: &str) {
        // A reload requested by the user also lifts the quarantine, so that the build gets another
        // attempt.
        self.lift_quarantine(id);
        let of_module = |file: &KnownFile| file.inspected.as_ref().is_some_and(|i| i.info.id == id);
        self.catalogue.reconsider(of_module);
        self.catalogue.for_module(id, |cell| cell.restart());
        self.catalogue.scripts.reload(id);
    }

    /// Disables or enables a module. While it is disabled, the built-in module answers.
    pub fn set_disabled(&self, id: &str, disabled: bool) {
        // Passed to both, because an id belongs either to a plugin or to a script, and the other side ignores
        // it.
        self.catalogue
            .for_module(id, |cell| cell.set_disabled(disabled));
        self.catalogue.scripts.set_disabled(id, disabled);
    }

    /// Runs a module in a separate process or in this process.
    pub fn set_isolated(&self, id: &str, isolated: bool) {
        self.catalogue
            .for_module(id, |cell| cell.set_isolated(isolated));
    }

    /// Rolls back to the previous build. Returns whether there was one.
    pub fn roll_back(&self, id: &str) -> bool {
        let mut rolled = false;
        self.catalogue
            .for_module(id, |cell| rolled |= cell.roll_back());
        rolled
    }

    /// Returns a handle for another thread that reports hanging calls and unread events.
    pub fn watch_calls(&self) -> CallWatch {
        CallWatch(self.catalogue.clone())
    }

    /// Quarantines a module's active build as after a crash. This takes effect at the next start.
    pub fn quarantine(&self, id: &str) {
        self.catalogue.for_module(id, |cell| {
            if let Some(generation) = cell.wish().generation {
                // Begins a trial that is never ended. At the next start its mark belongs to no
                // living process, as after a crash.
                cell.quarantine.begin_trial(&generation.hash, cell.id);
            }
        });
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.catalogue.end();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}
