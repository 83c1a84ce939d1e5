//! Reading JSON with error messages for the authors of files, and writing JSON in a form that diffs
//! well.

mod wording;
mod write;

pub(crate) use write::Writer;

use std::path::{Path, PathBuf};
use thiserror::Error;

/// Reason why a scenario cannot be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// A file cannot be opened, read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error that the system reported.
        error: std::io::Error,
    },
    /// The text is not a scenario.
    #[error("{place}: {error}", place = place(path, error.line, error.column))]
    Text {
        /// The file.
        path: PathBuf,
        /// The problem in the text.
        error: TextError,
    },
}

fn place(path: &Path, line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => path.display().to_string(),
        (line, 0) => format!("{}:{line}", path.display()),
        (line, column) => format!("{}:{line}:{column}", path.display()),
    }
}

/// A problem in the text of a scenario, with its position.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{}{message}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct TextError {
    /// Line, from 1; 0 for the whole text.
    pub line: usize,
    /// Column, from 1; 0 for the whole line.
    pub column: usize,
    /// Path of the key, such as `roads.12.speed_limit`.
    pub key: String,
    /// The problem and what was expected.
    pub message: String,
}

impl TextError {
    pub(crate) fn whole(key: &str, message: String) -> Self {
        Self {
            line: 0,
            column: 0,
            key: key.into(),
            message,
        }
    }
}

/// Reads a JSON document of any format. Error messages are worded for the authors of files.
///
/// # Errors
/// If the text is not a valid document. The error states line, column, key, and what was expected.
pub fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, TextError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let document = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let key = error.path().to_string();
        json_error(error.inner(), if key == "." { "" } else { &key })
    })?;
    deserializer.end().map_err(|error| json_error(&error, ""))?;
    Ok(document)
}

/// Converts a JSON error, and removes the position that its message repeats.
pub(crate) fn json_error(error: &serde_json::Error, key: &str) -> TextError {
    let text = error.to_string();
    // serde_json ends its messages with " at line 3 column 7". Our errors start with the position
    // in the form file:line:column, which editors and terminals can open.
    let message = text.split(" at line ").next().unwrap_or(&text);
    TextError {
        line: error.line(),
        column: error.column(),
        // Removes the placeholder that stands for a key that could not be read.
        key: key.trim_end_matches(".?").into(),
        message: wording::in_plain_words(message),
    }
}

/// Writes a string to a file atomically, as described at [`roadwright_files::Beside`].
///
/// # Errors
/// If the file cannot be written. Its previous contents are then unchanged.
pub fn save_text(text: &str, path: &Path) -> Result<(), FileError> {
    roadwright_files::write(path, text.as_bytes()).map_err(|error| FileError::Io {
        path: path.to_owned(),
        error,
    })
}
