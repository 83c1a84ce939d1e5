//! Costs of a library: time, and resources that it does not release.

use super::examiner::Examiner;
use super::inputs::{Examined, usual_rows};
use super::{Looked, ROWS};

/// Maximum ratio of the time per agent to the budget. A plugin that exceeds it fails the check.
const MOST_OVER_BUDGET: f64 = 20.0;
/// Maximum ratio of the time of a call for a single agent to the budget per agent. A plugin that
/// exceeds it fails the check. The overhead of a call matters less, because there are few calls.
const MOST_OF_A_CALL: f64 = 1000.0;
/// Minimum number of calls that are timed. Only the fastest one is used.
const CALLS: u64 = 20;
/// Maximum number of timed calls if all earlier ones were too slow.
const CALLS_AGAIN: u64 = 100;
/// Number of steps between two measurements of the process's resources.
// The allocator keeps whole pages, so single steps are not conclusive. 16 KiB per step would be 1.8 GB in an
// hour of a run at 30 Hz.
const LEAK_STEPS: u64 = 150;
/// Permitted growth of memory per step, bytes.
const LEAK: u64 = 16 * 1024;
/// Memory use at which the check for leaks ends immediately, bytes.
const MUCH_MEMORY: u64 = 256 << 20;

pub(super) fn speed<K: Examined>(examiner: &Examiner) -> Looked {
    let backend = examiner.fresh::<K>()?;
    let mut changed_mode = false;
    // The fastest of several calls is used, because the mean would include other work on the
    // machine. A plugin that seems too slow is called more often, because the machine may be busy
    // for a while.
    let mut best = |size: usize, most: f64| -> Result<f64, String> {
        let mut best = f64::INFINITY;
        for step in 0..CALLS_AGAIN {
            if step >= CALLS && best <= most {
                break;
            }
            let mut rows = usual_rows::<K>(step % 4);
            rows.truncate(size);
            let answers = examiner.ask::<K>(&backend, step, &rows, size)?;
            best = best.min(answers.seconds * 1e6 / size as f64);
            changed_mode |= answers.changed_mode;
        }
        Ok(best)
    };
    let budget = K::BUDGET_US;
    let micros = best(K::ROWS, MOST_OVER_BUDGET * budget)?;
    let mut note = format!("{micros:.3} us per agent (budget: {budget} us)");
    if micros > MOST_OVER_BUDGET * budget {
        return Err(format!(
            "{note}, more than {MOST_OVER_BUDGET} times the budget"
        ));
    }
    // A single row measures the overhead of a call, which many rows share.
    let call = best(1, MOST_OF_A_CALL * budget)?;
    if call > MOST_OF_A_CALL * budget {
        return Err(format!(
            "a call with one agent takes {call:.0} us, more than {MOST_OF_A_CALL} times the budget \
             of {budget} us"
        ));
    }
    if micros > budget {
        note += ": slow";
    }
    if changed_mode {
        note += "; its steps change the floating-point mode";
    }
    Ok(note)
}

/// Returns the resources that the process holds: memory in bytes, open files and threads; `None` on
/// systems other than Linux.
fn holds() -> Option<[u64; 3]> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let files = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    // The system reports memory in KiB.
    Some([value("VmRSS:")? * 1024, files, value("Threads:")?])
}

/// Checks whether the plugin accumulates memory, files or threads with every step.
pub(super) fn leaks<K: Examined>(examiner: &Examiner) -> Looked {
    let backend = examiner.fresh::<K>()?;
    let mut step = 0;
    let mut run = |steps: u64| -> Result<(), String> {
        for _ in 0..steps {
            let rows = usual_rows::<K>(step % 4);
            examiner.ask::<K>(&backend, step, &rows, ROWS)?;
            step += 1;
            let memory = holds().map_or(0, |[memory, ..]| memory);
            if step.is_multiple_of(16) && memory > MUCH_MEMORY {
                return Err(format!(
                    "the process uses {} MiB after {step} steps",
                    memory >> 20
                ));
            }
        }
        Ok(())
    };
    // Resources that are needed once are allocated in the first steps.
    run(LEAK_STEPS / 3)?;
    let Some(before) = holds() else {
        return Ok("not available on this system".into());
    };
    run(LEAK_STEPS)?;
    let after = holds().unwrap_or(before);
    let gained = |what: usize| after[what].saturating_sub(before[what]);
    if gained(0) > LEAK * LEAK_STEPS {
        let a_step = gained(0) / LEAK_STEPS / 1024;
        return Err(format!("leaks {a_step} KiB of memory per step"));
    }
    for (what, name) in [(1, "files open"), (2, "threads")] {
        if gained(what) > LEAK_STEPS / 10 {
            return Err(format!(
                "leaves {} {name} after {LEAK_STEPS} steps",
                gained(what)
            ));
        }
    }
    Ok(format!("none in {LEAK_STEPS} steps"))
}
