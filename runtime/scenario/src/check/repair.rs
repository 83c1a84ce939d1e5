//! Repairs: edits that resolve findings with an obvious solution.

use super::{Code, Finding, Subjects, agents, junctions, kinks};
use crate::edit::Edit;
use crate::ids::{NodeId, ObjectId, RoadId};
use crate::junction::{Flag, Junction, LaneEnd, Layout, layout};
use crate::junction_rules::JunctionRules;
use crate::lane_graph::LaneGraph;
use crate::network::Node;
use crate::operation::deleted;
use crate::operation::draw::{self, Catch, Joint, Surroundings};
use crate::road::RoadEnd;
use crate::road_boxes::RoadBoxes;
use crate::scenario::Scenario;
use crate::turn::Turn;
use glam::DVec2;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Delay that is added to the departure of an agent whose start is occupied, s.
const LATER: f64 = 5.0;

impl Code {
    /// Returns the label of the button that calls [`repair`] for findings of this kind; `None` if
    /// the decision is left to the user.
    pub fn repair(self) -> Option<&'static str> {
        match self {
            Self::Kink => Some("Widen the bend"),
            Self::EndsOnRoad => Some("Join the roads"),
            Self::ObstacleOnRoad => Some("Delete the obstacle"),
            Self::AgentsOverlap => Some("Depart 5 s later"),
            Self::WrongLane => Some("Change the lane"),
            Self::NameUnclear => Some("Make the name unique"),
            Self::GroupMember => Some("Remove from the group"),
            Self::ArrowToNowhere => Some("Remove invalid arrows"),
            Self::NoRoomForCrossing => Some("Remove the crossing"),
            Self::CornerSqueezed => Some("Reduce the radius"),
            Self::DanglingRestriction
            | Self::DanglingCrossing
            | Self::DanglingTurn
            | Self::DanglingCorner
            | Self::DanglingInternalRoad
            | Self::DanglingMajor
            | Self::DanglingStage => Some("Remove invalid entries"),
            _ => None,
        }
    }
}

/// Layout and lane graph of a scenario, derived when a repair needs them.
struct Derived<'a> {
    scenario: &'a Scenario,
    layout: OnceCell<Layout>,
    graph: OnceCell<LaneGraph>,
}

impl<'a> Derived<'a> {
    fn of(scenario: &'a Scenario) -> Self {
        Self {
            scenario,
            layout: OnceCell::new(),
            graph: OnceCell::new(),
        }
    }

    fn layout(&self) -> &Layout {
        let scenario = self.scenario;
        self.layout
            .get_or_init(|| layout(scenario.network(), scenario.about()))
    }

    fn subjects(&self) -> Subjects<'_> {
        let layout = self.layout();
        Subjects {
            scenario: self.scenario,
            layout,
            graph: self
                .graph
                .get_or_init(|| LaneGraph::new(self.scenario, layout)),
        }
    }
}

/// Returns the edit that repairs a finding; `None` if there is no such edit, or if there is nothing left to
/// repair.
///
/// A finding about the rules at a node is repaired together with all findings of its kind there. For findings
/// about junctions, the network is laid out again: O(roads).
pub fn repair(scenario: &Scenario, finding: &Finding) -> Option<Edit> {
    repaired(scenario, finding, &Derived::of(scenario))
}

/// The repair of several findings.
#[derive(Debug, Clone, PartialEq)]
pub struct Repairs {
    /// The edit that makes all repairs.
    pub edit: Edit,
    /// Number of findings that the edit repairs.
    pub count: usize,
}

/// Returns the edit that repairs all repairable findings of one kind; `None` if no finding can be
/// repaired.
///
/// The network is laid out once, or once per finding about a road that ends on another. Each layout
/// takes O(roads).
pub fn repair_all(scenario: &Scenario, code: Code, findings: &[Finding]) -> Option<Repairs> {
    let mut mended = scenario.clone();
    let mut edits = Vec::new();
    let mut count = 0;
    // Objects for which one repair resolves all findings of this kind.
    let mut done = BTreeSet::new();
    let derived = Derived::of(scenario);
    for finding in findings.iter().filter(|finding| finding.code == code) {
        if done.contains(&finding.object) {
            count += 1;
            continue;
        }
        let edit = if code == Code::EndsOnRoad {
            repair(&mended, finding)
        } else {
            repaired(&mended, finding, &derived)
        };
        let Some(edit) = edit.filter(|edit| mended.apply(edit.clone()).is_ok()) else {
            continue;
        };
        edits.push(edit);
        count += 1;
        // A road may have several kinks and two loose ends, so each of these findings needs its own repair.
        if !matches!(code, Code::Kink | Code::EndsOnRoad) {
            done.insert(finding.object);
        }
    }
    (count > 0).then_some(Repairs {
        edit: Edit::Batch(edits),
        count,
    })
}

