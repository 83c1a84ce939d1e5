//! Rules of a junction that the user has set. Files contain only differences from the derived values.

mod shape;

pub use shape::{CornerRule, LaneTurn, RoadLane, TurnRules};

use crate::defaults::is_default;
use crate::ids::RoadId;
use crate::named::{file_value, named};
use crate::quantity::{
    Clearance, CrossingWidth, Cycle, Duration, OptionalQuantity, PeoplePerHour, Quantity, RedAmber,
    Validate, check_keys, inside,
};
use crate::restriction::{Restriction, TimedRestriction, ViaRestriction};
use crate::stack::ModuleSetting;
use crate::turn::Turn;
use crate::unique_map::UniqueMap;
use crate::week_times::Moment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

file_value! {
    /// Control of a junction: the rule that determines right of way.
    pub enum Control {
        /// No control: vehicles from the near side have priority.
        Uncontrolled = "uncontrolled",
        /// Major roads have priority. Traffic from other roads gives way.
        Priority = "priority",
        /// Major roads have priority. Traffic from other roads stops and gives way.
        Stop = "stop",
        /// All vehicles stop, and the first to arrive goes first.
        AllWayStop = "all_way_stop",
        /// Traffic signals.
        Signals = "signals",
        /// The ring has priority, and entering vehicles give way.
        Roundabout = "roundabout",
        /// Zipper merge: lanes become one, and vehicles alternate.
        Zipper = "zipper",
        /// Paths lead around a painted island, and entering vehicles give way to circulating ones.
        MiniRoundabout = "mini_roundabout",
    }
}

/// The rules that the user has set for a junction. If there are none, everything is derived from the roads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JunctionRules {
    /// Control of the junction; defaults to the control that is derived from the classes of the roads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// Major roads, for `priority`, `stop` and `roundabout`; defaults to the roads of the highest class, or
    /// to the roads that go straight on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub major: Vec<RoadId>,
    /// Turn restrictions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restrictions: Vec<Restriction>,
    /// Turn restrictions via other roads, stored at the node where the first of those roads begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via_restrictions: Vec<ViaRestriction>,
    /// Turn restrictions that apply only at certain times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timed_restrictions: Vec<TimedRestriction>,
    /// Lane-to-lane turns that are added to or removed from the turns that follow from the turning
    /// rules.
    #[serde(default, skip_serializing_if = "TurnRules::is_empty")]
    pub turns: TurnRules,
    /// Corner radii. The radii of other corners are derived from the roads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corners: Vec<CornerRule>,
    /// Signal plan; by default, it is derived from the lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<SignalPlan>,
    /// Pedestrian crossings. An arm without an entry has no crossing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<CrossingRule>,
    /// Roads from this node to other nodes that are inside the junction. The junction covers the nodes at
    /// both ends, and no vehicle waits between them. Roads that are too short for their junctions are
    /// absorbed even without an entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub internal_roads: Vec<RoadId>,
}

/// A pedestrian crossing over one arm of a junction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossingRule {
    /// The road that is crossed, where it meets the junction.
    pub road: RoadId,
    /// Width of the strip, m. By default, it is 3.6 m, or 4 m if the speed limit is above 60 km/h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: OptionalQuantity<CrossingWidth>,
    /// Pedestrians per hour on each side; defaults to the number in `settings`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: OptionalQuantity<PeoplePerHour>,
}

impl CrossingRule {
    /// Creates a crossing over a road, with default values.
    pub fn over(road: RoadId) -> Self {
        Self {
            road,
            width: None.into(),
            people: None.into(),
        }
    }
}

/// Maximum number of stages of a plan.
pub const MAX_STAGES: usize = 32;
/// Maximum number of crossings per node. It exceeds the number of arms of any real junction.
const MAX_CROSSINGS: usize = 64;
/// Maximum number of internal roads per node.
const MAX_INTERNAL: usize = 64;

impl JunctionRules {
    /// Whether the user has set right of way, by a control, a plan, or a list of major roads.
    pub(crate) fn decide_who_goes_first(&self) -> bool {
        self.control.is_some() || self.plan.is_some() || !self.major.is_empty()
    }

