//! Contacts of recorded clips with the fixed obstacles of a scenario, and agents that cannot begin a move.

use super::around::{is_in_the_way, outlines};
use super::refusal::{Asked, libraries};
use crate::builtin_modules;
use crate::dynamics::LevelChoice;
use crate::open_ground::body_of;
use roadwright_ground::{Ground, Owner};
use roadwright_moves::{
    BodyOutline, Convex, Frame, Loaded, Phase, Placement, StateNumber, Surroundings, Sweep,
    SweepKind, Trial, Weights, distance, first_touch,
};
use roadwright_scenario::check::{Code, Finding, Severity};
use roadwright_scenario::{Agent, AgentId, ObjectId, Place, Scenario, VehicleType};

/// Distance between the ends of a move up to which it leaves the vehicle where it is, m.
const STAYS: f64 = 0.1;

/// Fixed obstacles that a body can touch, as outlines with their owners. Loose obstacles are at their initial
/// positions.
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
    /// The obstacle, or the forest of the tree.
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

    /// The first contact of a clip that was recorded on this ground; `None` if there is none. Poses are those of the
    /// middle of the rear axle in the world.
    pub fn first_touch(&self, frames: &[Frame], body: &BodyOutline) -> Option<ObstacleTouch> {
        let touch = first_touch(frames, body, &self.outlines)?;
        Some(ObstacleTouch {
            frame: touch.frame,
            object: self.owners[touch.outline],
        })
    }
}

/// Returns findings about agents that start off the lanes in places where each move of their move trees that leads
/// away touches a fixed obstacle.
pub fn blocked_moves(scenario: &Scenario) -> Vec<Finding> {
    let modules = builtin_modules();
    let asked = Asked {
        scenario,
        stacks: &[],
        registry: &modules,
        levels: LevelChoice {
            forced: None,
            default: scenario.settings().dynamics,
        },
        dt: scenario.settings().dt.get(),
    };
    let mut ground = None;
    let mut findings = Vec::new();
    for (&id, agent) in scenario.agents() {
        let stack = scenario.stacks().get(&agent.stack);
        let search = stack.and_then(|stack| asked.search(&agent.stack, stack));
        let kind = scenario.vehicle_types().get(&agent.vehicle);
        let (Some(search), Some(kind), Place::Ground(_)) = (search, kind, agent.start) else {
            continue;
        };
        let ground = ground.get_or_insert_with(|| Ground::new(scenario));
        // Libraries that cannot be read are reported as such.
        let libraries = libraries(&agent.vehicle, kind, search.library).unwrap_or_default();
        let Some(library) = libraries.first() else {
            continue;
        };
        let start = Start {
            scenario,
            id,
            agent,
        };
        let outlines = FixedOutlines::of(ground, kind).outlines;
        findings.extend(start.finding(&library.name, &library.loaded, outlines));
    }
    findings
}

/// The start of an agent with a move tree.
struct Start<'a> {
    scenario: &'a Scenario,
    id: AgentId,
    agent: &'a Agent,
}

impl Start<'_> {
    fn finding(&self, name: &str, loaded: &Loaded, outlines: Vec<Convex>) -> Option<Finding> {
        let pose = self.scenario.pose_of(&self.agent.start)?;
        let place = Placement::of(pose);
        let state = self.state(loaded)?;
        let around = Surroundings::of(outlines);
        let library = &loaded.library;
        let is_free = |frames: &[Frame]| {
            let sweep = Sweep::of(frames, library.body(), SweepKind::Exact);
            let trial = Trial {
                sweep: &sweep,
                place,
                begin: 0,
                period: 1.0 / library.rate(),
            };
            around.is_free(&trial, Phase::Broad)
        };
        // A vehicle that can only stand is stuck too.
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
            place: pose.position,
            message: format!(
                "starts where each move of the library \"{name}\" from state \"{state}\" that leads away touches an \
                 obstacle or a tree; move its start"
            ),
        })
    }

    /// The state of a library in which the agent begins; `None` if its speed fits none.
    fn state(&self, loaded: &Loaded) -> Option<StateNumber> {
        let Some(threshold) = loaded.graph.threshold else {
            return Some(loaded.graph.start_state());
        };
        let motion = Frame {
            forward: self.agent.speed.get(),
            ..Frame::default()
        };
        let moves = loaded.library.moves().iter();
        let apart = moves.map(|one| {
            let apart = distance(&motion, &one.frames[0], &Weights::default());
            (apart, one.from)
        });
        let closest = apart.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (closest.0 <= threshold).then_some(closest.1)
    }
}