/// Returns the edit that repairs a finding; `None` if there is none. `derived` may be out of date,
/// as long as the junctions that the finding concerns have not changed.
fn repaired(scenario: &Scenario, finding: &Finding, derived: &Derived<'_>) -> Option<Edit> {
    finding.code.repair()?;
    match finding.object {
        ObjectId::Obstacle(_) => Some(deleted(scenario, &[finding.object].into())),
        ObjectId::Agent(id) if finding.code == Code::AgentsOverlap => {
            let mut agent = scenario.agents().get(&id)?.clone();
            agent.depart += LATER;
            Some(Edit::Agent(id, Some(Box::new(agent))))
        }
        object if finding.code == Code::WrongLane => {
            agents::on_other_lanes(&derived.subjects(), object)
        }
        ObjectId::PointOfInterest(id) if finding.code == Code::NameUnclear => {
            let mut point = scenario.points_of_interest().get(&id)?.clone();
            point.name = free_name(scenario, &point.name);
            Some(Edit::PointOfInterest(id, Some(Box::new(point))))
        }
        object if finding.code == Code::GroupMember => in_one_group(scenario, object),
        ObjectId::Road(id) if finding.code == Code::EndsOnRoad => {
            joined(scenario, id, finding.place)
        }
        ObjectId::Road(id) if finding.code == Code::Kink => {
            kinks::rounded(scenario, id, finding.place)
        }
        ObjectId::Road(id) => without_arrows(scenario, id, derived.layout()),
        ObjectId::Node(id) => with_rules(scenario, id, finding.code, derived.layout()),
        _ => None,
    }
}

/// Returns the edit that joins the road end at `place` to the road on whose carriageway it ends.
fn joined(scenario: &Scenario, id: RoadId, place: DVec2) -> Option<Edit> {
    let road = scenario.network().road(id)?;
    let [start, end] = [road.reference_line.start(), road.reference_line.end()]
        .map(|pose| (pose.position - place).length());
    let at = if start < end {
        RoadEnd::Start
    } else {
        RoadEnd::End
    };
    let around = Surroundings {
        scenario,
        layout: &layout(scenario.network(), scenario.about()),
        boxes: &RoadBoxes::new(scenario.network()),
        is_hidden: &|_| false,
    };
    draw::loose_end(&around, id, at)?;
    let catch = Catch::within(0.0);
    // The stub beyond the new junction is removed.
    let target = draw::end_target(&around, id, at, catch)?;
    if target.joint == Joint::Node(road.node_at(at.opposite())) {
        return Some(deleted(scenario, &[ObjectId::Road(id)].into()));
    }
    draw::joined_end(&around, id, at, catch).ok()?
}