    /// Returns the rules with the road ids replaced by `name`. Entries for roads without a new id
    /// are dropped.
    pub(crate) fn on_roads(&self, name: impl Fn(RoadId) -> Option<RoadId>) -> Self {
        self.on_lanes(|RoadLane { road, lane }| {
            Some(RoadLane {
                road: name(road)?,
                lane,
            })
        })
    }

    /// Like `on_roads`, but also replaces lane ids. For rules about whole roads, lane 0 is looked
    /// up, which does not exist on any road.
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
        // If two of the crossed roads become one road, only one crossing is kept.
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
            timed_restrictions: {
                let all = self.timed_restrictions.iter();
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

    /// Returns the turn restrictions at the node that apply at a moment.
    pub fn restrictions_at(&self, moment: Moment) -> impl Iterator<Item = Restriction> {
        let timed = self.timed_at(moment).filter_map(TimedRestriction::at_node);
        self.restrictions.iter().copied().chain(timed)
    }

    /// Returns the turn restrictions via other roads that apply at a moment.
    pub fn via_restrictions_at(&self, moment: Moment) -> impl Iterator<Item = ViaRestriction> {
        let timed = self
            .timed_at(moment)
            .filter_map(TimedRestriction::via_roads);
        self.via_restrictions.iter().cloned().chain(timed)
    }

    fn timed_at(&self, moment: Moment) -> impl Iterator<Item = &TimedRestriction> {
        let all = self.timed_restrictions.iter();
        all.filter(move |rule| rule.times.contain(moment))
    }

    /// Returns the rule for the crossing over a road, if there is one.
    pub fn crossing(&self, road: RoadId) -> Option<&CrossingRule> {
        self.crossings.iter().find(|rule| rule.road == road)
    }

    /// Returns the radius set for the corner from one road to the next one counter-clockwise, m;
    /// `None` if no radius is set.
    pub fn corner(&self, road: RoadId, next: RoadId) -> Option<f64> {
        let mut corners = self.corners.iter();
        let found = corners.find(|corner| corner.is_between(road, next));
        found.map(|corner| corner.radius.get())
    }

    /// Sets the radius of a corner, m. With `None`, the radius is derived from the roads.
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

    /// Whether there are no rules, so that everything is derived from the roads.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Validate for JunctionRules {
    fn validate(&self) -> Result<(), String> {
        validate_crossings(&self.crossings)?;
        ViaRestriction::validate_all(&self.via_restrictions)?;
        TimedRestriction::validate_all(&self.timed_restrictions)?;
        self.turns.validate()?;
        CornerRule::validate_all(&self.corners)?;
        validate_internal_roads(&self.internal_roads)?;
        let Some(plan) = &self.plan else {
            return Ok(());
        };
        inside("plan", check_keys!(plan => offset, cycle, red_amber))?;
        if plan.stages.len() > MAX_STAGES {
            let count = plan.stages.len();
            return Err(format!(
                "plan.stages: {count} stages are too many; expected at most {MAX_STAGES}"
            ));
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
            "crossings: {count} crossings are too many; expected at most {MAX_CROSSINGS}"
        ));
    }
    for (i, crossing) in crossings.iter().enumerate() {
        inside(
            &format!("crossings.{i}"),
            check_keys!(crossing => width, people),
        )?;
        let road = crossing.road;
        if crossings[..i].iter().any(|before| before.road == road) {
            let text = "is listed twice; remove one entry";
            return Err(format!("crossings.{i}.road: {road} {text}"));
        }
    }
    Ok(())
}

fn validate_internal_roads(roads: &[RoadId]) -> Result<(), String> {
    if roads.len() > MAX_INTERNAL {
        let count = roads.len();
        return Err(format!(
            "internal_roads: {count} roads are too many; expected at most {MAX_INTERNAL}"
        ));
    }
    match (1..)
        .zip(roads)
        .find(|(i, road)| roads[*i..].contains(road))
    {
        Some((_, road)) => Err(format!(
            "internal_roads: {road} is listed twice; remove one entry"
        )),
        None => Ok(()),
    }
}

