//! Plugins and scripts in the editor: the host behind them, and what panels read of it.

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
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often the table of modules is read, s.
const REFRESH: f64 = 0.5;

/// Where modules from outside are looked for.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// Program and arguments of the child processes of plugins.
    pub helper: Vec<OsString>,
    /// The user's own folder: `plugins` and `scripts` in it are looked at after those beside the
    /// scenario.
    pub user: PathBuf,
    /// Where copies and marks are kept.
    pub cache: PathBuf,
}

/// What is to be stepped through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRequest {
    /// Id of the script.
    pub script: String,
    /// Its text, saved or not.
    pub text: String,
    /// The handler.
    pub event: String,
    /// The agent of the run; `None`: one is made up.
    pub agent: Option<u64>,
}

/// What panels read of plugins and scripts.
#[derive(Clone, Default)]
pub struct Modules {
    /// All modules to choose from.
    pub registry: Registry,
    /// Those from outside, with how they do.
    pub rows: Arc<Vec<ModuleRow>>,
    /// The scripts with their texts.
    pub scripts: Arc<Vec<ScriptRow>>,
    /// Builds that wait for permission.
    pub unallowed: Vec<FileRow>,
    /// The folder of each of them, or why not all that stands there may be allowed.
    pub folders: Vec<Result<PathBuf, String>>,
    /// Whether one of them has not been asked about yet.
    pub asks: bool,
    /// A native call that does not come back.
    pub hang: Option<Hang>,
    /// A module that the clock has stopped, and how, until a person has decided what follows.
    pub timed_out: Option<String>,
    /// The text of a script that was looked through last, with its id and its mistake.
    pub checked: Option<(String, String, Option<ScriptError>)>,
    /// What is stepped through, with the statements that were run, or what is wrong with the script.
    pub stepping: Option<(StepRequest, Result<Steps, ScriptError>)>,
}

/// The host, and the folders that it looks at.
pub struct Extensions {
    host: Host,
    watch: CallWatch,
    beside: Option<PathBuf>,
    folders: Folders,
    /// A file that is the person's for certain: it was made a moment ago.
    own: PathBuf,
    revision: u64,
    read_at: f64,
    /// Builds that are not to be asked about again in this session.
    declined: BTreeSet<String>,
    /// The module that the clock has stopped, once it has been told.
    timed_out: Option<String>,
}

/// What has changed since the last look.
#[derive(Default)]
pub struct News {
    /// What happened, for people.
    pub events: Vec<Event>,
    /// Whether there are other modules to choose from.
    pub has_new_modules: bool,
    /// Whether the clock has stopped a module.
    pub has_timed_out: bool,
}

/// Makes a file anew, so that it belongs to who runs this. If it cannot be made nothing is trusted.
fn own_file(cache: &Path) -> PathBuf {
    // Removed first: a file that somebody else has put there would be taken for the person's.
    let own = cache.join("owner");
    // It may not be there yet, nor the folder.
    let _ = std::fs::remove_file(&own);
    let _ = std::fs::create_dir_all(cache);
    let made = std::fs::File::create_new(&own);
    made.map_or_else(|_| PathBuf::new(), |_| own)
}

impl Extensions {
    /// Looks at the folders of a user and beside a scenario.
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

    /// Looks beside another scenario.
    pub fn follow(&mut self, document: Option<&Path>, settings: &Settings) {
        // Modules beside the old scenario are no part of the new one: the host is opened again.
        if document.and_then(Path::parent) != self.beside.as_deref() {
            *self = Self::open(&self.folders.clone(), document, settings);
        }
    }

    /// The host of plugins and scripts.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What tells of news of the host, in another thread.
    pub fn call_watch(&self) -> &CallWatch {
        &self.watch
    }

    /// What is at hand for scenarios: modules, and scripts with their texts.
    pub fn available(&self) -> Available {
        let folders = self
            .beside
            .iter()
            .chain(std::iter::once(&self.folders.user));
        let folders: Vec<PathBuf> = folders.map(|folder| folder.join("scripts")).collect();
        Available::new(&builtin_modules(), &self.host, &folders)
    }

    /// Does not ask about a build again.
    pub fn decline(&mut self, hash: &str) {
        self.declined.insert(hash.to_owned());
    }

    /// Lets builds of trusted folders run, and notes the others that wait for permission.
    fn ask_about(&self, modules: &mut Modules, trusted: &BTreeSet<PathBuf>) {
        let files = self.host.files().into_iter();
        let waiting = files.filter(|file| file.state == FileState::NeedsPermission);
        // Who can write to a folder may have changed since it was trusted: looked at each time.
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

    /// Reads what has changed, now and then.
    pub fn look(&mut self, modules: &mut Modules, trusted: &BTreeSet<PathBuf>, time: f64) -> News {
        let revision = self.host.revision();
        let has_new_modules = revision != self.revision;
        // Times and calls of modules change all the time; the table is for people.
        if !has_new_modules && (time - self.read_at).abs() < REFRESH {
            return News::default();
        }
        self.read_at = time;
        // The texts of all scripts: too much to be copied twice a second for nothing.
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
        // Once for each time: what panels show is cleared by the answer of a person.
        let has_timed_out = timed_out != self.timed_out;
        if has_timed_out {
            self.timed_out.clone_from(&timed_out);
            modules.timed_out = timed_out;
        }
        // First: why the window was gone is the first thing that its user wants to know.
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
