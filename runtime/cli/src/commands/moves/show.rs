//! `roadwright moves show`: the states and moves of a graph.

use super::{Show, open};
use crate::commands::print_json;
use crate::{Outcome, terminal};
use roadwright_moves::{Move, Sweep, SweepKind, turned};
use serde::Serialize;
use std::io::Write;

/// A move as shown to users.
#[derive(Debug, Serialize)]
struct MoveRow {
    name: String,
    from: String,
    to: String,
    frames: u32,
    seconds: f64,
    begin_mps: f64,
    end_mps: f64,
    turn_deg: f64,
    /// Largest angle between the heading and the direction in which the centre of gravity moves.
    slip_deg: f64,
    /// Final position of the rear axle, ahead of and to the left of its initial position.
    ahead_m: f64,
    left_m: f64,
    /// Number of pieces of the swept area.
    pieces: usize,
}

pub(super) fn show(arguments: &Show) -> anyhow::Result<Outcome> {
    let opened = open(&arguments.moves)?;
    let library = opened.library()?;
    let rows: Vec<MoveRow> = library
        .moves()
        .iter()
        .map(|one| {
            let state = |number: usize| library.states()[number].clone();
            MoveRow {
                from: state(usize::from(one.from.0)),
                to: state(usize::from(one.to.0)),
                pieces: Sweep::of(&one.frames, library.body(), SweepKind::Exact)
                    .pieces
                    .len(),
                ..measured(one, library.rate())
            }
        })
        .collect();
    let clips = &opened.clips;
    if arguments.json {
        print_json(&serde_json::json!({
            "vehicle": clips.vehicle,
            "rate": clips.rate,
            "ground": clips.ground,
            "body": clips.body,
            "start": opened.graph.start,
            "states": library.states(),
            "top_speed_mps": library.top_speed(),
            "hash": opened.graph.hash(),
            "moves": rows,
        }))?;
        return Ok(Outcome::Fine);
    }
    let mut out = terminal::out();
    writeln!(
        out,
        "{} ({}), {} frames a second, begins in {}, hash {}",
        clips.vehicle.name,
        clips.vehicle.hash,
        clips.rate,
        opened.graph.start,
        opened.graph.hash()
    )?;
    writeln!(
        out,
        "{:<24} {:<12} {:<12} {:>6} {:>6} {:>6} {:>7} {:>6} {:>7} {:>7} {:>6}",
        "move", "from", "to", "frames", "m/s", "m/s", "turn", "slip", "ahead", "left", "pieces"
    )?;
    for row in &rows {
        writeln!(
            out,
            "{:<24} {:<12} {:<12} {:>6} {:>6.1} {:>6.1} {:>6.1}° {:>5.1}° {:>7.2} {:>7.2} {:>6}",
            row.name,
            row.from,
            row.to,
            row.frames,
            row.begin_mps,
            row.end_mps,
            row.turn_deg,
            row.slip_deg,
            row.ahead_m,
            row.left_m,
            row.pieces
        )?;
    }
    Ok(Outcome::Fine)
}

/// Returns the figures of a move, without its states and its swept area.
fn measured(one: &Move, rate: f64) -> MoveRow {
    let slip = |frame: &roadwright_moves::Frame| {
        roadwright_geometry::math::atan2(frame.sideways, frame.forward.abs()).abs()
    };
    let moving = one.frames.iter().filter(|frame| frame.forward.abs() > 1.0);
    let last = one.frames.len() - 1;
    let end = one.placement(last);
    MoveRow {
        name: one.name.clone(),
        from: String::new(),
        to: String::new(),
        frames: one.length(),
        seconds: f64::from(one.length()) / rate,
        begin_mps: one.frames[0].forward,
        end_mps: one.frames[last].forward,
        turn_deg: turned(&one.frames).to_degrees(),
        slip_deg: moving.map(slip).fold(0.0, f64::max).to_degrees(),
        ahead_m: end.position.x,
        left_m: end.position.y,
        pieces: 0,
    }
}
