//! `roadwright vehicle test --plots`: pictures of manoeuvres.

use crate::commands::plot::Figure;
use crate::terminal::{self, say};
use anyhow::Context;
use roadwright_vehicle::proving::Plot;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Makes the folder if it is not there.
pub(super) fn make(folder: &Path) -> anyhow::Result<()> {
    let made = std::fs::create_dir_all(folder);
    made.with_context(|| format!("--plots: cannot make the folder {}", folder.display()))
}

/// Writes picture and table of each manoeuvre. Returns the pictures.
pub(super) fn write(plots: Vec<Plot>, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let write = |plot| {
        let [picture, _] = Figure::from(plot).write(folder)?;
        Ok(picture)
    };
    plots.into_iter().map(write).collect()
}

/// Says which pictures were written: on standard error if the output is a document.
pub(super) fn tell(pictures: &[PathBuf], folder: &Path, json: bool) -> anyhow::Result<()> {
    let mut words: Vec<String> = pictures
        .iter()
        .map(|picture| format!("wrote {}, and its points as .csv", picture.display()))
        .collect();
    if words.is_empty() {
        let folder = folder.display();
        words.push(format!("wrote nothing to {folder}: no manoeuvre applies"));
    }
    for line in words {
        if json {
            say!("{line}");
        } else {
            writeln!(terminal::out(), "{line}")?;
        }
    }
    Ok(())
}
