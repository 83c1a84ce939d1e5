//! State of traffic signals, and its update in each step.
//!
//! Junctions that follow one programme share one state. A policy (`policy.rs`) chooses the next
//! stage: fixed times, demand, or a module. This file enforces the rules that no policy can change:
//! the minimum green, amber and all-red between two stages, and the limit on every wait.
//!
//! ```text
//!   green ---- min ---- kept or held ---- next is named, or max since others wait ---- amber ---- red ---- next
//! ```
//!
//! The phases of fixed-time plans, including amber and red, are computed from the clock, so that
//! they do not drift over hours. When an agent calls or holds a stage, the signals leave this plan.
//! They return to it as soon as the plan has the same stage with enough green left. After an edit
//! of the signals themselves, all connections get amber and red, and then the signals start again.

mod closing;
mod desk;
mod detectors;
mod policy;
mod walk;

use crate::agents::Census;
use crate::clock::Clock;
use crate::modules::SignalControllers;
use desk::Desk;
pub(crate) use desk::Wish;
pub(crate) use detectors::{Comer, look};
use policy::{Policy, planned};
use roadwright_agent::SignalView;
use roadwright_ground::Ground;
use roadwright_scenario::junction::{Between, LONGEST_WAIT, Light, Programme};
use roadwright_scenario::{Connection, JunctionIndex, SignalMode};
use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;

/// An approaching vehicle extends its green if it can reach the stop line within this time, s ([HCM
/// 2016], chapter 19: the passage time of a detector).
const PASSAGE: f64 = 3.0;
/// A vehicle within this distance of the stop line extends its green at any speed, m. Such vehicles
/// start from a queue.
const AT_LINE: f64 = 15.0;
/// Tolerance for comparing times, which are sums of steps, s.
const ROUNDING: f64 = 1e-9;

/// Phase of the current stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Green,
    Amber,
    AllRed,
    /// Amber for all connections before a restart of signals that an edit has changed.
    ClosingAmber,
    /// Red for all connections after `ClosingAmber`.
    ClosingRed,
    /// Amber for all connections before an edit that has to wait until the junction is empty.
    LastAmber,
    /// Red for all connections after `LastAmber`, until the edit has been applied.
    Closed,
    /// Red for all connections, with amber for the connections that get green next.
    RedAmber,
    /// Like `RedAmber`, before the first stage of signals that were changed by an edit.
    Opening,
}

impl From<Option<Between>> for Phase {
    fn from(between: Option<Between>) -> Self {
        match between {
            None => Self::Green,
            Some(Between::Amber) => Self::Amber,
            Some(Between::AllRed) => Self::AllRed,
            Some(Between::RedAmber) => Self::RedAmber,
        }
    }
}

/// State of one programme.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct State {
    stage: u32,
    /// Stage that follows the current one.
    next: u32,
    phase: Phase,
    /// Start of the phase, s.
    since: f64,
    /// Time at which a vehicle or pedestrian began to wait for another stage, s.
    opposed: f64,
}

/// Phase of a stage, as shown to users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StagePhase {
    /// Green for the connections of the stage.
    Green,
    /// Amber for the connections that lose green.
    Amber,
    /// Red for all connections.
    AllRed,
    /// Red for all connections, with amber for the connections that get green next.
    RedAmber,
}

/// State of one programme, for the inspection of a junction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    pub(crate) stage: usize,
    /// Next stage. Under demand control, it is unknown until the green ends.
    pub(crate) next: usize,
    pub(crate) phase: StagePhase,
    /// Whether the signals are closing because an edit has changed them.
    pub(crate) is_closing: bool,
    /// Start of the phase, s.
    pub(crate) since: f64,
    /// Time at which a vehicle or pedestrian began to wait for another stage, s; infinite if none waits.
    pub(crate) opposed: f64,
    /// Whether a request of an agent has taken the signals off their fixed-time plan.
    pub(crate) is_off_clock: bool,
    /// End of the time for which agents hold the stage, s.
    pub(crate) held_until: Option<f64>,
}

/// Duration of each hold of green by a vehicle in a ring of full lanes, s. The vehicle repeats its
/// request once a second.
const HELD_FOR_RINGS: f64 = 2.5;

