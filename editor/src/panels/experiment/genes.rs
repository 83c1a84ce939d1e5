//! Selection of the stack parameters to train.

use super::super::widgets::heading;
use super::ExperimentPanel;
use crate::model::Model;
use egui::{Checkbox, RichText, Role, Ui, WidgetInfo};
use roadwright_training::genetic::{Experiment, Gene, patterns_of};
use std::collections::BTreeSet;

/// Prefix of the rules of fuzzy controllers, which are grouped.
const RULES: &str = "rule_";

pub(super) fn ui(
    ui: &mut Ui,
    model: &Model,
    state: &mut ExperimentPanel,
    experiment: &mut Experiment,
) {
    let ticks = &model.experiment.ticks;
    let mut chosen = ticks.chosen.clone();
    heading(
        ui,
        &format!("Genes: {} of {}", chosen.len(), ticks.all.len()),
    );
    let filter = egui::TextEdit::singleline(&mut state.filter)
        .hint_text("part of a name")
        .desired_width(f32::INFINITY);
    let filter = ui.add(filter);
    filter.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter genes"));
    for (name, genes) in groups(&ticks.all) {
        let fits = |gene: &&Gene| gene.name().contains(state.filter.trim());
        let genes: Vec<&Gene> = genes.into_iter().filter(fits).collect();
        if !genes.is_empty() {
            group(ui, &name, &genes, &mut chosen);
        }
    }
    if chosen != ticks.chosen {
        experiment.genes = patterns_of(&ticks.all, |gene| chosen.contains(&gene.name()));
    }
}

/// Groups the genes by module. The rules of a module are separate from its other parameters.
fn groups(all: &[Gene]) -> Vec<(String, Vec<&Gene>)> {
    let mut groups: Vec<(String, Vec<&Gene>)> = Vec::new();
    for gene in all {
        let name = if gene.key.starts_with(RULES) {
            format!("{} rules", gene.module)
        } else {
            gene.module.clone()
        };
        match groups.iter_mut().find(|(own, _)| *own == name) {
            Some((_, genes)) => genes.push(gene),
            None => groups.push((name, vec![gene])),
        }
    }
    groups
}

/// Shows a group with a checkbox for all its genes.
fn group(ui: &mut Ui, name: &str, genes: &[&Gene], chosen: &mut BTreeSet<String>) {
    let ticked = genes
        .iter()
        .filter(|gene| chosen.contains(&gene.name()))
        .count();
    let id = ui.make_persistent_id(("genes", name));
    let state = egui::collapsing_header::CollapsingState::load_with_default_open(ui, id, false);
    state
        .show_header(ui, |ui| {
            let mut all = ticked == genes.len();
            let some = ticked > 0 && !all;
            let text = format!("{name}: {ticked} of {}", genes.len());
            let tick = ui.add(Checkbox::new(&mut all, text).indeterminate(some));
            let label = format!("All of {name}");
            tick.widget_info(move || WidgetInfo::labeled(Role::CheckBox, true, &label));
            if tick.changed() {
                for gene in genes {
                    set(chosen, gene, all);
                }
            }
        })
        .body(|ui| {
            for gene in genes {
                let mut on = chosen.contains(&gene.name());
                if ui.checkbox(&mut on, gene.key).changed() {
                    set(chosen, gene, on);
                }
                ui.label(RichText::new(range(gene)).weak().small());
            }
        });
}

fn set(chosen: &mut BTreeSet<String>, gene: &Gene, on: bool) {
    if on {
        chosen.insert(gene.name());
    } else {
        chosen.remove(&gene.name());
    }
}

/// Formats the range and start value of a gene.
fn range(gene: &Gene) -> String {
    let now = gene.in_words(gene.start);
    match gene.words {
        [first, .., last] => format!("{first} to {last}, now {now}"),
        _ => format!("{} to {}, now {now}", gene.min, gene.max),
    }
}
