//! Examination of a plugin for determinism, hard inputs, state, parameters and speed. It runs in a child
//! process, because it runs the plugin.

mod costs;
mod examiner;
mod inputs;
mod looks;

use super::backend::Backend;
use super::in_process::{InProcess, drives_by_pedals};
use super::inspect::inspect;
use super::kind::{
    AsController, AsFitness, AsGroundPlanner, AsNeeds, AsNeedsPedals, AsPedals, AsPlanner,
    AsSignals,
};
use super::library::Library;
use super::views::TrialViews;
use costs::{leaks, speed};
use examiner::{Examiner, Order};
use inputs::{Examined, grid_roads};
use roadwright_agent::ModuleKind;
use std::path::Path;
use std::sync::Arc;

/// Name of the speed check.
const SPEED: &str = "speed";
/// Name of the leak check.
const LEAKS: &str = "leaks";
/// Names of the checks that end the examination if they fail. After that, the plugin is not called again.
pub(crate) const ENDING: [&str; 2] = [SPEED, LEAKS];
/// Number of rows in a batch.
const ROWS: usize = 256;

/// Result of a check.
pub(crate) struct Finding {
    pub(crate) name: &'static str,
    /// Problem; `None` if the check passed.
    pub(crate) problem: Option<String>,
    /// Details of the result.
    pub(crate) note: String,
}

/// Examines a library; `report` receives each finding as soon as it is known.
pub(crate) fn examine(path: &Path, mut report: impl FnMut(&Finding)) -> Result<bool, String> {
    let (inspected, _) = inspect(path).map_err(|error| error.to_string())?;
    let info = inspected.info;
    let library = Library::open(path).map_err(|error| error.to_string())?;
    let mut is_good = true;
    let changed = library.changed_mode;
    let mut tell = |finding: Finding| {
        is_good &= finding.problem.is_none();
        report(&finding);
    };
    tell(Finding {
        name: "floating point mode",
        problem: None,
        note: if changed {
            "loading the library changes the floating-point mode (-ffast-math?); Roadwright corrects that, but results may \
             differ"
                .into()
        } else {
            "kept".into()
        },
    });
    let library = Arc::new(library);
    let examiner = Examiner {
        views: views_of(&library, info.module_kinds())?,
        library,
        roads: grid_roads(),
        info: info.clone(),
    };
    let has_views = examiner.views.is_some();
    for kind in info.module_kinds() {
        match kind {
            ModuleKind::Controller if has_views && drives_by_pedals(&examiner.library.api) => {
                examine_kind::<AsNeedsPedals>(&examiner, &mut tell);
            }
            ModuleKind::Controller if has_views => {
                examine_kind::<AsNeeds>(&examiner, &mut tell);
            }
            ModuleKind::Controller if drives_by_pedals(&examiner.library.api) => {
                examine_kind::<AsPedals>(&examiner, &mut tell);
            }
            ModuleKind::Controller => examine_kind::<AsController>(&examiner, &mut tell),
            ModuleKind::Fitness => examine_kind::<AsFitness>(&examiner, &mut tell),
            ModuleKind::Planner => examine_kind::<AsPlanner>(&examiner, &mut tell),
            ModuleKind::SignalController => examine_kind::<AsSignals>(&examiner, &mut tell),
            ModuleKind::GroundPlanner => examine_kind::<AsGroundPlanner>(&examiner, &mut tell),
            ModuleKind::Behaviour => {}
        }
    }
    Ok(is_good)
}

/// Computes a digest of all answers of a library, for comparison of two processes.
pub(crate) fn digest(path: &Path) -> Result<String, String> {
    let (inspected, _) = inspect(path).map_err(|error| error.to_string())?;
    let library = Library::open(path).map_err(|error| error.to_string())?;
    let library = Arc::new(library);
    let examiner = Examiner {
        views: views_of(&library, inspected.info.module_kinds())?,
        library,
        roads: grid_roads(),
        info: inspected.info.clone(),
    };
    let has_views = examiner.views.is_some();
    let mut hasher = blake3::Hasher::new();
    for kind in inspected.info.module_kinds() {
        let history = match kind {
            ModuleKind::Controller if has_views && drives_by_pedals(&examiner.library.api) => {
                examiner.history::<AsNeedsPedals>(ROWS, Order::Sorted)?
            }
            ModuleKind::Controller if has_views => {
                examiner.history::<AsNeeds>(ROWS, Order::Sorted)?
            }
            ModuleKind::Controller if drives_by_pedals(&examiner.library.api) => {
                examiner.history::<AsPedals>(ROWS, Order::Sorted)?
            }
            ModuleKind::Controller => examiner.history::<AsController>(ROWS, Order::Sorted)?,
            ModuleKind::Fitness => examiner.history::<AsFitness>(ROWS, Order::Sorted)?,
            ModuleKind::Planner => examiner.history::<AsPlanner>(ROWS, Order::Sorted)?,
            ModuleKind::SignalController => examiner.history::<AsSignals>(ROWS, Order::Sorted)?,
            ModuleKind::GroundPlanner => {
                examiner.history::<AsGroundPlanner>(AsGroundPlanner::ROWS, Order::Sorted)?
            }
            ModuleKind::Behaviour => Vec::new(),
        };
        hasher.update(&history);
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// Creates the data that a controller or ground planner requests in addition to its rows; `None` if the library has no
/// such module.
fn views_of(
    library: &Arc<Library>,
    mut kinds: impl Iterator<Item = ModuleKind>,
) -> Result<Option<TrialViews>, String> {
    let has_needs =
        |kind: &ModuleKind| matches!(kind, ModuleKind::Controller | ModuleKind::GroundPlanner);
    let Some(kind) = kinds.find(has_needs) else {
        return Ok(None);
    };
    let backend = InProcess::new(library.clone(), kind);
    let needs = backend.and_then(|backend| backend.needs());
    Ok(needs.map_err(|fault| fault.message)?.map(TrialViews::new))
}

type Looked = Result<String, String>;

/// A check of an examination.
type Look = fn(&Examiner) -> Looked;

fn examine_kind<K: Examined>(examiner: &Examiner, tell: &mut dyn FnMut(Finding)) {
    let looks: [(&'static str, Look); 11] = [
        ("usual inputs", looks::usual_inputs::<K>),
        (SPEED, speed::<K>),
        (LEAKS, leaks::<K>),
        ("the same twice", looks::same_twice::<K>),
        ("batches of 1 and 7", looks::split::<K>),
        ("shuffled agents", looks::shuffled::<K>),
        ("hard inputs", looks::hard_inputs::<K>),
        ("parameters", looks::parameters::<K>),
        ("agents come and go", looks::agents_come_and_go::<K>),
        ("two threads", looks::two_threads::<K>),
        ("state", looks::state::<K>),
    ];
    for (name, look) in looks {
        let (problem, note) = match look(examiner) {
            Ok(note) => (None, note),
            Err(problem) => (Some(problem), String::new()),
        };
        // With a plugin that is far too slow the other checks would take hours, and with one that leaks they
        // would fill the memory.
        let is_over = ENDING.contains(&name) && problem.is_some();
        tell(Finding {
            name,
            problem,
            note,
        });
        if is_over {
            return;
        }
    }
}