/// A vehicle that approaches a signal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// Junction and connection that the vehicle approaches.
    pub(super) path: Connection,
    /// Distance from the vehicle's front to the stop line, m.
    pub(super) distance: f64,
    /// Speed, m/s.
    pub(super) speed: f64,
    /// Whether there is room beyond the junction for the vehicle if it gets green.
    pub(super) has_room: bool,
}

/// Demand for the stages of one programme.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Demand {
    /// Stages that vehicles or pedestrians wait for, one bit each.
    calls: u32,
    /// Whether a vehicle that approaches with green extends the green.
    extends: bool,
}

/// State of all signals, in the order of the groups of [`Ground::signal_groups`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SignalStates {
    states: Vec<State>,
    /// Requests for the stages of each programme.
    desks: Vec<Desk>,
    demand: Vec<Demand>,
    /// Programmes, each with a bit mask of the stages in which waiting pedestrians would walk.
    #[serde(skip)]
    walks: Vec<(usize, u32)>,
}

impl State {
    /// Creates the state at the start of a run or of a programme.
    fn begin(programme: &Programme, time: f64) -> Self {
        let mut state = Self {
            stage: 0,
            next: 0,
            phase: Phase::Green,
            since: time,
            opposed: f64::INFINITY,
        };
        if programme.mode == SignalMode::Fixed {
            state.read_off(programme, time);
        }
        state
    }

    fn enter(&mut self, phase: Phase, time: f64) {
        (self.phase, self.since) = (phase, time);
    }

    /// Computes the state of a fixed-time plan from the clock.
    fn read_off(&mut self, programme: &Programme, time: f64) {
        let (stage, within) = programme.stage_at(time);
        let next = programme.next(stage);
        let phase = Phase::from(programme.between(stage, within));
        if (self.stage, self.phase) != (stage as u32, phase) {
            self.enter(phase, time);
        }
        (self.stage, self.next) = (stage as u32, next as u32);
    }

    /// Advances the state to `time` (s), depending on its previous state, the demand and the requests.
    fn go_on(
        &mut self,
        programme: &Programme,
        demand: Demand,
        time: f64,
        desk: &mut Desk,
        policy: &mut Policy<'_>,
    ) {
        let lasts = |duration: f64| time - self.since + ROUNDING < duration;
        let intergreen = programme.intergreen(self.stage as usize, self.next as usize);
        // This is a closure because it examines all pairs of stages and is only needed where a
        // programme begins or ends.
        let closing = || programme.longest_intergreen();
        match self.phase {
            Phase::ClosingAmber if lasts(closing().amber) => {}
            Phase::ClosingAmber => self.enter(Phase::ClosingRed, time),
            Phase::ClosingRed if lasts(closing().all_red) => {}
            Phase::ClosingRed => self.open(programme, time),
            Phase::Opening if lasts(closing().red_amber) => {}
            Phase::Opening => *self = Self::begin(programme, time),
            Phase::LastAmber if lasts(closing().amber) => {}
            Phase::LastAmber => self.enter(Phase::Closed, time),
            Phase::Closed => {}
            _ if self.is_on_clock(programme, time, desk) => self.read_off(programme, time),
            Phase::Green => {
                if let Some(next) = self.wanted(programme, demand, time, desk, policy) {
                    self.next = next;
                    self.enter(Phase::Amber, time);
                }
            }
            Phase::Amber if lasts(intergreen.amber) => {}
            Phase::Amber => self.enter(Phase::AllRed, time),
            Phase::AllRed if lasts(intergreen.all_red - intergreen.red_amber) => {}
            Phase::AllRed if intergreen.red_amber > 0.0 => self.enter(Phase::RedAmber, time),
            Phase::RedAmber if lasts(intergreen.red_amber) => {}
            Phase::AllRed | Phase::RedAmber => {
                self.stage = self.next;
                self.opposed = f64::INFINITY;
                self.enter(Phase::Green, time);
            }
        }
    }

