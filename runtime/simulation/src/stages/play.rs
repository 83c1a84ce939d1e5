//! Plays or follows the clips of agents with move trees.

use super::ground_plan::OffRoad;
use crate::agents::{AgentsRef, ControlColumns};
use crate::move_trees::{MoveInspection, MoveTreeView, MoveTrees, Note, PlayedFrames, Player};
use crate::records::AgentIndex;
use crate::route::Routes;
use crate::traffic::Contacts;
use roadwright_agent::GroundSearch;

/// Plans for agents with move trees, and finds the frames that they play or follow in this step.
/// Returns messages for the log.
pub(crate) fn play(
    given: OffRoad<'_>,
    contacts: &Contacts,
    trees: &mut MoveTrees,
    routes: &Routes,
    agents: AgentsRef<'_>,
) -> Vec<Note> {
    let mut players = Vec::new();
    if given.any_move_tree() {
        players.extend(agents.driving().filter_map(|agent| {
            let GroundSearch::MoveTree(search) = given.planning(agent, agents)?.search else {
                return None;
            };
            let goals = given.goals(agent, routes, agents)?;
            let id = agents.identity[agent.index()].id;
            Some(Player {
                agent,
                id,
                goals,
                search,
                touches: contacts.touch(id),
            })
        }));
    }
    players.sort_unstable_by_key(|one| one.id);
    trees.step(&players, view(&given, agents))
}

/// Returns the planning state of an agent with a move tree; `None` for other agents.
pub(crate) fn inspect(
    given: OffRoad<'_>,
    trees: &MoveTrees,
    agents: AgentsRef<'_>,
    id: u64,
    agent: AgentIndex,
) -> Option<MoveInspection> {
    trees.inspect(id, agent, view(&given, agents))
}

/// Borrows the parts of the world that move trees read.
fn view<'a>(given: &'a OffRoad<'a>, agents: AgentsRef<'a>) -> MoveTreeView<'a> {
    MoveTreeView {
        ground: given.ground,
        bodies: given.bodies(agents),
        types: given.types,
        step: given.clock.step,
        dt: given.clock.dt,
    }
}

/// Replaces the commands of agents that play or follow clips by the commands of the clips.
pub(crate) fn order(frames: &PlayedFrames, agents: &mut ControlColumns<'_>) {
    for (id, order) in frames.orders() {
        if let Some(agent) = agents.census.find(id) {
            agents.give(agent.index(), order);
        }
    }
}
