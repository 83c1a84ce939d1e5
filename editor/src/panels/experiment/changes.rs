//! The effect of training: rule tables with old and new rules, and a list of the other genes.

use super::super::widgets::{empty, heading};
use super::{Part, beside};
use crate::experiment::TrainingPicture;
use crate::model::Model;
use crate::theme::{SMALLEST, Theme};
use crate::tools::Tone;
use egui::{Align2, Color32, FontId, Grid, RichText, Role, Sense, Stroke, Ui, WidgetInfo, vec2};
use roadwright_agent::ModuleKind;
use roadwright_control::fuzzy::{CHROMOSOME, FuzzyController, MECHANIC};
use roadwright_training::genetic::Gene;

/// Height of the cell of a rule, points. The old value is below the new one.
const CELL: f32 = 34.0;
/// Width reserved for the names of rows, points.
const NAMES: f32 = 62.0;
/// Number of rules in a table.
// Three terms of the angle by three of the distance.
const IN_TABLE: usize = 9;
/// Number of terms by which a rule has to change to get the full colour.
const MOST_STEPS: f64 = 4.0;

/// A rule before and after training.
struct Rule<'a> {
    gene: &'a Gene,
    before: f64,
    after: f64,
}

pub(super) fn ui(ui: &mut Ui, model: &Model, training: &TrainingPicture) {
    // The champion is preferred, because the best individual of the pool may have been lucky with its
    // courses.
    let champion = training
        .verdict
        .as_ref()
        .map(|verdict| &verdict.champion.genes);
    let best = training.best().map(|row| &row.genes);
    let (Some(problem), Some(after)) = (&training.problem, champion.or(best)) else {
        empty(ui, "No individuals yet.");
        return;
    };
    let genome = problem.genome();
    let before = genome.start();
    let genes = genome.genes().iter().zip(before).zip(after);
    let all: Vec<Rule<'_>> = genes
        .map(|((gene, before), &after)| Rule {
            gene,
            before,
            after,
        })
        .collect();
    let changed = all.iter().filter(|rule| rule.before != rule.after).count();
    let who = if champion.is_some() {
        "The champion"
    } else {
        "Best individual so far"
    };
    heading(
        ui,
        &format!("{who}: {changed} of {} genes changed", all.len()),
    );
    legend(ui, model.theme());
    let modules = [
        Tables::new(model, "fuzzy_driver", &CHROMOSOME),
        Tables::new(model, "fuzzy_mechanic", &MECHANIC),
    ];
    for of in &modules {
        for pair in of.trained(&all).chunks(2) {
            beside(ui, |ui, part| {
                let place = usize::from(part == Part::Second);
                if let Some((table, rules)) = pair.get(place) {
                    self::table(ui, model.theme(), of, table, rules);
                }
            });
        }
    }
    let is_rule = |rule: &&Rule<'_>| modules.iter().any(|of| of.place(rule.gene).is_some());
    let others: Vec<&Rule<'_>> = all.iter().filter(|rule| !is_rule(rule)).collect();
    list(ui, model.theme(), &others);
}

/// The rule tables of a module, and the keys of its parameters.
struct Tables {
    module: &'static str,
    tables: &'static [&'static FuzzyController],
    keys: Vec<&'static str>,
}

impl Tables {
    fn new(
        model: &Model,
        module: &'static str,
        tables: &'static [&'static FuzzyController],
    ) -> Self {
        let all = model.modules.registry.infos(ModuleKind::Controller);
        let own = all.into_iter().find(|(info, _)| info.id == module);
        let parameters = own.map_or(&[][..], |(_, parameters)| parameters);
        let keys = parameters.iter().map(|parameter| parameter.key);
        Self {
            module,
            tables,
            // In the order of the module's description, as in its chromosome, so the index of a key
            // gives its table, row and column.
            keys: keys.filter(|key| key.starts_with("rule_")).collect(),
        }
    }

    /// Returns the tables that contain trained rules, each with its trained rules.
    fn trained<'a>(
        &self,
        all: &'a [Rule<'a>],
    ) -> Vec<(&'static FuzzyController, Vec<&'a Rule<'a>>)> {
        let tables = self.tables.iter().enumerate().map(|(number, table)| {
            let is_own = |rule: &&Rule<'_>| self.place(rule.gene).is_some_and(|p| p.0 == number);
            (*table, all.iter().filter(is_own).collect::<Vec<_>>())
        });
        tables.filter(|(_, rules)| !rules.is_empty()).collect()
    }

    /// Returns the table, row and column of a gene; `None` if the gene is not a rule.
    fn place(&self, gene: &Gene) -> Option<(usize, usize, usize)> {
        if gene.module != self.module {
            return None;
        }
        let number = self.keys.iter().position(|key| *key == gene.key)?;
        // Rule 14, for example, is table 1, row 1, column 2.
        let in_table = number % IN_TABLE;
        Some((number / IN_TABLE, in_table / 3, in_table % 3))
    }
}

