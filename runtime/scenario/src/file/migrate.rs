//! File format versions and the migrations between them.

use super::{FORMAT, TextError};
use crate::json_text::json_error;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A migration step, which converts a document of one version to the next.
type Migration = fn(&mut Value) -> Result<(), String>;

/// Step i converts version i + 1 into version i + 2. Steps are only ever appended.
// Steps work on plain JSON rather than on types, because the current types do not have the old form. A
// released step must never change. Otherwise, a file would depend on the version that migrated it.
const MIGRATIONS: &[Migration] = &[signals_and_restrictions_to_junctions];

/// Migrates version 1 to version 2: moves the junction rules of nodes to a separate section.
fn signals_and_restrictions_to_junctions(document: &mut Value) -> Result<(), String> {
    let Some(nodes) = document.get_mut("nodes").and_then(Value::as_object_mut) else {
        return Ok(());
    };
    let mut junctions = Map::new();
    for (id, node) in nodes.iter_mut() {
        let Some(node) = node.as_object_mut() else {
            continue;
        };
        let mut rules = Map::new();
        match node.remove("signals") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => {
                rules.insert("control".into(), "signals".into());
            }
            Some(_) => return Err(format!("nodes.{id}.signals: expected true or false")),
        }
        if let Some(restrictions) = node.remove("restrictions") {
            rules.insert("restrictions".into(), restrictions);
        }
        if !rules.is_empty() {
            junctions.insert(id.clone(), rules.into());
        }
    }
    if !junctions.is_empty() {
        document["junctions"] = junctions.into();
    }
    Ok(())
}

/// Current version of the format, which is written to files.
pub const VERSION: u32 = MIGRATIONS.len() as u32 + 1;

/// The two keys that all versions of the format have.
#[derive(Deserialize)]
struct Header {
    format: Option<String>,
    version: Option<u32>,
}

/// Reads the header of a document and returns its version.
pub(super) fn header(text: &str) -> Result<u32, TextError> {
    if text.trim().is_empty() {
        let message = "the file is empty; a scenario starts with {\"format\": \
                       \"roadwright-scenario\", \"version\": 2";
        return Err(TextError::whole("", message.into()));
    }
    let header: Header = serde_json::from_str(text).map_err(|error| json_error(&error, ""))?;
    match header.format.as_deref() {
        Some(FORMAT) => {}
        other => {
            let found = other.map_or("nothing".into(), |text| format!("\"{text}\""));
            let message =
                format!("this is not a Roadwright scenario: expected \"{FORMAT}\", found {found}");
            return Err(TextError::whole("format", message));
        }
    }
    match header.version {
        Some(version) if (1..=VERSION).contains(&version) => Ok(version),
        Some(0) => Err(TextError::whole(
            "version",
            "there is no version 0; versions start at 1".into(),
        )),
        Some(version) => Err(TextError::whole(
            "version",
            format!(
                "the file has version {version}, but this Roadwright reads versions up to \
                 {VERSION}; update Roadwright"
            ),
        )),
        None => Err(TextError::whole(
            "version",
            "the key is missing; expected a positive whole number".into(),
        )),
    }
}

/// Converts a document of an older version to the current version; `None` if only the version number has to
/// change.
pub(super) fn migrate(text: &str, version: u32) -> Result<Option<String>, TextError> {
    migrate_by(MIGRATIONS, text, version)
}

fn migrate_by(steps: &[Migration], text: &str, version: u32) -> Result<Option<String>, TextError> {
    let mut document: Value = serde_json::from_str(text).map_err(|error| json_error(&error, ""))?;
    let original = document.clone();
    // A file of version 2 skips step 0 (from 1 to 2) and continues with step 1 (from 2 to 3), step 2, and so
    // on.
    for (from, step) in (1u32..).zip(steps).skip(version as usize - 1) {
        step(&mut document).map_err(|message| {
            TextError::whole(
                "version",
                format!("migrating from version {from}: {message}"),
            )
        })?;
    }
    if document == original {
        return Ok(None);
    }
    document["version"] = Value::from(steps.len() + 1);
    Ok(Some(document.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_taken_in_order_from_the_version_of_the_file() {
        fn rename(document: &mut Value) -> Result<(), String> {
            let object = document.as_object_mut().ok_or("not an object")?;
            let streets = object.remove("streets").ok_or("streets are missing")?;
            object.insert("roads".into(), streets);
            Ok(())
        }
        fn double(document: &mut Value) -> Result<(), String> {
            let width = document["roads"]["width"]
                .as_f64()
                .ok_or("width is missing")?;
            document["roads"]["width"] = Value::from(2.0 * width);
            Ok(())
        }
        let steps: &[Migration] = &[rename, double];
        let first = migrate_by(steps, r#"{"version": 1, "streets": {"width": 1.5}}"#, 1).unwrap();
        assert_eq!(
            first.as_deref(),
            Some(r#"{"version":3,"roads":{"width":3.0}}"#)
        );
        let second = migrate_by(steps, r#"{"version": 2, "roads": {"width": 1.5}}"#, 2).unwrap();
        assert_eq!(second, first);
        let error = migrate_by(steps, r#"{"version": 1}"#, 1).unwrap_err();
        assert!(
            error
                .message
                .contains("migrating from version 1: streets are missing")
        );
    }

    #[test]
    fn newer_and_foreign_files_are_refused() {
        let error = |text: &str| header(text).unwrap_err().to_string();
        assert!(error(r#"{"format": "roadwright-scenario", "version": 99}"#).contains("update"));
        assert!(error(r#"{"version": 1}"#).contains("not a Roadwright scenario"));
        assert!(error("  ").contains("empty"));
        assert!(error("<html>").contains("expected value"));
    }
}
