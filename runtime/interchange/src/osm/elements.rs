//! OSM elements in plain form.

use super::land;
use std::collections::BTreeMap;

/// Values of tags by key.
pub type Tags = BTreeMap<String, String>;

/// A node: a position with tags.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OsmNode {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// The signals or the sign at the node.
    pub sign: Sign,
}

/// Signals or a sign at a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sign {
    /// Kind of sign; `None` if there is neither a sign nor signals.
    pub kind: Option<SignKind>,
    /// Whether the sign applies to traffic along the way (`forward`) or against it; `None` if not stated.
    pub direction: Option<bool>,
    /// Whether traffic passes a mini roundabout clockwise; `None` if not stated.
    pub clockwise: Option<bool>,
    /// Whether the sign applies to all approaches (`stop=all`).
    pub is_for_all: bool,
    /// Tags of a pedestrian crossing at the node.
    pub crossing: CrossingTags,
}

/// Tags of a node about a pedestrian crossing (Key:crossing on the wiki).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CrossingTags {
    /// Whether there is a crossing: `highway=crossing`, or `crossing` with a value on a node with signals or
    /// a sign.
    pub is_there: bool,
    /// Whether there are no markings, so that pedestrians wait for a gap: `crossing=no`, `unmarked` or
    /// `informal`, or `crossing:markings=no`.
    pub is_unmarked: bool,
}

/// Kind of sign, from the `highway` tag of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignKind {
    /// Traffic signals: `traffic_signals`.
    Signals,
    /// A stop sign: `stop`.
    Stop,
    /// A give-way sign: `give_way`.
    GiveWay,
    /// `mini_roundabout`: the node is the island of a mini roundabout.
    MiniRoundabout,
    /// `turning_circle` or `turning_loop`: vehicles can turn around at the node.
    TurningCircle,
}

impl Sign {
    /// Adds a tag of the node.
    pub(crate) fn add(&mut self, key: &str, value: &str) {
        match (key, value) {
            ("highway", "traffic_signals") => self.kind = Some(SignKind::Signals),
            ("highway", "stop") => self.kind = Some(SignKind::Stop),
            ("highway", "give_way") => self.kind = Some(SignKind::GiveWay),
            ("highway", "mini_roundabout") => self.kind = Some(SignKind::MiniRoundabout),
            ("highway", "turning_circle" | "turning_loop") => {
                self.kind = Some(SignKind::TurningCircle);
            }
            ("direction", "clockwise") => self.clockwise = Some(true),
            ("direction", "anticlockwise" | "counterclockwise") => self.clockwise = Some(false),
            ("direction" | "traffic_signals:direction", "forward") => self.direction = Some(true),
            ("direction" | "traffic_signals:direction", "backward") => self.direction = Some(false),
            ("stop", "all") => self.is_for_all = true,
            ("highway", "crossing") => self.crossing.is_there = true,
            ("crossing", "no" | "unmarked" | "informal") | ("crossing:markings", "no") => {
                self.crossing.is_unmarked = true;
            }
            // On nodes with signals or a sign, which have no `highway=crossing`, this tag marks the crossing.
            ("crossing", _) => self.crossing.is_there = true,
            _ => {}
        }
    }

    /// Reads a sign from tags.
    pub(crate) fn of(tags: &Tags) -> Self {
        let mut sign = Self::default();
        tags.iter().for_each(|(key, value)| sign.add(key, value));
        sign
    }
}

/// A way: a list of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// OSM id.
    pub id: i64,
    /// Node ids in order.
    pub nodes: Vec<i64>,
    /// Tags of the way.
    pub tags: Tags,
}

impl Way {
    /// Whether a tram runs on the way.
    pub(crate) fn is_tram(&self) -> bool {
        let is_tram = |key: &str| self.tags.get(key).is_some_and(|value| value == "tram");
        is_tram("railway") || is_tram("embedded_rails")
    }
}

/// A relation of the type `restriction` or `multipolygon`.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// OSM id.
    pub id: i64,
    /// Members as (kind, id, role); the kind is `n`, `w` or `r`.
    pub members: Vec<(char, i64, String)>,
    /// Tags of the relation.
    pub tags: Tags,
}

/// Contents of an OSM file that are relevant for roads and land.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Elements {
    /// Nodes by id.
    pub nodes: BTreeMap<i64, OsmNode>,
    /// Ways with a `highway` tag, in the order of the file.
    pub ways: Vec<Way>,
    /// Tram tracks that are not roads, in the order of the file.
    pub trams: Vec<Way>,
    /// Turn restrictions, in the order of the file.
    pub restrictions: Vec<Relation>,
    /// Other ways with tags that are relevant for land, in the order of the file. These are outlines of
    /// buildings, parks and waters, and parts of multipolygons.
    pub areas: Vec<Way>,
    /// Areas that consist of several ways, in the order of the file.
    pub multipolygons: Vec<Relation>,
    /// Whether the file says that its data come from OpenStreetMap. PBF files count as such.
    pub names_openstreetmap: bool,
}

/// Smallest node id that only the OpenStreetMap database assigns. Editors and people number nodes from 1, or
/// downwards from -1.
const DATABASE_IDS: i64 = 100_000;

impl Elements {
    /// Whether the data come from OpenStreetMap. If so, its licence applies.
    pub(crate) fn is_openstreetmap(&self) -> bool {
        let largest = self.nodes.last_key_value();
        self.names_openstreetmap || largest.is_some_and(|(id, _)| *id >= DATABASE_IDS)
    }

    /// Adds a node. A node whose coordinates are out of range counts as missing.
    pub(crate) fn add_node(&mut self, id: i64, latitude: f64, longitude: f64, sign: Sign) {
        if latitude.abs() > 90.0 || longitude.abs() > 180.0 {
            return;
        }
        let node = OsmNode {
            latitude,
            longitude,
            sign,
        };
        self.nodes.insert(id, node);
    }

    /// Adds a way: a road or path, a tram track, or possibly the outline of an area.
    pub(crate) fn add_way(&mut self, mut way: Way) {
        if way.tags.contains_key("highway") {
            self.ways.push(way);
        } else if way.is_tram() {
            self.trams.push(way);
        } else {
            // Most ways of an extract are buildings, and most of their tags are addresses. A way without
            // relevant tags may still be part of a multipolygon, which comes later in the file.
            way.tags.retain(|key, _| land::matters(key));
            self.areas.push(way);
        }
    }

    /// Adds a relation if it is a turn restriction or a multipolygon.
    pub(crate) fn add_relation(&mut self, mut relation: Relation) {
        match relation.tags.get("type").map(String::as_str) {
            Some("restriction") => self.restrictions.push(relation),
            Some("multipolygon") => {
                relation.tags.retain(|key, _| land::matters(key));
                self.multipolygons.push(relation);
            }
            _ => {}
        }
    }
}