/// Returns an unused name for a point of interest, derived from a name that is taken or empty.
fn free_name(scenario: &Scenario, name: &str) -> String {
    let name = match name.trim() {
        "" => "Place",
        name => name,
    };
    let taken: BTreeSet<&str> = scenario
        .points_of_interest()
        .values()
        .map(|point| point.name.as_str())
        .collect();
    let numbered = (2..).map(|number| format!("{name} {number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let free = names.find(|name| !taken.contains(name.as_str()));
    free.expect("there are more numbers than places")
}

/// Returns the edit that removes an object from all its groups except the first, or from all groups
/// if the object does not exist. `None` if nothing has to be removed.
fn in_one_group(scenario: &Scenario, object: ObjectId) -> Option<Edit> {
    let is_there = scenario.contains(object);
    let groups = scenario.groups().iter();
    let groups: Vec<_> = groups
        .filter(|(_, group)| group.members().contains(&object))
        .collect();
    let wrong = match groups.split_first() {
        // An existing object stays in one group.
        Some((_, others)) if is_there => others,
        _ => &groups,
    };
    if wrong.is_empty() {
        return None;
    }
    let edits = wrong.iter().map(|(id, group)| {
        let others = group.members().iter().copied();
        let smaller = group.with_members(others.filter(|member| *member != object));
        Edit::Group(**id, Some(Box::new(smaller)))
    });
    Some(Edit::Batch(edits.collect()))
}

/// Returns the edit that removes from the lanes of a road all arrows for turns that its junctions
/// do not offer; `None` if there are none.
fn without_arrows(scenario: &Scenario, id: RoadId, layout: &Layout) -> Option<Edit> {
    let flags = layout
        .junctions
        .iter()
        .flat_map(|junction| &junction.early_flags);
    let wrong = flags.filter_map(|flag| match flag {
        Flag::NoSuchTurn(at, turn) if at.road == id => Some((*at, *turn)),
        _ => None,
    });
    let wrong: Vec<(LaneEnd, Turn)> = wrong.collect();
    let mut road = scenario.network().road(id)?.clone();
    for (at, turn) in &wrong {
        let section = match at.end {
            RoadEnd::Start => road.lane_sections.first_mut(),
            RoadEnd::End => road.lane_sections.last_mut(),
        };
        let mut lanes = section.into_iter().flat_map(|section| &mut section.lanes);
        if let Some(lane) = lanes.find(|lane| lane.id == at.lane) {
            lane.turns = lane.turns.without(*turn);
        }
    }
    (!wrong.is_empty()).then(|| Edit::Road(id, Some(Box::new(road))))
}

/// Returns the edit that removes the entries named by findings with this code from the rules of a
/// node; `None` if there are none.
fn with_rules(scenario: &Scenario, id: NodeId, code: Code, layout: &Layout) -> Option<Edit> {
    let node: &Node = scenario.network().node(id)?;
    let mut changed = node.clone();
    mend(scenario, id, code, &mut changed.rules, layout)?;
    (changed.rules != node.rules).then_some(Edit::Node(id, Some(changed)))
}

/// Removes the entries named by findings with this code from the rules of a node.
fn mend(
    scenario: &Scenario,
    id: NodeId,
    code: Code,
    rules: &mut JunctionRules,
    layout: &Layout,
) -> Option<()> {
    let junction: &Junction = layout.junction_at(id)?;
    let network = scenario.network();
    let ends = network.ends_at(id);
    let meets = |road: RoadId| ends.iter().any(|(end, _)| *end == road);
    match code {
        Code::DanglingRestriction => {
            rules
                .restrictions
                .retain(|rule| meets(rule.from) && meets(rule.to));
            rules
                .via_restrictions
                .retain(|rule| rule.roads(network, id).is_some());
            rules
                .timed_restrictions
                .retain(|rule| match rule.via_roads() {
                    Some(rule) => rule.roads(network, id).is_some(),
                    None => meets(rule.from) && meets(rule.to),
                });
        }
        Code::DanglingCrossing => rules.crossings.retain(|rule| meets(rule.road)),
        Code::NoRoomForCrossing => {
            let has_no_room = |road| {
                junction
                    .early_flags
                    .contains(&Flag::NoRoomForCrossing(road))
            };
            rules.crossings.retain(|rule| !has_no_room(rule.road));
        }
        Code::DanglingTurn => {
            let leading = junctions::Leading::of(scenario, junction);
            for turns in [&mut rules.turns.add, &mut rules.turns.remove] {
                turns.retain(|turn| {
                    leading.inward.contains(&turn.from) && leading.outward.contains(&turn.to)
                });
            }
        }
        Code::DanglingCorner => rules.corners.retain(|rule| {
            let corner = junctions::corner_of(junction, rule.road, rule.next);
            corner.is_some_and(|corner| corner.wanted_radius != 0.0)
        }),
        Code::CornerSqueezed => {
            for rule in &mut rules.corners {
                if let Some(corner) = junctions::corner_of(junction, rule.road, rule.next) {
                    rule.radius = rule.radius.min(corner.radius).into();
                }
            }
        }
        Code::DanglingInternalRoad => {
            let roads = &mut rules.internal_roads;
            roads.retain(|road| layout.internal.contains(road));
        }
        Code::DanglingMajor => rules
            .major
            .retain(|road| junctions::leads_to(layout, junction, *road)),
        Code::DanglingStage => {
            let stages = rules.plan.iter_mut().flat_map(|plan| &mut plan.stages);
            for stage in stages {
                for movements in [&mut stage.green, &mut stage.permitted] {
                    movements.retain(|movement| network.road(movement.road).is_some());
                }
            }
        }
        _ => {}
    }
    Some(())
}
