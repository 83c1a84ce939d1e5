//! Checks of a scenario. Each finding refers to an object and a position.

mod agents;
mod forests;
mod groups;
mod junctions;
mod kinks;
mod land;
mod loose_ends;
mod obstacles;
mod overlaps;
mod points_of_interest;
mod repair;
mod roads;
mod split_arms;

pub use agents::{lanes_beside, trip_problem};
pub use repair::{Repairs, repair, repair_all};

use crate::ids::ObjectId;
use crate::junction::{Layout, layout};
use crate::lane_graph::LaneGraph;
use crate::scenario::Scenario;
use glam::DVec2;
use serde::Serialize;
use std::fmt;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The scenario runs, but the user should know about this.
    Warning,
    /// The scenario does not behave as written.
    Error,
}

/// Kinds of findings. The names are stable, so tools may match them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The reference line of a road does not end at its node.
    JointGap,
    /// A bend of a road is tighter than half the road's width, so that its inner edge runs backwards.
    Kink,
    /// A road crosses itself.
    SelfIntersection,
    /// A road ends on the carriageway of another one without joining it.
    EndsOnRoad,
    /// A restriction names a road that does not end at its node.
    DanglingRestriction,
    /// A crossing names a road that does not end at its node.
    DanglingCrossing,
    /// A lane turn names a lane that does not lead into or out of its junction.
    DanglingTurn,
    /// The corner of a rule does not exist, because its roads are not neighbours or there is
    /// nothing to round between them.
    DanglingCorner,
    /// A road that is declared internal is not inside its junction.
    DanglingInternalRoad,
    /// A road declared as major does not lead to its junction.
    DanglingMajor,
    /// A stage of the signals names a road that does not exist.
    DanglingStage,
    /// There is no room for the radius that the user set for a corner.
    CornerSqueezed,
    /// Two movements with green in the same stage conflict, and neither yields.
    StageConflict,
    /// There is not enough room for a pedestrian crossing.
    NoRoomForCrossing,
    /// A lane enters a junction but has no exit.
    LaneWithoutSuccessor,
    /// An arrow on a lane shows a turn that does not exist at its junction.
    ArrowToNowhere,
    /// A road is too short for the junctions at its ends.
    RoadSqueezed,
    /// There is no room for the ring of a mini roundabout, or a street has too many lanes for it.
    NoRoomForRing,
    /// The entry and the exit of an arm of a mini roundabout are separate roads.
    SplitArm,
    /// The outline of a junction could only be approximated by a hull.
    JunctionDegraded,
    /// A connecting path is too tight for a vehicle in use.
    ImpossibleTurn,
    /// Two cars do not fit side by side on a stretch of a two-way road.
    Alley,
    /// A two-way road is too narrow for buses.
    NoBuses,
    /// Lanes of two roads overlap, although the roads do not share a junction there.
    LanesOverlap,
    /// An obstacle stands on a lane.
    ObstacleOnRoad,
    /// Two obstacles overlap.
    ObstaclesOverlap,
    /// A parking bay lies on a lane.
    BayOnRoad,
    /// An obstacle stands in a parking bay.
    BayBlocked,
    /// Two parking bays overlap.
    BaysOverlap,
    /// The lower edge of an obstacle is not below its top.
    ObstacleWithoutHeight,
    /// An obstacle above the ground has a mass.
    HangingMass,
    /// A place names a lane that does not exist.
    NoSuchLane,
    /// An agent starts inside an obstacle or a tree.
    AgentInObstacle,
    /// Two agents start at the same place at the same time.
    AgentsOverlap,
    /// Two agents start in an alley at the same time, facing each other.
    FacingInAlley,
    /// An agent cannot reach its destination.
    UnreachableDestination,
    /// A trip begins or ends on a lane without a route, although a lane beside it has one.
    WrongLane,
    /// A trip leads to a road that is closed to all traffic.
    ClosedRoad,
    /// An agent or flow whose stack does not steer around obstacles heads straight for one.
    StraightIntoObstacle,
    /// Every move of an agent's move tree collides with something at the agent's start.
    BlockedMoves,
    /// An agent has neither a destination nor a waypoint.
    NoDestination,
    /// The outline of an area of land crosses itself or encloses no area.
    LandOutline,
    /// Two points of interest have the same name, or one of them has no name.
    NameUnclear,
    /// The file of a vehicle type has changed since the scenario was saved.
    VehicleFileChanged,
    /// An agent's level of dynamics cannot move its body.
    WrongLevel,
    /// A group names an object that does not exist or is also in another group.
    GroupMember,
    /// The number of objects exceeds a limit, so this object and those after it are left out.
    TooMuch,
}

