//! The checks of an examination, one function each.

use super::examiner::{Examiner, Order, STEPS};
use super::inputs::{Examined, usual_rows};
use super::{Looked, ROWS};
use crate::native::backend::{Backend, State, bytes_of};
use crate::native::in_process::InProcess;
use roadwright_agent::ParameterInfo;
use roadwright_geometry::math::Stream;
use roadwright_plugin_api::abi::{CAP_PARALLEL_SLICES, CAP_STATE, ROW_OK};

/// Number of rows in a slice, for the test with calls from two threads.
const SLICE: usize = 64;
/// Number of rounds of the test with calls from two threads.
const ROUNDS: u64 = 60;

pub(super) fn usual_inputs<K: Examined>(examiner: &Examiner) -> Looked {
    let backend = examiner.fresh::<K>()?;
    let mut unanswered = 0;
    for step in 0..STEPS {
        let rows = usual_rows::<K>(step);
        let answers = examiner.ask::<K>(&backend, step, &rows, ROWS)?;
        if answers.overwritten {
            return Err("the plugin writes beyond its rows".into());
        }
        if answers.changed_inputs {
            return Err("the plugin writes to its inputs, which are const".into());
        }
        for (at, (_, input)) in rows.iter().enumerate() {
            if answers.status[at] != ROW_OK {
                unanswered += 1;
                continue;
            }
            let output = &answers.outputs[at];
            let flaw = K::flaw(output).map(str::to_owned);
            let flaw = flaw.or_else(|| K::deep_flaw(input, output, &answers.routes[at]));
            if let Some(flaw) = flaw {
                return Err(format!("{} gives {flaw}", K::KIND.name()));
            }
        }
    }
    let all = K::ROWS as u64 * STEPS;
    if unanswered == all {
        return Err("the plugin answers no rows; does it set status?".into());
    }
    Ok(format!(
        "{} of {all} rows answered, all valid",
        all - unanswered
    ))
}

fn same(a: &[u8], b: &[u8], what: &str) -> Looked {
    if a == b {
        Ok("identical bit for bit".into())
    } else {
        Err(format!("answers differ {what}"))
    }
}

pub(super) fn same_twice<K: Examined>(examiner: &Examiner) -> Looked {
    let first = examiner.history::<K>(ROWS, Order::Sorted)?;
    let second = examiner.history::<K>(ROWS, Order::Sorted)?;
    same(&first, &second, "between two fresh instances")
}

pub(super) fn split<K: Examined>(examiner: &Examiner) -> Looked {
    let whole = examiner.history::<K>(ROWS, Order::Sorted)?;
    // Single rows, and slices of 7 rows. The last of these slices is shorter: 256 = 36 * 7 + 4.
    for size in [1, 7] {
        let parts = examiner.history::<K>(size, Order::Sorted)?;
        same(
            &whole,
            &parts,
            &format!("if the batch is split into slices of {size}"),
        )?;
    }
    Ok("identical bit for bit".into())
}

pub(super) fn shuffled<K: Examined>(examiner: &Examiner) -> Looked {
    let sorted = examiner.history::<K>(ROWS, Order::Sorted)?;
    let shuffled = examiner.history::<K>(ROWS, Order::Shuffled)?;
    same(&sorted, &shuffled, "if the agents are in another order")
}

pub(super) fn hard_inputs<K: Examined>(examiner: &Examiner) -> Looked {
    // The host sends neither NaN nor infinities. 5e-324 is the smallest number above 0; the squares of 1e-300
    // and 1e300 are 0 and infinite; 1e6 means "none".
    const EDGES: [f64; 14] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e-300,
        -1e-300,
        5e-324,
        1e-9,
        1e6,
        -1e6,
        1e12,
        1e300,
        -1e300,
        f64::MAX,
    ];
    let mut random = Stream::new(0, "edges", 0);
    let mut unusable = 0;
    // Called in 16 rounds.
    let count = 16 * K::ROWS;
    for round in 0..16 {
        let backend = examiner.fresh::<K>()?;
        let row = |slot: u32| {
            let mut pick = || EDGES[random.next_index(EDGES.len())];
            (slot, K::hard(&mut pick))
        };
        let rows: Vec<_> = (0..K::ROWS as u32).map(row).collect();
        let answers = examiner.ask::<K>(&backend, round, &rows, ROWS)?;
        if answers.overwritten {
            return Err("the plugin writes beyond its rows".into());
        }
        let answered = answers.status.iter().zip(&answers.outputs);
        let bad = answered.filter(|(status, o)| **status == ROW_OK && K::flaw(o).is_some());
        unusable += bad.count();
    }
    Ok(format!(
        "survived; {unusable} of {count} answers are invalid and would be replaced"
    ))
}

/// Chooses a value of a parameter.
type ValueOf = fn(&ParameterInfo) -> f64;

