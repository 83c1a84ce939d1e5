//! Counts allocations of memory in steps of a world.
#![expect(
    unsafe_code,
    reason = "an allocator that counts has to be an allocator; it passes everything on to that of the system"
)]

use crate::common::{only, run, shipped};
use roadwright_agent::{
    Controller, Logic, Lookahead, Module, ModuleEntry, ModuleInfo, NearNeeds, Needs, ParameterSet,
    PathNeeds, Registry, Slot, Step, Views,
};
use roadwright_plugin_api::{ControllerInput, ControllerOutput, NeedsInput};
use roadwright_scenario::DynamicsLevel;
use roadwright_simulation::{RunOptions, World, builtin_modules};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Counts an allocation. At the end of a thread there is no counter any more.
fn count() {
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: all calls are passed on to the allocator of the system; the counter allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of rows that controllers have answered.
static ROWS: AtomicUsize = AtomicUsize::new(0);

const INFO: ModuleInfo = ModuleInfo {
    id: "asking",
    name: "Asking",
    doc: "Drives like idm and asks for more than it uses.",
};

/// A controller that requests all data and uses none of it.
struct Asking {
    idm: Module<dyn Controller>,
    needs: Option<Needs>,
}

impl Logic for Asking {}

impl Controller for Asking {
    fn step(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        ROWS.fetch_add(inputs.len(), Ordering::Relaxed);
        self.idm.step(step, inputs, outputs);
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        self.idm.lookahead()
    }

    fn aims_along_bend(&self, _: &ParameterSet) -> bool {
        true
    }

    fn needs(&self, _: &ParameterSet) -> Option<Needs> {
        self.needs
    }

    fn step_with_views(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        _: &Views<'_>,
        inputs: &[NeedsInput],
        outputs: &mut [ControllerOutput],
    ) {
        ROWS.fetch_add(inputs.len(), Ordering::Relaxed);
        for (row, input) in inputs.iter().enumerate() {
            let one = Step {
                indices: &step.indices[row..=row],
                ids: &step.ids[row..=row],
                ..*step
            };
            (self.idm).step(&one, &[input.seen], &mut outputs[row..=row]);
        }
    }
}

const PATH: PathNeeds = PathNeeds {
    distance: 15.0,
    time: 1.5,
    spacing: 0.5,
    most: 120,
};
const NEAR: NearNeeds = NearNeeds {
    radius: 40.0,
    most: 16,
    trees: false,
};

fn registry(needs: Option<Needs>) -> Registry {
    let mut registry = builtin_modules();
    let entries = registry.of::<dyn Controller>();
    let idm = entries.iter().find(|entry| entry.info.id == "idm").unwrap();
    let idm = idm.clone();
    registry.add(ModuleEntry::<dyn Controller>::new(INFO, &[], move || {
        Box::new(Asking {
            idm: idm.make(),
            needs,
        })
    }));
    registry
}

fn world(name: &str, needs: Option<Needs>) -> World {
    let options = RunOptions {
        modules: only(Slot::Controller, INFO.id),
        dynamics: Some(DynamicsLevel::OneTrack),
        ..RunOptions::default()
    };
    World::new(&shipped(name), &registry(needs), &options).unwrap()
}

fn all() -> Needs {
    Needs {
        motion: true,
        vehicles: true,
        path: Some(PATH),
        near: Some(NEAR),
        grid: None,
    }
}

#[test]
fn filling_rows_allocates_nothing_in_almost_all_steps() {
    let allocated = |needs: Option<Needs>| {
        let mut world = world("figure-eight", needs);
        run(&mut world, 30.0);
        let before = COUNT.get();
        run(&mut world, 5.0);
        (COUNT.get() - before, world.state_hash())
    };
    let (none, expected) = allocated(None);
    let (asked, hash) = allocated(Some(all()));
    println!("{none} allocations in 5 s without requests, {asked} with all");
    assert_eq!(hash, expected, "requests change nothing");
    // Buffers grow when more agents are due in a step than ever before, which is not often.
    assert!(asked <= none + 4, "{asked} {none}");
}

/// Measures the steps of old-town with a controller that requests the data in `ROADWRIGHT_NEEDS`
/// (path, near, both or none) and ignores them. Run it under `valgrind --tool=cachegrind` to count
/// instructions.
#[test]
#[ignore = "measures; see docs/measurements.md"]
#[expect(clippy::disallowed_methods, reason = "it measures time")]
fn cost_of_filling_rows() {
    let wanted = std::env::var("ROADWRIGHT_NEEDS").unwrap_or_default();
    let needs = Needs {
        path: ["path", "both"].contains(&&*wanted).then_some(PATH),
        near: ["near", "both"].contains(&&*wanted).then_some(NEAR),
        ..Needs::default()
    };
    let needs = (needs != Needs::default()).then_some(needs);
    let mut world = world("old-town", needs);
    run(&mut world, 10.0);
    let (rows, began) = (ROWS.load(Ordering::Relaxed), std::time::Instant::now());
    run(&mut world, 30.0);
    let (time, rows) = (began.elapsed(), ROWS.load(Ordering::Relaxed) - rows);
    let each = 1e9 * time.as_secs_f64() / rows as f64;
    println!("{wanted}: {rows} rows, {each:.0} ns each with the rest of the step");
}
