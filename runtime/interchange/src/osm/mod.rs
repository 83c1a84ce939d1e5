//! OpenStreetMap import.
//!
//! [`read`] converts XML or PBF bytes to plain elements, and [`import`] converts these to a
//! scenario. Nothing is dropped silently: the summary lists what was left out and why.

mod bus_lanes;
mod carriageways;
mod change_lanes;
mod clip;
mod conditional;
mod crossings;
mod elements;
mod land;
mod lane_counts;
mod lane_lists;
mod minis;
mod pbf;
mod placement;
mod projection;
mod ranks;
mod restrictions;
mod roads;
mod signs;
mod split_arms;
mod tags;
mod trams;
mod turn_lanes;
mod turning_circles;
mod via_ways;
mod xml;

pub use elements::{CrossingTags, Elements, OsmNode, Relation, Sign, SignKind, Tags, Way};
pub use projection::{LocalProjection, great_circle_distance};

use glam::DVec2;
use roadwright_geometry::GeometryError;
use roadwright_scenario::junction::{Layout, layout};
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::{
    DrivingSide, EditError, GeoOrigin, LaneChange, RoadAccess, RoadId, RoadNetwork, Scenario,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Attribution that is required wherever OpenStreetMap data are shown. Imported scenarios contain
/// it unless the file is hand-made. A file counts as hand-made if no attribute names OpenStreetMap
/// or a tool for its extracts, and no node has an id of the OpenStreetMap database.
pub const ATTRIBUTION: &str = "(c) OpenStreetMap contributors, ODbL 1.0";

/// Reason why a file cannot be imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The error that the system reported.
        error: std::io::Error,
    },
    /// The file is neither OSM XML nor PBF.
    #[error("not OpenStreetMap data: {0}. Expected .osm XML (starting with <osm>) or .osm.pbf")]
    Foreign(String),
    /// The OSM data are damaged or cut off.
    #[error("damaged OpenStreetMap data{}: {what}", place(*.line))]
    Damaged {
        /// Line number from 1; 0 if it is not known.
        line: usize,
        /// Description of the problem.
        what: String,
    },
    /// The OSM data require a feature that is not supported.
    #[error(
        "the file needs {0}, which is not supported; convert it, for instance with \
         `osmium cat --output-format=pbf`"
    )]
    Unsupported(String),
    /// There is no drivable way.
    #[error("no road for motor vehicles found{0}")]
    NoRoads(&'static str),
    /// The geometry of a way cannot be built, because coordinates are out of range.
    #[error("way {way}: {error}")]
    Geometry {
        /// Id of the way.
        way: i64,
        /// Problem of the geometry.
        error: GeometryError,
    },
    /// The scenario rejects an object.
    #[error(transparent)]
    Edit(#[from] EditError),
}

fn place(line: usize) -> String {
    if line == 0 {
        String::new()
    } else {
        format!(" (line {line})")
    }
}

/// A box between two meridians and two parallels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeoBox {
    /// Western edge, degrees.
    pub west: f64,
    /// Southern edge, degrees.
    pub south: f64,
    /// Eastern edge, degrees.
    pub east: f64,
    /// Northern edge, degrees.
    pub north: f64,
}

impl GeoBox {
    /// Whether a node is inside the box.
    pub fn contains(&self, node: &OsmNode) -> bool {
        (self.west..=self.east).contains(&node.longitude)
            && (self.south..=self.north).contains(&node.latitude)
    }
}

/// Options of an import.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Name of the scenario.
    pub name: String,
    /// Box to which the import is limited. Roads are cut at its edge.
    pub clip: Option<GeoBox>,
    /// Driving side; `None` for the driving side of the country.
    pub driving_side: Option<DrivingSide>,
    /// Country whose traffic law applies, as its code in ISO 3166-1 alpha-2; `None` for the country that
    /// contains the middle of the data.
    pub country: Option<String>,
    /// Whether to import only roads and their equipment, without buildings, parks and waters.
    pub roads_only: bool,
}