    /// Starts the programme after an edit. If it starts with green, red and amber are shown first.
    fn open(&mut self, programme: &Programme, time: f64) {
        *self = Self::begin(programme, time);
        let is_shown = programme.longest_intergreen().red_amber > 0.0;
        if is_shown && self.phase == Phase::Green {
            self.next = self.stage;
            self.enter(Phase::Opening, time);
        }
    }

    /// Whether the signals follow a fixed-time plan. They leave the plan while an agent calls or
    /// holds a stage. They return to it once the plan has the same stage and enough time is left
    /// for the stage's minimum green.
    fn is_on_clock(&self, programme: &Programme, time: f64, desk: &mut Desk) -> bool {
        if programme.mode != SignalMode::Fixed {
            return false;
        }
        if self.phase != Phase::Green {
            return !desk.is_off_clock;
        }
        let is_asked = desk.called() & !(1 << self.stage) != 0 || desk.holds(self.stage, time);
        if is_asked {
            desk.is_off_clock = true;
        } else if desk.is_off_clock {
            let (stage, within) = programme.stage_at(time);
            let times = programme.stages[stage];
            let left = times.green - within;
            let is_kept = self.since + times.min <= time + left;
            desk.is_off_clock = stage as u32 != self.stage || left <= 0.0 || !is_kept;
        }
        !desk.is_off_clock
    }

    /// Returns the next stage; `None` if the current green should continue.
    fn wanted(
        &mut self,
        programme: &Programme,
        demand: Demand,
        time: f64,
        desk: &mut Desk,
        policy: &mut Policy<'_>,
    ) -> Option<u32> {
        let called = desk.called() & !(1 << self.stage);
        let others = (demand.calls & !(1 << self.stage)) | called;
        self.opposed = if others == 0 {
            f64::INFINITY
        } else {
            self.opposed.min(time)
        };
        let times = programme.stages[self.stage as usize];
        let is_short = time - self.since + ROUNDING < times.min;
        // The limit of a hold counts from its start, even during the minimum green.
        let is_held = desk.holds(self.stage, time);
        if is_short || is_held {
            return None;
        }
        let is_fixed = programme.mode == SignalMode::Fixed;
        let opposed_for = (others != 0).then(|| time - self.opposed.max(self.since));
        let view = SignalView {
            stage: self.stage,
            opposed_for,
            calls: others,
            is_extended: demand.extends,
            // Only fixed-time plans need this, and most signals have no such plan.
            planned: if is_fixed {
                planned(programme, time)
            } else {
                self.stage
            },
            times: &programme.stages,
            facts: None,
        };
        // Stages that have waited too long come before all other decisions, and calls come before
        // the policy.
        let starved = desk.starved(time, || LONGEST_WAIT.max(programme.cycle()));
        let by_call = SignalView {
            calls: called,
            ..view
        };
        let wanted = starved
            .or_else(|| by_call.next_called())
            .or_else(|| policy.decide(desk, view))
            .filter(|next| *next != self.stage && (*next as usize) < programme.stages.len());
        // No policy may exceed the maximum green while others wait.
        let is_overdue = !is_fixed && view.is_overdue();
        wanted.or_else(|| view.next_called().filter(|_| is_overdue))
    }

    /// Time until the green can end, s. Between stages, the time until the next stage begins.
    fn remaining(&self, programme: &Programme, desk: &Desk, time: f64) -> f64 {
        let intergreen = programme.intergreen(self.stage as usize, self.next as usize);
        let closing = programme.longest_intergreen();
        let elapsed = time - self.since;
        let left = match self.phase {
            Phase::Green if programme.mode == SignalMode::Fixed && !desk.is_off_clock => {
                let (stage, within) = programme.stage_at(time);
                programme.stages[stage].green - within
            }
            Phase::Green => {
                let shortest = programme.stages[self.stage as usize].min - elapsed;
                let held = desk
                    .hold_of(self.stage, time)
                    .map_or(0.0, |until| until - time);
                shortest.max(held)
            }
            Phase::Amber => intergreen.duration() - elapsed,
            Phase::AllRed => intergreen.all_red - elapsed,
            Phase::RedAmber => intergreen.red_amber - elapsed,
            Phase::Opening => closing.red_amber - elapsed,
            Phase::ClosingAmber | Phase::LastAmber => closing.duration() - elapsed,
            Phase::Closed => 0.0,
            Phase::ClosingRed => closing.all_red - elapsed,
        };
        left.max(0.0)
    }
}

