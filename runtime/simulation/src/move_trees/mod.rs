//! Agents that plan with move trees ([Adam 2007]) and play the clips of their plans.
//!
//! A played clip takes the place of the step of a level: pose, speed, lateral speed, yaw rate and wheel angle
//! are written from its frames. At the end of each move, the next moves are planned among the obstacles and
//! bodies of that moment. An agent whose motion fits no state of its library is driven by its controller, as
//! is one that has touched something, until it fits again.
//!
//! | file | contents |
//! | --- | --- |
//! | `mod.rs` | the moves of all agents, and their state |
//! | `frame.rs` | frames that replace a step of a level |
//! | `around.rs` | obstacles and bodies around an agent |
//! | `refusal.rs` | scenarios that cannot use move trees |

mod around;
mod frame;
mod refusal;

pub(crate) use frame::PlayedFrames;
pub(crate) use refusal::Asked;

use crate::dynamics::Bodies;
use crate::records::{AgentIndex, FARTHEST};
use crate::vehicle_type::VehicleTypes;
use around::{Around, Viewer};
use frame::{Moment, Placed};
use roadwright_agent::MoveTreeSearch;
use roadwright_geometry::DVec2;
use roadwright_ground::Ground;
use roadwright_moves::{
    Bounded, Frame, Loaded, MoveNumber, Phase, Placement, Plan, PlanEnd, Question, ShippedLibrary,
    StateNumber, Stop, Weights, distance, plan,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Distance from the goal within which an agent has arrived, m. It is slightly less than the radius of goals, so that
/// an agent whose plan touches this circle arrives.
const REACH: f64 = 5.0;
/// Time after a contact before the agent plans again, s.
const PAUSE: f64 = 1.0;
/// Time after a search without a free move before the agent plans again, s.
const TRIES_AGAIN: f64 = 0.2;
/// Maximum difference between the grip of the ground and the grip of the recording.
const OTHER_GRIP: f64 = 0.05;
/// Maximum difference between the slope of the ground and the slope of the recording, as rise over run.
const STEEP: f64 = 0.03;
/// Maximum deviation of a frame period from a whole number of steps, in steps.
const UNEVEN: f64 = 1e-6;

/// Returns the number of simulation steps per frame, for a frame rate in Hz and a step of `dt` seconds; `None` if it
/// is not a whole number.
pub(crate) fn steps_of_frame(rate: f64, dt: f64) -> Option<u32> {
    let steps = 1.0 / (rate * dt);
    let whole = steps.round();
    let is_whole = whole >= 1.0 && (steps - whole).abs() < UNEVEN * whole;
    is_whole.then_some(whole as u32)
}

/// State of an agent with a move tree in the current step.
pub(crate) struct Player {
    pub(crate) agent: AgentIndex,
    pub(crate) id: u64,
    pub(crate) goal: DVec2,
    pub(crate) search: MoveTreeSearch,
    /// Whether the body touches something.
    pub(crate) touches: bool,
}

/// Parts of the world that move trees read.
#[derive(Clone, Copy)]
pub(crate) struct MoveTreeView<'a> {
    pub(crate) ground: &'a Arc<Ground>,
    pub(crate) bodies: Bodies<'a>,
    pub(crate) types: &'a VehicleTypes,
    /// Number of the current step.
    pub(crate) step: u64,
    pub(crate) dt: f64,
}

/// A message for the log.
pub(crate) struct Note {
    pub(crate) agent: u64,
    pub(crate) text: String,
}

/// Status of an agent with a move tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
enum MoveStatus {
    /// The agent has not planned yet.
    #[default]
    New,
    /// The agent plays clips.
    Plays,
    /// No move is free.
    NoPath,
    /// The agent has touched something.
    Touched,
    /// The motion or body of the agent, or the ground, does not fit the library.
    Unfit(Misfit),
}

/// Reason why an agent cannot play the clips of its library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Misfit {
    Library,
    Level,
    Trailers,
    Step,
    Grip,
    Slope,
    Motion,
}

impl Misfit {
    fn words(self) -> &'static str {
        match self {
            Self::Library => "its library cannot be read",
            Self::Level => "its level of dynamics cannot play clips",
            Self::Trailers => "clips do not contain trailers",
            Self::Step => "the time step does not divide the period of its frames",
            Self::Grip => "its clips were recorded on ground with another grip",
            Self::Slope => "its clips were recorded on ground with another slope",
            Self::Motion => "its motion fits no state of the library",
        }
    }
}

