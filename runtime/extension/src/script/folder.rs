//! The available scripts: those that are shipped with the program, and those found in folders.

use super::compile::{Compiled, LONGEST_SCRIPT, ScriptError, compile};
use super::logic::ScriptLogic;
use super::signal_logic::SignalScript;
use crate::catalogue::{Files, Health, ModuleRow, Stamp, Take};
use crate::event::{Event, Events, Level};
use crate::lock::locked;
use crate::native::backend::intern;
use crate::native_now;
use crate::times::CallTimes;
use roadwright_agent::{
    Behaviour, ModuleEntry, ModuleInfo, ModuleKind, Registry, SignalController,
};
use roadwright_files::read_text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Extension of scripts. The id of a script is its path relative to its folder, including the extension.
pub const SCRIPT_ENDING: &str = "rhai";
/// Name of the function that scripts call to choose modules.
const CHOOSES: &str = "use_module";
/// Maximum depth of scripts below their folder.
const DEPTH: usize = 4;
/// Built-in behaviour whose answers are modified by scripts.
const BASE: &str = "lane_keeper";

macro_rules! shipped {
    ($($name:literal),*) => {
        [$((concat!($name, ".rhai"), include_str!(concat!("../../../../scripts/", $name, ".rhai")))),*]
    };
}

/// Returns the scripts that ship with the program, by id and text. A file with the same name in a folder
/// takes precedence.
pub fn shipped() -> &'static [(&'static str, &'static str)] {
    static SHIPPED: [(&str, &str); 12] = shipped!(
        "ambulance",
        "bus_line",
        "car_park",
        "commuter",
        "convoy",
        "evader",
        "learner_driver",
        "longest_queue",
        "priority_bus",
        "pursuer",
        "to_car",
        "trailer_shuttle"
    );
    &SHIPPED
}

/// Returns `modules` with the shipped scripts added, for programs without script folders or a
/// [`Host`](crate::Host).
pub fn with_shipped(mut modules: Registry) -> Registry {
    Scripts::new(&[], Arc::default()).enter(&mut modules);
    modules
}

#[derive(Default)]
struct CellState {
    compiled: Option<Arc<Compiled>>,
    error: Option<ScriptError>,
    path: Option<PathBuf>,
    text: String,
    is_disabled: bool,
    generation: u32,
    faults: u64,
    last_fault: Option<String>,
    times: CallTimes,
}

/// Shared state of a script. It contains the last valid version, which is used in runs.
pub(super) struct ScriptCell {
    pub(super) id: &'static str,
    version: AtomicU64,
    state: Mutex<CellState>,
}

/// A row of the script table.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptRow {
    /// Script id.
    pub id: String,
    /// File of the script; `None` if it ships with the program.
    pub path: Option<PathBuf>,
    /// Text of the script as last read.
    pub text: String,
    /// Mistake in the text, if any. As long as there is one, the previous version keeps running.
    pub error: Option<ScriptError>,
    /// Number of versions that have been active.
    pub generation: u32,
}

impl ScriptCell {
    fn state(&self) -> MutexGuard<'_, CellState> {
        locked(&self.state)
    }

    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Returns the version that runs should use, if any, and whether the script is disabled.
    pub(super) fn current(&self) -> (Option<Arc<Compiled>>, bool) {
        let state = self.state();
        (state.compiled.clone(), state.is_disabled)
    }

    pub(super) fn note_fault(&self, error: &ScriptError) {
        let mut state = self.state();
        state.faults += 1;
        state.last_fault = Some(error.to_string());
    }

    pub(super) fn note_time(&self, rows: usize, seconds: f64) {
        let Ok(mut state) = self.state.try_lock() else {
            return;
        };
        state.times.note(rows, seconds);
    }
}

struct Catalog {
    files: Files,
    cells: BTreeMap<String, Arc<ScriptCell>>,
}

/// The scripts that ship with the program, and those in the script folders.
pub struct Scripts {
    folders: Vec<PathBuf>,
    catalog: Mutex<Catalog>,
    events: Arc<Events>,
    revision: AtomicU64,
}

