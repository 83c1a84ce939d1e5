//! Contacts of recorded clips with the fixed obstacles of a scenario, and agents that cannot begin a move.

use super::around::{is_in_the_way, outlines};
use super::refusal::{self, Asked, Library};
use super::{Spot, state_for};
use crate::builtin_modules;
use crate::dynamics::LevelChoice;
use crate::open_ground::body_of;
use roadwright_agent::MoveTreeLibrary;
use roadwright_geometry::Pose;
use roadwright_ground::{Ground, Owner};
use roadwright_moves::{
    BodyOutline, Convex, Frame, Phase, Placement, Surroundings, Sweep, SweepKind, Trial,
    first_touch,
};
use roadwright_scenario::check::{Code, Finding, Severity};
use roadwright_scenario::lane_graph::NO_LANELET;
use roadwright_scenario::{Agent, AgentId, ObjectId, Place, Scenario, VehicleType};
use roadwright_vehicle::OneTrackLimits;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A move whose start and end are no farther apart than this counts as leaving the vehicle in
/// place, m.
const STAYS: f64 = 0.1;

/// Outlines of the fixed obstacles that a body can touch, with the objects that they belong to.
/// Loose obstacles are at their initial positions.
#[derive(Debug, Clone)]
pub struct FixedOutlines {
    owners: Vec<ObjectId>,
    outlines: Vec<Convex>,
}

/// First contact of a clip with a fixed obstacle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObstacleTouch {
    /// Frame of the clip before the contact.
    pub frame: usize,
    /// The obstacle, or the forest if a tree was touched.
    pub object: ObjectId,
}

impl FixedOutlines {
    /// Obstacles that a vehicle type cannot drive over or pass under.
    pub fn of(ground: &Ground, kind: &VehicleType) -> Self {
        let body = body_of(kind);
        let mut all = Self {
            owners: Vec::new(),
            outlines: Vec::new(),
        };
        ground.obstacles().for_each_upright(|upright| {
            if !is_in_the_way(upright.heights, body) {
                return;
            }
            let object = match upright.owner {
                Owner::Obstacle(id) => ObjectId::Obstacle(id),
                Owner::Tree(forest, _) => ObjectId::Forest(forest),
            };
            let outlines = outlines(&upright.shape);
            all.owners.extend(outlines.iter().map(|_| object));
            all.outlines.extend(outlines);
        });
        all
    }

    /// Finds the first contact of a clip that was recorded on this ground; `None` if there is none.
    /// Poses refer to the centre of the rear axle, in world coordinates.
    pub fn first_touch(&self, frames: &[Frame], body: &BodyOutline) -> Option<ObstacleTouch> {
        let touch = first_touch(frames, body, &self.outlines)?;
        Some(ObstacleTouch {
            frame: touch.frame,
            object: self.owners[touch.outline],
        })
    }
}

/// Returns findings about agents that start off the lanes and are boxed in: every move of their
/// move trees that leads away from the start touches a fixed obstacle.
pub fn blocked_moves(scenario: &Scenario) -> Vec<Finding> {
    let modules = builtin_modules();
    let mut inquiry = Inquiry {
        asked: Asked {
            scenario,
            stacks: &[],
            registry: &modules,
            levels: LevelChoice {
                forced: None,
                default: scenario.settings().dynamics,
            },
            dt: scenario.settings().dt.get(),
        },
        ground: None,
        searches: BTreeMap::new(),
        libraries: BTreeMap::new(),
        around: BTreeMap::new(),
    };
    let agents = scenario.agents().iter();
    agents
        .filter_map(|(&id, agent)| inquiry.finding(id, agent))
        .collect()
}

/// Data shared by the agents of a scenario, computed when the first agent needs it.
struct Inquiry<'a> {
    asked: Asked<'a>,
    ground: Option<Arc<Ground>>,
    /// Library that the search of each stack uses; `None` for a stack without a move tree.
    searches: BTreeMap<&'a str, Option<MoveTreeLibrary>>,
    libraries: BTreeMap<LibraryKey<'a>, Vec<Library>>,
    /// Fixed obstacles by vehicle type.
    around: BTreeMap<&'a str, Surroundings>,
}

