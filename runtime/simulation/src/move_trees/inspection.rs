//! Inspection of an agent with a move tree: its clip, its route, its tracking error, and the last
//! tree that it searched.

use super::frame::{Moment, Placed};
use super::libraries::Ready;
use super::{AgentMoves, CurrentMove, MoveTreeView, MoveTrees, steps_of_frame};
use crate::records::AgentIndex;
use roadwright_geometry::{DVec2, Pose};
use roadwright_moves::{
    Branch, BranchOutcome, FollowError, Library, Move, MoveNumber, Placement, RouteTree,
};
use std::sync::Arc;

/// Maximum number of branches of a tree that are kept for display. The branches that were tested
/// first are kept.
const MOST_BRANCHES: usize = 4000;
/// Number of frames between the points of a drawn move.
const FRAMES_BETWEEN_POINTS: usize = 5;

/// State of an agent with a move tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MoveInspection {
    /// Id of the agent.
    pub agent: u64,
    /// Reason why the agent does not drive by its move tree; `None` if it does, or has not planned yet.
    pub problem: Option<String>,
    /// The clip that the agent plays or follows.
    pub current: Option<InspectedMove>,
    /// Path of the rear axle over the rest of the current move and the moves planned after it, m.
    pub route: Vec<DVec2>,
    /// The tree of the last plan. Only the watched agent has one, once it has planned.
    pub tree: Option<Arc<WatchedTree>>,
}

/// The clip that an agent plays or follows.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectedMove {
    /// Name of the library.
    pub library: String,
    /// Name of the move.
    pub name: String,
    /// State in which the move ends.
    pub to: String,
    /// Number of the current frame in the move.
    pub frame: u32,
    /// Duration of the move, in frames.
    pub length: u32,
    /// Number of moves that are planned after this one.
    pub ahead: usize,
    /// Pose of the middle of the rear axle in the clip at this moment.
    pub pose: Pose,
    /// Outline of the body in the clip at this moment, m.
    pub outline: [DVec2; 4],
    /// Distance of the vehicle from its clip, m.
    pub distance: f64,
    /// Heading of the vehicle relative to the clip, rad.
    pub heading: f64,
}

/// A route tree for display.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WatchedTree {
    /// Tested branches in the order of their tests, followed by the untested ones.
    pub branches: Vec<WatchedBranch>,
    /// Number of moves that the search has put into its open list.
    pub nodes: usize,
    /// Number of moves that were tested.
    pub tested: usize,
}

/// A move of a route tree for display.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedBranch {
    /// Path of the middle of the rear axle, m.
    pub points: Vec<DVec2>,
    /// Whether the move touches an obstacle or another body; `None` if it was not tested.
    pub is_blocked: Option<bool>,
}

impl WatchedTree {
    /// Converts a route tree for display.
    pub(super) fn of(tree: &RouteTree, library: &Library) -> Self {
        let all = &tree.branches;
        let drawn = all.iter().take(MOST_BRANCHES);
        Self {
            branches: drawn.map(|branch| branch_of(branch, library)).collect(),
            nodes: all.len(),
            tested: all
                .iter()
                .filter(|one| one.outcome != BranchOutcome::Untested)
                .count(),
        }
    }
}

fn branch_of(branch: &Branch, library: &Library) -> WatchedBranch {
    let driven = library.get(branch.number);
    let mut points = Vec::new();
    add_points(driven, &branch.place, 0, &mut points);
    WatchedBranch {
        points,
        is_blocked: match branch.outcome {
            BranchOutcome::Free => Some(false),
            BranchOutcome::Blocked => Some(true),
            BranchOutcome::Untested => None,
        },
    }
}

/// Adds points along the path of a move, starting at a frame.
fn add_points(driven: &Move, place: &Placement, from: usize, points: &mut Vec<DVec2>) {
    let last = driven.frames.len() - 1;
    let frames = (from..last).step_by(FRAMES_BETWEEN_POINTS);
    for frame in frames.chain([last]) {
        points.push(place.then(&driven.placement(frame)).position);
    }
}

impl MoveTrees {
    /// Selects the agent whose trees are kept for display.
    pub(crate) fn watch(&mut self, agent: Option<u64>) {
        if self.watched != agent {
            self.watched = agent;
            self.tree = None;
        }
    }

    /// Inspects an agent; `None` if it has no move tree.
    pub(crate) fn inspect(
        &self,
        id: u64,
        agent: AgentIndex,
        scene: MoveTreeView<'_>,
    ) -> Option<MoveInspection> {
        let own = self.saved.agents.get(&id)?;
        let mut inspection = MoveInspection {
            agent: id,
            problem: own.status.words(),
            tree: self.tree.clone().filter(|_| self.watched == Some(id)),
            ..MoveInspection::default()
        };
        if let Some(current) = &own.current
            && let Some(ready) = self.in_use[usize::from(current.library)].as_ref()
            && let Some(steps) = steps_of_frame(ready.loaded.library.rate(), scene.dt)
        {
            let placed = Placed::of(current, ready, steps);
            inspection.route = route(own, current, ready);
            inspection.current = Some(current.inspected(own, &placed, ready, agent, scene));
        }
        Some(inspection)
    }
}

impl CurrentMove {
    fn inspected(
        &self,
        own: &AgentMoves,
        placed: &Placed<'_>,
        ready: &Ready,
        agent: AgentIndex,
        scene: MoveTreeView<'_>,
    ) -> InspectedMove {
        let clip = placed.motion(self.moment);
        let error = FollowError::of(&scene.motion(agent, ready), &clip);
        let library = &ready.loaded.library;
        let to = usize::from(placed.driven.to.0);
        InspectedMove {
            library: ready.name.clone(),
            name: placed.driven.name.clone(),
            to: library.states()[to].clone(),
            frame: self.moment.frame,
            length: placed.driven.length(),
            ahead: own.ahead.len(),
            pose: clip.pose,
            outline: library.body().corners(&clip.placement()),
            distance: error.distance(),
            heading: error.heading,
        }
    }
}

/// Returns the path over the rest of a move and the moves planned after it.
fn route(own: &AgentMoves, current: &CurrentMove, ready: &Ready) -> Vec<DVec2> {
    let library = &ready.loaded.library;
    let mut points = Vec::new();
    let (mut place, mut driven) = (current.place(), current.driven(ready));
    let Moment { frame, .. } = current.moment;
    add_points(driven, &place, frame as usize, &mut points);
    for &next in own.ahead.iter().rev() {
        place = place.then(&driven.placement(driven.frames.len() - 1));
        driven = library.get(MoveNumber(next));
        add_points(driven, &place, 0, &mut points);
    }
    points
}
