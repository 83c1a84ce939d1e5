//! `roadwright train apply`: trained values in a stack of a scenario.

use super::arguments::Apply;
use super::{load_record, tell_version};
use crate::commands::load;
use crate::outputs::{Inputs, Kind, Outputs};
use crate::{Outcome, terminal};
use anyhow::Context;
use roadwright_scenario::{Edit, file};
use roadwright_training::genetic::put_preset;
use roadwright_training::genetic::record::{Record, RecordedChampion};
use std::io::Write;
use std::path::Path;

pub(super) fn apply(arguments: &Apply) -> anyhow::Result<Outcome> {
    let record = load_record(&arguments.record)?;
    let champion = champion(&record, &arguments.record)?;
    tell_version(&record, &arguments.record);
    let mut scenario = load(&arguments.to)?;
    let name = &arguments.stack;
    let known: Vec<&str> = scenario.stacks().keys().map(String::as_str).collect();
    let stack = scenario.stacks().get(name).with_context(|| {
        let known = known.join(", ");
        format!("--stack {name}: the scenario has no such stack; it has: {known}")
    })?;
    let mut stack = stack.clone();
    put_preset(&champion.preset, &mut stack).map_err(|module| {
        anyhow::anyhow!("--stack {name}: it does not use {module}, whose values were trained")
    })?;
    let edit = Edit::Stack(name.clone(), Some(Box::new(stack)));
    scenario.apply(edit).context("cannot change the stack")?;
    let out = arguments.out.as_deref().unwrap_or(&arguments.to);
    // The scenario itself may be replaced: that is what happens without --out.
    let mut outputs = Outputs::of(Inputs::none().file("the record", &arguments.record));
    let place = outputs.file("--out", out, Kind::Scenario)?;
    outputs.write(&place, file::text_at(&scenario, out).as_bytes())?;
    outputs.commit()?;
    let values: usize = champion.preset.values().map(|values| values.len()).sum();
    writeln!(
        terminal::out(),
        "{values} values written into stack {name} of {}",
        out.display()
    )?;
    Ok(Outcome::Fine)
}

/// Who won the training of a record, which must be over.
pub(super) fn champion<'a>(
    record: &'a Record,
    path: &Path,
) -> anyhow::Result<&'a RecordedChampion> {
    record.champion.as_ref().with_context(|| {
        let path = path.display();
        format!("{path}: the training is not over; `train --resume --out {path}` goes on with it")
    })
}
