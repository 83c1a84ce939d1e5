//! What a library costs: time, and what it holds and does not return.

use super::examiner::Examiner;
use super::inputs::{Examined, usual_rows};
use super::{Looked, ROWS};

/// How many times its budget a call may take before that is a verdict.
const MOST_OVER_BUDGET: f64 = 20.0;
/// How many times the budget of one agent a call about one may take: what a call costs by itself
/// counts less, since there are few calls.
const MOST_OF_A_CALL: f64 = 1000.0;
/// Calls of which the fastest one counts, and how many there are at most if all of those were too slow.
const CALLS: u64 = 20;
const CALLS_AGAIN: u64 = 100;
/// Steps between two looks at what a process holds, and memory that it may gain a step, bytes.
// The allocator keeps pages of its own, so single steps tell nothing; 16 KiB a step would be 1.8 GB in
// an hour of a run at 30 Hz.
const LEAK_STEPS: u64 = 150;
const LEAK: u64 = 16 * 1024;
/// Memory that ends the look for leaks at once, bytes.
const MUCH_MEMORY: u64 = 256 << 20;

pub(super) fn speed<K: Examined>(examiner: &Examiner) -> Looked {
    let backend = examiner.fresh::<K>()?;
    let mut changed_mode = false;
    // The best of some calls, for each row of it: the mean would measure what else the machine does. Who
    // seems too slow is asked again, since the machine may be busy with something else for a while.
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
    let mut note = format!("{micros:.3} us an agent, budget {budget} us");
    if micros > MOST_OVER_BUDGET * budget {
        return Err(format!("{note}: more than {MOST_OVER_BUDGET} times that"));
    }
    // With one row what a call costs by itself shows, which many rows share.
    let call = best(1, MOST_OF_A_CALL * budget)?;
    if call > MOST_OF_A_CALL * budget {
        return Err(format!(
            "{call:.0} us for a call about one agent, budget {budget} us: more than \
             {MOST_OF_A_CALL} times that"
        ));
    }
    if micros > budget {
        note += ": slow";
    }
    if changed_mode {
        note += "; its steps change the floating point mode";
    }
    Ok(note)
}

/// What the process holds: memory in bytes, open files, threads. Known on Linux only.
fn holds() -> Option<[u64; 3]> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let files = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    // The system tells memory in KiB.
    Some([value("VmRSS:")? * 1024, files, value("Threads:")?])
}

/// Whether it keeps memory, files or threads with every step.
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
                    "the process has {} MiB after {step} steps",
                    memory >> 20
                ));
            }
        }
        Ok(())
    };
    // What it needs once is there after the first steps.
    run(LEAK_STEPS / 3)?;
    let Some(before) = holds() else {
        return Ok("not known on this system".into());
    };
    run(LEAK_STEPS)?;
    let after = holds().unwrap_or(before);
    let gained = |what: usize| after[what].saturating_sub(before[what]);
    if gained(0) > LEAK * LEAK_STEPS {
        let a_step = gained(0) / LEAK_STEPS / 1024;
        return Err(format!("it keeps {a_step} KiB of memory with every step"));
    }
    for (what, name) in [(1, "files open"), (2, "threads")] {
        if gained(what) > LEAK_STEPS / 10 {
            return Err(format!(
                "it keeps {} {name} after {LEAK_STEPS} steps",
                gained(what)
            ));
        }
    }
    Ok(format!("none in {LEAK_STEPS} steps"))
}
