//! A file that cannot be opened, with its error and the parts of it that can be read.

use roadwright_scenario::Scenario;
use roadwright_scenario::file::{self, FileError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of lines shown before and after the line with the error.
const AROUND: usize = 2;
/// Maximum length of a shown line, in characters. The rest of the line is cut off.
const LONGEST_LINE: usize = 160;
/// Maximum size of a file whose lines are shown, bytes.
const LARGEST: u64 = 64 * roadwright_files::MEBIBYTE;

/// A file that cannot be opened.
#[derive(Debug)]
pub struct Damaged {
    /// Path of the file.
    pub path: PathBuf,
    /// The error message.
    pub message: String,
    /// Lines around the error with their numbers; empty if the error has no line.
    pub lines: Vec<(usize, String)>,
    /// Number of the line with the error, counted from 1; 0 for none.
    pub line: usize,
    /// The readable part of the file, if any.
    pub saved: Option<Saved>,
}

/// The readable part of a damaged file.
#[derive(Debug)]
pub struct Saved {
    /// A valid scenario formed from the readable parts.
    pub scenario: Arc<Scenario>,
    /// Number of objects in the scenario.
    pub kept: usize,
    /// The omitted entries, each with the reason.
    pub left_out: Vec<String>,
}

impl Damaged {
    /// Examines a file that could not be loaded.
    pub fn look(path: &Path, error: &FileError) -> Self {
        let (line, message) = match error {
            FileError::Io { error, .. } => (0, error.to_string()),
            FileError::Text { error, .. } => (error.line, error.to_string()),
        };
        Self {
            path: path.to_owned(),
            message,
            lines: lines_around(path, line),
            line,
            saved: saved(path, error),
        }
    }

    /// Returns the name of the file.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

fn saved(path: &Path, error: &FileError) -> Option<Saved> {
    // A file that is missing or unreadable has no contents to recover.
    if matches!(error, FileError::Io { error, .. } if error.kind() != std::io::ErrorKind::InvalidData)
    {
        return None;
    }
    let salvage = file::salvage(path).ok()?;
    let said = |error: &file::TextError| match error.line {
        0 => error.to_string(),
        line => format!("line {line}: {error}"),
    };
    (salvage.kept > 0).then(|| Saved {
        scenario: Arc::new(salvage.scenario),
        kept: salvage.kept,
        left_out: salvage.left_out.iter().map(said).collect(),
    })
}

fn lines_around(path: &Path, line: usize) -> Vec<(usize, String)> {
    if line == 0 {
        return Vec::new();
    }
    let text = roadwright_files::read_text(path, LARGEST).unwrap_or_default();
    let short = |text: &str| text.chars().take(LONGEST_LINE).collect::<String>();
    (1..)
        .zip(text.lines())
        .skip(line.saturating_sub(AROUND + 1))
        .take(2 * AROUND + 1)
        .map(|(number, text)| (number, short(text)))
        .collect()
}
