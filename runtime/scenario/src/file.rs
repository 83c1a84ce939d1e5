//! Scenario files: `NAME.scenario.json`.
//!
//! UTF-8 JSON with a stable key order and one object per line, so that files diff and merge well. Unknown
//! keys, wrong values and duplicate ids are errors that state the line, the key and what was expected.

mod migrate;
mod salvage;
mod vehicle_entry;

pub use crate::json_text::{FileError, TextError, from_json, save_text};
pub use migrate::VERSION;
pub use salvage::{Salvage, salvage};

use crate::agents::{Agent, Flow};
use crate::edit::Edit;
use crate::group::Group;
use crate::ids::{
    AgentId, FlowId, ForestId, GroupId, LandId, NodeId, ObstacleId, PaintId, PointOfInterestId,
    RoadId,
};
use crate::json_text::Writer;
use crate::junction_rules::JunctionRules;
use crate::land::Land;
use crate::list_order::ListOrder;
use crate::network::Node;
use crate::objects::{Forest, Obstacle, PointOfInterest};
use crate::paint::PaintLayer;
use crate::road::Road;
use crate::scenario::{About, Scenario, Settings};
use crate::stack::Stack;
use crate::unique_map::UniqueMap;
use crate::vehicle_type::VehicleType;
use roadwright_geometry::HeightField;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use vehicle_entry::{VehicleEntry, VehicleFiles, WrittenType, resolve};

/// The value of the key `format` in every scenario file.
pub const FORMAT: &str = "roadwright-scenario";

/// Maximum size of a scenario file, bytes. A city of a million people takes about 30 MB.
const LARGEST: u64 = 512 * roadwright_files::MEBIBYTE;

/// A scenario file, key by key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Roadwright scenario")]
#[allow(
    dead_code,
    reason = "`format` and `version` are read by the header first"
)]
struct Document {
    /// Always `roadwright-scenario`.
    #[schemars(extend("const" = FORMAT))]
    format: String,
    /// Version of the format.
    #[schemars(range(min = 1, max = VERSION))]
    version: u32,
    /// Descriptive data of the scenario.
    about: About,
    /// Simulation settings.
    settings: Settings,
    /// Vehicle types by key.
    #[serde(default)]
    vehicle_types: UniqueMap<String, VehicleEntry>,
    /// Stacks of modules by key.
    #[serde(default)]
    stacks: UniqueMap<String, Stack>,
    /// Junctions and road ends by id.
    #[serde(default)]
    nodes: UniqueMap<NodeId, Node>,
    /// Rules of junctions, by node.
    #[serde(default)]
    junctions: UniqueMap<NodeId, JunctionRules>,
    /// Roads by id.
    #[serde(default)]
    roads: UniqueMap<RoadId, Road>,
    /// Height of the ground.
    #[serde(default)]
    terrain: Option<HeightField>,
    /// Obstacles by id.
    #[serde(default)]
    obstacles: UniqueMap<ObstacleId, Obstacle>,
    /// Forests by id.
    #[serde(default)]
    forests: UniqueMap<ForestId, Forest>,
    /// Areas of land by id: the surface of the ground. They have no effect on driving.
    #[serde(default)]
    land: UniqueMap<LandId, Land>,
    /// Layers of painted ground by id: costs for vehicles that drive off the lanes.
    #[serde(default)]
    paint: UniqueMap<PaintId, PaintLayer>,
    /// Named places by id.
    #[serde(default)]
    points_of_interest: UniqueMap<PointOfInterestId, PointOfInterest>,
    /// Agents by id.
    #[serde(default)]
    agents: UniqueMap<AgentId, Agent>,
    /// Streams of agents by id.
    #[serde(default)]
    flows: UniqueMap<FlowId, Flow>,
    /// Groups of objects by id. The objects of a group are selected together. Groups have no effect
    /// on a run.
    #[serde(default)]
    groups: UniqueMap<GroupId, Group>,
    /// The order in which lists show vehicle types and stacks. It has no effect on a run.
    #[serde(default)]
    order: ListOrder,
}

/// Loads a scenario from a file.
///
/// # Errors
/// If the file cannot be read or is not a scenario of a known version.
pub fn load(path: &Path) -> Result<Scenario, FileError> {
    let io = |error| FileError::Io {
        path: path.to_owned(),
        error,
    };
    let text = roadwright_files::read_text(path, LARGEST).map_err(io)?;
    let folder = VehicleFiles::Folder(path.parent().unwrap_or(Path::new(".")));
    read_text(&text, folder).map_err(|error| FileError::Text {
        path: path.to_owned(),
        error,
    })
}

/// Writes a scenario to a file atomically, by writing a temporary file beside it and renaming that file.
/// Links are followed and permissions kept, as described at [`roadwright_files::Beside`].
///
/// # Errors
/// If the file cannot be written. Its previous contents are then unchanged.
pub fn save(scenario: &Scenario, path: &Path) -> Result<(), FileError> {
    save_text(&text_at(scenario, path), path)
}

