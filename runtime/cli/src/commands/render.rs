//! `roadwright render`.

use super::{load_for, session_at};
use crate::Outcome;
use crate::arguments::Render;
use anyhow::{Context, bail};
use glam::DVec2;
use roadwright_render::{Picture, map};

pub(crate) fn render(arguments: &Render) -> anyhow::Result<Outcome> {
    let scenario = load_for(&arguments.file, &arguments.simulate)?;
    let mut picture = Picture {
        size: size_of(&arguments.size)?,
        dark: arguments.dark,
        ..Picture::default()
    };
    picture.view = arguments.view.as_deref().map(view_of).transpose()?;
    let simulated = arguments.at.is_some() || arguments.simulate.populate > 0;
    let flags = &arguments.simulate;
    let others = flags.seed.is_some()
        || flags.dt.is_some()
        || flags.threads != 1
        || !flags.modules.is_empty();
    if !simulated && others {
        bail!("the flags of a run need one: add --at SECONDS");
    }
    let snapshot = if simulated {
        let subject = (arguments.file.as_path(), &scenario);
        let session = session_at(subject, flags, arguments.at.unwrap_or(0.0))?;
        picture.signals = session.world().signals().collect();
        Some(session.world().snapshot())
    } else {
        None
    };
    let png = map(&scenario, snapshot.as_ref(), &picture).context("cannot draw the scenario")?;
    roadwright_files::write(&arguments.out, &png)
        .with_context(|| format!("cannot write {}", arguments.out.display()))?;
    Ok(Outcome::Fine)
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