pub(super) fn parameters<K: Examined>(examiner: &Examiner) -> Looked {
    let backend = examiner.fresh::<K>()?;
    let infos = backend.parameters();
    let mut index = 0;
    while let Some(info) = infos.get(index) {
        // The cells of a table are set together.
        let own = &infos[index..(index + info.span()).min(infos.len())];
        let name = info.cell.map_or(info.key, |cell| cell.table.key);
        let ends: [(&str, ValueOf); 3] = [
            ("its minimum", |info| info.min),
            ("its maximum", |info| info.max),
            ("its default", |info| info.default),
        ];
        for (end, value) in ends {
            let values: Vec<f64> = own.iter().map(value).collect();
            let shown = match values[..] {
                [value] => value.to_string(),
                _ => end.to_owned(),
            };
            backend
                .set_parameter(index, &values)
                .map_err(|fault| format!("{name} = {shown}: {}", fault.message))?;
            let got = backend.get_parameter(index);
            let other = got
                .into_iter()
                .flatten()
                .zip(&values)
                .position(|(got, v)| got != *v);
            if let Some(other) = other {
                let got = backend.get_parameter(index).unwrap_or_default();
                return Err(format!(
                    "{} was set to {} and reads back as {}",
                    own[other].key, values[other], got[other]
                ));
            }
            let rows = usual_rows::<K>(0);
            let answers = examiner
                .ask::<K>(&backend, 0, &rows, ROWS)
                .map_err(|why| format!("with {name} = {shown}: {why}"))?;
            let answered = answers.status.iter().zip(&answers.outputs);
            let mut answered = answered.filter(|(status, _)| **status == ROW_OK);
            if let Some(flaw) = answered.find_map(|(_, output)| K::flaw(output)) {
                return Err(format!("with {name} = {shown} it returns {flaw}"));
            }
        }
        index += own.len();
    }
    let is_whole = |info: &&ParameterInfo| info.cell.is_none_or(|cell| cell.is_first());
    let undocumented = infos
        .iter()
        .filter(is_whole)
        .filter(|info| info.doc.is_empty())
        .count();
    if undocumented > 0 {
        return Err(format!("{undocumented} parameters have no description"));
    }
    Ok(format!(
        "{} described, valid at both ends of their ranges",
        infos.iter().filter(is_whole).count()
    ))
}

pub(super) fn agents_come_and_go<K: Examined>(examiner: &Examiner) -> Looked {
    let backend = examiner.fresh::<K>()?;
    let tell = |capacity: u32, added: &[u32], removed: &[u32]| {
        backend
            .agents_changed(capacity, added, removed)
            .map_err(|fault| fault.message)
    };
    examiner.one_step::<K>(&backend, 0, ROWS, Order::Sorted)?;
    let half: Vec<u32> = (0..ROWS as u32 / 2).collect();
    tell(ROWS as u32, &[], &half)?;
    tell(4 * ROWS as u32, &half, &[])?;
    examiner.one_step::<K>(&backend, 1, ROWS, Order::Sorted)?;
    Ok("survived".into())
}

/// Calls slices from two threads at the same time, like a run with several threads.
pub(super) fn two_threads<K: Examined>(examiner: &Examiner) -> Looked {
    if !examiner.info.has(CAP_PARALLEL_SLICES) {
        return Ok("called from one thread at a time".into());
    }
    let (alone, shared) = (examiner.fresh::<K>()?, examiner.fresh::<K>()?);
    // Each thread processes its half as fast as it can, so that the calls overlap.
    let half = |backend: &InProcess, is_left: bool| -> Result<Vec<u8>, String> {
        let mut told = Vec::new();
        for step in 0..ROUNDS {
            let rows = usual_rows::<K>(step);
            let (left, right) = rows.split_at(rows.len() / 2);
            let rows = if is_left { left } else { right };
            let answers = examiner.ask::<K>(backend, step, rows, SLICE)?;
            told.extend_from_slice(bytes_of(&answers.outputs));
        }
        Ok(told)
    };
    // Sequential calls on a separate instance, as the reference for two threads.
    let expected = [half(&alone, true)?, half(&alone, false)?];
    let found = std::thread::scope(|scope| {
        let left = scope.spawn(|| half(&shared, true));
        let right = half(&shared, false);
        (left.join(), right)
    });
    let left = found.0.map_err(|_| "it terminates a thread")??;
    same(
        &expected.concat(),
        &[left, found.1?].concat(),
        "if two threads process slices at once, although it declares that it supports this",
    )
}

pub(super) fn state<K: Examined>(examiner: &Examiner) -> Looked {
    if !examiner.info.has(CAP_STATE) {
        return Ok("it keeps no state".into());
    }
    let first = examiner.fresh::<K>()?;
    for step in 0..STEPS {
        examiner.one_step::<K>(&first, step, ROWS, Order::Sorted)?;
    }
    let saved = first.save().ok_or("it declares state but saves none")?;
    let second = examiner.fresh::<K>()?;
    second.load(&saved)?;
    let goes_on = examiner.one_step::<K>(&first, STEPS, ROWS, Order::Sorted)?;
    let restored = examiner.one_step::<K>(&second, STEPS, ROWS, Order::Sorted)?;
    same(
        &goes_on,
        &restored,
        "after the state was saved and restored",
    )?;
    let strange = State {
        schema: u32::MAX,
        bytes: vec![0xff; 33],
    };
    // The plugin may reject that state, but it must survive it.
    let _ = second.load(&strange);
    let bytes = saved.bytes.len();
    Ok(format!("{bytes} bytes, restored bit for bit"))
}
