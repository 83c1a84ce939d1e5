//! `roadwright controller`.

use super::print_json;
use crate::Outcome;
use crate::arguments::{Controller, ControllerVerb, Eval, Join};
use crate::outputs::{Inputs, Kind, Outputs};
use crate::terminal;
use anyhow::{Context, bail};
use roadwright_agent::{ModuleKind, ParameterInfo, ParameterKind};
use roadwright_control::formulas;
use roadwright_control::fuzzy::{self, Aggregation, FuzzyController, Inference, Variable};
use roadwright_simulation::builtin_modules;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

pub(crate) fn controller(arguments: &Controller) -> anyhow::Result<Outcome> {
    match &arguments.verb {
        ControllerVerb::List { markdown: true, .. } => {
            write!(terminal::out(), "{}", page())?;
        }
        ControllerVerb::List { json, .. } => list(*json)?,
        ControllerVerb::Show { name, json } => show(name, *json)?,
        ControllerVerb::Eval(eval) => evaluate(eval)?,
        ControllerVerb::Surface {
            name,
            out,
            aggregation,
        } => {
            surface(fuzzy_controller(name)?, out, aggregation_of(*aggregation))?;
        }
    }
    Ok(Outcome::Fine)
}

fn aggregation_of(join: Join) -> Aggregation {
    match join {
        Join::Max => Aggregation::Max,
        Join::Sum => Aggregation::Sum,
    }
}

fn fuzzy_controller(name: &str) -> anyhow::Result<&'static FuzzyController> {
    let names: Vec<_> = fuzzy::CONTROLLERS.iter().map(|c| c.name).collect();
    fuzzy::controller(name).with_context(|| {
        format!(
            "no fuzzy controller is called \"{name}\"; there are: {}",
            names.join(", ")
        )
    })
}

fn list(json: bool) -> anyhow::Result<()> {
    let modules = builtin_modules();
    let drivers = modules.infos(ModuleKind::Controller);
    let drivers: Vec<_> = drivers.iter().map(|(info, _)| info).collect();
    if json {
        let drivers: Vec<_> = drivers
            .iter()
            .map(|i| json!({"id": i.id, "name": i.name, "doc": i.doc}))
            .collect();
        let parts: Vec<_> = fuzzy::CONTROLLERS
            .iter()
            .map(|c| json!({"id": c.name, "output": c.output}))
            .collect();
        return print_json(&json!({"controllers": drivers, "fuzzy": parts}));
    }
    let mut out = terminal::out();
    for info in drivers {
        writeln!(out, "{:<28} {}", info.id, info.doc)?;
    }
    for controller in fuzzy::CONTROLLERS {
        writeln!(out, "{:<28} {}", controller.name, controller.output)?;
    }
    Ok(())
}

fn show(name: &str, json: bool) -> anyhow::Result<()> {
    // Parts of the fuzzy drivers first: their names have a point in them, which no built-in module
    // has.
    if let Some(controller) = fuzzy::controller(name) {
        return if json {
            print_json(&fuzzy_document(controller))
        } else {
            show_fuzzy(controller)
        };
    }
    let modules = builtin_modules();
    let drivers = modules.infos(ModuleKind::Controller);
    let Some((info, parameters)) = drivers.iter().find(|(info, _)| info.id == name) else {
        bail!("no controller is called \"{name}\"; `roadwright controller list` shows them");
    };
    if json {
        let list: Vec<_> = parameters.iter().map(parameter_document).collect();
        return print_json(
            &json!({"id": info.id, "name": info.name, "doc": info.doc, "formulas": formulas(info.id), "parameters": list}),
        );
    }
    let mut out = terminal::out();
    writeln!(out, "{} ({})\n{}\n", info.id, info.name, info.doc)?;
    writeln!(
        out,
        "{:<22} {:>9} {:>18} {:<7} meaning",
        "parameter", "default", "range", "unit"
    )?;
    for p in *parameters {
        let range = format!("{} .. {}", p.min, p.max);
        let meaning = meaning(p);
        writeln!(
            out,
            "{:<22} {:>9} {:>18} {:<7} {meaning}",
            p.key, p.default, range, p.unit
        )?;
    }
    if let Some(formulas) = formulas(info.id) {
        writeln!(out, "\n{formulas}")?;
    }
    Ok(())
}

/// What a parameter does, with what its numbers stand for.
fn meaning(p: &ParameterInfo) -> String {
    let ParameterKind::Choice(words) = p.kind else {
        return p.doc.to_owned();
    };
    let words: Vec<_> = words
        .iter()
        .enumerate()
        .map(|(i, w)| format!("{i} = {w}"))
        .collect();
    format!("{} ({})", p.doc, words.join(", "))
}

