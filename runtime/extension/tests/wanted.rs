//! Checks that the code of a plugin does not run unless a run needs the plugin.
#![cfg(unix)]

use crate::common::{Bench, c_plugin, run, shipped};
use roadwright_agent::{ModuleKind, Slot};
use roadwright_extension::{FileState, Wanted};
use roadwright_simulation::RunOptions;
use std::path::PathBuf;
use tempfile::TempDir;

const PROBE: &str = "org.roadwright.probe";

/// A host from which modules are requested, and a plugin that leaves a mark when it is loaded.
struct Case {
    bench: Bench,
    mark: PathBuf,
    _folder: TempDir,
}

impl Case {
    fn new(wanted: &[&str], script: Option<(&str, &str)>, watch: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("loaded");
        let definition = format!("LOADED=\"{}\"", mark.display());
        let library = c_plugin(folder.path(), "probe", &[&definition], &["-lm"]);
        let mut bench = Bench::new();
        std::fs::copy(library, bench.plugins().join("probe.so")).unwrap();
        if let Some((name, text)) = script {
            std::fs::write(bench.scripts().join(name), text).unwrap();
        }
        let wanted = wanted.iter().map(|&id| id.to_owned()).collect();
        bench.open(|options| {
            options.wanted = Wanted::Ids(wanted);
            options.watch = watch;
        });
        Self {
            bench,
            mark,
            _folder: folder,
        }
    }

    fn is_loaded(&self) -> bool {
        let state = self.bench.host().files()[0].state.clone();
        let is_active = state == FileState::Active;
        assert!(is_active || state == FileState::Idle, "{state:?}");
        assert_eq!(
            self.mark.exists(),
            is_active,
            "inactive plugins have not run"
        );
        is_active
    }
}

#[test]
fn what_nobody_asks_for_does_not_run() {
    let idle = Case::new(&["idm", "lane_keeper"], None, false);
    assert!(!idle.is_loaded());
    assert_eq!(idle.bench.said(), "", "and it is not reported");
    let host = idle.bench.host();
    // The plugin is known nevertheless.
    assert_eq!(host.files()[0].info.as_ref().unwrap().id, PROBE);
    let infos = host.registry().infos(ModuleKind::Controller);
    assert!(infos.iter().all(|(info, _)| info.id != PROBE));
    host.rescan();
    assert!(!idle.is_loaded());
    let asked = Case::new(&["idm", PROBE], None, false);
    assert!(asked.is_loaded());
    let infos = asked.bench.host().registry().infos(ModuleKind::Controller);
    assert!(infos.iter().any(|(info, _)| info.id == PROBE));
}

#[test]
fn scripts_can_choose_what_no_stack_names() {
    let text =
        "fn behave(agent) { agent.use_module(\"controller\", \"org.roadwright.\" + \"probe\"); }";
    let chooses = Case::new(
        &["idm", "chooser.rhai"],
        Some(("chooser.rhai", text)),
        false,
    );
    assert!(chooses.is_loaded());
    let scenario = shipped("old-town");
    let (bench, options) = (&chooses.bench, RunOptions::default());
    let mut world = bench.world(&scenario, Slot::Behaviour, "chooser.rhai", options);
    run(&mut world, 3.0);
    assert!(world.modules().iter().any(|module| module.module == PROBE));
    assert_eq!(bench.row("chooser.rhai").faults, 0);
    // Neither an unused script nor a used script that chooses nothing loads the plugin.
    assert!(!Case::new(&["idm"], Some(("chooser.rhai", text)), false).is_loaded());
    let calm = (
        "calm.rhai",
        "fn behave(agent) { agent.speed_factor = 0.9; }",
    );
    assert!(!Case::new(&["calm.rhai"], Some(calm), false).is_loaded());
    // If files are watched, the script may be changed so that it chooses the plugin.
    assert!(Case::new(&["calm.rhai"], Some(calm), true).is_loaded());
}

#[test]
fn what_a_script_imports_counts() {
    let text = "import \"tools\" as tools;\nfn behave(agent) { tools::choose(agent); }";
    let case = Case::new(&["idm"], Some(("uses.rhai", text)), false);
    let tools = "fn choose(agent) { agent.use_module(\"controller\", \"org.roadwright.probe\"); }";
    std::fs::write(case.bench.scripts().join("tools.rhai"), tools).unwrap();
    assert!(!case.is_loaded());
    let Case {
        mut bench,
        mark,
        _folder,
    } = case;
    bench.open(|options| options.wanted = Wanted::Ids(["uses.rhai".to_owned()].into()));
    let case = Case {
        bench,
        mark,
        _folder,
    };
    assert!(case.is_loaded(), "{}", case.bench.said());
}
