//! Clips ways to the box, and handles data that cross the antimeridian.

use super::elements::{Elements, OsmNode, Sign, Way};
use super::{GeoBox, Warnings};
use glam::DVec2;
use roadwright_geometry::polygon;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Converts data on both sides of the antimeridian (Fiji, Chukotka), so that the western part continues
/// beyond 180 degrees and neighbours have similar longitudes. Other data stay unchanged.
pub(super) fn away_from_antimeridian(
    elements: &Elements,
    clip: Option<GeoBox>,
) -> (Cow<'_, Elements>, Option<GeoBox>) {
    let east_of = |longitude: f64| {
        if longitude < 0.0 {
            longitude + 360.0
        } else {
            longitude
        }
    };
    let span = |value: &dyn Fn(f64) -> f64| {
        let longitudes = elements.nodes.values().map(|node| value(node.longitude));
        let (low, high) = longitudes.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
            (l.min(v), h.max(v))
        });
        high - low
    };
    let across = match clip {
        // The box determines whether the data cross the antimeridian.
        Some(area) => area.west > area.east,
        // Two nodes on Fiji at 179.9 and -179.9 are 359.8 degrees apart. If the numbers continue beyond 180,
        // they are at 179.9 and 180.1, which are 0.2 apart.
        None => {
            let as_they_are = span(&|v| v);
            as_they_are > 180.0 && span(&east_of) < as_they_are
        }
    };
    if !across {
        return (Cow::Borrowed(elements), clip);
    }
    let mut shifted = elements.clone();
    for node in shifted.nodes.values_mut() {
        node.longitude = east_of(node.longitude);
    }
    let clip = clip.map(|area| GeoBox {
        west: east_of(area.west),
        east: east_of(area.east),
        ..area
    });
    (Cow::Owned(shifted), clip)
}

/// Finds the nodes of ways that are in the data and in the box, and creates nodes at the box's edge.
pub(super) struct Clipper<'a> {
    pub(super) elements: &'a Elements,
    area: Option<GeoBox>,
    /// All nodes in use, old and new.
    pub(super) places: BTreeMap<i64, OsmNode>,
    /// Id of the node that was created last. Editors give new nodes negative ids, so the ids created here
    /// count down from the smallest id in the data.
    last_made: i64,
}

impl<'a> Clipper<'a> {
    pub(super) fn new(elements: &'a Elements, area: Option<GeoBox>) -> Self {
        let least = elements.nodes.first_key_value().map_or(0, |(id, _)| *id);
        Self {
            elements,
            area,
            places: BTreeMap::new(),
            last_made: least.min(0),
        }
    }

    /// Returns the stretches of a way whose nodes are in the data and in the box, cut at the edge of the box.
    pub(super) fn runs_of(&mut self, way: &Way, warnings: &mut Warnings) -> Vec<Vec<i64>> {
        let runs = self.split(way);
        let object = || format!("way {}", way.id);
        if self
            .area
            .is_some_and(|area| crosses_unseen(self.elements, way, area))
        {
            let reason = "ways that cross the box between two nodes outside it";
            warnings.add(reason, object());
        }
        if way
            .nodes
            .iter()
            .any(|id| !self.elements.nodes.contains_key(id))
        {
            // Extracts often leave out the nodes beyond their edge.
            warnings.add("ways with nodes that are missing from the data", object());
        }
        runs
    }

    /// Splits a way wherever a node is missing or outside.
    ///
    /// ```text
    ///              +--------- box ---------+
    ///     a ------ e ---- b ---- c ------- f ---- d        a b c d become one run e b c f
    ///              +-----------------------+               with the new nodes e and f
    /// ```
    fn split(&mut self, way: &Way) -> Vec<Vec<i64>> {
        let mut runs: Vec<Vec<i64>> = Vec::new();
        let mut current: Vec<i64> = Vec::new();
        let mut previous: Option<&OsmNode> = None;
        for id in &way.nodes {
            let node = self.elements.nodes.get(id);
            let inside = node.is_some_and(|node| self.area.is_none_or(|area| area.contains(node)));
            if let Some(node) = node.filter(|_| inside) {
                // The first node inside the box, after a known node outside.
                if let (true, Some(before)) = (current.is_empty(), previous) {
                    current.extend(self.edge_node(node, before));
                }
                self.places.insert(*id, *node);
                current.push(*id);
            } else {
                // The last node inside the box, before a known node outside. A missing node has no position,
                // so the run ends at the last known node.
                if let (false, Some(before), Some(after)) = (current.is_empty(), previous, node) {
                    current.extend(self.edge_node(before, after));
                }
                runs.push(std::mem::take(&mut current));
            }
            previous = node;
        }
        runs.push(current);
        runs.retain(|run| run.len() > 1);
        runs
    }

    /// Creates a node on the edge of the box, between a node inside and one outside. Returns its
    /// id; `None` if there is no box.
    fn edge_node(&mut self, inside: &OsmNode, outside: &OsmNode) -> Option<i64> {
        let place = edge_point(inside, outside, self.area?);
        self.last_made -= 1;
        self.places.insert(self.last_made, place);
        Some(self.last_made)
    }
}

/// Whether a way crosses the box between two adjacent nodes that are both outside.
fn crosses_unseen(elements: &Elements, way: &Way, area: GeoBox) -> bool {
    let corners = [
        DVec2::new(area.west, area.south),
        DVec2::new(area.east, area.south),
        DVec2::new(area.east, area.north),
        DVec2::new(area.west, area.north),
    ];
    let place = |node: &OsmNode| DVec2::new(node.longitude, node.latitude);
    way.nodes.windows(2).any(|pair| {
        let (Some(a), Some(b)) = (elements.nodes.get(&pair[0]), elements.nodes.get(&pair[1]))
        else {
            return false;
        };
        let outside = !area.contains(a) && !area.contains(b);
        outside
            && polygon::edges(&corners)
                .any(|(c, d)| polygon::segments_cross(place(a), place(b), c, d))
    })
}

/// Returns the point on the edge of the box between a node inside and a node outside.
fn edge_point(inside: &OsmNode, outside: &OsmNode, area: GeoBox) -> OsmNode {
    let share = |from: f64, to: f64, low: f64, high: f64| {
        if to < low {
            (low - from) / (to - from)
        } else if to > high {
            (high - from) / (to - from)
        } else {
            1.0
        }
    };
    // The way leaves the box where it first crosses a side, which is at the smaller of the
    // fractions along the two axes. A straight line in degrees is accurate enough, because nodes
    // are close together.
    let t = share(inside.latitude, outside.latitude, area.south, area.north).min(share(
        inside.longitude,
        outside.longitude,
        area.west,
        area.east,
    ));
    OsmNode {
        latitude: inside.latitude + t * (outside.latitude - inside.latitude),
        longitude: inside.longitude + t * (outside.longitude - inside.longitude),
        sign: Sign::default(),
    }
}