/// Returns the text of a scenario as [`save`] writes it to a path: vehicles whose files exist relative to
/// that path are stored as references.
pub fn text_at(scenario: &Scenario, path: &Path) -> String {
    let folder = path.parent().unwrap_or(Path::new("."));
    write_text(scenario, VehicleFiles::Folder(folder))
}

/// Reads a scenario from text. The text has to contain all its vehicles.
///
/// # Errors
/// If the text is not a scenario of a known version.
pub fn from_text(text: &str) -> Result<Scenario, TextError> {
    read_text(text, VehicleFiles::None)
}

/// Reads a scenario from its text. `files` contains the paths of vehicle files, as named by the
/// scenario, and their texts.
///
/// # Errors
/// If the text is not a scenario of a known version, or if one of the files is not a vehicle.
pub fn from_text_with(text: &str, files: &[(&str, &str)]) -> Result<Scenario, TextError> {
    read_text(text, VehicleFiles::Given(files))
}

fn read_text(text: &str, files: VehicleFiles<'_>) -> Result<Scenario, TextError> {
    // Nearly all files are valid and of this version. Tracking the path of each key, which error
    // messages need, would take 50 % longer.
    if let Ok(document) = serde_json::from_str::<Document>(text)
        && document.format == FORMAT
        && document.version == VERSION
    {
        return assemble(document, text, files);
    }
    // If that fails, the header is read first. A file of a newer version may have keys that this
    // version rejects, and "update Roadwright" is more helpful than "unknown field".
    let header = migrate::header(text)?;
    if header < VERSION {
        // Line numbers in errors refer to the migrated text, if the text had to be migrated.
        return match migrate::migrate(text, header)? {
            Some(migrated) => parse(&migrated, files),
            None => parse(text, files),
        };
    }
    parse(text, files)
}

fn parse(text: &str, files: VehicleFiles<'_>) -> Result<Scenario, TextError> {
    // Parsed in two steps. serde checks keys, types and ranges and knows the position of errors.
    // The edits check relations between objects but know only ids, so `line_of` is needed.
    assemble(from_json::<Document>(text)?, text, files)
}

/// Builds the scenario of a document by applying edits, so that files and edits are checked by the
/// same rules.
fn assemble(
    mut document: Document,
    text: &str,
    files: VehicleFiles<'_>,
) -> Result<Scenario, TextError> {
    let vehicle_types = vehicle_types(&mut document, text, files)?;
    for (id, rules) in std::mem::take(&mut document.junctions) {
        let Some(node) = document.nodes.get_mut(&id) else {
            return Err(TextError {
                line: line_of(text, "junctions", &id.0.to_string()),
                column: 0,
                key: format!("junctions.{}", id.0),
                message: "there is no node with this id".into(),
            });
        };
        node.rules = rules;
    }
    let mut scenario = Scenario::default();
    // Since the file is read as edits, the same rules apply: a road joins existing nodes, an agent
    // has a known vehicle type, and so on.
    for (section, key, edit) in edits(document, vehicle_types) {
        scenario.apply(edit).map_err(|error| TextError {
            line: line_of(text, section, &key),
            column: 0,
            key: format!("{section}.{key}").trim_end_matches('.').into(),
            message: error.to_string(),
        })?;
    }
    Ok(scenario)
}

/// Returns the vehicle types of a document, including those in separate files.
fn vehicle_types(
    document: &mut Document,
    text: &str,
    files: VehicleFiles<'_>,
) -> Result<BTreeMap<String, VehicleType>, TextError> {
    let entries = std::mem::take(&mut document.vehicle_types).into_iter();
    let types = entries.map(|(key, entry)| match resolve(entry, files) {
        Ok(kind) => Ok((key, kind)),
        Err(message) => Err(TextError {
            line: line_of(text, "vehicle_types", &key),
            column: 0,
            key: format!("vehicle_types.{key}"),
            message,
        }),
    });
    types.collect()
}

