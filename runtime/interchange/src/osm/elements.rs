//! Plain OSM elements.

use std::collections::BTreeMap;

/// Tags by key.
pub type Tags = BTreeMap<String, String>;

/// A node: a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OsmNode {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// Whether it is tagged `highway=traffic_signals`.
    pub signals: bool,
}

/// A way: a list of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// OSM id.
    pub id: i64,
    /// Node ids in order.
    pub nodes: Vec<i64>,
    /// Its tags.
    pub tags: Tags,
}

/// A relation of the type `restriction`.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// OSM id.
    pub id: i64,
    /// Members as (kind, id, role); the kind is `n`, `w` or `r`.
    pub members: Vec<(char, i64, String)>,
    /// Its tags.
    pub tags: Tags,
}

/// What an OSM file holds that matters to roads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Elements {
    /// Nodes by id.
    pub nodes: BTreeMap<i64, OsmNode>,
    /// Ways with a `highway` tag, in the order of the file.
    pub ways: Vec<Way>,
    /// Turn restrictions, in the order of the file.
    pub restrictions: Vec<Relation>,
}

impl Elements {
    /// Adds a node. One outside of the valid degrees counts as missing.
    pub(crate) fn add_node(&mut self, id: i64, latitude: f64, longitude: f64, signals: bool) {
        if latitude.abs() > 90.0 || longitude.abs() > 180.0 {
            return;
        }
        let node = OsmNode {
            latitude,
            longitude,
            signals,
        };
        self.nodes.insert(id, node);
    }

    /// Adds a way if it is a road or path.
    pub(crate) fn add_way(&mut self, way: Way) {
        // Most ways of an extract are buildings and land use: left out while reading, they take no
        // memory. Nodes cannot be left out, as files list them before the ways that use them.
        if way.tags.contains_key("highway") {
            self.ways.push(way);
        }
    }

    /// Adds a relation if it is a turn restriction.
    pub(crate) fn add_relation(&mut self, relation: Relation) {
        if relation
            .tags
            .get("type")
            .is_some_and(|kind| kind == "restriction")
        {
            self.restrictions.push(relation);
        }
    }
}