/// Objects of one kind that were left out or changed, and how many.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportWarning {
    /// The kind of objects, and the reason.
    pub reason: String,
    /// Number of cases.
    pub count: usize,
    /// The first few objects, as OSM ids such as `way 123`. Merged junctions are given by their ids
    /// in the scenario.
    pub examples: Vec<String>,
    /// Position of each example, m; `None` if it is not known. This is the position of the node, or
    /// of the first node of a way or relation.
    pub places: Vec<Option<DVec2>>,
}

/// Maximum number of examples. A city has thousands of footpaths, and a few ids are enough to look some up.
const EXAMPLES: usize = 5;

/// Collects warnings by reason.
#[derive(Debug, Default)]
pub(crate) struct Warnings(BTreeMap<String, (usize, Vec<String>)>);

impl Warnings {
    /// Counts an object, given as an OSM id such as `way 123`.
    pub(crate) fn add(&mut self, reason: impl Into<String>, object: String) {
        let (count, examples) = self.0.entry(reason.into()).or_default();
        *count += 1;
        if examples.len() < EXAMPLES {
            examples.push(object);
        }
    }

    fn into_list(self, elements: &Elements, origin: Option<GeoOrigin>) -> Vec<ImportWarning> {
        let projection = origin.map(|origin| {
            LocalProjection::new(origin.latitude_deg.get(), origin.longitude_deg.get())
        });
        let place = |object: &String| {
            let first = first_node(elements, object)?;
            Some(projection?.to_world(first.latitude, first.longitude))
        };
        let warning = |(reason, (count, examples)): (String, (usize, Vec<String>))| ImportWarning {
            reason,
            count,
            places: examples.iter().map(place).collect(),
            examples,
        };
        self.0.into_iter().map(warning).collect()
    }
}

/// Returns the first node of an element, which is given in the form `way 123`; `None` if it is not in the
/// data.
fn first_node<'a>(elements: &'a Elements, object: &str) -> Option<&'a OsmNode> {
    let (kind, id) = object.split_once(' ')?;
    let id: i64 = id.split(' ').next()?.parse().ok()?;
    let of_way = |id: i64| {
        let mut ways = [&elements.ways, &elements.trams, &elements.areas]
            .into_iter()
            .flatten();
        let way = ways.find(|way| way.id == id)?;
        way.nodes.iter().find_map(|node| elements.nodes.get(node))
    };
    match kind {
        "node" => elements.nodes.get(&id),
        "way" => of_way(id),
        "relation" => {
            let lists = [&elements.restrictions, &elements.multipolygons];
            let relation = lists
                .into_iter()
                .flatten()
                .find(|relation| relation.id == id)?;
            let mut members = relation.members.iter();
            members.find_map(|(kind, id, _)| match kind {
                'n' => elements.nodes.get(id),
                'w' => of_way(*id),
                _ => None,
            })
        }
        _ => None,
    }
}

/// A carriageway whose lanes were moved away from its line, because they would have overlapped others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MovedCarriageway {
    /// OSM id of the way.
    pub way: i64,
    /// The road that was made of the way, or of a part of it.
    pub road: RoadId,
    /// Largest displacement, m. It is at most half the width of the carriageway.
    pub by: f64,
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportSummary {
    /// Number of drivable ways, inside the box if there is one.
    pub ways: usize,
    /// Number of roads created from the ways. Ways are cut where they meet.
    pub roads: usize,
    /// Number of places where three or more road ends meet.
    pub junctions: usize,
    /// Number of drivable lanes; each lane is counted once per road and direction.
    pub lanes: usize,
    /// Total length of the reference lines, km.
    pub road_km: f64,
    /// Total length of the drivable lanes between junctions, km.
    pub lane_km: f64,
    /// Number of traffic signals on drivable ways.
    pub signals: usize,
    /// Number of junctions and crossings with signals.
    pub controllers: usize,
    /// Number of signals on drivable ways that could not be assigned to a road of the scenario.
    pub signals_unassigned: usize,
    /// Number of stop and give-way signs at junctions.
    pub signs: usize,
    /// Number of mini roundabouts mapped as a single node.
    pub mini_roundabouts: usize,
    /// Number of turning circles at the ends of streets. The lanes there were moved apart so that
    /// cars can turn around.
    pub turning_circles: usize,
    /// Number of pedestrian crossings assigned to an arm.
    pub crossings: usize,
    /// Number of pedestrian crossings on drivable ways that belong to no arm.
    pub crossings_unassigned: usize,
    /// Number of imported turn restrictions.
    pub restrictions: usize,
    /// Number of lanes with arrows.
    pub turn_lanes: usize,
    /// Number of imported turn restrictions that include via ways.
    pub via_restrictions: usize,
    /// Number of imported turn restrictions that apply only at certain times.
    pub timed_restrictions: usize,
    /// Number of lanes with a line that vehicles must not cross to change lanes.
    pub lane_changes: usize,
    /// Number of buildings, which are fixed obstacles. A building with a road through it may be
    /// counted several times.
    pub buildings: usize,
    /// Number of areas of land, such as parks, waters and other land uses.
    pub land: usize,
    /// Number of roads and their total length, km, for each kind of access that occurs.
    pub access: BTreeMap<RoadAccess, (usize, f64)>,
    /// Side of the road on which traffic drives.
    pub driving_side: DrivingSide,
    /// Country whose traffic law applies, as its code in ISO 3166-1 alpha-2; empty for none.
    pub country: String,
    /// Carriageways that were moved apart, in order of their roads.
    pub moved_carriageways: Vec<MovedCarriageway>,
    /// Objects that were left out, and why.
    pub warnings: Vec<ImportWarning>,
}

