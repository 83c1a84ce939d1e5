//! Plugins and scripts for a command.

use crate::arguments::ExtensionFlags;
use crate::terminal::say;
use crate::{supervisor, worker};
use anyhow::bail;
use directories::ProjectDirs;
use roadwright_extension::script::SCRIPT_ENDING;
use roadwright_extension::{Event, FileState, Host, HostOptions, Level, Trust, Wanted};
use roadwright_scenario::{Scenario, Slot};
use roadwright_simulation::builtin_modules;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Returns the command that starts child processes.
pub(crate) fn helper() -> Vec<OsString> {
    // Without the path of this program, plugins cannot be tested, and every plugin reports that.
    let program = std::env::current_exe().ok();
    let program = program.into_iter().map(PathBuf::into_os_string);
    program.chain(["plugin-host".into(), "--".into()]).collect()
}

/// Converts flags to host options. The scenario determines additional folders.
pub(crate) fn options(flags: &ExtensionFlags, scenario: Option<&Path>) -> HostOptions {
    let user = ProjectDirs::from("", "", "roadwright");
    let beside = scenario.and_then(Path::parent);
    let folders = |given: &[PathBuf], name: &str| {
        let mut folders = given.to_vec();
        // If two modules have the same id, the first one is used. The order is requested folders, folders of
        // the scenario, folders of the user.
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
        wanted: Wanted::All,
        isolated: flags.isolate.iter().cloned().collect(),
        isolated_memory: flags.isolated_memory,
        watch: flags.watch,
        builtin: builtin_modules(),
    }
}

/// Returns the modules that a run needs: the modules of `--use` for their slots, and the modules
/// named in the stacks for all other slots.
pub(crate) fn wanted(scenario: &Scenario, used: &[String]) -> Wanted {
    let mut ids = BTreeSet::new();
    for slot in Slot::ALL {
        let used = used.iter().find_map(|setting| {
            let (name, ids) = setting.split_once('=')?;
            (Slot::from_name(name) == Some(slot)).then_some(ids)
        });
        match used {
            Some(used) => ids.extend(used.split(',').map(str::to_owned)),
            None => {
                let stacks = scenario.stacks().values();
                let settings = stacks.flat_map(|stack| stack.settings(slot));
                ids.extend(settings.map(|setting| setting.module.clone()));
            }
        }
    }
    ids.extend(scenario.signal_controllers().map(str::to_owned));
    Wanted::Ids(ids)
}

/// Whether notes of modules are printed. Warnings and errors always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notes {
    Print,
    Omit,
}

impl Notes {
    /// Prints notes unless the user asked for quiet output.
    pub(crate) fn unless(is_quiet: bool) -> Self {
        if is_quiet { Self::Omit } else { Self::Print }
    }
}

/// Opens the modules of a run, and prints the events of the scan.
///
/// # Errors
/// If a flag names a module or folder that does not exist. Otherwise a typo in a safety flag would go unnoticed.
pub(crate) fn open(
    flags: &ExtensionFlags,
    scenario: Option<&Path>,
    wanted: Wanted,
    notes: Notes,
) -> anyhow::Result<Host> {
    // Scripts that the run does not use are read too, but not reported.
    let asked = wanted.clone();
    let is_news = |event: &Event| match &asked {
        Wanted::Ids(ids) => {
            let is_script = event.module.ends_with(&format!(".{SCRIPT_ENDING}"));
            event.level != Level::Info || !is_script || ids.contains(&event.module)
        }
        Wanted::All => true,
    };
    let host = open_untold(flags, scenario, wanted)?;
    let events: Vec<Event> = host.events().into_iter().filter(is_news).collect();
    tell(&events, notes);
    Ok(host)
}

/// Opens the modules without printing events, for commands that concern a single file.
///
/// # Errors
/// As for [`open`].
pub(crate) fn open_untold(
    flags: &ExtensionFlags,
    scenario: Option<&Path>,
    wanted: Wanted,
) -> anyhow::Result<Host> {
    check_folders(flags)?;
    // The flags are checked against the results of the scan, because hashes and ids are not known before.
    let host = Host::open(HostOptions {
        wanted,
        ..options(flags, scenario)
    });
    check_names(flags, &host)?;
    for line in host.silent_ends() {
        say!("warning: {line}");
    }
    if host.may_run_in_this_process() {
        if !worker::is_worker() {
            // The child then makes its own copies of plugins.
            drop(host);
            match supervisor::work_in_child()? {}
        }
        let rows = host.modules().into_iter();
        let native = rows.filter(|row| row.tier == "native");
        worker::note_plugins(&native.map(|row| row.id).collect::<Vec<_>>());
    }
    Ok(host)
}

/// If `message` names a plugin that was found but not loaded, returns why it was not loaded. The
/// message must have the id of the plugin in quotation marks.
pub(crate) fn cause_of(message: &str, host: &Host) -> Option<String> {
    host.files().into_iter().find_map(|file| {
        let id = file.info?.id;
        let is_named = message.contains(&format!("\"{id}\""));
        match file.state {
            _ if !is_named => None,
            FileState::NeedsPermission => Some(format!(
                "{id} is not allowed to run yet; allow it with --allow-plugin {} or --trust-plugins",
                file.hash
            )),
            // The reason was printed when the folders were scanned.
            FileState::Rejected(_) => Some(format!("{id} was not loaded; see above")),
            _ => None,
        }
    })
}

/// Returns an error, or its cause if the cause is a plugin that was not loaded.
pub(crate) fn or_cause(error: impl Into<anyhow::Error>, host: &Host) -> anyhow::Error {
    let error = error.into();
    match cause_of(&format!("{error:#}"), host) {
        Some(cause) => anyhow::anyhow!(cause),
        None => error,
    }
}

fn check_folders(flags: &ExtensionFlags) -> anyhow::Result<()> {
    let folders = flags.plugins.iter().map(|folder| ("--plugins", folder));
    let folders = folders.chain(flags.scripts.iter().map(|folder| ("--scripts", folder)));
    for (flag, folder) in folders {
        if !folder.is_dir() {
            bail!("{flag} {}: the folder does not exist", folder.display());
        }
    }
    Ok(())
}

fn check_names(flags: &ExtensionFlags, host: &Host) -> anyhow::Result<()> {
    let files = host.files();
    for hash in &flags.allow_plugin {
        // `Trust` needs at least this many digits, so fewer would silently allow nothing.
        let is_hash = hash.len() >= 8 && hash.chars().all(|c| c.is_ascii_hexdigit());
        if !is_hash {
            bail!("--allow-plugin {hash}: specify at least 8 hexadecimal digits of a hash");
        }
        if !files
            .iter()
            .any(|file| file.hash.starts_with(hash.as_str()))
        {
            bail!(
                "--allow-plugin {hash}: no plugin has this hash; `roadwright plugin list` shows the hashes"
            );
        }
    }
    for id in &flags.isolate {
        let mut ids = files
            .iter()
            .filter_map(|file| Some(&file.info.as_ref()?.id));
        if !ids.any(|known| known == id) {
            bail!("--isolate {id}: no plugin has this id; `roadwright plugin list` shows the ids");
        }
    }
    Ok(())
}

/// Prints events of modules.
pub(crate) fn tell(events: &[Event], notes: Notes) {
    for event in events {
        let word = match event.level {
            Level::Info if notes == Notes::Omit => continue,
            Level::Info => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        say!("{word}: {}: {}", event.module, event.text);
    }
}