/// A problem in a scenario, with its position.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Severity of the finding.
    pub severity: Severity,
    /// Kind of the finding.
    pub code: Code,
    /// The object.
    pub object: ObjectId,
    /// Position in the world, m.
    pub place: DVec2,
    /// The problem and how to solve it.
    pub message: String,
}

impl Code {
    /// Returns the stable name, such as `joint-gap`.
    pub fn name(self) -> &'static str {
        match self {
            Self::JointGap => "joint-gap",
            Self::Kink => "kink",
            Self::SelfIntersection => "self-intersection",
            Self::EndsOnRoad => "ends-on-road",
            Self::DanglingRestriction => "dangling-restriction",
            Self::DanglingCrossing => "dangling-crossing",
            Self::DanglingTurn => "dangling-turn",
            Self::DanglingCorner => "dangling-corner",
            Self::DanglingInternalRoad => "dangling-internal-road",
            Self::DanglingMajor => "dangling-major",
            Self::DanglingStage => "dangling-stage",
            Self::CornerSqueezed => "corner-squeezed",
            Self::StageConflict => "stage-conflict",
            Self::NoRoomForCrossing => "no-room-for-crossing",
            Self::NoRoomForRing => "no-room-for-ring",
            Self::SplitArm => "split-arm",
            Self::LaneWithoutSuccessor => "lane-without-successor",
            Self::ArrowToNowhere => "arrow-to-nowhere",
            Self::RoadSqueezed => "road-squeezed",
            Self::JunctionDegraded => "junction-degraded",
            Self::ImpossibleTurn => "impossible-turn",
            Self::Alley => "alley",
            Self::NoBuses => "no-buses",
            Self::LanesOverlap => "lanes-overlap",
            Self::ObstacleOnRoad => "obstacle-on-road",
            Self::ObstaclesOverlap => "obstacles-overlap",
            Self::BayOnRoad => "bay-on-road",
            Self::BayBlocked => "bay-blocked",
            Self::BaysOverlap => "bays-overlap",
            Self::ObstacleWithoutHeight => "obstacle-without-height",
            Self::HangingMass => "hanging-mass",
            Self::NoSuchLane => "no-such-lane",
            Self::AgentInObstacle => "agent-in-obstacle",
            Self::AgentsOverlap => "agents-overlap",
            Self::FacingInAlley => "facing-in-alley",
            Self::UnreachableDestination => "unreachable-destination",
            Self::WrongLane => "wrong-lane",
            Self::ClosedRoad => "closed-road",
            Self::StraightIntoObstacle => "straight-into-obstacle",
            Self::BlockedMoves => "blocked-moves",
            Self::NoDestination => "no-destination",
            Self::LandOutline => "land-outline",
            Self::NameUnclear => "name-unclear",
            Self::WrongLevel => "wrong-level",
            Self::VehicleFileChanged => "vehicle-file-changed",
            Self::GroupMember => "group-member",
            Self::TooMuch => "too-much",
        }
    }

    /// Returns the heading for findings of this kind, such as "Roads that cross themselves".
    pub fn title(self) -> &'static str {
        match self {
            Self::JointGap => "Road ends that do not meet their nodes",
            Self::Kink => "Bends too tight for the road's width",
            Self::SelfIntersection => "Roads that cross themselves",
            Self::EndsOnRoad => "Road ends that touch a road without joining it",
            Self::DanglingRestriction => "Turn restrictions for missing roads",
            Self::DanglingCrossing => "Crossings over missing roads",
            Self::DanglingTurn => "Turns from missing lanes",
            Self::DanglingCorner => "Radii of corners that do not exist",
            Self::DanglingInternalRoad => "Internal roads outside their junction",
            Self::DanglingMajor => "Major roads that do not lead to their junction",
            Self::DanglingStage => "Signal stages for missing roads",
            Self::CornerSqueezed => "Corner radii that do not fit",
            Self::StageConflict => "Conflicting movements in one signal stage",
            Self::NoRoomForCrossing => "Pedestrian crossings that do not fit",
            Self::LaneWithoutSuccessor => "Lanes that lead nowhere",
            Self::ArrowToNowhere => "Arrows for turns that do not exist",
            Self::RoadSqueezed => "Roads too short for their junctions",
            Self::NoRoomForRing => "Mini roundabouts that do not fit",
            Self::SplitArm => "Arms of mini roundabouts that are split around an island",
            Self::JunctionDegraded => "Junctions with a rough outline",
            Self::ImpossibleTurn => "Turns that are too tight for vehicles",
            Self::Alley => "Narrow stretches of two-way roads",
            Self::NoBuses => "Roads too narrow for buses",
            Self::LanesOverlap => "Lanes that overlap without a junction",
            Self::ObstacleOnRoad => "Obstacles on lanes",
            Self::ObstaclesOverlap => "Obstacles that overlap",
            Self::BayOnRoad => "Parking bays on lanes",
            Self::BayBlocked => "Parking bays with obstacles in them",
            Self::BaysOverlap => "Parking bays that overlap",
            Self::ObstacleWithoutHeight => "Obstacles without a height",
            Self::HangingMass => "Raised obstacles with a mass",
            Self::NoSuchLane => "Places on lanes that do not exist",
            Self::AgentInObstacle => "Agents that start inside an obstacle",
            Self::AgentsOverlap => "Agents that start in the same place",
            Self::FacingInAlley => "Agents that start facing each other in an alley",
            Self::UnreachableDestination => "Destinations that cannot be reached",
            Self::WrongLane => "Trips that start or end on the wrong lane",
            Self::ClosedRoad => "Trips to closed roads",
            Self::StraightIntoObstacle => "Trips that head straight into an obstacle",
            Self::BlockedMoves => "Agents whose moves are all blocked at the start",
            Self::NoDestination => "Agents without a destination",
            Self::LandOutline => "Areas of land with an invalid outline",
            Self::NameUnclear => "Places without a unique name",
            Self::VehicleFileChanged => "Vehicle files that have changed",
            Self::WrongLevel => "Dynamics levels that cannot move the body",
            Self::GroupMember => "Invalid members of groups",
            Self::TooMuch => "Exceeded limits",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(
            f,
            "{severity}[{}] {} at ({:.2}, {:.2}): {}",
            self.code.name(),
            self.object,
            self.place.x,
            self.place.y,
            self.message
        )
    }
}

