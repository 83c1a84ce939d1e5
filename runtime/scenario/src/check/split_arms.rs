//! Findings about arms of mini roundabouts that are split around an island.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use crate::ids::{NodeId, RoadId};
use crate::junction::rings;
use crate::junction_rules::Control;
use crate::road::{Road, RoadEnd};
use crate::scenario::Scenario;

/// Maximum length of the entry or exit of a split arm, m. Longer ones are the carriageways of a
/// street with a median.
const SPLIT: f64 = 60.0;

/// Finds arms of mini roundabouts whose entry and exit are separate roads. The roundabout treats them
/// as two arms at the same place.
pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let network = subjects.scenario.network();
    let minis = network.nodes().filter(|(id, node)| {
        node.rules.control == Some(Control::MiniRoundabout)
            && subjects.layout.junction_at(*id).is_some()
    });
    for (id, node) in minis {
        let ends = network.ends_at(id).into_iter();
        let chains: Vec<Chain> = ends
            .filter_map(|(road, end)| Chain::of(subjects.scenario, road, end))
            .collect();
        let leading = |way: Way| chains.iter().filter(move |chain| chain.way == way);
        for entry in leading(Way::Towards) {
            let exit = leading(Way::Away).find(|exit| exit.fork == entry.fork && exit.fork != id);
            let Some(exit) = exit else { continue };
            findings.push(Finding {
                severity: Severity::Warning,
                code: Code::SplitArm,
                object: ObjectId::Node(id),
                place: node.position(),
                message: format!(
                    "{} and {} are the entry and the exit of one arm, but separate roads, which are two \
                     arms here. If the roads were imported, import them again, which joins \
                     the two; otherwise replace them by one two-way road",
                    entry.road, exit.road
                ),
            });
        }
    }
}

/// Direction of a one-way road relative to a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Towards,
    Away,
}

/// One-way roads between a node and the next node where roads meet, in one driving direction.
struct Chain {
    /// The road at the node.
    road: RoadId,
    way: Way,
    /// The node at the far end.
    fork: NodeId,
}

impl Chain {
    /// Returns the chain that begins with an end of a road at a node; `None` if it is longer than
    /// [`SPLIT`] or not one-way.
    fn of(scenario: &Scenario, first: RoadId, at: RoadEnd) -> Option<Self> {
        let (network, side) = (scenario.network(), scenario.about().driving_side);
        let way_of = |road: &Road, end: RoadEnd| match (rings::directions(road, side), end) {
            ([true, false], RoadEnd::Start) | ([false, true], RoadEnd::End) => Some(Way::Away),
            ([true, false], RoadEnd::End) | ([false, true], RoadEnd::Start) => Some(Way::Towards),
            _ => None,
        };
        let way = way_of(network.road(first)?, at)?;
        let (mut id, mut end, mut length) = (first, at, 0.0);
        loop {
            let road = network.road(id)?;
            length += road.reference_line.length();
            if way_of(road, end) != Some(way) || length > SPLIT {
                return None;
            }
            let (fork, far) = match end {
                RoadEnd::Start => (road.to, RoadEnd::End),
                RoadEnd::End => (road.from, RoadEnd::Start),
            };
            (id, end) = match network.ends_at(fork)[..] {
                [a, b] if a == (id, far) => b,
                [a, b] if b == (id, far) => a,
                _ => {
                    return Some(Self {
                        road: first,
                        way,
                        fork,
                    });
                }
            };
        }
    }
}
