//! `roadwright render`: draws a scenario as a picture or a film.

use super::run::failure_text;
use super::{load_for, session_at};
use crate::Outcome;
use crate::arguments::Render;
use crate::outputs::{Inputs, Kind, Outputs};
use crate::progress;
use crate::terminal::say;
use anyhow::{Context, bail};
use glam::DVec2;
use roadwright_render::{Film, Picture, bodies, map};
use roadwright_scenario::Scenario;
use roadwright_simulation::{Ending, ModuleFailure, Snapshot, World};
use std::collections::BTreeMap;

/// Maximum number of frames in a film.
const MOST_FRAMES: f64 = 2000.0;
/// Maximum number of pixels in all frames of a film.
const MOST_PIXELS: f64 = 2e9;

pub(crate) fn render(arguments: &Render) -> anyhow::Result<Outcome> {
    let scenario = load_for(&arguments.file, &arguments.simulate)?;
    let mut picture = Picture {
        size: size_of(&arguments.size)?,
        dark: arguments.dark,
        bodies: arguments.bodies,
        hidden: arguments.hide.iter().copied().collect(),
        ..Picture::default()
    };
    picture.view = arguments.view.as_deref().map(view_of).transpose()?;
    let is_gif = arguments
        .out
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("gif"));
    let is_stream = arguments.out.exists() && !arguments.out.is_file();
    match (is_gif, arguments.until) {
        (true, None) => bail!("a GIF is animated; set its end with --until SECONDS"),
        (false, Some(_)) if !is_stream => {
            bail!("--until makes an animation, so --out must end in .gif")
        }
        _ => {}
    }
    let inputs = Inputs::none().scenario(&arguments.file, &scenario);
    let flags = &arguments.simulate;
    let mut outputs = Outputs::of(inputs.extensions(&flags.extensions, Some(&arguments.file)));
    let kind = arguments.until.map_or(Kind::Picture, |_| Kind::Film);
    let place = outputs.file("--out", &arguments.out, kind)?;
    // Checked before the run, which may take a long time.
    outputs.try_out(&place)?;
    let drawn = match arguments.until {
        Some(until) => film(arguments, &scenario, picture, until)?,
        None => still(arguments, &scenario, picture)?,
    };
    outputs.write(&place, &drawn.bytes)?;
    outputs.commit()?;
    for (module, failure) in &drawn.failures {
        say!("error: {}", failure_text(module, failure));
    }
    Ok(Outcome::of(drawn.failures.is_empty()))
}

/// A picture or film of a scenario or of a run.
struct Drawn {
    bytes: Vec<u8>,
    /// Modules that failed in the run, by id. The built-in modules drove in their place.
    failures: BTreeMap<String, ModuleFailure>,
}

/// Draws the scenario, or a moment of a run.
fn still(arguments: &Render, scenario: &Scenario, mut picture: Picture) -> anyhow::Result<Drawn> {
    let simulated = arguments.at.is_some() || arguments.simulate.populate > 0;
    let flags = &arguments.simulate;
    let others = flags.seed.is_some()
        || flags.dt.is_some()
        || flags.threads != 1
        || !flags.modules.is_empty();
    if !simulated && arguments.bodies {
        bail!(
            "--bodies needs a run: add --at SECONDS, and --dynamics rigid if the scenario has no rigid bodies"
        );
    }
    if !simulated && others {
        bail!("the options for running the scenario have no effect without --at SECONDS");
    }
    let mut failures = BTreeMap::new();
    let snapshot = if simulated {
        let session = session_at(
            arguments.file.as_path(),
            scenario,
            flags,
            arguments.at.unwrap_or(0.0),
        )?;
        picture.signals = session.world().signals().collect();
        let snapshot = session.world().snapshot();
        add_stills(&mut picture, session.world(), &snapshot);
        failures = session.world().failures();
        Some(snapshot)
    } else {
        None
    };
    let bytes = map(scenario, snapshot.as_ref(), &picture).context("cannot draw the scenario")?;
    Ok(Drawn { bytes, failures })
}

/// Films a run, with one frame every few steps.
fn film(
    arguments: &Render,
    scenario: &Scenario,
    mut picture: Picture,
    until: f64,
) -> anyhow::Result<Drawn> {
    let (from, every) = (arguments.at.unwrap_or(0.0), arguments.every);
    if !(0.02..=60.0).contains(&every) {
        bail!("--every {every} is out of range: expected 0.02 to 60 s");
    }
    if until <= from || (until - from).is_nan() {
        bail!("--until {until} must be later than --at, which is {from}");
    }
    let frames = ((until - from) / every).floor() + 1.0;
    let pixels = frames * f64::from(picture.size.0) * f64::from(picture.size.1);
    if frames > MOST_FRAMES || pixels > MOST_PIXELS {
        bail!(
            "{frames} frames of {} are too many: an animation can have at most {MOST_FRAMES}, and \
             {MOST_PIXELS:e} pixels in all; choose a shorter time, a smaller --size, or a larger \
             --every",
            arguments.size
        );
    }
    let mut session = session_at(
        arguments.file.as_path(),
        scenario,
        &arguments.simulate,
        from,
    )?;
    let mut film = Film::new(every);
    for frame in 0..frames as u32 {
        let time = from + every * f64::from(frame);
        session.run(Ending::AtTime(time), &mut [], |_| !progress::interrupted());
        if progress::interrupted() {
            bail!("interrupted");
        }
        picture.signals = session.world().signals().collect();
        let snapshot = session.world().snapshot();
        add_stills(&mut picture, session.world(), &snapshot);
        film.add(scenario, Some(&snapshot), &picture)
            .context("cannot draw the scenario")?;
    }
    Ok(Drawn {
        bytes: film.gif().context("cannot render the animation")?,
        failures: session.world().failures(),
    })
}

/// Adds obstacles that vehicles may hit to a picture that shows rigid bodies.
fn add_stills(picture: &mut Picture, world: &World, snapshot: &Snapshot) {
    if picture.bodies {
        picture.stills = bodies::stills(world.ground(), snapshot);
    }
}

fn view_of(values: &[f64]) -> anyhow::Result<(DVec2, DVec2)> {
    match *values {
        [left, bottom, right, top] if left < right && bottom < top => {
            Ok((DVec2::new(left, bottom), DVec2::new(right, top)))
        }
        _ => bail!(
            "--view needs four numbers, LEFT,BOTTOM,RIGHT,TOP, with LEFT < RIGHT and BOTTOM < TOP"
        ),
    }
}

fn size_of(text: &str) -> anyhow::Result<(u32, u32)> {
    let size = text
        .split_once('x')
        .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match size {
        Some((w, h)) if (64..=16384).contains(&w) && (64..=16384).contains(&h) => Ok((w, h)),
        _ => bail!("--size {text}: expected WxH with 64 to 16384 pixels each, such as 1600x1000"),
    }
}