impl Scripts {
    pub(crate) fn new(folders: &[PathBuf], events: Arc<Events>) -> Self {
        let scripts = Self {
            folders: folders.to_vec(),
            catalog: Mutex::new(Catalog {
                files: Files::new(folders, DEPTH),
                cells: BTreeMap::new(),
            }),
            events,
            revision: AtomicU64::new(0),
        };
        for (id, text) in shipped() {
            scripts.take(id, None, (*text).to_owned());
        }
        // Shipped scripts are not reported as new.
        scripts.events.drain();
        scripts
    }

    fn catalog(&self) -> MutexGuard<'_, Catalog> {
        locked(&self.catalog)
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Whether a path names a script in one of the folders.
    pub(crate) fn is_script(&self, path: &Path) -> bool {
        is_script(path) && self.id_of(path).is_some()
    }

    /// Returns the id of a file, which is its path relative to its folder; `None` if the file is in no script
    /// folder.
    fn id_of(&self, path: &Path) -> Option<String> {
        let inside = self
            .folders
            .iter()
            .find_map(|f| path.strip_prefix(f).ok())?;
        let parts = inside.components().map(|part| part.as_os_str().to_str());
        Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
    }

    pub(crate) fn note_change(&self, path: &Path) {
        // Scripts are small, so an incomplete one does not compile and is read again.
        let now = native_now();
        self.catalog().files.note_closed(path, now);
    }

    pub(crate) fn take_settled(&self) {
        let (settled, gone) = self.catalog().files.take_settled(native_now());
        for path in settled.into_iter().chain(gone) {
            self.consider(&path);
        }
    }

    /// Scans all script folders.
    pub(crate) fn scan(&self, take: Take) {
        let changed: Vec<PathBuf> = {
            let catalog = self.catalog();
            let mut found = catalog.files.list(is_script);
            found.retain(|path| catalog.files.has_changed(path));
            found
        };
        for path in changed {
            match take {
                Take::AtOnce => self.consider(&path),
                Take::WhenSettled => self.note_change(&path),
            }
        }
    }

    /// Reads a changed file, and the scripts that import it.
    fn consider(&self, path: &Path) {
        let stamp = Stamp::of(path);
        self.catalog().files.note_looked(path, stamp);
        let Some(id) = self.id_of(path) else { return };
        let importers: Vec<PathBuf> = {
            let catalog = self.catalog();
            let imports = |cell: &&Arc<ScriptCell>| {
                let state = cell.state();
                let compiled = state.compiled.as_ref();
                let uses = compiled.is_some_and(|c| c.imports.iter().any(|i| i == path));
                // A script with a mistake may have been waiting for this file.
                uses || state.error.is_some() && state.path.as_deref() != Some(path)
            };
            let cells = catalog.cells.values().filter(imports);
            cells.filter_map(|cell| cell.state().path.clone()).collect()
        };
        match read_text(path, LONGEST_SCRIPT) {
            // An imported file may not be a behaviour.
            Ok(text) if is_library(&text) && !self.catalog().cells.contains_key(&id) => {}
            Ok(text) => self.take(&id, Some(path), text),
            Err(_) if !path.exists() => self.note_gone(&id, path),
            Err(error) => self.say(Level::Error, &id, format!("cannot be read: {error}")),
        }
        for importer in importers {
            if let (Some(id), Ok(text)) =
                (self.id_of(&importer), read_text(&importer, LONGEST_SCRIPT))
            {
                self.take(&id, Some(&importer), text);
            }
        }
    }

    fn note_gone(&self, id: &str, path: &Path) {
        let mut catalog = self.catalog();
        catalog.files.forget(path);
        let cell = catalog.cells.get(id).cloned();
        drop(catalog);
        let is_its = cell.is_some_and(|cell| cell.state().path.as_deref() == Some(path));
        if is_its {
            let text = "File removed; the loaded version keeps running.";
            self.say(Level::Warning, id, text.into());
        }
    }

    fn say(&self, level: Level, id: &str, text: String) {
        self.events.push(Event {
            level,
            module: id.to_owned(),
            text,
        });
    }