/// Returns the edits that make up a document, each with its section and key. Objects precede the objects that
/// refer to them.
fn edits(
    document: Document,
    vehicle_types: BTreeMap<String, VehicleType>,
) -> impl Iterator<Item = (&'static str, String, Edit)> {
    let about = Edit::About(Box::new(document.about));
    let settings = Edit::Settings(document.settings);
    let order = Edit::Order(Box::new(document.order));
    let terrain = document.terrain.map(|t| Edit::Terrain(Some(Box::new(t))));
    [
        ("about", String::new(), about),
        ("settings", String::new(), settings),
    ]
    .into_iter()
    .chain(terrain.map(|edit| ("terrain", String::new(), edit)))
    .chain(section("vehicle_types", vehicle_types, |key, v| {
        (key.clone(), Edit::VehicleType(key, Some(Box::new(v))))
    }))
    .chain(section("stacks", document.stacks, |key, v| {
        (key.clone(), Edit::Stack(key, Some(Box::new(v))))
    }))
    .chain(section("nodes", document.nodes, |id, v| {
        (id.0.to_string(), Edit::Node(id, Some(v)))
    }))
    .chain(section("roads", document.roads, |id, v| {
        (id.0.to_string(), Edit::Road(id, Some(Box::new(v))))
    }))
    .chain(section("obstacles", document.obstacles, |id, v| {
        (id.0.to_string(), Edit::Obstacle(id, Some(Box::new(v))))
    }))
    .chain(section("forests", document.forests, |id, v| {
        (id.0.to_string(), Edit::Forest(id, Some(Box::new(v))))
    }))
    .chain(section("land", document.land, |id, v| {
        (id.0.to_string(), Edit::Land(id, Some(Box::new(v))))
    }))
    .chain(section("paint", document.paint, |id, v| {
        (id.0.to_string(), Edit::Paint(id, Some(Box::new(v))))
    }))
    .chain(section(
        "points_of_interest",
        document.points_of_interest,
        |id, v| {
            (
                id.0.to_string(),
                Edit::PointOfInterest(id, Some(Box::new(v))),
            )
        },
    ))
    .chain(section("agents", document.agents, |id, v| {
        (id.0.to_string(), Edit::Agent(id, Some(Box::new(v))))
    }))
    .chain(section("flows", document.flows, |id, v| {
        (id.0.to_string(), Edit::Flow(id, Some(Box::new(v))))
    }))
    .chain(section("groups", document.groups, |id, v| {
        (id.0.to_string(), Edit::Group(id, Some(Box::new(v))))
    }))
    .chain([("order", String::new(), order)])
}

/// Returns the edits of one section. For each object, `edit` returns its key in the file and the
/// edit that inserts it.
fn section<K, V>(
    name: &'static str,
    objects: impl IntoIterator<Item = (K, V)>,
    edit: impl Fn(K, V) -> (String, Edit),
) -> impl Iterator<Item = (&'static str, String, Edit)> {
    objects.into_iter().map(move |(id, value)| {
        let (key, edit) = edit(id, value);
        (name, key, edit)
    })
}

/// Returns the line on which an object starts, found by its section and key; 0 if it is not found.
fn line_of(text: &str, section: &str, key: &str) -> usize {
    let (section, key) = (format!("\"{section}\""), format!("\"{key}\""));
    // In files written by Roadwright, each object is on its own line. In other files, the line may
    // not be found, or an equal key farther down may be found. This is acceptable, because the line
    // is only a hint: errors also name the key.
    let mut lines = (1..)
        .zip(text.lines())
        .skip_while(|(_, line)| !line.contains(&section));
    lines
        .find(|(_, line)| line.trim_start().starts_with(&key))
        .map_or(0, |(number, _)| number)
}

/// Returns the text of a scenario, including everything that it needs. Equal scenarios give the same bytes.
pub fn to_text(scenario: &Scenario) -> String {
    write_text(scenario, VehicleFiles::None)
}

fn write_text(scenario: &Scenario, files: VehicleFiles<'_>) -> String {
    // The order is that of `Document`. Maps are ordered by key and numbers are written in their
    // shortest form, so that equal scenarios give equal bytes. Tests, hashes and version control
    // rely on this.
    let mut out = Writer::new();
    out.value("format", &FORMAT);
    out.value("version", &VERSION);
    out.value("about", &scenario.about);
    out.value("settings", &scenario.settings);
    let types = scenario.vehicle_types.iter();
    let types = types.map(|(key, kind)| (key, WrittenType(kind, files)));
    out.entries("vehicle_types", types);
    out.map("stacks", &scenario.stacks);
    out.entries("nodes", scenario.network.nodes());
    let nodes = scenario.network().nodes();
    let decided = nodes.filter(|(_, node)| !node.rules.is_empty());
    out.entries("junctions", decided.map(|(id, node)| (id, &node.rules)));
    out.entries("roads", scenario.network.roads());
    if let Some(terrain) = scenario.terrain() {
        out.value("terrain", terrain);
    }
    out.map("obstacles", &scenario.obstacles);
    out.map("forests", &scenario.forests);
    out.map("land", &scenario.land);
    // Written only if present, so that versions that do not know painted ground can read all other
    // files.
    if !scenario.paint.is_empty() {
        out.map("paint", &scenario.paint);
    }
    out.map("points_of_interest", &scenario.points_of_interest);
    out.map("agents", &scenario.agents);
    out.map("flows", &scenario.flows);
    // Written only if present, so that versions that do not know groups can read all other files.
    if !scenario.groups.is_empty() {
        out.map("groups", &scenario.groups);
    }
    // The same applies to the list order.
    if !scenario.order.is_by_name() {
        out.value("order", &scenario.order);
    }
    out.finish()
}

/// Returns the JSON Schema of scenario files, as text.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Document);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain data");
    text.push('\n');
    text
}
