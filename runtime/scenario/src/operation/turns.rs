//! Turns of a junction that a person takes away.

use crate::edit::Edit;
use crate::ids::{NodeId, RoadId};
use crate::junction::Junction;
use crate::junction_rules::{LaneTurn, RoadLane};
use crate::network::{Restriction, RestrictionKind};
use crate::road::RoadEnd;
use crate::scenario::Scenario;

/// The edit that forbids to drive from one road into another at a junction, said at one of its nodes; `None`
/// if it does not exist.
///
/// A turn restriction where both roads end at that node. Where junctions have been merged, each way from lane to
/// lane is taken out.
pub fn without_turn(
    scenario: &Scenario,
    junction: &Junction,
    node: NodeId,
    (from, to): (RoadId, RoadId),
) -> Option<Edit> {
    let network = scenario.network();
    let mut changed = network.node(node)?.clone();
    let ends = network.ends_at(node);
    let ends_here = |road: RoadId| ends.iter().any(|(id, _): &(RoadId, RoadEnd)| *id == road);
    if ends_here(from) && ends_here(to) {
        changed.rules.restrictions.push(Restriction {
            kind: RestrictionKind::No,
            from,
            to,
        });
    } else {
        let paths = junction.paths.iter();
        let ways = paths.filter(|path| (path.from.road, path.to.road) == (from, to));
        for path in ways {
            let [from, to] = [path.from, path.to].map(|end| RoadLane {
                road: end.road,
                lane: end.lane,
            });
            changed.rules.turns.remove(LaneTurn { from, to });
        }
    }
    Some(Edit::Node(node, Some(changed)))
}