impl SignalStates {
    /// Creates the state at the beginning of a run.
    pub(crate) fn new(ground: &Ground) -> Self {
        let states: Vec<State> = ground.programmes().map(|p| State::begin(p, 0.0)).collect();
        Self {
            desks: vec![Desk::default(); states.len()],
            states,
            demand: Vec::new(),
            walks: Vec::new(),
        }
    }

    /// Whether there is a state for each programme of a ground, with stages that exist.
    pub(crate) fn fit(&self, ground: &Ground) -> bool {
        let count = ground.programmes().count();
        let mut pairs = self.states.iter().zip(&self.desks).zip(ground.programmes());
        self.states.len() == count
            && self.demand.len() <= count
            && self.desks.len() == count
            && pairs.all(|((state, desk), programme)| {
                let stages = programme.stages.len();
                let is_there = |stage: u32| (stage as usize) < stages;
                is_there(state.stage) && is_there(state.next) && desk.fits(stages)
            })
    }

    /// Advances the signals by one step. `arrivals` are the vehicles that approach signals; with
    /// `None`, the demand of the previous step is kept. Modules that are due make decisions and see
    /// the vehicles in `comers`. Returns the faults of modules, by programme.
    pub(crate) fn update(
        &mut self,
        clock: &Clock,
        ground: &Ground,
        arrivals: Option<&[Arrival]>,
        controllers: &mut SignalControllers,
        comers: &[Comer],
    ) -> Vec<(usize, String)> {
        let is_due = controllers.are_due(clock);
        // Decisions by demand and by modules can change only in steps with new arrivals or with a module that
        // is due.
        let is_decided = arrivals.is_some() || is_due;
        let mut demand = std::mem::take(&mut self.demand);
        if arrivals.is_some() {
            demand.clear();
        }
        demand.resize(self.states.len(), Demand::default());
        for arrival in arrivals.into_iter().flatten() {
            self.count(ground, arrival, &mut demand);
        }
        for (group, stages) in self.walks.drain(..) {
            demand[group].calls |= stages;
        }
        let time = clock.end_of_step();
        self.demand = demand;
        let mut faults = Vec::new();
        for group in 0..self.states.len() {
            let waits = self.states[group].phase == Phase::Green && !ground.has_fixed_times(group);
            if waits && !is_decided {
                continue;
            }
            let has_module = controllers.has(group);
            if waits && !has_module && self.is_at_rest(group) {
                self.states[group].opposed = f64::INFINITY;
                continue;
            }
            let programme = ground.programme(group);
            let mut policy = Policy {
                mode: programme.mode,
                module: None,
                has_module,
                fault: None,
            };
            if has_module {
                self.desks[group].watch(programme.stages.len());
                let looks = controllers.look_at_facts(group);
                let facts = (is_due && looks).then(|| {
                    self.desks[group].detect(comers, group);
                    Arc::new(self.facts(clock, ground, comers, group))
                });
                if facts.is_some() || !looks {
                    policy.module = Some((&mut *controllers, group, facts));
                }
            }
            let (state, desk) = (&mut self.states[group], &mut self.desks[group]);
            let demand = self.demand[group];
            let shown = (state.phase == Phase::Green).then_some(1 << state.stage);
            desk.note_waits((demand.calls | desk.called()) & !shown.unwrap_or(0), time);
            let before = (state.stage, state.phase);
            state.go_on(programme, demand, time, desk, &mut policy);
            if state.phase == Phase::Green && (state.stage, state.phase) != before {
                desk.begin_green(state.stage);
            }
            faults.extend(policy.fault.map(|fault| (group, fault)));
        }
        faults
    }

    /// Whether there is no demand for any stage of a programme other than the current one. This is
    /// the case for most signals of a town.
    fn is_at_rest(&self, group: usize) -> bool {
        let shown = 1u32 << self.states[group].stage;
        self.demand[group].calls & !shown == 0 && self.desks[group].is_empty()
    }

