//! Salvages the readable parts of a damaged scenario, for example if a file was truncated, a line
//! was damaged by manual editing, or an object is invalid.
//!
//! Nothing is guessed. Invalid JSON is repaired by leaving out its broken lines and closing open
//! brackets. Then each object is read separately and inserted by an edit, as for any other file.
//! Objects that fail are left out, with the reason.

use super::vehicle_entry::{VehicleEntry, VehicleFiles, resolve};
use super::{FORMAT, FileError, LARGEST, TextError, from_json, line_of, migrate};
use crate::edit::Edit;
use crate::ids::{
    AgentId, FlowId, ForestId, GroupId, LandId, NodeId, ObstacleId, PaintId, PointOfInterestId,
    RoadId,
};
use crate::json_text::json_error;
use crate::scenario::Scenario;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of broken lines that are left out. A text with more broken lines is not treated
/// as a scenario.
const MOST_LINES: usize = 200;

/// Result of salvaging a damaged scenario.
#[derive(Debug)]
pub struct Salvage {
    /// A valid scenario made of the objects that could be read.
    pub scenario: Scenario,
    /// Number of objects in the scenario: nodes, roads, obstacles and so on.
    pub kept: usize,
    /// Objects and lines that were left out, with reasons, in the order of the file's sections.
    pub left_out: Vec<TextError>,
}

/// Reads the readable parts of a damaged scenario file, without changing the file.
///
/// # Errors
/// If the file cannot be read, or is not a Roadwright scenario of a known version.
pub fn salvage(path: &Path) -> Result<Salvage, FileError> {
    let bytes = roadwright_files::read(path, LARGEST).map_err(|error| FileError::Io {
        path: path.to_owned(),
        error,
    })?;
    // Invalid bytes become characters that no key contains.
    let text = String::from_utf8_lossy(&bytes);
    let folder = VehicleFiles::Folder(path.parent().unwrap_or(Path::new(".")));
    salvage_text(&text, folder).map_err(|error| FileError::Text {
        path: path.to_owned(),
        error,
    })
}

fn salvage_text(text: &str, files: VehicleFiles<'_>) -> Result<Salvage, TextError> {
    let (mended, broken) = mend(text)?;
    let version = migrate::header(&mended)?;
    let migrated = migrate::migrate(&mended, version)?;
    let document: Map<String, Value> = from_json(&migrated.unwrap_or(mended))?;
    let mut reading = Reading {
        text,
        sections: document,
        scenario: Scenario::default(),
        kept: 0,
        left_out: broken,
    };
    reading.all(files);
    Ok(Salvage {
        scenario: reading.scenario,
        kept: reading.kept,
        left_out: reading.left_out,
    })
}

/// Returns the text as valid JSON, and the lines that had to be left out.
fn mend(text: &str) -> Result<(String, Vec<TextError>), TextError> {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut broken = Vec::new();
    let mut mended = text.to_owned();
    // A truncated file may end with a partial line, so one attempt more than the maximum number of
    // omitted lines is made.
    for _ in 0..=MOST_LINES {
        let error = match serde_json::from_str::<Value>(&mended) {
            Ok(_) => return Ok((mended, broken)),
            Err(error) => error,
        };
        if !mended.contains(FORMAT) {
            return Err(json_error(&error, ""));
        }
        let is_cut_off = error.classify() == Category::Eof;
        let line = lines.get_mut(error.line().wrapping_sub(1));
        match line.filter(|line| !line.trim().is_empty()) {
            // If a text lacks only its closing brackets, its last line is valid.
            Some(line) if is_cut_off && is_whole(line) => {}
            Some(line) => {
                let error = json_error(&error, "");
                broken.push(TextError {
                    message: format!("this line was skipped: {}", error.message),
                    ..error
                });
                *line = "";
            }
            None if is_cut_off => {}
            None => return Err(json_error(&error, "")),
        }
        mended = closed(&lines);
    }
    Err(TextError::whole(
        "",
        "too much of the file is damaged".into(),
    ))
}

