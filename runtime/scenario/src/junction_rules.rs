//! What a person has decided about a junction: only what differs from what is derived is stored.

mod shape;

pub use shape::{CornerRule, LaneTurn, RoadLane, TurnRules};

use crate::defaults::is_default;
use crate::ids::RoadId;
use crate::named::named;
use crate::quantity::{
    Clearance, CrossingWidth, Cycle, Duration, OptionalQuantity, PeoplePerHour, Quantity, RedAmber,
    Validate, check_keys, inside,
};
use crate::restriction::{Restriction, ViaRestriction};
use crate::stack::ModuleSetting;
use crate::turn::Turn;
use crate::unique_map::UniqueMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

named! {
    /// What says who goes first at a junction.
    #[derive(
        Debug,
        Clone,
        Copy,
        PartialEq,
        Eq,
        PartialOrd,
        Ord,
        Hash,
        Serialize,
        Deserialize,
        JsonSchema,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum Control {
        /// Nothing: vehicles from the nearer side go first.
        Uncontrolled = "uncontrolled",
        /// The major roads go first, the others give way.
        Priority = "priority",
        /// The major roads go first, the others stop and give way.
        Stop = "stop",
        /// Everybody stops; who came first goes first.
        AllWayStop = "all_way_stop",
        /// Traffic signals.
        Signals = "signals",
        /// The ring goes first, who enters gives way.
        Roundabout = "roundabout",
        /// Lanes that become one: by turns.
        Zipper = "zipper",
        /// Ways that go round a painted island; who enters gives way to who goes round.
        MiniRoundabout = "mini_roundabout",
    }
}

/// What is decided about a junction by hand. Empty: all is derived from the roads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JunctionRules {
    /// What says who goes first; left out, it follows from the classes of the roads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// The roads that go first, for `priority`, `stop` and `roundabout`; left out, those of the
    /// highest class, or those that go straight on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub major: Vec<RoadId>,
    /// Turn restrictions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restrictions: Vec<Restriction>,
    /// Turn restrictions by way of other roads, kept where the first of those begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via_restrictions: Vec<ViaRestriction>,
    /// Ways from lane to lane that the rules of turning do not give, or that they give and that are
    /// not there.
    #[serde(default, skip_serializing_if = "TurnRules::is_empty")]
    pub turns: TurnRules,
    /// Radii of corners; those of the others follow from the roads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corners: Vec<CornerRule>,
    /// How the signals run; left out, a plan is made from the lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<SignalPlan>,
    /// Where people on foot cross; no arm has a crossing that is not named here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<CrossingRule>,
    /// Roads from here to other nodes that lie within the junction: it stands for the nodes at both
    /// ends, and nobody waits between them. Roads that are too short for their junctions do so anyway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub internal_roads: Vec<RoadId>,
}

/// A crossing for people on foot over one arm of a junction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossingRule {
    /// The road that is crossed, where it meets the junction.
    pub road: RoadId,
    /// Width of the strip, m; left out, 3.6 m, and 4 m where one drives faster than 60 km/h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: OptionalQuantity<CrossingWidth>,
    /// People who come to each side of it in an hour; left out, as many as `settings` say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: OptionalQuantity<PeoplePerHour>,
}

impl CrossingRule {
    /// A crossing over a road, with nothing else decided.
    pub fn over(road: RoadId) -> Self {
        Self {
            road,
            width: None.into(),
            people: None.into(),
        }
    }
}

/// Stages that a plan may have.
pub const MAX_STAGES: usize = 32;
/// Crossings that may be named for one node: as many as arms of any junction of a real town.
const MAX_CROSSINGS: usize = 64;
/// Roads within a junction that may be named for one node.
const MAX_INTERNAL: usize = 64;

impl JunctionRules {
    /// Whether a person has decided who goes first: by a control, a plan, or the roads that do.
    pub(crate) fn decide_who_goes_first(&self) -> bool {
        self.control.is_some() || self.plan.is_some() || !self.major.is_empty()
    }

    /// The rules with other names of their roads; what names a road without a new name is dropped.
    pub(crate) fn on_roads(&self, name: impl Fn(RoadId) -> Option<RoadId>) -> Self {
        self.on_lanes(|RoadLane { road, lane }| {
            Some(RoadLane {
                road: name(road)?,
                lane,
            })
        })
    }

