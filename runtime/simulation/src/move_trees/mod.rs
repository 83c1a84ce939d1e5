//! Agents that plan with move trees ([Adam 2007]) and play or follow the clips of their plans.
//!
//! A played clip replaces the step of a dynamics level: pose, speed, lateral speed, yaw rate and
//! wheel angle are written from its frames. A followed clip is driven by the level itself, with the
//! recorded commands and corrections. At the end of each move, the next moves are planned around
//! the current obstacles and bodies. If the motion of an agent matches no state of its library, or
//! the agent has touched something, its controller drives until the motion matches again.
//!
//! | file | contents |
//! | --- | --- |
//! | `mod.rs` | the moves of all agents, and their state |
//! | `frame.rs` | frames that replace a step of a level |
//! | `libraries.rs` | shipped libraries and those of vehicle types |
//! | `goals.rs` | the next goals of an agent |
//! | `around.rs` | obstacles and bodies around an agent |
//! | `inspection.rs` | state of an agent with a move tree, for display |
//! | `refusal.rs` | scenarios that cannot use move trees |
//! | `blocked.rs` | clips that touch fixed obstacles |

mod around;
mod blocked;
mod frame;
mod goals;
mod inspection;
mod libraries;
mod refusal;

pub use blocked::{FixedOutlines, ObstacleTouch, blocked_moves};
pub(crate) use frame::PlayedFrames;
pub(crate) use goals::NextGoals;
pub use inspection::{InspectedMove, MoveInspection, WatchedBranch, WatchedTree};
pub(crate) use refusal::Asked;

use crate::dynamics::Bodies;
use crate::records::{AgentIndex, FARTHEST};
use crate::summary::MoveTreeRecord;
use crate::vehicle_type::{VehicleType, VehicleTypes};
use around::{Around, AskedHeuristic, Viewer};
use frame::{Moment, Placed};
use libraries::{Libraries, LibraryUse, Ready};
use roadwright_agent::{MoveExecution, MoveHeuristic, MoveTreeSearch};
use roadwright_geometry::{DVec2, Pose};
use roadwright_ground::Ground;
use roadwright_moves::{
    Bounded, ClipGround, FollowError, Frame, FrameCommand, Gear, HeuristicGoal, Loaded, Move,
    MoveNumber, Phase, Placement, Plan, PlanEnd, Question, StateNumber, Stop, Weights, distance,
    follow, plan, plan_with_tree,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An agent has arrived if it is within this distance of the goal, m. The distance is slightly less
/// than the radius of goals, so that an agent arrives if its plan touches the circle of its goal.
const REACH: f64 = 5.0;
/// Time that an agent waits after a contact before it plans again, s.
const PAUSE: f64 = 1.0;
/// Time that an agent waits before it plans again if a search has found no free move, s.
const TRIES_AGAIN: f64 = 0.2;
/// Speed below which a braking vehicle counts as stationary, m/s.
const STANDS: f64 = 0.1;
/// If the motions of a vehicle and its clip differ by more than this, a more similar frame of the
/// library is used. Applies to libraries whose speeds may jump.
const UNLIKE: f64 = 0.5;
/// Maximum difference between the grip of the ground and the grip of a recording. If it is larger,
/// the recorded moves are not used.
const OTHER_GRIP: f64 = 0.05;
/// Maximum difference between the slope of the ground and the slope of a recording, as rise over
/// run. If it is larger, the recorded moves are not used.
const STEEP: f64 = 0.03;
/// Maximum deviation of a frame period from a whole number of steps, as a number of steps.
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
    pub(crate) goals: NextGoals,
    pub(crate) search: MoveTreeSearch,
    /// Whether the agent's body touches an obstacle or another body.
    pub(crate) touches: bool,
}

/// Borrowed parts of the world that move trees read.
#[derive(Clone, Copy)]
pub(crate) struct MoveTreeView<'a> {
    pub(crate) ground: &'a Arc<Ground>,
    pub(crate) bodies: Bodies<'a>,
    pub(crate) types: &'a VehicleTypes,
    /// Number of the current step.
    pub(crate) step: u64,
    pub(crate) dt: f64,
}