    /// Returns the cell of a script, creating it if necessary.
    fn cell_of(&self, id: &str) -> Arc<ScriptCell> {
        let make = || {
            Arc::new(ScriptCell {
                id: intern(id),
                version: AtomicU64::new(1),
                state: Mutex::default(),
            })
        };
        let mut catalog = self.catalog();
        let cell = catalog.cells.entry(id.to_owned()).or_insert_with(make);
        cell.clone()
    }

    /// Compiles a source text. If it is valid, runs use it from their next step onwards.
    fn take(&self, id: &str, path: Option<&Path>, text: String) {
        let cell = self.cell_of(id);
        // If two files have the same id, the one in the folder listed first is used, even if the
        // other was read later.
        let rank = |path: Option<&Path>| {
            let place = |f: &PathBuf| path.is_some_and(|path| path.starts_with(f));
            self.folders.iter().position(place).unwrap_or(usize::MAX)
        };
        // Shipped scripts have no path and rank last, so a file with the same name takes precedence.
        if rank(path) > rank(cell.state().path.as_deref()) {
            return;
        }
        let folder = path.and_then(|path| {
            let folders = self.folders.iter();
            folders.into_iter().find(|folder| path.starts_with(folder))
        });
        // Compiled without the lock of the cell, because runs record their faults and times there meanwhile.
        let compiled = compile(id, &text, folder.map(PathBuf::as_path));
        let mut state = cell.state();
        state.path = path.map(Path::to_owned);
        state.text = text;
        let (level, said) = match compiled {
            Ok(compiled) => {
                let same = state.compiled.as_ref().map(|old| old.hash.clone());
                let is_same = same.as_deref() == Some(compiled.hash.as_str());
                let had_error = state.error.take().is_some();
                // Runs already have this version, but the row may show another file or another text.
                if is_same && !had_error {
                    drop(state);
                    self.revision.fetch_add(1, Ordering::Release);
                    return;
                }
                if !is_same {
                    state.generation += 1;
                    state.compiled = Some(Arc::new(compiled));
                    state.last_fault = None;
                }
                (Level::Info, format!("version {} loaded", state.generation))
            }
            Err(error) => {
                let text = error.to_string();
                if state.error.as_ref() == Some(&error) {
                    drop(state);
                    self.revision.fetch_add(1, Ordering::Release);
                    return;
                }
                state.error = Some(error);
                (Level::Error, text)
            }
        };
        drop(state);
        cell.version.fetch_add(1, Ordering::Release);
        self.revision.fetch_add(1, Ordering::Release);
        self.say(level, id, said);
    }