    /// Stages of a programme that vehicles or pedestrians waited for in the last step, one bit each.
    fn calls(&self, group: usize) -> u32 {
        self.demand.get(group).map_or(0, |demand| demand.calls)
    }

    /// Adds a request of an agent for a stage of the signals at a node.
    ///
    /// # Errors
    /// If there is no such stage, or if there are too many requests. The error is a message for
    /// users.
    pub(crate) fn ask(
        &mut self,
        ground: &Ground,
        node: u32,
        stage: u32,
        agent: u64,
        wish: Wish,
    ) -> Result<(), String> {
        let group = group_at(ground, node)?;
        let stages = ground.programme(group).stages.len();
        if stage as usize >= stages {
            let last = stages - 1;
            return Err(format!(
                "the signals of node {node} have stages 0 to {last}, not {stage}"
            ));
        }
        let state = &self.states[group];
        let has_it = state.stage == stage && state.phase == Phase::Green && wish == Wish::Call;
        if has_it {
            // Otherwise, an earlier call by the same agent would end the green that it now
            // requests.
            self.desks[group].withdraw_call(agent);
        } else if !self.desks[group].ask(agent, stage, wish, stages) {
            return Err(format!("too many agents request stages at node {node}"));
        }
        Ok(())
    }

    /// For an agent in a ring of full lanes, calls and holds the stage that gives a connection
    /// green. The request expires unless it is repeated every second.
    pub(crate) fn ask_for_green(
        &mut self,
        ground: &Ground,
        connection: Connection,
        agent: u64,
        time: f64,
    ) {
        let (junction, path) = (connection.junction, connection.number);
        let Some((group, signals)) = ground.signals(junction) else {
            return;
        };
        let has_green = |stage: usize| signals.greens[stage][path.index()];
        let state = &self.states[group];
        let (shown, stages) = (state.stage as usize, signals.greens.len());
        let is_shown = state.phase == Phase::Green && has_green(shown);
        let stage = match is_shown {
            true => Some(shown),
            false => (0..stages).find(|&stage| has_green(stage)),
        };
        let Some(stage) = stage else { return };
        let desk = &mut self.desks[group];
        desk.ask(
            agent,
            stage as u32,
            Wish::Hold(time + HELD_FOR_RINGS),
            stages,
        );
        if is_shown {
            desk.withdraw_call(agent);
        } else {
            desk.ask(agent, stage as u32, Wish::Call, stages);
        }
    }

    /// Drops the requests of agents that no longer exist.
    pub(crate) fn forget_gone(&mut self, agents: Census<'_>) {
        for desk in &mut self.desks {
            desk.forget_gone(agents);
        }
    }

    /// Withdraws the requests of an agent to the signals at a node.
    ///
    /// # Errors
    /// If there are no signals at the node.
    pub(crate) fn release(&mut self, ground: &Ground, node: u32, agent: u64) -> Result<(), String> {
        let group = group_at(ground, node)?;
        self.desks[group].release(agent);
        Ok(())
    }

    fn count(&self, ground: &Ground, arrival: &Arrival, demand: &mut [Demand]) {
        let Some(group) = ground.signal_group_of(arrival.path.junction) else {
            return;
        };
        let (state, demand) = (&self.states[group], &mut demand[group]);
        let gist = ground.connection_gist(arrival.path);
        if state.phase == Phase::Green && gist.has_green(state.stage) {
            let reach = AT_LINE.max(PASSAGE * arrival.speed);
            demand.extends |= arrival.has_room && arrival.distance <= reach;
        } else {
            demand.calls |= gist.stages;
        }
    }

    /// Light of the signal of a connection; green if the connection has no signal.
    pub(crate) fn light(&self, ground: &Ground, connection: Connection) -> Light {
        let (junction, path) = (connection.junction, connection.number);
        let Some(group) = ground.signal_group_of(junction) else {
            return Light::Green;
        };
        let state = &self.states[group];
        let connection = ground.connection_gist(Connection::new(junction, path));
        let between = |between| connection.light_in(state.stage, Some((state.next, between)));
        match state.phase {
            Phase::Green => connection.light_in(state.stage, None),
            Phase::Amber => between(Between::Amber),
            Phase::AllRed => between(Between::AllRed),
            Phase::RedAmber => between(Between::RedAmber),
            Phase::Opening if connection.has_green(state.stage) => Light::RedAmber,
            Phase::Opening => Light::Red,
            Phase::ClosingAmber | Phase::LastAmber => Light::Amber,
            Phase::ClosingRed | Phase::Closed => Light::Red,
        }
    }