/// Key of the libraries that a vehicle type uses.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct LibraryKey<'a> {
    vehicle: &'a str,
    /// Name of a shipped library; `None` for the libraries of the vehicle type.
    shipped: Option<&'static str>,
}

impl<'a> Inquiry<'a> {
    /// Returns a finding if all moves of an agent are blocked at its start. `None` if a move is
    /// free, if the agent does not start off the lanes with a move tree, or if its ground or speed
    /// does not fit the library.
    fn finding(&mut self, id: AgentId, agent: &'a Agent) -> Option<Finding> {
        let Place::Ground(_) = agent.start else {
            return None;
        };
        let Self {
            asked,
            ground,
            searches,
            libraries,
            around,
        } = self;
        let scenario = asked.scenario;
        let search = *searches.entry(&agent.stack).or_insert_with(|| {
            let stack = scenario.stacks().get(&agent.stack)?;
            let search = asked.search(&agent.stack, stack)?;
            Some(search.library)
        });
        let (search, kind) = (search?, scenario.vehicle_types().get(&agent.vehicle)?);
        let key = LibraryKey {
            vehicle: &agent.vehicle,
            shipped: match search {
                MoveTreeLibrary::Shipped(name) => Some(name),
                MoveTreeLibrary::OfVehicle => None,
            },
        };
        let libraries = libraries.entry(key).or_insert_with(|| {
            // Libraries that cannot be read are reported elsewhere.
            refusal::libraries(&agent.vehicle, kind, search).unwrap_or_default()
        });
        let ground = ground.get_or_insert_with(|| Ground::new(scenario));
        let pose = scenario.pose_of(&agent.start)?;
        let spot = Spot {
            pose,
            layers: ground.layers(NO_LANELET),
            wheelbase: OneTrackLimits::from(kind).wheelbase,
        };
        // The first library that fits this ground, as in a run.
        let fitting = |one: &&Library| spot.misfit(ground, &one.loaded.clips.ground).is_none();
        let library = libraries.iter().find(fitting)?;
        let around = around.entry(&agent.vehicle).or_insert_with(|| {
            let outlines = FixedOutlines::of(ground, kind).outlines;
            Surroundings::of(outlines)
        });
        let start = Start { id, agent, pose };
        start.finding(library, around)
    }
}

/// The start of an agent with a move tree.
struct Start<'a> {
    id: AgentId,
    agent: &'a Agent,
    pose: Pose,
}

impl Start<'_> {
    fn finding(&self, library: &Library, around: &Surroundings) -> Option<Finding> {
        let Library { name, loaded } = library;
        let motion = Frame {
            forward: self.agent.speed.get(),
            ..Frame::default()
        };
        let state = state_for(loaded, &motion)?;
        let library = &loaded.library;
        let is_free = |frames: &[Frame]| {
            let sweep = Sweep::of(frames, library.body(), SweepKind::Exact);
            let trial = Trial {
                sweep: &sweep,
                place: Placement::of(self.pose),
                begin: 0,
                period: 1.0 / library.rate(),
            };
            around.is_free(&trial, Phase::Masks)
        };
        // A vehicle whose only free move is to stand still is stuck as well.
        let leaves = |frames: &[Frame]| {
            let ends = [frames[0], frames[frames.len() - 1]].map(|frame| frame.pose.position);
            (ends[1] - ends[0]).length() > STAYS
        };
        let moves = library.moves_from(state);
        let mut moves = moves.map(|number| &library.get(number).frames);
        if moves.any(|frames| leaves(frames) && is_free(frames)) {
            return None;
        }
        let state = &library.states()[usize::from(state.0)];
        Some(Finding {
            severity: Severity::Warning,
            code: Code::BlockedMoves,
            object: ObjectId::Agent(self.id),
            place: self.pose.position,
            message: format!(
                "starts where every move of the library \"{name}\" out of state \"{state}\" \
                 touches an obstacle or a tree; move its start"
            ),
        })
    }
}