/// All built-in controllers as a page of documentation.
fn page() -> String {
    let mut page = String::from(
        "# Built-in controllers\n\n\
         Made by `roadwright controller list --markdown`.\n\
         What the inputs mean stands in the header of plugins (`rw_controller_input`): lengths are in m, \
         speeds in m/s, angles in rad, positive to the left; what is not there is a million metres away.\n\
         Vehicles limit what a controller asks for to what they can.\n",
    );
    for (info, parameters) in builtin_modules().infos(ModuleKind::Controller) {
        page += &format!("\n## {}: {}\n\n{}\n\n", info.id, info.name, info.doc);
        page +=
            "| parameter | default | range | unit | meaning |\n| --- | --- | --- | --- | --- |\n";
        for p in parameters {
            let (key, default, meaning) = (p.key, p.default, meaning(p));
            let range = format!("{} to {}", p.min, p.max);
            page += &format!(
                "| `{key}` | {default} | {range} | {} | {meaning} |\n",
                p.unit
            );
        }
        if let Some(formulas) = formulas(info.id) {
            page += &format!("\n```text\n{formulas}\n```\n");
        }
    }
    page += "\nThe printed factors of the fuzzy driver are gentle: it turns with a radius of 25 m at the \
             sharpest, and late. Streets with tighter corners need higher gains and a nearer way-point; \
             the shipped ones have them. With its defaults it leaves the lane by 11 m on the course of \
             `roadwright plugin check`.\n";
    page
}

fn parameter_document(p: &ParameterInfo) -> Value {
    let choices = match p.kind {
        ParameterKind::Choice(words) => json!(words),
        _ => Value::Null,
    };
    json!({"key": p.key, "unit": p.unit, "min": p.min, "max": p.max, "default": p.default, "choices": choices, "doc": p.doc})
}

fn variable_document(v: &Variable) -> Value {
    json!({"name": v.name, "unit": v.unit, "terms": v.terms, "knots": v.knots})
}

fn fuzzy_document(c: &FuzzyController) -> Value {
    let terms: Vec<_> = c
        .terms
        .iter()
        .map(|t| json!({"name": t.name, "value": t.value}))
        .collect();
    let rules: Vec<Vec<_>> = c
        .rules
        .iter()
        .map(|row| row.iter().map(|&i| c.terms[i].name).collect())
        .collect();
    json!({
        "id": c.name, "output": c.output, "inputs": [variable_document(&c.distance), variable_document(&c.angle)],
        "terms": terms, "rules": rules,
    })
}

fn show_fuzzy(c: &FuzzyController) -> anyhow::Result<()> {
    let mut out = terminal::out();
    writeln!(out, "{}: {}\n", c.name, c.output)?;
    for v in [&c.distance, &c.angle] {
        let [a, b, d] = v.knots;
        writeln!(
            out,
            "{} ({}): {} 1 to {a}, 0 at {b}; {} peak at {b}; {} from {b}, 1 at {d}",
            v.name, v.unit, v.terms[0], v.terms[1], v.terms[2]
        )?;
    }
    let terms: Vec<_> = c
        .terms
        .iter()
        .map(|t| format!("{} {}", t.name, t.value))
        .collect();
    writeln!(out, "output terms: {}\n", terms.join(", "))?;
    writeln!(
        out,
        "{:<8} {:<12} {:<12} {:<12}",
        "", c.distance.terms[0], c.distance.terms[1], c.distance.terms[2]
    )?;
    for (name, row) in c.angle.terms.iter().zip(&c.rules) {
        let [x, y, z] = row.map(|i| c.terms[i].name);
        writeln!(out, "{name:<8} {x:<12} {y:<12} {z:<12}")?;
    }
    Ok(())
}

fn evaluate(eval: &Eval) -> anyhow::Result<()> {
    let controller = fuzzy_controller(&eval.name)?;
    let rows = match &eval.csv {
        Some(path) => rows_of(path)?,
        None => vec![inputs_of(&eval.inputs)?],
    };
    let aggregation = aggregation_of(eval.aggregation);
    let infer = |&(distance, angle): &(f64, f64)| controller.infer(distance, angle, aggregation);
    if eval.json {
        let documents: Vec<_> = rows
            .iter()
            .map(|row| document(controller, *row, &infer(row)))
            .collect();
        return match documents.as_slice() {
            // A table gives a list even if it has one row, so that who reads it needs one form
            // only.
            [one] if eval.csv.is_none() => print_json(one),
            all => print_json(&all),
        };
    }
    let mut out = terminal::out();
    for row in &rows {
        write!(out, "{}", explain(controller, *row, &infer(row)))?;
    }
    Ok(())
}