    /// Whether a connection has only permissive green, so that its traffic yields to other traffic
    /// with green.
    pub(crate) fn is_permitted(&self, ground: &Ground, path: Connection) -> bool {
        let group = ground.signal_group_of(path.junction);
        group.is_some_and(|group| {
            ground
                .connection_gist(path)
                .is_permitted(self.states[group].stage)
        })
    }

    /// State of the signals of a junction; `None` if there are none.
    pub(crate) fn shown(
        &self,
        ground: &Ground,
        junction: JunctionIndex,
        time: f64,
    ) -> Option<Shown> {
        let group = ground.signal_group_of(junction)?;
        let (state, desk) = (&self.states[group], &self.desks[group]);
        Some(Shown {
            stage: state.stage as usize,
            next: state.next as usize,
            phase: match state.phase {
                Phase::Green => StagePhase::Green,
                Phase::Amber | Phase::ClosingAmber | Phase::LastAmber => StagePhase::Amber,
                Phase::AllRed | Phase::ClosingRed | Phase::Closed => StagePhase::AllRed,
                Phase::RedAmber | Phase::Opening => StagePhase::RedAmber,
            },
            is_closing: state.phase.is_closing(),
            since: state.since,
            opposed: state.opposed,
            is_off_clock: desk.is_off_clock,
            held_until: desk.hold_of(state.stage, time),
        })
    }

    /// Minimum remaining green time of a connection, s; infinite if it has no signal, and 0 while
    /// it is not green.
    pub(super) fn keeps_green(&self, ground: &Ground, path: Connection, time: f64) -> f64 {
        let Some(group) = ground.signal_group_of(path.junction) else {
            return f64::INFINITY;
        };
        let (state, desk) = (&self.states[group], &self.desks[group]);
        let has_green =
            state.phase == Phase::Green && ground.connection_gist(path).has_green(state.stage);
        // If agents have made requests, the stage may change sooner than the programme would.
        match has_green && desk.is_empty() {
            true => state.remaining(ground.programme(group), desk, time),
            false => 0.0,
        }
    }

    /// The stage that currently has green at a junction; `None` between stages, or without signals.
    pub(super) fn shown_stage(&self, ground: &Ground, junction: JunctionIndex) -> Option<u32> {
        let state = &self.states[ground.signal_group_of(junction)?];
        (state.phase == Phase::Green).then_some(state.stage)
    }

    /// Time for which the signals of a junction have shown a stage, s; 0 between stages, or without signals.
    pub(super) fn time_in_stage(&self, ground: &Ground, junction: JunctionIndex, time: f64) -> f64 {
        let Some(group) = ground.signal_group_of(junction) else {
            return 0.0;
        };
        let state = &self.states[group];
        if state.phase == Phase::Green {
            time - state.since
        } else {
            0.0
        }
    }

    /// Returns the signal data to be hashed: the stage of each programme, and its requests if there
    /// are any.
    pub(crate) fn hashed(&self) -> impl Serialize + '_ {
        Hashed(self)
    }
}

/// The programme of the signals at a node.
fn group_at(ground: &Ground, node: u32) -> Result<usize, String> {
    let group = ground.signal_group_at(node);
    group.ok_or_else(|| format!("there are no signals at node {node}"))
}

/// Signal data to be hashed. Empty desks are left out, so that a run without requests has the same
/// hash as a version of the program without requests.
struct Hashed<'a>(&'a SignalStates);

impl Serialize for Hashed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let desks = self.0.desks.iter().enumerate();
        let asked: Vec<(usize, &Desk)> = desks.filter(|(_, desk)| !desk.is_empty()).collect();
        if asked.is_empty() {
            self.0.states.serialize(serializer)
        } else {
            (&self.0.states, asked).serialize(serializer)
        }
    }
}

#[cfg(test)]
mod tests;
