//! Reads JSON texts. Errors name the key and the reason.

use serde::de::DeserializeOwned;

/// Reason why a clip file or a move graph file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{reason}", place(*line), if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct MoveFileError {
    /// Line number, from 1; 0 if the error concerns no particular line.
    pub line: usize,
    /// Path of the key, such as `clips[3].frames[7]`; empty if the error concerns the whole file.
    pub key: String,
    /// Description of the problem and of the expected content.
    pub reason: String,
}

fn place(line: usize) -> String {
    if line == 0 {
        String::new()
    } else {
        format!("line {line}: ")
    }
}

impl MoveFileError {
    /// Creates an error at a key, with the reason.
    pub fn at(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            line: 0,
            key: key.into(),
            reason: reason.into(),
        }
    }
}

/// Reads a JSON text.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, MoveFileError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let key = error.path().to_string();
        let key = if key == "." {
            ""
        } else {
            key.trim_end_matches(".?")
        };
        located(error.inner(), key)
    })?;
    reader.end().map_err(|error| located(&error, ""))?;
    Ok(value)
}

fn located(error: &serde_json::Error, key: &str) -> MoveFileError {
    let text = error.to_string();
    // The line is reported separately, before the reason.
    let reason = text.split(" at line ").next().unwrap_or(&text);
    MoveFileError {
        line: error.line(),
        key: key.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Checks that a name is valid.
pub(crate) fn check_name(key: &str, name: &str) -> Result<(), MoveFileError> {
    let is_fine =
        !name.is_empty() && name.chars().count() <= 100 && !name.contains(char::is_control);
    if is_fine {
        return Ok(());
    }
    let reason = "expected a name of 1 to 100 characters without control characters";
    Err(MoveFileError::at(key, reason))
}

/// Checks the format and version of a file.
pub(crate) fn check_format(
    format: &str,
    version: u32,
    expected: &str,
) -> Result<(), MoveFileError> {
    if format != expected {
        let reason = format!("expected \"{expected}\", found \"{format}\"");
        return Err(MoveFileError::at("format", reason));
    }
    if version != 1 {
        let reason = format!("version {version} is not supported; this Roadwright reads version 1");
        return Err(MoveFileError::at("version", reason));
    }
    Ok(())
}