fn inputs_of(inputs: &[String]) -> anyhow::Result<(f64, f64)> {
    let (mut distance, mut angle) = (None, None);
    for input in inputs {
        let (name, value) = input
            .split_once('=')
            .with_context(|| format!("--input {input}: expected NAME=VALUE"))?;
        let value: f64 = value
            .trim()
            .parse()
            .ok()
            .filter(|v: &f64| v.is_finite())
            .with_context(|| format!("--input {input}: \"{value}\" is not a number"))?;
        match name.trim() {
            "distance" if distance.is_none() => distance = Some(value),
            // Tables know how far to the side something is, not on which side.
            "angle" if angle.is_none() => angle = Some(value.abs()),
            name @ ("distance" | "angle") => bail!("the input {name} is given twice"),
            other => bail!("no input is called \"{other}\"; there are: distance (m), angle (rad)"),
        }
    }
    Ok((
        distance.context("the input distance is missing: --input distance=10")?,
        angle.context("the input angle is missing: --input angle=0.3")?,
    ))
}

fn rows_of(path: &Path) -> anyhow::Result<Vec<(f64, f64)>> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_path(path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    // A copy: the reader is needed again for the rows.
    let headers = reader.headers()?.clone();
    let column = |name: &str| {
        headers
            .iter()
            .position(|h| h == name)
            .with_context(|| format!("{}: the column \"{name}\" is missing", path.display()))
    };
    let (distance, angle) = (column("distance")?, column("angle")?);
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.with_context(|| format!("{}", path.display()))?;
        // As editors count: the line of the file with the head as the first.
        let line = record.position().map_or(0, csv::Position::line);
        let value = |index: usize| {
            let text = record.get(index).unwrap_or_default();
            let number = text.parse::<f64>().ok().filter(|v| v.is_finite());
            number.with_context(|| format!("{}:{line}: \"{text}\" is not a number", path.display()))
        };
        rows.push((value(distance)?, value(angle)?.abs()));
    }
    Ok(rows)
}

fn document(c: &FuzzyController, (distance, angle): (f64, f64), inference: &Inference) -> Value {
    let rules: Vec<_> = inference
        .fired
        .iter()
        .map(|rule| {
            json!({
                "distance": c.distance.terms[rule.distance],
                "angle": c.angle.terms[rule.angle],
                "output": c.terms[rule.output].name,
                "strength": rule.strength,
            })
        })
        .collect();
    let memberships = |v: &Variable, values: [f64; 3]| -> Value {
        v.terms
            .iter()
            .zip(values)
            .map(|(term, value)| ((*term).to_owned(), json!(value)))
            .collect()
    };
    json!({
        "inputs": {"distance": distance, "angle": angle},
        "memberships": {
            "distance": memberships(&c.distance, inference.distance),
            "angle": memberships(&c.angle, inference.angle),
        },
        "output": inference.output,
        "rules": rules,
    })
}

fn explain(c: &FuzzyController, (distance, angle): (f64, f64), inference: &Inference) -> String {
    let memberships = |v: &Variable, value: f64, m: [f64; 3]| {
        let list: Vec<_> = v
            .terms
            .iter()
            .zip(m)
            .map(|(term, m)| format!("{term} {m:.4}"))
            .collect();
        format!("{:<9} {value} {}: {}\n", v.name, v.unit, list.join("  "))
    };
    let mut text = memberships(&c.distance, distance, inference.distance);
    text += &memberships(&c.angle, angle, inference.angle);
    for rule in &inference.fired {
        text += &format!(
            "  {:.4}  IF distance is {} AND angle is {} THEN {} ({})\n",
            rule.strength,
            c.distance.terms[rule.distance],
            c.angle.terms[rule.angle],
            c.terms[rule.output].name,
            c.terms[rule.output].value
        );
    }
    text.push_str(&format!(
        "output    {:.6} ({})\n",
        inference.output, c.output
    ));
    text
}

fn surface(
    controller: &FuzzyController,
    out: &Path,
    aggregation: Aggregation,
) -> anyhow::Result<()> {
    let sample = |distance: f64, angle: f64| controller.output(distance, angle, aggregation);
    let [distance, angle] = [&controller.distance, &controller.angle];
    let plot = roadwright_render::SurfacePlot {
        title: controller.name,
        x_label: "distance (m)",
        y_label: "angle (rad)",
        z_label: controller.output,
        x_knots: distance.knots,
        y_knots: angle.knots,
        x_terms: distance.terms,
        y_terms: angle.terms,
    };
    let mut outputs = Outputs::of(Inputs::none());
    let place = outputs.file("--out", out, Kind::Picture)?;
    let png = roadwright_render::surface(&plot, sample).context("cannot draw the surface")?;
    outputs.write(&place, &png)?;
    outputs.commit()
}
