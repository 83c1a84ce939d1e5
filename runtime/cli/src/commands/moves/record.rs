//! `roadwright moves record`: clips from a table of `run --trace`.

use super::{NamedClip, Record};
use crate::commands::{load, vehicle};
use crate::outputs::{Inputs, Kind, Outputs};
use crate::{Outcome, terminal};
use anyhow::{Context, bail};
use roadwright_moves::{BodyOutline, ClipFile, ClipGround, LARGEST, RecordedVehicle, Recording};
use roadwright_scenario::ObjectId;
use roadwright_scenario::vehicle_file::VehicleFile;
use roadwright_simulation::{FixedOutlines, Ground};
use std::io::Write;
use std::path::Path;

/// Largest table that is read, bytes.
const LARGEST_TRACE: u64 = 16 * LARGEST;

/// Time between the end of a suggested cut and the contact, s.
const MARGIN: f64 = 0.5;
/// Minimum duration of a suggested cut, s.
const SHORTEST: f64 = 0.1;

pub(super) fn record(arguments: &Record) -> anyhow::Result<Outcome> {
    let inputs = Inputs::none().file("the trace", &arguments.trace);
    let mut outputs = Outputs::of(inputs);
    let place = outputs.file("--out", &arguments.out, Kind::Clips)?;
    let found = vehicle::find_with_text(&arguments.vehicle)?;
    let body = BodyOutline::of_file(&found.file);
    let text = roadwright_files::read_text(&arguments.trace, LARGEST_TRACE)
        .with_context(|| format!("cannot read {}", arguments.trace.display()))?;
    let recording = Recording::of_trace(&text, arguments.agent, body.centre_of_gravity)
        .with_context(|| format!("cannot create clips from {}", arguments.trace.display()))?;
    let whole = [NamedClip {
        name: "drive".to_owned(),
        from: recording.begin,
        to: recording.end(),
    }];
    let asked = if arguments.clips.is_empty() {
        &whole[..]
    } else {
        &arguments.clips[..]
    };
    let obstacles = match &arguments.scenario {
        Some(path) => Some(obstacles(path, &found.file)?),
        None => None,
    };
    let mut clips = Vec::new();
    for NamedClip { name, from, to } in asked {
        let driven = recording.stretch(*from, *to);
        let driven = driven.with_context(|| format!("cannot cut clip \"{name}\""))?;
        if let Some(obstacles) = &obstacles
            && let Some(touch) = obstacles.first_touch(driven, &body)
        {
            bail!(touching(
                name,
                *from,
                from + touch.frame as f64 / recording.rate,
                touch.object
            ));
        }
        let clip = recording.clip(name, *from, *to);
        let clip = clip.with_context(|| format!("cannot cut clip \"{name}\""))?;
        let mirrored = arguments.mirror.then(|| clip.mirrored());
        clips.push(clip);
        clips.extend(mirrored);
    }
    let file = ClipFile {
        rate: recording.rate,
        vehicle: RecordedVehicle {
            name: found.name,
            hash: found.hash,
        },
        body,
        ground: ClipGround {
            grip: arguments.grip,
            slope: arguments.slope,
            load: arguments.load,
        },
        clips,
    };
    file.check().context("the clips cannot be written")?;
    outputs.write(&place, file.to_text().as_bytes())?;
    outputs.commit()?;
    let mut out = terminal::out();
    for clip in &file.clips {
        let frames = clip.frames.len() - 1;
        let seconds = frames as f64 / file.rate;
        writeln!(out, "{}: {frames} frames, {seconds:.2} s", clip.name)?;
    }
    Ok(Outcome::Fine)
}

/// Returns a message about a clip that starts at `from` s and touches an object at `seconds`.
fn touching(name: &str, from: f64, seconds: f64, object: ObjectId) -> String {
    let end = seconds - MARGIN;
    if end < from + SHORTEST {
        return format!(
            "clip \"{name}\" touches {object} from the beginning, at {seconds:.2} s; begin the clip later with \
             --clip {name}=FROM..TO"
        );
    }
    format!(
        "clip \"{name}\" touches {object} at {seconds:.2} s; cut it with --clip {name}={from}..{end:.2}"
    )
}

/// Returns the obstacles of a scenario that a vehicle can touch.
fn obstacles(path: &Path, vehicle: &VehicleFile) -> anyhow::Result<FixedOutlines> {
    let scenario = load(path)?;
    let ground = Ground::new(&scenario);
    Ok(FixedOutlines::of(&ground, &vehicle.vehicle_type()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_scenario::ObstacleId;

    #[test]
    fn the_suggested_cut_is_never_empty() {
        let object = ObjectId::Obstacle(ObstacleId(7));
        for seconds in [2.0, 2.3, 2.59] {
            let words = touching("drive", 2.0, seconds, object);
            assert!(words.contains("from the beginning"), "{words}");
            assert!(!words.contains("cut it"), "{words}");
        }
        let words = touching("drive", 2.0, 2.7, object);
        assert!(
            words.contains("at 2.70 s; cut it with --clip drive=2..2.20"),
            "{words}"
        );
    }
}