/// A log message about an agent.
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
    /// The agent plays or follows clips.
    Plays,
    /// Every move is blocked.
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
            Self::Step => "the frame period of its clips is not a multiple of the time step",
            Self::Grip => {
                "the grip of its ground differs by more than 0.05 from that of the recorded clips"
            }
            Self::Slope => {
                "the slope of its ground differs by more than 3 % from that of the recorded clips"
            }
            Self::Motion => "its motion matches no state of the library",
        }
    }
}

impl MoveStatus {
    /// Describes the status in words; `None` if there is nothing to report.
    fn words(self) -> Option<String> {
        match self {
            Self::New | Self::Plays => None,
            Self::NoPath => Some("no path: every move is blocked".into()),
            Self::Touched => {
                Some("a contact ended its plan, so its controller has taken over".into())
            }
            Self::Unfit(reason) => Some(format!("its move tree is not in use: {}", reason.words())),
        }
    }
}

/// A move that is being played or followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CurrentMove {
    /// Index of the library among those in use.
    library: u16,
    /// Position of the rear axle at the start of the move. `forward` is the direction of the
    /// vehicle at that time.
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

    fn driven<'a>(&self, ready: &'a Ready) -> &'a Move {
        ready.loaded.library.get(MoveNumber(self.number))
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

/// The current move of an agent, and the moves planned after it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct AgentMoves {
    current: Option<CurrentMove>,
    /// Remaining moves of the last plan after the current one, in reverse order.
    ahead: Vec<u16>,
    status: MoveStatus,
    /// The agent does not plan before this step.
    waits_until: u64,
}

/// The moves of all agents, for saves and hashes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct SavedMoves {
    /// Libraries that have been used, in the order of their first use.
    libraries: Vec<LibraryUse>,
    agents: BTreeMap<u64, AgentMoves>,
}

/// Reason why saved moves cannot be resumed.
pub(crate) enum ResumeError {
    /// The library has changed since the save, or is missing.
    OtherLibrary(String),
    /// The saved moves are damaged.
    Damaged,
}

/// The moves of all agents with move trees.
#[derive(Default)]
pub(crate) struct MoveTrees {
    saved: SavedMoves,
    libraries: Libraries,
    /// Contents of the libraries in use. `None` for a library that no agent of a restored world
    /// uses.
    in_use: Vec<Option<Arc<Ready>>>,
    around: Around,
    frames: PlayedFrames,
    /// Agent whose trees are kept for display. The choice has no effect on the simulation.
    watched: Option<u64>,
    /// Last tree of the watched agent.
    tree: Option<Arc<WatchedTree>>,
}

impl MoveTrees {
    /// Whether no agent has or had a move tree.
    pub(crate) fn is_empty(&self) -> bool {
        self.saved.agents.is_empty() && self.saved.libraries.is_empty()
    }

    /// The moves of all agents, for saves and hashes.
    pub(crate) fn saved(&self) -> &SavedMoves {
        &self.saved
    }

    /// Frames and orders of the agents in the current step.
    pub(crate) fn frames(&self) -> &PlayedFrames {
        &self.frames
    }

    /// Libraries that have been used, with their hashes and the statistics of their agents.
    pub(crate) fn records(&self) -> Vec<MoveTreeRecord> {
        let libraries = self.saved.libraries.iter();
        libraries.map(MoveTreeRecord::from).collect()
    }

