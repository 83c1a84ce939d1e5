//! OpenStreetMap data of a fictitious street that crosses two others a few metres apart.

use crate::split_roundabout::{node, way};

/// Returns the data as XML. The main street leads from west to east, with two lanes towards the
/// junctions. Its side streets leave to the north and, `gap` metres farther east, to the south. In
/// each direction, the lane arrows of the main street apply to the farther junction. The western
/// part of the main street is drawn beside its lanes (`placement`).
pub fn near_crossings(gap: f64) -> String {
    let nodes = [
        (1, [-200.0, 0.0]),
        (2, [0.0, 0.0]),
        (3, [gap, 0.0]),
        (4, [220.0, 0.0]),
        (5, [0.0, 180.0]),
        (6, [gap, -180.0]),
    ];
    let tags = |class: &str, more: &[(&str, &str)]| -> String {
        let class = [("highway", class)];
        let all = class.iter().chain(more);
        all.map(|(key, value)| format!("<tag k=\"{key}\" v=\"{value}\"/>"))
            .collect()
    };
    let widened = [
        ("lanes", "3"),
        ("lanes:forward", "2"),
        ("lanes:backward", "1"),
        ("turn:lanes:forward", "left|through;right"),
    ];
    let placed = [&widened[..], &[("placement:forward", "right_of:1")]].concat();
    let between = [("lanes", "2"), ("turn:lanes:forward", "through;right")];
    let nodes: String = nodes.map(|(id, at)| node(id, at, "")).concat();
    let ways = [
        way(1, &[1, 2], &tags("secondary", &placed)),
        way(2, &[2, 3], &tags("secondary", &between)),
        way(3, &[4, 3], &tags("secondary", &widened)),
        way(4, &[2, 5], &tags("residential", &[])),
        way(5, &[3, 6], &tags("residential", &[])),
    ];
    format!("<osm version=\"0.6\">\n{nodes}{}</osm>", ways.concat())
}
