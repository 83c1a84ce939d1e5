//! An agent as its script sees it. All requests of a script are collected, and take effect after the call.

use super::check::unknown_words;
use super::signal::Signal;
use crate::lock::locked;
use rhai::{Dynamic, ImmutableString};
use roadwright_agent::{AgentFacts, Datum, Effect, Indicator, NamedPlace, Surroundings};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::mix64;
use roadwright_plugin_api::{BehaviourInput, NOTHING};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// Maximum number of entries in the memory of an agent.
const MOST_MEMORY: usize = 64;
/// Maximum length of a string in the memory, bytes.
const LONGEST_TEXT: usize = 256;
/// Maximum number of effects of one call.
const MOST_EFFECTS: usize = 64;
/// Search radius that costs one operation, m. The cost grows with the square of the radius.
const LOOK_PER_OPERATION: f64 = 80.0;
/// Maximum number of nodes whose signals an agent watches.
const MOST_SIGNALS: usize = 16;
/// Maximum number of agents that a search returns.
const MOST_NEAR: usize = 64;
/// Cost of creating one [`Other`] for a script, in operations.
pub(super) const OTHER: u64 = 4;
/// Maximum length of a name for which similar names are suggested, bytes.
const LONGEST_NAME: usize = 64;
/// Maximum number of places that are compared for a suggestion.
const MOST_COMPARED: usize = 1000;

/// Lasting requests of a script for its agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Wants {
    /// Maximum speed, m/s.
    pub(super) desired_speed: f64,
    pub(super) speed_factor: f64,
    pub(super) is_stopped: bool,
    /// Time until which the agent waits, s.
    pub(super) waits_until: f64,
    /// Side to which the agent changes lanes when there is a gap: 1 left, -1 right, 0 none.
    pub(super) lane: f64,
    /// Time until which the agent tries to overtake, s.
    pub(super) overtakes_until: f64,
    pub(super) follows: Option<u64>,
    pub(super) flees: Option<u64>,
    /// Lane of the road to which the agent keeps, by its OpenDRIVE id.
    pub(super) use_lane: Option<i8>,
    /// Minimum deceleration, m/s^2; 0 for none.
    pub(super) braking: f64,
    pub(super) indicator: Indicator,
    /// Whether the agent enters junctions without a grant.
    pub(super) ignores_law: bool,
    /// Offset to the left of the lane's centre line, m.
    pub(super) lane_offset: f64,
    /// Offset to the left and distance of a pull-over, m. The pull-over starts as soon as there is no
    /// junction within that distance.
    pub(super) pulls_over: Option<(f64, f64)>,
}

impl Default for Wants {
    fn default() -> Self {
        Self {
            desired_speed: NOTHING,
            speed_factor: 1.0,
            is_stopped: false,
            waits_until: f64::NEG_INFINITY,
            lane: 0.0,
            overtakes_until: f64::NEG_INFINITY,
            follows: None,
            flees: None,
            use_lane: None,
            braking: 0.0,
            indicator: Indicator::Off,
            ignores_law: false,
            lane_offset: 0.0,
            pulls_over: None,
        }
    }
}