    /// Resumes saved moves. Libraries that are not shipped are taken from the vehicle types.
    pub(crate) fn restore(
        &mut self,
        saved: SavedMoves,
        types: &VehicleTypes,
    ) -> Result<(), ResumeError> {
        let mut used = vec![false; saved.libraries.len()];
        for agent in saved.agents.values() {
            if let Some(current) = &agent.current {
                let Some(used) = used.get_mut(usize::from(current.library)) else {
                    return Err(ResumeError::Damaged);
                };
                *used = true;
            }
        }
        let mut in_use = Vec::new();
        for (one, used) in saved.libraries.iter().zip(used) {
            let own = types.all_move_libraries().find(|own| own.file == one.name);
            let ready = match own {
                Some(own) => self.libraries.of_vehicle(own),
                None => self.libraries.shipped(&one.name),
            };
            let ready = ready.filter(|ready| ready.hash == one.hash);
            if used && ready.is_none() {
                return Err(ResumeError::OtherLibrary(one.name.clone()));
            }
            in_use.push(ready);
        }
        for agent in saved.agents.values() {
            let Some(current) = &agent.current else {
                continue;
            };
            let ready = in_use[usize::from(current.library)].as_ref();
            let loaded = ready.map(|ready| &ready.loaded);
            let Some(loaded) = loaded.filter(|loaded| current.is_sound(loaded)) else {
                return Err(ResumeError::Damaged);
            };
            let count = loaded.library.moves().len();
            if agent.ahead.iter().any(|&one| usize::from(one) >= count) {
                return Err(ResumeError::Damaged);
            }
        }
        self.saved = saved;
        self.in_use = in_use;
        Ok(())
    }

