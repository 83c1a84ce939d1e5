//! The process that does the work of a command with plugins. Its parent is in
//! [`supervisor`](crate::supervisor).
//!
//! Third-party code can end a process with any exit code and without a trace. The worker therefore reports
//! the end of its work in a file that only its parent knows, and outputs get their final names only after
//! that.

use crate::terminal::say;
use roadwright_files::{Complete, Left};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Name of the file that marks the work as done.
const MARK: &str = "done.json";
/// Name of the file with the ids of the plugins in the process.
const PLUGINS: &str = "plugins.json";
/// Name of the file with the process id of the parent.
const PARENT: &str = "parent.json";
/// Name of the file with the temporary files of outputs.
const TEMPORARY: &str = "temporary.json";

/// Folder for messages between worker and parent; `None` in a process that is not a worker.
static PLACE: OnceLock<PathBuf> = OnceLock::new();

/// Outputs that are complete but still have temporary names.
static RENAMES: Mutex<Vec<Rename>> = Mutex::new(Vec::new());

/// A complete output with a temporary name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rename {
    /// Temporary path of the file.
    pub(crate) from: PathBuf,
    /// Final path of the file.
    pub(crate) to: PathBuf,
}

impl From<Left> for Rename {
    fn from(left: Left) -> Self {
        Self {
            from: left.beside,
            to: left.place,
        }
    }
}

/// Report of a worker whose work is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The exit code of the command.
    pub(crate) code: u8,
    /// Outputs that the parent moves to their final names, in this order.
    pub(crate) renames: Vec<Rename>,
}

/// Prepares a folder for a worker of this process.
pub(crate) fn prepare(place: &Path) {
    write(&place.join(PARENT), &std::process::id());
}

/// Makes this process a worker that reports to the folder of its parent.
pub(crate) fn begin(place: &Path) {
    die_with_parent(place);
    // Set only once, at the start of the process.
    let _ = PLACE.set(place.to_owned());
}

/// Makes this process end together with its parent. Without the parent, outputs would never get their final
/// names.
#[cfg(target_os = "linux")]
fn die_with_parent(place: &Path) {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        say!("warning: this process may continue after its parent has ended: {error}");
    }
    // The parent may have ended before this took effect.
    let parent: Option<i32> = read(&place.join(PARENT));
    if getppid().map(|pid| pid.as_raw_nonzero().get()) != parent {
        std::process::exit(2);
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: &Path) {}

/// Whether this process is a worker.
pub(crate) fn is_worker() -> bool {
    PLACE.get().is_some()
}

/// Reports the ids of the plugins in this process to the parent, in case a plugin ends the process.
pub(crate) fn note_plugins(ids: &[String]) {
    if let Some(place) = PLACE.get() {
        write(&place.join(PLUGINS), &ids);
    }
}

/// Gives an output its final name. A worker does this when its work is done; otherwise it is done
/// immediately.
///
/// # Errors
/// If the output cannot be moved to its place.
pub(crate) fn commit(output: Complete) -> std::io::Result<()> {
    let Some(place) = PLACE.get() else {
        return output.commit();
    };
    let mut renames = RENAMES.lock().unwrap_or_else(PoisonError::into_inner);
    renames.extend(output.leave()?.map(Rename::from));
    // The parent removes these files if there is no mark.
    let from: Vec<&PathBuf> = renames.iter().map(|rename| &rename.from).collect();
    write(&place.join(TEMPORARY), &from);
    Ok(())
}

/// Returns the exit code of a completed command. A worker reports it to its parent first.
pub(crate) fn finish(code: u8) -> ExitCode {
    mark(code);
    ExitCode::from(code)
}

/// Ends the process deliberately. A worker reports the exit code to its parent first, as in [`finish`].
pub(crate) fn exit(code: u8) -> ! {
    mark(code);
    std::process::exit(i32::from(code));
}

fn mark(code: u8) {
    if let Some(place) = PLACE.get() {
        let renames = RENAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let renames = renames.clone();
        write(&place.join(MARK), &Mark { code, renames });
    }
}

fn write(path: &Path, value: &impl Serialize) {
    let written = serde_json::to_vec(value)
        .map_err(std::io::Error::from)
        .and_then(|bytes| {
            // The file is written under another name and then renamed, because the process may end at any
            // time.
            let temporary = path.with_extension("part");
            std::fs::write(&temporary, bytes)?;
            std::fs::rename(&temporary, path)
        });
    if let Err(error) = written {
        say!("error: cannot write {}: {error}", path.display());
    }
}

/// The messages left by a worker in its folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Remains {
    /// Report of the worker's completed work, if any.
    pub(crate) mark: Option<Mark>,
    /// Ids of the plugins in the worker.
    pub(crate) plugins: Vec<String>,
    /// Temporary files of outputs.
    pub(crate) temporary: Vec<PathBuf>,
}

impl Remains {
    /// Reads the messages from a worker's folder.
    pub(crate) fn read(place: &Path) -> Self {
        Self {
            mark: read(&place.join(MARK)),
            plugins: read(&place.join(PLUGINS)).unwrap_or_default(),
            temporary: read(&place.join(TEMPORARY)).unwrap_or_default(),
        }
    }
}

/// Maximum size of a message, bytes.
const LARGEST: u64 = 16 * roadwright_files::MEBIBYTE;

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Option<T> {
    let bytes = roadwright_files::read(path, LARGEST).ok()?;
    serde_json::from_slice(&bytes).ok()
}
