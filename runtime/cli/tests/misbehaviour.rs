//! Exit code, faults, reproducibility and module list of runs whose plugin misbehaves. Each kind of
//! misbehaviour is tried in the process of the run and in a separate process, beside a plugin that behaves
//! well.
#![cfg(target_os = "linux")]

use crate::evil::{ID, USE, folder, roadwright, told};
use crate::scenarios::{draw, street};
use roadwright_scenario::{Agent, Place, RoadId, Scenario, file};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The expected outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    /// No problems: exit code 0, no faults, reproducible.
    Fine,
    /// Some answers came from the built-in module: exit code 1, faults, and the plugin remains in use.
    Faults,
    /// Some answers came from the built-in module, and the plugin was removed: exit code 1 and faults.
    Out,
    /// The plugin was removed at a time that depends on the machine: exit code 1 and faults.
    Died,
    /// The program ended before its work was done: exit code 2, and no document.
    Ended,
    /// The run ended early with this exit code, as if interrupted by the user.
    Interrupted(i32),
}
use Verdict::{Died, Ended, Faults, Fine, Interrupted, Out};

/// A kind of misbehaviour, with its outcome in the process of the run and in a separate process.
struct Row(&'static str, Verdict, Verdict);

const ROWS: [Row; 45] = [
    // The well-behaved twin.
    Row("", Fine, Fine),
    // The plugin ends the process.
    Row("soon exit 0", Ended, Died),
    Row("soon exit 3", Ended, Died),
    Row("soon _exit 0", Ended, Died),
    Row("soon _exit 1", Ended, Died),
    Row("soon quick exit", Ended, Died),
    Row("soon abort", Ended, Died),
    Row("soon null", Ended, Died),
    Row("soon kill", Ended, Died),
    Row("soon terminate", Interrupted(143), Died),
    Row("soon exec", Ended, Died),
    Row("soon thread exit 0", Ended, Died),
    Row("soon thread _exit 0", Ended, Died),
    Row("soon thread _exit 1", Ended, Died),
    Row("soon thread null", Ended, Died),
    Row("soon thread abort", Ended, Died),
    Row("soon thread exec", Ended, Died),
    Row("stack overflow", Ended, Ended),
    Row("exit", Ended, Ended),
    // The failure occurs before the first step, so the run is refused.
    Row("create", Ended, Ended),
    Row("start null", Ended, Ended),
    Row("start exit", Ended, Ended),
    Row("claim to be good", Ended, Ended),
    // Unusable answers.
    Row("soon panic", Out, Out),
    Row("soon nan", Out, Out),
    Row("soon infinite", Out, Out),
    Row("soon huge", Out, Out),
    Row("soon out of range", Out, Out),
    Row("soon one nan", Faults, Faults),
    Row("status 3", Out, Out),
    Row("status 255", Out, Out),
    Row("soon return -1", Out, Out),
    Row("soon return panic", Out, Out),
    Row("soon return fatal", Out, Out),
    // Behaviour that the interface allows, or that is merely costly.
    Row("no status", Fine, Fine),
    Row("keep", Fine, Fine),
    Row("soon brake hard", Fine, Fine),
    Row("stand", Fine, Fine),
    Row("soon thread panic", Fine, Fine),
    Row("soon thread sleep", Fine, Fine),
    Row("panic in drop", Fine, Fine),
    Row("log flood", Fine, Fine),
    Row("leaked thread", Fine, Fine),
    Row("rounding mode", Fine, Fine),
    Row("print", Fine, Fine),
];

/// Writes a scenario with a car on a straight road.
pub(crate) fn write_scenario(path: &Path) {
    let mut scenario = Scenario::new("straight");
    draw(
        &mut scenario,
        (0.0, 0.0),
        (200.0, 0.0),
        &street("Long Street"),
    );
    let agent = Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        start: Place::lane(RoadId(1), -1, 5.0),
        via: vec![],
        destination: Some(Place::lane(RoadId(1), -1, 190.0)),
        depart: 0.0.into(),
        repeat: None.into(),
        speed: 0.0.into(),
    };
    let edit =
        roadwright_scenario::Edit::Agent(roadwright_scenario::AgentId(1), Some(Box::new(agent)));
    scenario.apply(edit).unwrap();
    file::save(&scenario, path).unwrap();
}

/// Returns the difference between the expected outcome and the run of a row; `None` if they agree.
fn surprise(folder: &Path, evil: &str, verdict: Verdict, more: &[&str]) -> Option<String> {
    let words = [
        &["run", "straight.scenario.json", "--seconds", "2", "--json"][..],
        &["--plugins", "plugins", "--trust-plugins"],
        &USE,
        more,
    ]
    .concat();
    let output = roadwright(folder, evil, &words);
    let document = serde_json::from_slice::<Value>(&output.stdout).ok();
    let found = (output.status.code(), document.as_ref().map(found_in));
    let expected = match verdict {
        Fine => (Some(0), Some("fine")),
        Faults => (Some(1), Some("faults")),
        Out => (Some(1), Some("out")),
        Died => (Some(1), Some("out, not reproducible")),
        Ended => (Some(2), None),
        Interrupted(code) => (Some(code), Some("interrupted")),
    };
    let said = told(&output);
    let is_named = verdict != Ended || said.contains(ID);
    (found != expected || !is_named)
        .then(|| format!("{evil} {more:?}: {found:?} instead of {expected:?}\n{said}\n"))
}

/// Returns the outcome of the plugin according to the document of a run.
fn found_in(document: &Value) -> &'static str {
    let faults = document["faults"][ID].as_u64().unwrap_or_default();
    let modules = document["modules"].as_array().unwrap();
    let module = modules.iter().find(|module| module["module"] == ID);
    let out = module.map(|module| module["out_since"].as_f64());
    let reproducible = document["reproducible"].as_bool().unwrap();
    match (faults > 0, out, reproducible) {
        _ if document["interrupted"] == true => "interrupted",
        (false, Some(None), true) => "fine",
        (true, Some(None), true) => "faults",
        (true, Some(Some(since)), true) if since >= 0.0 => "out",
        (true, Some(Some(since)), false) if since >= 0.5 => "out, not reproducible",
        _ => "contradictions",
    }
}

#[test]
fn a_run_says_of_every_misbehaviour_what_it_was() {
    let folder = folder();
    write_scenario(&folder.path().join("straight.scenario.json"));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut surprises = Vec::new();
        while let Some(Row(evil, here, apart)) = ROWS.get(next.fetch_add(1, Ordering::Relaxed)) {
            surprises.extend(surprise(folder.path(), evil, *here, &[]));
            surprises.extend(surprise(folder.path(), evil, *apart, &["--isolate", ID]));
        }
        surprises
    };
    let surprises = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut surprises = work();
        surprises.extend(other.join().unwrap());
        surprises
    });
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}
