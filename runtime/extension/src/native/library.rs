//! A loaded library. It is loaded from a copy of the file and never unloaded.

use super::backend::printable;
use super::calls::Calls;
use super::floating_point;
use super::in_process::drives_by_pedals;
use crate::lock::locked;
use roadwright_agent::ModuleKind;
use roadwright_plugin_api::abi::{
    ABI_MAJOR, ABI_MINOR, INFO_SYMBOL, KIND_CONTROLLER, KIND_FITNESS, KIND_GROUND_PLANNER,
    KIND_PLANNER, KIND_SIGNAL_CONTROLLER, MAIN_SYMBOL, RwApi, RwHost, RwMain, RwPluginInfo,
};
use std::collections::VecDeque;
use std::ffi::{c_char, c_void};
use std::path::Path;
use std::sync::Mutex;
use thiserror::Error;

/// Maximum number of log lines that are kept.
// A plugin can log in every step, so without a limit its log would fill the memory.
const LOG_LINES: usize = 200;
/// Maximum length of a log line, bytes.
const LOG_LINE: usize = 2000;

/// Reason why a library cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum LoadError {
    /// The loader rejects the library.
    #[error("{0}")]
    Loader(String),
    /// The entry point returns an error.
    #[error("rw_plugin_main_v1 returned {0}")]
    Main(i32),
    /// A required function is missing.
    #[error("the plugin does not provide {0}")]
    Missing(&'static str),
}

/// Returns the bit of a kind in the binary interface, `KIND_*`. It is 0 for behaviours, because these are scripts.
pub(crate) fn kind_bit(kind: ModuleKind) -> u32 {
    match kind {
        ModuleKind::Planner => KIND_PLANNER,
        ModuleKind::Controller => KIND_CONTROLLER,
        ModuleKind::Fitness => KIND_FITNESS,
        ModuleKind::SignalController => KIND_SIGNAL_CONTROLLER,
        ModuleKind::GroundPlanner => KIND_GROUND_PLANNER,
        ModuleKind::Behaviour => 0,
    }
}

/// Log of a library.
#[derive(Default)]
pub(crate) struct LibraryLog(Mutex<Lines>);

#[derive(Default)]
struct Lines {
    all: VecDeque<String>,
    /// Number of lines at the end of the log that have not been reported yet.
    untold: usize,
}

impl LibraryLog {
    pub(crate) fn write(&self, level: u32, text: &str) {
        let mut lines = locked(&self.0);
        if lines.all.len() == LOG_LINES {
            lines.all.pop_front();
        }
        let level = ["debug", "info", "warning", "error"]
            .get(level as usize)
            .unwrap_or(&"info");
        lines.all.push_back(format!("{level}: {text}"));
        // Lines that were dropped before they could be reported do not count.
        lines.untold = (lines.untold + 1).min(LOG_LINES);
    }

    /// Returns the lines that have not been reported yet.
    pub(crate) fn take_untold(&self) -> Vec<String> {
        let mut lines = locked(&self.0);
        let told = lines.all.len() - std::mem::take(&mut lines.untold);
        lines.all.range(told..).cloned().collect()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let lines = locked(&self.0);
        lines.all.iter().cloned().collect()
    }
}

/// Context of the host's functions, which is never freed.
#[derive(Default)]
pub(crate) struct Context {
    pub(crate) log: LibraryLog,
    pub(crate) calls: Calls,
    /// Locked while calls are abandoned and reported. A call that returns meanwhile waits for the lock.
    pub(crate) telling: Mutex<()>,
}

/// Structure of the host that is passed to instances and never freed.
struct HostSide {
    raw: RwHost,
}

// SAFETY: the structure is written once before it is shared; its context is a `Context`, which may be used
// from any thread.
#[expect(unsafe_code, reason = "raw pointers to memory that is never freed")]
unsafe impl Sync for HostSide {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "raw pointers to memory that is never freed")]
unsafe impl Send for HostSide {}

