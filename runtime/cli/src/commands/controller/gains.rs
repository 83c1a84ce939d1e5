//! `roadwright controller show lqr --vehicle V --speed S`: the linear model of a vehicle, and its gains.

use crate::arguments::Design;
use crate::commands::{print_json, vehicle};
use crate::terminal;
use anyhow::{Context, bail};
use roadwright_agent::PATH_PARTS;
use roadwright_control::LqrDesign;
use roadwright_control::linear::{Matrix, Pole, Regulator, poles};
use roadwright_scenario::vehicle_file::FileReference;
use roadwright_scenario::{DynamicsLevel, VehicleType};
use roadwright_simulation::{Travel, lateral_model};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;

/// Prints matrices, gains and poles of a vehicle's regulator.
pub(super) fn show(name: &str, vehicle: &str, design: &Design, json: bool) -> anyhow::Result<()> {
    if name != "lqr" {
        bail!(
            "--vehicle computes the gains of lqr; {name} has no gains, so omit --vehicle and \
             --speed"
        );
    }
    let speed = design.speed.context("--speed is missing")?;
    if !(0.0..=100.0).contains(&speed) {
        bail!(
            "--speed {speed} is out of range: expected 0 to 100 m/s; to drive backwards, use --reverse"
        );
    }
    let kind = kind_of(vehicle, design.level)?;
    let travel = match design.reverse {
        true => Travel::Backwards,
        false => Travel::Forwards,
    };
    let model = lateral_model(&kind, design.level, travel, speed);
    let defaults = LqrDesign::default();
    let plant = model.plant(defaults.step);
    let cost = model.cost(&defaults.weights, defaults.step);
    let regulator = Regulator::solve(&plant, &cost);
    let regulator = regulator.with_context(|| format!("{vehicle} at {speed} m/s"))?;
    let gains = regulator.gains(&plant, PATH_PARTS);
    let poles = poles(&regulator.closed);
    if json {
        return print_json(&json!({
            "id": name, "vehicle": vehicle, "level": design.level.name(), "reverse": design.reverse,
            "speed": speed, "step": defaults.step, "states": model.states(),
            "a": rows(&plant.state), "b": rows(&plant.control), "e": rows(&plant.known),
            "q": rows(&cost.state), "r": rows(&cost.control),
            "gains": gains.state.row(0), "preview_gains": gains.known.row(0),
            "poles": poles.iter().map(pole_document).collect::<Vec<_>>(),
            "horizon": regulator.horizon,
        }));
    }
    let mut out = terminal::out();
    let direction = if design.reverse {
        "backwards"
    } else {
        "forwards"
    };
    writeln!(
        out,
        "{vehicle} at {speed} m/s {direction}, level {}, steps of {} s\nx = ({}), u = rate of the \
         last state, w = path curvature, 1/m\n",
        design.level.name(),
        defaults.step,
        model.states().join(", "),
    )?;
    for (name, matrix) in [
        ("A", &plant.state),
        ("B", &plant.control),
        ("E", &plant.known),
        ("Q", &cost.state),
        ("R", &cost.control),
        ("K", &gains.state),
    ] {
        write!(out, "{}", text_of(name, matrix))?;
    }
    writeln!(
        out,
        "\nu = -K x + sum of F(i) w(i), where w(i) is the mean curvature of step i:"
    )?;
    for (at, gains) in gains.known.row(0).chunks(8).enumerate() {
        let values: Vec<String> = gains.iter().map(|gain| format!("{gain:10.5}")).collect();
        writeln!(out, "F {:>2} {}", at * 8, values.join(" "))?;
    }
    writeln!(out, "\nclosed-loop poles")?;
    for pole in &poles {
        let Pole { real, imaginary } = *pole;
        writeln!(
            out,
            "  {real:9.6} {imaginary:+9.6}i  size {:.6}",
            pole.size()
        )?;
    }
    writeln!(
        out,
        "\nThe gains no longer change for horizons of {} steps ({:.2} s) or more.",
        regulator.horizon,
        regulator.horizon as f64 * defaults.step
    )?;
    Ok(())
}

/// Returns the vehicle type with the given name; fails if it does not support the level or if `lqr`
/// has no model for the level.
fn kind_of(name: &str, level: DynamicsLevel) -> anyhow::Result<VehicleType> {
    if matches!(level, DynamicsLevel::Lane | DynamicsLevel::Rigid) {
        bail!(
            "--level {}: lqr has models for one_track, dynamic_one_track and sliding; at other levels it uses \
             the one_track model",
            level.name()
        );
    }
    if name == "car" {
        return Ok(VehicleType::car());
    }
    let file = vehicle::find(name)?;
    let missing = file.missing(level);
    if !missing.is_empty() {
        bail!(
            "{name} lacks {} for level {}",
            missing.join(", "),
            level.name()
        );
    }
    Ok(VehicleType {
        file: Some(Arc::new(FileReference {
            path: name.to_owned(),
            hash: String::new(),
            was: None,
            vehicle: file.clone(),
        })),
        ..file.vehicle_type()
    })
}

fn rows(matrix: &Matrix) -> Vec<&[f64]> {
    (0..matrix.rows()).map(|row| matrix.row(row)).collect()
}

fn pole_document(pole: &Pole) -> Value {
    json!({"real": pole.real, "imaginary": pole.imaginary, "size": pole.size()})
}

/// Returns a matrix as aligned lines after its name.
fn text_of(name: &str, matrix: &Matrix) -> String {
    let mut text = String::new();
    for row in 0..matrix.rows() {
        let head = if row == 0 { name } else { "" };
        let values: Vec<String> = matrix
            .row(row)
            .iter()
            .map(|value| format!("{value:11.6}"))
            .collect();
        text += &format!("{head:<2} {}\n", values.join(" "));
    }
    text
}
