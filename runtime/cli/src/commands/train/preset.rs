//! `roadwright train compare` and `apply`: what to do with trained values.

use super::arguments::{Apply, Compare};
use super::load_record;
use crate::commands::{load, print_json};
use crate::{Outcome, terminal};
use anyhow::{Context, bail};
use roadwright_scenario::{Edit, Slot, Stack, file};
use roadwright_training::genetic::Preset;
use roadwright_training::genetic::record::{Record, RecordedChampion};
use serde_json::json;
use std::io::Write;
use std::path::Path;

pub(super) fn compare(arguments: &Compare) -> anyhow::Result<Outcome> {
    let record = load_record(&arguments.record)?;
    let champion = champion(&record, &arguments.record)?;
    let rows: Vec<_> = record.genes.iter().zip(&champion.changes).collect();
    let changed = rows
        .iter()
        .filter(|(_, (before, after))| before != after)
        .count();
    if arguments.json {
        let rows: Vec<_> = rows
            .iter()
            .map(
                |(gene, (before, after))| json!({"gene": gene, "before": before, "trained": after}),
            )
            .collect();
        print_json(&json!({"changed": changed, "genes": rows}))?;
        return Ok(Outcome::Fine);
    }
    let mut out = terminal::out();
    writeln!(out, "{:<46}{:<14}trained", "gene", "before")?;
    for (gene, (before, after)) in rows {
        let after = if before == after { "=" } else { after };
        writeln!(out, "{gene:<46}{before:<14}{after}")?;
    }
    writeln!(out, "{changed} of {} genes changed", record.genes.len())?;
    Ok(Outcome::Fine)
}

pub(super) fn apply(arguments: &Apply) -> anyhow::Result<Outcome> {
    let record = load_record(&arguments.record)?;
    let champion = champion(&record, &arguments.record)?;
    let mut scenario = load(&arguments.to)?;
    let name = &arguments.stack;
    let known: Vec<&str> = scenario.stacks().keys().map(String::as_str).collect();
    let stack = scenario.stacks().get(name).with_context(|| {
        let known = known.join(", ");
        format!("--stack {name}: the scenario has no such stack; it has: {known}")
    })?;
    let mut stack = stack.clone();
    put(&champion.preset, &mut stack).with_context(|| format!("--stack {name}"))?;
    let edit = Edit::Stack(name.clone(), Some(Box::new(stack)));
    scenario.apply(edit).context("cannot change the stack")?;
    let out = arguments.out.as_deref().unwrap_or(&arguments.to);
    file::save(&scenario, out).context("cannot write the scenario")?;
    let values: usize = champion.preset.values().map(|values| values.len()).sum();
    writeln!(
        terminal::out(),
        "{values} values written into stack {name} of {}",
        out.display()
    )?;
    Ok(Outcome::Fine)
}

fn champion<'a>(record: &'a Record, path: &Path) -> anyhow::Result<&'a RecordedChampion> {
    record.champion.as_ref().with_context(|| {
        let path = path.display();
        format!("{path}: the training is not over; `train --resume --out {path}` goes on with it")
    })
}

/// Puts values into all modules of a stack that they are for.
fn put(preset: &Preset, stack: &mut Stack) -> anyhow::Result<()> {
    for (module, values) in preset {
        let mut found = false;
        for slot in Slot::ALL {
            let settings = stack.settings_mut(slot).iter_mut();
            for setting in settings.filter(|setting| setting.module == *module) {
                let values = values.iter().map(|(key, value)| (key.clone(), *value));
                setting.parameters.extend(values);
                found = true;
            }
        }
        if !found {
            bail!("it does not use {module}, whose values were trained");
        }
    }
    Ok(())
}