/// A loaded library.
pub(crate) struct Library {
    pub(crate) api: RwApi,
    host: &'static HostSide,
    pub(crate) context: &'static Context,
    /// Whether loading the library changed the floating-point mode.
    pub(crate) changed_mode: bool,
    /// Minor version of the interface for which the library was built.
    pub(crate) minor: u16,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns a string passed by a plugin.
///
/// # Safety
/// `text` must be null or point to `length` readable bytes.
#[expect(unsafe_code, reason = "implements the binary interface")]
unsafe fn text_of<'a>(text: *const c_char, length: u64) -> std::borrow::Cow<'a, str> {
    if text.is_null() {
        return "".into();
    }
    // Truncated before it is read, because the length cannot be trusted.
    let length = (length as usize).min(LOG_LINE);
    // SAFETY: guaranteed by the caller.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) })
}

#[expect(unsafe_code, reason = "called by plugins")]
unsafe extern "C" fn log(ctx: *mut c_void, level: u32, text: *const c_char, length: u64) {
    // SAFETY: the context is the one that was passed to the plugin; the text belongs to the plugin.
    unsafe {
        if let Some(context) = ctx.cast::<Context>().as_ref() {
            let text = printable(&text_of(text, length));
            context.log.write(level, &text);
        }
    }
}

#[expect(unsafe_code, reason = "called by plugins")]
unsafe extern "C" fn cancelled(ctx: *mut c_void) -> u32 {
    // SAFETY: the context is the one that was passed to the plugin.
    let context = unsafe { ctx.cast::<Context>().as_ref() };
    context
        .is_some_and(|context| context.calls.are_given_up())
        .into()
}

/// Returns null, because this version has no extensions.
#[expect(unsafe_code, reason = "called by plugins")]
unsafe extern "C" fn get_extension(_: *mut c_void, _: *const c_char, _: u64) -> *const c_void {
    std::ptr::null()
}

impl Library {
    /// Loads a library permanently from a path to which nothing else writes.
    ///
    /// # Errors
    /// If it cannot be loaded or a required function is missing.
    #[expect(unsafe_code, reason = "loads foreign code")]
    pub(crate) fn open(path: &Path) -> Result<Self, LoadError> {
        let (opened, changed_mode) = floating_point::guarded(|| {
            // SAFETY: runs the library's initialisers. The user has allowed this hash, and a child process
            // has opened it before.
            unsafe { open_now(path) }
        });
        let library =
            opened.map_err(|error| LoadError::Loader(loader_text(&whole_text(&error))))?;
        // Libraries with thread-local destructors or with threads cannot be unloaded safely, so libraries are
        // never unloaded.
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        // SAFETY: the symbol has this type in every plugin of this major version.
        let main = unsafe { library.get::<RwMain>(MAIN_SYMBOL.as_bytes()) };
        let main = main.map_err(|error| LoadError::Loader(whole_text(&error)))?;
        // SAFETY: the symbol has this type in every plugin of this major version, and is never changed.
        let minor = unsafe {
            let info = library.get::<*const RwPluginInfo>(INFO_SYMBOL.as_bytes());
            info.ok()
                .and_then(|info| info.as_ref())
                .map(|info| info.abi_minor)
        };
        // Never freed, because a thread of the library may log at any time, even after its last instance was
        // destroyed.
        let context: &'static Context = Box::leak(Box::default());
        let host: &'static HostSide = Box::leak(Box::new(HostSide {
            raw: RwHost {
                size: size_of::<RwHost>() as u32,
                abi_major: ABI_MAJOR,
                abi_minor: ABI_MINOR,
                ctx: std::ptr::from_ref(context).cast_mut().cast(),
                version: VERSION.as_ptr().cast(),
                version_length: VERSION.len() as u64,
                log: Some(log),
                cancelled: Some(cancelled),
                get_extension: Some(get_extension),
            },
        }));
        // A plugin of an older minor version fills in only a part; functions that were added later
        // stay null.
        let mut api = EMPTY;
        // SAFETY: the host structure is never freed, and the table has the stated size.
        let status = unsafe { main(&raw const host.raw, &raw mut api) };
        if status < 0 {
            return Err(LoadError::Main(status));
        }
        check_required(&api)?;
        Ok(Self {
            api,
            host,
            context,
            changed_mode,
            minor: minor.unwrap_or(0),
        })
    }

    /// Returns the structure of the host that instances receive.
    pub(crate) fn host(&self) -> *const RwHost {
        &raw const self.host.raw
    }
}

/// An empty table, to be filled by the plugin.
const EMPTY: RwApi = RwApi {
    size: size_of::<RwApi>() as u32,
    reserved: 0,
    create: None,
    destroy: None,
    step: None,
    agents_changed: None,
    param_count: None,
    param_info: None,
    param_get: None,
    param_set: None,
    state_save: None,
    state_load: None,
    last_error: None,
    get_extension: None,
};

fn check_required(api: &RwApi) -> Result<(), LoadError> {
    let required = [
        (api.create.is_some(), "create"),
        (api.destroy.is_some(), "destroy"),
        // A controller with pedals may have no `step`.
        (api.step.is_some() || drives_by_pedals(api), "step"),
    ];
    match required.iter().find(|(is_offered, _)| !is_offered) {
        Some((_, name)) => Err(LoadError::Missing(name)),
        None => Ok(()),
    }
}

/// Opens a library and resolves all its symbols immediately, so that a missing symbol is reported now.
/// Otherwise, it would end the process when it is first called.
#[cfg(unix)]
#[expect(unsafe_code, reason = "loads foreign code")]
unsafe fn open_now(path: &Path) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    // SAFETY: guaranteed by the caller.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL).map(Into::into) }
}

#[cfg(not(unix))]
#[expect(unsafe_code, reason = "loads foreign code")]
unsafe fn open_now(path: &Path) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: guaranteed by the caller.
    unsafe { libloading::Library::new(path) }
}

/// Returns the text of an error with its causes.
fn whole_text(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Adds a hint to the loader's message about a missing symbol, if its cause is a common mistake in
/// linking.
fn loader_text(text: &str) -> String {
    // Functions of libm that C code often uses, and that some systems have in the C library.
    const MATH: [&str; 8] = ["fmax", "fmin", "sin", "cos", "atan", "atan2", "sqrt", "pow"];
    let missing = text.split("undefined symbol: ").nth(1);
    let missing = missing.map(|rest| rest.split([' ', ',', ')']).next().unwrap_or(rest));
    match missing {
        Some(symbol) if MATH.contains(&symbol) => {
            format!("{text} (\"{symbol}\" is part of the maths library: link with -lm)")
        }
        // The names of C++ functions begin like this in the Itanium ABI, which all systems except Windows
        // use.
        Some(symbol) if symbol.starts_with("_Z") => {
            format!("{text} (\"{symbol}\" is a C++ name: link with the C++ compiler)")
        }
        Some(symbol) => format!("{text} (link the library that defines \"{symbol}\")"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_words_come_with_a_hint() {
        let hint = loader_text("x.so: undefined symbol: fmax");
        assert!(hint.ends_with("link with -lm)"), "{hint}");
        let hint = loader_text("x.so: undefined symbol: _ZdlPv, version X");
        assert!(hint.contains("C++"), "{hint}");
        assert_eq!(loader_text("no such file"), "no such file");
    }
}