    /// The same where lanes have other ids as well. Rules about whole roads ask for lane 0, which no
    /// lane has.
    pub(crate) fn on_lanes(&self, place: impl Fn(RoadLane) -> Option<RoadLane>) -> Self {
        let name = |road: RoadId| Some(place(RoadLane { road, lane: 0 })?.road);
        let restriction = |old: &Restriction| {
            Some(Restriction {
                kind: old.kind,
                from: name(old.from)?,
                to: name(old.to)?,
            })
        };
        let movement = |old: &Movement| {
            Some(Movement {
                road: name(old.road)?,
                turns: old.turns.clone(),
            })
        };
        let crossing = |old: &CrossingRule| {
            Some(CrossingRule {
                road: name(old.road)?,
                ..*old
            })
        };
        let stage = |old: &SignalStage| SignalStage {
            green: old.green.iter().filter_map(movement).collect(),
            permitted: old.permitted.iter().filter_map(movement).collect(),
            ..*old
        };
        let corner = |old: &CornerRule| {
            Some(CornerRule {
                road: name(old.road)?,
                next: name(old.next)?,
                ..*old
            })
        };
        let mut crossings: Vec<_> = self.crossings.iter().filter_map(crossing).collect();
        // Two roads that become one have one crossing there.
        let mut seen = std::collections::BTreeSet::new();
        crossings.retain(|rule| seen.insert(rule.road));
        Self {
            crossings,
            control: self.control,
            major: self.major.iter().filter_map(|&road| name(road)).collect(),
            restrictions: self.restrictions.iter().filter_map(restriction).collect(),
            via_restrictions: {
                let all = self.via_restrictions.iter();
                all.filter_map(|rule| rule.on_roads(name)).collect()
            },
            turns: self.turns.moved(&place),
            corners: self.corners.iter().filter_map(corner).collect(),
            internal_roads: {
                let all = self.internal_roads.iter();
                all.filter_map(|&road| name(road)).collect()
            },
            plan: self.plan.as_ref().map(|plan| SignalPlan {
                stages: plan.stages.iter().map(stage).collect(),
                ..plan.clone()
            }),
        }
    }

    /// What is said of the crossing over a road, if there is one.
    pub fn crossing(&self, road: RoadId) -> Option<&CrossingRule> {
        self.crossings.iter().find(|rule| rule.road == road)
    }

    /// The radius that is decided for the corner from one road to the next one counter-clockwise, m.
    pub fn corner(&self, road: RoadId, next: RoadId) -> Option<f64> {
        let mut corners = self.corners.iter();
        let found = corners.find(|corner| corner.is_between(road, next));
        found.map(|corner| corner.radius.get())
    }

    /// Decides the radius of a corner, m, or leaves it to the roads.
    pub fn set_corner(&mut self, road: RoadId, next: RoadId, radius: Option<f64>) {
        self.corners.retain(|corner| !corner.is_between(road, next));
        self.corners.extend(radius.map(|radius| CornerRule {
            road,
            next,
            radius: radius.into(),
        }));
        self.corners
            .sort_unstable_by_key(|corner| (corner.road, corner.next));
    }

    /// Whether all is derived.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Validate for JunctionRules {
    fn validate(&self) -> Result<(), String> {
        validate_crossings(&self.crossings)?;
        ViaRestriction::validate_all(&self.via_restrictions)?;
        self.turns.validate()?;
        CornerRule::validate_all(&self.corners)?;
        validate_internal_roads(&self.internal_roads)?;
        let Some(plan) = &self.plan else {
            return Ok(());
        };
        inside("plan", check_keys!(plan => offset, cycle, red_amber))?;
        if plan.stages.len() > MAX_STAGES {
            let count = plan.stages.len();
            return Err(format!("plan.stages: {count} stages; at most {MAX_STAGES}"));
        }
        for (i, stage) in plan.stages.iter().enumerate() {
            let keys = check_keys!(stage => time, min, max, amber, all_red);
            inside(&format!("plan.stages.{i}"), keys)?;
        }
        Ok(())
    }
}

fn validate_crossings(crossings: &[CrossingRule]) -> Result<(), String> {
    if crossings.len() > MAX_CROSSINGS {
        let count = crossings.len();
        return Err(format!(
            "crossings: {count} crossings; at most {MAX_CROSSINGS}"
        ));
    }
    for (i, crossing) in crossings.iter().enumerate() {
        inside(
            &format!("crossings.{i}"),
            check_keys!(crossing => width, people),
        )?;
        let road = crossing.road;
        if crossings[..i].iter().any(|before| before.road == road) {
            let text = "is named twice; leave one of them out";
            return Err(format!("crossings.{i}.road: {road} {text}"));
        }
    }
    Ok(())
}

