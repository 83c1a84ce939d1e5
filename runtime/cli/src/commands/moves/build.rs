//! `roadwright moves build`: graphs from clips.

use super::{Build, PresetArgument, file_name, open_clips};
use crate::commands::print_json;
use crate::outputs::{Inputs, Kind, Outputs};
use crate::{Outcome, terminal};
use anyhow::{Context, bail};
use roadwright_moves::{
    BuildRules, Built, ClipFile, GraphSize, RemovedBecause, StateRule, SweepKind, Weights,
    unpruned_size,
};
use serde::Serialize;
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Extension of graph files.
const MOVES: &str = ".moves.json";

pub(super) fn build(arguments: &Build) -> anyhow::Result<Outcome> {
    match (&arguments.preset, &arguments.clips) {
        (Some(preset), _) => record_preset(arguments, *preset),
        (None, Some(clips)) => from_clips(arguments, clips),
        (None, None) => bail!("specify a clips file, or a tree with --preset"),
    }
}

fn record_preset(arguments: &Build, preset: PresetArgument) -> anyhow::Result<Outcome> {
    let name = file_name(&arguments.out)?;
    let Some(stem) = name.strip_suffix(MOVES) else {
        bail!("--out: {name} does not end in {MOVES}");
    };
    let clips_name = format!("{stem}.clips.json");
    let mut outputs = Outputs::of(Inputs::none());
    let place = outputs.file("--out", &arguments.out, Kind::Moves)?;
    let beside = arguments.out.with_file_name(&clips_name);
    let clips_place = outputs.file("the clips of --preset", &beside, Kind::Clips)?;
    let mut recorded = preset.preset().record();
    recorded.graph.clips = clips_name;
    let library = recorded
        .graph
        .library(&recorded.clips, SweepKind::Exact)
        .context("the tree cannot be used")?;
    outputs.write(&clips_place, recorded.clips.to_text().as_bytes())?;
    outputs.write(&place, recorded.graph.to_text().as_bytes())?;
    outputs.commit()?;
    if arguments.json {
        print_json(&json!({
            "states": library.states().len(),
            "moves": library.moves().len(),
            "hash": recorded.graph.hash(),
        }))?;
        return Ok(Outcome::Fine);
    }
    writeln!(
        terminal::out(),
        "{} states, {} moves, hash {}",
        library.states().len(),
        library.moves().len(),
        recorded.graph.hash()
    )?;
    Ok(Outcome::Fine)
}

fn from_clips(arguments: &Build, path: &Path) -> anyhow::Result<Outcome> {
    let mut outputs = Outputs::of(Inputs::none().file("the clips", path));
    let place = outputs.file("--out", &arguments.out, Kind::Moves)?;
    let same_folder = path.parent() == arguments.out.parent();
    if !same_folder {
        bail!("--out: the graph must be in the same folder as its clips");
    }
    let clips = open_clips(path)?;
    let rules = rules(arguments)?;
    let built = roadwright_moves::build(&clips, &file_name(path)?, &rules);
    if built.graph.moves.is_empty() {
        bail!(
            "no moves remain: {} transitions were found, and {} moves were left out; record clips that \
             return to earlier speeds, or raise --threshold",
            built.transitions.len(),
            built.removed.len()
        );
    }
    let most = usize::from(u16::MAX);
    if built.graph.moves.len().max(built.graph.states.len()) > most {
        bail!(
            "the graph has {} states and {} moves, but a library can have at most {most} of each; use --merge, \
             or larger values of --kc and --ks",
            built.graph.states.len(),
            built.graph.moves.len()
        );
    }
    outputs.write(&place, built.graph.to_text().as_bytes())?;
    outputs.commit()?;
    let sizes = match arguments.compare {
        true => compared(&clips, &rules, &built),
        false => Vec::new(),
    };
    if arguments.json {
        let removed = built.removed.iter().map(|one| {
            json!({"clip": one.entry.clip, "first": one.entry.first, "last": one.entry.last,
                "from": one.entry.from, "to": one.entry.to, "reason": words(&one.reason)})
        });
        print_json(&json!({
            "states": built.graph.states.len(),
            "moves": built.graph.moves.len(),
            "transitions": built.transitions.len(),
            "removed": removed.collect::<Vec<_>>(),
            "compared": sizes,
            "hash": built.graph.hash(),
        }))?;
        return Ok(Outcome::Fine);
    }
    let mut out = terminal::out();
    for one in &built.removed {
        let entry = &one.entry;
        writeln!(
            out,
            "left out: {} {}-{}: {}",
            entry.clip,
            entry.first,
            entry.last,
            words(&one.reason)
        )?;
    }
    writeln!(
        out,
        "{} transitions, {} states, {} moves, {} left out, hash {}",
        built.transitions.len(),
        built.graph.states.len(),
        built.graph.moves.len(),
        built.removed.len(),
        built.graph.hash()
    )?;
    for one in &sizes {
        writeln!(
            out,
            "{:<40} {:>8} transitions {:>8} states {:>8} moves",
            one.rules, one.transitions, one.states, one.moves
        )?;
    }
    Ok(Outcome::Fine)
}