named! {
    /// Mode of signals.
    #[derive(
        Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum SignalMode {
        /// Fixed times.
        #[default]
        Fixed = "fixed",
        /// Actuated: approaching vehicles extend their green or request it.
        Actuated = "actuated",
        /// Flashing amber; the rules of `priority` apply.
        Flashing = "flashing",
        /// Dark; the rules of `priority` apply.
        Off = "off",
    }
}

impl SignalMode {
    /// Whether signals in this mode control the traffic. Otherwise, signs do.
    pub fn rules(self) -> bool {
        matches!(self, Self::Fixed | Self::Actuated)
    }
}

/// The module that selects the next stage of signals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalControllerSetting {
    /// Id of the module, such as `longest_queue.rhai`.
    pub module: String,
    /// Parameters that differ from their defaults, by key. In files, a table is a list of rows. Here, each
    /// cell is a separate value with the key `key[row][column]`.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        with = "crate::parameter_values"
    )]
    #[schemars(schema_with = "crate::parameter_values::schema")]
    pub parameters: UniqueMap<String, f64>,
}

impl SignalControllerSetting {
    /// Creates a setting for a module with its default parameters.
    pub fn new(module: &str) -> Self {
        Self {
            module: module.into(),
            parameters: UniqueMap::EMPTY,
        }
    }

    /// Converts the controller to the setting of a module in a stack. The setting has no rate,
    /// because the host decides when to call the module.
    pub fn setting(&self) -> ModuleSetting {
        ModuleSetting {
            parameters: self.parameters.clone(),
            ..ModuleSetting::new(&self.module)
        }
    }
}

/// Signal plan of a junction: its stages and timing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalPlan {
    /// Whether times are fixed or actuated, or the signals flash or are off.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: SignalMode,
    /// Module that selects the next stage, in place of fixed times or actuation. It has no effect on signals
    /// that flash or are off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<SignalControllerSetting>,
    /// Duration of a cycle, s. The derived green times fill it. It has no effect if stages are
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: OptionalQuantity<Cycle>,
    /// Start of the first cycle, s. It is used for green waves along a street.
    #[serde(default, skip_serializing_if = "is_default")]
    pub offset: Quantity<Duration>,
    /// Duration of red and amber together before green, s; 0 for none. The default depends on the country. A
    /// shorter all-red time between two stages is extended to this duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub red_amber: OptionalQuantity<RedAmber>,
    /// Whether lanes that only turn across oncoming traffic always have a separate stage in which oncoming
    /// traffic has red. Otherwise, they have one only if the oncoming road has several lanes or is fast. It
    /// has no effect if stages are given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub protected_turns: bool,
    /// The stages in order; by default, they are derived from the lanes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<SignalStage>,
}

impl SignalPlan {
    /// Returns the mode and the controlling module. If the module id is the name of a mode, that
    /// mode applies. Any other module has the actuated mode as its fallback.
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

/// A stage: movements that have green at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalStage {
    /// The movements that have green.
    pub green: Vec<Movement>,
    /// Movements that have green but yield to all conflicting movements in `green`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permitted: Vec<Movement>,
    /// Duration of green, s.
    pub time: Quantity<Cycle>,
    /// Minimum green of actuated signals, s; 6 s by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: OptionalQuantity<Cycle>,
    /// Maximum green of actuated signals while other traffic waits, s; 50 s by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: OptionalQuantity<Cycle>,
    /// Duration of amber after the green, s. By default, it depends on the speed of the traffic that loses
    /// green.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amber: OptionalQuantity<Clearance>,
    /// Duration of the all-red time after amber, s. By default, it lasts until the last vehicle has
    /// left the junction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_red: OptionalQuantity<Clearance>,
}

/// Traffic that comes from one road and turns in the given directions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Movement {
    /// The road from which the vehicles come.
    pub road: RoadId,
    /// The turns that the vehicles make; all turns by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
}

impl Movement {
    /// Whether the movement includes vehicles that come from a road and make the given turn.
    pub fn includes(&self, road: RoadId, turn: Turn) -> bool {
        self.road == road && (self.turns.is_empty() || self.turns.contains(&turn))
    }
}
