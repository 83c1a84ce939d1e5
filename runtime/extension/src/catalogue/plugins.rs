//! Turns settled libraries of plugins into active builds.

use super::{Catalogue, FileState, KnownFile, Stamp, Take, Wanted};
use crate::event::Level;
use crate::native::backend::intern;
use crate::native::last_words::Who;
use crate::native::{Generation, InspectError, Inspected, PluginEntry, PluginInfo, inspect};
use crate::native_now;
use crate::quarantine::{RETRY, remedy};
use roadwright_agent::{ModuleInfo, ModuleKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Number of generations after which a restart of the program is recommended, because libraries
/// stay loaded until then.
pub const MANY_GENERATIONS: u32 = 256;

/// Whether a file has the extension of a library and is not hidden.
pub(super) fn is_library(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let name = path.file_name().and_then(|name| name.to_str());
    matches!(ending, Some("so" | "dylib" | "dll"))
        && name.is_some_and(|name| !name.starts_with('.'))
}

impl Catalogue {
    /// Scans the plugin folders.
    pub(super) fn scan_plugins(&self, take: Take) {
        let (found, known) = {
            let plugins = self.plugins();
            let known: Vec<PathBuf> = plugins.known.keys().cloned().collect();
            (plugins.files.list(is_library), known)
        };
        // Deleted files are handled first, because another file that one of them shadowed may
        // become active, and a file that was moved appears as deleted and new.
        for path in known.iter().filter(|path| !found.contains(path)) {
            self.note_gone(path);
        }
        for path in found {
            // Locked for one file at a time, because `consider` takes the lock as well.
            let mut plugins = self.plugins();
            if !plugins.files.has_changed(&path) {
                continue;
            }
            plugins.files.note_change(&path, native_now());
            drop(plugins);
            if take == Take::AtOnce {
                self.consider(&path, native_now());
            }
        }
    }

    /// Considers the libraries that have settled.
    pub(super) fn take_settled_plugins(&self) {
        let now = native_now();
        let (settled, gone) = self.plugins().files.take_settled(now);
        for path in gone {
            self.note_gone(&path);
        }
        for path in settled {
            self.consider(&path, now);
        }
    }

    /// Reconsiders all files that `which` accepts, even if they have not changed.
    pub(crate) fn reconsider(&self, which: impl Fn(&KnownFile) -> bool) {
        let paths: Vec<PathBuf> = {
            let plugins = self.plugins();
            let files = plugins.known.iter().filter(|(_, file)| which(file));
            files.map(|(path, _)| path.clone()).collect()
        };
        for path in paths {
            self.consider(&path, native_now());
        }
    }

    /// Allows the build with this hash to run, and considers its file again.
    pub(crate) fn allow(&self, hash: &str) {
        self.plugins().trust.allow(hash);
        self.reconsider(|file| file.state == FileState::NeedsPermission);
    }

    fn note_gone(&self, path: &Path) {
        // The file may have been replaced meanwhile. A replacement counts as a change, so the new
        // file has to settle first.
        if path.exists() {
            return;
        }
        let mut plugins = self.plugins();
        let Some(file) = plugins.known.get_mut(path) else {
            return;
        };
        if file.state == FileState::Active {
            file.state = FileState::Orphaned;
            plugins.files.forget(path);
            drop(plugins);
            let text =
                "File removed; the loaded version keeps running until you stop or unload it.";
            self.say(Level::Warning, path, text.into());
            self.touch();
            let first = path.to_owned();
            self.reconsider(|file| file.state == FileState::Shadowed(first.clone()));
        } else if file.state != FileState::Orphaned {
            plugins.known.remove(path);
            plugins.files.forget(path);
            drop(plugins);
            self.touch();
        }
    }

    /// Considers a settled file and activates its build if it is valid.
    fn consider(&self, path: &Path, now: Instant) {
        // Taken before reading, so that the file is considered again if it changes in between.
        let stamp = Stamp::of(path);
        let looked = inspect(path);
        // If folders are not watched there is no later attempt, so an incomplete file is an error
        // immediately.
        if let Err(error) = &looked
            && self.options.watch
            && error.may_be_incomplete()
        {
            let mut plugins = self.plugins();
            if plugins.files.note_incomplete(path, now) {
                let is_known = plugins.known.contains_key(path);
                if !is_known {
                    let waiting = KnownFile {
                        state: FileState::Settling,
                        inspected: None,
                    };
                    plugins.known.insert(path.to_owned(), waiting);
                    drop(plugins);
                    self.say(
                        Level::Info,
                        path,
                        "Waiting until the file is complete.".into(),
                    );
                }
                return;
            }
        }
        self.plugins().files.note_looked(path, stamp);
        let (state, inspected) = match looked {
            Err(error) => (self.reject(path, &error), None),
            Ok((inspected, bytes)) => {
                let state = self.accept(path, &inspected, bytes);
                (state, Some(inspected))
            }
        };
        let mut plugins = self.plugins();
        let file = KnownFile { state, inspected };
        plugins.known.insert(path.to_owned(), file);
        drop(plugins);
        self.touch();
    }

    fn reject(&self, path: &Path, error: &InspectError) -> FileState {
        let text = error.to_string();
        self.say(Level::Error, path, text.clone());
        FileState::Rejected(text)
    }

    /// Whether one of the wanted modules is a script that may choose further modules at run time.
    pub(super) fn scripts_want_all(&self) -> bool {
        let wanted = self.plugins().wanted.clone();
        let Wanted::Ids(ids) = wanted else {
            return false;
        };
        let mut ids = ids.iter();
        ids.any(|id| match self.options.watch {
            true => self.scripts.has(id),
            false => self.scripts.chooses_modules(id),
        })
    }

    /// Replaces the set of wanted modules, and loads idle files that provide one of them.
    pub(super) fn want(&self, wanted: Wanted) {
        self.plugins().wanted = wanted;
        self.reconsider(|file| file.state == FileState::Idle);
    }

    fn accept(&self, path: &Path, inspected: &Inspected, bytes: Vec<u8>) -> FileState {
        // None of its code runs before `load`. Everything before that is read from its bytes.
        let (info, hash) = (&inspected.info, &inspected.hash);
        if !self.plugins().wanted.has(&info.id) {
            return FileState::Idle;
        }
        if let Some(first) = self.shadowing(path, &info.id) {
            let text = format!("{} is already provided by {}", info.id, first.display());
            self.say(Level::Warning, path, text);
            return FileState::Shadowed(first);
        }
        let id = intern(&info.id);
        let is_active = {
            let plugins = self.plugins();
            info.module_kinds().all(|kind| {
                let cell = plugins.cells.get(&(id, kind));
                let active = cell.and_then(|cell| cell.state().wish.generation.clone());
                active.is_some_and(|active| active.hash == *hash)
            })
        };
        if is_active {
            return FileState::Active;
        }
        let is_isolated = self.is_isolated(id);
        // In a separate process the plugin cannot end the program, so endings caused by `exit` are
        // ignored.
        let late = self.quarantine.late_end(hash).filter(|_| !is_isolated);
        let why = late.as_ref().filter(|end| end.keeps_out);
        let why = why.map(|end| end.text.clone());
        if let Some(mut why) = self.quarantine.reason(hash).or(why) {
            // The reason recorded for a build that failed during a run is only the fault, without
            // the remedy.
            if !why.contains(RETRY) {
                why = format!("{why}. {}", remedy(id));
            }
            self.say(Level::Error, path, format!("Quarantined: {why}"));
            self.make_cells(id, info);
            return FileState::Rejected(format!("quarantined: {why}"));
        }
        if !self.plugins().trust.allows(hash) {
            let text = format!(
                "{} {} is not allowed to run yet: allow its hash {}",
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

    /// Whether a module runs in a separate process.
    fn is_isolated(&self, id: &str) -> bool {
        let plugins = self.plugins();
        let mut cells = plugins.cells.iter().filter(|((of, _), _)| *of == id);
        let is_so = cells.any(|(_, cell)| cell.state().wish.is_isolated);
        is_so || self.options.isolated.contains(id)
    }

    /// Returns the file, if any, that already provides the module and takes precedence.
    fn shadowing(&self, path: &Path, id: &str) -> Option<PathBuf> {
        let plugins = self.plugins();
        let rank = |path: &Path| plugins.files.rank(path);
        let mut others = plugins.known.iter().filter(|(other, file)| {
            let same = file.inspected.as_ref().is_some_and(|i| i.info.id == id);
            let counts = matches!(
                file.state,
                FileState::Active | FileState::NeedsPermission | FileState::Idle
            );
            same && counts && other.as_path() != path
        });
        // Within a folder, the file name decides which file takes precedence, and not the
        // modification time.
        let first = others.find(|(other, _)| (rank(other), other.as_path()) < (rank(path), path));
        first.map(|(other, _)| other.clone())
    }

    fn make_cells(&self, id: &'static str, info: &PluginInfo) -> Vec<Arc<PluginEntry>> {
        let mut plugins = self.plugins();
        let kinds: Vec<ModuleKind> = info.module_kinds().collect();
        let cells = kinds.into_iter().map(|kind| {
            let make = || {
                let cell = PluginEntry::new(
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
            plugins.cells.entry((id, kind)).or_insert_with(make).clone()
        });
        cells.collect()
    }

    /// Tests a build in a child process and publishes it.
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
        let copy = self.copies.add(&name, &bytes)?;
        let generation = Arc::new(Generation {
            number,
            info: info.clone(),
            module: ModuleInfo {
                id,
                name: intern(&info.name),
                doc: intern(&info.doc),
            },
            // Never freed, because the crash handler may read it at any time.
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
        // The copy is tested, not the original, because these are the bytes that will be loaded.
        crate::native::probe::probe(&self.helper, &generation.copy)?;
        for cell in &cells {
            cell.set_info(info);
            // Loaded here rather than between two steps of a run. An isolated build is not loaded
            // into this process at all.
            let is_isolated = cell.state().wish.is_isolated;
            let parameters = crate::native::parameters_of(cell, &generation, is_isolated)
                .map_err(|fault| fault.message)?;
            cell.set_parameters(parameters);
        }
        // Published only after all kinds have been created, so that a build is published for all of them or
        // for none.
        for cell in &cells {
            cell.publish(generation.clone());
        }
        if number == MANY_GENERATIONS {
            let text = format!("{number} builds remain loaded. Restart to free their memory.");
            self.say(Level::Warning, path, text);
        }
        let text = format!("{} {} loaded", info.name, info.version);
        self.say(Level::Info, path, text);
        Ok(())
    }
}
