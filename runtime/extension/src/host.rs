//! The host of everything that comes from outside: folders of plugins and of scripts.

use crate::catalogue::{Catalogue, FileRow, KnownFile, ModuleRow, Trust, Wanted};
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

/// A call that takes longer is a hang, ms.
const HANG: u64 = 2000;
/// Memory that an isolated module may use unless something else is said, MiB of address space.
pub const ISOLATED_MEMORY: u64 = 4096;

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

/// A call of a plugin that does not come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hang {
    /// The module.
    pub module: String,
    /// For how long, ms.
    pub milliseconds: u64,
}

/// Tells of native calls that do not come back, and of news, in a thread beside that of the host.
#[derive(Clone)]
pub struct CallWatch(Arc<Catalogue>);

impl CallWatch {
    /// As [`Host::revision`].
    pub fn revision(&self) -> u64 {
        self.0.revision()
    }

    /// Whether something has happened that [`Host::events`] has not given out yet.
    pub fn has_unread(&self) -> bool {
        self.0.events.has_unread()
    }

    /// Whether both are about the same host.
    pub fn is_of_same_host(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Calls that have not come back for two seconds.
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
        // Asked again: the call may have returned since the hang was noticed.
        let plugins = self.0.plugins();
        let mut cells = plugins.cells.values().filter(|c| c.id == hang.module);
        cells.any(|cell| cell.hangs_for(HANG).is_some() && cell.is_new_hang())
    }
}

/// The host of modules from outside. Its registry holds them beside those that are built in.
pub struct Host {
    catalogue: Arc<Catalogue>,
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
        let catalogue = Arc::new(Catalogue::open(options));
        let thread = catalogue.options().watch.then(|| {
            let catalogue = catalogue.clone();
            std::thread::spawn(move || catalogue.watch())
        });
        Self { catalogue, thread }
    }

    /// All modules: those that are built in, plugins, scripts.
    pub fn registry(&self) -> Registry {
        self.catalogue.registry()
    }

    /// Another number means that there are other modules to choose from, or other parameters.
    pub fn revision(&self) -> u64 {
        self.catalogue.revision()
    }

    /// The first module that was stopped because it took too long, and how, if any was: from then on
    /// results depend on how fast the machine is.
    pub fn timed_out(&self) -> Option<String> {
        self.catalogue.events.timed_out()
    }

    /// What plugins have logged since this was asked last: id and line. Isolated ones are not heard.
    pub fn log_lines(&self) -> Vec<(&'static str, String)> {
        let cells: Vec<Arc<PluginEntry>> =
            self.catalogue.plugins().cells.values().cloned().collect();
        let lines = cells.iter().flat_map(|cell| {
            let own = cell.take_log().into_iter();
            own.map(|line| (cell.id, line))
        });
        lines.collect()
    }

    /// Messages about earlier processes that ended without a word while plugins ran in them, one per process. Each
    /// is returned once.
    pub fn silent_ends(&self) -> Vec<String> {
        self.catalogue.quarantine.take_silent_ends()
    }

    /// What has happened since this was asked last.
    pub fn events(&self) -> Vec<Event> {
        self.catalogue.events.drain()
    }

    /// All modules from outside, with how they do.
    pub fn modules(&self) -> Vec<ModuleRow> {
        let mut rows = self.catalogue.plugin_rows();
        rows.extend(self.catalogue.scripts.rows());
        rows
    }

    /// All files in the folders of plugins.
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

    /// Whether code of plugins runs in this process, or may while folders are watched.
    pub fn may_run_in_this_process(&self) -> bool {
        let runs_here = |cell: &Arc<PluginEntry>| {
            let wish = cell.wish();
            wish.generation.is_some() && !wish.is_isolated
        };
        let options = self.catalogue.options();
        let may_come = options.watch && options.plugins.iter().any(|folder| folder.is_dir());
        may_come || self.catalogue.plugins().cells.values().any(runs_here)
    }

    /// The scripts.
    pub fn scripts(&self) -> &Scripts {
        &self.catalogue.scripts
    }

    /// Allows a build to run.
    pub fn allow(&self, hash: &str) {
        self.catalogue.allow(hash);
    }

    /// Looks at all folders now, without waiting for events.
    pub fn rescan(&self) {
        self.catalogue.scan(true);
    }

    /// Lifts the quarantine of all builds of a plugin that lie in the folders, so that they are
    /// loaded the next time. Returns how many were held; `None` if no file there is this plugin.
    pub fn lift_quarantine(&self, id: &str) -> Option<usize> {
        // Collected first, so that the lock on the plugins is free again before the quarantine
        // takes its own and `reconsider` takes this one anew.
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

    /// Loads a module's file again, quarantined or not, and makes fresh instances.
    pub fn reload(&self, id: &str) {
        // Asking for it is the permission to try again.
        self.lift_quarantine(id);
        let of_module = |file: &KnownFile| file.inspected.as_ref().is_some_and(|i| i.info.id == id);
        self.catalogue.reconsider(of_module);
        self.catalogue.for_module(id, |cell| cell.restart());
        self.catalogue.scripts.reload(id);
    }

    /// Switches a module off or on; the built-in one stands in for it.
    pub fn set_disabled(&self, id: &str, disabled: bool) {
        // Told to both: an id is that of a plugin or of a script, and the other side knows none of
        // that name.
        self.catalogue
            .for_module(id, |cell| cell.set_disabled(disabled));
        self.catalogue.scripts.set_disabled(id, disabled);
    }

    /// Runs a module in a process of its own, or in this one.
    pub fn set_isolated(&self, id: &str, isolated: bool) {
        self.catalogue
            .for_module(id, |cell| cell.set_isolated(isolated));
    }

    /// Goes back to the previous build. Returns whether there was one.
    pub fn roll_back(&self, id: &str) -> bool {
        let mut rolled = false;
        self.catalogue
            .for_module(id, |cell| rolled |= cell.roll_back());
        rolled
    }

    /// Something that tells of calls that do not come back and of news, for another thread.
    pub fn watch_calls(&self) -> CallWatch {
        CallWatch(self.catalogue.clone())
    }

    /// Keeps a module's active build out of the next start, as after a crash.
    pub fn quarantine(&self, id: &str) {
        self.catalogue.for_module(id, |cell| {
            if let Some(generation) = cell.wish().generation {
                // A trial that nobody ends: the next start finds its mark without a process, as
                // after a crash.
                cell.quarantine.begin_trial(&generation.hash, cell.id);
            }
        });
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.catalogue.end();
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook already.
            let _ = thread.join();
        }
    }
}