impl MoveStatus {
    /// Describes the status in words; `None` if there is nothing to report.
    fn words(self) -> Option<String> {
        match self {
            Self::New | Self::Plays => None,
            Self::NoPath => Some("no path: no move is free".into()),
            Self::Touched => {
                Some("a contact has ended its plan, so its controller has taken over".into())
            }
            Self::Unfit(reason) => Some(format!("its move tree is not in use: {}", reason.words())),
        }
    }
}

/// A move that is being played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CurrentMove {
    library: String,
    /// Position of the rear axle and direction of the vehicle at the beginning of the move.
    position: DVec2,
    forward: DVec2,
    number: u16,
    moment: Moment,
}

impl CurrentMove {
    fn place(&self) -> Placement {
        Placement {
            position: self.position,
            forward: self.forward,
        }
    }

    fn is_sound(&self, loaded: &Loaded) -> bool {
        let moves = loaded.library.moves();
        let is_placed = self.position.abs().max_element() <= FARTHEST
            && (self.forward.length() - 1.0).abs() < 1e-6;
        let Some(driven) = moves.get(usize::from(self.number)) else {
            return false;
        };
        is_placed && self.moment.frame <= driven.length()
    }
}

/// The moves of an agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct AgentMoves {
    current: Option<CurrentMove>,
    /// Moves of the last plan after the current one, the next one last.
    ahead: Vec<u16>,
    status: MoveStatus,
    /// Step before which the agent does not plan.
    waits_until: u64,
}

/// The moves of all agents, for saves and hashes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct SavedMoves {
    /// Hashes of the libraries in use, by name.
    hashes: BTreeMap<String, String>,
    agents: BTreeMap<u64, AgentMoves>,
}

/// Reason why saved moves cannot be resumed.
pub(crate) enum ResumeError {
    /// The library has changed since the save, or no longer ships with the program.
    OtherLibrary(String),
    /// The saved moves are damaged.
    Damaged,
}

/// The moves of all agents with move trees.
#[derive(Default)]
pub(crate) struct MoveTrees {
    saved: SavedMoves,
    libraries: Libraries,
    around: Around,
    frames: PlayedFrames,
}

impl MoveTrees {
    /// Whether no agent has a move tree.
    pub(crate) fn is_empty(&self) -> bool {
        self.saved.agents.is_empty()
    }

    /// The state, for saves and hashes.
    pub(crate) fn saved(&self) -> &SavedMoves {
        &self.saved
    }

    /// Frames that are played in the current step.
    pub(crate) fn frames(&self) -> &PlayedFrames {
        &self.frames
    }

    /// Resumes saved moves.
    pub(crate) fn restore(&mut self, saved: SavedMoves) -> Result<(), ResumeError> {
        for (name, hash) in &saved.hashes {
            let shipped = ShippedLibrary::named(name);
            let loaded = shipped.and_then(|shipped| self.load(shipped));
            if loaded.is_none_or(|loaded| loaded.graph.hash() != *hash) {
                return Err(ResumeError::OtherLibrary(name.clone()));
            }
        }
        for agent in saved.agents.values() {
            let Some(current) = &agent.current else {
                continue;
            };
            let loaded = self.libraries.get(current.library.as_str());
            let Some(loaded) = loaded.filter(|loaded| current.is_sound(loaded)) else {
                return Err(ResumeError::Damaged);
            };
            let count = loaded.library.moves().len();
            if agent.ahead.iter().any(|&one| usize::from(one) >= count) {
                return Err(ResumeError::Damaged);
            }
        }
        self.saved = saved;
        Ok(())
    }

    fn load(&mut self, shipped: &ShippedLibrary) -> Option<Arc<Loaded>> {
        if let Some(loaded) = self.libraries.get(shipped.name) {
            return Some(loaded.clone());
        }
        let loaded = Arc::new(shipped.load().ok()?);
        self.libraries.insert(shipped.name, loaded.clone());
        Some(loaded)
    }

    /// Plans for agents at the end of a move, and determines the frame that each agent plays in this step. `players`
    /// must be in ascending order of id. Agents that are not in `players` lose their moves.
    pub(crate) fn step(&mut self, players: &[Player], scene: MoveTreeView<'_>) -> Vec<Note> {
        self.frames.clear();
        let has_player = |id: &u64| players.binary_search_by_key(id, |one| one.id).is_ok();
        self.saved.agents.retain(|id, _| has_player(id));
        let mut notes = Vec::new();
        for player in players {
            let saved = self.saved.agents.entry(player.id).or_default();
            let mut own = std::mem::take(saved);
            let before = own.status;
            self.play(player, &mut own, scene);
            if own.status != before
                && let Some(text) = own.status.words()
            {
                let agent = player.id;
                notes.push(Note { agent, text });
            }
            if let Some(saved) = self.saved.agents.get_mut(&player.id) {
                *saved = own;
            }
        }
        let SavedMoves { hashes, agents } = &mut self.saved;
        hashes.retain(|name, _| {
            let mut current = agents.values().filter_map(|agent| agent.current.as_ref());
            current.any(|current| current.library == *name)
        });
        notes
    }