/// Whether a line contains a complete object or opens a section. Incomplete objects are discarded.
fn is_whole(line: &str) -> bool {
    let (mut open, mut all) = (0i32, 0);
    let (mut in_string, mut escaped) = (false, false);
    for letter in line.chars() {
        match letter {
            '"' if !escaped => in_string = !in_string,
            '{' | '[' if !in_string => (open, all) = (open + 1, all + 1),
            '}' | ']' if !in_string => (open, all) = (open - 1, all + 1),
            _ => {}
        }
        escaped = letter == '\\' && !escaped;
    }
    let end = line.trim_end();
    let opens = all == 1 && end.ends_with(['{', '[']);
    !in_string && (opens || open <= 0 && end.ends_with(['}', ']', ',']))
}

/// Joins lines, closes all brackets, and removes commas before closing brackets. Line numbers stay the same.
fn closed(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut open = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    // Position of the last comma, if only white space follows it.
    let mut comma = None;
    for letter in lines.iter().flat_map(|line| line.chars().chain(['\n'])) {
        if in_string {
            in_string = letter != '"' || escaped;
            escaped = letter == '\\' && !escaped;
            // Strings do not continue on the next line.
            if letter == '\n' {
                (in_string, escaped) = (false, false);
                text.push('"');
            }
        } else {
            match letter {
                '"' => in_string = true,
                '{' | '[' => open.push(if letter == '{' { '}' } else { ']' }),
                '}' | ']' => {
                    if let Some(at) = comma {
                        text.replace_range(at..=at, " ");
                    }
                    // A surplus bracket is ignored.
                    if open.pop().is_none() {
                        continue;
                    }
                }
                _ => {}
            }
            if letter == ',' {
                comma = Some(text.len());
            } else if !letter.is_whitespace() {
                comma = None;
            }
        }
        text.push(letter);
    }
    if let Some(at) = comma {
        text.replace_range(at..=at, " ");
    }
    text.extend(open.into_iter().rev());
    text
}

/// A document that is read one object at a time.
struct Reading<'a> {
    text: &'a str,
    sections: Map<String, Value>,
    scenario: Scenario,
    kept: usize,
    left_out: Vec<TextError>,
}

