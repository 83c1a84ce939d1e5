//! `roadwright vehicle test --plots`: pictures of manoeuvres.

use crate::commands::plot::Figure;
use crate::outputs::Outputs;
use crate::terminal::{self, say};
use roadwright_vehicle::proving::Plot;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes a picture and a table for each manoeuvre. Returns the paths of the pictures.
pub(super) fn write(
    plots: Vec<Plot>,
    outputs: &mut Outputs,
    folder: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    let plots = plots.into_iter().map(Figure::from);
    let written = plots.map(|figure| figure.write(outputs, "--plots", folder));
    let pictures = written.collect::<anyhow::Result<_>>()?;
    outputs.commit()?;
    Ok(pictures)
}

/// Lists the written pictures, on standard error if the output is a document.
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
