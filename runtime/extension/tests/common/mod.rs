//! Shared test code for hosts: libraries, hosts, and worlds.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "each test file uses a part; tests wait in wall time"
)]

use roadwright_agent::Slot;
use roadwright_extension::{Event, Host, HostOptions, ISOLATED_MEMORY, Trust, Wanted};
use roadwright_scenario::{Scenario, file};
use roadwright_simulation::{ModuleOverrides, RunOptions, World, builtin_modules};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const CHAOS: &str = "org.roadwright.chaos";

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles C or C++ to a library; `None` if there is no compiler.
pub fn compile(source: &Path, library: &Path, flags: &[&str]) -> Option<()> {
    let is_c = source.extension().is_some_and(|ending| ending == "c");
    let (compiler, standard) = if is_c {
        ("cc", "-std=c11")
    } else {
        ("c++", "-std=c++17")
    };
    let output = Command::new(compiler)
        .args([standard, "-O2", "-Wall", "-Wextra", "-Werror", "-shared"])
        .args(["-fPIC", "-fvisibility=hidden"])
        .arg("-I")
        .arg(root().join("plugins/api/include"))
        .arg(source)
        .arg("-o")
        .arg(library)
        .args(flags)
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            assert!(!is_c, "a C compiler is needed to link Rust, too: {error}");
            eprintln!("skipped: there is no C++ compiler ({error})");
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(())
}

/// Compiles a small plugin in C whose behaviour depends on definitions, see `tests/c/probe.c`.
pub fn c_plugin(folder: &Path, name: &str, definitions: &[&str], flags: &[&str]) -> PathBuf {
    c_source("probe.c", &folder.join(name), definitions, flags)
}

/// Compiles a plugin in C of the folder `tests/c` with definitions, to a library without an extension in its name.
pub fn c_source(source: &str, library: &Path, definitions: &[&str], flags: &[&str]) -> PathBuf {
    let source = root().join("runtime/extension/tests/c").join(source);
    let library = library.with_extension("so");
    let definitions: Vec<String> = definitions.iter().map(|d| format!("-D{d}")).collect();
    let mut all: Vec<&str> = definitions.iter().map(String::as_str).collect();
    all.extend(flags);
    compile(&source, &library, &all).unwrap();
    library
}

/// Flags for plugins whose results are compared bit by bit.
pub const EXACT: [&str; 2] = ["-ffp-contract=off", "-lm"];

/// Checks that a module leads to the same state with one and two threads, and in a separate
/// process. `end` returns the hash of the state after a run with a number of threads.
pub fn check_alike(bench: &Bench, id: &str, name: &str, end: impl Fn(usize) -> u64) {
    let end = |threads: usize, isolated: bool| {
        bench.host().set_isolated(id, isolated);
        end(threads)
    };
    let hash = end(1, false);
    assert_eq!(hash, end(2, false), "{name} with two threads");
    assert_eq!(hash, end(1, true), "{name} in a process of its own");
    assert_eq!(bench.row(id).faults, 0, "{name}: {}", bench.said());
}

/// A host with separate folders.
pub struct Bench {
    pub folder: TempDir,
    pub host: Option<Host>,
}

impl Bench {
    /// Creates a host that trusts all plugins and does not watch folders.
    pub fn new() -> Self {
        Self::with(|_| ())
    }

    pub fn with(change: impl FnOnce(&mut HostOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["plugins", "scripts", "cache"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut bench = Self { folder, host: None };
        bench.open(change);
        bench
    }

    /// Opens another host on the same folders, as after a restart.
    pub fn open(&mut self, change: impl FnOnce(&mut HostOptions)) {
        self.host = None;
        let mut options = HostOptions {
            plugins: vec![self.plugins()],
            scripts: vec![self.scripts()],
            cache: self.folder.path().join("cache"),
            helper: vec![env!("CARGO_BIN_EXE_roadwright-plugin-host").into()],
            trust: Trust::All,
            wanted: Wanted::All,
            isolated: Default::default(),
            isolated_memory: ISOLATED_MEMORY,
            watch: false,
            builtin: builtin_modules(),
        };
        change(&mut options);
        self.host = Some(Host::open(options));
    }

    pub fn host(&self) -> &Host {
        self.host.as_ref().unwrap()
    }

    pub fn plugins(&self) -> PathBuf {
        self.folder.path().join("plugins")
    }

    pub fn scripts(&self) -> PathBuf {
        self.folder.path().join("scripts")
    }

    /// Writes a file into the plugin folder and lets the host scan it immediately.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let temporary = self.plugins().join(".new");
        std::fs::write(&temporary, bytes).unwrap();
        std::fs::rename(&temporary, self.plugins().join(name)).unwrap();
        self.host().rescan();
    }

    pub fn put_file(&self, name: &str, library: &Path) {
        self.put(name, &std::fs::read(library).unwrap());
    }

    pub fn put_script(&self, name: &str, text: &str) {
        std::fs::write(self.scripts().join(name), text).unwrap();
        self.host().rescan();
    }

    /// Returns all events so far as one string.
    pub fn said(&self) -> String {
        let events = self.host().events();
        let line = |event: &Event| format!("{}: {}\n", event.module, event.text);
        events.iter().map(line).collect()
    }

    /// Creates a world whose stacks use the given module.
    pub fn world(
        &self,
        scenario: &Scenario,
        slot: Slot,
        module: &str,
        options: RunOptions,
    ) -> World {
        let modules = only(slot, module);
        let options = RunOptions { modules, ..options };
        World::new(scenario, &self.host().registry(), &options).unwrap()
    }

    /// Returns the row of a module in the table.
    pub fn row(&self, id: &str) -> roadwright_extension::ModuleRow {
        let rows = self.host().modules();
        rows.into_iter().find(|row| row.id == id).unwrap()
    }
}

/// Returns overrides that put a module into all stacks.
pub fn only(slot: Slot, module: &str) -> ModuleOverrides {
    let mut modules = ModuleOverrides::default();
    modules.set(slot, vec![module.into()]).unwrap();
    modules
}

pub fn shipped(name: &str) -> Scenario {
    file::load(&root().join(format!("scenarios/{name}.scenario.json"))).unwrap()
}

pub fn run(world: &mut World, seconds: f64) {
    let end = world.time() + seconds;
    while world.time() < end - 1e-9 {
        world.step();
    }
}

/// Waits for at most ten seconds until a condition holds.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "waited for: {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