    /// Whether there is a script with the given id.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.catalog().cells.contains_key(id)
    }

    /// Whether a script or its imports may choose other modules for its agents. This is derived from the
    /// texts, because the names may be computed at run time.
    pub(crate) fn chooses_modules(&self, id: &str) -> bool {
        let Some(cell) = self.catalog().cells.get(id).cloned() else {
            return false;
        };
        let state = cell.state();
        let imports = state.compiled.iter().flat_map(|c| &c.imports);
        let mut texts = imports.map(|path| read_text(path, LONGEST_SCRIPT).unwrap_or_default());
        state.text.contains(CHOOSES) || texts.any(|text| text.contains(CHOOSES))
    }

    /// Reads a file that has just been written.
    pub fn read(&self, path: &Path) {
        self.consider(path);
    }

    /// Reads a script's file again.
    pub(crate) fn reload(&self, id: &str) {
        let cell = self.catalog().cells.get(id).cloned();
        let path = cell.and_then(|cell| cell.state().path.clone());
        if let Some(path) = path {
            self.consider(&path);
        }
    }

    pub(crate) fn set_disabled(&self, id: &str, disabled: bool) {
        if let Some(cell) = self.catalog().cells.get(id) {
            cell.state().is_disabled = disabled;
            cell.version.fetch_add(1, Ordering::Release);
        }
    }

    /// Returns all scripts with their texts.
    pub fn list(&self) -> Vec<ScriptRow> {
        let catalog = self.catalog();
        let row = |cell: &Arc<ScriptCell>| {
            let state = cell.state();
            ScriptRow {
                id: cell.id.to_owned(),
                path: state.path.clone(),
                text: state.text.clone(),
                error: state.error.clone(),
                generation: state.generation,
            }
        };
        catalog.cells.values().map(row).collect()
    }

    /// Returns the path to which a script is written; `None` if there are no script folders. This is the file
    /// of the script if there is one, otherwise a file in the first folder, which takes precedence over
    /// shipped scripts.
    pub fn place_of(&self, id: &str) -> Option<PathBuf> {
        let cell = self.catalog().cells.get(id).cloned();
        let own = cell.and_then(|cell| cell.state().path.clone());
        own.or_else(|| Some(self.folders.first()?.join(id)))
    }

    pub(crate) fn enter(&self, registry: &mut Registry) {
        let base = registry.of::<dyn Behaviour>();
        let base = base.iter().find(|entry| entry.info.id == BASE);
        let Some(base) = base.or(registry.of::<dyn Behaviour>().first()).cloned() else {
            return;
        };
        let cells: Vec<Arc<ScriptCell>> = self.catalog().cells.values().cloned().collect();
        for cell in cells {
            // As long as no text has compiled, there is nothing to choose.
            let Some(compiled) = cell.current().0 else {
                continue;
            };
            let info = ModuleInfo {
                id: cell.id,
                name: cell.id,
                doc: compiled.doc,
            };
            if compiled.kind == ModuleKind::SignalController {
                let make = move || Box::new(SignalScript::new(cell.clone())) as Box<_>;
                let entry =
                    ModuleEntry::<dyn SignalController>::new(info, compiled.parameters, make);
                registry.add(entry);
                continue;
            }
            let base = base.clone();
            let entry = ModuleEntry::<dyn Behaviour>::new(info, compiled.parameters, move || {
                Box::new(ScriptLogic::new(cell.clone(), base.make()))
            });
            registry.add(entry);
        }
    }

    pub(crate) fn rows(&self) -> Vec<ModuleRow> {
        let catalog = self.catalog();
        catalog.cells.values().map(|cell| row(cell)).collect()
    }
}

/// Whether a text has neither `behave` nor `decide` and can therefore only be imported.
fn is_library(text: &str) -> bool {
    !text.contains("fn behave") && !text.contains("fn decide")
}

/// Whether a file name has the extension of a script.
fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == SCRIPT_ENDING)
}

fn row(cell: &ScriptCell) -> ModuleRow {
    let state = cell.state();
    let (mean_us, p99_us) = state.times.mean_and_p99();
    let error = state.error.as_ref().map(ToString::to_string);
    let lamp = match (state.is_disabled, &state.compiled, &error) {
        (true, ..) => Health::Off,
        (_, None, _) => Health::Faulted,
        (_, Some(_), Some(_)) => Health::Uneasy,
        _ if state.last_fault.is_some() => Health::Uneasy,
        _ => Health::Good,
    };
    let compiled = state.compiled.as_ref();
    ModuleRow {
        lamp,
        id: cell.id.to_owned(),
        name: cell.id.to_owned(),
        doc: compiled.map_or(String::new(), |c| c.doc.to_owned()),
        version: state.generation.to_string(),
        kind: compiled.map_or(ModuleKind::Behaviour, |c| c.kind).name(),
        language: "rhai".into(),
        tier: "script",
        path: state.path.clone(),
        hash: compiled.map_or(String::new(), |c| c.hash.clone()),
        generation: state.generation,
        mean_us,
        p99_us,
        call_us: state.times.mean_of_calls(),
        calls: state.times.calls,
        faults: state.faults,
        fallback_agents: 0,
        last_error: error.or_else(|| state.last_fault.clone()),
        needs_permission: false,
        can_roll_back: false,
        is_disabled: state.is_disabled,
        parameters: compiled.map_or(&[], |c| c.parameters),
        log: Vec::new(),
    }
}
