//! Plugins and scripts in the editor: their host, and the state that panels read.

use crate::settings::Settings;
use crate::trusted_folders::may_be_trusted;
use roadwright_agent::Registry;
use roadwright_bundle::Available;
use roadwright_extension::script::{ScriptError, ScriptRow, Steps};
use roadwright_extension::{
    CallWatch, Event, FileRow, FileState, Hang, Host, HostOptions, ISOLATED_MEMORY, Level,
    ModuleRow, Trust, Wanted,
};
use roadwright_simulation::builtin_modules;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Interval between reads of the table of modules, in seconds.
const REFRESH: f64 = 0.5;

/// Folders with external modules.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// Program and arguments of the child processes of plugins.
    pub helper: Vec<OsString>,
    /// The user's own folder. Its subfolders `plugins` and `scripts` are searched after the folders
    /// beside the scenario.
    pub user: PathBuf,
    /// Folder for copies and quarantine marks.
    pub cache: PathBuf,
}

/// A request to step through a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRequest {
    /// Id of the script.
    pub script: String,
    /// Text of the script, saved or not.
    pub text: String,
    /// Name of the handler.
    pub event: String,
    /// The agent of the run; `None` for a mock agent.
    pub agent: Option<u64>,
}

/// State of plugins and scripts that panels read.
#[derive(Clone, Default)]
pub struct Modules {
    /// All available modules.
    pub registry: Registry,
    /// External modules with their health.
    pub rows: Arc<Vec<ModuleRow>>,
    /// The scripts with their texts.
    pub scripts: Arc<Vec<ScriptRow>>,
    /// Plugin builds that may not run until the user permits them.
    pub unallowed: Vec<FileRow>,
    /// For each build in `unallowed`, its folder, or the reason why the builds of that folder cannot all be
    /// allowed together.
    pub folders: Vec<Result<PathBuf, String>>,
    /// Whether there is a build about which the user has not been asked yet.
    pub asks: bool,
    /// A native call that has not returned.
    pub hang: Option<Hang>,
    /// Description of the module that timed out. Kept until the user has decided how to continue.
    pub timed_out: Option<String>,
    /// For each script that was reloaded during a run: which version, and the time of the run at which it was applied.
    pub applied: BTreeMap<String, String>,
    /// The last script text that was checked: id of the script, text, and error if there is one.
    pub checked: Option<(String, String, Option<ScriptError>)>,
    /// The last stepping request, with the executed statements or the error of the script.
    pub stepping: Option<(StepRequest, Result<Steps, ScriptError>)>,
}

/// The host of plugins and scripts, with the folders that it searches.
pub struct Extensions {
    host: Host,
    watch: CallWatch,
    beside: Option<PathBuf>,
    folders: Folders,
    /// A file that this program has just created, so that its owner is the current user. Only
    /// folders of the same owner can be trusted.
    own: PathBuf,
    revision: u64,
    read_at: f64,
    /// Builds that the user declined for this session.
    declined: BTreeSet<String>,
    /// The timed-out module as last reported; used to report each timeout only once.
    timed_out: Option<String>,
}

/// Changes since the last update.
#[derive(Default)]
pub struct News {
    /// Events for the user.
    pub events: Vec<Event>,
    /// Whether the available modules changed.
    pub has_new_modules: bool,
    /// Whether a module timed out.
    pub has_timed_out: bool,
}

/// Creates a file that is certain to belong to the current user. If that fails, no folder is trusted.
fn own_file(cache: &Path) -> PathBuf {
    // Removed first, because a file placed here by another user would pass as the user's own.
    let own = cache.join("owner");
    // The file must not exist yet, and the folder may be missing.
    let _ = std::fs::remove_file(&own);
    let _ = std::fs::create_dir_all(cache);
    let made = std::fs::File::create_new(&own);
    made.map_or_else(|_| PathBuf::new(), |_| own)
}

