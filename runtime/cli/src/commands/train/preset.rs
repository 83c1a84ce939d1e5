//! `roadwright train apply`: writes trained values into a stack of a scenario.

use super::arguments::Apply;
use super::{load_record, tell_version};
use crate::commands::{load, module_overrides, signal_controller};
use crate::extensions::Notes;
use crate::outputs::{Inputs, Kind, Outputs};
use crate::{Outcome, extensions, terminal};
use anyhow::{Context, bail};
use roadwright_extension::Wanted;
use roadwright_scenario::{Edit, Scenario, Slot, Stack, file};
use roadwright_simulation::unmet;
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
        format!("--stack {name}: the scenario has no such stack; expected one of: {known}")
    })?;
    let mut stack = with_modules(stack, &arguments.modules)?;
    put_preset(&champion.preset, &mut stack).map_err(|module| {
        anyhow::anyhow!(
            "--stack {name}: the stack does not use {module}, whose values were trained; \
             add it with --use SLOT={module}"
        )
    })?;
    check_modules(arguments, &stack)?;
    let edit = Edit::Stack(name.clone(), Some(Box::new(stack)));
    scenario.apply(edit).context("cannot change the stack")?;
    let out = arguments.out.as_deref().unwrap_or(&arguments.to);
    // Without --out, the scenario itself is replaced, so it is not among the inputs.
    let mut outputs = Outputs::of(Inputs::none().file("the record", &arguments.record));
    outputs.prints("the number of values written");
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

/// Returns a stack with the modules of `--use` in their slots.
fn with_modules(stack: &Stack, settings: &[String]) -> anyhow::Result<Stack> {
    if let Some(setting) = settings.iter().find(|s| signal_controller(s).is_some()) {
        bail!("--use {setting}: signals do not belong to a stack");
    }
    Ok(module_overrides(settings)?.apply(stack))
}

/// Rejects a stack whose new modules are unknown or do not accept the values. Without `--use`, the
/// stack keeps its modules, and nothing is loaded.
fn check_modules(arguments: &Apply, stack: &Stack) -> anyhow::Result<()> {
    if arguments.modules.is_empty() {
        return Ok(());
    }
    let settings = Slot::ALL.into_iter().flat_map(|slot| stack.settings(slot));
    let ids = settings.map(|setting| setting.module.clone()).collect();
    let (flags, place) = (&arguments.extensions, Some(arguments.to.as_path()));
    let host = extensions::open(flags, place, Wanted::Ids(ids), Notes::Print)?;
    // The scenario contains only this stack, because problems of other stacks do not matter here.
    let mut alone = Scenario::new("stack");
    let others: Vec<String> = alone.stacks().keys().cloned().collect();
    for other in others {
        alone.apply(Edit::Stack(other, None))?;
    }
    let edit = Edit::Stack(arguments.stack.clone(), Some(Box::new(stack.clone())));
    alone.apply(edit)?;
    match unmet(&alone, &host.registry()).into_iter().next() {
        Some(error) => Err(extensions::or_cause(error, &host)),
        None => Ok(()),
    }
}

/// Returns the champion of a record, which exists if the training is finished.
pub(super) fn champion<'a>(
    record: &'a Record,
    path: &Path,
) -> anyhow::Result<&'a RecordedChampion> {
    record.champion.as_ref().with_context(|| {
        let path = path.display();
        format!(
            "{path}: the training is not finished; continue it with `train --resume --out {path}`"
        )
    })
}
