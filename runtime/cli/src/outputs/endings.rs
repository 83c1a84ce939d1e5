//! Extensions of file names, which reveal mistakes such as a picture called `town.scenario.json`.

use anyhow::bail;
use std::path::Path;

/// Kind of a result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rows as CSV.
    Table,
    /// A raster picture (PNG).
    Picture,
    /// An animation (GIF).
    Film,
    /// A vector picture (SVG).
    Drawing,
    /// A scenario.
    Scenario,
    /// A scenario and all files it needs, in one file.
    Bundle,
    /// A saved world.
    Save,
    /// Rows of an experiment (JSON).
    Results,
    /// A training record (JSON).
    Record,
    /// Recorded clips of driving.
    Clips,
    /// A graph of moves.
    Moves,
    /// A map with one character per cell.
    Cells,
    /// A report for people (Markdown).
    Report,
    /// A report for programs (JSON).
    Document,
    /// A signature of another file.
    Signature,
    /// A public or private key for signatures.
    Key,
}

impl Kind {
    /// Returns the kind with an article, for messages.
    fn name(self) -> &'static str {
        match self {
            Self::Table => "a table (CSV)",
            Self::Picture => "a picture (PNG)",
            Self::Film => "an animation (GIF)",
            Self::Drawing => "a drawing (SVG)",
            Self::Scenario => "a scenario",
            Self::Bundle => "a bundle",
            Self::Save => "a saved world",
            Self::Results => "results (JSON)",
            Self::Record => "a training record (JSON)",
            Self::Clips => "clips",
            Self::Moves => "a graph of moves",
            Self::Cells => "a map of cells",
            Self::Report => "a report (Markdown)",
            Self::Document => "a document (JSON)",
            Self::Signature => "a signature",
            Self::Key => "a key",
        }
    }

    /// Returns the usual extension of this kind.
    fn usual(self) -> &'static str {
        match self {
            Self::Table => ".csv",
            Self::Picture => ".png",
            Self::Film => ".gif",
            Self::Drawing => ".svg",
            Self::Scenario => ".scenario.json",
            Self::Bundle => ".rwz",
            Self::Save => ".rwworld",
            Self::Results | Self::Document => ".json",
            Self::Record => ".training.json",
            Self::Clips => ".clips.json",
            Self::Moves => ".moves.json",
            Self::Cells => ".txt",
            Self::Report => ".md",
            Self::Signature => ".minisig",
            Self::Key => ".key",
        }
    }
}

/// Known extensions. Each has the kind of file that it stands for, and the kinds of results that
/// may have it. If two extensions match a name, the longer one counts, so it must be listed first.
/// A name without a listed extension is accepted for all results.
const ENDINGS: &[(&str, &str, &[Kind])] = &[
    (".scenario.json", "a scenario", &[Kind::Scenario]),
    (".vehicle.json", "a vehicle", &[]),
    (".experiment.json", "an experiment", &[]),
    (".training.json", "a training record", &[Kind::Record]),
    (".clips.json", "clips", &[Kind::Clips]),
    (".moves.json", "a graph of moves", &[Kind::Moves]),
    (
        ".json",
        "a JSON document",
        &[Kind::Scenario, Kind::Results, Kind::Record, Kind::Document],
    ),
    (".csv", "a table", &[Kind::Table]),
    (".tsv", "a tab-separated table", &[]),
    (
        ".txt",
        "a text file",
        &[Kind::Table, Kind::Report, Kind::Cells],
    ),
    (".md", "a text file", &[Kind::Report]),
    (".png", "a picture (PNG)", &[Kind::Picture]),
    (".gif", "an animation (GIF)", &[Kind::Film]),
    (".svg", "a drawing (SVG)", &[Kind::Drawing]),
    (".jpg", "a picture (JPEG)", &[]),
    (".jpeg", "a picture (JPEG)", &[]),
    (".webp", "a picture (WebP)", &[]),
    (".pdf", "a document (PDF)", &[]),
    (".mp4", "a video (MPEG-4)", &[]),
    (".webm", "a video (WebM)", &[]),
    (".rwworld", "a saved world", &[Kind::Save]),
    (".rwz", "a bundle", &[Kind::Bundle]),
    (".zip", "an archive", &[Kind::Bundle]),
    (".gz", "a compressed file", &[]),
    (".xz", "a compressed file", &[]),
    (".zst", "a compressed file", &[]),
    (".tar", "an archive", &[]),
    (".rhai", "a script", &[]),
    (".so", "a plugin", &[]),
    (".dll", "a plugin", &[]),
    (".dylib", "a plugin", &[]),
    (".osm", "OpenStreetMap data", &[]),
    (".pbf", "OpenStreetMap data", &[]),
    (".xml", "an XML document", &[]),
    (".html", "a page", &[]),
    (".toml", "a TOML document", &[]),
    (".rs", "a source", &[]),
    (".c", "a source", &[]),
    (".h", "a source", &[]),
    (".cpp", "a source", &[]),
    (".hpp", "a source", &[]),
    (".py", "a source", &[]),
    (".sh", "a source", &[]),
];

/// Refuses a name whose extension belongs to another kind of file.
pub(super) fn check(asks: &str, path: &Path, kind: Kind) -> anyhow::Result<()> {
    let name = path.file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_lowercase();
    let mut known = ENDINGS.iter();
    // A name that consists only of an extension belongs to a hidden file and has no extension.
    let fits = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
    match known.find(|(ending, ..)| fits(ending)) {
        Some((ending, what, kinds)) if !kinds.contains(&kind) => bail!(
            "{asks}: {} ends in {ending}, the extension of {what}, but the command writes {}; use \
             the extension {}, or choose another file",
            path.display(),
            kind.name(),
            kind.usual()
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_endings_come_before_those_they_end_in() {
        for (at, (ending, ..)) in ENDINGS.iter().enumerate() {
            let before = &ENDINGS[..at];
            assert!(
                before.iter().all(|(other, ..)| !ending.ends_with(other)),
                "{ending}"
            );
        }
    }

    #[test]
    fn a_usual_ending_fits_its_kind() {
        for kind in [
            Kind::Table,
            Kind::Picture,
            Kind::Film,
            Kind::Drawing,
            Kind::Scenario,
            Kind::Bundle,
            Kind::Save,
            Kind::Results,
            Kind::Record,
            Kind::Report,
            Kind::Document,
            Kind::Clips,
            Kind::Moves,
        ] {
            let path = format!("x{}", kind.usual());
            assert!(check("--out", Path::new(&path), kind).is_ok(), "{path}");
            for free in ["x", "x.data", ".csv", "x.CSV2"] {
                assert!(check("--out", Path::new(free), kind).is_ok(), "{free}");
            }
            assert!(check("--out", Path::new("x.RHAI"), kind).is_err());
            assert!(check("--out", Path::new("a/x.vehicle.json"), kind).is_err());
        }
    }
}