impl std::fmt::Display for Wants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let none = Self::default();
        let mut parts = Vec::new();
        if self.desired_speed != none.desired_speed {
            parts.push(format!("at most {} m/s", self.desired_speed));
        }
        if self.speed_factor != none.speed_factor {
            parts.push(format!("{} times the allowed speed", self.speed_factor));
        }
        if self.is_stopped {
            parts.push("to stop".into());
        }
        if self.waits_until.is_finite() {
            parts.push(format!("to wait until {} s", self.waits_until));
        }
        if self.overtakes_until.is_finite() {
            parts.push(format!("to overtake until {} s", self.overtakes_until));
        }
        match self.lane {
            side if side > 0.0 => parts.push("the lane to the left".into()),
            side if side < 0.0 => parts.push("the lane to the right".into()),
            _ => {}
        }
        if self.braking > 0.0 {
            parts.push(format!("to brake at {} m/s^2", self.braking));
        }
        if self.indicator != none.indicator {
            parts.push(format!("to signal {}", self.indicator.name()));
        }
        if self.ignores_law {
            parts.push("to ignore traffic rules".into());
        }
        if self.lane_offset != 0.0 {
            parts.push(format!(
                "to move {} m to the left in its lane",
                self.lane_offset
            ));
        }
        if self.pulls_over.is_some() {
            parts.push("to pull over".into());
        }
        parts.extend(self.use_lane.map(|lane| format!("lane {lane}")));
        parts.extend(self.follows.map(|id| format!("to follow {id}")));
        parts.extend(self.flees.map(|id| format!("to flee {id}")));
        f.write_str(if parts.is_empty() { "nothing" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

/// All data about an agent that its script can access.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) id: u64,
    pub(super) time: f64,
    /// Seed of random numbers. It is combined with the number of values drawn so far.
    pub(super) seed: u64,
    pub(super) drawn: u64,
    pub(super) input: BehaviourInput,
    pub(super) facts: Option<AgentFacts>,
    pub(super) scene: Option<Arc<Surroundings>>,
    pub(super) parameters: Vec<(&'static str, f64)>,
    /// Memory of the agent. It is kept for as long as the agent exists, even if the script changes.
    pub(super) memory: BTreeMap<ImmutableString, Dynamic>,
    pub(super) wants: Wants,
    pub(super) effects: Vec<Effect>,
    /// Whether the agent has received a destination during this call.
    pub(super) has_new_goal: bool,
    /// Whether the agent is a mock agent of a rehearsal. If so, any place name is accepted.
    pub(super) is_made_up: bool,
    pub(super) has_started: bool,
    /// Number of complete periods at a standstill that have already been reported to the script.
    pub(super) told_blocked: u32,
    /// Agents that were near during the last call, sorted by id.
    pub(super) near: Vec<u64>,
    /// Number of consecutive calls in which the script faulted.
    pub(super) faults: u32,
    /// Number of collisions in which the agent was involved.
    pub(super) collisions: u32,
    /// Names of the conditions that `once` has reported.
    pub(super) once: BTreeSet<String>,
    /// Time at which `every` last returned true for each name, s.
    pub(super) every: BTreeMap<String, f64>,
    /// Last reported stage of each watched signal and of the signals ahead, by node.
    pub(super) stages: BTreeMap<u32, u32>,
    pub(super) stage_ahead: Option<(u32, u32)>,
}

/// Handle of an agent for its script. Changes by the script apply to the agent itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Agent(Arc<Mutex<Content>>);

/// Another agent as a script sees it.
#[derive(Debug, Clone)]
pub(super) struct Other {
    pub(super) facts: AgentFacts,
    pub(super) vehicle: ImmutableString,
    pub(super) stack: ImmutableString,
    /// Distance from the observing agent, m.
    pub(super) distance: f64,
    /// Direction relative to the heading of the observing agent, rad.
    pub(super) angle: f64,
}

/// Memory of an agent as its script sees it.
#[derive(Debug, Clone)]
pub(super) struct Memory(pub(super) Agent);

/// A message as a script sees it.
#[derive(Debug, Clone)]
pub(super) struct Mail {
    pub(super) from: i64,
    pub(super) topic: ImmutableString,
    pub(super) value: f64,
    pub(super) data: BTreeMap<String, Datum>,
}

/// A value in the memory of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Value {
    Nothing,
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}

/// Everything that a script remembers about an agent between calls, in the form used in saves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Remembered {
    memory: BTreeMap<String, Value>,
    wants: Wants,
    has_started: bool,
    told_blocked: u32,
    near: Vec<u64>,
    faults: u32,
    collisions: u32,
    once: BTreeSet<String>,
    every: BTreeMap<String, f64>,
    stages: BTreeMap<u32, u32>,
    stage_ahead: Option<(u32, u32)>,
}

impl From<&Dynamic> for Value {
    fn from(value: &Dynamic) -> Self {
        let number = || value.as_float().map(Self::Number);
        let flag = || value.as_bool().map(Self::Flag);
        let text = || value.clone().into_string().map(Self::Text);
        let known = value.as_int().map(Self::Whole).or_else(|_| number());
        known
            .or_else(|_| flag())
            .or_else(|_| text())
            .unwrap_or(Self::Nothing)
    }
}

impl From<Value> for Dynamic {
    fn from(value: Value) -> Self {
        match value {
            Value::Nothing => Self::UNIT,
            Value::Flag(flag) => flag.into(),
            Value::Whole(number) => number.into(),
            Value::Number(number) => number.into(),
            Value::Text(text) => text.into(),
        }
    }
}

