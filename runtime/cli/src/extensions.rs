//! Plugins and scripts for a command.

use crate::arguments::ExtensionFlags;
use directories::ProjectDirs;
use roadwright_extension::{Event, Host, HostOptions, Level, Trust};
use roadwright_simulation::builtin_modules;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How child processes are started.
pub(crate) fn helper() -> Vec<OsString> {
    // Without a path to ourselves plugins cannot be tried, and each says so.
    let program = std::env::current_exe().ok();
    let program = program.into_iter().map(PathBuf::into_os_string);
    program.chain(["plugin-host".into(), "--".into()]).collect()
}

/// The options of the flags, for a scenario or for none.
pub(crate) fn options(flags: &ExtensionFlags, scenario: Option<&Path>) -> HostOptions {
    let user = ProjectDirs::from("", "", "roadwright");
    let beside = scenario.and_then(Path::parent);
    let folders = |given: &[PathBuf], name: &str| {
        let mut folders = given.to_vec();
        folders.extend(beside.map(|folder| folder.join(name)));
        folders.extend(user.as_ref().map(|user| user.data_dir().join(name)));
        folders
    };
    let cache = user.as_ref().map(|user| user.cache_dir().to_owned());
    HostOptions {
        plugins: folders(&flags.plugins, "plugins"),
        scripts: folders(&flags.scripts, "scripts"),
        cache: cache.unwrap_or_else(|| std::env::temp_dir().join("roadwright")),
        helper: helper(),
        trust: if flags.trust_plugins {
            Trust::All
        } else {
            Trust::Hashes(flags.allow_plugin.iter().cloned().collect())
        },
        isolated: flags.isolate.iter().cloned().collect(),
        watch: flags.watch,
        builtin: builtin_modules(),
    }
}

/// The modules of a run, with what was said while they were looked at.
pub(crate) fn open(flags: &ExtensionFlags, scenario: Option<&Path>, quiet: bool) -> Host {
    let host = Host::open(options(flags, scenario));
    tell(&host.events(), quiet);
    host
}

/// Prints what has happened to modules; if quiet only what went wrong.
pub(crate) fn tell(events: &[Event], quiet: bool) {
    for event in events {
        let word = match event.level {
            Level::Info if quiet => continue,
            Level::Info => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        eprintln!("{word}: {}: {}", event.module, event.text);
    }
}