fn validate_internal_roads(roads: &[RoadId]) -> Result<(), String> {
    if roads.len() > MAX_INTERNAL {
        let count = roads.len();
        return Err(format!(
            "internal_roads: {count} roads; at most {MAX_INTERNAL}"
        ));
    }
    match (1..)
        .zip(roads)
        .find(|(i, road)| roads[*i..].contains(road))
    {
        Some((_, road)) => Err(format!(
            "internal_roads: {road} is named twice; leave one of them out"
        )),
        None => Ok(()),
    }
}

named! {
    /// How signals run.
    #[derive(
        Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum SignalMode {
        /// By fixed times.
        #[default]
        Fixed = "fixed",
        /// By demand: who comes near keeps its green or calls for it.
        Actuated = "actuated",
        /// Amber flashes: the rules of `priority` hold.
        Flashing = "flashing",
        /// They are dark: the rules of `priority` hold.
        Off = "off",
    }
}

impl SignalMode {
    /// Whether signals in this mode say who may drive; if not, signs do.
    pub fn rules(self) -> bool {
        matches!(self, Self::Fixed | Self::Actuated)
    }
}

/// A module that decides which stage of signals is next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalControllerSetting {
    /// Its id, such as `longest_queue.rhai`.
    pub module: String,
    /// Parameters that differ from their defaults, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: UniqueMap<String, f64>,
}

impl SignalControllerSetting {
    /// A module with its defaults.
    pub fn new(module: &str) -> Self {
        Self {
            module: module.into(),
            parameters: UniqueMap::EMPTY,
        }
    }

    /// The same as that of a stack. It has no rate: the host says when it is asked.
    pub fn setting(&self) -> ModuleSetting {
        ModuleSetting {
            parameters: self.parameters.clone(),
            ..ModuleSetting::new(&self.module)
        }
    }
}

/// A plan of traffic signals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalPlan {
    /// How they run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: SignalMode,
    /// Who decides which stage is next, in place of the mode; signals that flash or are off go on doing so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<SignalControllerSetting>,
    /// Time from one start of the first stage to the next, s: the green times that are derived fill
    /// it. Without effect where stages are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: OptionalQuantity<Cycle>,
    /// When the first stage starts for the first time, s: for waves of green along a street.
    #[serde(default, skip_serializing_if = "is_default")]
    pub offset: Quantity<Duration>,
    /// How long red and amber are shown together before green, s; 0 for never. Left out, as in the
    /// country. Where all is red for less between two stages it is so for as long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub red_amber: OptionalQuantity<RedAmber>,
    /// Whether lanes that only turn across the oncoming traffic always have green while that has red;
    /// otherwise only where the oncoming road has several lanes or is fast. Without effect where stages are
    /// given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub protected_turns: bool,
    /// The stages in their order; left out, they are made from the lanes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<SignalStage>,
}

impl SignalPlan {
    /// How the signals run and which module decides: one that is called as a mode is that mode, and any
    /// other one is stood in for by demand.
    pub fn decided_by(&self) -> (SignalMode, Option<&SignalControllerSetting>) {
        let Some(controller) = self.controller.as_ref().filter(|_| self.mode.rules()) else {
            return (self.mode, None);
        };
        let mut modes = SignalMode::ALL.into_iter().filter(|mode| mode.rules());
        match modes.find(|mode| mode.name() == controller.module) {
            Some(mode) => (mode, None),
            None => (SignalMode::Actuated, Some(controller)),
        }
    }
}

/// What has green at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalStage {
    /// The movements that have green.
    pub green: Vec<Movement>,
    /// Movements that have green as well, and give way to all of `green` whose ways they meet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permitted: Vec<Movement>,
    /// How long, s.
    pub time: Quantity<Cycle>,
    /// Shortest green where signals go by demand, s; left out, 6 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: OptionalQuantity<Cycle>,
    /// Longest green while others wait, where signals go by demand, s; left out, 50 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: OptionalQuantity<Cycle>,
    /// Amber after it, s; left out, by the speed of who loses green.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amber: OptionalQuantity<Clearance>,
    /// Red for all after that, s; left out, until the last one has left the junction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_red: OptionalQuantity<Clearance>,
}

/// The vehicles that come from one road and turn in some ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Movement {
    /// The road that they come from.
    pub road: RoadId,
    /// Where they turn; left out, all ways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
}

impl Movement {
    /// Whether vehicles that come from a road and turn in a way are meant.
    pub fn includes(&self, road: RoadId, turn: Turn) -> bool {
        self.road == road && (self.turns.is_empty() || self.turns.contains(&turn))
    }
}
