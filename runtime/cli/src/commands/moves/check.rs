//! `roadwright moves check`: whether a graph can be used, and with which vehicle and time step.

use super::{Check, Opened, open};
use crate::commands::{print_json, vehicle};
use crate::{Outcome, terminal};
use anyhow::bail;
use roadwright_moves::{BodyOutline, MoveFileError};
use serde_json::json;
use std::io::Write;

/// Minimum difference between dimensions that is reported, m.
const DIFFERS: f64 = 1e-3;

pub(super) fn check(arguments: &Check) -> anyhow::Result<Outcome> {
    let opened = open(&arguments.moves)?;
    let mut findings = Vec::new();
    match opened
        .graph
        .library(&opened.clips, roadwright_moves::SweepKind::Exact)
    {
        Ok(library) => {
            for seam in opened.graph.bad_seams(&library) {
                findings.push(format!(
                    "the distance between the end of \"{}\" and the start of \"{}\" is {:.3}, more than the threshold",
                    seam.before, seam.after, seam.distance
                ));
            }
        }
        Err(error) => findings.push(MoveFileError::to_string(&error)),
    }
    // A library reports its first problem only, which may be one of these states.
    let reported = findings.first().cloned();
    for state in opened.graph.dead_ends() {
        let finding = format!("moves: no move leaves state \"{state}\"");
        if reported.as_ref() != Some(&finding) {
            findings.push(finding);
        }
    }
    for state in opened.graph.states_without_return() {
        findings.push(format!(
            "no moves lead from state \"{state}\" back to the initial state \"{}\", so a vehicle would never \
             leave that part of the graph",
            opened.graph.start
        ));
    }
    findings.extend(vehicle_findings(arguments, &opened)?);
    if let Some(dt) = arguments.dt {
        if !(1e-4..=1.0).contains(&dt) {
            bail!("--dt must be 0.0001 to 1 s");
        }
        findings.extend(step_finding(opened.clips.rate, dt));
    }
    if arguments.json {
        print_json(&json!({
            "moves": opened.graph.moves.len(),
            "states": opened.graph.states.len(),
            "hash": opened.graph.hash(),
            "findings": findings,
        }))?;
    } else {
        let mut out = terminal::out();
        for finding in &findings {
            writeln!(out, "{finding}")?;
        }
        if findings.is_empty() {
            writeln!(
                out,
                "{} states and {} moves: no problems found",
                opened.graph.states.len(),
                opened.graph.moves.len()
            )?;
        }
    }
    Ok(Outcome::of(findings.is_empty()))
}

/// Returns the differences between the recorded vehicle and the vehicle that will use the clips.
fn vehicle_findings(arguments: &Check, opened: &Opened) -> anyhow::Result<Vec<String>> {
    let recorded = &opened.clips.vehicle;
    let asked = arguments.vehicle.as_deref();
    let found = match asked {
        Some(name) => vehicle::find_with_text(name)?,
        None => match vehicle::find_with_text(&recorded.name) {
            Ok(found) => found,
            // A vehicle file of the user, whose folder is not known.
            Err(_) => return Ok(Vec::new()),
        },
    };
    if recorded.hash.is_empty() || found.hash == recorded.hash {
        return Ok(Vec::new());
    }
    let (now, then) = (BodyOutline::of_file(&found.file), &opened.clips.body);
    let measures = [
        ("the front end", now.front, then.front),
        ("the rear end", now.rear, then.rear),
        ("the half-width", now.half_width, then.half_width),
        (
            "the centre of gravity",
            now.centre_of_gravity,
            then.centre_of_gravity,
        ),
    ];
    let differing: Vec<String> = measures
        .iter()
        .filter(|(_, now, then)| (now - then).abs() > DIFFERS)
        .map(|(what, now, then)| format!("{what} {now:.3} m instead of {then:.3} m"))
        .collect();
    let how = if differing.is_empty() {
        "only in data other than the outline".to_owned()
    } else {
        differing.join(", ")
    };
    Ok(vec![format!(
        "the clips were recorded with vehicle \"{}\" ({}), and \"{}\" ({}) differs: {how}",
        recorded.name, recorded.hash, found.name, found.hash
    )])
}

/// Returns a message if the period of frames is not a whole multiple of a time step.
fn step_finding(rate: f64, dt: f64) -> Option<String> {
    let steps = 1.0 / (rate * dt);
    if steps >= 0.999 && (steps - steps.round()).abs() < 1e-6 {
        return None;
    }
    let fitting = [1.0, 2.0, 4.0].map(|steps| format!("{:.4}", 1.0 / (rate * steps)));
    Some(format!(
        "frames are {:.4} s apart, which is not a multiple of the time step {dt} s; use {} s",
        1.0 / rate,
        fitting.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_steps_have_to_divide_the_period() {
        for dt in [0.01, 0.02, 0.04, 0.008] {
            assert_eq!(step_finding(25.0, dt), None, "{dt}");
        }
        for dt in [0.03, 0.05, 0.08, 1.0 / 30.0] {
            let words = step_finding(25.0, dt).unwrap();
            assert!(words.contains("0.0400, 0.0200, 0.0100"), "{words}");
        }
    }
}