/// Size of a graph, and the rules that were used to build it.
#[derive(Debug, Serialize)]
struct Size {
    rules: &'static str,
    transitions: u64,
    states: u64,
    moves: u64,
}

/// Returns the size of the graph as built, and its sizes before pruning with and without the rules
/// that keep it small.
fn compared(clips: &ClipFile, rules: &BuildRules, built: &Built) -> Vec<Size> {
    let own = GraphSize {
        transitions: built.transitions.len() as u64,
        states: built.graph.states.len() as u64,
        moves: built.graph.moves.len() as u64,
    };
    let unpruned = |kc, ks| unpruned_size(clips, &BuildRules { kc, ks, ..*rules });
    let BuildRules { kc, ks, .. } = *rules;
    let sizes = [
        ("as built", own),
        ("without pruning", unpruned(kc, ks)),
        ("without pruning, with kc = 0", unpruned(0, ks)),
        ("without pruning, with ks = 0", unpruned(kc, 0)),
        ("without pruning, with kc = 0 and ks = 0", unpruned(0, 0)),
    ];
    let sizes = sizes.map(|(rules, size)| Size {
        rules,
        transitions: size.transitions,
        states: size.states,
        moves: size.moves,
    });
    sizes.into()
}

fn words(reason: &RemovedBecause) -> String {
    match reason {
        RemovedBecause::Like { clip, first } => {
            format!("nearly the same as {clip} from frame {first}")
        }
        RemovedBecause::NotConnected => {
            "its start or end state is not strongly connected to the others".to_owned()
        }
    }
}

fn rules(arguments: &Build) -> anyhow::Result<BuildRules> {
    let amounts = [
        ("--threshold", arguments.threshold),
        ("--speed-weight", arguments.speed_weight),
        ("--sideways-weight", arguments.sideways_weight),
        ("--yaw-weight", arguments.yaw_weight),
        ("--prune", arguments.prune),
        ("--prune-angle", arguments.prune_angle),
    ];
    for (option, amount) in amounts {
        if !(0.0..=1e6).contains(&amount) {
            bail!("{option} must be 0 to 1,000,000");
        }
    }
    let frames = [arguments.kc, arguments.ks, arguments.prune_frames];
    if frames.iter().any(|&frames| frames > 1_000_000) {
        bail!("--kc, --ks and --prune-frames must be at most 1,000,000 frames");
    }
    Ok(BuildRules {
        threshold: arguments.threshold,
        weights: Weights {
            forward: arguments.speed_weight,
            sideways: arguments.sideways_weight,
            yaw_rate: arguments.yaw_weight,
        },
        kc: arguments.kc,
        ks: arguments.ks,
        prune_distance: arguments.prune,
        prune_angle: arguments.prune_angle,
        prune_frames: arguments.prune_frames,
        states: match arguments.merge {
            true => StateRule::Similar,
            false => StateRule::Frames,
        },
    })
}