impl Reading<'_> {
    /// Reads all sections. Objects precede the objects that refer to them.
    fn all(&mut self, files: VehicleFiles<'_>) {
        self.value("about", |about| Edit::About(Box::new(about)));
        self.value("settings", Edit::Settings);
        self.value("terrain", |terrain| Edit::Terrain(Some(Box::new(terrain))));
        self.objects("vehicle_types", |key: String, entry: VehicleEntry| {
            let kind = resolve(entry, files)?;
            Ok(Edit::VehicleType(key, Some(Box::new(kind))))
        });
        self.objects("stacks", |key: String, stack| {
            Ok(Edit::Stack(key, Some(Box::new(stack))))
        });
        self.give_standards();
        self.objects("nodes", |id, node| Ok(Edit::Node(NodeId(id), Some(node))));
        self.junctions();
        self.objects("roads", |id, road| {
            Ok(Edit::Road(RoadId(id), Some(Box::new(road))))
        });
        self.objects("obstacles", |id, obstacle| {
            Ok(Edit::Obstacle(ObstacleId(id), Some(Box::new(obstacle))))
        });
        self.objects("forests", |id, forest| {
            Ok(Edit::Forest(ForestId(id), Some(Box::new(forest))))
        });
        self.objects("land", |id, land| {
            Ok(Edit::Land(LandId(id), Some(Box::new(land))))
        });
        self.objects("paint", |id, layer| {
            Ok(Edit::Paint(PaintId(id), Some(Box::new(layer))))
        });
        self.objects("points_of_interest", |id, point| {
            Ok(Edit::PointOfInterest(
                PointOfInterestId(id),
                Some(Box::new(point)),
            ))
        });
        self.objects("agents", |id, agent| {
            Ok(Edit::Agent(AgentId(id), Some(Box::new(agent))))
        });
        self.objects("flows", |id, flow| {
            Ok(Edit::Flow(FlowId(id), Some(Box::new(flow))))
        });
        self.objects("groups", |id, group| {
            Ok(Edit::Group(GroupId(id), Some(Box::new(group))))
        });
        self.value("order", |order| Edit::Order(Box::new(order)));
        for known in ["format", "version"] {
            self.sections.remove(known);
        }
        for section in std::mem::take(&mut self.sections)
            .into_iter()
            .map(|(key, _)| key)
        {
            self.leave_out(&section, "", "unknown section".into());
        }
    }

    /// Inserts the default vehicle types or stacks of new scenarios if none were salvaged.
    fn give_standards(&mut self) {
        let standard = Scenario::new("");
        if self.scenario.vehicle_types().is_empty() {
            for (key, kind) in standard.vehicle_types() {
                let edit = Edit::VehicleType(key.clone(), Some(Box::new(kind.clone())));
                // The contents of a new scenario are valid, so this cannot fail.
                let _ = self.put(edit);
            }
        }
        if self.scenario.stacks().is_empty() {
            for (key, stack) in standard.stacks() {
                let _ = self.put(Edit::Stack(key.clone(), Some(Box::new(stack.clone()))));
            }
        }
    }

    fn leave_out(&mut self, section: &str, key: &str, message: String) {
        let line = if key.is_empty() {
            0
        } else {
            line_of(self.text, section, key)
        };
        self.left_out.push(TextError {
            line,
            column: 0,
            key: format!("{section}.{key}").trim_end_matches('.').into(),
            message,
        });
    }

    /// Reads a section that consists of a single value. If it is missing, the default of a new
    /// scenario is kept.
    fn value<V: DeserializeOwned>(&mut self, section: &str, edit: impl FnOnce(V) -> Edit) {
        let Some(value) = self.sections.remove(section) else {
            return;
        };
        let read = from_value(value).map(edit);
        let done = read.and_then(|edit| self.put(edit));
        if let Err(message) = done {
            self.leave_out(section, "", message);
        }
    }

    /// Reads a section of objects by their keys.
    fn objects<K, V>(&mut self, section: &str, edit: impl Fn(K, V) -> Result<Edit, String>)
    where
        K: std::str::FromStr + Ord,
        V: DeserializeOwned,
    {
        for (key, value) in self.entries(section) {
            let read = key.parse::<K>().map_err(|_| "not a valid id".to_owned());
            let read = read.and_then(|id| edit(id, from_value(value)?));
            match read.and_then(|edit| self.put(edit)) {
                Ok(()) => self.kept += 1,
                Err(message) => self.leave_out(section, &key, message),
            }
        }
    }

    /// Reads the rules of junctions, which are stored in the nodes of the scenario.
    fn junctions(&mut self) {
        for (key, value) in self.entries("junctions") {
            let id = key.parse().ok().map(NodeId);
            let node = id.and_then(|id| Some((id, self.scenario.network().node(id)?.clone())));
            let done = match node {
                None => Err("there is no node with this id".into()),
                Some((id, mut node)) => from_value(value).and_then(|rules| {
                    node.rules = rules;
                    self.put(Edit::Node(id, Some(node)))
                }),
            };
            if let Err(message) = done {
                self.leave_out("junctions", &key, message);
            }
        }
    }

    /// Returns the entries of a section, in numerical order if their keys are numbers.
    fn entries(&mut self, section: &str) -> Vec<(String, Value)> {
        match self.sections.remove(section) {
            None => Vec::new(),
            Some(Value::Object(map)) => {
                let by_number: BTreeMap<(u64, String), Value> = map
                    .into_iter()
                    .map(|(key, value)| ((key.parse().unwrap_or(u64::MAX), key), value))
                    .collect();
                let entries = by_number.into_iter();
                entries.map(|((_, key), value)| (key, value)).collect()
            }
            Some(_) => {
                self.leave_out(
                    section,
                    "",
                    "expected an object with one entry per id".into(),
                );
                Vec::new()
            }
        }
    }

    fn put(&mut self, edit: Edit) -> Result<(), String> {
        let done = self.scenario.apply(edit);
        done.map(drop).map_err(|error| error.to_string())
    }
}

fn from_value<V: DeserializeOwned>(value: Value) -> Result<V, String> {
    // Parsed from text, so that error messages name keys in the same way as for whole files.
    from_json(&value.to_string()).map_err(|error| error.to_string())
}
