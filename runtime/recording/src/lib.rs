//! Observes runs, rewinds them to any moment in the last minutes, and compares two runs.
//!
//! | file | contents |
//! | --- | --- |
//! | `run.rs` | a world with its statistics, its heat map and the trace of one agent |
//! | `rewind.rs` | checkpoints and the interventions between them, to rewind to any moment |
//! | `results.rs` | results of a run |
//! | `comparison.rs` | figures and trips of two runs side by side |
//!
//! ```
//! use roadwright_recording::{ObservedRun, Rewind};
//! use roadwright_scenario::Scenario;
//! use roadwright_simulation::builtin_modules;
//! use std::sync::Arc;
//!
//! let modules = builtin_modules();
//! let mut run = ObservedRun::new(Arc::new(Scenario::new("Town")), &modules, None)?;
//! let mut rewind = Rewind::default();
//! for _ in 0..10 {
//!     rewind.watch(&run);
//!     run.step();
//! }
//! let earlier = rewind.find(4, &run, None, &modules)?;
//! assert_eq!(earlier.world().steps(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod comparison;
mod results;
mod rewind;
mod run;

pub use results::{Ran, RunResults};
pub use rewind::{Intervention, LONGEST_REWIND, Rewind, Timeline, steps};
pub use run::{
    AgentTrace, ClipEnd, ClipRecorder, ClipRows, HandDrive, HeatCells, NoClip, ObservedRun,
    TracePoint,
};