/// Returns the colour of a change, which differs for increases and decreases and is stronger for
/// larger changes.
fn color(theme: Theme, before: f64, after: f64, step: f64) -> Option<Color32> {
    // In steps of the gene; for a rule, a step is one term.
    let steps = (after - before) / step;
    let tone = match steps {
        s if s > 0.0 => Tone::Accent,
        s if s < 0.0 => Tone::Warning,
        // The value is unchanged, or NaN if a gene with step 0 is unchanged.
        _ => return None,
    };
    let share = 0.2 + 0.35 * (steps.abs() / MOST_STEPS).min(1.0);
    Some(theme.tone(tone).gamma_multiply(share as f32))
}

fn legend(ui: &mut Ui, theme: Theme) {
    ui.horizontal_wrapped(|ui| {
        for (text, before, after) in [("more", 0.0, 2.0), ("less", 2.0, 0.0)] {
            let (rect, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
            let fill = color(theme, before, after, 1.0).unwrap_or(Color32::TRANSPARENT);
            ui.painter().rect_filled(rect, 3.0, fill);
            ui.label(text);
        }
        ui.label(RichText::new("small: before training").weak());
    });
}

/// Shows a rule table. The cell of a changed rule shows the old value below the new one.
fn table(ui: &mut Ui, theme: Theme, of: &Tables, table: &FuzzyController, rules: &[&Rule<'_>]) {
    heading(ui, table.name);
    let width = ((ui.available_width() - NAMES) / 3.0 - 4.0).max(56.0);
    Grid::new((of.module, table.name))
        .spacing(vec2(3.0, 3.0))
        .show(ui, |ui| {
            ui.label("");
            for name in table.distance.terms {
                ui.label(RichText::new(name).small());
            }
            ui.end_row();
            for (row, name) in table.angle.terms.iter().enumerate() {
                ui.label(RichText::new(*name).small());
                for column in 0..3 {
                    let at = |rule: &&&Rule<'_>| {
                        // Rules that are not trained are not genes and therefore not listed.
                        of.place(rule.gene)
                            .is_some_and(|(_, r, c)| (r, c) == (row, column))
                    };
                    cell(ui, theme, width, rules.iter().find(at).copied());
                }
                ui.end_row();
            }
        });
}

fn cell(ui: &mut Ui, theme: Theme, width: f32, rule: Option<&Rule<'_>>) {
    let (rect, response) = ui.allocate_exact_size(vec2(width, CELL), Sense::hover());
    let faint = ui.visuals().faint_bg_color;
    let Some(rule) = rule else {
        ui.painter().rect_filled(rect, 3.0, faint);
        response.on_hover_text("This rule is not trained.");
        return;
    };
    let (before, after) = (
        rule.gene.in_words(rule.before),
        rule.gene.in_words(rule.after),
    );
    let fill = color(theme, rule.before, rule.after, rule.gene.step);
    let is_changed = fill.is_some();
    let said = if is_changed {
        format!("{}: {before} became {after}", rule.gene.key)
    } else {
        format!("{}: {after}, unchanged", rule.gene.key)
    };
    let label = said.clone();
    response.widget_info(move || WidgetInfo::labeled(Role::Label, true, &label));
    let painter = ui.painter().with_clip_rect(rect);
    painter.rect_filled(rect, 3.0, fill.unwrap_or(faint));
    let edge = Stroke::new(1.0, ui.visuals().weak_text_color().gamma_multiply(0.4));
    painter.rect_stroke(rect, 3.0, edge, egui::StrokeKind::Inside);
    let middle = rect.center();
    let at = if is_changed {
        middle - vec2(0.0, 7.0)
    } else {
        middle
    };
    let ink = ui.visuals().strong_text_color();
    painter.text(
        at,
        Align2::CENTER_CENTER,
        after,
        FontId::proportional(SMALLEST),
        ink,
    );
    if is_changed {
        let below = middle + vec2(0.0, 8.0);
        painter.text(
            below,
            Align2::CENTER_CENTER,
            before,
            FontId::proportional(SMALLEST),
            ink,
        );
    }
    response.on_hover_text(said);
}

/// Shows the genes that are not rules, changed ones first.
fn list(ui: &mut Ui, theme: Theme, genes: &[&Rule<'_>]) {
    if genes.is_empty() {
        return;
    }
    heading(ui, "Other parameters");
    let (changed, same): (Vec<&Rule<'_>>, Vec<&Rule<'_>>) = genes
        .iter()
        .copied()
        .partition(|gene| gene.before != gene.after);
    for gene in changed {
        let fill = color(theme, gene.before, gene.after, gene.gene.step);
        ui.horizontal_wrapped(|ui| {
            let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
            ui.painter()
                .rect_filled(rect, 3.0, fill.unwrap_or(Color32::TRANSPARENT));
            ui.label(gene.gene.name());
            let (before, after) = (
                gene.gene.in_words(gene.before),
                gene.gene.in_words(gene.after),
            );
            ui.label(format!("{before} → {after}"));
        });
    }
    if !same.is_empty() {
        let names: Vec<String> = same.iter().map(|gene| gene.gene.key.to_owned()).collect();
        ui.label(RichText::new(format!("Unchanged: {}", names.join(", "))).weak());
    }
}
