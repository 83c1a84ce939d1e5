//! Bodies off the lanes that are in junctions because they were pushed, placed or driven there
//! manually. They have no tickets but block all connections that they touch. No vehicle is let in
//! on these connections until the bodies have left.

use super::request::Need;
use crate::traffic::index::OffLane;
use roadwright_geometry::centre_line::CentreLine;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_ground::Ground;
use roadwright_scenario::Connection;

/// Half the width of the strip that a car on a connection covers, including a small margin, m.
const HALF_WIDTH: f64 = 1.1;
/// Length of the sections of a connection that are examined, m.
const PIECE: f64 = 1.0;

/// Connections that are blocked by bodies off the lanes, in order. Updated before each decision.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct BlockedConnections(Vec<Connection>);

impl BlockedConnections {
    /// Records the connections that bodies off the lanes touch. O(bodies and the lanes near each body).
    pub(super) fn look(&mut self, ground: &Ground, bodies: &[OffLane]) {
        let Self(taken) = self;
        taken.clear();
        for OffLane { body, layers } in bodies {
            let reach = body.radius() + HALF_WIDTH;
            let near = ground.near(body.centre, reach);
            taken.extend(near.filter_map(|(lanelet, s, _)| {
                let path = ground.contested(lanelet)?;
                let is_level = ground.layers_of(lanelet) & layers != 0;
                (is_level && lies_on(body, ground.line(lanelet), s, reach)).then_some(path)
            }));
        }
        taken.sort_unstable();
        taken.dedup();
    }

    /// Whether a body off the lanes blocks a request.
    pub(super) fn has_any(&self, needs: &[Need]) -> bool {
        let Self(taken) = self;
        !taken.is_empty()
            && needs.iter().any(|need| {
                taken
                    .binary_search(&Connection::new(need.junction, need.path))
                    .is_ok()
            })
    }
}

/// Whether a body overlaps the strip that a car covers along a line, within `reach` metres of position `s`.
fn lies_on(body: &OrientedBox, line: CentreLine<'_>, s: f64, reach: f64) -> bool {
    let (from, to) = ((s - reach).max(0.0), (s + reach).min(line.length()));
    let pieces = ((to - from) / PIECE).ceil().max(1.0);
    let length = (to - from) / pieces;
    (0..pieces as usize).any(|piece| {
        let middle = line.pose(from + (piece as f64 + 0.5) * length);
        OrientedBox::new(middle, length, 2.0 * HALF_WIDTH).penetration(body) > 0.0
    })
}