    /// Plans for agents at the end of a move, and determines the frame or order of each agent for this step.
    /// `players` must be in ascending order of id. Agents that are not in `players` lose their moves.
    pub(crate) fn step(&mut self, players: &[Player], scene: MoveTreeView<'_>) -> Vec<Note> {
        self.frames.clear();
        let has_player = |id: &u64| players.binary_search_by_key(id, |one| one.id).is_ok();
        self.saved.agents.retain(|id, _| has_player(id));
        let mut notes = Vec::new();
        for player in players {
            let saved = self.saved.agents.entry(player.id).or_default();
            let mut own = std::mem::take(saved);
            let before = own.status;
            self.drive(player, &mut own, scene);
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
        notes
    }

    /// Drives an agent for one step. If its move has ended, the next move begins.
    fn drive(&mut self, player: &Player, own: &mut AgentMoves, scene: MoveTreeView<'_>) {
        let (ready, steps) = match self.fitting(player, scene) {
            Ok(found) => found,
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
        let is_waiting = own.current.is_none() && scene.step < own.waits_until;
        if !is_waiting && !self.is_within_move(own) {
            self.begin_move(player, own, &ready, scene);
        }
        match player.search.execution {
            MoveExecution::Played => self.play(player, own, steps),
            MoveExecution::Replayed => self.follow(player, own, steps, scene),
        }
    }

    /// Finds the agent's first library that fits its state and the ground, with the number of
    /// simulation steps per frame.
    fn fitting(
        &mut self,
        player: &Player,
        scene: MoveTreeView<'_>,
    ) -> Result<(Arc<Ready>, u32), Misfit> {
        let mut reason = Misfit::Library;
        let library = player.search.library;
        let found = self.libraries.find(player.agent, library, scene, |ready| {
            match scene.steps(player, &ready.loaded) {
                Ok(steps) => Some((ready.clone(), steps)),
                Err(why) => {
                    reason = why;
                    None
                }
            }
        });
        found.ok_or(reason)
    }

    /// Plays the next step of an agent's move.
    fn play(&mut self, player: &Player, own: &mut AgentMoves, steps: u32) {
        let Some(current) = &mut own.current else {
            return;
        };
        let Some(playing) = &self.in_use[usize::from(current.library)] else {
            return;
        };
        current.moment = current.moment.next(steps);
        let placed = Placed::of(current, playing, steps);
        self.frames.push(player.id, placed.at(current.moment));
    }

    /// Commands an agent's vehicle to follow its move in this step. A vehicle without a free move
    /// brakes.
    fn follow(
        &mut self,
        player: &Player,
        own: &mut AgentMoves,
        steps: u32,
        scene: MoveTreeView<'_>,
    ) {
        let Some(current) = &mut own.current else {
            if own.status == MoveStatus::NoPath {
                let order = scene.braking(player.agent).into();
                self.frames.push_order(player.id, order);
            }
            return;
        };
        let Some(followed) = &self.in_use[usize::from(current.library)] else {
            return;
        };
        let now = scene.motion(player.agent, followed);
        if current.moment.step == 0 {
            let clip = Placed::of(current, followed, steps).motion(current.moment);
            let error = FollowError::of(&now, &clip);
            let figures = &mut self.saved.libraries[usize::from(current.library)].figures;
            figures.worst_distance = figures.worst_distance.max(error.distance());
            figures.worst_heading = figures.worst_heading.max(error.heading.abs());
            if error.is_large() {
                figures.corrections += 1;
                current.place_anew(&now, &clip, followed);
                // The rest of the plan began at the old end of the clip.
                own.ahead.clear();
            }
        }
        let clip = Placed::of(current, followed, steps).motion(current.moment);
        let command = follow(&now, &clip, scene.wheelbase(player.agent));
        self.frames.push_order(player.id, command.into());
        current.moment = current.moment.next(steps);
    }

    fn is_within_move(&self, own: &AgentMoves) -> bool {
        own.current.as_ref().is_some_and(|current| {
            let ready = self.in_use[usize::from(current.library)].as_ref();
            ready.is_some_and(|ready| current.moment.frame < current.driven(ready).length())
        })
    }

    /// Returns the index of a library among the libraries in use, and adds the library if it is
    /// new.
    fn number_of(&mut self, ready: &Arc<Ready>) -> u16 {
        let is_same = |one: &LibraryUse| one.name == ready.name && one.hash == ready.hash;
        let number = self.saved.libraries.iter().position(is_same);
        let number = number.unwrap_or_else(|| {
            self.saved.libraries.push(LibraryUse {
                name: ready.name.clone(),
                hash: ready.hash.clone(),
                ..LibraryUse::default()
            });
            self.in_use.push(None);
            self.in_use.len() - 1
        });
        if self.in_use[number].is_none() {
            self.in_use[number] = Some(ready.clone());
        }
        number as u16
    }

    /// Plans at the end of a move, or when an agent starts to play, and begins the next move.
    fn begin_move(
        &mut self,
        player: &Player,
        own: &mut AgentMoves,
        ready: &Arc<Ready>,
        scene: MoveTreeView<'_>,
    ) {
        let library = self.number_of(ready);
        let begin = match self.end_of_move(own, library) {
            Some(end) => Begin {
                place: match player.search.execution {
                    MoveExecution::Played => end.place,
                    MoveExecution::Replayed => Placement::of(scene.bodies.pose(player.agent)),
                },
                ..end
            },
            None => {
                own.ahead.clear();
                let Some(state) = scene.state(player, ready) else {
                    let brakes = own.status == MoveStatus::NoPath
                        && player.search.execution == MoveExecution::Replayed
                        && scene.moves(player.agent);
                    own.rest(match brakes {
                        true => MoveStatus::NoPath,
                        false => MoveStatus::Unfit(Misfit::Motion),
                    });
                    return;
                };
                let place = Placement::of(scene.bodies.pose(player.agent));
                Begin { place, state }
            }
        };
        let found = self.plan(player, ready, &begin, scene);
        let figures = &mut self.saved.libraries[usize::from(library)].figures;
        figures.plans += 1;
        match found.end {
            PlanEnd::NoPath { .. } => {
                figures.without_path += 1;
                own.status = MoveStatus::NoPath;
                if player.search.execution == MoveExecution::Replayed {
                    own.ahead.clear();
                }
            }
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
        figures.moves += 1;
        own.current = Some(CurrentMove {
            library,
            position: begin.place.position,
            forward: begin.place.forward,
            number,
            moment: Moment { frame: 0, step: 0 },
        });
    }

    /// Placement and state at the end of the agent's current move; `None` if the agent drives no move of this library.
    fn end_of_move(&self, own: &AgentMoves, library: u16) -> Option<Begin> {
        let current = own.current.as_ref()?;
        let ready = self.in_use[usize::from(current.library)].as_ref()?;
        (current.library == library).then(|| {
            let driven = current.driven(ready);
            let end = driven.placement(driven.frames.len() - 1);
            Begin {
                place: current.place().then(&end),
                state: driven.to,
            }
        })
    }

    fn plan(
        &mut self,
        player: &Player,
        ready: &Ready,
        begin: &Begin,
        scene: MoveTreeView<'_>,
    ) -> Plan {
        let library = &ready.loaded.library;
        let longest = library.moves().iter().map(|one| one.length()).max();
        let frames = player.search.horizon + longest.unwrap_or(0);
        let seconds = f64::from(frames) / library.rate();
        let goals = player.goals.places();
        let asked = AskedHeuristic {
            library,
            hash: &ready.hash,
            horizon: player.search.horizon,
            goal: HeuristicGoal {
                place: goals[goals.len() - 1],
                reach: REACH,
            },
        };
        // The heuristic is used only if there is a single goal left.
        let has_detours = player.search.heuristic == MoveHeuristic::Detours && goals.len() == 1;
        let seen = self.around.of(
            scene.ground,
            &Viewer {
                agent: player.agent,
                bodies: scene.bodies,
                types: scene.types,
                reach: library.body().reach() + library.top_speed() * seconds,
                seconds,
            },
            has_detours.then_some(&asked),
        );
        let question = Question {
            place: begin.place,
            state: begin.state,
            goals,
            reach: REACH,
            around: seen.around,
            heuristic: seen.heuristic,
            bounded: Bounded {
                horizon: player.search.horizon,
                limit: player.search.nodes,
                stop: Stop::AtLeaf,
                phase: Phase::Masks,
            },
        };
        if self.watched != Some(player.id) {
            return plan(library, &question);
        }
        let (found, tree) = plan_with_tree(library, &question);
        self.tree = Some(Arc::new(WatchedTree::of(&tree, library)));
        found
    }
}

/// Start of a plan: the pose and the state in which its first move begins.
struct Begin {
    place: Placement,
    state: StateNumber,
}

impl AgentMoves {
    /// Ends the plan, so that the agent's controller drives.
    fn rest(&mut self, status: MoveStatus) {
        self.current = None;
        self.ahead.clear();
        self.status = status;
    }
}

impl CurrentMove {
    /// Moves the clip to the pose of the vehicle. If the vehicle moves differently from the clip,
    /// the move continues with the frame of the library that is most similar to the vehicle's
    /// motion.
    fn place_anew(&mut self, now: &Frame, clip: &Frame, ready: &Ready) {
        let library = &ready.loaded.library;
        let threshold = ready.loaded.graph.threshold.unwrap_or(UNLIKE);
        if distance(now, clip, &Weights::default()) > threshold {
            let found = library.most_similar(now, &Weights::default());
            self.number = found.number.0;
            self.moment.frame = found.frame;
        }
        let driven = library.get(MoveNumber(self.number));
        let place = driven.place_for(self.moment.frame as usize, &now.placement());
        // Prevents rounding errors from adding up over many corrections.
        (self.position, self.forward) = (place.position, place.forward.normalize());
    }
}

impl MoveTreeView<'_> {
    /// Motion of an agent as a frame in world coordinates.
    fn motion(&self, agent: AgentIndex, ready: &Ready) -> Frame {
        let kind = self.kind(agent);
        let [rear, yaw_rate] = self.bodies.slip(agent, kind);
        Frame {
            pose: self.bodies.pose(agent),
            forward: self.bodies.agents.motion[agent.index()].speed,
            sideways: rear + ready.loaded.clips.body.centre_of_gravity * yaw_rate,
            yaw_rate,
            wheels: self.bodies.steering(agent, kind),
            ..Frame::default()
        }
    }

    fn kind(&self, agent: AgentIndex) -> &VehicleType {
        let who = &self.bodies.agents.identity[agent.index()];
        self.types.get(who.vehicle_type)
    }

    fn wheelbase(&self, agent: AgentIndex) -> f64 {
        self.kind(agent).limits.wheelbase
    }

    /// Whether an agent is still moving.
    fn moves(&self, agent: AgentIndex) -> bool {
        self.bodies.agents.motion[agent.index()].speed.abs() > STANDS
    }

    /// Returns the command to brake as hard as possible while the wheels keep their angle.
    fn braking(&self, agent: AgentIndex) -> FrameCommand {
        let kind = self.kind(agent);
        let speed = self.bodies.agents.motion[agent.index()].speed;
        FrameCommand {
            steering: self.bodies.steering(agent, kind),
            acceleration: -kind.limits.max_braking,
            gear: match speed < 0.0 {
                true => Gear::Reverse,
                false => Gear::Forwards,
            },
            ..FrameCommand::default()
        }
    }

    fn count(&self, seconds: f64) -> u64 {
        (seconds / self.dt).ceil() as u64
    }

    /// Returns the number of simulation steps per frame.
    ///
    /// # Errors
    /// If the state of the agent or the ground does not fit the library. The error gives the
    /// reason.
    fn steps(&self, player: &Player, loaded: &Loaded) -> Result<u32, Misfit> {
        let who = &self.bodies.agents.identity[player.agent.index()];
        if !refusal::can_drive(who.level, player.search.execution) {
            return Err(Misfit::Level);
        }
        if !self.types.train(who.vehicle_type).is_empty() {
            return Err(Misfit::Trailers);
        }
        let steps = steps_of_frame(loaded.library.rate(), self.dt);
        let steps = steps.ok_or(Misfit::Step)?;
        let position = &self.bodies.agents.position[player.agent.index()];
        let spot = Spot {
            pose: self.bodies.pose(player.agent),
            layers: self.ground.layers(position.lanelet),
            wheelbase: self.types.get(who.vehicle_type).limits.wheelbase,
        };
        if let Some(reason) = spot.misfit(self.ground, &loaded.clips.ground) {
            return Err(reason);
        }
        Ok(steps)
    }

    /// Returns the state of a library from which an agent can begin now; `None` if no state matches
    /// the motion of the agent.
    fn state(&self, player: &Player, ready: &Ready) -> Option<StateNumber> {
        let own = self.motion(player.agent, ready);
        state_for(&ready.loaded, &own)
    }
}

/// Finds the state of a library that best matches a motion; `None` if none matches. In a library
/// whose speeds may jump, the first state matches every motion.
fn state_for(loaded: &Loaded, motion: &Frame) -> Option<StateNumber> {
    let Some(threshold) = loaded.graph.threshold else {
        return Some(loaded.graph.start_state());
    };
    let moves = loaded.library.moves().iter();
    let apart = moves.map(|one| {
        let apart = distance(motion, &one.frames[0], &Weights::default());
        (apart, one.from)
    });
    let closest = apart.min_by(|a, b| a.0.total_cmp(&b.0))?;
    (closest.0 <= threshold).then_some(closest.1)
}

/// Position of a vehicle on the ground.
struct Spot {
    pose: Pose,
    /// Road layers of the position (bit mask).
    layers: u32,
    /// Wheelbase of the vehicle, m.
    wheelbase: f64,
}

impl Spot {
    /// Reason why the ground differs too much from the ground of recorded clips; `None` if they are
    /// similar.
    fn misfit(&self, ground: &Ground, recorded: &ClipGround) -> Option<Misfit> {
        let grip = ground.grip_on(self.pose.position, self.layers);
        if (grip - recorded.grip).abs() > OTHER_GRIP {
            return Some(Misfit::Grip);
        }
        let slope = ground.slope(self.pose, self.wheelbase);
        ((slope - recorded.slope).abs() > STEEP).then_some(Misfit::Slope)
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
        // The choice `of_vehicle` means the libraries of the vehicle type, which do not ship.
        words.retain(|&word| word != "of_vehicle");
        assert_eq!(words, shipped);
    }
}