    /// Plays the next step of an agent's move. If the move has ended, a new move begins.
    fn play(&mut self, player: &Player, own: &mut AgentMoves, scene: MoveTreeView<'_>) {
        let shipped = ShippedLibrary::named(player.search.library);
        let Some(loaded) = shipped.and_then(|shipped| self.load(shipped)) else {
            own.rest(MoveStatus::Unfit(Misfit::Library));
            return;
        };
        let steps = match scene.steps(player, &loaded) {
            Ok(steps) => steps,
            Err(reason) => {
                own.rest(MoveStatus::Unfit(reason));
                return;
            }
        };
        if player.touches {
            own.rest(MoveStatus::Touched);
            own.waits_until = scene.step + scene.count(PAUSE);
            return;
        }
        if own.current.is_none() && scene.step < own.waits_until {
            return;
        }
        if !own.is_within_move(&self.libraries) {
            self.begin_move(player, own, &loaded, scene);
        }
        let Some(current) = &mut own.current else {
            return;
        };
        let Some(playing) = self.libraries.get(current.library.as_str()) else {
            return;
        };
        current.moment = current.moment.next(steps);
        let placed = Placed {
            driven: playing.library.get(MoveNumber(current.number)),
            place: current.place(),
            steps,
            centre_of_gravity: playing.clips.body.centre_of_gravity,
        };
        self.frames.push(player.id, placed.at(current.moment));
    }

    /// Plans at the end of a move, or when an agent starts to play, and begins the next move.
    fn begin_move(
        &mut self,
        player: &Player,
        own: &mut AgentMoves,
        loaded: &Loaded,
        scene: MoveTreeView<'_>,
    ) {
        let (place, state) = match own.end_of_move(player.search.library, &self.libraries) {
            Some(end) => end,
            None => {
                own.ahead.clear();
                match scene.state(player, loaded) {
                    Some(state) => (Placement::of(scene.bodies.pose(player.agent)), state),
                    None => {
                        own.rest(MoveStatus::Unfit(Misfit::Motion));
                        return;
                    }
                }
            }
        };
        let found = self.plan(player, loaded, Begin { place, state }, scene);
        match found.end {
            PlanEnd::NoPath { .. } => own.status = MoveStatus::NoPath,
            PlanEnd::Horizon | PlanEnd::Limit | PlanEnd::Blocked => {
                own.status = MoveStatus::Plays;
                own.ahead = found.moves.iter().rev().map(|one| one.0).collect();
            }
        }
        let Some(number) = own.ahead.pop() else {
            own.rest(MoveStatus::NoPath);
            own.waits_until = scene.step + scene.count(TRIES_AGAIN);
            return;
        };
        let library = player.search.library;
        if !self.saved.hashes.contains_key(library) {
            let hash = loaded.graph.hash();
            self.saved.hashes.insert(library.into(), hash);
        }
        own.current = Some(CurrentMove {
            library: library.into(),
            position: place.position,
            forward: place.forward,
            number,
            moment: Moment { frame: 0, step: 0 },
        });
    }

    fn plan(
        &mut self,
        player: &Player,
        loaded: &Loaded,
        begin: Begin,
        scene: MoveTreeView<'_>,
    ) -> Plan {
        let library = &loaded.library;
        let longest = library.moves().iter().map(|one| one.length()).max();
        let frames = player.search.horizon + longest.unwrap_or(0);
        let seconds = f64::from(frames) / library.rate();
        let around = self.around.of(
            scene.ground,
            &Viewer {
                agent: player.agent,
                bodies: scene.bodies,
                types: scene.types,
                reach: library.body().reach() + library.top_speed() * seconds,
                seconds,
            },
        );
        let question = Question {
            place: begin.place,
            state: begin.state,
            goal: player.goal,
            reach: REACH,
            around,
            bounded: Bounded {
                horizon: player.search.horizon,
                limit: player.search.nodes,
                stop: Stop::AtLeaf,
                phase: Phase::Broad,
            },
        };
        plan(library, &question)
    }
}

/// Start of a plan: where its first move begins, and in which state.
struct Begin {
    place: Placement,
    state: StateNumber,
}

type Libraries = BTreeMap<&'static str, Arc<Loaded>>;