/// Data shared by all checks, derived only once.
pub(crate) struct Subjects<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) layout: &'a Layout,
    pub(crate) graph: &'a LaneGraph,
}

/// Returns all findings: errors first, then by code, object and position. The time is nearly linear in the
/// size of the scenario.
pub fn check(scenario: &Scenario) -> Vec<Finding> {
    let layout = layout(scenario.network(), scenario.about());
    layout.find_flags();
    let graph = LaneGraph::new(scenario, &layout);
    let subjects = Subjects {
        scenario,
        layout: &layout,
        graph: &graph,
    };
    let mut findings = Vec::new();
    roads::check(&subjects, &mut findings);
    loose_ends::check(&subjects, &mut findings);
    // Runs after the check for loose ends, so that loose ends are not reported twice.
    overlaps::check(&subjects, &mut findings);
    junctions::check(&subjects, &mut findings);
    split_arms::check(&subjects, &mut findings);
    obstacles::check(&subjects, &mut findings);
    agents::check(&subjects, &mut findings);
    forests::check(&subjects, &mut findings);
    land::check(&subjects, &mut findings);
    points_of_interest::check(&subjects, &mut findings);
    groups::check(&subjects, &mut findings);
    sort(&mut findings);
    findings
}

/// Sorts findings: errors first, then by code, object and message.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        b.severity
            .cmp(&a.severity)
            .then(a.code.cmp(&b.code))
            .then(a.object.cmp(&b.object))
            .then(a.message.cmp(&b.message))
    });
}