impl Extensions {
    /// Opens the user's folders and the folders beside a scenario.
    pub fn open(folders: &Folders, document: Option<&Path>, settings: &Settings) -> Self {
        let beside = document.and_then(Path::parent).map(Path::to_owned);
        let names = |name: &str| {
            let all = beside.iter().chain(std::iter::once(&folders.user));
            all.map(|folder| folder.join(name)).collect()
        };
        let host = Host::open(HostOptions {
            plugins: names("plugins"),
            scripts: names("scripts"),
            cache: folders.cache.clone(),
            helper: folders.helper.clone(),
            trust: Trust::Hashes(settings.trusted_plugins.clone()),
            wanted: Wanted::All,
            isolated: BTreeSet::new(),
            isolated_memory: ISOLATED_MEMORY,
            watch: true,
            builtin: builtin_modules(),
        });
        Self {
            watch: host.watch_calls(),
            host,
            beside,
            folders: folders.clone(),
            own: own_file(&folders.cache),
            revision: 0,
            read_at: f64::NEG_INFINITY,
            declined: BTreeSet::new(),
            timed_out: None,
        }
    }

    /// Switches to the folders beside another scenario.
    pub fn follow(&mut self, document: Option<&Path>, settings: &Settings) {
        // Modules beside the old scenario do not belong to the new one, so the host is reopened.
        if document.and_then(Path::parent) != self.beside.as_deref() {
            *self = Self::open(&self.folders.clone(), document, settings);
        }
    }

    /// Returns the host of plugins and scripts.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the watch through which another thread learns of changes in the host.
    pub fn call_watch(&self) -> &CallWatch {
        &self.watch
    }

    /// Returns everything that scenarios can use: modules, and scripts with their texts.
    pub fn available(&self) -> Available {
        let folders = self
            .beside
            .iter()
            .chain(std::iter::once(&self.folders.user));
        let folders: Vec<PathBuf> = folders.map(|folder| folder.join("scripts")).collect();
        Available::new(&builtin_modules(), &self.host, &folders)
    }

    /// Declines a build for this session.
    pub fn decline(&mut self, hash: &str) {
        self.declined.insert(hash.to_owned());
    }

    /// Allows builds of trusted folders and lists the others that wait for permission.
    fn ask_about(&self, modules: &mut Modules, trusted: &BTreeSet<PathBuf>) {
        let files = self.host.files().into_iter();
        let waiting = files.filter(|file| file.state == FileState::NeedsPermission);
        // Write permissions of a folder may have changed since it was trusted, so they are checked each time.
        let with_folders = waiting.map(|file| {
            let folder = may_be_trusted(&file.path, &self.own);
            (file, folder)
        });
        let is_trusted = |folder: &Result<PathBuf, String>| {
            folder.as_ref().is_ok_and(|folder| trusted.contains(folder))
        };
        let (allowed, others): (Vec<_>, Vec<_>) =
            with_folders.partition(|(_, folder)| is_trusted(folder));
        for (file, _) in allowed {
            self.host.allow(&file.hash);
        }
        (modules.unallowed, modules.folders) = others.into_iter().unzip();
    }

    /// Updates the list of modules at intervals, or immediately if a module has changed.
    pub fn look(&mut self, modules: &mut Modules, trusted: &BTreeSet<PathBuf>, time: f64) -> News {
        let revision = self.host.revision();
        let has_new_modules = revision != self.revision;
        // Times and calls of modules change constantly; the table is only for display.
        if !has_new_modules && (time - self.read_at).abs() < REFRESH {
            return News::default();
        }
        self.read_at = time;
        // Copying the texts of all scripts twice a second would be too slow.
        if has_new_modules {
            self.revision = revision;
            modules.registry = self.host.registry();
            modules.scripts = Arc::new(self.host.scripts().list());
        }
        modules.rows = Arc::new(self.host.modules());
        self.ask_about(modules, trusted);
        let mut unallowed = modules.unallowed.iter();
        modules.asks = unallowed.any(|file| !self.declined.contains(&file.hash));
        modules.hang = self.watch.hangs().into_iter().next();
        let timed_out = self.host.timed_out();
        // Reported once per time-out, because the user's decision clears the report in the panels.
        let has_timed_out = timed_out != self.timed_out;
        if has_timed_out {
            self.timed_out.clone_from(&timed_out);
            modules.timed_out = timed_out;
        }
        // These come first, because users want to know why the program ended.
        let silent = self.host.silent_ends().into_iter().map(|text| Event {
            level: Level::Error,
            module: "plugins".into(),
            text,
        });
        News {
            events: silent.chain(self.host.events()).collect(),
            has_new_modules,
            has_timed_out,
        }
    }
}