impl AgentMoves {
    /// Ends the plan, so that the agent's controller drives.
    fn rest(&mut self, status: MoveStatus) {
        self.current = None;
        self.ahead.clear();
        self.status = status;
    }

    fn is_within_move(&self, libraries: &Libraries) -> bool {
        self.current.as_ref().is_some_and(|current| {
            let loaded = libraries.get(current.library.as_str());
            let length = loaded.map(|loaded| {
                let driven = loaded.library.get(MoveNumber(current.number));
                driven.length()
            });
            length.is_some_and(|length| current.moment.frame < length)
        })
    }

    /// Placement and state at the end of the agent's current move; `None` if the agent plays no move of this library.
    fn end_of_move(
        &self,
        library: &str,
        libraries: &Libraries,
    ) -> Option<(Placement, StateNumber)> {
        let current = self.current.as_ref()?;
        let loaded = libraries.get(current.library.as_str())?;
        (current.library == library).then(|| {
            let driven = loaded.library.get(MoveNumber(current.number));
            let end = driven.placement(driven.frames.len() - 1);
            (current.place().then(&end), driven.to)
        })
    }
}

impl MoveTreeView<'_> {
    fn count(&self, seconds: f64) -> u64 {
        (seconds / self.dt).ceil() as u64
    }

    /// Number of simulation steps per frame if an agent can play a library here and now. Otherwise, returns the
    /// reason why it cannot.
    fn steps(&self, player: &Player, loaded: &Loaded) -> Result<u32, Misfit> {
        let who = &self.bodies.agents.identity[player.agent.index()];
        if !refusal::can_play(who.level) {
            return Err(Misfit::Level);
        }
        if !self.types.train(who.vehicle_type).is_empty() {
            return Err(Misfit::Trailers);
        }
        let steps = steps_of_frame(loaded.library.rate(), self.dt);
        let steps = steps.ok_or(Misfit::Step)?;
        let (pose, recorded) = (self.bodies.pose(player.agent), &loaded.clips.ground);
        let position = &self.bodies.agents.position[player.agent.index()];
        let layers = self.ground.layers(position.lanelet);
        let grip = self.ground.grip_on(pose.position, layers);
        if (grip - recorded.grip).abs() > OTHER_GRIP {
            return Err(Misfit::Grip);
        }
        let wheelbase = self.types.get(who.vehicle_type).limits.wheelbase;
        let slope = self.ground.slope(pose, wheelbase);
        if (slope - recorded.slope).abs() > STEEP {
            return Err(Misfit::Slope);
        }
        Ok(steps)
    }

    /// The state of a library that matches an agent's motion best. In a library whose speeds may jump, every motion
    /// matches the first state.
    fn state(&self, player: &Player, loaded: &Loaded) -> Option<StateNumber> {
        let Some(threshold) = loaded.graph.threshold else {
            return Some(loaded.graph.start_state());
        };
        let index = player.agent.index();
        let who = &self.bodies.agents.identity[index];
        let kind = self.types.get(who.vehicle_type);
        let [rear, yaw_rate] = self.bodies.slip(player.agent, kind);
        let own = Frame {
            forward: self.bodies.agents.motion[index].speed,
            sideways: rear + loaded.clips.body.centre_of_gravity * yaw_rate,
            yaw_rate,
            ..Frame::default()
        };
        let moves = loaded.library.moves().iter();
        let apart = moves.map(|one| {
            let apart = distance(&own, &one.frames[0], &Weights::default());
            (apart, one.from)
        });
        let closest = apart.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (closest.0 <= threshold).then_some(closest.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_last_a_whole_number_of_steps() {
        for (dt, steps) in [(0.01, 4), (0.02, 2), (0.04, 1), (0.008, 5)] {
            assert_eq!(steps_of_frame(25.0, dt), Some(steps), "{dt}");
        }
        for dt in [0.03, 0.05, 0.1, 0.0401] {
            assert_eq!(steps_of_frame(25.0, dt), None, "{dt}");
        }
    }

    #[test]
    fn the_libraries_of_the_planner_ship() {
        let registry = crate::builtin_modules();
        let planners = registry.of::<dyn roadwright_agent::GroundPlanner>();
        let planner = planners.iter().find(|one| one.info.id == "move_tree");
        let parameters = planner.unwrap().parameters;
        let roadwright_agent::ParameterKind::Choice(words) = parameters[0].kind else {
            panic!("the library is a choice");
        };
        let mut words = words.to_vec();
        words.sort_unstable();
        let shipped: Vec<&str> = roadwright_moves::SHIPPED
            .iter()
            .map(|one| one.name)
            .collect();
        assert_eq!(words, shipped);
    }
}