/// Maximum size of an OSM file, bytes. This is enough for a region but not for a continent.
const LARGEST: u64 = 2048 * roadwright_files::MEBIBYTE;

/// Reads the elements of an .osm or .osm.pbf file. The format is detected by the content.
///
/// # Errors
/// If the file cannot be read, contains no OSM data, or is damaged.
pub fn read_file(path: &Path) -> Result<Elements, ImportError> {
    let bytes = roadwright_files::read(path, LARGEST).map_err(|error| ImportError::Io {
        path: path.to_owned(),
        error,
    })?;
    read(&bytes)
}

/// Reads the elements of OSM XML or PBF bytes.
///
/// # Errors
/// If the bytes are not OSM data, or are damaged.
pub fn read(bytes: &[u8]) -> Result<Elements, ImportError> {
    // Detected by content and not by name, because files are renamed and piped. Whitespace and a byte order
    // mark may precede the first tag of an XML file. A PBF file starts with a length of four bytes and the
    // name of its first blob.
    let text_start = bytes
        .iter()
        .position(|b| !b.is_ascii_whitespace() && !b"\xEF\xBB\xBF".contains(b));
    match text_start {
        None => Err(ImportError::Foreign("the file is empty".into())),
        Some(start) if bytes[start] == b'<' => xml::read(bytes),
        Some(_)
            if bytes
                .get(4..64)
                .is_some_and(|head| contains(head, b"OSMHeader")) =>
        {
            pbf::read(bytes)
        }
        Some(_) => Err(ImportError::Foreign("unknown content".into())),
    }
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

/// Creates a scenario from OSM elements.
///
/// Every way for motor vehicles becomes one or more roads, which are cut where ways meet and at signals away
/// from junctions. Node ids and road ids increase in the order of the data.
///
/// # Errors
/// If there is no drivable road, or coordinates are out of range.
pub fn import(
    elements: &Elements,
    options: &ImportOptions,
) -> Result<(Scenario, ImportSummary), ImportError> {
    let mut warnings = Warnings::default();
    let built = roads::build(elements, options, &mut warnings)?;
    let restrictions = restrictions::collect(elements, &built, &mut warnings);
    let (mut scenario, counts) = built.into_scenario(options, &restrictions, &mut warnings)?;
    let layout = layout(scenario.network(), scenario.about());
    let graph = LaneGraph::new(&scenario, &layout);
    let land = if options.roads_only {
        land::Counts::default()
    } else {
        land::add(elements, options, &mut scenario, &graph, &mut warnings)?
    };
    let summary = ImportSummary {
        buildings: land.buildings,
        land: land.areas,
        ways: counts.ways,
        signals: counts.signals,
        controllers: counts.controllers,
        signals_unassigned: counts.signals_unassigned,
        signs: counts.signs,
        mini_roundabouts: counts.mini_roundabouts,
        turning_circles: counts.turning_circles,
        crossings: counts.crossings,
        crossings_unassigned: counts.crossings_unassigned,
        moved_carriageways: counts.moved,
        restrictions: restrictions.at.values().map(Vec::len).sum(),
        via_restrictions: restrictions.via.values().map(Vec::len).sum(),
        timed_restrictions: restrictions.timed.values().map(Vec::len).sum(),
        warnings: warnings
            .into_list(elements, scenario.about().origin)
            .into_iter()
            .chain(merged(&layout))
            .collect(),
        ..measured(&scenario, &layout, &graph)
    };
    Ok((scenario, summary))
}

/// Returns a warning about junctions that were merged from several nodes very close to each other;
/// `None` if there are no such junctions. The examples in the warning are ids of scenario nodes,
/// because the data have no element for a junction.
fn merged(layout: &Layout) -> Option<ImportWarning> {
    let junctions = layout.junctions.iter();
    let merged = junctions.filter(|junction| junction.nodes.len() > 1 && junction.is_crossing());
    let merged: Vec<_> = merged.collect();
    let first = merged.iter().take(EXAMPLES);
    (!merged.is_empty()).then(|| ImportWarning {
        reason: "junctions merged because they are so close together".into(),
        count: merged.len(),
        examples: first.clone().map(|j| j.nodes[0].to_string()).collect(),
        places: first.map(|junction| Some(junction.centre)).collect(),
    })
}

/// Returns a summary with the values that can be derived from the scenario; all others are empty.
fn measured(scenario: &Scenario, layout: &Layout, graph: &LaneGraph) -> ImportSummary {
    let side = scenario.about().driving_side;
    let network = scenario.network();
    let lanes = |road: &roadwright_scenario::Road| {
        let sections = road.lane_sections.iter();
        sections
            .map(|s| s.lanes.iter().filter(|l| l.kind.is_drivable()).count())
            .sum::<usize>()
    };
    let with_arrows = |road: &roadwright_scenario::Road| {
        let lanes = road.lane_sections.iter().flat_map(|s| &s.lanes);
        lanes.filter(|lane| !lane.turns.is_empty()).count()
    };
    let with_lines = |road: &roadwright_scenario::Road| {
        let lanes = road.lane_sections.iter().flat_map(|s| &s.lanes);
        lanes
            .filter(|lane| lane.lane_change != LaneChange::Both)
            .count()
    };
    // The connections inside junctions are left out, because their number depends on the layout and not on
    // the data.
    let lane_pieces = graph
        .lanelets()
        .iter()
        .filter(|lanelet| !lanelet.is_connection());
    ImportSummary {
        ways: 0,
        roads: network.road_count(),
        junctions: layout.junctions.iter().filter(|j| j.is_crossing()).count(),
        lanes: network.roads().map(|(_, road)| lanes(road)).sum(),
        turn_lanes: network.roads().map(|(_, road)| with_arrows(road)).sum(),
        lane_changes: network.roads().map(|(_, road)| with_lines(road)).sum(),
        road_km: network.roads().map(|(_, road)| road.length()).sum::<f64>() / 1000.0,
        lane_km: // From 0.0: the sum of no numbers is -0.0.
            lane_pieces.fold(0.0, |sum, lanelet| sum + lanelet.length()) / 1000.0,
        signals: 0,
        controllers: 0,
        signals_unassigned: 0,
        signs: 0,
        mini_roundabouts: 0,
        turning_circles: 0,
        crossings: 0,
        crossings_unassigned: 0,
        restrictions: 0,
        via_restrictions: 0,
        timed_restrictions: 0,
        buildings: 0,
        land: 0,
        access: by_access(network),
        driving_side: side,
        country: scenario.about().country.clone(),
        moved_carriageways: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Returns the number of roads and their total length (km), by access.
fn by_access(network: &RoadNetwork) -> BTreeMap<RoadAccess, (usize, f64)> {
    let mut roads: BTreeMap<RoadAccess, (usize, f64)> = BTreeMap::new();
    for (_, road) in network.roads() {
        let (count, km) = roads.entry(road.access).or_default();
        *count += 1;
        *km += road.length() / 1000.0;
    }
    roads
}