impl Agent {
    /// Returns everything that is remembered about the agent between calls.
    pub(super) fn remembered(&self) -> Remembered {
        let content = self.content();
        let memory = content.memory.iter();
        Remembered {
            memory: memory
                .map(|(key, value)| (key.to_string(), Value::from(value)))
                .collect(),
            wants: content.wants.clone(),
            has_started: content.has_started,
            told_blocked: content.told_blocked,
            near: content.near.clone(),
            faults: content.faults,
            collisions: content.collisions,
            once: content.once.clone(),
            every: content.every.clone(),
            stages: content.stages.clone(),
            stage_ahead: content.stage_ahead,
        }
    }

    /// Creates an agent from its saved state.
    pub(super) fn with_memory(kept: Remembered) -> Self {
        let memory = kept.memory.into_iter();
        Self(Arc::new(Mutex::new(Content {
            memory: memory
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
            wants: kept.wants,
            has_started: kept.has_started,
            told_blocked: kept.told_blocked,
            near: kept.near,
            faults: kept.faults,
            collisions: kept.collisions,
            once: kept.once,
            every: kept.every,
            stages: kept.stages,
            stage_ahead: kept.stage_ahead,
            ..Content::default()
        })))
    }

    pub(super) fn content(&self) -> MutexGuard<'_, Content> {
        locked(&self.0)
    }

    pub(super) fn memory(&self) -> Memory {
        Memory(self.clone())
    }

    /// Requests an effect. Returns whether the request was accepted; the number of effects per call is
    /// limited.
    pub(super) fn ask(&self, effect: Effect) -> bool {
        let mut content = self.content();
        let has_room = content.effects.len() < MOST_EFFECTS;
        if has_room {
            content.effects.push(effect);
        }
        has_room
    }

    /// Returns a random number from 0 to 1, which is the same in every run with the same seed.
    pub(super) fn random(&self) -> f64 {
        let mut content = self.content();
        content.drawn += 1;
        // 53 bits are the most that a double represents exactly, which gives numbers from 0 to just below 1.
        (mix64(content.seed ^ mix64(content.drawn)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn place(&self) -> DVec2 {
        let content = self.content();
        content.facts.map_or(DVec2::ZERO, |facts| facts.position)
    }

    /// Returns the other agents within `radius` metres, nearest first, and the cost of the search in
    /// operations.
    pub(super) fn nearby(&self, radius: f64) -> (Vec<Other>, u64) {
        let content = self.content();
        let (Some(scene), Some(own)) = (&content.scene, content.facts) else {
            return (Vec::new(), 0);
        };
        let radius = radius.clamp(0.0, 2000.0);
        let near = scene.near(own.position, radius);
        let cells = (radius / LOOK_PER_OPERATION).powi(2);
        let given = near.len().min(MOST_NEAR) as u64;
        let work = near.len() as u64 + cells as u64 + OTHER * given;
        let others = near.into_iter().filter(|other| other.id != own.id);
        let others = others
            .take(MOST_NEAR)
            .map(|other| Other::new(scene, &own, other));
        (others.collect(), work)
    }

    /// Returns another agent by its id; `None` if it is not driving. Costs [`OTHER`] operations.
    pub(super) fn find(&self, id: i64) -> Option<Other> {
        let content = self.content();
        let (scene, own) = (content.scene.as_ref()?, content.facts?);
        let other = scene.with_id(u64::try_from(id).ok()?)?;
        Some(Other::new(scene, &own, other))
    }

    pub(super) fn go_to(&self, x: f64, y: f64) {
        let is_taken = self.ask(Effect::GoTo(DVec2::new(x, y)));
        let mut content = self.content();
        // A new destination ends following and fleeing, because the latest request takes
        // precedence.
        content.has_new_goal |= is_taken;
        content.wants.follows = None;
        content.wants.flees = None;
        content.wants.pulls_over = None;
    }

    /// Makes the agent drive along a path.
    pub(super) fn drive_path(&self, effect: Effect) {
        let is_taken = self.ask(effect);
        let mut content = self.content();
        content.has_new_goal |= is_taken;
        content.wants.follows = None;
        content.wants.flees = None;
        content.wants.pulls_over = None;
    }

    /// Makes the agent pull over to `offset` metres beside its lane's centre line. It does so over
    /// a distance of `within` metres, and begins when no junction lies within this distance.
    pub(super) fn pull_over(&self, offset: f64, within: f64) {
        let mut content = self.content();
        content.has_new_goal = true;
        content.wants.follows = None;
        content.wants.flees = None;
        content.wants.pulls_over = Some((offset, within));
    }

    /// Returns true the first time that the condition with this name holds, and false at all other
    /// times.
    pub(super) fn once(&self, name: &str, holds: bool) -> Result<bool, String> {
        let mut content = self.content();
        if !holds || content.once.contains(name) {
            return Ok(false);
        }
        if content.once.len() == MOST_MEMORY {
            return Err(format!("once: at most {MOST_MEMORY} names are allowed"));
        }
        content.once.insert(name.to_owned());
        Ok(true)
    }

    /// Returns true at most once every `seconds` seconds for a name, starting with the first call.
    pub(super) fn every(&self, name: &str, seconds: f64) -> Result<bool, String> {
        let mut content = self.content();
        let now = content.time;
        let last = content.every.get(name).copied();
        if last.is_none() && content.every.len() == MOST_MEMORY {
            return Err(format!("every: at most {MOST_MEMORY} names are allowed"));
        }
        // Times have rounding errors. Without the nanosecond, this could be true a step late.
        let is_due = last.is_none_or(|last| now - last >= seconds - 1e-9);
        if is_due {
            content.every.insert(name.to_owned(), now);
        }
        Ok(is_due)
    }

    /// Watches signals: from now on, the agent is notified when their stage changes.
    pub(super) fn watch(&self, signal: &Signal) -> Result<(), String> {
        let mut content = self.content();
        let is_known = content.stages.contains_key(&signal.node);
        if !is_known && content.stages.len() == MOST_SIGNALS {
            return Err(format!("signal: at most {MOST_SIGNALS} nodes are allowed"));
        }
        let stage = signal.facts.stage;
        content.stages.entry(signal.node).or_insert(stage);
        Ok(())
    }

    /// Returns the node and stage of signals whose stage has changed since the last report.
    pub(super) fn newly_shown(&self) -> Vec<(u32, u32)> {
        let mut content = self.content();
        let Some(scene) = content.scene.clone() else {
            return Vec::new();
        };
        let shown = |node: u32| {
            let facts = scene.signals.get(&node)?;
            facts.next.is_none().then_some(facts.stage)
        };
        let mut new = Vec::new();
        for (&node, told) in &mut content.stages {
            if let Some(stage) = shown(node).filter(|stage| stage != told) {
                *told = stage;
                new.push((node, stage));
            }
        }
        let ahead = content.facts.map(|facts| facts.signal_ahead);
        let ahead =
            ahead.filter(|(node, stages)| *stages != 0 && !content.stages.contains_key(node));
        let before = content.stage_ahead;
        content.stage_ahead = ahead.and_then(|(node, _)| {
            // Approaching other signals is not a change of stage. A change is reported only if the same
            // signals were ahead before.
            let told = before.filter(|(known, _)| *known == node);
            let now = shown(node).map(|stage| (node, stage));
            new.extend(now.filter(|now| told.is_some_and(|told| told != *now)));
            now.or(told)
        });
        new
    }

    /// Returns a random position in the middle of a lane, or the position of the agent if there are no lanes.
    pub(super) fn random_place(&self) -> DVec2 {
        // Drawn before the lock, which `random` takes itself. Always drawn, so that later numbers do not
        // depend on whether there are lanes.
        let share = self.random();
        let content = self.content();
        let middles = content
            .scene
            .as_ref()
            .map(|scene| scene.lane_middles.clone());
        drop(content);
        let place = middles.and_then(|middles| {
            let number = (share * middles.len() as f64) as usize;
            middles.get(number).copied()
        });
        place.unwrap_or_else(|| self.place())
    }

    /// Returns the lowest speed that limits and bends allow within `distance` metres along the route, m/s; a
    /// million before the agent has first seen the scene.
    pub(super) fn road_speed_within(&self, distance: f64) -> f64 {
        let content = self.content();
        let Some(facts) = content.facts else {
            return NOTHING;
        };
        let scene = content.scene.as_ref();
        let outlook = scene.and_then(|scene| scene.outlooks.get(&facts.index));
        outlook.map_or(NOTHING, |outlook| {
            outlook.lowest_within(distance).min(NOTHING)
        })
    }

    /// Returns the position of the place with this name.
    pub(super) fn place_named(&self, name: &str) -> Result<NamedPlace, String> {
        let content = self.content();
        if content.is_made_up {
            return Ok(NamedPlace {
                position: DVec2::ZERO,
                heading: Some(0.0),
            });
        }
        let scene = content.scene.as_ref();
        let places = scene.map(|scene| scene.places.clone()).unwrap_or_default();
        places.get(name).copied().ok_or_else(|| {
            // A city has thousands of names, and comparing two long names takes long.
            let is_short = name.len() <= LONGEST_NAME;
            let compared = if is_short { MOST_COMPARED } else { 0 };
            let known = places.keys().map(String::as_str);
            let known = known
                .filter(|known| known.len() <= LONGEST_NAME)
                .take(compared);
            let words = unknown_words("point of interest or street", name, known);
            format!("place: there is no {words}")
        })
    }

    /// Returns the driving members of a group except the agent itself, ordered by id, and the cost of the
    /// search in operations.
    pub(super) fn members(&self, group: &str) -> (Vec<Other>, u64) {
        let content = self.content();
        let (Some(scene), Some(own)) = (&content.scene, content.facts) else {
            return (Vec::new(), 0);
        };
        let ids = scene.groups.get(group).into_iter().flatten();
        // Members that are not driving are not returned but have to be visited.
        let mut looked_at = 0;
        let others = ids.inspect(|_| looked_at += 1).filter(|id| **id != own.id);
        let others = others.filter_map(|id| scene.with_id(*id));
        let others: Vec<Other> = others
            .take(MOST_NEAR)
            .map(|other| Other::new(scene, &own, other))
            .collect();
        let work = looked_at + OTHER * others.len() as u64;
        (others, work)
    }

    pub(super) fn follow(&self, id: i64) {
        let mut content = self.content();
        content.wants.pulls_over = None;
        content.wants.follows = u64::try_from(id).ok();
        content.wants.flees = None;
    }

    pub(super) fn flee(&self, id: i64) {
        let mut content = self.content();
        content.wants.pulls_over = None;
        content.wants.flees = u64::try_from(id).ok();
        content.wants.follows = None;
    }
}

impl Other {
    pub(super) fn new(scene: &Surroundings, own: &AgentFacts, other: &AgentFacts) -> Self {
        let offset = other.position - own.position;
        let name = |names: &[String], index: u16| {
            let name = names.get(index as usize);
            name.map_or("", String::as_str).into()
        };
        let angle = if offset == DVec2::ZERO {
            0.0
        } else {
            let direction = roadwright_geometry::heading_of(offset);
            roadwright_geometry::math::wrap_angle(direction - own.heading)
        };
        Self {
            facts: *other,
            vehicle: name(&scene.vehicles, other.vehicle),
            stack: name(&scene.stacks, other.stack),
            distance: offset.length(),
            angle,
        }
    }
}

impl Memory {
    /// Returns the value stored under a name; `()` if there is none.
    pub(super) fn get(&self, name: &str) -> Dynamic {
        let content = self.0.content();
        content.memory.get(name).cloned().unwrap_or(Dynamic::UNIT)
    }

    /// Stores a number, a boolean or a short string under a name. `()` removes the entry.
    pub(super) fn set(&self, name: &str, value: Dynamic) -> Result<(), String> {
        let mut content = self.0.content();
        if value.is_unit() {
            content.memory.remove(name);
            return Ok(());
        }
        let is_text = value.is_string();
        if is_text && value.clone().into_string().map_or(0, |text| text.len()) > LONGEST_TEXT {
            return Err(format!(
                "memory.{name}: a string has at most {LONGEST_TEXT} bytes"
            ));
        }
        if !(is_text || value.is_int() || value.is_float() || value.is_bool()) {
            return Err(format!(
                "memory.{name}: only numbers, booleans and strings can be stored, not {}",
                value.type_name()
            ));
        }
        if !content.memory.contains_key(name) && content.memory.len() == MOST_MEMORY {
            return Err(format!(
                "memory.{name}: at most {MOST_MEMORY} entries are allowed"
            ));
        }
        content.memory.insert(name.into(), value);
        Ok(())
    }
}
